/* hello_water.c - the smallest program with water in it: a column collapses in a tank. SPDX: MIT

   cc -std=c99 -O2 -ffp-contract=off -I. examples/hello_water.c -o hello_water -lm */
#include <stdio.h>
#define ISPH_IMPLEMENTATION
#include "isphpbd_sph.h"

int main(void) {
    isph_fluid_desc desc = isph_fluid_desc_default();        /* 5 cm between particles, SI units */
    isph_material_desc water = isph_material_desc_default(); /* or _oil, _honey, _mercury */
    isph_boundary_desc tank = isph_boundary_desc_default();
    isphpbd_result why;
    isph_fluid *fluid = isph_fluid_create(&desc, &why);
    int frame, added;
    if (!fluid) return printf("%s\n", isphpbd_result_text(why)), 1;
    tank.shape = ISPH_SHAPE_BOX, tank.container = true;
    tank.half_extents = isphpbd_v3(1.0f, 1.0f, 0.5f);
    isph_boundary_create(fluid, &tank, &why);
    isph_particles_add_box(fluid, isph_material_create(fluid, &water, &why), isphpbd_v3(-1.0f, -1.0f, -0.5f),
                           isphpbd_v3(-0.4f, 0.0f, 0.5f), isphpbd_v3(0.0f, 0.0f, 0.0f), &added);
    for (frame = 0; frame < 120; ++frame) {
        isph_fluid_step(fluid, 1.0f / 60.0f, &why);
        isph_view view = isph_particles(fluid); /* the library's own arrays: draw them */
        if (frame % 20 == 0) printf("%d drops, to %.2f m/s\n", view.count, (double)isph_fluid_stats(fluid).max_speed);
    }
    isph_fluid_destroy(fluid);
    return 0;
}
