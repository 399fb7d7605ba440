/* sph_scenes.h - what the validations of isphpbd_sph.h share: the choice of cases, tanks, stepping with progress, and
   measures of volume, pressure and energy. Only the public interface is used. Include it first, with
   ISPH_IMPLEMENTATION defined. C99.
   SPDX-License-Identifier: MIT

   A program is a table of cases and one call of sph_main(). Options, besides those of report.h:
   --list prints the cases, --only NAME runs one, --quick takes fewer and larger particles (limits may then fail). */
#ifndef SPH_SCENES_H
#define SPH_SCENES_H

#include "timing.h"

#include "isphpbd_sph.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"

#if defined(__GNUC__)
#define SPH_FN static __attribute__((unused))
#else
#define SPH_FN static
#endif

static const double SPH_G = 9.81, SPH_WATER = 1000.0, SPH_PI = 3.14159265358979323846;

/* ---- [cases] ----------------------------------------------------------------------------------------------------- */

typedef struct sph_run {
    report *report;
    const char *name; /* of the case under way */
    int quick;
    double began, told; /* wall seconds: of the run under way, and of the last progress line */
} sph_run;

typedef struct sph_case {
    const char *name, *title;
    void (*run)(sph_run *run);
} sph_case;

typedef struct sph_options {
    const char *only;
    int list, quick;
} sph_options;

/* Takes the options of this file out of argv; report_open() reads the rest. Returns the new argc. */
SPH_FN int sph_take_options(int argc, char **argv, sph_options *options) {
    int kept = 1;
    memset(options, 0, sizeof *options);
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--list") == 0) options->list = 1;
        else if (strcmp(argv[i], "--quick") == 0) options->quick = 1;
        else if (strcmp(argv[i], "--only") == 0 && i + 1 < argc) options->only = argv[++i];
        else argv[kept++] = argv[i];
    }
    return kept;
}

SPH_FN int sph_find_case(const sph_case *cases, int count, const char *name) {
    for (int i = 0; i < count; i++) {
        if (strcmp(cases[i].name, name) == 0) return i;
    }
    return -1;
}

SPH_FN void sph_run_case(report *r, const sph_case *chosen, int quick) {
    sph_run run;
    double begin = timing_wall_seconds();
    memset(&run, 0, sizeof run);
    run.report = r;
    run.name = chosen->name;
    run.quick = quick;
    report_text(r, "### %s", chosen->title);
    chosen->run(&run);
    report_progress(r, "%s: done after %.0f s", chosen->name, timing_wall_seconds() - begin);
}

/* The main function of a validation program. */
SPH_FN int sph_main(int argc, char **argv, const char *title, const sph_case *cases, int count) {
    sph_options options;
    report r;
    int kept = sph_take_options(argc, argv, &options), first = 0, last = count;
    if (options.list) {
        for (int i = 0; i < count; i++) printf("%-12s %s\n", cases[i].name, cases[i].title);
        return 0;
    }
    if (options.only) {
        first = sph_find_case(cases, count, options.only);
        last = first + 1;
        if (first < 0) {
            fprintf(stderr, "%s: no case %s; --list names them\n", argv[0], options.only);
            return 2;
        }
    }
    if (!report_open(&r, kept, argv, title)) return 2;
    for (int i = first; i < last; i++) sph_run_case(&r, &cases[i], options.quick);
    return report_close(&r);
}

/* A progress line every few seconds: the case, what it runs, how far it is, and the time left. */
SPH_FN void sph_progress(sph_run *run, const char *what, int step, int steps) {
    double now = timing_wall_seconds(), done = (double)(step + 1) / (double)steps;
    if (step == 0) run->began = run->told = now;
    if (now - run->told < 5.0) return;
    run->told = now;
    report_progress(run->report, "  %s, %s: %.0f %%, %.0f s left", run->name, what, 100.0 * done,
                    (now - run->began) * (1.0 - done) / done);
}

/* ---- [figures] named "run: figure", as report.h has them --------------------------------------------------------- */

enum { SPH_NAME_MAX = 64, SPH_LABEL_MAX = 192 };

SPH_FN const char *sph_label(char *label, const char *name, const char *what) {
    (void)snprintf(label, SPH_LABEL_MAX, "%.63s: %.120s", name, what);
    return label;
}
SPH_FN void sph_value(sph_run *run, const char *name, const char *what, double value, const char *unit) {
    char label[SPH_LABEL_MAX];
    report_value(run->report, sph_label(label, name, what), value, unit);
}
SPH_FN void sph_at_most(sph_run *run, const char *name, const char *what, double value, double limit, const char *unit,
                        const char *source) {
    char label[SPH_LABEL_MAX];
    (void)report_at_most(run->report, sph_label(label, name, what), value, limit, unit, source);
}

/* ---- [curves] for plots ------------------------------------------------------------------------------------------ */

enum { SPH_CURVE_MAX = 2048 };
typedef struct sph_curve {
    double x[SPH_CURVE_MAX], y[SPH_CURVE_MAX];
    int count;
} sph_curve;

SPH_FN void sph_curve_add(sph_curve *c, double x, double y) {
    if (c->count >= SPH_CURVE_MAX) return;
    c->x[c->count] = x;
    c->y[c->count++] = y;
}

SPH_FN void sph_plot_curve(plot *p, const char *label, const sph_curve *c, int style) {
    plot_add(p, label, c->x, c->y, c->count, style);
}

/* y at x, straight between the points; NAN outside of them. x must ascend. */
SPH_FN double sph_curve_at(const sph_curve *c, double x) {
    for (int i = 1; i < c->count; i++) {
        double share = (x - c->x[i - 1]) / (c->x[i] - c->x[i - 1]);
        if (share >= 0.0 && share <= 1.0) return c->y[i - 1] + share * (c->y[i] - c->y[i - 1]);
    }
    return (double)NAN;
}

/* ---- [scenes] a fluid in a tank from the origin to `size` -------------------------------------------------------- */

typedef struct sph_scene {
    isph_fluid *fluid;
    double dx, size[3];
    double seconds;     /* simulated so far */
    double cpu_seconds; /* spent in stepping */
    double top_speed;   /* m/s, of any particle after any step */
    int broken;         /* particles with a number that is not finite, summed over all steps */
    uint32_t flags;     /* of all steps together */
} sph_scene;

SPH_FN void sph_demand(int good, const char *what) {
    if (good) return;
    fprintf(stderr, "cannot %s\n", what);
    exit(2);
}

SPH_FN isphpbd_vec3 sph_v3(double x, double y, double z) { return isphpbd_v3((float)x, (float)y, (float)z); }

/* No walls yet. */
SPH_FN sph_scene sph_open(const isph_fluid_desc *desc) {
    sph_scene s;
    memset(&s, 0, sizeof s);
    s.fluid = isph_fluid_create(desc, NULL);
    sph_demand(s.fluid != NULL, "create a fluid");
    s.dx = (double)desc->spacing;
    return s;
}

/* A closed box; `grip` is the viscous_grip of its walls: 0 is free slip. */
SPH_FN sph_scene sph_tank(const isph_fluid_desc *desc, double x, double y, double z, double grip) {
    sph_scene s = sph_open(desc);
    isph_boundary_desc walls = isph_boundary_desc_default();
    s.size[0] = x, s.size[1] = y, s.size[2] = z;
    walls.shape = ISPH_SHAPE_BOX;
    walls.container = true;
    walls.half_extents = walls.position = sph_v3(0.5 * x, 0.5 * y, 0.5 * z);
    walls.viscous_grip = (float)grip;
    sph_demand(isph_boundary_create(s.fluid, &walls, NULL).id != 0, "create the tank");
    return s;
}

/* One plane of a tank with different walls, named by where it stands. */
typedef enum sph_side { SPH_FLOOR, SPH_CEILING, SPH_LEFT, SPH_RIGHT, SPH_BACK, SPH_FRONT } sph_side;

SPH_FN void sph_plane(const sph_scene *s, sph_side side, isphpbd_vec3 position, double grip, double friction,
                      double speed_x) {
    static const float h = 0.70710678f;
    const isphpbd_quat turns[6] = {{0, 0, 0, 1}, {1, 0, 0, 0}, {0, 0, -h, h},
                                   {0, 0, h, h}, {h, 0, 0, h}, {-h, 0, 0, h}};
    isph_boundary_desc desc = isph_boundary_desc_default();
    desc.position = position;
    desc.rotation = turns[side];
    desc.viscous_grip = (float)grip;
    desc.friction = (float)friction;
    desc.linear_velocity = sph_v3(speed_x, 0, 0);
    sph_demand(isph_boundary_create(s->fluid, &desc, NULL).id != 0, "create a plane");
}

SPH_FN void sph_end(sph_scene *s) {
    isph_fluid_destroy(s->fluid);
    s->fluid = NULL;
}

SPH_FN isph_material sph_material(const sph_scene *s, isph_material_desc desc) {
    isph_material material = isph_material_create(s->fluid, &desc, NULL);
    sph_demand(material.id != 0, "create a material");
    return material;
}
SPH_FN isph_material sph_water(const sph_scene *s) { return sph_material(s, isph_material_desc_default()); }

/* Fills a box at rest; returns the number of particles. */
SPH_FN int sph_fill(const sph_scene *s, isph_material material, isphpbd_vec3 lo, isphpbd_vec3 hi) {
    int added = 0;
    isphpbd_result result = isph_particles_add_box(s->fluid, material, lo, hi, isphpbd_v3(0.0f, 0.0f, 0.0f), &added);
    sph_demand(result == ISPHPBD_OK, "fill a box");
    return added;
}

/* ---- [views] of particle i --------------------------------------------------------------------------------------- */

SPH_FN const float *sph_x(const isph_view *v, int i) {
    return (const float *)(const void *)((const char *)v->position + (size_t)i * v->stride_bytes);
}
SPH_FN const float *sph_u(const isph_view *v, int i) {
    return (const float *)(const void *)((const char *)v->velocity + (size_t)i * v->stride_bytes);
}
SPH_FN double sph_square(const float *a) {
    return (double)a[0] * (double)a[0] + (double)a[1] * (double)a[1] + (double)a[2] * (double)a[2];
}

/* ---- [stepping] -------------------------------------------------------------------------------------------------- */

SPH_FN void sph_step(sph_scene *s, double dt) {
    double begin = timing_cpu_seconds(), fastest = 0.0;
    isphpbd_result why = ISPHPBD_OK;
    isph_view v;
    s->flags |= isph_fluid_step(s->fluid, (float)dt, &why);
    s->cpu_seconds += timing_cpu_seconds() - begin;
    sph_demand(why == ISPHPBD_OK, "step the fluid");
    s->seconds += dt;
    v = isph_particles(s->fluid);
    for (int i = 0; i < v.count; i++) {
        double square = sph_square(sph_u(&v, i)), place = sph_square(sph_x(&v, i));
        if (!(square + place < 1e30)) s->broken++;
        if (square > fastest) fastest = square;
    }
    s->top_speed = fmax(s->top_speed, sqrt(fastest));
}

/* Steps for `seconds`, calling after() (may be NULL) after every step. */
SPH_FN void sph_advance(sph_run *run, sph_scene *s, const char *what, double seconds, double dt,
                        void (*after)(sph_scene *s, void *user), void *user) {
    int steps = (int)(seconds / dt + 0.5);
    for (int i = 0; i < steps; i++) {
        sph_step(s, dt);
        if (after) after(s, user);
        sph_progress(run, what, i, steps);
    }
}

/* ---- [measures] -------------------------------------------------------------------------------------------------- */

typedef struct sph_state {
    double height;             /* m, twice the mean height: the depth of a pool at rest */
    double centre_x;           /* m, mean */
    double speed_rms;          /* m/s */
    double lost;               /* share of the volume missing where the density is above that at rest */
    double kinetic, potential; /* J per kg, gravity along -y */
} sph_state;

SPH_FN sph_state sph_measure(const sph_scene *s) {
    isph_view v = isph_particles(s->fluid);
    sph_state m;
    double n = v.count > 0 ? (double)v.count : 1.0, square = 0.0;
    memset(&m, 0, sizeof m);
    for (int i = 0; i < v.count; i++) {
        double density = (double)v.density[i];
        m.height += 2.0 * (double)sph_x(&v, i)[1] / n;
        m.centre_x += (double)sph_x(&v, i)[0] / n;
        square += sph_square(sph_u(&v, i)) / n;
        if (!(density <= 1.0)) m.lost += (1.0 - 1.0 / density) / n;
    }
    m.speed_rms = sqrt(square);
    m.kinetic = 0.5 * square;
    m.potential = 0.5 * SPH_G * m.height;
    return m;
}

/* Depth of all particles as a pool at rest in the tank, by their mass. */
SPH_FN double sph_depth(const sph_scene *s) {
    return (double)isph_particles(s->fluid).count * s->dx * s->dx * s->dx / (s->size[0] * s->size[2]);
}

/* Whether particle i is farther than `margin` from the tank's walls. */
SPH_FN int sph_off_walls(const sph_scene *s, const isph_view *v, int i, double margin) {
    for (int k = 0; k < 3; k++) {
        double x = (double)sph_x(v, i)[k];
        if (x < margin || x > s->size[k] - margin) return 0;
    }
    return 1;
}

/* Sums over the neighbours of particle i with a Wendland kernel of three spacings, wider than the solver's own and
   independent of it: the density, and the gradient of the colour field, which tells a free surface near. */
enum { SPH_NEIGHBOURS_MAX = 1024 };
typedef struct sph_local {
    double density, facing; /* relative to rest if all around is fluid; |gradient| times the spacing */
} sph_local;

SPH_FN sph_local sph_look_around(const sph_scene *s, const isph_grid *grid, const isph_view *v, int i) {
    static const double lattice_density = 1.0031; /* the same sum on a cubic lattice at rest */
    float reach = (float)(3.0 * s->dx);
    double volume = s->dx * s->dx * s->dx, gradient[3] = {0.0, 0.0, 0.0};
    int near[SPH_NEIGHBOURS_MAX], count = isph_grid_neighbours(grid, i, near, SPH_NEIGHBOURS_MAX);
    sph_local local = {(double)isph_kernel_value(ISPH_KERNEL_WENDLAND_C2, 0.0f, reach), 0.0};
    if (count > SPH_NEIGHBOURS_MAX) count = SPH_NEIGHBOURS_MAX;
    for (int n = 0; n < count; n++) {
        float away[3], r, slope;
        for (int k = 0; k < 3; k++) away[k] = sph_x(v, i)[k] - sph_x(v, near[n])[k];
        r = (float)sqrt(sph_square(away));
        slope = isph_kernel_slope(ISPH_KERNEL_WENDLAND_C2, r, reach);
        local.density += (double)isph_kernel_value(ISPH_KERNEL_WENDLAND_C2, r, reach);
        for (int k = 0; k < 3; k++) gradient[k] += (double)(slope * away[k]);
    }
    local.density *= volume / lattice_density;
    local.facing =
        volume * s->dx * sqrt(gradient[0] * gradient[0] + gradient[1] * gradient[1] + gradient[2] * gradient[2]);
    return local;
}

/* Volume of the fluid relative to rest, from the particles that have fluid all around: the mean of 1/density over those
   three spacings off the walls and with no free surface within about two (spray, less than 0.8 dense with no surface to
   be seen, is none of them). NAN when there are fewer than 30. */
SPH_FN double sph_volume(const sph_scene *s) {
    isph_view v = isph_particles(s->fluid);
    isph_grid_desc desc = isph_grid_desc_default();
    isph_grid *grid;
    double sum = 0.0;
    int bulk = 0;
    desc.capacity = v.count;
    desc.radius = (float)(3.0 * s->dx);
    grid = isph_grid_create(&desc, NULL);
    sph_demand(grid && isph_grid_build(grid, v.position, v.stride_bytes, v.count) == ISPHPBD_OK, "build a grid");
    for (int i = 0; i < v.count; i++) {
        sph_local local;
        if (!sph_off_walls(s, &v, i, 3.0 * s->dx)) continue;
        local = sph_look_around(s, grid, &v, i);
        if (local.facing > 0.05 || local.density < 0.8) continue;
        sum += 1.0 / local.density;
        bulk++;
    }
    isph_grid_destroy(grid);
    return bulk < 30 ? (double)NAN : sum / bulk;
}

#endif /* SPH_SCENES_H */
