/* render.h - a software renderer for water, cloth and bodies: one call, one picture. Part of the examples. SPDX: MIT

   Rays through a smooth fluid surface (surface.h) and a tree of triangles and spheres (bvh.h): Fresnel reflection,
   refraction through the water and out of it, absorption and scattering along the way, white foam, shadows. The light
   that reaches the ground is computed by sending sunlight through the scene once per picture, which gives shadows,
   coloured shade under water and caustics in one map. Spray is a white veil of soft droplets. Pixels at edges are
   supersampled. The picture does not depend on the number of threads.
   Define EXAMPLES_IMPLEMENTATION in one file.

   [setup] meshes, tree, surface   [sky] environment   [light] map of the ground   [shade] solids   [water] fluid
   [image] pixels, antialiasing, tone mapping */
#ifndef EXAMPLES_RENDER_H
#define EXAMPLES_RENDER_H

#include "bvh.h"
#include "png.h"
#include "surface.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct render_mesh {
    const vec3 *vertices;
    const uint32_t *indices; /* 3 per triangle */
    int vertex_count, triangle_count;
    vec3 color;    /* linear, 0..1 */
    float opacity; /* 1: solid; less: light passes straight through as through a thin skin */
    float gloss;   /* 0 matt .. 1 polished */
    bool flat;     /* faceted: no smooth normals */
    bool shadowless;
} render_mesh;

typedef struct render_liquid {
    vec3 absorption; /* 1/m: what a metre takes away of red, green, blue */
    vec3 scatter;    /* colour of the light that comes back out of deep liquid */
    float milky;     /* 1/m: how fast that colour builds up */
} render_liquid;

typedef struct render_scene {
    surface_input fluid;
    const uint32_t *particle_colors; /* 0xRRGGBB per particle: draws spheres instead of a surface; NULL: surface */
    render_liquid liquid[2];         /* by surface_input.kind */
    const render_mesh *meshes;
    int mesh_count;
    vec3 eye, target;
    float fov;               /* degrees, vertical */
    float ground;            /* m, height of the floor */
    vec3 shown_lo, shown_hi; /* m, the box whose light and shadow on the floor matter */
} render_scene;

/* Fills the image. false: out of memory (the image is unchanged). */
bool render(image *im, const render_scene *scene, const isphpbd_parallel *parallel);

/* Water that is pleasantly blue at this depth (m): real water is all but clear below some metres. */
render_liquid render_water(float depth);
/* 0xRRGGBB of a value in 0..1: pressure (blue to red, figure 7 of the paper), error (white to red, figure 11). */
uint32_t render_pressure_color(float value);
uint32_t render_error_color(float value);

#ifdef __cplusplus
}
#endif
#endif /* EXAMPLES_RENDER_H */

#if defined(EXAMPLES_IMPLEMENTATION) && !defined(EXAMPLES_RENDER_IMPLEMENTED)
#define EXAMPLES_RENDER_IMPLEMENTED

#include <stdlib.h>
#include <string.h>

#define RENDER_FAR   1e6f
#define RENDER_ETA   1.333f /* refractive index of water */
#define RENDER_TOUCH 0.5f   /* spacings: water this near to a skin is on it */
#define RENDER_WET   0.9f   /* spacings: water that ends this near to a solid wets it */
#define RENDER_BLUR  0.9f   /* pixels: radius of the smallest droplet drawn */
#define RENDER_DROP  0.007f /* of half the height of the picture: radius of the largest */
#define RENDER_SPRAY 0.75f  /* of the light that a droplet stops in its middle */

enum {
    RENDER_DEPTH = 3,
    RENDER_MAP = 256,
    RENDER_SKY_DIRECTIONS = 9
}; /* side of the light map; directions of its ambient part */

typedef struct render_light {
    vec3 sun;
    float sky;
} render_light; /* 1: unshaded */

typedef struct render_context {
    const render_scene *scene;
    image *im;
    surface water;
    bool has_water;
    bvh tree, spray;
    float *spray_shade; /* per droplet: share of the light that its middle stops */
    vec3 *normals;      /* of all corners of triangles, mesh after mesh */
    int *normal_offset; /* per mesh */
    vec3 sun;           /* unit, towards it */
    vec3 forward, right, up;
    float size;                   /* m, diagonal of the shown box */
    float map_x, map_z, map_cell; /* light map: corner and texel in m */
    render_light *map;
    float *photons; /* 3 per sun ray: what arrives, for one row-parallel pass */
    vec3 *landing;
    vec3 *pixels; /* linear colours before tone mapping */
} render_context;

/* ---- [setup] ----------------------------------------------------------------------------------------------------- */

render_liquid render_water(float depth) {
    render_liquid liquid;
    liquid.absorption = v3_scale(v3(1.9f, 0.55f, 0.28f), 1.0f / depth);
    liquid.scatter = v3(0.012f, 0.13f, 0.20f);
    liquid.milky = 0.55f / depth;
    return liquid;
}

static uint32_t render_pack(vec3 c) {
    return (uint32_t)(255.0f * f_clamp(c.x, 0, 1) + 0.5f) << 16 | (uint32_t)(255.0f * f_clamp(c.y, 0, 1) + 0.5f) << 8 |
           (uint32_t)(255.0f * f_clamp(c.z, 0, 1) + 0.5f);
}

uint32_t render_pressure_color(float value) {
    vec3 low = v3(0.10f, 0.32f, 0.85f), middle = v3(0.85f, 0.87f, 0.90f), high = v3(0.86f, 0.07f, 0.08f);
    value = f_clamp(value, 0.0f, 1.0f);
    return render_pack(value < 0.5f ? v3_mix(low, middle, 2.0f * value) : v3_mix(middle, high, 2.0f * value - 1.0f));
}

uint32_t render_error_color(float value) {
    return render_pack(v3_mix(v3(0.93f, 0.94f, 0.95f), v3(0.86f, 0.04f, 0.05f), f_clamp(value, 0.0f, 1.0f)));
}

static vec3 render_face(const render_mesh *part, int face) { /* its normal, twice its area long */
    const uint32_t *t = part->indices + 3 * face;
    vec3 a = part->vertices[t[0]];
    return v3_cross(v3_sub(part->vertices[t[1]], a), v3_sub(part->vertices[t[2]], a));
}

/* One normal per corner of a triangle: the mean, by area, of the faces round the vertex that meet this one at less than
   a crease of 45 degrees. `first` has room for two more than the vertices, `corner` for all corners. */
static void render_mesh_normals(const render_mesh *part, vec3 *normals, int *first, int *corner) {
    const int corners = 3 * part->triangle_count;
    int i, k;
    memset(first, 0, ((size_t)part->vertex_count + 2) * sizeof *first);
    for (i = 0; i < corners; ++i) ++first[part->indices[i] + 2];
    for (i = 2; i < part->vertex_count + 2; ++i) first[i] += first[i - 1];
    for (i = 0; i < corners; ++i) corner[first[part->indices[i] + 1]++] = i;
    for (i = 0; i < corners; ++i) {
        vec3 own = render_face(part, i / 3), sum = own;
        for (k = first[part->indices[i]]; k < first[part->indices[i] + 1]; ++k) {
            vec3 other = render_face(part, corner[k] / 3);
            if (corner[k] != i && v3_dot(own, other) > 0.70711f * v3_length(own) * v3_length(other))
                sum = v3_add(sum, other);
        }
        normals[i] = v3_unit(sum);
    }
}

static bool render_all_normals(render_context *c) {
    const render_scene *s = c->scene;
    int i, vertices = 0, corners = 0, *first, *corner;
    for (i = 0; i < s->mesh_count; ++i) {
        vertices = s->meshes[i].vertex_count > vertices ? s->meshes[i].vertex_count : vertices;
        corners += 3 * s->meshes[i].triangle_count;
    }
    c->normals = (vec3 *)malloc(((size_t)corners + 1) * sizeof(vec3));
    first = (int *)malloc(((size_t)vertices + 2) * sizeof(int));
    corner = (int *)malloc(((size_t)corners + 1) * sizeof(int));
    for (i = 0; i < s->mesh_count && c->normals && first && corner; ++i)
        render_mesh_normals(&s->meshes[i], c->normals + c->normal_offset[i], first, corner);
    free(first);
    free(corner);
    return c->normals && i == s->mesh_count;
}

static bool render_build_tree(render_context *c) {
    const render_scene *s = c->scene;
    int i, k, corners = 0, primitives = s->particle_colors ? s->fluid.count : 0;
    c->normal_offset = (int *)malloc(((size_t)s->mesh_count + 1) * sizeof(int));
    if (!c->normal_offset) return false;
    for (i = 0; i < s->mesh_count; ++i) {
        c->normal_offset[i] = corners;
        corners += 3 * s->meshes[i].triangle_count;
        primitives += s->meshes[i].triangle_count;
    }
    if (!render_all_normals(c) || !bvh_reserve(&c->tree, primitives)) return false;
    for (i = 0; i < s->mesh_count; ++i) {
        const render_mesh *part = &s->meshes[i];
        for (k = 0; k < part->triangle_count; ++k) {
            const uint32_t *t = part->indices + 3 * k;
            bvh_add_triangle(&c->tree, part->vertices[t[0]], part->vertices[t[1]], part->vertices[t[2]], i, k);
        }
    }
    if (s->particle_colors)
        for (i = 0; i < s->fluid.count; ++i)
            bvh_add_sphere(&c->tree, s->fluid.positions[i], 0.48f * s->fluid.spacing, i);
    bvh_build(&c->tree);
    return true;
}

/* Droplets smaller than a pixel become as large as one and fainter instead: no noise, no twinkling. Soft balls look
   smaller than they are: 1.5 times. */
static bool render_build_spray(render_context *c) {
    float pixel = 2.0f * v3_length(c->up) / (float)c->im->height; /* m, seen from a metre */
    int i;
    c->spray_shade = (float *)malloc(((size_t)c->water.spray_count + 1) * sizeof(float));
    if (!c->spray_shade || !bvh_reserve(&c->spray, c->water.spray_count)) return false;
    for (i = 0; i < c->water.spray_count; ++i) {
        const surface_droplet *d = &c->water.spray[i];
        float away = v3_length(v3_sub(d->centre, c->scene->eye)), most = RENDER_DROP * v3_length(c->up) * away;
        float own = fminf(1.5f * d->radius, most), radius = fmaxf(own, RENDER_BLUR * pixel * away);
        c->spray_shade[i] = RENDER_SPRAY * own * own / (radius * radius);
        bvh_add_sphere(&c->spray, d->centre, radius, i);
    }
    bvh_build(&c->spray);
    return true;
}

static vec3 render_facet(const bvh_primitive *face) { return v3_unit(v3_cross(face->e1, face->e2)); }

/* For surface_input.solid: thick is what cannot be seen through and is left 2.5 spacings farther on or more. */
static surface_touch render_touch(void *user, vec3 p, vec3 direction, float reach, vec3 *point, vec3 *normal) {
    const render_context *c = (const render_context *)user;
    bvh_hit near = bvh_nearest(&c->tree, p, direction, 0.0f, reach), far;
    const bvh_primitive *face, *back;
    if (near.primitive < 0) return SURFACE_NOTHING;
    face = &c->tree.primitives[near.primitive];
    *point = v3_madd(p, direction, near.t), *normal = render_facet(face);
    if (c->scene->meshes[face->owner].opacity < 0.99f || v3_dot(*normal, direction) > 0.0f) return SURFACE_THIN;
    far = bvh_nearest(&c->tree, p, direction, near.t + 0.05f * reach, RENDER_FAR);
    back = &c->tree.primitives[far.primitive < 0 ? near.primitive : far.primitive];
    return back->owner == face->owner && v3_dot(render_facet(back), direction) > 0.0f &&
                   far.t - near.t > 2.5f * c->scene->fluid.spacing
               ? SURFACE_THICK
               : SURFACE_THIN;
}

static void render_camera(render_context *c) {
    const render_scene *s = c->scene;
    float half = tanf(0.5f * s->fov * 3.14159265f / 180.0f);
    c->forward = v3_unit(v3_sub(s->target, s->eye));
    c->right = v3_unit(v3_cross(c->forward, v3(0, 1, 0)));
    c->up = v3_scale(v3_cross(c->right, c->forward), half);
    c->right = v3_scale(c->right, half * (float)c->im->width / (float)c->im->height);
}

/* ---- [sky] ------------------------------------------------------------------------------------------------------- */

static const vec3 render_horizon = {0.52f, 0.62f, 0.74f};

/* A bright studio: pale horizon, blue above, one large soft lamp where the sun is. */
static vec3 render_sky(const render_context *c, vec3 d) {
    vec3 color = v3_mix(render_horizon, v3(0.07f, 0.19f, 0.44f), f_smooth(-0.05f, 0.55f, d.y));
    float lamp = v3_dot(d, c->sun);
    color = v3_madd(color, v3(1.0f, 0.96f, 0.88f),
                    0.5f * f_smooth(0.80f, 1.0f, lamp) + 9.0f * f_smooth(0.985f, 0.995f, lamp));
    return color;
}

static vec3 render_ground_color(const render_context *c, vec3 p) {
    float square = 0.125f * c->size;
    int checker = ((int)floorf(p.x / square) + (int)floorf(p.z / square)) & 1;
    return checker ? v3(0.33f, 0.315f, 0.29f) : v3(0.40f, 0.385f, 0.36f);
}

/* ---- [light] ----------------------------------------------------------------------------------------------------- */

static vec3 render_refract(vec3 d, vec3 n, float eta, bool *total) { /* n against d; eta = n1 / n2 */
    float cosine = -v3_dot(d, n), k = 1.0f - eta * eta * (1.0f - cosine * cosine);
    *total = k < 0.0f;
    if (*total) return v3_madd(d, n, 2.0f * cosine);
    return v3_unit(v3_madd(v3_scale(d, eta), n, eta * cosine - sqrtf(k)));
}

static float render_fresnel(float cosine) { /* Schlick, air to water */
    float m = 1.0f - f_clamp(cosine, 0.0f, 1.0f);
    return 0.02f + 0.98f * m * m * m * m * m;
}

static vec3 render_absorb(const render_liquid *liquid, float distance) {
    return v3(expf(-liquid->absorption.x * distance), expf(-liquid->absorption.y * distance),
              expf(-liquid->absorption.z * distance));
}

static render_liquid render_liquid_at(const render_context *c, float kind) {
    const render_liquid *a = &c->scene->liquid[0], *b = &c->scene->liquid[1];
    render_liquid mixed;
    mixed.absorption = v3_mix(a->absorption, b->absorption, kind);
    mixed.scatter = v3_mix(a->scatter, b->scatter, kind);
    mixed.milky = a->milky + kind * (b->milky - a->milky);
    return mixed;
}

/* Where the ray meets the liquid: its surface, or a wall that it touches from inside (then the wall's normal). */
typedef struct render_entry {
    float t;
    vec3 normal;
    bool wall;
} render_entry;

static vec3 render_wall_normal(const surface *s, vec3 p) {
    float e = 2e-3f * s->cell + 1e-5f * (s->hi.x - s->lo.x);
    if (p.x < s->lo.x + e) return v3(-1, 0, 0);
    if (p.x > s->hi.x - e) return v3(1, 0, 0);
    if (p.z < s->lo.z + e) return v3(0, 0, -1);
    if (p.z > s->hi.z - e) return v3(0, 0, 1);
    return p.y < s->lo.y + e ? v3(0, -1, 0) : v3(0, 1, 0);
}

static void render_clip_axis(float o, float d, float lo, float hi, float *t0, float *t1) {
    float a, b;
    if (fabsf(d) < 1e-9f) {
        if (o < lo || o > hi) *t1 = -1.0f;
        return;
    }
    a = (lo - o) / d, b = (hi - o) / d;
    *t0 = fmaxf(*t0, fminf(a, b));
    *t1 = fminf(*t1, fmaxf(a, b));
}

static bool render_clip(const surface *s, vec3 o, vec3 d, float *t0, float *t1) {
    render_clip_axis(o.x, d.x, s->lo.x, s->hi.x, t0, t1);
    render_clip_axis(o.y, d.y, s->lo.y, s->hi.y, t0, t1);
    render_clip_axis(o.z, d.z, s->lo.z, s->hi.z, t0, t1);
    return *t0 < *t1;
}

static bool render_enter(const render_context *c, vec3 o, vec3 d, float t0, float t1, render_entry *entry) {
    const surface *s = &c->water;
    float start = t0;
    vec3 p;
    if (!c->has_water || !render_clip(s, o, d, &t0, &t1)) return false;
    p = v3_madd(o, d, t0 + 1e-4f * s->cell);
    entry->wall = surface_inside(s, p);
    if (entry->wall) {
        entry->t = t0;
        entry->normal = t0 > start ? render_wall_normal(s, v3_madd(o, d, t0)) : v3_scale(d, -1.0f);
        return true;
    }
    if (!surface_cross(s, o, d, t0, t1, true, &entry->t)) return false;
    entry->normal = surface_normal(s, v3_madd(o, d, entry->t));
    if (v3_dot(entry->normal, d) > -0.02f) /* grazing: bend the normal so that it faces the ray */
        entry->normal = v3_unit(v3_madd(entry->normal, d, -0.02f - v3_dot(entry->normal, d)));
    return true;
}

/* From inside the liquid to where the ray leaves it. */
static void render_leave(const render_context *c, vec3 o, vec3 d, render_entry *leaving) {
    float t0 = 0.0f, t1 = RENDER_FAR;
    leaving->t = 0.0f, leaving->normal = d, leaving->wall = false;
    if (!render_clip(&c->water, o, d, &t0, &t1)) return;
    leaving->wall = !surface_cross(&c->water, o, d, 0.0f, t1, false, &leaving->t);
    if (leaving->wall) leaving->t = t1;
    leaving->normal = leaving->wall ? render_wall_normal(&c->water, v3_madd(o, d, t1))
                                    : surface_normal(&c->water, v3_madd(o, d, leaving->t));
}

static float render_floor_distance(const render_context *c, vec3 o, vec3 d) {
    float t = d.y < 0.0f ? (c->scene->ground - o.y) / d.y : RENDER_FAR;
    return t > 1e-4f * c->size ? t : RENDER_FAR;
}

static bool render_is_skin(const render_context *c, const bvh_hit *hit) {
    int owner = hit->primitive >= 0 ? c->tree.primitives[hit->primitive].owner : -1;
    return owner >= 0 && c->scene->meshes[owner].opacity < 0.99f;
}

/* Distance to the floor or to the nearest solid that cannot be seen through, at most t_max. */
static float render_opaque_distance(const render_context *c, vec3 o, vec3 d, float t_max) {
    float t = 1e-4f * c->size, limit = fminf(t_max, render_floor_distance(c, o, d));
    int layer;
    for (layer = 0; layer < 8; ++layer) {
        bvh_hit hit = bvh_nearest(&c->tree, o, d, t, limit);
        if (!render_is_skin(c, &hit)) return hit.t;
        t = hit.t + 1e-4f * c->size;
    }
    return limit;
}

/* What coloured glass or rubber lets through. */
static vec3 render_tint(const render_context *c, const bvh_hit *hit) {
    vec3 color = c->scene->meshes[c->tree.primitives[hit->primitive].owner].color;
    float most = fmaxf(color.x, fmaxf(color.y, fmaxf(color.z, 1e-3f)));
    return v3_mix(v3_all(1.0f), v3_scale(color, 1.0f / most), 0.6f);
}

/* Nearest thing that throws a shadow. */
static bvh_hit render_blocker(const render_context *c, vec3 o, vec3 d, float t_min, float t_max) {
    bvh_hit hit;
    int layer;
    for (layer = 0; layer < 8; ++layer, t_min = hit.t) {
        int owner;
        hit = bvh_nearest(&c->tree, o, d, t_min, t_max);
        owner = hit.primitive < 0 ? -1 : c->tree.primitives[hit.primitive].owner;
        if (owner < 0 || !c->scene->meshes[owner].shadowless) break;
    }
    return hit;
}

/* What reaches a point from the sun, without refraction: blocked by solids, coloured by liquid. */
static vec3 render_sunlight(const render_context *c, vec3 p) {
    vec3 light = v3_all(1.0f);
    float t = 0.0f;
    int pass;
    bvh_hit hit = render_blocker(c, p, c->sun, 1e-3f * c->size, RENDER_FAR);
    if (hit.primitive >= 0) {
        int owner = c->tree.primitives[hit.primitive].owner;
        if (owner < 0) return v3_all(0.0f);
        light = v3_scale(c->scene->meshes[owner].color, 1.0f - c->scene->meshes[owner].opacity);
    }
    for (pass = 0; pass < 3 && c->has_water; ++pass) {
        render_entry in, out;
        float foam, kind;
        render_liquid liquid;
        if (!render_enter(c, p, c->sun, t, RENDER_FAR, &in)) break;
        surface_look(&c->water, v3_madd(p, c->sun, in.t), &foam, &kind);
        render_leave(c, v3_madd(p, c->sun, in.t), c->sun, &out);
        liquid = render_liquid_at(c, kind);
        light = v3_mul(light, v3_scale(render_absorb(&liquid, out.t), 0.94f));
        t = in.t + out.t + 0.5f * c->water.cell;
    }
    return light;
}

/* One ray of sunlight followed down to the floor: where it lands and how much of each colour is left. */
static bool render_photon(const render_context *c, vec3 o, vec3 d, vec3 *power, vec3 *landing) {
    int pass;
    *power = v3_all(1.0f);
    for (pass = 0; pass < 4; ++pass) {
        render_entry in, out;
        float floor_t = (c->scene->ground - o.y) / d.y, foam, kind, stop, reach;
        bvh_hit hit = render_blocker(c, o, d, 1e-4f * c->size, floor_t);
        bool total, enters = render_enter(c, o, d, 1e-4f * c->size, hit.t, &in);
        render_liquid liquid;
        vec3 p;
        if (!enters) {
            if (hit.primitive >= 0) {
                int owner = c->tree.primitives[hit.primitive].owner;
                if (owner < 0 || c->scene->meshes[owner].opacity >= 0.99f) return false;
                *power =
                    v3_mul(*power, v3_scale(c->scene->meshes[owner].color, 1.0f - c->scene->meshes[owner].opacity));
                o = v3_madd(o, d, hit.t);
                continue;
            }
            *landing = v3_madd(o, d, floor_t);
            return d.y < 0.0f;
        }
        p = v3_madd(o, d, in.t);
        *power = v3_scale(*power, 1.0f - render_fresnel(-v3_dot(d, in.normal)));
        surface_look(&c->water, p, &foam, &kind);
        *power = v3_scale(*power, 1.0f - 0.5f * foam);
        liquid = render_liquid_at(c, kind);
        d = render_refract(d, in.normal, 1.0f / RENDER_ETA, &total);
        if (d.y >= -0.05f) return false;
        o = v3_madd(p, d, 0.2f * c->water.cell);
        floor_t = (c->scene->ground - o.y) / d.y;
        render_leave(c, o, d, &out);
        stop = fminf(out.t, floor_t);
        reach = fminf(stop + RENDER_TOUCH * c->scene->fluid.spacing, floor_t); /* cloth under water stops light too */
        if (render_opaque_distance(c, o, d, reach) < 0.999f * reach) return false;
        hit = bvh_nearest(&c->tree, o, d, 1e-4f * c->size, stop + RENDER_TOUCH * c->scene->fluid.spacing);
        if (render_is_skin(c, &hit)) *power = v3_mul(*power, render_tint(c, &hit)); /* the one that holds the liquid */
        *power = v3_mul(*power, render_absorb(&liquid, stop));
        if (floor_t <= out.t + 0.6f * c->water.cell) {
            *landing = v3_madd(o, d, floor_t);
            return true;
        }
        o = v3_madd(o, d, out.t + 0.2f * c->water.cell);
        d = render_refract(d, v3_scale(out.normal, -1.0f), RENDER_ETA, &total);
        if (d.y >= -0.05f) return false;
    }
    return false;
}

enum { RENDER_PHOTONS = 2 * RENDER_MAP }; /* sun rays along one side of the map */

static void render_photon_task(void *ctx, int row) {
    render_context *c = (render_context *)ctx;
    float spacing = c->map_cell * (float)RENDER_MAP / (float)RENDER_PHOTONS;
    float top = c->scene->shown_hi.y + 0.1f * c->size;
    vec3 d = v3_scale(c->sun, -1.0f);
    int i;
    for (i = 0; i < RENDER_PHOTONS; ++i) {
        size_t at = (size_t)row * RENDER_PHOTONS + (size_t)i;
        vec3 target =
            v3(c->map_x + ((float)i + 0.5f) * spacing, c->scene->ground, c->map_z + ((float)row + 0.5f) * spacing);
        vec3 power, o = v3_madd(target, c->sun, (top - c->scene->ground) / c->sun.y);
        if (!render_photon(c, o, d, &power, &c->landing[at])) power = v3_all(0.0f), c->landing[at] = target;
        c->photons[3 * at] = power.x, c->photons[3 * at + 1] = power.y, c->photons[3 * at + 2] = power.z;
    }
}

static render_light *render_texel(const render_context *c, int x, int z) {
    x = x < 0 ? 0 : x >= RENDER_MAP ? RENDER_MAP - 1 : x;
    z = z < 0 ? 0 : z >= RENDER_MAP ? RENDER_MAP - 1 : z;
    return &c->map[z * RENDER_MAP + x];
}

static void render_deposit(render_context *c, size_t at) {
    float share = (float)(RENDER_MAP * RENDER_MAP) / (float)(RENDER_PHOTONS * RENDER_PHOTONS);
    float fx = (c->landing[at].x - c->map_x) / c->map_cell - 0.5f,
          fz = (c->landing[at].z - c->map_z) / c->map_cell - 0.5f;
    int x = (int)floorf(fx), z = (int)floorf(fz), k;
    vec3 power = v3_scale(v3(c->photons[3 * at], c->photons[3 * at + 1], c->photons[3 * at + 2]), share);
    if (!(fx > -1.0f && fz > -1.0f && fx < (float)RENDER_MAP && fz < (float)RENDER_MAP)) return;
    fx -= (float)x, fz -= (float)z;
    for (k = 0; k < 4; ++k) {
        int tx = x + (k & 1), tz = z + (k >> 1);
        if (tx < 0 || tz < 0 || tx >= RENDER_MAP || tz >= RENDER_MAP) continue;
        render_texel(c, tx, tz)->sun =
            v3_madd(render_texel(c, tx, tz)->sun, power, (k & 1 ? fx : 1 - fx) * (k >> 1 ? fz : 1 - fz));
    }
}

/* One pass of the 1 2 1 filter along x or z over the sun's part. */
static void render_soften(render_context *c, vec3 *line, bool along_x) {
    int i, k;
    for (i = 0; i < RENDER_MAP; ++i) {
        for (k = 0; k < RENDER_MAP; ++k) line[k] = (along_x ? render_texel(c, k, i) : render_texel(c, i, k))->sun;
        for (k = 0; k < RENDER_MAP; ++k) {
            vec3 a = line[k > 0 ? k - 1 : 0], b = line[k < RENDER_MAP - 1 ? k + 1 : k];
            vec3 mean = v3_scale(v3_madd(v3_add(a, b), line[k], 2.0f), 0.25f);
            (along_x ? render_texel(c, k, i) : render_texel(c, i, k))->sun = mean;
        }
    }
}

/* How much of the sky a point of the floor sees: a few fixed directions against solids and liquid. */
static float render_sky_share(const render_context *c, vec3 p) {
    float open = 0.0f;
    int k;
    for (k = 0; k < RENDER_SKY_DIRECTIONS; ++k) {
        float angle = 2.3999632f * (float)k, up = 0.25f + 0.7f * ((float)k + 0.5f) / (float)RENDER_SKY_DIRECTIONS;
        float flat = sqrtf(1.0f - up * up), t;
        vec3 d = v3(flat * cosf(angle), up, flat * sinf(angle));
        bvh_hit hit = bvh_nearest(&c->tree, p, d, 1e-3f * c->size, 0.7f * c->size);
        if (hit.primitive >= 0) {
            int owner = c->tree.primitives[hit.primitive].owner;
            open += owner < 0 ? 0.0f : 1.0f - c->scene->meshes[owner].opacity;
        } else if (c->has_water && surface_cross(&c->water, p, d, 1e-3f * c->size, 0.7f * c->size, true, &t)) {
            open += 0.55f;
        } else {
            open += 1.0f;
        }
    }
    return open / (float)RENDER_SKY_DIRECTIONS;
}

enum { RENDER_SKY_STEP = 8 }; /* the sky's share is smooth: every 8th texel is computed, the rest interpolated */

static void render_sky_task(void *ctx, int row) {
    render_context *c = (render_context *)ctx;
    int x;
    for (x = 0; x < RENDER_MAP; x += RENDER_SKY_STEP) {
        vec3 p = v3(c->map_x + ((float)x + 0.5f) * c->map_cell, c->scene->ground + 2e-3f * c->size,
                    c->map_z + ((float)(row * RENDER_SKY_STEP) + 0.5f) * c->map_cell);
        render_texel(c, x, row * RENDER_SKY_STEP)->sky = render_sky_share(c, p);
    }
}

static void render_spread_sky(render_context *c) {
    int x, z;
    for (z = 0; z < RENDER_MAP; ++z) {
        for (x = 0; x < RENDER_MAP; ++x) {
            int x0 = x / RENDER_SKY_STEP * RENDER_SKY_STEP, z0 = z / RENDER_SKY_STEP * RENDER_SKY_STEP;
            int x1 = x0 + RENDER_SKY_STEP < RENDER_MAP ? x0 + RENDER_SKY_STEP : x0;
            int z1 = z0 + RENDER_SKY_STEP < RENDER_MAP ? z0 + RENDER_SKY_STEP : z0;
            float fx = (float)(x - x0) / (float)RENDER_SKY_STEP, fz = (float)(z - z0) / (float)RENDER_SKY_STEP;
            float a = render_texel(c, x0, z0)->sky * (1 - fx) + render_texel(c, x1, z0)->sky * fx;
            float b = render_texel(c, x0, z1)->sky * (1 - fx) + render_texel(c, x1, z1)->sky * fx;
            if (x != x0 || z != z0) render_texel(c, x, z)->sky = a * (1 - fz) + b * fz;
        }
    }
}

static bool render_light_map(render_context *c, const isphpbd_parallel *parallel) {
    const render_scene *s = c->scene;
    size_t rays = (size_t)RENDER_PHOTONS * RENDER_PHOTONS, i;
    vec3 centre = v3_scale(v3_add(s->shown_lo, s->shown_hi), 0.5f);
    float slant = (s->shown_hi.y - s->ground) / c->sun.y; /* how far shadows reach */
    float side = fmaxf(s->shown_hi.x - s->shown_lo.x, s->shown_hi.z - s->shown_lo.z) + slant;
    vec3 line[RENDER_MAP];
    int pass;
    c->map_cell = 1.25f * side / (float)RENDER_MAP;
    c->map_x = centre.x - 0.5f * slant * c->sun.x - 0.625f * side;
    c->map_z = centre.z - 0.5f * slant * c->sun.z - 0.625f * side;
    c->map = (render_light *)calloc((size_t)RENDER_MAP * RENDER_MAP, sizeof *c->map);
    c->photons = (float *)malloc(3 * rays * sizeof(float));
    c->landing = (vec3 *)malloc(rays * sizeof(vec3));
    if (!c->map || !c->photons || !c->landing) return false;
    run_tasks(parallel, render_photon_task, c, RENDER_PHOTONS);
    for (i = 0; i < rays; ++i) render_deposit(c, i);
    for (pass = 0; pass < 4; ++pass) render_soften(c, line, pass & 1);
    run_tasks(parallel, render_sky_task, c, RENDER_MAP / RENDER_SKY_STEP);
    render_spread_sky(c);
    return true;
}

static render_light render_ground_light(const render_context *c, vec3 p) {
    float fx = (p.x - c->map_x) / c->map_cell - 0.5f, fz = (p.z - c->map_z) / c->map_cell - 0.5f, rim;
    render_light light, *a, *b, *d, *e;
    int x, z;
    light.sun = v3_all(1.0f), light.sky = 1.0f;
    rim = fminf(fminf(fx, fz), fminf((float)RENDER_MAP - fx, (float)RENDER_MAP - fz)) / (0.05f * (float)RENDER_MAP);
    if (!(rim > 0.0f)) return light;
    x = (int)fx, z = (int)fz, fx -= (float)x, fz -= (float)z;
    a = render_texel(c, x, z), b = render_texel(c, x + 1, z), d = render_texel(c, x, z + 1),
    e = render_texel(c, x + 1, z + 1);
    light.sun = v3_mix(v3_mix(a->sun, b->sun, fx), v3_mix(d->sun, e->sun, fx), fz);
    light.sky = (a->sky * (1 - fx) + b->sky * fx) * (1 - fz) + (d->sky * (1 - fx) + e->sky * fx) * fz;
    if (rim < 1.0f) light.sun = v3_mix(v3_all(1.0f), light.sun, rim), light.sky = 1.0f + (light.sky - 1.0f) * rim;
    return light;
}

/* ---- [shade] ----------------------------------------------------------------------------------------------------- */

static const vec3 render_sun_color = {1.75f, 1.60f, 1.34f}, render_sky_light = {0.34f, 0.42f, 0.54f},
                  render_spray_color = {1.15f, 1.17f, 1.20f};

static vec3 render_shade_ground(const render_context *c, vec3 o, vec3 d, float t) {
    vec3 p = v3_madd(o, d, t);
    render_light light = render_ground_light(c, p);
    vec3 sun = v3_mul(render_sun_color, v3_scale(light.sun, c->sun.y));
    vec3 color = v3_mul(render_ground_color(c, p), v3_madd(sun, render_sky_light, light.sky));
    vec3 centre = v3_scale(v3_add(c->scene->shown_lo, c->scene->shown_hi), 0.5f);
    float away = hypotf(p.x - centre.x, p.z - centre.z) / c->size;
    return v3_mix(color, render_horizon, f_smooth(0.9f, 6.0f, away));
}

static vec3 render_sphere_color(const render_context *c, int index) {
    uint32_t rgb = c->scene->particle_colors[index];
    vec3 srgb = v3_scale(v3((float)(rgb >> 16 & 255u), (float)(rgb >> 8 & 255u), (float)(rgb & 255u)), 1.0f / 255.0f);
    return v3_mul(srgb, srgb); /* gamma 2 is close enough for a colour scale */
}

/* Smooth and true normal of a mesh where it was hit, on the side the ray comes from. */
static vec3 render_mesh_normal(const render_context *c, const bvh_hit *hit, vec3 d, vec3 *facet) {
    const bvh_primitive *q = &c->tree.primitives[hit->primitive];
    const render_mesh *part = &c->scene->meshes[q->owner];
    const vec3 *corner = c->normals + c->normal_offset[q->owner] + 3 * q->index;
    vec3 n = *facet = render_facet(q);
    if (!part->flat)
        n = v3_unit(v3_madd(v3_madd(v3_scale(corner[0], 1 - hit->u - hit->v), corner[1], hit->u), corner[2], hit->v));
    if (v3_dot(*facet, d) <= 0.0f) return n;
    *facet = v3_scale(*facet, -1.0f);
    return v3_scale(n, -1.0f);
}

static vec3 render_shade_solid(const render_context *c, vec3 o, vec3 d, const bvh_hit *hit, float *opacity) {
    const bvh_primitive *q = &c->tree.primitives[hit->primitive];
    vec3 p = v3_madd(o, d, hit->t), n, facet, color, h, light, out;
    float gloss, facing, rim, lambert, sky;
    *opacity = 1.0f;
    if (q->owner < 0) {
        n = facet = v3_scale(v3_sub(p, q->a), 1.0f / q->e1.x);
        color = render_sphere_color(c, q->index), gloss = 0.15f;
    } else {
        const render_mesh *part = &c->scene->meshes[q->owner];
        n = render_mesh_normal(c, hit, d, &facet);
        color = part->color, gloss = part->gloss;
        *opacity = part->opacity;
    }
    lambert = v3_dot(n, c->sun);
    light = lambert > 0.0f ? v3_scale(render_sunlight(c, v3_madd(p, n, 2e-3f * c->size)), lambert) : v3_all(0.0f);
    sky = 0.45f + 0.55f * (0.5f + 0.5f * n.y);
    out = v3_mul(color, v3_add(v3_mul(render_sun_color, light), v3_scale(render_sky_light, sky)));
    facing = f_clamp(-v3_dot(facet, d), 0.0f, 1.0f);
    rim = render_fresnel(facing) * gloss;
    *opacity += (1.0f - *opacity) * rim; /* a skin mirrors where it is seen edge-on, as glass does */
    out = v3_mix(out, render_sky(c, v3_madd(d, n, -2.0f * v3_dot(n, d))), rim);
    h = v3_unit(v3_sub(c->sun, d));
    return v3_madd(out, light, gloss * 1.2f * powf(fmaxf(v3_dot(n, h), 0.0f), 20.0f + 180.0f * gloss));
}

/* The floor or the sky, whichever the ray meets. */
static vec3 render_backdrop(const render_context *c, vec3 o, vec3 d) {
    float t = render_floor_distance(c, o, d);
    return t < RENDER_FAR ? render_shade_ground(c, o, d, t) : render_sky(c, d);
}

/* ---- [water] ----------------------------------------------------------------------------------------------------- */

static vec3 render_world(const render_context *c, vec3 o, vec3 d, int depth);

/* Water that ends at a skin (glass, rubber) ends where the skin is and leaves by its smooth normal. */
static void render_leave_skin(const render_context *c, vec3 o, vec3 d, render_entry *out) {
    float touch = RENDER_TOUCH * c->scene->fluid.spacing;
    bvh_hit hit = bvh_nearest(&c->tree, o, d, fmaxf(out->t - touch, 1e-4f * c->size), out->t + touch);
    vec3 facet;
    if (!render_is_skin(c, &hit)) return;
    out->normal = v3_scale(render_mesh_normal(c, &hit, d, &facet), -1.0f);
    out->t = hit.t - 0.3f * c->water.cell; /* what comes next meets the skin */
}

/* The solid or floor that a ray in the liquid meets before it leaves, or just after: particles keep half a spacing off
   what they wet, more where it is curved. Measured across the gap, since a ray may pass it at a slant. RENDER_FAR:
   none. */
static float render_wetted(const render_context *c, vec3 o, vec3 d, const render_entry *out, bvh_hit *hit) {
    float gap = (out->wall ? 0.4f : RENDER_WET) * c->scene->fluid.spacing, across;
    float t = render_opaque_distance(c, o, d, out->t + 4.0f * gap);
    *hit = bvh_nearest(&c->tree, o, d, t - 1e-4f * c->size, t + 1e-4f * c->size);
    if (hit->primitive < 0 && t > 0.999f * render_floor_distance(c, o, d)) across = -d.y;
    else if (hit->primitive < 0) return RENDER_FAR;
    else across = fabsf(v3_dot(render_facet(&c->tree.primitives[hit->primitive]), d));
    return (t - out->t) * across < gap ? t : RENDER_FAR;
}

/* What is seen along a ray that enters the liquid at o: solids in it, or the world beyond, dimmed by the way. */
static vec3 render_inside(const render_context *c, vec3 o, vec3 d, const render_liquid *liquid, int depth) {
    float step = 0.2f * c->water.cell, t, opacity, last;
    render_entry out;
    bvh_hit hit;
    vec3 beyond, glow;
    render_leave(c, v3_madd(o, d, step), d, &out);
    last = out.t += step;
    render_leave_skin(c, o, d, &out);
    t = render_wetted(c, o, d, &out, &hit);
    if (t < RENDER_FAR) {
        beyond = hit.primitive >= 0 ? render_shade_solid(c, o, d, &hit, &opacity) : render_shade_ground(c, o, d, t);
        out.t = fminf(out.t, t);
    } else {
        bool total;
        vec3 next = render_refract(d, v3_scale(out.normal, -1.0f), RENDER_ETA, &total);
        if (total && depth > 0) beyond = render_inside(c, v3_madd(o, d, last - step), next, liquid, depth - 1);
        else beyond = render_world(c, v3_madd(o, d, out.t + step), next, depth - 1);
    }
    glow = v3_scale(liquid->scatter, 1.0f - expf(-liquid->milky * out.t));
    return v3_add(v3_mul(beyond, render_absorb(liquid, out.t)), glow);
}

static vec3 render_foam(const render_context *c, vec3 n) {
    float lambert = 0.35f + 0.65f * fmaxf(v3_dot(n, c->sun), 0.0f); /* foam scatters: light goes round */
    vec3 light = v3_scale(render_sun_color, 0.55f * lambert);
    return v3_mul(v3(0.93f, 0.96f, 0.98f), v3_madd(light, render_sky_light, 0.55f + 0.35f * n.y));
}

static vec3 render_shade_water(const render_context *c, vec3 o, vec3 d, const render_entry *in, int depth) {
    vec3 p = v3_madd(o, d, in->t), mirror, color, bent;
    float cosine = -v3_dot(d, in->normal), f = render_fresnel(cosine), foam, kind, step = 0.2f * c->water.cell;
    render_liquid liquid;
    bool total;
    surface_look(&c->water, p, &foam, &kind);
    liquid = render_liquid_at(c, kind);
    bent = render_refract(d, in->normal, 1.0f / RENDER_ETA, &total);
    color = render_inside(c, p, bent, &liquid, depth);
    if (foam > 0.0f) color = v3_mix(color, render_foam(c, in->normal), 0.92f * foam);
    mirror = v3_madd(d, in->normal, 2.0f * cosine);
    if (f > 0.04f) mirror = render_world(c, v3_madd(p, in->normal, step), mirror, 0);
    else mirror = render_backdrop(c, p, mirror);
    return v3_mix(color, mirror, f * (1.0f - 0.7f * foam));
}

/* Spray in front of what is seen along a ray up to t: white, as everything is that scatters all the light. */
static vec3 render_through_spray(const render_context *c, vec3 o, vec3 d, float t, vec3 color) {
    float left = bvh_veil(&c->spray, c->spray_shade, o, d, 0.0f, t);
    return left < 1.0f ? v3_mix(render_spray_color, color, left) : color;
}

/* Everything along a ray through air: skins blended in order, then liquid, solid, floor or sky. depth: how often liquid
   may still be entered. */
static vec3 render_world(const render_context *c, vec3 o, vec3 d, int depth) {
    vec3 color = v3_all(0.0f), share = v3_all(1.0f);
    float t = 0.0f, floor_t = render_floor_distance(c, o, d), opacity;
    float touch = RENDER_TOUCH * c->scene->fluid.spacing, skin_t = -RENDER_FAR;
    vec3 skin_normal = d;
    int layer;
    for (layer = 0; layer < 8 && fmaxf(share.x, fmaxf(share.y, share.z)) > 0.01f; ++layer) {
        bvh_hit hit = bvh_nearest(&c->tree, o, d, t + 1e-4f * c->size, floor_t);
        render_entry in;
        vec3 seen, facet;
        /* water just before a skin belongs behind it; just before a solid there is none, a drop is larger than that */
        float until = hit.primitive < 0 ? hit.t : hit.t - (render_is_skin(c, &hit) ? touch : 0.6f * touch);
        if (depth > 0 && render_enter(c, o, d, t, until, &in)) {
            if (in.t - skin_t < touch) in.normal = skin_normal; /* it fills the skin */
            seen = render_shade_water(c, o, d, &in, depth - 1), t = in.t, opacity = 1.0f;
        } else if (hit.primitive < 0) {
            seen = render_backdrop(c, o, d), t = hit.t, opacity = 1.0f;
        } else {
            seen = render_shade_solid(c, o, d, &hit, &opacity), t = hit.t;
        }
        color = v3_add(color, v3_mul(seen, v3_scale(share, opacity)));
        if (opacity >= 1.0f || !render_is_skin(c, &hit)) break;
        share = v3_mul(share, v3_scale(render_tint(c, &hit), 1.0f - opacity));
        skin_t = t, skin_normal = render_mesh_normal(c, &hit, d, &facet);
    }
    return render_through_spray(c, o, d, t, color);
}

/* ---- [image] ----------------------------------------------------------------------------------------------------- */

static vec3 render_ray(const render_context *c, float x, float y) {
    float u = 2.0f * x / (float)c->im->width - 1.0f, v = 1.0f - 2.0f * y / (float)c->im->height;
    vec3 d = v3_unit(v3_madd(v3_madd(c->forward, c->right, u), c->up, v));
    return render_world(c, c->scene->eye, d, RENDER_DEPTH);
}

static void render_row_task(void *ctx, int y) {
    render_context *c = (render_context *)ctx;
    int x;
    for (x = 0; x < c->im->width; ++x)
        c->pixels[(size_t)y * (size_t)c->im->width + (size_t)x] = render_ray(c, (float)x + 0.5f, (float)y + 0.5f);
}

static vec3 render_tone(vec3 c) { /* filmic shoulder, then display gamma */
    float *v[3];
    int k;
    v[0] = &c.x, v[1] = &c.y, v[2] = &c.z;
    for (k = 0; k < 3; ++k) {
        float x = fmaxf(0.70f * *v[k], 0.0f);
        x = x * (2.2f * x + 0.12f) / (x * (2.05f * x + 0.62f) + 0.16f);
        *v[k] = powf(f_clamp(x, 0.0f, 1.0f), 1.0f / 2.2f);
    }
    return c;
}

static float render_contrast(const render_context *c, int x, int y) {
    const vec3 *p = c->pixels;
    int w = c->im->width, h = c->im->height, k;
    vec3 here = render_tone(p[y * w + x]);
    float most = 0.0f;
    static const int step[4][2] = {{1, 0}, {-1, 0}, {0, 1}, {0, -1}};
    for (k = 0; k < 4; ++k) {
        int nx = x + step[k][0], ny = y + step[k][1];
        vec3 there;
        if (nx < 0 || ny < 0 || nx >= w || ny >= h) continue;
        there = v3_sub(render_tone(p[ny * w + nx]), here);
        most = fmaxf(most, fmaxf(fabsf(there.x), fmaxf(fabsf(there.y), fabsf(there.z))));
    }
    return most;
}

/* Where a pixel differs from its neighbours, four more rays; tone mapped before the mean so that glints stay smooth. */
static void render_finish_task(void *ctx, int y) {
    render_context *c = (render_context *)ctx;
    static const float offset[4][2] = {{0.375f, 0.125f}, {0.875f, 0.375f}, {0.125f, 0.625f}, {0.625f, 0.875f}};
    int x, k;
    for (x = 0; x < c->im->width; ++x) {
        unsigned char *out = c->im->rgb + 3 * ((size_t)y * (size_t)c->im->width + (size_t)x);
        vec3 color = render_tone(c->pixels[y * c->im->width + x]);
        uint32_t rgb;
        if (render_contrast(c, x, y) > 0.07f) {
            for (k = 0; k < 4; ++k)
                color = v3_add(color, render_tone(render_ray(c, (float)x + offset[k][0], (float)y + offset[k][1])));
            color = v3_scale(color, 0.2f);
        }
        rgb = render_pack(color);
        out[0] = (unsigned char)(rgb >> 16), out[1] = (unsigned char)(rgb >> 8), out[2] = (unsigned char)rgb;
    }
}

bool render(image *im, const render_scene *scene, const isphpbd_parallel *parallel) {
    render_context c;
    bool ok;
    memset(&c, 0, sizeof c);
    c.scene = scene, c.im = im;
    c.sun = v3_unit(v3(-0.45f, 0.80f, 0.28f));
    c.size = v3_length(v3_sub(scene->shown_hi, scene->shown_lo));
    render_camera(&c);
    c.pixels = (vec3 *)malloc((size_t)im->width * (size_t)im->height * sizeof(vec3));
    ok = c.pixels && render_build_tree(&c);
    if (ok && !scene->particle_colors && scene->fluid.count > 0) {
        surface_input fluid = scene->fluid;
        fluid.solid = render_touch, fluid.solid_user = &c;
        ok = surface_create(&c.water, &fluid, parallel) && render_build_spray(&c);
    }
    c.has_water = c.water.phi != NULL;
    ok = ok && render_light_map(&c, parallel);
    if (ok) {
        run_tasks(parallel, render_row_task, &c, im->height);
        run_tasks(parallel, render_finish_task, &c, im->height);
    }
    surface_destroy(&c.water);
    bvh_free(&c.tree);
    bvh_free(&c.spray);
    free(c.spray_shade);
    free(c.normals);
    free(c.normal_offset);
    free(c.map);
    free(c.photons);
    free(c.landing);
    free(c.pixels);
    return ok;
}

#endif /* EXAMPLES_IMPLEMENTATION */
