/* hello_snapshot.c - save the water, play on, go back: the same future, bit for bit. SPDX: MIT

   This is what rollback multiplayer, quick save and replays need.

   cc -std=c99 -O2 -ffp-contract=off -I. examples/hello_snapshot.c -o hello_snapshot -lm */
#include <stdio.h>
#include <stdlib.h>

#define ISPHPBD_IMPLEMENTATION
#include "isphpbd_sph.h"

static void advance(isph_fluid *fluid, int frames) {
    while (frames-- > 0) isph_fluid_step(fluid, 1.0f / 60.0f, NULL);
}

int main(void) {
    isph_fluid_desc desc = isph_fluid_desc_default();
    isph_material_desc water = isph_material_desc_default();
    isph_boundary_desc bowl = isph_boundary_desc_default();
    isph_fluid *fluid = isph_fluid_create(&desc, NULL);
    isph_material material;
    uint64_t first, second;
    size_t size;
    void *saved;
    if (!fluid) return 1;
    material = isph_material_create(fluid, &water, NULL);
    bowl.shape = ISPH_SHAPE_SPHERE; /* a hollow ball of 2 m */
    bowl.container = true;
    bowl.radius = 1.0f;
    isph_boundary_create(fluid, &bowl, NULL);
    isph_particles_add_box(fluid, material, isphpbd_v3(-0.5f, -0.5f, -0.5f), isphpbd_v3(0.4f, 0.4f, 0.4f),
                           isphpbd_v3(1.0f, 0.0f, 0.0f), NULL);

    advance(fluid, 30);
    size = isph_fluid_save(fluid, NULL, 0); /* asks how much room it takes */
    saved = malloc(size);
    if (!saved) return 1;
    isph_fluid_save(fluid, saved, size);
    printf("saved %d particles in %.0f KB: %.1f bytes each\n", isph_particles(fluid).count, (double)size / 1024.0,
           (double)size / isph_particles(fluid).count);

    advance(fluid, 60);
    first = isph_fluid_hash(fluid);
    if (isph_fluid_load(fluid, saved, size) != ISPHPBD_OK) return 1; /* one second back */
    advance(fluid, 60);
    second = isph_fluid_hash(fluid);
    printf("the future, twice: %08lx%08lx %08lx%08lx: %s\n", (unsigned long)(first >> 32),
           (unsigned long)(first & 0xffffffffu), (unsigned long)(second >> 32), (unsigned long)(second & 0xffffffffu),
           first == second ? "the same bits" : "NOT THE SAME");
    free(saved);
    isph_fluid_destroy(fluid);
    return first == second ? 0 : 1;
}
