/* sph_fixture.h - what the tests of isphpbd_sph.h have in common: fluids made in one line, and figures measured on
   them; and all of fixture.h. Include after isphpbd_sph.h.
   SPDX-License-Identifier: MIT */
#ifndef SPH_FIXTURE_H
#define SPH_FIXTURE_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fixture.h"

/* ---- [fluids] --------------------------------------------------------------------------------------------------- */

static const isphpbd_vec3 fixture_zero = {0.0f, 0.0f, 0.0f};

/* Any of the calls below failing leaves a fluid without particles or walls, which the tests then see. */
FIXTURE_FN isph_material fixture_water(isph_fluid *fluid) {
    isph_material_desc desc = isph_material_desc_default();
    return isph_material_create(fluid, &desc, NULL);
}

FIXTURE_FN isph_boundary fixture_plane(isph_fluid *fluid, float height) {
    isph_boundary_desc desc = isph_boundary_desc_default();
    desc.position.y = height;
    return isph_boundary_create(fluid, &desc, NULL);
}

/* A hollow box from lo to hi. */
FIXTURE_FN isph_boundary fixture_room(isph_fluid *fluid, isphpbd_vec3 lo, isphpbd_vec3 hi) {
    isph_boundary_desc desc = isph_boundary_desc_default();
    desc.shape = ISPH_SHAPE_BOX;
    desc.container = true;
    desc.half_extents = isphpbd_v3(0.5f * (hi.x - lo.x), 0.5f * (hi.y - lo.y), 0.5f * (hi.z - lo.z));
    desc.position = isphpbd_v3(0.5f * (hi.x + lo.x), 0.5f * (hi.y + lo.y), 0.5f * (hi.z + lo.z));
    return isph_boundary_create(fluid, &desc, NULL);
}

/* Water in a hollow box that is open above (its lid is far away): floor at y = 0, centred on the y axis. */
FIXTURE_FN isph_fluid *fixture_tank(const isph_fluid_desc *desc, float width, float depth, float height) {
    isph_fluid *fluid = isph_fluid_create(desc, NULL);
    const float x = 0.5f * width, z = 0.5f * depth;
    isph_material water;
    if (!fluid) return NULL;
    water = fixture_water(fluid);
    (void)fixture_room(fluid, isphpbd_v3(-x, 0.0f, -z), isphpbd_v3(x, 20.0f, z));
    (void)isph_particles_add_box(fluid, water, isphpbd_v3(-x, 0.0f, -z), isphpbd_v3(x, height, z), fixture_zero, NULL);
    return fluid;
}

FIXTURE_FN uint32_t fixture_run(isph_fluid *fluid, int steps, float seconds) {
    uint32_t flags = 0;
    for (int i = 0; i < steps; i++) flags |= isph_fluid_step(fluid, seconds, NULL);
    return flags;
}

/* ---- [figures] -------------------------------------------------------------------------------------------------- */

FIXTURE_FN const float *view_position(const isph_view *view, int i) {
    return (const float *)(const void *)((const char *)view->position + view->stride_bytes * (size_t)i);
}
FIXTURE_FN const float *view_velocity(const isph_view *view, int i) {
    return (const float *)(const void *)((const char *)view->velocity + view->stride_bytes * (size_t)i);
}

/* Every number that a view shows is finite. */
FIXTURE_FN bool fixture_finite(const isph_fluid *fluid) {
    const isph_view view = isph_particles(fluid);
    for (int i = 0; i < view.count; i++) {
        const float *p = view_position(&view, i), *v = view_velocity(&view, i);
        for (int k = 0; k < 3; k++) {
            if (!isfinite(p[k]) || !isfinite(v[k])) return false;
        }
        if (!isfinite(view.pressure[i]) || !isfinite(view.density[i])) return false;
    }
    return true;
}

typedef struct fixture_figures {
    double centre[3], momentum[3], rms_speed, max_speed; /* momentum: mean velocity */
    double low, high;                                    /* of y */
} fixture_figures;

FIXTURE_FN fixture_figures fixture_measure(const isph_fluid *fluid) {
    const isph_view view = isph_particles(fluid);
    fixture_figures f;
    memset(&f, 0, sizeof f);
    f.low = 1e30, f.high = -1e30;
    for (int i = 0; i < view.count; i++) {
        const float *p = view_position(&view, i), *v = view_velocity(&view, i);
        double speed2 = 0.0;
        for (int k = 0; k < 3; k++) {
            f.centre[k] += (double)p[k] / view.count;
            f.momentum[k] += (double)v[k] / view.count;
            speed2 += (double)v[k] * (double)v[k];
        }
        f.rms_speed += speed2 / view.count;
        f.max_speed = speed2 > f.max_speed ? speed2 : f.max_speed;
        f.low = (double)p[1] < f.low ? (double)p[1] : f.low;
        f.high = (double)p[1] > f.high ? (double)p[1] : f.high;
    }
    f.rms_speed = sqrt(f.rms_speed), f.max_speed = sqrt(f.max_speed);
    return f;
}

#endif /* SPH_FIXTURE_H */
