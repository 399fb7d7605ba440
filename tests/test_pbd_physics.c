/* Soft bodies: short checks of the physics; the long ones are in validate_pbd.c. */
#include <stdio.h>
#include <stdlib.h>

#include "greatest.h"

#define IPBD_IMPLEMENTATION
#include "isphpbd_pbd.h"

#define STEP (1.0f / 60.0f)

static float cloth_xyz[3 * 25 * 25], block_xyz[3 * 7 * 7 * 7];
static uint32_t cloth_triangles[6 * 24 * 24], block_tets[24 * 6 * 6 * 6];

static ipbd_body_desc grid_desc(ipbd_preset preset, int columns, int rows, float width, float depth) {
    ipbd_body_desc d = ipbd_body_desc_preset(preset);
    d.mesh.triangle_count = ipbd_grid(columns, rows, width, depth, cloth_xyz, cloth_triangles);
    d.mesh.positions = cloth_xyz, d.mesh.vertex_count = columns * rows, d.mesh.triangles = cloth_triangles;
    return d;
}
static ipbd_body_desc cube_desc(int n, float size) {
    ipbd_body_desc d = ipbd_body_desc_default();
    d.mesh.tetrahedron_count = ipbd_block(n, n, n, isphpbd_v3(size, size, size), block_xyz, block_tets);
    d.mesh.positions = block_xyz, d.mesh.vertex_count = (n + 1) * (n + 1) * (n + 1), d.mesh.tetrahedra = block_tets;
    d.density = 1000.0f;
    return d;
}
static ipbd_world *world_of(const ipbd_body_desc *a, ipbd_body *body, isphpbd_vec3 gravity, int substeps) {
    ipbd_world_desc d = ipbd_world_desc_default();
    ipbd_world *world;
    d.gravity = gravity, d.substeps = substeps, d.sleep_speed = 0.0f;
    world = ipbd_create(&d, NULL);
    *body = ipbd_body_create(world, a, NULL);
    return world;
}
static void run(ipbd_world *world, int steps) {
    while (steps-- > 0) ipbd_step(world, STEP);
}
static isphpbd_vec3 down(void) { return isphpbd_v3(0.0f, -9.81f, 0.0f); }
static isphpbd_vec3 nowhere(void) { return isphpbd_v3(0.0f, 0.0f, 0.0f); }

/* ---- conservation ---- */

static void spin(ipbd_world *world, ipbd_body body, const ipbd_body_desc *d, isphpbd_vec3 omega, isphpbd_vec3 speed) {
    int i;
    for (i = 0; i < d->mesh.vertex_count; ++i) {
        isphpbd_vec3 p, v;
        ipbd_view view = ipbd_body_view(world, body);
        float mass = 1.0f / view.positions[4 * view.vertex_map[i] + 3];
        ipbd_body_vertex(world, body, i, &p, NULL);
        v = isphpbdx_add(isphpbdx_cross(omega, p), speed);
        v.x += 0.3f * (float)((i * 7) % 5 - 2), v.y += 0.3f * (float)((i * 11) % 7 - 3); /* and some shaking */
        ipbd_vertex_add_impulse(world, body, i, isphpbdx_scale(v, mass));
    }
}
TEST momentum_is_exact(const ipbd_body_desc *d) {
    ipbd_body body;
    ipbd_world *world = world_of(d, &body, nowhere(), 12);
    ipbd_stats a, b;
    double scale, momentum, angular;
    spin(world, body, d, isphpbd_v3(1.0f, 2.0f, -1.0f), isphpbd_v3(0.5f, -0.25f, 0.1f));
    a = ipbd_world_stats(world);
    run(world, 120);
    b = ipbd_world_stats(world);
    scale = sqrt(2.0 * a.kinetic_energy * ipbd_body_mass(world, body)); /* m v */
    momentum = (double)isphpbdx_length(isphpbdx_sub(a.momentum, b.momentum)) / scale;
    angular = (double)isphpbdx_length(isphpbdx_sub(a.angular_momentum, b.angular_momentum)) / scale;
    ASSERTm("momentum drifts", momentum < 1e-5);
    ASSERTm("angular momentum drifts", angular < 5e-5);
    ASSERTm("energy grows", b.kinetic_energy <= a.kinetic_energy * 1.0001);
    ipbd_destroy(world);
    PASS();
}
TEST momentum_is_exact_for_every_kind(void) {
    ipbd_body_desc d = grid_desc(IPBD_COTTON, 9, 9, 1.0f, 1.0f);
    int model;
    for (model = IPBD_BEND_DISTANCE; model <= IPBD_BEND_ISOMETRIC; ++model) {
        d.bend_model = (ipbd_bend_model)model, d.bend = ipbd_compliance(100.0f);
        CHECK_CALL(momentum_is_exact(&d));
    }
    d.stretch = ipbd_stiffness(0.9f), d.shear = ipbd_stiffness(0.6f), d.bend = ipbd_stiffness(0.75f);
    CHECK_CALL(momentum_is_exact(&d));
    d = cube_desc(3, 0.5f);
    CHECK_CALL(momentum_is_exact(&d));
    d.young_modulus = 2e7f;
    CHECK_CALL(momentum_is_exact(&d));
    d.solid_model = IPBD_SOLID_VOLUME, d.stretch = ipbd_compliance(1e-5f);
    CHECK_CALL(momentum_is_exact(&d));
    PASS();
}
TEST free_fall_is_exact(void) {
    ipbd_body_desc d = cube_desc(2, 0.3f);
    ipbd_body body;
    ipbd_world *world = world_of(&d, &body, down(), 10);
    isphpbd_vec3 v;
    run(world, 60);
    ipbd_body_vertex(world, body, 13, NULL, &v);
    ASSERT_IN_RANGE(-9.81f, v.y, 1e-3f);
    ASSERT_IN_RANGE(1000.0 * 0.027, ipbd_body_mass(world, body), 1e-3);
    ipbd_destroy(world);
    PASS();
}
TEST gravity_scale_and_drag_act(void) {
    ipbd_body_desc d = cube_desc(1, 0.3f);
    ipbd_body body;
    ipbd_world *world;
    isphpbd_vec3 v;
    d.gravity_scale = -0.5f;
    world = world_of(&d, &body, down(), 10);
    run(world, 60);
    ipbd_body_vertex(world, body, 0, NULL, &v);
    ASSERT_IN_RANGE(4.905f, v.y, 1e-3f);
    ASSERT_EQ(ISPHPBD_OK, ipbd_body_set_gravity_scale(world, body, 0.0f));
    run(world, 10);
    ipbd_body_vertex(world, body, 0, NULL, &v);
    ASSERT_IN_RANGE(4.905f, v.y, 1e-3f);
    ipbd_destroy(world);
    d.gravity_scale = 1.0f, d.drag = 2.0f;
    world = world_of(&d, &body, down(), 10);
    run(world, 600);
    ipbd_body_vertex(world, body, 0, NULL, &v);
    ASSERT_IN_RANGE(-9.81f / 2.0f, v.y, 0.01f); /* terminal speed g / drag */
    ipbd_destroy(world);
    PASS();
}

/* ---- shape ---- */

static float middle_drop_of(int n, ipbd_elasticity stretch, int substeps, int iterations) {
    ipbd_body_desc d = grid_desc(IPBD_COTTON, n, n, 1.0f, 1.0f);
    const uint32_t side = (uint32_t)n, pins[4] = {0, side - 1, (side - 1) * side, side * side - 1};
    ipbd_body body;
    ipbd_world *world;
    isphpbd_vec3 p;
    d.stretch = d.shear = stretch, d.pinned = pins, d.pinned_count = 4, d.drag = 3.0f;
    world = world_of(&d, &body, down(), substeps);
    ipbd_set_budget(world, substeps, iterations);
    run(world, 180);
    ipbd_body_vertex(world, body, n * n / 2, &p, NULL);
    ipbd_destroy(world);
    return -p.y;
}
static float middle_drop(ipbd_elasticity stretch, int substeps, int iterations) {
    return middle_drop_of(13, stretch, substeps, iterations);
}
/* The paper's settings: each clearly different from the next, and the same whatever iterations, substeps and mesh. */
TEST pbd_stiffness_is_that_of_the_body(void) {
    static const float settings[4] = {0.6f, 0.75f, 0.8f, 0.9f};
    float drop[4];
    int i;
    for (i = 0; i < 4; ++i) {
        float more;
        drop[i] = middle_drop(ipbd_stiffness(settings[i]), 8, 1);
        more = middle_drop(ipbd_stiffness(settings[i]), 8, 4);
        ASSERT_IN_RANGE(drop[i], more, 0.1f * drop[i]);
        ASSERT_IN_RANGE(drop[i], middle_drop(ipbd_stiffness(settings[i]), 40, 1), 0.1f * drop[i]);
        ASSERT_IN_RANGE(drop[i], middle_drop_of(21, ipbd_stiffness(settings[i]), 16, 1), 0.1f * drop[i]);
        if (i > 0) ASSERTm("stiffer hangs higher", drop[i] < drop[i - 1]);
    }
    ASSERT(drop[0] > 1.2f * drop[3]);
    PASS();
}
TEST compliance_is_ordered_and_zero_hardly_stretches(void) {
    float soft = middle_drop(ipbd_compliance(1e-2f), 12, 1), firm = middle_drop(ipbd_compliance(1e-4f), 12, 1),
          hard = middle_drop(ipbd_compliance(0.0f), 12, 1);
    ASSERT(soft > 1.2f * firm);
    ASSERT(firm >= hard);
    ASSERT(hard < 0.15f);
    PASS();
}
static double crushed_recovers(float poisson, float young) {
    ipbd_body_desc d = cube_desc(4, 0.5f);
    ipbd_body body;
    ipbd_world *world;
    ipbd_arrays arrays;
    double worst = 0.0;
    int i, k;
    d.poisson_ratio = poisson, d.young_modulus = young, d.damping = 3.0f;
    world = world_of(&d, &body, nowhere(), 12);
    arrays = ipbd_world_arrays(world);
    for (i = 0; i < arrays.vertex_count; ++i)
        arrays.positions[4 * i + 1] *= -0.5f; /* turned inside out and flattened */
    run(world, 240);
    for (i = 0; i < d.mesh.vertex_count; ++i)
        for (k = 0; k < i; ++k) { /* all distances, since it may have turned */
            isphpbd_vec3 p, q;
            float now, rest = isphpbdx_length(isphpbdx_sub(ipbdx_v3(block_xyz + 3 * i), ipbdx_v3(block_xyz + 3 * k)));
            ipbd_body_vertex(world, body, i, &p, NULL), ipbd_body_vertex(world, body, k, &q, NULL);
            now = isphpbdx_length(isphpbdx_sub(p, q));
            if (fabs((double)(now - rest)) > worst) worst = fabs((double)(now - rest));
        }
    if (ipbd_body_volume(world, body) < 0.9 * 0.125) worst = 1.0;
    ipbd_destroy(world);
    return worst;
}
TEST an_inverted_body_recovers_its_shape(void) {
    ASSERT(crushed_recovers(0.3f, 1e5f) < 0.02);
    ASSERT(crushed_recovers(0.45f, 1e4f) < 0.02);
    ASSERT(crushed_recovers(0.0f, 1e5f) < 0.02);
    PASS();
}
static float height_of(const ipbd_world *world, ipbd_body body) {
    ipbd_view view = ipbd_body_view(world, body);
    float low = 1e9f, high = -1e9f;
    int i;
    for (i = 0; i < view.vertex_count; ++i)
        low = isphpbdx_min(low, view.positions[4 * i + 1]), high = isphpbdx_max(high, view.positions[4 * i + 1]);
    return high - low;
}
/* A block drawn onto a sphere: along the block's edges, tetrahedra are as good as flat, 500 times stiffer than others.
   Soft as jelly it rolls over the ground, flattened by its weight, and without weight it is a ball again. */
TEST a_ball_with_flat_tetrahedra_stays_whole(void) {
    ipbd_body_desc d = cube_desc(6, 1.0f);
    ipbd_collider_desc ground = ipbd_collider_desc_default();
    ipbd_body body;
    ipbd_world *world;
    int i, k;
    for (i = 0; i < 343; ++i) {
        float *p = block_xyz + 3 * i, most = 0.0f, length = sqrtf(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]);
        for (k = 0; k < 3; ++k) most = isphpbdx_max(most, isphpbdx_abs(p[k]));
        for (k = 0; k < 3 && length > 0.0f; ++k) p[k] *= 0.5f * most / length;
    }
    d.young_modulus = 1e4f, d.friction = 0.8f, d.pose = ipbd_pose_at(0, 0.28f, 0), d.velocity = isphpbd_v3(2, 0, 0);
    world = world_of(&d, &body, down(), 12);
    ipbd_collider_create(world, &ground, NULL);
    for (i = 0; i < 240; ++i) {
        double speed;
        ipbd_step(world, STEP);
        speed = sqrt(2.0 * ipbd_world_stats(world).kinetic_energy / ipbd_body_mass(world, body));
        ASSERTm("it explodes", speed < 3.0); /* it has 2 m/s and 3 cm to fall */
    }
    ASSERT_IN_RANGE(0.33f, height_of(world, body), 0.05f); /* its weight over its section is 33 % of E */
    ipbd_set_gravity(world, nowhere());
    run(world, 180);
    ASSERT_IN_RANGE(0.5f, height_of(world, body), 0.025f);
    ipbd_destroy(world);
    PASS();
}
TEST volume_tetrahedra_keep_their_volume_under_load(void) {
    ipbd_body_desc d = cube_desc(4, 0.5f);
    ipbd_body body;
    ipbd_world *world;
    ipbd_collider_desc c = ipbd_collider_desc_default();
    ipbd_collider plate;
    double before, after;
    int i;
    d.solid_model = IPBD_SOLID_VOLUME, d.stretch = ipbd_compliance(1e-4f), d.volume = ipbd_compliance(0.0f);
    world = world_of(&d, &body, down(), 20);
    c.pose = ipbd_pose_at(0, -0.26f, 0);
    ipbd_collider_create(world, &c, NULL);
    c.shape = ipbd_shape_box(1.0f, 0.1f, 1.0f), c.pose = ipbd_pose_at(0, 0.36f, 0);
    plate = ipbd_collider_create(world, &c, NULL);
    before = ipbd_body_volume(world, body);
    for (i = 0; i < 120; ++i) { /* press it to 80 % of its height */
        ipbd_collider_move(world, plate, ipbd_pose_at(0, 0.36f - 0.1f * (float)(i < 60 ? i : 60) / 60.0f, 0));
        ipbd_step(world, STEP);
    }
    after = ipbd_body_volume(world, body);
    ASSERT_IN_RANGE(before, after, 0.01 * before);
    ipbd_destroy(world);
    PASS();
}
/* A cube's surface, six squares of n x n quads, welded at the seams. */
static int box_shell(int n, float half, float *xyz, uint32_t *triangles) {
    static const float axes[6][9] = {{1, 0, 0, 0, 1, 0, 0, 0, 1}, {-1, 0, 0, 0, 0, 1, 0, 1, 0},
                                     {0, 1, 0, 0, 0, 1, 1, 0, 0}, {0, -1, 0, 1, 0, 0, 0, 0, 1},
                                     {0, 0, 1, 1, 0, 0, 0, 1, 0}, {0, 0, -1, 0, 1, 0, 1, 0, 0}};
    int side, i, j, k, count = 0;
    for (side = 0; side < 6; ++side) {
        uint32_t first = (uint32_t)(side * (n + 1) * (n + 1));
        for (j = 0; j <= n; ++j)
            for (i = 0; i <= n; ++i) {
                float u = 2.0f * (float)i / (float)n - 1.0f, v = 2.0f * (float)j / (float)n - 1.0f;
                float *p = xyz + 3 * ((int)first + i + (n + 1) * j);
                for (k = 0; k < 3; ++k) p[k] = half * (axes[side][k] + u * axes[side][3 + k] + v * axes[side][6 + k]);
            }
        for (j = 0; j < n; ++j)
            for (i = 0; i < n; ++i, count += 2) {
                uint32_t a = first + (uint32_t)(i + (n + 1) * j), b = a + 1, c = a + (uint32_t)n + 1, d = c + 1,
                         *t = triangles + 3 * count;
                t[0] = a, t[1] = b, t[2] = c, t[3] = b, t[4] = d, t[5] = c;
            }
    }
    return count;
}
static float shell_xyz[3 * 6 * 9 * 9];
static uint32_t shell_triangles[6 * 6 * 64];
static ipbd_body_desc balloon_desc(void) {
    ipbd_body_desc d = ipbd_body_desc_preset(IPBD_BALLOON);
    d.mesh.triangle_count = box_shell(8, 0.25f, shell_xyz, shell_triangles);
    d.mesh.positions = shell_xyz, d.mesh.vertex_count = 6 * 81, d.mesh.triangles = shell_triangles;
    return d;
}
TEST a_balloon_keeps_its_volume_and_grows_with_pressure(void) {
    ipbd_body_desc d = balloon_desc();
    ipbd_collider_desc c = ipbd_collider_desc_default();
    ipbd_mesh_report report;
    ipbd_body body;
    ipbd_world *world;
    double rest;
    int i;
    d.pose = ipbd_pose_at(0, 0.6f, 0);
    world = world_of(&d, &body, down(), 12);
    ASSERT(body.id != 0);
    ipbd_collider_create(world, &c, NULL);
    ipbd_body_report(world, body, &report);
    ASSERT_EQ(6 * 81 - (6 * 49 + 12 * 7 + 8), report.welded);
    rest = ipbd_body_volume(world, body);
    ASSERT_IN_RANGE(0.125, rest, 1e-5);
    for (i = 0; i < 120; ++i) {
        ipbd_step(world, STEP);
        ASSERT_IN_RANGE(rest, ipbd_body_volume(world, body), 0.01 * rest); /* in flight, at the impact, at rest */
    }
    ASSERT_EQ(ISPHPBD_OK, ipbd_body_set_pressure(world, body, 1.5f, 0.0f));
    run(world, 60);
    ASSERT_IN_RANGE(1.5 * rest, ipbd_body_volume(world, body), 0.03 * rest);
    ipbd_destroy(world);
    PASS();
}
TEST overpressure_swells_a_shell(void) {
    ipbd_body_desc d = balloon_desc();
    ipbd_body body;
    ipbd_world *world;
    d.balloon = ipbd_absent(), d.overpressure = 200.0f;
    world = world_of(&d, &body, nowhere(), 12);
    run(world, 120);
    ASSERT(ipbd_body_volume(world, body) > 1.1 * 0.125);
    ASSERT(isphpbdx_length(ipbd_world_stats(world).momentum) < 1e-3f); /* a closed shell does not push itself away */
    ipbd_destroy(world);
    PASS();
}
TEST plastic_edges_stay_bent_elastic_ones_do_not(void) {
    float lengths[2];
    int plastic;
    for (plastic = 0; plastic < 2; ++plastic) {
        float xyz[6] = {0, 0, 0, 1, 0, 0};
        uint32_t line[2] = {0, 1}, pin[1] = {0};
        ipbd_body_desc d = ipbd_body_desc_default();
        ipbd_body body;
        ipbd_world *world;
        isphpbd_vec3 p;
        int i;
        d.mesh.positions = xyz, d.mesh.vertex_count = 2, d.mesh.lines = line, d.mesh.line_count = 1, d.pinned = pin,
        d.pinned_count = 1;
        d.stretch = ipbd_compliance(0.01f), d.drag = 5.0f;
        d.plastic_yield = plastic ? 0.05f : 0.0f, d.plastic_creep = 5.0f, d.plastic_max = 0.5f;
        world = world_of(&d, &body, nowhere(), 8);
        for (i = 0; i < 60; ++i)
            ipbd_pin_move(world, body, 1, isphpbd_v3(1.0f + 0.3f * (float)i / 59.0f, 0, 0)), ipbd_step(world, STEP);
        ipbd_unpin(world, body, 1);
        run(world, 240);
        ipbd_body_vertex(world, body, 1, &p, NULL);
        lengths[plastic] = isphpbdx_length(p);
        ipbd_destroy(world);
    }
    ASSERT_IN_RANGE(1.0f, lengths[0], 0.01f);
    ASSERT(lengths[1] > 1.08f && lengths[1] < 1.3f);
    PASS();
}

/* A bar of jelly, 0.4 x 0.1 x 0.1 m, with either model. */
enum { BAR = 4, BAR_VERTICES = (BAR + 1) * 4 };
static ipbd_body_desc bar_desc(ipbd_solid_model model) {
    ipbd_body_desc d = ipbd_body_desc_preset(IPBD_JELLY);
    d.mesh.tetrahedron_count = ipbd_block(BAR, 1, 1, isphpbd_v3(0.4f, 0.1f, 0.1f), block_xyz, block_tets);
    d.mesh.positions = block_xyz, d.mesh.vertex_count = BAR_VERTICES, d.mesh.tetrahedra = block_tets;
    d.solid_model = model, d.stretch = ipbd_compliance(1e-4f);
    d.plastic_yield = 0.05f, d.plastic_creep = 5.0f;
    return d;
}
static float bar_length(const ipbd_world *world, ipbd_body body) {
    isphpbd_vec3 left, right;
    ipbd_body_vertex(world, body, 0, &left, NULL);
    ipbd_body_vertex(world, body, BAR, &right, NULL);
    return isphpbdx_length(isphpbdx_sub(right, left));
}
/* Within a second to `stretch` times its length, its ends alone held, or all of it at its volume; then held. */
static void pull_bar(ipbd_world *world, ipbd_body body, float stretch, bool ends, int held) {
    int i, v;
    for (i = 1; i <= 60; ++i) {
        const float x = 1.0f + (stretch - 1.0f) * (float)i / 60.0f, y = ends ? 1.0f : 1.0f / sqrtf(x);
        for (v = 0; v < BAR_VERTICES; ++v)
            if (!ends || v % (BAR + 1) == 0 || v % (BAR + 1) == BAR)
                ipbd_pin_move(world, body, v,
                              isphpbd_v3(x * block_xyz[3 * v], y * block_xyz[3 * v + 1], y * block_xyz[3 * v + 2]));
        ipbd_step(world, STEP);
    }
    run(world, held);
}
static void let_go(ipbd_world *world, ipbd_body body) {
    int v;
    for (v = 0; v < BAR_VERTICES; ++v) ipbd_unpin(world, body, v);
}
static double most_kinetic(ipbd_world *world, int steps) {
    double most = 0.0;
    while (steps-- > 0) {
        ipbd_step(world, STEP);
        if (ipbd_world_stats(world).kinetic_energy > most) most = ipbd_world_stats(world).kinetic_energy;
    }
    return most;
}
/* Let go, it swings with the 0.1 to 2 J that were in it, and never more again in 20 s. */
TEST a_stretched_solid_only_loses_energy(ipbd_solid_model model, bool plastic, int substeps) {
    ipbd_body_desc d = bar_desc(model);
    double before, now;
    ipbd_body body;
    ipbd_world *world;
    int i;
    if (!plastic) d.plastic_creep = 0.0f;
    world = world_of(&d, &body, nowhere(), substeps);
    pull_bar(world, body, 1.3f, true, 60);
    let_go(world, body);
    before = most_kinetic(world, 120);
    ASSERT(before > 0.02 && before < 4.0);
    for (i = 0; i < 9; ++i, before = now) {
        now = most_kinetic(world, 120);
        ASSERTm("energy grows", now < 1.05 * before + 2e-4); /* the rest is rounding, and Gauss-Seidel's hum */
    }
    ASSERT(before < 2e-3);
    ipbd_destroy(world);
    PASS();
}
TEST stretched_solids_only_lose_energy(void) {
    static const int substeps[3] = {4, 12, 40};
    int model, plastic, i;
    for (model = 0; model < 2; ++model)
        for (plastic = 0; plastic < 2; ++plastic)
            for (i = 0; i < 3; ++i)
                CHECK_CALL(a_stretched_solid_only_loses_energy((ipbd_solid_model)model, plastic != 0, substeps[i]));
    PASS();
}
/* Edges so soft that they hold nothing back, and the volumes alone would shake the bar up to 7 J. */
TEST a_solid_of_volumes_makes_no_energy(void) {
    ipbd_body_desc d = bar_desc(IPBD_SOLID_VOLUME);
    ipbd_body body;
    ipbd_world *world;
    d.plastic_creep = 0.0f, d.stretch = ipbd_compliance(0.1f);
    world = world_of(&d, &body, nowhere(), 12);
    pull_bar(world, body, 1.3f, true, 60);
    let_go(world, body);
    ASSERT(most_kinetic(world, 1200) < 0.002);
    ipbd_destroy(world);
    PASS();
}
/* At the yield strain flow ends: what is left of the stretch x is x_e with (x_e - x_e^-1/2) / mean / (1 + nu) = yield,
   and x / x_e stays. */
static float expected_set(float stretch, float yield, float poisson) {
    float low = 1.0f, high = stretch;
    int i;
    for (i = 0; i < 40; ++i) {
        const float x = 0.5f * (low + high), y = 1.0f / sqrtf(x);
        if ((x - y) / ((x + 2.0f * y) / 3.0f) / (1.0f + poisson) > yield) high = x;
        else low = x;
    }
    return stretch / low;
}
static float lasting_length(const ipbd_body_desc *d, float stretch, bool ends, int substeps) {
    ipbd_body body;
    ipbd_world *world = world_of(d, &body, nowhere(), substeps);
    float length;
    pull_bar(world, body, stretch, ends, 120);
    let_go(world, body);
    run(world, 300);
    length = bar_length(world, body) / 0.4f;
    ipbd_destroy(world);
    return length;
}
TEST an_elastic_solid_beyond_yield_keeps_its_set(void) {
    ipbd_body_desc d = bar_desc(IPBD_SOLID_ELASTIC);
    float expected = expected_set(1.3f, 0.05f, d.poisson_ratio);
    int substeps;
    ASSERT_IN_RANGE(1.24f, expected, 0.01f);
    ASSERT_IN_RANGE(expected, lasting_length(&d, 1.3f, false, 12), 0.005f);
    for (substeps = 4; substeps <= 36; substeps *= 3) /* its ends alone held, it is nearly the same */
        ASSERT_IN_RANGE(expected, lasting_length(&d, 1.3f, true, substeps), 0.02f);
    ASSERT_IN_RANGE(1.0f, lasting_length(&d, 1.03f, false, 12), 0.001f); /* below yield */
    d.plastic_max = 0.1f, d.drag = 100.0f; /* without a swing in which it would flow back */
    ASSERT_IN_RANGE(1.1f, lasting_length(&d, 1.3f, false, 12), 0.005f);
    d.plastic_max = 1.0f, d.drag = 0.0f, d.young_modulus = 1e6f;
    ASSERT_IN_RANGE(expected, lasting_length(&d, 1.3f, false, 12), 0.005f);
    PASS();
}
TEST flow_of_solids_is_saved_and_undone(ipbd_solid_model model) {
    ipbd_body_desc d = bar_desc(model);
    ipbd_body body, same;
    ipbd_world *world = world_of(&d, &body, nowhere(), 12), *other = world_of(&d, &same, nowhere(), 12);
    const double volume = ipbd_body_volume(world, body);
    size_t bytes = ipbd_save(world, NULL, 0);
    void *snapshot = malloc(bytes);
    uint64_t hash;
    pull_bar(world, body, 1.3f, true, 0);
    ASSERT_EQ(bytes, ipbd_save(world, snapshot, bytes));
    ASSERT_EQ(ISPHPBD_OK, ipbd_load(other, snapshot, bytes));
    run(world, 60), run(other, 60); /* it flows on, held by its pins */
    hash = ipbd_hash(world);
    ASSERT_EQ(hash, ipbd_hash(other));
    let_go(world, body);
    run(world, 300);
    ASSERT(bar_length(world, body) > 1.2f * 0.4f);
    ASSERT_IN_RANGE(volume, ipbd_body_volume(world, body), 0.01 * volume);
    ASSERT_EQ(ISPHPBD_OK, ipbd_body_reset(world, body));
    run(world, 60);
    ASSERT_IN_RANGE(0.4f, bar_length(world, body), 1e-5f);
    free(snapshot);
    ipbd_destroy(world), ipbd_destroy(other);
    PASS();
}
TEST flow_is_saved_and_undone(void) {
    CHECK_CALL(flow_of_solids_is_saved_and_undone(IPBD_SOLID_ELASTIC));
    CHECK_CALL(flow_of_solids_is_saved_and_undone(IPBD_SOLID_VOLUME));
    PASS();
}

/* ---- pins, tethers, attachments ---- */

TEST fast_pins_do_not_lag(void) {
    ipbd_body_desc d = grid_desc(IPBD_COTTON, 17, 17, 1.0f, 1.0f);
    uint32_t pins[2] = {0, 16};
    ipbd_body body;
    ipbd_world *world;
    isphpbd_vec3 at[2], p;
    float worst = 0.0f, stretch = 0.0f, nearest = 0.0f;
    int i, k;
    d.pinned = pins, d.pinned_count = 2, d.tether_slack = 1.03f;
    world = world_of(&d, &body, down(), 16);
    for (i = 0; i < 120; ++i) { /* round a circle of 1.5 m at 20 m/s */
        float angle = 20.0f / 1.5f * STEP * (float)(i + 1), x = 1.5f * sinf(angle), z = 1.5f * (1.0f - cosf(angle));
        at[0] = isphpbd_v3(-0.5f + x, 0, -0.5f + z), at[1] = isphpbd_v3(0.5f + x, 0, -0.5f + z);
        for (k = 0; k < 2; ++k) ipbd_pin_move(world, body, (int)pins[k], at[k]);
        ipbd_step(world, STEP);
        for (k = 0; k < 2; ++k) {
            ipbd_body_vertex(world, body, (int)pins[k], &p, NULL);
            worst = isphpbdx_max(worst, isphpbdx_length(isphpbdx_sub(p, at[k])));
        }
        for (k = 0; k < 17 * 17; ++k) { /* against straight distances in the flat cloth */
            float rest[2], ratio[2];
            int side;
            ipbd_body_vertex(world, body, k, &p, NULL);
            for (side = 0; side < 2; ++side) {
                isphpbd_vec3 flat = isphpbdx_sub(ipbdx_v3(cloth_xyz + 3 * k), ipbdx_v3(cloth_xyz + 3 * pins[side]));
                rest[side] = isphpbdx_length(flat);
                ratio[side] = isphpbdx_length(isphpbdx_sub(p, at[side])) / isphpbdx_max(rest[side], 1e-3f);
            }
            if (rest[0] < 0.1f || rest[1] < 0.1f) continue;
            stretch = isphpbdx_max(stretch, isphpbdx_min(ratio[0], ratio[1]) - 1.0f);
            nearest = isphpbdx_max(nearest, ratio[rest[1] < rest[0]] - 1.0f);
        }
    }
    ASSERTm("pins are where they shall be", worst <= 1e-3f);
    ASSERTm("tethers hold", stretch <= 0.05f); /* no vertex is farther than that from both pins */
    ASSERTm("they do so near their pins", nearest <= 0.11f); /* shear and a frame's jerk: 2 cm */
    ipbd_destroy(world);
    PASS();
}
TEST attachments_follow_and_pull_the_host(void) {
    ipbd_body_desc d = grid_desc(IPBD_COTTON, 9, 9, 1.0f, 1.0f);
    ipbd_collider_desc c = ipbd_collider_desc_default();
    ipbd_body body;
    ipbd_world *world;
    ipbd_collider bar;
    isphpbd_vec3 p, pull, torque, sum = nowhere();
    int i;
    d.drag = 4.0f;
    world = world_of(&d, &body, down(), 20);
    c.shape = ipbd_shape_capsule(0.02f, 0.6f), c.pose = ipbd_pose_at(0, 0.05f, -0.5f), c.mask = 0; /* touches nothing */
    bar = ipbd_collider_create(world, &c, NULL);
    for (i = 0; i < 9; ++i) ASSERT_EQ(ISPHPBD_OK, ipbd_attach(world, body, i, bar));
    for (i = 0; i < 240; ++i) {
        ipbd_collider_move(world, bar, ipbd_pose_at(0, 0.05f + 0.5f * (float)(i < 60 ? i : 60) / 60.0f, -0.5f));
        ipbd_step(world, STEP);
    }
    ipbd_body_vertex(world, body, 4, &p, NULL);
    ASSERT_IN_RANGE(0.5f, p.y, 1e-5f);
    ipbd_collider_take_impulse(world, bar, NULL, NULL);
    run(world, 60);
    ipbd_collider_take_impulse(world, bar, &pull, &torque);
    ASSERT_IN_RANGE(-9.81 * ipbd_body_mass(world, body), (double)pull.y,
                    0.02 * 9.81 * ipbd_body_mass(world, body)); /* N s in one second */
    for (i = 0; i < 9; ++i) {
        ASSERT_EQ(ISPHPBD_OK, ipbd_pin_force(world, body, i, &p));
        sum = isphpbdx_add(sum, p);
    }
    ASSERT_IN_RANGE(-9.81 * ipbd_body_mass(world, body), (double)sum.y, 0.02 * 9.81 * ipbd_body_mass(world, body));
    ASSERT_EQ(ISPHPBD_OK, ipbd_collider_destroy(world, bar)); /* and all are free */
    run(world, 30);
    ipbd_body_vertex(world, body, 4, &p, NULL);
    ASSERT(p.y < 0.1f);
    ipbd_destroy(world);
    PASS();
}
/* A curtain whose pins are inside the rail: next to it the mesh is stretched for ever, because its vertices cannot be
   in there. The rest of it must hang as on pins alone, not longer. */
TEST curtain_hangs_on_a_rail_as_on_pins(void) {
    ipbd_body_desc d = grid_desc(IPBD_COTTON, 25, 25, 1.0f, 1.0f);
    ipbd_collider_desc c = ipbd_collider_desc_default();
    const float half = 0.70710678f;
    uint32_t pins[25];
    ipbd_body body;
    ipbd_world *world;
    int i;
    for (i = 0; i < 25; ++i) pins[i] = (uint32_t)i;
    d.pinned = pins, d.pinned_count = 25;
    d.pose.rotation.x = half, d.pose.rotation.w = half; /* the first row is the upper one */
    world = world_of(&d, &body, down(), 4);
    c.shape = ipbd_shape_capsule(0.06f, 0.6f), c.pose = ipbd_pose_at(0, 0.5f, 0);
    c.pose.rotation.z = half, c.pose.rotation.w = half;
    ipbd_collider_create(world, &c, NULL);
    run(world, 120);
    printf("curtain on a rail: %.4f m high\n", (double)height_of(world, body));
    ASSERT_IN_RANGE(1.0f, height_of(world, body), 0.02f);
    ipbd_destroy(world);
    PASS();
}
static isphpbd_vec3 loose_momentum(const ipbd_world *world, ipbd_body body) {
    ipbd_view view = ipbd_body_view(world, body);
    isphpbd_vec3 sum = nowhere();
    int i;
    for (i = 0; i < view.vertex_count; ++i) {
        const float w = view.positions[4 * i + 3];
        if (w > 0.0f) sum = isphpbdx_madd(sum, ipbdx_v3(view.velocities + 4 * i), 1.0f / w);
    }
    return sum;
}
/* A cloth that flies away with a bar of the host's, 0.1 kg, to which it is attached, in empty space: what the cloth
   loses, the bar gets. What is attached counts as part of the bar: its mass is the host's to add. */
TEST attachments_keep_momentum(void) {
    ipbd_body_desc d = grid_desc(IPBD_COTTON, 9, 9, 1.0f, 1.0f);
    ipbd_collider_desc c = ipbd_collider_desc_default();
    isphpbd_vec3 x = isphpbd_v3(0, 0.05f, -0.5f), v = nowhere(), impulse = nowhere(), first, last;
    ipbd_body body;
    ipbd_world *world;
    ipbd_collider bar;
    double lost, fastest = 0.0;
    int i;
    d.velocity = isphpbd_v3(0.3f, 0.5f, 1.0f);
    world = world_of(&d, &body, nowhere(), 20);
    c.shape = ipbd_shape_capsule(0.02f, 0.6f), c.pose.position = x, c.mask = 0, c.mass = 0.1f;
    bar = ipbd_collider_create(world, &c, NULL);
    for (i = 0; i < 9; ++i) ASSERT_EQ(ISPHPBD_OK, ipbd_attach(world, body, i, bar));
    first = loose_momentum(world, body);
    for (i = 0; i < 240; ++i) {
        ipbd_pose pose = c.pose;
        ipbd_collider_move(world, bar, ipbd_pose_at(x.x + v.x * STEP, x.y + v.y * STEP, x.z + v.z * STEP));
        ipbd_step(world, STEP);
        ipbd_collider_take_impulse(world, bar, &impulse, NULL);
        ipbd_collider_pose(world, bar, &pose);
        x = pose.position, v = isphpbdx_madd(v, impulse, 1.0f / c.mass);
        fastest = fmax(fastest, (double)isphpbdx_length(v));
    }
    last = isphpbdx_madd(loose_momentum(world, body), v, c.mass);
    lost = (double)isphpbdx_length(isphpbdx_sub(last, first)) / (double)isphpbdx_length(first);
    printf("attached: %.2e of the momentum lost, the bar made %.2f m/s\n", lost, fastest);
    ASSERT(fastest > 0.5);
    ASSERT(lost < 0.01);
    ipbd_destroy(world);
    PASS();
}
TEST teleport_has_no_jerk(void) {
    ipbd_body_desc d = grid_desc(IPBD_COTTON, 9, 9, 1.0f, 1.0f);
    uint32_t pins[2] = {0, 8};
    ipbd_body body, other;
    ipbd_world *a, *b;
    ipbd_pose change = ipbd_pose_at(2.0f, 1.0f, -1.0f);
    isphpbd_vec3 p, q;
    int i;
    d.pinned = pins, d.pinned_count = 2;
    a = world_of(&d, &body, down(), 12), b = world_of(&d, &other, down(), 12);
    run(a, 60), run(b, 60);
    ASSERT_EQ(ISPHPBD_OK, ipbd_body_teleport(b, other, nowhere(), change));
    run(a, 2), run(b, 2);
    for (i = 0; i < 81; ++i) {
        ipbd_body_vertex(a, body, i, &p, NULL), ipbd_body_vertex(b, other, i, &q, NULL);
        ASSERT(isphpbdx_length(isphpbdx_sub(isphpbdx_sub(q, change.position), p)) < 5e-4f);
    }
    ipbd_destroy(a), ipbd_destroy(b);
    PASS();
}
TEST bodies_sleep_and_wake(void) {
    ipbd_body_desc d = cube_desc(2, 0.3f);
    ipbd_collider_desc c = ipbd_collider_desc_default();
    ipbd_world_desc wd = ipbd_world_desc_default();
    ipbd_world *world = ipbd_create(&wd, NULL);
    ipbd_collider ball;
    ipbd_body body;
    uint64_t asleep;
    d.pose = ipbd_pose_at(0, 0.2f, 0), d.damping = 3.0f;
    body = ipbd_body_create(world, &d, NULL);
    ipbd_collider_create(world, &c, NULL);
    c.shape = ipbd_shape_sphere(0.1f), c.pose = ipbd_pose_at(3, 0.2f, 0);
    ball = ipbd_collider_create(world, &c, NULL);
    run(world, 600);
    ASSERT(ipbd_body_sleeping(world, body));
    asleep = ipbd_hash(world);
    run(world, 10);
    ASSERT_EQ(asleep, ipbd_hash(world));
    ipbd_collider_move(world, ball, ipbd_pose_at(0.24f, 0.2f, 0));
    ipbd_step(world, STEP);
    ASSERT_FALSE(ipbd_body_sleeping(world, body));
    ipbd_collider_teleport(world, ball, ipbd_pose_at(3, 0.2f, 0));
    run(world, 900);
    ASSERT(ipbd_body_sleeping(world, body));
    ipbd_body_add_velocity(world, body, isphpbd_v3(0, 1, 0));
    ASSERT_FALSE(ipbd_body_sleeping(world, body));
    ipbd_destroy(world);
    PASS();
}
/* As the preset is, and in still air it must not be braked: it falls as anything does. */
TEST presets_feel_wind_only(void) {
    ipbd_body_desc d = grid_desc(IPBD_COTTON, 5, 5, 1.0f, 1.0f);
    ipbd_body body;
    ipbd_world *world = world_of(&d, &body, down(), 12);
    isphpbd_vec3 v;
    run(world, 30);
    ipbd_body_vertex(world, body, 12, NULL, &v);
    ASSERT_IN_RANGE(-4.905f, v.y, 1e-3f);
    ipbd_set_wind(world, isphpbd_v3(0, 10.0f, 0));
    run(world, 120); /* floats where 0.6 kg/m^3 * 1.2 (10 - v)^2 carries 0.15 * 9.81 N/m^2 */
    ipbd_body_vertex(world, body, 12, NULL, &v);
    ASSERT_IN_RANGE(10.0f - sqrtf(0.15f * 9.81f / 0.72f), v.y, 0.3f);
    ipbd_destroy(world);
    PASS();
}
TEST wind_carries_a_cloth(void) {
    ipbd_body_desc d = grid_desc(IPBD_SILK, 9, 9, 1.0f, 1.0f);
    uint32_t pins[9] = {0, 1, 2, 3, 4, 5, 6, 7, 8};
    ipbd_body body;
    ipbd_world *world;
    isphpbd_vec3 p;
    d.pinned = pins, d.pinned_count = 9, d.wind_drag = 1.0f, d.still_air = true;
    world = world_of(&d, &body, down(), 12);
    ipbd_set_wind(world, isphpbd_v3(0, 0, 6.0f));
    run(world, 300);
    ipbd_body_vertex(world, body, 76, &p, NULL);
    ASSERT(p.z > 0.0f); /* blown out from where it would hang, z = -0.5 */
    ipbd_destroy(world);
    PASS();
}
TEST per_vertex_masses_count(void) {
    float xyz[6] = {0, 0, 0, 1, 0, 0}, masses[2] = {3.0f, 1.0f};
    uint32_t line[2] = {0, 1};
    ipbd_body_desc d = ipbd_body_desc_default();
    ipbd_body body;
    ipbd_world *world;
    isphpbd_vec3 p, q;
    d.mesh.positions = xyz, d.mesh.vertex_count = 2, d.mesh.lines = line, d.mesh.line_count = 1, d.masses = masses,
    d.damping = 0.0f;
    world = world_of(&d, &body, nowhere(), 8);
    ASSERT_IN_RANGE(4.0, ipbd_body_mass(world, body), 1e-6);
    ipbd_vertex_add_impulse(world, body, 1, isphpbd_v3(1.0f, 0, 0)); /* pulls along the line: both share it */
    run(world, 60);
    ipbd_body_vertex(world, body, 0, NULL, &p), ipbd_body_vertex(world, body, 1, NULL, &q);
    ASSERT_IN_RANGE(0.25f, p.x, 1e-3f);
    ASSERT_IN_RANGE(0.25f, q.x, 1e-3f);
    ASSERT_EQ(ISPHPBD_OK, ipbd_vertex_set_mass(world, body, 0, 1.0f));
    ASSERT_IN_RANGE(2.0, ipbd_body_mass(world, body), 1e-6);
    ipbd_destroy(world);
    PASS();
}
TEST skins_follow(void) {
    ipbd_body_desc d = cube_desc(2, 1.0f), cloth;
    float points[9] = {0.1f, 0.2f, -0.3f, 0.5f, 0.5f, 0.5f, -0.25f, 0.0f, 0.25f}, out[9], normals[9],
          above[3] = {0.1f, 0.05f, 0.2f};
    uint32_t triangle[3] = {0, 1, 2};
    ipbd_body body;
    ipbd_world *world = world_of(&d, &body, nowhere(), 4);
    ipbd_skin skin;
    isphpbd_result why;
    ipbd_pose turn = ipbd_pose_at(1.0f, 0.0f, 0.0f);
    int i;
    skin = ipbd_skin_create(world, body, points, 12, 3, &why);
    ASSERT_EQ(ISPHPBD_OK, why);
    turn.rotation.x = 0.0f, turn.rotation.y = sqrtf(0.5f), turn.rotation.z = 0.0f,
    turn.rotation.w = sqrtf(0.5f); /* 90 degrees about y */
    ipbd_body_teleport(world, body, nowhere(), turn);
    ASSERT_EQ(ISPHPBD_OK, ipbd_skin_read(world, skin, out, normals, 12, triangle, 1));
    for (i = 0; i < 3; ++i) {
        ASSERT_IN_RANGE(points[3 * i + 2] + 1.0f, out[3 * i], 1e-5f);
        ASSERT_IN_RANGE(points[3 * i + 1], out[3 * i + 1], 1e-5f);
        ASSERT_IN_RANGE(-points[3 * i], out[3 * i + 2], 1e-5f);
        ASSERT_IN_RANGE(1.0f, isphpbdx_length(ipbdx_v3(normals + 3 * i)), 1e-5f);
    }
    ASSERT_EQ(ISPHPBD_OK, ipbd_skin_destroy(world, skin));
    ASSERT_EQ(ISPHPBD_BAD_HANDLE, ipbd_skin_read(world, skin, out, NULL, 12, NULL, 0));
    cloth = grid_desc(IPBD_COTTON, 5, 5, 1.0f, 1.0f);
    body = ipbd_body_create(world, &cloth, NULL);
    skin = ipbd_skin_create(world, body, above, 12, 1, &why); /* 5 cm above the cloth */
    ipbd_body_teleport(world, body, nowhere(), turn);
    ASSERT_EQ(ISPHPBD_OK, ipbd_skin_read(world, skin, out, NULL, 12, NULL, 0));
    ASSERT_IN_RANGE(0.05f, out[1], 1e-5f);
    ASSERT_IN_RANGE(1.2f, out[0], 1e-5f);
    ASSERT_EQ(ISPHPBD_OK, ipbd_body_destroy(world, body)); /* takes the skin along */
    ASSERT_EQ(ISPHPBD_BAD_HANDLE, ipbd_skin_destroy(world, skin));
    ipbd_destroy(world);
    PASS();
}
TEST a_violent_blow_stays_finite(void) {
    ipbd_body_desc d = grid_desc(IPBD_COTTON, 9, 9, 1.0f, 1.0f);
    ipbd_body body;
    ipbd_world *world = world_of(&d, &body, down(), 4);
    ipbd_view view;
    int i;
    ipbd_vertex_add_impulse(world, body, 40, isphpbd_v3(1e30f, -1e34f, 1e30f));
    run(world, 20);
    view = ipbd_body_view(world, body);
    for (i = 0; i < 4 * view.vertex_count; ++i) {
        ASSERT(isphpbdx_finite(view.positions[i]));
        ASSERT(isphpbdx_finite(view.velocities[i]));
    }
    ipbd_destroy(world);
    PASS();
}
/* The angle's gradients are those of the angle: by finite differences. */
TEST dihedral_gradients_are_right(void) {
    static const float p[4][3] = {{0, 0, 0}, {1, 0.1f, 0}, {0.4f, 0.3f, 0.8f}, {0.5f, 0.4f, -0.9f}};
    ipbdx_p4 four[4];
    ipbdx_v4 gradient[4];
    isphpbd_vec3 q[4];
    float g[4];
    int i, k;
    for (i = 0; i < 4; ++i) {
        q[i] = ipbdx_v3(p[i]);
        four[i].p.x = isphpbdx_f4_all(p[i][0]), four[i].p.y = isphpbdx_f4_all(p[i][1]),
        four[i].p.z = isphpbdx_f4_all(p[i][2]), four[i].w = isphpbdx_f4_all(1.0f);
    }
    isphpbdx_f4_store(g, ipbdx_dihedral4(four, gradient));
    ASSERT_IN_RANGE(ipbdx_dihedral_angle(q), g[0], 1e-5f);
    for (i = 0; i < 4; ++i)
        for (k = 0; k < 3; ++k) {
            float *at = k == 0 ? &q[i].x : k == 1 ? &q[i].y : &q[i].z, keep = *at, up, low;
            *at = keep + 1e-2f, up = ipbdx_dihedral_angle(q);
            *at = keep - 1e-2f, low = ipbdx_dihedral_angle(q);
            *at = keep;
            isphpbdx_f4_store(g, k == 0 ? gradient[i].x : k == 1 ? gradient[i].y : gradient[i].z);
            ASSERT_IN_RANGE((up - low) / 2e-2f, g[0], 5e-3f);
        }
    PASS();
}

/* ---- presets: what a newcomer sees of them ---- */

/* Let fall from two corners, 1 m wide: the longest stretch of a thread (not of the diagonals), and the rms speed. */
static void hang(ipbd_preset preset, float *stretch, double *rms) {
    uint32_t pins[2] = {0, 20};
    ipbd_body_desc d = grid_desc(preset, 21, 21, 1.0f, 1.0f);
    ipbd_body body;
    ipbd_world *world;
    ipbd_view view;
    int i;
    d.pinned = pins, d.pinned_count = 2;
    world = world_of(&d, &body, down(), 12);
    run(world, 600);
    view = ipbd_body_view(world, body);
    for (i = 0, *stretch = 0.0f, *rms = 0.0; i < 21 * 21; ++i) {
        isphpbd_vec3 p, q, v;
        ipbd_body_vertex(world, body, i, &p, &v);
        *rms += (double)isphpbdx_dot(v, v) / view.vertex_count;
        if (i % 21 > 0 && ipbd_body_vertex(world, body, i - 1, &q, NULL) == ISPHPBD_OK)
            *stretch = isphpbdx_max(*stretch, isphpbdx_length(isphpbdx_sub(p, q)) / 0.05f - 1.0f);
        if (i >= 21 && ipbd_body_vertex(world, body, i - 21, &q, NULL) == ISPHPBD_OK)
            *stretch = isphpbdx_max(*stretch, isphpbdx_length(isphpbdx_sub(p, q)) / 0.05f - 1.0f);
    }
    *rms = sqrt(*rms);
    ipbd_destroy(world);
}
TEST hung_fabrics_hardly_stretch_and_come_to_rest(void) {
    float stretch, rubber;
    double rms;
    int preset;
    hang(IPBD_RUBBER_SHEET, &rubber, &rms);
    ASSERTm("rubber rests", rms <= 0.01);
    for (preset = IPBD_SILK; preset <= IPBD_LEATHER; ++preset) {
        hang((ipbd_preset)preset, &stretch, &rms);
        ASSERTm("a thread stretches by more than 2 %", stretch <= 0.02f);
        ASSERTm("rubber stretches more", rubber > 3.0f * stretch);
        ASSERTm("rests after 10 s", rms <= 0.01);
    }
    PASS();
}
/* A strip of 4 cm that stands out 9 cm over the edge of a table: how far its end comes down. */
static float droop(ipbd_preset preset) {
    uint32_t pins[10];
    ipbd_body_desc d = grid_desc(preset, 5, 11, 0.04f, 0.10f);
    ipbd_body body;
    ipbd_world *world;
    isphpbd_vec3 end;
    int i;
    for (i = 0; i < 10; ++i) pins[i] = (uint32_t)i;
    d.pinned = pins, d.pinned_count = 10;
    world = world_of(&d, &body, down(), 12);
    run(world, 480);
    ipbd_body_vertex(world, body, 52, &end, NULL);
    ipbd_destroy(world);
    return -end.y;
}
TEST stiffer_fabrics_droop_less(void) {
    float last = 1.0f, now;
    int preset;
    for (preset = IPBD_SILK; preset <= IPBD_LEATHER; ++preset, last = now) {
        now = droop((ipbd_preset)preset);
        ASSERTm("each hangs less than the one before", now < last - 0.003f);
    }
    PASS();
}
/* What tethers carry is felt by the pins. */
TEST pins_feel_the_tethers(void) {
    uint32_t pins[2] = {0, 20};
    ipbd_body_desc d = grid_desc(IPBD_CANVAS, 21, 21, 1.0f, 1.0f);
    isphpbd_vec3 sum = nowhere(), force;
    ipbd_body body;
    ipbd_world *world;
    int i;
    d.pinned = pins, d.pinned_count = 2, d.damping = 5.0f;
    world = world_of(&d, &body, down(), 12);
    run(world, 900);
    for (i = 0; i < 2; ++i) {
        ASSERT_EQ(ISPHPBD_OK, ipbd_pin_force(world, body, (int)pins[i], &force));
        sum = isphpbdx_add(sum, force);
    }
    ASSERT_IN_RANGE(-9.81 * ipbd_body_mass(world, body), (double)sum.y, 0.01 * 9.81 * ipbd_body_mass(world, body));
    ipbd_destroy(world);
    PASS();
}
/* ---- damping of what stands on the ground ---- */

static ipbd_world *cube_on_ground(ipbd_body_desc *d, ipbd_body *body, isphpbd_vec3 gravity, float friction) {
    ipbd_collider_desc ground = ipbd_collider_desc_default();
    ipbd_world *world;
    d->pose = ipbd_pose_at(0.0f, 0.16f, 0.0f), d->friction = friction;
    world = world_of(d, body, gravity, 12);
    ground.friction = friction;
    ipbd_collider_create(world, &ground, NULL);
    return world;
}
static double most_energy(ipbd_world *world, int steps) {
    double most = 0.0;
    for (; steps > 0; --steps) {
        run(world, 1);
        most = fmax(most, ipbd_world_stats(world).kinetic_energy);
    }
    return most;
}
/* It leans, is let go, and sways about its foot: all of that is deformation. Speeds decay by 1/s, half of the energy is
   in them, so it decays by 1/s too: to e^-3 = 0.05 in three seconds. (Against the rigid motion that fits all vertices
   best, which is most of a sway, 0.63 is left.) */
TEST what_sways_on_the_ground_comes_to_rest(void) {
    ipbd_body_desc d = cube_desc(3, 0.3f);
    ipbd_body body;
    ipbd_world *world;
    double first, later;
    d.young_modulus = 1e4f, d.poisson_ratio = 0.45f, d.damping = 1.0f;
    world = cube_on_ground(&d, &body, isphpbd_v3(2.0f, -9.81f, 0.0f), 1.0f);
    run(world, 240);
    ipbd_set_gravity(world, down());
    first = most_energy(world, 60);
    run(world, 120);
    later = most_energy(world, 60);
    ASSERTm("sways at first", first > 0.05);
    ASSERTm("and no more after three seconds", later < 0.1 * first);
    ipbd_destroy(world);
    PASS();
}
/* Damping is against deformation: what slides as a whole is not braked by it. */
TEST what_slides_is_not_damped(void) {
    ipbd_body_desc d = cube_desc(2, 0.3f);
    ipbd_body body;
    ipbd_world *world;
    isphpbd_vec3 v;
    d.young_modulus = 1e5f, d.damping = 5.0f, d.velocity = isphpbd_v3(1.0f, 0.0f, 0.5f);
    world = cube_on_ground(&d, &body, down(), 0.0f);
    run(world, 180);
    ipbd_body_vertex(world, body, 13, NULL, &v);
    ASSERT_IN_RANGE(1.0f, v.x, 0.01f);
    ASSERT_IN_RANGE(0.5f, v.z, 0.01f);
    ipbd_destroy(world);
    PASS();
}

GREATEST_MAIN_DEFS();
int main(int argc, char **argv) {
    GREATEST_MAIN_BEGIN();
    RUN_TEST(momentum_is_exact_for_every_kind);
    RUN_TEST(free_fall_is_exact);
    RUN_TEST(gravity_scale_and_drag_act);
    RUN_TEST(pbd_stiffness_is_that_of_the_body);
    RUN_TEST(compliance_is_ordered_and_zero_hardly_stretches);
    RUN_TEST(an_inverted_body_recovers_its_shape);
    RUN_TEST(a_ball_with_flat_tetrahedra_stays_whole);
    RUN_TEST(volume_tetrahedra_keep_their_volume_under_load);
    RUN_TEST(a_balloon_keeps_its_volume_and_grows_with_pressure);
    RUN_TEST(overpressure_swells_a_shell);
    RUN_TEST(plastic_edges_stay_bent_elastic_ones_do_not);
    RUN_TEST(stretched_solids_only_lose_energy);
    RUN_TEST(a_solid_of_volumes_makes_no_energy);
    RUN_TEST(an_elastic_solid_beyond_yield_keeps_its_set);
    RUN_TEST(flow_is_saved_and_undone);
    RUN_TEST(fast_pins_do_not_lag);
    RUN_TEST(attachments_follow_and_pull_the_host);
    RUN_TEST(attachments_keep_momentum);
    RUN_TEST(curtain_hangs_on_a_rail_as_on_pins);
    RUN_TEST(teleport_has_no_jerk);
    RUN_TEST(bodies_sleep_and_wake);
    RUN_TEST(presets_feel_wind_only);
    RUN_TEST(wind_carries_a_cloth);
    RUN_TEST(per_vertex_masses_count);
    RUN_TEST(skins_follow);
    RUN_TEST(a_violent_blow_stays_finite);
    RUN_TEST(dihedral_gradients_are_right);
    RUN_TEST(hung_fabrics_hardly_stretch_and_come_to_rest);
    RUN_TEST(stiffer_fabrics_droop_less);
    RUN_TEST(pins_feel_the_tethers);
    RUN_TEST(what_sways_on_the_ground_comes_to_rest);
    RUN_TEST(what_slides_is_not_damped);
    GREATEST_MAIN_END();
}
