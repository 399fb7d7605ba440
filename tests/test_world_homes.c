/* Closed shells of isphpbd.h: water remembers which one it is inside of. Particles that get through by foul means
   (here: the test moves them behind the world's back) are put back or removed, and counted; what the user moves stays
   there. */
#define ISPHPBD_IMPLEMENTATION
#include "isphpbd.h"

#include "greatest.h"
#include "world_mixed.h"

enum { HOMES_STEPS = 12 }; /* every particle is looked at within eight substeps */

typedef struct homes {
    isphpbd_world *world;
    isphpbd_soft shell;
    int added;
} homes;

/* A balloon on the floor of a tank; water in it, round it, or both. */
static homes homes_make(bool in, bool around) {
    fixture_mesh ball = mesh_sphere(0.25, 4);
    isphpbd_soft_desc shell = world_soft_desc(&ball, IPBD_BALLOON);
    isphpbd_world_desc desc = world_desc(3000);
    isphpbd_fluid water;
    homes h;
    int inside = 0;
    memset(&h, 0, sizeof h);
    shell.body.pose.position.y = 0.3f;
    world_count_soft(&desc, &shell);
    h.world = world_make(&desc), water = world_water(h.world);
    (void)world_room(h.world, vec3d_make(-0.5, 0.0, -0.5), vec3d_make(0.5, 4.0, 0.5), 1.0f);
    h.shell = world_soft(h.world, &shell);
    if (in) (void)isphpbd_fluid_fill_soft(h.world, water, h.shell, 0.0f, &inside);
    if (around) {
        h.added =
            world_fill(h.world, water, vec3d_make(0.3, 0.0, -0.5), vec3d_make(0.5, 0.2, 0.5), vec3d_make(0, 0, 0));
    }
    h.added += inside;
    for (int i = 0; i < 6; i++) (void)isphpbd_world_step(h.world, WORLD_STEP);
    mesh_free(&ball);
    return h;
}
static vec3d homes_centre(const homes *h) {
    const isphpbd_points p = isphpbd_soft_points(h->world, h->shell);
    return points_centre(&p);
}
/* Distance of the shell's farthest vertex from its middle: it may be stretched and flat. */
static double homes_reach(const homes *h) {
    const isphpbd_points p = isphpbd_soft_points(h->world, h->shell);
    const vec3d centre = homes_centre(h);
    double reach = 0.0;
    for (int i = 0; i < p.count; i++) reach = fmax(reach, vec3d_length(vec3d_sub(points_position(&p, i), centre)));
    return reach;
}
/* How many particles are well inside of the shell, or farther from its middle than any part of it. */
static int homes_count(const homes *h, bool inside) {
    const isphpbd_points p = isphpbd_fluid_points(h->world);
    const vec3d centre = homes_centre(h);
    const double reach = homes_reach(h);
    int count = 0;
    for (int i = 0; i < p.count; i++) {
        const double r = vec3d_length(vec3d_sub(points_position(&p, i), centre));
        count += inside ? r < 0.15 : r > reach;
    }
    return count;
}
/* Puts some particles elsewhere without a word to anybody. */
static void homes_smuggle(const homes *h, bool out, int most) {
    const isphpbd_points view = isphpbd_fluid_points(h->world);
    const vec3d centre = homes_centre(h);
    for (int i = 0; i < view.count && most > 0; i++) {
        float *p =
            (float *)((uintptr_t)view.position + view.position_stride * (size_t)i); /* the view is not for this */
        const vec3d at = vec3d_make((double)p[0], (double)p[1], (double)p[2]);
        if ((vec3d_length(vec3d_sub(at, centre)) < 0.2) != out) continue;
        p[0] = (float)centre.x + (out ? 0.45f : 0.01f * (float)most);
        p[1] = (float)centre.y + (out ? 0.05f * (float)most : 0.0f), p[2] = (float)centre.z;
        most--;
    }
}
static bool homes_none_lost(const homes *h) {
    const isphpbd_stats s = isphpbd_world_stats(h->world);
    return h->added == s.fluid_particles + s.total_culled;
}
static void homes_run(const homes *h, int steps) {
    for (int i = 0; i < steps; i++) (void)isphpbd_world_step(h->world, WORLD_STEP);
}

static double homes_rms_speed(const homes *h) {
    const isphpbd_points p = isphpbd_fluid_points(h->world);
    double sum = 0.0;
    for (int i = 0; i < p.count; i++) {
        const float *v = (const float *)((const char *)p.velocity + p.velocity_stride * (size_t)i);
        sum += (double)(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    }
    return sqrt(sum / p.count);
}
/* Its own volume constraint would work against that of the water: it swung for ever at 1 m/s. */
TEST a_filled_balloon_calms_down(void) {
    homes h = homes_make(true, false);
    homes_run(&h, 200);
    ASSERT(homes_rms_speed(&h) < 0.5);
    ASSERT_EQ_FMT(0, homes_count(&h, false), "%d");
    ASSERT(homes_none_lost(&h));
    isphpbd_world_destroy(h.world);
    PASS();
}
TEST who_gets_out_is_put_back(void) {
    homes h = homes_make(true, false);
    isphpbd_stats s;
    ASSERT_EQ_FMT(0, homes_count(&h, false), "%d");
    homes_smuggle(&h, true, 5);
    ASSERT_EQ_FMT(5, homes_count(&h, false), "%d");
    homes_run(&h, HOMES_STEPS);
    s = isphpbd_world_stats(h.world);
    ASSERT_EQ_FMT(5, (int)(s.total_returned + s.total_culled), "%d");
    ASSERT(s.total_returned > 0);
    ASSERT_EQ_FMT(0, homes_count(&h, false), "%d");
    ASSERT(homes_none_lost(&h));
    homes_run(&h, 60);
    ASSERT(isphpbd_world_stats(h.world).max_speed < 3.0f); /* two in one place did no harm */
    isphpbd_world_destroy(h.world);
    PASS();
}
TEST who_gets_in_is_put_out(void) {
    homes h = homes_make(false, true);
    ASSERT_EQ_FMT(0, homes_count(&h, true), "%d");
    homes_smuggle(&h, false, 5);
    ASSERT_EQ_FMT(5, homes_count(&h, true), "%d");
    homes_run(&h, HOMES_STEPS);
    ASSERT_EQ_FMT(0, homes_count(&h, true), "%d");
    ASSERT_EQ_FMT(5, (int)isphpbd_world_stats(h.world).total_returned, "%d");
    ASSERT(homes_none_lost(&h));
    isphpbd_world_destroy(h.world);
    PASS();
}
/* With nobody at home there is no place to go back to. */
TEST who_has_no_neighbour_goes(void) {
    homes h = homes_make(false, false);
    const vec3d c = homes_centre(&h);
    const float at[3] = {(float)c.x, (float)c.y, (float)c.z};
    isphpbd_fluid_desc water = isphpbd_fluid_desc_default();
    const isphpbd_fluid fluid = isphpbd_fluid_create(h.world, &water, NULL);
    ASSERT_EQ(ISPHPBD_OK, isphpbd_fluid_add(h.world, fluid, at, 12, NULL, 0, 1, NULL));
    h.added = 1;
    homes_run(&h, 2);
    homes_smuggle(&h, true, 1);
    homes_run(&h, HOMES_STEPS);
    ASSERT_EQ_FMT(1, (int)isphpbd_world_stats(h.world).total_culled, "%d");
    ASSERT(homes_none_lost(&h));
    isphpbd_world_destroy(h.world);
    PASS();
}

static bool homes_edit(void *user, isph_particle *particle) {
    const homes *h = (const homes *)user;
    const vec3d c = homes_centre(h);
    const vec3d at = vec3d_sub(vec3d_from(particle->position), c);
    if (vec3d_length(at) > 0.1) return false;
    particle->position.x += 0.4f;
    return true;
}
TEST what_the_user_moves_stays(void) {
    homes h = homes_make(true, false);
    const int moved = isph_particles_edit(isphpbd_world_fluids(h.world), homes_edit, &h);
    ASSERT(moved > 0);
    homes_run(&h, HOMES_STEPS);
    ASSERT_EQ_FMT(0, (int)isphpbd_world_stats(h.world).total_returned, "%d");
    ASSERT_EQ_FMT(0, (int)isphpbd_world_stats(h.world).total_culled, "%d");
    homes_smuggle(&h, true, 2); /* and is remembered there, as the others are */
    homes_run(&h, HOMES_STEPS);
    ASSERT_EQ_FMT(2, (int)isphpbd_world_stats(h.world).total_returned, "%d");
    isphpbd_world_destroy(h.world);
    PASS();
}
/* A shell that comes later finds water where it is, and one that goes sets it free. */
TEST shells_come_and_go(void) {
    homes h = homes_make(true, true);
    ASSERT_EQ(ISPHPBD_OK, isphpbd_soft_destroy(h.world, h.shell));
    homes_run(&h, 40);
    ASSERT_EQ_FMT(0, (int)isphpbd_world_stats(h.world).total_returned, "%d");
    ASSERT(homes_none_lost(&h));
    isphpbd_world_destroy(h.world);
    PASS();
}
/* A shell that is put elsewhere leaves its water behind. */
TEST teleported_shell_forgets(void) {
    homes h = homes_make(true, false);
    ASSERT_EQ(ISPHPBD_OK, ipbd_body_teleport(isphpbd_world_softs(h.world), isphpbd_soft_body(h.world, h.shell),
                                             fixture_zero, ipbd_pose_at(0.0f, 2.0f, 0.0f)));
    homes_run(&h, HOMES_STEPS);
    ASSERT_EQ_FMT(0, (int)isphpbd_world_stats(h.world).total_returned, "%d");
    ASSERT_EQ_FMT(h.added, isphpbd_fluid_points(h.world).count, "%d");
    isphpbd_world_destroy(h.world);
    PASS();
}
TEST homes_are_saved(void) {
    homes h = homes_make(true, true);
    world_image image;
    uint64_t straight;
    homes_smuggle(&h, true, 3);
    image = world_take_image(h.world);
    ASSERT(image.size > 0);
    homes_run(&h, HOMES_STEPS);
    straight = isphpbd_world_hash(h.world);
    ASSERT_EQ_FMT(3, (int)isphpbd_world_stats(h.world).total_returned, "%d");
    ASSERT_EQ(ISPHPBD_OK, isphpbd_world_load(h.world, image.bytes, image.size));
    homes_run(&h, HOMES_STEPS);
    ASSERT_EQ_FMT(3, (int)isphpbd_world_stats(h.world).total_returned, "%d");
    ASSERT_EQ(straight, isphpbd_world_hash(h.world));
    free(image.bytes), isphpbd_world_destroy(h.world);
    PASS();
}
/* Nothing was found out yet, or it was forgotten: a world that is loaded then is the same world. */
TEST loading_keeps_the_hash(void) {
    mixed m = mixed_make(mixed_desc(), MIXED_WATER | MIXED_BALLOON);
    for (int i = 0; i < 3; i++) {
        const uint64_t before = isphpbd_world_hash(m.world);
        world_image image = world_take_image(m.world);
        ASSERT_EQ(ISPHPBD_OK, isphpbd_world_load(m.world, image.bytes, image.size));
        free(image.bytes);
        ASSERT_EQ(before, isphpbd_world_hash(m.world));
        if (i == 0) (void)isphpbd_world_step(m.world, WORLD_STEP);
        else ASSERT_EQ(ISPHPBD_OK, isphpbd_world_shift_origin(m.world, isphpbd_v3(1.0f, 0.0f, 0.0f)));
    }
    isphpbd_world_destroy(m.world);
    PASS();
}
/* Water caught in a jelly that swims in a full balloon stays in the balloon, whichever of the two was there first. */
TEST solid_in_a_shell(void) {
    for (int first = 0; first < 2; first++) {
        fixture_mesh ball = mesh_sphere(0.25, 4), block = mesh_block(2, 2, 2, 0.15, 0.15, 0.15);
        isphpbd_soft_desc shell = world_soft_desc(&ball, IPBD_BALLOON), jelly = world_soft_desc(&block, IPBD_JELLY);
        isphpbd_world_desc desc = world_desc(3000);
        homes h;
        memset(&h, 0, sizeof h);
        shell.body.pose.position.y = jelly.body.pose.position.y = 0.3f;
        world_count_soft(&desc, &shell), world_count_soft(&desc, &jelly);
        h.world = world_make(&desc);
        (void)world_room(h.world, vec3d_make(-0.5, 0.0, -0.5), vec3d_make(0.5, 4.0, 0.5), 1.0f);
        if (first == 1) (void)world_soft(h.world, &jelly);
        h.shell = world_soft(h.world, &shell);
        if (first == 0) (void)world_soft(h.world, &jelly);
        ASSERT_EQ(ISPHPBD_OK, isphpbd_fluid_fill_soft(h.world, world_water(h.world), h.shell, 0.0f, &h.added));
        homes_run(&h, HOMES_STEPS);
        ASSERT(isphpbd_world_stats(h.world).total_returned > 0);
        ASSERT_EQ_FMT(h.added, isphpbd_fluid_points(h.world).count, "%d");
        ASSERT_EQ_FMT(0, homes_count(&h, false), "%d");
        isphpbd_world_destroy(h.world), mesh_free(&ball), mesh_free(&block);
    }
    PASS();
}

SUITE(world_homes) {
    RUN_TEST(a_filled_balloon_calms_down);
    RUN_TEST(who_gets_out_is_put_back);
    RUN_TEST(who_gets_in_is_put_out);
    RUN_TEST(who_has_no_neighbour_goes);
    RUN_TEST(what_the_user_moves_stays);
    RUN_TEST(shells_come_and_go);
    RUN_TEST(teleported_shell_forgets);
    RUN_TEST(homes_are_saved);
    RUN_TEST(loading_keeps_the_hash);
    RUN_TEST(solid_in_a_shell);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv) {
    GREATEST_MAIN_BEGIN();
    RUN_SUITE(world_homes);
    GREATEST_MAIN_END();
}
