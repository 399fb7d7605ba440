/* Short forms of the physical validations of isphpbd.h with soft bodies: water in and on cloth, balloons, soft solids.
   The long ones with their sources and plots are tests/validate_world.c; both run the scenes of
   tests/support/world_truths.h. */
#define ISPHPBD_IMPLEMENTATION
#include "isphpbd.h"

#include "greatest.h"
#include "world_checks.h"

/* ---- [solids] ---------------------------------------------------------------------------------------------------- */

/* At 500 a cube rolls for long; that one is in the validation. */
TEST soft_boxes_float(void) {
    CHECK_CALL(floats_right(200.0, true));
    CHECK_CALL(floats_right(800.0, true));
    PASS();
}
TEST heavy_soft_box_sinks(void) {
    CHECK_CALL(sinks(true));
    PASS();
}
static bool sleeps(isphpbd_world *world, isphpbd_soft soft) {
    return ipbd_body_sleeping(isphpbd_world_softs(world), isphpbd_soft_body(world, soft));
}
/* A block sleeps on the floor; then water is poured onto it, or a wave comes from the side. */
static greatest_test_res wakes(bool flood) {
    fixture_mesh m = mesh_block(2, 2, 2, 0.2, 0.2, 0.2);
    isphpbd_soft_desc jelly = world_soft_desc(&m, IPBD_FLESH);
    isphpbd_world_desc desc = world_desc(3000);
    isphpbd_world *world;
    isphpbd_fluid water;
    isphpbd_soft soft;
    jelly.body.density = 500.0f, jelly.body.pose.position.y = 0.1f, jelly.body.can_sleep = true;
    world_count_soft(&desc, &jelly);
    world = world_make(&desc);
    (void)world_room(world, vec3d_make(-0.4, 0.0, -0.3), vec3d_make(0.4, 4.0, 0.3), 1.0f);
    water = world_water(world), soft = world_soft(world, &jelly);
    for (int i = 0; i < 300 && !sleeps(world, soft); i++) { (void)isphpbd_world_step(world, WORLD_STEP); }
    ASSERT(sleeps(world, soft));
    (void)world_fill(world, water, flood ? vec3d_make(0.15, 0.0, -0.3) : vec3d_make(-0.1, 0.4, -0.1),
                     flood ? vec3d_make(0.4, 0.5, 0.3) : vec3d_make(0.1, 0.6, 0.1), vec3d_make(0, 0, 0));
    for (int i = 0; i < 30 && sleeps(world, soft); i++) { (void)isphpbd_world_step(world, WORLD_STEP); }
    ASSERT_FALSE(sleeps(world, soft));
    isphpbd_world_destroy(world);
    mesh_free(&m);
    PASS();
}
TEST sleeping_block_is_woken(void) {
    CHECK_CALL(wakes(false));
    CHECK_CALL(wakes(true));
    PASS();
}
/* Faster than any soft body may be: it is slowed down, and the world's step says so. */
TEST too_fast_a_sheet_is_told(void) {
    fixture_mesh m = mesh_sheet(4, 0.2, 0.0, false);
    isphpbd_world_desc desc = isphpbd_world_desc_default();
    isphpbd_world *world = isphpbd_world_create(&desc, NULL);
    isphpbd_soft_desc d = world_soft_desc(&m, IPBD_COTTON);
    const isphpbd_soft sheet = isphpbd_soft_create(world, &d, NULL);
    const isphpbd_collider_desc plane = isphpbd_collider_desc_default();
    const isphpbd_collider floor = isphpbd_collider_create(world, &plane, NULL);
    isphpbd_pose pose;
    ASSERT_EQ_FMT(0u, isphpbd_world_step(world, WORLD_STEP).flags, "%u");
    ASSERT_EQ(ISPHPBD_OK, ipbd_body_add_velocity(isphpbd_world_softs(world), isphpbd_soft_body(world, sheet),
                                                 isphpbd_v3(600.0f, 0.0f, 0.0f)));
    ASSERT(isphpbd_world_step(world, WORLD_STEP).flags & ISPHPBD_STEP_SPEED_CLAMPED);
    ASSERT_EQ(ISPHPBD_OK, ipbd_body_add_velocity(isphpbd_world_softs(world), isphpbd_soft_body(world, sheet),
                                                 isphpbd_v3(9e8f, 9e8f, 9e8f)));
    ASSERT_EQ_FMT(1, isphpbd_world_step(world, WORLD_STEP).steps, "%d");
    ASSERT_EQ_FMT(0, world_broken(world, &sheet, 1), "%d");
    ASSERT_EQ(ISPHPBD_OK, isphpbd_collider_pose(world, floor, &pose));
    ASSERT_EQ(0.0f, pose.position.y);
    ASSERT(isphpbd_world_stats(world).time > 0.02);
    isphpbd_world_destroy(world);
    mesh_free(&m);
    PASS();
}
TEST momentum_is_kept(void) {
    CHECK_CALL(keeps_momentum(MOMENTUM_SHEET, ISPHPBD_RIGID_GLOBAL));
    CHECK_CALL(keeps_momentum(MOMENTUM_SOFT, ISPHPBD_RIGID_GLOBAL));
    PASS();
}

/* ---- [laplace] --------------------------------------------------------------------------------------------------- */

/* Pressure follows the skin in every substep: along older normals it feeds the skin's waves until that crumples. */
TEST blown_shell_stays_round(void) {
    fixture_mesh m = mesh_sphere(0.3, 6);
    const double slack = laplace_dry_stretch(&m, 200.0), tight = laplace_dry_stretch(&m, 400.0);
    printf("shell blown up dry: stretched %.4f by 200 Pa, %.4f by 400 Pa\n", slack, tight);
    mesh_free(&m);
    ASSERT_IN_RANGE(2.0, (tight - 1.0) / (slack - 1.0), 0.5); /* softer as it gets larger, but no other shape */
    PASS();
}
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
    RUN_TEST(soft_boxes_float);
    RUN_TEST(heavy_soft_box_sinks);
    RUN_TEST(sleeping_block_is_woken);
    RUN_TEST(too_fast_a_sheet_is_told);
    RUN_TEST(momentum_is_kept);
    RUN_TEST(blown_shell_stays_round);
    RUN_TEST(balloon_holds_by_its_skin);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv) {
    GREATEST_MAIN_BEGIN();
    RUN_SUITE(world_soft_bodies);
    GREATEST_MAIN_END();
}
