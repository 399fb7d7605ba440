/* Boundaries with mass: they float where Archimedes says, sink when heavy, rest when light, and every substep leaves
   the momentum of water and body as it was. Also what parts water: shells, masks of materials, the coupler's pairs. */
#define ISPH_IMPLEMENTATION
#include "isphpbd_sph.h"

#include "greatest.h"
#include "sph_fixture.h"

#define DX   0.05f
#define STEP (1.0f / 60.0f)

/* ---- [body] A boundary with mass, and what a host engine would know of it. --------------------------------------- */

typedef struct body {
    isph_boundary_desc desc;
    isph_boundary handle;
    isphpbd_vec3 position, linear, angular;
    isphpbd_quat rotation;
} body;

/* A box (half extents) or a sphere (radius in half.x), of a density. */
static body body_make(isph_shape shape, isphpbd_vec3 half, double density, isphpbd_vec3 position) {
    const double x = (double)half.x, y = (double)half.y, z = (double)half.z, ball = 4.0 / 3.0 * 3.14159265358979;
    const bool box = shape == ISPH_SHAPE_BOX;
    const double mass = density * (box ? 8.0 * x * y * z : ball * x * x * x);
    body b;
    memset(&b, 0, sizeof b);
    b.desc = isph_boundary_desc_default();
    b.desc.shape = shape, b.desc.half_extents = half, b.desc.radius = half.x;
    b.desc.mass = (float)mass;
    b.desc.inertia =
        box ? isphpbd_v3((float)(mass / 3.0 * (y * y + z * z)), (float)(mass / 3.0 * (x * x + z * z)),
                         (float)(mass / 3.0 * (x * x + y * y)))
            : isphpbd_v3((float)(0.4 * mass * x * x), (float)(0.4 * mass * x * x), (float)(0.4 * mass * x * x));
    b.desc.position = b.position = position;
    b.rotation = b.desc.rotation;
    return b;
}

static bool in_the_way(void *user, const isph_particle *p) {
    const isph_boundary_desc *d = (const isph_boundary_desc *)user;
    const float x = p->position.x - d->position.x, y = p->position.y - d->position.y, z = p->position.z - d->position.z;
    const float off = 0.45f * DX;
    if (d->shape == ISPH_SHAPE_SPHERE) return sqrtf(x * x + y * y + z * z) < d->radius + off;
    return fabsf(x) < d->half_extents.x + off && fabsf(y) < d->half_extents.y + off &&
           fabsf(z) < d->half_extents.z + off;
}

/* Puts the body in place of water. */
static void body_put(isph_fluid *fluid, body *b) {
    b->handle = isph_boundary_create(fluid, &b->desc, NULL);
    (void)isph_particles_remove_if(fluid, in_the_way, &b->desc);
}

static void body_read(const isph_fluid *fluid, body *b) {
    (void)isph_boundary_motion(fluid, b->handle, &b->position, &b->rotation, &b->linear, &b->angular);
}

static isphpbd_quat turn(isphpbd_quat q, isphpbd_vec3 w, float seconds) {
    const isphpbd_vec3 h = isphpbd_v3(0.5f * seconds * w.x, 0.5f * seconds * w.y, 0.5f * seconds * w.z);
    isphpbd_quat r = q;
    float norm;
    r.x += h.x * q.w + h.y * q.z - h.z * q.y, r.y += h.y * q.w + h.z * q.x - h.x * q.z;
    r.z += h.z * q.w + h.x * q.y - h.y * q.x, r.w -= h.x * q.x + h.y * q.y + h.z * q.z;
    norm = 1.0f / sqrtf(r.x * r.x + r.y * r.y + r.z * r.z + r.w * r.w);
    r.x *= norm, r.y *= norm, r.z *= norm, r.w *= norm;
    return r;
}

/* A step of a host that integrates the body itself: motion in, impulse out, gravity its own. Round bodies and cubes. */
static void body_host_step(isph_fluid *fluid, body *b) {
    const float mass = 1.0f / b->desc.mass, inertia = 1.0f / b->desc.inertia.x;
    isphpbd_vec3 j, t;
    (void)isph_boundary_set_motion(fluid, b->handle, b->position, b->rotation, b->linear, b->angular);
    (void)isph_fluid_step(fluid, STEP, NULL);
    (void)isph_boundary_take_impulse(fluid, b->handle, &j, &t);
    b->linear = isphpbd_v3(b->linear.x + mass * j.x, b->linear.y + mass * j.y - 9.81f * STEP, b->linear.z + mass * j.z);
    b->angular = isphpbd_v3(b->angular.x + inertia * t.x, b->angular.y + inertia * t.y, b->angular.z + inertia * t.z);
    b->position.x += STEP * b->linear.x, b->position.y += STEP * b->linear.y, b->position.z += STEP * b->linear.z;
    b->rotation = turn(b->rotation, b->angular, STEP);
}

/* ---- [floating] -------------------------------------------------------------------------------------------------- */

#define WIDTH 1.0f
#define DEPTH 0.6f
#define CUTS  24 /* sample points per edge */

static isph_fluid *tank(bool local) {
    isph_fluid_desc desc = isph_fluid_desc_default();
    desc.particle_capacity = 6000;
    desc.rigid_local = local;
    return fixture_tank(&desc, WIDTH, WIDTH, DEPTH);
}

/* Share of the body below the water level, which follows from the volumes. */
static double submerged(const isph_fluid *fluid, const body *b) {
    const double water = isph_particles(fluid).count * pow((double)DX, 3.0);
    const bool ball = b->desc.shape == ISPH_SHAPE_SPHERE;
    static double height[CUTS * CUTS * CUTS];
    double low = 0.0, high = 3.0, volume, below = 0.0;
    int count = 0;
    const float e = 2.0f * (ball ? b->desc.radius : b->desc.half_extents.x);
    for (int n = 0; n < CUTS * CUTS * CUTS; n++) {
        const float i = (float)(n % CUTS), j = (float)(n / CUTS % CUTS), k = (float)(n / CUTS / CUTS);
        const isphpbd_vec3 p =
            isphpbd_v3(((i + 0.5f) / CUTS - 0.5f) * e, ((j + fmodf(0.37f * i + 0.613f * k, 1.0f)) / CUTS - 0.5f) * e,
                       ((k + 0.5f) / CUTS - 0.5f) * e);
        if (ball && sqrtf(p.x * p.x + p.y * p.y + p.z * p.z) > b->desc.radius) continue;
        height[count++] = (double)(b->position.y + isphpbdx_rotate(b->rotation, p).y);
    }
    volume = (ball ? 3.14159265358979 / 6.0 : 1.0) * (double)(e * e * e) / count;
    for (int round = 0; round < 40; round++) {
        const double level = 0.5 * (low + high);
        below = 0.0;
        for (int n = 0; n < count; n++) below += height[n] < level;
        if (level * (double)(WIDTH * WIDTH) - below * volume < water) low = level;
        else high = level;
    }
    return below / count;
}

/* Three or four seconds (balls go up and down for longer) in a tank, the host's way or the fluid's own; the mean of the
   second half. */
static greatest_test_res floats(isph_shape shape, float edge, double density, bool host, bool local, double tolerance) {
    isph_fluid *fluid = tank(local);
    const float half = 0.5f * edge, sunk = (float)(density / 1000.0) * edge;
    body b = body_make(shape, isphpbd_v3(half, half, half), density, isphpbd_v3(0.01f, DEPTH + half - sunk, 0.013f));
    double sum = 0.0, fastest = 0.0;
    const int steps = shape == ISPH_SHAPE_BOX ? 180 : 240;
    int samples = 0;
    body_put(fluid, &b);
    for (int i = 0; i < steps; i++) {
        if (host) body_host_step(fluid, &b);
        else (void)isph_fluid_step(fluid, STEP, NULL), body_read(fluid, &b);
        if (i >= steps / 2 && i % 10 == 0) sum += submerged(fluid, &b), samples++;
        fastest = fmax(fastest, (double)isphpbdx_length(b.linear));
    }
    ASSERT_IN_RANGE(density / 1000.0, sum / samples, tolerance);
    ASSERT(fastest < 1.0);
    ASSERT(fixture_finite(fluid));
    isph_fluid_destroy(fluid);
    PASS();
}

TEST boxes_float(void) {
    CHECK_CALL(floats(ISPH_SHAPE_BOX, 0.3f, 200.0, false, false, 0.03));
    CHECK_CALL(floats(ISPH_SHAPE_BOX, 0.4f, 500.0, false, false, 0.03));
    CHECK_CALL(floats(ISPH_SHAPE_BOX, 0.4f, 800.0, false, false, 0.03));
    PASS();
}
TEST boxes_float_with_a_host(void) {
    CHECK_CALL(floats(ISPH_SHAPE_BOX, 0.4f, 200.0, true, false, 0.03));
    CHECK_CALL(floats(ISPH_SHAPE_BOX, 0.4f, 800.0, true, false, 0.03));
    PASS();
}
TEST spheres_float(void) {
    CHECK_CALL(floats(ISPH_SHAPE_SPHERE, 0.4f, 200.0, false, false, 0.03));
    CHECK_CALL(floats(ISPH_SHAPE_SPHERE, 0.3f, 500.0, true, false, 0.03));
    CHECK_CALL(floats(ISPH_SHAPE_SPHERE, 0.4f, 800.0, true, false, 0.03));
    PASS();
}
TEST light_bodies_float(void) {
    CHECK_CALL(floats(ISPH_SHAPE_BOX, 0.3f, 20.0, true, false, 0.02));
    CHECK_CALL(floats(ISPH_SHAPE_SPHERE, 0.24f, 10.0, true, false, 0.02));
    PASS();
}
TEST bodies_float_by_the_local_scheme(void) {
    CHECK_CALL(floats(ISPH_SHAPE_BOX, 0.4f, 500.0, true, true, 0.05));
    CHECK_CALL(floats(ISPH_SHAPE_SPHERE, 0.4f, 800.0, false, true, 0.05));
    PASS();
}

/* Heavier than water it sinks, slower than it would fall. */
TEST heavy_body_sinks(void) {
    isph_fluid *fluid = tank(false);
    body b = body_make(ISPH_SHAPE_BOX, isphpbd_v3(0.15f, 0.15f, 0.15f), 1500.0, isphpbd_v3(0, 0.42f, 0));
    body_put(fluid, &b);
    (void)fixture_run(fluid, 15, STEP);
    body_read(fluid, &b);
    ASSERT(b.linear.y < -0.15f);
    ASSERT(b.linear.y > -9.81f / 3.0f * 0.25f);
    isph_fluid_destroy(fluid);
    PASS();
}

/* Of the density of water it stays where it was put. */
TEST neutral_body_hovers(void) {
    isph_fluid *fluid = tank(false);
    body b = body_make(ISPH_SHAPE_SPHERE, isphpbd_v3(0.15f, 0, 0), 1000.0, isphpbd_v3(0, 0.3f, 0));
    body_put(fluid, &b);
    for (int i = 0; i < 60; i++) body_host_step(fluid, &b);
    ASSERT_IN_RANGE(0.3, (double)b.position.y, 0.06);
    isph_fluid_destroy(fluid);
    PASS();
}
/* Held under water, a ball, a box and the same box as a mesh are lifted by the weight of what they displace. */
TEST any_shape_is_lifted_by_its_volume(void) {
    static const float corner[24] = {-.15f, -.15f, -.15f, .15f, -.15f, -.15f, -.15f, .15f, -.15f, .15f, .15f, -.15f,
                                     -.15f, -.15f, .15f,  .15f, -.15f, .15f,  -.15f, .15f, .15f,  .15f, .15f, .15f};
    static const uint32_t index[36] = {0, 2, 1, 1, 2, 3, 4, 5, 6, 5, 7, 6, 0, 1, 4, 1, 5, 4,
                                       2, 6, 3, 3, 6, 7, 0, 4, 2, 2, 4, 6, 1, 3, 5, 3, 7, 5};
    for (int shape = 0; shape < 3; shape++) {
        body b = body_make(shape ? ISPH_SHAPE_BOX : ISPH_SHAPE_SPHERE, isphpbd_v3(0.15f, 0.15f, 0.15f), 1000.0,
                           isphpbd_v3(0, 0.3f, 0));
        isph_fluid *fluid = tank(false);
        const double weight = 9.81 * (double)b.desc.mass;
        double lift = 0.0;
        isphpbd_vec3 j;
        b.desc.mass = 1e7f, b.desc.inertia = isphpbd_v3(1e7f, 1e7f, 1e7f), b.desc.gravity_scale = 0.0f;
        if (shape == 2) {
            b.desc.shape = ISPH_SHAPE_MESH, b.desc.mesh_solid = true;
            b.desc.mesh.positions = corner, b.desc.mesh.stride_bytes = 12, b.desc.mesh.vertex_count = 8;
            b.desc.mesh.indices = index, b.desc.mesh.index_count = 36;
        }
        body_put(fluid, &b);
        for (int i = 0; i < 120; i++) {
            (void)isph_fluid_step(fluid, STEP, NULL);
            ASSERT_EQ(ISPHPBD_OK, isph_boundary_take_impulse(fluid, b.handle, &j, NULL));
            if (i >= 60) lift += (double)j.y;
        }
        printf("shape %d: lifted by %.3f of its weight in water\n", shape, lift / weight);
        ASSERT_IN_RANGE(1.0, lift / weight, 0.05);
        isph_fluid_destroy(fluid);
    }
    PASS();
}
/* A piston that closes a cylinder rests on the water, which has no air and so no pressure of its own: that is its
   weight over its area, and the water's above. */
TEST piston_rests_on_water(void) {
    for (int heavy = 0; heavy < 2; heavy++) {
        isph_fluid_desc desc = isph_fluid_desc_default();
        isph_boundary_desc piston = isph_boundary_desc_default();
        const double mass = heavy ? 50.0 : 5.0, expected = 9.81 * (mass / 0.24 + 1000.0 * 0.225);
        double bottom = 0.0;
        isphpbd_vec3 at;
        isph_boundary handle;
        isph_fluid *fluid;
        isph_view view;
        desc.particle_capacity = 4096;
        fluid = fixture_tank(&desc, 0.6f, 0.4f, 0.25f);
        piston.shape = ISPH_SHAPE_BOX, piston.half_extents = isphpbd_v3(0.3f, 0.1f, 0.2f);
        piston.position.y = 0.35f, piston.mass = (float)mass;
        handle = isph_boundary_create(fluid, &piston, NULL);
        for (int i = 0; i < 120; i++) {
            (void)isph_fluid_step(fluid, 1.0f / 120.0f, NULL);
            ASSERT(fixture_measure(fluid).max_speed < 0.2);
        }
        ASSERT_EQ(ISPHPBD_OK, isph_boundary_motion(fluid, handle, &at, NULL, NULL, NULL));
        ASSERT_IN_RANGE(0.35, (double)at.y, 0.005);
        view = isph_particles(fluid);
        for (int i = 0; i < view.count; i++) bottom = fmax(bottom, (double)view.pressure[i]);
        ASSERT_IN_RANGE(expected, bottom, 0.03 * expected);
        isph_fluid_destroy(fluid);
    }
    PASS();
}

/* Thrown into the water at 3 m/s, light as foam: it does not come out faster than it went in. */
TEST light_body_is_not_thrown_out(void) {
    isph_fluid *fluid = tank(false);
    body b = body_make(ISPH_SHAPE_BOX, isphpbd_v3(0.15f, 0.15f, 0.15f), 50.0, isphpbd_v3(0, 0.85f, 0));
    double fastest = 0.0;
    b.desc.linear_velocity.y = -3.0f;
    body_put(fluid, &b);
    for (int i = 0; i < 90; i++) {
        (void)isph_fluid_step(fluid, STEP, NULL);
        body_read(fluid, &b);
        fastest = fmax(fastest, (double)b.linear.y);
    }
    ASSERT(fastest < 2.0);
    ASSERT_IN_RANGE((double)DEPTH + 0.1, (double)b.position.y, 0.3);
    isph_fluid_destroy(fluid);
    PASS();
}

static bool everything(void *user, const isph_particle *p) {
    (void)user, (void)p;
    return true;
}

/* Without water, and out of its reach, a body falls as it should; gravity_scale says how much. */
TEST bodies_fall(void) {
    for (int wet = 0; wet < 2; wet++) {
        isph_fluid *fluid = tank(false);
        body b = body_make(ISPH_SHAPE_SPHERE, isphpbd_v3(0.1f, 0, 0), 300.0, isphpbd_v3(0, 5, 0));
        isphpbd_vec3 linear = isphpbd_v3(1, 1, 1);
        b.desc.gravity_scale = 0.5f;
        if (!wet) (void)isph_particles_remove_if(fluid, everything, NULL);
        body_put(fluid, &b);
        (void)fixture_run(fluid, 30, STEP);
        body_read(fluid, &b);
        (void)isph_boundary_take_impulse(fluid, b.handle, &linear, NULL);
        ASSERT_IN_RANGE(-0.5 * 9.81 * 0.5, (double)b.linear.y, 1e-3);
        ASSERT_IN_RANGE(0.0, (double)isphpbdx_length(linear), 1e-9);
        isph_fluid_destroy(fluid);
    }
    PASS();
}

/* ---- [momentum] -------------------------------------------------------------------------------------------------- */

typedef struct books {
    double linear[3], angular[3];
} books;

static void books_add(books *b, const double x[3], const double p[3]) {
    for (int k = 0; k < 3; k++) {
        const int m = (k + 1) % 3, n = (k + 2) % 3;
        b->linear[k] += p[k];
        b->angular[k] += x[m] * p[n] - x[n] * p[m];
    }
}

/* Linear and angular momentum of water (of 0.125 kg each) and bodies. */
static books momentum_of(const isph_fluid *fluid, body *bodies, int count) {
    const isph_view view = isph_particles(fluid);
    books sum;
    memset(&sum, 0, sizeof sum);
    for (int i = 0; i < view.count; i++) {
        const float *x = view_position(&view, i), *u = view_velocity(&view, i);
        const double at[3] = {(double)x[0], (double)x[1], (double)x[2]};
        const double p[3] = {0.125 * (double)u[0], 0.125 * (double)u[1], 0.125 * (double)u[2]};
        books_add(&sum, at, p);
    }
    for (int i = 0; i < count; i++) {
        body *b = bodies + i;
        isphpbd_vec3 spin;
        body_read(fluid, b);
        spin = isphpbdx_unrotate(b->rotation, b->angular);
        spin = isphpbdx_rotate(b->rotation, isphpbd_v3(spin.x * b->desc.inertia.x, spin.y * b->desc.inertia.y,
                                                       spin.z * b->desc.inertia.z));
        const double at[3] = {(double)b->position.x, (double)b->position.y, (double)b->position.z};
        const double m = (double)b->desc.mass, turning[3] = {(double)spin.x, (double)spin.y, (double)spin.z};
        const double p[3] = {m * (double)b->linear.x, m * (double)b->linear.y, m * (double)b->linear.z};
        books_add(&sum, at, p);
        for (int k = 0; k < 3; k++) sum.angular[k] += turning[k];
    }
    return sum;
}

static double distance(const double a[3], const double b[3]) {
    return sqrt((a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]) + (a[2] - b[2]) * (a[2] - b[2]));
}

typedef struct impact_case {
    isph_shape shape;
    double density;
    float viscosity, friction, restitution;
    bool local;
} impact_case;

/* Water of 2 m/s hits free bodies off their centres, without gravity. */
static greatest_test_res impact(const impact_case *c) {
    isph_fluid_desc desc = isph_fluid_desc_default();
    isph_material_desc liquid = isph_material_desc_default();
    isph_fluid *fluid;
    const double zero[3] = {0, 0, 0};
    books before, after;
    body b[2];
    desc.gravity = fixture_zero, desc.particle_capacity = 1000, desc.rigid_local = c->local;
    fluid = isph_fluid_create(&desc, NULL);
    liquid.viscosity = c->viscosity;
    (void)isph_particles_add_box(fluid, isph_material_create(fluid, &liquid, NULL), isphpbd_v3(-0.8f, 0, 0),
                                 isphpbd_v3(-0.3f, 0.4f, 0.4f), isphpbd_v3(2, 0, 0), NULL);
    for (int i = 0; i < 2; i++) {
        b[i] = body_make(c->shape, isphpbd_v3(0.2f, 0.15f, 0.25f), c->density,
                         i ? isphpbd_v3(0.0f, -0.15f, 0.1f) : isphpbd_v3(0.0f, 0.35f, 0.25f));
        b[i].desc.friction = c->friction, b[i].desc.restitution = c->restitution;
        b[i].handle = isph_boundary_create(fluid, &b[i].desc, NULL);
    }
    before = momentum_of(fluid, b, 2);
    for (int i = 0; i < 60; i++) {
        (void)isph_fluid_step(fluid, STEP, NULL);
        after = momentum_of(fluid, b, 2);
        ASSERT(distance(before.linear, after.linear) < 1e-4 * distance(before.linear, zero));
        ASSERT(distance(before.angular, after.angular) < 1e-4 * distance(before.angular, zero));
    }
    ASSERT(b[0].linear.x > 0.2f && b[0].linear.x < 2.2f);
    ASSERT((double)isph_fluid_stats(fluid).kinetic_energy < 0.5 * 80.0 * 4.0);
    isph_fluid_destroy(fluid);
    PASS();
}

static double quat_length(isphpbd_quat q) {
    return sqrt((double)(q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w));
}
static double rotation_energy(isphpbd_vec3 inertia, isphpbd_vec3 own) {
    return 0.5 * (double)(inertia.x * own.x * own.x + inertia.y * own.y * own.y + inertia.z * own.z * own.z);
}

/* A flat box in free space, spun about its short axis, and one about its middle axis, which tumbles: angular momentum
   and energy of rotation stay, and the flat one does not lie over, however far it turns in a substep. */
TEST bodies_spin_freely(void) {
    static const float spins[3] = {6.0f, 40.0f, 120.0f};
    for (int k = 0; k < 6; k++) {
        isph_fluid_desc desc = isph_fluid_desc_default();
        const isphpbd_vec3 half = isphpbd_v3(0.13f, 0.03f, k < 3 ? 0.13f : 0.05f);
        body b = body_make(ISPH_SHAPE_BOX, half, 1000.0, isphpbd_v3(0, 0, 0));
        const isphpbd_vec3 inertia = b.desc.inertia;
        const float spin = spins[k % 3];
        isph_fluid *fluid;
        double before, after;
        isphpbd_vec3 own;
        desc.gravity = isphpbd_v3(0, 0, 0);
        b.desc.angular_velocity =
            k < 3 ? isphpbd_v3(0.05f * spin, spin, 0) : isphpbd_v3(0.02f * spin, 0.01f * spin, spin);
        before = rotation_energy(inertia, b.desc.angular_velocity);
        fluid = isph_fluid_create(&desc, NULL);
        b.handle = isph_boundary_create(fluid, &b.desc, NULL);
        for (int i = 0; i < 120; i++) (void)isph_fluid_step(fluid, 1.0f / 120.0f, NULL);
        body_read(fluid, &b);
        own = isphpbdx_unrotate(b.rotation, b.angular);
        after = rotation_energy(inertia, own);
        ASSERT_IN_RANGEm("energy", 1.0, after / before, 0.01);
        ASSERT_IN_RANGEm("momentum", (double)(inertia.y * b.desc.angular_velocity.y),
                         (double)isphpbdx_rotate(b.rotation, isphpbd_v3(inertia.x * own.x, inertia.y * own.y,
                                                                        inertia.z * own.z)).y,
                         0.002 * sqrt(2.0 * before * (double)inertia.y));
        if (k < 3) ASSERTm("the axis", isphpbdx_rotate(b.rotation, isphpbd_v3(0, 1, 0)).y > 0.99f);
        isph_fluid_destroy(fluid);
    }
    PASS();
}
/* About the axis of hardly any inertia the angular momentum of a needle is rounding, which spins it as fast as may be;
   its snapshot is one that is taken. */
TEST needles_spin_within_bounds(void) {
    isph_fluid_desc desc = isph_fluid_desc_default();
    body b = body_make(ISPH_SHAPE_BOX, isphpbd_v3(0.01f, 0.01f, 0.5f), 1000.0, isphpbd_v3(0, 0, 0));
    isph_fluid *fluid = isph_fluid_create(&desc, NULL);
    size_t size;
    void *bytes;
    b.desc.inertia = isphpbd_v3(3.0f, 3.0f, 1e-20f), b.desc.angular_velocity = isphpbd_v3(3.0f, 2.0f, 1.0f);
    b.handle = isph_boundary_create(fluid, &b.desc, NULL);
    ASSERT(b.handle.id != 0);
    for (int i = 0; i < 60; i++) {
        (void)isph_fluid_step(fluid, 1.0f / 60.0f, NULL);
        body_read(fluid, &b);
        ASSERT(isphpbdx_finite3(b.position) && isphpbdx_finite3(b.angular));
        ASSERT_IN_RANGE(1.0, quat_length(b.rotation), 1e-3);
    }
    size = isph_fluid_save(fluid, NULL, 0);
    bytes = malloc(size);
    ASSERT(isph_fluid_save(fluid, bytes, size) == size);
    ASSERT_EQ(ISPHPBD_OK, isph_fluid_load(fluid, bytes, size));
    free(bytes);
    isph_fluid_destroy(fluid);
    PASS();
}

TEST momentum_in_impacts(void) {
    static const impact_case cases[] = {
        {ISPH_SHAPE_BOX, 500.0, 0.001f, 0.0f, 0.0f, false},    {ISPH_SHAPE_SPHERE, 20.0, 0.001f, 0.0f, 0.0f, false},
        {ISPH_SHAPE_BOX, 2000.0, 20.0f, 0.0f, 0.0f, false},    {ISPH_SHAPE_SPHERE, 300.0, 0.001f, 0.8f, 0.0f, false},
        {ISPH_SHAPE_BOX, 300.0, 0.001f, 0.3f, 0.5f, false},    {ISPH_SHAPE_BOX, 300.0, 0.001f, 0.2f, 0.3f, true},
        {ISPH_SHAPE_SPHERE, 1000.0, 200.0f, 0.0f, 0.0f, false}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) CHECK_CALL(impact(cases + i));
    PASS();
}

/* Two drops meet off centre, without anything else. */
TEST momentum_of_drops(void) {
    isph_fluid_desc desc = isph_fluid_desc_default();
    isph_fluid *fluid;
    isph_material water;
    const double zero[3] = {0, 0, 0};
    books before, after;
    desc.gravity = fixture_zero, desc.particle_capacity = 2000;
    fluid = isph_fluid_create(&desc, NULL);
    water = fixture_water(fluid);
    (void)isph_particles_add_box(fluid, water, isphpbd_v3(-0.6f, 0, 0), isphpbd_v3(-0.2f, 0.4f, 0.4f),
                                 isphpbd_v3(1.5f, 0, 0), NULL);
    (void)isph_particles_add_box(fluid, water, isphpbd_v3(0.2f, 0.2f, 0.1f), isphpbd_v3(0.6f, 0.6f, 0.5f),
                                 isphpbd_v3(-1, 0, 0), NULL);
    before = momentum_of(fluid, NULL, 0);
    (void)fixture_run(fluid, 60, STEP);
    after = momentum_of(fluid, NULL, 0);
    ASSERT(distance(before.linear, after.linear) < 1e-5 * distance(before.linear, zero));
    ASSERT(distance(before.angular, after.angular) < 1e-4 * distance(before.angular, zero));
    isph_fluid_destroy(fluid);
    PASS();
}

/* What the water does not give to the floor, it has itself: at every step of a splash, to 2 cm/s of its 100 kg (an
   eighth of what gravity gives it in a step; impulses of walls are bounded when they take up what is left over). */
TEST momentum_of_a_splash(void) {
    isph_fluid_desc desc = isph_fluid_desc_default();
    isph_fluid *fluid;
    isph_boundary room;
    books before, after;
    desc.particle_capacity = 1000;
    fluid = isph_fluid_create(&desc, NULL);
    room = fixture_room(fluid, isphpbd_v3(-0.5f, 0, -0.25f), isphpbd_v3(0.5f, 2, 0.25f));
    (void)isph_particles_add_box(fluid, fixture_water(fluid), isphpbd_v3(-0.5f, 0, -0.25f),
                                 isphpbd_v3(-0.1f, 0.5f, 0.25f), fixture_zero, NULL);
    before = momentum_of(fluid, NULL, 0);
    for (int i = 0; i < 90; i++) {
        isphpbd_vec3 j;
        (void)isph_fluid_step(fluid, STEP, NULL);
        (void)isph_boundary_take_impulse(fluid, room, &j, NULL);
        after = momentum_of(fluid, NULL, 0);
        before.linear[0] -= (double)j.x, before.linear[2] -= (double)j.z;
        before.linear[1] -= (double)j.y + 100.0 * 9.81 / 60.0; /* 800 particles */
        ASSERT(distance(before.linear, after.linear) < 0.02 * 100.0);
        before = after;
    }
    isph_fluid_destroy(fluid);
    PASS();
}

/* ---- [bounce] ---------------------------------------------------------------------------------------------------- */

/* Single drops of water on a floor. */
static double bounce(float restitution) {
    isph_fluid_desc desc = isph_fluid_desc_default();
    isph_boundary_desc d = isph_boundary_desc_default();
    const float at[3] = {0.0f, 0.3f, 0.0f}, down[3] = {0.0f, -2.0f, 0.0f};
    isph_fluid *fluid;
    double up;
    desc.gravity = fixture_zero, desc.particle_capacity = 8;
    fluid = isph_fluid_create(&desc, NULL);
    (void)isph_fluid_set_solver_enabled(fluid, false); /* contact alone */
    d.restitution = restitution, d.viscous_grip = 0.0f;
    (void)isph_boundary_create(fluid, &d, NULL);
    (void)isph_particles_add(fluid, fixture_water(fluid), at, sizeof at, down, sizeof down, 1, NULL);
    (void)fixture_run(fluid, 30, STEP);
    up = fixture_measure(fluid).momentum[1];
    isph_fluid_destroy(fluid);
    return up;
}

TEST restitution(void) {
    ASSERT_IN_RANGE(0.0, bounce(0.0f), 1e-6);
    ASSERT_IN_RANGE(1.0, bounce(0.5f), 1e-5);
    ASSERT_IN_RANGE(2.0, bounce(1.0f), 1e-5);
    PASS();
}

/* Speed of the lowest layer of water on a floor that slides at 0.5 m/s. */
static double dragged(float friction) {
    isph_fluid_desc desc = isph_fluid_desc_default();
    isph_boundary_desc ground = isph_boundary_desc_default(), sides = ground;
    double speed = 0.0;
    int count = 0;
    isph_fluid *fluid;
    isph_view view;
    desc.particle_capacity = 2000;
    fluid = isph_fluid_create(&desc, NULL);
    ground.friction = friction, ground.viscous_grip = sides.viscous_grip = 0.0f;
    ground.linear_velocity.x = 0.5f;
    sides.shape = ISPH_SHAPE_BOX, sides.container = true, sides.half_extents = isphpbd_v3(8, 9, 0.25f);
    (void)isph_boundary_create(fluid, &ground, NULL), (void)isph_boundary_create(fluid, &sides, NULL);
    (void)isph_particles_add_box(fluid, fixture_water(fluid), isphpbd_v3(-0.8f, 0, -0.25f),
                                 isphpbd_v3(0.8f, 0.2f, 0.25f), fixture_zero, NULL);
    (void)fixture_run(fluid, 30, STEP);
    view = isph_particles(fluid);
    for (int i = 0; i < view.count; i++) {
        const float *p = view_position(&view, i);
        if (p[1] < 0.8f * DX && fabsf(p[0] - 0.1f) < 0.5f) speed += (double)view_velocity(&view, i)[0], count++;
    }
    isph_fluid_destroy(fluid);
    return speed / count;
}

/* From free slip to no slip, in order; a wall that holds the water takes it along within 2 % of its own speed. */
TEST slip_ramp(void) {
    const double free_slip = dragged(0.0f), some = dragged(0.02f), more = dragged(0.1f), none = dragged(1.0f);
    ASSERT(free_slip < 0.15);
    ASSERT(some > free_slip + 0.05 && more > some && none > more);
    ASSERT_IN_RANGE(0.5, none, 0.01);
    PASS();
}

/* ---- [apart] What does not meet. --------------------------------------------------------------------------------- */

/* A plate without thickness between water of 0.4 m and of 0.2 m: each side presses with its own depth. */
TEST shell_parts_water(void) {
    static const float corner[4][3] = {{0, -0.2f, -0.35f}, {0, -0.2f, 0.35f}, {0, 1.0f, 0.35f}, {0, 1.0f, -0.35f}};
    static const uint32_t triangles[6] = {0, 1, 2, 0, 2, 3};
    isph_fluid_desc desc = isph_fluid_desc_default();
    isph_boundary_desc d = isph_boundary_desc_default();
    const double expected = 0.5 * 1000.0 * 9.81 * (0.4 * 0.4 - 0.2 * 0.2) * 0.5;
    isph_boundary plate;
    isph_material water;
    isph_fluid *fluid;
    isphpbd_vec3 j;
    isph_view view;
    int left = 0;
    desc.particle_capacity = 4000;
    fluid = isph_fluid_create(&desc, NULL);
    water = fixture_water(fluid);
    (void)fixture_room(fluid, isphpbd_v3(-0.5f, 0, -0.25f), isphpbd_v3(0.5f, 2, 0.25f));
    d.shape = ISPH_SHAPE_MESH;
    d.mesh.positions = corner[0], d.mesh.stride_bytes = 12, d.mesh.vertex_count = 4;
    d.mesh.indices = triangles, d.mesh.index_count = 6;
    plate = isph_boundary_create(fluid, &d, NULL);
    (void)isph_particles_add_box(fluid, water, isphpbd_v3(-0.5f, 0, -0.25f), isphpbd_v3(0, 0.4f, 0.25f), fixture_zero,
                                 NULL);
    (void)isph_particles_add_box(fluid, water, isphpbd_v3(0, 0, -0.25f), isphpbd_v3(0.5f, 0.2f, 0.25f), fixture_zero,
                                 NULL);
    (void)fixture_run(fluid, 120, STEP);
    (void)isph_boundary_take_impulse(fluid, plate, NULL, NULL);
    (void)fixture_run(fluid, 60, STEP);
    (void)isph_boundary_take_impulse(fluid, plate, &j, NULL);
    ASSERT_IN_RANGE(expected, (double)j.x, 0.06 * expected);
    view = isph_particles(fluid);
    for (int i = 0; i < view.count; i++) left += view_position(&view, i)[0] < 0.0f;
    ASSERT_EQ_FMT(800, left, "%d");
    ASSERT(fixture_measure(fluid).rms_speed < 0.02);
    isph_fluid_destroy(fluid);
    PASS();
}

/* A floor that only meets the second material. */
TEST material_mask(void) {
    isph_fluid_desc desc = isph_fluid_desc_default();
    isph_boundary_desc d = isph_boundary_desc_default();
    isph_fluid *fluid;
    isph_material first, second;
    isph_boundary ground;
    isph_view view;
    desc.particle_capacity = 64;
    fluid = isph_fluid_create(&desc, NULL);
    first = fixture_water(fluid), second = fixture_water(fluid);
    d.material_mask = 2u;
    ground = isph_boundary_create(fluid, &d, NULL);
    (void)isph_particles_add_box(fluid, first, isphpbd_v3(0, 0.1f, 0), isphpbd_v3(0.1f, 0.2f, 0.1f), fixture_zero,
                                 NULL);
    (void)isph_particles_add_box(fluid, second, isphpbd_v3(1, 0.1f, 0), isphpbd_v3(1.1f, 0.2f, 0.1f), fixture_zero,
                                 NULL);
    (void)fixture_run(fluid, 30, STEP);
    view = isph_particles(fluid);
    ASSERT_EQ_FMT(16, view.count, "%d");
    for (int i = 0; i < view.count; i++) ASSERT((view_position(&view, i)[1] > 0.0f) == (view.material[i] == 1));
    ASSERT_EQ(ISPHPBD_OK, isph_boundary_set_material_mask(fluid, ground, 0u));
    (void)fixture_run(fluid, 30, STEP);
    ASSERT(fixture_measure(fluid).high < 0.0);
    isph_fluid_destroy(fluid);
    PASS();
}

/* Boundaries far away change nothing, however many. */
TEST far_boundaries(void) {
    double centre[2] = {0.0, 1.0};
    for (int many = 0; many < 2; many++) {
        isph_fluid_desc desc = isph_fluid_desc_default();
        isph_boundary_desc d = isph_boundary_desc_default();
        isph_fluid *fluid;
        desc.particle_capacity = 2000, desc.boundary_capacity = 300;
        fluid = fixture_tank(&desc, 0.5f, 0.5f, 0.4f);
        d.shape = ISPH_SHAPE_SPHERE, d.radius = 0.1f, d.position = isphpbd_v3(0, 0.2f, 0);
        (void)isph_boundary_create(fluid, &d, NULL);
        for (int i = 0; i < 250 * many; i++) {
            d.position = isphpbd_v3(3.0f + (float)(i % 16), 0.2f, (float)(i / 16));
            (void)isph_boundary_create(fluid, &d, NULL);
        }
        (void)fixture_run(fluid, 30, STEP);
        centre[many] = fixture_measure(fluid).centre[1];
        isph_fluid_destroy(fluid);
    }
    ASSERT_EQ(centre[0], centre[1]);
    PASS();
}

/* ---- [state] ----------------------------------------------------------------------------------------------------- */

static isph_fluid *stirred(body *b) {
    isph_fluid *fluid = tank(false);
    *b = body_make(ISPH_SHAPE_BOX, isphpbd_v3(0.15f, 0.1f, 0.2f), 400.0, isphpbd_v3(0.1f, 0.75f, 0.0f));
    b->desc.angular_velocity = isphpbd_v3(1, 2, 3), b->desc.friction = 0.2f;
    body_put(fluid, b);
    return fluid;
}

TEST snapshot_with_a_body(void) {
    body b;
    isph_fluid *one = stirred(&b), *two = stirred(&b);
    size_t size;
    void *bytes;
    (void)fixture_run(one, 20, STEP);
    size = isph_fluid_save(one, NULL, 0);
    bytes = malloc(size);
    ASSERT_EQ(size, isph_fluid_save(one, bytes, size));
    ASSERT_EQ(ISPHPBD_OK, isph_fluid_load(two, bytes, size));
    ASSERT_EQ(isph_fluid_hash(one), isph_fluid_hash(two));
    (void)fixture_run(one, 20, STEP), (void)fixture_run(two, 20, STEP);
    ASSERT_EQ(isph_fluid_hash(one), isph_fluid_hash(two));
    ASSERT_EQ(ISPHPBD_OK, isph_boundary_set_mass(two, b.handle, 3.0f, isphpbd_v3(1, 1, 1)));
    ASSERT(isph_fluid_hash(one) != isph_fluid_hash(two));
    free(bytes);
    isph_fluid_destroy(one), isph_fluid_destroy(two);
    PASS();
}

TEST bad_bodies(void) {
    isph_fluid *fluid = tank(false);
    body b = body_make(ISPH_SHAPE_BOX, isphpbd_v3(0.1f, 0.1f, 0.1f), 500.0, isphpbd_v3(0, 1, 0));
    const float nan_number = (float)NAN;
    isphpbd_result why;
    isph_boundary_desc d;
    for (int k = 0; k < 6; k++) {
        d = b.desc;
        if (k == 0) d.mass = -1.0f;
        if (k == 1) d.mass = nan_number;
        if (k == 2) d.inertia.y = -1.0f;
        if (k == 3) d.restitution = 1.5f;
        if (k == 4) d.gravity_scale = nan_number;
        if (k == 5) d.shape = ISPH_SHAPE_PLANE;
        ASSERT_EQ(0u, isph_boundary_create(fluid, &d, &why).id);
        ASSERT_EQ(ISPHPBD_BAD_DESC, why);
    }
    body_put(fluid, &b);
    ASSERT_EQ(ISPHPBD_BAD_ARGUMENT, isph_boundary_set_mass(fluid, b.handle, -1.0f, fixture_zero));
    ASSERT_EQ(ISPHPBD_OK, isph_boundary_set_mass(fluid, b.handle, 0.0f, fixture_zero));
    ASSERT_EQ(ISPHPBD_OK, isph_boundary_destroy(fluid, b.handle));
    ASSERT_EQ(ISPHPBD_BAD_HANDLE, isph_boundary_set_mass(fluid, b.handle, 1.0f, fixture_zero));
    ASSERT_EQ(ISPHPBD_BAD_HANDLE, isph_boundary_motion(fluid, b.handle, NULL, NULL, NULL, NULL));
    ASSERT_EQ(ISPHPBD_BAD_HANDLE, isph_boundary_set_material_mask(fluid, b.handle, 1u));
    isph_fluid_destroy(fluid);
    PASS();
}

/* Whatever becomes of a body, its motion is one that could be given, so a snapshot of it can be loaded. */
TEST motion_stays_within_limits(void) {
    isph_fluid_desc desc = isph_fluid_desc_default();
    isph_fluid *fluid = isph_fluid_create(&desc, NULL);
    body odd = body_make(ISPH_SHAPE_BOX, isphpbd_v3(0.1f, 0.1f, 0.1f), 500.0, fixture_zero), far = odd;
    isphpbd_vec3 position, linear, angular;
    unsigned char bytes[4096];
    size_t size;
    odd.desc.inertia = isphpbd_v3(1e10f, 0.3f, 40.0f), odd.desc.angular_velocity = isphpbd_v3(2, -1, -0.5f);
    far.desc.position.x = 9.999e6f, far.desc.linear_velocity.x = 9e4f;
    body_put(fluid, &odd), body_put(fluid, &far);
    (void)fixture_run(fluid, 60, STEP);
    size = isph_fluid_save(fluid, bytes, sizeof bytes);
    ASSERT(size <= sizeof bytes);
    ASSERT_EQ(ISPHPBD_OK, isph_fluid_load(fluid, bytes, size));
    ASSERT_EQ(ISPHPBD_OK, isph_boundary_motion(fluid, odd.handle, NULL, NULL, NULL, &angular));
    ASSERT_IN_RANGE(0.0, (double)isphpbdx_length(angular), 1e5);
    ASSERT_EQ(ISPHPBD_OK, isph_boundary_motion(fluid, far.handle, &position, NULL, &linear, NULL));
    ASSERT_IN_RANGE(1e7, (double)position.x, 1.1e5);
    ASSERT_IN_RANGE(9e4, (double)linear.x, 1e-3);
    isph_fluid_destroy(fluid);
    PASS();
}

SUITE(sph_bodies) {
    RUN_TEST(boxes_float);
    RUN_TEST(boxes_float_with_a_host);
    RUN_TEST(spheres_float);
    RUN_TEST(light_bodies_float);
    RUN_TEST(bodies_float_by_the_local_scheme);
    RUN_TEST(heavy_body_sinks);
    RUN_TEST(neutral_body_hovers);
    RUN_TEST(light_body_is_not_thrown_out);
    RUN_TEST(any_shape_is_lifted_by_its_volume);
    RUN_TEST(piston_rests_on_water);
    RUN_TEST(bodies_fall);
    RUN_TEST(bodies_spin_freely);
    RUN_TEST(needles_spin_within_bounds);
    RUN_TEST(momentum_in_impacts);
    RUN_TEST(momentum_of_drops);
    RUN_TEST(momentum_of_a_splash);
    RUN_TEST(restitution);
    RUN_TEST(slip_ramp);
    RUN_TEST(shell_parts_water);
    RUN_TEST(material_mask);
    RUN_TEST(far_boundaries);
    RUN_TEST(snapshot_with_a_body);
    RUN_TEST(bad_bodies);
    RUN_TEST(motion_stays_within_limits);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv) {
    GREATEST_MAIN_BEGIN();
    RUN_SUITE(sph_bodies);
    GREATEST_MAIN_END();
}
