/* Boundaries of isphpbd_sph.h hold the water: every shape, standing and moving, and the impulses they receive. */
#define ISPH_IMPLEMENTATION
#include "isphpbd_sph.h"

#include "greatest.h"
#include "sph_fixture.h"

#define DX 0.05f
/* Particles stay half a spacing off a wall; a twentieth of a spacing less is allowed. */
#define LEAST (0.45 * 0.05)

static isph_fluid *make_fluid(int capacity) {
    isph_fluid_desc desc = isph_fluid_desc_default();
    isph_fluid *fluid;
    desc.particle_capacity = capacity;
    fluid = isph_fluid_create(&desc, NULL);
    if (fluid) (void)fixture_water(fluid);
    return fluid;
}

static int add_block(isph_fluid *fluid, float x, float y, float z, float half) {
    const isph_material water = {1};
    int added = 0;
    (void)isph_particles_add_box(fluid, water, isphpbd_v3(x - half, y - half, z - half),
                                 isphpbd_v3(x + half, y + half, z + half), fixture_zero, &added);
    return added;
}

/* ---- [distances] Signed, of a point in the frame of the shape, computed without the library. -------------------- */

typedef double distance_function(const double p[3]);

static double maximum(double a, double b) { return a > b ? a : b; }
static double from_plane(const double p[3]) { return p[1]; }
static double from_sphere(const double p[3]) { return sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]) - 0.2; }
static double from_capsule(const double p[3]) {
    const double y = p[1] > 0.15 ? p[1] - 0.15 : p[1] < -0.15 ? p[1] + 0.15 : 0.0;
    return sqrt(p[0] * p[0] + y * y + p[2] * p[2]) - 0.15;
}
static double from_box(const double p[3]) {
    const double d[3] = {fabs(p[0]) - 0.25, fabs(p[1]) - 0.15, fabs(p[2]) - 0.2};
    const double o[3] = {maximum(d[0], 0.0), maximum(d[1], 0.0), maximum(d[2], 0.0)};
    const double inside = maximum(d[0], maximum(d[1], d[2]));
    return inside < 0.0 ? inside : sqrt(o[0] * o[0] + o[1] * o[1] + o[2] * o[2]);
}

typedef struct shape_case {
    const char *name;
    isph_shape shape;
    bool mesh_solid;
    distance_function *distance;
} shape_case;

static const shape_case solids[5] = {{"plane", ISPH_SHAPE_PLANE, false, from_plane},
                                     {"box", ISPH_SHAPE_BOX, false, from_box},
                                     {"sphere", ISPH_SHAPE_SPHERE, false, from_sphere},
                                     {"capsule", ISPH_SHAPE_CAPSULE, false, from_capsule},
                                     {"solid mesh", ISPH_SHAPE_MESH, true, from_box}};

/* The box of from_box() as triangles, counter-clockwise from outside. */
static const float box_corners[8][3] = {{-0.25f, -0.15f, -0.2f}, {0.25f, -0.15f, -0.2f}, {-0.25f, 0.15f, -0.2f},
                                        {0.25f, 0.15f, -0.2f},   {-0.25f, -0.15f, 0.2f}, {0.25f, -0.15f, 0.2f},
                                        {-0.25f, 0.15f, 0.2f},   {0.25f, 0.15f, 0.2f}};
static const uint32_t box_triangles[36] = {0, 2, 1, 1, 2, 3, 4, 5, 6, 5, 7, 6, 0, 4, 2, 4, 6, 2,
                                           1, 3, 5, 3, 7, 5, 0, 1, 4, 1, 5, 4, 2, 6, 3, 3, 6, 7};

static isph_boundary_desc desc_of(const shape_case *c) {
    isph_boundary_desc d = isph_boundary_desc_default();
    d.shape = c->shape;
    d.half_extents = isphpbd_v3(0.25f, 0.15f, 0.2f);
    d.radius = c->shape == ISPH_SHAPE_SPHERE ? 0.2f : 0.15f;
    d.half_height = 0.15f;
    d.mesh_solid = c->mesh_solid;
    if (c->shape == ISPH_SHAPE_MESH) {
        d.mesh.positions = box_corners[0], d.mesh.stride_bytes = sizeof box_corners[0], d.mesh.vertex_count = 8;
        d.mesh.indices = box_triangles, d.mesh.index_count = 36;
    }
    return d;
}

/* World to the frame of a pose, in double. */
static void to_frame(isphpbd_vec3 at, isphpbd_quat q, const float *p, double out[3]) {
    const double v[3] = {(double)p[0] - (double)at.x, (double)p[1] - (double)at.y, (double)p[2] - (double)at.z};
    const double u[3] = {-(double)q.x, -(double)q.y, -(double)q.z}, w = (double)q.w;
    double t[3];
    for (int k = 0; k < 3; k++) t[k] = 2.0 * (u[(k + 1) % 3] * v[(k + 2) % 3] - u[(k + 2) % 3] * v[(k + 1) % 3]);
    for (int k = 0; k < 3; k++)
        out[k] = v[k] + w * t[k] + u[(k + 1) % 3] * t[(k + 2) % 3] - u[(k + 2) % 3] * t[(k + 1) % 3];
}

static double least_distance(const isph_fluid *fluid, isph_boundary b, distance_function *distance, double sign) {
    const isph_view view = isph_particles(fluid);
    double least = 1e30;
    isphpbd_vec3 at;
    isphpbd_quat q;
    if (isph_boundary_pose(fluid, b, &at, &q) != ISPHPBD_OK) return -1e30;
    for (int i = 0; i < view.count; i++) {
        double p[3], d;
        to_frame(at, q, view_position(&view, i), p);
        d = sign * distance(p);
        least = d < least ? d : least;
    }
    return least;
}

static isphpbd_quat turned(float x, float y, float z, float angle) {
    isphpbd_quat q;
    const float s = sinf(0.5f * angle) / sqrtf(x * x + y * y + z * z);
    q.x = s * x, q.y = s * y, q.z = s * z, q.w = cosf(0.5f * angle);
    return q;
}

/* ---- [solids] --------------------------------------------------------------------------------------------------- */

/* A block falls on the shape: at no time does a particle come nearer than allowed. */
static greatest_test_res drop_on(const shape_case *c, isphpbd_quat rotation) {
    isph_fluid *fluid = make_fluid(1000);
    isph_boundary_desc d = desc_of(c);
    isph_boundary b;
    d.rotation = rotation;
    b = isph_boundary_create(fluid, &d, NULL);
    (void)fixture_plane(fluid, -0.6f);
    ASSERT(b.id != 0);
    ASSERT_EQ_FMT(512, add_block(fluid, 0.02f, 0.65f, 0.01f, 0.2f), "%d");
    for (int i = 0; i < 70; i++) {
        (void)isph_fluid_step(fluid, 1.0f / 60.0f, NULL);
        ASSERT_IN_RANGEm(c->name, 1.0 + LEAST, least_distance(fluid, b, c->distance, 1.0), 1.0);
        ASSERT(fixture_measure(fluid).max_speed < 8.0);
    }
    ASSERT(fixture_finite(fluid));
    isph_fluid_destroy(fluid);
    PASS();
}

TEST drop_on_every_shape(void) {
    const isphpbd_quat none = {0, 0, 0, 1};
    for (int i = 0; i < 5; i++) CHECK_CALL(drop_on(solids + i, none));
    PASS();
}

TEST drop_on_turned_shapes(void) {
    for (int i = 1; i < 5; i++) CHECK_CALL(drop_on(solids + i, turned(0.3f, 0.5f, 0.8f, 0.9f)));
    PASS();
}

/* Particles that begin inside the solid are outside within a second, gently. */
static greatest_test_res start_inside(const shape_case *c) {
    isph_fluid *fluid = make_fluid(1000);
    const isph_boundary_desc d = desc_of(c);
    const isph_boundary b = isph_boundary_create(fluid, &d, NULL);
    (void)fixture_plane(fluid, -0.6f);
    ASSERT(add_block(fluid, 0.0f, 0.0f, 0.0f, 0.15f) == 216);
    for (int i = 0; i < 60; i++) {
        (void)isph_fluid_step(fluid, 1.0f / 60.0f, NULL);
        ASSERT(fixture_measure(fluid).max_speed < 20.0);
    }
    ASSERT_IN_RANGEm(c->name, 1.0 + LEAST, least_distance(fluid, b, c->distance, 1.0), 1.0);
    ASSERT(fixture_finite(fluid));
    isph_fluid_destroy(fluid);
    PASS();
}

TEST start_inside_every_shape(void) {
    for (int i = 0; i < 5; i++) CHECK_CALL(start_inside(solids + i));
    PASS();
}

/* ---- [containers] ----------------------------------------------------------------------------------------------- */

static greatest_test_res hold_inside(const shape_case *c, isphpbd_vec3 spin, int blocks) {
    isph_fluid *fluid = make_fluid(1000);
    isph_boundary_desc d = desc_of(c);
    isph_boundary b;
    d.container = true;
    d.angular_velocity = spin;
    d.rotation = turned(0.1f, 1.0f, 0.3f, 0.6f);
    b = isph_boundary_create(fluid, &d, NULL);
    for (int i = 0; i < blocks; i++) ASSERT(add_block(fluid, 0.0f, 0.05f * (float)i, 0.0f, 0.1f) == 64);
    for (int i = 0; i < 90; i++) {
        (void)isph_fluid_step(fluid, 1.0f / 60.0f, NULL);
        ASSERT_IN_RANGEm(c->name, 1.0 + LEAST, least_distance(fluid, b, c->distance, -1.0), 1.0);
        ASSERT(fixture_measure(fluid).max_speed < 20.0);
    }
    isph_fluid_destroy(fluid);
    PASS();
}

TEST containers(void) {
    for (int i = 1; i < 4; i++) CHECK_CALL(hold_inside(solids + i, fixture_zero, 1));
    PASS();
}

TEST spinning_containers(void) {
    for (int i = 1; i < 4; i++) CHECK_CALL(hold_inside(solids + i, isphpbd_v3(1.5f, 2.0f, -1.0f), 1));
    PASS();
}

/* Particles that begin beyond the walls of a container are brought in. */
TEST start_outside_a_container(void) {
    for (int i = 1; i < 4; i++) {
        isph_fluid *fluid = make_fluid(1000);
        isph_boundary_desc d = desc_of(solids + i);
        isph_boundary b;
        d.container = true;
        b = isph_boundary_create(fluid, &d, NULL);
        ASSERT(add_block(fluid, 0.15f, 0.0f, 0.1f, 0.1f) == 64);
        (void)fixture_run(fluid, 60, 1.0f / 60.0f);
        ASSERT_IN_RANGEm(solids[i].name, 1.0 + LEAST, least_distance(fluid, b, solids[i].distance, -1.0), 1.0);
        isph_fluid_destroy(fluid);
    }
    PASS();
}

/* A pipe two particles wide: every particle sees at least four walls. */
TEST narrow_pipe(void) {
    isph_fluid *fluid = make_fluid(2000);
    const isph_material water = {1};
    const isph_boundary pipe = fixture_room(fluid, isphpbd_v3(-10, 0, 0), isphpbd_v3(10, 0.1f, 0.1f));
    isph_view view;
    int added = 0;
    (void)pipe;
    ASSERT_EQ(ISPHPBD_OK, isph_particles_add_box(fluid, water, isphpbd_v3(-9, 0, 0), isphpbd_v3(9, 0.1f, 0.1f),
                                                 isphpbd_v3(0.4f, 0, 0), &added));
    ASSERT_EQ_FMT(1440, added, "%d");
    (void)fixture_run(fluid, 40, 1.0f / 60.0f);
    view = isph_particles(fluid);
    for (int i = 0; i < view.count; i++) {
        const float *p = view_position(&view, i);
        ASSERT((double)p[1] > LEAST && (double)p[1] < 0.1 - LEAST && (double)p[2] > LEAST &&
               (double)p[2] < 0.1 - LEAST);
    }
    isph_fluid_destroy(fluid);
    PASS();
}

/* ---- [shells] A round cup of zero thickness, open above: radius 0.3, height 1.2.  */

#define SEGMENTS 24
static float cup_vertex[2 * SEGMENTS + 2][3];
static uint32_t cup_index[12 * SEGMENTS];
static int cup_open_count; /* indices without the lid, which only the ray test closes */

static void make_cup(void) {
    int n = 0;
    for (int i = 0; i < SEGMENTS; i++) {
        const float angle = 6.2831853f * (float)i / SEGMENTS;
        for (int k = 0; k < 2; k++) {
            cup_vertex[2 * i + k][0] = 0.3f * cosf(angle), cup_vertex[2 * i + k][1] = 1.2f * (float)k;
            cup_vertex[2 * i + k][2] = 0.3f * sinf(angle);
        }
    }
    for (int k = 0; k < 2; k++)
        cup_vertex[2 * SEGMENTS + k][0] = cup_vertex[2 * SEGMENTS + k][2] = 0.0f,
                                  cup_vertex[2 * SEGMENTS + k][1] = 1.2f * (float)k;
    for (int lid = 0; lid < 2; lid++) {
        for (int i = 0; i < SEGMENTS; i++) {
            const uint32_t a = 2u * (uint32_t)i, b = 2u * (uint32_t)((i + 1) % SEGMENTS), floor_centre = 2u * SEGMENTS;
            if (lid) cup_index[n++] = a + 1, cup_index[n++] = floor_centre + 1, cup_index[n++] = b + 1;
            else cup_index[n++] = a, cup_index[n++] = b, cup_index[n++] = floor_centre;
            if (lid) continue;
            cup_index[n++] = a, cup_index[n++] = a + 1, cup_index[n++] = b;
            cup_index[n++] = b, cup_index[n++] = a + 1, cup_index[n++] = b + 1;
        }
        if (!lid) cup_open_count = n;
    }
}

/* Does the ray from p along a crooked direction meet the triangle? */
static bool ray_meets(const double p[3], const float *a, const float *b, const float *c) {
    static const double ray[3] = {0.8137, 0.1291, 0.5668};
    double e[3], f[3], h[3], s[3], q[3], det = 0.0, u = 0.0, v = 0.0, t = 0.0;
    for (int k = 0; k < 3; k++)
        e[k] = (double)b[k] - (double)a[k], f[k] = (double)c[k] - (double)a[k], s[k] = p[k] - (double)a[k];
    for (int k = 0; k < 3; k++) h[k] = ray[(k + 1) % 3] * f[(k + 2) % 3] - ray[(k + 2) % 3] * f[(k + 1) % 3];
    for (int k = 0; k < 3; k++) q[k] = s[(k + 1) % 3] * e[(k + 2) % 3] - s[(k + 2) % 3] * e[(k + 1) % 3];
    for (int k = 0; k < 3; k++) det += e[k] * h[k], u += s[k] * h[k], v += ray[k] * q[k], t += f[k] * q[k];
    if (det == 0.0) return false;
    u /= det, v /= det, t /= det;
    return u >= 0.0 && v >= 0.0 && u + v <= 1.0 && t > 0.0;
}

static bool inside_cup(const double p[3]) {
    int crossings = 0;
    for (int i = 0; i < cup_open_count + 3 * SEGMENTS; i += 3) {
        crossings += ray_meets(p, cup_vertex[cup_index[i]], cup_vertex[cup_index[i + 1]], cup_vertex[cup_index[i + 2]]);
    }
    return crossings % 2 == 1;
}

static int count_inside(const isph_fluid *fluid, isph_boundary cup) {
    const isph_view view = isph_particles(fluid);
    isphpbd_vec3 at;
    isphpbd_quat q;
    int inside = 0;
    (void)isph_boundary_pose(fluid, cup, &at, &q);
    for (int i = 0; i < view.count; i++) {
        double p[3];
        to_frame(at, q, view_position(&view, i), p);
        inside += inside_cup(p);
    }
    return inside;
}

static isph_boundary make_cup_boundary(isph_fluid *fluid, isphpbd_vec3 position) {
    isph_boundary_desc d = isph_boundary_desc_default();
    make_cup();
    d.shape = ISPH_SHAPE_MESH;
    d.mesh.positions = cup_vertex[0], d.mesh.stride_bytes = sizeof cup_vertex[0],
    d.mesh.vertex_count = 2 * SEGMENTS + 2;
    d.mesh.indices = cup_index, d.mesh.index_count = cup_open_count;
    d.position = position;
    return isph_boundary_create(fluid, &d, NULL);
}

/* 432 particles, a third of the cup. */
static int fill_cup(isph_fluid *fluid) {
    const isph_material water = {1};
    int added = 0;
    (void)isph_particles_add_box(fluid, water, isphpbd_v3(-0.2f, 0.0f, -0.15f), isphpbd_v3(0.2f, 0.45f, 0.15f),
                                 fixture_zero, &added);
    return added;
}

/* Another mesh is taken away from before it, so that the cup's triangles have to move. */
TEST cup_holds_water(void) {
    isph_fluid *fluid = make_fluid(1000);
    isph_boundary_desc d = desc_of(solids + 4);
    isph_boundary decoy, cup;
    d.position.y = -3.0f;
    decoy = isph_boundary_create(fluid, &d, NULL);
    cup = make_cup_boundary(fluid, fixture_zero);
    ASSERT(cup.id != 0);
    ASSERT_EQ(ISPHPBD_OK, isph_boundary_destroy(fluid, decoy));
    ASSERT_EQ_FMT(432, fill_cup(fluid), "%d");
    ASSERT_EQ_FMT(432, count_inside(fluid, cup), "%d");
    for (int i = 0; i < 150; i++) {
        (void)isph_fluid_step(fluid, 1.0f / 60.0f, NULL);
        if (i % 10 == 0) ASSERT_EQ_FMT(432, count_inside(fluid, cup), "%d");
    }
    ASSERT_EQ_FMT(432, count_inside(fluid, cup), "%d");
    ASSERT(fixture_measure(fluid).rms_speed < 0.15);
    isph_fluid_destroy(fluid);
    PASS();
}

/* Without pressure the particles fall into each other, but not out of the cup, which spins and rises meanwhile. */
TEST cup_holds_particles_without_pressure(void) {
    isph_fluid *fluid = make_fluid(1000);
    const isph_boundary cup = make_cup_boundary(fluid, fixture_zero);
    const isphpbd_quat upright = {0, 0, 0, 1};
    ASSERT_EQ(ISPHPBD_OK, isph_fluid_set_solver_enabled(fluid, false));
    ASSERT_EQ(ISPHPBD_OK, isph_boundary_set_motion(fluid, cup, fixture_zero, upright, isphpbd_v3(0.6f, 1.0f, 0.0f),
                                                   isphpbd_v3(0.0f, 6.0f, 0.0f)));
    ASSERT_EQ_FMT(432, fill_cup(fluid), "%d");
    for (int i = 0; i < 60; i++) {
        (void)isph_fluid_step(fluid, 1.0f / 60.0f, NULL);
        if (i % 5 == 4) ASSERT_EQ_FMT(432, count_inside(fluid, cup), "%d");
    }
    isph_fluid_destroy(fluid);
    PASS();
}

/* Carried about, tilted and spun; the water stands low enough not to go over the rim. */
TEST moving_and_spinning_cup_holds_water(void) {
    isph_fluid *fluid = make_fluid(1000);
    const isph_boundary cup = make_cup_boundary(fluid, fixture_zero);
    const isphpbd_quat upright = {0, 0, 0, 1};
    ASSERT_EQ_FMT(432, fill_cup(fluid), "%d");
    (void)fixture_run(fluid, 60, 1.0f / 60.0f);
    (void)isph_boundary_set_motion(fluid, cup, fixture_zero, upright, fixture_zero, fixture_zero);
    for (int i = 0; i < 180; i++) {
        const float t = (float)i / 60.0f;
        isphpbd_vec3 at;
        isphpbd_quat q;
        (void)isph_boundary_pose(fluid, cup, &at, &q);
        ASSERT_EQ(ISPHPBD_OK, isph_boundary_set_motion(
                                  fluid, cup, at, q, isphpbd_v3(0.35f * sinf(2.0f * t), 0.3f * sinf(3.0f * t), 0.0f),
                                  isphpbd_v3(0.15f * cosf(2.0f * t), 4.0f, 0.1f * sinf(2.0f * t))));
        (void)isph_fluid_step(fluid, 1.0f / 60.0f, NULL);
        if (i % 10 == 9) ASSERT_EQ_FMT(432, count_inside(fluid, cup), "%d");
    }
    isph_fluid_destroy(fluid);
    PASS();
}

/* An empty cup stands in a tank, rim above the water: it stays empty. */
TEST cup_keeps_water_out(void) {
    isph_fluid *fluid = make_fluid(8000);
    const isph_material water = {1};
    const isph_boundary cup = make_cup_boundary(fluid, isphpbd_v3(0, 0.15f, 0));
    int added = 0;
    (void)fixture_room(fluid, isphpbd_v3(-0.6f, 0, -0.6f), isphpbd_v3(0.6f, 5, 0.6f));
    (void)isph_particles_add_box(fluid, water, isphpbd_v3(-0.6f, 0, -0.6f), isphpbd_v3(-0.3f, 0.4f, 0.6f), fixture_zero,
                                 &added);
    (void)isph_particles_add_box(fluid, water, isphpbd_v3(0.3f, 0, -0.6f), isphpbd_v3(0.6f, 0.4f, 0.6f), fixture_zero,
                                 &added);
    ASSERT_EQ_FMT(1152, added, "%d");
    ASSERT_EQ_FMT(0, count_inside(fluid, cup), "%d");
    for (int i = 0; i < 90; i++) {
        (void)isph_fluid_step(fluid, 1.0f / 60.0f, NULL);
        if (i % 15 == 14) ASSERT_EQ_FMT(0, count_inside(fluid, cup), "%d");
    }
    isph_fluid_destroy(fluid);
    PASS();
}

/* A jet of 25 m/s against a plate of zero thickness does not come through, with pressure or without. */
static greatest_test_res jet(bool pressure) {
    static const float corner[4][3] = {{-2, -2, 0}, {2, -2, 0}, {-2, 2, 0}, {2, 2, 0}};
    static const uint32_t index[6] = {0, 1, 2, 2, 1, 3};
    isph_fluid *fluid = make_fluid(1000);
    const isph_material water = {1};
    isph_boundary_desc d = isph_boundary_desc_default();
    isph_view view;
    d.shape = ISPH_SHAPE_MESH;
    d.mesh.positions = corner[0], d.mesh.stride_bytes = sizeof corner[0], d.mesh.vertex_count = 4;
    d.mesh.indices = index, d.mesh.index_count = 6;
    ASSERT(isph_boundary_create(fluid, &d, NULL).id != 0);
    ASSERT_EQ(ISPHPBD_OK, isph_fluid_set_gravity(fluid, fixture_zero));
    ASSERT_EQ(ISPHPBD_OK, isph_fluid_set_solver_enabled(fluid, pressure));
    ASSERT_EQ(ISPHPBD_OK, isph_particles_add_box(fluid, water, isphpbd_v3(-0.15f, -0.15f, 0.2f),
                                                 isphpbd_v3(0.15f, 0.15f, 1.0f), isphpbd_v3(0, 0, -25.0f), NULL));
    (void)fixture_run(fluid, 6, 0.01f);
    view = isph_particles(fluid);
    ASSERT_EQ_FMT(576, view.count, "%d");
    for (int i = 0; i < view.count; i++) ASSERT(view_position(&view, i)[2] > 0.0f);
    isph_fluid_destroy(fluid);
    PASS();
}

TEST jet_against_a_plate(void) {
    CHECK_CALL(jet(true));
    CHECK_CALL(jet(false));
    PASS();
}

/* Water caught between the floor and a plate that a host holds up: the plate falls in every step, as the fluid expects,
   and is put back. What it holds down stays about the floor. */
TEST held_plate_drives_nothing_through_the_floor(void) {
    static const float corner[4][3] = {{-2, 0, -2}, {2, 0, -2}, {-2, 0, 2}, {2, 0, 2}};
    static const uint32_t index[6] = {0, 2, 1, 1, 2, 3};
    isph_fluid *fluid = make_fluid(10);
    const isph_material water = {1};
    const float dx = 0.05f, under[3] = {0.01f, 0.05f * dx, 0.02f};
    isph_boundary_desc d = isph_boundary_desc_default();
    isph_boundary plate;
    isph_view view;
    ASSERT(isph_boundary_create(fluid, &d, NULL).id != 0); /* the floor */
    d.shape = ISPH_SHAPE_MESH;
    d.mesh.positions = corner[0], d.mesh.stride_bytes = sizeof corner[0], d.mesh.vertex_count = 4;
    d.mesh.indices = index, d.mesh.index_count = 6;
    d.position.y = 0.1f * dx;
    plate = isph_boundary_create(fluid, &d, NULL);
    ASSERT(plate.id != 0);
    ASSERT_EQ(ISPHPBD_OK, isph_particles_add(fluid, water, under, sizeof under, NULL, 0, 1, NULL));
    for (int i = 0; i < 60; i++) {
        ASSERT_EQ(ISPHPBD_OK, isph_boundary_set_motion(fluid, plate, d.position, d.rotation,
                                                       isphpbd_v3(0.0f, -9.81f / 60.0f, 0.0f), fixture_zero));
        (void)isph_fluid_step(fluid, 1.0f / 60.0f, NULL);
        view = isph_particles(fluid);
        ASSERT(view_position(&view, 0)[1] < d.position.y && view_position(&view, 0)[1] > -dx);
    }
    isph_fluid_destroy(fluid);
    PASS();
}

/* ---- [impulses] ------------------------------------------------------------------------------------------------- */

/* At rest a floor carries the weight, and walls balance each other. */
TEST floor_carries_the_weight(void) {
    isph_fluid_desc desc = isph_fluid_desc_default();
    isph_fluid *fluid;
    const isph_boundary room = {(1u << 16) | 1u};
    isphpbd_vec3 linear = fixture_zero, angular = fixture_zero;
    double weight;
    desc.particle_capacity = 2000;
    fluid = fixture_tank(&desc, 0.5f, 0.5f, 0.7f);
    weight = 1400 * 0.125 * 9.81;
    ASSERT_EQ_FMT(1400, isph_particles(fluid).count, "%d");
    (void)fixture_run(fluid, 90, 1.0f / 60.0f);
    ASSERT_EQ(ISPHPBD_OK, isph_boundary_take_impulse(fluid, room, &linear, &angular));
    ASSERT_IN_RANGE(-1.5 * weight, (double)linear.y, 0.03 * 1.5 * weight); /* from the first moment on */
    (void)fixture_run(fluid, 60, 1.0f / 60.0f);
    ASSERT_EQ(ISPHPBD_OK, isph_boundary_take_impulse(fluid, room, &linear, &angular));
    ASSERT_IN_RANGE(-weight, (double)linear.y, 0.03 * weight);
    ASSERT_IN_RANGE(0.0, (double)linear.x, 0.01 * weight);
    ASSERT_IN_RANGE(0.0, (double)linear.z, 0.01 * weight);
    ASSERT_EQ(ISPHPBD_OK, isph_boundary_take_impulse(fluid, room, &linear, &angular));
    ASSERT_EQ(0.0f, linear.y); /* reading clears */
    isph_fluid_destroy(fluid);
    PASS();
}

/* The torque about the position of the floor is the weight times the lever arm of the water. */
TEST floor_feels_the_torque(void) {
    isph_fluid *fluid = make_fluid(1000);
    isph_boundary_desc d = isph_boundary_desc_default();
    isph_boundary ground;
    isphpbd_vec3 linear, angular;
    const double weight = 512 * 0.125 * 9.81;
    d.position = isphpbd_v3(-1.0f, 0.0f, 0.5f);
    ground = isph_boundary_create(fluid, &d, NULL);
    for (int i = 0; i < 4; i++) { /* four walls around 0.4 x 0.4 */
        isph_boundary_desc wall = isph_boundary_desc_default();
        wall.rotation =
            i < 2 ? turned(0, 0, 1, i ? 1.5707963f : -1.5707963f) : turned(1, 0, 0, i == 2 ? 1.5707963f : -1.5707963f);
        wall.position = i < 2 ? isphpbd_v3(i ? 0.2f : -0.2f, 0, 0) : isphpbd_v3(0, 0, i == 2 ? -0.2f : 0.2f);
        ASSERT(isph_boundary_create(fluid, &wall, NULL).id != 0);
    }
    ASSERT_EQ_FMT(512, add_block(fluid, 0.0f, 0.2f, 0.0f, 0.2f), "%d");
    (void)fixture_run(fluid, 60, 1.0f / 60.0f);
    (void)isph_boundary_take_impulse(fluid, ground, NULL, NULL);
    (void)fixture_run(fluid, 60, 1.0f / 60.0f);
    ASSERT_EQ(ISPHPBD_OK, isph_boundary_take_impulse(fluid, ground, &linear, &angular));
    ASSERT_IN_RANGE(-weight, (double)linear.y, 0.03 * weight);
    ASSERT_IN_RANGE(-1.0 * weight, (double)angular.z, 0.04 * weight); /* x F_y = 1 m * -weight */
    ASSERT_IN_RANGE(-0.5 * weight, (double)angular.x, 0.04 * weight); /* -z F_y with z = -0.5 m */
    isph_fluid_destroy(fluid);
    PASS();
}

/* What the water loses in momentum, its container receives: a block thrown against the wall of a closed box. */
static greatest_test_res momentum_balance(float friction, float viscosity, isphpbd_vec3 velocity) {
    isph_fluid_desc desc = isph_fluid_desc_default();
    isph_material_desc md = isph_material_desc_default();
    isph_boundary_desc d = isph_boundary_desc_default();
    isph_fluid *fluid;
    isph_boundary room;
    isph_material material;
    fixture_figures before, after;
    isphpbd_vec3 linear;
    double mass, scale;
    int added = 0;
    desc.particle_capacity = 1000;
    desc.gravity = fixture_zero;
    fluid = isph_fluid_create(&desc, NULL);
    md.viscosity = viscosity;
    material = isph_material_create(fluid, &md, NULL);
    d.shape = ISPH_SHAPE_BOX, d.container = true, d.friction = friction;
    room = isph_boundary_create(fluid, &d, NULL);
    (void)isph_particles_add_box(fluid, material, isphpbd_v3(-0.5f, -0.5f, -0.2f), isphpbd_v3(0.0f, -0.1f, 0.2f),
                                 velocity, &added);
    mass = added * 0.125;
    before = fixture_measure(fluid);
    scale = mass * sqrt(before.momentum[0] * before.momentum[0] + before.momentum[1] * before.momentum[1]);
    (void)fixture_run(fluid, 60, 0.01f);
    after = fixture_measure(fluid);
    ASSERT_EQ(ISPHPBD_OK, isph_boundary_take_impulse(fluid, room, &linear, NULL));
    ASSERT_IN_RANGE(mass * (before.momentum[0] - after.momentum[0]), (double)linear.x, 0.05 * scale);
    ASSERT_IN_RANGE(mass * (before.momentum[1] - after.momentum[1]), (double)linear.y, 0.05 * scale);
    ASSERT_IN_RANGE(mass * (before.momentum[2] - after.momentum[2]), (double)linear.z, 0.05 * scale);
    isph_fluid_destroy(fluid);
    PASS();
}

TEST momentum_goes_into_the_wall(void) {
    CHECK_CALL(momentum_balance(0.0f, 0.001f, isphpbd_v3(2.0f, 0.0f, 0.0f)));
    PASS();
}
TEST momentum_goes_into_friction(void) {
    CHECK_CALL(momentum_balance(0.6f, 0.001f, isphpbd_v3(1.0f, 0.0f, 0.0f)));
    PASS();
}
TEST momentum_goes_into_viscous_drag(void) {
    CHECK_CALL(momentum_balance(0.0f, 20.0f, isphpbd_v3(1.0f, 0.0f, 0.0f)));
    PASS();
}

/* ---- [motion] --------------------------------------------------------------------------------------------------- */

/* A wall comes down a channel at 0.5 m/s: the water is ahead of it, has its speed, and stays whole. */
TEST piston_pushes_water(void) {
    isph_fluid *fluid = make_fluid(2000);
    const isph_material water = {1};
    isph_boundary_desc d = isph_boundary_desc_default();
    isph_boundary piston;
    isph_view view;
    ASSERT_EQ(ISPHPBD_OK, isph_fluid_set_gravity(fluid, fixture_zero));
    (void)fixture_room(fluid, isphpbd_v3(-1, 0, 0), isphpbd_v3(3, 0.4f, 0.4f));
    d.rotation = turned(0, 0, 1, -1.5707963f); /* its outside, +y, looks along +x */
    d.linear_velocity = isphpbd_v3(0.5f, 0, 0);
    piston = isph_boundary_create(fluid, &d, NULL);
    ASSERT_EQ(ISPHPBD_OK,
              isph_particles_add_box(fluid, water, fixture_zero, isphpbd_v3(0.8f, 0.4f, 0.4f), fixture_zero, NULL));
    for (int i = 0; i < 60; i++) {
        (void)isph_fluid_step(fluid, 1.0f / 60.0f, NULL);
        ASSERT(least_distance(fluid, piston, from_plane, 1.0) >= LEAST);
    }
    view = isph_particles(fluid);
    ASSERT_EQ_FMT(1024, view.count, "%d");
    ASSERT_IN_RANGE(0.9, fixture_measure(fluid).centre[0], 0.04);
    ASSERT_IN_RANGE(0.5, fixture_measure(fluid).momentum[0], 0.03);
    isph_fluid_destroy(fluid);
    PASS();
}

/* A ball driven through a block at 2 m/s parts it and takes some of it along. */
TEST ball_parts_water(void) {
    isph_fluid *fluid = make_fluid(2000);
    isph_boundary_desc d = desc_of(solids + 2);
    isph_boundary ball;
    ASSERT_EQ(ISPHPBD_OK, isph_fluid_set_gravity(fluid, fixture_zero));
    d.position = isphpbd_v3(-0.6f, 0.02f, 0.01f);
    d.linear_velocity = isphpbd_v3(2.0f, 0, 0);
    ball = isph_boundary_create(fluid, &d, NULL);
    ASSERT_EQ_FMT(1728, add_block(fluid, 0, 0, 0, 0.3f), "%d");
    for (int i = 0; i < 40; i++) {
        (void)isph_fluid_step(fluid, 1.0f / 60.0f, NULL);
        ASSERT(least_distance(fluid, ball, from_sphere, 1.0) >= LEAST);
    }
    ASSERT(fixture_measure(fluid).momentum[0] > 0.05);
    ASSERT(fixture_measure(fluid).max_speed < 15.0);
    isph_fluid_destroy(fluid);
    PASS();
}

/* Full friction stops a sliding block; without any it slides on. */
TEST friction_stops_sliding(void) {
    for (int rough = 0; rough < 2; rough++) {
        isph_fluid *fluid = make_fluid(1000);
        const isph_material water = {1};
        isph_boundary_desc d = isph_boundary_desc_default();
        d.friction = rough ? 1.0f : 0.0f;
        (void)isph_boundary_create(fluid, &d, NULL);
        (void)isph_particles_add_box(fluid, water, fixture_zero, isphpbd_v3(1.0f, 0.05f, 1.0f), isphpbd_v3(1.0f, 0, 0),
                                     NULL);
        (void)fixture_run(fluid, 30, 0.01f);
        if (rough) ASSERT_IN_RANGE(0.0, fixture_measure(fluid).momentum[0], 0.02);
        else ASSERT_IN_RANGE(1.0, fixture_measure(fluid).momentum[0], 0.05);
        isph_fluid_destroy(fluid);
    }
    PASS();
}

/* The pose after a second of motion is where the velocities lead. */
TEST poses_follow_velocities(void) {
    isph_fluid *fluid = make_fluid(100);
    isph_boundary_desc d = desc_of(solids + 1);
    isph_boundary box;
    isphpbd_vec3 at;
    isphpbd_quat q;
    ASSERT(add_block(fluid, 5, 5, 5, 0.05f) == 8);
    d.linear_velocity = isphpbd_v3(0.3f, -0.2f, 0.1f);
    d.angular_velocity = isphpbd_v3(0, 1.2f, 0);
    box = isph_boundary_create(fluid, &d, NULL);
    (void)fixture_run(fluid, 60, 1.0f / 60.0f);
    ASSERT_EQ(ISPHPBD_OK, isph_boundary_pose(fluid, box, &at, &q));
    ASSERT_IN_RANGE(0.3, (double)at.x, 1e-3);
    ASSERT_IN_RANGE(-0.2, (double)at.y, 1e-3);
    ASSERT_IN_RANGE(0.1, (double)at.z, 1e-3);
    ASSERT_IN_RANGE(sin(0.6), (double)q.y, 2e-3);
    ASSERT_IN_RANGE(cos(0.6), (double)q.w, 2e-3);
    ASSERT_IN_RANGE(0.0, (double)(q.x * q.x + q.z * q.z), 1e-6);
    isph_fluid_destroy(fluid);
    PASS();
}

SUITE(sph_boundaries) {
    RUN_TEST(drop_on_every_shape);
    RUN_TEST(drop_on_turned_shapes);
    RUN_TEST(start_inside_every_shape);
    RUN_TEST(containers);
    RUN_TEST(spinning_containers);
    RUN_TEST(start_outside_a_container);
    RUN_TEST(narrow_pipe);
    RUN_TEST(cup_holds_water);
    RUN_TEST(cup_holds_particles_without_pressure);
    RUN_TEST(moving_and_spinning_cup_holds_water);
    RUN_TEST(cup_keeps_water_out);
    RUN_TEST(jet_against_a_plate);
    RUN_TEST(held_plate_drives_nothing_through_the_floor);
    RUN_TEST(floor_carries_the_weight);
    RUN_TEST(floor_feels_the_torque);
    RUN_TEST(momentum_goes_into_the_wall);
    RUN_TEST(momentum_goes_into_friction);
    RUN_TEST(momentum_goes_into_viscous_drag);
    RUN_TEST(piston_pushes_water);
    RUN_TEST(ball_parts_water);
    RUN_TEST(friction_stops_sliding);
    RUN_TEST(poses_follow_velocities);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv) {
    GREATEST_MAIN_BEGIN();
    RUN_SUITE(sph_boundaries);
    GREATEST_MAIN_END();
}
