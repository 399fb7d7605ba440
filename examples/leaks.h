/* leaks.h - finds particles on the wrong side of triangles, by ways that the library does not share. SPDX: MIT

   Closed surfaces: the winding number of a particle, from the signed crossings of a ray straight up. Exact up to the
   rounding of doubles; points on shared edges are counted once.
   Open sheets: which side of the sheet a particle is on, seen from the nearest triangle, from step to step; a particle
   that changes sides far from every free edge went through. Where two layers lie on one another and show both sides,
   the side is the one that was known before. Define EXAMPLES_IMPLEMENTATION in one file. */
#ifndef EXAMPLES_LEAKS_H
#define EXAMPLES_LEAKS_H

#include "shapes.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct leak_bins { /* which triangles may concern a cell of a grid; grows as needed and keeps its memory */
    vec3 lo;
    float cell;
    int nx, ny, nz;
    int *start, *items;
    int start_capacity, item_capacity;
} leak_bins;

typedef struct leak_watch {
    leak_bins bins;
    unsigned char *edge; /* per vertex: near a free edge, where a particle may go round */
    signed char *side;   /* per particle id: -1, 0 unknown, 1 */
    uint32_t side_count;
} leak_watch;

void leak_free(leak_watch *w);
/* How many of the points have a winding number other than `wanted` round the closed surface. -1: out of memory. */
int leak_count_winding(leak_watch *w, const mesh *topology, const vec3 *vertices, const vec3 *points, int count,
                       int wanted);
/* How many points changed sides since the last call. reach (m): how far from the sheet sides are known; choose it
   larger than what a point moves in a step. -1: out of memory. */
int leak_count_crossed(leak_watch *w, const mesh *topology, const vec3 *vertices, const vec3 *points,
                       const uint32_t *ids, int count, float reach);

#ifdef __cplusplus
}
#endif
#endif /* EXAMPLES_LEAKS_H */

#if defined(EXAMPLES_IMPLEMENTATION) && !defined(EXAMPLES_LEAKS_IMPLEMENTED)
#define EXAMPLES_LEAKS_IMPLEMENTED

#include <stdlib.h>
#include <string.h>

void leak_free(leak_watch *w) {
    free(w->bins.start), free(w->bins.items), free(w->edge), free(w->side);
    memset(w, 0, sizeof *w);
}

/* ---- bins -------------------------------------------------------------------------------------------------------- */

static bool leak_grow(int **array, int *capacity, int wanted) {
    int *grown;
    if (wanted <= *capacity) return true;
    grown = (int *)realloc(*array, (size_t)(wanted + wanted / 2) * sizeof(int));
    if (!grown) return false;
    *array = grown, *capacity = wanted + wanted / 2;
    return true;
}

static int leak_cell(float value, float lo, float cell, int n) {
    int i = (int)floorf((value - lo) / cell);
    return i < 0 ? 0 : i >= n ? n - 1 : i;
}

typedef struct leak_range {
    int x0, x1, y0, y1, z0, z1;
} leak_range; /* cells that a triangle is in */

static leak_range leak_cells_of(const leak_bins *b, const vec3 *v, const uint32_t *t, float margin) {
    vec3 lo = v3_sub(v3_min(v[t[0]], v3_min(v[t[1]], v[t[2]])), v3_all(margin));
    vec3 hi = v3_add(v3_max(v[t[0]], v3_max(v[t[1]], v[t[2]])), v3_all(margin));
    leak_range r;
    r.x0 = leak_cell(lo.x, b->lo.x, b->cell, b->nx), r.x1 = leak_cell(hi.x, b->lo.x, b->cell, b->nx);
    r.y0 = leak_cell(lo.y, b->lo.y, b->cell, b->ny), r.y1 = leak_cell(hi.y, b->lo.y, b->cell, b->ny);
    r.z0 = leak_cell(lo.z, b->lo.z, b->cell, b->nz), r.z1 = leak_cell(hi.z, b->lo.z, b->cell, b->nz);
    return r;
}

/* Adds 1 to the counts (items NULL), or puts the triangle into its cells. */
static void leak_visit(leak_bins *b, leak_range r, int triangle, bool put) {
    int x, y, z;
    for (z = r.z0; z <= r.z1; ++z)
        for (y = r.y0; y <= r.y1; ++y)
            for (x = r.x0; x <= r.x1; ++x) {
                int *slot = &b->start[(z * b->ny + y) * b->nx + x + 1];
                if (put) b->items[(*slot)++] = triangle;
                else ++slot[1];
            }
}

/* Columns over the xz plane where `flat`, else cubes; triangles made larger by margin. Counting sort. */
static bool leak_build(leak_bins *b, const mesh *m, const vec3 *v, float cell, float margin, bool flat) {
    vec3 lo = v3_all(1e30f), hi = v3_all(-1e30f);
    int i, cells;
    for (i = 0; i < m->vertex_count; ++i) lo = v3_min(lo, v[i]), hi = v3_max(hi, v[i]);
    b->lo = v3_sub(lo, v3_all(margin)), hi = v3_add(hi, v3_all(margin));
    b->cell = fmaxf(cell, v3_length(v3_sub(hi, b->lo)) / 256.0f);
    b->nx = (int)((hi.x - b->lo.x) / b->cell) + 1, b->nz = (int)((hi.z - b->lo.z) / b->cell) + 1;
    b->ny = flat ? 1 : (int)((hi.y - b->lo.y) / b->cell) + 1;
    cells = b->nx * b->ny * b->nz;
    if (!leak_grow(&b->start, &b->start_capacity, cells + 2)) return false;
    memset(b->start, 0, (size_t)(cells + 2) * sizeof(int));
    for (i = 0; i < m->triangle_count; ++i) leak_visit(b, leak_cells_of(b, v, m->indices + 3 * i, margin), i, false);
    for (i = 1; i < cells + 2; ++i) b->start[i] += b->start[i - 1];
    if (!leak_grow(&b->items, &b->item_capacity, b->start[cells + 1] + 1)) return false;
    for (i = 0; i < m->triangle_count; ++i) leak_visit(b, leak_cells_of(b, v, m->indices + 3 * i, margin), i, true);
    return true;
}

/* The cell of a point, or -1 where no triangle can be near. */
static int leak_bin_of(const leak_bins *b, vec3 p, bool flat) {
    int x = (int)floorf((p.x - b->lo.x) / b->cell), z = (int)floorf((p.z - b->lo.z) / b->cell);
    int y = flat ? 0 : (int)floorf((p.y - b->lo.y) / b->cell);
    if (x < 0 || y < 0 || z < 0 || x >= b->nx || y >= b->ny || z >= b->nz) return -1;
    return (z * b->ny + y) * b->nx + x;
}

/* ---- winding number ---------------------------------------------------------------------------------------------- */

/* Does the ray from p along +x of the plane pass the edge? 1, -1 (direction) or 0. Both triangles of an edge compute
   the same number: the ends are ordered first. */
static int leak_passes(vec3 a, vec3 b, vec3 p) {
    int sign = 1;
    double side;
    if (a.z > b.z) {
        vec3 swap = a;
        a = b, b = swap, sign = -1;
    }
    if (!(a.z <= p.z && p.z < b.z)) return 0;
    side = ((double)b.x - (double)a.x) * ((double)p.z - (double)a.z) -
           ((double)p.x - (double)a.x) * ((double)b.z - (double)a.z);
    return side > 0.0 ? sign : 0;
}

/* +1 or -1 when the triangle is above p, by the side that it shows; else 0. */
static int leak_above(vec3 a, vec3 b, vec3 c, vec3 p) {
    int around = leak_passes(a, b, p) + leak_passes(b, c, p) + leak_passes(c, a, p);
    double nx, ny, nz, height;
    if (around == 0) return 0;
    nx = ((double)b.y - (double)a.y) * ((double)c.z - (double)a.z) -
         ((double)b.z - (double)a.z) * ((double)c.y - (double)a.y);
    ny = ((double)b.z - (double)a.z) * ((double)c.x - (double)a.x) -
         ((double)b.x - (double)a.x) * ((double)c.z - (double)a.z);
    nz = ((double)b.x - (double)a.x) * ((double)c.y - (double)a.y) -
         ((double)b.y - (double)a.y) * ((double)c.x - (double)a.x);
    if (ny == 0.0) return 0;
    height = (double)a.y - (nx * ((double)p.x - (double)a.x) + nz * ((double)p.z - (double)a.z)) / ny;
    if (height <= (double)p.y) return 0;
    return ny > 0.0 ? 1 : -1;
}

int leak_count_winding(leak_watch *w, const mesh *m, const vec3 *v, const vec3 *points, int count, int wanted) {
    int i, k, wrong = 0;
    float cell = 0.0f;
    for (i = 0; i < 3 * m->triangle_count; i += 3) cell += v3_length(v3_sub(v[m->indices[i]], v[m->indices[i + 1]]));
    if (!leak_build(&w->bins, m, v, cell / (float)m->triangle_count, 0.0f, true)) return -1;
    for (i = 0; i < count; ++i) {
        int bin = leak_bin_of(&w->bins, points[i], true), winding = 0;
        for (k = bin < 0 ? 0 : w->bins.start[bin]; bin >= 0 && k < w->bins.start[bin + 1]; ++k) {
            const uint32_t *t = m->indices + 3 * w->bins.items[k];
            winding += leak_above(v[t[0]], v[t[1]], v[t[2]], points[i]);
        }
        wrong += winding != wanted;
    }
    return wrong;
}

/* ---- sides of a sheet -------------------------------------------------------------------------------------------- */

/* Vertices of free edges, and those up to two edges away. The triangles round an inner vertex name each of its
   neighbours once as the next corner and once as the one before: a sum of (next - before) of any scrambled numbers of
   the neighbours vanishes there, and nowhere on a free edge. */
static bool leak_mark_edges(leak_watch *w, const mesh *m) {
    unsigned char *mark = (unsigned char *)calloc((size_t)m->vertex_count + 1, 1);
    uint32_t *sum = (uint32_t *)calloc((size_t)m->vertex_count + 1, sizeof(uint32_t));
    int i, k, ring;
    if (!mark || !sum) return free(mark), free(sum), false;
    for (i = 0; i < m->triangle_count; ++i) {
        const uint32_t *t = m->indices + 3 * i;
        for (k = 0; k < 3; ++k) sum[t[k]] += (t[(k + 1) % 3] + 1u) * 2654435761u - (t[(k + 2) % 3] + 1u) * 2654435761u;
    }
    for (i = 0; i < m->vertex_count; ++i) mark[i] = sum[i] != 0;
    for (ring = 1; ring <= 2; ++ring) {
        for (i = 0; i < m->triangle_count; ++i) {
            const uint32_t *t = m->indices + 3 * i;
            bool near_edge = mark[t[0]] == ring || mark[t[1]] == ring || mark[t[2]] == ring;
            for (k = 0; k < 3; ++k)
                if (near_edge && !mark[t[k]]) mark[t[k]] = (unsigned char)(ring + 1);
        }
    }
    free(sum);
    w->edge = mark;
    return true;
}

typedef struct leak_foot {
    float distance;
    int side;     /* 0: not certain; the nearest point is not inside a face, or inside of two that contradict */
    bool certain; /* not near a free edge */
} leak_foot;

/* Nearest point of the triangle to p: clamps the barycentric coordinates edge by edge. */
static vec3 leak_nearest(vec3 a, vec3 b, vec3 c, vec3 p, bool *inside) {
    vec3 ab = v3_sub(b, a), ac = v3_sub(c, a), ap = v3_sub(p, a), n = v3_cross(ab, ac), best;
    float nn = v3_dot(n, n), v = v3_dot(v3_cross(ap, ac), n) / nn, w = v3_dot(v3_cross(ab, ap), n) / nn, least = 1e30f;
    vec3 corner[3];
    int k;
    *inside = v > 0.0f && w > 0.0f && v + w < 1.0f;
    if (*inside) return v3_madd(v3_madd(a, ab, v), ac, w);
    corner[0] = a, corner[1] = b, corner[2] = c, best = a;
    for (k = 0; k < 3; ++k) {
        vec3 from = corner[k], along = v3_sub(corner[(k + 1) % 3], from), q;
        float s = f_clamp(v3_dot(v3_sub(p, from), along) / fmaxf(v3_dot(along, along), 1e-20f), 0.0f, 1.0f);
        q = v3_madd(from, along, s);
        if (v3_length(v3_sub(p, q)) < least) least = v3_length(v3_sub(p, q)), best = q;
    }
    return best;
}

/* Plates that lie on one another back to back, as where both sides of a hull meet in its stem, are equally near and
   show a point both sides of the sheet: which of them is found nearest is up to rounding. */
static bool leak_shows_both(const float nearest[2], float reach) {
    const float rounding = 1e-4f * reach;
    return nearest[0] < reach && nearest[1] < reach && fabsf(nearest[0] - nearest[1]) <= rounding;
}

static leak_foot leak_find_foot(const leak_watch *w, const mesh *m, const vec3 *v, vec3 p, float reach) {
    leak_foot foot;
    float nearest[2]; /* of the faces that show their back, and their front */
    int bin = leak_bin_of(&w->bins, p, false), k;
    foot.distance = nearest[0] = nearest[1] = reach, foot.side = 0, foot.certain = false;
    for (k = bin < 0 ? 0 : w->bins.start[bin]; bin >= 0 && k < w->bins.start[bin + 1]; ++k) {
        const uint32_t *t = m->indices + 3 * w->bins.items[k];
        vec3 a = v[t[0]], b = v[t[1]], c = v[t[2]], d;
        bool inside, front;
        float distance;
        d = v3_sub(p, leak_nearest(a, b, c, p, &inside));
        distance = v3_length(d);
        front = v3_dot(d, v3_cross(v3_sub(b, a), v3_sub(c, a))) > 0.0f;
        if (inside) nearest[front] = fminf(nearest[front], distance);
        if (distance >= foot.distance) continue;
        foot.distance = distance;
        foot.side = !inside ? 0 : front ? 1 : -1;
        foot.certain = !w->edge[t[0]] && !w->edge[t[1]] && !w->edge[t[2]];
    }
    if (leak_shows_both(nearest, reach)) foot.side = 0;
    return foot;
}

static bool leak_know_ids(leak_watch *w, const uint32_t *ids, int count) {
    uint32_t most = w->side_count;
    signed char *grown;
    int i;
    for (i = 0; i < count; ++i)
        if (ids[i] >= most) most = ids[i] + 1;
    if (most == w->side_count) return true;
    most += most / 2;
    grown = (signed char *)realloc(w->side, most);
    if (!grown) return false;
    memset(grown + w->side_count, 0, most - w->side_count);
    w->side = grown, w->side_count = most;
    return true;
}

int leak_count_crossed(leak_watch *w, const mesh *m, const vec3 *v, const vec3 *points, const uint32_t *ids, int count,
                       float reach) {
    int i, crossed = 0;
    if (!w->edge && !leak_mark_edges(w, m)) return -1;
    if (!leak_know_ids(w, ids, count) || !leak_build(&w->bins, m, v, reach, reach, false)) return -1;
    for (i = 0; i < count; ++i) {
        leak_foot foot = leak_find_foot(w, m, v, points[i], reach);
        signed char *side = &w->side[ids[i]];
        if (!foot.certain) *side = 0;
        else if (foot.side) {
            crossed += *side == -foot.side;
            *side = (signed char)foot.side;
        }
    }
    return crossed;
}

#endif /* EXAMPLES_IMPLEMENTATION */
