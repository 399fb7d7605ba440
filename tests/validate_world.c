/* Validation of isphpbd.h: weight, buoyancy, momentum, drag and slip, pressure, a skipping stone, budgets in time and
   snapshots. Leaks have a program of their own, tests/validate_world_leaks.c. The scenes are those of
   tests/support/world_truths.h.
   SPDX-License-Identifier: MIT */
#define ISPHPBD_IMPLEMENTATION
#include "world_report.h"

#include "world_mixed.h"

/* ---- [weight] ---------------------------------------------------------------------------------------------------- */

static void case_weight(sph_run *run) {
    static const double masses[3] = {0.1, 0.3, 1.0};
    static sph_curve curves[3];
    static char names[3][SPH_NAME_MAX];
    for (int i = 0; i < 3; i++) {
        basin_desc d = {0, 0.025, 6.0, 4.0};
        world_progress progress;
        truth_watch watch;
        basin_result r;
        d.areal_mass = masses[i];
        if (run->quick) d.spacing = 0.05, d.settle = 3.0, d.measure = 1.0;
        (void)snprintf(names[i], sizeof names[i], "cloth of %.1f kg/m^2", d.areal_mass);
        watch = world_watch(&progress, run, names[i], &curves[i]);
        r = basin_measure(&d, &watch);
        sph_value(run, names[i], "water over cloth, by mass",
                  r.particles * WORLD_WATER * pow(d.spacing, 3.0) / d.areal_mass, "");
        sph_at_most(run, names[i], "pins against weight of water and cloth, difference", 100.0 * fabs(r.load - 1.0),
                    2.0, "%", "statics");
        sph_value(run, names[i], "load of the pins, standard deviation", 100.0 * r.load_deviation, "%");
        sph_at_most(run, names[i], "cloth at rest, rms speed", 100.0 * r.cloth_speed, 2.0, "cm/s", "rest");
        sph_at_most(run, names[i], "pressure at the bottom against rho g h, difference", 100.0 * fabs(r.pressure - 1.0),
                    10.0, "%", "hydrostatics");
        sph_at_most(run, names[i], "gap between cloth and lowest water", r.gap, 0.75, "spacings",
                    "small contact offset (fig. 19): half a spacing and the sag between vertices");
        sph_at_most(run, names[i], "largest density at the cloth", r.crowding, 1.15, "", "no clumped layer (fig. 19)");
        sph_at_most(run, names[i], "leaked", (double)r.leaked, 0, "particles", "no leaks");
        world_judge_health(run, names[i], &r.health);
    }
}

/* ---- [float] ----------------------------------------------------------------------------------------------------- */

static float_result float_case(sph_run *run, const float_desc *d, const char *name, sph_curve *curve) {
    world_progress progress;
    const truth_watch watch = world_watch(&progress, run, name, curve);
    const float_result r = float_measure(d, &watch);
    world_judge_health(run, name, &r.health);
    sph_value(run, name, "speed at the end", r.speed, "m/s");
    sph_value(run, name, "swing of the submerged share", r.swing, "");
    return r;
}

static void case_float(sph_run *run) {
    static const double densities[4] = {200, 500, 800, 1500};
    static sph_curve curves[8];
    static char names[8][SPH_NAME_MAX];
    plot p = plot_make("Boxes in water: submerged share", "time, s", "share of the volume below the surface");
    for (int i = 0; i < 8; i++) {
        float_desc d = {0, 0.04, 6.0, 0.4, 1.0, 0.6, false, false, 0.0};
        float_result r;
        d.density = densities[i % 4], d.soft = i >= 4;
        if (run->quick) d.spacing = 0.05, d.size = 0.3, d.tank = 0.8, d.depth = 0.5, d.seconds = 4.0;
        (void)snprintf(names[i], sizeof names[i], "%s box of %.0f kg/m^3", d.soft ? "soft" : "rigid", d.density);
        r = float_case(run, &d, names[i], &curves[i]);
        if (d.density > 1000.0) {
            sph_at_most(run, names[i], "sinks: bottom above the floor", r.low, d.spacing, "m", "Archimedes");
        } else {
            const double right = d.density / 1000.0;
            sph_value(run, names[i], "submerged share", r.submerged, "");
            sph_at_most(run, names[i], "submerged share, difference", fabs(r.submerged - right),
                        fmax(0.03, 0.05 * right), "", "Archimedes");
        }
        sph_plot_curve(&p, names[i], &curves[i], i < 4 ? PLOT_LINE : PLOT_DASHED);
    }
    report_plot(run->report, &p, "world_float");
}

/* Fig. 17: three spheres of falling density. */
static void case_spheres(sph_run *run) {
    static const double densities[3] = {2000, 1000, 400};
    static const char *const names[3] = {"heavy sphere", "sphere of water's density", "light sphere"};
    for (int i = 0; i < 3; i++) {
        float_desc d = {0, 0.04, 4.0, 0.3, 1.0, 0.7, false, true, 0.0};
        float_result r;
        d.density = densities[i];
        if (i == 1) d.start = 0.35; /* hovering, not falling through */
        if (run->quick) d.spacing = 0.05, d.tank = 0.8;
        r = float_case(run, &d, names[i], NULL);
        sph_value(run, names[i], "lowest point", r.low, "m");
        sph_value(run, names[i], "highest point above the surface", r.top, "m");
        if (i == 0) sph_at_most(run, names[i], "sinks: above the floor", r.low, d.spacing, "m", "fig. 17");
        if (i == 1) {
            world_at_least(run, names[i], "hovers: lowest point above the floor", r.low, d.spacing, "m", "fig. 17");
            sph_at_most(run, names[i], "hovers: highest point above the surface", r.top, -d.spacing, "m", "fig. 17");
            sph_at_most(run, names[i], "hovers: speed", r.speed, 0.05, "m/s", "fig. 17");
        }
        if (i == 2) {
            sph_at_most(run, names[i], "floats: submerged share, difference", fabs(r.submerged - 0.4), 0.03, "",
                        "fig. 17 and Archimedes");
        }
    }
}

/* ---- [momentum] -------------------------------------------------------------------------------------------------- */

static void case_momentum(sph_run *run) {
    static const char *const names[4] = {"water hits a free sheet", "water hits a free soft block",
                                         "water hits a free rigid block", "the same, local scheme"};
    for (int i = 0; i < 4; i++) {
        momentum_desc d = {MOMENTUM_SHEET, 2.0, ISPHPBD_RIGID_GLOBAL, 1};
        world_progress progress;
        const truth_watch watch = world_watch(&progress, run, names[i], NULL);
        momentum_result r;
        d.target = i < 3 ? (momentum_target)i : MOMENTUM_RIGID;
        d.scheme = i < 3 ? ISPHPBD_RIGID_GLOBAL : ISPHPBD_RIGID_LOCAL;
        r = momentum_measure(&d, &watch);
        sph_at_most(run, names[i], "linear momentum, largest change", 100.0 * r.linear, 0.1, "%", "Newton");
        sph_at_most(run, names[i], "angular momentum, largest change", 100.0 * r.angular, 0.1, "%", "Newton");
        world_at_least(run, names[i], "share of the momentum handed over", r.transferred, 0.05, "", "it did hit");
        world_judge_health(run, names[i], &r.health);
    }
}

/* ---- [drag] ------------------------------------------------------------------------------------------------------ */

static drag_result drag_case(sph_run *run, const drag_desc *d, const char *name, sph_curve *curve) {
    world_progress progress;
    const truth_watch watch = world_watch(&progress, run, name, curve);
    const drag_result r = drag_measure(d, &watch);
    sph_value(run, name, "terminal speed", r.speed, "m/s");
    world_judge_health(run, name, &r.health);
    return r;
}

static void case_drag(sph_run *run) {
    static sph_curve curves[3];
    drag_desc stokes = {0.1, 0.03, 1.2, 1.0, 2000.0, 200.0, 1.5, 0.0f};
    drag_desc other = {0.12, 0.04, 0.72, 0.9, 2000.0, 1.0, 0.6, 1.0f};
    plot p = plot_make("A sphere sinks", "time, s", "speed, m/s");
    drag_result r, thin, thick;
    if (run->quick) stokes.spacing = 0.05, other.spacing = 0.05;
    r = drag_case(run, &stokes, "creeping sphere", &curves[0]);
    sph_value(run, "creeping sphere", "Reynolds number", r.reynolds, "");
    sph_value(run, "creeping sphere", "Stokes' speed without walls", r.stokes, "m/s");
    sph_at_most(run, "creeping sphere", "speed against Stokes with walls, difference",
                100.0 * fabs(r.speed / r.walled - 1.0), 20.0, "%", "Stokes 1851, walls by Francis 1933");
    thin = drag_case(run, &other, "sphere in 1 Pa s", &curves[1]);
    other.viscosity = 30.0;
    thick = drag_case(run, &other, "sphere in 30 Pa s", &curves[2]);
    sph_at_most(run, "30 times the viscosity", "speed over that in the thin one", thick.speed / thin.speed, 0.8, "",
                "spheres in thin and thick fluid (Becker et al. 2009)");
    sph_plot_curve(&p, "200 Pa s", &curves[0], PLOT_LINE);
    sph_plot_curve(&p, "1 Pa s", &curves[1], PLOT_LINE);
    sph_plot_curve(&p, "30 Pa s", &curves[2], PLOT_LINE);
    report_plot(run->report, &p, "world_drag");
}

static void case_slip(sph_run *run) {
    static const float slips[5] = {1.0f, 0.75f, 0.5f, 0.25f, 0.0f};
    slip_result r[5];
    int disorder = 0;
    for (int i = 0; i < 5; i++) {
        char name[SPH_NAME_MAX];
        (void)snprintf(name, sizeof name, "slip %.2f", (double)slips[i]);
        r[i] = slip_measure(slips[i], 2.0);
        sph_value(run, name, "on the ramp after 0.4 s", r[i].ramp, "m/s");
        sph_value(run, name, "on a belt of 1 m/s after 2 s", r[i].belt, "m/s");
        if (i > 0 && r[i].ramp > r[i - 1].ramp) disorder++;
    }
    report_at_most(run->report, "pairs in the wrong order on the ramp", disorder, 0, "", "slip ramp");
    report_at_most(run->report, "free slip on the ramp against g sin(20 deg) t, difference",
                   100.0 * fabs(r[0].ramp / r[0].free_slope - 1.0), 5.0, "%", "free fall along the slope");
    report_at_most(run->report, "no slip on the belt against its speed, difference",
                   100.0 * fabs(r[4].belt / r[4].belt_speed - 1.0), 2.0, "%", "no slip");
    report_at_most(run->report, "no slip on the ramp over free slip", 100.0 * fabs(r[4].ramp / r[0].free_slope), 2.0,
                   "%", "no slip");
}

/* ---- [pressure] -------------------------------------------------------------------------------------------------- */

static void case_laplace(sph_run *run) {
    static sph_curve curve;
    static const double overfull[2] = {1.1, 1.25};
    for (int i = 0; i < 2; i++) {
        laplace_desc d = {0.3, 0.03, 0, 10, 5.0};
        world_progress progress;
        truth_watch watch;
        laplace_result r;
        char name[SPH_NAME_MAX];
        d.overfull = overfull[i];
        if (run->quick) d.radius = 0.25, d.spacing = 0.05, d.frequency = 5;
        (void)snprintf(name, sizeof name, "balloon filled to %.2f of its volume", d.overfull);
        watch = world_watch(&progress, run, name, i ? &curve : NULL);
        r = laplace_measure(&d, &watch);
        sph_value(run, name, "stretch of the skin", r.stretch, "");
        sph_value(run, name, "pressure inside", r.pressure, "Pa");
        sph_value(run, name, "2 sigma / R", r.laplace, "Pa");
        sph_at_most(run, name, "pressure against Laplace's, difference", 100.0 * fabs(r.pressure / r.laplace - 1.0),
                    10.0, "%", "Laplace; sigma of the same skin blown up dry");
        sph_at_most(run, name, "leaked", (double)r.leaked, 0, "particles", "no leaks");
        world_judge_health(run, name, &r.health);
    }
}

/* ---- [skip] ------------------------------------------------------------------------------------------------------ */

static void case_skip(sph_run *run) {
    static sph_curve curve;
    skip_desc d = {0.04, 6.0, 0.8, 0.3, 8.0, 4.0};
    world_progress progress;
    const truth_watch watch = world_watch(&progress, run, "stone", &curve);
    plot p = plot_make("A stone skips", "time, s", "height of its middle above the surface, m");
    skip_result r;
    if (run->quick) d.spacing = 0.05, d.length = 4.0, d.width = 0.6;
    r = skip_measure(&d, &watch);
    world_at_least(run, "stone", "times it left the water again", r.leaves, 1, "", "stone skipping");
    sph_at_most(run, "stone", "height at the end", r.lowest, 0.5 * d.depth, "m", "it sinks in the end");
    world_judge_health(run, "stone", &r.health);
    sph_plot_curve(&p, "stone of 2 kg, 8 m/s", &curve, PLOT_LINE);
    report_plot(run->report, &p, "world_stone");
}

/* ---- [budget] by the CPU clock of this thread: the machine is shared --------------------------------------------- */

static uint64_t thread_ticks(void *user) {
    struct timespec t;
    (void)user;
    if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t) != 0) return 0;
    return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
}

/* 5.6K particles of a collapsing dam, a raft and a cloth: some 30 ms of CPU per frame. */
static isphpbd_world *budget_world(double deadline, host_body *raft) {
    fixture_mesh sheet = mesh_sheet(14, 0.7, 0.1, true);
    isphpbd_soft_desc cloth = world_soft_desc(&sheet, IPBD_COTTON);
    isphpbd_world_desc desc = world_desc(8000);
    isphpbd_body_desc box = isphpbd_body_desc_default();
    isphpbd_world *world;
    cloth.body.pose.position = isphpbd_v3(1.3f, 0.45f, 0.4f);
    world_count_soft(&desc, &cloth);
    desc.spacing = 0.045f;
    desc.clock.fn = thread_ticks, desc.ticks_per_second = 1e9;
    desc.budget.deadline_seconds = (float)deadline, desc.budget.steps_per_advance = 1;
    world = world_make(&desc);
    (void)world_room(world, vec3d_make(0, 0, 0), vec3d_make(1.8, 3.0, 0.8), 1.0f);
    (void)world_fill(world, world_water(world), vec3d_make(0, 0, 0), vec3d_make(0.8, 0.8, 0.8), vec3d_make(0, 0, 0));
    (void)world_soft(world, &cloth);
    box.shape = isphpbd_shape_box(0.12f, 0.06f, 0.12f), box.mass = 2.0f;
    box.motion = isphpbd_motion_at(isphpbd_v3(0.5f, 0.9f, 0.4f));
    *raft = host_make(world, &box);
    mesh_free(&sheet);
    return world;
}

typedef struct budget_result {
    double within, median, worst; /* share of frames within 1.1 deadlines; ms */
    double volume, compression;   /* error of the water's volume and mean compression, largest */
    double speed, slowdown;       /* m/s; seconds of frames over seconds of the world */
    int broken;
} budget_result;

enum { BUDGET_FRAMES = 600 };

static int by_size(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static double budget_volume(isphpbd_world *world) {
    sph_scene s;
    memset(&s, 0, sizeof s);
    s.fluid = isphpbd_world_fluids(world), s.dx = 0.045;
    s.size[0] = 1.8, s.size[1] = 3.0, s.size[2] = 0.8;
    return sph_volume(&s);
}

static budget_result budget_run(sph_run *run, double deadline, int frames, const char *name, sph_curve *curve) {
    static double took[BUDGET_FRAMES];
    host_body raft;
    isphpbd_world *world = budget_world(deadline, &raft);
    budget_result r;
    int steps = 0;
    memset(&r, 0, sizeof r);
    for (int i = 0; i < frames; i++) {
        uint64_t begin;
        isphpbd_step_info info;
        isphpbd_stats s;
        host_put(world, &raft);
        begin = thread_ticks(NULL);
        info = isphpbd_world_advance(world, WORLD_STEP);
        took[i] = 1e-6 * (double)(thread_ticks(NULL) - begin);
        steps += info.steps;
        if (info.steps > 0) host_take(world, &raft, vec3d_make(0.0, -WORLD_G, 0.0), (double)WORLD_STEP);
        s = isphpbd_world_stats(world);
        r.broken += world_broken(world, NULL, 0);
        r.compression = fmax(r.compression, (double)s.compression_mean);
        r.speed = fmax(r.speed, (double)s.max_speed);
        if (i % 30 == 29) {
            const double v = budget_volume(world);
            if (isfinite(v)) r.volume = fmax(r.volume, fabs(v - 1.0));
        }
        if (curve) sph_curve_add(curve, i / 60.0, took[i]);
        r.within += took[i] <= 1.1e3 * deadline ? 1.0 / frames : 0.0;
        sph_progress(run, name, i, frames);
    }
    qsort(took, (size_t)frames, sizeof *took, by_size);
    r.median = took[frames / 2], r.worst = took[frames - 1];
    r.slowdown = steps > 0 ? (double)frames / steps : 1e30;
    isphpbd_world_destroy(world);
    return r;
}

static void case_budget(sph_run *run) {
    static const double deadlines[4] = {2, 4, 8, 16};
    static sph_curve curves[4];
    static char names[4][SPH_NAME_MAX];
    const int frames = run->quick ? 120 : BUDGET_FRAMES;
    const budget_result whole = budget_run(run, 0.0, frames, "without a deadline", NULL);
    plot p = plot_make("Cost of frames under a deadline", "time, s", "CPU ms");
    sph_value(run, "without a deadline", "median frame", whole.median, "CPU ms");
    for (int i = 0; i < 4; i++) {
        budget_result r;
        (void)snprintf(names[i], sizeof names[i], "deadline %.0f ms", deadlines[i]);
        r = budget_run(run, 1e-3 * deadlines[i], frames, names[i], &curves[i]);
        world_at_least(run, names[i], "frames within 1.1 x the deadline", 100.0 * r.within, 99.0, "%",
                       "by the thread's CPU clock");
        sph_value(run, names[i], "median frame", r.median, "CPU ms");
        sph_value(run, names[i], "longest frame", r.worst, "CPU ms");
        sph_at_most(run, names[i], "volume of the water, largest error", 100.0 * r.volume, 5.0, "%", "no collapse");
        sph_at_most(run, names[i], "mean compression, largest", 100.0 * r.compression, 5.0, "%", "no collapse");
        sph_at_most(run, names[i], "top speed (free fall of 0.8 m: 4 m/s)", r.speed, 20.0, "m/s", "no explosion");
        sph_at_most(run, names[i], "particles not finite", r.broken, 0, "", "no explosion");
        sph_value(run, names[i], "seconds of frames per second of the world", r.slowdown, "");
        sph_plot_curve(&p, names[i], &curves[i], PLOT_LINE);
    }
    report_plot(run->report, &p, "world_budget");
}

/* ---- [snapshot] -------------------------------------------------------------------------------------------------- */

static void case_snapshot(sph_run *run) {
    mixed m = mixed_make(mixed_desc(), MIXED_ALL);
    uint64_t first, second;
    world_image image;
    int steps;
    (void)mixed_run(&m, 60);
    image = world_take_image(m.world), steps = m.steps;
    (void)mixed_run(&m, 300);
    first = isphpbd_world_hash(m.world);
    sph_at_most(run, "water, cloth, jelly, balloon, body, emitter", "image refused",
                isphpbd_world_load(m.world, image.bytes, image.size) != ISPHPBD_OK, 0, "", "it is its own");
    m.steps = steps;
    (void)mixed_run(&m, 300);
    second = isphpbd_world_hash(m.world);
    sph_at_most(run, "save, 300 steps, load, 300 steps", "differences of the hash", first != second, 0, "",
                "the same bits");
    sph_value(run, "image", "size", 1e-3 * (double)image.size, "kB");
    free(image.bytes), mixed_end(&m);
}

int main(int argc, char **argv) {
    static const sph_case cases[] = {{"weight", "Water in a pinned cloth: weight, rest, pressure", case_weight},
                                     {"float", "Archimedes: rigid and soft boxes", case_float},
                                     {"spheres", "Three spheres sink, hover, float (fig. 17)", case_spheres},
                                     {"momentum", "Momentum without gravity", case_momentum},
                                     {"drag", "Drag of a sphere", case_drag},
                                     {"slip", "Slip from free to none", case_slip},
                                     {"laplace", "Pressure in a balloon", case_laplace},
                                     {"skip", "A skipping stone", case_skip},
                                     {"budget", "Deadlines on a scene that needs more", case_budget},
                                     {"snapshot", "Snapshots resume", case_snapshot}};
    return sph_main(argc, argv, "World", cases, (int)(sizeof cases / sizeof *cases));
}
