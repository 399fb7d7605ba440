/* tet_base.h - what every part of isphpbd-tet stands on: errors, memory, vectors, a hash map. Private to tools/.
   SPDX-License-Identifier: MIT

   Errors leave through one door: tet_fail() writes one line into tool->message and jumps back into tet_guard(), which
   answers false. Every byte comes from tet_alloc() or tet_resize() and belongs to the tool, so that
   tet_tool_end() returns all of it, whether the work ended well or by a jump. */
#ifndef TET_BASE_H
#define TET_BASE_H

#include <limits.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- [tool] the one object handed to everything ------------------------------------------------------------------ */

typedef struct tet_block {
    struct tet_block *previous, *next;
    size_t bytes;
    size_t padding; /* keeps what follows aligned to 16 bytes */
} tet_block;

typedef struct tet_tool {
    jmp_buf escape;      /* where tet_fail() goes */
    char message[512];   /* one line without a newline */
    tet_block blocks;    /* ring of everything allocated */
    size_t bytes, limit; /* in use, and the most allowed */
    bool quiet;          /* -q: neither report nor progress */
    bool verbose_report; /* repairs and warnings go to stderr */
    clock_t started, spoken;
    unsigned progress_calls;
    bool progress_shown;
    char folder[512]; /* temporary, to be removed with all that is in it; empty: none */
} tet_tool;

static inline void tet_tool_begin(tet_tool *tool) {
    memset(tool, 0, sizeof *tool);
    tool->blocks.previous = tool->blocks.next = &tool->blocks;
    tool->limit = (size_t)-1 / 4;
    tool->started = tool->spoken = clock();
}

static inline void tet_tool_end(tet_tool *tool) {
    tet_block *block = tool->blocks.next, *next;
    for (; block != &tool->blocks; block = next) {
        next = block->next;
        free(block);
    }
    tool->blocks.previous = tool->blocks.next = &tool->blocks;
    tool->bytes = 0;
}

/* Does the work; false when it left through tet_fail(): tool->message tells why. */
static inline bool tet_guard(tet_tool *tool, void (*work)(tet_tool *tool, void *ctx), void *ctx) {
    if (setjmp(tool->escape)) return false;
    work(tool, ctx);
    return true;
}

#if defined(__GNUC__)
#define TET_PRINTF(format_at, first_at) __attribute__((format(printf, format_at, first_at)))
#define TET_NORETURN                    __attribute__((noreturn))
#else
#define TET_PRINTF(format_at, first_at)
#define TET_NORETURN
#endif

static inline void tet_fail(tet_tool *tool, const char *format, ...) TET_PRINTF(2, 3) TET_NORETURN;
static inline void tet_fail(tet_tool *tool, const char *format, ...) {
    va_list list;
    va_start(list, format);
    vsnprintf(tool->message, sizeof tool->message, format, list);
    va_end(list);
    longjmp(tool->escape, 1);
}

/* One line of the report: what was repaired, what looks odd. */
static inline void tet_report(const tet_tool *tool, const char *format, ...) TET_PRINTF(2, 3);
static inline void tet_report(const tet_tool *tool, const char *format, ...) {
    va_list list;
    if (tool->quiet || !tool->verbose_report) return;
    va_start(list, format);
    vfprintf(stderr, format, list);
    va_end(list);
    fputc('\n', stderr);
}

/* Says how far a stage is, at most twice a second, and never in the first second: short work stays silent. */
static inline void tet_progress(tet_tool *tool, const char *stage, double done, double total) {
    clock_t now;
    if (tool->quiet || !tool->verbose_report || (++tool->progress_calls & 63u)) return; /* asking the clock is slow */
    now = clock();
    if ((double)(now - tool->started) < 1.0 * CLOCKS_PER_SEC || (double)(now - tool->spoken) < 0.5 * CLOCKS_PER_SEC)
        return;
    tool->spoken = now;
    tool->progress_shown = true;
    fprintf(stderr, "\r%-28s %3.0f %%", stage, total > 0.0 ? 100.0 * done / total : 0.0);
    fflush(stderr);
}
static inline void tet_progress_end(tet_tool *tool) {
    if (tool->progress_shown) fputc('\n', stderr);
    tool->progress_shown = false;
}

/* ---- [memory] ---------------------------------------------------------------------------------------------------- */

static inline tet_block *tet_block_of(void *memory) { return (tet_block *)memory - 1; }

static inline void tet_block_link(tet_tool *tool, tet_block *block) {
    block->previous = tool->blocks.previous;
    block->next = &tool->blocks;
    block->previous->next = block;
    block->next->previous = block;
    tool->bytes += block->bytes;
}

static inline void tet_block_unlink(tet_tool *tool, tet_block *block) {
    block->previous->next = block->next;
    block->next->previous = block->previous;
    tool->bytes -= block->bytes;
}

/* Changes a block to count elements of the given size; NULL makes a new one. New bytes are zero. */
static inline void *tet_resize(tet_tool *tool, void *memory, size_t count, size_t size) {
    tet_block *old = memory ? tet_block_of(memory) : NULL, *block;
    size_t old_bytes = old ? old->bytes : 0;
    size_t free_bytes = tool->limit - (tool->bytes - old_bytes);
    if (size && count > free_bytes / size) tet_fail(tool, "out of memory: %zu x %zu bytes wanted", count, size);
    if (old) tet_block_unlink(tool, old);
    block = (tet_block *)realloc(old, sizeof(tet_block) + count * size);
    if (!block) {
        if (old) tet_block_link(tool, old);
        tet_fail(tool, "out of memory: %zu x %zu bytes wanted", count, size);
    }
    block->bytes = count * size;
    tet_block_link(tool, block);
    if (block->bytes > old_bytes) memset((unsigned char *)(block + 1) + old_bytes, 0, block->bytes - old_bytes);
    return block + 1;
}

static inline void *tet_alloc(tet_tool *tool, size_t count, size_t size) { return tet_resize(tool, NULL, count, size); }

static inline void tet_free(tet_tool *tool, void *memory) {
    if (!memory) return;
    tet_block_unlink(tool, tet_block_of(memory));
    free(tet_block_of(memory));
}

/* Room for at least `needed` elements, growing by half so that pushing n elements costs O(n). */
static inline void *tet_reserve(tet_tool *tool, void *memory, int *capacity, int needed, size_t size) {
    int grown = *capacity;
    if (needed <= *capacity) return memory;
    if (needed > INT_MAX / 2) tet_fail(tool, "too large: more than %d elements", INT_MAX / 2);
    grown += grown / 2 + 16;
    *capacity = grown > needed ? grown : needed;
    return tet_resize(tool, memory, (size_t)*capacity, size);
}

/* ---- [vector] doubles: files may hold large offsets; the asset is rounded to float at the very end --------------- */

typedef struct tet_vec {
    double x, y, z;
} tet_vec;

static inline tet_vec tet_v(double x, double y, double z) {
    tet_vec v;
    v.x = x, v.y = y, v.z = z;
    return v;
}
static inline tet_vec tet_add(tet_vec a, tet_vec b) { return tet_v(a.x + b.x, a.y + b.y, a.z + b.z); }
static inline tet_vec tet_sub(tet_vec a, tet_vec b) { return tet_v(a.x - b.x, a.y - b.y, a.z - b.z); }
static inline tet_vec tet_scale(tet_vec a, double s) { return tet_v(a.x * s, a.y * s, a.z * s); }
static inline tet_vec tet_mix(tet_vec a, tet_vec b, double t) { return tet_add(a, tet_scale(tet_sub(b, a), t)); }
static inline double tet_dot(tet_vec a, tet_vec b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
static inline tet_vec tet_cross(tet_vec a, tet_vec b) {
    return tet_v(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}
static inline double tet_length(tet_vec a) { return sqrt(tet_dot(a, a)); }
static inline double tet_distance(tet_vec a, tet_vec b) { return tet_length(tet_sub(a, b)); }
static inline bool tet_finite(tet_vec a) {
    return a.x - a.x == 0.0 && a.y - a.y == 0.0 && a.z - a.z == 0.0; /* inf - inf and nan - nan are nan */
}

/* By Newton's method: cbrt() of different C libraries differs in the last bit, and the same input shall give the same
   bytes everywhere. x > 0. */
static inline double tet_cube_root(double x) {
    int exponent, i;
    double root;
    frexp(x, &exponent);
    root = ldexp(1.0, exponent / 3 + 1);
    for (i = 0; i < 40; ++i) root = (2.0 * root + x / (root * root)) / 3.0;
    return root;
}

/* Six times the signed volume; positive when d sees a, b, c counter-clockwise from behind: det(b-a, c-a, d-a). */
static inline double tet_volume6(tet_vec a, tet_vec b, tet_vec c, tet_vec d) {
    return tet_dot(tet_cross(tet_sub(b, a), tet_sub(c, a)), tet_sub(d, a));
}

typedef struct tet_box {
    tet_vec lo, hi;
} tet_box;

static inline tet_box tet_box_empty(void) {
    tet_box box;
    box.lo = tet_v(HUGE_VAL, HUGE_VAL, HUGE_VAL);
    box.hi = tet_v(-HUGE_VAL, -HUGE_VAL, -HUGE_VAL);
    return box;
}
static inline void tet_box_add(tet_box *box, tet_vec p) {
    box->lo =
        tet_v(p.x < box->lo.x ? p.x : box->lo.x, p.y < box->lo.y ? p.y : box->lo.y, p.z < box->lo.z ? p.z : box->lo.z);
    box->hi =
        tet_v(p.x > box->hi.x ? p.x : box->hi.x, p.y > box->hi.y ? p.y : box->hi.y, p.z > box->hi.z ? p.z : box->hi.z);
}
static inline tet_box tet_box_union(const tet_box *a, const tet_box *b) { /* either may be empty */
    tet_box box;
    box.lo = tet_v(fmin(a->lo.x, b->lo.x), fmin(a->lo.y, b->lo.y), fmin(a->lo.z, b->lo.z));
    box.hi = tet_v(fmax(a->hi.x, b->hi.x), fmax(a->hi.y, b->hi.y), fmax(a->hi.z, b->hi.z));
    return box;
}
static inline tet_box tet_box_of(const tet_vec *points, int count) {
    tet_box box = tet_box_empty();
    int i;
    for (i = 0; i < count; ++i) tet_box_add(&box, points[i]);
    return box;
}
static inline bool tet_box_overlap(const tet_box *a, const tet_box *b) {
    return a->lo.x <= b->hi.x && b->lo.x <= a->hi.x && a->lo.y <= b->hi.y && b->lo.y <= a->hi.y && a->lo.z <= b->hi.z &&
           b->lo.z <= a->hi.z;
}
static inline tet_box tet_box_grown(tet_box box, double margin) {
    box.lo = tet_sub(box.lo, tet_v(margin, margin, margin));
    box.hi = tet_add(box.hi, tet_v(margin, margin, margin));
    return box;
}

/* ---- [map] 64-bit keys to ints, open addressing ------------------------------------------------------------------ */

typedef struct tet_map {
    uint64_t *keys; /* key + 1, so that 0 means empty */
    int *values;
    int count, capacity; /* capacity is a power of two */
} tet_map;

static inline uint64_t tet_pair(int a, int b) { return ((uint64_t)(uint32_t)a << 32) | (uint32_t)b; }
static inline uint64_t tet_edge_key(int a, int b) { return a < b ? tet_pair(a, b) : tet_pair(b, a); }

static inline size_t tet_map_slot(const tet_map *map, uint64_t key) {
    uint64_t hash = (key + 1) * UINT64_C(0x9E3779B97F4A7C15);
    size_t mask = (size_t)map->capacity - 1, slot = (size_t)(hash >> 32) & mask;
    while (map->keys[slot] && map->keys[slot] != key + 1) slot = (slot + 1) & mask;
    return slot;
}

static inline void tet_map_rehash(tet_tool *tool, tet_map *map, int capacity) {
    tet_map grown;
    int i;
    grown.count = map->count;
    grown.capacity = capacity;
    grown.keys = (uint64_t *)tet_alloc(tool, (size_t)capacity, sizeof *grown.keys);
    grown.values = (int *)tet_alloc(tool, (size_t)capacity, sizeof *grown.values);
    for (i = 0; i < map->capacity; ++i) {
        size_t slot;
        if (!map->keys[i]) continue;
        slot = tet_map_slot(&grown, map->keys[i] - 1);
        grown.keys[slot] = map->keys[i];
        grown.values[slot] = map->values[i];
    }
    tet_free(tool, map->keys);
    tet_free(tool, map->values);
    *map = grown;
}

/* The place of the key's value; `fresh` tells whether it was put in just now, with the given value. */
static inline int *tet_map_put(tet_tool *tool, tet_map *map, uint64_t key, int value, bool *fresh) {
    size_t slot;
    if (map->count >= INT_MAX / 4) tet_fail(tool, "too large: more than %d edges", INT_MAX / 4);
    if (map->count * 2 >= map->capacity) tet_map_rehash(tool, map, map->capacity ? map->capacity * 2 : 64);
    slot = tet_map_slot(map, key);
    *fresh = !map->keys[slot];
    if (*fresh) {
        map->keys[slot] = key + 1;
        map->values[slot] = value;
        map->count++;
    }
    return &map->values[slot];
}

/* The value of a key, or -1. */
static inline int tet_map_get(const tet_map *map, uint64_t key) {
    size_t slot;
    if (!map->capacity) return -1;
    slot = tet_map_slot(map, key);
    return map->keys[slot] ? map->values[slot] : -1;
}

static inline void tet_map_free(tet_tool *tool, tet_map *map) {
    tet_free(tool, map->keys);
    tet_free(tool, map->values);
    memset(map, 0, sizeof *map);
}

/* ---- [meshes] ---------------------------------------------------------------------------------------------------- */

typedef struct tet_triangle {
    int v[3]; /* counter-clockwise seen from outside */
} tet_triangle;

typedef struct tet_cell {
    int v[4]; /* positive: tet_volume6(v[0], v[1], v[2], v[3]) > 0 */
} tet_cell;

/* A surface as read and mended. map[i] is the point that vertex i of the file became, -1 where no face used it. */
typedef struct tet_surface {
    tet_vec *points;
    tet_triangle *triangles;
    int *map;
    int point_count, point_capacity, triangle_count, triangle_capacity, map_count;
} tet_surface;

typedef struct tet_mesh {
    tet_vec *points;
    tet_cell *cells;
    int point_count, point_capacity, cell_count, cell_capacity;
} tet_mesh;

static inline int tet_surface_point(tet_tool *tool, tet_surface *s, tet_vec p) {
    s->points = (tet_vec *)tet_reserve(tool, s->points, &s->point_capacity, s->point_count + 1, sizeof *s->points);
    s->points[s->point_count] = p;
    return s->point_count++;
}
static inline void tet_surface_triangle(tet_tool *tool, tet_surface *s, int a, int b, int c) {
    tet_triangle t;
    t.v[0] = a, t.v[1] = b, t.v[2] = c;
    s->triangles =
        (tet_triangle *)tet_reserve(tool, s->triangles, &s->triangle_capacity, s->triangle_count + 1, sizeof t);
    s->triangles[s->triangle_count++] = t;
}
static inline int tet_mesh_point(tet_tool *tool, tet_mesh *m, tet_vec p) {
    m->points = (tet_vec *)tet_reserve(tool, m->points, &m->point_capacity, m->point_count + 1, sizeof *m->points);
    m->points[m->point_count] = p;
    return m->point_count++;
}
static inline void tet_mesh_cell(tet_tool *tool, tet_mesh *m, const int v[4]) {
    m->cells = (tet_cell *)tet_reserve(tool, m->cells, &m->cell_capacity, m->cell_count + 1, sizeof *m->cells);
    memcpy(m->cells[m->cell_count++].v, v, sizeof m->cells->v);
}

static inline double tet_cell_volume(const tet_mesh *m, int cell) {
    const int *v = m->cells[cell].v;
    return tet_volume6(m->points[v[0]], m->points[v[1]], m->points[v[2]], m->points[v[3]]) / 6.0;
}

static inline double tet_mesh_volume(const tet_mesh *m) {
    double sum = 0.0;
    int i;
    for (i = 0; i < m->cell_count; ++i) sum += tet_cell_volume(m, i);
    return sum;
}

/* Volume enclosed by a closed surface (divergence theorem), about its first point to keep digits far from the
   origin. */
static inline double tet_surface_volume(const tet_surface *s) {
    double sum = 0.0;
    int i;
    for (i = 0; i < s->triangle_count; ++i) {
        const int *v = s->triangles[i].v;
        sum += tet_volume6(s->points[0], s->points[v[0]], s->points[v[1]], s->points[v[2]]);
    }
    return sum / 6.0;
}

static inline tet_vec tet_triangle_normal(const tet_surface *s, int triangle) { /* length is twice the area */
    const int *v = s->triangles[triangle].v;
    return tet_cross(tet_sub(s->points[v[1]], s->points[v[0]]), tet_sub(s->points[v[2]], s->points[v[0]]));
}

#endif /* TET_BASE_H */
