/* world_leaks.h - counts water that passed through a surface, without anything of the library's collision code: every
   particle carries the parity of the surface's crossings along a ray to +y, in doubles, and that number may not change
   unless the particle went through the lid. To be called after every substep. Include after world_fixture.h.
   SPDX-License-Identifier: MIT

   A closed surface parts space in two, and a particle that keeps its parity stays on its side. A sheet in a level
   frame becomes closed with a flat lid over the frame; going through the lid is allowed and flips the parity, too, so
   parity + crossings of the lid stays what it was however the sheet bulges, as long as the sheet was not crossed. */
#ifndef WORLD_LEAKS_H
#define WORLD_LEAKS_H

#include "world_fixture.h"

typedef struct leak_record {
    uint32_t id;
    unsigned char used, side; /* side: parity + crossings of the lid, the number that must not change */
    unsigned char lid;        /* crossings of the lid so far, odd or even */
    vec3d last;
} leak_record;

typedef struct leak_table { /* open addressing; made anew at every substep */
    leak_record *records;
    uint32_t mask;
} leak_table;

typedef struct leak_counter {
    vec3d *xyz; /* the surface now */
    uint32_t *triangles;
    int vertex_count, triangle_count, vertex_room, triangle_room;
    bool has_lid;
    double lid_half, lid_y;    /* m, a square about the y axis */
    double low[2], cell;       /* bins over x and z */
    int columns, rows, *start; /* start[bin] .. start[bin + 1] in entry */
    int *entry, entry_room;
    leak_table now, before;
    int64_t leaked, looked, substeps, seen; /* seen: different particles */
    int most_inside;
} leak_counter;

enum { LEAK_BINS = 96 };

FIXTURE_FN void *leak_room(void *old, size_t count, size_t size) {
    void *bytes = realloc(old, (count + 1) * size);
    world_demand(bytes != NULL, "count leaks", ISPHPBD_OUT_OF_MEMORY);
    return bytes;
}

FIXTURE_FN void leak_open(leak_counter *c, int particles) {
    uint32_t size = 1024;
    memset(c, 0, sizeof *c);
    while (size < 3u * (uint32_t)particles) size *= 2;
    c->now.mask = c->before.mask = size - 1;
    c->now.records = (leak_record *)calloc(size, sizeof(leak_record));
    c->before.records = (leak_record *)calloc(size, sizeof(leak_record));
    c->start = (int *)calloc(LEAK_BINS * LEAK_BINS + 2, sizeof(int));
    world_demand(c->now.records && c->before.records && c->start, "count leaks", ISPHPBD_OUT_OF_MEMORY);
}
FIXTURE_FN void leak_close(leak_counter *c) {
    free(c->xyz), free(c->triangles), free(c->start), free(c->entry);
    free(c->now.records), free(c->before.records);
    memset(c, 0, sizeof *c);
}

FIXTURE_FN leak_record *leak_find(const leak_table *t, uint32_t id) {
    uint32_t at = (id * 2654435761u) & t->mask;
    while (t->records[at].used && t->records[at].id != id) at = (at + 1) & t->mask;
    return &t->records[at];
}

/* ---- [surface] --------------------------------------------------------------------------------------------------- */

FIXTURE_FN void leak_set_size(leak_counter *c, int vertices, int triangles) {
    if (vertices > c->vertex_room) {
        c->xyz = (vec3d *)leak_room(c->xyz, (size_t)vertices, sizeof(vec3d)), c->vertex_room = vertices;
    }
    if (triangles > c->triangle_room) {
        c->triangles = (uint32_t *)leak_room(c->triangles, 3 * (size_t)triangles, sizeof(uint32_t));
        c->triangle_room = triangles;
    }
    c->vertex_count = vertices, c->triangle_count = triangles;
}

FIXTURE_FN void leak_set_soft(leak_counter *c, isphpbd_world *world, isphpbd_soft soft) {
    const ipbd_view v = world_soft_view(world, soft);
    leak_set_size(c, v.vertex_count, v.triangle_count);
    for (int i = 0; i < v.vertex_count; i++) c->xyz[i] = vec3d_of(points_at(v.positions, v.stride_bytes, i));
    memcpy(c->triangles, v.triangles, 3 * sizeof(uint32_t) * (size_t)v.triangle_count);
}

FIXTURE_FN void leak_set_mesh(leak_counter *c, const fixture_mesh *m, isphpbd_pose pose) {
    double q[4];
    quat_double(pose.rotation, q);
    leak_set_size(c, m->vertex_count, m->triangle_count);
    for (int i = 0; i < m->vertex_count; i++) {
        c->xyz[i] = vec3d_add(vec3d_from(pose.position), vec3d_turn(q, vec3d_of(m->xyz + 3 * i)));
    }
    memcpy(c->triangles, m->triangles, 3 * sizeof(uint32_t) * (size_t)m->triangle_count);
}

FIXTURE_FN int leak_bin(const leak_counter *c, int axis, double value) {
    const double at = (value - c->low[axis]) / c->cell;
    const int most = axis ? c->rows - 1 : c->columns - 1;
    return at <= 0.0 ? 0 : at >= most ? most : (int)at;
}

typedef struct leak_span {
    int low[2], high[2];
} leak_span;

FIXTURE_FN leak_span leak_span_of(const leak_counter *c, int triangle) {
    leak_span s;
    for (int axis = 0; axis < 2; axis++) {
        double low = 1e300, high = -1e300;
        for (int k = 0; k < 3; k++) {
            const vec3d p = c->xyz[c->triangles[3 * triangle + k]];
            low = fmin(low, axis ? p.z : p.x), high = fmax(high, axis ? p.z : p.x);
        }
        s.low[axis] = leak_bin(c, axis, low), s.high[axis] = leak_bin(c, axis, high);
    }
    return s;
}

FIXTURE_FN void leak_measure_bins(leak_counter *c) {
    double high[2] = {-1e300, -1e300};
    c->low[0] = c->low[1] = 1e300;
    for (int i = 0; i < c->vertex_count; i++) {
        const double p[2] = {c->xyz[i].x, c->xyz[i].z};
        for (int k = 0; k < 2; k++) c->low[k] = fmin(c->low[k], p[k]), high[k] = fmax(high[k], p[k]);
    }
    c->cell = fmax(fmax(high[0] - c->low[0], high[1] - c->low[1]) / LEAK_BINS, 1e-9);
    c->columns = c->rows = LEAK_BINS;
}

/* Counting sort of the triangles into the bins that their shadows touch. */
FIXTURE_FN void leak_sort(leak_counter *c) {
    const int bins = LEAK_BINS * LEAK_BINS;
    leak_measure_bins(c);
    memset(c->start, 0, sizeof(int) * (size_t)(bins + 2));
    for (int pass = 0; pass < 2; pass++) {
        for (int t = 0; t < c->triangle_count; t++) {
            const leak_span s = leak_span_of(c, t);
            for (int r = s.low[1]; r <= s.high[1]; r++) {
                for (int b = r * LEAK_BINS + s.low[0]; b <= r * LEAK_BINS + s.high[0]; b++) {
                    if (pass == 0) c->start[b + 2]++;
                    else c->entry[c->start[b + 1]++] = t;
                }
            }
        }
        if (pass == 1) break;
        for (int b = 0; b < bins; b++) c->start[b + 2] += c->start[b + 1];
        if (c->start[bins + 1] > c->entry_room) {
            c->entry_room = 2 * c->start[bins + 1];
            c->entry = (int *)leak_room(c->entry, (size_t)c->entry_room, sizeof(int));
        }
    }
}

/* ---- [parity] ---------------------------------------------------------------------------------------------------- */

/* Which side of the edge from vertex i to j the point lies on, seen from above: +-1, never 0. The edge is always
   computed in the same direction, and a point on it counts as moved by (e, e^2) in x and z: so the triangles that share
   an edge or a corner agree, and no ray slips between them. */
FIXTURE_FN double leak_edge(const leak_counter *c, uint32_t i, uint32_t j, vec3d q, double *area) {
    const vec3d a = c->xyz[i < j ? i : j], b = c->xyz[i < j ? j : i];
    const double dx = b.x - a.x, dz = b.z - a.z, s = dx * (q.z - a.z) - dz * (q.x - a.x), sign = i < j ? 1.0 : -1.0;
    const double side = s != 0.0 ? s : dz != 0.0 ? -dz : dx;
    *area = sign * s;
    return side > 0.0 ? sign : -sign;
}

/* Whether the ray from q to +y meets the triangle. */
FIXTURE_FN bool leak_crosses(const leak_counter *c, int triangle, vec3d q) {
    const uint32_t *t = c->triangles + 3 * triangle;
    double w[3], sum, side[3];
    for (int k = 0; k < 3; k++) side[k] = leak_edge(c, t[(k + 1) % 3], t[(k + 2) % 3], q, &w[k]);
    if (side[0] != side[1] || side[1] != side[2]) return false;
    sum = w[0] + w[1] + w[2];
    if (sum == 0.0) return false;
    return (w[0] * c->xyz[t[0]].y + w[1] * c->xyz[t[1]].y + w[2] * c->xyz[t[2]].y) / sum > q.y;
}

FIXTURE_FN bool leak_under_lid(const leak_counter *c, double x, double z) {
    return x >= -c->lid_half && x < c->lid_half && z >= -c->lid_half && z < c->lid_half;
}

FIXTURE_FN unsigned char leak_parity(const leak_counter *c, vec3d q) {
    const double x = (q.x - c->low[0]) / c->cell, z = (q.z - c->low[1]) / c->cell;
    unsigned char odd = c->has_lid && q.y < c->lid_y && leak_under_lid(c, q.x, q.z) ? 1 : 0;
    if (x < 0.0 || z < 0.0 || x > LEAK_BINS || z > LEAK_BINS) return odd;
    {
        const int b = leak_bin(c, 1, q.z) * LEAK_BINS + leak_bin(c, 0, q.x);
        for (int k = c->start[b]; k < c->start[b + 1]; k++) odd ^= (unsigned char)leak_crosses(c, c->entry[k], q);
    }
    return odd;
}

FIXTURE_FN bool leak_through_lid(const leak_counter *c, vec3d from, vec3d to) {
    const double a = from.y - c->lid_y, b = to.y - c->lid_y, share = a != b ? a / (a - b) : 0.0;
    if (!c->has_lid || (a >= 0.0) == (b >= 0.0)) return false;
    return leak_under_lid(c, from.x + share * (to.x - from.x), from.z + share * (to.z - from.z));
}

/* Looks at every particle; the surface must have been set for this moment. */
FIXTURE_FN void leak_look(leak_counter *c, const isphpbd_points *p) {
    const leak_table old = c->before;
    int inside = 0;
    c->before = c->now, c->now = old;
    memset(c->now.records, 0, sizeof(leak_record) * ((size_t)c->now.mask + 1));
    leak_sort(c);
    for (int i = 0; i < p->count; i++) {
        const vec3d x = points_position(p, i);
        const leak_record *was = leak_find(&c->before, p->id[i]);
        leak_record *is = leak_find(&c->now, p->id[i]);
        const unsigned char odd = leak_parity(c, x);
        is->used = 1, is->id = p->id[i], is->last = x;
        if (was->used) is->lid = was->lid ^ (unsigned char)leak_through_lid(c, was->last, x);
        is->side = odd ^ is->lid;
        if (was->used && is->side != was->side) c->leaked++;
        if (!was->used) c->seen++;
        inside += odd;
    }
    c->looked += p->count, c->substeps++;
    if (inside > c->most_inside) c->most_inside = inside;
}

/* ---- [watching] a soft body or a collider of a world, at every substep ------------------------------------------- */

typedef struct leak_watch {
    leak_counter counter;
    isphpbd_world *world;
    isphpbd_soft soft;         /* either this one */
    isphpbd_collider collider; /* or this one, whose mesh is: */
    const fixture_mesh *mesh;
} leak_watch;

FIXTURE_FN void leak_on_substep(const isphpbd_world *world, float seconds, void *user) {
    leak_watch *w = (leak_watch *)user;
    const isphpbd_points p = isphpbd_fluid_points(world);
    isphpbd_pose pose;
    (void)seconds;
    if (!w->world) return;
    if (w->mesh) {
        if (isphpbd_collider_pose(world, w->collider, &pose) != ISPHPBD_OK) return;
        leak_set_mesh(&w->counter, w->mesh, pose);
    } else {
        leak_set_soft(&w->counter, w->world, w->soft);
    }
    leak_look(&w->counter, &p);
}

#endif /* WORLD_LEAKS_H */
