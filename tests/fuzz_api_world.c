/* fuzz_api_world.c - any sequence of the calls of isphpbd.h, with hostile numbers, stale handles, handles of another
   world and full capacities. After each call: nothing non-finite to be seen, counts agree, memory is whole, what was
   refused changed nothing, and a snapshot restores the hash.

       clang -g -O1 -fsanitize=fuzzer,address,undefined -I. -Itests/support tests/fuzz_api_world.c -lm
       cc -g -O1 -DSTANDALONE -fsanitize=address,undefined -I. -Itests/support tests/fuzz_api_world.c -lm

   SPDX-License-Identifier: MIT */
#define ISPHPBD_STATIC
#include "isphpbd.h"

#include "fuzz_api.h"

enum { MOST_CALLS = 32, REMEMBERED = 8, VERTICES = 36, MOST = 4, PARTICLES = 160 };

typedef struct handle {
    uint32_t id, world;
} handle;

typedef struct api {
    fuzz_bytes in;
    fuzz_memory memory;
    isphpbd_world_desc desc;
    isphpbd_world *world;
    handle fluids[REMEMBERED], emitters[REMEMBERED], sinks[REMEMBERED], softs[REMEMBERED], colliders[REMEMBERED],
        bodies[REMEMBERED];
    float positions[3 * VERTICES];
    uint32_t indices[6 * VERTICES], pins[4];
    unsigned char *snapshot;
    size_t snapshot_size;
    uint64_t ticks;
    uint32_t noise; /* what on_substep does: it is called too often to take from the bytes; 0: nothing */
    uint32_t skins[REMEMBERED];
} api;

static handle remembered(api *a, const handle *list) {
    handle h = list[take_below(&a->in, REMEMBERED)];
    if (take_malice(&a->in)) h.id = take_word(&a->in);
    if (take_malice(&a->in)) h.world = take_word(&a->in);
    return h;
}
static void remember(api *a, handle *list, uint32_t id, uint32_t world) {
    handle *h = &list[take_below(&a->in, REMEMBERED)];
    h->id = id, h->world = world;
}
/* A handle of the type wanted from one of the lists. */
#define SOME(type, list) \
    static type some_##list(api *a) { \
        handle h = remembered(a, a->list##s); \
        type t; \
        t.id = h.id, t.world = h.world; \
        return t; \
    }
SOME(isphpbd_fluid, fluid)
SOME(isphpbd_emitter, emitter)
SOME(isphpbd_sink, sink)
SOME(isphpbd_soft, soft)
SOME(isphpbd_collider, collider)
#undef SOME
static isphpbd_body some_body(api *a) {
    handle h = remembered(a, a->bodies);
    isphpbd_body b;
    b.id = h.id, b.world = h.world;
    return b;
}

static isphpbd_pose some_pose(api *a) {
    isphpbd_pose pose = isphpbd_pose_at(take_vec3(&a->in));
    if (take_bool(&a->in)) pose.rotation = take_quat(&a->in);
    return pose;
}
static isphpbd_motion some_motion(api *a) {
    isphpbd_motion m = isphpbd_motion_at(take_vec3(&a->in));
    m.pose = some_pose(a);
    if (take_bool(&a->in)) m.linear_velocity = take_vec3(&a->in), m.angular_velocity = take_vec3(&a->in);
    return m;
}
static isphpbd_surface some_surface(api *a, isphpbd_surface usual) {
    isphpbd_surface s = usual;
    if (take_malice(&a->in)) s.slip = take_size(&a->in, 1.0f);
    if (take_malice(&a->in)) s.restitution = take_size(&a->in, 1.0f);
    if (take_malice(&a->in)) s.friction = take_size(&a->in, 2.0f);
    return s;
}

static void some_substep(const isphpbd_world *world, float seconds, void *user);

/* ---- creation --------------------------------------------------------------------------------------------------- */

static isphpbd_budget some_budget(api *a, isphpbd_budget usual) {
    isphpbd_budget b = usual;
    int *numbers[6];
    numbers[0] = &b.steps_per_advance, numbers[1] = &b.substeps, numbers[2] = &b.pressure_iterations;
    numbers[3] = &b.soft_substeps, numbers[4] = &b.constraint_iterations, numbers[5] = &b.outer_iterations;
    for (int i = 0; i < 6; i++) {
        if (!take_malice(&a->in)) continue;
        *numbers[i] = take_count(&a->in, 4);
        if (*numbers[i] > 8 && *numbers[i] < 70000) *numbers[i] = 8; /* patience */
    }
    if (take_malice(&a->in)) b.deadline_seconds = take_size(&a->in, 0.001f);
    return b;
}
static uint64_t some_clock(void *user) { return ((api *)user)->ticks += 20000; } /* each look takes 20 microseconds */

static isphpbd_world_desc some_desc(api *a) {
    static const int soft[16] = {MOST, 128, 128, 256, 1024, 256, 256, 256, 256, 32, 8, 64, 128, 256, 2, 32};
    isphpbd_world_desc d = isphpbd_world_desc_default();
    memcpy(&d.capacity.soft, soft, sizeof soft);
    d.capacity.fluid_particles = PARTICLES, d.capacity.mesh_triangles = 64;
    d.capacity.fluids = d.capacity.emitters = d.capacity.sinks = d.capacity.colliders = d.capacity.bodies = MOST;
    d.spacing = 0.1f, d.budget.substeps = 3, d.budget.soft_substeps = 3;
    d.interpolation = !take_malice(&a->in);
    if (take_bool(&a->in)) d.clock.fn = some_clock, d.clock.user = a;
    d.on_substep.fn = some_substep, d.on_substep.user = a;
    d.rigid_scheme = (isphpbd_rigid_scheme)(take_below(&a->in, 4) == 0);
    d.budget = some_budget(a, d.budget);
    if (take_malice(&a->in)) d.gravity = take_vec3(&a->in), d.wind = take_vec3(&a->in);
    if (take_malice(&a->in)) d.step_seconds = take_size(&a->in, 0.1f);
    if (take_malice(&a->in)) d.spacing = take_size(&a->in, 0.2f);
    if (take_malice(&a->in)) d.support = 1.8f + take_size(&a->in, 1.4f);
    if (take_malice(&a->in)) d.tolerance = take_size(&a->in, 1.0f), d.coupling_tolerance = take_size(&a->in, 0.1f);
    if (take_malice(&a->in)) d.ticks_per_second = (double)take_float(&a->in);
    if (take_malice(&a->in)) d.capacity.fluid_particles = take_count(&a->in, PARTICLES);
    if (take_malice(&a->in)) d.capacity.fluids = take_count(&a->in, MOST);
    if (take_malice(&a->in)) d.capacity.colliders = take_count(&a->in, MOST);
    if (take_malice(&a->in)) d.capacity.bodies = take_count(&a->in, MOST);
    if (take_malice(&a->in)) d.capacity.mesh_triangles = take_count(&a->in, 64);
    if (take_malice(&a->in)) d.capacity.soft.contacts = take_count(&a->in, 100);
    if (take_malice(&a->in)) d.capacity.soft.vertices = take_count(&a->in, 200);
    if (take_malice(&a->in)) d.cookie = take_word(&a->in);
    return d;
}
static bool begin(api *a) {
    isphpbd_result why = ISPHPBD_RESULT_COUNT;
    size_t bytes;
    a->desc = some_desc(a);
    a->desc.allocator = fuzz_allocator(&a->memory);
    bytes = isphpbd_world_bytes(&a->desc);
    a->world = isphpbd_world_create(&a->desc, &why);
    DEMAND((a->world != NULL) == (why == ISPHPBD_OK));
    DEMAND(why == ISPHPBD_OK || (why == ISPHPBD_BAD_DESC) == (bytes == 0));
    if (a->world) DEMAND(a->memory.watched.live == bytes);
    return a->world != NULL;
}

/* ---- calls: each answers whether it may have changed the world --------------------------------------------------- */

static bool call_fluid(api *a) {
    isphpbd_fluid_desc d = isphpbd_fluid_desc_default();
    isphpbd_result why = ISPHPBD_RESULT_COUNT;
    isphpbd_fluid fluid;
    if (take_malice(&a->in)) d.material.density = take_size(&a->in, 10000.0f);
    if (take_malice(&a->in)) d.material.viscosity = take_size(&a->in, 100.0f);
    if (take_malice(&a->in)) d.layer = take_word(&a->in), d.mask = take_word(&a->in);
    if (take_malice(&a->in)) d.cookie = take_word(&a->in);
    fluid = isphpbd_fluid_create(a->world, take_malice(&a->in) ? NULL : &d, &why);
    DEMAND((fluid.id != 0) == (why == ISPHPBD_OK));
    remember(a, a->fluids, fluid.id, fluid.world);
    return fluid.id != 0;
}
static bool call_add(api *a) {
    isphpbd_fluid fluid = some_fluid(a);
    isphpbd_vec3 lo = take_vec3(&a->in), hi = take_vec3(&a->in);
    int added = 0, count = take_below(&a->in, 13);
    if (take_bool(&a->in)) {
        const float *positions, *velocities;
        for (int i = 0; i < 36; i++) a->positions[i] = take_float(&a->in);
        positions = take_malice(&a->in) ? NULL : a->positions;
        velocities = take_bool(&a->in) ? a->positions : NULL;
        if (take_malice(&a->in)) count = -count;
        return isphpbd_fluid_add(a->world, fluid, positions, 12, velocities, 12, count, NULL) == ISPHPBD_OK;
    }
    if (take_bool(&a->in))
        hi = isphpbd_v3(lo.x + 0.5f * fabsf(hi.x), lo.y + 0.5f * fabsf(hi.y), lo.z + 0.5f * fabsf(hi.z));
    return isphpbd_fluid_add_box(a->world, fluid, lo, hi, take_vec3(&a->in), &added) == ISPHPBD_OK;
}
static bool call_more_fluid(api *a) {
    isphpbd_fluid fluid = some_fluid(a);
    isphpbd_soft soft;
    int added = 0;
    if (take_malice(&a->in)) return isphpbd_fluid_clear(a->world, fluid) > 0;
    soft = some_soft(a);
    return isphpbd_fluid_fill_soft(a->world, fluid, soft, take_size(&a->in, 0.1f), &added) == ISPHPBD_OK;
}
static bool call_emitter(api *a) {
    isphpbd_emitter_desc d = isphpbd_emitter_desc_default();
    isphpbd_result why = ISPHPBD_RESULT_COUNT;
    isphpbd_emitter emitter;
    d.fluid = some_fluid(a), d.position = take_vec3(&a->in);
    if (take_bool(&a->in)) d.direction = take_vec3(&a->in);
    d.radius = take_size(&a->in, 0.3f), d.half_width = take_size(&a->in, 0.3f), d.half_height = take_size(&a->in, 0.3f);
    d.speed = take_size(&a->in, 5.0f), d.lifetime = take_size(&a->in, 1.0f), d.duration = take_size(&a->in, 1.0f);
    if (take_malice(&a->in)) d.cookie = take_word(&a->in);
    emitter = isphpbd_emitter_create(a->world, &d, &why);
    DEMAND((emitter.id != 0) == (why == ISPHPBD_OK));
    remember(a, a->emitters, emitter.id, emitter.world);
    return emitter.id != 0;
}
static bool call_change_emitter(api *a) {
    isphpbd_emitter emitter = some_emitter(a);
    isphpbd_vec3 position, direction;
    DEMAND(isphpbd_emitter_count(a->world, emitter) >= 0);
    if (take_malice(&a->in)) return isphpbd_emitter_destroy(a->world, emitter) == ISPHPBD_OK;
    position = take_vec3(&a->in), direction = take_vec3(&a->in);
    return isphpbd_emitter_set(a->world, emitter, position, direction, take_size(&a->in, 5.0f)) == ISPHPBD_OK;
}

static isphpbd_shape some_mesh_shape(api *a, bool solid) {
    static const uint32_t faces[12] = {0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3};
    static const float corners[12] = {-0.3f, -0.2f, -0.2f, 0.4f, -0.2f, -0.2f, 0, 0.4f, -0.1f, 0, 0, 0.4f};
    const float *positions;
    int vertices = 4, count = 4;
    memcpy(a->positions, corners, sizeof corners);
    memcpy(a->indices, faces, sizeof faces);
    take_damage(&a->in, a->positions, 12);
    while (take_malice(&a->in)) {
        uint32_t index = take_byte(&a->in) % 5u;
        a->indices[take_below(&a->in, 12)] = index;
    }
    if (take_malice(&a->in)) vertices = take_below(&a->in, 5), count = take_below(&a->in, 5);
    positions = take_malice(&a->in) ? NULL : a->positions;
    if (take_malice(&a->in)) count = -count;
    return (solid ? isphpbd_shape_solid : isphpbd_shape_shell)(positions, vertices, a->indices, count);
}
static isphpbd_shape some_shape(api *a) {
    float size = take_size(&a->in, 0.8f);
    switch (take_below(&a->in, 8)) {
        case 0: return isphpbd_shape_plane();
        case 1: return isphpbd_shape_sphere(size);
        case 2: return isphpbd_shape_capsule(size, take_size(&a->in, 0.5f));
        case 3: {
            float height = take_size(&a->in, 0.8f);
            return isphpbd_shape_box(size, height, take_size(&a->in, 0.8f));
        }
        case 4: return some_mesh_shape(a, false);
        case 5: return some_mesh_shape(a, true);
        case 6: {
            int columns = take_below(&a->in, 7), rows = take_below(&a->in, 7);
            for (int i = 0; i < 36; i++) a->positions[i] = take_float(&a->in);
            return isphpbd_shape_heightfield(take_malice(&a->in) ? NULL : a->positions, columns, rows, size);
        }
        default: {
            isphpbd_shape s = isphpbd_shape_plane();
            s.type = (isphpbd_shape_type)take_byte(&a->in);
            return s;
        }
    }
}
static bool call_sink(api *a) {
    isphpbd_result why = ISPHPBD_RESULT_COUNT;
    isphpbd_shape shape = some_shape(a);
    const isphpbd_shape *given = take_malice(&a->in) ? NULL : &shape;
    isphpbd_pose pose = some_pose(a);
    uint32_t mask = take_malice(&a->in) ? take_word(&a->in) : ~0u;
    isphpbd_sink sink = isphpbd_sink_create(a->world, given, pose, mask, &why);
    DEMAND((sink.id != 0) == (why == ISPHPBD_OK));
    remember(a, a->sinks, sink.id, sink.world);
    return sink.id != 0;
}
static bool call_sink_destroy(api *a) {
    isphpbd_sink sink = some_sink(a);
    DEMAND(isphpbd_sink_count(a->world, sink) >= 0);
    return isphpbd_sink_destroy(a->world, sink) == ISPHPBD_OK;
}
static bool call_collider(api *a) {
    isphpbd_collider_desc d = isphpbd_collider_desc_default();
    isphpbd_result why = ISPHPBD_RESULT_COUNT;
    isphpbd_collider collider;
    d.shape = some_shape(a), d.pose = some_pose(a), d.container = take_bool(&a->in);
    d.surface = some_surface(a, d.surface);
    if (take_malice(&a->in)) d.layer = take_word(&a->in), d.mask = take_word(&a->in);
    if (take_malice(&a->in)) d.cookie = take_word(&a->in);
    collider = isphpbd_collider_create(a->world, take_malice(&a->in) ? NULL : &d, &why);
    DEMAND((collider.id != 0) == (why == ISPHPBD_OK));
    remember(a, a->colliders, collider.id, collider.world);
    return collider.id != 0;
}
static bool call_change_collider(api *a) {
    isphpbd_collider collider = some_collider(a);
    isphpbd_impulse push;
    isphpbd_result result;
    isphpbd_pose pose;
    switch (take_below(&a->in, 5)) {
        case 0: return isphpbd_collider_move(a->world, collider, some_pose(a)) == ISPHPBD_OK;
        case 1: return isphpbd_collider_teleport(a->world, collider, some_pose(a)) == ISPHPBD_OK;
        case 2: return isphpbd_collider_destroy(a->world, collider) == ISPHPBD_OK;
        case 3:
            if (isphpbd_collider_pose(a->world, collider, &pose) == ISPHPBD_OK) DEMAND(finite3(pose.position));
            return false;
        default:
            result = isphpbd_collider_take(a->world, collider, &push);
            if (result == ISPHPBD_OK) DEMAND(finite3(push.linear) && finite3(push.angular));
            return result == ISPHPBD_OK;
    }
}
static bool call_body(api *a) {
    isphpbd_body_desc d = isphpbd_body_desc_default();
    isphpbd_result why = ISPHPBD_RESULT_COUNT;
    isphpbd_body body;
    d.shape = some_shape(a), d.motion = some_motion(a);
    d.mass = take_size(&a->in, 50.0f), d.one_way = take_malice(&a->in);
    if (take_bool(&a->in)) {
        d.inertia.x = take_size(&a->in, 1.0f), d.inertia.y = take_size(&a->in, 1.0f), d.inertia.z = 0.5f;
    }
    d.surface = some_surface(a, d.surface);
    if (take_malice(&a->in)) d.gravity_scale = take_float(&a->in);
    if (take_malice(&a->in)) d.layer = take_word(&a->in), d.mask = take_word(&a->in);
    if (take_malice(&a->in)) d.cookie = take_word(&a->in);
    body = isphpbd_body_create(a->world, take_malice(&a->in) ? NULL : &d, &why);
    DEMAND((body.id != 0) == (why == ISPHPBD_OK));
    remember(a, a->bodies, body.id, body.world);
    return body.id != 0;
}
static bool call_many_bodies(api *a) {
    isphpbd_body bodies[3];
    isphpbd_motion motions[3];
    isphpbd_impulse pushes[3];
    for (int i = 0; i < 3; i++) bodies[i] = some_body(a), motions[i] = some_motion(a);
    if (take_bool(&a->in)) return isphpbd_bodies_put(a->world, bodies, motions, take_below(&a->in, 4)) == ISPHPBD_OK;
    memset(pushes, 0, sizeof pushes);
    (void)isphpbd_bodies_take(a->world, bodies, pushes, take_below(&a->in, 4));
    for (int i = 0; i < 3; i++) DEMAND(finite3(pushes[i].linear) && finite3(pushes[i].angular));
    return true;
}
static bool call_change_body(api *a) {
    isphpbd_body body = some_body(a);
    isphpbd_motion motion;
    isphpbd_impulse push;
    isphpbd_result result;
    float mass;
    switch (take_below(&a->in, 6)) {
        case 0:
        case 1:
            motion = some_motion(a);
            return isphpbd_body_put(a->world, body, take_malice(&a->in) ? NULL : &motion) == ISPHPBD_OK;
        case 2:
            result = isphpbd_body_take(a->world, body, &push);
            if (result == ISPHPBD_OK) DEMAND(finite3(push.linear) && finite3(push.angular));
            return result == ISPHPBD_OK;
        case 3:
            if (isphpbd_body_predicted(a->world, body, &motion) == ISPHPBD_OK)
                DEMAND(finite3(motion.pose.position) && finite3(motion.linear_velocity));
            return false;
        case 4:
            mass = take_size(&a->in, 50.0f);
            return isphpbd_body_set_mass(a->world, body, mass, take_vec3(&a->in)) == ISPHPBD_OK;
        default: return isphpbd_body_destroy(a->world, body) == ISPHPBD_OK;
    }
}

static void some_soft_mesh(api *a, ipbd_mesh *mesh) {
    static const uint32_t faces[12] = {0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3};
    static const float corners[12] = {0, 0, 0, 0.5f, 0, 0, 0, 0.5f, 0, 0, 0, 0.5f};
    int n = 2 + take_below(&a->in, 4);
    mesh->positions = a->positions;
    switch (take_below(&a->in, 3)) {
        case 0:
            mesh->triangle_count = ipbd_grid(n, n, 1.0f, 1.0f, a->positions, a->indices);
            mesh->triangles = a->indices, mesh->vertex_count = n * n;
            break;
        case 1:
            mesh->tetrahedron_count = ipbd_block(1, 1, 1, isphpbd_v3(0.4f, 0.4f, 0.4f), a->positions, a->indices);
            mesh->tetrahedra = a->indices, mesh->vertex_count = 8;
            break;
        default:
            memcpy(a->positions, corners, sizeof corners);
            memcpy(a->indices, faces, sizeof faces);
            mesh->triangles = a->indices, mesh->triangle_count = 4, mesh->vertex_count = 4;
            break;
    }
    take_damage(&a->in, a->positions, 3 * VERTICES);
    if (take_malice(&a->in)) {
        uint32_t index = take_byte(&a->in) % 9u;
        a->indices[take_below(&a->in, 12)] = index;
    }
}
static bool call_soft(api *a) {
    isphpbd_soft_desc d = isphpbd_soft_desc_default();
    isphpbd_result why = ISPHPBD_RESULT_COUNT;
    isphpbd_soft soft;
    d.body = ipbd_body_desc_preset((ipbd_preset)take_below(&a->in, IPBD_PRESET_COUNT));
    some_soft_mesh(a, &d.body.mesh);
    d.body.pose.position = take_vec3(&a->in);
    d.body.self_collision = take_bool(&a->in), d.body.soft_collision = take_bool(&a->in);
    d.wet = !take_malice(&a->in), d.surface = some_surface(a, d.surface);
    if (take_bool(&a->in)) a->pins[0] = take_byte(&a->in) % 5u, d.body.pinned = a->pins, d.body.pinned_count = 1;
    if (take_malice(&a->in)) d.body.layer = take_word(&a->in), d.body.mask = take_word(&a->in);
    if (take_malice(&a->in)) d.body.density = take_size(&a->in, 1000.0f), d.body.velocity = take_vec3(&a->in);
    if (take_malice(&a->in)) d.body.wind_drag = take_size(&a->in, 2.0f), d.body.thickness = take_size(&a->in, 0.1f);
    if (take_malice(&a->in)) d.cookie = take_word(&a->in);
    soft = isphpbd_soft_create(a->world, take_malice(&a->in) ? NULL : &d, &why);
    DEMAND((soft.id != 0) == (why == ISPHPBD_OK));
    remember(a, a->softs, soft.id, soft.world);
    return soft.id != 0;
}
static bool call_change_soft(api *a) {
    isphpbd_soft soft = some_soft(a);
    ipbd_world *softs = isphpbd_world_softs(a->world);
    ipbd_body body = isphpbd_soft_body(a->world, soft);
    int vertex = take_count(&a->in, 12);
    switch (take_below(&a->in, 7)) {
        case 0: return isphpbd_soft_attach_body(a->world, soft, vertex, some_body(a)) == ISPHPBD_OK;
        case 1: return isphpbd_soft_attach_collider(a->world, soft, vertex, some_collider(a)) == ISPHPBD_OK;
        case 2: return isphpbd_soft_destroy(a->world, soft) == ISPHPBD_OK;
        case 3: return ipbd_pin(softs, body, vertex) == ISPHPBD_OK;
        case 4: return ipbd_pin_move(softs, body, vertex, take_vec3(&a->in)) == ISPHPBD_OK;
        case 5: return ipbd_unpin(softs, body, vertex) == ISPHPBD_OK;
        default: return ipbd_body_add_velocity(softs, body, take_vec3(&a->in)) == ISPHPBD_OK;
    }
}

/* ---- calls of the solvers inside: each answers whether it did anything ------------------------------------------- */

static ipbd_body inner_body(api *a) {
    ipbd_body body;
    isphpbd_soft soft = some_soft(a);
    body.id = take_malice(&a->in) ? take_word(&a->in) & 0x3000fu : isphpbd_soft_body(a->world, soft).id;
    return body;
}
static ipbd_pose inner_pose(api *a) {
    const isphpbd_pose pose = some_pose(a);
    ipbd_pose out;
    out.position = pose.position, out.rotation = pose.rotation;
    return out;
}
static bool inner_body_call(api *a, ipbd_world *softs) {
    const ipbd_body body = inner_body(a);
    const isphpbd_vec3 v = take_vec3(&a->in);
    const float number = take_size(&a->in, 3.0f);
    ipbd_body_desc desc = ipbd_body_desc_default();
    switch (take_below(&a->in, 8)) {
        case 0: return ipbd_body_teleport(softs, body, v, inner_pose(a)) == ISPHPBD_OK;
        case 1: return ipbd_body_reset(softs, body) == ISPHPBD_OK;
        case 2: return ipbd_body_set_pressure(softs, body, number, 1000.0f * v.x) == ISPHPBD_OK;
        case 3: return ipbd_body_set_gravity_scale(softs, body, v.x) == ISPHPBD_OK;
        case 4: return ipbd_body_add_velocity(softs, body, v) == ISPHPBD_OK;
        case 5: return ipbd_body_wake(softs, body) == ISPHPBD_OK;
        case 6: return ipbd_body_destroy(softs, body) == ISPHPBD_OK;
        default:
            desc.mesh.positions = a->positions, desc.mesh.vertex_count = 9, desc.mesh.triangles = a->indices;
            desc.mesh.triangle_count = ipbd_grid(3, 3, 0.3f, 0.3f, a->positions, a->indices);
            return ipbd_body_create(softs, &desc, NULL).id != 0;
    }
}
static bool inner_vertex_call(api *a, ipbd_world *softs) {
    const ipbd_body body = inner_body(a);
    const int vertex = take_count(&a->in, 36);
    const float number = take_size(&a->in, 3.0f);
    ipbd_skin skin;
    ipbd_collider collider;
    collider.id = take_malice(&a->in) ? take_word(&a->in) : (uint32_t)(1 + take_below(&a->in, 8)) | 1u << 16;
    skin.id = a->skins[take_below(&a->in, REMEMBERED)];
    switch (take_below(&a->in, 8)) {
        case 0: return ipbd_vertex_set_mass(softs, body, vertex, number) == ISPHPBD_OK;
        case 1: return ipbd_vertex_add_impulse(softs, body, vertex, take_vec3(&a->in)) == ISPHPBD_OK;
        case 2: return ipbd_attach(softs, body, vertex, collider) == ISPHPBD_OK;
        case 3: return ipbd_pin(softs, body, vertex) == ISPHPBD_OK;
        case 4: return ipbd_pin_move(softs, body, vertex, take_vec3(&a->in)) == ISPHPBD_OK;
        case 5: return ipbd_unpin(softs, body, vertex) == ISPHPBD_OK;
        case 6: return ipbd_skin_destroy(softs, skin) == ISPHPBD_OK;
        default:
            for (int i = 0; i < 12; i++) a->positions[i] = take_float(&a->in);
            skin = ipbd_skin_create(softs, body, a->positions, 12, 4, NULL);
            a->skins[take_below(&a->in, REMEMBERED)] = skin.id;
            return skin.id != 0;
    }
}
static bool inner_collider_call(api *a, ipbd_world *softs) {
    ipbd_collider_desc desc = ipbd_collider_desc_default();
    ipbd_collider collider;
    isphpbd_vec3 v = take_vec3(&a->in), w;
    collider.id = (uint32_t)(1 + take_below(&a->in, 8)) | 1u << 16;
    switch (take_below(&a->in, 6)) {
        case 0: return ipbd_collider_destroy(softs, collider) == ISPHPBD_OK;
        case 1: return ipbd_collider_move(softs, collider, inner_pose(a)) == ISPHPBD_OK;
        case 2: return ipbd_collider_teleport(softs, collider, inner_pose(a)) == ISPHPBD_OK;
        case 3: return ipbd_collider_set_mass(softs, collider, take_size(&a->in, 3.0f), v) == ISPHPBD_OK;
        case 4: return ipbd_collider_take_impulse(softs, collider, &v, &w) == ISPHPBD_OK;
        default: return ipbd_collider_create(softs, &desc, NULL).id != 0;
    }
}
static bool inner_softs_call(api *a, ipbd_world *softs) {
    const isphpbd_vec3 v = take_vec3(&a->in);
    switch (take_below(&a->in, 10)) {
        case 0: return ipbd_set_budget(softs, take_below(&a->in, 4), 1) == ISPHPBD_OK;
        case 1: return ipbd_set_wind(softs, v) == ISPHPBD_OK;
        case 2: return ipbd_set_gravity(softs, v) == ISPHPBD_OK;
        case 3: return ipbd_shift_origin(softs, v) == ISPHPBD_OK;
        case 4: return ipbd_step_begin(softs, 0.01f, 2) == ISPHPBD_OK;
        case 5: return ipbd_substep_predict(softs) == ISPHPBD_OK;
        case 6: return ipbd_substep_iterate(softs) == ISPHPBD_OK;
        case 7: return ipbd_substep_end(softs) == ISPHPBD_OK;
        case 8: return ipbd_set_owner(softs, NULL, a) == ISPHPBD_OK;
        default: return ipbd_step_finish(softs).result == ISPHPBD_OK;
    }
}
static bool inner_edit(void *user, isph_particle *p) {
    api *a = (api *)user;
    const uint8_t what = take_byte(&a->in);
    isph_fluid_destroy(isphpbd_world_fluids(a->world)), isphpbd_world_destroy(a->world);
    DEMAND(isph_fluid_set_gravity(isphpbd_world_fluids(a->world), p->position) == ISPHPBD_LOCKED);
    if (what & 1) p->position = take_vec3(&a->in);
    if (what & 2) p->velocity = take_vec3(&a->in);
    if (what & 4) p->user = take_word(&a->in);
    return (what & 8) != 0;
}
static bool inner_gone(void *user, const isph_particle *p) {
    (void)p;
    return take_byte(&((api *)user)->in) > 235;
}
static bool inner_particles_call(api *a, isph_fluid *fluids) {
    const isphpbd_vec3 v = take_vec3(&a->in);
    uint32_t ids[8];
    isph_material material;
    material.id = (uint32_t)take_below(&a->in, 5);
    for (int i = 0; i < 8; i++) ids[i] = take_byte(&a->in);
    for (int i = 0; i < 24; i++) a->positions[i] = take_float(&a->in);
    switch (take_below(&a->in, 5)) {
        case 0: return isph_particles_add(fluids, material, a->positions, 12, a->positions, 12, 8, ids) == ISPHPBD_OK;
        case 1:
            return isph_particles_add_box(fluids, material, v, isphpbd_v3(v.x + 0.3f, v.y + 0.2f, v.z + 0.1f), v,
                                          NULL) == ISPHPBD_OK;
        case 2: return isph_particles_remove(fluids, ids, 8) > 0;
        case 3: return isph_particles_remove_if(fluids, inner_gone, a) > 0;
        default: return isph_particles_edit(fluids, inner_edit, a) > 0;
    }
}
static bool inner_fluid_call(api *a, isph_fluid *fluids) {
    const isphpbd_vec3 v = take_vec3(&a->in);
    isph_material_desc oil = isph_material_desc_oil();
    switch (take_below(&a->in, 10)) {
        case 0: return isph_fluid_set_gravity(fluids, v) == ISPHPBD_OK;
        case 1: return isph_fluid_set_budget(fluids, 8, 2, take_size(&a->in, 0.5f)) == ISPHPBD_OK;
        case 2: return isph_fluid_set_solver_enabled(fluids, take_bool(&a->in)) == ISPHPBD_OK;
        case 3: return isph_fluid_shift_origin(fluids, v) == ISPHPBD_OK;
        case 4: return isph_material_create(fluids, &oil, NULL).id != 0;
        case 5: return isph_fluid_substep_begin(fluids, 0.005f) == ISPHPBD_OK;
        case 6: return isph_fluid_substep_abandon(fluids) == ISPHPBD_OK;
        case 7: return isph_fluid_substep_hurry(fluids) == ISPHPBD_OK;
        case 8: return isph_fluid_set_owner(fluids, NULL, a) == ISPHPBD_OK;
        default: return isph_fluid_substep_continue(fluids, NULL, NULL);
    }
}
static bool inner_boundary_call(api *a, isph_fluid *fluids) {
    isph_boundary_desc desc = isph_boundary_desc_default();
    isph_boundary boundary;
    isphpbd_vec3 v = take_vec3(&a->in), w = v;
    const isphpbd_quat q = take_quat(&a->in);
    boundary.id = (uint32_t)(1 + take_below(&a->in, 8)) | 1u << 16;
    switch (take_below(&a->in, 6)) {
        case 0: return isph_boundary_destroy(fluids, boundary) == ISPHPBD_OK;
        case 1: return isph_boundary_set_mass(fluids, boundary, take_size(&a->in, 3.0f), v) == ISPHPBD_OK;
        case 2: return isph_boundary_set_material_mask(fluids, boundary, take_word(&a->in)) == ISPHPBD_OK;
        case 3: return isph_boundary_set_motion(fluids, boundary, v, q, v, w) == ISPHPBD_OK;
        case 4: return isph_boundary_take_impulse(fluids, boundary, &v, &w) == ISPHPBD_OK;
        default:
            desc.shape = ISPH_SHAPE_SPHERE, desc.position = v;
            return isph_boundary_create(fluids, &desc, NULL).id != 0;
    }
}
/* What is the world's is refused; what is not may do something. */
static bool call_inner(api *a) {
    isph_fluid *fluids = isphpbd_world_fluids(a->world);
    ipbd_world *softs = isphpbd_world_softs(a->world);
    switch (take_below(&a->in, 8)) {
        case 0:
        case 1: return inner_body_call(a, softs);
        case 2: return inner_vertex_call(a, softs);
        case 3: DEMAND(!inner_collider_call(a, softs)); return false;
        case 4: return inner_softs_call(a, softs);
        case 5: return inner_particles_call(a, fluids);
        case 6: return inner_fluid_call(a, fluids);
        default: return inner_boundary_call(a, fluids);
    }
}
/* In a callback nothing may be changed by whatever call: its bytes are noise. */
static void some_substep(const isphpbd_world *world, float seconds, void *user) {
    api *a = (api *)user;
    const fuzz_bytes kept = a->in;
    uint8_t bytes[128];
    DEMAND(world == a->world && seconds > 0.0f);
    if (!a->noise) return;
    for (int i = 0; i < 128; i++) {
        a->noise ^= a->noise << 13, a->noise ^= a->noise >> 17, a->noise ^= a->noise << 5;
        bytes[i] = (uint8_t)(a->noise >> 9);
    }
    a->in.at = bytes, a->in.end = bytes + 128;
    DEMAND(!call_inner(a));
    DEMAND(isphpbd_world_set_wind(a->world, take_vec3(&a->in)) == ISPHPBD_LOCKED);
    DEMAND(isphpbd_world_step(a->world, 0.01f).flags & ISPHPBD_STEP_REFUSED);
    isphpbd_world_destroy(a->world);
    (void)isphpbd_world_stats(world), (void)isphpbd_fluid_points(world), (void)isphpbd_world_hash(world);
    a->in = kept;
}
static bool call_noise(api *a) {
    a->noise = take_word(&a->in);
    return false;
}
static bool call_index(api *a) {
    const isphpbd_fluid fluid = some_fluid(a);
    const int index = isphpbd_fluid_index(a->world, fluid);
    DEMAND(index >= -1 && index < a->desc.capacity.fluids);
    DEMAND(isphpbd_version() == ISPHPBD_VERSION);
    return false;
}

/* What belongs to the world is refused by the solvers inside. */
static bool call_inside(api *a) {
    isph_fluid *fluids = isphpbd_world_fluids(a->world);
    ipbd_world *softs = isphpbd_world_softs(a->world);
    isphpbd_result why = ISPHPBD_OK;
    (void)isph_fluid_step(fluids, 0.01f, &why);
    DEMAND(why == ISPHPBD_LOCKED && ipbd_step(softs, 0.01f).result == ISPHPBD_LOCKED);
    DEMAND(isph_fluid_load(fluids, a, 100) == ISPHPBD_LOCKED && ipbd_load(softs, a, 100) == ISPHPBD_LOCKED);
    DEMAND(ipbd_set_hooks(softs, NULL) == ISPHPBD_LOCKED && isph_fluid_set_coupler(fluids, NULL) == ISPHPBD_LOCKED);
    isph_fluid_destroy(fluids), ipbd_destroy(softs);
    return false;
}
static bool call_settings(api *a) {
    isphpbd_budget budget;
    switch (take_below(&a->in, 4)) {
        case 0: return isphpbd_world_set_gravity(a->world, take_vec3(&a->in)) == ISPHPBD_OK;
        case 1: return isphpbd_world_set_wind(a->world, take_vec3(&a->in)) == ISPHPBD_OK;
        case 2:
            budget = some_budget(a, a->desc.budget);
            return isphpbd_world_set_budget(a->world, take_malice(&a->in) ? NULL : &budget) == ISPHPBD_OK;
        default: return isphpbd_world_shift_origin(a->world, take_vec3(&a->in)) == ISPHPBD_OK;
    }
}
static bool call_step(api *a) {
    float seconds = take_size(&a->in, 0.05f);
    isphpbd_step_info info =
        take_bool(&a->in) ? isphpbd_world_step(a->world, seconds) : isphpbd_world_advance(a->world, seconds);
    DEMAND(info.steps >= 0 && info.alpha >= 0.0f && info.alpha <= 1.0f && info.dropped_seconds >= 0.0f);
    DEMAND(!(info.flags & ISPHPBD_STEP_REFUSED) || info.steps == 0);
    return !(info.flags & ISPHPBD_STEP_REFUSED);
}

static void save(api *a) {
    size_t size = isphpbd_world_save(a->world, NULL, 0);
    free(a->snapshot);
    a->snapshot = (unsigned char *)malloc(size + 1);
    if (!a->snapshot) abort();
    a->snapshot[size] = 0xE7;
    a->snapshot_size = isphpbd_world_save(a->world, a->snapshot, size);
    DEMAND(a->snapshot_size == size && a->snapshot[size] == 0xE7);
}
static bool call_snapshot(api *a) {
    uint64_t hash;
    if (a->snapshot && take_bool(&a->in)) { /* an older one, perhaps damaged */
        if (take_malice(&a->in) && a->snapshot_size > 0) {
            size_t at = take_word(&a->in) % a->snapshot_size;
            a->snapshot[at] = (unsigned char)(a->snapshot[at] ^ (1u << take_below(&a->in, 8)));
        }
        return isphpbd_world_load(a->world, a->snapshot, a->snapshot_size) == ISPHPBD_OK;
    }
    save(a);
    DEMAND(isphpbd_world_load(a->world, a->snapshot, a->snapshot_size) == ISPHPBD_OK);
    hash = isphpbd_world_hash(a->world);
    save(a);
    DEMAND(isphpbd_world_load(a->world, a->snapshot, a->snapshot_size) == ISPHPBD_OK);
    DEMAND(isphpbd_world_hash(a->world) == hash);
    return true; /* an unfinished step is as if not begun, so the first time it may differ */
}
static void draw_points(const isphpbd_vec3 *xyz, const uint32_t *rgba, int count, float radius, void *user) {
    (void)user;
    DEMAND(count > 0 && count <= 256 && isfinite(radius) && finite_rows(&xyz->x, 12, count) && rgba[count - 1] != 7u);
}
static void draw_lines(const isphpbd_vec3 *pairs, const uint32_t *rgba, int count, void *user) {
    (void)user;
    DEMAND(count > 0 && count <= 256 && finite_rows(&pairs->x, 12, 2 * count) && rgba[0] != 7u);
}
static void draw_triangles(const isphpbd_vec3 *xyz, const uint32_t *rgba, int count, void *user) {
    (void)user;
    DEMAND(count > 0 && count <= 256 && finite_rows(&xyz->x, 12, 3 * count) && rgba[0] != 7u);
}
static bool call_draw(api *a) {
    isphpbd_debug_draw draw;
    memset(&draw, 0, sizeof draw);
    draw.points = draw_points, draw.lines = draw_lines;
    if (take_bool(&a->in)) draw.triangles = draw_triangles;
    draw.flags = take_bool(&a->in) ? ISPHPBD_DRAW_ALL : take_word(&a->in);
    (void)isphpbd_world_debug_draw(a->world, take_malice(&a->in) ? NULL : &draw);
    return false;
}

/* ---- the machine ------------------------------------------------------------------------------------------------- */

static void check_points(const isphpbd_points *p) {
    DEMAND(p->count >= 0);
    if (p->count == 0) return;
    DEMAND(finite_rows(p->position, p->position_stride, p->count));
    DEMAND(finite_rows(p->velocity, p->velocity_stride, p->count));
    if (p->previous) DEMAND(finite_rows(p->previous, p->previous_stride, p->count));
}
static void check_world(api *a) {
    isphpbd_stats s = isphpbd_world_stats(a->world);
    isphpbd_points points = isphpbd_fluid_points(a->world);
    check_points(&points);
    DEMAND(points.count == s.fluid_particles && points.count <= a->desc.capacity.fluid_particles + 1);
    for (int i = 0; i < points.count; i++) DEMAND(points.fluid[i] < s.fluids);
    for (int i = 0; i < REMEMBERED; i++) {
        isphpbd_soft soft;
        soft.id = a->softs[i].id, soft.world = a->softs[i].world;
        points = isphpbd_soft_points(a->world, soft);
        check_points(&points);
    }
    DEMAND(s.bytes == a->memory.watched.live);
    DEMAND(s.fluids <= a->desc.capacity.fluids && s.emitters <= a->desc.capacity.emitters);
    DEMAND(s.sinks <= a->desc.capacity.sinks && s.colliders <= a->desc.capacity.colliders);
    DEMAND(s.bodies <= a->desc.capacity.bodies && s.softs <= a->desc.capacity.soft.bodies);
    DEMAND(isfinite(s.max_speed) && isfinite(s.coupling_mismatch) && isfinite(s.volume_error) && isfinite(s.time));
    DEMAND(isfinite(s.density_error_max) && isfinite(s.compression_mean) && isfinite(s.pressure_residual));
}

typedef bool call(api *a);
static call *const calls[] = {call_fluid,  call_add,         call_add,        call_more_fluid, call_emitter,
                              call_change_emitter, call_sink, call_sink_destroy, call_collider, call_collider,
                              call_change_collider, call_body, call_many_bodies, call_change_body, call_change_body,
                              call_soft,   call_soft,        call_change_soft, call_inside,    call_settings,
                              call_step,   call_step,        call_step,       call_step,       call_snapshot,
                              call_draw};
/* Bytes from LATER on are these, so that older inputs keep most of their meaning. */
enum { LATER = 208 };
static call *const later_calls[] = {call_inner, call_inner, call_inner, call_noise, call_index};

static bool call_any(api *a) {
    const uint8_t which = take_byte(&a->in);
    if (which >= LATER) return later_calls[which % (sizeof later_calls / sizeof *later_calls)](a);
    return calls[which % (sizeof calls / sizeof *calls)](a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static api a;
    memset(&a, 0, sizeof a);
    a.in.at = data, a.in.end = data + size;
    if (!begin(&a)) {
        DEMAND(watched_clean(&a.memory.watched));
        return 0;
    }
    (void)call_fluid(&a);
    for (int i = 0; i < MOST_CALLS && a.in.at < a.in.end; i++) {
        uint64_t before = isphpbd_world_hash(a.world);
        if (!call_any(&a)) DEMAND(isphpbd_world_hash(a.world) == before);
        DEMAND(fuzz_intact(&a.memory));
        check_world(&a);
    }
    isphpbd_world_destroy(a.world);
    free(a.snapshot);
    DEMAND(watched_clean(&a.memory.watched));
    return 0;
}

#ifdef STANDALONE
int main(int argc, char **argv) { return fuzz_main(argc, argv, fuzz_random_seed); }
#endif
