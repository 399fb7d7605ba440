/* fuzz_snapshot.c - snapshots of a fluid and of soft bodies, damaged and then sealed again with the right checksum, so
   that the damage reaches what lies behind the checksum. A refused one must change nothing; an accepted one must give
   a state that can be looked at, stepped and saved, and what it saves must be taken back, with the same hash.

       clang -g -O1 -fsanitize=fuzzer,address,undefined -I. -Itests/support tests/fuzz_snapshot.c -lm
       cc -g -O1 -DSTANDALONE -fsanitize=address,undefined -I. -Itests/support tests/fuzz_snapshot.c -lm

   The input is a list of changes: 2 bytes where, 1 byte how, 4 bytes what.
   SPDX-License-Identifier: MIT */
#define ISPHPBD_STATIC
#include "isphpbd_sph.h"
#include "isphpbd_pbd.h"

#include "fuzz_image.h"

/* ---- fluid ------------------------------------------------------------------------------------------------------- */

static isph_fluid *make_fluid(void) {
    isph_fluid_desc desc = isph_fluid_desc_default();
    isph_material_desc water = isph_material_desc_default();
    isph_boundary_desc walls = isph_boundary_desc_default();
    isph_material material;
    isph_fluid *fluid;
    desc.particle_capacity = 64, desc.boundary_capacity = 3, desc.triangle_capacity = 1, desc.material_capacity = 2;
    desc.spacing = 0.1f;
    fluid = isph_fluid_create(&desc, NULL);
    if (!fluid) abort();
    material = isph_material_create(fluid, &water, NULL);
    walls.shape = ISPH_SHAPE_BOX, walls.container = true;
    (void)isph_boundary_create(fluid, &walls, NULL);
    walls.shape = ISPH_SHAPE_SPHERE, walls.container = false, walls.radius = 0.1f, walls.mass = 1.0f;
    (void)isph_boundary_create(fluid, &walls, NULL);
    (void)isph_particles_add_box(fluid, material, isphpbd_v3(-0.5f, -0.5f, -0.2f), isphpbd_v3(-0.2f, -0.2f, 0.2f),
                                 isphpbd_v3(0.0f, 0.0f, 0.0f), NULL);
    (void)isph_fluid_step(fluid, 0.01f, NULL);
    return fluid;
}

/* What it saves it must take back. */
static void save_and_load_fluid(isph_fluid *fluid) {
    image image = make_image(isph_fluid_save(fluid, NULL, 0));
    uint64_t hash = isph_fluid_hash(fluid);
    (void)isph_fluid_save(fluid, image.bytes, image.size);
    DEMAND(isph_fluid_load(fluid, image.bytes, image.size) == ISPHPBD_OK && isph_fluid_hash(fluid) == hash);
    free(image.bytes);
}
static void try_fluid(fuzz_bytes *in) {
    isph_fluid *fluid = make_fluid();
    image image = make_image(isph_fluid_save(fluid, NULL, 0));
    uint64_t before = isph_fluid_hash(fluid);
    isphpbd_result result;
    (void)isph_fluid_save(fluid, image.bytes, image.size);
    damage(&image, in);
    seal_fluid(fluid, image.bytes, image.size);
    result = isph_fluid_load(fluid, image.bytes, image.size);
    if (result != ISPHPBD_OK) DEMAND(isph_fluid_hash(fluid) == before);
    for (int i = 0; i < 2; i++) {
        isph_view view = isph_particles(fluid);
        isph_stats stats = isph_fluid_stats(fluid);
        DEMAND(finite_rows(view.position, view.stride_bytes, view.count));
        DEMAND(finite_rows(view.velocity, view.stride_bytes, view.count));
        DEMAND(isfinite(stats.max_speed) && isfinite(stats.kinetic_energy));
        for (int k = 0; k < view.count; k++) DEMAND(isph_particle_find(fluid, view.id[k]) == k);
        save_and_load_fluid(fluid);
        (void)isph_fluid_step(fluid, 0.01f, NULL);
    }
    save_and_load_fluid(fluid);
    isph_fluid_destroy(fluid);
    free(image.bytes);
}

/* ---- soft bodies ------------------------------------------------------------------------------------------------- */

static void add_cloth(ipbd_world *world) {
    float positions[3 * 16], points[6] = {0.1f, 0.0f, 0.1f, -0.1f, 0.0f, 0.0f};
    uint32_t triangles[54], corners[2] = {0, 3};
    ipbd_body_desc desc = ipbd_body_desc_preset(IPBD_COTTON);
    ipbd_body body;
    desc.mesh.triangle_count = ipbd_grid(4, 4, 1.0f, 1.0f, positions, triangles);
    desc.mesh.positions = positions, desc.mesh.triangles = triangles, desc.mesh.vertex_count = 16;
    desc.pinned = corners, desc.pinned_count = 2, desc.self_collision = desc.soft_collision = true;
    desc.tether_slack = 1.02f, desc.wind_drag = 1.0f, desc.still_air = true;
    body = ipbd_body_create(world, &desc, NULL);
    (void)ipbd_skin_create(world, body, points, 12, 2, NULL);
}
static void add_jelly(ipbd_world *world) {
    float positions[3 * 8];
    uint32_t tetrahedra[24];
    ipbd_body_desc desc = ipbd_body_desc_preset(IPBD_JELLY);
    desc.mesh.tetrahedron_count = ipbd_block(1, 1, 1, isphpbd_v3(0.3f, 0.3f, 0.3f), positions, tetrahedra);
    desc.mesh.positions = positions, desc.mesh.tetrahedra = tetrahedra, desc.mesh.vertex_count = 8;
    desc.pose = ipbd_pose_at(0.0f, 0.3f, 0.0f), desc.soft_collision = true;
    (void)ipbd_body_create(world, &desc, NULL);
}
static ipbd_world *make_world(void) {
    static const uint32_t faces[12] = {0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3};
    static const float corners[12] = {0, 0, 0, 0.4f, 0, 0, 0, 0.4f, 0, 0, 0, 0.4f};
    static const float heights[9] = {0, 0.1f, 0, 0.1f, 0, 0.1f, 0, 0.1f, 0};
    const int numbers[16] = {3, 64, 64, 64, 512, 64, 128, 64, 64, 16, 4, 32, 32, 128, 2, 8};
    ipbd_world_desc desc = ipbd_world_desc_default();
    ipbd_collider_desc collider = ipbd_collider_desc_default();
    ipbd_world *world;
    memcpy(&desc.capacity, numbers, sizeof numbers);
    desc.substeps = 2;
    world = ipbd_create(&desc, NULL);
    if (!world) abort();
    add_cloth(world), add_jelly(world);
    collider.shape = ipbd_shape_mesh(corners, 4, faces, 4), collider.pose = ipbd_pose_at(0.0f, -0.3f, 0.0f);
    (void)ipbd_collider_create(world, &collider, NULL);
    collider.shape = ipbd_shape_convex(corners, 4, faces, 4), collider.mass = 1.0f;
    (void)ipbd_collider_create(world, &collider, NULL);
    collider.shape = ipbd_shape_heightfield(heights, 3, 3, 1.0f), collider.mass = 0.0f;
    (void)ipbd_collider_create(world, &collider, NULL);
    (void)ipbd_step(world, 0.01f);
    return world;
}
static void check_softs(ipbd_world *world) {
    ipbd_arrays arrays = ipbd_world_arrays(world);
    ipbd_stats stats = ipbd_world_stats(world);
    DEMAND(finite_rows(arrays.positions, 16, arrays.vertex_count));
    DEMAND(finite_rows(arrays.velocities, 16, arrays.vertex_count));
    DEMAND(isfinite(stats.kinetic_energy) && finite3(stats.momentum));
    for (uint32_t slot = 1; slot < 4; slot++) {
        float out[3 * 64], normals[3 * 64];
        ipbd_body body;
        body.id = slot | 1u << 16;
        if (ipbd_body_view(world, body).input_vertex_count > 64) continue;
        (void)ipbd_body_read(world, body, out, normals, 12);
        (void)ipbd_body_volume(world, body);
    }
}
static void save_and_load_softs(ipbd_world *world) {
    image image = make_image(ipbd_save(world, NULL, 0));
    uint64_t hash = ipbd_hash(world);
    (void)ipbd_save(world, image.bytes, image.size);
    DEMAND(ipbd_load(world, image.bytes, image.size) == ISPHPBD_OK && ipbd_hash(world) == hash);
    free(image.bytes);
}
static void try_world(fuzz_bytes *in) {
    ipbd_world *world = make_world();
    image image = make_image(ipbd_save(world, NULL, 0));
    uint64_t before = ipbd_hash(world);
    (void)ipbd_save(world, image.bytes, image.size);
    damage(&image, in);
    seal_softs(world, image.bytes, image.size);
    if (ipbd_load(world, image.bytes, image.size) != ISPHPBD_OK) DEMAND(ipbd_hash(world) == before);
    for (int i = 0; i < 2; i++) {
        check_softs(world);
        save_and_load_softs(world);
        (void)ipbd_set_budget(world, 2, 1);
        (void)ipbd_step(world, 0.01f);
    }
    save_and_load_softs(world);
    ipbd_destroy(world);
    free(image.bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_bytes in;
    in.at = data, in.end = data + size;
    if (take_bool(&in)) try_fluid(&in);
    else try_world(&in);
    return 0;
}

#ifdef STANDALONE
int main(int argc, char **argv) { return fuzz_main(argc, argv, fuzz_change_seed); }
#endif
