/* instructions.c - small fixed work whose instructions tests/test_instructions.sh counts. SPDX-License-Identifier: MIT

   instructions CASE STEPS: what is set up costs the same for any number of steps, so the difference between two numbers
   of steps is the cost of steps alone. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ISPHPBD_IMPLEMENTATION
#include "isphpbd.h"

static void run_serial(void (*task)(void *ctx, int index), void *ctx, int count, void *user) {
    (void)user;
    for (int i = 0; i < count; ++i) task(ctx, i);
}

/* 3,375 particles fall over in a box. */
static int fluid(int steps) {
    isph_fluid_desc desc = isph_fluid_desc_default();
    const isph_material_desc water = isph_material_desc_default();
    isph_boundary_desc box = isph_boundary_desc_default();
    isph_fluid *f;
    isph_material material;
    desc.particle_capacity = 4096;
    desc.parallel.run = run_serial;
    f = isph_fluid_create(&desc, NULL);
    if (!f) return 1;
    material = isph_material_create(f, &water, NULL);
    box.shape = ISPH_SHAPE_BOX, box.container = true;
    box.half_extents = box.position = isphpbd_v3(1.125f, 1.5f, 0.375f);
    (void)isph_boundary_create(f, &box, NULL);
    (void)isph_particles_add_box(f, material, isphpbd_v3(0.0f, 0.0f, 0.0f), isphpbd_v3(0.75f, 0.75f, 0.75f),
                                 isphpbd_v3(0.0f, 0.0f, 0.0f), NULL);
    for (int s = 0; s < steps; ++s) (void)isph_fluid_step(f, 0.005f, NULL);
    isph_fluid_destroy(f);
    return 0;
}

/* A cloth of 33 x 33 vertices, hung by its corners. */
static ipbd_body_desc sheet(int corners) {
    enum { SIDE = 33 };
    static float positions[3 * SIDE * SIDE];
    static uint32_t triangles[6 * (SIDE - 1) * (SIDE - 1)];
    static const uint32_t pinned[4] = {0, SIDE - 1, SIDE * (SIDE - 1), SIDE * SIDE - 1};
    ipbd_body_desc cloth = ipbd_body_desc_default();
    cloth.mesh.triangle_count = ipbd_grid(SIDE, SIDE, 1.0f, 1.0f, positions, triangles);
    cloth.mesh.positions = positions, cloth.mesh.vertex_count = SIDE * SIDE, cloth.mesh.triangles = triangles;
    cloth.pinned = pinned, cloth.pinned_count = corners;
    return cloth;
}

/* It swings from two of them. */
static int soft(int steps) {
    ipbd_world_desc desc = ipbd_world_desc_default();
    const ipbd_body_desc cloth = sheet(2);
    ipbd_world *world;
    desc.parallel.run = run_serial;
    world = ipbd_create(&desc, NULL);
    if (!world || !ipbd_body_create(world, &cloth, NULL).id) return 1;
    for (int s = 0; s < steps; ++s) (void)ipbd_step(world, 1.0f / 60.0f);
    ipbd_destroy(world);
    return 0;
}

/* A block of water, 2,000 particles, just above that cloth, hung by four corners. */
static int coupled(int steps) {
    isphpbd_world_desc desc = isphpbd_world_desc_default();
    isphpbd_soft_desc cloth = isphpbd_soft_desc_default();
    const isphpbd_fluid_desc water = isphpbd_fluid_desc_default();
    isphpbd_world *world;
    isphpbd_fluid fluid;
    int added;
    desc.spacing = 0.03f, desc.parallel.run = run_serial;
    cloth.body = sheet(4);
    world = isphpbd_world_create(&desc, NULL);
    if (!world || !isphpbd_soft_create(world, &cloth, NULL).id) return 1;
    fluid = isphpbd_fluid_create(world, &water, NULL);
    if (isphpbd_fluid_add_box(world, fluid, isphpbd_v3(-0.24f, 0.01f, -0.24f), isphpbd_v3(0.24f, 0.25f, 0.24f),
                              isphpbd_v3(0.0f, -1.0f, 0.0f), &added) != ISPHPBD_OK)
        return 1;
    for (int s = 0; s < steps; ++s) (void)isphpbd_world_step(world, 0.004f);
    isphpbd_world_destroy(world);
    return 0;
}

int main(int argc, char **argv) {
    const int steps = argc == 3 ? atoi(argv[2]) : 0;
    if (steps > 0 && strcmp(argv[1], "fluid") == 0) return fluid(steps);
    if (steps > 0 && strcmp(argv[1], "soft") == 0) return soft(steps);
    if (steps > 0 && strcmp(argv[1], "coupled") == 0) return coupled(steps);
    fprintf(stderr, "usage: instructions fluid|soft|coupled STEPS\n");
    return 2;
}
