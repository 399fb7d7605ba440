/* fuzz_api_pbd.c - any sequence of the calls of isphpbd_pbd.h, with hostile numbers, stale handles and full capacities.
   After each call: nothing non-finite to be seen, counts agree, memory is whole and given back, what was refused
   changed nothing, and a snapshot restores the hash.

       clang -g -O1 -fsanitize=fuzzer,address,undefined -I. -Itests/support tests/fuzz_api_pbd.c -lm
       cc -g -O1 -DSTANDALONE -fsanitize=address,undefined -I. -Itests/support tests/fuzz_api_pbd.c -lm

   SPDX-License-Identifier: MIT */
#define ISPHPBD_STATIC
#include "isphpbd_pbd.h"

#include "fuzz_api.h"

enum { MOST_CALLS = 40, REMEMBERED = 8, VERTICES = 64, CORNERS = 3 * 98 };

typedef struct api {
    fuzz_bytes in;
    fuzz_memory memory;
    ipbd_world_desc desc;
    ipbd_world *world;
    uint32_t bodies[REMEMBERED], colliders[REMEMBERED], skins[REMEMBERED]; /* alive, stale and invented ones */
    float positions[3 * VERTICES];
    uint32_t indices[2 * CORNERS], pairs[8], pins[4];
    float masses[VERTICES];
    unsigned char *snapshot;
    size_t snapshot_size;
    bool owned;     /* a has it */
    uint32_t noise; /* for hooks: they are called too often to take from the bytes */
} api;

static uint32_t next_noise(api *a) {
    a->noise ^= a->noise << 13, a->noise ^= a->noise >> 17, a->noise ^= a->noise << 5;
    return a->noise;
}
/* Between -2 and 2, or one in eight hostile. */
static float some_noise(api *a) {
    uint8_t bytes[6];
    fuzz_bytes in;
    for (int i = 0; i < 6; i++) bytes[i] = (uint8_t)(next_noise(a) >> 12);
    in.at = bytes, in.end = bytes + 6;
    return take_float(&in);
}

static uint32_t remembered(api *a, const uint32_t *list) {
    return take_malice(&a->in) ? take_word(&a->in) : list[take_below(&a->in, REMEMBERED)];
}
static void remember(api *a, uint32_t *list, uint32_t id) { list[take_below(&a->in, REMEMBERED)] = id; }
static ipbd_body some_body(api *a) {
    ipbd_body b;
    b.id = remembered(a, a->bodies);
    return b;
}
static ipbd_collider some_collider(api *a) {
    ipbd_collider c;
    c.id = remembered(a, a->colliders);
    return c;
}
static int some_vertex(api *a) { return take_count(&a->in, 20); }
static ipbd_pose some_pose(api *a) {
    isphpbd_vec3 at = take_vec3(&a->in);
    ipbd_pose pose = ipbd_pose_at(at.x, at.y, at.z);
    if (take_bool(&a->in)) pose.rotation = take_quat(&a->in);
    return pose;
}

/* ---- creation --------------------------------------------------------------------------------------------------- */

static int limit_count(int value, int most) { return value > most && value < 1000 ? most : value; }

static ipbd_capacity some_capacity(api *a) {
    static const int usual[16] = {6, 256, 256, 512, 2048, 512, 512, 512, 512, 64, 6, 128, 256, 512, 4, 64};
    ipbd_capacity c = ipbd_capacity_none();
    int numbers[16];
    DEMAND(sizeof numbers == sizeof c);
    memcpy(numbers, usual, sizeof numbers);
    if (take_malice(&a->in)) {
        int number = take_count(&a->in, 200);
        numbers[take_below(&a->in, 16)] = number;
    }
    memcpy(&c, numbers, sizeof c);
    return c;
}
static bool begin(api *a) {
    isphpbd_result why = ISPHPBD_RESULT_COUNT;
    size_t bytes;
    a->desc = ipbd_world_desc_default();
    a->desc.capacity = some_capacity(a);
    a->desc.substeps = 4;
    if (take_malice(&a->in)) a->desc.gravity = take_vec3(&a->in), a->desc.wind = take_vec3(&a->in);
    if (take_malice(&a->in)) a->desc.air_density = take_size(&a->in, 2.0f);
    if (take_malice(&a->in)) a->desc.substeps = limit_count(take_count(&a->in, 8), 8);
    if (take_malice(&a->in)) a->desc.iterations = limit_count(take_count(&a->in, 4), 4);
    if (take_malice(&a->in)) a->desc.sleep_speed = take_size(&a->in, 1.0f), a->desc.sleep_seconds = take_float(&a->in);
    if (take_malice(&a->in)) a->desc.cookie = take_word(&a->in);
    a->desc.allocator = fuzz_allocator(&a->memory);
    bytes = ipbd_bytes(&a->desc);
    a->world = ipbd_create(&a->desc, &why);
    DEMAND((a->world != NULL) == (why == ISPHPBD_OK));
    DEMAND(why == ISPHPBD_OK || (why == ISPHPBD_BAD_DESC) == (bytes == 0));
    if (a->world) DEMAND(a->memory.watched.live == bytes && a->memory.watched.allocations == 1);
    return a->world != NULL;
}

/* ---- bodies ------------------------------------------------------------------------------------------------------ */

static void some_mesh(api *a, ipbd_mesh *mesh) {
    int n = 2 + take_below(&a->in, 5), kind = take_below(&a->in, 4);
    mesh->positions = a->positions;
    if (kind == 0) { /* cloth */
        mesh->triangle_count = ipbd_grid(n, n, 1.0f, 1.0f, a->positions, a->indices);
        mesh->triangles = a->indices, mesh->vertex_count = n * n;
    } else if (kind == 1) { /* jelly */
        int side = 1 + n % 2;
        mesh->tetrahedron_count = ipbd_block(side, side, side, isphpbd_v3(0.5f, 0.5f, 0.5f), a->positions, a->indices);
        mesh->tetrahedra = a->indices, mesh->vertex_count = (side + 1) * (side + 1) * (side + 1);
    } else if (kind == 2) { /* rope */
        for (int i = 0; i < n; i++) a->positions[3 * i] = 0.1f * (float)i, a->positions[3 * i + 1] = 0.0f;
        for (int i = 0; i < n; i++) a->positions[3 * i + 2] = 0.0f;
        for (int i = 0; i + 1 < n; i++) a->indices[2 * i] = (uint32_t)i, a->indices[2 * i + 1] = (uint32_t)i + 1;
        mesh->lines = a->indices, mesh->line_count = n - 1, mesh->vertex_count = n;
    } else { /* a closed tetrahedron of triangles, or soup */
        static const uint32_t faces[12] = {0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3};
        for (int i = 0; i < 12; i++) a->positions[i] = i % 4 == 3 || i == 0 ? 0.5f : 0.0f;
        a->positions[4] = 0.7f;
        memcpy(a->indices, faces, sizeof faces);
        mesh->triangles = a->indices, mesh->triangle_count = 4, mesh->vertex_count = 4;
    }
    take_damage(&a->in, a->positions, 3 * VERTICES);
    while (take_malice(&a->in)) {
        uint32_t index = take_bool(&a->in) ? take_word(&a->in) : take_byte(&a->in) % 16u;
        a->indices[take_below(&a->in, 200)] = index;
    }
    if (take_malice(&a->in)) mesh->vertex_count = take_below(&a->in, VERTICES + 1);
    if (take_malice(&a->in)) mesh->triangle_count = -mesh->triangle_count;
    if (take_malice(&a->in)) mesh->positions = NULL;
    if (take_malice(&a->in)) mesh->triangles = NULL;
    if (take_malice(&a->in)) mesh->tetrahedra = a->indices, mesh->tetrahedron_count = take_below(&a->in, 8);
}

static ipbd_elasticity some_elasticity(api *a, ipbd_elasticity usual) {
    ipbd_elasticity e = usual;
    if (!take_malice(&a->in)) return e;
    switch (take_below(&a->in, 4)) {
        case 0: return ipbd_absent();
        case 1: return ipbd_compliance(take_size(&a->in, 0.01f));
        case 2: return ipbd_stiffness(take_size(&a->in, 1.0f));
        default: e.measure = (ipbd_measure)take_byte(&a->in); return e;
    }
}

static ipbd_body_desc some_body_desc(api *a) {
    ipbd_body_desc d = ipbd_body_desc_preset((ipbd_preset)take_below(&a->in, IPBD_PRESET_COUNT + 1));
    some_mesh(a, &d.mesh);
    d.pose = some_pose(a);
    d.self_collision = take_bool(&a->in), d.soft_collision = take_bool(&a->in);
    d.bend_model = (ipbd_bend_model)take_below(&a->in, 4), d.solid_model = (ipbd_solid_model)take_below(&a->in, 3);
    d.stretch = some_elasticity(a, d.stretch), d.shear = some_elasticity(a, d.shear);
    d.bend = some_elasticity(a, d.bend), d.volume = some_elasticity(a, d.volume);
    d.balloon = some_elasticity(a, d.balloon);
    if (take_malice(&a->in)) d.weld_distance = take_float(&a->in);
    if (take_malice(&a->in)) d.density = take_size(&a->in, 2000.0f), d.line_density = take_size(&a->in, 1.0f);
    if (take_malice(&a->in)) d.young_modulus = take_size(&a->in, 1e6f), d.poisson_ratio = take_size(&a->in, 0.5f);
    if (take_malice(&a->in)) d.balloon_pressure = take_size(&a->in, 2.0f), d.overpressure = 100.0f * take_float(&a->in);
    if (take_malice(&a->in)) d.warm_start = take_size(&a->in, 1.0f), d.tether_slack = take_size(&a->in, 1.5f);
    if (take_malice(&a->in)) d.damping = take_size(&a->in, 10.0f), d.drag = take_size(&a->in, 10.0f);
    if (take_malice(&a->in)) d.wind_drag = take_size(&a->in, 2.0f), d.wind_lift = take_size(&a->in, 2.0f);
    d.still_air = d.wind_drag > 1.0f; /* takes no byte, so that older seeds mean what they meant */
    if (take_malice(&a->in)) d.plastic_yield = take_size(&a->in, 0.2f), d.plastic_creep = take_size(&a->in, 10.0f);
    if (take_malice(&a->in)) d.plastic_max = take_size(&a->in, 2.0f), d.gravity_scale = take_float(&a->in);
    if (take_malice(&a->in)) d.thickness = take_size(&a->in, 0.1f), d.friction = take_size(&a->in, 2.0f);
    if (take_malice(&a->in)) d.layer = take_word(&a->in), d.mask = take_word(&a->in);
    if (take_malice(&a->in)) d.velocity = take_vec3(&a->in);
    if (take_malice(&a->in)) d.cookie = take_word(&a->in);
    if (take_malice(&a->in)) {
        for (int i = 0; i < VERTICES; i++) a->masses[i] = take_size(&a->in, 1.0f);
        d.masses = a->masses;
    }
    if (take_malice(&a->in)) {
        for (int i = 0; i < 8; i++) a->pairs[i] = take_byte(&a->in) % 20u;
        d.links = a->pairs, d.link_count = take_below(&a->in, 5), d.link = some_elasticity(a, d.link);
    }
    if (take_bool(&a->in)) {
        for (int i = 0; i < 4; i++) a->pins[i] = take_malice(&a->in) ? take_word(&a->in) : take_byte(&a->in) % 4u;
        d.pinned = a->pins, d.pinned_count = take_below(&a->in, 5);
    }
    return d;
}

static bool call_body(api *a) {
    isphpbd_result why = ISPHPBD_RESULT_COUNT;
    ipbd_body_desc d = some_body_desc(a);
    ipbd_body body = ipbd_body_create(a->world, take_malice(&a->in) ? NULL : &d, &why);
    DEMAND((body.id != 0) == (why == ISPHPBD_OK));
    remember(a, a->bodies, body.id);
    return body.id != 0;
}
static bool call_check(api *a) {
    ipbd_body_desc d = some_body_desc(a);
    ipbd_capacity capacity = ipbd_capacity_none(), none = capacity;
    ipbd_mesh_report report;
    isphpbd_result checked = ipbd_mesh_check(&d, &a->desc.allocator, &report);
    isphpbd_result measured = ipbd_capacity_add(&capacity, &d, &a->desc.allocator);
    if (measured != ISPHPBD_OK) DEMAND(memcmp(&capacity, &none, sizeof none) == 0);
    if (measured == ISPHPBD_OK) DEMAND(checked == ISPHPBD_OK && capacity.bodies == 1 && capacity.vertices > 0);
    return false;
}
static bool call_body_destroy(api *a) { return ipbd_body_destroy(a->world, some_body(a)) == ISPHPBD_OK; }

static bool call_vertex(api *a) {
    ipbd_body body = some_body(a);
    int vertex = some_vertex(a);
    isphpbd_vec3 v;
    switch (take_below(&a->in, 7)) {
        case 0: return ipbd_pin(a->world, body, vertex) == ISPHPBD_OK;
        case 1: return ipbd_pin_move(a->world, body, vertex, take_vec3(&a->in)) == ISPHPBD_OK;
        case 2: return ipbd_unpin(a->world, body, vertex) == ISPHPBD_OK;
        case 3: return ipbd_attach(a->world, body, vertex, some_collider(a)) == ISPHPBD_OK;
        case 4: return ipbd_vertex_add_impulse(a->world, body, vertex, take_vec3(&a->in)) == ISPHPBD_OK;
        case 5: return ipbd_vertex_set_mass(a->world, body, vertex, take_size(&a->in, 2.0f)) == ISPHPBD_OK;
        default:
            if (ipbd_pin_force(a->world, body, vertex, &v) == ISPHPBD_OK) DEMAND(finite3(v));
            return false;
    }
}
static bool call_change_body(api *a) {
    ipbd_body body = some_body(a);
    isphpbd_vec3 pivot = take_vec3(&a->in);
    float number = take_size(&a->in, 2.0f);
    switch (take_below(&a->in, 6)) {
        case 0: return ipbd_body_add_velocity(a->world, body, pivot) == ISPHPBD_OK;
        case 1: return ipbd_body_set_pressure(a->world, body, number, 100.0f * take_float(&a->in)) == ISPHPBD_OK;
        case 2: return ipbd_body_set_gravity_scale(a->world, body, number) == ISPHPBD_OK;
        case 3: return ipbd_body_teleport(a->world, body, pivot, some_pose(a)) == ISPHPBD_OK;
        case 4: return ipbd_body_reset(a->world, body) == ISPHPBD_OK;
        default: return ipbd_body_wake(a->world, body) == ISPHPBD_OK;
    }
}

/* ---- colliders --------------------------------------------------------------------------------------------------- */

static float some_sdf(isphpbd_vec3 point, isphpbd_vec3 *normal, void *user) {
    float length = sqrtf(point.x * point.x + point.y * point.y + point.z * point.z);
    float zero = user ? 0.0f : 1.0f;
    *normal = isphpbd_v3(point.x / length, point.y / length, point.z / length);
    return length / zero - 0.5f; /* not finite without a user */
}
static ipbd_shape some_shape(api *a) {
    float size = take_size(&a->in, 1.0f);
    switch (take_below(&a->in, 9)) {
        case 0: return ipbd_shape_plane();
        case 1: return ipbd_shape_sphere(size);
        case 2: return ipbd_shape_capsule(size, take_size(&a->in, 1.0f));
        case 3: {
            float height = take_size(&a->in, 1.0f);
            return ipbd_shape_box(size, height, take_size(&a->in, 1.0f));
        }
        case 4:
        case 5: {
            ipbd_body_desc d = ipbd_body_desc_default();
            some_mesh(a, &d.mesh);
            return (take_bool(&a->in) ? ipbd_shape_convex
                                      : ipbd_shape_mesh)(d.mesh.positions, d.mesh.vertex_count,
                                                         d.mesh.triangles ? d.mesh.triangles : a->indices,
                                                         d.mesh.triangle_count);
        }
        case 6: {
            int columns = take_below(&a->in, 9), rows = take_below(&a->in, 9);
            for (int i = 0; i < 64; i++) a->positions[i] = take_float(&a->in);
            return ipbd_shape_heightfield(take_malice(&a->in) ? NULL : a->positions, columns, rows, size);
        }
        case 7: {
            bool none = take_malice(&a->in);
            return ipbd_shape_sdf(none ? NULL : some_sdf, take_malice(&a->in) ? NULL : a);
        }
        default: {
            ipbd_shape s = ipbd_shape_plane();
            s.type = (ipbd_shape_type)take_byte(&a->in);
            return s;
        }
    }
}
static bool call_collider(api *a) {
    isphpbd_result why = ISPHPBD_RESULT_COUNT;
    ipbd_collider_desc d = ipbd_collider_desc_default();
    ipbd_collider collider;
    d.shape = some_shape(a);
    d.pose = some_pose(a);
    if (take_bool(&a->in))
        d.mass = take_size(&a->in, 10.0f), d.inertia = isphpbd_v3(d.mass, take_size(&a->in, 1.0f), 0.1f);
    if (take_malice(&a->in)) d.friction = take_size(&a->in, 2.0f);
    if (take_malice(&a->in)) d.layer = take_word(&a->in), d.mask = take_word(&a->in);
    if (take_malice(&a->in)) d.cookie = take_word(&a->in);
    collider = ipbd_collider_create(a->world, take_malice(&a->in) ? NULL : &d, &why);
    DEMAND((collider.id != 0) == (why == ISPHPBD_OK));
    remember(a, a->colliders, collider.id);
    return collider.id != 0;
}
static bool call_change_collider(api *a) {
    ipbd_collider collider = some_collider(a);
    isphpbd_vec3 linear, angular;
    isphpbd_result result;
    ipbd_pose pose;
    switch (take_below(&a->in, 5)) {
        case 0: return ipbd_collider_move(a->world, collider, some_pose(a)) == ISPHPBD_OK;
        case 1: return ipbd_collider_teleport(a->world, collider, some_pose(a)) == ISPHPBD_OK;
        case 2: return ipbd_collider_destroy(a->world, collider) == ISPHPBD_OK;
        case 3:
            if (ipbd_collider_pose(a->world, collider, &pose) == ISPHPBD_OK) DEMAND(finite3(pose.position));
            return false;
        default:
            result = ipbd_collider_take_impulse(a->world, collider, &linear, &angular);
            if (result == ISPHPBD_OK) DEMAND(finite3(linear) && finite3(angular));
            return result == ISPHPBD_OK;
    }
}

/* ---- skins ------------------------------------------------------------------------------------------------------- */

static bool call_skin(api *a) {
    isphpbd_result why = ISPHPBD_RESULT_COUNT;
    ipbd_body body = some_body(a);
    ipbd_skin skin;
    bool none;
    for (int i = 0; i < 30; i++) a->positions[i] = 0.3f * take_float(&a->in);
    none = take_malice(&a->in);
    skin = ipbd_skin_create(a->world, body, none ? NULL : a->positions, 12, take_below(&a->in, 11), &why);
    DEMAND((skin.id != 0) == (why == ISPHPBD_OK));
    remember(a, a->skins, skin.id);
    return skin.id != 0;
}
static bool call_use_skin(api *a) {
    float out[3 * VERTICES], normals[3 * VERTICES];
    ipbd_skin skin;
    skin.id = remembered(a, a->skins);
    if (take_malice(&a->in)) return ipbd_skin_destroy(a->world, skin) == ISPHPBD_OK;
    for (int i = 0; i < 12; i++) a->indices[i] = take_byte(&a->in) % 12u;
    memset(out, 0, sizeof out), memset(normals, 0, sizeof normals);
    if (ipbd_skin_read(a->world, skin, out, take_bool(&a->in) ? normals : NULL, 12, a->indices, 4) == ISPHPBD_OK)
        DEMAND(finite_rows(out, 12, VERTICES) && finite_rows(normals, 12, VERTICES));
    return false;
}

/* ---- the world --------------------------------------------------------------------------------------------------- */

static bool call_step(api *a) {
    float seconds = take_size(&a->in, 0.04f);
    ipbd_step_info info = ipbd_step(a->world, seconds);
    DEMAND((info.result == ISPHPBD_OK) == !(info.flags & IPBD_STEP_REFUSED));
    DEMAND(info.result != ISPHPBD_OK || (seconds > 0.0f && seconds <= 1.0f));
    return info.result == ISPHPBD_OK;
}
/* Piece by piece, in any order; ends with a finished step. */
static bool call_pieces(api *a) {
    float seconds = take_size(&a->in, 0.04f);
    isphpbd_result begun = ipbd_step_begin(a->world, seconds, limit_count(take_count(&a->in, 4), 4));
    if (begun == ISPHPBD_OK) DEMAND(ipbd_set_gravity(a->world, isphpbd_v3(0.0f, 0.0f, 0.0f)) == ISPHPBD_LOCKED);
    for (int i = take_below(&a->in, 20); i > 0; i--) {
        switch (take_below(&a->in, 4)) {
            case 0: (void)ipbd_substep_predict(a->world); break;
            case 1: (void)ipbd_substep_iterate(a->world); break;
            case 2: (void)ipbd_substep_end(a->world); break;
            default: break;
        }
    }
    if (begun != ISPHPBD_OK) return ipbd_step_finish(a->world).result == ISPHPBD_OK;
    while (ipbd_step_finish(a->world).result != ISPHPBD_OK) { /* in the middle of a substep */
        (void)ipbd_substep_predict(a->world);
        (void)ipbd_substep_iterate(a->world);
        (void)ipbd_substep_end(a->world);
    }
    return true;
}
static bool call_settings(api *a) {
    switch (take_below(&a->in, 4)) {
        case 0: return ipbd_set_gravity(a->world, take_vec3(&a->in)) == ISPHPBD_OK;
        case 1: return ipbd_set_wind(a->world, take_vec3(&a->in)) == ISPHPBD_OK;
        case 2: {
            int substeps = limit_count(take_count(&a->in, 8), 8);
            return ipbd_set_budget(a->world, substeps, limit_count(take_count(&a->in, 4), 4)) == ISPHPBD_OK;
        }
        default: return ipbd_shift_origin(a->world, take_vec3(&a->in)) == ISPHPBD_OK;
    }
}
static void hook_begin(ipbd_world *world, const ipbd_arrays *arrays, float h, void *user) {
    const api *a = (const api *)user;
    DEMAND(world == a->world && h > 0.0f && ipbd_set_wind(world, a->desc.wind) == ISPHPBD_LOCKED);
    for (int i = 0; i < arrays->vertex_count; i++) arrays->positions[4 * i + 3] *= 0.5f;
}
static bool call_hooks(api *a) {
    ipbd_hooks hooks;
    memset(&hooks, 0, sizeof hooks);
    hooks.begin = hook_begin, hooks.user = a;
    return ipbd_set_hooks(a->world, take_bool(&a->in) ? &hooks : NULL) == ISPHPBD_OK;
}
/* Hooks and users that write anything into the arrays, and call what they must not. */
static void vandalise(api *a, const ipbd_arrays *arrays) {
    for (int i = 0; i < arrays->vertex_count; i += 1 + (int)(next_noise(a) % 6)) {
        const uint32_t row = next_noise(a) >> 8 & 3u, lane = (next_noise(a) >> 8) % 3u;
        float *rows[4];
        rows[0] = arrays->positions, rows[1] = arrays->velocities, rows[2] = arrays->loads, rows[3] = rows[0];
        rows[row][4 * (uint32_t)i + (row == 3 ? 3u : lane)] = some_noise(a);
    }
}
static void wild_reenter(ipbd_world *world) {
    ipbd_body body;
    body.id = 1u | 1u << 16;
    ipbd_destroy(world);
    DEMAND(ipbd_step(world, 0.01f).result == ISPHPBD_LOCKED && ipbd_substep_end(world) == ISPHPBD_LOCKED);
    DEMAND(ipbd_set_hooks(world, NULL) == ISPHPBD_LOCKED && ipbd_load(world, world, 100) == ISPHPBD_LOCKED);
    DEMAND(ipbd_pin(world, body, 0) != ISPHPBD_OK && ipbd_body_destroy(world, body) != ISPHPBD_OK);
}
static void wild_begin(ipbd_world *world, const ipbd_arrays *arrays, float h, void *user) {
    DEMAND(h > 0.0f);
    wild_reenter(world), vandalise((api *)user, arrays);
}
static void wild_iterate(ipbd_world *world, const ipbd_arrays *arrays, float h, int iteration, void *user) {
    DEMAND(iteration >= 0);
    wild_begin(world, arrays, h, user);
}
static bool call_wild_hooks(api *a) {
    ipbd_hooks hooks;
    const uint8_t which = take_byte(&a->in);
    memset(&hooks, 0, sizeof hooks);
    a->noise = take_word(&a->in) | 1u, hooks.user = a;
    if (which & 1) hooks.begin = wild_begin;
    if (which & 2) hooks.iterate = wild_iterate;
    if (which & 4) hooks.end = wild_begin;
    return ipbd_set_hooks(a->world, &hooks) == ISPHPBD_OK;
}
/* What is written between steps is looked at in the next one, where bodies are awake. */
static bool call_arrays(api *a) {
    const ipbd_arrays arrays = ipbd_world_arrays(a->world);
    a->noise = take_word(&a->in) | 1u;
    if (a->owned || ipbd_set_gravity(a->world, isphpbd_v3(0.0f, -9.81f, 0.0f)) != ISPHPBD_OK) return false;
    vandalise(a, &arrays);
    DEMAND(ipbd_step(a->world, 0.01f).result == ISPHPBD_OK);
    return true;
}
static bool call_weigh(api *a) {
    ipbd_collider collider = some_collider(a);
    const float mass = take_size(&a->in, 50.0f);
    return ipbd_collider_set_mass(a->world, collider, mass, take_sizes(&a->in, 2.0f)) == ISPHPBD_OK;
}
static bool call_owner(api *a) {
    const uint64_t hash = ipbd_hash(a->world);
    DEMAND(ipbd_set_owner(a->world, a->owned ? (const void *)a : NULL, a->owned ? NULL : (const void *)a) ==
           ISPHPBD_OK);
    DEMAND(ipbd_set_owner(a->world, a->world, NULL) == ISPHPBD_LOCKED);
    a->owned = !a->owned;
    if (a->owned) {
        ipbd_destroy(a->world);
        DEMAND(ipbd_step(a->world, 0.01f).result == ISPHPBD_LOCKED);
        DEMAND(ipbd_set_budget(a->world, 1, 1) == ISPHPBD_LOCKED);
        DEMAND(ipbd_shift_origin(a->world, isphpbd_v3(1.0f, 0.0f, 0.0f)) == ISPHPBD_LOCKED);
    }
    DEMAND(ipbd_hash(a->world) == hash);
    return false;
}
/* An asset that was opened is valid; whether it is of this body, the call has to see. */
static bool call_asset(api *a) {
    static const uint32_t corners[4] = {0, 1, 2, 3}, points[4] = {0, 0, 0, 0}, faces[3] = {0, 1, 2};
    static const float weights[16] = {1.0f, 0, 0, 0, 0, 1.0f, 0, 0, 0, 0, 1.0f, 0, 0, 0, 0, 1.0f};
    float out[3 * VERTICES], normals[3 * VERTICES];
    ipbd_body body = some_body(a);
    const ipbd_view view = ipbd_body_view(a->world, body);
    ipbd_asset asset;
    memset(&asset, 0, sizeof asset);
    asset.flags = take_bool(&a->in) ? (uint32_t)IPBD_ASSET_SOLID : 0u;
    asset.vertex_count = take_malice(&a->in) ? take_below(&a->in, VERTICES) : view.input_vertex_count;
    asset.tetrahedra = corners, asset.tetrahedron_count = asset.vertex_count >= 4;
    asset.skin_tetrahedra = points, asset.skin_weights = weights, asset.triangles = asset.skin_triangles = faces;
    asset.skin_vertex_count = asset.tetrahedron_count ? 4 : 0, asset.skin_triangle_count = asset.tetrahedron_count;
    asset.triangle_count = asset.vertex_count >= 3;
    memset(out, 0, sizeof out), memset(normals, 0, sizeof normals);
    if (ipbd_asset_read(a->world, body, &asset, out, take_bool(&a->in) ? normals : NULL, 12) == ISPHPBD_OK)
        DEMAND(finite_rows(out, 12, VERTICES) && finite_rows(normals, 12, VERTICES));
    return false;
}
static void save(api *a) {
    size_t size = ipbd_save(a->world, NULL, 0);
    free(a->snapshot);
    a->snapshot = (unsigned char *)malloc(size + 1);
    if (!a->snapshot) abort();
    a->snapshot[size] = 0xE7;
    a->snapshot_size = ipbd_save(a->world, a->snapshot, size);
    DEMAND(a->snapshot_size == size && a->snapshot[size] == 0xE7);
}
static bool call_snapshot(api *a) {
    uint64_t hash = ipbd_hash(a->world);
    if (a->snapshot && take_bool(&a->in)) { /* an older one, perhaps damaged */
        if (take_malice(&a->in) && a->snapshot_size > 0) {
            size_t at = take_word(&a->in) % a->snapshot_size;
            a->snapshot[at] = (unsigned char)(a->snapshot[at] ^ (1u << take_below(&a->in, 8)));
        }
        return ipbd_load(a->world, a->snapshot, a->snapshot_size) == ISPHPBD_OK;
    }
    save(a);
    DEMAND(ipbd_load(a->world, a->snapshot, a->snapshot_size) == (a->owned ? ISPHPBD_LOCKED : ISPHPBD_OK));
    DEMAND(ipbd_hash(a->world) == hash);
    return false;
}

/* ---- the machine ------------------------------------------------------------------------------------------------- */

static void check_body(api *a, ipbd_body body) {
    ipbd_view view = ipbd_body_view(a->world, body);
    float out[3 * VERTICES], normals[3 * VERTICES];
    isphpbd_vec3 position, velocity;
    ipbd_mesh_report report;
    int range[4];
    if (!view.positions) return;
    DEMAND(view.vertex_count > 0 && view.input_vertex_count <= VERTICES);
    DEMAND(finite_rows(view.positions, view.stride_bytes, view.vertex_count));
    DEMAND(finite_rows(view.starts, view.stride_bytes, view.vertex_count));
    DEMAND(finite_rows(view.velocities, view.stride_bytes, view.vertex_count));
    for (int i = 0; i < view.vertex_count; i++) DEMAND(view.positions[4 * i + 3] >= 0.0f);
    for (int i = 0; i < 3 * view.triangle_count; i++) DEMAND(view.triangles[i] < (uint32_t)view.vertex_count);
    memset(out, 0, sizeof out), memset(normals, 0, sizeof normals);
    DEMAND(ipbd_body_read(a->world, body, out, normals, 12) == ISPHPBD_OK);
    DEMAND(finite_rows(out, 12, VERTICES) && finite_rows(normals, 12, VERTICES));
    if (ipbd_body_vertex(a->world, body, 0, &position, &velocity) == ISPHPBD_OK)
        DEMAND(finite3(position) && finite3(velocity));
    DEMAND(isfinite(ipbd_body_volume(a->world, body)) && ipbd_body_mass(a->world, body) >= 0.0);
    DEMAND(ipbd_body_report(a->world, body, &report) == ISPHPBD_OK);
    DEMAND(ipbd_body_range(a->world, body, &range[0], &range[1], &range[2], &range[3]) == ISPHPBD_OK);
    DEMAND(range[1] - range[0] == view.vertex_count && range[3] - range[2] == view.triangle_count);
    (void)ipbd_body_sleeping(a->world, body);
}
static void check_world(api *a) {
    ipbd_stats stats = ipbd_world_stats(a->world);
    DEMAND(stats.bodies >= 0 && stats.bodies <= a->desc.capacity.bodies && stats.sleeping_bodies <= stats.bodies);
    DEMAND(stats.vertices <= a->desc.capacity.vertices && stats.triangles <= a->desc.capacity.triangles);
    DEMAND(ipbd_world_arrays(a->world).vertex_count == stats.vertices);
    DEMAND(isfinite(stats.kinetic_energy) && finite3(stats.momentum) && finite3(stats.angular_momentum));
    for (int i = 0; i < REMEMBERED; i++) {
        ipbd_body body;
        body.id = a->bodies[i];
        check_body(a, body);
    }
}

typedef bool call(api *a);
static call *const calls[] = {call_body,      call_body,     call_body,        call_check,    call_body_destroy,
                              call_vertex,    call_vertex,   call_change_body, call_collider, call_collider,
                              call_change_collider, call_skin, call_use_skin,  call_step,     call_step,
                              call_step,      call_step,     call_pieces,      call_settings, call_hooks,
                              call_snapshot};
/* Bytes from LATER on are these, so that older inputs keep most of their meaning. */
enum { LATER = 240 };
static call *const later_calls[] = {call_wild_hooks, call_arrays, call_weigh, call_owner, call_asset};

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
    for (int i = 0; i < MOST_CALLS && a.in.at < a.in.end; i++) {
        uint64_t before = ipbd_hash(a.world);
        if (!call_any(&a)) DEMAND(ipbd_hash(a.world) == before);
        DEMAND(a.memory.watched.live == ipbd_bytes(&a.desc) && fuzz_intact(&a.memory));
        check_world(&a);
    }
    if (a.owned) (void)call_owner(&a);
    ipbd_destroy(a.world);
    free(a.snapshot);
    DEMAND(watched_clean(&a.memory.watched));
    return 0;
}

#ifdef STANDALONE
int main(int argc, char **argv) { return fuzz_main(argc, argv, fuzz_random_seed); }
#endif
