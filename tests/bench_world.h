/* bench_world.h - the world: the scenes of the ISPH-PBD paper beside its tables, and what a deadline does to frames.
   SPDX-License-Identifier: MIT

   The scenes are those of examples/scenes.h, with the paper's numbers of particles and constraints, time steps and
   iterations. Times are those of isphpbd_world_step() alone: a scene measures, checks and draws nothing here. */
#ifndef BENCH_WORLD_H
#define BENCH_WORLD_H

#include "bench_runner.h"
#include "examples/scenes.h"

/* The library asks on the thread that steps: its serial parts and its share of the parallel ones. */
static uint64_t world_ticks(void *user) {
    (void)user;
    return (uint64_t)(1e9 * thread_seconds());
}
static uint64_t world_cpu_ticks(void *user) {
    (void)user;
    return (uint64_t)(1e9 * cpu_seconds());
}

/* NULL, having said why, where a scene cannot be made. */
static scene *world_scene(const char *name, float scale, isphpbd_parallel parallel, uint64_t (*clock)(void *user)) {
    scene_options options = scene_options_default();
    char message[256] = "";
    scene *s;
    options.scale = scale;
    options.parallel = parallel;
    options.clock.fn = clock;
    s = scene_create(name, &options, message, sizeof message);
    if (!s) fprintf(stderr, "bench: %s\n", message);
    return s;
}

/* ==== [paper] ===================================================================================================== */

/* Table 1 of Abu Rumman et al. 2020, on a quad-core Intel i7 of 2.8 GHz; table 2 where given. Thousands; ms. Its times
   are means "during a 1 second simulation". */
typedef struct paper_row {
    const char *scene;
    double constraints, particles, pressure_iterations, rounds, milliseconds, weak, incompressible;
    float fill_seconds, fill_step; /* simulated at most before measuring, until the paper's particles are there */
    int steps;                     /* measured, of the paper's length */
} paper_row;

/* A second of the sheets, the fall and the bounce of balloon and pot, a fifth of a second of the full basin. */
enum { PAPER_ROWS = 6, PAPER_QUICK_STEPS = 20, PAPER_LOOKS = 8 };
static const paper_row paper_rows[PAPER_ROWS] = {
    {"water_balloon", 9, 22, 21.3, 2.1, 32.5, 77.9, 42.1, 0.0f, 0.0f, 800},
    {"double_cloth", 21, 95, 30.4, 2.5, 81.6, 0, 0, 2.4f, 0.005f, 200},
    {"thin_shell_basin", 11, 27, 32.2, 1.4, 45.7, 0, 0, 1.3f, 0.005f, 200},
    {"shower_cloth", 22, 75, 43.1, 2.4, 77.1, 0, 0, 2.8f, 0.005f, 200},
    {"lifebuoy_ball", 35, 45, 40.2, 2.7, 87.3, 123.7, 95.5, 1.6f, 0.004f, 200},
    {"flower_pot", 21, 27, 20.3, 1.6, 35.2, 94.4, 39.18, 0.0f, 0.0f, 800},
};
/* A scene with fewer particles on average than this share of the paper's is not compared. */
#define PAPER_ENOUGH 0.9

/* Clock ticks of the stages, summed over a run. */
typedef struct world_shares {
    double step, neighbours, walls, pressure, move, coupling, constraints;
} world_shares;

/* The coupling counts its own ticks; the first part of them passes while the fluid looks at its walls, all others, and
   the constraints, while particles move. */
static double world_first_ticks;

static void world_first_coupling(void *user, const float *positions, const float *velocities, int count,
                                 float seconds) {
    const isphpbd_world *world = (const isphpbd_world *)user;
    const uint64_t before = world->stats.ticks_coupling;
    isphpbdx_water_begin(user, positions, velocities, count, seconds);
    world_first_ticks += (double)(world->stats.ticks_coupling - before);
}

/* Every tick counts once. */
static void world_shares_add(world_shares *w, const isphpbd_stats *t) {
    const double coupling = (double)t->ticks_coupling, constraints = (double)t->ticks_constraints;
    w->step += (double)t->ticks_step, w->neighbours += (double)t->ticks_neighbours;
    w->walls += (double)t->ticks_walls - world_first_ticks;
    w->pressure += (double)(t->ticks_pressure + t->ticks_viscosity);
    w->move += (double)t->ticks_move - (coupling - world_first_ticks) - constraints;
    w->coupling += coupling, w->constraints += constraints;
    world_first_ticks = 0.0;
}

static void world_shares_print(bench *b, const world_shares *w) {
    const double named = w->neighbours + w->walls + w->pressure + w->move + w->coupling + w->constraints;
    figure_value(b, "share_neighbours", w->neighbours / w->step, "of the step");
    figure_value(b, "share_walls", w->walls / w->step, "of the step");
    figure_value(b, "share_pressure", w->pressure / w->step, "of the step");
    figure_value(b, "share_move", w->move / w->step, "of the step");
    figure_value(b, "share_coupling", w->coupling / w->step, "of the step");
    figure_value(b, "share_constraints", w->constraints / w->step, "of the step");
    figure_value(b, "share_rest", 1.0 - named / w->step, "of the step: emitters, bodies, what is shown");
}

/* A scene on its way through its row of the table. */
typedef struct paper_run {
    bench *b;
    const paper_row *row;
    scene *now;
    samples *times, *weak_times;
    world_shares shares;
    double particles; /* summed over the steps */
    int fewest, weak_substeps;
} paper_run;

/* scene_step() without all that a scene watches. */
static void paper_step(scene *s, samples *times) {
    if (s->def->before_step) s->def->before_step(s);
    scene_put_bodies(s);
    samples_begin(times);
    (void)isphpbd_world_step(s->world, s->dt);
    samples_end(times, 1.0);
    scene_take_impulses(s);
    ++s->steps, s->time += s->dt;
}

static void paper_fill(const paper_run *run, float scale) {
    const float own = run->now->dt;
    const int enough = (int)(1000.0 * run->row->particles * (double)scale);
    run->now->dt = run->row->fill_step;
    while (run->now->time < run->row->fill_seconds && isph_particles(run->now->fluid).count < enough)
        paper_step(run->now, run->times);
    run->now->dt = own;
    run->times->count = 0;
}

static void *paper_save(const scene *s, size_t *size) {
    void *snapshot;
    *size = isphpbd_world_save(s->world, NULL, 0);
    snapshot = need(malloc(*size));
    (void)isphpbd_world_save(s->world, snapshot, *size);
    return snapshot;
}

/* Table 2: a few steps with the pressure of the Tait equation, from here; then everything is as it was. */
static void paper_weak_look(paper_run *run, int steps) {
    scene *s = run->now;
    const float time = s->time;
    size_t size;
    void *snapshot = paper_save(s, &size);
    s->fluid->desc.solver = ISPH_SOLVER_WEAKLY_COMPRESSIBLE;
    for (int k = 0; k < steps; ++k) {
        paper_step(s, run->weak_times);
        run->weak_substeps += isphpbd_world_stats(s->world).substeps;
    }
    s->fluid->desc.solver = ISPH_SOLVER_INCOMPRESSIBLE;
    if (isphpbd_world_load(s->world, snapshot, size) != ISPHPBD_OK) {
        fprintf(stderr, "bench: %s does not take its own snapshot\n", run->row->scene);
        exit(1);
    }
    s->time = time, s->steps -= steps;
    free(snapshot);
}

static void paper_measure(paper_run *run, int steps) {
    const int looks = run->b->quick ? 2 : PAPER_LOOKS, every = steps / looks;
    for (int k = 0; k < steps; ++k) {
        isphpbd_stats stats;
        int count;
        if (run->row->weak > 0.0 && k % every == every / 2) paper_weak_look(run, run->b->quick ? 2 : 6);
        world_first_ticks = 0.0;
        paper_step(run->now, run->times);
        stats = isphpbd_world_stats(run->now->world);
        world_shares_add(&run->shares, &stats);
        count = stats.fluid_particles;
        run->particles += (double)count / steps;
        if (k == 0 || count < run->fewest) run->fewest = count;
    }
}

static double paper_mean(const double *seconds, int count) {
    double sum = 0.0;
    for (int k = 0; k < count; ++k) sum += 1e3 * seconds[k];
    return sum / count;
}

static void paper_stats(bench *b, const isphpbd_stats *before, const isphpbd_stats *t, int steps) {
    const double substeps = (double)(t->total_substeps - before->total_substeps);
    const double pressure = (double)(t->total_pressure_iterations - before->total_pressure_iterations);
    const double density = (double)(t->total_density_iterations - before->total_density_iterations);
    const double rounds = (double)(t->total_outer_iterations - before->total_outer_iterations);
    figure_value(b, "constraints", t->constraints, "");
    figure_value(b, "substeps", substeps / steps, "per step");
    figure_value(b, "pressure_iterations", pressure / substeps, "per substep");
    figure_value(b, "density_iterations", density / substeps, "per substep");
    figure_value(b, "rounds", rounds / substeps, "pressure + constraints, per substep");
}

static void paper_print(paper_run *run) {
    bench *b = run->b;
    samples *s = run->times, *weak = run->weak_times;
    figure_value(b, "particles", run->particles, "mean of the steps measured");
    figure_value(b, "particles_least", run->fewest, "of the steps measured");
    figure_value(b, "steps", s->count, "measured");
    figure_value(b, "wall_mean", paper_mean(s->wall, s->count), "ms per step, wall, mean");
    figure_value(b, "cpu_mean", paper_mean(s->cpu, s->count), "ms per step, CPU of all threads, mean");
    figure_value(b, "path_mean", 1e-6 * run->shares.step / s->count, "ms per step, CPU of the stepping thread, mean");
    figure_samples(b, "", s, 1e3, 1.0, "ms per step");
    if (weak->count > 0) {
        figure_value(b, "weak_wall_mean", paper_mean(weak->wall, weak->count), "ms per step, wall, mean");
        figure_value(b, "weak_cpu_mean", paper_mean(weak->cpu, weak->count), "ms per step, CPU of all threads, mean");
        figure_value(b, "weak_substeps", (double)run->weak_substeps / weak->count, "per step");
        figure_value(b, "weak_substeps_most", run->now->budget.substeps, "per step, that the scene allows");
    }
    world_shares_print(b, &run->shares);
}

static void paper_row_run(bench *b, const paper_row *row) {
    const float scale = b->quick ? 0.1f : 1.0f;
    bench_pool pool = pool_open(b->threads);
    paper_run run;
    memset(&run, 0, sizeof run);
    run.b = b, run.row = row, run.times = samples_new(), run.weak_times = samples_new();
    run.now = world_scene(row->scene, scale, pool.parallel, world_ticks);
    place(b, "%s", row->scene);
    if (run.now) {
        isphpbd_stats before, after;
        run.now->fluid->coupler.begin = world_first_coupling;
        paper_fill(&run, scale);
        before = isphpbd_world_stats(run.now->world);
        paper_measure(&run, b->quick ? PAPER_QUICK_STEPS : row->steps);
        after = isphpbd_world_stats(run.now->world);
        paper_print(&run);
        paper_stats(b, &before, &after, run.times->count);
    }
    scene_destroy(run.now);
    free(run.times), free(run.weak_times);
    pool_close(&pool);
}

static void bench_paper(bench *b) {
    heading(b, "the scenes of tables 1 and 2 of the ISPH-PBD paper, full, on all threads");
    for (int k = 0; k < PAPER_ROWS; ++k) paper_row_run(b, &paper_rows[k]);
}

/* ==== [budget] ==================================================================================================== */

enum { BUDGETS = 5, BUDGET_FRAMES = 240 };
static const double budget_milliseconds[BUDGETS] = {0.0, 16.0, 8.0, 4.0, 2.0}; /* 0: no deadline */

/* Frame times, sorted, kept for the plot. */
typedef struct budget_run {
    double wall[BUDGET_FRAMES], cpu[BUDGET_FRAMES]; /* ms */
    int frames;
} budget_run;
static budget_run budget_runs[BUDGETS];

static double budget_late(const double *milliseconds, int frames, double deadline) {
    int late = 0;
    for (int k = 0; k < frames; ++k) late += milliseconds[k] > deadline;
    return 100.0 * late / frames;
}

static void budget_print(bench *b, budget_run *run, double deadline, const isphpbd_stats *stats) {
    figure_value(b, "wall_p50", samples_quantile(run->wall, run->frames, 0.5), "ms");
    figure_value(b, "wall_p99", samples_quantile(run->wall, run->frames, 0.99), "ms");
    figure_value(b, "wall_max", samples_quantile(run->wall, run->frames, 1.0), "ms");
    figure_value(b, "cpu_p50", samples_quantile(run->cpu, run->frames, 0.5), "ms");
    figure_value(b, "cpu_p99", samples_quantile(run->cpu, run->frames, 0.99), "ms");
    figure_value(b, "cpu_max", samples_quantile(run->cpu, run->frames, 1.0), "ms");
    if (deadline > 0.0) {
        figure_value(b, "late_cpu", budget_late(run->cpu, run->frames, deadline),
                     "% of the frames beyond the deadline, CPU");
        figure_value(b, "late_wall", budget_late(run->wall, run->frames, deadline), "% of the frames beyond it, wall");
    }
    figure_value(b, "speed", stats->time / ((double)run->frames / 60.0), "simulated seconds per second of frames");
    figure_value(b, "density_error", 100.0 * (double)stats->compression_mean, "% mean compression at the end");
}

/* Frames of 1/60 s of the double dam break, one thread. The world looks at this program's CPU time, so that nothing but
   the library decides when a frame ends. */
static void budget_measure(bench *b, double deadline, budget_run *run) {
    scene *s = world_scene("double_dam_break", b->quick ? 0.2f : 1.0f, serial_runner(), world_cpu_ticks);
    const int frames = b->quick ? 40 : BUDGET_FRAMES;
    isphpbd_stats stats;
    if (!s) return;
    s->budget.deadline_seconds = (float)(1e-3 * deadline);
    (void)isphpbd_world_set_budget(s->world, &s->budget);
    for (run->frames = 0; run->frames < frames; ++run->frames) {
        const double wall = timing_wall_seconds(), cpu = cpu_seconds();
        (void)isphpbd_world_advance(s->world, 1.0f / 60.0f);
        run->cpu[run->frames] = 1e3 * (cpu_seconds() - cpu);
        run->wall[run->frames] = 1e3 * (timing_wall_seconds() - wall);
    }
    stats = isphpbd_world_stats(s->world);
    if (deadline > 0.0) place(b, "deadline_%.0f_ms", deadline);
    else place(b, "no_deadline");
    budget_print(b, run, deadline, &stats);
    scene_destroy(s);
}

static void bench_budget(bench *b) {
    heading(
        b,
        "frames of 1/60 s of the double dam break (28,000 particles round a statue), one thread, by the deadline set");
    for (int k = 0; k < BUDGETS; ++k) budget_measure(b, budget_milliseconds[k], &budget_runs[k]);
}

#endif /* BENCH_WORLD_H */
