/* play.c - plays the scenes of the project: numbers, checks, pictures, animations, geometry. SPDX: MIT

   build/play --list              what there is
   build/play dam_break           plays it and says whether the physics held
   build/play dam_break --help    all options, and the settings of the scene

   Exit code: 0 all checks hold, 1 a check failed, 2 wrong usage or a file that cannot be written. */
#define _POSIX_C_SOURCE 200809L /* clock_gettime, isatty */
#define ISPHPBD_IMPLEMENTATION
#define EXAMPLES_IMPLEMENTATION
#include "isphpbd.h"

#include "recorder.h"
#include "scenes.h"
#include "threads.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#if defined(__unix__) || defined(__APPLE__)
#include <unistd.h>
#endif

/* ---- options ----------------------------------------------------------------------------------------------------- */

typedef struct play_options {
    const char *name, *gallery;
    scene_options scene;
    recorder_options recorder;
    int threads;
    bool list, json, help, demo, quiet, scaled; /* scaled: --scale was given */
} play_options;

static const char play_usage[] =
    "usage: play NAME [options]   play NAME --help   play --list   play --demo [NAME]   play --gallery DIR [NAME]\n"
    "  --demo            a small run with build/demo.png and build/demo.apng\n"
    "  --seconds S       how much time to simulate (default: the scene's own)\n"
    "  --dt S            length of a step\n"
    "  --threads N       default: all cores\n"
    "  --scale F         number of particles relative to the scene's own\n"
    "  --set KEY=VALUE   a setting of the scene; play NAME --help lists them\n"
    "  --json            one JSON object instead of text\n"
    "  --png DIR         pictures          --fps N        pictures per second as shown (20)\n"
    "  --sheet FILE      contact sheet     --shots N      pictures on it (6)\n"
    "  --apng FILE       animation         --size WxH     of a picture (480x360)\n"
    "  --obj DIR         solids and particles for Blender\n"
    "  --ply DIR         particles with velocity, density and pressure for ParaView, Blender, SPlisHSPlasH\n"
    "  --view V          surface, pressure, error or speed\n"
    "  --quiet           no progress bar\n"
    "exit code 1: a check failed; 2: wrong usage or a file that cannot be written\n";

static bool play_fail(const char *what, const char *value) {
    fprintf(stderr, "play: %s '%s'; --help shows the options\n", what, value);
    return false;
}

static bool play_number(const char *text, double lo, double hi, double *out) {
    char *end;
    *out = strtod(text, &end);
    return end != text && *end == '\0' && *out >= lo && *out <= hi;
}

static bool play_set_view(play_options *o, const char *text) {
    static const char *const names[VIEW_COUNT] = {"surface", "pressure", "error", "speed"};
    int i;
    for (i = 0; i < VIEW_COUNT; ++i)
        if (strcmp(text, names[i]) == 0) return o->recorder.view = i, true;
    return play_fail("--view wants surface, pressure, error or speed, not", text);
}

static bool play_set_size(play_options *o, const char *text) {
    char rest;
    if (sscanf(text, "%dx%d%c", &o->recorder.width, &o->recorder.height, &rest) == 2 && o->recorder.width >= 16 &&
        o->recorder.height >= 16 && o->recorder.width <= 8192 && o->recorder.height <= 8192)
        return true;
    return play_fail("--size wants WIDTHxHEIGHT, not", text);
}

enum { PLAY_SECONDS, PLAY_DT, PLAY_SCALE, PLAY_THREADS, PLAY_FPS, PLAY_SHOTS, PLAY_NUMBERS, PLAY_WHOLE = PLAY_THREADS };

static const struct {
    const char *name;
    double lo, hi;
} play_numbers[PLAY_NUMBERS] = {{"--seconds", 1e-6, 1e6}, {"--dt", 1e-6, 0.1}, {"--scale", 1e-3, 1e3},
                                {"--threads", 1, 64},     {"--fps", 1, 1000},  {"--shots", 2, RECORDER_SHOTS}};

static bool play_set_number(play_options *o, int option, const char *text) {
    double lo = play_numbers[option].lo, hi = play_numbers[option].hi, v;
    bool whole = option >= PLAY_WHOLE;
    if (!play_number(text, lo, hi, &v) || (whole && v != floor(v))) {
        fprintf(stderr, "play: %s wants a %snumber from %g to %g, not '%s'\n", play_numbers[option].name,
                whole ? "whole " : "", lo, hi, text);
        return false;
    }
    switch (option) {
        case PLAY_SECONDS: o->scene.seconds = (float)v; break;
        case PLAY_DT: o->scene.dt = (float)v; break;
        case PLAY_SCALE: o->scene.scale = (float)v, o->scaled = true; break;
        case PLAY_THREADS: o->threads = (int)v; break;
        case PLAY_FPS: o->recorder.fps = (int)v; break;
        default: o->recorder.shots = (int)v; break;
    }
    return true;
}

static bool play_set_option(play_options *o, const char *name, const char *value) {
    int i;
    for (i = 0; i < PLAY_NUMBERS; ++i)
        if (strcmp(name, play_numbers[i].name) == 0) return play_set_number(o, i, value);
    if (strcmp(name, "--set") == 0)
        return scene_options_set(&o->scene, value) || play_fail("--set wants KEY=NUMBER, at most 16 times, not", value);
    if (strcmp(name, "--view") == 0) return play_set_view(o, value);
    if (strcmp(name, "--size") == 0) return play_set_size(o, value);
    if (strcmp(name, "--png") == 0) return o->recorder.png_dir = value, true;
    if (strcmp(name, "--sheet") == 0) return o->recorder.sheet = value, true;
    if (strcmp(name, "--apng") == 0) return o->recorder.apng = value, true;
    if (strcmp(name, "--obj") == 0) return o->recorder.obj_dir = value, true;
    if (strcmp(name, "--ply") == 0) return o->recorder.ply_dir = value, true;
    if (strcmp(name, "--gallery") == 0) return o->gallery = value, true;
    return play_fail("unknown option", name);
}

static bool play_set_flag(play_options *o, const char *name) {
    if (strcmp(name, "--list") == 0) return o->list = true;
    if (strcmp(name, "--json") == 0) return o->json = true;
    if (strcmp(name, "--demo") == 0) return o->demo = true;
    if (strcmp(name, "--quiet") == 0) return o->quiet = true;
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) return o->help = true;
    return false;
}

/* --name value, or --name=value (then nothing of the next argument is used). */
static bool play_parse_option(play_options *o, char *text, const char *next, bool *used_next) {
    char *equals = strchr(text, '=');
    *used_next = !equals;
    if (equals) *equals = '\0', next = equals + 1;
    if (next) return play_set_option(o, text, next);
    return play_fail("unknown option, or its value is missing:", text);
}

static bool play_parse(play_options *o, int argc, char **argv) {
    bool used_next;
    int i;
    memset(o, 0, sizeof *o);
    o->scene = scene_options_default();
    o->recorder = recorder_options_default();
    o->threads = threads_available();
    for (i = 1; i < argc; ++i) {
        if (argv[i][0] != '-') {
            if (o->name) return play_fail("one scene at a time, not also", argv[i]);
            o->name = argv[i];
        } else if (!play_set_flag(o, argv[i])) {
            if (!play_parse_option(o, argv[i], i + 1 < argc ? argv[i + 1] : NULL, &used_next)) return false;
            i += used_next;
        }
    }
    if (o->name || o->list || o->demo || o->gallery || o->help) return true;
    fputs(play_usage, stderr);
    return false;
}

/* ---- progress ---------------------------------------------------------------------------------------------------- */

static double play_wall(void) {
#if defined(__unix__) || defined(__APPLE__)
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
#else
    return (double)clock() / CLOCKS_PER_SEC;
#endif
}

static uint64_t play_ticks(void *user) { return (void)user, (uint64_t)(1e9 * play_wall()); }

static bool play_on_terminal(void) {
#if defined(__unix__) || defined(__APPLE__)
    return isatty(2) != 0;
#else
    return false;
#endif
}

typedef struct play_progress {
    double start, shown;
    bool bar, lines;
    int tenths;
} play_progress;

/* A bar on a terminal; elsewhere a line at every tenth, where wanted. */
static void play_show_progress(play_progress *p, const scene *s) {
    enum { WIDTH = 32 };
    char bar[WIDTH + 1];
    double now = play_wall(), share = (double)s->time / (double)s->seconds, left;
    int i;
    if (share > 1.0) share = 1.0;
    left = share > 0.0 ? (now - p->start) * (1.0 / share - 1.0) : 0.0;
    if (p->bar && (now - p->shown > 0.1 || share == 1.0)) {
        for (i = 0; i < WIDTH; ++i) bar[i] = i < (int)(share * (double)WIDTH) ? '#' : '.';
        bar[WIDTH] = '\0';
        fprintf(stderr, "\r%s [%s] %3d%%  t = %.2f s  %d s left ", s->def->name, bar, (int)(100.0 * share),
                (double)s->time, (int)(left + 0.5));
        if (share == 1.0) fputc('\n', stderr);
        p->shown = now;
    } else if (p->lines && (int)(10.0 * share) > p->tenths) {
        p->tenths = (int)(10.0 * share);
        fprintf(stderr, "%s: %d%%, %d s left\n", s->def->name, 10 * p->tenths, (int)(left + 0.5));
    }
}

/* ---- playing ----------------------------------------------------------------------------------------------------- */

typedef struct play_times {
    double *cpu, *wall;
    int count, capacity;
} play_times; /* s per step */

static void play_note_time(play_times *t, double cpu, double wall) {
    if (t->count == t->capacity) {
        int capacity = t->capacity ? 2 * t->capacity : 1024;
        double *a = (double *)realloc(t->cpu, (size_t)capacity * sizeof(double));
        double *b = (double *)realloc(t->wall, (size_t)capacity * sizeof(double));
        if (a) t->cpu = a;
        if (b) t->wall = b;
        if (!a || !b) return;
        t->capacity = capacity;
    }
    t->cpu[t->count] = cpu, t->wall[t->count++] = wall;
}

static int play_compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double play_median(double *values, int count) {
    if (count == 0) return 0.0;
    qsort(values, (size_t)count, sizeof *values, play_compare);
    return values[count / 2];
}

typedef struct play_summary {
    int particles, soft_vertices, triangles, constraints, bodies;
    double ms_cpu, ms_wall, particle_steps, density_error_mean;
    uint64_t hash;
} play_summary;

static play_summary play_summarise(const scene *s, play_times *times) {
    isphpbd_stats stats = isphpbd_world_stats(s->world);
    play_summary u;
    double total = 0.0;
    int i;
    memset(&u, 0, sizeof u);
    for (i = 0; i < times->count; ++i) total += times->wall[i];
    u.ms_cpu = 1e3 * play_median(times->cpu, times->count), u.ms_wall = 1e3 * play_median(times->wall, times->count);
    u.particles = stats.fluid_particles, u.soft_vertices = stats.soft_vertices, u.constraints = stats.constraints;
    u.triangles = stats.soft_triangles + isph_fluid_stats(s->fluid).triangles, u.bodies = stats.bodies + stats.softs;
    u.particle_steps = total > 0.0 ? (double)u.particles * s->steps / total : 0.0;
    u.density_error_mean = s->steps ? s->measures.density_error_sum / s->steps : 0.0;
    u.hash = scene_hash(s);
    return u;
}

static double play_volume_change(const scene *s) { return 1.0 / s->measures.deep_density - 1.0; }

static void play_print_json(const scene *s, const play_summary *u) {
    const scene_measures *m = &s->measures;
    int i;
    printf("{\"scene\": \"%s\", \"particles\": %d, \"soft_vertices\": %d, \"triangles\": %d, ", s->def->name,
           u->particles, u->soft_vertices, u->triangles);
    printf("\"constraints\": %d, \"bodies\": %d, \"dt\": %.9g, \"steps\": %d, \"simulated_seconds\": %.9g, ",
           u->constraints, u->bodies, (double)s->dt, s->steps, (double)s->time);
    printf("\"ms_per_step\": %.4g, \"wall_ms_per_step\": %.4g, \"particle_steps_per_second\": %.6g, ", u->ms_cpu,
           u->ms_wall, u->particle_steps);
    printf("\"pressure_iterations_mean\": %.4g, \"density_iterations_mean\": %.4g, ", m->pressure_iterations,
           m->density_iterations);
    printf("\"coupling_iterations_mean\": %.4g, \"coupling_mismatch_max\": %.4g, ", m->coupling_iterations,
           m->coupling_mismatch);
    printf("\"density_error_mean\": %.6g, \"density_error_max\": %.6g, \"volume_change\": %.6g, ",
           u->density_error_mean, m->density_error_max, play_volume_change(s));
    printf("\"leaked\": %d, \"nan\": %d, \"removed\": %d, \"allocations_while_stepping\": %d, ", scene_leaked(s),
           m->nan, m->removed, s->allocations);
    printf("\"bytes_peak\": %lu, \"hash\": \"%08lx%08lx\", \"checks\": [", (unsigned long)s->bytes_peak,
           (unsigned long)(u->hash >> 32), (unsigned long)(u->hash & 0xffffffffu));
    for (i = 0; i < s->check_count; ++i) {
        const scene_check *c = &s->checks[i];
        printf("%s{\"name\": \"%s\", \"value\": %.6g, \"limit\": %.6g, \"ok\": %s}", i ? ", " : "", c->name,
               c->value == c->value ? c->value : 1e300, c->limit, c->ok ? "true" : "false");
    }
    printf("]}\n");
}

static void play_print_text(const scene *s, const play_summary *u) {
    int i;
    printf("%s: %s\n", s->def->name, s->def->summary);
    printf("  %d particles, %d soft vertices, %d triangles, %d constraints\n", u->particles, u->soft_vertices,
           u->triangles, u->constraints);
    printf("  %d steps of %.4g ms: %.2f ms CPU, %.2f ms wall per step; hash %08lx%08lx\n", s->steps,
           1e3 * (double)s->dt, u->ms_cpu, u->ms_wall, (unsigned long)(u->hash >> 32),
           (unsigned long)(u->hash & 0xffffffffu));
    for (i = 0; i < s->check_count; ++i) {
        const scene_check *c = &s->checks[i];
        printf("  %-4s %-28s %12.5g %s %g\n", c->ok ? "ok" : "FAIL", c->name, c->value,
               c->at_least ? ">=" : "<=", c->limit);
    }
}

/* What a failed check may only mean. */
static void play_note(FILE *out, const scene *s) {
    if (s->options.scale < 0.25f || !scene_complete(s))
        fprintf(out, "(checks are meant for --scale 0.25 and more and the whole time, %g s)\n",
                (double)s->def->seconds);
}

static void play_run(scene *s, recorder *r, play_progress *progress, play_times *times) {
    recorder_update(r, s);
    while (s->time < s->seconds - 0.5f * s->dt && !r->failed) {
        scene_step(s);
        play_note_time(times, s->step_cpu, s->step_wall);
        recorder_update(r, s);
        play_show_progress(progress, s);
    }
}

/* One scene from build to report; the exit code. */
static int play_scene(const play_options *o) {
    char message[1024] = "";
    scene *s = scene_create(o->name, &o->scene, message, sizeof message);
    play_times times = {NULL, NULL, 0, 0};
    play_progress progress;
    play_summary summary;
    recorder r;
    int code = 2;
    if (!s) return fprintf(stderr, "play: %s\n", message), 2;
    memset(&progress, 0, sizeof progress);
    progress.start = play_wall();
    progress.bar = play_on_terminal() && !o->quiet;
    progress.lines = o->demo && !progress.bar;
    if (recorder_begin(&r, s, &o->recorder)) play_run(s, &r, &progress, &times);
    if (recorder_end(&r, s)) {
        scene_finish(s);
        summary = play_summarise(s, &times);
        if (o->json) play_print_json(s, &summary);
        else play_print_text(s, &summary);
        play_note(o->json ? stderr : stdout, s);
        fflush(stdout);
        code = scene_ok(s) ? 0 : 1;
    } else {
        fprintf(stderr, "play: cannot write %s\n", r.failed);
    }
    free(times.cpu);
    free(times.wall);
    scene_destroy(s);
    return code;
}

static int play_list(void) {
    int i;
    for (i = 0; i < scene_count(); ++i) printf("%-20s %s\n", scene_at(i)->name, scene_at(i)->summary);
    return 0;
}

static void play_print_setting(const scene_key *key) {
    double lo, hi;
    bool whole;
    char text[64];
    if (!scene_setting_range(key->name, &lo, &hi, &whole)) return;
    snprintf(text, sizeof text, "%s=%g", key->name, key->value);
    printf("  %-28s %g .. %g%s\n", text, lo, hi, whole ? ", whole" : "");
}

/* The options, and what can be set of the scene: built at a hundredth of its size to see what it asks for. */
static int play_help(const play_options *o) {
    scene_options options = scene_options_default();
    char message[1024];
    scene *s;
    int i;
    fputs(play_usage, stdout);
    if (!o->name) return 0;
    options.scale = 0.01f;
    s = scene_create(o->name, &options, message, sizeof message);
    if (!s) return fprintf(stderr, "play: %s\n", message), 2;
    printf("\n%s: %s; %g s in steps of %.4g ms\nsettings:\n", s->def->name, s->def->summary, (double)s->def->seconds,
           1e3 * (double)s->def->dt);
    for (i = 0; i < s->setting_count; ++i) play_print_setting(&s->settings[i]);
    scene_destroy(s);
    return 0;
}

/* The directory in which one works, or nothing where it cannot be told; ends with a slash. */
static void play_here(char *path, size_t size) {
    path[0] = '\0';
#if defined(__unix__) || defined(__APPLE__)
    if (getcwd(path, size - 1)) strcat(path, "/");
    else path[0] = '\0';
#else
    (void)size;
#endif
}

/* The first thing to look at: a scene of a size that two cores play in two minutes; or the one that is named, at a
   quarter of its size unless told otherwise. */
static int play_demo(play_options *o) {
    double start = play_wall();
    char here[512];
    int code;
    if (!o->name) o->name = "water_balloon";
    if (!o->scaled) o->scene.scale = 0.25f;
    if (strcmp(o->name, "water_balloon") == 0) { /* steps of twice the length do for what is smaller */
        if (!o->scaled) o->scene.scale = 0.2f;
        if (o->scene.dt == 0.0f) o->scene.dt = 0.002f;
    }
    o->recorder.width = 360, o->recorder.height = 270;
    o->recorder.fps = 15;
    o->recorder.sheet = "build/demo.png";
    o->recorder.apng = "build/demo.apng";
    recorder_mkdir("build");
    code = play_scene(o);
    play_here(here, sizeof here);
    if (code < 2)
        printf("pictures in %s%s, animation in %s%s, after %.0f s\n", here, o->recorder.sheet, here, o->recorder.apng,
               play_wall() - start);
    return code;
}

/* ---- gallery ----------------------------------------------------------------------------------------------------- */

/* Scenes that are shown with another number of particles than a quarter of their own, or also move on the page. The
   numbers are such that two cores draw all in a quarter of an hour. */
typedef struct play_show {
    const char *name;
    float scale;
    bool moves;
} play_show;

static play_show play_show_of(const char *name) {
    static const play_show special[] = {
        {"water_balloon", 0.25f, true},   {"double_cloth", 0.25f, true},   {"double_dam_break", 0.4f, true},
        {"moving_cup", 0.5f, true},       {"impact", 0.4f, false},         {"dam_break", 0.5f, false},
        {"honey", 0.6f, false},           {"drag_spheres", 0.4f, false},   {"two_fluids", 0.4f, false},
        {"rotating_cuboid", 0.4f, false}, {"stone_skipping", 0.4f, false}, {"flag", 1.0f, false},
        {"drape", 0.5f, false},           {"jelly", 1.0f, false},          {"balloon", 1.0f, false},
        {"flower_pot", 0.5f, false},      {"tank", 0.4f, false},           {"collapse_recovery", 0.4f, false}};
    play_show plain = {NULL, 0.25f, false};
    size_t i;
    for (i = 0; i < sizeof special / sizeof special[0]; ++i)
        if (strcmp(name, special[i].name) == 0) return special[i];
    return plain;
}

/* A contact sheet and perhaps an animation. */
static int play_exhibit(play_options *o, const char *name) {
    char sheet[512], animation[512];
    play_show show = play_show_of(name);
    snprintf(sheet, sizeof sheet, "%s/%s.png", o->gallery, name);
    snprintf(animation, sizeof animation, "%s/%s_animation.png", o->gallery, name);
    o->name = name;
    o->recorder.sheet = sheet;
    o->recorder.apng = show.moves ? animation : NULL;
    if (!o->scaled) o->scene.scale = show.scale;
    return play_scene(o);
}

static bool play_write_page(const char *directory) {
    char path[512];
    FILE *page;
    int i;
    snprintf(path, sizeof path, "%s/README.md", directory);
    page = fopen(path, "w");
    if (!page) return fprintf(stderr, "play: cannot write %s\n", path), false;
    fprintf(page,
            "# Gallery\n\nPlayed and drawn by `make gallery`, with the number of particles on the last picture.\n");
    for (i = 0; i < scene_count(); ++i) {
        const scene_def *def = scene_at(i);
        fprintf(page, "\n## %s\n\n%s: `build/play %s`\n", def->name, def->summary, def->name);
        if (play_show_of(def->name).moves) fprintf(page, "\n![%s, moving](%s_animation.png)\n", def->name, def->name);
        fprintf(page, "\n![%s](%s.png)\n", def->name, def->name);
    }
    return fclose(page) == 0;
}

/* All scenes, or the one that is named. */
static int play_gallery(play_options *o) {
    const char *only = o->name;
    int i, worst = 0;
    char message[1024];
    if (only && !scene_known(only, message, sizeof message)) return fprintf(stderr, "play: %s\n", message), 2;
    recorder_mkdir(o->gallery);
    if (!play_write_page(o->gallery)) return 2;
    o->recorder.width = 360, o->recorder.height = 270, o->recorder.fps = 15;
    for (i = 0; i < scene_count(); ++i) {
        int code = only && strcmp(only, scene_at(i)->name) != 0 ? 0 : play_exhibit(o, scene_at(i)->name);
        if (code > worst) worst = code;
    }
    return worst;
}

int main(int argc, char **argv) {
    play_options o;
    threads *pool;
    int code;
    if (!play_parse(&o, argc, argv)) return 2;
    if (o.help) return play_help(&o);
    if (o.list) return play_list();
    pool = threads_create(o.threads);
    if (!pool) return fprintf(stderr, "play: out of memory\n"), 2;
    o.scene.parallel = threads_runner(pool);
    o.scene.clock.fn = play_ticks;
    code = o.demo ? play_demo(&o) : o.gallery ? play_gallery(&o) : play_scene(&o);
    threads_destroy(pool);
    return code;
}
