/* Short forms of the physical validations of isphpbd_sph.h, small enough for every run of the tests; the long ones with
   their sources and plots are tests/validate_*.c. */
#define ISPH_IMPLEMENTATION
#include "isphpbd_sph.h"

#include "greatest.h"
#include "sph_fixture.h"

#define GRAVITY 9.81
#define SPACING 0.05

static isph_fluid_desc desc_for(int particles) {
    isph_fluid_desc desc = isph_fluid_desc_default();
    desc.particle_capacity = particles;
    return desc;
}

/* Depth of water that the centre of mass tells: twice its height. */
static double depth_of(const isph_fluid *fluid) { return 2.0 * fixture_measure(fluid).centre[1]; }

/* ---- [rest] ----------------------------------------------------------------------------------------------------- */

/* Relative L2 error of the pressure against rho g (depth - y), of particles `margin` (m) off walls and surface. */
static double pressure_error(const isph_fluid *fluid, double half_width, double depth, double margin) {
    const isph_view view = isph_particles(fluid);
    double error = 0.0, scale = 0.0;
    for (int i = 0; i < view.count; i++) {
        const float *p = view_position(&view, i);
        const double expected = 1000.0 * GRAVITY * (depth - (double)p[1]), e = (double)view.pressure[i] - expected;
        const double side = half_width - fmax(fabs((double)p[0]), fabs((double)p[2]));
        if (side < margin || (double)p[1] < margin || depth - (double)p[1] < margin) continue;
        error += e * e, scale += expected * expected;
    }
    return scale > 0.0 ? sqrt(error / scale) : 1e30;
}

/* 0.8 m of water, 16 layers: pressure, height and quiet as the validation asks of 3 s. */
static greatest_test_res tank_at_rest(float seconds, int steps) {
    const isph_fluid_desc desc = desc_for(4096);
    isph_fluid *fluid = fixture_tank(&desc, 0.8f, 0.8f, 0.8f);
    ASSERT_EQ_FMT(4096, isph_particles(fluid).count, "%d");
    (void)fixture_run(fluid, steps, seconds);
    ASSERT(pressure_error(fluid, 0.4, 0.8, 0.0) < 0.03);
    ASSERT(pressure_error(fluid, 0.4, 0.8, 2.0 * SPACING) < 0.007);
    ASSERT_IN_RANGE(0.8, depth_of(fluid), 0.002 * 0.8);
    ASSERT(fixture_measure(fluid).rms_speed < 0.02);
    isph_fluid_destroy(fluid);
    PASS();
}

TEST tank_at_rest_120(void) {
    CHECK_CALL(tank_at_rest(1.0f / 120.0f, 180));
    PASS();
}
TEST tank_at_rest_60(void) {
    CHECK_CALL(tank_at_rest(1.0f / 60.0f, 90));
    PASS();
}

static double iterations_of_column(float height) {
    const isph_fluid_desc desc = desc_for(2000);
    isph_fluid *fluid = fixture_tank(&desc, 0.3f, 0.3f, height);
    isph_stats stats;
    (void)fixture_run(fluid, 60, 1.0f / 60.0f);
    stats = isph_fluid_stats(fluid);
    isph_fluid_destroy(fluid);
    return (double)(stats.total_pressure_iterations + stats.total_density_iterations) / (double)stats.total_substeps;
}

TEST iterations_do_not_grow_with_depth(void) {
    const double shallow = iterations_of_column(0.5f), deep = iterations_of_column(2.0f);
    ASSERT(shallow > 0.0 && deep <= 1.5 * shallow);
    PASS();
}

/* Walls of any direction hold still water: a trough, half of a square pipe that stands on its edge. With gradients that
   are true along the axes only, its walls drive a circulation of 0.2 m/s for ever. */
TEST still_water_in_a_slanted_trough(void) {
    const float dx = 0.05f, half = 0.45f, turn = 0.38268343f; /* sin(45 deg / 2) */
    const isph_fluid_desc desc = desc_for(2000);
    isph_fluid *fluid = isph_fluid_create(&desc, NULL);
    isph_boundary_desc trough = isph_boundary_desc_default();
    const isph_material water = fixture_water(fluid);
    trough.shape = ISPH_SHAPE_BOX, trough.container = true;
    trough.half_extents = isphpbd_v3(half, half, 0.2f);
    trough.rotation.z = turn, trough.rotation.w = sqrtf(1.0f - turn * turn);
    (void)isph_boundary_create(fluid, &trough, NULL);
    for (int layer = 1; (float)layer * dx < 1.4f * half; layer++) { /* from the edge at the bottom to the middle */
        const float wide = (float)(layer - 1) * dx, top = (float)layer * dx - 1.41421356f * half;
        (void)isph_particles_add_box(fluid, water, isphpbd_v3(-wide, top - dx, -0.2f), isphpbd_v3(wide, top, 0.2f),
                                     fixture_zero, NULL);
    }
    (void)fixture_run(fluid, 240, 1.0f / 60.0f);
    ASSERT(isph_particles(fluid).count > 700);
    ASSERT(fixture_measure(fluid).rms_speed < 0.05);
    isph_fluid_destroy(fluid);
    PASS();
}

/* A box filled to the lid: the pressure is known up to a constant, and the solves must still end. */
TEST closed_full_tank(void) {
    for (int bicgstab = 0; bicgstab < 2; bicgstab++) {
        isph_fluid_desc desc = desc_for(1000);
        isph_fluid *fluid;
        isph_view view;
        uint32_t flags;
        double most = 0.0, least = 1e30;
        desc.linear_solver = bicgstab ? ISPH_LINEAR_BICGSTAB : ISPH_LINEAR_CG;
        fluid = isph_fluid_create(&desc, NULL);
        (void)fixture_room(fluid, fixture_zero, isphpbd_v3(0.5f, 0.5f, 0.5f));
        (void)isph_particles_add_box(fluid, fixture_water(fluid), fixture_zero, isphpbd_v3(0.5f, 0.5f, 0.5f),
                                     fixture_zero, NULL);
        flags = fixture_run(fluid, 60, 1.0f / 60.0f);
        view = isph_particles(fluid);
        for (int i = 0; i < view.count; i++) {
            most = fmax(most, (double)view.pressure[i]), least = fmin(least, (double)view.pressure[i]);
        }
        ASSERT((flags & ISPH_STEP_ITERATIONS_CAPPED) == 0);
        ASSERT(fixture_finite(fluid));
        ASSERT_IN_RANGE(1000.0 * GRAVITY * 0.45, most - least, 0.1 * 1000.0 * GRAVITY * 0.45);
        ASSERT(most < 2.0 * 1000.0 * GRAVITY * 0.5);
        ASSERT(fixture_measure(fluid).rms_speed < 0.02);
        isph_fluid_destroy(fluid);
    }
    PASS();
}

/* ---- [volume] --------------------------------------------------------------------------------------------------- */

/* Two dams fall towards each other. How they come to rest is chaotic, and so is the last percent of the depth. */
static greatest_test_res double_dam_run(float seconds, int cap, float tolerance, double *depth) {
    isph_fluid_desc desc = desc_for(2000);
    isph_fluid *fluid;
    isph_material water;
    double worst = 0.0;
    const int steps = (int)(10.0f / seconds);
    desc.max_iterations = cap, desc.tolerance = tolerance;
    fluid = isph_fluid_create(&desc, NULL);
    water = fixture_water(fluid);
    (void)fixture_room(fluid, isphpbd_v3(0, 0, 0), isphpbd_v3(1.2f, 5, 0.3f));
    (void)isph_particles_add_box(fluid, water, isphpbd_v3(0, 0, 0), isphpbd_v3(0.3f, 0.6f, 0.3f), fixture_zero, NULL);
    (void)isph_particles_add_box(fluid, water, isphpbd_v3(0.9f, 0, 0), isphpbd_v3(1.2f, 0.6f, 0.3f), fixture_zero,
                                 NULL);
    for (int i = 0; i < steps; i++) {
        (void)isph_fluid_step(fluid, seconds, NULL);
        worst = fmax(worst, (double)isph_fluid_stats(fluid).density_error_mean);
    }
    *depth = depth_of(fluid);
    ASSERT_EQ_FMT(864, isph_particles(fluid).count, "%d");
    ASSERT_IN_RANGE(0.3, *depth, 0.02 * 0.3);
    ASSERT(worst < 0.05);
    ASSERT(fixture_finite(fluid));
    isph_fluid_destroy(fluid);
    PASS();
}

/* Once settled the water is as deep as its volume says: on average over runs that differ in a digit far behind. */
static greatest_test_res double_dam(float seconds, int cap, int runs, double settled) {
    double mean = 0.0;
    for (int run = 0; run < runs; run++) {
        double depth = 0.0;
        CHECK_CALL(double_dam_run(seconds, cap, 0.05f + 1e-4f * (float)run, &depth));
        mean += depth / runs;
    }
    ASSERT_IN_RANGE(0.3, mean, settled * 0.3);
    PASS();
}

TEST double_dam_5_ms(void) {
    CHECK_CALL(double_dam(0.005f, 50, 2, 0.01));
    PASS();
}
TEST double_dam_20_ms(void) {
    CHECK_CALL(double_dam(0.020f, 50, 2, 0.01));
    PASS();
}
TEST double_dam_8_iterations(void) {
    CHECK_CALL(double_dam(1.0f / 60.0f, 8, 3, 0.01));
    PASS();
}
TEST double_dam_4_iterations(void) {
    CHECK_CALL(double_dam(1.0f / 60.0f, 4, 3, 0.01));
    PASS();
}

/* ---- [recovery] ------------------------------------------------------------------------------------------------- */

static bool gather(void *user, isph_particle *p) {
    (void)user;
    p->position = isphpbd_v3(0.001f * (float)(p->id % 7u), 0.3f, 0.001f * (float)(p->id % 11u));
    return true;
}
static bool sink(void *user, isph_particle *p) {
    (void)user;
    p->position.x += 0.2f, p->position.y -= 0.15f;
    return true;
}

/* The volume is there: as deep as it should be (what still splashes makes it only deeper), and nothing compressed. */
static greatest_test_res whole_again(const char *name, const isph_fluid *fluid, double area) {
    const isph_stats stats = isph_fluid_stats(fluid);
    const double ratio = depth_of(fluid) * area / (stats.particles * 0.000125);
    ASSERTm(name, ratio > 0.98 && ratio < 1.08);
    ASSERTm(name, stats.density_error_mean < 0.02f && stats.density_error_max < 0.2f);
    ASSERT_EQ_FMTm(name, 0, stats.crowded, "%d");
    PASS();
}

/* 600 particles in a tank of 0.5 x 0.5 m, which makes 0.3 m, spoilt in one way or another: whole again in a second. */
static greatest_test_res recover(const char *name, int way) {
    const isph_fluid_desc desc = desc_for(1000);
    isph_fluid *fluid = fixture_tank(&desc, 0.5f, 0.5f, way == 2 ? 0.2f : 0.3f);
    const isph_material water = {1};
    double fastest = 0.0;
    uint32_t flags = 0;
    (void)fixture_run(fluid, 10, 1.0f / 60.0f);
    if (way == 0) {
        ASSERT_EQ(ISPHPBD_OK, isph_fluid_set_solver_enabled(fluid, false));
        (void)fixture_run(fluid, 120, 1.0f / 60.0f);
        ASSERT(depth_of(fluid) < 0.2); /* it did pile up */
        ASSERT_EQ(ISPHPBD_OK, isph_fluid_set_solver_enabled(fluid, true));
    }
    if (way == 1) (void)isph_particles_edit(fluid, gather, NULL);
    if (way == 2) {
        ASSERT_EQ(ISPHPBD_OK, isph_particles_add_box(fluid, water, isphpbd_v3(-0.125f, 0.0f, -0.2f),
                                                     isphpbd_v3(0.125f, 0.25f, 0.2f), fixture_zero, NULL));
    }
    if (way == 3) (void)isph_particles_edit(fluid, sink, NULL);
    for (int i = 0; i < 60; i++) {
        flags |= isph_fluid_step(fluid, 1.0f / 60.0f, NULL);
        ASSERT(fixture_finite(fluid));
        fastest = fmax(fastest, fixture_measure(fluid).max_speed);
    }
    ASSERTm(name, fastest < 20.0);
    ASSERTm(name, !(flags & ISPH_STEP_QUARANTINED));
    CHECK_CALL(whole_again(name, fluid, 0.25));
    ASSERTm(name, fixture_measure(fluid).low > 0.45 * SPACING);
    isph_fluid_destroy(fluid);
    PASS();
}

TEST recover_after_the_solver_was_off(void) {
    CHECK_CALL(recover("off and on", 0));
    PASS();
}
TEST recover_from_one_cell(void) {
    CHECK_CALL(recover("one cell", 1));
    PASS();
}
TEST recover_from_a_block_in_a_block(void) {
    CHECK_CALL(recover("block in block", 2));
    PASS();
}
TEST recover_from_inside_the_walls(void) {
    CHECK_CALL(recover("inside walls", 3));
    PASS();
}

/* A block of 2000 particles that was put wholly into the solid round a tank of 1 x 1 m comes out without a shot: after
   a second all of it is in the tank, and little of it higher than twice where it will rest. */
static greatest_test_res recover_from_solid(const char *name, isphpbd_vec3 lo, isphpbd_vec3 hi) {
    const isph_fluid_desc desc = desc_for(2000);
    isph_fluid *fluid = isph_fluid_create(&desc, NULL);
    const double rest = 2000.0 * 0.000125;
    double fastest = 0.0;
    int outside = 0, high = 0;
    isph_view view;
    (void)fixture_room(fluid, isphpbd_v3(0, 0, 0), isphpbd_v3(1, 12, 1));
    (void)isph_particles_add_box(fluid, fixture_water(fluid), lo, hi, fixture_zero, NULL);
    for (int i = 0; i < 60; i++) {
        (void)isph_fluid_step(fluid, 1.0f / 60.0f, NULL);
        fastest = fmax(fastest, fixture_measure(fluid).max_speed);
    }
    view = isph_particles(fluid);
    ASSERT_EQ_FMTm(name, 2000, view.count, "%d");
    for (int i = 0; i < view.count; i++) {
        const float *p = view_position(&view, i);
        outside += p[0] < 0.0f || p[1] < 0.0f || p[2] < 0.0f || p[0] > 1.0f || p[2] > 1.0f;
        high += (double)p[1] > 2.0 * rest;
    }
    ASSERTm(name, fixture_finite(fluid) && fastest < 20.0);
    ASSERT_EQ_FMTm(name, 0, outside, "%d");
    ASSERT_IN_RANGEm(name, 0, high, view.count / 8);
    isph_fluid_destroy(fluid);
    PASS();
}

TEST recover_from_solids(void) {
    CHECK_CALL(recover_from_solid("beside the tank", isphpbd_v3(-1, 0, 0), isphpbd_v3(-0.5f, 0.5f, 1)));
    CHECK_CALL(recover_from_solid("past a corner", isphpbd_v3(-2, -2, -2), isphpbd_v3(-1.5f, -1, -1.5f)));
    PASS();
}

/* All of them in one point, with the same velocity: nothing distinguishes them but their ids. */
TEST coincident_particles_part(void) {
    const isph_fluid_desc desc = desc_for(600);
    isph_fluid *fluid = isph_fluid_create(&desc, NULL);
    const isph_material water = fixture_water(fluid);
    static float points[500][3];
    for (int i = 0; i < 500; i++) points[i][0] = 0.01f, points[i][1] = 0.2f, points[i][2] = -0.03f;
    (void)fixture_room(fluid, isphpbd_v3(-0.2f, 0, -0.2f), isphpbd_v3(0.2f, 5, 0.2f));
    ASSERT_EQ(ISPHPBD_OK, isph_particles_add(fluid, water, points[0], sizeof points[0], NULL, 0, 500, NULL));
    (void)fixture_run(fluid, 90, 1.0f / 60.0f);
    ASSERT(fixture_finite(fluid));
    CHECK_CALL(whole_again("coincident", fluid, 0.16));
    isph_fluid_destroy(fluid);
    PASS();
}

/* As many as there is room for, in one cell: the steps end, and the crowd is reported and begins to part. */
TEST a_million_in_one_cell(void) {
    isph_fluid_desc desc = desc_for(1000000);
    isph_fluid *fluid;
    float *points = (float *)malloc(3000000 * sizeof(float));
    fixture_random random = {3u};
    uint32_t flags;
    isph_material water;
    desc.support = 1.8f;
    desc.max_substeps = 1;
    fluid = isph_fluid_create(&desc, NULL);
    if (!fluid || !points) SKIPm("not enough memory");
    water = fixture_water(fluid);
    (void)fixture_plane(fluid, -1.0f);
    for (int i = 0; i < 3000000; i++) points[i] = 0.01f * random_unit(&random);
    ASSERT_EQ(ISPHPBD_OK, isph_particles_add(fluid, water, points, 3 * sizeof(float), NULL, 0, 1000000, NULL));
    flags = fixture_run(fluid, 2, 0.01f);
    ASSERT((flags & ISPH_STEP_CROWDED) != 0 && !(flags & ISPH_STEP_QUARANTINED));
    ASSERT(isph_fluid_stats(fluid).crowded > 900000);
    ASSERT(fixture_finite(fluid));
    ASSERT(fixture_measure(fluid).high - fixture_measure(fluid).low > 0.02);
    free(points);
    isph_fluid_destroy(fluid);
    PASS();
}

/* ---- [waves] ---------------------------------------------------------------------------------------------------- */

#define WAVE_LENGTH 2.0
#define WAVE_DEPTH  1.0
#define PI          3.14159265358979323846
static const double wave_number = PI / WAVE_LENGTH;

/* The velocities of the first mode as it passes through the level surface. */
static bool start_wave(void *user, isph_particle *p) {
    const double speed = *(double *)user, k = wave_number, x = (double)p->position.x + 0.5 * WAVE_LENGTH,
                 y = (double)p->position.y;
    p->velocity.x = (float)(-speed * cosh(k * y) / sinh(k * WAVE_DEPTH) * sin(k * x));
    p->velocity.y = (float)(speed * sinh(k * y) / sinh(k * WAVE_DEPTH) * cos(k * x));
    return true;
}
static double wave_height(const isph_fluid *fluid) {
    const isph_view view = isph_particles(fluid);
    double sum = 0.0;
    for (int i = 0; i < view.count; i++)
        sum += cos(wave_number * ((double)view_position(&view, i)[0] + 0.5 * WAVE_LENGTH));
    return sum / view.count;
}

/* Two periods of sloshing against sqrt(g k tanh(k h)), with the wider support; every swing is lower than the last. */
TEST standing_wave(void) {
    isph_fluid_desc desc = desc_for(3200);
    isph_fluid *fluid;
    const double omega = sqrt(GRAVITY * wave_number * tanh(wave_number * WAVE_DEPTH)), dt = 1.0 / 60.0;
    double speed = 0.1 * omega, last, swing = 0.0, before = 1e30, crossing[8] = {0.0};
    int crossings = 0;
    desc.support = 2.4f;
    fluid = fixture_tank(&desc, 2.0f, 0.2f, 1.0f);
    (void)fixture_run(fluid, 30, 1.0f / 60.0f);
    (void)isph_particles_edit(fluid, start_wave, &speed);
    last = 0.0;
    for (int i = 1; crossings < 5 && i < 400; i++) {
        double now;
        (void)isph_fluid_step(fluid, (float)dt, NULL);
        now = wave_height(fluid);
        swing = fmax(swing, fabs(now));
        if (i > 10 && (last < 0.0) != (now < 0.0)) {
            crossing[crossings++] = dt * (i - now / (now - last));
            ASSERT(swing < 1.01 * before);
            before = swing, swing = 0.0;
        }
        last = now;
    }
    ASSERT_EQ_FMT(5, crossings, "%d");
    ASSERT_IN_RANGE(2.0 * PI / omega, 0.5 * (crossing[4] - crossing[0]), 0.03 * 2.0 * PI / omega);
    isph_fluid_destroy(fluid);
    PASS();
}

/* ---- [viscosity] ------------------------------------------------------------------------------------------------ */

/* Two plates 0.4 m apart, the upper one at 0.1 m/s, water as thick as tar between them: the profile is straight. */
static greatest_test_res couette(float viscosity, int steps) {
    isph_fluid_desc desc = desc_for(3000);
    isph_material_desc tar = isph_material_desc_default();
    isph_boundary_desc d = isph_boundary_desc_default();
    isph_boundary top;
    isph_fluid *fluid;
    isph_view view;
    isphpbd_vec3 linear;
    double error = 0.0, scale = 0.0, drag;
    desc.gravity = fixture_zero;
    fluid = isph_fluid_create(&desc, NULL);
    tar.viscosity = viscosity;
    (void)fixture_plane(fluid, 0.0f);
    d.position.y = 0.4f, d.rotation.x = 1.0f, d.rotation.w = 0.0f; /* outside is below */
    d.linear_velocity.x = 0.1f;
    top = isph_boundary_create(fluid, &d, NULL);
    for (int i = 0; i < 2; i++) { /* side walls without grip; the ends are open */
        d = isph_boundary_desc_default();
        d.viscous_grip = 0.0f;
        d.position.z = i ? 0.2f : -0.2f;
        d.rotation.x = (i ? -1.0f : 1.0f) * 0.70710678f, d.rotation.w = 0.70710678f;
        (void)isph_boundary_create(fluid, &d, NULL);
    }
    (void)isph_particles_add_box(fluid, isph_material_create(fluid, &tar, NULL), isphpbd_v3(-0.5f, 0, -0.2f),
                                 isphpbd_v3(0.5f, 0.4f, 0.2f), fixture_zero, NULL);
    (void)fixture_run(fluid, steps, 0.01f);
    (void)isph_boundary_take_impulse(fluid, top, NULL, NULL);
    (void)fixture_run(fluid, 10, 0.01f);
    (void)isph_boundary_take_impulse(fluid, top, &linear, NULL);
    view = isph_particles(fluid);
    for (int i = 0; i < view.count; i++) {
        const float *p = view_position(&view, i);
        const double expected = 0.1 * (double)p[1] / 0.4, e = (double)view_velocity(&view, i)[0] - expected;
        if (fabs((double)p[0]) > 0.25) continue;
        error += e * e, scale += expected * expected;
    }
    ASSERT(isph_fluid_stats(fluid).viscosity_iterations > 0);
    drag = -(double)viscosity * 0.1 / 0.4 * 0.4 * 1.0 * 0.1; /* mu U / H times area times 0.1 s */
    ASSERT(sqrt(error / scale) < 0.05);
    ASSERT_IN_RANGE(drag, (double)linear.x, 0.15 * -drag);
    isph_fluid_destroy(fluid);
    PASS();
}

TEST couette_implicit(void) {
    CHECK_CALL(couette(400.0f, 80));
    PASS();
}

/* A cube of 0.4 m collapses on a floor at 1/60 s: honey is stable, and soon spreads much more slowly than water. */
TEST honey_is_slow(void) {
    double speed[2], reach[2] = {0.0, 0.0};
    for (int i = 0; i < 2; i++) {
        const isph_fluid_desc desc = desc_for(1000);
        isph_fluid *fluid = isph_fluid_create(&desc, NULL);
        const isph_material_desc md = i ? isph_material_desc_honey() : isph_material_desc_default();
        isph_view view;
        (void)fixture_plane(fluid, 0.0f);
        (void)isph_particles_add_box(fluid, isph_material_create(fluid, &md, NULL), isphpbd_v3(-0.2f, 0, -0.2f),
                                     isphpbd_v3(0.2f, 0.4f, 0.2f), fixture_zero, NULL);
        for (int k = 0; k < 60; k++) {
            (void)isph_fluid_step(fluid, 1.0f / 60.0f, NULL);
            ASSERT(fixture_finite(fluid) && fixture_measure(fluid).max_speed < 6.0);
        }
        view = isph_particles(fluid);
        for (int k = 0; k < view.count; k++) reach[i] = fmax(reach[i], fabs((double)view_position(&view, k)[0]));
        speed[i] = fixture_measure(fluid).rms_speed;
        isph_fluid_destroy(fluid);
    }
    ASSERT(speed[1] < 0.3 * speed[0] && reach[1] < 0.75 * reach[0]);
    PASS();
}

/* A block of 12 x 10 x 12 particles in a box rests, however thick: no false speeds, its own height, and walls that bear
   its weight and nothing else. */
static greatest_test_res thick_rests(float spacing, isph_material_desc md, int seconds) {
    isph_fluid_desc desc = desc_for(2000);
    const float w = 12.0f * spacing, depth = 10.0f * spacing;
    const double weight = 1440.0 * pow((double)spacing, 3.0) * (double)md.density * 9.81;
    isph_boundary walls;
    isph_fluid *fluid;
    isphpbd_vec3 push;
    desc.spacing = spacing;
    fluid = isph_fluid_create(&desc, NULL);
    walls = fixture_room(fluid, isphpbd_v3(0, 0, 0), isphpbd_v3(w, 2.0f * w, w));
    (void)isph_particles_add_box(fluid, isph_material_create(fluid, &md, NULL), isphpbd_v3(0, 0, 0),
                                 isphpbd_v3(w, depth, w), fixture_zero, NULL);
    (void)fixture_run(fluid, 60 * (seconds - 1), 1.0f / 60.0f);
    (void)isph_boundary_take_impulse(fluid, walls, NULL, NULL);
    (void)fixture_run(fluid, 60, 1.0f / 60.0f);
    (void)isph_boundary_take_impulse(fluid, walls, &push, NULL);
    ASSERT(fixture_measure(fluid).rms_speed < 0.003);
    ASSERT_IN_RANGE((double)depth, 2.0 * fixture_measure(fluid).centre[1], 0.005 * (double)depth);
    ASSERT_IN_RANGE(-weight, (double)push.y, 0.02 * weight);
    ASSERT(fabs((double)push.x) < 0.02 * weight && fabs((double)push.z) < 0.02 * weight);
    isph_fluid_destroy(fluid);
    PASS();
}

TEST thick_liquids_rest(void) {
    isph_material_desc tar = isph_material_desc_default();
    tar.viscosity = 3e3f;
    CHECK_CALL(thick_rests(0.05f, tar, 8));
    tar.viscosity = 1e4f;
    CHECK_CALL(thick_rests(0.05f, tar, 3));
    tar.viscosity = 1e6f;
    CHECK_CALL(thick_rests(0.05f, tar, 3));
    CHECK_CALL(thick_rests(0.001f, isph_material_desc_honey(), 4));
    PASS();
}

/* ---- [two fluids] ----------------------------------------------------------------------------------------------- */

static double mean_height(const isph_fluid *fluid, uint8_t material) {
    const isph_view view = isph_particles(fluid);
    double sum = 0.0;
    int count = 0;
    for (int i = 0; i < view.count; i++) {
        if (view.material[i] == material) sum += (double)view_position(&view, i)[1], count++;
    }
    return sum / count;
}

/* Light on the left, three times heavier on the right: the heavy one ends below. */
TEST heavy_ends_below(void) {
    const isph_fluid_desc desc = desc_for(1500);
    isph_fluid *fluid = isph_fluid_create(&desc, NULL);
    isph_material_desc heavy = isph_material_desc_default();
    isph_material light = fixture_water(fluid), dense;
    double most = 0.0, error = 0.0;
    isph_view view;
    heavy.density = 3000.0f;
    dense = isph_material_create(fluid, &heavy, NULL);
    (void)fixture_room(fluid, fixture_zero, isphpbd_v3(0.8f, 5, 0.3f));
    (void)isph_particles_add_box(fluid, light, fixture_zero, isphpbd_v3(0.4f, 0.4f, 0.3f), fixture_zero, NULL);
    (void)isph_particles_add_box(fluid, dense, isphpbd_v3(0.4f, 0, 0), isphpbd_v3(0.8f, 0.4f, 0.3f), fixture_zero,
                                 NULL);
    for (int i = 0; i < 300; i++) {
        (void)isph_fluid_step(fluid, 1.0f / 60.0f, NULL);
        error = (double)isph_fluid_stats(fluid).density_error_mean;
    }
    view = isph_particles(fluid);
    for (int i = 0; i < view.count; i++) most = fmax(most, (double)view.pressure[i]);
    ASSERT(fixture_finite(fluid));
    ASSERT(mean_height(fluid, 0) - mean_height(fluid, 1) > 0.15); /* 0.2 when fully parted */
    ASSERT(error < 0.02);
    ASSERT(most < 1.3 * GRAVITY * (0.2 * 1000.0 + 0.2 * 3000.0));
    ASSERT_IN_RANGE(0.4, depth_of(fluid), 0.02 * 0.4);
    isph_fluid_destroy(fluid);
    PASS();
}

/* ---- [weakly compressible] -------------------------------------------------------------------------------------- */

TEST weakly_compressible_tank(void) {
    isph_fluid_desc desc = desc_for(700);
    isph_fluid *fluid;
    isph_view view;
    double error = 0.0;
    desc.solver = ISPH_SOLVER_WEAKLY_COMPRESSIBLE;
    desc.max_substeps = 1000;
    fluid = fixture_tank(&desc, 0.4f, 0.4f, 0.5f);
    (void)fixture_run(fluid, 60, 1.0f / 60.0f);
    view = isph_particles(fluid);
    for (int i = 0; i < view.count; i++) error = fmax(error, (double)view.density[i] - 1.0);
    ASSERT(fixture_finite(fluid));
    ASSERT(error < 0.03);
    ASSERT_IN_RANGE(0.5, depth_of(fluid), 0.03 * 0.5);
    ASSERT(fixture_measure(fluid).rms_speed < 0.15);
    ASSERT(isph_fluid_stats(fluid).substeps > 4);
    isph_fluid_destroy(fluid);
    PASS();
}

/* ---- [time steps] ----------------------------------------------------------------------------------------------- */

static isph_fluid *dam(const isph_fluid_desc *desc) {
    isph_fluid *fluid = isph_fluid_create(desc, NULL);
    const isph_material water = fixture_water(fluid);
    (void)fixture_room(fluid, fixture_zero, isphpbd_v3(1.5f, 5, 0.3f));
    (void)isph_particles_add_box(fluid, water, fixture_zero, isphpbd_v3(0.4f, 0.8f, 0.3f), fixture_zero, NULL);
    return fluid;
}

/* 20 ms: the step divides itself; where it is not allowed to, it says so. Either way nothing flies apart. */
TEST substeps_are_chosen_and_capped(void) {
    for (int capped = 0; capped < 2; capped++) {
        isph_fluid_desc desc = desc_for(1000);
        isph_fluid *fluid;
        uint32_t flags = 0;
        int most = 0;
        if (capped) desc.max_substeps = 1;
        fluid = dam(&desc);
        for (int i = 0; i < 75; i++) {
            flags |= isph_fluid_step(fluid, 0.02f, NULL);
            most = isph_fluid_stats(fluid).substeps > most ? isph_fluid_stats(fluid).substeps : most;
            ASSERT(fixture_measure(fluid).max_speed < 10.0);
        }
        ASSERT(fixture_finite(fluid));
        ASSERT(capped ? most == 1 : most > 1 && most <= 8);
        ASSERT_EQ(capped, (flags & ISPH_STEP_SUBSTEPS_CAPPED) != 0);
        ASSERT(fixture_measure(fluid).low > 0.45 * SPACING);
        isph_fluid_destroy(fluid);
    }
    PASS();
}

/* Nobody moves farther per substep than the CFL number says (two spacings is the hard limit). */
TEST speed_limit(void) {
    isph_fluid_desc desc = desc_for(200);
    isph_fluid *fluid;
    isph_material water;
    uint32_t flags;
    desc.gravity = fixture_zero;
    desc.max_speed = 5.0f;
    fluid = isph_fluid_create(&desc, NULL);
    water = fixture_water(fluid);
    (void)isph_particles_add_box(fluid, water, fixture_zero, isphpbd_v3(0.2f, 0.2f, 0.2f), isphpbd_v3(40, 0, 0), NULL);
    flags = isph_fluid_step(fluid, 0.01f, NULL);
    ASSERT((flags & ISPH_STEP_SPEED_CLAMPED) != 0);
    ASSERT(fixture_measure(fluid).max_speed <= 5.001);
    isph_fluid_destroy(fluid);
    PASS();
}

/* ---- [free] ----------------------------------------------------------------------------------------------------- */

/* Without gravity a block at rest stays, and a thrown one flies straight and whole. */
static greatest_test_res floating_block(isphpbd_vec3 velocity) {
    isph_fluid_desc desc = desc_for(1000);
    isph_fluid *fluid;
    isph_material water;
    fixture_figures before, after;
    desc.gravity = fixture_zero;
    fluid = isph_fluid_create(&desc, NULL);
    water = fixture_water(fluid);
    (void)isph_particles_add_box(fluid, water, fixture_zero, isphpbd_v3(0.4f, 0.4f, 0.4f), velocity, NULL);
    before = fixture_measure(fluid);
    (void)fixture_run(fluid, 100, 0.01f);
    after = fixture_measure(fluid);
    for (int k = 0; k < 3; k++) {
        ASSERT_IN_RANGE((double)(&velocity.x)[k], after.momentum[k], 1e-3);
        ASSERT_IN_RANGE(before.centre[k] + (double)(&velocity.x)[k], after.centre[k], 2e-3);
    }
    ASSERT_IN_RANGE(before.rms_speed, after.rms_speed, 0.01);
    ASSERT_IN_RANGE(before.high - before.low, after.high - after.low, 0.5 * SPACING);
    isph_fluid_destroy(fluid);
    PASS();
}

TEST resting_block(void) {
    CHECK_CALL(floating_block(fixture_zero));
    PASS();
}
TEST thrown_block(void) {
    CHECK_CALL(floating_block(isphpbd_v3(0.6f, -0.4f, 0.2f)));
    PASS();
}

/* Free fall is exact: 0.3 s of g. */
TEST falling_block(void) {
    const isph_fluid_desc desc = desc_for(300);
    isph_fluid *fluid = isph_fluid_create(&desc, NULL);
    fixture_figures f;
    (void)isph_particles_add_box(fluid, fixture_water(fluid), isphpbd_v3(0, 10, 0), isphpbd_v3(0.3f, 10.3f, 0.3f),
                                 fixture_zero, NULL);
    (void)fixture_run(fluid, 30, 0.01f);
    f = fixture_measure(fluid);
    ASSERT_IN_RANGE(-GRAVITY * 0.3, f.momentum[1], 0.01);
    ASSERT_IN_RANGE(10.15 - 0.5 * GRAVITY * 0.09, f.centre[1], 0.02);
    ASSERT_IN_RANGE(0.25, f.high - f.low, 0.01);
    isph_fluid_destroy(fluid);
    PASS();
}

/* ---- [far] ------------------------------------------------------------------------------------------------------ */

/* 800 m and 6500 m from the origin, where a float resolves a thousandth and a hundredth of the spacing. */
static greatest_test_res far_tank(float away, double quiet, double tolerance) {
    const isph_fluid_desc desc = desc_for(1000);
    isph_fluid *fluid = fixture_tank(&desc, 0.4f, 0.4f, 0.5f);
    fixture_figures f;
    ASSERT_EQ(ISPHPBD_OK, isph_fluid_shift_origin(fluid, isphpbd_v3(away, -away, away)));
    (void)fixture_run(fluid, 90, 1.0f / 60.0f);
    f = fixture_measure(fluid);
    ASSERT(fixture_finite(fluid));
    ASSERT(f.rms_speed < quiet);
    ASSERT_IN_RANGE(0.5, 2.0 * (f.centre[1] + (double)away), tolerance * 0.5);
    ASSERT(f.low + (double)away > 0.4 * SPACING);
    isph_fluid_destroy(fluid);
    PASS();
}

TEST tank_at_800_m(void) {
    CHECK_CALL(far_tank(800.0f, 0.05, 0.01));
    PASS();
}
TEST tank_at_6500_m(void) {
    CHECK_CALL(far_tank(6500.0f, 0.5, 0.05));
    PASS();
}

/* With nothing changed but the solver, max_substeps is too small for its speed of sound: water is softer then, and
   calm. */
TEST weakly_compressible_by_default(void) {
    isph_fluid_desc desc = desc_for(4500);
    isph_fluid *fluid;
    isph_stats stats;
    uint32_t flags;
    desc.solver = ISPH_SOLVER_WEAKLY_COMPRESSIBLE;
    fluid = fixture_tank(&desc, 0.5f, 0.5f, 0.5f);
    flags = fixture_run(fluid, 120, 1.0f / 60.0f);
    stats = isph_fluid_stats(fluid);
    ASSERT_EQ_FMT((uint32_t)ISPH_STEP_SUBSTEPS_CAPPED, flags, "%u");
    ASSERT_EQ_FMT(8, stats.substeps, "%d");
    ASSERT(fixture_measure(fluid).rms_speed < 0.3);
    ASSERT_IN_RANGE(0.25, fixture_measure(fluid).centre[1], 0.01);
    isph_fluid_destroy(fluid);
    PASS();
}

/* Amplitude of u_x = cos(pi y / 0.5 m) in a cube of liquid that floats freely: after 0.2 s, over that at the start. */
static double shear_left(float viscosity, int materials) {
    isph_fluid_desc desc = desc_for(1000);
    isph_material_desc liquid = isph_material_desc_default();
    isph_material material = {0};
    isph_fluid *fluid;
    isph_view view;
    double sum = 0.0;
    desc.solver = ISPH_SOLVER_WEAKLY_COMPRESSIBLE, desc.max_substeps = 64;
    desc.gravity = fixture_zero;
    fluid = isph_fluid_create(&desc, NULL);
    liquid.viscosity = viscosity;
    for (int i = 0; i < materials; i++) material = isph_material_create(fluid, &liquid, NULL);
    for (int n = 0; n < 1000; n++) {
        const float p[3] = {0.05f * (float)(n % 10), 0.05f * ((float)(n / 100) + 0.5f), 0.05f * (float)(n / 10 % 10)};
        const float v[3] = {0.1f * cosf(3.1415927f * p[1] / 0.5f), 0.0f, 0.0f};
        (void)isph_particles_add(fluid, material, p, sizeof p, v, sizeof v, 1, NULL);
    }
    (void)fixture_run(fluid, 12, 1.0f / 60.0f);
    view = isph_particles(fluid);
    for (int i = 0; i < view.count; i++)
        sum += (double)view_velocity(&view, i)[0] * cos(3.1415927 * (double)view_position(&view, i)[1] / 0.5);
    isph_fluid_destroy(fluid);
    return sum * 2.0 / 1000.0 / 0.1;
}

/* It goes by exp(-nu k^2 t); what is too thick for the substep stays finite. */
TEST weakly_compressible_viscosity(void) {
    const double k2 = 3.1415927 * 3.1415927 / 0.25;
    static const float viscosities[3] = {0.001f, 20.0f, 100.0f};
    for (int i = 0; i < 3; i++) {
        const double left = exp(-(double)viscosities[i] / 1000.0 * k2 * 0.2);
        ASSERT_IN_RANGE(left, shear_left(viscosities[i], 1), 0.05);
        ASSERT_IN_RANGE(left, shear_left(viscosities[i], 2), 0.05);
    }
    ASSERT(fabs(shear_left(1e6f, 2)) < 0.5);
    PASS();
}

SUITE(sph_physics) {
    RUN_TEST(tank_at_rest_120);
    RUN_TEST(tank_at_rest_60);
    RUN_TEST(iterations_do_not_grow_with_depth);
    RUN_TEST(still_water_in_a_slanted_trough);
    RUN_TEST(closed_full_tank);
    RUN_TEST(double_dam_5_ms);
    RUN_TEST(double_dam_20_ms);
    RUN_TEST(double_dam_8_iterations);
    RUN_TEST(double_dam_4_iterations);
    RUN_TEST(recover_after_the_solver_was_off);
    RUN_TEST(recover_from_one_cell);
    RUN_TEST(recover_from_a_block_in_a_block);
    RUN_TEST(recover_from_inside_the_walls);
    RUN_TEST(recover_from_solids);
    RUN_TEST(coincident_particles_part);
    RUN_TEST(a_million_in_one_cell);
    RUN_TEST(standing_wave);
    RUN_TEST(couette_implicit);
    RUN_TEST(honey_is_slow);
    RUN_TEST(thick_liquids_rest);
    RUN_TEST(heavy_ends_below);
    RUN_TEST(weakly_compressible_tank);
    RUN_TEST(substeps_are_chosen_and_capped);
    RUN_TEST(speed_limit);
    RUN_TEST(resting_block);
    RUN_TEST(thrown_block);
    RUN_TEST(falling_block);
    RUN_TEST(tank_at_800_m);
    RUN_TEST(tank_at_6500_m);
    RUN_TEST(weakly_compressible_by_default);
    RUN_TEST(weakly_compressible_viscosity);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv) {
    GREATEST_MAIN_BEGIN();
    RUN_SUITE(sph_physics);
    GREATEST_MAIN_END();
}
