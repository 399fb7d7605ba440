/* sph_fixture.h - what the tests of isphpbd_sph.h have in common: random numbers, an allocator that watches, task
   runners of every order, fluids made in one line, and figures measured on them. Include after isphpbd_sph.h.
   SPDX-License-Identifier: MIT */
#ifndef SPH_FIXTURE_H
#define SPH_FIXTURE_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__GNUC__)
#define FIXTURE_FN static __attribute__((unused))
#else
#define FIXTURE_FN static
#endif

/* ---- [random] --------------------------------------------------------------------------------------------------- */

typedef struct fixture_random {
    uint32_t state;
} fixture_random;

FIXTURE_FN uint32_t random_bits(fixture_random *r) {
    r->state ^= r->state << 13, r->state ^= r->state >> 17, r->state ^= r->state << 5;
    return r->state;
}
FIXTURE_FN float random_unit(fixture_random *r) { return (float)(random_bits(r) >> 8) / 16777216.0f; }
FIXTURE_FN float random_between(fixture_random *r, float lo, float hi) { return lo + (hi - lo) * random_unit(r); }
FIXTURE_FN int random_below(fixture_random *r, int n) { return (int)(random_bits(r) % (uint32_t)n); }

/* ---- [allocator] Counts, fills what it gives with garbage, and surrounds it with bytes that nobody may touch. --- */

#define FIXTURE_GUARD 256u

typedef struct watched_memory {
    int allocations, frees, refuse; /* refuse: number of the allocation, from 1, that gets NULL */
    size_t asked, live;
    bool damaged; /* guard bytes were written, or a size or alignment was wrong */
} watched_memory;

typedef struct watched_head {
    unsigned char *raw;
    size_t size;
} watched_head;

FIXTURE_FN void *watched_alloc(size_t size, size_t align, void *user) {
    watched_memory *m = (watched_memory *)user;
    unsigned char *raw, *at;
    watched_head head;
    if (++m->allocations == m->refuse) return NULL;
    if (align == 0 || align > 64 || (align & (align - 1)) != 0) m->damaged = true;
    raw = (unsigned char *)malloc(size + 2 * FIXTURE_GUARD + 128);
    if (!raw) return NULL;
    at = raw + sizeof head + FIXTURE_GUARD;
    at += (64 - ((uintptr_t)at & 63)) & 63;
    head.raw = raw, head.size = size;
    memset(at - FIXTURE_GUARD, 0xE7, size + 2 * FIXTURE_GUARD);
    memcpy(at - FIXTURE_GUARD - sizeof head, &head, sizeof head);
    m->asked += size, m->live += size;
    return at;
}

FIXTURE_FN bool watched_intact(const void *ptr) {
    const unsigned char *at = (const unsigned char *)ptr;
    watched_head head;
    memcpy(&head, at - FIXTURE_GUARD - sizeof head, sizeof head);
    for (size_t i = 0; i < FIXTURE_GUARD; i++) {
        if (at[head.size + i] != 0xE7 || *(at - 1 - i) != 0xE7) return false;
    }
    return true;
}

FIXTURE_FN void watched_free(void *ptr, size_t size, void *user) {
    watched_memory *m = (watched_memory *)user;
    watched_head head;
    m->frees++;
    if (!ptr) return;
    memcpy(&head, (unsigned char *)ptr - FIXTURE_GUARD - sizeof head, sizeof head);
    if (head.size != size || !watched_intact(ptr)) m->damaged = true;
    m->live -= head.size;
    free(head.raw);
}

FIXTURE_FN isphpbd_allocator watched_allocator(watched_memory *m) {
    isphpbd_allocator allocator;
    memset(m, 0, sizeof *m);
    allocator.alloc = watched_alloc, allocator.free = watched_free, allocator.user = m;
    return allocator;
}

/* Everything that was taken has been given back, whole. */
FIXTURE_FN bool watched_clean(const watched_memory *m) { return !m->damaged && m->live == 0; }

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

/* ---- [runners] Tasks in every order; `lanes` of a shuffled one are dealt out like threads would take them. ------ */

FIXTURE_FN void run_reverse(void (*task)(void *ctx, int index), void *ctx, int task_count, void *user) {
    (void)user;
    for (int i = task_count - 1; i >= 0; i--) task(ctx, i);
}
FIXTURE_FN void run_forward(void (*task)(void *ctx, int index), void *ctx, int task_count, void *user) {
    (void)user;
    for (int i = 0; i < task_count; i++) task(ctx, i);
}
/* i -> a i + b mod n with a prime to n: another order on every call. user: a fixture_random. */
FIXTURE_FN void run_shuffled(void (*task)(void *ctx, int index), void *ctx, int task_count, void *user) {
    fixture_random *r = (fixture_random *)user;
    const int64_t first = random_below(r, task_count);
    int64_t stride = 1 + random_below(r, task_count), a = stride, b = task_count;
    while (b != 0) {
        const int64_t rest = a % b;
        a = b, b = rest;
    }
    if (a != 1) stride = 1;
    for (int i = 0; i < task_count; i++) task(ctx, (int)((first + i * stride) % task_count));
}

#endif /* SPH_FIXTURE_H */
