/* tet_lattice.h - the built-in tetrahedralizer: isosurface stuffing on a body-centred cubic lattice. Private to tools/.
   SPDX-License-Identifier: MIT

   F. Labelle, J. R. Shewchuk, Isosurface Stuffing: Fast Tetrahedral Meshes with Good Dihedral Angles, 2007.
   Lattice points are inside or outside the surface; edges between the two kinds carry a cut point on the surface. A
   lattice point with a cut point too near is moved onto it (warped) and its other cut points vanish; what is left of
   every lattice tetrahedron is filled by one of a few stencils. No cut is ever near a corner, hence the bound on the
   angles, whatever the surface looks like. All tetrahedra have nearly the same size.

   Here the surface is a triangle mesh: sides by winding numbers along lattice lines, cut points by intersection. */
#ifndef TET_LATTICE_H
#define TET_LATTICE_H

#include "tet_geometry.h"
#include "tet_quality.h"

/* Cut points nearer than these fractions of their edge move the lattice point (the paper's values for the best smallest
   angle). Long edges run along the axes, short ones along the diagonals of the cubes. */
#define TET_WARP_LONG  0.24999
#define TET_WARP_SHORT 0.41189

typedef struct tet_lattice {
    tet_tool *tool;
    const tet_surface *surface;
    const tet_bvh *bvh;
    tet_vec origin;
    double size;    /* edge of the cubes */
    int nx, ny, nz; /* cubes along each axis; corners are (nx + 1)(ny + 1)(nz + 1), then nx ny nz centres */
    int corner_count, point_count;
    signed char *sign;       /* of every lattice point: 1 inside, -1 outside, 0 moved onto the surface */
    unsigned char *cut_near; /* of every lattice point: 1 if one of its edges is cut */
    int *vertex;             /* of the output for every lattice point, -1: none yet */
    tet_map cuts;            /* lattice edge -> vertex of the output; -1: vanished */
    tet_map moved;           /* warped lattice point -> index into warp_target */
    tet_vec *warp_target;
    int warp_count, warp_capacity;
    tet_mesh *out;
} tet_lattice;

/* ---- [points] ---------------------------------------------------------------------------------------------------- */

/* Points by doubled coordinates: even triples are corners, odd ones centres. -1 outside the lattice. */
static inline int tet_lattice_index(const tet_lattice *l, int x2, int y2, int z2) {
    int x = x2 >> 1, y = y2 >> 1, z = z2 >> 1, centre = x2 & 1;
    if (x2 < 0 || y2 < 0 || z2 < 0) return -1;
    if (x + centre > l->nx || y + centre > l->ny || z + centre > l->nz) return -1;
    if (!centre) return x + (l->nx + 1) * (y + (l->ny + 1) * z);
    return l->corner_count + x + l->nx * (y + l->ny * z);
}

static inline void tet_lattice_coordinates(const tet_lattice *l, int index, int c2[3]) {
    int centre = index >= l->corner_count, i = centre ? index - l->corner_count : index;
    int wide = centre ? l->nx : l->nx + 1, high = centre ? l->ny : l->ny + 1;
    c2[0] = 2 * (i % wide) + centre;
    c2[1] = 2 * (i / wide % high) + centre;
    c2[2] = 2 * (i / wide / high) + centre;
}

static inline tet_vec tet_lattice_home(const tet_lattice *l, int index) {
    int c[3];
    tet_lattice_coordinates(l, index, c);
    return tet_add(l->origin, tet_scale(tet_v(c[0], c[1], c[2]), 0.5 * l->size));
}

/* The 14 neighbours: 6 along the axes, 8 along the diagonals. */
static inline int tet_lattice_neighbour(const tet_lattice *l, const int c2[3], int direction) {
    if (direction < 6) {
        int step = direction & 1 ? 2 : -2, axis = direction >> 1;
        return tet_lattice_index(l, c2[0] + (axis == 0 ? step : 0), c2[1] + (axis == 1 ? step : 0),
                                 c2[2] + (axis == 2 ? step : 0));
    }
    direction -= 6;
    return tet_lattice_index(l, c2[0] + (direction & 1 ? 1 : -1), c2[1] + (direction & 2 ? 1 : -1),
                             c2[2] + (direction & 4 ? 1 : -1));
}

#define TET_LATTICE_MOST 3e7 /* cubes: a third of a gigabyte */

/* How many cubes a lattice of this size has, about. */
static inline double tet_lattice_cubes(const tet_surface *s, double size) {
    tet_box box = tet_box_of(s->points, s->point_count);
    tet_vec extent = tet_sub(box.hi, box.lo);
    return (extent.x / size + 4.0) * (extent.y / size + 4.0) * (extent.z / size + 4.0);
}

/* A lattice around the surface, centred on it, with a layer of outside points all round. */
static inline void tet_lattice_begin(tet_lattice *l, double size) {
    tet_box box = tet_box_of(l->surface->points, l->surface->point_count);
    tet_vec extent = tet_sub(box.hi, box.lo), middle = tet_mix(box.lo, box.hi, 0.5);
    double cubes = tet_lattice_cubes(l->surface, size);
    if (cubes > TET_LATTICE_MOST) {
        tet_fail(l->tool, "element size %g is too small: %.0f lattice cells (at most %.0f)", size, cubes,
                 TET_LATTICE_MOST);
    }
    l->size = size;
    l->nx = (int)ceil(extent.x / size) + 2;
    l->ny = (int)ceil(extent.y / size) + 2;
    l->nz = (int)ceil(extent.z / size) + 2;
    l->origin = tet_sub(middle, tet_scale(tet_v(l->nx, l->ny, l->nz), 0.5 * size));
    l->corner_count = (l->nx + 1) * (l->ny + 1) * (l->nz + 1);
    l->point_count = l->corner_count + l->nx * l->ny * l->nz;
    l->sign = (signed char *)tet_alloc(l->tool, (size_t)l->point_count, 1);
    l->cut_near = (unsigned char *)tet_alloc(l->tool, (size_t)l->point_count, 1);
    l->vertex = (int *)tet_alloc(l->tool, (size_t)l->point_count, sizeof *l->vertex);
    memset(l->vertex, 0xff, (size_t)l->point_count * sizeof *l->vertex);
}

static inline void tet_lattice_end(tet_lattice *l) {
    tet_free(l->tool, l->sign);
    tet_free(l->tool, l->cut_near);
    tet_free(l->tool, l->vertex);
    tet_free(l->tool, l->warp_target);
    tet_map_free(l->tool, &l->cuts);
    tet_map_free(l->tool, &l->moved);
}

/* ---- [signs] one line of crossings serves a whole row of points -------------------------------------------------- */

static inline void tet_lattice_sign_row(tet_lattice *l, tet_line *line, int y2, int z2) {
    int first = tet_lattice_index(l, y2 & 1, y2, z2), count = y2 & 1 ? l->nx : l->nx + 1, i, at = 0, winding = 0;
    double y = l->origin.y + 0.5 * l->size * y2, z = l->origin.z + 0.5 * l->size * z2;
    if (!tet_line_cast(line, l->bvh, y, z, 1e-9 * l->size)) {
        tet_fail(l->tool, "the surface is not closed along the line y = %g, z = %g", y, z);
    }
    for (i = 0; i < count; ++i) {
        double x = l->origin.x + l->size * (i + (y2 & 1 ? 0.5 : 0.0));
        while (at < line->count && line->crossings[at].x <= x) winding -= line->crossings[at++].direction;
        l->sign[first + i] = winding > 0 ? 1 : -1;
    }
}

static inline void tet_lattice_sign(tet_lattice *l) {
    tet_line line;
    int y, z, centre;
    memset(&line, 0, sizeof line);
    line.tool = l->tool, line.surface = l->surface;
    for (centre = 0; centre < 2; ++centre) {
        for (z = centre; z <= 2 * l->nz - centre; z += 2) {
            for (y = centre; y <= 2 * l->ny - centre; y += 2) tet_lattice_sign_row(l, &line, y, z);
            tet_progress(l->tool, "inside or outside", z, 2.0 * l->nz);
        }
    }
    tet_free(l->tool, line.crossings);
}

/* ---- [cuts] and [warp] ------------------------------------------------------------------------------------------- */

static inline void tet_lattice_cut_point(tet_lattice *l, int inside, int outside) {
    tet_vec from = tet_lattice_home(l, inside), to = tet_lattice_home(l, outside);
    double t = tet_segment_hit(l->surface, l->bvh, from, to);
    bool fresh;
    l->cut_near[inside] = l->cut_near[outside] = 1;
    tet_map_put(l->tool, &l->cuts, tet_edge_key(inside, outside), tet_mesh_point(l->tool, l->out, tet_mix(from, to, t)),
                &fresh);
}

static inline void tet_lattice_cut(tet_lattice *l) {
    int i, direction, c[3];
    for (i = 0; i < l->point_count; ++i) {
        if (l->sign[i] <= 0) continue;
        tet_lattice_coordinates(l, i, c);
        for (direction = 0; direction < 14; ++direction) {
            int other = tet_lattice_neighbour(l, c, direction);
            if (other >= 0 && l->sign[other] < 0) tet_lattice_cut_point(l, i, other);
        }
        tet_progress(l->tool, "cutting the lattice", i, l->point_count);
    }
}

/* The cut point that violates a lattice point most, as a fraction of what is allowed; -1: none does. */
static inline int tet_lattice_violation(const tet_lattice *l, int index, const int c[3]) {
    tet_vec home = tet_lattice_home(l, index);
    double worst = 1.0;
    int direction, found = -1;
    for (direction = 0; direction < 14; ++direction) {
        int other = tet_lattice_neighbour(l, c, direction), cut;
        double allowed = l->size * (direction < 6 ? TET_WARP_LONG : TET_WARP_SHORT * 0.86602540378443865), share;
        cut = other < 0 ? -1 : tet_map_get(&l->cuts, tet_edge_key(index, other));
        if (cut < 0) continue;
        share = tet_distance(l->out->points[cut], home) / allowed;
        if (share < worst) worst = share, found = cut;
    }
    return found;
}

static inline void tet_lattice_move(tet_lattice *l, int index, const int c[3], int cut) {
    int direction;
    bool fresh;
    l->sign[index] = 0;
    l->warp_target =
        (tet_vec *)tet_reserve(l->tool, l->warp_target, &l->warp_capacity, l->warp_count + 1, sizeof(tet_vec));
    l->warp_target[l->warp_count] = l->out->points[cut];
    tet_map_put(l->tool, &l->moved, (uint64_t)index, l->warp_count++, &fresh);
    for (direction = 0; direction < 14; ++direction) {
        int other = tet_lattice_neighbour(l, c, direction);
        if (other >= 0 && tet_map_get(&l->cuts, tet_edge_key(index, other)) >= 0) {
            *tet_map_put(l->tool, &l->cuts, tet_edge_key(index, other), -1, &fresh) = -1;
        }
    }
}

static inline void tet_lattice_warp(tet_lattice *l) {
    int i, c[3];
    for (i = 0; i < l->point_count; ++i) {
        int cut;
        if (!l->cut_near[i]) continue;
        tet_lattice_coordinates(l, i, c);
        cut = tet_lattice_violation(l, i, c);
        if (cut >= 0) tet_lattice_move(l, i, c, cut);
        tet_progress(l->tool, "warping", i, l->point_count);
    }
}

/* ---- [stencils] -------------------------------------------------------------------------------------------------- */

static inline int tet_lattice_vertex(tet_lattice *l, int index) {
    if (l->vertex[index] < 0) {
        int moved = l->sign[index] == 0 ? tet_map_get(&l->moved, (uint64_t)index) : -1;
        tet_vec p = moved >= 0 ? l->warp_target[moved] : tet_lattice_home(l, index);
        l->vertex[index] = tet_mesh_point(l->tool, l->out, p);
    }
    return l->vertex[index];
}

static inline int tet_lattice_cut_vertex(const tet_lattice *l, int inside, int outside) {
    return tet_map_get(&l->cuts, tet_edge_key(inside, outside));
}

/* Long edges join points of the same kind, short ones a corner and a centre. */
static inline bool tet_lattice_long(const tet_lattice *l, int a, int b) {
    return (a >= l->corner_count) == (b >= l->corner_count);
}

static inline void tet_lattice_emit(tet_lattice *l, int a, int b, int c, int d, bool odd) {
    int v[4];
    v[0] = a, v[1] = b, v[2] = odd ? d : c, v[3] = odd ? c : d;
    tet_mesh_cell(l->tool, l->out, v);
}

/* The quadrilateral p, q, cut(q, m), cut(p, m) on a lattice face that two tetrahedra share: does its diagonal start at
   p? The answer depends on the face alone. Where one of the two cut edges is long, the diagonal starts at the inside
   point of the other, short one (the other way round angles fall to 7.5 degrees); two short ones: the shorter diagonal,
   then the smaller number. */
static inline bool tet_lattice_diagonal_at(const tet_lattice *l, int p, int q, int m) {
    tet_vec cut_p = l->out->points[tet_lattice_cut_vertex(l, p, m)],
            cut_q = l->out->points[tet_lattice_cut_vertex(l, q, m)];
    double from_p, from_q;
    if (tet_lattice_long(l, p, m)) return false;
    if (tet_lattice_long(l, q, m)) return true;
    from_p = tet_distance(tet_lattice_home(l, p), cut_q);
    from_q = tet_distance(tet_lattice_home(l, q), cut_p);
    return from_p != from_q ? from_p < from_q : p < q;
}

/* A prism a[0..2] below, b[0..2] above; wins[i][j]: the diagonal of side ij starts at a[i]. Never cyclic. */
static inline void tet_lattice_prism(tet_lattice *l, const int a[3], const int b[3], bool w01, bool w02, bool w12,
                                     bool odd) {
    int score[3], first, second, third, i;
    score[0] = w01 + w02, score[1] = !w01 + w12, score[2] = !w02 + !w12;
    first = second = third = 0;
    for (i = 0; i < 3; ++i) {
        if (score[i] == 2) first = i;
        else if (score[i] == 1) second = i;
        else third = i;
    }
    if ((second - first + 3) % 3 != 1) odd = !odd;
    tet_lattice_emit(l, a[first], a[second], a[third], b[third], odd);
    tet_lattice_emit(l, a[first], a[second], b[third], b[second], odd);
    tet_lattice_emit(l, a[first], b[first], b[second], b[third], odd);
}

/* Two inside (p, q), two outside (m, n): a wedge. The fourth side lies on the surface; its diagonal is free. */
static inline void tet_lattice_wedge(tet_lattice *l, int p, int q, int m, int n, bool odd) {
    bool at_m = tet_lattice_diagonal_at(l, p, q, m), at_n = tet_lattice_diagonal_at(l, p, q, n), free_side;
    int a[3], b[3];
    a[0] = tet_lattice_vertex(l, p), a[1] = tet_lattice_cut_vertex(l, p, m), a[2] = tet_lattice_cut_vertex(l, p, n);
    b[0] = tet_lattice_vertex(l, q), b[1] = tet_lattice_cut_vertex(l, q, m), b[2] = tet_lattice_cut_vertex(l, q, n);
    if (at_m == at_n) {
        free_side = tet_distance(l->out->points[a[1]], l->out->points[b[2]]) <
                    tet_distance(l->out->points[a[2]], l->out->points[b[1]]);
    } else {
        free_side = at_n; /* the only choice that is not cyclic */
    }
    tet_lattice_prism(l, a, b, at_m, at_n, free_side, odd);
}

/* Two inside, one on the surface, one outside: a pyramid over the quadrilateral. */
static inline void tet_lattice_pyramid(tet_lattice *l, int p, int q, int zero, int m, bool odd) {
    int vp = tet_lattice_vertex(l, p), vq = tet_lattice_vertex(l, q), vz = tet_lattice_vertex(l, zero);
    int cp = tet_lattice_cut_vertex(l, p, m), cq = tet_lattice_cut_vertex(l, q, m);
    if (tet_lattice_diagonal_at(l, p, q, m)) {
        tet_lattice_emit(l, vp, vq, vz, cq, odd);
        tet_lattice_emit(l, vp, cq, vz, cp, odd);
    } else {
        tet_lattice_emit(l, vp, vq, vz, cp, odd);
        tet_lattice_emit(l, cp, vq, vz, cq, odd);
    }
}

/* Sorts inside first, then surface, then outside; answers whether the permutation is odd. */
static inline bool tet_lattice_sort(const tet_lattice *l, int v[4]) {
    bool odd = false;
    int i, k;
    for (i = 0; i < 3; ++i) {
        for (k = 0; k < 3 - i; ++k) {
            int t = v[k];
            if (l->sign[v[k]] >= l->sign[v[k + 1]]) continue;
            v[k] = v[k + 1], v[k + 1] = t;
            odd = !odd;
        }
    }
    return odd;
}

/* What is inside of one lattice tetrahedron. */
static inline void tet_lattice_fill(tet_lattice *l, int v[4]) {
    bool odd = tet_lattice_sort(l, v);
    int inside = 0, outside = 0, i, o[4];
    for (i = 0; i < 4; ++i) inside += l->sign[v[i]] > 0, outside += l->sign[v[i]] < 0;
    if (inside == 0) return;
    if (inside == 1 || outside == 0) { /* one tetrahedron; outside corners are replaced by cuts */
        for (i = 0; i < 4; ++i) {
            o[i] = l->sign[v[i]] >= 0 ? tet_lattice_vertex(l, v[i]) : tet_lattice_cut_vertex(l, v[0], v[i]);
        }
        tet_lattice_emit(l, o[0], o[1], o[2], o[3], odd);
    } else if (inside == 3) {
        int b[3];
        for (i = 0; i < 3; ++i) o[i] = tet_lattice_vertex(l, v[i]), b[i] = tet_lattice_cut_vertex(l, v[i], v[3]);
        tet_lattice_prism(l, o, b, tet_lattice_diagonal_at(l, v[0], v[1], v[3]),
                          tet_lattice_diagonal_at(l, v[0], v[2], v[3]), tet_lattice_diagonal_at(l, v[1], v[2], v[3]),
                          odd);
    } else if (outside == 2) {
        tet_lattice_wedge(l, v[0], v[1], v[2], v[3], odd);
    } else {
        tet_lattice_pyramid(l, v[0], v[1], v[2], v[3], odd);
    }
}

/* The four tetrahedra around the axis from one centre to the next along an axis: the axis and an edge of the face
   between the two cubes. */
static inline void tet_lattice_axis(tet_lattice *l, const int centre[3], int axis) {
    static const int around[4][2] = {{-1, -1}, {1, -1}, {1, 1}, {-1, 1}};
    int second[3], k, u = (axis + 1) % 3, w = (axis + 2) % 3, from, to;
    memcpy(second, centre, sizeof second);
    second[axis] += 2;
    from = tet_lattice_index(l, centre[0], centre[1], centre[2]);
    to = tet_lattice_index(l, second[0], second[1], second[2]);
    if (from < 0 || to < 0) return;
    for (k = 0; k < 4; ++k) {
        int e[2][3], v[4], i;
        for (i = 0; i < 2; ++i) {
            memcpy(e[i], centre, sizeof e[i]);
            e[i][axis] += 1;
            e[i][u] += around[(k + i) % 4][0];
            e[i][w] += around[(k + i) % 4][1];
        }
        v[0] = from, v[1] = to;
        v[2] = tet_lattice_index(l, e[0][0], e[0][1], e[0][2]);
        v[3] = tet_lattice_index(l, e[1][0], e[1][1], e[1][2]);
        tet_lattice_fill(l, v);
    }
}

static inline void tet_lattice_stencils(tet_lattice *l) {
    int i, axis, c[3];
    for (i = l->corner_count; i < l->point_count; ++i) {
        tet_lattice_coordinates(l, i, c);
        for (axis = 0; axis < 3; ++axis) tet_lattice_axis(l, c, axis);
        tet_progress(l->tool, "filling", i - l->corner_count, l->point_count - l->corner_count);
    }
}

/* ---- [mesh] ------------------------------------------------------------------------------------------------------ */

/* Drops points no cell uses, keeps the order. */
static inline void tet_mesh_compact(tet_tool *tool, tet_mesh *m) {
    int *renumber = (int *)tet_alloc(tool, (size_t)m->point_count + 1, sizeof *renumber);
    int i, k, kept = 0;
    for (i = 0; i < m->cell_count; ++i) {
        for (k = 0; k < 4; ++k) renumber[m->cells[i].v[k]] = 1;
    }
    for (i = 0; i < m->point_count; ++i) {
        if (renumber[i]) m->points[kept] = m->points[i];
        renumber[i] = renumber[i] ? kept++ : -1;
    }
    for (i = 0; i < m->cell_count; ++i) {
        for (k = 0; k < 4; ++k) m->cells[i].v[k] = renumber[m->cells[i].v[k]];
    }
    m->point_count = kept;
    tet_free(tool, renumber);
}

/* One mesh at one size, exactly as the lattice gives it. */
static inline void tet_stuff(tet_tool *tool, const tet_surface *s, const tet_bvh *bvh, double size, tet_mesh *out) {
    tet_lattice l;
    memset(&l, 0, sizeof l);
    l.tool = tool, l.surface = s, l.bvh = bvh, l.out = out;
    out->point_count = out->cell_count = 0;
    tet_lattice_begin(&l, size);
    tet_lattice_sign(&l);
    tet_lattice_cut(&l);
    tet_lattice_warp(&l);
    tet_lattice_stencils(&l);
    tet_lattice_end(&l);
    tet_mesh_compact(tool, out);
}

#endif /* TET_LATTICE_H */
