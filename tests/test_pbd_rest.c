/* Soft bodies: cloths of every kind of bending that lie on themselves or on each other rest, and do not cross. */
#include <stdio.h>
#include <stdlib.h>

#include "greatest.h"

#define IPBD_IMPLEMENTATION
#include "isphpbd_pbd.h"
#include "crossings.h"

#define STEP (1.0f / 60.0f)
#define N    15
#define SECONDS 5

static float cloth_xyz[3 * N * N];
static uint32_t cloth_triangles[6 * (N - 1) * (N - 1)];

static ipbd_world *make_world(void) {
    ipbd_world_desc d = ipbd_world_desc_default();
    ipbd_collider_desc floor_desc = ipbd_collider_desc_default();
    ipbd_world *world;
    d.capacity.contacts = 100000, d.sleep_speed = 0.0f; /* nobody is put to sleep */
    world = ipbd_create(&d, NULL);
    ipbd_collider_create(world, &floor_desc, NULL);
    return world;
}
static ipbd_body_desc cloth_desc(ipbd_preset preset, ipbd_bend_model bend, int n, float size) {
    ipbd_body_desc d = ipbd_body_desc_preset(preset);
    d.mesh.triangle_count = ipbd_grid(n, n, size, size, cloth_xyz, cloth_triangles);
    d.mesh.positions = cloth_xyz, d.mesh.vertex_count = n * n, d.mesh.triangles = cloth_triangles;
    d.thickness = 0.01f, d.bend_model = bend, d.self_collision = d.soft_collision = true;
    return d;
}
static double rms_speed(const ipbd_world *world, ipbd_body body) {
    ipbd_view view = ipbd_body_view(world, body);
    double sum = 0.0;
    int i;
    for (i = 0; i < view.vertex_count; ++i) {
        const float *u = view.velocities + 4 * i;
        sum += (double)(u[0] * u[0] + u[1] * u[1] + u[2] * u[2]);
    }
    return sqrt(sum / view.vertex_count);
}
/* In none of the last six frames may they move by more than 1 cm/s on average. */
TEST come_to_rest(ipbd_world *world, ipbd_body a, ipbd_body b) {
    double fastest = 0.0;
    int i;
    for (i = 0; i < 60 * SECONDS; ++i) {
        ipbd_step(world, STEP);
        if (i >= 60 * SECONDS - 6) fastest = fmax(fastest, fmax(rms_speed(world, a), rms_speed(world, b)));
        if (i % 50 != 49) continue;
        ASSERT_EQ(0, self_crossings(world, a));
        if (a.id != b.id) ASSERT_EQ(0, self_crossings(world, b) + mutual_crossings(world, a, b));
    }
    printf("%.5f m/s\n", fastest);
    ASSERT(fastest <= 0.01);
    PASS();
}
TEST one_folds(ipbd_preset preset, ipbd_bend_model bend) {
    ipbd_world *world = make_world();
    ipbd_body_desc d = cloth_desc(preset, bend, 13, 0.55f);
    ipbd_body body;
    d.pose = ipbd_pose_at(0, 0.35f, 0); /* on edge */
    d.pose.rotation.x = 0.7071068f, d.pose.rotation.y = 0.02f, d.pose.rotation.w = 0.7071068f;
    body = ipbd_body_create(world, &d, NULL);
    printf("fold, preset %d, bend model %d: ", (int)preset, (int)bend);
    CHECK_CALL(come_to_rest(world, body, body));
    ipbd_destroy(world);
    PASS();
}
TEST two_fall(ipbd_preset preset, ipbd_bend_model bend) {
    ipbd_world *world = make_world();
    ipbd_body_desc d = cloth_desc(preset, bend, N, 0.7f);
    ipbd_collider_desc c = ipbd_collider_desc_default();
    ipbd_body lower, upper;
    c.shape = ipbd_shape_box(0.15f, 0.1f, 0.15f), c.pose = ipbd_pose_at(0, 0.1f, 0);
    ipbd_collider_create(world, &c, NULL);
    d.pose = ipbd_pose_at(0, 0.3f, 0), lower = ipbd_body_create(world, &d, NULL);
    d.pose = ipbd_pose_at(0.05f, 0.5f, 0.03f), upper = ipbd_body_create(world, &d, NULL);
    printf("two, preset %d, bend model %d: ", (int)preset, (int)bend);
    CHECK_CALL(come_to_rest(world, lower, upper));
    ipbd_destroy(world);
    PASS();
}
static const ipbd_preset presets[5] = {IPBD_SILK, IPBD_COTTON, IPBD_DENIM, IPBD_CANVAS, IPBD_LEATHER};

TEST folded_cloths_come_to_rest(void) {
    int i;
    for (i = 0; i < 15; ++i) CHECK_CALL(one_folds(presets[i / 3], (ipbd_bend_model)(i % 3)));
    PASS();
}
TEST stacked_cloths_come_to_rest(void) {
    int i;
    for (i = 0; i < 15; ++i) CHECK_CALL(two_fall(presets[i / 3], (ipbd_bend_model)(i % 3)));
    PASS();
}

GREATEST_MAIN_DEFS();
int main(int argc, char **argv) {
    GREATEST_MAIN_BEGIN();
    RUN_TEST(folded_cloths_come_to_rest);
    RUN_TEST(stacked_cloths_come_to_rest);
    GREATEST_MAIN_END();
}
