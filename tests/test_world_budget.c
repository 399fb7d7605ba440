/* The work of isphpbd.h is bounded and reproducible: counted budgets give the same bits however the tasks run, what was
   cut is told, time is accounted for to the end, and deadlines hold on a clock that the test drives. */
#define ISPHPBD_IMPLEMENTATION
#include "isphpbd.h"

#include "greatest.h"
#include "runner_threads.h"
#include "world_mixed.h"

/* ---- [same] ------------------------------------------------------------------------------------------------------ */

typedef struct recipe {
    isphpbd_parallel parallel;
    isphpbd_budget budget;
    int parts, steps;
    isphpbd_rigid_scheme scheme;
} recipe;

static uint64_t hash_of(const recipe *r) {
    isphpbd_world_desc desc = mixed_desc();
    mixed m;
    uint64_t hash;
    desc.parallel = r->parallel, desc.budget = r->budget, desc.rigid_scheme = r->scheme;
    m = mixed_make(desc, r->parts);
    (void)mixed_run(&m, r->steps);
    hash = isphpbd_world_hash(m.world);
    mixed_end(&m);
    return hash;
}

static recipe recipe_of(int parts, int steps) {
    recipe r;
    memset(&r, 0, sizeof r);
    r.budget = isphpbd_world_desc_default().budget, r.parts = parts, r.steps = steps;
    return r;
}

static greatest_test_res same_with_all_runners(recipe r) {
    fixture_random order = {5u};
    pool pools[3] = {{1}, {2}, {3}};
    const isphpbd_parallel runners[6] = {{run_forward, NULL},      {run_reverse, NULL},      {run_shuffled, &order},
                                         {run_threads, &pools[0]}, {run_threads, &pools[1]}, {run_threads, &pools[2]}};
    const uint64_t hash = hash_of(&r);
    ASSERT(hash != 0);
    ASSERT_EQ(hash, hash_of(&r));
    for (int i = 0; i < 6; i++) {
        r.parallel = runners[i];
        ASSERT_EQ(hash, hash_of(&r));
    }
    r.steps++;
    ASSERT(hash != hash_of(&r)); /* and it is a hash of the state at all */
    PASS();
}

TEST runners_water(void) {
    CHECK_CALL(same_with_all_runners(recipe_of(MIXED_WATER | MIXED_PADDLE | MIXED_BODY, 20)));
    PASS();
}
TEST runners_everything(void) {
    CHECK_CALL(same_with_all_runners(recipe_of(MIXED_ALL, 15)));
    PASS();
}
TEST runners_with_little_budget(void) {
    recipe r = recipe_of(MIXED_ALL, 15);
    r.budget.substeps = 2, r.budget.pressure_iterations = 6, r.budget.soft_substeps = 3, r.budget.outer_iterations = 3;
    CHECK_CALL(same_with_all_runners(r));
    PASS();
}
TEST runners_local_scheme(void) {
    recipe r = recipe_of(MIXED_ALL, 10);
    r.scheme = ISPHPBD_RIGID_LOCAL;
    CHECK_CALL(same_with_all_runners(r));
    PASS();
}

/* What the allocator hands out is of no influence, and a step asks it for nothing. */
TEST memory_is_taken_at_creation(void) {
    uint64_t hash[2];
    for (int i = 0; i < 2; i++) {
        isphpbd_world_desc desc = mixed_desc();
        watched_memory memory;
        mixed m;
        int before;
        memset(&memory, 0, sizeof memory);
        if (i) desc.allocator = watched_allocator(&memory);
        m = mixed_make(desc, MIXED_ALL);
        before = memory.allocations;
        (void)mixed_run(&m, 20);
        if (i) ASSERT_EQ_FMT(before, memory.allocations, "%d");
        hash[i] = isphpbd_world_hash(m.world);
        mixed_end(&m);
        if (i) ASSERT(watched_clean(&memory));
    }
    ASSERT_EQ(hash[0], hash[1]);
    PASS();
}

/* ---- [worlds] on several threads at once, without locks ---------------------------------------------------------- */

typedef struct worker {
    recipe recipe;
    uint64_t hash;
} worker;

static void *work(void *argument) {
    worker *w = (worker *)argument;
    w->hash = hash_of(&w->recipe);
    return NULL;
}

TEST worlds_on_threads(void) {
    worker workers[3];
    pthread_t threads[3];
    const recipe r = recipe_of(MIXED_ALL, 12);
    const uint64_t hash = hash_of(&r);
    for (int i = 0; i < 3; i++) {
        workers[i].recipe = r;
        ASSERT_EQ(0, pthread_create(&threads[i], NULL, work, &workers[i]));
    }
    for (int i = 0; i < 3; i++) (void)pthread_join(threads[i], NULL);
    for (int i = 0; i < 3; i++) ASSERT_EQ(hash, workers[i].hash);
    PASS();
}

/* ---- [flags] ----------------------------------------------------------------------------------------------------- */

static uint32_t flags_of(isphpbd_world_desc desc, int parts, int steps, isphpbd_stats *stats) {
    mixed m = mixed_make(desc, parts);
    const uint32_t flags = mixed_run(&m, steps);
    *stats = isphpbd_world_stats(m.world);
    mixed_end(&m);
    return flags;
}

TEST what_is_cut_is_told(void) {
    isphpbd_world_desc desc = mixed_desc();
    isphpbd_stats s;
    const int parts = MIXED_WATER | MIXED_CLOTH;
    ASSERT_EQ_FMT(0u, flags_of(desc, parts, 30, &s) & (ISPHPBD_STEP_SUBSTEPS_CAPPED | ISPHPBD_STEP_DEADLINE), "%u");
    ASSERT(s.substeps >= 1 && s.substeps <= desc.budget.substeps);
    ASSERT(s.soft_substeps >= s.substeps);
    desc.budget.pressure_iterations = 2;
    ASSERT(flags_of(desc, parts, 30, &s) & ISPHPBD_STEP_PRESSURE_CAPPED);
    ASSERT(s.pressure_iterations <= 2 && s.density_iterations <= 2); /* both go on in the same iterations */
    ASSERT(s.pressure_residual > 0.0f);
    desc = mixed_desc(), desc.budget.substeps = 1;
    ASSERT(flags_of(desc, parts, 30, &s) & ISPHPBD_STEP_SUBSTEPS_CAPPED);
    ASSERT_EQ_FMT(1, s.substeps, "%d");
    PASS();
}

TEST emitter_without_room_is_told(void) {
    isphpbd_world_desc desc = mixed_desc();
    isphpbd_stats s;
    desc.capacity.fluid_particles = 40;
    ASSERT(flags_of(desc, MIXED_EMITTER, 60, &s) & ISPHPBD_STEP_EMITTER_STARVED);
    ASSERT(s.fluid_particles <= 40 && s.fluid_particles > 20);
    PASS();
}

/* Little budget is no licence to explode: the water stays in the tank, calm and of its volume. */
TEST little_budget_stays_calm(void) {
    isphpbd_world_desc desc = mixed_desc();
    mixed m;
    isphpbd_stats s;
    int added;
    desc.budget.substeps = 1, desc.budget.pressure_iterations = 4, desc.budget.soft_substeps = 1;
    m = mixed_make(desc, MIXED_ALL & ~MIXED_EMITTER);
    added = isphpbd_fluid_points(m.world).count;
    (void)mixed_run(&m, 300);
    s = isphpbd_world_stats(m.world);
    ASSERT(mixed_sane(&m, added));
    ASSERT(s.max_speed < 3.0f);
    ASSERT(s.compression_mean < 0.05f);
    mixed_end(&m);
    PASS();
}

/* ---- [time] ------------------------------------------------------------------------------------------------------ */

TEST time_is_accounted_for(void) {
    mixed m = mixed_make(mixed_desc(), MIXED_WATER);
    fixture_random random = {3u};
    double fed = 0.0, dropped = 0.0, alpha = 0.0;
    int steps = 0;
    for (int i = 0; i < 120; i++) {
        const float frame = i % 10 == 9 ? 0.2f : random_between(&random, 0.001f, 0.04f);
        const isphpbd_step_info info = isphpbd_world_advance(m.world, frame);
        ASSERT(info.steps <= 2 && info.alpha >= 0.0f && info.alpha <= 1.0f && info.dropped_seconds >= 0.0f);
        ASSERT_EQ_FMT(info.dropped_seconds > 0.0f ? 1 : 0, info.flags & ISPHPBD_STEP_TIME_DROPPED ? 1 : 0, "%d");
        if (frame > 0.19f) ASSERT(info.dropped_seconds > 0.1f && info.steps == 2);
        fed += (double)frame, dropped += (double)info.dropped_seconds, steps += info.steps, alpha = (double)info.alpha;
    }
    ASSERT_IN_RANGE(fed, (steps + alpha) / 60.0 + dropped, 1e-3);
    ASSERT_IN_RANGE(dropped, isphpbd_world_stats(m.world).dropped_seconds, 1e-4);
    ASSERT_IN_RANGE(steps / 60.0, isphpbd_world_stats(m.world).time, 1e-4);
    ASSERT_EQ_FMT(steps, (int)isphpbd_world_stats(m.world).steps, "%d");
    mixed_end(&m);
    PASS();
}

/* Frames shorter than a step: the same steps, spread over more frames. */
TEST frames_do_not_matter(void) {
    mixed a = mixed_make(mixed_desc(), MIXED_WATER), b = mixed_make(mixed_desc(), MIXED_WATER);
    int steps_a = 0, steps_b = 0;
    for (int i = 0; i < 90; i++) steps_a += isphpbd_world_advance(a.world, 1.0f / 180.0f).steps;
    for (int i = 0; i < 15; i++) steps_b += isphpbd_world_advance(b.world, 1.0f / 30.0f).steps;
    while (steps_b < steps_a) steps_b += isphpbd_world_advance(b.world, 1.0f / 240.0f).steps;
    while (steps_a < steps_b) steps_a += isphpbd_world_advance(a.world, 1.0f / 240.0f).steps;
    ASSERT_IN_RANGE(30, steps_a, 1);
    {
        const isphpbd_points p = isphpbd_fluid_points(a.world), q = isphpbd_fluid_points(b.world);
        ASSERT_EQ_FMT(p.count, q.count, "%d");
        for (int i = 0; i < p.count; i++) {
            ASSERT_EQ(0.0, vec3d_length(vec3d_sub(points_position(&p, i), points_position(&q, i))));
        }
    }
    mixed_end(&a), mixed_end(&b);
    PASS();
}

static greatest_test_res refuses_time(isphpbd_world *world, float seconds) {
    const uint64_t hash = isphpbd_world_hash(world);
    const isphpbd_step_info step = isphpbd_world_step(world, seconds), frame = isphpbd_world_advance(world, seconds);
    ASSERT(step.flags & ISPHPBD_STEP_REFUSED);
    ASSERT_EQ_FMT(0, step.steps, "%d");
    if (seconds != 0.0f && !(seconds > 0.1f)) ASSERT(frame.flags & ISPHPBD_STEP_REFUSED);
    ASSERT_EQ(hash, isphpbd_world_hash(world));
    PASS();
}

TEST bad_times_are_refused(void) {
    mixed m = mixed_make(mixed_desc(), MIXED_WATER | MIXED_CLOTH);
    const float bad[6] = {-1.0f, -1e-30f, (float)NAN, (float)-INFINITY, (float)-1e30, -0.5f};
    (void)mixed_run(&m, 2);
    for (int i = 0; i < 6; i++) CHECK_CALL(refuses_time(m.world, bad[i]));
    ASSERT(isphpbd_world_step(m.world, 0.2f).flags & ISPHPBD_STEP_REFUSED);
    ASSERT(isphpbd_world_step(m.world, 0.0f).flags & ISPHPBD_STEP_REFUSED);
    ASSERT(isphpbd_world_advance(m.world, (float)INFINITY).steps <= 2);
    ASSERT(isphpbd_world_step(NULL, WORLD_STEP).flags & ISPHPBD_STEP_REFUSED);
    ASSERT(isphpbd_world_advance(NULL, WORLD_STEP).flags & ISPHPBD_STEP_REFUSED);
    mixed_end(&m);
    PASS();
}

TEST bad_budgets_are_refused(void) {
    mixed m = mixed_make(mixed_desc(), MIXED_WATER);
    const uint64_t hash = isphpbd_world_hash(m.world);
    for (int i = 0; i < 12; i++) {
        isphpbd_budget b = isphpbd_world_desc_default().budget;
        isphpbd_world_desc desc = mixed_desc();
        if (i == 0) b.steps_per_advance = 0;
        if (i == 1) b.substeps = 0;
        if (i == 2) b.pressure_iterations = -1;
        if (i == 3) b.soft_substeps = 0;
        if (i == 4) b.constraint_iterations = 0;
        if (i == 5) b.outer_iterations = 0;
        if (i == 6) b.outer_iterations = 17;
        if (i == 7) b.deadline_seconds = -1.0f;
        if (i == 8) b.deadline_seconds = (float)NAN;
        if (i == 9) b.deadline_seconds = (float)INFINITY;
        if (i == 10) b.substeps = -2147483647;
        if (i == 11) b.soft_substeps = 2147483647;
        ASSERT(isphpbd_world_set_budget(m.world, &b) != ISPHPBD_OK);
        desc.budget = b;
        ASSERT_EQ(0u, isphpbd_world_bytes(&desc));
        ASSERT_EQ(NULL, isphpbd_world_create(&desc, NULL));
    }
    ASSERT_EQ(ISPHPBD_BAD_ARGUMENT, isphpbd_world_set_budget(m.world, NULL));
    ASSERT_EQ(hash, isphpbd_world_hash(m.world));
    mixed_end(&m);
    PASS();
}

/* ---- [deadline] on a clock that goes on by a tick whenever it is read -------------------------------------------- */

typedef struct fake_clock {
    uint64_t now, stride; /* ticks */
    uint64_t reads;
} fake_clock;

static uint64_t fake_read(void *user) {
    fake_clock *c = (fake_clock *)user;
    c->reads++;
    return c->now += c->stride;
}

static isphpbd_world_desc clocked_desc(fake_clock *clock, float deadline) {
    isphpbd_world_desc desc = mixed_desc();
    clock->now = 1000u, clock->reads = 0;
    desc.clock.fn = fake_read, desc.clock.user = clock;
    desc.ticks_per_second = 1e6; /* a tick is a microsecond */
    desc.budget.deadline_seconds = deadline;
    return desc;
}

/* Calls step until it says that it is done; -1 when it never does. */
static int calls_for_a_step(mixed *m, int most, uint32_t *flags) {
    mixed_before_step(m);
    for (int calls = 1; calls <= most; calls++) {
        const isphpbd_step_info info = isphpbd_world_step(m->world, WORLD_STEP);
        *flags |= info.flags;
        if (info.steps == 1) return m->steps++, calls;
    }
    return -1;
}

TEST generous_deadline_changes_nothing(void) {
    fake_clock clock = {0, 1, 0};
    recipe r = recipe_of(MIXED_ALL, 10);
    mixed m;
    const uint64_t hash = hash_of(&r);
    m = mixed_make(clocked_desc(&clock, 0.0f), MIXED_ALL);
    ASSERT_EQ_FMT(0u, mixed_run(&m, 10) & ISPHPBD_STEP_DEADLINE, "%u");
    ASSERT(clock.reads > 0);
    ASSERT(isphpbd_world_stats(m.world).ticks_step > 0);
    ASSERT_EQ(hash, isphpbd_world_hash(m.world));
    mixed_end(&m);
    {
        isphpbd_points p, q;
        mixed a = mixed_make(mixed_desc(), MIXED_ALL);
        m = mixed_make(clocked_desc(&clock, 1000.0f), MIXED_ALL);
        ASSERT_EQ_FMT(0u, mixed_run(&m, 10) & ISPHPBD_STEP_DEADLINE, "%u");
        (void)mixed_run(&a, 10);
        p = isphpbd_fluid_points(a.world), q = isphpbd_fluid_points(m.world);
        ASSERT_EQ_FMT(p.count, q.count, "%d");
        for (int i = 0; i < p.count; i++) {
            ASSERT_EQ(0.0, vec3d_length(vec3d_sub(points_position(&p, i), points_position(&q, i))));
        }
        mixed_end(&a), mixed_end(&m);
    }
    PASS();
}

/* With every reading ten ticks, each call may read the clock only as often as the deadline has tens of ticks; one call
   in a hundred may meet a piece of work whose cost it could not know. */
static greatest_test_res keeps_deadline(float deadline, int parts) {
    fake_clock clock = {0, 10, 0};
    uint64_t hash[2];
    for (int round = 0; round < 2; round++) {
        mixed m = mixed_make(clocked_desc(&clock, deadline), parts);
        const int added = isphpbd_fluid_points(m.world).count;
        int cut = 0, late = 0, all = 0;
        for (int i = 0; i < 40; i++) {
            mixed_before_step(&m);
            for (int calls = 0; calls < 20000; calls++) {
                const uint64_t begin = clock.now;
                const isphpbd_step_info info = isphpbd_world_step(m.world, WORLD_STEP);
                cut += info.flags & ISPHPBD_STEP_DEADLINE ? 1 : 0;
                late += (double)(clock.now - begin) > 1.1e6 * (double)deadline + 60.0, all++;
                ASSERT((double)(clock.now - begin) <= 2e6 * (double)deadline);
                if (info.steps == 1) break;
                ASSERT(calls < 19999);
            }
            m.steps++;
        }
        ASSERT(cut > 0);
        ASSERT(100 * late <= all);
        ASSERT(mixed_sane(&m, added));
        ASSERT(isphpbd_world_stats(m.world).max_speed < 10.0f);
        hash[round] = isphpbd_world_hash(m.world);
        mixed_end(&m);
    }
    ASSERT_EQ(hash[0], hash[1]);
    PASS();
}

TEST deadlines_hold(void) {
    CHECK_CALL(keeps_deadline(2e-3f, MIXED_ALL));
    CHECK_CALL(keeps_deadline(0.5e-3f, MIXED_ALL));
    CHECK_CALL(keeps_deadline(0.5e-3f, MIXED_WATER));
    PASS();
}

/* Clocks that stand still, jump ahead by an hour at every look, or run backwards: no step hangs. */
TEST strange_clocks(void) {
    const uint64_t strides[3] = {0, UINT64_C(3600000000), (uint64_t)0 - 5u};
    for (int i = 0; i < 3; i++) {
        fake_clock clock = {0, 0, 0};
        uint32_t flags = 0;
        mixed m;
        clock.stride = strides[i];
        m = mixed_make(clocked_desc(&clock, 4e-3f), MIXED_ALL & ~MIXED_EMITTER);
        clock.now = i == 2 ? UINT64_C(1) << 40 : 0;
        for (int s = 0; s < 5; s++) ASSERT(calls_for_a_step(&m, 100000, &flags) > 0);
        ASSERT(mixed_sane(&m, isphpbd_fluid_points(m.world).count));
        ASSERT_EQ_FMT(5, (int)isphpbd_world_stats(m.world).steps, "%d");
        mixed_end(&m);
    }
    PASS();
}

/* Between the calls of one step the host goes on with its life. */
TEST changes_amid_a_step(void) {
    fake_clock clock = {0, 40, 0};
    mixed m = mixed_make(clocked_desc(&clock, 1e-3f), MIXED_ALL & ~MIXED_EMITTER);
    const isphpbd_soft softs[3] = {m.cloth, m.jelly, m.balloon};
    const float drop[3] = {0.0f, 1.0f, 0.0f};
    int unfinished = 0, added = isphpbd_fluid_points(m.world).count;
    for (int i = 0; i < 400; i++) {
        const isphpbd_step_info info = isphpbd_world_step(m.world, WORLD_STEP);
        world_image image;
        unfinished += info.steps == 0;
        if (i % 7 == 0 && isphpbd_fluid_add(m.world, m.water, drop, 12, NULL, 0, 1, NULL) == ISPHPBD_OK) added++;
        if (i % 5 == 0) mixed_before_step(&m);
        if (i % 11 == 0) (void)isphpbd_world_set_gravity(m.world, isphpbd_v3(0.0f, i % 2 ? -9.81f : -5.0f, 0.0f));
        if (i % 31 == 0) {
            image = world_take_image(m.world);
            ASSERT_EQ(ISPHPBD_OK, isphpbd_world_load(m.world, image.bytes, image.size));
            free(image.bytes);
        }
        if (i % 13 == 0) (void)isphpbd_collider_teleport(m.world, m.paddle, isphpbd_pose_at(isphpbd_v3(0.2f, 0.3f, 0)));
    }
    ASSERT(unfinished > 0);
    ASSERT_EQ_FMT(0, world_broken(m.world, softs, 3), "%d");
    ASSERT(isphpbd_fluid_points(m.world).count + (int)isphpbd_world_stats(m.world).total_culled == added);
    mixed_end(&m);
    PASS();
}

SUITE(world_budget) {
    RUN_TEST(runners_water);
    RUN_TEST(runners_everything);
    RUN_TEST(runners_with_little_budget);
    RUN_TEST(runners_local_scheme);
    RUN_TEST(memory_is_taken_at_creation);
    RUN_TEST(worlds_on_threads);
    RUN_TEST(what_is_cut_is_told);
    RUN_TEST(emitter_without_room_is_told);
    RUN_TEST(little_budget_stays_calm);
    RUN_TEST(time_is_accounted_for);
    RUN_TEST(frames_do_not_matter);
    RUN_TEST(bad_times_are_refused);
    RUN_TEST(bad_budgets_are_refused);
}

SUITE(world_deadline) {
    RUN_TEST(generous_deadline_changes_nothing);
    RUN_TEST(deadlines_hold);
    RUN_TEST(strange_clocks);
    RUN_TEST(changes_amid_a_step);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv) {
    GREATEST_MAIN_BEGIN();
    RUN_SUITE(world_budget);
    RUN_SUITE(world_deadline);
    GREATEST_MAIN_END();
}
