/* world_checks.h - the scenes of world_truths.h with the assertions that tests of rigid and of soft bodies share.
   Include after greatest.h and isphpbd.h.
   SPDX-License-Identifier: MIT */
#ifndef WORLD_CHECKS_H
#define WORLD_CHECKS_H

#include "world_truths.h"

FIXTURE_FN greatest_test_res healthy(const truth_health *h, double top_speed) {
    ASSERT_EQ_FMT(0, h->broken, "%d");
    ASSERT_EQ_FMT(0, (int)h->missing, "%d");
    ASSERT_EQ_FMT(0, (int)h->culled, "%d");
    ASSERT(h->top_speed < top_speed);
    PASS();
}

/* ---- [float] ----------------------------------------------------------------------------------------------------- */

FIXTURE_FN float_result floats(double density, bool soft) {
    float_desc d = {0, 0.05, 4.0, 0.4, 1.0, 0.55, false, false, 0.0};
    float_result r;
    d.density = density, d.soft = soft;
    if (soft && density < 1000.0) d.seconds = 5.0; /* bobs longer */
    r = float_measure(&d, NULL);
    printf("%s box of %.0f kg/m^3: %.3f submerged, bottom at %.3f m, %.3f m/s\n", soft ? "soft" : "rigid", density,
           r.submerged, r.low, r.speed);
    return r;
}

FIXTURE_FN greatest_test_res floats_right(double density, bool soft) {
    const float_result r = floats(density, soft);
    CHECK_CALL(healthy(&r.health, 8.0));
    ASSERT_IN_RANGE(density / 1000.0, r.submerged, fmax(0.03, 0.05 * density / 1000.0));
    PASS();
}
FIXTURE_FN greatest_test_res sinks(bool soft) {
    const float_result r = floats(1500.0, soft);
    CHECK_CALL(healthy(&r.health, 8.0));
    ASSERT(r.low < 0.05);
    PASS();
}

/* ---- [momentum] -------------------------------------------------------------------------------------------------- */

FIXTURE_FN greatest_test_res keeps_momentum_in(momentum_target target, isphpbd_rigid_scheme scheme, int rounds) {
    static const char *const names[] = {"sheet", "soft block", "rigid block"};
    const momentum_desc d = {target, 0.7, scheme, rounds};
    const momentum_result r = momentum_measure(&d, NULL);
    printf("%s: linear %.2e, angular %.2e, transferred %.2f, prediction off by %.2e m/s\n", names[target], r.linear,
           r.angular, r.transferred, r.prediction);
    CHECK_CALL(healthy(&r.health, 10.0));
    ASSERT(r.transferred > 0.05);
    ASSERT(r.linear < 1e-4); /* lent mass loses nothing in the last digits of places */
    ASSERT(r.angular < 0.001);
    ASSERT(r.prediction < 1e-3);
    PASS();
}
FIXTURE_FN greatest_test_res keeps_momentum(momentum_target target, isphpbd_rigid_scheme scheme) {
    return keeps_momentum_in(target, scheme, 1);
}
#endif /* WORLD_CHECKS_H */
