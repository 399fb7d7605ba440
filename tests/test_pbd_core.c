/* Soft bodies: worlds, meshes, bad input, memory, handles, snapshots, determinism. */
#include <stdio.h>
#include <stdlib.h>

#include "greatest.h"

#define IPBD_IMPLEMENTATION
#include "isphpbd_pbd.h"

#define STEP (1.0f / 60.0f)

/* ---- shared pieces ---- */

typedef struct cloth_mesh {
    float xyz[3 * 17 * 17];
    uint32_t triangles[6 * 16 * 16];
    int count, size;
} cloth_mesh;

static ipbd_body_desc cloth_desc(cloth_mesh *m, int size) {
    ipbd_body_desc d = ipbd_body_desc_preset(IPBD_COTTON);
    m->size = size;
    m->count = ipbd_grid(size, size, 1.0f, 1.0f, m->xyz, m->triangles);
    d.mesh.positions = m->xyz, d.mesh.vertex_count = size * size;
    d.mesh.triangles = m->triangles, d.mesh.triangle_count = m->count;
    return d;
}
typedef struct block_mesh {
    float xyz[3 * 5 * 4 * 4];
    uint32_t tets[24 * 4 * 3 * 3];
    int count;
} block_mesh;

static ipbd_body_desc block_desc(block_mesh *m) {
    ipbd_body_desc d = ipbd_body_desc_preset(IPBD_JELLY);
    m->count = ipbd_block(4, 3, 3, isphpbd_v3(0.4f, 0.3f, 0.3f), m->xyz, m->tets);
    d.mesh.positions = m->xyz, d.mesh.vertex_count = 5 * 4 * 4;
    d.mesh.tetrahedra = m->tets, d.mesh.tetrahedron_count = m->count;
    return d;
}
static ipbd_world_desc small_world(void) {
    ipbd_world_desc d = ipbd_world_desc_default();
    ipbd_capacity *c = &d.capacity;
    c->bodies = 8, c->vertices = 1500, c->input_vertices = 1500, c->triangles = 3000, c->edges = 9000,
    c->dihedral_bends = 4000;
    c->isometric_bends = 4000, c->volume_tetrahedra = 2000, c->elastic_tetrahedra = 2000, c->slabs = 64,
    c->colliders = 16;
    c->collider_vertices = 500, c->collider_triangles = 500, c->contacts = 60000, c->skins = 4, c->skin_vertices = 500;
    return d;
}
static ipbd_world *make_world(void) {
    ipbd_world_desc d = small_world();
    return ipbd_create(&d, NULL);
}
static float nan_value(void) {
    uint32_t bits = 0x7fc00000u;
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}
static float infinity_value(void) {
    uint32_t bits = 0x7f800000u;
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

/* ---- worlds and memory ---- */

typedef struct counting {
    int calls, live, fail_at;
    size_t bytes;
} counting;
static void *count_alloc(size_t size, size_t align, void *user) {
    counting *c = (counting *)user;
    if (c->fail_at >= 0 && c->calls++ >= c->fail_at) return NULL;
    ++c->live, c->bytes += size;
    return isphpbdx_malloc(size, align, NULL);
}
static void count_free(void *ptr, size_t size, void *user) {
    counting *c = (counting *)user;
    --c->live, c->bytes -= size;
    isphpbdx_mfree(ptr, size, NULL);
}
static isphpbd_allocator counting_allocator(counting *c) {
    isphpbd_allocator a;
    memset(c, 0, sizeof *c);
    c->fail_at = 1 << 30;
    a.alloc = count_alloc, a.free = count_free, a.user = c;
    return a;
}
TEST a_world_takes_the_bytes_it_announces(void) {
    counting c;
    ipbd_world_desc d = small_world();
    ipbd_world *world;
    d.allocator = counting_allocator(&c);
    world = ipbd_create(&d, NULL);
    ASSERT(world != NULL);
    ASSERT_EQ(1, c.live);
    ASSERT_EQ(ipbd_bytes(&d), c.bytes);
    ipbd_destroy(world);
    ASSERT_EQ(0, c.live);
    ASSERT_EQ(0u, c.bytes);
    PASS();
}
TEST stepping_never_allocates(void) {
    counting c;
    cloth_mesh mesh;
    block_mesh block;
    ipbd_world_desc d = small_world();
    ipbd_body_desc cloth = cloth_desc(&mesh, 9), jelly = block_desc(&block);
    ipbd_collider_desc floor_desc = ipbd_collider_desc_default();
    ipbd_world *world;
    int i;
    d.allocator = counting_allocator(&c);
    world = ipbd_create(&d, NULL);
    cloth.self_collision = cloth.soft_collision = jelly.soft_collision = true;
    cloth.pose = ipbd_pose_at(0, 0.6f, 0), jelly.pose = ipbd_pose_at(0, 0.2f, 0);
    ASSERT(ipbd_body_create(world, &cloth, NULL).id != 0);
    ASSERT(ipbd_body_create(world, &jelly, NULL).id != 0);
    ASSERT(ipbd_collider_create(world, &floor_desc, NULL).id != 0);
    ASSERT_EQ(1, c.live);
    c.calls = 0;
    for (i = 0; i < 30; ++i) ASSERT_EQ(ISPHPBD_OK, ipbd_step(world, STEP).result);
    ASSERT_EQ(0, c.calls);
    ipbd_destroy(world);
    ASSERT_EQ(0, c.live);
    PASS();
}
/* Every allocation fails once, in turn: clear error, nothing changed, nothing leaked. */
TEST every_allocation_may_fail(void) {
    cloth_mesh mesh;
    ipbd_body_desc cloth = cloth_desc(&mesh, 5);
    int k, completed = 0;
    for (k = 0; k < 8 && !completed; ++k) {
        counting c;
        ipbd_world_desc d = small_world();
        ipbd_capacity capacity = ipbd_capacity_none();
        isphpbd_result why = ISPHPBD_OK;
        ipbd_world *world;
        uint64_t before;
        ipbd_body body;
        d.allocator = counting_allocator(&c);
        c.fail_at = k;
        world = ipbd_create(&d, &why);
        if (!world) {
            ASSERT_EQ(ISPHPBD_OUT_OF_MEMORY, why);
            ASSERT_EQ(0, c.live);
            continue;
        }
        before = ipbd_hash(world);
        body = ipbd_body_create(world, &cloth, &why);
        if (!body.id) {
            ASSERT_EQ(ISPHPBD_OUT_OF_MEMORY, why);
            ASSERT_EQ(before, ipbd_hash(world));
        } else {
            why = ipbd_capacity_add(&capacity, &cloth, &d.allocator);
            if (why == ISPHPBD_OK) completed = 1;
            else {
                ASSERT_EQ(ISPHPBD_OUT_OF_MEMORY, why);
                ASSERT_EQ(0, capacity.vertices);
            }
        }
        ASSERT_EQ(1, c.live);
        ipbd_destroy(world);
        ASSERT_EQ(0, c.live);
    }
    ASSERT(completed);
    PASS();
}
TEST a_measured_capacity_fits_exactly(void) {
    cloth_mesh mesh;
    block_mesh block;
    ipbd_body_desc cloth = cloth_desc(&mesh, 17), jelly = block_desc(&block);
    ipbd_world_desc d = ipbd_world_desc_default();
    ipbd_world *world;
    isphpbd_result why;
    d.capacity = ipbd_capacity_none();
    ASSERT_EQ(ISPHPBD_OK, ipbd_capacity_add(&d.capacity, &cloth, NULL));
    ASSERT_EQ(ISPHPBD_OK, ipbd_capacity_add(&d.capacity, &jelly, NULL));
    ASSERT_EQ(17 * 17 + 5 * 4 * 4, d.capacity.vertices);
    world = ipbd_create(&d, NULL);
    ASSERT(ipbd_body_create(world, &cloth, NULL).id != 0);
    ASSERT(ipbd_body_create(world, &jelly, NULL).id != 0);
    ASSERT_EQ(0u, ipbd_body_create(world, &cloth, &why).id);
    ASSERT_EQ(ISPHPBD_CAPACITY, why);
    ASSERT_EQ(0u, ipbd_step(world, STEP).flags);
    ipbd_destroy(world);
    PASS();
}
/* Lines that collide with soft parts are edges, as those of triangles are. */
TEST a_measured_capacity_fits_ropes(void) {
    const float xyz[12] = {0, 0, 0, 0.1f, 0, 0, 0.2f, 0, 0, 0.3f, 0, 0};
    const uint32_t lines[6] = {0, 1, 1, 2, 2, 3};
    ipbd_body_desc rope = ipbd_body_desc_preset(IPBD_ROPE);
    ipbd_world_desc d = ipbd_world_desc_default();
    ipbd_world *world;
    isphpbd_result why;
    int count;
    rope.mesh.positions = xyz, rope.mesh.vertex_count = 4, rope.mesh.lines = lines;
    for (count = 1; count <= 3; ++count) {
        d.capacity = ipbd_capacity_none();
        rope.mesh.line_count = count, rope.self_collision = false;
        ASSERT_EQ(ISPHPBD_OK, ipbd_capacity_add(&d.capacity, &rope, NULL));
        ASSERT_EQ(0, d.capacity.triangles);
        rope.self_collision = true;
        ASSERT_EQ(ISPHPBD_OK, ipbd_capacity_add(&d.capacity, &rope, NULL));
        ASSERT_EQ(1, d.capacity.triangles);
        d.capacity.contacts = 100;
        world = ipbd_create(&d, NULL);
        rope.self_collision = false;
        ASSERT(ipbd_body_create(world, &rope, NULL).id != 0);
        rope.self_collision = true;
        ASSERT(ipbd_body_create(world, &rope, NULL).id != 0);
        ASSERT_EQ(0u, ipbd_step(world, STEP).flags);
        ipbd_destroy(world);
        d.capacity.triangles = 0, world = ipbd_create(&d, NULL);
        ASSERT_EQ(0u, ipbd_body_create(world, &rope, &why).id);
        ASSERT_EQ(ISPHPBD_CAPACITY, why);
        ipbd_destroy(world);
    }
    PASS();
}
TEST world_descs_are_checked(void) {
    ipbd_world_desc good = small_world(), d;
    isphpbd_result why = ISPHPBD_OK;
    d = good, d.cookie = 0;
    ASSERT(!ipbd_create(&d, &why));
    ASSERT_EQ(ISPHPBD_BAD_DESC, why);
    ASSERT_EQ(0u, ipbd_bytes(&d));
    d = good, d.substeps = 0;
    ASSERT(!ipbd_create(&d, &why));
    ASSERT_EQ(ISPHPBD_BAD_DESC, why);
    ASSERT_EQ(0u, ipbd_bytes(&d));
    d = good, d.iterations = 0;
    ASSERT(!ipbd_create(&d, &why));
    ASSERT_EQ(ISPHPBD_BAD_DESC, why);
    ASSERT_EQ(0u, ipbd_bytes(&d));
    d = good, d.gravity.y = nan_value();
    ASSERT(!ipbd_create(&d, &why));
    ASSERT_EQ(ISPHPBD_BAD_DESC, why);
    ASSERT_EQ(0u, ipbd_bytes(&d));
    d = good, d.sleep_speed = infinity_value();
    ASSERT(!ipbd_create(&d, &why));
    ASSERT_EQ(ISPHPBD_BAD_DESC, why);
    ASSERT_EQ(0u, ipbd_bytes(&d));
    d = good, d.capacity.vertices = -1;
    ASSERT(!ipbd_create(&d, &why));
    ASSERT_EQ(ISPHPBD_BAD_DESC, why);
    ASSERT_EQ(0u, ipbd_bytes(&d));
    d = good, d.capacity.edges = 1 << 30;
    ASSERT(!ipbd_create(&d, &why));
    ASSERT_EQ(ISPHPBD_BAD_DESC, why);
    ASSERT_EQ(0u, ipbd_bytes(&d));
    d = good, d.allocator.alloc = count_alloc;
    ASSERT(!ipbd_create(&d, &why));
    ASSERT_EQ(ISPHPBD_BAD_DESC, why);
    ASSERT_EQ(0u, ipbd_bytes(&d));
    ASSERT(ipbd_create(NULL, &why) == NULL);
    ASSERT_EQ(ISPHPBD_BAD_ARGUMENT, why);
    ipbd_destroy(NULL);
    PASS();
}

/* ---- bad bodies ---- */

typedef struct refusal {
    ipbd_world *world;
    uint64_t before;
} refusal;
static isphpbd_result refused(const refusal *r, const ipbd_body_desc *d) {
    isphpbd_result why = ISPHPBD_OK;
    ipbd_body body = ipbd_body_create(r->world, d, &why);
    if (body.id || ipbd_hash(r->world) != r->before) return ISPHPBD_OK; /* accepted, or something changed */
    return why;
}
TEST bad_bodies_are_refused(void) {
    cloth_mesh mesh;
    ipbd_body_desc good = cloth_desc(&mesh, 5), d;
    float masses[25], keep;
    uint32_t pinned[1] = {25}, flat[4] = {0, 1, 2, 3}, links[2] = {0, 99};
    refusal r;
    int i;
    r.world = make_world();
    r.before = ipbd_hash(r.world);
    for (i = 0; i < 25; ++i) masses[i] = 0.1f;
    d = good, d.cookie = 1;
    ASSERT_EQ(ISPHPBD_BAD_DESC, refused(&r, &d));
    d = good, d.density = 0.0f;
    ASSERT_EQ(ISPHPBD_BAD_DESC, refused(&r, &d));
    d = good, d.density = infinity_value();
    ASSERT_EQ(ISPHPBD_BAD_DESC, refused(&r, &d));
    d = good, d.stretch = ipbd_compliance(-1.0f);
    ASSERT_EQ(ISPHPBD_BAD_DESC, refused(&r, &d));
    d = good, d.bend = ipbd_stiffness(1.5f);
    ASSERT_EQ(ISPHPBD_BAD_DESC, refused(&r, &d));
    d = good, d.young_modulus = nan_value();
    ASSERT_EQ(ISPHPBD_BAD_DESC, refused(&r, &d));
    d = good, d.poisson_ratio = 0.5f;
    ASSERT_EQ(ISPHPBD_BAD_DESC, refused(&r, &d));
    d = good, d.thickness = 0.0f;
    ASSERT_EQ(ISPHPBD_BAD_DESC, refused(&r, &d));
    d = good, d.wind_drag = -1.2f;
    ASSERT_EQ(ISPHPBD_BAD_DESC, refused(&r, &d));
    d = good, d.pose.rotation.w = 3.0f;
    ASSERT_EQ(ISPHPBD_BAD_DESC, refused(&r, &d));
    d = good, d.velocity.x = nan_value();
    ASSERT_EQ(ISPHPBD_BAD_DESC, refused(&r, &d));
    d = ipbd_body_desc_preset(IPBD_PRESET_COUNT), d.mesh = good.mesh;
    ASSERT_EQ(ISPHPBD_BAD_DESC, refused(&r, &d));
    d = good, d.tether_slack = -0.5f; /* -1 alone is a choice */
    ASSERT_EQ(ISPHPBD_BAD_DESC, refused(&r, &d));
    d = good, d.mesh.vertex_count = 0;
    ASSERT_EQ(ISPHPBD_BAD_MESH, refused(&r, &d));
    d = good, d.mesh.triangle_count = 0;
    ASSERT_EQ(ISPHPBD_BAD_MESH, refused(&r, &d));
    d = good, d.mesh.triangle_count = -3;
    ASSERT_EQ(ISPHPBD_BAD_MESH, refused(&r, &d));
    d = good, d.mesh.stride_bytes = 4;
    ASSERT_EQ(ISPHPBD_BAD_MESH, refused(&r, &d));
    d = good, d.mesh.vertex_count = 24; /* now an index is out of range */
    ASSERT_EQ(ISPHPBD_BAD_MESH, refused(&r, &d));
    d = good, d.pinned = pinned, d.pinned_count = 1;
    ASSERT_EQ(ISPHPBD_BAD_MESH, refused(&r, &d));
    d = good, d.links = links, d.link_count = 1;
    ASSERT_EQ(ISPHPBD_BAD_MESH, refused(&r, &d));
    d = good, d.masses = masses, masses[7] = -1.0f; /* negative, zero, infinite inverse */
    ASSERT_EQ(ISPHPBD_BAD_MESH, refused(&r, &d));
    masses[7] = 0.0f;
    ASSERT_EQ(ISPHPBD_BAD_MESH, refused(&r, &d));
    masses[7] = 1e-42f;
    ASSERT_EQ(ISPHPBD_BAD_MESH, refused(&r, &d));
    masses[7] = infinity_value();
    ASSERT_EQ(ISPHPBD_BAD_MESH, refused(&r, &d));
    keep = mesh.xyz[10], mesh.xyz[10] = nan_value();
    ASSERT_EQ(ISPHPBD_BAD_MESH, refused(&r, &good));
    mesh.xyz[10] = infinity_value();
    ASSERT_EQ(ISPHPBD_BAD_MESH, refused(&r, &good));
    mesh.xyz[10] = keep;
    d = good, d.density = 1e-44f; /* shares of it are zero in floats */
    ASSERT_EQ(ISPHPBD_BAD_MESH, refused(&r, &d));
    d = good, d.mesh.triangles = NULL, d.mesh.triangle_count = 0, d.mesh.tetrahedra = flat,
    d.mesh.tetrahedron_count = 1; /* all in a plane */
    ASSERT_EQ(ISPHPBD_BAD_MESH, refused(&r, &d));
    d = good, d.balloon = ipbd_compliance(0.0f); /* not closed */
    ASSERT_EQ(ISPHPBD_BAD_MESH, refused(&r, &d));
    ASSERT_EQ(0u, ipbd_body_create(r.world, NULL, NULL).id);
    ASSERT_EQ(0u, ipbd_body_create(NULL, &good, NULL).id);
    ASSERT(ipbd_body_create(r.world, &good, NULL).id != 0);
    ipbd_destroy(r.world);
    PASS();
}
TEST non_manifold_edges_and_zero_edges_are_refused(void) {
    float xyz[15] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, -1, 0, 0, 0, 1};
    uint32_t fan[9] = {0, 1, 2, 0, 1, 3, 0, 1, 4}, lines[2] = {0, 1};
    ipbd_body_desc d = ipbd_body_desc_default();
    ipbd_mesh_report report;
    refusal r;
    r.world = make_world();
    r.before = ipbd_hash(r.world);
    d.mesh.positions = xyz, d.mesh.vertex_count = 5, d.mesh.triangles = fan, d.mesh.triangle_count = 3;
    ASSERT_EQ(ISPHPBD_BAD_MESH, refused(&r, &d));
    ASSERT_EQ(ISPHPBD_BAD_MESH, ipbd_mesh_check(&d, NULL, &report));
    ASSERT_EQ(1, report.non_manifold_edges);
    d = ipbd_body_desc_default();
    xyz[3] = 0.0f; /* both ends of the line at one place */
    d.mesh.positions = xyz, d.mesh.vertex_count = 5, d.mesh.lines = lines, d.mesh.line_count = 1;
    d.weld_distance = 0.0f;
    ASSERT_EQ(ISPHPBD_BAD_MESH, refused(&r, &d));
    ipbd_destroy(r.world);
    PASS();
}
TEST bad_calls_change_nothing(void) {
    cloth_mesh mesh;
    ipbd_body_desc d = cloth_desc(&mesh, 5);
    ipbd_world *world = make_world();
    ipbd_body body = ipbd_body_create(world, &d, NULL), stale, none;
    ipbd_collider no_collider;
    isphpbd_vec3 bad = isphpbd_v3(nan_value(), 0, 0), v;
    ipbd_pose pose = ipbd_pose_at(infinity_value(), 0, 0);
    uint64_t before = ipbd_hash(world);
    none.id = 0, no_collider.id = 0, stale.id = body.id + 0x10000u;
    ASSERT_EQ(ISPHPBD_BAD_ARGUMENT, ipbd_step(world, nan_value()).result);
    ASSERT_EQ(ISPHPBD_BAD_ARGUMENT, ipbd_step(world, infinity_value()).result);
    ASSERT_EQ(ISPHPBD_BAD_ARGUMENT, ipbd_step(world, 0.0f).result);
    ASSERT_EQ(ISPHPBD_BAD_ARGUMENT, ipbd_step(world, -0.01f).result);
    ASSERT_EQ((uint32_t)IPBD_STEP_REFUSED, ipbd_step(world, 1e-30f).flags);
    ASSERT_EQ(ISPHPBD_BAD_ARGUMENT, ipbd_step(NULL, STEP).result);
    ASSERT_EQ(ISPHPBD_BAD_ARGUMENT, ipbd_set_gravity(world, bad));
    ASSERT_EQ(ISPHPBD_BAD_ARGUMENT, ipbd_set_wind(world, bad));
    ASSERT_EQ(ISPHPBD_BAD_ARGUMENT, ipbd_set_budget(world, 0, 1));
    ASSERT_EQ(ISPHPBD_BAD_ARGUMENT, ipbd_set_budget(world, 1, 0));
    ASSERT_EQ(ISPHPBD_BAD_ARGUMENT, ipbd_shift_origin(world, bad));
    ASSERT_EQ(ISPHPBD_BAD_ARGUMENT, ipbd_pin_move(world, body, 0, bad));
    ASSERT_EQ(ISPHPBD_BAD_ARGUMENT, ipbd_pin(world, body, -1));
    ASSERT_EQ(ISPHPBD_BAD_ARGUMENT, ipbd_pin(world, body, 25));
    ASSERT_EQ(ISPHPBD_BAD_ARGUMENT, ipbd_body_add_velocity(world, body, bad));
    ASSERT_EQ(ISPHPBD_BAD_ARGUMENT, ipbd_vertex_add_impulse(world, body, 0, bad));
    ASSERT_EQ(ISPHPBD_BAD_ARGUMENT, ipbd_vertex_set_mass(world, body, 0, -1.0f));
    ASSERT_EQ(ISPHPBD_BAD_ARGUMENT, ipbd_vertex_set_mass(world, body, 0, infinity_value()));
    ASSERT_EQ(ISPHPBD_BAD_ARGUMENT, ipbd_body_set_pressure(world, body, -1.0f, 0.0f));
    ASSERT_EQ(ISPHPBD_BAD_ARGUMENT, ipbd_body_set_gravity_scale(world, body, nan_value()));
    ASSERT_EQ(ISPHPBD_BAD_ARGUMENT, ipbd_body_teleport(world, body, isphpbd_v3(0, 0, 0), pose));
    ASSERT_EQ(ISPHPBD_BAD_HANDLE, ipbd_attach(world, body, 0, no_collider));
    ASSERT_EQ(ISPHPBD_BAD_HANDLE, ipbd_body_destroy(world, none));
    ASSERT_EQ(ISPHPBD_BAD_HANDLE, ipbd_body_destroy(world, stale));
    ASSERT_EQ(ISPHPBD_BAD_HANDLE, ipbd_body_vertex(world, stale, 0, &v, NULL));
    ASSERT_EQ(0, ipbd_body_view(world, stale).vertex_count);
    ASSERT_EQ(ISPHPBD_BAD_HANDLE, ipbd_collider_destroy(world, no_collider));
    ASSERT_EQ(ISPHPBD_BAD_ARGUMENT, ipbd_substep_predict(world));
    ASSERT_EQ(ISPHPBD_BAD_ARGUMENT, ipbd_substep_iterate(world));
    ASSERT_EQ(ISPHPBD_BAD_ARGUMENT, ipbd_substep_end(world));
    ASSERT_EQ(ISPHPBD_BAD_ARGUMENT, ipbd_step_finish(world).result);
    ASSERT_EQ(before, ipbd_hash(world));
    ipbd_destroy(world);
    PASS();
}
/* 1e9 m are the end of the world; what would be beyond stays, with all the rest. */
TEST origin_is_not_shifted_too_far(void) {
    cloth_mesh mesh;
    ipbd_body_desc d = cloth_desc(&mesh, 5);
    ipbd_world *world = make_world();
    ipbd_collider_desc floor = ipbd_collider_desc_default();
    ipbd_collider collider;
    uint64_t before;
    (void)ipbd_body_create(world, &d, NULL);
    ASSERT_EQ(ISPHPBD_OK, ipbd_shift_origin(world, isphpbd_v3(0.9e9f, 0, 0)));
    before = ipbd_hash(world);
    ASSERT_EQ(ISPHPBD_BAD_ARGUMENT, ipbd_shift_origin(world, isphpbd_v3(0.9e9f, 0, 0)));
    ASSERT_EQ(before, ipbd_hash(world));
    ipbd_destroy(world);
    world = make_world();
    floor.pose.position.y = 0.9e9f;
    collider = ipbd_collider_create(world, &floor, NULL);
    ASSERT(collider.id != 0);
    before = ipbd_hash(world);
    ASSERT_EQ(ISPHPBD_BAD_ARGUMENT, ipbd_shift_origin(world, isphpbd_v3(0, 0.9e9f, 0)));
    ASSERT_EQ(before, ipbd_hash(world));
    ASSERT_EQ(ISPHPBD_OK, ipbd_shift_origin(world, isphpbd_v3(0, -0.9e9f, 0)));
    ipbd_destroy(world);
    PASS();
}
/* Sums stay where ipbd_create() takes them, and within int. */
TEST capacities_do_not_overflow(void) {
    cloth_mesh mesh;
    ipbd_body_desc cloth = cloth_desc(&mesh, 17);
    ipbd_capacity full = ipbd_capacity_none(), before;
    full.edges = 1 << 28, before = full;
    ASSERT_EQ(ISPHPBD_CAPACITY, ipbd_capacity_add(&full, &cloth, NULL));
    ASSERT_EQ(0, memcmp(&full, &before, sizeof full));
    full.edges = 0x7fffffff, before = full;
    ASSERT_EQ(ISPHPBD_BAD_ARGUMENT, ipbd_capacity_add(&full, &cloth, NULL));
    ASSERT_EQ(0, memcmp(&full, &before, sizeof full));
    PASS();
}
TEST bad_colliders_are_refused(void) {
    ipbd_world *world = make_world();
    float xyz[9] = {0, 0, 0, 1, 0, 0, 0, 1, 0}, heights[4] = {0, 0, 0, 0};
    uint32_t good[3] = {0, 1, 2}, wild[3] = {0, 1, 7};
    ipbd_collider_desc d = ipbd_collider_desc_default(), base = d;
    isphpbd_result why;
    uint64_t before = ipbd_hash(world);
    d.cookie = 0;
    ASSERT_EQ(0u, ipbd_collider_create(world, &d, &why).id);
    ASSERT_EQ(ISPHPBD_BAD_DESC, why);
    d = base, d.shape = ipbd_shape_sphere(nan_value());
    ASSERT_EQ(0u, ipbd_collider_create(world, &d, &why).id);
    ASSERT_EQ(ISPHPBD_BAD_DESC, why);
    d = base, d.shape = ipbd_shape_box(1, -1, 1);
    ASSERT_EQ(0u, ipbd_collider_create(world, &d, &why).id);
    d = base, d.shape = ipbd_shape_sdf(NULL, NULL);
    ASSERT_EQ(0u, ipbd_collider_create(world, &d, &why).id);
    d = base, d.shape = ipbd_shape_mesh(xyz, 3, wild, 1);
    ASSERT_EQ(0u, ipbd_collider_create(world, &d, &why).id);
    ASSERT_EQ(ISPHPBD_BAD_MESH, why);
    xyz[4] = infinity_value();
    d = base, d.shape = ipbd_shape_mesh(xyz, 3, good, 1);
    ASSERT_EQ(0u, ipbd_collider_create(world, &d, &why).id);
    d = base, d.shape = ipbd_shape_heightfield(heights, 1, 4, 1.0f);
    ASSERT_EQ(0u, ipbd_collider_create(world, &d, &why).id);
    d = base, d.mass = -1.0f;
    ASSERT_EQ(0u, ipbd_collider_create(world, &d, &why).id);
    d = base, d.shape.type = (ipbd_shape_type)77;
    ASSERT_EQ(0u, ipbd_collider_create(world, &d, &why).id);
    ASSERT_EQ(before, ipbd_hash(world));
    ipbd_destroy(world);
    PASS();
}

/* ---- meshes that are repaired ---- */

TEST seams_are_welded_and_do_not_tear(void) {
    /* A strip of two quads whose middle vertices exist twice, as at a UV seam. */
    float xyz[24] = {-1, 0, 0, 0, 0, 0, -1, 0, 1, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 1, 1, 0, 1};
    uint32_t triangles[12] = {0, 2, 1, 1, 2, 3, 4, 6, 5, 5, 6, 7}, pinned[2] = {0, 2};
    ipbd_body_desc d = ipbd_body_desc_default();
    ipbd_world *world = make_world();
    ipbd_mesh_report report;
    ipbd_body body;
    isphpbd_vec3 a, b;
    int i;
    d.mesh.positions = xyz, d.mesh.vertex_count = 8, d.mesh.triangles = triangles, d.mesh.triangle_count = 4;
    d.pinned = pinned, d.pinned_count = 2;
    body = ipbd_body_create(world, &d, NULL);
    ASSERT(body.id != 0);
    ASSERT_EQ(ISPHPBD_OK, ipbd_body_report(world, body, &report));
    ASSERT_EQ(2, report.welded);
    ASSERT_EQ(6, ipbd_body_view(world, body).vertex_count);
    ASSERT_EQ(8, ipbd_body_view(world, body).input_vertex_count);
    for (i = 0; i < 60; ++i) ipbd_step(world, STEP);
    ipbd_body_vertex(world, body, 1, &a, NULL), ipbd_body_vertex(world, body, 4, &b, NULL);
    ASSERT_EQ(0, memcmp(&a, &b, sizeof a));
    ASSERT(a.y < -0.1f);
    ipbd_body_vertex(world, body, 5, &b, NULL);
    ASSERT(b.y > -2.2f && b.y < -0.5f); /* the far end hangs on the near one: not torn off */
    ipbd_destroy(world);
    PASS();
}
TEST broken_triangles_are_repaired_and_reported(void) {
    cloth_mesh mesh;
    ipbd_body_desc d = cloth_desc(&mesh, 5);
    uint32_t triangles[3 * 40], swap;
    ipbd_mesh_report report;
    int n = mesh.count;
    memcpy(triangles, mesh.triangles, sizeof(uint32_t) * 3 * (size_t)n);
    memcpy(triangles + 3 * n, triangles + 30, 12), ++n; /* a duplicate */
    swap = triangles[3 * n - 2], triangles[3 * n - 2] = triangles[3 * n - 1],
    triangles[3 * n - 1] = swap;                                                   /* wound the other way */
    triangles[3 * n] = 3, triangles[3 * n + 1] = 3, triangles[3 * n + 2] = 4, ++n; /* repeats a vertex */
    triangles[3 * n] = 0, triangles[3 * n + 1] = 1, triangles[3 * n + 2] = 2, ++n; /* three in a row: no area */
    swap = triangles[10], triangles[10] = triangles[11], triangles[11] = swap;     /* triangle 3 turned */
    d.mesh.triangles = triangles, d.mesh.triangle_count = n;
    ASSERT_EQ(ISPHPBD_OK, ipbd_mesh_check(&d, NULL, &report));
    ASSERT_EQ(1, report.duplicate_triangles);
    ASSERT_EQ(2, report.degenerate_triangles);
    ASSERT_EQ(1, report.flipped_triangles);
    PASS();
}
TEST elements_given_twice_are_dropped_and_reported(void) {
    block_mesh block;
    ipbd_body_desc d = block_desc(&block), rope = ipbd_body_desc_preset(IPBD_ROPE);
    uint32_t tets[24 * 4 * 3 * 3 + 8], lines[8] = {0, 1, 1, 2, 1, 0, 0, 1};
    ipbd_world *world = make_world();
    ipbd_mesh_report report;
    ipbd_body body;
    int k;
    ASSERT_EQ(ISPHPBD_OK, ipbd_mesh_check(&d, NULL, &report));
    ASSERT_EQ(0, report.inverted_tetrahedra + report.duplicate_tetrahedra); /* ipbd_block needs no repair */
    memcpy(tets, block.tets, sizeof block.tets);
    for (k = 0; k < 4; ++k) /* the first once more, and the second with its corners in another order */
        tets[24 * 36 + k] = tets[k], tets[24 * 36 + 4 + k] = tets[4 + (k + 1) % 4];
    d.mesh.tetrahedra = tets, d.mesh.tetrahedron_count += 2;
    body = ipbd_body_create(world, &d, NULL);
    ASSERT_EQ(ISPHPBD_OK, ipbd_body_report(world, body, &report));
    ASSERT_EQ(2, report.duplicate_tetrahedra);
    ASSERT_EQ(6 * 36, ipbd_world_stats(world).tetrahedra);
    ASSERT_IN_RANGE(1000.0 * 0.4 * 0.3 * 0.3, ipbd_body_mass(world, body), 1e-3);
    ASSERT_EQ(2 * 2 * (4 * 3 + 4 * 3 + 3 * 3), ipbd_body_view(world, body).triangle_count);
    rope.mesh.positions = block.xyz, rope.mesh.vertex_count = 3, rope.mesh.lines = lines, rope.mesh.line_count = 4;
    ASSERT_EQ(ISPHPBD_OK, ipbd_mesh_check(&rope, NULL, &report));
    ASSERT_EQ(2, report.duplicate_lines);
    body = ipbd_body_create(world, &rope, NULL);
    ASSERT_IN_RANGE(0.2 * (double)rope.line_density, ipbd_body_mass(world, body), 1e-6);
    ipbd_destroy(world);
    PASS();
}
static void count_advice(isphpbd_log_level level, isphpbd_result code, const char *text, void *user) {
    int *said = (int *)user;
    if (level != ISPHPBD_LOG_WARNING || code != ISPHPBD_OK) return;
    said[0] += strstr(text, "repaired") != NULL, said[1] += strstr(text, "kg/m^2") != NULL;
    said[2] += strstr(text, "overpressure") != NULL, said[3] += strstr(text, "stiff") != NULL;
}
/* Says which of the four pieces of advice creation gives: one bit each. */
static int advice_on(const ipbd_body_desc *d, int substeps) {
    ipbd_world_desc desc = small_world();
    int said[4] = {0, 0, 0, 0};
    ipbd_world *world;
    desc.logger.fn = count_advice, desc.logger.user = said, desc.substeps = substeps;
    world = ipbd_create(&desc, NULL);
    ipbd_body_create(world, d, NULL);
    ipbd_destroy(world);
    return said[0] + 2 * said[1] + 4 * said[2] + 8 * said[3];
}
TEST creation_warns_of_what_is_hardly_meant(void) {
    cloth_mesh mesh;
    block_mesh block;
    ipbd_body_desc cloth = cloth_desc(&mesh, 5), jelly = block_desc(&block), steel = ipbd_body_desc_preset(IPBD_JELLY);
    uint32_t swap;
    ASSERT_EQ(0, advice_on(&cloth, 12));
    ASSERT_EQ(0, advice_on(&jelly, 12));
    steel.mesh = cloth.mesh; /* 1000 kg/m^2 */
    ASSERT_EQ(2, advice_on(&steel, 12));
    cloth.overpressure = 100.0f;
    ASSERT_EQ(4, advice_on(&cloth, 12));
    jelly.young_modulus = 1e7f; /* sound passes one element in a twentieth of a 60th, and four in a fifth */
    ASSERT_EQ(0, advice_on(&jelly, 20));
    ASSERT_EQ(8, advice_on(&jelly, 5));
    jelly.warm_start = 0.0f; /* known not to hold its stiffness */
    ASSERT_EQ(0, advice_on(&jelly, 5));
    swap = block.tets[0], block.tets[0] = block.tets[1], block.tets[1] = swap;
    ASSERT_EQ(1, advice_on(&jelly, 5));
    PASS();
}
TEST unused_vertices_are_left_out(void) {
    float xyz[15] = {0, 0, 0, 9, 9, 9, 1, 0, 0, 0, 0, 1, 5, 5, 5};
    uint32_t triangle[3] = {0, 2, 3};
    float out[15];
    ipbd_body_desc d = ipbd_body_desc_default();
    ipbd_world *world = make_world();
    ipbd_body body;
    ipbd_view view;
    d.mesh.positions = xyz, d.mesh.vertex_count = 5, d.mesh.triangles = triangle, d.mesh.triangle_count = 1;
    body = ipbd_body_create(world, &d, NULL);
    view = ipbd_body_view(world, body);
    ASSERT_EQ(3, view.vertex_count);
    ASSERT_EQ(IPBD_NO_VERTEX, view.vertex_map[1]);
    ASSERT_EQ(ISPHPBD_BAD_ARGUMENT, ipbd_pin(world, body, 1));
    memset(out, 0, sizeof out);
    ASSERT_EQ(ISPHPBD_OK, ipbd_body_read(world, body, out, NULL, 12));
    ASSERT(out[6] == 1.0f && out[3] == 0.0f);
    ipbd_destroy(world);
    PASS();
}
/* Back where it was made and at rest, from where it falls as it did before; pins that were moved are back, too. */
TEST a_reset_body_begins_again(void) {
    cloth_mesh mesh;
    ipbd_body_desc d = cloth_desc(&mesh, 5);
    uint32_t pin = 0;
    ipbd_world *world = make_world();
    ipbd_body body;
    float before[75], first[75], again[75], normals[75];
    int i;
    d.pinned = &pin, d.pinned_count = 1;
    body = ipbd_body_create(world, &d, NULL);
    ASSERT_EQ(ISPHPBD_OK, ipbd_body_read(world, body, before, normals, 12));
    for (i = 0; i < 75; ++i) ASSERT_IN_RANGE(i % 3 == 1 ? 1.0f : 0.0f, fabsf(normals[i]), 1e-6f);
    for (i = 0; i < 30; ++i) ipbd_step(world, STEP);
    ASSERT_EQ(ISPHPBD_OK, ipbd_body_read(world, body, first, NULL, 12));
    ASSERT_EQ(ISPHPBD_OK, ipbd_pin_move(world, body, 0, isphpbd_v3(0.1f, 0.2f, 0.3f)));
    for (i = 0; i < 30; ++i) ipbd_step(world, STEP);
    ASSERT_EQ(ISPHPBD_OK, ipbd_body_reset(world, body));
    ASSERT_EQ(ISPHPBD_OK, ipbd_body_read(world, body, again, NULL, 12));
    ASSERT_MEM_EQ(before, again, sizeof before);
    ASSERT(ipbd_world_stats(world).kinetic_energy == 0.0);
    for (i = 0; i < 30; ++i) ipbd_step(world, STEP);
    ASSERT_EQ(ISPHPBD_OK, ipbd_body_read(world, body, again, NULL, 12));
    for (i = 0; i < 75; ++i) ASSERT_IN_RANGE(first[i], again[i], 1e-4f);
    ipbd_destroy(world);
    PASS();
}
TEST closed_surfaces_point_outward_and_tetrahedra_are_turned(void) {
    block_mesh block;
    ipbd_body_desc d = block_desc(&block);
    ipbd_world *world = make_world();
    ipbd_mesh_report report;
    ipbd_body body;
    uint32_t swap = block.tets[0];
    block.tets[0] = block.tets[1], block.tets[1] = swap;
    body = ipbd_body_create(world, &d, NULL);
    ASSERT(body.id != 0);
    ipbd_body_report(world, body, &report);
    ASSERT(report.inverted_tetrahedra > 0);
    ASSERT_IN_RANGE(0.4 * 0.3 * 0.3, ipbd_body_volume(world, body), 1e-6);
    ASSERT_EQ(2 * 2 * (4 * 3 + 4 * 3 + 3 * 3), ipbd_body_view(world, body).triangle_count);
    ASSERT_IN_RANGE(1000.0 * 0.4 * 0.3 * 0.3, ipbd_body_mass(world, body), 1e-3);
    ipbd_destroy(world);
    PASS();
}
TEST constraints_are_derived(void) {
    cloth_mesh mesh;
    ipbd_body_desc d = cloth_desc(&mesh, 9);
    ipbd_world *world = make_world();
    ipbd_stats s;
    ASSERT(ipbd_body_create(world, &d, NULL).id != 0);
    s = ipbd_world_stats(world);
    ASSERT_EQ(8 * 9 * 2 + 64, s.edges);
    ASSERT_EQ(8 * 9 * 2 + 64 - 32, s.bends); /* every edge that is not on the border */
    ipbd_destroy(world);
    PASS();
}

/* ---- handles, locking ---- */

TEST bodies_come_and_go(void) {
    cloth_mesh mesh;
    block_mesh block;
    ipbd_body_desc cloth = cloth_desc(&mesh, 7), jelly = block_desc(&block);
    ipbd_world *world = make_world(), *alone = make_world();
    ipbd_body a, b, c, lone;
    isphpbd_vec3 p, q;
    int i, k;
    cloth.pose = ipbd_pose_at(0, 3, 0), jelly.pose = ipbd_pose_at(5, 1, 0);
    a = ipbd_body_create(world, &cloth, NULL), b = ipbd_body_create(world, &jelly, NULL);
    cloth.pose = ipbd_pose_at(-5, 3, 0);
    c = ipbd_body_create(world, &cloth, NULL);
    ASSERT_EQ(ISPHPBD_OK, ipbd_body_destroy(world, a));
    ASSERT_EQ(ISPHPBD_BAD_HANDLE, ipbd_body_destroy(world, a));
    a = ipbd_body_create(world, &cloth, NULL); /* the slot again, another generation */
    ASSERT(a.id != 0);
    ipbd_body_destroy(world, a);
    /* What is left behaves as if the others had never been. */
    lone = ipbd_body_create(alone, &jelly, NULL);
    for (i = 0; i < 20; ++i) ipbd_step(world, STEP), ipbd_step(alone, STEP);
    for (k = 0; k < jelly.mesh.vertex_count; ++k) {
        ASSERT_EQ(ISPHPBD_OK, ipbd_body_vertex(world, b, k, &p, NULL));
        ASSERT_EQ(ISPHPBD_OK, ipbd_body_vertex(alone, lone, k, &q, NULL));
        ASSERT_EQ(0, memcmp(&p, &q, sizeof p));
    }
    ASSERT_EQ(ISPHPBD_OK, ipbd_body_destroy(world, c));
    ASSERT_EQ(ISPHPBD_OK, ipbd_body_destroy(world, b));
    ASSERT_EQ(0, ipbd_world_stats(world).vertices);
    ASSERT_EQ(ISPHPBD_OK, ipbd_step(world, STEP).result); /* an empty world */
    ipbd_destroy(world), ipbd_destroy(alone);
    PASS();
}
typedef struct intruder {
    ipbd_body body;
    int tried, locked;
} intruder;
static void intrude(ipbd_world *world, const ipbd_arrays *arrays, float h, void *user) {
    intruder *i = (intruder *)user;
    ipbd_body_desc d = ipbd_body_desc_default();
    isphpbd_result why = ISPHPBD_OK;
    (void)h;
    if (arrays->vertex_count == 0) return;
    ++i->tried;
    i->locked += ipbd_body_destroy(world, i->body) == ISPHPBD_LOCKED;
    i->locked += ipbd_body_create(world, &d, &why).id == 0 && why == ISPHPBD_LOCKED;
    i->locked += ipbd_step(world, STEP).result == ISPHPBD_LOCKED;
    i->locked += ipbd_set_gravity(world, isphpbd_v3(0, 0, 0)) == ISPHPBD_LOCKED;
    ipbd_destroy(world); /* refused as well */
}
TEST nothing_changes_from_inside_a_step(void) {
    cloth_mesh mesh;
    ipbd_body_desc d = cloth_desc(&mesh, 5);
    ipbd_world *world = make_world();
    intruder i;
    ipbd_hooks hooks;
    memset(&i, 0, sizeof i), memset(&hooks, 0, sizeof hooks);
    i.body = ipbd_body_create(world, &d, NULL);
    hooks.begin = intrude, hooks.end = intrude, hooks.user = &i;
    ASSERT_EQ(ISPHPBD_OK, ipbd_set_hooks(world, &hooks));
    ASSERT_EQ(ISPHPBD_OK, ipbd_step(world, STEP).result);
    ASSERT_EQ(24, i.tried);
    ASSERT_EQ(4 * 24, i.locked);
    ASSERT_EQ(25, ipbd_body_view(world, i.body).vertex_count);
    ASSERT_EQ(ISPHPBD_OK, ipbd_step_begin(world, STEP, 2));
    ASSERT_EQ(ISPHPBD_LOCKED, ipbd_body_destroy(world, i.body));
    ASSERT_EQ(ISPHPBD_OK, ipbd_step_finish(world).result);
    ASSERT_EQ(ISPHPBD_OK, ipbd_body_destroy(world, i.body));
    ipbd_destroy(world);
    PASS();
}

/* ---- hooks for a coupler ---- */

static void lend_mass(ipbd_world *world, const ipbd_arrays *arrays, float h, void *user) {
    int i;
    (void)world, (void)h, (void)user;
    for (i = 0; i < arrays->vertex_count; ++i) arrays->positions[4 * i + 3] = 0.25f * arrays->inverse_masses[i];
}
TEST lent_mass_does_not_change_free_fall_by_gravity_on_the_real_mass(void) {
    cloth_mesh mesh;
    ipbd_body_desc d = cloth_desc(&mesh, 5);
    ipbd_world *world = make_world();
    ipbd_body body;
    ipbd_hooks hooks;
    isphpbd_vec3 v;
    memset(&hooks, 0, sizeof hooks);
    hooks.begin = lend_mass;
    d.damping = 0.0f;
    body = ipbd_body_create(world, &d, NULL);
    ipbd_set_hooks(world, &hooks);
    ipbd_step(world, STEP);
    ipbd_body_vertex(world, body, 12, NULL, &v);
    ASSERT_IN_RANGE(-9.81f / 60.0f / 4.0f, v.y, 1e-4f); /* four times the mass, the same weight */
    ipbd_set_hooks(world, NULL);
    ipbd_step(world, STEP);
    ipbd_body_vertex(world, body, 12, NULL, &v);
    ASSERT_IN_RANGE(-9.81f / 60.0f * 1.25f, v.y, 1e-4f);
    ipbd_destroy(world);
    PASS();
}
static void hold_above_zero(ipbd_world *world, const ipbd_arrays *arrays, float h, int iteration, void *user) {
    int i;
    (void)world, (void)h, (void)iteration, (void)user;
    for (i = 0; i < arrays->vertex_count; ++i)
        if (arrays->positions[4 * i + 1] < 0.0f) arrays->positions[4 * i + 1] = 0.0f;
}
TEST external_contacts_act_inside_the_loop(void) {
    cloth_mesh mesh;
    ipbd_body_desc d = cloth_desc(&mesh, 5);
    ipbd_world *world = make_world();
    ipbd_body body;
    ipbd_hooks hooks;
    isphpbd_vec3 p, v;
    int i;
    memset(&hooks, 0, sizeof hooks);
    hooks.iterate = hold_above_zero;
    d.pose = ipbd_pose_at(0, 0.2f, 0);
    body = ipbd_body_create(world, &d, NULL);
    ipbd_set_hooks(world, &hooks);
    for (i = 0; i < 60; ++i) ipbd_step(world, STEP);
    ipbd_body_vertex(world, body, 12, &p, &v);
    ASSERT_EQ(0.0f, p.y);
    ASSERT_EQ(0.0f, v.y);
    ipbd_destroy(world);
    PASS();
}
/* Hooks that write what is no place, no speed, no load: what they wrote to is put to rest and counted, and nobody sees
   it, in the step or after it. `where`: bits for begin, iterate, end, and the arrays between steps. */
typedef struct vandal {
    float value;
    int array; /* positions, velocities, loads, w */
} vandal;
static void vandalise(const ipbd_arrays *a, const vandal *v) {
    float *rows[3];
    int i;
    rows[0] = a->positions, rows[1] = a->velocities, rows[2] = a->loads;
    for (i = 0; i < a->vertex_count; i += 7) {
        if (v->array == 3) a->positions[4 * i + 3] = v->value;
        else rows[v->array][4 * i + i % 3] = v->value;
    }
}
static void vandal_begin(ipbd_world *world, const ipbd_arrays *a, float h, void *user) {
    (void)world, (void)h;
    vandalise(a, (const vandal *)user);
}
static void vandal_iterate(ipbd_world *world, const ipbd_arrays *a, float h, int iteration, void *user) {
    (void)iteration;
    vandal_begin(world, a, h, user);
}
static enum greatest_test_res check_after_vandals(ipbd_world *world, ipbd_body body) {
    const ipbd_arrays a = ipbd_world_arrays(world);
    const size_t size = ipbd_save(world, NULL, 0);
    void *bytes = malloc(size);
    isphpbd_vec3 force;
    int i, k;
    for (i = 0; i < a.vertex_count; ++i)
        for (k = 0; k < 3; ++k)
            ASSERT(isphpbdx_finite(a.positions[4 * i + k]) && isphpbdx_finite(a.velocities[4 * i + k]));
    for (i = 0; i < a.vertex_count; ++i)
        ASSERT(a.positions[4 * i + 3] >= 0.0f && isphpbdx_finite(a.positions[4 * i + 3]));
    ASSERT_EQ(ISPHPBD_OK, ipbd_pin_force(world, body, 0, &force));
    ASSERT(isphpbdx_finite3(force));
    ASSERT(ipbd_world_stats(world).kinetic_energy < 1e300);
    ASSERT(bytes != NULL && ipbd_save(world, bytes, size) == size);
    ASSERT_EQ(ISPHPBD_OK, ipbd_load(world, bytes, size));
    free(bytes);
    PASS();
}
TEST what_hooks_write_is_looked_at(void) {
    static const uint32_t bits[4] = {0x7fc00000u, 0x7f800000u, 0xff7fffffu, 0x7e967699u}; /* NaN, inf, -max, 1e38 */
    int kind;
    for (kind = 0; kind < 64; ++kind) {
        const int where = kind / 16;
        cloth_mesh mesh;
        ipbd_body_desc d = cloth_desc(&mesh, 5);
        const uint32_t pins[2] = {0, 4};
        ipbd_world *world = make_world();
        ipbd_body body;
        ipbd_hooks hooks;
        vandal v;
        int i;
        memset(&hooks, 0, sizeof hooks);
        memcpy(&v.value, &bits[kind % 4], 4), v.array = kind / 4 % 4;
        if (where == 0) hooks.begin = vandal_begin;
        if (where == 1) hooks.iterate = vandal_iterate;
        if (where == 2) hooks.end = vandal_begin;
        hooks.user = &v;
        d.pinned = pins, d.pinned_count = 2;
        body = ipbd_body_create(world, &d, NULL);
        ASSERT_EQ(ISPHPBD_OK, ipbd_set_hooks(world, &hooks));
        for (i = 0; i < 3; ++i) {
            const ipbd_arrays arrays = ipbd_world_arrays(world);
            ipbd_step_info info;
            if (where == 3) vandalise(&arrays, &v);
            info = ipbd_step(world, STEP);
            if (v.array < 2 && where != 1) ASSERT((info.flags & IPBD_STEP_QUARANTINE) != 0);
            CHECK_CALL(check_after_vandals(world, body));
        }
        ipbd_destroy(world);
    }
    PASS();
}
/* Also in bodies that sleep on. */
TEST what_hooks_write_to_sleepers_is_looked_at(void) {
    int array;
    for (array = 0; array < 4; ++array) {
        cloth_mesh mesh;
        ipbd_body_desc d = cloth_desc(&mesh, 5);
        ipbd_world *world = make_world();
        ipbd_hooks hooks;
        ipbd_body body;
        vandal v;
        int i;
        v.value = array == 3 ? -1.0f : 1e38f, v.array = array;
        memset(&hooks, 0, sizeof hooks);
        hooks.begin = vandal_begin, hooks.user = &v;
        d.can_sleep = true, d.gravity_scale = 0.0f;
        body = ipbd_body_create(world, &d, NULL);
        for (i = 0; i < 60; ++i) (void)ipbd_step(world, STEP);
        ASSERT_EQ_FMT(1, ipbd_world_stats(world).sleeping_bodies, "%d");
        ASSERT_EQ(ISPHPBD_OK, ipbd_set_hooks(world, &hooks));
        (void)ipbd_step(world, STEP);
        ASSERT_EQ_FMT(1, ipbd_world_stats(world).sleeping_bodies, "%d");
        CHECK_CALL(check_after_vandals(world, body));
        ipbd_destroy(world);
    }
    PASS();
}
/* No call and no sequence of calls leads to a place or speed that the world's own snapshot would not be taken back
   with. */
TEST calls_lead_to_no_place_that_is_none(void) {
    cloth_mesh mesh;
    ipbd_body_desc d = cloth_desc(&mesh, 5);
    ipbd_world *world = make_world();
    ipbd_body body = ipbd_body_create(world, &d, NULL);
    const isphpbd_vec3 origin = isphpbd_v3(0, 0, 0);
    uint64_t before;
    ASSERT_EQ(ISPHPBD_OK, ipbd_body_add_velocity(world, body, isphpbd_v3(9e8f, 0, 0)));
    ASSERT_EQ(ISPHPBD_OK, ipbd_body_teleport(world, body, origin, ipbd_pose_at(9e8f, 0, 0)));
    before = ipbd_hash(world);
    ASSERT_EQ(ISPHPBD_BAD_ARGUMENT, ipbd_body_add_velocity(world, body, isphpbd_v3(9e8f, 0, 0)));
    ASSERT_EQ(ISPHPBD_BAD_ARGUMENT, ipbd_body_teleport(world, body, origin, ipbd_pose_at(9e8f, 0, 0)));
    ASSERT_EQ(before, ipbd_hash(world));
    ipbd_destroy(world);
    PASS();
}
TEST stepping_by_pieces_is_the_same(void) {
    cloth_mesh mesh;
    block_mesh block;
    ipbd_body_desc d = cloth_desc(&mesh, 9), e = block_desc(&block);
    ipbd_world *a = make_world(), *b = make_world();
    int i, k;
    ipbd_body_create(a, &d, NULL), ipbd_body_create(b, &d, NULL);
    e.pose = ipbd_pose_at(0, 2, 0);
    ipbd_body_create(a, &e, NULL), ipbd_body_create(b, &e, NULL);
    for (i = 0; i < 10; ++i) {
        ipbd_step(a, STEP);
        ASSERT_EQ(ISPHPBD_OK, ipbd_step_begin(b, STEP, 12));
        for (k = 0; k < 12; ++k) {
            ASSERT_EQ(ISPHPBD_OK, ipbd_substep_predict(b));
            ASSERT_EQ(ISPHPBD_OK, ipbd_substep_iterate(b));
            ASSERT_EQ(ISPHPBD_OK, ipbd_substep_end(b));
        }
        ASSERT_EQ(ISPHPBD_BAD_ARGUMENT, ipbd_substep_predict(b));
        ASSERT_EQ(ISPHPBD_OK, ipbd_step_finish(b).result);
    }
    ASSERT_EQ(ipbd_hash(a), ipbd_hash(b));
    ipbd_destroy(a), ipbd_destroy(b);
    PASS();
}

/* ---- snapshots and determinism ---- */

static void fill_scene(ipbd_world *world) {
    cloth_mesh mesh;
    block_mesh block;
    ipbd_body_desc cloth = cloth_desc(&mesh, 11), jelly = block_desc(&block);
    ipbd_collider_desc c = ipbd_collider_desc_default();
    uint32_t corners[2] = {0, 10};
    ipbd_collider_create(world, &c, NULL);
    c.shape = ipbd_shape_sphere(0.2f), c.pose = ipbd_pose_at(0, 0.5f, 0.2f);
    ipbd_collider_create(world, &c, NULL);
    cloth.self_collision = cloth.soft_collision = jelly.soft_collision = true;
    cloth.bend_model = IPBD_BEND_DIHEDRAL, cloth.pose = ipbd_pose_at(0, 0.8f, 0), cloth.pinned = corners,
    cloth.pinned_count = 2;
    cloth.wind_drag = 1.0f, cloth.still_air = true, cloth.tether_slack = 1.05f;
    ipbd_body_create(world, &cloth, NULL);
    jelly.pose = ipbd_pose_at(0.1f, 1.2f, 0.1f);
    ipbd_body_create(world, &jelly, NULL);
    ipbd_set_wind(world, isphpbd_v3(1, 0, 2));
}
TEST a_snapshot_resumes_exactly(void) {
    ipbd_world *a = make_world(), *b = make_world();
    size_t size, i;
    unsigned char *bytes;
    uint64_t hash;
    int step;
    fill_scene(a);
    for (step = 0; step < 15; ++step) ipbd_step(a, STEP);
    size = ipbd_save(a, NULL, 0);
    bytes = (unsigned char *)malloc(size);
    ASSERT_EQ(size, ipbd_save(a, bytes, size - 1));
    ASSERT_EQ(size, ipbd_save(a, bytes, size));
    ASSERT_EQ(ISPHPBD_OK, ipbd_load(b, bytes, size));
    ASSERT_EQ(ipbd_hash(a), ipbd_hash(b));
    for (step = 0; step < 8; ++step) ipbd_step(a, STEP), ipbd_step(b, STEP);
    ASSERT_EQ(ipbd_hash(a), ipbd_hash(b));
    /* Damage: rejected, unchanged. */
    hash = ipbd_hash(b);
    ASSERT_EQ(ISPHPBD_BAD_SNAPSHOT, ipbd_load(b, bytes, size - 4));
    ASSERT_EQ(ISPHPBD_BAD_SNAPSHOT, ipbd_load(b, bytes, 3));
    ASSERT_EQ(ISPHPBD_BAD_SNAPSHOT, ipbd_load(b, NULL, size));
    for (i = 0; i < size; i += size / 61 + 1) {
        bytes[i] ^= 0x40;
        ASSERT_EQ(ISPHPBD_BAD_SNAPSHOT, ipbd_load(b, bytes, size));
        bytes[i] ^= 0x40;
    }
    ASSERT_EQ(hash, ipbd_hash(b));
    free(bytes);
    ipbd_destroy(a), ipbd_destroy(b);
    PASS();
}
/* What a world that contradicts itself saves has the right checksum: what is behind the checksum has to notice. */
static greatest_test_res saved_is_refused(const ipbd_world *from, ipbd_world *to) {
    const uint64_t hash = ipbd_hash(to);
    const size_t size = ipbd_save(from, NULL, 0);
    unsigned char *bytes = (unsigned char *)malloc(size);
    ipbd_save(from, bytes, size);
    ASSERT_EQ(ISPHPBD_BAD_SNAPSHOT, ipbd_load(to, bytes, size));
    ASSERT_EQ(hash, ipbd_hash(to));
    free(bytes);
    PASS();
}
TEST owners_that_contradict_the_bodies_are_refused(void) {
    ipbd_world *a = make_world(), *b = make_world();
    ipbdx_body *cloth = a->bodies, jelly;
    int i;
    fill_scene(a), fill_scene(b);
    jelly = a->bodies[1];
    for (i = 0; i < 2; ++i) {
        uint32_t *owner = i == 0 ? a->vertex_body + jelly.vertex_begin - 1 : a->edge_body + jelly.edge_begin - 1;
        *owner = 1; /* the last of the cloth */
        CHECK_CALL(saved_is_refused(a, b));
        *owner = 77;
        CHECK_CALL(saved_is_refused(a, b));
        *owner = 0;
    }
    cloth->edge_count--; /* one of nobody */
    CHECK_CALL(saved_is_refused(a, b));
    cloth->edge_count++;
    a->bodies[1].edge_begin--; /* one of two */
    CHECK_CALL(saved_is_refused(a, b));
    a->bodies[1].edge_begin++;
    a->bodies[1].used = 0; /* a body that is gone */
    CHECK_CALL(saved_is_refused(a, b));
    ipbd_destroy(a), ipbd_destroy(b);
    PASS();
}
/* Groups that several slabs claim, and groups and triangles that two bodies claim: tasks would write where there is no
   room, or what is another's. */
TEST groups_that_are_claimed_twice_are_refused(void) {
    ipbd_world *a = make_world(), *b = make_world();
    ipbdx_body *cloth = a->bodies, *jelly = a->bodies + 1;
    ipbdx_slab *slab = a->slabs, kept;
    fill_scene(a), fill_scene(b);
    kept = slab[cloth->slab_begin];
    slab[cloth->slab_begin].group_begin[IPBDX_STRETCH] = slab[cloth->slab_begin].group_begin[IPBDX_SHEAR] = 0;
    slab[cloth->slab_begin].group_end[IPBDX_STRETCH] = slab[cloth->slab_begin].group_end[IPBDX_SHEAR] =
        cloth->group_count[IPBDX_EDGES];
    CHECK_CALL(saved_is_refused(a, b));
    slab[cloth->slab_begin] = kept;
    jelly->triangle_begin--;
    CHECK_CALL(saved_is_refused(a, b));
    jelly->triangle_begin++, jelly->group_begin[IPBDX_EDGES]--;
    CHECK_CALL(saved_is_refused(a, b));
    jelly->group_begin[IPBDX_EDGES]++, cloth->constraint_count[IPBDX_SHEAR] += 4 * cloth->group_count[IPBDX_EDGES];
    CHECK_CALL(saved_is_refused(a, b));
    cloth->constraint_count[IPBDX_SHEAR] = -1;
    CHECK_CALL(saved_is_refused(a, b));
    ipbd_destroy(a), ipbd_destroy(b);
    PASS();
}
/* Poses, sizes, masses and impulses of colliders, and settings of bodies and of the world, that no call would take. */
TEST forged_settings_are_refused(void) {
    ipbd_world *a = make_world(), *b = make_world();
    ipbd_collider_desc d = ipbd_collider_desc_default();
    float *forged[12];
    int i;
    fill_scene(a), fill_scene(b);
    d.shape = ipbd_shape_box(0.1f, 0.2f, 0.3f), d.mass = 1.0f;
    i = (int)(ipbd_collider_create(a, &d, NULL).id & 0xffffu) - 1;
    ASSERT_EQ(i, (int)(ipbd_collider_create(b, &d, NULL).id & 0xffffu) - 1);
    ipbd_step(a, STEP), ipbd_step(b, STEP);
    forged[0] = &a->colliders[i].size.y, forged[1] = &a->colliders[i].friction;
    forged[2] = &a->colliders[i].inverse_mass;
    forged[3] = &a->colliders[i].end.position.x, forged[4] = &a->colliders[i].to.rotation.w;
    forged[5] = &a->colliders[i].linear.z, forged[6] = &a->colliders[i].inverse_inertia.x;
    forged[7] = &a->bodies[0].thickness, forged[8] = &a->bodies[0].damping, forged[9] = &a->bodies[0].gravity_scale;
    forged[10] = &a->desc.gravity.y, forged[11] = &a->desc.air_density;
    for (i = 0; i < 12; ++i) {
        const float right = *forged[i];
        const uint32_t no_number = 0x7fc00000u;
        memcpy(forged[i], &no_number, 4);
        CHECK_CALL(saved_is_refused(a, b));
        *forged[i] = right;
    }
    ipbd_destroy(a), ipbd_destroy(b);
    PASS();
}
/* No place, no index: a snapshot with lengths below zero is taken, and the search for the shortest ways has to end. */
TEST lengths_below_zero_do_not_hang_a_step(void) {
    ipbd_world *world = make_world();
    int i, lane;
    fill_scene(world);
    ASSERT(world->bodies[0].tether_slack > 0.0f && world->bodies[0].tethers_stale);
    for (i = 0; i < world->bodies[0].group_count[IPBDX_EDGES]; ++i)
        for (lane = 0; lane < 4; ++lane) world->edges[i].rest[lane] = -1.0f;
    ASSERT_EQ(ISPHPBD_OK, ipbd_step(world, STEP).result);
    ASSERT_EQ(0u, world->bodies[0].tethers_stale);
    ipbd_destroy(world);
    PASS();
}
TEST other_capacities_reject_a_snapshot(void) {
    ipbd_world_desc d = small_world();
    ipbd_world *a = make_world(), *b;
    size_t size = ipbd_save(a, NULL, 0);
    unsigned char *bytes = (unsigned char *)malloc(size);
    d.capacity.vertices += 1;
    b = ipbd_create(&d, NULL);
    ipbd_save(a, bytes, size);
    ASSERT_EQ(ISPHPBD_BAD_SNAPSHOT, ipbd_load(b, bytes, size));
    free(bytes);
    ipbd_destroy(a), ipbd_destroy(b);
    PASS();
}
/* Runners as threads would be: backward, and in k interleaved runs. */
static void run_interleaved(void (*task)(void *, int), void *context, int count, void *user) {
    int lanes = *(const int *)user, lane, i;
    for (lane = lanes - 1; lane >= 0; --lane)
        for (i = lane; i < count; i += lanes) task(context, i);
}
static void run_backward(void (*task)(void *, int), void *context, int count, void *user) {
    (void)user;
    while (count-- > 0) task(context, count);
}
static uint64_t hash_with(void (*run)(void (*)(void *, int), void *, int, void *), int lanes) {
    ipbd_world_desc d = small_world();
    ipbd_world *world;
    uint64_t hash;
    int i;
    d.parallel.run = run, d.parallel.user = &lanes;
    world = ipbd_create(&d, NULL);
    fill_scene(world);
    for (i = 0; i < 24; ++i) ipbd_step(world, STEP);
    hash = ipbd_hash(world);
    ipbd_destroy(world);
    return hash;
}
TEST every_runner_gives_the_same_bits(void) {
    uint64_t serial = hash_with(NULL, 1);
    ASSERT_EQ(serial, hash_with(run_interleaved, 2));
    ASSERT_EQ(serial, hash_with(run_interleaved, 3));
    ASSERT_EQ(serial, hash_with(run_backward, 1));
    PASS();
}
/* A body large enough for several slabs and seams. */
TEST slabs_give_the_same_bits_in_any_order(void) {
    static float xyz[3 * 60 * 60];
    static uint32_t triangles[6 * 59 * 59];
    uint64_t hashes[3];
    uint32_t pins[2] = {0, 59};
    int run, i, lanes = 2;
    for (run = 0; run < 3; ++run) {
        ipbd_world_desc d = ipbd_world_desc_default();
        ipbd_body_desc cloth = ipbd_body_desc_preset(IPBD_SILK);
        ipbd_world *world;
        cloth.mesh.positions = xyz, cloth.mesh.vertex_count = 3600, cloth.mesh.triangles = triangles;
        cloth.mesh.triangle_count = ipbd_grid(60, 60, 2.0f, 2.0f, xyz, triangles);
        cloth.pinned = pins, cloth.pinned_count = 2;
        d.parallel.run = run == 0 ? NULL : run == 1 ? run_backward : run_interleaved, d.parallel.user = &lanes;
        world = ipbd_create(&d, NULL);
        ASSERT(ipbd_body_create(world, &cloth, NULL).id != 0);
        ASSERT(ipbd_world_stats(world).slabs > 8);
        for (i = 0; i < 20; ++i) ipbd_step(world, STEP);
        hashes[run] = ipbd_hash(world);
        ipbd_destroy(world);
    }
    ASSERT_EQ(hashes[0], hashes[1]);
    ASSERT_EQ(hashes[0], hashes[2]);
    PASS();
}
/* Forces that are no numbers any more put the vertices back, and are forgotten: the body is a body again. */
TEST violence_is_forgotten(void) {
    block_mesh mesh;
    ipbd_body_desc desc = block_desc(&mesh);
    ipbd_world *world = make_world();
    ipbd_body body = ipbd_body_create(world, &desc, NULL);
    isphpbd_vec3 force;
    int v;
    ASSERT(body.id != 0);
    ipbd_step(world, STEP);
    world->elastics[0].stress[0][0] = nan_value();
    ASSERT(ipbd_step(world, STEP).flags & IPBD_STEP_QUARANTINE);
    ASSERT_EQ(0u, ipbd_step(world, STEP).flags & IPBD_STEP_QUARANTINE);
    for (v = 0; v < desc.mesh.vertex_count; ++v) {
        ASSERT_EQ(ISPHPBD_OK, ipbd_pin_force(world, body, v, &force));
        ASSERT(isphpbdx_finite3(force));
    }
    ipbd_destroy(world);
    PASS();
}
GREATEST_MAIN_DEFS();
int main(int argc, char **argv) {
    GREATEST_MAIN_BEGIN();
    RUN_TEST(a_world_takes_the_bytes_it_announces);
    RUN_TEST(stepping_never_allocates);
    RUN_TEST(every_allocation_may_fail);
    RUN_TEST(a_measured_capacity_fits_exactly);
    RUN_TEST(a_measured_capacity_fits_ropes);
    RUN_TEST(world_descs_are_checked);
    RUN_TEST(bad_bodies_are_refused);
    RUN_TEST(non_manifold_edges_and_zero_edges_are_refused);
    RUN_TEST(bad_calls_change_nothing);
    RUN_TEST(origin_is_not_shifted_too_far);
    RUN_TEST(capacities_do_not_overflow);
    RUN_TEST(bad_colliders_are_refused);
    RUN_TEST(seams_are_welded_and_do_not_tear);
    RUN_TEST(broken_triangles_are_repaired_and_reported);
    RUN_TEST(elements_given_twice_are_dropped_and_reported);
    RUN_TEST(creation_warns_of_what_is_hardly_meant);
    RUN_TEST(unused_vertices_are_left_out);
    RUN_TEST(a_reset_body_begins_again);
    RUN_TEST(closed_surfaces_point_outward_and_tetrahedra_are_turned);
    RUN_TEST(constraints_are_derived);
    RUN_TEST(bodies_come_and_go);
    RUN_TEST(nothing_changes_from_inside_a_step);
    RUN_TEST(lent_mass_does_not_change_free_fall_by_gravity_on_the_real_mass);
    RUN_TEST(external_contacts_act_inside_the_loop);
    RUN_TEST(what_hooks_write_is_looked_at);
    RUN_TEST(what_hooks_write_to_sleepers_is_looked_at);
    RUN_TEST(calls_lead_to_no_place_that_is_none);
    RUN_TEST(stepping_by_pieces_is_the_same);
    RUN_TEST(a_snapshot_resumes_exactly);
    RUN_TEST(owners_that_contradict_the_bodies_are_refused);
    RUN_TEST(groups_that_are_claimed_twice_are_refused);
    RUN_TEST(forged_settings_are_refused);
    RUN_TEST(lengths_below_zero_do_not_hang_a_step);
    RUN_TEST(other_capacities_reject_a_snapshot);
    RUN_TEST(every_runner_gives_the_same_bits);
    RUN_TEST(violence_is_forgotten);
    RUN_TEST(slabs_give_the_same_bits_in_any_order);
    GREATEST_MAIN_END();
}
