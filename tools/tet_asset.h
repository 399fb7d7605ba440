/* tet_asset.h - turns a mesh into the bytes of an asset: surface, constraints in coloured order, masses. Private.
   SPDX-License-Identifier: MIT */
#ifndef TET_ASSET_H
#define TET_ASSET_H

#include "isphpbd_pbd.h"
#include "tet_check.h"
#include "tet_embed.h"
#include "tet_quality.h"

/* Everything the writer needs; lists are in file order. */
typedef struct tet_asset {
    uint32_t flags;
    tet_vec *points;
    double *masses;
    int point_count;
    int *cells, *cell_colours;
    int cell_count, cell_colour_count;
    int *triangles;
    int triangle_count;
    int *edges, *edge_colours;
    int edge_count, edge_colour_count;
    int *bends, *bend_colours;
    double *bend_angles;
    int bend_count, bend_colour_count;
    tet_embedding embedding;
    int skin_count;
    const tet_surface *skin; /* its triangles and its map */
    double density, mass, volume, area, element_size;
} tet_asset;

/* ---- [surface] of a tetrahedral mesh: faces that belong to one cell ---------------------------------------------- */

static const int tet_face_corners[4][3] = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}}; /* outward, opposite corner k */

/* Corners of the boundary faces, three ints each. Faces come in the order of their cells. */
static inline int *tet_boundary(tet_tool *tool, const tet_mesh *m, int *count) {
    size_t faces = (size_t)m->cell_count * 4;
    tet_face_key *keys = (tet_face_key *)tet_alloc(tool, faces + 1, sizeof *keys);
    unsigned char *inner = (unsigned char *)tet_alloc(tool, faces + 1, 1);
    int *corners, i, k, v[3];
    if (m->cell_count > INT_MAX / 16) tet_fail(tool, "too large: %d tetrahedra", m->cell_count);
    for (i = 0; i < m->cell_count * 4; ++i) {
        for (k = 0; k < 3; ++k) v[k] = m->cells[i / 4].v[tet_face_corners[i % 4][k]];
        keys[i] = tet_face_key_of(v, i);
    }
    qsort(keys, faces, sizeof *keys, tet_face_key_compare);
    for (i = 1; i < m->cell_count * 4; ++i) {
        if (memcmp(keys[i].low, keys[i - 1].low, sizeof keys[i].low) == 0)
            inner[keys[i].face] = inner[keys[i - 1].face] = 1;
    }
    tet_free(tool, keys);
    *count = 0;
    corners = (int *)tet_alloc(tool, faces * 3 + 1, sizeof *corners);
    for (i = 0; i < m->cell_count * 4; ++i) {
        if (inner[i]) continue;
        for (k = 0; k < 3; ++k) corners[*count * 3 + k] = m->cells[i / 4].v[tet_face_corners[i % 4][k]];
        ++*count;
    }
    tet_free(tool, inner);
    return corners;
}

/* ---- [colours] --------------------------------------------------------------------------------------------------- */

/* Orders count elements of width indices so that no two of one colour share a point; within a colour the order stays.
   Greedy: colour after colour takes what it can. order[i] is the element at place i; ends of colours are returned. */
static inline int *tet_colour(tet_tool *tool, const int *elements, int count, int width, int points, int *order,
                              int *colours) {
    int *marked = (int *)tet_alloc(tool, (size_t)points + 1, sizeof *marked), *ends = NULL, *left;
    int capacity = 0, done = 0, remaining = count, i, k;
    left = (int *)tet_alloc(tool, (size_t)count + 1, sizeof *left);
    for (i = 0; i < count; ++i) left[i] = i;
    for (*colours = 0; remaining > 0; ++*colours) {
        int kept = 0;
        for (i = 0; i < remaining; ++i) {
            const int *e = elements + (size_t)left[i] * (size_t)width;
            bool taken = false;
            for (k = 0; k < width; ++k) taken = taken || marked[e[k]] == *colours + 1;
            if (taken) {
                left[kept++] = left[i];
                continue;
            }
            for (k = 0; k < width; ++k) marked[e[k]] = *colours + 1;
            order[done++] = left[i];
        }
        remaining = kept;
        ends = (int *)tet_reserve(tool, ends, &capacity, *colours + 1, sizeof *ends);
        ends[*colours] = done;
    }
    tet_free(tool, marked);
    tet_free(tool, left);
    return ends;
}

/* Colours a list in place and answers the ends; extra (may be NULL) is one number per element that moves along. */
static inline int *tet_colour_list(tet_tool *tool, int *elements, double *extra, int count, int width, int points,
                                   int *colours) {
    int *order = (int *)tet_alloc(tool, (size_t)count + 1, sizeof *order);
    int *copy = (int *)tet_alloc(tool, (size_t)count * (size_t)width + 1, sizeof *copy), *ends, i;
    double *extra_copy = (double *)tet_alloc(tool, (size_t)count + 1, sizeof *extra_copy);
    memcpy(copy, elements, (size_t)count * (size_t)width * sizeof *copy);
    if (extra) memcpy(extra_copy, extra, (size_t)count * sizeof *extra);
    ends = tet_colour(tool, copy, count, width, points, order, colours);
    for (i = 0; i < count; ++i) {
        memcpy(elements + (size_t)i * (size_t)width, copy + (size_t)order[i] * (size_t)width,
               (size_t)width * sizeof *copy);
        if (extra) extra[i] = extra_copy[order[i]];
    }
    tet_free(tool, order);
    tet_free(tool, copy);
    tet_free(tool, extra_copy);
    return ends;
}

/* ---- [constraints] ----------------------------------------------------------------------------------------------- */

/* Every edge of elements with `width` corners once, smaller number first, in order of first appearance. */
static inline int *tet_unique_edges(tet_tool *tool, const int *elements, int count, int width, int *edge_count) {
    tet_map seen;
    int *edges = NULL, capacity = 0, i, a, b;
    memset(&seen, 0, sizeof seen);
    *edge_count = 0;
    for (i = 0; i < count; ++i) {
        const int *e = elements + (size_t)i * (size_t)width;
        for (a = 0; a < width; ++a) {
            for (b = a + 1; b < width; ++b) {
                bool fresh;
                tet_map_put(tool, &seen, tet_edge_key(e[a], e[b]), 0, &fresh);
                if (!fresh) continue;
                edges = (int *)tet_reserve(tool, edges, &capacity, 2 * *edge_count + 2, sizeof *edges);
                edges[2 * *edge_count] = e[a] < e[b] ? e[a] : e[b];
                edges[2 * *edge_count + 1] = e[a] < e[b] ? e[b] : e[a];
                ++*edge_count;
            }
        }
    }
    tet_map_free(tool, &seen);
    return edges;
}

/* Angle between the normals of triangles (a, b, c) and (b, a, d), positive where the surface is convex. */
static inline double tet_bend_angle(const tet_vec *p, const int v[4]) {
    tet_vec axis = tet_sub(p[v[1]], p[v[0]]);
    tet_vec n1 = tet_cross(axis, tet_sub(p[v[2]], p[v[0]])), n2 = tet_cross(tet_sub(p[v[3]], p[v[0]]), axis);
    double sine = tet_dot(tet_cross(n1, n2), axis) / tet_length(axis);
    return atan2(sine, tet_dot(n1, n2));
}

/* One bend for every edge with exactly two triangles. */
static inline void tet_find_bends(tet_tool *tool, const tet_surface *s, tet_asset *asset) {
    int *twin = tet_twins(tool, s), h;
    asset->bends = (int *)tet_alloc(tool, (size_t)s->triangle_count * 6 + 4, sizeof *asset->bends);
    asset->bend_angles = (double *)tet_alloc(tool, (size_t)s->triangle_count * 3 / 2 + 1, sizeof *asset->bend_angles);
    for (h = 0; h < s->triangle_count * 3; ++h) {
        const int *v = s->triangles[h / 3].v;
        int *bend = asset->bends + 4 * (size_t)asset->bend_count;
        if (twin[h] < h) continue;
        bend[0] = v[h % 3], bend[1] = v[(h + 1) % 3], bend[2] = v[(h + 2) % 3];
        bend[3] = s->triangles[twin[h] / 3].v[(twin[h] + 2) % 3];
        if (bend[2] == bend[3]) continue;
        asset->bend_angles[asset->bend_count++] = tet_bend_angle(asset->points, bend);
    }
    tet_free(tool, twin);
}

static inline double tet_mean_edge(const tet_asset *a) {
    double sum = 0.0;
    int i;
    for (i = 0; i < a->edge_count; ++i) sum += tet_distance(a->points[a->edges[2 * i]], a->points[a->edges[2 * i + 1]]);
    return a->edge_count ? sum / a->edge_count : 0.0;
}

/* Shares of elements go to their corners in equal parts; what the coarse body's volume lacks of the true one is made
   up. */
static inline void tet_spread_mass(tet_tool *tool, tet_asset *a) {
    int i, k;
    double sum = 0.0;
    a->masses = (double *)tet_alloc(tool, (size_t)a->point_count + 1, sizeof *a->masses);
    for (i = 0; i < a->cell_count; ++i) {
        const int *v = a->cells + 4 * (size_t)i;
        double volume = tet_volume6(a->points[v[0]], a->points[v[1]], a->points[v[2]], a->points[v[3]]) / 6.0;
        for (k = 0; k < 4; ++k) a->masses[v[k]] += volume / 4.0;
    }
    for (i = 0; i < a->triangle_count && a->cell_count == 0; ++i) {
        const int *v = a->triangles + 3 * (size_t)i;
        tet_vec n = tet_cross(tet_sub(a->points[v[1]], a->points[v[0]]), tet_sub(a->points[v[2]], a->points[v[0]]));
        for (k = 0; k < 3; ++k) a->masses[v[k]] += 0.5 * tet_length(n) / 3.0;
    }
    for (i = 0; i < a->point_count; ++i) sum += a->masses[i];
    a->mass = a->density * (a->cell_count ? a->volume : a->area);
    for (i = 0; i < a->point_count; ++i) a->masses[i] *= a->mass / sum;
}

/* Rounds to what the asset can hold, so that all that follows is computed from the very numbers a game will see.
   Volatile because gcc 12 -O2 drops (double)(float)x when it vectorises a loop over doubles. */
static inline double tet_rounded(double value) {
    volatile float narrow = (float)value;
    return (double)narrow;
}

static inline void tet_round_points(tet_vec *points, int count) {
    int i;
    for (i = 0; i < count; ++i)
        points[i] = tet_v(tet_rounded(points[i].x), tet_rounded(points[i].y), tet_rounded(points[i].z));
}

/* ---- [make] ------------------------------------------------------------------------------------------------------ */

/* The library refuses tetrahedra whose volume is below a millionth of their longest edge cubed; so does the tool, twice
   as early, because the user can still do something about it here. */
static inline void tet_require_sound(tet_tool *tool, const tet_mesh *m) {
    int i, k, flat = 0;
    for (i = 0; i < m->cell_count; ++i) {
        const int *v = m->cells[i].v;
        double longest = 0.0;
        for (k = 0; k < 6; ++k) {
            longest =
                fmax(longest, tet_distance(m->points[v[tet_edge_corners[k][0]]], m->points[v[tet_edge_corners[k][1]]]));
        }
        flat += !(tet_cell_volume(m, i) > 2e-6 * longest * longest * longest);
    }
    if (flat) {
        tet_fail(tool,
                 "%d of %d tetrahedra are flat: thin triangles of the input force them; drop --keep-surface or use "
                 "--method builtin",
                 flat, m->cell_count);
    }
}

/* A solid: the mesh's points are rounded in place. */
static inline tet_asset tet_make_solid(tet_tool *tool, tet_mesh *m, const tet_surface *s, const tet_health *health,
                                       double density) {
    tet_asset a;
    memset(&a, 0, sizeof a);
    tet_round_points(m->points, m->point_count);
    tet_require_sound(tool, m);
    a.flags = IPBD_ASSET_SOLID | IPBD_ASSET_CLOSED;
    a.density = density, a.volume = health->volume, a.area = health->area;
    a.points = m->points, a.point_count = m->point_count;
    a.triangles = tet_boundary(tool, m, &a.triangle_count);
    a.cells = m->cells[0].v, a.cell_count = m->cell_count;
    a.cell_colours = tet_colour_list(tool, a.cells, NULL, a.cell_count, 4, a.point_count, &a.cell_colour_count);
    a.edges = tet_unique_edges(tool, a.cells, a.cell_count, 4, &a.edge_count);
    a.edge_colours = tet_colour_list(tool, a.edges, NULL, a.edge_count, 2, a.point_count, &a.edge_colour_count);
    a.element_size = tet_mean_edge(&a);
    a.embedding = tet_embed(tool, m, s, a.element_size);
    a.skin = s, a.skin_count = s->point_count;
    tet_spread_mass(tool, &a);
    return a;
}

/* A shell: the surface is the body. */
static inline tet_asset tet_make_shell(tet_tool *tool, tet_surface *s, const tet_health *health, double density) {
    tet_asset a;
    memset(&a, 0, sizeof a);
    tet_round_points(s->points, s->point_count);
    a.flags = IPBD_ASSET_SHELL | (tet_closed(health) ? (uint32_t)IPBD_ASSET_CLOSED : 0u);
    a.density = density, a.area = health->area, a.volume = tet_closed(health) ? fmax(health->volume, 0.0) : 0.0;
    a.points = s->points, a.point_count = s->point_count;
    a.triangles = s->triangles[0].v, a.triangle_count = s->triangle_count;
    a.edges = tet_unique_edges(tool, a.triangles, a.triangle_count, 3, &a.edge_count);
    a.edge_colours = tet_colour_list(tool, a.edges, NULL, a.edge_count, 2, a.point_count, &a.edge_colour_count);
    tet_find_bends(tool, s, &a);
    a.bend_colours =
        tet_colour_list(tool, a.bends, a.bend_angles, a.bend_count, 4, a.point_count, &a.bend_colour_count);
    a.element_size = tet_mean_edge(&a);
    a.skin = s;
    tet_spread_mass(tool, &a);
    return a;
}

/* ---- [bytes] ----------------------------------------------------------------------------------------------------- */

typedef struct tet_bytes {
    unsigned char *data;
    size_t size, at;
} tet_bytes;

static inline void tet_put_word(tet_bytes *b, uint32_t word) {
    int i;
    for (i = 0; i < 4; ++i) b->data[b->at++] = (unsigned char)(word >> (8 * i));
}
static inline void tet_put_float(tet_bytes *b, double value) {
    float f = (float)value;
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    tet_put_word(b, bits);
}
static inline void tet_put_vec(tet_bytes *b, tet_vec v) {
    tet_put_float(b, v.x), tet_put_float(b, v.y), tet_put_float(b, v.z);
}
static inline void tet_put_ints(tet_bytes *b, const int *values, int count) {
    int i;
    for (i = 0; i < count; ++i) tet_put_word(b, (uint32_t)values[i]);
}
static inline void tet_pad(tet_bytes *b) { b->at = (b->at + 15) & ~(size_t)15; } /* the block is zero from the start */

static inline void tet_section_counts(const tet_asset *a, int counts[IPBD_ASSET_SECTION_COUNT]) {
    bool solid = (a->flags & IPBD_ASSET_SOLID) != 0;
    counts[IPBD_ASSET_POSITIONS] = counts[IPBD_ASSET_MASSES] = a->point_count;
    counts[IPBD_ASSET_TETRAHEDRA] = a->cell_count;
    counts[IPBD_ASSET_TETRA_COLOURS] = a->cell_colour_count;
    counts[IPBD_ASSET_TRIANGLES] = a->triangle_count;
    counts[IPBD_ASSET_EDGES] = counts[IPBD_ASSET_EDGE_LENGTHS] = a->edge_count;
    counts[IPBD_ASSET_EDGE_COLOURS] = a->edge_colour_count;
    counts[IPBD_ASSET_BENDS] = counts[IPBD_ASSET_BEND_ANGLES] = a->bend_count;
    counts[IPBD_ASSET_BEND_COLOURS] = a->bend_colour_count;
    counts[IPBD_ASSET_SKIN_TETRAHEDRA] = counts[IPBD_ASSET_SKIN_WEIGHTS] = a->skin_count;
    counts[IPBD_ASSET_SKIN_TRIANGLES] = solid ? a->skin->triangle_count : 0;
    counts[IPBD_ASSET_VERTEX_MAP] = a->skin->map_count;
}

static inline void tet_put_header(tet_bytes *b, const tet_asset *a, const int *counts) {
    tet_box box = tet_box_of(a->points, a->point_count);
    int i;
    if (a->skin_count) {
        for (i = 0; i < a->skin->point_count; ++i) tet_box_add(&box, a->skin->points[i]);
    }
    memcpy(b->data, "IPBDTETA", 8);
    b->at = 8;
    tet_put_word(b, IPBD_ASSET_VERSION);
    tet_put_word(b, IPBDX_ASSET_HEADER_WORDS * 4u);
    tet_put_word(b, (uint32_t)b->size);
    tet_put_word(b, (uint32_t)((uint64_t)b->size >> 32));
    b->at += 8; /* checksum: last */
    tet_put_word(b, a->flags);
    tet_put_ints(b, counts, IPBD_ASSET_SECTION_COUNT);
    tet_put_vec(b, box.lo);
    tet_put_vec(b, box.hi);
    tet_put_float(b, a->density), tet_put_float(b, a->mass), tet_put_float(b, a->volume), tet_put_float(b, a->area);
    tet_put_float(b, a->element_size);
    b->at = IPBDX_ASSET_HEADER_WORDS * 4u;
}

static inline void tet_put_body(tet_bytes *b, const tet_asset *a) {
    int i;
    for (i = 0; i < a->point_count; ++i) tet_put_vec(b, a->points[i]);
    tet_pad(b);
    for (i = 0; i < a->point_count; ++i) tet_put_float(b, a->masses[i]);
    tet_pad(b);
    tet_put_ints(b, a->cells, a->cell_count * 4), tet_pad(b);
    tet_put_ints(b, a->cell_colours, a->cell_colour_count), tet_pad(b);
    tet_put_ints(b, a->triangles, a->triangle_count * 3), tet_pad(b);
    tet_put_ints(b, a->edges, a->edge_count * 2), tet_pad(b);
    for (i = 0; i < a->edge_count; ++i) {
        tet_put_float(b, tet_distance(a->points[a->edges[2 * i]], a->points[a->edges[2 * i + 1]]));
    }
    tet_pad(b);
    tet_put_ints(b, a->edge_colours, a->edge_colour_count), tet_pad(b);
    tet_put_ints(b, a->bends, a->bend_count * 4), tet_pad(b);
    for (i = 0; i < a->bend_count; ++i) tet_put_float(b, a->bend_angles[i]);
    tet_pad(b);
    tet_put_ints(b, a->bend_colours, a->bend_colour_count), tet_pad(b);
}

static inline void tet_put_skin(tet_bytes *b, const tet_asset *a) {
    int i, k;
    tet_put_ints(b, a->embedding.cell, a->skin_count), tet_pad(b);
    for (i = 0; i < a->skin_count; ++i) {
        for (k = 0; k < 4; ++k) tet_put_float(b, a->embedding.weights[i][k]);
    }
    tet_pad(b);
    for (i = 0; i < a->skin->triangle_count && a->skin_count; ++i) tet_put_ints(b, a->skin->triangles[i].v, 3);
    tet_pad(b);
    tet_put_ints(b, a->skin->map, a->skin->map_count), tet_pad(b);
}

/* The finished block, opened once more to be sure that what was written is what a game will accept. */
static inline tet_bytes tet_asset_bytes(tet_tool *tool, const tet_asset *a) {
    int counts[IPBD_ASSET_SECTION_COUNT], i;
    tet_bytes b;
    uint64_t sum, total = IPBDX_ASSET_HEADER_WORDS * 4u;
    ipbd_asset opened;
    tet_section_counts(a, counts);
    for (i = 0; i < IPBD_ASSET_SECTION_COUNT; ++i) total += ipbdx_asset_section_bytes(i, (uint32_t)counts[i]);
    b.size = (size_t)total, b.at = 0;
    b.data = (unsigned char *)tet_alloc(tool, b.size, 1);
    tet_put_header(&b, a, counts);
    tet_put_body(&b, a);
    tet_put_skin(&b, a);
    sum = ipbd_asset_checksum(b.data, b.size);
    b.at = 24;
    tet_put_word(&b, (uint32_t)sum), tet_put_word(&b, (uint32_t)(sum >> 32));
    if (ipbdx_asset_in_place(b.data)) {
        isphpbd_result result = ipbd_asset_open(b.data, b.size, NULL, 0, &opened);
        if (result != ISPHPBD_OK)
            tet_fail(tool, "the asset does not pass its own loader: %s", isphpbd_result_text(result));
    }
    return b;
}

#endif /* TET_ASSET_H */
