/* tet_check.h - repairs a surface and names what cannot be repaired. Private to tools/.
   SPDX-License-Identifier: MIT

   Order: weld, flip or drop degenerate faces, drop duplicate faces, (fill holes), drop unused vertices, find open and
   non-manifold edges, make the orientation consistent, turn bodies outwards and cavities inwards, look for
   self-intersections. tet_repair() changes the surface; tet_refuse() turns what is left into one line. */
#ifndef TET_CHECK_H
#define TET_CHECK_H

#include "tet_geometry.h"
#include "tet_read.h"

typedef struct tet_problem {
    int count;
    tet_vec place; /* of the first, or the largest */
    int size;      /* edges of the largest hole */
} tet_problem;

typedef struct tet_health {
    int welded, degenerate, duplicate, unused, flipped, filled; /* mended */
    tet_problem holes, non_manifold, crossings, unorientable;   /* not mended */
    int components, cavities;
    double volume, area; /* volume only if closed */
} tet_health;

typedef struct tet_repair_options {
    double weld;     /* distance, in units of the file */
    bool shell;      /* open surfaces are welcome; opposite twins of a face are one face */
    bool fill_holes; /* close holes with flat patches */
} tet_repair_options;

static inline bool tet_closed(const tet_health *health) {
    return !health->holes.count && !health->non_manifold.count && !health->unorientable.count;
}

/* ---- [weld] points closer than a distance become one ------------------------------------------------------------- */

static inline uint64_t tet_weld_cell(tet_vec p, double cell, int dx, int dy, int dz) {
    int64_t x = (int64_t)floor(p.x / cell) + dx, y = (int64_t)floor(p.y / cell) + dy,
            z = (int64_t)floor(p.z / cell) + dz;
    uint64_t hash = (uint64_t)x * UINT64_C(0x9E3779B97F4A7C15);
    hash = (hash ^ (hash >> 29) ^ (uint64_t)y) * UINT64_C(0xBF58476D1CE4E5B9);
    hash = (hash ^ (hash >> 32) ^ (uint64_t)z) * UINT64_C(0x94D049BB133111EB);
    return (hash ^ (hash >> 31)) >> 1; /* the map's keys stay below 2^64 - 1 */
}

/* The first kept point within the distance of p, or -1. Cells hold chains: head in the map, then next[]. */
static inline int tet_weld_find(const tet_map *cells, const int *next, const tet_vec *kept, tet_vec p,
                                double distance) {
    int best = INT_MAX, dx, dy, dz, at;
    for (dz = -1; dz <= 1; ++dz) {
        for (dy = -1; dy <= 1; ++dy) {
            for (dx = -1; dx <= 1; ++dx) {
                for (at = tet_map_get(cells, tet_weld_cell(p, distance * 2.0, dx, dy, dz)); at >= 0; at = next[at]) {
                    if (at < best && tet_distance(kept[at], p) <= distance) best = at;
                }
            }
        }
    }
    return best == INT_MAX ? -1 : best;
}

/* Renumbers everything; fills map. */
static inline int tet_weld(tet_tool *tool, tet_surface *s, double distance) {
    tet_map cells;
    int *next = (int *)tet_alloc(tool, (size_t)s->point_count + 1, sizeof *next);
    int i, k, kept = 0, files = s->point_count;
    memset(&cells, 0, sizeof cells);
    s->map = (int *)tet_alloc(tool, (size_t)files + 1, sizeof *s->map);
    s->map_count = files;
    for (i = 0; i < files; ++i) {
        tet_vec p = s->points[i];
        int same = tet_weld_find(&cells, next, s->points, p, distance), *head;
        bool fresh;
        s->map[i] = same >= 0 ? same : kept;
        if (same >= 0) continue;
        s->points[kept] = p;
        head = tet_map_put(tool, &cells, tet_weld_cell(p, distance * 2.0, 0, 0, 0), kept, &fresh);
        next[kept] = fresh ? -1 : *head;
        *head = kept++;
        tet_progress(tool, "welding", i, files);
    }
    s->point_count = kept;
    for (i = 0; i < s->triangle_count; ++i) {
        for (k = 0; k < 3; ++k) s->triangles[i].v[k] = s->map[s->triangles[i].v[k]];
    }
    tet_map_free(tool, &cells);
    tet_free(tool, next);
    return files - kept;
}

/* ---- [adjacency] ------------------------------------------------------------------------------------------------- */

/* twin[3t + k] is the half-edge beyond edge k of triangle t (from corner k to corner k + 1); -1: open; -2: three or
   more. */
static inline int *tet_twins(tet_tool *tool, const tet_surface *s) {
    int *twin = (int *)tet_alloc(tool, (size_t)s->triangle_count * 3 + 1, sizeof *twin);
    tet_map edges;
    int h;
    memset(&edges, 0, sizeof edges);
    for (h = 0; h < s->triangle_count * 3; ++h) {
        const int *v = s->triangles[h / 3].v;
        bool fresh;
        int *first = tet_map_put(tool, &edges, tet_edge_key(v[h % 3], v[(h + 1) % 3]), h, &fresh);
        twin[h] = -1;
        if (fresh) continue;
        if (twin[*first] == -1) {
            twin[*first] = h;
            twin[h] = *first;
        } else {
            if (twin[*first] >= 0) twin[twin[*first]] = -2;
            twin[*first] = twin[h] = -2;
        }
    }
    tet_map_free(tool, &edges);
    return twin;
}

static inline tet_vec tet_half_edge_middle(const tet_surface *s, int h) {
    const int *v = s->triangles[h / 3].v;
    return tet_mix(s->points[v[h % 3]], s->points[v[(h + 1) % 3]], 0.5);
}

/* ---- [faces] degenerate, duplicate, unused ----------------------------------------------------------------------- */

static inline void tet_drop_marked(tet_surface *s, const unsigned char *marked) {
    int i, kept = 0;
    for (i = 0; i < s->triangle_count; ++i) {
        if (!marked[i]) s->triangles[kept++] = s->triangles[i];
    }
    s->triangle_count = kept;
}

static inline bool tet_flat(const tet_surface *s, int triangle, double *longest, int *edge) {
    const int *v = s->triangles[triangle].v;
    int k;
    *longest = -1.0, *edge = 0;
    for (k = 0; k < 3; ++k) {
        double length = tet_distance(s->points[v[k]], s->points[v[(k + 1) % 3]]);
        if (length > *longest) *longest = length, *edge = k;
    }
    return tet_length(tet_triangle_normal(s, triangle)) <= 1e-10 * *longest * *longest;
}

/* A face whose corners lie on one line would leave a slit if dropped: its longest edge is flipped into the
   neighbour. */
static inline bool tet_flip_flat(tet_surface *s, const int *twin, int triangle, int edge,
                                 const unsigned char *touched) {
    int other = twin[triangle * 3 + edge], *v = s->triangles[triangle].v, *w;
    int a = v[edge], b = v[(edge + 1) % 3], c = v[(edge + 2) % 3], d;
    if (other < 0 || touched[other / 3]) return false;
    w = s->triangles[other / 3].v;
    d = w[(other + 2) % 3];
    if (d == c || w[other % 3] != b) return false;
    v[0] = a, v[1] = d, v[2] = c;
    w[0] = d, w[1] = b, w[2] = c;
    return true;
}

static inline int tet_mend_degenerate(tet_tool *tool, tet_surface *s) {
    unsigned char *drop = (unsigned char *)tet_alloc(tool, (size_t)s->triangle_count + 1, 1);
    unsigned char *touched;
    int i, edge, count = 0, *twin;
    double longest;
    for (i = 0; i < s->triangle_count; ++i) {
        const int *v = s->triangles[i].v;
        drop[i] = v[0] == v[1] || v[1] == v[2] || v[2] == v[0];
        count += drop[i];
    }
    tet_drop_marked(s, drop);
    memset(drop, 0, (size_t)s->triangle_count);
    touched = (unsigned char *)tet_alloc(tool, (size_t)s->triangle_count + 1, 1);
    twin = tet_twins(tool, s);
    for (i = 0; i < s->triangle_count; ++i) {
        if (touched[i] || !tet_flat(s, i, &longest, &edge)) continue;
        ++count;
        if (tet_flip_flat(s, twin, i, edge, touched)) touched[i] = touched[twin[i * 3 + edge] / 3] = 1;
    }
    tet_free(tool, twin);
    tet_free(tool, touched);
    tet_free(tool, drop);
    return count;
}

typedef struct tet_face_key {
    int low[3]; /* corners in increasing order */
    int face;
    bool odd; /* the order in the face is an odd permutation of low */
} tet_face_key;

static inline tet_face_key tet_face_key_of(const int v[3], int face) {
    tet_face_key key;
    int i, swaps = 0;
    memcpy(key.low, v, sizeof key.low);
    for (i = 0; i < 3; ++i) {
        int at = i == 1 ? 1 : 0, t;
        if (key.low[at] <= key.low[at + 1]) continue;
        t = key.low[at], key.low[at] = key.low[at + 1], key.low[at + 1] = t;
        ++swaps;
    }
    key.face = face;
    key.odd = (swaps & 1) != 0;
    return key;
}

static inline int tet_face_key_compare(const void *a, const void *b) {
    const tet_face_key *l = (const tet_face_key *)a, *r = (const tet_face_key *)b;
    int i;
    for (i = 0; i < 3; ++i) {
        if (l->low[i] != r->low[i]) return l->low[i] < r->low[i] ? -1 : 1;
    }
    return l->face - r->face;
}

/* Of equal faces one stays. In a solid, two that look at each other are a wall inside the body: both go. */
static inline int tet_drop_duplicates(tet_tool *tool, tet_surface *s, bool shell) {
    tet_face_key *keys = (tet_face_key *)tet_alloc(tool, (size_t)s->triangle_count + 1, sizeof *keys);
    unsigned char *drop = (unsigned char *)tet_alloc(tool, (size_t)s->triangle_count + 1, 1);
    int i, k, first, dropped = 0;
    for (i = 0; i < s->triangle_count; ++i) keys[i] = tet_face_key_of(s->triangles[i].v, i);
    qsort(keys, (size_t)s->triangle_count, sizeof *keys, tet_face_key_compare);
    for (first = 0; first < s->triangle_count; first = i) {
        bool even_seen = false, odd_seen = false;
        for (i = first; i < s->triangle_count && memcmp(keys[i].low, keys[first].low, sizeof keys[i].low) == 0; ++i) {
            if (keys[i].odd) odd_seen = true;
            else even_seen = true;
        }
        for (k = first; k < i; ++k) {
            drop[keys[k].face] = k > first || (!shell && even_seen && odd_seen);
            dropped += drop[keys[k].face];
        }
    }
    tet_drop_marked(s, drop);
    tet_free(tool, keys);
    tet_free(tool, drop);
    return dropped;
}

static inline int tet_drop_unused(tet_tool *tool, tet_surface *s) {
    int *renumber = (int *)tet_alloc(tool, (size_t)s->point_count + 1, sizeof *renumber);
    int i, k, kept = 0, before = s->point_count;
    for (i = 0; i < s->triangle_count; ++i) {
        for (k = 0; k < 3; ++k) renumber[s->triangles[i].v[k]] = 1;
    }
    for (i = 0; i < before; ++i) {
        if (renumber[i]) s->points[kept] = s->points[i];
        renumber[i] = renumber[i] ? kept++ : -1;
    }
    for (i = 0; i < s->triangle_count; ++i) {
        for (k = 0; k < 3; ++k) s->triangles[i].v[k] = renumber[s->triangles[i].v[k]];
    }
    for (i = 0; i < s->map_count; ++i) s->map[i] = renumber[s->map[i]];
    s->point_count = kept;
    tet_free(tool, renumber);
    return before - kept;
}

/* ---- [holes] ----------------------------------------------------------------------------------------------------- */

static inline int tet_root(int *parent, int i) {
    while (parent[i] != i) i = parent[i] = parent[parent[i]];
    return i;
}

/* Open edges that hang together are one hole; the largest is named by its middle. */
static inline tet_problem tet_find_holes(tet_tool *tool, const tet_surface *s, const int *twin) {
    int *parent = (int *)tet_alloc(tool, (size_t)s->point_count + 1, sizeof *parent);
    int *edges = (int *)tet_alloc(tool, (size_t)s->point_count + 1, sizeof *edges);
    tet_vec *sum = (tet_vec *)tet_alloc(tool, (size_t)s->point_count + 1, sizeof *sum);
    tet_problem problem;
    int i, h;
    memset(&problem, 0, sizeof problem);
    for (i = 0; i < s->point_count; ++i) parent[i] = i;
    for (h = 0; h < s->triangle_count * 3; ++h) {
        const int *v = s->triangles[h / 3].v;
        if (twin[h] == -1) parent[tet_root(parent, v[h % 3])] = tet_root(parent, v[(h + 1) % 3]);
    }
    for (h = 0; h < s->triangle_count * 3; ++h) {
        int root = tet_root(parent, s->triangles[h / 3].v[h % 3]);
        if (twin[h] != -1) continue;
        edges[root]++;
        sum[root] = tet_add(sum[root], tet_half_edge_middle(s, h));
    }
    for (i = 0; i < s->point_count; ++i) {
        if (!edges[i]) continue;
        problem.count++;
        sum[i] = tet_scale(sum[i], 1.0 / edges[i]);
        if (problem.count <= 8) {
            tet_report(tool, "hole: %d edges around (%g, %g, %g)", edges[i], sum[i].x, sum[i].y, sum[i].z);
        }
        if (edges[i] > problem.size) problem.size = edges[i], problem.place = sum[i];
    }
    tet_free(tool, parent);
    tet_free(tool, edges);
    tet_free(tool, sum);
    return problem;
}

/* Closes every hole that is a simple loop with triangles over its own corners. */
static inline int tet_fill_holes(tet_tool *tool, tet_surface *s) {
    int *twin = tet_twins(tool, s), *after = (int *)tet_alloc(tool, (size_t)s->point_count + 1, sizeof *after);
    int i, h, half_edges = s->triangle_count * 3, filled = 0;
    tet_polygon loop;
    memset(&loop, 0, sizeof loop);
    for (i = 0; i < s->point_count; ++i) after[i] = -1;
    for (h = 0; h < half_edges; ++h) { /* the patch runs against the open edge */
        const int *v = s->triangles[h / 3].v;
        if (twin[h] == -1) after[v[(h + 1) % 3]] = after[v[(h + 1) % 3]] == -1 ? v[h % 3] : -2;
    }
    for (i = 0; i < s->point_count; ++i) {
        int at = i, next;
        loop.count = 0;
        while (after[at] >= 0) {
            tet_polygon_push(tool, &loop, at, s->point_count, 0);
            next = after[at];
            after[at] = -1;
            at = next;
        }
        if (loop.count < 3 || at != i) continue;
        tet_polygon_clip(tool, s, &loop);
        ++filled;
    }
    tet_free(tool, twin);
    tet_free(tool, after);
    return filled;
}

static inline tet_problem tet_find_non_manifold(const tet_tool *tool, const tet_surface *s, const int *twin) {
    tet_problem problem;
    int h;
    memset(&problem, 0, sizeof problem);
    for (h = 0; h < s->triangle_count * 3; ++h) {
        tet_vec place;
        if (twin[h] != -2) continue;
        place = tet_half_edge_middle(s, h);
        if (problem.count++ == 0) problem.place = place;
        if (problem.count <= 8) {
            tet_report(tool, "edge with more than two faces: face %d at (%g, %g, %g)", h / 3, place.x, place.y,
                       place.z);
        }
    }
    return problem;
}

/* ---- [orientation] ----------------------------------------------------------------------------------------------- */

typedef struct tet_components {
    int *of;             /* component of every triangle */
    unsigned char *flip; /* 1: the triangle must be turned */
    int count;
} tet_components;

/* Floods one component from a triangle: neighbours must run along their common edge in opposite directions. */
static inline void tet_flood(const tet_surface *s, const int *twin, tet_components *c, int *queue, int seed,
                             tet_problem *unorientable) {
    int head = 0, tail = 0, k;
    queue[tail++] = seed;
    c->of[seed] = c->count;
    while (head < tail) {
        int t = queue[head++];
        for (k = 0; k < 3; ++k) {
            int g = twin[t * 3 + k];
            unsigned char flip;
            if (g < 0) continue;
            flip = c->flip[t] ^ (unsigned char)(s->triangles[g / 3].v[g % 3] == s->triangles[t].v[k]);
            if (c->of[g / 3] < 0) {
                c->of[g / 3] = c->count;
                c->flip[g / 3] = flip;
                queue[tail++] = g / 3;
            } else if (c->flip[g / 3] != flip) {
                if (unorientable->count++ == 0) unorientable->place = tet_half_edge_middle(s, g);
            }
        }
    }
}

static inline tet_components tet_find_components(tet_tool *tool, const tet_surface *s, const int *twin,
                                                 tet_problem *unorientable) {
    tet_components c;
    int *queue = (int *)tet_alloc(tool, (size_t)s->triangle_count + 1, sizeof *queue);
    int i;
    c.of = (int *)tet_alloc(tool, (size_t)s->triangle_count + 1, sizeof *c.of);
    c.flip = (unsigned char *)tet_alloc(tool, (size_t)s->triangle_count + 1, 1);
    c.count = 0;
    memset(unorientable, 0, sizeof *unorientable);
    for (i = 0; i < s->triangle_count; ++i) c.of[i] = -1;
    for (i = 0; i < s->triangle_count; ++i) {
        if (c.of[i] >= 0) continue;
        tet_flood(s, twin, &c, queue, i, unorientable);
        c.count++;
    }
    tet_free(tool, queue);
    return c;
}

static inline int tet_apply_flips(tet_surface *s, const unsigned char *flip) {
    int i, count = 0;
    for (i = 0; i < s->triangle_count; ++i) {
        int *v = s->triangles[i].v, t = v[1];
        if (!flip[i]) continue;
        v[1] = v[2], v[2] = t;
        ++count;
    }
    return count;
}

/* Open surfaces keep the side most of their faces have. */
static inline void tet_prefer_majority(tet_tool *tool, const tet_surface *s, tet_components *c) {
    int *balance = (int *)tet_alloc(tool, (size_t)c->count + 1, sizeof *balance);
    int i;
    for (i = 0; i < s->triangle_count; ++i) balance[c->of[i]] += c->flip[i] ? 1 : -1;
    for (i = 0; i < s->triangle_count; ++i) {
        if (balance[c->of[i]] > 0) c->flip[i] ^= 1;
    }
    tet_free(tool, balance);
}

/* Closed surfaces: every component outwards first (positive volume). */
static inline void tet_prefer_outwards(tet_tool *tool, const tet_surface *s, tet_components *c) {
    double *volume = (double *)tet_alloc(tool, (size_t)c->count + 1, sizeof *volume);
    int i;
    for (i = 0; i < s->triangle_count; ++i) {
        const int *v = s->triangles[i].v;
        double six = tet_volume6(s->points[0], s->points[v[0]], s->points[v[1]], s->points[v[2]]);
        volume[c->of[i]] += c->flip[i] ? -six : six;
    }
    for (i = 0; i < s->triangle_count; ++i) {
        if (volume[c->of[i]] < 0.0) c->flip[i] ^= 1;
    }
    tet_free(tool, volume);
}

/* How many other components surround each one: those inside an odd number are cavities and must look inwards. */
static inline int tet_turn_cavities(tet_tool *tool, tet_surface *s, const tet_components *c, unsigned char *turn) {
    tet_box *boxes = tet_triangle_boxes(tool, s), bounds = tet_box_of(s->points, s->point_count);
    tet_bvh bvh = tet_bvh_build(tool, boxes, s->triangle_count);
    unsigned char *inside = (unsigned char *)tet_alloc(tool, (size_t)c->count + 1, 2);
    tet_line line;
    int i, cavities = 0;
    memset(&line, 0, sizeof line);
    line.tool = tool, line.surface = s, line.component = c->of;
    for (i = 0; i < s->triangle_count; ++i) {
        int part = c->of[i];
        tet_vec p = s->points[s->triangles[i].v[0]];
        if (inside[c->count + part]) continue;
        inside[c->count + part] = 1; /* seen */
        line.skipped = part;
        if (!tet_line_cast(&line, &bvh, p.y, p.z, 1e-9 * tet_distance(bounds.lo, bounds.hi))) continue;
        inside[part] = (unsigned char)(tet_line_winding(&line, p.x) & 1);
        cavities += inside[part];
    }
    for (i = 0; i < s->triangle_count; ++i) turn[i] = inside[c->of[i]];
    tet_apply_flips(s, turn);
    tet_free(tool, line.crossings);
    tet_free(tool, inside);
    tet_bvh_free(tool, &bvh);
    tet_free(tool, boxes);
    return cavities;
}

static inline void tet_mend_orientation(tet_tool *tool, tet_surface *s, const int *twin, tet_health *health) {
    tet_components c = tet_find_components(tool, s, twin, &health->unorientable);
    unsigned char *turn = (unsigned char *)tet_alloc(tool, (size_t)s->triangle_count + 1, 1);
    int i;
    health->components = c.count;
    if (health->unorientable.count) return;
    if (tet_closed(health)) tet_prefer_outwards(tool, s, &c);
    else tet_prefer_majority(tool, s, &c);
    tet_apply_flips(s, c.flip);
    if (tet_closed(health) && c.count > 1) health->cavities = tet_turn_cavities(tool, s, &c, turn);
    for (i = 0; i < s->triangle_count; ++i) health->flipped += c.flip[i] != turn[i];
    tet_free(tool, turn);
    tet_free(tool, c.of);
    tet_free(tool, c.flip);
}

/* ---- [crossings] faces that cut through each other --------------------------------------------------------------- */

/* The segment passes strictly from one side of the triangle's plane to the other, and through the closed triangle. */
static inline bool tet_pierces(const tet_surface *s, int p, int q, const int t[3]) {
    tet_vec a = s->points[p], b = s->points[q], u = s->points[t[0]], v = s->points[t[1]], w = s->points[t[2]];
    int one, two, three;
    if (tet_orient(u, v, w, a) * tet_orient(u, v, w, b) >= 0) return false;
    one = tet_orient(a, b, u, v), two = tet_orient(a, b, v, w), three = tet_orient(a, b, w, u);
    if (!one && !two && !three) return false; /* within the plane, as far as rounding can tell */
    return (one >= 0 && two >= 0 && three >= 0) || (one <= 0 && two <= 0 && three <= 0);
}

/* Overlap of two triangles in one plane, by separating edges; touching does not count. */
static inline bool tet_flat_overlap(const tet_surface *s, const int a[3], const int b[3], tet_vec normal) {
    int side, k, i;
    for (side = 0; side < 2; ++side) {
        const int *own = side ? b : a, *other = side ? a : b;
        for (k = 0; k < 3; ++k) {
            tet_vec from = s->points[own[k]], to = s->points[own[(k + 1) % 3]];
            double inner = tet_turn(from, to, s->points[own[(k + 2) % 3]], normal), best = -HUGE_VAL;
            for (i = 0; i < 3; ++i) {
                double turn = tet_turn(from, to, s->points[other[i]], normal) / inner;
                if (turn > best) best = turn;
            }
            if (!(best > 1e-7)) return false;
        }
    }
    return true;
}

static inline int tet_shared_corners(const int a[3], const int b[3]) {
    int i, k, count = 0;
    for (i = 0; i < 3; ++i) {
        for (k = 0; k < 3; ++k) count += a[i] == b[k];
    }
    return count;
}

/* Do the corners of b lie in the plane of triangle i, to a hundred-millionth of its size? Nearer than that the planes'
   line of intersection is noise. */
static inline bool tet_same_plane(const tet_surface *s, int i, const int b[3]) {
    const int *a = s->triangles[i].v;
    tet_vec normal = tet_triangle_normal(s, i), origin = s->points[a[0]];
    double longest = fmax(tet_distance(s->points[a[1]], origin), tet_distance(s->points[a[2]], origin));
    int k;
    for (k = 0; k < 3; ++k) {
        if (fabs(tet_dot(tet_sub(s->points[b[k]], origin), normal)) > 1e-8 * longest * tet_length(normal)) return false;
    }
    return true;
}

static inline bool tet_faces_cross(const tet_surface *s, int i, int j) {
    const int *a = s->triangles[i].v, *b = s->triangles[j].v;
    int shared = tet_shared_corners(a, b), k;
    if (shared >= 3) return false;
    if (tet_same_plane(s, i, b) || tet_same_plane(s, j, a)) return tet_flat_overlap(s, a, b, tet_triangle_normal(s, i));
    if (shared == 2) return false;
    for (k = 0; k < 3; ++k) {
        int p = a[k], q = a[(k + 1) % 3], u = b[k], w = b[(k + 1) % 3];
        bool pq_touches = p == b[0] || p == b[1] || p == b[2] || q == b[0] || q == b[1] || q == b[2];
        bool uw_touches = u == a[0] || u == a[1] || u == a[2] || w == a[0] || w == a[1] || w == a[2];
        if (!pq_touches && tet_pierces(s, p, q, b)) return true;
        if (!uw_touches && tet_pierces(s, u, w, a)) return true;
    }
    return false;
}

typedef struct tet_cross_search {
    const tet_surface *surface;
    const tet_tool *tool;
    int triangle;
    tet_problem *problem;
} tet_cross_search;

static inline bool tet_cross_visit(void *ctx, int other) {
    tet_cross_search *search = (tet_cross_search *)ctx;
    const tet_surface *s = search->surface;
    tet_problem *problem = search->problem;
    const int *v;
    tet_vec place;
    if (other <= search->triangle || !tet_faces_cross(s, search->triangle, other)) return true;
    v = s->triangles[other].v;
    place = tet_scale(tet_add(tet_add(s->points[v[0]], s->points[v[1]]), s->points[v[2]]), 1.0 / 3.0);
    if (problem->count++ == 0) problem->place = place;
    if (problem->count <= 8) {
        tet_report(search->tool, "faces cut each other: %d and %d near (%g, %g, %g)", search->triangle, other, place.x,
                   place.y, place.z);
    }
    return problem->count < 1000;
}

static inline tet_problem tet_find_crossings(tet_tool *tool, const tet_surface *s) {
    tet_box *boxes = tet_triangle_boxes(tool, s);
    tet_bvh bvh = tet_bvh_build(tool, boxes, s->triangle_count);
    tet_problem problem;
    tet_cross_search search;
    int i;
    memset(&problem, 0, sizeof problem);
    search.surface = s, search.tool = tool, search.problem = &problem;
    for (i = 0; i < s->triangle_count && problem.count < 1000; ++i) {
        search.triangle = i;
        tet_bvh_query(&bvh, &boxes[i], tet_cross_visit, &search);
        tet_progress(tool, "looking for crossings", i, s->triangle_count);
    }
    tet_bvh_free(tool, &bvh);
    tet_free(tool, boxes);
    return problem;
}

/* ---- [repair] everything in order -------------------------------------------------------------------------------- */

static inline void tet_check_range(tet_tool *tool, const tet_surface *s) {
    tet_box box = tet_box_of(s->points, s->point_count);
    double size = tet_distance(box.lo, box.hi), reach = fabs(box.lo.x);
    reach = fmax(reach, fmax(fabs(box.lo.y), fabs(box.lo.z)));
    reach = fmax(reach, fmax(fabs(box.hi.x), fmax(fabs(box.hi.y), fabs(box.hi.z))));
    if (reach > 1e12) tet_fail(tool, "coordinates reach %g: more than the 1e12 allowed", reach);
    if (!(size > 1e-9)) tet_fail(tool, "the mesh has no extent (%g)", size);
    if (reach > 1e6 * size) {
        tet_fail(tool, "the mesh is %g wide but %g from the origin: floats cannot hold that, move it nearer", size,
                 reach);
    }
}

static inline void tet_report_health(const tet_tool *tool, const tet_health *health) {
    if (health->welded) tet_report(tool, "welded %d vertices", health->welded);
    if (health->degenerate) tet_report(tool, "mended %d degenerate faces", health->degenerate);
    if (health->duplicate) tet_report(tool, "dropped %d duplicate faces", health->duplicate);
    if (health->unused) tet_report(tool, "dropped %d unused vertices", health->unused);
    if (health->filled) tet_report(tool, "filled %d holes", health->filled);
    if (health->flipped) tet_report(tool, "turned %d faces", health->flipped);
    if (health->components > 1) {
        tet_report(tool, "%d separate parts, %d of them cavities", health->components, health->cavities);
    }
}

/* weld < 0: a millionth of the diagonal. */
static inline tet_health tet_repair(tet_tool *tool, tet_surface *s, const tet_repair_options *options) {
    tet_health health;
    tet_box box;
    double weld = options->weld;
    int i, *twin;
    memset(&health, 0, sizeof health);
    tet_check_range(tool, s);
    box = tet_box_of(s->points, s->point_count);
    if (weld < 0.0) weld = 1e-6 * tet_distance(box.lo, box.hi);
    weld = fmax(weld, 1e-12 * tet_distance(box.lo, box.hi)); /* cells of the search need a size */
    health.welded = tet_weld(tool, s, weld);
    health.degenerate = tet_mend_degenerate(tool, s);
    health.duplicate = tet_drop_duplicates(tool, s, options->shell);
    if (options->fill_holes) health.filled = tet_fill_holes(tool, s);
    health.unused = tet_drop_unused(tool, s);
    if (!s->triangle_count) tet_fail(tool, "no face is left after repair: all were degenerate or duplicate");
    twin = tet_twins(tool, s);
    health.holes = tet_find_holes(tool, s, twin);
    health.non_manifold = tet_find_non_manifold(tool, s, twin);
    tet_mend_orientation(tool, s, twin, &health);
    health.crossings = tet_find_crossings(tool, s);
    for (i = 0; i < s->triangle_count; ++i) health.area += 0.5 * tet_length(tet_triangle_normal(s, i));
    if (tet_closed(&health)) health.volume = tet_surface_volume(s);
    tet_free(tool, twin);
    tet_progress_end(tool);
    tet_report_health(tool, &health);
    return health;
}

/* Neither a solid nor a shell can have edges with more than two faces. */
static inline void tet_refuse_non_manifold(tet_tool *tool, const tet_health *health) {
    const tet_problem *p = &health->non_manifold;
    if (p->count) {
        tet_fail(tool, "edges with more than two faces: %d, the first at (%g, %g, %g)", p->count, p->place.x,
                 p->place.y, p->place.z);
    }
}

/* One line for what stands in the way of a solid; returns if nothing does. */
static inline void tet_refuse(tet_tool *tool, const tet_surface *s, const tet_health *health) {
    const tet_problem *p = &health->holes;
    tet_box box = tet_box_of(s->points, s->point_count);
    double size = tet_distance(box.lo, box.hi);
    if (p->count) {
        tet_fail(
            tool,
            "the surface is open: %d hole%s, the largest of %d edges around (%g, %g, %g); try --fill-holes or --shell",
            p->count, p->count > 1 ? "s" : "", p->size, p->place.x, p->place.y, p->place.z);
    }
    tet_refuse_non_manifold(tool, health);
    p = &health->unorientable;
    if (p->count) {
        tet_fail(tool, "the surface has only one side (like a Moebius strip), seen at (%g, %g, %g)", p->place.x,
                 p->place.y, p->place.z);
    }
    p = &health->crossings;
    if (p->count) {
        tet_fail(tool, "the surface cuts through itself: %s%d pairs of faces, the first near (%g, %g, %g)",
                 p->count >= 1000 ? "at least " : "", p->count, p->place.x, p->place.y, p->place.z);
    }
    if (!(health->volume > 1e-12 * size * size * size)) tet_fail(tool, "the surface encloses no volume");
}

#endif /* TET_CHECK_H */
