/* tet_quality.h - how good tetrahedra are: dihedral angles, radius-edge ratios, volumes. Private to tools/.
   SPDX-License-Identifier: MIT */
#ifndef TET_QUALITY_H
#define TET_QUALITY_H

#include "tet_base.h"

enum { TET_ANGLE_BINS = 18, TET_RATIO_BINS = 8 };

typedef struct tet_quality {
    double angle_min, angle_max; /* dihedral, degrees */
    double ratio_max;            /* circumradius / shortest edge; 0.612 is the regular tetrahedron */
    double volume, volume_min, volume_max;
    double edge_min, edge_mean, edge_max; /* mean over the six edges of all cells */
    int not_positive;                     /* cells without a positive volume */
    long angles[TET_ANGLE_BINS];          /* ten degrees each */
    long ratios[TET_RATIO_BINS];          /* a quarter each from 0.5 on; the last holds the rest */
} tet_quality;

/* Dihedral angle at edge ab between the faces with c and with d, in degrees. */
static inline double tet_dihedral(tet_vec a, tet_vec b, tet_vec c, tet_vec d) {
    tet_vec axis = tet_sub(b, a), n1 = tet_cross(axis, tet_sub(c, a)), n2 = tet_cross(axis, tet_sub(d, a));
    double sine = tet_length(tet_cross(n1, n2)), cosine = tet_dot(n1, n2);
    return atan2(sine, cosine) * 57.295779513082320877;
}

static inline double tet_circumradius(const tet_vec p[4]) {
    tet_vec a = tet_sub(p[1], p[0]), b = tet_sub(p[2], p[0]), c = tet_sub(p[3], p[0]), sum;
    double six = tet_dot(tet_cross(a, b), c);
    sum = tet_scale(tet_cross(b, c), tet_dot(a, a));
    sum = tet_add(sum, tet_scale(tet_cross(c, a), tet_dot(b, b)));
    sum = tet_add(sum, tet_scale(tet_cross(a, b), tet_dot(c, c)));
    return six != 0.0 ? tet_length(sum) / fabs(2.0 * six) : HUGE_VAL;
}

static const int tet_edge_corners[6][4] = {{0, 1, 2, 3}, {0, 2, 1, 3}, {0, 3, 1, 2},
                                           {1, 2, 0, 3}, {1, 3, 0, 2}, {2, 3, 0, 1}};

/* Smallest dihedral angle of one cell. */
static inline double tet_cell_angle(const tet_mesh *m, int cell) {
    const int *v = m->cells[cell].v;
    double smallest = 180.0;
    int k;
    for (k = 0; k < 6; ++k) {
        const int *e = tet_edge_corners[k];
        double angle = tet_dihedral(m->points[v[e[0]]], m->points[v[e[1]]], m->points[v[e[2]]], m->points[v[e[3]]]);
        if (angle < smallest) smallest = angle;
    }
    return smallest;
}

static inline void tet_quality_add(tet_quality *q, const tet_vec p[4]) {
    double volume = tet_volume6(p[0], p[1], p[2], p[3]) / 6.0, shortest = HUGE_VAL, ratio;
    int k, bin;
    for (k = 0; k < 6; ++k) {
        const int *e = tet_edge_corners[k];
        double angle = tet_dihedral(p[e[0]], p[e[1]], p[e[2]], p[e[3]]), length = tet_distance(p[e[0]], p[e[1]]);
        q->angle_min = fmin(q->angle_min, angle), q->angle_max = fmax(q->angle_max, angle);
        q->edge_min = fmin(q->edge_min, length), q->edge_max = fmax(q->edge_max, length);
        q->edge_mean += length;
        shortest = fmin(shortest, length);
        bin = (int)(angle / 10.0);
        q->angles[bin < TET_ANGLE_BINS ? bin : TET_ANGLE_BINS - 1]++;
    }
    ratio = shortest > 0.0 ? tet_circumradius(p) / shortest : HUGE_VAL;
    q->ratio_max = fmax(q->ratio_max, ratio);
    bin = ratio < 2.5 ? (int)((ratio - 0.5) * 4.0) : TET_RATIO_BINS - 1;
    q->ratios[bin < 0 ? 0 : bin]++;
    q->volume += volume;
    q->volume_min = fmin(q->volume_min, volume), q->volume_max = fmax(q->volume_max, volume);
    q->not_positive += !(volume > 0.0);
}

static inline tet_quality tet_mesh_quality(const tet_mesh *m) {
    tet_quality q;
    int i, k;
    memset(&q, 0, sizeof q);
    q.angle_min = 180.0, q.volume_min = q.edge_min = HUGE_VAL, q.volume_max = -HUGE_VAL;
    for (i = 0; i < m->cell_count; ++i) {
        tet_vec p[4];
        for (k = 0; k < 4; ++k) p[k] = m->points[m->cells[i].v[k]];
        tet_quality_add(&q, p);
    }
    if (m->cell_count) q.edge_mean /= 6.0 * m->cell_count;
    return q;
}

static inline void tet_quality_print(FILE *file, const tet_quality *q, int cells) {
    int i;
    fprintf(file, "quality     dihedral angles %.2f to %.2f degrees, radius-edge ratio at most %.2f\n", q->angle_min,
            q->angle_max, q->ratio_max);
    fprintf(file, "edges       %g to %g, mean %g\n", q->edge_min, q->edge_max, q->edge_mean);
    fprintf(file, "angles      ");
    for (i = 0; i < TET_ANGLE_BINS; ++i) fprintf(file, "%s%d-%d:%ld", i ? " " : "", i * 10, i * 10 + 10, q->angles[i]);
    fprintf(file, "\nratios      ");
    for (i = 0; i < TET_RATIO_BINS; ++i) fprintf(file, "%s%.2f+:%ld", i ? " " : "", 0.5 + 0.25 * i, q->ratios[i]);
    fprintf(file, "\nvolumes     %g to %g, %d of %d not positive\n", q->volume_min, q->volume_max, q->not_positive,
            cells);
}

#endif /* TET_QUALITY_H */
