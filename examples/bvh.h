/* bvh.h - rays against triangles and spheres, for the renderer of the examples. SPDX: MIT

   A binary tree of boxes over all primitives, split where the surface-area estimate is least (16 bins per axis).
   Build: O(n log n); a ray: O(log n) in practice. Define EXAMPLES_IMPLEMENTATION in one file. */
#ifndef EXAMPLES_BVH_H
#define EXAMPLES_BVH_H

#include "vec.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct bvh_primitive {
    vec3 a, e1, e2; /* triangle: corner and two edges; sphere: centre, e1.x = radius */
    int owner;      /* >= 0: triangle of mesh `owner`; -1: sphere */
    int index;      /* of the triangle in its mesh, or of the sphere */
} bvh_primitive;

typedef struct bvh_node {
    vec3 lo, hi;
    int first; /* leaf: first primitive; else: index of the left child, the right one follows it */
    int count; /* primitives of a leaf, 0: inner node */
} bvh_node;

typedef struct bvh {
    bvh_primitive *primitives;
    int count, capacity;
    bvh_node *nodes;
    int node_count;
} bvh;

typedef struct bvh_hit {
    float t, u, v;
    int primitive;
} bvh_hit; /* primitive < 0: nothing hit */

bool bvh_reserve(bvh *tree, int capacity); /* room for that many primitives and their nodes, emptied */
void bvh_add_triangle(bvh *tree, vec3 a, vec3 b, vec3 c, int owner, int index);
void bvh_add_sphere(bvh *tree, vec3 centre, float radius, int index);
void bvh_build(bvh *tree); /* reorders the primitives */
bvh_hit bvh_nearest(const bvh *tree, vec3 origin, vec3 direction, float t_min, float t_max);
/* What a ray is left of by a tree of soft balls: each takes away shade[index] in its middle, less towards its rim. */
float bvh_veil(const bvh *tree, const float *shade, vec3 origin, vec3 direction, float t_min, float t_max);
void bvh_free(bvh *tree);

#ifdef __cplusplus
}
#endif
#endif /* EXAMPLES_BVH_H */

#if defined(EXAMPLES_IMPLEMENTATION) && !defined(EXAMPLES_BVH_IMPLEMENTED)
#define EXAMPLES_BVH_IMPLEMENTED

#include <stdlib.h>
#include <string.h>

enum { BVH_BINS = 16, BVH_LEAF = 4, BVH_STACK = 96 };

void bvh_free(bvh *tree) {
    free(tree->primitives);
    free(tree->nodes);
    memset(tree, 0, sizeof *tree);
}

bool bvh_reserve(bvh *tree, int capacity) {
    size_t n = capacity > 0 ? (size_t)capacity : 1;
    memset(tree, 0, sizeof *tree);
    tree->primitives = (bvh_primitive *)malloc(n * sizeof *tree->primitives);
    tree->nodes = (bvh_node *)malloc(2 * n * sizeof *tree->nodes);
    tree->capacity = capacity;
    if (tree->primitives && tree->nodes) return true;
    bvh_free(tree);
    return false;
}

void bvh_add_triangle(bvh *tree, vec3 a, vec3 b, vec3 c, int owner, int index) {
    bvh_primitive *p = &tree->primitives[tree->count++];
    p->a = a, p->e1 = v3_sub(b, a), p->e2 = v3_sub(c, a), p->owner = owner, p->index = index;
}

void bvh_add_sphere(bvh *tree, vec3 centre, float radius, int index) {
    bvh_primitive *p = &tree->primitives[tree->count++];
    p->a = centre, p->e1 = v3(radius, 0, 0), p->e2 = v3(0, 0, 0), p->owner = -1, p->index = index;
}

static void bvh_bounds(const bvh_primitive *p, vec3 *lo, vec3 *hi) {
    vec3 b = v3_add(p->a, p->e1), c = v3_add(p->a, p->e2);
    if (p->owner < 0) {
        *lo = v3_sub(p->a, v3_all(p->e1.x));
        *hi = v3_add(p->a, v3_all(p->e1.x));
        return;
    }
    *lo = v3_min(p->a, v3_min(b, c));
    *hi = v3_max(p->a, v3_max(b, c));
}

static float bvh_axis(vec3 v, int axis) { return axis == 0 ? v.x : axis == 1 ? v.y : v.z; }

static float bvh_area(vec3 lo, vec3 hi) {
    vec3 d = v3_sub(hi, lo);
    return d.x < 0.0f ? 0.0f : d.x * d.y + d.y * d.z + d.z * d.x;
}

typedef struct bvh_bin {
    vec3 lo, hi;
    int count;
} bvh_bin;
typedef struct bvh_split {
    int axis;
    float low, scale;
    int bin;
    float cost;
} bvh_split;

static void bvh_grow(bvh_bin *bin, vec3 lo, vec3 hi) {
    bin->lo = v3_min(bin->lo, lo);
    bin->hi = v3_max(bin->hi, hi);
}

static bvh_bin bvh_empty(void) {
    bvh_bin bin;
    bin.lo = v3_all(1e30f), bin.hi = v3_all(-1e30f), bin.count = 0;
    return bin;
}

static int bvh_bin_of(const bvh_split *s, const bvh_primitive *p) {
    vec3 lo, hi;
    int bin;
    bvh_bounds(p, &lo, &hi);
    bin = (int)((0.5f * (bvh_axis(lo, s->axis) + bvh_axis(hi, s->axis)) - s->low) * s->scale);
    return bin < 0 ? 0 : bin >= BVH_BINS ? BVH_BINS - 1 : bin;
}

/* Cost of cutting behind each bin along one axis; keeps the best in *best. */
static void bvh_try_axis(const bvh *tree, const bvh_node *node, vec3 centre_lo, vec3 centre_hi, int axis,
                         bvh_split *best) {
    bvh_bin bins[BVH_BINS], right = bvh_empty(), left = bvh_empty();
    float right_cost[BVH_BINS];
    bvh_split s;
    int i;
    float extent = bvh_axis(centre_hi, axis) - bvh_axis(centre_lo, axis);
    if (extent <= 0.0f) return;
    s.axis = axis, s.low = bvh_axis(centre_lo, axis), s.scale = (float)BVH_BINS / extent, s.bin = 0, s.cost = 0;
    for (i = 0; i < BVH_BINS; ++i) bins[i] = bvh_empty();
    for (i = node->first; i < node->first + node->count; ++i) {
        vec3 lo, hi;
        int b = bvh_bin_of(&s, &tree->primitives[i]);
        bvh_bounds(&tree->primitives[i], &lo, &hi);
        bvh_grow(&bins[b], lo, hi);
        ++bins[b].count;
    }
    for (i = BVH_BINS - 1; i > 0; --i) {
        bvh_grow(&right, bins[i].lo, bins[i].hi);
        right.count += bins[i].count;
        right_cost[i] = (float)right.count * bvh_area(right.lo, right.hi);
    }
    for (i = 0; i < BVH_BINS - 1; ++i) {
        bvh_grow(&left, bins[i].lo, bins[i].hi);
        left.count += bins[i].count;
        s.cost = (float)left.count * bvh_area(left.lo, left.hi) + right_cost[i + 1];
        s.bin = i;
        if (left.count > 0 && left.count < node->count && s.cost < best->cost) *best = s;
    }
}

static int bvh_partition(bvh *tree, const bvh_node *node, const bvh_split *s) {
    int i = node->first, end = node->first + node->count;
    while (i < end) {
        bvh_primitive swap = tree->primitives[i];
        if (bvh_bin_of(s, &swap) <= s->bin) {
            ++i;
            continue;
        }
        tree->primitives[i] = tree->primitives[--end];
        tree->primitives[end] = swap;
    }
    return end;
}

static void bvh_divide(bvh *tree, int node_index, int depth) {
    bvh_node *node = &tree->nodes[node_index], *children;
    bvh_bin box = bvh_empty(), centres = bvh_empty();
    bvh_split best;
    int i, middle;
    for (i = node->first; i < node->first + node->count; ++i) {
        vec3 lo, hi, c;
        bvh_bounds(&tree->primitives[i], &lo, &hi);
        c = v3_scale(v3_add(lo, hi), 0.5f);
        bvh_grow(&box, lo, hi);
        bvh_grow(&centres, c, c);
    }
    node->lo = box.lo, node->hi = box.hi;
    best.axis = -1, best.cost = (float)node->count * bvh_area(box.lo, box.hi), best.low = best.scale = 0, best.bin = 0;
    if (node->count <= BVH_LEAF || depth > BVH_STACK - 8) return;
    for (i = 0; i < 3; ++i) bvh_try_axis(tree, node, centres.lo, centres.hi, i, &best);
    if (best.axis < 0) return;
    middle = bvh_partition(tree, node, &best);
    children = &tree->nodes[tree->node_count];
    children[0].first = node->first, children[0].count = middle - node->first;
    children[1].first = middle, children[1].count = node->first + node->count - middle;
    node->first = tree->node_count, node->count = 0;
    tree->node_count += 2;
    i = node->first;
    bvh_divide(tree, i, depth + 1);
    bvh_divide(tree, i + 1, depth + 1);
}

void bvh_build(bvh *tree) {
    tree->node_count = 1;
    tree->nodes[0].first = 0;
    tree->nodes[0].count = tree->count;
    tree->nodes[0].lo = tree->nodes[0].hi = v3_all(0.0f);
    if (tree->count > 0) bvh_divide(tree, 0, 0);
}

/* Moeller-Trumbore for triangles (both sides), the quadratic for spheres. */
static void bvh_test(const bvh_primitive *p, int index, vec3 origin, vec3 direction, float t_min, bvh_hit *hit) {
    if (p->owner < 0) {
        vec3 oc = v3_sub(origin, p->a);
        float b = v3_dot(oc, direction), c = v3_dot(oc, oc) - p->e1.x * p->e1.x, d = b * b - c, t;
        if (d < 0.0f) return;
        t = -b - sqrtf(d);
        if (t > t_min && t < hit->t) hit->t = t, hit->u = hit->v = 0.0f, hit->primitive = index;
    } else {
        vec3 q = v3_cross(direction, p->e2), s = v3_sub(origin, p->a), r = v3_cross(s, p->e1);
        float det = v3_dot(p->e1, q), inverse, u, v, t;
        if (det == 0.0f) return;
        inverse = 1.0f / det;
        u = v3_dot(s, q) * inverse;
        v = v3_dot(direction, r) * inverse;
        t = v3_dot(p->e2, r) * inverse;
        if (u < -1e-5f || v < -1e-5f || u + v > 1.00001f || /* no cracks along shared edges */
            !(t > t_min) || !(t < hit->t))
            return;
        hit->t = t, hit->u = u, hit->v = v, hit->primitive = index;
    }
}

static bool bvh_enters(const bvh_node *n, vec3 origin, vec3 inverse, float t_min, float t_max, float *entry) {
    vec3 a = v3_mul(v3_sub(n->lo, origin), inverse), b = v3_mul(v3_sub(n->hi, origin), inverse);
    float x0 = a.x < b.x ? a.x : b.x, x1 = a.x < b.x ? b.x : a.x, y0 = a.y < b.y ? a.y : b.y;
    float y1 = a.y < b.y ? b.y : a.y, z0 = a.z < b.z ? a.z : b.z, z1 = a.z < b.z ? b.z : a.z;
    float near = x0 > y0 ? x0 : y0, far = x1 < y1 ? x1 : y1;
    if (z0 > near) near = z0;
    if (z1 < far) far = z1;
    *entry = near;
    return near <= far && far >= t_min && near < t_max;
}

static float bvh_inverse(float v) { return v > 1e-20f || v < -1e-20f ? 1.0f / v : v < 0.0f ? -1e20f : 1e20f; }

bvh_hit bvh_nearest(const bvh *tree, vec3 origin, vec3 direction, float t_min, float t_max) {
    int stack[BVH_STACK + 2], top = 0, i;
    vec3 inverse = v3(bvh_inverse(direction.x), bvh_inverse(direction.y), bvh_inverse(direction.z));
    bvh_hit hit;
    float entry;
    hit.t = t_max, hit.u = hit.v = 0.0f, hit.primitive = -1;
    if (tree->count == 0 || !bvh_enters(&tree->nodes[0], origin, inverse, t_min, t_max, &entry)) return hit;
    stack[top++] = 0;
    while (top > 0) {
        const bvh_node *node = &tree->nodes[stack[--top]];
        float left, right;
        bool in_left, in_right;
        if (node->count > 0) {
            for (i = node->first; i < node->first + node->count; ++i)
                bvh_test(&tree->primitives[i], i, origin, direction, t_min, &hit);
            continue;
        }
        in_left = bvh_enters(&tree->nodes[node->first], origin, inverse, t_min, hit.t, &left);
        in_right = bvh_enters(&tree->nodes[node->first + 1], origin, inverse, t_min, hit.t, &right);
        if (in_left && in_right) { /* the nearer child is taken from the stack first */
            stack[top++] = node->first + (left < right);
            stack[top++] = node->first + (left >= right);
        } else if (in_left || in_right) {
            stack[top++] = node->first + in_right;
        }
    }
    return hit;
}

/* The share of the ray that passes a ball by its distance from the middle, (1 - (r / R)^2)^2. */
static float bvh_passes(const bvh_primitive *ball, float shade, vec3 origin, vec3 direction, float t_min, float t_max) {
    vec3 away = v3_sub(ball->a, origin);
    float t = v3_dot(away, direction), r2 = v3_dot(away, away) - t * t, inside = 1.0f - r2 / (ball->e1.x * ball->e1.x);
    return inside > 0.0f && t > t_min && t < t_max ? 1.0f - shade * inside * inside : 1.0f;
}

float bvh_veil(const bvh *tree, const float *shade, vec3 origin, vec3 direction, float t_min, float t_max) {
    int stack[BVH_STACK + 2], top = 0, i;
    vec3 inverse = v3(bvh_inverse(direction.x), bvh_inverse(direction.y), bvh_inverse(direction.z));
    float left = 1.0f, entry;
    if (tree->count > 0) stack[top++] = 0;
    while (top > 0) {
        const bvh_node *node = &tree->nodes[stack[--top]];
        if (!bvh_enters(node, origin, inverse, t_min, t_max, &entry)) continue;
        for (i = node->first; i < node->first + node->count; ++i)
            left *= bvh_passes(&tree->primitives[i], shade[tree->primitives[i].index], origin, direction, t_min, t_max);
        if (node->count == 0) stack[top++] = node->first, stack[top++] = node->first + 1;
    }
    return left;
}

#endif /* EXAMPLES_IMPLEMENTATION */
