/* Memory of all three headers: every allocation may fail, none is made while stepping, nobody writes outside of what he
   got, a fixed arena of the size told is enough, and everything comes back.
   SPDX-License-Identifier: MIT */
#define ISPHPBD_IMPLEMENTATION
#include "isphpbd.h"

#include "greatest.h"
#include "world_scene.h"

/* ---- what can be made: each answers an object, or NULL and a reason ---------------------------------------------- */

typedef struct maker {
    const char *name;
    size_t (*bytes)(void);                                             /* told beforehand */
    void *(*make)(const isphpbd_allocator *memory, isphpbd_result *why);
    void (*destroy)(void *object);
} maker;

static isph_grid_desc grid_desc(void) {
    isph_grid_desc d = isph_grid_desc_default();
    d.capacity = 1000;
    return d;
}
static size_t grid_bytes(void) {
    isph_grid_desc d = grid_desc();
    return isph_grid_bytes(&d);
}
static void *grid_make(const isphpbd_allocator *memory, isphpbd_result *why) {
    isph_grid_desc d = grid_desc();
    d.allocator = *memory;
    return isph_grid_create(&d, why);
}
static void grid_destroy(void *object) { isph_grid_destroy((isph_grid *)object); }

static isph_matrix_desc matrix_desc(void) {
    isph_matrix_desc d = isph_matrix_desc_default();
    d.row_capacity = 500, d.nonzero_capacity = 9000;
    return d;
}
static size_t matrix_bytes(void) {
    isph_matrix_desc d = matrix_desc();
    return isph_matrix_bytes(&d);
}
static void *matrix_make(const isphpbd_allocator *memory, isphpbd_result *why) {
    isph_matrix_desc d = matrix_desc();
    d.allocator = *memory;
    return isph_matrix_create(&d, why);
}
static void matrix_destroy(void *object) { isph_matrix_destroy((isph_matrix *)object); }

static isph_fluid_desc fluid_desc(void) {
    isph_fluid_desc d = isph_fluid_desc_default();
    d.particle_capacity = 1024, d.triangle_capacity = 16;
    return d;
}
static size_t fluid_bytes(void) {
    isph_fluid_desc d = fluid_desc();
    return isph_fluid_bytes(&d);
}
static void *fluid_make(const isphpbd_allocator *memory, isphpbd_result *why) {
    isph_fluid_desc d = fluid_desc();
    d.allocator = *memory;
    return isph_fluid_create(&d, why);
}
static void fluid_destroy(void *object) { isph_fluid_destroy((isph_fluid *)object); }

static ipbd_world_desc soft_desc(void) {
    ipbd_world_desc d = ipbd_world_desc_default();
    d.capacity = scene_desc().capacity.soft;
    return d;
}
static size_t soft_bytes(void) {
    ipbd_world_desc d = soft_desc();
    return ipbd_bytes(&d);
}
static void *soft_make(const isphpbd_allocator *memory, isphpbd_result *why) {
    ipbd_world_desc d = soft_desc();
    d.allocator = *memory;
    return ipbd_create(&d, why);
}
static void soft_destroy(void *object) { ipbd_destroy((ipbd_world *)object); }

static size_t world_bytes(void) {
    isphpbd_world_desc d = scene_desc();
    return isphpbd_world_bytes(&d);
}
static void *world_make(const isphpbd_allocator *memory, isphpbd_result *why) {
    isphpbd_world_desc d = scene_desc();
    d.allocator = *memory;
    return isphpbd_world_create(&d, why);
}
static void world_destroy(void *object) { isphpbd_world_destroy((isphpbd_world *)object); }

static const maker makers[] = {{"grid", grid_bytes, grid_make, grid_destroy},
                               {"matrix", matrix_bytes, matrix_make, matrix_destroy},
                               {"fluid", fluid_bytes, fluid_make, fluid_destroy},
                               {"soft bodies", soft_bytes, soft_make, soft_destroy},
                               {"world", world_bytes, world_make, world_destroy}};
enum { MAKERS = (int)(sizeof makers / sizeof *makers) };

/* ---- creation ---------------------------------------------------------------------------------------------------- */

TEST creation_takes_what_was_told_and_gives_it_back(void) {
    for (int i = 0; i < MAKERS; i++) {
        watched_memory memory;
        const isphpbd_allocator allocator = watched_allocator(&memory);
        isphpbd_result why = ISPHPBD_RESULT_COUNT;
        void *object = makers[i].make(&allocator, &why);
        ASSERTm(makers[i].name, object != NULL && why == ISPHPBD_OK);
        ASSERT_EQm(makers[i].name, makers[i].bytes(), memory.asked);
        makers[i].destroy(object);
        ASSERTm(makers[i].name, watched_clean(&memory));
    }
    PASS();
}

/* The first, the second ... allocation fails, until all succeed. */
TEST every_allocation_of_a_creation_may_fail(void) {
    for (int i = 0; i < MAKERS; i++) {
        void *object = NULL;
        for (int refuse = 1; refuse < 20 && !object; refuse++) {
            watched_memory memory;
            const isphpbd_allocator allocator = watched_allocator(&memory);
            isphpbd_result why = ISPHPBD_RESULT_COUNT;
            memory.refuse = refuse;
            object = makers[i].make(&allocator, &why);
            ASSERT_EQm(makers[i].name, object ? ISPHPBD_OK : ISPHPBD_OUT_OF_MEMORY, why);
            if (object) {
                ASSERTm(makers[i].name, refuse > 1); /* the first did fail */
                makers[i].destroy(object);
            }
            ASSERTm(makers[i].name, watched_clean(&memory));
        }
        ASSERTm(makers[i].name, object != NULL);
    }
    PASS();
}

/* ---- an arena: hands out one piece after the other and takes nothing back ---------------------------------------- */

typedef struct arena {
    unsigned char *base;
    size_t size, used;
} arena;
static void *arena_alloc(size_t size, size_t align, void *user) {
    arena *a = (arena *)user;
    size_t begin = (a->used + align - 1) / align * align;
    if (begin > a->size || size > a->size - begin) return NULL;
    a->used = begin + size;
    return a->base + begin;
}
static void arena_free(void *ptr, size_t size, void *user) { (void)ptr, (void)size, (void)user; }

static bool arena_is_enough(const maker *m) {
    isphpbd_allocator allocator;
    arena a;
    void *raw, *object;
    bool enough;
    a.size = m->bytes() + 64 * 8, a.used = 0; /* a few pieces, each on its own line of the cache */
    raw = malloc(a.size + 64);
    if (!raw) return false;
    a.base = (unsigned char *)raw + (64 - (uintptr_t)raw % 64) % 64;
    allocator.alloc = arena_alloc, allocator.free = arena_free, allocator.user = &a;
    object = m->make(&allocator, NULL);
    enough = object != NULL;
    m->destroy(object);
    free(raw);
    return enough;
}
TEST a_fixed_arena_is_enough(void) {
    for (int i = 0; i < MAKERS; i++) ASSERTm(makers[i].name, arena_is_enough(&makers[i]));
    PASS();
}

/* ---- a world at work --------------------------------------------------------------------------------------------- */

TEST a_world_at_work_never_allocates_and_stays_inside(void) {
    watched_memory memory;
    isphpbd_world_desc desc = scene_desc();
    world_scene scene;
    int before;
    desc.allocator = watched_allocator(&memory);
    ASSERT(scene_fill(&scene, isphpbd_world_create(&desc, NULL)));
    ASSERT_EQ(isphpbd_world_bytes(&desc), memory.live); /* what the soft bodies borrowed came back */
    ASSERT_EQ(isphpbd_world_bytes(&desc), isphpbd_world_stats(scene.world).bytes);
    before = memory.allocations;
    for (int i = 0; i < 60; i++) ASSERT_EQ(1, scene_step(&scene).steps);
    ASSERT_EQ_FMT(before, memory.allocations, "%d");
    isphpbd_world_destroy(scene.world);
    ASSERT(watched_clean(&memory));
    PASS();
}

/* Soft bodies borrow memory while they are made: each such allocation fails once, and nothing has changed. */
TEST soft_bodies_may_lack_memory(void) {
    watched_memory memory;
    isphpbd_world_desc desc = scene_desc();
    world_scene scene;
    bool made = false;
    desc.allocator = watched_allocator(&memory);
    memset(&scene, 0, sizeof scene);
    scene.world = isphpbd_world_create(&desc, NULL);
    ASSERT(scene.world != NULL);
    for (int refuse = 1; refuse < 20 && !made; refuse++) {
        const uint64_t before = ipbd_hash(isphpbd_world_softs(scene.world));
        memory.refuse = memory.allocations + refuse;
        scene_add_softs(&scene);
        made = scene.cloth.id && scene.jelly.id;
        ASSERT_EQ(isphpbd_world_bytes(&desc), memory.live);
        if (!scene.cloth.id && !scene.jelly.id) ASSERT_EQ(before, ipbd_hash(isphpbd_world_softs(scene.world)));
        if (scene.cloth.id) ASSERT_EQ(ISPHPBD_OK, isphpbd_soft_destroy(scene.world, scene.cloth));
        if (scene.jelly.id) ASSERT_EQ(ISPHPBD_OK, isphpbd_soft_destroy(scene.world, scene.jelly));
        ASSERT_EQ_FMT(0, isphpbd_world_stats(scene.world).softs, "%d");
    }
    ASSERT(made);
    isphpbd_world_destroy(scene.world);
    ASSERT(watched_clean(&memory));
    PASS();
}

TEST half_an_allocator_is_refused(void) {
    for (int i = 0; i < MAKERS; i++) {
        for (int half = 0; half < 2; half++) {
            watched_memory memory;
            isphpbd_allocator allocator = watched_allocator(&memory);
            isphpbd_result why = ISPHPBD_OK;
            if (half) allocator.alloc = NULL;
            else allocator.free = NULL;
            ASSERTm(makers[i].name, makers[i].make(&allocator, &why) == NULL);
            ASSERT_EQm(makers[i].name, ISPHPBD_BAD_DESC, why);
            ASSERT_EQm(makers[i].name, 0, memory.allocations);
        }
    }
    PASS();
}

GREATEST_MAIN_DEFS();
int main(int argc, char **argv) {
    GREATEST_MAIN_BEGIN();
    RUN_TEST(creation_takes_what_was_told_and_gives_it_back);
    RUN_TEST(every_allocation_of_a_creation_may_fail);
    RUN_TEST(half_an_allocator_is_refused);
    RUN_TEST(a_fixed_arena_is_enough);
    RUN_TEST(soft_bodies_may_lack_memory);
    RUN_TEST(a_world_at_work_never_allocates_and_stays_inside);
    GREATEST_MAIN_END();
}
