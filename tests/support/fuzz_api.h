/* fuzz_api.h - for fuzzers that turn bytes into calls: numbers from the bytes, many of them hostile, memory that is
   watched, and an invariant that says what was broken. Include after the header under test.
   SPDX-License-Identifier: MIT */
#ifndef FUZZ_API_H
#define FUZZ_API_H

#include <float.h>
#include <math.h>
#include <stdio.h>

#include "fixture.h"
#include "fuzz.h"

/* ---- [bytes] Beyond the end of the input everything is 0. --------------------------------------------------------

   Compilers differ in which argument of a call, or which side of an assignment, they work out first. So an expression
   takes from the bytes once, or in a sequence that C fixes, and an input means the same calls everywhere. */

typedef struct fuzz_bytes {
    const uint8_t *at, *end;
} fuzz_bytes;

FIXTURE_FN uint8_t take_byte(fuzz_bytes *b) { return (uint8_t)(b->at < b->end ? *b->at++ : 0); }
FIXTURE_FN uint32_t take_word(fuzz_bytes *b) {
    uint32_t word = take_byte(b);
    word = word << 8 | take_byte(b);
    word = word << 8 | take_byte(b);
    return word << 8 | take_byte(b);
}
FIXTURE_FN bool take_bool(fuzz_bytes *b) { return (take_byte(b) & 1) != 0; }
/* One of n, mostly. */
FIXTURE_FN int take_below(fuzz_bytes *b, int n) { return take_byte(b) % n; }
/* One in eight is hostile. */
FIXTURE_FN bool take_malice(fuzz_bytes *b) { return take_byte(b) >= 224; }

FIXTURE_FN float take_hostile(fuzz_bytes *b) {
    static const uint32_t telling[] = {0x7fc00000, 0x4e6e6b28, 0x7f800000, 0xff800000, 0x7f7fffff, 0xff7fffff,
                                       0x00000000, 0x80000000, 0x00000001, 0x00800000, 0x501502f9, 0xd01502f9,
                                       0x0da24260, 0x358637bd, 0x49742400, 0xbf800000};
    uint32_t bits = telling[take_below(b, 16)];
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}
/* Most often between -2 and 2. */
FIXTURE_FN float take_float(fuzz_bytes *b) {
    return take_malice(b) ? take_hostile(b) : (float)((int)(take_word(b) >> 16) - 32768) / 16384.0f;
}
/* Most often between 0 and `most`. */
FIXTURE_FN float take_size(fuzz_bytes *b, float most) {
    return take_malice(b) ? take_hostile(b) : (float)(take_word(b) >> 16) / 65536.0f * most;
}
FIXTURE_FN isphpbd_vec3 take_vec3(fuzz_bytes *b) {
    isphpbd_vec3 v;
    v.x = take_float(b), v.y = take_float(b), v.z = take_float(b);
    return v;
}
/* Most often each between 0 and `most`. */
FIXTURE_FN isphpbd_vec3 take_sizes(fuzz_bytes *b, float most) {
    isphpbd_vec3 v;
    v.x = take_size(b, most), v.y = take_size(b, most), v.z = take_size(b, most);
    return v;
}
/* Most often a turn about some axis. */
FIXTURE_FN isphpbd_quat take_quat(fuzz_bytes *b) {
    isphpbd_vec3 v = take_vec3(b);
    isphpbd_quat q;
    float length = sqrtf(v.x * v.x + v.y * v.y + v.z * v.z + 1.0f);
    q.x = v.x / length, q.y = v.y / length, q.z = v.z / length, q.w = 1.0f / length;
    if (take_malice(b)) q.w = take_hostile(b);
    return q;
}
/* Most often 0 .. most. */
FIXTURE_FN int take_count(fuzz_bytes *b, int most) {
    static const int hostile[] = {-1, INT32_MIN, INT32_MAX, 1 << 24, 65536, -65536, 1 << 30, 0};
    return take_malice(b) ? hostile[take_below(b, 8)] : take_below(b, most + 1);
}

/* Now and then wild coordinates at any place among the first `count`. */
FIXTURE_FN void take_damage(fuzz_bytes *b, float *values, int count) {
    while (take_malice(b)) {
        float value = take_float(b);
        values[take_below(b, count)] = value;
    }
}

/* ---- [invariants] ----------------------------------------------------------------------------------------------- */

FIXTURE_FN void demand_failed(const char *what, int line) {
    fprintf(stderr, "broken at line %d: %s\n", line, what);
    abort();
}
#define DEMAND(condition) \
    do { \
        if (!(condition)) demand_failed(#condition, __LINE__); \
    } while (0)

FIXTURE_FN bool finite3(isphpbd_vec3 v) { return isfinite(v.x) && isfinite(v.y) && isfinite(v.z); }
/* Three floats at the start of every stride. */
FIXTURE_FN bool finite_rows(const float *values, size_t stride, int count) {
    for (int i = 0; i < count; i++) {
        isphpbd_vec3 v;
        memcpy(&v, (const char *)values + stride * (size_t)i, sizeof v);
        if (!finite3(v)) return false;
    }
    return true;
}

/* ---- [memory] Watched memory that ends at a limit, so that absurd capacities are refused by the allocator. ------- */

#define FUZZ_MEMORY ((size_t)48 << 20)

typedef struct fuzz_memory {
    watched_memory watched;
    void *largest; /* the object itself */
    size_t largest_size;
} fuzz_memory;

FIXTURE_FN void *fuzz_alloc(size_t size, size_t align, void *user) {
    fuzz_memory *m = (fuzz_memory *)user;
    void *at = size > FUZZ_MEMORY - m->watched.live ? NULL : watched_alloc(size, align, &m->watched);
    if (at && size >= m->largest_size) m->largest = at, m->largest_size = size;
    return at;
}
FIXTURE_FN void fuzz_free(void *ptr, size_t size, void *user) {
    fuzz_memory *m = (fuzz_memory *)user;
    if (ptr == m->largest) m->largest = NULL, m->largest_size = 0;
    watched_free(ptr, size, &m->watched);
}
FIXTURE_FN isphpbd_allocator fuzz_allocator(fuzz_memory *m) {
    isphpbd_allocator allocator;
    memset(m, 0, sizeof *m);
    allocator.alloc = fuzz_alloc, allocator.free = fuzz_free, allocator.user = m;
    return allocator;
}
FIXTURE_FN bool fuzz_intact(const fuzz_memory *m) {
    return !m->watched.damaged && (!m->largest || watched_intact(m->largest));
}

/* Seeds of random bytes for the program without libFuzzer; the loop in fuzz.h changes them further. */
FIXTURE_FN size_t fuzz_random_seed(int index, uint8_t *data, size_t room) {
    fixture_random r;
    size_t size = 400 + 100 * (size_t)index;
    r.state = 2463534242u + 7919u * (uint32_t)index;
    if (index >= 12 || size > room) return 0;
    for (size_t i = 0; i < size; i++) data[i] = (uint8_t)(random_bits(&r) >> 24);
    return size;
}

#endif /* FUZZ_API_H */
