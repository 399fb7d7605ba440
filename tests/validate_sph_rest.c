/* Validation of isphpbd_sph.h: kernels, and water at rest (a tank, deeper tanks, a pillar).
   SPDX-License-Identifier: MIT */
#define ISPH_IMPLEMENTATION
#include "sph_scenes.h"

/* ---- [kernels] --------------------------------------------------------------------------------------------------- */

static const char *const kernel_names[3] = {"Wendland C2", "cubic spline", "quartic spline"};

static double kernel_integral(isph_kernel kernel, float support) {
    enum { PARTS = 4000 }; /* of Simpson's rule over 4 pi r^2 W */
    double sum = 0.0, width = (double)support / PARTS;
    for (int i = 0; i <= PARTS; i++) {
        double r = width * i, weight = i == 0 || i == PARTS ? 1.0 : i % 2 ? 4.0 : 2.0;
        sum += weight * 4.0 * SPH_PI * r * r * (double)isph_kernel_value(kernel, (float)r, support);
    }
    return sum * width / 3.0;
}

/* Largest difference between r * slope and a central difference of the value, relative to the steepest slope. */
static double kernel_slope_error(isph_kernel kernel, float support) {
    double worst = 0.0, steepest = 0.0, step = 2e-3 * (double)support;
    for (int i = 1; i < 200; i++) {
        double r = (double)support * i / 200.0;
        double difference = ((double)isph_kernel_value(kernel, (float)(r + step), support) -
                             (double)isph_kernel_value(kernel, (float)(r - step), support)) /
                            (2.0 * step);
        worst = fmax(worst, fabs(difference - r * (double)isph_kernel_slope(kernel, (float)r, support)));
        steepest = fmax(steepest, fabs(difference));
    }
    return worst / steepest;
}

/* |g^ - g| / |g| of the x component of the pressure gradient, by the symmetric sum of eq. 6, at a particle of a cubic
   lattice of spacing 1 in the pressure p = x + y + z. */
static double gradient_error(isph_kernel kernel, double smoothing) {
    float support = (float)(smoothing / (double)isph_kernel_smoothing_length(kernel, 1.0f));
    int reach = (int)support + 1;
    double estimate = 0.0;
    for (int x = -reach; x <= reach; x++) {
        for (int y = -reach; y <= reach; y++) {
            for (int z = -reach; z <= reach; z++) {
                float r = (float)sqrt((double)(x * x + y * y + z * z));
                estimate -= (double)(x + y + z) * x * (double)isph_kernel_slope(kernel, r, support);
            }
        }
    }
    return fabs(estimate - 1.0);
}

static double largest_gradient_error(isph_kernel kernel, double from, double to) {
    double worst = 0.0;
    for (int i = 0; i <= 100; i++) worst = fmax(worst, gradient_error(kernel, from + (to - from) * i / 100.0));
    return worst;
}

static void plot_gradient_errors(sph_run *run) {
    static sph_curve curves[3];
    plot p = plot_make("Error of the pressure gradient on a cubic lattice (fig. 6)", "smoothing length / spacing",
                       "|g^ - g| / |g|");
    p.y.logarithmic = 1;
    for (int k = 0; k < 3; k++) {
        for (double s = 0.6; s < 3.0; s += 0.01) sph_curve_add(&curves[k], s, gradient_error((isph_kernel)k, s));
        sph_plot_curve(&p, kernel_names[k], &curves[k], PLOT_LINE);
    }
    report_plot(run->report, &p, "sph_kernel_gradient");
}

static void tell_gradient_errors(sph_run *run) {
    static const double lengths[5] = {1.0, 1.2, 1.5, 2.0, 3.0};
    for (int k = 0; k < 3; k++) {
        for (int i = 0; i < 5; i++) {
            char what[96];
            (void)snprintf(what, sizeof what, "%s, h = %.1f dx: gradient error", kernel_names[k], lengths[i]);
            report_value(run->report, what, gradient_error((isph_kernel)k, lengths[i]), "");
        }
    }
}

static void case_kernels(sph_run *run) {
    const char *source = "Abu Rumman et al. 2020, fig. 6: improves with h";
    double narrow = largest_gradient_error(ISPH_KERNEL_WENDLAND_C2, 1.0, 1.5);
    double wide = largest_gradient_error(ISPH_KERNEL_WENDLAND_C2, 1.5, 3.0);
    for (int k = 0; k < 3; k++) {
        sph_at_most(run, kernel_names[k], "|integral - 1|", fabs(kernel_integral((isph_kernel)k, 0.1f) - 1.0), 1e-5, "",
                    "definition");
        sph_at_most(run, kernel_names[k], "slope against finite difference", kernel_slope_error((isph_kernel)k, 0.1f),
                    1e-3, "", "definition");
    }
    report_at_most(run->report, "Wendland C2, h = 1 .. 1.5 dx: largest gradient error", narrow, 0.05, "", source);
    report_at_most(run->report, "Wendland C2, h = 1.5 .. 3 dx: largest gradient error", wide, 0.25 * narrow, "",
                   source);
    tell_gradient_errors(run);
    plot_gradient_errors(run);
}

/* ---- [tank] at rest ---------------------------------------------------------------------------------------------- */

/* Sums for a relative L2 error. */
typedef struct l2 {
    double error, expected;
} l2;

static void l2_add(l2 *sum, double value, double expected) {
    sum->error += (value - expected) * (value - expected);
    sum->expected += expected * expected;
}
static double l2_relative(const l2 *sum) { return sqrt(sum->error / sum->expected); }

/* What is gathered over the last third of a run. */
typedef struct rest {
    double from; /* s */
    l2 all, interior;
    double height, speed_square;
    int samples;
} rest;

/* The pressure at the depth below the surface that the mass implies. */
static double hydrostatic(const sph_scene *s, double y) {
    double depth = sph_depth(s) - y;
    return depth > 0.0 ? SPH_WATER * SPH_G * depth : 0.0;
}

static void rest_sample(sph_scene *s, void *user) {
    rest *sums = (rest *)user;
    isph_view v = isph_particles(s->fluid);
    sph_state m;
    double margin = 2.4 * s->dx, surface = sph_depth(s);
    if (s->seconds < sums->from) return;
    for (int i = 0; i < v.count; i++) {
        double y = (double)sph_x(&v, i)[1], expected = hydrostatic(s, y);
        l2_add(&sums->all, (double)v.pressure[i], expected);
        if (y > surface - margin || !sph_off_walls(s, &v, i, margin)) continue;
        l2_add(&sums->interior, (double)v.pressure[i], expected);
    }
    m = sph_measure(s);
    sums->height += m.height;
    sums->speed_square += m.speed_rms * m.speed_rms;
    sums->samples++;
}

static sph_scene rest_scene(double width, double breadth, double depth, float support) {
    isph_fluid_desc desc = isph_fluid_desc_default();
    sph_scene s;
    if (support > 0.0f) desc.support = support;
    s = sph_tank(&desc, width, depth + 2.0, breadth, 1.0);
    (void)sph_fill(&s, sph_water(&s), sph_v3(0, 0, 0), sph_v3(width, depth, breadth));
    return s;
}

/* A pool of `depth` at rest for `seconds`; the measures are of the last third. */
static rest rest_run(sph_run *run, sph_scene *s, const char *what, double seconds, double dt) {
    rest sums;
    memset(&sums, 0, sizeof sums);
    sums.from = seconds * 2.0 / 3.0;
    sph_advance(run, s, what, seconds, dt, rest_sample, &sums);
    sums.height /= sums.samples;
    return sums;
}

static double iterations_per_substep(const sph_scene *s) {
    isph_stats stats = isph_fluid_stats(s->fluid);
    return (double)(stats.total_pressure_iterations + stats.total_density_iterations) / (double)stats.total_substeps;
}

static void tank_at(sph_run *run, double dt, float support, int judge) {
    const char *source = "rho g h; limits from SPlisHSPlasH DFSPH on such a column";
    sph_scene s = rest_scene(1.0, 1.0, 0.8, support);
    rest sums;
    double all, interior, height, speed;
    char what[64];
    (void)snprintf(what, sizeof what, "dt = 1/%.0f s", 1.0 / dt);
    sums = rest_run(run, &s, what, 3.0, dt);
    all = l2_relative(&sums.all), interior = l2_relative(&sums.interior);
    height = fabs(sums.height / 0.8 - 1.0), speed = sqrt(sums.speed_square / sums.samples);
    report_text(run->report, "%s%s: %d particles, 3 s, %.1f iterations per substep.", what,
                judge ? "" : ", support 2.4 dx (for information)", isph_particles(s.fluid).count,
                iterations_per_substep(&s));
    if (judge) {
        report_at_most(run->report, "pressure, all particles, relative L2", 100 * all, 3.0, "%", source);
        report_at_most(run->report, "pressure, interior, relative L2", 100 * interior, 0.7, "%", source);
        report_at_most(run->report, "height, difference", 100 * height, 0.2, "%", source);
        report_at_most(run->report, "rms speed", speed, 0.02, "m/s", source);
    } else {
        report_value(run->report, "pressure, all particles, relative L2", 100 * all, "%");
        report_value(run->report, "pressure, interior, relative L2", 100 * interior, "%");
        report_value(run->report, "height, difference", 100 * height, "%");
        report_value(run->report, "rms speed", speed, "m/s");
    }
    report_value(run->report, "cost", s.cpu_seconds / 3.0, "CPU s per s");
    sph_end(&s);
}

static void case_tank(sph_run *run) {
    report_text(run->report,
                "1 m x 1 m, 0.8 m deep, dx = 0.05 m, at rest from the start; measured over the third second."
                " Interior: at least 2.4 dx from walls and surface.");
    tank_at(run, 1.0 / 120.0, 0.0f, 1);
    tank_at(run, 1.0 / 60.0, 0.0f, 1);
    tank_at(run, 1.0 / 120.0, 2.4f, 0);
    tank_at(run, 1.0 / 60.0, 2.4f, 0);
}

/* ---- [depth] of the tank and the solver's iterations ------------------------------------------------------------- */

static double depth_iterations(sph_run *run, int layers) {
    double depth = 0.05 * layers, iterations;
    sph_scene s = rest_scene(0.5, 0.5, depth, 0.0f);
    sph_advance(run, &s, "layers", 1.0, 1.0 / 120.0, NULL, NULL);
    iterations = iterations_per_substep(&s);
    sph_end(&s);
    return iterations;
}

static void case_depth(sph_run *run) {
    static const int layers[3] = {10, 20, 40};
    double iterations[3];
    for (int i = 0; i < 3; i++) {
        char what[64];
        iterations[i] = depth_iterations(run, layers[i]);
        (void)snprintf(what, sizeof what, "%d layers: iterations per substep, both solves", layers[i]);
        report_value(run->report, what, iterations[i], "");
    }
    report_at_most(run->report, "iterations at 40 layers / at 10 layers", iterations[2] / iterations[0], 1.5, "",
                   "DFSPH's Jacobi iterations grow with depth without bound");
}

/* ---- [pillar] ---------------------------------------------------------------------------------------------------- */

enum { PILLAR_BINS = 100 };

/* Mean pressure in layers of equal height. */
static void pillar_profile(const sph_scene *s, double depth, sph_curve *profile) {
    isph_view v = isph_particles(s->fluid);
    double sum[PILLAR_BINS] = {0.0};
    int count[PILLAR_BINS] = {0};
    for (int i = 0; i < v.count; i++) {
        int bin = (int)((double)sph_x(&v, i)[1] / depth * PILLAR_BINS);
        if (bin < 0 || bin >= PILLAR_BINS) continue;
        sum[bin] += (double)v.pressure[i];
        count[bin]++;
    }
    for (int b = 0; b < PILLAR_BINS; b++) {
        if (count[b]) sph_curve_add(profile, (b + 0.5) / PILLAR_BINS * depth, sum[b] / count[b] / 1000.0);
    }
}

static void case_pillar(sph_run *run) {
    static sph_curve computed, expected;
    const char *source = "Abu Rumman et al. 2020, section 8.2: 1.19e-3 at t = 350";
    double depth = 5.0;
    sph_scene s = rest_scene(0.75, run->quick ? 0.5 : 1.0, depth, 0.0f);
    rest sums;
    plot p = plot_make("Pillar of 5 m: pressure at the end", "height, m", "pressure, kPa");
    report_text(run->report, "%d particles, dx = 0.05 m, 350 steps of 1/60 s.", isph_particles(s.fluid).count);
    sums = rest_run(run, &s, "350 steps", 350.0 / 60.0, 1.0 / 60.0);
    report_at_most(run->report, "volume loss at the end", 1.0 - sph_measure(&s).height / depth, 1.19e-3, "", source);
    report_at_most(run->report, "volume change, last third, absolute", fabs(sums.height / depth - 1.0), 1.19e-3, "",
                   source);
    report_value(run->report, "pressure, all particles, relative L2", 100 * l2_relative(&sums.all), "%");
    report_value(run->report, "pressure, interior, relative L2", 100 * l2_relative(&sums.interior), "%");
    report_value(run->report, "rms speed", sqrt(sums.speed_square / sums.samples), "m/s");
    pillar_profile(&s, depth, &computed);
    for (int b = 0; b <= 1; b++) sph_curve_add(&expected, b * depth, SPH_WATER * SPH_G * depth * (1 - b) / 1000.0);
    sph_plot_curve(&p, "computed", &computed, PLOT_POINTS);
    sph_plot_curve(&p, "rho g h", &expected, PLOT_LINE);
    report_plot(run->report, &p, "sph_pillar_pressure");
    sph_end(&s);
}

int main(int argc, char **argv) {
    static const sph_case cases[] = {
        {"kernels", "Kernels", case_kernels},
        {"tank", "Tank at rest", case_tank},
        {"depth", "Iterations over the depth of the tank", case_depth},
        {"pillar", "Pillar of 5 m", case_pillar},
    };
    return sph_main(argc, argv, "Fluid: kernels and water at rest", cases, (int)(sizeof cases / sizeof cases[0]));
}
