/* What a careless host may hand to isphpbd.h: bad descs and numbers, handles of the past and of other worlds, calls
   from inside callbacks. Each is refused with a reason and changes nothing. */
#define ISPHPBD_IMPLEMENTATION
#include "isphpbd.h"

#include "greatest.h"
#include "world_mixed.h"

static const float bad_number[3] = {(float)NAN, (float)INFINITY, (float)-INFINITY};

/* ---- [descs] ----------------------------------------------------------------------------------------------------- */

static greatest_test_res bad_world(isphpbd_world_desc desc) {
    isphpbd_result why = ISPHPBD_OK;
    ASSERT(isphpbd_world_bytes(&desc) == 0);
    ASSERT(isphpbd_world_create(&desc, &why) == NULL);
    ASSERT_EQ(ISPHPBD_BAD_DESC, why);
    PASS();
}

TEST bad_world_descs(void) {
    isphpbd_world_desc d;
    isphpbd_result why = ISPHPBD_OK;
    for (int i = 0; i < 3; i++) {
        d = world_desc(100), d.gravity.x = bad_number[i];
        CHECK_CALL(bad_world(d));
        d = world_desc(100), d.spacing = bad_number[i];
        CHECK_CALL(bad_world(d));
        d = world_desc(100), d.step_seconds = bad_number[i];
        CHECK_CALL(bad_world(d));
        d = world_desc(100), d.coupling_tolerance = bad_number[i];
        CHECK_CALL(bad_world(d));
        d = world_desc(100), d.tolerance = bad_number[i];
        CHECK_CALL(bad_world(d));
        d = world_desc(100), d.wind.z = bad_number[i];
        CHECK_CALL(bad_world(d));
    }
    d = world_desc(100), d.spacing = 0.0f;
    CHECK_CALL(bad_world(d));
    d = world_desc(100), d.step_seconds = 0.0f;
    CHECK_CALL(bad_world(d));
    d = world_desc(100), d.step_seconds = 0.2f;
    CHECK_CALL(bad_world(d));
    d = world_desc(-1);
    CHECK_CALL(bad_world(d));
    d = world_desc(100), d.capacity.fluids = 33;
    CHECK_CALL(bad_world(d));
    d = world_desc(100), d.capacity.bodies = -1;
    CHECK_CALL(bad_world(d));
    d = world_desc(100), d.capacity.mesh_triangles = -5;
    CHECK_CALL(bad_world(d));
    d = world_desc(100), d.cookie ^= 1u;
    CHECK_CALL(bad_world(d));
    d = world_desc(100), d.support = 9.0f;
    CHECK_CALL(bad_world(d));
    memset(&d, 0, sizeof d);
    CHECK_CALL(bad_world(d));
    ASSERT(isphpbd_world_create(NULL, &why) == NULL);
    ASSERT(why != ISPHPBD_OK);
    ASSERT(isphpbd_world_bytes(NULL) == 0);
    isphpbd_world_destroy(NULL);
    PASS();
}

/* Every allocation that creation makes fails once: nothing stays behind. */
TEST out_of_memory(void) {
    int made = 0;
    for (int refuse = 1; refuse < 40 && !made; refuse++) {
        isphpbd_world_desc desc = world_desc(500);
        watched_memory memory;
        isphpbd_result why = ISPHPBD_OK;
        isphpbd_world *world;
        desc.allocator = watched_allocator(&memory);
        memory.refuse = refuse;
        world = isphpbd_world_create(&desc, &why);
        if (world) {
            made = refuse;
            ASSERT(memory.asked == isphpbd_world_bytes(&desc));
            isphpbd_world_destroy(world);
        } else {
            ASSERT_EQ(ISPHPBD_OUT_OF_MEMORY, why);
        }
        ASSERT(watched_clean(&memory));
    }
    ASSERT(made > 1);
    PASS();
}

static greatest_test_res bad_body(mixed *m, const isphpbd_body_desc *d) {
    const uint64_t hash = isphpbd_world_hash(m->world);
    isphpbd_result why = ISPHPBD_OK;
    ASSERT(isphpbd_body_create(m->world, d, &why).id == 0);
    ASSERT(why == ISPHPBD_BAD_DESC || why == ISPHPBD_BAD_ARGUMENT || why == ISPHPBD_BAD_MESH);
    ASSERT_EQ(hash, isphpbd_world_hash(m->world));
    PASS();
}

TEST bad_body_descs(void) {
    mixed m = mixed_make(mixed_desc(), MIXED_WATER);
    isphpbd_body_desc d;
    const float masses[6] = {0.0f, -1.0f, -0.0f, (float)NAN, (float)INFINITY, (float)-INFINITY};
    for (int i = 0; i < 6; i++) {
        d = isphpbd_body_desc_default(), d.mass = masses[i];
        CHECK_CALL(bad_body(&m, &d));
        if (masses[i] == 0.0f) continue;
        d = isphpbd_body_desc_default(), d.inertia = isphpbd_v3(1.0f, masses[i], 1.0f);
        CHECK_CALL(bad_body(&m, &d));
    }
    d = isphpbd_body_desc_default(), d.inertia = isphpbd_v3(0.0f, 1.0f, 1.0f); /* all three or none */
    CHECK_CALL(bad_body(&m, &d));
    d = isphpbd_body_desc_default(), d.shape = isphpbd_shape_sphere(-1.0f);
    CHECK_CALL(bad_body(&m, &d));
    d = isphpbd_body_desc_default(), d.shape = isphpbd_shape_box(1.0f, 0.0f, 1.0f);
    CHECK_CALL(bad_body(&m, &d));
    d = isphpbd_body_desc_default(), d.motion.pose.rotation.w = 0.0f;
    CHECK_CALL(bad_body(&m, &d));
    d = isphpbd_body_desc_default(), d.motion.linear_velocity.z = (float)NAN;
    CHECK_CALL(bad_body(&m, &d));
    d = isphpbd_body_desc_default(), d.surface.slip = 1.5f;
    CHECK_CALL(bad_body(&m, &d));
    d = isphpbd_body_desc_default(), d.surface.restitution = -0.1f;
    CHECK_CALL(bad_body(&m, &d));
    d = isphpbd_body_desc_default(), d.surface.friction = (float)NAN;
    CHECK_CALL(bad_body(&m, &d));
    d = isphpbd_body_desc_default(), d.shape.type = (isphpbd_shape_type)99;
    CHECK_CALL(bad_body(&m, &d));
    d = isphpbd_body_desc_default(), d.cookie = 0;
    CHECK_CALL(bad_body(&m, &d));
    CHECK_CALL(bad_body(&m, NULL));
    mixed_end(&m);
    PASS();
}

/* Numbers that become bad later. */
TEST bad_motions_and_masses(void) {
    mixed m = mixed_make(mixed_desc(), MIXED_WATER | MIXED_BODY);
    uint64_t hash;
    (void)mixed_run(&m, 3);
    hash = isphpbd_world_hash(m.world);
    for (int i = 0; i < 3; i++) {
        isphpbd_motion at = isphpbd_motion_at(fixture_zero);
        at.pose.position.y = bad_number[i];
        ASSERT_EQ(ISPHPBD_BAD_ARGUMENT, isphpbd_body_put(m.world, m.body, &at));
        at = isphpbd_motion_at(fixture_zero), at.angular_velocity.x = bad_number[i];
        ASSERT_EQ(ISPHPBD_BAD_ARGUMENT, isphpbd_body_put(m.world, m.body, &at));
        at = isphpbd_motion_at(fixture_zero), at.pose.rotation.w = bad_number[i];
        ASSERT_EQ(ISPHPBD_BAD_ARGUMENT, isphpbd_body_put(m.world, m.body, &at));
        ASSERT_EQ(ISPHPBD_BAD_ARGUMENT, isphpbd_body_set_mass(m.world, m.body, bad_number[i], fixture_zero));
        ASSERT_EQ(ISPHPBD_BAD_ARGUMENT, isphpbd_world_set_gravity(m.world, isphpbd_v3(0, bad_number[i], 0)));
        ASSERT_EQ(ISPHPBD_BAD_ARGUMENT, isphpbd_world_set_wind(m.world, isphpbd_v3(bad_number[i], 0, 0)));
        ASSERT_EQ(ISPHPBD_BAD_ARGUMENT, isphpbd_world_shift_origin(m.world, isphpbd_v3(0, 0, bad_number[i])));
        ASSERT_EQ(ISPHPBD_BAD_ARGUMENT,
                  isphpbd_collider_move(m.world, m.room, isphpbd_pose_at(isphpbd_v3(bad_number[i], 0, 0))));
        ASSERT_EQ(ISPHPBD_BAD_ARGUMENT,
                  isphpbd_collider_teleport(m.world, m.room, isphpbd_pose_at(isphpbd_v3(bad_number[i], 0, 0))));
        ASSERT_EQ(ISPHPBD_BAD_ARGUMENT, isphpbd_fluid_add(m.world, m.water, &bad_number[i], 12, NULL, 0, -1, NULL));
        ASSERT_EQ(ISPHPBD_BAD_ARGUMENT, isphpbd_fluid_add_box(m.world, m.water, isphpbd_v3(0, 0, bad_number[i]),
                                                              isphpbd_v3(1, 1, 1), fixture_zero, NULL));
    }
    ASSERT_EQ(ISPHPBD_BAD_ARGUMENT, isphpbd_body_set_mass(m.world, m.body, 0.0f, fixture_zero));
    ASSERT_EQ(ISPHPBD_BAD_ARGUMENT, isphpbd_body_set_mass(m.world, m.body, 1.0f, isphpbd_v3(-1, 1, 1)));
    ASSERT_EQ(ISPHPBD_BAD_ARGUMENT, isphpbd_body_put(m.world, m.body, NULL));
    ASSERT_EQ(hash, isphpbd_world_hash(m.world));
    mixed_end(&m);
    PASS();
}

TEST bad_shapes(void) {
    static const float corner[9] = {0, 0, 0, 1, 0, 0, 0, 0, 1};
    static const uint32_t astray[3] = {0, 1, 3}, triangle[3] = {0, 1, 2}, flat[3] = {0, 1, 1};
    mixed m = mixed_make(mixed_desc(), MIXED_WATER);
    isphpbd_collider_desc d = isphpbd_collider_desc_default();
    const uint64_t hash = isphpbd_world_hash(m.world);
    float heights[4] = {0, 0, 0, (float)NAN};
    isphpbd_result why = ISPHPBD_OK;
    isphpbd_shape bad[7];
    bad[0] = isphpbd_shape_shell(corner, 3, astray, 1);
    bad[1] = isphpbd_shape_solid(corner, 3, triangle, 1); /* not closed */
    bad[2] = isphpbd_shape_shell(NULL, 3, triangle, 1);
    bad[3] = isphpbd_shape_heightfield(heights, 2, 2, 1.0f);
    bad[4] = isphpbd_shape_heightfield(heights, 1, 2, 1.0f);
    bad[5] = isphpbd_shape_capsule(0.0f, 1.0f);
    bad[6] = isphpbd_shape_shell(corner, 3, flat, 1);
    for (int i = 0; i < 7; i++) {
        d.shape = bad[i];
        ASSERT(isphpbd_collider_create(m.world, &d, &why).id == 0);
        ASSERT(why != ISPHPBD_OK);
    }
    d = isphpbd_collider_desc_default(), d.container = true; /* a plane holds nothing */
    ASSERT(isphpbd_collider_create(m.world, &d, &why).id == 0);
    ASSERT_EQ(hash, isphpbd_world_hash(m.world));
    mixed_end(&m);
    PASS();
}

/* ---- [handles] --------------------------------------------------------------------------------------------------- */

/* Every call that takes a handle, with the handles of `h`, into the world of `m`: all refused. */
static greatest_test_res handles_refused(mixed *m, const mixed *h) {
    isphpbd_world *w = m->world;
    const isphpbd_motion at = isphpbd_motion_at(fixture_zero);
    const isphpbd_pose pose = isphpbd_pose_at(fixture_zero);
    isphpbd_motion motion;
    isphpbd_pose seen;
    isphpbd_impulse push;
    isphpbd_emitter_desc emitter = isphpbd_emitter_desc_default();
    const uint64_t hash = isphpbd_world_hash(w);
    const float drop[3] = {0, 1, 0};
    isphpbd_result why = ISPHPBD_OK;
    ASSERT_EQ(ISPHPBD_BAD_HANDLE, isphpbd_body_put(w, h->body, &at));
    ASSERT_EQ(ISPHPBD_BAD_HANDLE, isphpbd_body_take(w, h->body, &push));
    ASSERT_EQ(ISPHPBD_BAD_HANDLE, isphpbd_body_predicted(w, h->body, &motion));
    ASSERT_EQ(ISPHPBD_BAD_HANDLE, isphpbd_body_set_mass(w, h->body, 1.0f, fixture_zero));
    ASSERT_EQ(ISPHPBD_BAD_HANDLE, isphpbd_body_destroy(w, h->body));
    ASSERT_EQ(ISPHPBD_BAD_HANDLE, isphpbd_bodies_put(w, &h->body, &at, 1));
    ASSERT_EQ(ISPHPBD_BAD_HANDLE, isphpbd_bodies_take(w, &h->body, &push, 1));
    ASSERT_EQ(0.0f, push.linear.x + push.linear.y + push.angular.z);
    ASSERT_EQ(ISPHPBD_BAD_HANDLE, isphpbd_collider_move(w, h->paddle, pose));
    ASSERT_EQ(ISPHPBD_BAD_HANDLE, isphpbd_collider_teleport(w, h->paddle, pose));
    ASSERT_EQ(ISPHPBD_BAD_HANDLE, isphpbd_collider_pose(w, h->paddle, &seen));
    ASSERT_EQ(ISPHPBD_BAD_HANDLE, isphpbd_collider_take(w, h->paddle, &push));
    ASSERT_EQ(ISPHPBD_BAD_HANDLE, isphpbd_collider_destroy(w, h->paddle));
    ASSERT_EQ(ISPHPBD_BAD_HANDLE, isphpbd_soft_destroy(w, h->cloth));
    ASSERT_EQ(0u, isphpbd_soft_body(w, h->cloth).id);
    ASSERT_EQ(0, isphpbd_soft_points(w, h->cloth).count);
    ASSERT_EQ(ISPHPBD_BAD_HANDLE, isphpbd_soft_attach_body(w, h->cloth, 0, h->body));
    ASSERT_EQ(ISPHPBD_BAD_HANDLE, isphpbd_soft_attach_collider(w, h->cloth, 0, h->paddle));
    ASSERT_EQ(ISPHPBD_BAD_HANDLE, isphpbd_emitter_set(w, h->emitter, fixture_zero, isphpbd_v3(0, 1, 0), 1.0f));
    ASSERT_EQ(0, (int)isphpbd_emitter_count(w, h->emitter));
    ASSERT_EQ(ISPHPBD_BAD_HANDLE, isphpbd_emitter_destroy(w, h->emitter));
    ASSERT_EQ(0, (int)isphpbd_sink_count(w, h->sink));
    ASSERT_EQ(ISPHPBD_BAD_HANDLE, isphpbd_sink_destroy(w, h->sink));
    if (h->water.id == 0 || h->water.world != m->water.world) { /* fluids are never destroyed */
        ASSERT_EQ(ISPHPBD_BAD_HANDLE, isphpbd_fluid_add(w, h->water, drop, 12, NULL, 0, 1, NULL));
        ASSERT_EQ(ISPHPBD_BAD_HANDLE, isphpbd_fluid_fill_soft(w, h->water, m->balloon, 0.02f, NULL));
        ASSERT_EQ(0, isphpbd_fluid_clear(w, h->water));
        ASSERT_EQ(-1, isphpbd_fluid_index(w, h->water));
        emitter.fluid = h->water;
        ASSERT(isphpbd_emitter_create(w, &emitter, &why).id == 0);
        ASSERT_EQ(ISPHPBD_BAD_HANDLE, why);
    }
    ASSERT_EQ(hash, isphpbd_world_hash(w));
    PASS();
}

TEST handles_of_nothing(void) {
    mixed m = mixed_make(mixed_desc(), MIXED_ALL), none;
    memset(&none, 0, sizeof none);
    (void)mixed_run(&m, 2);
    CHECK_CALL(handles_refused(&m, &none));
    mixed_end(&m);
    PASS();
}
TEST handles_of_another_world(void) {
    mixed m = mixed_make(mixed_desc(), MIXED_ALL), other = mixed_make(mixed_desc(), MIXED_ALL);
    CHECK_CALL(handles_refused(&m, &other));
    CHECK_CALL(handles_refused(&other, &m));
    mixed_end(&other);
    CHECK_CALL(handles_refused(&m, &other)); /* of a world that is gone */
    mixed_end(&m);
    PASS();
}
TEST handles_of_the_past(void) {
    mixed m = mixed_make(mixed_desc(), MIXED_ALL), old = m;
    (void)mixed_run(&m, 2);
    ASSERT_EQ(ISPHPBD_OK, isphpbd_body_destroy(m.world, m.body));
    ASSERT_EQ(ISPHPBD_OK, isphpbd_collider_destroy(m.world, m.paddle));
    ASSERT_EQ(ISPHPBD_OK, isphpbd_soft_destroy(m.world, m.cloth));
    ASSERT_EQ(ISPHPBD_OK, isphpbd_emitter_destroy(m.world, m.emitter));
    ASSERT_EQ(ISPHPBD_OK, isphpbd_sink_destroy(m.world, m.sink));
    CHECK_CALL(handles_refused(&m, &old));
    mixed_add_body(&m), mixed_add_paddle(&m), mixed_add_emitter(&m); /* into the same places */
    CHECK_CALL(handles_refused(&m, &old));
    m.parts &= ~MIXED_CLOTH;
    (void)mixed_run(&m, 5);
    ASSERT_EQ_FMT(0, world_broken(m.world, NULL, 0), "%d");
    mixed_end(&m);
    PASS();
}

/* All or none, and what is good is still taken. */
TEST one_bad_handle_among_many(void) {
    mixed m = mixed_make(mixed_desc(), MIXED_WATER | MIXED_BODY);
    isphpbd_body bodies[3];
    isphpbd_motion motions[3];
    isphpbd_impulse pushes[3];
    uint64_t hash;
    (void)mixed_run(&m, 40); /* it lies in the water by now */
    (void)isphpbd_world_step(m.world, WORLD_STEP);
    hash = isphpbd_world_hash(m.world);
    bodies[0] = bodies[2] = m.body, bodies[1].id = 12345u, bodies[1].world = m.body.world;
    for (int i = 0; i < 3; i++) motions[i] = isphpbd_motion_at(isphpbd_v3(0, 1, 0));
    ASSERT_EQ(ISPHPBD_BAD_HANDLE, isphpbd_bodies_put(m.world, bodies, motions, 3));
    ASSERT_EQ(hash, isphpbd_world_hash(m.world));
    ASSERT_EQ(ISPHPBD_BAD_HANDLE, isphpbd_bodies_take(m.world, bodies, pushes, 3));
    ASSERT(pushes[0].linear.y != 0.0f);
    ASSERT_EQ(0.0f, pushes[1].linear.y);
    ASSERT_EQ(ISPHPBD_BAD_ARGUMENT, isphpbd_bodies_put(m.world, NULL, motions, 1));
    ASSERT_EQ(ISPHPBD_BAD_ARGUMENT, isphpbd_bodies_put(m.world, bodies, motions, -1));
    ASSERT_EQ(ISPHPBD_OK, isphpbd_bodies_put(m.world, bodies, motions, 0));
    mixed_end(&m);
    PASS();
}

/* ---- [inside] calls from inside callbacks ------------------------------------------------------------------------ */

typedef struct intruder {
    mixed *m;
    int calls, wrong; /* wrong: answers other than LOCKED (or refused) */
} intruder;

static void intrude(intruder *in) {
    mixed *m = in->m;
    isphpbd_world *w = m->world;
    const isphpbd_motion at = isphpbd_motion_at(fixture_zero);
    const isphpbd_body_desc body = isphpbd_body_desc_default();
    const float drop[3] = {0, 1, 0};
    unsigned char bytes[64] = {0};
    isphpbd_result why = ISPHPBD_OK;
    isphpbd_impulse push;
    const isphpbd_budget budget = isphpbd_world_desc_default().budget;
    if (in->calls++ > 50) return;
    in->wrong += !(isphpbd_world_step(w, WORLD_STEP).flags & ISPHPBD_STEP_REFUSED);
    in->wrong += !(isphpbd_world_advance(w, WORLD_STEP).flags & ISPHPBD_STEP_REFUSED);
    in->wrong += isphpbd_body_put(w, m->body, &at) != ISPHPBD_LOCKED;
    in->wrong += isphpbd_body_take(w, m->body, &push) != ISPHPBD_LOCKED;
    in->wrong += isphpbd_body_create(w, &body, &why).id != 0 || why != ISPHPBD_LOCKED;
    in->wrong += isphpbd_body_destroy(w, m->body) != ISPHPBD_LOCKED;
    in->wrong += isphpbd_collider_destroy(w, m->paddle) != ISPHPBD_LOCKED;
    in->wrong += isphpbd_soft_destroy(w, m->cloth) != ISPHPBD_LOCKED;
    in->wrong += isphpbd_fluid_add(w, m->water, drop, 12, NULL, 0, 1, NULL) != ISPHPBD_LOCKED;
    in->wrong += isphpbd_fluid_clear(w, m->water) != 0;
    in->wrong += isphpbd_world_load(w, bytes, sizeof bytes) != ISPHPBD_LOCKED;
    in->wrong += isphpbd_world_set_gravity(w, fixture_zero) != ISPHPBD_LOCKED;
    in->wrong += isphpbd_world_set_budget(w, &budget) != ISPHPBD_LOCKED;
    in->wrong += isphpbd_world_shift_origin(w, isphpbd_v3(1, 0, 0)) != ISPHPBD_LOCKED;
    isphpbd_world_destroy(w); /* refused */
}

static void intrude_runner(void (*task)(void *ctx, int index), void *ctx, int task_count, void *user) {
    intruder *in = (intruder *)user;
    if (in->m) intrude(in);
    for (int i = 0; i < task_count; i++) task(ctx, i);
}
static uint64_t intrude_clock(void *user) {
    intruder *in = (intruder *)user;
    if (in->m) intrude(in);
    return 0;
}
static void intrude_substep(const isphpbd_world *world, float seconds, void *user) {
    (void)world, (void)seconds;
    intrude((intruder *)user);
}

/* The same run with an intruder in one of the three callbacks, and without: the same world. */
static greatest_test_res intruded(int where) {
    intruder in;
    isphpbd_world_desc desc = mixed_desc();
    mixed m, quiet;
    memset(&in, 0, sizeof in);
    if (where == 0) desc.parallel.run = intrude_runner, desc.parallel.user = &in;
    if (where == 1) desc.clock.fn = intrude_clock, desc.clock.user = &in;
    if (where == 2) desc.on_substep.fn = intrude_substep, desc.on_substep.user = &in;
    m = mixed_make(desc, MIXED_ALL), quiet = mixed_make(mixed_desc(), MIXED_ALL);
    in.m = &m;
    (void)mixed_run(&m, 6), (void)mixed_run(&quiet, 6);
    ASSERT(in.calls > 0);
    ASSERT_EQ_FMT(0, in.wrong, "%d");
    ASSERT_EQ(isphpbd_world_hash(quiet.world), isphpbd_world_hash(m.world));
    in.m = NULL;
    mixed_end(&m), mixed_end(&quiet);
    PASS();
}

TEST calls_from_inside(void) {
    for (int where = 0; where < 3; where++) CHECK_CALL(intruded(where));
    PASS();
}

/* The solvers inside belong to the world. */
TEST solvers_inside_are_owned(void) {
    mixed m = mixed_make(mixed_desc(), MIXED_ALL);
    isph_fluid *fluid = isphpbd_world_fluids(m.world);
    ipbd_world *softs = isphpbd_world_softs(m.world);
    const isph_boundary_desc wall = isph_boundary_desc_default();
    const ipbd_collider_desc collider = ipbd_collider_desc_default();
    isphpbd_result why = ISPHPBD_OK;
    uint64_t hash;
    (void)mixed_run(&m, 2);
    hash = isphpbd_world_hash(m.world);
    (void)isph_fluid_step(fluid, 0.01f, &why);
    ASSERT_EQ(ISPHPBD_LOCKED, why);
    ASSERT_EQ(ISPHPBD_LOCKED, ipbd_step(softs, 0.01f).result);
    ASSERT_EQ(0u, isph_boundary_create(fluid, &wall, &why).id);
    ASSERT_EQ(ISPHPBD_LOCKED, why);
    ASSERT_EQ(0u, ipbd_collider_create(softs, &collider, &why).id);
    ASSERT_EQ(ISPHPBD_LOCKED, why);
    ASSERT_EQ(ISPHPBD_LOCKED, isph_fluid_set_coupler(fluid, NULL));
    ASSERT_EQ(ISPHPBD_LOCKED, ipbd_set_hooks(softs, NULL));
    ASSERT_EQ(ISPHPBD_LOCKED, isph_fluid_set_gravity(fluid, fixture_zero));
    isph_fluid_destroy(fluid), ipbd_destroy(softs);
    ASSERT_EQ(hash, isphpbd_world_hash(m.world));
    (void)mixed_run(&m, 2);
    mixed_end(&m);
    PASS();
}

SUITE(world_bad_input) {
    RUN_TEST(bad_world_descs);
    RUN_TEST(out_of_memory);
    RUN_TEST(bad_body_descs);
    RUN_TEST(bad_motions_and_masses);
    RUN_TEST(bad_shapes);
    RUN_TEST(handles_of_nothing);
    RUN_TEST(handles_of_another_world);
    RUN_TEST(handles_of_the_past);
    RUN_TEST(one_bad_handle_among_many);
    RUN_TEST(calls_from_inside);
    RUN_TEST(solvers_inside_are_owned);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv) {
    GREATEST_MAIN_BEGIN();
    RUN_SUITE(world_bad_input);
    GREATEST_MAIN_END();
}
