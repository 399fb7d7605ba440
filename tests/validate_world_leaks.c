/* Validation of isphpbd.h: no water passes a shell. Jets on elastic sheets, the water balloon of the paper and a shaken
   cup; leaks are counted after every substep by ray parity (tests/support/world_leaks.h), independently of the
   library's collision code.
   SPDX-License-Identifier: MIT */
#define ISPHPBD_IMPLEMENTATION
#include "world_report.h"

static const char *const ISSUE_LEAKS = "no leaks at any speed, stretch and triangulation (thin shells)";

static void judge_leaks(sph_run *run, const char *name, const leak_result *r) {
    sph_at_most(run, name, "leaked", (double)r->leaked, 0, "particles", ISSUE_LEAKS);
    sph_at_most(run, name, "not finite + lost without a word", r->health.broken + fabs((double)r->health.missing), 0,
                "", "nothing breaks");
    sph_at_most(run, name, "removed because they could not be saved",
                100.0 * (double)r->health.culled / (double)r->seen, 0.1, "%", "rare; each is counted");
    sph_value(run, name, "particles looked at", (double)r->seen, "");
    sph_value(run, name, "looks", (double)r->looked, "");
    sph_value(run, name, "substeps", (double)r->substeps, "");
}

static void stream_case(sph_run *run, const stream_desc *d, const char *sheet) {
    char name[SPH_NAME_MAX];
    world_progress progress;
    truth_watch watch;
    leak_result r;
    (void)snprintf(name, sizeof name, "%.0f m/s, triangles of %.0f dx, %s", d->speed, d->triangles, sheet);
    watch = world_watch(&progress, run, name, NULL);
    r = stream_measure(d, &watch);
    judge_leaks(run, name, &r);
}

/* A rubber sheet as its preset has it, and two by the stiffness of the papers. */
static void case_streams(sph_run *run) {
    static const double speeds[4] = {2, 5, 10, 20}, sizes[3] = {1, 2, 4};
    stream_desc d = {0, 0, 0, {IPBD_ABSENT, 0.0f}, true};
    d.seconds = run->quick ? 2.0 : 10.0;
    for (int i = 0; i < 12; i++) {
        d.speed = speeds[i / 3], d.triangles = sizes[i % 3];
        d.stretch = ipbd_body_desc_preset(IPBD_RUBBER_SHEET).stretch;
        stream_case(run, &d, "rubber");
    }
    for (int i = 0; i < 12; i++) {
        d.speed = speeds[i / 3], d.triangles = sizes[i % 3];
        d.stretch = ipbd_stiffness(0.6f), stream_case(run, &d, "stiffness 0.6");
        d.stretch = ipbd_stiffness(0.9f), stream_case(run, &d, "stiffness 0.9");
    }
}

static void case_balloon(sph_run *run) {
    static const double stiffness[2] = {0.75, 0.9};
    static sph_curve curves[2];
    static char names[2][SPH_NAME_MAX];
    plot p = plot_make("Water balloon dropped from 2 m", "time, s", "height of its middle, m");
    for (int i = 0; i < 2; i++) {
        balloon_desc d = {0.35, 0.02, 17, 0, 2.0, 10.0, 0.0};
        world_progress progress;
        truth_watch watch;
        balloon_result r;
        if (run->quick) d.spacing = 0.05, d.frequency = 8;
        d.stiffness = stiffness[i];
        (void)snprintf(names[i], sizeof names[i], "balloon, stiffness %.2f", d.stiffness);
        watch = world_watch(&progress, run, names[i], &curves[i]);
        r = balloon_measure(&d, &watch);
        sph_value(run, names[i], "particles (table 1: 22K)", r.particles, "");
        sph_value(run, names[i], "stretch constraints (table 1: 9K)", r.edges, "");
        judge_leaks(run, names[i], &r.leaks);
        sph_at_most(run, names[i], "volume at rest against that in flight, change",
                    100.0 * fabs(r.volume_at_rest - 1.0), 3.0, "%", "water balloon, fig. 7 and 9");
        sph_value(run, names[i], "volume on the way, largest change", 100.0 * r.volume_worst, "%");
        world_at_least(run, names[i], "bounces by", r.bounce, 0.05, "m", "the balloon bounces, fig. 7");
        sph_at_most(run, names[i], "water in flight, rms speed against its mean", r.flight_speed, 0.1, "m/s",
                    "what falls freely is at rest");
        sph_value(run, names[i], "water at the end, rms speed", r.rest_speed, "m/s");
        sph_plot_curve(&p, names[i], &curves[i], PLOT_LINE);
    }
    report_plot(run->report, &p, "world_balloon");
}

static void case_cup(sph_run *run) {
    const cup_desc d = {run->quick ? 0.05 : 0.025, run->quick ? 2.0 : 6.0, 10.0};
    world_progress progress;
    const truth_watch watch = world_watch(&progress, run, "cup", NULL);
    const leak_result r = cup_measure(&d, &watch);
    judge_leaks(run, "closed cup, moved and spun at up to 10 m/s", &r);
}

int main(int argc, char **argv) {
    static const sph_case cases[] = {{"streams", "Jets on elastic sheets, 10 s each, frame step 1/60 s", case_streams},
                                     {"balloon", "Water balloon dropped from 2 m", case_balloon},
                                     {"cup", "A closed cup of no thickness, moved and spun", case_cup}};
    return sph_main(argc, argv, "World: no leaks", cases, (int)(sizeof cases / sizeof *cases));
}
