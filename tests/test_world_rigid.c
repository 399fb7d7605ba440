/* Short forms of the physical validations of isphpbd.h that need no soft body: rigid bodies of a host and colliders in
   water. The long ones with their sources and plots are tests/validate_world.c; both run the scenes of
   tests/support/world_truths.h. */
#define ISPHPBD_IMPLEMENTATION
#include "isphpbd.h"

#include "greatest.h"
#include "world_checks.h"

TEST boxes_float(void) {
    CHECK_CALL(floats_right(200.0, false));
    CHECK_CALL(floats_right(800.0, false));
    PASS();
}
TEST heavy_box_sinks(void) {
    CHECK_CALL(sinks(false));
    PASS();
}
TEST momentum_is_kept(void) {
    CHECK_CALL(keeps_momentum(MOMENTUM_RIGID, ISPHPBD_RIGID_GLOBAL));
    CHECK_CALL(keeps_momentum(MOMENTUM_RIGID, ISPHPBD_RIGID_LOCAL));
    PASS();
}

/* ---- [drag] ------------------------------------------------------------------------------------------------------ */

static double sinking_speed(double viscosity) {
    drag_desc d = {0.12, 0.05, 0.6, 0.9, 2000.0, 0, 0.5, 1.0f};
    drag_result r;
    d.viscosity = viscosity;
    r = drag_measure(&d, NULL);
    printf("sphere in %.4g Pa s: %.3f m/s, sunk %.3f m\n", viscosity, r.speed, r.sunk);
    return r.speed;
}
TEST thick_fluid_drags_more(void) {
    const double thin = sinking_speed(2.0), thick = sinking_speed(60.0);
    ASSERT(thick > 0.0);
    ASSERT(thick < 0.7 * thin);
    PASS();
}

/* A third of Stokes' drag is pressure, two thirds are viscous: both arrive, for any length of the steps. */
TEST creeping_sphere_sinks_as_stokes_says(void) {
    const drag_desc d = {0.1, 0.04, 1.0, 0.8, 2000.0, 200.0, 0.4, 0.0f};
    const drag_result r = drag_measure(&d, NULL);
    printf("sphere in 200 Pa s: %.4f m/s, Stokes between walls %.4f m/s\n", r.speed, r.walled);
    CHECK_CALL(healthy(&r.health, 1.0));
    ASSERT_IN_RANGE(r.walled, r.speed, 0.2 * r.walled);
    PASS();
}

TEST slip_from_free_to_none(void) {
    static const float slips[3] = {1.0f, 0.5f, 0.0f};
    slip_result r[3];
    for (int i = 0; i < 3; i++) {
        r[i] = slip_measure(slips[i], 1.0);
        printf("slip %.2f: ramp %.4f m/s (free %.4f), on the belt %.4f m/s\n", (double)slips[i], r[i].ramp,
               r[i].free_slope, r[i].belt);
    }
    ASSERT_IN_RANGE(r[0].free_slope, r[0].ramp, 0.05 * r[0].free_slope);
    ASSERT(r[0].ramp > r[1].ramp && r[1].ramp > r[2].ramp);
    ASSERT(r[0].belt < r[1].belt && r[1].belt <= r[2].belt + 0.02);
    ASSERT_IN_RANGE(0.0, r[2].ramp, 0.02 * r[2].free_slope);
    ASSERT_IN_RANGE(r[2].belt_speed, r[2].belt, 0.02 * r[2].belt_speed);
    PASS();
}

/* ---- [skip] ------------------------------------------------------------------------------------------------------ */

TEST stone_skips_and_sinks(void) {
    const skip_desc d = {0.05, 4.0, 0.6, 0.3, 8.0, 3.0};
    const skip_result r = skip_measure(&d, NULL);
    printf("stone: %d touches, %d times off again, ends at %.3f m\n", r.touches, r.leaves, r.lowest);
    CHECK_CALL(healthy(&r.health, 30.0));
    ASSERT(r.leaves >= 1);
    ASSERT(r.lowest < 0.5 * d.depth);
    PASS();
}

SUITE(world_rigid) {
    RUN_TEST(boxes_float);
    RUN_TEST(heavy_box_sinks);
    RUN_TEST(momentum_is_kept);
    RUN_TEST(thick_fluid_drags_more);
    RUN_TEST(creeping_sphere_sinks_as_stokes_says);
    RUN_TEST(slip_from_free_to_none);
    RUN_TEST(stone_skips_and_sinks);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv) {
    GREATEST_MAIN_BEGIN();
    RUN_SUITE(world_rigid);
    GREATEST_MAIN_END();
}
