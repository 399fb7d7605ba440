/* Soft bodies: two cloths of a fabric and kind of bending that fall on each other rest, and do not cross. */
#include <stdio.h>
#include <stdlib.h>

#include "greatest.h"

#define IPBD_IMPLEMENTATION
#include "isphpbd_pbd.h"
#include "crossings.h"
#include "cloth_rest.h"

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
TEST stacked_cloths_come_to_rest(void) {
    int i;
    for (i = 0; i < 15; ++i) /* denim, much like canvas, is left out: this takes long enough */
        if (presets[i / 3] != IPBD_DENIM) CHECK_CALL(two_fall(presets[i / 3], (ipbd_bend_model)(i % 3)));
    PASS();
}

GREATEST_MAIN_DEFS();
int main(int argc, char **argv) {
    GREATEST_MAIN_BEGIN();
    RUN_TEST(stacked_cloths_come_to_rest);
    GREATEST_MAIN_END();
}
