/* hello_coupling.c - water poured into a hanging cloth: it sags under the weight and lets no drop through. SPDX: MIT

   cc -std=c99 -O2 -ffp-contract=off -I. examples/hello_coupling.c -o hello_coupling -lm */
#include <stdio.h>
#define ISPHPBD_IMPLEMENTATION
#include "isphpbd.h"

enum { SIDE = 33 }; /* vertices of the cloth along each edge */

/* The height of a point, from a view that copies nothing. */
static float height(isphpbd_points points, int i) {
    return ((const float *)((const char *)points.position + (size_t)i * points.position_stride))[1];
}

int main(void) {
    static float xyz[3 * SIDE * SIDE];
    static uint32_t triangles[6 * (SIDE - 1) * (SIDE - 1)], rim[4 * SIDE];
    isphpbd_world_desc desc = isphpbd_world_desc_default();
    isphpbd_fluid_desc water = isphpbd_fluid_desc_default();
    isphpbd_soft_desc cloth = isphpbd_soft_desc_default();
    isphpbd_collider_desc box = isphpbd_collider_desc_default();
    isphpbd_emitter_desc tap = isphpbd_emitter_desc_default();
    isphpbd_result why;
    isphpbd_world *world;
    isphpbd_soft sheet;
    int frame, i, pinned = 0;

    /* A world in metres: particles 2 cm apart. All memory is taken here; stepping never allocates. */
    desc.spacing = 0.02f;
    world = isphpbd_world_create(&desc, &why);
    if (!world) return printf("%s\n", isphpbd_result_text(why)), 1;

    /* A box of 1 m x 1 m, 4 m high, and across it, 1 m above its floor, a rubber sheet that is held all round. */
    box.shape = isphpbd_shape_box(0.5f, 2.0f, 0.5f), box.container = true;
    box.pose = isphpbd_pose_at(isphpbd_v3(0.0f, 2.0f, 0.0f));
    isphpbd_collider_create(world, &box, &why);
    cloth.body = ipbd_body_desc_preset(IPBD_RUBBER_SHEET);
    cloth.body.mesh.positions = xyz, cloth.body.mesh.vertex_count = SIDE * SIDE;
    cloth.body.mesh.triangles = triangles;
    cloth.body.mesh.triangle_count = ipbd_grid(SIDE, SIDE, 1.04f, 1.04f, xyz, triangles);
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
        if (frame % 10 == 0) {
            isphpbd_points skin = isphpbd_soft_points(world, sheet), drops = isphpbd_fluid_points(world);
            float lowest = 1.0f;
            int under = 0;
            for (i = 0; i < skin.count; ++i)
                if (height(skin, i) < lowest) lowest = height(skin, i);
            for (i = 0; i < drops.count; ++i) under += height(drops, i) < lowest;
            printf("%.1f s: %5d particles, the sheet hangs %.3f m deep, under the sheet: %d\n", frame / 60.0,
                   drops.count, 1.0 - (double)lowest, under);
        }
    }
    isphpbd_world_destroy(world);
    return 0;
}
