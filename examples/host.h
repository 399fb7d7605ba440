/* host.h - a small rigid-body engine: the host that owns the bodies which float in the water of the scenes. SPDX: MIT

   It knows nothing of water. Spheres, boxes, convex meshes and open shells fall, touch planes and each other, slide
   with friction, bounce and stack. Contacts are found by sample points of one body in the solid of the other, and
   resolved by sequential impulses. A program that couples it to a world does, for every step:

       isphpbd_body_put(world, handle, &host->bodies[i].motion);     // state in
       isphpbd_world_step(world, seconds);
       isphpbd_body_take(world, handle, &impulse);                   // impulses out
       host_push(host, i, &impulse);
       host_step(host, seconds);                                     // gravity, contacts, motion

   Define EXAMPLES_IMPLEMENTATION in one file. */
#ifndef EXAMPLES_HOST_H
#define EXAMPLES_HOST_H

#include "isphpbd.h"

#include "shapes.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { HOST_BODIES = 32, HOST_PLANES = 16, HOST_CONTACTS = 1024 };

typedef enum host_shape {
    HOST_SPHERE = 1,
    HOST_BOX,
    HOST_CONVEX, /* a convex mesh: its vertices touch, its faces are touched */
    HOST_SHELL   /* its vertices touch planes and solids; nothing is inside it */
} host_shape;

typedef struct host_body {
    host_shape shape;
    float radius; /* m, sphere; else of the ball round the centre that holds all points */
    vec3 half;    /* m, box */
    float mass;   /* kg */
    vec3 inertia; /* kg m^2 about the local axes, which must be the principal ones */
    float friction, restitution, gravity_scale;
    isphpbd_motion motion;
    vec3 *points;  /* local, on the surface */
    vec3 *normals; /* convex: outward, one per face */
    float *offset; /* convex: normal . x of each face */
    int point_count, face_count;
} host_body;

typedef struct host_plane {
    vec3 normal; /* unit: solid where normal . x < offset */
    float offset;
} host_plane;

typedef struct host_contact {
    int a, b;             /* bodies; b < 0: a plane */
    vec3 normal;          /* from b to a */
    vec3 arm_a, arm_b;    /* from the centres of mass */
    float gap;            /* m, negative: they overlap */
    float wanted;         /* m/s along the normal after the contact */
    float friction, push; /* push: normal impulse so far, N s */
    vec3 drag;            /* tangential impulse so far */
} host_contact;

typedef struct host {
    vec3 gravity;
    host_body bodies[HOST_BODIES];
    host_plane planes[HOST_PLANES];
    host_contact contacts[HOST_CONTACTS];
    int body_count, plane_count, contact_count;
} host;

host *host_create(vec3 gravity); /* NULL: out of memory */
void host_destroy(host *h);      /* NULL is fine */
bool host_add_plane(host *h, vec3 normal, float offset);
/* The number of the body, or -1: no room, or out of memory. Inertia of the filled shape; friction 0.4, no bounce. */
int host_add_sphere(host *h, float radius, float mass, vec3 position);
int host_add_box(host *h, vec3 half, float mass, vec3 position);
/* A closed convex mesh about its centre of mass, or a shell; both are copied. Inertia as mesh_inertia() says. */
int host_add_mesh(host *h, host_shape shape, const mesh *m, float mass, vec3 position);
void host_push(host *h, int body, const isphpbd_impulse *impulse);
void host_step(host *h, float seconds);
/* About the origin, of unit mass spread evenly over the inside of a closed mesh, or over the skin. */
vec3 mesh_inertia(const mesh *m, bool filled);

#ifdef __cplusplus
}
#endif
#endif /* EXAMPLES_HOST_H */

#if defined(EXAMPLES_IMPLEMENTATION) && !defined(EXAMPLES_HOST_IMPLEMENTED)
#define EXAMPLES_HOST_IMPLEMENTED

#include <stdlib.h>
#include <string.h>

#define HOST_MARGIN 0.02f   /* m: contacts are made before they touch */
#define HOST_SLOP   0.0005f /* m: overlap that is left alone, so that resting contacts stay */

host *host_create(vec3 gravity) {
    host *h = (host *)calloc(1, sizeof *h);
    if (h) h->gravity = gravity;
    return h;
}

void host_destroy(host *h) {
    int i;
    if (!h) return;
    for (i = 0; i < h->body_count; ++i)
        free(h->bodies[i].points), free(h->bodies[i].normals), free(h->bodies[i].offset);
    free(h);
}

bool host_add_plane(host *h, vec3 normal, float offset) {
    if (h->plane_count == HOST_PLANES) return false;
    h->planes[h->plane_count].normal = normal, h->planes[h->plane_count++].offset = offset;
    return true;
}

/* Takes over the points. */
static int host_add(host *h, host_shape shape, vec3 *points, int count, float mass, vec3 inertia, vec3 position) {
    host_body *b = &h->bodies[h->body_count];
    int i;
    if (!points || h->body_count == HOST_BODIES) return free(points), -1;
    memset(b, 0, sizeof *b);
    b->shape = shape, b->mass = mass, b->inertia = v3_scale(inertia, mass);
    b->friction = 0.4f, b->gravity_scale = 1.0f;
    b->motion = isphpbd_motion_at(position);
    b->points = points, b->point_count = count;
    for (i = 0; i < count; ++i) b->radius = fmaxf(b->radius, v3_length(points[i]));
    return h->body_count++;
}

int host_add_sphere(host *h, float radius, float mass, vec3 position) {
    int body =
        host_add(h, HOST_SPHERE, (vec3 *)calloc(1, sizeof(vec3)), 1, mass, v3_all(0.4f * radius * radius), position);
    if (body >= 0) h->bodies[body].radius = radius;
    return body;
}

int host_add_box(host *h, vec3 half, float mass, vec3 position) { /* corners, middles of edges and of faces */
    vec3 *points = (vec3 *)malloc(26 * sizeof(vec3)), square = v3_mul(half, half);
    int x, y, z, n = 0, body;
    for (z = -1; z <= 1; ++z)
        for (y = -1; y <= 1; ++y)
            for (x = -1; x <= 1; ++x)
                if (points && (x || y || z)) points[n++] = v3_mul(half, v3((float)x, (float)y, (float)z));
    body = host_add(h, HOST_BOX, points, n, mass,
                    v3_scale(v3(square.y + square.z, square.z + square.x, square.x + square.y), 1.0f / 3.0f), position);
    if (body >= 0) h->bodies[body].half = half;
    return body;
}

static bool host_take_faces(host_body *b, const mesh *m) {
    int i;
    b->normals = (vec3 *)malloc((size_t)m->triangle_count * sizeof(vec3));
    b->offset = (float *)malloc((size_t)m->triangle_count * sizeof(float));
    if (!b->normals || !b->offset) return false;
    for (i = 0; i < m->triangle_count; ++i) {
        const uint32_t *t = m->indices + 3 * i;
        vec3 a = m->vertices[t[0]], n = v3_cross(v3_sub(m->vertices[t[1]], a), v3_sub(m->vertices[t[2]], a));
        b->normals[i] = v3_unit(n), b->offset[i] = v3_dot(b->normals[i], a);
    }
    b->face_count = m->triangle_count;
    return true;
}

int host_add_mesh(host *h, host_shape shape, const mesh *m, float mass, vec3 position) {
    vec3 *points = m->failed ? NULL : (vec3 *)malloc((size_t)m->vertex_count * sizeof(vec3));
    int body;
    if (points) memcpy(points, m->vertices, (size_t)m->vertex_count * sizeof(vec3));
    body = host_add(h, shape, points, m->vertex_count, mass, mesh_inertia(m, shape == HOST_CONVEX), position);
    if (body < 0 || shape != HOST_CONVEX || host_take_faces(&h->bodies[body], m)) return body;
    free(h->bodies[body].points), free(h->bodies[body].normals), free(h->bodies[body].offset);
    --h->body_count;
    return -1;
}

/* Sums over the tetrahedra (or triangles) between the origin and each triangle: the second moment of a simplex with
   corners a, b, c (and the origin) is mass / 20 (or / 12) times (sum of squares + square of the sum). */
vec3 mesh_inertia(const mesh *m, bool filled) {
    double total = 0.0, second[3] = {0, 0, 0};
    int i, k;
    for (i = 0; i < m->triangle_count; ++i) {
        const uint32_t *t = m->indices + 3 * i;
        vec3 a = m->vertices[t[0]], b = m->vertices[t[1]], c = m->vertices[t[2]];
        vec3 area = v3_cross(v3_sub(b, a), v3_sub(c, a));
        double weight = filled ? (double)v3_dot(a, area) / 6.0 : 0.5 * (double)v3_length(area);
        double x[3], y[3], z[3];
        x[0] = (double)a.x, x[1] = (double)b.x, x[2] = (double)c.x;
        y[0] = (double)a.y, y[1] = (double)b.y, y[2] = (double)c.y;
        z[0] = (double)a.z, z[1] = (double)b.z, z[2] = (double)c.z;
        total += weight;
        for (k = 0; k < 3; ++k) {
            const double *u = k == 0 ? x : k == 1 ? y : z;
            double sum = u[0] + u[1] + u[2], squares = u[0] * u[0] + u[1] * u[1] + u[2] * u[2];
            second[k] += weight * (squares + sum * sum) / (filled ? 20.0 : 12.0);
        }
    }
    return v3((float)((second[1] + second[2]) / total), (float)((second[2] + second[0]) / total),
              (float)((second[0] + second[1]) / total));
}

/* ---- motion ------------------------------------------------------------------------------------------------------ */

static vec3 host_rotate(isphpbd_quat q, vec3 v) {
    vec3 u = v3(q.x, q.y, q.z), t = v3_scale(v3_cross(u, v), 2.0f);
    return v3_add(v3_madd(v, t, q.w), v3_cross(u, t));
}

static vec3 host_unrotate(isphpbd_quat q, vec3 v) {
    q.x = -q.x, q.y = -q.y, q.z = -q.z;
    return host_rotate(q, v);
}

static vec3 host_turn_rate(const host_body *b, vec3 angular) { /* rad/s that an angular impulse causes */
    vec3 local = host_unrotate(b->motion.pose.rotation, angular);
    return host_rotate(b->motion.pose.rotation,
                       v3(local.x / b->inertia.x, local.y / b->inertia.y, local.z / b->inertia.z));
}

void host_push(host *h, int body, const isphpbd_impulse *impulse) {
    host_body *b = &h->bodies[body];
    b->motion.linear_velocity = v3_madd(b->motion.linear_velocity, impulse->linear, 1.0f / b->mass);
    b->motion.angular_velocity = v3_add(b->motion.angular_velocity, host_turn_rate(b, impulse->angular));
}

static float *host_axis(vec3 *v, int axis) { return axis == 0 ? &v->x : axis == 1 ? &v->y : &v->z; }

/* Turns a body about one of its own axes, by as much as its momentum (of the world) about that axis does in a time. */
static void host_turn(host_body *b, vec3 momentum, int axis, float time) {
    isphpbd_quat *q = &b->motion.pose.rotation, old = *q;
    vec3 local = host_unrotate(old, momentum), turn = v3(0, 0, 0);
    float half = 0.5f * time * *host_axis(&local, axis) / *host_axis(&b->inertia, axis), c = cosf(half);
    *host_axis(&turn, axis) = sinf(half);
    q->x = c * old.x + turn.x * old.w + old.y * turn.z - old.z * turn.y;
    q->y = c * old.y + turn.y * old.w + old.z * turn.x - old.x * turn.z;
    q->z = c * old.z + turn.z * old.w + old.x * turn.y - old.y * turn.x;
    q->w = c * old.w - turn.x * old.x - turn.y * old.y - turn.z * old.z;
}

/* A body that spins freely keeps its angular momentum, and its energy: turns about single axes are exact, and in this
   order, the same from both ends, their errors do not add up (Dullweber et al. 1997, "Symplectic splitting methods for
   rigid body molecular dynamics"). What is spun about its short axis stays upright. */
static void host_spin(host_body *b, float dt) {
    static const int order[5] = {0, 2, 1, 2, 0};
    const int parts = 1 + (int)fminf(8.0f * v3_length(b->motion.angular_velocity) * dt, 255.0f); /* 1/8 rad each */
    isphpbd_quat *q = &b->motion.pose.rotation;
    vec3 momentum = host_rotate(*q, v3_mul(host_unrotate(*q, b->motion.angular_velocity), b->inertia));
    float length;
    int i, k;
    for (i = 0; i < parts; ++i)
        for (k = 0; k < 5; ++k) host_turn(b, momentum, order[k], (k == 2 ? 1.0f : 0.5f) * dt / (float)parts);
    length = sqrtf(q->x * q->x + q->y * q->y + q->z * q->z + q->w * q->w);
    q->x /= length, q->y /= length, q->z /= length, q->w /= length;
    b->motion.angular_velocity = host_turn_rate(b, momentum);
}

static void host_move(host_body *b, float dt) {
    host_spin(b, dt);
    b->motion.pose.position = v3_madd(b->motion.pose.position, b->motion.linear_velocity, dt);
}

/* ---- contacts ---------------------------------------------------------------------------------------------------- */

static vec3 host_velocity(const host_body *b, vec3 arm) {
    return v3_add(b->motion.linear_velocity, v3_cross(b->motion.angular_velocity, arm));
}

static vec3 host_approach(const host *h, const host_contact *c) {
    vec3 v = host_velocity(&h->bodies[c->a], c->arm_a);
    return c->b < 0 ? v : v3_sub(v, host_velocity(&h->bodies[c->b], c->arm_b));
}

static void host_add_contact(host *h, int a, int b, vec3 point, vec3 normal, float gap, float dt) {
    host_contact *c = &h->contacts[h->contact_count];
    const host_body *one = &h->bodies[a], *other = b < 0 ? one : &h->bodies[b];
    float speed, bounce = fmaxf(one->restitution, other->restitution);
    if (h->contact_count == HOST_CONTACTS) return;
    ++h->contact_count;
    memset(c, 0, sizeof *c);
    c->a = a, c->b = b, c->normal = normal, c->gap = gap;
    c->friction = sqrtf(one->friction * other->friction);
    c->arm_a = v3_sub(point, one->motion.pose.position), c->arm_b = v3_sub(point, other->motion.pose.position);
    speed = v3_dot(host_approach(h, c), normal);
    /* not farther than the gap in this step; out of an overlap at leisure; back where it bounces */
    c->wanted = gap > 0.0f ? -gap / dt : fminf(0.2f * fmaxf(-gap - HOST_SLOP, 0.0f) / dt, 1.0f);
    if (speed < -0.5f && speed * dt < -gap) c->wanted = fmaxf(c->wanted, -bounce * speed);
}

/* Signed distance of a local point from the solid, and its direction. */
static float host_distance(const host_body *b, vec3 p, vec3 *normal) {
    float best = -1e30f;
    int i;
    if (b->shape == HOST_SPHERE) {
        *normal = v3_unit(p);
        return v3_length(p) - b->radius;
    }
    if (b->shape == HOST_BOX) {
        vec3 q = v3(fabsf(p.x) - b->half.x, fabsf(p.y) - b->half.y, fabsf(p.z) - b->half.z);
        if (q.x >= q.y && q.x >= q.z) *normal = v3(p.x < 0.0f ? -1.0f : 1.0f, 0, 0);
        else if (q.y >= q.z) *normal = v3(0, p.y < 0.0f ? -1.0f : 1.0f, 0);
        else *normal = v3(0, 0, p.z < 0.0f ? -1.0f : 1.0f);
        return fmaxf(q.x, fmaxf(q.y, q.z));
    }
    for (i = 0; i < b->face_count; ++i) {
        float d = v3_dot(b->normals[i], p) - b->offset[i];
        if (d > best) best = d, *normal = b->normals[i];
    }
    return b->face_count ? best : 1e30f;
}

static float host_round(const host_body *b) { return b->shape == HOST_SPHERE ? b->radius : 0.0f; }

static void host_meet_planes(host *h, int a, float dt) {
    const host_body *b = &h->bodies[a];
    int i, k;
    for (i = 0; i < h->plane_count; ++i) {
        const host_plane *plane = &h->planes[i];
        if (v3_dot(plane->normal, b->motion.pose.position) - plane->offset > b->radius + HOST_MARGIN) continue;
        for (k = 0; k < b->point_count; ++k) {
            vec3 p = v3_add(b->motion.pose.position, host_rotate(b->motion.pose.rotation, b->points[k]));
            float gap = v3_dot(plane->normal, p) - plane->offset - host_round(b);
            if (gap < HOST_MARGIN)
                host_add_contact(h, a, -1, v3_madd(p, plane->normal, -host_round(b)), plane->normal, gap, dt);
        }
    }
}

/* Points of a in the solid of b. */
static void host_meet_body(host *h, int a, int b, float dt) {
    const host_body *one = &h->bodies[a], *other = &h->bodies[b];
    const isphpbd_pose *frame = &other->motion.pose;
    int k;
    for (k = 0; k < one->point_count; ++k) {
        vec3 p = v3_add(one->motion.pose.position, host_rotate(one->motion.pose.rotation, one->points[k])), n;
        float gap =
            host_distance(other, host_unrotate(frame->rotation, v3_sub(p, frame->position)), &n) - host_round(one);
        if (gap >= HOST_MARGIN) continue;
        n = host_rotate(frame->rotation, n);
        host_add_contact(h, a, b, v3_madd(p, n, -host_round(one) - 0.5f * gap), n, gap, dt);
    }
}

static void host_find_contacts(host *h, float dt) {
    int a, b;
    h->contact_count = 0;
    for (a = 0; a < h->body_count; ++a) host_meet_planes(h, a, dt);
    for (a = 0; a < h->body_count; ++a) {
        for (b = a + 1; b < h->body_count; ++b) {
            const host_body *one = &h->bodies[a], *other = &h->bodies[b];
            vec3 d = v3_sub(one->motion.pose.position, other->motion.pose.position);
            if (v3_length(d) > one->radius + other->radius + HOST_MARGIN) continue;
            if (one->shape == HOST_SPHERE && other->shape == HOST_SPHERE) {
                host_meet_body(h, a, b, dt);
                continue;
            }
            host_meet_body(h, a, b, dt);
            host_meet_body(h, b, a, dt);
        }
    }
}

static void host_apply(host *h, const host_contact *c, vec3 impulse) {
    isphpbd_impulse push;
    push.linear = impulse, push.angular = v3_cross(c->arm_a, impulse);
    host_push(h, c->a, &push);
    if (c->b < 0) return;
    push.linear = v3_scale(impulse, -1.0f), push.angular = v3_cross(c->arm_b, push.linear);
    host_push(h, c->b, &push);
}

/* m/s along direction that an impulse of 1 N s along it causes between the two. */
static float host_yield(const host *h, const host_contact *c, vec3 direction) {
    const host_body *a = &h->bodies[c->a];
    float yield =
        1.0f / a->mass + v3_dot(v3_cross(host_turn_rate(a, v3_cross(c->arm_a, direction)), c->arm_a), direction);
    if (c->b >= 0) {
        const host_body *b = &h->bodies[c->b];
        yield +=
            1.0f / b->mass + v3_dot(v3_cross(host_turn_rate(b, v3_cross(c->arm_b, direction)), c->arm_b), direction);
    }
    return yield;
}

static void host_solve_contact(host *h, host_contact *c) {
    vec3 v = host_approach(h, c), slide, drag;
    float push = fmaxf(c->push + (c->wanted - v3_dot(v, c->normal)) / host_yield(h, c, c->normal), 0.0f), length;
    host_apply(h, c, v3_scale(c->normal, push - c->push));
    c->push = push;
    v = host_approach(h, c);
    slide = v3_madd(v, c->normal, -v3_dot(v, c->normal));
    length = v3_length(slide);
    if (length < 1e-6f) return;
    drag = v3_madd(c->drag, slide, -1.0f / host_yield(h, c, v3_scale(slide, 1.0f / length)));
    length = v3_length(drag);
    if (length > c->friction * c->push) drag = v3_scale(drag, c->friction * c->push / length);
    host_apply(h, c, v3_sub(drag, c->drag));
    c->drag = drag;
}

void host_step(host *h, float seconds) {
    enum { SWEEPS = 24 };
    int i, sweep;
    for (i = 0; i < h->body_count; ++i)
        h->bodies[i].motion.linear_velocity =
            v3_madd(h->bodies[i].motion.linear_velocity, h->gravity, h->bodies[i].gravity_scale * seconds);
    host_find_contacts(h, seconds);
    for (sweep = 0; sweep < SWEEPS; ++sweep)
        for (i = 0; i < h->contact_count; ++i) host_solve_contact(h, &h->contacts[i]);
    for (i = 0; i < h->body_count; ++i) host_move(&h->bodies[i], seconds);
}

#endif /* EXAMPLES_IMPLEMENTATION */
