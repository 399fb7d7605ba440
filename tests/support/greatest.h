/* greatest.h - a small test framework: the part of the greatest API that its releases 1.3.1 to 1.5.0 have in common,
   written anew for this project so that the tests need nothing but a C compiler.
   `make test GREATEST=dir` compiles the same tests with the real greatest.h found in dir.

   SPDX-License-Identifier: MIT

   DO THIS

       TEST adds(void) { ASSERT_EQ_FMT(4, 2 + 2, "%d"); PASS(); }
       SUITE(arithmetic) { RUN_TEST(adds); }
       GREATEST_MAIN_DEFS();
       int main(int argc, char **argv) {
           GREATEST_MAIN_BEGIN();
           RUN_SUITE(arithmetic);
           GREATEST_MAIN_END();
       }

   WHAT IS THERE
   TEST SUITE SUITE_EXTERN RUN_TEST RUN_TEST1 RUN_TESTp RUN_SUITE, ASSERT ASSERT_FALSE ASSERT_EQ ASSERT_EQ_FMT
   ASSERT_IN_RANGE ASSERT_STR_EQ ASSERT_MEM_EQ PASS FAIL SKIP (each of these also with an m at the end and a message
   in front), CHECK_CALL, SET_SETUP, SET_TEARDOWN, and the options -h -v -l -f -s -t -x.
   Arguments of the ASSERTs may be evaluated more than once. */
#ifndef GREATEST_H
#define GREATEST_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#if defined(__GNUC__)
#define GREATEST_FN static __attribute__((unused))
#else
#define GREATEST_FN static
#endif

typedef enum greatest_test_res {
    GREATEST_TEST_RES_PASS = 0,
    GREATEST_TEST_RES_FAIL = -1,
    GREATEST_TEST_RES_SKIP = 1
} greatest_test_res;

typedef void greatest_suite_cb(void);
typedef void greatest_hook_cb(void *data);

typedef struct greatest_counts {
    unsigned passed, failed, skipped;
    clock_t start;
} greatest_counts;

/* The state of a run; GREATEST_MAIN_DEFS() defines the only one of a program. */
typedef struct greatest_run_info {
    greatest_counts suite, total;
    unsigned long assertions;
    const char *suite_filter, *test_filter, *test_exclude;
    int verbose, list_only, first_fail; /* the options -v, -l and -f */
    const char *fail_file, *msg;        /* of the test that runs */
    unsigned fail_line;
    int column; /* dots printed on the current line */
    const char *test_name;
    clock_t test_start;
    greatest_hook_cb *setup, *teardown;
    void *setup_data, *teardown_data;
} greatest_run_info;

extern greatest_run_info greatest_info;

/* ---- [running] --------------------------------------------------------------------------------------------------- */

GREATEST_FN void greatest_print_duration(clock_t start) {
    clock_t ticks = clock() - start;
    printf(" (%lu ticks, %.3f sec)", (unsigned long)ticks, (double)ticks / (double)CLOCKS_PER_SEC);
}

GREATEST_FN int greatest_stopped(void) {
    return greatest_info.first_fail && (greatest_info.suite.failed > 0 || greatest_info.total.failed > 0);
}

GREATEST_FN void greatest_end_line(void) {
    if (greatest_info.column > 0) printf("\n");
    greatest_info.column = 0;
}

/* Whether the test of this name shall run now; prepares it if so. */
GREATEST_FN int greatest_test_pre(const char *name) {
    greatest_run_info *g = &greatest_info;
    if (greatest_stopped()) return 0;
    if (g->test_filter && !strstr(name, g->test_filter)) return 0;
    if (g->test_exclude && strstr(name, g->test_exclude)) return 0;
    if (g->list_only) {
        printf("  %s\n", name);
        return 0;
    }
    g->test_name = name;
    g->msg = NULL;
    g->fail_file = NULL;
    g->fail_line = 0;
    if (g->setup) g->setup(g->setup_data);
    g->test_start = clock();
    return 1;
}

GREATEST_FN void greatest_print_result(greatest_test_res result) {
    greatest_run_info *g = &greatest_info;
    const char *msg = g->msg ? g->msg : "";
    if (result == GREATEST_TEST_RES_FAIL) {
        greatest_end_line();
        printf("FAIL %s: %s (%s:%u)", g->test_name, msg, g->fail_file ? g->fail_file : "?", g->fail_line);
        if (g->verbose) greatest_print_duration(g->test_start);
        printf("\n");
    } else if (g->verbose) {
        printf("%s %s: %s", result == GREATEST_TEST_RES_PASS ? "PASS" : "SKIP", g->test_name, msg);
        greatest_print_duration(g->test_start);
        printf("\n");
    } else {
        printf("%c", result == GREATEST_TEST_RES_PASS ? '.' : 's');
        if (++g->column == 72) greatest_end_line();
    }
    fflush(stdout);
}

GREATEST_FN void greatest_test_post(greatest_test_res result) {
    greatest_run_info *g = &greatest_info;
    if (g->teardown) g->teardown(g->teardown_data);
    if (result == GREATEST_TEST_RES_PASS) g->suite.passed++;
    else if (result == GREATEST_TEST_RES_FAIL) g->suite.failed++;
    else g->suite.skipped++;
    greatest_print_result(result);
}

/* Moves the counts since the last call into the totals. */
GREATEST_FN void greatest_add_to_total(void) {
    greatest_run_info *g = &greatest_info;
    g->total.passed += g->suite.passed;
    g->total.failed += g->suite.failed;
    g->total.skipped += g->suite.skipped;
    memset(&g->suite, 0, sizeof g->suite);
}

GREATEST_FN void greatest_run_suite(greatest_suite_cb *suite, const char *name) {
    greatest_run_info *g = &greatest_info;
    unsigned count;
    if (g->suite_filter && !strstr(name, g->suite_filter)) return;
    greatest_add_to_total();
    if (greatest_stopped()) return;
    printf("\n* Suite %s:\n", name);
    fflush(stdout);
    g->suite.start = clock();
    suite();
    g->setup = NULL;
    g->teardown = NULL;
    count = g->suite.passed + g->suite.failed + g->suite.skipped;
    if (count > 0) {
        greatest_end_line();
        printf("%u test%s - %u passed, %u failed, %u skipped", count, count == 1 ? "" : "s", g->suite.passed,
               g->suite.failed, g->suite.skipped);
        greatest_print_duration(g->suite.start);
        printf("\n");
    }
    greatest_add_to_total();
}

/* ---- [main] ------------------------------------------------------------------------------------------------------ */

GREATEST_FN void greatest_usage(const char *program) {
    printf("Usage: %s [-hlfv] [-s SUITE] [-t TEST] [-x EXCLUDE]\n"
           "  -h, --help  print this help\n"
           "  -l          list suites and tests, then exit\n"
           "  -f          stop after the first failure\n"
           "  -v          verbose output\n"
           "  -s SUITE    only run suites whose name contains SUITE\n"
           "  -t TEST     only run tests whose name contains TEST\n"
           "  -x EXCLUDE  do not run tests whose name contains EXCLUDE\n",
           program);
}

/* Takes the argument at *index (and the next where the option has a value). Returns whether it was understood. */
GREATEST_FN int greatest_parse_option(int argc, char **argv, int *index) {
    greatest_run_info *g = &greatest_info;
    const char *option = argv[*index];
    const char **value = NULL;
    if (option[0] != '-' || option[1] == '\0' || option[2] != '\0') return 0;
    switch (option[1]) {
        case 'v': g->verbose = 1; return 1;
        case 'l': g->list_only = 1; return 1;
        case 'f': g->first_fail = 1; return 1;
        case 's': value = &g->suite_filter; break;
        case 't': value = &g->test_filter; break;
        case 'x': value = &g->test_exclude; break;
        default: return 0;
    }
    if (*index + 1 >= argc) return 0;
    *value = argv[++*index];
    return 1;
}

GREATEST_FN void greatest_parse_options(int argc, char **argv) {
    int i;
    for (i = 1; i < argc; i++) {
        if (strcmp(argv[i], "-h") == 0 || strcmp(argv[i], "--help") == 0) {
            greatest_usage(argv[0]);
            exit(EXIT_SUCCESS);
        }
        if (strncmp(argv[i], "--", 2) == 0) return; /* what follows is for the tests themselves */
        if (!greatest_parse_option(argc, argv, &i)) {
            printf("Unknown argument '%s', or its value is missing\n", argv[i]);
            greatest_usage(argv[0]);
            exit(EXIT_FAILURE);
        }
    }
}

GREATEST_FN void greatest_begin(int argc, char **argv) {
    memset(&greatest_info, 0, sizeof greatest_info);
    greatest_parse_options(argc, argv);
    greatest_info.total.start = clock();
}

GREATEST_FN void greatest_print_report(void) {
    greatest_run_info *g = &greatest_info;
    unsigned count;
    if (g->list_only) return;
    greatest_add_to_total();
    greatest_end_line();
    count = g->total.passed + g->total.failed + g->total.skipped;
    printf("\nTotal: %u test%s", count, count == 1 ? "" : "s");
    greatest_print_duration(g->total.start);
    printf(", %lu assertion%s\n", g->assertions, g->assertions == 1 ? "" : "s");
    printf("Pass: %u, fail: %u, skip: %u.\n", g->total.passed, g->total.failed, g->total.skipped);
}

#define GREATEST_MAIN_DEFS()  greatest_run_info greatest_info
#define GREATEST_MAIN_BEGIN() greatest_begin(argc, argv)
#define GREATEST_MAIN_END()                                                                                            \
    do {                                                                                                               \
        greatest_print_report();                                                                                       \
        return greatest_info.total.failed > 0 ? EXIT_FAILURE : EXIT_SUCCESS;                                           \
    } while (0)

/* ---- [tests and suites] ------------------------------------------------------------------------------------------ */

#define TEST               static greatest_test_res
#define SUITE_EXTERN(name) void name(void)
#define SUITE(name)                                                                                                    \
    void name(void);                                                                                                   \
    void name(void)
#define RUN_SUITE(name) greatest_run_suite(name, #name)

#define RUN_TEST(test)                                                                                                 \
    do {                                                                                                               \
        if (greatest_test_pre(#test)) greatest_test_post(test());                                                      \
    } while (0)
#define RUN_TEST1(test, argument)                                                                                      \
    do {                                                                                                               \
        if (greatest_test_pre(#test)) greatest_test_post(test(argument));                                              \
    } while (0)
#define RUN_TESTp(test, ...)                                                                                           \
    do {                                                                                                               \
        if (greatest_test_pre(#test)) greatest_test_post(test(__VA_ARGS__));                                           \
    } while (0)

#define SET_SETUP(function, data)    (greatest_info.setup = (function), greatest_info.setup_data = (data))
#define SET_TEARDOWN(function, data) (greatest_info.teardown = (function), greatest_info.teardown_data = (data))

/* ---- [results] --------------------------------------------------------------------------------------------------- */

GREATEST_FN greatest_test_res greatest_result(greatest_test_res result, const char *msg, const char *file, int line) {
    greatest_info.msg = msg;
    greatest_info.fail_file = file;
    greatest_info.fail_line = (unsigned)line;
    return result;
}

#define PASSm(msg) return greatest_result(GREATEST_TEST_RES_PASS, msg, __FILE__, __LINE__)
#define FAILm(msg) return greatest_result(GREATEST_TEST_RES_FAIL, msg, __FILE__, __LINE__)
#define SKIPm(msg) return greatest_result(GREATEST_TEST_RES_SKIP, msg, __FILE__, __LINE__)
#define PASS()     PASSm(NULL)
#define FAIL()     FAILm(NULL)
#define SKIP()     SKIPm(NULL)

/* Calls a helper that returns a test result, and leaves the test when that is not PASS. */
#define CHECK_CALL(call)                                                                                               \
    do {                                                                                                               \
        greatest_test_res greatest_check = (call);                                                                     \
        if (greatest_check != GREATEST_TEST_RES_PASS) return greatest_check;                                           \
    } while (0)

/* ---- [assertions] ------------------------------------------------------------------------------------------------ */

#define ASSERTm(msg, condition)                                                                                        \
    do {                                                                                                               \
        greatest_info.assertions++;                                                                                    \
        if (!(condition)) FAILm(msg);                                                                                  \
    } while (0)
#define ASSERT_FALSEm(msg, condition)  ASSERTm(msg, !(condition))
#define ASSERT_EQm(msg, expected, got) ASSERTm(msg, (expected) == (got))

#define ASSERT_EQ_FMTm(msg, expected, got, format)                                                                     \
    do {                                                                                                               \
        greatest_info.assertions++;                                                                                    \
        if ((expected) != (got)) {                                                                                     \
            greatest_end_line();                                                                                       \
            printf("Expected: " format "\n     Got: " format "\n", (expected), (got));                                 \
            FAILm(msg);                                                                                                \
        }                                                                                                              \
    } while (0)

GREATEST_FN int greatest_in_range(double expected, double got, double tolerance) {
    double difference = expected > got ? expected - got : got - expected;
    if (difference <= tolerance) return 1; /* false for NaN */
    greatest_end_line();
    printf("Expected: %.9g +/- %.9g\n     Got: %.9g\n", expected, tolerance, got);
    return 0;
}
#define ASSERT_IN_RANGEm(msg, expected, got, tolerance)                                                                \
    ASSERTm(msg, greatest_in_range((double)(expected), (double)(got), (double)(tolerance)))

GREATEST_FN int greatest_string_equal(const char *expected, const char *got) {
    if (expected == got || (expected && got && strcmp(expected, got) == 0)) return 1;
    greatest_end_line();
    printf("Expected: \"%s\"\n     Got: \"%s\"\n", expected ? expected : "(null)", got ? got : "(null)");
    return 0;
}
#define ASSERT_STR_EQm(msg, expected, got) ASSERTm(msg, greatest_string_equal(expected, got))

GREATEST_FN int greatest_memory_equal(const void *expected, const void *got, size_t size) {
    const unsigned char *e = (const unsigned char *)expected, *g = (const unsigned char *)got;
    size_t i;
    for (i = 0; i < size && e[i] == g[i]; i++) {}
    if (i == size) return 1;
    greatest_end_line();
    printf("Memory differs at byte %lu of %lu: expected %02x, got %02x\n", (unsigned long)i, (unsigned long)size, e[i],
           g[i]);
    return 0;
}
#define ASSERT_MEM_EQm(msg, expected, got, size) ASSERTm(msg, greatest_memory_equal(expected, got, size))

#define ASSERT(condition)                    ASSERTm(#condition, condition)
#define ASSERT_FALSE(condition)              ASSERT_FALSEm(#condition, condition)
#define ASSERT_EQ(expected, got)             ASSERT_EQm(#expected " != " #got, expected, got)
#define ASSERT_EQ_FMT(expected, got, format) ASSERT_EQ_FMTm(#expected " != " #got, expected, got, format)
#define ASSERT_IN_RANGE(expected, got, tolerance)                                                                      \
    ASSERT_IN_RANGEm(#expected " != " #got " +/- " #tolerance, expected, got, tolerance)
#define ASSERT_STR_EQ(expected, got)       ASSERT_STR_EQm(#expected " != " #got, expected, got)
#define ASSERT_MEM_EQ(expected, got, size) ASSERT_MEM_EQm(#expected " != " #got, expected, got, size)

#endif /* GREATEST_H */
