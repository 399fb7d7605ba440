/* fixture.h - what tests of any header have in common: random numbers, an allocator that watches, and task runners of
   every order. Include after the header under test.
   SPDX-License-Identifier: MIT */
#ifndef FIXTURE_H
#define FIXTURE_H

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

/* ---- [logger] Counts messages and keeps the last one. ------------------------------------------------------------ */

typedef struct heard {
    int errors, warnings;
    isphpbd_result code;
    char text[200];
} heard;

FIXTURE_FN void heard_fn(isphpbd_log_level level, isphpbd_result code, const char *text, void *user) {
    heard *h = (heard *)user;
    h->errors += level == ISPHPBD_LOG_ERROR, h->warnings += level == ISPHPBD_LOG_WARNING;
    h->code = code;
    strncpy(h->text, text, sizeof h->text - 1);
}
FIXTURE_FN isphpbd_logger heard_logger(heard *h) {
    isphpbd_logger logger;
    memset(h, 0, sizeof *h);
    logger.fn = heard_fn, logger.user = h;
    return logger;
}
/* Exactly one error since the last look, with that code, and the word is in it. */
FIXTURE_FN bool heard_once(heard *h, isphpbd_result code, const char *word) {
    const bool good = h->errors == 1 && h->warnings == 0 && h->code == code && strstr(h->text, word);
    if (!good) fprintf(stderr, "%d errors, code %d: \"%s\", not %s\n", h->errors, (int)h->code, h->text, word);
    memset(h, 0, sizeof *h);
    return good;
}

#endif /* FIXTURE_H */
