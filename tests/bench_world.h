/* bench_world.h - the world: the scenes of the ISPH-PBD paper beside its tables, and what a deadline does to frames.
   SPDX-License-Identifier: MIT

   The scenes are those of examples/scenes.h, with the paper's numbers of particles and constraints, time steps and
   iterations. Times are those of isphpbd_world_step() alone: what a scene measures and checks is not counted. */
#ifndef BENCH_WORLD_H
#define BENCH_WORLD_H

#include "bench_runner.h"
#include "examples/scenes.h"

/* The library asks on the thread that steps: serial parts and its share of the parallel ones, that is the wall time of
   a machine with nothing else to do. */
static uint64_t world_ticks(void *user) {
    (void)user;
    return (uint64_t)(1e9 * thread_seconds());
}
static uint64_t world_cpu_ticks(void *user) {
    (void)user;
    return (uint64_t)(1e9 * cpu_seconds());
}

/* NULL, having said why, where a scene cannot be made. */
static scene *world_scene(const char *name, float scale, isphpbd_parallel parallel, uint64_t (*clock)(void *user),
                          const char *key) {
    scene_options options = scene_options_default();
    char message[256] = "";
    scene *s;
    options.scale = scale;
    options.parallel = parallel;
    options.clock.fn = clock;
    if (key) {
        (void)snprintf(options.keys[0].name, sizeof options.keys[0].name, "%s", key);
        options.keys[0].value = 1.0;
        options.key_count = 1;
    }
    s = scene_create(name, &options, message, sizeof message);
    if (!s) fprintf(stderr, "bench: %s\n", message);
    return s;
}

/* ==== [paper] ===================================================================================================== */

/* Table 1 of Abu Rumman et al. 2020, on a quad-core Intel i7 of 2.8 GHz; table 2 where given. Thousands; ms. */
typedef struct paper_row {
    const char *scene;
    double constraints, particles, pressure_iterations, rounds, milliseconds, weak, incompressible;
    float seconds; /* simulated here: longer where an emitter fills the scene */
} paper_row;

enum { PAPER_ROWS = 6 };
static const paper_row paper_rows[PAPER_ROWS] = {
    {"water_balloon", 9, 22, 21.3, 2.1, 32.5, 77.9, 42.1, 0.2f},
    {"double_cloth", 21, 95, 30.4, 2.5, 81.6, 0, 0, 2.24f},
    {"thin_shell_basin", 11, 27, 32.2, 1.4, 45.7, 0, 0, 2.24f},
    {"shower_cloth", 22, 75, 43.1, 2.4, 77.1, 0, 0, 2.24f},
    {"lifebuoy_ball", 35, 45, 40.2, 2.7, 87.3, 123.7, 95.5, 0.25f},
    {"flower_pot", 21, 27, 20.3, 1.6, 35.2, 94.4, 39.18, 0.2f},
};

/* Clock ticks of the stages, summed over a run. */
typedef struct world_shares {
    double step, neighbours, walls, pressure, move, coupling, constraints;
} world_shares;

static void world_shares_add(world_shares *w, const isphpbd_stats *t) {
    w->step += (double)t->ticks_step, w->neighbours += (double)t->ticks_neighbours;
    w->walls += (double)t->ticks_walls, w->pressure += (double)(t->ticks_pressure + t->ticks_viscosity);
    w->move += (double)t->ticks_move, w->coupling += (double)t->ticks_coupling;
    w->constraints += (double)t->ticks_constraints;
}

static void world_shares_print(bench *b, const world_shares *w) {
    figure_value(b, "share_neighbours", w->neighbours / w->step, "of the step");
    figure_value(b, "share_walls", w->walls / w->step, "of the step");
    figure_value(b, "share_pressure", w->pressure / w->step, "of the step");
    figure_value(b, "share_move", w->move / w->step, "of the step");
    figure_value(b, "share_coupling", w->coupling / w->step, "of the step");
    figure_value(b, "share_constraints", w->constraints / w->step, "of the step");
}

/* The mean over the run, as the paper tells it: emitters fill some scenes while they run. */
static void paper_means(bench *b, const samples *s, int particles_end) {
    double cpu = 0.0;
    for (int k = 0; k < s->count; ++k) cpu += 1e3 * s->cpu[k] / s->count;
    figure_value(b, "cpu_mean", cpu, "ms per step, CPU of all threads, mean of the run");
    figure_value(b, "particles", particles_end, "at the end");
}

static void paper_stats(bench *b, const isphpbd_stats *t, int steps) {
    const double substeps = t->total_substeps > 0 ? (double)t->total_substeps : 1.0;
    figure_value(b, "constraints", t->constraints, "");
    figure_value(b, "substeps", substeps / steps, "per step");
    figure_value(b, "pressure_iterations", (double)t->total_pressure_iterations / substeps, "per substep");
    figure_value(b, "density_iterations", (double)t->total_density_iterations / substeps, "per substep");
    figure_value(b, "rounds", (double)t->total_outer_iterations / substeps, "pressure + constraints, per substep");
}

static void paper_run(bench *b, const paper_row *row, samples *s) {
    const float scale = b->quick ? 0.1f : 1.0f;
    bench_pool pool = pool_open(b->threads);
    scene *scene_now = world_scene(row->scene, scale, pool.parallel, world_ticks, NULL);
    const int most = b->quick ? 20 : SAMPLES_MOST;
    world_shares shares;
    isphpbd_stats stats;
    memset(&shares, 0, sizeof shares);
    s->count = 0;
    place(b, "%s", row->scene);
    while (scene_now && scene_now->time < row->seconds && scene_now->steps < most) {
        scene_step(scene_now);
        samples_add(s, scene_now->step_cpu, scene_now->step_wall);
        stats = isphpbd_world_stats(scene_now->world);
        world_shares_add(&shares, &stats);
    }
    if (s->count > 0) {
        paper_means(b, s, stats.fluid_particles);
        figure_value(b, "path_mean", 1e-6 * shares.step / scene_now->steps,
                     "ms per step, CPU of the thread that steps, mean");
        figure_samples(b, "", s, 1e3, 1.0, "ms per step; wall: stepping thread");
        paper_stats(b, &stats, scene_now->steps);
        world_shares_print(b, &shares);
    }
    scene_destroy(scene_now);
    pool_close(&pool);
}

/* Table 2: the same scene with the pressure of the Tait equation, which wants shorter substeps. */
static void paper_weak(bench *b, const paper_row *row, samples *s) {
    const int steps = b->quick ? 4 : 30;
    bench_pool pool = pool_open(b->threads);
    place(b, "%s.weak", row->scene);
    for (int weak = 0; weak < 2; ++weak) {
        scene *now = world_scene(row->scene, b->quick ? 0.1f : 1.0f, pool.parallel, world_ticks,
                                 weak ? "weakly_compressible" : NULL);
        s->count = 0;
        for (int k = 0; now && k < steps; ++k) {
            scene_step(now);
            samples_add(s, now->step_cpu, now->step_wall);
        }
        if (s->count > 0)
            figure_samples(b, weak ? "weakly_compressible" : "incompressible", s, 1e3, 1.0,
                           "ms per step; wall: stepping thread");
        scene_destroy(now);
    }
    pool_close(&pool);
}

static void bench_paper(bench *b) {
    samples *s = samples_new();
    heading(b, "the scenes of table 1 of the ISPH-PBD paper, on all threads");
    for (int k = 0; k < PAPER_ROWS; ++k) paper_run(b, &paper_rows[k], s);
    heading(b, "table 2 of the paper: weakly compressible against incompressible");
    for (int k = 0; k < PAPER_ROWS; ++k) {
        if (paper_rows[k].weak > 0.0) paper_weak(b, &paper_rows[k], s);
    }
    free(s);
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

static void budget_print(bench *b, budget_run *run, double deadline, const isphpbd_stats *stats) {
    figure_value(b, "wall_p50", samples_quantile(run->wall, run->frames, 0.5), "ms");
    figure_value(b, "wall_p99", samples_quantile(run->wall, run->frames, 0.99), "ms");
    figure_value(b, "wall_max", samples_quantile(run->wall, run->frames, 1.0), "ms");
    figure_value(b, "cpu_p50", samples_quantile(run->cpu, run->frames, 0.5), "ms");
    figure_value(b, "cpu_p99", samples_quantile(run->cpu, run->frames, 0.99), "ms");
    figure_value(b, "cpu_max", samples_quantile(run->cpu, run->frames, 1.0), "ms");
    if (deadline > 0.0)
        figure_value(b, "over", samples_quantile(run->cpu, run->frames, 1.0) - deadline, "ms beyond the deadline, CPU");
    figure_value(b, "speed", stats->time / ((double)run->frames / 60.0), "simulated seconds per second of frames");
    figure_value(b, "density_error", 100.0 * (double)stats->compression_mean, "% mean compression at the end");
}

/* Frames of 1/60 s of the double dam break, one thread. The world looks at this program's CPU time, so that nothing but
   the library decides when a frame ends. */
static void budget_measure(bench *b, double deadline, budget_run *run) {
    scene *s = world_scene("double_dam_break", b->quick ? 0.2f : 1.0f, serial_runner(), world_cpu_ticks, NULL);
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
