/* Short forms of the physical validations of isphpbd.h with soft bodies: water in and on cloth, balloons, soft solids.
   The long ones with their sources and plots are tests/validate_world.c; both run the scenes of
   tests/support/world_truths.h. */
#define ISPHPBD_IMPLEMENTATION
#include "isphpbd.h"

#include "greatest.h"
#include "world_checks.h"

/* ---- [solids] ---------------------------------------------------------------------------------------------------- */

TEST soft_box_floats(void) {
    CHECK_CALL(floats_right(500.0, true));
    PASS();
}
TEST heavy_soft_box_sinks(void) {
    CHECK_CALL(sinks(true));
    PASS();
}
TEST momentum_is_kept(void) {
    CHECK_CALL(keeps_momentum(MOMENTUM_SHEET, ISPHPBD_RIGID_GLOBAL));
    CHECK_CALL(keeps_momentum(MOMENTUM_SOFT, ISPHPBD_RIGID_GLOBAL));
    PASS();
}

/* ---- [laplace] --------------------------------------------------------------------------------------------------- */

TEST balloon_holds_by_its_skin(void) {
    const laplace_desc d = {0.25, 0.05, 1.15, 5, 4.0};
    const laplace_result r = laplace_measure(&d, NULL);
    printf("balloon stretched %.3f: %.1f Pa inside, 2 sigma / R %.1f Pa, water %.4f m/s\n", r.stretch, r.pressure,
           r.laplace, r.speed);
    CHECK_CALL(healthy(&r.health, 10.0));
    ASSERT_EQ_FMT(0, (int)r.leaked, "%d");
    ASSERT(r.stretch > 1.01);
    ASSERT_IN_RANGE(r.laplace, r.pressure, 0.1 * r.laplace);
    PASS();
}

SUITE(world_soft_bodies) {
    RUN_TEST(soft_box_floats);
    RUN_TEST(heavy_soft_box_sinks);
    RUN_TEST(momentum_is_kept);
    RUN_TEST(balloon_holds_by_its_skin);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv) {
    GREATEST_MAIN_BEGIN();
    RUN_SUITE(world_soft_bodies);
    GREATEST_MAIN_END();
}
