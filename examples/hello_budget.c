/* hello_budget.c - water under a fixed amount of work: what is given up is told, and nothing breaks. SPDX: MIT

   A game cannot wait: the same splash runs with plenty of solver iterations, with few, and with next to none. Counted
   budgets give the same result on every machine; the figures of each step say what they cost in accuracy.

   cc -std=c99 -O2 -ffp-contract=off -I. examples/hello_budget.c -o hello_budget -lm */
#include <stdio.h>
#include <time.h>

#define ISPHPBD_IMPLEMENTATION
#include "isphpbd_sph.h"

static isph_fluid *make_splash(void) {
    isph_fluid_desc desc = isph_fluid_desc_default();
    isph_material_desc water = isph_material_desc_default();
    isph_boundary_desc tank = isph_boundary_desc_default();
    isph_fluid *fluid = isph_fluid_create(&desc, NULL);
    isph_material material;
    if (!fluid) return NULL;
    material = isph_material_create(fluid, &water, NULL);
    tank.shape = ISPH_SHAPE_BOX;
    tank.container = true;
    tank.half_extents = isphpbd_v3(1.0f, 1.5f, 0.5f);
    tank.position = isphpbd_v3(0.0f, 1.5f, 0.0f);
    isph_boundary_create(fluid, &tank, NULL);
    isph_particles_add_box(fluid, material, isphpbd_v3(-1.0f, 0.0f, -0.5f), isphpbd_v3(0.0f, 1.0f, 0.5f),
                           isphpbd_v3(0.0f, 0.0f, 0.0f), NULL);
    return fluid;
}

/* Two seconds of splash; prints time and what the budget cost. */
static void play(const char *name, int max_iterations, int max_substeps) {
    isph_fluid *fluid = make_splash();
    int frame, capped = 0;
    double density_error = 0.0, worst = 0.0;
    clock_t start = clock();
    if (!fluid) return;
    isph_fluid_set_budget(fluid, max_iterations, max_substeps, 0.05f);
    for (frame = 0; frame < 120; ++frame) {
        uint32_t flags = isph_fluid_step(fluid, 1.0f / 60.0f, NULL);
        isph_stats stats = isph_fluid_stats(fluid);
        if (flags & (ISPH_STEP_ITERATIONS_CAPPED | ISPH_STEP_SUBSTEPS_CAPPED)) ++capped;
        density_error += (double)stats.density_error_mean / 120.0;
        if ((double)stats.density_error_max > worst) worst = (double)stats.density_error_max;
    }
    printf("%-9s %3d iterations, %d substeps: %6.2f ms per step, %3d of 120 steps capped, density error %.2f %% (worst "
           "%.0f %%)\n",
           name, max_iterations, max_substeps, 1e3 * (double)(clock() - start) / CLOCKS_PER_SEC / 120.0, capped,
           100.0 * density_error, 100.0 * worst);
    isph_fluid_destroy(fluid);
}

int main(void) {
    play("plenty", 50, 8);
    play("usual", 12, 4);
    play("few", 6, 2);
    play("starving", 2, 1);
    return 0;
}
