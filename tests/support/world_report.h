/* world_report.h - between the scenes of world_truths.h and the reports of sph_scenes.h: progress, curves for plots,
   and the figures that every run must have. Include it first, with ISPHPBD_IMPLEMENTATION defined.
   SPDX-License-Identifier: MIT */
#ifndef WORLD_REPORT_H
#define WORLD_REPORT_H

#include "timing.h"

#include "isphpbd.h" /* before report.h, whose name its parameters use */

#include "sph_scenes.h"
#include "world_truths.h"

typedef struct world_progress {
    sph_run *run;
    const char *name;
    sph_curve *curve; /* may be NULL */
    int step;
} world_progress;

FIXTURE_FN void world_progress_step(void *user, double seconds, double share_done, double figure) {
    world_progress *p = (world_progress *)user;
    const int steps = share_done > 0.0 ? (int)(p->step / share_done) + 1 : 1000;
    sph_progress(p->run, p->name, p->step, steps);
    if (p->curve) sph_curve_add(p->curve, seconds, figure);
    p->step++;
}

/* `progress` must live as long as the watch. */
FIXTURE_FN truth_watch world_watch(world_progress *progress, sph_run *run, const char *name, sph_curve *curve) {
    truth_watch w;
    progress->run = run, progress->name = name, progress->curve = curve, progress->step = 0;
    w.fn = world_progress_step, w.user = progress;
    return w;
}

FIXTURE_FN void world_at_least(sph_run *run, const char *name, const char *what, double value, double limit,
                               const char *unit, const char *source) {
    char label[SPH_LABEL_MAX];
    (void)report_at_least(run->report, sph_label(label, name, what), value, limit, unit, source);
}

FIXTURE_FN void world_judge_health(sph_run *run, const char *name, const truth_health *h) {
    sph_at_most(run, name, "not finite + lost without a word", h->broken + fabs((double)h->missing), 0, "",
                "nothing breaks");
    sph_value(run, name, "removed because they could not be saved", (double)h->culled, "particles");
}

#endif /* WORLD_REPORT_H */
