/* The fluid of isphpbd_sph.h as an object: memory, descs, bad input, calls at the wrong moment. */
#define ISPH_IMPLEMENTATION /* looks inside */
#include "isphpbd_sph.h"

#include "greatest.h"
#include "sph_fixture.h"

static isph_fluid_desc small_desc(void) {
    isph_fluid_desc desc = isph_fluid_desc_default();
    desc.particle_capacity = 1500;
    return desc;
}

/* A tank of 10 x 10 x 12 particles with a few boundaries of other kinds in it. */
static isph_fluid *small_tank(const isph_fluid_desc *desc) {
    isph_fluid *fluid = fixture_tank(desc, 0.5f, 0.5f, 0.6f);
    isph_boundary_desc ball = isph_boundary_desc_default();
    ball.shape = ISPH_SHAPE_SPHERE;
    ball.radius = 0.1f;
    ball.position = isphpbd_v3(0.0f, 0.9f, 0.0f);
    ball.linear_velocity = isphpbd_v3(0.0f, -1.0f, 0.0f);
    if (fluid) (void)isph_boundary_create(fluid, &ball, NULL);
    return fluid;
}

/* ---- [memory] --------------------------------------------------------------------------------------------------- */

/* One allocation of exactly the bytes told, none while stepping, guards intact, everything given back. */
static greatest_test_res check_memory(isph_fluid_desc desc) {
    watched_memory memory;
    isph_fluid *fluid;
    desc.allocator = watched_allocator(&memory);
    fluid = small_tank(&desc);
    ASSERT(fluid != NULL);
    ASSERT_EQ_FMT(1, memory.allocations, "%d");
    ASSERT(memory.asked == isph_fluid_bytes(&desc));
    ASSERT(isph_fluid_stats(fluid).bytes == memory.asked);
    for (int i = 0; i < 12; i++) {
        (void)isph_fluid_step(fluid, 1.0f / 60.0f, NULL);
        ASSERT(watched_intact(fluid));
    }
    ASSERT(fixture_finite(fluid));
    ASSERT_EQ_FMT(1, memory.allocations, "%d");
    ASSERT_EQ_FMT(0, memory.frees, "%d");
    isph_fluid_destroy(fluid);
    ASSERT_EQ_FMT(1, memory.frees, "%d");
    ASSERT(watched_clean(&memory));
    PASS();
}

TEST memory_is_what_was_told(void) {
    static const int capacities[4] = {1200, 1201, 1207, 2048};
    for (int i = 0; i < 4; i++) {
        isph_fluid_desc desc = small_desc();
        desc.particle_capacity = capacities[i];
        desc.boundary_capacity = 2;
        desc.triangle_capacity = i;
        desc.material_capacity = 1 + i;
        desc.support = 1.8f + 0.4f * (float)i;
        CHECK_CALL(check_memory(desc));
    }
    PASS();
}

TEST memory_of_every_mode(void) {
    for (int i = 0; i < 12; i++) {
        isph_fluid_desc desc = small_desc();
        desc.linear_solver = i % 2 ? ISPH_LINEAR_BICGSTAB : ISPH_LINEAR_CG;
        desc.preconditioner = (isph_preconditioner)(i / 2 % 3);
        desc.density_projection = i < 6;
        CHECK_CALL(check_memory(desc));
    }
    PASS();
}

TEST memory_of_the_weakly_compressible_mode(void) {
    isph_fluid_desc desc = small_desc();
    desc.solver = ISPH_SOLVER_WEAKLY_COMPRESSIBLE;
    desc.max_substeps = 64;
    CHECK_CALL(check_memory(desc));
    PASS();
}

TEST at_most_a_kilobyte_per_particle(void) {
    isph_fluid_desc desc = isph_fluid_desc_default();
    ASSERT(isph_fluid_bytes(&desc) / (size_t)desc.particle_capacity <= 1024);
    desc.particle_capacity = 1000000;
    ASSERT(isph_fluid_bytes(&desc) / 1000000u <= 1024);
    PASS();
}

TEST out_of_memory(void) {
    isph_fluid_desc desc = small_desc();
    isphpbd_result why = ISPHPBD_OK;
    watched_memory memory;
    desc.allocator = watched_allocator(&memory);
    memory.refuse = 1;
    ASSERT(isph_fluid_create(&desc, &why) == NULL);
    ASSERT_EQ(ISPHPBD_OUT_OF_MEMORY, why);
    ASSERT(memory.live == 0);
    ASSERT_EQ_FMT(0, memory.frees, "%d");
    PASS();
}

/* ---- [desc] ----------------------------------------------------------------------------------------------------- */

static void spoil_numbers(isph_fluid_desc *d, int which) {
    static float *nothing = NULL;
    float *fields[7] = {nothing};
    static const float low[7] = {0.0f, 1.79f, -0.1f, 0.0f, -1.0f, -1.0f, -1.0f};
    fields[0] = &d->spacing, fields[1] = &d->support, fields[2] = &d->tolerance, fields[3] = &d->cfl;
    fields[4] = &d->max_substep_seconds, fields[5] = &d->sound_speed, fields[6] = &d->max_speed;
    switch (which / 7) {
        case 0: *fields[which % 7] = NAN; break;
        case 1: *fields[which % 7] = INFINITY; break;
        case 2: *fields[which % 7] = low[which % 7]; break;
        default: *fields[which % 7] = -INFINITY; break;
    }
}

static void spoil_counts(isph_fluid_desc *d, int which) {
    switch (which) {
        case 0: d->particle_capacity = 0; break;
        case 1: d->particle_capacity = -1; break;
        case 2: d->particle_capacity = 0x7fffffff; break;
        case 3: d->material_capacity = 0; break;
        case 4: d->material_capacity = 256; break;
        case 5: d->boundary_capacity = -1; break;
        case 6: d->triangle_capacity = -1; break;
        case 7: d->triangle_capacity = 0x7fffffff; break;
        case 8: d->max_iterations = 0; break;
        case 9: d->max_substeps = 0; break;
        case 10: d->solver = (isph_solver)2; break;
        case 11: d->linear_solver = (isph_linear_solver)2; break;
        case 12: d->preconditioner = (isph_preconditioner)3; break;
        case 13: d->gravity.x = NAN; break;
        case 14: d->gravity.y = -INFINITY; break;
        case 15: d->gravity.z = INFINITY; break;
        case 16: d->boundary_capacity = 0x7fffffff; break;
        case 17: d->max_iterations = -1; break;
        case 18: d->max_substeps = -7; break;
        case 19: d->tolerance = 1.0f; break;
        case 20: d->allocator.free = watched_free; break;
        case 21: d->cookie = 0; break;
        default: memset(d, 0, sizeof *d); break;
    }
}

static greatest_test_res check_refused(const isph_fluid_desc *desc) {
    isphpbd_result why = ISPHPBD_OK;
    ASSERT(isph_fluid_create(desc, &why) == NULL);
    ASSERT_EQ(ISPHPBD_BAD_DESC, why);
    ASSERT(isph_fluid_bytes(desc) == 0);
    PASS();
}

TEST bad_descs(void) {
    isph_fluid_desc desc;
    for (int i = 0; i < 28; i++) {
        desc = isph_fluid_desc_default();
        spoil_numbers(&desc, i);
        CHECK_CALL(check_refused(&desc));
    }
    for (int i = 0; i < 23; i++) {
        desc = isph_fluid_desc_default();
        spoil_counts(&desc, i);
        CHECK_CALL(check_refused(&desc));
    }
    CHECK_CALL(check_refused(NULL));
    ASSERT(isph_fluid_create(NULL, NULL) == NULL);
    PASS();
}

TEST half_an_allocator(void) {
    isph_fluid_desc desc = small_desc();
    isph_grid_desc grid = isph_grid_desc_default();
    isph_matrix_desc matrix = isph_matrix_desc_default();
    watched_memory memory;
    isphpbd_result why;
    desc.allocator = watched_allocator(&memory);
    desc.allocator.free = NULL;
    ASSERT(isph_fluid_create(&desc, &why) == NULL);
    ASSERT_EQ(ISPHPBD_BAD_DESC, why);
    desc.allocator = watched_allocator(&memory);
    desc.allocator.alloc = NULL;
    ASSERT(isph_fluid_create(&desc, &why) == NULL);
    ASSERT_EQ(ISPHPBD_BAD_DESC, why);
    grid.allocator = matrix.allocator = desc.allocator;
    ASSERT(isph_fluid_bytes(&desc) == 0 && isph_grid_bytes(&grid) == 0 && isph_matrix_bytes(&matrix) == 0);
    ASSERT(!isph_grid_create(&grid, &why));
    ASSERT_EQ(ISPHPBD_BAD_DESC, why);
    ASSERT(!isph_matrix_create(&matrix, &why));
    ASSERT_EQ(ISPHPBD_BAD_DESC, why);
    PASS();
}

TEST bad_materials(void) {
    static const float bad_density[6] = {0.0f, -1.0f, NAN, INFINITY, -INFINITY, 1e30f};
    static const float bad_viscosity[4] = {-0.1f, NAN, INFINITY, 1e30f};
    isph_fluid_desc desc = small_desc();
    isph_fluid *fluid;
    isphpbd_result why;
    isph_material_desc m;
    uint64_t hash;
    desc.material_capacity = 2;
    fluid = isph_fluid_create(&desc, NULL);
    hash = isph_fluid_hash(fluid);
    for (int i = 0; i < 11; i++) {
        m = isph_material_desc_default();
        if (i < 6) m.density = bad_density[i];
        else if (i < 10) m.viscosity = bad_viscosity[i - 6];
        else m.cookie = 1;
        ASSERT_EQ_FMT(0u, isph_material_create(fluid, &m, &why).id, "%u");
        ASSERT_EQ(ISPHPBD_BAD_DESC, why);
    }
    ASSERT_EQ_FMT(0u, isph_material_create(fluid, NULL, &why).id, "%u");
    ASSERT_EQ(ISPHPBD_BAD_DESC, why);
    ASSERT_EQ(hash, isph_fluid_hash(fluid));
    (void)fixture_water(fluid), (void)fixture_water(fluid);
    hash = isph_fluid_hash(fluid);
    m = isph_material_desc_honey();
    ASSERT_EQ_FMT(0u, isph_material_create(fluid, &m, &why).id, "%u");
    ASSERT_EQ(ISPHPBD_CAPACITY, why);
    ASSERT_EQ(hash, isph_fluid_hash(fluid));
    ASSERT_EQ_FMT(0u, isph_material_create(NULL, &m, &why).id, "%u");
    ASSERT_EQ(ISPHPBD_BAD_ARGUMENT, why);
    isph_fluid_destroy(fluid);
    PASS();
}

/* Presets at 20 degrees Celsius, as tables have them: kg/m^3 and Pa s. */
TEST presets_are_what_they_are_called(void) {
    const isph_material_desc all[4] = {isph_material_desc_default(), isph_material_desc_oil(),
                                       isph_material_desc_honey(), isph_material_desc_mercury()};
    static const float density[4] = {1000.0f, 910.0f, 1400.0f, 13540.0f}, viscosity[4] = {1e-3f, 0.08f, 10.0f, 1.5e-3f};
    for (int i = 0; i < 4; i++) {
        ASSERT_IN_RANGE(density[i], all[i].density, 0.02f * density[i]);
        ASSERT_IN_RANGE(viscosity[i], all[i].viscosity, 0.1f * viscosity[i]);
    }
    PASS();
}

/* ---- [logger] --------------------------------------------------------------------------------------------------- */

TEST logger_names_the_field_of_a_fluid(void) {
    static const char *const numbers[7] = {"spacing", "support", "tolerance", "cfl",
                                           "max_substep_seconds", "sound_speed", "max_speed"};
    static const char *const counts[21] = {
        "particle_capacity", "particle_capacity", "particle_capacity", "material_capacity", "material_capacity",
        "boundary_capacity", "triangle_capacity", "triangle_capacity", "max_iterations", "max_substeps",
        "solver", "linear_solver", "preconditioner", "gravity", "gravity",
        "gravity", "boundary_capacity", "max_iterations", "max_substeps", "tolerance",
        "allocator"};
    isph_fluid_desc desc;
    watched_memory memory;
    heard h;
    for (int i = 0; i < 28 + 21; i++) {
        desc = isph_fluid_desc_default();
        desc.logger = heard_logger(&h);
        if (i < 28) spoil_numbers(&desc, i);
        else spoil_counts(&desc, i - 28);
        ASSERT(!isph_fluid_create(&desc, NULL));
        ASSERT(heard_once(&h, ISPHPBD_BAD_DESC, i < 28 ? numbers[i % 7] : counts[i - 28]));
    }
    desc = isph_fluid_desc_default();
    desc.logger = heard_logger(&h);
    desc.cookie = 0; /* then nothing in it is to be trusted, the logger neither */
    ASSERT(!isph_fluid_create(&desc, NULL) && h.errors == 0);
    desc = isph_fluid_desc_default();
    desc.logger = heard_logger(&h);
    desc.allocator = watched_allocator(&memory);
    memory.refuse = 1;
    ASSERT(!isph_fluid_create(&desc, NULL));
    ASSERT(heard_once(&h, ISPHPBD_OUT_OF_MEMORY, "memory"));
    PASS();
}

static void spoil_wall(isph_boundary_desc *d, int which) {
    static const isph_shape shapes[14] = {ISPH_SHAPE_BOX, ISPH_SHAPE_SPHERE, ISPH_SHAPE_CAPSULE, ISPH_SHAPE_CAPSULE,
                                          ISPH_SHAPE_BOX, ISPH_SHAPE_BOX, ISPH_SHAPE_BOX, ISPH_SHAPE_BOX,
                                          ISPH_SHAPE_BOX, ISPH_SHAPE_PLANE, ISPH_SHAPE_BOX, ISPH_SHAPE_BOX,
                                          ISPH_SHAPE_BOX, ISPH_SHAPE_BOX};
    d->shape = shapes[which];
    switch (which) {
        case 0: d->half_extents.y = 0.0f; break;
        case 1: d->radius = NAN; break;
        case 2: d->radius = -1.0f; break;
        case 3: d->half_height = 1e7f; break;
        case 4: d->friction = 1.1f; break;
        case 5: d->viscous_grip = -0.1f; break;
        case 6: d->restitution = INFINITY; break;
        case 7: d->gravity_scale = 1e4f; break;
        case 8: d->inertia.x = 1.0f, d->mass = -1.0f; break;
        case 9: d->mass = 1.0f; break;
        case 10: d->position.x = 1e8f; break;
        case 11: d->rotation.w = 0.5f; break;
        case 12: d->linear_velocity.z = NAN; break;
        default: d->angular_velocity.y = 1e6f; break;
    }
}

TEST logger_names_what_is_refused(void) {
    static const char *const boundaries[14] = {"half_extents", "radius", "radius", "half_height", "friction",
                                               "viscous_grip", "restitution", "gravity_scale", "mass", "mass",
                                               "position", "rotation", "linear_velocity", "angular_velocity"};
    isph_fluid_desc desc = small_desc();
    isph_material_desc liquid = isph_material_desc_default();
    isph_boundary_desc d = isph_boundary_desc_default();
    isph_material water;
    isph_fluid *fluid;
    heard h;
    desc.logger = heard_logger(&h);
    desc.particle_capacity = 8, desc.material_capacity = desc.boundary_capacity = 1;
    fluid = isph_fluid_create(&desc, NULL);
    liquid.density = 0.0f, (void)isph_material_create(fluid, &liquid, NULL);
    ASSERT(heard_once(&h, ISPHPBD_BAD_DESC, "density"));
    liquid = isph_material_desc_default(), liquid.viscosity = NAN, (void)isph_material_create(fluid, &liquid, NULL);
    ASSERT(heard_once(&h, ISPHPBD_BAD_DESC, "viscosity"));
    water = fixture_water(fluid);
    (void)fixture_water(fluid);
    ASSERT(heard_once(&h, ISPHPBD_CAPACITY, "material_capacity"));
    for (int i = 0; i < 14; i++) {
        d = isph_boundary_desc_default();
        spoil_wall(&d, i);
        ASSERT_EQ_FMT(0u, isph_boundary_create(fluid, &d, NULL).id, "%u");
        ASSERT(heard_once(&h, ISPHPBD_BAD_DESC, boundaries[i]));
    }
    (void)fixture_plane(fluid, 0.0f), (void)fixture_plane(fluid, 0.0f);
    ASSERT(heard_once(&h, ISPHPBD_CAPACITY, "boundary_capacity"));
    (void)isph_particles_add_box(fluid, water, fixture_zero, isphpbd_v3(1, 1, 1), fixture_zero, NULL);
    ASSERT(heard_once(&h, ISPHPBD_CAPACITY, "particle_capacity"));
    (void)isph_fluid_load(fluid, &desc, sizeof desc);
    ASSERT(heard_once(&h, ISPHPBD_BAD_SNAPSHOT, "snapshot"));
    isph_fluid_destroy(fluid);
    PASS();
}

/* What was cut is told when it is cut for the first time. */
TEST logger_warns_once(void) {
    isph_fluid_desc desc = small_desc();
    isph_fluid *fluid;
    uint32_t flags;
    heard h;
    desc.logger = heard_logger(&h);
    desc.max_iterations = 1;
    fluid = small_tank(&desc);
    flags = fixture_run(fluid, 10, 1.0f / 60.0f);
    ASSERT_EQ_FMT((uint32_t)ISPH_STEP_ITERATIONS_CAPPED, flags, "%u");
    ASSERT_EQ_FMT(1, h.warnings, "%d");
    ASSERT(strstr(h.text, "max_iterations") != NULL);
    ASSERT_EQ_FMT(0, h.errors, "%d");
    isph_fluid_destroy(fluid);
    PASS();
}

/* ---- [bad input] ------------------------------------------------------------------------------------------------ */

TEST bad_steps(void) {
    static const float bad[8] = {0.0f, -0.01f, NAN, INFINITY, -INFINITY, 1.0001f, 1e30f, 1e-30f};
    const isph_fluid_desc desc = small_desc();
    isph_fluid *fluid = small_tank(&desc);
    isphpbd_result why;
    uint64_t hash;
    (void)fixture_run(fluid, 3, 0.01f);
    hash = isph_fluid_hash(fluid);
    for (int i = 0; i < 8; i++) {
        why = ISPHPBD_OK;
        ASSERT(isph_fluid_step(fluid, bad[i], &why) == 0);
        ASSERT_EQ(ISPHPBD_BAD_ARGUMENT, why);
        ASSERT_EQ(hash, isph_fluid_hash(fluid));
    }
    ASSERT(isph_fluid_step(NULL, 0.01f, &why) == 0);
    ASSERT_EQ(ISPHPBD_BAD_ARGUMENT, why);
    ASSERT(isph_fluid_step(NULL, 0.01f, NULL) == 0);
    (void)isph_fluid_step(fluid, 1e-6f, &why);
    ASSERT_EQ(ISPHPBD_OK, why);
    (void)isph_fluid_step(fluid, 1.0f, &why);
    ASSERT_EQ(ISPHPBD_OK, why);
    ASSERT(fixture_finite(fluid));
    isph_fluid_destroy(fluid);
    PASS();
}

/* The second of two particles is bad; neither comes in. */
TEST bad_particles(void) {
    const float bad[7] = {NAN, INFINITY, -INFINITY, 1e6f, -1e6f, 3e38f, 0.05f * 262144.0f * 1.01f};
    const isph_fluid_desc desc = small_desc();
    isph_fluid *fluid = small_tank(&desc);
    const isph_material water = {1}, unknown = {2}, null = {0};
    const uint64_t hash = isph_fluid_hash(fluid);
    float p[2][3] = {{0.1f, 2.0f, 0.1f}, {0.1f, 2.0f, 0.1f}}, v[2][3] = {{0, 0, 0}, {0, 0, 0}};
    for (int i = 0; i < 21; i++) {
        p[1][i % 3] = bad[i / 3];
        ASSERT_EQ(ISPHPBD_BAD_ARGUMENT, isph_particles_add(fluid, water, p[0], sizeof p[0], NULL, 0, 2, NULL));
        p[1][i % 3] = 0.1f, v[1][i % 3] = i / 3 == 6 ? 1e9f : bad[i / 3];
        ASSERT_EQ(ISPHPBD_BAD_ARGUMENT,
                  isph_particles_add(fluid, water, p[0], sizeof p[0], v[0], sizeof v[0], 2, NULL));
        v[1][i % 3] = 0.0f;
    }
    ASSERT_EQ(ISPHPBD_BAD_HANDLE, isph_particles_add(fluid, unknown, p[0], sizeof p[0], NULL, 0, 2, NULL));
    ASSERT_EQ(ISPHPBD_BAD_HANDLE, isph_particles_add(fluid, null, p[0], sizeof p[0], NULL, 0, 2, NULL));
    ASSERT_EQ(ISPHPBD_BAD_ARGUMENT, isph_particles_add(fluid, water, NULL, sizeof p[0], NULL, 0, 2, NULL));
    ASSERT_EQ(ISPHPBD_BAD_ARGUMENT, isph_particles_add(fluid, water, p[0], 8, NULL, 0, 2, NULL));
    ASSERT_EQ(ISPHPBD_BAD_ARGUMENT, isph_particles_add(fluid, water, p[0], sizeof p[0], v[0], 4, 2, NULL));
    ASSERT_EQ(ISPHPBD_BAD_ARGUMENT, isph_particles_add(fluid, water, p[0], sizeof p[0], NULL, 0, -1, NULL));
    ASSERT_EQ(ISPHPBD_BAD_ARGUMENT, isph_particles_add(NULL, water, p[0], sizeof p[0], NULL, 0, 2, NULL));
    ASSERT_EQ(ISPHPBD_OK, isph_particles_add(fluid, water, NULL, 0, NULL, 0, 0, NULL));
    ASSERT_EQ(hash, isph_fluid_hash(fluid));
    isph_fluid_destroy(fluid);
    PASS();
}

TEST bad_boxes(void) {
    static const float bad[5] = {NAN, INFINITY, -INFINITY, 1e6f, -1e6f};
    const isph_fluid_desc desc = small_desc();
    isph_fluid *fluid = small_tank(&desc);
    const isph_material water = {1}, null = {0};
    const uint64_t hash = isph_fluid_hash(fluid);
    const isphpbd_vec3 lo = isphpbd_v3(0, 1, 0), hi = isphpbd_v3(0.1f, 1.1f, 0.1f);
    int added = 7;
    for (int i = 0; i < 15; i++) {
        isphpbd_vec3 corner = hi, velocity = fixture_zero;
        (&corner.x)[i % 3] = bad[i / 3];
        ASSERT_EQ(ISPHPBD_BAD_ARGUMENT, isph_particles_add_box(fluid, water, lo, corner, fixture_zero, &added));
        ASSERT_EQ(ISPHPBD_BAD_ARGUMENT, isph_particles_add_box(fluid, water, corner, hi, fixture_zero, NULL));
        (&velocity.x)[i % 3] = bad[i / 3];
        ASSERT_EQ(ISPHPBD_BAD_ARGUMENT, isph_particles_add_box(fluid, water, lo, hi, velocity, NULL));
    }
    ASSERT_EQ(ISPHPBD_BAD_HANDLE, isph_particles_add_box(fluid, null, lo, hi, fixture_zero, NULL));
    ASSERT_EQ(ISPHPBD_BAD_ARGUMENT, isph_particles_add_box(NULL, water, lo, hi, fixture_zero, NULL));
    ASSERT_EQ(ISPHPBD_CAPACITY, isph_particles_add_box(fluid, water, lo, isphpbd_v3(1, 2, 1), fixture_zero, NULL));
    ASSERT_EQ(ISPHPBD_CAPACITY,
              isph_particles_add_box(fluid, water, lo, isphpbd_v3(9e3f, 9e3f, 9e3f), fixture_zero, NULL));
    ASSERT_EQ(hash, isph_fluid_hash(fluid));
    isph_fluid_destroy(fluid);
    PASS();
}

/* One more than fits changes nothing; exactly what fits works, and steps. */
TEST over_capacity(void) {
    isph_fluid_desc desc = small_desc();
    isph_fluid *fluid;
    isph_material water;
    static float p[1600][3];
    uint64_t hash;
    desc.particle_capacity = 1000;
    fluid = isph_fluid_create(&desc, NULL);
    water = fixture_water(fluid);
    (void)fixture_plane(fluid, 0.0f);
    for (int i = 0; i < 1600; i++) {
        p[i][0] = 0.05f * (float)(i % 10), p[i][1] = 0.025f + 0.05f * (float)(i / 100),
        p[i][2] = 0.05f * (float)(i / 10 % 10);
    }
    hash = isph_fluid_hash(fluid);
    ASSERT_EQ(ISPHPBD_CAPACITY, isph_particles_add(fluid, water, p[0], sizeof p[0], NULL, 0, 1001, NULL));
    ASSERT_EQ(hash, isph_fluid_hash(fluid));
    ASSERT_EQ(ISPHPBD_OK, isph_particles_add(fluid, water, p[0], sizeof p[0], NULL, 0, 1000, NULL));
    hash = isph_fluid_hash(fluid);
    ASSERT_EQ(ISPHPBD_CAPACITY, isph_particles_add(fluid, water, p[0], sizeof p[0], NULL, 0, 1, NULL));
    ASSERT_EQ(hash, isph_fluid_hash(fluid));
    (void)fixture_run(fluid, 5, 0.01f);
    ASSERT(fixture_finite(fluid));
    isph_fluid_destroy(fluid);
    PASS();
}

TEST bad_settings(void) {
    const isph_fluid_desc desc = small_desc();
    isph_fluid *fluid = small_tank(&desc);
    const uint64_t hash = isph_fluid_hash(fluid);
    ASSERT_EQ(ISPHPBD_BAD_ARGUMENT, isph_fluid_set_gravity(NULL, fixture_zero));
    ASSERT_EQ(ISPHPBD_BAD_ARGUMENT, isph_fluid_set_gravity(fluid, isphpbd_v3(0, NAN, 0)));
    ASSERT_EQ(ISPHPBD_BAD_ARGUMENT, isph_fluid_set_gravity(fluid, isphpbd_v3(INFINITY, 0, 0)));
    ASSERT_EQ(ISPHPBD_BAD_ARGUMENT, isph_fluid_set_gravity(fluid, isphpbd_v3(0, -1e30f, 0)));
    ASSERT_EQ(ISPHPBD_BAD_ARGUMENT, isph_fluid_set_gravity(fluid, isphpbd_v3(0, 3e38f, 3e38f)));
    ASSERT_EQ(ISPHPBD_BAD_ARGUMENT, isph_fluid_set_budget(NULL, 10, 2, 0.1f));
    ASSERT_EQ(ISPHPBD_BAD_ARGUMENT, isph_fluid_set_budget(fluid, 0, 2, 0.1f));
    ASSERT_EQ(ISPHPBD_BAD_ARGUMENT, isph_fluid_set_budget(fluid, 10, 0, 0.1f));
    ASSERT_EQ(ISPHPBD_BAD_ARGUMENT, isph_fluid_set_budget(fluid, 10, 2, NAN));
    ASSERT_EQ(ISPHPBD_BAD_ARGUMENT, isph_fluid_set_budget(fluid, 10, 2, -0.1f));
    ASSERT_EQ(ISPHPBD_BAD_ARGUMENT, isph_fluid_set_solver_enabled(NULL, true));
    ASSERT_EQ(ISPHPBD_BAD_ARGUMENT, isph_fluid_set_coupler(NULL, NULL));
    ASSERT_EQ(ISPHPBD_BAD_ARGUMENT, isph_fluid_shift_origin(NULL, fixture_zero));
    ASSERT_EQ(ISPHPBD_BAD_ARGUMENT, isph_fluid_shift_origin(fluid, isphpbd_v3(0, 0, NAN)));
    ASSERT_EQ(ISPHPBD_BAD_ARGUMENT, isph_fluid_shift_origin(fluid, isphpbd_v3(0, 1e9f, 0)));
    ASSERT_EQ(hash, isph_fluid_hash(fluid));
    isph_fluid_destroy(fluid);
    PASS();
}

/* Extreme but legal input: nothing stops being a number. */
TEST extreme_settings(void) {
    static const float gravity[4] = {-1e4f, 9e5f, -9e5f, 0.0f};
    const isph_fluid_desc desc = small_desc();
    for (int i = 0; i < 4; i++) {
        isph_fluid *fluid = small_tank(&desc);
        ASSERT_EQ(ISPHPBD_OK, isph_fluid_set_gravity(fluid, isphpbd_v3(0.3f, gravity[i], 0.0f)));
        (void)fixture_run(fluid, 4, 0.01f);
        ASSERT(fixture_finite(fluid));
        ASSERT_EQ_FMT(1200, isph_particles(fluid).count, "%d");
        isph_fluid_destroy(fluid);
    }
    PASS();
}

TEST shift_keeps_boundaries_finite(void) {
    const isph_fluid_desc desc = small_desc();
    isph_fluid *fluid = isph_fluid_create(&desc, NULL);
    const isph_boundary plane = fixture_plane(fluid, 0.0f);
    isphpbd_vec3 at;
    for (int i = 0; i < 3; i++) (void)isph_fluid_shift_origin(fluid, isphpbd_v3(0, 3e38f, 0));
    ASSERT_EQ(ISPHPBD_OK, isph_boundary_pose(fluid, plane, &at, NULL));
    ASSERT(isfinite(at.y) && at.y < 1e8f);
    isph_fluid_destroy(fluid);
    PASS();
}

/* A particle that flies out of the world (2^18 spacings) stops at its edge and is counted; the others go on. */
TEST edge_of_the_world(void) {
    const isph_fluid_desc desc = small_desc();
    isph_fluid *fluid = isph_fluid_create(&desc, NULL);
    const isph_material water = fixture_water(fluid);
    const float edge = 262144.0f * desc.spacing, p[3] = {edge - 0.2f, 0.0f, 0.0f}, v[3] = {45.0f, 0.0f, 0.0f};
    uint32_t flags, id;
    isph_view view;
    int quarantined = 0;
    (void)fixture_plane(fluid, -0.1f);
    (void)isph_particles_add_box(fluid, water, fixture_zero, isphpbd_v3(0.2f, 0.2f, 0.2f), fixture_zero, NULL);
    ASSERT_EQ(ISPHPBD_OK, isph_particles_add(fluid, water, p, sizeof p, v, sizeof v, 1, &id));
    flags = isph_fluid_step(fluid, 0.01f, NULL);
    quarantined += isph_fluid_stats(fluid).quarantined;
    flags |= isph_fluid_step(fluid, 0.01f, NULL);
    quarantined += isph_fluid_stats(fluid).quarantined;
    ASSERT((flags & ISPH_STEP_QUARANTINED) != 0);
    ASSERT(quarantined > 0);
    ASSERT(fixture_finite(fluid));
    view = isph_particles(fluid);
    ASSERT(view_position(&view, isph_particle_find(fluid, id))[0] <= edge);
    ASSERT_EQ_FMT(65, view.count, "%d");
    isph_fluid_destroy(fluid);
    PASS();
}

/* ---- [null and stale] ------------------------------------------------------------------------------------------- */

TEST null_fluids(void) {
    const isph_boundary none = {0};
    const isph_view view = isph_particles(NULL);
    uint32_t id = 0;
    isphpbd_result why;
    isph_boundary_desc wall = isph_boundary_desc_default();
    ASSERT_EQ_FMT(0, view.count, "%d");
    ASSERT_EQ_FMT(-1, isph_particle_find(NULL, 0), "%d");
    ASSERT_EQ_FMT(0, isph_particles_remove(NULL, &id, 1), "%d");
    ASSERT_EQ_FMT(0, isph_particles_remove_if(NULL, NULL, NULL), "%d");
    ASSERT_EQ_FMT(0, isph_particles_edit(NULL, NULL, NULL), "%d");
    ASSERT_EQ_FMT(0u, isph_boundary_create(NULL, &wall, &why).id, "%u");
    ASSERT_EQ(ISPHPBD_BAD_ARGUMENT, why);
    ASSERT_EQ(ISPHPBD_BAD_HANDLE, isph_boundary_destroy(NULL, none));
    ASSERT_EQ(ISPHPBD_BAD_HANDLE, isph_boundary_pose(NULL, none, NULL, NULL));
    ASSERT_EQ(ISPHPBD_BAD_HANDLE, isph_boundary_take_impulse(NULL, none, NULL, NULL));
    ASSERT(isph_fluid_stats(NULL).bytes == 0);
    ASSERT(isph_fluid_hash(NULL) == 0);
    ASSERT(isph_fluid_save(NULL, NULL, 0) == 0);
    ASSERT_EQ(ISPHPBD_BAD_ARGUMENT, isph_fluid_load(NULL, &id, 4));
    isph_fluid_destroy(NULL);
    PASS();
}

static isphpbd_result set_motion(isph_fluid *fluid, isph_boundary b, isphpbd_vec3 at, float w, isphpbd_vec3 v,
                                 isphpbd_vec3 spin) {
    isphpbd_quat q = {0, 0, 0, 1};
    q.w = w;
    return isph_boundary_set_motion(fluid, b, at, q, v, spin);
}

TEST stale_boundaries(void) {
    const isph_fluid_desc desc = small_desc();
    isph_fluid *fluid = isph_fluid_create(&desc, NULL);
    const isph_boundary first = fixture_plane(fluid, 0.0f);
    isph_boundary second, bogus = {12345};
    ASSERT_EQ(ISPHPBD_OK, isph_boundary_destroy(fluid, first));
    second = fixture_plane(fluid, 1.0f); /* takes the same slot */
    ASSERT(first.id != second.id && second.id != 0);
    ASSERT_EQ(ISPHPBD_BAD_HANDLE, isph_boundary_destroy(fluid, first));
    ASSERT_EQ(ISPHPBD_BAD_HANDLE, isph_boundary_pose(fluid, first, NULL, NULL));
    ASSERT_EQ(ISPHPBD_BAD_HANDLE, isph_boundary_take_impulse(fluid, first, NULL, NULL));
    ASSERT_EQ(ISPHPBD_BAD_HANDLE, set_motion(fluid, first, fixture_zero, 1.0f, fixture_zero, fixture_zero));
    ASSERT_EQ(ISPHPBD_BAD_HANDLE, isph_boundary_destroy(fluid, bogus));
    ASSERT_EQ_FMT(1, isph_fluid_stats(fluid).boundaries, "%d");
    ASSERT_EQ(ISPHPBD_OK, isph_boundary_destroy(fluid, second));
    ASSERT_EQ_FMT(0, isph_fluid_stats(fluid).boundaries, "%d");
    isph_fluid_destroy(fluid);
    PASS();
}

TEST bad_motions(void) {
    static const float bad[4] = {NAN, INFINITY, -INFINITY, 1e30f};
    const isph_fluid_desc desc = small_desc();
    isph_fluid *fluid = isph_fluid_create(&desc, NULL);
    const isph_boundary plane = fixture_plane(fluid, 0.25f);
    const uint64_t hash = isph_fluid_hash(fluid);
    for (int i = 0; i < 4; i++) {
        const isphpbd_vec3 v = isphpbd_v3(0, bad[i], 0);
        ASSERT_EQ(ISPHPBD_BAD_ARGUMENT, set_motion(fluid, plane, v, 1.0f, fixture_zero, fixture_zero));
        ASSERT_EQ(ISPHPBD_BAD_ARGUMENT, set_motion(fluid, plane, fixture_zero, bad[i], fixture_zero, fixture_zero));
        ASSERT_EQ(ISPHPBD_BAD_ARGUMENT, set_motion(fluid, plane, fixture_zero, 1.0f, v, fixture_zero));
        ASSERT_EQ(ISPHPBD_BAD_ARGUMENT, set_motion(fluid, plane, fixture_zero, 1.0f, fixture_zero, v));
    }
    ASSERT_EQ(ISPHPBD_BAD_ARGUMENT, set_motion(fluid, plane, fixture_zero, 0.0f, fixture_zero, fixture_zero));
    ASSERT_EQ(ISPHPBD_BAD_ARGUMENT, set_motion(fluid, plane, fixture_zero, 2.0f, fixture_zero, fixture_zero));
    ASSERT_EQ(hash, isph_fluid_hash(fluid));
    isph_fluid_destroy(fluid);
    PASS();
}

static void spoil_boundary(isph_boundary_desc *d, int which) {
    static const float bad[4] = {NAN, INFINITY, -1.0f, 0.0f};
    const float value = bad[which % 4];
    switch (which / 4) {
        case 0: d->shape = ISPH_SHAPE_SPHERE, d->radius = value; break;
        case 1: d->shape = ISPH_SHAPE_CAPSULE, d->radius = value; break;
        case 2: d->shape = ISPH_SHAPE_CAPSULE, d->half_height = value != 0.0f ? value : -INFINITY; break;
        case 3: d->shape = ISPH_SHAPE_BOX, d->half_extents.x = value; break;
        case 4: d->shape = ISPH_SHAPE_BOX, d->half_extents.y = value; break;
        case 5: d->shape = ISPH_SHAPE_BOX, d->half_extents.z = value; break;
        case 6: d->friction = value != 0.0f ? value : 1.1f; break;
        case 7: d->viscous_grip = value != 0.0f ? value : 1.1f; break;
        case 8: d->position.z = value > 0.0f || value != value ? value : -INFINITY; break;
        case 9: d->rotation.w = value > -1.0f || value != value ? value : 3.0f; break;
        case 10: d->linear_velocity.x = value > 0.0f || value != value ? value : -INFINITY; break;
        case 11: d->angular_velocity.y = value > 0.0f || value != value ? value : -INFINITY; break;
        case 12: d->shape = (isph_shape)(which % 2 ? 0 : 6); break;
        default: d->cookie = 0; break;
    }
}

TEST bad_boundaries(void) {
    const isph_fluid_desc desc = small_desc();
    isph_fluid *fluid = isph_fluid_create(&desc, NULL);
    const uint64_t hash = isph_fluid_hash(fluid);
    isphpbd_result why;
    for (int i = 0; i < 53; i++) {
        isph_boundary_desc d = isph_boundary_desc_default();
        spoil_boundary(&d, i);
        ASSERT_EQ_FMT(0u, isph_boundary_create(fluid, &d, &why).id, "%u");
        ASSERT_EQ(ISPHPBD_BAD_DESC, why);
    }
    ASSERT_EQ_FMT(0u, isph_boundary_create(fluid, NULL, &why).id, "%u");
    ASSERT_EQ(ISPHPBD_BAD_DESC, why);
    ASSERT_EQ(hash, isph_fluid_hash(fluid));
    isph_fluid_destroy(fluid);
    PASS();
}

TEST boundary_capacity(void) {
    isph_fluid_desc desc = small_desc();
    isph_fluid *fluid;
    isph_boundary_desc d = isph_boundary_desc_default();
    isphpbd_result why;
    uint64_t hash;
    desc.boundary_capacity = 2;
    fluid = isph_fluid_create(&desc, NULL);
    (void)fixture_plane(fluid, 0.0f), (void)fixture_plane(fluid, -1.0f);
    hash = isph_fluid_hash(fluid);
    ASSERT_EQ_FMT(0u, isph_boundary_create(fluid, &d, &why).id, "%u");
    ASSERT_EQ(ISPHPBD_CAPACITY, why);
    ASSERT_EQ(hash, isph_fluid_hash(fluid));
    isph_fluid_destroy(fluid);
    PASS();
}

/* ---- [meshes] --------------------------------------------------------------------------------------------------- */

static const float corners[4][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0}};
static const uint32_t two_triangles[6] = {0, 1, 2, 2, 1, 3};

static isph_mesh square(void) {
    isph_mesh mesh;
    mesh.positions = corners[0], mesh.stride_bytes = sizeof corners[0], mesh.vertex_count = 4;
    mesh.indices = two_triangles, mesh.index_count = 6;
    return mesh;
}

TEST bad_meshes(void) {
    static const uint32_t out_of_range[6] = {0, 1, 2, 2, 1, 4}, degenerate[6] = {0, 0, 1, 2, 2, 2};
    static float bad_corner[4][3];
    isph_fluid_desc desc = small_desc();
    isph_fluid *fluid;
    isphpbd_result why;
    desc.triangle_capacity = 3;
    fluid = isph_fluid_create(&desc, NULL);
    memcpy(bad_corner, corners, sizeof corners);
    bad_corner[3][1] = NAN;
    for (int i = 0; i < 9; i++) {
        isph_boundary_desc d = isph_boundary_desc_default();
        const uint64_t hash = isph_fluid_hash(fluid);
        d.shape = ISPH_SHAPE_MESH;
        d.mesh = square();
        switch (i) {
            case 0: d.mesh.positions = NULL; break;
            case 1: d.mesh.indices = NULL; break;
            case 2: d.mesh.stride_bytes = 4; break;
            case 3: d.mesh.vertex_count = 0; break;
            case 4: d.mesh.index_count = 5; break;
            case 5: d.mesh.index_count = 0; break;
            case 6: d.mesh.indices = out_of_range; break;
            case 7: d.mesh.indices = degenerate; break;
            default: d.mesh.positions = bad_corner[0]; break;
        }
        ASSERT_EQ_FMT(0u, isph_boundary_create(fluid, &d, &why).id, "%u");
        ASSERT_EQ(ISPHPBD_BAD_MESH, why);
        ASSERT_EQ(hash, isph_fluid_hash(fluid));
        ASSERT_EQ_FMT(0, isph_fluid_stats(fluid).triangles, "%d");
    }
    isph_fluid_destroy(fluid);
    PASS();
}

/* A closed mesh that is wound inside out would draw particles in; one with a gap has no inside to speak of. */
TEST solids_are_wound_outward(void) {
    static const float corner[4][3] = {{50, 0, 0}, {51, 0, 0}, {50, 1, 0}, {50, 0, 1}};
    static const uint32_t good[12] = {0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3};
    static const uint32_t bad[12] = {0, 1, 2, 0, 3, 1, 0, 2, 3, 1, 3, 2};
    static const uint32_t flat[6] = {0, 1, 2, 0, 2, 1};
    isph_fluid_desc desc = small_desc();
    isph_boundary_desc d = isph_boundary_desc_default();
    isph_fluid *fluid;
    isphpbd_result why;
    uint64_t hash;
    heard h;
    desc.logger = heard_logger(&h);
    fluid = isph_fluid_create(&desc, NULL);
    hash = isph_fluid_hash(fluid);
    d.shape = ISPH_SHAPE_MESH, d.mesh_solid = true;
    d.mesh.positions = corner[0], d.mesh.stride_bytes = sizeof corner[0], d.mesh.vertex_count = 4;
    for (int i = 0; i < 2; i++) {
        d.mesh.indices = i ? flat : bad, d.mesh.index_count = i ? 6 : 12;
        ASSERT_EQ_FMT(0u, isph_boundary_create(fluid, &d, &why).id, "%u");
        ASSERT_EQ(ISPHPBD_BAD_MESH, why);
        ASSERT(heard_once(&h, ISPHPBD_BAD_MESH, "mesh_solid"));
        ASSERT_EQ(hash, isph_fluid_hash(fluid));
        ASSERT_EQ_FMT(0, isph_fluid_stats(fluid).triangles, "%d");
    }
    d.mesh.indices = good, d.mesh.index_count = 12;
    ASSERT(isph_boundary_create(fluid, &d, NULL).id != 0);
    d.mesh.indices = bad, d.mesh.index_count = 9;
    ASSERT(isph_boundary_create(fluid, &d, NULL).id != 0);
    d.mesh.index_count = 12, d.mesh_solid = false;
    ASSERT(isph_boundary_create(fluid, &d, NULL).id != 0);
    isph_fluid_destroy(fluid);
    PASS();
}

/* Meshes come and go in any order; the triangles of the others stay theirs, and their room is given back. */
TEST mesh_room_is_given_back(void) {
    isph_fluid_desc desc = small_desc();
    isph_fluid *fluid;
    isph_boundary handle[4];
    isph_boundary_desc d = isph_boundary_desc_default();
    isphpbd_result why;
    fixture_random random = {9u};
    desc.triangle_capacity = 8;
    fluid = isph_fluid_create(&desc, NULL);
    d.shape = ISPH_SHAPE_MESH;
    d.mesh = square();
    for (int i = 0; i < 4; i++) handle[i] = isph_boundary_create(fluid, &d, NULL);
    ASSERT_EQ_FMT(8, isph_fluid_stats(fluid).triangles, "%d");
    ASSERT_EQ_FMT(0u, isph_boundary_create(fluid, &d, &why).id, "%u");
    ASSERT_EQ(ISPHPBD_CAPACITY, why);
    for (int i = 0; i < 200; i++) {
        const int k = random_below(&random, 4);
        ASSERT_EQ(ISPHPBD_OK, isph_boundary_destroy(fluid, handle[k]));
        ASSERT_EQ_FMT(6, isph_fluid_stats(fluid).triangles, "%d");
        handle[k] = isph_boundary_create(fluid, &d, &why);
        ASSERT_EQ(ISPHPBD_OK, why);
    }
    isph_fluid_destroy(fluid);
    PASS();
}

/* ---- [wrong moment] Every call that changes the fluid, made from inside each kind of callback, is refused. ------ */

typedef struct meddler {
    isph_fluid *fluid;
    isph_boundary boundary;
    int calls, accepted;
    unsigned char *image;
    size_t size;
} meddler;

static bool meddling_test(void *user, const isph_particle *p) {
    (void)user, (void)p;
    return true;
}
static bool meddling_edit(void *user, isph_particle *p) {
    (void)user, (void)p;
    return true;
}

static void meddle(meddler *m) {
    const isph_material water = {1};
    const float p[3] = {0, 3, 0};
    isphpbd_result why[3];
    const uint32_t id = 0;
    isph_material_desc md = isph_material_desc_default();
    isph_boundary_desc bd = isph_boundary_desc_default();
    m->calls++;
    m->accepted += isph_particles_add(m->fluid, water, p, sizeof p, NULL, 0, 1, NULL) != ISPHPBD_LOCKED;
    m->accepted +=
        isph_particles_add_box(m->fluid, water, fixture_zero, fixture_zero, fixture_zero, NULL) != ISPHPBD_LOCKED;
    m->accepted += isph_particles_remove(m->fluid, &id, 1) != 0;
    m->accepted += isph_particles_remove_if(m->fluid, meddling_test, NULL) != 0;
    m->accepted += isph_particles_edit(m->fluid, meddling_edit, NULL) != 0;
    m->accepted += isph_fluid_set_gravity(m->fluid, fixture_zero) != ISPHPBD_LOCKED;
    m->accepted += isph_fluid_set_budget(m->fluid, 1, 1, 0.5f) != ISPHPBD_LOCKED;
    m->accepted += isph_fluid_set_solver_enabled(m->fluid, false) != ISPHPBD_LOCKED;
    m->accepted += isph_fluid_set_coupler(m->fluid, NULL) != ISPHPBD_LOCKED;
    m->accepted += isph_fluid_shift_origin(m->fluid, isphpbd_v3(1, 1, 1)) != ISPHPBD_LOCKED;
    m->accepted += isph_boundary_destroy(m->fluid, m->boundary) != ISPHPBD_LOCKED;
    m->accepted += set_motion(m->fluid, m->boundary, fixture_zero, 1.0f, fixture_zero, fixture_zero) != ISPHPBD_LOCKED;
    m->accepted += isph_boundary_take_impulse(m->fluid, m->boundary, NULL, NULL) != ISPHPBD_LOCKED;
    m->accepted += isph_fluid_load(m->fluid, m->image, m->size) != ISPHPBD_LOCKED;
    m->accepted += isph_fluid_step(m->fluid, 0.01f, &why[0]) != 0 || why[0] != ISPHPBD_LOCKED;
    m->accepted += isph_material_create(m->fluid, &md, &why[1]).id != 0 || why[1] != ISPHPBD_LOCKED;
    m->accepted += isph_boundary_create(m->fluid, &bd, &why[2]).id != 0 || why[2] != ISPHPBD_LOCKED;
}

static void meddle_begin(void *user, const float *x, const float *v, int count, float seconds) {
    (void)x, (void)v, (void)count, (void)seconds;
    meddle((meddler *)user);
}
static int meddle_walls(void *user, int index, isphpbd_vec3 position, float reach, isph_wall *out, int capacity) {
    (void)position, (void)reach, (void)out, (void)capacity;
    if (index % 100 == 0) meddle((meddler *)user);
    return 0;
}
static void meddle_finish(void *user, const float *start, float *x, float *v, int count, float seconds) {
    (void)start, (void)x, (void)v, (void)count, (void)seconds;
    meddle((meddler *)user);
}
static bool meddle_in_test(void *user, const isph_particle *p) {
    if (p->id % 64 == 0) meddle((meddler *)user);
    return false;
}
static bool meddle_in_edit(void *user, isph_particle *p) {
    if (p->id % 64 == 0) meddle((meddler *)user);
    return false;
}

TEST calls_from_inside_callbacks(void) {
    const isph_fluid_desc desc = small_desc();
    isph_fluid *fluid = small_tank(&desc), *quiet = small_tank(&desc);
    meddler m = {NULL, {0}, 0, 0, NULL, 0};
    isph_coupler coupler = {meddle_begin, meddle_walls, NULL, NULL, NULL, NULL, NULL, meddle_finish, NULL};
    m.fluid = fluid, m.boundary = fixture_plane(fluid, -1.0f), (void)fixture_plane(quiet, -1.0f);
    m.size = isph_fluid_save(fluid, NULL, 0);
    m.image = (unsigned char *)malloc(m.size);
    (void)isph_fluid_save(fluid, m.image, m.size);
    coupler.user = &m;
    ASSERT_EQ(ISPHPBD_OK, isph_fluid_set_coupler(fluid, &coupler));
    (void)fixture_run(fluid, 2, 0.01f), (void)fixture_run(quiet, 2, 0.01f);
    ASSERT_EQ_FMT(0, isph_particles_remove_if(fluid, meddle_in_test, &m), "%d");
    ASSERT_EQ_FMT(0, isph_particles_edit(fluid, meddle_in_edit, &m), "%d");
    ASSERT(m.calls > 40);
    ASSERT_EQ_FMT(0, m.accepted, "%d");
    ASSERT_EQ(isph_fluid_hash(quiet), isph_fluid_hash(fluid));
    free(m.image);
    isph_fluid_destroy(fluid), isph_fluid_destroy(quiet);
    PASS();
}

/* ---- [answers] -------------------------------------------------------------------------------------------------- */

static uint64_t ticking(void *user) { return ++*(uint64_t *)user; }

TEST statistics(void) {
    isph_fluid_desc desc = small_desc();
    uint64_t ticks = 0;
    isph_fluid *fluid;
    isph_stats stats;
    desc.clock.fn = ticking, desc.clock.user = &ticks;
    fluid = small_tank(&desc);
    (void)fixture_run(fluid, 10, 0.01f);
    stats = isph_fluid_stats(fluid);
    ASSERT_EQ_FMT(1200, stats.particles, "%d");
    ASSERT_EQ_FMT(2, stats.boundaries, "%d");
    ASSERT(stats.substeps >= 1 && stats.substeps <= desc.max_substeps);
    ASSERT(stats.total_substeps >= 10 && stats.total_pressure_iterations > 0 && stats.total_density_iterations > 0);
    ASSERT(stats.pressure_iterations <= desc.max_iterations);
    ASSERT(stats.neighbours_mean > 15.0f && stats.neighbours_mean < 120.0f);
    ASSERT(stats.max_speed > 0.0f && stats.kinetic_energy > 0.0f);
    ASSERT_IN_RANGE((double)stats.max_speed, fixture_measure(fluid).max_speed, 1e-4);
    ASSERT_IN_RANGE(0.5 * 1200 * 0.125 * pow(fixture_measure(fluid).rms_speed, 2), (double)stats.kinetic_energy,
                    1e-3 * (double)stats.kinetic_energy);
    ASSERT(stats.ticks_total >= stats.ticks_neighbours + stats.ticks_walls + stats.ticks_pressure + stats.ticks_move);
    ASSERT(stats.ticks_neighbours > 0 && stats.ticks_walls > 0 && stats.ticks_pressure > 0 && stats.ticks_move > 0);
    isph_fluid_destroy(fluid);
    PASS();
}

/* A boundary goes on moving whether or not there is water. */
TEST boundaries_move_without_particles(void) {
    const isph_fluid_desc desc = small_desc();
    isph_fluid *fluid = isph_fluid_create(&desc, NULL);
    const isph_boundary plane = fixture_plane(fluid, 0.0f);
    isphpbd_vec3 at;
    ASSERT_EQ(ISPHPBD_OK, set_motion(fluid, plane, fixture_zero, 1.0f, isphpbd_v3(0, 2.0f, 0), fixture_zero));
    (void)fixture_run(fluid, 10, 0.05f);
    ASSERT_EQ(ISPHPBD_OK, isph_boundary_pose(fluid, plane, &at, NULL));
    ASSERT_IN_RANGE(1.0, (double)at.y, 1e-4);
    isph_fluid_destroy(fluid);
    PASS();
}

/* A fluid without material, particles or boundaries can be stepped, saved and loaded. */
TEST empty_fluid(void) {
    isph_fluid_desc desc = small_desc();
    isph_fluid *fluid;
    unsigned char image[4096];
    size_t size;
    uint64_t hash;
    desc.boundary_capacity = desc.triangle_capacity = 0;
    fluid = isph_fluid_create(&desc, NULL);
    ASSERT(fluid != NULL);
    (void)fixture_run(fluid, 3, 0.01f);
    hash = isph_fluid_hash(fluid);
    size = isph_fluid_save(fluid, image, sizeof image);
    ASSERT(size <= sizeof image);
    ASSERT_EQ(ISPHPBD_OK, isph_fluid_load(fluid, image, size));
    ASSERT_EQ(hash, isph_fluid_hash(fluid));
    isph_fluid_destroy(fluid);
    PASS();
}

/* The hash sees everything that will make a difference. */
TEST hash_sees_differences(void) {
    const isph_fluid_desc desc = small_desc();
    uint64_t hashes[8];
    for (int i = 0; i < 8; i++) {
        isph_fluid *fluid = fixture_tank(&desc, 0.5f, 0.5f, 0.4f);
        isph_boundary_desc d = isph_boundary_desc_default();
        d.shape = i == 1 ? ISPH_SHAPE_CAPSULE : ISPH_SHAPE_SPHERE;
        d.radius = i == 2 ? 0.2f : 0.1f;
        d.friction = i == 3 ? 0.5f : 0.0f;
        d.viscous_grip = i == 4 ? 0.5f : 1.0f;
        d.position.y = i == 5 ? 0.1f : 0.0f;
        (void)isph_boundary_create(fluid, &d, NULL);
        if (i == 6) (void)isph_fluid_set_budget(fluid, 49, 8, 0.05f);
        if (i == 7) (void)isph_fluid_set_solver_enabled(fluid, false);
        hashes[i] = isph_fluid_hash(fluid);
        for (int k = 0; k < i; k++) ASSERT(hashes[k] != hashes[i]);
        isph_fluid_destroy(fluid);
    }
    PASS();
}

/* More than 65536 particles have columns of 16 bits next to each other, or of 32 when something far away makes the grid
   wrap: the water does not care. */
TEST columns_of_either_width(void) {
    isph_fluid_desc desc = isph_fluid_desc_default();
    isph_fluid *fluids[2];
    isph_view views[2];
    const float far_away[3] = {9000, 0, 0};
    desc.particle_capacity = 80000;
    for (int i = 0; i < 2; i++) {
        fluids[i] = fixture_tank(&desc, 2.05f, 2.05f, 2.1f);
        ASSERT(fluids[i] && isph_particles(fluids[i]).count == 41 * 41 * 42);
        if (i == 1) {
            const isph_material water = {1u};
            ASSERT_EQ(ISPHPBD_OK, isph_particles_add(fluids[i], water, far_away, 12, NULL, 0, 1, NULL));
        }
        (void)isph_fluid_substep(fluids[i], 0.004f, NULL);
        views[i] = isph_particles(fluids[i]);
    }
    ASSERT_EQ(2, fluids[0]->sell.index_bytes);
    ASSERT_EQ(4, fluids[1]->sell.index_bytes);
    for (int i = 0; i < views[0].count; i++) {
        const int j = isph_particle_find(fluids[1], views[0].id[i]);
        ASSERT(j >= 0);
        for (int k = 0; k < 3; k++)
            ASSERT(fabsf(view_position(&views[0], i)[k] - view_position(&views[1], j)[k]) < 1e-4f);
        ASSERT(fabsf(views[0].density[i] - views[1].density[j]) < 1e-4f);
    }
    isph_fluid_destroy(fluids[0]);
    isph_fluid_destroy(fluids[1]);
    PASS();
}

SUITE(sph_fluid) {
    RUN_TEST(memory_is_what_was_told);
    RUN_TEST(memory_of_every_mode);
    RUN_TEST(memory_of_the_weakly_compressible_mode);
    RUN_TEST(at_most_a_kilobyte_per_particle);
    RUN_TEST(columns_of_either_width);
    RUN_TEST(out_of_memory);
    RUN_TEST(bad_descs);
    RUN_TEST(half_an_allocator);
    RUN_TEST(bad_materials);
    RUN_TEST(logger_names_the_field_of_a_fluid);
    RUN_TEST(logger_names_what_is_refused);
    RUN_TEST(logger_warns_once);
    RUN_TEST(presets_are_what_they_are_called);
    RUN_TEST(bad_steps);
    RUN_TEST(bad_particles);
    RUN_TEST(bad_boxes);
    RUN_TEST(over_capacity);
    RUN_TEST(bad_settings);
    RUN_TEST(extreme_settings);
    RUN_TEST(shift_keeps_boundaries_finite);
    RUN_TEST(edge_of_the_world);
    RUN_TEST(null_fluids);
    RUN_TEST(stale_boundaries);
    RUN_TEST(bad_motions);
    RUN_TEST(bad_boundaries);
    RUN_TEST(boundary_capacity);
    RUN_TEST(bad_meshes);
    RUN_TEST(solids_are_wound_outward);
    RUN_TEST(mesh_room_is_given_back);
    RUN_TEST(calls_from_inside_callbacks);
    RUN_TEST(statistics);
    RUN_TEST(boundaries_move_without_particles);
    RUN_TEST(empty_fluid);
    RUN_TEST(hash_sees_differences);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv) {
    GREATEST_MAIN_BEGIN();
    RUN_SUITE(sph_fluid);
    GREATEST_MAIN_END();
}
