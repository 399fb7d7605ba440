/* tet_geometry.h - search and predicates: a box tree, triangle crossings, winding numbers. Private to tools/.
   SPDX-License-Identifier: MIT */
#ifndef TET_GEOMETRY_H
#define TET_GEOMETRY_H

#include "tet_base.h"

/* ---- [bvh] items sorted along a Morton curve, four to a leaf, boxes in a heap ------------------------------------ */

enum { TET_BVH_LEAF = 4 };

typedef struct tet_bvh {
    tet_box *nodes; /* node i has children 2i and 2i + 1; leaves begin at leaf_count */
    int *items;
    const tet_box *boxes; /* of the items, by item number */
    int leaf_count, item_count;
} tet_bvh;

typedef struct tet_morton {
    uint64_t key;
    int item;
} tet_morton;

static inline uint64_t tet_spread_bits(double unit) { /* 21 bits, two zeros between any two */
    uint64_t v = (uint64_t)(unit < 0.0 ? 0.0 : unit > 1.0 ? 2097151.0 : unit * 2097151.0);
    v = (v | v << 32) & UINT64_C(0x1f00000000ffff);
    v = (v | v << 16) & UINT64_C(0x1f0000ff0000ff);
    v = (v | v << 8) & UINT64_C(0x100f00f00f00f00f);
    v = (v | v << 4) & UINT64_C(0x10c30c30c30c30c3);
    return (v | v << 2) & UINT64_C(0x1249249249249249);
}

static inline int tet_morton_compare(const void *a, const void *b) {
    const tet_morton *l = (const tet_morton *)a, *r = (const tet_morton *)b;
    if (l->key != r->key) return l->key < r->key ? -1 : 1;
    return l->item - r->item;
}

static inline void tet_bvh_sort(tet_tool *tool, tet_bvh *bvh) {
    tet_morton *order = (tet_morton *)tet_alloc(tool, (size_t)bvh->item_count, sizeof *order);
    tet_box bounds = tet_box_empty();
    tet_vec size;
    int i;
    for (i = 0; i < bvh->item_count; ++i)
        tet_box_add(&bounds, bvh->boxes[i].lo), tet_box_add(&bounds, bvh->boxes[i].hi);
    size = tet_sub(bounds.hi, bounds.lo);
    for (i = 0; i < bvh->item_count; ++i) {
        tet_vec at = tet_sub(tet_scale(tet_add(bvh->boxes[i].lo, bvh->boxes[i].hi), 0.5), bounds.lo);
        order[i].item = i;
        order[i].key = tet_spread_bits(size.x > 0.0 ? at.x / size.x : 0.0) |
                       tet_spread_bits(size.y > 0.0 ? at.y / size.y : 0.0) << 1 |
                       tet_spread_bits(size.z > 0.0 ? at.z / size.z : 0.0) << 2;
    }
    qsort(order, (size_t)bvh->item_count, sizeof *order, tet_morton_compare);
    for (i = 0; i < bvh->item_count; ++i) bvh->items[i] = order[i].item;
    tet_free(tool, order);
}

/* Keeps the pointer to the boxes. */
static inline tet_bvh tet_bvh_build(tet_tool *tool, const tet_box *boxes, int count) {
    tet_bvh bvh;
    int i, k;
    bvh.boxes = boxes;
    bvh.item_count = count;
    for (bvh.leaf_count = 1; bvh.leaf_count < (count + TET_BVH_LEAF - 1) / TET_BVH_LEAF;) bvh.leaf_count *= 2;
    bvh.nodes = (tet_box *)tet_alloc(tool, (size_t)bvh.leaf_count * 2, sizeof *bvh.nodes);
    bvh.items = (int *)tet_alloc(tool, (size_t)count + 1, sizeof *bvh.items);
    tet_bvh_sort(tool, &bvh);
    for (i = 0; i < bvh.leaf_count; ++i) {
        tet_box box = tet_box_empty();
        for (k = i * TET_BVH_LEAF; k < (i + 1) * TET_BVH_LEAF && k < count; ++k) {
            tet_box_add(&box, boxes[bvh.items[k]].lo), tet_box_add(&box, boxes[bvh.items[k]].hi);
        }
        bvh.nodes[bvh.leaf_count + i] = box;
    }
    for (i = bvh.leaf_count - 1; i >= 1; --i) {
        bvh.nodes[i] = tet_box_union(&bvh.nodes[2 * i], &bvh.nodes[2 * i + 1]);
    }
    return bvh;
}

static inline void tet_bvh_free(tet_tool *tool, tet_bvh *bvh) {
    tet_free(tool, bvh->nodes);
    tet_free(tool, bvh->items);
}

/* Calls visit for every item whose box overlaps the query; visit answers false to stop. The order is always the
   same. */
static inline void tet_bvh_query(const tet_bvh *bvh, const tet_box *query, bool (*visit)(void *ctx, int item),
                                 void *ctx) {
    int stack[64], top = 0, i;
    stack[top++] = 1;
    while (top > 0) {
        int node = stack[--top];
        if (!tet_box_overlap(&bvh->nodes[node], query)) continue;
        if (node < bvh->leaf_count) {
            stack[top++] = 2 * node + 1;
            stack[top++] = 2 * node;
            continue;
        }
        for (i = (node - bvh->leaf_count) * TET_BVH_LEAF; i < (node - bvh->leaf_count + 1) * TET_BVH_LEAF; ++i) {
            if (i < bvh->item_count && tet_box_overlap(&bvh->boxes[bvh->items[i]], query)) {
                if (!visit(ctx, bvh->items[i])) return;
            }
        }
    }
}

static inline tet_box tet_triangle_box(const tet_surface *s, int triangle) {
    tet_box box = tet_box_empty();
    int k;
    for (k = 0; k < 3; ++k) tet_box_add(&box, s->points[s->triangles[triangle].v[k]]);
    return box;
}

static inline tet_box *tet_triangle_boxes(tet_tool *tool, const tet_surface *s) {
    tet_box *boxes = (tet_box *)tet_alloc(tool, (size_t)s->triangle_count + 1, sizeof *boxes);
    int i;
    for (i = 0; i < s->triangle_count; ++i) boxes[i] = tet_triangle_box(s, i);
    return boxes;
}

/* ---- [orient] ---------------------------------------------------------------------------------------------------- */

/* Sign of tet_volume6, or 0 where rounding could have decided it (static filter of Shewchuk 1997, bound A). */
static inline int tet_orient(tet_vec a, tet_vec b, tet_vec c, tet_vec d) {
    tet_vec u = tet_sub(b, a), v = tet_sub(c, a), w = tet_sub(d, a);
    double det = tet_volume6(a, b, c, d), magnitude;
    magnitude = (fabs(u.y * v.z) + fabs(u.z * v.y)) * fabs(w.x) + (fabs(u.z * v.x) + fabs(u.x * v.z)) * fabs(w.y) +
                (fabs(u.x * v.y) + fabs(u.y * v.x)) * fabs(w.z);
    magnitude *= 8.0 * 1.1102230246251565e-16;
    return det > magnitude ? 1 : det < -magnitude ? -1 : 0;
}

/* ---- [crossing] of a line along x with the surface --------------------------------------------------------------- */

/* Side of the point (y, z) of the line seen along x through points i and j. The edge is always evaluated from its
   smaller number to its larger one, and zero counts as left: the two triangles that share it never disagree, so that
   a line through an edge or a corner is counted exactly once. */
static inline double tet_side(const tet_surface *s, int i, int j, double y, double z) {
    tet_vec a = s->points[i < j ? i : j], b = s->points[i < j ? j : i];
    double cross = (b.y - a.y) * (z - a.z) - (b.z - a.z) * (y - a.y);
    if (cross == 0.0) cross = 1e-300;
    return i < j ? cross : -cross;
}

typedef struct tet_crossing {
    double x;
    int direction; /* +1 where the line leaves the body going to +x, -1 where it enters */
} tet_crossing;

typedef struct tet_line {
    tet_tool *tool;
    const tet_surface *surface;
    const int *component; /* of every triangle, or NULL */
    int skipped;          /* with component: the one that does not count */
    double y, z;
    tet_crossing *crossings; /* sorted by x after tet_line_cast */
    int count, capacity;
} tet_line;

static inline bool tet_line_visit(void *ctx, int triangle) {
    tet_line *line = (tet_line *)ctx;
    const tet_surface *s = line->surface;
    const int *v = s->triangles[triangle].v;
    double ab = tet_side(s, v[0], v[1], line->y, line->z), bc = tet_side(s, v[1], v[2], line->y, line->z);
    double ca = tet_side(s, v[2], v[0], line->y, line->z), sum = ab + bc + ca;
    tet_crossing hit;
    tet_box box;
    if (line->component && line->component[triangle] == line->skipped) return true;
    if ((ab > 0.0) != (bc > 0.0) || (bc > 0.0) != (ca > 0.0)) return true;
    box = tet_triangle_box(s, triangle);
    hit.direction = ab > 0.0 ? 1 : -1;
    hit.x = (s->points[v[0]].x * bc + s->points[v[1]].x * ca + s->points[v[2]].x * ab) / sum;
    if (!(hit.x >= box.lo.x)) hit.x = box.lo.x; /* also where sum is too small to divide by */
    if (hit.x > box.hi.x) hit.x = box.hi.x;
    line->crossings =
        (tet_crossing *)tet_reserve(line->tool, line->crossings, &line->capacity, line->count + 1, sizeof hit);
    line->crossings[line->count++] = hit;
    return true;
}

static inline int tet_crossing_compare(const void *a, const void *b) {
    const tet_crossing *l = (const tet_crossing *)a, *r = (const tet_crossing *)b;
    if (l->x != r->x) return l->x < r->x ? -1 : 1;
    return r->direction - l->direction;
}

/* All crossings of the line (any x, y, z). On a closed surface the directions cancel; where rounding at a corner broke
   that, the line is moved by a hair and cast again. False: not closed. */
static inline bool tet_line_cast(tet_line *line, const tet_bvh *bvh, double y, double z, double hair) {
    int attempt, i, sum;
    for (attempt = 0; attempt < 16; ++attempt) {
        tet_box query;
        line->count = 0;
        line->y = y + hair * attempt;
        line->z = z + hair * 0.7 * attempt;
        query.lo = tet_v(-HUGE_VAL, line->y, line->z);
        query.hi = tet_v(HUGE_VAL, line->y, line->z);
        tet_bvh_query(bvh, &query, tet_line_visit, line);
        for (i = 0, sum = 0; i < line->count; ++i) sum += line->crossings[i].direction;
        if (sum == 0) {
            if (line->count > 1)
                qsort(line->crossings, (size_t)line->count, sizeof *line->crossings, tet_crossing_compare);
            return true;
        }
    }
    return false;
}

/* Winding number at x: how often the surface surrounds the point. */
static inline int tet_line_winding(const tet_line *line, double x) {
    int i, sum = 0;
    for (i = 0; i < line->count; ++i) {
        if (line->crossings[i].x > x) sum += line->crossings[i].direction;
    }
    return sum;
}

/* ---- [segment] where a short segment meets the surface ----------------------------------------------------------- */

typedef struct tet_segment {
    const tet_surface *surface;
    tet_vec from, to;
    double slack; /* how far outside a triangle, in its own barycentric units, still counts as a hit */
    double best;  /* smallest parameter in [0, 1] so far; 2: none */
} tet_segment;

static inline bool tet_segment_visit(void *ctx, int triangle) {
    tet_segment *seg = (tet_segment *)ctx;
    const int *v = seg->surface->triangles[triangle].v;
    tet_vec a = seg->surface->points[v[0]], b = seg->surface->points[v[1]], c = seg->surface->points[v[2]];
    tet_vec e1 = tet_sub(b, a), e2 = tet_sub(c, a), d = tet_sub(seg->to, seg->from), o = tet_sub(seg->from, a);
    tet_vec p = tet_cross(d, e2), q = tet_cross(o, e1);
    double det = tet_dot(e1, p), u, w, t;
    if (det == 0.0) return true;
    u = tet_dot(o, p) / det, w = tet_dot(d, q) / det, t = tet_dot(e2, q) / det;
    if (u < -seg->slack || w < -seg->slack || u + w > 1.0 + seg->slack) return true;
    if (t < -seg->slack || t > 1.0 + seg->slack) return true;
    t = t < 0.0 ? 0.0 : t > 1.0 ? 1.0 : t;
    if (t < seg->best) seg->best = t;
    return true;
}

/* The first place, as a fraction of the way, where the segment meets the surface. The caller knows that there is one
   (its ends differ in side); slack grows until rounding cannot hide it. */
static inline double tet_segment_hit(const tet_surface *s, const tet_bvh *bvh, tet_vec from, tet_vec to) {
    static const double slacks[] = {0.0, 1e-9, 1e-6, 1e-3};
    tet_segment seg;
    tet_box query = tet_box_empty();
    int i;
    seg.surface = s, seg.from = from, seg.to = to, seg.best = 2.0;
    tet_box_add(&query, from), tet_box_add(&query, to);
    for (i = 0; i < 4 && seg.best > 1.0; ++i) {
        tet_box grown = tet_box_grown(query, slacks[i] * tet_distance(from, to));
        seg.slack = slacks[i];
        tet_bvh_query(bvh, &grown, tet_segment_visit, &seg);
    }
    return seg.best > 1.0 ? 0.5 : seg.best;
}

#endif /* TET_GEOMETRY_H */
