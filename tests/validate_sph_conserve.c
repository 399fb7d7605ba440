/* Validation of isphpbd_sph.h: keeping the volume - double dam break with and without density projection, small
   budgets, substeps, recovery from ruined states, and the cost against a weakly compressible fluid.
   SPDX-License-Identifier: MIT */
#define ISPH_IMPLEMENTATION
#include "sph_scenes.h"

/* ---- [double dam] ------------------------------------------------------------------------------------------------ */

enum { DAM_STEPS = 4 };
static const double dam_steps[DAM_STEPS] = {0.005, 0.010, 1.0 / 60.0, 0.020}; /* s */
static const double DAM_SECONDS = 30.0, DAM_SETTLED = 20.0;

typedef struct dam_result {
    sph_curve volume;     /* relative to rest, over time */
    double settled;       /* height relative to that of the mass at rest, mean from DAM_SETTLED on */
    double settled_bulk;  /* the volume curve's mean over the same time */
    double worst;         /* largest |volume - 1| */
    double cpu_per_step;  /* s, and substep */
    double substeps_mean; /* per step */
    int substeps_most, broken;
    double top_speed;
    uint32_t flags;
} dam_result;

typedef struct dam_watch {
    dam_result *result;
    double next; /* time of the next sample, s */
    int settled_samples;
} dam_watch;

static void dam_sample(sph_scene *s, void *user) {
    dam_watch *watch = (dam_watch *)user;
    int substeps = isph_fluid_stats(s->fluid).substeps;
    double volume;
    if (substeps > watch->result->substeps_most) watch->result->substeps_most = substeps;
    if (s->seconds < watch->next - 1e-6) return;
    watch->next += 0.25;
    volume = sph_volume(s);
    sph_curve_add(&watch->result->volume, s->seconds, volume);
    if (!(fabs(volume - 1.0) <= watch->result->worst)) watch->result->worst = fabs(volume - 1.0);
    if (s->seconds < DAM_SETTLED) return;
    watch->result->settled += sph_measure(s).height / sph_depth(s) - 1.0;
    watch->result->settled_bulk += volume - 1.0;
    watch->settled_samples++;
}

/* Two columns at both ends of a tank four times as long as each is wide; of 9720 particles at full size. */
static sph_scene dam_scene(isph_fluid_desc desc, int quick) {
    double dx = quick ? 0.09 : 0.06, width = 0.72, height = 1.62, thick = 0.9, tank = 4.0 * width;
    isph_material water;
    sph_scene s;
    desc.spacing = (float)dx;
    s = sph_tank(&desc, tank, 10.0, thick, 1.0);
    water = sph_water(&s);
    (void)sph_fill(&s, water, sph_v3(0, 0, 0), sph_v3(width, height, thick));
    (void)sph_fill(&s, water, sph_v3(tank - width, 0, 0), sph_v3(tank, height, thick));
    return s;
}

static void dam_run(sph_run *run, const isph_fluid_desc *desc, double dt, const char *what, dam_result *result) {
    sph_scene s = dam_scene(*desc, run->quick);
    isph_stats stats;
    dam_watch watch = {result, 0.0, 0};
    memset(result, 0, sizeof *result);
    sph_advance(run, &s, what, DAM_SECONDS, dt, dam_sample, &watch);
    stats = isph_fluid_stats(s.fluid);
    result->settled /= watch.settled_samples;
    result->settled_bulk /= watch.settled_samples;
    result->cpu_per_step = s.cpu_seconds / (double)stats.total_substeps;
    result->substeps_mean = (double)stats.total_substeps * dt / DAM_SECONDS;
    result->broken = s.broken;
    result->top_speed = s.top_speed;
    result->flags = s.flags;
    sph_end(&s);
}

/* Without limits, for the runs without projection. */
static void dam_tell(sph_run *run, const char *name, const dam_result *result) {
    sph_value(run, name, "settled height, difference", 100 * result->settled, "%");
    sph_value(run, name, "settled volume, change", 100 * result->settled_bulk, "%");
    sph_value(run, name, "cost", 1000 * result->cpu_per_step, "CPU ms per substep");
}

static void dam_judge_settled(sph_run *run, const char *name, const dam_result *result, const char *source) {
    sph_at_most(run, name, "settled height, difference", 100 * fabs(result->settled), 1.0, "%", source);
    sph_at_most(run, name, "settled volume, change", 100 * fabs(result->settled_bulk), 1.0, "%", source);
    sph_at_most(run, name, "particles not finite", result->broken, 0, "", source);
    sph_value(run, name, "cost", 1000 * result->cpu_per_step, "CPU ms per substep");
}

static void case_double_dam(sph_run *run) {
    static dam_result with[DAM_STEPS], without[DAM_STEPS];
    static char names[2 * DAM_STEPS][SPH_NAME_MAX];
    isph_fluid_desc desc = isph_fluid_desc_default();
    const char *source = "Kugelstadt et al. 2019, section 4.1, fig. 3";
    double cost = 0.0;
    plot p = plot_make("Double dam break: volume over time", "time, s", "volume / initial volume");
    for (int i = 0; i < DAM_STEPS; i++) {
        desc.density_projection = true;
        (void)snprintf(names[i], sizeof names[i], "%.1f ms, projected", 1000 * dam_steps[i]);
        dam_run(run, &desc, dam_steps[i], names[i], &with[i]);
        sph_at_most(run, names[i], "largest volume change in 30 s", 100 * with[i].worst, 2.0, "%", source);
        dam_judge_settled(run, names[i], &with[i], source);
        sph_plot_curve(&p, names[i], &with[i].volume, PLOT_LINE);
    }
    for (int i = 0; i < DAM_STEPS; i++) {
        char *name = names[DAM_STEPS + i];
        desc.density_projection = false;
        (void)snprintf(name, sizeof names[0], "%.1f ms, without", 1000 * dam_steps[i]);
        dam_run(run, &desc, dam_steps[i], name, &without[i]);
        dam_tell(run, name, &without[i]);
        sph_plot_curve(&p, name, &without[i].volume, PLOT_DASHED);
        cost += (with[i].cpu_per_step / without[i].cpu_per_step - 1.0) / DAM_STEPS;
    }
    report_value(run->report, "cost of the projection per substep (Kugelstadt et al.: 29 %)", 100 * cost, "%");
    report_plot(run->report, &p, "sph_double_dam_steps");
}

static void case_budget(sph_run *run) {
    static const int caps[2] = {8, 4};
    static dam_result results[2];
    static char names[2][SPH_NAME_MAX];
    const char *source = "Kugelstadt et al. 2019, fig. 4: below 1 %";
    plot p = plot_make("Double dam break, 16.7 ms: volume with few iterations", "time, s", "volume / initial volume");
    for (int i = 0; i < 2; i++) {
        isph_fluid_desc desc = isph_fluid_desc_default();
        desc.max_iterations = caps[i];
        (void)snprintf(names[i], sizeof names[i], "at most %d iterations", caps[i]);
        dam_run(run, &desc, 1.0 / 60.0, names[i], &results[i]);
        dam_judge_settled(run, names[i], &results[i], source);
        sph_plot_curve(&p, names[i], &results[i].volume, PLOT_LINE);
    }
    report_plot(run->report, &p, "sph_double_dam_budget");
}

/* ---- [substeps] -------------------------------------------------------------------------------------------------- */

static void substeps_sample(sph_scene *s, void *user) {
    int *most = (int *)user, substeps = isph_fluid_stats(s->fluid).substeps;
    if (substeps > *most) *most = substeps;
}

static void substeps_at(sph_run *run, double dt, int cap) {
    isph_fluid_desc desc = isph_fluid_desc_default();
    sph_scene s;
    int most = 0, capped;
    char name[SPH_NAME_MAX];
    desc.max_substeps = cap;
    s = dam_scene(desc, run->quick);
    (void)snprintf(name, sizeof name, "dt = %.0f ms, at most %d substeps", 1000 * dt, cap);
    sph_advance(run, &s, name, 4.0, dt, substeps_sample, &most);
    capped = (s.flags & ISPH_STEP_SUBSTEPS_CAPPED) != 0;
    sph_value(run, name, "most substeps of a step", most, "");
    sph_at_most(run, name, "top speed (free fall of 1.6 m: 5.6 m/s)", s.top_speed, 20.0, "m/s", "stable");
    sph_at_most(run, name, "particles not finite", s.broken, 0, "", "stable");
    if (cap == 1) report_at_least(run->report, "one substep only: reported (1: yes)", capped, 1, "", "the flag");
    else sph_at_most(run, name, "the cap is felt (1: yes)", capped, 0, "", "the default is enough");
    sph_end(&s);
}

static void case_substeps(sph_run *run) {
    int enough = isph_fluid_desc_default().max_substeps;
    report_text(run->report, "The double dam break for 4 s. A substep is as long as the fastest particle takes for one "
                             "spacing; a cap of one substep slows such particles and says so.");
    substeps_at(run, 0.005, enough);
    substeps_at(run, 0.010, enough);
    substeps_at(run, 0.020, enough);
    substeps_at(run, 0.020, 1);
}

/* ---- [recovery] -------------------------------------------------------------------------------------------------- */

static const double RECOVERY_DX = 0.05, RECOVERY_SIDE = 1.0, RECOVERY_DEPTH = 0.5;

typedef struct recovery_watch {
    double ill; /* the last time, in s after the recovery began, at which 1 % of the volume was missing */
    double began;
    sph_curve *curve;
} recovery_watch;

static void recovery_sample(sph_scene *s, void *user) {
    recovery_watch *watch = (recovery_watch *)user;
    double lost = sph_measure(s).lost, t = s->seconds - watch->began;
    if (!(lost <= 0.01)) watch->ill = t;
    sph_curve_add(watch->curve, t, 1.0 - lost);
}

static sph_scene recovery_tank(void) {
    isph_fluid_desc desc = isph_fluid_desc_default();
    desc.spacing = (float)RECOVERY_DX;
    return sph_tank(&desc, RECOVERY_SIDE, 12.0, RECOVERY_SIDE, 1.0);
}

static sph_scene recover_solver_off(sph_run *run) {
    sph_scene s = recovery_tank();
    (void)sph_fill(&s, sph_water(&s), sph_v3(0, 0, 0), sph_v3(RECOVERY_SIDE, RECOVERY_DEPTH, RECOVERY_SIDE));
    sph_demand(isph_fluid_set_solver_enabled(s.fluid, false) == ISPHPBD_OK, "switch the solver off");
    sph_advance(run, &s, "solver off", 2.0, 1.0 / 60.0, NULL, NULL);
    sph_demand(isph_fluid_set_solver_enabled(s.fluid, true) == ISPHPBD_OK, "switch the solver on");
    return s;
}

/* A number in [0, 1) from a linear congruential generator. */
static double recovery_random(uint32_t *state) {
    *state = *state * 1664525u + 1013904223u;
    return (double)(*state >> 8) / 16777216.0;
}

/* As many particles as fill the tank, all within one cell of the neighbour grid. */
static sph_scene recover_one_cell(sph_run *run) {
    enum { COUNT = 4000 };
    static float places[COUNT][3];
    sph_scene s = recovery_tank();
    uint32_t state = 1;
    double cell = (double)isph_fluid_desc_default().support * RECOVERY_DX;
    (void)run;
    for (int i = 0; i < COUNT; i++) {
        for (int k = 0; k < 3; k++) places[i][k] = (float)(0.5 + cell * recovery_random(&state));
    }
    sph_demand(isph_particles_add(s.fluid, sph_water(&s), places[0], sizeof places[0], NULL, 0, COUNT, NULL) ==
                   ISPHPBD_OK,
               "add particles");
    return s;
}

static sph_scene recover_block_in_block(sph_run *run) {
    sph_scene s = recovery_tank();
    isph_material water = sph_water(&s);
    double off = 0.3 * RECOVERY_DX;
    (void)run;
    (void)sph_fill(&s, water, sph_v3(0, 0, 0), sph_v3(RECOVERY_SIDE, RECOVERY_DEPTH, RECOVERY_SIDE));
    (void)sph_fill(&s, water, sph_v3(0.2 + off, 0.1 + off, 0.2 + off), sph_v3(0.8 + off, 0.4 + off, 0.8 + off));
    return s;
}

/* The block reaches six spacings through a wall of the tank and the floor, and encloses a solid ball. */
static sph_scene recover_inside_walls(sph_run *run) {
    sph_scene s = recovery_tank();
    isph_boundary_desc ball = isph_boundary_desc_default();
    double out = 6.0 * RECOVERY_DX;
    (void)run;
    ball.shape = ISPH_SHAPE_SPHERE;
    ball.radius = 0.15f;
    ball.position = sph_v3(0.5, 0.15, 0.5);
    sph_demand(isph_boundary_create(s.fluid, &ball, NULL).id != 0, "create a ball");
    (void)sph_fill(&s, sph_water(&s), sph_v3(-out, -out, 0), sph_v3(RECOVERY_SIDE - out, 0.5 - out, RECOVERY_SIDE));
    return s;
}

/* Particles more than a tenth of a spacing behind the walls of the tank. */
static int recovery_outside(const sph_scene *s) {
    isph_view v = isph_particles(s->fluid);
    int outside = 0;
    for (int i = 0; i < v.count; i++) outside += !sph_off_walls(s, &v, i, -0.1 * s->dx);
    return outside;
}

static void recovery_one(sph_run *run, const char *name, sph_scene (*make)(sph_run *run), sph_curve *curve) {
    const char *source = "Kugelstadt et al. 2019, figs 7 and 9: less than a second";
    const double dt = 1.0 / 60.0;
    sph_scene s = make(run);
    recovery_watch watch;
    int outside;
    memset(&watch, 0, sizeof watch);
    watch.curve = curve;
    watch.began = s.seconds;
    sph_advance(run, &s, name, 1.0, dt, recovery_sample, &watch);
    outside = recovery_outside(&s);
    sph_advance(run, &s, name, 4.0, dt, recovery_sample, &watch);
    sph_at_most(run, name, "full volume (99 %) again after", watch.ill, 1.0, "s", source);
    sph_at_most(run, name, "top speed", s.top_speed, 20.0, "m/s", source);
    sph_at_most(run, name, "particles not finite", s.broken, 0, "", source);
    sph_at_most(run, name, "particles outside the tank after 1 s", outside, 0, "", source);
    sph_at_most(run, name, "volume after 5 s, change", 100 * fabs(sph_volume(&s) - 1.0), 1.0, "%", source);
    sph_end(&s);
}

static void case_recovery(sph_run *run) {
    static sph_curve curves[4];
    plot p = plot_make("Recovery: share of the volume that is there", "time, s", "volume / rest volume");
    recovery_one(run, "solver off for 2 s", recover_solver_off, &curves[0]);
    recovery_one(run, "all in one cell", recover_one_cell, &curves[1]);
    recovery_one(run, "block in a block", recover_block_in_block, &curves[2]);
    recovery_one(run, "inside walls", recover_inside_walls, &curves[3]);
    sph_plot_curve(&p, "solver off for 2 s", &curves[0], PLOT_LINE);
    sph_plot_curve(&p, "all in one cell", &curves[1], PLOT_LINE);
    sph_plot_curve(&p, "block in a block", &curves[2], PLOT_LINE);
    sph_plot_curve(&p, "inside walls", &curves[3], PLOT_LINE);
    p.x.lowest = 0.0, p.x.highest = 2.0;
    report_plot(run->report, &p, "sph_recovery");
}

/* ---- [weakly compressible] cost at equal volume error ------------------------------------------------------------ */

typedef struct cost_watch {
    double square; /* of the volume error, summed */
    int samples, steps;
} cost_watch;

static void cost_sample(sph_scene *s, void *user) {
    cost_watch *watch = (cost_watch *)user;
    double error;
    if (watch->steps++ % 6) return;
    error = sph_volume(s) - 1.0;
    watch->square += error * error;
    watch->samples++;
}

/* A dam break for 3 s: rms volume error and CPU seconds per second. */
static void cost_of(sph_run *run, const isph_fluid_desc *desc, double dt, const char *what, sph_curve *curve) {
    const double seconds = 3.0;
    sph_scene s = sph_tank(desc, 1.6, 6.0, 0.6, 1.0);
    cost_watch watch;
    double error;
    memset(&watch, 0, sizeof watch);
    (void)sph_fill(&s, sph_water(&s), sph_v3(0, 0, 0), sph_v3(0.8, 0.8, 0.6));
    sph_advance(run, &s, what, seconds, dt, cost_sample, &watch);
    error = sqrt(watch.square / watch.samples);
    sph_value(run, what, "volume error, rms", 100 * error, "%");
    sph_value(run, what, "cost", s.cpu_seconds / seconds, "CPU s per s");
    sph_curve_add(curve, 100 * error, s.cpu_seconds / seconds);
    sph_end(&s);
}

/* Cost of the weakly compressible fluid at the error of the other one: it goes with the speed of sound c, the error
   with c^-2; between two points, and beyond the last, the straight line in logarithms through the two nearest. */
static double cost_at_error(const sph_curve *weak, double error) {
    int i = 1;
    double slope;
    while (i + 1 < weak->count && weak->x[i] > error) i++;
    slope = log(weak->y[i] / weak->y[i - 1]) / log(weak->x[i] / weak->x[i - 1]);
    return weak->y[i] * pow(error / weak->x[i], slope);
}

static void case_weak(sph_run *run) {
    static const double sound[3] = {20.0, 40.0, 80.0}; /* m/s: 5, 10, 20 times the speed of a fall of 0.8 m */
    static sph_curve weak, strong;
    isph_fluid_desc desc = isph_fluid_desc_default();
    plot p = plot_make("Cost against volume error, dam break", "volume error, rms, %", "CPU seconds per second");
    desc.max_substeps = 10000;
    for (int i = 0; i < (run->quick ? 2 : 3); i++) {
        char what[SPH_NAME_MAX];
        isph_fluid_desc tait = desc;
        tait.solver = ISPH_SOLVER_WEAKLY_COMPRESSIBLE;
        tait.sound_speed = (float)sound[i];
        (void)snprintf(what, sizeof what, "weakly compressible, c = %.0f m/s", sound[i]);
        cost_of(run, &tait, 1.0 / 60.0, what, &weak);
    }
    cost_of(run, &desc, 1.0 / 60.0, "incompressible, dt = 1/60 s", &strong);
    cost_of(run, &desc, 1.0 / 240.0, "incompressible, dt = 1/240 s", &strong);
    report_value(run->report,
                 "cost of weakly compressible / incompressible at its error (Abu Rumman et al.: 1.3, 1.85, 2.4)",
                 cost_at_error(&weak, strong.x[0]) / strong.y[0], "");
    p.x.logarithmic = p.y.logarithmic = 1;
    sph_plot_curve(&p, "weakly compressible", &weak, PLOT_LINE | PLOT_POINTS);
    sph_plot_curve(&p, "incompressible", &strong, PLOT_POINTS);
    report_plot(run->report, &p, "sph_weak_cost");
}

int main(int argc, char **argv) {
    static const sph_case cases[] = {
        {"double-dam", "Double dam break: volume over 30 s", case_double_dam},
        {"budget", "Double dam break with few iterations", case_budget},
        {"substeps", "Substeps", case_substeps},
        {"recovery", "Recovery", case_recovery},
        {"weak", "Weakly compressible against incompressible", case_weak},
    };
    return sph_main(argc, argv, "Fluid: keeping the volume", cases, (int)(sizeof cases / sizeof cases[0]));
}
