/* isphpbd-tet - from a surface mesh to a soft-body asset for isphpbd_pbd.h. See docs/isphpbd-tet.md.
   SPDX-License-Identifier: MIT

   One program of several private parts, each usable on its own by the tests:
       tet_base.h      errors, memory, vectors      tet_read.h     OBJ, PLY, STL, OFF
       tet_geometry.h  search, winding numbers      tet_check.h    repair and refusal
       tet_lattice.h   built-in tetrahedralizer     tet_tetgen.h   TetGen as a program
       tet_quality.h   angles and ratios            tet_embed.h    the surface in the tetrahedra
       tet_build.h     method, size, volume         tet_snap.h     sharp edges, topology
       tet_asset.h     colours, masses, bytes
       tet_export.h    C arrays, OBJ, --info
   The format and its loader are in isphpbd_pbd.h, sections [pbd-assets] and [assets]. */
#if !defined(_WIN32)
#define _XOPEN_SOURCE 700 /* mkdtemp, fork, access */
#endif
#define ISPHPBD_STATIC
#include "isphpbd_pbd.h"
#include "tet_build.h"
#include "tet_export.h"

typedef struct tet_job {
    const char *input, *output, *obj, *name;
    tet_build_options build;
    tet_repair_options repair;
    double density, scale;
    bool c_array, info, json, body, quiet, help, version;
    char part[1024]; /* the output while it is being written; empty: none */
} tet_job;

static const char tet_help_text[] =
    "isphpbd-tet: from a surface mesh to a soft-body asset\n"
    "\n"
    "    isphpbd-tet INPUT -o OUTPUT [options]    make an asset\n"
    "    isphpbd-tet INPUT --info [--json]        describe a mesh or an asset\n"
    "    isphpbd-tet INPUT --obj FILE [--body]    write a mesh or an asset as OBJ\n"
    "\n"
    "INPUT is OBJ, PLY, STL or OFF, text or binary, told by its content; or an asset.\n"
    "\n"
    "What to make\n"
    "    -o FILE            the asset\n"
    "    --c-array          write it as a C header with one array instead of a binary file\n"
    "    --name NAME        of that array; default: from the name of OUTPUT\n"
    "    --obj FILE         the embedded surface as OBJ; with --body the body's own surface\n"
    "    --shell            no tetrahedra: the triangles themselves are the body (cloth, balloons)\n"
    "    --density D        kg/m^3, for shells kg/m^2; default 1000, shells 0.2\n"
    "\n"
    "How to make it\n"
    "    --method M         builtin, tetgen, or auto: tetgen if it is installed (default)\n"
    "    --size L           wanted edge of the tetrahedra; default: as coarse as the shape allows\n"
    "    --max N            most tetrahedra; default 200000\n"
    "    --min-angle D      refuse dihedral angles below D degrees; default 5 (builtin), none (tetgen)\n"
    "    --ratio R          radius-edge ratio tetgen aims at, > 1; default 1.4\n"
    "    --keep-surface     the body's surface is exactly the input's (tetgen only)\n"
    "\n"
    "How to read\n"
    "    --scale S          multiply all coordinates, e.g. 0.001 for millimetres\n"
    "    --weld D           vertices nearer than D are one; default a millionth of the diagonal\n"
    "    --fill-holes       close holes with flat patches\n"
    "\n"
    "    -q                 say nothing but errors\n"
    "    --help, --version\n"
    "\n"
    "Exit status: 0 done, 1 the input cannot be used or something failed, 2 wrong usage.\n";

/* ---- [options] --------------------------------------------------------------------------------------------------- */

static void tet_job_default(tet_job *job) {
    memset(job, 0, sizeof *job);
    job->build.ratio = 1.4;
    job->build.min_angle = -1.0;
    job->build.max_cells = 200000;
    job->repair.weld = -1.0;
    job->scale = 1.0;
}

static const char *tet_option_value(tet_tool *tool, char **argv, int *i) {
    if (!argv[*i + 1]) tet_fail(tool, "%s needs a value (--help tells more)", argv[*i]);
    return argv[++*i];
}

static double tet_option_number(tet_tool *tool, char **argv, int *i, double lowest, double highest) {
    const char *option = argv[*i], *text = tet_option_value(tool, argv, i);
    char *end;
    double value = strtod(text, &end);
    if (end == text || *end || !(value >= lowest && value <= highest)) {
        tet_fail(tool, "%s %s: a number from %g to %g is expected", option, text, lowest, highest);
    }
    return value;
}

static tet_method tet_option_method(tet_tool *tool, const char *text) {
    if (strcmp(text, "builtin") == 0) return TET_METHOD_BUILTIN;
    if (strcmp(text, "tetgen") == 0) return TET_METHOD_TETGEN;
    if (strcmp(text, "auto") == 0) return TET_METHOD_AUTO;
    tet_fail(tool, "--method %s: builtin, tetgen or auto is expected", text);
}

static const char *tet_option_name(tet_tool *tool, const char *text) {
    char same[128];
    tet_array_name(text, same, sizeof same);
    if (strcmp(text, same) != 0) tet_fail(tool, "--name %s: letters, digits and underscores are expected", text);
    return text;
}

static bool tet_option_switch(tet_job *job, const char *option) {
    if (strcmp(option, "--c-array") == 0) return job->c_array = true;
    if (strcmp(option, "--info") == 0) return job->info = true;
    if (strcmp(option, "--json") == 0) return job->json = true;
    if (strcmp(option, "--body") == 0) return job->body = true;
    if (strcmp(option, "--shell") == 0) return job->repair.shell = true;
    if (strcmp(option, "--keep-surface") == 0) return job->build.keep_surface = true;
    if (strcmp(option, "--fill-holes") == 0) return job->repair.fill_holes = true;
    if (strcmp(option, "-q") == 0 || strcmp(option, "--quiet") == 0) return job->quiet = true;
    if (strcmp(option, "--help") == 0 || strcmp(option, "-h") == 0) return job->help = true;
    if (strcmp(option, "--version") == 0) return job->version = true;
    return false;
}

static bool tet_option_valued(tet_tool *tool, tet_job *job, char **argv, int *i) {
    const char *option = argv[*i];
    if (strcmp(option, "-o") == 0) job->output = tet_option_value(tool, argv, i);
    else if (strcmp(option, "--obj") == 0) job->obj = tet_option_value(tool, argv, i);
    else if (strcmp(option, "--name") == 0) job->name = tet_option_name(tool, tet_option_value(tool, argv, i));
    else if (strcmp(option, "--method") == 0)
        job->build.method = tet_option_method(tool, tet_option_value(tool, argv, i));
    else if (strcmp(option, "--size") == 0) job->build.size = tet_option_number(tool, argv, i, 1e-9, 1e12);
    else if (strcmp(option, "--max") == 0) job->build.max_cells = (int)tet_option_number(tool, argv, i, 1, 1e8);
    else if (strcmp(option, "--min-angle") == 0) job->build.min_angle = tet_option_number(tool, argv, i, 0, 70);
    else if (strcmp(option, "--ratio") == 0) job->build.ratio = tet_option_number(tool, argv, i, 1, 100);
    else if (strcmp(option, "--density") == 0) job->density = tet_option_number(tool, argv, i, 1e-6, 1e9);
    else if (strcmp(option, "--scale") == 0) job->scale = tet_option_number(tool, argv, i, 1e-9, 1e9);
    else if (strcmp(option, "--weld") == 0) job->repair.weld = tet_option_number(tool, argv, i, 0, 1e12);
    else return false;
    return true;
}

static void tet_parse(tet_tool *tool, void *ctx) {
    char **argv = ((char ***)ctx)[0];
    tet_job *job = ((tet_job **)ctx)[1];
    int i;
    for (i = 1; argv[i]; ++i) {
        if (tet_option_switch(job, argv[i]) || tet_option_valued(tool, job, argv, &i)) continue;
        if (argv[i][0] == '-' && argv[i][1]) tet_fail(tool, "%s is not an option (--help tells them)", argv[i]);
        if (job->input) tet_fail(tool, "more than one input: %s and %s", job->input, argv[i]);
        job->input = argv[i];
    }
    if (job->help || job->version) return;
    if (!job->input) tet_fail(tool, "no input (--help tells more)");
    if (!job->output && !job->info && !job->obj) tet_fail(tool, "nothing to do: give -o OUTPUT, --info or --obj FILE");
    if (job->repair.shell && job->build.keep_surface)
        tet_fail(tool, "--shell keeps the surface anyway: drop --keep-surface");
}

/* ---- [files] ----------------------------------------------------------------------------------------------------- */

static tet_bytes tet_load(tet_tool *tool, const char *path) {
    FILE *file = fopen(path, "rb");
    tet_bytes b;
    size_t room = 1 << 16, got;
    memset(&b, 0, sizeof b);
    if (!file) tet_fail(tool, "cannot open it");
    b.data = (unsigned char *)tet_alloc(tool, room, 1);
    while ((got = fread(b.data + b.size, 1, room - b.size - 1, file)) > 0) {
        b.size += got;
        if (room - b.size < 2) b.data = (unsigned char *)tet_resize(tool, b.data, room *= 2, 1);
    }
    if (ferror(file)) {
        fclose(file);
        tet_fail(tool, "cannot read it");
    }
    fclose(file);
    b.data[b.size] = 0;
    return b;
}

/* Written beside the target and renamed: whoever looks sees the old file or the whole new one. */
static void tet_store(tet_tool *tool, tet_job *job, const char *path, const void *data, size_t size) {
    FILE *file;
    bool good;
    int length = snprintf(job->part, sizeof job->part, "%s.part", path);
    if (length < 0 || (size_t)length >= sizeof job->part) tet_fail(tool, "the name of the output is too long");
    file = fopen(job->part, "wb");
    if (!file) {
        job->part[0] = 0;
        tet_fail(tool, "cannot write %s", path);
    }
    good = fwrite(data, 1, size, file) == size;
    good = fclose(file) == 0 && good;
#if defined(_WIN32)
    if (good) remove(path);
#endif
    if (!good || rename(job->part, path) != 0) tet_fail(tool, "cannot write %s", path);
    job->part[0] = 0;
}

/* ---- [work] ------------------------------------------------------------------------------------------------------ */

static void tet_open_asset(tet_tool *tool, const tet_bytes *b, ipbd_asset *asset) {
    size_t scratch = ipbd_asset_scratch_bytes(b->data, b->size);
    void *memory = tet_alloc(tool, scratch + 1, 1);
    isphpbd_result result = ipbd_asset_open(b->data, b->size, memory, scratch, asset);
    if (result == ISPHPBD_BAD_MESH) tet_fail(tool, "the asset holds an index or a number out of range");
    if (result != ISPHPBD_OK) tet_fail(tool, "the asset is cut off, corrupted or of another version");
}

static void tet_write_outputs(tet_tool *tool, tet_job *job, const tet_bytes *b, const ipbd_asset *asset) {
    if (job->obj) {
        tet_text text = tet_obj(tool, asset, job->body);
        tet_store(tool, job, job->obj, text.data, (size_t)text.size);
    }
    if (!job->output) return;
    if (job->c_array) {
        char name[128];
        tet_text text;
        tet_array_name(job->output, name, sizeof name);
        text = tet_c_array(tool, b, job->name ? job->name : name);
        tet_store(tool, job, job->output, text.data, (size_t)text.size);
    } else {
        tet_store(tool, job, job->output, b->data, b->size);
    }
}

static tet_asset tet_make_asset(tet_tool *tool, const tet_job *job, tet_surface *s, const tet_health *health) {
    double density = job->density > 0.0 ? job->density : job->repair.shell ? 0.2 : 1000.0;
    tet_asset asset;
    tet_mesh mesh;
    tet_method method;
    if (job->repair.shell) {
        tet_refuse_non_manifold(tool, health);
        if (health->crossings.count)
            tet_report(tool, "warning: %d pairs of faces cut each other", health->crossings.count);
        return tet_make_shell(tool, s, health, density);
    }
    tet_refuse(tool, s, health);
    method = tet_build(tool, s, health->volume, &job->build, &mesh);
    asset = tet_make_solid(tool, &mesh, s, health, density);
    if (method == TET_METHOD_TETGEN && job->build.keep_surface) asset.flags |= IPBD_ASSET_KEPT_SURFACE;
    tet_progress_end(tool);
    tet_report(tool, "%s: %d vertices, %d tetrahedra; volume %+.3f %%; smallest dihedral angle %.1f degrees",
               method == TET_METHOD_TETGEN ? "tetgen" : "builtin", mesh.point_count, mesh.cell_count,
               100.0 * (tet_mesh_volume(&mesh) / health->volume - 1.0), tet_mesh_quality(&mesh).angle_min);
    tet_report(tool, "embedded %d vertices, %d outside their tetrahedron, by %g at most", asset.skin_count,
               asset.embedding.outside, asset.embedding.farthest);
    return asset;
}

static void tet_work_on_mesh(tet_tool *tool, tet_job *job, const tet_bytes *b) {
    tet_surface s;
    tet_kind kind = tet_read(tool, (const char *)b->data, b->size, &s);
    tet_health health;
    tet_asset asset;
    tet_bytes bytes;
    ipbd_asset opened;
    int i;
    for (i = 0; i < s.point_count; ++i) s.points[i] = tet_scale(s.points[i], job->scale);
    health = tet_repair(tool, &s, &job->repair);
    if (job->info) {
        if (job->json) tet_info_mesh_json(stdout, &s, &health, tet_kind_name(kind));
        else tet_info_mesh_text(stdout, &s, &health, tet_kind_name(kind));
        if (!job->output && !job->obj) return;
    }
    asset = tet_make_asset(tool, job, &s, &health);
    bytes = tet_asset_bytes(tool, &asset);
    tet_open_asset(tool, &bytes, &opened);
    tet_write_outputs(tool, job, &bytes, &opened);
}

static void tet_work(tet_tool *tool, void *ctx) {
    tet_job *job = (tet_job *)ctx;
    tet_bytes b = tet_load(tool, job->input);
    ipbd_asset asset;
    if (b.size < 8 || memcmp(b.data, "IPBDTETA", 8) != 0) {
        tet_work_on_mesh(tool, job, &b);
        return;
    }
    tet_open_asset(tool, &b, &asset);
    if (job->info) tet_info_asset(tool, stdout, &asset, job->json);
    tet_write_outputs(tool, job, &b, &asset);
}

int main(int argc, char **argv) {
    tet_tool tool;
    tet_job job;
    void *parse[2];
    bool good;
    (void)argc;
    tet_tool_begin(&tool);
    tet_job_default(&job);
    parse[0] = argv, parse[1] = &job;
    if (!tet_guard(&tool, tet_parse, parse)) {
        fprintf(stderr, "isphpbd-tet: %s\n", tool.message);
        return 2;
    }
    if (job.help) return fputs(tet_help_text, stdout), 0;
    if (job.version) {
        printf("isphpbd-tet %d.%d.%d, assets of version %u\n", ISPHPBD_VERSION / 10000, ISPHPBD_VERSION / 100 % 100,
               ISPHPBD_VERSION % 100, IPBD_ASSET_VERSION);
        return 0;
    }
    tool.quiet = job.quiet;
    tool.verbose_report = true;
    good = tet_guard(&tool, tet_work, &job);
    tet_progress_end(&tool);
    if (!good) fprintf(stderr, "isphpbd-tet: %s: %s\n", job.input, tool.message);
    if (job.part[0]) remove(job.part);
    tet_remove_folder(&tool);
    tet_tool_end(&tool);
    return good ? 0 : 1;
}
