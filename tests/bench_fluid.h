/* bench_fluid.h - the fluid: stages of a step, speed at a given accuracy, scaling, solvers.
   SPDX-License-Identifier: MIT */
#ifndef BENCH_FLUID_H
#define BENCH_FLUID_H

#include "bench_dam.h"
#include "bench_matrix.h"
#include "bench_runner.h"
#include "bench_stages.h"

/* ==== [stages] ==================================================================================================== */

static const char *const stage_names[STAGES] = {
    "sort",         "walls",          "search_and_assembly", "predict",           "coarsen", "divergence",
    "product_pair", "krylov_vectors", "pressures",           "gradient_and_move", "measure", "other"};

typedef struct stage_path {
    const char *name, *label;
    void (*run)(const stage_request *request, stage_figures *out);
} stage_path;

static const stage_path stage_paths[3] = {{"plain", "plain C (ISPHPBD_NO_SIMD)", bench_stages_plain},
                                          {"sse2", "SSE2", bench_stages_sse2},
                                          {"avx2", "SSE2 code with AVX2 allowed to the compiler", bench_stages_avx2}};

/* The Krylov solve is its products and all that happens between them. */
static void stage_krylov(stage_figures *f, samples *krylov) {
    krylov->count = 0;
    for (int r = 0; r < f->step.count; ++r)
        samples_add(krylov, f->stage[STAGE_PRODUCT].cpu[r] + f->stage[STAGE_VECTORS].cpu[r],
                    f->stage[STAGE_PRODUCT].wall[r] + f->stage[STAGE_VECTORS].wall[r]);
}

/* Figures that sort nothing come first: samples belong together by their index until then. */
static void stage_print(bench *b, stage_figures *f, bool all, bool one_thread) {
    const double n = f->particles, pair_bytes = 6.0 * f->entries + 4.0 * n + 16.0 * n; /* values, columns, D, x, y */
    const double serial = samples_quantile(f->serial.wall, f->serial.count, 0.5);
    samples *krylov = samples_new();
    timing product, rows, search;
    stage_krylov(f, krylov);
    for (int k = 0; k < (all ? STAGES : 0); ++k) {
        if (k != STAGE_OTHER || f->stage[k].cpu[0] > 0.0)
            figure_samples(b, stage_names[k], &f->stage[k], 1e9, n, "ns per particle");
    }
    figure_samples(b, "step", &f->step, 1e9, n, "ns per particle");
    figure_samples(b, "krylov", krylov, 1e9, n, "ns per particle");
    product = samples_times(&f->stage[STAGE_PRODUCT], 1e9, (double)f->products);
    rows = samples_times(&f->stage[STAGE_ROWS], 1e9, f->nonzeros);
    search = samples_times(&f->search, 1e9, f->nonzeros);
    figure_samples(b, "product_pair_per_nonzero", &f->stage[STAGE_PRODUCT], 1e9, f->nonzeros * f->products,
                   "ns per nonzero");
    figure_samples(b, "search_per_nonzero", &f->search, 1e9, f->nonzeros, "ns per nonzero");
    figure_value(b, "assembly_per_nonzero", rows.cpu_least - search.cpu_least, "ns per nonzero, CPU least");
    if (all) {
        figure_samples(b, "gradient_per_nonzero", &f->stage[STAGE_MOVE], 1e9, f->nonzeros, "ns per nonzero");
        figure_value(b, "assembly_in_products", rows.cpu_least * f->nonzeros / product.cpu_least, "");
        figure_value(b, "krylov_over_products",
                     samples_times(krylov, 1e9, 1.0).cpu_least / (product.cpu_least * f->products), "");
    }
    figure_value(b, "product_share_of_l3",
                 pair_bytes / (one_thread ? product.cpu_least : product.wall_least) / b->read_l3,
                 "of one core's L3 read bandwidth");
    if (one_thread && f->gather.count > 0) {
        figure_value(b, "gather_bound_of_l3", pair_bytes / samples_times(&f->gather, 1e9, 1.0).cpu_least / b->read_l3,
                     "the same for the loads of a product without its arithmetic");
        figure_samples(b, "gather_bound_per_nonzero", &f->gather, 1e9, f->nonzeros, "ns per nonzero");
    }
    figure_value(b, "serial_share", serial / samples_quantile(f->step.wall, f->step.count, 0.5), "of wall time");
    free(krylov);
}

static void stage_counts(bench *b, const stage_figures *f) {
    figure_value(b, "neighbours", f->nonzeros / f->particles, "nonzeros per particle");
    figure_value(b, "padding", f->entries / f->nonzeros, "entries stored per nonzero");
    figure_value(b, "products", f->products, "pair products per substep");
    figure_value(b, "pressure_iterations", f->pressure_iterations, "");
    figure_value(b, "density_iterations", f->density_iterations, "");
}

typedef struct stage_run {
    bench *b;
    stage_request request;
    stage_figures *f;
    double one_thread[3]; /* ns per particle, by path */
    uint64_t hash;
    bool agree; /* the bits of all runs so far */
} stage_run;

static void stage_run_path(stage_run *run, int path, int count, const char *suffix) {
    bench_pool pool = pool_open(count);
    run->request.parallel = pool.parallel, run->request.alone = count == 1;
    stage_paths[path].run(&run->request, run->f);
    pool_close(&pool);
    if (!run->f->available) return;
    place(run->b, "%s%s.%d_thread%s", stage_paths[path].name, suffix, count, count > 1 ? "s" : "");
    if (run->hash == 0) run->hash = run->f->hash;
    run->agree = run->agree && run->hash == run->f->hash;
    stage_print(run->b, run->f, path == 1, count == 1);
    place(run->b, "%s", "");
    if (count == 1) run->one_thread[path] = samples_times(&run->f->step, 1e9, run->f->particles).cpu_least;
}

/* What the second right side of every solve costs. */
static void stage_density_projection(stage_run *run) {
    run->request.parallel = serial_runner(), run->request.alone = true, run->request.density_projection = false;
    stage_paths[1].run(&run->request, run->f);
    figure_value(run->b, "density_projection",
                 run->one_thread[1] - samples_times(&run->f->step, 1e9, run->f->particles).cpu_least,
                 "ns per particle that a step takes longer with it");
}

static void stage_compare(stage_run *run) {
    const double *one = run->one_thread;
    stage_counts(run->b, run->f);
    stage_density_projection(run);
    figure_value(run->b, "plain_over_sse2", one[0] / one[1], "times as long");
    if (one[2] > 0.0)
        figure_value(run->b, "avx2_over_sse2", one[2] / one[1],
                     "times as long; the header has no AVX2 path of its own");
    figure_value(run->b, "same_bits", run->agree ? 1.0 : 0.0, "1: all paths and thread counts agree");
}

static void bench_stages_at(bench *b, float support, const char *suffix, int first_path, int last_path) {
    void *snapshot;
    stage_run run;
    memset(&run, 0, sizeof run);
    run.b = b, run.agree = true;
    run.f = (stage_figures *)need(malloc(sizeof *run.f));
    snapshot = dam_snapshot(support, 0.4f, &run.request.image_size);
    run.request.support = support, run.request.seconds = 0.004f, run.request.repeats = repeats_of(b, 40, 8);
    run.request.density_projection = true, run.request.image = snapshot;
    for (int path = first_path; path <= last_path; ++path) {
        stage_run_path(&run, path, 1, suffix);
        if (b->threads > 1) stage_run_path(&run, path, b->threads, suffix);
    }
    if (first_path < last_path) stage_compare(&run);
    free(snapshot);
    free(run.f);
}

static void bench_stages(bench *b) {
    heading(b, "stages of one substep of 4 ms, dam break of 27,000 particles at 0.4 s, support 2.0");
    bench_stages_at(b, 2.0f, "", 0, 2);
    heading(b, "the same with support 2.4");
    bench_stages_at(b, 2.4f, "_2.4", 1, 1);
}

/* ==== [dam] speed at a given accuracy ============================================================================= */

typedef struct dam_figures {
    double compression; /* mean of max(density - 1, 0) over particles and time: where the particles are */
    double predicted;   /* the same, as the density solve left it: what DFSPH solvers stop by */
    double substeps, pressure_iterations, density_iterations; /* per step; per substep */
    double energy_growth;                                     /* largest energy over that at the start, minus 1 */
    double cpu_per_second;                                    /* CPU seconds per simulated second */
    double cpu_per_substep;                                   /* mean, s */
} dam_figures;

/* Residual of the density solve, as a density: what it would leave if the density were linear in the positions. */
static double dam_predicted(const isph_fluid *f) {
    const float *residual = f->pair[1];
    double sum = 0.0;
    for (int i = 0; i < f->count; ++i) sum += residual[2 * i + 1] > 0.0f ? (double)residual[2 * i + 1] : 0.0;
    return sum / ((double)DAM_SPACING * (double)DAM_SPACING * f->count);
}

static double dam_energy(const isph_fluid *f) {
    const double mass = 1000.0 * (double)DAM_SPACING * (double)DAM_SPACING * (double)DAM_SPACING;
    const isph_view view = isph_particles(f);
    double height = 0.0;
    for (int i = 0; i < view.count; ++i) height += (double)dam_place(&view, i)[1];
    return 9.81 * mass * height + (double)f->stats.kinetic_energy;
}

/* Steps of `seconds` until `until`; a sample is one substep's share. */
static dam_figures dam_measure(isph_fluid *f, float seconds, float until, samples *s) {
    const int steps = (int)(until / seconds + 0.5f);
    const isph_stats before = isph_fluid_stats(f);
    const double energy = dam_energy(f);
    double cpu = 0.0;
    isph_stats now = before;
    dam_figures out;
    memset(&out, 0, sizeof out);
    for (int k = 0; k < steps; ++k) {
        samples_begin(s);
        (void)isph_fluid_step(f, seconds, NULL);
        now = isph_fluid_stats(f);
        cpu += cpu_seconds() - s->cpu_start;
        samples_end(s, now.substeps > 0 ? now.substeps : 1);
        out.compression += (double)now.compression_mean / steps;
        out.predicted += dam_predicted(f) / steps;
        if (dam_energy(f) / energy - 1.0 > out.energy_growth) out.energy_growth = dam_energy(f) / energy - 1.0;
    }
    out.substeps = (double)(now.total_substeps - before.total_substeps);
    out.pressure_iterations = (double)(now.total_pressure_iterations - before.total_pressure_iterations) / out.substeps;
    out.density_iterations = (double)(now.total_density_iterations - before.total_density_iterations) / out.substeps;
    out.cpu_per_second = cpu / (double)until, out.cpu_per_substep = cpu / out.substeps;
    out.substeps /= steps;
    return out;
}

typedef struct dam_setting {
    const char *name;
    double target; /* % */
    float tolerance;
} dam_setting;

static void dam_at(bench *b, const dam_setting *setting, samples *s) {
    isph_fluid_desc desc = dam_desc(DAM_SIDE, 2.0f);
    isph_fluid *fluid;
    dam_figures f;
    timing t;
    desc.tolerance = setting->tolerance;
    desc.parallel = serial_runner();
    fluid = dam_create(&desc, DAM_SIDE);
    s->count = 0;
    f = dam_measure(fluid, 0.005f, b->quick ? 0.2f : 1.0f, s);
    place(b, "at_%s", setting->name);
    t = figure_samples(b, "", s, 1e9, DAM_PARTICLES, "ns per particle-step");
    figure_value(b, "rate", 1e-6 * DAM_PARTICLES / f.cpu_per_substep, "million particle-steps/s/core, mean of all");
    figure_value(b, "rate_median", 1e3 / t.cpu_median, "million particle-steps/s/core, median step");
    figure_value(b, "tolerance", (double)setting->tolerance, "relative residual asked for");
    figure_value(b, "solver_error", 100.0 * f.predicted, "% compression left by the solve, mean");
    figure_value(b, "compression", 100.0 * f.compression, "% compression of the particles' places, mean");
    figure_value(b, "pressure_iterations", f.pressure_iterations, "per substep");
    figure_value(b, "density_iterations", f.density_iterations, "per substep");
    figure_value(b, "cpu_per_simulated_second", f.cpu_per_second, "s");
    isph_fluid_destroy(fluid);
}

/* Longer and longer steps, undivided, as long as energy does not grow and the water stays within 1 % of its density. */
static void dam_longest(bench *b, samples *s) {
    static const float steps[5] = {1.0f / 200.0f, 1.0f / 120.0f, 1.0f / 80.0f, 1.0f / 60.0f, 1.0f / 40.0f};
    double best = 0.0, cost = 0.0;
    for (int k = 0; k < 5; ++k) {
        isph_fluid_desc desc = dam_desc(DAM_SIDE, 2.0f);
        isph_fluid *fluid;
        dam_figures f;
        bool stable;
        desc.parallel = serial_runner();
        desc.max_substep_seconds = steps[k], desc.max_substeps = 1, desc.cfl = 4.0f;
        fluid = dam_create(&desc, DAM_SIDE);
        s->count = 0;
        f = dam_measure(fluid, steps[k], b->quick ? 0.25f : 1.0f, s);
        stable = f.compression < 0.01 && f.energy_growth < 0.01;
        place(b, "step_%.1f_ms", 1e3 * (double)steps[k]);
        figure_value(b, "cpu_per_simulated_second", f.cpu_per_second, "s");
        figure_value(b, "compression", 100.0 * f.compression, stable ? "% mean" : "% mean: not stable");
        isph_fluid_destroy(fluid);
        if (!stable) break;
        best = 1e3 * (double)steps[k], cost = f.cpu_per_second;
    }
    place(b, "%s", "");
    figure_value(b, "largest_stable_step", best, "ms");
    figure_value(b, "cpu_per_simulated_second_there", cost, "s");
}

static void bench_dam(bench *b) {
    /* tolerances that leave at most so much; each is told beside what it did leave */
    static const dam_setting settings[4] = {{"0.01_percent", 0.01, 0.05f},
                                            {"0.1_percent", 0.1, 0.4f},
                                            {"0.5_percent", 0.5, 0.7f},
                                            {"1_percent", 1.0, 0.9f}};
    samples *s = samples_new();
    heading(b, "dam break of 27,000 particles, support 2.0, steps of 5 ms, by the density error allowed");
    for (int k = 0; k < 4; ++k) dam_at(b, &settings[k], s);
    heading(b, "the same in steps as long as it bears, undivided");
    dam_longest(b, s);
    free(s);
}

/* ==== [scaling] =================================================================================================== */

enum { SCALING_SIZES = 7 };
static const int scaling_sizes[SCALING_SIZES] = {5000, 10000, 20000, 60000, 200000, 450000, 1000000};

static int side_of(int particles) {
    int side = 1;
    while (side * side * side < particles) ++side;
    return side;
}

static void scaling_particles(bench *b, int particles, samples *s) {
    const int side = side_of(particles);
    isph_fluid_desc desc = dam_desc(side, 2.0f);
    isph_fluid *fluid;
    dam_figures f;
    desc.parallel = serial_runner();
    fluid = dam_create(&desc, side);
    s->count = 0;
    dam_run(fluid, 0.02f);
    f = dam_measure(fluid, 0.005f, 0.005f * (float)repeats_of(b, particles > 200000 ? 6 : 16, 3), s);
    place(b, "particles_%d", side * side * side);
    figure_samples(b, "", s, 1e9, (double)side * side * side, "ns per particle");
    figure_value(b, "iterations", f.pressure_iterations + f.density_iterations, "pressure + density, per substep");
    figure_value(b, "bytes", (double)isph_fluid_bytes(&desc) / desc.particle_capacity, "bytes per particle");
    isph_fluid_destroy(fluid);
}

/* Wall time of a fluid step on 1 .. n threads. */
static void scaling_threads(bench *b, samples *s) {
    double one = 0.0;
    for (int count = 1; count > 0; count = next_threads(b, count)) {
        isph_fluid_desc desc = dam_desc(DAM_SIDE, 2.0f);
        bench_pool pool = pool_open(count);
        isph_fluid *fluid;
        timing t;
        desc.parallel = pool.parallel;
        fluid = dam_create(&desc, DAM_SIDE);
        s->count = 0;
        dam_run(fluid, 0.2f);
        (void)dam_measure(fluid, 0.005f, 0.005f * (float)repeats_of(b, 60, 10), s);
        place(b, "fluid_threads_%d", count);
        t = figure_samples(b, "", s, 1e3, 1.0, "ms per substep, 27,000 particles");
        if (count == 1) one = t.wall_least;
        figure_value(b, "speedup", one / t.wall_least, "by least wall times");
        isph_fluid_destroy(fluid);
        pool_close(&pool);
    }
}

static void bench_scaling_fluid(bench *b) {
    samples *s = samples_new();
    heading(b, "cost over the number of particles: dam breaks, support 2.0, default settings, one thread");
    for (int k = 0; k < SCALING_SIZES; ++k) {
        if (!b->quick || scaling_sizes[k] < 100000) scaling_particles(b, scaling_sizes[k], s);
    }
    heading(b, "the fluid on several threads");
    scaling_threads(b, s);
    free(s);
}

/* ==== [solvers] =================================================================================================== */

typedef struct solver_kind {
    const char *name;
    bool cg;
    isph_preconditioner preconditioner;
} solver_kind;

static const solver_kind solver_kinds[6] = {{"bicgstab", false, ISPH_PRECONDITIONER_NONE},
                                            {"bicgstab_jacobi", false, ISPH_PRECONDITIONER_JACOBI},
                                            {"bicgstab_two_level", false, ISPH_PRECONDITIONER_TWO_LEVEL},
                                            {"cg", true, ISPH_PRECONDITIONER_NONE},
                                            {"cg_jacobi", true, ISPH_PRECONDITIONER_JACOBI},
                                            {"cg_two_level", true, ISPH_PRECONDITIONER_TWO_LEVEL}};

/* One solver to one tolerance, from zero. */
static void solver_run(bench *b, const pressure_problem *p, isph_matrix *matrix, const solver_kind *kind, int digits) {
    samples *s = samples_new();
    isph_solve_desc desc = isph_solve_desc_default();
    isph_solve_info info;
    desc.preconditioner = kind->preconditioner;
    desc.tolerance = (float)pow(10.0, -digits);
    desc.max_iterations = 5000;
    for (int r = 0; r < repeats_of(b, 5, 1); ++r) {
        samples_begin(s);
        (void)(kind->cg ? isph_matrix_solve_cg : isph_matrix_solve_bicgstab)(matrix, p->b, p->x, &desc, &info);
        samples_end(s, 1.0);
    }
    place(b, "%s.1e-%d", kind->name, digits);
    figure_samples(b, "", s, 1e3, 1.0, "ms");
    figure_value(b, "iterations", info.iterations, info.state == ISPH_SOLVE_CONVERGED ? "" : "did not converge");
    figure_value(b, "residual", pressure_problem_residual(p, p->x), "|b - A x| / |b|, in double");
    free(s);
}

static void solver_product(bench *b, const pressure_problem *p, isph_matrix *matrix) {
    samples *s = samples_new();
    for (int r = 0; r < repeats_of(b, 40, 8); ++r) {
        samples_begin(s);
        for (int k = 0; k < 4; ++k) (void)isph_matrix_multiply(matrix, p->b, p->x);
        samples_end(s, 4.0);
    }
    figure_samples(b, "product_per_nonzero", s, 1e9, p->row_start[p->rows], "ns per nonzero, one vector");
    free(s);
}

static void bench_solvers(bench *b) {
    pressure_problem p = pressure_problem_make();
    isph_matrix *matrix = pressure_problem_matrix(&p);
    heading(b,
            "the pressure matrix of the dam break at 0.4 s (27,000 rows), its right side, from zero to 1e-1 .. 1e-5");
    figure_value(b, "rows", p.rows, "");
    figure_value(b, "nonzeros", p.row_start[p.rows], "with the diagonal");
    solver_product(b, &p, matrix);
    for (int k = 0; k < 6; ++k) {
        for (int digits = 1; digits <= 5; digits += b->quick ? 2 : 1)
            solver_run(b, &p, matrix, &solver_kinds[k], digits);
    }
    isph_matrix_destroy(matrix);
    pressure_problem_free(&p);
}

#endif /* BENCH_FLUID_H */
