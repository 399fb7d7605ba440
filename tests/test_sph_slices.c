/* isphpbd_sph.h for those who divide time themselves: single substeps, and the lock of an owner. */
#define ISPH_IMPLEMENTATION
#include "isphpbd_sph.h"

#include "greatest.h"
#include "sph_fixture.h"

#define STEP (1.0f / 60.0f)

/* ---- [scenes] More than two blocks of particles with a moving ball. --------------------------------------------- */

static isph_fluid *dam(isphpbd_parallel parallel, int capacity) {
    isph_fluid_desc desc = isph_fluid_desc_default();
    isph_boundary_desc ball = isph_boundary_desc_default();
    isph_fluid *fluid;
    desc.particle_capacity = capacity;
    desc.parallel = parallel;
    fluid = isph_fluid_create(&desc, NULL);
    if (!fluid) return NULL;
    (void)fixture_room(fluid, isphpbd_v3(0, 0, 0), isphpbd_v3(1.6f, 3, 0.6f));
    ball.shape = ISPH_SHAPE_SPHERE, ball.radius = 0.12f;
    ball.position = isphpbd_v3(1.0f, 0.12f, 0.3f), ball.linear_velocity = isphpbd_v3(-0.2f, 0.05f, 0);
    (void)isph_boundary_create(fluid, &ball, NULL);
    (void)isph_particles_add_box(fluid, fixture_water(fluid), isphpbd_v3(0, 0, 0), isphpbd_v3(0.6f, 0.8f, 0.6f),
                                 fixture_zero, NULL);
    return fluid;
}

static isph_fluid *plain_dam(void) {
    const isphpbd_parallel built_in = {NULL, NULL};
    return dam(built_in, 4096);
}

static bool push(void *user, isph_particle *particle) {
    (void)user;
    particle->velocity.x = 8.0f;
    return true;
}

/* ---- [substeps] ------------------------------------------------------------------------------------------------- */

/* A step made of single substeps is the step. */
TEST substeps_make_a_step(void) {
    isph_fluid *whole = plain_dam(), *divided = plain_dam();
    int substeps = 0;
    ASSERT_EQ(isph_particles_edit(whole, push, NULL), isph_particles_edit(divided, push, NULL));
    for (int step = 0; step < 25; step++) {
        float left = STEP;
        (void)isph_fluid_step(whole, STEP, NULL);
        for (int most = 8; left > 0.0f; most--, substeps++) {
            const float seconds = isph_fluid_substep_seconds(divided, left, 0.0f, most, NULL);
            isphpbd_result why = ISPHPBD_BAD_ARGUMENT;
            ASSERT(seconds > 0.0f && seconds <= left);
            (void)isph_fluid_substep(divided, seconds, &why);
            ASSERT_EQ(ISPHPBD_OK, why);
            left = seconds > 0.999f * left ? 0.0f : left - seconds;
        }
        ASSERT_EQ(isph_fluid_hash(whole), isph_fluid_hash(divided));
    }
    ASSERT(substeps > 50); /* some steps took more than two */
    ASSERT_EQ(1, isph_fluid_stats(divided).substeps);
    isph_fluid_destroy(whole);
    isph_fluid_destroy(divided);
    PASS();
}

/* What moves fast shortens the substep, whoever knows of it; the cap lengthens it again and says so. */
TEST substeps_follow_the_fastest(void) {
    isph_fluid *fluid = plain_dam();
    uint32_t flags = 0;
    const float calm = isph_fluid_substep_seconds(fluid, STEP, 0.0f, 100, &flags);
    ASSERT_IN_RANGE(0.5f * STEP, calm, 1e-7f); /* 8.3 ms at most */
    ASSERT_IN_RANGE(STEP / 7.0f, isph_fluid_substep_seconds(fluid, STEP, 20.0f, 100, &flags), 1e-7f);
    ASSERT_EQ(0u, flags);
    ASSERT_IN_RANGE(STEP / 3.0f, isph_fluid_substep_seconds(fluid, STEP, 20.0f, 3, &flags), 1e-7f);
    ASSERT_EQ((uint32_t)ISPH_STEP_SUBSTEPS_CAPPED, flags);
    isph_fluid_destroy(fluid);
    PASS();
}

TEST substeps_refuse_bad_arguments(void) {
    isph_fluid *fluid = plain_dam();
    const float bad[5] = {0.0f, -1.0f, 1.5f, NAN, INFINITY};
    const uint64_t hash = isph_fluid_hash(fluid);
    isphpbd_result why;
    for (int i = 0; i < 5; i++) {
        why = ISPHPBD_OK;
        ASSERT_EQ(0u, isph_fluid_substep(fluid, bad[i], &why));
        ASSERT_EQ(ISPHPBD_BAD_ARGUMENT, why);
        ASSERT_EQ(0.0f, isph_fluid_substep_seconds(fluid, bad[i], 0.0f, 8, NULL));
    }
    ASSERT_EQ(0.0f, isph_fluid_substep_seconds(fluid, STEP, NAN, 8, NULL));
    ASSERT_EQ(0.0f, isph_fluid_substep_seconds(fluid, STEP, -1.0f, 8, NULL));
    ASSERT_EQ(0.0f, isph_fluid_substep_seconds(fluid, STEP, 0.0f, 0, NULL));
    ASSERT_EQ(0.0f, isph_fluid_substep_seconds(NULL, STEP, 0.0f, 8, NULL));
    ASSERT_EQ(0u, isph_fluid_substep(NULL, STEP, &why));
    ASSERT_EQ(ISPHPBD_BAD_ARGUMENT, why);
    ASSERT_EQ(hash, isph_fluid_hash(fluid));
    isph_fluid_destroy(fluid);
    PASS();
}

/* ---- [owner] ---------------------------------------------------------------------------------------------------- */

/* Every call that an owner reserves for himself is refused to the others and changes nothing. */
TEST owner_locks_out_others(void) {
    isph_fluid *fluid = plain_dam();
    const isph_boundary_desc plane = isph_boundary_desc_default();
    const isph_material_desc oil = isph_material_desc_oil();
    const isphpbd_quat upright = {0, 0, 0, 1};
    const isph_boundary_desc wall = isph_boundary_desc_default();
    const isph_boundary own = isph_boundary_create(fluid, &wall, NULL);
    const size_t size = isph_fluid_save(fluid, NULL, 0);
    void *image = malloc(size);
    isphpbd_vec3 j;
    isphpbd_result why;
    uint64_t hash;
    int me, other;
    ASSERT(image && own.id != 0 && isph_fluid_save(fluid, image, size) == size);
    hash = isph_fluid_hash(fluid);
    ASSERT_EQ(ISPHPBD_OK, isph_fluid_set_owner(fluid, NULL, &me));
    ASSERT_EQ(ISPHPBD_LOCKED, isph_fluid_set_owner(fluid, NULL, &other));
    ASSERT_EQ(ISPHPBD_LOCKED, isph_fluid_set_owner(fluid, &other, NULL));
    ASSERT_EQ(0u, isph_fluid_step(fluid, STEP, &why));
    ASSERT_EQ(ISPHPBD_LOCKED, why);
    ASSERT_EQ(0u, isph_fluid_substep(fluid, STEP, &why));
    ASSERT_EQ(ISPHPBD_LOCKED, why);
    ASSERT_EQ(ISPHPBD_LOCKED, isph_fluid_load(fluid, image, size));
    ASSERT_EQ(ISPHPBD_LOCKED, isph_fluid_set_coupler(fluid, NULL));
    ASSERT_EQ(ISPHPBD_LOCKED, isph_fluid_set_gravity(fluid, fixture_zero));
    ASSERT_EQ(ISPHPBD_LOCKED, isph_fluid_set_budget(fluid, 1, 1, 0.1f));
    ASSERT_EQ(ISPHPBD_LOCKED, isph_fluid_set_solver_enabled(fluid, false));
    ASSERT_EQ(ISPHPBD_LOCKED, isph_fluid_shift_origin(fluid, isphpbd_v3(1, 0, 0)));
    ASSERT_EQ(0u, isph_material_create(fluid, &oil, &why).id);
    ASSERT_EQ(ISPHPBD_LOCKED, why);
    ASSERT_EQ(0u, isph_boundary_create(fluid, &plane, &why).id);
    ASSERT_EQ(ISPHPBD_LOCKED, why);
    ASSERT_EQ(ISPHPBD_LOCKED, isph_boundary_destroy(fluid, own));
    ASSERT_EQ(ISPHPBD_LOCKED, isph_boundary_set_motion(fluid, own, fixture_zero, upright, fixture_zero, fixture_zero));
    ASSERT_EQ(ISPHPBD_LOCKED, isph_boundary_take_impulse(fluid, own, &j, &j));
    isph_fluid_destroy(fluid); /* does nothing */
    ASSERT_EQ(hash, isph_fluid_hash(fluid));
    ASSERT_EQ(ISPHPBD_OK, isph_fluid_set_owner(fluid, &me, NULL));
    ASSERT_EQ(ISPHPBD_OK, isph_fluid_load(fluid, image, size));
    free(image);
    isph_fluid_destroy(fluid);
    PASS();
}

TEST owner_leaves_particles_open(void) {
    isph_fluid *fluid = plain_dam();
    const float at[3] = {1.4f, 1.0f, 0.3f};
    const isph_material water = {1u};
    uint32_t id;
    int me;
    ASSERT_EQ(ISPHPBD_OK, isph_fluid_set_owner(fluid, NULL, &me));
    ASSERT_EQ(ISPHPBD_OK, isph_particles_add(fluid, water, at, sizeof at, NULL, 0, 1, &id));
    ASSERT_EQ(isph_particles(fluid).count, isph_particles_edit(fluid, push, NULL));
    ASSERT_EQ(1, isph_particles_remove(fluid, &id, 1));
    ASSERT_EQ(ISPHPBD_OK, isph_fluid_set_owner(fluid, &me, NULL));
    ASSERT_EQ(ISPHPBD_BAD_ARGUMENT, isph_fluid_set_owner(NULL, NULL, NULL));
    isph_fluid_destroy(fluid);
    PASS();
}

SUITE(sph_substeps) {
    RUN_TEST(substeps_make_a_step);
    RUN_TEST(substeps_follow_the_fastest);
    RUN_TEST(substeps_refuse_bad_arguments);
}

SUITE(sph_owner) {
    RUN_TEST(owner_locks_out_others);
    RUN_TEST(owner_leaves_particles_open);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv) {
    GREATEST_MAIN_BEGIN();
    RUN_SUITE(sph_substeps);
    RUN_SUITE(sph_owner);
    GREATEST_MAIN_END();
}
