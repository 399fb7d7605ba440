/* runner_threads.h - a runner on POSIX threads for tests: starts its threads for every run, thread k takes the tasks
   k, k + threads, ... Slow, simple, and never the same timing twice. Include after a header of the library.
   SPDX-License-Identifier: MIT */
#ifndef RUNNER_THREADS_H
#define RUNNER_THREADS_H

#include <pthread.h>

typedef struct pool {
    int threads; /* at most 8 */
} pool;
typedef struct share {
    void (*task)(void *ctx, int index);
    void *ctx;
    int first, stride, count;
} share;

static void *take_share(void *argument) {
    const share *s = (const share *)argument;
    for (int i = s->first; i < s->count; i += s->stride) s->task(s->ctx, i);
    return NULL;
}

static void run_threads(void (*task)(void *ctx, int index), void *ctx, int task_count, void *user) {
    const int threads = ((pool *)user)->threads;
    pthread_t thread[8];
    share shares[8];
    int started = 0;
    for (int k = 0; k < 8; k++) {
        shares[k].task = task, shares[k].ctx = ctx, shares[k].first = k, shares[k].stride = threads,
        shares[k].count = task_count;
    }
    for (int k = 1; k < threads; k++, started++) {
        if (pthread_create(&thread[k], NULL, take_share, &shares[k]) != 0) break;
    }
    (void)take_share(&shares[0]);
    for (int k = 1; k <= started; k++) (void)pthread_join(thread[k], NULL);
    for (int k = started + 1; k < threads; k++) (void)take_share(&shares[k]);
}

#endif /* RUNNER_THREADS_H */
