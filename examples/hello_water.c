/* hello_water.c - the smallest program with water in it: a column collapses in a tank. SPDX: MIT

   cc -std=c99 -O2 -ffp-contract=off -I. examples/hello_water.c -o hello_water -lm */
#include <stdio.h>

#define ISPHPBD_IMPLEMENTATION
#include "isphpbd_sph.h"

int main(void) {
    isph_fluid_desc desc = isph_fluid_desc_default();
    isph_material_desc water = isph_material_desc_default();
    isph_boundary_desc tank = isph_boundary_desc_default();
    isphpbd_result why = ISPHPBD_OK;
    isph_fluid *fluid;
    isph_material material;
    int frame, added = 0;

    desc.spacing = 0.05f; /* m between particles: everything scales with it */
    fluid = isph_fluid_create(&desc, &why);
    if (!fluid) return printf("no fluid: %s\n", isphpbd_result_text(why)), 1;
    material = isph_material_create(fluid, &water, &why);

    tank.shape = ISPH_SHAPE_BOX; /* hollow, 2 x 2 x 1 m, with its floor at y = 0 */
    tank.container = true;
    tank.half_extents = isphpbd_v3(1.0f, 1.0f, 0.5f);
    tank.position = isphpbd_v3(0.0f, 1.0f, 0.0f);
    isph_boundary_create(fluid, &tank, &why);

    /* half a cubic metre of water against the left wall */
    why = isph_particles_add_box(fluid, material, isphpbd_v3(-1.0f, 0.0f, -0.5f), isphpbd_v3(-0.5f, 1.0f, 0.5f),
                                 isphpbd_v3(0.0f, 0.0f, 0.0f), &added);
    printf("%d particles: %s\n", added, isphpbd_result_text(why));

    for (frame = 0; frame <= 120; ++frame) { /* two seconds */
        if (frame % 20 == 0) {
            isph_view view = isph_particles(fluid); /* the library's own arrays: draw them */
            const float *p = view.position;
            float front = -1.0f;
            int i;
            for (i = 0; i < view.count; ++i, p = (const float *)((const char *)p + view.stride_bytes))
                if (p[0] > front) front = p[0];
            printf("t = %.2f s: the front is at x = %5.2f m, the fastest drop does %.1f m/s\n", (double)frame / 60.0,
                   (double)front, (double)isph_fluid_stats(fluid).max_speed);
        }
        isph_fluid_step(fluid, 1.0f / 60.0f, NULL);
    }
    isph_fluid_destroy(fluid);
    return 0;
}
