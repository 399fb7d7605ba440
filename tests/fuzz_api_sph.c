/* fuzz_api_sph.c - any sequence of the calls of isphpbd_sph.h, with hostile numbers, stale handles and full capacities.
   After each call: nothing non-finite to be seen, counts and ids agree, memory is whole, what was refused changed
   nothing, and a snapshot restores the hash.

       clang -g -O1 -fsanitize=fuzzer,address,undefined -I. -Itests/support tests/fuzz_api_sph.c -lm
       cc -g -O1 -DSTANDALONE -fsanitize=address,undefined -I. -Itests/support tests/fuzz_api_sph.c -lm

   SPDX-License-Identifier: MIT */
#define ISPHPBD_STATIC
#include "isphpbd_sph.h"

#include "fuzz_api.h"

enum { PARTICLES = 192, BOUNDARIES = 6, TRIANGLES = 24, MATERIALS = 3, MOST_CALLS = 48, REMEMBERED = 16 };

typedef struct api {
    fuzz_bytes in;
    fuzz_memory memory;
    isph_fluid_desc desc;
    isph_fluid *fluid;
    uint32_t materials[REMEMBERED], boundaries[REMEMBERED], ids[REMEMBERED]; /* alive, stale and invented ones */
    bool locked;                                                             /* an owner has closed it */
    unsigned char *snapshot;
    size_t snapshot_size;
    uint32_t noise; /* for callbacks: they are called too often to take from the bytes */
    int rounds;
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
static isph_material some_material(api *a) {
    isph_material m;
    m.id = remembered(a, a->materials);
    return m;
}
static isph_boundary some_boundary(api *a) {
    isph_boundary b;
    b.id = remembered(a, a->boundaries);
    return b;
}

/* ---- creation --------------------------------------------------------------------------------------------------- */

static isph_fluid_desc some_desc(api *a) {
    isph_fluid_desc d = isph_fluid_desc_default();
    d.particle_capacity = PARTICLES, d.boundary_capacity = BOUNDARIES, d.triangle_capacity = TRIANGLES;
    d.material_capacity = MATERIALS, d.spacing = 0.1f;
    d.solver = take_below(&a->in, 8) == 0 ? ISPH_SOLVER_WEAKLY_COMPRESSIBLE : ISPH_SOLVER_INCOMPRESSIBLE;
    d.linear_solver = take_below(&a->in, 4) == 0 ? ISPH_LINEAR_BICGSTAB : ISPH_LINEAR_CG;
    d.preconditioner = (isph_preconditioner)take_below(&a->in, 3);
    d.density_projection = !take_malice(&a->in);
    d.rigid_local = take_malice(&a->in);
    if (take_malice(&a->in)) d.gravity = take_vec3(&a->in);
    if (take_malice(&a->in)) d.spacing = take_size(&a->in, 0.2f);
    if (take_malice(&a->in)) d.support = 1.8f + take_size(&a->in, 1.4f);
    if (take_malice(&a->in)) d.tolerance = take_size(&a->in, 1.0f);
    if (take_malice(&a->in)) d.max_iterations = take_count(&a->in, 100);
    if (take_malice(&a->in)) d.max_substeps = take_count(&a->in, 16) % 64;
    if (take_malice(&a->in)) d.cfl = take_size(&a->in, 2.0f);
    if (take_malice(&a->in)) d.max_substep_seconds = take_size(&a->in, 0.02f);
    if (take_malice(&a->in)) d.sound_speed = take_size(&a->in, 100.0f);
    if (take_malice(&a->in)) d.max_speed = take_size(&a->in, 100.0f);
    if (take_malice(&a->in)) d.particle_capacity = take_count(&a->in, PARTICLES);
    if (take_malice(&a->in)) d.boundary_capacity = take_count(&a->in, BOUNDARIES);
    if (take_malice(&a->in)) d.triangle_capacity = take_count(&a->in, TRIANGLES);
    if (take_malice(&a->in)) d.material_capacity = take_count(&a->in, MATERIALS);
    if (take_malice(&a->in)) d.cookie ^= take_word(&a->in);
    return d;
}

static bool begin(api *a) {
    isphpbd_result why = ISPHPBD_RESULT_COUNT;
    size_t bytes;
    a->desc = some_desc(a);
    a->desc.allocator = fuzz_allocator(&a->memory);
    bytes = isph_fluid_bytes(&a->desc);
    a->fluid = isph_fluid_create(&a->desc, &why);
    DEMAND((a->fluid != NULL) == (why == ISPHPBD_OK));
    DEMAND(why == ISPHPBD_OK || (why == ISPHPBD_BAD_DESC) == (bytes == 0));
    if (a->fluid) DEMAND(a->memory.watched.live == bytes && a->memory.watched.allocations == 1);
    return a->fluid != NULL;
}

/* ---- calls: each answers whether it may have changed the fluid --------------------------------------------------- */

static bool call_material(api *a) {
    isph_material_desc d = isph_material_desc_default();
    isphpbd_result why = ISPHPBD_RESULT_COUNT;
    isph_material m;
    switch (take_below(&a->in, 4)) {
        case 0: d = isph_material_desc_oil(); break;
        case 1: d = isph_material_desc_honey(); break;
        case 2: d = isph_material_desc_mercury(); break;
        default: break;
    }
    if (take_malice(&a->in)) d.density = take_size(&a->in, 20000.0f);
    if (take_malice(&a->in)) d.viscosity = take_size(&a->in, 1000.0f);
    if (take_malice(&a->in)) d.cookie = take_word(&a->in);
    m = isph_material_create(a->fluid, take_malice(&a->in) ? NULL : &d, &why);
    DEMAND((m.id != 0) == (why == ISPHPBD_OK));
    remember(a, a->materials, m.id);
    return m.id != 0;
}

static bool call_add(api *a) {
    float positions[4 * 32], velocities[3 * 32];
    uint32_t ids[32];
    int count = take_count(&a->in, 32), fill = count < 0 ? 0 : count > 32 ? 32 : count;
    bool wide = take_bool(&a->in), moving = take_bool(&a->in);
    const int stride = wide ? 4 : 3;
    isph_material material;
    isphpbd_result result;
    if (count > 32) count = 32; /* the arrays are the caller's word */
    for (int i = 0; i < 4 * 32; i++) positions[i] = i < 4 * fill ? take_float(&a->in) : 0.0f;
    for (int i = 0; i < 3 * 32; i++) velocities[i] = i < 3 * fill && moving ? 10.0f * take_float(&a->in) : 0.0f;
    material = some_material(a);
    result = isph_particles_add(a->fluid, material, take_malice(&a->in) ? NULL : positions,
                                sizeof(float) * (size_t)stride, moving ? velocities : NULL, 12, count, ids);
    if (result == ISPHPBD_OK && count > 0) remember(a, a->ids, ids[take_below(&a->in, count)]);
    return result == ISPHPBD_OK;
}

static bool call_add_box(api *a) {
    isphpbd_vec3 lo = take_vec3(&a->in), hi = take_vec3(&a->in);
    int added = -7, before = isph_particles(a->fluid).count;
    isph_material material;
    isphpbd_result result;
    if (take_bool(&a->in)) {
        hi.x = lo.x + 0.5f * fabsf(hi.x), hi.y = lo.y + 0.5f * fabsf(hi.y), hi.z = lo.z + 0.5f * fabsf(hi.z);
    }
    material = some_material(a);
    result = isph_particles_add_box(a->fluid, material, lo, hi, take_vec3(&a->in), &added);
    if (result == ISPHPBD_OK) DEMAND(added >= 0 && isph_particles(a->fluid).count == before + added);
    return result == ISPHPBD_OK;
}

static bool call_remove(api *a) {
    uint32_t ids[8];
    int count = take_count(&a->in, 8), before = isph_particles(a->fluid).count, gone;
    for (int i = 0; i < 8; i++) ids[i] = take_bool(&a->in) ? remembered(a, a->ids) : take_byte(&a->in);
    gone = isph_particles_remove(a->fluid, take_malice(&a->in) ? NULL : ids, count > 8 ? 8 : count);
    DEMAND(gone >= 0 && isph_particles(a->fluid).count == before - gone);
    return gone > 0;
}

static bool test_particle(void *user, const isph_particle *p) {
    api *a = (api *)user;
    DEMAND(finite3(p->position) && finite3(p->velocity));
    DEMAND(isph_fluid_set_gravity(a->fluid, p->position) == ISPHPBD_LOCKED);
    DEMAND(isph_particles_remove(a->fluid, &p->id, 1) == 0);
    return take_byte(&a->in) > 200;
}
static bool call_remove_if(api *a) {
    int before = isph_particles(a->fluid).count, gone = isph_particles_remove_if(a->fluid, test_particle, a);
    DEMAND(gone >= 0 && isph_particles(a->fluid).count == before - gone);
    return gone > 0;
}
static bool edit_particle(void *user, isph_particle *p) {
    api *a = (api *)user;
    uint8_t what = take_byte(&a->in);
    if (what & 1) p->position = take_vec3(&a->in);
    if (what & 2) p->velocity = take_vec3(&a->in);
    if (what & 4) p->user = take_word(&a->in);
    if ((what & 0x38) == 0x38) p->id = take_word(&a->in), p->material.id = take_word(&a->in);
    return (what & 64) != 0;
}
static bool call_edit(api *a) { return isph_particles_edit(a->fluid, edit_particle, a) > 0; }

static isph_boundary_desc some_boundary_desc(api *a, float *positions, uint32_t *indices) {
    isph_boundary_desc d = isph_boundary_desc_default();
    d.shape = (isph_shape)take_count(&a->in, 5);
    d.container = take_bool(&a->in), d.mesh_solid = take_bool(&a->in);
    d.half_extents = take_sizes(&a->in, 2.0f);
    d.radius = take_size(&a->in, 2.0f), d.half_height = take_size(&a->in, 1.0f);
    d.position = take_vec3(&a->in);
    if (take_bool(&a->in)) d.rotation = take_quat(&a->in);
    if (take_bool(&a->in)) d.linear_velocity = take_vec3(&a->in), d.angular_velocity = take_vec3(&a->in);
    if (take_bool(&a->in)) d.friction = take_size(&a->in, 1.0f), d.viscous_grip = take_size(&a->in, 1.0f);
    if (take_bool(&a->in)) d.mass = take_size(&a->in, 50.0f), d.restitution = take_size(&a->in, 1.0f);
    if (take_bool(&a->in)) {
        d.inertia.x = take_size(&a->in, 1.0f), d.inertia.y = take_size(&a->in, 1.0f), d.inertia.z = d.mass;
    }
    if (take_malice(&a->in)) d.gravity_scale = take_float(&a->in), d.material_mask = take_word(&a->in);
    if (take_malice(&a->in)) d.cookie = take_word(&a->in);
    if (d.shape == ISPH_SHAPE_MESH) {
        for (int i = 0; i < 24; i++) positions[i] = take_float(&a->in);
        for (int i = 0; i < 36; i++) indices[i] = take_malice(&a->in) ? take_word(&a->in) : take_byte(&a->in) % 8u;
        d.mesh.positions = take_malice(&a->in) ? NULL : positions, d.mesh.indices = indices;
        d.mesh.vertex_count = 8, d.mesh.stride_bytes = 12;
        d.mesh.index_count = take_count(&a->in, 36);
        if (d.mesh.index_count > 36) d.mesh.index_count = 36;
        if (take_bool(&a->in)) d.mesh.index_count -= d.mesh.index_count % 3;
    }
    return d;
}
static bool call_boundary(api *a) {
    float positions[24];
    uint32_t indices[36];
    isphpbd_result why = ISPHPBD_RESULT_COUNT;
    isph_boundary_desc d = some_boundary_desc(a, positions, indices);
    isph_boundary b = isph_boundary_create(a->fluid, take_malice(&a->in) ? NULL : &d, &why);
    DEMAND((b.id != 0) == (why == ISPHPBD_OK));
    remember(a, a->boundaries, b.id);
    return b.id != 0;
}
static bool call_boundary_destroy(api *a) {
    return isph_boundary_destroy(a->fluid, some_boundary(a)) == ISPHPBD_OK;
}
static bool call_boundary_motion(api *a) {
    isph_boundary b = some_boundary(a);
    isphpbd_vec3 position = take_vec3(&a->in), linear, angular;
    isphpbd_quat rotation = take_quat(&a->in);
    bool changed;
    linear = take_vec3(&a->in), angular = take_vec3(&a->in);
    changed = isph_boundary_set_motion(a->fluid, b, position, rotation, linear, angular) == ISPHPBD_OK;
    if (isph_boundary_pose(a->fluid, b, &position, take_bool(&a->in) ? &rotation : NULL) == ISPHPBD_OK)
        DEMAND(finite3(position));
    if (isph_boundary_motion(a->fluid, b, &position, &rotation, &linear, &angular) == ISPHPBD_OK)
        DEMAND(finite3(position) && finite3(linear) && finite3(angular));
    return changed;
}
static bool call_boundary_take(api *a) {
    isphpbd_vec3 linear, angular;
    isphpbd_result result = isph_boundary_take_impulse(a->fluid, some_boundary(a), &linear, &angular);
    if (result == ISPHPBD_OK) DEMAND(finite3(linear) && finite3(angular));
    return result == ISPHPBD_OK;
}
static bool call_boundary_mass(api *a) {
    isph_boundary b = some_boundary(a);
    float mass = take_size(&a->in, 100.0f);
    return isph_boundary_set_mass(a->fluid, b, mass, take_vec3(&a->in)) == ISPHPBD_OK;
}

static bool call_step(api *a) {
    isphpbd_result why = ISPHPBD_RESULT_COUNT;
    float seconds = take_size(&a->in, 0.05f);
    if (take_bool(&a->in)) (void)isph_fluid_step(a->fluid, seconds, &why);
    else (void)isph_fluid_substep(a->fluid, seconds, &why);
    DEMAND(why != ISPHPBD_OK || (seconds > 0.0f && seconds <= 1.0f));
    return why == ISPHPBD_OK;
}
static bool call_boundary_mask(api *a) {
    isph_boundary b = some_boundary(a);
    return isph_boundary_set_material_mask(a->fluid, b, take_word(&a->in)) == ISPHPBD_OK;
}

static bool stop_soon(void *user) {
    api *a = (api *)user;
    DEMAND(isph_fluid_set_gravity(a->fluid, isphpbd_v3(0.0f, 0.0f, 0.0f)) == ISPHPBD_LOCKED);
    DEMAND(isph_fluid_coupled(a->fluid).count == isph_particles(a->fluid).count);
    return take_byte(&a->in) < 64;
}
/* A substep in slices, hurried, given up, or left to whatever call comes next. */
static bool call_slices(api *a) {
    bool begun = isph_fluid_substep_begin(a->fluid, take_size(&a->in, 0.02f)) == ISPHPBD_OK;
    for (int i = take_below(&a->in, 16); i > 0; i--) {
        switch (take_below(&a->in, 8)) {
            case 0: (void)isph_fluid_substep_hurry(a->fluid); break;
            case 1: (void)isph_fluid_substep_abandon(a->fluid); break;
            case 2: (void)isph_fluid_substep_continue(a->fluid, NULL, NULL); break;
            default: (void)isph_fluid_substep_continue(a->fluid, stop_soon, a); break;
        }
        DEMAND(!a->locked || !begun);
    }
    if (isph_fluid_substep_pending(a->fluid) && take_malice(&a->in)) {
        DEMAND((isph_fluid_substep_abandon(a->fluid) == ISPHPBD_OK) == !a->locked);
        DEMAND(a->locked || !isph_fluid_substep_pending(a->fluid));
    }
    (void)isph_fluid_flags(a->fluid);
    return !a->locked; /* one that was pending before may have ended */
}
static bool call_substep_seconds(api *a) {
    uint32_t flags = 0;
    float left = take_size(&a->in, 1.0f), fastest = take_size(&a->in, 10.0f);
    float h = isph_fluid_substep_seconds(a->fluid, left, fastest, take_count(&a->in, 16), &flags);
    DEMAND(h == 0.0f || (h > 0.0f && h <= left));
    return false;
}
static bool call_settings(api *a) {
    switch (take_below(&a->in, 4)) {
        case 0: return isph_fluid_set_gravity(a->fluid, take_vec3(&a->in)) == ISPHPBD_OK;
        case 1: {
            int iterations = take_count(&a->in, 60), substeps = take_count(&a->in, 8);
            float tolerance = take_size(&a->in, 0.5f);
            return isph_fluid_set_budget(a->fluid, iterations, substeps > 64 ? 64 : substeps, tolerance) == ISPHPBD_OK;
        }
        case 2: return isph_fluid_set_solver_enabled(a->fluid, !take_malice(&a->in)) == ISPHPBD_OK;
        default: return isph_fluid_shift_origin(a->fluid, take_vec3(&a->in)) == ISPHPBD_OK;
    }
}

static bool call_owner(api *a) {
    isphpbd_result result = isph_fluid_set_owner(a->fluid, a->locked ? a : NULL, a->locked ? NULL : a);
    DEMAND(result == ISPHPBD_OK && isph_fluid_set_owner(a->fluid, a->fluid, NULL) == ISPHPBD_LOCKED);
    a->locked = !a->locked;
    if (a->locked) {
        isphpbd_result why = ISPHPBD_OK;
        isph_fluid_destroy(a->fluid);
        DEMAND(isph_fluid_set_gravity(a->fluid, isphpbd_v3(0.0f, 0.0f, 0.0f)) == ISPHPBD_LOCKED);
        DEMAND(isph_fluid_step(a->fluid, 0.01f, &why) == 0 && why == ISPHPBD_LOCKED);
    }
    return false;
}

/* A coupler with one yielding wall below everything, and nonsense now and then. */
static int coupler_walls(void *user, int index, isphpbd_vec3 position, float reach, isph_wall *out, int capacity) {
    const api *a = (const api *)user;
    (void)index;
    if (capacity < 1 || position.y > reach) return 0;
    memset(out, 0, sizeof *out);
    out->normal.y = 1.0f, out->distance = position.y, out->inverse_mass = a->desc.spacing;
    return 1;
}
static bool call_coupler(api *a) {
    isph_coupler coupler;
    memset(&coupler, 0, sizeof coupler);
    coupler.user = a, coupler.walls = coupler_walls;
    return isph_fluid_set_coupler(a->fluid, take_bool(&a->in) ? &coupler : NULL) == ISPHPBD_OK;
}

/* A coupler with every callback, each as wrong as its type allows. None of them may change the fluid by a call. */
static uint8_t wild_guarded[1 << 17];

static void wild_reenter(api *a) {
    isphpbd_result why = ISPHPBD_OK;
    DEMAND(isph_fluid_set_gravity(a->fluid, isphpbd_v3(0.0f, 0.0f, 0.0f)) == ISPHPBD_LOCKED);
    DEMAND(isph_fluid_step(a->fluid, 0.01f, &why) == 0 && why == ISPHPBD_LOCKED);
    DEMAND(isph_fluid_substep_abandon(a->fluid) == ISPHPBD_LOCKED);
    DEMAND(isph_particles_remove_if(a->fluid, NULL, a) == 0);
    DEMAND(isph_fluid_set_coupler(a->fluid, NULL) == ISPHPBD_LOCKED);
    isph_fluid_destroy(a->fluid);
}
static void wild_begin(void *user, const float *positions, const float *velocities, int count, float seconds) {
    api *a = (api *)user;
    DEMAND(finite_rows(positions, 16, count) && finite_rows(velocities, 16, count) && seconds > 0.0f);
    for (int i = 0; i < count && i < (int)sizeof wild_guarded; i++) wild_guarded[i] = (uint8_t)(next_noise(a) & 1);
    a->rounds = 0;
    wild_reenter(a);
}
static int wild_walls(void *user, int index, isphpbd_vec3 position, float reach, isph_wall *out, int capacity) {
    api *a = (api *)user;
    const int count = (int)(next_noise(a) >> 8) % 4;
    (void)index, (void)position;
    for (int i = 0; i < count && i < capacity; i++) {
        isph_wall *w = out + i;
        memset(w, 0, sizeof *w);
        w->normal.y = next_noise(a) % 8 ? 1.0f : some_noise(a), w->distance = reach * some_noise(a);
        w->velocity = isphpbd_v3(some_noise(a), some_noise(a), some_noise(a));
        w->inverse_mass = fabsf(some_noise(a)), w->friction = w->viscous_grip = 0.5f, w->missed = some_noise(a);
    }
    return next_noise(a) % 16 ? count : (int)next_noise(a);
}
static bool wild_separated(void *user, int i, int j) {
    (void)user;
    return (i + j) % 5 == 0;
}
static void wild_respond(void *user, const float *impulse, float *velocity_change, int wall_count) {
    api *a = (api *)user;
    for (int i = 0; i < wall_count; i++) velocity_change[i] = i % 7 ? impulse[i] : some_noise(a);
}
static void wild_impulses(void *user, const isph_wall_impulse *impulse, int count) {
    (void)user;
    for (int i = 0; i < count; i++) DEMAND(finite3(impulse[i].impulse) && finite3(impulse[i].position));
}
static bool wild_again(void *user, const float *start, float *positions, float *velocities, int count, float seconds) {
    api *a = (api *)user;
    (void)start, (void)positions, (void)velocities, (void)count, (void)seconds;
    return ++a->rounds < 3;
}
static void wild_finish(void *user, const float *start, float *positions, float *velocities, int count, float seconds) {
    api *a = (api *)user;
    (void)start, (void)seconds;
    for (int i = 0; i < count; i += 1 + (int)(next_noise(a) % 8))
        positions[4 * i + 1] = some_noise(a), velocities[4 * i] = some_noise(a);
    wild_reenter(a);
}
static bool call_wild_coupler(api *a) {
    isph_coupler c;
    uint8_t which = take_byte(&a->in);
    memset(&c, 0, sizeof c);
    a->noise = take_word(&a->in) | 1u;
    c.user = a, c.walls = wild_walls;
    if (which & 1) c.begin = wild_begin, c.guarded = wild_guarded, c.separated = wild_separated;
    if (which & 2) c.respond = wild_respond;
    if (which & 4) c.impulses = wild_impulses;
    if (which & 8) c.again = wild_again;
    if (which & 16) c.finish = wild_finish;
    return isph_fluid_set_coupler(a->fluid, &c) == ISPHPBD_OK;
}

static void save(api *a) {
    size_t size = isph_fluid_save(a->fluid, NULL, 0);
    free(a->snapshot);
    a->snapshot = (unsigned char *)malloc(size + 1);
    if (!a->snapshot) abort();
    a->snapshot[size] = 0xE7;
    a->snapshot_size = isph_fluid_save(a->fluid, a->snapshot, size);
    DEMAND(a->snapshot_size == size && a->snapshot[size] == 0xE7);
}
static bool call_snapshot(api *a) {
    uint64_t hash = isph_fluid_hash(a->fluid);
    size_t at;
    if (a->snapshot && take_bool(&a->in)) { /* an older one, perhaps damaged */
        if (take_malice(&a->in) && a->snapshot_size > 0) {
            at = take_word(&a->in) % a->snapshot_size;
            a->snapshot[at] = (unsigned char)(a->snapshot[at] ^ (1u << take_below(&a->in, 8)));
        }
        return isph_fluid_load(a->fluid, a->snapshot, a->snapshot_size) == ISPHPBD_OK;
    }
    save(a);
    DEMAND(isph_fluid_load(a->fluid, a->snapshot, a->snapshot_size) == (a->locked ? ISPHPBD_LOCKED : ISPHPBD_OK));
    DEMAND(isph_fluid_hash(a->fluid) == hash);
    return false;
}

/* ---- what stands beside the fluid -------------------------------------------------------------------------------- */

static bool call_kernels(api *a) {
    isph_kernel kernel = (isph_kernel)take_below(&a->in, 3);
    float support = 0.01f + fabsf(take_size(&a->in, 1.0f)), r = take_size(&a->in, 1.0f);
    if (!(support < 100.0f) || !(r >= 0.0f)) return false;
    DEMAND(isfinite(isph_kernel_value(kernel, r, support)) && isfinite(isph_kernel_slope(kernel, r, support)));
    DEMAND(isph_kernel_smoothing_length(kernel, support) < support);
    return false;
}

static bool call_grid(api *a) {
    fuzz_memory memory;
    isph_grid_desc d = isph_grid_desc_default();
    float points[3 * 40];
    int out[64], found, who;
    isphpbd_result why;
    isph_grid *grid;
    d.allocator = fuzz_allocator(&memory);
    d.capacity = take_count(&a->in, 40), d.radius = take_size(&a->in, 1.0f);
    grid = isph_grid_create(&d, &why);
    DEMAND((grid != NULL) == (why == ISPHPBD_OK));
    if (!grid) return false;
    DEMAND(memory.watched.live == isph_grid_bytes(&d));
    for (int i = 0; i < 120; i++) points[i] = take_float(&a->in);
    if (isph_grid_build(grid, points, 12, take_below(&a->in, 41)) == ISPHPBD_OK) {
        found = isph_grid_query(grid, take_vec3(&a->in), out, 64);
        for (int i = 0; i < found && i < 64; i++) DEMAND(out[i] >= 0 && out[i] < 40);
        who = take_count(&a->in, 50);
        DEMAND(isph_grid_neighbours(grid, who, out, take_below(&a->in, 64)) < 40);
    }
    isph_grid_destroy(grid);
    DEMAND(watched_clean(&memory.watched));
    return false;
}

static bool call_matrix(api *a) {
    enum { ROWS = 12, ENTRIES = 48 };
    fuzz_memory memory;
    isph_matrix_desc d = isph_matrix_desc_default();
    isph_solve_desc solve = isph_solve_desc_default();
    isph_solve_info info;
    int starts[ROWS + 1], columns[ENTRIES], aggregates[ROWS];
    float values[ENTRIES], b[ROWS], x[ROWS];
    isph_matrix *matrix;
    d.allocator = fuzz_allocator(&memory);
    d.row_capacity = take_count(&a->in, 24), d.nonzero_capacity = take_count(&a->in, 255);
    matrix = isph_matrix_create(&d, NULL);
    if (!matrix) return false;
    DEMAND(memory.watched.live == isph_matrix_bytes(&d));
    for (int i = 0; i <= ROWS; i++) starts[i] = take_malice(&a->in) ? take_below(&a->in, ENTRIES + 1) : 4 * i;
    for (int i = 0; i < ENTRIES; i++)
        columns[i] = take_malice(&a->in) ? take_count(&a->in, 40) : take_below(&a->in, ROWS);
    for (int i = 0; i < ENTRIES; i++) values[i] = take_float(&a->in);
    for (int i = 0; i < ROWS; i++) b[i] = take_float(&a->in), x[i] = 0.0f, aggregates[i] = take_count(&a->in, 3);
    solve.max_iterations = take_below(&a->in, 40), solve.tolerance = take_size(&a->in, 0.1f);
    solve.preconditioner = (isph_preconditioner)take_below(&a->in, 4);
    solve.constant_nullspace = take_bool(&a->in), solve.warm_start = take_bool(&a->in);
    if (isph_matrix_set(matrix, ROWS, starts, columns, values) == ISPHPBD_OK) {
        (void)isph_matrix_set_aggregates(matrix, aggregates, take_count(&a->in, 4));
        (void)isph_matrix_multiply(matrix, b, x);
        memset(x, 0, sizeof x);
        if (isph_matrix_solve_cg(matrix, b, x, &solve, &info) == ISPHPBD_OK) DEMAND(isfinite(info.residual));
        if (isph_matrix_solve_bicgstab(matrix, b, x, &solve, &info) == ISPHPBD_OK) DEMAND(isfinite(info.residual));
    }
    isph_matrix_destroy(matrix);
    DEMAND(watched_clean(&memory.watched));
    return false;
}

/* ---- the machine ------------------------------------------------------------------------------------------------- */

static void check_view(const api *a) {
    isph_view view = isph_particles(a->fluid);
    isph_stats stats = isph_fluid_stats(a->fluid);
    DEMAND(view.count >= 0 && view.count <= a->desc.particle_capacity && view.count == stats.particles);
    DEMAND(stats.boundaries >= 0 && stats.boundaries <= a->desc.boundary_capacity);
    DEMAND(stats.triangles >= 0 && stats.triangles <= a->desc.triangle_capacity);
    DEMAND(isfinite(stats.max_speed) && isfinite(stats.kinetic_energy) && isfinite(stats.pressure_residual));
    DEMAND(isfinite(stats.density_residual) && isfinite(stats.density_error_max) && isfinite(stats.compression_mean));
    DEMAND(finite_rows(view.position, view.stride_bytes, view.count));
    DEMAND(finite_rows(view.velocity, view.stride_bytes, view.count));
    for (int i = 0; i < view.count; i++) {
        DEMAND(isfinite(view.pressure[i]) && view.pressure[i] >= 0.0f && isfinite(view.density[i]));
        DEMAND(view.material[i] < a->desc.material_capacity);
        DEMAND(isph_particle_find(a->fluid, view.id[i]) == i);
    }
}

typedef bool call(api *a);
static call *const calls[] = {call_material, call_add,          call_add_box,          call_add_box,
                              call_remove,   call_remove_if,    call_edit,             call_boundary,
                              call_boundary, call_boundary_mask, call_boundary_destroy, call_boundary_motion,
                              call_step,     call_step,         call_step,             call_slices,
                              call_settings, call_settings,     call_snapshot,         call_coupler,
                              call_owner,    call_boundary_take, call_boundary_mass,   call_substep_seconds,
                              call_kernels,  call_grid,         call_matrix};
/* Bytes from LATER on are these, so that older inputs keep most of their meaning. */
enum { LATER = 240 };
static call *const later_calls[] = {call_wild_coupler};

static bool call_any(api *a) {
    const uint8_t which = take_byte(&a->in);
    if (which >= LATER) return later_calls[which % (sizeof later_calls / sizeof *later_calls)](a);
    return calls[which % (sizeof calls / sizeof *calls)](a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static api a; /* large arrays; the sanitizers watch it all the same */
    int allocations;
    memset(&a, 0, sizeof a);
    a.in.at = data, a.in.end = data + size;
    if (!begin(&a)) {
        DEMAND(watched_clean(&a.memory.watched));
        return 0;
    }
    allocations = a.memory.watched.allocations;
    (void)call_material(&a);
    for (int i = 0; i < MOST_CALLS && a.in.at < a.in.end; i++) {
        uint64_t before = isph_fluid_hash(a.fluid);
        if (!call_any(&a)) DEMAND(isph_fluid_hash(a.fluid) == before);
        DEMAND(a.memory.watched.allocations == allocations && fuzz_intact(&a.memory));
        check_view(&a);
    }
    if (a.locked) (void)call_owner(&a);
    isph_fluid_destroy(a.fluid);
    free(a.snapshot);
    DEMAND(watched_clean(&a.memory.watched));
    return 0;
}

#ifdef STANDALONE
int main(int argc, char **argv) { return fuzz_main(argc, argv, fuzz_random_seed); }
#endif
