/* Hashes of small scenes of isphpbd_pbd.h; see tests/support/bits.h. */
#define IPBD_IMPLEMENTATION
#include "isphpbd_pbd.h"

#include "bits.h"

enum { CLOTH = 15, CELLS = 4, CORNERS = CELLS + 1 };

static ipbd_world *make_world(isphpbd_parallel parallel) {
    ipbd_world_desc desc = ipbd_world_desc_default();
    desc.parallel = parallel;
    return ipbd_create(&desc, NULL);
}

static void add_collider(ipbd_world *world, ipbd_shape shape, ipbd_pose pose) {
    ipbd_collider_desc desc = ipbd_collider_desc_default();
    desc.shape = shape;
    desc.pose = pose;
    (void)ipbd_collider_create(world, &desc, NULL);
}

static uint64_t run(ipbd_world *world, ipbd_body body) {
    uint64_t hash = 0;
    if (body.id) {
        for (int i = 0; i < 40; i++) (void)ipbd_step(world, 1.0f / 60.0f);
        hash = ipbd_hash(world);
    }
    ipbd_destroy(world);
    return hash;
}

/* A cloth held at two corners in the wind, over a ball, colliding with itself. */
static uint64_t cloth(isphpbd_parallel parallel) {
    float positions[3 * CLOTH * CLOTH];
    uint32_t triangles[6 * (CLOTH - 1) * (CLOTH - 1)], corners[2] = {0, CLOTH - 1};
    ipbd_body_desc desc = ipbd_body_desc_preset(IPBD_COTTON);
    ipbd_world *world = make_world(parallel);
    if (!world) return 0;
    desc.mesh.triangle_count = ipbd_grid(CLOTH, CLOTH, 1.0f, 1.0f, positions, triangles);
    desc.mesh.triangles = triangles;
    desc.mesh.positions = positions;
    desc.mesh.vertex_count = CLOTH * CLOTH;
    desc.pinned = corners;
    desc.pinned_count = 2;
    desc.self_collision = true;
    desc.wind_drag = 1.0f, desc.still_air = true;
    (void)ipbd_set_wind(world, isphpbd_v3(1.0f, 0.0f, 3.0f));
    add_collider(world, ipbd_shape_sphere(0.25f), ipbd_pose_at(0.05f, -0.4f, 0.1f));
    return run(world, ipbd_body_create(world, &desc, NULL));
}

static uint64_t jelly(isphpbd_parallel parallel) {
    float positions[3 * CORNERS * CORNERS * CORNERS];
    uint32_t tetrahedra[24 * CELLS * CELLS * CELLS];
    ipbd_body_desc desc = ipbd_body_desc_preset(IPBD_JELLY);
    ipbd_world *world = make_world(parallel);
    if (!world) return 0;
    desc.mesh.tetrahedron_count = ipbd_block(CELLS, CELLS, CELLS, isphpbd_v3(0.3f, 0.3f, 0.3f), positions, tetrahedra);
    desc.mesh.tetrahedra = tetrahedra;
    desc.mesh.positions = positions;
    desc.mesh.vertex_count = CORNERS * CORNERS * CORNERS;
    add_collider(world, ipbd_shape_plane(), ipbd_pose_at(0.0f, -0.3f, 0.0f));
    add_collider(world, ipbd_shape_box(0.1f, 0.05f, 0.1f), ipbd_pose_at(0.1f, -0.25f, 0.0f));
    return run(world, ipbd_body_create(world, &desc, NULL));
}

/* Solids of both models that flow, on rough ground. */
static uint64_t putty(isphpbd_parallel parallel) {
    float positions[3 * CORNERS * CORNERS * CORNERS], heights[81];
    uint32_t tetrahedra[24 * CELLS * CELLS * CELLS];
    ipbd_body_desc desc = ipbd_body_desc_preset(IPBD_JELLY);
    ipbd_world *world = make_world(parallel);
    if (!world) return 0;
    for (int i = 0; i < 81; i++) heights[i] = 0.02f * (float)((i * 37) % 5);
    desc.mesh.tetrahedron_count = ipbd_block(CELLS, CELLS, CELLS, isphpbd_v3(0.3f, 0.3f, 0.3f), positions, tetrahedra);
    desc.mesh.tetrahedra = tetrahedra;
    desc.mesh.positions = positions;
    desc.mesh.vertex_count = CORNERS * CORNERS * CORNERS;
    desc.plastic_yield = 0.02f, desc.plastic_creep = 20.0f, desc.plastic_max = 0.2f;
    desc.velocity = isphpbd_v3(0.0f, -3.0f, 0.0f);
    add_collider(world, ipbd_shape_heightfield(heights, 9, 9, 0.13f), ipbd_pose_at(0.0f, -0.3f, 0.0f));
    desc.pose = ipbd_pose_at(-0.2f, 0.0f, 0.0f);
    (void)ipbd_body_create(world, &desc, NULL);
    desc.pose = ipbd_pose_at(0.2f, 0.0f, 0.0f);
    desc.solid_model = IPBD_SOLID_VOLUME, desc.stretch = ipbd_compliance(1e-4f);
    return run(world, ipbd_body_create(world, &desc, NULL));
}

/* A free cloth that a ball with a mass goes for at 50 m/s, and a box of the same mass. */
static uint64_t shot(isphpbd_parallel parallel) {
    float positions[3 * CLOTH * CLOTH];
    uint32_t triangles[6 * (CLOTH - 1) * (CLOTH - 1)];
    ipbd_body_desc desc = ipbd_body_desc_preset(IPBD_SILK);
    ipbd_collider_desc c = ipbd_collider_desc_default();
    ipbd_world *world = make_world(parallel);
    if (!world) return 0;
    desc.mesh.triangle_count = ipbd_grid(CLOTH, CLOTH, 1.0f, 1.0f, positions, triangles);
    desc.mesh.triangles = triangles;
    desc.mesh.positions = positions;
    desc.mesh.vertex_count = CLOTH * CLOTH;
    c.mass = 0.1f, c.shape = ipbd_shape_sphere(0.08f), c.pose = ipbd_pose_at(0.05f, 0.3f, 0.02f);
    (void)ipbd_collider_move(world, ipbd_collider_create(world, &c, NULL), ipbd_pose_at(0.06f, -0.5f, 0.0f));
    c.shape = ipbd_shape_box(0.1f, 0.05f, 0.1f), c.pose = ipbd_pose_at(-0.3f, 0.2f, 0.1f);
    (void)ipbd_collider_move(world, ipbd_collider_create(world, &c, NULL), ipbd_pose_at(-0.3f, -0.2f, 0.1f));
    return run(world, ipbd_body_create(world, &desc, NULL));
}

static float bowl(isphpbd_vec3 p, isphpbd_vec3 *normal, void *user) { /* y = (x^2 + z^2) / 2 - 0.6, nearly */
    (void)user;
    *normal = isphpbd_v3(-p.x, 1.0f, -p.z);
    return 0.7f * (p.y + 0.6f - 0.5f * (p.x * p.x + p.z * p.z));
}

/* A rope and a small cloth fall on a cloth that falls on a mesh, a heightfield and an SDF. */
static uint64_t heap(isphpbd_parallel parallel) {
    static const float ramp[12] = {-0.5f, -0.1f, -0.5f, 0.0f, -0.4f, -0.5f, 0.0f, -0.4f, 0.5f, -0.5f, -0.1f, 0.5f};
    static const uint32_t ramp_triangles[6] = {0, 1, 2, 0, 2, 3};
    float positions[3 * CLOTH * CLOTH], heights[9], rope[3 * CLOTH];
    uint32_t triangles[6 * (CLOTH - 1) * (CLOTH - 1)], lines[2 * (CLOTH - 1)];
    ipbd_body_desc desc = ipbd_body_desc_preset(IPBD_COTTON);
    ipbd_world *world = make_world(parallel);
    if (!world) return 0;
    for (int i = 0; i < 9; i++) heights[i] = 0.05f * (float)(i * 4 % 9) - 0.4f;
    add_collider(world, ipbd_shape_mesh(ramp, 4, ramp_triangles, 2), ipbd_pose_at(0.0f, 0.0f, 0.0f));
    add_collider(world, ipbd_shape_heightfield(heights, 3, 3, 0.2f), ipbd_pose_at(0.3f, 0.0f, 0.0f));
    add_collider(world, ipbd_shape_sdf(bowl, NULL), ipbd_pose_at(0.0f, 0.0f, 0.0f));
    desc.mesh.triangle_count = ipbd_grid(CLOTH, CLOTH, 0.8f, 0.8f, positions, triangles);
    desc.mesh.triangles = triangles;
    desc.mesh.positions = positions;
    desc.mesh.vertex_count = CLOTH * CLOTH;
    desc.self_collision = desc.soft_collision = true;
    (void)ipbd_body_create(world, &desc, NULL);
    desc.mesh.triangle_count = ipbd_grid(7, 7, 0.3f, 0.3f, positions, triangles);
    desc.mesh.vertex_count = 7 * 7;
    desc.velocity = isphpbd_v3(0.0f, -10.0f, 0.0f);
    desc.pose = ipbd_pose_at(0.05f, 0.1f, 0.02f);
    (void)ipbd_body_create(world, &desc, NULL);
    desc = ipbd_body_desc_preset(IPBD_ROPE);
    for (int i = 0; i < CLOTH; i++) {
        rope[3 * i] = 0.04f * (float)(i - CLOTH / 2), rope[3 * i + 1] = 0.2f, rope[3 * i + 2] = 0.01f * (float)i;
        if (i + 1 < CLOTH) lines[2 * i] = (uint32_t)i, lines[2 * i + 1] = (uint32_t)i + 1u;
    }
    desc.mesh.positions = rope;
    desc.mesh.vertex_count = CLOTH;
    desc.mesh.lines = lines;
    desc.mesh.line_count = CLOTH - 1;
    desc.self_collision = desc.soft_collision = true;
    return run(world, ipbd_body_create(world, &desc, NULL));
}

int main(void) {
    int failures = bits_print("cloth", cloth);
    failures += bits_print("jelly", jelly);
    failures += bits_print("putty", putty);
    failures += bits_print("shot", shot);
    failures += bits_print("heap", heap);
    return failures > 0;
}
