/* isphpbd_sph.h for those who divide time themselves: single substeps, substeps in pieces, and the lock of an owner. */
#define ISPH_IMPLEMENTATION
#include "isphpbd_sph.h"

#include "greatest.h"
#include "sph_fixture.h"

#define STEP (1.0f / 60.0f)

/* ---- [scenes] More than two blocks of particles with a moving ball. --------------------------------------------- */

typedef enum variant {
    WATER,
    HONEY,
    TWO_LIQUIDS,
    BICGSTAB,
    JACOBI,
    WEAKLY_COMPRESSIBLE,
    OFF,
    CRUSHED,
    VARIANTS
} variant;

static isph_fluid *dam(isphpbd_parallel parallel, variant v) {
    isph_fluid_desc desc = isph_fluid_desc_default();
    isph_boundary_desc ball = isph_boundary_desc_default();
    isph_material_desc honey = isph_material_desc_honey();
    isph_fluid *fluid;
    isph_material material;
    desc.particle_capacity = 4096;
    desc.parallel = parallel;
    if (v == BICGSTAB) desc.linear_solver = ISPH_LINEAR_BICGSTAB;
    if (v == JACOBI) desc.preconditioner = ISPH_PRECONDITIONER_JACOBI;
    if (v == WEAKLY_COMPRESSIBLE) desc.solver = ISPH_SOLVER_WEAKLY_COMPRESSIBLE;
    fluid = isph_fluid_create(&desc, NULL);
    if (!fluid) return NULL;
    (void)isph_fluid_set_solver_enabled(fluid, v != OFF);
    material = v == HONEY ? isph_material_create(fluid, &honey, NULL) : fixture_water(fluid);
    (void)fixture_room(fluid, isphpbd_v3(0, 0, 0), isphpbd_v3(1.6f, 3, 0.6f));
    ball.shape = ISPH_SHAPE_SPHERE, ball.radius = 0.12f;
    ball.position = isphpbd_v3(1.0f, 0.12f, 0.3f), ball.linear_velocity = isphpbd_v3(-0.2f, 0.05f, 0);
    (void)isph_boundary_create(fluid, &ball, NULL);
    (void)isph_particles_add_box(fluid, material, isphpbd_v3(0, 0, 0), isphpbd_v3(0.6f, 0.8f, 0.6f), fixture_zero,
                                 NULL);
    if (v == TWO_LIQUIDS)
        (void)isph_particles_add_box(fluid, isph_material_create(fluid, &honey, NULL), isphpbd_v3(0.8f, 0.4f, 0),
                                     isphpbd_v3(1.2f, 0.8f, 0.6f), fixture_zero, NULL);
    for (int i = 0; i < 3 && v == CRUSHED; i++) /* the same place again: the matrix takes several attempts */
        (void)isph_particles_add_box(fluid, material, isphpbd_v3(0.2f, 0.2f, 0.2f), isphpbd_v3(0.4f, 0.4f, 0.4f),
                                     fixture_zero, NULL);
    return fluid;
}

static isph_fluid *plain_dam(void) {
    const isphpbd_parallel built_in = {NULL, NULL};
    return dam(built_in, WATER);
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

/* ---- [slices] ---------------------------------------------------------------------------------------------------- */

/* Stops at random, or every time, or never; counts how often it was asked. */
typedef struct stopper {
    fixture_random random;
    int chance; /* 1 in so many; 0: never */
    int asked;
} stopper;

static bool stop_now(void *user) {
    stopper *s = (stopper *)user;
    s->asked++;
    return s->chance > 0 && random_below(&s->random, s->chance) == 0;
}

/* Calls that it took; 0 when it did not end. */
static int finish_substep(isph_fluid *fluid, stopper *s) {
    for (int calls = 1; calls < 1000000; calls++) {
        if (isph_fluid_substep_continue(fluid, stop_now, s)) return calls;
        if (!isph_fluid_substep_pending(fluid)) break;
    }
    return 0;
}

static greatest_test_res sliced_is_whole(isphpbd_parallel parallel, variant v, int substeps, int chance) {
    const isphpbd_parallel built_in = {NULL, NULL};
    isph_fluid *whole = dam(built_in, v), *sliced = dam(parallel, v);
    stopper s = {{12345u}, 0, 0};
    int calls = 0;
    s.chance = chance;
    for (int i = 0; i < substeps; i++) {
        const float seconds = v == WEAKLY_COMPRESSIBLE ? 2e-4f : 0.004f;
        uint64_t before;
        (void)isph_fluid_substep(whole, seconds, NULL);
        ASSERT_EQ(ISPHPBD_OK, isph_fluid_substep_begin(sliced, seconds));
        ASSERT(isph_fluid_substep_pending(sliced));
        before = isph_fluid_hash(sliced);
        if (!isph_fluid_substep_continue(sliced, stop_now, &s)) ASSERT_EQ(before, isph_fluid_hash(sliced));
        if (isph_fluid_substep_pending(sliced)) calls = finish_substep(sliced, &s);
        ASSERT_FALSE(isph_fluid_substep_pending(sliced));
        ASSERT_EQ(isph_fluid_hash(whole), isph_fluid_hash(sliced));
        ASSERT_EQ(isph_fluid_flags(whole), isph_fluid_flags(sliced));
        ASSERT_EQ(isph_fluid_stats(whole).density_error_mean, isph_fluid_stats(sliced).density_error_mean);
        ASSERT_EQ(isph_fluid_stats(whole).pressure_iterations, isph_fluid_stats(sliced).pressure_iterations);
    }
    if (chance == 1) ASSERT(calls > 20);
    ASSERT(s.asked > 50 * substeps);
    isph_fluid_destroy(whole);
    isph_fluid_destroy(sliced);
    PASS();
}

TEST sliced_is_whole_in_every_variant(void) {
    const isphpbd_parallel built_in = {NULL, NULL};
    for (int v = 0; v < VARIANTS; v++) CHECK_CALL(sliced_is_whole(built_in, (variant)v, 6, 7));
    PASS();
}

TEST sliced_is_whole_with_every_runner(void) {
    fixture_random order = {99u};
    const isphpbd_parallel runners[3] = {{run_forward, NULL}, {run_reverse, NULL}, {run_shuffled, &order}};
    for (int i = 0; i < 3; i++) {
        CHECK_CALL(sliced_is_whole(runners[i], WATER, 6, 3));
        CHECK_CALL(sliced_is_whole(runners[i], TWO_LIQUIDS, 3, 20));
    }
    PASS();
}

TEST sliced_is_whole_for_every_patience(void) {
    const isphpbd_parallel built_in = {NULL, NULL};
    const int chances[5] = {0, 1, 2, 30, 300};
    for (int i = 0; i < 5; i++) CHECK_CALL(sliced_is_whole(built_in, WATER, 5, chances[i]));
    PASS();
}

/* Wherever it is dropped, the state is the one before, and the substep made afterwards is the one that would have been.
   A snapshot of a pending substep is one of the state before, too. */
TEST abandoned_anywhere(void) {
    isph_fluid *fluid = plain_dam(), *twin = plain_dam();
    const size_t size = isph_fluid_save(fluid, NULL, 0);
    void *image = malloc(size);
    stopper always = {{1u}, 1, 0};
    bool done = false;
    ASSERT(image);
    (void)fixture_run(fluid, 10, STEP), (void)fixture_run(twin, 10, STEP);
    for (int units = 0; !done; units += 13) { /* units before it is dropped */
        const uint64_t hash = isph_fluid_hash(fluid);
        const isph_stats stats = isph_fluid_stats(fluid);
        isph_stats again;
        ASSERT_EQ(ISPHPBD_OK, isph_fluid_substep_begin(fluid, 0.004f));
        for (int i = 0; i < units && !done; i++) done = isph_fluid_substep_continue(fluid, stop_now, &always);
        if (done) break;
        ASSERT_EQ(size, isph_fluid_save(fluid, image, size));
        again = isph_fluid_stats(fluid);
        ASSERT_EQ(0, memcmp(&stats, &again, sizeof stats));
        ASSERT_EQ(ISPHPBD_OK, isph_fluid_substep_abandon(fluid));
        ASSERT_FALSE(isph_fluid_substep_pending(fluid));
        ASSERT_EQ(hash, isph_fluid_hash(fluid));
        again = isph_fluid_stats(fluid);
        ASSERT_EQ(0, memcmp(&stats, &again, sizeof stats));
        for (int i = 0; i < isph_particles(fluid).count; i += 97)
            ASSERT_EQ(i, isph_particle_find(fluid, isph_particles(fluid).id[i]));
        if (units % 2 == 0) ASSERT_EQ(ISPHPBD_OK, isph_fluid_load(fluid, image, size));
        (void)isph_fluid_substep(fluid, 0.002f, NULL), (void)isph_fluid_substep(twin, 0.002f, NULL);
        ASSERT_EQ(isph_fluid_hash(twin), isph_fluid_hash(fluid));
    }
    free(image);
    isph_fluid_destroy(fluid);
    isph_fluid_destroy(twin);
    PASS();
}

/* What changes the fluid drops the pending substep; what is refused does not. */
TEST changes_drop_it(void) {
    isph_fluid *fluid = plain_dam();
    const float at[3] = {1.4f, 1.0f, 0.3f}, nowhere[3] = {NAN, 0, 0};
    const isph_material water = {1u};
    stopper s = {{1u}, 60, 0};
    uint32_t id;
    for (int change = 0; change < 8; change++) {
        const isph_boundary_desc plane = isph_boundary_desc_default();
        ASSERT_EQ(ISPHPBD_OK, isph_fluid_substep_begin(fluid, 0.004f));
        (void)isph_fluid_substep_continue(fluid, stop_now, &s);
        if (!isph_fluid_substep_pending(fluid)) ASSERT_EQ(ISPHPBD_OK, isph_fluid_substep_begin(fluid, 0.004f));
        ASSERT_EQ(ISPHPBD_BAD_ARGUMENT, isph_particles_add(fluid, water, nowhere, sizeof nowhere, NULL, 0, 1, NULL));
        ASSERT_EQ(ISPHPBD_BAD_ARGUMENT, isph_fluid_set_budget(fluid, 0, 1, 0.1f));
        ASSERT(isph_fluid_substep_pending(fluid));
        if (change == 0) ASSERT_EQ(ISPHPBD_OK, isph_particles_add(fluid, water, at, sizeof at, NULL, 0, 1, &id));
        if (change == 1) ASSERT_EQ(1, isph_particles_remove(fluid, &id, 1));
        if (change == 2) ASSERT(isph_particles_edit(fluid, push, NULL) > 0);
        if (change == 3) ASSERT(isph_boundary_create(fluid, &plane, NULL).id != 0);
        if (change == 4) ASSERT_EQ(ISPHPBD_OK, isph_fluid_set_gravity(fluid, isphpbd_v3(0, -5, 0)));
        if (change == 5) ASSERT_EQ(ISPHPBD_OK, isph_fluid_set_budget(fluid, 40, 8, 0.05f));
        if (change == 6) ASSERT_EQ(ISPHPBD_OK, isph_fluid_shift_origin(fluid, isphpbd_v3(0.1f, 0, 0)));
        if (change == 7) (void)isph_fluid_step(fluid, 0.004f, NULL);
        ASSERT_FALSE(isph_fluid_substep_pending(fluid));
        ASSERT_FALSE(isph_fluid_substep_continue(fluid, NULL, NULL));
    }
    ASSERT(fixture_finite(fluid));
    isph_fluid_destroy(fluid);
    PASS();
}

/* A motion set meanwhile is seen at once and counts from the next substep on. */
TEST motion_waits_for_the_next_substep(void) {
    isph_fluid *fluid = plain_dam(), *twin = plain_dam();
    const isph_boundary ball = {(1u << 16) | 2u};
    const isphpbd_quat upright = {0, 0, 0, 1};
    const isphpbd_vec3 place = {0.9f, 0.2f, 0.3f}, speed = {1, 0, 0};
    isphpbd_vec3 shown;
    stopper s = {{5u}, 40, 0};
    for (int i = 0; i < 8; i++) {
        uint64_t hash;
        ASSERT_EQ(ISPHPBD_OK, isph_fluid_substep_begin(fluid, 0.004f));
        (void)isph_fluid_substep_continue(fluid, stop_now, &s);
        ASSERT_EQ(ISPHPBD_OK, isph_boundary_set_motion(fluid, ball, place, upright, speed, fixture_zero));
        ASSERT_EQ(ISPHPBD_OK, isph_boundary_pose(fluid, ball, &shown, NULL));
        ASSERT_EQ(place.x, shown.x);
        hash = isph_fluid_hash(fluid);
        if (i % 2) {
            ASSERT_EQ(ISPHPBD_OK, isph_fluid_substep_abandon(fluid));
            ASSERT_EQ(hash, isph_fluid_hash(fluid));
        } else {
            if (isph_fluid_substep_pending(fluid)) ASSERT(finish_substep(fluid, &s) > 0);
            (void)isph_fluid_substep(twin, 0.004f, NULL);
        }
        ASSERT_EQ(ISPHPBD_OK, isph_boundary_set_motion(twin, ball, place, upright, speed, fixture_zero));
        ASSERT_EQ(isph_fluid_hash(twin), isph_fluid_hash(fluid));
    }
    isph_fluid_destroy(fluid);
    isph_fluid_destroy(twin);
    PASS();
}

/* A solve in a hurry makes four iterations and says that they were not enough. */
TEST hurry_cuts_the_solve(void) {
    isph_fluid *fluid = plain_dam();
    isph_stats stats;
    ASSERT_EQ(ISPHPBD_OK, isph_fluid_set_budget(fluid, 200, 8, 1e-6f));
    (void)isph_fluid_substep(fluid, 0.004f, NULL);
    ASSERT(isph_fluid_stats(fluid).density_iterations > 10);
    ASSERT_EQ(ISPHPBD_OK, isph_fluid_substep_begin(fluid, 0.004f));
    ASSERT_EQ(ISPHPBD_OK, isph_fluid_substep_hurry(fluid));
    ASSERT(isph_fluid_substep_continue(fluid, NULL, NULL));
    stats = isph_fluid_stats(fluid);
    ASSERT_EQ(4, stats.pressure_iterations);
    ASSERT_EQ(4, stats.density_iterations);
    ASSERT(stats.pressure_residual < 0.5f && stats.pressure_residual > 1e-6f);
    ASSERT(isph_fluid_flags(fluid) & ISPH_STEP_ITERATIONS_CAPPED);
    (void)isph_fluid_substep(fluid, 0.004f, NULL); /* the next one takes its time again */
    ASSERT(isph_fluid_stats(fluid).density_iterations > 10);
    ASSERT_EQ(0u, isph_fluid_flags(fluid) & ISPH_STEP_ITERATIONS_CAPPED);
    isph_fluid_destroy(fluid);
    PASS();
}

/* ---- a coupler counts its calls and pushes; its finish() is the point of no return ---- */
typedef struct visitor {
    isph_fluid *fluid;
    int begun, finished, refused;
} visitor;

static void visitor_begin(void *user, const float *x, const float *v, int count, float seconds) {
    visitor *me = (visitor *)user;
    isphpbd_result why = ISPHPBD_OK;
    (void)x, (void)v, (void)count, (void)seconds;
    me->begun++;
    (void)isph_fluid_step(me->fluid, STEP, &why);
    me->refused += why == ISPHPBD_LOCKED;
    me->refused += isph_fluid_substep_begin(me->fluid, STEP) == ISPHPBD_LOCKED;
    me->refused += isph_fluid_substep_abandon(me->fluid) == ISPHPBD_LOCKED;
    me->refused += isph_fluid_substep_hurry(me->fluid) == ISPHPBD_LOCKED;
    me->refused += !isph_fluid_substep_continue(me->fluid, NULL, NULL);
}

static void visitor_finish(void *user, const float *start, float *x, float *v, int count, float seconds) {
    visitor *me = (visitor *)user;
    (void)start, (void)x, (void)seconds;
    me->finished++;
    for (int i = 0; i < count; i++) v[4 * i] += 0.01f;
}

TEST finished_is_done(void) {
    isph_fluid *fluid = plain_dam(), *twin = plain_dam();
    visitor me = {fluid, 0, 0, 0}, other = {twin, 0, 0, 0};
    isph_coupler coupler;
    stopper always = {{1u}, 1, 0};
    memset(&coupler, 0, sizeof coupler);
    coupler.begin = visitor_begin, coupler.finish = visitor_finish;
    coupler.user = &me;
    ASSERT_EQ(ISPHPBD_OK, isph_fluid_set_coupler(fluid, &coupler));
    coupler.user = &other;
    ASSERT_EQ(ISPHPBD_OK, isph_fluid_set_coupler(twin, &coupler));
    (void)isph_fluid_substep(twin, 0.004f, NULL);
    ASSERT_EQ(ISPHPBD_OK, isph_fluid_substep_begin(fluid, 0.004f)); /* abandoned before: nothing is finished */
    while (me.begun == 0) ASSERT_FALSE(isph_fluid_substep_continue(fluid, stop_now, &always));
    ASSERT_EQ(ISPHPBD_OK, isph_fluid_substep_abandon(fluid));
    ASSERT_EQ(0, me.finished);
    ASSERT_EQ(ISPHPBD_OK, isph_fluid_substep_begin(fluid, 0.004f)); /* abandoned behind: it is completed */
    while (me.finished == 0) ASSERT_FALSE(isph_fluid_substep_continue(fluid, stop_now, &always));
    ASSERT_EQ(ISPHPBD_OK, isph_fluid_substep_abandon(fluid));
    ASSERT_FALSE(isph_fluid_substep_pending(fluid));
    ASSERT_EQ(1, me.finished);
    ASSERT_EQ(10, me.refused);
    ASSERT_EQ(isph_fluid_hash(twin), isph_fluid_hash(fluid));
    isph_fluid_destroy(fluid);
    isph_fluid_destroy(twin);
    PASS();
}

TEST pieces_refuse_bad_arguments(void) {
    const isphpbd_parallel built_in = {NULL, NULL};
    isph_fluid *fluid = dam(built_in, WATER);
    const uint64_t hash = isph_fluid_hash(fluid);
    ASSERT_EQ(ISPHPBD_BAD_ARGUMENT, isph_fluid_substep_begin(NULL, STEP));
    ASSERT_EQ(ISPHPBD_BAD_ARGUMENT, isph_fluid_substep_begin(fluid, NAN));
    ASSERT_EQ(ISPHPBD_BAD_ARGUMENT, isph_fluid_substep_abandon(NULL));
    ASSERT_EQ(ISPHPBD_BAD_ARGUMENT, isph_fluid_substep_hurry(NULL));
    ASSERT_FALSE(isph_fluid_substep_continue(NULL, NULL, NULL));
    ASSERT_FALSE(isph_fluid_substep_continue(fluid, NULL, NULL)); /* none was begun */
    ASSERT_FALSE(isph_fluid_substep_pending(NULL));
    ASSERT_EQ(0u, isph_fluid_flags(NULL));
    ASSERT_EQ(ISPHPBD_OK, isph_fluid_substep_abandon(fluid));
    ASSERT_EQ(hash, isph_fluid_hash(fluid));
    ASSERT_EQ(ISPHPBD_OK, isph_fluid_substep_begin(fluid, 0.004f)); /* begun twice is begun once */
    ASSERT_EQ(ISPHPBD_OK, isph_fluid_substep_begin(fluid, 0.004f));
    ASSERT(isph_fluid_substep_continue(fluid, NULL, NULL));
    ASSERT_EQ(ISPHPBD_OK, isph_fluid_substep_begin(fluid, 0.004f));
    isph_fluid_destroy(fluid); /* pending or not */
    PASS();
}

/* Without particles only the walls go on. */
TEST empty_fluid_in_pieces(void) {
    isph_fluid_desc desc = isph_fluid_desc_default();
    isph_boundary_desc ball = isph_boundary_desc_default();
    isph_fluid *fluid = isph_fluid_create(&desc, NULL);
    isph_boundary handle;
    isphpbd_vec3 at;
    ball.shape = ISPH_SHAPE_SPHERE, ball.linear_velocity = isphpbd_v3(1, 0, 0);
    handle = isph_boundary_create(fluid, &ball, NULL);
    ASSERT_EQ(ISPHPBD_OK, isph_fluid_substep_begin(fluid, 0.5f));
    ASSERT_EQ(ISPHPBD_OK, isph_boundary_pose(fluid, handle, &at, NULL));
    ASSERT_EQ(0.0f, at.x);
    ASSERT(isph_fluid_substep_continue(fluid, NULL, NULL));
    ASSERT_EQ(ISPHPBD_OK, isph_boundary_pose(fluid, handle, &at, NULL));
    ASSERT_EQ(0.5f, at.x);
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
    ASSERT_EQ(ISPHPBD_LOCKED, isph_fluid_substep_begin(fluid, STEP));
    ASSERT_EQ(ISPHPBD_LOCKED, isph_fluid_substep_hurry(fluid));
    ASSERT_EQ(ISPHPBD_LOCKED, isph_fluid_substep_abandon(fluid));
    ASSERT_FALSE(isph_fluid_substep_continue(fluid, NULL, NULL));
    ASSERT_EQ(ISPHPBD_LOCKED, isph_fluid_load(fluid, image, size));
    ASSERT_EQ(ISPHPBD_LOCKED, isph_fluid_set_coupler(fluid, NULL));
    ASSERT_EQ(ISPHPBD_LOCKED, isph_fluid_set_gravity(fluid, fixture_zero));
    ASSERT_EQ(ISPHPBD_LOCKED, isph_fluid_set_budget(fluid, 1, 1, 0.1f));
    ASSERT_EQ(ISPHPBD_OK, isph_fluid_set_solver_enabled(fluid, false)); /* a switch for tests, open to all */
    ASSERT_EQ(ISPHPBD_OK, isph_fluid_set_solver_enabled(fluid, true));
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

SUITE(sph_slices) {
    RUN_TEST(sliced_is_whole_in_every_variant);
    RUN_TEST(sliced_is_whole_with_every_runner);
    RUN_TEST(sliced_is_whole_for_every_patience);
    RUN_TEST(abandoned_anywhere);
    RUN_TEST(changes_drop_it);
    RUN_TEST(motion_waits_for_the_next_substep);
    RUN_TEST(hurry_cuts_the_solve);
    RUN_TEST(finished_is_done);
    RUN_TEST(pieces_refuse_bad_arguments);
    RUN_TEST(empty_fluid_in_pieces);
}

SUITE(sph_owner) {
    RUN_TEST(owner_locks_out_others);
    RUN_TEST(owner_leaves_particles_open);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv) {
    GREATEST_MAIN_BEGIN();
    RUN_SUITE(sph_substeps);
    RUN_SUITE(sph_slices);
    RUN_SUITE(sph_owner);
    GREATEST_MAIN_END();
}
