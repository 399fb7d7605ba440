/* Particles of isphpbd_sph.h come, go, move and are found again; checked against a plain list. */
#define ISPH_IMPLEMENTATION
#include "isphpbd_sph.h"

#include "greatest.h"
#include "sph_fixture.h"

#define CAPACITY 700

/* ---- [model] What the fluid should hold, as a list. ------------------------------------------------------------- */

typedef struct model_particle {
    uint32_t id, user;
    float position[3];
    uint32_t material;
} model_particle;
typedef struct model {
    model_particle particle[CAPACITY];
    int count;
    uint32_t gone[4096]; /* ids that were alive once */
    int gone_count;
} model;

static model expected;

static int model_find(uint32_t id) {
    for (int i = 0; i < expected.count; i++) {
        if (expected.particle[i].id == id) return i;
    }
    return -1;
}
static void model_drop(int i) {
    if (expected.gone_count < 4096) expected.gone[expected.gone_count++] = expected.particle[i].id;
    expected.particle[i] = expected.particle[--expected.count];
}

/* Every particle of the list is found under its id with its data, and nothing else is there. */
static greatest_test_res compare(const isph_fluid *fluid, bool positions) {
    const isph_view view = isph_particles(fluid);
    ASSERT_EQ_FMT(expected.count, view.count, "%d");
    for (int i = 0; i < expected.count; i++) {
        const model_particle *p = expected.particle + i;
        const int at = isph_particle_find(fluid, p->id);
        ASSERT(at >= 0 && at < view.count);
        ASSERT_EQ_FMT(p->id, view.id[at], "%u");
        ASSERT_EQ_FMT(p->user, view.user[at], "%u");
        ASSERT_EQ_FMT(p->material, (uint32_t)view.material[at] + 1u, "%u");
        if (positions) ASSERT_MEM_EQ(p->position, view_position(&view, at), sizeof p->position);
    }
    for (int i = 0; i < expected.gone_count; i++) {
        if (model_find(expected.gone[i]) < 0) ASSERT_EQ_FMT(-1, isph_particle_find(fluid, expected.gone[i]), "%d");
    }
    PASS();
}

/* Returns whether the answer was right: all of them, or CAPACITY and none. */
static bool add_some(isph_fluid *fluid, fixture_random *random) {
    const int count = random_below(random, 40);
    const isph_material material = {1u + random_bits(random) % 2u};
    static float positions[40][5];
    uint32_t ids[40];
    isphpbd_result result;
    for (int i = 0; i < count; i++) {
        for (int k = 0; k < 3; k++) positions[i][k] = random_between(random, 0.1f, 1.9f);
    }
    result = isph_particles_add(fluid, material, positions[0], sizeof positions[0], NULL, 0, count, ids);
    if (expected.count + count > CAPACITY) return result == ISPHPBD_CAPACITY;
    for (int i = 0; i < count; i++) {
        model_particle *p = expected.particle + expected.count++;
        p->id = ids[i], p->user = 0, p->material = material.id;
        memcpy(p->position, positions[i], sizeof p->position);
    }
    return result == ISPHPBD_OK;
}

/* Removes by id: living ones, gone ones, and some twice. Returns whether the number told was right. */
static bool remove_some(isph_fluid *fluid, fixture_random *random) {
    uint32_t ids[60] = {0};
    int count = 0, living = 0, removed;
    for (int i = 0; i < 25 && expected.count > 0; i++) {
        const int at = random_below(random, expected.count);
        ids[count++] = expected.particle[at].id;
        if (i % 5 == 0) ids[count++] = expected.particle[at].id;
        if (expected.gone_count > 0 && i % 4 == 0)
            ids[count++] = expected.gone[random_below(random, expected.gone_count)];
    }
    removed = isph_particles_remove(fluid, ids, count);
    for (int i = 0; i < count; i++) {
        const int at = model_find(ids[i]);
        if (at >= 0) model_drop(at), living++;
    }
    return removed == living;
}

static bool below_half(void *user, const isph_particle *p) { return p->position.x < *(const float *)user; }

static bool remove_side(isph_fluid *fluid, float x) {
    const int removed = isph_particles_remove_if(fluid, below_half, &x);
    int living = 0;
    for (int i = expected.count - 1; i >= 0; i--) {
        if (expected.particle[i].position[0] < x) model_drop(i), living++;
    }
    return removed == living;
}

/* Every third particle moves and gets a number. */
static bool shake(void *user, isph_particle *p) {
    (void)user;
    if (p->id % 3u != 0) return false;
    p->position.y = 2.0f - p->position.y;
    p->user += p->id * 7u + 1u;
    p->id = 5, p->material.id = 77; /* no effect */
    return true;
}

static bool shake_all(isph_fluid *fluid) {
    const int changed = isph_particles_edit(fluid, shake, NULL);
    int living = 0;
    for (int i = 0; i < expected.count; i++) {
        model_particle *p = expected.particle + i;
        if (p->id % 3u != 0) continue;
        p->position[1] = 2.0f - p->position[1], p->user += p->id * 7u + 1u, living++;
    }
    return changed == living;
}

static isph_fluid *two_materials(int capacity) {
    isph_fluid_desc desc = isph_fluid_desc_default();
    isph_material_desc oil = isph_material_desc_oil();
    isph_fluid *fluid;
    desc.particle_capacity = capacity;
    desc.gravity = fixture_zero;
    fluid = isph_fluid_create(&desc, NULL);
    if (!fluid) return NULL;
    (void)fixture_water(fluid);
    (void)isph_material_create(fluid, &oil, NULL);
    return fluid;
}

/* ---- [sequences] ------------------------------------------------------------------------------------------------ */

static greatest_test_res random_sequence(uint32_t seed) {
    fixture_random random = {seed};
    isph_fluid *fluid = two_materials(CAPACITY);
    memset(&expected, 0, sizeof expected);
    for (int i = 0; i < 150; i++) {
        switch (random_below(&random, 5)) {
            case 0:
            case 1: ASSERT(add_some(fluid, &random)); break;
            case 2: ASSERT(remove_some(fluid, &random)); break;
            case 3:
                if (i % 7 == 0) ASSERT(remove_side(fluid, random_between(&random, 0.0f, 0.5f)));
                break;
            default: ASSERT(shake_all(fluid)); break;
        }
        CHECK_CALL(compare(fluid, true));
    }
    ASSERT(expected.gone_count > 100);
    isph_fluid_destroy(fluid);
    PASS();
}

TEST random_sequences(void) {
    for (uint32_t seed = 1; seed <= 12; seed++) CHECK_CALL(random_sequence(seed));
    PASS();
}

/* With steps between: the order changes, ids and data stay. */
TEST random_sequence_with_steps(void) {
    fixture_random random = {99u};
    isph_fluid *fluid = two_materials(CAPACITY);
    memset(&expected, 0, sizeof expected);
    for (int i = 0; i < 60; i++) {
        ASSERT(add_some(fluid, &random));
        if (i % 2) ASSERT(remove_some(fluid, &random));
        (void)isph_fluid_step(fluid, 0.005f, NULL);
        CHECK_CALL(compare(fluid, false));
    }
    ASSERT(fixture_finite(fluid));
    isph_fluid_destroy(fluid);
    PASS();
}

/* A slot used again gives another id: a stale one does not find the newcomer. */
TEST ids_are_not_used_again_soon(void) {
    isph_fluid *fluid = two_materials(4);
    const isph_material water = {1};
    const float p[3] = {0, 0, 0};
    static uint32_t ids[2000];
    for (int i = 0; i < 2000; i++) {
        ASSERT_EQ(ISPHPBD_OK, isph_particles_add(fluid, water, p, sizeof p, NULL, 0, 1, ids + i));
        for (int k = 0; k < i; k++) ASSERT(ids[k] != ids[i]);
        if (i > 0) ASSERT_EQ_FMT(-1, isph_particle_find(fluid, ids[i - 1]), "%d");
        ASSERT_EQ_FMT(0, isph_particle_find(fluid, ids[i]), "%d");
        {
            const int removed = isph_particles_remove(fluid, ids + i, 1);
            ASSERT_EQ_FMT(1, removed, "%d");
        }
    }
    isph_fluid_destroy(fluid);
    PASS();
}

TEST unknown_ids_find_nothing(void) {
    isph_fluid *fluid = two_materials(10);
    const isph_material water = {1};
    const float p[3] = {0, 0, 0};
    uint32_t id;
    ASSERT_EQ_FMT(-1, isph_particle_find(fluid, 0), "%d");
    ASSERT_EQ(ISPHPBD_OK, isph_particles_add(fluid, water, p, sizeof p, NULL, 0, 1, &id));
    for (uint32_t i = 1; i < 64; i++) ASSERT_EQ_FMT(-1, isph_particle_find(fluid, id + i), "%d");
    ASSERT_EQ_FMT(-1, isph_particle_find(fluid, 0xffffffffu), "%d");
    ASSERT_EQ_FMT(0, isph_particles_remove(fluid, NULL, 3), "%d");
    ASSERT_EQ_FMT(0, isph_particles_remove(fluid, &id, -1), "%d");
    ASSERT_EQ_FMT(0, isph_particles_remove(fluid, &id, 0), "%d");
    ASSERT_EQ_FMT(0, isph_particles_remove_if(fluid, NULL, NULL), "%d");
    ASSERT_EQ_FMT(0, isph_particles_edit(fluid, NULL, NULL), "%d");
    isph_fluid_destroy(fluid);
    PASS();
}

/* ---- [edit] ----------------------------------------------------------------------------------------------------- */

static bool spoil(void *user, isph_particle *p) {
    static const float bad[4] = {NAN, INFINITY, 1e30f, -INFINITY};
    const int k = *(int *)user;
    float *field = k < 12 ? &p->position.x : &p->velocity.x;
    field[k % 3] = bad[k / 3 % 4];
    p->user = 1000;
    return true;
}

/* A particle that comes back broken stays as it was. */
TEST broken_edits_change_nothing(void) {
    isph_fluid *fluid = two_materials(CAPACITY);
    const isph_material water = {1};
    uint64_t hash;
    ASSERT_EQ(ISPHPBD_OK,
              isph_particles_add_box(fluid, water, fixture_zero, isphpbd_v3(0.3f, 0.3f, 0.3f), fixture_zero, NULL));
    hash = isph_fluid_hash(fluid);
    for (int k = 0; k < 24; k++) {
        const int changed = isph_particles_edit(fluid, spoil, &k);
        ASSERT_EQ_FMT(0, changed, "%d");
        ASSERT_EQ(hash, isph_fluid_hash(fluid));
    }
    isph_fluid_destroy(fluid);
    PASS();
}

static bool push_up(void *user, isph_particle *p) {
    p->velocity = *(const isphpbd_vec3 *)user;
    return true;
}

/* A velocity given by an edit is the velocity of the next step. */
TEST edited_velocities_move(void) {
    isph_fluid *fluid = two_materials(CAPACITY);
    const isph_material water = {1};
    isphpbd_vec3 velocity = isphpbd_v3(0.3f, 1.0f, -0.2f);
    fixture_figures before, after;
    (void)isph_particles_add_box(fluid, water, fixture_zero, isphpbd_v3(0.3f, 0.3f, 0.3f), fixture_zero, NULL);
    before = fixture_measure(fluid);
    {
        const int changed = isph_particles_edit(fluid, push_up, &velocity);
        ASSERT_EQ_FMT(216, changed, "%d");
    }
    (void)fixture_run(fluid, 10, 0.01f);
    after = fixture_measure(fluid);
    ASSERT_IN_RANGE(0.03, after.centre[0] - before.centre[0], 2e-4);
    ASSERT_IN_RANGE(0.1, after.centre[1] - before.centre[1], 2e-4);
    ASSERT_IN_RANGE(-0.02, after.centre[2] - before.centre[2], 2e-4);
    isph_fluid_destroy(fluid);
    PASS();
}

/* ---- [boxes] ---------------------------------------------------------------------------------------------------- */

TEST boxes_are_filled_by_their_volume(void) {
    static const float size[4][3] = {{0.5f, 0.5f, 0.5f}, {0.05f, 0.3f, 0.4f}, {0.01f, 0.5f, 0.01f}, {0, 0, 0}};
    static const int count[4] = {1000, 48, 10, 1};
    for (int i = 0; i < 4; i++) {
        isph_fluid *fluid = two_materials(1000);
        const isph_material water = {1};
        const isphpbd_vec3 lo = isphpbd_v3(1.0f, -2.0f, 3.0f);
        int added = -1;
        isph_view view;
        ASSERT_EQ(ISPHPBD_OK, isph_particles_add_box(
                                  fluid, water, lo, isphpbd_v3(lo.x + size[i][0], lo.y + size[i][1], lo.z + size[i][2]),
                                  isphpbd_v3(0, 0.5f, 0), &added));
        ASSERT_EQ_FMT(count[i], added, "%d");
        view = isph_particles(fluid);
        ASSERT_EQ_FMT(count[i], view.count, "%d");
        for (int k = 0; k < view.count && i == 0; k++) {
            const float *p = view_position(&view, k);
            ASSERT(p[0] > 1.024f && p[0] < 1.476f && p[1] > -1.976f && p[1] < -1.524f && p[2] > 3.024f &&
                   p[2] < 3.476f);
            ASSERT_EQ(0.5f, view_velocity(&view, k)[1]);
        }
        isph_fluid_destroy(fluid);
    }
    PASS();
}

/* ---- [origin] --------------------------------------------------------------------------------------------------- */

/* Shifted by a power of two, a scene goes on as the unshifted one, up to rounding. */
TEST shifted_origin(void) {
    isph_fluid_desc desc = isph_fluid_desc_default();
    isph_fluid *here, *there;
    fixture_figures a, b;
    desc.particle_capacity = 1000;
    here = fixture_tank(&desc, 0.4f, 0.4f, 0.5f), there = fixture_tank(&desc, 0.4f, 0.4f, 0.5f);
    ASSERT_EQ(ISPHPBD_OK, isph_fluid_shift_origin(there, isphpbd_v3(16.0f, -32.0f, 8.0f)));
    (void)fixture_run(here, 30, 0.01f), (void)fixture_run(there, 30, 0.01f);
    a = fixture_measure(here), b = fixture_measure(there);
    ASSERT_IN_RANGE(a.centre[0] + 16.0, b.centre[0], 2e-3);
    ASSERT_IN_RANGE(a.centre[1] - 32.0, b.centre[1], 2e-3);
    ASSERT_IN_RANGE(a.centre[2] + 8.0, b.centre[2], 2e-3);
    ASSERT_IN_RANGE(a.low - 32.0, b.low, 5e-3);
    isph_fluid_destroy(here), isph_fluid_destroy(there);
    PASS();
}

SUITE(sph_particles) {
    RUN_TEST(random_sequences);
    RUN_TEST(random_sequence_with_steps);
    RUN_TEST(ids_are_not_used_again_soon);
    RUN_TEST(unknown_ids_find_nothing);
    RUN_TEST(broken_edits_change_nothing);
    RUN_TEST(edited_velocities_move);
    RUN_TEST(boxes_are_filled_by_their_volume);
    RUN_TEST(shifted_origin);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv) {
    GREATEST_MAIN_BEGIN();
    RUN_SUITE(sph_particles);
    GREATEST_MAIN_END();
}
