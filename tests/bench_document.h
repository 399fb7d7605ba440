/* bench_document.h - docs/performance.md: the figures of this run as tables, plots and words.
   SPDX-License-Identifier: MIT

   Sections of cases that were not run are left out. Figures of others were measured by us on another machine, or are
   those of the paper; both are named so. */
#ifndef BENCH_DOCUMENT_H
#define BENCH_DOCUMENT_H

#include "bench_fluid.h"
#include "bench_slices.h"
#include "bench_soft.h"
#include "bench_world.h"
#include "plot.h"

typedef struct document {
    const bench *b;
    FILE *file;
    bool quick; /* figures of quick runs are among them */
} document;

static BENCH_PRINTF void say(document *d, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    (void)vfprintf(d->file, format, arguments);
    va_end(arguments);
}

/* ==== [lookup] figures by the parts of their names ================================================================ */

static const figure *seek(const document *d, const char *group, const char *at, const char *what) {
    char name[128];
    (void)snprintf(name, sizeof name, "%s%s%s%s%s", group, *at ? "." : "", at, *what ? "." : "", what);
    return figure_find(d->b, name);
}
static double look(const document *d, const char *group, const char *at, const char *what) {
    const figure *f = seek(d, group, at, what);
    return f ? f->value : 0.0;
}
static double look_wall(const document *d, const char *group, const char *at, const char *what) {
    const figure *f = seek(d, group, at, what);
    return f ? f->time.wall_least : 0.0;
}
static bool has(const document *d, const char *group, const char *at, const char *what) {
    return seek(d, group, at, what) != NULL;
}

/* ==== [head] ====================================================================================================== */

/* Linux says so among the features of the processor. */
static bool document_is_virtual(void) {
    char line[8192];
    bool found = false;
    FILE *info = fopen("/proc/cpuinfo", "r");
    while (info && !found && fgets(line, sizeof line, info))
        found = strncmp(line, "flags", 5) == 0 && strstr(line, " hypervisor") != NULL;
    if (info) fclose(info);
    return found;
}
/* Whether a step on one thread had the core to itself. */
static void document_company(document *d) {
    const figure *f = seek(d, "stages", "sse2.1_thread", "step");
    if (!f || f->time.wall_median < 1.1 * f->time.cpu_median) return;
    say(d,
        "**Other programs ran at the same time**: a step on one thread took %.1f times its CPU time. Wall times and "
        "speedups by wall time are worse than on a quiet machine; CPU times hardly.\n\n",
        f->time.wall_median / f->time.cpu_median);
}
static void document_yardsticks(document *d) {
    say(d, "- Yardsticks, one core: reads %.0f GB/s from L2, %.0f from L3, %.0f from memory",
        look(d, "machine", "", "read_l2"), look(d, "machine", "", "read_l3"), look(d, "machine", "", "read_dram"));
    if (has(d, "machine", "", "read_l3_sse2"))
        say(d, " in loads of 32 bytes (%.0f and %.0f from L2 and L3 in the 16 bytes of SSE2)",
            look(d, "machine", "", "read_l2_sse2"), look(d, "machine", "", "read_l3_sse2"));
    say(d,
        "; a multiplication and an addition that wait for each other take %.2f ns (%.2f at the end of the run: the "
        "machine drifts). `build/bench` prints every time in rounds of that loop, too.\n\n",
        look(d, "machine", "", "scalar_loop"), look(d, "machine", "", "scalar_loop_at_the_end"));
    if (has(d, "machine", "", "threads_at_once"))
        say(d,
            "Pure arithmetic on all %d threads at once is %.2f times as fast as on one at best, %.2f times in the "
            "median: speedups below cannot be more.\n\n",
            d->b->threads, look(d, "machine", "", "threads_at_once"), look(d, "machine", "", "threads_at_once_median"));
}

static void document_head(document *d) {
    const run_facts *run = &d->b->run, *loaded = &d->b->loaded_run;
    say(d, "# Performance\n\nWritten by `make bench`; do not edit. Times are the least (and, where two stand together, "
           "the median) of several runs unless they are called means.\n\n");
    if (d->quick) say(d, "**From a quick run: sizes and repeats are too small to trust, and no goal is judged.**\n\n");
    say(d, "- CPU: %s, %d cores%s\n- Date: %s\n", run->cpu, threads_available(),
        document_is_virtual() ? " of a virtual machine" : "", run->date);
    say(d, "- Compiler: %s, with the Makefile's flags (`-O2`, no `-march`)\n", run->compiler);
    if (d->b->loaded > 0)
        say(d, "- What was not run now is from a former run (`--from`): %s, %s%s\n", loaded->date, loaded->cpu,
            loaded->quick ? ", quick" : "");
    document_yardsticks(d);
    document_company(d);
}

/* ==== [goals] ===================================================================================================== */

static const char *verdict(const document *d, bool reached) {
    return d->quick ? "not judged: a quick run" : reached ? "reached" : "**missed**";
}

static void goal(document *d, const char *what, double value, bool at_least, double limit, const char *unit) {
    if (!(value > 0.0)) return; /* not measured */
    say(d, "| %s | %.3g %s | %s %.3g | %s |\n", what, value, unit, at_least ? "at least" : "at most", limit,
        verdict(d, at_least ? value >= limit : value <= limit));
}

/* A scene is as fast as the paper's where it has as many particles, or nearly. */
static bool document_comparable(const document *d, const paper_row *row) {
    return look(d, "paper", row->scene, "particles") >= PAPER_ENOUGH * 1000.0 * row->particles;
}

static void document_goal_paper(document *d, const paper_row *row) {
    const double wall = look(d, "paper", row->scene, "wall_mean");
    if (!(wall > 0.0)) return;
    say(d,
        "| `%s`, %.1f thousand particles (the paper's: %.0f): mean wall time of a step on %d threads | %.3g ms | at "
        "most "
        "%.3g (the paper's mean, four cores of another CPU) | %s |\n",
        row->scene, 1e-3 * look(d, "paper", row->scene, "particles"), row->particles, d->b->threads, wall,
        row->milliseconds, document_comparable(d, row) ? verdict(d, wall <= row->milliseconds) : "not compared");
}

static void document_goals_textbook(document *d) {
    static const char *const supports[2] = {"support_2.0", "support_2.4"};
    for (int k = 0; k < 2; ++k) {
        char what[96];
        (void)snprintf(what, sizeof what, "step against the textbook's to the same residuals, %s", supports[k]);
        goal(d, what, look(d, "textbook", supports[k], "speedup"), true, 4.0, "times faster");
        (void)snprintf(what, sizeof what, "the same, the textbook stopped after as many products, %s", supports[k]);
        goal(d, what, look(d, "textbook", supports[k], "speedup_products"), true, 4.0, "times faster");
    }
}

/* Cost of a particle in a dam of about so many. */
static double scaling_cost(const document *d, int particles) {
    const int side = side_of(particles);
    char at[32];
    (void)snprintf(at, sizeof at, "particles_%d", side * side * side);
    return look(d, "scaling", at, "");
}

static void document_goals(document *d) {
    const char *sse2 = "sse2.1_thread";
    const double pair = look(d, "stages", sse2, "product_pair") / (look(d, "stages", "", "products") + 1e-9);
    char speedup[32];
    (void)snprintf(speedup, sizeof speedup, "fluid_threads_%d", d->b->threads);
    say(d, "## Goals\n\n| what | measured | goal | |\n|---|---:|---:|---|\n");
    goal(d, "dam break, 27,000 particles: particle-steps/s/core at 0.5 %, mean",
         look(d, "dam", "at_0.5_percent", "rate"), true, 1.2, "million");
    goal(d, "the same, pressure iterations per step", look(d, "dam", "at_0.5_percent", "pressure_iterations"), false,
         8.0, "");
    goal(d, "the same, density iterations per step", look(d, "dam", "at_0.5_percent", "density_iterations"), false, 8.0,
         "");
    document_goals_textbook(d);
    goal(d, "product of the matrix with a pair: share of L3 bandwidth", look(d, "stages", sse2, "product_share_of_l3"),
         true, 0.65, "");
    goal(d, "Krylov solve over its products", look(d, "stages", sse2, "krylov_over_products"), false, 1.2, "");
    goal(d, "search and assembly, in products", look(d, "stages", sse2, "assembly_in_products"), false, 18.0, "");
    goal(d, "gradient and move, in products", look(d, "stages", sse2, "gradient_and_move") / pair, false, 4.0, "");
    goal(d, "fluid on all threads", d->b->threads > 1 ? look(d, "scaling", speedup, "speedup") : 0.0, true,
         0.9 * d->b->threads, "times one");
    goal(d, "cost per particle of 205,379 over that of 21,952", scaling_cost(d, 200000) / scaling_cost(d, 20000), false,
         1.3, "");
    for (int k = 0; k < PAPER_ROWS; ++k) document_goal_paper(d, &paper_rows[k]);
    goal(d, "plain C, SSE2, AVX2, any number of threads: same bits", look(d, "stages", "", "same_bits"), true, 1.0, "");
    goal(d, "cloth 65 x 65, 12 substeps (half of Jolt's 1.98 ms on another CPU, a Sapphire Rapids)",
         look(d, "constraints", "cloth.1_thread", "step"), false, 0.99, "ms");
    (void)snprintf(speedup, sizeof speedup, "cloth.%d_threads", d->b->threads);
    goal(d, "cloth on all threads", look(d, "constraints", speedup, "speedup"), true, 0.8 * d->b->threads, "times one");
    (void)snprintf(speedup, sizeof speedup, "block.%d_threads", d->b->threads);
    goal(d, "block of tetrahedra on all threads", look(d, "constraints", speedup, "speedup"), true, 0.8 * d->b->threads,
         "times one");
    goal(d, "stretch constraint", look(d, "constraints", "", "stretch"), false, 4.0, "ns");
    goal(d, "volume of a tetrahedron", look(d, "constraints", "", "volume"), false, 8.0, "ns");
    say(d, "\n");
}

/* ==== [stages] ==================================================================================================== */

static void document_stage_row(document *d, const char *what, double whole, double whole_all) {
    const char *one = "sse2.1_thread";
    char all[32];
    double cost = look(d, "stages", one, what), nonzeros = look(d, "stages", "", "neighbours");
    (void)snprintf(all, sizeof all, "sse2.%d_threads", d->b->threads);
    if (!has(d, "stages", one, what)) return;
    say(d, "| %s | %.0f | %.0f %% | %.2f |", what, cost, 100.0 * cost / whole, cost / nonzeros);
    if (whole_all > 0.0)
        say(d, " %.0f | %.0f %% |", look_wall(d, "stages", all, what),
            100.0 * look_wall(d, "stages", all, what) / whole_all);
    say(d, "\n");
}

static const char *document_bottleneck(double share, double bound) {
    return share > 0.6           ? "Memory is the limit: only a smaller matrix or fewer products make it faster."
           : share > 0.7 * bound ? "Most of its time are these loads, and memory is not the limit: a smaller matrix "
                                   "would not be faster."
                                 : "Neither loads nor memory are the limit alone.";
}

/* What follows from the yardsticks, whatever the CPU. */
static void document_limit(document *d, const char *one) {
    const double share = look(d, "stages", one, "product_share_of_l3"), padding = look(d, "stages", "", "padding");
    const double bound = look(d, "stages", one, "gather_bound_of_l3");
    const double l3_over_l2 = look(d, "machine", "", "read_l3") / look(d, "machine", "", "read_l2");
    say(d,
        "**What the limit is.** A product reads %.1f bytes per nonzero and runs at %.0f %% of the bandwidth with which "
        "one core reads its L3 (here %.0f %% of that of its L2). ",
        6.0 * padding, 100.0 * share, 100.0 * l3_over_l2);
    if (bound > 0.0)
        say(d,
            "The fastest code we found that only loads the same values, columns and neighbours' pairs in the "
            "instructions of SSE2, which has none that gathers, and does nothing with them reaches %.0f %%: a product "
            "takes %.2f times as long as that. %s ",
            100.0 * bound, bound / share, document_bottleneck(share, bound));
    say(d, "The rest of a step works on lists that stay in the first two cache levels and is bound by arithmetic and "
           "gathers. The levers left are fewer iterations, fewer searches, and wider vectors: there is no AVX2 path in "
           "the headers; the column AVX2 below is the SSE2 code compiled with `-mavx2`.\n\n");
}

static void document_stage_words(document *d) {
    const char *one = "sse2.1_thread";
    const double step = look(d, "stages", one, "step"), krylov = look(d, "stages", one, "krylov");
    const double rows = look(d, "stages", one, "search_and_assembly"),
                 move = look(d, "stages", one, "gradient_and_move");
    const double product = look(d, "stages", one, "product_pair");
    say(d,
        "Of a step, %.0f %% go into finding neighbours and building the matrix, %.0f %% into the solve (%.0f products "
        "of the matrix with a pair of vectors, pressure and density at once: %.0f %%), %.0f %% into gradients and "
        "moving. "
        "Serial pieces between the parallel ones take %.1f %% of the wall time.\n\n",
        100.0 * rows / step, 100.0 * krylov / step, look(d, "stages", "", "products"), 100.0 * product / step,
        100.0 * move / step, 100.0 * look(d, "stages", one, "serial_share"));
    document_limit(d, one);
}

static void document_paths(document *d) {
    static const char *const rows[6] = {"step",
                                        "krylov",
                                        "product_pair_per_nonzero",
                                        "search_per_nonzero",
                                        "assembly_per_nonzero",
                                        "product_share_of_l3"};
    say(d, "| one thread, CPU ns | plain C | SSE2 | AVX2 |\n|---|---:|---:|---:|\n");
    for (int k = 0; k < 6; ++k)
        say(d, "| %s%s | %.3g | %.3g | %.3g |\n", rows[k], k < 2 ? " per particle" : "",
            look(d, "stages", "plain.1_thread", rows[k]), look(d, "stages", "sse2.1_thread", rows[k]),
            look(d, "stages", "avx2.1_thread", rows[k]));
    say(d, "\nAll of them, on one and on all threads, give the same bits: %s.\n\n",
        look(d, "stages", "", "same_bits") > 0.0 ? "yes" : "**no**");
}

static void document_stages(document *d) {
    const double whole = look(d, "stages", "sse2.1_thread", "step");
    char all[32];
    double whole_all;
    if (whole <= 0.0) return;
    (void)snprintf(all, sizeof all, "sse2.%d_threads", d->b->threads);
    whole_all = look_wall(d, "stages", all, "step");
    say(d,
        "## Where the time of a fluid step goes\n\nThe dam break of 27,000 particles at 0.4 s, support 2.0 (%.1f "
        "neighbours), one substep of 4 ms, %.0f pressure and %.0f density iterations, SSE2.\n\n",
        look(d, "stages", "", "neighbours"), look(d, "stages", "", "pressure_iterations"),
        look(d, "stages", "", "density_iterations"));
    say(d, "| stage | ns per particle, one thread | share | ns per nonzero |");
    if (whole_all > 0.0) say(d, " ns per particle, %d threads, wall | share |", d->b->threads);
    say(d, "\n|---|---:|---:|---:|%s\n", whole_all > 0.0 ? "---:|---:|" : "");
    for (int k = 0; k < STAGES; ++k) document_stage_row(d, stage_names[k], whole, whole_all);
    document_stage_row(d, "step", whole, whole_all);
    say(d, "\n");
    document_stage_words(d);
    document_paths(d);
}

/* ==== [dam] ======================================================================================================= */

static void document_dam(document *d) {
    static const char *const at[4] = {"at_0.01_percent", "at_0.1_percent", "at_0.5_percent", "at_1_percent"};
    static const char *const label[4] = {"0.01 %", "0.1 %", "0.5 %", "1 %"};
    if (!has(d, "dam", at[0], "rate")) return;
    say(d,
        "## Speed at a given accuracy\n\nThe dam break of 27,000 particles for a second in steps of 5 ms, support 2.0, "
        "one core. Solvers of the DFSPH family stop when the density error that the solve leaves by its own linear "
        "prediction is small enough; the third column is the same measure here. The fourth is what the particles' "
        "places then say: it is dominated by how particles pass each other and hardly depends on the solver.\n\n");
    say(d, "| allowed | tolerance | error left by the solve | compression of the particles | iterations, pressure + "
           "density "
           "| million particle-steps/s/core: mean | of the median step | CPU s per simulated second "
           "|\n|---:|---:|---:|---:|---:|---:|---:|---:|\n");
    for (int k = 0; k < 4; ++k)
        say(d, "| %s | %.2g | %.4f %% | %.2f %% | %.1f + %.1f | %.2f | %.2f | %.2f |\n", label[k],
            look(d, "dam", at[k], "tolerance"), look(d, "dam", at[k], "solver_error"),
            look(d, "dam", at[k], "compression"), look(d, "dam", at[k], "pressure_iterations"),
            look(d, "dam", at[k], "density_iterations"), look(d, "dam", at[k], "rate"),
            look(d, "dam", at[k], "rate_median"), look(d, "dam", at[k], "cpu_per_simulated_second"));
    say(d,
        "\nSteps may be longer than 5 ms: at %.1f ms, undivided, energy does not grow, mean compression stays below "
        "1 %%, and a simulated second takes %.2f CPU seconds.\n\n",
        look(d, "dam", "", "largest_stable_step"), look(d, "dam", "", "cpu_per_simulated_second_there"));
    say(d, "For comparison, on a 2-core Sapphire Rapids with gcc 12: SPlisHSPlasH's DFSPH, AVX, one thread, "
           "on this "
           "scene at its default 0.01 %% and 5 ms 0.13-0.27 million particle-steps/s and 40-48 CPU s per simulated "
           "second; "
           "0.40-0.49 million at 0.1-1 %% (4-14 thousand particles).\n\n");
}

static void document_textbook_row(document *d, const char *at) {
    say(d, "| %s | %.0f | %.0f | %.0f + %.0f | %.1f | %.0f | %.2f + %.2f | %.1f |\n", at,
        look(d, "textbook", at, "library"), look(d, "textbook", at, "textbook"),
        look(d, "textbook", at, "textbook_pressure_iterations"), look(d, "textbook", at, "textbook_density_iterations"),
        look(d, "textbook", at, "speedup"), look(d, "textbook", at, "textbook_products"),
        look(d, "textbook", at, "products_pressure_residual"), look(d, "textbook", at, "products_density_residual"),
        look(d, "textbook", at, "speedup_products"));
}

static void document_textbook(document *d) {
    if (!has(d, "textbook", "support_2.0", "speedup")) return;
    say(d,
        "## Against a textbook step\n\nThe same state, written as one writes it first: chained hash, compressed "
        "rows, doubles, BiCGSTAB with the inverse diagonal, one right side after the other "
        "(`tests/bench_textbook.h`); one thread, ns per particle. Its diagonal is that of the ISPH-PBD paper "
        "(equations 10 to 13): that of a full neighbourhood wherever neighbours are missing, so that pressure is 0 "
        "beyond the surface. It has no walls in its equations, and is stopped at them afterwards: its system is the "
        "easier one. Both start from the last pressures and stop at the same relative residual (%.2g). The last three "
        "columns stop the textbook after as many products as the library, with its two-level preconditioner, took "
        "for both: what layout and search alone are worth, and the relative residuals, pressure + density, that it "
        "has left by then.\n\n"
        "| | library | textbook | its iterations, pressure + density | ratio | textbook, as many products | its "
        "residuals | ratio |\n|---|---:|---:|---:|---:|---:|---:|---:|\n",
        look(d, "textbook", "", "tolerance"));
    document_textbook_row(d, "support_2.0");
    document_textbook_row(d, "support_2.4");
    say(d, "\n");
}

/* ==== [soft] ====================================================================================================== */

static void document_soft(document *d) {
    char all[32];
    if (!has(d, "constraints", "", "stretch")) return;
    (void)snprintf(all, sizeof all, "cloth.%d_threads", d->b->threads);
    say(d, "## Soft bodies\n\nTime per projection. Of the others: Jolt, Bullet and PositionBasedDynamics measured on "
           "a 2-core Sapphire Rapids with gcc 12, same meshes.\n\n"
           "| | here | Jolt | Bullet | PositionBasedDynamics |\n|---|---:|---:|---:|---:|\n");
    say(d,
        "| cloth 65 x 65, 20,606 constraints, 12 substeps (iterations): step | %.2f ms | 1.98 ms | 2.33 ms | 3.78 ms "
        "|\n",
        look(d, "constraints", "cloth.1_thread", "step"));
    say(d, "| the same per projection, all of a step | %.1f ns | 8.0 ns | 9.4 ns | 15.3 ns |\n",
        look(d, "constraints", "cloth.1_thread", "projection"));
    say(d, "| stretch alone | %.1f ns | 7.6 ns | | |\n| bend over two edges | %.1f ns | | | |\n",
        look(d, "constraints", "", "stretch"), look(d, "constraints", "", "link"));
    say(d, "| dihedral bend | %.1f ns | 33 ns | | |\n| isometric bend | %.1f ns | | | |\n",
        look(d, "constraints", "", "dihedral"), look(d, "constraints", "", "isometric"));
    say(d, "| volume of a tetrahedron | %.1f ns | 20.6 ns | | 53 ns |\n| elastic tetrahedron | %.1f ns | | | |\n",
        look(d, "constraints", "", "volume"), look(d, "constraints", "", "elastic"));
    say(d, "| block of 12,168 tetrahedra and 9,112 edges, 20 substeps: step | %.2f ms | | | |\n",
        look(d, "constraints", "block.1_thread", "step"));
    if (d->b->threads > 1)
        say(d, "| cloth on %d threads | %.2f times | 1.39 times | | |\n", d->b->threads,
            look(d, "constraints", all, "speedup"));
    say(d,
        "\nFour constraints of one colour are projected at once, %.0f bytes each; vertices are %.0f bytes of world "
        "memory "
        "each. The limit is the latency of square root and division, then loads of scattered vertices.\n\n",
        look(d, "constraints", "", "edge_bytes"), look(d, "constraints", "cloth.1_thread", "bytes"));
}

/* ==== [scaling] =================================================================================================== */

static void document_plot(document *d, plot *p, const char *name) {
    char path[512];
    if (!d->b->plots) return;
    (void)snprintf(path, sizeof path, "%s/%s.svg", d->b->plots, name);
    if (plot_write(p, path)) say(d, "![%s](plots/%s.svg)\n\n", p->title, name);
    else fprintf(stderr, "bench: cannot write %s\n", path);
}

/* Figures named PREFIX_NUMBER of the scaling case: the number and its least and median cost. */
typedef struct curve {
    double x[16], least[16], median[16], bytes[16];
    int count;
} curve;

static curve scaling_curve(const document *d, const char *prefix) {
    const size_t length = strlen(prefix);
    curve c;
    memset(&c, 0, sizeof c);
    for (int k = 0; k < d->b->figure_count && c.count < 16; ++k) {
        const figure *f = &d->b->figures[k];
        char *end;
        if (strncmp(f->name, prefix, length) != 0) continue;
        c.x[c.count] = (double)strtol(f->name + length, &end, 10);
        if (*end != '\0') continue; /* something else about that size */
        c.least[c.count] = f->time.cpu_least, c.median[c.count] = f->time.cpu_median;
        c.bytes[c.count++] = look(d, f->name, "", "bytes");
    }
    return c;
}

static void document_curve(document *d, const char *prefix, const char *title, const char *x_label, const char *y_label,
                           const char *file) {
    const curve c = scaling_curve(d, prefix);
    plot p = plot_make(title, x_label, y_label);
    double most = 0.0;
    if (c.count == 0) return;
    say(d, "| %s | %s: least | median | bytes each |\n|---:|---:|---:|---:|\n", x_label, y_label);
    for (int k = 0; k < c.count; ++k) {
        say(d, "| %.0f | %.3g | %.3g | %.0f |\n", c.x[k], c.least[k], c.median[k], c.bytes[k]);
        if (c.median[k] > most) most = c.median[k];
    }
    say(d, "\n");
    p.x.logarithmic = 1, p.y.highest = 1.25 * most;
    plot_add(&p, "least", c.x, c.least, c.count, PLOT_LINE | PLOT_POINTS);
    plot_add(&p, "median", c.x, c.median, c.count, PLOT_DASHED | PLOT_POINTS);
    document_plot(d, &p, file);
}

static void document_threads(document *d) {
    const curve c = scaling_curve(d, "scaling.fluid_threads_");
    if (c.count == 0) return;
    say(d, "| threads | wall ms per substep, 27,000 particles: least | median | times one |\n|---:|---:|---:|---:|\n");
    for (int k = 0; k < c.count; ++k) {
        char at[32];
        const figure *f;
        (void)snprintf(at, sizeof at, "fluid_threads_%.0f", c.x[k]);
        f = seek(d, "scaling", at, "");
        if (f)
            say(d, "| %.0f | %.2f | %.2f | %.2f |\n", c.x[k], f->time.wall_least, f->time.wall_median,
                look(d, "scaling", at, "speedup"));
    }
    say(d, "\n");
}

static void document_scaling(document *d) {
    if (scaling_curve(d, "scaling.particles_").count == 0) return;
    say(d, "## Scaling\n\nCost per item stays level as long as matrix and vectors are read from cache, and again once "
           "all of it "
           "comes from memory; deeper water needs a few more iterations.\n\n");
    document_curve(d, "scaling.particles_", "Fluid: cost of a substep", "particles", "CPU ns per particle",
                   "performance_particles");
    document_curve(d, "scaling.constraints_", "Cloth: cost of a projection", "constraints", "CPU ns per projection",
                   "performance_constraints");
    document_threads(d);
}

/* ==== [paper] ===================================================================================================== */

static void document_paper_row(document *d, const paper_row *row) {
    const char *at = row->scene;
    const double wall = look(d, "paper", at, "wall_mean");
    if (!(wall > 0.0)) return;
    say(d, "| %s | %.1f (%.0f) | %.1f | %.1f (%.0f) | %.1f + %.1f (%.1f) | %.1f (%.1f) | %.1f | %.0f |", at,
        1e-3 * look(d, "paper", at, "particles"), row->particles, 1e-3 * look(d, "paper", at, "particles_least"),
        1e-3 * look(d, "paper", at, "constraints"), row->constraints, look(d, "paper", at, "pressure_iterations"),
        look(d, "paper", at, "density_iterations"), row->pressure_iterations, look(d, "paper", at, "rounds"),
        row->rounds, look(d, "paper", at, "substeps"), look(d, "paper", at, "steps"));
    say(d, " %.1f | %.1f | %.1f | %.1f |", look(d, "paper", at, "cpu_mean"), look(d, "paper", at, "path_mean"), wall,
        row->milliseconds);
    if (document_comparable(d, row)) say(d, " %.2f |\n", row->milliseconds / wall);
    else say(d, " not compared |\n");
}

static void document_paper_shares(document *d) {
    static const char *const shares[7] = {"share_neighbours", "share_walls",       "share_pressure", "share_move",
                                          "share_coupling",   "share_constraints", "share_rest"};
    say(d, "Where the step goes; every tick of the stepping thread counts once, what the coupling does inside the "
           "fluid's stages as coupling:\n\n"
           "| | neighbours | walls | viscosity and pressure | move | coupling | constraints | rest |\n"
           "|---|---:|---:|---:|---:|---:|---:|---:|\n");
    for (int k = 0; k < PAPER_ROWS; ++k) {
        if (!has(d, "paper", paper_rows[k].scene, shares[0])) continue;
        say(d, "| %s |", paper_rows[k].scene);
        for (int j = 0; j < 7; ++j) say(d, " %.0f %% |", 100.0 * look(d, "paper", paper_rows[k].scene, shares[j]));
        say(d, "\n");
    }
    say(d, "\n");
}

static void document_paper_weak(document *d) {
    say(d,
        "Table 2, weakly compressible against incompressible, mean wall ms per step of 1 ms (the paper's means in "
        "brackets). Incompressible is the run above; weakly compressible are %d looks of 6 steps each, spread evenly "
        "over it, every one from the state that it then has:\n\n"
        "| scene | weakly compressible | its substeps (at most) | incompressible |\n|---|---:|---:|---:|\n",
        PAPER_LOOKS);
    for (int k = 0; k < PAPER_ROWS; ++k) {
        const paper_row *row = &paper_rows[k];
        if (!has(d, "paper", row->scene, "weak_wall_mean")) continue;
        say(d, "| %s | %.1f (%.1f) | %.1f (%.0f) | %.1f (%.1f) |\n", row->scene,
            look(d, "paper", row->scene, "weak_wall_mean"), row->weak, look(d, "paper", row->scene, "weak_substeps"),
            look(d, "paper", row->scene, "weak_substeps_most"), look(d, "paper", row->scene, "wall_mean"),
            row->incompressible);
    }
    say(d, "\n");
}

static void document_paper_words(document *d) {
    say(d,
        "## The paper's scenes\n\nTable 1 of Abu Rumman et al. 2020 (ISPH-PBD), whose figures stand in brackets and in "
        "the last but one column: another machine, a quad-core Intel i7 of 2.8 GHz, and means over a simulated second. "
        "Here %d threads and means, too: over the fall and the bounce of balloon and pot (0.8 s); over a second of the "
        "scenes with sheets and 0.2 s of the basin after jets have filled them, which is not measured, until the "
        "paper's number of particles was there or the jet was over. The first column is the mean of the steps "
        "measured, the second their least; a scene with less than %.0f %% of the paper's particles is not "
        "compared.\n\n",
        d->b->threads, 100.0 * PAPER_ENOUGH);
    say(d,
        "Time steps are the paper's, and at least as many sweeps over the constraints, but a step is divided into "
        "substeps where water moves farther than a spacing. The paper tells no sizes that fit together: the three "
        "scenes with sheets are built so large (a spacing of 5 cm) that its step of 5 ms is one step of water, with "
        "few exceptions; at 1 cm it would be three. The CPU time of the stepping thread (serial parts and its share "
        "of the parallel ones) is what the wall time would be on a machine with nothing else to do; what is compared "
        "is the wall time.\n\n");
}

static void document_paper(document *d) {
    if (!has(d, "paper", paper_rows[0].scene, "wall_mean")) return;
    document_paper_words(d);
    say(d, "| scene | thousand particles | least | thousand constraints | iterations, pressure + density | rounds | "
           "substeps | steps measured | ms per step: CPU, all threads | CPU, stepping thread | wall | paper's | times "
           "faster, by wall |\n|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n");
    for (int k = 0; k < PAPER_ROWS; ++k) document_paper_row(d, &paper_rows[k]);
    say(d, "\n");
    document_paper_shares(d);
    document_paper_weak(d);
}

/* ==== [budget] ==================================================================================================== */

static void document_budget_plot(document *d) {
    static const char *const labels[BUDGETS] = {"no deadline", "16 ms", "8 ms", "4 ms", "2 ms"};
    plot p = plot_make("Frame times by deadline", "share of the frames, %", "CPU ms of a frame, at most");
    double share[BUDGET_FRAMES];
    int frames = 0;
    for (int k = 0; k < BUDGETS; ++k) frames = budget_runs[k].frames > frames ? budget_runs[k].frames : frames;
    if (frames == 0) { /* of a former run: its plot stays */
        if (d->b->plots) say(d, "![%s](plots/performance_budget.svg)\n\n", p.title);
        return;
    }
    for (int i = 0; i < frames; ++i) share[i] = 100.0 * (i + 1) / frames;
    p.y.logarithmic = 1;
    for (int k = 0; k < BUDGETS; ++k) {
        if (budget_runs[k].frames == frames) plot_add(&p, labels[k], share, budget_runs[k].cpu, frames, PLOT_LINE);
    }
    document_plot(d, &p, "performance_budget");
}

static void document_budget_row(document *d, const char *at) {
    if (!has(d, "budget", at, "wall_p50")) return;
    say(d, "| %s | %.2f | %.2f | %.2f |", at, look(d, "budget", at, "cpu_p50"), look(d, "budget", at, "cpu_p99"),
        look(d, "budget", at, "cpu_max"));
    if (has(d, "budget", at, "late_cpu")) say(d, " %.1f %% |", look(d, "budget", at, "late_cpu"));
    else say(d, " |");
    say(d, " %.2f | %.2f | %.2f | %.2f | %.2f %% |\n", look(d, "budget", at, "wall_p50"),
        look(d, "budget", at, "wall_p99"), look(d, "budget", at, "wall_max"), look(d, "budget", at, "speed"),
        look(d, "budget", at, "density_error"));
}

static void document_slices(document *d) {
    for (int k = 0; k < SLICE_SIZES; ++k) {
        const int side = slice_sides[k];
        char at[32];
        (void)snprintf(at, sizeof at, "%d", side * side * side);
        if (!has(d, "slices", at, "units")) continue;
        say(d,
            "- %s particles: a substep has %.0f units of work, between which it can pause; the mean takes %.0f us of "
            "one "
            "core, the longest %.0f us.\n",
            at, look(d, "slices", at, "units"), look(d, "slices", at, "mean"), look(d, "slices", at, "longest"));
    }
    say(d, "\n");
}

static void document_budget(document *d) {
    if (!has(d, "budget", "no_deadline", "wall_p50")) return;
    say(d,
        "## Deadlines\n\nFrames of 1/60 s of the double dam break (28,000 particles round a statue), one thread. "
        "With a deadline the world cuts iterations and then spreads a step over several frames: the water slows "
        "down instead of the frames. It stops between units of work whose cost it can only expect, so that some "
        "frames end late: the fifth column says how many, the fourth by how much at worst. The clock that the world "
        "looks at is the CPU time of the program; wall times include whatever else the machine did.\n\n"
        "| | CPU ms: median | 99 %% | most | late | wall ms: median | 99 %% | most | simulated s per s | compression "
        "|\n|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n");
    document_budget_row(d, "no_deadline");
    for (int k = 1; k < BUDGETS; ++k) {
        char at[32];
        (void)snprintf(at, sizeof at, "deadline_%.0f_ms", budget_milliseconds[k]);
        document_budget_row(d, at);
    }
    say(d, "\n");
    document_budget_plot(d);
    document_slices(d);
}

/* ==== [solvers] =================================================================================================== */

static void document_solvers(document *d) {
    if (!has(d, "solvers", "", "rows")) return;
    say(d,
        "## Solvers\n\nOne pressure matrix of the dam break (%.0f rows, %.0f nonzeros) with its right side, from zero, "
        "one "
        "thread: milliseconds (iterations); ! where the true residual, in double, is above what was asked for, which "
        "a solver that goes by the one it carries along in float does not see.\n\n| solver |",
        look(d, "solvers", "", "rows"), look(d, "solvers", "", "nonzeros"));
    for (int digits = 1; digits <= 5; ++digits) say(d, " 1e-%d |", digits);
    say(d, "\n|---|---:|---:|---:|---:|---:|\n");
    for (int k = 0; k < 6; ++k) {
        say(d, "| %s |", solver_kinds[k].name);
        for (int digits = 1; digits <= 5; ++digits) {
            char at[48];
            (void)snprintf(at, sizeof at, "%s.1e-%d", solver_kinds[k].name, digits);
            if (has(d, "solvers", at, ""))
                say(d, " %.1f (%.0f)%s |", look(d, "solvers", at, ""), look(d, "solvers", at, "iterations"),
                    pressure_problem_missed(look(d, "solvers", at, "residual"), digits) ? "!" : "");
            else say(d, " |");
        }
        say(d, "\n");
    }
    say(d, "\nAn iteration of BiCGSTAB has two products, one of CG has one. [Beside Eigen and "
           "Bullet](performance-peers.md): `make bench-peers`.\n\n");
}

/* ==== [all] ======================================================================================================= */

static bool document_write(const bench *b) {
    document d;
    bool good;
    d.b = b;
    d.quick = b->quick || b->loaded_run.quick;
    d.file = fopen(b->document, "w");
    if (d.file) {
        document_head(&d);
        document_goals(&d);
        document_stages(&d);
        document_dam(&d);
        document_textbook(&d);
        document_soft(&d);
        document_paper(&d);
        document_scaling(&d);
        document_budget(&d);
        document_solvers(&d);
    }
    good = d.file && ferror(d.file) == 0;
    good = d.file && fclose(d.file) == 0 && good;
    if (!good) fprintf(stderr, "bench: cannot write %s\n", b->document);
    return good;
}

#endif /* BENCH_DOCUMENT_H */
