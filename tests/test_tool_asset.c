/* test_tool_asset.c - the library opens assets in place, refuses every corrupted byte, and makes bodies that live. */
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

typedef struct asset_job {
    void (*make)(tet_tool *tool, tet_surface *s);
    tet_method method;
    bool shell, keep;
    double size;
    tet_surface surface;
    tet_bytes bytes;
} asset_job;

static void asset_work(tet_tool *t, void *ctx) {
    asset_job *job = (asset_job *)ctx;
    tet_build_options options = shape_options(job->method);
    tet_repair_options repair;
    tet_health health;
    tet_asset asset;
    tet_mesh mesh;
    memset(&repair, 0, sizeof repair);
    memset(&job->surface, 0, sizeof job->surface);
    repair.weld = -1.0, repair.shell = job->shell;
    options.size = job->size, options.keep_surface = job->keep;
    job->make(t, &job->surface);
    health = tet_repair(t, &job->surface, &repair);
    if (!job->shell) tet_build(t, &job->surface, health.volume, &options, &mesh);
    asset = job->shell ? tet_make_shell(t, &job->surface, &health, 0.2)
                       : tet_make_solid(t, &mesh, &job->surface, &health, 1000.0);
    job->bytes = tet_asset_bytes(t, &asset);
}

static asset_job asset_of(void (*make)(tet_tool *, tet_surface *), tet_method method, bool shell) {
    asset_job job;
    memset(&job, 0, sizeof job);
    job.make = make, job.method = method, job.shell = shell;
    return job;
}

/* Opens with scratch where the machine needs it (big-endian ones do); the scratch belongs to the tool. */
static isphpbd_result open_any(const tet_bytes *bytes, ipbd_asset *asset) {
    size_t need = ipbd_asset_scratch_bytes(bytes->data, bytes->size);
    return ipbd_asset_open(bytes->data, bytes->size, tet_alloc(&tool, need + 1, 1), need, asset);
}

static bool little_endian(void) {
    const uint32_t one = 1;
    unsigned char low;
    memcpy(&low, &one, 1);
    return low == 1;
}

static void small_box(tet_tool *t, tet_surface *s) {
    shape_box(t, s, tet_v(-0.5, -0.5, -0.5), tet_v(0.5, 0.5, 0.5), false);
}

/* ---- opening ----------------------------------------------------------------------------------------------------- */

TEST opens_in_place(bool shell) {
    asset_job job = asset_of(small_box, TET_METHOD_BUILTIN, shell);
    ipbd_asset a;
    const unsigned char *p;
    job.size = 0.5;
    ASSERTm(tool.message, tet_guard(&tool, asset_work, &job));
    ASSERT_EQ(little_endian() ? 0u : job.bytes.size + 3u, ipbd_asset_scratch_bytes(job.bytes.data, job.bytes.size));
    ASSERT_EQ(ISPHPBD_OK, open_any(&job.bytes, &a));
    p = (const unsigned char *)a.positions;
    ASSERT(!little_endian() || (p > job.bytes.data && p < job.bytes.data + job.bytes.size));
    p = (const unsigned char *)(a.vertex_map + a.input_vertex_count);
    ASSERT(!little_endian() || (p > job.bytes.data && p <= job.bytes.data + job.bytes.size));
    ASSERT_EQ(shell, (a.flags & IPBD_ASSET_SHELL) != 0);
    ASSERT_EQ(shell ? 8 : 0, shell ? a.vertex_count : a.bend_count);
    ASSERT_EQ(shell ? 18 : 8, shell ? a.bend_count : a.input_vertex_count);
    ASSERT_IN_RANGE(1.0, (double)a.volume, 1e-6);
    ASSERT_IN_RANGE(6.0, (double)a.area, 1e-6);
    ASSERT_IN_RANGE(shell ? 1.2 : 1000.0, (double)a.mass, 1e-3);
    PASS();
}

TEST unaligned_bytes_need_scratch(void) {
    asset_job job = asset_of(small_box, TET_METHOD_BUILTIN, false);
    unsigned char *odd, *scratch;
    ipbd_asset a, b;
    size_t need;
    job.size = 0.5;
    ASSERTm(tool.message, tet_guard(&tool, asset_work, &job));
    odd = (unsigned char *)malloc(job.bytes.size + 1);
    ASSERT(odd != NULL);
    memcpy(odd + 1, job.bytes.data, job.bytes.size);
    need = ipbd_asset_scratch_bytes(odd + 1, job.bytes.size);
    ASSERT(need >= job.bytes.size);
    scratch = (unsigned char *)malloc(need + 1);
    ASSERT(scratch != NULL);
    ASSERT_EQ(ISPHPBD_CAPACITY, ipbd_asset_open(odd + 1, job.bytes.size, NULL, 0, &a));
    ASSERT_EQ(ISPHPBD_CAPACITY, ipbd_asset_open(odd + 1, job.bytes.size, scratch, job.bytes.size - 1, &a));
    ASSERT_EQ(NULL, a.positions);
    ASSERT_EQ(ISPHPBD_OK, ipbd_asset_open(odd + 1, job.bytes.size, scratch + 1, need, &a));
    ASSERT_EQ(ISPHPBD_OK, open_any(&job.bytes, &b));
    ASSERT_MEM_EQ(b.positions, a.positions, (size_t)a.vertex_count * 12);
    ASSERT_MEM_EQ(b.tetrahedra, a.tetrahedra, (size_t)a.tetrahedron_count * 16);
    ASSERT_MEM_EQ(b.skin_weights, a.skin_weights, (size_t)a.skin_vertex_count * 16);
    free(odd);
    free(scratch);
    PASS();
}

TEST nothing_is_not_an_asset(void) {
    uint32_t zeros[64];
    ipbd_asset a;
    memset(zeros, 0, sizeof zeros);
    ASSERT_EQ(ISPHPBD_BAD_ARGUMENT, ipbd_asset_open(NULL, 0, NULL, 0, &a));
    ASSERT_EQ(ISPHPBD_BAD_ARGUMENT, ipbd_asset_open(zeros, sizeof zeros, NULL, 0, NULL));
    ASSERT_EQ(ISPHPBD_BAD_SNAPSHOT, ipbd_asset_open(zeros, 0, NULL, 0, &a));
    ASSERT_EQ(ISPHPBD_BAD_SNAPSHOT, ipbd_asset_open(zeros, sizeof zeros, NULL, 0, &a));
    PASS();
}

/* ---- corruption -------------------------------------------------------------------------------------------------- */

TEST every_changed_byte_is_noticed(bool shell) {
    asset_job job = asset_of(small_box, TET_METHOD_BUILTIN, shell);
    ipbd_asset a;
    size_t i;
    job.size = 0.6;
    ASSERTm(tool.message, tet_guard(&tool, asset_work, &job));
    for (i = 0; i < job.bytes.size; ++i) {
        unsigned char kept = job.bytes.data[i];
        job.bytes.data[i] = (unsigned char)(kept ^ (1u << (i % 8)));
        ASSERT_EQ(ISPHPBD_BAD_SNAPSHOT, ipbd_asset_open(job.bytes.data, job.bytes.size, NULL, 0, &a));
        job.bytes.data[i] = (unsigned char)~kept;
        ASSERT_EQ(ISPHPBD_BAD_SNAPSHOT, ipbd_asset_open(job.bytes.data, job.bytes.size, NULL, 0, &a));
        job.bytes.data[i] = kept;
    }
    for (i = 0; i < job.bytes.size; ++i) {
        ASSERT_EQ(ISPHPBD_BAD_SNAPSHOT, ipbd_asset_open(job.bytes.data, i, NULL, 0, &a));
    }
    ASSERT_EQ(ISPHPBD_OK, open_any(&job.bytes, &a));
    PASS();
}

/* Puts a word and makes the checksum right again: what is behind the checksum has to notice. */
static isphpbd_result open_with_word(tet_bytes *bytes, size_t byte, uint32_t word) {
    unsigned char kept[4];
    ipbd_asset a;
    isphpbd_result result;
    uint64_t sum;
    memcpy(kept, bytes->data + byte, 4);
    bytes->at = byte, tet_put_word(bytes, word);
    sum = ipbd_asset_checksum(bytes->data, bytes->size);
    bytes->at = 24, tet_put_word(bytes, (uint32_t)sum), tet_put_word(bytes, (uint32_t)(sum >> 32));
    result = open_any(bytes, &a);
    memcpy(bytes->data + byte, kept, 4);
    return result;
}

/* Where in the file a section is: the first one follows the header, in the file as in memory. */
static size_t at(const ipbd_asset *a, const void *section) {
    return (size_t)((const unsigned char *)section - (const unsigned char *)a->positions) + 160;
}

TEST a_right_checksum_does_not_help(void) {
    asset_job job = asset_of(small_box, TET_METHOD_BUILTIN, false);
    const uint32_t nan_bits = 0x7fc00000u, minus_one = 0xbf800000u;
    ipbd_asset a;
    size_t i;
    job.size = 0.5;
    ASSERTm(tool.message, tet_guard(&tool, asset_work, &job));
    ASSERT_EQ(ISPHPBD_OK, open_any(&job.bytes, &a));
    ASSERT_EQ(ISPHPBD_BAD_SNAPSHOT, open_with_word(&job.bytes, 8, 2)); /* version */
    for (i = 0; i < 15; ++i) ASSERT(open_with_word(&job.bytes, 36 + 4 * i, 0xffffffffu) == ISPHPBD_BAD_SNAPSHOT);
    ASSERT_EQ(ISPHPBD_BAD_MESH, open_with_word(&job.bytes, 32, 3));   /* solid and shell */
    ASSERT_EQ(ISPHPBD_BAD_MESH, open_with_word(&job.bytes, 32, 129)); /* unknown flag */
    ASSERT_EQ(ISPHPBD_BAD_MESH, open_with_word(&job.bytes, 120, nan_bits));
    ASSERT_EQ(ISPHPBD_BAD_MESH, open_with_word(&job.bytes, at(&a, a.positions) + 16, nan_bits));
    ASSERT_EQ(ISPHPBD_BAD_MESH, open_with_word(&job.bytes, at(&a, a.masses), minus_one));
    ASSERT_EQ(ISPHPBD_BAD_MESH, open_with_word(&job.bytes, at(&a, a.tetrahedra), (uint32_t)a.vertex_count));
    ASSERT_EQ(ISPHPBD_BAD_MESH, open_with_word(&job.bytes, at(&a, a.tetrahedra), a.tetrahedra[1]));
    ASSERT_EQ(ISPHPBD_BAD_MESH, open_with_word(&job.bytes, at(&a, a.triangles) + 8, 0xfffffffeu));
    ASSERT_EQ(ISPHPBD_BAD_MESH, open_with_word(&job.bytes, at(&a, a.edges), 0xffffffffu));
    ASSERT_EQ(ISPHPBD_BAD_MESH, open_with_word(&job.bytes, at(&a, a.edge_colours), 0));
    ASSERT_EQ(ISPHPBD_BAD_MESH, open_with_word(&job.bytes, at(&a, a.skin_tetrahedra), (uint32_t)a.tetrahedron_count));
    ASSERT_EQ(ISPHPBD_BAD_MESH, open_with_word(&job.bytes, at(&a, a.skin_weights), 0x42000000u));
    ASSERT_EQ(ISPHPBD_BAD_MESH, open_with_word(&job.bytes, at(&a, a.skin_triangles), 8));
    ASSERT_EQ(ISPHPBD_BAD_MESH, open_with_word(&job.bytes, at(&a, a.vertex_map), 8));
    ASSERT_EQ(ISPHPBD_OK, open_with_word(&job.bytes, at(&a, a.vertex_map), IPBD_NO_VERTEX));
    PASS();
}

/* ---- life -------------------------------------------------------------------------------------------------------- */

typedef struct life {
    ipbd_asset asset;
    ipbd_world *world;
    ipbd_body body;
    ipbd_collider floor;
} life;

static bool life_begin(life *l, const tet_bytes *bytes, ipbd_preset preset, float height) {
    ipbd_world_desc world = ipbd_world_desc_default();
    ipbd_body_desc body = ipbd_body_desc_preset(preset);
    ipbd_collider_desc floor = ipbd_collider_desc_default();
    if (open_any(bytes, &l->asset) != ISPHPBD_OK) return false;
    ipbd_asset_apply(&l->asset, &body);
    body.pose = ipbd_pose_at(0.0f, height - l->asset.lower.y, 0.0f);
    body.thickness = 0.01f;
    world.capacity = ipbd_capacity_none();
    world.capacity.colliders = 1;
    if (ipbd_capacity_add(&world.capacity, &body, NULL) != ISPHPBD_OK) return false;
    l->world = ipbd_create(&world, NULL);
    if (!l->world) return false;
    floor.shape = ipbd_shape_plane();
    l->floor = ipbd_collider_create(l->world, &floor, NULL);
    l->body = ipbd_body_create(l->world, &body, NULL);
    return l->body.id != 0 && l->floor.id != 0;
}

/* Falls on a floor from 10 cm and lives on for three quarters of a second: finite, above the floor, not thrown up, of
   its own volume, and the skin goes with it. */
TEST lives_as_a_soft_body(const tet_bytes *bytes, const tet_surface *surface, ipbd_preset preset) {
    life l;
    ipbd_view view;
    uint32_t flags = 0;
    float *skin, *normals, lowest = 1e9f;
    double rest;
    int i, count;
    memset(&l, 0, sizeof l);
    ASSERT(life_begin(&l, bytes, preset, 0.1f));
    count = surface->point_count;
    skin = (float *)calloc((size_t)count, 24), normals = skin + 3;
    ASSERT(skin != NULL);
    rest = ipbd_body_volume(l.world, l.body);
    ASSERT_IN_RANGE((double)l.asset.mass, ipbd_body_mass(l.world, l.body), 1e-3 * (double)l.asset.mass);
    ASSERT_EQ(ISPHPBD_OK, ipbd_asset_read(l.world, l.body, &l.asset, skin, normals, 24));
    for (i = 0; i < count; ++i) {
        tet_vec there =
            tet_v((double)skin[6 * i], (double)(skin[6 * i + 1] - 0.1f + l.asset.lower.y), (double)skin[6 * i + 2]);
        ASSERT(tet_distance(there, surface->points[i]) < 1e-5 * 5.0);
        ASSERT_IN_RANGE(
            1.0, tet_length(tet_v((double)normals[6 * i], (double)normals[6 * i + 1], (double)normals[6 * i + 2])),
            1e-3);
    }
    for (i = 0; i < 45; ++i) flags |= ipbd_step(l.world, 1.0f / 60.0f).flags;
    ASSERT_EQ_FMT(0u, flags & (IPBD_STEP_QUARANTINE | IPBD_STEP_REFUSED), "%u");
    ASSERT_EQ(ISPHPBD_OK, ipbd_asset_read(l.world, l.body, &l.asset, skin, NULL, 24));
    for (i = 0; i < count; ++i) {
        ASSERT(isphpbdx_finite(skin[6 * i]) && isphpbdx_finite(skin[6 * i + 1]) && isphpbdx_finite(skin[6 * i + 2]));
    }
    view = ipbd_body_view(l.world, l.body);
    for (i = 0; i < view.vertex_count; ++i) lowest = isphpbdx_min(lowest, view.positions[4 * i + 1]);
    ASSERT(lowest > -0.001f && lowest < 0.15f);
    ASSERT_IN_RANGE(rest, ipbd_body_volume(l.world, l.body), 0.1 * rest);
    free(skin);
    ipbd_destroy(l.world);
    PASS();
}

TEST builtin_asset_lives(const shape_entry *shape) {
    asset_job job = asset_of(shape->make, TET_METHOD_BUILTIN, false);
    ASSERTm(tool.message, tet_guard(&tool, asset_work, &job));
    CHECK_CALL(lives_as_a_soft_body(&job.bytes, &job.surface, IPBD_FLESH));
    PASS();
}

TEST tetgen_asset_lives(const shape_entry *shape) {
    asset_job job = asset_of(shape->make, TET_METHOD_TETGEN, false);
    if (!tet_tetgen_installed()) SKIPm("tetgen is not installed");
    ASSERTm(tool.message, tet_guard(&tool, asset_work, &job));
    CHECK_CALL(lives_as_a_soft_body(&job.bytes, &job.surface, IPBD_FLESH));
    PASS();
}

/* The library's own check finds nothing to repair in an asset. */
TEST library_finds_nothing_to_mend(const shape_entry *shape) {
    asset_job job = asset_of(shape->make, TET_METHOD_BUILTIN, false);
    ipbd_body_desc desc = ipbd_body_desc_default();
    ipbd_mesh_report report, clean;
    ipbd_asset a;
    ASSERTm(tool.message, tet_guard(&tool, asset_work, &job));
    ASSERT_EQ(ISPHPBD_OK, open_any(&job.bytes, &a));
    ipbd_asset_apply(&a, &desc);
    memset(&clean, 0, sizeof clean);
    ASSERT_EQ(ISPHPBD_OK, ipbd_mesh_check(&desc, NULL, &report));
    ASSERT_MEM_EQ(&clean, &report, sizeof clean);
    PASS();
}

TEST shell_asset_lives(void) {
    asset_job job = asset_of(shape_sphere, TET_METHOD_BUILTIN, true);
    life l;
    float *skin;
    int i;
    memset(&l, 0, sizeof l);
    ASSERTm(tool.message, tet_guard(&tool, asset_work, &job));
    ASSERT(life_begin(&l, &job.bytes, IPBD_BALLOON, 0.1f));
    skin = (float *)calloc((size_t)l.asset.vertex_count, 12);
    ASSERT(skin != NULL);
    for (i = 0; i < 30; ++i) ASSERT_EQ_FMT(0u, ipbd_step(l.world, 1.0f / 60.0f).flags & IPBD_STEP_QUARANTINE, "%u");
    ASSERT_EQ(ISPHPBD_OK, ipbd_asset_read(l.world, l.body, &l.asset, skin, NULL, 12));
    for (i = 0; i < 3 * l.asset.vertex_count; ++i) ASSERT(isphpbdx_finite(skin[i]));
    free(skin);
    ipbd_destroy(l.world);
    PASS();
}

TEST reading_a_skin_checks_its_arguments(void) {
    asset_job job = asset_of(small_box, TET_METHOD_BUILTIN, false), other = job;
    ipbd_asset second;
    ipbd_body none;
    float skin[24];
    life l;
    memset(&l, 0, sizeof l);
    none.id = 0;
    job.size = 0.5, other.size = 0.3;
    ASSERTm(tool.message, tet_guard(&tool, asset_work, &job));
    ASSERTm(tool.message, tet_guard(&tool, asset_work, &other));
    ASSERT(life_begin(&l, &job.bytes, IPBD_JELLY, 0.1f));
    ASSERT_EQ(ISPHPBD_OK, open_any(&other.bytes, &second));
    ASSERT_EQ(ISPHPBD_BAD_ARGUMENT, ipbd_asset_read(NULL, l.body, &l.asset, skin, NULL, 12));
    ASSERT_EQ(ISPHPBD_BAD_ARGUMENT, ipbd_asset_read(l.world, l.body, NULL, skin, NULL, 12));
    ASSERT_EQ(ISPHPBD_BAD_ARGUMENT, ipbd_asset_read(l.world, l.body, &l.asset, NULL, NULL, 12));
    ASSERT_EQ(ISPHPBD_BAD_ARGUMENT, ipbd_asset_read(l.world, l.body, &l.asset, skin, NULL, 8));
    ASSERT_EQ(ISPHPBD_BAD_ARGUMENT, ipbd_asset_read(l.world, l.body, &l.asset, skin, NULL, 13));
    ASSERT_EQ(ISPHPBD_BAD_HANDLE, ipbd_asset_read(l.world, none, &l.asset, skin, NULL, 12));
    ASSERT_EQ(ISPHPBD_BAD_MESH, ipbd_asset_read(l.world, l.body, &second, skin, NULL, 12));
    ASSERT_EQ(ISPHPBD_OK, ipbd_asset_read(l.world, l.body, &l.asset, skin, NULL, 12));
    ipbd_destroy(l.world);
    PASS();
}

/* Writing, reading, mending, tetrahedralizing, writing again, with ever more memory: until it is enough, an error that
   says so, and nothing is left behind. */
static void all_work(tet_tool *t, void *ctx) {
    tet_surface made, read;
    tet_text text;
    memset(&made, 0, sizeof made), memset(&read, 0, sizeof read);
    small_box(t, &made);
    text = shape_write(t, &made, SHAPE_OBJ);
    (void)tet_read(t, text.data, (size_t)text.size, &read);
    asset_work(t, ctx);
}
TEST too_little_memory_is_told(void) {
    int refused = 0;
    bool enough = false;
    for (size_t limit = 16; !enough && limit < (size_t)1 << 26; limit += limit / 8) {
        asset_job job = asset_of(small_box, TET_METHOD_BUILTIN, false);
        job.size = 0.5;
        tet_tool_end(&tool), setup(NULL);
        tool.limit = limit;
        enough = tet_guard(&tool, all_work, &job);
        if (!enough) ASSERTm(tool.message, strstr(tool.message, "out of memory") != NULL);
        refused += !enough;
        ASSERT(tool.bytes <= limit);
        tet_tool_end(&tool);
        ASSERT_EQ(0, tool.bytes);
    }
    ASSERT(enough && refused > 20);
    PASS();
}

SUITE(loader) {
    SET_SETUP(setup, NULL);
    SET_TEARDOWN(teardown, NULL);
    RUN_TEST1(opens_in_place, false);
    RUN_TEST1(opens_in_place, true);
    RUN_TEST(unaligned_bytes_need_scratch);
    RUN_TEST(nothing_is_not_an_asset);
    RUN_TEST1(every_changed_byte_is_noticed, false);
    RUN_TEST1(every_changed_byte_is_noticed, true);
    RUN_TEST(a_right_checksum_does_not_help);
    RUN_TEST(too_little_memory_is_told);
}

SUITE(bodies) {
    static int i; /* static: the real greatest uses setjmp */
    SET_SETUP(setup, NULL);
    SET_TEARDOWN(teardown, NULL);
    for (i = 0; i < SHAPE_COUNT; ++i) RUN_TEST1(library_finds_nothing_to_mend, &shape_all[i]);
    for (i = 0; i < SHAPE_COUNT; ++i) RUN_TEST1(builtin_asset_lives, &shape_all[i]);
    for (i = 0; i < SHAPE_COUNT; ++i) RUN_TEST1(tetgen_asset_lives, &shape_all[i]);
    RUN_TEST(shell_asset_lives);
    RUN_TEST(reading_a_skin_checks_its_arguments);
}

GREATEST_MAIN_DEFS();
int main(int argc, char **argv) {
    GREATEST_MAIN_BEGIN();
    RUN_SUITE(loader);
    RUN_SUITE(bodies);
    GREATEST_MAIN_END();
}
