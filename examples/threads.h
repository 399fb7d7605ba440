/* threads.h - a runner for isphpbd_parallel on POSIX threads, for the examples. SPDX: MIT

   Thread k of n takes the tasks k, k + n, k + 2 n ...: no queue, no contention. Workers look for work for a moment
   before they go to sleep, because a simulation step hands out tasks many times in a millisecond. Elsewhere than on
   POSIX systems everything runs on the calling thread. Define EXAMPLES_IMPLEMENTATION in one file. */
#ifndef EXAMPLES_THREADS_H
#define EXAMPLES_THREADS_H

#include "isphpbd_sph.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct threads threads;
threads *threads_create(int count);  /* count includes the caller; NULL when out of memory */
void threads_destroy(threads *pool); /* NULL is fine */
isphpbd_parallel threads_runner(threads *pool);
int threads_available(void); /* cores of this machine, at least 1 */

#ifdef __cplusplus
}
#endif
#endif /* EXAMPLES_THREADS_H */

#if defined(EXAMPLES_IMPLEMENTATION) && !defined(EXAMPLES_THREADS_IMPLEMENTED)
#define EXAMPLES_THREADS_IMPLEMENTED

#include <stdlib.h>

#if (defined(__unix__) || defined(__APPLE__)) && defined(__GNUC__)
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

enum { THREADS_MOST = 64, THREADS_PATIENCE = 4000 }; /* looks before a worker sleeps: some ten microseconds */

typedef struct threads_worker {
    threads *pool;
    int index;
    pthread_t thread;
} threads_worker;

struct threads {
    int count; /* with the caller */
    threads_worker worker[THREADS_MOST];
    pthread_mutex_t lock;
    pthread_cond_t wake;
    int round;   /* counts the jobs; atomic */
    int running; /* workers still busy with this round; atomic */
    bool stop;   /* guarded by round */
    void (*task)(void *ctx, int index);
    void *ctx;
    int task_count;
};

static void threads_wait_for_round(threads *pool, int seen) {
    int looks;
    for (looks = 0; looks < THREADS_PATIENCE; ++looks)
        if (__atomic_load_n(&pool->round, __ATOMIC_ACQUIRE) != seen) return;
    pthread_mutex_lock(&pool->lock);
    while (__atomic_load_n(&pool->round, __ATOMIC_ACQUIRE) == seen) pthread_cond_wait(&pool->wake, &pool->lock);
    pthread_mutex_unlock(&pool->lock);
}

static void *threads_work(void *user) {
    threads_worker *me = (threads_worker *)user;
    threads *pool = me->pool;
    int i, seen = 0;
    for (;;) {
        threads_wait_for_round(pool, seen++);
        if (pool->stop) return NULL;
        for (i = me->index; i < pool->task_count; i += pool->count) pool->task(pool->ctx, i);
        __atomic_sub_fetch(&pool->running, 1, __ATOMIC_ACQ_REL);
    }
}

static void threads_start_round(threads *pool) {
    pthread_mutex_lock(&pool->lock);
    __atomic_add_fetch(&pool->round, 1, __ATOMIC_ACQ_REL);
    pthread_cond_broadcast(&pool->wake);
    pthread_mutex_unlock(&pool->lock);
}

static void threads_run(void (*task)(void *ctx, int index), void *ctx, int task_count, void *user) {
    threads *pool = (threads *)user;
    int i, looks = 0, stride = task_count > 1 ? pool->count : 1;
    if (stride > 1) {
        pool->task = task, pool->ctx = ctx, pool->task_count = task_count;
        __atomic_store_n(&pool->running, pool->count - 1, __ATOMIC_RELEASE);
        threads_start_round(pool);
    }
    for (i = 0; i < task_count; i += stride) task(ctx, i);
    while (stride > 1 && __atomic_load_n(&pool->running, __ATOMIC_ACQUIRE) > 0)
        if (++looks > THREADS_PATIENCE) sched_yield();
}

threads *threads_create(int count) {
    threads *pool = (threads *)calloc(1, sizeof *pool);
    int i;
    if (!pool) return NULL;
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->wake, NULL);
    pool->count = 1;
    if (count > THREADS_MOST) count = THREADS_MOST;
    for (i = 1; i < count; ++i) {
        threads_worker *w = &pool->worker[i];
        w->pool = pool, w->index = i;
        if (pthread_create(&w->thread, NULL, threads_work, w) != 0) break;
        pool->count = i + 1;
    }
    return pool;
}

void threads_destroy(threads *pool) {
    int i;
    if (!pool) return;
    pool->stop = true;
    threads_start_round(pool);
    for (i = 1; i < pool->count; ++i) pthread_join(pool->worker[i].thread, NULL);
    pthread_cond_destroy(&pool->wake);
    pthread_mutex_destroy(&pool->lock);
    free(pool);
}

int threads_available(void) {
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    return cores < 1 ? 1 : cores > THREADS_MOST ? THREADS_MOST : (int)cores;
}

#else

struct threads {
    int unused;
};

static void threads_run(void (*task)(void *ctx, int index), void *ctx, int task_count, void *user) {
    int i;
    (void)user;
    for (i = 0; i < task_count; ++i) task(ctx, i);
}
threads *threads_create(int count) { return (void)count, (threads *)calloc(1, sizeof(threads)); }
void threads_destroy(threads *pool) { free(pool); }
int threads_available(void) { return 1; }

#endif

isphpbd_parallel threads_runner(threads *pool) {
    isphpbd_parallel parallel;
    parallel.run = threads_run;
    parallel.user = pool;
    return parallel;
}

#endif /* EXAMPLES_IMPLEMENTATION */
