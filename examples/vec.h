/* vec.h - vectors for the examples: the arithmetic that scenes, meshes and the renderer share. SPDX: MIT */
#ifndef EXAMPLES_VEC_H
#define EXAMPLES_VEC_H

#include <math.h>

#include "isphpbd_sph.h"

typedef isphpbd_vec3 vec3;

ISPHPBD_INLINE vec3 v3(float x, float y, float z) { return isphpbd_v3(x, y, z); }
ISPHPBD_INLINE vec3 v3_all(float s) { return v3(s, s, s); }
ISPHPBD_INLINE vec3 v3_add(vec3 a, vec3 b) { return v3(a.x + b.x, a.y + b.y, a.z + b.z); }
ISPHPBD_INLINE vec3 v3_sub(vec3 a, vec3 b) { return v3(a.x - b.x, a.y - b.y, a.z - b.z); }
ISPHPBD_INLINE vec3 v3_mul(vec3 a, vec3 b) { return v3(a.x * b.x, a.y * b.y, a.z * b.z); }
ISPHPBD_INLINE vec3 v3_scale(vec3 a, float s) { return v3(a.x * s, a.y * s, a.z * s); }
ISPHPBD_INLINE vec3 v3_madd(vec3 a, vec3 b, float s) { return v3(a.x + b.x * s, a.y + b.y * s, a.z + b.z * s); }
ISPHPBD_INLINE vec3 v3_mix(vec3 a, vec3 b, float t) { return v3_madd(v3_scale(a, 1.0f - t), b, t); }
ISPHPBD_INLINE vec3 v3_min(vec3 a, vec3 b) { return v3(fminf(a.x, b.x), fminf(a.y, b.y), fminf(a.z, b.z)); }
ISPHPBD_INLINE vec3 v3_max(vec3 a, vec3 b) { return v3(fmaxf(a.x, b.x), fmaxf(a.y, b.y), fmaxf(a.z, b.z)); }
ISPHPBD_INLINE float v3_dot(vec3 a, vec3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
ISPHPBD_INLINE float v3_length(vec3 a) { return sqrtf(v3_dot(a, a)); }
ISPHPBD_INLINE vec3 v3_cross(vec3 a, vec3 b) {
    return v3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}
ISPHPBD_INLINE vec3 v3_unit(vec3 a) { /* the zero vector stays zero */
    float length = v3_length(a);
    return length > 0.0f ? v3_scale(a, 1.0f / length) : a;
}
ISPHPBD_INLINE vec3 v3_rotate_y(vec3 a, float angle) {
    float c = cosf(angle), s = sinf(angle);
    return v3(c * a.x + s * a.z, a.y, c * a.z - s * a.x);
}
ISPHPBD_INLINE float f_clamp(float v, float lo, float hi) { return v < lo ? lo : v > hi ? hi : v; }
ISPHPBD_INLINE float f_smooth(float lo, float hi, float v) { /* 0 below lo, 1 above hi, smooth between */
    float t = f_clamp((v - lo) / (hi - lo), 0.0f, 1.0f);
    return t * t * (3.0f - 2.0f * t);
}

/* Runs the tasks through the host's threads where given, else one after the other; results never depend on which. */
ISPHPBD_INLINE void run_tasks(const isphpbd_parallel *parallel, void (*task)(void *ctx, int index), void *ctx,
                              int count) {
    int i;
    if (parallel && parallel->run) {
        parallel->run(task, ctx, count, parallel->user);
        return;
    }
    for (i = 0; i < count; ++i) task(ctx, i);
}

#endif /* EXAMPLES_VEC_H */
