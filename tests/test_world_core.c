/* The machinery of isphpbd.h around its physics: emitters, sinks, lifetimes, layers, containers, ground, colliders that
   move, positions of the step before, filling, the origin, inertia and debug drawing. */
#define ISPHPBD_IMPLEMENTATION
#include "isphpbd.h"

#include "greatest.h"
#include "sph_fixture.h"

#define STEP (1.0f / 60.0f)

/* ---- [helpers] --------------------------------------------------------------------------------------------------- */

static isphpbd_world_desc small_desc(int particles) {
    isphpbd_world_desc desc = isphpbd_world_desc_default();
    desc.capacity.fluid_particles = particles;
    desc.capacity.colliders = desc.capacity.bodies = 8;
    desc.capacity.mesh_triangles = 4096;
    desc.capacity.soft.bodies = 4;
    return desc;
}
static isphpbd_world *make(isphpbd_world_desc desc) {
    isphpbd_result why;
    isphpbd_world *world = isphpbd_world_create(&desc, &why);
    if (!world) fprintf(stderr, "%s\n", isphpbd_result_text(why)), exit(1);
    return world;
}
static isphpbd_fluid water_of(isphpbd_world *world, uint32_t layer, uint32_t mask) {
    isphpbd_fluid_desc desc = isphpbd_fluid_desc_default();
    desc.layer = layer, desc.mask = mask;
    return isphpbd_fluid_create(world, &desc, NULL);
}
static isphpbd_collider floor_of(isphpbd_world *world, uint32_t layer, uint32_t mask) {
    isphpbd_collider_desc desc = isphpbd_collider_desc_default();
    desc.layer = layer, desc.mask = mask;
    return isphpbd_collider_create(world, &desc, NULL);
}
static isphpbd_collider room_of(isphpbd_world *world, isphpbd_shape shape, isphpbd_vec3 at) {
    isphpbd_collider_desc desc = isphpbd_collider_desc_default();
    desc.shape = shape, desc.container = true, desc.pose.position = at;
    return isphpbd_collider_create(world, &desc, NULL);
}
static void run(isphpbd_world *world, int steps) {
    for (int i = 0; i < steps; i++) (void)isphpbd_world_step(world, STEP);
}
static const float *point_at(const float *base, size_t stride, int i) {
    return (const float *)(const void *)((const char *)base + stride * (size_t)i);
}
/* A square cloth in the plane y = 0 of `desc.body.pose`, with triangles of 0.1 m. */
static isphpbd_soft cloth_of(isphpbd_world *world, isphpbd_soft_desc desc) {
    float xyz[3 * 36];
    uint32_t triangles[6 * 25];
    desc.body.mesh.triangle_count = ipbd_grid(6, 6, 0.5f, 0.5f, xyz, triangles);
    desc.body.mesh.positions = xyz, desc.body.mesh.vertex_count = 36, desc.body.mesh.triangles = triangles;
    return isphpbd_soft_create(world, &desc, NULL);
}
static isphpbd_soft_desc dry_cloth(isphpbd_vec3 at) {
    isphpbd_soft_desc desc = isphpbd_soft_desc_default();
    desc.body.pose.position = at, desc.wet = false, desc.body.can_sleep = false;
    return desc;
}
/* Lowest and highest coordinate k of a soft body. */
static void extent(const isphpbd_world *world, isphpbd_soft soft, int k, float *lo, float *hi) {
    const isphpbd_points p = isphpbd_soft_points(world, soft);
    *lo = 1e30f, *hi = -1e30f;
    for (int i = 0; i < p.count; i++) {
        const float v = point_at(p.position, p.position_stride, i)[k];
        *lo = fminf(*lo, v), *hi = fmaxf(*hi, v);
    }
}

/* ---- [emitters] -------------------------------------------------------------------------------------------------- */

static isphpbd_world *fountain(isphpbd_emitter_desc desc, int particles, isphpbd_emitter *emitter) {
    isphpbd_world_desc world_desc = small_desc(particles);
    isphpbd_world *world;
    world_desc.gravity.y = 0.0f;
    world = make(world_desc);
    desc.fluid = water_of(world, 1, ~0u);
    *emitter = isphpbd_emitter_create(world, &desc, NULL);
    return world;
}

/* In free flight the layers of a jet are one spacing apart, whatever the step. */
static greatest_test_res jet_is_even(float speed, float step) {
    isphpbd_emitter_desc desc = isphpbd_emitter_desc_default();
    isphpbd_emitter emitter;
    isphpbd_world *world;
    isphpbd_points p;
    const int steps = (int)(1.0f / step);
    desc.direction = isphpbd_v3(3.0f, 0.0f, 0.0f), desc.radius = 0.01f, desc.speed = speed;
    world = fountain(desc, 2000, &emitter);
    ASSERT(emitter.id != 0);
    for (int i = 0; i < steps; i++) (void)isphpbd_world_step(world, step);
    p = isphpbd_fluid_points(world);
    ASSERT_EQ_FMT((int)isphpbd_emitter_count(world, emitter), p.count, "%d");
    ASSERT_IN_RANGE((double)(speed * step * (float)steps / 0.05f) + 1.0, (double)p.count, 1.0);
    for (int i = 0; i < p.count; i++) { /* every particle but the first has one a spacing ahead */
        const float x = point_at(p.position, p.position_stride, i)[0];
        float nearest = 1e30f, farthest = 0.0f;
        for (int j = 0; j < p.count; j++) {
            const float ahead = point_at(p.position, p.position_stride, j)[0] - x;
            farthest = fmaxf(farthest, ahead);
            if (ahead > 0.0f) nearest = fminf(nearest, ahead);
        }
        if (farthest > 0.0f) ASSERT_IN_RANGE(0.05, (double)nearest, 0.002);
    }
    isphpbd_world_destroy(world);
    PASS();
}
TEST jets_are_even(void) {
    CHECK_CALL(jet_is_even(1.0f, 1.0f / 60.0f));
    CHECK_CALL(jet_is_even(7.3f, 1.0f / 60.0f));
    CHECK_CALL(jet_is_even(2.0f, 0.004f));
    CHECK_CALL(jet_is_even(5.0f, 0.03f));
    PASS();
}

TEST mouths_have_their_shape(void) {
    isphpbd_emitter_desc desc = isphpbd_emitter_desc_default();
    isphpbd_emitter emitter;
    isphpbd_world *world;
    isphpbd_points p;
    desc.radius = 0.0f, desc.half_width = 0.2f, desc.half_height = 0.1f, desc.direction = isphpbd_v3(0.0f, 1.0f, 0.0f);
    world = fountain(desc, 500, &emitter);
    run(world, 1);
    p = isphpbd_fluid_points(world);
    ASSERT_EQ_FMT(7 * 3, p.count, "%d"); /* half a spacing off the rim, one spacing apart, one in the middle */
    for (int i = 0; i < p.count; i++) {
        const float *x = point_at(p.position, p.position_stride, i);
        ASSERT(fabsf(x[0]) <= 0.176f && fabsf(x[2]) <= 0.076f);
    }
    isphpbd_world_destroy(world);
    desc.radius = 0.2f;
    world = fountain(desc, 500, &emitter);
    run(world, 1);
    p = isphpbd_fluid_points(world);
    ASSERT_EQ_FMT(37, p.count, "%d"); /* lattice points within 3.5 of the centre */
    isphpbd_world_destroy(world);
    PASS();
}

TEST emitters_end_pause_and_starve(void) {
    isphpbd_emitter_desc desc = isphpbd_emitter_desc_default();
    isphpbd_emitter emitter;
    isphpbd_world *world;
    int64_t count;
    int starved = 0;
    desc.duration = 0.5f, desc.radius = 0.01f, desc.speed = 2.0f;
    world = fountain(desc, 100, &emitter);
    run(world, 60);
    ASSERT_IN_RANGE(20.0, (double)isphpbd_emitter_count(world, emitter), 1.5); /* 0.5 s * 2 m/s / 0.05 m */
    isphpbd_world_destroy(world);

    desc.duration = 0.0f;
    world = fountain(desc, 30, &emitter);
    run(world, 10);
    count = isphpbd_emitter_count(world, emitter);
    ASSERT_EQ(ISPHPBD_OK, isphpbd_emitter_set(world, emitter, desc.position, desc.direction, 0.0f));
    run(world, 10);
    ASSERT_EQ(count, isphpbd_emitter_count(world, emitter));
    ASSERT_EQ(ISPHPBD_OK, isphpbd_emitter_set(world, emitter, desc.position, desc.direction, 2.0f));
    for (int i = 0; i < 60; i++) {
        const bool full = isphpbd_emitter_count(world, emitter) == 30;
        const isphpbd_step_info info = isphpbd_world_step(world, STEP);
        if (!full && isphpbd_emitter_count(world, emitter) < 30)
            ASSERT_FALSE(info.flags & ISPHPBD_STEP_EMITTER_STARVED);
        starved += info.flags & ISPHPBD_STEP_EMITTER_STARVED ? 1 : 0;
    }
    ASSERT(starved > 10);
    ASSERT_EQ(30, isphpbd_emitter_count(world, emitter));
    ASSERT_EQ(ISPHPBD_OK, isphpbd_emitter_destroy(world, emitter));
    ASSERT_EQ(ISPHPBD_BAD_HANDLE, isphpbd_emitter_destroy(world, emitter));
    ASSERT_EQ(0, isphpbd_emitter_count(world, emitter));
    isphpbd_world_destroy(world);
    PASS();
}

/* Particles of an emitter live as long as it said; others in the same slots later on live for ever. */
TEST lifetimes(void) {
    isphpbd_emitter_desc desc = isphpbd_emitter_desc_default();
    isphpbd_emitter emitter;
    isphpbd_world *world;
    isphpbd_stats stats;
    int steps = 0;
    const float corner[3] = {5.0f, 0.0f, 5.0f};
    desc.lifetime = 0.25f, desc.duration = 0.1f, desc.radius = 0.01f;
    world = fountain(desc, 50, &emitter);
    while (steps < 60 && (steps < 7 || isphpbd_fluid_points(world).count > 0)) run(world, 1), steps++;
    stats = isphpbd_world_stats(world);
    ASSERT(stats.total_emitted > 0);
    ASSERT_EQ(stats.total_emitted, stats.total_removed);
    ASSERT_IN_RANGE(0.35, (double)steps * (double)STEP, 0.04);
    for (int i = 0; i < 10; i++) { /* they get the slots of the dead */
        isphpbd_fluid fluid = {0, 0};
        fluid.id = 0x10001u, fluid.world = emitter.world; /* the first one */
        ASSERT_EQ(ISPHPBD_OK, isphpbd_fluid_add(world, fluid, corner, 12, NULL, 0, 1, NULL));
    }
    run(world, 60);
    ASSERT_EQ_FMT(10, isphpbd_fluid_points(world).count, "%d");
    isphpbd_world_destroy(world);
    PASS();
}

TEST sinks_swallow_what_they_may(void) {
    isphpbd_world_desc desc = small_desc(2000);
    isphpbd_world *world;
    isphpbd_fluid fluids[2];
    isphpbd_sink sink;
    isphpbd_result why;
    const isphpbd_shape plane = isphpbd_shape_plane(), ball = isphpbd_shape_sphere(0.3f);
    const isphpbd_vec3 still = {0.0f, 0.0f, 0.0f};
    int added[2];
    desc.gravity.y = 0.0f;
    world = make(desc);
    for (int i = 0; i < 2; i++) {
        fluids[i] = water_of(world, 1u << i, ~0u);
        ASSERT_EQ(ISPHPBD_OK, isphpbd_fluid_add_box(world, fluids[i], isphpbd_v3(-0.5f, (float)i, -0.2f),
                                                    isphpbd_v3(0.5f, (float)i + 0.2f, 0.2f), still, &added[i]));
    }
    (void)isphpbd_sink_create(world, &plane, isphpbd_pose_at(still), ~0u, &why);
    ASSERT_EQ(ISPHPBD_BAD_ARGUMENT, why);
    sink = isphpbd_sink_create(world, &ball, isphpbd_pose_at(isphpbd_v3(0.0f, 0.6f, 0.0f)), 2u, &why);
    ASSERT_EQ(ISPHPBD_OK, why);
    run(world, 1);
    ASSERT_EQ(0, isphpbd_sink_count(world, sink)); /* touches the upper fluid not yet */
    ASSERT_EQ(ISPHPBD_OK, isphpbd_sink_destroy(world, sink));
    sink = isphpbd_sink_create(world, &ball, isphpbd_pose_at(isphpbd_v3(0.0f, 0.9f, 0.0f)), 1u, &why);
    run(world, 1);
    ASSERT_EQ(0, isphpbd_sink_count(world, sink)); /* only for the lower one */
    ASSERT_EQ(ISPHPBD_OK, isphpbd_sink_destroy(world, sink));
    sink = isphpbd_sink_create(world, &ball, isphpbd_pose_at(isphpbd_v3(0.0f, 0.9f, 0.0f)), 2u, &why);
    run(world, 1);
    ASSERT(isphpbd_sink_count(world, sink) > 20);
    ASSERT_EQ_FMT(added[0] + added[1] - (int)isphpbd_sink_count(world, sink), isphpbd_fluid_points(world).count, "%d");
    ASSERT_EQ_FMT(added[0], isphpbd_fluid_clear(world, fluids[0]), "%d");
    isphpbd_world_destroy(world);
    PASS();
}

/* ---- [layers] ---------------------------------------------------------------------------------------------------- */

/* One floor for each of two fluids, made before and after them, and one that meets nobody. */
TEST layers_part_fluids_and_floors(void) {
    isphpbd_world *world = make(small_desc(2000));
    isphpbd_fluid first, second;
    isphpbd_points p;
    float bottom[2] = {1e30f, 1e30f};
    isphpbd_collider_desc high = isphpbd_collider_desc_default();
    (void)floor_of(world, 4u, ~0u);
    (void)floor_of(world, ~0u, 0u);
    first = water_of(world, 1u, 1u | 2u);
    second = water_of(world, 2u, 2u | 4u);
    high.pose.position.y = 0.5f, high.layer = 1u, high.mask = 1u;
    ASSERT(isphpbd_collider_create(world, &high, NULL).id != 0);
    (void)isphpbd_fluid_add_box(world, first, isphpbd_v3(-0.2f, 0.55f, -0.2f), isphpbd_v3(0.0f, 0.75f, 0.2f),
                                isphpbd_v3(0.0f, 0.0f, 0.0f), NULL);
    (void)isphpbd_fluid_add_box(world, second, isphpbd_v3(2.0f, 0.55f, -0.2f), isphpbd_v3(2.2f, 0.75f, 0.2f),
                                isphpbd_v3(0.0f, 0.0f, 0.0f), NULL);
    run(world, 40);
    p = isphpbd_fluid_points(world);
    for (int i = 0; i < p.count; i++)
        bottom[p.fluid[i]] = fminf(bottom[p.fluid[i]], point_at(p.position, p.position_stride, i)[1]);
    ASSERT_IN_RANGE(0.5, (double)bottom[isphpbd_fluid_index(world, first)], 0.03);
    ASSERT_IN_RANGE(0.0, (double)bottom[isphpbd_fluid_index(world, second)], 0.03);
    isphpbd_world_destroy(world);
    PASS();
}
TEST layers_part_softs_and_floors(void) {
    isphpbd_world *world = make(small_desc(0));
    isphpbd_soft_desc desc = dry_cloth(isphpbd_v3(0.0f, 0.2f, 0.0f));
    isphpbd_soft stays, falls;
    float lo, hi;
    (void)floor_of(world, 1u, 1u);
    desc.body.layer = 1u, desc.body.mask = 1u;
    stays = cloth_of(world, desc);
    desc.body.layer = 2u;
    falls = cloth_of(world, desc);
    run(world, 40);
    extent(world, stays, 1, &lo, &hi);
    ASSERT(lo > -0.001f && hi < 0.05f);
    extent(world, falls, 1, &lo, &hi);
    ASSERT(hi < -0.5f);
    isphpbd_world_destroy(world);
    PASS();
}

/* ---- [solids] ---------------------------------------------------------------------------------------------------- */

/* A cloth thrown about in a hollow shape that shakes stays inside. */
static greatest_test_res holds(isphpbd_shape shape, isphpbd_vec3 half) {
    isphpbd_world *world = make(small_desc(0));
    isphpbd_soft_desc desc = dry_cloth(isphpbd_v3(0.0f, 0.0f, 0.0f));
    isphpbd_collider room = room_of(world, shape, isphpbd_v3(0.0f, 0.0f, 0.0f));
    isphpbd_soft cloth;
    desc.body.velocity = isphpbd_v3(4.0f, 3.0f, 2.0f);
    cloth = cloth_of(world, desc);
    for (int i = 0; i < 90; i++) {
        const float x = i % 40 < 20 ? 0.02f * (float)(i % 20) : 0.4f - 0.02f * (float)(i % 20);
        isphpbd_pose pose;
        float lo, hi;
        ASSERT_EQ(ISPHPBD_OK, isphpbd_collider_move(world, room, isphpbd_pose_at(isphpbd_v3(x, 0.0f, 0.0f))));
        run(world, 1);
        ASSERT_EQ(ISPHPBD_OK, isphpbd_collider_pose(world, room, &pose));
        ASSERT_IN_RANGE((double)x, (double)pose.position.x, 1e-6);
        for (int k = 0; k < 3; k++) {
            const float h = k == 0 ? half.x : k == 1 ? half.y : half.z, c = k == 0 ? x : 0.0f;
            extent(world, cloth, k, &lo, &hi);
            ASSERT(lo > c - h - 0.01f && hi < c + h + 0.01f);
        }
    }
    isphpbd_world_destroy(world);
    PASS();
}
TEST containers_hold_cloth(void) {
    CHECK_CALL(holds(isphpbd_shape_box(0.4f, 0.4f, 0.4f), isphpbd_v3(0.4f, 0.4f, 0.4f)));
    CHECK_CALL(holds(isphpbd_shape_sphere(0.5f), isphpbd_v3(0.5f, 0.5f, 0.5f)));
    CHECK_CALL(holds(isphpbd_shape_capsule(0.4f, 0.3f), isphpbd_v3(0.4f, 0.7f, 0.4f)));
    PASS();
}

/* Water and cloth come to rest in the valley of a ground of heights, and none gets below it. */
TEST ground_of_heights(void) {
    isphpbd_world *world = make(small_desc(3000));
    isphpbd_collider_desc ground = isphpbd_collider_desc_default();
    isphpbd_soft_desc desc = dry_cloth(isphpbd_v3(0.0f, 0.6f, 0.0f));
    isphpbd_soft cloth;
    isphpbd_points p;
    float heights[9 * 7], lo, hi;
    int added = 0, spilled = 0;
    for (int i = 0; i < 63; i++) heights[i] = 0.06f * (float)((i % 9 - 4) * (i % 9 - 4) + (i / 9 - 3) * (i / 9 - 3));
    ground.shape = isphpbd_shape_heightfield(heights, 9, 7, 0.25f);
    ASSERT(isphpbd_collider_create(world, &ground, NULL).id != 0);
    cloth = cloth_of(world, desc);
    ASSERT_EQ(ISPHPBD_OK, isphpbd_fluid_add_box(world, water_of(world, 1u, ~0u), isphpbd_v3(-0.3f, 0.3f, -0.3f),
                                                isphpbd_v3(0.3f, 0.6f, 0.3f), isphpbd_v3(0.0f, 0.0f, 0.0f), &added));
    run(world, 90);
    p = isphpbd_fluid_points(world);
    ASSERT_EQ_FMT(added, p.count, "%d");
    for (int i = 0; i < p.count; i++) { /* heights: 0.96 (x^2 + z^2), a little more between the corners */
        const float *x = point_at(p.position, p.position_stride, i);
        if (fabsf(x[0]) < 1.0f && fabsf(x[2]) < 0.75f) ASSERT(x[1] > 0.96f * (x[0] * x[0] + x[2] * x[2]) - 0.02f);
        else spilled++;
    }
    ASSERT(20 * spilled < added);
    extent(world, cloth, 1, &lo, &hi);
    ASSERT(lo > -0.01f);
    ground.shape.cell = -1.0f;
    ASSERT_EQ(0u, isphpbd_collider_create(world, &ground, NULL).id);
    isphpbd_world_destroy(world);
    PASS();
}

static isphpbd_vec3 paddle_at[64];
static float paddle_seconds[64]; /* since the step began */
static int paddle_looks;
static isphpbd_collider paddle;
static void watch_paddle(const isphpbd_world *world, float seconds, void *user) {
    isphpbd_pose pose;
    (void)user;
    if (isphpbd_collider_pose(world, paddle, &pose) != ISPHPBD_OK || paddle_looks >= 64) return;
    paddle_seconds[paddle_looks] = seconds + (paddle_looks > 0 ? paddle_seconds[paddle_looks - 1] : 0.0f);
    paddle_at[paddle_looks++] = pose.position;
}
/* A collider gets to its place evenly over the substeps, stands still afterwards, and teleports at once. */
TEST colliders_move_evenly(void) {
    isphpbd_world_desc desc = small_desc(2000);
    isphpbd_world *world;
    isphpbd_collider_desc ball = isphpbd_collider_desc_default();
    isphpbd_pose pose;
    desc.on_substep.fn = watch_paddle;
    world = make(desc);
    ball.shape = isphpbd_shape_sphere(0.1f);
    paddle = isphpbd_collider_create(world, &ball, NULL);
    paddle_looks = 0;
    ASSERT_EQ(ISPHPBD_OK, isphpbd_collider_move(world, paddle, isphpbd_pose_at(isphpbd_v3(0.3f, 0.0f, 0.0f))));
    run(world, 1);
    ASSERT(paddle_looks >= 6); /* 18 m/s: not farther than a spacing at a time */
    for (int i = 0; i < paddle_looks; i++)
        ASSERT_IN_RANGE(18.0 * (double)paddle_seconds[i], (double)paddle_at[i].x, 1e-4);
    run(world, 2);
    ASSERT_EQ(ISPHPBD_OK, isphpbd_collider_pose(world, paddle, &pose));
    ASSERT_EQ(0.3f, pose.position.x);
    ASSERT_EQ(ISPHPBD_OK, isphpbd_collider_teleport(world, paddle, isphpbd_pose_at(isphpbd_v3(0.0f, 2.0f, 0.0f))));
    ASSERT_EQ(ISPHPBD_OK, isphpbd_collider_pose(world, paddle, &pose));
    ASSERT_EQ(2.0f, pose.position.y);
    isphpbd_world_destroy(world);
    PASS();
}

/* A floor carries the weight of what rests on it: water and cloth. */
TEST floors_feel_the_weight(void) {
    isphpbd_world *world = make(small_desc(2000));
    isphpbd_collider room = room_of(world, isphpbd_shape_box(0.25f, 1.0f, 0.25f), isphpbd_v3(0.0f, 1.0f, 0.0f));
    isphpbd_impulse push;
    int added = 0;
    (void)isphpbd_fluid_add_box(world, water_of(world, 1u, ~0u), isphpbd_v3(-0.25f, 0.0f, -0.25f),
                                isphpbd_v3(0.25f, 0.3f, 0.25f), isphpbd_v3(0.0f, 0.0f, 0.0f), &added);
    run(world, 60);
    ASSERT_EQ(ISPHPBD_OK, isphpbd_collider_take(world, room, &push));
    run(world, 60);
    ASSERT_EQ(ISPHPBD_OK, isphpbd_collider_take(world, room, &push));
    ASSERT_IN_RANGE(-9.81 * 0.125 * added, (double)push.linear.y, 0.03 * 9.81 * 0.125 * added);
    ASSERT_EQ(ISPHPBD_OK, isphpbd_collider_take(world, room, &push));
    ASSERT_EQ(0.0f, push.linear.y);
    isphpbd_world_destroy(world);
    PASS();
}

/* Filled meshes weigh like the shapes they are; a mesh with a hole or turned inside out is no solid. */
TEST inertia_of_meshes(void) {
    const float xyz[24] = {-1, -2, -3, 1, -2, -3, -1, 2, -3, 1, 2, -3, -1, -2, 3, 1, -2, 3, -1, 2, 3, 1, 2, 3};
    uint32_t t[36] = {0, 2, 3, 0, 3, 1, 4, 5, 7, 4, 7, 6, 0, 1, 5, 0, 5, 4,
                      2, 6, 7, 2, 7, 3, 0, 4, 6, 0, 6, 2, 1, 3, 7, 1, 7, 5};
    isphpbd_world *world = make(small_desc(10));
    isphpbd_body_desc desc = isphpbd_body_desc_default();
    isphpbd_body body;
    isphpbd_vec3 a, b;
    isphpbd_result why;
    desc.shape = isphpbd_shape_solid(xyz, 8, t, 12), desc.mass = 6.0f;
    body = isphpbd_body_create(world, &desc, &why);
    ASSERT_EQ(ISPHPBD_OK, why);
    a = isphpbdx_body_of(world, body)->inertia;
    ASSERT_IN_RANGE(26.0, (double)a.x, 1e-4);
    ASSERT_IN_RANGE(20.0, (double)a.y, 1e-4);
    ASSERT_IN_RANGE(10.0, (double)a.z, 1e-4); /* m (y^2 + z^2) / 3 and so on */
    desc.shape = isphpbd_shape_box(1.0f, 2.0f, 3.0f);
    b = isphpbdx_body_of(world, isphpbd_body_create(world, &desc, &why))->inertia;
    ASSERT_IN_RANGE((double)b.x, (double)a.x, 1e-4);
    desc.shape = isphpbd_shape_solid(xyz, 8, t, 11);
    ASSERT_EQ(0u, isphpbd_body_create(world, &desc, &why).id);
    ASSERT_EQ(ISPHPBD_BAD_MESH, why);
    for (int i = 0; i < 36; i += 3) {
        const uint32_t swap = t[i];
        t[i] = t[i + 1], t[i + 1] = swap;
    }
    desc.shape = isphpbd_shape_solid(xyz, 8, t, 12);
    ASSERT_EQ(0u, isphpbd_body_create(world, &desc, &why).id);
    ASSERT_EQ(ISPHPBD_BAD_MESH, why);
    desc.shape = isphpbd_shape_shell(xyz, 8, t, 11);
    ASSERT(isphpbd_body_create(world, &desc, &why).id != 0);
    ASSERT_EQ(ISPHPBD_OK, isphpbd_body_set_mass(world, body, 12.0f, isphpbd_v3(0.0f, 0.0f, 0.0f)));
    ASSERT_IN_RANGE(52.0, (double)isphpbdx_body_of(world, body)->inertia.x, 1e-3);
    isphpbd_world_destroy(world);
    PASS();
}

/* A needle turns into its axis and spins without bound; its motion stays one that can be given, saved and loaded. */
TEST motion_stays_within_limits(void) {
    isphpbd_world *world = make(small_desc(10));
    isphpbd_body_desc desc = isphpbd_body_desc_default();
    size_t size;
    void *bytes;
    desc.shape = isphpbd_shape_box(1e-6f, 1e-6f, 0.7f), desc.mass = 17.0f;
    desc.motion.angular_velocity = isphpbd_v3(-0.7f, 1.9f, 0.0f);
    ASSERT(isphpbd_body_create(world, &desc, NULL).id != 0);
    for (int i = 0; i < 60; i++) (void)isphpbd_world_step(world, 1.0f / 60.0f);
    size = isphpbd_world_save(world, NULL, 0);
    bytes = malloc(size);
    ASSERT_EQ(size, isphpbd_world_save(world, bytes, size));
    ASSERT_EQ(ISPHPBD_OK, isphpbd_world_load(world, bytes, size));
    free(bytes);
    isphpbd_world_destroy(world);
    PASS();
}

/* Without water a body flies as the host would make it fly. */
TEST bodies_are_predicted(void) {
    isphpbd_world *world = make(small_desc(10));
    isphpbd_body_desc desc = isphpbd_body_desc_default();
    isphpbd_body bodies[3];
    isphpbd_motion at, bad;
    isphpbd_impulse push[3];
    desc.motion.linear_velocity = isphpbd_v3(1.0f, 2.0f, 3.0f);
    bodies[0] = isphpbd_body_create(world, &desc, NULL);
    desc.gravity_scale = 0.0f, desc.one_way = true;
    bodies[1] = isphpbd_body_create(world, &desc, NULL);
    bodies[2].id = bodies[2].world = 0;
    for (int i = 0; i < 60; i++) run(world, 1);
    ASSERT_EQ(ISPHPBD_OK, isphpbd_body_predicted(world, bodies[0], &at));
    ASSERT_IN_RANGE(2.0 - 9.81, (double)at.linear_velocity.y, 1e-2);
    ASSERT_IN_RANGE(1.0, (double)at.pose.position.x, 1e-4);
    ASSERT_IN_RANGE(2.0 - 4.905, (double)at.pose.position.y, 0.05);
    ASSERT_EQ(ISPHPBD_OK, isphpbd_body_predicted(world, bodies[1], &at));
    ASSERT_IN_RANGE(2.0, (double)at.pose.position.y, 1e-4);
    ASSERT_EQ(ISPHPBD_BAD_HANDLE, isphpbd_bodies_take(world, bodies, push, 3));
    ASSERT_EQ(0.0f, push[0].linear.y + push[2].linear.y);
    bad = at, bad.linear_velocity.x = (float)NAN;
    ASSERT_EQ(ISPHPBD_BAD_ARGUMENT, isphpbd_body_put(world, bodies[0], &bad));
    ASSERT_EQ(ISPHPBD_OK, isphpbd_body_put(world, bodies[0], &at));
    isphpbd_world_destroy(world);
    PASS();
}

/* A vertex tied to a collider follows it; pins have the whole step for their way. */
static float pin_speeds[64];
static int pin_looks;
static isphpbd_world *pin_world;
static isphpbd_soft pin_cloth;
static void watch_pin(const isphpbd_world *world, float seconds, void *user) {
    isphpbd_vec3 velocity;
    (void)user, (void)seconds;
    if (pin_looks < 64 && ipbd_body_vertex(isphpbd_world_softs(pin_world), isphpbd_soft_body(world, pin_cloth), 0, NULL,
                                           &velocity) == ISPHPBD_OK)
        pin_speeds[pin_looks++] = velocity.x;
}
TEST pins_and_ties(void) {
    isphpbd_world_desc desc = small_desc(10);
    isphpbd_collider_desc ball = isphpbd_collider_desc_default();
    isphpbd_collider hand;
    isphpbd_vec3 at, moved;
    ipbd_world *softs;
    desc.on_substep.fn = watch_pin;
    pin_world = make(desc), softs = isphpbd_world_softs(pin_world);
    pin_cloth = cloth_of(pin_world, dry_cloth(isphpbd_v3(0.0f, 0.0f, 0.0f)));
    ball.shape = isphpbd_shape_sphere(0.05f), ball.pose.position = isphpbd_v3(0.0f, 3.0f, 0.0f);
    hand = isphpbd_collider_create(pin_world, &ball, NULL);
    ASSERT_EQ(ISPHPBD_OK, isphpbd_soft_attach_collider(pin_world, pin_cloth, 35, hand));
    ASSERT_EQ(ISPHPBD_BAD_ARGUMENT, isphpbd_soft_attach_collider(pin_world, pin_cloth, 36, hand));
    ASSERT_EQ(ISPHPBD_OK, ipbd_pin(softs, isphpbd_soft_body(pin_world, pin_cloth), 0));
    run(pin_world, 1);
    (void)ipbd_body_vertex(softs, isphpbd_soft_body(pin_world, pin_cloth), 0, &at, NULL);
    pin_looks = 0;
    moved = at, moved.x += 0.05f;
    ASSERT_EQ(ISPHPBD_OK, ipbd_pin_move(softs, isphpbd_soft_body(pin_world, pin_cloth), 0, moved));
    run(pin_world, 1);
    ASSERT(pin_looks >= 2);
    for (int i = 0; i < pin_looks; i++) ASSERT_IN_RANGE(3.0, (double)pin_speeds[i], 0.01); /* 0.05 m in 1/60 s */
    (void)ipbd_body_vertex(softs, isphpbd_soft_body(pin_world, pin_cloth), 0, &at, NULL);
    ASSERT_EQ(moved.x, at.x);
    (void)ipbd_body_vertex(softs, isphpbd_soft_body(pin_world, pin_cloth), 35, &at, NULL);
    ASSERT_EQ(ISPHPBD_OK, isphpbd_collider_move(pin_world, hand, isphpbd_pose_at(isphpbd_v3(0.0f, 3.02f, 0.0f))));
    run(pin_world, 1);
    (void)ipbd_body_vertex(softs, isphpbd_soft_body(pin_world, pin_cloth), 35, &moved, NULL);
    ASSERT_IN_RANGE((double)at.y + 0.02, (double)moved.y, 1e-5);
    isphpbd_world_destroy(pin_world);
    PASS();
}

/* ---- [reading] --------------------------------------------------------------------------------------------------- */

/* previous[i] is where position[i] was one step ago, whatever the order does and whoever comes and goes. */
TEST previous_positions(void) {
    isphpbd_world *world = make(small_desc(3000));
    isphpbd_fluid fluid = water_of(world, 1u, ~0u);
    isphpbd_emitter_desc jet = isphpbd_emitter_desc_default();
    isphpbd_soft cloth = cloth_of(world, dry_cloth(isphpbd_v3(2.0f, 1.0f, 0.0f)));
    static float before[3000][3];
    static bool known[3000];
    static float vertex[36][3];
    (void)room_of(world, isphpbd_shape_box(0.4f, 1.0f, 0.4f), isphpbd_v3(0.0f, 1.0f, 0.0f));
    (void)isphpbd_fluid_add_box(world, fluid, isphpbd_v3(-0.4f, 0.0f, -0.4f), isphpbd_v3(0.0f, 0.5f, 0.4f),
                                isphpbd_v3(0.0f, 0.0f, 0.0f), NULL);
    jet.fluid = fluid, jet.position = isphpbd_v3(0.2f, 1.5f, 0.0f), jet.lifetime = 0.2f;
    (void)isphpbd_emitter_create(world, &jet, NULL);
    for (int s = 0; s < 30; s++) {
        isphpbd_points p = isphpbd_fluid_points(world), v = isphpbd_soft_points(world, cloth);
        memset(known, 0, sizeof known);
        for (int i = 0; i < p.count; i++) {
            memcpy(before[p.id[i] & 0xfffu], point_at(p.position, p.position_stride, i), 12);
            known[p.id[i] & 0xfffu] = true;
        }
        for (int i = 0; i < v.count; i++) memcpy(vertex[i], point_at(v.position, v.position_stride, i), 12);
        run(world, 1);
        p = isphpbd_fluid_points(world), v = isphpbd_soft_points(world, cloth);
        ASSERT(p.previous && v.previous);
        for (int i = 0; i < p.count; i++) {
            const float *was = point_at(p.previous, p.previous_stride, i);
            if (known[p.id[i] & 0xfffu]) ASSERT_MEM_EQ(before[p.id[i] & 0xfffu], was, 12);
            else ASSERT_MEM_EQ(point_at(p.position, p.position_stride, i), was, 12);
        }
        for (int i = 0; i < v.count; i++) ASSERT_MEM_EQ(vertex[i], point_at(v.previous, v.previous_stride, i), 12);
    }
    isphpbd_world_destroy(world);
    PASS();
}

/* The same world far away: the origin moves in the midst of it. */
TEST origin_moves(void) {
    isphpbd_world *worlds[2];
    const isphpbd_vec3 offset = {4.0f, -2.0f, 8.0f}; /* exact in binary, so that the digits stay */
    isphpbd_points p[2];
    isphpbd_soft cloth[2];
    double worst = 0.0;
    for (int w = 0; w < 2; w++) {
        worlds[w] = make(small_desc(2000));
        (void)room_of(worlds[w], isphpbd_shape_box(0.4f, 1.0f, 0.4f), isphpbd_v3(0.0f, 1.0f, 0.0f));
        cloth[w] = cloth_of(worlds[w], dry_cloth(isphpbd_v3(0.0f, 0.9f, 0.0f)));
        (void)isphpbd_fluid_add_box(worlds[w], water_of(worlds[w], 1u, ~0u), isphpbd_v3(-0.4f, 0.0f, -0.4f),
                                    isphpbd_v3(0.4f, 0.3f, 0.4f), isphpbd_v3(0.0f, 0.0f, 0.0f), NULL);
        run(worlds[w], 5);
    }
    ASSERT_EQ(ISPHPBD_OK, isphpbd_world_shift_origin(worlds[1], offset));
    p[1] = isphpbd_fluid_points(worlds[1]);
    ASSERT_IN_RANGE((double)point_at(p[1].position, p[1].position_stride, 0)[0],
                    (double)point_at(p[1].previous, p[1].previous_stride, 0)[0], 0.1);
    ASSERT_EQ(ISPHPBD_BAD_ARGUMENT, isphpbd_world_shift_origin(worlds[1], isphpbd_v3(1e9f, 0.0f, 0.0f)));
    for (int w = 0; w < 2; w++) run(worlds[w], 3), p[w] = isphpbd_fluid_points(worlds[w]);
    ASSERT_EQ_FMT(p[0].count, p[1].count, "%d");
    for (int i = 0; i < p[0].count; i++) {
        const int j = isph_particle_find(isphpbd_world_fluids(worlds[1]), p[0].id[i]);
        ASSERT(j >= 0);
        for (int k = 0; k < 3; k++) {
            const double shift = k == 0 ? 4.0 : k == 1 ? -2.0 : 8.0;
            worst = fmax(worst, fabs((double)point_at(p[0].position, p[0].position_stride, i)[k] + shift -
                                     (double)point_at(p[1].position, p[1].position_stride, j)[k]));
        }
    }
    ASSERT(worst < 1e-3);
    p[0] = isphpbd_soft_points(worlds[0], cloth[0]), p[1] = isphpbd_soft_points(worlds[1], cloth[1]);
    ASSERT_IN_RANGE((double)p[0].position[0] + 4.0, (double)p[1].position[0], 1e-4);
    for (int w = 0; w < 2; w++) isphpbd_world_destroy(worlds[w]);
    PASS();
}

/* ---- [fill] ------------------------------------------------------------------------------------------------------ */

static isphpbd_soft box_shell(isphpbd_world *world, bool open) {
    const float xyz[24] = {-0.3f, -0.3f, -0.3f, 0.3f, -0.3f, -0.3f, -0.3f, 0.3f, -0.3f, 0.3f, 0.3f, -0.3f,
                           -0.3f, -0.3f, 0.3f,  0.3f, -0.3f, 0.3f,  -0.3f, 0.3f, 0.3f,  0.3f, 0.3f, 0.3f};
    const uint32_t t[36] = {0, 2, 3, 0, 3, 1, 4, 5, 7, 4, 7, 6, 0, 1, 5, 0, 5, 4,
                            2, 6, 7, 2, 7, 3, 0, 4, 6, 0, 6, 2, 1, 3, 7, 1, 7, 5};
    isphpbd_soft_desc desc = isphpbd_soft_desc_default();
    desc.body.mesh.positions = xyz, desc.body.mesh.vertex_count = 8;
    desc.body.mesh.triangles = t, desc.body.mesh.triangle_count = open ? 11 : 12;
    desc.body.velocity = isphpbd_v3(1.0f, 0.0f, 0.0f);
    return isphpbd_soft_create(world, &desc, NULL);
}
TEST shells_are_filled(void) {
    isphpbd_world *world = make(small_desc(2000));
    isphpbd_fluid fluid = water_of(world, 1u, ~0u);
    isphpbd_soft shell = box_shell(world, false), basket = box_shell(world, true);
    isphpbd_points p;
    int added = -1;
    ASSERT_EQ(ISPHPBD_BAD_ARGUMENT, isphpbd_fluid_fill_soft(world, fluid, basket, 0.0f, &added));
    ASSERT_EQ(ISPHPBD_BAD_ARGUMENT, isphpbd_fluid_fill_soft(world, fluid, shell, -1.0f, &added));
    ASSERT_EQ(ISPHPBD_OK, isphpbd_fluid_fill_soft(world, fluid, shell, 0.0f, &added));
    ASSERT_EQ_FMT(12 * 12 * 12, added, "%d");
    p = isphpbd_fluid_points(world);
    ASSERT_EQ_FMT(added, p.count, "%d");
    for (int i = 0; i < p.count; i++) {
        const float *x = point_at(p.position, p.position_stride, i);
        ASSERT(fabsf(x[0]) < 0.3f && fabsf(x[1]) < 0.3f && fabsf(x[2]) < 0.3f);
        ASSERT_EQ(1.0f, point_at(p.velocity, p.velocity_stride, i)[0]);
    }
    ASSERT_EQ(ISPHPBD_CAPACITY, isphpbd_fluid_fill_soft(world, fluid, shell, 0.0f, &added));
    ASSERT_EQ_FMT(12 * 12 * 12, isphpbd_fluid_points(world).count, "%d");
    (void)isphpbd_fluid_clear(world, fluid);
    ASSERT_EQ(ISPHPBD_OK, isphpbd_fluid_fill_soft(world, fluid, shell, 0.06f, &added));
    ASSERT_EQ_FMT(10 * 10 * 10, added, "%d"); /* the outer layer is 0.025 from the walls */
    isphpbd_world_destroy(world);
    PASS();
}

/* ---- [draw] ------------------------------------------------------------------------------------------------------ */

typedef struct drawn {
    int points, lines, triangles, largest;
    bool finite;
} drawn;
static void count_batch(drawn *d, const isphpbd_vec3 *xyz, int corners, int count) {
    for (int i = 0; i < corners * count; i++)
        if (!isfinite(xyz[i].x) || !isfinite(xyz[i].y) || !isfinite(xyz[i].z)) d->finite = false;
    if (count > d->largest) d->largest = count;
}
static void draw_points(const isphpbd_vec3 *xyz, const uint32_t *rgba, int count, float radius, void *user) {
    drawn *d = (drawn *)user;
    count_batch(d, xyz, 1, count), d->points += count;
    if (!(radius > 0.0f) || !rgba) d->finite = false;
}
static void draw_lines(const isphpbd_vec3 *xyz, const uint32_t *rgba, int count, void *user) {
    drawn *d = (drawn *)user;
    count_batch(d, xyz, 2, count), d->lines += count;
    if (!rgba) d->finite = false;
}
static void draw_triangles(const isphpbd_vec3 *xyz, const uint32_t *rgba, int count, void *user) {
    drawn *d = (drawn *)user;
    count_batch(d, xyz, 3, count), d->triangles += count;
    if (!rgba) d->finite = false;
}
static drawn draw_all(const isphpbd_world *world, uint32_t flags, bool triangles) {
    drawn d = {0, 0, 0, 0, true};
    isphpbd_debug_draw draw;
    memset(&draw, 0, sizeof draw);
    draw.points = draw_points, draw.lines = draw_lines, draw.flags = flags, draw.user = &d;
    if (triangles) draw.triangles = draw_triangles;
    if (isphpbd_world_debug_draw(world, &draw) != ISPHPBD_OK) d.finite = false;
    return d;
}
TEST everything_is_drawn(void) {
    isphpbd_world *world = make(small_desc(3000));
    isphpbd_body_desc body = isphpbd_body_desc_default();
    isphpbd_debug_draw nothing;
    drawn d;
    int added = 0;
    memset(&nothing, 0, sizeof nothing);
    nothing.flags = ISPHPBD_DRAW_ALL;
    (void)floor_of(world, 1u, ~0u);
    (void)room_of(world, isphpbd_shape_box(1.0f, 1.0f, 1.0f), isphpbd_v3(0.0f, 1.0f, 0.0f));
    (void)room_of(world, isphpbd_shape_capsule(2.0f, 1.0f), isphpbd_v3(0.0f, 1.0f, 0.0f));
    (void)isphpbd_body_create(world, &body, NULL);
    (void)cloth_of(world, dry_cloth(isphpbd_v3(0.0f, 1.0f, 0.0f)));
    (void)isphpbd_fluid_add_box(world, water_of(world, 1u, ~0u), isphpbd_v3(-0.5f, 0.0f, -0.5f),
                                isphpbd_v3(0.5f, 0.2f, 0.5f), isphpbd_v3(0.0f, 0.0f, 0.0f), &added);
    ASSERT_EQ(ISPHPBD_OK, isphpbd_world_debug_draw(world, &nothing));
    ASSERT_EQ(ISPHPBD_BAD_ARGUMENT, isphpbd_world_debug_draw(world, NULL));
    d = draw_all(world, ISPHPBD_DRAW_PARTICLES, true);
    ASSERT_EQ_FMT(added, d.points, "%d");
    ASSERT_EQ_FMT(256, d.largest, "%d");
    ASSERT_EQ_FMT(0, d.lines + d.triangles, "%d");
    d = draw_all(world, ISPHPBD_DRAW_SOFTS, true);
    ASSERT_EQ_FMT(50, d.triangles, "%d");
    d = draw_all(world, ISPHPBD_DRAW_SOFTS, false);
    ASSERT_EQ_FMT(150, d.lines, "%d");
    d = draw_all(world, ISPHPBD_DRAW_COLLIDERS, true);
    ASSERT_EQ_FMT(42 + 12 + 6 * 24 + 4, d.lines, "%d");
    d = draw_all(world, ISPHPBD_DRAW_BODIES, true);
    ASSERT_EQ_FMT(3 * 24, d.lines, "%d");
    run(world, 2);
    d = draw_all(world, ISPHPBD_DRAW_ALL, true);
    ASSERT(d.finite && d.largest <= 256);
    isphpbd_world_destroy(world);
    PASS();
}

/* What is made of triangles is drawn as their edges, ground as its grid, and water on cloth as points. */
TEST meshes_ground_and_contacts_are_drawn(void) {
    static const float corners[12] = {0.0f, 1.0f, 0.0f, -0.2f, 0.6f, -0.2f, 0.2f, 0.6f, -0.2f, 0.0f, 0.6f, 0.3f};
    static const uint32_t faces[12] = {0, 2, 1, 0, 3, 2, 0, 1, 3, 1, 2, 3};
    static const float heights[12] = {0};
    isphpbd_world *world = make(small_desc(3000));
    isphpbd_collider_desc solid = isphpbd_collider_desc_default();
    isphpbd_soft_desc cloth = dry_cloth(isphpbd_v3(0.0f, 0.3f, 0.0f));
    int added = 0;
    drawn d;
    solid.shape = isphpbd_shape_solid(corners, 4, faces, 4);
    ASSERT(isphpbd_collider_create(world, &solid, NULL).id != 0);
    d = draw_all(world, ISPHPBD_DRAW_COLLIDERS, true);
    ASSERT_EQ_FMT(4 * 3, d.lines, "%d");
    solid.shape = isphpbd_shape_heightfield(heights, 4, 3, 0.5f);
    ASSERT(isphpbd_collider_create(world, &solid, NULL).id != 0);
    d = draw_all(world, ISPHPBD_DRAW_COLLIDERS, true);
    ASSERT_EQ_FMT(4 * 3 + 3 * 3 + 4 * 2, d.lines, "%d");
    cloth.wet = true;
    (void)cloth_of(world, cloth);
    ASSERT_EQ_FMT(0, draw_all(world, ISPHPBD_DRAW_CONTACTS, true).points, "%d");
    (void)isphpbd_fluid_add_box(world, water_of(world, 1u, ~0u), isphpbd_v3(-0.3f, 0.32f, -0.3f),
                                isphpbd_v3(0.3f, 0.45f, 0.3f), isphpbd_v3(0.0f, 0.0f, 0.0f), &added);
    run(world, 4);
    d = draw_all(world, ISPHPBD_DRAW_CONTACTS, true);
    ASSERT(d.finite && d.points > 0 && d.points <= added);
    isphpbd_world_destroy(world);
    PASS();
}

/* ---- [views] ---------------------------------------------------------------------------------------------------- */

/* Particles that isph_ calls bring and take in equal numbers make the order another one, too. */
TEST previous_is_of_the_same_particle(void) {
    isphpbd_world *world = make(small_desc(100));
    isphpbd_fluid water = water_of(world, 1, ~0u);
    isph_fluid *inside = isphpbd_world_fluids(world);
    const float far[3] = {5.0f, 0.0f, 0.0f};
    isphpbd_points points;
    uint32_t first;
    ASSERT_EQ(ISPHPBD_OK, isphpbd_fluid_add_box(world, water, isphpbd_v3(0, 0, 0), isphpbd_v3(0.2f, 0.2f, 0.2f),
                                                isphpbd_v3(0, 0, 0), NULL));
    run(world, 1);
    points = isphpbd_fluid_points(world);
    ASSERT(points.previous != NULL);
    first = points.id[0];
    ASSERT_EQ_FMT(1, isph_particles_remove(inside, &first, 1), "%d");
    ASSERT_EQ(ISPHPBD_OK, isph_particles_add(inside, (isph_material){1}, far, sizeof far, NULL, 0, 1, NULL));
    ASSERT(isphpbd_fluid_points(world).previous == NULL);
    run(world, 1);
    points = isphpbd_fluid_points(world);
    ASSERT(points.previous != NULL);
    for (int i = 0; i < points.count; i++) {
        const float *p = point_at(points.position, points.position_stride, i);
        const float *q = point_at(points.previous, points.previous_stride, i);
        ASSERT(fabsf(p[0] - q[0]) < 0.1f);
    }
    isphpbd_world_destroy(world);
    PASS();
}

/* ---- [logger] --------------------------------------------------------------------------------------------------- */

/* Whoever refuses something tells it, once. */
TEST refusals_are_told_once(void) {
    static const float corner[9] = {0, 0, 0, 1, 0, 0, 0, 1, 0};
    static const uint32_t triangles[6] = {0, 1, 2, 0, 2, 1};
    isphpbd_world_desc desc = small_desc(10);
    isphpbd_fluid_desc liquid = isphpbd_fluid_desc_default();
    isphpbd_collider_desc wall = isphpbd_collider_desc_default();
    isphpbd_fluid water;
    isphpbd_world *world;
    heard h;
    desc.logger = heard_logger(&h);
    desc.support = 9.0f;
    ASSERT(!isphpbd_world_create(&desc, NULL));
    ASSERT(heard_once(&h, ISPHPBD_BAD_DESC, "support"));
    desc.support = 2.0f, desc.capacity.soft.vertices = -1;
    ASSERT(!isphpbd_world_create(&desc, NULL));
    ASSERT(heard_once(&h, ISPHPBD_BAD_DESC, "capacity"));
    desc.capacity.soft.vertices = 100, desc.capacity.mesh_triangles = 1;
    world = make(desc);
    liquid.material.viscosity = -1.0f;
    ASSERT_EQ(0u, isphpbd_fluid_create(world, &liquid, NULL).id);
    ASSERT(heard_once(&h, ISPHPBD_BAD_DESC, "viscosity"));
    water = water_of(world, 1, ~0u);
    ASSERT(isphpbd_fluid_add_box(world, water, isphpbd_v3(0, 0, 0), isphpbd_v3(1, 1, 1), isphpbd_v3(0, 0, 0), NULL));
    ASSERT(heard_once(&h, ISPHPBD_CAPACITY, "particle"));
    ASSERT(isphpbd_fluid_add_box(world, water, isphpbd_v3(1, 0, 0), isphpbd_v3(0, 1, 1), isphpbd_v3(0, 0, 0), NULL));
    ASSERT(heard_once(&h, ISPHPBD_BAD_ARGUMENT, "box"));
    wall.shape.type = ISPHPBD_SHAPE_SHELL;
    wall.shape.mesh.positions = corner, wall.shape.mesh.stride_bytes = 12, wall.shape.mesh.vertex_count = 3;
    wall.shape.mesh.triangles = triangles, wall.shape.mesh.triangle_count = 2;
    ASSERT_EQ(0u, isphpbd_collider_create(world, &wall, NULL).id);
    ASSERT(heard_once(&h, ISPHPBD_CAPACITY, "triangle"));
    wall.shape.type = ISPHPBD_SHAPE_SOLID;
    ASSERT_EQ(0u, isphpbd_collider_create(world, &wall, NULL).id);
    ASSERT(heard_once(&h, ISPHPBD_BAD_MESH, "outward"));
    ASSERT_EQ(ISPHPBD_BAD_SNAPSHOT, isphpbd_world_load(world, corner, sizeof corner));
    ASSERT(heard_once(&h, ISPHPBD_BAD_SNAPSHOT, "snapshot"));
    isphpbd_world_destroy(world);
    PASS();
}

/* A flag of either solver is one of the world, and a message of its own, once. */
TEST flags_reach_the_world_and_its_logger(void) {
    isphpbd_world_desc desc = small_desc(500);
    const isphpbd_vec3 origin = isphpbd_v3(0, 0, 0);
    isphpbd_world *world;
    uint32_t flags = 0;
    heard h;
    desc.logger = heard_logger(&h);
    desc.budget.substeps = 64;
    world = make(desc);
    ASSERT_EQ(ISPHPBD_OK, isphpbd_fluid_add_box(world, water_of(world, 1, ~0u), origin, isphpbd_v3(0.3f, 0.3f, 0.3f),
                                                isphpbd_v3(200, 0, 0), NULL));
    for (int i = 0; i < 8; i++) { /* more walls than a particle sees */
        isphpbd_collider_desc wall = isphpbd_collider_desc_default();
        wall.pose.position.y = -0.01f * (float)i;
        ASSERT(isphpbd_collider_create(world, &wall, NULL).id != 0);
    }
    for (int i = 0; i < 3; i++) flags |= isphpbd_world_step(world, STEP).flags;
    ASSERT(flags & ISPHPBD_STEP_SPEED_CLAMPED);
    ASSERT(flags & ISPHPBD_STEP_WALLS_CAPPED);
    for (uint32_t rest = flags; rest; rest &= rest - 1) h.warnings--;
    ASSERT_EQ_FMT(0, h.warnings, "%d");
    ASSERT_EQ_FMT(0, h.errors, "%d");
    isphpbd_world_destroy(world);
    PASS();
}

/* Nothing is moved to where nothing may be: the limits are 2^18 spacings for sinks and solids, 1e9 m for cloth. */
TEST origin_is_not_shifted_too_far(void) {
    isphpbd_world *world = make(small_desc(10));
    const isphpbd_shape ball = isphpbd_shape_sphere(0.1f);
    uint64_t hash;
    ASSERT(isphpbd_sink_create(world, &ball, isphpbd_pose_at(isphpbd_v3(0, 0, 0)), ~0u, NULL).id != 0);
    ASSERT_EQ(ISPHPBD_OK, isphpbd_world_shift_origin(world, isphpbd_v3(13000, 0, 0)));
    hash = isphpbd_world_hash(world);
    ASSERT_EQ(ISPHPBD_BAD_ARGUMENT, isphpbd_world_shift_origin(world, isphpbd_v3(13000, 0, 0)));
    ASSERT_EQ(hash, isphpbd_world_hash(world));
    ASSERT_EQ(ISPHPBD_OK, isphpbd_world_shift_origin(world, isphpbd_v3(-13000, 0, 0)));
    isphpbd_world_destroy(world);
    PASS();
}

SUITE(world_core) {
    RUN_TEST(jets_are_even);
    RUN_TEST(mouths_have_their_shape);
    RUN_TEST(emitters_end_pause_and_starve);
    RUN_TEST(lifetimes);
    RUN_TEST(sinks_swallow_what_they_may);
    RUN_TEST(layers_part_fluids_and_floors);
    RUN_TEST(layers_part_softs_and_floors);
    RUN_TEST(containers_hold_cloth);
    RUN_TEST(ground_of_heights);
    RUN_TEST(colliders_move_evenly);
    RUN_TEST(floors_feel_the_weight);
    RUN_TEST(inertia_of_meshes);
    RUN_TEST(motion_stays_within_limits);
    RUN_TEST(bodies_are_predicted);
    RUN_TEST(pins_and_ties);
    RUN_TEST(previous_positions);
    RUN_TEST(origin_moves);
    RUN_TEST(shells_are_filled);
    RUN_TEST(everything_is_drawn);
    RUN_TEST(meshes_ground_and_contacts_are_drawn);
    RUN_TEST(previous_is_of_the_same_particle);
    RUN_TEST(refusals_are_told_once);
    RUN_TEST(flags_reach_the_world_and_its_logger);
    RUN_TEST(origin_is_not_shifted_too_far);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv) {
    GREATEST_MAIN_BEGIN();
    RUN_SUITE(world_core);
    GREATEST_MAIN_END();
}
