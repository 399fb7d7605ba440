/* test_tool_cli.c - isphpbd-tet as a user meets it: options, exit status, messages, files left behind or not. */
#if !defined(_WIN32)
#define _XOPEN_SOURCE 700
#endif
#define ISPHPBD_STATIC
#include "greatest.h"
#include "tool_shapes.h"

static tet_tool tool;
static char build[256], folder[300];

/* ---- running ----------------------------------------------------------------------------------------------------- */

static char *path_of(const char *name) { /* one of eight buffers in turn: enough for one command */
    static char buffers[8][512];
    static int next;
    char *path = buffers[next++ % 8];
    snprintf(path, 512, "%s/%s", folder, name);
    return path;
}

static bool exists(const char *name) {
    FILE *file = fopen(path_of(name), "rb");
    if (file) fclose(file);
    return file != NULL;
}

typedef struct file_text {
    char *data; /* ends with a NUL; to be freed */
    size_t size;
} file_text;

static file_text contents(const char *name) {
    FILE *file = fopen(path_of(name), "rb");
    file_text text;
    text.data = (char *)calloc(1, 1 << 22);
    text.size = text.data && file ? fread(text.data, 1, (1 << 22) - 1, file) : 0;
    if (file) fclose(file);
    return text;
}

/* Runs the tool with arguments in the test's folder; output goes to out.txt and err.txt. Answers the exit status. */
static int run(const char *arguments) {
    char command[2048];
    int status;
    snprintf(command, sizeof command, "\"%s/isphpbd-tet\" %s >\"%s\" 2>\"%s\"", build, arguments, path_of("out.txt"),
             path_of("err.txt"));
    status = system(command);
    return status == -1 ? -1 : (status >> 8) & 0xff;
}

/* Does the text of a stream contain the word? */
static bool says(const char *name, const char *word) {
    file_text text = contents(name);
    bool found = text.data && strstr(text.data, word) != NULL;
    free(text.data);
    return found;
}

static long size_of(const char *name) {
    file_text text = contents(name);
    free(text.data);
    return (long)text.size;
}

static bool same_files(const char *a, const char *b) {
    file_text x = contents(a), y = contents(b);
    bool same = x.data && y.data && x.size == y.size && x.size > 0 && memcmp(x.data, y.data, x.size) == 0;
    free(x.data);
    free(y.data);
    return same;
}

static int lines_of(const char *name) {
    file_text text = contents(name);
    size_t i;
    int lines = 0;
    for (i = 0; i < text.size; ++i) lines += text.data[i] == '\n';
    free(text.data);
    return lines;
}

/* A pyramid stands with its tip on the face of a box: no face cuts another, yet TetGen crashes on it. */
static const char touching[] = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\nv 0 0 1\nv 1 0 1\nv 0 1 1\nv 1 1 1\nv 0.4 0.3 1\nv "
                               "0 0 2\nv 1 0 2\nv 1 1 2\nv 0 1 2\n"
                               "f 1 3 4 2\nf 5 6 8 7\nf 1 2 6 5\nf 3 7 8 4\nf 1 5 7 3\nf 2 4 8 6\n"
                               "f 9 11 10\nf 9 12 11\nf 9 13 12\nf 9 10 13\nf 10 11 12 13\n";

static void write_inputs(tet_tool *t, void *ctx) {
    tet_surface torus, box, two;
    tet_text text;
    (void)ctx;
    memset(&torus, 0, sizeof torus), memset(&box, 0, sizeof box), memset(&two, 0, sizeof two);
    shape_torus(t, &torus);
    text = shape_write(t, &torus, SHAPE_OBJ), shape_save(path_of("torus.obj"), text.data, (size_t)text.size);
    text = shape_write(t, &torus, SHAPE_PLY_BIG), shape_save(path_of("torus.xyz"), text.data, (size_t)text.size);
    shape_box(t, &box, tet_v(0, 0, 0), tet_v(1, 1, 1), false);
    text = shape_write(t, &box, SHAPE_STL_BINARY), shape_save(path_of("box.stl"), text.data, (size_t)text.size);
    box.triangle_count -= 2;
    text = shape_write(t, &box, SHAPE_OFF), shape_save(path_of("open.off"), text.data, (size_t)text.size);
    shape_box(t, &two, tet_v(0, 0, 0), tet_v(1, 1, 1), false),
        shape_box(t, &two, tet_v(0.5, 0.4, 0.3), tet_v(2, 2, 2), false);
    text = shape_write(t, &two, SHAPE_OBJ), shape_save(path_of("crossing.obj"), text.data, (size_t)text.size);
    shape_save(path_of("touching.obj"), touching, sizeof touching - 1);
    shape_save(path_of("garbage.obj"), "\1\2\3nothing", 10);
}

static char *args(const char *format, const char *a, const char *b) {
    static char text[1500];
    snprintf(text, sizeof text, format, path_of(a), path_of(b));
    return text;
}

/* ---- tests ------------------------------------------------------------------------------------------------------- */

TEST help_and_version(void) {
    ASSERT_EQ_FMT(0, run("--help"), "%d");
    ASSERT(says("out.txt", "isphpbd-tet INPUT -o OUTPUT") && says("out.txt", "--keep-surface") &&
           says("out.txt", "Exit status"));
    ASSERT_EQ_FMT(0L, size_of("err.txt"), "%ld");
    ASSERT_EQ_FMT(0, run("--version"), "%d");
    ASSERT(says("out.txt", "assets of version 1"));
    PASS();
}

TEST wrong_usage_is_status_2_and_one_line(void) {
    static const char *const wrong[] = {"",
                                        "x.obj",
                                        "x.obj -o",
                                        "a b -o c",
                                        "x --size 0 -o y",
                                        "x --size z -o y",
                                        "x --method m -o y",
                                        "x --frobnicate -o y",
                                        "x --max 0 -o y",
                                        "x --name 1-2 -o y",
                                        "x --shell --keep-surface -o y"};
    size_t i;
    for (i = 0; i < sizeof wrong / sizeof *wrong; ++i) {
        ASSERT_EQ_FMTm(wrong[i], 2, run(wrong[i]), "%d");
        ASSERT_EQ_FMTm(wrong[i], 1, lines_of("err.txt"), "%d");
        ASSERT(says("err.txt", "isphpbd-tet: "));
    }
    PASS();
}

TEST makes_an_asset_and_says_so(void) {
    ASSERT_EQ_FMT(0, run(args("\"%s\" -o \"%s\" --method builtin", "torus.obj", "torus.tet")), "%d");
    ASSERT(says("err.txt", "tetrahedra") && says("err.txt", "volume"));
    ASSERT(exists("torus.tet") && !exists("torus.tet.part"));
    ASSERT_EQ_FMT(0, run(args("\"%s\" --info", "torus.tet", "")), "%d");
    ASSERT(says("out.txt", "solid, closed") && says("out.txt", "quality") && says("out.txt", "edges in"));
    ASSERT_EQ_FMT(0, run(args("\"%s\" --info --json", "torus.tet", "")), "%d");
    ASSERT(says("out.txt", "\"dihedral_min\": ") && says("out.txt", "\"not_positive\": 0"));
    ASSERT_EQ_FMT(1, lines_of("out.txt"), "%d");
    PASS();
}

TEST the_name_does_not_matter_and_quiet_is_quiet(void) {
    ASSERT_EQ_FMT(0, run(args("\"%s\" -o \"%s\" --method builtin -q", "torus.xyz", "torus2.tet")), "%d");
    ASSERT_EQ_FMT(0L, size_of("err.txt"), "%ld");
    ASSERT_EQ_FMT(0L, size_of("out.txt"), "%ld");
    ASSERT(exists("torus2.tet"));
    PASS();
}

TEST same_input_same_bytes(void) {
    ASSERT_EQ_FMT(0, run(args("\"%s\" -o \"%s\" --method builtin -q", "torus.obj", "one.tet")), "%d");
    ASSERT_EQ_FMT(0, run(args("\"%s\" -o \"%s\" --method builtin -q", "torus.obj", "two.tet")), "%d");
    ASSERT(same_files("one.tet", "two.tet"));
    if (!tet_tetgen_installed()) SKIPm("tetgen is not installed");
    ASSERT_EQ_FMT(0, run(args("\"%s\" -o \"%s\" --method tetgen -q", "torus.obj", "one.tet")), "%d");
    ASSERT_EQ_FMT(0, run(args("\"%s\" -o \"%s\" --method tetgen -q", "torus.obj", "two.tet")), "%d");
    ASSERT(same_files("one.tet", "two.tet"));
    PASS();
}

TEST refusals_leave_nothing_behind(void) {
    static const char *const bad[][2] = {{"open.off", "the surface is open"},
                                         {"crossing.obj", "cuts through itself"},
                                         {"garbage.obj", "not a mesh"},
                                         {"missing.obj", "cannot open"}};
    size_t i;
    for (i = 0; i < 4; ++i) {
        ASSERT_EQ_FMT(1, run(args("\"%s\" -o \"%s\" -q --method builtin", bad[i][0], "never.tet")), "%d");
        ASSERT_EQ_FMTm(bad[i][0], 1, lines_of("err.txt"), "%d");
        ASSERTm(bad[i][1], says("err.txt", bad[i][1]));
        ASSERTm(bad[i][0], says("err.txt", bad[i][0]));
        ASSERT(!exists("never.tet") && !exists("never.tet.part"));
    }
    PASS();
}

TEST holes_can_be_filled_and_shells_may_be_open(void) {
    ASSERT_EQ_FMT(0, run(args("\"%s\" -o \"%s\" --fill-holes --method builtin", "open.off", "filled.tet")), "%d");
    ASSERT(says("err.txt", "filled 1 holes"));
    ASSERT_EQ_FMT(0, run(args("\"%s\" -o \"%s\" --shell -q", "open.off", "shell.tet")), "%d");
    ASSERT_EQ_FMT(0, run(args("\"%s\" --info", "shell.tet", "")), "%d");
    ASSERT(says("out.txt", "shell, open") && says("out.txt", "10 surface triangles"));
    ASSERT_EQ_FMT(0, run(args("\"%s\" --info", "open.off", "")), "%d");
    ASSERT(says("out.txt", "problem     1 holes"));
    PASS();
}

TEST obj_comes_back_as_it_was(void) {
    ASSERT_EQ_FMT(0, run(args("\"%s\" -o \"%s\" --method builtin -q", "torus.obj", "torus.tet")), "%d");
    ASSERT_EQ_FMT(0, run(args("\"%s\" --obj \"%s\" -q", "torus.tet", "back.obj")), "%d");
    ASSERT_EQ_FMT(0, run(args("\"%s\" --info --json", "back.obj", "")), "%d");
    ASSERT(says("out.txt", "\"vertices\": 2048, \"triangles\": 4096"));
    ASSERT_EQ_FMT(0, run(args("\"%s\" --obj \"%s\" --body -q", "torus.tet", "body.obj")), "%d");
    ASSERT_EQ_FMT(0, run(args("\"%s\" --info", "body.obj", "")), "%d");
    ASSERT(says("out.txt", "closed") && !says("out.txt", "problem"));
    PASS();
}

TEST c_array_compiles_and_opens(void) {
    const char *compiler = getenv("CC");
    char command[2048];
    static const char program[] =
        "#define IPBD_IMPLEMENTATION\n#include \"isphpbd_pbd.h\"\n#include \"box.h\"\n"
        "int main(void) { ipbd_asset a;\n"
        "return ipbd_asset_open(crate.bytes, sizeof crate.bytes, NULL, 0, &a) != ISPHPBD_OK ||"
        " a.tetrahedron_count < 10; }\n";
    ASSERT_EQ_FMT(
        0, run(args("\"%s\" -o \"%s\" --c-array --name crate --size 0.5 --method builtin -q", "box.stl", "box.h")),
        "%d");
    ASSERT(shape_save(path_of("array.c"), program, sizeof program - 1));
    snprintf(command, sizeof command, "%s -std=c99 -I. -I\"%s\" -o \"%s\" \"%s\" -lm",
             compiler && *compiler ? compiler : "cc", folder, path_of("array"), path_of("array.c"));
    ASSERT_EQ_FMT(0, system(command), "%d");
    ASSERT_EQ_FMT(0, system(path_of("array")), "%d");
    PASS();
}

TEST scale_and_density(void) {
    ASSERT_EQ_FMT(0, run(args("\"%s\" -o \"%s\" --scale 0.1 --density 500 --method builtin -q", "box.stl", "box.tet")),
                  "%d");
    ASSERT_EQ_FMT(0, run(args("\"%s\" --info", "box.tet", "")), "%d");
    ASSERT(says("out.txt", "mass        0.5 kg at density 500") && says("out.txt", "volume 0.001 m^3"));
    PASS();
}

TEST damaged_assets_are_refused(void) {
    file_text text;
    ASSERT_EQ_FMT(0, run(args("\"%s\" -o \"%s\" --method builtin --size 0.5 -q", "box.stl", "box.tet")), "%d");
    text = contents("box.tet");
    ASSERT(text.size > 160);
    ASSERT(shape_save(path_of("cut.tet"), text.data, text.size - 16));
    free(text.data);
    ASSERT_EQ_FMT(1, run(args("\"%s\" --info", "cut.tet", "")), "%d");
    ASSERT(says("err.txt", "cut off, corrupted or of another version"));
    PASS();
}

TEST tetgen_through_the_program(void) {
    if (!tet_tetgen_installed()) {
        ASSERT_EQ_FMT(1, run(args("\"%s\" -o \"%s\" --method tetgen", "box.stl", "never.tet")), "%d");
        ASSERT(says("err.txt", "tetgen is not installed"));
        SKIPm("tetgen is not installed");
    }
    ASSERT_EQ_FMT(0, run(args("\"%s\" -o \"%s\" --method tetgen --keep-surface", "torus.obj", "kept.tet")), "%d");
    ASSERT(says("err.txt", "tetgen: "));
    ASSERT_EQ_FMT(0, run(args("\"%s\" --info", "kept.tet", "")), "%d");
    ASSERT(says("out.txt", "kept surface") && says("out.txt", "4096 surface triangles"));
    PASS();
}

/* Temporary folders of the tool in the test's own folder. */
static int temporary_folders(void) {
    DIR *directory = opendir(folder);
    struct dirent *entry;
    int count = 0;
    while (directory && (entry = readdir(directory)) != NULL) count += strncmp(entry->d_name, "isphpbd-tet-", 12) == 0;
    if (directory) closedir(directory);
    return count;
}

TEST a_crash_of_tetgen_is_an_error_like_any_other(void) {
    if (!tet_tetgen_installed()) SKIPm("tetgen is not installed");
    ASSERT_EQ_FMT(0, setenv("TMPDIR", folder, 1), "%d");
    ASSERT_EQ_FMT(1, run(args("\"%s\" -o \"%s\" --method tetgen --keep-surface -q", "touching.obj", "never.tet")),
                  "%d");
    ASSERT(says("err.txt", "tetgen made no mesh"));
    ASSERT_EQ_FMT(1, lines_of("err.txt"), "%d");
    ASSERT(!exists("never.tet"));
    ASSERT_EQ_FMT(0, run(args("\"%s\" -o \"%s\" --method tetgen -q", "torus.obj", "torus.tet")), "%d");
    ASSERT_EQ_FMT(0, temporary_folders(), "%d");
    PASS();
}

SUITE(program) {
    RUN_TEST(help_and_version);
    RUN_TEST(wrong_usage_is_status_2_and_one_line);
    RUN_TEST(makes_an_asset_and_says_so);
    RUN_TEST(the_name_does_not_matter_and_quiet_is_quiet);
    RUN_TEST(same_input_same_bytes);
    RUN_TEST(refusals_leave_nothing_behind);
    RUN_TEST(holes_can_be_filled_and_shells_may_be_open);
    RUN_TEST(obj_comes_back_as_it_was);
    RUN_TEST(c_array_compiles_and_opens);
    RUN_TEST(scale_and_density);
    RUN_TEST(damaged_assets_are_refused);
    RUN_TEST(tetgen_through_the_program);
    RUN_TEST(a_crash_of_tetgen_is_an_error_like_any_other);
}

GREATEST_MAIN_DEFS();
int main(int argc, char **argv) {
    const char *where = getenv("BUILD");
    GREATEST_MAIN_BEGIN();
    snprintf(build, sizeof build, "%s", where && *where ? where : "build");
    snprintf(folder, sizeof folder, "%s/test-tool", build);
    if (mkdir(folder, 0777) != 0 && !exists("torus.obj")) printf("using the folder %s\n", folder);
    tet_tool_begin(&tool);
    tool.quiet = true;
    if (!tet_guard(&tool, write_inputs, NULL)) printf("no inputs: %s\n", tool.message);
    tet_tool_end(&tool);
    RUN_SUITE(program);
    GREATEST_MAIN_END();
}
