/* world_truths.h - the scenes by which isphpbd.h is measured: each is a desc of sizes, a run and a result of plain
   numbers. Tests run them small and short, tests/validate_world*.c in full. Include after world_leaks.h.
   SPDX-License-Identifier: MIT

   Contents: [basin] [stream] [balloon] [cup] [float] [momentum] [drag] [slip] [laplace] [skip] [budget] */
#ifndef WORLD_TRUTHS_H
#define WORLD_TRUTHS_H

#include "world_leaks.h"

static const double WORLD_WATER = 1000.0; /* kg/m^3 */

/* Called after every step with the time so far: progress and curves. May be NULL. */
typedef struct truth_watch {
    void (*fn)(void *user, double seconds, double share_done, double figure);
    void *user;
} truth_watch;

FIXTURE_FN void truth_tell(const truth_watch *watch, double seconds, double all, double figure) {
    if (watch && watch->fn) watch->fn(watch->user, seconds, seconds / all, figure);
}

/* What is said of every run: nothing broke and nothing was lost without a word. */
typedef struct truth_health {
    int broken;              /* numbers that are not finite, summed over all steps */
    int64_t culled, missing; /* missing: added + emitted - removed - culled - left */
    double top_speed;        /* m/s */
    uint32_t flags;
} truth_health;

FIXTURE_FN void health_step(truth_health *h, const isphpbd_world *world, const isphpbd_soft *soft, uint32_t flags) {
    const isphpbd_points p = isphpbd_fluid_points(world);
    h->broken += world_broken(world, soft, soft ? 1 : 0);
    h->top_speed = fmax(h->top_speed, points_top_speed(&p));
    h->flags |= flags;
}
FIXTURE_FN void health_end(truth_health *h, const isphpbd_world *world, int added) {
    const isphpbd_stats s = isphpbd_world_stats(world);
    h->culled = s.total_culled;
    h->missing = added + s.total_emitted - s.total_removed - s.total_culled - s.fluid_particles;
}

/* ---- [basin] water in a cloth whose border is pinned ------------------------------------------------------------- */

typedef struct basin_desc {
    double areal_mass;      /* kg/m^2 */
    double spacing;         /* m */
    double settle, measure; /* s */
} basin_desc;
typedef struct basin_result {
    double load, load_deviation; /* of the pins over the weight of water and cloth, mean and standard deviation */
    double cloth_speed;          /* m/s, rms while measuring */
    double pressure;             /* of the lowest water in the middle over rho g h */
    double gap;                  /* spacings between the lowest layer in the middle and the cloth */
    double crowding;             /* density of the water touching the cloth over that at rest, largest */
    int64_t leaked;
    int particles;
    truth_health health;
} basin_result;

static const double BASIN_WIDTH = 1.0, BASIN_SAG = 0.32, BASIN_LEVEL = -0.1;

FIXTURE_FN double basin_cloth(double x, double z) {
    const double u = 2.0 * x / BASIN_WIDTH, v = 2.0 * z / BASIN_WIDTH;
    return -BASIN_SAG * (1.0 - u * u) * (1.0 - v * v);
}

/* Fills the dish up to its level; returns how many particles that made. */
FIXTURE_FN int basin_fill(isphpbd_world *world, isphpbd_fluid water, double dx) {
    const int n = (int)(BASIN_WIDTH / dx), layers = (int)((BASIN_LEVEL + BASIN_SAG) / dx);
    float *xyz = (float *)malloc(sizeof(float) * 3 * (size_t)(n * n * layers + 1));
    int count = 0;
    isphpbd_result why;
    for (int i = 0; i < n * n * layers; i++) {
        const double x = (i % n - 0.5 * (n - 1)) * dx, z = (i / n % n - 0.5 * (n - 1)) * dx;
        const double y = BASIN_LEVEL - (i / (n * n) + 0.5) * dx;
        if (y < basin_cloth(x, z) + 0.75 * dx) continue;
        xyz[3 * count] = (float)x, xyz[3 * count + 1] = (float)y, xyz[3 * count + 2] = (float)z, count++;
    }
    why = isphpbd_fluid_add(world, water, xyz, 12, NULL, 0, count, NULL);
    world_demand(why == ISPHPBD_OK, "fill the basin", why);
    free(xyz);
    return count;
}

FIXTURE_FN double basin_load(isphpbd_world *world, isphpbd_soft soft, const fixture_mesh *m) {
    double sum = 0.0;
    for (int i = 0; i < m->pin_count; i++) {
        isphpbd_vec3 force;
        (void)ipbd_pin_force(isphpbd_world_softs(world), isphpbd_soft_body(world, soft), (int)m->pins[i], &force);
        sum -= (double)force.y;
    }
    return sum;
}

typedef struct basin_run {
    leak_watch leaks;
    const fixture_mesh *mesh;
    bool measuring;
    double load, load2;
    int samples;
} basin_run;

FIXTURE_FN void basin_on_substep(const isphpbd_world *world, float seconds, void *user) {
    basin_run *run = (basin_run *)user;
    double load;
    leak_on_substep(world, seconds, &run->leaks);
    if (!run->measuring) return;
    load = basin_load(run->leaks.world, run->leaks.soft, run->mesh);
    run->load += load, run->load2 += load * load, run->samples++;
}

/* Water in the middle: its surface, and what the particles of the lowest layer there say. */
FIXTURE_FN void basin_look(isphpbd_world *world, isphpbd_soft soft, double dx, basin_result *r) {
    const isph_view v = isph_particles(isphpbd_world_fluids(world));
    const isphpbd_points cloth = isphpbd_soft_points(world, soft);
    double top = -1e30, low = 1e30, floor_y = 1e30, pressure = 0.0, expected = 0.0;
    for (int i = 0; i < v.count; i++) {
        const float *p = view_position(&v, i);
        if (hypot((double)p[0], (double)p[2]) > 3.0 * dx) continue;
        top = fmax(top, (double)p[1]), low = fmin(low, (double)p[1]);
    }
    for (int i = 0; i < cloth.count; i++) floor_y = fmin(floor_y, points_position(&cloth, i).y);
    for (int i = 0; i < v.count; i++) {
        const float *p = view_position(&v, i);
        if (hypot((double)p[0], (double)p[2]) > 3.0 * dx || (double)p[1] > low + 1.5 * dx) continue;
        pressure += (double)v.pressure[i];
        expected += WORLD_WATER * WORLD_G * (top + 0.5 * dx - (double)p[1]);
        r->crowding = fmax(r->crowding, (double)v.density[i]);
    }
    r->pressure += pressure / expected, r->gap += (low - floor_y) / dx;
}

FIXTURE_FN basin_result basin_measure(const basin_desc *d, const truth_watch *watch) {
    const double all = d->settle + d->measure;
    fixture_mesh m = mesh_sheet((int)(BASIN_WIDTH / (2.0 * d->spacing)), BASIN_WIDTH, BASIN_SAG, true);
    isphpbd_soft_desc cloth = world_soft_desc(&m, IPBD_COTTON);
    isphpbd_world_desc desc = world_desc(16384);
    basin_run run;
    basin_result r;
    isphpbd_world *world;
    double weight, steps = 0.0;
    memset(&r, 0, sizeof r), memset(&run, 0, sizeof run);
    cloth.body.density = (float)d->areal_mass;
    world_count_soft(&desc, &cloth);
    desc.spacing = (float)d->spacing;
    desc.on_substep.fn = basin_on_substep, desc.on_substep.user = &run;
    world = world_make(&desc);
    leak_open(&run.leaks.counter, 16384);
    run.leaks.counter.has_lid = true, run.leaks.counter.lid_half = 0.5 * BASIN_WIDTH, run.mesh = &m;
    run.leaks.soft = world_soft(world, &cloth), run.leaks.world = world;
    r.particles = basin_fill(world, world_water(world), d->spacing);
    for (double t = 0.0; t < all; t += (double)WORLD_STEP) {
        run.measuring = t >= d->settle;
        health_step(&r.health, world, &run.leaks.soft, isphpbd_world_step(world, WORLD_STEP).flags);
        if (run.measuring) {
            const isphpbd_points p = isphpbd_soft_points(world, run.leaks.soft);
            r.cloth_speed += points_rms_speed(&p) * points_rms_speed(&p);
            basin_look(world, run.leaks.soft, d->spacing, &r);
            steps += 1.0;
        }
        truth_tell(watch, t, all, run.samples ? run.load / run.samples : 0.0);
    }
    weight = WORLD_G * (r.particles * WORLD_WATER * pow(d->spacing, 3.0) +
                        ipbd_body_mass(isphpbd_world_softs(world), isphpbd_soft_body(world, run.leaks.soft)));
    r.load = run.load / run.samples / weight;
    r.load_deviation = sqrt(fmax(run.load2 / run.samples / (weight * weight) - r.load * r.load, 0.0));
    r.cloth_speed = sqrt(r.cloth_speed / steps), r.pressure /= steps, r.gap /= steps;
    r.leaked = run.leaks.counter.leaked;
    health_end(&r.health, world, r.particles);
    isphpbd_world_destroy(world);
    leak_close(&run.leaks.counter), mesh_free(&m);
    return r;
}

/* ---- [stream] a jet on an elastic sheet in a frame --------------------------------------------------------------- */

typedef struct stream_desc {
    double speed;     /* m/s */
    double triangles; /* edge in spacings */
    double seconds;
    ipbd_elasticity stretch;
    bool wet; /* false: water passes, and the counter must say so */
} stream_desc;
typedef struct leak_result {
    int64_t leaked, looked, substeps, seen;
    int most_inside;
    truth_health health;
} leak_result;

FIXTURE_FN leak_result leak_result_of(const leak_watch *w) {
    leak_result r;
    memset(&r, 0, sizeof r);
    r.leaked = w->counter.leaked, r.looked = w->counter.looked, r.substeps = w->counter.substeps;
    r.seen = w->counter.seen, r.most_inside = w->counter.most_inside;
    return r;
}

FIXTURE_FN void stream_emitter(isphpbd_world *world, double speed) {
    isphpbd_emitter_desc desc = isphpbd_emitter_desc_default();
    isphpbd_result why = ISPHPBD_OK;
    const isphpbd_shape drain = isphpbd_shape_box(10.0f, 1.0f, 10.0f);
    desc.fluid = world_water(world);
    desc.position = isphpbd_v3(0.03f, 0.5f, -0.02f), desc.direction = isphpbd_v3(0.1f, -1.0f, 0.05f);
    desc.radius = 0.1f, desc.speed = (float)speed, desc.lifetime = 1.5f;
    world_demand(isphpbd_emitter_create(world, &desc, &why).id != 0, "create an emitter", why);
    world_demand(isphpbd_sink_create(world, &drain, isphpbd_pose_at(isphpbd_v3(0, -4.0f, 0)), ~0u, &why).id != 0,
                 "create a sink", why);
}

FIXTURE_FN leak_result stream_measure(const stream_desc *d, const truth_watch *watch) {
    const double dx = 0.05, width = 1.0;
    fixture_mesh m = mesh_sheet((int)(width / (d->triangles * dx) + 0.5), width, 0.0, true);
    isphpbd_soft_desc sheet = world_soft_desc(&m, IPBD_COTTON);
    isphpbd_world_desc desc = world_desc(24000);
    leak_watch leaks;
    leak_result r;
    isphpbd_world *world;
    truth_health health;
    memset(&leaks, 0, sizeof leaks), memset(&health, 0, sizeof health);
    sheet.body.stretch = d->stretch, sheet.body.density = 0.3f, sheet.wet = d->wet;
    world_count_soft(&desc, &sheet);
    desc.on_substep.fn = leak_on_substep, desc.on_substep.user = &leaks;
    world = world_make(&desc);
    leak_open(&leaks.counter, 24000);
    leaks.counter.has_lid = true, leaks.counter.lid_half = 0.5 * width;
    leaks.soft = world_soft(world, &sheet), leaks.world = world;
    stream_emitter(world, d->speed);
    for (double t = 0.0; t < d->seconds; t += (double)WORLD_STEP) {
        health_step(&health, world, &leaks.soft, isphpbd_world_step(world, WORLD_STEP).flags);
        truth_tell(watch, t, d->seconds, (double)leaks.counter.leaked);
    }
    r = leak_result_of(&leaks);
    health_end(&health, world, 0);
    r.health = health;
    isphpbd_world_destroy(world);
    leak_close(&leaks.counter), mesh_free(&m);
    return r;
}

/* ---- [balloon] full of water, dropped ---------------------------------------------------------------------------- */

typedef struct balloon_desc {
    double radius, spacing; /* m */
    int frequency;          /* of the geodesic sphere: 30 frequency^2 edges */
    double stiffness, height, seconds;
    double gap; /* spacings between skin and first water: so that water and skin have the same volume */
} balloon_desc;
typedef struct balloon_result {
    leak_result leaks;
    int particles, edges;
    double volume_at_rest; /* at the end over that in flight, weightless */
    double volume_worst;   /* largest change since then */
    double bounce;         /* m: how far the middle rose again after its lowest place */
    double flight_speed;   /* m/s, rms of the water against its mean while it falls: weightless, it is at rest */
    double rest_speed;     /* m/s, rms of the water at the end */
} balloon_result;

/* Root mean square of the velocities less their mean. */
FIXTURE_FN double balloon_unrest(const isphpbd_points *p) {
    vec3d mean = vec3d_make(0, 0, 0);
    double sum = 0.0;
    for (int i = 0; i < p->count; i++) mean = vec3d_add(mean, vec3d_scale(points_velocity(p, i), 1.0 / p->count));
    for (int i = 0; i < p->count; i++) {
        const vec3d u = vec3d_sub(points_velocity(p, i), mean);
        sum += vec3d_dot(u, u) / p->count;
    }
    return sqrt(sum);
}

FIXTURE_FN balloon_result balloon_measure(const balloon_desc *d, const truth_watch *watch) {
    fixture_mesh m = mesh_sphere(d->radius, d->frequency);
    isphpbd_soft_desc shell = world_soft_desc(&m, IPBD_BALLOON);
    isphpbd_world_desc desc = world_desc((int)(5.0 * pow(d->radius / d->spacing, 3.0)) + 100);
    leak_watch leaks;
    balloon_result r;
    isphpbd_world *world;
    truth_health health;
    const double landing = 0.9 * sqrt(2.0 * d->height / WORLD_G);
    double start, lowest = 1e30;
    memset(&r, 0, sizeof r), memset(&leaks, 0, sizeof leaks), memset(&health, 0, sizeof health);
    shell.body.stretch = shell.body.shear = ipbd_stiffness((float)d->stiffness);
    shell.body.balloon = ipbd_absent(); /* the water keeps the volume */
    shell.body.pose.position.y = (float)(d->height + d->radius);
    world_count_soft(&desc, &shell);
    desc.spacing = (float)d->spacing;
    desc.on_substep.fn = leak_on_substep, desc.on_substep.user = &leaks;
    world = world_make(&desc);
    (void)world_floor(world, 0.0);
    leak_open(&leaks.counter, desc.capacity.fluid_particles);
    leaks.soft = world_soft(world, &shell), leaks.world = world;
    {
        const isphpbd_result why =
            isphpbd_fluid_fill_soft(world, world_water(world), leaks.soft, (float)(d->gap * d->spacing), &r.particles);
        world_demand(why == ISPHPBD_OK, "fill the balloon", why);
    }
    r.edges = ipbd_world_stats(isphpbd_world_softs(world)).edges;
    start = ipbd_body_volume(isphpbd_world_softs(world), isphpbd_soft_body(world, leaks.soft));
    for (double t = 0.0; t < d->seconds; t += (double)WORLD_STEP) {
        isphpbd_points p;
        double y;
        health_step(&health, world, &leaks.soft, isphpbd_world_step(world, WORLD_STEP).flags);
        p = isphpbd_soft_points(world, leaks.soft);
        y = points_centre(&p).y, lowest = fmin(lowest, y), r.bounce = fmax(r.bounce, y - lowest);
        r.volume_at_rest = ipbd_body_volume(isphpbd_world_softs(world), isphpbd_soft_body(world, leaks.soft)) / start;
        if (t < landing) {
            p = isphpbd_fluid_points(world);
            start *= r.volume_at_rest, r.volume_at_rest = 1.0;
            r.flight_speed = fmax(r.flight_speed, balloon_unrest(&p));
        }
        r.volume_worst = fmax(r.volume_worst, fabs(r.volume_at_rest - 1.0));
        truth_tell(watch, t, d->seconds, y);
    }
    {
        const isphpbd_points p = isphpbd_fluid_points(world);
        r.rest_speed = points_rms_speed(&p);
    }
    r.leaks = leak_result_of(&leaks);
    health_end(&health, world, r.particles);
    r.leaks.health = health;
    isphpbd_world_destroy(world);
    leak_close(&leaks.counter), mesh_free(&m);
    return r;
}

/* ---- [cup] closed, of no thickness, half full, moved and spun ---------------------------------------------------- */

typedef struct cup_desc {
    double spacing, seconds;
    double speed; /* m/s: the largest of the middle, and of the rim by the spin */
} cup_desc;

/* Where the cup is: to and fro along x and y with growing speed, turning about a leaning axis. */
FIXTURE_FN isphpbd_pose cup_pose(const cup_desc *d, double t) {
    const double share = fmin(1.0, t / (0.5 * d->seconds)), swing = 0.5, spin = share * d->speed / 0.25;
    double q[4] = {0, 0, 0, 1};
    isphpbd_pose pose;
    const double angle = share * d->speed / swing * t;
    quat_turn(q, vec3d_scale(vec3d_make(0.6, 0.64, 0.48), 0.5 * spin * t));
    pose.position = vec3d_float(vec3d_make(swing * sin(angle), 0.3 * swing * sin(0.7 * angle), 0.0));
    pose.rotation = quat_float(q);
    return pose;
}

FIXTURE_FN leak_result cup_measure(const cup_desc *d, const truth_watch *watch) {
    fixture_mesh m = mesh_can(0.25, 0.5, 24, 6);
    isphpbd_collider_desc cup = isphpbd_collider_desc_default();
    isphpbd_world_desc desc = world_desc(8000);
    const isphpbd_soft none = {0, 0};
    leak_watch leaks;
    leak_result r;
    truth_health health;
    isphpbd_world *world;
    int added;
    memset(&leaks, 0, sizeof leaks), memset(&health, 0, sizeof health);
    desc.spacing = (float)d->spacing;
    desc.on_substep.fn = leak_on_substep, desc.on_substep.user = &leaks;
    world = world_make(&desc);
    cup.shape = isphpbd_shape_shell(m.xyz, m.vertex_count, m.triangles, m.triangle_count);
    leak_open(&leaks.counter, 8000);
    leaks.collider = world_collider(world, &cup), leaks.mesh = &m, leaks.world = world, leaks.soft = none;
    added = world_fill(world, world_water(world), vec3d_make(-0.16, -0.23, -0.16), vec3d_make(0.16, 0.05, 0.16),
                       vec3d_make(0, 0, 0));
    for (double t = 0.0; t < d->seconds; t += (double)WORLD_STEP) {
        (void)isphpbd_collider_move(world, leaks.collider, cup_pose(d, t + (double)WORLD_STEP));
        health_step(&health, world, NULL, isphpbd_world_step(world, WORLD_STEP).flags);
        truth_tell(watch, t, d->seconds, (double)leaks.counter.leaked);
    }
    r = leak_result_of(&leaks);
    health_end(&health, world, added);
    r.health = health;
    isphpbd_world_destroy(world);
    leak_close(&leaks.counter), mesh_free(&m);
    return r;
}

/* ---- [float] Archimedes ------------------------------------------------------------------------------------------ */

typedef struct float_desc {
    double density, spacing, seconds;
    double size;        /* m, edge of the box */
    double tank, depth; /* m, width and depth of the water */
    bool soft, sphere;
    double start; /* m, height of its middle; 0: just above the water */
} float_desc;
typedef struct float_result {
    double submerged; /* share of the body's volume below the surface, mean of whole swings of the second half */
    double swing;     /* largest less smallest share in these */
    double low;       /* m above the floor, of its lowest point at the end */
    double top;       /* m, of its highest point against the surface */
    double speed;     /* m/s, at the end */
    truth_health health;
} float_result;

enum { FLOAT_SAMPLES = 24, FLOAT_POINTS = 16 }; /* along an edge of the box; in a tetrahedron */

/* Four numbers that sum up to one, evenly spread over a tetrahedron. */
FIXTURE_FN void float_barycentric(fixture_random *random, double *b) {
    double cut[5] = {0.0, 0.0, 0.0, 0.0, 1.0};
    for (int k = 1; k < 4; k++) {
        int at = k;
        const double x = (double)random_unit(random);
        while (at > 1 && cut[at - 1] > x) cut[at] = cut[at - 1], at--;
        cut[at] = x;
    }
    for (int k = 0; k < 4; k++) b[k] = cut[k + 1] - cut[k];
}

FIXTURE_FN int float_soft_heights(isphpbd_world *world, isphpbd_soft soft, const fixture_mesh *m, double *heights) {
    const ipbd_view v = world_soft_view(world, soft);
    fixture_random random = {1u};
    int count = 0;
    for (int t = 0; t < FLOAT_POINTS * m->tetrahedron_count; t++) {
        double y = 0.0, b[4];
        float_barycentric(&random, b);
        for (int k = 0; k < 4; k++) {
            const uint32_t at = v.vertex_map[m->tetrahedra[4 * (t / FLOAT_POINTS) + k]];
            y += b[k] * (double)points_at(v.positions, v.stride_bytes, (int)at)[1];
        }
        heights[count++] = y;
    }
    return count;
}

/* Heights of points spread over the body, not in layers: the share of them below y is the share of its volume. */
FIXTURE_FN int float_heights(const host_body *h, const float_desc *d, double *heights) {
    const int n = FLOAT_SAMPLES;
    fixture_random random = {1u};
    int count = 0;
    for (int i = 0; i < n * n * n; i++) {
        const vec3d cell = vec3d_make(i % n + (double)random_unit(&random), i / n % n + (double)random_unit(&random),
                                      i / n / n + (double)random_unit(&random));
        const vec3d p = vec3d_sub(vec3d_scale(cell, 1.0 / n), vec3d_make(0.5, 0.5, 0.5));
        if (d->sphere && vec3d_length(p) > 0.5) continue;
        heights[count++] = h->x.y + vec3d_turn(h->q, vec3d_scale(p, d->size)).y;
    }
    return count;
}

FIXTURE_FN double float_share_below(const double *heights, int count, double y) {
    int below = 0;
    for (int i = 0; i < count; i++) below += heights[i] < y;
    return (double)below / count;
}

/* The level at which water and what the body displaces fill the tank: volume = area * level. */
FIXTURE_FN double float_level(const double *heights, int count, double body_volume, double water_volume, double area) {
    double low = 0.0, high = 10.0;
    for (int i = 0; i < 60; i++) {
        const double y = 0.5 * (low + high);
        if (area * y - body_volume * float_share_below(heights, count, y) < water_volume) low = y;
        else high = y;
    }
    return 0.5 * (low + high);
}

/* Mean over whole swings: a body that bobs is at its level on the average of a period, and of nothing else. From the
   first to the last time that the share rises through the mean, which is then better known; twice. */
FIXTURE_FN double float_mean_of_swings(const double *share, int count, double *swing) {
    int first = 0, last = count;
    double mean = 0.0, low = 1e30, high = -1e30;
    for (int pass = 0; pass < 3; pass++) {
        mean = 0.0;
        for (int i = first; i < last; i++) mean += share[i] / (last - first);
        first = 0, last = 0;
        for (int i = 1; i < count; i++) {
            if (share[i - 1] >= mean || share[i] < mean) continue;
            if (first == 0) first = i;
            last = i;
        }
        if (last <= first) first = 0, last = count; /* it does not swing */
    }
    for (int i = first; i < last; i++) low = fmin(low, share[i]), high = fmax(high, share[i]);
    *swing = high - low;
    return mean;
}

FIXTURE_FN float_result float_measure(const float_desc *d, const truth_watch *watch) {
    const double half = 0.5 * d->size, volume = d->sphere ? WORLD_PI / 6.0 * pow(d->size, 3.0) : pow(d->size, 3.0);
    const double start = d->start > 0.0 ? d->start : d->depth + half, wall = 0.5 * d->tank - half;
    const vec3d gravity = vec3d_make(0.0, -WORLD_G, 0.0);
    fixture_mesh m = mesh_block(4, 4, 4, d->size, d->size, d->size);
    isphpbd_soft_desc jelly = world_soft_desc(&m, IPBD_FLESH);
    isphpbd_body_desc box = isphpbd_body_desc_default();
    isphpbd_world_desc desc = world_desc((int)(d->tank * d->tank * d->depth / pow(d->spacing, 3.0) * 1.1) + 100);
    isphpbd_soft soft = {0, 0};
    double *heights = (double *)malloc(sizeof(double) * FLOAT_SAMPLES * FLOAT_SAMPLES * FLOAT_SAMPLES);
    double *share = (double *)malloc(sizeof(double) * (size_t)(d->seconds / (double)WORLD_STEP + 2.0));
    host_body host;
    float_result r;
    isphpbd_world *world;
    int added, samples = 0, count;
    memset(&r, 0, sizeof r), memset(&host, 0, sizeof host);
    jelly.body.density = (float)d->density, jelly.body.pose.position.y = (float)start;
    if (d->soft) world_count_soft(&desc, &jelly);
    desc.spacing = (float)d->spacing;
    world = world_make(&desc);
    (void)world_room(world, vec3d_make(-0.5 * d->tank, 0.0, -0.5 * d->tank),
                     vec3d_make(0.5 * d->tank, 10.0, 0.5 * d->tank), 1.0f);
    added = world_fill_round(world, world_water(world), vec3d_make(-0.5 * d->tank, 0.0, -0.5 * d->tank),
                             vec3d_make(0.5 * d->tank, d->depth, 0.5 * d->tank), d->spacing,
                             vec3d_make(0.0, start, 0.0), d->start > 0.0 ? half + 0.25 * d->spacing : 0.0);
    box.shape =
        d->sphere ? isphpbd_shape_sphere((float)half) : isphpbd_shape_box((float)half, (float)half, (float)half);
    box.mass = (float)(d->density * volume), box.motion = isphpbd_motion_at(isphpbd_v3(0, (float)start, 0));
    if (d->soft) soft = world_soft(world, &jelly);
    else host = host_make(world, &box);
    for (double t = 0.0; t < d->seconds; t += (double)WORLD_STEP) {
        double level;
        const uint32_t flags = host_step(world, &host, d->soft ? 0 : 1, (double)WORLD_STEP, gravity);
        if (!d->soft) host_keep_inside(&host, vec3d_make(-wall, half, -wall), vec3d_make(wall, 10.0, wall));
        health_step(&r.health, world, d->soft ? &soft : NULL, flags);
        count = d->soft ? float_soft_heights(world, soft, &m, heights) : float_heights(&host, d, heights);
        level = float_level(heights, count, volume, added * pow(d->spacing, 3.0), d->tank * d->tank);
        r.low = 1e30, r.top = -1e30;
        for (int i = 0; i < count; i++) r.low = fmin(r.low, heights[i]), r.top = fmax(r.top, heights[i] - level);
        share[samples] = float_share_below(heights, count, level);
        truth_tell(watch, t, d->seconds, share[samples]);
        if (t >= 0.5 * d->seconds) samples++;
    }
    {
        const isphpbd_points p = isphpbd_soft_points(world, soft);
        r.speed = d->soft ? points_rms_speed(&p) : vec3d_length(host.v);
    }
    r.submerged = float_mean_of_swings(share, samples, &r.swing);
    health_end(&r.health, world, added);
    isphpbd_world_destroy(world);
    free(heights), free(share), mesh_free(&m);
    return r;
}

/* ---- [momentum] a block of water hits something free, without gravity -------------------------------------------- */

typedef enum momentum_target { MOMENTUM_SHEET, MOMENTUM_SOFT, MOMENTUM_RIGID, MOMENTUM_TARGETS } momentum_target;
typedef struct momentum_desc {
    momentum_target target;
    double seconds;
    isphpbd_rigid_scheme scheme;
    int rounds; /* of pressure and constraints, at most */
} momentum_desc;
typedef struct momentum_result {
    double linear, angular; /* largest change over the amount at the start */
    double transferred;     /* share of the linear momentum that the target took */
    double prediction;      /* m/s: host's velocity against the world's, largest */
    truth_health health;
} momentum_result;

FIXTURE_FN world_momentum momentum_of(isphpbd_world *world, isphpbd_soft soft, const host_body *h, double mass) {
    world_momentum m;
    memset(&m, 0, sizeof m);
    momentum_add_fluid(&m, world, mass);
    if (soft.id) momentum_add_soft(&m, world, soft);
    if (h->body.id) momentum_add_body(&m, h);
    return m;
}

/* The host takes the world's word for where the body is: nothing else moves it. */
FIXTURE_FN void momentum_follow(isphpbd_world *world, host_body *h, momentum_result *r) {
    isphpbd_motion seen;
    if (isphpbd_body_predicted(world, h->body, &seen) != ISPHPBD_OK) return;
    r->prediction = fmax(r->prediction, vec3d_length(vec3d_sub(vec3d_from(seen.linear_velocity), h->v)));
    h->x = vec3d_from(seen.pose.position);
    quat_double(seen.pose.rotation, h->q);
}

FIXTURE_FN momentum_result momentum_measure(const momentum_desc *d, const truth_watch *watch) {
    const double dx = 0.05, mass = WORLD_WATER * dx * dx * dx;
    const vec3d zero = vec3d_make(0.0, 0.0, 0.0);
    fixture_mesh m = d->target == MOMENTUM_SHEET ? mesh_sheet(10, 1.0, 0.0, false) : mesh_block(3, 3, 3, 0.4, 0.4, 0.4);
    isphpbd_soft_desc thing = world_soft_desc(&m, d->target == MOMENTUM_SHEET ? IPBD_CANVAS : IPBD_FLESH);
    isphpbd_body_desc box = isphpbd_body_desc_default();
    isphpbd_world_desc desc = world_desc(2000);
    isphpbd_soft soft = {0, 0};
    host_body host;
    momentum_result r;
    world_momentum before, now;
    isphpbd_world *world;
    int added;
    vec3d given;
    memset(&r, 0, sizeof r), memset(&host, 0, sizeof host);
    desc.gravity = isphpbd_v3(0, 0, 0), desc.rigid_scheme = d->scheme;
    desc.budget.outer_iterations = d->rounds;
    if (d->target != MOMENTUM_RIGID) world_count_soft(&desc, &thing);
    world = world_make(&desc);
    added = world_fill(world, world_water(world), vec3d_make(-0.1, 0.3, -0.2), vec3d_make(0.3, 0.7, 0.2),
                       vec3d_make(0.0, -2.0, 0.0));
    thing.body.damping = thing.body.drag = 0.0f;
    if (d->target == MOMENTUM_SHEET) thing.body.density = 10.0f; /* heavy enough to take a share that shows */
    box.shape = isphpbd_shape_box(0.2f, 0.2f, 0.2f), box.mass = 30.0f, box.motion = isphpbd_motion_at(fixture_zero);
    if (d->target == MOMENTUM_RIGID) host = host_make(world, &box);
    else soft = world_soft(world, &thing);
    before = momentum_of(world, soft, &host, mass);
    for (double t = 0.0; t < d->seconds; t += (double)WORLD_STEP) {
        const uint32_t flags = host_step(world, &host, host.body.id ? 1 : 0, (double)WORLD_STEP, zero);
        if (host.body.id) momentum_follow(world, &host, &r);
        health_step(&r.health, world, soft.id ? &soft : NULL, flags);
        now = momentum_of(world, soft, &host, mass);
        r.linear = fmax(r.linear, vec3d_length(vec3d_sub(now.linear, before.linear)) / vec3d_length(before.linear));
        r.angular =
            fmax(r.angular, vec3d_length(vec3d_sub(now.angular, before.angular)) / vec3d_length(before.angular));
        truth_tell(watch, t, d->seconds, r.linear);
    }
    memset(&now, 0, sizeof now);
    momentum_add_fluid(&now, world, mass);
    given = vec3d_sub(before.linear, now.linear);
    r.transferred = vec3d_length(given) / vec3d_length(before.linear);
    health_end(&r.health, world, added);
    isphpbd_world_destroy(world);
    mesh_free(&m);
    return r;
}

/* ---- [drag] a sphere sinks in a viscous liquid ------------------------------------------------------------------- */

typedef struct drag_desc {
    double radius, spacing, tank, depth; /* m */
    double density, viscosity;           /* of the sphere, kg/m^3; of the liquid, Pa s */
    double seconds;
    float slip;
} drag_desc;
typedef struct drag_result {
    double speed;    /* m/s, mean of the second half */
    double stokes;   /* m/s: 2/9 (difference of densities) g radius^2 / viscosity */
    double walled;   /* m/s: the same between the walls of the tank */
    double reynolds; /* of that */
    double sunk;     /* m */
    truth_health health;
} drag_result;

/* Terminal speed in a tank over that without walls, for a sphere of diameter d in a tube of diameter D (Francis 1933,
   the usual correction of falling-ball viscometers). */
FIXTURE_FN double drag_wall_factor(double ratio) { return pow((1.0 - ratio) / (1.0 - 0.475 * ratio), 4.0); }

FIXTURE_FN drag_result drag_measure(const drag_desc *d, const truth_watch *watch) {
    const vec3d gravity = vec3d_make(0.0, -WORLD_G, 0.0);
    const double half = 0.5 * d->tank, start = 0.65 * d->depth, volume = 4.0 / 3.0 * WORLD_PI * pow(d->radius, 3.0);
    isphpbd_world_desc desc = world_desc((int)(d->tank * d->tank * d->depth / pow(d->spacing, 3.0) * 1.1) + 100);
    isphpbd_body_desc ball = isphpbd_body_desc_default();
    isphpbd_world *world;
    host_body host;
    drag_result r;
    double middle = start;
    int added, steps = (int)(d->seconds / (double)WORLD_STEP + 0.5);
    memset(&r, 0, sizeof r);
    desc.spacing = (float)d->spacing;
    world = world_make(&desc);
    (void)world_room(world, vec3d_make(-half, 0.0, -half), vec3d_make(half, 10.0, half), d->slip);
    ball.shape = isphpbd_shape_sphere((float)d->radius), ball.mass = (float)(volume * d->density);
    ball.motion = isphpbd_motion_at(isphpbd_v3(0.0f, (float)start, 0.0f)), ball.surface.slip = d->slip;
    host = host_make(world, &ball);
    added = world_fill_round(world, world_fluid(world, WORLD_WATER, d->viscosity), vec3d_make(-half, 0.0, -half),
                             vec3d_make(half, d->depth, half), d->spacing, host.x, d->radius + 0.25 * d->spacing);
    for (int i = 0; i < steps; i++) {
        health_step(&r.health, world, NULL, host_step(world, &host, 1, (double)WORLD_STEP, gravity));
        if (i == steps / 2) middle = host.x.y;
        truth_tell(watch, i * (double)WORLD_STEP, d->seconds, -host.v.y);
    }
    r.speed = (middle - host.x.y) / ((steps - 1 - steps / 2) * (double)WORLD_STEP);
    r.sunk = start - host.x.y;
    r.stokes = 2.0 / 9.0 * (d->density - WORLD_WATER) * WORLD_G * d->radius * d->radius / d->viscosity;
    r.walled = r.stokes * drag_wall_factor(2.0 * d->radius / (d->tank * 2.0 / sqrt(WORLD_PI))); /* tube of its area */
    r.reynolds = WORLD_WATER * r.stokes * 2.0 * d->radius / d->viscosity;
    health_end(&r.health, world, added);
    isphpbd_world_destroy(world);
    return r;
}

/* ---- [slip] water on a ramp, and on a belt ----------------------------------------------------------------------- */

typedef struct slip_result {
    double ramp;       /* m/s, mean along the ramp at the end */
    double free_slope; /* m/s: g sin(slope) t */
    double belt;       /* m/s, mean of the water that touches the belt */
    double belt_speed;
} slip_result;

/* A slab on a plane; a ramp of 20 degrees by a leaning gravity, or a belt that runs at 1 m/s. */
FIXTURE_FN isphpbd_world *slip_world(float slip, vec3d gravity, isphpbd_collider *plane) {
    isphpbd_world_desc desc = world_desc(2000);
    isphpbd_collider_desc ground = isphpbd_collider_desc_default();
    isphpbd_world *world;
    desc.gravity = vec3d_float(gravity);
    world = world_make(&desc);
    ground.surface.slip = slip;
    *plane = world_collider(world, &ground);
    (void)world_fill(world, world_water(world), vec3d_make(-0.4, 0.0, -0.4), vec3d_make(0.4, 0.15, 0.4),
                     vec3d_make(0, 0, 0));
    return world;
}

FIXTURE_FN double slip_touching_speed(const isphpbd_world *world) {
    const isphpbd_points p = isphpbd_fluid_points(world);
    double sum = 0.0;
    int count = 0;
    for (int i = 0; i < p.count; i++) {
        if (points_position(&p, i).y > 0.5 * 0.05 + 0.01) continue;
        sum += points_velocity(&p, i).x, count++;
    }
    return count > 0 ? sum / count : 1e30;
}

FIXTURE_FN slip_result slip_measure(float slip, double seconds) {
    const double slope = 20.0 / 180.0 * WORLD_PI;
    slip_result r;
    isphpbd_collider plane;
    isphpbd_world *world = slip_world(slip, vec3d_make(WORLD_G * sin(slope), -WORLD_G * cos(slope), 0.0), &plane);
    double t = 0.0;
    memset(&r, 0, sizeof r);
    (void)world_run(world, 0.4);
    r.ramp = slip_touching_speed(world), r.free_slope = WORLD_G * sin(slope) * 0.4;
    isphpbd_world_destroy(world);
    world = slip_world(slip, vec3d_make(0.0, -WORLD_G, 0.0), &plane);
    r.belt_speed = 1.0;
    for (t = 0.0; t < seconds; t += (double)WORLD_STEP) {
        const double x = r.belt_speed * (t + (double)WORLD_STEP);
        (void)isphpbd_collider_move(world, plane, isphpbd_pose_at(isphpbd_v3((float)x, 0.0f, 0.0f)));
        (void)isphpbd_world_step(world, WORLD_STEP);
    }
    r.belt = slip_touching_speed(world);
    isphpbd_world_destroy(world);
    return r;
}

/* ---- [laplace] a balloon overfull of water, without gravity ------------------------------------------------------ */

typedef struct laplace_desc {
    double radius, spacing, overfull; /* m, m, and the water's volume over that of the empty shell */
    int frequency;
    double seconds;
} laplace_desc;
typedef struct laplace_result {
    double stretch;  /* radius over that of the empty shell */
    double pressure; /* Pa, of the water in the middle, mean of the last second */
    double laplace;  /* Pa: 2 sigma / R, sigma of the same shell blown up dry to the same radius */
    double speed;    /* m/s, rms of the water at the end */
    int64_t leaked;
    truth_health health;
} laplace_result;

FIXTURE_FN isphpbd_soft_desc laplace_shell(const fixture_mesh *m) {
    isphpbd_soft_desc shell = world_soft_desc(m, IPBD_BALLOON);
    shell.body.balloon = ipbd_absent(), shell.body.bend = ipbd_absent();
    shell.body.drag = 2.0f;
    return shell;
}

/* Radius over that at rest of the shell under a pressure inside, without water, at rest. */
FIXTURE_FN double laplace_dry_stretch(const fixture_mesh *m, double pressure) {
    isphpbd_soft_desc shell = laplace_shell(m);
    ipbd_world_desc desc = ipbd_world_desc_default();
    ipbd_world *world;
    ipbd_body body;
    double before, after;
    shell.body.overpressure = (float)pressure;
    desc.gravity = isphpbd_v3(0, 0, 0), desc.sleep_speed = 0.0f;
    desc.substeps = 240; /* the material's own stiffness, however light the vertices are: 60 are a tenth too soft */
    shell.body.damping = 20.0f, shell.body.drag = 10.0f;
    desc.capacity = ipbd_capacity_none();
    (void)ipbd_capacity_add(&desc.capacity, &shell.body, NULL);
    world = ipbd_create(&desc, NULL);
    body = ipbd_body_create(world, &shell.body, NULL);
    before = ipbd_body_volume(world, body);
    for (int i = 0; i < 120; i++) (void)ipbd_step(world, WORLD_STEP);
    after = ipbd_body_volume(world, body);
    ipbd_destroy(world);
    return pow(after / before, 1.0 / 3.0);
}

/* The pressure that blows the dry shell up to this stretch: 2 sigma / R by Laplace. Secants: it is almost straight. */
FIXTURE_FN double laplace_pressure_at(const fixture_mesh *m, double stretch) {
    double p = 100.0, before = 0.0, stretch_before = 1.0;
    for (int i = 0; i < 5; i++) {
        const double s = laplace_dry_stretch(m, p), slope = (s - stretch_before) / (p - before);
        if (fabs(s - stretch) < 1e-5 || !(slope > 0.0)) break;
        before = p, stretch_before = s;
        p += (stretch - s) / slope;
    }
    return p;
}

/* A cubic lattice inside the sphere, finer than the spacing at rest as far as it shall be overfull. */
FIXTURE_FN int laplace_fill(isphpbd_world *world, const laplace_desc *d, isphpbd_fluid water) {
    const double room = d->radius - 0.5 * d->spacing;
    const int wanted = (int)(d->overfull * 4.0 / 3.0 * WORLD_PI * pow(d->radius / d->spacing, 3.0));
    double step = d->spacing;
    float *xyz = (float *)malloc(sizeof(float) * 3 * 200000);
    int count = 0;
    isphpbd_result why;
    while (count < wanted) {
        const int n = (int)(room / step) + 1;
        count = 0;
        for (int i = 0; i < (2 * n + 1) * (2 * n + 1) * (2 * n + 1); i++) {
            const int side = 2 * n + 1;
            const vec3d p = vec3d_scale(vec3d_make(i % side - n, i / side % side - n, i / side / side - n), step);
            if (vec3d_length(p) > room || count >= 200000) continue;
            xyz[3 * count] = (float)p.x, xyz[3 * count + 1] = (float)p.y, xyz[3 * count + 2] = (float)p.z, count++;
        }
        step *= 0.99;
    }
    why = isphpbd_fluid_add(world, water, xyz, 12, NULL, 0, count, NULL);
    world_demand(why == ISPHPBD_OK, "fill the balloon", why);
    free(xyz);
    return count;
}

FIXTURE_FN double laplace_inside(isphpbd_world *world, double radius) {
    const isph_view v = isph_particles(isphpbd_world_fluids(world));
    double sum = 0.0;
    int count = 0;
    for (int i = 0; i < v.count; i++) {
        if (vec3d_length(vec3d_of(view_position(&v, i))) > radius) continue;
        sum += (double)v.pressure[i], count++;
    }
    return count > 0 ? sum / count : 0.0;
}

FIXTURE_FN laplace_result laplace_measure(const laplace_desc *d, const truth_watch *watch) {
    fixture_mesh m = mesh_sphere(d->radius, d->frequency);
    isphpbd_soft_desc shell = laplace_shell(&m);
    isphpbd_world_desc desc = world_desc((int)(6.0 * pow(d->radius / d->spacing, 3.0)) + 200);
    leak_watch leaks;
    laplace_result r;
    isphpbd_world *world;
    double before, sum = 0.0;
    int added, samples = 0;
    memset(&r, 0, sizeof r), memset(&leaks, 0, sizeof leaks);
    desc.gravity = isphpbd_v3(0, 0, 0), desc.spacing = (float)d->spacing;
    world_count_soft(&desc, &shell);
    desc.on_substep.fn = leak_on_substep, desc.on_substep.user = &leaks;
    world = world_make(&desc);
    leak_open(&leaks.counter, desc.capacity.fluid_particles);
    leaks.soft = world_soft(world, &shell), leaks.world = world;
    added = laplace_fill(world, d, world_water(world));
    before = ipbd_body_volume(isphpbd_world_softs(world), isphpbd_soft_body(world, leaks.soft));
    for (double t = 0.0; t < d->seconds; t += (double)WORLD_STEP) {
        const uint32_t flags = isphpbd_world_step(world, WORLD_STEP).flags;
        const double p = laplace_inside(world, d->radius - 2.0 * d->spacing);
        health_step(&r.health, world, &leaks.soft, flags);
        truth_tell(watch, t, d->seconds, p);
        if (t >= d->seconds - 1.0) sum += p, samples++;
    }
    r.stretch =
        pow(ipbd_body_volume(isphpbd_world_softs(world), isphpbd_soft_body(world, leaks.soft)) / before, 1.0 / 3.0);
    {
        const isphpbd_points p = isphpbd_fluid_points(world);
        r.speed = points_rms_speed(&p);
    }
    r.pressure = sum / samples, r.leaked = leaks.counter.leaked;
    r.laplace = laplace_pressure_at(&m, r.stretch);
    health_end(&r.health, world, added);
    isphpbd_world_destroy(world);
    leak_close(&leaks.counter), mesh_free(&m);
    return r;
}

/* ---- [skip] a flat stone on a pond ------------------------------------------------------------------------------- */

typedef struct skip_desc {
    double spacing, length, width, depth; /* m, of the pond */
    double speed, seconds;
} skip_desc;
typedef struct skip_result {
    int touches;   /* times it came to the water */
    int leaves;    /* times it then left it again: its whole body above the surface */
    double lowest; /* m, its middle at the end */
    truth_health health;
} skip_result;

/* Height of the lowest corner of the stone. */
FIXTURE_FN double skip_lowest(const host_body *h, vec3d half) {
    double low = 1e30;
    for (int k = 0; k < 8; k++) {
        const vec3d corner = vec3d_make(k & 1 ? half.x : -half.x, k & 2 ? half.y : -half.y, k & 4 ? half.z : -half.z);
        low = fmin(low, h->x.y + vec3d_turn(h->q, corner).y);
    }
    return low;
}

FIXTURE_FN skip_result skip_measure(const skip_desc *d, const truth_watch *watch) {
    const vec3d gravity = vec3d_make(0.0, -WORLD_G, 0.0), half = vec3d_make(0.1, 0.02, 0.1);
    const double lo = -0.5 * d->length, side = 0.5 * d->width, density = 2500.0;
    isphpbd_world_desc desc = world_desc((int)(d->length * d->width * d->depth / pow(d->spacing, 3.0) * 1.1) + 100);
    isphpbd_body_desc stone = isphpbd_body_desc_default();
    double lean[4] = {0, 0, 0, 1};
    host_body host;
    skip_result r;
    isphpbd_world *world;
    bool wet = false;
    int added;
    memset(&r, 0, sizeof r);
    desc.spacing = (float)d->spacing;
    world = world_make(&desc);
    (void)world_room(world, vec3d_make(lo, 0.0, -side), vec3d_make(-lo, 10.0, side), 1.0f);
    added = world_fill(world, world_water(world), vec3d_make(lo, 0.0, -side), vec3d_make(-lo, d->depth, side),
                       vec3d_make(0, 0, 0));
    quat_turn(lean, vec3d_make(0.0, 0.0, 20.0 / 180.0 * WORLD_PI)); /* nose up */
    stone.shape = isphpbd_shape_box((float)half.x, (float)half.y, (float)half.z);
    stone.mass = (float)(density * 8.0 * half.x * half.y * half.z);
    stone.motion = isphpbd_motion_at(isphpbd_v3((float)(lo + 0.3), (float)(d->depth + 0.15), 0.0f));
    stone.motion.pose.rotation = quat_float(lean);
    stone.motion.linear_velocity = isphpbd_v3((float)d->speed, (float)(-0.25 * d->speed), 0.0f);
    stone.motion.angular_velocity = vec3d_float(vec3d_scale(vec3d_turn(lean, vec3d_make(0.0, 1.0, 0.0)), 40.0));
    host = host_make(world, &stone);
    for (double t = 0.0; t < d->seconds; t += (double)WORLD_STEP) {
        double above;
        health_step(&r.health, world, NULL, host_step(world, &host, 1, (double)WORLD_STEP, gravity));
        host_keep_inside(&host, vec3d_make(lo, half.y, -side), vec3d_make(-lo - 0.15, 10.0, side));
        above = skip_lowest(&host, half) - d->depth;
        if (!wet && above < 0.0) wet = true, r.touches++;
        if (wet && above > 0.5 * d->spacing) wet = false, r.leaves++;
        truth_tell(watch, t, d->seconds, host.x.y - d->depth);
    }
    r.lowest = host.x.y;
    health_end(&r.health, world, added);
    isphpbd_world_destroy(world);
    return r;
}

#endif /* WORLD_TRUTHS_H */
