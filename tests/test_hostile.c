/* What no solver likes, for fluid and soft bodies each alone: a closing press, a body that appears inside, 100:1,
   gravity that flips, frames of 1 to 50 ms, everything in the same place. Nothing explodes, nothing is lost, and left
   alone it comes to rest. (tests/test_world_hostile.c does it with everything coupled.)
   SPDX-License-Identifier: MIT */
#define ISPHPBD_IMPLEMENTATION
#include "isphpbd_pbd.h"
#include "isphpbd_sph.h"

#include "greatest.h"
#include "sph_fixture.h"

#define FRAME (1.0f / 60.0f)

/* ---- fluid: a tank of 0.6 x 0.5 x 0.4 m, half full --------------------------------------------------------------- */

static isph_fluid *tank(void) {
    isph_fluid_desc desc = isph_fluid_desc_default();
    desc.particle_capacity = 4096;
    return fixture_tank(&desc, 0.6f, 0.4f, 0.25f);
}

/* Particles neither lost nor outside of the tank (a spacing is forgiven), all numbers finite, speeds bounded. */
static enum greatest_test_res tame(const isph_fluid *fluid, int count, double fastest) {
    const fixture_figures f = fixture_measure(fluid);
    const isph_view view = isph_particles(fluid);
    ASSERT_EQ_FMT(count, view.count, "%d");
    ASSERT(fixture_finite(fluid));
    ASSERT_IN_RANGE(0.0, f.max_speed, fastest);
    for (int i = 0; i < view.count; i++) {
        const float *p = view_position(&view, i);
        ASSERT(p[0] > -0.35f && p[0] < 0.35f && p[1] > -0.05f && p[2] > -0.25f && p[2] < 0.25f);
    }
    PASS();
}
/* After four quiet seconds: waves no higher than a twentieth of a spacing (v^2 / 2 g), neither swollen nor squashed. */
static enum greatest_test_res calm(isph_fluid *fluid, int count) {
    double rms;
    (void)fixture_run(fluid, 240, FRAME);
    CHECK_CALL(tame(fluid, count, 1.0));
    rms = fixture_measure(fluid).rms_speed;
    ASSERT_IN_RANGE(0.0, rms * rms / (2.0 * 9.81), 0.05 / 20.0);
    ASSERT_IN_RANGE(0.0, (double)isph_fluid_stats(fluid).compression_mean, 0.02);
    PASS();
}

/* Lids go down by `way` in a second, wait for half of one, and go up faster. Nobody may be faster than `fastest`. */
static enum greatest_test_res press(isph_fluid *fluid, const isph_boundary_desc *lid, int lids, float way,
                                    double fastest) {
    const int count = isph_particles(fluid).count;
    isph_boundary press[2];
    for (int k = 0; k < lids; k++) press[k] = isph_boundary_create(fluid, lid + k, NULL);
    for (int i = 0; i < 120; i++) {
        const float down = i < 60 ? way * (float)i / 60.0f : i < 90 ? way : way - 0.01f * (float)(i - 90);
        const float speed = i < 60 ? -way : i < 90 ? 0.0f : 0.6f;
        for (int k = 0; k < lids; k++)
            (void)isph_boundary_set_motion(fluid, press[k],
                                           isphpbd_v3(lid[k].position.x, lid[k].position.y - down, lid[k].position.z),
                                           lid[k].rotation, isphpbd_v3(0.0f, speed, 0.0f), fixture_zero);
        (void)isph_fluid_step(fluid, FRAME, NULL);
        CHECK_CALL(tame(fluid, count, fastest));
    }
    for (int k = 0; k < lids; k++) ASSERT_EQ(ISPHPBD_OK, isph_boundary_destroy(fluid, press[k]));
    PASS();
}
static isph_boundary_desc lid_at(float x, float half_width, float half_depth) {
    isph_boundary_desc lid = isph_boundary_desc_default();
    lid.shape = ISPH_SHAPE_BOX, lid.half_extents = isphpbd_v3(half_width, 0.2f, half_depth);
    lid.position = isphpbd_v3(x, 0.5f, 0.0f);
    return lid;
}

/* A lid that leaves the water three fifths of its room, or a fifth, or a stamp that lets it out at its sides. */
TEST press_on_water(void) {
    const isph_boundary_desc lid[3] = {lid_at(0.0f, 0.5f, 0.5f), lid_at(0.0f, 0.5f, 0.5f), lid_at(0.0f, 0.2f, 0.1f)};
    const float way[3] = {0.15f, 0.25f, 0.15f};
    for (int k = 0; k < 3; k++) {
        isph_fluid *fluid = tank();
        const int count = isph_particles(fluid).count;
        CHECK_CALL(press(fluid, lid + k, 1, way[k], k < 2 ? 3.0 : 15.0));
        CHECK_CALL(calm(fluid, count));
        isph_fluid_destroy(fluid);
    }
    PASS();
}
/* Full to the lid from the start: a plane that turns downwards. */
TEST sealed_tank_is_squeezed(void) {
    const float way[3] = {0.01f, 0.05f, 0.1f};
    for (int k = 0; k < 3; k++) {
        isph_fluid *fluid = tank();
        isph_boundary_desc lid = isph_boundary_desc_default();
        const isphpbd_quat down = {1.0f, 0.0f, 0.0f, 0.0f};
        lid.position.y = 0.25f, lid.rotation = down;
        CHECK_CALL(press(fluid, &lid, 1, way[k], 2.0));
        CHECK_CALL(calm(fluid, isph_particles(fluid).count));
        isph_fluid_destroy(fluid);
    }
    PASS();
}
static bool in_the_middle(void *user, const isph_particle *p) {
    (void)user;
    return fabsf(p->position.x) < 0.07f;
}
/* Two rooms with a wall between them; one is pressed, or both. */
TEST rooms_are_squeezed(void) {
    const isph_boundary_desc lid[2] = {lid_at(-0.3f, 0.3f, 0.5f), lid_at(0.3f, 0.3f, 0.5f)};
    for (int lids = 1; lids <= 2; lids++) {
        isph_fluid *fluid = tank();
        isph_boundary_desc wall = isph_boundary_desc_default();
        wall.shape = ISPH_SHAPE_BOX, wall.half_extents = isphpbd_v3(0.05f, 1.0f, 0.5f);
        (void)isph_particles_remove_if(fluid, in_the_middle, NULL);
        (void)isph_boundary_create(fluid, &wall, NULL);
        CHECK_CALL(press(fluid, lid, lids, 0.15f, 5.0));
        CHECK_CALL(calm(fluid, isph_particles(fluid).count));
        isph_fluid_destroy(fluid);
    }
    PASS();
}
/* A closed box with a third, half, four fifths too much in it: it stays there, and is a full box again when opened. */
TEST overfull_tank(void) {
    const float more[3] = {0.3f, 0.5f, 0.8f};
    for (int k = 0; k < 3; k++) {
        isph_fluid *fluid = tank();
        const isph_material water = fixture_water(fluid);
        const int count = (int)((1.0f + more[k]) * (float)isph_particles(fluid).count);
        isph_boundary_desc lid = isph_boundary_desc_default();
        const isphpbd_quat down = {1.0f, 0.0f, 0.0f, 0.0f};
        fixture_random random = {5u};
        isph_boundary boundary;
        lid.position.y = 0.25f, lid.rotation = down;
        boundary = isph_boundary_create(fluid, &lid, NULL);
        while (isph_particles(fluid).count < count) {
            const float at[3] = {random_between(&random, -0.28f, 0.28f), random_between(&random, 0.02f, 0.23f),
                                 random_between(&random, -0.18f, 0.18f)};
            ASSERT_EQ(ISPHPBD_OK, isph_particles_add(fluid, water, at, 12, NULL, 0, 1, NULL));
        }
        for (int i = 0; i < 90; i++) {
            (void)isph_fluid_step(fluid, FRAME, NULL);
            CHECK_CALL(tame(fluid, count, k == 0 ? 1.0 : 10.0));
        }
        ASSERT_EQ(ISPHPBD_OK, isph_boundary_destroy(fluid, boundary));
        CHECK_CALL(calm(fluid, count));
        isph_fluid_destroy(fluid);
    }
    PASS();
}
TEST ball_appears_in_water(void) {
    isph_fluid *fluid = tank();
    isph_boundary_desc ball = isph_boundary_desc_default();
    const isphpbd_quat upright = {0.0f, 0.0f, 0.0f, 1.0f};
    const int count = isph_particles(fluid).count;
    isph_boundary boundary;
    ball.shape = ISPH_SHAPE_SPHERE, ball.radius = 0.12f, ball.position.y = 0.12f;
    boundary = isph_boundary_create(fluid, &ball, NULL);
    for (int i = 0; i < 60; i++) {
        if (i % 10 == 0) /* here, there */
            (void)isph_boundary_set_motion(fluid, boundary, isphpbd_v3(i % 20 ? 0.15f : -0.15f, 0.12f, 0.0f), upright,
                                           fixture_zero, fixture_zero);
        (void)isph_fluid_step(fluid, FRAME, NULL);
        CHECK_CALL(tame(fluid, count, 25.0));
    }
    CHECK_CALL(calm(fluid, count));
    isph_fluid_destroy(fluid);
    PASS();
}
TEST gravity_flips_on_water(void) {
    isph_fluid *fluid = tank();
    const int count = isph_particles(fluid).count;
    (void)fixture_room(fluid, isphpbd_v3(-0.3f, 0.0f, -0.2f), isphpbd_v3(0.3f, 0.6f, 0.2f)); /* a lid */
    for (int i = 0; i < 120; i++) {
        if (i % 12 == 0) {
            const float g = i % 24 ? -9.81f : 9.81f;
            (void)isph_fluid_set_gravity(fluid, i % 36 ? isphpbd_v3(0.0f, g, 0.0f) : isphpbd_v3(g, 0.0f, g));
        }
        (void)isph_fluid_step(fluid, FRAME, NULL);
        CHECK_CALL(tame(fluid, count, 15.0));
    }
    (void)isph_fluid_set_gravity(fluid, isphpbd_v3(0.0f, -9.81f, 0.0f));
    CHECK_CALL(calm(fluid, count));
    isph_fluid_destroy(fluid);
    PASS();
}
TEST frames_jitter_for_water(void) {
    isph_fluid *fluid = tank();
    const int count = isph_particles(fluid).count;
    fixture_random random = {99u};
    for (int i = 0; i < 100; i++) {
        (void)isph_fluid_step(fluid, random_between(&random, 0.001f, 0.05f), NULL);
        CHECK_CALL(tame(fluid, count, 10.0));
    }
    CHECK_CALL(calm(fluid, count));
    isph_fluid_destroy(fluid);
    PASS();
}
/* Twice as much water as there is room for where it is put, and a knot of 60 particles in one point. */
TEST water_in_the_same_place(void) {
    isph_fluid *fluid = tank();
    isph_material water = fixture_water(fluid);
    float knot[3 * 60];
    int count;
    (void)isph_particles_add_box(fluid, water, isphpbd_v3(-0.2f, 0.0f, -0.1f), isphpbd_v3(0.2f, 0.2f, 0.1f),
                                 fixture_zero, NULL);
    for (int i = 0; i < 180; i++) knot[i] = i % 3 == 1 ? 0.1f : 0.05f;
    ASSERT_EQ(ISPHPBD_OK, isph_particles_add(fluid, water, knot, 12, NULL, 0, 60, NULL));
    count = isph_particles(fluid).count;
    for (int i = 0; i < 90; i++) {
        (void)isph_fluid_step(fluid, FRAME, NULL);
        CHECK_CALL(tame(fluid, count, 25.0));
    }
    CHECK_CALL(calm(fluid, count));
    isph_fluid_destroy(fluid);
    PASS();
}
/* A liquid a hundred times as heavy on top of a light one: the heavy one ends below, and drives the light one out no
   faster than its weight can, v^2 / 2 = g h ratio (Bernoulli), give or take a fifth. */
TEST liquids_of_a_hundred_to_one(void) {
    isph_fluid *fluid = tank();
    isph_material_desc desc = isph_material_desc_default();
    isph_material heavy;
    int count, heavies = 0;
    const double bernoulli = sqrt(2.0 * 9.81 * 0.15 * 100.0); /* 17 m/s */
    double heavy_height = 0.0, height = 0.0;
    isph_view view;
    desc.density = 100000.0f;
    heavy = isph_material_create(fluid, &desc, NULL);
    ASSERT(heavy.id != 0);
    (void)isph_particles_add_box(fluid, heavy, isphpbd_v3(-0.3f, 0.25f, -0.2f), isphpbd_v3(0.3f, 0.4f, 0.2f),
                                 fixture_zero, NULL);
    count = isph_particles(fluid).count;
    for (int i = 0; i < 240; i++) {
        (void)isph_fluid_step(fluid, FRAME, NULL);
        CHECK_CALL(tame(fluid, count, 1.2 * bernoulli));
    }
    view = isph_particles(fluid);
    for (int i = 0; i < view.count; i++) {
        height += (double)view_position(&view, i)[1] / view.count;
        if (view.material[i] == heavy.id - 1) heavies++, heavy_height += (double)view_position(&view, i)[1];
    }
    ASSERT(heavy_height / heavies < height);
    (void)fixture_run(fluid, 240, FRAME);
    CHECK_CALL(calm(fluid, count));
    isph_fluid_destroy(fluid);
    PASS();
}

/* ---- soft bodies: a cloth of 12 x 12 and jellies over a floor ---------------------------------------------------- */

enum { SIDE = 12, CELLS = 3, CORNERS = CELLS + 1 };

static ipbd_world *soft_world(void) {
    ipbd_world_desc desc = ipbd_world_desc_default();
    ipbd_collider_desc ground = ipbd_collider_desc_default();
    ipbd_world *world = ipbd_create(&desc, NULL);
    (void)ipbd_collider_create(world, &ground, NULL);
    return world;
}
static ipbd_body add_cloth(ipbd_world *world, float height) {
    float positions[3 * SIDE * SIDE];
    uint32_t triangles[6 * (SIDE - 1) * (SIDE - 1)];
    ipbd_body_desc desc = ipbd_body_desc_preset(IPBD_COTTON);
    desc.mesh.triangle_count = ipbd_grid(SIDE, SIDE, 0.8f, 0.8f, positions, triangles);
    desc.mesh.positions = positions, desc.mesh.triangles = triangles, desc.mesh.vertex_count = SIDE * SIDE;
    desc.pose = ipbd_pose_at(0.0f, height, 0.0f);
    desc.self_collision = desc.soft_collision = true;
    return ipbd_body_create(world, &desc, NULL);
}
static ipbd_body add_block(ipbd_world *world, isphpbd_vec3 at, ipbd_preset preset, float density) {
    float positions[3 * CORNERS * CORNERS * CORNERS];
    uint32_t tetrahedra[24 * CELLS * CELLS * CELLS];
    ipbd_body_desc desc = ipbd_body_desc_preset(preset);
    desc.mesh.tetrahedron_count = ipbd_block(CELLS, CELLS, CELLS, isphpbd_v3(0.3f, 0.3f, 0.3f), positions, tetrahedra);
    desc.mesh.positions = positions, desc.mesh.tetrahedra = tetrahedra;
    desc.mesh.vertex_count = CORNERS * CORNERS * CORNERS;
    desc.pose = ipbd_pose_at(at.x, at.y, at.z), desc.soft_collision = true, desc.density = density;
    return ipbd_body_create(world, &desc, NULL);
}
static ipbd_body add_jelly(ipbd_world *world, isphpbd_vec3 at) { return add_block(world, at, IPBD_JELLY, 1000.0f); }
/* Above the floor (a thickness is forgiven), near, and no faster than that. */
static enum greatest_test_res soft_tame(ipbd_world *world, double fastest) {
    const ipbd_arrays arrays = ipbd_world_arrays(world);
    for (int i = 0; i < arrays.vertex_count; i++) {
        const float *x = arrays.positions + 4 * i, *v = arrays.velocities + 4 * i;
        ASSERT(isfinite(x[0]) && isfinite(x[1]) && isfinite(x[2]));
        ASSERT(x[1] > -0.02f && x[1] < 20.0f && fabsf(x[0]) < 5.0f && fabsf(x[2]) < 5.0f);
        ASSERT(sqrt((double)v[0] * (double)v[0] + (double)v[1] * (double)v[1] + (double)v[2] * (double)v[2]) < fastest);
    }
    PASS();
}
static double highest(ipbd_world *world) {
    const ipbd_arrays arrays = ipbd_world_arrays(world);
    double top = 0.0;
    for (int i = 0; i < arrays.vertex_count; i++) top = fmax(top, (double)arrays.positions[4 * i + 1]);
    return top;
}
static enum greatest_test_res soft_calm(ipbd_world *world) {
    ipbd_stats stats;
    for (int i = 0; i < 240; i++) (void)ipbd_step(world, FRAME);
    CHECK_CALL(soft_tame(world, 2.0));
    stats = ipbd_world_stats(world);
    ASSERT_IN_RANGE(0.0, stats.kinetic_energy, 0.05);
    ASSERT_EQ_FMT(0, stats.quarantined, "%d");
    PASS();
}

TEST press_on_jelly(void) {
    ipbd_world *world = soft_world();
    ipbd_body jelly = add_jelly(world, isphpbd_v3(0.0f, 0.16f, 0.0f));
    const double volume = ipbd_body_volume(world, jelly);
    ipbd_collider_desc desc = ipbd_collider_desc_default();
    ipbd_collider press;
    desc.shape = ipbd_shape_box(0.5f, 0.1f, 0.5f), desc.pose = ipbd_pose_at(0.0f, 0.45f, 0.0f);
    press = ipbd_collider_create(world, &desc, NULL);
    for (int i = 0; i < 90; i++) { /* down to a third of its height, and up again */
        const float height = i < 60 ? 0.45f - 0.0041f * (float)i : 0.2f + 0.01f * (float)(i - 60);
        (void)ipbd_collider_move(world, press, ipbd_pose_at(0.0f, height, 0.0f));
        (void)ipbd_step(world, FRAME);
        CHECK_CALL(soft_tame(world, 30.0));
    }
    CHECK_CALL(soft_calm(world));
    ASSERT_IN_RANGE(0.9 * volume, ipbd_body_volume(world, jelly), 1.1 * volume);
    ipbd_destroy(world);
    PASS();
}
TEST ball_appears_in_jelly(void) {
    ipbd_world *world = soft_world();
    ipbd_collider_desc desc = ipbd_collider_desc_default();
    ipbd_collider ball;
    (void)add_jelly(world, isphpbd_v3(0.0f, 0.16f, 0.0f));
    (void)add_cloth(world, 0.45f);
    desc.shape = ipbd_shape_sphere(0.1f), desc.pose = ipbd_pose_at(2.0f, 0.1f, 0.0f);
    ball = ipbd_collider_create(world, &desc, NULL);
    for (int i = 0; i < 60; i++) {
        if (i % 12 == 6)
            (void)ipbd_collider_teleport(world, ball, ipbd_pose_at(i % 24 < 12 ? 0.1f : -0.1f, 0.15f, 0.0f));
        (void)ipbd_step(world, FRAME);
        CHECK_CALL(soft_tame(world, 60.0));
    }
    (void)ipbd_collider_destroy(world, ball);
    CHECK_CALL(soft_calm(world));
    ipbd_destroy(world);
    PASS();
}
/* A block of lead density put on a light one, both of rubber. (Dropped on it, or of jelly, it crushes it flat: then
   parts come out of the ground and fly; more substeps help.) */
TEST masses_of_a_hundred_to_one(void) {
    ipbd_world *world = soft_world();
    (void)add_block(world, isphpbd_v3(0.0f, 0.16f, 0.0f), IPBD_RUBBER, 100.0f);
    (void)add_block(world, isphpbd_v3(0.0f, 0.475f, 0.0f), IPBD_RUBBER, 10000.0f);
    for (int i = 0; i < 90; i++) {
        (void)ipbd_step(world, FRAME);
        CHECK_CALL(soft_tame(world, 60.0));
        ASSERT(highest(world) < 0.75); /* the heavy one never bounces much higher than it came from, 0.625 m */
    }
    ipbd_destroy(world);
    PASS();
}
TEST gravity_flips_and_frames_jitter_for_softs(void) {
    ipbd_world *world = soft_world();
    fixture_random random = {4711u};
    (void)add_cloth(world, 0.6f);
    (void)add_jelly(world, isphpbd_v3(0.0f, 0.25f, 0.0f));
    for (int i = 0; i < 90; i++) {
        if (i % 10 == 0) (void)ipbd_set_gravity(world, isphpbd_v3(0.0f, i % 20 ? 9.81f : -9.81f, 0.0f));
        (void)ipbd_step(world, random_between(&random, 0.001f, 0.05f));
        CHECK_CALL(soft_tame(world, 30.0));
    }
    (void)ipbd_set_gravity(world, isphpbd_v3(0.0f, -9.81f, 0.0f));
    for (int i = 0; i < 300; i++) (void)ipbd_step(world, FRAME); /* they fall from 6 m and bounce */
    CHECK_CALL(soft_calm(world));
    ipbd_destroy(world);
    PASS();
}
static double fastest_vertex(ipbd_world *world) {
    const ipbd_arrays arrays = ipbd_world_arrays(world);
    double most = 0.0;
    for (int i = 0; i < arrays.vertex_count; i++) {
        const float *v = arrays.velocities + 4 * i;
        most = fmax(most, sqrt((double)(v[0] * v[0] + v[1] * v[1] + v[2] * v[2])));
    }
    return most;
}
/* Two jellies and a cloth in one another, half of it under the floor, out of which they come in a few frames. */
TEST softs_in_the_same_place(void) {
    ipbd_world *world = soft_world();
    (void)add_jelly(world, isphpbd_v3(0.0f, 0.02f, 0.0f));
    (void)add_jelly(world, isphpbd_v3(0.05f, 0.07f, 0.03f));
    (void)add_cloth(world, 0.08f);
    for (int i = 0; i < 30; i++) {
        (void)ipbd_step(world, FRAME);
        ASSERT(fastest_vertex(world) < 20.0);
        if (i > 10) CHECK_CALL(soft_tame(world, 20.0));
    }
    CHECK_CALL(soft_calm(world));
    ipbd_destroy(world);
    PASS();
}

/* A cloth, a jelly and a balloon of four corners, all with their middles or a corner in the origin: vertices lie on
   vertices, edges on edges. */
static void add_knot(ipbd_world *world, bool pinned, bool balloon) {
    static const uint32_t faces[12] = {0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3}, pins[2] = {0, 4};
    static const float corners[12] = {0, 0, 0, 0.4f, 0, 0, 0, 0.4f, 0, 0, 0, 0.4f};
    float positions[3 * 27];
    uint32_t elements[192];
    ipbd_body_desc desc = ipbd_body_desc_preset(IPBD_COTTON);
    desc.mesh.triangle_count = ipbd_grid(5, 5, 0.5f, 0.5f, positions, elements);
    desc.mesh.positions = positions, desc.mesh.triangles = elements, desc.mesh.vertex_count = 25;
    desc.pinned = pins, desc.pinned_count = pinned ? 2 : 0;
    desc.self_collision = desc.soft_collision = true;
    (void)ipbd_body_create(world, &desc, NULL);
    desc = ipbd_body_desc_preset(IPBD_JELLY);
    desc.mesh.tetrahedron_count = ipbd_block(2, 2, 2, isphpbd_v3(0.3f, 0.3f, 0.3f), positions, elements);
    desc.mesh.positions = positions, desc.mesh.tetrahedra = elements, desc.mesh.vertex_count = 27;
    desc.soft_collision = true;
    (void)ipbd_body_create(world, &desc, NULL);
    desc = ipbd_body_desc_preset(IPBD_BALLOON);
    desc.mesh.positions = corners, desc.mesh.triangles = faces, desc.mesh.vertex_count = desc.mesh.triangle_count = 4;
    if (balloon) (void)ipbd_body_create(world, &desc, NULL);
}
static ipbd_world *knot_world(int substeps, int iterations) {
    ipbd_world_desc desc = ipbd_world_desc_default();
    desc.substeps = substeps, desc.iterations = iterations;
    return ipbd_create(&desc, NULL);
}
/* Nothing holds them: they fall as anything does. */
TEST knot_falls(void) {
    ipbd_world *world = knot_world(12, 1);
    add_knot(world, false, false);
    for (int i = 0; i < 30; i++) {
        ASSERT_EQ_FMT(0u, ipbd_step(world, FRAME).flags, "%u");
        ASSERT(fastest_vertex(world) < 10.0);
    }
    ASSERT_IN_RANGE(9.81 * 0.5, -(double)ipbd_world_stats(world).momentum.y / 27.0, 0.5);
    ipbd_destroy(world);
    PASS();
}
/* Half under a floor, round a ball, with few substeps: the ball of a kilogram is in 27 kg of jelly. */
TEST knot_round_a_light_ball(void) {
    ipbd_world *world = knot_world(3, 2);
    ipbd_collider_desc desc = ipbd_collider_desc_default();
    add_knot(world, true, true);
    (void)ipbd_collider_create(world, &desc, NULL);
    desc.shape = ipbd_shape_sphere(0.2f), desc.mass = 1.0f, desc.inertia = isphpbd_v3(0.1f, 0.0f, 0.1f);
    (void)ipbd_collider_create(world, &desc, NULL);
    for (int i = 0; i < 40; i++) {
        (void)ipbd_step(world, 0.02f);
        ASSERT(fastest_vertex(world) < 60.0);
        ASSERT_EQ_FMT(0, ipbd_world_stats(world).quarantined, "%d");
    }
    ipbd_destroy(world);
    PASS();
}
/* Thrown within itself at more than max_speed: nothing is faster than that, the momentum stays, and it is told. */
TEST too_fast_for_the_world(void) {
    ipbd_world_desc desc = ipbd_world_desc_default();
    ipbd_world *world;
    ipbd_body jelly;
    desc.max_speed = 50.0f, desc.gravity = isphpbd_v3(0.0f, 0.0f, 0.0f);
    world = ipbd_create(&desc, NULL);
    jelly = add_jelly(world, isphpbd_v3(0.0f, 0.0f, 0.0f));
    ASSERT_EQ_FMT(0u, ipbd_step(world, FRAME).flags, "%u");
    ASSERT_EQ(ISPHPBD_OK, ipbd_vertex_add_impulse(world, jelly, 0, isphpbd_v3(100.0f, 0.0f, 0.0f)));
    ASSERT_EQ_FMT((uint32_t)IPBD_STEP_SPEED_CLAMPED, ipbd_step(world, FRAME).flags, "%u");
    ASSERT(fastest_vertex(world) < 51.0);
    ASSERT_IN_RANGE(100.0, (double)ipbd_world_stats(world).momentum.x, 1.0);
    ipbd_destroy(world);
    desc.max_speed = 0.0f;
    ASSERT(!ipbd_create(&desc, NULL));
    PASS();
}

GREATEST_MAIN_DEFS();
int main(int argc, char **argv) {
    GREATEST_MAIN_BEGIN();
    RUN_TEST(press_on_water);
    RUN_TEST(sealed_tank_is_squeezed);
    RUN_TEST(rooms_are_squeezed);
    RUN_TEST(overfull_tank);
    RUN_TEST(ball_appears_in_water);
    RUN_TEST(gravity_flips_on_water);
    RUN_TEST(frames_jitter_for_water);
    RUN_TEST(water_in_the_same_place);
    RUN_TEST(liquids_of_a_hundred_to_one);
    RUN_TEST(press_on_jelly);
    RUN_TEST(ball_appears_in_jelly);
    RUN_TEST(masses_of_a_hundred_to_one);
    RUN_TEST(gravity_flips_and_frames_jitter_for_softs);
    RUN_TEST(softs_in_the_same_place);
    RUN_TEST(knot_falls);
    RUN_TEST(knot_round_a_light_ball);
    RUN_TEST(too_fast_for_the_world);
    GREATEST_MAIN_END();
}
