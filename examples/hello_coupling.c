/* hello_coupling.c - water poured into a hanging cloth: it sags under the weight and lets no drop through. SPDX: MIT

   cc -std=c99 -O2 -ffp-contract=off -I. examples/hello_coupling.c -o hello_coupling -lm */
#include <stdio.h>
#define ISPHPBD_IMPLEMENTATION
#include "isphpbd.h"

enum { SIDE = 33 }; /* vertices of the cloth along each edge */

/* Heights of the lowest vertex and of the lowest particle, from views that copy nothing. */
static float lowest(isphpbd_points points) {
    float low = 1e30f;
    int i;
    for (i = 0; i < points.count; ++i) {
        const float *xyz = (const float *)((const char *)points.position + (size_t)i * points.position_stride);
        if (xyz[1] < low) low = xyz[1];
    }
    return low;
}

int main(void) {
    static float xyz[3 * SIDE * SIDE];
    static uint32_t triangles[6 * (SIDE - 1) * (SIDE - 1)], rim[4 * SIDE];
    isphpbd_world_desc desc = isphpbd_world_desc_default();
    isphpbd_fluid_desc water = isphpbd_fluid_desc_default();
    isphpbd_soft_desc cloth = isphpbd_soft_desc_default();
    isphpbd_emitter_desc tap = isphpbd_emitter_desc_default();
    isphpbd_result why;
    isphpbd_world *world;
    isphpbd_soft sheet;
    int frame, i, pinned = 0;

    /* A world in metres: particles 2 cm apart. All memory is taken here; stepping never allocates. */
    desc.spacing = 0.02f;
    world = isphpbd_world_create(&desc, &why);
    if (!world) return printf("%s\n", isphpbd_result_text(why)), 1;

    /* A rubber sheet of 1 m x 1 m, held all round. */
    cloth.body = ipbd_body_desc_preset(IPBD_RUBBER_SHEET);
    cloth.body.mesh.positions = xyz, cloth.body.mesh.vertex_count = SIDE * SIDE;
    cloth.body.mesh.triangles = triangles;
    cloth.body.mesh.triangle_count = ipbd_grid(SIDE, SIDE, 1.0f, 1.0f, xyz, triangles);
    for (i = 0; i < SIDE * SIDE; ++i)
        if (i % SIDE == 0 || i % SIDE == SIDE - 1 || i / SIDE == 0 || i / SIDE == SIDE - 1) rim[pinned++] = (uint32_t)i;
    cloth.body.pinned = rim, cloth.body.pinned_count = pinned;
    cloth.body.pose = ipbd_pose_at(0.0f, 1.0f, 0.0f);
    sheet = isphpbd_soft_create(world, &cloth, &why);
    if (!sheet.id) return printf("%s\n", isphpbd_result_text(why)), 1;

    /* Half a second of water from a tap above. */
    tap.fluid = isphpbd_fluid_create(world, &water, &why);
    tap.position = isphpbd_v3(0.0f, 1.5f, 0.0f), tap.radius = 0.1f, tap.speed = 2.0f, tap.duration = 0.5f;
    isphpbd_emitter_create(world, &tap, &why);

    for (frame = 1; frame <= 120; ++frame) {
        isphpbd_world_advance(world, 1.0f / 60.0f);
        if (frame % 30 == 0) {
            float cloth_low = lowest(isphpbd_soft_points(world, sheet)),
                  water_low = lowest(isphpbd_fluid_points(world));
            printf("%.1f s: %5d particles, the sheet hangs %.3f m deep, the lowest particle is %.3f m above that\n",
                   frame / 60.0, isphpbd_world_stats(world).fluid_particles, 1.0 - (double)cloth_low,
                   (double)(water_low - cloth_low));
        }
    }
    isphpbd_world_destroy(world);
    return 0;
}
