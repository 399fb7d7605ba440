/* tet_snap.h - sharp edges and corners for the lattice's mesh, and a comparison of topology. Private to tools/.
   SPDX-License-Identifier: MIT

   Isosurface stuffing puts points on the surface but not on its sharp edges, so that rims look sawn. Boundary points
   near a sharp edge or corner of the input are moved onto it, the nearest first, wherever the tetrahedra around them
   keep good angles. */
#ifndef TET_SNAP_H
#define TET_SNAP_H

#include "tet_asset.h"

/* ---- [topology] -------------------------------------------------------------------------------------------------- */

typedef struct tet_topology {
    int euler;  /* vertices - edges + faces of the surface: 2 per sphere, 0 per torus */
    int parts;  /* connected components of the surface */
    bool plain; /* no edge has more than two faces */
} tet_topology;

/* faces: three corners each, of points numbered below point_count. */
static inline tet_topology tet_surface_topology(tet_tool *tool, const int *faces, int count, int point_count) {
    int *parent = (int *)tet_alloc(tool, (size_t)point_count + 1, sizeof *parent), *edges, edge_count, i, used = 0;
    unsigned char *seen = (unsigned char *)tet_alloc(tool, (size_t)point_count + 1, 1);
    tet_topology t;
    for (i = 0; i < point_count; ++i) parent[i] = i;
    for (i = 0; i < 3 * count; ++i) {
        used += !seen[faces[i]];
        seen[faces[i]] = 1;
        parent[tet_root(parent, faces[i])] = tet_root(parent, faces[i - i % 3]);
    }
    edges = tet_unique_edges(tool, faces, count, 3, &edge_count);
    t.euler = used - edge_count + count;
    t.plain = 2 * edge_count == 3 * count;
    for (i = 0, t.parts = 0; i < point_count; ++i) t.parts += seen[i] && parent[i] == i;
    tet_free(tool, parent);
    tet_free(tool, seen);
    tet_free(tool, edges);
    return t;
}

static inline bool tet_same_topology(tet_topology a, tet_topology b) {
    return a.euler == b.euler && a.parts == b.parts && a.plain && b.plain;
}

/* ---- [features] of the input ------------------------------------------------------------------------------------- */

typedef struct tet_feature {
    tet_vec from, to; /* equal: a corner */
} tet_feature;

typedef struct tet_features {
    tet_feature *list; /* corners first */
    int count, capacity, corner_count;
} tet_features;

#define TET_SHARP_COSINE 0.8 /* between the normals of two faces: sharper than 37 degrees is an edge */

static inline void tet_feature_add(tet_tool *tool, tet_features *f, tet_vec from, tet_vec to) {
    f->list = (tet_feature *)tet_reserve(tool, f->list, &f->capacity, f->count + 1, sizeof *f->list);
    f->list[f->count].from = from;
    f->list[f->count++].to = to;
}

/* Does the half-edge lie between two faces that make an edge? */
static inline bool tet_half_edge_sharp(const tet_surface *s, const int *twin, int h) {
    tet_vec a, b;
    if (twin[h] < 0) return false;
    a = tet_triangle_normal(s, h / 3), b = tet_triangle_normal(s, twin[h] / 3);
    return tet_dot(a, b) < TET_SHARP_COSINE * tet_length(a) * tet_length(b);
}

/* Points where other than two sharp edges meet, or two that turn by more than 45 degrees. */
static inline void tet_find_corners(tet_tool *tool, const tet_surface *s, const int *degree, const tet_vec *sum,
                                    tet_features *f) {
    int i;
    for (i = 0; i < s->point_count; ++i) {
        bool bent = degree[i] == 2 && tet_length(sum[i]) > 0.77; /* sum of two unit vectors: 0 if straight */
        if (degree[i] == 1 || degree[i] > 2 || bent) tet_feature_add(tool, f, s->points[i], s->points[i]);
    }
}

static inline tet_features tet_find_features(tet_tool *tool, const tet_surface *s) {
    int *twin = tet_twins(tool, s), *degree = (int *)tet_alloc(tool, (size_t)s->point_count + 1, sizeof *degree), h,
        end;
    tet_vec *sum = (tet_vec *)tet_alloc(tool, (size_t)s->point_count + 1, sizeof *sum);
    tet_features f;
    memset(&f, 0, sizeof f);
    for (h = 0; h < s->triangle_count * 3; ++h) {
        int v[2];
        v[0] = s->triangles[h / 3].v[h % 3], v[1] = s->triangles[h / 3].v[(h + 1) % 3];
        if (twin[h] < h || !tet_half_edge_sharp(s, twin, h)) continue;
        for (end = 0; end < 2; ++end) {
            tet_vec d = tet_sub(s->points[v[1 - end]], s->points[v[end]]);
            degree[v[end]]++;
            sum[v[end]] = tet_add(sum[v[end]], tet_scale(d, 1.0 / tet_length(d)));
        }
    }
    tet_find_corners(tool, s, degree, sum, &f);
    f.corner_count = f.count;
    for (h = 0; h < s->triangle_count * 3; ++h) {
        const int *v = s->triangles[h / 3].v;
        if (twin[h] < h || !tet_half_edge_sharp(s, twin, h)) continue;
        tet_feature_add(tool, &f, s->points[v[h % 3]], s->points[v[(h + 1) % 3]]);
    }
    tet_free(tool, twin);
    tet_free(tool, degree);
    tet_free(tool, sum);
    return f;
}

/* ---- [moves] ----------------------------------------------------------------------------------------------------- */

typedef struct tet_move {
    double distance;
    int point;
    tet_vec target;
} tet_move;

typedef struct tet_moves {
    tet_tool *tool;
    const tet_features *features;
    const tet_mesh *mesh;
    tet_move *list;
    int count, capacity, point;
    double reach;
    bool corners; /* look at corners only, or at edges only */
} tet_moves;

static inline bool tet_move_visit(void *ctx, int item) {
    tet_moves *moves = (tet_moves *)ctx;
    const tet_feature *f = &moves->features->list[item];
    tet_vec p = moves->mesh->points[moves->point];
    tet_move move;
    if ((item < moves->features->corner_count) != moves->corners) return true;
    move.target = tet_nearest_on_segment(f->from, f->to, p);
    move.distance = tet_distance(move.target, p);
    move.point = moves->point;
    if (move.distance > moves->reach) return true;
    moves->list = (tet_move *)tet_reserve(moves->tool, moves->list, &moves->capacity, moves->count + 1, sizeof move);
    moves->list[moves->count++] = move;
    return true;
}

static inline int tet_move_compare(const void *a, const void *b) {
    const tet_move *l = (const tet_move *)a, *r = (const tet_move *)b;
    if (l->distance != r->distance) return l->distance < r->distance ? -1 : 1;
    if (l->point != r->point) return l->point - r->point;
    if (l->target.x != r->target.x) return l->target.x < r->target.x ? -1 : 1;
    if (l->target.y != r->target.y) return l->target.y < r->target.y ? -1 : 1;
    return l->target.z < r->target.z ? -1 : l->target.z > r->target.z;
}

/* Cells around every point: those of point i are list[start[i]] up to list[start[i + 1]]. */
typedef struct tet_stars {
    int *start, *list;
} tet_stars;

static inline tet_stars tet_find_stars(tet_tool *tool, const tet_mesh *m) {
    tet_stars s;
    int i, k;
    s.start = (int *)tet_alloc(tool, (size_t)m->point_count + 2, sizeof *s.start);
    s.list = (int *)tet_alloc(tool, (size_t)m->cell_count * 4 + 1, sizeof *s.list);
    for (i = 0; i < m->cell_count; ++i) {
        for (k = 0; k < 4; ++k) s.start[m->cells[i].v[k] + 2]++;
    }
    for (i = 2; i <= m->point_count; ++i) s.start[i] += s.start[i - 1];
    for (i = 0; i < m->cell_count; ++i) {
        for (k = 0; k < 4; ++k) s.list[s.start[m->cells[i].v[k] + 1]++] = i;
    }
    return s;
}

/* The smallest dihedral angle around a point; -1 where a cell is inverted. */
static inline double tet_star_angle(const tet_mesh *m, const tet_stars *stars, int point) {
    double smallest = 180.0;
    int i;
    for (i = stars->start[point]; i < stars->start[point + 1]; ++i) {
        if (!(tet_cell_volume(m, stars->list[i]) > 0.0)) return -1.0;
        smallest = fmin(smallest, tet_cell_angle(m, stars->list[i]));
    }
    return smallest;
}

/* Makes the moves in order, one per point and one per corner, where the angles stay above the bound. */
static inline void tet_make_moves(tet_mesh *m, const tet_stars *stars, const tet_moves *moves, unsigned char *moved,
                                  double min_angle) {
    int i;
    for (i = 0; i < moves->count; ++i) {
        const tet_move *move = &moves->list[i];
        tet_vec before = m->points[move->point];
        double old_angle;
        if (moved[move->point]) continue;
        old_angle = tet_star_angle(m, stars, move->point);
        m->points[move->point] = move->target;
        if (tet_star_angle(m, stars, move->point) >= fmin(min_angle, old_angle)) moved[move->point] = 1;
        else m->points[move->point] = before;
    }
}

static inline unsigned char *tet_boundary_marks(tet_tool *tool, const tet_mesh *m) {
    int count, i, *faces = tet_boundary(tool, m, &count);
    unsigned char *marks = (unsigned char *)tet_alloc(tool, (size_t)m->point_count + 1, 1);
    for (i = 0; i < 3 * count; ++i) marks[faces[i]] = 1;
    tet_free(tool, faces);
    return marks;
}

/* Every possible move of a boundary point, the shortest first. */
static inline void tet_collect_moves(tet_moves *moves, const tet_bvh *bvh, const unsigned char *boundary) {
    int i;
    moves->count = 0;
    for (i = 0; i < moves->mesh->point_count; ++i) {
        tet_box query;
        if (!boundary[i]) continue;
        query.lo = query.hi = moves->mesh->points[i];
        query = tet_box_grown(query, moves->reach);
        moves->point = i;
        tet_bvh_query(bvh, &query, tet_move_visit, moves);
    }
    if (moves->count) qsort(moves->list, (size_t)moves->count, sizeof *moves->list, tet_move_compare);
}

/* size: edge of the lattice's cubes. Corners first, then edges. */
static inline void tet_snap(tet_tool *tool, const tet_surface *s, tet_mesh *m, double size, double min_angle) {
    tet_features f = tet_find_features(tool, s);
    unsigned char *boundary = tet_boundary_marks(tool, m);
    unsigned char *moved = (unsigned char *)tet_alloc(tool, (size_t)m->point_count + 1, 1);
    tet_box *boxes = (tet_box *)tet_alloc(tool, (size_t)f.count + 1, sizeof *boxes);
    tet_stars stars = tet_find_stars(tool, m);
    tet_moves moves;
    tet_bvh bvh;
    int i, pass;
    for (i = 0; i < f.count; ++i) {
        boxes[i] = tet_box_empty();
        tet_box_add(&boxes[i], f.list[i].from), tet_box_add(&boxes[i], f.list[i].to);
    }
    bvh = tet_bvh_build(tool, boxes, f.count);
    memset(&moves, 0, sizeof moves);
    moves.tool = tool, moves.features = &f, moves.mesh = m, moves.reach = 0.5 * size;
    for (pass = 0; pass < 2; ++pass) {
        moves.corners = pass == 0;
        tet_collect_moves(&moves, &bvh, boundary);
        tet_make_moves(m, &stars, &moves, moved, min_angle);
    }
    tet_free(tool, moves.list), tet_free(tool, f.list), tet_free(tool, moved), tet_free(tool, boundary);
    tet_free(tool, boxes), tet_free(tool, stars.start), tet_free(tool, stars.list);
    tet_bvh_free(tool, &bvh);
}

#endif /* TET_SNAP_H */
