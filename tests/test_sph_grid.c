/* The neighbour search of isphpbd_sph.h gives what brute force gives, for every arrangement of points. */
#define ISPH_IMPLEMENTATION
#include "isphpbd_sph.h"

#include "greatest.h"
#include "sph_fixture.h"

#define POINTS_MAX 4096

static float points[POINTS_MAX][3];
static int found[POINTS_MAX + 1];
static unsigned char seen[POINTS_MAX];

/* Distances this close to the radius may fall to either side: the search works in floats. 0 for exact coordinates. */
static double doubtful = 1e-6;

static isph_grid *make_grid(float radius) {
    isph_grid_desc desc = isph_grid_desc_default();
    desc.capacity = POINTS_MAX;
    desc.radius = radius;
    return isph_grid_create(&desc, NULL);
}

/* -1 outside the radius, 1 inside, 0 too close to tell. */
static int side_of_radius(const float *a, const float *b, double radius) {
    const double x = (double)a[0] - (double)b[0], y = (double)a[1] - (double)b[1], z = (double)a[2] - (double)b[2];
    const double r = sqrt(x * x + y * y + z * z);
    if (fabs(r - radius) < doubtful * radius) return 0;
    return r < radius ? 1 : -1;
}

/* The list in `found` is the set of points within the radius of p, each once; self (-1: nobody) is not in it. */
static bool list_is_right(int listed, const float *p, int self, int count, double radius) {
    if (listed < 0 || listed > count) return false;
    memset(seen, 0, sizeof seen);
    for (int k = 0; k < listed; k++) {
        if (found[k] < 0 || found[k] >= count || found[k] == self || seen[found[k]]++) return false;
    }
    for (int i = 0; i < count; i++) {
        const int side = side_of_radius(points[i], p, radius);
        if (i != self && side != 0 && seen[i] != (side > 0)) return false;
    }
    return true;
}

/* Builds the grid over `count` points and compares all neighbours and some free queries. */
static greatest_test_res compare_with_brute_force(int count, float radius) {
    fixture_random random = {77u};
    isph_grid *grid = make_grid(radius);
    ASSERT(grid != NULL);
    ASSERT_EQ(ISPHPBD_OK, isph_grid_build(grid, points[0], sizeof points[0], count));
    for (int i = 0; i < count; i++) {
        const int listed = isph_grid_neighbours(grid, i, found, POINTS_MAX);
        ASSERT(list_is_right(listed, points[i], i, count, (double)radius));
    }
    for (int q = 0; q < 200; q++) {
        const float *near = points[random_below(&random, count)];
        float p[3];
        for (int k = 0; k < 3; k++) p[k] = near[k] + radius * random_between(&random, -1.6f, 1.6f);
        ASSERT(list_is_right(isph_grid_query(grid, isphpbd_v3(p[0], p[1], p[2]), found, POINTS_MAX), p, -1, count,
                             (double)radius));
    }
    isph_grid_destroy(grid);
    PASS();
}

/* Random points in a box of the given extents, in radii. */
static void scatter(int first, int count, const float centre[3], const float extent[3], float radius, uint32_t seed) {
    fixture_random random = {seed};
    for (int i = first; i < first + count; i++) {
        for (int k = 0; k < 3; k++) {
            points[i][k] = centre[k] * radius + radius * extent[k] * (random_unit(&random) - 0.5f);
        }
    }
}

TEST random_points(void) {
    static const float centre[3] = {0.0f, 0.0f, 0.0f}, extent[3] = {9.0f, 7.0f, 8.0f};
    scatter(0, 3000, centre, extent, 0.1f, 5u);
    CHECK_CALL(compare_with_brute_force(3000, 0.1f));
    PASS();
}

/* Extents that make each axis in turn the shortest, the middle and the longest. */
TEST every_order_of_axes(void) {
    static const float centre[3] = {3.0f, -2.0f, 1.0f};
    static const float extent[6][3] = {{2, 6, 18}, {2, 18, 6}, {6, 2, 18}, {6, 18, 2}, {18, 2, 6}, {18, 6, 2}};
    for (int i = 0; i < 6; i++) {
        scatter(0, 700, centre, extent[i], 0.35f, 11u + (uint32_t)i);
        CHECK_CALL(compare_with_brute_force(700, 0.35f));
    }
    PASS();
}

TEST clumped_points(void) {
    static const float wide[3] = {30.0f, 30.0f, 30.0f}, tight[3] = {0.3f, 0.3f, 0.3f}, origin[3] = {0, 0, 0};
    scatter(0, 300, origin, wide, 1.0f, 3u);
    for (int clump = 0; clump < 6; clump++) {
        const float centre[3] = {points[clump][0], points[clump][1], points[clump][2]};
        scatter(300 + 150 * clump, 150, centre, tight, 1.0f, 50u + (uint32_t)clump);
    }
    CHECK_CALL(compare_with_brute_force(1200, 1.0f));
    PASS();
}

TEST coincident_points(void) {
    static const float origin[3] = {0, 0, 0}, extent[3] = {5.0f, 5.0f, 5.0f};
    scatter(0, 900, origin, extent, 0.2f, 9u);
    for (int i = 0; i < 900; i++) {
        if (i % 3 != 0) memcpy(points[i], points[i / 60 * 60], sizeof points[i]);
    }
    CHECK_CALL(compare_with_brute_force(900, 0.2f));
    for (int i = 0; i < 500; i++) points[i][0] = 1.0f, points[i][1] = -2.0f, points[i][2] = 0.5f;
    CHECK_CALL(compare_with_brute_force(500, 0.2f));
    PASS();
}

/* 2^17 radii from the origin along each axis and its negative, where a float still resolves 1/64 of the radius. */
TEST far_from_the_origin(void) {
    static const float extent[3] = {6.0f, 6.0f, 6.0f};
    doubtful = 0.0;
    for (int i = 0; i < 6; i++) {
        float centre[3] = {40.0f, -3.0f, 2.0f};
        centre[i % 3] = i < 3 ? 131072.0f : -131072.0f;
        scatter(0, 900, centre, extent, 0.25f, 21u + (uint32_t)i);
        CHECK_CALL(compare_with_brute_force(900, 0.25f));
    }
    doubtful = 1e-6;
    PASS();
}

TEST points_on_a_line(void) {
    for (int axis = 0; axis < 3; axis++) {
        float centre[3] = {0.1f, 0.2f, 0.3f}, extent[3] = {0, 0, 0};
        extent[axis] = 500.0f;
        scatter(0, 2000, centre, extent, 0.05f, 31u + (uint32_t)axis);
        CHECK_CALL(compare_with_brute_force(2000, 0.05f));
    }
    PASS();
}

/* A line so long that the table has to wrap round many times. */
TEST points_on_a_very_long_line(void) {
    for (int axis = 0; axis < 3; axis++) {
        float centre[3] = {0, 0, 0}, extent[3] = {0.5f, 0.5f, 0.5f};
        extent[axis] = 200000.0f;
        scatter(0, 1500, centre, extent, 1.0f, 41u + (uint32_t)axis);
        for (int i = 0; i < 1500; i += 2) points[i + 1][axis] = points[i][axis] + 0.75f;
        CHECK_CALL(compare_with_brute_force(1500, 1.0f));
    }
    PASS();
}

TEST points_in_a_plane(void) {
    for (int axis = 0; axis < 3; axis++) {
        float centre[3] = {-1.0f, 2.0f, 5.0f}, extent[3] = {20.0f, 20.0f, 20.0f};
        extent[axis] = 0.0f;
        scatter(0, 1500, centre, extent, 0.4f, 61u + (uint32_t)axis);
        CHECK_CALL(compare_with_brute_force(1500, 0.4f));
    }
    PASS();
}

/* Two clusters 1e5 radii apart in all directions: cells of one wrap onto those of the other. */
TEST two_distant_clusters(void) {
    static const float apart[4][3] = {{1e5f, 0, 0}, {0, 1e5f, 0}, {0, 0, 1e5f}, {1e5f, -1e5f, 1e5f}};
    static const float extent[3] = {4.0f, 4.0f, 4.0f}, origin[3] = {0, 0, 0};
    doubtful = 0.0;
    for (int i = 0; i < 4; i++) {
        scatter(0, 500, origin, extent, 0.5f, 71u + (uint32_t)i);
        scatter(500, 500, apart[i], extent, 0.5f, 81u + (uint32_t)i);
        for (int k = 0; k < 1500; k++)
            points[k % 500][k / 500] = (float)(int)(points[k % 500][k / 500] * 1024.0f) / 1024.0f;
        CHECK_CALL(compare_with_brute_force(1000, 0.5f));
    }
    doubtful = 1e-6;
    PASS();
}

/* A lattice whose spacing is exactly a fraction of the radius: points at the radius itself are not neighbours. */
TEST exact_lattice_excludes_the_radius(void) {
    int n = 0;
    for (int i = 0; i < 1000; i++, n++) {
        points[n][0] = 0.125f * (float)(i % 10), points[n][1] = 0.125f * (float)(i / 10 % 10);
        points[n][2] = 0.125f * (float)(i / 100) - 0.5f;
    }
    doubtful = 0.0;
    CHECK_CALL(compare_with_brute_force(n, 0.25f));
    CHECK_CALL(compare_with_brute_force(n, 0.375f));
    doubtful = 1e-6;
    PASS();
}

TEST single_point_and_none(void) {
    isph_grid *grid = make_grid(0.5f);
    points[0][0] = 4.0f, points[0][1] = 5.0f, points[0][2] = 6.0f;
    ASSERT_EQ_FMT(0, isph_grid_query(grid, isphpbd_v3(0, 0, 0), found, POINTS_MAX), "%d");
    ASSERT_EQ_FMT(0, isph_grid_neighbours(grid, 0, found, POINTS_MAX), "%d");
    ASSERT_EQ(ISPHPBD_OK, isph_grid_build(grid, points[0], sizeof points[0], 1));
    ASSERT_EQ_FMT(0, isph_grid_neighbours(grid, 0, found, POINTS_MAX), "%d");
    ASSERT_EQ_FMT(1, isph_grid_query(grid, isphpbd_v3(4.0f, 5.3f, 6.3f), found, POINTS_MAX), "%d");
    ASSERT_EQ_FMT(0, found[0], "%d");
    ASSERT_EQ_FMT(0, isph_grid_query(grid, isphpbd_v3(4.0f, 5.5f, 6.0f), found, POINTS_MAX), "%d");
    ASSERT_EQ(ISPHPBD_OK, isph_grid_build(grid, NULL, sizeof points[0], 0));
    ASSERT_EQ_FMT(0, isph_grid_query(grid, isphpbd_v3(4.0f, 5.0f, 6.0f), found, POINTS_MAX), "%d");
    isph_grid_destroy(grid);
    PASS();
}

/* Far outside the points, up to where a float ends: nothing is found, and nothing crashes. */
TEST queries_far_outside(void) {
    static const float origin[3] = {0, 0, 0}, extent[3] = {8.0f, 8.0f, 8.0f};
    static const float far[6] = {10.0f, -10.0f, 1e6f, -1e15f, 1e30f, -3.4e38f};
    isph_grid *grid = make_grid(1.0f);
    scatter(0, 400, origin, extent, 1.0f, 8u);
    ASSERT_EQ(ISPHPBD_OK, isph_grid_build(grid, points[0], sizeof points[0], 400));
    for (int i = 0; i < 6; i++) {
        for (int axis = 0; axis < 3; axis++) {
            const float p[3] = {axis == 0 ? far[i] : 0.0f, axis == 1 ? far[i] : 0.0f, axis == 2 ? far[i] : 0.0f};
            ASSERT_EQ_FMT(0, isph_grid_query(grid, isphpbd_v3(p[0], p[1], p[2]), found, POINTS_MAX), "%d");
        }
    }
    ASSERT_EQ_FMT(0, isph_grid_query(grid, isphpbd_v3(NAN, 0, 0), found, POINTS_MAX), "%d");
    ASSERT_EQ_FMT(0, isph_grid_query(grid, isphpbd_v3(0, INFINITY, 0), found, POINTS_MAX), "%d");
    isph_grid_destroy(grid);
    PASS();
}

/* A stride larger than three floats, and an output array that is too small: the count is still told. */
TEST strides_and_short_outputs(void) {
    static float strided[200][5];
    isph_grid *grid = make_grid(1.0f);
    for (int i = 0; i < 200; i++) {
        strided[i][0] = 0.004f * (float)i, strided[i][1] = 0.0f, strided[i][2] = 0.0f;
        strided[i][3] = strided[i][4] = NAN;
    }
    ASSERT_EQ(ISPHPBD_OK, isph_grid_build(grid, strided[0], sizeof strided[0], 200));
    for (int capacity = 0; capacity < 9; capacity += 4) {
        for (int i = 0; i < 12; i++) found[i] = -7;
        ASSERT_EQ_FMT(199, isph_grid_neighbours(grid, 17, found, capacity), "%d");
        for (int i = 0; i < 12; i++) ASSERT(i < capacity ? found[i] >= 0 : found[i] == -7);
    }
    ASSERT_EQ_FMT(200, isph_grid_query(grid, isphpbd_v3(0.1f, 0, 0), NULL, 0), "%d");
    ASSERT_EQ_FMT(0, isph_grid_query(grid, isphpbd_v3(0.1f, 0, 0), NULL, 5), "%d");
    isph_grid_destroy(grid);
    PASS();
}

/* What is refused leaves the points of the last build in place. */
TEST refused_builds_change_nothing(void) {
    const float limit = 262144.0f * 0.5f;
    const float bad[4] = {NAN, INFINITY, -INFINITY, limit * 1.01f};
    isph_grid *grid = make_grid(0.5f);
    for (int i = 0; i < 10; i++) points[i][0] = 0.3f * (float)i, points[i][1] = points[i][2] = 0.0f;
    ASSERT_EQ(ISPHPBD_OK, isph_grid_build(grid, points[0], sizeof points[0], 10));
    for (int i = 0; i < 12; i++) {
        float other[2][3] = {{9.0f, 9.0f, 9.0f}, {9.0f, 9.0f, 9.0f}};
        other[1][i % 3] = bad[i / 3];
        ASSERT_EQ(ISPHPBD_BAD_ARGUMENT, isph_grid_build(grid, other[0], sizeof other[0], 2));
        ASSERT_EQ_FMT(2, isph_grid_neighbours(grid, 4, found, POINTS_MAX), "%d");
    }
    ASSERT_EQ(ISPHPBD_CAPACITY, isph_grid_build(grid, points[0], sizeof points[0], POINTS_MAX + 1));
    ASSERT_EQ(ISPHPBD_BAD_ARGUMENT, isph_grid_build(grid, points[0], sizeof points[0], -1));
    ASSERT_EQ(ISPHPBD_BAD_ARGUMENT, isph_grid_build(grid, NULL, sizeof points[0], 5));
    ASSERT_EQ(ISPHPBD_BAD_ARGUMENT, isph_grid_build(grid, points[0], 8, 5));
    ASSERT_EQ(ISPHPBD_BAD_ARGUMENT, isph_grid_build(NULL, points[0], sizeof points[0], 5));
    ASSERT_EQ_FMT(2, isph_grid_neighbours(grid, 4, found, POINTS_MAX), "%d");
    ASSERT_EQ_FMT(0, isph_grid_neighbours(grid, -1, found, POINTS_MAX), "%d");
    ASSERT_EQ_FMT(0, isph_grid_neighbours(grid, 10, found, POINTS_MAX), "%d");
    ASSERT_EQ_FMT(0, isph_grid_neighbours(NULL, 0, found, POINTS_MAX), "%d");
    isph_grid_destroy(grid);
    PASS();
}

static isph_grid_desc bad_desc(int which) {
    isph_grid_desc desc = isph_grid_desc_default();
    switch (which) {
        case 0: desc.capacity = 0; break;
        case 1: desc.capacity = -5; break;
        case 2: desc.capacity = (1 << 26) + 1; break;
        case 3: desc.radius = 0.0f; break;
        case 4: desc.radius = -1.0f; break;
        case 5: desc.radius = NAN; break;
        case 6: desc.radius = INFINITY; break;
        default: memset(&desc, 0, sizeof desc); break;
    }
    return desc;
}

TEST bad_descs(void) {
    for (int i = 0; i < 8; i++) {
        const isph_grid_desc desc = bad_desc(i);
        isphpbd_result why = ISPHPBD_OK;
        ASSERT(isph_grid_create(&desc, &why) == NULL);
        ASSERT_EQ(ISPHPBD_BAD_DESC, why);
        ASSERT(isph_grid_bytes(&desc) == 0);
    }
    ASSERT(isph_grid_create(NULL, NULL) == NULL);
    isph_grid_destroy(NULL);
    PASS();
}

TEST memory_is_what_was_told(void) {
    isph_grid_desc desc = isph_grid_desc_default();
    watched_memory memory;
    isphpbd_result why = ISPHPBD_BAD_DESC;
    isph_grid *grid;
    static const float origin[3] = {0, 0, 0}, extent[3] = {9.0f, 9.0f, 9.0f};
    desc.allocator = watched_allocator(&memory);
    desc.capacity = 1000;
    grid = isph_grid_create(&desc, &why);
    ASSERT(grid != NULL && why == ISPHPBD_OK);
    ASSERT_EQ_FMT(1, memory.allocations, "%d");
    ASSERT(memory.asked == isph_grid_bytes(&desc));
    scatter(0, 1000, origin, extent, desc.radius, 4u);
    ASSERT_EQ(ISPHPBD_OK, isph_grid_build(grid, points[0], sizeof points[0], 1000));
    for (int i = 0; i < 1000; i++) (void)isph_grid_neighbours(grid, i, found, POINTS_MAX);
    ASSERT_EQ_FMT(1, memory.allocations, "%d");
    isph_grid_destroy(grid);
    ASSERT(watched_clean(&memory));
    memory.allocations = 0, memory.refuse = 1;
    ASSERT(isph_grid_create(&desc, &why) == NULL);
    ASSERT_EQ(ISPHPBD_OUT_OF_MEMORY, why);
    desc.allocator.free = NULL;
    ASSERT(isph_grid_create(&desc, &why) == NULL);
    ASSERT_EQ(ISPHPBD_BAD_DESC, why);
    PASS();
}

SUITE(sph_grid) {
    RUN_TEST(random_points);
    RUN_TEST(every_order_of_axes);
    RUN_TEST(clumped_points);
    RUN_TEST(coincident_points);
    RUN_TEST(far_from_the_origin);
    RUN_TEST(points_on_a_line);
    RUN_TEST(points_on_a_very_long_line);
    RUN_TEST(points_in_a_plane);
    RUN_TEST(two_distant_clusters);
    RUN_TEST(exact_lattice_excludes_the_radius);
    RUN_TEST(single_point_and_none);
    RUN_TEST(queries_far_outside);
    RUN_TEST(strides_and_short_outputs);
    RUN_TEST(refused_builds_change_nothing);
    RUN_TEST(bad_descs);
    RUN_TEST(memory_is_what_was_told);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv) {
    GREATEST_MAIN_BEGIN();
    RUN_SUITE(sph_grid);
    GREATEST_MAIN_END();
}
