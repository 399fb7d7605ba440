/* tet_build.h - from a sound surface to a tetrahedral mesh: which method, which size, and the last touch. Private.
   SPDX-License-Identifier: MIT */
#ifndef TET_BUILD_H
#define TET_BUILD_H

#include "tet_asset.h"
#include "tet_lattice.h"
#include "tet_snap.h"
#include "tet_tetgen.h"

typedef enum tet_method { TET_METHOD_AUTO, TET_METHOD_BUILTIN, TET_METHOD_TETGEN } tet_method;

typedef struct tet_build_options {
    tet_method method;
    double size;      /* edge of the elements; 0: chosen */
    double ratio;     /* radius-edge bound for TetGen */
    double min_angle; /* smallest dihedral angle to accept, degrees; < 0: 5 for the built-in method, none for TetGen */
    int max_cells;
    bool keep_surface; /* TetGen only */
} tet_build_options;

/* ---- [fit] the volume -------------------------------------------------------------------------------------------- */

/* A third of the area vectors of the faces round every boundary point: the derivative of the volume by its place. */
static inline tet_vec *tet_volume_gradient(tet_tool *tool, const tet_mesh *m, const int *faces, int count) {
    tet_vec *gradient = (tet_vec *)tet_alloc(tool, (size_t)m->point_count + 1, sizeof *gradient);
    int i, k;
    for (i = 0; i < count; ++i) {
        const int *v = faces + 3 * (size_t)i;
        tet_vec n = tet_cross(tet_sub(m->points[v[1]], m->points[v[0]]), tet_sub(m->points[v[2]], m->points[v[0]]));
        for (k = 0; k < 3; ++k) gradient[v[k]] = tet_add(gradient[v[k]], tet_scale(n, 1.0 / 6.0));
    }
    return gradient;
}

/* Moves every boundary point by `by` along its normal. */
static inline void tet_inflate(tet_mesh *m, const tet_vec *gradient, double by) {
    int i;
    for (i = 0; i < m->point_count; ++i) {
        double length = tet_length(gradient[i]);
        if (length > 0.0) m->points[i] = tet_add(m->points[i], tet_scale(gradient[i], by / length));
    }
}

/* A coarse mesh cuts corners and loses volume, and with it mass and buoyancy. Its surface is moved along its normals,
   by a tenth of the size at most, until the volume is right; not at all where an angle would fall below the bound. */
static inline void tet_fit_volume(tet_tool *tool, tet_mesh *m, double volume, double size, double min_angle) {
    int count, round, *faces = tet_boundary(tool, m, &count);
    tet_vec *before = (tet_vec *)tet_alloc(tool, (size_t)m->point_count + 1, sizeof *before);
    double moved = 0.0;
    tet_quality q;
    memcpy(before, m->points, (size_t)m->point_count * sizeof *before);
    for (round = 0; round < 8 && fabs(tet_mesh_volume(m) - volume) > 1e-5 * volume; ++round) {
        tet_vec *gradient = tet_volume_gradient(tool, m, faces, count);
        double area = 0.0, by;
        int i;
        for (i = 0; i < m->point_count; ++i) area += tet_length(gradient[i]);
        by = (volume - tet_mesh_volume(m)) / area;
        by = fmax(-0.1 * size - moved, fmin(0.1 * size - moved, by));
        tet_inflate(m, gradient, by);
        moved += by;
        tet_free(tool, gradient);
    }
    q = tet_mesh_quality(m);
    if (q.not_positive || q.angle_min < min_angle) memcpy(m->points, before, (size_t)m->point_count * sizeof *before);
    tet_free(tool, before);
    tet_free(tool, faces);
}

/* ---- [size] ------------------------------------------------------------------------------------------------------ */

enum {
    TET_AUTO_CELLS = 2500,    /* what the first guess aims at: a body a game can afford */
    TET_AUTO_TOPOLOGY = 40000 /* up to here the size is refined for the sake of walls without holes */
};
#define TET_GOOD_ANGLE 12.0 /* degrees: what moving points onto sharp edges must leave; the lattice itself gives 10.8 */

static inline double tet_volume_error(const tet_mesh *m, double volume) {
    return m->cell_count ? fabs(tet_mesh_volume(m) / volume - 1.0) : 1.0;
}

/* One try at one size. */
typedef struct tet_trial {
    double size, raw_error, error; /* of the volume, before and after the last touch */
    bool same_topology;
} tet_trial;

static inline tet_trial tet_try_size(tet_tool *tool, const tet_surface *s, const tet_bvh *bvh, double volume,
                                     double size, double min_angle, tet_mesh *m) {
    tet_trial trial;
    tet_topology own, input = tet_surface_topology(tool, s->triangles[0].v, s->triangle_count, s->point_count);
    int count, *faces;
    tet_stuff(tool, s, bvh, size, m);
    trial.size = size;
    trial.raw_error = tet_volume_error(m, volume);
    if (m->cell_count) {
        tet_snap(tool, s, m, size, fmax(TET_GOOD_ANGLE, min_angle));
        tet_fit_volume(tool, m, volume, size, min_angle);
    }
    trial.error = tet_volume_error(m, volume);
    faces = tet_boundary(tool, m, &count);
    own = tet_surface_topology(tool, faces, count, m->point_count);
    trial.same_topology = tet_same_topology(own, input);
    tet_free(tool, faces);
    return trial;
}

/* Without a wish: from a moderate count on ever finer, until walls and limbs are resolved, which shows in the volume
   (5 % before the fit, 1 % after it) and in the topology (no holes in walls); 12 tetrahedra fill a cube. */
static inline tet_trial tet_choose_size(tet_tool *tool, const tet_surface *s, const tet_bvh *bvh, double volume,
                                        const tet_build_options *o, double min_angle, tet_mesh *m) {
    double size = tet_cube_root(12.0 * volume / (TET_AUTO_CELLS < o->max_cells ? TET_AUTO_CELLS : o->max_cells));
    bool too_many = false;
    tet_trial trial;
    for (;;) {
        trial = tet_try_size(tool, s, bvh, volume, size, min_angle, m);
        if (m->cell_count > o->max_cells) {
            too_many = true;
            size *= 1.1;
            continue;
        }
        if (trial.raw_error <= 0.05 && trial.error <= 0.01) {
            if (trial.same_topology || m->cell_count > TET_AUTO_TOPOLOGY / 2) return trial;
        }
        size *= 0.8;
        if (too_many || 12.0 * volume / (size * size * size) > o->max_cells) break;
    }
    if (trial.error > 0.02) {
        tet_fail(tool, "parts are too thin for %d tetrahedra: raise --max, give a --size, or use --shell",
                 o->max_cells);
    }
    return trial;
}

static inline void tet_report_trial(const tet_tool *tool, const tet_trial *trial) {
    if (trial->error > 0.02) {
        tet_report(tool, "warning: the volume differs by %.1f %%: parts are thinner than the elements (size %g)",
                   100.0 * trial->error, trial->size);
    }
    if (!trial->same_topology) {
        tet_report(tool,
                   "warning: the body has holes or bridges the input has not: elements (size %g) are larger than its "
                   "walls or gaps",
                   trial->size);
    }
}

static inline void tet_build_lattice(tet_tool *tool, const tet_surface *s, double volume, const tet_build_options *o,
                                     tet_mesh *m) {
    tet_box *boxes = tet_triangle_boxes(tool, s);
    tet_bvh bvh = tet_bvh_build(tool, boxes, s->triangle_count);
    double min_angle = o->min_angle < 0.0 ? 5.0 : o->min_angle;
    tet_trial trial = o->size > 0.0 ? tet_try_size(tool, s, &bvh, volume, o->size, min_angle, m)
                                    : tet_choose_size(tool, s, &bvh, volume, o, min_angle, m);
    if (!m->cell_count) tet_fail(tool, "element size %g is too large: nothing of the body is left", trial.size);
    tet_report_trial(tool, &trial);
    tet_bvh_free(tool, &bvh);
    tet_free(tool, boxes);
}

/* ---- [build] ----------------------------------------------------------------------------------------------------- */

/* The boundary of a mesh as a surface of its own. */
static inline void tet_boundary_surface(tet_tool *tool, const tet_mesh *m, tet_surface *s) {
    int count, i, *faces = tet_boundary(tool, m, &count);
    memset(s, 0, sizeof *s);
    for (i = 0; i < m->point_count; ++i) tet_surface_point(tool, s, m->points[i]);
    for (i = 0; i < count; ++i) tet_surface_triangle(tool, s, faces[3 * i], faces[3 * i + 1], faces[3 * i + 2]);
    tet_drop_unused(tool, s);
    tet_free(tool, faces);
}

/* TetGen fills either the surface itself or, for a coarse body, the boundary of the built-in method's mesh. */
static inline void tet_build_tetgen(tet_tool *tool, const tet_surface *s, double volume, const tet_build_options *o,
                                    tet_mesh *m) {
    tet_tetgen_options t;
    tet_surface coarse;
    memset(&t, 0, sizeof t);
    t.ratio = o->ratio, t.min_angle = o->min_angle > 0.0 ? o->min_angle : 0.0, t.seconds = 600;
    t.max_volume = o->size > 0.0 ? o->size * o->size * o->size / 8.0 : 0.0;
    if (o->keep_surface) {
        tet_tetgen(tool, s, &t, m);
        return;
    }
    tet_build_lattice(tool, s, volume, o, m);
    tet_boundary_surface(tool, m, &coarse);
    tet_tetgen(tool, &coarse, &t, m);
}

static inline void tet_build_check(tet_tool *tool, const tet_mesh *m, const tet_build_options *o, tet_method method) {
    tet_quality q = tet_mesh_quality(m);
    double bound = o->min_angle >= 0.0 ? o->min_angle : method == TET_METHOD_BUILTIN ? 5.0 : 0.0;
    if (m->cell_count > o->max_cells) {
        tet_fail(tool, "%d tetrahedra are more than the maximum of %d: raise --size or --max", m->cell_count,
                 o->max_cells);
    }
    if (q.angle_min < bound) {
        tet_fail(tool, "the smallest dihedral angle is %.2f degrees, less than the bound of %g", q.angle_min, bound);
    }
}

/* Answers the method that was used. */
static inline tet_method tet_build(tet_tool *tool, const tet_surface *s, double volume, const tet_build_options *o,
                                   tet_mesh *m) {
    tet_method method = o->method;
    if (method == TET_METHOD_AUTO) method = tet_tetgen_installed() ? TET_METHOD_TETGEN : TET_METHOD_BUILTIN;
    if (method == TET_METHOD_TETGEN && !tet_tetgen_installed()) {
        tet_fail(tool, "tetgen is not installed (not found along PATH): use --method builtin");
    }
    if (method == TET_METHOD_BUILTIN && o->keep_surface) {
        tet_fail(tool, "--keep-surface needs TetGen: the built-in method makes its own surface");
    }
    memset(m, 0, sizeof *m);
    if (method == TET_METHOD_TETGEN) tet_build_tetgen(tool, s, volume, o, m);
    else tet_build_lattice(tool, s, volume, o, m);
    tet_build_check(tool, m, o, method);
    return method;
}

#endif /* TET_BUILD_H */
