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

/* ---- an arena: hands out one piece after the other and gets back only the last ----------------------------------- */

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
static void arena_free(void *ptr, size_t size, void *user) {
    arena *a = (arena *)user;
    if ((unsigned char *)ptr + size == a->base + a->used) a->used -= size; /* what was borrowed */
}
static void *arena_begin(arena *a, size_t size) {
    void *raw = malloc(size + 64);
    a->size = size, a->used = 0;
    if (raw) a->base = (unsigned char *)raw + (64 - (uintptr_t)raw % 64) % 64;
    return raw;
}
static isphpbd_allocator arena_allocator(arena *a) {
    isphpbd_allocator allocator;
    allocator.alloc = arena_alloc, allocator.free = arena_free, allocator.user = a;
    return allocator;
}

static bool arena_is_enough(const maker *m) {
    isphpbd_allocator allocator;
    arena a;
    void *raw, *object;
    bool enough;
    raw = arena_begin(&a, m->bytes() + 64 * 8); /* a few pieces, each on its own line of the cache */
    if (!raw) return false;
    allocator = arena_allocator(&a);
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

/* A world lives in one: it is filled, steps, is saved and loaded. What is borrowed for soft bodies goes back. */
TEST a_world_lives_in_a_fixed_arena(void) {
    isphpbd_world_desc desc = scene_desc();
    world_scene scene;
    arena a;
    void *raw = arena_begin(&a, isphpbd_world_bytes(&desc) + 64 * 8 + ((size_t)1 << 20)), *image;
    size_t size, used;
    uint64_t hash;
    ASSERT(raw != NULL);
    desc.allocator = arena_allocator(&a);
    memset(&scene, 0, sizeof scene);
    scene.world = isphpbd_world_create(&desc, NULL);
    used = a.used;
    ASSERT(scene.world != NULL && used <= isphpbd_world_bytes(&desc) + 64 * 8);
    ASSERT(scene_fill(&scene, scene.world));
    ASSERT(a.used - used <= 64 * 8);
    for (int i = 0; i < 10; i++) ASSERT_EQ(1, scene_step(&scene).steps);
    size = isphpbd_world_save(scene.world, NULL, 0);
    image = malloc(size);
    ASSERT(image != NULL && isphpbd_world_save(scene.world, image, size) == size);
    hash = isphpbd_world_hash(scene.world);
    (void)scene_step(&scene);
    ASSERT(hash != isphpbd_world_hash(scene.world));
    ASSERT_EQ(ISPHPBD_OK, isphpbd_world_load(scene.world, image, size));
    ASSERT_EQ(hash, isphpbd_world_hash(scene.world));
    ASSERT(a.used - used <= 64 * 8);
    isphpbd_world_destroy(scene.world);
    free(image), free(raw);
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

/* ---- what borrows memory for the time of a call ------------------------------------------------------------------ */

enum { CLOTH, BALLOON, BLOCK, ROPE, WELDED, PINNED, BODIES };

/* Every way in which a body is built; the arrays are kept for the call. */
typedef struct shapes {
    float positions[3 * 27];
    uint32_t indices[4 * 48], pins[2];
} shapes;
static ipbd_body_desc body_of(shapes *s, int kind) {
    static const ipbd_preset preset[BODIES] = {IPBD_COTTON, IPBD_BALLOON, IPBD_JELLY,
                                               IPBD_ROPE,   IPBD_COTTON,  IPBD_SILK};
    static const float corners[12] = {0.0f, 0.0f, 0.0f, 0.4f, 0.0f, 0.0f, 0.0f, 0.4f, 0.0f, 0.0f, 0.0f, 0.4f};
    static const uint32_t faces[12] = {0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3};
    ipbd_body_desc d = ipbd_body_desc_preset(preset[kind]);
    d.mesh.positions = s->positions, d.mesh.vertex_count = 25;
    d.soft_collision = d.self_collision = true;
    if (kind == BALLOON) {
        d.mesh.positions = corners, d.mesh.vertex_count = 4, d.mesh.triangles = faces, d.mesh.triangle_count = 4;
    } else if (kind == BLOCK) {
        d.mesh.tetrahedron_count = ipbd_block(2, 2, 2, isphpbd_v3(0.2f, 0.2f, 0.2f), s->positions, s->indices);
        d.mesh.tetrahedra = s->indices, d.mesh.vertex_count = 27;
    } else {
        d.mesh.triangle_count = ipbd_grid(5, 5, 0.5f, 0.5f, s->positions, s->indices);
        d.mesh.triangles = s->indices;
    }
    if (kind == ROPE) {
        for (int i = 0; i < 4; i++) s->indices[2 * i] = (uint32_t)i, s->indices[2 * i + 1] = (uint32_t)i + 1;
        d.mesh.triangles = NULL, d.mesh.triangle_count = 0, d.mesh.lines = s->indices, d.mesh.line_count = 4;
    }
    if (kind == WELDED) {
        memcpy(s->positions + 3 * 24, s->positions + 3 * 23, 3 * sizeof(float));
        d.weld_distance = 1e-3f;
    }
    if (kind == PINNED) s->pins[0] = 0, s->pins[1] = 4, d.pinned = s->pins, d.pinned_count = 2, d.tether_slack = 1.02f;
    return d;
}

TEST bodies_of_all_kinds_may_lack_memory(void) {
    for (int kind = 0; kind < BODIES; kind++) {
        watched_memory memory;
        ipbd_world_desc desc = soft_desc();
        ipbd_world *world;
        ipbd_body body = {0};
        shapes s;
        const ipbd_body_desc wanted = body_of(&s, kind);
        uint64_t before;
        int refuse = 0;
        desc.allocator = watched_allocator(&memory);
        world = ipbd_create(&desc, NULL);
        ASSERT(world != NULL);
        before = ipbd_hash(world);
        while (!body.id && refuse++ < 20) {
            isphpbd_result why = ISPHPBD_RESULT_COUNT;
            memory.refuse = memory.allocations + refuse;
            body = ipbd_body_create(world, &wanted, &why);
            ASSERT_EQ_FMT(body.id ? ISPHPBD_OK : ISPHPBD_OUT_OF_MEMORY, why, "%d");
            if (!body.id) ASSERT_EQ(before, ipbd_hash(world));
            ASSERT_EQ(ipbd_bytes(&desc), memory.live);
        }
        ASSERT(body.id != 0 && refuse > 1); /* the first did fail */
        ipbd_destroy(world);
        ASSERT(watched_clean(&memory));
    }
    PASS();
}

/* Checking and measuring a mesh need no world, and borrow from the allocator given. */
TEST measuring_a_body_may_lack_memory(void) {
    for (int kind = 0; kind < BODIES; kind++) {
        shapes s;
        const ipbd_body_desc d = body_of(&s, kind);
        for (int measure = 0; measure < 2; measure++) {
            isphpbd_result result = ISPHPBD_OUT_OF_MEMORY;
            int refuse = 0;
            while (result == ISPHPBD_OUT_OF_MEMORY && refuse++ < 20) {
                ipbd_capacity capacity = ipbd_capacity_none();
                const ipbd_capacity none = capacity;
                ipbd_mesh_report report;
                watched_memory memory;
                const isphpbd_allocator allocator = watched_allocator(&memory);
                memory.refuse = refuse;
                result = measure ? ipbd_capacity_add(&capacity, &d, &allocator)
                                 : ipbd_mesh_check(&d, &allocator, &report);
                if (result != ISPHPBD_OK) ASSERT_EQ(0, memcmp(&capacity, &none, sizeof none));
                ASSERT(watched_clean(&memory));
            }
            ASSERT_EQ_FMT(ISPHPBD_OK, result, "%d");
            ASSERT(refuse > 1);
        }
    }
    PASS();
}

/* Skins, colliders, boundaries and everything else made in a solver use what it took at its creation: nothing is asked
   for. (Assets are read in place, or in scratch that the caller brings: there is no allocator to fail.) */
static void make_the_rest(ipbd_world *world, ipbd_body body, isph_fluid *fluid, int *made) {
    static const float corners[12] = {0.0f, 0.0f, 0.0f, 0.4f, 0.0f, 0.0f, 0.0f, 0.4f, 0.0f, 0.0f, 0.0f, 0.4f};
    static const uint32_t faces[12] = {0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3};
    static const float heights[9] = {0.0f, 0.1f, 0.0f, 0.1f, 0.0f, 0.1f, 0.0f, 0.1f, 0.0f};
    ipbd_collider_desc collider = ipbd_collider_desc_default();
    isph_boundary_desc wall = isph_boundary_desc_default();
    *made += ipbd_skin_create(world, body, corners, 12, 4, NULL).id != 0;
    collider.shape = ipbd_shape_mesh(corners, 4, faces, 4);
    *made += ipbd_collider_create(world, &collider, NULL).id != 0;
    collider.shape = ipbd_shape_convex(corners, 4, faces, 4);
    *made += ipbd_collider_create(world, &collider, NULL).id != 0;
    collider.shape = ipbd_shape_heightfield(heights, 3, 3, 0.5f);
    *made += ipbd_collider_create(world, &collider, NULL).id != 0;
    wall.shape = ISPH_SHAPE_MESH, wall.mesh.positions = corners, wall.mesh.stride_bytes = 12;
    wall.mesh.vertex_count = 4, wall.mesh.indices = faces, wall.mesh.index_count = 12;
    *made += isph_boundary_create(fluid, &wall, NULL).id != 0;
}
TEST skins_colliders_and_boundaries_ask_for_nothing(void) {
    watched_memory soft_memory, fluid_memory;
    ipbd_world_desc soft = soft_desc();
    isph_fluid_desc desc = fluid_desc();
    ipbd_body_desc cloth;
    isph_fluid *fluid;
    ipbd_world *world;
    ipbd_body body;
    shapes s;
    int made = 0, before[2];
    soft.allocator = watched_allocator(&soft_memory), desc.allocator = watched_allocator(&fluid_memory);
    world = ipbd_create(&soft, NULL), fluid = isph_fluid_create(&desc, NULL);
    ASSERT(world && fluid);
    cloth = body_of(&s, CLOTH);
    body = ipbd_body_create(world, &cloth, NULL);
    ASSERT(body.id != 0);
    before[0] = soft_memory.allocations, before[1] = fluid_memory.allocations;
    make_the_rest(world, body, fluid, &made);
    ASSERT_EQ_FMT(5, made, "%d");
    ASSERT_EQ_FMT(before[0], soft_memory.allocations, "%d");
    ASSERT_EQ_FMT(before[1], fluid_memory.allocations, "%d");
    ipbd_destroy(world), isph_fluid_destroy(fluid);
    ASSERT(watched_clean(&soft_memory) && watched_clean(&fluid_memory));
    PASS();
}

/* A heightfield of a world borrows memory for its triangles. */
TEST a_heightfield_may_lack_memory(void) {
    static const float heights[9] = {0.0f, 0.1f, 0.0f, 0.1f, 0.0f, 0.1f, 0.0f, 0.1f, 0.0f};
    watched_memory memory;
    isphpbd_world_desc desc = scene_desc();
    isphpbd_collider_desc ground = isphpbd_collider_desc_default();
    isphpbd_collider made = {0, 0};
    isphpbd_world *world;
    uint64_t before;
    int refuse = 0;
    desc.allocator = watched_allocator(&memory);
    world = isphpbd_world_create(&desc, NULL);
    ASSERT(world != NULL);
    before = isphpbd_world_hash(world);
    ground.shape = isphpbd_shape_heightfield(heights, 3, 3, 0.5f);
    while (!made.id && refuse++ < 20) {
        isphpbd_result why = ISPHPBD_RESULT_COUNT;
        memory.refuse = memory.allocations + refuse;
        made = isphpbd_collider_create(world, &ground, &why);
        ASSERT_EQ_FMT(made.id ? ISPHPBD_OK : ISPHPBD_OUT_OF_MEMORY, why, "%d");
        if (!made.id) ASSERT_EQ(before, isphpbd_world_hash(world));
        ASSERT_EQ(isphpbd_world_bytes(&desc), memory.live);
    }
    ASSERT(made.id != 0 && refuse > 1);
    isphpbd_world_destroy(world);
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
    RUN_TEST(a_world_lives_in_a_fixed_arena);
    RUN_TEST(bodies_of_all_kinds_may_lack_memory);
    RUN_TEST(measuring_a_body_may_lack_memory);
    RUN_TEST(skins_colliders_and_boundaries_ask_for_nothing);
    RUN_TEST(a_heightfield_may_lack_memory);
    RUN_TEST(soft_bodies_may_lack_memory);
    RUN_TEST(a_world_at_work_never_allocates_and_stays_inside);
    GREATEST_MAIN_END();
}
