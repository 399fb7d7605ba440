/* bench_runner.h - one thread or many, for whatever takes an isphpbd_parallel. SPDX-License-Identifier: MIT */
#ifndef BENCH_RUNNER_H
#define BENCH_RUNNER_H

#include "bench_output.h"
#include "examples/threads.h"

BENCH_FN void serial_run(void (*task)(void *ctx, int index), void *ctx, int count, void *user) {
    (void)user;
    for (int i = 0; i < count; ++i) task(ctx, i);
}

/* One thread, in an OpenMP build too. */
BENCH_FN isphpbd_parallel serial_runner(void) {
    isphpbd_parallel parallel;
    parallel.run = serial_run, parallel.user = NULL;
    return parallel;
}

typedef struct bench_pool {
    threads *workers; /* NULL: one thread */
    isphpbd_parallel parallel;
} bench_pool;

BENCH_FN bench_pool pool_open(int count) {
    bench_pool pool;
    pool.workers = count > 1 ? (threads *)need(threads_create(count)) : NULL;
    pool.parallel = count > 1 ? threads_runner(pool.workers) : serial_runner();
    return pool;
}
BENCH_FN void pool_close(bench_pool *pool) { threads_destroy(pool->workers); }

/* 1, 2, ... 8, then doubling, and all there are at the end; 0: no more. */
BENCH_FN int next_threads(const bench *b, int count) {
    if (count >= b->threads) return 0;
    count = count < 8 ? count + 1 : 2 * count;
    return count < b->threads ? count : b->threads;
}

#endif /* BENCH_RUNNER_H */
