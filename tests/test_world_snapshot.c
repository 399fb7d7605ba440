/* Snapshots of isphpbd.h resume with the same bits, are small, and broken ones are refused whole. */
#define ISPHPBD_IMPLEMENTATION
#include "isphpbd.h"

#include "greatest.h"
#include "world_mixed.h"

/* ---- [resume] ---------------------------------------------------------------------------------------------------- */

/* Save, go on for 300 steps; load, go on for 300 steps: the same world. */
static greatest_test_res resumes(int parts, int before, int after) {
    mixed m = mixed_make(mixed_desc(), parts);
    world_image image;
    uint64_t saved, straight;
    int steps;
    (void)mixed_run(&m, before);
    saved = isphpbd_world_hash(m.world), steps = m.steps;
    image = world_take_image(m.world);
    ASSERT_EQ(saved, isphpbd_world_hash(m.world));
    (void)mixed_run(&m, after);
    straight = isphpbd_world_hash(m.world);
    ASSERT(straight != saved);
    ASSERT_EQ(ISPHPBD_OK, isphpbd_world_load(m.world, image.bytes, image.size));
    ASSERT_EQ(saved, isphpbd_world_hash(m.world));
    m.steps = steps;
    (void)mixed_run(&m, after);
    ASSERT_EQ(straight, isphpbd_world_hash(m.world));
    free(image.bytes), mixed_end(&m);
    PASS();
}

TEST resume_water(void) {
    CHECK_CALL(resumes(MIXED_WATER, 20, 300));
    PASS();
}
TEST resume_rigid(void) {
    CHECK_CALL(resumes(MIXED_WATER | MIXED_BODY | MIXED_PADDLE, 20, 300));
    PASS();
}
TEST resume_cloth(void) {
    CHECK_CALL(resumes(MIXED_WATER | MIXED_CLOTH, 20, 300));
    PASS();
}
TEST resume_emitter(void) {
    CHECK_CALL(resumes(MIXED_EMITTER | MIXED_CLOTH, 35, 300));
    PASS();
}
TEST resume_everything(void) {
    CHECK_CALL(resumes(MIXED_ALL, 25, 300));
    PASS();
}
/* Every step a save and a load: nothing is left out that one step would show. */
TEST resume_at_every_step(void) {
    mixed straight = mixed_make(mixed_desc(), MIXED_ALL), relay[2];
    for (int i = 0; i < 2; i++) relay[i] = mixed_make(mixed_desc(), MIXED_ALL);
    for (int i = 0; i < 30; i++) {
        mixed *from = &relay[i % 2], *to = &relay[(i + 1) % 2];
        world_image image;
        (void)mixed_run(&straight, 1), (void)mixed_run(from, 1);
        ASSERT_EQ(isphpbd_world_hash(straight.world), isphpbd_world_hash(from->world));
        image = world_take_image(from->world);
        ASSERT_EQ(ISPHPBD_OK, isphpbd_world_load(to->world, image.bytes, image.size));
        to->steps = from->steps;
        free(image.bytes);
    }
    mixed_end(&straight), mixed_end(&relay[0]), mixed_end(&relay[1]);
    PASS();
}

/* advance() has a remainder of time, and impulses that nobody took yet are kept. */
TEST remainders_are_kept(void) {
    mixed one = mixed_make(mixed_desc(), MIXED_ALL), other = mixed_make(mixed_desc(), MIXED_ALL);
    isphpbd_impulse a, b;
    world_image image;
    for (int i = 0; i < 21; i++) (void)isphpbd_world_advance(one.world, 0.011f);
    image = world_take_image(one.world);
    ASSERT_EQ(ISPHPBD_OK, isphpbd_world_load(other.world, image.bytes, image.size));
    ASSERT_EQ(ISPHPBD_OK, isphpbd_body_take(one.world, one.body, &a));
    ASSERT_EQ(ISPHPBD_OK, isphpbd_body_take(other.world, other.body, &b));
    ASSERT_MEM_EQ(&a, &b, sizeof a);
    ASSERT(vec3d_length(vec3d_from(a.linear)) > 0.0);
    ASSERT_EQ(ISPHPBD_OK, isphpbd_collider_take(one.world, one.room, &a));
    ASSERT_EQ(ISPHPBD_OK, isphpbd_collider_take(other.world, other.room, &b));
    ASSERT_MEM_EQ(&a, &b, sizeof a);
    ASSERT(isphpbd_emitter_count(one.world, one.emitter) == isphpbd_emitter_count(other.world, other.emitter));
    ASSERT(isphpbd_emitter_count(one.world, one.emitter) > 0);
    ASSERT(isphpbd_sink_count(one.world, one.sink) == isphpbd_sink_count(other.world, other.sink));
    for (int i = 0; i < 10; i++) {
        const isphpbd_step_info x = isphpbd_world_advance(one.world, 0.011f),
                                y = isphpbd_world_advance(other.world, 0.011f);
        ASSERT_EQ_FMT(x.steps, y.steps, "%d");
        ASSERT_EQ(x.alpha, y.alpha);
    }
    ASSERT_EQ(isphpbd_world_hash(one.world), isphpbd_world_hash(other.world));
    free(image.bytes), mixed_end(&one), mixed_end(&other);
    PASS();
}

/* Ids are stable over a load, settings come back, new particles get the same ids. */
TEST settings_and_ids_come_back(void) {
    mixed one = mixed_make(mixed_desc(), MIXED_WATER | MIXED_CLOTH),
          other = mixed_make(mixed_desc(), MIXED_WATER | MIXED_CLOTH);
    isphpbd_budget budget = isphpbd_world_desc_default().budget;
    const float drops[6] = {0.0f, 1.0f, 0.0f, 0.1f, 1.0f, 0.0f};
    uint32_t ids[2], again[2];
    world_image image;
    budget.substeps = 3, budget.pressure_iterations = 20;
    ASSERT_EQ(ISPHPBD_OK, isphpbd_world_set_gravity(one.world, isphpbd_v3(1, -5, 0)));
    ASSERT_EQ(ISPHPBD_OK, isphpbd_world_set_wind(one.world, isphpbd_v3(3, 0, 0)));
    ASSERT_EQ(ISPHPBD_OK, isphpbd_world_set_budget(one.world, &budget));
    ASSERT_EQ(ISPHPBD_OK, isphpbd_world_shift_origin(one.world, isphpbd_v3(0, 0, 0)));
    (void)mixed_run(&one, 10);
    image = world_take_image(one.world);
    ASSERT_EQ(ISPHPBD_OK, isphpbd_world_load(other.world, image.bytes, image.size));
    ASSERT_EQ(ISPHPBD_OK, isphpbd_fluid_add(one.world, one.water, drops, 12, NULL, 0, 2, ids));
    ASSERT_EQ(ISPHPBD_OK, isphpbd_fluid_add(other.world, other.water, drops, 12, NULL, 0, 2, again));
    ASSERT_MEM_EQ(ids, again, sizeof ids);
    (void)mixed_run(&one, 10), (void)mixed_run(&other, 10);
    ASSERT_EQ(isphpbd_world_hash(one.world), isphpbd_world_hash(other.world));
    free(image.bytes), mixed_end(&one), mixed_end(&other);
    PASS();
}

/* ---- [size] ------------------------------------------------------------------------------------------------------ */

TEST at_most_64_bytes_per_particle(void) {
    isphpbd_world_desc desc = world_desc(9000);
    isphpbd_world *empty, *full;
    size_t one, many;
    int count;
    empty = world_make(&desc), full = world_make(&desc);
    (void)world_water(empty);
    count = world_fill(full, world_water(full), vec3d_make(0, 0, 0), vec3d_make(1, 1, 1), vec3d_make(0, 0, 0));
    (void)world_run(full, 0.05);
    one = isphpbd_world_save(empty, NULL, 0), many = isphpbd_world_save(full, NULL, 0);
    printf("%.1f bytes per particle, %lu for an empty world\n", (double)(many - one) / count, (unsigned long)one);
    ASSERT(many <= 64u * (size_t)count + one);
    ASSERT(one < 65536u);
    isphpbd_world_destroy(empty), isphpbd_world_destroy(full);
    PASS();
}

TEST size_is_told_and_kept(void) {
    mixed m = mixed_make(mixed_desc(), MIXED_ALL);
    size_t size;
    unsigned char *bytes;
    (void)mixed_run(&m, 3);
    size = isphpbd_world_save(m.world, NULL, 0);
    bytes = (unsigned char *)malloc(size + 64);
    memset(bytes, 0x5A, size + 64);
    ASSERT(isphpbd_world_save(m.world, bytes, size - 1) == size);
    for (size_t i = 0; i < size + 64; i++) ASSERT_EQ(0x5A, bytes[i]);
    ASSERT(isphpbd_world_save(m.world, bytes, size + 64) == size);
    for (size_t i = size; i < size + 64; i++) ASSERT_EQ(0x5A, bytes[i]);
    free(bytes), mixed_end(&m);
    PASS();
}

/* ---- [broken] ---------------------------------------------------------------------------------------------------- */

/* A world with a bit of everything that is small in bytes. */
static mixed tiny(void) {
    isphpbd_world_desc desc = mixed_desc();
    mixed m;
    desc.capacity.fluid_particles = 64, desc.capacity.mesh_triangles = 16;
    m = mixed_make(desc, MIXED_ALL & ~MIXED_WATER);
    (void)mixed_run(&m, 12);
    return m;
}

static greatest_test_res refused(const mixed *m, const unsigned char *bytes, size_t size, uint64_t hash) {
    ASSERT_EQ(ISPHPBD_BAD_SNAPSHOT, isphpbd_world_load(m->world, bytes, size));
    ASSERT_EQ(hash, isphpbd_world_hash(m->world));
    PASS();
}

TEST flipped_bytes_are_refused(void) {
    mixed m = tiny();
    const world_image i = world_take_image(m.world);
    uint64_t hash;
    (void)mixed_run(&m, 1); /* so that a load that goes through would show */
    hash = isphpbd_world_hash(m.world);
    for (size_t at = 0; at < i.size; at += at < 2048 ? 1 : 1 + i.size / 6000) {
        const unsigned char old = i.bytes[at];
        i.bytes[at] = (unsigned char)(at % 9 < 8 ? old ^ (1 << at % 9) : ~old);
        CHECK_CALL(refused(&m, i.bytes, i.size, hash));
        i.bytes[at] = old;
    }
    ASSERT_EQ(ISPHPBD_OK, isphpbd_world_load(m.world, i.bytes, i.size));
    ASSERT(hash != isphpbd_world_hash(m.world));
    free(i.bytes), mixed_end(&m);
    PASS();
}

/* In a piece of memory of exactly its size, so that reading past the end is caught by a sanitizer. */
TEST truncations_are_refused(void) {
    mixed m = tiny();
    const world_image i = world_take_image(m.world);
    const uint64_t hash = isphpbd_world_hash(m.world);
    unsigned char *longer = (unsigned char *)calloc(i.size + 1, 1);
    for (size_t size = 0; size < i.size; size += size < 1024 ? 1 : 1 + i.size / 3000) {
        unsigned char *part = (unsigned char *)malloc(size + 1);
        memcpy(part + 1, i.bytes, size);
        CHECK_CALL(refused(&m, part + 1, size, hash));
        free(part);
    }
    memcpy(longer, i.bytes, i.size);
    CHECK_CALL(refused(&m, longer, i.size + 1, hash));
    ASSERT_EQ(ISPHPBD_BAD_ARGUMENT, isphpbd_world_load(m.world, NULL, 100));
    ASSERT_EQ(ISPHPBD_BAD_ARGUMENT, isphpbd_world_load(NULL, i.bytes, i.size));
    free(longer), free(i.bytes), mixed_end(&m);
    PASS();
}

TEST noise_is_refused(void) {
    mixed m = tiny();
    const world_image i = world_take_image(m.world);
    const uint64_t hash = isphpbd_world_hash(m.world);
    fixture_random random = {321u};
    unsigned char *noise = (unsigned char *)malloc(i.size);
    for (int round = 0; round < 1000; round++) {
        const size_t good = (size_t)random_below(&random, (int)i.size);
        memcpy(noise, i.bytes, i.size);
        for (size_t k = round % 2 ? good : 0; k < i.size; k++) noise[k] = (unsigned char)random_bits(&random);
        CHECK_CALL(refused(&m, noise, i.size, hash));
    }
    free(noise), free(i.bytes), mixed_end(&m);
    PASS();
}

/* Made from another desc, or with other objects: not this world's. */
TEST foreign_snapshots_are_refused(void) {
    for (int which = 0; which < 13; which++) {
        isphpbd_world_desc desc = mixed_desc();
        mixed here = mixed_make(desc, MIXED_ALL), there;
        int parts = MIXED_ALL;
        world_image i;
        if (which == 0) desc.spacing = 0.04f;
        if (which == 1) desc.support = 2.7f;
        if (which == 2) desc.capacity.fluid_particles++;
        if (which == 3) parts &= ~MIXED_BODY;
        if (which == 4) parts &= ~MIXED_CLOTH;
        if (which == 5) parts &= ~MIXED_EMITTER;
        if (which == 6) desc.cfl = 0.9f;
        if (which == 7) desc.tolerance = 0.01f;
        if (which == 8) desc.coupling_tolerance = 0.01f;
        if (which == 9) desc.step_seconds = 0.01f;
        if (which == 10) desc.rigid_scheme = ISPHPBD_RIGID_LOCAL;
        if (which == 11) desc.density_projection = false;
        if (which == 12) desc.solver = ISPH_SOLVER_WEAKLY_COMPRESSIBLE;
        there = mixed_make(desc, parts);
        i = world_take_image(there.world);
        CHECK_CALL(refused(&here, i.bytes, i.size, isphpbd_world_hash(here.world)));
        free(i.bytes), mixed_end(&here), mixed_end(&there);
    }
    PASS();
}

/* The images of the two solvers inside are not images of a world. */
TEST parts_are_no_worlds(void) {
    mixed m = mixed_make(mixed_desc(), MIXED_ALL);
    const size_t fluid = isph_fluid_save(isphpbd_world_fluids(m.world), NULL, 0);
    const size_t soft = ipbd_save(isphpbd_world_softs(m.world), NULL, 0);
    unsigned char *bytes = (unsigned char *)malloc(fluid + soft);
    (void)isph_fluid_save(isphpbd_world_fluids(m.world), bytes, fluid);
    CHECK_CALL(refused(&m, bytes, fluid, isphpbd_world_hash(m.world)));
    ASSERT_EQ(ISPHPBD_LOCKED, isph_fluid_load(isphpbd_world_fluids(m.world), bytes, fluid));
    (void)ipbd_save(isphpbd_world_softs(m.world), bytes, soft);
    CHECK_CALL(refused(&m, bytes, soft, isphpbd_world_hash(m.world)));
    ASSERT_EQ(ISPHPBD_LOCKED, ipbd_load(isphpbd_world_softs(m.world), bytes, soft));
    free(bytes), mixed_end(&m);
    PASS();
}

SUITE(world_snapshot) {
    RUN_TEST(resume_water);
    RUN_TEST(resume_rigid);
    RUN_TEST(resume_cloth);
    RUN_TEST(resume_emitter);
    RUN_TEST(resume_everything);
    RUN_TEST(resume_at_every_step);
    RUN_TEST(remainders_are_kept);
    RUN_TEST(settings_and_ids_come_back);
    RUN_TEST(at_most_64_bytes_per_particle);
    RUN_TEST(size_is_told_and_kept);
    RUN_TEST(flipped_bytes_are_refused);
    RUN_TEST(truncations_are_refused);
    RUN_TEST(noise_is_refused);
    RUN_TEST(foreign_snapshots_are_refused);
    RUN_TEST(parts_are_no_worlds);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv) {
    GREATEST_MAIN_BEGIN();
    RUN_SUITE(world_snapshot);
    GREATEST_MAIN_END();
}
