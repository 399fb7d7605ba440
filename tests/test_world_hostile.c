/* Motions that no solver likes, in isphpbd.h: teleports, colliders that cut through everything, a press, masses of 100:1,
   gravity that flips, jittering steps, water poured into what is there. Nothing becomes NaN, nothing is lost without a
   word, and it calms down afterwards. */
#define ISPHPBD_IMPLEMENTATION
#include "isphpbd.h"

#include "greatest.h"
#include "world_mixed.h"

/* ---- [violence] -------------------------------------------------------------------------------------------------- */

/* m/s, from the ceiling at 4 m: water that was thrown there creeps down the walls and drops in the end. */
static const double free_fall = 8.86;

/* After whatever was done: finite, counted, and slower than `speed` once it had `calm` seconds to calm down. */
static greatest_test_res recovers(mixed *m, int added, double calm, double speed, double most_culled) {
    const isphpbd_soft softs[3] = {m->cloth, m->jelly, m->balloon};
    isphpbd_stats s;
    for (int i = (int)(60.0 * calm); i > 0; i--) {
        (void)isphpbd_world_step(m->world, WORLD_STEP);
        ASSERT_EQ_FMT(0, world_broken(m->world, softs, 3), "%d");
    }
    s = isphpbd_world_stats(m->world);
    printf("%d particles, %ld culled, %ld removed, %.2f m/s\n", s.fluid_particles, (long)s.total_culled,
           (long)s.total_removed, (double)s.max_speed);
    ASSERT_EQ_FMT(added, (int)(s.fluid_particles + s.total_culled + s.total_removed - s.total_emitted), "%d");
    ASSERT((double)s.total_culled <= most_culled * added);
    ASSERT((double)s.max_speed < speed);
    PASS();
}

static greatest_test_res survives(mixed *m, int added, double calm, double speed) {
    return recovers(m, added, calm, speed, 0.05);
}

static void put_at(mixed *m, double x, double y, double z, double speed) {
    isphpbd_motion at = isphpbd_motion_at(isphpbd_v3((float)x, (float)y, (float)z));
    at.linear_velocity.y = (float)speed;
    (void)isphpbd_body_put(m->world, m->body, &at);
}

/* One number after the other: compilers differ in the order of arguments. */
static isphpbd_vec3 random_place(fixture_random *random, isphpbd_vec3 lo, isphpbd_vec3 hi) {
    const float x = random_between(random, lo.x, hi.x), y = random_between(random, lo.y, hi.y);
    return isphpbd_v3(x, y, random_between(random, lo.z, hi.z));
}

/* A body that is somewhere else at every step, in and out of water, walls and cloth. */
TEST teleporting_body(void) {
    mixed m = mixed_make(mixed_desc(), MIXED_ALL & ~MIXED_EMITTER);
    const int added = isphpbd_fluid_points(m.world).count;
    fixture_random random = {77u};
    for (int i = 0; i < 120; i++) {
        const isphpbd_vec3 to = random_place(&random, isphpbd_v3(-0.6f, -0.2f, -0.6f), isphpbd_v3(0.6f, 1.0f, 0.6f));
        put_at(&m, (double)to.x, (double)to.y, (double)to.z, 0.0);
        (void)isphpbd_world_step(m.world, WORLD_STEP);
        ASSERT(isphpbd_world_stats(m.world).max_speed < 60.0f);
    }
    put_at(&m, 0.0, 3.0, 0.0, 0.0);
    CHECK_CALL(survives(&m, added, 2.0, 6.0));
    mixed_end(&m);
    PASS();
}

/* Bodies a hundred times lighter and heavier than the water they displace. */
TEST hundred_to_one(void) {
    for (int heavy = 0; heavy < 2; heavy++) {
        mixed m = mixed_make(mixed_desc(), MIXED_WATER);
        const int added = isphpbd_fluid_points(m.world).count;
        const vec3d gravity = vec3d_make(0.0, -WORLD_G, 0.0);
        isphpbd_body_desc d = isphpbd_body_desc_default();
        host_body h;
        double top = 0.0;
        d.shape = isphpbd_shape_sphere(0.12f), d.mass = heavy ? 720.0f : 0.072f;
        d.motion = isphpbd_motion_at(isphpbd_v3(0, 0.3f, 0));
        h = host_make(m.world, &d);
        for (int i = 0; i < 180; i++) {
            (void)host_step(m.world, &h, 1, (double)WORLD_STEP, gravity);
            host_keep_inside(&h, vec3d_make(-0.28, 0.12, -0.28), vec3d_make(0.28, 4.0, 0.28));
            top = fmax(top, vec3d_length(h.v));
        }
        printf("%s ball: at %.3f m, at most %.2f m/s\n", heavy ? "heavy" : "light", h.x.y, top);
        ASSERT(top < 8.0);
        ASSERT(heavy ? h.x.y < 0.2 : h.x.y > 0.2 && h.x.y < 0.5);
        CHECK_CALL(survives(&m, added, 0.5, 4.0));
        mixed_end(&m);
    }
    PASS();
}

/* A lid as wide as the tank goes down until the water has half of its room, without and with a body in it, and up. */
TEST press(void) {
    const int parts[2] = {MIXED_WATER, MIXED_WATER | MIXED_BODY};
    for (int k = 0; k < 2; k++) {
        mixed m = mixed_make(mixed_desc(), parts[k]);
        const int added = isphpbd_fluid_points(m.world).count;
        isphpbd_collider_desc d = isphpbd_collider_desc_default();
        isphpbd_collider lid;
        double top = 0.0;
        d.shape = isphpbd_shape_box(0.6f, 0.2f, 0.6f), d.pose.position.y = 1.1f;
        lid = world_collider(m.world, &d);
        for (int i = 0; i < 120; i++) {
            const float down = i < 60 ? (float)i / 60.0f : 1.0f - (float)(i - 60) / 60.0f;
            (void)isphpbd_collider_move(m.world, lid, isphpbd_pose_at(isphpbd_v3(0, 1.1f - 0.79f * down, 0)));
            (void)isphpbd_world_step(m.world, WORLD_STEP);
            top = fmax(top, (double)isphpbd_world_stats(m.world).max_speed);
        }
        printf("press: at most %.2f m/s\n", top);
        ASSERT(top < 20.0);
        ASSERT_EQ(ISPHPBD_OK, isphpbd_collider_destroy(m.world, lid));
        CHECK_CALL(survives(&m, added, 2.0, 3.0));
        mixed_end(&m);
    }
    PASS();
}

TEST gravity_flips(void) {
    mixed m = mixed_make(mixed_desc(), MIXED_ALL & ~(MIXED_EMITTER | MIXED_BODY));
    const int added = isphpbd_fluid_points(m.world).count;
    for (int i = 0; i < 150; i++) {
        const float g = 30.0f;
        const isphpbd_vec3 all[4] = {{0, -g, 0}, {g, 0, 0}, {0, -g, g}, {-g, -g, -g}};
        if (i % 15 == 0) ASSERT_EQ(ISPHPBD_OK, isphpbd_world_set_gravity(m.world, all[i / 15 % 4]));
        (void)isphpbd_world_step(m.world, WORLD_STEP);
        ASSERT(isphpbd_world_stats(m.world).max_speed < 60.0f);
    }
    ASSERT_EQ(ISPHPBD_OK, isphpbd_world_set_gravity(m.world, isphpbd_v3(0, -9.81f, 0)));
    CHECK_CALL(survives(&m, added, 2.0, 6.0));
    mixed_end(&m);
    PASS();
}

TEST steps_of_1_to_50_ms(void) {
    mixed m = mixed_make(mixed_desc(), MIXED_ALL & ~MIXED_EMITTER);
    const int added = isphpbd_fluid_points(m.world).count;
    fixture_random random = {11u};
    for (int i = 0; i < 150; i++) {
        (void)mixed_step(&m, random_between(&random, 0.001f, 0.05f));
        ASSERT(isphpbd_world_stats(m.world).max_speed < 20.0f);
    }
    CHECK_CALL(survives(&m, added, 1.0, 6.0));
    mixed_end(&m);
    PASS();
}

static void unpin_cloth(mixed *m) {
    ipbd_world *softs = isphpbd_world_softs(m->world);
    const ipbd_body body = isphpbd_soft_body(m->world, m->cloth);
    for (int v = 0; v < isphpbd_soft_points(m->world, m->cloth).count; v++) (void)ipbd_unpin(softs, body, v);
}

/* A stamp, then a lid as wide as the tank, comes down within a second on cloth, jelly, balloon and water, stays, and
   goes up again: with room for all, with less than that, and with both while the cloth hangs from pins that get into the
   lid. The cap on speeds holds for all; only the last, where the cloth tears at the lid, may cost more than a little
   water. */
TEST closing_press(void) {
    static const float wide[5] = {0.2f, 0.4f, 0.4f, 0.4f, 0.4f}, deepest[5] = {0.1f, 0.27f, 0.2f, 0.27f, 0.2f};
    for (int k = 0; k < 5; k++) {
        mixed m = mixed_make(mixed_desc(), MIXED_WATER | MIXED_CLOTH | MIXED_JELLY | MIXED_BALLOON);
        const int added = isphpbd_fluid_points(m.world).count;
        isphpbd_collider_desc d = isphpbd_collider_desc_default();
        isphpbd_collider press;
        if (k == 1 || k == 2) unpin_cloth(&m);
        d.shape = isphpbd_shape_box(wide[k], 0.1f, wide[k]), d.pose.position.y = 1.2f;
        press = world_collider(m.world, &d);
        for (int i = 0; i < 150; i++) {
            const float down = i < 60 ? (float)i / 60.0f : i < 90 ? 1.0f : (float)(150 - i) / 60.0f;
            const float height = 1.2f + (deepest[k] - 1.1f) * down;
            (void)isphpbd_collider_move(m.world, press, isphpbd_pose_at(isphpbd_v3(0.0f, height, 0.0f)));
            (void)isphpbd_world_step(m.world, WORLD_STEP);
            ASSERT(isphpbd_world_stats(m.world).max_speed < 60.0f);
        }
        CHECK_CALL(recovers(&m, added, 2.0, k < 2 ? 6.0 : free_fall, k == 3 ? 0.001 : k < 4 ? 0.05 : 0.5));
        mixed_end(&m);
    }
    PASS();
}

/* A collider that is moved, or put, to any place of the tank in every step, through everything there is. */
TEST colliders_run_wild(void) {
    for (int k = 0; k < 2; k++) {
        mixed m = mixed_make(mixed_desc(), MIXED_ALL & ~MIXED_EMITTER);
        const int added = isphpbd_fluid_points(m.world).count;
        fixture_random random = {1234u};
        double top = 0.0;
        m.parts &= ~MIXED_PADDLE; /* it is ours */
        for (int i = 0; i < 60; i++) {
            isphpbd_pose pose =
                isphpbd_pose_at(random_place(&random, isphpbd_v3(-0.4f, 0.0f, -0.4f), isphpbd_v3(0.4f, 0.6f, 0.4f)));
            pose.rotation.x = 0.6f, pose.rotation.w = i % 2 ? 0.8f : -0.8f;
            if (k == 0) ASSERT_EQ(ISPHPBD_OK, isphpbd_collider_move(m.world, m.paddle, pose));
            else ASSERT_EQ(ISPHPBD_OK, isphpbd_collider_teleport(m.world, m.paddle, pose));
            (void)mixed_run(&m, 1);
            top = fmax(top, (double)isphpbd_world_stats(m.world).max_speed);
        }
        printf("%s: at most %.1f m/s\n", k ? "teleported" : "moved", top);
        ASSERT(top < 60.0);
        ASSERT_EQ(ISPHPBD_OK, isphpbd_collider_destroy(m.world, m.paddle));
        CHECK_CALL(survives(&m, added, 3.0, free_fall));
        mixed_end(&m);
    }
    PASS();
}

/* Two jellies and a balloon where the jelly, the cloth and the water are. */
TEST softs_spawn_in_softs(void) {
    fixture_mesh block = mesh_block(2, 2, 2, 0.2, 0.2, 0.2), ball = mesh_sphere(0.12, 2);
    isphpbd_soft_desc jelly = mixed_jelly_desc(&block), balloon = mixed_balloon_desc(&ball);
    isphpbd_world_desc desc = mixed_desc();
    isphpbd_soft all[3];
    double top = 0.0;
    isphpbd_world *world;
    isphpbd_fluid water;
    int added;
    desc.capacity.soft = ipbd_capacity_none();
    world_count_soft(&desc, &jelly), world_count_soft(&desc, &jelly), world_count_soft(&desc, &balloon);
    world = world_make(&desc);
    (void)world_room(world, vec3d_make(-0.4, 0.0, -0.4), vec3d_make(0.4, 4.0, 0.4), 0.8f);
    water = world_water(world);
    added = world_fill(world, water, vec3d_make(-0.4, 0.0, -0.4), vec3d_make(0.4, 0.25, 0.4), vec3d_make(0, 0, 0));
    jelly.body.pose.position = isphpbd_v3(0.0f, 0.15f, 0.0f), balloon.body.pose.position = isphpbd_v3(0.05f, 0.2f, 0.05f);
    all[0] = world_soft(world, &jelly), all[2] = world_soft(world, &balloon);
    jelly.body.pose.position.x = 0.06f;
    all[1] = world_soft(world, &jelly);
    for (int i = 0; i < 180; i++) {
        isphpbd_stats s;
        (void)isphpbd_world_step(world, WORLD_STEP);
        ASSERT_EQ_FMT(0, world_broken(world, all, 3), "%d");
        s = isphpbd_world_stats(world);
        top = fmax(top, (double)s.max_speed);
        if (i == 179) {
            printf("at most %.1f m/s, %.2f in the end, %ld of %d culled\n", top, (double)s.max_speed,
                   (long)s.total_culled, added);
            ASSERT(top < 60.0 && s.max_speed < 6.0f && s.total_culled * 20 <= added);
        }
    }
    mesh_free(&block), mesh_free(&ball);
    isphpbd_world_destroy(world);
    PASS();
}

/* Water is poured on top of water, cloth, jelly and the body, and all particles of a handful into one point. */
TEST overlapping_spawns(void) {
    mixed m = mixed_make(mixed_desc(), MIXED_ALL & ~MIXED_EMITTER);
    int added = isphpbd_fluid_points(m.world).count, more = 0;
    float heap[3 * 60];
    for (int i = 0; i < 60; i++) heap[3 * i] = 0.05f, heap[3 * i + 1] = 0.1f, heap[3 * i + 2] = 0.05f;
    (void)mixed_run(&m, 10);
    ASSERT_EQ(ISPHPBD_OK, isphpbd_fluid_add_box(m.world, m.water, isphpbd_v3(-0.2f, 0.3f, -0.2f),
                                                isphpbd_v3(0.2f, 0.6f, 0.2f), fixture_zero, &more));
    added += more;
    ASSERT_EQ(ISPHPBD_OK, isphpbd_fluid_add_box(m.world, m.water, isphpbd_v3(-0.3f, 0.0f, -0.3f),
                                                isphpbd_v3(0.0f, 0.2f, 0.0f), fixture_zero, &more));
    added += more;
    ASSERT_EQ(ISPHPBD_OK, isphpbd_fluid_add(m.world, m.water, heap, 12, NULL, 0, 60, NULL));
    added += 60;
    for (int i = 0; i < 60; i++) {
        (void)mixed_run(&m, 1);
        ASSERT(isphpbd_world_stats(m.world).max_speed < 60.0f);
    }
    CHECK_CALL(survives(&m, added, 2.0, 6.0));
    mixed_end(&m);
    PASS();
}

/* Cloth pinned to vertices that are dragged through the tank faster than anything should be. */
TEST cloth_is_dragged(void) {
    mixed m = mixed_make(mixed_desc(), MIXED_WATER | MIXED_CLOTH);
    const int added = isphpbd_fluid_points(m.world).count;
    for (int i = 0; i < 60; i++) {
        for (int v = 0; v < 7; v++) {
            const float x = -0.35f + 0.7f * (float)v / 6.0f, y = i % 2 ? 0.1f : 0.6f;
            (void)ipbd_pin_move(isphpbd_world_softs(m.world), isphpbd_soft_body(m.world, m.cloth), v,
                                isphpbd_v3(x, y, -0.35f));
        }
        (void)isphpbd_world_step(m.world, WORLD_STEP);
    }
    CHECK_CALL(survives(&m, added, 3.0, free_fall));
    mixed_end(&m);
    PASS();
}

/* Things come and go in mid-motion, hundreds of times; places are used again. */
TEST comings_and_goings(void) {
    isphpbd_world_desc desc = mixed_desc();
    mixed m;
    fixture_random random = {4711u};
    int bodies = 0, full = 0;
    isphpbd_body all[20];
    desc.capacity.bodies = 5;
    m = mixed_make(desc, MIXED_ALL & ~MIXED_BODY);
    for (int i = 0; i < 200; i++) {
        isphpbd_body_desc d = isphpbd_body_desc_default();
        isphpbd_result why = ISPHPBD_OK;
        d.shape = isphpbd_shape_sphere(0.05f);
        d.motion = isphpbd_motion_at(isphpbd_v3(random_between(&random, -0.3f, 0.3f), 0.5f, 0));
        if (bodies < 6) all[bodies] = isphpbd_body_create(m.world, &d, &why);
        if (bodies < 6 && all[bodies].id) bodies++;
        else if (why == ISPHPBD_CAPACITY) full++;
        if (bodies > 0 && random_below(&random, 3) == 0) {
            ASSERT_EQ(ISPHPBD_OK, isphpbd_body_destroy(m.world, all[--bodies]));
        }
        if (i == 100) ASSERT_EQ(ISPHPBD_OK, isphpbd_soft_destroy(m.world, m.jelly));
        if (i == 120) ASSERT_EQ(ISPHPBD_OK, isphpbd_collider_destroy(m.world, m.paddle));
        if (i == 120) m.parts &= ~MIXED_PADDLE;
        (void)mixed_run(&m, 1);
        ASSERT_EQ_FMT(bodies, isphpbd_world_stats(m.world).bodies, "%d");
    }
    ASSERT(full > 0);
    ASSERT_EQ_FMT(0, world_broken(m.world, NULL, 0), "%d");
    ASSERT(isphpbd_fluid_clear(m.world, m.water) > 0);
    ASSERT_EQ_FMT(0, isphpbd_fluid_points(m.world).count, "%d");
    (void)mixed_run(&m, 3);
    mixed_end(&m);
    PASS();
}

SUITE(world_violence) {
    RUN_TEST(teleporting_body);
    RUN_TEST(hundred_to_one);
    RUN_TEST(press);
    RUN_TEST(gravity_flips);
    RUN_TEST(steps_of_1_to_50_ms);
    RUN_TEST(closing_press);
    RUN_TEST(overlapping_spawns);
    RUN_TEST(colliders_run_wild);
    RUN_TEST(softs_spawn_in_softs);
    RUN_TEST(cloth_is_dragged);
    RUN_TEST(comings_and_goings);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv) {
    GREATEST_MAIN_BEGIN();
    RUN_SUITE(world_violence);
    GREATEST_MAIN_END();
}
