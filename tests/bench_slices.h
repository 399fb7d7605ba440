/* bench_slices.h - how long the units of work are into which a substep of the fluid can be divided.
   SPDX-License-Identifier: MIT */
#ifndef BENCH_SLICES_H
#define BENCH_SLICES_H

#include "bench_dam.h"

enum { SLICES_MOST = 65536 };

typedef struct slices {
    double least[SLICES_MOST]; /* seconds of CPU time of every unit, the least of the repeats */
    double last;
    int count;
} slices;

static bool slices_look(void *user) {
    slices *s = (slices *)user;
    const double spent = cpu_seconds() - s->last;
    if (s->count < SLICES_MOST) {
        if (s->least[s->count] == 0.0 || spent < s->least[s->count]) s->least[s->count] = spent;
        s->count++;
    }
    s->last = cpu_seconds();
    return false;
}

/* One and the same substep again and again, in units. */
static void slices_measure(isph_fluid *fluid, slices *s, int repeats) {
    const size_t size = isph_fluid_save(fluid, NULL, 0);
    void *snapshot = need(malloc(size));
    (void)isph_fluid_save(fluid, snapshot, size);
    for (int r = 0; r < repeats; ++r) {
        if (isph_fluid_load(fluid, snapshot, size) != ISPHPBD_OK) break;
        (void)isph_fluid_substep_begin(fluid, 0.004f);
        s->count = 0;
        s->last = cpu_seconds();
        (void)isph_fluid_substep_continue(fluid, slices_look, s);
    }
    free(snapshot);
}

enum { SLICE_SIZES = 4 };
static const int slice_sides[SLICE_SIZES] = {27, 37, 47, 59}; /* particles along an edge of the dam */

static void bench_slices(bench *b) {
    slices *s = (slices *)need(malloc(sizeof *s));
    heading(b, "units of work into which a substep can be divided, one thread, the least of the repeats of every unit");
    for (int k = 0; k < (b->quick ? 2 : SLICE_SIZES); ++k) {
        isph_fluid_desc desc = dam_desc(slice_sides[k], 2.0f);
        isph_fluid *fluid = dam_create(&desc, slice_sides[k]);
        double sum = 0.0;
        dam_run(fluid, slice_sides[k] < 40 ? 0.2f : 0.05f);
        memset(s, 0, sizeof *s);
        slices_measure(fluid, s, b->repeats ? b->repeats : b->quick ? 5 : 15);
        for (int i = 0; i < s->count; ++i) sum += s->least[i];
        place(b, "%d", isph_particles(fluid).count);
        figure_value(b, "units", s->count, "per substep");
        figure_value(b, "mean", 1e6 * sum / s->count, "us of CPU time");
        figure_value(b, "median", 1e6 * samples_quantile(s->least, s->count, 0.5), "us of CPU time");
        figure_value(b, "longest", 1e6 * samples_quantile(s->least, s->count, 1.0), "us of CPU time");
        isph_fluid_destroy(fluid);
    }
    place(b, "%s", "");
    free(s);
}

#endif /* BENCH_SLICES_H */
