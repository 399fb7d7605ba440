/* tet_tetgen.h - TetGen, called as a program on a temporary folder. Private to tools/. POSIX only.
   SPDX-License-Identifier: MIT

   H. Si, TetGen, a Delaunay-Based Quality Tetrahedral Mesh Generator, 2015. TetGen is under the AGPL: it is neither
   linked nor shipped. Its exit status says nothing (0 for an open surface, 134 or 139 for others): only a mesh file
   that is there and can be read counts as success. */
#ifndef TET_TETGEN_H
#define TET_TETGEN_H

#include "tet_check.h"

#if !defined(_WIN32)
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>
#endif

typedef struct tet_tetgen_options {
    double ratio;      /* radius-edge bound, e.g. 1.4 */
    double min_angle;  /* dihedral bound in degrees, 0: none */
    double max_volume; /* of one tetrahedron; 0: none */
    unsigned seconds;  /* it is stopped after this time */
} tet_tetgen_options;

#if defined(_WIN32)
static inline bool tet_tetgen_installed(void) { return false; }
static inline void tet_remove_folder(tet_tool *tool) { (void)tool; }
static inline void tet_tetgen(tet_tool *tool, const tet_surface *s, const tet_tetgen_options *o, tet_mesh *out) {
    (void)s, (void)o, (void)out;
    tet_fail(tool, "TetGen is not called on this system: use --method builtin");
}
#else

/* ---- [program] --------------------------------------------------------------------------------------------------- */

/* Is there an executable of this name in a directory of PATH? */
static inline bool tet_program_exists(const char *name) {
    const char *path = getenv("PATH");
    while (path && *path) {
        char file[1024];
        size_t length = strcspn(path, ":");
        int written = snprintf(file, sizeof file, "%.*s/%s", (int)length, path, name);
        if (written > 0 && (size_t)written < sizeof file && access(file, X_OK) == 0) return true;
        path += length + (path[length] == ':');
    }
    return false;
}

static inline bool tet_tetgen_installed(void) { return tet_program_exists("tetgen"); }

static inline void tet_make_folder(tet_tool *tool) {
    const char *base = getenv("TMPDIR");
    int written;
#ifdef P_tmpdir
    if (!base || !*base) base = P_tmpdir;
#endif
    if (!base || !*base) base = ".";
    written = snprintf(tool->folder, sizeof tool->folder, "%s/isphpbd-tet-XXXXXX", base);
    if (written < 0 || (size_t)written >= sizeof tool->folder || !mkdtemp(tool->folder)) {
        tool->folder[0] = 0;
        tet_fail(tool, "cannot make a temporary folder below '%s'", base);
    }
}

static inline void tet_folder_file(const tet_tool *tool, const char *name, char *path, size_t size) {
    snprintf(path, size, "%s/%s", tool->folder, name);
}

/* Removes the temporary folder, if there is one. */
static inline void tet_remove_folder(tet_tool *tool) {
    DIR *directory;
    struct dirent *entry;
    if (!tool->folder[0]) return;
    directory = opendir(tool->folder);
    while (directory && (entry = readdir(directory)) != NULL) {
        char path[1024];
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
        tet_folder_file(tool, entry->d_name, path, sizeof path);
        remove(path);
    }
    if (directory) closedir(directory);
    rmdir(tool->folder);
    tool->folder[0] = 0;
}

/* Runs in the child: never returns. stdbuf makes TetGen's last words reach the log even if it crashes. */
static inline void tet_tetgen_child(const char *folder, const char *switches, unsigned seconds) {
    char name[32], arguments[64], file[16], stdbuf[16], unbuffered[16], *with[6], *without[4];
    int log;
    snprintf(name, sizeof name, "tetgen"), snprintf(file, sizeof file, "in.smesh"),
        snprintf(stdbuf, sizeof stdbuf, "stdbuf");
    snprintf(unbuffered, sizeof unbuffered, "-o0"), snprintf(arguments, sizeof arguments, "%s", switches);
    with[0] = stdbuf, with[1] = unbuffered, with[2] = name, with[3] = arguments, with[4] = file, with[5] = NULL;
    without[0] = name, without[1] = arguments, without[2] = file, without[3] = NULL;
    if (chdir(folder) != 0) _exit(127);
    log = open("log", O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (log < 0 || dup2(log, 1) < 0 || dup2(log, 2) < 0) _exit(127);
    alarm(seconds); /* survives exec */
    if (tet_program_exists(stdbuf)) execvp(stdbuf, with);
    execvp(name, without);
    _exit(127);
}

static inline void tet_tetgen_run(tet_tool *tool, const tet_tetgen_options *o) {
    char switches[64];
    pid_t child;
    int status, length = snprintf(switches, sizeof switches, "-pYq%.4g/%.4g", o->ratio, o->min_angle);
    if (o->max_volume > 0.0) snprintf(switches + length, sizeof switches - (size_t)length, "a%.9g", o->max_volume);
    fflush(NULL);
    child = fork();
    if (child < 0) tet_fail(tool, "cannot start tetgen");
    if (child == 0) tet_tetgen_child(tool->folder, switches, o->seconds);
    waitpid(child, &status, 0);
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM) tet_fail(tool, "tetgen was stopped after %u s", o->seconds);
}

/* ---- [files] ----------------------------------------------------------------------------------------------------- */

/* A point in the empty space that an inward component surrounds: half way from its largest face to what faces it. */
static inline tet_vec tet_cavity_point(const tet_surface *s, const tet_bvh *bvh, const int *component, int which) {
    tet_box box = tet_box_of(s->points, s->point_count);
    double reach = tet_distance(box.lo, box.hi), largest = -1.0, hit;
    tet_vec from = tet_v(0, 0, 0), normal = tet_v(0, 0, 0), start, end;
    int i;
    for (i = 0; i < s->triangle_count; ++i) {
        const int *v = s->triangles[i].v;
        tet_vec n = tet_triangle_normal(s, i);
        if (component[i] != which || tet_length(n) <= largest) continue;
        largest = tet_length(n);
        normal = tet_scale(n, 1.0 / largest);
        from = tet_scale(tet_add(tet_add(s->points[v[0]], s->points[v[1]]), s->points[v[2]]), 1.0 / 3.0);
    }
    start = tet_add(from, tet_scale(normal, 1e-7 * reach));
    end = tet_add(from, tet_scale(normal, reach));
    hit = tet_segment_hit(s, bvh, start, end);
    return tet_mix(start, end, 0.5 * hit);
}

/* Writes one point for every component that looks inwards (negative volume). */
static inline void tet_write_cavities(tet_tool *tool, FILE *file, const tet_surface *s) {
    int *twin = tet_twins(tool, s), i, cavities = 0;
    tet_box *boxes = tet_triangle_boxes(tool, s);
    tet_bvh bvh = tet_bvh_build(tool, boxes, s->triangle_count);
    tet_problem ignored;
    tet_components c = tet_find_components(tool, s, twin, &ignored);
    double *volume = (double *)tet_alloc(tool, (size_t)c.count + 1, sizeof *volume);
    for (i = 0; i < s->triangle_count; ++i) {
        const int *v = s->triangles[i].v;
        volume[c.of[i]] += tet_volume6(s->points[0], s->points[v[0]], s->points[v[1]], s->points[v[2]]);
    }
    for (i = 0; i < c.count; ++i) cavities += volume[i] < 0.0;
    fprintf(file, "%d\n", cavities);
    for (i = 0, cavities = 0; i < c.count; ++i) {
        tet_vec p;
        if (volume[i] >= 0.0) continue;
        p = tet_cavity_point(s, &bvh, c.of, i);
        fprintf(file, "%d %.17g %.17g %.17g\n", cavities++, p.x, p.y, p.z);
    }
    tet_free(tool, twin), tet_free(tool, c.of), tet_free(tool, c.flip), tet_free(tool, volume);
    tet_bvh_free(tool, &bvh);
    tet_free(tool, boxes);
}

static inline void tet_write_smesh(tet_tool *tool, const tet_surface *s) {
    char path[1024];
    FILE *file;
    bool failed;
    int i;
    tet_folder_file(tool, "in.smesh", path, sizeof path);
    file = fopen(path, "w");
    if (!file) tet_fail(tool, "cannot write into the temporary folder");
    fprintf(file, "%d 3 0 0\n", s->point_count);
    for (i = 0; i < s->point_count; ++i) {
        fprintf(file, "%d %.17g %.17g %.17g\n", i, s->points[i].x, s->points[i].y, s->points[i].z);
    }
    fprintf(file, "%d 0\n", s->triangle_count);
    for (i = 0; i < s->triangle_count; ++i) {
        const int *v = s->triangles[i].v;
        fprintf(file, "3 %d %d %d\n", v[0], v[1], v[2]);
    }
    tet_write_cavities(tool, file, s);
    fprintf(file, "0\n");
    failed = ferror(file) != 0;
    if (fclose(file) != 0 || failed) tet_fail(tool, "cannot write into the temporary folder");
}

/* A whole file, with a NUL behind it; an empty one if there is none. */
static inline tet_cursor tet_slurp(tet_tool *tool, const char *path) {
    tet_cursor c;
    char *data = (char *)tet_alloc(tool, 1, 1);
    size_t size = 0, room = 1, got = 1;
    FILE *file = fopen(path, "rb");
    while (file && got > 0) {
        if (room - size < 65536) data = (char *)tet_resize(tool, data, room = room * 2 + 65536, 1);
        got = fread(data + size, 1, room - size - 1, file);
        size += got;
    }
    if (file) fclose(file);
    data[size] = 0;
    c.at = data, c.end = data + size, c.line = 1, c.big_endian = false;
    return c;
}

/* The log's most telling line: one that speaks of an error or an intersection, else the last before it crashed. */
static inline void tet_tetgen_complain(tet_tool *tool, tet_cursor log) {
    char best[160] = "it said nothing", line[160];
    bool telling = false;
    while (log.at < log.end && !telling) {
        size_t length = strcspn(log.at, "\r\n");
        snprintf(line, sizeof line, "%.*s", (int)(length < 150 ? length : 150), log.at);
        telling = strstr(line, "rror") || strstr(line, "ntersect") || strstr(line, "ailed");
        if (strspn(line, " \t") < strlen(line) && !strstr(line, "terminate called")) memcpy(best, line, sizeof best);
        tet_next_line(&log);
    }
    tet_remove_folder(tool);
    tet_fail(tool, "tetgen made no mesh (do faces touch?), its last words: %s; try --method builtin",
             best + strspn(best, " \t"));
}

static inline void tet_read_node(tet_tool *tool, tet_cursor *c, tet_mesh *out) {
    int count = tet_take_count(tool, c), i;
    tet_next_line(c);
    for (i = 0; i < count; ++i) {
        if (tet_take_count(tool, c) != i) tet_fail(tool, "tetgen's points are not numbered from 0");
        tet_mesh_point(tool, out, tet_take_vec(tool, c));
        tet_next_line(c);
    }
}

static inline void tet_read_ele(tet_tool *tool, tet_cursor *c, tet_mesh *out) {
    int count = tet_take_count(tool, c), i, k, v[4];
    tet_next_line(c);
    for (i = 0; i < count; ++i) {
        tet_take_count(tool, c);
        for (k = 0; k < 4; ++k) {
            v[k] = tet_take_count(tool, c);
            if (v[k] >= out->point_count) tet_fail(tool, "tetgen names point %d of %d", v[k], out->point_count);
        }
        tet_next_line(c);
        tet_mesh_cell(tool, out, v);
        if (tet_cell_volume(out, i) < 0.0) out->cells[i].v[2] = v[3], out->cells[i].v[3] = v[2];
    }
}

/* ---- [call] ------------------------------------------------------------------------------------------------------ */

/* Fills a closed, oriented surface; its points come first in the result and its faces stay. */
static inline void tet_tetgen(tet_tool *tool, const tet_surface *s, const tet_tetgen_options *o, tet_mesh *out) {
    char path[1024];
    tet_cursor node, ele, log;
    tet_make_folder(tool);
    tet_write_smesh(tool, s);
    tet_tetgen_run(tool, o);
    tet_folder_file(tool, "in.1.node", path, sizeof path);
    node = tet_slurp(tool, path);
    tet_folder_file(tool, "in.1.ele", path, sizeof path);
    ele = tet_slurp(tool, path);
    tet_folder_file(tool, "log", path, sizeof path);
    log = tet_slurp(tool, path);
    if (node.at == node.end || ele.at == ele.end) tet_tetgen_complain(tool, log);
    tet_remove_folder(tool);
    out->point_count = out->cell_count = 0;
    tet_read_node(tool, &node, out);
    tet_read_ele(tool, &ele, out);
    if (!out->cell_count) tet_fail(tool, "tetgen made no tetrahedra");
}
#endif

#endif /* TET_TETGEN_H */
