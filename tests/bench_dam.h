/* bench_dam.h - the fluid of the benchmark: a cube of water at one end of a box three times as long. 30 particles along
   an edge are the dam break of 27,000 that other solvers were measured on. SPDX-License-Identifier: MIT */
#ifndef BENCH_DAM_H
#define BENCH_DAM_H

#include "bench_output.h"

enum { DAM_SIDE = 30, DAM_PARTICLES = DAM_SIDE * DAM_SIDE * DAM_SIDE };
#define DAM_SPACING 0.05f

BENCH_FN uint64_t dam_ticks(void *user) {
    (void)user;
    return (uint64_t)(1e9 * cpu_seconds());
}

BENCH_FN isph_fluid_desc dam_desc(int side, float support) {
    isph_fluid_desc desc = isph_fluid_desc_default();
    desc.spacing = DAM_SPACING;
    desc.support = support;
    desc.particle_capacity = side * side * side;
    desc.clock.fn = dam_ticks;
    return desc;
}

BENCH_FN isph_fluid *dam_create(const isph_fluid_desc *desc, int side) {
    const float length = DAM_SPACING * (float)side;
    const isph_material_desc water = isph_material_desc_default();
    isph_boundary_desc box = isph_boundary_desc_default();
    isph_fluid *fluid = (isph_fluid *)need(isph_fluid_create(desc, NULL));
    const isph_material material = isph_material_create(fluid, &water, NULL);
    box.shape = ISPH_SHAPE_BOX;
    box.container = true;
    box.half_extents = box.position = isphpbd_v3(1.5f * length, 2.0f * length, 0.5f * length);
    (void)isph_boundary_create(fluid, &box, NULL);
    (void)isph_particles_add_box(fluid, material, isphpbd_v3(0.0f, 0.0f, 0.0f), isphpbd_v3(length, length, length),
                                 isphpbd_v3(0.0f, 0.0f, 0.0f), NULL);
    return fluid;
}

BENCH_FN void dam_run(isph_fluid *fluid, float seconds) {
    for (float t = 0.0f; t < seconds; t += 0.005f) (void)isph_fluid_step(fluid, 0.005f, NULL);
}

/* Where particle i of a view is. */
BENCH_FN const float *dam_place(const isph_view *view, int i) {
    return (const float *)(const void *)((const char *)view->position + (size_t)i * view->stride_bytes);
}

/* The dam after `seconds`, as a snapshot. */
BENCH_FN void *dam_snapshot(float support, float seconds, size_t *size) {
    const isph_fluid_desc desc = dam_desc(DAM_SIDE, support);
    isph_fluid *fluid = dam_create(&desc, DAM_SIDE);
    void *snapshot;
    dam_run(fluid, seconds);
    *size = isph_fluid_save(fluid, NULL, 0);
    snapshot = need(malloc(*size));
    (void)isph_fluid_save(fluid, snapshot, *size);
    isph_fluid_destroy(fluid);
    return snapshot;
}

#endif /* BENCH_DAM_H */
