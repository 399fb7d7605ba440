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

static int usage(const char *program, int result) {
    FILE *out = result == 0 ? stdout : stderr;
    fprintf(out, "usage: %s [options] [CASE...]\n", program);
    fprintf(out, "  --quick          small sizes and few repeats: a look, not a measurement\n");
    fprintf(out, "  --threads N      most threads to use, default all cores\n");
    fprintf(out, "  --repeats N      of every measurement; default: the case's own\n");
    fprintf(out, "  --json, --csv    instead of text\n");
    fprintf(out, "  --document FILE  writes the report, as Markdown, with what was measured\n");
    fprintf(out, "  --plots DIR      writes the plots, as SVG\n");
    fprintf(out, "  --from FILE      figures of a former run (--csv) for the report, where a case is not run now\n");
    fprintf(out, "cases, all unless named:\n");
    for (int k = 0; k < CASES; ++k) fprintf(out, "  %-12s %s\n", cases[k].name, cases[k].what);
    fprintf(out,
            "Times are CPU times of all threads and wall times, least and median of the repeats. \"loops\" is the\n"
            "least CPU time in rounds of the scalar loop, measured before every case: compare these between runs.\n");
    return result;
}

static bool known_case(const char *name) {
    for (int k = 0; k < CASES; ++k) {
        if (strcmp(cases[k].name, name) == 0) return true;
    }
    return false;
}

static bool wanted(const bench *b, const char *name) {
    for (int k = 0; k < b->only_count; ++k) {
        if (strcmp(b->only[k], name) == 0) return true;
    }
    return b->only_count == 0;
}

/* A positive number, or false. */
static bool read_count(const char *text, int *out) {
    char *end;
    const long value = strtol(text, &end, 10);
    if (end == text || *end != '\0' || value < 1 || value > 1000) return false;
    *out = (int)value;
    return true;
}

static bool read_value(bench *b, const char *option, const char *value) {
    if (strcmp(option, "--threads") == 0) return read_count(value, &b->threads);
    if (strcmp(option, "--repeats") == 0) return read_count(value, &b->repeats);
    if (strcmp(option, "--document") == 0) return b->document = value, true;
    if (strcmp(option, "--plots") == 0) return b->plots = value, true;
    if (strcmp(option, "--from") == 0) return figures_load(b, value);
    return false;
}

static bool read_options(bench *b, int argc, char **argv) {
    for (int i = 1; i < argc; ++i) {
        if (strcmp(argv[i], "--json") == 0) b->format = BENCH_JSON;
        else if (strcmp(argv[i], "--csv") == 0) b->format = BENCH_CSV;
        else if (strcmp(argv[i], "--quick") == 0) b->quick = true;
        else if (known_case(argv[i]) && b->only_count < ONLY_MOST) b->only[b->only_count++] = argv[i];
        else if (i + 1 < argc && read_value(b, argv[i], argv[i + 1])) ++i;
        else return false;
    }
    return true;
}

/* ==== [main] ====================================================================================================== */

static void run_cases(bench *b) {
    for (int k = 0; k < CASES; ++k) {
        if (k > 0 && !wanted(b, cases[k].name)) continue;
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
    if (argc > 1 && strcmp(argv[1], "--help") == 0) return usage(argv[0], 0);
    b->threads = threads_available();
    if (!read_options(b, argc, argv)) return usage(argv[0], 2);
    if (b->format == BENCH_JSON) printf("{");
    if (b->format == BENCH_CSV) printf("name,unit,value,cpu_least,cpu_median,wall_least,wall_median,scalar_loops\n");
    run_cases(b);
    if (b->format == BENCH_JSON) printf("\n}\n");
    if (b->document) document_write(b);
    free(b);
    return 0;
}
