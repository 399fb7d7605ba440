/* recorder.h - pictures, contact sheets, animations and geometry files of a running scene. SPDX: MIT

   Call recorder_begin(), then recorder_update() once before the first step and after every step, then recorder_end().
   Define EXAMPLES_IMPLEMENTATION in one file. */
#ifndef EXAMPLES_RECORDER_H
#define EXAMPLES_RECORDER_H

#include "png.h"
#include "render.h"
#include "scenes.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct recorder_options {
    const char *png_dir, *sheet, *apng, *obj_dir, *ply_dir; /* NULL: not wanted */
    int width, height;                                      /* pixels of a picture */
    int fps; /* of pictures, animation and geometry files as they are shown: scene.slow times as many per second of the
                scene */
    int shots; /* pictures on the contact sheet */
    int view;  /* a scene_view, or -1: the scene's own */
} recorder_options;

enum { RECORDER_SHOTS = 24, RECORDER_TOLERANCE = 1 }; /* of 255, in sheets and animations: two thirds of the bytes */

typedef struct recorder {
    recorder_options options;
    scene_particles particles;
    image frame, shot[RECORDER_SHOTS];
    char caption[RECORDER_SHOTS][64];
    int frames, shots;
    apng movie;
    float level; /* m, height of the water at the start: the scale of the pressure and error views */
    isphpbd_parallel parallel;
    double render_seconds; /* CPU */
    const char *failed;    /* NULL, or what could not be written */
} recorder;

recorder_options recorder_options_default(void);
bool recorder_begin(recorder *r, const scene *s, const recorder_options *options);
void recorder_update(recorder *r, scene *s);
bool recorder_end(recorder *r, const scene *s); /* false: r->failed names the file */

#ifdef __cplusplus
}
#endif
#endif /* EXAMPLES_RECORDER_H */

#if defined(EXAMPLES_IMPLEMENTATION) && !defined(EXAMPLES_RECORDER_IMPLEMENTED)
#define EXAMPLES_RECORDER_IMPLEMENTED

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#ifdef _WIN32
#include <direct.h>
#define recorder_mkdir_one(path) _mkdir(path)
#else
#define recorder_mkdir_one(path) mkdir(path, 0777)
#endif

/* Makes the directory and those above it. What cannot be made is told by the first file that does not open. */
static void recorder_mkdir(const char *path) {
    char part[512];
    size_t i;
    for (i = 0; path[i] && i + 1 < sizeof part; ++i) {
        part[i] = path[i], part[i + 1] = '\0';
        if (path[i + 1] == '/' || path[i + 1] == '\0') (void)recorder_mkdir_one(part);
    }
}

static bool recorder_can_write(const char *path) {
    FILE *file = fopen(path, "ab");
    return file && fclose(file) == 0;
}

recorder_options recorder_options_default(void) {
    recorder_options o;
    memset(&o, 0, sizeof o);
    o.width = 480, o.height = 360, o.fps = 20, o.shots = 6, o.view = -1;
    return o;
}

/* ---- pictures ---------------------------------------------------------------------------------------------------- */

static void recorder_meshes(const scene *s, render_mesh *meshes) {
    int i;
    for (i = 0; i < s->object_count; ++i) {
        const scene_object *o = &s->objects[i];
        render_mesh *m = &meshes[i];
        m->vertices = o->vertices, m->indices = o->shape.indices;
        m->vertex_count = o->shape.vertex_count, m->triangle_count = o->shape.triangle_count;
        m->color = o->color, m->opacity = o->opacity, m->gloss = o->gloss, m->flat = o->flat;
        m->shadowless = o->shadowless;
    }
}

static uint32_t recorder_color(const recorder *r, const scene *s, int i) {
    const scene_particles *p = &r->particles;
    float bottom = 9810.0f * (r->level - s->shown_lo.y); /* Pa, under the water of the start */
    float depth = fmaxf(r->level - p->position[i].y, 0.0f);
    switch (r->options.view) {
        case VIEW_PRESSURE: return render_pressure_color(p->pressure[i] / bottom);
        case VIEW_ERROR:
            return render_error_color(fabsf(p->pressure[i] - 9810.0f * depth) / (0.1f * bottom));
        default: return render_pressure_color(v3_length(p->velocity[i]) / sqrtf(19.62f * (r->level - s->shown_lo.y)));
    }
}

static bool recorder_colors(const recorder *r, const scene *s, uint32_t **colors) {
    int i;
    *colors = NULL;
    if (r->options.view == VIEW_SURFACE || r->particles.count == 0) return true;
    *colors = (uint32_t *)malloc((size_t)r->particles.count * sizeof(uint32_t));
    if (!*colors) return false;
    for (i = 0; i < r->particles.count; ++i) (*colors)[i] = recorder_color(r, s, i);
    return true;
}

static bool recorder_draw(recorder *r, scene *s) {
    render_mesh meshes[SCENE_OBJECTS];
    render_scene view;
    uint32_t *colors;
    vec3 far = v3_all(3.0f * v3_length(v3_sub(s->shown_hi, s->shown_lo)));
    clock_t start = clock();
    bool ok;
    memset(&view, 0, sizeof view);
    scene_update_objects(s);
    recorder_meshes(s, meshes);
    if (!recorder_colors(r, s, &colors)) return false;
    view.fluid.positions = r->particles.position, view.fluid.velocities = r->particles.velocity;
    view.fluid.foam = r->particles.foam, view.fluid.kind = r->particles.kind;
    view.fluid.count = r->particles.count, view.fluid.spacing = s->spacing, view.fluid.smooth = s->smooth;
    view.fluid.lo = s->has_tank ? s->tank_lo : v3_sub(s->shown_lo, far);
    view.fluid.hi = s->has_tank ? s->tank_hi : v3_add(s->shown_hi, far);
    view.fluid.hi.y = s->shown_hi.y + far.y;
    view.fluid.lo.y = s->ground;
    view.fluid.walls = s->has_tank ? 0x37u : 0x04u; /* all but the top, or the floor only */
    view.particle_colors = colors;
    view.liquid[0] = s->look[0], view.liquid[1] = s->look[1];
    view.meshes = meshes, view.mesh_count = s->object_count;
    view.eye = s->eye, view.target = s->target, view.fov = s->fov, view.ground = s->ground;
    view.shown_lo = s->shown_lo, view.shown_hi = s->shown_hi;
    ok = render(&r->frame, &view, &r->parallel);
    free(colors);
    r->render_seconds += (double)(clock() - start) / CLOCKS_PER_SEC;
    return ok;
}

/* ---- geometry ---------------------------------------------------------------------------------------------------- */

static FILE *recorder_open(recorder *r, const char *dir, const char *extension) {
    char path[512];
    snprintf(path, sizeof path, "%s/frame_%04d.%s", dir, r->frames, extension);
    return fopen(path, "wb");
}

static void recorder_put_float(FILE *file, float value) { /* little endian whatever the machine */
    uint32_t bits;
    int k;
    memcpy(&bits, &value, sizeof bits);
    for (k = 0; k < 4; ++k) fputc((int)(bits >> (8 * k) & 255u), file);
}

static bool recorder_write_ply(recorder *r) { /* the particles, binary */
    const scene_particles *p = &r->particles;
    FILE *file = recorder_open(r, r->options.ply_dir, "ply");
    int i;
    if (!file) return false;
    fprintf(file, "ply\nformat binary_little_endian 1.0\ncomment isphpbd particles, SI units; density: 1 at rest\n");
    fprintf(file, "element vertex %d\n", p->count);
    fprintf(file, "property float x\nproperty float y\nproperty float z\nproperty float vx\nproperty float vy\n");
    fprintf(file, "property float vz\nproperty float density\nproperty float pressure\nend_header\n");
    for (i = 0; i < p->count; ++i) {
        recorder_put_float(file, p->position[i].x), recorder_put_float(file, p->position[i].y);
        recorder_put_float(file, p->position[i].z), recorder_put_float(file, p->velocity[i].x);
        recorder_put_float(file, p->velocity[i].y), recorder_put_float(file, p->velocity[i].z);
        recorder_put_float(file, p->density[i]), recorder_put_float(file, p->pressure[i]);
    }
    return fclose(file) == 0;
}

static bool recorder_write_obj(recorder *r, scene *s) { /* the solids as triangles, the particles as points */
    FILE *file = recorder_open(r, r->options.obj_dir, "obj");
    int i, k, base = 1;
    if (!file) return false;
    scene_update_objects(s);
    fprintf(file, "# isphpbd scene %s, t = %.4f s\n", s->def->name, (double)s->time);
    for (i = 0; i < s->object_count; ++i) {
        const scene_object *o = &s->objects[i];
        fprintf(file, "o object_%d\n", i);
        for (k = 0; k < o->shape.vertex_count; ++k)
            fprintf(file, "v %.6g %.6g %.6g\n", (double)o->vertices[k].x, (double)o->vertices[k].y,
                    (double)o->vertices[k].z);
        for (k = 0; k < o->shape.triangle_count; ++k)
            fprintf(file, "f %d %d %d\n", base + (int)o->shape.indices[3 * k], base + (int)o->shape.indices[3 * k + 1],
                    base + (int)o->shape.indices[3 * k + 2]);
        base += o->shape.vertex_count;
    }
    if (r->particles.count) fprintf(file, "o fluid\n");
    for (k = 0; k < r->particles.count; ++k) {
        vec3 p = r->particles.position[k];
        fprintf(file, "v %.6g %.6g %.6g\np %d\n", (double)p.x, (double)p.y, (double)p.z, base + k);
    }
    return fclose(file) == 0;
}

/* ---- recording --------------------------------------------------------------------------------------------------- */

static void recorder_level(recorder *r, const scene *s) {
    int i;
    r->level = s->shown_lo.y;
    for (i = 0; i < r->particles.count; ++i) r->level = fmaxf(r->level, r->particles.position[i].y + 0.5f * s->spacing);
    if (r->particles.count == 0) r->level = s->shown_hi.y;
}

bool recorder_begin(recorder *r, const scene *s, const recorder_options *options) {
    const recorder_options *o = options;
    memset(r, 0, sizeof *r);
    r->options = *options;
    r->parallel = s->options.parallel;
    if (r->options.view < 0) r->options.view = (int)s->view;
    if (r->options.shots > RECORDER_SHOTS) r->options.shots = RECORDER_SHOTS;
    if (o->png_dir) recorder_mkdir(o->png_dir);
    if (o->obj_dir) recorder_mkdir(o->obj_dir);
    if (o->ply_dir) recorder_mkdir(o->ply_dir);
    if (o->sheet && !recorder_can_write(o->sheet)) r->failed = o->sheet; /* known now, not after an hour */
    if (!image_create(&r->frame, o->width, o->height)) r->failed = "memory for a picture";
    if (o->apng && !apng_begin(&r->movie, o->apng, o->width, o->height, 1, o->fps, RECORDER_TOLERANCE))
        r->failed = o->apng;
    if (!scene_read_particles(s, &r->particles)) r->failed = "memory for particles";
    recorder_level(r, s);
    return !r->failed;
}

static void recorder_keep_shot(recorder *r, const scene *s) {
    static const char *const legend[VIEW_COUNT] = {
        "", "   pressure: red = rho g h", "   pressure error: red = 10 % of rho g h", "   speed: red = sqrt(2 g h)"};
    image *shot = &r->shot[r->shots];
    if (!image_create(shot, r->frame.width, r->frame.height)) {
        r->failed = "memory for a picture";
        return;
    }
    image_blit(shot, &r->frame, 0, 0);
    snprintf(r->caption[r->shots], sizeof r->caption[0], "t = %.2f s%s", (double)s->time, legend[r->options.view]);
    if (++r->shots == r->options.shots && r->particles.count && r->options.view == VIEW_SURFACE)
        snprintf(r->caption[r->shots - 1], sizeof r->caption[0], "t = %.2f s   %d particles", (double)s->time,
                 r->particles.count);
}

void recorder_update(recorder *r, scene *s) {
    const recorder_options *o = &r->options;
    float now = s->time + 1e-4f;
    /* there is no pressure, and no error of it, before the first step */
    bool solved = s->steps > 0 || (o->view != VIEW_PRESSURE && o->view != VIEW_ERROR);
    bool files = o->png_dir || o->apng || o->obj_dir || o->ply_dir;
    bool frame_due = solved && files && now * s->slow * (float)o->fps >= (float)r->frames;
    bool shot_due = solved && o->sheet && r->shots < o->shots &&
                    now * (float)(o->shots - 1) >= s->seconds * (float)r->shots;
    bool picture = shot_due || (frame_due && (o->png_dir || o->apng));
    char path[512];
    if (r->failed || (!frame_due && !shot_due)) return;
    if (!scene_read_particles(s, &r->particles)) r->failed = "memory for particles";
    else if (picture && !scene_update_foam(s, &r->particles)) r->failed = "memory for foam";
    else if (picture && !recorder_draw(r, s)) r->failed = "memory for a picture";
    if (r->failed) return;
    if (shot_due) recorder_keep_shot(r, s);
    if (!frame_due) return;
    snprintf(path, sizeof path, "%s/frame_%04d.png", o->png_dir ? o->png_dir : "", r->frames);
    if (o->png_dir && !png_write(path, &r->frame, 0)) r->failed = o->png_dir;
    if (o->apng && !apng_frame(&r->movie, &r->frame)) r->failed = o->apng;
    if (o->ply_dir && !recorder_write_ply(r)) r->failed = o->ply_dir;
    if (o->obj_dir && !recorder_write_obj(r, s)) r->failed = o->obj_dir;
    ++r->frames;
}

static bool recorder_write_sheet(recorder *r, const scene *s) {
    const char *captions[RECORDER_SHOTS];
    char title[160];
    image sheet;
    bool ok;
    int i;
    for (i = 0; i < r->shots; ++i) captions[i] = r->caption[i];
    snprintf(title, sizeof title, "%s: %s", s->def->name, s->def->summary);
    if (!image_sheet(&sheet, r->shot, captions, r->shots, r->shots == 4 ? 2 : 3, title)) return false;
    ok = png_write(r->options.sheet, &sheet, RECORDER_TOLERANCE);
    image_destroy(&sheet);
    return ok;
}

bool recorder_end(recorder *r, const scene *s) {
    int i;
    if (r->options.apng && !apng_end(&r->movie) && !r->failed) r->failed = r->options.apng;
    if (r->options.sheet && !r->failed && !recorder_write_sheet(r, s)) r->failed = r->options.sheet;
    for (i = 0; i < r->shots; ++i) image_destroy(&r->shot[i]);
    image_destroy(&r->frame);
    scene_free_particles(&r->particles);
    return !r->failed;
}

#endif /* EXAMPLES_IMPLEMENTATION */
