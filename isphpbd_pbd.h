/* isphpbd_pbd.h - v0.1.0 - cloth and soft bodies for games on the CPU, in one C99 file - SPDX-License-Identifier: MIT

DO THIS
    In exactly one C or C++ file:
        #define IPBD_IMPLEMENTATION
        #include "isphpbd_pbd.h"
    Everywhere else include it plainly. Compile with -ffp-contract=off where bit-equal results across compilers matter;
    link with -lm. Nothing else is needed: no other file of isphpbd, no thread library, no build system.

WHAT IT IS (AND IS NOT)
    A world of soft bodies made from triangle meshes (cloth, balloons), tetrahedral meshes (jelly, rubber) and lines
    (ropes, chains), moved by extended position based dynamics. You give meshes and materials; constraints are derived,
    ordered and coloured by the library. Bodies collide with colliders of yours, with each other and with themselves.
    Colliders with a mass receive impulses, so a rigid-body engine of yours can be coupled two-way.
    It is not a rigid-body engine, does not tear, and does not render. Thick stacks of many layers of cloth are slow.

QUICK START
    /--- quick start
    #include <stdio.h>
    #define IPBD_IMPLEMENTATION
    #include "isphpbd_pbd.h"

    int main(void) {
        float xyz[3 * 21 * 21];
        uint32_t triangles[6 * 20 * 20], corners[2] = {0, 20};
        int count = ipbd_grid(21, 21, 1.0f, 1.0f, xyz, triangles);
        ipbd_body_desc cloth = ipbd_body_desc_preset(IPBD_COTTON);
        ipbd_world_desc desc = ipbd_world_desc_default();
        isphpbd_result why;
        ipbd_world *world = ipbd_create(&desc, &why);
        ipbd_body body;
        isphpbd_vec3 middle;
        int frame;
        if (!world) return printf("%s\n", isphpbd_result_text(why)), 1;
        cloth.mesh.positions = xyz, cloth.mesh.vertex_count = 21 * 21;
        cloth.mesh.triangles = triangles, cloth.mesh.triangle_count = count;
        cloth.pinned = corners, cloth.pinned_count = 2;
        body = ipbd_body_create(world, &cloth, &why);
        if (!body.id) return printf("%s\n", isphpbd_result_text(why)), 1;
        for (frame = 0; frame < 120; ++frame) ipbd_step(world, 1.0f / 60.0f);
        ipbd_body_vertex(world, body, 220, &middle, NULL);
        printf("the middle of the cloth hangs at %.2f %.2f %.2f m\n", (double)middle.x, (double)middle.y, (double)middle.z);
        ipbd_destroy(world);
        return 0;
    }
    ---/

CONTENTS (search for the tag in brackets)
    [pbd-types] handles, meshes, materials     [pbd-world] worlds, stepping, statistics, snapshots
    [pbd-bodies] soft bodies                   [pbd-colliders] colliders and host bodies
    [pbd-skins] embedded render meshes         [pbd-hooks] doors for a coupler
    Implementation:
    [math] [simd] [world] [handles] [mesh-check] [derive] [order] [commit] [kernels] [substep] [vertex] [balloon] [colliders]
    [collide] [proximity] [contacts] [sleep] [bodies] [skins] [snapshot] [helpers]

CONFIGURATION
    ISPHPBD_STATIC      everything static in this file     ISPHPBD_API         your own linkage
    ISPHPBD_NO_SIMD     plain C instead of SSE2            ISPHPBD_NO_OPENMP   no built-in OpenMP runner
    ISPHPBD_NO_STDLIB   no malloc: an allocator is a must

MEMORY
    ipbd_create takes one block for everything the world will ever own, sized by desc.capacity; ipbd_bytes tells its
    size. ipbd_body_create and ipbd_skin_create and colliders with meshes borrow one temporary block and give it
    back before they return. Stepping never allocates.

THREADS
    A step hands independent tasks to desc.parallel. A world is not to be used by two threads at once; two worlds are
    independent. Callbacks that run inside a step (hooks, SDF functions) must not call functions that take a non-const
    world; those answer ISPHPBD_LOCKED and do nothing. SDF functions are called from tasks and must be pure.

DETERMINISM
    The same calls give the same bits for any thread count and runner, gcc and clang, -O0 to -O3, C and C++, SSE2 and
    plain C, given IEEE float, -ffp-contract=off (or a machine without FMA) and no -ffast-math.

NUMERICS AND UNITS
    SI units: m, kg, s, N, Pa. State is float. Sizes from 1 cm to 100 m around the origin work; beyond 1 km, positions
    have fewer than 4 decimals and small bodies shake: shift the origin. Steps from 1/30 to 1/240 s with 4 to 20
    substeps work. More substeps are better than more iterations. What breaks first: very stiff materials with few
    substeps get softer in motion (at rest their stiffness is right, see ipbd_body_desc.warm_start).
    Stretch of cloth: a compliance is the reciprocal of tensile stiffness E * thickness, in m/N, and does not
    depend on the resolution of the mesh. Bending: the reciprocal of flexural rigidity in 1/(N m).

ERRORS
    Every function that can fail says so by an isphpbd_result and changes nothing then. Data is never trusted: NaN,
    indices out of range, flat elements are errors, not crashes. The logger tells in words which field was wrong.

READING
    M. Mueller et al., Position Based Dynamics, 2007. M. Macklin et al., XPBD, 2016; Small Steps in Physics Simulation,
    2019; A Constraint-based Formulation of Stable Neo-Hookean Materials, 2021. M. Bergou et al., A Quadratic Bending
    Model for Inextensible Surfaces, 2006. A. Van Gelder, Approximate Simulation of Elastic Membranes, 1998.
    T.-Y. Kim et al., Long Range Attachments, 2012. M. Li et al., Codimensional Incremental Potential Contact, 2021.

CHANGES
    0.1.0 first release.
*/
/* ---- common block, revision 1 --------------------------------------------------------------------------------------
   What fluid and soft bodies share. Byte-identical in isphpbd_sph.h and isphpbd_pbd.h (a test compares the copies);
   whichever header comes first brings it. */
#ifndef ISPHPBD_COMMON_REVISION
#define ISPHPBD_COMMON_REVISION 1

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ISPHPBD_VERSION 100 /* major * 10000 + minor * 100 + patch */

#if defined(ISPHPBD_STATIC) && !defined(ISPHPBD_IMPLEMENTATION)
#define ISPHPBD_IMPLEMENTATION /* a private copy needs its body in the same file */
#endif
#ifndef ISPHPBD_API
#if defined(ISPHPBD_STATIC) && defined(__GNUC__)
#define ISPHPBD_API static __attribute__((unused))
#elif defined(ISPHPBD_STATIC)
#define ISPHPBD_API static
#else
#define ISPHPBD_API extern
#endif
#endif
#if defined(__GNUC__)
#define ISPHPBD_INLINE static inline __attribute__((unused))
#else
#define ISPHPBD_INLINE static inline
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef struct isphpbd_vec3 { float x, y, z; } isphpbd_vec3; /* layout of float[3] */
typedef struct isphpbd_quat { float x, y, z, w; } isphpbd_quat; /* unit quaternion, w is the real part */

/* Why a call did nothing. Whatever is not ISPHPBD_OK left every object as it was. */
typedef enum isphpbd_result {
    ISPHPBD_OK = 0,
    ISPHPBD_OUT_OF_MEMORY, /* the allocator returned NULL */
    ISPHPBD_CAPACITY,      /* a capacity given in the desc is reached */
    ISPHPBD_BAD_DESC,      /* not made by *_desc_default(), or a field out of range */
    ISPHPBD_BAD_ARGUMENT,  /* null pointer, negative count, non-finite or out-of-range number */
    ISPHPBD_BAD_HANDLE,    /* null, stale, or of another object */
    ISPHPBD_BAD_MESH,      /* index out of range, non-finite or degenerate geometry */
    ISPHPBD_LOCKED,        /* called from inside a callback of a step */
    ISPHPBD_BAD_SNAPSHOT,  /* magic, version, layout, size or checksum do not match */
    ISPHPBD_RESULT_COUNT
} isphpbd_result;

/* One English sentence for a result; never NULL. */
ISPHPBD_INLINE const char *isphpbd_result_text(isphpbd_result result) {
    switch (result) {
        case ISPHPBD_OK: return "ok";
        case ISPHPBD_OUT_OF_MEMORY: return "the allocator returned no memory";
        case ISPHPBD_CAPACITY: return "a capacity given in the desc is reached";
        case ISPHPBD_BAD_DESC: return "the desc was not made by its default function, or a field is out of range";
        case ISPHPBD_BAD_ARGUMENT: return "an argument is null, negative, not finite or out of range";
        case ISPHPBD_BAD_HANDLE: return "the handle is null, stale or belongs to another object";
        case ISPHPBD_BAD_MESH: return "the mesh has indices out of range, non-finite or degenerate geometry";
        case ISPHPBD_LOCKED: return "the object is stepping and cannot be changed from inside a callback";
        case ISPHPBD_BAD_SNAPSHOT: return "the snapshot does not match in magic, version, layout, size or checksum";
        case ISPHPBD_RESULT_COUNT: break;
    }
    return "unknown result";
}

/* Memory. Both functions or neither; neither means malloc and free (an error under ISPHPBD_NO_STDLIB). */
typedef struct isphpbd_allocator {
    void *(*alloc)(size_t size, size_t align, void *user); /* align is a power of two, <= 64; NULL: out of memory */
    void (*free)(void *ptr, size_t size, void *user);      /* size is the size asked for */
    void *user;
} isphpbd_allocator;

/* Threads. run() calls task(ctx, i) once for every i in [0, task_count), in any order, on any threads, and returns when
   all are done. Results are bit-identical however it does so. NULL: OpenMP where compiled in, else one thread. */
typedef struct isphpbd_parallel {
    void (*run)(void (*task)(void *ctx, int index), void *ctx, int task_count, void *user);
    void *user;
} isphpbd_parallel;

/* Messages for the developer. NULL fn: silent. */
typedef enum isphpbd_log_level { ISPHPBD_LOG_ERROR = 1, ISPHPBD_LOG_WARNING, ISPHPBD_LOG_INFO } isphpbd_log_level;
typedef struct isphpbd_logger {
    void (*fn)(isphpbd_log_level level, isphpbd_result code, const char *text, void *user);
    void *user;
} isphpbd_logger;

/* Time for the stage timers: ticks of any unit, never decreasing. NULL fn: the timers stay 0; the library reads no clock
   of its own. */
typedef struct isphpbd_clock {
    uint64_t (*fn)(void *user);
    void *user;
} isphpbd_clock;

/* Shorthand so that callers can write a vector in one expression in C99 and C++11 alike. */
ISPHPBD_INLINE isphpbd_vec3 isphpbd_v3(float x, float y, float z) {
    isphpbd_vec3 v;
    v.x = x, v.y = y, v.z = z;
    return v;
}

#ifdef __cplusplus
}
#endif
#elif ISPHPBD_COMMON_REVISION != 1
#error "isphpbd_sph.h and isphpbd_pbd.h are of different releases: take both from the same one"
#endif
/* ---- end of common block ------------------------------------------------------------------------------------------ */
#ifndef ISPHPBD_PBD_H_INCLUDED
#define ISPHPBD_PBD_H_INCLUDED

#if defined(ISPHPBD_STATIC) && !defined(IPBD_IMPLEMENTATION)
#define IPBD_IMPLEMENTATION
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- [pbd-types] --------------------------------------------------------------------------------------------------- */

typedef struct ipbd_world ipbd_world;
typedef struct ipbd_body { uint32_t id; } ipbd_body;         /* by value; 0 is no body */
typedef struct ipbd_collider { uint32_t id; } ipbd_collider; /* by value; 0 is no collider */
typedef struct ipbd_skin { uint32_t id; } ipbd_skin;         /* by value; 0 is no skin */

typedef struct ipbd_pose {
    isphpbd_vec3 position; /* m */
    isphpbd_quat rotation; /* unit; a length within 1 % of one is normalised, others are an error */
} ipbd_pose;

/* A mesh is read during the call and never kept. Give triangles (cloth, shells), tetrahedra (solids) or lines (ropes).
   Beside tetrahedra, triangles are only the collision and render surface; without them it is derived. */
typedef struct ipbd_mesh {
    const float *positions;     /* x y z of every vertex, m */
    size_t stride_bytes;        /* from one vertex to the next; default 12 */
    int vertex_count;           /* default 0 */
    const uint32_t *triangles;  /* 3 indices each, or NULL */
    int triangle_count;         /* default 0 */
    const uint32_t *tetrahedra; /* 4 indices each, or NULL; either orientation */
    int tetrahedron_count;      /* default 0 */
    const uint32_t *lines;      /* 2 indices each, or NULL */
    int line_count;             /* default 0 */
} ipbd_mesh;

/* What the check of a mesh found and what was repaired. Non-manifold edges, flat tetrahedra, out-of-range
   indices and non-finite vertices are not repaired: the mesh is refused. */
typedef struct ipbd_mesh_report {
    int welded;               /* vertices merged into another at the same place */
    int unused;               /* vertices without any element: left out, the vertex map says IPBD_NO_VERTEX */
    int degenerate_triangles; /* without area: dropped */
    int duplicate_triangles;  /* same three vertices as another: dropped */
    int flipped_triangles;    /* wound against their neighbours: turned */
    int inverted_tetrahedra;  /* negative volume: turned */
    int non_manifold_edges;   /* more than two triangles on an edge: refused */
    int flat_tetrahedra;      /* volume below 1e-6 of their size cubed: refused */
    int zero_edges;           /* edges of length zero that welding did not remove: refused */
} ipbd_mesh_report;

#define IPBD_NO_VERTEX 0xffffffffu

/* How stiff: by compliance (SI, independent of step, iterations, mass and mesh), by the classic PBD stiffness, or not
   at all. A PBD stiffness k is the share of an error that is taken away per 1/60 s, whatever the number of substeps and
   iterations: 0.6 is visibly stretchy, 0.9 firm, 1 as stiff as the iterations allow. */
typedef enum ipbd_measure { IPBD_ABSENT = 0, IPBD_COMPLIANCE, IPBD_STIFFNESS } ipbd_measure;
typedef struct ipbd_elasticity {
    ipbd_measure measure;
    float value; /* IPBD_COMPLIANCE: >= 0, unit by use. IPBD_STIFFNESS: in [0, 1] */
} ipbd_elasticity;

typedef enum ipbd_bend_model {
    IPBD_BEND_DISTANCE = 0, /* a spring between the far corners of two triangles: cheapest */
    IPBD_BEND_DIHEDRAL,     /* the angle between two triangles: exact for folded rest shapes */
    IPBD_BEND_ISOMETRIC     /* Bergou's quadratic bending: linear, cheap, best for flat rest shapes */
} ipbd_bend_model;

typedef enum ipbd_solid_model {
    IPBD_SOLID_ELASTIC = 0, /* stable Neo-Hookean tetrahedra: Young's modulus and Poisson's ratio */
    IPBD_SOLID_VOLUME       /* springs on the edges (desc.stretch) and kept volumes (desc.volume) */
} ipbd_solid_model;

/* Which materials presets exist; see ipbd_body_desc_preset. Shells first, then solids. */
typedef enum ipbd_preset {
    IPBD_SILK = 0, IPBD_COTTON, IPBD_DENIM, IPBD_CANVAS, IPBD_LEATHER, IPBD_RUBBER_SHEET, IPBD_BALLOON,
    IPBD_JELLY, IPBD_FOAM, IPBD_FLESH, IPBD_RUBBER, IPBD_ROPE,
    IPBD_PRESET_COUNT
} ipbd_preset;

typedef struct ipbd_body_desc {
    ipbd_mesh mesh;
    ipbd_pose pose;              /* the mesh is placed by this; default identity */
    float weld_distance;         /* m: vertices nearer than this become one; 0 switches welding off;
                                    default -1: 1e-5 of the mesh's diagonal */
    float density;               /* kg/m^2 of triangles, kg/m^3 of tetrahedra; > 0; default 0.2 */
    float line_density;          /* kg/m of lines; > 0; default 0.1 */
    const float *masses;         /* kg per input vertex, > 0, instead of the densities; default NULL */
    ipbd_elasticity stretch;     /* edges; compliance in m/N (1 / (E thickness)); of lines: 1/N (1 / (E area));
                                    default compliance 0 (does not stretch) */
    ipbd_elasticity shear;       /* diagonals of quads; m/N; default compliance 1e-4 */
    ipbd_elasticity bend;        /* 1/(N m) (1 / flexural rigidity); default compliance 1e4 */
    ipbd_bend_model bend_model;  /* default IPBD_BEND_ISOMETRIC */
    ipbd_solid_model solid_model;/* default IPBD_SOLID_ELASTIC */
    ipbd_elasticity volume;      /* IPBD_SOLID_VOLUME: volume compliance per volume, 1/Pa (1 / bulk modulus); default 0 */
    float young_modulus;         /* Pa, > 0; default 1e5 */
    float poisson_ratio;         /* in [0, 0.49]; default 0.3 */
    ipbd_elasticity balloon;     /* closed triangle meshes: m^3/Pa; default IPBD_ABSENT */
    float balloon_pressure;      /* volume wanted / volume at rest, > 0; default 1 */
    float overpressure;          /* Pa, a constant push along the normals of a closed mesh; default 0 */
    float warm_start;            /* in [0, 1]: share of the last substep's constraint forces to start from. 1 makes the
                                    stiffness at rest independent of step and iterations and costs about 1.5x; 0 is
                                    classic XPBD. Default 1 */
    const uint32_t *links;       /* pairs of input vertices: extra distance constraints, or NULL */
    int link_count;              /* default 0 */
    ipbd_elasticity link;        /* of the links; m/N each; default compliance 0 */
    const uint32_t *pinned;      /* input vertices that do not move, or NULL */
    int pinned_count;            /* default 0 */
    float tether_slack;          /* > 0: every vertex stays within (this * rest distance) of its nearest pin along
                                    the mesh, 1.02 is typical; 0: no tethers; default 0 */
    float damping;               /* 1/s: internal motion that is not rigid decays by this rate; default 0.2 */
    float drag;                  /* 1/s: all motion decays by this rate; default 0 */
    float wind_drag;             /* aerodynamic coefficient along the normal, 1 is a plate; default 0 */
    float wind_lift;             /* aerodynamic coefficient of lift; default 0 */
    float gravity_scale;         /* default 1 */
    float plastic_yield;         /* strain of an edge from which it flows; 0: elastic; default 0 */
    float plastic_creep;         /* 1/s: how fast it flows; default 0 */
    float plastic_max;           /* largest lasting strain; default 1 */
    float thickness;             /* m, > 0: contact distance; default 0.01 */
    float friction;              /* Coulomb, >= 0; with a collider the larger counts; default 0.3 */
    bool self_collision;         /* default false */
    bool soft_collision;         /* collide with other bodies that have it set too; default false */
    bool can_sleep;              /* default true */
    uint32_t layer, mask;        /* two things collide if (a.layer & b.mask) && (b.layer & a.mask); default 1, ~0 */
    isphpbd_vec3 velocity;       /* m/s at the start; default 0 */
    uint32_t cookie;             /* set by the default functions: do not touch */
} ipbd_body_desc;

ISPHPBD_API ipbd_body_desc ipbd_body_desc_default(void);
/* The default desc with density, stiffness, damping, friction and thickness of a real material. An unknown preset
   answers a desc that ipbd_body_create refuses. */
ISPHPBD_API ipbd_body_desc ipbd_body_desc_preset(ipbd_preset preset);
ISPHPBD_API ipbd_elasticity ipbd_compliance(float value);
ISPHPBD_API ipbd_elasticity ipbd_stiffness(float value);
ISPHPBD_API ipbd_elasticity ipbd_absent(void);
ISPHPBD_API ipbd_pose ipbd_pose_at(float x, float y, float z); /* no rotation */

/* ---- [pbd-world] --------------------------------------------------------------------------------------------------- */

/* Largest numbers, fixed at creation. ipbd_capacity_add measures what a body needs; numbers of constraints are slots in
   groups of four and include the padding of the groups. */
typedef struct ipbd_capacity {
    int bodies;             /* default 64 */
    int vertices;           /* after welding; default 16384 */
    int input_vertices;     /* before welding; default 16384 */
    int triangles;          /* surface; default 32768 */
    int edges;              /* stretch, shear, distance bend, links; default 98304 */
    int dihedral_bends;     /* default 8192 */
    int isometric_bends;    /* default 49152 */
    int volume_tetrahedra;  /* default 4096 */
    int elastic_tetrahedra; /* default 32768 */
    int slabs;              /* pieces of bodies that are solved in parallel; default 512 */
    int colliders;          /* default 64 */
    int collider_vertices;  /* of convex hulls, meshes and heightfields together; default 16384 */
    int collider_triangles; /* default 32768 */
    int contacts;           /* pairs of soft parts near each other; 0: no soft-soft and no self-collision;
                               default 16384 */
    int skins;              /* default 16 */
    int skin_vertices;      /* default 16384 */
} ipbd_capacity;

typedef struct ipbd_world_desc {
    isphpbd_vec3 gravity;        /* m/s^2; default 0 -9.81 0 */
    isphpbd_vec3 wind;           /* m/s; default 0 */
    float air_density;           /* kg/m^3; default 1.2 */
    int substeps;                /* per step, 1 to 1000; default 12 */
    int iterations;              /* per substep, 1 to 1000; default 1 */
    float sleep_speed;           /* m/s: a body slower than this everywhere falls asleep; 0: never; default 0.005 */
    float sleep_seconds;         /* s it has to be that slow; default 0.5 */
    ipbd_capacity capacity;
    isphpbd_allocator allocator; /* default malloc and free */
    isphpbd_parallel parallel;   /* default OpenMP where compiled in, else one thread */
    isphpbd_logger logger;       /* default silent */
    isphpbd_clock clock;         /* default none: timers stay 0 */
    uint32_t cookie;             /* set by ipbd_world_desc_default(): do not touch */
} ipbd_world_desc;

ISPHPBD_API ipbd_world_desc ipbd_world_desc_default(void);
ISPHPBD_API ipbd_capacity ipbd_capacity_none(void); /* all zero: a start for ipbd_capacity_add */
/* Adds to capacity exactly what this body will need (not the contacts, colliders and skins). Costs as much as creating
   it and borrows the same temporary memory from allocator (NULL: malloc). */
ISPHPBD_API isphpbd_result ipbd_capacity_add(ipbd_capacity *capacity, const ipbd_body_desc *desc,
                                             const isphpbd_allocator *allocator);
/* Bytes that ipbd_create will take; 0 if the desc is not valid. */
ISPHPBD_API size_t ipbd_bytes(const ipbd_world_desc *desc);
/* NULL on failure; *why (may be NULL) tells the reason. One allocation. */
ISPHPBD_API ipbd_world *ipbd_create(const ipbd_world_desc *desc, isphpbd_result *why);
ISPHPBD_API void ipbd_destroy(ipbd_world *world); /* NULL is fine; refused inside a step */

/* What went wrong softly in a step; each names the limit to raise. */
enum {
    IPBD_STEP_CONTACTS_FULL = 1, /* capacity.contacts: some soft contacts were ignored */
    IPBD_STEP_QUARANTINE = 2,    /* a vertex became non-finite and was put back: the input was too violent */
    IPBD_STEP_FROZEN = 4,        /* colliding parts had to move as one piece for a substep: more substeps help */
    IPBD_STEP_REFUSED = 8        /* bad dt, or called from inside a callback: nothing happened */
};
typedef struct ipbd_step_info {
    uint32_t flags;
    isphpbd_result result; /* ISPHPBD_OK, ISPHPBD_BAD_ARGUMENT or ISPHPBD_LOCKED */
} ipbd_step_info;
/* Moves the world by dt seconds, 0 < dt <= 1. Cost: linear in vertices + constraints, times substeps. */
ISPHPBD_API ipbd_step_info ipbd_step(ipbd_world *world, float dt);

ISPHPBD_API isphpbd_result ipbd_set_gravity(ipbd_world *world, isphpbd_vec3 gravity);
ISPHPBD_API isphpbd_result ipbd_set_wind(ipbd_world *world, isphpbd_vec3 wind);
ISPHPBD_API isphpbd_result ipbd_set_budget(ipbd_world *world, int substeps, int iterations); /* as in the desc */
/* Adds offset to every position, target and pose: for large worlds. Velocities and forces stay. */
ISPHPBD_API isphpbd_result ipbd_shift_origin(ipbd_world *world, isphpbd_vec3 offset);

typedef struct ipbd_stats {
    size_t bytes;                  /* of the world's one block */
    int bodies, sleeping_bodies, vertices, triangles, slabs;
    int edges, bends, tetrahedra;  /* without padding */
    int collider_contacts;         /* vertices that touched a collider in the last substep */
    int soft_contacts;             /* pairs in the last substep */
    int impacts;                   /* pairs stopped by the final clamp in the last step */
    int quarantined;               /* vertices put back in the last step */
    double kinetic_energy;         /* J */
    isphpbd_vec3 momentum;         /* kg m/s */
    isphpbd_vec3 angular_momentum; /* kg m^2/s about the origin */
    uint64_t ticks_step, ticks_solve, ticks_contacts; /* of the last step; 0 without a clock */
} ipbd_stats;
/* Sums over all vertices with mass; O(vertices). */
ISPHPBD_API ipbd_stats ipbd_world_stats(const ipbd_world *world);
/* The same number for the same state, on every machine. O(state). */
ISPHPBD_API uint64_t ipbd_hash(const ipbd_world *world);
/* Writes a snapshot if capacity suffices and answers the bytes it needs. O(state). */
ISPHPBD_API size_t ipbd_save(const ipbd_world *world, void *bytes, size_t capacity);
/* Makes the world what it was when saved: bodies, colliders, skins and handles. Needs a world of the same capacities;
   SDF callbacks are taken from the collider of the same handle if that exists, else the shape is dropped to "no
   contact". A rejected snapshot changes nothing. */
ISPHPBD_API isphpbd_result ipbd_load(ipbd_world *world, const void *bytes, size_t size);

/* ---- [pbd-bodies] -------------------------------------------------------------------------------------------------- */

/* Checks and repairs the mesh, derives, orders and colours the constraints. A null handle on failure, with the reason in
   *why (may be NULL). O(n log n); borrows temporary memory. */
ISPHPBD_API ipbd_body ipbd_body_create(ipbd_world *world, const ipbd_body_desc *desc, isphpbd_result *why);
/* What ipbd_body_create would find, without a world. *report is filled also when the mesh is refused. */
ISPHPBD_API isphpbd_result ipbd_mesh_check(const ipbd_body_desc *desc, const isphpbd_allocator *allocator,
                                           ipbd_mesh_report *report);
/* Removes the body, its skins and its attachments. O(world): later bodies move up; views become stale. */
ISPHPBD_API isphpbd_result ipbd_body_destroy(ipbd_world *world, ipbd_body body);

/* A view of a body's arrays: valid until the next call that takes a non-const world. Vertices are in the library's own
   order; vertex_map turns an input vertex into that order. */
typedef struct ipbd_view {
    const float *positions;      /* x y z and the effective inverse mass (1/kg) of every vertex */
    const float *starts;         /* x y z at the start of the last substep, and a pad */
    const float *velocities;     /* x y z in m/s, and a pad */
    size_t stride_bytes;         /* of the three: 16 */
    int vertex_count;
    const uint32_t *triangles;   /* 3 per surface triangle, of this body's vertices, outward for closed surfaces */
    int triangle_count;
    const uint32_t *vertex_map;  /* for every input vertex its vertex here, or IPBD_NO_VERTEX */
    int input_vertex_count;
} ipbd_view;
/* A zero view for a bad handle. */
ISPHPBD_API ipbd_view ipbd_body_view(const ipbd_world *world, ipbd_body body);
/* Position and velocity (either may be NULL) of an input vertex. */
ISPHPBD_API isphpbd_result ipbd_body_vertex(const ipbd_world *world, ipbd_body body, int input_vertex,
                                            isphpbd_vec3 *position, isphpbd_vec3 *velocity);
/* Copies the positions of all input vertices in input order; left-out vertices keep what is there. normals may be NULL. */
ISPHPBD_API isphpbd_result ipbd_body_read(const ipbd_world *world, ipbd_body body, float *positions, float *normals,
                                          size_t stride_bytes);

/* Pins an input vertex where it is, or moves its target: it goes there in a straight line over the next step and is
   exactly there at its end. */
ISPHPBD_API isphpbd_result ipbd_pin(ipbd_world *world, ipbd_body body, int input_vertex);
ISPHPBD_API isphpbd_result ipbd_pin_move(ipbd_world *world, ipbd_body body, int input_vertex, isphpbd_vec3 target);
ISPHPBD_API isphpbd_result ipbd_unpin(ipbd_world *world, ipbd_body body, int input_vertex);
/* Fixes an input vertex, where it is now, to a collider; it follows the collider's motion, and the force goes into the
   collider's impulse. Ends by ipbd_unpin or when either is destroyed. */
ISPHPBD_API isphpbd_result ipbd_attach(ipbd_world *world, ipbd_body body, int input_vertex, ipbd_collider collider);
/* The force in N that pins or attaches this vertex, as of the last substep, from the constraints' multipliers plus its
   weight. O(constraints of the body). */
ISPHPBD_API isphpbd_result ipbd_pin_force(const ipbd_world *world, ipbd_body body, int input_vertex, isphpbd_vec3 *force);

/* Changes of one body; each wakes it. Numbers must be finite and in the range of the desc. */
ISPHPBD_API isphpbd_result ipbd_body_add_velocity(ipbd_world *world, ipbd_body body, isphpbd_vec3 velocity);
ISPHPBD_API isphpbd_result ipbd_vertex_add_impulse(ipbd_world *world, ipbd_body body, int input_vertex,
                                                   isphpbd_vec3 impulse); /* N s */
ISPHPBD_API isphpbd_result ipbd_vertex_set_mass(ipbd_world *world, ipbd_body body, int input_vertex, float mass);
ISPHPBD_API isphpbd_result ipbd_body_set_pressure(ipbd_world *world, ipbd_body body, float balloon_pressure,
                                                  float overpressure);
ISPHPBD_API isphpbd_result ipbd_body_set_gravity_scale(ipbd_world *world, ipbd_body body, float scale);
/* Moves and turns the whole body about pivot without a jerk: pins, start positions and velocities go with it. */
ISPHPBD_API isphpbd_result ipbd_body_teleport(ipbd_world *world, ipbd_body body, isphpbd_vec3 pivot, ipbd_pose change);
/* Puts every vertex back to its place at creation, at rest. */
ISPHPBD_API isphpbd_result ipbd_body_reset(ipbd_world *world, ipbd_body body);
ISPHPBD_API isphpbd_result ipbd_body_wake(ipbd_world *world, ipbd_body body);
ISPHPBD_API bool ipbd_body_sleeping(const ipbd_world *world, ipbd_body body);
/* Volume in m^3 enclosed by the surface now, or of the tetrahedra; 0 for a bad handle. */
ISPHPBD_API double ipbd_body_volume(const ipbd_world *world, ipbd_body body);
ISPHPBD_API double ipbd_body_mass(const ipbd_world *world, ipbd_body body); /* kg */
ISPHPBD_API isphpbd_result ipbd_body_report(const ipbd_world *world, ipbd_body body, ipbd_mesh_report *report);

/* ---- [pbd-colliders] ----------------------------------------------------------------------------------------------- */

typedef enum ipbd_shape_type {
    IPBD_PLANE = 1,   /* the half space below y = 0 of the pose is solid */
    IPBD_SPHERE,      /* size.x: radius */
    IPBD_CAPSULE,     /* size.x: radius, size.y: half length of the axis along y */
    IPBD_BOX,         /* size: half extents */
    IPBD_CONVEX,      /* mesh: closed convex triangle mesh, outward */
    IPBD_MESH,        /* mesh: any triangles; both sides collide, nothing is "inside" */
    IPBD_HEIGHTFIELD, /* heights over the x-z plane; everything below is solid */
    IPBD_SDF          /* sdf: your function */
} ipbd_shape_type;

/* Signed distance in m at a point in the collider's frame, negative inside; must not overestimate. *normal gets the unit
   gradient. Called from tasks: must be pure. Non-finite answers count as "far away". */
typedef float (*ipbd_sdf_fn)(isphpbd_vec3 point, isphpbd_vec3 *normal, void *user);

typedef struct ipbd_shape {
    ipbd_shape_type type;
    isphpbd_vec3 size;
    ipbd_mesh mesh;
    const float *heights; /* IPBD_HEIGHTFIELD: columns * rows values in m, x fastest, centred about the pose */
    int columns, rows;
    float cell;           /* m between neighbouring heights */
    ipbd_sdf_fn sdf;
    void *sdf_user;
} ipbd_shape;

ISPHPBD_API ipbd_shape ipbd_shape_plane(void);
ISPHPBD_API ipbd_shape ipbd_shape_sphere(float radius);
ISPHPBD_API ipbd_shape ipbd_shape_capsule(float radius, float half_length);
ISPHPBD_API ipbd_shape ipbd_shape_box(float half_x, float half_y, float half_z);
ISPHPBD_API ipbd_shape ipbd_shape_convex(const float *positions, int vertex_count, const uint32_t *triangles, int count);
ISPHPBD_API ipbd_shape ipbd_shape_mesh(const float *positions, int vertex_count, const uint32_t *triangles, int count);
ISPHPBD_API ipbd_shape ipbd_shape_heightfield(const float *heights, int columns, int rows, float cell);
ISPHPBD_API ipbd_shape ipbd_shape_sdf(ipbd_sdf_fn sdf, void *user);

typedef struct ipbd_collider_desc {
    ipbd_shape shape;
    ipbd_pose pose;       /* of the centre of mass where mass > 0; default identity */
    float friction;       /* default 0.3 */
    float mass;           /* kg; 0: cannot be pushed; default 0. A collider with mass yields to cloth inside a step as
                             far as its impulse says; the library never moves it for you */
    isphpbd_vec3 inertia; /* kg m^2 about the axes of the pose; 0: does not turn; default 0 */
    uint32_t layer, mask; /* default 1, ~0 */
    uint32_t cookie;
} ipbd_collider_desc;

ISPHPBD_API ipbd_collider_desc ipbd_collider_desc_default(void);
ISPHPBD_API ipbd_collider ipbd_collider_create(ipbd_world *world, const ipbd_collider_desc *desc, isphpbd_result *why);
ISPHPBD_API isphpbd_result ipbd_collider_destroy(ipbd_world *world, ipbd_collider collider);
/* Where the collider shall be at the end of the next step; it gets there evenly over the substeps. */
ISPHPBD_API isphpbd_result ipbd_collider_move(ipbd_world *world, ipbd_collider collider, ipbd_pose pose);
/* At once, without sweeping along. */
ISPHPBD_API isphpbd_result ipbd_collider_teleport(ipbd_world *world, ipbd_collider collider, ipbd_pose pose);
ISPHPBD_API isphpbd_result ipbd_collider_pose(const ipbd_world *world, ipbd_collider collider, ipbd_pose *pose);
/* Impulses of all contacts and attachments since the last call: N s, and N m s about the pose's position, world axes. */
ISPHPBD_API isphpbd_result ipbd_collider_take_impulse(ipbd_world *world, ipbd_collider collider, isphpbd_vec3 *linear,
                                                      isphpbd_vec3 *angular);

/* ---- [pbd-skins] --------------------------------------------------------------------------------------------------- */

/* Embeds the points of a render mesh, given where they are relative to the body's input mesh (after desc.pose): in
   tetrahedra by barycentric coordinates, on shells by the nearest triangle and the distance along its normal. Costs
   points * elements; borrows temporary memory. */
ISPHPBD_API ipbd_skin ipbd_skin_create(ipbd_world *world, ipbd_body body, const float *positions, size_t stride_bytes,
                                       int count, isphpbd_result *why);
ISPHPBD_API isphpbd_result ipbd_skin_destroy(ipbd_world *world, ipbd_skin skin);
/* Writes the moved points and, if normals is not NULL, the area-weighted unit normals of the given triangles over them. */
ISPHPBD_API isphpbd_result ipbd_skin_read(const ipbd_world *world, ipbd_skin skin, float *positions, float *normals,
                                          size_t stride_bytes, const uint32_t *triangles, int triangle_count);

/* ---- [pbd-hooks] --------------------------------------------------------------------------------------------------- */

/* All vertices of the world at once, writable, for a coupler. Body b's vertices are [vertex_begin, vertex_end). */
typedef struct ipbd_arrays {
    float *positions;            /* x y z w: w is the effective inverse mass that constraints use */
    const float *starts;         /* x y z pad: at the start of the substep */
    float *velocities;           /* x y z pad */
    const float *inverse_masses; /* the real ones, 0 where pinned */
    int vertex_count;
    const uint32_t *triangles;   /* surface triangles of all bodies, of the vertices above */
    int triangle_count;
} ipbd_arrays;
typedef struct ipbd_hooks { /* any may be NULL */
    /* Before positions are predicted: change velocities, lower positions[].w to lend mass to wet vertices (gravity keeps
       acting on the real mass). The w are the real ones again at the start of every substep. */
    void (*begin)(ipbd_world *world, const ipbd_arrays *arrays, float h, void *user);
    /* After every iteration of the constraints, before contacts with colliders: external contacts go here. */
    void (*iterate)(ipbd_world *world, const ipbd_arrays *arrays, float h, int iteration, void *user);
    /* After velocities were taken from positions. */
    void (*end)(ipbd_world *world, const ipbd_arrays *arrays, float h, void *user);
    void *user;
} ipbd_hooks;
ISPHPBD_API isphpbd_result ipbd_set_hooks(ipbd_world *world, const ipbd_hooks *hooks); /* NULL: none */
ISPHPBD_API isphpbd_result ipbd_body_range(const ipbd_world *world, ipbd_body body, int *vertex_begin, int *vertex_end,
                                           int *triangle_begin, int *triangle_end);
/* The same world stepped piece by piece: begin once, then predict / iterate... / end for each substep, then finish.
   ipbd_step(w, dt) is begin(dt), substeps times {predict; iterations times iterate; end}, finish. Wrong order answers
   ISPHPBD_LOCKED (between begin and finish everything else that changes the world does, too) or BAD_ARGUMENT. */
ISPHPBD_API isphpbd_result ipbd_step_begin(ipbd_world *world, float dt, int substeps);
ISPHPBD_API isphpbd_result ipbd_substep_predict(ipbd_world *world);
ISPHPBD_API isphpbd_result ipbd_substep_iterate(ipbd_world *world);
ISPHPBD_API isphpbd_result ipbd_substep_end(ipbd_world *world);
ISPHPBD_API ipbd_step_info ipbd_step_finish(ipbd_world *world);
ISPHPBD_API ipbd_arrays ipbd_world_arrays(ipbd_world *world);

/* ---- helpers ------------------------------------------------------------------------------------------------------- */

/* A flat cloth of columns x rows vertices in the x-z plane, centred, row by row: fills 3 * columns * rows floats and
   6 * (columns - 1) * (rows - 1) indices, answers the number of triangles (0 for fewer than 2 columns or rows). */
ISPHPBD_API int ipbd_grid(int columns, int rows, float width, float depth, float *positions, uint32_t *triangles);
/* A box of nx * ny * nz cells of six tetrahedra, centred: fills 3 * (nx+1) * (ny+1) * (nz+1) floats and 24 * nx * ny * nz
   indices, answers the number of tetrahedra. Vertex (i, j, k) is i + (nx+1) * (j + (ny+1) * k). */
ISPHPBD_API int ipbd_block(int nx, int ny, int nz, isphpbd_vec3 size, float *positions, uint32_t *tetrahedra);

#ifdef __cplusplus
}
#endif
#endif /* ISPHPBD_PBD_H_INCLUDED */
