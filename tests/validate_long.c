/* Validation: ten minutes of simulated time, 10 km from the origin, and particles from 1 mm to 1 m. Small scenes that
   run long: what drifts, grows or gets lost shows here.
   SPDX-License-Identifier: MIT */
#define ISPHPBD_IMPLEMENTATION
#include "isphpbd.h"

#define EXAMPLES_IMPLEMENTATION
#include "examples/shapes.h"
#include "report.h"
#include "sph_fixture.h"
#include "world_scene.h"

enum { MINUTES = 10, STEPS_PER_MINUTE = 3600 };
#define FRAME (1.0f / 60.0f)

/* ---- ten minutes of water, stirred ------------------------------------------------------------------------------- */

typedef struct minute {
    double energy, height, iterations, substeps; /* means over its steps */
} minute;

static isph_boundary add_paddle(isph_fluid *fluid) {
    isph_boundary_desc desc = isph_boundary_desc_default();
    desc.shape = ISPH_SHAPE_CAPSULE, desc.radius = 0.05f, desc.half_height = 0.1f;
    desc.position = isphpbd_v3(0.1f, 0.1f, 0.0f);
    return isph_boundary_create(fluid, &desc, NULL);
}
/* One turn in three seconds, 10 cm round the axis of the tank. */
static void move_paddle(isph_fluid *fluid, isph_boundary paddle, int step) {
    const isphpbd_quat upright = {0.0f, 0.0f, 0.0f, 1.0f};
    const double rate = 2.0 * 3.14159265358979 / 3.0, angle = rate * step / 60.0;
    const float c = (float)(0.1 * cos(angle)), s = (float)(0.1 * sin(angle)), w = (float)rate;
    (void)isph_boundary_set_motion(fluid, paddle, isphpbd_v3(c, 0.1f, s), upright, isphpbd_v3(-w * s, 0.0f, w * c),
                                   fixture_zero);
}
static minute stir(isph_fluid *fluid, isph_boundary paddle, int from) {
    const isph_stats before = isph_fluid_stats(fluid);
    minute m = {0.0, 0.0, 0.0, 0.0};
    isph_stats after;
    for (int i = 0; i < STEPS_PER_MINUTE; i++) {
        move_paddle(fluid, paddle, from + i);
        (void)isph_fluid_step(fluid, FRAME, NULL);
        m.energy += (double)isph_fluid_stats(fluid).kinetic_energy / STEPS_PER_MINUTE;
        if (i % 60 == 0) m.height += fixture_measure(fluid).centre[1] / (STEPS_PER_MINUTE / 60);
    }
    after = isph_fluid_stats(fluid);
    m.substeps = (double)(after.total_substeps - before.total_substeps) / STEPS_PER_MINUTE;
    m.iterations = (double)(after.total_pressure_iterations - before.total_pressure_iterations) / STEPS_PER_MINUTE;
    return m;
}
static void long_water(report *r) {
    isph_fluid_desc desc = isph_fluid_desc_default();
    minute first, last = {0.0, 0.0, 0.0, 0.0};
    isph_boundary paddle;
    isph_fluid *fluid;
    int count;
    desc.particle_capacity = 1024;
    fluid = fixture_tank(&desc, 0.4f, 0.4f, 0.3f);
    paddle = add_paddle(fluid);
    count = isph_particles(fluid).count;
    report_text(r, "### Ten minutes of stirred water");
    report_text(r, "%d particles, dx = 0.05 m, a paddle on a circle, 36000 steps of 1/60 s. What a step costs is told "
                   "as counted work: iterations and substeps. Seconds depend on the machine.", count);
    first = stir(fluid, paddle, 0); /* from rest */
    first = stir(fluid, paddle, STEPS_PER_MINUTE);
    for (int i = 2; i < MINUTES; i++) {
        report_progress(r, "water, minute %d of %d", i + 1, MINUTES);
        last = stir(fluid, paddle, i * STEPS_PER_MINUTE);
    }
    report_at_most(r, "particles lost or not finite",
                   fixture_finite(fluid) ? count - isph_particles(fluid).count : count, 0.0, "", "none");
    report_at_most(r, "drift of the volume (mean height), minute 10 to 2",
                   100.0 * fabs(last.height / first.height - 1.0), 1.0, "%", "issue: 1 %");
    report_at_most(r, "kinetic energy, minute 10 over minute 2", last.energy / first.energy, 1.2, "", "no growth");
    report_at_most(r, "iterations per step, minute 10 over minute 2", last.iterations / first.iterations, 1.1, "",
                   "no growth");
    report_at_most(r, "substeps per step, minute 10 over minute 2", last.substeps / first.substeps, 1.1, "",
                   "no growth");
    report_value(r, "kinetic energy, minute 10", last.energy, "J");
    isph_fluid_destroy(fluid);
}

/* ---- ten minutes of a balloon and of a flag ---------------------------------------------------------------------- */

static double largest_edge_stretch(const ipbd_world *world, ipbd_body body, double rest) {
    const ipbd_view view = ipbd_body_view(world, body);
    double longest = 0.0;
    for (int i = 0; i < 3 * view.triangle_count; i++) {
        const float *a = view.positions + 4 * view.triangles[i];
        const float *b = view.positions + 4 * view.triangles[i % 3 == 2 ? i - 2 : i + 1];
        const double x = (double)a[0] - (double)b[0], y = (double)a[1] - (double)b[1], z = (double)a[2] - (double)b[2];
        longest = fmax(longest, sqrt(x * x + y * y + z * z));
    }
    return longest / rest;
}

/* Gives the only body of a world that velocity, whatever it had: each kick leaves the same energy of flight. */
static void kick_to(ipbd_world *world, ipbd_body body, float x, float y) {
    const isphpbd_vec3 momentum = ipbd_world_stats(world).momentum;
    const float mass = (float)ipbd_body_mass(world, body);
    (void)ipbd_body_add_velocity(world, body,
                                 isphpbd_v3(x - momentum.x / mass, y - momentum.y / mass, -momentum.z / mass));
}
/* A balloon on the ground, kicked up every two seconds. */
static void long_balloon(report *r) {
    ipbd_world_desc world_desc = ipbd_world_desc_default();
    ipbd_collider_desc ground = ipbd_collider_desc_default();
    ipbd_body_desc desc = ipbd_body_desc_preset(IPBD_BALLOON);
    ipbd_world *world = ipbd_create(&world_desc, NULL);
    double volume, worst = 0.0, highest_early = 0.0, highest_late = 0.0, early = 0.0, late = 0.0;
    ipbd_body body;
    mesh ball;
    memset(&ball, 0, sizeof ball);
    mesh_icosphere(&ball, v3(0.0f, 0.25f, 0.0f), 0.2f, 4);
    desc.mesh.positions = &ball.vertices->x, desc.mesh.vertex_count = ball.vertex_count;
    desc.mesh.triangles = ball.indices, desc.mesh.triangle_count = ball.triangle_count;
    desc.weld_distance = 1e-4f;
    (void)ipbd_collider_create(world, &ground, NULL);
    body = ipbd_body_create(world, &desc, NULL);
    volume = ipbd_body_volume(world, body);
    report_text(r, "### Ten minutes of a balloon");
    report_text(r, "A balloon of 0.2 m radius, thrown up at 2 m/s every two seconds, 36000 steps of 1/60 s.");
    for (int i = 0; i < MINUTES * STEPS_PER_MINUTE; i++) {
        const ipbd_view view = ipbd_body_view(world, body);
        double top = 0.0;
        if (i % 120 == 0) kick_to(world, body, i % 240 ? 0.1f : -0.1f, 2.0f);
        (void)ipbd_step(world, FRAME);
        for (int k = 0; k < view.vertex_count; k++) top = fmax(top, (double)view.positions[4 * k + 1]);
        if (i >= STEPS_PER_MINUTE && i < 2 * STEPS_PER_MINUTE) {
            highest_early = fmax(highest_early, top);
            early += ipbd_world_stats(world).kinetic_energy / STEPS_PER_MINUTE;
        }
        if (i >= 9 * STEPS_PER_MINUTE) {
            highest_late = fmax(highest_late, top);
            late += ipbd_world_stats(world).kinetic_energy / STEPS_PER_MINUTE;
        }
        if (i % 120 == 100) worst = fmax(worst, fabs(ipbd_body_volume(world, body) / volume - 1.0));
        if (i % (2 * STEPS_PER_MINUTE) == 0) report_progress(r, "balloon, minute %d", i / STEPS_PER_MINUTE);
    }
    report_at_most(r, "largest error of the volume", 100.0 * worst, 1.0, "%", "issue: 1 %");
    report_at_most(r, "highest point, minute 10 over minute 2", highest_late / highest_early, 1.05, "", "no growth");
    report_at_most(r, "highest point, minute 2 over minute 10", highest_early / highest_late, 1.25, "", "no decay");
    report_at_most(r, "kinetic energy, minute 10 over minute 2", late / early, 1.05, "", "no growth");
    report_value(r, "kinetic energy, minute 10", late, "J");
    free(ball.vertices), free(ball.indices);
    ipbd_destroy(world);
}

/* A flag on two corners in a wind that turns. */
static void long_flag(report *r) {
    enum { SIDE = 10 };
    float positions[3 * SIDE * SIDE];
    uint32_t triangles[6 * (SIDE - 1) * (SIDE - 1)], pins[2] = {0, SIDE - 1};
    ipbd_world_desc world_desc = ipbd_world_desc_default();
    ipbd_body_desc desc = ipbd_body_desc_preset(IPBD_COTTON);
    ipbd_world *world = ipbd_create(&world_desc, NULL);
    double early = 0.0, late = 0.0, stretch = 0.0;
    int quarantined = 0;
    ipbd_body body;
    desc.mesh.triangle_count = ipbd_grid(SIDE, SIDE, 0.9f, 0.9f, positions, triangles);
    desc.mesh.positions = positions, desc.mesh.triangles = triangles, desc.mesh.vertex_count = SIDE * SIDE;
    desc.pinned = pins, desc.pinned_count = 2, desc.self_collision = true;
    desc.wind_drag = 1.0f, desc.still_air = true, desc.wind_lift = 0.5f;
    body = ipbd_body_create(world, &desc, NULL);
    report_text(r, "### Ten minutes of a flag");
    report_text(r, "Cotton of 0.9 m, %d vertices, self-collision, 6 m/s of wind that turns, 36000 steps of 1/60 s.",
                SIDE * SIDE);
    for (int i = 0; i < MINUTES * STEPS_PER_MINUTE; i++) {
        const double angle = 0.7 * sin(i / 200.0);
        ipbd_stats stats;
        (void)ipbd_set_wind(world, isphpbd_v3((float)(6.0 * sin(angle)), 0.0f, (float)(6.0 * cos(angle))));
        (void)ipbd_step(world, FRAME);
        stats = ipbd_world_stats(world);
        quarantined += stats.quarantined;
        if (i >= STEPS_PER_MINUTE && i < 2 * STEPS_PER_MINUTE) early += stats.kinetic_energy / STEPS_PER_MINUTE;
        if (i >= 9 * STEPS_PER_MINUTE) late += stats.kinetic_energy / STEPS_PER_MINUTE;
        if (i % 60 == 0) stretch = fmax(stretch, largest_edge_stretch(world, body, 0.1 * sqrt(2.0)));
        if (i % (2 * STEPS_PER_MINUTE) == 0) report_progress(r, "flag, minute %d", i / STEPS_PER_MINUTE);
    }
    report_at_most(r, "kinetic energy, minute 10 over minute 2", late / early, 1.2, "", "no growth");
    report_at_most(r, "longest edge over the longest at rest", stretch, 1.1, "", "cotton hardly stretches");
    report_at_most(r, "vertices put back", quarantined, 0.0, "", "none");
    report_value(r, "kinetic energy, minute 10", late, "J");
    ipbd_destroy(world);
}

/* ---- far from the origin ----------------------------------------------------------------------------------------- */

typedef struct rest {
    double rms, volume; /* speed over the last second; mean height over that of the fill */
} rest;

/* A tank of 8 x 8 x 6 spacings, three seconds of rest in units of sqrt(spacing / g). */
static rest rest_at(float spacing, float away) {
    isph_fluid_desc desc = isph_fluid_desc_default();
    const float half = 4.0f * spacing, depth = 6.0f * spacing, dt = FRAME * sqrtf(spacing / 0.05f);
    rest result = {0.0, 0.0};
    double height = 0.0;
    isph_material water;
    isph_fluid *fluid;
    desc.particle_capacity = 512, desc.spacing = spacing;
    fluid = isph_fluid_create(&desc, NULL);
    water = fixture_water(fluid);
    (void)fixture_room(fluid, isphpbd_v3(away - half, 0.0f, away - half),
                       isphpbd_v3(away + half, 40.0f * spacing, away + half));
    (void)isph_particles_add_box(fluid, water, isphpbd_v3(away - half, 0.0f, away - half),
                                 isphpbd_v3(away + half, depth, away + half), fixture_zero, NULL);
    for (int i = 0; i < 180; i++) {
        (void)isph_fluid_step(fluid, dt, NULL);
        if (i < 120) continue;
        result.rms += fixture_measure(fluid).rms_speed / 60.0;
        height += fixture_measure(fluid).centre[1] / 60.0;
    }
    result.volume = height / (0.5 * (double)depth);
    if (!fixture_finite(fluid) || isph_particles(fluid).count != 8 * 8 * 6) result.volume = 0.0;
    isph_fluid_destroy(fluid);
    return result;
}
static void far_away(report *r) {
    const float places[3] = {0.0f, 1000.0f, 10000.0f};
    char name[64];
    report_text(r, "### Far from the origin");
    report_text(
        r, "A tank of 384 particles at rest, dx = 0.05 m. 10 km off, a float has steps of 1 mm, a fiftieth of dx: what "
           "the particles round away comes back as motion, up to ten times what there is near the origin.");
    for (int i = 0; i < 3; i++) {
        const rest at = rest_at(0.05f, places[i]);
        (void)snprintf(name, sizeof name, "%g m off: error of the volume", (double)places[i]);
        report_at_most(r, name, 100.0 * fabs(at.volume - 1.0), 2.0, "%", "");
        (void)snprintf(name, sizeof name, "%g m off: rms speed", (double)places[i]);
        report_at_most(r, name, at.rms, i < 2 ? 0.03 : 0.1, "m/s", "sqrt(g dx) is 0.7 m/s");
    }
}
static void all_sizes(report *r) {
    const float spacings[4] = {0.001f, 0.01f, 0.1f, 1.0f};
    char name[64];
    report_text(r, "### Particles from 1 mm to 1 m");
    report_text(r, "The same tank with steps in proportion to sqrt(dx / g): the same behaviour at every size.");
    for (int i = 0; i < 4; i++) {
        const rest at = rest_at(spacings[i], 0.0f);
        (void)snprintf(name, sizeof name, "dx = %g m: error of the volume", (double)spacings[i]);
        report_at_most(r, name, 100.0 * fabs(at.volume - 1.0), 2.0, "%", "");
        (void)snprintf(name, sizeof name, "dx = %g m: rms speed over sqrt(g dx)", (double)spacings[i]);
        report_at_most(r, name, at.rms / sqrt(9.81 * (double)spacings[i]), 0.05, "", "");
    }
}

/* ---- cloth far away and of all sizes ----------------------------------------------------------------------------- */

typedef struct drape {
    double stretch, rms, lowest; /* longest edge over its rest; m/s over the last of 6 s; m over the ground */
    int quarantined;
} drape;

/* A cloth of 17 x 17 vertices falls over a sphere and lies there; everything in units of an edge. */
static drape drape_at(double edge, double away) {
    enum { SIDE = 17, SECONDS = 6 };
    float positions[3 * SIDE * SIDE];
    uint32_t triangles[6 * (SIDE - 1) * (SIDE - 1)];
    ipbd_world_desc world_desc = ipbd_world_desc_default();
    ipbd_collider_desc solid = ipbd_collider_desc_default();
    ipbd_body_desc desc = ipbd_body_desc_preset(IPBD_COTTON);
    const float far = (float)away, size = (float)(edge * (SIDE - 1));
    drape result = {0.0, 0.0, 0.0, 0};
    ipbd_world *world = ipbd_create(&world_desc, NULL);
    ipbd_body body;
    ipbd_view view;
    (void)ipbd_collider_create(world, &solid, NULL); /* the ground: a plane through the origin */
    solid.shape = ipbd_shape_sphere(0.3f * size), solid.pose = ipbd_pose_at(far, 0.4f * size, far);
    (void)ipbd_collider_create(world, &solid, NULL);
    desc.mesh.triangle_count = ipbd_grid(SIDE, SIDE, size, size, positions, triangles);
    desc.mesh.positions = positions, desc.mesh.triangles = triangles, desc.mesh.vertex_count = SIDE * SIDE;
    desc.pose = ipbd_pose_at(far, 0.75f * size, far), desc.thickness = 0.2f * (float)edge, desc.can_sleep = false;
    body = ipbd_body_create(world, &desc, NULL);
    for (int i = 0; i < SECONDS * 60; i++) {
        (void)ipbd_step(world, FRAME);
        result.quarantined += ipbd_world_stats(world).quarantined;
        if (i < (SECONDS - 1) * 60) continue;
        result.rms += sqrt(2.0 * ipbd_world_stats(world).kinetic_energy / ipbd_body_mass(world, body)) / 60.0;
    }
    view = ipbd_body_view(world, body);
    result.stretch = largest_edge_stretch(world, body, edge * sqrt(2.0));
    result.lowest = 1e9;
    for (int i = 0; i < view.vertex_count; i++)
        result.lowest = fmin(result.lowest, (double)view.positions[4 * i + 1]);
    ipbd_destroy(world);
    return result;
}
static void judge_drape(report *r, const char *where, double edge, const drape *at, double stretch) {
    char name[96];
    (void)snprintf(name, sizeof name, "%s: longest edge over the longest at rest", where);
    report_at_most(r, name, at->stretch, stretch, "", "");
    (void)snprintf(name, sizeof name, "%s: below the ground, in edges", where);
    report_at_most(r, name, -at->lowest / edge, 0.05, "", "");
    (void)snprintf(name, sizeof name, "%s: vertices put back", where);
    report_at_most(r, name, at->quarantined, 0.0, "", "none");
}
static void cloth_everywhere(report *r) {
    static const double places[3] = {0.0, 1000.0, 10000.0}, edges[4] = {0.001, 0.01, 0.1, 1.0};
    char where[64];
    report_text(r, "### Cloth far from the origin, and of all sizes");
    report_text(r, "Cotton of 17 x 17 vertices falls over a sphere, 6 s. The first three have edges of 0.05 m. Far "
                   "out, a vertex at rest is at the nearest float, and hops to the next in some substeps: its speed is "
                   "a step of a float (0.06 mm at 1 km, 1 mm at 10 km) per substep (1/1200 s), so it trembles there. "
                   "ipbd_shift_origin() helps. With edges of 1 mm a substep of the fall is longer than an edge, and a "
                   "sheet of 16 m hangs by its own weight from a few edges: there they stretch more.");
    for (int i = 0; i < 3; i++) {
        const drape at = drape_at(0.05, places[i]);
        (void)snprintf(where, sizeof where, "%g m off", places[i]);
        judge_drape(r, where, 0.05, &at, 1.05);
        (void)snprintf(where, sizeof where, "%g m off: rms speed", places[i]);
        report_at_most(r, where, at.rms, fmax(0.01, 2.0 * places[i] * 1.2e-7 * 1200.0), "m/s",
                       i ? "two steps of a float per substep" : "lies still");
    }
    for (int i = 0; i < 4; i++) {
        const drape at = drape_at(edges[i], 0.0);
        (void)snprintf(where, sizeof where, "edges of %g m", edges[i]);
        judge_drape(r, where, edges[i], &at, i == 0 || i == 3 ? 1.15 : 1.05);
        (void)snprintf(where, sizeof where, "edges of %g m: rms speed over sqrt(g edge)", edges[i]);
        report_at_most(r, where, at.rms / sqrt(9.81 * edges[i]), 0.1, "", "lies still");
    }
}

/* ---- a world far away -------------------------------------------------------------------------------------------- */

/* A tank with a jelly that floats, made at the origin and then taken away; 4 s. */
static void world_at(report *r, float away, double *height, double *volume) {
    enum { STEPS = 240 };
    isphpbd_world_desc desc = scene_desc();
    world_scene scene;
    isphpbd_stats stats;
    isphpbd_points jelly;
    char name[96];
    double sum = 0.0, error;
    int quarantined = 0;
    memset(&scene, 0, sizeof scene);
    scene.world = isphpbd_world_create(&desc, NULL);
    scene_add_water(&scene), scene_add_solids(&scene), scene_add_softs(&scene);
    (void)isphpbd_body_destroy(scene.world, scene.body);
    (void)isphpbd_world_shift_origin(scene.world, isphpbd_v3(away, 0.0f, away));
    for (int i = 0; i < STEPS; i++) {
        (void)isphpbd_world_step(scene.world, FRAME);
        stats = isphpbd_world_stats(scene.world);
        quarantined += stats.quarantined;
        jelly = isphpbd_soft_points(scene.world, scene.jelly);
        for (int k = 0; i >= STEPS / 2 && k < jelly.count; k++)
            sum += (double)*(const float *)(const void *)((const char *)jelly.position +
                                                          jelly.position_stride * (size_t)k + sizeof(float)) /
                   (jelly.count * (STEPS / 2));
    }
    stats = isphpbd_world_stats(scene.world);
    error = 100.0 * fabs((double)stats.volume_error);
    if (away == 0.0f) *height = sum, *volume = error;
    (void)snprintf(name, sizeof name, "%g m off: particles removed, things put to rest", (double)away);
    report_at_most(r, name, (double)stats.total_culled + quarantined, 0.0, "", "none");
    (void)snprintf(name, sizeof name, "%g m off: change of the jelly's volume", (double)away);
    report_value(r, name, error, "%");
    (void)snprintf(name, sizeof name, "%g m off: change of the jelly's volume beyond that at the origin", (double)away);
    report_at_most(r, name, error - *volume, 7.0, "%", "a float has steps of dx / 60 at 10 km");
    (void)snprintf(name, sizeof name, "%g m off: height of the jelly against that at the origin", (double)away);
    report_at_most(r, name, fabs(sum - *height), 0.02, "m", "");
    isphpbd_world_destroy(scene.world);
}
static void worlds_everywhere(report *r) {
    double height = 0.0, volume = 0.0;
    report_text(r, "### A coupled world far from the origin");
    report_text(r, "Water, an emitter, a sink, a cloth and a jelly in a tank (dx = 0.06 m), moved away by "
                   "isphpbd_world_shift_origin(), 4 s.");
    world_at(r, 0.0f, &height, &volume);
    world_at(r, 1000.0f, &height, &volume);
    world_at(r, 10000.0f, &height, &volume);
}

int main(int argc, char **argv) {
    report r;
    if (!report_open(&r, argc, argv, "Long runs, far places, all sizes")) return 2;
    far_away(&r);
    all_sizes(&r);
    cloth_everywhere(&r);
    worlds_everywhere(&r);
    long_balloon(&r);
    long_flag(&r);
    long_water(&r);
    return report_close(&r);
}
