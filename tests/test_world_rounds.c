/* The outer loop of isphpbd.h: rounds of pressure and constraints bring water and soft bodies together, as many as the
   budget allows and the tolerance asks for; they keep momentum, bits and snapshots. */
#define ISPHPBD_IMPLEMENTATION
#include "isphpbd.h"

#include "greatest.h"
#include "world_checks.h"
#include "world_mixed.h"

typedef struct rounds_figures { /* over the last steps of a run */
    double mismatch, worst;     /* m/s: mean, and largest of any place */
    double rounds;              /* per substep, mean */
    int most, least, capped;    /* rounds in a step; steps with the flag */
} rounds_figures;

static rounds_figures rounds_run(mixed *m, int settle, int steps) {
    rounds_figures r = {0.0, 0.0, 0.0, 0, 1000, 0};
    for (int i = 0; i < settle + steps; i++) {
        const uint32_t flags = mixed_step(m, WORLD_STEP).flags;
        const isphpbd_stats s = isphpbd_world_stats(m->world);
        if (i < settle) continue;
        r.mismatch += (double)s.coupling_mismatch / steps, r.rounds += (double)s.outer_iterations_mean / steps;
        r.worst = fmax(r.worst, (double)s.coupling_mismatch_max);
        r.most = s.outer_iterations > r.most ? s.outer_iterations : r.most;
        r.least = s.outer_iterations < r.least ? s.outer_iterations : r.least;
        r.capped += flags & ISPHPBD_STEP_COUPLING_CAPPED ? 1 : 0;
    }
    return r;
}
static mixed rounds_make(int parts, int rounds, float tolerance) {
    isphpbd_world_desc desc = mixed_desc();
    desc.budget.outer_iterations = rounds, desc.coupling_tolerance = tolerance;
    return mixed_make(desc, parts);
}
static rounds_figures rounds_of(int parts, int rounds, float tolerance) {
    mixed m = rounds_make(parts, rounds, tolerance);
    const rounds_figures r = rounds_run(&m, 40, 40);
    mixed_end(&m);
    return r;
}

/* ---- [convergence] ----------------------------------------------------------------------------------------------- */

static greatest_test_res comes_together(int parts, const char *name) {
    const rounds_figures one = rounds_of(parts, 1, 0.5e-3f), two = rounds_of(parts, 2, 0.5e-3f),
                         four = rounds_of(parts, 4, 0.5e-3f);
    printf("%s: |u - v| %.5f, %.5f, %.5f m/s after 1, 2, 4 rounds (%.2f made)\n", name, one.mismatch, two.mismatch,
           four.mismatch, four.rounds);
    ASSERT(one.mismatch > 1e-3);
    ASSERT(two.mismatch < 0.5 * one.mismatch);
    ASSERT(four.mismatch < 0.1 * one.mismatch);
    ASSERT(four.mismatch < 0.5e-3);
    ASSERT(four.worst < one.worst);
    PASS();
}
TEST rounds_bring_water_and_cloth_together(void) {
    CHECK_CALL(comes_together(MIXED_WATER | MIXED_CLOTH, "cloth"));
    PASS();
}
TEST rounds_bring_water_and_jelly_together(void) {
    CHECK_CALL(comes_together(MIXED_WATER | MIXED_JELLY, "jelly"));
    PASS();
}

/* ---- [cap] ------------------------------------------------------------------------------------------------------- */

/* A tolerance that cannot be met takes all rounds and is told; one that always is takes one and is not. */
TEST cap_and_flag(void) {
    const int parts = MIXED_WATER | MIXED_CLOTH;
    const rounds_figures never = rounds_of(parts, 3, 0.0f), always = rounds_of(parts, 16, 1e3f),
                         usual = rounds_of(parts, 16, 0.5e-3f), once = rounds_of(parts, 1, 0.5e-3f);
    ASSERT_EQ_FMT(3, never.most, "%d");
    ASSERT_EQ_FMT(1, always.most, "%d");
    ASSERT_EQ_FMT(1, always.least, "%d");
    ASSERT_EQ_FMT(0, always.capped, "%d");
    ASSERT_EQ_FMT(0, usual.capped, "%d");
    ASSERT(usual.most > 1 && usual.most < 16);
    ASSERT_IN_RANGE(0.5 * (1.0 + usual.most), usual.rounds, 0.5 * (usual.most - 1.0) + 1e-5);
    ASSERT_EQ_FMT(1, once.most, "%d");
    ASSERT_EQ_FMT(40, once.capped, "%d");
    PASS();
}
TEST dry_worlds_have_no_rounds(void) {
    const rounds_figures r = rounds_of(MIXED_WATER | MIXED_BODY, 8, 0.0f);
    ASSERT_EQ_FMT(0, r.most, "%d");
    ASSERT_EQ_FMT(0, r.capped, "%d");
    PASS();
}

/* ---- [momentum] -------------------------------------------------------------------------------------------------- */

TEST momentum_is_kept(void) {
    CHECK_CALL(keeps_momentum_in(MOMENTUM_SHEET, ISPHPBD_RIGID_GLOBAL, 4));
    CHECK_CALL(keeps_momentum_in(MOMENTUM_SOFT, ISPHPBD_RIGID_GLOBAL, 4));
    PASS();
}

/* ---- [state] ----------------------------------------------------------------------------------------------------- */

/* What a round leaves behind when it is not the last would show: a world that goes on knows more than one loaded. */
TEST rounds_leave_nothing_behind(void) {
    mixed straight = rounds_make(MIXED_ALL, 4, 0.5e-3f), relay[2];
    for (int i = 0; i < 2; i++) relay[i] = rounds_make(MIXED_ALL, 4, 0.5e-3f);
    for (int i = 0; i < 30; i++) {
        mixed *from = &relay[i % 2], *to = &relay[(i + 1) % 2];
        world_image image;
        (void)mixed_run(&straight, 1), (void)mixed_run(from, 1);
        ASSERT_EQ(isphpbd_world_hash(straight.world), isphpbd_world_hash(from->world));
        image = world_take_image(from->world);
        ASSERT_EQ(ISPHPBD_OK, isphpbd_world_load(to->world, image.bytes, image.size));
        to->steps = from->steps;
        free(image.bytes);
    }
    ASSERT(isphpbd_world_stats(straight.world).total_outer_iterations >
           isphpbd_world_stats(straight.world).total_substeps);
    mixed_end(&straight), mixed_end(&relay[0]), mixed_end(&relay[1]);
    PASS();
}

typedef struct slow_clock {
    uint64_t now, stride;
} slow_clock;
static uint64_t slow_read(void *user) {
    slow_clock *c = (slow_clock *)user;
    return c->now += c->stride;
}
/* A deadline cuts steps amid their rounds: what can be seen between the calls is a finished substep, and the world
   comes through; where there is time enough, rounds are made as without one. */
TEST deadlines_cut_rounds(void) {
    const float deadlines[2] = {1000.0f, 2e-3f};
    for (int k = 0; k < 2; k++) {
        slow_clock clock = {1000u, 40u};
        isphpbd_world_desc desc = mixed_desc();
        mixed m;
        int added, unfinished = 0;
        desc.budget.outer_iterations = 4, desc.budget.deadline_seconds = deadlines[k];
        desc.clock.fn = slow_read, desc.clock.user = &clock, desc.ticks_per_second = 1e6;
        m = mixed_make(desc, MIXED_ALL & ~MIXED_EMITTER);
        added = isphpbd_fluid_points(m.world).count;
        for (int i = 0; i < 1500; i++) {
            const uint64_t soft = ipbd_hash(isphpbd_world_softs(m.world));
            const int64_t done = isphpbd_world_stats(m.world).total_substeps;
            const isphpbd_step_info info = isphpbd_world_step(m.world, WORLD_STEP);
            unfinished += info.steps == 0;
            if (info.steps == 0 && isphpbd_world_stats(m.world).total_substeps == done)
                ASSERT_EQ(soft, ipbd_hash(isphpbd_world_softs(m.world)));
            if (isphpbd_world_stats(m.world).steps == 30) break;
        }
        ASSERT_EQ_FMT(30, (int)isphpbd_world_stats(m.world).steps, "%d");
        ASSERT(mixed_sane(&m, added));
        ASSERT(k == 1 ? unfinished > 0 : unfinished == 0);
        if (k == 0) ASSERT(isphpbd_world_stats(m.world).outer_iterations > 1);
        mixed_end(&m);
    }
    PASS();
}

SUITE(world_rounds) {
    RUN_TEST(rounds_bring_water_and_cloth_together);
    RUN_TEST(rounds_bring_water_and_jelly_together);
    RUN_TEST(cap_and_flag);
    RUN_TEST(dry_worlds_have_no_rounds);
    RUN_TEST(momentum_is_kept);
    RUN_TEST(rounds_leave_nothing_behind);
    RUN_TEST(deadlines_cut_rounds);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv) {
    GREATEST_MAIN_BEGIN();
    RUN_SUITE(world_rounds);
    GREATEST_MAIN_END();
}
