/* What a careless caller does to any of the three headers: no object at all, no room for the answer, memory that is not
   aligned, rows of odd lengths, counts beyond int, capacities of nothing, snapshots of a world of other sizes, calls to
   the solvers inside from callbacks of the world. All of it is refused or does no harm.
   SPDX-License-Identifier: MIT */
#define ISPHPBD_IMPLEMENTATION
#include "isphpbd.h"

#include "greatest.h"
#include "world_mixed.h"

/* ---- [nobody] every function without its object ------------------------------------------------------------------ */

TEST fluids_that_are_not_there(void) {
    const isph_material water = {1};
    const isph_boundary wall = {1};
    const isphpbd_quat upright = {0, 0, 0, 1};
    isphpbd_result why = ISPHPBD_OK;
    float numbers[12] = {0};
    int found[4];
    ASSERT_EQ(0u, isph_fluid_bytes(NULL));
    ASSERT(isph_fluid_create(NULL, &why) == NULL && why == ISPHPBD_BAD_DESC);
    ASSERT(isph_fluid_create(NULL, NULL) == NULL);
    isph_fluid_destroy(NULL);
    ASSERT(isph_fluid_set_owner(NULL, NULL, NULL) != ISPHPBD_OK);
    ASSERT(isph_fluid_set_gravity(NULL, fixture_zero) != ISPHPBD_OK);
    ASSERT(isph_fluid_set_budget(NULL, 1, 1, 0.1f) != ISPHPBD_OK);
    ASSERT(isph_fluid_set_solver_enabled(NULL, true) != ISPHPBD_OK);
    ASSERT(isph_fluid_shift_origin(NULL, fixture_zero) != ISPHPBD_OK);
    ASSERT(isph_material_create(NULL, NULL, &why).id == 0 && why != ISPHPBD_OK);
    ASSERT(isph_particles_add(NULL, water, numbers, 12, NULL, 0, 1, NULL) != ISPHPBD_OK);
    ASSERT(isph_particles_add_box(NULL, water, fixture_zero, fixture_zero, fixture_zero, NULL) != ISPHPBD_OK);
    ASSERT_EQ(0, isph_particles_remove(NULL, NULL, 1));
    ASSERT_EQ(0, isph_particles_remove_if(NULL, NULL, NULL));
    ASSERT_EQ(0, isph_particles_edit(NULL, NULL, NULL));
    ASSERT_EQ(0, isph_particles(NULL).count);
    ASSERT(isph_particle_find(NULL, 1) < 0);
    ASSERT(isph_boundary_create(NULL, NULL, &why).id == 0 && why != ISPHPBD_OK);
    ASSERT(isph_boundary_destroy(NULL, wall) != ISPHPBD_OK);
    ASSERT(isph_boundary_set_motion(NULL, wall, fixture_zero, upright, fixture_zero, fixture_zero) != ISPHPBD_OK);
    ASSERT(isph_boundary_pose(NULL, wall, NULL, NULL) != ISPHPBD_OK);
    ASSERT(isph_boundary_motion(NULL, wall, NULL, NULL, NULL, NULL) != ISPHPBD_OK);
    ASSERT(isph_boundary_set_material_mask(NULL, wall, 1) != ISPHPBD_OK);
    ASSERT(isph_boundary_set_mass(NULL, wall, 1.0f, fixture_zero) != ISPHPBD_OK);
    ASSERT(isph_boundary_take_impulse(NULL, wall, NULL, NULL) != ISPHPBD_OK);
    (void)isph_fluid_step(NULL, 0.01f, &why);
    ASSERT(why != ISPHPBD_OK);
    ASSERT(isph_fluid_substep_seconds(NULL, 0.01f, 1.0f, 1, NULL) == 0.0f);
    (void)isph_fluid_substep(NULL, 0.01f, NULL);
    ASSERT(isph_fluid_substep_begin(NULL, 0.01f) != ISPHPBD_OK);
    (void)isph_fluid_substep_continue(NULL, NULL, NULL);
    ASSERT(isph_fluid_substep_hurry(NULL) != ISPHPBD_OK);
    ASSERT(isph_fluid_substep_abandon(NULL) != ISPHPBD_OK);
    ASSERT_FALSE(isph_fluid_substep_pending(NULL));
    (void)isph_fluid_flags(NULL);
    ASSERT_EQ(0, isph_fluid_stats(NULL).particles);
    (void)isph_fluid_hash(NULL);
    ASSERT_EQ(0u, isph_fluid_save(NULL, NULL, 0));
    ASSERT(isph_fluid_load(NULL, numbers, sizeof numbers) != ISPHPBD_OK);
    ASSERT(isph_fluid_set_coupler(NULL, NULL) != ISPHPBD_OK);
    (void)isph_fluid_coupled(NULL);
    ASSERT_EQ(0u, isph_grid_bytes(NULL));
    ASSERT(isph_grid_create(NULL, NULL) == NULL);
    isph_grid_destroy(NULL);
    ASSERT(isph_grid_build(NULL, numbers, 12, 1) != ISPHPBD_OK);
    ASSERT_EQ(0, isph_grid_query(NULL, fixture_zero, found, 4));
    ASSERT_EQ(0, isph_grid_neighbours(NULL, 0, found, 4));
    PASS();
}

TEST matrices_that_are_not_there(void) {
    const isph_solve_desc desc = isph_solve_desc_default();
    const int starts[2] = {0, 1}, column = 0;
    float x = 0.0f, y = 0.0f;
    ASSERT_EQ(0u, isph_matrix_bytes(NULL));
    ASSERT(isph_matrix_create(NULL, NULL) == NULL);
    isph_matrix_destroy(NULL);
    ASSERT(isph_matrix_set(NULL, 1, starts, &column, &x) != ISPHPBD_OK);
    ASSERT(isph_matrix_multiply(NULL, &x, &y) != ISPHPBD_OK);
    ASSERT(isph_matrix_set_aggregates(NULL, &column, 1) != ISPHPBD_OK);
    ASSERT(isph_matrix_solve_cg(NULL, &x, &y, &desc, NULL) != ISPHPBD_OK);
    ASSERT(isph_matrix_solve_bicgstab(NULL, &x, &y, &desc, NULL) != ISPHPBD_OK);
    PASS();
}

static greatest_test_res soft_bodies_of_nobody(void) {
    const ipbd_body body = {1};
    isphpbd_result why = ISPHPBD_OK;
    isphpbd_vec3 v;
    float numbers[12] = {0};
    ASSERT(ipbd_body_create(NULL, NULL, &why).id == 0 && why != ISPHPBD_OK);
    ASSERT(ipbd_body_destroy(NULL, body) != ISPHPBD_OK);
    ASSERT(ipbd_body_view(NULL, body).positions == NULL);
    ASSERT(ipbd_body_vertex(NULL, body, 0, &v, &v) != ISPHPBD_OK);
    ASSERT(ipbd_body_read(NULL, body, numbers, NULL, 12) != ISPHPBD_OK);
    ASSERT(ipbd_pin(NULL, body, 0) != ISPHPBD_OK);
    ASSERT(ipbd_pin_move(NULL, body, 0, fixture_zero) != ISPHPBD_OK);
    ASSERT(ipbd_unpin(NULL, body, 0) != ISPHPBD_OK);
    ASSERT(ipbd_pin_force(NULL, body, 0, &v) != ISPHPBD_OK);
    ASSERT(ipbd_body_add_velocity(NULL, body, fixture_zero) != ISPHPBD_OK);
    ASSERT(ipbd_vertex_add_impulse(NULL, body, 0, fixture_zero) != ISPHPBD_OK);
    ASSERT(ipbd_vertex_set_mass(NULL, body, 0, 1.0f) != ISPHPBD_OK);
    ASSERT(ipbd_body_set_pressure(NULL, body, 1.0f, 0.0f) != ISPHPBD_OK);
    ASSERT(ipbd_body_set_gravity_scale(NULL, body, 1.0f) != ISPHPBD_OK);
    ASSERT(ipbd_body_teleport(NULL, body, fixture_zero, ipbd_pose_at(0, 0, 0)) != ISPHPBD_OK);
    ASSERT(ipbd_body_reset(NULL, body) != ISPHPBD_OK);
    ASSERT(ipbd_body_wake(NULL, body) != ISPHPBD_OK);
    ASSERT_FALSE(ipbd_body_sleeping(NULL, body));
    ASSERT(ipbd_body_volume(NULL, body) == 0.0 && ipbd_body_mass(NULL, body) == 0.0);
    ASSERT(ipbd_body_report(NULL, body, NULL) != ISPHPBD_OK);
    ASSERT(ipbd_body_range(NULL, body, NULL, NULL, NULL, NULL) != ISPHPBD_OK);
    ASSERT(ipbd_asset_read(NULL, body, NULL, numbers, NULL, 12) != ISPHPBD_OK);
    PASS();
}
TEST soft_worlds_that_are_not_there(void) {
    const ipbd_body body = {1};
    const ipbd_collider collider = {1};
    const ipbd_skin skin = {1};
    isphpbd_result why = ISPHPBD_OK;
    float numbers[12] = {0};
    ipbd_asset asset;
    CHECK_CALL(soft_bodies_of_nobody());
    ASSERT_EQ(0u, ipbd_bytes(NULL));
    ASSERT(ipbd_create(NULL, &why) == NULL && why != ISPHPBD_OK);
    ipbd_destroy(NULL);
    ASSERT(ipbd_capacity_add(NULL, NULL, NULL) != ISPHPBD_OK);
    ASSERT(ipbd_mesh_check(NULL, NULL, NULL) != ISPHPBD_OK);
    ASSERT(ipbd_set_owner(NULL, NULL, NULL) != ISPHPBD_OK);
    ASSERT(ipbd_step(NULL, 0.01f).result != ISPHPBD_OK);
    ASSERT(ipbd_set_gravity(NULL, fixture_zero) != ISPHPBD_OK);
    ASSERT(ipbd_set_wind(NULL, fixture_zero) != ISPHPBD_OK);
    ASSERT(ipbd_set_budget(NULL, 1, 1) != ISPHPBD_OK);
    ASSERT(ipbd_shift_origin(NULL, fixture_zero) != ISPHPBD_OK);
    ASSERT_EQ(0, ipbd_world_stats(NULL).bodies);
    (void)ipbd_hash(NULL);
    ASSERT_EQ(0u, ipbd_save(NULL, NULL, 0));
    ASSERT(ipbd_load(NULL, numbers, sizeof numbers) != ISPHPBD_OK);
    ASSERT(ipbd_attach(NULL, body, 0, collider) != ISPHPBD_OK);
    ASSERT(ipbd_collider_create(NULL, NULL, &why).id == 0 && why != ISPHPBD_OK);
    ASSERT(ipbd_collider_destroy(NULL, collider) != ISPHPBD_OK);
    ASSERT(ipbd_collider_move(NULL, collider, ipbd_pose_at(0, 0, 0)) != ISPHPBD_OK);
    ASSERT(ipbd_collider_teleport(NULL, collider, ipbd_pose_at(0, 0, 0)) != ISPHPBD_OK);
    ASSERT(ipbd_collider_pose(NULL, collider, NULL) != ISPHPBD_OK);
    ASSERT(ipbd_collider_set_mass(NULL, collider, 1.0f, fixture_zero) != ISPHPBD_OK);
    ASSERT(ipbd_collider_take_impulse(NULL, collider, NULL, NULL) != ISPHPBD_OK);
    ASSERT(ipbd_skin_create(NULL, body, numbers, 12, 1, &why).id == 0 && why != ISPHPBD_OK);
    ASSERT(ipbd_skin_destroy(NULL, skin) != ISPHPBD_OK);
    ASSERT(ipbd_skin_read(NULL, skin, numbers, NULL, 12, NULL, 0) != ISPHPBD_OK);
    ASSERT(ipbd_set_hooks(NULL, NULL) != ISPHPBD_OK);
    ASSERT(ipbd_step_begin(NULL, 0.01f, 1) != ISPHPBD_OK);
    ASSERT(ipbd_substep_predict(NULL) != ISPHPBD_OK);
    ASSERT(ipbd_substep_iterate(NULL) != ISPHPBD_OK);
    ASSERT(ipbd_substep_end(NULL) != ISPHPBD_OK);
    ASSERT(ipbd_step_finish(NULL).result != ISPHPBD_OK);
    ASSERT_EQ(0, ipbd_world_arrays(NULL).vertex_count);
    ASSERT_EQ(0u, ipbd_asset_scratch_bytes(NULL, 0));
    ASSERT(ipbd_asset_open(NULL, 0, NULL, 0, &asset) != ISPHPBD_OK);
    ASSERT(ipbd_asset_open(numbers, sizeof numbers, NULL, 0, NULL) != ISPHPBD_OK);
    ipbd_asset_apply(NULL, NULL);
    PASS();
}

static greatest_test_res solids_of_nobody(void) {
    const isphpbd_collider collider = {1, 1};
    const isphpbd_body body = {1, 1};
    const isphpbd_motion at = isphpbd_motion_at(fixture_zero);
    isphpbd_result why = ISPHPBD_OK;
    ASSERT(isphpbd_collider_create(NULL, NULL, &why).id == 0 && why != ISPHPBD_OK);
    ASSERT(isphpbd_collider_destroy(NULL, collider) != ISPHPBD_OK);
    ASSERT(isphpbd_collider_move(NULL, collider, at.pose) != ISPHPBD_OK);
    ASSERT(isphpbd_collider_teleport(NULL, collider, at.pose) != ISPHPBD_OK);
    ASSERT(isphpbd_collider_pose(NULL, collider, NULL) != ISPHPBD_OK);
    ASSERT(isphpbd_collider_take(NULL, collider, NULL) != ISPHPBD_OK);
    ASSERT(isphpbd_body_create(NULL, NULL, &why).id == 0 && why != ISPHPBD_OK);
    ASSERT(isphpbd_body_destroy(NULL, body) != ISPHPBD_OK);
    ASSERT(isphpbd_body_put(NULL, body, &at) != ISPHPBD_OK);
    ASSERT(isphpbd_body_take(NULL, body, NULL) != ISPHPBD_OK);
    ASSERT(isphpbd_bodies_put(NULL, &body, &at, 1) != ISPHPBD_OK);
    ASSERT(isphpbd_bodies_take(NULL, &body, NULL, 1) != ISPHPBD_OK);
    ASSERT(isphpbd_body_predicted(NULL, body, NULL) != ISPHPBD_OK);
    ASSERT(isphpbd_body_set_mass(NULL, body, 1.0f, fixture_zero) != ISPHPBD_OK);
    PASS();
}
TEST worlds_that_are_not_there(void) {
    const isphpbd_fluid fluid = {1, 1};
    const isphpbd_emitter emitter = {1, 1};
    const isphpbd_sink sink = {1, 1};
    const isphpbd_soft soft = {1, 1};
    const isphpbd_body body = {1, 1};
    const isphpbd_collider collider = {1, 1};
    isphpbd_result why = ISPHPBD_OK;
    float numbers[12] = {0};
    CHECK_CALL(solids_of_nobody());
    ASSERT_EQ(0u, isphpbd_world_bytes(NULL));
    ASSERT(isphpbd_world_create(NULL, &why) == NULL && why != ISPHPBD_OK);
    isphpbd_world_destroy(NULL);
    ASSERT(isphpbd_world_set_gravity(NULL, fixture_zero) != ISPHPBD_OK);
    ASSERT(isphpbd_world_set_wind(NULL, fixture_zero) != ISPHPBD_OK);
    ASSERT(isphpbd_world_set_budget(NULL, NULL) != ISPHPBD_OK);
    ASSERT(isphpbd_world_shift_origin(NULL, fixture_zero) != ISPHPBD_OK);
    ASSERT(isphpbd_world_fluids(NULL) == NULL && isphpbd_world_softs(NULL) == NULL);
    ASSERT(isphpbd_world_step(NULL, 0.01f).flags & ISPHPBD_STEP_REFUSED);
    ASSERT(isphpbd_world_advance(NULL, 0.01f).flags & ISPHPBD_STEP_REFUSED);
    ASSERT(isphpbd_fluid_create(NULL, NULL, &why).id == 0 && why != ISPHPBD_OK);
    ASSERT(isphpbd_fluid_add_box(NULL, fluid, fixture_zero, fixture_zero, fixture_zero, NULL) != ISPHPBD_OK);
    ASSERT(isphpbd_fluid_add(NULL, fluid, numbers, 12, NULL, 0, 1, NULL) != ISPHPBD_OK);
    ASSERT(isphpbd_fluid_fill_soft(NULL, fluid, soft, 0.0f, NULL) != ISPHPBD_OK);
    ASSERT_EQ(0, isphpbd_fluid_clear(NULL, fluid));
    ASSERT(isphpbd_emitter_create(NULL, NULL, &why).id == 0 && why != ISPHPBD_OK);
    ASSERT(isphpbd_emitter_destroy(NULL, emitter) != ISPHPBD_OK);
    ASSERT(isphpbd_emitter_set(NULL, emitter, fixture_zero, fixture_zero, 1.0f) != ISPHPBD_OK);
    ASSERT(isphpbd_emitter_count(NULL, emitter) == 0 && isphpbd_sink_count(NULL, sink) == 0);
    ASSERT(isphpbd_sink_create(NULL, NULL, isphpbd_pose_at(fixture_zero), 1u, &why).id == 0 && why != ISPHPBD_OK);
    ASSERT(isphpbd_sink_destroy(NULL, sink) != ISPHPBD_OK);
    ASSERT(isphpbd_soft_create(NULL, NULL, &why).id == 0 && why != ISPHPBD_OK);
    ASSERT(isphpbd_soft_destroy(NULL, soft) != ISPHPBD_OK);
    ASSERT_EQ(0u, isphpbd_soft_body(NULL, soft).id);
    ASSERT(isphpbd_soft_attach_body(NULL, soft, 0, body) != ISPHPBD_OK);
    ASSERT(isphpbd_soft_attach_collider(NULL, soft, 0, collider) != ISPHPBD_OK);
    ASSERT(isphpbd_fluid_points(NULL).count == 0 && isphpbd_soft_points(NULL, soft).count == 0);
    ASSERT(isphpbd_fluid_index(NULL, fluid) < 0);
    ASSERT_EQ(0, isphpbd_world_stats(NULL).fluids);
    (void)isphpbd_world_hash(NULL);
    ASSERT_EQ(0u, isphpbd_world_save(NULL, NULL, 0));
    ASSERT(isphpbd_world_load(NULL, numbers, sizeof numbers) != ISPHPBD_OK);
    ASSERT(isphpbd_world_debug_draw(NULL, NULL) != ISPHPBD_OK);
    PASS();
}

/* ---- [nowhere] no room for the answer ---------------------------------------------------------------------------- */

TEST answers_without_a_place(void) {
    mixed m = mixed_make(mixed_desc(), MIXED_ALL);
    isph_fluid *fluid = isphpbd_world_fluids(m.world);
    ipbd_world *softs = isphpbd_world_softs(m.world);
    const ipbd_body cloth = isphpbd_soft_body(m.world, m.cloth);
    uint64_t hash;
    (void)mixed_run(&m, 2);
    hash = isphpbd_world_hash(m.world);
    ASSERT_EQ(ISPHPBD_BAD_ARGUMENT, isphpbd_body_take(m.world, m.body, NULL));
    ASSERT_EQ(ISPHPBD_BAD_ARGUMENT, isphpbd_collider_take(m.world, m.paddle, NULL));
    ASSERT_EQ(ISPHPBD_BAD_ARGUMENT, isphpbd_collider_pose(m.world, m.paddle, NULL));
    ASSERT_EQ(ISPHPBD_BAD_ARGUMENT, isphpbd_body_predicted(m.world, m.body, NULL));
    ASSERT_EQ(ISPHPBD_BAD_ARGUMENT, isphpbd_body_put(m.world, m.body, NULL));
    ASSERT_EQ(ISPHPBD_BAD_ARGUMENT, isphpbd_bodies_put(m.world, &m.body, NULL, 1));
    ASSERT_EQ(ISPHPBD_BAD_ARGUMENT, isphpbd_bodies_put(m.world, NULL, NULL, 1));
    ASSERT_EQ(ISPHPBD_BAD_ARGUMENT, isphpbd_bodies_take(m.world, &m.body, NULL, 1));
    ASSERT_EQ(ISPHPBD_BAD_ARGUMENT, isphpbd_bodies_take(m.world, NULL, NULL, 1));
    ASSERT_EQ(ISPHPBD_BAD_ARGUMENT, isphpbd_bodies_take(m.world, NULL, NULL, -1));
    ASSERT(isphpbd_world_debug_draw(m.world, NULL) != ISPHPBD_OK);
    ASSERT(isphpbd_world_load(m.world, NULL, 100) != ISPHPBD_OK);
    ASSERT(isphpbd_world_load(m.world, &m, 0) != ISPHPBD_OK);
    ASSERT(isphpbd_world_save(m.world, NULL, 1u << 30) > 0);
    ASSERT_EQ(ISPHPBD_BAD_ARGUMENT, ipbd_body_read(softs, cloth, NULL, NULL, 12));
    ASSERT_EQ(ISPHPBD_BAD_ARGUMENT, ipbd_pin_force(softs, cloth, 0, NULL));
    (void)ipbd_body_vertex(softs, cloth, 0, NULL, NULL);
    (void)ipbd_body_report(softs, cloth, NULL);
    (void)ipbd_body_range(softs, cloth, NULL, NULL, NULL, NULL);
    ASSERT_EQ(0, isph_particles_remove(fluid, NULL, 1));
    ASSERT_EQ(0, isph_particles_remove_if(fluid, NULL, NULL));
    ASSERT_EQ(0, isph_particles_edit(fluid, NULL, NULL));
    ASSERT_EQ(hash, isphpbd_world_hash(m.world));
    mixed_end(&m);
    PASS();
}

/* ---- [memory] that is not aligned -------------------------------------------------------------------------------- */

typedef struct crooked_memory {
    watched_memory watched;
    size_t off; /* bytes away from what was asked for */
} crooked_memory;

static void *crooked_alloc(size_t size, size_t align, void *user) {
    crooked_memory *m = (crooked_memory *)user;
    unsigned char *at = (unsigned char *)watched_alloc(size + m->off, align, &m->watched);
    return at ? at + m->off : NULL;
}
static void crooked_free(void *ptr, size_t size, void *user) {
    crooked_memory *m = (crooked_memory *)user;
    watched_free(ptr ? (unsigned char *)ptr - m->off : NULL, size + m->off, &m->watched);
}

/* An allocator that does not look at `align` is refused rather than trusted: some reads are four floats wide. */
TEST crooked_memory_is_refused_and_given_back(void) {
    const size_t offs[3] = {1, 8, 16};
    for (int i = 0; i < 3; i++) {
        crooked_memory memory;
        isphpbd_world_desc desc = mixed_desc();
        isph_fluid_desc fluid = isph_fluid_desc_default();
        ipbd_world_desc soft = ipbd_world_desc_default();
        isphpbd_result why = ISPHPBD_OK;
        desc.allocator = watched_allocator(&memory.watched);
        desc.allocator.alloc = crooked_alloc, desc.allocator.free = crooked_free, desc.allocator.user = &memory;
        memory.off = offs[i];
        ASSERT(isphpbd_world_create(&desc, &why) == NULL && why == ISPHPBD_OUT_OF_MEMORY);
        fluid.particle_capacity = 100, fluid.allocator = desc.allocator;
        ASSERT(isph_fluid_create(&fluid, &why) == NULL && why == ISPHPBD_OUT_OF_MEMORY);
        soft.allocator = desc.allocator;
        ASSERT(ipbd_create(&soft, &why) == NULL && why == ISPHPBD_OUT_OF_MEMORY);
        ASSERT(watched_clean(&memory.watched));
    }
    PASS();
}

/* ---- [numbers] odd strides, counts beyond int -------------------------------------------------------------------- */

TEST rows_of_odd_lengths(void) {
    const size_t strides[6] = {0, 1, 4, 11, 13, 17};
    mixed m = mixed_make(mixed_desc(), MIXED_WATER | MIXED_CLOTH);
    unsigned char bytes[4 * 17 + 16];
    memset(bytes, 0, sizeof bytes);
    for (int i = 0; i < 6; i++) {
        const isphpbd_result got =
            isphpbd_fluid_add(m.world, m.water, (const float *)(const void *)bytes, strides[i], NULL, 0, 4, NULL);
        ASSERT(got == ISPHPBD_OK || got == ISPHPBD_BAD_ARGUMENT);
        if (strides[i] < 12) ASSERT_EQ(ISPHPBD_BAD_ARGUMENT, got);
    }
    mixed_end(&m);
    PASS();
}
TEST counts_beyond_int(void) {
    mixed m = mixed_make(mixed_desc(), MIXED_WATER | MIXED_CLOTH);
    const int huge[3] = {INT32_MAX, 1 << 30, 65536};
    const float numbers[12] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
    const uint32_t indices[12] = {0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3};
    const uint64_t hash = isphpbd_world_hash(m.world);
    for (int i = 0; i < 3; i++) { /* all more than there is room for: refused before anybody reads so far */
        isphpbd_collider_desc d = isphpbd_collider_desc_default();
        isphpbd_result why = ISPHPBD_OK;
        d.shape = isphpbd_shape_heightfield(numbers, huge[i], huge[i], 0.1f);
        ASSERT(isphpbd_collider_create(m.world, &d, &why).id == 0 && why != ISPHPBD_OK);
        if (huge[i] > 65536) { /* those arrays are taken to be as long as their count says, unless that is absurd */
            d.shape = isphpbd_shape_solid(numbers, 4, indices, huge[i]);
            ASSERT(isphpbd_collider_create(m.world, &d, &why).id == 0 && why != ISPHPBD_OK);
        }
        ASSERT_EQ(ISPHPBD_CAPACITY, isphpbd_fluid_add(m.world, m.water, numbers, 12, NULL, 0, huge[i], NULL));
        ASSERT(isphpbd_fluid_add_box(m.world, m.water, isphpbd_v3(-9e5f, -9e5f, -9e5f), isphpbd_v3(9e5f, 9e5f, 9e5f),
                                     fixture_zero, NULL) != ISPHPBD_OK);
    }
    ASSERT_EQ(hash, isphpbd_world_hash(m.world));
    mixed_end(&m);
    PASS();
}

/* ---- [nothing] capacities of nothing ----------------------------------------------------------------------------- */

TEST world_without_room_for_anything(void) {
    isphpbd_world_desc desc = isphpbd_world_desc_default();
    const isphpbd_fluid_desc water = isphpbd_fluid_desc_default();
    const isphpbd_collider_desc wall = isphpbd_collider_desc_default();
    const isphpbd_body_desc ball = isphpbd_body_desc_default();
    const isphpbd_shape drain = isphpbd_shape_sphere(1.0f);
    isphpbd_result why = ISPHPBD_OK;
    isphpbd_world *world;
    memset(&desc.capacity, 0, sizeof desc.capacity);
    world = isphpbd_world_create(&desc, &why);
    if (!world) {
        ASSERT_EQ(ISPHPBD_BAD_DESC, why);
        desc.capacity.fluids = 1; /* the least there is */
        world = isphpbd_world_create(&desc, &why);
    }
    ASSERT(world != NULL);
    (void)isphpbd_fluid_create(world, &water, &why);
    ASSERT(isphpbd_fluid_create(world, &water, &why).id == 0 && why == ISPHPBD_CAPACITY);
    ASSERT(isphpbd_collider_create(world, &wall, &why).id == 0 && why == ISPHPBD_CAPACITY);
    ASSERT(isphpbd_body_create(world, &ball, &why).id == 0 && why == ISPHPBD_CAPACITY);
    ASSERT(isphpbd_sink_create(world, &drain, isphpbd_pose_at(fixture_zero), 1u, &why).id == 0);
    ASSERT_EQ(ISPHPBD_CAPACITY, why);
    for (int i = 0; i < 3; i++) ASSERT_EQ(1, isphpbd_world_step(world, WORLD_STEP).steps);
    isphpbd_world_destroy(world);
    PASS();
}

/* ---- [other sizes] snapshots into worlds that differ in one number ----------------------------------------------- */

TEST snapshots_of_other_sizes(void) {
    mixed m = mixed_make(mixed_desc(), MIXED_ALL);
    size_t size;
    unsigned char *bytes;
    (void)mixed_run(&m, 3);
    size = isphpbd_world_save(m.world, NULL, 0);
    bytes = (unsigned char *)malloc(size);
    ASSERT(bytes != NULL);
    ASSERT_EQ(size, isphpbd_world_save(m.world, bytes, size));
    for (int i = 0; i < 7; i++) {
        isphpbd_world_desc desc = mixed_desc();
        mixed other;
        uint64_t before;
        isphpbd_result result;
        if (i == 0) desc.capacity.fluid_particles = 900;
        if (i == 1) desc.capacity.fluid_particles = 9000;
        if (i == 2) desc.capacity.colliders = 5;
        if (i == 3) desc.capacity.emitters = 1, desc.capacity.sinks = 1;
        if (i == 4) desc.capacity.fluids = 1;
        if (i == 5) desc.spacing = 0.06f;
        if (i == 6) desc.capacity.mesh_triangles = 100000;
        other = mixed_make(desc, i == 0 ? MIXED_CLOTH : MIXED_ALL);
        before = isphpbd_world_hash(other.world);
        result = isphpbd_world_load(other.world, bytes, size);
        ASSERT(result == ISPHPBD_OK || result == ISPHPBD_BAD_SNAPSHOT);
        if (result == ISPHPBD_OK) ASSERT_EQ(isphpbd_world_hash(m.world), isphpbd_world_hash(other.world));
        else ASSERT_EQ(before, isphpbd_world_hash(other.world));
        (void)mixed_run(&other, 2);
        mixed_end(&other);
    }
    free(bytes);
    mixed_end(&m);
    PASS();
}

/* ---- [inside] the solvers inside, from callbacks of the world ---------------------------------------------------- */

typedef struct burglar {
    mixed *m;
    int calls, wrong;
} burglar;

static bool take_it(void *user, const isph_particle *p) { return (void)user, (void)p, true; }
static bool move_it(void *user, isph_particle *p) { return (void)user, p->position.y += 0.1f, true; }

static void burgle_fluid(burglar *b) {
    isph_fluid *fluid = isphpbd_world_fluids(b->m->world);
    const float drop[3] = {0, 1, 0};
    const isph_material water = {1};
    const isph_boundary_desc wall = isph_boundary_desc_default();
    isphpbd_result why = ISPHPBD_OK;
    b->wrong += isph_particles_remove_if(fluid, take_it, NULL) != 0;
    b->wrong += isph_particles_edit(fluid, move_it, NULL) != 0;
    b->wrong += isph_particles_add(fluid, water, drop, 12, NULL, 0, 1, NULL) != ISPHPBD_LOCKED;
    b->wrong += isph_boundary_create(fluid, &wall, &why).id != 0 || why != ISPHPBD_LOCKED;
    b->wrong += isph_fluid_set_gravity(fluid, fixture_zero) != ISPHPBD_LOCKED;
    b->wrong += isph_fluid_set_coupler(fluid, NULL) != ISPHPBD_LOCKED;
    b->wrong += isph_fluid_shift_origin(fluid, isphpbd_v3(1, 0, 0)) != ISPHPBD_LOCKED;
    (void)isph_fluid_step(fluid, 0.01f, &why);
    b->wrong += why != ISPHPBD_LOCKED;
    b->wrong += isph_fluid_substep_begin(fluid, 0.01f) != ISPHPBD_LOCKED;
    b->wrong += isph_fluid_substep_abandon(fluid) == ISPHPBD_OK;
    isph_fluid_destroy(fluid);
}
static void burgle_softs(burglar *b) {
    ipbd_world *softs = isphpbd_world_softs(b->m->world);
    const ipbd_body cloth = isphpbd_soft_body(b->m->world, b->m->cloth);
    b->wrong += ipbd_step(softs, 0.01f).result != ISPHPBD_LOCKED;
    b->wrong += ipbd_step_begin(softs, 0.01f, 1) != ISPHPBD_LOCKED;
    b->wrong += ipbd_body_destroy(softs, cloth) != ISPHPBD_LOCKED;
    b->wrong += ipbd_pin(softs, cloth, 3) != ISPHPBD_LOCKED;
    b->wrong += ipbd_body_add_velocity(softs, cloth, isphpbd_v3(0, 1, 0)) != ISPHPBD_LOCKED;
    b->wrong += ipbd_set_hooks(softs, NULL) != ISPHPBD_LOCKED;
    b->wrong += ipbd_shift_origin(softs, isphpbd_v3(1, 0, 0)) != ISPHPBD_LOCKED;
    b->wrong += ipbd_set_gravity(softs, fixture_zero) != ISPHPBD_LOCKED;
    ipbd_destroy(softs);
}
static void burgle(burglar *b) {
    if (!b->m || b->calls++ > 400) return;
    burgle_fluid(b), burgle_softs(b);
}
static void burgle_substep(const isphpbd_world *world, float seconds, void *user) {
    (void)world, (void)seconds;
    burgle((burglar *)user);
}
static uint64_t burgle_clock(void *user) {
    burgle((burglar *)user);
    return 0;
}
static void burgle_runner(void (*task)(void *ctx, int index), void *ctx, int task_count, void *user) {
    burgle((burglar *)user);
    for (int i = 0; i < task_count; i++) task(ctx, i);
}
TEST solvers_inside_are_closed_in_callbacks(void) {
    for (int where = 0; where < 3; where++) {
        isphpbd_world_desc desc = mixed_desc();
        burglar b;
        mixed m, quiet;
        memset(&b, 0, sizeof b);
        if (where == 0) desc.parallel.run = burgle_runner, desc.parallel.user = &b;
        if (where == 1) desc.clock.fn = burgle_clock, desc.clock.user = &b;
        if (where == 2) desc.on_substep.fn = burgle_substep, desc.on_substep.user = &b;
        m = mixed_make(desc, MIXED_ALL), quiet = mixed_make(mixed_desc(), MIXED_ALL);
        b.m = &m;
        (void)mixed_run(&m, 4), (void)mixed_run(&quiet, 4);
        b.m = NULL;
        ASSERT(b.calls > 0);
        ASSERT_EQ_FMT(0, b.wrong, "%d");
        ASSERT_EQ(isphpbd_world_hash(quiet.world), isphpbd_world_hash(m.world));
        mixed_end(&m), mixed_end(&quiet);
    }
    PASS();
}

/* From inside a callback of a solver, everything of the world. */
static bool meddle(void *user, isph_particle *p) {
    mixed *m = (mixed *)user;
    isphpbd_vec3 up = isphpbd_v3(0, 1, 0);
    p->user = 0;
    p->user += isphpbd_world_step(m->world, WORLD_STEP).flags & ISPHPBD_STEP_REFUSED ? 0u : 1u;
    p->user += isphpbd_fluid_clear(m->world, m->water) != 0;
    p->user += isphpbd_world_set_gravity(m->world, up) != ISPHPBD_LOCKED;
    p->user += isphpbd_soft_destroy(m->world, m->cloth) != ISPHPBD_LOCKED;
    isphpbd_world_destroy(m->world);
    return true;
}
TEST the_world_is_closed_in_callbacks_of_its_solvers(void) {
    mixed m = mixed_make(mixed_desc(), MIXED_ALL);
    isph_view view;
    int count;
    (void)mixed_run(&m, 2);
    count = isphpbd_fluid_points(m.world).count;
    (void)isph_particles_edit(isphpbd_world_fluids(m.world), meddle, &m);
    view = isph_particles(isphpbd_world_fluids(m.world));
    ASSERT_EQ(count, view.count);
    for (int i = 0; i < view.count; i++) ASSERT_EQ(0u, view.user[i]);
    (void)mixed_run(&m, 2);
    mixed_end(&m);
    PASS();
}

/* ---- [patience] work that no number may make endless ------------------------------------------------------------- */

/* The widest, fastest jets in the finest world: starved, or beyond the world, and soon done. */
TEST absurd_emitters_end(void) {
    for (int i = 0; i < 3; i++) {
        isphpbd_world_desc desc = isphpbd_world_desc_default();
        const isphpbd_fluid_desc water = isphpbd_fluid_desc_default();
        isphpbd_emitter_desc jet = isphpbd_emitter_desc_default();
        isphpbd_world *world;
        isphpbd_emitter emitter;
        desc.capacity.fluid_particles = 100, desc.spacing = i == 0 ? 0.05f : 1e-4f, desc.budget.substeps = 1;
        world = isphpbd_world_create(&desc, NULL);
        ASSERT(world != NULL);
        jet.fluid = isphpbd_fluid_create(world, &water, NULL), jet.speed = 1e4f;
        jet.radius = i == 2 ? 0.0f : 1e3f * desc.spacing, jet.half_width = jet.half_height = 0.0f;
        emitter = isphpbd_emitter_create(world, &jet, NULL);
        ASSERT(emitter.id != 0);
        for (int k = 0; k < 2; k++)
            ASSERT(isphpbd_world_step(world, 0.1f).flags & ISPHPBD_STEP_EMITTER_STARVED);
        ASSERT(isphpbd_emitter_count(world, emitter) <= 100);
        isphpbd_world_destroy(world);
    }
    PASS();
}
/* A shell whose box has more places than anybody can look at. */
TEST absurd_shells_are_not_filled(void) {
    isphpbd_world_desc desc = mixed_desc();
    fixture_mesh ball = mesh_sphere(500.0, 2);
    isphpbd_soft_desc d = world_soft_desc(&ball, IPBD_BALLOON);
    isphpbd_soft soft;
    isphpbd_fluid fluid;
    isphpbd_world *world;
    int added = 7;
    desc.capacity.soft = ipbd_capacity_none();
    world_count_soft(&desc, &d);
    world = world_make(&desc);
    fluid = world_water(world), soft = world_soft(world, &d);
    ASSERT_EQ(ISPHPBD_CAPACITY, isphpbd_fluid_fill_soft(world, fluid, soft, 0.0f, &added));
    ASSERT_EQ(0, added);
    ASSERT_EQ(0, isphpbd_fluid_points(world).count);
    mesh_free(&ball);
    isphpbd_world_destroy(world);
    PASS();
}

GREATEST_MAIN_DEFS();
int main(int argc, char **argv) {
    GREATEST_MAIN_BEGIN();
    RUN_TEST(fluids_that_are_not_there);
    RUN_TEST(matrices_that_are_not_there);
    RUN_TEST(soft_worlds_that_are_not_there);
    RUN_TEST(worlds_that_are_not_there);
    RUN_TEST(answers_without_a_place);
    RUN_TEST(crooked_memory_is_refused_and_given_back);
    RUN_TEST(rows_of_odd_lengths);
    RUN_TEST(counts_beyond_int);
    RUN_TEST(world_without_room_for_anything);
    RUN_TEST(snapshots_of_other_sizes);
    RUN_TEST(solvers_inside_are_closed_in_callbacks);
    RUN_TEST(the_world_is_closed_in_callbacks_of_its_solvers);
    RUN_TEST(absurd_emitters_end);
    RUN_TEST(absurd_shells_are_not_filled);
    GREATEST_MAIN_END();
}
