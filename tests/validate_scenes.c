/* Validation of the scenes at full size: every scene of examples/scenes.h with the numbers of the papers, to its end
   and with its own checks. A scene that the time of the program does not suffice for has failed: most truths of a scene
   are about its end. SPDX-License-Identifier: MIT */
#define _POSIX_C_SOURCE 200809L /* clock_gettime */
#define ISPHPBD_IMPLEMENTATION
#define EXAMPLES_IMPLEMENTATION
#include "examples/scenes.h"
#include "examples/threads.h"
#include "report.h"

#include <stdlib.h>

static double seconds_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* A number of the environment, or what is usual. */
static double setting(const char *name, double usual) {
    const char *text = getenv(name);
    const double value = text ? atof(text) : 0.0;
    return value > 0.0 ? value : usual;
}

static void judge(report *r, const scene *s, int steps, double stepping) {
    const char *name = s->def->name;
    int failed = 0;
    report_text(r, "### %s\n\n%s: %d particles, %d of %d steps of %.3g ms, %.1f ms of CPU per step.", name,
                s->def->summary, isphpbd_world_stats(s->world).fluid_particles, s->steps, steps, 1e3 * (double)s->dt,
                s->steps ? 1e3 * stepping / s->steps : 0.0);
    report_at_least(r, "share of the scene that was played", (double)s->steps / steps, 1.0, "", "to its end");
    for (int i = 0; i < s->check_count; i++) {
        const scene_check *c = &s->checks[i];
        failed += !c->ok;
        if (c->at_least) report_at_least(r, c->name, c->value, c->limit, "", "examples/scenes.h");
        else report_at_most(r, c->name, c->value, c->limit, "", "examples/scenes.h");
    }
    printf("%-20s %6d particles %5d of %5d steps %8.1f ms, %d leaked, %d of %d checks failed\n", name,
           isphpbd_world_stats(s->world).fluid_particles, s->steps, steps, s->steps ? 1e3 * stepping / s->steps : 0.0,
           scene_leaked(s), failed, s->check_count);
    fflush(stdout);
}

static void play(report *r, int index, const scene_options *options, double most) {
    char message[256] = "";
    scene *s = scene_create(scene_at(index)->name, options, message, sizeof message);
    const double start = seconds_now();
    double stepping = 0.0;
    int steps;
    if (!s) {
        report_at_most(r, message, 1.0, 0.0, "", "the scene can be built");
        return;
    }
    steps = (int)(s->seconds / s->dt + 0.5f);
    while (s->steps < steps && seconds_now() - start < most) scene_step(s), stepping += s->step_cpu;
    scene_finish(s);
    judge(r, s, steps, stepping);
    scene_destroy(s);
}

int main(int argc, char **argv) {
    scene_options options = scene_options_default();
    const char *only = getenv("SCENE");
    /* Of the wall clock for all: with the other programs below the hour of make validate on two cores. The longest
       scene is a fifth of it, so that one that hangs does not keep the others from being played. */
    const double all = setting("SCENE_SECONDS", 1800.0), end = seconds_now() + all;
    threads *pool = threads_create(threads_available());
    report r;
    if (!pool || !report_open(&r, argc, argv, "Scenes at full size")) return 2;
    options.parallel = threads_runner(pool);
    options.scale = (float)setting("SCENE_SCALE", 1.0);
    report_text(&r, "Every scene with the numbers of the papers, at most %.0f s for all on this machine.", all);
    for (int i = 0; i < scene_count(); i++)
        if (!only || strcmp(only, scene_at(i)->name) == 0)
            play(&r, i, &options, fmin(end - seconds_now(), only ? all : 0.2 * all));
    threads_destroy(pool);
    return report_close(&r);
}
