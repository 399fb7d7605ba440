/* test_tool_mesh.c - isphpbd-tet's meshes: volume, positive tetrahedra, angles, embedding, colours, masses,
   same bytes. */
#if !defined(_WIN32)
#define _XOPEN_SOURCE 700
#endif
#define ISPHPBD_STATIC
#include "greatest.h"
#include "tool_shapes.h"

static tet_tool tool;

static void setup(void *unused) {
    (void)unused;
    tet_tool_begin(&tool);
    tool.quiet = true;
}
static void teardown(void *unused) {
    (void)unused;
    tet_remove_folder(&tool);
    tet_tool_end(&tool);
}

typedef struct mesh_job {
    const shape_entry *shape;
    tet_build_options options;
    tet_surface file, surface; /* as made, and as mended */
    tet_health health;
    tet_mesh mesh;
    tet_quality quality;
    tet_asset asset;
    tet_bytes bytes;
    ipbd_asset opened;
} mesh_job;

static void copy_surface(tet_tool *t, const tet_surface *from, tet_surface *to) {
    int i;
    memset(to, 0, sizeof *to);
    for (i = 0; i < from->point_count; ++i) tet_surface_point(t, to, from->points[i]);
    for (i = 0; i < from->triangle_count; ++i) {
        const int *v = from->triangles[i].v;
        tet_surface_triangle(t, to, v[0], v[1], v[2]);
    }
}

static void mesh_work(tet_tool *t, void *ctx) {
    mesh_job *job = (mesh_job *)ctx;
    size_t scratch;
    memset(&job->file, 0, sizeof job->file);
    job->shape->make(t, &job->file);
    copy_surface(t, &job->file, &job->surface);
    job->health = shape_repair(t, &job->surface);
    tet_refuse(t, &job->surface, &job->health);
    tet_build(t, &job->surface, job->health.volume, &job->options, &job->mesh);
    job->asset = tet_make_solid(t, &job->mesh, &job->surface, &job->health, 1000.0);
    job->quality = tet_mesh_quality(&job->mesh);
    job->bytes = tet_asset_bytes(t, &job->asset);
    scratch = ipbd_asset_scratch_bytes(job->bytes.data, job->bytes.size); /* 0 on little-endian machines */
    if (ipbd_asset_open(job->bytes.data, job->bytes.size, tet_alloc(t, scratch + 1, 1), scratch, &job->opened)) {
        tet_fail(t, "cannot open");
    }
}

static mesh_job mesh_of(const shape_entry *shape, tet_method method) {
    mesh_job job;
    memset(&job, 0, sizeof job);
    job.shape = shape;
    job.options = shape_options(method);
    return job;
}

/* ---- what holds for every asset ---------------------------------------------------------------------------------- */

/* Largest distance between a vertex of the file and where the asset puts it, as a part of the diagonal. */
static double embedding_error(const mesh_job *job) {
    tet_box box = tet_box_of(job->file.points, job->file.point_count);
    double worst = 0.0;
    int i;
    for (i = 0; i < job->file.point_count; ++i) {
        tet_vec there = tet_asset_skin_vertex(&job->opened, job->opened.vertex_map[i]);
        worst = fmax(worst, tet_distance(there, job->file.points[i]));
    }
    return worst / tet_distance(box.lo, box.hi);
}

static bool colours_independent(const uint32_t *elements, int width, const uint32_t *ends, int colours, int vertices) {
    int *mark = (int *)calloc((size_t)vertices, sizeof *mark), c, k;
    uint32_t i = 0;
    bool good = mark != NULL;
    for (c = 0; c < colours && good; ++c) {
        for (; i < ends[c]; ++i) {
            for (k = 0; k < width; ++k) {
                uint32_t v = elements[i * (uint32_t)width + (uint32_t)k];
                good = good && mark[v] != c + 1;
                mark[v] = c + 1;
            }
        }
    }
    free(mark);
    return good;
}

/* The surface of the body is closed: every edge is run along once in each direction, as often as the other way. */
static double enclosed_volume(const ipbd_asset *a) {
    double six = 0.0;
    int i;
    for (i = 0; i < a->triangle_count; ++i) {
        const uint32_t *v = a->triangles + 3 * i;
        six += tet_volume6(tet_v(0, 0, 0), tet_asset_vertex(a, v[0]), tet_asset_vertex(a, v[1]),
                           tet_asset_vertex(a, v[2]));
    }
    return six / 6.0;
}

TEST check_asset(const mesh_job *job, double volume_tolerance, int fewest) {
    const ipbd_asset *a = &job->opened;
    double mass = 0.0, error;
    int i;
    ASSERT(a->tetrahedron_count >= fewest);
    ASSERT_EQ_FMT(0, job->quality.not_positive, "%d");
    ASSERT_IN_RANGE(job->health.volume, job->quality.volume, volume_tolerance * job->health.volume);
    ASSERT_IN_RANGE(job->quality.volume, enclosed_volume(a), 1e-6 * job->quality.volume);
    ASSERT_EQ_FMT(job->file.point_count, a->input_vertex_count, "%d");
    error = embedding_error(job);
    ASSERT_IN_RANGE(0.0, error, 1e-5);
    ASSERT(colours_independent(a->tetrahedra, 4, a->tetrahedron_colours, a->tetrahedron_colour_count, a->vertex_count));
    ASSERT(colours_independent(a->edges, 2, a->edge_colours, a->edge_colour_count, a->vertex_count));
    for (i = 0; i < a->vertex_count; ++i) mass += (double)a->masses[i];
    ASSERT_IN_RANGE(1000.0 * job->health.volume, mass, 1e-4 * mass);
    for (i = 0; i < a->edge_count; ++i) {
        double length = tet_distance(tet_asset_vertex(a, a->edges[2 * i]), tet_asset_vertex(a, a->edges[2 * i + 1]));
        ASSERT_IN_RANGE(length, (double)a->edge_lengths[i], 1e-6 * length);
    }
    PASS();
}

/* Every edge of every tetrahedron is in the list, and Euler's formula counts them. */
TEST check_edges(const ipbd_asset *a) {
    tet_map seen;
    int i, k;
    bool fresh;
    memset(&seen, 0, sizeof seen);
    for (i = 0; i < a->edge_count; ++i) {
        tet_map_put(&tool, &seen, tet_edge_key((int)a->edges[2 * i], (int)a->edges[2 * i + 1]), i, &fresh);
        ASSERT(fresh);
    }
    for (i = 0; i < a->tetrahedron_count; ++i) {
        for (k = 0; k < 6; ++k) {
            const uint32_t *v = a->tetrahedra + 4 * i;
            ASSERT(tet_map_get(&seen, tet_edge_key((int)v[tet_edge_corners[k][0]], (int)v[tet_edge_corners[k][1]])) >=
                   0);
        }
    }
    PASS();
}

/* ---- built-in ---------------------------------------------------------------------------------------------------- */

/* Holes in the coarse body's walls would show in the Euler characteristic. */
static bool topology_is_kept(const mesh_job *job) {
    const tet_surface *s = &job->surface;
    tet_topology input = tet_surface_topology(&tool, s->triangles[0].v, s->triangle_count, s->point_count);
    tet_topology own =
        tet_surface_topology(&tool, job->asset.triangles, job->asset.triangle_count, job->mesh.point_count);
    return tet_same_topology(input, own);
}

TEST builtin_makes(const shape_entry *shape) {
    mesh_job job = mesh_of(shape, TET_METHOD_BUILTIN);
    ASSERTm(tool.message, tet_guard(&tool, mesh_work, &job));
    ASSERT(topology_is_kept(&job));
    CHECK_CALL(check_asset(&job, 0.02, 500));
    CHECK_CALL(check_edges(&job.opened));
    ASSERT(job.quality.angle_min >= 5.0);
    ASSERT(job.opened.tetrahedron_count < 20000);
    printf("%-9s %6d triangles: %5d tetrahedra, volume %+.4f %%, angles %.1f to %.1f, embedding %.1e\n", shape->name,
           job.surface.triangle_count, job.mesh.cell_count, 100.0 * (job.quality.volume / job.health.volume - 1.0),
           job.quality.angle_min, job.quality.angle_max, embedding_error(&job));
    PASS();
}

static void crate(tet_tool *t, tet_surface *s) { shape_box(t, s, tet_v(-1, -1, -1), tet_v(1, 0.5, 1.3), false); }

/* The corners and edges of a box are there in the coarse body: the corners are points of it. */
TEST sharp_corners_are_kept(void) {
    static const shape_entry shape = {"crate", crate};
    mesh_job job = mesh_of(&shape, TET_METHOD_BUILTIN);
    int i, k;
    ASSERTm(tool.message, tet_guard(&tool, mesh_work, &job));
    for (i = 0; i < job.surface.point_count; ++i) {
        double nearest = HUGE_VAL;
        for (k = 0; k < job.mesh.point_count; ++k) {
            nearest = fmin(nearest, tet_distance(job.mesh.points[k], job.surface.points[i]));
        }
        ASSERT_IN_RANGE(0.0, nearest, 0.02);
    }
    ASSERT(job.quality.angle_min >= 10.0);
    PASS();
}

TEST topology_tells_shapes_apart(void) {
    static const int two_parts[] = {0, 1, 2, 0, 2, 3, 0, 3, 1, 1, 3, 2, 4, 5, 6, 4, 6, 7, 4, 7, 5, 5, 7, 6};
    tet_topology one = tet_surface_topology(&tool, two_parts, 4, 8), two = tet_surface_topology(&tool, two_parts, 8, 8);
    mesh_job torus = mesh_of(&shape_all[1], TET_METHOD_BUILTIN);
    ASSERT_EQ_FMT(2, one.euler, "%d");
    ASSERT_EQ_FMT(1, one.parts, "%d");
    ASSERT_EQ_FMT(4, two.euler, "%d");
    ASSERT_EQ_FMT(2, two.parts, "%d");
    ASSERTm(tool.message, tet_guard(&tool, mesh_work, &torus));
    ASSERT_EQ_FMT(
        0, tet_surface_topology(&tool, torus.asset.triangles, torus.asset.triangle_count, torus.mesh.point_count).euler,
        "%d");
    PASS();
}

TEST builtin_obeys_size_and_maximum(void) {
    mesh_job coarse = mesh_of(&shape_all[0], TET_METHOD_BUILTIN), fine = coarse, most = coarse;
    coarse.options.size = 0.4, fine.options.size = 0.2, most.options.size = 0.2, most.options.max_cells = 1000;
    ASSERTm(tool.message, tet_guard(&tool, mesh_work, &coarse));
    ASSERTm(tool.message, tet_guard(&tool, mesh_work, &fine));
    ASSERT(fine.mesh.cell_count > 6 * coarse.mesh.cell_count);
    ASSERT_IN_RANGE(0.4, (double)coarse.opened.element_size, 0.1);
    ASSERT_IN_RANGE(0.2, (double)fine.opened.element_size, 0.05);
    ASSERT_FALSE(tet_guard(&tool, mesh_work, &most));
    ASSERT(strstr(tool.message, "more than the maximum of 1000") != NULL);
    most.options.size = 0.0; /* the size is chosen so that the maximum holds */
    ASSERTm(tool.message, tet_guard(&tool, mesh_work, &most));
    ASSERT(most.mesh.cell_count <= 1000);
    PASS();
}

TEST builtin_refuses_what_it_cannot(void) {
    mesh_job job = mesh_of(&shape_all[0], TET_METHOD_BUILTIN);
    job.options.keep_surface = true;
    ASSERT_FALSE(tet_guard(&tool, mesh_work, &job));
    ASSERT(strstr(tool.message, "--keep-surface needs TetGen") != NULL);
    job.options.keep_surface = false, job.options.size = 50.0;
    ASSERT_FALSE(tet_guard(&tool, mesh_work, &job));
    ASSERT(strstr(tool.message, "too large") != NULL);
    job.options.size = 1e-4;
    ASSERT_FALSE(tet_guard(&tool, mesh_work, &job));
    ASSERT(strstr(tool.message, "too small") != NULL);
    job.options.size = 0.3, job.options.min_angle = 60.0;
    ASSERT_FALSE(tet_guard(&tool, mesh_work, &job));
    ASSERT(strstr(tool.message, "smallest dihedral angle") != NULL);
    PASS();
}

/* ---- the angle bound, on surfaces made to break it --------------------------------------------------------------- */

static unsigned spiky_seed;

/* Spikes and pits between 0.4 and 1.4 in every direction: cuts at any place of any lattice edge. The same direction
   always has the same radius. */
static double spiky_radius(tet_vec d) {
    uint32_t h = (uint32_t)(int)floor(d.x * 4096.0) * 73856093u ^ (uint32_t)(int)floor(d.y * 4096.0) * 19349663u;
    h = (h ^ (uint32_t)(int)floor(d.z * 4096.0) * 83492791u ^ spiky_seed * 2654435761u) * 2246822519u;
    h ^= h >> 15;
    return 0.4 + (double)(h % 1000u) / 1000.0;
}

typedef struct spiky_job {
    double size, angle_min;
    int cells, not_positive;
} spiky_job;

/* The lattice as it is, before any fit. */
static void spiky_work(tet_tool *t, void *ctx) {
    spiky_job *job = (spiky_job *)ctx;
    tet_surface s;
    tet_mesh mesh;
    tet_quality q;
    tet_box *boxes;
    tet_bvh bvh;
    memset(&s, 0, sizeof s);
    memset(&mesh, 0, sizeof mesh);
    shape_star(t, &s, 5, spiky_radius);
    shape_repair(t, &s);
    boxes = tet_triangle_boxes(t, &s);
    bvh = tet_bvh_build(t, boxes, s.triangle_count);
    tet_stuff(t, &s, &bvh, job->size, &mesh);
    q = tet_mesh_quality(&mesh);
    job->angle_min = q.angle_min, job->not_positive = q.not_positive, job->cells = mesh.cell_count;
}

TEST the_angle_bound_holds_for_any_surface(void) {
    double worst = 180.0;
    long cells = 0;
    for (spiky_seed = 1; spiky_seed <= 24; ++spiky_seed) {
        spiky_job job;
        job.size = 0.08 + 0.01 * (spiky_seed % 12);
        ASSERTm(tool.message, tet_guard(&tool, spiky_work, &job));
        ASSERT_EQ_FMT(0, job.not_positive, "%d");
        worst = fmin(worst, job.angle_min);
        cells += job.cells;
        teardown(NULL), setup(NULL);
    }
    printf("smallest dihedral angle of %ld tetrahedra in spiky bodies: %.2f degrees\n", cells, worst);
    ASSERT(cells > 50000);
    ASSERT(worst >= 10.0);
    PASS();
}

/* ---- TetGen ------------------------------------------------------------------------------------------------------ */

TEST tetgen_keeps_the_surface(const shape_entry *shape) {
    mesh_job job = mesh_of(shape, TET_METHOD_TETGEN);
    int i;
    if (!tet_tetgen_installed()) SKIPm("tetgen is not installed");
    job.options.keep_surface = true;
    ASSERTm(tool.message, tet_guard(&tool, mesh_work, &job));
    CHECK_CALL(check_asset(&job, 0.001, 500));
    ASSERT_EQ_FMT(job.surface.triangle_count, job.opened.triangle_count, "%d");
    for (i = 0; i < job.surface.point_count; ++i)
        ASSERT(tet_distance(job.mesh.points[i], job.surface.points[i]) < 1e-6);
    PASS();
}

TEST tetgen_makes_a_coarse_body(const shape_entry *shape) {
    mesh_job job = mesh_of(shape, TET_METHOD_TETGEN);
    if (!tet_tetgen_installed()) SKIPm("tetgen is not installed");
    ASSERTm(tool.message, tet_guard(&tool, mesh_work, &job));
    CHECK_CALL(check_asset(&job, 0.02, 500));
    CHECK_CALL(check_edges(&job.opened));
    ASSERT(job.opened.tetrahedron_count < 20000);
    ASSERT(tool.folder[0] == 0);
    PASS();
}

static void hollow(tet_tool *t, tet_surface *s) {
    shape_box(t, s, tet_v(0, 0, 0), tet_v(4, 4, 4), false);
    shape_box(t, s, tet_v(1, 1, 1), tet_v(3, 3, 3), false);
}

TEST cavities_stay_empty(void) {
    static const shape_entry shape = {"hollow box", hollow};
    mesh_job job = mesh_of(&shape, TET_METHOD_BUILTIN);
    ASSERTm(tool.message, tet_guard(&tool, mesh_work, &job));
    CHECK_CALL(check_asset(&job, 0.02, 500));
    ASSERT_IN_RANGE(56.0, job.health.volume, 1e-9);
    if (!tet_tetgen_installed()) SKIPm("tetgen is not installed");
    job = mesh_of(&shape, TET_METHOD_TETGEN);
    job.options.keep_surface = true; /* 24 large faces leave TetGen little to do */
    ASSERTm(tool.message, tet_guard(&tool, mesh_work, &job));
    CHECK_CALL(check_asset(&job, 0.001, 20));
    PASS();
}

/* ---- same input, same bytes -------------------------------------------------------------------------------------- */

TEST same_bytes_every_time(void) {
    mesh_job one = mesh_of(&shape_all[1], TET_METHOD_BUILTIN), two = one;
    ASSERTm(tool.message, tet_guard(&tool, mesh_work, &one));
    ASSERTm(tool.message, tet_guard(&tool, mesh_work, &two));
    ASSERT_EQ(one.bytes.size, two.bytes.size);
    ASSERT_MEM_EQ(one.bytes.data, two.bytes.data, one.bytes.size);
    PASS();
}

/* ---- search ------------------------------------------------------------------------------------------------------ */

static bool count_visit(void *ctx, int item) { return (void)item, ++*(int *)ctx, true; }

/* Empty places of the tree must not look like boxes that hold everything: queries would walk through all of them. */
TEST box_tree_is_tight(void) {
    tet_box boxes[37], query;
    int count, i, found;
    for (i = 0; i < 37; ++i) {
        boxes[i].lo = tet_v(i % 7, i / 7, 0.0);
        boxes[i].hi = tet_v(i % 7 + 0.5, i / 7 + 0.5, 0.5);
    }
    for (count = 1; count <= 37; ++count) {
        tet_bvh bvh = tet_bvh_build(&tool, boxes, count);
        for (i = 1; i < 2 * bvh.leaf_count; ++i) {
            bool empty = bvh.nodes[i].lo.x > bvh.nodes[i].hi.x;
            ASSERT(empty || (bvh.nodes[i].lo.x >= 0.0 && bvh.nodes[i].hi.x <= 6.5 && bvh.nodes[i].hi.y <= 5.5));
        }
        for (i = 0; i < count; ++i) {
            query.lo = query.hi = tet_v(i % 7 + 0.25, i / 7 + 0.25, 0.25);
            found = 0;
            tet_bvh_query(&bvh, &query, count_visit, &found);
            ASSERT_EQ_FMT(1, found, "%d");
        }
        tet_bvh_free(&tool, &bvh);
    }
    PASS();
}

SUITE(builtin) {
    static int i; /* static: the real greatest uses setjmp */
    SET_SETUP(setup, NULL);
    SET_TEARDOWN(teardown, NULL);
    RUN_TEST(box_tree_is_tight);
    for (i = 0; i < SHAPE_COUNT; ++i) RUN_TEST1(builtin_makes, &shape_all[i]);
    RUN_TEST(sharp_corners_are_kept);
    RUN_TEST(topology_tells_shapes_apart);
    RUN_TEST(builtin_obeys_size_and_maximum);
    RUN_TEST(builtin_refuses_what_it_cannot);
    RUN_TEST(the_angle_bound_holds_for_any_surface);
    RUN_TEST(cavities_stay_empty);
    RUN_TEST(same_bytes_every_time);
}

SUITE(tetgen) {
    static int i; /* static: the real greatest uses setjmp */
    SET_SETUP(setup, NULL);
    SET_TEARDOWN(teardown, NULL);
    for (i = 0; i < SHAPE_COUNT; ++i) RUN_TEST1(tetgen_keeps_the_surface, &shape_all[i]);
    for (i = 0; i < SHAPE_COUNT; ++i) RUN_TEST1(tetgen_makes_a_coarse_body, &shape_all[i]);
}

GREATEST_MAIN_DEFS();
int main(int argc, char **argv) {
    GREATEST_MAIN_BEGIN();
    RUN_SUITE(builtin);
    RUN_SUITE(tetgen);
    GREATEST_MAIN_END();
}
