/* Hashes of small scenes of isphpbd_sph.h; see tests/support/bits.h. */
#define ISPH_IMPLEMENTATION
#include "isphpbd_sph.h"

#include "bits.h"

static isph_fluid *tank(isphpbd_parallel parallel, isph_solver solver) {
    isph_fluid_desc desc = isph_fluid_desc_default();
    isph_boundary_desc walls = isph_boundary_desc_default();
    isph_fluid *fluid;
    desc.particle_capacity = 4096;
    desc.parallel = parallel;
    desc.solver = solver;
    fluid = isph_fluid_create(&desc, NULL);
    if (!fluid) return NULL;
    walls.shape = ISPH_SHAPE_BOX;
    walls.container = true;
    walls.half_extents = isphpbd_v3(0.5f, 0.5f, 0.25f);
    (void)isph_boundary_create(fluid, &walls, NULL);
    return fluid;
}

static uint64_t run(isph_fluid *fluid, int steps) {
    uint64_t hash;
    for (int i = 0; i < steps; i++) (void)isph_fluid_step(fluid, 1.0f / 60.0f, NULL);
    hash = isph_fluid_hash(fluid);
    isph_fluid_destroy(fluid);
    return hash;
}

static void add(isph_fluid *fluid, isph_material_desc desc, isphpbd_vec3 lo, isphpbd_vec3 hi) {
    isph_material material = isph_material_create(fluid, &desc, NULL);
    (void)isph_particles_add_box(fluid, material, lo, hi, isphpbd_v3(0.0f, 0.0f, 0.0f), NULL);
}

static uint64_t dam_break(isphpbd_parallel parallel) {
    isph_fluid *fluid = tank(parallel, ISPH_SOLVER_INCOMPRESSIBLE);
    if (!fluid) return 0;
    add(fluid, isph_material_desc_default(), isphpbd_v3(-0.5f, -0.5f, -0.25f), isphpbd_v3(0.0f, 0.2f, 0.25f));
    return run(fluid, 20);
}

/* Two liquids, one of them viscous, stirred by a moving ball. */
static uint64_t stirred(isphpbd_parallel parallel) {
    isph_fluid *fluid = tank(parallel, ISPH_SOLVER_INCOMPRESSIBLE);
    isph_boundary_desc ball = isph_boundary_desc_default();
    if (!fluid) return 0;
    add(fluid, isph_material_desc_honey(), isphpbd_v3(-0.5f, -0.5f, -0.25f), isphpbd_v3(0.5f, -0.3f, 0.25f));
    add(fluid, isph_material_desc_oil(), isphpbd_v3(-0.5f, -0.3f, -0.25f), isphpbd_v3(0.5f, -0.1f, 0.25f));
    ball.shape = ISPH_SHAPE_SPHERE;
    ball.radius = 0.12f;
    ball.position = isphpbd_v3(-0.3f, -0.1f, 0.0f);
    ball.linear_velocity = isphpbd_v3(0.6f, -0.1f, 0.0f);
    ball.friction = 0.5f;
    (void)isph_boundary_create(fluid, &ball, NULL);
    return run(fluid, 10);
}

static uint64_t weakly_compressible(isphpbd_parallel parallel) {
    isph_fluid *fluid = tank(parallel, ISPH_SOLVER_WEAKLY_COMPRESSIBLE);
    if (!fluid) return 0;
    add(fluid, isph_material_desc_default(), isphpbd_v3(-0.5f, -0.5f, -0.25f), isphpbd_v3(-0.2f, 0.0f, 0.25f));
    return run(fluid, 3);
}

int main(void) {
    int failures = bits_print("dam_break", dam_break);
    failures += bits_print("stirred", stirred);
    failures += bits_print("weakly_compressible", weakly_compressible);
    return failures > 0;
}
