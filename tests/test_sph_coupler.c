/* The hooks of isphpbd_sph.h for another solver: walls given from outside act like the fluid's own, feel the same
   forces, and may give way. */
#define ISPH_IMPLEMENTATION
#include "isphpbd_sph.h"

#include "greatest.h"
#include "sph_fixture.h"

#define DX            0.05f
#define TAG           0xC0FFEEu
#define PARTICLE_MASS 0.125 /* kg of water at this spacing */

/* ---- [plate] A horizontal plane with a mass, kept by the test: what a rigid body of a host engine would be. ----- */

typedef struct plate {
    double y, velocity, mass, force; /* force: from outside, upwards */
    double gravity;
    double impulse;                  /* received since the start, upwards positive */
    float inverse_mass;              /* of every entry */
    int substeps, entries, disorder; /* disorder: entries out of order, or with a wrong tag */
    double seconds;
    bool moves;
} plate;

static void plate_begin(void *user, const float *x, const float *v, int count, float seconds) {
    plate *p = (plate *)user;
    (void)x, (void)v;
    if (count <= 0) p->disorder++;
    p->substeps++, p->seconds += (double)seconds;
    if (p->moves) p->velocity += (double)seconds * (p->force / p->mass + p->gravity);
}

static int plate_walls(void *user, int index, isphpbd_vec3 position, float reach, isph_wall *out, int capacity) {
    const plate *p = (const plate *)user;
    const float distance = position.y - (float)p->y;
    (void)index;
    if (distance >= reach || capacity < 1) return 0;
    memset(out, 0, sizeof *out);
    out->normal = isphpbd_v3(0, 1, 0);
    out->distance = distance;
    out->velocity = isphpbd_v3(0, (float)p->velocity, 0);
    out->inverse_mass = p->inverse_mass;
    out->viscous_grip = 1.0f;
    out->tag = TAG;
    return 1;
}

/* Rigid: every entry moves by the sum of the impulses over the mass. */
static void plate_respond(void *user, const float *impulse, float *velocity_change, int wall_count) {
    const plate *p = (const plate *)user;
    double sum = 0.0;
    for (int i = 0; i < wall_count; i++) sum += (double)impulse[i];
    for (int i = 0; i < wall_count; i++) velocity_change[i] = (float)(sum / p->mass);
}
/* Each entry by itself. */
static void plate_respond_each(void *user, const float *impulse, float *velocity_change, int wall_count) {
    const plate *p = (const plate *)user;
    for (int i = 0; i < wall_count; i++) velocity_change[i] = impulse[i] * p->inverse_mass;
}

static void plate_impulses(void *user, const isph_wall_impulse *impulse, int count) {
    plate *p = (plate *)user;
    for (int i = 0; i < count; i++) {
        p->impulse += (double)impulse[i].impulse.y;
        if (p->moves) p->velocity += (double)impulse[i].impulse.y / p->mass;
        if (impulse[i].tag != TAG || (i > 0 && impulse[i].particle < impulse[i - 1].particle)) p->disorder++;
    }
    p->entries += count;
}

/* Contact at half a spacing, as the fluid's own boundaries do it. */
static void plate_finish(void *user, const float *start, float *x, float *v, int count, float seconds) {
    plate *p = (plate *)user;
    double lost = 0.0;
    (void)start;
    if (p->moves) p->y += (double)seconds * p->velocity;
    for (int i = 0; i < count; i++) {
        const float least = (float)p->y + 0.5f * DX, wall = (float)p->velocity;
        if (x[4 * i + 1] >= least) continue;
        x[4 * i + 1] = least;
        if (v[4 * i + 1] >= wall) continue;
        lost += PARTICLE_MASS * (double)(v[4 * i + 1] - wall);
        v[4 * i + 1] = wall;
    }
    p->impulse += lost;
    if (p->moves) p->velocity += lost / p->mass;
}

static isph_coupler plate_coupler(plate *p) {
    isph_coupler c;
    memset(&c, 0, sizeof c);
    memset(p, 0, sizeof *p);
    c.begin = plate_begin, c.walls = plate_walls, c.impulses = plate_impulses, c.finish = plate_finish;
    c.user = p;
    p->mass = 1.0;
    return c;
}

/* A pipe of 0.4 x 0.4 m along y with water from y = 0 up; its ends are far away and its walls slippery. */
static isph_fluid *pipe(isph_linear_solver solver, float height, float gravity, float velocity) {
    isph_fluid_desc desc = isph_fluid_desc_default();
    isph_boundary_desc walls = isph_boundary_desc_default();
    isph_fluid *fluid;
    isph_material water;
    desc.particle_capacity = 1500;
    desc.gravity = isphpbd_v3(0, gravity, 0);
    desc.linear_solver = solver;
    desc.tolerance = 1e-3f;
    desc.max_iterations = 200;
    fluid = isph_fluid_create(&desc, NULL);
    if (!fluid) return NULL;
    water = fixture_water(fluid);
    walls.shape = ISPH_SHAPE_BOX, walls.container = true, walls.viscous_grip = 0.0f;
    walls.half_extents = isphpbd_v3(0.2f, 50.0f, 0.2f), walls.position = isphpbd_v3(0.2f, 0.0f, 0.2f);
    (void)isph_boundary_create(fluid, &walls, NULL);
    (void)isph_particles_add_box(fluid, water, fixture_zero, isphpbd_v3(0.4f, height, 0.4f), isphpbd_v3(0, velocity, 0),
                                 NULL);
    return fluid;
}

/* ---- [rigid] ---------------------------------------------------------------------------------------------------- */

TEST external_wall_is_like_a_plane(void) {
    isph_fluid *own = pipe(ISPH_LINEAR_CG, 0.5f, -9.81f, 0.0f), *other = pipe(ISPH_LINEAR_CG, 0.5f, -9.81f, 0.0f);
    const isph_boundary ground = fixture_plane(own, 0.0f);
    plate p;
    const isph_coupler coupler = plate_coupler(&p);
    const double weight = 640 * PARTICLE_MASS * 9.81;
    isphpbd_vec3 linear = fixture_zero;
    fixture_figures a, b;
    ASSERT_EQ(ISPHPBD_OK, isph_fluid_set_coupler(other, &coupler));
    (void)fixture_run(own, 120, 1.0f / 60.0f), (void)fixture_run(other, 120, 1.0f / 60.0f);
    (void)isph_boundary_take_impulse(own, ground, &linear, NULL);
    a = fixture_measure(own), b = fixture_measure(other);
    ASSERT_IN_RANGE(a.centre[1], b.centre[1], 0.005 * a.centre[1]);
    ASSERT_IN_RANGE(a.low, b.low, 0.1 * (double)DX);
    ASSERT_IN_RANGE(-2.0 * weight, p.impulse, 0.03 * 2.0 * weight);
    ASSERT_IN_RANGE((double)linear.y, p.impulse, 0.02 * 2.0 * weight);
    ASSERT_EQ_FMT(0, p.disorder, "%d");
    ASSERT(p.entries > 64 * p.substeps);
    ASSERT_IN_RANGE(2.0, p.seconds, 1e-3);
    ASSERT_EQ_FMT((int)isph_fluid_stats(other).total_substeps, p.substeps, "%d");
    isph_fluid_destroy(own), isph_fluid_destroy(other);
    PASS();
}

/* Thrown at a wall of a coupler that does nothing but tell where the wall is, water stops as at a plane of its own. */
TEST external_wall_stops_water(void) {
    double up[2];
    for (int own = 0; own < 2; own++) {
        isph_fluid *fluid = pipe(ISPH_LINEAR_CG, 0.4f, 0.0f, -2.0f);
        plate p;
        isph_coupler coupler = plate_coupler(&p);
        coupler.finish = NULL;
        if (own) (void)fixture_plane(fluid, 0.0f);
        else ASSERT_EQ(ISPHPBD_OK, isph_fluid_set_coupler(fluid, &coupler));
        (void)fixture_run(fluid, 30, 1.0f / 60.0f);
        up[own] = fixture_measure(fluid).momentum[1];
        if (!own)
            ASSERT_IN_RANGE(-512.0 * PARTICLE_MASS * (2.0 + up[0]), p.impulse, 0.02 * 512.0 * PARTICLE_MASS * 2.0);
        ASSERT(fixture_measure(fluid).low > 0.4 * (double)DX);
        isph_fluid_destroy(fluid);
    }
    ASSERT(fabs(up[0]) < 0.1 && fabs(up[1]) < 0.1);
    PASS();
}

/* A floor going up at 0.3 m/s lifts the water with it. */
TEST moving_external_wall(void) {
    isph_fluid *fluid = pipe(ISPH_LINEAR_CG, 0.4f, -9.81f, 0.0f);
    plate p;
    const isph_coupler coupler = plate_coupler(&p);
    p.velocity = 0.3, p.moves = true, p.mass = 1e12;
    (void)isph_fluid_set_coupler(fluid, &coupler);
    (void)fixture_run(fluid, 60, 1.0f / 60.0f);
    ASSERT_IN_RANGE(0.3, p.y, 1e-3);
    ASSERT_IN_RANGE(0.5, fixture_measure(fluid).centre[1], 0.01);
    ASSERT_IN_RANGE(0.3, fixture_measure(fluid).momentum[1], 0.02);
    ASSERT(fixture_measure(fluid).low > p.y + 0.45 * (double)DX);
    isph_fluid_destroy(fluid);
    PASS();
}

/* ---- [yielding] ------------------------------------------------------------------------------------------------- */

/* 64 kg of water at 1 m/s meet a free plate without gravity. Momentum goes over without loss; the two part with at most
   a third of the speed at which they met (the projection is not perfectly inelastic), so each is near the common
   velocity. */
static greatest_test_res collide(isph_linear_solver solver, double mass) {
    isph_fluid *fluid = pipe(solver, 0.4f, 0.0f, -1.0f);
    plate p;
    isph_coupler coupler = plate_coupler(&p);
    const double water = 512 * PARTICLE_MASS, common = -water / (water + mass);
    fixture_figures f;
    coupler.respond = plate_respond;
    p.moves = true, p.mass = mass, p.y = -0.05;
    ASSERT_EQ(ISPHPBD_OK, isph_fluid_set_coupler(fluid, &coupler));
    (void)fixture_run(fluid, 20, 0.01f);
    f = fixture_measure(fluid);
    ASSERT_IN_RANGE(-water, water * f.momentum[1] + mass * p.velocity, 0.03 * water);
    ASSERT_IN_RANGE(common, f.momentum[1], mass / (water + mass) / 3.0);
    ASSERT_IN_RANGE(common, p.velocity, water / (water + mass) / 3.0);
    ASSERT(f.low > p.y + 0.45 * (double)DX && f.momentum[1] > p.velocity - 0.05);
    isph_fluid_destroy(fluid);
    PASS();
}

TEST collision_with_a_free_plate(void) {
    static const double mass[3] = {16.0, 64.0, 640.0};
    for (int i = 0; i < 3; i++) CHECK_CALL(collide(ISPH_LINEAR_CG, mass[i]));
    PASS();
}
TEST collision_with_a_free_plate_by_bicgstab(void) {
    CHECK_CALL(collide(ISPH_LINEAR_BICGSTAB, 64.0));
    PASS();
}

/* A plate under 64 kg of water, pushed up with a share of the weight of both: all of it falls with the rest. */
static greatest_test_res fall_with(double share) {
    isph_fluid *fluid = pipe(ISPH_LINEAR_CG, 0.4f, -9.81f, 0.0f);
    plate p;
    isph_coupler coupler = plate_coupler(&p);
    const double water = 512 * PARTICLE_MASS, time = 0.5, fall = -9.81 * (1.0 - share);
    coupler.respond = plate_respond;
    p.moves = true, p.mass = 32.0, p.gravity = -9.81;
    p.force = share * (water + p.mass) * 9.81;
    ASSERT_EQ(ISPHPBD_OK, isph_fluid_set_coupler(fluid, &coupler));
    (void)fixture_run(fluid, 50, 0.01f);
    ASSERT_IN_RANGE(fall * time, p.velocity, 0.03 * 9.81 * time);
    ASSERT_IN_RANGE(fall * time, fixture_measure(fluid).momentum[1], 0.03 * 9.81 * time);
    ASSERT_IN_RANGE(-share * water * 9.81 * time, p.impulse, 0.04 * water * 9.81 * time);
    isph_fluid_destroy(fluid);
    PASS();
}

TEST plate_in_free_fall(void) {
    CHECK_CALL(fall_with(0.0));
    PASS();
}
TEST plate_carried_half(void) {
    CHECK_CALL(fall_with(0.5));
    PASS();
}
TEST plate_carried_fully(void) {
    CHECK_CALL(fall_with(1.0));
    PASS();
}

/* Entries that yield by their own inverse mass: told by the number or by the callback, it is the same matrix. */
static greatest_test_res both_ways(isph_linear_solver solver) {
    isph_fluid *fluid[3];
    plate p[3];
    const double water = 512 * PARTICLE_MASS;
    for (int i = 0; i < 3; i++) { /* by number, by callback, not at all */
        isph_coupler coupler = plate_coupler(p + i);
        fluid[i] = pipe(solver, 0.4f, -9.81f, -0.5f);
        p[i].inverse_mass = i < 2 ? 2.0f : 0.0f;
        if (i == 1) coupler.respond = plate_respond_each;
        (void)isph_fluid_set_budget(fluid[i], 500, 8, 1e-5f);
        ASSERT_EQ(ISPHPBD_OK, isph_fluid_set_coupler(fluid[i], &coupler));
        (void)fixture_run(fluid[i], 1, 0.005f);
    }
    ASSERT_IN_RANGE(p[0].impulse, p[1].impulse, 0.005 * fabs(p[0].impulse));
    ASSERT_IN_RANGE(fixture_measure(fluid[0]).momentum[1], fixture_measure(fluid[1]).momentum[1], 2e-3);
    ASSERT(p[2].impulse < 1.1 * p[0].impulse && p[2].impulse < -0.4 * water); /* a wall that gives way receives less */
    for (int i = 0; i < 3; i++) isph_fluid_destroy(fluid[i]);
    PASS();
}

TEST inverse_mass_or_callback(void) {
    CHECK_CALL(both_ways(ISPH_LINEAR_CG));
    PASS();
}
TEST inverse_mass_or_callback_by_bicgstab(void) {
    CHECK_CALL(both_ways(ISPH_LINEAR_BICGSTAB));
    PASS();
}

/* ---- [threads] -------------------------------------------------------------------------------------------------- */

TEST same_bits_with_a_coupler(void) {
    fixture_random order = {5u};
    const isphpbd_parallel runners[3] = {{NULL, NULL}, {run_reverse, NULL}, {run_shuffled, &order}};
    uint64_t hash[3];
    double impulse[3];
    for (int i = 0; i < 3; i++) {
        isph_fluid_desc desc = isph_fluid_desc_default();
        isph_fluid *fluid;
        plate p;
        isph_coupler coupler = plate_coupler(&p);
        desc.particle_capacity = 2500;
        desc.parallel = runners[i];
        fluid = fixture_tank(&desc, 0.6f, 0.6f, 0.8f);
        coupler.respond = plate_respond;
        p.y = 0.1, p.mass = 50.0, p.moves = true;
        (void)isph_fluid_set_coupler(fluid, &coupler);
        (void)fixture_run(fluid, 10, 0.01f);
        hash[i] = isph_fluid_hash(fluid), impulse[i] = p.impulse;
        isph_fluid_destroy(fluid);
    }
    ASSERT(hash[0] == hash[1] && hash[0] == hash[2]);
    ASSERT(impulse[0] == impulse[1] && impulse[0] == impulse[2]);
    PASS();
}

/* ---- [nonsense] ------------------------------------------------------------------------------------------------- */

typedef struct nonsense {
    int kind;
    int calls;
} nonsense;

static int nonsense_walls(void *user, int index, isphpbd_vec3 position, float reach, isph_wall *out, int capacity) {
    static const float bad[4] = {NAN, INFINITY, -INFINITY, 3e38f};
    nonsense *n = (nonsense *)user;
    const float value = bad[n->kind % 4];
    (void)reach;
    n->calls++;
    if (index % 7 != 0 || capacity < 1) return 0;
    memset(out, 0, sizeof *out);
    out->normal = isphpbd_v3(0, 1, 0);
    out->distance = position.y;
    switch (n->kind / 4) {
        case 0: out->normal.x = value; break;
        case 1: out->distance = value; break;
        case 2: out->velocity.y = value; break;
        case 3: out->inverse_mass = value; break;
        case 4: out->friction = value; break;
        case 5: out->viscous_grip = value; break;
        case 6: out->normal = fixture_zero; break;
        case 7: out->inverse_mass = -1e6f; break;
        case 10: out->velocity = isphpbd_v3(value, -value, value); break;
        default: break;
    }
    if (n->kind / 4 == 9) return -5;
    if (n->kind / 4 != 8) return 1;
    for (int i = 1; i < capacity; i++) out[i] = out[0];
    return capacity + 90;
}

static bool takes_its_own_snapshot(isph_fluid *fluid) {
    const size_t size = isph_fluid_save(fluid, NULL, 0);
    void *bytes = malloc(size);
    bool taken = bytes && isph_fluid_save(fluid, bytes, size) == size;
    taken = taken && isph_fluid_load(fluid, bytes, size) == ISPHPBD_OK;
    free(bytes);
    return taken;
}

TEST nonsense_from_walls(void) {
    for (int kind = 0; kind < 44; kind++) {
        isph_fluid *fluid = pipe(ISPH_LINEAR_CG, 0.3f, -9.81f, 0.0f);
        nonsense n = {0, 0};
        isph_coupler coupler;
        memset(&coupler, 0, sizeof coupler);
        n.kind = kind;
        coupler.walls = nonsense_walls, coupler.user = &n;
        (void)fixture_plane(fluid, 0.0f);
        ASSERT_EQ(ISPHPBD_OK, isph_fluid_set_coupler(fluid, &coupler));
        (void)fixture_run(fluid, 3, 0.01f);
        ASSERT(n.calls > 0);
        ASSERT(fixture_finite(fluid));
        ASSERT(takes_its_own_snapshot(fluid));
        ASSERT(isfinite(isph_fluid_stats(fluid).pressure_residual));
        ASSERT_EQ_FMT(384, isph_particles(fluid).count, "%d");
        isph_fluid_destroy(fluid);
    }
    PASS();
}

static void nonsense_finish(void *user, const float *start, float *x, float *v, int count, float seconds) {
    static const float bad[4] = {NAN, INFINITY, -INFINITY, 3e38f};
    nonsense *n = (nonsense *)user;
    (void)start, (void)seconds;
    n->calls++;
    if (n->kind < 12) x[4 * (count / 2) + n->kind % 3] = bad[n->kind / 3];
    else v[4 * (count / 2) + n->kind % 3] = bad[n->kind / 3 % 4];
}

/* One particle comes back broken: it is put to rest, counted, and no other is infected. */
TEST nonsense_from_finish(void) {
    for (int kind = 0; kind < 24; kind++) {
        isph_fluid *fluid = pipe(ISPH_LINEAR_CG, 0.3f, -9.81f, 0.0f);
        nonsense n = {0, 0};
        isph_coupler coupler;
        uint32_t flags;
        memset(&coupler, 0, sizeof coupler);
        n.kind = kind;
        coupler.finish = nonsense_finish, coupler.user = &n;
        (void)fixture_plane(fluid, 0.0f);
        ASSERT_EQ(ISPHPBD_OK, isph_fluid_set_coupler(fluid, &coupler));
        flags = isph_fluid_step(fluid, 0.01f, NULL);
        ASSERT(fixture_finite(fluid));
        if (kind % 12 < 9) ASSERT((flags & ISPH_STEP_QUARANTINED) != 0 && isph_fluid_stats(fluid).quarantined > 0);
        (void)fixture_run(fluid, 3, 0.01f);
        ASSERT(fixture_finite(fluid));
        ASSERT(fixture_measure(fluid).max_speed < 60.0);
        isph_fluid_destroy(fluid);
    }
    PASS();
}

/* A response that is no response (NaN) must not reach the particles. */
static void nonsense_respond(void *user, const float *impulse, float *velocity_change, int wall_count) {
    (void)user, (void)impulse;
    for (int i = 0; i < wall_count; i++) velocity_change[i] = i % 3 == 0 ? NAN : i % 3 == 1 ? 3e38f : -INFINITY;
}

TEST nonsense_from_respond(void) {
    for (int i = 0; i < 2; i++) {
        isph_fluid *fluid = pipe(i ? ISPH_LINEAR_BICGSTAB : ISPH_LINEAR_CG, 0.3f, -9.81f, 0.0f);
        plate p;
        isph_coupler coupler = plate_coupler(&p);
        coupler.respond = nonsense_respond;
        (void)isph_fluid_set_coupler(fluid, &coupler);
        (void)fixture_run(fluid, 5, 0.01f);
        ASSERT(fixture_finite(fluid));
        ASSERT(takes_its_own_snapshot(fluid));
        ASSERT(isfinite(isph_fluid_stats(fluid).pressure_residual));
        isph_fluid_destroy(fluid);
    }
    PASS();
}

/* Whoever always asks for another round does not hold the fluid for ever. */
static bool never_content(void *user, const float *start, float *x, float *v, int count, float seconds) {
    (void)start, (void)x, (void)v, (void)count, (void)seconds;
    ++*(int *)user;
    return true;
}
TEST rounds_come_to_an_end(void) {
    isph_fluid *fluid = pipe(ISPH_LINEAR_CG, 0.3f, -9.81f, 0.0f);
    isph_coupler coupler;
    int rounds = 0;
    memset(&coupler, 0, sizeof coupler);
    coupler.again = never_content, coupler.user = &rounds;
    (void)isph_fluid_set_coupler(fluid, &coupler);
    (void)isph_fluid_substep(fluid, 0.001f, NULL);
    ASSERT_EQ_FMT(100, rounds, "%d");
    ASSERT(fixture_finite(fluid));
    isph_fluid_destroy(fluid);
    PASS();
}

/* Taken away again, a coupler leaves no trace. */
TEST removed_coupler(void) {
    isph_fluid *one = pipe(ISPH_LINEAR_CG, 0.3f, -9.81f, 0.0f), *other = pipe(ISPH_LINEAR_CG, 0.3f, -9.81f, 0.0f);
    plate p;
    const isph_coupler coupler = plate_coupler(&p);
    ASSERT_EQ(ISPHPBD_OK, isph_fluid_set_coupler(one, &coupler));
    ASSERT_EQ(ISPHPBD_OK, isph_fluid_set_coupler(one, NULL));
    (void)fixture_run(one, 5, 0.01f), (void)fixture_run(other, 5, 0.01f);
    ASSERT_EQ_FMT(0, p.substeps, "%d");
    ASSERT_EQ(isph_fluid_hash(other), isph_fluid_hash(one));
    isph_fluid_destroy(one), isph_fluid_destroy(other);
    PASS();
}

SUITE(sph_coupler) {
    RUN_TEST(external_wall_is_like_a_plane);
    RUN_TEST(external_wall_stops_water);
    RUN_TEST(moving_external_wall);
    RUN_TEST(collision_with_a_free_plate);
    RUN_TEST(collision_with_a_free_plate_by_bicgstab);
    RUN_TEST(plate_in_free_fall);
    RUN_TEST(plate_carried_half);
    RUN_TEST(plate_carried_fully);
    RUN_TEST(inverse_mass_or_callback);
    RUN_TEST(inverse_mass_or_callback_by_bicgstab);
    RUN_TEST(same_bits_with_a_coupler);
    RUN_TEST(nonsense_from_walls);
    RUN_TEST(nonsense_from_finish);
    RUN_TEST(nonsense_from_respond);
    RUN_TEST(rounds_come_to_an_end);
    RUN_TEST(removed_coupler);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv) {
    GREATEST_MAIN_BEGIN();
    RUN_SUITE(sph_coupler);
    GREATEST_MAIN_END();
}
