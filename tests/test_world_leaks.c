/* No water passes a shell of isphpbd.h: jets on sheets, a balloon, a shaken cup, folded and two-sided cloth. Leaks are
   counted after every substep by tests/support/world_leaks.h, which is tested here as well. */
#define ISPHPBD_IMPLEMENTATION
#include "isphpbd.h"

#include "greatest.h"
#include "world_truths.h"

/* ---- [counter] --------------------------------------------------------------------------------------------------- */

/* One particle that walks; the surface does not move. */
static int64_t leaks_of_walk(leak_counter *c, const vec3d *way, int count) {
    const int64_t before = c->leaked;
    const uint32_t id = 7u;
    isphpbd_points p;
    float xyz[3];
    memset(&p, 0, sizeof p);
    memset(c->now.records, 0, sizeof(leak_record) * ((size_t)c->now.mask + 1));
    p.position = p.velocity = xyz, p.position_stride = p.velocity_stride = 12, p.id = &id, p.count = 1;
    for (int i = 0; i < count; i++) {
        xyz[0] = (float)way[i].x, xyz[1] = (float)way[i].y, xyz[2] = (float)way[i].z;
        leak_look(c, &p);
    }
    return c->leaked - before;
}

TEST counter_sees_what_passes(void) {
    const vec3d through[2] = {{0.01, 0.1, 0.02}, {0.01, -0.5, 0.02}};
    const vec3d round[5] = {{0.0, 0.1, 0.0}, {0.7, 0.1, 0.0}, {0.7, -0.9, 0.0}, {0.0, -0.9, 0.0}, {0.0, -0.5, 0.0}};
    const vec3d into[4] = {{0.0, 0.1, 0.0}, {0.0, -0.05, 0.0}, {0.1, -0.1, 0.1}, {0.3, 0.2, 0.3}};
    const vec3d corner[2] = {{0.0, -0.1, 0.0}, {0.0, -0.4, 0.0}}; /* through a vertex, along edges */
    fixture_mesh m = mesh_sheet(4, 1.0, 0.3, true);
    leak_counter c;
    leak_open(&c, 10);
    c.has_lid = true, c.lid_half = 0.5;
    leak_set_mesh(&c, &m, isphpbd_pose_at(fixture_zero));
    ASSERT_EQ_FMT(1, (int)leaks_of_walk(&c, through, 2), "%d");
    ASSERT_EQ_FMT(0, (int)leaks_of_walk(&c, round, 5), "%d");
    ASSERT_EQ_FMT(0, (int)leaks_of_walk(&c, into, 4), "%d");
    ASSERT_EQ_FMT(1, (int)leaks_of_walk(&c, corner, 2), "%d");
    leak_close(&c), mesh_free(&m);
    PASS();
}

/* Random points against the radius: corners, edges and vertical triangles of many meshes. */
TEST counter_knows_inside(void) {
    fixture_random random = {99u};
    leak_counter c;
    leak_open(&c, 10);
    for (int f = 1; f <= 6; f++) {
        fixture_mesh m = mesh_sphere(1.0, f);
        leak_set_mesh(&c, &m, isphpbd_pose_at(fixture_zero));
        leak_sort(&c);
        for (int i = 0; i < 3000; i++) {
            vec3d p =
                vec3d_make((double)random_between(&random, -1.2f, 1.2f), (double)random_between(&random, -1.2f, 1.2f),
                           (double)random_between(&random, -1.2f, 1.2f));
            if (i % 7 == 0)
                p.x = (double)m.xyz[3 * (i % m.vertex_count)], p.z = (double)m.xyz[3 * (i % m.vertex_count) + 2];
            if (vec3d_length(p) < 0.79) ASSERT_EQ_FMT(1, (int)leak_parity(&c, p), "%d");
            if (vec3d_length(p) > 1.001) ASSERT_EQ_FMT(0, (int)leak_parity(&c, p), "%d");
        }
        mesh_free(&m);
    }
    leak_close(&c);
    PASS();
}

/* ---- [streams] --------------------------------------------------------------------------------------------------- */

static greatest_test_res tight(const leak_result *r, const char *name) {
    printf("%s: %ld of %ld leaked in %ld substeps, %ld culled, at most %d inside, %.1f m/s\n", name, (long)r->leaked,
           (long)r->seen, (long)r->substeps, (long)r->health.culled, r->most_inside, r->health.top_speed);
    ASSERT(r->substeps > 0 && r->seen > 0 && r->most_inside > 0);
    ASSERT_EQ_FMT(0, (int)r->leaked, "%d");
    ASSERT_EQ_FMT(0, r->health.broken, "%d");
    ASSERT_EQ_FMT(0, (int)r->health.missing, "%d");
    ASSERT(r->health.culled * 500 <= r->seen); /* a particle that cannot be saved is rare */
    PASS();
}

static greatest_test_res stream(double speed, double triangles, ipbd_elasticity stretch) {
    const stream_desc d = {speed, triangles, 1.0, stretch, true};
    const leak_result r = stream_measure(&d, NULL);
    char name[64];
    (void)snprintf(name, sizeof name, "jet of %.0f m/s, triangles of %.0f dx", speed, triangles);
    CHECK_CALL(tight(&r, name));
    PASS();
}

TEST slow_jets(void) {
    CHECK_CALL(stream(2.0, 1.0, ipbd_stiffness(0.9f)));
    CHECK_CALL(stream(5.0, 2.0, ipbd_body_desc_preset(IPBD_RUBBER_SHEET).stretch));
    CHECK_CALL(stream(5.0, 2.0, ipbd_stiffness(0.9f)));
    PASS();
}
TEST fast_jets(void) {
    const ipbd_elasticity rubber = ipbd_body_desc_preset(IPBD_RUBBER_SHEET).stretch;
    CHECK_CALL(stream(10.0, 4.0, rubber));
    CHECK_CALL(stream(20.0, 1.0, rubber));
    CHECK_CALL(stream(20.0, 2.0, rubber));
    CHECK_CALL(stream(20.0, 2.0, ipbd_stiffness(0.6f)));
    CHECK_CALL(stream(20.0, 1.0, ipbd_stiffness(0.9f)));
    PASS();
}

/* The counter is no ornament: through a sheet that is not wet, everything leaks. */
TEST dry_sheet_lets_all_through(void) {
    const stream_desc d = {5.0, 2.0, 0.5, ipbd_stiffness(0.9f), false};
    const leak_result r = stream_measure(&d, NULL);
    ASSERT(r.leaked > r.seen / 4);
    PASS();
}

TEST small_balloon(void) {
    const balloon_desc d = {0.3, 0.05, 6, 0.75, 1.0, 2.5, 0.0};
    const balloon_result r = balloon_measure(&d, NULL);
    printf("%d particles, %d edges: volume %.4f (worst %.3f), bounce %.3f m, %.3f m/s in flight, %.3f m/s at the end\n",
           r.particles, r.edges, r.volume_at_rest, r.volume_worst, r.bounce, r.flight_speed, r.rest_speed);
    CHECK_CALL(tight(&r.leaks, "balloon"));
    ASSERT_IN_RANGE(1.0, r.volume_at_rest, 0.03);
    ASSERT(r.bounce > 0.02);
    ASSERT(r.flight_speed < 0.1);
    PASS();
}

TEST shaken_cup(void) {
    const cup_desc d = {0.05, 1.5, 10.0};
    const leak_result r = cup_measure(&d, NULL);
    CHECK_CALL(tight(&r, "cup"));
    PASS();
}

SUITE(world_leaks) {
    RUN_TEST(counter_sees_what_passes);
    RUN_TEST(counter_knows_inside);
    RUN_TEST(dry_sheet_lets_all_through);
    RUN_TEST(slow_jets);
    RUN_TEST(fast_jets);
    RUN_TEST(small_balloon);
    RUN_TEST(shaken_cup);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv) {
    GREATEST_MAIN_BEGIN();
    RUN_SUITE(world_leaks);
    GREATEST_MAIN_END();
}
