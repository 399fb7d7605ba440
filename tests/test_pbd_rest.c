/* Soft bodies: cloths of every fabric and kind of bending, folded or draped, rest, and do not cross themselves. */
#include <stdio.h>
#include <stdlib.h>

#include "greatest.h"

#define IPBD_IMPLEMENTATION
#include "isphpbd_pbd.h"
#include "crossings.h"
#include "cloth_rest.h"

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
TEST folded_cloths_come_to_rest(void) {
    int i;
    for (i = 0; i < 15; ++i) CHECK_CALL(one_folds(presets[i / 3], (ipbd_bend_model)(i % 3)));
    PASS();
}

/* 1 m of it falls over a ball or a box that holds it above the floor, and its sides swing. */
TEST one_drapes(ipbd_shape shape, ipbd_preset preset, ipbd_bend_model bend) {
    ipbd_world *world = make_world();
    ipbd_body_desc d = preset_desc(preset, bend, MOST, 1.0f);
    ipbd_collider_desc c = ipbd_collider_desc_default();
    ipbd_body body;
    c.shape = shape, c.pose = ipbd_pose_at(0, 0.35f, 0);
    ipbd_collider_create(world, &c, NULL);
    d.pose = ipbd_pose_at(0.01f, 0.62f, 0.005f); /* not quite over the middle */
    body = ipbd_body_create(world, &d, NULL);
    printf("drape, preset %d, bend model %d: ", (int)preset, (int)bend);
    CHECK_CALL(come_to_rest(world, body, body));
    ipbd_destroy(world);
    PASS();
}
TEST draped_cloths_come_to_rest(void) {
    int i;
    for (i = 0; i < 15; ++i)
        CHECK_CALL(one_drapes(ipbd_shape_sphere(0.25f), presets[i / 3], (ipbd_bend_model)(i % 3)));
    for (i = 0; i < 5; ++i)
        CHECK_CALL(one_drapes(ipbd_shape_box(0.25f, 0.25f, 0.25f), presets[i], IPBD_BEND_DIHEDRAL));
    PASS();
}
GREATEST_MAIN_DEFS();
int main(int argc, char **argv) {
    GREATEST_MAIN_BEGIN();
    RUN_TEST(folded_cloths_come_to_rest);
    RUN_TEST(draped_cloths_come_to_rest);
    GREATEST_MAIN_END();
}
