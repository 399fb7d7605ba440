/* Threads: whoever runs the tasks, in whatever order, the bits are the same; and worlds on threads of their own do not
   know of each other. Runs under ThreadSanitizer in tests/check_threads.sh. SPDX-License-Identifier: MIT */
#if !defined(_WIN32)
#define _XOPEN_SOURCE 700
#endif
#define ISPHPBD_IMPLEMENTATION
#include "isphpbd.h"

#define EXAMPLES_IMPLEMENTATION
#include "examples/threads.h"
#include "greatest.h"
#include "world_scene.h"

#if defined(__unix__) || defined(__APPLE__)
#include <pthread.h>
#define HAVE_THREADS 1
#else
#define HAVE_THREADS 0
#endif

enum { STEPS = 12 };

/* What fluid, soft bodies and host know after some steps; 0 when the scene could not be made. */
static uint64_t run_scene(isphpbd_parallel parallel, int steps) {
    isphpbd_world_desc desc = scene_desc();
    world_scene scene;
    uint64_t hash = 0;
    desc.parallel = parallel;
    if (scene_fill(&scene, isphpbd_world_create(&desc, NULL))) {
        for (int i = 0; i < steps; i++) (void)scene_step(&scene);
        hash = isph_fluid_hash(isphpbd_world_fluids(scene.world)) + 31u * ipbd_hash(isphpbd_world_softs(scene.world));
        hash = isphpbdx_hash_words(hash, &scene.motion, sizeof scene.motion / 4);
    }
    isphpbd_world_destroy(scene.world);
    return hash;
}

static isphpbd_parallel runner(void (*run)(void (*)(void *, int), void *, int, void *), void *user) {
    isphpbd_parallel parallel;
    parallel.run = run, parallel.user = user;
    return parallel;
}

/* Halves of halves, the second half first: the order of a scheduler that steals. */
static void run_part(void (*task)(void *ctx, int index), void *ctx, int begin, int end) {
    const int middle = begin + (end - begin) / 2;
    if (end - begin == 1) task(ctx, begin);
    if (end - begin < 2) return;
    run_part(task, ctx, middle, end);
    run_part(task, ctx, begin, middle);
}
static void run_nested(void (*task)(void *ctx, int index), void *ctx, int task_count, void *user) {
    (void)user;
    run_part(task, ctx, 0, task_count);
}

/* A runner whose tasks call another runner: batches of a few tasks each, every batch dealt out by the inner one. */
typedef struct outer {
    isphpbd_parallel inner;
    void (*task)(void *ctx, int index);
    void *ctx;
    int count, batches;
} outer;
typedef struct batch {
    const outer *of;
    int first;
} batch;
static void run_one_of_batch(void *ctx, int index) {
    const batch *b = (const batch *)ctx;
    b->of->task(b->of->ctx, b->first + index);
}
static void run_batch(void *ctx, int index) {
    const outer *o = (const outer *)ctx;
    const int first = (int)((int64_t)o->count * index / o->batches);
    const int end = (int)((int64_t)o->count * (index + 1) / o->batches);
    batch b;
    b.of = o, b.first = first;
    o->inner.run(run_one_of_batch, &b, end - first, o->inner.user);
}
typedef struct runners {
    isphpbd_parallel outer, inner;
} runners;
static void run_within(void (*task)(void *ctx, int index), void *ctx, int task_count, void *user) {
    const runners *r = (const runners *)user;
    outer o;
    o.inner = r->inner, o.task = task, o.ctx = ctx, o.count = task_count;
    o.batches = task_count < 3 ? task_count : 3;
    r->outer.run(run_batch, &o, o.batches, r->outer.user);
}

TEST tasks_in_any_order(void) {
    fixture_random random = {12345u};
    const uint64_t expected = run_scene(runner(run_forward, NULL), STEPS);
    ASSERT(expected != 0);
    ASSERT_EQ(expected, run_scene(runner(NULL, NULL), STEPS)); /* built in: OpenMP or serial */
    ASSERT_EQ(expected, run_scene(runner(run_reverse, NULL), STEPS));
    ASSERT_EQ(expected, run_scene(runner(run_shuffled, &random), STEPS));
    ASSERT_EQ(expected, run_scene(runner(run_shuffled, &random), STEPS)); /* another order */
    ASSERT_EQ(expected, run_scene(runner(run_nested, NULL), STEPS));
    PASS();
}

/* Both serial; and the batches on the threads of a pool, each dealt out backwards there. */
TEST a_runner_inside_a_runner(void) {
    const uint64_t expected = run_scene(runner(run_forward, NULL), STEPS);
    threads *pool = threads_create(3);
    runners both;
    ASSERT(expected != 0 && pool != NULL);
    both.outer = runner(run_nested, NULL), both.inner = runner(run_reverse, NULL);
    ASSERT_EQ(expected, run_scene(runner(run_within, &both), STEPS));
    both.outer = threads_runner(pool);
    ASSERT_EQ(expected, run_scene(runner(run_within, &both), STEPS));
    threads_destroy(pool);
    PASS();
}

TEST pools_of_any_size(void) {
    const uint64_t expected = run_scene(runner(run_forward, NULL), STEPS);
    const int sizes[3] = {1, 2, 5};
    for (int i = 0; i < 3; i++) {
        threads *pool = threads_create(sizes[i]);
        ASSERT(pool != NULL);
        ASSERT_EQ(expected, run_scene(threads_runner(pool), STEPS));
        threads_destroy(pool);
    }
    PASS();
}

#if HAVE_THREADS
typedef struct job {
    isphpbd_parallel parallel;
    int steps;
    uint64_t hash;
} job;
static void *run_job(void *user) {
    job *j = (job *)user;
    j->hash = run_scene(j->parallel, j->steps);
    return NULL;
}
/* Two worlds at once, each on its own thread with its own pool, and one with the built-in runner. */
TEST worlds_on_threads_of_their_own(void) {
    threads *pools[2] = {threads_create(2), threads_create(2)};
    pthread_t thread[3];
    job jobs[3];
    for (int i = 0; i < 3; i++) {
        jobs[i].parallel = i < 2 ? threads_runner(pools[i]) : runner(NULL, NULL);
        jobs[i].steps = STEPS - i, jobs[i].hash = 0;
        ASSERT_EQ(0, pthread_create(&thread[i], NULL, run_job, &jobs[i]));
    }
    for (int i = 0; i < 3; i++) ASSERT_EQ(0, pthread_join(thread[i], NULL));
    for (int i = 0; i < 3; i++) ASSERT_EQ(run_scene(runner(run_forward, NULL), STEPS - i), jobs[i].hash);
    threads_destroy(pools[0]), threads_destroy(pools[1]);
    PASS();
}
#else
TEST worlds_on_threads_of_their_own(void) { SKIPm("no POSIX threads"); }
#endif

GREATEST_MAIN_DEFS();
int main(int argc, char **argv) {
    GREATEST_MAIN_BEGIN();
    RUN_TEST(tasks_in_any_order);
    RUN_TEST(a_runner_inside_a_runner);
    RUN_TEST(pools_of_any_size);
    RUN_TEST(worlds_on_threads_of_their_own);
    GREATEST_MAIN_END();
}
