/* Counts where soft bodies cross, with code that has nothing to do with the solver: edges that pierce triangles. */
#ifndef CROSSINGS_H
#define CROSSINGS_H

#include <math.h>

#include "isphpbd_pbd.h"

#if defined(__GNUC__)
#define CROSSINGS_FN static __attribute__((unused))
#else
#define CROSSINGS_FN static
#endif

CROSSINGS_FN bool pierces(const double *a, const double *b, const double *t0, const double *t1, const double *t2) {
    double d[3], e1[3], e2[3], s[3], n[3], m[3], det, share, u, v;
    int k;
    for (k = 0; k < 3; ++k) d[k] = b[k] - a[k], e1[k] = t1[k] - t0[k], e2[k] = t2[k] - t0[k], s[k] = a[k] - t0[k];
    for (k = 0; k < 3; ++k) {
        int i = (k + 1) % 3, j = (k + 2) % 3;
        n[k] = e1[i] * e2[j] - e1[j] * e2[i], m[k] = s[i] * d[j] - s[j] * d[i];
    }
    det = -(d[0] * n[0] + d[1] * n[1] + d[2] * n[2]);
    if (fabs(det) < 1e-18) return false;
    share = (s[0] * n[0] + s[1] * n[1] + s[2] * n[2]) / det;
    u = (e2[0] * m[0] + e2[1] * m[1] + e2[2] * m[2]) / det, v = -(e1[0] * m[0] + e1[1] * m[1] + e1[2] * m[2]) / det;
    return share > 0.0 && share < 1.0 && u > 0.0 && v > 0.0 && u + v < 1.0;
}
CROSSINGS_FN void corner(const ipbd_view *view, uint32_t v, double *out) {
    int k;
    for (k = 0; k < 3; ++k) out[k] = (double)view->positions[4 * v + (uint32_t)k];
}
/* Edges of one view's triangles that pierce triangles of the other (or of the same). */
CROSSINGS_FN int count_crossings(const ipbd_view *p, const ipbd_view *q, bool same) {
    int i, j, k, count = 0;
    for (i = 0; i < p->triangle_count; ++i)
        for (k = 0; k < 3; ++k) {
            uint32_t a = p->triangles[3 * i + k], b = p->triangles[3 * i + (k + 1) % 3];
            double x[3], y[3];
            corner(p, a, x), corner(p, b, y);
            for (j = 0; j < q->triangle_count; ++j) {
                const uint32_t *t = q->triangles + 3 * j;
                double t0[3], t1[3], t2[3];
                int axis;
                bool apart = false;
                if (same && (t[0] == a || t[1] == a || t[2] == a || t[0] == b || t[1] == b || t[2] == b)) continue;
                corner(q, t[0], t0), corner(q, t[1], t1), corner(q, t[2], t2);
                for (axis = 0; axis < 3; ++axis)
                    apart = apart ||
                            (x[axis] < t0[axis] && x[axis] < t1[axis] && x[axis] < t2[axis] && y[axis] < t0[axis] &&
                             y[axis] < t1[axis] && y[axis] < t2[axis]) ||
                            (x[axis] > t0[axis] && x[axis] > t1[axis] && x[axis] > t2[axis] && y[axis] > t0[axis] &&
                             y[axis] > t1[axis] && y[axis] > t2[axis]);
                if (!apart && pierces(x, y, t0, t1, t2)) ++count;
            }
        }
    return count;
}
CROSSINGS_FN int self_crossings(const ipbd_world *world, ipbd_body body) {
    ipbd_view v = ipbd_body_view(world, body);
    return count_crossings(&v, &v, true);
}
CROSSINGS_FN int mutual_crossings(const ipbd_world *world, ipbd_body a, ipbd_body b) {
    ipbd_view p = ipbd_body_view(world, a), q = ipbd_body_view(world, b);
    return count_crossings(&p, &q, false) + count_crossings(&q, &p, false);
}

#endif
