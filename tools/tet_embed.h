/* tet_embed.h - every vertex of the input surface gets its place in a tetrahedron. Private to tools/.
   SPDX-License-Identifier: MIT

   Inside vertices live in the cell around them; those outside the coarse mesh in the nearest cell, with one or more
   negative weights. Weights are found from the rounded float coordinates of the asset, so that they give the vertex
   back to float precision. */
#ifndef TET_EMBED_H
#define TET_EMBED_H

#include "tet_geometry.h"

typedef struct tet_embedding {
    int *cell;
    double (*weights)[4];
    double farthest; /* largest distance of a vertex from its cell, 0 if all are inside */
    tet_vec farthest_at;
    int outside; /* how many are outside their cell */
} tet_embedding;

/* Barycentric coordinates of p in a cell; all in [0, 1] inside. */
static inline void tet_barycentric(const tet_mesh *m, int cell, tet_vec p, double w[4]) {
    const int *v = m->cells[cell].v;
    tet_vec a = m->points[v[0]], b = m->points[v[1]], c = m->points[v[2]], d = m->points[v[3]];
    double six = tet_volume6(a, b, c, d);
    w[1] = tet_volume6(a, p, c, d) / six;
    w[2] = tet_volume6(a, b, p, d) / six;
    w[3] = tet_volume6(a, b, c, p) / six;
    w[0] = 1.0 - w[1] - w[2] - w[3];
}

static inline double tet_smallest(const double w[4]) { return fmin(fmin(w[0], w[1]), fmin(w[2], w[3])); }

static inline tet_vec tet_nearest_on_segment(tet_vec a, tet_vec b, tet_vec p) {
    tet_vec d = tet_sub(b, a);
    double length2 = tet_dot(d, d), t = length2 > 0.0 ? tet_dot(tet_sub(p, a), d) / length2 : 0.0;
    return tet_mix(a, b, t < 0.0 ? 0.0 : t > 1.0 ? 1.0 : t);
}

/* Distance of p to a triangle: to its plane where the foot is inside, else to the nearest edge. */
static inline double tet_triangle_distance(tet_vec a, tet_vec b, tet_vec c, tet_vec p) {
    tet_vec n = tet_cross(tet_sub(b, a), tet_sub(c, a));
    double twice = tet_length(n), best;
    if (twice > 0.0 && tet_dot(tet_cross(tet_sub(b, a), tet_sub(p, a)), n) >= 0.0 &&
        tet_dot(tet_cross(tet_sub(c, b), tet_sub(p, b)), n) >= 0.0 &&
        tet_dot(tet_cross(tet_sub(a, c), tet_sub(p, c)), n) >= 0.0) {
        return fabs(tet_dot(tet_sub(p, a), n)) / twice;
    }
    best = tet_distance(tet_nearest_on_segment(a, b, p), p);
    best = fmin(best, tet_distance(tet_nearest_on_segment(b, c, p), p));
    return fmin(best, tet_distance(tet_nearest_on_segment(c, a, p), p));
}

static inline double tet_cell_distance(const tet_mesh *m, int cell, tet_vec p) {
    const int *v = m->cells[cell].v;
    tet_vec a = m->points[v[0]], b = m->points[v[1]], c = m->points[v[2]], d = m->points[v[3]];
    double best = tet_triangle_distance(a, b, c, p);
    best = fmin(best, tet_triangle_distance(a, b, d, p));
    best = fmin(best, tet_triangle_distance(a, c, d, p));
    return fmin(best, tet_triangle_distance(b, c, d, p));
}

typedef struct tet_nearest {
    const tet_mesh *mesh;
    tet_vec point;
    int cell; /* best so far, -1: none */
    double distance, smallest, weights[4];
} tet_nearest;

static inline bool tet_nearest_visit(void *ctx, int cell) {
    tet_nearest *n = (tet_nearest *)ctx;
    double w[4], smallest, distance;
    bool better;
    tet_barycentric(n->mesh, cell, n->point, w);
    smallest = tet_smallest(w);
    distance = smallest >= 0.0 ? 0.0 : tet_cell_distance(n->mesh, cell, n->point);
    better = n->cell < 0 || distance < n->distance * (1.0 - 1e-9) ||
             (distance <= n->distance * (1.0 + 1e-9) && smallest > n->smallest);
    if (better) {
        n->cell = cell;
        n->distance = distance;
        n->smallest = smallest;
        memcpy(n->weights, w, sizeof w);
    }
    return true;
}

/* Grows the search until what was found is nearer than what could have been missed. */
static inline void tet_find_nearest(const tet_bvh *bvh, tet_nearest *n, double reach) {
    n->cell = -1;
    n->distance = HUGE_VAL;
    n->smallest = -HUGE_VAL;
    for (; n->cell < 0 || n->distance > reach; reach *= 2.0) {
        tet_box query;
        query.lo = query.hi = n->point;
        query = tet_box_grown(query, reach);
        tet_bvh_query(bvh, &query, tet_nearest_visit, n);
        if (n->cell >= 0 && n->distance <= reach) break;
    }
}

static inline tet_box *tet_cell_boxes(tet_tool *tool, const tet_mesh *m) {
    tet_box *boxes = (tet_box *)tet_alloc(tool, (size_t)m->cell_count + 1, sizeof *boxes);
    int i, k;
    for (i = 0; i < m->cell_count; ++i) {
        boxes[i] = tet_box_empty();
        for (k = 0; k < 4; ++k) tet_box_add(&boxes[i], m->points[m->cells[i].v[k]]);
    }
    return boxes;
}

/* element_size: the usual edge, a scale for the search. */
static inline tet_embedding tet_embed(tet_tool *tool, const tet_mesh *m, const tet_surface *s, double element_size) {
    tet_box *boxes = tet_cell_boxes(tool, m);
    tet_bvh bvh = tet_bvh_build(tool, boxes, m->cell_count);
    tet_embedding e;
    tet_nearest n;
    int i;
    memset(&e, 0, sizeof e);
    e.cell = (int *)tet_alloc(tool, (size_t)s->point_count + 1, sizeof *e.cell);
    e.weights = (double(*)[4])tet_alloc(tool, (size_t)s->point_count + 1, sizeof *e.weights);
    n.mesh = m;
    for (i = 0; i < s->point_count; ++i) {
        n.point = s->points[i];
        tet_find_nearest(&bvh, &n, 0.02 * element_size);
        e.cell[i] = n.cell;
        memcpy(e.weights[i], n.weights, sizeof n.weights);
        e.outside += n.distance > 0.0;
        if (n.distance > e.farthest) e.farthest = n.distance, e.farthest_at = n.point;
        tet_progress(tool, "embedding the surface", i, s->point_count);
    }
    tet_bvh_free(tool, &bvh);
    tet_free(tool, boxes);
    return e;
}

#endif /* TET_EMBED_H */
