/* threads.h - a runner for isphpbd_parallel on POSIX threads, for the examples. SPDX: MIT

   Every thread has a share of the tasks, neighbours first; who is done with his own helps the others. A round starts
   without a lock: workers look for work for a moment before they go to sleep, because a simulation step hands out tasks
   many times in a millisecond. Elsewhere than on POSIX systems everything runs on the calling thread. Define
   EXAMPLES_IMPLEMENTATION in one file. */
#ifndef EXAMPLES_THREADS_H
#define EXAMPLES_THREADS_H

#include "isphpbd_sph.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { THREADS_MOST = 64 }; /* in a pool */
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
#include <sys/time.h>
#include <unistd.h>

enum {
    THREADS_LOOKS = 64,     /* before one who waits lets other programs have the core: a microsecond or two */
    THREADS_PATIENCE = 300, /* microseconds before a worker without work sleeps */
    THREADS_LINE = 64       /* bytes of a cache line */
};

typedef struct threads_worker {
    threads *pool;
    int index;
    pthread_t thread;
    int end;                  /* of its share of the tasks */
    uint64_t ticket;          /* round << 32 | tasks of the share that nobody has taken; atomic */
    char apart[THREADS_LINE]; /* tickets in cache lines of their own */
} threads_worker;

struct threads {
    int count; /* with the caller, who is the first */
    threads_worker worker[THREADS_MOST];
    pthread_mutex_t lock;
    pthread_cond_t wake;
    void (*task)(void *ctx, int index); /* these two belong to whoever holds a ticket of the round */
    void *ctx;
    uint32_t round; /* counts the jobs; atomic, like the rest */
    int done;       /* tasks of this round */
    int sleeping;   /* workers that have to be woken */
    int stop;
};

/* Between two looks at what another thread will change: slower, and kinder to a second thread of the same core. */
static void threads_pause(void) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ __volatile__("yield");
#endif
}

static long long threads_microseconds(void) {
    struct timeval now;
    gettimeofday(&now, NULL);
    return 1000000LL * now.tv_sec + now.tv_usec;
}

static uint32_t threads_round(threads *pool) { return __atomic_load_n(&pool->round, __ATOMIC_SEQ_CST); }

static bool threads_spin(threads *pool, uint32_t seen) {
    const long long start = threads_microseconds();
    int looks;
    do {
        for (looks = 0; looks < THREADS_LOOKS; ++looks) {
            if (threads_round(pool) != seen) return true;
            threads_pause();
        }
        sched_yield();
    } while ((unsigned long long)(threads_microseconds() - start) < THREADS_PATIENCE); /* also if the clock was set */
    return false;
}

/* Whoever starts a round counts it, then looks for sleepers; here it is the other way round: one sees the other. */
static void threads_sleep(threads *pool, uint32_t seen) {
    pthread_mutex_lock(&pool->lock);
    __atomic_add_fetch(&pool->sleeping, 1, __ATOMIC_SEQ_CST);
    while (threads_round(pool) == seen) pthread_cond_wait(&pool->wake, &pool->lock);
    __atomic_sub_fetch(&pool->sleeping, 1, __ATOMIC_SEQ_CST);
    pthread_mutex_unlock(&pool->lock);
}

static void threads_start_round(threads *pool) {
    __atomic_add_fetch(&pool->round, 1, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&pool->sleeping, __ATOMIC_SEQ_CST) == 0) return;
    pthread_mutex_lock(&pool->lock);
    pthread_cond_broadcast(&pool->wake);
    pthread_mutex_unlock(&pool->lock);
}

/* The next task of a share. A ticket keeps its round from ending, so that what it is for can be read after it. */
static bool threads_take(threads_worker *from, uint32_t round, int *index) {
    uint64_t ticket = __atomic_load_n(&from->ticket, __ATOMIC_ACQUIRE);
    while ((uint32_t)(ticket >> 32) == round && (uint32_t)ticket > 0) {
        if (!__atomic_compare_exchange_n(&from->ticket, &ticket, ticket - 1, true, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
            continue;
        *index = from->end - (int)(uint32_t)ticket;
        return true;
    }
    return false;
}

static void threads_do_round(threads *pool, int me, uint32_t round) {
    int k, index, done = 0;
    for (k = 0; k < pool->count; ++k) {
        while (threads_take(&pool->worker[(me + k) % pool->count], round, &index)) pool->task(pool->ctx, index), ++done;
    }
    if (done > 0) __atomic_add_fetch(&pool->done, done, __ATOMIC_ACQ_REL);
}

static void *threads_work(void *user) {
    threads_worker *me = (threads_worker *)user;
    threads *pool = me->pool;
    uint32_t round = 0;
    for (;;) {
        if (!threads_spin(pool, round)) threads_sleep(pool, round);
        round = threads_round(pool);
        if (__atomic_load_n(&pool->stop, __ATOMIC_ACQUIRE)) return NULL;
        threads_do_round(pool, me->index, round);
    }
}

static void threads_share_out(threads *pool, int task_count) {
    const uint32_t round = pool->round + 1;
    int k, begin = 0;
    for (k = 0; k < pool->count; ++k) {
        threads_worker *w = &pool->worker[k];
        w->end = (int)((long long)task_count * (k + 1) / pool->count);
        __atomic_store_n(&w->ticket, (uint64_t)round << 32 | (uint32_t)(w->end - begin), __ATOMIC_RELEASE);
        begin = w->end;
    }
}

static void threads_run(void (*task)(void *ctx, int index), void *ctx, int task_count, void *user) {
    threads *pool = (threads *)user;
    int i, looks = 0;
    if (task_count < 2 || pool->count < 2) {
        for (i = 0; i < task_count; ++i) task(ctx, i);
        return;
    }
    pool->task = task, pool->ctx = ctx;
    __atomic_store_n(&pool->done, 0, __ATOMIC_RELAXED);
    threads_share_out(pool, task_count);
    threads_start_round(pool);
    threads_do_round(pool, 0, pool->round);
    while (__atomic_load_n(&pool->done, __ATOMIC_ACQUIRE) < task_count) {
        threads_pause();
        if (++looks % THREADS_LOOKS == 0) sched_yield();
    }
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
    __atomic_store_n(&pool->stop, 1, __ATOMIC_RELEASE);
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
