/* isphpbd_sph.h gives the same bits for every runner and over every snapshot, and takes no broken snapshot. */
#define ISPH_IMPLEMENTATION
#include "isphpbd_sph.h"

#include "greatest.h"
#include "runner_threads.h"
#include "sph_fixture.h"

/* ---- [scenes] More than two blocks of particles, so that tasks do run side by side. ----------------------------- */

static isph_fluid *dam(isphpbd_parallel parallel, int variant) {
    isph_fluid_desc desc = isph_fluid_desc_default();
    isph_boundary_desc ball = isph_boundary_desc_default();
    isph_fluid *fluid;
    isph_material water, honey;
    isph_material_desc thick = isph_material_desc_honey();
    desc.particle_capacity = 4096;
    desc.parallel = parallel;
    if (variant == 2) desc.linear_solver = ISPH_LINEAR_BICGSTAB;
    if (variant == 3) desc.solver = ISPH_SOLVER_WEAKLY_COMPRESSIBLE, desc.max_substeps = 100;
    if (variant == 4) desc.preconditioner = ISPH_PRECONDITIONER_JACOBI;
    fluid = isph_fluid_create(&desc, NULL);
    if (!fluid) return NULL;
    water = fixture_water(fluid);
    (void)fixture_room(fluid, isphpbd_v3(0, 0, 0), isphpbd_v3(1.6f, 3, 0.6f));
    ball.shape = ISPH_SHAPE_SPHERE, ball.radius = 0.12f, ball.friction = 0.3f;
    ball.position = isphpbd_v3(1.0f, 0.12f, 0.3f), ball.linear_velocity = isphpbd_v3(-0.2f, 0.05f, 0);
    (void)isph_boundary_create(fluid, &ball, NULL);
    (void)isph_particles_add_box(fluid, water, isphpbd_v3(0, 0, 0), isphpbd_v3(0.6f, 0.8f, 0.6f), fixture_zero, NULL);
    if (variant == 1) {
        honey = isph_material_create(fluid, &thick, NULL);
        (void)isph_particles_add_box(fluid, honey, isphpbd_v3(0.8f, 0.4f, 0), isphpbd_v3(1.2f, 0.8f, 0.6f),
                                     fixture_zero, NULL);
    }
    return fluid;
}

static uint64_t run_dam(isphpbd_parallel parallel, int variant, int steps) {
    isph_fluid *fluid = dam(parallel, variant);
    uint64_t hash;
    if (!fluid) return 0;
    (void)fixture_run(fluid, steps, 1.0f / 60.0f);
    hash = isph_fluid_hash(fluid);
    isph_fluid_destroy(fluid);
    return hash;
}

static greatest_test_res same_with_all_runners(int variant, int steps) {
    fixture_random order = {17u};
    pool pools[3] = {{1}, {2}, {3}};
    const isphpbd_parallel runners[6] = {{run_forward, NULL},      {run_reverse, NULL},      {run_shuffled, &order},
                                         {run_threads, &pools[0]}, {run_threads, &pools[1]}, {run_threads, &pools[2]}};
    const isphpbd_parallel built_in = {NULL, NULL};
    const uint64_t hash = run_dam(built_in, variant, steps);
    printf("variant %d: %08lx%08lx\n", variant, (unsigned long)(hash >> 32), (unsigned long)(hash & 0xffffffffu));
    ASSERT(hash != 0);
    for (int i = 0; i < 6; i++) ASSERT_EQ(hash, run_dam(runners[i], variant, steps));
    ASSERT(hash != run_dam(built_in, variant, steps + 1)); /* and it is a hash of the state at all */
    PASS();
}

TEST runners_water(void) {
    CHECK_CALL(same_with_all_runners(0, 40));
    PASS();
}
TEST runners_two_liquids(void) {
    CHECK_CALL(same_with_all_runners(1, 25));
    PASS();
}
TEST runners_bicgstab(void) {
    CHECK_CALL(same_with_all_runners(2, 15));
    PASS();
}
TEST runners_weakly_compressible(void) {
    CHECK_CALL(same_with_all_runners(3, 3));
    PASS();
}
TEST runners_jacobi(void) {
    CHECK_CALL(same_with_all_runners(4, 15));
    PASS();
}

/* What the allocator hands out (garbage here, zeros there) is of no influence. */
TEST memory_contents_do_not_matter(void) {
    uint64_t hash[2];
    for (int i = 0; i < 2; i++) {
        isph_fluid_desc desc = isph_fluid_desc_default();
        watched_memory memory;
        isph_fluid *fluid;
        desc.particle_capacity = 1500;
        if (i) desc.allocator = watched_allocator(&memory);
        fluid = fixture_tank(&desc, 0.5f, 0.5f, 0.6f);
        (void)fixture_run(fluid, 20, 1.0f / 60.0f);
        hash[i] = isph_fluid_hash(fluid);
        isph_fluid_destroy(fluid);
    }
    ASSERT_EQ(hash[0], hash[1]);
    PASS();
}

/* ---- [snapshots] ------------------------------------------------------------------------------------------------ */

typedef struct image {
    unsigned char *bytes;
    size_t size;
} image;

static image save(const isph_fluid *fluid) {
    image i;
    i.size = isph_fluid_save(fluid, NULL, 0);
    i.bytes = (unsigned char *)malloc(i.size);
    if (i.bytes) (void)isph_fluid_save(fluid, i.bytes, i.size);
    return i;
}

/* 300 steps straight, against 300 steps with a save and a load into another fluid every 100. */
TEST three_hundred_steps_over_snapshots(void) {
    isph_fluid_desc desc = isph_fluid_desc_default();
    isph_fluid *straight, *relay[2];
    desc.particle_capacity = 1000;
    straight = fixture_tank(&desc, 0.4f, 0.4f, 0.5f);
    for (int i = 0; i < 2; i++) relay[i] = fixture_tank(&desc, 0.4f, 0.4f, 0.5f);
    for (int leg = 0; leg < 3; leg++) {
        isph_fluid *from = relay[leg % 2], *to = relay[(leg + 1) % 2];
        image i;
        (void)fixture_run(straight, 100, 1.0f / 60.0f), (void)fixture_run(from, 100, 1.0f / 60.0f);
        ASSERT_EQ(isph_fluid_hash(straight), isph_fluid_hash(from));
        i = save(from);
        ASSERT_EQ(ISPHPBD_OK, isph_fluid_load(to, i.bytes, i.size));
        ASSERT_EQ(isph_fluid_hash(from), isph_fluid_hash(to));
        free(i.bytes);
    }
    isph_fluid_destroy(straight), isph_fluid_destroy(relay[0]), isph_fluid_destroy(relay[1]);
    PASS();
}

/* The same over every kind of scene: what a snapshot leaves out would show in the steps after it. */
static greatest_test_res resume(int variant) {
    const isphpbd_parallel built_in = {NULL, NULL};
    isph_fluid *one = dam(built_in, variant), *other = dam(built_in, variant);
    image i;
    (void)fixture_run(one, 6, 1.0f / 60.0f);
    (void)fixture_run(other, 2, 1.0f / 50.0f);
    i = save(one);
    ASSERT_EQ(ISPHPBD_OK, isph_fluid_load(other, i.bytes, i.size));
    (void)fixture_run(one, 6, 1.0f / 60.0f), (void)fixture_run(other, 6, 1.0f / 60.0f);
    ASSERT_EQ(isph_fluid_hash(one), isph_fluid_hash(other));
    free(i.bytes);
    isph_fluid_destroy(one), isph_fluid_destroy(other);
    PASS();
}

TEST resume_every_variant(void) {
    for (int variant = 0; variant < 5; variant++) CHECK_CALL(resume(variant));
    PASS();
}

static bool every_other(void *user, const isph_particle *p) {
    (void)user;
    return p->id % 2u == 0;
}

/* Ids, free slots, user numbers, settings and impulses come back too. */
TEST snapshot_holds_everything(void) {
    isph_fluid_desc desc = isph_fluid_desc_default();
    isph_fluid *one, *other;
    image i;
    isphpbd_vec3 a, b;
    const isph_boundary room = {(1u << 16) | 1u};
    const isph_material water = {1};
    const float p[6] = {0, 0.3f, 0, 0.05f, 0.3f, 0};
    uint32_t ids[2], again[2];
    desc.particle_capacity = 1000;
    one = fixture_tank(&desc, 0.4f, 0.4f, 0.4f), other = fixture_tank(&desc, 0.4f, 0.4f, 0.2f);
    (void)isph_particles_remove_if(one, every_other, NULL);
    (void)isph_fluid_set_gravity(one, isphpbd_v3(1, -5, 0));
    (void)isph_fluid_set_budget(one, 20, 3, 0.01f);
    (void)fixture_run(one, 10, 0.01f);
    i = save(one);
    ASSERT_EQ(ISPHPBD_OK, isph_fluid_load(other, i.bytes, i.size));
    ASSERT_EQ(ISPHPBD_OK, isph_particles_add(one, water, p, 12, NULL, 0, 2, ids));
    ASSERT_EQ(ISPHPBD_OK, isph_particles_add(other, water, p, 12, NULL, 0, 2, again));
    ASSERT_MEM_EQ(ids, again, sizeof ids);
    (void)fixture_run(one, 10, 0.01f), (void)fixture_run(other, 10, 0.01f);
    ASSERT_EQ(isph_fluid_hash(one), isph_fluid_hash(other));
    (void)isph_boundary_take_impulse(one, room, &a, NULL), (void)isph_boundary_take_impulse(other, room, &b, NULL);
    ASSERT_MEM_EQ(&a, &b, sizeof a);
    free(i.bytes);
    isph_fluid_destroy(one), isph_fluid_destroy(other);
    PASS();
}

TEST size_is_told_and_kept(void) {
    isph_fluid_desc desc = isph_fluid_desc_default();
    isph_fluid *fluid;
    size_t size;
    unsigned char *bytes;
    desc.particle_capacity = 1000;
    fluid = fixture_tank(&desc, 0.5f, 0.5f, 0.5f);
    size = isph_fluid_save(fluid, NULL, 0);
    ASSERT(size <= 64u * 1000u + 8192u);
    bytes = (unsigned char *)malloc(size + 64);
    memset(bytes, 0x5A, size + 64);
    ASSERT(isph_fluid_save(fluid, bytes, size - 1) == size);
    for (size_t i = 0; i < size + 64; i++) ASSERT_EQ(0x5A, bytes[i]);
    ASSERT(isph_fluid_save(fluid, bytes, size + 64) == size);
    for (size_t i = size; i < size + 64; i++) ASSERT_EQ(0x5A, bytes[i]);
    free(bytes);
    isph_fluid_destroy(fluid);
    PASS();
}

/* ---- [broken] --------------------------------------------------------------------------------------------------- */

/* A fluid with a bit of everything, small enough to try every byte of its image. */
static isph_fluid *tiny(void) {
    static const float corner[3][3] = {{-1, 0, -1}, {1, 0, -1}, {0, 0, 1}};
    static const uint32_t index[3] = {0, 1, 2};
    isph_fluid_desc desc = isph_fluid_desc_default();
    isph_boundary_desc d = isph_boundary_desc_default();
    isph_fluid *fluid;
    isph_material water;
    desc.particle_capacity = 40, desc.boundary_capacity = 4, desc.triangle_capacity = 2, desc.material_capacity = 2;
    fluid = isph_fluid_create(&desc, NULL);
    water = fixture_water(fluid);
    (void)fixture_plane(fluid, 0.0f);
    d.shape = ISPH_SHAPE_MESH;
    d.mesh.positions = corner[0], d.mesh.stride_bytes = sizeof corner[0], d.mesh.vertex_count = 3;
    d.mesh.indices = index, d.mesh.index_count = 3;
    d.position.y = -1.0f;
    (void)isph_boundary_create(fluid, &d, NULL);
    (void)isph_particles_add_box(fluid, water, isphpbd_v3(0, 0, 0), isphpbd_v3(0.15f, 0.15f, 0.15f), fixture_zero,
                                 NULL);
    (void)isph_particles_remove_if(fluid, every_other, NULL);
    (void)fixture_run(fluid, 5, 0.01f);
    return fluid;
}

/* The image is refused and the fluid is as before. */
static greatest_test_res refused(isph_fluid *fluid, const unsigned char *bytes, size_t size, uint64_t hash) {
    ASSERT_EQ(ISPHPBD_BAD_SNAPSHOT, isph_fluid_load(fluid, bytes, size));
    ASSERT_EQ(hash, isph_fluid_hash(fluid));
    PASS();
}

TEST every_flipped_byte_is_refused(void) {
    isph_fluid *fluid = tiny();
    const image i = save(fluid);
    uint64_t hash;
    (void)fixture_run(fluid, 1, 0.01f); /* so that a load that goes through would show */
    hash = isph_fluid_hash(fluid);
    for (size_t at = 0; at < i.size; at++) {
        for (int bit = 0; bit < 9; bit++) {
            const unsigned char old = i.bytes[at];
            i.bytes[at] = (unsigned char)(bit < 8 ? old ^ (1 << bit) : ~old);
            CHECK_CALL(refused(fluid, i.bytes, i.size, hash));
            i.bytes[at] = old;
        }
    }
    ASSERT_EQ(ISPHPBD_OK, isph_fluid_load(fluid, i.bytes, i.size));
    ASSERT(hash != isph_fluid_hash(fluid));
    free(i.bytes);
    isph_fluid_destroy(fluid);
    PASS();
}

/* In a piece of memory of exactly its size, so that reading past the end is caught by a sanitizer. */
TEST every_truncation_is_refused(void) {
    isph_fluid *fluid = tiny();
    const image i = save(fluid);
    const uint64_t hash = isph_fluid_hash(fluid);
    for (size_t size = 0; size < i.size; size++) {
        unsigned char *part = (unsigned char *)malloc(size + 1);
        memcpy(part + 1, i.bytes, size);
        CHECK_CALL(refused(fluid, part + 1, size, hash));
        free(part);
    }
    {
        unsigned char *longer = (unsigned char *)calloc(i.size + 1, 1);
        memcpy(longer, i.bytes, i.size);
        CHECK_CALL(refused(fluid, longer, i.size + 1, hash));
        free(longer);
    }
    ASSERT_EQ(ISPHPBD_BAD_ARGUMENT, isph_fluid_load(fluid, NULL, 100));
    free(i.bytes);
    isph_fluid_destroy(fluid);
    PASS();
}

/* Random bytes, and random bytes behind a good beginning. */
TEST noise_is_refused(void) {
    isph_fluid *fluid = tiny();
    const image i = save(fluid);
    const uint64_t hash = isph_fluid_hash(fluid);
    fixture_random random = {123u};
    unsigned char *noise = (unsigned char *)malloc(i.size);
    for (int round = 0; round < 2000; round++) {
        const size_t good = (size_t)random_below(&random, (int)i.size);
        memcpy(noise, i.bytes, i.size);
        for (size_t k = round % 2 ? good : 0; k < i.size; k++) noise[k] = (unsigned char)random_bits(&random);
        CHECK_CALL(refused(fluid, noise, i.size, hash));
    }
    free(noise), free(i.bytes);
    isph_fluid_destroy(fluid);
    PASS();
}

/* Made from another desc, or with other boundaries: not this fluid's. */
TEST foreign_snapshots_are_refused(void) {
    for (int which = 0; which < 6; which++) {
        isph_fluid_desc desc = isph_fluid_desc_default();
        isph_fluid *here, *there;
        image i;
        desc.particle_capacity = 200;
        here = fixture_tank(&desc, 0.2f, 0.2f, 0.2f);
        if (which == 0) desc.spacing = 0.04f;
        if (which == 1) desc.support = 2.7f;
        if (which == 2) desc.particle_capacity = 201;
        if (which == 3) desc.solver = ISPH_SOLVER_WEAKLY_COMPRESSIBLE;
        there = fixture_tank(&desc, 0.2f, 0.2f, which == 5 ? 0.15f : 0.2f);
        if (which == 4) (void)fixture_plane(there, 0.0f);
        i = save(there);
        if (which < 5) CHECK_CALL(refused(here, i.bytes, i.size, isph_fluid_hash(here)));
        else ASSERT_EQ(ISPHPBD_OK, isph_fluid_load(here, i.bytes, i.size)); /* only other particles: welcome */
        free(i.bytes);
        isph_fluid_destroy(here), isph_fluid_destroy(there);
    }
    PASS();
}

/* Of settings that no call changes every one has to be the same; the others come with the image. */
TEST settings_are_compared_or_kept(void) {
    for (int which = 0; which < 13; which++) {
        isph_fluid_desc desc = isph_fluid_desc_default();
        isph_fluid *here, *there;
        isphpbd_result result;
        image i;
        heard h;
        desc.particle_capacity = 200;
        desc.logger = heard_logger(&h);
        here = fixture_tank(&desc, 0.2f, 0.2f, 0.2f);
        switch (which) {
            case 0: desc.cfl = 0.9f; break;
            case 1: desc.max_speed = 60.0f; break;
            case 2: desc.max_substep_seconds = 0.008f; break;
            case 3: desc.sound_speed = 30.0f; break;
            case 4: desc.linear_solver = ISPH_LINEAR_BICGSTAB; break;
            case 5: desc.preconditioner = ISPH_PRECONDITIONER_JACOBI; break;
            case 6: desc.density_projection = false; break;
            case 7: desc.rigid_local = true; break;
            case 8: desc.tolerance = 0.01f; break;
            case 9: desc.max_iterations = 7; break;
            case 10: desc.max_substeps = 3; break;
            case 11: desc.gravity.x = 1.0f; break;
            default: desc.triangle_capacity = 9; break;
        }
        there = fixture_tank(&desc, 0.2f, 0.2f, 0.2f);
        (void)fixture_run(there, 3, 1.0f / 60.0f);
        i = save(there);
        memset(&h, 0, sizeof h);
        result = isph_fluid_load(here, i.bytes, i.size);
        ASSERT_EQ(which < 8 ? ISPHPBD_BAD_SNAPSHOT : ISPHPBD_OK, result);
        if (which < 8) {
            ASSERT(heard_once(&h, ISPHPBD_BAD_SNAPSHOT, "settings"));
        } else {
            (void)fixture_run(here, 3, 1.0f / 60.0f), (void)fixture_run(there, 3, 1.0f / 60.0f);
            ASSERT_EQ(isph_fluid_hash(there), isph_fluid_hash(here));
        }
        free(i.bytes);
        isph_fluid_destroy(here), isph_fluid_destroy(there);
    }
    PASS();
}

SUITE(sph_determinism) {
    RUN_TEST(runners_water);
    RUN_TEST(runners_two_liquids);
    RUN_TEST(runners_bicgstab);
    RUN_TEST(runners_weakly_compressible);
    RUN_TEST(runners_jacobi);
    RUN_TEST(memory_contents_do_not_matter);
}

SUITE(sph_snapshots) {
    RUN_TEST(three_hundred_steps_over_snapshots);
    RUN_TEST(resume_every_variant);
    RUN_TEST(snapshot_holds_everything);
    RUN_TEST(size_is_told_and_kept);
    RUN_TEST(every_flipped_byte_is_refused);
    RUN_TEST(every_truncation_is_refused);
    RUN_TEST(noise_is_refused);
    RUN_TEST(foreign_snapshots_are_refused);
    RUN_TEST(settings_are_compared_or_kept);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv) {
    GREATEST_MAIN_BEGIN();
    RUN_SUITE(sph_determinism);
    RUN_SUITE(sph_snapshots);
    GREATEST_MAIN_END();
}
