/* bench.c - how fast the library is, and how far from the machine's limits. SPDX-License-Identifier: MIT

   Every figure stands beside yardsticks of the same run: read bandwidth of the caches, a fixed scalar loop, a plain
   textbook step. The implementation is compiled into this file so that its private parts can be looked at.

   [options]   [main]; the cases are in bench_*.h */
#include "timing.h"

#include <math.h>

#define ISPHPBD_IMPLEMENTATION
#define EXAMPLES_IMPLEMENTATION
#include "isphpbd.h"

#include "examples/scenes.h"

#include "bench_document.h"
#include "bench_fluid.h"
#include "bench_machine.h"
#include "bench_slices.h"
#include "bench_soft.h"
#include "bench_textbook.h"
#include "bench_world.h"

static void bench_scaling(bench *b) {
    bench_scaling_fluid(b);
    bench_scaling_soft(b);
}

/* ==== [options] =================================================================================================== */

typedef struct bench_case {
    const char *name;
    void (*run)(bench *b);
    const char *what;
} bench_case;

static const bench_case cases[] = {
    {"machine", bench_machine, "read bandwidth of L2, L3 and DRAM, the scalar loop (always measured)"},
    {"stages", bench_stages, "stages of a fluid step: plain C, SSE2, AVX2; one and all threads"},
    {"textbook", bench_textbook, "ratio to a plain textbook step"},
    {"dam", bench_dam, "particle-steps per second by density error; the largest stable step"},
    {"constraints", bench_constraints, "ns per projection by kind, cloth and tetrahedra"},
    {"paper", bench_paper, "the scenes of tables 1 and 2 of the ISPH-PBD paper"},
    {"scaling", bench_scaling, "cost and memory over particles and constraints; 1..n threads"},
    {"slices", bench_slices, "units of work of a substep in pieces"},
    {"budget", bench_budget, "frame times against deadlines"},
    {"solvers", bench_solvers, "CG and BiCGSTAB with all preconditioners, to 1e-1 .. 1e-5"},
};
enum { CASES = (int)(sizeof cases / sizeof cases[0]) };

static void usage(const char *program) {
    printf("usage: %s [options] [CASE...]\n", program);
    printf("  --help, -h       this\n");
    printf("  --quick          small sizes and few repeats: a look, not a measurement\n");
    printf("  --threads N      most threads to use, at most %d, default all cores\n", THREADS_MOST);
    printf("  --repeats N      of every measurement; default: the case's own\n");
    printf("  --json, --csv    instead of text\n");
    printf("  --document FILE  writes the report, as Markdown, with what was measured\n");
    printf("  --plots DIR      writes the plots, as SVG\n");
    printf("  --from FILE      figures of a former run (--csv) for the report, where a case is not run now\n");
    printf("cases, all unless named:\n");
    for (int k = 0; k < CASES; ++k) printf("  %-12s %s\n", cases[k].name, cases[k].what);
    printf("Times are CPU times of all threads and wall times, least and median of the repeats. \"loops\" is the\n"
           "least CPU time in rounds of the scalar loop, measured before every case: compare these between runs.\n");
}

static bool known_case(const char *name) {
    for (int k = 0; k < CASES; ++k) {
        if (strcmp(cases[k].name, name) == 0) return true;
    }
    return false;
}

static bool named(const bench *b, const char *name) {
    for (int k = 0; k < b->only_count; ++k) {
        if (strcmp(b->only[k], name) == 0) return true;
    }
    return false;
}

/* What is wrong with the command line, in one line; false. */
static BENCH_PRINTF bool refuse(const char *program, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "bench: ");
    (void)vfprintf(stderr, format, arguments);
    fprintf(stderr, "; see %s --help\n", program);
    va_end(arguments);
    return false;
}

typedef struct command_line {
    const char *program;
    bench *b;
} command_line;

static bool read_count(const command_line *c, const char *option, const char *text, int most, int *out) {
    char *end;
    const long value = strtol(text, &end, 10);
    if (end == text || *end != '\0' || value < 1 || value > most)
        return refuse(c->program, "%s wants a number from 1 to %d, not '%s'", option, most, text);
    *out = (int)value;
    return true;
}

static bool read_former(const command_line *c, const char *path) {
    return figures_load(c->b, path) || refuse(c->program, "--from %s: there are no figures that --csv printed", path);
}

static bool read_value(const command_line *c, const char *option, const char *value) {
    static const char *const options[5] = {"--threads", "--repeats", "--document", "--plots", "--from"};
    int k = 0;
    while (k < 5 && strcmp(option, options[k]) != 0) ++k;
    if (k == 5) return refuse(c->program, *option == '-' ? "no option '%s'" : "no case '%s'", option);
    if (!value || strncmp(value, "--", 2) == 0) return refuse(c->program, "%s wants a value", option);
    if (k == 0) return read_count(c, option, value, THREADS_MOST, &c->b->threads);
    if (k == 1) return read_count(c, option, value, SAMPLES_MOST, &c->b->repeats);
    if (k == 2) c->b->document = value;
    if (k == 3) c->b->plots = value;
    return k < 4 || read_former(c, value);
}

static bool read_format(const command_line *c, bench_format format) {
    if (c->b->format != BENCH_TEXT && c->b->format != format)
        return refuse(c->program, "--json and --csv exclude each other");
    c->b->format = format;
    return true;
}

static bool read_options(const command_line *c, int argc, char **argv) {
    bench *b = c->b;
    for (int i = 1; i < argc; ++i) {
        const char *option = argv[i];
        bool ok = true;
        if (strcmp(option, "--json") == 0) ok = read_format(c, BENCH_JSON);
        else if (strcmp(option, "--csv") == 0) ok = read_format(c, BENCH_CSV);
        else if (strcmp(option, "--quick") == 0) b->quick = true;
        else if (!known_case(option)) ok = read_value(c, option, i + 1 < argc ? argv[++i] : NULL);
        else if (!named(b, option)) b->only[b->only_count++] = option;
        if (!ok) return false;
    }
    return true;
}

static bool asks_for_help(int argc, char **argv) {
    for (int i = 1; i < argc; ++i) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) return true;
    }
    return false;
}

/* Whether a file can be written there, before minutes are spent on what goes into it; leaves everything as it was. */
static bool writable(const char *path) {
    FILE *old = fopen(path, "rb"), *file = fopen(path, "ab");
    if (old) fclose(old);
    if (file) fclose(file);
    if (file && !old) (void)remove(path);
    if (!file) fprintf(stderr, "bench: cannot write %s\n", path);
    return file != NULL;
}

static bool outputs_writable(const bench *b) {
    char path[512];
    (void)snprintf(path, sizeof path, "%s/performance_budget.svg", b->plots ? b->plots : "");
    return (!b->document || writable(b->document)) && (!b->plots || writable(path));
}

/* ==== [main] ====================================================================================================== */

static void run_cases(bench *b) {
    for (int k = 0; k < CASES; ++k) {
        if (k > 0 && b->only_count > 0 && !named(b, cases[k].name)) continue;
        machine_look(b);
        b->group = cases[k].name;
        place(b, "%s", "");
        cases[k].run(b);
    }
    machine_look(b);
    b->group = "machine";
    place(b, "%s", "");
    figure_value(b, "scalar_loop_at_the_end", b->loop_nanoseconds, "ns: how far the machine drifted");
}

int main(int argc, char **argv) {
    bench *b = (bench *)need(calloc(1, sizeof *b));
    const command_line line = {argv[0], b};
    int result = 0;
    if (asks_for_help(argc, argv)) return usage(argv[0]), 0;
    b->threads = threads_available();
    if (!read_options(&line, argc, argv)) return 2;
    if (!outputs_writable(b)) return 1;
    b->run = facts_now(b);
    figures_begin(b);
    run_cases(b);
    figures_end(b);
    if (b->document && !document_write(b)) result = 1;
    free(b);
    return result;
}
