/* Soft bodies: folded cloths of every fabric and kind of bending rest, and do not cross themselves. */
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
GREATEST_MAIN_DEFS();
int main(int argc, char **argv) {
    GREATEST_MAIN_BEGIN();
    RUN_TEST(folded_cloths_come_to_rest);
    GREATEST_MAIN_END();
}
