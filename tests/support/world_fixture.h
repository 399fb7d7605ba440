/* world_fixture.h - what the tests of isphpbd.h have in common: meshes, worlds made in one line, a host that moves its
   own rigid bodies, and figures measured on a world. Only the public interface is used. Include after isphpbd.h.
   SPDX-License-Identifier: MIT */
#ifndef WORLD_FIXTURE_H
#define WORLD_FIXTURE_H

#include "sph_fixture.h"

#define WORLD_STEP (1.0f / 60.0f)
static const double WORLD_G = 9.81, WORLD_PI = 3.14159265358979323846;

/* ---- [vectors] doubles, so that the measure is finer than what it measures -------------------------------------- */

typedef struct vec3d {
    double x, y, z;
} vec3d;

FIXTURE_FN vec3d vec3d_make(double x, double y, double z) {
    vec3d v;
    v.x = x, v.y = y, v.z = z;
    return v;
}
FIXTURE_FN vec3d vec3d_of(const float *p) { return vec3d_make((double)p[0], (double)p[1], (double)p[2]); }
FIXTURE_FN vec3d vec3d_from(isphpbd_vec3 v) { return vec3d_make((double)v.x, (double)v.y, (double)v.z); }
FIXTURE_FN isphpbd_vec3 vec3d_float(vec3d v) { return isphpbd_v3((float)v.x, (float)v.y, (float)v.z); }
FIXTURE_FN vec3d vec3d_add(vec3d a, vec3d b) { return vec3d_make(a.x + b.x, a.y + b.y, a.z + b.z); }
FIXTURE_FN vec3d vec3d_sub(vec3d a, vec3d b) { return vec3d_make(a.x - b.x, a.y - b.y, a.z - b.z); }
FIXTURE_FN vec3d vec3d_scale(vec3d a, double s) { return vec3d_make(a.x * s, a.y * s, a.z * s); }
FIXTURE_FN double vec3d_dot(vec3d a, vec3d b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
FIXTURE_FN double vec3d_length(vec3d a) { return sqrt(vec3d_dot(a, a)); }
FIXTURE_FN vec3d vec3d_cross(vec3d a, vec3d b) {
    return vec3d_make(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}

/* v turned by the unit quaternion q: v + 2 w (u x v) + 2 u x (u x v). */
FIXTURE_FN vec3d vec3d_turn(const double *q, vec3d v) {
    const vec3d u = vec3d_make(q[0], q[1], q[2]), t = vec3d_scale(vec3d_cross(u, v), 2.0);
    return vec3d_add(v, vec3d_add(vec3d_scale(t, q[3]), vec3d_cross(u, t)));
}
FIXTURE_FN vec3d vec3d_turn_back(const double *q, vec3d v) {
    const double back[4] = {-q[0], -q[1], -q[2], q[3]};
    return vec3d_turn(back, v);
}

/* q after turning about `axis` (its length is the angle, rad). */
FIXTURE_FN void quat_turn(double *q, vec3d axis) {
    const double angle = vec3d_length(axis), s = angle > 1e-12 ? sin(0.5 * angle) / angle : 0.5, c = cos(0.5 * angle);
    const double a[4] = {axis.x * s, axis.y * s, axis.z * s, c}, b[4] = {q[0], q[1], q[2], q[3]};
    double length = 0.0;
    q[0] = a[3] * b[0] + a[0] * b[3] + a[1] * b[2] - a[2] * b[1];
    q[1] = a[3] * b[1] - a[0] * b[2] + a[1] * b[3] + a[2] * b[0];
    q[2] = a[3] * b[2] + a[0] * b[1] - a[1] * b[0] + a[2] * b[3];
    q[3] = a[3] * b[3] - a[0] * b[0] - a[1] * b[1] - a[2] * b[2];
    for (int k = 0; k < 4; k++) length += q[k] * q[k];
    for (int k = 0; k < 4; k++) q[k] /= sqrt(length);
}
FIXTURE_FN isphpbd_quat quat_float(const double *q) {
    isphpbd_quat r;
    r.x = (float)q[0], r.y = (float)q[1], r.z = (float)q[2], r.w = (float)q[3];
    return r;
}
FIXTURE_FN void quat_double(isphpbd_quat q, double *out) {
    out[0] = (double)q.x, out[1] = (double)q.y, out[2] = (double)q.z, out[3] = (double)q.w;
}

/* ---- [meshes] to be given back with mesh_free -------------------------------------------------------------------- */

typedef struct fixture_mesh {
    float *xyz;
    uint32_t *triangles, *tetrahedra, *pins;
    int vertex_count, triangle_count, tetrahedron_count, pin_count;
} fixture_mesh;

FIXTURE_FN fixture_mesh mesh_make(int vertices, int triangles, int tetrahedra) {
    fixture_mesh m;
    memset(&m, 0, sizeof m);
    m.xyz = (float *)calloc((size_t)vertices + 1, 3 * sizeof(float));
    m.triangles = (uint32_t *)calloc((size_t)triangles + 1, 3 * sizeof(uint32_t));
    m.tetrahedra = (uint32_t *)calloc((size_t)tetrahedra + 1, 4 * sizeof(uint32_t));
    m.pins = (uint32_t *)calloc((size_t)vertices + 1, sizeof(uint32_t));
    if (!m.xyz || !m.triangles || !m.tetrahedra || !m.pins) fprintf(stderr, "out of memory\n"), exit(2);
    return m;
}
FIXTURE_FN void mesh_free(fixture_mesh *m) {
    free(m->xyz), free(m->triangles), free(m->tetrahedra), free(m->pins);
    memset(m, 0, sizeof *m);
}
FIXTURE_FN uint32_t mesh_vertex(fixture_mesh *m, double x, double y, double z) {
    float *p = m->xyz + 3 * (size_t)m->vertex_count;
    p[0] = (float)x, p[1] = (float)y, p[2] = (float)z;
    return (uint32_t)m->vertex_count++;
}
FIXTURE_FN void mesh_triangle(fixture_mesh *m, uint32_t a, uint32_t b, uint32_t c) {
    uint32_t *t = m->triangles + 3 * (size_t)m->triangle_count++;
    t[0] = a, t[1] = b, t[2] = c;
}

/* A level square sheet about the origin, its border pinned if wanted, sagging by `sag` (m) in the middle. */
FIXTURE_FN fixture_mesh mesh_sheet(int cells, double width, double sag, bool pinned) {
    const int n = cells + 1;
    fixture_mesh m = mesh_make(n * n, 2 * cells * cells, 0);
    m.vertex_count = n * n;
    m.triangle_count = ipbd_grid(n, n, (float)width, (float)width, m.xyz, m.triangles);
    for (int i = 0; i < n * n; i++) {
        const int column = i % n, row = i / n;
        const double u = 2.0 * column / cells - 1.0, v = 2.0 * row / cells - 1.0;
        const bool border = column == 0 || row == 0 || column == cells || row == cells;
        m.xyz[3 * i + 1] = (float)(border ? 0.0 : -sag * (1.0 - u * u) * (1.0 - v * v));
        if (pinned && border) m.pins[m.pin_count++] = (uint32_t)i;
    }
    return m;
}

/* A box of nx * ny * nz cells of six tetrahedra each, centred. */
FIXTURE_FN fixture_mesh mesh_block(int nx, int ny, int nz, double x, double y, double z) {
    fixture_mesh m = mesh_make((nx + 1) * (ny + 1) * (nz + 1), 0, 6 * nx * ny * nz);
    m.vertex_count = (nx + 1) * (ny + 1) * (nz + 1);
    m.tetrahedron_count = ipbd_block(nx, ny, nz, vec3d_float(vec3d_make(x, y, z)), m.xyz, m.tetrahedra);
    return m;
}

/* Lattice point (i, j) of a face of an icosahedron, moved onto the sphere; shared points are made again and welded by
   the library. */
FIXTURE_FN vec3d mesh_sphere_point(const vec3d *corner, int i, int j, int frequency, double radius) {
    const int k = frequency - i - j;
    vec3d p = vec3d_scale(corner[0], (double)k);
    p = vec3d_add(p, vec3d_add(vec3d_scale(corner[1], (double)i), vec3d_scale(corner[2], (double)j)));
    return vec3d_scale(p, radius / vec3d_length(p));
}

FIXTURE_FN uint32_t mesh_weld(fixture_mesh *m, vec3d p, double near_by) {
    for (int i = m->vertex_count - 1; i >= 0; i--) {
        if (vec3d_length(vec3d_sub(vec3d_of(m->xyz + 3 * i), p)) < near_by) return (uint32_t)i;
    }
    return mesh_vertex(m, p.x, p.y, p.z);
}

/* A geodesic sphere: each of the 20 faces of an icosahedron cut into frequency^2 triangles; 30 frequency^2 edges. */
FIXTURE_FN fixture_mesh mesh_sphere(double radius, int frequency) {
    static const signed char face[20][3] = {{0, 11, 5}, {0, 5, 1},  {0, 1, 7},   {0, 7, 10}, {0, 10, 11},
                                            {1, 5, 9},  {5, 11, 4}, {11, 10, 2}, {10, 7, 6}, {7, 1, 8},
                                            {3, 9, 4},  {3, 4, 2},  {3, 2, 6},   {3, 6, 8},  {3, 8, 9},
                                            {4, 9, 5},  {2, 4, 11}, {6, 2, 10},  {8, 6, 7},  {9, 8, 1}};
    const double g = 0.5 * (1.0 + sqrt(5.0)), tiny = 1e-3 * radius / frequency;
    const vec3d v[12] = {{-1, g, 0},  {1, g, 0},  {-1, -g, 0}, {1, -g, 0}, {0, -1, g},  {0, 1, g},
                         {0, -1, -g}, {0, 1, -g}, {g, 0, -1},  {g, 0, 1},  {-g, 0, -1}, {-g, 0, 1}};
    fixture_mesh m = mesh_make(10 * frequency * frequency + 2, 20 * frequency * frequency, 0);
    for (int f = 0; f < 20; f++) {
        const vec3d corner[3] = {v[face[f][0]], v[face[f][1]], v[face[f][2]]};
        for (int i = 0; i < frequency; i++) {
            for (int j = 0; i + j < frequency; j++) {
                uint32_t at[4];
                for (int k = 0; k < 4; k++) {
                    const int a = i + (k & 1), b = j + (k >> 1);
                    if (a + b > frequency) continue;
                    at[k] = mesh_weld(&m, mesh_sphere_point(corner, a, b, frequency, radius), tiny);
                }
                mesh_triangle(&m, at[0], at[1], at[2]);
                if (i + j + 2 <= frequency) mesh_triangle(&m, at[1], at[3], at[2]);
            }
        }
    }
    return m;
}

/* A closed can: a round wall along y with a bottom and a lid, `sides` triangles wide, about the origin. */
FIXTURE_FN fixture_mesh mesh_can(double radius, double height, int sides, int rings) {
    fixture_mesh m = mesh_make(sides * (rings + 1) + 2, 2 * sides * (rings + 1), 0);
    uint32_t bottom, top;
    for (int r = 0; r <= rings; r++) {
        for (int s = 0; s < sides; s++) {
            const double a = 2.0 * WORLD_PI * s / sides;
            (void)mesh_vertex(&m, radius * cos(a), height * ((double)r / rings - 0.5), radius * sin(a));
        }
    }
    bottom = mesh_vertex(&m, 0.0, -0.5 * height, 0.0), top = mesh_vertex(&m, 0.0, 0.5 * height, 0.0);
    for (int s = 0; s < sides; s++) {
        const uint32_t a = (uint32_t)s, b = (uint32_t)((s + 1) % sides), up = (uint32_t)(sides * rings);
        for (int r = 0; r < rings; r++) {
            const uint32_t low = (uint32_t)(r * sides), high = low + (uint32_t)sides;
            mesh_triangle(&m, low + a, high + a, low + b), mesh_triangle(&m, low + b, high + a, high + b);
        }
        mesh_triangle(&m, bottom, a, b), mesh_triangle(&m, top, up + b, up + a);
    }
    return m;
}

/* ---- [worlds] ---------------------------------------------------------------------------------------------------- */

/* Room for so many particles and for no soft body yet: world_count_soft adds it. */
FIXTURE_FN isphpbd_world_desc world_desc(int particles) {
    isphpbd_world_desc desc = isphpbd_world_desc_default();
    desc.capacity.fluid_particles = particles;
    desc.capacity.colliders = desc.capacity.bodies = 16;
    desc.capacity.mesh_triangles = 4096;
    desc.capacity.soft = ipbd_capacity_none();
    return desc;
}

FIXTURE_FN isphpbd_soft_desc world_soft_desc(const fixture_mesh *m, ipbd_preset preset) {
    isphpbd_soft_desc desc = isphpbd_soft_desc_default();
    desc.body = ipbd_body_desc_preset(preset);
    desc.body.mesh.positions = m->xyz, desc.body.mesh.vertex_count = m->vertex_count;
    if (m->tetrahedron_count > 0) {
        desc.body.mesh.tetrahedra = m->tetrahedra, desc.body.mesh.tetrahedron_count = m->tetrahedron_count;
    } else {
        desc.body.mesh.triangles = m->triangles, desc.body.mesh.triangle_count = m->triangle_count;
    }
    desc.body.pinned = m->pins, desc.body.pinned_count = m->pin_count;
    desc.body.can_sleep = false;
    return desc;
}

FIXTURE_FN void world_count_soft(isphpbd_world_desc *desc, const isphpbd_soft_desc *soft) {
    (void)ipbd_capacity_add(&desc->capacity.soft, &soft->body, NULL);
}

/* What cannot be made ends the program with a word: nothing that follows would mean anything. */
FIXTURE_FN void world_demand(bool good, const char *what, isphpbd_result why) {
    if (good) return;
    fprintf(stderr, "cannot %s: %s\n", what, isphpbd_result_text(why));
    exit(2);
}

FIXTURE_FN isphpbd_world *world_make(const isphpbd_world_desc *desc) {
    isphpbd_result why = ISPHPBD_OK;
    isphpbd_world *world = isphpbd_world_create(desc, &why);
    world_demand(world != NULL, "create a world", why);
    return world;
}

FIXTURE_FN isphpbd_fluid world_fluid(isphpbd_world *world, double density, double viscosity) {
    isphpbd_fluid_desc desc = isphpbd_fluid_desc_default();
    isphpbd_result why = ISPHPBD_OK;
    isphpbd_fluid fluid;
    desc.material.density = (float)density, desc.material.viscosity = (float)viscosity;
    fluid = isphpbd_fluid_create(world, &desc, &why);
    world_demand(fluid.id != 0, "create a fluid", why);
    return fluid;
}
FIXTURE_FN isphpbd_fluid world_water(isphpbd_world *world) { return world_fluid(world, 1000.0, 0.001); }

FIXTURE_FN int world_fill(isphpbd_world *world, isphpbd_fluid fluid, vec3d lo, vec3d hi, vec3d velocity) {
    int added = 0;
    const isphpbd_result why =
        isphpbd_fluid_add_box(world, fluid, vec3d_float(lo), vec3d_float(hi), vec3d_float(velocity), &added);
    world_demand(why == ISPHPBD_OK, "add a box of fluid", why);
    return added;
}

/* The same lattice without what lies in a ball: water round a sphere that is there already. */
FIXTURE_FN int world_fill_round(isphpbd_world *world, isphpbd_fluid fluid, vec3d lo, vec3d hi, double spacing,
                                vec3d centre, double radius) {
    const vec3d size = vec3d_sub(hi, lo);
    const int n[3] = {(int)(size.x / spacing + 0.001), (int)(size.y / spacing + 0.001),
                      (int)(size.z / spacing + 0.001)};
    float *xyz = (float *)malloc(sizeof(float) * 3 * ((size_t)(n[0] * n[1]) * (size_t)n[2] + 1));
    int count = 0;
    isphpbd_result why;
    for (int i = 0; xyz && i < n[0] * n[1] * n[2]; i++) {
        const vec3d cell = vec3d_make(i % n[0] + 0.5, i / n[0] % n[1] + 0.5, i / n[0] / n[1] + 0.5);
        const vec3d p = vec3d_add(lo, vec3d_scale(cell, spacing));
        if (vec3d_length(vec3d_sub(p, centre)) < radius) continue;
        xyz[3 * count] = (float)p.x, xyz[3 * count + 1] = (float)p.y, xyz[3 * count + 2] = (float)p.z, count++;
    }
    why = isphpbd_fluid_add(world, fluid, xyz, 12, NULL, 0, count, NULL);
    world_demand(why == ISPHPBD_OK, "add water round a ball", why);
    free(xyz);
    return count;
}

FIXTURE_FN isphpbd_collider world_collider(isphpbd_world *world, const isphpbd_collider_desc *desc) {
    isphpbd_result why = ISPHPBD_OK;
    const isphpbd_collider collider = isphpbd_collider_create(world, desc, &why);
    world_demand(collider.id != 0, "create a collider", why);
    return collider;
}

/* A hollow box from lo to hi. */
FIXTURE_FN isphpbd_collider world_room(isphpbd_world *world, vec3d lo, vec3d hi, float slip) {
    isphpbd_collider_desc desc = isphpbd_collider_desc_default();
    const vec3d half = vec3d_scale(vec3d_sub(hi, lo), 0.5);
    desc.shape = isphpbd_shape_box((float)half.x, (float)half.y, (float)half.z);
    desc.container = true;
    desc.pose.position = vec3d_float(vec3d_add(lo, half));
    desc.surface.slip = slip;
    return world_collider(world, &desc);
}
FIXTURE_FN isphpbd_collider world_floor(isphpbd_world *world, double height) {
    isphpbd_collider_desc desc = isphpbd_collider_desc_default();
    desc.pose.position.y = (float)height;
    return world_collider(world, &desc);
}

FIXTURE_FN isphpbd_soft world_soft(isphpbd_world *world, const isphpbd_soft_desc *desc) {
    isphpbd_result why = ISPHPBD_OK;
    const isphpbd_soft soft = isphpbd_soft_create(world, desc, &why);
    world_demand(soft.id != 0, "create a soft body", why);
    return soft;
}

FIXTURE_FN ipbd_view world_soft_view(isphpbd_world *world, isphpbd_soft soft) {
    return ipbd_body_view(isphpbd_world_softs(world), isphpbd_soft_body(world, soft));
}

/* Steps as far as `seconds` go; answers the flags of all steps together. */
FIXTURE_FN uint32_t world_run(isphpbd_world *world, double seconds) {
    uint32_t flags = 0;
    for (int i = (int)(seconds / (double)WORLD_STEP + 0.5); i > 0; i--) {
        flags |= isphpbd_world_step(world, WORLD_STEP).flags;
    }
    return flags;
}

/* ---- [host] A rigid body as an engine would keep it, in doubles. ------------------------------------------------- */

typedef struct host_body {
    isphpbd_body body;
    double mass;
    vec3d inertia;        /* kg m^2, about the axes of the body */
    vec3d x, v, l;        /* m, m/s, and the angular momentum about x, kg m^2/s */
    double q[4];          /* unit */
    vec3d impulse, twist; /* of the last step */
} host_body;

FIXTURE_FN vec3d host_spin(const host_body *h) {
    const vec3d l = vec3d_turn_back(h->q, h->l);
    return vec3d_turn(h->q, vec3d_make(l.x / h->inertia.x, l.y / h->inertia.y, l.z / h->inertia.z));
}
FIXTURE_FN isphpbd_motion host_motion(const host_body *h) {
    isphpbd_motion m = isphpbd_motion_at(vec3d_float(h->x));
    m.pose.rotation = quat_float(h->q);
    m.linear_velocity = vec3d_float(h->v), m.angular_velocity = vec3d_float(host_spin(h));
    return m;
}

FIXTURE_FN vec3d host_inertia_of(isphpbd_shape shape, double mass) {
    const double x = (double)shape.half_extents.x, y = (double)shape.half_extents.y, z = (double)shape.half_extents.z;
    const double ball = 0.4 * mass * (double)shape.radius * (double)shape.radius;
    if (shape.type == ISPHPBD_SHAPE_SPHERE) return vec3d_make(ball, ball, ball);
    return vec3d_make(mass / 3.0 * (y * y + z * z), mass / 3.0 * (x * x + z * z), mass / 3.0 * (x * x + y * y));
}

/* A box or a sphere; `desc` gives shape, mass, motion and surface. */
FIXTURE_FN host_body host_make(isphpbd_world *world, const isphpbd_body_desc *desc) {
    host_body h;
    isphpbd_result why = ISPHPBD_OK;
    vec3d spin;
    memset(&h, 0, sizeof h);
    h.mass = (double)desc->mass, h.inertia = host_inertia_of(desc->shape, h.mass);
    h.x = vec3d_from(desc->motion.pose.position), h.v = vec3d_from(desc->motion.linear_velocity);
    quat_double(desc->motion.pose.rotation, h.q);
    spin = vec3d_turn_back(h.q, vec3d_from(desc->motion.angular_velocity));
    h.l = vec3d_turn(h.q, vec3d_make(spin.x * h.inertia.x, spin.y * h.inertia.y, spin.z * h.inertia.z));
    h.body = isphpbd_body_create(world, desc, &why);
    world_demand(h.body.id != 0, "create a body", why);
    return h;
}

/* The body's state in; to be called before every step. */
FIXTURE_FN void host_put(isphpbd_world *world, const host_body *h) {
    const isphpbd_motion m = host_motion(h);
    const isphpbd_result why = isphpbd_body_put(world, h->body, &m);
    world_demand(why == ISPHPBD_OK, "put a body", why);
}

/* Impulses out, then what an engine does: gravity, and the pose by the new velocities. */
FIXTURE_FN void host_take(isphpbd_world *world, host_body *h, vec3d gravity, double seconds) {
    isphpbd_impulse got;
    const isphpbd_result why = isphpbd_body_take(world, h->body, &got);
    world_demand(why == ISPHPBD_OK, "take an impulse", why);
    h->impulse = vec3d_from(got.linear), h->twist = vec3d_from(got.angular);
    h->v = vec3d_add(h->v, vec3d_add(vec3d_scale(h->impulse, 1.0 / h->mass), vec3d_scale(gravity, seconds)));
    h->l = vec3d_add(h->l, h->twist);
    h->x = vec3d_add(h->x, vec3d_scale(h->v, seconds));
    quat_turn(h->q, vec3d_scale(host_spin(h), seconds));
}

/* One step of the world with its bodies; answers the flags. */
FIXTURE_FN uint32_t host_step(isphpbd_world *world, host_body *bodies, int count, double seconds, vec3d gravity) {
    isphpbd_step_info info;
    for (int i = 0; i < count; i++) host_put(world, &bodies[i]);
    info = isphpbd_world_step(world, (float)seconds);
    for (int i = 0; i < count; i++) host_take(world, &bodies[i], gravity, seconds);
    return info.flags;
}

/* The host's own contact with the tank: the middle of the body stays between lo and hi. */
FIXTURE_FN void host_keep_inside(host_body *h, vec3d lo, vec3d hi) {
    if (h->x.x < lo.x) h->x.x = lo.x, h->v.x = fmax(h->v.x, 0.0);
    if (h->x.y < lo.y) h->x.y = lo.y, h->v.y = fmax(h->v.y, 0.0);
    if (h->x.z < lo.z) h->x.z = lo.z, h->v.z = fmax(h->v.z, 0.0);
    if (h->x.x > hi.x) h->x.x = hi.x, h->v.x = fmin(h->v.x, 0.0);
    if (h->x.y > hi.y) h->x.y = hi.y, h->v.y = fmin(h->v.y, 0.0);
    if (h->x.z > hi.z) h->x.z = hi.z, h->v.z = fmin(h->v.z, 0.0);
}

/* ---- [figures] --------------------------------------------------------------------------------------------------- */

FIXTURE_FN const float *points_at(const float *first, size_t stride, int i) {
    return (const float *)(const void *)((const char *)first + stride * (size_t)i);
}
FIXTURE_FN vec3d points_position(const isphpbd_points *p, int i) {
    return vec3d_of(points_at(p->position, p->position_stride, i));
}
FIXTURE_FN vec3d points_velocity(const isphpbd_points *p, int i) {
    return vec3d_of(points_at(p->velocity, p->velocity_stride, i));
}

typedef struct world_momentum {
    vec3d linear, angular; /* kg m/s, and kg m^2/s about the origin */
} world_momentum;

FIXTURE_FN void momentum_add(world_momentum *m, double mass, vec3d x, vec3d v) {
    m->linear = vec3d_add(m->linear, vec3d_scale(v, mass));
    m->angular = vec3d_add(m->angular, vec3d_scale(vec3d_cross(x, v), mass));
}
FIXTURE_FN void momentum_add_fluid(world_momentum *m, const isphpbd_world *world, double particle_mass) {
    const isphpbd_points p = isphpbd_fluid_points(world);
    for (int i = 0; i < p.count; i++) momentum_add(m, particle_mass, points_position(&p, i), points_velocity(&p, i));
}
/* By the real masses of the vertices, not those that water may have lent them. */
FIXTURE_FN void momentum_add_soft(world_momentum *m, isphpbd_world *world, isphpbd_soft soft) {
    const ipbd_arrays a = ipbd_world_arrays(isphpbd_world_softs(world));
    int begin = 0, end = 0;
    (void)ipbd_body_range(isphpbd_world_softs(world), isphpbd_soft_body(world, soft), &begin, &end, NULL, NULL);
    for (int i = begin; i < end; i++) {
        const double w = (double)a.inverse_masses[i];
        if (w > 0.0) momentum_add(m, 1.0 / w, vec3d_of(a.positions + 4 * i), vec3d_of(a.velocities + 4 * i));
    }
}
FIXTURE_FN void momentum_add_body(world_momentum *m, const host_body *h) {
    momentum_add(m, h->mass, h->x, h->v);
    m->angular = vec3d_add(m->angular, h->l);
}

/* Numbers that are not finite, of particles and vertices. */
FIXTURE_FN int points_broken(const isphpbd_points *p) {
    int broken = 0;
    for (int i = 0; i < p->count; i++) {
        const vec3d x = points_position(p, i), v = points_velocity(p, i);
        broken += !(vec3d_dot(x, x) + vec3d_dot(v, v) < HUGE_VAL); /* isfinite() of mingw warns of doubles */
    }
    return broken;
}
FIXTURE_FN int world_broken(const isphpbd_world *world, const isphpbd_soft *softs, int soft_count) {
    isphpbd_points p = isphpbd_fluid_points(world);
    int broken = points_broken(&p);
    for (int i = 0; i < soft_count; i++) {
        p = isphpbd_soft_points(world, softs[i]);
        broken += points_broken(&p);
    }
    return broken;
}

FIXTURE_FN double points_top_speed(const isphpbd_points *p) {
    double top = 0.0;
    for (int i = 0; i < p->count; i++) top = fmax(top, vec3d_length(points_velocity(p, i)));
    return top;
}
FIXTURE_FN double points_rms_speed(const isphpbd_points *p) {
    double sum = 0.0;
    for (int i = 0; i < p->count; i++) sum += vec3d_dot(points_velocity(p, i), points_velocity(p, i));
    return p->count > 0 ? sqrt(sum / p->count) : 0.0;
}
FIXTURE_FN vec3d points_centre(const isphpbd_points *p) {
    vec3d sum = vec3d_make(0.0, 0.0, 0.0);
    for (int i = 0; i < p->count; i++) sum = vec3d_add(sum, points_position(p, i));
    return vec3d_scale(sum, 1.0 / (p->count > 0 ? p->count : 1));
}

/* ---- [images] ---------------------------------------------------------------------------------------------------- */

typedef struct world_image {
    unsigned char *bytes;
    size_t size;
} world_image;

FIXTURE_FN world_image world_take_image(const isphpbd_world *world) {
    world_image i;
    i.size = isphpbd_world_save(world, NULL, 0);
    i.bytes = (unsigned char *)malloc(i.size + 1);
    world_demand(i.bytes != NULL, "hold a snapshot", ISPHPBD_OUT_OF_MEMORY);
    (void)isphpbd_world_save(world, i.bytes, i.size);
    return i;
}

#endif /* WORLD_FIXTURE_H */
