/* test_tool_read.c - isphpbd-tet reads every format to the same surface, mends what can be mended, names the rest. */
#if !defined(_WIN32)
#define _XOPEN_SOURCE 700
#endif
#define ISPHPBD_STATIC
#include "greatest.h"
#include "tool_shapes.h"

/* Every test works in one guarded call; an error the test did not expect is told by its message. */
static tet_tool tool;

static void setup(void *unused) {
    (void)unused;
    tet_tool_begin(&tool);
    tool.quiet = true;
}
static void teardown(void *unused) {
    (void)unused;
    tet_tool_end(&tool);
}

/* ---- readers ----------------------------------------------------------------------------------------------------- */

typedef struct read_job {
    const char *bytes;
    size_t size;
    tet_surface surface;
    tet_kind kind;
    tet_health health;
    tet_repair_options repair;
    bool repaired, refuse;
} read_job;

static void read_work(tet_tool *t, void *ctx) {
    read_job *job = (read_job *)ctx;
    char *copy = (char *)tet_alloc(t, job->size + 1, 1);
    memcpy(copy, job->bytes, job->size);
    job->kind = tet_read(t, copy, job->size, &job->surface);
    if (!job->repaired) return;
    job->health = tet_repair(t, &job->surface, &job->repair);
    if (job->refuse) tet_refuse(t, &job->surface, &job->health);
}

static read_job read_text(const char *text) {
    read_job job;
    memset(&job, 0, sizeof job);
    job.bytes = text;
    job.size = strlen(text);
    job.repair.weld = -1.0;
    return job;
}

typedef struct formats_job {
    tet_kind kinds[SHAPE_FORMAT_COUNT];
    double volumes[SHAPE_FORMAT_COUNT];
    int points[SHAPE_FORMAT_COUNT], triangles[SHAPE_FORMAT_COUNT], maps[SHAPE_FORMAT_COUNT];
} formats_job;

static void formats_work(tet_tool *t, void *ctx) {
    formats_job *job = (formats_job *)ctx;
    tet_surface s;
    int f;
    memset(&s, 0, sizeof s);
    shape_torus(t, &s);
    for (f = 0; f < SHAPE_FORMAT_COUNT; ++f) {
        tet_text text = shape_write(t, &s, (shape_format)f);
        tet_surface again;
        job->kinds[f] = tet_read(t, text.data, (size_t)text.size, &again);
        job->maps[f] = again.point_count;
        job->volumes[f] = shape_repair(t, &again).volume;
        job->points[f] = again.point_count, job->triangles[f] = again.triangle_count;
    }
}

TEST all_formats_give_the_same_surface(void) {
    static const tet_kind kinds[] = {TET_KIND_OBJ, TET_KIND_OFF, TET_KIND_STL_TEXT, TET_KIND_STL_BINARY,
                                     TET_KIND_PLY, TET_KIND_PLY, TET_KIND_PLY};
    formats_job job;
    int f;
    ASSERTm(tool.message, tet_guard(&tool, formats_work, &job));
    for (f = 0; f < SHAPE_FORMAT_COUNT; ++f) {
        ASSERT_EQ_FMT(kinds[f], job.kinds[f], "%d");
        ASSERT_EQ_FMT(64 * 32, job.points[f], "%d");
        ASSERT_EQ_FMT(64 * 32 * 2, job.triangles[f], "%d");
        ASSERT_IN_RANGE(job.volumes[0], job.volumes[f], 1e-6 * job.volumes[0]);
    }
    ASSERT_EQ_FMT(64 * 32 * 6, job.maps[SHAPE_STL_BINARY], "%d");
    /* the inscribed polygons of the torus are known exactly: 2 pi^2 R r^2 shrinks by sin(x)/x of both turns */
    ASSERT_IN_RANGE(2.0 * SHAPE_PI * SHAPE_PI * 1.0 * 0.16, job.volumes[0], 0.03);
    PASS();
}

TEST obj_polygons_concave_and_continued(void) {
    read_job job =
        read_text("# an L of six corners, over two lines\nv 0 0 0\nv 2 0 0\nv 2 1 0\nv 1 1 0\nv 1 2 0\nv 0 2 0\n"
                  "vt 0 0\nvn 0 0 1\no part\nf 1 2 3 \\\n 4 5 6\n");
    double area = 0.0;
    int i;
    ASSERTm(tool.message, tet_guard(&tool, read_work, &job));
    ASSERT_EQ_FMT(4, job.surface.triangle_count, "%d");
    for (i = 0; i < 4; ++i) {
        ASSERT(tet_triangle_normal(&job.surface, i).z > 0.0);
        area += 0.5 * tet_triangle_normal(&job.surface, i).z;
    }
    ASSERT_IN_RANGE(3.0, area, 1e-12);
    PASS();
}

TEST windows_line_ends_and_byte_order_mark(void) {
    read_job job = read_text("\xef\xbb\xbfv 0 0 0\r\nv 1 0 0\r\nv 0 1 0\r\nf 1 2 3\r\n");
    ASSERTm(tool.message, tet_guard(&tool, read_work, &job));
    ASSERT_EQ_FMT(3, job.surface.point_count, "%d");
    ASSERT_EQ_FMT(1, job.surface.triangle_count, "%d");
    PASS();
}

/* Text and a piece of the message it must give. */
static const char *const broken[][2] = {
    {"", "empty"},
    {"hello world\n", "not a mesh"},
    {"\xff\xfev\0 \0", "UTF-16"},
    {"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 4\n", "line 4: a face names vertex 3, there are 3"},
    {"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 0 1 2\n", "OBJ counts from 1"},
    {"v 0 0 0\nv 1 0 0\nv 0 1 0\nf -4 1 2\n", "a face names vertex -1"},
    {"v 0 0 0\nv 1 0\nv 0 1 0\nf 1 2 3\n", "line 2: a number is missing"},
    {"v 0 0 0\nv 1 0 nan\nv 0 1 0\nf 1 2 3\n", "line 2: a number is not finite"},
    {"v 0 0 0\nv 1 0 1e999\nv 0 1 0\nf 1 2 3\n", "line 2: a number is not finite"},
    {"OFF\n3 1 0\n0 0 0\n1 0 0\n", "number is missing"},
    {"OFF\n3 -1 0\n0 0 0\n1 0 0\n", "count of -1"},
    {"OFF BINARY\n", "binary OFF"},
    {"OFF\n3 0 0\n0 0 0\n1 0 0\n0 1 0\n", "no faces"},
    {"solid x\nfacet\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nendloop\n", "facet with 2 corners"},
    {"solid x\nfacet\nouter loop\nvertex 0 0 0\nvertex 1 0 0\n", "cut off"},
    {"ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\n", "header has no end"},
    {"ply\nelement vertex 1\nproperty float x\nend_header\n1\n", "names no format"},
    {"ply\nformat ascii 1.0\nelement vertex 1\nproperty strange x\nend_header\n1\n", "type 'strange' is unknown"},
    {"ply\nformat binary_little_endian 1.0\nelement vertex 9\nproperty float x\nend_header\n1234", "cut off"},
    {"ply\nformat ascii 1.0\nelement face 1\nproperty list uchar int vertex_indices\nend_header\n3 0 1 2\n",
     "there are 0"},
};

TEST broken_files_are_named(void) {
    size_t i;
    for (i = 0; i < sizeof broken / sizeof *broken; ++i) {
        read_job job = read_text(broken[i][0]);
        ASSERT_FALSEm(broken[i][1], tet_guard(&tool, read_work, &job));
        if (!strstr(tool.message, broken[i][1])) fprintf(stderr, "wanted '%s', got '%s'\n", broken[i][1], tool.message);
        ASSERT(strstr(tool.message, broken[i][1]) != NULL);
        ASSERT(strchr(tool.message, '\n') == NULL);
    }
    PASS();
}

/* ---- repair ------------------------------------------------------------------------------------------------------ */

static const char tetrahedron[] = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n";

static read_job mended(const char *faces, bool refuse) {
    static char text[1024];
    read_job job;
    snprintf(text, sizeof text, "%s%s", tetrahedron, faces);
    job = read_text(text);
    job.repaired = true, job.refuse = refuse;
    return job;
}

TEST mends_what_can_be_mended(void) {
    read_job job = mended("v 0 0 1e-9\nv 5 5 5\nf 1 3 2\nf 5 2 4\nf 1 3 4\nf 2 3 4\nf 2 3 4\nf 1 1 2\n", true);
    ASSERTm(tool.message, tet_guard(&tool, read_work, &job));
    ASSERT_EQ_FMT(1, job.health.welded, "%d");
    ASSERT_EQ_FMT(1, job.health.unused, "%d");
    ASSERT_EQ_FMT(1, job.health.duplicate, "%d");
    ASSERT_EQ_FMT(1, job.health.degenerate, "%d");
    ASSERT_EQ_FMT(1, job.health.flipped, "%d");
    ASSERT_EQ_FMT(4, job.surface.point_count, "%d");
    ASSERT_EQ_FMT(4, job.surface.triangle_count, "%d");
    ASSERT_EQ_FMT(0, job.surface.map[4], "%d");
    ASSERT_EQ_FMT(-1, job.surface.map[5], "%d");
    ASSERT_IN_RANGE(1.0 / 6.0, job.health.volume, 1e-9);
    PASS();
}

TEST turns_an_inside_out_body(void) {
    read_job job = mended("f 1 2 3\nf 1 4 2\nf 1 3 4\nf 2 4 3\n", true);
    ASSERTm(tool.message, tet_guard(&tool, read_work, &job));
    ASSERT_EQ_FMT(4, job.health.flipped, "%d");
    ASSERT(job.health.volume > 0.0);
    PASS();
}

TEST a_face_without_area_is_flipped_away(void) {
    /* the edge 1-2 is split by vertex 5 on one side only; the flat face 1 5 2 closes the slit */
    read_job job = mended("v 0.5 0 0\nf 1 3 5\nf 5 3 2\nf 1 5 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n", true);
    ASSERTm(tool.message, tet_guard(&tool, read_work, &job));
    ASSERT_EQ_FMT(1, job.health.degenerate, "%d");
    ASSERT_EQ_FMT(6, job.surface.triangle_count, "%d");
    ASSERT_IN_RANGE(1.0 / 6.0, job.health.volume, 1e-12);
    PASS();
}

TEST an_open_surface_is_refused_with_its_place(void) {
    read_job job = mended("f 1 3 2\nf 1 2 4\nf 1 4 3\n", true);
    ASSERT_FALSE(tet_guard(&tool, read_work, &job));
    ASSERT(strstr(tool.message, "open: 1 hole, the largest of 3 edges around (0.333333, 0.333333, 0.333333)") != NULL);
    PASS();
}

TEST holes_are_filled_on_demand(void) {
    read_job job = mended("f 1 3 2\nf 1 2 4\nf 1 4 3\n", true);
    job.repair.fill_holes = true;
    ASSERTm(tool.message, tet_guard(&tool, read_work, &job));
    ASSERT_EQ_FMT(1, job.health.filled, "%d");
    ASSERT_IN_RANGE(1.0 / 6.0, job.health.volume, 1e-12);
    PASS();
}

TEST an_edge_of_three_faces_is_refused(void) {
    read_job job =
        mended("v 2 2 2\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\nf 2 3 5\nf 3 4 5\nf 4 2 5\nf 1 2 5\nf 2 1 5\n", true);
    ASSERT_FALSE(tet_guard(&tool, read_work, &job));
    ASSERT(strstr(tool.message, "more than two faces") != NULL);
    PASS();
}

TEST a_moebius_strip_is_refused(void) {
    read_job job = read_text("OFF\n6 6 0\n1 0 0\n1 0 1\n-0.5 0.8 0\n-0.5 0.8 1\n-0.5 -0.8 0\n-0.5 -0.8 1\n"
                             "3 0 1 2\n3 1 3 2\n3 2 3 4\n3 3 5 4\n3 4 5 1\n3 5 0 1\n");
    job.repaired = true;
    ASSERTm(tool.message, tet_guard(&tool, read_work, &job));
    ASSERT(job.health.unorientable.count > 0);
    PASS();
}

static void crossing_work(tet_tool *t, void *ctx) {
    double shift = *(double *)ctx;
    tet_surface s;
    tet_health health;
    memset(&s, 0, sizeof s);
    shape_box(t, &s, tet_v(0, 0, 0), tet_v(1, 1, 1), false);
    shape_box(t, &s, tet_v(shift, shift, shift), tet_v(1 + shift, 1 + shift, 1 + shift), false);
    health = shape_repair(t, &s);
    tet_refuse(t, &s, &health);
}

TEST self_intersections_are_refused_with_their_place(void) {
    double apart = 1.5, shifted[] = {0.5, 0.3, 1e-3, 0.999};
    size_t i;
    ASSERTm(tool.message, tet_guard(&tool, crossing_work, &apart));
    for (i = 0; i < 4; ++i) {
        ASSERT_FALSE(tet_guard(&tool, crossing_work, &shifted[i]));
        ASSERT(strstr(tool.message, "cuts through itself") != NULL);
        ASSERT(strstr(tool.message, "the first near (") != NULL);
    }
    PASS();
}

static void cavity_work(tet_tool *t, void *ctx) {
    tet_health *health = (tet_health *)ctx;
    tet_surface s;
    memset(&s, 0, sizeof s);
    shape_box(t, &s, tet_v(0, 0, 0), tet_v(4, 4, 4), false);
    shape_box(t, &s, tet_v(1, 1, 1), tet_v(3, 3, 3), false);
    shape_box(t, &s, tet_v(1.5, 1.5, 1.5), tet_v(2, 2, 2), true);
    *health = shape_repair(t, &s);
}

TEST cavities_look_inwards(void) {
    tet_health health;
    ASSERTm(tool.message, tet_guard(&tool, cavity_work, &health));
    ASSERT_EQ_FMT(3, health.components, "%d");
    ASSERT_EQ_FMT(1, health.cavities, "%d");
    ASSERT_EQ_FMT(24, health.flipped, "%d"); /* the cavity, and the body inside it */
    ASSERT_IN_RANGE(64.0 - 8.0 + 0.125, health.volume, 1e-9);
    PASS();
}

TEST far_away_or_flat_is_refused(void) {
    read_job far_away = read_text("v 1e9 0 0\nv 1000000001 0 0\nv 1e9 1 0\nf 1 2 3\n");
    read_job huge = read_text("v 0 0 0\nv 1e300 0 0\nv 0 1e300 0\nf 1 2 3\n");
    read_job point = read_text("v 1 1 1\nv 1 1 1\nv 1 1 1\nf 1 2 3\n");
    far_away.repaired = huge.repaired = point.repaired = true;
    ASSERT_FALSE(tet_guard(&tool, read_work, &far_away));
    ASSERT(strstr(tool.message, "from the origin") != NULL);
    ASSERT_FALSE(tet_guard(&tool, read_work, &huge));
    ASSERT(strstr(tool.message, "coordinates reach") != NULL);
    ASSERT_FALSE(tet_guard(&tool, read_work, &point));
    ASSERT(strstr(tool.message, "no extent") != NULL);
    PASS();
}

SUITE(readers) {
    SET_SETUP(setup, NULL);
    SET_TEARDOWN(teardown, NULL);
    RUN_TEST(all_formats_give_the_same_surface);
    RUN_TEST(obj_polygons_concave_and_continued);
    RUN_TEST(windows_line_ends_and_byte_order_mark);
    RUN_TEST(broken_files_are_named);
}

SUITE(repair) {
    SET_SETUP(setup, NULL);
    SET_TEARDOWN(teardown, NULL);
    RUN_TEST(mends_what_can_be_mended);
    RUN_TEST(turns_an_inside_out_body);
    RUN_TEST(a_face_without_area_is_flipped_away);
    RUN_TEST(an_open_surface_is_refused_with_its_place);
    RUN_TEST(holes_are_filled_on_demand);
    RUN_TEST(an_edge_of_three_faces_is_refused);
    RUN_TEST(a_moebius_strip_is_refused);
    RUN_TEST(self_intersections_are_refused_with_their_place);
    RUN_TEST(cavities_look_inwards);
    RUN_TEST(far_away_or_flat_is_refused);
}

GREATEST_MAIN_DEFS();
int main(int argc, char **argv) {
    GREATEST_MAIN_BEGIN();
    RUN_SUITE(readers);
    RUN_SUITE(repair);
    GREATEST_MAIN_END();
}
