/* surface.h - a smooth surface round fluid particles, for the renderer of the examples. SPDX: MIT

   The particles are splatted into a grid as ellipsoids that follow the shape of their neighbourhood (after Yu and Turk,
   "Reconstructing surfaces of particle-based fluids using anisotropic kernels", 2013), so that calm water is flat and
   sheets are sheets; rays then look for the level 0.5 of the field. Particles near a flat wall are mirrored at it, so
   that the water fills the tank up to the glass. A particle without neighbours stands for spray: droplets, too fine for
   the grid, are listed instead. Define EXAMPLES_IMPLEMENTATION in one file.

   [particles] neighbourhoods and ellipsoids   [field] splatting   [rays] crossing the surface */
#ifndef EXAMPLES_SURFACE_H
#define EXAMPLES_SURFACE_H

#include "vec.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { SURFACE_WALLS = 6 }; /* bit 2 * axis: wall at lo, bit 2 * axis + 1: wall at hi */

typedef enum surface_touch { SURFACE_NOTHING = 0, SURFACE_THICK, SURFACE_THIN } surface_touch;

typedef struct surface_input {
    const vec3 *positions;
    const vec3 *velocities;    /* m/s, or NULL: spray flies in streaks along them */
    const float *foam;         /* 0..1 per particle, or NULL */
    const unsigned char *kind; /* 0 or 1 per particle: which of two liquids, or NULL */
    int count;
    float spacing; /* m, distance of particles at rest */
    float smooth;  /* 1: usual; more: the neighbourhood that shapes a drop is so much wider, for thick liquids */
    vec3 lo, hi;   /* nothing outside this box is shown */
    unsigned walls;
    /* What lies at most reach away along the unit direction, and the plane of its face (unit normal, a point of it).
       NULL: nothing anywhere. Where water touches something, the gap of half a spacing that particles keep from it is
       closed: into a thick body the water goes on, on a thin one it ends. */
    surface_touch (*solid)(void *user, vec3 p, vec3 direction, float reach, vec3 *point, vec3 *normal);
    void *solid_user;
} surface_input;

typedef struct surface_droplet { /* a small ball of water that flies alone, one of a cloud */
    vec3 centre;
    float radius; /* m */
} surface_droplet;

typedef struct surface {
    surface_droplet *spray;
    int spray_count;
    vec3 lo, hi;          /* the fluid is cut off here */
    vec3 origin;          /* position of the grid point 0 0 0 */
    float cell;           /* m, distance of grid points */
    int nx, ny, nz;       /* grid points per axis */
    int bx, by, bz;       /* blocks of 4 x 4 x 4 cells per axis */
    float *phi;           /* about 1 inside, 0 outside, 0.5 at the surface */
    float *foam, *kind;   /* sums weighted like phi */
    unsigned char *block; /* 0: all outside, 1: surface may pass, 2: all inside */
} surface;

bool surface_create(surface *s, const surface_input *in, const isphpbd_parallel *parallel); /* false: out of memory */
void surface_destroy(surface *s);
bool surface_inside(const surface *s, vec3 p);
bool surface_cross(const surface *s, vec3 origin, vec3 direction, float t0, float t1, bool into,
                   float *t);                                          /* first crossing */
vec3 surface_normal(const surface *s, vec3 p);                         /* unit, outward */
void surface_look(const surface *s, vec3 p, float *foam, float *kind); /* shares at a point of the surface, 0..1 */

#ifdef __cplusplus
}
#endif
#endif /* EXAMPLES_SURFACE_H */

#if defined(EXAMPLES_IMPLEMENTATION) && !defined(EXAMPLES_SURFACE_IMPLEMENTED)
#define EXAMPLES_SURFACE_IMPLEMENTED

#include <stdlib.h>
#include <string.h>

/* ---- [particles] ------------------------------------------------------------------------------------------------- */

#define SURFACE_REACH 3.0f /* spacings: neighbourhood that shapes an ellipsoid */
#define SURFACE_LEVEL 0.5f
#define SURFACE_CELLS 12000000.0f /* most grid points: larger scenes get a coarser grid */

typedef struct surface_drop {
    vec3 position, shift; /* shift: towards the mean of the neighbourhood */
    vec3 velocity;
    float xx, xy, xz, yy, yz,
        zz;                 /* inverse of the ellipsoid's shape matrix: unit ball when multiplied by offset / radius */
    float radius, weight;   /* m; weight such that the integral over the ellipsoid is the particle's volume */
    vec3 extent;            /* m, half size of the bounding box */
    float foam, kind, fill; /* fill: share of the neighbourhood that holds particles, 1 inside, 0.5 at a flat surface */
    bool ghost;             /* the image of a drop behind something thin: there is no water there */
} surface_drop;

typedef struct surface_work {
    surface *s;
    float *ghost; /* the share of the field that images behind thin things have made */
    const surface_input *in;
    surface_drop *drops, *spare;
    int count, capacity;
    vec3 lo;     /* of the search grid */
    float reach; /* m, its cell size */
    int nx, ny, nz, *start;
} surface_work;

static bool surface_push(surface_work *w, const surface_drop *drop) {
    if (w->count == w->capacity) {
        int capacity = w->capacity ? 2 * w->capacity : 1024;
        surface_drop *drops = (surface_drop *)realloc(w->drops, (size_t)capacity * sizeof *drops);
        if (!drops) return false;
        w->drops = drops, w->capacity = capacity;
    }
    w->drops[w->count++] = *drop;
    return true;
}

static float *surface_component(vec3 *v, int axis) { return axis == 0 ? &v->x : axis == 1 ? &v->y : &v->z; }

/* The particles inside the box, then their mirror images at the walls (an edge mirrors what a face has mirrored). */
static bool surface_collect(surface_work *w) {
    surface_drop d;
    int i, wall, n;
    float near = (SURFACE_REACH * w->in->smooth + 0.5f) * w->in->spacing;
    memset(&d, 0, sizeof d);
    for (i = 0; i < w->in->count; ++i) {
        vec3 p = w->in->positions[i], lo = w->s->lo, hi = w->s->hi;
        if (!(p.x >= lo.x && p.y >= lo.y && p.z >= lo.z && p.x <= hi.x && p.y <= hi.y && p.z <= hi.z)) continue;
        d.position = p;
        d.velocity = w->in->velocities ? w->in->velocities[i] : v3_all(0.0f);
        d.foam = w->in->foam ? w->in->foam[i] : 0.0f;
        d.kind = w->in->kind ? (float)w->in->kind[i] : 0.0f;
        if (!surface_push(w, &d)) return false;
    }
    for (wall = 0; wall < SURFACE_WALLS; ++wall) {
        vec3 corner = wall & 1 ? w->s->hi : w->s->lo;
        float plane = *surface_component(&corner, wall / 2);
        if (!(w->in->walls >> wall & 1u)) continue;
        for (i = 0, n = w->count; i < n; ++i) {
            float *c;
            d = w->drops[i];
            c = surface_component(&d.position, wall / 2);
            if (fabsf(*c - plane) > near) continue;
            *c = 2.0f * plane - *c;
            if (!surface_push(w, &d)) return false;
        }
    }
    return true;
}

static int surface_bin(const surface_work *w, vec3 p) {
    int x = (int)((p.x - w->lo.x) / w->reach), y = (int)((p.y - w->lo.y) / w->reach),
        z = (int)((p.z - w->lo.z) / w->reach);
    return (z * w->ny + y) * w->nx + x;
}

/* Counting sort of the drops into cells as wide as the neighbourhood. */
static bool surface_sort(surface_work *w) {
    vec3 hi = w->drops[0].position;
    int i, bins;
    w->lo = hi;
    for (i = 1; i < w->count; ++i) w->lo = v3_min(w->lo, w->drops[i].position), hi = v3_max(hi, w->drops[i].position);
    w->reach = SURFACE_REACH * w->in->smooth * w->in->spacing;
    w->nx = (int)((hi.x - w->lo.x) / w->reach) + 1;
    w->ny = (int)((hi.y - w->lo.y) / w->reach) + 1;
    w->nz = (int)((hi.z - w->lo.z) / w->reach) + 1;
    bins = w->nx * w->ny * w->nz;
    w->start = (int *)calloc((size_t)bins + 2, sizeof *w->start);
    w->spare = (surface_drop *)malloc(4 * (size_t)w->count * sizeof *w->spare); /* each may get three images */
    if (!w->start || !w->spare) return false;
    for (i = 0; i < w->count; ++i) ++w->start[surface_bin(w, w->drops[i].position) + 2];
    for (i = 2; i < bins + 2; ++i) w->start[i] += w->start[i - 1];
    for (i = 0; i < w->count; ++i) w->spare[w->start[surface_bin(w, w->drops[i].position) + 1]++] = w->drops[i];
    memcpy(w->drops, w->spare, (size_t)w->count * sizeof *w->drops);
    return true;
}

typedef struct surface_sums {
    float w, mean_w;
    vec3 mean;
    float xx, xy, xz, yy, yz, zz;
} surface_sums;

static void surface_visit(const surface_drop *other, vec3 d, float weight, bool shape, surface_sums *sums) {
    if (shape) {
        sums->w += weight;
        sums->mean = v3_madd(sums->mean, d, weight);
        sums->xx += weight * d.x * d.x, sums->xy += weight * d.x * d.y, sums->xz += weight * d.x * d.z;
        sums->yy += weight * d.y * d.y, sums->yz += weight * d.y * d.z, sums->zz += weight * d.z * d.z;
    } else { /* mean shift, counting most those that shift most: the neighbours at the surface */
        weight *= v3_length(other->shift);
        sums->mean_w += weight;
        sums->mean = v3_madd(sums->mean, other->shift, weight);
    }
}

/* Sums over every drop within reach of p, weighted by 1 - (r / reach)^3: the shape, or the mean shift. */
static surface_sums surface_neighbours(const surface_work *w, vec3 p, bool shape) {
    surface_sums sums;
    float r2max = w->reach * w->reach;
    int cx = (int)((p.x - w->lo.x) / w->reach), cy = (int)((p.y - w->lo.y) / w->reach),
        cz = (int)((p.z - w->lo.z) / w->reach);
    int x0 = cx > 0 ? cx - 1 : 0, x1 = cx < w->nx - 1 ? cx + 1 : cx, y, z, j;
    memset(&sums, 0, sizeof sums);
    for (z = cz > 0 ? cz - 1 : 0; z <= cz + 1 && z < w->nz; ++z) {
        for (y = cy > 0 ? cy - 1 : 0; y <= cy + 1 && y < w->ny; ++y) {
            int row = (z * w->ny + y) * w->nx, end = w->start[row + x1 + 1];
            for (j = w->start[row + x0]; j < end; ++j) {
                vec3 d = v3_sub(w->drops[j].position, p);
                float r2 = v3_dot(d, d);
                if (r2 < r2max)
                    surface_visit(&w->drops[j], d, 1.0f - r2 * sqrtf(r2) / (r2max * w->reach), shape, &sums);
            }
        }
    }
    return sums;
}

/* Sets shape = a * identity + b * covariance, stores its inverse and what the splat needs. */
static void surface_shape(surface_drop *d, const surface_sums *n, float variance, float spacing, float smooth) {
    const float least = 0.35f; /* of the ellipsoid's axes, so that a sheet still covers two grid points */
    float b = (1.0f - least) / variance, mx = n->mean.x / n->w, my = n->mean.y / n->w, mz = n->mean.z / n->w;
    float xx = least + b * (n->xx / n->w - mx * mx), yy = least + b * (n->yy / n->w - my * my);
    float zz = least + b * (n->zz / n->w - mz * mz), xy = b * (n->xy / n->w - mx * my);
    float xz = b * (n->xz / n->w - mx * mz), yz = b * (n->yz / n->w - my * mz);
    float cx = yy * zz - yz * yz, cy = xz * yz - xy * zz, cz = xy * yz - xz * yy;
    float det = xx * cx + xy * cy + xz * cz, inverse = 1.0f / det, h;
    d->xx = cx * inverse, d->xy = cy * inverse, d->xz = cz * inverse;
    d->yy = (xx * zz - xz * xz) * inverse, d->yz = (xy * xz - xx * yz) * inverse, d->zz = (xx * yy - xy * xy) * inverse;
    h = d->radius = spacing * smooth * (1.0f + 1.6f * f_smooth(0.02f, 0.3f, d->fill));
    d->extent = v3(h * sqrtf(xx * xx + xy * xy + xz * xz), h * sqrtf(xy * xy + yy * yy + yz * yz),
                   h * sqrtf(xz * xz + yz * yz + zz * zz));
    /* 315 / (64 pi) normalises (1 - q^2)^3 over the unit ball */
    d->weight = 1.5666815f * spacing * spacing * spacing / (h * h * h * det);
}

/* A jet that falls or a sheet that spreads has fewer particles than water at rest but no holes: the weights make up for
   what is missing. At a surface half of the neighbourhood is air, which the distance of the mean tells: 0.32 of the
   reach for a half ball. */
static float surface_thinned(const surface_drop *d, float reach) {
    float water = fmaxf(1.0f - 1.6f * v3_length(d->shift) / reach, 0.3f), density = d->fill / water;
    return density < 0.8f ? fminf(0.8f / density, 2.5f) : 1.0f;
}

/* How much of a drop is spray: all of it alone, half of it in a thread of drops, nothing in a sheet of them (0.3). */
static float surface_sprayed(const surface_drop *d) { return 1.0f - f_smooth(0.05f, 0.20f, d->fill); }

/* Water torn to shreds scatters light at its many faces: whiter than the sheet it was. */
static float surface_whitened(const surface_drop *d) { return 0.35f * (1.0f - f_smooth(0.12f, 0.30f, d->fill)); }

enum { SURFACE_CHUNK = 1024 };

static void surface_shape_task(void *ctx, int task) {
    surface_work *w = (surface_work *)ctx;
    int i, end = (task + 1) * SURFACE_CHUNK < w->count ? (task + 1) * SURFACE_CHUNK : w->count;
    float across = w->reach / w->in->spacing, full = 2.0944f * across * across * across;
    for (i = task * SURFACE_CHUNK; i < end; ++i) {
        surface_drop *d = &w->drops[i];
        surface_sums n = surface_neighbours(w, d->position, true);
        d->fill = n.w / full;
        d->shift = v3_scale(n.mean, 1.0f / n.w);
        surface_shape(d, &n, 0.15f * w->reach * w->reach, w->in->spacing, w->in->smooth);
        d->weight *= surface_thinned(d, w->reach) * (1.0f - surface_sprayed(d));
        d->foam = fmaxf(d->foam, surface_whitened(d));
    }
}

/* Smoothing without shrinking: every drop moves towards its mean less what its neighbours at the surface would move. */
static void surface_relax_task(void *ctx, int task) {
    surface_work *w = (surface_work *)ctx;
    int i, end = (task + 1) * SURFACE_CHUNK < w->count ? (task + 1) * SURFACE_CHUNK : w->count;
    for (i = task * SURFACE_CHUNK; i < end; ++i) {
        surface_drop *d = &w->spare[i];
        surface_sums n = surface_neighbours(w, d->position, false);
        vec3 common = n.mean_w > 0.0f ? v3_scale(n.mean, 1.0f / n.mean_w) : v3_all(0.0f);
        d->position = v3_madd(d->position, v3_sub(d->shift, common), 0.8f * f_smooth(0.05f, 0.3f, d->fill));
    }
}

typedef struct surface_face {
    vec3 point, normal;
    surface_touch touch;
} surface_face;
enum { SURFACE_FACES = 2 }; /* that a drop in a corner touches */

/* The faces near a drop, met outward or along an axis, each direction of a face once. */
static int surface_near_faces(const surface_work *w, const surface_drop *d, vec3 outward, surface_face *faces) {
    int k, i, n = 0;
    for (k = 0; k < 7 && n < SURFACE_FACES; ++k) {
        vec3 direction = k == 0 ? outward : v3_all(0.0f);
        surface_face *f = &faces[n];
        bool known = false;
        if (k > 0) *surface_component(&direction, (k - 1) / 2) = k & 1 ? -1.0f : 1.0f;
        f->touch =
            w->in->solid(w->in->solid_user, d->position, direction, 2.0f * w->in->spacing, &f->point, &f->normal);
        for (i = 0; i < n; ++i) known = known || fabsf(v3_dot(f->normal, faces[i].normal)) > 0.75f;
        if (f->touch != SURFACE_NOTHING && !known) ++n;
    }
    return n;
}

static void surface_mirror(surface_work *w, surface_drop d, const surface_face *face) {
    d.position = v3_madd(d.position, face->normal, 2.0f * v3_dot(face->normal, v3_sub(face->point, d.position)));
    d.ghost = d.ghost || face->touch == SURFACE_THIN;
    w->spare[w->count++] = d;
}

/* Images of the outermost drops in the faces they touch; in a corner also the image of an image. */
static void surface_fill_gaps(surface_work *w) {
    surface_face faces[SURFACE_FACES];
    int i, k, n, count = w->count;
    for (i = 0; w->in->solid && i < count; ++i) {
        const surface_drop *d = &w->spare[i];
        float length = v3_length(d->shift);
        if (length < 0.1f * w->in->spacing || d->fill < 0.1f) continue; /* inside, or a drop of its own */
        n = surface_near_faces(w, d, v3_scale(d->shift, -1.0f / length), faces);
        for (k = 0; k < n; ++k) surface_mirror(w, *d, &faces[k]);
        if (n == 2) surface_mirror(w, w->spare[w->count - 2], &faces[1]);
    }
}

#define SURFACE_SHUTTER 0.010f  /* s, how long a droplet is seen: the length of its streak */
enum { SURFACE_DROPLETS = 16 }; /* that a particle of spray is drawn as */

/* A drop that flies alone as a cloud of unequal droplets about its place, drawn out along its way. The place decides
   which: they depend neither on the order of the particles nor on the number of threads. */
static void surface_spray(surface *s, const surface_drop *d, float share, float spacing) {
    uint32_t random = (uint32_t)(int32_t)(d->position.x * 8192.0f / spacing) * 73856093u ^
                      (uint32_t)(int32_t)(d->position.z * 8192.0f / spacing) * 19349663u;
    int i, k;
    for (i = 0; i < SURFACE_DROPLETS; ++i) {
        surface_droplet *droplet = &s->spray[s->spray_count++];
        float r[5];
        for (k = 0; k < 5; ++k) random = random * 1664525u + 1013904223u, r[k] = (float)(random >> 8) / 16777216.0f;
        droplet->centre = v3_madd(d->position, v3(r[0] - 0.5f, r[1] - 0.5f, r[2] - 0.5f), 1.5f * spacing);
        droplet->centre = v3_madd(droplet->centre, d->velocity, SURFACE_SHUTTER * (r[4] - 0.5f));
        droplet->radius = spacing * share * (0.03f + 0.15f * r[3] * r[3] * r[3] * r[3]);
    }
}

static bool surface_list_spray(surface_work *w) {
    surface *s = w->s;
    int i, n = 0;
    for (i = 0; i < w->count; ++i) n += surface_sprayed(&w->spare[i]) > 0.0f;
    s->spray = (surface_droplet *)malloc(((size_t)n * SURFACE_DROPLETS + 1) * sizeof *s->spray);
    if (!s->spray) return false;
    for (i = 0; i < w->count; ++i) {
        float share = surface_sprayed(&w->spare[i]);
        vec3 p = w->spare[i].position;
        bool mirrored = v3_length(v3_sub(p, v3_min(v3_max(p, s->lo), s->hi))) > 0.0f; /* behind a wall */
        if (share > 0.0f && !mirrored) surface_spray(s, &w->spare[i], share, w->in->spacing);
    }
    return true;
}

static bool surface_prepare(surface_work *w, const isphpbd_parallel *parallel) {
    int tasks;
    if (!surface_collect(w)) return false;
    if (w->count == 0) return true;
    if (!surface_sort(w)) return false;
    tasks = (w->count + SURFACE_CHUNK - 1) / SURFACE_CHUNK;
    run_tasks(parallel, surface_shape_task, w, tasks);
    memcpy(w->spare, w->drops, (size_t)w->count * sizeof *w->drops);
    run_tasks(parallel, surface_relax_task, w, tasks);
    if (!surface_list_spray(w)) return false;
    surface_fill_gaps(w);
    return true;
}

/* ---- [field] ----------------------------------------------------------------------------------------------------- */

enum { SURFACE_SLAB = 8 }; /* grid layers per task */

static size_t surface_at(const surface *s, int x, int y, int z) {
    return ((size_t)z * (size_t)s->ny + (size_t)y) * (size_t)s->nx + (size_t)x;
}

static void surface_range(float centre, float extent, float origin, float cell, int n, int *first, int *last) {
    int a = (int)ceilf((centre - extent - origin) / cell), b = (int)floorf((centre + extent - origin) / cell);
    *first = a < 0 ? 0 : a;
    *last = b > n - 1 ? n - 1 : b;
}

static void surface_splat_row(surface *s, float *ghost, const surface_drop *d, int y, int z, int x0, int x1) {
    float inverse = 1.0f / d->radius, step = s->cell * inverse;
    float oy = (s->origin.y + (float)y * s->cell - d->position.y) * inverse;
    float oz = (s->origin.z + (float)z * s->cell - d->position.z) * inverse;
    float ox = (s->origin.x + (float)x0 * s->cell - d->position.x) * inverse;
    float gx = d->xy * oy + d->xz * oz, gy = d->yy * oy + d->yz * oz, gz = d->yz * oy + d->zz * oz;
    size_t at = surface_at(s, x0, y, z);
    int x;
    for (x = x0; x <= x1; ++x, ++at, ox += step) {
        float qx = d->xx * ox + gx, qy = d->xy * ox + gy, qz = d->xz * ox + gz;
        float inside = 1.0f - (qx * qx + qy * qy + qz * qz), value;
        if (inside <= 0.0f) continue;
        value = d->weight * inside * inside * inside;
        s->phi[at] += value;
        s->foam[at] += value * d->foam;
        s->kind[at] += value * d->kind;
        if (d->ghost) ghost[at] += value;
    }
}

static void surface_splat_task(void *ctx, int task) {
    surface_work *w = (surface_work *)ctx;
    surface *s = w->s;
    int i, y, z, x0, x1, y0, y1, z0, z1, first = task * SURFACE_SLAB, last = first + SURFACE_SLAB - 1;
    for (i = 0; i < w->count; ++i) {
        const surface_drop *d = &w->spare[i];
        if (d->weight == 0.0f) continue;
        surface_range(d->position.z, d->extent.z, s->origin.z, s->cell, s->nz, &z0, &z1);
        if (z1 < first || z0 > last) continue;
        surface_range(d->position.x, d->extent.x, s->origin.x, s->cell, s->nx, &x0, &x1);
        surface_range(d->position.y, d->extent.y, s->origin.y, s->cell, s->ny, &y0, &y1);
        for (z = z0 < first ? first : z0; z <= (z1 > last ? last : z1); ++z)
            for (y = y0; y <= y1; ++y) surface_splat_row(s, w->ghost, d, y, z, x0, x1);
    }
}

/* Drops and their images weigh the same on the face between them: there the water ends, a little before it. */
static void surface_cut_task(void *ctx, int z) {
    surface_work *w = (surface_work *)ctx;
    surface *s = w->s;
    size_t at = surface_at(s, 0, 0, z), end = at + (size_t)s->nx * (size_t)s->ny;
    for (; at < end; ++at) {
        float cut = SURFACE_LEVEL + 1.5f * (0.45f * s->phi[at] - w->ghost[at]), share;
        if (cut >= s->phi[at]) continue;
        share = fmaxf(cut, 0.0f) / s->phi[at];
        s->phi[at] *= share, s->foam[at] *= share, s->kind[at] *= share;
    }
}

/* A block and the points just behind it decide whether rays may leap over it. */
static unsigned char surface_classify(const surface *s, int bx, int by, int bz) {
    int x, y, z;
    bool any_in = false, any_out = false;
    for (z = 4 * bz; z <= 4 * bz + 4; ++z) {
        for (y = 4 * by; y <= 4 * by + 4; ++y) {
            for (x = 4 * bx; x <= 4 * bx + 4; ++x) {
                bool outside_grid = x >= s->nx || y >= s->ny || z >= s->nz;
                if (!outside_grid && s->phi[surface_at(s, x, y, z)] > SURFACE_LEVEL) any_in = true;
                else any_out = true;
            }
        }
    }
    return any_in ? (any_out ? 1 : 2) : 0;
}

static void surface_classify_task(void *ctx, int bz) {
    surface *s = ((surface_work *)ctx)->s;
    int bx, by;
    for (by = 0; by < s->by; ++by)
        for (bx = 0; bx < s->bx; ++bx) s->block[(bz * s->by + by) * s->bx + bx] = surface_classify(s, bx, by, bz);
}

static bool surface_allocate(surface *s, surface_work *w) {
    vec3 lo = s->hi, hi = s->lo, margin = v3_all(2.0f * w->in->smooth * w->in->spacing), size;
    size_t n;
    int i;
    for (i = 0; i < w->count; ++i) lo = v3_min(lo, w->spare[i].position), hi = v3_max(hi, w->spare[i].position);
    s->cell = 0.5f * w->in->spacing;
    lo = v3_max(v3_sub(lo, margin), v3_sub(s->lo, v3_all(2.0f * s->cell)));
    hi = v3_min(v3_add(hi, margin), v3_add(s->hi, v3_all(2.0f * s->cell)));
    size = v3_max(v3_sub(hi, lo), margin);
    s->cell = fmaxf(s->cell, cbrtf(size.x * size.y * size.z / SURFACE_CELLS));
    s->origin = lo;
    s->nx = (int)(size.x / s->cell) + 2, s->ny = (int)(size.y / s->cell) + 2, s->nz = (int)(size.z / s->cell) + 2;
    s->bx = (s->nx + 3) / 4, s->by = (s->ny + 3) / 4, s->bz = (s->nz + 3) / 4;
    n = (size_t)s->nx * (size_t)s->ny * (size_t)s->nz;
    s->phi = (float *)calloc(n, sizeof(float));
    s->foam = (float *)calloc(n, sizeof(float));
    s->kind = (float *)calloc(n, sizeof(float));
    w->ghost = (float *)calloc(n, sizeof(float));
    s->block = (unsigned char *)calloc((size_t)(s->bx * s->by * s->bz), 1);
    return s->phi && s->foam && s->kind && w->ghost && s->block;
}

bool surface_create(surface *s, const surface_input *in, const isphpbd_parallel *parallel) {
    surface_work w;
    bool ok;
    memset(s, 0, sizeof *s);
    memset(&w, 0, sizeof w);
    s->lo = in->lo, s->hi = in->hi;
    w.s = s, w.in = in;
    ok = surface_prepare(&w, parallel);
    if (ok && w.count > 0) {
        ok = surface_allocate(s, &w);
        if (ok) {
            run_tasks(parallel, surface_splat_task, &w, (s->nz + SURFACE_SLAB - 1) / SURFACE_SLAB);
            run_tasks(parallel, surface_cut_task, &w, s->nz);
            run_tasks(parallel, surface_classify_task, &w, s->bz);
        }
    }
    free(w.drops);
    free(w.spare);
    free(w.start);
    free(w.ghost);
    if (!ok) surface_destroy(s);
    return ok;
}

void surface_destroy(surface *s) {
    free(s->spray);
    free(s->phi);
    free(s->foam);
    free(s->kind);
    free(s->block);
    memset(s, 0, sizeof *s);
}

/* ---- [rays] ------------------------------------------------------------------------------------------------------ */

/* Trilinear value of a channel; 0 outside the grid. */
static float surface_value(const surface *s, const float *channel, vec3 p) {
    float fx = (p.x - s->origin.x) / s->cell, fy = (p.y - s->origin.y) / s->cell, fz = (p.z - s->origin.z) / s->cell;
    int x = (int)fx, y = (int)fy, z = (int)fz;
    size_t at, row = (size_t)s->nx, layer = (size_t)s->nx * (size_t)s->ny;
    float a, b, c, d;
    if (!(fx >= 0.0f && fy >= 0.0f && fz >= 0.0f) || x >= s->nx - 1 || y >= s->ny - 1 || z >= s->nz - 1) return 0.0f;
    at = surface_at(s, x, y, z);
    fx -= (float)x, fy -= (float)y, fz -= (float)z;
    a = channel[at] + fx * (channel[at + 1] - channel[at]);
    b = channel[at + row] + fx * (channel[at + row + 1] - channel[at + row]);
    at += layer;
    c = channel[at] + fx * (channel[at + 1] - channel[at]);
    d = channel[at + row] + fx * (channel[at + row + 1] - channel[at + row]);
    a += fy * (b - a);
    c += fy * (d - c);
    return a + fz * (c - a);
}

bool surface_inside(const surface *s, vec3 p) { return s->phi && surface_value(s, s->phi, p) > SURFACE_LEVEL; }

/* Where the ray leaves the block it is in, and the block's class; a ray outside the grid gets class 0 and its entry. */
static int surface_block(const surface *s, vec3 p, vec3 direction, float *leap) {
    float side = 4.0f * s->cell, best = 1e30f;
    vec3 q = v3_scale(v3_sub(p, s->origin), 1.0f / side);
    int x = (int)floorf(q.x), y = (int)floorf(q.y), z = (int)floorf(q.z);
    if (direction.x != 0.0f) best = fminf(best, ((float)(x + (direction.x > 0.0f)) - q.x) / direction.x);
    if (direction.y != 0.0f) best = fminf(best, ((float)(y + (direction.y > 0.0f)) - q.y) / direction.y);
    if (direction.z != 0.0f) best = fminf(best, ((float)(z + (direction.z > 0.0f)) - q.z) / direction.z);
    *leap = best * side;
    if (x < 0 || y < 0 || z < 0 || x >= s->bx || y >= s->by || z >= s->bz) return 0;
    return s->block[(z * s->by + y) * s->bx + x];
}

/* Limits the ray to the grid; false where it misses it. */
static bool surface_clip(const surface *s, vec3 o, vec3 d, float *t0, float *t1) {
    vec3 hi = v3_add(s->origin, v3_scale(v3((float)(s->nx - 1), (float)(s->ny - 1), (float)(s->nz - 1)), s->cell));
    vec3 lo = s->origin;
    int axis;
    for (axis = 0; axis < 3; ++axis) {
        float p = *surface_component(&o, axis), v = *surface_component(&d, axis);
        float a = *surface_component(&lo, axis) - p, b = *surface_component(&hi, axis) - p;
        if (fabsf(v) < 1e-12f) {
            if (a > 0.0f || b < 0.0f) return false;
            continue;
        }
        a /= v, b /= v;
        *t0 = fmaxf(*t0, fminf(a, b));
        *t1 = fminf(*t1, fmaxf(a, b));
    }
    return *t0 < *t1;
}

static float surface_refine(const surface *s, vec3 o, vec3 d, float a, float b, bool into) {
    int k;
    for (k = 0; k < 6; ++k) {
        float middle = 0.5f * (a + b);
        if (surface_inside(s, v3_madd(o, d, middle)) == into) b = middle;
        else a = middle;
    }
    return 0.5f * (a + b);
}

bool surface_cross(const surface *s, vec3 o, vec3 d, float t0, float t1, bool into, float *t) {
    float at = t0, before = t0, step;
    if (!s->phi || !surface_clip(s, o, d, &at, &t1)) return false;
    if (!into && at > t0) return *t = t0, true;                  /* already outside */
    for (before = at;; before = at, at = fminf(at + step, t1)) { /* the last look is at the very end */
        vec3 p = v3_madd(o, d, at);
        float leap;
        int skip = surface_block(s, p, d, &leap) == (into ? 0 : 2);
        if (!skip && surface_inside(s, p) == into) return *t = surface_refine(s, o, d, before, at, into), true;
        if (at >= t1) return false;
        step = skip ? leap + 1e-3f * s->cell : 0.8f * s->cell;
    }
}

/* Gradient of the cubic B-spline through the grid values: continuous, hence no facets in reflections. */
vec3 surface_normal(const surface *s, vec3 p) {
    float w[3][4], g[3][4];
    int base[3], axis, x, y, z, size[3];
    vec3 sum = v3_all(0.0f);
    size[0] = s->nx, size[1] = s->ny, size[2] = s->nz;
    p = v3_scale(v3_sub(p, s->origin), 1.0f / s->cell);
    for (axis = 0; axis < 3; ++axis) {
        float f = *surface_component(&p, axis), t, r;
        base[axis] = (int)floorf(f) - 1;
        t = f - floorf(f), r = 1.0f - t;
        w[axis][0] = r * r * r / 6.0f, w[axis][3] = t * t * t / 6.0f;
        w[axis][1] = 2.0f / 3.0f - t * t * (1.0f - 0.5f * t), w[axis][2] = 2.0f / 3.0f - r * r * (1.0f - 0.5f * r);
        g[axis][0] = -0.5f * r * r, g[axis][3] = 0.5f * t * t;
        g[axis][1] = t * (1.5f * t - 2.0f), g[axis][2] = r * (2.0f - 1.5f * r);
    }
    for (z = 0; z < 4; ++z) {
        int gz = base[2] + z;
        for (y = 0; y < 4; ++y) {
            int gy = base[1] + y;
            if (gz < 0 || gy < 0 || gz >= size[2] || gy >= size[1]) continue;
            for (x = 0; x < 4; ++x) {
                int gx = base[0] + x;
                float v;
                if (gx < 0 || gx >= size[0]) continue;
                v = s->phi[surface_at(s, gx, gy, gz)];
                sum.x += v * g[0][x] * w[1][y] * w[2][z];
                sum.y += v * w[0][x] * g[1][y] * w[2][z];
                sum.z += v * w[0][x] * w[1][y] * g[2][z];
            }
        }
    }
    sum = v3_unit(v3_scale(sum, -1.0f));
    return v3_dot(sum, sum) > 0.0f ? sum : v3(0, 1, 0);
}

void surface_look(const surface *s, vec3 p, float *foam, float *kind) {
    float phi = surface_value(s, s->phi, p);
    *foam = phi > 0.0f ? f_clamp(surface_value(s, s->foam, p) / phi, 0.0f, 1.0f) : 0.0f;
    *kind = phi > 0.0f ? f_clamp(surface_value(s, s->kind, p) / phi, 0.0f, 1.0f) : 0.0f;
}

#endif /* EXAMPLES_IMPLEMENTATION */
