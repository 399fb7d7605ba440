/* scenes.h - every scene of the project, defined once for the player, the tests and the benchmark. SPDX: MIT

   A scene is a name, a build function, what moves before every step, and the physical truths that must hold at the end.
   Each has one isphpbd_world, and a host (host.h) that owns the rigid bodies in it.
   Define EXAMPLES_IMPLEMENTATION in one file, together with ISPHPBD_IMPLEMENTATION.

       scene_options options = scene_options_default();
       scene *s = scene_create("dam_break", &options, message, sizeof message);
       while (s->time < s->seconds) scene_step(s);
       scene_finish(s);                       // runs the checks: s->checks, s->check_count
       scene_destroy(s);

   [interface]   [helpers] for build functions   [runtime] create, step, measure   [particles] copies for drawing */
#ifndef EXAMPLES_SCENES_H
#define EXAMPLES_SCENES_H

#include "isphpbd.h"

#include "host.h"
#include "leaks.h"
#include "render.h"
#include "shapes.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- [interface] ------------------------------------------------------------------------------------------------- */

typedef struct scene scene;

typedef struct scene_key {
    char name[24];
    double value;
    bool used;
} scene_key; /* --set name=value */

enum { SCENE_KEYS = 16, SCENE_SETTINGS = 48, SCENE_OBJECTS = 24, SCENE_CHECKS = 24 };

typedef struct scene_options {
    float scale;   /* number of particles relative to the scene's own, default 1 */
    float dt;      /* s per step; 0: the scene's own */
    float seconds; /* s to simulate; 0: the scene's own */
    scene_key keys[SCENE_KEYS];
    int key_count;
    isphpbd_parallel parallel; /* default one thread */
    isphpbd_clock clock;       /* ticks of 1 ns, for stage times; default none */
} scene_options;

typedef struct scene_def {
    const char *name, *summary;
    float seconds, dt;             /* s */
    bool (*build)(scene *s);       /* false: s->message says why */
    void (*before_step)(scene *s); /* moving walls, emitters; may be NULL */
    void (*after_step)(scene *s);  /* measurements over time; may be NULL */
    void (*check)(scene *s);       /* calls scene_check...() */
} scene_def;

/* What a picture shows: the surface, or particles coloured by pressure, by its error against rho g depth, by speed. */
typedef enum scene_view { VIEW_SURFACE = 0, VIEW_PRESSURE, VIEW_ERROR, VIEW_SPEED, VIEW_COUNT } scene_view;

typedef struct scene_check { /* value must be <= limit, or >= limit where at_least */
    const char *name;
    double value, limit;
    bool at_least, ok;
} scene_check;

/* What water must not do to the surface of an object; looked at after every step. */
typedef enum scene_guard {
    GUARD_NONE = 0,
    GUARD_HOLDS,     /* closed: all water is inside and stays there */
    GUARD_KEEPS_OUT, /* closed: none comes in */
    GUARD_PARTS      /* open: none goes through */
} scene_guard;

typedef struct scene_object { /* something solid to draw */
    mesh shape;               /* local coordinates; topology of the soft body */
    vec3 *vertices;           /* m, where they are now */
    vec3 color;
    float opacity, gloss;
    bool flat, shadowless;
    isphpbd_collider collider; /* whose pose the vertices follow, or null */
    isphpbd_body body;         /* likewise; its motion is that of host_body */
    int host_body;
    bool one_way;   /* the host ignores what water does to it */
    ipbd_body soft; /* whose vertices they are, or null */
    scene_guard guard;
    leak_watch leaks;
} scene_object;

typedef struct scene_measures { /* over the whole run */
    double density_error_sum, density_error_max, deep_density;
    int deep_particles, nan, removed;
    int intruded, crossed; /* most at one time on the wrong side of a closed skin; through open sheets, all in all */
    int escaped;           /* most at one time outside the tank */
    int refused;           /* steps that the world did not take */
    uint32_t flags;        /* ISPHPBD_STEP_* */
    double coupling_iterations, coupling_mismatch;  /* mean per substep; m/s, largest */
    double pressure_iterations, density_iterations; /* means per substep */
    float highest;                                  /* m, of any particle at any time */
    float top_speed;                                /* m/s, likewise */
    float custom[8];                                /* the scene's own */
} scene_measures;

struct scene {
    const scene_def *def;
    scene_options options;
    float spacing, dt, seconds, time;
    int steps;
    scene_key settings[SCENE_SETTINGS]; /* all that the scene asked for, with its own values */
    int setting_count;
    isphpbd_world *world;
    isphpbd_budget budget; /* as the world has it */
    vec3 wind;             /* m/s, likewise */
    isph_fluid *fluid;     /* the solvers inside the world, for reading */
    ipbd_world *soft;
    host *bodies; /* the engine that owns the rigid ones */
    isphpbd_fluid liquid[2];
    scene_object objects[SCENE_OBJECTS];
    int object_count;
    bool has_tank;
    vec3 tank_lo, tank_hi; /* inside of the walls; the top is open */
    vec3 shown_lo, shown_hi, eye, target;
    float fov, ground;
    scene_view view;       /* in which the scene is shown unless another one is asked for */
    render_liquid look[2]; /* of the two materials */
    float slow;            /* how many times slower than life it is shown; default 1 */
    float foam;            /* 0..1, how white it turns where it is fast; default 1 */
    float smooth;          /* of the surface as drawn, see surface_input; default 1 */
    scene_measures measures;
    scene_check checks[SCENE_CHECKS];
    int check_count;
    size_t bytes_now, bytes_peak;
    int allocations; /* since the last scene_create() returned: must stay 0 */
    bool stepping;
    double step_cpu, step_wall; /* s, of the last step of the world; the latter 0 without a clock */
    vec3 *points;               /* positions of the particles, packed, for what looks at all of them */
    uint32_t *ids;
    int point_count, point_capacity;
    char *message; /* why something failed */
    size_t message_size;
    char refused[160];    /* what is wrong with a setting, or empty */
    char complaint[160];  /* what the library said last */
};

int scene_count(void);
const scene_def *scene_at(int index);
const scene_def *scene_find(const char *name);                          /* NULL: no such scene */
bool scene_known(const char *name, char *message, size_t message_size); /* false: message says which one may be meant */
scene_options scene_options_default(void);
bool scene_options_set(scene_options *o, const char *text); /* KEY=NUMBER; false: it is not, or there are too many */
bool scene_setting_range(const char *name, double *lo, double *hi, bool *whole); /* false: no scene asks for it */
scene *scene_create(const char *name, const scene_options *options, char *message, size_t message_size);
void scene_step(scene *s);
void scene_finish(scene *s); /* fills the checks; true ones for every scene first */
bool scene_ok(const scene *s);
bool scene_complete(const scene *s); /* it ran for as long as it is meant to: only then its end can be judged */
int scene_leaked(const scene *s); /* particles that went through skins, and those that left the tank */
uint64_t scene_hash(const scene *s);
void scene_update_objects(scene *s); /* brings the objects' vertices to where they are now */
void scene_destroy(scene *s);

/* ---- [particles] what a picture or a file needs, copied out of the fluid */
typedef struct scene_particles {
    vec3 *position, *velocity;
    float *pressure, *density, *foam;
    uint32_t *id;
    unsigned char *kind;
    int count, capacity;
    float *foam_by_id; /* foam lives longer than the splash that made it */
    uint32_t foam_ids;
    isph_grid *grid;
    double last_time;
} scene_particles;
bool scene_read_particles(const scene *s, scene_particles *p); /* grows as needed; false: out of memory */
bool scene_update_foam(const scene *s, scene_particles *p);
void scene_free_particles(scene_particles *p);

#ifdef __cplusplus
}
#endif
#endif /* EXAMPLES_SCENES_H */

#if defined(EXAMPLES_IMPLEMENTATION) && !defined(EXAMPLES_SCENES_IMPLEMENTED)
#define EXAMPLES_SCENES_IMPLEMENTED

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- [helpers] --------------------------------------------------------------------------------------------------- */

/* Names the scene, what failed and why, in the library's own words where it said any. */
static bool scene_fail(scene *s, const char *what, isphpbd_result why) {
    size_t used;
    if (!s->message_size) return false;
    snprintf(s->message, s->message_size, "%s: %s: %s", s->def->name, what,
             s->complaint[0] ? s->complaint : isphpbd_result_text(why));
    used = strlen(s->message);
    if (s->options.scale != 1.0f)
        snprintf(s->message + used, s->message_size - used, ", at --scale %g", (double)s->options.scale);
    return false;
}

static void scene_hear(isphpbd_log_level level, isphpbd_result code, const char *text, void *user) {
    scene *s = (scene *)user;
    if (level == ISPHPBD_LOG_ERROR && code != ISPHPBD_OK) snprintf(s->complaint, sizeof s->complaint, "%s", text);
}

/* What settings can be, in all scenes that have them. */
static const struct scene_range {
    const char *name;
    double lo, hi;
    bool whole;
} scene_ranges[] = {
    {"support", 1.8, 3.2, false},           {"tolerance", 0, 1, false},        {"cfl", 0.05, 4, false},
    {"density_projection", 0, 1, true},   {"weakly_compressible", 0, 1, true}, {"rigid_local", 0, 1, true},
    {"max_iterations", 1, 100000, true},  {"max_substeps", 1, 1000, true},   {"outer_iterations", 1, 16, true},
    {"soft_substeps", 1, 1000, true},     {"substeps", 1, 1000, true},       {"iterations", 1, 1000, true},
    {"viscosity", 0, 1e6, false},         {"thin", 0, 1e6, false},           {"thick", 0, 1e6, false},
    {"oil_density", 1, 1e5, false},       {"slip", 0, 1, false},             {"body_slip", 0, 1, false},
    {"wall_friction", 0, 1, false},       {"friction", 0, 100, false},       {"stiffness", 0, 1, false},
    {"young_modulus", 1, 1e12, false},    {"damping", 0, 1e4, false},        {"cloth_density", 1e-3, 1e3, false},
    {"self_collision", 0, 1, true},       {"statue", 0, 1, true},            {"wind", -1000, 1000, false},
    {"rate", -100, 100, false},           {"mass", 0.1, 1e4, false},         {"speed", 0, 100, false},
    {"tilt", -90, 90, false},             {"spin", -1000, 1000, false}};

bool scene_setting_range(const char *name, double *lo, double *hi, bool *whole) {
    size_t i;
    for (i = 0; i < sizeof scene_ranges / sizeof scene_ranges[0]; ++i) {
        const struct scene_range *r = &scene_ranges[i];
        if (strcmp(r->name, name) == 0) return *lo = r->lo, *hi = r->hi, *whole = r->whole, true;
    }
    return false;
}

static void scene_note_setting(scene *s, const char *name, float value) {
    scene_key *key = &s->settings[s->setting_count];
    int i;
    for (i = 0; i < s->setting_count; ++i)
        if (strcmp(s->settings[i].name, name) == 0) return;
    if (s->setting_count == SCENE_SETTINGS) return;
    snprintf(key->name, sizeof key->name, "%s", name);
    key->value = (double)value;
    ++s->setting_count;
}

/* The value of the last --set name=..., or the scene's own. One that cannot be is told in s->refused. */
static float scene_setting(scene *s, const char *name, float fallback) {
    double value = (double)fallback, lo = 0.0, hi = 0.0;
    bool whole = false, known = scene_setting_range(name, &lo, &hi, &whole);
    int i;
    scene_note_setting(s, name, fallback);
    for (i = 0; i < s->options.key_count; ++i) {
        if (strcmp(s->options.keys[i].name, name) != 0) continue;
        s->options.keys[i].used = true;
        value = s->options.keys[i].value;
    }
    if (known && value >= lo && value <= hi && !(whole && value != floor(value))) return (float)value;
    if (!s->refused[0])
        snprintf(s->refused, sizeof s->refused, "%s=%g cannot be: it is a %snumber from %g to %g", name, value,
                 whole ? "whole " : "", lo, hi);
    return fallback;
}

static void *scene_alloc(size_t size, size_t align, void *user) {
    scene *s = (scene *)user;
    unsigned char *raw = (unsigned char *)malloc(size + align + sizeof(void *)), *aligned;
    if (!raw) return NULL;
    aligned = raw + sizeof(void *);
    aligned += (align - (uintptr_t)aligned % align) % align;
    memcpy(aligned - sizeof(void *), &raw, sizeof(void *)); /* for scene_release */
    s->bytes_now += size;
    if (s->bytes_now > s->bytes_peak) s->bytes_peak = s->bytes_now;
    if (s->stepping) ++s->allocations;
    return aligned;
}

static void scene_release(void *ptr, size_t size, void *user) {
    void *raw;
    if (!ptr) return;
    ((scene *)user)->bytes_now -= size;
    memcpy(&raw, (unsigned char *)ptr - sizeof(void *), sizeof(void *));
    free(raw);
}

static isphpbd_allocator scene_allocator(scene *s) {
    isphpbd_allocator a;
    a.alloc = scene_alloc, a.free = scene_release, a.user = s;
    return a;
}

/* A spacing such that the scene has `scale` times its own number of particles and that `fit` (m) holds whole ones. */
static float scene_spacing(const scene *s, float spacing, float fit) {
    spacing /= cbrtf(s->options.scale);
    return fit / fmaxf(floorf(fit / spacing + 0.5f), 1.0f);
}

/* What all worlds have in common; `fit` is a length of the scene, `volume` in m^3 sizes the capacity. */
static isphpbd_world_desc scene_world_desc(scene *s, float spacing, float fit, float volume) {
    isphpbd_world_desc desc = isphpbd_world_desc_default();
    isphpbd_budget *budget = &desc.budget;
    float more = fmaxf(s->options.scale, 1.0f);
    s->spacing = desc.spacing = scene_spacing(s, spacing, fit);
    desc.capacity.fluid_particles = (int)(1.08f * volume / (desc.spacing * desc.spacing * desc.spacing)) + 2048;
    desc.capacity.mesh_triangles = 32768;
    desc.capacity.soft.vertices = desc.capacity.soft.input_vertices = (int)(16384.0f * more);
    desc.capacity.soft.edges = (int)(98304.0f * more), desc.capacity.soft.triangles = (int)(32768.0f * more);
    desc.capacity.soft.isometric_bends = (int)(49152.0f * more);
    desc.capacity.soft.contacts = (int)(65536.0f * fmaxf(4.0f * s->options.scale, 1.0f));
    desc.capacity.soft.volume_tetrahedra = desc.capacity.soft.elastic_tetrahedra = (int)(32768.0f * more);
    desc.allocator = scene_allocator(s);
    desc.parallel = s->options.parallel;
    desc.clock = s->options.clock;
    desc.logger.fn = scene_hear, desc.logger.user = s;
    desc.support = scene_setting(s, "support", desc.support);
    desc.tolerance = scene_setting(s, "tolerance", desc.tolerance);
    desc.cfl = scene_setting(s, "cfl", desc.cfl);
    desc.density_projection = scene_setting(s, "density_projection", 1.0f) != 0.0f;
    if (scene_setting(s, "weakly_compressible", 0.0f) != 0.0f) desc.solver = ISPH_SOLVER_WEAKLY_COMPRESSIBLE;
    if (scene_setting(s, "rigid_local", 0.0f) != 0.0f) desc.rigid_scheme = ISPHPBD_RIGID_LOCAL;
    budget->pressure_iterations = (int)scene_setting(s, "max_iterations", (float)budget->pressure_iterations);
    budget->substeps = (int)scene_setting(s, "max_substeps", (float)budget->substeps);
    budget->outer_iterations = (int)scene_setting(s, "outer_iterations", (float)budget->outer_iterations);
    return desc;
}

/* The world, a host for its rigid bodies and, where material is given, a first liquid. */
static bool scene_start_world(scene *s, const isphpbd_world_desc *desc, const isph_material_desc *material) {
    isphpbd_result why = ISPHPBD_OK;
    isphpbd_fluid_desc liquid = isphpbd_fluid_desc_default();
    s->budget = desc->budget, s->wind = desc->wind;
    s->bodies = host_create(desc->gravity);
    s->world = isphpbd_world_create(desc, &why);
    if (!s->world || !s->bodies) return scene_fail(s, "world", s->world ? ISPHPBD_OUT_OF_MEMORY : why);
    s->fluid = isphpbd_world_fluids(s->world), s->soft = isphpbd_world_softs(s->world);
    if (!material) return true;
    liquid.material = *material;
    s->liquid[0] = isphpbd_fluid_create(s->world, &liquid, &why);
    return s->liquid[0].id ? true : scene_fail(s, "fluid", why);
}

static bool scene_start_fluid(scene *s, float spacing, float fit, float volume, const isph_material_desc *material) {
    isphpbd_world_desc desc = scene_world_desc(s, spacing, fit, volume);
    return scene_start_world(s, &desc, material);
}

static isph_material_desc scene_water(scene *s) {
    isph_material_desc water = isph_material_desc_default();
    water.viscosity = scene_setting(s, "viscosity", water.viscosity);
    return water;
}

static bool scene_second_fluid(scene *s, const isph_material_desc *material) {
    isphpbd_result why = ISPHPBD_OK;
    isphpbd_fluid_desc desc = isphpbd_fluid_desc_default();
    desc.material = *material;
    s->liquid[1] = isphpbd_fluid_create(s->world, &desc, &why);
    return s->liquid[1].id ? true : scene_fail(s, "second fluid", why);
}

static isphpbd_collider scene_collider(scene *s, isphpbd_shape shape, vec3 position, float slip, bool container) {
    isphpbd_collider_desc desc = isphpbd_collider_desc_default();
    isphpbd_result why = ISPHPBD_OK;
    isphpbd_collider collider;
    desc.shape = shape, desc.container = container;
    desc.pose = isphpbd_pose_at(position);
    desc.surface.slip = slip;
    collider = isphpbd_collider_create(s->world, &desc, &why);
    if (!collider.id) scene_fail(s, "collider", why);
    return collider;
}

/* A glass tank, open above: a box that holds water, cloth and the host's bodies, with so high a ceiling that nothing
   reaches it. */
static bool scene_tank(scene *s, vec3 lo, vec3 hi) {
    const float sky = 50.0f;
    isphpbd_shape box = isphpbd_shape_box(0.5f * (hi.x - lo.x), 0.5f * (hi.y + sky - lo.y), 0.5f * (hi.z - lo.z));
    vec3 middle = v3(0.5f * (lo.x + hi.x), 0.5f * (lo.y + hi.y + sky), 0.5f * (lo.z + hi.z));
    s->has_tank = true;
    s->tank_lo = lo, s->tank_hi = hi;
    host_add_plane(s->bodies, v3(0, 1, 0), lo.y);
    host_add_plane(s->bodies, v3(1, 0, 0), lo.x), host_add_plane(s->bodies, v3(-1, 0, 0), -hi.x);
    host_add_plane(s->bodies, v3(0, 0, 1), lo.z), host_add_plane(s->bodies, v3(0, 0, -1), -hi.z);
    return scene_collider(s, box, middle, 1.0f - scene_setting(s, "wall_friction", 0.0f), true).id != 0;
}

/* Registers a mesh for drawing and takes it over. NULL when there are too many or memory ran out. */
static scene_object *scene_show(scene *s, mesh *shape, vec3 color, float opacity, float gloss, bool flat) {
    scene_object *o;
    if (s->object_count == SCENE_OBJECTS || shape->failed) {
        scene_fail(s, "object", shape->failed ? ISPHPBD_OUT_OF_MEMORY : ISPHPBD_CAPACITY);
        mesh_free(shape);
        return NULL;
    }
    o = &s->objects[s->object_count];
    memset(o, 0, sizeof *o);
    o->shape = *shape;
    o->vertices = (vec3 *)malloc(((size_t)shape->vertex_count + 1) * sizeof(vec3));
    if (!o->vertices) {
        mesh_free(shape);
        scene_fail(s, "object", ISPHPBD_OUT_OF_MEMORY);
        return NULL;
    }
    memcpy(o->vertices, shape->vertices, (size_t)shape->vertex_count * sizeof(vec3));
    o->color = color, o->opacity = opacity, o->gloss = gloss, o->flat = flat;
    memset(shape, 0, sizeof *shape);
    ++s->object_count;
    return o;
}

static const vec3 scene_red = {0.62f, 0.08f, 0.05f}, scene_stone = {0.50f, 0.44f, 0.36f},
                  scene_steel = {0.62f, 0.66f, 0.70f};

static isphpbd_shape scene_mesh_shape(const mesh *m, bool closed) {
    isphpbd_shape shape = closed
                              ? isphpbd_shape_solid(&m->vertices[0].x, m->vertex_count, m->indices, m->triangle_count)
                              : isphpbd_shape_shell(&m->vertices[0].x, m->vertex_count, m->indices, m->triangle_count);
    return shape;
}

/* A mesh, solid or a shell, that is drawn and stands in the way. */
static scene_object *scene_solid(scene *s, mesh *shape, vec3 position, vec3 color, float slip, bool closed) {
    isphpbd_collider collider = scene_collider(s, scene_mesh_shape(shape, closed), position, slip, false);
    scene_object *o = scene_show(s, shape, color, 1.0f, 0.25f, false);
    if (!o || !collider.id) return NULL;
    o->collider = collider;
    return o;
}

/* A box that stands still or moves as told. */
static scene_object *scene_box(scene *s, vec3 position, vec3 half, vec3 color) {
    isphpbd_collider collider = scene_collider(s, isphpbd_shape_box(half.x, half.y, half.z), position, 1.0f, false);
    mesh shape;
    scene_object *o;
    memset(&shape, 0, sizeof shape);
    mesh_box(&shape, v3_scale(half, -1.0f), half);
    o = scene_show(s, &shape, color, 1.0f, 0.3f, true);
    if (!o || !collider.id) return NULL;
    o->collider = collider;
    return o;
}

/* A rigid body of the host, told to the world and drawn; number < 0 (no room) fails. one_way: water gives way to it
   and is not felt. */
static scene_object *scene_body(scene *s, int number, isphpbd_shape shape, bool one_way, mesh *drawn, vec3 color) {
    isphpbd_body_desc desc = isphpbd_body_desc_default();
    isphpbd_result why = ISPHPBD_CAPACITY;
    const host_body *body = number < 0 ? NULL : &s->bodies->bodies[number];
    scene_object *o;
    if (body) {
        desc.shape = shape, desc.mass = body->mass, desc.inertia = body->inertia, desc.motion = body->motion;
        desc.gravity_scale = body->gravity_scale, desc.one_way = one_way;
        desc.surface.slip = scene_setting(s, "body_slip", 1.0f);
    }
    o = scene_show(s, drawn, color, 1.0f, 0.3f, false);
    if (!o) return NULL;
    if (body) o->body = isphpbd_body_create(s->world, &desc, &why);
    if (!o->body.id) return scene_fail(s, "body", why), (scene_object *)NULL;
    o->host_body = number, o->one_way = one_way;
    return o;
}

static scene_object *scene_ball_body(scene *s, float radius, float density, vec3 position, vec3 color) {
    mesh ball;
    int body = host_add_sphere(s->bodies, radius, 4.18879f * radius * radius * radius * density, position);
    memset(&ball, 0, sizeof ball);
    mesh_sphere(&ball, v3(0, 0, 0), radius, 20);
    return scene_body(s, body, isphpbd_shape_sphere(radius), false, &ball, color);
}

static scene_object *scene_box_body(scene *s, vec3 half, float density, vec3 position, vec3 color) {
    mesh box;
    int body = host_add_box(s->bodies, half, 8.0f * half.x * half.y * half.z * density, position);
    scene_object *o;
    memset(&box, 0, sizeof box);
    mesh_box(&box, v3_scale(half, -1.0f), half);
    o = scene_body(s, body, isphpbd_shape_box(half.x, half.y, half.z), false, &box, color);
    if (o) o->flat = true;
    return o;
}

/* The mesh is about its centre of mass and taken over: the skin of a solid (convex or not), or a shell. */
static scene_object *scene_mesh_body(scene *s, mesh *m, bool closed, bool convex, float mass, vec3 position,
                                     vec3 color) {
    int body = host_add_mesh(s->bodies, convex ? HOST_CONVEX : HOST_SHELL, m, mass, position);
    mesh copy = *m; /* the arrays move on to the object, which outlives the call */
    return scene_body(s, body, scene_mesh_shape(&copy, closed), false, m, color);
}

static host_body *scene_host_body(const scene *s, const scene_object *o) { return &s->bodies->bodies[o->host_body]; }

/* Number of lattice points along one axis of a box, at least one, and their distance. From wall to wall of the tank
   they are drawn out, by less than one spacing in all: else the water would start with a gap at one wall. */
static int scene_lattice(const scene *s, float lo, float hi, float wall_lo, float wall_hi, float *step) {
    int n = (int)fmaxf((hi - lo) / s->spacing + 0.01f, 1.0f);
    *step = s->has_tank && lo <= wall_lo && hi >= wall_hi ? (hi - lo) / (float)n : s->spacing;
    return n;
}

/* A lattice in the box, where keep(s, point) answers true, or everywhere (NULL). */
static bool scene_add_where(scene *s, isphpbd_fluid liquid, vec3 lo, vec3 hi, bool (*keep)(const scene *s, vec3 p)) {
    vec3 step = v3_all(s->spacing), *points;
    int nx = scene_lattice(s, lo.x, hi.x, s->tank_lo.x, s->tank_hi.x, &step.x), x, y, z, n = 0;
    int ny = (int)fmaxf((hi.y - lo.y) / s->spacing + 0.01f, 1.0f);
    int nz = scene_lattice(s, lo.z, hi.z, s->tank_lo.z, s->tank_hi.z, &step.z);
    isphpbd_result why;
    points = (vec3 *)malloc(((size_t)nx * (size_t)ny * (size_t)nz + 1) * sizeof(vec3));
    if (!points) return scene_fail(s, "particles", ISPHPBD_OUT_OF_MEMORY);
    for (z = 0; z < nz; ++z) {
        for (y = 0; y < ny; ++y) {
            for (x = 0; x < nx; ++x) {
                vec3 p = v3_add(lo, v3_mul(v3((float)x + 0.5f, (float)y + 0.5f, (float)z + 0.5f), step));
                if (!keep || keep(s, p)) points[n++] = p;
            }
        }
    }
    why = isphpbd_fluid_add(s->world, liquid, &points[0].x, sizeof(vec3), NULL, 0, n, NULL);
    free(points);
    return why == ISPHPBD_OK ? true : scene_fail(s, "particles", why);
}

static bool scene_add_box(scene *s, isphpbd_fluid liquid, vec3 lo, vec3 hi) {
    return scene_add_where(s, liquid, lo, hi, NULL);
}

/* The end of a pipe, drawn only: water that comes out of nothing puzzles the eye. Its mouth is half a spacing before
   the origin, so that the round end of the drawn jet hides in it. */
static bool scene_nozzle(scene *s, vec3 origin, vec3 direction, float radius) {
    const float r = radius + s->spacing, lip = 1.12f * r;
    const mesh_profile profile[] = {{lip, 0}, {lip, 0.3f * r}, {r, 0.3f * r}, {r, 1.1f * r}, {0, 1.1f * r}};
    vec3 side = v3_unit(v3_cross(direction, fabsf(direction.x) < 0.5f ? v3(1, 0, 0) : v3(0, 0, 1)));
    vec3 front = v3_cross(side, direction), mouth = v3_madd(origin, direction, 0.5f * s->spacing);
    mesh pipe;
    int i;
    memset(&pipe, 0, sizeof pipe);
    mesh_revolve(&pipe, profile, (int)(sizeof profile / sizeof profile[0]), 48);
    for (i = 0; i < pipe.vertex_count; ++i) {
        vec3 p = pipe.vertices[i];
        pipe.vertices[i] = v3_madd(v3_madd(v3_madd(mouth, side, p.x), front, p.z), direction, -p.y);
    }
    return scene_show(s, &pipe, scene_steel, 1.0f, 0.3f, true) != NULL;
}

/* A round jet that flows for `duration` seconds. The middles of its particles fill the radius, so that their number is
   that of the volume. */
static bool scene_jet(scene *s, vec3 origin, vec3 direction, float radius, float speed, float duration) {
    isphpbd_emitter_desc desc = isphpbd_emitter_desc_default();
    isphpbd_result why = ISPHPBD_OK;
    desc.fluid = s->liquid[0];
    desc.position = origin, desc.direction = direction;
    desc.radius = radius + 0.5f * s->spacing, desc.speed = speed, desc.duration = duration;
    if (!isphpbd_emitter_create(s->world, &desc, &why).id) return scene_fail(s, "emitter", why);
    return scene_nozzle(s, origin, direction, radius);
}

/* Looks at the box from the given angles (degrees) so that all of it is in a 4:3 picture. */
static void scene_camera(scene *s, vec3 lo, vec3 hi, float yaw, float pitch) {
    vec3 centre = v3_scale(v3_add(lo, hi), 0.5f), back, right, up;
    float tan_y, tan_x, distance = 0.0f;
    int i;
    s->shown_lo = lo, s->shown_hi = hi;
    s->fov = 34.0f;
    tan_y = 0.94f * tanf(0.5f * s->fov * 0.017453293f), tan_x = tan_y * 4.0f / 3.0f;
    yaw *= 0.017453293f, pitch *= 0.017453293f;
    back = v3(sinf(yaw) * cosf(pitch), sinf(pitch), cosf(yaw) * cosf(pitch));
    right = v3_unit(v3_cross(v3(0, 1, 0), back));
    up = v3_cross(back, right);
    for (i = 0; i < 8; ++i) {
        vec3 d = v3_sub(v3(i & 1 ? hi.x : lo.x, i & 2 ? hi.y : lo.y, i & 4 ? hi.z : lo.z), centre);
        float near = v3_dot(d, back);
        distance = fmaxf(distance, near + fmaxf(fabsf(v3_dot(d, right)) / tan_x, fabsf(v3_dot(d, up)) / tan_y));
    }
    s->target = centre;
    s->eye = v3_madd(centre, back, distance);
}

/* A floor without walls. */
static bool scene_floor(scene *s, float height) {
    host_add_plane(s->bodies, v3(0, 1, 0), height);
    return scene_collider(s, isphpbd_shape_plane(), v3(0, height, 0), 1.0f, false).id != 0;
}

static bool scene_bars(scene *s, vec3 lo, vec3 hi) { /* along the edges of a box */
    mesh bars;
    scene_object *o;
    memset(&bars, 0, sizeof bars);
    mesh_frame(&bars, lo, hi, 0.0055f * v3_length(v3_sub(hi, lo)));
    o = scene_show(s, &bars, scene_steel, 1.0f, 0.5f, true);
    if (o) o->shadowless = true; /* they stand for glass: their shadows would look like cracks in what is behind */
    return o != NULL;
}

static bool scene_frame_tank(scene *s) { return scene_bars(s, s->tank_lo, s->tank_hi); }

/* A glass basin of no thickness on a floor: what misses it or splashes over the rim runs off. Its walls are the last
   object. */
static bool scene_basin(scene *s, vec3 lo, vec3 hi) {
    static const int side[4][2] = {{0, 0}, {1, 0}, {1, 1}, {0, 1}};
    scene_object *o;
    mesh glass;
    int i;
    memset(&glass, 0, sizeof glass);
    for (i = 0; i < 4; ++i) { /* the lower edge is below the floor, so that nothing slips through under it */
        float x = side[i][0] ? hi.x : lo.x, z = side[i][1] ? hi.z : lo.z;
        mesh_vertex(&glass, v3(x, lo.y - 2.0f * s->spacing, z)), mesh_vertex(&glass, v3(x, hi.y, z));
    }
    for (i = 0; i < 4; ++i) {
        uint32_t a = (uint32_t)(2 * i), b = (uint32_t)(2 * ((i + 1) % 4));
        mesh_triangle(&glass, a, b, b + 1), mesh_triangle(&glass, a, b + 1, a + 1);
    }
    if (!scene_floor(s, lo.y)) return mesh_free(&glass), false;
    o = scene_solid(s, &glass, v3_all(0.0f), v3(0.80f, 0.88f, 0.92f), 1.0f, false);
    if (o) o->opacity = 0.04f, o->gloss = 1.0f, o->flat = true;
    return o != NULL;
}

static void scene_check_value(scene *s, const char *name, double value, double limit, bool at_least) {
    scene_check *c;
    if (s->check_count == SCENE_CHECKS) return;
    c = &s->checks[s->check_count++];
    c->name = name, c->value = value, c->limit = limit, c->at_least = at_least;
    c->ok = at_least ? value >= limit : value <= limit; /* a NaN fails both */
}
static void scene_check_most(scene *s, const char *name, double value, double limit) {
    scene_check_value(s, name, value, limit, false);
}
static void scene_check_least(scene *s, const char *name, double value, double limit) {
    scene_check_value(s, name, value, limit, true);
}

static vec3 scene_position(const isph_view *view, int i) {
    vec3 p;
    memcpy(&p, (const unsigned char *)view->position + (size_t)i * view->stride_bytes, sizeof p);
    return p;
}
static vec3 scene_velocity(const isph_view *view, int i) {
    vec3 v;
    memcpy(&v, (const unsigned char *)view->velocity + (size_t)i * view->stride_bytes, sizeof v);
    return v;
}

static vec3 scene_rotate(isphpbd_quat q, vec3 v) {
    vec3 u = v3(q.x, q.y, q.z), t = v3_scale(v3_cross(u, v), 2.0f);
    return v3_add(v3_madd(v, t, q.w), v3_cross(u, t));
}

static void scene_read_soft(const scene *s, scene_object *o) {
    ipbd_view view = ipbd_body_view(s->soft, o->soft);
    int i;
    for (i = 0; i < view.vertex_count && i < o->shape.vertex_count; ++i)
        memcpy(&o->vertices[i], (const unsigned char *)view.positions + (size_t)i * view.stride_bytes, sizeof(vec3));
}

static int scene_compare(const void *a, const void *b) {
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

static double scene_median(float *values, int count) {
    qsort(values, (size_t)count, sizeof *values, scene_compare);
    return (double)values[count / 2];
}

/* ---- means over the particles that several checks use ------------------------------------------------------------ */

static double scene_mean_height(const scene *s) { /* m, of the centre of mass above the tank's floor */
    isph_view view = isph_particles(s->fluid);
    double sum = 0.0;
    int i;
    for (i = 0; i < view.count; ++i) sum += (double)(scene_position(&view, i).y - s->tank_lo.y);
    return view.count ? sum / view.count : 0.0;
}

static float scene_mean_energy(const scene *s) { /* J/kg, above the height 0 */
    isph_view view = isph_particles(s->fluid);
    float sum = 0.0f;
    int i;
    for (i = 0; i < view.count; ++i) {
        vec3 v = scene_velocity(&view, i);
        sum += (9.81f * scene_position(&view, i).y + 0.5f * v3_dot(v, v)) / (float)view.count;
    }
    return sum;
}

bool scene_complete(const scene *s) { return s->time >= s->def->seconds - 1.5f * s->dt; }

/* m, of water at rest in the tank: what the particles stand for, over the tank's area. */
static float scene_rest_level(const scene *s) {
    float area = (s->tank_hi.x - s->tank_lo.x) * (s->tank_hi.z - s->tank_lo.z);
    return (float)isph_particles(s->fluid).count * s->spacing * s->spacing * s->spacing / area;
}

static double scene_rms_speed(const scene *s) {
    isph_view view = isph_particles(s->fluid);
    double sum = 0.0;
    int i;
    for (i = 0; i < view.count; ++i) {
        vec3 v = scene_velocity(&view, i);
        sum += (double)v3_dot(v, v);
    }
    return view.count ? sqrt(sum / view.count) : 0.0;
}

/* Mean |p - rho g (level - y)| over all particles, relative to the pressure at the bottom. */
static double scene_hydrostatic_error(const scene *s, float level, float density) {
    isph_view view = isph_particles(s->fluid);
    double sum = 0.0, bottom = 9.81 * (double)density * (double)(level - s->tank_lo.y);
    int i;
    for (i = 0; i < view.count; ++i) {
        double depth = (double)(level - scene_position(&view, i).y);
        sum += fabs((double)view.pressure[i] - 9.81 * (double)density * (depth > 0.0 ? depth : 0.0));
    }
    return view.count ? sum / view.count / bottom : 0.0;
}

/* ---- [runtime] --------------------------------------------------------------------------------------------------- */

#include "scenes_fluid.h"
#include "scenes_soft.h"
/* the two below use helpers of the two above */
#include "scenes_coupled.h"
#include "scenes_rigid.h"

static const struct {
    const scene_def *defs;
    int count;
} scene_tables[] = {{scenes_coupled, SCENES_COUPLED_COUNT},
                    {scenes_rigid, SCENES_RIGID_COUNT},
                    {scenes_fluid, SCENES_FLUID_COUNT},
                    {scenes_soft, SCENES_SOFT_COUNT}};
enum { SCENE_TABLES = sizeof scene_tables / sizeof scene_tables[0] };

int scene_count(void) {
    int i, n = 0;
    for (i = 0; i < SCENE_TABLES; ++i) n += scene_tables[i].count;
    return n;
}

const scene_def *scene_at(int index) {
    int i;
    for (i = 0; index >= scene_tables[i].count; ++i) index -= scene_tables[i].count;
    return &scene_tables[i].defs[index];
}

const scene_def *scene_find(const char *name) {
    int i;
    for (i = 0; i < scene_count(); ++i)
        if (strcmp(scene_at(i)->name, name) == 0) return scene_at(i);
    return NULL;
}

scene_options scene_options_default(void) {
    scene_options o;
    memset(&o, 0, sizeof o);
    o.scale = 1.0f;
    return o;
}

bool scene_options_set(scene_options *o, const char *text) {
    const char *equals = strchr(text, '=');
    scene_key *key = &o->keys[o->key_count];
    char *end;
    if (!equals || equals == text || (size_t)(equals - text) >= sizeof key->name || o->key_count == SCENE_KEYS)
        return false;
    memcpy(key->name, text, (size_t)(equals - text));
    key->name[equals - text] = '\0', key->value = strtod(equals + 1, &end), key->used = false;
    if (end == equals + 1 || *end || !(fabs(key->value) <= 1e30)) return false;
    return ++o->key_count > 0;
}

/* How many letters have to be added, removed or changed to make one name of the other (Levenshtein). */
static int scene_name_distance(const char *a, const char *b) {
    enum { MOST = 32 };
    int row[MOST + 1], i, k, n = (int)strlen(b) < MOST ? (int)strlen(b) : MOST;
    for (k = 0; k <= n; ++k) row[k] = k;
    for (i = 0; a[i]; ++i) {
        int corner = row[0]++;
        for (k = 0; k < n; ++k) {
            int change = corner + (a[i] != b[k]), other = (row[k] < row[k + 1] ? row[k] : row[k + 1]) + 1;
            corner = row[k + 1];
            row[k + 1] = change < other ? change : other;
        }
    }
    return row[n];
}

bool scene_known(const char *name, char *message, size_t message_size) {
    int i, least = 1000, best = 0;
    if (scene_find(name)) return true;
    for (i = 0; i < scene_count(); ++i) {
        int distance = scene_name_distance(name, scene_at(i)->name);
        if (distance < least) least = distance, best = i;
    }
    if (least <= 1 + (int)strlen(name) / 3)
        snprintf(message, message_size, "no scene named '%s': is '%s' meant? --list shows all", name,
                 scene_at(best)->name);
    else snprintf(message, message_size, "no scene named '%s'; --list shows them", name);
    return false;
}

static bool scene_keys_used(scene *s) {
    int i, k;
    for (i = 0; i < s->options.key_count; ++i) {
        size_t used = 0;
        if (s->options.keys[i].used) continue;
        snprintf(s->message, s->message_size, "%s has no setting named '%s'; it has", s->def->name,
                 s->options.keys[i].name);
        for (k = 0; k < s->setting_count && used + 1 < s->message_size; ++k) {
            used = strlen(s->message);
            snprintf(s->message + used, s->message_size - used, " %s", s->settings[k].name);
        }
        return false;
    }
    return true;
}

scene *scene_create(const char *name, const scene_options *options, char *message, size_t message_size) {
    const scene_def *def = scene_find(name);
    scene *s;
    if (!scene_known(name, message, message_size)) return NULL;
    s = (scene *)calloc(1, sizeof *s);
    if (!s) return snprintf(message, message_size, "out of memory"), (scene *)NULL;
    s->def = def, s->options = *options, s->message = message, s->message_size = message_size;
    s->dt = options->dt > 0.0f ? options->dt : def->dt;
    s->seconds = fmaxf(options->seconds > 0.0f ? options->seconds : def->seconds, s->dt); /* one step at least */
    s->measures.highest = -1e30f;
    s->look[0] = s->look[1] = render_water(1.0f);
    s->foam = s->slow = s->smooth = 1.0f;
    if (!def->build(s) || s->refused[0] || !scene_keys_used(s)) {
        if (s->refused[0]) snprintf(message, message_size, "%s: %s", def->name, s->refused);
        scene_destroy(s);
        return NULL;
    }
    scene_update_objects(s);
    return s;
}

static bool scene_outside_tank(const scene *s, vec3 p) {
    /* A particle is a ball of one spacing. One that a body has squeezed into the floor is up to three quarters of it
       deep until it finds its way out: what has left the tank is farther out. */
    float slack = s->spacing;
    return s->has_tank && (p.x < s->tank_lo.x - slack || p.x > s->tank_hi.x + slack || p.z < s->tank_lo.z - slack ||
                           p.z > s->tank_hi.z + slack || p.y < s->tank_lo.y - slack);
}

/* Median density well below the surface: 1 where the volume is right. The surface is taken from the highest particle in
   columns two spacings wide. */
static double scene_deep_density(const scene *s, int *deep_count) {
    isph_view view = isph_particles(s->fluid);
    float cell = 2.0f * s->spacing, *top, *density;
    int nx, nz, i, dx, dz;
    double median;
    vec3 lo = v3_all(1e30f), hi = v3_all(-1e30f);
    *deep_count = 0;
    for (i = 0; i < view.count; ++i)
        lo = v3_min(lo, scene_position(&view, i)), hi = v3_max(hi, scene_position(&view, i));
    if (view.count == 0 || !(hi.x - lo.x < 1e4f * s->spacing && hi.z - lo.z < 1e4f * s->spacing)) return 1.0;
    nx = (int)((hi.x - lo.x) / cell) + 1, nz = (int)((hi.z - lo.z) / cell) + 1;
    top = (float *)malloc((size_t)nx * (size_t)nz * sizeof(float));
    density = (float *)malloc((size_t)view.count * sizeof(float));
    if (!top || !density) {
        free(top);
        free(density);
        return 1.0;
    }
    for (i = 0; i < nx * nz; ++i) top[i] = -1e30f;
    for (i = 0; i < view.count; ++i) {
        vec3 p = scene_position(&view, i);
        float *t = &top[(int)((p.z - lo.z) / cell) * nx + (int)((p.x - lo.x) / cell)];
        *t = fmaxf(*t, p.y);
    }
    for (i = 0; i < view.count; ++i) {
        vec3 p = scene_position(&view, i);
        int x = (int)((p.x - lo.x) / cell), z = (int)((p.z - lo.z) / cell);
        bool deep = true;
        for (dz = -1; dz <= 1; ++dz)
            for (dx = -1; dx <= 1; ++dx)
                if (x + dx >= 0 && z + dz >= 0 && x + dx < nx && z + dz < nz &&
                    top[(z + dz) * nx + x + dx] < p.y + 3.5f * s->spacing)
                    deep = false;
        if (deep) density[(*deep_count)++] = view.density[i];
    }
    median = *deep_count ? scene_median(density, *deep_count) : 1.0;
    free(top);
    free(density);
    return median;
}

/* Rigid bodies where the world has left them (predicted), or where the host has them now. */
static void scene_place_objects(scene *s, bool predicted) {
    int i, k;
    for (i = 0; i < s->object_count; ++i) {
        scene_object *o = &s->objects[i];
        isphpbd_motion motion;
        if (o->soft.id) scene_read_soft(s, o);
        if (o->body.id) {
            motion = scene_host_body(s, o)->motion;
            if (predicted) isphpbd_body_predicted(s->world, o->body, &motion);
        } else if (!o->collider.id || isphpbd_collider_pose(s->world, o->collider, &motion.pose) != ISPHPBD_OK) {
            continue;
        }
        for (k = 0; k < o->shape.vertex_count; ++k)
            o->vertices[k] = v3_add(motion.pose.position, scene_rotate(motion.pose.rotation, o->shape.vertices[k]));
    }
}

static bool scene_pack_points(scene *s) {
    isph_view view = isph_particles(s->fluid);
    int i;
    if (view.count > s->point_capacity) {
        int capacity = view.count + view.count / 4 + 1024;
        vec3 *points = (vec3 *)realloc(s->points, (size_t)capacity * sizeof(vec3));
        uint32_t *ids = (uint32_t *)realloc(s->ids, (size_t)capacity * sizeof(uint32_t));
        if (points) s->points = points;
        if (ids) s->ids = ids;
        if (!points || !ids) return false;
        s->point_capacity = capacity;
    }
    for (i = 0; i < view.count; ++i) s->points[i] = scene_position(&view, i), s->ids[i] = view.id[i];
    s->point_count = view.count;
    return true;
}

/* Particles where the objects' guards forbid them. Those that went through an open sheet are counted once each, so they
   add up over the run; the others are counted as they are now. */
static int scene_count_leaks(scene *s, int *crossed) {
    int i, leaked = 0;
    for (i = 0; i < s->object_count; ++i) {
        scene_object *o = &s->objects[i];
        int found = 0;
        if (o->guard == GUARD_HOLDS || o->guard == GUARD_KEEPS_OUT)
            leaked += found = leak_count_winding(&o->leaks, &o->shape, o->vertices, s->points, s->point_count,
                                                 o->guard == GUARD_HOLDS);
        if (o->guard == GUARD_PARTS)
            *crossed += found = leak_count_crossed(&o->leaks, &o->shape, o->vertices, s->points, s->ids, s->point_count,
                                                   3.0f * s->spacing);
        if (found < 0) leaked += s->point_count; /* out of memory: nothing is known, which is no good news */
    }
    return leaked;
}

/* Things that must never happen, and extremes; looked at after every step. */
static void scene_watch(scene *s) {
    isphpbd_stats stats = isphpbd_world_stats(s->world);
    scene_measures *m = &s->measures;
    int i, intruded = 0, escaped = 0, nan = 0;
    scene_place_objects(s, true);
    if (scene_pack_points(s)) intruded = scene_count_leaks(s, &m->crossed);
    for (i = 0; i < s->point_count; ++i) {
        vec3 p = s->points[i];
        if (!(p.x - p.x == 0.0f && p.y - p.y == 0.0f && p.z - p.z == 0.0f)) ++nan;
        escaped += scene_outside_tank(s, p);
        if (p.y > m->highest) m->highest = p.y;
    }
    if (intruded > m->intruded) m->intruded = intruded;
    if (escaped > m->escaped) m->escaped = escaped;
    if (nan > m->nan) m->nan = nan;
    if (stats.max_speed > m->top_speed) m->top_speed = stats.max_speed;
    m->density_error_sum += (double)stats.density_error_mean;
    if ((double)stats.density_error_max > m->density_error_max) m->density_error_max = (double)stats.density_error_max;
    if ((double)stats.coupling_mismatch > m->coupling_mismatch) m->coupling_mismatch = (double)stats.coupling_mismatch;
}

static void scene_put_bodies(scene *s) { /* state in */
    int i;
    for (i = 0; i < s->object_count; ++i)
        if (s->objects[i].body.id)
            isphpbd_body_put(s->world, s->objects[i].body, &scene_host_body(s, &s->objects[i])->motion);
}

static void scene_take_impulses(scene *s) { /* impulses out; then the host does what hosts do */
    isphpbd_impulse impulse;
    int i;
    for (i = 0; i < s->object_count; ++i) {
        const scene_object *o = &s->objects[i];
        if (o->body.id && isphpbd_body_take(s->world, o->body, &impulse) == ISPHPBD_OK && !o->one_way)
            host_push(s->bodies, o->host_body, &impulse);
    }
    host_step(s->bodies, s->dt);
}

static uint64_t scene_ticks(const scene *s) {
    return s->options.clock.fn ? s->options.clock.fn(s->options.clock.user) : 0;
}

void scene_step(scene *s) {
    isphpbd_step_info info;
    uint64_t wall;
    clock_t cpu;
    if (s->def->before_step) s->def->before_step(s);
    scene_put_bodies(s);
    wall = scene_ticks(s), cpu = clock();
    s->stepping = true;
    info = isphpbd_world_step(s->world, s->dt);
    s->measures.flags |= info.flags, s->measures.refused += info.steps == 0;
    s->stepping = false;
    s->step_cpu = (double)(clock() - cpu) / CLOCKS_PER_SEC, s->step_wall = 1e-9 * (double)(scene_ticks(s) - wall);
    scene_watch(s);
    scene_take_impulses(s);
    ++s->steps;
    s->time = (float)s->steps * s->dt;
    scene_update_objects(s);
    if (s->def->after_step) s->def->after_step(s);
}

static int scene_nan_vertices(const scene *s) {
    int i, k, nan = 0;
    for (i = 0; i < s->object_count; ++i)
        for (k = 0; k < s->objects[i].shape.vertex_count; ++k) {
            vec3 p = s->objects[i].vertices[k];
            nan += !(p.x - p.x == 0.0f && p.y - p.y == 0.0f && p.z - p.z == 0.0f);
        }
    return nan;
}

void scene_finish(scene *s) {
    isphpbd_stats stats = isphpbd_world_stats(s->world);
    double substeps = stats.total_substeps ? (double)stats.total_substeps : 1.0;
    scene_measures *m = &s->measures;
    s->check_count = 0;
    scene_update_objects(s);
    m->pressure_iterations = (double)stats.total_pressure_iterations / substeps;
    m->density_iterations = (double)stats.total_density_iterations / substeps;
    m->coupling_iterations = (double)stats.total_outer_iterations / substeps;
    m->removed = (int)stats.total_culled;
    m->deep_density = scene_deep_density(s, &m->deep_particles);
    scene_check_most(s, "leaked_through_skins", m->intruded + m->crossed, 0);
    scene_check_most(s, "leaked_out_of_tank", m->escaped, 0);
    scene_check_most(s, "nan", m->nan + scene_nan_vertices(s), 0);
    scene_check_most(s, "quarantined", (m->flags & ISPHPBD_STEP_QUARANTINED) != 0, 0);
    scene_check_most(s, "refused_steps", m->refused, 0);
    scene_check_most(s, "removed", m->removed, 1e-3 * stats.fluid_particles);
    scene_check_most(s, "allocations_while_stepping", s->allocations, 0);
    if (s->def->check) s->def->check(s);
}

bool scene_ok(const scene *s) {
    int i;
    for (i = 0; i < s->check_count; ++i)
        if (!s->checks[i].ok) return false;
    return true;
}

int scene_leaked(const scene *s) { return s->measures.intruded + s->measures.crossed + s->measures.escaped; }

uint64_t scene_hash(const scene *s) { return isphpbd_world_hash(s->world); }

void scene_update_objects(scene *s) { scene_place_objects(s, false); }

void scene_destroy(scene *s) {
    int i;
    if (!s) return;
    isphpbd_world_destroy(s->world);
    host_destroy(s->bodies);
    for (i = 0; i < s->object_count; ++i) {
        mesh_free(&s->objects[i].shape);
        leak_free(&s->objects[i].leaks);
        free(s->objects[i].vertices);
    }
    free(s->points);
    free(s->ids);
    free(s);
}

/* ---- [particles] ------------------------------------------------------------------------------------------------- */

void scene_free_particles(scene_particles *p) {
    free(p->position), free(p->velocity), free(p->pressure), free(p->density);
    free(p->foam), free(p->id), free(p->kind), free(p->foam_by_id);
    isph_grid_destroy(p->grid);
    memset(p, 0, sizeof *p);
}

static bool scene_grow_particles(scene_particles *p, int count, float reach) {
    size_t n = (size_t)count + 4096;
    isph_grid_desc grid = isph_grid_desc_default();
    float *foam_by_id = p->foam_by_id;
    uint32_t ids = p->foam_ids;
    double last_time = p->last_time;
    if (count <= p->capacity) return true;
    p->foam_by_id = NULL;
    scene_free_particles(p);
    p->position = (vec3 *)malloc(n * sizeof(vec3)), p->velocity = (vec3 *)malloc(n * sizeof(vec3));
    p->pressure = (float *)malloc(n * sizeof(float)), p->density = (float *)malloc(n * sizeof(float));
    p->foam = (float *)calloc(n, sizeof(float)), p->id = (uint32_t *)malloc(n * sizeof(uint32_t));
    p->kind = (unsigned char *)malloc(n);
    p->foam_by_id = foam_by_id, p->foam_ids = ids, p->last_time = last_time;
    grid.capacity = (int)n;
    grid.radius = reach;
    p->grid = isph_grid_create(&grid, NULL);
    if (!p->position || !p->velocity || !p->pressure || !p->density || !p->foam || !p->id || !p->kind || !p->grid)
        return false;
    p->capacity = (int)n;
    return true;
}

bool scene_read_particles(const scene *s, scene_particles *p) {
    isph_view view;
    int i;
    p->count = 0;
    view = isph_particles(s->fluid);
    if (!scene_grow_particles(p, view.count, 2.0f * s->spacing)) return false;
    for (i = 0; i < view.count; ++i) {
        p->position[i] = scene_position(&view, i);
        p->velocity[i] = scene_velocity(&view, i);
        p->pressure[i] = view.pressure[i];
        p->density[i] = view.density[i];
        p->id[i] = view.id[i];
        p->kind[i] = view.material[i] != 0;
    }
    p->count = view.count;
    return true;
}

static bool scene_foam_room(scene_particles *p) {
    uint32_t most = 0;
    float *grown;
    int i;
    for (i = 0; i < p->count; ++i)
        if (p->id[i] >= most) most = p->id[i] + 1;
    if (most <= p->foam_ids) return true;
    grown = (float *)realloc(p->foam_by_id, (size_t)most * sizeof(float));
    if (!grown) return false;
    memset(grown + p->foam_ids, 0, (size_t)(most - p->foam_ids) * sizeof(float));
    p->foam_by_id = grown, p->foam_ids = most;
    return true;
}

/* How violently the neighbourhood of a particle runs together (after Ihmsen et al. 2012, "Unified spray, foam and air
   bubbles for particle-based fluids"): the mean of the approach speeds, in m/s. */
static float scene_trapped_air(const scene *s, const scene_particles *p, int i) {
    enum { MOST = 64 };
    int near[MOST], n = isph_grid_neighbours(p->grid, i, near, MOST), k;
    float sum = 0.0f;
    if (n > MOST) n = MOST;
    for (k = 0; k < n; ++k) {
        vec3 x = v3_sub(p->position[i], p->position[near[k]]), v = v3_sub(p->velocity[i], p->velocity[near[k]]);
        float distance = v3_length(x), speed = v3_length(v);
        if (distance <= 0.0f || speed <= 0.0f) continue;
        sum += (speed - v3_dot(v, x) / distance) * (1.0f - distance / (2.0f * s->spacing));
    }
    return sum;
}

bool scene_update_foam(const scene *s, scene_particles *p) {
    float fade = expf(-(float)((double)s->time - p->last_time) / 0.45f);
    float scale = sqrtf(9.81f * (s->shown_hi.y - s->shown_lo.y)); /* m/s, a fall through the picture */
    int i;
    p->last_time = (double)s->time;
    if (p->count == 0) return true;
    if (!scene_foam_room(p) || isph_grid_build(p->grid, &p->position[0].x, sizeof(vec3), p->count) != ISPHPBD_OK)
        return false;
    for (i = 0; i < p->count; ++i) {
        float *foam = &p->foam_by_id[p->id[i]];
        float born = 0.85f * f_smooth(1.1f * scale, 4.5f * scale, scene_trapped_air(s, p, i));
        float thin =
            f_smooth(0.98f, 0.6f, p->density[i]) * f_smooth(0.35f * scale, 0.9f * scale, v3_length(p->velocity[i]));
        *foam = fmaxf(*foam * fade, fmaxf(born, 0.3f * thin));
        p->foam[i] = s->foam * *foam;
    }
    return true;
}

#endif /* EXAMPLES_IMPLEMENTATION */
