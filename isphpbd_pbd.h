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
        printf("the middle of the cloth hangs %.2f m below its corners\n", -(double)middle.y);
        ipbd_destroy(world);
        return 0;
    }
    ---/

CONTENTS (search for the tag in brackets)
    [pbd-types] handles, meshes, materials     [pbd-world] worlds, stepping, statistics, snapshots
    [pbd-bodies] soft bodies                   [pbd-colliders] colliders and host bodies
    [pbd-skins] embedded render meshes         [pbd-hooks] doors for a coupler
    [pbd-assets] bodies made offline by isphpbd-tet
    [pbd-helpers] simple meshes
    Implementation:
    [math] [simd] [world] [handles] [mesh-check] [derive] [order] [commit] [kernels] [substep] [vertex] [balloon]
    [colliders] [collide] [proximity] [contacts] [momentum] [sleep] [bodies] [skins] [snapshot] [helpers] [assets]
    [asset-skin]

CONFIGURATION
    ISPHPBD_STATIC      everything static in this file     ISPHPBD_API         your own linkage
    ISPHPBD_NO_SIMD     plain C instead of SSE2            ISPHPBD_NO_OPENMP   no built-in OpenMP runner
    ISPHPBD_NO_STDLIB   no malloc: an allocator is required
    Define the same in every file that includes the header.

MEMORY
    ipbd_create takes one block for everything the world will ever own, sized by desc.capacity; ipbd_bytes tells its
    size to the byte. ipbd_body_create, ipbd_capacity_add and ipbd_mesh_check borrow one temporary block and give it
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
    have fewer than 4 decimals and small bodies shake: shift the origin. What lies there moves by about a step of a
    float per substep: 0.1 m/s at 1 km, 1 m/s at 10 km in substeps of 1/1200 s. Steps from 1/30 to 1/240 s with 4 to 20
    substeps work, and no speed above max_speed (500 m/s). More substeps are better than more iterations. What breaks
    first: very stiff materials with few substeps get softer (elastic tetrahedra: when sound passes more than about
    three elements in a substep; the logger says so when the body is made).
    Colliders are met by vertices: a spike thinner than the mesh can slip between them, and what you move through a
    framed cloth faster than it can give way opens it. Spheres, capsules, boxes, convex shapes and SDFs with a mass are
    met by faces as well, and what they hit hard is solved up to 16 times more in those substeps: framed cloths catch
    balls of 0.05 to 0.15 kg at 50 m/s in 12 substeps, and throw none back faster than it came. A step of cloth near
    one such collider takes half as long again. Soft contacts are exact (points against triangles, edges against
    edges), and no substep ends with parts crossed that did not start so, unless pins, attachments or a teleport drive
    vertices through each other: what is fixed yields to nothing, and what hangs between two of them cannot always.
    Stretch of cloth: a compliance is the reciprocal of tensile stiffness E * thickness, in m/N, and does not
    depend on the resolution of the mesh. Bending: the reciprocal of flexural rigidity in 1/(N m).
    Long strips (ribbons, curtains, cables) need nothing of their own: tethers are their long-range constraints.
    Cloth and ropes with pins have tethers to them unless tether_slack is 0 or they are meant to stretch (rubber,
    balloons): hung fabrics of the presets stretch by 1 to 2 % in 12 substeps, without tethers by 10 and more. Damping
    takes what is not a rigid motion: of the body in free flight, of the pins where it hangs, of its foot where it
    stands on a collider without mass. What is attached to, or stands on, colliders with mass keeps its momentum.

ERRORS
    Every function that can fail says so by an isphpbd_result and changes nothing then. Data is never trusted: NaN,
    indices out of range and flat elements are errors, not crashes; positions, speeds and masses beyond 1e9 count as not
    finite. The logger tells in words which field was wrong.

READING
    M. Mueller et al., Position Based Dynamics, 2007. M. Macklin et al., XPBD, 2016; Small Steps in Physics Simulation,
    2019. M. Bergou et al., A Quadratic Bending Model for Inextensible Surfaces, 2006. A. Van Gelder, Approximate
    Simulation of Elastic Membranes, 1998. T.-Y. Kim et al., Long Range Attachments, 2012. M. Li et al., Codimensional
    Incremental Potential Contact, 2021.

CHANGES
    0.1.0  first version
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

#if defined(__TINYC__) && __TINYC__ < 928
#error "tcc before 0.9.28 writes over its stack where a function returns three floats: take a newer one"
#endif
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

typedef struct isphpbd_vec3 {
    float x, y, z;
} isphpbd_vec3; /* layout of float[3] */
typedef struct isphpbd_quat {
    float x, y, z, w;
} isphpbd_quat; /* unit quaternion, w is the real part */

/* Why a call did nothing. Anything but ISPHPBD_OK left every object as it was; the few calls that are an exception say
   so. */
typedef enum isphpbd_result {
    ISPHPBD_OK = 0,        /* done */
    ISPHPBD_OUT_OF_MEMORY, /* the allocator returned NULL, or memory that is not aligned as asked for */
    ISPHPBD_CAPACITY,      /* a capacity given in the desc is reached */
    ISPHPBD_BAD_DESC,      /* not made by *_desc_default(), or a field out of range */
    ISPHPBD_BAD_ARGUMENT,  /* null pointer, negative count, non-finite or out-of-range number */
    ISPHPBD_BAD_HANDLE,    /* null or stale; of another world, where handles know theirs (isphpbd.h) */
    ISPHPBD_BAD_MESH,      /* index out of range, non-finite or degenerate geometry */
    ISPHPBD_LOCKED,        /* called from inside a callback of a step, or the object has an owner */
    ISPHPBD_BAD_SNAPSHOT,  /* magic, version, layout, size or checksum do not match */
    ISPHPBD_RESULT_COUNT   /* how many results there are; never answered */
} isphpbd_result;

/* What a result means, in English; "unknown result" for any other number. Never NULL, not to be freed. */
ISPHPBD_INLINE const char *isphpbd_result_text(isphpbd_result result) {
    switch (result) {
        case ISPHPBD_OK: return "ok";
        case ISPHPBD_OUT_OF_MEMORY: return "the allocator returned no memory, or none aligned as asked";
        case ISPHPBD_CAPACITY: return "a capacity given in the desc is reached";
        case ISPHPBD_BAD_DESC: return "the desc was not made by its default function, or a field is out of range";
        case ISPHPBD_BAD_ARGUMENT: return "an argument is null, negative, not finite or out of range";
        case ISPHPBD_BAD_HANDLE: return "the handle is null, stale or of another world";
        case ISPHPBD_BAD_MESH: return "the mesh has indices out of range, non-finite or degenerate geometry";
        case ISPHPBD_LOCKED: return "the object is stepping or belongs to another and cannot be changed";
        case ISPHPBD_BAD_SNAPSHOT: return "the snapshot does not match in magic, version, layout, size or checksum";
        case ISPHPBD_RESULT_COUNT: break;
    }
    return "unknown result";
}

/* Memory. Both functions or neither: one alone is refused. Neither means malloc and free, and is refused under
   ISPHPBD_NO_STDLIB. Called by what creates, destroys or measures something, never by a step. */
typedef struct isphpbd_allocator {
    void *(*alloc)(size_t size, size_t align, void *user); /* align is a power of two, <= 64; NULL: out of memory */
    void (*free)(void *ptr, size_t size, void *user);      /* size is the size asked for; ptr is never NULL */
    void *user;                                            /* yours, handed to both */
} isphpbd_allocator;

/* Threads. run() calls task(ctx, i) once for every i in [0, task_count), in any order, on any threads, and returns when
   all are done. Results are bit-identical however it does so. NULL run: OpenMP where compiled in, else one thread.
   `user` is yours and handed to run(). */
typedef struct isphpbd_parallel {
    void (*run)(void (*task)(void *ctx, int index), void *ctx, int task_count, void *user);
    void *user;
} isphpbd_parallel;

/* Messages for the developer: `text` is valid during the call, `code` is the result that goes with it (OK for mere
   advice), `user` is yours. Called by the thread that made the call in question. NULL fn: silent. */
typedef enum isphpbd_log_level { ISPHPBD_LOG_ERROR = 1, ISPHPBD_LOG_WARNING, ISPHPBD_LOG_INFO } isphpbd_log_level;
typedef struct isphpbd_logger {
    void (*fn)(isphpbd_log_level level, isphpbd_result code, const char *text, void *user);
    void *user;
} isphpbd_logger;

/* Time for the stage timers: ticks of any unit, never decreasing; `user` is yours. NULL fn: the timers stay 0; the
   library reads no clock of its own. Called by the thread that steps. */
typedef struct isphpbd_clock {
    uint64_t (*fn)(void *user);
    void *user;
} isphpbd_clock;

/* Shorthand so that callers can write a vector in one expression in C99 and C++11 alike. Nothing is checked. */
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
/* ---- end of common block ----------------------------------------------------------------------------------------- */
#ifndef ISPHPBD_PBD_H_INCLUDED
#define ISPHPBD_PBD_H_INCLUDED

#if defined(ISPHPBD_STATIC) && !defined(IPBD_IMPLEMENTATION)
#define IPBD_IMPLEMENTATION
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* What holds for every call below, unless its comment says otherwise.
   Cost: constant time.
   Failure: the call has changed nothing and answers an isphpbd_result, or a null handle with the result in *why. A NULL
   world or desc, or a number that is not finite or out of range, is BAD_ARGUMENT (in a desc BAD_DESC), a null or stale
   handle BAD_HANDLE; a handle of another world is not always told from one of this. Calls that only read and have no
   result answer 0, false or an empty view. `why` may be NULL, and so may each out pointer where a call has several.
   LOCKED: calls with a non-const world inside a callback and between ipbd_step_begin and ipbd_step_finish; some, too,
   while the world has an owner (see ipbd_set_owner).
   Descs are made by their default functions, which fill in the defaults that stand beside the fields, and a cookie
   without which they are refused; they are read during the call and never kept. */

/* ---- [pbd-types] ------------------------------------------------------------------------------------------------- */

typedef struct ipbd_world ipbd_world;
typedef struct ipbd_body {
    uint32_t id;
} ipbd_body; /* by value; 0 is no body */
typedef struct ipbd_collider {
    uint32_t id;
} ipbd_collider; /* by value; 0 is no collider */
typedef struct ipbd_skin {
    uint32_t id;
} ipbd_skin; /* by value; 0 is no skin */

typedef struct ipbd_pose {
    isphpbd_vec3 position; /* m */
    isphpbd_quat rotation; /* unit; a length within 1 % of one is normalised, others are an error */
} ipbd_pose;

/* A mesh is read during the call and never kept. Give triangles (cloth, shells), tetrahedra (solids) or lines (ropes).
   Beside tetrahedra, triangles are only the collision and render surface; without them it is derived. */
typedef struct ipbd_mesh {
    const float *positions;     /* x y z of every vertex, m */
    size_t stride_bytes;        /* from one vertex to the next, >= 12; default 12 */
    int vertex_count;           /* default 0; this and all other counts at most 2^24 */
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
    int duplicate_tetrahedra; /* same four vertices as another: dropped */
    int duplicate_lines;      /* same two vertices as another: dropped */
} ipbd_mesh_report;

#define IPBD_NO_VERTEX 0xffffffffu

/* How stiff: by compliance (SI, independent of step, iterations, mass and mesh), by a stiffness as of PBD, or not at
   all. A stiffness k becomes a spring when the body is created, from its size and masses: that with which a stretch of
   the whole body loses the share k within 1/60 s. So it depends neither on substeps, iterations and mesh nor on what
   the body carries later: 0 does nothing, 0.6 is visibly stretchy, 0.9 firm, 1 as stiff as the iterations allow. Such
   springs harden, as rubber does: they are thirty times as stiff where edges are longer by (1 - k) / k (67 % for 0.6,
   11 % for 0.9), and no stiffer beyond. Bends, volumes and balloons are taken one by one (a finer mesh is softer) and
   do not harden. */
typedef enum ipbd_measure { IPBD_ABSENT = 0, IPBD_COMPLIANCE, IPBD_STIFFNESS } ipbd_measure;
typedef struct ipbd_elasticity {
    ipbd_measure measure; /* which of the three; IPBD_ABSENT: there are no such constraints */
    float value;          /* IPBD_COMPLIANCE: >= 0, unit by use. IPBD_STIFFNESS: in [0, 1] */
} ipbd_elasticity;

typedef enum ipbd_bend_model {
    IPBD_BEND_DISTANCE = 0, /* a spring between the far corners of two triangles: cheapest */
    IPBD_BEND_DIHEDRAL,     /* the angle between two triangles: exact for folded rest shapes */
    IPBD_BEND_ISOMETRIC     /* Bergou's quadratic bending: linear, cheap, best for flat rest shapes */
} ipbd_bend_model;

typedef enum ipbd_solid_model {
    IPBD_SOLID_ELASTIC = 0, /* Young's modulus and Poisson's ratio, large deformations */
    IPBD_SOLID_VOLUME       /* springs on the edges (desc.stretch) and kept volumes (desc.volume), which cost twice as
                               much where edges are plastic, none, or so soft that they swing for tens of substeps */
} ipbd_solid_model;

/* The materials that have a preset; see ipbd_body_desc_preset. Sheets first, then solids, then lines. */
typedef enum ipbd_preset {
    IPBD_SILK = 0,     /* 0.06 kg/m^2 */
    IPBD_COTTON,       /* 0.15 kg/m^2 */
    IPBD_DENIM,        /* 0.4 kg/m^2 */
    IPBD_CANVAS,       /* 0.5 kg/m^2 */
    IPBD_LEATHER,      /* 0.9 kg/m^2 */
    IPBD_RUBBER_SHEET, /* 1.1 kg/m^2: 1 mm thick */
    IPBD_BALLOON,      /* 0.3 kg/m^2; closed, keeps its volume */
    IPBD_JELLY,        /* 1000 kg/m^3, 10 kPa */
    IPBD_FOAM,         /* 60 kg/m^3, 50 kPa */
    IPBD_FLESH,        /* 1050 kg/m^3, 60 kPa */
    IPBD_RUBBER,       /* 1100 kg/m^3, 1 MPa */
    IPBD_ROPE,         /* 0.08 kg/m */
    IPBD_PRESET_COUNT  /* how many there are; not a preset */
} ipbd_preset;

typedef struct ipbd_body_desc {
    ipbd_mesh mesh;          /* must be given; default empty, which is refused */
    ipbd_pose pose;          /* the mesh is placed by this; default identity */
    float weld_distance;     /* m: vertices not farther apart than this become one; 0 switches welding off;
                                    default -1 (as any < 0): 1e-5 of the mesh's diagonal */
    float density;           /* kg/m^2 of triangles, kg/m^3 of tetrahedra; > 0; default 0.2 */
    float line_density;      /* kg/m of lines; > 0; default 0.1 */
    const float *masses;     /* kg per input vertex, > 0, instead of the densities; welded ones add up; default NULL */
    ipbd_elasticity stretch; /* edges; compliance in m/N (1 / (E thickness)); of lines: 1/N (1 / (E area));
                                    default compliance 0 (does not stretch) */
    ipbd_elasticity shear;   /* diagonals of quads; m/N; default compliance 1e-4 */
    ipbd_elasticity bend;    /* 1/(N m) (1 / flexural rigidity); default compliance 1e4 */
    ipbd_bend_model bend_model;   /* default IPBD_BEND_ISOMETRIC */
    ipbd_solid_model solid_model; /* default IPBD_SOLID_ELASTIC */
    ipbd_elasticity volume;  /* IPBD_SOLID_VOLUME: volume compliance per volume, 1/Pa (1 / bulk modulus); default 0 */
    float young_modulus;     /* Pa, > 0; default 1e5 */
    float poisson_ratio;     /* in [0, 0.49]; default 0.3 */
    ipbd_elasticity balloon; /* keeps the volume of a closed mesh (of an open one: BAD_MESH); m^3/Pa; default
                                    IPBD_ABSENT */
    float balloon_pressure;  /* volume wanted / volume at rest, >= 0; default 1. 0: any volume will do */
    float overpressure;      /* Pa, a constant push along the normals of the surface, which should be closed: an
                                    open one flies off (creation warns); default 0 */
    float warm_start;        /* in [0, 1], elastic tetrahedra: share of the last substep's stress to start from. 1 makes
                                    the stiffness at rest independent of step, iterations and mass as long as sound
                                    passes at most about two elements in a substep: at three a beam sags by 16 % too
                                    much, at four by 37 %, at six it is twice as far (creation warns from three on).
                                    Costs about 1.6x. 0 is classic XPBD. Default 1 */
    const uint32_t *links;   /* pairs of input vertices: extra distance constraints, or NULL */
    int link_count;          /* default 0 */
    ipbd_elasticity link;    /* of the links; m/N each; default compliance 0 */
    const uint32_t *pinned;  /* input vertices that do not move, or NULL */
    int pinned_count;        /* default 0 */
    float tether_slack;      /* > 0: every vertex stays within (this * rest distance) of the nearest pins along the mesh
                                    (of the two nearest groups of pins), however few the substeps are, except where
                                    colliders push it farther; 0: no tethers; default -1: 1.005 for sheets and ropes
                                    that their own weight would stretch by less than 0.5 % and that are not plastic,
                                    else none */
    float damping;           /* 1/s, >= 0: internal motion that is not rigid decays at this rate; with pins, or on
                                    colliders without mass, what does not follow their motion; default 0.2 */
    float drag;              /* 1/s, >= 0: all motion decays at this rate; default 0 */
    float wind_drag;         /* aerodynamic coefficient along the normal, >= 0, 1.2 is a plate; default 0 */
    float wind_lift;         /* aerodynamic coefficient of lift, >= 0; default 0 */
    bool still_air;          /* wind_drag brakes while the world has no wind, too, as air does; default true */
    float gravity_scale;     /* share of the world's gravity that acts on it; default 1 */
    float plastic_yield;     /* strain from which an edge or an elastic tetrahedron flows, >= 0: of the latter that of a
                                bar along its pull, and volume stays; 0: elastic; default 0 */
    float plastic_creep;     /* 1/s, >= 0: rate at which the strain beyond it becomes lasting, once per step; 0:
                                elastic; default 0 */
    float plastic_max;       /* largest lasting strain, >= 0; default 1 */
    float thickness;         /* m, > 0: two bodies keep the mean of theirs apart, a collider half; default 0.01 */
    float friction;          /* Coulomb, >= 0; of the two that touch the larger counts; default 0.3 */
    bool self_collision;     /* parts of it collide with each other; needs capacity.contacts; default false */
    bool soft_collision;     /* collides with other bodies that have it set too; needs the same; default false */
    bool can_sleep;          /* it falls asleep at rest, and costs next to nothing then; default true */
    uint32_t layer, mask;    /* two things collide if (a.layer & b.mask) && (b.layer & a.mask); default 1, ~0 */
    isphpbd_vec3 velocity;   /* m/s at the start; default 0 */
    uint32_t cookie;         /* set by the default functions: do not touch */
} ipbd_body_desc;

/* A desc without a mesh, everything else as the comments above say. */
ISPHPBD_API ipbd_body_desc ipbd_body_desc_default(void);
/* The default desc with density, stiffness, damping, friction and thickness of a real material. Sheets feel wind
   (wind_drag 1.2, balloons 0.47), but no still air: set still_air to have it slow them down, as it really does. An
   unknown preset answers a desc that ipbd_body_create refuses. */
ISPHPBD_API ipbd_body_desc ipbd_body_desc_preset(ipbd_preset preset);
/* Shorthands for fields of the desc; values are checked where the desc is used. */
ISPHPBD_API ipbd_elasticity ipbd_compliance(float value);
ISPHPBD_API ipbd_elasticity ipbd_stiffness(float value);
ISPHPBD_API ipbd_elasticity ipbd_absent(void);
ISPHPBD_API ipbd_pose ipbd_pose_at(float x, float y, float z); /* m; no rotation */

/* ---- [pbd-world] ------------------------------------------------------------------------------------------------- */

/* Largest numbers, fixed at creation, 0 .. 2^28 each. ipbd_capacity_add measures what a body needs; numbers of
   constraints are slots in groups of four and include the padding of the groups. */
typedef struct ipbd_capacity {
    int bodies;             /* default 64; bodies, colliders and skins at most 65535 */
    int vertices;           /* after welding; default 16384 */
    int input_vertices;     /* before welding; default 16384 */
    int triangles;          /* surface; three lines that collide with soft parts count as one; default 32768 */
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
                               default 65536 */
    int skins;              /* default 16 */
    int skin_vertices;      /* default 16384 */
} ipbd_capacity;

typedef struct ipbd_world_desc {
    isphpbd_vec3 gravity;        /* m/s^2; default 0 -9.81 0 */
    isphpbd_vec3 wind;           /* m/s; default 0 */
    float air_density;           /* kg/m^3, >= 0; default 1.2 */
    int substeps;                /* per step, 1 to 1000; default 12 */
    int iterations;              /* per substep, 1 to 1000; default 1 */
    float sleep_speed;           /* m/s: a body slower than this everywhere falls asleep; 0: never; default 0.005 */
    float sleep_seconds;         /* s it has to be that slow, >= 0; default 0.5 */
    float max_speed;             /* m/s, > 0: no vertex moves farther in a substep; a body of which one would keeps its
                                    momentum, and what moves it within itself is scaled down; default 500 */
    ipbd_capacity capacity;      /* everything is allocated in ipbd_create; default 30 MB */
    isphpbd_allocator allocator; /* default malloc and free */
    isphpbd_parallel parallel;   /* default OpenMP where compiled in, else one thread */
    isphpbd_logger logger;       /* default silent */
    isphpbd_clock clock;         /* default none: timers stay 0 */
    uint32_t cookie;             /* set by ipbd_world_desc_default(): do not touch */
} ipbd_world_desc;

ISPHPBD_API ipbd_world_desc ipbd_world_desc_default(void);
ISPHPBD_API ipbd_capacity ipbd_capacity_none(void); /* all zero: a start for ipbd_capacity_add */
/* Adds to capacity exactly what this body will need (not the contacts, colliders and skins). Fails like
   ipbd_mesh_check, with BAD_ARGUMENT for a capacity that is out of range and CAPACITY for one that would be then; costs
   as much as creating the body, and borrows the same temporary memory from allocator (NULL: malloc). */
ISPHPBD_API isphpbd_result ipbd_capacity_add(ipbd_capacity *capacity, const ipbd_body_desc *desc,
                                             const isphpbd_allocator *allocator);
/* Bytes that ipbd_create will take; 0 if the desc is not valid. */
ISPHPBD_API size_t ipbd_bytes(const ipbd_world_desc *desc);
/* A world without bodies. NULL on failure: BAD_DESC or OUT_OF_MEMORY, BAD_ARGUMENT without a desc. One allocation,
   which is cleared: linear in its size. */
ISPHPBD_API ipbd_world *ipbd_create(const ipbd_world_desc *desc, isphpbd_result *why);
/* Gives the block back. NULL is fine; does nothing inside a callback and while the world has an owner. */
ISPHPBD_API void ipbd_destroy(ipbd_world *world);
/* Hands the world from one owner to the next; each is any address, NULL is nobody. LOCKED unless `owner` has it now.
   While it has an owner, these answer LOCKED: stepping, loading, hooks, budget, gravity, origin, making and removing
   bodies, and all of colliders but reading their poses. A solver built on top of the world gives it to NULL before its
   own calls and takes it back after them. */
ISPHPBD_API isphpbd_result ipbd_set_owner(ipbd_world *world, const void *owner, const void *next);

/* What went wrong softly in a step; each names the limit to raise. */
enum {
    IPBD_STEP_CONTACTS_FULL = 1, /* capacity.contacts: some soft contacts were ignored */
    IPBD_STEP_QUARANTINE = 2,    /* a vertex became non-finite and was put back: the input was too violent */
    IPBD_STEP_FROZEN = 4,        /* colliding parts had to move as one piece for a substep: more substeps help. Such
                                    steps cost several times as much as others */
    IPBD_STEP_REFUSED = 8,       /* see ipbd_step_info.result: nothing happened */
    IPBD_STEP_SPEED_CLAMPED = 16 /* desc.max_speed: a body was faster, or a part of it */
};
typedef struct ipbd_step_info {
    uint32_t flags;        /* IPBD_STEP_* */
    isphpbd_result result; /* ISPHPBD_OK, ISPHPBD_BAD_ARGUMENT (no world, bad dt) or ISPHPBD_LOCKED */
} ipbd_step_info;
/* Moves the world by dt seconds, 0 < dt <= 1. Cost: linear in vertices + constraints that are awake, times substeps. */
ISPHPBD_API ipbd_step_info ipbd_step(ipbd_world *world, float dt);

/* From the next step on; units and ranges as in the desc. Gravity wakes all bodies, wind those with wind_drag or
   wind_lift: O(bodies). */
ISPHPBD_API isphpbd_result ipbd_set_gravity(ipbd_world *world, isphpbd_vec3 gravity);
ISPHPBD_API isphpbd_result ipbd_set_wind(ipbd_world *world, isphpbd_vec3 wind);
ISPHPBD_API isphpbd_result ipbd_set_budget(ipbd_world *world, int substeps, int iterations); /* 1 .. 1000 each */
/* Adds offset (m) to every position, target and pose: for large worlds. Velocities and forces stay. BAD_ARGUMENT if one
   of them would be more than 1e9 m from the origin along an axis. O(vertices). */
ISPHPBD_API isphpbd_result ipbd_shift_origin(ipbd_world *world, isphpbd_vec3 offset);

typedef struct ipbd_stats {
    size_t bytes; /* of the world's one block */
    /* there are now */
    int bodies, sleeping_bodies, vertices, triangles, slabs;
    int edges, bends, tetrahedra;                     /* without padding */
    int collider_contacts;                            /* vertices that touched a collider in the last substep */
    int soft_contacts;                                /* pairs in contact, or nearly so, in the last substep */
    int impacts;                                      /* pairs stopped by the final clamp in the last step */
    int quarantined;                                  /* vertices put back in the last step */
    double kinetic_energy;                            /* J; this and the next two now, without pinned vertices */
    isphpbd_vec3 momentum;                            /* kg m/s */
    isphpbd_vec3 angular_momentum;                    /* kg m^2/s about the origin */
    uint64_t ticks_step, ticks_solve, ticks_contacts; /* of the last step; 0 without a clock */
} ipbd_stats;
/* Sums energy and momenta over all vertices: O(vertices). */
ISPHPBD_API ipbd_stats ipbd_world_stats(const ipbd_world *world);
/* A 64-bit digest of everything that affects the future: the same for the same state, on every machine. O(state). */
ISPHPBD_API uint64_t ipbd_hash(const ipbd_world *world);
/* Writes a snapshot if bytes is not NULL and capacity suffices; always answers the bytes it needs. To be called between
   steps. Numbers stand as they do in memory: for machines of the same byte order. Resuming from it gives the same bits
   as going on. O(state). */
ISPHPBD_API size_t ipbd_save(const ipbd_world *world, void *bytes, size_t capacity);
/* Makes the world what it was when saved: bodies, colliders, skins, handles, gravity, wind and budget. BAD_SNAPSHOT for
   other capacities, sleep_speed or sleep_seconds, another version or a damaged one. Functions of SDF colliders are not
   saved: each is that of the collider which has the same place in this world now (create the same ones in the same
   order); where there is none, the shape meets nothing. O(state). */
ISPHPBD_API isphpbd_result ipbd_load(ipbd_world *world, const void *bytes, size_t size);

/* ---- [pbd-bodies] ------------------------------------------------------------------------------------------------ */

/* Checks and repairs the mesh, derives, orders and colours the constraints. A null handle on failure: BAD_DESC,
   BAD_MESH (see ipbd_mesh_report; also for a balloon that is not closed), CAPACITY (the logger names the one to raise)
   or OUT_OF_MEMORY. O(n log n), so it may stall a frame; borrows temporary memory. */
ISPHPBD_API ipbd_body ipbd_body_create(ipbd_world *world, const ipbd_body_desc *desc, isphpbd_result *why);
/* What ipbd_body_create would find in the mesh, without a world: capacities, and whether a balloon is closed, are not
   looked at. *report (not NULL) is filled also when the mesh is refused. BAD_DESC, BAD_MESH or OUT_OF_MEMORY. Costs as
   much as creating the body, with temporary memory from allocator (NULL: malloc). */
ISPHPBD_API isphpbd_result ipbd_mesh_check(const ipbd_body_desc *desc, const isphpbd_allocator *allocator,
                                           ipbd_mesh_report *report);
/* Removes the body, its skins and its attachments. O(world): later bodies move up; views become stale. */
ISPHPBD_API isphpbd_result ipbd_body_destroy(ipbd_world *world, ipbd_body body);

/* A view of a body's arrays: valid until the next call that takes a non-const world. Vertices are in the library's own
   order; vertex_map turns an input vertex into that order. */
typedef struct ipbd_view {
    const float *positions;    /* x y z and the effective inverse mass (1/kg) of every vertex */
    const float *starts;       /* x y z at the start of the last substep, and a pad */
    const float *velocities;   /* x y z in m/s, and a pad */
    size_t stride_bytes;       /* of the three: 16 */
    int vertex_count;          /* entries of the three */
    const uint32_t *triangles; /* 3 per surface triangle, of this body's vertices, outward for closed surfaces */
    int triangle_count;
    const uint32_t *vertex_map; /* for every input vertex its vertex here, or IPBD_NO_VERTEX */
    int input_vertex_count;     /* entries of vertex_map */
} ipbd_view;
/* Nothing is copied. All zero for a bad handle. */
ISPHPBD_API ipbd_view ipbd_body_view(const ipbd_world *world, ipbd_body body);
/* Position (m) and velocity (m/s), either may be NULL, of an input vertex. Here and below, BAD_ARGUMENT for a vertex
   that is not in the mesh or was left out of the body. */
ISPHPBD_API isphpbd_result ipbd_body_vertex(const ipbd_world *world, ipbd_body body, int input_vertex,
                                            isphpbd_vec3 *position, isphpbd_vec3 *velocity);
/* Copies the positions (m) of all input vertices in input order, and area-weighted unit normals (0 1 0 where there is
   no area) if normals is not NULL; both with the given stride (>= 12). Left-out vertices keep what is there. O(vertices
   + triangles). */
ISPHPBD_API isphpbd_result ipbd_body_read(const ipbd_world *world, ipbd_body body, float *positions, float *normals,
                                          size_t stride_bytes);

/* Pins an input vertex where it is, or at a target (m): it goes there in a straight line over the next step and is
   exactly there at its end. Pinning an attached vertex ends the attachment; unpinning frees either, and does nothing to
   a free vertex. After vertices were pinned or unpinned the next step finds the tethers of the body anew (where it has
   any): about 1 ms for a thousand vertices, O(n log n). */
ISPHPBD_API isphpbd_result ipbd_pin(ipbd_world *world, ipbd_body body, int input_vertex);
ISPHPBD_API isphpbd_result ipbd_pin_move(ipbd_world *world, ipbd_body body, int input_vertex, isphpbd_vec3 target);
ISPHPBD_API isphpbd_result ipbd_unpin(ipbd_world *world, ipbd_body body, int input_vertex);
/* Fixes an input vertex, where it is now, to a collider; it follows the collider's motion, and the force goes into the
   collider's impulse. Ends with ipbd_unpin, ipbd_pin, ipbd_pin_move, or when either is destroyed. */
ISPHPBD_API isphpbd_result ipbd_attach(ipbd_world *world, ipbd_body body, int input_vertex, ipbd_collider collider);
/* The force in N with which the body pulls at this pinned or attached vertex, as of the last substep: the constraints'
   multipliers plus the vertex's own weight and what a coupler did to it. O(constraints of the body): for a few vertices
   per frame. */
ISPHPBD_API isphpbd_result ipbd_pin_force(const ipbd_world *world, ipbd_body body, int input_vertex,
                                          isphpbd_vec3 *force);

/* Changes of one body; each wakes it. Numbers must be finite and in the range of the desc, else BAD_ARGUMENT. What is
   pinned or attached does not get faster. Velocity in m/s for all its vertices (O(vertices)), impulse in N s and mass
   in kg of one vertex; pressures as in the desc, the first of bodies with a balloon alone. */
ISPHPBD_API isphpbd_result ipbd_body_add_velocity(ipbd_world *world, ipbd_body body, isphpbd_vec3 velocity);
ISPHPBD_API isphpbd_result ipbd_vertex_add_impulse(ipbd_world *world, ipbd_body body, int input_vertex,
                                                   isphpbd_vec3 impulse); /* N s */
ISPHPBD_API isphpbd_result ipbd_vertex_set_mass(ipbd_world *world, ipbd_body body, int input_vertex, float mass);
ISPHPBD_API isphpbd_result ipbd_body_set_pressure(ipbd_world *world, ipbd_body body, float balloon_pressure,
                                                  float overpressure);
ISPHPBD_API isphpbd_result ipbd_body_set_gravity_scale(ipbd_world *world, ipbd_body body, float scale);
/* Turns the whole body about pivot (m) by change.rotation, then moves it by change.position, without a jerk: pins,
   start positions and velocities go with it, attached vertices stay tied to their colliders. O(vertices). */
ISPHPBD_API isphpbd_result ipbd_body_teleport(ipbd_world *world, ipbd_body body, isphpbd_vec3 pivot, ipbd_pose change);
/* Puts every vertex, and the target of every pin, back to its place at creation, at rest; what has flown plastically
   is undone. O(vertices + constraints). */
ISPHPBD_API isphpbd_result ipbd_body_reset(ipbd_world *world, ipbd_body body);
/* Wakes a body that sleeps; nothing else. What touches it, moves it or changes it wakes it by itself. */
ISPHPBD_API isphpbd_result ipbd_body_wake(ipbd_world *world, ipbd_body body);
/* Does it sleep, at rest and left out of steps? */
ISPHPBD_API bool ipbd_body_sleeping(const ipbd_world *world, ipbd_body body);
/* Volume in m^3 that the closed surface (of tetrahedra: their hull) encloses now; 0 for an open one. O(triangles). */
ISPHPBD_API double ipbd_body_volume(const ipbd_world *world, ipbd_body body);
/* Mass in kg, pinned vertices included. O(vertices). */
ISPHPBD_API double ipbd_body_mass(const ipbd_world *world, ipbd_body body);
/* What was repaired when the body was created; *report must not be NULL. */
ISPHPBD_API isphpbd_result ipbd_body_report(const ipbd_world *world, ipbd_body body, ipbd_mesh_report *report);

/* ---- [pbd-colliders] --------------------------------------------------------------------------------------------- */

typedef enum ipbd_shape_type {
    IPBD_PLANE = 1,   /* the half space below y = 0 of the pose is solid */
    IPBD_SPHERE,      /* size.x: radius */
    IPBD_CAPSULE,     /* size.x: radius, size.y: half length of the axis along y */
    IPBD_BOX,         /* size: half extents */
    IPBD_CONVEX,      /* mesh: closed convex triangle mesh, wound either way; others are refused */
    IPBD_MESH,        /* mesh: any triangles; both sides collide, nothing is "inside" */
    IPBD_HEIGHTFIELD, /* heights over the x-z plane; everything below is solid; paths are followed cell by cell */
    IPBD_SDF          /* sdf: your function */
} ipbd_shape_type;

/* Signed distance in m at a point in the collider's frame, negative inside. Paths are walked by what it answers, in up
   to 64 steps: it must not overestimate, or thin parts are jumped over (a field of slope up to L is to be divided by L;
   bodies then stay away L times their half thickness where its slope is 1). A true distance needs the fewest calls.
   *normal gets the unit gradient. Called from tasks, for every vertex and substep: must be pure. Non-finite answers
   count as "far away". */
typedef float (*ipbd_sdf_fn)(isphpbd_vec3 point, isphpbd_vec3 *normal, void *user);

typedef struct ipbd_shape {
    ipbd_shape_type type; /* says which of the others are read */
    isphpbd_vec3 size;    /* m, > 0; the half length of a capsule >= 0 */
    ipbd_mesh mesh;       /* positions and triangles alone are read, and copied */
    const float *heights; /* IPBD_HEIGHTFIELD: columns * rows values in m, x fastest, centred about the pose; copied */
    int columns, rows;    /* 2 .. 8192 each */
    float cell;           /* m between neighbouring heights, > 0 */
    ipbd_sdf_fn sdf;      /* stays in use as long as the collider lives */
    void *sdf_user;       /* yours, handed to sdf */
} ipbd_shape;

/* Shorthands, a few stores each: lengths in m; meshes are triangles over positions of stride 12. Nothing is checked or
   copied before the shape is used, so arrays must live until then. */
ISPHPBD_API ipbd_shape ipbd_shape_plane(void);
ISPHPBD_API ipbd_shape ipbd_shape_sphere(float radius);
ISPHPBD_API ipbd_shape ipbd_shape_capsule(float radius, float half_length);
ISPHPBD_API ipbd_shape ipbd_shape_box(float half_x, float half_y, float half_z);
ISPHPBD_API ipbd_shape ipbd_shape_convex(const float *positions, int vertex_count, const uint32_t *triangles,
                                         int count);
ISPHPBD_API ipbd_shape ipbd_shape_mesh(const float *positions, int vertex_count, const uint32_t *triangles, int count);
ISPHPBD_API ipbd_shape ipbd_shape_heightfield(const float *heights, int columns, int rows, float cell);
ISPHPBD_API ipbd_shape ipbd_shape_sdf(ipbd_sdf_fn sdf, void *user);

typedef struct ipbd_collider_desc {
    ipbd_shape shape;     /* default plane */
    ipbd_pose pose;       /* of the centre of mass where mass > 0; default identity */
    float friction;       /* Coulomb, >= 0; of the two that touch the larger counts; default 0.3 */
    float mass;           /* kg, 1e-20 to 1e20; 0: cannot be pushed; default 0. A collider with mass yields to cloth
                             inside a step as far as its impulse says; the library never moves it for you. It should
                             not be lighter than the cloth that touches it */
    isphpbd_vec3 inertia; /* kg m^2 about the axes of the pose, range as of mass; 0: does not turn; default 0 */
    uint32_t layer, mask; /* as in ipbd_body_desc; default 1, ~0 */
    uint32_t cookie;      /* set by ipbd_collider_desc_default(): do not touch */
} ipbd_collider_desc;

ISPHPBD_API ipbd_collider_desc ipbd_collider_desc_default(void);
/* A null handle on failure: BAD_DESC (the shape's numbers, too), BAD_MESH (no triangles, or none with an area; an index
   out of range; a vertex not finite; a convex shape that is open, has no volume, or a corner more than 1/1000 of its
   size outside of a face) or CAPACITY. Wakes what is near. Copies the arrays; a mesh is sorted into a tree, O(n log n),
   a convex shape is checked in O(n^2). */
ISPHPBD_API ipbd_collider ipbd_collider_create(ipbd_world *world, const ipbd_collider_desc *desc, isphpbd_result *why);
/* Frees what is attached to it and wakes what is near. O(vertices of the world); arrays of later colliders move up. */
ISPHPBD_API isphpbd_result ipbd_collider_destroy(ipbd_world *world, ipbd_collider collider);
/* Where the collider shall be at the end of the next step; it gets there evenly over the substeps. */
ISPHPBD_API isphpbd_result ipbd_collider_move(ipbd_world *world, ipbd_collider collider, ipbd_pose pose);
/* At once, without sweeping along; bodies near the old and the new place wake. O(bodies). */
ISPHPBD_API isphpbd_result ipbd_collider_teleport(ipbd_world *world, ipbd_collider collider, ipbd_pose pose);
/* Where it is now (inside a hook: at the end of the substep); *pose must not be NULL. */
ISPHPBD_API isphpbd_result ipbd_collider_pose(const ipbd_world *world, ipbd_collider collider, ipbd_pose *pose);
/* Mass and inertia as in the desc, from the next step on. */
ISPHPBD_API isphpbd_result ipbd_collider_set_mass(ipbd_world *world, ipbd_collider collider, float mass,
                                                  isphpbd_vec3 inertia);
/* Impulses of all contacts and attachments since the last call: N s, and N m s about the pose's position, world axes.
   Reading clears both. */
ISPHPBD_API isphpbd_result ipbd_collider_take_impulse(ipbd_world *world, ipbd_collider collider, isphpbd_vec3 *linear,
                                                      isphpbd_vec3 *angular);

/* ---- [pbd-skins] ------------------------------------------------------------------------------------------------- */

/* Embeds the points (m) of a render mesh, given where they are relative to the body's input mesh (after desc.pose): in
   tetrahedra by barycentric coordinates, on shells by the nearest triangle and the distance along its normal.
   BAD_ARGUMENT for no points or a stride below 12, BAD_MESH for a point that is not finite or a body of lines alone,
   CAPACITY for skins or skin_vertices. Costs points * elements: make it while loading. */
ISPHPBD_API ipbd_skin ipbd_skin_create(ipbd_world *world, ipbd_body body, const float *positions, size_t stride_bytes,
                                       int count, isphpbd_result *why);
/* A body that is destroyed takes its skins along. Linear in the points of later skins. */
ISPHPBD_API isphpbd_result ipbd_skin_destroy(ipbd_world *world, ipbd_skin skin);
/* Writes the moved points (m) and, if normals is not NULL, the area-weighted unit normals of the given triangles over
   them (0 1 0 where there is no area); both with the given stride (>= 12). BAD_MESH for an index out of range. Linear
   in points and triangles. */
ISPHPBD_API isphpbd_result ipbd_skin_read(const ipbd_world *world, ipbd_skin skin, float *positions, float *normals,
                                          size_t stride_bytes, const uint32_t *triangles, int triangle_count);

/* ---- [pbd-hooks] ------------------------------------------------------------------------------------------------- */

/* All vertices of the world at once, writable, for a coupler. Body b's vertices are [vertex_begin, vertex_end). Places,
   velocities and loads have to be within +-1e9, w from 0 on. A vertex for which one is not, or is no number, is put to
   rest where it last was, before anything else sees it, and counted as quarantined unless its body sleeps; w is the
   real one then, loads are 0. What is written between steps is looked at when the next one begins. */
typedef struct ipbd_arrays {
    float *positions;            /* x y z w: w is the effective inverse mass that constraints use */
    const float *starts;         /* x y z pad: at the start of the substep */
    float *velocities;           /* x y z pad */
    const float *inverse_masses; /* the real ones, 0 where pinned */
    float *loads;                /* x y z pad, N s: what others did to fixed vertices in this substep, for pins and
                                    attachments to feel; zero when hooks.begin is called, and without that hook yours
                                    to clear */
    int vertex_count;
    const uint32_t *triangles; /* 3 per surface triangle, of all bodies, numbering the vertices above */
    int triangle_count;
} ipbd_arrays;
/* Called by the thread that steps; h is the length of the substep in s. */
typedef struct ipbd_hooks { /* any may be NULL */
    /* Before positions are predicted: change velocities, lower positions[].w to lend mass to wet vertices (gravity
       keeps acting on the real mass). The w are the real ones again at the start of every substep. */
    void (*begin)(ipbd_world *world, const ipbd_arrays *arrays, float h, void *user);
    /* After every iteration of the constraints, before contacts with colliders: external contacts go here. */
    void (*iterate)(ipbd_world *world, const ipbd_arrays *arrays, float h, int iteration, void *user);
    /* After velocities were taken from positions. */
    void (*end)(ipbd_world *world, const ipbd_arrays *arrays, float h, void *user);
    void *user; /* yours, handed to all of them */
} ipbd_hooks;
/* The struct is copied; NULL removes the hooks. */
ISPHPBD_API isphpbd_result ipbd_set_hooks(ipbd_world *world, const ipbd_hooks *hooks);
/* Where a body's vertices and triangles are in ipbd_arrays, until a body is destroyed or a snapshot loaded. */
ISPHPBD_API isphpbd_result ipbd_body_range(const ipbd_world *world, ipbd_body body, int *vertex_begin, int *vertex_end,
                                           int *triangle_begin, int *triangle_end);
/* The same world stepped piece by piece: begin once, then predict / iterate... / end for each substep, then finish.
   ipbd_step(w, dt) is begin(dt), substeps times {predict; iterations times iterate; end}, finish. dt as for ipbd_step,
   substeps 1 .. 1000. A piece out of its order answers BAD_ARGUMENT, a second begin LOCKED, as between begin and finish
   does everything else that changes the world. Finishing with substeps left is allowed: that time is not simulated.
   Begin and finish are linear in vertices, the others in vertices + constraints, of what is awake. */
ISPHPBD_API isphpbd_result ipbd_step_begin(ipbd_world *world, float dt, int substeps);
ISPHPBD_API isphpbd_result ipbd_substep_predict(ipbd_world *world);
ISPHPBD_API isphpbd_result ipbd_substep_iterate(ipbd_world *world);
ISPHPBD_API isphpbd_result ipbd_substep_end(ipbd_world *world);
ISPHPBD_API ipbd_step_info ipbd_step_finish(ipbd_world *world);
/* The arrays as hooks get them, at any time; what is written is looked at in the next step. Valid until bodies are made
   or destroyed. Nothing is copied. */
ISPHPBD_API ipbd_arrays ipbd_world_arrays(ipbd_world *world);

/* ---- [pbd-assets] ------------------------------------------------------------------------------------------------ */

#define IPBD_ASSET_VERSION 1u /* of the file format; others are refused */

/* What the asset is. Exactly one of SOLID and SHELL is set. */
enum {
    IPBD_ASSET_SOLID = 1,       /* tetrahedra, with the input surface embedded */
    IPBD_ASSET_SHELL = 2,       /* triangles only: cloth, balloons */
    IPBD_ASSET_CLOSED = 4,      /* the input surface has no holes: a shell can be a balloon */
    IPBD_ASSET_KEPT_SURFACE = 8 /* the body's surface has exactly the faces of the input */
};

typedef enum ipbd_asset_section {
    IPBD_ASSET_POSITIONS = 0,   /* float x y z per vertex of the body */
    IPBD_ASSET_MASSES,          /* float per vertex */
    IPBD_ASSET_TETRAHEDRA,      /* 4 indices each, positive volume, in the order of their colours */
    IPBD_ASSET_TETRA_COLOURS,   /* end of every colour in the list above */
    IPBD_ASSET_TRIANGLES,       /* 3 indices each, the body's own surface, outward */
    IPBD_ASSET_EDGES,           /* 2 indices each, in the order of their colours */
    IPBD_ASSET_EDGE_LENGTHS,    /* float per edge */
    IPBD_ASSET_EDGE_COLOURS,    /* ends, as above */
    IPBD_ASSET_BENDS,           /* 4 indices each: the edge, then the far corners of its two triangles; shells only */
    IPBD_ASSET_BEND_ANGLES,     /* float per bend: rest angle between the two normals, rad, positive where convex */
    IPBD_ASSET_BEND_COLOURS,    /* ends, as above */
    IPBD_ASSET_SKIN_TETRAHEDRA, /* 1 index per skin vertex: the tetrahedron it lives in; solids only */
    IPBD_ASSET_SKIN_WEIGHTS,    /* 4 floats per skin vertex: its barycentric coordinates there, sum 1 */
    IPBD_ASSET_SKIN_TRIANGLES,  /* 3 indices of skin vertices each: the mended input surface; solids only */
    IPBD_ASSET_VERTEX_MAP,      /* per vertex of the input file: its skin vertex (solid) or body vertex (shell), or
                                    IPBD_NO_VERTEX */
    IPBD_ASSET_SECTION_COUNT    /* how many there are; not a section */
} ipbd_asset_section;

/* An opened asset. The pointers lead into the caller's bytes (or into scratch) and live as long as those. Arrays and
   counts without a comment are those of the section of the same name. */
typedef struct ipbd_asset {
    uint32_t flags;         /* IPBD_ASSET_* */
    const float *positions; /* m */
    const float *masses;    /* kg, suggested; they sum up to mass */
    int vertex_count;
    const uint32_t *tetrahedra, *tetrahedron_colours;
    int tetrahedron_count, tetrahedron_colour_count;
    const uint32_t *triangles;
    int triangle_count;
    const uint32_t *edges, *edge_colours;
    const float *edge_lengths; /* m */
    int edge_count, edge_colour_count;
    const uint32_t *bends, *bend_colours;
    const float *bend_angles; /* rad */
    int bend_count, bend_colour_count;
    const uint32_t *skin_tetrahedra;
    const float *skin_weights;
    int skin_vertex_count;
    const uint32_t *skin_triangles;
    int skin_triangle_count;
    const uint32_t *vertex_map;
    int input_vertex_count;
    isphpbd_vec3 lower, upper; /* bounds of body and skin, m */
    float density;             /* kg/m^3 (solid) or kg/m^2 (shell) the masses were made with */
    float mass;                /* kg */
    float volume;              /* m^3 of the input surface; 0 if open */
    float area;                /* m^2 of the input surface */
    float element_size;        /* m: mean edge of the body */
} ipbd_asset;

/* Bytes of scratch that ipbd_asset_open needs for this block: 0 where it can be used in place (the address is a
   multiple of 4 and the machine little-endian, which is the rule). */
ISPHPBD_API size_t ipbd_asset_scratch_bytes(const void *bytes, size_t size);
/* Checks everything (magic, version, size, checksum, every index, every number) and fills *asset. No bulk data is
   copied unless scratch is needed; it has to live as long as the asset is used, and may be NULL where none is needed.
   ISPHPBD_BAD_SNAPSHOT: not an asset, of another version, cut off or corrupted. ISPHPBD_BAD_MESH: sound as a file, but
   an index or a number is out of range. ISPHPBD_CAPACITY: scratch is needed and too small. *asset is zero unless OK.
   O(size); about 1 GB/s. */
ISPHPBD_API isphpbd_result ipbd_asset_open(const void *bytes, size_t size, void *scratch, size_t scratch_size,
                                           ipbd_asset *asset);
/* Puts the asset's mesh and masses into a desc and switches welding off (it is welded); material and pose stay. The
   desc then points into the asset. NULL does nothing. */
ISPHPBD_API void ipbd_asset_apply(const ipbd_asset *asset, ipbd_body_desc *desc);
/* Where the skin's vertices are now, for a body made from this asset: the embedding was found offline and costs nothing
   at load time. normals (may be NULL) get area-weighted unit normals (0 where there is no area). Both have stride_bytes
   (>= 12, a multiple of 4) between vertices. For a shell the skin is the body itself. Vertices of the file:
   positions[vertex_map[i]]. BAD_MESH for a body that is not of this asset. Linear in skin vertices and triangles. */
ISPHPBD_API isphpbd_result ipbd_asset_read(const ipbd_world *world, ipbd_body body, const ipbd_asset *asset,
                                           float *positions, float *normals, size_t stride_bytes);
/* The checksum of a block, over all words but its own place: for those who write assets. `size` bytes must be there (it
   is a multiple of 4 and at least the header); nothing is checked. Linear in size. */
ISPHPBD_API uint64_t ipbd_asset_checksum(const void *bytes, size_t size);

/* ---- [pbd-helpers] ----------------------------------------------------------------------------------------------- */

/* A flat cloth of columns x rows vertices in the x-z plane, width x depth (m), centred, row by row: fills 3 * columns *
   rows floats and 6 * (columns - 1) * (rows - 1) indices, which must have room, and answers the number of triangles: 0
   for fewer than 2 columns or rows or a NULL array. Linear in what is filled. */
ISPHPBD_API int ipbd_grid(int columns, int rows, float width, float depth, float *positions, uint32_t *triangles);
/* A box of the given size (m) of nx * ny * nz cells of six tetrahedra, centred: fills 3 * (nx+1) * (ny+1) * (nz+1)
   floats and 24 * nx * ny * nz indices, which must have room, and answers the number of tetrahedra: 0 for fewer than
   one cell or a NULL array. Vertex (i, j, k) is i + (nx+1) * (j + (ny+1) * k). Linear in what is filled. */
ISPHPBD_API int ipbd_block(int nx, int ny, int nz, isphpbd_vec3 size, float *positions, uint32_t *tetrahedra);

#ifdef __cplusplus
}
#endif
#endif /* ISPHPBD_PBD_H_INCLUDED */

/* ==== implementation ============================================================================================== */
#if defined(ISPHPBD_IMPLEMENTATION) || defined(IPBD_IMPLEMENTATION)
#ifndef ISPHPBD_PBD_IMPLEMENTED
#define ISPHPBD_PBD_IMPLEMENTED

/* ---- common implementation, revision 1 (byte-identical in both headers, like the common block) ------------------- */
#ifndef ISPHPBDX_COMMON_IMPLEMENTED
#define ISPHPBDX_COMMON_IMPLEMENTED

#include <math.h>
#include <string.h>
#ifndef ISPHPBD_NO_STDLIB
#include <stdlib.h>
#endif
#if !defined(ISPHPBD_NO_SIMD) && (defined(__SSE2__) || defined(_M_X64))
#define ISPHPBDX_SSE2 1
#include <emmintrin.h>
#endif

#if defined(__GNUC__)
#define ISPHPBDX_RESTRICT __restrict__
#elif defined(_MSC_VER)
#define ISPHPBDX_RESTRICT __restrict
#else
#define ISPHPBDX_RESTRICT
#endif

/* [common-numbers] Tests by bits: they stay true under -ffast-math, where isfinite() does not. */
ISPHPBD_INLINE bool isphpbdx_finite(float f) {
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    return (bits & 0x7f800000u) != 0x7f800000u;
}
ISPHPBD_INLINE bool isphpbdx_finite3(isphpbd_vec3 v) {
    return isphpbdx_finite(v.x) && isphpbdx_finite(v.y) && isphpbdx_finite(v.z);
}
ISPHPBD_INLINE float isphpbdx_min(float a, float b) { return a < b ? a : b; }
ISPHPBD_INLINE float isphpbdx_max(float a, float b) { return a > b ? a : b; }
ISPHPBD_INLINE float isphpbdx_clamp(float v, float lo, float hi) { return v < lo ? lo : v > hi ? hi : v; }
ISPHPBD_INLINE float isphpbdx_abs(float v) { return v < 0.0f ? -v : v; }
ISPHPBD_INLINE int isphpbdx_mini(int a, int b) { return a < b ? a : b; }
ISPHPBD_INLINE int isphpbdx_maxi(int a, int b) { return a > b ? a : b; }

/* [common-vectors] */
ISPHPBD_INLINE isphpbd_vec3 isphpbdx_add(isphpbd_vec3 a, isphpbd_vec3 b) {
    return isphpbd_v3(a.x + b.x, a.y + b.y, a.z + b.z);
}
ISPHPBD_INLINE isphpbd_vec3 isphpbdx_sub(isphpbd_vec3 a, isphpbd_vec3 b) {
    return isphpbd_v3(a.x - b.x, a.y - b.y, a.z - b.z);
}
ISPHPBD_INLINE isphpbd_vec3 isphpbdx_scale(isphpbd_vec3 a, float s) { return isphpbd_v3(a.x * s, a.y * s, a.z * s); }
ISPHPBD_INLINE isphpbd_vec3 isphpbdx_madd(isphpbd_vec3 a, isphpbd_vec3 b, float s) {
    return isphpbd_v3(a.x + b.x * s, a.y + b.y * s, a.z + b.z * s);
}
ISPHPBD_INLINE float isphpbdx_dot(isphpbd_vec3 a, isphpbd_vec3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
ISPHPBD_INLINE isphpbd_vec3 isphpbdx_cross(isphpbd_vec3 a, isphpbd_vec3 b) {
    return isphpbd_v3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}
ISPHPBD_INLINE float isphpbdx_length(isphpbd_vec3 a) { return sqrtf(isphpbdx_dot(a, a)); }

/* [common-rotation] */
ISPHPBD_INLINE isphpbd_vec3 isphpbdx_rotate(isphpbd_quat q, isphpbd_vec3 v) {
    isphpbd_vec3 u = isphpbd_v3(q.x, q.y, q.z);
    isphpbd_vec3 t = isphpbdx_scale(isphpbdx_cross(u, v), 2.0f);
    return isphpbdx_add(isphpbdx_madd(v, t, q.w), isphpbdx_cross(u, t));
}
ISPHPBD_INLINE isphpbd_vec3 isphpbdx_unrotate(isphpbd_quat q, isphpbd_vec3 v) {
    q.x = -q.x, q.y = -q.y, q.z = -q.z;
    return isphpbdx_rotate(q, v);
}

/* [common-memory] One allocation holds everything an object owns. The same layout function runs twice: with base NULL
   it measures, with the allocation it hands out the arrays. */
typedef struct isphpbdx_layout {
    unsigned char *base;
    size_t used;
    bool overflow; /* the sum does not fit size_t: answer OUT_OF_MEMORY */
} isphpbdx_layout;
ISPHPBD_INLINE void *isphpbdx_take(isphpbdx_layout *layout, size_t count, size_t size) {
    size_t start = (layout->used + 63u) & ~(size_t)63u;
    if (start < layout->used || (size != 0 && count > ((size_t)-1 - start) / size)) {
        layout->overflow = true;
        return NULL;
    }
    layout->used = start + count * size;
    return layout->base ? (void *)(layout->base + start) : NULL;
}
#ifndef ISPHPBD_NO_STDLIB
ISPHPBD_INLINE void *isphpbdx_malloc(size_t size, size_t align, void *user) {
    unsigned char *raw, *aligned;
    (void)user;
    if (size > (size_t)-1 - align - sizeof(void *)) return NULL;
    raw = (unsigned char *)malloc(size + align + sizeof(void *));
    if (!raw) return NULL;
    aligned = raw + sizeof(void *);
    aligned += (align - ((uintptr_t)aligned & (align - 1u))) & (align - 1u);
    memcpy(aligned - sizeof(void *), &raw, sizeof(void *));
    return aligned;
}
ISPHPBD_INLINE void isphpbdx_mfree(void *ptr, size_t size, void *user) {
    void *raw;
    (void)size, (void)user;
    if (!ptr) return;
    memcpy(&raw, (unsigned char *)ptr - sizeof(void *), sizeof(void *));
    free(raw);
}
#endif
/* Fills in malloc where the user gave nothing; false where only half was given or malloc is compiled out. */
ISPHPBD_INLINE bool isphpbdx_allocator_ready(isphpbd_allocator *allocator) {
    if (allocator->alloc && allocator->free) return true;
    if (allocator->alloc || allocator->free) return false;
#ifndef ISPHPBD_NO_STDLIB
    allocator->alloc = isphpbdx_malloc;
    allocator->free = isphpbdx_mfree;
    return true;
#else
    return false;
#endif
}
/* A block for an object; NULL where there is none, or where it is not aligned: that goes back at once. */
ISPHPBD_INLINE void *isphpbdx_allocate(const isphpbd_allocator *allocator, size_t bytes) {
    void *block = allocator->alloc(bytes, 64, allocator->user);
    if (((uintptr_t)block & 63u) == 0) return block;
    allocator->free(block, bytes, allocator->user);
    return NULL;
}

/* [common-threads] */
ISPHPBD_INLINE void isphpbdx_run(const isphpbd_parallel *parallel, void (*task)(void *ctx, int index), void *ctx,
                                 int count) {
    int i;
    if (parallel->run && count > 1) {
        parallel->run(task, ctx, count, parallel->user);
        return;
    }
#if defined(_OPENMP) && !defined(ISPHPBD_NO_OPENMP)
    if (count > 1) {
#pragma omp parallel for schedule(static)
        for (i = 0; i < count; ++i) task(ctx, i);
        return;
    }
#endif
    for (i = 0; i < count; ++i) task(ctx, i);
}

/* [common-hash] 64 bits over 32-bit words by value, so that the hash does not depend on byte order. */
ISPHPBD_INLINE uint64_t isphpbdx_hash_word(uint64_t hash, uint32_t word) {
    hash = (hash ^ word) * UINT64_C(0x9E3779B97F4A7C15);
    return hash ^ (hash >> 29);
}
ISPHPBD_INLINE uint64_t isphpbdx_hash_words(uint64_t hash, const void *words, size_t count) {
    const unsigned char *bytes = (const unsigned char *)words;
    size_t i;
    for (i = 0; i < count; ++i) {
        uint32_t word;
        memcpy(&word, bytes + 4 * i, sizeof word);
        hash = isphpbdx_hash_word(hash, word);
    }
    return hash;
}

ISPHPBD_INLINE void isphpbdx_log(const isphpbd_logger *logger, isphpbd_log_level level, isphpbd_result code,
                                 const char *text) {
    if (logger->fn) logger->fn(level, code, text, logger->user);
}
ISPHPBD_INLINE uint64_t isphpbdx_ticks(const isphpbd_clock *clock) { return clock->fn ? clock->fn(clock->user) : 0; }

/* [common-simd] Four floats at once. Every operation is correctly rounded, so the plain version has the same bits. */
#ifdef ISPHPBDX_SSE2
typedef __m128 isphpbdx_f4;
ISPHPBD_INLINE isphpbdx_f4 isphpbdx_f4_load(const float *p) { return _mm_loadu_ps(p); }
ISPHPBD_INLINE void isphpbdx_f4_store(float *p, isphpbdx_f4 v) { _mm_storeu_ps(p, v); }
ISPHPBD_INLINE isphpbdx_f4 isphpbdx_f4_all(float s) { return _mm_set1_ps(s); }
ISPHPBD_INLINE isphpbdx_f4 isphpbdx_f4_set(float a, float b, float c, float d) { return _mm_setr_ps(a, b, c, d); }
ISPHPBD_INLINE isphpbdx_f4 isphpbdx_f4_add(isphpbdx_f4 a, isphpbdx_f4 b) { return _mm_add_ps(a, b); }
ISPHPBD_INLINE isphpbdx_f4 isphpbdx_f4_sub(isphpbdx_f4 a, isphpbdx_f4 b) { return _mm_sub_ps(a, b); }
ISPHPBD_INLINE isphpbdx_f4 isphpbdx_f4_mul(isphpbdx_f4 a, isphpbdx_f4 b) { return _mm_mul_ps(a, b); }
ISPHPBD_INLINE isphpbdx_f4 isphpbdx_f4_div(isphpbdx_f4 a, isphpbdx_f4 b) { return _mm_div_ps(a, b); }
ISPHPBD_INLINE isphpbdx_f4 isphpbdx_f4_sqrt(isphpbdx_f4 a) { return _mm_sqrt_ps(a); }
ISPHPBD_INLINE isphpbdx_f4 isphpbdx_f4_min(isphpbdx_f4 a, isphpbdx_f4 b) {
    return _mm_min_ps(a, b);
} /* a < b ? a : b */
ISPHPBD_INLINE isphpbdx_f4 isphpbdx_f4_max(isphpbdx_f4 a, isphpbdx_f4 b) {
    return _mm_max_ps(a, b);
} /* a > b ? a : b */
ISPHPBD_INLINE int isphpbdx_f4_below(isphpbdx_f4 a, isphpbdx_f4 b) { /* bits 0 .. 3: a < b */
    return _mm_movemask_ps(_mm_cmplt_ps(a, b));
}
#else
typedef struct isphpbdx_f4 {
    float v[4];
} isphpbdx_f4;
#define ISPHPBDX_F4(name, expression)                                                                                  \
    ISPHPBD_INLINE isphpbdx_f4 isphpbdx_f4_##name(isphpbdx_f4 a, isphpbdx_f4 b) {                                      \
        isphpbdx_f4 r;                                                                                                 \
        int i;                                                                                                         \
        for (i = 0; i < 4; ++i) r.v[i] = (expression);                                                                 \
        return r;                                                                                                      \
    }
ISPHPBDX_F4(add, a.v[i] + b.v[i])
ISPHPBDX_F4(sub, a.v[i] - b.v[i])
ISPHPBDX_F4(mul, a.v[i] * b.v[i])
ISPHPBDX_F4(div, a.v[i] / b.v[i])
ISPHPBDX_F4(min, a.v[i] < b.v[i] ? a.v[i] : b.v[i])
ISPHPBDX_F4(max, a.v[i] > b.v[i] ? a.v[i] : b.v[i])
#undef ISPHPBDX_F4
ISPHPBD_INLINE isphpbdx_f4 isphpbdx_f4_set(float a, float b, float c, float d) {
    isphpbdx_f4 r;
    r.v[0] = a, r.v[1] = b, r.v[2] = c, r.v[3] = d;
    return r;
}
ISPHPBD_INLINE isphpbdx_f4 isphpbdx_f4_all(float s) { return isphpbdx_f4_set(s, s, s, s); }
ISPHPBD_INLINE isphpbdx_f4 isphpbdx_f4_load(const float *p) { return isphpbdx_f4_set(p[0], p[1], p[2], p[3]); }
ISPHPBD_INLINE void isphpbdx_f4_store(float *p, isphpbdx_f4 v) { memcpy(p, v.v, sizeof v.v); }
ISPHPBD_INLINE isphpbdx_f4 isphpbdx_f4_sqrt(isphpbdx_f4 a) {
    return isphpbdx_f4_set(sqrtf(a.v[0]), sqrtf(a.v[1]), sqrtf(a.v[2]), sqrtf(a.v[3]));
}
ISPHPBD_INLINE int isphpbdx_f4_below(isphpbdx_f4 a, isphpbdx_f4 b) {
    return (a.v[0] < b.v[0]) | (a.v[1] < b.v[1]) << 1 | (a.v[2] < b.v[2]) << 2 | (a.v[3] < b.v[3]) << 3;
}
#endif
#endif /* ISPHPBDX_COMMON_IMPLEMENTED */
/* ---- end of common implementation -------------------------------------------------------------------------------- */

#ifdef __cplusplus
extern "C" {
#endif

#define IPBDX_WORLD_COOKIE    0x49504257u
#define IPBDX_BODY_COOKIE     0x49504242u
#define IPBDX_COLLIDER_COOKIE 0x49504243u
#define IPBDX_NONE            0xffffffffu
#define IPBDX_TINY            1e-20f /* denominators below this mean "no direction": nothing moves */
#define IPBDX_SLAB_VERTICES   384    /* a slab's vertices (6 KB of positions) stay in the first-level cache */
#define IPBDX_PAIR_BLOCK      256    /* soft pairs looked at by one task */
#define IPBDX_SEEK_BLOCK      256    /* vertices, or edges, whose pairs one task finds */
#define IPBDX_GROUP           8      /* of them that look together */
#define IPBDX_CROWD           128    /* items near them that they remember, in fours */
#define IPBDX_PLAN            16     /* substeps for which a list of pairs looks ahead at most */
#define IPBDX_PI              3.14159265358979f
/* Parts that start too near are moved apart so fast (m/s), without adding velocity, and at most by this share of what
   is missing per substep: more makes layers tremble. */
#define IPBDX_PUSH_SPEED 1.0f
#define IPBDX_PUSH_SHARE 0.1f
/* Contact distances: what is that near is watched. By trial: the bends of a folded canvas push its layers together by
   6 % of their thickness in a substep. */
#define IPBDX_ALERT      1.1f
#define IPBDX_LEAST_GAP 2e-3f /* thicknesses: see ipbdx_least_gap */
#define IPBDX_REST_SPEED 1.0f /* m/s: soft parts in contact that move less against each other come to rest */
/* Sweeps over elastic elements per unit of shortfall, see [substep] (0.3 still works), and at most, per iteration. */
#define IPBDX_SWEEPS           0.5f
#define IPBDX_MOST_SWEEPS      10
#define IPBDX_SOFTER           3.0f /* times what the most sweeps do: a body is softer by a tenth, see [substep] */
#define IPBDX_EDGES_HOLD 100.0f /* squared substeps per radian of the edges' swing, see ipbdx_edges_hold */
#define IPBDX_USUAL_STEP       (1.0f / 60.0f) /* s: what advice at creation goes by */
#define IPBDX_HEAVY_SHEET      50.0f /* kg/m^2: 6 mm of steel */
#define IPBDX_STIFFNESS_PERIOD (1.0f / 60.0f) /* s: a PBD stiffness k takes the share k of an error away in this time */
#define IPBDX_HARDENING        30.0f /* F = K x (1 + this * (strain / ((1 - k) / k))^2), at most K x (1 + this) */

/* ---- [math] small numbers that C's library does not give bit-equal everywhere ------------------------------------ */

static isphpbd_vec3 ipbdx_v3(const float *p) { return isphpbd_v3(p[0], p[1], p[2]); }
static void ipbdx_put3(float *p, isphpbd_vec3 v) { p[0] = v.x, p[1] = v.y, p[2] = v.z; }
static isphpbd_vec3 ipbdx_zero3(void) { return isphpbd_v3(0.0f, 0.0f, 0.0f); }
static isphpbd_vec3 ipbdx_lerp3(isphpbd_vec3 a, isphpbd_vec3 b, float t) {
    return isphpbdx_madd(a, isphpbdx_sub(b, a), t);
}
static isphpbd_vec3 ipbdx_min3(isphpbd_vec3 a, isphpbd_vec3 b) {
    return isphpbd_v3(isphpbdx_min(a.x, b.x), isphpbdx_min(a.y, b.y), isphpbdx_min(a.z, b.z));
}
static isphpbd_vec3 ipbdx_max3(isphpbd_vec3 a, isphpbd_vec3 b) {
    return isphpbd_v3(isphpbdx_max(a.x, b.x), isphpbdx_max(a.y, b.y), isphpbdx_max(a.z, b.z));
}
/* a / |a|, or fallback where a has no direction. */
static isphpbd_vec3 ipbdx_unit(isphpbd_vec3 a, isphpbd_vec3 fallback) {
    float length = isphpbdx_length(a);
    return length > IPBDX_TINY ? isphpbdx_scale(a, 1.0f / length) : fallback;
}
static isphpbd_quat ipbdx_quat_identity(void) {
    isphpbd_quat q;
    q.x = q.y = q.z = 0.0f, q.w = 1.0f;
    return q;
}
static isphpbd_quat ipbdx_quat_unit(isphpbd_quat q) {
    float length = sqrtf(q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w), s;
    if (!(length > IPBDX_TINY)) return ipbdx_quat_identity();
    s = 1.0f / length;
    q.x *= s, q.y *= s, q.z *= s, q.w *= s;
    return q;
}
static isphpbd_quat ipbdx_quat_mul(isphpbd_quat a, isphpbd_quat b) {
    isphpbd_quat q;
    q.w = a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z;
    q.x = a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y;
    q.y = a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x;
    q.z = a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w;
    return q;
}
/* Along the shorter arc; normalised linear: exact at both ends, even enough between. */
static isphpbd_quat ipbdx_quat_mix(isphpbd_quat a, isphpbd_quat b, float t) {
    float sign = a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w < 0.0f ? -1.0f : 1.0f;
    isphpbd_quat q;
    q.x = a.x + (b.x * sign - a.x) * t, q.y = a.y + (b.y * sign - a.y) * t;
    q.z = a.z + (b.z * sign - a.z) * t, q.w = a.w + (b.w * sign - a.w) * t;
    return ipbdx_quat_unit(q);
}
static isphpbd_vec3 ipbdx_pose_point(ipbd_pose pose, isphpbd_vec3 local) {
    return isphpbdx_add(pose.position, isphpbdx_rotate(pose.rotation, local));
}
static isphpbd_vec3 ipbdx_pose_local(ipbd_pose pose, isphpbd_vec3 point) {
    return isphpbdx_unrotate(pose.rotation, isphpbdx_sub(point, pose.position));
}
/* Coordinates, speeds and masses beyond this count as not finite: products of three of them stay floats. */
#define IPBDX_LIMIT        1e9f
#define IPBDX_MOST_IMPULSE 1e30f /* of sums of forces and impulses: a snapshot that holds more is no snapshot */
static bool ipbdx_within(float v, float most) { return isphpbdx_finite(v) && v >= -most && v <= most; }
static bool ipbdx_within3(isphpbd_vec3 v, float most) {
    return ipbdx_within(v.x, most) && ipbdx_within(v.y, most) && ipbdx_within(v.z, most);
}
static bool ipbdx_sane(float v) { return ipbdx_within(v, IPBDX_LIMIT); }
static bool ipbdx_sane3(isphpbd_vec3 v) { return ipbdx_within3(v, IPBDX_LIMIT); }
/* At most so large; 0 for what is no number. */
static float ipbdx_limited(float v, float most) { return isphpbdx_finite(v) ? isphpbdx_clamp(v, -most, most) : 0.0f; }
static isphpbd_vec3 ipbdx_limited3(isphpbd_vec3 v, float most) {
    return isphpbd_v3(ipbdx_limited(v.x, most), ipbdx_limited(v.y, most), ipbdx_limited(v.z, most));
}

/* Finite and a unit rotation to 1 %; then made unit to float. */
static bool ipbdx_pose_ready(ipbd_pose *pose) {
    isphpbd_quat q = pose->rotation;
    float n = q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w;
    if (!ipbdx_sane3(pose->position) || !isphpbdx_finite(n) || !(n > 0.98f && n < 1.02f)) return false;
    pose->rotation = ipbdx_quat_unit(q);
    return true;
}

/* ---- [simd] what the kernels need beyond the common four floats -------------------------------------------------- */

#ifdef ISPHPBDX_SSE2
static isphpbdx_f4 ipbdx_f4_select_gt(isphpbdx_f4 a, isphpbdx_f4 b, isphpbdx_f4 yes, isphpbdx_f4 no) {
    __m128 mask = _mm_cmpgt_ps(a, b);
    return _mm_or_ps(_mm_and_ps(mask, yes), _mm_andnot_ps(mask, no));
}
#else
static isphpbdx_f4 ipbdx_f4_select_gt(isphpbdx_f4 a, isphpbdx_f4 b, isphpbdx_f4 yes, isphpbdx_f4 no) {
    isphpbdx_f4 r;
    int i;
    for (i = 0; i < 4; ++i) r.v[i] = a.v[i] > b.v[i] ? yes.v[i] : no.v[i];
    return r;
}
#endif
/* Four boxes: x, y, z of their low corners, then of their high ones. */
typedef struct ipbdx_boxes {
    isphpbdx_f4 side[6];
} ipbdx_boxes;

/* Which of the four (bits 0 to 3) are apart from the box that the others are four times. */
#ifdef ISPHPBDX_SSE2
ISPHPBD_INLINE int ipbdx_boxes_off(const ipbdx_boxes *four, const ipbdx_boxes *one) {
    const __m128 x = _mm_or_ps(_mm_cmplt_ps(one->side[3], four->side[0]), _mm_cmplt_ps(four->side[3], one->side[0]));
    const __m128 y = _mm_or_ps(_mm_cmplt_ps(one->side[4], four->side[1]), _mm_cmplt_ps(four->side[4], one->side[1]));
    const __m128 z = _mm_or_ps(_mm_cmplt_ps(one->side[5], four->side[2]), _mm_cmplt_ps(four->side[5], one->side[2]));
    return _mm_movemask_ps(_mm_or_ps(_mm_or_ps(x, y), z));
}
#else
ISPHPBD_INLINE int ipbdx_boxes_off(const ipbdx_boxes *four, const ipbdx_boxes *one) {
    int k, off = 0;
    for (k = 0; k < 3; ++k)
        off |= isphpbdx_f4_below(one->side[k + 3], four->side[k]) | isphpbdx_f4_below(four->side[k + 3], one->side[k]);
    return off;
}
#endif

#define IPBDX_ADD(a, b) isphpbdx_f4_add(a, b)
#define IPBDX_SUB(a, b) isphpbdx_f4_sub(a, b)
#define IPBDX_MUL(a, b) isphpbdx_f4_mul(a, b)
#define IPBDX_ALL(s)    isphpbdx_f4_all(s)
#if defined(__GNUC__)
#define IPBDX_HOT static inline __attribute__((always_inline, unused)) /* a call would spill all vectors */
#else
#define IPBDX_HOT static inline
#endif

typedef struct ipbdx_v4 {
    isphpbdx_f4 x, y, z;
} ipbdx_v4; /* four 3-vectors */
typedef struct ipbdx_p4 {
    ipbdx_v4 p;
    isphpbdx_f4 w;
} ipbdx_p4; /* four positions with inverse masses */

ISPHPBD_INLINE ipbdx_v4 ipbdx_v4_sub(ipbdx_v4 a, ipbdx_v4 b) {
    ipbdx_v4 r;
    r.x = IPBDX_SUB(a.x, b.x), r.y = IPBDX_SUB(a.y, b.y), r.z = IPBDX_SUB(a.z, b.z);
    return r;
}
ISPHPBD_INLINE ipbdx_v4 ipbdx_v4_scale(ipbdx_v4 a, isphpbdx_f4 s) {
    ipbdx_v4 r;
    r.x = IPBDX_MUL(a.x, s), r.y = IPBDX_MUL(a.y, s), r.z = IPBDX_MUL(a.z, s);
    return r;
}
ISPHPBD_INLINE ipbdx_v4 ipbdx_v4_madd(ipbdx_v4 a, ipbdx_v4 b, isphpbdx_f4 s) {
    ipbdx_v4 r;
    r.x = IPBDX_ADD(a.x, IPBDX_MUL(b.x, s)), r.y = IPBDX_ADD(a.y, IPBDX_MUL(b.y, s));
    r.z = IPBDX_ADD(a.z, IPBDX_MUL(b.z, s));
    return r;
}
ISPHPBD_INLINE isphpbdx_f4 ipbdx_v4_dot(ipbdx_v4 a, ipbdx_v4 b) {
    return IPBDX_ADD(IPBDX_ADD(IPBDX_MUL(a.x, b.x), IPBDX_MUL(a.y, b.y)), IPBDX_MUL(a.z, b.z));
}
ISPHPBD_INLINE ipbdx_v4 ipbdx_v4_cross(ipbdx_v4 a, ipbdx_v4 b) {
    ipbdx_v4 r;
    r.x = IPBDX_SUB(IPBDX_MUL(a.y, b.z), IPBDX_MUL(a.z, b.y));
    r.y = IPBDX_SUB(IPBDX_MUL(a.z, b.x), IPBDX_MUL(a.x, b.z));
    r.z = IPBDX_SUB(IPBDX_MUL(a.x, b.y), IPBDX_MUL(a.y, b.x));
    return r;
}

#ifdef ISPHPBDX_SSE2
ISPHPBD_INLINE ipbdx_p4 ipbdx_gather(const float *positions, const uint32_t *v) {
    __m128 r0 = _mm_load_ps(positions + 4 * (size_t)v[0]), r1 = _mm_load_ps(positions + 4 * (size_t)v[1]);
    __m128 r2 = _mm_load_ps(positions + 4 * (size_t)v[2]), r3 = _mm_load_ps(positions + 4 * (size_t)v[3]);
    ipbdx_p4 r;
    _MM_TRANSPOSE4_PS(r0, r1, r2, r3);
    r.p.x = r0, r.p.y = r1, r.p.z = r2, r.w = r3;
    return r;
}
ISPHPBD_INLINE void ipbdx_scatter(float *positions, const uint32_t *v, ipbdx_p4 a) {
    __m128 r0 = a.p.x, r1 = a.p.y, r2 = a.p.z, r3 = a.w;
    _MM_TRANSPOSE4_PS(r0, r1, r2, r3);
    _mm_store_ps(positions + 4 * (size_t)v[0], r0);
    _mm_store_ps(positions + 4 * (size_t)v[1], r1);
    _mm_store_ps(positions + 4 * (size_t)v[2], r2);
    _mm_store_ps(positions + 4 * (size_t)v[3], r3);
}
/* One vector after the other; their fourth floats are zero. */
ISPHPBD_INLINE void ipbdx_to_rows(ipbdx_v4 a, isphpbdx_f4 row[4]) {
    __m128 r0 = a.x, r1 = a.y, r2 = a.z, r3 = _mm_setzero_ps();
    _MM_TRANSPOSE4_PS(r0, r1, r2, r3);
    row[0] = r0, row[1] = r1, row[2] = r2, row[3] = r3;
}
#else
ISPHPBD_INLINE ipbdx_p4 ipbdx_gather(const float *positions, const uint32_t *v) {
    ipbdx_p4 r;
    int i;
    for (i = 0; i < 4; ++i) {
        const float *p = positions + 4 * (size_t)v[i];
        r.p.x.v[i] = p[0], r.p.y.v[i] = p[1], r.p.z.v[i] = p[2], r.w.v[i] = p[3];
    }
    return r;
}
ISPHPBD_INLINE void ipbdx_scatter(float *positions, const uint32_t *v, ipbdx_p4 a) {
    int i;
    for (i = 0; i < 4; ++i) {
        float *p = positions + 4 * (size_t)v[i];
        p[0] = a.p.x.v[i], p[1] = a.p.y.v[i], p[2] = a.p.z.v[i], p[3] = a.w.v[i];
    }
}
ISPHPBD_INLINE void ipbdx_to_rows(ipbdx_v4 a, isphpbdx_f4 row[4]) {
    int i;
    for (i = 0; i < 4; ++i) row[i] = isphpbdx_f4_set(a.x.v[i], a.y.v[i], a.z.v[i], 0.0f);
}
#endif

/* ---- [world] records, memory ------------------------------------------------------------------------------------- */

/* What a constraint is. The first four share one kernel and one array. */
typedef enum ipbdx_kind {
    IPBDX_STRETCH = 0,
    IPBDX_SHEAR,
    IPBDX_BEND,
    IPBDX_LINK,
    IPBDX_DIHEDRAL,
    IPBDX_ISOMETRIC,
    IPBDX_VOLUME,
    IPBDX_ELASTIC,
    IPBDX_KINDS
} ipbdx_kind;
typedef enum ipbdx_store {
    IPBDX_EDGES = 0,
    IPBDX_DIHEDRALS,
    IPBDX_ISOMETRICS,
    IPBDX_VOLUMES,
    IPBDX_ELASTICS,
    IPBDX_STORES
} ipbdx_store;

/* Groups of four constraints that share no vertex. A colour that does not fill its last group repeats its last
   constraint: equal lanes compute and store equal bits, and no mask is needed. Vertices count from the body's first. */
typedef struct ipbdx_edges {
    uint32_t v[2][4];
    float rest[4], alpha[4], lambda[4];
} ipbdx_edges;
typedef struct ipbdx_quads {
    uint32_t v[4][4];
    float rest[4], alpha[4], lambda[4];
} ipbdx_quads; /* dihedral, volume */
typedef struct ipbdx_isometrics {
    uint32_t v[4][4];
    float k[4][4], rest[4], alpha[4], lambda[4];
} ipbdx_isometrics;
typedef struct ipbdx_elastics { /* strains and stresses: xx yy zz xy xz yz */
    uint32_t v[4][4];
    float inverse[9][4];             /* of the rest edge matrix, row by row */
    float shear[4], bulk[4];         /* N m: 2 mu V and lambda V */
    float stress[6][4], pressure[4]; /* multipliers: N m times h^2 */
} ipbdx_elastics;

/* A piece of a body whose constraints touch no vertex of another piece of the same phase. Groups and vertices count
   from the body's first. */
typedef struct ipbdx_slab {
    int body, vertex_begin, vertex_end;
    int group_begin[IPBDX_KINDS], group_end[IPBDX_KINDS];
} ipbdx_slab;

typedef struct ipbdx_body {
    uint32_t generation, used; /* generation survives the body */
    int vertex_begin, vertex_count, input_begin, input_count, triangle_begin, triangle_count;
    int edge_begin, edge_count; /* that soft parts can meet: of the surface triangles, each once, and lines */
    int group_begin[IPBDX_STORES], group_count[IPBDX_STORES];
    int slab_begin, slab_interior, slab_count; /* interiors first, then the seams between them */
    int constraint_count[IPBDX_KINDS];         /* without padding */
    ipbd_elasticity balloon;
    float hardening[IPBDX_LINK + 1]; /* of edges by kind: their force is K x (1 + this * strain^2) */
    float balloon_pressure, balloon_lambda, overpressure, rest_volume, warm_start,
        lambda_h;   /* lambda_h: h of the multipliers */
    float stiffest; /* 1/s^2: largest stiffness times response of an elastic element */
    float softest;  /* s^2: largest compliance over response of an edge; without edges 1e30 */
    float tether_stretch; /* of tethers at the limit: the slack, or more where colliders force more on the mesh */
    float tether_slack, damping, drag, wind_drag, wind_lift, gravity_scale, plastic_yield, plastic_creep, plastic_max;
    float thickness, friction, quiet_seconds;
    uint32_t self_collision, soft_collision, can_sleep, closed, asleep, tethers_stale, stiffest_stale, attachments;
    uint32_t still_air; /* wind_drag acts without wind, too */
    uint32_t unbound; /* no vertex is pinned: momentum must stay */
    uint32_t layer, mask;
    isphpbd_vec3 low, high; /* bounds of the vertices' paths, with thickness */
    ipbd_mesh_report report;
} ipbdx_body;

typedef struct ipbdx_collider {
    uint32_t generation, used;
    ipbd_shape_type type;
    isphpbd_vec3 size;
    int vertex_begin, vertex_count, triangle_begin, triangle_count, columns, rows;
    float cell, friction, inverse_mass, bound; /* bound: radius about the pose, or huge */
    float inner; /* m: a path shorter than this cannot cross the shape unseen; of heightfields all are walked */
    isphpbd_vec3 inverse_inertia;
    uint32_t layer, mask, moving;
    ipbd_pose from, to;   /* over the step */
    ipbd_pose start, end; /* over the substep */
    isphpbd_vec3 yield_velocity, yield_spin, yield_offset;
    isphpbd_quat yield_turn;      /* what the impulses of this step did to a body with mass */
    isphpbd_vec3 linear, angular; /* impulses not yet taken */
} ipbdx_collider;

typedef struct ipbdx_collider_call {
    ipbd_sdf_fn sdf;
    void *user;
} ipbdx_collider_call;
/* What touches did to a collider in this substep. */
typedef struct ipbdx_blow {
    isphpbd_vec3 velocity, spin; /* as they were before; m/s, 1/s */
    float hardest, lever;        /* m/s, the largest change of a vertex' velocity; m, its distance from the centre */
} ipbdx_blow; /* pointers: not saved */

typedef struct ipbdx_skin {
    uint32_t generation, used;
    int body, begin, count;
} ipbdx_skin;
typedef struct ipbdx_bind {
    uint32_t v[4];
    float weight[4];
} ipbdx_bind; /* v[3] none: weight[3] is m along the normal */

#define IPBDX_TETHERS 2
#define IPBDX_TETHER_SHARE 0.5f /* by trial: less lets pins at 20 m/s stretch the cloth, all lets no ball bounce */
#define IPBDX_TETHER_RETURN (1.0f / 60.0f) /* s: one frame, nobody sees a cloth that is longer for less */
#define IPBDX_FOOT 100.0 /* stands for infinite: a vertex on the ground counts as this many of its mass in damping */
#define IPBDX_FIRM 0.005f /* nobody sees half a percent: what should stretch less by its own weight gets tethers */
typedef struct ipbdx_tether {
    uint32_t anchor; /* vertex of this body, or none; of a pinned vertex: the first vertex of its group of pins */
    float reach;     /* m along the mesh */
    float pull;      /* kg m in this substep, on the anchor; divided by h^2 it is a force */
} ipbdx_tether;
/* Of every vertex while tethers are looked for: where its edges and triangles end in the lists, and where it stands in
   the queue. */
typedef struct ipbdx_seat {
    uint32_t edges, triangles, place;
} ipbdx_seat;
typedef struct ipbdx_pin { /* of every vertex; idle where the vertex is free */
    isphpbd_vec3 from, to; /* attached: to is the point in the collider's frame */
    uint32_t pinned;       /* 0 free, 1 pinned, else 2 + slot of the collider */
    uint32_t surface;      /* 1: on an edge that soft parts can meet, so it takes part in soft contacts */
    ipbdx_tether tethers[IPBDX_TETHERS]; /* nearest first */
} ipbdx_pin;

/* What a collider did to a vertex in this substep. */
typedef struct ipbdx_touch {
    uint32_t collider;
    isphpbd_vec3 push, normal;
    float out, most;
} ipbdx_touch; /* slot + 1; m * kg, on the vertex; out of the collider; m that its start came out in this substep, and
                  that it was moved at once by more than that, at most */

/* Contact of four soft vertices: a point against a triangle (weights 1 -a -b -c) or an edge against an edge. */
typedef struct ipbdx_contact {
    uint32_t v[4];   /* of the world */
    float weight[4]; /* sum is zero */
    isphpbd_vec3 normal;
    float distance, friction;
    float push;  /* m/s: how fast they are moved apart because they were too near before */
    float least; /* m: gap that is kept even where a collider pushes one against the other */
    uint32_t active;
} ipbdx_contact;
typedef struct ipbdx_pair {
    uint32_t a, b;
    float gap;
} ipbdx_pair; /* point and triangle, or two edges; m when listed */

typedef struct ipbdx_drift {
    isphpbd_vec3 start, mean; /* of all of it, to the start of the substep and until now */
    float rest;               /* what deviates from that at most */
    int moves_begin;          /* of its nodes in world->moves */
    uint32_t asleep;          /* when pairs were listed: what sleeps was not looked at */
} ipbdx_drift;                /* of a body */

/* What a node of a tree holds: where it was, and boxes of the ways that its vertices have moved since, to the start of
   the substep and until now. Rows of x, y, z. */
typedef enum ipbdx_row { IPBDX_PLACE = 0, IPBDX_TO_START, IPBDX_TO_NOW, IPBDX_ROWS } ipbdx_row;
typedef struct ipbdx_moves {
    float low[IPBDX_ROWS][4], high[IPBDX_ROWS][4];
} ipbdx_moves;

typedef struct ipbdx_counts {
    int vertices, inputs, triangles, surface_edges, slabs, groups[IPBDX_STORES];
    int collider_vertices, collider_triangles, binds, bodies, colliders, skins; /* the last three: slots ever used */
} ipbdx_counts;

typedef struct ipbdx_partial {                                /* what one slab contributes to sums over its body */
    double mass, moment[3], momentum[3], spin[3], inertia[6]; /* inertia: xx yy zz xy xz yz */
    float fastest, forced; /* forced: largest stretch of a tether that a collider brought about in this substep */
    float drift; /* m^2, of ipbdx_drift.rest */
    float way;   /* m, the longest way along an axis in this substep */
    float blow; /* m, by which the fastest collider came nearer to a face of the body that it hit; of the first slab */
    int contacts, quarantined, held; /* held: by colliders, against what the final clamp did */
} ipbdx_partial;

typedef struct ipbdx_motion {
    double mass, centre[3], velocity[3], spin[3];
} ipbdx_motion; /* of a body as if rigid */

typedef enum ipbdx_phase { IPBDX_IDLE = 0, IPBDX_BEGUN, IPBDX_PREDICTED } ipbdx_phase;

struct ipbd_world {
    ipbd_world_desc desc;
    ipbd_hooks hooks;
    size_t bytes;
    ipbdx_counts counts;
    ipbdx_phase phase;
    bool in_callback; /* hooks, the runner, the clock or an SDF of the user may run: nobody may change the world */
    bool touching;    /* there are colliders */
    const void *owner;          /* who alone may step and shape this world; NULL: everybody */
    float pin_share;            /* of the way to their targets that pins make in this step; 1 unless a step is a part */
    float dt, h;                /* s: step and substep under way */
    int substeps, substep, iteration, sweep;
    uint32_t flags;
    ipbdx_body *bodies;
    ipbdx_collider *colliders;
    ipbdx_collider_call *calls;
    ipbdx_blow *blows;
    ipbdx_skin *skins;
    float *positions, *starts, *velocities,
        *normals; /* four floats each; normals hold a third of the triangles' area */
    float *loads; /* four floats each, N s of the last substep; not saved */
    isphpbd_vec3 *rests;
    float *masses, *inverse_masses;
    ipbdx_pin *pins;
    ipbdx_touch *touches; /* two per vertex */
    ipbdx_seat *seats;    /* these four serve the search for tethers only; not saved */
    uint32_t *near_edges, *near_triangles, *heap;
    uint32_t *vertex_body, *vertex_input, *edge_body, *vertex_map, *triangles, *world_triangles, *surface_edges;
    ipbdx_edges *edges;
    ipbdx_quads *dihedrals, *volumes;
    ipbdx_isometrics *isometrics;
    ipbdx_elastics *elastics;
    ipbdx_slab *slabs;
    ipbdx_partial *partials;
    ipbdx_motion *motions;                  /* per body */
    int *interiors, *seams, *active_bodies; /* of bodies that are awake */
    int interior_count, seam_count, active_count;
    isphpbd_vec3 *collider_vertices;
    uint32_t *collider_triangles;
    float *collider_nodes; /* bounds of a balanced tree over the triangles of each mesh */
    ipbdx_bind *binds;
    /* soft contacts: rebuilt, never saved */
    float *triangle_nodes, *edge_nodes; /* bounds of balanced trees over each body's triangles and surface edges */
    ipbdx_moves *moves;                 /* of the nodes over edges: see ipbdx_moves_tree() */
    ipbdx_pair *pairs;
    int point_pair_count, pair_count;
    ipbdx_contact *contacts;
    int contact_count, pair_limit;
    isphpbd_vec3 *reference; /* where the list of pairs takes vertices to be: see [proximity] */
    isphpbd_vec3 *listed;    /* places when it was made */
    isphpbd_vec3 *origins;   /* positions when the substep began */
    int plan_steps, plan_age; /* substeps that a list with plans is for; that it has been used for */
    bool plan_broken;         /* it was made anew within its substep */
    uint8_t *braked;         /* one more than the last round of the final clamp that moved a vertex; 0: none did */
    float *grips;            /* kg m: friction that what presses on a vertex in this substep still allows */
    isphpbd_vec3 *placed;    /* where colliders have left vertices, before supports */
    float shove;             /* m, by which supports have moved a vertex at most: maybe into a collider */
    float most_shove;        /* m, farther from where it was placed none is moved */
    float pair_margin;       /* m: what was nearer than that beyond the contact distance was listed */
    bool pairs_local;        /* the list is that of a violent substep */
    float pair_drift;        /* m, by which parts that are near each other can have come nearer since */
    float pair_thickness;    /* m: the most of the soft bodies */
    ipbdx_drift *drifts;     /* per body */
    bool pairs_stale, soft;  /* soft: some body takes part */
    int *block_contacts;     /* per block of pairs */
    struct {
        int collider_contacts, impacts, quarantined;
        uint64_t step, solve, contacts, began;
    } last;
};

static void ipbdx_say(const ipbd_world *world, isphpbd_result code, const char *text) {
    isphpbdx_log(&world->desc.logger, code == ISPHPBD_OK ? ISPHPBD_LOG_WARNING : ISPHPBD_LOG_ERROR, code, text);
}
/* Logs and hands the result through, so that every refusal is one line. */
static isphpbd_result ipbdx_refuse(const isphpbd_logger *logger, isphpbd_result code, const char *text) {
    isphpbdx_log(logger, ISPHPBD_LOG_ERROR, code, text);
    return code;
}

/* How a store's arrays are reached without a switch at every use. */
static size_t ipbdx_store_size(int store) {
    static const size_t sizes[IPBDX_STORES] = {sizeof(ipbdx_edges), sizeof(ipbdx_quads), sizeof(ipbdx_isometrics),
                                               sizeof(ipbdx_quads), sizeof(ipbdx_elastics)};
    return sizes[store];
}
static unsigned char *ipbdx_store_base(const ipbd_world *world, int store) {
    switch (store) {
        case IPBDX_EDGES: return (unsigned char *)world->edges;
        case IPBDX_DIHEDRALS: return (unsigned char *)world->dihedrals;
        case IPBDX_ISOMETRICS: return (unsigned char *)world->isometrics;
        case IPBDX_VOLUMES: return (unsigned char *)world->volumes;
        default: return (unsigned char *)world->elastics;
    }
}
static int ipbdx_store_of(int kind) {
    return kind <= IPBDX_LINK ? IPBDX_EDGES : kind - IPBDX_DIHEDRAL + IPBDX_DIHEDRALS;
}
/* Capacity of a store in groups. */
static int ipbdx_store_room(const ipbd_capacity *c, int store) {
    switch (store) {
        case IPBDX_EDGES: return c->edges / 4 + (c->edges % 4 != 0);
        case IPBDX_DIHEDRALS: return c->dihedral_bends / 4 + (c->dihedral_bends % 4 != 0);
        case IPBDX_ISOMETRICS: return c->isometric_bends / 4 + (c->isometric_bends % 4 != 0);
        case IPBDX_VOLUMES: return c->volume_tetrahedra / 4 + (c->volume_tetrahedra % 4 != 0);
        default: return c->elastic_tetrahedra / 4 + (c->elastic_tetrahedra % 4 != 0);
    }
}
static int *ipbdx_store_capacity(ipbd_capacity *c, int store) {
    switch (store) {
        case IPBDX_EDGES: return &c->edges;
        case IPBDX_DIHEDRALS: return &c->dihedral_bends;
        case IPBDX_ISOMETRICS: return &c->isometric_bends;
        case IPBDX_VOLUMES: return &c->volume_tetrahedra;
        default: return &c->elastic_tetrahedra;
    }
}

static void ipbdx_lay_out_bodies(ipbd_world *w, isphpbdx_layout *l) {
    const ipbd_capacity *c = &w->desc.capacity;
    size_t vertices = (size_t)c->vertices, triangles = (size_t)c->triangles;
    w->positions = (float *)isphpbdx_take(l, vertices, 16);
    w->starts = (float *)isphpbdx_take(l, vertices, 16);
    w->velocities = (float *)isphpbdx_take(l, vertices, 16);
    w->normals = (float *)isphpbdx_take(l, vertices, 16);
    w->loads = (float *)isphpbdx_take(l, vertices, 16);
    w->rests = (isphpbd_vec3 *)isphpbdx_take(l, vertices, sizeof *w->rests);
    w->masses = (float *)isphpbdx_take(l, vertices, sizeof(float));
    w->inverse_masses = (float *)isphpbdx_take(l, vertices, sizeof(float));
    w->pins = (ipbdx_pin *)isphpbdx_take(l, vertices, sizeof *w->pins);
    w->touches = (ipbdx_touch *)isphpbdx_take(l, vertices * 2, sizeof *w->touches);
    w->seats = (ipbdx_seat *)isphpbdx_take(l, vertices, sizeof *w->seats);
    w->heap = (uint32_t *)isphpbdx_take(l, vertices, 4);
    w->near_edges = (uint32_t *)isphpbdx_take(l, (size_t)ipbdx_store_room(c, IPBDX_EDGES), 32);
    w->near_triangles = (uint32_t *)isphpbdx_take(l, triangles, 12);
    w->vertex_body = (uint32_t *)isphpbdx_take(l, vertices, 4);
    w->vertex_input = (uint32_t *)isphpbdx_take(l, vertices, 4);
    w->edge_body = (uint32_t *)isphpbdx_take(l, triangles * 3, 4);
    w->vertex_map = (uint32_t *)isphpbdx_take(l, (size_t)c->input_vertices, 4);
    w->triangles = (uint32_t *)isphpbdx_take(l, triangles, 12);
    w->world_triangles = (uint32_t *)isphpbdx_take(l, triangles, 12);
    w->surface_edges = (uint32_t *)isphpbdx_take(l, triangles * 3, 8);
    w->edges = (ipbdx_edges *)isphpbdx_take(l, (size_t)ipbdx_store_room(c, IPBDX_EDGES), sizeof *w->edges);
    w->dihedrals = (ipbdx_quads *)isphpbdx_take(l, (size_t)ipbdx_store_room(c, IPBDX_DIHEDRALS), sizeof *w->dihedrals);
    w->isometrics =
        (ipbdx_isometrics *)isphpbdx_take(l, (size_t)ipbdx_store_room(c, IPBDX_ISOMETRICS), sizeof *w->isometrics);
    w->volumes = (ipbdx_quads *)isphpbdx_take(l, (size_t)ipbdx_store_room(c, IPBDX_VOLUMES), sizeof *w->volumes);
    w->elastics = (ipbdx_elastics *)isphpbdx_take(l, (size_t)ipbdx_store_room(c, IPBDX_ELASTICS), sizeof *w->elastics);
    w->slabs = (ipbdx_slab *)isphpbdx_take(l, (size_t)c->slabs, sizeof *w->slabs);
    w->partials = (ipbdx_partial *)isphpbdx_take(l, (size_t)c->slabs, sizeof *w->partials);
    w->motions = (ipbdx_motion *)isphpbdx_take(l, (size_t)c->bodies, sizeof *w->motions);
    w->interiors = (int *)isphpbdx_take(l, (size_t)c->slabs, sizeof(int));
    w->seams = (int *)isphpbdx_take(l, (size_t)c->slabs, sizeof(int));
}
static void ipbdx_lay_out_rest(ipbd_world *w, isphpbdx_layout *l) {
    const ipbd_capacity *c = &w->desc.capacity;
    size_t soft = c->contacts > 0 ? 1 : 0;
    w->bodies = (ipbdx_body *)isphpbdx_take(l, (size_t)c->bodies, sizeof *w->bodies);
    w->active_bodies = (int *)isphpbdx_take(l, (size_t)c->bodies, sizeof(int));
    w->colliders = (ipbdx_collider *)isphpbdx_take(l, (size_t)c->colliders, sizeof *w->colliders);
    w->calls = (ipbdx_collider_call *)isphpbdx_take(l, (size_t)c->colliders, sizeof *w->calls);
    w->blows = (ipbdx_blow *)isphpbdx_take(l, (size_t)c->colliders, sizeof *w->blows);
    w->collider_vertices = (isphpbd_vec3 *)isphpbdx_take(l, (size_t)c->collider_vertices, sizeof *w->collider_vertices);
    w->collider_triangles = (uint32_t *)isphpbdx_take(l, (size_t)c->collider_triangles, 12);
    w->collider_nodes = (float *)isphpbdx_take(l, (size_t)c->collider_triangles, 24);
    w->skins = (ipbdx_skin *)isphpbdx_take(l, (size_t)c->skins, sizeof *w->skins);
    w->binds = (ipbdx_bind *)isphpbdx_take(l, (size_t)c->skin_vertices, sizeof *w->binds);
    w->contacts = (ipbdx_contact *)isphpbdx_take(l, (size_t)c->contacts, sizeof *w->contacts);
    w->pairs = (ipbdx_pair *)isphpbdx_take(l, (size_t)c->contacts, sizeof *w->pairs);
    w->block_contacts = (int *)isphpbdx_take(l, (size_t)c->contacts / IPBDX_PAIR_BLOCK + 1, sizeof(int));
    w->triangle_nodes = (float *)isphpbdx_take(l, (size_t)c->triangles * soft, 24);
    w->edge_nodes = (float *)isphpbdx_take(l, (size_t)c->triangles * 3 * soft, 24);
    w->moves = (ipbdx_moves *)isphpbdx_take(l, ((size_t)c->triangles * 3 / 2 + (size_t)c->bodies) * soft,
                                            sizeof *w->moves);
    w->drifts = (ipbdx_drift *)isphpbdx_take(l, (size_t)c->bodies, sizeof *w->drifts);
    w->reference = (isphpbd_vec3 *)isphpbdx_take(l, (size_t)c->vertices * soft, sizeof *w->reference);
    w->listed = (isphpbd_vec3 *)isphpbdx_take(l, (size_t)c->vertices * soft, sizeof *w->listed);
    w->origins = (isphpbd_vec3 *)isphpbdx_take(l, (size_t)c->vertices * soft, sizeof *w->origins);
    w->placed = (isphpbd_vec3 *)isphpbdx_take(l, (size_t)c->vertices * soft, sizeof *w->placed);
    w->braked = (uint8_t *)isphpbdx_take(l, (size_t)c->vertices * soft, sizeof *w->braked);
    w->grips = (float *)isphpbdx_take(l, (size_t)c->vertices * soft, sizeof *w->grips);
    w->pair_limit = c->contacts;
}
static size_t ipbdx_lay_out(ipbd_world *world, unsigned char *base) {
    isphpbdx_layout layout;
    layout.base = base, layout.used = sizeof *world, layout.overflow = false;
    ipbdx_lay_out_bodies(world, &layout);
    ipbdx_lay_out_rest(world, &layout);
    return layout.overflow ? 0 : layout.used;
}

ISPHPBD_API ipbd_capacity ipbd_capacity_none(void) {
    ipbd_capacity c;
    memset(&c, 0, sizeof c);
    return c;
}
ISPHPBD_API ipbd_world_desc ipbd_world_desc_default(void) {
    ipbd_world_desc d;
    ipbd_capacity *c = &d.capacity;
    memset(&d, 0, sizeof d);
    d.gravity = isphpbd_v3(0.0f, -9.81f, 0.0f);
    d.air_density = 1.2f;
    d.substeps = 12, d.iterations = 1;
    d.sleep_speed = 0.005f, d.sleep_seconds = 0.5f, d.max_speed = 500.0f;
    c->bodies = 64, c->vertices = 16384, c->input_vertices = 16384, c->triangles = 32768;
    c->edges = 98304, c->dihedral_bends = 8192, c->isometric_bends = 49152;
    c->volume_tetrahedra = 4096, c->elastic_tetrahedra = 32768, c->slabs = 512;
    c->colliders = 64, c->collider_vertices = 16384, c->collider_triangles = 32768;
    c->contacts = 65536, c->skins = 16, c->skin_vertices = 16384;
    d.cookie = IPBDX_WORLD_COOKIE;
    return d;
}
static bool ipbdx_capacity_valid(const ipbd_capacity *c) {
    const int limit = 1 << 28; /* so that no product of a count by a small number leaves int */
    int numbers[16], i;
    numbers[0] = c->bodies, numbers[1] = c->vertices, numbers[2] = c->input_vertices, numbers[3] = c->triangles;
    numbers[4] = c->edges, numbers[5] = c->dihedral_bends, numbers[6] = c->isometric_bends;
    numbers[7] = c->volume_tetrahedra, numbers[8] = c->elastic_tetrahedra, numbers[9] = c->slabs;
    numbers[10] = c->colliders, numbers[11] = c->collider_vertices, numbers[12] = c->collider_triangles;
    numbers[13] = c->contacts, numbers[14] = c->skins, numbers[15] = c->skin_vertices;
    for (i = 0; i < 16; ++i)
        if (numbers[i] < 0 || numbers[i] > limit) return false;
    return c->bodies <= 0xffff && c->colliders <= 0xffff && c->skins <= 0xffff; /* slots are 16 bits of a handle */
}
static isphpbd_result ipbdx_world_desc_check(ipbd_world_desc *d) {
    if (d->cookie != IPBDX_WORLD_COOKIE) return ISPHPBD_BAD_DESC; /* what looks like a logger may be none */
    if (!ipbdx_sane3(d->gravity) || !ipbdx_sane3(d->wind) || !isphpbdx_finite(d->air_density) || d->air_density < 0.0f)
        return ipbdx_refuse(&d->logger, ISPHPBD_BAD_DESC, "gravity, wind or air_density is not finite or negative");
    if (d->substeps < 1 || d->substeps > 1000 || d->iterations < 1 || d->iterations > 1000)
        return ipbdx_refuse(&d->logger, ISPHPBD_BAD_DESC, "substeps and iterations must be in 1..1000");
    if (!isphpbdx_finite(d->sleep_speed) || d->sleep_speed < 0.0f || !isphpbdx_finite(d->sleep_seconds) ||
        d->sleep_seconds < 0.0f)
        return ipbdx_refuse(&d->logger, ISPHPBD_BAD_DESC, "sleep_speed and sleep_seconds must be finite and >= 0");
    if (!isphpbdx_finite(d->max_speed) || !(d->max_speed > 0.0f) || d->max_speed > IPBDX_LIMIT)
        return ipbdx_refuse(&d->logger, ISPHPBD_BAD_DESC, "max_speed must be > 0 and at most 1e9");
    if (!ipbdx_capacity_valid(&d->capacity))
        return ipbdx_refuse(&d->logger, ISPHPBD_BAD_DESC, "a capacity is negative or too large");
    if (!isphpbdx_allocator_ready(&d->allocator))
        return ipbdx_refuse(&d->logger, ISPHPBD_BAD_DESC, "the allocator needs both alloc and free");
    return ISPHPBD_OK;
}
ISPHPBD_API size_t ipbd_bytes(const ipbd_world_desc *desc) {
    ipbd_world measured;
    if (!desc) return 0;
    memset(&measured, 0, sizeof measured);
    measured.desc = *desc;
    if (ipbdx_world_desc_check(&measured.desc) != ISPHPBD_OK) return 0;
    measured.bytes = ipbdx_lay_out(&measured, NULL);
    if (measured.bytes == 0) ipbdx_say(&measured, ISPHPBD_OUT_OF_MEMORY, "the capacities do not fit this machine");
    return measured.bytes;
}
ISPHPBD_API ipbd_world *ipbd_create(const ipbd_world_desc *desc, isphpbd_result *why) {
    ipbd_world measured, *world = NULL;
    isphpbd_result result = ISPHPBD_BAD_ARGUMENT;
    if (desc) {
        memset(&measured, 0, sizeof measured);
        measured.desc = *desc;
        result = ipbdx_world_desc_check(&measured.desc);
    }
    if (result == ISPHPBD_OK) {
        measured.bytes = ipbdx_lay_out(&measured, NULL);
        if (measured.bytes > 0)
            world = (ipbd_world *)isphpbdx_allocate(&measured.desc.allocator, measured.bytes);
        if (!world) result = ipbdx_refuse(&measured.desc.logger, ISPHPBD_OUT_OF_MEMORY, "no memory for the world");
    }
    if (world) {
        memset(world, 0, measured.bytes);
        *world = measured;
        ipbdx_lay_out(world, (unsigned char *)world);
        world->pin_share = 1.0f;
    }
    if (why) *why = result;
    return world;
}
ISPHPBD_API void ipbd_destroy(ipbd_world *world) {
    isphpbd_allocator allocator;
    if (!world) return;
    if (world->in_callback || world->owner) {
        ipbdx_say(world, ISPHPBD_LOCKED, "ipbd_destroy inside a callback, or of an owned world, does nothing");
        return;
    }
    allocator = world->desc.allocator;
    allocator.free(world, world->bytes, allocator.user);
}

/* ---- [handles] slot in the low 16 bits (plus one), generation above ---------------------------------------------- */

static uint32_t ipbdx_handle(uint32_t generation, int slot) { return (generation << 16) | (uint32_t)(slot + 1); }
static int ipbdx_slot(uint32_t id) { return (int)(id & 0xffffu) - 1; }
static ipbdx_body *ipbdx_body_of(const ipbd_world *world, ipbd_body body) {
    int slot = ipbdx_slot(body.id);
    if (!world || slot < 0 || slot >= world->counts.bodies) return NULL;
    if (!world->bodies[slot].used || ipbdx_handle(world->bodies[slot].generation, slot) != body.id) return NULL;
    return &world->bodies[slot];
}
static ipbdx_collider *ipbdx_collider_of(const ipbd_world *world, ipbd_collider collider) {
    int slot = ipbdx_slot(collider.id);
    if (!world || slot < 0 || slot >= world->counts.colliders) return NULL;
    if (!world->colliders[slot].used || ipbdx_handle(world->colliders[slot].generation, slot) != collider.id)
        return NULL;
    return &world->colliders[slot];
}
static ipbdx_skin *ipbdx_skin_of(const ipbd_world *world, ipbd_skin skin) {
    int slot = ipbdx_slot(skin.id);
    if (!world || slot < 0 || slot >= world->counts.skins) return NULL;
    if (!world->skins[slot].used || ipbdx_handle(world->skins[slot].generation, slot) != skin.id) return NULL;
    return &world->skins[slot];
}
/* OK where the world may be changed now. */
static isphpbd_result ipbdx_open(const ipbd_world *world) {
    if (!world) return ISPHPBD_BAD_ARGUMENT;
    return world->phase == IPBDX_IDLE && !world->in_callback ? ISPHPBD_OK : ISPHPBD_LOCKED;
}
/* The same for what only an owner may do. */
static isphpbd_result ipbdx_open_wide(const ipbd_world *world) {
    return world && world->owner ? ISPHPBD_LOCKED : ipbdx_open(world);
}
ISPHPBD_API isphpbd_result ipbd_set_owner(ipbd_world *world, const void *owner, const void *next) {
    if (!world) return ISPHPBD_BAD_ARGUMENT;
    if (world->in_callback || world->owner != owner) return ISPHPBD_LOCKED;
    world->owner = next;
    return ISPHPBD_OK;
}
static void ipbdx_wake(ipbdx_body *body) { body->asleep = 0, body->quiet_seconds = 0.0f; }
static uint32_t ipbdx_next_generation(uint32_t generation) { return (generation + 1u) & 0xffffu; }

ISPHPBD_API isphpbd_result ipbd_set_gravity(ipbd_world *world, isphpbd_vec3 gravity) {
    isphpbd_result open = ipbdx_open_wide(world);
    int i;
    if (open != ISPHPBD_OK) return open;
    if (!ipbdx_sane3(gravity)) return ISPHPBD_BAD_ARGUMENT;
    world->desc.gravity = gravity;
    for (i = 0; i < world->counts.bodies; ++i) world->bodies[i].asleep = 0, world->bodies[i].quiet_seconds = 0.0f;
    return ISPHPBD_OK;
}
ISPHPBD_API isphpbd_result ipbd_set_wind(ipbd_world *world, isphpbd_vec3 wind) {
    isphpbd_result open = ipbdx_open(world);
    int i;
    if (open != ISPHPBD_OK) return open;
    if (!ipbdx_sane3(wind)) return ISPHPBD_BAD_ARGUMENT;
    world->desc.wind = wind;
    for (i = 0; i < world->counts.bodies; ++i)
        if (world->bodies[i].wind_drag > 0.0f || world->bodies[i].wind_lift > 0.0f) world->bodies[i].asleep = 0;
    return ISPHPBD_OK;
}
ISPHPBD_API isphpbd_result ipbd_set_budget(ipbd_world *world, int substeps, int iterations) {
    isphpbd_result open = ipbdx_open_wide(world);
    if (open != ISPHPBD_OK) return open;
    if (substeps < 1 || substeps > 1000 || iterations < 1 || iterations > 1000) return ISPHPBD_BAD_ARGUMENT;
    world->desc.substeps = substeps, world->desc.iterations = iterations;
    return ISPHPBD_OK;
}
ISPHPBD_API isphpbd_result ipbd_set_hooks(ipbd_world *world, const ipbd_hooks *hooks) {
    isphpbd_result open = ipbdx_open_wide(world);
    if (open != ISPHPBD_OK) return open;
    memset(&world->hooks, 0, sizeof world->hooks);
    if (hooks) world->hooks = *hooks;
    return ISPHPBD_OK;
}

/* ---- [mesh-check] from a user's mesh to clean elements --------------------------------------------------------------
   A body is built in stages inside one temporary block: check, weld, orient (here), derive constraints [derive], order
   and colour them [order]; only [commit] touches the world. A list that was ordered before can enter at [commit]. */

typedef struct ipbdx_record {
    uint64_t key;
    uint32_t extra, index;
} ipbdx_record; /* sorted by key, then extra */
typedef struct ipbdx_item {
    uint32_t v[4];
    int kind;
    float rest, alpha;
} ipbdx_item; /* one constraint */

typedef struct ipbdx_build {
    const ipbd_body_desc *desc;
    isphpbd_logger logger;
    ipbd_mesh_report report;
    int input_count, vertex_count, triangle_count, tetrahedron_count, line_count, surface_edge_count;
    int triangle_room, record_room, item_room, item_count, slab_interior, slab_count;
    float diagonal, weld;
    bool closed;
    isphpbd_vec3 *positions;             /* input order, placed by the pose */
    uint32_t *map;                       /* input vertex to body vertex, or none */
    uint32_t *table, table_size, *chain; /* hash of cells for welding */
    uint32_t *triangles, *tetrahedra, *lines, *neighbours, *surface_edges, *queue;
    ipbdx_record *records, *records_spare;
    float *masses;
    ipbdx_item *items;
    uint32_t *incident_begin, *incident, *order, *level, *slab_of, *sequence, *bucket_begin;
    uint64_t *used_colours;
    uint8_t *colour;
    isphpbd_vec3 *rests; /* body order */
    float *body_masses;
    int lane_count; /* entries of sequence: items, four per group, padding repeated */
    int group_count[IPBDX_STORES], constraint_count[IPBDX_KINDS];
    ipbdx_slab *slabs;
} ipbdx_build;

static int ipbdx_kinds_vertices(int kind) { return kind <= IPBDX_LINK ? 2 : 4; }

static void ipbdx_build_lay_out(ipbdx_build *b, isphpbdx_layout *l) {
    size_t n = (size_t)b->input_count, room = (size_t)b->triangle_room, items = (size_t)b->item_room;
    size_t slabs = 2 * (n / (IPBDX_SLAB_VERTICES / 2) + 1);
    b->positions = (isphpbd_vec3 *)isphpbdx_take(l, n, sizeof(isphpbd_vec3));
    b->rests = (isphpbd_vec3 *)isphpbdx_take(l, n, sizeof(isphpbd_vec3));
    b->map = (uint32_t *)isphpbdx_take(l, n, 4);
    b->table = (uint32_t *)isphpbdx_take(l, b->table_size, 4);
    b->chain = (uint32_t *)isphpbdx_take(l, n, 4);
    b->triangles = (uint32_t *)isphpbdx_take(l, room, 12);
    b->neighbours = (uint32_t *)isphpbdx_take(l, room, 12);
    b->surface_edges = (uint32_t *)isphpbdx_take(l, room * 3 + (size_t)b->desc->mesh.line_count, 8);
    b->queue = (uint32_t *)isphpbdx_take(l, room + n, 4);
    b->tetrahedra = (uint32_t *)isphpbdx_take(l, (size_t)b->desc->mesh.tetrahedron_count, 16);
    b->lines = (uint32_t *)isphpbdx_take(l, (size_t)b->desc->mesh.line_count, 8);
    b->records = (ipbdx_record *)isphpbdx_take(l, (size_t)b->record_room, sizeof(ipbdx_record));
    b->records_spare = (ipbdx_record *)isphpbdx_take(l, (size_t)b->record_room, sizeof(ipbdx_record));
    b->masses = (float *)isphpbdx_take(l, n, 4);
    b->body_masses = (float *)isphpbdx_take(l, n, 4);
    b->items = (ipbdx_item *)isphpbdx_take(l, items, sizeof(ipbdx_item));
    b->incident_begin = (uint32_t *)isphpbdx_take(l, n + 1, 4);
    b->incident = (uint32_t *)isphpbdx_take(l, items, 16);
    b->order = (uint32_t *)isphpbdx_take(l, n, 4);
    b->level = (uint32_t *)isphpbdx_take(l, n, 4);
    b->slab_of = (uint32_t *)isphpbdx_take(l, n, 4);
    b->sequence = (uint32_t *)isphpbdx_take(l, items, 16); /* worst case: every constraint a group of its own */
    b->bucket_begin = (uint32_t *)isphpbdx_take(l, slabs * IPBDX_KINDS + 1, 4);
    b->used_colours = (uint64_t *)isphpbdx_take(l, n, 8);
    b->colour = (uint8_t *)isphpbdx_take(l, items, 1);
    b->slabs = (ipbdx_slab *)isphpbdx_take(l, slabs, sizeof(ipbdx_slab));
}

/* Stable merge sort, bottom up; the result is in b->records. */
static void ipbdx_sort_records(ipbdx_build *b, int count) {
    ipbdx_record *from = b->records, *to = b->records_spare, *swap;
    int width, i;
    for (width = 1; width < count; width *= 2) {
        for (i = 0; i < count; i += 2 * width) {
            int left = i, middle = isphpbdx_mini(i + width, count), right = middle,
                end = isphpbdx_mini(i + 2 * width, count), k;
            for (k = i; k < end; ++k) {
                bool take_left =
                    left < middle && (right >= end || from[left].key < from[right].key ||
                                      (from[left].key == from[right].key && from[left].extra <= from[right].extra));
                to[k] = take_left ? from[left++] : from[right++];
            }
        }
        swap = from, from = to, to = swap;
    }
    b->records = from, b->records_spare = to;
}
static uint64_t ipbdx_edge_key(uint32_t a, uint32_t b) {
    return a < b ? ((uint64_t)a << 32) | b : ((uint64_t)b << 32) | a;
}

static bool ipbdx_indices_valid(const uint32_t *indices, int count, int vertex_count) {
    int i;
    for (i = 0; i < count; ++i)
        if (indices[i] >= (uint32_t)vertex_count) return false;
    return true;
}
static isphpbd_vec3 ipbdx_read_point(const float *positions, size_t stride, int index) {
    float p[3];
    memcpy(p, (const unsigned char *)(const void *)positions + stride * (size_t)index, sizeof p);
    return ipbdx_v3(p);
}
static bool ipbdx_elasticity_valid(ipbd_elasticity e) {
    if (e.measure == IPBD_ABSENT) return true;
    if (!isphpbdx_finite(e.value) || e.value < 0.0f) return false;
    return e.measure == IPBD_COMPLIANCE || (e.measure == IPBD_STIFFNESS && e.value <= 1.0f);
}
static bool ipbdx_not_negative(float v) { return isphpbdx_finite(v) && v >= 0.0f; }
static bool ipbdx_positive(float v) { return isphpbdx_finite(v) && v > 0.0f; }

static const char *ipbdx_body_desc_fault(const ipbd_body_desc *d) {
    if (d->cookie != IPBDX_BODY_COOKIE) return "make the body desc with ipbd_body_desc_default()";
    if (!isphpbdx_finite(d->weld_distance)) return "weld_distance is not finite";
    if (!ipbdx_positive(d->density) || !ipbdx_positive(d->line_density)) return "densities must be finite and > 0";
    if (!ipbdx_elasticity_valid(d->stretch) || !ipbdx_elasticity_valid(d->shear) || !ipbdx_elasticity_valid(d->bend) ||
        !ipbdx_elasticity_valid(d->volume) || !ipbdx_elasticity_valid(d->balloon) || !ipbdx_elasticity_valid(d->link))
        return "a compliance must be finite and >= 0, a stiffness in [0, 1]";
    if (!ipbdx_positive(d->young_modulus) || !ipbdx_not_negative(d->poisson_ratio) || d->poisson_ratio > 0.49f)
        return "young_modulus must be > 0 and poisson_ratio in [0, 0.49]";
    if (!ipbdx_not_negative(d->balloon_pressure) || !isphpbdx_finite(d->overpressure))
        return "a pressure is out of range";
    if (!ipbdx_not_negative(d->warm_start) || d->warm_start > 1.0f) return "warm_start must be in [0, 1]";
    if (!ipbdx_not_negative(d->tether_slack) && d->tether_slack != -1.0f) return "tether_slack must be -1 or >= 0";
    if (!ipbdx_not_negative(d->damping) || !ipbdx_not_negative(d->drag) ||
        !ipbdx_not_negative(d->wind_drag) || !ipbdx_not_negative(d->wind_lift) || !isphpbdx_finite(d->gravity_scale))
        return "a damping, drag, wind or gravity number is negative or not finite";
    if (!ipbdx_not_negative(d->plastic_yield) || !ipbdx_not_negative(d->plastic_creep) ||
        !ipbdx_not_negative(d->plastic_max))
        return "plasticity numbers must be finite and >= 0";
    if (!ipbdx_positive(d->thickness) || !ipbdx_not_negative(d->friction))
        return "thickness must be > 0 and friction >= 0";
    if ((unsigned)d->bend_model > IPBD_BEND_ISOMETRIC || (unsigned)d->solid_model > IPBD_SOLID_VOLUME)
        return "an unknown model";
    if (!ipbdx_sane3(d->velocity)) return "velocity is not finite";
    return NULL;
}
static const char *ipbdx_mesh_fault(const ipbd_body_desc *d) {
    const ipbd_mesh *m = &d->mesh;
    const int limit = 1 << 24;
    if (!m->positions || m->vertex_count <= 0) return "the mesh has no vertices";
    if (m->stride_bytes < 12) return "mesh.stride_bytes must be at least 12";
    if (m->triangle_count < 0 || m->tetrahedron_count < 0 || m->line_count < 0 || d->link_count < 0 ||
        d->pinned_count < 0)
        return "a count is negative";
    if (m->vertex_count > limit || m->triangle_count > limit || m->tetrahedron_count > limit || m->line_count > limit ||
        d->link_count > limit || d->pinned_count > limit)
        return "a count is beyond 2^24";
    if ((m->triangle_count && !m->triangles) || (m->tetrahedron_count && !m->tetrahedra) ||
        (m->line_count && !m->lines) || (d->link_count && !d->links) || (d->pinned_count && !d->pinned))
        return "a count is given without its array";
    if (m->triangle_count + m->tetrahedron_count + m->line_count == 0)
        return "the mesh has no elements: the body is empty";
    if (!ipbdx_indices_valid(m->triangles, 3 * m->triangle_count, m->vertex_count) ||
        !ipbdx_indices_valid(m->tetrahedra, 4 * m->tetrahedron_count, m->vertex_count) ||
        !ipbdx_indices_valid(m->lines, 2 * m->line_count, m->vertex_count) ||
        !ipbdx_indices_valid(d->links, 2 * d->link_count, m->vertex_count) ||
        !ipbdx_indices_valid(d->pinned, d->pinned_count, m->vertex_count))
        return "a vertex index is out of range";
    return NULL;
}
static isphpbd_result ipbdx_build_check(ipbdx_build *b) {
    const ipbd_body_desc *d = b->desc;
    ipbd_pose pose = d->pose;
    const char *fault = ipbdx_body_desc_fault(d);
    int i;
    if (fault) return ipbdx_refuse(&b->logger, ISPHPBD_BAD_DESC, fault);
    if (!ipbdx_pose_ready(&pose))
        return ipbdx_refuse(&b->logger, ISPHPBD_BAD_DESC, "the pose is not finite or not a rotation");
    fault = ipbdx_mesh_fault(d);
    if (fault) return ipbdx_refuse(&b->logger, ISPHPBD_BAD_MESH, fault);
    for (i = 0; i < d->mesh.vertex_count; ++i)
        if (!ipbdx_sane3(ipbdx_read_point(d->mesh.positions, d->mesh.stride_bytes, i)))
            return ipbdx_refuse(&b->logger, ISPHPBD_BAD_MESH, "a vertex is not finite");
    for (i = 0; d->masses && i < d->mesh.vertex_count; ++i)
        if (!ipbdx_positive(d->masses[i]) || !ipbdx_sane(d->masses[i]) || !isphpbdx_finite(1.0f / d->masses[i]))
            return ipbdx_refuse(&b->logger, ISPHPBD_BAD_MESH, "a mass is not finite or not > 0");
    return ISPHPBD_OK;
}
static void ipbdx_build_measure(ipbdx_build *b) {
    const ipbd_mesh *m = &b->desc->mesh;
    int edges = 3 * m->triangle_count + 6 * m->tetrahedron_count + 2 * m->line_count;
    b->input_count = m->vertex_count;
    b->triangle_room = m->tetrahedron_count && !m->triangle_count ? 4 * m->tetrahedron_count : m->triangle_count;
    b->record_room = isphpbdx_maxi(edges, 3 * b->triangle_room + m->line_count);
    b->item_room = edges + 3 * m->triangle_count + m->tetrahedron_count + m->line_count + b->desc->link_count;
    b->table_size = 16;
    while (b->table_size < 2u * (uint32_t)b->input_count) b->table_size *= 2u;
}

/* Places the vertices and finds which of them are one: a hash of cells as wide as the weld distance, in which the 27
   cells around a vertex are looked through. The first of several stays. */
static uint32_t ipbdx_cell_hash(int64_t x, int64_t y, int64_t z, uint32_t size) {
    uint64_t h = (uint64_t)x * UINT64_C(0x9E3779B97F4A7C15) ^ (uint64_t)y * UINT64_C(0xC2B2AE3D27D4EB4F) ^
                 (uint64_t)z * UINT64_C(0x165667B19E3779F9);
    return (uint32_t)(h >> 32) & (size - 1u);
}
static int64_t ipbdx_cell(float v, float inverse) {
    double cell = (double)v * (double)inverse;
    if (!(cell > -4e18 && cell < 4e18)) return 0;
    return (int64_t)cell - (cell < 0.0 ? 1 : 0);
}
static uint32_t ipbdx_find_twin(const ipbdx_build *b, isphpbd_vec3 p, float inverse) {
    int64_t cx = ipbdx_cell(p.x, inverse), cy = ipbdx_cell(p.y, inverse), cz = ipbdx_cell(p.z, inverse);
    uint32_t best = IPBDX_NONE, j;
    int dx, dy, dz;
    for (dz = -1; dz <= 1; ++dz)
        for (dy = -1; dy <= 1; ++dy)
            for (dx = -1; dx <= 1; ++dx)
                for (j = b->table[ipbdx_cell_hash(cx + dx, cy + dy, cz + dz, b->table_size)]; j != IPBDX_NONE;
                     j = b->chain[j])
                    if (j < best && isphpbdx_length(isphpbdx_sub(b->positions[j], p)) <= b->weld) best = j;
    return best;
}
static void ipbdx_place_vertices(ipbdx_build *b) {
    const ipbd_mesh *m = &b->desc->mesh;
    ipbd_pose pose = b->desc->pose;
    isphpbd_vec3 low = ipbdx_zero3(), high = ipbdx_zero3();
    int i;
    (void)ipbdx_pose_ready(&pose);
    for (i = 0; i < b->input_count; ++i) {
        isphpbd_vec3 p = ipbdx_pose_point(pose, ipbdx_read_point(m->positions, m->stride_bytes, i));
        b->positions[i] = p;
        low = i ? ipbdx_min3(low, p) : p, high = i ? ipbdx_max3(high, p) : p;
    }
    b->diagonal = isphpbdx_length(isphpbdx_sub(high, low));
    b->weld = b->desc->weld_distance < 0.0f ? 1e-5f * b->diagonal : b->desc->weld_distance;
}
static void ipbdx_weld(ipbdx_build *b) {
    float inverse = b->weld > 0.0f ? 1.0f / b->weld : 0.0f;
    int i;
    memset(b->table, 0xff, (size_t)b->table_size * 4);
    for (i = 0; i < b->input_count; ++i) {
        uint32_t twin = b->weld > 0.0f ? ipbdx_find_twin(b, b->positions[i], inverse) : IPBDX_NONE, slot;
        b->map[i] = twin == IPBDX_NONE ? (uint32_t)i : twin;
        if (twin != IPBDX_NONE) {
            ++b->report.welded;
            continue;
        }
        slot = ipbdx_cell_hash(ipbdx_cell(b->positions[i].x, inverse), ipbdx_cell(b->positions[i].y, inverse),
                               ipbdx_cell(b->positions[i].z, inverse), b->table_size);
        b->chain[i] = b->table[slot], b->table[slot] = (uint32_t)i;
    }
}

static float ipbdx_triangle_area(const isphpbd_vec3 *p, const uint32_t *t) {
    return 0.5f * isphpbdx_length(isphpbdx_cross(isphpbdx_sub(p[t[1]], p[t[0]]), isphpbdx_sub(p[t[2]], p[t[0]])));
}
static float ipbdx_tetrahedron_volume(const isphpbd_vec3 *p, const uint32_t *t) {
    isphpbd_vec3 a = p[t[0]], n = isphpbdx_cross(isphpbdx_sub(p[t[1]], a), isphpbdx_sub(p[t[2]], a));
    return isphpbdx_dot(n, isphpbdx_sub(p[t[3]], a)) / 6.0f;
}
static float ipbdx_longest_edge(const isphpbd_vec3 *p, const uint32_t *v, int count) {
    float longest = 0.0f;
    int i, j;
    for (i = 0; i < count; ++i)
        for (j = 0; j < i; ++j) longest = isphpbdx_max(longest, isphpbdx_length(isphpbdx_sub(p[v[i]], p[v[j]])));
    return longest;
}
/* Elements of so many corners, each with a record that names it, without those that repeat another; in their order.
   Answers how many are left. */
static int ipbdx_drop_duplicates(ipbdx_build *b, uint32_t *elements, int corners, int count, int *dropped) {
    const size_t size = (size_t)corners;
    int i, kept = 0;
    ipbdx_sort_records(b, count);
    for (i = 1; i < count; ++i) /* mark, then pack in the original order */
        if (b->records[i].key == b->records[i - 1].key && b->records[i].extra == b->records[i - 1].extra)
            elements[size * b->records[i].index] = IPBDX_NONE;
    for (i = 0; i < count; ++i) {
        if (elements[size * (size_t)i] == IPBDX_NONE) ++*dropped;
        else memmove(elements + size * (size_t)kept++, elements + size * (size_t)i, 4 * size);
    }
    return kept;
}
/* Copies triangles over the welded vertices, without those that have no area or repeat another. */
static void ipbdx_clean_triangles(ipbdx_build *b) {
    const uint32_t *in = b->desc->mesh.triangles;
    int i, k, kept = 0, count = b->desc->mesh.triangle_count;
    for (i = 0; i < count; ++i) {
        uint32_t t[3], low, high;
        float longest;
        for (k = 0; k < 3; ++k) t[k] = b->map[in[3 * i + k]];
        longest = ipbdx_longest_edge(b->positions, t, 3);
        if (t[0] == t[1] || t[1] == t[2] || t[2] == t[0] ||
            !(ipbdx_triangle_area(b->positions, t) > 1e-6f * longest * longest)) {
            ++b->report.degenerate_triangles;
            continue;
        }
        low = t[0] < t[1] ? (t[0] < t[2] ? t[0] : t[2]) : (t[1] < t[2] ? t[1] : t[2]);
        high = t[0] > t[1] ? (t[0] > t[2] ? t[0] : t[2]) : (t[1] > t[2] ? t[1] : t[2]);
        memcpy(b->triangles + 3 * (size_t)kept, t, sizeof t);
        b->records[kept].key = ((uint64_t)low << 32) | high;
        b->records[kept].extra = t[0] ^ t[1] ^ t[2] ^ low ^ high;
        b->records[kept].index = (uint32_t)kept;
        ++kept;
    }
    b->triangle_count = ipbdx_drop_duplicates(b, b->triangles, 3, kept, &b->report.duplicate_triangles);
}
/* Its four vertices in order, 24 bits each: a count of vertices is at most 2^24. */
static ipbdx_record ipbdx_name_tetrahedron(const uint32_t *t, int index) {
    ipbdx_record name;
    uint32_t v[4], swap;
    int i, k;
    memcpy(v, t, sizeof v);
    for (i = 0; i < 3; ++i)
        for (k = 0; k < 3 - i; ++k)
            if (v[k] > v[k + 1]) swap = v[k], v[k] = v[k + 1], v[k + 1] = swap;
    name.key = ((uint64_t)v[0] << 40) | ((uint64_t)v[1] << 16) | (v[2] >> 8);
    name.extra = (v[2] << 24) | v[3], name.index = (uint32_t)index;
    return name;
}
static void ipbdx_clean_tetrahedra(ipbdx_build *b) {
    const uint32_t *in = b->desc->mesh.tetrahedra;
    int i, k;
    for (i = 0; i < b->desc->mesh.tetrahedron_count; ++i) {
        uint32_t *t = b->tetrahedra + 4 * (size_t)i, swap;
        float volume, size;
        for (k = 0; k < 4; ++k) t[k] = b->map[in[4 * i + k]];
        volume = ipbdx_tetrahedron_volume(b->positions, t), size = ipbdx_longest_edge(b->positions, t, 4);
        if (!(isphpbdx_abs(volume) > 1e-6f * size * size * size)) ++b->report.flat_tetrahedra;
        if (volume < 0.0f) swap = t[2], t[2] = t[3], t[3] = swap, ++b->report.inverted_tetrahedra;
        b->records[i] = ipbdx_name_tetrahedron(t, i);
    }
    b->tetrahedron_count = ipbdx_drop_duplicates(b, b->tetrahedra, 4, b->desc->mesh.tetrahedron_count,
                                                 &b->report.duplicate_tetrahedra);
}
static void ipbdx_clean_lines(ipbdx_build *b) {
    const uint32_t *in = b->desc->mesh.lines;
    int i;
    for (i = 0; i < b->desc->mesh.line_count; ++i) {
        uint32_t *line = b->lines + 2 * (size_t)i;
        line[0] = b->map[in[2 * i]], line[1] = b->map[in[2 * i + 1]];
        if (line[0] == line[1]) ++b->report.zero_edges;
        b->records[i].key = ipbdx_edge_key(line[0], line[1]);
        b->records[i].extra = 0, b->records[i].index = (uint32_t)i;
    }
    b->line_count =
        ipbdx_drop_duplicates(b, b->lines, 2, b->desc->mesh.line_count, &b->report.duplicate_lines);
}
/* The faces that belong to one tetrahedron only, turned outward. */
static void ipbdx_derive_surface(ipbdx_build *b) {
    static const uint8_t faces[4][3] = {{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 3}};
    int i, k, count = 4 * b->tetrahedron_count;
    for (i = 0; i < count; ++i) {
        const uint32_t *t = b->tetrahedra + 4 * (size_t)(i / 4);
        uint32_t v[3], low, high;
        for (k = 0; k < 3; ++k) v[k] = t[faces[i % 4][k]];
        low = v[0] < v[1] ? (v[0] < v[2] ? v[0] : v[2]) : (v[1] < v[2] ? v[1] : v[2]);
        high = v[0] > v[1] ? (v[0] > v[2] ? v[0] : v[2]) : (v[1] > v[2] ? v[1] : v[2]);
        b->records[i].key = ((uint64_t)low << 32) | high;
        b->records[i].extra = v[0] ^ v[1] ^ v[2] ^ low ^ high;
        b->records[i].index = (uint32_t)i;
    }
    ipbdx_sort_records(b, count);
    b->triangle_count = 0;
    for (i = 0; i < count; ++i) {
        const ipbdx_record *r = b->records + i;
        bool same_before = i > 0 && r[0].key == r[-1].key && r[0].extra == r[-1].extra;
        bool same_after = i + 1 < count && r[0].key == r[1].key && r[0].extra == r[1].extra;
        if (same_before || same_after) continue;
        for (k = 0; k < 3; ++k)
            b->triangles[3 * (size_t)b->triangle_count + (size_t)k] =
                b->tetrahedra[4 * (size_t)(r->index / 4) + faces[r->index % 4][k]];
        ++b->triangle_count;
    }
}
/* Sorts the triangles' edges and links neighbours across each; counts non-manifold edges. index = 3 * triangle +
   corner, the edge runs from that corner to the next. */
static void ipbdx_link_neighbours(ipbdx_build *b) {
    int i, count = 3 * b->triangle_count;
    for (i = 0; i < count; ++i) {
        const uint32_t *t = b->triangles + 3 * (size_t)(i / 3);
        b->records[i].key = ipbdx_edge_key(t[i % 3], t[(i + 1) % 3]);
        b->records[i].extra = 0, b->records[i].index = (uint32_t)i;
        b->neighbours[i] = IPBDX_NONE;
    }
    ipbdx_sort_records(b, count);
    b->closed = count > 0;
    for (i = 0; i < count;) {
        int end = i + 1;
        while (end < count && b->records[end].key == b->records[i].key) ++end;
        if (end - i > 2) ++b->report.non_manifold_edges;
        if (end - i != 2) b->closed = false;
        if (end - i == 2) {
            b->neighbours[b->records[i].index] = b->records[i + 1].index;
            b->neighbours[b->records[i + 1].index] = b->records[i].index;
        }
        i = end;
    }
}
/* Each edge once that soft parts can meet: those of triangles, which are the records that were sorted last, and lines.
   Lines of what meets nothing soft need no room. */
static void ipbdx_list_edges(ipbdx_build *b) {
    int i, count = 3 * b->triangle_count;
    for (i = 0; i < b->line_count && (b->desc->self_collision || b->desc->soft_collision); ++i, ++count) {
        b->records[count].key = ipbdx_edge_key(b->lines[2 * i], b->lines[2 * i + 1]);
        b->records[count].extra = 0, b->records[count].index = (uint32_t)count;
    }
    if (count > 3 * b->triangle_count) ipbdx_sort_records(b, count);
    b->surface_edge_count = 0;
    for (i = 0; i < count; ++i) {
        uint32_t *edge = b->surface_edges + 2 * (size_t)b->surface_edge_count;
        if (i > 0 && b->records[i].key == b->records[i - 1].key) continue;
        edge[0] = (uint32_t)(b->records[i].key >> 32), edge[1] = (uint32_t)b->records[i].key;
        ++b->surface_edge_count;
    }
}
static void ipbdx_flip(ipbdx_build *b, uint32_t triangle) {
    uint32_t *t = b->triangles + 3 * (size_t)triangle, swap = t[1];
    t[1] = t[2], t[2] = swap;
}
/* Turns every triangle to agree with its neighbours, spreading from the first of each component; a closed surface is
   turned outward. Flips rename corners, so neighbours are linked anew afterwards. */
static void ipbdx_orient(ipbdx_build *b) {
    uint8_t *seen = b->colour; /* borrowed: 0 unseen, 1 as given, 2 to be flipped */
    double volume = 0.0;
    int i, k, head, tail;
    memset(seen, 0, (size_t)b->triangle_count);
    for (i = 0; i < b->triangle_count; ++i) {
        if (seen[i]) continue;
        seen[i] = 1, b->queue[0] = (uint32_t)i;
        for (head = 0, tail = 1; head < tail; ++head)
            for (k = 0; k < 3; ++k) {
                uint32_t here = 3 * b->queue[head] + (uint32_t)k, there = b->neighbours[here], other;
                bool agrees;
                if (there == IPBDX_NONE || seen[other = there / 3]) continue;
                agrees = b->triangles[here] == b->triangles[3 * other + (there % 3 + 1) % 3];
                seen[other] = agrees == (seen[b->queue[head]] == 1) ? 1 : 2;
                b->queue[tail++] = other;
            }
    }
    for (i = 0; i < b->triangle_count; ++i)
        if (seen[i] == 2) ipbdx_flip(b, (uint32_t)i), ++b->report.flipped_triangles;
    for (i = 0; i < b->triangle_count; ++i) {
        const uint32_t *t = b->triangles + 3 * (size_t)i;
        isphpbd_vec3 o = b->positions[b->triangles[0]];
        volume += (double)isphpbdx_dot(
            isphpbdx_sub(b->positions[t[0]], o),
            isphpbdx_cross(isphpbdx_sub(b->positions[t[1]], o), isphpbdx_sub(b->positions[t[2]], o)));
    }
    for (i = 0; b->closed && volume < 0.0 && i < b->triangle_count; ++i) ipbdx_flip(b, (uint32_t)i);
    ipbdx_link_neighbours(b);
}
static isphpbd_result ipbdx_clean_mesh(ipbdx_build *b) {
    int manifold;
    ipbdx_place_vertices(b);
    ipbdx_weld(b);
    ipbdx_clean_triangles(b);
    ipbdx_clean_tetrahedra(b);
    ipbdx_clean_lines(b);
    if (b->tetrahedron_count && !b->desc->mesh.triangle_count) ipbdx_derive_surface(b);
    ipbdx_link_neighbours(b);
    manifold = b->report.non_manifold_edges;
    if (!b->tetrahedron_count && manifold == 0) ipbdx_orient(b);
    if (b->tetrahedron_count) b->report.non_manifold_edges = 0; /* a surface for contact only: edges may touch */
    ipbdx_list_edges(b);
    if (b->report.non_manifold_edges)
        return ipbdx_refuse(&b->logger, ISPHPBD_BAD_MESH, "an edge belongs to more than two triangles");
    if (b->report.flat_tetrahedra) return ipbdx_refuse(&b->logger, ISPHPBD_BAD_MESH, "a tetrahedron is flat");
    if (b->triangle_count + b->tetrahedron_count + b->line_count == 0)
        return ipbdx_refuse(&b->logger, ISPHPBD_BAD_MESH, "all elements of the mesh are degenerate: the body is empty");
    return ISPHPBD_OK;
}

/* ---- [derive] constraints from elements -----------------------------------------------------------------------------
   Compliances of edges follow Van Gelder 1998: a membrane of tensile stiffness E t behaves the same on every mesh if
   edge e has stiffness E t (sum of its triangles' areas) / length^2. Solids alike, with volumes. */

static float ipbdx_distance(const ipbdx_build *b, uint32_t i, uint32_t j) {
    return isphpbdx_length(isphpbdx_sub(b->positions[i], b->positions[j]));
}
/* Compliances; stiffnesses are turned into some at the end, see ipbdx_soften(). */
static float ipbdx_alpha(ipbd_elasticity e, float factor) {
    return e.measure == IPBD_COMPLIANCE ? e.value * factor : 0.0f;
}
static ipbdx_item *ipbdx_add_item(ipbdx_build *b, int kind, uint32_t v0, uint32_t v1, uint32_t v2, uint32_t v3) {
    ipbdx_item *item = b->items + b->item_count++;
    item->v[0] = v0, item->v[1] = v1, item->v[2] = v2, item->v[3] = v3;
    item->kind = kind, item->rest = 0.0f, item->alpha = 0.0f;
    ++b->constraint_count[kind];
    return item;
}
static void ipbdx_add_distance(ipbdx_build *b, int kind, uint32_t i, uint32_t j, float alpha) {
    ipbdx_item *item;
    float length = ipbdx_distance(b, i, j);
    if (i == j || !(length > 1e-7f * b->diagonal)) {
        ++b->report.zero_edges;
        return;
    }
    item = ipbdx_add_item(b, kind, i, j, i, j);
    item->rest = length, item->alpha = alpha;
}
/* The diagonal of a quad: the longest edge of both triangles, with nearly right angles opposite. */
static bool ipbdx_is_diagonal(const ipbdx_build *b, uint32_t i, uint32_t j, uint32_t opposite) {
    isphpbd_vec3 p = isphpbdx_sub(b->positions[i], b->positions[opposite]),
                 q = isphpbdx_sub(b->positions[j], b->positions[opposite]);
    float product = isphpbdx_length(p) * isphpbdx_length(q);
    return isphpbdx_abs(isphpbdx_dot(p, q)) < 0.26f * product; /* 75 to 105 degrees */
}
static float ipbdx_cotangent(isphpbd_vec3 a, isphpbd_vec3 c) {
    float sine = isphpbdx_length(isphpbdx_cross(a, c));
    return sine > IPBDX_TINY ? isphpbdx_dot(a, c) / sine : 0.0f;
}
/* Weights of Bergou et al. 2006 over edge (p0 p1) and the opposite corners p2, p3. */
static void ipbdx_isometric_weights(const isphpbd_vec3 *p, float *k) {
    isphpbd_vec3 e0 = isphpbdx_sub(p[1], p[0]), back = isphpbdx_sub(p[0], p[1]);
    float c01 = ipbdx_cotangent(e0, isphpbdx_sub(p[2], p[0])), c02 = ipbdx_cotangent(e0, isphpbdx_sub(p[3], p[0]));
    float c03 = ipbdx_cotangent(back, isphpbdx_sub(p[2], p[1])), c04 = ipbdx_cotangent(back, isphpbdx_sub(p[3], p[1]));
    k[0] = c03 + c04, k[1] = c01 + c02, k[2] = -c01 - c03, k[3] = -c02 - c04;
}
/* Angle of y and x, within 1e-6; polynomial so that every machine agrees. */
static float ipbdx_atan2(float y, float x) {
    float ax = isphpbdx_abs(x), ay = isphpbdx_abs(y), big = isphpbdx_max(ax, ay), t, s, r;
    if (!(big > IPBDX_TINY)) return 0.0f;
    t = isphpbdx_min(ax, ay) / big, s = t * t;
    r = ((((((-0.004054058f * s + 0.0218612288f) * s - 0.0559098861f) * s + 0.0964200441f) * s - 0.1390853351f) * s +
          0.1994653599f) *
             s -
         0.3332985605f) *
            s +
        0.9999993329f;
    r *= t;
    if (ay > ax) r = 0.5f * IPBDX_PI - r;
    if (x < 0.0f) r = IPBDX_PI - r;
    return y < 0.0f ? -r : r;
}
static float ipbdx_dihedral_angle(const isphpbd_vec3 *p) {
    isphpbd_vec3 e = isphpbdx_sub(p[1], p[0]);
    isphpbd_vec3 n1 = isphpbdx_cross(isphpbdx_sub(p[2], p[0]), isphpbdx_sub(p[2], p[1]));
    isphpbd_vec3 n2 = isphpbdx_cross(isphpbdx_sub(p[3], p[1]), isphpbdx_sub(p[3], p[0]));
    float length = isphpbdx_length(e);
    return ipbdx_atan2(isphpbdx_dot(isphpbdx_cross(n1, n2), e), isphpbdx_dot(n1, n2) * length);
}
/* area: of the two triangles at the edge. Flexural rigidity D gives an edge of length l, at angle a, the energy
   1/2 D (l^2 / area) a^2: exact for a cylinder whose axis runs along edges of a regular mesh, where these edges alone
   bend, by their distance times the curvature, and the two triangles at each make up the whole area. (The 3 of
   Bergou et al. 2006 averages the curvature itself over all edges, and its square is three times too large there.) A
   shelf of leather, nine cells long, droops by 37 degrees in many substeps where Peirce's formula says 29, and by 51 in
   twelve: one sweep does not carry bending far. */
static void ipbdx_add_bend(ipbdx_build *b, const uint32_t *v, float area) {
    const ipbd_body_desc *d = b->desc;
    isphpbd_vec3 p[4];
    ipbdx_item *item;
    float k[4], length = ipbdx_distance(b, v[0], v[1]), across = ipbdx_distance(b, v[2], v[3]);
    int i;
    if (d->bend.measure == IPBD_ABSENT || v[2] == v[3]) return;
    for (i = 0; i < 4; ++i) p[i] = b->positions[v[i]];
    if (d->bend_model == IPBD_BEND_DISTANCE) {
        if (across > 1e-7f * b->diagonal)
            ipbdx_add_distance(b, IPBDX_BEND, v[2], v[3], ipbdx_alpha(d->bend, across * across));
        return;
    }
    item = ipbdx_add_item(b, d->bend_model == IPBD_BEND_DIHEDRAL ? IPBDX_DIHEDRAL : IPBDX_ISOMETRIC, v[0], v[1], v[2],
                          v[3]);
    if (d->bend_model == IPBD_BEND_DIHEDRAL) {
        item->rest = ipbdx_dihedral_angle(p);
        item->alpha = ipbdx_alpha(d->bend, area / (length * length));
        return;
    }
    ipbdx_isometric_weights(p, k);
    item->rest = isphpbdx_length(isphpbdx_add(isphpbdx_add(isphpbdx_scale(p[0], k[0]), isphpbdx_scale(p[1], k[1])),
                                              isphpbdx_add(isphpbdx_scale(p[2], k[2]), isphpbdx_scale(p[3], k[3]))));
    if (item->rest < 1e-4f * length) item->rest = 0.0f; /* flat: rounding is not a curvature */
    item->alpha = ipbdx_alpha(d->bend, area);
}
/* records still hold the sorted edges of the triangles. */
static void ipbdx_derive_shell(ipbdx_build *b) {
    int i, count = 3 * b->triangle_count;
    for (i = 0; i < count;) {
        uint32_t first = b->records[i].index, v[4];
        bool pair = i + 1 < count && b->records[i + 1].key == b->records[i].key, diagonal = false;
        float area = ipbdx_triangle_area(b->positions, b->triangles + 3 * (size_t)(first / 3)), length;
        v[0] = b->triangles[first];
        v[1] = b->triangles[3 * (first / 3) + (first % 3 + 1) % 3];
        v[2] = b->triangles[3 * (first / 3) + (first % 3 + 2) % 3];
        length = ipbdx_distance(b, v[0], v[1]);
        if (pair) {
            uint32_t second = b->records[i + 1].index;
            v[3] = b->triangles[3 * (second / 3) + (second % 3 + 2) % 3];
            area += ipbdx_triangle_area(b->positions, b->triangles + 3 * (size_t)(second / 3));
            diagonal = ipbdx_is_diagonal(b, v[0], v[1], v[2]) && ipbdx_is_diagonal(b, v[0], v[1], v[3]);
            ipbdx_add_bend(b, v, area);
        }
        if ((diagonal ? b->desc->shear : b->desc->stretch).measure != IPBD_ABSENT)
            ipbdx_add_distance(b, diagonal ? IPBDX_SHEAR : IPBDX_STRETCH, v[0], v[1],
                               ipbdx_alpha(diagonal ? b->desc->shear : b->desc->stretch, length * length / area));
        i += pair ? 2 : 1;
    }
}
/* Lines stretch by 1 / (E area) * length; where exactly two lines meet, a distance across them resists bending. */
static void ipbdx_derive_lines(ipbdx_build *b) {
    int i;
    for (i = 0; i < b->line_count; ++i) {
        uint32_t v0 = b->lines[2 * i], v1 = b->lines[2 * i + 1];
        if (b->desc->stretch.measure != IPBD_ABSENT)
            ipbdx_add_distance(b, IPBDX_STRETCH, v0, v1, ipbdx_alpha(b->desc->stretch, ipbdx_distance(b, v0, v1)));
        b->records[2 * i].key = v0, b->records[2 * i + 1].key = v1;
        b->records[2 * i].extra = v1, b->records[2 * i + 1].extra = v0;
    }
    if (b->desc->bend.measure == IPBD_ABSENT) return;
    ipbdx_sort_records(b, 2 * b->line_count);
    for (i = 0; i + 1 < 2 * b->line_count; ++i) {
        const ipbdx_record *r = b->records + i;
        bool two = r[0].key == r[1].key && (i == 0 || r[-1].key != r[0].key) &&
                   (i + 2 >= 2 * b->line_count || r[2].key != r[0].key);
        if (two && r[0].extra != r[1].extra && ipbdx_distance(b, r[0].extra, r[1].extra) > 1e-7f * b->diagonal)
            ipbdx_add_distance(b, IPBDX_BEND, r[0].extra, r[1].extra,
                               ipbdx_alpha(b->desc->bend, ipbdx_distance(b, r[0].extra, r[1].extra)));
    }
}
static void ipbdx_derive_solid_edges(ipbdx_build *b) {
    static const uint8_t pairs[6][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};
    int i, count = 6 * b->tetrahedron_count;
    for (i = 0; i < count; ++i) {
        const uint32_t *t = b->tetrahedra + 4 * (size_t)(i / 6);
        b->records[i].key = ipbdx_edge_key(t[pairs[i % 6][0]], t[pairs[i % 6][1]]);
        b->records[i].extra = 0, b->records[i].index = (uint32_t)(i / 6);
    }
    ipbdx_sort_records(b, count);
    for (i = 0; i < count;) {
        uint64_t key = b->records[i].key;
        uint32_t v0 = (uint32_t)(key >> 32), v1 = (uint32_t)key;
        float volume = 0.0f, length = ipbdx_distance(b, v0, v1);
        for (; i < count && b->records[i].key == key; ++i)
            volume += ipbdx_tetrahedron_volume(b->positions, b->tetrahedra + 4 * (size_t)b->records[i].index);
        ipbdx_add_distance(b, IPBDX_STRETCH, v0, v1, ipbdx_alpha(b->desc->stretch, length * length / volume));
    }
}
static void ipbdx_derive_solid(ipbdx_build *b) {
    bool elastic = b->desc->solid_model == IPBD_SOLID_ELASTIC;
    int i;
    if (!elastic && b->desc->stretch.measure != IPBD_ABSENT) ipbdx_derive_solid_edges(b);
    for (i = 0; i < b->tetrahedron_count; ++i) {
        const uint32_t *t = b->tetrahedra + 4 * (size_t)i;
        ipbdx_item *item;
        if (!elastic && b->desc->volume.measure == IPBD_ABSENT) continue;
        item = ipbdx_add_item(b, elastic ? IPBDX_ELASTIC : IPBDX_VOLUME, t[0], t[1], t[2], t[3]);
        item->rest = ipbdx_tetrahedron_volume(b->positions, t);
        item->alpha = elastic ? 0.0f : ipbdx_alpha(b->desc->volume, item->rest);
    }
}
/* Answers whether the mass is there in floats, too. The user's own masses only ask who is used at all. */
static bool ipbdx_spread_mass(ipbdx_build *b, const uint32_t *v, int count, float mass) {
    const float share = b->desc->masses ? 1.0f : mass / (float)count;
    int i;
    for (i = 0; i < count; ++i) b->masses[v[i]] += share;
    return share > 0.0f;
}
/* Masses from densities, or the user's; also tells which vertices are used at all. */
static isphpbd_result ipbdx_derive_masses(ipbdx_build *b) {
    const ipbd_body_desc *d = b->desc;
    bool there = true;
    int i;
    memset(b->masses, 0, (size_t)b->input_count * 4);
    for (i = 0; i < b->triangle_count && !b->tetrahedron_count; ++i)
        there &= ipbdx_spread_mass(b, b->triangles + 3 * (size_t)i, 3,
                                   d->density * ipbdx_triangle_area(b->positions, b->triangles + 3 * (size_t)i));
    for (i = 0; i < b->tetrahedron_count; ++i)
        there &= ipbdx_spread_mass(b, b->tetrahedra + 4 * (size_t)i, 4,
                                   d->density * ipbdx_tetrahedron_volume(b->positions, b->tetrahedra + 4 * (size_t)i));
    for (i = 0; i < b->line_count; ++i)
        there &= ipbdx_spread_mass(b, b->lines + 2 * (size_t)i, 2,
                                   d->line_density * ipbdx_distance(b, b->lines[2 * i], b->lines[2 * i + 1]));
    if (!there) return ipbdx_refuse(&b->logger, ISPHPBD_BAD_MESH, "an element has no length, or too little mass");
    for (i = 0; i < b->input_count && d->masses; ++i)
        if (b->map[i] == (uint32_t)i && b->masses[i] > 0.0f) b->masses[i] = d->masses[i];
    for (i = 0; i < b->input_count && d->masses; ++i)
        if (b->map[i] != (uint32_t)i && b->masses[b->map[i]] > 0.0f) b->masses[b->map[i]] += d->masses[i];
    for (i = 0; i < b->input_count; ++i)
        if (!ipbdx_sane(b->masses[i]) || (b->masses[i] > 0.0f && !isphpbdx_finite(1.0f / b->masses[i])))
            return ipbdx_refuse(&b->logger, ISPHPBD_BAD_MESH, "a vertex's mass is out of the range of float");
    return ISPHPBD_OK;
}
static ipbd_elasticity ipbdx_kind_elasticity(const ipbd_body_desc *d, int kind) {
    switch (kind) {
        case IPBDX_STRETCH: return d->stretch;
        case IPBDX_SHEAR: return d->shear;
        case IPBDX_LINK: return d->link;
        case IPBDX_VOLUME: return d->volume;
        case IPBDX_ELASTIC: return ipbd_absent();
        default: return d->bend;
    }
}
/* Times the sum of w |grad C|^2, the compliance of which an implicit step of one period (s^2: its square) takes the
   share k of an error away: k = w / (w + alpha / period^2). */
static float ipbdx_softness(float k) {
    return IPBDX_STIFFNESS_PERIOD * IPBDX_STIFFNESS_PERIOD * (1.0f - k) / isphpbdx_max(k, 1e-6f);
}
static float ipbdx_dihedral_response(const ipbdx_build *b, const uint32_t *v, const float *w) {
    const uint32_t first[3] = {v[0], v[1], v[2]}, second[3] = {v[0], v[1], v[3]};
    const float length = ipbdx_distance(b, v[0], v[1]);
    const float g2 = 0.5f * length / ipbdx_triangle_area(b->positions, first),
                g3 = 0.5f * length / ipbdx_triangle_area(b->positions, second);
    return w[2] * g2 * g2 + w[3] * g3 * g3 + 0.25f * (w[0] + w[1]) * (g2 + g3) * (g2 + g3); /* gradients sum to 0 */
}
/* Sum of w |grad C|^2 at rest. */
static float ipbdx_rest_response(const ipbdx_build *b, const ipbdx_item *item) {
    const uint32_t *v = item->v;
    float w[4], k[4] = {0.0f, 0.0f, 0.0f, 0.0f}, sum = 0.0f;
    isphpbd_vec3 p[4];
    int i;
    for (i = 0; i < 4; ++i) w[i] = 1.0f / b->masses[v[i]], p[i] = b->positions[v[i]];
    if (item->kind == IPBDX_DIHEDRAL) return ipbdx_dihedral_response(b, v, w);
    if (item->kind == IPBDX_ISOMETRIC) ipbdx_isometric_weights(p, k);
    else if (item->kind != IPBDX_VOLUME) return w[0] + w[1];
    for (i = 0; i < 4; ++i) {
        const uint32_t face[3] = {v[(i + 1) & 3], v[(i + 2) & 3], v[(i + 3) & 3]};
        if (item->kind == IPBDX_VOLUME) k[i] = ipbdx_triangle_area(b->positions, face) / 3.0f;
        sum += w[i] * k[i] * k[i];
    }
    return sum;
}
/* Stiffnesses become compliances. Waves of stretch cross an edge in its share of the time that they need for the whole
   body, whose slowest motion has the angular frequency pi / (that time): so the mesh does not matter. The body's size
   is the side of the cube with its diagonal. */
static void ipbdx_soften(ipbdx_build *b) {
    int i;
    for (i = 0; i < b->item_count; ++i) {
        ipbdx_item *item = b->items + i;
        const ipbd_elasticity e = ipbdx_kind_elasticity(b->desc, item->kind);
        const bool along = item->kind == IPBDX_STRETCH || item->kind == IPBDX_SHEAR || item->kind == IPBDX_LINK;
        const float share = along ? 1.7320508f * IPBDX_PI * item->rest / b->diagonal : 1.0f;
        if (e.measure != IPBD_STIFFNESS) continue;
        item->alpha = isphpbdx_min(ipbdx_rest_response(b, item) * ipbdx_softness(e.value) * share * share, 1e20f);
    }
}
static isphpbd_result ipbdx_derive(ipbdx_build *b) {
    const ipbd_body_desc *d = b->desc;
    isphpbd_result result = ipbdx_derive_masses(b);
    int i;
    if (result != ISPHPBD_OK) return result;
    if (!b->tetrahedron_count) ipbdx_derive_shell(b);
    ipbdx_derive_lines(b);
    ipbdx_derive_solid(b);
    for (i = 0; i < d->link_count && d->link.measure != IPBD_ABSENT; ++i) {
        uint32_t v0 = b->map[d->links[2 * i]], v1 = b->map[d->links[2 * i + 1]];
        if (!(b->masses[v0] > 0.0f) || !(b->masses[v1] > 0.0f))
            return ipbdx_refuse(&b->logger, ISPHPBD_BAD_MESH, "a link uses a vertex that no element uses");
        ipbdx_add_distance(b, IPBDX_LINK, v0, v1, ipbdx_alpha(d->link, 1.0f));
    }
    for (i = 0; i < d->pinned_count; ++i)
        if (!(b->masses[b->map[d->pinned[i]]] > 0.0f))
            return ipbdx_refuse(&b->logger, ISPHPBD_BAD_MESH, "a pinned vertex belongs to no element");
    if (b->report.zero_edges) return ipbdx_refuse(&b->logger, ISPHPBD_BAD_MESH, "an edge has no length");
    ipbdx_soften(b);
    return ISPHPBD_OK;
}

/* ---- [order] who is solved when -------------------------------------------------------------------------------------
   Vertices are numbered breadth-first over the constraints, so every constraint lies within two neighbouring levels.
   Slabs of at least two levels can then be solved independently, and so can the seams between them, each of which
   touches only the last level of one slab and the first of the next: two parallel phases hold every constraint, without
   a remainder. Inside a slab constraints are coloured greedily and packed four by four. In: items. Out: order, slabs,
   sequence. Linear. */

/* Lists the constraints of every vertex. */
static void ipbdx_list_incidents(ipbdx_build *b) {
    int i, k;
    memset(b->incident_begin, 0, ((size_t)b->input_count + 1) * 4);
    for (i = 0; i < b->item_count; ++i)
        for (k = 0; k < ipbdx_kinds_vertices(b->items[i].kind); ++k) ++b->incident_begin[b->items[i].v[k] + 1];
    for (i = 0; i < b->input_count; ++i) b->incident_begin[i + 1] += b->incident_begin[i];
    for (i = b->item_count - 1; i >= 0; --i) /* backward: lists stay in rising order and begin[] ends where it should */
        for (k = 0; k < ipbdx_kinds_vertices(b->items[i].kind); ++k) {
            uint32_t v = b->items[i].v[k];
            b->incident[--b->incident_begin[v + 1]] = (uint32_t)i;
        }
    for (i = 0; i < b->input_count; ++i) b->incident_begin[i] = b->incident_begin[i + 1];
    b->incident_begin[b->input_count] = 0;
    for (i = 0; i < b->item_count; ++i)
        b->incident_begin[b->input_count] += (uint32_t)ipbdx_kinds_vertices(b->items[i].kind);
}
/* Appends the component of start to order from position `begin`, levels from base; answers the end. */
static int ipbdx_breadth_first(ipbdx_build *b, uint32_t start, int begin, uint32_t base) {
    int head, tail = begin, k;
    uint32_t i;
    b->level[start] = base, b->order[tail++] = start;
    for (head = begin; head < tail; ++head) {
        uint32_t v = b->order[head];
        for (i = b->incident_begin[v]; i < b->incident_begin[v + 1]; ++i) {
            const ipbdx_item *item = b->items + b->incident[i];
            for (k = 0; k < ipbdx_kinds_vertices(item->kind); ++k) {
                if (b->level[item->v[k]] != IPBDX_NONE) continue;
                b->level[item->v[k]] = b->level[v] + 1;
                b->order[tail++] = item->v[k];
            }
        }
    }
    return tail;
}
static void ipbdx_order_vertices(ipbdx_build *b) {
    uint32_t base = 0;
    int i, k, count = 0, end;
    memset(b->level, 0xff, (size_t)b->input_count * 4);
    for (i = 0; i < b->input_count; ++i) {
        if (b->map[i] != (uint32_t)i || !(b->masses[i] > 0.0f) || b->level[i] != IPBDX_NONE) continue;
        end = ipbdx_breadth_first(b, (uint32_t)i, count, base); /* its last vertex is at an end of the body: */
        for (k = count; k < end; ++k) b->level[b->order[k]] = IPBDX_NONE;
        count = ipbdx_breadth_first(b, b->order[end - 1], count, base); /* thin levels, so short seams */
        base = b->level[b->order[count - 1]] + 1;
    }
    b->vertex_count = count;
}
/* Cuts the order into slabs, and gives every vertex its slab and its new number. */
static void ipbdx_cut_slabs(ipbdx_build *b) {
    int i, begin = 0, slabs = 0;
    memset(b->slabs, 0, sizeof *b->slabs);
    for (i = 1; i <= b->vertex_count; ++i) {
        uint32_t first = b->level[b->order[begin]], before = b->level[b->order[i - 1]];
        bool new_level = i < b->vertex_count && b->level[b->order[i]] != before;
        if (new_level && i - begin >= IPBDX_SLAB_VERTICES && before > first) {
            b->slabs[slabs].vertex_begin = begin, b->slabs[slabs++].vertex_end = i;
            begin = i;
        }
    }
    if (slabs > 0 && b->vertex_count - begin < IPBDX_SLAB_VERTICES / 2) begin = b->slabs[--slabs].vertex_begin;
    b->slabs[slabs].vertex_begin = begin, b->slabs[slabs++].vertex_end = b->vertex_count;
    b->slab_interior = slabs, b->slab_count = 2 * slabs - 1;
    for (i = slabs; i < b->slab_count; ++i) b->slabs[i].vertex_begin = b->slabs[i].vertex_end = 0;
    for (i = 0, slabs = 0; i < b->vertex_count; ++i) {
        if (i >= b->slabs[slabs].vertex_end) ++slabs;
        b->slab_of[b->order[i]] = (uint32_t)slabs;
        b->level[b->order[i]] = (uint32_t)i; /* levels are done with: from here on the new number */
        b->rests[i] = b->positions[b->order[i]], b->body_masses[i] = b->masses[b->order[i]];
    }
}
static uint32_t ipbdx_bucket(const ipbdx_build *b, const ipbdx_item *item) {
    uint32_t low = IPBDX_NONE, high = 0;
    int k;
    for (k = 0; k < ipbdx_kinds_vertices(item->kind); ++k) {
        uint32_t slab = b->slab_of[item->v[k]];
        low = slab < low ? slab : low, high = slab > high ? slab : high;
    }
    return (low == high ? low : (uint32_t)b->slab_interior + low) * IPBDX_KINDS + (uint32_t)item->kind;
}
/* Sorts items by slab and kind into incident[] (its lists are done with), stable. */
static void ipbdx_fill_buckets(ipbdx_build *b) {
    int i, buckets = b->slab_count * IPBDX_KINDS;
    memset(b->bucket_begin, 0, ((size_t)buckets + 1) * 4);
    for (i = 0; i < b->item_count; ++i) ++b->bucket_begin[ipbdx_bucket(b, b->items + i) + 1];
    for (i = 0; i < buckets; ++i) b->bucket_begin[i + 1] += b->bucket_begin[i];
    for (i = 0; i < b->item_count; ++i) b->incident[b->bucket_begin[ipbdx_bucket(b, b->items + i)]++] = (uint32_t)i;
    for (i = buckets; i > 0; --i) b->bucket_begin[i] = b->bucket_begin[i - 1];
    b->bucket_begin[0] = 0;
}
/* Lowest free colour for each item of a bucket; 64 means: alone. Answers the number of colours below 64. */
static int ipbdx_colour_bucket(ipbdx_build *b, uint32_t begin, uint32_t end) {
    uint32_t i;
    int k, colours = 0;
    for (i = begin; i < end; ++i) {
        const ipbdx_item *item = b->items + b->incident[i];
        uint64_t used = 0;
        int colour = 0;
        for (k = 0; k < ipbdx_kinds_vertices(item->kind); ++k) used |= b->used_colours[item->v[k]];
        while (colour < 64 && (used >> colour & 1u)) ++colour;
        b->colour[b->incident[i]] = (uint8_t)colour;
        if (colour < 64)
            for (k = 0; k < ipbdx_kinds_vertices(item->kind); ++k) b->used_colours[item->v[k]] |= UINT64_C(1) << colour;
        if (colour < 64 && colour >= colours) colours = colour + 1;
    }
    for (i = begin; i < end; ++i)
        for (k = 0; k < 4; ++k) b->used_colours[b->items[b->incident[i]].v[k]] = 0;
    return colours;
}
static void ipbdx_pad_group(ipbdx_build *b) {
    for (; b->lane_count % 4; ++b->lane_count) b->sequence[b->lane_count] = b->sequence[b->lane_count - 1];
}
static void ipbdx_pack_bucket(ipbdx_build *b, uint32_t begin, uint32_t end) {
    int colour, colours = ipbdx_colour_bucket(b, begin, end);
    uint32_t i;
    for (colour = 0; colour < colours; ++colour) {
        for (i = begin; i < end; ++i)
            if (b->colour[b->incident[i]] == colour) b->sequence[b->lane_count++] = b->incident[i];
        ipbdx_pad_group(b);
    }
    for (i = begin; i < end; ++i)
        if (b->colour[b->incident[i]] == 64) {
            b->sequence[b->lane_count++] = b->incident[i];
            ipbdx_pad_group(b);
        }
}
/* Kind after kind, slab after slab: groups of a store lie in one run per slab. */
static void ipbdx_order(ipbdx_build *b) {
    int kind, slab, i, k;
    ipbdx_list_incidents(b);
    ipbdx_order_vertices(b);
    ipbdx_cut_slabs(b);
    ipbdx_fill_buckets(b);
    memset(b->used_colours, 0, (size_t)b->input_count * 8);
    for (slab = 0; slab < b->slab_count; ++slab)
        for (kind = 0; kind < IPBDX_KINDS; ++kind) {
            uint32_t bucket = (uint32_t)(slab * IPBDX_KINDS + kind);
            int store = ipbdx_store_of(kind), before = b->lane_count;
            ipbdx_pack_bucket(b, b->bucket_begin[bucket], b->bucket_begin[bucket + 1]);
            b->slabs[slab].group_begin[kind] = b->group_count[store];
            b->group_count[store] += (b->lane_count - before) / 4;
            b->slabs[slab].group_end[kind] = b->group_count[store];
        }
    for (i = 0; i < b->item_count; ++i)
        for (k = 0; k < 4; ++k) b->items[i].v[k] = b->level[b->items[i].v[k]];
    for (i = 0; i < 3 * b->triangle_count; ++i) b->triangles[i] = b->level[b->triangles[i]];
    for (i = 0; i < 2 * b->surface_edge_count; ++i) b->surface_edges[i] = b->level[b->surface_edges[i]];
    for (i = 0; i < b->input_count; ++i) { /* first the welded ones, whose targets are input vertices */
        uint32_t to = b->map[i];
        b->chain[i] = b->masses[to] > 0.0f ? b->level[to] : IPBD_NO_VERTEX;
        if (!(b->masses[to] > 0.0f)) ++b->report.unused;
    }
    memcpy(b->map, b->chain, (size_t)b->input_count * 4);
}

/* Everything up to [commit] in one temporary block, which the caller frees with ipbdx_build_free. */
static isphpbd_result ipbdx_build_run(ipbdx_build *b, const isphpbd_allocator *allocator, void **block, size_t *bytes) {
    isphpbdx_layout layout;
    isphpbd_result result = ipbdx_build_check(b);
    *block = NULL;
    if (result != ISPHPBD_OK) return result;
    ipbdx_build_measure(b);
    memset(&layout, 0, sizeof layout);
    ipbdx_build_lay_out(b, &layout);
    *bytes = layout.used;
    if (!layout.overflow) *block = isphpbdx_allocate(allocator, *bytes);
    if (!*block) return ipbdx_refuse(&b->logger, ISPHPBD_OUT_OF_MEMORY, "no temporary memory to build a body");
    memset(&layout, 0, sizeof layout);
    layout.base = (unsigned char *)*block;
    ipbdx_build_lay_out(b, &layout);
    result = ipbdx_clean_mesh(b);
    if (result == ISPHPBD_OK) result = ipbdx_derive(b);
    if (result == ISPHPBD_OK) ipbdx_order(b);
    return result;
}
static void ipbdx_build_free(const isphpbd_allocator *allocator, void *block, size_t bytes) {
    if (block) allocator->free(block, bytes, allocator->user);
}
static isphpbd_result ipbdx_outside_allocator(const isphpbd_allocator *given, isphpbd_allocator *used) {
    memset(used, 0, sizeof *used);
    if (given) *used = *given;
    return isphpbdx_allocator_ready(used) ? ISPHPBD_OK : ISPHPBD_BAD_ARGUMENT;
}
ISPHPBD_API isphpbd_result ipbd_mesh_check(const ipbd_body_desc *desc, const isphpbd_allocator *allocator,
                                           ipbd_mesh_report *report) {
    ipbdx_build build;
    isphpbd_allocator used;
    isphpbd_result result;
    void *block = NULL;
    size_t bytes = 0;
    if (!desc || !report || ipbdx_outside_allocator(allocator, &used) != ISPHPBD_OK) return ISPHPBD_BAD_ARGUMENT;
    memset(&build, 0, sizeof build);
    build.desc = desc;
    result = ipbdx_build_run(&build, &used, &block, &bytes);
    *report = build.report;
    ipbdx_build_free(&used, block, bytes);
    return result;
}
ISPHPBD_API isphpbd_result ipbd_capacity_add(ipbd_capacity *capacity, const ipbd_body_desc *desc,
                                             const isphpbd_allocator *allocator) {
    ipbdx_build build;
    ipbd_capacity sum;
    isphpbd_allocator used;
    isphpbd_result result;
    void *block = NULL;
    size_t bytes = 0;
    int i;
    if (!capacity || !desc || ipbdx_outside_allocator(allocator, &used) != ISPHPBD_OK) return ISPHPBD_BAD_ARGUMENT;
    sum = *capacity;
    if (!ipbdx_capacity_valid(&sum)) return ISPHPBD_BAD_ARGUMENT;
    memset(&build, 0, sizeof build);
    build.desc = desc;
    result = ipbdx_build_run(&build, &used, &block, &bytes);
    if (result == ISPHPBD_OK) {
        sum.bodies += 1;
        sum.vertices += build.vertex_count, sum.input_vertices += build.input_count;
        sum.triangles += isphpbdx_maxi(build.triangle_count, (build.surface_edge_count + 2) / 3);
        sum.slabs += build.slab_count;
        for (i = 0; i < IPBDX_STORES; ++i) *ipbdx_store_capacity(&sum, i) += 4 * build.group_count[i];
        if (ipbdx_capacity_valid(&sum)) *capacity = sum;
        else result = ISPHPBD_CAPACITY;
    }
    ipbdx_build_free(&used, block, bytes);
    return result;
}

/* ---- balanced trees over triangles or edges: [commit] builds them for bodies, [colliders] for meshes ----------------
   The items are sorted once so that halving the run halves space; node 0 covers all, the children of node i are 2i+1
   and
   2i+2 and cover the halves of its run, down to runs of at most four. Only bounds are stored: six floats a node, fewer
   nodes than items. */

static int ipbdx_tree_depth(int count) {
    int depth = 0;
    while ((count >> depth) > 4 || ((count >> depth) == 4 && (count & ((1 << depth) - 1)))) ++depth;
    return depth;
}
static isphpbd_vec3 ipbdx_item_centre(const isphpbd_vec3 *points, const uint32_t *item, int corners) {
    isphpbd_vec3 c = points[item[0]];
    int k;
    for (k = 1; k < corners; ++k) c = isphpbdx_add(c, points[item[k]]);
    return c;
}
static float ipbdx_axis(isphpbd_vec3 v, int axis) { return axis == 0 ? v.x : axis == 1 ? v.y : v.z; }
static void ipbdx_swap_items(uint32_t *items, int corners, int i, int j) {
    int k;
    for (k = 0; k < corners; ++k) {
        uint32_t swap = items[corners * i + k];
        items[corners * i + k] = items[corners * j + k], items[corners * j + k] = swap;
    }
}
/* Quickselect: items before `middle` end up no further along the axis than those after. */
static void ipbdx_select(const isphpbd_vec3 *points, uint32_t *items, int corners, int low, int high, int middle,
                         int axis) {
    while (high - low > 1) {
        float pivot = ipbdx_axis(ipbdx_item_centre(points, items + corners * (low + (high - low) / 2), corners), axis);
        int i = low, j = high - 1;
        while (i <= j) {
            while (ipbdx_axis(ipbdx_item_centre(points, items + corners * i, corners), axis) < pivot) ++i;
            while (ipbdx_axis(ipbdx_item_centre(points, items + corners * j, corners), axis) > pivot) --j;
            if (i <= j) ipbdx_swap_items(items, corners, i++, j--);
        }
        if (middle <= j) high = j + 1;
        else if (middle >= i) low = i;
        else return;
    }
}
static void ipbdx_tree_sort(const isphpbd_vec3 *points, uint32_t *items, int corners, int low, int high, int depth) {
    isphpbd_vec3 least, most, size;
    int i, middle = low + (high - low) / 2;
    if (depth <= 0 || high - low < 2) return;
    least = most = ipbdx_item_centre(points, items + corners * low, corners);
    for (i = low + 1; i < high; ++i) {
        isphpbd_vec3 c = ipbdx_item_centre(points, items + corners * i, corners);
        least = ipbdx_min3(least, c), most = ipbdx_max3(most, c);
    }
    size = isphpbdx_sub(most, least);
    ipbdx_select(points, items, corners, low, high, middle,
                 size.x >= size.y && size.x >= size.z ? 0
                 : size.y >= size.z                   ? 1
                                                      : 2);
    ipbdx_tree_sort(points, items, corners, low, middle, depth - 1);
    ipbdx_tree_sort(points, items, corners, middle, high, depth - 1);
}

/* ---- [commit] a finished build enters the world ------------------------------------------------------------------ */

static void ipbdx_commit_lane(const ipbdx_build *b, void *group, int lane, const ipbdx_item *item) {
    int k, vertices = ipbdx_kinds_vertices(item->kind);
    if (vertices == 2) {
        ipbdx_edges *g = (ipbdx_edges *)group;
        for (k = 0; k < 2; ++k) g->v[k][lane] = item->v[k];
        g->rest[lane] = item->rest, g->alpha[lane] = item->alpha, g->lambda[lane] = 0.0f;
    } else if (item->kind == IPBDX_ISOMETRIC) {
        ipbdx_isometrics *g = (ipbdx_isometrics *)group;
        isphpbd_vec3 p[4];
        float weights[4];
        for (k = 0; k < 4; ++k) p[k] = b->rests[item->v[k]];
        ipbdx_isometric_weights(p, weights);
        for (k = 0; k < 4; ++k) g->v[k][lane] = item->v[k], g->k[k][lane] = weights[k];
        g->rest[lane] = item->rest, g->alpha[lane] = item->alpha, g->lambda[lane] = 0.0f;
    } else {
        ipbdx_quads *g = (ipbdx_quads *)group;
        for (k = 0; k < 4; ++k) g->v[k][lane] = item->v[k];
        g->rest[lane] = item->rest, g->alpha[lane] = item->alpha, g->lambda[lane] = 0.0f;
    }
}
/* Of the rest edge matrix of a tetrahedron with this volume, whose corners stand in the group already. */
static void ipbdx_rest_inverse(const isphpbd_vec3 *rests, float volume, ipbdx_elastics *g, int lane) {
    isphpbd_vec3 o = rests[g->v[0][lane]], e1 = isphpbdx_sub(rests[g->v[1][lane]], o),
                 e2 = isphpbdx_sub(rests[g->v[2][lane]], o);
    isphpbd_vec3 e3 = isphpbdx_sub(rests[g->v[3][lane]], o), rows[3];
    float inverse = 1.0f / (6.0f * volume); /* of the determinant */
    int k;
    rows[0] = isphpbdx_scale(isphpbdx_cross(e2, e3), inverse),
    rows[1] = isphpbdx_scale(isphpbdx_cross(e3, e1), inverse);
    rows[2] = isphpbdx_scale(isphpbdx_cross(e1, e2), inverse);
    for (k = 0; k < 3; ++k)
        g->inverse[3 * k][lane] = rows[k].x, g->inverse[3 * k + 1][lane] = rows[k].y,
                       g->inverse[3 * k + 2][lane] = rows[k].z;
}
/* Lame's constants from Young's modulus and Poisson's ratio. */
static void ipbdx_commit_elastic(const ipbdx_build *b, ipbdx_elastics *g, int lane, const ipbdx_item *item) {
    float young = b->desc->young_modulus, poisson = b->desc->poisson_ratio;
    float mu = young / (2.0f * (1.0f + poisson)),
          lambda = young * poisson / ((1.0f + poisson) * (1.0f - 2.0f * poisson));
    int k;
    for (k = 0; k < 4; ++k) g->v[k][lane] = item->v[k];
    ipbdx_rest_inverse(b->rests, item->rest, g, lane);
    g->shear[lane] = 2.0f * mu * item->rest, g->bulk[lane] = lambda * item->rest;
    for (k = 0; k < 6; ++k) g->stress[k][lane] = 0.0f;
    g->pressure[lane] = 0.0f;
}
static void ipbdx_commit_constraints(ipbd_world *world, const ipbdx_build *b) {
    int used[IPBDX_STORES], lane;
    memset(used, 0, sizeof used);
    for (lane = 0; lane < b->lane_count; ++lane) {
        const ipbdx_item *item = b->items + b->sequence[lane];
        int store = ipbdx_store_of(item->kind);
        size_t group = (size_t)(world->counts.groups[store] + used[store] / 4);
        if (item->kind == IPBDX_ELASTIC) ipbdx_commit_elastic(b, world->elastics + group, lane % 4, item);
        else ipbdx_commit_lane(b, ipbdx_store_base(world, store) + group * ipbdx_store_size(store), lane % 4, item);
        ++used[store];
    }
}
static void ipbdx_commit_vertices(ipbd_world *world, const ipbdx_build *b, int slot) {
    int i, k, begin = world->counts.vertices;
    for (i = 0; i < b->vertex_count; ++i) {
        size_t v = (size_t)(begin + i);
        world->masses[v] = b->body_masses[i], world->inverse_masses[v] = 1.0f / b->body_masses[i];
        world->rests[v] = b->rests[i];
        ipbdx_put3(world->positions + 4 * v, b->rests[i]), world->positions[4 * v + 3] = world->inverse_masses[v];
        ipbdx_put3(world->starts + 4 * v, b->rests[i]), world->starts[4 * v + 3] = 0.0f;
        ipbdx_put3(world->velocities + 4 * v, b->desc->velocity), world->velocities[4 * v + 3] = 0.0f;
        memset(world->normals + 4 * v, 0, 16), memset(world->loads + 4 * v, 0, 16);
        memset(world->pins + v, 0, sizeof *world->pins);
        for (k = 0; k < IPBDX_TETHERS; ++k) world->pins[v].tethers[k].anchor = IPBDX_NONE;
        world->vertex_body[v] = (uint32_t)slot;
    }
    for (i = b->input_count - 1; i >= 0; --i)
        if (b->map[i] != IPBD_NO_VERTEX) world->vertex_input[begin + (int)b->map[i]] = (uint32_t)i;
    memcpy(world->vertex_map + world->counts.inputs, b->map, (size_t)b->input_count * 4);
    for (i = 0; i < 2 * b->surface_edge_count; ++i) world->pins[begin + (int)b->surface_edges[i]].surface = 1;
}
static void ipbdx_commit_surface(ipbd_world *world, const ipbdx_build *b, int slot) {
    uint32_t *triangles = world->triangles + 3 * (size_t)world->counts.triangles;
    uint32_t *edges = world->surface_edges + 2 * (size_t)world->counts.surface_edges;
    int i;
    memcpy(triangles, b->triangles, (size_t)b->triangle_count * 12);
    ipbdx_tree_sort(b->rests, triangles, 3, 0, b->triangle_count, ipbdx_tree_depth(b->triangle_count));
    memcpy(edges, b->surface_edges, (size_t)b->surface_edge_count * 8);
    ipbdx_tree_sort(b->rests, edges, 2, 0, b->surface_edge_count, ipbdx_tree_depth(b->surface_edge_count));
    for (i = 0; i < b->surface_edge_count; ++i) world->edge_body[world->counts.surface_edges + i] = (uint32_t)slot;
    for (i = 0; i < 3 * b->triangle_count; ++i)
        world->world_triangles[3 * world->counts.triangles + i] = triangles[i] + (uint32_t)world->counts.vertices;
}
static float ipbdx_hardening(ipbd_elasticity e) {
    const float share = e.measure == IPBD_STIFFNESS ? e.value / isphpbdx_max(1.0f - e.value, 0.01f) : 0.0f;
    return IPBDX_HARDENING * share * share;
}
static void ipbdx_body_material(ipbdx_body *body, const ipbd_body_desc *d) {
    body->hardening[IPBDX_STRETCH] = ipbdx_hardening(d->stretch);
    body->hardening[IPBDX_SHEAR] = ipbdx_hardening(d->shear);
    body->hardening[IPBDX_BEND] = 0.0f, body->hardening[IPBDX_LINK] = ipbdx_hardening(d->link);
    body->balloon = d->balloon, body->balloon_pressure = d->balloon_pressure, body->overpressure = d->overpressure;
    body->warm_start = d->warm_start, body->damping = d->damping, body->drag = d->drag;
    body->wind_drag = d->wind_drag, body->wind_lift = d->wind_lift, body->gravity_scale = d->gravity_scale;
    body->still_air = d->still_air;
    body->plastic_yield = d->plastic_yield, body->plastic_creep = d->plastic_creep, body->plastic_max = d->plastic_max;
    body->thickness = d->thickness, body->friction = d->friction;
    body->self_collision = d->self_collision, body->soft_collision = d->soft_collision, body->can_sleep = d->can_sleep;
    body->layer = d->layer, body->mask = d->mask;
}
/* Sheets and ropes that their own weight (g of the Earth, over the side of a square with their diagonal) would stretch
   by less than IPBDX_FIRM: one sweep per substep cannot carry the load of a whole cloth to its pins, tethers can. */
static float ipbdx_find_slack(const ipbdx_build *b) {
    const ipbd_body_desc *d = b->desc;
    const bool sheet = b->triangle_count > 0;
    float weight = 0.0f, compliance = d->stretch.value;
    int i;
    if (d->tether_slack >= 0.0f) return d->tether_slack;
    if (b->tetrahedron_count || d->stretch.measure != IPBD_COMPLIANCE || d->plastic_creep > 0.0f) return 0.0f;
    if (sheet && d->shear.measure != IPBD_COMPLIANCE) return 0.0f;
    if (sheet) compliance = isphpbdx_max(compliance, d->shear.value) * 1.4142136f / b->diagonal;
    for (i = 0; i < b->vertex_count; ++i) weight += 9.81f * b->body_masses[i];
    return weight * compliance < IPBDX_FIRM ? 1.0f + IPBDX_FIRM : 0.0f;
}
static void ipbdx_body_ranges(ipbd_world *world, ipbdx_body *body, const ipbdx_build *b) {
    ipbdx_counts *c = &world->counts;
    int k;
    body->vertex_begin = c->vertices, body->vertex_count = b->vertex_count, c->vertices += b->vertex_count;
    body->input_begin = c->inputs, body->input_count = b->input_count, c->inputs += b->input_count;
    body->triangle_begin = c->triangles, body->triangle_count = b->triangle_count, c->triangles += b->triangle_count;
    body->edge_begin = c->surface_edges, body->edge_count = b->surface_edge_count,
    c->surface_edges += b->surface_edge_count;
    for (k = 0; k < IPBDX_STORES; ++k) {
        body->group_begin[k] = c->groups[k], body->group_count[k] = b->group_count[k];
        c->groups[k] += b->group_count[k];
    }
    for (k = 0; k < IPBDX_KINDS; ++k) body->constraint_count[k] = b->constraint_count[k];
    body->slab_begin = c->slabs, body->slab_interior = b->slab_interior, body->slab_count = b->slab_count;
    c->slabs += b->slab_count;
}
/* What would overflow, in words; NULL if everything fits. */
static const char *ipbdx_no_room(const ipbd_world *world, const ipbdx_build *b) {
    const ipbd_capacity *c = &world->desc.capacity;
    const ipbdx_counts *n = &world->counts;
    static const char *const stores[IPBDX_STORES] = {
        "raise capacity.edges", "raise capacity.dihedral_bends", "raise capacity.isometric_bends",
        "raise capacity.volume_tetrahedra", "raise capacity.elastic_tetrahedra"};
    int k;
    if (n->vertices + b->vertex_count > c->vertices) return "raise capacity.vertices";
    if (n->inputs + b->input_count > c->input_vertices) return "raise capacity.input_vertices";
    if (n->triangles + b->triangle_count > c->triangles || n->surface_edges + b->surface_edge_count > 3 * c->triangles)
        return "raise capacity.triangles";
    if (n->slabs + b->slab_count > c->slabs) return "raise capacity.slabs";
    for (k = 0; k < IPBDX_STORES; ++k)
        if (n->groups[k] + b->group_count[k] > ipbdx_store_room(c, k)) return stores[k];
    return NULL;
}
static int ipbdx_free_body_slot(const ipbd_world *world) {
    int slot;
    for (slot = 0; slot < world->counts.bodies; ++slot)
        if (!world->bodies[slot].used) return slot;
    return slot < world->desc.capacity.bodies ? slot : -1;
}
static double ipbdx_shape_volume(const ipbd_world *world, const ipbdx_body *body);
static float ipbdx_stiffest(const ipbd_world *world, const ipbdx_body *body);

static uint32_t ipbdx_commit(ipbd_world *world, const ipbdx_build *b, int slot) {
    ipbdx_body *body = world->bodies + slot;
    uint32_t generation = slot < world->counts.bodies ? body->generation : 0u;
    int i;
    memset(body, 0, sizeof *body);
    body->generation = generation, body->used = 1;
    ipbdx_body_material(body, b->desc);
    body->tether_slack = body->tether_stretch = ipbdx_find_slack(b);
    body->closed = b->closed ? 1u : 0u;
    body->report = b->report;
    ipbdx_commit_constraints(world, b);
    ipbdx_commit_vertices(world, b, slot);
    ipbdx_commit_surface(world, b, slot);
    for (i = 0; i < b->slab_count; ++i)
        world->slabs[world->counts.slabs + i] = b->slabs[i], world->slabs[world->counts.slabs + i].body = slot;
    ipbdx_body_ranges(world, body, b);
    world->counts.bodies = isphpbdx_maxi(world->counts.bodies, slot + 1);
    body->rest_volume = (float)ipbdx_shape_volume(world, body);
    body->lambda_h = 0.0f;
    for (i = 0; i < b->desc->pinned_count; ++i) {
        int v = body->vertex_begin + (int)b->map[b->desc->pinned[i]];
        world->pins[v].pinned = 1, world->pins[v].from = world->pins[v].to = world->rests[v];
        world->inverse_masses[v] = world->positions[4 * (size_t)v + 3] = 0.0f;
        ipbdx_put3(world->velocities + 4 * (size_t)v, ipbdx_zero3());
    }
    body->tethers_stale = body->stiffest_stale = 1;
    world->pairs_stale = true;
    return ipbdx_handle(generation, slot);
}
static isphpbd_result ipbdx_body_admit(ipbd_world *world, const ipbdx_build *b, int *slot) {
    const char *full = ipbdx_no_room(world, b);
    *slot = ipbdx_free_body_slot(world);
    if (*slot < 0) full = "raise capacity.bodies";
    if (full) return ipbdx_refuse(&world->desc.logger, ISPHPBD_CAPACITY, full);
    if (b->desc->balloon.measure != IPBD_ABSENT && !b->closed)
        return ipbdx_refuse(&world->desc.logger, ISPHPBD_BAD_MESH, "a balloon needs a closed surface");
    return ISPHPBD_OK;
}
/* What is allowed and yet hardly meant. */
static void ipbdx_body_advise(const ipbd_world *world, const ipbdx_build *b, const ipbdx_body *body) {
    const float h = IPBDX_USUAL_STEP / (float)world->desc.substeps;
    const float sweeps = IPBDX_SWEEPS * ipbdx_stiffest(world, body) * h * h;
    const ipbd_mesh_report *r = &b->report;
    if (r->degenerate_triangles + r->duplicate_triangles + r->flipped_triangles + r->inverted_tetrahedra +
        r->duplicate_tetrahedra + r->duplicate_lines)
        ipbdx_say(world, ISPHPBD_OK, "the mesh was repaired: see ipbd_body_report");
    if (!b->tetrahedron_count && b->triangle_count && !b->desc->masses && b->desc->density > IPBDX_HEAVY_SHEET)
        ipbdx_say(world, ISPHPBD_OK, "density of triangles is kg/m^2: is this that of a solid, in kg/m^3?");
    if (b->desc->overpressure != 0.0f && !b->closed)
        ipbdx_say(world, ISPHPBD_OK, "overpressure on a surface that is not closed pushes all of it away");
    if (body->warm_start > 0.0f && sweeps > IPBDX_SOFTER * (float)IPBDX_MOST_SWEEPS)
        ipbdx_say(world, ISPHPBD_OK,
                  "an elastic body is too stiff for the substeps of a 60th of a second: it will be softer than its "
                  "material; more substeps or larger elements help");
}
ISPHPBD_API ipbd_body ipbd_body_create(ipbd_world *world, const ipbd_body_desc *desc, isphpbd_result *why) {
    ipbd_body handle;
    ipbdx_build build;
    isphpbd_result result = desc ? ipbdx_open_wide(world) : ISPHPBD_BAD_ARGUMENT;
    void *block = NULL;
    size_t bytes = 0;
    int slot;
    handle.id = 0;
    if (result == ISPHPBD_OK) {
        memset(&build, 0, sizeof build);
        build.desc = desc, build.logger = world->desc.logger;
        result = ipbdx_build_run(&build, &world->desc.allocator, &block, &bytes);
        if (result == ISPHPBD_OK) result = ipbdx_body_admit(world, &build, &slot);
        if (result == ISPHPBD_OK) handle.id = ipbdx_commit(world, &build, slot);
        if (result == ISPHPBD_OK) ipbdx_body_advise(world, &build, world->bodies + slot);
        ipbdx_build_free(&world->desc.allocator, block, bytes);
    }
    if (why) *why = result;
    return handle;
}

/* ---- [kernels] four constraints at a time ---------------------------------------------------------------------------
   XPBD (Macklin et al. 2016): dlambda = (-C - a lambda) / (sum w |grad C|^2 + a), dx = w grad C dlambda, a = alpha /
   h^2. Guards are positive tests, so a NaN stays where it is. */

typedef enum ipbdx_mode { IPBDX_FIRST = 0, IPBDX_AGAIN, IPBDX_APPLY } ipbdx_mode;
typedef struct ipbdx_pass {
    ipbdx_mode mode; /* FIRST: multipliers are taken as zero. APPLY: they stay, and only act on the positions */
    float h2, inverse_h2, hardening;
} ipbdx_pass;

/* Compliance at this length of a spring whose force is K x (1 + hardening * strain^2), up to a last stiffness. */
ISPHPBD_INLINE isphpbdx_f4 ipbdx_hardened(isphpbdx_f4 alpha, isphpbdx_f4 rest, isphpbdx_f4 length, float hardening) {
    const isphpbdx_f4 x = IPBDX_SUB(length, rest), rest2 = IPBDX_MUL(rest, rest), x2 = IPBDX_MUL(x, x);
    const isphpbdx_f4 more =
        isphpbdx_f4_min(IPBDX_MUL(IPBDX_ALL(hardening), x2), IPBDX_MUL(IPBDX_ALL(IPBDX_HARDENING), rest2));
    return isphpbdx_f4_div(IPBDX_MUL(alpha, rest2), isphpbdx_f4_max(IPBDX_ADD(rest2, more), IPBDX_ALL(1e-30f)));
}
static void ipbdx_solve_edges(float *x, ipbdx_edges *g, ipbdx_edges *end, ipbdx_pass pass) {
    const isphpbdx_f4 tiny = IPBDX_ALL(IPBDX_TINY), zero = IPBDX_ALL(0.0f), inverse_h2 = IPBDX_ALL(pass.inverse_h2);
    for (; g < end; ++g) {
        ipbdx_p4 a = ipbdx_gather(x, g->v[0]), b = ipbdx_gather(x, g->v[1]);
        ipbdx_v4 d = ipbdx_v4_sub(a.p, b.p);
        isphpbdx_f4 length = isphpbdx_f4_sqrt(ipbdx_v4_dot(d, d)), lambda, den, s;
        if (pass.mode == IPBDX_APPLY) {
            s = ipbdx_f4_select_gt(length, tiny, isphpbdx_f4_div(isphpbdx_f4_load(g->lambda), length), zero);
        } else {
            isphpbdx_f4 alpha = IPBDX_MUL(isphpbdx_f4_load(g->alpha), inverse_h2);
            if (pass.hardening > 0.0f) alpha = ipbdx_hardened(alpha, isphpbdx_f4_load(g->rest), length, pass.hardening);
            lambda = pass.mode == IPBDX_FIRST ? zero : isphpbdx_f4_load(g->lambda);
            s = IPBDX_SUB(IPBDX_SUB(isphpbdx_f4_load(g->rest), length), IPBDX_MUL(alpha, lambda));
            den = IPBDX_MUL(IPBDX_ADD(IPBDX_ADD(a.w, b.w), alpha), length);
            s = ipbdx_f4_select_gt(den, tiny, isphpbdx_f4_div(s, den), zero);
            isphpbdx_f4_store(g->lambda, IPBDX_ADD(lambda, IPBDX_MUL(s, length)));
        }
        a.p = ipbdx_v4_madd(a.p, d, IPBDX_MUL(s, a.w));
        b.p = ipbdx_v4_madd(b.p, d, IPBDX_SUB(zero, IPBDX_MUL(s, b.w)));
        ipbdx_scatter(x, g->v[0], a);
        ipbdx_scatter(x, g->v[1], b);
    }
}

/* The step of one multiplier: error C, sum of w |grad|^2, and where lambda is kept. */
IPBDX_HOT isphpbdx_f4 ipbdx_multiplier(float *stored, const float *alphas, isphpbdx_f4 error, isphpbdx_f4 weight,
                                       const ipbdx_pass *pass) {
    const isphpbdx_f4 zero = IPBDX_ALL(0.0f);
    isphpbdx_f4 alpha, lambda, den, step;
    if (pass->mode == IPBDX_APPLY) return isphpbdx_f4_load(stored);
    alpha = IPBDX_MUL(isphpbdx_f4_load(alphas), IPBDX_ALL(pass->inverse_h2));
    lambda = pass->mode == IPBDX_FIRST ? zero : isphpbdx_f4_load(stored);
    den = IPBDX_ADD(weight, alpha);
    step = IPBDX_SUB(IPBDX_SUB(zero, error), IPBDX_MUL(alpha, lambda));
    step = ipbdx_f4_select_gt(den, IPBDX_ALL(IPBDX_TINY), isphpbdx_f4_div(step, den), zero);
    isphpbdx_f4_store(stored, IPBDX_ADD(lambda, step));
    return step;
}
IPBDX_HOT isphpbdx_f4 ipbdx_weight4(const ipbdx_p4 *p, const ipbdx_v4 *gradient) {
    isphpbdx_f4 a = IPBDX_ADD(IPBDX_MUL(p[0].w, ipbdx_v4_dot(gradient[0], gradient[0])),
                              IPBDX_MUL(p[1].w, ipbdx_v4_dot(gradient[1], gradient[1])));
    isphpbdx_f4 b = IPBDX_ADD(IPBDX_MUL(p[2].w, ipbdx_v4_dot(gradient[2], gradient[2])),
                              IPBDX_MUL(p[3].w, ipbdx_v4_dot(gradient[3], gradient[3])));
    return IPBDX_ADD(a, b);
}
/* Written out: at -O2 compilers keep short loops, and the vectors would live in memory. */
IPBDX_HOT void ipbdx_gather4(const float *x, uint32_t v[4][4], ipbdx_p4 *p) {
    p[0] = ipbdx_gather(x, v[0]), p[1] = ipbdx_gather(x, v[1]);
    p[2] = ipbdx_gather(x, v[2]), p[3] = ipbdx_gather(x, v[3]);
}
/* p, as it was gathered, moves by w direction step, and back to memory. With 16 registers it costs less to add the
   steps to the rows in memory than to hold all positions until then (gcc 12: volumes 12 % less time, isometric bends
   6). All rows are read before one is written, for the lanes that repeat another. */
IPBDX_HOT void ipbdx_move_to(float *x, const uint32_t *v, ipbdx_p4 p, ipbdx_v4 direction, isphpbdx_f4 step) {
#ifdef ISPHPBDX_SSE2
    const ipbdx_v4 d = ipbdx_v4_scale(direction, IPBDX_MUL(p.w, step));
    float *a = x + 4 * (size_t)v[0], *b = x + 4 * (size_t)v[1], *c = x + 4 * (size_t)v[2], *e = x + 4 * (size_t)v[3];
    __m128 r0 = d.x, r1 = d.y, r2 = d.z, r3 = _mm_setzero_ps();
    _MM_TRANSPOSE4_PS(r0, r1, r2, r3);
    r0 = IPBDX_ADD(_mm_load_ps(a), r0), r1 = IPBDX_ADD(_mm_load_ps(b), r1);
    r2 = IPBDX_ADD(_mm_load_ps(c), r2), r3 = IPBDX_ADD(_mm_load_ps(e), r3);
    _mm_store_ps(a, r0), _mm_store_ps(b, r1), _mm_store_ps(c, r2), _mm_store_ps(e, r3);
#else
    p.p = ipbdx_v4_madd(p.p, direction, IPBDX_MUL(p.w, step));
    ipbdx_scatter(x, v, p);
#endif
}
IPBDX_HOT void ipbdx_scatter4(float *x, uint32_t v[4][4], const ipbdx_p4 *p, const ipbdx_v4 *gradient,
                              isphpbdx_f4 step) {
    ipbdx_move_to(x, v[0], p[0], gradient[0], step), ipbdx_move_to(x, v[1], p[1], gradient[1], step);
    ipbdx_move_to(x, v[2], p[2], gradient[2], step), ipbdx_move_to(x, v[3], p[3], gradient[3], step);
}
IPBDX_HOT ipbdx_v4 ipbdx_v4_sum(ipbdx_v4 a, ipbdx_v4 b, ipbdx_v4 c) {
    ipbdx_v4 r;
    r.x = IPBDX_ADD(IPBDX_ADD(a.x, b.x), c.x), r.y = IPBDX_ADD(IPBDX_ADD(a.y, b.y), c.y);
    r.z = IPBDX_ADD(IPBDX_ADD(a.z, b.z), c.z);
    return r;
}
IPBDX_HOT ipbdx_v4 ipbdx_v4_minus(ipbdx_v4 a) {
    const isphpbdx_f4 zero = IPBDX_ALL(0.0f);
    a.x = IPBDX_SUB(zero, a.x), a.y = IPBDX_SUB(zero, a.y), a.z = IPBDX_SUB(zero, a.z);
    return a;
}

/* C = (p1-p0) x (p2-p0) . (p3-p0) - 6 rest; compliances are those of the volume itself, hence the 36. */
static void ipbdx_solve_volumes(float *x, ipbdx_quads *g, ipbdx_quads *end, ipbdx_pass pass) {
    const isphpbdx_f4 six = IPBDX_ALL(6.0f), zero = IPBDX_ALL(0.0f);
    pass.inverse_h2 *= 36.0f;
    for (; g < end; ++g) {
        ipbdx_p4 p[4];
        ipbdx_v4 gradient[4], e1, e2, e3;
        isphpbdx_f4 error, step;
        ipbdx_gather4(x, g->v, p);
        e1 = ipbdx_v4_sub(p[1].p, p[0].p), e2 = ipbdx_v4_sub(p[2].p, p[0].p), e3 = ipbdx_v4_sub(p[3].p, p[0].p);
        gradient[1] = ipbdx_v4_cross(e2, e3), gradient[2] = ipbdx_v4_cross(e3, e1),
        gradient[3] = ipbdx_v4_cross(e1, e2);
        gradient[0] = ipbdx_v4_sum(gradient[1], gradient[2], gradient[3]); /* minus it, and minus its step */
        error = IPBDX_SUB(ipbdx_v4_dot(gradient[1], e1), IPBDX_MUL(six, isphpbdx_f4_load(g->rest)));
        step = ipbdx_multiplier(g->lambda, g->alpha, error, ipbdx_weight4(p, gradient), &pass);
        ipbdx_move_to(x, g->v[0], p[0], gradient[0], IPBDX_SUB(zero, step));
        ipbdx_move_to(x, g->v[1], p[1], gradient[1], step), ipbdx_move_to(x, g->v[2], p[2], gradient[2], step);
        ipbdx_move_to(x, g->v[3], p[3], gradient[3], step);
    }
}

/* Do its edges alone keep a body's motions from growing? Plastic ones give way, and so do soft ones. Measured, energy
   grows from 40 times this limit on. */
static bool ipbdx_edges_hold(const ipbdx_body *body, const ipbdx_pass *pass) {
    return !(body->plastic_creep > 0.0f) && body->softest * pass->inverse_h2 <= IPBDX_EDGES_HOLD;
}
/* One way alone gives energy to bodies that nothing else holds back: where constraints allow nothing, a sweep is a
   product of projections, whose eigenvalues p may be complex, and a motion of z^2 = p (2 z - 1) from substep to substep
   then grows. They are swept there and back: the product of a way and its reverse is symmetric, p is in [0, 1], and
   |z|^2 = p. */
static void ipbdx_sweep_volumes(float *x, ipbdx_quads *begin, ipbdx_quads *end, ipbdx_pass pass, bool back) {
    ipbdx_solve_volumes(x, begin, end, pass);
    if (!back) return;
    pass.mode = IPBDX_AGAIN;
    for (--end; end > begin; --end) ipbdx_solve_volumes(x, end - 1, end, pass);
}

/* C = |sum k_i p_i| - rest: the vector is the curvature at the edge, times its length. */
static void ipbdx_solve_isometrics(float *x, ipbdx_isometrics *g, ipbdx_isometrics *end, ipbdx_pass pass) {
    const isphpbdx_f4 tiny = IPBDX_ALL(1e-12f), zero = IPBDX_ALL(0.0f);
    for (; g < end; ++g) {
        ipbdx_p4 p[4];
        ipbdx_v4 curl;
        isphpbdx_f4 k0 = isphpbdx_f4_load(g->k[0]), k1 = isphpbdx_f4_load(g->k[1]), k2 = isphpbdx_f4_load(g->k[2]);
        isphpbdx_f4 k3 = isphpbdx_f4_load(g->k[3]), weight, length, step;
        ipbdx_gather4(x, g->v, p);
        weight = IPBDX_ADD(IPBDX_MUL(p[0].w, IPBDX_MUL(k0, k0)), IPBDX_MUL(p[1].w, IPBDX_MUL(k1, k1)));
        weight =
            IPBDX_ADD(weight, IPBDX_ADD(IPBDX_MUL(p[2].w, IPBDX_MUL(k2, k2)), IPBDX_MUL(p[3].w, IPBDX_MUL(k3, k3))));
        curl = ipbdx_v4_scale(ipbdx_v4_sub(p[0].p, p[3].p), k0); /* the k sum to zero: differences keep the digits */
        curl = ipbdx_v4_madd(curl, ipbdx_v4_sub(p[1].p, p[3].p), k1);
        curl = ipbdx_v4_madd(curl, ipbdx_v4_sub(p[2].p, p[3].p), k2);
        length = isphpbdx_f4_sqrt(ipbdx_v4_dot(curl, curl));
        step = ipbdx_multiplier(g->lambda, g->alpha, IPBDX_SUB(length, isphpbdx_f4_load(g->rest)), weight, &pass);
        step = ipbdx_f4_select_gt(length, tiny, isphpbdx_f4_div(step, length), zero);
        ipbdx_move_to(x, g->v[0], p[0], curl, IPBDX_MUL(k0, step));
        ipbdx_move_to(x, g->v[1], p[1], curl, IPBDX_MUL(k1, step));
        ipbdx_move_to(x, g->v[2], p[2], curl, IPBDX_MUL(k2, step));
        ipbdx_move_to(x, g->v[3], p[3], curl, IPBDX_MUL(k3, step));
    }
}

/* Four angles of (y, x): the polynomial of ipbdx_atan2, without branches. */
static isphpbdx_f4 ipbdx_f4_atan2(isphpbdx_f4 y, isphpbdx_f4 x) {
    static const float c[8] = {-0.004054058f,  0.0218612288f, -0.0559098861f, 0.0964200441f,
                               -0.1390853351f, 0.1994653599f, -0.3332985605f, 0.9999993329f};
    const isphpbdx_f4 zero = IPBDX_ALL(0.0f);
    isphpbdx_f4 ax = isphpbdx_f4_max(x, IPBDX_SUB(zero, x)), ay = isphpbdx_f4_max(y, IPBDX_SUB(zero, y));
    isphpbdx_f4 big = isphpbdx_f4_max(isphpbdx_f4_max(ax, ay), IPBDX_ALL(IPBDX_TINY)),
                t = isphpbdx_f4_div(isphpbdx_f4_min(ax, ay), big);
    isphpbdx_f4 s = IPBDX_MUL(t, t), r = IPBDX_ALL(c[0]);
    int i;
    for (i = 1; i < 8; ++i) r = IPBDX_ADD(IPBDX_MUL(r, s), IPBDX_ALL(c[i]));
    r = IPBDX_MUL(r, t);
    r = ipbdx_f4_select_gt(ay, ax, IPBDX_SUB(IPBDX_ALL(0.5f * IPBDX_PI), r), r);
    r = ipbdx_f4_select_gt(zero, x, IPBDX_SUB(IPBDX_ALL(IPBDX_PI), r), r);
    return ipbdx_f4_select_gt(zero, y, IPBDX_SUB(zero, r), r);
}
/* Angle at edge p0 p1 between the triangles with p2 and p3, and its gradients (Bridson et al. 2003). */
ISPHPBD_INLINE isphpbdx_f4 ipbdx_dihedral4(const ipbdx_p4 *p, ipbdx_v4 *gradient) {
    const isphpbdx_f4 tiny = IPBDX_ALL(1e-30f);
    ipbdx_v4 e = ipbdx_v4_sub(p[1].p, p[0].p), a0 = ipbdx_v4_sub(p[2].p, p[0].p), a1 = ipbdx_v4_sub(p[2].p, p[1].p);
    ipbdx_v4 b0 = ipbdx_v4_sub(p[3].p, p[0].p), b1 = ipbdx_v4_sub(p[3].p, p[1].p);
    ipbdx_v4 n1 = ipbdx_v4_cross(a0, a1), n2 = ipbdx_v4_cross(b1, b0), m1, m2;
    isphpbdx_f4 length = isphpbdx_f4_sqrt(ipbdx_v4_dot(e, e)),
                inverse = isphpbdx_f4_div(IPBDX_ALL(1.0f), isphpbdx_f4_max(length, tiny));
    isphpbdx_f4 angle =
        ipbdx_f4_atan2(ipbdx_v4_dot(ipbdx_v4_cross(n1, n2), e), IPBDX_MUL(ipbdx_v4_dot(n1, n2), length));
    m1 = ipbdx_v4_scale(n1, isphpbdx_f4_div(IPBDX_ALL(1.0f), isphpbdx_f4_max(ipbdx_v4_dot(n1, n1), tiny)));
    m2 = ipbdx_v4_scale(n2, isphpbdx_f4_div(IPBDX_ALL(1.0f), isphpbdx_f4_max(ipbdx_v4_dot(n2, n2), tiny)));
    gradient[2] = ipbdx_v4_scale(m1, IPBDX_SUB(IPBDX_ALL(0.0f), length));
    gradient[3] = ipbdx_v4_scale(m2, IPBDX_SUB(IPBDX_ALL(0.0f), length));
    gradient[0] = ipbdx_v4_scale(m1, IPBDX_SUB(IPBDX_ALL(0.0f), IPBDX_MUL(ipbdx_v4_dot(a1, e), inverse)));
    gradient[0] = ipbdx_v4_madd(gradient[0], m2, IPBDX_SUB(IPBDX_ALL(0.0f), IPBDX_MUL(ipbdx_v4_dot(b1, e), inverse)));
    gradient[1] = ipbdx_v4_scale(m1, IPBDX_MUL(ipbdx_v4_dot(a0, e), inverse));
    gradient[1] = ipbdx_v4_madd(gradient[1], m2, IPBDX_MUL(ipbdx_v4_dot(b0, e), inverse));
    return angle;
}
static void ipbdx_solve_dihedrals(float *x, ipbdx_quads *g, ipbdx_quads *end, ipbdx_pass pass) {
    const isphpbdx_f4 pi = IPBDX_ALL(IPBDX_PI), turn = IPBDX_ALL(2.0f * IPBDX_PI);
    for (; g < end; ++g) {
        ipbdx_p4 p[4];
        ipbdx_v4 gradient[4];
        isphpbdx_f4 error, step;
        ipbdx_gather4(x, g->v, p);
        error = IPBDX_SUB(ipbdx_dihedral4(p, gradient), isphpbdx_f4_load(g->rest));
        error = ipbdx_f4_select_gt(error, pi, IPBDX_SUB(error, turn), error);
        error = ipbdx_f4_select_gt(IPBDX_SUB(IPBDX_ALL(0.0f), pi), error, IPBDX_ADD(error, turn), error);
        step = ipbdx_multiplier(g->lambda, g->alpha, error, ipbdx_weight4(p, gradient), &pass);
        ipbdx_scatter4(x, g->v, p, gradient, step);
    }
}

/* Elastic tetrahedra. Energy per volume mu tr(E^2) + lambda/2 (det F - 1)^2 with Green's strain E = (F^T F - I)/2:
   Hooke's law for small strains, and the second term turns inverted elements round. The multipliers are the stresses
   themselves, six for E and one for det F: zero at rest, and the forces F S g of a symmetric S have no torque, so
   momentum and angular momentum are exact. Instead of a 6 x 6 solve, the stress moves by its error over a bound of the
   response (Gershgorin's, of the matrix sum w g g^T), which never overshoots.

   Stresses are kept from substep to substep (warm start): at rest nothing is left to correct and Hooke's law holds
   exactly, whatever the step, the iterations and the masses. A stress that is not brought up to date lags behind,
   though, and a spring that lags gains energy: [substep] makes as many sweeps as that takes. */
typedef struct ipbdx_strain {
    ipbdx_v4 f[3];
    isphpbdx_f4 inverse[9], e[6], norm2;
} ipbdx_strain; /* f: columns of F */

ISPHPBD_INLINE void ipbdx_load_inverse(const ipbdx_elastics *g, ipbdx_strain *s) {
    int i;
    for (i = 0; i < 9; ++i) s->inverse[i] = isphpbdx_f4_load(g->inverse[i]);
}
ISPHPBD_INLINE void ipbdx_deform(const ipbdx_p4 *p, ipbdx_strain *s) {
    ipbdx_v4 e1 = ipbdx_v4_sub(p[1].p, p[0].p), e2 = ipbdx_v4_sub(p[2].p, p[0].p), e3 = ipbdx_v4_sub(p[3].p, p[0].p);
    int j;
    for (j = 0; j < 3; ++j) {
        s->f[j] = ipbdx_v4_scale(e1, s->inverse[j]);
        s->f[j] = ipbdx_v4_madd(s->f[j], e2, s->inverse[3 + j]);
        s->f[j] = ipbdx_v4_madd(s->f[j], e3, s->inverse[6 + j]);
    }
}
ISPHPBD_INLINE void ipbdx_green_strain(ipbdx_strain *s) {
    const isphpbdx_f4 half = IPBDX_ALL(0.5f), one = IPBDX_ALL(1.0f);
    isphpbdx_f4 xx = ipbdx_v4_dot(s->f[0], s->f[0]), yy = ipbdx_v4_dot(s->f[1], s->f[1]),
                zz = ipbdx_v4_dot(s->f[2], s->f[2]);
    s->norm2 = IPBDX_ADD(IPBDX_ADD(xx, yy), zz);
    s->e[0] = IPBDX_MUL(half, IPBDX_SUB(xx, one)), s->e[1] = IPBDX_MUL(half, IPBDX_SUB(yy, one)),
    s->e[2] = IPBDX_MUL(half, IPBDX_SUB(zz, one));
    s->e[3] = IPBDX_MUL(half, ipbdx_v4_dot(s->f[0], s->f[1])),
    s->e[4] = IPBDX_MUL(half, ipbdx_v4_dot(s->f[0], s->f[2]));
    s->e[5] = IPBDX_MUL(half, ipbdx_v4_dot(s->f[1], s->f[2]));
}
/* Columns of F S for symmetric S. */
ISPHPBD_INLINE void ipbdx_times_symmetric(const ipbdx_v4 *f, const isphpbdx_f4 *s, ipbdx_v4 *out) {
    out[0] = ipbdx_v4_madd(ipbdx_v4_madd(ipbdx_v4_scale(f[0], s[0]), f[1], s[3]), f[2], s[4]);
    out[1] = ipbdx_v4_madd(ipbdx_v4_madd(ipbdx_v4_scale(f[0], s[3]), f[1], s[1]), f[2], s[5]);
    out[2] = ipbdx_v4_madd(ipbdx_v4_madd(ipbdx_v4_scale(f[0], s[4]), f[1], s[5]), f[2], s[2]);
}
/* out_i = P g_i, the push of a stress on the four vertices. */
ISPHPBD_INLINE void ipbdx_push_of(const ipbdx_v4 *stress, const isphpbdx_f4 *inverse, ipbdx_v4 *out) {
    int i;
    for (i = 0; i < 3; ++i)
        out[i + 1] =
            ipbdx_v4_madd(ipbdx_v4_madd(ipbdx_v4_scale(stress[0], inverse[3 * i]), stress[1], inverse[3 * i + 1]),
                          stress[2], inverse[3 * i + 2]);
    out[0] = ipbdx_v4_minus(ipbdx_v4_sum(out[1], out[2], out[3]));
}
ISPHPBD_INLINE isphpbdx_f4 ipbdx_f4_abs(isphpbdx_f4 a) { return isphpbdx_f4_max(a, IPBDX_SUB(IPBDX_ALL(0.0f), a)); }

/* Largest row sum of |sum w g g^T|: no response is stronger. */
ISPHPBD_INLINE isphpbdx_f4 ipbdx_response(const ipbdx_p4 *p, const isphpbdx_f4 *q) {
    static const uint8_t rows[6] = {0, 1, 2, 0, 0, 1}, columns[6] = {0, 1, 2, 1, 2, 2};
    isphpbdx_f4 m[6], g0[3], xy, xz, yz;
    int i, k;
    for (k = 0; k < 3; ++k) g0[k] = IPBDX_ADD(IPBDX_ADD(q[k], q[3 + k]), q[6 + k]);
    for (k = 0; k < 6; ++k) {
        m[k] = IPBDX_MUL(p[0].w, IPBDX_MUL(g0[rows[k]], g0[columns[k]]));
        for (i = 0; i < 3; ++i)
            m[k] = IPBDX_ADD(m[k], IPBDX_MUL(p[i + 1].w, IPBDX_MUL(q[3 * i + rows[k]], q[3 * i + columns[k]])));
    }
    xy = ipbdx_f4_abs(m[3]), xz = ipbdx_f4_abs(m[4]), yz = ipbdx_f4_abs(m[5]);
    return isphpbdx_f4_max(IPBDX_ADD(m[0], IPBDX_ADD(xy, xz)),
                           isphpbdx_f4_max(IPBDX_ADD(m[1], IPBDX_ADD(xy, yz)), IPBDX_ADD(m[2], IPBDX_ADD(xz, yz))));
}
ISPHPBD_INLINE void ipbdx_move4(ipbdx_p4 *p, const ipbdx_v4 *push) {
    int i;
    for (i = 0; i < 4; ++i) p[i].p = ipbdx_v4_madd(p[i].p, push[i], p[i].w);
}
/* The six stresses of E, and the vertices with them. */
ISPHPBD_INLINE void ipbdx_relax_stress(ipbdx_p4 *p, ipbdx_elastics *g, ipbdx_strain *s, const ipbdx_pass *pass) {
    const isphpbdx_f4 one = IPBDX_ALL(1.0f), zero = IPBDX_ALL(0.0f);
    isphpbdx_f4 k = IPBDX_MUL(isphpbdx_f4_load(g->shear), IPBDX_ALL(pass->h2)), step[6], resolved, over;
    ipbdx_v4 stress[3], push[4];
    int i;
    ipbdx_deform(p, s);
    ipbdx_green_strain(s);
    resolved = IPBDX_MUL(
        k, IPBDX_MUL(ipbdx_response(p, s->inverse), isphpbdx_f4_max(one, IPBDX_MUL(s->norm2, IPBDX_ALL(1.0f / 3.0f)))));
    over = isphpbdx_f4_div(one, IPBDX_ADD(one, resolved));
    for (i = 0; i < 6; ++i) {
        isphpbdx_f4 old = pass->mode == IPBDX_FIRST ? zero : isphpbdx_f4_load(g->stress[i]);
        step[i] = IPBDX_MUL(IPBDX_SUB(zero, IPBDX_ADD(IPBDX_MUL(k, s->e[i]), old)), over);
        isphpbdx_f4_store(g->stress[i], IPBDX_ADD(old, step[i]));
    }
    ipbdx_times_symmetric(s->f, step, stress);
    ipbdx_push_of(stress, s->inverse, push);
    ipbdx_move4(p, push);
}
/* cofactors: columns of d det F / dF; answers det F. */
ISPHPBD_INLINE isphpbdx_f4 ipbdx_cofactors(const ipbdx_strain *s, ipbdx_v4 *cofactors) {
    cofactors[0] = ipbdx_v4_cross(s->f[1], s->f[2]), cofactors[1] = ipbdx_v4_cross(s->f[2], s->f[0]),
    cofactors[2] = ipbdx_v4_cross(s->f[0], s->f[1]);
    return ipbdx_v4_dot(cofactors[0], s->f[0]);
}
/* The pressure of det F. A crushed element gets the shear stiffness on top, so that also materials without lateral
   contraction turn round. */
ISPHPBD_INLINE void ipbdx_relax_pressure(ipbdx_p4 *p, ipbdx_elastics *g, ipbdx_strain *s, const ipbdx_pass *pass) {
    const isphpbdx_f4 one = IPBDX_ALL(1.0f), zero = IPBDX_ALL(0.0f), h2 = IPBDX_ALL(pass->h2);
    isphpbdx_f4 k, j, step, old;
    ipbdx_v4 cofactors[3], push[4];
    int i;
    ipbdx_deform(p, s);
    j = ipbdx_cofactors(s, cofactors);
    k = isphpbdx_f4_load(g->bulk);
    k = IPBDX_MUL(h2, IPBDX_ADD(k, ipbdx_f4_select_gt(IPBDX_ALL(0.2f), j, isphpbdx_f4_load(g->shear), zero)));
    ipbdx_push_of(cofactors, s->inverse, push);
    old = pass->mode == IPBDX_FIRST ? zero : isphpbdx_f4_load(g->pressure);
    step = IPBDX_SUB(zero, IPBDX_ADD(IPBDX_MUL(k, IPBDX_SUB(j, one)), old));
    step = isphpbdx_f4_div(step, IPBDX_ADD(one, IPBDX_MUL(k, ipbdx_weight4(p, push))));
    isphpbdx_f4_store(g->pressure, IPBDX_ADD(old, step));
    for (i = 0; i < 4; ++i) push[i] = ipbdx_v4_scale(push[i], step);
    ipbdx_move4(p, push);
}
/* What the stored stresses push: the sum of both parts. */
ISPHPBD_INLINE void ipbdx_stored_push(const ipbdx_elastics *g, const ipbdx_strain *s, ipbdx_v4 *push) {
    isphpbdx_f4 stress[6], pressure = isphpbdx_f4_load(g->pressure);
    ipbdx_v4 columns[3], cofactors[3];
    int i;
    for (i = 0; i < 6; ++i) stress[i] = isphpbdx_f4_load(g->stress[i]);
    ipbdx_times_symmetric(s->f, stress, columns);
    (void)ipbdx_cofactors(s, cofactors);
    for (i = 0; i < 3; ++i) columns[i] = ipbdx_v4_madd(columns[i], cofactors[i], pressure);
    ipbdx_push_of(columns, s->inverse, push);
}
static void ipbdx_solve_elastics(float *x, ipbdx_elastics *g, ipbdx_elastics *end, ipbdx_pass pass) {
    int i;
    for (; g < end; ++g) {
        ipbdx_p4 p[4];
        ipbdx_strain s;
        ipbdx_gather4(x, g->v, p);
        ipbdx_load_inverse(g, &s);
        if (pass.mode == IPBDX_APPLY) {
            ipbdx_v4 push[4];
            ipbdx_deform(p, &s);
            ipbdx_stored_push(g, &s, push);
            ipbdx_move4(p, push);
        } else {
            ipbdx_relax_stress(p, g, &s, &pass);
            ipbdx_relax_pressure(p, g, &s, &pass);
        }
        for (i = 0; i < 4; ++i) ipbdx_scatter(x, g->v[i], p[i]);
    }
}
ISPHPBD_INLINE isphpbdx_f4 ipbdx_f4_square3(const ipbdx_v4 *f) {
    return IPBDX_ADD(ipbdx_v4_dot(f[0], f[0]), IPBDX_ADD(ipbdx_v4_dot(f[1], f[1]), ipbdx_v4_dot(f[2], f[2])));
}
/* Warm start: `share` of the last stress pushes the velocities from the positions at which the substep begins. The push
   grows with F: beyond twice its size (|F|^2 = 12) an element keeps as much less of its stress. Nearly flat ones get
   there by a small motion of one corner, and would drive themselves further. */
static void ipbdx_warm_elastics(const float *x, float *velocities, ipbdx_elastics *g, ipbdx_elastics *end, float share,
                                float inverse_h) {
    const isphpbdx_f4 over_h = IPBDX_ALL(inverse_h), limit = IPBDX_ALL(12.0f);
    isphpbdx_f4 keep;
    int i;
    for (; g < end; ++g) {
        ipbdx_p4 p[4], u;
        ipbdx_strain s;
        ipbdx_v4 push[4];
        ipbdx_gather4(x, g->v, p);
        ipbdx_load_inverse(g, &s);
        ipbdx_deform(p, &s);
        keep = ipbdx_f4_square3(s.f);
        keep = ipbdx_f4_select_gt(keep, limit, isphpbdx_f4_div(limit, keep), IPBDX_ALL(1.0f));
        keep = IPBDX_MUL(keep, IPBDX_ALL(share));
        for (i = 0; i < 6; ++i) isphpbdx_f4_store(g->stress[i], IPBDX_MUL(isphpbdx_f4_load(g->stress[i]), keep));
        isphpbdx_f4_store(g->pressure, IPBDX_MUL(isphpbdx_f4_load(g->pressure), keep));
        ipbdx_stored_push(g, &s, push);
        for (i = 0; i < 4; ++i) {
            u = ipbdx_gather(velocities, g->v[i]);
            u.p = ipbdx_v4_madd(u.p, push[i], IPBDX_MUL(p[i].w, over_h));
            ipbdx_scatter(velocities, g->v[i], u);
        }
    }
}

static void ipbdx_solve_kind(const ipbd_world *world, const ipbdx_body *body, int kind, int begin, int end,
                             ipbdx_pass pass) {
    float *x = world->positions + 4 * (size_t)body->vertex_begin;
    int store = ipbdx_store_of(kind), base = body->group_begin[store];
    if (begin == end) return;
    switch (kind) {
        case IPBDX_DIHEDRAL:
            ipbdx_solve_dihedrals(x, world->dihedrals + base + begin, world->dihedrals + base + end, pass);
            break;
        case IPBDX_ISOMETRIC:
            ipbdx_solve_isometrics(x, world->isometrics + base + begin, world->isometrics + base + end, pass);
            break;
        case IPBDX_VOLUME:
            ipbdx_sweep_volumes(x, world->volumes + base + begin, world->volumes + base + end, pass,
                                !ipbdx_edges_hold(body, &pass));
            break;
        case IPBDX_ELASTIC:
            ipbdx_solve_elastics(x, world->elastics + base + begin, world->elastics + base + end, pass);
            break;
        default: ipbdx_solve_edges(x, world->edges + base + begin, world->edges + base + end, pass); break;
    }
}

/* What the constraints of a group do to their vertices, in N: the kernel itself runs on a copy in which every vertex
   has the inverse mass 1/h^2 and only applies the multipliers; what moved is the force. */
typedef struct ipbdx_forces {
    int count;
    uint32_t v[16];
    isphpbd_vec3 force[16];
} ipbdx_forces;

static void ipbdx_group_forces(const ipbd_world *world, const ipbdx_body *body, int kind, int group,
                               ipbdx_forces *out) {
    union {
        ipbdx_edges e;
        ipbdx_quads q;
        ipbdx_isometrics i;
        ipbdx_elastics t;
    } copy;
    const float *x = world->positions + 4 * (size_t)body->vertex_begin;
    float local[16 * 4 + 4], *aligned = local;
    int store = ipbdx_store_of(kind), k, corners = ipbdx_kinds_vertices(kind), filled = 0, lanes = 1;
    ipbdx_pass pass;
    while ((uintptr_t)aligned & 15u) ++aligned;
    memcpy(&copy, ipbdx_store_base(world, store) + (size_t)(body->group_begin[store] + group) * ipbdx_store_size(store),
           ipbdx_store_size(store));
    for (k = 0; k < 4 * corners; ++k) { /* v is first in every group, four lanes for each corner */
        out->v[k] = copy.q.v[k / 4][k % 4], copy.q.v[k / 4][k % 4] = (uint32_t)k;
        memcpy(aligned + 4 * k, x + 4 * (size_t)out->v[k], 12);
        aligned[4 * k + 3] = body->lambda_h > 0.0f ? 1.0f / (body->lambda_h * body->lambda_h) : 0.0f;
    }
    pass.mode = IPBDX_APPLY, pass.h2 = pass.inverse_h2 = pass.hardening = 0.0f;
    switch (store) {
        case IPBDX_EDGES: ipbdx_solve_edges(aligned, &copy.e, &copy.e + 1, pass); break;
        case IPBDX_DIHEDRALS: ipbdx_solve_dihedrals(aligned, &copy.q, &copy.q + 1, pass); break;
        case IPBDX_ISOMETRICS: ipbdx_solve_isometrics(aligned, &copy.i, &copy.i + 1, pass); break;
        case IPBDX_VOLUMES: ipbdx_solve_volumes(aligned, &copy.q, &copy.q + 1, pass); break;
        default: ipbdx_solve_elastics(aligned, &copy.t, &copy.t + 1, pass); break;
    }
    for (k = 1; k < 4; ++k)
        if (out->v[k] != out->v[k - 1] || out->v[4 + k] != out->v[3 + k]) lanes = k + 1; /* the rest is padding */
    for (k = 0; k < 4 * corners; ++k) {
        if (k % 4 >= lanes) continue;
        out->force[filled] = isphpbdx_sub(ipbdx_v3(aligned + 4 * k), ipbdx_v3(x + 4 * (size_t)out->v[k]));
        out->v[filled++] = out->v[k];
    }
    out->count = filled;
}
/* Forces on host bodies through vertices fixed to them, as impulses of this substep. */
static void ipbdx_push_collider(ipbdx_collider *c, isphpbd_vec3 point, isphpbd_vec3 impulse);

static void ipbdx_collect_group(ipbd_world *world, const ipbdx_body *body, int kind, int group) {
    ipbdx_forces forces;
    int i;
    ipbdx_group_forces(world, body, kind, group, &forces);
    for (i = 0; i < forces.count; ++i) {
        int v = body->vertex_begin + (int)forces.v[i];
        uint32_t pinned = world->pins[v].pinned;
        if (pinned < 2u) continue;
        ipbdx_push_collider(world->colliders + pinned - 2u, ipbdx_v3(world->positions + 4 * (size_t)v),
                            isphpbdx_scale(forces.force[i], world->h));
    }
}
static bool ipbdx_group_attached(const ipbd_world *world, const ipbdx_body *body, int kind, int group) {
    int store = ipbdx_store_of(kind), k, corners = ipbdx_kinds_vertices(kind);
    const uint32_t *v =
        (const uint32_t *)(const void *)(ipbdx_store_base(world, store) +
                                         (size_t)(body->group_begin[store] + group) * ipbdx_store_size(store));
    for (k = 0; k < 4 * corners; ++k)
        if (world->pins[body->vertex_begin + (int)v[k]].pinned >= 2u) return true;
    return false;
}
/* The force, times h^2, with which the tethers of vertex i pull at the vertex they lead to: the k-th. */
static isphpbd_vec3 ipbdx_tether_pull(const ipbd_world *world, const ipbdx_body *body, int i, int k) {
    const ipbdx_tether *tether = world->pins[i].tethers + k;
    isphpbd_vec3 d;
    if (!(tether->pull > 0.0f)) return ipbdx_zero3();
    d = isphpbdx_sub(ipbdx_v3(world->positions + 4 * (size_t)i),
                     ipbdx_v3(world->positions + 4 * ((size_t)body->vertex_begin + tether->anchor)));
    return isphpbdx_scale(d, tether->pull / isphpbdx_max(isphpbdx_length(d), IPBDX_TINY));
}
/* The force of all tethers that lead to vertex v. */
static isphpbd_vec3 ipbdx_tether_force(const ipbd_world *world, const ipbdx_body *body, int v) {
    isphpbd_vec3 sum = ipbdx_zero3();
    int i, k;
    if (!(body->lambda_h > 0.0f)) return sum;
    for (i = body->vertex_begin; i < body->vertex_begin + body->vertex_count; ++i)
        for (k = 0; k < IPBDX_TETHERS && !world->pins[i].pinned; ++k)
            if (world->pins[i].tethers[k].anchor == (uint32_t)(v - body->vertex_begin))
                sum = isphpbdx_add(sum, ipbdx_tether_pull(world, body, i, k));
    return isphpbdx_scale(sum, 1.0f / (body->lambda_h * body->lambda_h));
}
static void ipbdx_collect_tethers(ipbd_world *world, const ipbdx_body *body) {
    int i, k;
    for (i = body->vertex_begin; i < body->vertex_begin + body->vertex_count; ++i)
        for (k = 0; k < IPBDX_TETHERS && !world->pins[i].pinned; ++k) {
            int anchor;
            if (world->pins[i].tethers[k].anchor == IPBDX_NONE) continue;
            anchor = body->vertex_begin + (int)world->pins[i].tethers[k].anchor;
            if (world->pins[anchor].pinned < 2u) continue;
            ipbdx_push_collider(world->colliders + world->pins[anchor].pinned - 2u,
                                ipbdx_v3(world->positions + 4 * (size_t)anchor),
                                isphpbdx_scale(ipbdx_tether_pull(world, body, i, k), 1.0f / world->h));
        }
}
static void ipbdx_collect_attachments(ipbd_world *world) {
    int b, i, kind, group;
    for (b = 0; b < world->active_count; ++b) {
        const ipbdx_body *body = world->bodies + world->active_bodies[b];
        if (!body->attachments) continue;
        if (body->tether_slack > 0.0f) ipbdx_collect_tethers(world, body);
        for (i = body->slab_begin; i < body->slab_begin + body->slab_count; ++i)
            for (kind = 0; kind < IPBDX_KINDS; ++kind)
                for (group = world->slabs[i].group_begin[kind]; group < world->slabs[i].group_end[kind]; ++group)
                    if (ipbdx_group_attached(world, body, kind, group)) ipbdx_collect_group(world, body, kind, group);
        for (i = body->vertex_begin; i < body->vertex_begin + body->vertex_count; ++i) /* their own weight and loads */
            if (world->pins[i].pinned >= 2u)
                ipbdx_push_collider(world->colliders + world->pins[i].pinned - 2u,
                                    ipbdx_v3(world->positions + 4 * (size_t)i),
                                    isphpbdx_madd(ipbdx_v3(world->loads + 4 * (size_t)i), world->desc.gravity,
                                                  body->gravity_scale * world->masses[i] * world->h));
    }
}
static void ipbdx_release(ipbd_world *world, int v) {
    ipbdx_body *body = world->bodies + world->vertex_body[v];
    if (world->pins[v].pinned >= 2u) --body->attachments;
    world->pins[v].pinned = 0;
    world->inverse_masses[v] = world->positions[4 * (size_t)v + 3] = 1.0f / world->masses[v];
    body->tethers_stale = 1, body->asleep = 0, body->quiet_seconds = 0.0f;
}

/* ---- [substep] the order of work ------------------------------------------------------------------------------------
   warm start -> predict -> constraints: slabs, then seams -> balloons -> hooks -> soft contacts -> tethers and
   colliders, vertex by vertex -> faces against colliders with mass, body by body -> final clamp of soft contacts ->
   velocities. Each arrow is a barrier; between barriers tasks touch disjoint vertices, so every runner gives the same
   bits. */

typedef struct ipbdx_job {
    ipbd_world *world;
    const int *slabs;
} ipbdx_job;

static ipbdx_pass ipbdx_make_pass(const ipbd_world *world, const ipbdx_body *body, int kind) {
    bool warm = kind == IPBDX_ELASTIC && body->warm_start > 0.0f;
    ipbdx_pass pass;
    pass.mode = world->iteration == 0 && !warm ? IPBDX_FIRST : IPBDX_AGAIN;
    pass.h2 = world->h * world->h, pass.inverse_h2 = 1.0f / pass.h2;
    pass.hardening = kind <= IPBDX_LINK ? body->hardening[kind] : 0.0f;
    return pass;
}
/* How far one sweep over elastic elements falls short of the substep: about the square of sound's way per substep in
   element sizes. Above one, that many sweeps are made, up to a limit; beyond it the warm start fades, which is stable
   but leaves the material softer than it should be: the tip of a beam sinks by 1 % less, and 16, 37 and 127 % more,
   where 1.5, 4, 6 and 15 times the most sweeps were needed. */
static float ipbdx_shortfall(const ipbd_world *world, const ipbdx_body *body) {
    return body->stiffest * world->h * world->h;
}
static int ipbdx_sweeps(const ipbd_world *world, const ipbdx_body *body) {
    float wanted = IPBDX_SWEEPS * ipbdx_shortfall(world, body);
    if (!(wanted > 1.0f)) return 1; /* also where a snapshot has put what is no number */
    return wanted < (float)IPBDX_MOST_SWEEPS ? (int)wanted + 1 : IPBDX_MOST_SWEEPS;
}
static float ipbdx_warm_share(const ipbd_world *world, const ipbdx_body *body) {
    float excess = IPBDX_SWEEPS * ipbdx_shortfall(world, body) / (float)IPBDX_MOST_SWEEPS;
    float ratio = body->lambda_h > 0.0f ? world->h / body->lambda_h : 0.0f; /* multipliers are forces times h^2 */
    return body->warm_start * ratio * ratio * isphpbdx_clamp(2.0f - excess, 0.5f, 1.0f);
}
/* 1/s^2: the largest stiffness times response of its elastic elements. */
static float ipbdx_stiffest(const ipbd_world *world, const ipbdx_body *body) {
    const float *x = world->positions + 4 * (size_t)body->vertex_begin;
    float stiffest = 0.0f;
    int i, lane;
    for (i = 0; i < body->group_count[IPBDX_ELASTICS]; ++i) {
        ipbdx_elastics *g = world->elastics + body->group_begin[IPBDX_ELASTICS] + i;
        isphpbdx_f4 inverse[9];
        ipbdx_p4 p[4];
        float response[4];
        for (lane = 0; lane < 9; ++lane) inverse[lane] = isphpbdx_f4_load(g->inverse[lane]);
        ipbdx_gather4(x, g->v, p);
        isphpbdx_f4_store(response, ipbdx_response(p, inverse));
        for (lane = 0; lane < 4; ++lane)
            stiffest = isphpbdx_max(stiffest, response[lane] * (g->shear[lane] + g->bulk[lane]));
    }
    return stiffest;
}
/* s^2: the largest compliance over response of its edges; without any 1e30. */
static float ipbdx_softest(const ipbd_world *world, const ipbdx_body *body) {
    const float *masses = world->masses + body->vertex_begin;
    float softest = 0.0f;
    int i, lane;
    for (i = 0; i < body->group_count[IPBDX_EDGES]; ++i) {
        const ipbdx_edges *g = world->edges + body->group_begin[IPBDX_EDGES] + i;
        for (lane = 0; lane < 4; ++lane) {
            const float response = 1.0f / masses[g->v[0][lane]] + 1.0f / masses[g->v[1][lane]];
            softest = isphpbdx_max(softest, g->alpha[lane] / response);
        }
    }
    return body->group_count[IPBDX_EDGES] > 0 ? softest : 1e30f;
}
static void ipbdx_resolve_task(void *context, int index) {
    const ipbdx_job *job = (const ipbdx_job *)context;
    const ipbdx_slab *slab = job->world->slabs + job->slabs[index];
    const ipbdx_body *body = job->world->bodies + slab->body;
    if (ipbdx_sweeps(job->world, body) > job->world->sweep)
        ipbdx_solve_kind(job->world, body, IPBDX_ELASTIC, slab->group_begin[IPBDX_ELASTIC],
                         slab->group_end[IPBDX_ELASTIC], ipbdx_make_pass(job->world, body, IPBDX_ELASTIC));
}
/* Once more: not the first time in this substep, whatever the iteration. */
static void ipbdx_solve_slab(ipbd_world *world, const ipbdx_slab *slab, bool once_more) {
    const ipbdx_body *body = world->bodies + slab->body;
    int kind;
    for (kind = 0; kind < IPBDX_KINDS; ++kind) {
        ipbdx_pass pass;
        if (slab->group_begin[kind] >= slab->group_end[kind]) continue;
        pass = ipbdx_make_pass(world, body, kind);
        if (once_more) pass.mode = IPBDX_AGAIN;
        ipbdx_solve_kind(world, body, kind, slab->group_begin[kind], slab->group_end[kind], pass);
    }
}
static void ipbdx_solve_task(void *context, int index) {
    const ipbdx_job *job = (const ipbdx_job *)context;
    ipbdx_solve_slab(job->world, job->world->slabs + job->slabs[index], false);
}
static void ipbdx_warm_task(void *context, int index) {
    const ipbdx_job *job = (const ipbdx_job *)context;
    const ipbdx_slab *slab = job->world->slabs + job->slabs[index];
    const ipbdx_body *body = job->world->bodies + slab->body;
    size_t first = 4 * (size_t)body->vertex_begin;
    ipbdx_elastics *groups = job->world->elastics + body->group_begin[IPBDX_ELASTICS];
    if (body->warm_start > 0.0f)
        ipbdx_warm_elastics(job->world->positions + first, job->world->velocities + first,
                            groups + slab->group_begin[IPBDX_ELASTIC], groups + slab->group_end[IPBDX_ELASTIC],
                            ipbdx_warm_share(job->world, body), 1.0f / job->world->h);
}
static void ipbdx_run_slabs(ipbd_world *world, void (*task)(void *, int), const int *slabs, int count) {
    ipbdx_job job;
    job.world = world, job.slabs = slabs;
    isphpbdx_run(&world->desc.parallel, task, &job, count);
}
/* The sweeps that elastic bodies need beyond those of all constraints. */
static void ipbdx_sweep_elastics(ipbd_world *world) {
    int i, most = 1;
    for (i = 0; i < world->active_count; ++i) {
        const ipbdx_body *body = world->bodies + world->active_bodies[i];
        if (body->warm_start > 0.0f) most = isphpbdx_maxi(most, ipbdx_sweeps(world, body));
    }
    for (world->sweep = 1; world->sweep < most; ++world->sweep) {
        ipbdx_run_slabs(world, ipbdx_resolve_task, world->interiors, world->interior_count);
        ipbdx_run_slabs(world, ipbdx_resolve_task, world->seams, world->seam_count);
    }
}
static void ipbdx_warm_start(ipbd_world *world) {
    bool any = false;
    int i;
    for (i = 0; i < world->active_count; ++i) {
        const ipbdx_body *body = world->bodies + world->active_bodies[i];
        any = any || (body->warm_start > 0.0f && body->group_count[IPBDX_ELASTICS] > 0);
    }
    if (!any) return;
    ipbdx_run_slabs(world, ipbdx_warm_task, world->interiors, world->interior_count);
    ipbdx_run_slabs(world, ipbdx_warm_task, world->seams, world->seam_count);
}

/* ---- [vertex] what happens to a vertex on its own ---------------------------------------------------------------- */

/* The coefficient of drag now: some bodies have none in still air. */
static float ipbdx_drag_now(const ipbd_world *world, const ipbdx_body *body) {
    const isphpbd_vec3 wind = world->desc.wind;
    return body->still_air || wind.x != 0.0f || wind.y != 0.0f || wind.z != 0.0f ? body->wind_drag : 0.0f;
}
static bool ipbdx_feels_air(const ipbd_world *world, const ipbdx_body *body) {
    return ipbdx_drag_now(world, body) > 0.0f || body->wind_lift > 0.0f;
}
/* Air: a vertex is a plate of area |normals[i]|; drag along its normal, lift across the wind. Implicit in the relative
   speed, so a light cloth in a storm is carried, never shaken. */
static isphpbd_vec3 ipbdx_air(const ipbd_world *world, const ipbdx_body *body, int v, isphpbd_vec3 velocity) {
    isphpbd_vec3 area = ipbdx_v3(world->normals + 4 * (size_t)v), relative = isphpbdx_sub(world->desc.wind, velocity),
                 normal, lift;
    float size = isphpbdx_length(area), speed = isphpbdx_length(relative), along, grip, w = world->inverse_masses[v];
    const float drag = ipbdx_drag_now(world, body);
    if (!(size > IPBDX_TINY) || !(speed > IPBDX_TINY)) return velocity;
    normal = isphpbdx_scale(area, 1.0f / size);
    along = isphpbdx_dot(relative, normal);
    grip = 0.5f * world->desc.air_density * size * w * world->h * isphpbdx_abs(along);
    velocity = isphpbdx_madd(velocity, normal, along * (drag * grip / (1.0f + drag * grip)));
    lift = isphpbdx_madd(normal, relative, -along / (speed * speed));
    return isphpbdx_madd(velocity, lift, along * (body->wind_lift * grip / (1.0f + body->wind_lift * grip)));
}
static isphpbd_vec3 ipbdx_pin_goal(const ipbd_world *world, const ipbdx_pin *pin) {
    if (pin->pinned >= 2u) return ipbdx_pose_point(world->colliders[pin->pinned - 2u].end, pin->to);
    if (world->substep + 1 >= world->substeps && world->pin_share >= 1.0f) return pin->to;
    return ipbdx_lerp3(pin->from, pin->to, (float)(world->substep + 1) / (float)world->substeps * world->pin_share);
}
/* What is the same for all vertices of a slab. The fourth lane holds zeros, so inverse masses pass through. */
typedef struct ipbdx_glide {
    isphpbdx_f4 pull, keep, h;
} ipbdx_glide;

static ipbdx_glide ipbdx_make_glide(const ipbd_world *world, const ipbdx_body *body) {
    isphpbd_vec3 pull = isphpbdx_scale(world->desc.gravity, world->h * body->gravity_scale);
    ipbdx_glide g;
    g.pull = isphpbdx_f4_set(pull.x, pull.y, pull.z, 0.0f);
    g.keep = IPBDX_ALL(1.0f / (1.0f + body->drag * world->h)), g.h = IPBDX_ALL(world->h);
    return g;
}
static void ipbdx_predict_pin(ipbd_world *world, int v) {
    float *x = world->positions + 4 * (size_t)v;
    isphpbd_vec3 goal;
    memcpy(world->starts + 4 * (size_t)v, x, 16);
    if (!world->pins[v].pinned) return;
    goal = ipbdx_pin_goal(world, world->pins + v);
    ipbdx_put3(world->velocities + 4 * (size_t)v, isphpbdx_scale(isphpbdx_sub(goal, ipbdx_v3(x)), 1.0f / world->h));
    ipbdx_put3(x, goal);
}
static void ipbdx_push_by_air(ipbd_world *world, const ipbdx_body *body, int v) {
    float *velocity = world->velocities + 4 * (size_t)v, w = world->positions[4 * (size_t)v + 3];
    isphpbd_vec3 speed = ipbdx_v3(velocity);
    if (ipbdx_feels_air(world, body)) speed = ipbdx_air(world, body, v, speed);
    speed = isphpbdx_madd(speed, ipbdx_v3(world->normals + 4 * (size_t)v), world->h * w * body->overpressure);
    ipbdx_put3(velocity, speed);
}
static void ipbdx_predict_vertex(ipbd_world *world, int v, const ipbdx_glide *g) {
    float *x = world->positions + 4 * (size_t)v, *velocity = world->velocities + 4 * (size_t)v;
    isphpbdx_f4 start = isphpbdx_f4_load(x), speed = isphpbdx_f4_load(velocity), pull = g->pull;
    if (x[3] != world->inverse_masses[v]) pull = IPBDX_MUL(pull, IPBDX_ALL(x[3] * world->masses[v])); /* mass is lent */
    speed = IPBDX_MUL(IPBDX_ADD(speed, pull), g->keep);
    isphpbdx_f4_store(world->starts + 4 * (size_t)v, start);
    isphpbdx_f4_store(velocity, speed);
    isphpbdx_f4_store(x, IPBDX_ADD(start, IPBDX_MUL(speed, g->h)));
}
static void ipbdx_predict_task(void *context, int index) {
    const ipbdx_job *job = (const ipbdx_job *)context;
    ipbd_world *world = job->world;
    const ipbdx_slab *slab = world->slabs + job->slabs[index];
    const ipbdx_body *body = world->bodies + slab->body;
    ipbdx_glide glide = ipbdx_make_glide(world, body);
    bool air = ipbdx_feels_air(world, body) || body->overpressure != 0.0f;
    int v, begin = body->vertex_begin + slab->vertex_begin, end = body->vertex_begin + slab->vertex_end;
    for (v = begin; v < end && world->touching; ++v)
        world->touches[2 * (size_t)v].collider = world->touches[2 * (size_t)v + 1].collider = 0;
    for (v = begin; v < end; ++v) {
        if (world->inverse_masses[v] > 0.0f) {
            if (air) ipbdx_push_by_air(world, body, v);
            ipbdx_predict_vertex(world, v, &glide);
        } else {
            ipbdx_predict_pin(world, v);
        }
    }
}
/* Long range attachments (Kim et al. 2012): not further from a pin than the mesh allows; where pins are farther apart
   than that, as far as they stretch the mesh. A tether takes a share of the excess per iteration only: a full stop
   would be a wall for what flies into the cloth. Each carries one vertex: at rest the excess is g h^2 / share, 0.04
   mm. */
static isphpbd_vec3 ipbdx_anchor(const ipbd_world *world, const ipbdx_body *body, const ipbdx_tether *tether) {
    return ipbdx_v3(world->positions + 4 * ((size_t)body->vertex_begin + tether->anchor));
}
static float ipbdx_tether_stretch(const ipbd_world *world, const ipbdx_body *body, const ipbdx_tether *t) {
    float apart;
    if (t[1].anchor == IPBDX_NONE) return body->tether_stretch;
    apart = isphpbdx_length(isphpbdx_sub(ipbdx_anchor(world, body, t), ipbdx_anchor(world, body, t + 1)));
    return isphpbdx_max(body->tether_stretch, apart / (t[0].reach + t[1].reach));
}
/* The stretch of a tether, if a collider moved its vertex away from the pin by more than half of what the tether pulls
   (one at rest does so if its normal is within 45 degrees of the tether): else 0. */
static float ipbdx_forced_stretch(const ipbd_world *world, const ipbdx_body *body, int v) {
    const ipbdx_touch *touch = world->touches + 2 * (size_t)v;
    const ipbdx_tether *tethers = world->pins[v].tethers;
    const float *x = world->positions + 4 * (size_t)v;
    isphpbd_vec3 d, push = touch[0].push;
    float length, away;
    if (!touch[0].collider || world->pins[v].pinned || tethers[0].anchor == IPBDX_NONE) return 0.0f;
    if (touch[1].collider) push = isphpbdx_add(push, touch[1].push);
    d = isphpbdx_sub(ipbdx_v3(x), ipbdx_anchor(world, body, tethers)), length = isphpbdx_length(d);
    away = isphpbdx_dot(push, d) * x[3];
    if (!(away > 0.5f * length * IPBDX_TETHER_SHARE * (length - tethers[0].reach * body->tether_stretch))) return 0.0f;
    return away > 0.0f ? length / tethers[0].reach : 0.0f;
}
/* What colliders force on the mesh, its tethers allow: else they pull the rest of it away from what is pushed, and
   open the mesh there. The slack is back after about IPBDX_TETHER_RETURN. */
static void ipbdx_allow_stretch(const ipbd_world *world, ipbdx_body *body) {
    const float slack = body->tether_slack;
    float stretch = slack + (body->tether_stretch - slack) / (1.0f + world->h / IPBDX_TETHER_RETURN);
    int i;
    for (i = body->slab_begin; i < body->slab_begin + body->slab_interior; ++i)
        stretch = isphpbdx_max(stretch, world->partials[i].forced);
    body->tether_stretch = isphpbdx_clamp(stretch, slack, IPBDX_LIMIT);
}
static void ipbdx_pull_tethers(ipbd_world *world, const ipbdx_body *body, int v, bool first) {
    ipbdx_tether *tethers = world->pins[v].tethers;
    float *x = world->positions + 4 * (size_t)v, stretch;
    int k;
    if (world->pins[v].pinned || tethers[0].anchor == IPBDX_NONE || !(x[3] > 0.0f)) return;
    stretch = ipbdx_tether_stretch(world, body, tethers);
    for (k = 0; k < IPBDX_TETHERS; ++k) {
        isphpbd_vec3 anchor, d;
        float length, excess;
        if (first) tethers[k].pull = 0.0f;
        if (tethers[k].anchor == IPBDX_NONE) continue;
        anchor = ipbdx_anchor(world, body, tethers + k);
        d = isphpbdx_sub(ipbdx_v3(x), anchor), length = isphpbdx_length(d);
        excess = IPBDX_TETHER_SHARE * (length - tethers[k].reach * stretch);
        if (!(excess > 0.0f)) continue;
        ipbdx_put3(x, isphpbdx_madd(anchor, d, 1.0f - excess / length));
        tethers[k].pull = isphpbdx_min(tethers[k].pull + excess / x[3], IPBDX_MOST_IMPULSE);
    }
}
/* v + (x - (start + h v)) / h instead of (x - start) / h: the rounding of the prediction cancels, free flight is
   exact. */
static bool ipbdx_end_vertex(ipbd_world *world, int v, isphpbdx_f4 h, isphpbdx_f4 inverse_h) {
    float *x = world->positions + 4 * (size_t)v, *velocity = world->velocities + 4 * (size_t)v,
          *start = world->starts + 4 * (size_t)v;
    const isphpbdx_f4 at = isphpbdx_f4_load(x), most = IPBDX_ALL(IPBDX_LIMIT * IPBDX_LIMIT);
    isphpbdx_f4 speed = isphpbdx_f4_load(velocity);
    if (world->inverse_masses[v] > 0.0f) {
        isphpbdx_f4 moved = IPBDX_SUB(at, IPBDX_ADD(isphpbdx_f4_load(start), IPBDX_MUL(speed, h)));
        speed = IPBDX_ADD(speed, IPBDX_MUL(moved, inverse_h));
        isphpbdx_f4_store(velocity, speed);
    }
    x[3] = world->inverse_masses[v], velocity[3] = 0.0f;
    if ((isphpbdx_f4_below(IPBDX_MUL(at, at), most) & isphpbdx_f4_below(IPBDX_MUL(speed, speed), most) & 7) == 7)
        return true; /* false for what is not a number */
    memcpy(x, start, 12);
    memset(velocity, 0, 12);
    return false;
}
static void ipbdx_end_task(void *context, int index) {
    const ipbdx_job *job = (const ipbdx_job *)context;
    ipbd_world *world = job->world;
    const ipbdx_slab *slab = world->slabs + job->slabs[index];
    const ipbdx_body *body = world->bodies + slab->body;
    const isphpbdx_f4 h = IPBDX_ALL(world->h), inverse_h = IPBDX_ALL(1.0f / world->h);
    int v;
    for (v = body->vertex_begin + slab->vertex_begin; v < body->vertex_begin + slab->vertex_end; ++v)
        if (!ipbdx_end_vertex(world, v, h, inverse_h)) ++world->partials[job->slabs[index]].quarantined;
}

/* Slabs in which something is too fast are found here; what is no number is for the end of the substep. */
static void ipbdx_way_task(void *context, int index) {
    const ipbdx_job *job = (const ipbdx_job *)context;
    const ipbd_world *world = job->world;
    const ipbdx_slab *slab = world->slabs + job->slabs[index];
    const int begin = world->bodies[slab->body].vertex_begin;
    isphpbdx_f4 most = IPBDX_ALL(0.0f);
    float ways[4];
    int v;
    for (v = begin + slab->vertex_begin; v < begin + slab->vertex_end; ++v) {
        const isphpbdx_f4 way = IPBDX_SUB(isphpbdx_f4_load(world->positions + 4 * (size_t)v),
                                          isphpbdx_f4_load(world->starts + 4 * (size_t)v));
        most = isphpbdx_f4_max(isphpbdx_f4_max(way, IPBDX_SUB(IPBDX_ALL(0.0f), way)), most);
    }
    isphpbdx_f4_store(ways, most);
    world->partials[job->slabs[index]].way = isphpbdx_max(ways[0], isphpbdx_max(ways[1], ways[2]));
}
/* The way of a free vertex; false for others, and for what is about to be quarantined. */
static bool ipbdx_free_way(const ipbd_world *world, int v, isphpbd_vec3 *way) {
    const float *x = world->positions + 4 * (size_t)v;
    if (!(world->inverse_masses[v] > 0.0f)) return false;
    *way = isphpbdx_sub(ipbdx_v3(x), ipbdx_v3(world->starts + 4 * (size_t)v));
    return isphpbdx_dot(*way, *way) <= 3.0f * IPBDX_LIMIT * IPBDX_LIMIT;
}
/* The mean way of a body carries its momentum: it stays, and the ways within the body are scaled, so that none is
   longer than `most` (m). */
static void ipbdx_slow_body(ipbd_world *world, const ipbdx_body *body, float most) {
    const int begin = body->vertex_begin, end = begin + body->vertex_count;
    isphpbd_vec3 way, mean;
    double sum[4] = {0.0, 0.0, 0.0, 0.0};
    float longest = 0.0f, within = 0.0f, length, share;
    int v;
    for (v = begin; v < end; ++v) {
        const double mass = (double)world->masses[v];
        if (!ipbdx_free_way(world, v, &way)) continue;
        sum[0] += mass * (double)way.x, sum[1] += mass * (double)way.y, sum[2] += mass * (double)way.z, sum[3] += mass;
        longest = isphpbdx_max(longest, isphpbdx_length(way));
    }
    if (!(longest > most)) return;
    mean = isphpbd_v3((float)(sum[0] / sum[3]), (float)(sum[1] / sum[3]), (float)(sum[2] / sum[3]));
    length = isphpbdx_length(mean);
    for (v = begin; v < end; ++v)
        if (ipbdx_free_way(world, v, &way))
            within = isphpbdx_max(within, isphpbdx_length(isphpbdx_sub(way, mean)));
    share = within > 0.0f ? isphpbdx_clamp((most - length) / within, 0.0f, 1.0f) : 0.0f;
    for (v = begin; v < end; ++v) {
        float *x = world->positions + 4 * (size_t)v;
        if (!ipbdx_free_way(world, v, &way)) continue;
        way = isphpbdx_madd(isphpbdx_scale(mean, length > most ? most / length : 1.0f), isphpbdx_sub(way, mean), share);
        ipbdx_put3(x, isphpbdx_add(ipbdx_v3(world->starts + 4 * (size_t)v), way));
    }
    world->flags |= IPBD_STEP_SPEED_CLAMPED;
}
static void ipbdx_bound_speeds(ipbd_world *world) {
    const float most = world->desc.max_speed * world->h;
    int i, k;
    ipbdx_run_slabs(world, ipbdx_way_task, world->interiors, world->interior_count);
    for (i = 0; i < world->active_count; ++i) {
        const ipbdx_body *body = world->bodies + world->active_bodies[i];
        float way = 0.0f;
        for (k = body->slab_begin; k < body->slab_begin + body->slab_interior; ++k)
            way = isphpbdx_max(way, world->partials[k].way);
        if (way > 0.57f * most) ipbdx_slow_body(world, body, most); /* of three axes: 1 / sqrt(3) */
    }
}

static void ipbdx_forget_forces(ipbd_world *world, ipbdx_body *body) {
    const int *begin = body->group_begin, *count = body->group_count;
    int i, k;
    for (i = 0; i < count[IPBDX_EDGES]; ++i) memset(world->edges[begin[IPBDX_EDGES] + i].lambda, 0, 16);
    for (i = 0; i < count[IPBDX_DIHEDRALS]; ++i) memset(world->dihedrals[begin[IPBDX_DIHEDRALS] + i].lambda, 0, 16);
    for (i = 0; i < count[IPBDX_ISOMETRICS]; ++i) memset(world->isometrics[begin[IPBDX_ISOMETRICS] + i].lambda, 0, 16);
    for (i = 0; i < count[IPBDX_VOLUMES]; ++i) memset(world->volumes[begin[IPBDX_VOLUMES] + i].lambda, 0, 16);
    for (i = 0; i < count[IPBDX_ELASTICS]; ++i) {
        ipbdx_elastics *g = world->elastics + begin[IPBDX_ELASTICS] + i;
        for (k = 0; k < 6; ++k) memset(g->stress[k], 0, sizeof g->stress[k]);
        memset(g->pressure, 0, sizeof g->pressure);
    }
    body->balloon_lambda = 0.0f;
}
/* The multipliers of a substep are forces; where vertices had to be put back they may be no numbers, and are forgotten,
   or the next warm start would do the same again. */
static void ipbdx_end_multipliers(ipbd_world *world, ipbdx_body *body) {
    int i, put_back = 0;
    for (i = body->slab_begin; i < body->slab_begin + body->slab_interior; ++i)
        put_back += world->partials[i].quarantined;
    if (put_back) ipbdx_forget_forces(world, body);
    body->lambda_h = world->h;
}

/* Tethers lead to the nearest pins of the two nearest groups of pins (pins joined by edges are one group: a second
   tether to the neighbour of the first pin would hold nothing more). Distances are along the mesh: along edges, and
   straight through triangles laid flat (Kimmel and Sethian 1998). They are found from the pins outward, the nearest
   vertex first (Dijkstra 1959), of equal ones the last; a way that obtuse triangles shorten later goes out again.
   Springs of bending are no ways: their chords cut the folds of the rest shape. Meanwhile tethers[k].pull is 1 where
   that way has not been passed on yet. Runs when pins changed. */
typedef struct ipbdx_wayfinder {
    ipbdx_pin *pins;
    const isphpbd_vec3 *rests;
    const ipbdx_edges *edges;
    const uint32_t *triangles;
    ipbdx_seat *seats;
    uint32_t *near_edges, *near_triangles, *heap;
    int heap_count;
} ipbdx_wayfinder;

static ipbdx_wayfinder ipbdx_wayfinder_of(const ipbd_world *world, const ipbdx_body *body) {
    ipbdx_wayfinder s;
    s.pins = world->pins + body->vertex_begin, s.rests = world->rests + body->vertex_begin;
    s.edges = world->edges + body->group_begin[IPBDX_EDGES];
    s.triangles = world->triangles + 3 * (size_t)body->triangle_begin;
    s.seats = world->seats + body->vertex_begin, s.heap = world->heap + body->vertex_begin;
    s.near_edges = world->near_edges + 8 * (size_t)body->group_begin[IPBDX_EDGES];
    s.near_triangles = world->near_triangles + 3 * (size_t)body->triangle_begin;
    s.heap_count = 0;
    return s;
}
/* Which way of a vertex is to be passed on next; -1: none. The first is the shorter. */
static int ipbdx_next_way(const ipbdx_pin *pin) {
    int k;
    for (k = 0; k < IPBDX_TETHERS; ++k)
        if (pin->tethers[k].pull > 0.0f) return k;
    return -1;
}
static bool ipbdx_way_before(const ipbdx_wayfinder *s, uint32_t a, uint32_t b) {
    const float u = s->pins[a].tethers[ipbdx_next_way(s->pins + a)].reach,
                v = s->pins[b].tethers[ipbdx_next_way(s->pins + b)].reach;
    return u < v || (!(v < u) && a > b);
}
static void ipbdx_heap_put(ipbdx_wayfinder *s, int place, uint32_t vertex) {
    s->heap[place] = vertex, s->seats[vertex].place = (uint32_t)place;
}
static void ipbdx_heap_up(ipbdx_wayfinder *s, uint32_t vertex) {
    int place = (int)s->seats[vertex].place;
    for (; place > 0 && ipbdx_way_before(s, vertex, s->heap[(place - 1) / 2]); place = (place - 1) / 2)
        ipbdx_heap_put(s, place, s->heap[(place - 1) / 2]);
    ipbdx_heap_put(s, place, vertex);
}
static void ipbdx_heap_down(ipbdx_wayfinder *s, uint32_t vertex) {
    int place = (int)s->seats[vertex].place, child;
    for (; (child = 2 * place + 1) < s->heap_count; place = child) {
        if (child + 1 < s->heap_count && ipbdx_way_before(s, s->heap[child + 1], s->heap[child])) ++child;
        if (!ipbdx_way_before(s, s->heap[child], vertex)) break;
        ipbdx_heap_put(s, place, s->heap[child]);
    }
    ipbdx_heap_put(s, place, vertex);
}
static void ipbdx_heap_add(ipbdx_wayfinder *s, uint32_t vertex) {
    if (s->seats[vertex].place == IPBDX_NONE) ipbdx_heap_put(s, s->heap_count++, vertex);
    ipbdx_heap_up(s, vertex);
}
/* After the nearest way of the first vertex was taken from it. */
static void ipbdx_heap_settle(ipbdx_wayfinder *s) {
    const uint32_t first = s->heap[0];
    if (ipbdx_next_way(s->pins + first) < 0) {
        const uint32_t last = s->heap[--s->heap_count];
        s->seats[first].place = IPBDX_NONE;
        if (s->heap_count == 0) return;
        ipbdx_heap_put(s, 0, last);
    }
    ipbdx_heap_down(s, s->heap[0]);
}

static void ipbdx_offer_tether(ipbdx_wayfinder *s, uint32_t to, uint32_t anchor, float reach) {
    const uint32_t group = s->pins[anchor].tethers[0].anchor;
    ipbdx_pin *pin = s->pins + to;
    int k;
    for (k = 0; k < IPBDX_TETHERS && !pin->pinned; ++k) {
        ipbdx_tether *tether = pin->tethers + k;
        const bool same = tether->anchor != IPBDX_NONE && s->pins[tether->anchor].tethers[0].anchor == group;
        if (reach < tether->reach * (1.0f - 1e-5f)) { /* less is rounding, and would go on for ever */
            if (k == 0 && !same) pin->tethers[1] = pin->tethers[0];
            tether->anchor = anchor, tether->reach = reach, tether->pull = 1.0f;
            ipbdx_heap_add(s, to);
            return;
        }
        if (same) return;
    }
}
/* Distance of c from a point that is u from a and v from b, seen through edge a b of the flat triangle; -1 where the
   straight way does not cross that edge. */
static float ipbdx_unfold(float u, float v, float ab, float ac, float bc) {
    const float sx = (u * u - v * v + ab * ab) / (2.0f * ab), cx = (ac * ac - bc * bc + ab * ab) / (2.0f * ab);
    const float s2 = u * u - sx * sx, c2 = ac * ac - cx * cx, sy = sqrtf(isphpbdx_max(s2, 0.0f)),
                cy = sqrtf(isphpbdx_max(c2, 0.0f));
    const float cross = sx + (cx - sx) * sy / isphpbdx_max(sy + cy, IPBDX_TINY);
    if (!(s2 > 0.0f) || !(c2 > 0.0f) || cross < 0.0f || cross > ab) return -1.0f;
    return sqrtf((cx - sx) * (cx - sx) + (cy + sy) * (cy + sy));
}
static float ipbdx_rest_distance(const ipbdx_wayfinder *s, uint32_t a, uint32_t b) {
    return isphpbdx_length(isphpbdx_sub(s->rests[a], s->rests[b]));
}
/* A way of a to corner c of a triangle: along edge a c and, where b knows the same pin, straight through a b. */
static void ipbdx_cross_triangle(ipbdx_wayfinder *s, ipbdx_tether way, uint32_t a, uint32_t b, uint32_t c) {
    const float ac = ipbdx_rest_distance(s, a, c);
    int k;
    if (s->pins[c].pinned) return;
    ipbdx_offer_tether(s, c, way.anchor, way.reach + ac);
    for (k = 0; k < IPBDX_TETHERS && !s->pins[b].pinned; ++k) {
        const ipbdx_tether *other = s->pins[b].tethers + k;
        float reach;
        if (other->anchor != way.anchor || other->pull > 0.0f) continue;
        reach = ipbdx_unfold(way.reach, other->reach, ipbdx_rest_distance(s, a, b), ac, ipbdx_rest_distance(s, b, c));
        if (reach > 0.0f) ipbdx_offer_tether(s, c, way.anchor, reach);
    }
}
static ipbdx_seat ipbdx_seat_before(const ipbdx_wayfinder *s, uint32_t vertex) {
    ipbdx_seat seat;
    seat.edges = seat.triangles = 0, seat.place = IPBDX_NONE;
    return vertex > 0 ? s->seats[vertex - 1] : seat;
}
/* Entries are eight times the group of an edge, plus four times the end that is here, plus its lane. */
static uint32_t ipbdx_other_end(const ipbdx_wayfinder *s, uint32_t entry) {
    return s->edges[entry / 8u].v[1u - entry / 4u % 2u][entry % 4u];
}
/* A way goes from its vertex to all neighbours. */
static void ipbdx_pass_on(ipbdx_wayfinder *s, uint32_t from, ipbdx_tether way) {
    const ipbdx_seat end = s->seats[from], begin = ipbdx_seat_before(s, from);
    uint32_t i;
    for (i = begin.edges; i < end.edges; ++i) {
        const uint32_t e = s->near_edges[i];
        const float length = isphpbdx_max(s->edges[e / 8u].rest[e % 4u], 0.0f); /* a forged one would never end */
        ipbdx_offer_tether(s, ipbdx_other_end(s, e), way.anchor, way.reach + length);
    }
    for (i = begin.triangles; i < end.triangles; ++i) {
        const uint32_t *t = s->triangles + s->near_triangles[i] / 3u * 3u, corner = s->near_triangles[i] % 3u;
        const uint32_t b = t[(corner + 1u) % 3u], c = t[(corner + 2u) % 3u];
        ipbdx_cross_triangle(s, way, from, b, c);
        ipbdx_cross_triangle(s, way, from, c, b);
    }
}
/* Counts what lies at each vertex, or lists it: seats hold the counts, or where the next one goes. */
static void ipbdx_seat_edges(ipbdx_wayfinder *s, int begin, int end, bool list) {
    int i, lane, side;
    for (i = begin; i < end; ++i)
        for (lane = 0; lane < 4; ++lane)
            for (side = 0; side < 2; ++side) {
                ipbdx_seat *seat = s->seats + s->edges[i].v[side][lane];
                if (list) s->near_edges[seat->edges] = (uint32_t)(8 * i + 4 * side + lane);
                ++seat->edges;
            }
}
static void ipbdx_seat_all(const ipbd_world *world, const ipbdx_body *body, ipbdx_wayfinder *s, bool list) {
    const ipbdx_slab *slab = world->slabs + body->slab_begin, *end = slab + body->slab_count;
    int i, kind;
    for (; slab < end; ++slab)
        for (kind = IPBDX_STRETCH; kind <= IPBDX_LINK; ++kind)
            if (kind != IPBDX_BEND) ipbdx_seat_edges(s, slab->group_begin[kind], slab->group_end[kind], list);
    for (i = 0; i < 3 * body->triangle_count; ++i) {
        ipbdx_seat *seat = s->seats + s->triangles[i];
        if (list) s->near_triangles[seat->triangles] = (uint32_t)i;
        ++seat->triangles;
    }
}
/* After this, what lies at a vertex ends in its seat, and begins where that of the vertex before ends. */
static void ipbdx_seat_vertices(const ipbd_world *world, const ipbdx_body *body, ipbdx_wayfinder *s) {
    uint32_t edges = 0, triangles = 0;
    int i;
    memset(s->seats, 0, (size_t)body->vertex_count * sizeof *s->seats);
    ipbdx_seat_all(world, body, s, false);
    for (i = 0; i < body->vertex_count; ++i) {
        const ipbdx_seat counted = s->seats[i];
        s->seats[i].edges = edges, s->seats[i].triangles = triangles, s->seats[i].place = IPBDX_NONE;
        edges += counted.edges, triangles += counted.triangles;
    }
    ipbdx_seat_all(world, body, s, true);
}
/* A pin that belongs to no group yet joins this one; the heap serves as the list of those whose neighbours are due. */
static void ipbdx_join_group(ipbdx_wayfinder *s, uint32_t vertex, uint32_t group) {
    ipbdx_pin *pin = s->pins + vertex;
    if (!pin->pinned || pin->tethers[0].anchor != IPBDX_NONE) return;
    pin->tethers[0].anchor = group;
    s->heap[s->heap_count++] = vertex;
}
/* All pins that edges join to `first`, which is the first vertex of them. */
static void ipbdx_find_group(ipbdx_wayfinder *s, uint32_t first) {
    uint32_t i, k;
    ipbdx_join_group(s, first, first);
    while (s->heap_count > 0) {
        const uint32_t vertex = s->heap[--s->heap_count];
        const ipbdx_seat end = s->seats[vertex], begin = ipbdx_seat_before(s, vertex);
        for (i = begin.edges; i < end.edges; ++i)
            ipbdx_join_group(s, ipbdx_other_end(s, s->near_edges[i]), first);
        for (i = begin.triangles; i < end.triangles; ++i)
            for (k = 0; k < 3; ++k)
                ipbdx_join_group(s, s->triangles[s->near_triangles[i] / 3u * 3u + k], first);
    }
}
static void ipbdx_find_tethers(const ipbd_world *world, ipbdx_body *body) {
    ipbdx_wayfinder s = ipbdx_wayfinder_of(world, body);
    const uint32_t count = (uint32_t)body->vertex_count;
    ipbdx_tether way;
    uint32_t i;
    int k;
    ipbdx_seat_vertices(world, body, &s);
    for (i = 0; i < count; ++i)
        for (k = 0; k < IPBDX_TETHERS; ++k) {
            ipbdx_tether *tether = s.pins[i].tethers + k;
            tether->anchor = IPBDX_NONE, tether->reach = 3e38f, tether->pull = 0.0f;
        }
    for (i = 0; i < count; ++i) ipbdx_find_group(&s, i);
    for (i = 0; i < count; ++i)
        if (s.pins[i].pinned) {
            way.anchor = i, way.reach = way.pull = 0.0f;
            ipbdx_pass_on(&s, i, way);
        }
    while (s.heap_count > 0) {
        const uint32_t first = s.heap[0];
        k = ipbdx_next_way(s.pins + first);
        s.pins[first].tethers[k].pull = 0.0f;
        way = s.pins[first].tethers[k];
        ipbdx_heap_settle(&s);
        ipbdx_pass_on(&s, first, way);
    }
    body->tethers_stale = 0;
}

/* ---- [balloon] the volume of a closed surface -----------------------------------------------------------------------
   A third of the area vectors around a vertex is both its share of the surface and the gradient of the volume. */

/* The corners of four triangles; where there are less than four left, the first of them stands for the others. */
IPBDX_HOT void ipbdx_corners4(const float *x, const uint32_t *t, int left, ipbdx_v4 corner[3]) {
    const uint32_t *u = t + (left > 1 ? 3 : 0), *v = t + (left > 2 ? 6 : 0), *w = t + (left > 3 ? 9 : 0);
    const uint32_t a[4] = {t[0], u[0], v[0], w[0]}, b[4] = {t[1], u[1], v[1], w[1]}, c[4] = {t[2], u[2], v[2], w[2]};
    corner[0] = ipbdx_gather(x, a).p, corner[1] = ipbdx_gather(x, b).p, corner[2] = ipbdx_gather(x, c).p;
}
IPBDX_HOT void ipbdx_add_area(float *normals, const uint32_t *t, isphpbdx_f4 area) {
    float *a = normals + 4 * (size_t)t[0], *b = normals + 4 * (size_t)t[1], *c = normals + 4 * (size_t)t[2];
    isphpbdx_f4_store(a, IPBDX_ADD(isphpbdx_f4_load(a), area));
    isphpbdx_f4_store(b, IPBDX_ADD(isphpbdx_f4_load(b), area));
    isphpbdx_f4_store(c, IPBDX_ADD(isphpbdx_f4_load(c), area));
}
/* Adds a third of the areas of up to four triangles to their vertices, one after the other: they may share some. */
IPBDX_HOT void ipbdx_add_areas(float *normals, const uint32_t *t, int left, const ipbdx_v4 corner[3]) {
    isphpbdx_f4 area[4];
    ipbdx_to_rows(ipbdx_v4_scale(ipbdx_v4_cross(ipbdx_v4_sub(corner[1], corner[0]), ipbdx_v4_sub(corner[2], corner[0])),
                                 IPBDX_ALL(1.0f / 6.0f)),
                  area);
    ipbdx_add_area(normals, t, area[0]);
    if (left > 1) ipbdx_add_area(normals, t + 3, area[1]);
    if (left > 2) ipbdx_add_area(normals, t + 6, area[2]);
    if (left > 3) ipbdx_add_area(normals, t + 9, area[3]);
}
/* Adds six times the volumes between up to four triangles and the point o, one after the other. */
IPBDX_HOT double ipbdx_add_volumes(double volume, int left, const ipbdx_v4 corner[3], ipbdx_v4 o) {
    float six[4];
    isphpbdx_f4_store(six, ipbdx_v4_dot(ipbdx_v4_sub(corner[0], o),
                                        ipbdx_v4_cross(ipbdx_v4_sub(corner[1], o), ipbdx_v4_sub(corner[2], o))));
    volume += (double)six[0];
    if (left > 1) volume += (double)six[1];
    if (left > 2) volume += (double)six[2];
    if (left > 3) volume += (double)six[3];
    return volume;
}
/* Area normals, or the volume inside the surface, or both in one go. The volume is measured from a vertex of it to keep
   digits far from the origin. */
IPBDX_HOT double ipbdx_survey(const ipbd_world *world, const ipbdx_body *body, float *normals, bool measure) {
    const uint32_t *t = world->triangles + 3 * (size_t)body->triangle_begin;
    const float *x = world->positions + 4 * (size_t)body->vertex_begin;
    double volume = 0.0;
    ipbdx_v4 o;
    int left;
    o.x = IPBDX_ALL(x[0]), o.y = IPBDX_ALL(x[1]), o.z = IPBDX_ALL(x[2]);
    if (normals) memset(normals, 0, (size_t)body->vertex_count * 16);
    for (left = body->triangle_count; left > 0; left -= 4, t += 12) {
        ipbdx_v4 corner[3];
        ipbdx_corners4(x, t, left, corner);
        if (normals) ipbdx_add_areas(normals, t, left, corner);
        if (measure) volume = ipbdx_add_volumes(volume, left, corner, o);
    }
    return volume / 6.0;
}
static void ipbdx_area_normals(ipbd_world *world, const ipbdx_body *body) {
    (void)ipbdx_survey(world, body, world->normals + 4 * (size_t)body->vertex_begin, false);
}
static double ipbdx_surface_volume(const ipbd_world *world, const ipbdx_body *body) {
    return ipbdx_survey(world, body, NULL, true);
}
static double ipbdx_shape_volume(const ipbd_world *world, const ipbdx_body *body) {
    return body->closed ? ipbdx_surface_volume(world, body) : 0.0;
}
static void ipbdx_solve_balloon(ipbd_world *world, ipbdx_body *body) {
    const double volume = ipbdx_survey(world, body, world->normals + 4 * (size_t)body->vertex_begin, true);
    double weight = 0.0, own = 0.0, alpha, step; /* own: without lent mass */
    int i, end = body->vertex_begin + body->vertex_count;
    for (i = body->vertex_begin; i < end; ++i) {
        isphpbd_vec3 n = ipbdx_v3(world->normals + 4 * (size_t)i);
        weight += (double)(world->positions[4 * (size_t)i + 3] * isphpbdx_dot(n, n));
        own += (double)(world->inverse_masses[i] * isphpbdx_dot(n, n));
    }
    alpha = body->balloon.measure == IPBD_COMPLIANCE ? (double)body->balloon.value
                                                     : own * (double)ipbdx_softness(body->balloon.value);
    alpha /= (double)world->h * (double)world->h;
    if (!(weight + alpha > 1e-30)) return;
    step = (double)body->balloon_pressure * (double)body->rest_volume - volume;
    step = (step - alpha * (double)body->balloon_lambda) / (weight + alpha);
    body->balloon_lambda += (float)step;
    for (i = body->vertex_begin; i < end; ++i) {
        float *x = world->positions + 4 * (size_t)i;
        ipbdx_put3(x, isphpbdx_madd(ipbdx_v3(x), ipbdx_v3(world->normals + 4 * (size_t)i), x[3] * (float)step));
    }
}
static bool ipbdx_is_balloon(const ipbdx_body *body) {
    return body->balloon.measure != IPBD_ABSENT && body->balloon_pressure > 0.0f;
}
static void ipbdx_balloon_task(void *context, int index) {
    ipbd_world *world = (ipbd_world *)context;
    ipbdx_body *body = world->bodies + world->active_bodies[index];
    if (ipbdx_is_balloon(body)) ipbdx_solve_balloon(world, body);
}
static bool ipbdx_any_balloon(const ipbd_world *world) {
    int i;
    for (i = 0; i < world->active_count; ++i)
        if (ipbdx_is_balloon(world->bodies + world->active_bodies[i])) return true;
    return false;
}

/* ---- [colliders] shapes of the user ------------------------------------------------------------------------------ */

#define IPBDX_FAR 1e30f
#define IPBDX_SWEEP_LOOKS 64 /* at the distance along a path */
#define IPBDX_SLIVER 1e-4f   /* area over the longest edge squared */

/* Child nodes still to be visited; a balanced tree is never deeper than this. */
typedef struct ipbdx_visit {
    int node, low, high;
} ipbdx_visit;
#define IPBDX_STACK 64

static bool ipbdx_boxes_apart(const float *node, isphpbd_vec3 low, isphpbd_vec3 high) {
    return node[0] > high.x || node[3] < low.x || node[1] > high.y || node[4] < low.y || node[2] > high.z ||
           node[5] < low.z;
}
static void ipbdx_bound_join(float *node, const float *a, const float *b) {
    int k;
    for (k = 0; k < 3; ++k) node[k] = isphpbdx_min(a[k], b[k]), node[k + 3] = isphpbdx_max(a[k + 3], b[k + 3]);
}
/* Splits a visit; false for a leaf. */
static bool ipbdx_visit_split(ipbdx_visit v, int leaf_begin, ipbdx_visit *left, ipbdx_visit *right) {
    int middle = v.low + (v.high - v.low) / 2;
    if (v.node >= leaf_begin) return false;
    left->node = 2 * v.node + 1, left->low = v.low, left->high = middle;
    right->node = 2 * v.node + 2, right->low = middle, right->high = v.high;
    return true;
}
static void ipbdx_bound_points(float *node, isphpbd_vec3 p, bool first) {
    if (first) ipbdx_put3(node, p), ipbdx_put3(node + 3, p);
    ipbdx_put3(node, ipbdx_min3(ipbdx_v3(node), p));
    ipbdx_put3(node + 3, ipbdx_max3(ipbdx_v3(node + 3), p));
}
/* Closest point of triangle abc to p, as barycentric weights of b and c (Ericson 2004). */
static void ipbdx_closest_on_triangle(isphpbd_vec3 p, isphpbd_vec3 a, isphpbd_vec3 b, isphpbd_vec3 c, float *v,
                                      float *w) {
    isphpbd_vec3 ab = isphpbdx_sub(b, a), ac = isphpbdx_sub(c, a), ap = isphpbdx_sub(p, a), bp = isphpbdx_sub(p, b),
                 cp = isphpbdx_sub(p, c);
    float d1 = isphpbdx_dot(ab, ap), d2 = isphpbdx_dot(ac, ap), d3 = isphpbdx_dot(ab, bp), d4 = isphpbdx_dot(ac, bp);
    float d5 = isphpbdx_dot(ab, cp), d6 = isphpbdx_dot(ac, cp), va = d3 * d6 - d5 * d4, vb = d5 * d2 - d1 * d6,
          vc = d1 * d4 - d3 * d2, s;
    *v = *w = 0.0f;
    if (d1 <= 0.0f && d2 <= 0.0f) return;
    if (d3 >= 0.0f && d4 <= d3) {
        *v = 1.0f;
        return;
    }
    if (vc <= 0.0f && d1 >= 0.0f && d3 <= 0.0f) {
        *v = d1 - d3 > 0.0f ? d1 / (d1 - d3) : 0.0f;
        return;
    }
    if (d6 >= 0.0f && d5 <= d6) {
        *w = 1.0f;
        return;
    }
    if (vb <= 0.0f && d2 >= 0.0f && d6 <= 0.0f) {
        *w = d2 - d6 > 0.0f ? d2 / (d2 - d6) : 0.0f;
        return;
    }
    if (va <= 0.0f && d4 - d3 >= 0.0f && d5 - d6 >= 0.0f) {
        s = (d4 - d3) + (d5 - d6);
        *w = s > 0.0f ? (d4 - d3) / s : 0.0f, *v = 1.0f - *w;
        return;
    }
    s = va + vb + vc;
    if (s > 0.0f) *v = vb / s, *w = vc / s;
}
static isphpbd_vec3 ipbdx_triangle_point(isphpbd_vec3 a, isphpbd_vec3 b, isphpbd_vec3 c, float v, float w) {
    return isphpbdx_madd(isphpbdx_madd(a, isphpbdx_sub(b, a), v), isphpbdx_sub(c, a), w);
}

static float ipbdx_box_distance(isphpbd_vec3 half, isphpbd_vec3 p, isphpbd_vec3 *normal) {
    isphpbd_vec3 sign = isphpbd_v3(p.x < 0.0f ? -1.0f : 1.0f, p.y < 0.0f ? -1.0f : 1.0f, p.z < 0.0f ? -1.0f : 1.0f);
    isphpbd_vec3 q = isphpbd_v3(p.x * sign.x - half.x, p.y * sign.y - half.y, p.z * sign.z - half.z), out;
    float length;
    if (q.x <= 0.0f && q.y <= 0.0f && q.z <= 0.0f) { /* inside: the nearest face */
        *normal = q.x >= q.y && q.x >= q.z ? isphpbd_v3(sign.x, 0.0f, 0.0f)
                  : q.y >= q.z             ? isphpbd_v3(0.0f, sign.y, 0.0f)
                                           : isphpbd_v3(0.0f, 0.0f, sign.z);
        return isphpbdx_max(q.x, isphpbdx_max(q.y, q.z));
    }
    out = ipbdx_max3(q, ipbdx_zero3()), length = isphpbdx_length(out);
    out = ipbdx_unit(out, isphpbd_v3(0.0f, 1.0f, 0.0f));
    *normal = isphpbd_v3(out.x * sign.x, out.y * sign.y, out.z * sign.z);
    return length;
}
static float ipbdx_height_distance(const ipbd_world *world, const ipbdx_collider *c, isphpbd_vec3 p,
                                   isphpbd_vec3 *normal) {
    const isphpbd_vec3 *heights = world->collider_vertices + c->vertex_begin; /* three heights to a vec3 */
    const float *y = &heights[0].x;
    float gx = p.x / c->cell + 0.5f * (float)(c->columns - 1), gz = p.z / c->cell + 0.5f * (float)(c->rows - 1), fx, fz,
          h00, h11, dx, dz;
    int ix, iz;
    *normal = isphpbd_v3(0.0f, 1.0f, 0.0f);
    if (!(gx >= 0.0f && gz >= 0.0f && gx <= (float)(c->columns - 1) && gz <= (float)(c->rows - 1))) return IPBDX_FAR;
    ix = isphpbdx_mini((int)gx, c->columns - 2), iz = isphpbdx_mini((int)gz, c->rows - 2);
    fx = gx - (float)ix, fz = gz - (float)iz;
    h00 = y[ix + iz * c->columns], h11 = y[ix + 1 + (iz + 1) * c->columns];
    if (fx > fz) { /* the cell's two triangles meet on the diagonal fx = fz */
        float h10 = y[ix + 1 + iz * c->columns];
        dx = h10 - h00, dz = h11 - h10;
    } else {
        float h01 = y[ix + (iz + 1) * c->columns];
        dz = h01 - h00, dx = h11 - h01;
    }
    *normal = ipbdx_unit(isphpbd_v3(-dx, c->cell, -dz), *normal);
    return (p.y - (h00 + dx * fx + dz * fz)) * normal->y;
}
static float ipbdx_convex_distance(const ipbd_world *world, const ipbdx_collider *c, isphpbd_vec3 p,
                                   isphpbd_vec3 *normal) {
    const float *plane = world->collider_nodes + 6 * (size_t)c->triangle_begin;
    float best = -IPBDX_FAR;
    int i;
    for (i = 0; i < c->triangle_count; ++i, plane += 6) {
        float d = isphpbdx_dot(ipbdx_v3(plane), p) - plane[3];
        if (d > best) best = d, *normal = ipbdx_v3(plane);
    }
    return best;
}
static float ipbdx_sdf_distance(const ipbdx_collider_call *call, isphpbd_vec3 p, isphpbd_vec3 *normal) {
    float d;
    *normal = isphpbd_v3(0.0f, 1.0f, 0.0f);
    if (!call->sdf) return IPBDX_FAR;
    d = call->sdf(p, normal, call->user);
    if (!isphpbdx_finite(d) || !isphpbdx_finite3(*normal)) return IPBDX_FAR;
    *normal = ipbdx_unit(*normal, isphpbd_v3(0.0f, 1.0f, 0.0f));
    return d;
}
/* Signed distance in the collider's frame; every shape but meshes. */
static float ipbdx_shape_distance(const ipbd_world *world, int slot, isphpbd_vec3 p, isphpbd_vec3 *normal) {
    const ipbdx_collider *c = world->colliders + slot;
    isphpbd_vec3 up = isphpbd_v3(0.0f, 1.0f, 0.0f);
    switch (c->type) {
        case IPBD_PLANE: *normal = up; return p.y;
        case IPBD_SPHERE: *normal = ipbdx_unit(p, up); return isphpbdx_length(p) - c->size.x;
        case IPBD_CAPSULE:
            p.y -= isphpbdx_clamp(p.y, -c->size.y, c->size.y);
            *normal = ipbdx_unit(p, isphpbd_v3(1.0f, 0.0f, 0.0f));
            return isphpbdx_length(p) - c->size.x;
        case IPBD_BOX: return ipbdx_box_distance(c->size, p, normal);
        case IPBD_CONVEX: return ipbdx_convex_distance(world, c, p, normal);
        case IPBD_HEIGHTFIELD: return ipbdx_height_distance(world, c, p, normal);
        default: return ipbdx_sdf_distance(world->calls + slot, p, normal);
    }
}

/* ---- [collide] one vertex against the colliders ---------------------------------------------------------------------
   Paths are taken in the collider's own frame, from where the vertex was relative to the collider's start pose to where
   it is relative to its end pose: so the motion of both is one motion. A path that could jump across the shape is
   walked by its signed distance; the rest is tested at its end. */

typedef struct ipbdx_hit {
    isphpbd_vec3 normal;
    float depth, before;
} ipbdx_hit; /* frame; m to move out; distance at the start */

/* First place along a-b where the distance falls to r; the surface's plane there then holds b back. Where that many
   looks do not reach the end, the path grazes the shape, or an SDF answers far less than the distance: then the plane
   at the last place looked at holds it back. */
static bool ipbdx_sweep(const ipbd_world *world, int slot, isphpbd_vec3 a, isphpbd_vec3 b, float r, ipbdx_hit *hit) {
    isphpbd_vec3 d = isphpbdx_sub(b, a), q = a;
    float length = isphpbdx_length(d), t = 0.0f, distance;
    int i;
    for (i = 1;; ++i) {
        distance = ipbdx_shape_distance(world, slot, q, &hit->normal);
        if (i == 1) hit->before = distance;
        if (i > IPBDX_SWEEP_LOOKS && world->colliders[slot].type != IPBD_SDF) return false;
        if (distance <= r * 1.01f || i > IPBDX_SWEEP_LOOKS) {
            hit->depth = r - (distance + isphpbdx_dot(hit->normal, isphpbdx_sub(b, q)));
            return hit->depth > 0.0f;
        }
        t += (distance - r) / length;
        if (!(t < 1.0f)) return false;
        q = isphpbdx_madd(a, d, t);
    }
}
/* Where the segment a-b crosses the triangle, as a share of its length; negative if it does not. The rim is a little
   wide, so that nothing slips between two triangles. */
static float ipbdx_segment_triangle(isphpbd_vec3 a, isphpbd_vec3 b, const isphpbd_vec3 *t) {
    isphpbd_vec3 d = isphpbdx_sub(b, a), e1 = isphpbdx_sub(t[1], t[0]), e2 = isphpbdx_sub(t[2], t[0]),
                 n = isphpbdx_cross(e1, e2);
    isphpbd_vec3 s = isphpbdx_sub(a, t[0]), m = isphpbdx_cross(s, d);
    float det = -isphpbdx_dot(d, n), share, u, v;
    if (!(isphpbdx_abs(det) > IPBDX_TINY)) return -1.0f;
    share = isphpbdx_dot(s, n) / det, u = isphpbdx_dot(e2, m) / det, v = -isphpbdx_dot(e1, m) / det;
    if (!(share >= 0.0f && share <= 1.0f) || u < -1e-4f || v < -1e-4f || u + v > 1.0002f) return -1.0f;
    return share;
}
/* Whether the path goes down through one of the two triangles of a cell; the first that it meets holds b back. */
static bool ipbdx_height_cell(const ipbd_world *world, const ipbdx_collider *c, int column, int row, isphpbd_vec3 a,
                              isphpbd_vec3 b, float r, ipbdx_hit *hit) {
    const float *y = &world->collider_vertices[c->vertex_begin].x + column + row * c->columns;
    const float x0 = ((float)column - 0.5f * (float)(c->columns - 1)) * c->cell;
    const float z0 = ((float)row - 0.5f * (float)(c->rows - 1)) * c->cell, x1 = x0 + c->cell, z1 = z0 + c->cell;
    const float h00 = y[0], h10 = y[1], h01 = y[c->columns], h11 = y[c->columns + 1], low = isphpbdx_min(a.y, b.y);
    isphpbd_vec3 t[3], n, up = isphpbd_v3(0.0f, 1.0f, 0.0f);
    float first = 2.0f, share;
    int half;
    if (low > h00 && low > h10 && low > h01 && low > h11) return false;
    for (half = 0; half < 2; ++half) { /* they meet on the diagonal from 00 to 11; wound to look up */
        t[0] = isphpbd_v3(x0, h00, z0);
        t[1] = half ? isphpbd_v3(x0, h01, z1) : isphpbd_v3(x1, h11, z1);
        t[2] = half ? isphpbd_v3(x1, h11, z1) : isphpbd_v3(x1, h10, z0);
        share = ipbdx_segment_triangle(a, b, t);
        n = isphpbdx_cross(isphpbdx_sub(t[1], t[0]), isphpbdx_sub(t[2], t[0]));
        if (!(share >= 0.0f && share < first) || !(isphpbdx_dot(n, isphpbdx_sub(b, a)) < 0.0f)) continue;
        first = share, hit->normal = n = ipbdx_unit(n, up);
        hit->before = isphpbdx_dot(n, isphpbdx_sub(a, t[0])), hit->depth = r - isphpbdx_dot(n, isphpbdx_sub(b, t[0]));
    }
    return first <= 1.0f;
}
/* One axis of a walk over a grid: the cell, and after which shares of the path the next ones follow. */
typedef struct ipbdx_walk {
    int cell, step, count;
    float next, each;
} ipbdx_walk;

/* What of the path from `from` on by `way`, in cells, is over the grid of `count` cells: narrows begin and end. */
static void ipbdx_walk_clip(float from, float way, int count, float *begin, float *end) {
    const float at = -from / way, beyond = ((float)count - from) / way;
    if (way == 0.0f && !(from >= 0.0f && from <= (float)count)) *end = -1.0f;
    if (way == 0.0f) return;
    *begin = isphpbdx_max(*begin, isphpbdx_min(at, beyond)), *end = isphpbdx_min(*end, isphpbdx_max(at, beyond));
}
static ipbdx_walk ipbdx_walk_start(float from, float way, int count, float begin) {
    ipbdx_walk w;
    w.cell = (int)isphpbdx_clamp(from + way * begin, 0.0f, (float)(count - 1));
    w.step = way < 0.0f ? -1 : 1, w.count = count;
    w.next = w.each = IPBDX_FAR;
    if (way != 0.0f) w.each = isphpbdx_abs(1.0f / way), w.next = ((float)(w.cell + (way > 0.0f)) - from) / way;
    return w;
}
static bool ipbdx_walk_on(ipbdx_walk *w) {
    w->cell += w->step, w->next += w->each;
    return w->cell >= 0 && w->cell < w->count;
}
/* Cell after cell under the path (Amanatides and Woo 1987), so that no ridge is too thin. */
static bool ipbdx_height_sweep(const ipbd_world *world, const ipbdx_collider *c, isphpbd_vec3 a, isphpbd_vec3 b,
                               float r, ipbdx_hit *hit) {
    const float x = a.x / c->cell + 0.5f * (float)(c->columns - 1), z = a.z / c->cell + 0.5f * (float)(c->rows - 1);
    const float way_x = (b.x - a.x) / c->cell, way_z = (b.z - a.z) / c->cell;
    float begin = 0.0f, end = 1.0f;
    ipbdx_walk across, along;
    if (!isphpbdx_finite(x + z) || !isphpbdx_finite(way_x + way_z)) return false; /* cells as good as nothing */
    ipbdx_walk_clip(x, way_x, c->columns - 1, &begin, &end);
    ipbdx_walk_clip(z, way_z, c->rows - 1, &begin, &end);
    if (!(begin <= end)) return false;
    across = ipbdx_walk_start(x, way_x, c->columns - 1, begin), along = ipbdx_walk_start(z, way_z, c->rows - 1, begin);
    for (;;) {
        if (ipbdx_height_cell(world, c, across.cell, along.cell, a, b, r, hit)) return true;
        if (!(isphpbdx_min(across.next, along.next) <= end)) return false;
        if (!ipbdx_walk_on(across.next < along.next ? &across : &along)) return false;
    }
}
static bool ipbdx_volume_hit(const ipbd_world *world, int slot, isphpbd_vec3 a, isphpbd_vec3 b, float r,
                             ipbdx_hit *hit) {
    const ipbdx_collider *c = world->colliders + slot;
    isphpbd_vec3 unused;
    if (c->type == IPBD_HEIGHTFIELD) {
        if (ipbdx_height_sweep(world, c, a, b, r, hit)) return true;
    } else if (isphpbdx_length(isphpbdx_sub(b, a)) > c->inner && ipbdx_sweep(world, slot, a, b, r, hit)) {
        return true;
    }
    hit->depth = r - ipbdx_shape_distance(world, slot, b, &hit->normal);
    if (!(hit->depth > 0.0f)) return false;
    hit->before = ipbdx_shape_distance(world, slot, a, &unused);
    return true;
}
typedef struct ipbdx_search {
    isphpbd_vec3 a, b;
    float r, nearest, first;
    isphpbd_vec3 closest, crossed[3];
} ipbdx_search;

static void ipbdx_search_triangle(ipbdx_search *s, const isphpbd_vec3 *t) {
    float share = ipbdx_segment_triangle(s->a, s->b, t), v, w, distance;
    isphpbd_vec3 q;
    if (share >= 0.0f && share < s->first) s->first = share, memcpy(s->crossed, t, sizeof s->crossed);
    ipbdx_closest_on_triangle(s->b, t[0], t[1], t[2], &v, &w);
    q = ipbdx_triangle_point(t[0], t[1], t[2], v, w);
    distance = isphpbdx_length(isphpbdx_sub(s->b, q));
    if (distance < s->nearest) s->nearest = distance, s->closest = q;
}
static void ipbdx_search_mesh(const ipbd_world *world, const ipbdx_collider *c, ipbdx_search *s) {
    isphpbd_vec3 wide = isphpbd_v3(s->r, s->r, s->r), low = isphpbdx_sub(ipbdx_min3(s->a, s->b), wide),
                 high = isphpbdx_add(ipbdx_max3(s->a, s->b), wide), t[3];
    const float *nodes = world->collider_nodes + 6 * (size_t)c->triangle_begin;
    int leaf_begin = (1 << ipbdx_tree_depth(c->triangle_count)) - 1, top = 1, i, k;
    ipbdx_visit stack[IPBDX_STACK];
    stack[0].node = 0, stack[0].low = 0, stack[0].high = c->triangle_count;
    while (top > 0) {
        ipbdx_visit visit = stack[--top];
        if (ipbdx_boxes_apart(nodes + 6 * (size_t)visit.node, low, high)) continue;
        if (ipbdx_visit_split(visit, leaf_begin, stack + top, stack + top + 1)) {
            top += 2;
            continue;
        }
        for (i = visit.low; i < visit.high; ++i) {
            const uint32_t *index = world->collider_triangles + 3 * (size_t)(c->triangle_begin + i);
            for (k = 0; k < 3; ++k) t[k] = world->collider_vertices[c->vertex_begin + (int)index[k]];
            ipbdx_search_triangle(s, t);
        }
    }
}
/* Triangles are thin: the side the path starts on is the side it stays on. */
static bool ipbdx_mesh_hit(const ipbd_world *world, int slot, isphpbd_vec3 a, isphpbd_vec3 b, float r, ipbdx_hit *hit) {
    ipbdx_search s;
    isphpbd_vec3 n, up = isphpbd_v3(0.0f, 1.0f, 0.0f);
    memset(&s, 0, sizeof s);
    s.a = a, s.b = b, s.r = r, s.nearest = r, s.first = 2.0f;
    ipbdx_search_mesh(world, world->colliders + slot, &s);
    if (s.first <= 1.0f) {
        n = ipbdx_unit(
            isphpbdx_cross(isphpbdx_sub(s.crossed[1], s.crossed[0]), isphpbdx_sub(s.crossed[2], s.crossed[0])), up);
        hit->before = isphpbdx_dot(n, isphpbdx_sub(a, s.crossed[0]));
        if (hit->before < 0.0f) n = isphpbdx_scale(n, -1.0f), hit->before = -hit->before;
        hit->normal = n, hit->depth = r - isphpbdx_dot(n, isphpbdx_sub(b, s.crossed[0]));
        return true;
    }
    if (!(s.nearest < r)) return false;
    hit->normal = ipbdx_unit(isphpbdx_sub(b, s.closest), up);
    hit->depth = r - s.nearest, hit->before = isphpbdx_dot(hit->normal, isphpbdx_sub(a, s.closest));
    return true;
}
/* How far the start of a vertex may still come out of a collider in this substep. What has a mass meets bodies in many
   sweeps, and each is no reason for more. */
static float ipbdx_way_out(const ipbd_world *world, int v, int slot) {
    const ipbdx_touch *touch = world->touches + 2 * (size_t)v;
    float way = IPBDX_PUSH_SPEED * world->h;
    int k;
    if (!(world->colliders[slot].inverse_mass > 0.0f)) return way;
    for (k = 0; k < 2 && touch[k].collider; ++k)
        if (touch[k].collider == (uint32_t)slot + 1u) way -= touch[k].out;
    return isphpbdx_max(way, 0.0f);
}
static void ipbdx_note_touch(ipbd_world *world, int v, int slot, isphpbd_vec3 moved, isphpbd_vec3 normal, float out) {
    ipbdx_touch *touch = world->touches + 2 * (size_t)v;
    const float w = world->positions[4 * (size_t)v + 3];
    const float mass = w != world->inverse_masses[v] ? 1.0f / w : world->masses[v]; /* lent mass is moved as well */
    if (touch->collider && touch->collider != (uint32_t)slot + 1u) ++touch;
    if (touch->collider != (uint32_t)slot + 1u) touch->push = ipbdx_zero3(), touch->out = touch->most = 0.0f;
    touch->collider = (uint32_t)slot + 1u, touch->normal = normal, touch->out += out;
    touch->most = isphpbdx_max(touch->most, isphpbdx_length(moved) - out);
    touch->push = isphpbdx_madd(touch->push, moved, mass);
}
/* Moves a point of a body out and takes tangential motion away up to Coulomb's limit; r is how near it may be. Parts
   that started too deep come out at a fixed speed, here by `out` at most, and their start moves with them, so that this
   adds no velocity. */
static bool ipbdx_answer_hit(const ipbd_world *world, const ipbdx_body *body, int slot, isphpbd_vec3 b, float r,
                             float out, ipbdx_hit hit, isphpbd_vec3 *start, isphpbd_vec3 *at) {
    const ipbdx_collider *c = world->colliders + slot;
    float friction = isphpbdx_max(body->friction, c->friction), length, limit, reach;
    isphpbd_vec3 n = isphpbdx_rotate(c->end.rotation, hit.normal), now, slip, surface;
    if (hit.before < r) {
        reach = isphpbdx_min(r, hit.before + out);
        hit.depth -= r - reach;
        if (!(hit.depth > 0.0f)) return false;
        *start = isphpbdx_madd(*start, n, isphpbdx_min(reach - hit.before, hit.depth));
    }
    now = isphpbdx_madd(*at, n, hit.depth);
    surface = isphpbdx_sub(ipbdx_pose_point(c->end, b), ipbdx_pose_point(c->start, b));
    slip = isphpbdx_sub(isphpbdx_sub(now, *start), surface);
    slip = isphpbdx_madd(slip, n, -isphpbdx_dot(n, slip));
    length = isphpbdx_length(slip), limit = friction * hit.depth;
    *at = isphpbdx_madd(now, slip, length > limit ? -limit / length : -1.0f);
    return true;
}
static void ipbdx_resolve_hit(ipbd_world *world, const ipbdx_body *body, int v, int slot, isphpbd_vec3 b,
                              ipbdx_hit hit) {
    float *x = world->positions + 4 * (size_t)v, *from = world->starts + 4 * (size_t)v;
    const isphpbd_vec3 old = ipbdx_v3(x), n = isphpbdx_rotate(world->colliders[slot].end.rotation, hit.normal);
    isphpbd_vec3 start = ipbdx_v3(from), now = old;
    const float out = ipbdx_way_out(world, v, slot);
    if (!ipbdx_answer_hit(world, body, slot, b, 0.5f * body->thickness, out, hit, &start, &now)) return;
    ipbdx_note_touch(world, v, slot, isphpbdx_sub(now, old), n, isphpbdx_length(isphpbdx_sub(start, ipbdx_v3(from))));
    ipbdx_put3(from, start), ipbdx_put3(x, now);
}
static bool ipbdx_find_hit(const ipbd_world *world, const ipbdx_body *body, int v, int slot, isphpbd_vec3 *at,
                           ipbdx_hit *hit) {
    const ipbdx_collider *c = world->colliders + slot;
    isphpbd_vec3 a = ipbdx_pose_local(c->start, ipbdx_v3(world->starts + 4 * (size_t)v));
    isphpbd_vec3 b = ipbdx_pose_local(c->end, ipbdx_v3(world->positions + 4 * (size_t)v));
    float r = 0.5f * body->thickness, reach = c->bound + r + isphpbdx_length(isphpbdx_sub(b, a)),
          far2 = isphpbdx_min(reach * reach, 16.0f * IPBDX_LIMIT * IPBDX_LIMIT);
    *at = b;
    if (!(isphpbdx_dot(b, b) <= far2)) return false; /* far away; or beyond all limits: then the end puts it back */
    return c->type == IPBD_MESH ? ipbdx_mesh_hit(world, slot, a, b, r, hit)
                                : ipbdx_volume_hit(world, slot, a, b, r, hit);
}
static bool ipbdx_collide_pair(ipbd_world *world, const ipbdx_body *body, int v, int slot) {
    isphpbd_vec3 at;
    ipbdx_hit hit;
    if (!ipbdx_find_hit(world, body, v, slot, &at, &hit)) return false;
    ipbdx_resolve_hit(world, body, v, slot, at, hit);
    return true;
}
/* Whether the first pin of a vertex is itself inside one of the colliders that touch the vertex: then that pin, not the
   collider, holds its neighbours stretched, for ever, and the rest of the mesh has nothing to give way to. */
static bool ipbdx_pin_is_inside(const ipbd_world *world, const ipbdx_body *body, int v) {
    const isphpbd_vec3 pin = ipbdx_anchor(world, body, world->pins[v].tethers);
    const ipbdx_touch *touch = world->touches + 2 * (size_t)v;
    int k;
    for (k = 0; k < 2 && touch[k].collider; ++k) {
        const int slot = (int)touch[k].collider - 1;
        const isphpbd_vec3 at = ipbdx_pose_local(world->colliders[slot].end, pin);
        ipbdx_hit hit;
        if (world->colliders[slot].type == IPBD_MESH
                ? ipbdx_mesh_hit(world, slot, at, at, 0.5f * body->thickness, &hit)
                : ipbdx_volume_hit(world, slot, at, at, 0.5f * body->thickness, &hit))
            return true;
    }
    return false;
}
#define IPBDX_NEAR 64
typedef struct ipbdx_near {
    int count, slots[IPBDX_NEAR];
    int planes; /* how many of the first are nothing else; with their normals */
    isphpbd_vec3 up[IPBDX_NEAR];
    isphpbd_vec3 low[IPBDX_NEAR], high[IPBDX_NEAR]; /* paths outside of these bounds do not meet it */
    bool met;                                       /* those of any, by the slab */
} ipbdx_near;                                       /* colliders that a slab may touch */

/* Above all of them, and there is nothing else? The distance is that of ipbdx_shape_distance() but for the order of its
   sums: each of its some 20 roundings is less than 1e-7 of the way from the plane's origin. */
static bool ipbdx_above_planes(const ipbd_world *world, const ipbdx_near *near_list, int v, float r) {
    int i;
    for (i = 0; i < near_list->planes; ++i) {
        const isphpbd_vec3 d = isphpbdx_sub(ipbdx_v3(world->positions + 4 * (size_t)v),
                                            world->colliders[near_list->slots[i]].end.position);
        const float way = isphpbdx_abs(d.x) + isphpbdx_abs(d.y) + isphpbdx_abs(d.z);
        if (!(isphpbdx_dot(near_list->up[i], d) > r + 1e-5f * way)) return false;
    }
    return near_list->planes == near_list->count;
}

static bool ipbdx_path_is_off(const ipbd_world *world, int v, isphpbd_vec3 low, isphpbd_vec3 high) {
    const float *a = world->starts + 4 * (size_t)v, *b = world->positions + 4 * (size_t)v;
    return (a[0] < low.x && b[0] < low.x) || (a[0] > high.x && b[0] > high.x) || (a[1] < low.y && b[1] < low.y) ||
           (a[1] > high.y && b[1] > high.y) || (a[2] < low.z && b[2] < low.z) || (a[2] > high.z && b[2] > high.z);
}

/* Two rounds: pushed out of one collider a vertex may be in another, or beyond the next triangle; so bounds count only
   until it is pushed. */
static int ipbdx_collide_vertex(ipbd_world *world, const ipbdx_body *body, int v, const ipbdx_near *near_list) {
    int round, i, hits = 0, all = 0;
    if (!(world->positions[4 * (size_t)v + 3] > 0.0f)) return 0;
    if (ipbdx_above_planes(world, near_list, v, 0.5f * body->thickness)) return 0;
    for (round = 0; round < 3; ++round, all += hits) {
        for (i = 0, hits = 0; i < near_list->count; ++i) {
            if (all + hits == 0 && ipbdx_path_is_off(world, v, near_list->low[i], near_list->high[i])) continue;
            hits += ipbdx_collide_pair(world, body, v, near_list->slots[i]);
        }
        if (!hits || (near_list->count == 1 && world->colliders[near_list->slots[0]].type != IPBD_MESH)) break;
    }
    return all + hits > 0;
}
/* A slab's swept box. */
static void ipbdx_slab_box(const ipbd_world *world, const ipbdx_slab *slab, isphpbd_vec3 *low, isphpbd_vec3 *high) {
    const ipbdx_body *body = world->bodies + slab->body;
    int v;
    *low = isphpbd_v3(IPBDX_FAR, IPBDX_FAR, IPBDX_FAR), *high = isphpbdx_scale(*low, -1.0f);
    for (v = body->vertex_begin + slab->vertex_begin; v < body->vertex_begin + slab->vertex_end; ++v) {
        isphpbd_vec3 a = ipbdx_v3(world->starts + 4 * (size_t)v), b = ipbdx_v3(world->positions + 4 * (size_t)v);
        *low = ipbdx_min3(*low, ipbdx_min3(a, b)), *high = ipbdx_max3(*high, ipbdx_max3(a, b));
    }
}
static bool ipbdx_pose_equal(ipbd_pose a, ipbd_pose b) {
    return a.position.x == b.position.x && a.position.y == b.position.y && a.position.z == b.position.z &&
           a.rotation.x == b.rotation.x && a.rotation.y == b.rotation.y && a.rotation.z == b.rotation.z &&
           a.rotation.w == b.rotation.w;
}
/* Half the size of a collider's box in its own frame, and its middle; false for what has none. */
static bool ipbdx_local_box(const ipbd_world *world, const ipbdx_collider *c, isphpbd_vec3 *half,
                            isphpbd_vec3 *middle) {
    const float *root = world->collider_nodes + 6 * (size_t)c->triangle_begin;
    *half = c->size, *middle = ipbdx_zero3();
    if (c->type == IPBD_CAPSULE) *half = isphpbd_v3(c->size.x, c->size.x + c->size.y, c->size.x);
    else if (c->type == IPBD_MESH)
        *half = isphpbdx_scale(isphpbdx_sub(ipbdx_v3(root + 3), ipbdx_v3(root)), 0.5f),
        *middle = ipbdx_lerp3(ipbdx_v3(root), ipbdx_v3(root + 3), 0.5f);
    return c->type == IPBD_BOX || c->type == IPBD_CAPSULE || (c->type == IPBD_MESH && c->triangle_count > 0);
}
/* World box of a local one of this half size and middle, with `room` and room for rounding. */
static void ipbdx_pose_box(ipbd_pose pose, isphpbd_vec3 half, isphpbd_vec3 middle, float room, isphpbd_vec3 *low,
                           isphpbd_vec3 *high) {
    const isphpbd_vec3 x = isphpbdx_rotate(pose.rotation, isphpbd_v3(half.x, 0.0f, 0.0f)),
                       y = isphpbdx_rotate(pose.rotation, isphpbd_v3(0.0f, half.y, 0.0f)),
                       z = isphpbdx_rotate(pose.rotation, isphpbd_v3(0.0f, 0.0f, half.z));
    middle = ipbdx_pose_point(pose, middle);
    room += 1e-3f * (half.x + half.y + half.z) +
            1e-5f * (isphpbdx_abs(middle.x) + isphpbdx_abs(middle.y) + isphpbdx_abs(middle.z));
    half = isphpbd_v3(isphpbdx_abs(x.x) + isphpbdx_abs(y.x) + isphpbdx_abs(z.x) + room,
                      isphpbdx_abs(x.y) + isphpbdx_abs(y.y) + isphpbdx_abs(z.y) + room,
                      isphpbdx_abs(x.z) + isphpbdx_abs(y.z) + isphpbdx_abs(z.z) + room);
    *low = isphpbdx_sub(middle, half), *high = isphpbdx_add(middle, half);
}
/* Bounds of a collider that stands still, with the distance r and room for rounding; of others, everything. */
static void ipbdx_near_bounds(const ipbd_world *world, const ipbdx_collider *c, float r, isphpbd_vec3 *low,
                              isphpbd_vec3 *high) {
    const isphpbd_vec3 all = isphpbd_v3(3e38f, 3e38f, 3e38f);
    isphpbd_vec3 half, middle;
    *low = isphpbdx_scale(all, -1.0f), *high = all;
    if (!ipbdx_pose_equal(c->start, c->end) || !ipbdx_local_box(world, c, &half, &middle)) return;
    ipbdx_pose_box(c->end, half, middle, 1.02f * r, low, high);
}
static void ipbdx_near_add(const ipbd_world *world, ipbdx_near *out, int slot, float r) {
    const ipbdx_collider *c = world->colliders + slot;
    if (c->type == IPBD_PLANE && out->planes == out->count)
        out->up[out->planes++] = isphpbdx_rotate(c->end.rotation, isphpbd_v3(0.0f, 1.0f, 0.0f));
    ipbdx_near_bounds(world, c, r, out->low + out->count, out->high + out->count);
    out->slots[out->count++] = slot;
}
/* Colliders from slot `from` on whose bounding sphere, if they have one, meets that of the slab's swept box; answers
   where to go on. */
static int ipbdx_list_near(const ipbd_world *world, const ipbdx_slab *slab, int from, ipbdx_near *out) {
    const ipbdx_body *body = world->bodies + slab->body;
    const float r = 0.5f * body->thickness;
    isphpbd_vec3 low = ipbdx_zero3(), high = low;
    float reach = -1.0f; /* not known yet */
    int i;
    out->count = out->planes = 0, out->met = false;
    for (; from < world->counts.colliders && out->count < IPBDX_NEAR; ++from) {
        const ipbdx_collider *c = world->colliders + from;
        if (!c->used || !(c->layer & body->mask) || !(body->layer & c->mask)) continue;
        if (c->bound < 0.5f * IPBDX_FAR) {
            const float moved = isphpbdx_length(isphpbdx_sub(c->end.position, c->start.position));
            isphpbd_vec3 d;
            float range;
            if (reach < 0.0f) {
                ipbdx_slab_box(world, slab, &low, &high);
                reach = 0.5f * isphpbdx_length(isphpbdx_sub(high, low)) + r;
            }
            d = isphpbdx_sub(c->end.position, ipbdx_lerp3(low, high, 0.5f)), range = c->bound + reach + moved;
            if (isphpbdx_dot(d, d) > range * range) continue;
        }
        ipbdx_near_add(world, out, from, r);
    }
    for (i = 0; i < out->count && !out->met; ++i)
        out->met = reach < 0.0f || (low.x <= out->high[i].x && low.y <= out->high[i].y && low.z <= out->high[i].z &&
                                    high.x >= out->low[i].x && high.y >= out->low[i].y && high.z >= out->low[i].z);
    return from;
}

/* ---- faces of bodies against colliders with mass ----
   Between its vertices a mesh is met by what has a mass: a fast ball stretches the cells it hits until it is
   smaller than they are, and would pass through them. Vertices stay half a thickness away, faces just outside: a mesh
   that is fine enough for the shape never needs this. After the vertices, so that only what they miss is left. */

typedef struct ipbdx_face {
    int v[3];
    isphpbd_vec3 a[3], b[3]; /* in the collider's frame: where it was when the substep began, and where it is */
    float way;               /* m, the longest of a corner */
} ipbdx_face;
#define IPBDX_FACES       32 /* triangles under one box: they lie side by side */
#define IPBDX_FACE_ROUNDS 4
#define IPBDX_FACE_LEVER  2.0f /* a push near a pin moves what is free at most by so much more */
#define IPBDX_BLOW_PASSES 16   /* by trial: with 8, silk still lets one ball of 50 m/s in a hundred through */

static isphpbd_vec3 ipbdx_on_face(const isphpbd_vec3 *corners, const float *share) {
    return isphpbdx_madd(isphpbdx_madd(isphpbdx_scale(corners[0], share[0]), corners[1], share[1]), corners[2],
                         share[2]);
}
static float ipbdx_face_radius(const isphpbd_vec3 *corners, isphpbd_vec3 centre) {
    return isphpbdx_max(isphpbdx_length(isphpbdx_sub(corners[0], centre)),
                        isphpbdx_max(isphpbdx_length(isphpbdx_sub(corners[1], centre)),
                                     isphpbdx_length(isphpbdx_sub(corners[2], centre))));
}
/* How near the face can be at least, by the distance and its normal at one point of it: convex shapes lie behind the
   plane there. */
static float ipbdx_face_bound(const ipbdx_collider *c, const isphpbd_vec3 *corners, isphpbd_vec3 p, float radius,
                              const ipbdx_hit *at) {
    if (c->type == IPBD_SDF) return at->before - radius;
    return at->before + isphpbdx_min(isphpbdx_dot(at->normal, isphpbdx_sub(corners[0], p)),
                                     isphpbdx_min(isphpbdx_dot(at->normal, isphpbdx_sub(corners[1], p)),
                                                  isphpbdx_dot(at->normal, isphpbdx_sub(corners[2], p))));
}
/* The distance of the face's deepest point, which `share` tells: steps against the normal, and back to the nearest
   point of the face. To the centre of a sphere or the axis of a capsule that is exact, else the steps get smaller. */
static float ipbdx_face_distance(const ipbd_world *world, int slot, const isphpbd_vec3 *corners, float *share,
                                 isphpbd_vec3 *normal) {
    const ipbdx_collider *c = world->colliders + slot;
    const bool round = c->type == IPBD_SPHERE || c->type == IPBD_CAPSULE;
    isphpbd_vec3 p, q;
    ipbdx_hit best, next;
    float step, v, w;
    int i;
    share[0] = share[1] = share[2] = 1.0f / 3.0f;
    p = ipbdx_on_face(corners, share), step = ipbdx_face_radius(corners, p);
    best.depth = next.depth = 0.0f; /* for others to find */
    best.before = ipbdx_shape_distance(world, slot, p, &best.normal);
    for (i = 0; i < 8; ++i, step *= 0.5f) {
        if (i == 0 && ipbdx_face_bound(c, corners, p, step, &best) > 0.0f) break;
        q = isphpbdx_madd(p, best.normal, round ? -best.before - c->size.x : -step);
        ipbdx_closest_on_triangle(q, corners[0], corners[1], corners[2], &v, &w);
        q = ipbdx_triangle_point(corners[0], corners[1], corners[2], v, w);
        next.before = ipbdx_shape_distance(world, slot, q, &next.normal);
        if (next.before < best.before) best = next, p = q, share[0] = 1.0f - v - w, share[1] = v, share[2] = w;
        else if (round) break;
    }
    *normal = best.normal;
    return best.before;
}
/* First time that the moving face touches; the shape's plane there then holds it back, as with a vertex. */
static bool ipbdx_face_sweep(const ipbd_world *world, int slot, const ipbdx_face *f, float *share, ipbdx_hit *hit) {
    isphpbd_vec3 now[3];
    float t = 0.0f, distance;
    int i, k;
    for (i = 0; i < 32; ++i) {
        for (k = 0; k < 3; ++k) now[k] = ipbdx_lerp3(f->a[k], f->b[k], t);
        distance = ipbdx_face_distance(world, slot, now, share, &hit->normal);
        if (distance <= 1e-3f * f->way) {
            const isphpbd_vec3 rest = isphpbdx_sub(ipbdx_on_face(f->b, share), ipbdx_on_face(now, share));
            hit->depth = -(distance + isphpbdx_dot(hit->normal, rest)), hit->before = i == 0 ? distance : 0.0f;
            return hit->depth > 0.0f;
        }
        t += distance / f->way;
        if (!(t < 1.0f)) return false;
    }
    return false;
}
static bool ipbdx_face_hit(const ipbd_world *world, int slot, const ipbdx_face *f, float *share, ipbdx_hit *hit) {
    isphpbd_vec3 unused;
    if (f->way > world->colliders[slot].inner && ipbdx_face_sweep(world, slot, f, share, hit)) return true;
    hit->depth = -ipbdx_face_distance(world, slot, f->b, share, &hit->normal);
    if (!(hit->depth > 0.0f)) return false;
    hit->before = ipbdx_shape_distance(world, slot, ipbdx_on_face(f->a, share), &unused);
    return true;
}
/* The corners move so that the point between them does. */
static void ipbdx_move_face(ipbd_world *world, const ipbdx_face *f, const float *share, int slot, isphpbd_vec3 normal,
                            isphpbd_vec3 shift, isphpbd_vec3 moved) {
    float weight[3], sum = 0.0f, most = 0.0f, scale;
    int k;
    for (k = 0; k < 3; ++k) {
        weight[k] = world->positions[4 * (size_t)f->v[k] + 3] * share[k];
        sum += weight[k] * share[k], most = isphpbdx_max(most, weight[k]);
    }
    if (!(sum > 0.0f)) return;
    scale = isphpbdx_min(1.0f / sum, IPBDX_FACE_LEVER / most);
    for (k = 0; k < 3; ++k) {
        float *x = world->positions + 4 * (size_t)f->v[k], *start = world->starts + 4 * (size_t)f->v[k];
        const isphpbd_vec3 old = ipbdx_v3(x), now = isphpbdx_madd(old, moved, weight[k] * scale);
        if (!(weight[k] > 0.0f)) continue;
        ipbdx_put3(start, isphpbdx_madd(ipbdx_v3(start), shift, weight[k] * scale)), ipbdx_put3(x, now);
        ipbdx_note_touch(world, f->v[k], slot, isphpbdx_sub(now, old), normal,
                         weight[k] * scale * isphpbdx_length(shift));
    }
}
static bool ipbdx_face_ready(const ipbd_world *world, const ipbdx_collider *c, const uint32_t *triangle,
                             ipbdx_face *f) {
    int k;
    f->way = 0.0f;
    for (k = 0; k < 3; ++k) {
        const size_t v = triangle[k];
        f->v[k] = (int)v;
        f->a[k] = ipbdx_pose_local(c->start, ipbdx_v3(world->starts + 4 * v));
        f->b[k] = ipbdx_pose_local(c->end, ipbdx_v3(world->positions + 4 * v));
        f->way = isphpbdx_max(f->way, isphpbdx_length(isphpbdx_sub(f->b[k], f->a[k])));
        if (!(isphpbdx_dot(f->b[k], f->b[k]) <= 16.0f * IPBDX_LIMIT * IPBDX_LIMIT)) return false;
    }
    return f->way <= 4.0f * IPBDX_LIMIT;
}
/* Answers by how much the face came nearer in this substep (m), 0 if it was not hit. */
static float ipbdx_collide_face(ipbd_world *world, const ipbdx_body *body, const uint32_t *triangle, int slot) {
    const ipbdx_collider *c = world->colliders + slot;
    isphpbd_vec3 from[3], to[3], old, now, start, began, path;
    float share[3], out = IPBDX_PUSH_SPEED * world->h;
    ipbdx_face f;
    ipbdx_hit hit;
    int k;
    if (!ipbdx_face_ready(world, c, triangle, &f) || !ipbdx_face_hit(world, slot, &f, share, &hit)) return 0.0f;
    for (k = 0; k < 3; ++k)
        from[k] = ipbdx_v3(world->starts + 4 * (size_t)f.v[k]), to[k] = ipbdx_v3(world->positions + 4 * (size_t)f.v[k]);
    old = now = ipbdx_on_face(to, share), start = began = ipbdx_on_face(from, share);
    for (k = 0; k < 3; ++k) out = isphpbdx_min(out, ipbdx_way_out(world, f.v[k], slot));
    if (!ipbdx_answer_hit(world, body, slot, ipbdx_on_face(f.b, share), 0.0f, out, hit, &start, &now)) return 0.0f;
    ipbdx_move_face(world, &f, share, slot, isphpbdx_rotate(c->end.rotation, hit.normal), isphpbdx_sub(start, began),
                    isphpbdx_sub(now, old));
    path = isphpbdx_sub(ipbdx_on_face(f.b, share), ipbdx_on_face(f.a, share));
    return isphpbdx_max(-isphpbdx_dot(hit.normal, path), IPBDX_TINY);
}
/* What nothing can stop is met by vertices alone: a cloth that its pins hold has no place to go. Of planes,
   heightfields and meshes there is no inside that a face could be in while its corners are not. */
static bool ipbdx_meets_faces(const ipbdx_collider *c) {
    return c->used && c->type != IPBD_PLANE && c->type != IPBD_HEIGHTFIELD && c->type != IPBD_MESH &&
           c->inverse_mass > 0.0f;
}
static bool ipbdx_any_meets_faces(const ipbd_world *world) {
    int i;
    for (i = 0; i < world->counts.colliders; ++i)
        if (ipbdx_meets_faces(world->colliders + i)) return true;
    return false;
}
/* Where the collider is in this substep; m, low and high. What turns leaves the straight way between its poses by no
   more than its radius times one less the cosine of half the angle. */
static void ipbdx_collider_box(const ipbd_world *world, const ipbdx_collider *c, float *box) {
    const isphpbd_quat p = c->start.rotation, q = c->end.rotation;
    const float arc = c->bound * (1.0f - isphpbdx_abs(p.x * q.x + p.y * q.y + p.z * q.z + p.w * q.w));
    isphpbd_vec3 half, middle, low, high, other_low, other_high;
    if (!ipbdx_local_box(world, c, &half, &middle))
        half = isphpbd_v3(c->bound, c->bound, c->bound), middle = ipbdx_zero3();
    ipbdx_pose_box(c->start, half, middle, isphpbdx_abs(arc), &low, &high);
    ipbdx_pose_box(c->end, half, middle, isphpbdx_abs(arc), &other_low, &other_high);
    ipbdx_put3(box, ipbdx_min3(low, other_low)), ipbdx_put3(box + 3, ipbdx_max3(high, other_high));
}
static void ipbdx_box_add_path(const ipbd_world *world, size_t v, isphpbd_vec3 *low, isphpbd_vec3 *high) {
    const isphpbd_vec3 a = ipbdx_v3(world->starts + 4 * v), b = ipbdx_v3(world->positions + 4 * v);
    *low = ipbdx_min3(*low, ipbdx_min3(a, b)), *high = ipbdx_max3(*high, ipbdx_max3(a, b));
}
typedef struct ipbdx_movers {
    int count, slots[IPBDX_NEAR];
    float boxes[IPBDX_NEAR][6];
} ipbdx_movers;

/* From slot `from` on those that may meet faces of the body; answers where to go on. */
static int ipbdx_list_movers(const ipbd_world *world, const ipbdx_body *body, int from, ipbdx_movers *out) {
    isphpbd_vec3 low = isphpbd_v3(IPBDX_FAR, IPBDX_FAR, IPBDX_FAR), high = isphpbdx_scale(low, -1.0f);
    int i, kept = 0;
    for (out->count = 0; from < world->counts.colliders && out->count < IPBDX_NEAR; ++from) {
        const ipbdx_collider *c = world->colliders + from;
        if (!ipbdx_meets_faces(c) || !(c->layer & body->mask) || !(body->layer & c->mask)) continue;
        ipbdx_collider_box(world, c, out->boxes[out->count]);
        out->slots[out->count++] = from;
    }
    for (i = body->vertex_begin; i < body->vertex_begin + body->vertex_count && out->count > 0; ++i)
        ipbdx_box_add_path(world, (size_t)i, &low, &high);
    for (i = 0; i < out->count; ++i) {
        if (ipbdx_boxes_apart(out->boxes[i], low, high)) continue;
        memmove(out->boxes[kept], out->boxes[i], sizeof out->boxes[i]);
        out->slots[kept++] = out->slots[i];
    }
    out->count = kept;
    return from;
}
/* The square of the longest edge; rows of positions. */
static float ipbdx_face_span(const float *rows, const uint32_t *triangle) {
    const isphpbd_vec3 a = ipbdx_v3(rows + 4 * (size_t)triangle[0]), b = ipbdx_v3(rows + 4 * (size_t)triangle[1]),
                       c = ipbdx_v3(rows + 4 * (size_t)triangle[2]), u = isphpbdx_sub(b, a), v = isphpbdx_sub(c, b),
                       w = isphpbdx_sub(a, c);
    return isphpbdx_max(isphpbdx_dot(u, u), isphpbdx_max(isphpbdx_dot(v, v), isphpbdx_dot(w, w)));
}
/* Whether the face may meet a mover though its corners keep half a thickness t from it. All of a triangle is within
   L / sqrt(3) of a corner (Jung), L its longest edge: with L^2 <= 3 r t corners keep it out of what is round. */
static bool ipbdx_face_near(const ipbd_world *world, const ipbdx_body *body, const uint32_t *triangle,
                            const ipbdx_movers *movers, int k) {
    const ipbdx_collider *c = world->colliders + movers->slots[k];
    isphpbd_vec3 low = isphpbd_v3(IPBDX_FAR, IPBDX_FAR, IPBDX_FAR), high = isphpbdx_scale(low, -1.0f);
    int i;
    for (i = 0; i < 3; ++i) ipbdx_box_add_path(world, triangle[i], &low, &high);
    if (ipbdx_boxes_apart(movers->boxes[k], low, high)) return false;
    if (c->type != IPBD_SPHERE && c->type != IPBD_CAPSULE) return true;
    return !(isphpbdx_max(ipbdx_face_span(world->positions, triangle), ipbdx_face_span(world->starts, triangle)) <=
             3.0f * c->size.x * body->thickness);
}
static float ipbdx_collide_faces(ipbd_world *world, const ipbdx_body *body, const uint32_t *triangles, int count,
                               const ipbdx_movers *movers) {
    isphpbd_vec3 low = isphpbd_v3(IPBDX_FAR, IPBDX_FAR, IPBDX_FAR), high = isphpbdx_scale(low, -1.0f);
    float way = 0.0f;
    int i, k;
    for (i = 0; i < 3 * count; ++i) ipbdx_box_add_path(world, triangles[i], &low, &high);
    for (k = 0; k < movers->count; ++k) {
        if (ipbdx_boxes_apart(movers->boxes[k], low, high)) continue;
        for (i = 0; i < count; ++i)
            if (ipbdx_face_near(world, body, triangles + 3 * i, movers, k))
                way = isphpbdx_max(way, ipbdx_collide_face(world, body, triangles + 3 * i, movers->slots[k]));
    }
    return way;
}
/* One after the other, in rounds: faces share vertices. Answers how far the fastest came that was hit; m. */
static float ipbdx_collide_body(ipbd_world *world, const ipbdx_body *body) {
    const uint32_t *triangles = world->world_triangles + 3 * (size_t)body->triangle_begin;
    int i, round, next = 0;
    float way, most = 0.0f;
    ipbdx_movers movers;
    while (next < world->counts.colliders) {
        next = ipbdx_list_movers(world, body, next, &movers);
        for (round = 0, way = (float)movers.count; round < IPBDX_FACE_ROUNDS && way > 0.0f; ++round) {
            for (i = 0, way = 0.0f; i < body->triangle_count; i += IPBDX_FACES)
                way = isphpbdx_max(way, ipbdx_collide_faces(world, body, triangles + 3 * (size_t)i,
                                                            isphpbdx_mini(IPBDX_FACES, body->triangle_count - i),
                                                            &movers));
            most = isphpbdx_max(most, way);
        }
    }
    return most;
}

/* Poses of this substep. Bodies with mass leave their given path by what the impulses of this step did to them. */
static ipbd_pose ipbdx_collider_at(const ipbdx_collider *c, float t) {
    ipbd_pose pose = c->to;
    if (t < 1.0f)
        pose.position = ipbdx_lerp3(c->from.position, c->to.position, t),
        pose.rotation = ipbdx_quat_mix(c->from.rotation, c->to.rotation, t);
    pose.position = ipbdx_limited3(isphpbdx_add(pose.position, c->yield_offset), IPBDX_LIMIT);
    pose.rotation = ipbdx_quat_unit(ipbdx_quat_mul(c->yield_turn, pose.rotation));
    return pose;
}
static void ipbdx_place_colliders(ipbd_world *world) {
    float t = world->substep + 1 >= world->substeps ? 1.0f : (float)(world->substep + 1) / (float)world->substeps;
    int i;
    for (i = 0; i < world->counts.colliders; ++i) {
        ipbdx_collider *c = world->colliders + i;
        if (!c->used) continue;
        c->start = c->end, c->end = ipbdx_collider_at(c, t);
    }
}
static void ipbdx_wake_near(ipbd_world *world, const ipbdx_collider *c) {
    int i;
    for (i = 0; i < world->counts.bodies; ++i) {
        ipbdx_body *body = world->bodies + i;
        isphpbd_vec3 low = body->low, high = body->high, a = ipbdx_min3(c->from.position, c->to.position),
                     b = ipbdx_max3(c->from.position, c->to.position);
        if (!body->used || !body->asleep) continue;
        if (c->bound < 0.5f * IPBDX_FAR &&
            (a.x - c->bound > high.x || b.x + c->bound < low.x || a.y - c->bound > high.y || b.y + c->bound < low.y ||
             a.z - c->bound > high.z || b.z + c->bound < low.z))
            continue;
        body->asleep = 0, body->quiet_seconds = 0.0f;
    }
}
static void ipbdx_begin_colliders(ipbd_world *world) {
    int i;
    for (i = 0; i < world->counts.colliders; ++i) {
        ipbdx_collider *c = world->colliders + i;
        if (!c->used) continue;
        c->yield_velocity = c->yield_spin = c->yield_offset = ipbdx_zero3();
        c->yield_turn = ipbdx_quat_identity();
        c->start = c->end = c->from;
        if (!ipbdx_pose_equal(c->from, c->to)) ipbdx_wake_near(world, c);
    }
}
/* impulse in N s on the collider at a point. */
static void ipbdx_push_collider(ipbdx_collider *c, isphpbd_vec3 point, isphpbd_vec3 impulse) {
    isphpbd_vec3 torque = isphpbdx_cross(isphpbdx_sub(point, c->end.position), impulse), local;
    c->linear = ipbdx_limited3(isphpbdx_add(c->linear, impulse), IPBDX_MOST_IMPULSE);
    c->angular = ipbdx_limited3(isphpbdx_add(c->angular, torque), IPBDX_MOST_IMPULSE);
    if (!(c->inverse_mass > 0.0f)) return;
    c->yield_velocity = ipbdx_limited3(isphpbdx_madd(c->yield_velocity, impulse, c->inverse_mass), IPBDX_LIMIT);
    local = isphpbdx_unrotate(c->end.rotation, torque);
    local = isphpbd_v3(local.x * c->inverse_inertia.x, local.y * c->inverse_inertia.y, local.z * c->inverse_inertia.z);
    c->yield_spin =
        ipbdx_limited3(isphpbdx_add(c->yield_spin, isphpbdx_rotate(c->end.rotation, local)), IPBDX_LIMIT);
}
static void ipbdx_collect_touch(ipbd_world *world, int v, const ipbdx_touch *touch) {
    ipbdx_collider *c = world->colliders + touch->collider - 1;
    ipbdx_blow *blow = world->blows + touch->collider - 1;
    const isphpbd_vec3 x = ipbdx_v3(world->positions + 4 * (size_t)v);
    ipbdx_push_collider(c, x, isphpbdx_scale(touch->push, -1.0f / world->h));
    blow->hardest = isphpbdx_max(blow->hardest, touch->most / world->h);
    blow->lever = isphpbdx_max(blow->lever, isphpbdx_length(isphpbdx_sub(x, c->end.position)));
}
static isphpbd_vec3 ipbdx_no_longer(isphpbd_vec3 before, isphpbd_vec3 now, float most) {
    const isphpbd_vec3 change = isphpbdx_sub(now, before);
    const float length = isphpbdx_length(change);
    return length > most ? isphpbdx_madd(before, change, most / length) : now;
}
/* Vertices are moved as if nothing could stop the collider; one that is lighter than they are would then yield by more
   than they moved, meet the next, and be thrown between them faster and faster. However heavy they are, it cannot get
   more speed from them than it gave (three times that where it turns: inertia is less than mass times lever squared).
   The impulse that the host gets is the whole of it. */
static void ipbdx_bound_blows(ipbd_world *world) {
    int i;
    for (i = 0; i < world->counts.colliders; ++i) {
        ipbdx_collider *c = world->colliders + i;
        const ipbdx_blow *blow = world->blows + i;
        c->yield_velocity = ipbdx_no_longer(blow->velocity, c->yield_velocity, blow->hardest);
        c->yield_spin = ipbdx_no_longer(blow->spin, c->yield_spin,
                                        3.0f * blow->hardest / isphpbdx_max(blow->lever, IPBDX_TINY));
    }
}
static void ipbdx_collect_touches(ipbd_world *world) {
    int i, k, v;
    for (i = 0; i < world->counts.colliders; ++i) {
        world->blows[i].velocity = world->colliders[i].yield_velocity;
        world->blows[i].spin = world->colliders[i].yield_spin;
        world->blows[i].hardest = world->blows[i].lever = 0.0f;
    }
    for (i = 0; i < world->interior_count; ++i) {
        const ipbdx_slab *slab = world->slabs + world->interiors[i];
        int begin = world->bodies[slab->body].vertex_begin;
        if (!world->partials[world->interiors[i]].contacts) continue;
        for (v = begin + slab->vertex_begin; v < begin + slab->vertex_end; ++v)
            for (k = 0; k < 2 && world->touches[2 * (size_t)v + (size_t)k].collider; ++k)
                ipbdx_collect_touch(world, v, world->touches + 2 * (size_t)v + k);
    }
    ipbdx_bound_blows(world);
}
static void ipbdx_end_colliders(ipbd_world *world) {
    int i;
    ipbdx_collect_touches(world);
    ipbdx_collect_attachments(world);
    for (i = 0; i < world->counts.colliders; ++i) {
        ipbdx_collider *c = world->colliders + i;
        isphpbd_quat turn;
        if (!c->used || !(c->inverse_mass > 0.0f)) continue;
        c->yield_offset = ipbdx_limited3(isphpbdx_madd(c->yield_offset, c->yield_velocity, world->h), IPBDX_LIMIT);
        turn.x = 0.5f * world->h * c->yield_spin.x, turn.y = 0.5f * world->h * c->yield_spin.y,
        turn.z = 0.5f * world->h * c->yield_spin.z, turn.w = 1.0f;
        c->yield_turn = ipbdx_quat_unit(ipbdx_quat_mul(turn, c->yield_turn));
    }
}
static void ipbdx_finish_colliders(ipbd_world *world) {
    int i;
    for (i = 0; i < world->counts.colliders; ++i)
        world->colliders[i].from = world->colliders[i].to = world->colliders[i].end;
}

ISPHPBD_API ipbd_collider_desc ipbd_collider_desc_default(void) {
    ipbd_collider_desc d;
    memset(&d, 0, sizeof d);
    d.shape = ipbd_shape_plane();
    d.pose = ipbd_pose_at(0.0f, 0.0f, 0.0f);
    d.friction = 0.3f;
    d.layer = 1u, d.mask = 0xffffffffu;
    d.cookie = IPBDX_COLLIDER_COOKIE;
    return d;
}
static ipbd_shape ipbdx_shape(ipbd_shape_type type, float x, float y, float z) {
    ipbd_shape s;
    memset(&s, 0, sizeof s);
    s.type = type, s.size = isphpbd_v3(x, y, z);
    return s;
}
ISPHPBD_API ipbd_shape ipbd_shape_plane(void) { return ipbdx_shape(IPBD_PLANE, 0.0f, 0.0f, 0.0f); }
ISPHPBD_API ipbd_shape ipbd_shape_sphere(float radius) { return ipbdx_shape(IPBD_SPHERE, radius, 0.0f, 0.0f); }
ISPHPBD_API ipbd_shape ipbd_shape_capsule(float radius, float half_length) {
    return ipbdx_shape(IPBD_CAPSULE, radius, half_length, 0.0f);
}
ISPHPBD_API ipbd_shape ipbd_shape_box(float half_x, float half_y, float half_z) {
    return ipbdx_shape(IPBD_BOX, half_x, half_y, half_z);
}
static ipbd_shape ipbdx_shape_of_triangles(ipbd_shape_type type, const float *positions, int vertex_count,
                                           const uint32_t *triangles, int count) {
    ipbd_shape s = ipbdx_shape(type, 0.0f, 0.0f, 0.0f);
    s.mesh.positions = positions, s.mesh.stride_bytes = 12, s.mesh.vertex_count = vertex_count;
    s.mesh.triangles = triangles, s.mesh.triangle_count = count;
    return s;
}
ISPHPBD_API ipbd_shape ipbd_shape_convex(const float *positions, int vertex_count, const uint32_t *triangles,
                                         int count) {
    return ipbdx_shape_of_triangles(IPBD_CONVEX, positions, vertex_count, triangles, count);
}
ISPHPBD_API ipbd_shape ipbd_shape_mesh(const float *positions, int vertex_count, const uint32_t *triangles, int count) {
    return ipbdx_shape_of_triangles(IPBD_MESH, positions, vertex_count, triangles, count);
}
ISPHPBD_API ipbd_shape ipbd_shape_heightfield(const float *heights, int columns, int rows, float cell) {
    ipbd_shape s = ipbdx_shape(IPBD_HEIGHTFIELD, 0.0f, 0.0f, 0.0f);
    s.heights = heights, s.columns = columns, s.rows = rows, s.cell = cell;
    return s;
}
ISPHPBD_API ipbd_shape ipbd_shape_sdf(ipbd_sdf_fn sdf, void *user) {
    ipbd_shape s = ipbdx_shape(IPBD_SDF, 0.0f, 0.0f, 0.0f);
    s.sdf = sdf, s.sdf_user = user;
    return s;
}

static const char *ipbdx_shape_mesh_fault(const ipbd_mesh *m) {
    int i;
    if (!m->positions || !m->triangles || m->vertex_count <= 0 || m->triangle_count <= 0 || m->stride_bytes < 12)
        return "the collider's mesh is empty";
    if (m->vertex_count > 1 << 24 || m->triangle_count > 1 << 24) return "the collider's mesh is too large";
    if (!ipbdx_indices_valid(m->triangles, 3 * m->triangle_count, m->vertex_count))
        return "the collider's mesh has an index out of range";
    for (i = 0; i < m->vertex_count; ++i)
        if (!ipbdx_sane3(ipbdx_read_point(m->positions, m->stride_bytes, i)))
            return "the collider's mesh has a vertex that is not finite";
    return NULL;
}
static void ipbdx_mesh_corners(const ipbd_mesh *m, int triangle, isphpbd_vec3 *corners) {
    int k;
    for (k = 0; k < 3; ++k)
        corners[k] = ipbdx_read_point(m->positions, m->stride_bytes, (int)m->triangles[3 * triangle + k]);
}
static bool ipbdx_corners_are_flat(const isphpbd_vec3 *corners, float limit) {
    static const uint32_t order[3] = {0, 1, 2};
    const float longest = ipbdx_longest_edge(corners, order, 3);
    return !(ipbdx_triangle_area(corners, order) > limit * longest * longest);
}
static const char *ipbdx_surface_fault(const ipbd_mesh *m) {
    isphpbd_vec3 corners[3];
    int i;
    for (i = 0; i < m->triangle_count; ++i) {
        ipbdx_mesh_corners(m, i, corners);
        if (!ipbdx_corners_are_flat(corners, 1e-6f)) return NULL;
    }
    return "all triangles of the collider's mesh are without area";
}
/* A point inside of a convex mesh: the mean of its triangles' corners. */
static isphpbd_vec3 ipbdx_convex_middle(const ipbd_mesh *m) {
    isphpbd_vec3 corners[3], sum = ipbdx_zero3();
    int i, k;
    for (i = 0; i < m->triangle_count; ++i) {
        ipbdx_mesh_corners(m, i, corners);
        for (k = 0; k < 3; ++k) sum = isphpbdx_madd(sum, corners[k], 1.0f / (3.0f * (float)m->triangle_count));
    }
    return sum;
}
/* The plane of a face, its normal away from the middle; false for slivers, whose normal would be noise, and which
   their neighbours' planes cover. */
static bool ipbdx_face_plane(const isphpbd_vec3 *corners, isphpbd_vec3 middle, isphpbd_vec3 *normal, float *offset) {
    isphpbd_vec3 n = isphpbdx_cross(isphpbdx_sub(corners[1], corners[0]), isphpbdx_sub(corners[2], corners[0]));
    if (ipbdx_corners_are_flat(corners, IPBDX_SLIVER)) return false;
    n = ipbdx_unit(n, isphpbd_v3(0.0f, 1.0f, 0.0f));
    if (isphpbdx_dot(n, isphpbdx_sub(corners[0], middle)) < 0.0f) n = isphpbdx_scale(n, -1.0f);
    *normal = n, *offset = isphpbdx_dot(n, corners[0]);
    return true;
}
/* The angle in sr under which a triangle is seen whose corners are in these directions (Van Oosterom and Strackee
   1983). */
static float ipbdx_solid_angle(isphpbd_vec3 a, isphpbd_vec3 b, isphpbd_vec3 c) {
    return 2.0f * ipbdx_atan2(isphpbdx_abs(isphpbdx_dot(a, isphpbdx_cross(b, c))),
                              1.0f + isphpbdx_dot(a, b) + isphpbdx_dot(b, c) + isphpbdx_dot(c, a));
}
/* How far the corner that is farthest outside of a plane is outside. */
static float ipbdx_most_outside(const ipbd_mesh *m, isphpbd_vec3 normal, float offset) {
    isphpbd_vec3 corners[3];
    float most = 0.0f;
    int i, k;
    for (i = 0; i < m->triangle_count; ++i) {
        ipbdx_mesh_corners(m, i, corners);
        for (k = 0; k < 3; ++k) most = isphpbdx_max(most, isphpbdx_dot(normal, corners[k]) - offset);
    }
    return most;
}
/* Faces are met by their planes: so all corners must lie behind all of them, the middle must be inside, and no face may
   be missing. Seen from the middle, those of a closed surface fill 4 pi. */
static const char *ipbdx_convex_fault(const ipbd_mesh *m) {
    const isphpbd_vec3 middle = ipbdx_convex_middle(m);
    isphpbd_vec3 corners[3], n;
    float size = 0.0f, inner = IPBDX_FAR, outside = 0.0f, offset;
    double seen = 0.0;
    int i, k;
    for (i = 0; i < m->triangle_count; ++i) {
        ipbdx_mesh_corners(m, i, corners);
        if (ipbdx_face_plane(corners, middle, &n, &offset)) {
            inner = isphpbdx_min(inner, offset - isphpbdx_dot(n, middle));
            outside = isphpbdx_max(outside, ipbdx_most_outside(m, n, offset));
        }
        for (k = 0; k < 3; ++k) {
            size = isphpbdx_max(size, isphpbdx_length(isphpbdx_sub(corners[k], middle)));
            corners[k] = ipbdx_unit(isphpbdx_sub(corners[k], middle), isphpbd_v3(0.0f, 1.0f, 0.0f));
        }
        seen += (double)ipbdx_solid_angle(corners[0], corners[1], corners[2]);
    }
    if (!(inner > 1e-5f * size) || inner == IPBDX_FAR) return "a convex collider without volume";
    if (!(outside <= 1e-3f * size)) return "a convex collider is not convex: use ipbd_shape_mesh";
    if (!(seen > 0.999 * 4.0 * (double)IPBDX_PI && seen < 1.001 * 4.0 * (double)IPBDX_PI))
        return "a convex collider is not closed, or has a face twice";
    return NULL;
}
static const char *ipbdx_shape_fault(const ipbd_shape *s) {
    const char *fault;
    int i;
    switch (s->type) {
        case IPBD_PLANE: return NULL;
        case IPBD_SPHERE: return ipbdx_positive(s->size.x) ? NULL : "a sphere needs a radius > 0";
        case IPBD_CAPSULE:
            return ipbdx_positive(s->size.x) && ipbdx_not_negative(s->size.y)
                       ? NULL
                       : "a capsule needs a radius > 0 and a half length >= 0";
        case IPBD_BOX:
            return ipbdx_positive(s->size.x) && ipbdx_positive(s->size.y) && ipbdx_positive(s->size.z)
                       ? NULL
                       : "a box needs half extents > 0";
        case IPBD_CONVEX:
        case IPBD_MESH:
            fault = ipbdx_shape_mesh_fault(&s->mesh);
            return fault ? fault : s->type == IPBD_MESH ? ipbdx_surface_fault(&s->mesh) : ipbdx_convex_fault(&s->mesh);
        case IPBD_HEIGHTFIELD:
            if (!s->heights || s->columns < 2 || s->rows < 2 || s->columns > 8192 || s->rows > 8192 ||
                !ipbdx_positive(s->cell))
                return "a heightfield needs at least 2 x 2 heights and a cell > 0";
            for (i = 0; i < s->columns * s->rows; ++i)
                if (!ipbdx_sane(s->heights[i])) return "a height is not finite";
            return NULL;
        case IPBD_SDF: return s->sdf ? NULL : "an SDF shape needs its function";
    }
    return "an unknown shape";
}
/* How many vec3 and triangles the shape keeps. */
static void ipbdx_shape_room(const ipbd_shape *s, int *vertices, int *triangles) {
    bool mesh = s->type == IPBD_CONVEX || s->type == IPBD_MESH;
    *vertices = mesh ? s->mesh.vertex_count : s->type == IPBD_HEIGHTFIELD ? (s->columns * s->rows + 2) / 3 : 0;
    *triangles = mesh ? s->mesh.triangle_count : 0;
}
/* Nothing, or something whose inverse is a number. */
static bool ipbdx_weight_ok(float weight) {
    return weight == 0.0f || (ipbdx_positive(weight) && weight >= 1e-20f && weight <= 1e20f);
}
static bool ipbdx_weights_ok(float mass, isphpbd_vec3 inertia) {
    return ipbdx_weight_ok(mass) && ipbdx_weight_ok(inertia.x) && ipbdx_weight_ok(inertia.y) &&
           ipbdx_weight_ok(inertia.z);
}
static isphpbd_result ipbdx_collider_check(const ipbd_world *world, const ipbd_collider_desc *d) {
    const isphpbd_logger *logger = &world->desc.logger;
    const char *fault =
        d->cookie == IPBDX_COLLIDER_COOKIE ? NULL : "make the collider desc with ipbd_collider_desc_default()";
    ipbd_pose pose = d->pose;
    int vertices, triangles;
    if (fault || !ipbdx_pose_ready(&pose) || !ipbdx_not_negative(d->friction) || !ipbdx_weights_ok(d->mass, d->inertia))
        return ipbdx_refuse(logger, ISPHPBD_BAD_DESC,
                            fault ? fault : "a collider's pose, friction, mass or inertia is out of range");
    fault = ipbdx_shape_fault(&d->shape);
    if (fault)
        return ipbdx_refuse(
            logger, d->shape.type == IPBD_CONVEX || d->shape.type == IPBD_MESH ? ISPHPBD_BAD_MESH : ISPHPBD_BAD_DESC,
            fault);
    ipbdx_shape_room(&d->shape, &vertices, &triangles);
    if (world->counts.collider_vertices + vertices > world->desc.capacity.collider_vertices)
        return ipbdx_refuse(logger, ISPHPBD_CAPACITY, "raise capacity.collider_vertices");
    if (world->counts.collider_triangles + triangles > world->desc.capacity.collider_triangles)
        return ipbdx_refuse(logger, ISPHPBD_CAPACITY, "raise capacity.collider_triangles");
    return ISPHPBD_OK;
}
/* Bounds of the tree's leaves from the triangles, of the inner nodes from their children. */
static void ipbdx_mesh_bounds(ipbd_world *world, const ipbdx_collider *c, ipbdx_visit visit, int leaf_begin) {
    float *nodes = world->collider_nodes + 6 * (size_t)c->triangle_begin;
    ipbdx_visit left, right;
    int i, k;
    if (ipbdx_visit_split(visit, leaf_begin, &left, &right)) {
        ipbdx_mesh_bounds(world, c, left, leaf_begin);
        ipbdx_mesh_bounds(world, c, right, leaf_begin);
        ipbdx_bound_join(nodes + 6 * (size_t)visit.node, nodes + 6 * (size_t)left.node, nodes + 6 * (size_t)right.node);
        return;
    }
    for (i = visit.low; i < visit.high; ++i)
        for (k = 0; k < 3; ++k)
            ipbdx_bound_points(
                nodes + 6 * (size_t)visit.node,
                world->collider_vertices
                    [c->vertex_begin + (int)world->collider_triangles[3 * (size_t)(c->triangle_begin + i) + (size_t)k]],
                i == visit.low && k == 0);
}
static void ipbdx_convex_planes(ipbd_world *world, ipbdx_collider *c, const ipbd_mesh *m) {
    const isphpbd_vec3 middle = ipbdx_convex_middle(m);
    isphpbd_vec3 corners[3], n;
    int i;
    c->inner = IPBDX_FAR;
    for (i = 0; i < c->triangle_count; ++i) {
        float *plane = world->collider_nodes + 6 * (size_t)(c->triangle_begin + i);
        ipbdx_mesh_corners(m, i, corners);
        n = ipbdx_zero3(), plane[3] = IPBDX_LIMIT; /* a sliver: everything is behind it */
        if (ipbdx_face_plane(corners, middle, &n, plane + 3))
            c->inner = isphpbdx_min(c->inner, plane[3] - isphpbdx_dot(n, middle));
        ipbdx_put3(plane, n);
    }
}
static void ipbdx_store_mesh(ipbd_world *world, ipbdx_collider *c, const ipbd_mesh *m) {
    ipbdx_visit root;
    int i;
    for (i = 0; i < m->vertex_count; ++i) {
        isphpbd_vec3 p = ipbdx_read_point(m->positions, m->stride_bytes, i);
        world->collider_vertices[c->vertex_begin + i] = p;
        c->bound = isphpbdx_max(c->bound, isphpbdx_length(p));
    }
    memcpy(world->collider_triangles + 3 * (size_t)c->triangle_begin, m->triangles, (size_t)m->triangle_count * 12);
    if (c->type == IPBD_CONVEX) {
        ipbdx_convex_planes(world, c, m);
        return;
    }
    ipbdx_tree_sort(world->collider_vertices + c->vertex_begin,
                    world->collider_triangles + 3 * (size_t)c->triangle_begin, 3, 0, c->triangle_count,
                    ipbdx_tree_depth(c->triangle_count));
    root.node = 0, root.low = 0, root.high = c->triangle_count;
    ipbdx_mesh_bounds(world, c, root, (1 << ipbdx_tree_depth(c->triangle_count)) - 1);
}
static void ipbdx_store_shape(ipbd_world *world, ipbdx_collider *c, const ipbd_shape *s) {
    c->type = s->type, c->size = s->size;
    c->vertex_begin = world->counts.collider_vertices, c->triangle_begin = world->counts.collider_triangles;
    ipbdx_shape_room(s, &c->vertex_count, &c->triangle_count);
    world->counts.collider_vertices += c->vertex_count, world->counts.collider_triangles += c->triangle_count;
    c->columns = s->columns, c->rows = s->rows, c->cell = s->cell;
    c->bound = 0.0f, c->inner = 0.0f;
    switch (s->type) {
        case IPBD_PLANE: c->bound = c->inner = IPBDX_FAR; break;
        case IPBD_SPHERE: c->bound = s->size.x, c->inner = 0.5f * s->size.x; break;
        case IPBD_CAPSULE: c->bound = s->size.x + s->size.y, c->inner = 0.5f * s->size.x; break;
        case IPBD_BOX:
            c->bound = isphpbdx_length(s->size),
            c->inner = 0.5f * isphpbdx_min(s->size.x, isphpbdx_min(s->size.y, s->size.z));
            break;
        case IPBD_HEIGHTFIELD:
            c->bound = IPBDX_FAR;
            memcpy(world->collider_vertices + c->vertex_begin, s->heights,
                   (size_t)(s->columns * s->rows) * sizeof(float));
            break;
        case IPBD_CONVEX:
        case IPBD_MESH:
            ipbdx_store_mesh(world, c, &s->mesh);
            c->inner *= 0.5f;
            break;
        case IPBD_SDF: c->bound = IPBDX_FAR; break;
    }
}
static float ipbdx_inverse(float value) { return value > 0.0f ? 1.0f / value : 0.0f; }
static void ipbdx_collider_weigh(ipbdx_collider *c, float mass, isphpbd_vec3 inertia) {
    c->inverse_mass = ipbdx_inverse(mass);
    c->inverse_inertia = isphpbd_v3(ipbdx_inverse(inertia.x), ipbdx_inverse(inertia.y), ipbdx_inverse(inertia.z));
}
ISPHPBD_API isphpbd_result ipbd_collider_set_mass(ipbd_world *world, ipbd_collider collider, float mass,
                                                  isphpbd_vec3 inertia) {
    isphpbd_result open = ipbdx_open_wide(world);
    ipbdx_collider *c;
    if (open != ISPHPBD_OK) return open;
    c = ipbdx_collider_of(world, collider);
    if (!c) return ISPHPBD_BAD_HANDLE;
    if (!ipbdx_weights_ok(mass, inertia)) return ISPHPBD_BAD_ARGUMENT;
    ipbdx_collider_weigh(c, mass, inertia);
    return ISPHPBD_OK;
}
ISPHPBD_API ipbd_collider ipbd_collider_create(ipbd_world *world, const ipbd_collider_desc *desc, isphpbd_result *why) {
    ipbd_collider handle;
    isphpbd_result result = desc ? ipbdx_open_wide(world) : ISPHPBD_BAD_ARGUMENT;
    int slot = 0;
    handle.id = 0;
    if (result == ISPHPBD_OK) result = ipbdx_collider_check(world, desc);
    if (result == ISPHPBD_OK) {
        while (slot < world->counts.colliders && world->colliders[slot].used) ++slot;
        if (slot >= world->desc.capacity.colliders)
            result = ipbdx_refuse(&world->desc.logger, ISPHPBD_CAPACITY, "raise capacity.colliders");
    }
    if (result == ISPHPBD_OK) {
        ipbdx_collider *c = world->colliders + slot;
        uint32_t generation = slot < world->counts.colliders ? c->generation : 0u;
        ipbd_pose pose = desc->pose;
        (void)ipbdx_pose_ready(&pose);
        memset(c, 0, sizeof *c);
        c->generation = generation, c->used = 1;
        ipbdx_store_shape(world, c, &desc->shape);
        world->calls[slot].sdf = desc->shape.sdf, world->calls[slot].user = desc->shape.sdf_user;
        c->friction = desc->friction, c->layer = desc->layer, c->mask = desc->mask;
        ipbdx_collider_weigh(c, desc->mass, desc->inertia);
        c->from = c->to = c->start = c->end = pose;
        world->counts.colliders = isphpbdx_maxi(world->counts.colliders, slot + 1);
        ipbdx_wake_near(world, c);
        handle.id = ipbdx_handle(generation, slot);
    }
    if (why) *why = result;
    return handle;
}
/* Takes the collider's arrays out; those behind move up. */
static void ipbdx_forget_shape(ipbd_world *world, const ipbdx_collider *gone) {
    ipbdx_counts *n = &world->counts;
    int v = gone->vertex_begin, t = gone->triangle_begin, nv = gone->vertex_count, nt = gone->triangle_count, i;
    memmove(world->collider_vertices + v, world->collider_vertices + v + nv,
            (size_t)(n->collider_vertices - v - nv) * sizeof(isphpbd_vec3));
    memmove(world->collider_triangles + 3 * (size_t)t, world->collider_triangles + 3 * (size_t)(t + nt),
            (size_t)(n->collider_triangles - t - nt) * 12);
    memmove(world->collider_nodes + 6 * (size_t)t, world->collider_nodes + 6 * (size_t)(t + nt),
            (size_t)(n->collider_triangles - t - nt) * 24);
    n->collider_vertices -= nv, n->collider_triangles -= nt;
    for (i = 0; i < n->colliders; ++i) {
        ipbdx_collider *c = world->colliders + i;
        if (c->used && c->vertex_begin > v) c->vertex_begin -= nv;
        if (c->used && c->triangle_begin > t) c->triangle_begin -= nt;
    }
}
ISPHPBD_API isphpbd_result ipbd_collider_destroy(ipbd_world *world, ipbd_collider collider) {
    isphpbd_result open = ipbdx_open_wide(world);
    ipbdx_collider *c;
    int v, slot;
    if (open != ISPHPBD_OK) return open;
    c = ipbdx_collider_of(world, collider);
    if (!c) return ISPHPBD_BAD_HANDLE;
    slot = (int)(c - world->colliders);
    ipbdx_wake_near(world, c);
    ipbdx_forget_shape(world, c);
    for (v = 0; v < world->counts.vertices; ++v)
        if (world->pins[v].pinned == 2u + (uint32_t)slot) ipbdx_release(world, v);
    c->used = 0, c->generation = ipbdx_next_generation(c->generation);
    world->calls[slot].sdf = NULL, world->calls[slot].user = NULL;
    return ISPHPBD_OK;
}
ISPHPBD_API isphpbd_result ipbd_collider_move(ipbd_world *world, ipbd_collider collider, ipbd_pose pose) {
    isphpbd_result open = ipbdx_open_wide(world);
    ipbdx_collider *c;
    if (open != ISPHPBD_OK) return open;
    c = ipbdx_collider_of(world, collider);
    if (!c) return ISPHPBD_BAD_HANDLE;
    if (!ipbdx_pose_ready(&pose)) return ISPHPBD_BAD_ARGUMENT;
    c->to = pose;
    return ISPHPBD_OK;
}
ISPHPBD_API isphpbd_result ipbd_collider_teleport(ipbd_world *world, ipbd_collider collider, ipbd_pose pose) {
    isphpbd_result result = ipbd_collider_move(world, collider, pose);
    ipbdx_collider *c;
    if (result != ISPHPBD_OK) return result;
    c = ipbdx_collider_of(world, collider);
    ipbdx_wake_near(world, c);
    c->from = c->start = c->end = c->to;
    ipbdx_wake_near(world, c);
    return ISPHPBD_OK;
}
ISPHPBD_API isphpbd_result ipbd_collider_pose(const ipbd_world *world, ipbd_collider collider, ipbd_pose *pose) {
    const ipbdx_collider *c = ipbdx_collider_of(world, collider);
    if (!c) return ISPHPBD_BAD_HANDLE;
    if (!pose) return ISPHPBD_BAD_ARGUMENT;
    *pose = c->end;
    return ISPHPBD_OK;
}
ISPHPBD_API isphpbd_result ipbd_collider_take_impulse(ipbd_world *world, ipbd_collider collider, isphpbd_vec3 *linear,
                                                      isphpbd_vec3 *angular) {
    isphpbd_result open = ipbdx_open_wide(world);
    ipbdx_collider *c;
    if (open != ISPHPBD_OK) return open;
    c = ipbdx_collider_of(world, collider);
    if (!c) return ISPHPBD_BAD_HANDLE;
    if (linear) *linear = c->linear;
    if (angular) *angular = c->angular;
    c->linear = c->angular = ipbdx_zero3();
    return ISPHPBD_OK;
}

/* ---- [proximity] which soft parts are near each other ---------------------------------------------------------------
   Points against triangles and edges against edges, of one body with itself or of two bodies. The list holds what can
   come within contact distance, and is only a filter: results do not depend on when it was made. In calm substeps it
   has all that is near, with a margin, and is kept until parts that are near each other have moved by that margin
   against each other. Else it has what comes near if all moves on as it does, for some substeps, and is kept while
   parts that are near each other do not deviate from these plans by that margin. The order is fixed. */

static bool ipbdx_meets(const ipbd_world *world, int a, int b) {
    const ipbdx_body *p = world->bodies + a, *q = world->bodies + b;
    if (!p->used || !q->used) return false;
    if (a == b) return p->self_collision && !p->asleep;
    return p->soft_collision && q->soft_collision && (p->layer & q->mask) && (q->layer & p->mask) &&
           !(p->asleep && q->asleep);
}
static bool ipbdx_soft(const ipbdx_body *body) { return body->used && (body->self_collision || body->soft_collision); }
static bool ipbdx_any_soft(const ipbd_world *world) {
    int i;
    for (i = 0; i < world->counts.bodies && world->desc.capacity.contacts > 0; ++i)
        if (ipbdx_soft(world->bodies + i)) return true;
    return false;
}
/* A tree over a body's triangles or surface edges. */
typedef struct ipbdx_tree {
    float *nodes;
    const uint32_t *items;
    int corners, count, leaf_begin, vertex_begin;
    isphpbd_vec3 drift; /* of its body in a violent substep: boxes are where things are relative to that */
} ipbdx_tree;

static ipbdx_tree ipbdx_tree_of(const ipbd_world *world, const ipbdx_body *body, bool edges) {
    ipbdx_tree tree;
    int begin = edges ? body->edge_begin : body->triangle_begin;
    tree.corners = edges ? 2 : 3, tree.count = edges ? body->edge_count : body->triangle_count;
    tree.items = (edges ? world->surface_edges : world->triangles) + (size_t)tree.corners * (size_t)begin;
    tree.nodes = (edges ? world->edge_nodes : world->triangle_nodes) + 6 * (size_t)begin;
    tree.leaf_begin = (1 << ipbdx_tree_depth(tree.count)) - 1, tree.vertex_begin = body->vertex_begin;
    tree.drift = isphpbdx_scale(world->drifts[body - world->bodies].mean, (float)world->plan_steps);
    return tree;
}
/* Lanes 0 to 2 count. */
typedef struct ipbdx_box {
    isphpbdx_f4 low, high;
} ipbdx_box;

static ipbdx_box ipbdx_box_join(ipbdx_box a, ipbdx_box b) {
    a.low = isphpbdx_f4_min(a.low, b.low), a.high = isphpbdx_f4_max(a.high, b.high);
    return a;
}
static isphpbdx_f4 ipbdx_f4_of(isphpbd_vec3 v) { return isphpbdx_f4_set(v.x, v.y, v.z, 0.0f); }

/* What is not a number, or is about to be quarantined, goes nowhere. */
static isphpbd_vec3 ipbdx_finite_way(isphpbd_vec3 way) {
    return isphpbdx_dot(way, way) < 1e18f ? way : ipbdx_zero3();
}
/* Where the list takes a vertex to be, seen from something that drifts. */
static ipbdx_box ipbdx_vertex_box(const ipbd_world *world, isphpbd_vec3 drift, int v) {
    const isphpbdx_f4 x = ipbdx_f4_of(world->origins[v]);
    isphpbdx_f4 end;
    ipbdx_box box;
    box.low = box.high = x;
    if (!world->pairs_local) return box;
    end = isphpbdx_f4_sub(ipbdx_f4_of(world->reference[v]), ipbdx_f4_of(drift));
    box.low = isphpbdx_f4_min(end, x), box.high = isphpbdx_f4_max(end, x);
    return box;
}
static ipbdx_boxes ipbdx_boxes_of(ipbdx_box box) {
    ipbdx_boxes four;
    float low[4], high[4];
    int k;
    isphpbdx_f4_store(low, box.low), isphpbdx_f4_store(high, box.high);
    for (k = 0; k < 3; ++k) four.side[k] = isphpbdx_f4_all(low[k]), four.side[k + 3] = isphpbdx_f4_all(high[k]);
    return four;
}
static ipbdx_box ipbdx_item_box(const ipbd_world *world, const ipbdx_tree *tree, int item) {
    const uint32_t *corner = tree->items + tree->corners * item;
    ipbdx_box box = ipbdx_vertex_box(world, tree->drift, tree->vertex_begin + (int)corner[0]);
    int k;
    for (k = 1; k < tree->corners; ++k)
        box = ipbdx_box_join(box, ipbdx_vertex_box(world, tree->drift, tree->vertex_begin + (int)corner[k]));
    return box;
}
static void ipbdx_tree_refit(const ipbd_world *world, const ipbdx_tree *tree, ipbdx_visit visit) {
    ipbdx_visit left, right;
    float *node = tree->nodes + 6 * (size_t)visit.node, low[4], high[4];
    ipbdx_box box;
    int i;
    if (ipbdx_visit_split(visit, tree->leaf_begin, &left, &right)) {
        ipbdx_tree_refit(world, tree, left);
        ipbdx_tree_refit(world, tree, right);
        ipbdx_bound_join(node, tree->nodes + 6 * (size_t)left.node, tree->nodes + 6 * (size_t)right.node);
        return;
    }
    box = ipbdx_item_box(world, tree, visit.low);
    for (i = visit.low + 1; i < visit.high; ++i) box = ipbdx_box_join(box, ipbdx_item_box(world, tree, i));
    isphpbdx_f4_store(low, box.low), isphpbdx_f4_store(high, box.high);
    memcpy(node, low, 3 * sizeof(float)), memcpy(node + 3, high, 3 * sizeof(float));
}
static void ipbdx_refit_task(void *context, int index) {
    const ipbd_world *world = (const ipbd_world *)context;
    const ipbdx_body *body = world->bodies + index / 2;
    ipbdx_tree tree;
    ipbdx_visit root;
    tree = ipbdx_tree_of(world, body, index % 2 != 0);
    if (!ipbdx_soft(body) || !tree.count) return;
    root.node = 0, root.low = 0, root.high = tree.count;
    ipbdx_tree_refit(world, &tree, root);
}
typedef struct ipbdx_near_pair {
    uint32_t v[4];              /* of the world */
    int split;                  /* corners of the first: 1 (point) or 2 (edge) */
    isphpbd_vec3 x[4], path[4]; /* start, and motion relative to the mean */
} ipbdx_near_pair;
typedef struct ipbdx_gap {
    float distance, weight[4];
    isphpbd_vec3 normal;
} ipbdx_gap; /* normal: from second to first */

static void ipbdx_corners_of(const ipbd_world *world, const ipbdx_pair *pair, bool edges, ipbdx_near_pair *p) {
    if (!edges) {
        p->split = 1, p->v[0] = pair->a;
        memcpy(p->v + 1, world->world_triangles + 3 * (size_t)pair->b, 12);
    } else {
        const ipbdx_body *a = world->bodies + world->edge_body[pair->a], *b = world->bodies + world->edge_body[pair->b];
        p->split = 2;
        p->v[0] = world->surface_edges[2 * (size_t)pair->a] + (uint32_t)a->vertex_begin,
        p->v[1] = world->surface_edges[2 * (size_t)pair->a + 1] + (uint32_t)a->vertex_begin;
        p->v[2] = world->surface_edges[2 * (size_t)pair->b] + (uint32_t)b->vertex_begin,
        p->v[3] = world->surface_edges[2 * (size_t)pair->b + 1] + (uint32_t)b->vertex_begin;
    }
}
static void ipbdx_pair_corners(const ipbd_world *world, int index, ipbdx_near_pair *p) {
    ipbdx_corners_of(world, world->pairs + index, index >= world->point_pair_count, p);
}
/* Fills start and relative motion; answers how fast the gap can shrink per substep at most. */
static float ipbdx_pair_paths(const ipbd_world *world, ipbdx_near_pair *p) {
    isphpbd_vec3 mean = ipbdx_zero3();
    float first = 0.0f, second = 0.0f;
    int k;
    for (k = 0; k < 4; ++k) {
        p->x[k] = world->origins[p->v[k]];
        p->path[k] = isphpbdx_sub(ipbdx_v3(world->positions + 4 * (size_t)p->v[k]), p->x[k]);
        mean = isphpbdx_madd(mean, p->path[k], 0.25f);
    }
    for (k = 0; k < 4; ++k) {
        float length;
        p->path[k] = isphpbdx_sub(p->path[k], mean), length = isphpbdx_length(p->path[k]);
        if (k < p->split) first = isphpbdx_max(first, length);
        else second = isphpbdx_max(second, length);
    }
    return first + second;
}
/* Parameters of the closest points of segments a-b and c-d (Ericson 2004). */
static void ipbdx_closest_segments(const isphpbd_vec3 *x, float *s, float *t) {
    isphpbd_vec3 d1 = isphpbdx_sub(x[1], x[0]), d2 = isphpbdx_sub(x[3], x[2]), r = isphpbdx_sub(x[0], x[2]);
    float a = isphpbdx_dot(d1, d1), e = isphpbdx_dot(d2, d2), b = isphpbdx_dot(d1, d2), c = isphpbdx_dot(d1, r),
          f = isphpbdx_dot(d2, r), den = a * e - b * b;
    *s = den > 1e-6f * a * e ? isphpbdx_clamp((b * f - c * e) / den, 0.0f, 1.0f) : 0.5f;
    *t = e > IPBDX_TINY ? (b * *s + f) / e : 0.0f;
    if (*t < 0.0f) *t = 0.0f, *s = a > IPBDX_TINY ? isphpbdx_clamp(-c / a, 0.0f, 1.0f) : 0.0f;
    else if (*t > 1.0f) *t = 1.0f, *s = a > IPBDX_TINY ? isphpbdx_clamp((b - c) / a, 0.0f, 1.0f) : 0.0f;
}
/* All but the normal, which has the direction of the answer. */
static isphpbd_vec3 ipbdx_measure_distance(const isphpbd_vec3 *x, int split, ipbdx_gap *gap) {
    isphpbd_vec3 d = ipbdx_zero3();
    float s, t;
    int k;
    if (split == 1) {
        ipbdx_closest_on_triangle(x[0], x[1], x[2], x[3], &s, &t);
        gap->weight[0] = 1.0f, gap->weight[1] = s + t - 1.0f, gap->weight[2] = -s, gap->weight[3] = -t;
    } else {
        ipbdx_closest_segments(x, &s, &t);
        gap->weight[0] = 1.0f - s, gap->weight[1] = s, gap->weight[2] = t - 1.0f, gap->weight[3] = -t;
    }
    for (k = 1; k < 4; ++k) d = isphpbdx_madd(d, isphpbdx_sub(x[k], x[0]), gap->weight[k]); /* weights sum to zero */
    gap->distance = isphpbdx_length(d);
    return d;
}
static void ipbdx_measure_gap(const isphpbd_vec3 *x, int split, ipbdx_gap *gap) {
    gap->normal = ipbdx_unit(ipbdx_measure_distance(x, split, gap), ipbdx_zero3());
}
/* Looks for what is near items of one body in a tree of the same or another. Items that follow each other lie together:
   a group of them walks down the tree once, and each of them then looks at what the group has met. */
typedef struct ipbdx_seeker {
    const ipbd_world *world;
    ipbdx_pair *pairs; /* what was found */
    int count, limit;
    bool edges, full;
    ipbdx_tree tree;
    float reach; /* m, by which bounds are widened */
    uint32_t base;
    int own_begin;
    int crowd_count; /* items that meet the group's bounds, in rising order */
    int crowd[IPBDX_CROWD];
    ipbdx_boxes crowd_boxes[IPBDX_CROWD / 4];
} ipbdx_seeker;
typedef struct ipbdx_seeking { /* an item, or a group */
    ipbdx_box box;             /* widened */
    isphpbdx_f4 low_behind;    /* its low corner in lanes 1 to 3 */
    uint32_t self;
    const uint32_t *corners;
    int corner_count, from; /* only items of the tree from `from` on count */
} ipbdx_seeking;

/* Adds a pair if it is near enough. */
static void ipbdx_note_pair(ipbdx_seeker *s, uint32_t a, uint32_t b) {
    const ipbd_world *world = s->world;
    ipbdx_pair *pair = s->pairs + s->count;
    ipbdx_near_pair p;
    ipbdx_gap gap;
    float nearing;
    s->full = s->full || s->count == s->limit;
    if (s->full) return;
    pair->a = a, pair->b = b;
    ipbdx_corners_of(world, pair, s->edges, &p);
    nearing = ipbdx_pair_paths(world, &p);
    ipbdx_measure_distance(p.x, p.split, &gap);
    pair->gap = gap.distance - (world->pairs_local ? nearing * (float)world->plan_steps : 0.0f);
    s->count += !(pair->gap > s->reach);
}
static void ipbdx_seek_within(const ipbdx_seeker *s, ipbdx_box box, int from, ipbdx_seeking *item) {
    const isphpbdx_f4 wide = isphpbdx_f4_all(s->reach);
    float low[4];
    item->box.low = isphpbdx_f4_sub(box.low, wide), item->box.high = isphpbdx_f4_add(box.high, wide);
    isphpbdx_f4_store(low, item->box.low);
    item->low_behind = isphpbdx_f4_set(low[0], low[0], low[1], low[2]);
    item->from = from;
}
/* A node is x, y, z of its low and of its high corner: two loads that overlap hold both. */
static bool ipbdx_seek_misses(const ipbdx_seeker *s, const ipbdx_seeking *item, ipbdx_visit visit) {
    const float *node = s->tree.nodes + 6 * (size_t)visit.node;
    return visit.high <= item->from || (isphpbdx_f4_below(item->box.high, isphpbdx_f4_load(node)) & 7) ||
           (isphpbdx_f4_below(isphpbdx_f4_load(node + 2), item->low_behind) & 14);
}
static bool ipbdx_shares_corner(const ipbdx_seeker *s, const ipbdx_seeking *item, int other) {
    const uint32_t *corners = s->tree.items + s->tree.corners * other;
    int k, m;
    if (s->tree.vertex_begin != s->own_begin) return false;
    for (k = 0; k < s->tree.corners; ++k)
        for (m = 0; m < item->corner_count; ++m)
            if (corners[k] == item->corners[m]) return true;
    return false;
}
/* An item among those that were met. */
static void ipbdx_seek_among(ipbdx_seeker *s, const ipbdx_seeking *item) {
    const ipbdx_boxes own = ipbdx_boxes_of(item->box);
    int i, k;
    for (i = 0; i < s->crowd_count; i += 4) {
        const int off = ipbdx_boxes_off(s->crowd_boxes + i / 4, &own);
        for (k = i; off != 15 && k < isphpbdx_mini(i + 4, s->crowd_count); ++k) {
            const int other = s->crowd[k];
            if ((off >> (k - i)) & 1 || other < item->from || ipbdx_shares_corner(s, item, other)) continue;
            ipbdx_note_pair(s, item->self, s->base + (uint32_t)other);
        }
    }
}
static void ipbdx_crowd_leaf(ipbdx_seeker *s, ipbdx_visit leaf, int from) {
    int i, k;
    for (i = isphpbdx_maxi(leaf.low, from); i < leaf.high; ++i) {
        const ipbdx_box box = ipbdx_item_box(s->world, &s->tree, i);
        ipbdx_boxes *four = s->crowd_boxes + s->crowd_count / 4;
        float *side = (float *)four + s->crowd_count % 4, low[4], high[4];
        isphpbdx_f4_store(low, box.low), isphpbdx_f4_store(high, box.high);
        if (s->crowd_count % 4 == 0) *four = ipbdx_boxes_of(box); /* all lanes hold something */
        else
            for (k = 0; k < 3; ++k) side[4 * k] = low[k], side[4 * k + 12] = high[k];
        s->crowd[s->crowd_count++] = i;
    }
}
/* Remembers what an item or a group may meet; where that is too much an item looks at it at once, so that there is room
   again, and a group gives up: false. */
static bool ipbdx_seek_crowd(ipbdx_seeker *s, const ipbdx_seeking *seeking, bool group) {
    ipbdx_visit stack[IPBDX_STACK];
    int top = 1;
    stack[0].node = 0, stack[0].low = 0, stack[0].high = s->tree.count, s->crowd_count = 0;
    while (top > 0) {
        const ipbdx_visit visit = stack[--top];
        if (ipbdx_seek_misses(s, seeking, visit)) continue;
        if (ipbdx_visit_split(visit, s->tree.leaf_begin, stack + top + 1,
                              stack + top)) { /* left on top: rising order */
            top += 2;
            continue;
        }
        if (s->crowd_count + 4 > IPBDX_CROWD) { /* a leaf has four at most */
            if (group) return false;
            ipbdx_seek_among(s, seeking);
            s->crowd_count = 0;
        }
        ipbdx_crowd_leaf(s, visit, seeking->from);
    }
    return true;
}
static bool ipbdx_seek_group(ipbdx_seeker *s, ipbdx_box box, int from) {
    ipbdx_seeking group;
    ipbdx_seek_within(s, box, from, &group);
    return ipbdx_seek_crowd(s, &group, true);
}
static void ipbdx_seek_item(ipbdx_seeker *s, const ipbdx_seeking *item, bool met) {
    if (s->full) return;
    if (!met) ipbdx_seek_crowd(s, item, false);
    ipbdx_seek_among(s, item);
}
/* Points begin .. end of a body, counted from its first vertex, against the seeker's triangles. */
static void ipbdx_seek_points(ipbdx_seeker *s, int begin, int end) {
    const ipbd_world *world = s->world;
    int group, next, i;
    for (group = begin; group < end; group = next) {
        ipbdx_box box = ipbdx_vertex_box(world, s->tree.drift, s->own_begin + group);
        bool met;
        next = isphpbdx_mini(group + IPBDX_GROUP, end);
        for (i = group + 1; i < next; ++i)
            box = ipbdx_box_join(box, ipbdx_vertex_box(world, s->tree.drift, s->own_begin + i));
        met = ipbdx_seek_group(s, box, 0);
        for (i = group; i < next && !(met && !s->crowd_count); ++i) {
            const uint32_t corner = (uint32_t)i;
            ipbdx_seeking item;
            if (!world->pins[s->own_begin + i].surface) continue;
            ipbdx_seek_within(s, ipbdx_vertex_box(world, s->tree.drift, s->own_begin + i), 0, &item);
            item.self = (uint32_t)(s->own_begin + i), item.corners = &corner, item.corner_count = 1;
            ipbdx_seek_item(s, &item, met);
        }
    }
}
/* Edges begin .. end of a body against the seeker's; in its own tree only against those that follow. */
static void ipbdx_seek_edges(ipbdx_seeker *s, const ipbdx_body *own, int begin, int end) {
    ipbdx_tree tree = ipbdx_tree_of(s->world, own, true);
    const bool self = tree.items == s->tree.items;
    int group, next, i;
    tree.drift = s->tree.drift;
    for (group = begin; group < end; group = next) {
        ipbdx_box box = ipbdx_item_box(s->world, &tree, group);
        bool met;
        next = isphpbdx_mini(group + IPBDX_GROUP, end);
        for (i = group + 1; i < next; ++i) box = ipbdx_box_join(box, ipbdx_item_box(s->world, &tree, i));
        met = ipbdx_seek_group(s, box, self ? group + 1 : 0);
        for (i = group; i < next && !(met && !s->crowd_count); ++i) {
            ipbdx_seeking item;
            ipbdx_seek_within(s, ipbdx_item_box(s->world, &tree, i), self ? i + 1 : 0, &item);
            item.self = (uint32_t)(own->edge_begin + i), item.corners = tree.items + 2 * i, item.corner_count = 2;
            ipbdx_seek_item(s, &item, met);
        }
    }
}
/* Since when motion is of interest: places, or what was planned when pairs were listed. */
typedef struct ipbdx_since {
    const ipbd_world *world;
    const isphpbd_vec3 *from;
    bool planned;
} ipbdx_since;

/* Where the vertex was, or should be in a plan's age. */
static isphpbd_vec3 ipbdx_place_then(const ipbdx_since *since, int v, int age) {
    const ipbd_world *world = since->world;
    if (!since->planned) return since->from[v];
    return ipbdx_lerp3(world->listed[v], world->reference[v], (float)age / (float)world->plan_steps);
}
/* To the start of the substep, and until now; from a plan: what is not as planned at these times. */
static isphpbd_vec3 ipbdx_way_to_start(const ipbdx_since *since, int v) {
    return isphpbdx_sub(since->world->origins[v], ipbdx_place_then(since, v, since->world->plan_age));
}
static isphpbd_vec3 ipbdx_way_to_now(const ipbdx_since *since, int v) {
    return ipbdx_finite_way(isphpbdx_sub(ipbdx_v3(since->world->positions + 4 * (size_t)v),
                                         ipbdx_place_then(since, v, since->world->plan_age + 1)));
}
/* How bodies moved since: on average, and beyond that at most. Starts count as well as ends, each against its own
   average: paths are straight between them, and what falls as a whole has moved by nothing. */
static void ipbdx_ways_task(void *context, int index) {
    const ipbdx_since *since = (const ipbdx_since *)context;
    const ipbdx_body *body = since->world->bodies + index;
    const float share = 1.0f / (float)isphpbdx_maxi(body->vertex_count, 1);
    ipbdx_drift *drift = since->world->drifts + index;
    int v, end = body->vertex_begin + body->vertex_count;
    if (!ipbdx_soft(body)) return;
    drift->start = drift->mean = ipbdx_zero3();
    for (v = body->vertex_begin; v < end; ++v) {
        drift->start = isphpbdx_madd(drift->start, ipbdx_way_to_start(since, v), share);
        drift->mean = isphpbdx_madd(drift->mean, ipbdx_way_to_now(since, v), share);
    }
}
static void ipbdx_drift_task(void *context, int index) {
    const ipbdx_since *since = (const ipbdx_since *)context;
    const ipbd_world *world = since->world;
    const ipbdx_slab *slab = world->slabs + index;
    const ipbdx_body *body = world->bodies + slab->body;
    const ipbdx_drift *drift = world->drifts + slab->body;
    float most = 0.0f;
    int v, end = body->vertex_begin + slab->vertex_end;
    if (!ipbdx_soft(body)) return;
    for (v = body->vertex_begin + slab->vertex_begin; v < end; ++v) {
        const isphpbd_vec3 e = isphpbdx_sub(ipbdx_way_to_start(since, v), drift->start),
                           d = isphpbdx_sub(ipbdx_way_to_now(since, v), drift->mean);
        most = isphpbdx_max(isphpbdx_max(isphpbdx_dot(e, e), isphpbdx_dot(d, d)), most);
    }
    world->partials[index].drift = most;
}
static void ipbdx_find_drifts(ipbd_world *world, ipbdx_since *since) {
    int a, i;
    isphpbdx_run(&world->desc.parallel, ipbdx_ways_task, since, world->counts.bodies);
    isphpbdx_run(&world->desc.parallel, ipbdx_drift_task, since, world->counts.slabs);
    for (a = 0; a < world->counts.bodies; ++a) {
        const ipbdx_body *body = world->bodies + a;
        float most = 0.0f;
        for (i = body->slab_begin; i < body->slab_begin + body->slab_interior && ipbdx_soft(body); ++i)
            most = isphpbdx_max(world->partials[i].drift, most);
        world->drifts[a].rest = sqrtf(most);
    }
}
/* How much nearer two bodies, or two parts of one, can have come since. */
static float ipbdx_drift_between(const ipbd_world *world, int a, int b) {
    const ipbdx_drift *p = world->drifts + a, *q = world->drifts + b;
    return p->rest + q->rest +
           isphpbdx_max(isphpbdx_length(isphpbdx_sub(p->start, q->start)),
                        isphpbdx_length(isphpbdx_sub(p->mean, q->mean)));
}
/* How much nearer any two parts that may meet can have come; what falls as a whole does not count. */
static float ipbdx_soft_motion(ipbd_world *world, ipbdx_since *since) {
    float most = 0.0f;
    int a, b;
    ipbdx_find_drifts(world, since);
    for (a = 0; a < world->counts.bodies; ++a)
        for (b = a; b < world->counts.bodies; ++b)
            if (ipbdx_meets(world, a, b)) most = isphpbdx_max(most, ipbdx_drift_between(world, a, b));
    return most;
}
/* The same, but parts that are too far from each other to meet do not count: neighbours in a cloth that swings move
   little against each other, however far they move. */
static void ipbdx_moves_add(ipbdx_moves *node, int row, isphpbdx_f4 low, isphpbdx_f4 high) {
    isphpbdx_f4_store(node->low[row], isphpbdx_f4_min(isphpbdx_f4_load(node->low[row]), low));
    isphpbdx_f4_store(node->high[row], isphpbdx_f4_max(isphpbdx_f4_load(node->high[row]), high));
}
static void ipbdx_moves_join(ipbdx_moves *node, const ipbdx_moves *other) {
    int row;
    for (row = 0; row < IPBDX_ROWS; ++row)
        ipbdx_moves_add(node, row, isphpbdx_f4_load(other->low[row]), isphpbdx_f4_load(other->high[row]));
}
static void ipbdx_moves_of(const ipbdx_since *since, int v, ipbdx_moves *moves) {
    const isphpbdx_f4 from = ipbdx_f4_of(since->from[v]), start = ipbdx_f4_of(since->world->listed[v]);
    isphpbdx_f4_store(moves->low[IPBDX_PLACE], from);
    isphpbdx_f4_store(moves->low[IPBDX_TO_START], ipbdx_f4_of(ipbdx_way_to_start(since, v)));
    isphpbdx_f4_store(moves->low[IPBDX_TO_NOW], ipbdx_f4_of(ipbdx_way_to_now(since, v)));
    memcpy(moves->high, moves->low, sizeof moves->high);
    if (since->planned) ipbdx_moves_add(moves, IPBDX_PLACE, start, start);
}
static void ipbdx_moves_refit(const ipbdx_since *since, const ipbdx_tree *tree, ipbdx_moves *nodes, ipbdx_visit visit) {
    const uint32_t *corner = tree->items + tree->corners * visit.low, *end = tree->items + tree->corners * visit.high;
    ipbdx_visit left, right;
    ipbdx_moves other;
    if (ipbdx_visit_split(visit, tree->leaf_begin, &left, &right)) {
        ipbdx_moves_refit(since, tree, nodes, left), ipbdx_moves_refit(since, tree, nodes, right);
        nodes[visit.node] = nodes[left.node];
        ipbdx_moves_join(nodes + visit.node, nodes + right.node);
        return;
    }
    ipbdx_moves_of(since, tree->vertex_begin + (int)*corner, nodes + visit.node);
    while (++corner < end) {
        ipbdx_moves_of(since, tree->vertex_begin + (int)*corner, &other);
        ipbdx_moves_join(nodes + visit.node, &other);
    }
}
/* How far it is at least, or at most, from a point of one box to one of the other. */
static float ipbdx_f4_length3(isphpbdx_f4 v) {
    float x[4];
    isphpbdx_f4_store(x, v);
    return sqrtf(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
}
static float ipbdx_least_way(const ipbdx_moves *a, const ipbdx_moves *b, int row) {
    const isphpbdx_f4 there = isphpbdx_f4_sub(isphpbdx_f4_load(b->low[row]), isphpbdx_f4_load(a->high[row]));
    const isphpbdx_f4 back = isphpbdx_f4_sub(isphpbdx_f4_load(a->low[row]), isphpbdx_f4_load(b->high[row]));
    return ipbdx_f4_length3(isphpbdx_f4_max(isphpbdx_f4_max(there, back), isphpbdx_f4_all(0.0f)));
}
static float ipbdx_most_way(const ipbdx_moves *a, const ipbdx_moves *b, int row) {
    const isphpbdx_f4 there = isphpbdx_f4_sub(isphpbdx_f4_load(b->high[row]), isphpbdx_f4_load(a->low[row]));
    const isphpbdx_f4 back = isphpbdx_f4_sub(isphpbdx_f4_load(a->high[row]), isphpbdx_f4_load(b->low[row]));
    return ipbdx_f4_length3(isphpbdx_f4_max(there, back));
}
typedef struct ipbdx_nearing {
    const ipbdx_moves *a, *b; /* nodes of two trees, or twice of one */
    int a_leaves, b_leaves;
    float reach, most, enough; /* m: how near they meet; found so far; more than `enough` is not of interest */
} ipbdx_nearing;

/* Leaves count as a whole: what is in one of them is near. */
static void ipbdx_find_nearing(ipbdx_nearing *s, ipbdx_visit a, ipbdx_visit b) {
    const ipbdx_moves *p = s->a + a.node, *q = s->b + b.node;
    const float way = isphpbdx_max(ipbdx_most_way(p, q, IPBDX_TO_START), ipbdx_most_way(p, q, IPBDX_TO_NOW));
    ipbdx_visit left, right;
    if (way <= s->most || s->most > s->enough || ipbdx_least_way(p, q, IPBDX_PLACE) > s->reach + way) return;
    if (b.high - b.low > a.high - a.low || a.node >= s->a_leaves) {
        if (!ipbdx_visit_split(b, s->b_leaves, &left, &right)) {
            s->most = isphpbdx_max(s->most, way);
            return;
        }
        ipbdx_find_nearing(s, a, left), ipbdx_find_nearing(s, a, right);
        return;
    }
    ipbdx_visit_split(a, s->a_leaves, &left, &right);
    ipbdx_find_nearing(s, left, p == q ? left : b), ipbdx_find_nearing(s, right, p == q ? right : b);
    if (p == q) ipbdx_find_nearing(s, left, right);
}
/* Over edges, which all that takes part has; without the last level of nodes, which halves their number. */
static ipbdx_tree ipbdx_moves_tree(const ipbd_world *world, const ipbdx_body *body) {
    ipbdx_tree tree = ipbdx_tree_of(world, body, true);
    tree.leaf_begin = tree.leaf_begin / 2;
    return tree;
}
static void ipbdx_place_moves(ipbd_world *world) {
    int a, next = 0;
    for (a = 0; a < world->counts.bodies; ++a) {
        world->drifts[a].moves_begin = next;
        if (ipbdx_soft(world->bodies + a)) next += 2 * ipbdx_moves_tree(world, world->bodies + a).leaf_begin + 1;
    }
}
static float ipbdx_bodies_nearing(const ipbd_world *world, int a, int b, float enough) {
    const ipbdx_body *p = world->bodies + a, *q = world->bodies + b;
    ipbdx_nearing s;
    ipbdx_visit first, second;
    s.a = world->moves + world->drifts[a].moves_begin, s.b = world->moves + world->drifts[b].moves_begin;
    s.a_leaves = ipbdx_moves_tree(world, p).leaf_begin, s.b_leaves = ipbdx_moves_tree(world, q).leaf_begin;
    s.reach = IPBDX_ALERT * 0.5f * (p->thickness + q->thickness), s.most = 0.0f, s.enough = enough;
    first.node = second.node = first.low = second.low = 0;
    first.high = p->edge_count, second.high = q->edge_count;
    if (p->edge_count && q->edge_count) ipbdx_find_nearing(&s, first, second);
    return s.most;
}
static void ipbdx_moves_task(void *context, int index) {
    const ipbdx_since *since = (const ipbdx_since *)context;
    const ipbdx_body *body = since->world->bodies + index;
    ipbdx_tree tree;
    ipbdx_visit root;
    if (!ipbdx_soft(body) || !body->edge_count) return;
    tree = ipbdx_moves_tree(since->world, body);
    root.node = 0, root.low = 0, root.high = tree.count;
    ipbdx_moves_refit(since, &tree, since->world->moves + since->world->drifts[index].moves_begin, root);
}
/* Follows ipbdx_soft_motion() of the same; if it is more than `enough` the answer is just more. */
static float ipbdx_near_motion(ipbd_world *world, ipbdx_since *since, float enough) {
    float most = 0.0f;
    int a, b;
    ipbdx_place_moves(world);
    isphpbdx_run(&world->desc.parallel, ipbdx_moves_task, since, world->counts.bodies);
    for (a = 0; a < world->counts.bodies; ++a)
        for (b = a; b < world->counts.bodies && !(most > enough); ++b) {
            float drift;
            if (!ipbdx_meets(world, a, b)) continue;
            drift = ipbdx_drift_between(world, a, b);
            if (drift > most) drift = isphpbdx_min(drift, ipbdx_bodies_nearing(world, a, b, enough));
            most = isphpbdx_max(most, drift);
        }
    return most;
}
/* Turns to another body; false where nothing of it can be near the box. */
static bool ipbdx_seek_in(ipbdx_seeker *s, const ipbdx_body *own, const ipbdx_body *other, ipbdx_box box) {
    ipbdx_seeking all;
    ipbdx_visit root;
    ipbdx_box moved;
    isphpbdx_f4 shift;
    s->base = (uint32_t)(s->edges ? other->edge_begin : other->triangle_begin);
    s->reach = 0.5f * (own->thickness + other->thickness) + s->world->pair_margin;
    root.node = 0, root.low = 0, root.high = s->edges ? other->edge_count : other->triangle_count;
    s->tree = ipbdx_tree_of(s->world, other, s->edges);
    shift = ipbdx_f4_of(isphpbdx_sub(ipbdx_tree_of(s->world, own, s->edges).drift, s->tree.drift));
    moved.low = isphpbdx_f4_add(box.low, shift), moved.high = isphpbdx_f4_add(box.high, shift);
    ipbdx_seek_within(s, s->world->pairs_local ? ipbdx_box_join(moved, box) : box, 0, &all);
    return !ipbdx_seek_misses(s, &all, root);
}
/* The pairs of one block of the world's vertices, or of its surface edges, body by body. */
static void ipbdx_seek_block(ipbdx_seeker *s, int block) {
    /* cppcheck-suppress ctuuninitvar ; the task has set world and edges, and ipbdx_seek_in() sets the rest */
    const ipbd_world *world = s->world;
    const int total = s->edges ? world->counts.surface_edges : world->counts.vertices,
              end = isphpbdx_mini((block + 1) * IPBDX_SEEK_BLOCK, total);
    int i, k, next, b;
    for (i = block * IPBDX_SEEK_BLOCK; i < end; i = next) {
        const int a = (int)(s->edges ? world->edge_body[i] : world->vertex_body[i]);
        const ipbdx_body *own = world->bodies + a;
        const ipbdx_tree tree = ipbdx_tree_of(world, own, true);
        const int first = s->edges ? own->edge_begin : own->vertex_begin;
        ipbdx_box box = s->edges ? ipbdx_item_box(world, &tree, i - first) : ipbdx_vertex_box(world, tree.drift, i);
        next = isphpbdx_mini(end, first + (s->edges ? own->edge_count : own->vertex_count));
        s->own_begin = own->vertex_begin;
        if (!ipbdx_soft(own)) continue;
        for (k = i + 1; k < next; ++k)
            box = ipbdx_box_join(box, s->edges ? ipbdx_item_box(world, &tree, k - first)
                                               : ipbdx_vertex_box(world, tree.drift, k));
        for (b = s->edges ? a : 0; b < world->counts.bodies && !s->full; ++b) {
            if (!ipbdx_meets(world, a, b) || !ipbdx_seek_in(s, own, world->bodies + b, box)) continue;
            if (s->edges) ipbdx_seek_edges(s, own, i - first, next - first);
            else ipbdx_seek_points(s, i - first, next - first);
        }
    }
}
/* Blocks of vertices come first, then those of edges. */
typedef struct ipbdx_listing {
    ipbd_world *world;
    int point_blocks, blocks, room; /* room: pairs of a block, while all are looked at together */
} ipbdx_listing;

static ipbdx_seeker ipbdx_list_block(const ipbdx_listing *l, int index, ipbdx_pair *pairs, int limit) {
    ipbdx_seeker s;
    s.world = l->world, s.pairs = pairs, s.limit = limit, s.count = 0, s.full = false;
    s.edges = index >= l->point_blocks;
    ipbdx_seek_block(&s, s.edges ? index - l->point_blocks : index);
    return s;
}
static void ipbdx_list_task(void *context, int index) {
    const ipbdx_listing *l = (const ipbdx_listing *)context;
    const ipbdx_seeker s = ipbdx_list_block(l, index, l->world->pairs + (size_t)index * (size_t)l->room, l->room);
    l->world->block_contacts[index] = s.full ? -1 : s.count;
}
/* All blocks at once, each into its part of the list, which is packed then; false where one has too many. */
static bool ipbdx_list_together(ipbdx_listing *l) {
    ipbd_world *world = l->world;
    int k;
    if (l->room < IPBDX_SEEK_BLOCK) return false;
    isphpbdx_run(&world->desc.parallel, ipbdx_list_task, l, l->blocks);
    for (k = 0; k < l->blocks; ++k)
        if (world->block_contacts[k] < 0) return false;
    for (k = 0; k < l->blocks; ++k) {
        if (k == l->point_blocks) world->point_pair_count = world->pair_count;
        memmove(world->pairs + world->pair_count, world->pairs + (size_t)k * (size_t)l->room,
                (size_t)world->block_contacts[k] * sizeof(ipbdx_pair));
        world->pair_count += world->block_contacts[k];
    }
    return true;
}
/* One block after the other, the list as it is needed; false where it ends first. */
static bool ipbdx_list_in_turn(const ipbdx_listing *l) {
    ipbd_world *world = l->world;
    bool fits = true;
    int k;
    for (k = 0; k < l->blocks && fits; ++k) {
        ipbdx_seeker s;
        if (k == l->point_blocks) world->point_pair_count = world->pair_count;
        s = ipbdx_list_block(l, k, world->pairs + world->pair_count, world->pair_limit - world->pair_count);
        world->pair_count += s.count, fits = !s.full;
    }
    return fits;
}
/* False where there is no room for all. */
static bool ipbdx_list_pairs(ipbd_world *world) {
    ipbdx_listing l;
    bool fits;
    int v;
    for (v = 0; v < world->counts.vertices; ++v) {
        const isphpbd_vec3 now = ipbdx_v3(world->positions + 4 * (size_t)v),
                           way = ipbdx_finite_way(isphpbdx_sub(now, world->origins[v]));
        world->listed[v] = world->origins[v];
        world->reference[v] =
            world->pairs_local ? isphpbdx_madd(world->origins[v], way, (float)world->plan_steps) : world->origins[v];
    }
    for (v = 0; v < world->counts.bodies; ++v) world->drifts[v].asleep = world->bodies[v].asleep;
    isphpbdx_run(&world->desc.parallel, ipbdx_refit_task, world, 2 * world->counts.bodies);
    l.world = world;
    l.point_blocks = (world->counts.vertices + IPBDX_SEEK_BLOCK - 1) / IPBDX_SEEK_BLOCK;
    l.blocks = l.point_blocks + (world->counts.surface_edges + IPBDX_SEEK_BLOCK - 1) / IPBDX_SEEK_BLOCK;
    l.room = world->pair_limit / isphpbdx_maxi(l.blocks, 1);
    world->pair_count = 0, world->point_pair_count = world->pair_limit;
    fits = ipbdx_list_together(&l) || ipbdx_list_in_turn(&l);
    world->point_pair_count = isphpbdx_mini(world->point_pair_count, world->pair_count);
    world->pairs_stale = !fits; /* a list that was cut short depends on when it was made: make it every time */
    return fits;
}
static float ipbdx_most_thickness(const ipbd_world *world) {
    float most = 0.0f;
    int a;
    for (a = 0; a < world->counts.bodies; ++a)
        if (ipbdx_soft(world->bodies + a)) most = isphpbdx_max(most, world->bodies[a].thickness);
    return most;
}
static float ipbdx_least_thickness(const ipbd_world *world) {
    float least = world->pair_thickness;
    int a;
    for (a = 0; a < world->counts.bodies; ++a)
        if (ipbdx_soft(world->bodies + a)) least = isphpbdx_min(least, world->bodies[a].thickness);
    return least;
}
static bool ipbdx_list_within(ipbd_world *world, float margin) {
    world->pair_margin = margin;
    return ipbdx_list_pairs(world);
}
/* Whether the list has all that can come nearer than the contact distance and `room` (m). */
static bool ipbdx_list_holds(ipbd_world *world, float room) {
    const float limit = world->pair_margin - room;
    ipbdx_since since;
    if (world->pairs_stale || (world->pairs_local && world->plan_age >= world->plan_steps)) return false;
    since.world = world, since.from = world->reference, since.planned = world->pairs_local;
    world->pair_drift = ipbdx_soft_motion(world, &since);
    if (world->pair_drift > limit) world->pair_drift = ipbdx_near_motion(world, &since, limit);
    return world->pair_drift <= limit;
}
/* Calm: half a thickness, and as much again as parts that are near each other move in this substep; then the list holds
   for some more, and seldom has the mesh's neighbours. Else with plans: all goes on as it does, for some substeps. */
static void ipbdx_list_anew(ipbd_world *world, float room, int steps) {
    const float calm = 0.05f * world->pair_thickness, spare = 0.4f * world->pair_thickness;
    ipbdx_since since;
    float motion;
    bool fits = false;
    since.world = world, since.from = world->origins, since.planned = false;
    motion = ipbdx_soft_motion(world, &since);
    if (motion > calm) motion = ipbdx_near_motion(world, &since, calm);
    world->pairs_local = motion > calm, world->pair_drift = motion, world->plan_age = 0;
    if (!world->pairs_local) fits = ipbdx_list_within(world, 0.5f * world->pair_thickness + 2.0f * motion);
    if (fits) return;
    world->pairs_local = true, world->pair_drift = 0.0f, world->plan_steps = steps;
    if (steps > 1 && ipbdx_list_within(world, isphpbdx_max(spare, room))) return;
    world->plan_steps = 1;
    if (!ipbdx_list_within(world, room)) world->flags |= IPBD_STEP_CONTACTS_FULL;
}
static bool ipbdx_any_woke(const ipbd_world *world) {
    int a;
    for (a = 0; a < world->counts.bodies; ++a)
        if (world->drifts[a].asleep && !world->bodies[a].asleep) return true;
    return false;
}
/* When contacts are looked for: they begin that much before the distance they keep. Plans that were good for long are
   made for longer. */
static void ipbdx_refresh_pairs(ipbd_world *world) {
    const float room = (IPBDX_ALERT - 1.0f) * ipbdx_most_thickness(world);
    int steps;
    world->pair_thickness = ipbdx_most_thickness(world);
    world->pairs_stale = world->pairs_stale || ipbdx_any_woke(world);
    world->plan_age = isphpbdx_mini(world->plan_age + 1, IPBDX_PLAN);
    if (ipbdx_list_holds(world, room)) return;
    steps = world->plan_age < world->plan_steps ? world->plan_age : world->plan_broken ? 1 : 2 * world->plan_steps;
    world->plan_broken = false;
    ipbdx_list_anew(world, room, isphpbdx_maxi(1, isphpbdx_mini(steps, IPBDX_PLAN)));
}
/* Where pairs are stopped, and after that: what was hit may have been carried farther than anything moved before. These
   gaps are much smaller than what the list reaches for. */
static void ipbdx_renew_pairs(ipbd_world *world) {
    const float room = 0.15f * world->pair_thickness - ipbdx_least_thickness(world);
    if (ipbdx_list_holds(world, room)) return;
    world->plan_broken = true;
    ipbdx_list_anew(world, (IPBDX_ALERT - 1.0f) * world->pair_thickness, 1);
}

/* ---- [contacts] between soft parts ----------------------------------------------------------------------------------
   A pair's paths over the substep are followed by additive advancement (Li et al. 2021): the distance now, over the
   speed at which it can shrink at most, is time that may pass safely. Where paths come nearer than the contact distance
   a linear contact holds the four vertices apart inside the constraint loop; a final pass then stops, without loss of
   momentum, whatever would still cross. Since no substep ends crossed, the side on which things started is always
   right. */

static void ipbdx_pair_at(const ipbdx_near_pair *p, float t, isphpbd_vec3 *x) {
    int k;
    for (k = 0; k < 4; ++k) x[k] = isphpbdx_madd(p->x[k], p->path[k], t);
}
/* Time in [0, 1] at which the gap falls to `limit`, with the gap there; 2 if it never does. */
static float ipbdx_advance(const ipbdx_near_pair *p, float speed, float limit, ipbdx_gap *gap) {
    isphpbd_vec3 x[4];
    float t = 0.0f;
    int i;
    for (i = 0; i < 512; ++i) { /* what slides past at a small distance needs hundreds */
        ipbdx_pair_at(p, t, x);
        ipbdx_measure_gap(x, p->split, gap);
        if (gap->distance <= 1.05f * limit) return t;
        t += (gap->distance - limit) / speed;
        if (!(t <= 1.0f)) return 2.0f;
    }
    return t;
}
/* Contact distance of a pair. Parts of one body that are nearer than that by birth keep nine tenths of what they
   had. */
static float ipbdx_pair_distance(const ipbd_world *world, const ipbdx_near_pair *p, float *friction) {
    const ipbdx_body *a = world->bodies + world->vertex_body[p->v[0]], *b = world->bodies + world->vertex_body[p->v[3]];
    float distance = 0.5f * (a->thickness + b->thickness);
    *friction = isphpbdx_max(a->friction, b->friction);
    if (a == b) {
        isphpbd_vec3 rest[4];
        ipbdx_gap born;
        int k;
        for (k = 0; k < 4; ++k) rest[k] = world->rests[p->v[k]];
        ipbdx_measure_distance(rest, p->split, &born);
        distance = isphpbdx_min(distance, 0.9f * born.distance);
    }
    return distance;
}
static bool ipbdx_pair_contact(const ipbd_world *world, int index, ipbdx_contact *contact) {
    ipbdx_near_pair p;
    ipbdx_gap now, gap;
    float speed, distance, friction;
    if (world->pairs[index].gap - world->pair_drift > IPBDX_ALERT * world->pair_thickness) return false;
    ipbdx_pair_corners(world, index, &p);
    speed = ipbdx_pair_paths(world, &p);
    ipbdx_measure_gap(p.x, p.split, &now);
    if (now.distance > speed + IPBDX_ALERT * 0.5f *
                                   (world->bodies[world->vertex_body[p.v[0]]].thickness +
                                    world->bodies[world->vertex_body[p.v[3]]].thickness))
        return false;
    distance = ipbdx_pair_distance(world, &p, &friction);
    if (now.distance > isphpbdx_max(speed + distance, IPBDX_ALERT * distance)) return false;
    gap = now;
    if (now.distance > distance && !(ipbdx_advance(&p, speed, distance, &gap) <= 1.0f)) {
        if (now.distance > IPBDX_ALERT * distance) return false;
        gap = now; /* free to part as predicted, but constraints may push them together: layers would tremble */
    }
    memcpy(contact->v, p.v, sizeof p.v);
    memcpy(contact->weight, gap.weight, sizeof gap.weight);
    contact->normal = gap.normal, contact->friction = friction;
    contact->distance = distance;
    if (now.distance < distance)
        contact->distance =
            now.distance + isphpbdx_min(IPBDX_PUSH_SPEED * world->h, IPBDX_PUSH_SHARE * (distance - now.distance));
    contact->push = isphpbdx_max(0.0f, contact->distance - now.distance) / world->h, contact->active = 0;
    contact->least = isphpbdx_min(now.distance, 0.5f * distance);
    return true;
}
/* Blocks of pairs are looked at in parallel, each writing its contacts where its pairs were; then they are packed. */
static void ipbdx_contact_task(void *context, int block) {
    ipbd_world *world = (ipbd_world *)context;
    int i, end = isphpbdx_mini((block + 1) * IPBDX_PAIR_BLOCK, world->pair_count), count = 0,
           begin = block * IPBDX_PAIR_BLOCK;
    for (i = begin; i < end; ++i)
        if (ipbdx_pair_contact(world, i, world->contacts + begin + count)) ++count;
    world->block_contacts[block] = count;
}
static void ipbdx_find_contacts(ipbd_world *world) {
    uint64_t began = isphpbdx_ticks(&world->desc.clock);
    int block, blocks, i;
    world->contact_count = 0;
    world->soft = ipbdx_any_soft(world);
    if (!world->soft) return;
    for (i = 0; i < world->counts.vertices; ++i)
        world->origins[i] = ipbdx_v3(world->starts + 4 * (size_t)i), world->grips[i] = 0.0f;
    ipbdx_refresh_pairs(world);
    blocks = (world->pair_count + IPBDX_PAIR_BLOCK - 1) / IPBDX_PAIR_BLOCK;
    isphpbdx_run(&world->desc.parallel, ipbdx_contact_task, world, blocks);
    for (block = 0; block < blocks; ++block)
        for (i = 0; i < world->block_contacts[block]; ++i)
            world->contacts[world->contact_count++] = world->contacts[block * IPBDX_PAIR_BLOCK + i];
    for (i = 0; i < world->contact_count; ++i) { /* what is touched by something awake wakes up with the next step */
        int a = (int)world->vertex_body[world->contacts[i].v[0]], b = (int)world->vertex_body[world->contacts[i].v[3]];
        if (world->bodies[a].asleep) ipbdx_wake(world->bodies + a);
        if (world->bodies[b].asleep) ipbdx_wake(world->bodies + b);
    }
    world->last.contacts += isphpbdx_ticks(&world->desc.clock) - began;
}
/* Moves the four vertices by weight * w * direction * step. */
static void ipbdx_push_four(ipbd_world *world, const ipbdx_contact *c, isphpbd_vec3 direction, float step) {
    int k;
    for (k = 0; k < 4; ++k) {
        float *x = world->positions + 4 * (size_t)c->v[k];
        ipbdx_put3(x, isphpbdx_madd(ipbdx_v3(x), direction, c->weight[k] * x[3] * step));
    }
}
/* How far the closest points have moved along each other in this substep. */
static isphpbd_vec3 ipbdx_contact_slip(const ipbd_world *world, const ipbdx_contact *c) {
    isphpbd_vec3 slip = ipbdx_zero3();
    int k;
    for (k = 0; k < 4; ++k)
        slip = isphpbdx_madd(slip,
                             isphpbdx_sub(ipbdx_v3(world->positions + 4 * (size_t)c->v[k]),
                                          ipbdx_v3(world->starts + 4 * (size_t)c->v[k])),
                             c->weight[k]);
    return isphpbdx_madd(slip, c->normal, -isphpbdx_dot(slip, c->normal));
}
static void ipbdx_add_grip(ipbd_world *world, const ipbdx_contact *c, float push) {
    int k;
    for (k = 0; k < 4; ++k) world->grips[c->v[k]] += c->friction * isphpbdx_abs(c->weight[k]) * push;
}
/* Takes up to `wish` (kg m) of the friction that both sides still allow. One load is spread over all contacts of its
   vertices: whichever of them is solved first takes it whole, and would waste what it does not need. */
static float ipbdx_take_grip(ipbd_world *world, const ipbdx_contact *c, float wish) {
    float side[2] = {0.0f, 0.0f}, least;
    int k;
    for (k = 0; k < 4; ++k) side[c->weight[k] < 0.0f] += world->grips[c->v[k]];
    least = isphpbdx_min(side[0], side[1]);
    if (!(least > IPBDX_TINY)) return 0.0f;
    wish = isphpbdx_min(wish, least);
    for (k = 0; k < 4; ++k) world->grips[c->v[k]] *= 1.0f - wish / side[c->weight[k] < 0.0f];
    return wish;
}
static float ipbdx_contact_gap(const ipbd_world *world, const ipbdx_contact *c) {
    isphpbd_vec3 gap = ipbdx_zero3();
    int k;
    for (k = 0; k < 4; ++k) gap = isphpbdx_madd(gap, ipbdx_v3(world->positions + 4 * (size_t)c->v[k]), c->weight[k]);
    return isphpbdx_dot(gap, c->normal);
}
static float ipbdx_contact_weight(const ipbd_world *world, const ipbdx_contact *c) {
    float weight = 0.0f;
    int k;
    for (k = 0; k < 4; ++k) weight += c->weight[k] * c->weight[k] * world->positions[4 * (size_t)c->v[k] + 3];
    return weight;
}
static void ipbdx_part_contact(ipbd_world *world, ipbdx_contact *c, float distance) {
    float weight = ipbdx_contact_weight(world, c), depth = distance - ipbdx_contact_gap(world, c);
    if (!(depth > 0.0f) || !(weight > IPBDX_TINY)) return;
    c->active = 1;
    ipbdx_push_four(world, c, c->normal, depth / weight);
    ipbdx_add_grip(world, c, depth / weight);
}
static void ipbdx_rub_contact(ipbd_world *world, ipbdx_contact *c) {
    float weight = ipbdx_contact_weight(world, c), length, grip;
    isphpbd_vec3 slip;
    if (!(weight > IPBDX_TINY) || ipbdx_contact_gap(world, c) > IPBDX_ALERT * c->distance) return;
    slip = ipbdx_contact_slip(world, c), length = isphpbdx_length(slip);
    if (!(length > IPBDX_TINY)) return;
    grip = ipbdx_take_grip(world, c, length / weight);
    if (!(grip > 0.0f)) return;
    c->active = 1;
    ipbdx_push_four(world, c, slip, -grip / length);
}
/* Those that are near are moved apart little by little, those farther away are held at all of their distance at once,
   and would press others together: least gaps are kept last. */
static void ipbdx_solve_contacts(ipbd_world *world) {
    uint64_t began = isphpbdx_ticks(&world->desc.clock);
    int i;
    for (i = 0; i < world->contact_count; ++i)
        ipbdx_part_contact(world, world->contacts + i, world->contacts[i].distance);
    for (i = 0; i < world->contact_count; ++i)
        ipbdx_part_contact(world, world->contacts + i, world->contacts[i].least);
    for (i = 0; i < world->contact_count; ++i) ipbdx_rub_contact(world, world->contacts + i);
    world->last.contacts += isphpbdx_ticks(&world->desc.clock) - began;
}
/* Whether a collider that touches the vertex stands against a push in this direction. */
static ipbdx_touch *ipbdx_held_by(ipbd_world *world, uint32_t v, isphpbd_vec3 direction) {
    ipbdx_touch *touch = world->touches + 2 * (size_t)v;
    int k;
    for (k = 0; k < 2 && touch[k].collider; ++k)
        if (isphpbdx_dot(touch[k].normal, direction) < 0.0f) return touch + k;
    return NULL;
}
/* A contact with those of its vertices that do not give way, because a collider stands against them. */
typedef struct ipbdx_support {
    ipbdx_touch *held[4];
    float weight; /* of the others */
} ipbdx_support;

static bool ipbdx_find_support(ipbd_world *world, const ipbdx_contact *c, ipbdx_support *s) {
    float lever = 0.0f;
    bool any = false;
    int k;
    s->weight = 0.0f;
    for (k = 0; k < 4; ++k) {
        const float w = world->positions[4 * (size_t)c->v[k] + 3];
        s->held[k] = ipbdx_held_by(world, c->v[k], isphpbdx_scale(c->normal, c->weight[k]));
        any = any || s->held[k];
        if (s->held[k]) continue;
        s->weight += c->weight[k] * c->weight[k] * w;
        lever = isphpbdx_max(lever, isphpbdx_abs(c->weight[k]) * w);
    }
    s->weight = isphpbdx_max(s->weight, 0.5f * lever); /* one with a short lever moves at most twice what is missing */
    return any;
}
/* A loop of contacts that contradict each other would double a push with each of them. */
static bool ipbdx_shoves_too_far(const ipbd_world *world, const ipbdx_contact *c, const ipbdx_support *s,
                                 isphpbd_vec3 direction, float step) {
    int k;
    for (k = 0; k < 4; ++k) {
        const float *x = world->positions + 4 * (size_t)c->v[k];
        const isphpbd_vec3 from = isphpbdx_sub(ipbdx_v3(x), world->placed[c->v[k]]);
        const isphpbd_vec3 to = isphpbdx_madd(from, direction, c->weight[k] * x[3] * step);
        if (!s->held[k] && !(isphpbdx_dot(to, to) <= world->most_shove * world->most_shove)) return true;
    }
    return false;
}
/* The colliders take what those that they hold would have got. */
static void ipbdx_push_loose(ipbd_world *world, const ipbdx_contact *c, const ipbdx_support *s, isphpbd_vec3 direction,
                             float step) {
    int k;
    if (ipbdx_shoves_too_far(world, c, s, direction, step)) return;
    for (k = 0; k < 4; ++k) {
        float *x = world->positions + 4 * (size_t)c->v[k];
        const float way = c->weight[k] * x[3] * step;
        if (s->held[k]) {
            s->held[k]->push = isphpbdx_madd(s->held[k]->push, direction, -c->weight[k] * step);
            continue;
        }
        ipbdx_put3(x, isphpbdx_madd(ipbdx_v3(x), direction, way));
        world->shove = isphpbdx_max(world->shove, isphpbdx_abs(way) * isphpbdx_length(direction));
    }
}
/* Once more after the colliders: what they push back comes nearer to what lies on it, substep after substep, down to
   nothing; and takes its own half of the friction back, so that what lies on it would creep. Only half of the contact
   distance is kept like that, because layers that are held at all of it tremble. */
static void ipbdx_support_contact(ipbd_world *world, ipbdx_contact *c) {
    isphpbd_vec3 slip;
    ipbdx_support support;
    float gap, length;
    if (!ipbdx_find_support(world, c, &support) || !(support.weight > IPBDX_TINY)) return;
    gap = ipbdx_contact_gap(world, c);
    if (gap < c->least) {
        c->active = 1;
        ipbdx_push_loose(world, c, &support, c->normal, (c->least - gap) / support.weight);
        ipbdx_add_grip(world, c, (c->least - gap) / support.weight);
    }
    if (gap > IPBDX_ALERT * c->distance) return;
    slip = ipbdx_contact_slip(world, c), length = isphpbdx_length(slip);
    if (length > IPBDX_TINY && length < IPBDX_REST_SPEED * world->h)
        ipbdx_push_loose(world, c, &support, slip, -ipbdx_take_grip(world, c, length / support.weight) / length);
}
/* Remembers where vertices are, and allows what lies on others to be moved by as much as colliders moved any of them,
   and a contact distance. */
static void ipbdx_begin_supports(ipbd_world *world) {
    float most = 0.0f;
    int v, k;
    for (v = 0; v < world->counts.vertices; ++v) {
        const float *x = world->positions + 4 * (size_t)v;
        const ipbdx_touch *touch = world->touches + 2 * (size_t)v;
        world->placed[v] = ipbdx_v3(x);
        for (k = 0; k < 2 && touch[k].collider; ++k)
            most = isphpbdx_max(most, isphpbdx_dot(touch[k].push, touch[k].push) * x[3] * x[3]);
    }
    world->most_shove = sqrtf(most) + world->pair_thickness;
}
static void ipbdx_support_contacts(ipbd_world *world) {
    int i;
    world->shove = 0.0f;
    if (!world->touching || !world->contact_count) return;
    ipbdx_begin_supports(world);
    for (i = 0; i < world->contact_count; ++i) ipbdx_support_contact(world, world->contacts + i);
}
/* Parts that were moved apart because they had been too near must not fly apart: the speed of that push is taken back;
   and parts that hardly move against each other come to rest. A vertex that a collider holds has not moved, and passes
   its part on to the collider; one with a short lever does not have to make up for all that the held ones do: it gains
   speed by that. */
static float ipbdx_loose_weight(const ipbd_world *world, uint32_t v) {
    return world->touching && world->touches[2 * (size_t)v].collider ? 0.0f : world->inverse_masses[v];
}
static void ipbdx_calm_contact(ipbd_world *world, const ipbdx_contact *c) {
    isphpbd_vec3 speed = ipbdx_zero3(), change;
    float weight = 0.0f, lever = 0.0f, w[4], apart;
    int k;
    for (k = 0; k < 4; ++k) {
        w[k] = ipbdx_loose_weight(world, c->v[k]);
        lever = isphpbdx_max(lever, isphpbdx_abs(c->weight[k]) * w[k]);
        speed = isphpbdx_madd(speed, ipbdx_v3(world->velocities + 4 * (size_t)c->v[k]), c->weight[k]);
        weight += c->weight[k] * c->weight[k] * w[k];
    }
    if (!(weight > IPBDX_TINY)) return;
    weight = isphpbdx_max(weight, 0.5f * lever);
    apart = isphpbdx_clamp(isphpbdx_dot(c->normal, speed), 0.0f, c->push);
    change = isphpbdx_length(speed) < IPBDX_REST_SPEED ? isphpbdx_scale(speed, -0.5f / weight)
                                                       : isphpbdx_scale(c->normal, -apart / weight);
    for (k = 0; k < 4; ++k) {
        float *v = world->velocities + 4 * (size_t)c->v[k];
        ipbdx_touch *touch = world->touches + 2 * (size_t)c->v[k];
        if (world->touching && touch->collider) /* it stands still, and its collider gets what it would have got */
            touch->push = isphpbdx_madd(touch->push, change, -c->weight[k] * world->h);
        else ipbdx_put3(v, isphpbdx_madd(ipbdx_v3(v), change, c->weight[k] * w[k]));
    }
}
static void ipbdx_calm_contacts(ipbd_world *world) {
    int i;
    for (i = 0; i < world->contact_count; ++i)
        if (world->contacts[i].active) ipbdx_calm_contact(world, world->contacts + i);
}
/* Takes the share 1 - t of the pair's motion relative to its centre of mass away. Momentum stays, but for pinned
   vertices and those that a collider holds: these count as infinitely heavy. */
static void ipbdx_stop_pair(ipbd_world *world, const ipbdx_near_pair *p, float t) {
    isphpbd_vec3 mean = ipbdx_zero3(), path[4];
    double mass = 0.0;
    int k;
    for (k = 0; k < 4; ++k) {
        float w = world->positions[4 * (size_t)p->v[k] + 3];
        float heavy = w > 0.0f && !(world->touching && world->touches[2 * (size_t)p->v[k]].collider) ? 1.0f / w : 1e12f;
        path[k] = isphpbdx_sub(ipbdx_v3(world->positions + 4 * (size_t)p->v[k]), p->x[k]);
        mean = isphpbdx_madd(mean, path[k], heavy), mass += (double)heavy;
    }
    mean = isphpbdx_scale(mean, (float)(1.0 / mass));
    for (k = 0; k < 4; ++k) {
        float *x = world->positions + 4 * (size_t)p->v[k];
        if (x[3] > 0.0f) ipbdx_put3(x, isphpbdx_add(p->x[k], ipbdx_lerp3(mean, path[k], t)));
    }
}
/* With that gap and its closest points, is the pair still on its side at the end? */
static bool ipbdx_keeps_side(const ipbdx_near_pair *p, const ipbdx_gap *from, float limit) {
    isphpbd_vec3 x[4], d = ipbdx_zero3();
    int k;
    ipbdx_pair_at(p, 1.0f, x);
    for (k = 1; k < 4; ++k) d = isphpbdx_madd(d, isphpbdx_sub(x[k], x[0]), from->weight[k]);
    return isphpbdx_dot(d, from->normal) >= limit;
}
/* A place that is |x| from the origin is rounded by up to 6e-8 |x| per axis; this is |x|. */
static float ipbdx_pair_away(const ipbdx_near_pair *p) {
    const isphpbd_vec3 x = p->x[0];
    return isphpbdx_max(isphpbdx_max(isphpbdx_abs(x.x), isphpbdx_abs(x.y)), isphpbdx_abs(x.z));
}
/* No pair may end nearer than this: below it rounding decides on which side of each other things are. A gap of 16
   rounding errors still tells its direction. Parts that are born near keep a quarter of what they had. */
static float ipbdx_least_gap(const ipbd_world *world, const ipbdx_near_pair *p, float now) {
    const float least = IPBDX_LEAST_GAP * world->bodies[world->vertex_body[p->v[0]]].thickness +
                        1e-6f * ipbdx_pair_away(p);
    float friction;
    return now > 2.0f * least ? least : isphpbdx_min(least, 0.25f * ipbdx_pair_distance(world, p, &friction));
}
/* Whether the pair ends no nearer than it started, by its points that were closest and by those that are. */
static bool ipbdx_moves_apart(const ipbdx_near_pair *p, const ipbdx_gap *start) {
    isphpbd_vec3 x[4];
    ipbdx_gap end;
    ipbdx_pair_at(p, 1.0f, x);
    ipbdx_measure_gap(x, p->split, &end);
    return end.distance >= start->distance && isphpbdx_dot(end.normal, start->normal) > 0.0f &&
           ipbdx_keeps_side(p, start, 0.999f * start->distance); /* rounding */
}
/* Rounds of the clamp: first only what leads to the crossing is taken away, then all relative motion, then all
   motion. */
typedef enum ipbdx_brake { IPBDX_BRAKE_PART = 0, IPBDX_BRAKE_RELATIVE, IPBDX_BRAKE_ALL } ipbdx_brake;
#define IPBDX_RELATIVE_ROUND 10 /* from which on relative motion, and all, is taken away, and which is the last */
#define IPBDX_FREEZING_ROUND 40
#define IPBDX_CLAMP_ROUNDS   120
#define IPBDX_HOLDS          4 /* times that colliders get the word between rounds */

/* Nothing is left to stop: rounding alone moves them (two places, by half of the last digit of three axes each). Nor is
   there a side to keep where they are much nearer than any pair may come: they were born in each other. */
static bool ipbdx_pair_is_free(const ipbdx_near_pair *p, float least, float distance, float speed) {
    return distance < 0.5f * least || (distance > 0.75f * least && speed <= 2.5e-7f * ipbdx_pair_away(p));
}
/* True if the pair would cross or come much nearer than it was. t: when, so that less can be taken away. */
static bool ipbdx_must_stop(const ipbd_world *world, const ipbdx_near_pair *p, float speed, float *t) {
    ipbdx_gap start, gap;
    float least, limit;
    ipbdx_measure_gap(p->x, p->split, &start);
    least = ipbdx_least_gap(world, p, start.distance);
    if (ipbdx_pair_is_free(p, least, start.distance, speed)) return false;
    limit = isphpbdx_max(0.5f * start.distance, least);
    limit = isphpbdx_min(limit, 0.1f * world->bodies[world->vertex_body[p->v[0]]].thickness);
    *t = 0.0f;
    if (start.distance > speed + limit) return false;
    if (!(start.distance > 1.1f * limit)) return !ipbdx_moves_apart(p, &start);
    *t = ipbdx_advance(p, speed, limit, &gap);
    return *t <= 1.0f && !(gap.distance > 1.05f * limit && ipbdx_keeps_side(p, &gap, limit));
}
/* A pair of which nothing was moved since it was looked at is still all right. */
static bool ipbdx_is_settled(const ipbd_world *world, const ipbdx_near_pair *p, int round) {
    int k;
    for (k = 0; k < 4; ++k)
        if (world->braked[p->v[k]] >= round) return false;
    return true;
}
static bool ipbdx_clamp_pair(ipbd_world *world, int index, int round, ipbdx_brake brake) {
    ipbdx_near_pair p;
    float speed, t;
    int k;
    if (world->pairs[index].gap > world->pair_drift + 0.12f * world->pair_thickness) return false;
    ipbdx_pair_corners(world, index, &p);
    if (ipbdx_is_settled(world, &p, round)) return false;
    speed = ipbdx_pair_paths(world, &p);
    if (speed == 0.0f || !ipbdx_must_stop(world, &p, speed, &t)) return false; /* without speed it is stopped already */
    if (brake != IPBDX_BRAKE_ALL) ipbdx_stop_pair(world, &p, brake == IPBDX_BRAKE_PART ? 0.8f * t : 0.0f);
    for (k = 0; k < 4; ++k) {
        float *x = world->positions + 4 * (size_t)p.v[k];
        if (brake == IPBDX_BRAKE_ALL && x[3] > 0.0f) ipbdx_put3(x, p.x[k]);
        world->braked[p.v[k]] = (uint8_t)(round + 1);
    }
    return true;
}
/* Until nothing is left to stop; answers the round that comes next. */
static int ipbdx_clamp_rounds(ipbd_world *world, int round) {
    int i, stopped = 1;
    for (; round < IPBDX_CLAMP_ROUNDS && stopped; ++round) {
        const ipbdx_brake brake = round < IPBDX_RELATIVE_ROUND   ? IPBDX_BRAKE_PART
                                  : round < IPBDX_FREEZING_ROUND ? IPBDX_BRAKE_RELATIVE
                                                                 : IPBDX_BRAKE_ALL;
        for (i = 0, stopped = 0; i < world->pair_count; ++i) stopped += ipbdx_clamp_pair(world, i, round, brake);
        if (stopped) ipbdx_renew_pairs(world);
        world->last.impacts += stopped;
        if (stopped && brake == IPBDX_BRAKE_ALL) world->flags |= IPBD_STEP_FROZEN;
    }
    return round;
}
/* What the clamp carries on may end behind a collider, which was met before. */
typedef struct ipbdx_hold {
    ipbd_world *world;
    int round;
    bool last;
} ipbdx_hold;

/* The collider behind whose surface the vertex has got in this substep; none: -1. */
static int ipbdx_went_through(const ipbd_world *world, const ipbdx_body *body, int v, const ipbdx_near *near_list) {
    int i;
    for (i = 0; i < near_list->count && world->positions[4 * (size_t)v + 3] > 0.0f; ++i) {
        isphpbd_vec3 at;
        ipbdx_hit hit;
        if (ipbdx_path_is_off(world, v, near_list->low[i], near_list->high[i])) continue;
        if (ipbdx_find_hit(world, body, v, near_list->slots[i], &at, &hit) && hit.before > 0.0f &&
            hit.depth > 0.5f * body->thickness)
            return near_list->slots[i];
    }
    return -1;
}
/* Colliders push it out, and it gives way to nothing then. At last, and what sleeps, goes back to where it was: out of
   all that stands still. */
static bool ipbdx_hold_vertex(const ipbdx_hold *hold, const ipbdx_body *body, int v, const ipbdx_near *near_list) {
    ipbd_world *world = hold->world;
    const int slot = world->braked[v] ? ipbdx_went_through(world, body, v, near_list) : -1;
    const ipbdx_collider *c = world->colliders + slot;
    if (slot < 0) return false;
    if (body->asleep || (hold->last && ipbdx_pose_equal(c->start, c->end)))
        ipbdx_put3(world->positions + 4 * (size_t)v, world->origins[v]);
    else (void)ipbdx_collide_vertex(world, body, v, near_list);
    world->braked[v] = (uint8_t)isphpbdx_maxi(hold->round, 1);
    return true;
}
static int ipbdx_hold_slab(const ipbdx_hold *hold, const ipbdx_slab *slab) {
    ipbd_world *world = hold->world;
    const ipbdx_body *body = world->bodies + slab->body;
    int v, begin = body->vertex_begin + slab->vertex_begin, end = body->vertex_begin + slab->vertex_end, held = 0,
           next = 0;
    ipbdx_near near_list;
    for (v = begin; v < end && !world->braked[v];) ++v;
    begin = v;
    while (begin < end && next < world->counts.colliders) {
        next = ipbdx_list_near(world, slab, next, &near_list);
        for (v = begin; v < end && near_list.met; ++v) held += ipbdx_hold_vertex(hold, body, v, &near_list);
    }
    return held;
}
static void ipbdx_hold_task(void *context, int index) {
    const ipbdx_hold *hold = (const ipbdx_hold *)context;
    const ipbdx_body *body = hold->world->bodies + index;
    int i;
    for (i = body->slab_begin; i < body->slab_begin + body->slab_interior && ipbdx_soft(body); ++i) {
        ipbdx_partial *partial = hold->world->partials + i;
        partial->held = ipbdx_hold_slab(hold, hold->world->slabs + i);
        partial->contacts = isphpbdx_maxi(partial->contacts, partial->held);
    }
}
static bool ipbdx_hold_back(ipbd_world *world, int round, bool last) {
    ipbdx_hold hold;
    bool any = false;
    int a, i;
    hold.world = world, hold.round = round, hold.last = last;
    isphpbdx_run(&world->desc.parallel, ipbdx_hold_task, &hold, world->counts.bodies);
    for (a = 0; a < world->counts.bodies; ++a) {
        const ipbdx_body *body = world->bodies + a;
        for (i = body->slab_begin; i < body->slab_begin + body->slab_interior && ipbdx_soft(body); ++i)
            any = any || world->partials[i].held > 0;
    }
    if (any) ipbdx_renew_pairs(world);
    return any;
}
/* What came out of a collider without velocity, and was then stopped before it got there, has not come out: else the
   way that it did not go would be velocity back. */
static void ipbdx_stop_starts(ipbd_world *world) {
    int v;
    for (v = 0; v < world->counts.vertices; ++v) {
        float *start = world->starts + 4 * (size_t)v, share;
        const isphpbd_vec3 origin = world->origins[v], out = isphpbdx_sub(ipbdx_v3(start), origin),
                           moved = isphpbdx_sub(ipbdx_v3(world->positions + 4 * (size_t)v), origin);
        if (!(isphpbdx_dot(out, out) > 0.0f)) continue;
        share = isphpbdx_dot(moved, out) / isphpbdx_dot(out, out);
        if (share < 1.0f) ipbdx_put3(start, isphpbdx_madd(origin, out, isphpbdx_max(share, 0.0f)));
    }
}
static void ipbdx_clamp_contacts(ipbd_world *world) {
    uint64_t began = isphpbdx_ticks(&world->desc.clock);
    const int before = world->last.impacts;
    int round, holds;
    if (!world->soft) return;
    memset(world->braked, 0, (size_t)world->counts.vertices);
    ipbdx_renew_pairs(world);
    round = ipbdx_clamp_rounds(world, 0);
    for (holds = 1; holds <= IPBDX_HOLDS && world->touching && world->last.impacts > before; ++holds) {
        if (holds == IPBDX_HOLDS) round = isphpbdx_maxi(round, IPBDX_FREEZING_ROUND);
        if (!ipbdx_hold_back(world, round, holds == IPBDX_HOLDS)) break;
        round = ipbdx_clamp_rounds(world, round);
    }
    if (world->last.impacts > before) ipbdx_stop_starts(world);
    world->last.contacts += isphpbdx_ticks(&world->desc.clock) - began;
}

/* ---- [momentum] what constraints must not change --------------------------------------------------------------------
   Forces along the gradients at the end of a substep have no net force, but a small torque about its start, where
   velocities belong: implicit integration brakes what turns. Bodies without pins get that back, and the sums' rounding
   errors, by a rigid motion: per body the sums over m (x - predicted) and its moment about the start are brought to
   zero. */

typedef enum ipbdx_sum_of { IPBDX_OF_VELOCITY, IPBDX_OF_PINS, IPBDX_OF_CORRECTION } ipbdx_sum_of;

/* What holds a body is what cannot be pushed: pins of the host, and colliders without mass. */
static bool ipbdx_fixed(const ipbd_world *world, uint32_t slot) {
    return !(world->colliders[slot].inverse_mass > 0.0f);
}
static bool ipbdx_pin_fixed(const ipbd_world *world, int v) {
    const uint32_t pinned = world->pins[v].pinned;
    return pinned == 1u || (pinned >= 2u && ipbdx_fixed(world, pinned - 2u));
}
static bool ipbdx_touch_fixed(const ipbd_world *world, int v) {
    uint32_t collider;
    if (!world->touching || world->substep == 0) return false; /* touches are those of an earlier step */
    collider = world->touches[2 * (size_t)v].collider;
    return collider && ipbdx_fixed(world, collider - 1u);
}
/* The mass with which a vertex counts in the sums; 0: it does not. Pins that hold count alike, what stands on the
   ground counts as if it were heavy: one that sways there turns and shifts about its foot, and a fit to all vertices
   would take seven eighths of that energy for a rigid motion. */
static double ipbdx_sum_mass(const ipbd_world *world, int v, ipbdx_sum_of what) {
    if (what == IPBDX_OF_CORRECTION) return 1.0 / (double)world->positions[4 * (size_t)v + 3];
    if (what == IPBDX_OF_PINS) return ipbdx_pin_fixed(world, v) ? 1.0 : 0.0;
    if (world->pins[v].pinned) return 0.0;
    return (double)world->masses[v] * (ipbdx_touch_fixed(world, v) ? IPBDX_FOOT : 1.0);
}
/* Sums of mass, moment, and of m u with its moment, where u is the velocity, or what the constraints moved in this
   substep. Places count from the body's first vertex: far from it, the squares of distances would bury the inertia. */
static const float *ipbdx_places(const ipbd_world *world, ipbdx_sum_of what) {
    return what == IPBDX_OF_CORRECTION ? world->starts : world->positions;
}
static void ipbdx_sum_slab(const ipbd_world *world, int index, ipbdx_sum_of what) {
    const ipbdx_slab *slab = world->slabs + index;
    const ipbdx_body *body = world->bodies + slab->body;
    const float *places = ipbdx_places(world, what), *origin = places + 4 * (size_t)body->vertex_begin;
    ipbdx_partial *sum = world->partials + index;
    int v, k;
    sum->mass = 0.0;
    memset(sum->moment, 0, sizeof sum->moment), memset(sum->momentum, 0, sizeof sum->momentum);
    memset(sum->spin, 0, sizeof sum->spin), memset(sum->inertia, 0, sizeof sum->inertia);
    for (v = body->vertex_begin + slab->vertex_begin; v < body->vertex_begin + slab->vertex_end; ++v) {
        const float *x = world->positions + 4 * (size_t)v, *speed = world->velocities + 4 * (size_t)v,
                    *place = places + 4 * (size_t)v;
        double mass = ipbdx_sum_mass(world, v, what), r[3], u[3];
        if (!(mass > 0.0)) continue;
        for (k = 0; k < 3; ++k) {
            r[k] = (double)place[k] - (double)origin[k];
            u[k] = what == IPBDX_OF_CORRECTION ? (double)(x[k] - (place[k] + speed[k] * world->h)) : (double)speed[k];
        }
        sum->mass += mass;
        for (k = 0; k < 3; ++k) {
            int a = (k + 1) % 3, b = (k + 2) % 3;
            sum->moment[k] += mass * r[k], sum->momentum[k] += mass * u[k];
            sum->spin[k] += mass * (r[a] * u[b] - r[b] * u[a]);
            sum->inertia[k] += mass * (r[a] * r[a] + r[b] * r[b]);
        }
        sum->inertia[3] -= mass * r[0] * r[1], sum->inertia[4] -= mass * r[0] * r[2],
            sum->inertia[5] -= mass * r[1] * r[2];
    }
}
/* Inertia: xx yy zz xy xz yz. Nothing turns where rounding has left no inertia: with the least that is added below, det
   is at least 8e-11 of the trace cubed, because the two smaller moments are never less than the largest. */
static void ipbdx_find_spin(const double *m, const double *right, double *out) {
    double a = m[1] * m[2] - m[5] * m[5], b = m[4] * m[5] - m[3] * m[2], c = m[3] * m[5] - m[4] * m[1];
    double det = m[0] * a + m[3] * b + m[4] * c, e = m[0] * m[2] - m[4] * m[4], f = m[3] * m[4] - m[0] * m[5],
           g = m[0] * m[1] - m[3] * m[3], trace = m[0] + m[1] + m[2];
    out[0] = out[1] = out[2] = 0.0;
    if (!(trace > 0.0) || !(det > 1e-11 * trace * trace * trace)) return;
    out[0] = (a * right[0] + b * right[1] + c * right[2]) / det;
    out[1] = (b * right[0] + e * right[1] + f * right[2]) / det;
    out[2] = (c * right[0] + f * right[1] + g * right[2]) / det;
}
/* The rigid motion with the momentum and angular momentum of the slabs' sums. */
static ipbdx_motion ipbdx_rigid_motion(const ipbd_world *world, const ipbdx_body *body, ipbdx_sum_of what) {
    const float *origin = ipbdx_places(world, what) + 4 * (size_t)body->vertex_begin;
    ipbdx_motion m;
    double spin[3] = {0, 0, 0}, inertia[6] = {0, 0, 0, 0, 0, 0}, least;
    int i, k;
    memset(&m, 0, sizeof m);
    for (i = body->slab_begin; i < body->slab_begin + body->slab_interior; ++i) {
        const ipbdx_partial *sum = world->partials + i;
        m.mass += sum->mass;
        for (k = 0; k < 3; ++k)
            m.centre[k] += sum->moment[k], m.velocity[k] += sum->momentum[k], spin[k] += sum->spin[k];
        for (k = 0; k < 6; ++k) inertia[k] += sum->inertia[k];
    }
    for (k = 0; k < 3; ++k) m.centre[k] /= m.mass, m.velocity[k] /= m.mass;
    for (k = 0; k < 3; ++k) { /* to the centre of mass */
        int a = (k + 1) % 3, b = (k + 2) % 3;
        spin[k] -= m.mass * (m.centre[a] * m.velocity[b] - m.centre[b] * m.velocity[a]);
        inertia[k] -= m.mass * (m.centre[a] * m.centre[a] + m.centre[b] * m.centre[b]);
    }
    inertia[3] += m.mass * m.centre[0] * m.centre[1], inertia[4] += m.mass * m.centre[0] * m.centre[2],
        inertia[5] += m.mass * m.centre[1] * m.centre[2];
    least = 1e-9 * (inertia[0] + inertia[1] + inertia[2]); /* a straight rope has no inertia about itself */
    for (k = 0; k < 3; ++k) inertia[k] += least;
    ipbdx_find_spin(inertia, spin, m.spin);
    for (k = 0; k < 3; ++k) m.centre[k] += (double)origin[k];
    return m;
}
static double ipbdx_rigid_at(const ipbdx_motion *m, const float *place, int k) {
    int a = (k + 1) % 3, b = (k + 2) % 3;
    return m->velocity[k] + m->spin[a] * ((double)place[b] - m->centre[b]) -
           m->spin[b] * ((double)place[a] - m->centre[a]);
}
static void ipbdx_correction_task(void *context, int index) {
    const ipbdx_job *job = (const ipbdx_job *)context;
    if (job->world->bodies[job->world->slabs[job->slabs[index]].body].unbound)
        ipbdx_sum_slab(job->world, job->slabs[index], IPBDX_OF_CORRECTION);
}
static void ipbdx_restore_task(void *context, int index) {
    const ipbdx_job *job = (const ipbdx_job *)context;
    ipbd_world *world = job->world;
    const ipbdx_slab *slab = world->slabs + job->slabs[index];
    const ipbdx_body *body = world->bodies + slab->body;
    int v, k;
    for (v = body->vertex_begin + slab->vertex_begin; v < body->vertex_begin + slab->vertex_end && body->unbound; ++v)
        for (k = 0; k < 3; ++k) {
            float *x = world->positions + 4 * (size_t)v + k;
            *x = (float)((double)*x - ipbdx_rigid_at(world->motions + slab->body, world->starts + 4 * (size_t)v, k));
        }
}
static bool ipbdx_any_unbound(const ipbd_world *world) {
    int i;
    for (i = 0; i < world->active_count; ++i)
        if (world->bodies[world->active_bodies[i]].unbound) return true;
    return false;
}
static void ipbdx_find_corrections(ipbd_world *world) {
    int i;
    ipbdx_run_slabs(world, ipbdx_correction_task, world->interiors, world->interior_count);
    for (i = 0; i < world->active_count; ++i) {
        const ipbdx_body *body = world->bodies + world->active_bodies[i];
        if (body->unbound)
            world->motions[world->active_bodies[i]] = ipbdx_rigid_motion(world, body, IPBDX_OF_CORRECTION);
    }
}
static void ipbdx_keep_momentum(ipbd_world *world) {
    if (!ipbdx_any_unbound(world)) return;
    ipbdx_find_corrections(world);
    ipbdx_run_slabs(world, ipbdx_restore_task, world->interiors, world->interior_count);
    ipbdx_find_corrections(world);
}
/* What rounding left goes into the velocities, which have digits to spare. */
static void ipbdx_trim_task(void *context, int index) {
    const ipbdx_job *job = (const ipbdx_job *)context;
    ipbd_world *world = job->world;
    const ipbdx_slab *slab = world->slabs + job->slabs[index];
    const ipbdx_body *body = world->bodies + slab->body;
    int v, k;
    for (v = body->vertex_begin + slab->vertex_begin; v < body->vertex_begin + slab->vertex_end && body->unbound; ++v)
        for (k = 0; k < 3; ++k) {
            float *u = world->velocities + 4 * (size_t)v + k;
            double trim =
                ipbdx_rigid_at(world->motions + slab->body, world->starts + 4 * (size_t)v, k) / (double)world->h;
            if (trim > -1.0 && trim < 1.0) *u = (float)((double)*u - trim); /* more than 1 m/s is no rounding */
        }
}

/* ---- [sleep] and the frame round the substeps -------------------------------------------------------------------- */

/* What is no speed came from contacts or trims after the last look at it. */
static void ipbdx_calm_slab(ipbd_world *world, int slab) {
    const int begin = world->bodies[world->slabs[slab].body].vertex_begin;
    int v;
    for (v = begin + world->slabs[slab].vertex_begin; v < begin + world->slabs[slab].vertex_end; ++v) {
        float *u = world->velocities + 4 * (size_t)v;
        if (ipbdx_sane3(ipbdx_v3(u))) continue;
        ipbdx_put3(u, ipbdx_zero3());
        ++world->partials[slab].quarantined;
    }
}
/* Fastest vertex of a slab, for sleeping. */
static void ipbdx_speed_task(void *context, int index) {
    const ipbdx_job *job = (const ipbdx_job *)context;
    ipbd_world *world = job->world;
    const ipbdx_slab *slab = world->slabs + job->slabs[index];
    int v, begin = world->bodies[slab->body].vertex_begin;
    float fastest = 0.0f, sum = 0.0f;
    for (v = begin + slab->vertex_begin; v < begin + slab->vertex_end; ++v) {
        const isphpbd_vec3 speed = ipbdx_v3(world->velocities + 4 * (size_t)v);
        const float square = isphpbdx_dot(speed, speed);
        fastest = isphpbdx_max(fastest, square), sum += square;
    }
    world->partials[job->slabs[index]].fastest = sqrtf(fastest);
    if (!(sum < IPBDX_LIMIT * IPBDX_LIMIT)) ipbdx_calm_slab(world, job->slabs[index]);
}
static bool ipbdx_hangs(const ipbd_world *world, const ipbdx_body *body) {
    int v;
    for (v = body->vertex_begin; v < body->vertex_begin + body->vertex_count && !body->unbound; ++v)
        if (ipbdx_pin_fixed(world, v)) return true;
    return false;
}
/* Velocities move toward those of the body as if it were rigid: linear and angular momentum stay (Mueller et al. 2007)
   where nothing holds it; what is attached to bodies with mass must not lose momentum to nobody.
   With pins that hold they move toward the rigid motion of the pins: what hangs from them comes to rest.
   A vertex that is far lighter than its body could be given any speed by that: up to the limit of all speeds. */
static void ipbdx_damp_body(ipbd_world *world, const ipbdx_body *body) {
    const ipbdx_sum_of what = ipbdx_hangs(world, body) ? IPBDX_OF_PINS : IPBDX_OF_VELOCITY;
    ipbdx_motion m;
    double share = 1.0 - 1.0 / (1.0 + (double)body->damping * (double)world->dt), most = (double)IPBDX_LIMIT;
    int v, k;
    most *= most;
    for (v = body->slab_begin; v < body->slab_begin + body->slab_interior; ++v)
        ipbdx_sum_slab(world, v, what);
    m = ipbdx_rigid_motion(world, body, what);
    for (v = body->vertex_begin; v < body->vertex_begin + body->vertex_count; ++v) {
        const float *x = world->positions + 4 * (size_t)v;
        float *u = world->velocities + 4 * (size_t)v;
        if (world->pins[v].pinned) continue;
        for (k = 0; k < 3; ++k) {
            double damped = (double)u[k] + share * (ipbdx_rigid_at(&m, x, k) - (double)u[k]);
            if (damped * damped < most) u[k] = (float)damped;
        }
    }
}
/* Edges strained beyond the yield strain take some of it as their new rest length. */
static void ipbdx_flow_edges(ipbd_world *world, const ipbdx_body *body) {
    ipbdx_edges *g = world->edges + body->group_begin[IPBDX_EDGES], *end = g + body->group_count[IPBDX_EDGES];
    const float *x = world->positions + 4 * (size_t)body->vertex_begin;
    float share = isphpbdx_min(1.0f, body->plastic_creep * world->dt);
    int lane;
    for (; g < end; ++g)
        for (lane = 0; lane < 4; ++lane) {
            uint32_t i = g->v[0][lane], j = g->v[1][lane];
            float first = isphpbdx_length(
                isphpbdx_sub(world->rests[body->vertex_begin + (int)i], world->rests[body->vertex_begin + (int)j]));
            float length = isphpbdx_length(isphpbdx_sub(ipbdx_v3(x + 4 * (size_t)i), ipbdx_v3(x + 4 * (size_t)j)));
            float excess = length - g->rest[lane], yield = body->plastic_yield * g->rest[lane];
            if (isphpbdx_abs(excess) <= yield) continue;
            excess = excess > 0.0f ? excess - yield : excess + yield;
            g->rest[lane] = isphpbdx_clamp(g->rest[lane] + share * excess, first / (1.0f + body->plastic_max),
                                           first * (1.0f + body->plastic_max));
        }
}
/* Elastic tetrahedra flow by the multiplicative split F = Fe Fp (Lee 1969): the element's rest edges become Fp times
   what they were, Fp symmetric, of the principal axes of Fe, and with determinant 1, so that volume stays. The strain
   that counts is what changes the shape, (largest minus other stretch) / mean stretch / (1 + Poisson's ratio) where two
   stretches are equal: in a bar that is pulled, its strain along. */
typedef struct ipbdx_stretches {
    float axes[3][3], along[3]; /* columns: principal axes of the rest shape; stretch along each */
    float mean, strain;
} ipbdx_stretches;

static void ipbdx_multiply3(const float *a, const float *b, float *product) { /* row by row */
    int i, k;
    for (i = 0; i < 3; ++i)
        for (k = 0; k < 3; ++k)
            product[3 * i + k] = a[3 * i] * b[k] + a[3 * i + 1] * b[3 + k] + a[3 * i + 2] * b[6 + k];
}
/* One of Jacobi's rotations: afterwards c[p][q] is zero. */
static void ipbdx_rotate_away(float c[3][3], float axes[3][3], int p, int q) {
    const int r = 3 - p - q;
    float theta, t, cosine, sine, x, y;
    int i;
    if (c[p][q] == 0.0f) return;
    theta = (c[q][q] - c[p][p]) / (2.0f * c[p][q]);
    t = (theta < 0.0f ? -1.0f : 1.0f) / (isphpbdx_abs(theta) + sqrtf(theta * theta + 1.0f));
    cosine = 1.0f / sqrtf(t * t + 1.0f), sine = t * cosine;
    c[p][p] -= t * c[p][q], c[q][q] += t * c[p][q], c[p][q] = c[q][p] = 0.0f;
    x = c[p][r], y = c[q][r];
    c[p][r] = c[r][p] = cosine * x - sine * y, c[q][r] = c[r][q] = sine * x + cosine * y;
    for (i = 0; i < 3; ++i)
        x = axes[i][p], y = axes[i][q], axes[i][p] = cosine * x - sine * y, axes[i][q] = sine * x + cosine * y;
}
/* Principal stretches of a matrix, row by row. Jacobi's method converges squarely: four rounds give all bits. */
static void ipbdx_find_stretches(const float *f, float poisson, ipbdx_stretches *s) {
    float c[3][3], spread = 0.0f;
    int i, k;
    for (i = 0; i < 3; ++i)
        for (k = 0; k < 3; ++k)
            c[i][k] = f[i] * f[k] + f[3 + i] * f[3 + k] + f[6 + i] * f[6 + k], s->axes[i][k] = i == k ? 1.0f : 0.0f;
    for (i = 0; i < 4; ++i)
        ipbdx_rotate_away(c, s->axes, 0, 1), ipbdx_rotate_away(c, s->axes, 0, 2), ipbdx_rotate_away(c, s->axes, 1, 2);
    for (i = 0; i < 3; ++i) s->along[i] = sqrtf(isphpbdx_max(c[i][i], 0.0f));
    s->mean = (s->along[0] + s->along[1] + s->along[2]) / 3.0f;
    for (i = 0; i < 3; ++i) spread += (s->along[i] - s->mean) * (s->along[i] - s->mean);
    s->strain = sqrtf(1.5f * spread) / (isphpbdx_max(s->mean, IPBDX_TINY) * (1.0f + poisson));
}
/* Whether an element is strained less than that, told from F^T F alone: its eigenvalues are no farther from their mean
   than sqrt(2/3) of its deviator's size, and differ by more than the stretches do. */
static bool ipbdx_surely_strained_less(const float *f, float strain) {
    float c[6], spread, mean, least;
    int k;
    for (k = 0; k < 3; ++k) c[k] = f[k] * f[k] + f[3 + k] * f[3 + k] + f[6 + k] * f[6 + k];
    for (k = 0; k < 3; ++k) {
        const int a = k == 2, b = k == 0 ? 1 : 2;
        c[3 + k] = f[a] * f[b] + f[3 + a] * f[3 + b] + f[6 + a] * f[6 + b];
    }
    mean = (c[0] + c[1] + c[2]) / 3.0f, spread = 2.0f * (c[3] * c[3] + c[4] * c[4] + c[5] * c[5]);
    for (k = 0; k < 3; ++k) spread += (c[k] - mean) * (c[k] - mean);
    least = mean - 0.8165f * sqrtf(spread);
    return least > 0.0f && 1.5f * spread <= 3.99f * least * least * strain * strain;
}
/* Of something near one. */
static float ipbdx_cube_root(float x) {
    float y = 1.0f;
    int i;
    for (i = 0; i < 8; ++i) y = (2.0f * y + x / (y * y)) / 3.0f;
    return y;
}
static float ipbdx_stretch_energy(const float *along) {
    float sum = 0.0f;
    int i;
    for (i = 0; i < 3; ++i) sum += (along[i] * along[i] - 1.0f) * (along[i] * along[i] - 1.0f);
    return sum;
}
/* The stretches after a share of what they differ by has become lasting; their product stays. */
static void ipbdx_flown_stretches(const ipbdx_stretches *s, float share, float *along) {
    float before = 1.0f, after = 1.0f;
    int i;
    for (i = 0; i < 3; ++i) {
        along[i] = s->along[i] + share * (s->mean - s->along[i]);
        before *= s->along[i], after *= along[i];
    }
    before = ipbdx_cube_root(before / isphpbdx_max(after, IPBDX_TINY));
    for (i = 0; i < 3; ++i) along[i] *= before;
}
/* Inverse times Fp^-1 = sum of (new / old stretch) axis axis^T. */
static void ipbdx_flown_inverse(const float *inverse, const ipbdx_stretches *s, const float *along, float *out) {
    float back[9];
    int i, k, m;
    for (i = 0; i < 3; ++i)
        for (k = 0; k < 3; ++k)
            for (back[3 * i + k] = 0.0f, m = 0; m < 3; ++m)
                back[3 * i + k] += along[m] / s->along[m] * s->axes[i][m] * s->axes[k][m];
    ipbdx_multiply3(inverse, back, out);
}
/* Columns are the edges from the first corner; row by row. */
static void ipbdx_edge_matrix(const isphpbd_vec3 *corner, float *matrix) {
    int k;
    for (k = 0; k < 3; ++k) {
        const isphpbd_vec3 e = isphpbdx_sub(corner[k + 1], corner[0]);
        matrix[k] = e.x, matrix[3 + k] = e.y, matrix[6 + k] = e.z;
    }
}
/* Whether an inverse is that of rest edges which lastingly differ from the first ones by no more than `most`. */
static bool ipbdx_lasting_within(const float *first_edges, const float *inverse, float most) {
    ipbdx_stretches lasting;
    float gone[9];
    int i;
    ipbdx_multiply3(first_edges, inverse, gone);
    ipbdx_find_stretches(gone, 0.0f, &lasting);
    for (i = 0; i < 3; ++i)
        if (!(lasting.along[i] * (1.0f + most) >= 1.0f && lasting.along[i] <= 1.0f + most)) return false;
    return true;
}
/* Takes over the new rest shape. The kept stress goes down as the strain does; the pressure is that of the volume. */
static void ipbdx_take_flow(ipbdx_elastics *g, int lane, const float *inverse, float weaker) {
    int i;
    for (i = 0; i < 9; ++i) g->inverse[i][lane] = inverse[i];
    for (i = 0; i < 6; ++i) g->stress[i][lane] *= weaker;
}
/* One element; answers whether it flows. What is nearly crushed or turned over does not, nor does it where the energy
   of the shape would not fall (Green's strain softens in strong compression). Near the largest lasting strain half, a
   quarter... of the flow may still be allowed. */
static bool ipbdx_flow_element(const ipbd_world *world, const ipbdx_body *body, ipbdx_elastics *g, int lane,
                               float share) {
    const float poisson = g->bulk[lane] / (2.0f * g->bulk[lane] + g->shear[lane]);
    isphpbd_vec3 now[4], first[4];
    float edges[9], inverse[9], f[9], flown[9], along[3], energy;
    ipbdx_stretches s;
    int i;
    for (i = 0; i < 4; ++i) {
        const size_t v = (size_t)body->vertex_begin + g->v[i][lane];
        now[i] = ipbdx_v3(world->positions + 4 * v), first[i] = world->rests[v];
    }
    for (i = 0; i < 9; ++i) inverse[i] = g->inverse[i][lane];
    ipbdx_edge_matrix(now, edges);
    ipbdx_multiply3(edges, inverse, f);
    if (ipbdx_surely_strained_less(f, body->plastic_yield * (1.0f + poisson))) return false;
    ipbdx_find_stretches(f, poisson, &s);
    if (!(isphpbdx_dot(isphpbdx_cross(isphpbd_v3(f[0], f[3], f[6]), isphpbd_v3(f[1], f[4], f[7])),
                       isphpbd_v3(f[2], f[5], f[8])) > 0.2f) ||
        !(s.strain > body->plastic_yield))
        return false;
    share *= 1.0f - body->plastic_yield / s.strain, energy = ipbdx_stretch_energy(s.along);
    ipbdx_edge_matrix(first, edges);
    for (i = 0; i < 6; ++i, share *= 0.5f) {
        ipbdx_flown_stretches(&s, share, along);
        ipbdx_flown_inverse(inverse, &s, along, flown);
        if (!(ipbdx_stretch_energy(along) < energy) || !ipbdx_lasting_within(edges, flown, body->plastic_max)) continue;
        ipbdx_take_flow(g, lane, flown, sqrtf(ipbdx_stretch_energy(along) / energy));
        return true;
    }
    return false;
}
static bool ipbdx_flow_elastics(ipbd_world *world, const ipbdx_body *body) {
    const float share = isphpbdx_min(1.0f, body->plastic_creep * world->dt);
    bool any = false;
    int i;
    for (i = 0; i < 4 * body->group_count[IPBDX_ELASTICS]; ++i)
        any |= ipbdx_flow_element(world, body, world->elastics + body->group_begin[IPBDX_ELASTICS] + i / 4, i % 4,
                                  share);
    return any;
}
static bool ipbdx_is_plastic(const ipbdx_body *body) {
    return body->plastic_creep > 0.0f && body->plastic_yield > 0.0f;
}
static void ipbdx_flow(ipbd_world *world, ipbdx_body *body) {
    ipbdx_flow_edges(world, body);
    if (ipbdx_flow_elastics(world, body)) body->stiffest_stale = 1;
}
/* At rest with its bounds known, so that what comes near can wake it. What it touched is forgotten: a snapshot does not
   tell, and what falls on it must not depend on whether there was one. */
static void ipbdx_fall_asleep(ipbd_world *world, ipbdx_body *body) {
    isphpbd_vec3 wide = isphpbd_v3(body->thickness, body->thickness, body->thickness);
    int v;
    body->asleep = 1;
    body->low = body->high = ipbdx_v3(world->positions + 4 * (size_t)body->vertex_begin);
    for (v = body->vertex_begin; v < body->vertex_begin + body->vertex_count; ++v) {
        isphpbd_vec3 p = ipbdx_v3(world->positions + 4 * (size_t)v);
        body->low = ipbdx_min3(body->low, p), body->high = ipbdx_max3(body->high, p);
        ipbdx_put3(world->velocities + 4 * (size_t)v, ipbdx_zero3());
        world->touches[2 * (size_t)v].collider = world->touches[2 * (size_t)v + 1].collider = 0;
    }
    body->low = isphpbdx_sub(body->low, wide), body->high = isphpbdx_add(body->high, wide);
}
static void ipbdx_finish_task(void *context, int index) {
    ipbd_world *world = (ipbd_world *)context;
    ipbdx_body *body = world->bodies + world->active_bodies[index];
    float fastest = 0.0f;
    int i;
    if (body->damping > 0.0f) ipbdx_damp_body(world, body);
    if (ipbdx_is_plastic(body)) ipbdx_flow(world, body);
    for (i = body->slab_begin; i < body->slab_begin + body->slab_interior; ++i)
        fastest = isphpbdx_max(fastest, world->partials[i].fastest);
    body->quiet_seconds = fastest < world->desc.sleep_speed ? body->quiet_seconds + world->dt : 0.0f;
    if (body->can_sleep && world->desc.sleep_speed > 0.0f && body->quiet_seconds >= world->desc.sleep_seconds)
        ipbdx_fall_asleep(world, body);
    for (i = body->vertex_begin; i < body->vertex_begin + body->vertex_count; ++i)
        if (world->pins[i].pinned == 1u)
            world->pins[i].from = world->pin_share < 1.0f
                                      ? ipbdx_lerp3(world->pins[i].from, world->pins[i].to, world->pin_share)
                                      : world->pins[i].to;
}
/* Lists of what is awake; sums the slabs' counters start from zero. */
static void ipbdx_list_active(ipbd_world *world) {
    int i, k;
    world->interior_count = world->seam_count = world->active_count = 0;
    for (i = 0; i < world->counts.bodies; ++i) {
        const ipbdx_body *body = world->bodies + i;
        if (!body->used || body->asleep) continue;
        world->active_bodies[world->active_count++] = i;
        for (k = 0; k < body->slab_interior; ++k) world->interiors[world->interior_count++] = body->slab_begin + k;
        for (; k < body->slab_count; ++k) world->seams[world->seam_count++] = body->slab_begin + k;
    }
    for (i = 0; i < world->interior_count; ++i) {
        ipbdx_partial *partial = world->partials + world->interiors[i];
        partial->contacts = partial->quarantined = 0, partial->forced = 0.0f;
    }
}
static void ipbdx_prepare_task(void *context, int index) {
    ipbd_world *world = (ipbd_world *)context;
    ipbdx_body *body = world->bodies + world->active_bodies[index];
    int i;
    if (body->tethers_stale && body->tether_slack > 0.0f) ipbdx_find_tethers(world, body);
    body->unbound = 1;
    for (i = body->vertex_begin; i < body->vertex_begin + body->vertex_count; ++i)
        if (!(world->inverse_masses[i] > 0.0f)) body->unbound = 0;
    if (body->stiffest_stale) {
        body->stiffest = ipbdx_stiffest(world, body), body->softest = ipbdx_softest(world, body);
        body->stiffest_stale = 0;
    }
    if (ipbdx_feels_air(world, body)) ipbdx_area_normals(world, body);
}
/* Pressure follows the surface in every substep: along normals of a step ago it would feed the skin's own waves. */
static void ipbdx_blow_task(void *context, int index) {
    ipbd_world *world = (ipbd_world *)context;
    const ipbdx_body *body = world->bodies + world->active_bodies[index];
    if (body->overpressure != 0.0f) ipbdx_area_normals(world, body);
}
static int ipbdx_collide_slab(ipbd_world *world, const ipbdx_slab *slab) {
    const ipbdx_body *body = world->bodies + slab->body;
    int v, begin = body->vertex_begin + slab->vertex_begin, end = body->vertex_begin + slab->vertex_end, contacts = 0,
           next = 0;
    ipbdx_near near_list;
    while (next < world->counts.colliders) {
        next = ipbdx_list_near(world, slab, next, &near_list);
        for (v = begin; v < end && near_list.met; ++v) contacts += ipbdx_collide_vertex(world, body, v, &near_list);
    }
    return contacts;
}
/* Counts what touches now or did before: mostly the same vertices. */
static void ipbdx_collide_again_task(void *context, int index) {
    const ipbdx_job *job = (const ipbdx_job *)context;
    int *contacts = &job->world->partials[job->slabs[index]].contacts;
    *contacts = isphpbdx_maxi(*contacts, ipbdx_collide_slab(job->world, job->world->slabs + job->slabs[index]));
}
/* The largest stretch of tethers that colliders brought about in a slab. */
static float ipbdx_forced_slab(const ipbd_world *world, const ipbdx_slab *slab) {
    const ipbdx_body *body = world->bodies + slab->body;
    int v, begin = body->vertex_begin + slab->vertex_begin, end = body->vertex_begin + slab->vertex_end;
    float forced = 0.0f;
    for (v = begin; v < end && body->tether_slack > 0.0f; ++v) {
        const float stretch = ipbdx_forced_stretch(world, body, v);
        if (stretch > forced && !ipbdx_pin_is_inside(world, body, v)) forced = stretch;
    }
    return forced;
}
static void ipbdx_vertex_task(void *context, int index) {
    const ipbdx_job *job = (const ipbdx_job *)context;
    ipbd_world *world = job->world;
    const ipbdx_slab *slab = world->slabs + job->slabs[index];
    const ipbdx_body *body = world->bodies + slab->body;
    int v, begin = body->vertex_begin + slab->vertex_begin, end = body->vertex_begin + slab->vertex_end, contacts;
    for (v = begin; v < end && body->tether_slack > 0.0f; ++v)
        ipbdx_pull_tethers(world, body, v, world->iteration == 0);
    contacts = ipbdx_collide_slab(world, slab);
    if (world->iteration > 0) contacts = isphpbdx_maxi(contacts, world->partials[job->slabs[index]].contacts);
    world->partials[job->slabs[index]].contacts = contacts; /* also of what touched in an iteration before */
    world->partials[job->slabs[index]].forced = contacts > 0 ? ipbdx_forced_slab(world, slab) : 0.0f;
}
static int ipbdx_touched_vertices(const ipbd_world *world, const ipbdx_slab *slab) {
    const int begin = world->bodies[slab->body].vertex_begin;
    int v, count = 0;
    for (v = begin + slab->vertex_begin; v < begin + slab->vertex_end; ++v)
        count += world->touches[2 * (size_t)v].collider != 0;
    return count;
}
/* Constraints, tethers and contacts of one body, once more within the iteration. */
static void ipbdx_resist_again(ipbd_world *world, ipbdx_body *body) {
    int i;
    for (i = body->slab_begin; i < body->slab_begin + body->slab_count; ++i)
        ipbdx_solve_slab(world, world->slabs + i, true);
    if (ipbdx_is_balloon(body)) ipbdx_solve_balloon(world, body);
    for (i = body->vertex_begin; i < body->vertex_begin + body->vertex_count && body->tether_slack > 0.0f; ++i)
        ipbdx_pull_tethers(world, body, i, false);
    for (i = body->slab_begin; i < body->slab_begin + body->slab_interior; ++i)
        (void)ipbdx_collide_slab(world, world->slabs + i);
    (void)ipbdx_collide_body(world, body);
}
/* What faces have moved may now be in a wall: vertices have the last word. */
static void ipbdx_end_faces(ipbd_world *world, const ipbdx_body *body) {
    int i;
    for (i = body->slab_begin; i < body->slab_begin + body->slab_interior; ++i) {
        (void)ipbdx_collide_slab(world, world->slabs + i);
        world->partials[i].contacts = ipbdx_touched_vertices(world, world->slabs + i);
        world->partials[i].forced = ipbdx_forced_slab(world, world->slabs + i);
    }
}
/* Who pushes a body in this substep, and how hard; kg m. */
typedef struct ipbdx_pushers {
    int count, slots[IPBDX_NEAR];
    isphpbd_vec3 pushes[IPBDX_NEAR];
} ipbdx_pushers;

static void ipbdx_pushers_add(ipbdx_pushers *all, const ipbdx_touch *touch) {
    const int slot = (int)touch->collider - 1;
    int i = 0;
    while (i < all->count && all->slots[i] != slot) ++i;
    if (i == IPBDX_NEAR) return;
    if (i == all->count) all->slots[all->count++] = slot, all->pushes[i] = ipbdx_zero3();
    all->pushes[i] = isphpbdx_add(all->pushes[i], touch->push);
}
/* As much of each push as moves a collider by the way that the blow came: a heavy body would throw a light one through
   its other side, sweep after sweep farther. */
static ipbdx_pushers ipbdx_find_pushers(const ipbd_world *world, const ipbdx_body *body, float blow) {
    ipbdx_pushers all;
    int i, k;
    all.count = 0;
    for (i = body->vertex_begin; i < body->vertex_begin + body->vertex_count; ++i)
        for (k = 0; k < 2 && world->touches[2 * (size_t)i + (size_t)k].collider; ++k)
            ipbdx_pushers_add(&all, world->touches + 2 * (size_t)i + k);
    for (i = 0; i < all.count; ++i) {
        const float way = isphpbdx_length(all.pushes[i]) * world->colliders[all.slots[i]].inverse_mass;
        if (way > blow) all.pushes[i] = isphpbdx_scale(all.pushes[i], blow / way);
    }
    return all;
}
/* What has a mass stays back by what it gave since it last did: else each sweep would meet it as if nothing could stop
   it, and throw it back faster than it came. */
static void ipbdx_yield_within(ipbd_world *world, const ipbdx_body *body, ipbdx_pushers *before) {
    const ipbdx_pushers now = ipbdx_find_pushers(world, body, world->partials[body->slab_begin].blow);
    int i, k;
    for (i = 0; i < now.count; ++i) {
        ipbdx_collider *c = world->colliders + now.slots[i];
        isphpbd_vec3 given = now.pushes[i];
        for (k = 0; k < before->count; ++k)
            if (before->slots[k] == now.slots[i]) given = isphpbdx_sub(given, before->pushes[k]);
        if (!ipbdx_meets_faces(c)) continue;
        c->end.position = ipbdx_limited3(isphpbdx_madd(c->end.position, given, -c->inverse_mass), IPBDX_LIMIT);
        c->yield_offset = ipbdx_limited3(isphpbdx_madd(c->yield_offset, given, -c->inverse_mass), IPBDX_LIMIT);
    }
    *before = now;
}
/* Faces by themselves; leaves how fast what hit the body came. */
static void ipbdx_face_task(void *context, int index) {
    ipbd_world *world = (ipbd_world *)context;
    const ipbdx_body *body = world->bodies + world->active_bodies[index];
    float *blow = &world->partials[body->slab_begin].blow;
    *blow = body->triangle_count > 0 ? ipbdx_collide_body(world, body) : 0.0f;
    if (*blow > 0.0f) ipbdx_end_faces(world, body);
}
/* A sweep over the constraints carries a blow on by a few cells. What is hit so hard that it gives way by more than its
   thickness in a substep would hold against it with these alone, stretch severalfold, and close behind what hit it. */
static void ipbdx_resist_blow(ipbd_world *world, ipbdx_body *body) {
    ipbdx_pushers before;
    int i;
    before.count = 0;
    for (i = 0; i < IPBDX_BLOW_PASSES; ++i) {
        ipbdx_yield_within(world, body, &before);
        ipbdx_resist_again(world, body);
    }
    ipbdx_end_faces(world, body);
}
/* Blows one after the other: what hits two bodies yields to both. */
static void ipbdx_meet_faces(ipbd_world *world) {
    int i;
    if (!ipbdx_any_meets_faces(world)) return;
    isphpbdx_run(&world->desc.parallel, ipbdx_face_task, world, world->active_count);
    for (i = 0; i < world->active_count && world->iteration == 0; ++i) {
        ipbdx_body *body = world->bodies + world->active_bodies[i];
        if (world->partials[body->slab_begin].blow > body->thickness) ipbdx_resist_blow(world, body);
    }
}

static bool ipbdx_any_collider(const ipbd_world *world) {
    int i;
    for (i = 0; i < world->counts.colliders; ++i)
        if (world->colliders[i].used) return true;
    return false;
}
static bool ipbdx_vertices_busy(const ipbd_world *world) {
    int i;
    for (i = 0; i < world->active_count; ++i)
        if (world->bodies[world->active_bodies[i]].tether_slack > 0.0f) return true;
    return world->touching;
}
static void ipbdx_begin_balloons(ipbd_world *world) {
    int i;
    for (i = 0; i < world->active_count; ++i) world->bodies[world->active_bodies[i]].balloon_lambda = 0.0f;
}

ISPHPBD_API isphpbd_result ipbd_step_begin(ipbd_world *world, float dt, int substeps) {
    isphpbd_result open = ipbdx_open_wide(world);
    if (open != ISPHPBD_OK) return open;
    if (!ipbdx_positive(dt) || dt > 1.0f || substeps < 1 || substeps > 1000) return ISPHPBD_BAD_ARGUMENT;
    if (!isphpbdx_finite(1.0f / (dt / (float)substeps * (dt / (float)substeps)))) return ISPHPBD_BAD_ARGUMENT;
    memset(&world->last, 0, sizeof world->last);
    world->last.began = isphpbdx_ticks(&world->desc.clock);
    world->phase = IPBDX_BEGUN;
    world->dt = dt, world->h = dt / (float)substeps;
    world->substeps = substeps, world->substep = 0, world->flags = 0;
    world->in_callback = true;
    ipbdx_begin_colliders(world);
    world->touching = ipbdx_any_collider(world);
    ipbdx_list_active(world);
    isphpbdx_run(&world->desc.parallel, ipbdx_prepare_task, world, world->active_count);
    world->in_callback = false;
    return ISPHPBD_OK;
}
ISPHPBD_API ipbd_arrays ipbd_world_arrays(ipbd_world *world) {
    ipbd_arrays arrays;
    memset(&arrays, 0, sizeof arrays);
    if (!world) return arrays;
    arrays.positions = world->positions, arrays.starts = world->starts, arrays.velocities = world->velocities;
    arrays.inverse_masses = world->inverse_masses, arrays.loads = world->loads;
    arrays.vertex_count = world->counts.vertices;
    arrays.triangles = world->world_triangles, arrays.triangle_count = world->counts.triangles;
    return arrays;
}
/* What hooks, or their user between steps, left in the arrays, of bodies asleep as well: what is out of range is put to
   rest, by itself, before constraints spread it and anyone reads it. */
static void ipbdx_sift_task(void *context, int index) {
    ipbd_world *world = (ipbd_world *)context;
    const ipbdx_slab *slab = world->slabs + index;
    const ipbdx_body *body = world->bodies + slab->body;
    int v, begin = body->vertex_begin;
    if (index - body->slab_begin >= body->slab_interior) return; /* a seam: its vertices are those of others */
    for (v = begin + slab->vertex_begin; v < begin + slab->vertex_end; ++v) {
        float *x = world->positions + 4 * (size_t)v, *velocity = world->velocities + 4 * (size_t)v;
        if (!(x[3] >= 0.0f && isphpbdx_finite(x[3]))) x[3] = world->inverse_masses[v];
        if (!ipbdx_sane3(ipbdx_v3(world->loads + 4 * (size_t)v))) memset(world->loads + 4 * (size_t)v, 0, 12);
        velocity[3] = 0.0f;
        if (ipbdx_sane3(ipbdx_v3(x)) && ipbdx_sane3(ipbdx_v3(velocity))) continue;
        if (!ipbdx_sane3(ipbdx_v3(x))) memcpy(x, world->starts + 4 * (size_t)v, 12);
        memset(velocity, 0, 12);
        ++world->partials[index].quarantined;
    }
}
static void ipbdx_sift(ipbd_world *world) {
    isphpbdx_run(&world->desc.parallel, ipbdx_sift_task, world, world->counts.slabs);
}
ISPHPBD_API isphpbd_result ipbd_substep_predict(ipbd_world *world) {
    if (!world) return ISPHPBD_BAD_ARGUMENT;
    if (world->in_callback) return ISPHPBD_LOCKED;
    if (world->phase != IPBDX_BEGUN || world->substep >= world->substeps) return ISPHPBD_BAD_ARGUMENT;
    world->in_callback = true;
    ipbdx_place_colliders(world);
    if (world->hooks.begin) {
        ipbd_arrays arrays = ipbd_world_arrays(world);
        memset(world->loads, 0, 16 * (size_t)world->counts.vertices);
        world->hooks.begin(world, &arrays, world->h, world->hooks.user);
    }
    if (world->hooks.begin || world->hooks.end || world->substep == 0) ipbdx_sift(world);
    isphpbdx_run(&world->desc.parallel, ipbdx_blow_task, world, world->active_count);
    ipbdx_warm_start(world);
    ipbdx_run_slabs(world, ipbdx_predict_task, world->interiors, world->interior_count);
    ipbdx_begin_balloons(world);
    ipbdx_find_contacts(world);
    world->in_callback = false;
    world->phase = IPBDX_PREDICTED;
    world->iteration = 0;
    return ISPHPBD_OK;
}
ISPHPBD_API isphpbd_result ipbd_substep_iterate(ipbd_world *world) {
    uint64_t began;
    if (!world) return ISPHPBD_BAD_ARGUMENT;
    if (world->in_callback) return ISPHPBD_LOCKED;
    if (world->phase != IPBDX_PREDICTED) return ISPHPBD_BAD_ARGUMENT;
    world->in_callback = true;
    began = isphpbdx_ticks(&world->desc.clock);
    ipbdx_run_slabs(world, ipbdx_solve_task, world->interiors, world->interior_count);
    ipbdx_run_slabs(world, ipbdx_solve_task, world->seams, world->seam_count);
    ipbdx_sweep_elastics(world);
    if (ipbdx_any_balloon(world)) isphpbdx_run(&world->desc.parallel, ipbdx_balloon_task, world, world->active_count);
    if (world->iteration == 0) ipbdx_keep_momentum(world);
    world->last.solve += isphpbdx_ticks(&world->desc.clock) - began;
    if (world->hooks.iterate) {
        ipbd_arrays arrays = ipbd_world_arrays(world);
        world->hooks.iterate(world, &arrays, world->h, world->iteration, world->hooks.user);
    }
    ipbdx_solve_contacts(world);
    if (ipbdx_vertices_busy(world)) ipbdx_run_slabs(world, ipbdx_vertex_task, world->interiors, world->interior_count);
    ipbdx_meet_faces(world);
    ipbdx_support_contacts(world);
    if (world->shove > 0.1f * world->pair_thickness)
        ipbdx_run_slabs(world, ipbdx_collide_again_task, world->interiors, world->interior_count);
    world->in_callback = false;
    ++world->iteration;
    return ISPHPBD_OK;
}
ISPHPBD_API isphpbd_result ipbd_substep_end(ipbd_world *world) {
    int i;
    if (!world) return ISPHPBD_BAD_ARGUMENT;
    if (world->in_callback) return ISPHPBD_LOCKED;
    if (world->phase != IPBDX_PREDICTED) return ISPHPBD_BAD_ARGUMENT;
    world->in_callback = true;
    ipbdx_bound_speeds(world);
    ipbdx_clamp_contacts(world);
    ipbdx_run_slabs(world, ipbdx_end_task, world->interiors, world->interior_count);
    if (world->iteration > 0 && ipbdx_any_unbound(world))
        ipbdx_run_slabs(world, ipbdx_trim_task, world->interiors, world->interior_count);
    ipbdx_calm_contacts(world);
    for (i = 0; i < world->active_count; ++i) {
        ipbdx_body *body = world->bodies + world->active_bodies[i];
        ipbdx_end_multipliers(world, body);
        if (body->tether_slack > 0.0f) ipbdx_allow_stretch(world, body);
    }
    ipbdx_end_colliders(world); /* attachments pull by the multipliers of this substep */
    if (world->hooks.end) {
        ipbd_arrays arrays = ipbd_world_arrays(world);
        world->hooks.end(world, &arrays, world->h, world->hooks.user);
    }
    world->in_callback = false;
    world->phase = IPBDX_BEGUN;
    ++world->substep;
    return ISPHPBD_OK;
}
static ipbd_step_info ipbdx_step_answer(isphpbd_result result, uint32_t flags) {
    ipbd_step_info info;
    info.result = result, info.flags = result == ISPHPBD_OK ? flags : (uint32_t)IPBD_STEP_REFUSED;
    return info;
}
ISPHPBD_API ipbd_step_info ipbd_step_finish(ipbd_world *world) {
    int i;
    if (!world) return ipbdx_step_answer(ISPHPBD_BAD_ARGUMENT, 0);
    if (world->in_callback) return ipbdx_step_answer(ISPHPBD_LOCKED, 0);
    if (world->phase != IPBDX_BEGUN) return ipbdx_step_answer(ISPHPBD_BAD_ARGUMENT, 0);
    world->in_callback = true;
    if (world->hooks.end || world->hooks.iterate) ipbdx_sift(world);
    ipbdx_run_slabs(world, ipbdx_speed_task, world->interiors, world->interior_count);
    isphpbdx_run(&world->desc.parallel, ipbdx_finish_task, world, world->active_count);
    for (i = 0; i < world->interior_count; ++i) {
        world->last.collider_contacts += world->partials[world->interiors[i]].contacts;
        world->last.quarantined += world->partials[world->interiors[i]].quarantined;
    }
    if (world->last.quarantined) world->flags |= IPBD_STEP_QUARANTINE;
    ipbdx_finish_colliders(world);
    world->last.step = isphpbdx_ticks(&world->desc.clock) - world->last.began;
    world->in_callback = false;
    world->phase = IPBDX_IDLE;
    return ipbdx_step_answer(ISPHPBD_OK, world->flags);
}
ISPHPBD_API ipbd_step_info ipbd_step(ipbd_world *world, float dt) {
    isphpbd_result result = world ? ipbd_step_begin(world, dt, world->desc.substeps) : ISPHPBD_BAD_ARGUMENT;
    int i;
    if (result != ISPHPBD_OK) return ipbdx_step_answer(result, 0);
    while (world->substep < world->substeps) {
        ipbd_substep_predict(world);
        for (i = 0; i < world->desc.iterations; ++i) ipbd_substep_iterate(world);
        ipbd_substep_end(world);
    }
    return ipbd_step_finish(world);
}

/* ---- [bodies] what the user does with a body --------------------------------------------------------------------- */

/* The body if the world may be changed and the handle is good; *result tells. */
static ipbdx_body *ipbdx_edit(ipbd_world *world, ipbd_body handle, isphpbd_result *result) {
    ipbdx_body *body;
    *result = ipbdx_open(world);
    if (*result != ISPHPBD_OK) return NULL;
    body = ipbdx_body_of(world, handle);
    if (!body) *result = ISPHPBD_BAD_HANDLE;
    return body;
}
/* World vertex of an input vertex, or -1. */
static int ipbdx_vertex_of(const ipbd_world *world, const ipbdx_body *body, int input_vertex) {
    uint32_t v;
    if (input_vertex < 0 || input_vertex >= body->input_count) return -1;
    v = world->vertex_map[body->input_begin + input_vertex];
    return v == IPBD_NO_VERTEX ? -1 : body->vertex_begin + (int)v;
}
static int ipbdx_edit_vertex(ipbd_world *world, ipbd_body handle, int input_vertex, ipbdx_body **body,
                             isphpbd_result *result) {
    int v;
    *body = ipbdx_edit(world, handle, result);
    if (!*body) return -1;
    v = ipbdx_vertex_of(world, *body, input_vertex);
    if (v < 0) *result = ISPHPBD_BAD_ARGUMENT;
    return v;
}

/* Takes [begin, begin + count) out of an array; what is behind moves up. */
static void ipbdx_cut(void *array, size_t size, int begin, int count, int total) {
    unsigned char *bytes = (unsigned char *)array;
    memmove(bytes + size * (size_t)begin, bytes + size * (size_t)(begin + count),
            size * (size_t)(total - begin - count));
}
static void ipbdx_cut_vertices(ipbd_world *w, int begin, int count) {
    int total = w->counts.vertices;
    ipbdx_cut(w->positions, 16, begin, count, total);
    ipbdx_cut(w->starts, 16, begin, count, total);
    ipbdx_cut(w->velocities, 16, begin, count, total);
    ipbdx_cut(w->normals, 16, begin, count, total);
    ipbdx_cut(w->loads, 16, begin, count, total);
    ipbdx_cut(w->rests, sizeof *w->rests, begin, count, total);
    ipbdx_cut(w->masses, sizeof(float), begin, count, total);
    ipbdx_cut(w->inverse_masses, sizeof(float), begin, count, total);
    ipbdx_cut(w->pins, sizeof *w->pins, begin, count, total);
    ipbdx_cut(w->touches, 2 * sizeof *w->touches, begin, count, total);
    ipbdx_cut(w->vertex_body, 4, begin, count, total);
    ipbdx_cut(w->vertex_input, 4, begin, count, total);
    w->counts.vertices -= count;
}
static void ipbdx_shift_body(ipbdx_body *body, const ipbdx_body *gone) {
    int k;
    if (body->vertex_begin > gone->vertex_begin) body->vertex_begin -= gone->vertex_count;
    if (body->input_begin > gone->input_begin) body->input_begin -= gone->input_count;
    if (body->triangle_begin > gone->triangle_begin) body->triangle_begin -= gone->triangle_count;
    if (body->edge_begin > gone->edge_begin) body->edge_begin -= gone->edge_count;
    if (body->slab_begin > gone->slab_begin) body->slab_begin -= gone->slab_count;
    for (k = 0; k < IPBDX_STORES; ++k)
        if (body->group_begin[k] > gone->group_begin[k]) body->group_begin[k] -= gone->group_count[k];
}
static void ipbdx_forget_skin(ipbd_world *world, ipbdx_skin *skin) {
    int i, begin = skin->begin, count = skin->count;
    ipbdx_cut(world->binds, sizeof *world->binds, begin, count, world->counts.binds);
    world->counts.binds -= count;
    skin->used = 0, skin->generation = ipbdx_next_generation(skin->generation);
    for (i = 0; i < world->counts.skins; ++i)
        if (world->skins[i].used && world->skins[i].begin > begin) world->skins[i].begin -= count;
}
static void ipbdx_number_triangles(ipbd_world *world) {
    int b, i;
    for (b = 0; b < world->counts.bodies; ++b) {
        const ipbdx_body *body = world->bodies + b;
        if (!body->used) continue;
        for (i = 3 * body->triangle_begin; i < 3 * (body->triangle_begin + body->triangle_count); ++i)
            world->world_triangles[i] = world->triangles[i] + (uint32_t)body->vertex_begin;
    }
}
ISPHPBD_API isphpbd_result ipbd_body_destroy(ipbd_world *world, ipbd_body handle) {
    isphpbd_result result;
    ipbdx_body *body = ipbdx_edit(world, handle, &result), gone;
    int i, slot;
    if (!body) return result;
    if (world->owner) return ISPHPBD_LOCKED;
    gone = *body, slot = (int)(body - world->bodies);
    for (i = 0; i < world->counts.skins; ++i)
        if (world->skins[i].used && world->skins[i].body == slot) ipbdx_forget_skin(world, world->skins + i);
    ipbdx_cut_vertices(world, gone.vertex_begin, gone.vertex_count);
    ipbdx_cut(world->vertex_map, 4, gone.input_begin, gone.input_count, world->counts.inputs),
        world->counts.inputs -= gone.input_count;
    ipbdx_cut(world->triangles, 12, gone.triangle_begin, gone.triangle_count, world->counts.triangles),
        world->counts.triangles -= gone.triangle_count;
    ipbdx_cut(world->edge_body, 4, gone.edge_begin, gone.edge_count, world->counts.surface_edges);
    ipbdx_cut(world->surface_edges, 8, gone.edge_begin, gone.edge_count, world->counts.surface_edges),
        world->counts.surface_edges -= gone.edge_count;
    ipbdx_cut(world->slabs, sizeof *world->slabs, gone.slab_begin, gone.slab_count, world->counts.slabs),
        world->counts.slabs -= gone.slab_count;
    for (i = 0; i < IPBDX_STORES; ++i) {
        ipbdx_cut(ipbdx_store_base(world, i), ipbdx_store_size(i), gone.group_begin[i], gone.group_count[i],
                  world->counts.groups[i]);
        world->counts.groups[i] -= gone.group_count[i];
    }
    body->used = 0, body->generation = ipbdx_next_generation(body->generation);
    for (i = 0; i < world->counts.bodies; ++i) {
        if (!world->bodies[i].used) continue;
        ipbdx_shift_body(world->bodies + i, &gone);
        if (world->bodies[i].soft_collision) ipbdx_wake(world->bodies + i); /* it may have lain on what is gone */
    }
    ipbdx_number_triangles(world);
    world->pairs_stale = true;
    return ISPHPBD_OK;
}

ISPHPBD_API ipbd_view ipbd_body_view(const ipbd_world *world, ipbd_body handle) {
    const ipbdx_body *body = ipbdx_body_of(world, handle);
    ipbd_view view;
    memset(&view, 0, sizeof view);
    if (!body) return view;
    view.positions = world->positions + 4 * (size_t)body->vertex_begin;
    view.starts = world->starts + 4 * (size_t)body->vertex_begin;
    view.velocities = world->velocities + 4 * (size_t)body->vertex_begin;
    view.stride_bytes = 16, view.vertex_count = body->vertex_count;
    view.triangles = world->triangles + 3 * (size_t)body->triangle_begin, view.triangle_count = body->triangle_count;
    view.vertex_map = world->vertex_map + body->input_begin, view.input_vertex_count = body->input_count;
    return view;
}
ISPHPBD_API isphpbd_result ipbd_body_range(const ipbd_world *world, ipbd_body handle, int *vertex_begin,
                                           int *vertex_end, int *triangle_begin, int *triangle_end) {
    const ipbdx_body *body = ipbdx_body_of(world, handle);
    if (!body) return ISPHPBD_BAD_HANDLE;
    if (vertex_begin) *vertex_begin = body->vertex_begin;
    if (vertex_end) *vertex_end = body->vertex_begin + body->vertex_count;
    if (triangle_begin) *triangle_begin = body->triangle_begin;
    if (triangle_end) *triangle_end = body->triangle_begin + body->triangle_count;
    return ISPHPBD_OK;
}
ISPHPBD_API isphpbd_result ipbd_body_vertex(const ipbd_world *world, ipbd_body handle, int input_vertex,
                                            isphpbd_vec3 *position, isphpbd_vec3 *velocity) {
    const ipbdx_body *body = ipbdx_body_of(world, handle);
    int v;
    if (!body) return ISPHPBD_BAD_HANDLE;
    v = ipbdx_vertex_of(world, body, input_vertex);
    if (v < 0) return ISPHPBD_BAD_ARGUMENT;
    if (position) *position = ipbdx_v3(world->positions + 4 * (size_t)v);
    if (velocity) *velocity = ipbdx_v3(world->velocities + 4 * (size_t)v);
    return ISPHPBD_OK;
}
static isphpbd_vec3 ipbdx_read3(const float *array, size_t stride, uint32_t index) {
    float v[3];
    memcpy(v, (const unsigned char *)(const void *)array + stride * index, sizeof v);
    return ipbdx_v3(v);
}
static void ipbdx_write3(float *array, size_t stride, uint32_t index, isphpbd_vec3 value) {
    memcpy((unsigned char *)(void *)array + stride * index, &value, sizeof value);
}
/* Area-weighted unit normals of triangles over points, both of the caller. map turns points into corners, or NULL. */
static void ipbdx_normals_over(const float *positions, float *normals, size_t stride, uint32_t count,
                               const uint32_t *triangles, int triangle_count) {
    isphpbd_vec3 zero = ipbdx_zero3(), up = isphpbd_v3(0.0f, 1.0f, 0.0f);
    uint32_t i;
    int t, k;
    for (i = 0; i < count; ++i) ipbdx_write3(normals, stride, i, zero);
    for (t = 0; t < triangle_count; ++t) {
        const uint32_t *c = triangles + 3 * (size_t)t;
        isphpbd_vec3 a = ipbdx_read3(positions, stride, c[0]);
        isphpbd_vec3 n = isphpbdx_cross(isphpbdx_sub(ipbdx_read3(positions, stride, c[1]), a),
                                        isphpbdx_sub(ipbdx_read3(positions, stride, c[2]), a));
        for (k = 0; k < 3; ++k)
            ipbdx_write3(normals, stride, c[k], isphpbdx_add(ipbdx_read3(normals, stride, c[k]), n));
    }
    for (i = 0; i < count; ++i) ipbdx_write3(normals, stride, i, ipbdx_unit(ipbdx_read3(normals, stride, i), up));
}
/* Sums triangles' normals in the first input vertex of each vertex, then gives them to the welded ones. */
static void ipbdx_read_normals(const ipbd_world *world, const ipbdx_body *body, float *normals, size_t stride) {
    const uint32_t *map = world->vertex_map + body->input_begin,
                   *t = world->triangles + 3 * (size_t)body->triangle_begin;
    const uint32_t *input = world->vertex_input + body->vertex_begin;
    const float *x = world->positions + 4 * (size_t)body->vertex_begin;
    uint32_t i, count = (uint32_t)body->input_count;
    int k;
    for (i = 0; i < count; ++i)
        if (map[i] != IPBD_NO_VERTEX) ipbdx_write3(normals, stride, i, ipbdx_zero3());
    for (k = 0; k < body->triangle_count; ++k, t += 3) {
        isphpbd_vec3 a = ipbdx_v3(x + 4 * (size_t)t[0]);
        isphpbd_vec3 n = isphpbdx_cross(isphpbdx_sub(ipbdx_v3(x + 4 * (size_t)t[1]), a),
                                        isphpbdx_sub(ipbdx_v3(x + 4 * (size_t)t[2]), a));
        for (i = 0; i < 3; ++i)
            ipbdx_write3(normals, stride, input[t[i]], isphpbdx_add(ipbdx_read3(normals, stride, input[t[i]]), n));
    }
    for (i = 0; i < count; ++i) /* the first of several comes first, and is a unit vector by then */
        if (map[i] != IPBD_NO_VERTEX)
            ipbdx_write3(normals, stride, i,
                         ipbdx_unit(ipbdx_read3(normals, stride, input[map[i]]), isphpbd_v3(0.0f, 1.0f, 0.0f)));
}
ISPHPBD_API isphpbd_result ipbd_body_read(const ipbd_world *world, ipbd_body handle, float *positions, float *normals,
                                          size_t stride_bytes) {
    const ipbdx_body *body = ipbdx_body_of(world, handle);
    int i;
    if (!body) return ISPHPBD_BAD_HANDLE;
    if (!positions || stride_bytes < 12) return ISPHPBD_BAD_ARGUMENT;
    for (i = 0; i < body->input_count; ++i) {
        int v = ipbdx_vertex_of(world, body, i);
        if (v >= 0) ipbdx_write3(positions, stride_bytes, (uint32_t)i, ipbdx_v3(world->positions + 4 * (size_t)v));
    }
    if (normals) ipbdx_read_normals(world, body, normals, stride_bytes);
    return ISPHPBD_OK;
}

ISPHPBD_API isphpbd_result ipbd_pin_move(ipbd_world *world, ipbd_body handle, int input_vertex, isphpbd_vec3 target) {
    isphpbd_result result;
    ipbdx_body *body;
    int v = ipbdx_edit_vertex(world, handle, input_vertex, &body, &result);
    if (v < 0) return result;
    if (!ipbdx_sane3(target)) return ISPHPBD_BAD_ARGUMENT;
    if (world->pins[v].pinned >= 2u) --body->attachments;
    if (world->pins[v].pinned != 1u) {
        body->tethers_stale = world->pins[v].pinned ? body->tethers_stale : 1u;
        world->pins[v].from = ipbdx_v3(world->positions + 4 * (size_t)v);
        world->pins[v].pinned = 1;
        world->inverse_masses[v] = world->positions[4 * (size_t)v + 3] = 0.0f;
    }
    world->pins[v].to = target;
    ipbdx_wake(body);
    return ISPHPBD_OK;
}
ISPHPBD_API isphpbd_result ipbd_pin(ipbd_world *world, ipbd_body handle, int input_vertex) {
    isphpbd_vec3 here;
    isphpbd_result result = ipbd_body_vertex(world, handle, input_vertex, &here, NULL);
    return result == ISPHPBD_OK ? ipbd_pin_move(world, handle, input_vertex, here) : result;
}
ISPHPBD_API isphpbd_result ipbd_unpin(ipbd_world *world, ipbd_body handle, int input_vertex) {
    isphpbd_result result;
    ipbdx_body *body;
    int v = ipbdx_edit_vertex(world, handle, input_vertex, &body, &result);
    if (v < 0) return result;
    if (world->pins[v].pinned) ipbdx_release(world, v);
    return ISPHPBD_OK;
}
ISPHPBD_API isphpbd_result ipbd_attach(ipbd_world *world, ipbd_body handle, int input_vertex, ipbd_collider collider) {
    isphpbd_result result;
    ipbdx_collider *c = ipbdx_collider_of(world, collider);
    ipbdx_body *body;
    int v;
    if (world && !c) return ISPHPBD_BAD_HANDLE;
    result = ipbd_pin(world, handle, input_vertex);
    if (result != ISPHPBD_OK) return result;
    v = ipbdx_edit_vertex(world, handle, input_vertex, &body, &result);
    world->pins[v].to = ipbdx_limited3(ipbdx_pose_local(c->end, world->pins[v].from), IPBDX_LIMIT);
    world->pins[v].pinned = 2u + (uint32_t)(c - world->colliders);
    ++body->attachments;
    return ISPHPBD_OK;
}
ISPHPBD_API isphpbd_result ipbd_pin_force(const ipbd_world *world, ipbd_body handle, int input_vertex,
                                          isphpbd_vec3 *force) {
    const ipbdx_body *body = ipbdx_body_of(world, handle);
    isphpbd_vec3 sum;
    int v, i, k, kind, group;
    if (!body) return ISPHPBD_BAD_HANDLE;
    v = ipbdx_vertex_of(world, body, input_vertex);
    if (v < 0 || !force) return ISPHPBD_BAD_ARGUMENT;
    sum = isphpbdx_scale(world->desc.gravity, body->gravity_scale * world->masses[v]);
    if (world->h > 0.0f) sum = isphpbdx_madd(sum, ipbdx_v3(world->loads + 4 * (size_t)v), 1.0f / world->h);
    for (i = body->slab_begin; i < body->slab_begin + body->slab_count; ++i)
        for (kind = 0; kind < IPBDX_KINDS; ++kind)
            for (group = world->slabs[i].group_begin[kind]; group < world->slabs[i].group_end[kind]; ++group) {
                ipbdx_forces forces;
                ipbdx_group_forces(world, body, kind, group, &forces);
                for (k = 0; k < forces.count; ++k)
                    if (body->vertex_begin + (int)forces.v[k] == v) sum = isphpbdx_add(sum, forces.force[k]);
            }
    *force = ipbdx_limited3(isphpbdx_add(sum, ipbdx_tether_force(world, body, v)), IPBDX_MOST_IMPULSE);
    return ISPHPBD_OK;
}

ISPHPBD_API isphpbd_result ipbd_body_add_velocity(ipbd_world *world, ipbd_body handle, isphpbd_vec3 velocity) {
    isphpbd_result result;
    ipbdx_body *body = ipbdx_edit(world, handle, &result);
    int v;
    if (!body) return result;
    if (!ipbdx_sane3(velocity)) return ISPHPBD_BAD_ARGUMENT;
    for (v = body->vertex_begin; v < body->vertex_begin + body->vertex_count; ++v)
        if (!world->pins[v].pinned &&
            !ipbdx_sane3(isphpbdx_add(ipbdx_v3(world->velocities + 4 * (size_t)v), velocity)))
            return ISPHPBD_BAD_ARGUMENT;
    for (v = body->vertex_begin; v < body->vertex_begin + body->vertex_count; ++v)
        if (!world->pins[v].pinned)
            ipbdx_put3(world->velocities + 4 * (size_t)v,
                       isphpbdx_add(ipbdx_v3(world->velocities + 4 * (size_t)v), velocity));
    ipbdx_wake(body);
    return ISPHPBD_OK;
}
ISPHPBD_API isphpbd_result ipbd_vertex_add_impulse(ipbd_world *world, ipbd_body handle, int input_vertex,
                                                   isphpbd_vec3 impulse) {
    isphpbd_result result;
    ipbdx_body *body;
    int v = ipbdx_edit_vertex(world, handle, input_vertex, &body, &result);
    isphpbd_vec3 changed;
    float *velocity;
    if (v < 0) return result;
    velocity = world->velocities + 4 * (size_t)v;
    changed = isphpbdx_madd(ipbdx_v3(velocity), impulse, world->inverse_masses[v]);
    if (!ipbdx_sane3(impulse) || !ipbdx_sane3(changed)) return ISPHPBD_BAD_ARGUMENT;
    if (!world->pins[v].pinned) ipbdx_put3(velocity, changed);
    ipbdx_wake(body);
    return ISPHPBD_OK;
}
ISPHPBD_API isphpbd_result ipbd_vertex_set_mass(ipbd_world *world, ipbd_body handle, int input_vertex, float mass) {
    isphpbd_result result;
    ipbdx_body *body;
    int v = ipbdx_edit_vertex(world, handle, input_vertex, &body, &result);
    if (v < 0) return result;
    if (!ipbdx_positive(mass) || !ipbdx_sane(mass) || !isphpbdx_finite(1.0f / mass)) return ISPHPBD_BAD_ARGUMENT;
    world->masses[v] = mass, body->stiffest_stale = 1;
    if (!world->pins[v].pinned) world->inverse_masses[v] = world->positions[4 * (size_t)v + 3] = 1.0f / mass;
    ipbdx_wake(body);
    return ISPHPBD_OK;
}
ISPHPBD_API isphpbd_result ipbd_body_set_pressure(ipbd_world *world, ipbd_body handle, float balloon_pressure,
                                                  float overpressure) {
    isphpbd_result result;
    ipbdx_body *body = ipbdx_edit(world, handle, &result);
    if (!body) return result;
    if (!ipbdx_not_negative(balloon_pressure) || !isphpbdx_finite(overpressure)) return ISPHPBD_BAD_ARGUMENT;
    body->balloon_pressure = balloon_pressure, body->overpressure = overpressure;
    ipbdx_wake(body);
    return ISPHPBD_OK;
}
ISPHPBD_API isphpbd_result ipbd_body_set_gravity_scale(ipbd_world *world, ipbd_body handle, float scale) {
    isphpbd_result result;
    ipbdx_body *body = ipbdx_edit(world, handle, &result);
    if (!body) return result;
    if (!isphpbdx_finite(scale)) return ISPHPBD_BAD_ARGUMENT;
    body->gravity_scale = scale;
    ipbdx_wake(body);
    return ISPHPBD_OK;
}
static isphpbd_vec3 ipbdx_carried(const float *point, isphpbd_vec3 pivot, const ipbd_pose *change) {
    isphpbd_vec3 r = isphpbdx_rotate(change->rotation, isphpbdx_sub(ipbdx_v3(point), pivot));
    return isphpbdx_add(isphpbdx_add(pivot, r), change->position);
}
static void ipbdx_carry(float *point, isphpbd_vec3 pivot, const ipbd_pose *change) {
    ipbdx_put3(point, ipbdx_carried(point, pivot, change));
}
/* Would all of it be at places, and have speeds, that there are? */
static bool ipbdx_carry_ok(const ipbd_world *world, const ipbdx_body *body, isphpbd_vec3 pivot,
                           const ipbd_pose *change) {
    int v;
    for (v = body->vertex_begin; v < body->vertex_begin + body->vertex_count; ++v) {
        const ipbdx_pin *pin = world->pins + v;
        if (!ipbdx_sane3(ipbdx_carried(world->positions + 4 * (size_t)v, pivot, change)) ||
            !ipbdx_sane3(ipbdx_carried(world->starts + 4 * (size_t)v, pivot, change)) ||
            !ipbdx_sane3(isphpbdx_rotate(change->rotation, ipbdx_v3(world->velocities + 4 * (size_t)v))))
            return false;
        if (pin->pinned == 1u && !(ipbdx_sane3(ipbdx_carried(&pin->from.x, pivot, change)) &&
                                   ipbdx_sane3(ipbdx_carried(&pin->to.x, pivot, change))))
            return false;
    }
    return true;
}
ISPHPBD_API isphpbd_result ipbd_body_teleport(ipbd_world *world, ipbd_body handle, isphpbd_vec3 pivot,
                                              ipbd_pose change) {
    isphpbd_result result;
    ipbdx_body *body = ipbdx_edit(world, handle, &result);
    int v;
    if (!body) return result;
    if (!ipbdx_pose_ready(&change) || !ipbdx_sane3(pivot) || !ipbdx_carry_ok(world, body, pivot, &change))
        return ISPHPBD_BAD_ARGUMENT;
    for (v = body->vertex_begin; v < body->vertex_begin + body->vertex_count; ++v) {
        float *velocity = world->velocities + 4 * (size_t)v;
        ipbdx_carry(world->positions + 4 * (size_t)v, pivot, &change);
        ipbdx_carry(world->starts + 4 * (size_t)v, pivot, &change);
        ipbdx_put3(velocity, isphpbdx_rotate(change.rotation, ipbdx_v3(velocity)));
        if (world->pins[v].pinned == 1u)
            ipbdx_carry(&world->pins[v].from.x, pivot, &change), ipbdx_carry(&world->pins[v].to.x, pivot, &change);
    }
    world->pairs_stale = true;
    ipbdx_wake(body);
    return ISPHPBD_OK;
}
/* Rest lengths and rest shapes as they were at creation. */
static void ipbdx_undo_flow(ipbd_world *world, ipbdx_body *body) {
    const isphpbd_vec3 *rests = world->rests + body->vertex_begin;
    int i, lane;
    for (i = 0; i < body->group_count[IPBDX_EDGES]; ++i) {
        ipbdx_edges *g = world->edges + body->group_begin[IPBDX_EDGES] + i;
        for (lane = 0; lane < 4; ++lane)
            g->rest[lane] = isphpbdx_length(isphpbdx_sub(rests[g->v[0][lane]], rests[g->v[1][lane]]));
    }
    for (i = 0; i < body->group_count[IPBDX_ELASTICS]; ++i) {
        ipbdx_elastics *g = world->elastics + body->group_begin[IPBDX_ELASTICS] + i;
        for (lane = 0; lane < 4; ++lane) {
            const uint32_t corners[4] = {g->v[0][lane], g->v[1][lane], g->v[2][lane], g->v[3][lane]};
            ipbdx_rest_inverse(rests, ipbdx_tetrahedron_volume(rests, corners), g, lane);
        }
    }
    body->stiffest_stale = 1;
}
ISPHPBD_API isphpbd_result ipbd_body_reset(ipbd_world *world, ipbd_body handle) {
    isphpbd_result result;
    ipbdx_body *body = ipbdx_edit(world, handle, &result);
    int v;
    if (!body) return result;
    for (v = body->vertex_begin; v < body->vertex_begin + body->vertex_count; ++v) {
        ipbdx_put3(world->positions + 4 * (size_t)v, world->rests[v]);
        ipbdx_put3(world->starts + 4 * (size_t)v, world->rests[v]);
        ipbdx_put3(world->velocities + 4 * (size_t)v, ipbdx_zero3());
        if (world->pins[v].pinned == 1u) world->pins[v].from = world->pins[v].to = world->rests[v];
    }
    body->lambda_h = 0.0f; /* no warm start from another shape's forces */
    body->tether_stretch = body->tether_slack;
    ipbdx_forget_forces(world, body);
    if (ipbdx_is_plastic(body)) ipbdx_undo_flow(world, body);
    world->pairs_stale = true;
    ipbdx_wake(body);
    return ISPHPBD_OK;
}
ISPHPBD_API isphpbd_result ipbd_body_wake(ipbd_world *world, ipbd_body handle) {
    isphpbd_result result;
    ipbdx_body *body = ipbdx_edit(world, handle, &result);
    if (body) ipbdx_wake(body);
    return result;
}
ISPHPBD_API bool ipbd_body_sleeping(const ipbd_world *world, ipbd_body handle) {
    const ipbdx_body *body = ipbdx_body_of(world, handle);
    return body && body->asleep;
}
ISPHPBD_API double ipbd_body_volume(const ipbd_world *world, ipbd_body handle) {
    const ipbdx_body *body = ipbdx_body_of(world, handle);
    return body && body->closed ? ipbdx_surface_volume(world, body) : 0.0;
}
ISPHPBD_API double ipbd_body_mass(const ipbd_world *world, ipbd_body handle) {
    const ipbdx_body *body = ipbdx_body_of(world, handle);
    double mass = 0.0;
    int v;
    for (v = 0; body && v < body->vertex_count; ++v) mass += (double)world->masses[body->vertex_begin + v];
    return mass;
}
ISPHPBD_API isphpbd_result ipbd_body_report(const ipbd_world *world, ipbd_body handle, ipbd_mesh_report *report) {
    const ipbdx_body *body = ipbdx_body_of(world, handle);
    if (!body) return ISPHPBD_BAD_HANDLE;
    if (!report) return ISPHPBD_BAD_ARGUMENT;
    *report = body->report;
    return ISPHPBD_OK;
}
/* Would everything be in a place where things can be? */
static bool ipbdx_shift_ok(const ipbd_world *world, isphpbd_vec3 offset) {
    int i;
    if (!ipbdx_sane3(offset)) return false;
    for (i = 0; i < world->counts.vertices; ++i) {
        const ipbdx_pin *pin = world->pins + i;
        if (!ipbdx_sane3(isphpbdx_add(ipbdx_v3(world->positions + 4 * (size_t)i), offset)) ||
            !ipbdx_sane3(isphpbdx_add(world->rests[i], offset)))
            return false;
        if (pin->pinned == 1u &&
            !(ipbdx_sane3(isphpbdx_add(pin->from, offset)) && ipbdx_sane3(isphpbdx_add(pin->to, offset))))
            return false;
    }
    for (i = 0; i < world->counts.colliders; ++i) {
        const ipbdx_collider *c = world->colliders + i;
        if (c->used && !(ipbdx_sane3(isphpbdx_add(c->from.position, offset)) &&
                         ipbdx_sane3(isphpbdx_add(c->to.position, offset))))
            return false;
    }
    return true;
}
ISPHPBD_API isphpbd_result ipbd_shift_origin(ipbd_world *world, isphpbd_vec3 offset) {
    isphpbd_result open = ipbdx_open_wide(world);
    int i;
    if (open != ISPHPBD_OK) return open;
    if (!ipbdx_shift_ok(world, offset)) return ISPHPBD_BAD_ARGUMENT;
    for (i = 0; i < world->counts.vertices; ++i) {
        ipbdx_put3(world->positions + 4 * (size_t)i, isphpbdx_add(ipbdx_v3(world->positions + 4 * (size_t)i), offset));
        ipbdx_put3(world->starts + 4 * (size_t)i, isphpbdx_add(ipbdx_v3(world->starts + 4 * (size_t)i), offset));
        world->rests[i] = isphpbdx_add(world->rests[i], offset);
        if (world->pins[i].pinned == 1u)
            world->pins[i].from = isphpbdx_add(world->pins[i].from, offset),
            world->pins[i].to = isphpbdx_add(world->pins[i].to, offset);
    }
    for (i = 0; i < world->counts.bodies; ++i) {
        world->bodies[i].low = isphpbdx_add(world->bodies[i].low, offset);
        world->bodies[i].high = isphpbdx_add(world->bodies[i].high, offset);
    }
    for (i = 0; i < world->counts.colliders; ++i) {
        ipbdx_collider *c = world->colliders + i;
        c->from.position = isphpbdx_add(c->from.position, offset),
        c->to.position = isphpbdx_add(c->to.position, offset);
        c->start.position = isphpbdx_add(c->start.position, offset),
        c->end.position = isphpbdx_add(c->end.position, offset);
    }
    world->pairs_stale = true;
    return ISPHPBD_OK;
}

ISPHPBD_API ipbd_stats ipbd_world_stats(const ipbd_world *world) {
    ipbd_stats s;
    double momentum[3] = {0, 0, 0}, angular[3] = {0, 0, 0};
    int i, k;
    memset(&s, 0, sizeof s);
    if (!world) return s;
    s.bytes = world->bytes;
    for (i = 0; i < world->counts.bodies; ++i) {
        const ipbdx_body *body = world->bodies + i;
        if (!body->used) continue;
        ++s.bodies, s.sleeping_bodies += body->asleep ? 1 : 0;
        s.slabs += body->slab_count;
        for (k = 0; k < IPBDX_KINDS; ++k)
            *(k == IPBDX_VOLUME || k == IPBDX_ELASTIC                          ? &s.tetrahedra
              : k == IPBDX_BEND || k == IPBDX_DIHEDRAL || k == IPBDX_ISOMETRIC ? &s.bends
                                                                               : &s.edges) += body->constraint_count[k];
    }
    s.vertices = world->counts.vertices, s.triangles = world->counts.triangles;
    s.collider_contacts = world->last.collider_contacts, s.soft_contacts = world->contact_count;
    s.impacts = world->last.impacts, s.quarantined = world->last.quarantined;
    for (i = 0; i < world->counts.vertices; ++i) {
        const float *x = world->positions + 4 * (size_t)i, *v = world->velocities + 4 * (size_t)i;
        double m = world->inverse_masses[i] > 0.0f ? (double)world->masses[i] : 0.0;
        for (k = 0; k < 3; ++k) {
            int a = (k + 1) % 3, b = (k + 2) % 3;
            s.kinetic_energy += 0.5 * m * (double)v[k] * (double)v[k];
            momentum[k] += m * (double)v[k];
            angular[k] += m * ((double)x[a] * (double)v[b] - (double)x[b] * (double)v[a]);
        }
    }
    s.momentum = isphpbd_v3((float)momentum[0], (float)momentum[1], (float)momentum[2]);
    s.angular_momentum = isphpbd_v3((float)angular[0], (float)angular[1], (float)angular[2]);
    s.ticks_step = world->last.step, s.ticks_solve = world->last.solve, s.ticks_contacts = world->last.contacts;
    return s;
}

/* ---- [skins] render meshes that ride on a body ------------------------------------------------------------------- */

/* Barycentric weights of p in a tetrahedron of rest positions; answers the smallest, which is >= 0 inside. */
static float ipbdx_barycentric(const isphpbd_vec3 *rests, const uint32_t *v, isphpbd_vec3 p, float *weight) {
    isphpbd_vec3 a = rests[v[0]], e1 = isphpbdx_sub(rests[v[1]], a), e2 = isphpbdx_sub(rests[v[2]], a),
                 e3 = isphpbdx_sub(rests[v[3]], a), q = isphpbdx_sub(p, a);
    float volume = isphpbdx_dot(isphpbdx_cross(e1, e2), e3);
    weight[1] = isphpbdx_dot(isphpbdx_cross(e2, e3), q) / volume;
    weight[2] = isphpbdx_dot(isphpbdx_cross(e3, e1), q) / volume;
    weight[3] = isphpbdx_dot(isphpbdx_cross(e1, e2), q) / volume;
    weight[0] = 1.0f - weight[1] - weight[2] - weight[3];
    return isphpbdx_min(isphpbdx_min(weight[0], weight[1]), isphpbdx_min(weight[2], weight[3]));
}
/* Those of a point, also one far out, in something of a volume to speak of. */
static bool ipbdx_weights_sane(const float *weight) {
    int k;
    for (k = 0; k < 4; ++k)
        if (!ipbdx_within(weight[k], 10.0f * IPBDX_LIMIT)) return false;
    return true;
}
static float ipbdx_bind_in_store(const ipbd_world *world, const ipbdx_body *body, int store, isphpbd_vec3 p, float best,
                                 ipbdx_bind *bind) {
    const isphpbd_vec3 *rests = world->rests + body->vertex_begin;
    int i, lane, k;
    for (i = 0; i < body->group_count[store] && best < 0.0f; ++i) {
        const uint32_t *v =
            (const uint32_t *)(const void *)(ipbdx_store_base(world, store) +
                                             (size_t)(body->group_begin[store] + i) * ipbdx_store_size(store));
        for (lane = 0; lane < 4; ++lane) {
            uint32_t t[4];
            float weight[4], inside;
            for (k = 0; k < 4; ++k) t[k] = v[4 * k + lane];
            inside = ipbdx_barycentric(rests, t, p, weight);
            if (!(inside > best) || !ipbdx_weights_sane(weight)) continue;
            best = inside, memcpy(bind->v, t, sizeof t), memcpy(bind->weight, weight, sizeof weight);
        }
    }
    return best;
}
static void ipbdx_bind_to_surface(const ipbd_world *world, const ipbdx_body *body, isphpbd_vec3 p, ipbdx_bind *bind) {
    const isphpbd_vec3 *rests = world->rests + body->vertex_begin;
    const uint32_t *t = world->triangles + 3 * (size_t)body->triangle_begin;
    float best = IPBDX_FAR;
    int i;
    for (i = 0; i < body->triangle_count; ++i, t += 3) {
        isphpbd_vec3 a = rests[t[0]], b = rests[t[1]], c = rests[t[2]], d, n;
        float v, w, distance;
        ipbdx_closest_on_triangle(p, a, b, c, &v, &w);
        d = isphpbdx_sub(p, ipbdx_triangle_point(a, b, c, v, w)), distance = isphpbdx_length(d);
        if (!(distance < best)) continue;
        best = distance, n = ipbdx_unit(isphpbdx_cross(isphpbdx_sub(b, a), isphpbdx_sub(c, a)), d);
        bind->v[0] = t[0], bind->v[1] = t[1], bind->v[2] = t[2], bind->v[3] = IPBDX_NONE;
        bind->weight[0] = 1.0f - v - w, bind->weight[1] = v, bind->weight[2] = w, bind->weight[3] = isphpbdx_dot(d, n);
    }
}
static bool ipbdx_bind_point(const ipbd_world *world, const ipbdx_body *body, isphpbd_vec3 p, ipbdx_bind *bind) {
    float best = -IPBDX_FAR;
    if (body->group_count[IPBDX_ELASTICS]) best = ipbdx_bind_in_store(world, body, IPBDX_ELASTICS, p, best, bind);
    if (body->group_count[IPBDX_VOLUMES]) best = ipbdx_bind_in_store(world, body, IPBDX_VOLUMES, p, best, bind);
    if (best > -IPBDX_FAR) return true;
    if (!body->triangle_count) return false;
    ipbdx_bind_to_surface(world, body, p, bind);
    return true;
}
static isphpbd_result ipbdx_skin_check(const ipbd_world *world, const ipbdx_body *body, const float *positions,
                                       size_t stride, int count) {
    int i;
    if (!body) return ISPHPBD_BAD_HANDLE;
    if (!positions || stride < 12 || count <= 0) return ISPHPBD_BAD_ARGUMENT;
    if (!body->triangle_count)
        return ipbdx_refuse(&world->desc.logger, ISPHPBD_BAD_MESH, "a skin needs a body with triangles or tetrahedra");
    if (count > world->desc.capacity.skin_vertices - world->counts.binds)
        return ipbdx_refuse(&world->desc.logger, ISPHPBD_CAPACITY, "raise capacity.skin_vertices");
    for (i = 0; i < count; ++i)
        if (!ipbdx_sane3(ipbdx_read_point(positions, stride, i)))
            return ipbdx_refuse(&world->desc.logger, ISPHPBD_BAD_MESH, "a skin vertex is not finite");
    return ISPHPBD_OK;
}
ISPHPBD_API ipbd_skin ipbd_skin_create(ipbd_world *world, ipbd_body handle, const float *positions, size_t stride_bytes,
                                       int count, isphpbd_result *why) {
    isphpbd_result result = ipbdx_open(world);
    ipbd_skin skin;
    ipbdx_body *body = NULL;
    int slot = 0, i;
    skin.id = 0;
    if (result == ISPHPBD_OK)
        body = ipbdx_body_of(world, handle), result = ipbdx_skin_check(world, body, positions, stride_bytes, count);
    if (result == ISPHPBD_OK) {
        while (slot < world->counts.skins && world->skins[slot].used) ++slot;
        if (slot >= world->desc.capacity.skins)
            result = ipbdx_refuse(&world->desc.logger, ISPHPBD_CAPACITY, "raise capacity.skins");
    }
    if (result == ISPHPBD_OK) {
        ipbdx_skin *s = world->skins + slot;
        if (slot >= world->counts.skins) s->generation = 0, world->counts.skins = slot + 1;
        s->used = 1, s->body = (int)(body - world->bodies), s->begin = world->counts.binds, s->count = count;
        for (i = 0; i < count; ++i)
            ipbdx_bind_point(world, body, ipbdx_read_point(positions, stride_bytes, i), world->binds + s->begin + i);
        world->counts.binds += count;
        skin.id = ipbdx_handle(s->generation, slot);
    }
    if (why) *why = result;
    return skin;
}
ISPHPBD_API isphpbd_result ipbd_skin_destroy(ipbd_world *world, ipbd_skin skin) {
    isphpbd_result open = ipbdx_open(world);
    ipbdx_skin *s;
    if (open != ISPHPBD_OK) return open;
    s = ipbdx_skin_of(world, skin);
    if (!s) return ISPHPBD_BAD_HANDLE;
    ipbdx_forget_skin(world, s);
    return ISPHPBD_OK;
}
static isphpbd_vec3 ipbdx_bind_place(const float *x, const ipbdx_bind *bind) {
    isphpbd_vec3 a = ipbdx_v3(x + 4 * (size_t)bind->v[0]), b = ipbdx_v3(x + 4 * (size_t)bind->v[1]),
                 c = ipbdx_v3(x + 4 * (size_t)bind->v[2]), p;
    p = isphpbdx_add(isphpbdx_add(isphpbdx_scale(a, bind->weight[0]), isphpbdx_scale(b, bind->weight[1])),
                     isphpbdx_scale(c, bind->weight[2]));
    if (bind->v[3] != IPBDX_NONE) return isphpbdx_madd(p, ipbdx_v3(x + 4 * (size_t)bind->v[3]), bind->weight[3]);
    return isphpbdx_madd(p, ipbdx_unit(isphpbdx_cross(isphpbdx_sub(b, a), isphpbdx_sub(c, a)), ipbdx_zero3()),
                         bind->weight[3]);
}
ISPHPBD_API isphpbd_result ipbd_skin_read(const ipbd_world *world, ipbd_skin skin, float *positions, float *normals,
                                          size_t stride_bytes, const uint32_t *triangles, int triangle_count) {
    const ipbdx_skin *s = ipbdx_skin_of(world, skin);
    const float *x;
    int i;
    if (!s) return ISPHPBD_BAD_HANDLE;
    if (!positions || stride_bytes < 12 || triangle_count < 0 || (triangle_count && !triangles))
        return ISPHPBD_BAD_ARGUMENT;
    if (!ipbdx_indices_valid(triangles, 3 * triangle_count, s->count)) return ISPHPBD_BAD_MESH;
    x = world->positions + 4 * (size_t)world->bodies[s->body].vertex_begin;
    for (i = 0; i < s->count; ++i)
        ipbdx_write3(positions, stride_bytes, (uint32_t)i, ipbdx_bind_place(x, world->binds + s->begin + i));
    if (normals) ipbdx_normals_over(positions, normals, stride_bytes, (uint32_t)s->count, triangles, triangle_count);
    return ISPHPBD_OK;
}

/* ---- [snapshot] hash, save, load ------------------------------------------------------------------------------------
   A snapshot is a header and the used part of every array that outlives a step, in a fixed order, and a checksum. */

typedef struct ipbdx_part {
    void *data;
    size_t size;
    int count;
} ipbdx_part;
#define IPBDX_PARTS 28
typedef ipbdx_part ipbdx_parts[IPBDX_PARTS];

static int ipbdx_list_parts(const ipbd_world *w, const ipbdx_counts *n, ipbdx_part *parts) {
    int count = 0, k;
#define IPBDX_PART(array, bytes, number)                                                                               \
    parts[count].data = (void *)(array), parts[count].size = (bytes), parts[count].count = (number), ++count
    IPBDX_PART(w->bodies, sizeof *w->bodies, n->bodies);
    IPBDX_PART(w->slabs, sizeof *w->slabs, n->slabs);
    for (k = 0; k < IPBDX_STORES; ++k) IPBDX_PART(ipbdx_store_base(w, k), ipbdx_store_size(k), n->groups[k]);
    IPBDX_PART(w->positions, 16, n->vertices);
    IPBDX_PART(w->starts, 16, n->vertices);
    IPBDX_PART(w->velocities, 16, n->vertices);
    IPBDX_PART(w->rests, sizeof *w->rests, n->vertices);
    IPBDX_PART(w->masses, 4, n->vertices);
    IPBDX_PART(w->inverse_masses, 4, n->vertices);
    IPBDX_PART(w->pins, sizeof *w->pins, n->vertices);
    IPBDX_PART(w->vertex_body, 4, n->vertices);
    IPBDX_PART(w->vertex_input, 4, n->vertices);
    IPBDX_PART(w->vertex_map, 4, n->inputs);
    IPBDX_PART(w->triangles, 12, n->triangles);
    IPBDX_PART(w->surface_edges, 8, n->surface_edges);
    IPBDX_PART(w->edge_body, 4, n->surface_edges);
    IPBDX_PART(w->colliders, sizeof *w->colliders, n->colliders);
    IPBDX_PART(w->collider_vertices, sizeof *w->collider_vertices, n->collider_vertices);
    IPBDX_PART(w->collider_triangles, 12, n->collider_triangles);
    IPBDX_PART(w->collider_nodes, 24, n->collider_triangles);
    IPBDX_PART(w->skins, sizeof *w->skins, n->skins);
    IPBDX_PART(w->binds, sizeof *w->binds, n->binds);
#undef IPBDX_PART
    return count;
}
typedef struct ipbdx_snapshot_head {
    uint32_t magic, version, layout[2]; /* layout: hash of capacities, sleep settings and records' sizes */
    ipbdx_counts counts;
    isphpbd_vec3 gravity, wind;
    float air_density;
    int32_t substeps, iterations;
    uint32_t sum[2]; /* of all that follows, and of the head with these two zero */
} ipbdx_snapshot_head;
#define IPBDX_MAGIC 0x44425049u /* IPBD, least byte first */

static uint64_t ipbdx_layout_hash(const ipbd_world *world) {
    uint64_t hash = isphpbdx_hash_words(1, &world->desc.capacity, sizeof world->desc.capacity / 4);
    ipbdx_part parts[IPBDX_PARTS];
    int i, count = ipbdx_list_parts(world, &world->counts, parts);
    for (i = 0; i < count; ++i) hash = isphpbdx_hash_word(hash, (uint32_t)parts[i].size);
    hash = isphpbdx_hash_words(hash, &world->desc.sleep_speed, 1); /* which no call changes */
    return isphpbdx_hash_words(hash, &world->desc.sleep_seconds, 1);
}
static uint64_t ipbdx_parts_hash(uint64_t hash, const ipbdx_part *parts, int count) {
    int i;
    for (i = 0; i < count; ++i)
        hash = isphpbdx_hash_words(hash, parts[i].data, parts[i].size / 4 * (size_t)parts[i].count);
    return hash;
}
static ipbdx_snapshot_head ipbdx_make_head(const ipbd_world *world) {
    ipbdx_snapshot_head head;
    uint64_t layout = ipbdx_layout_hash(world);
    memset(&head, 0, sizeof head);
    head.magic = IPBDX_MAGIC, head.version = ISPHPBD_VERSION;
    head.layout[0] = (uint32_t)layout, head.layout[1] = (uint32_t)(layout >> 32);
    head.counts = world->counts;
    head.gravity = world->desc.gravity, head.wind = world->desc.wind, head.air_density = world->desc.air_density;
    head.substeps = world->desc.substeps, head.iterations = world->desc.iterations;
    return head;
}
ISPHPBD_API uint64_t ipbd_hash(const ipbd_world *world) {
    ipbdx_part parts[IPBDX_PARTS];
    ipbdx_snapshot_head head;
    if (!world) return 0;
    head = ipbdx_make_head(world);
    return ipbdx_parts_hash(isphpbdx_hash_words(7, &head, sizeof head / 4), parts,
                            ipbdx_list_parts(world, &world->counts, parts));
}
ISPHPBD_API size_t ipbd_save(const ipbd_world *world, void *bytes, size_t capacity) {
    ipbdx_part parts[IPBDX_PARTS];
    ipbdx_snapshot_head head;
    unsigned char *out = (unsigned char *)bytes;
    size_t size = sizeof head;
    uint64_t sum;
    int i, count;
    if (!world) return 0;
    count = ipbdx_list_parts(world, &world->counts, parts);
    for (i = 0; i < count; ++i) size += parts[i].size * (size_t)parts[i].count;
    if (!out || capacity < size) return size;
    head = ipbdx_make_head(world);
    sum = ipbd_hash(world);
    head.sum[0] = (uint32_t)sum, head.sum[1] = (uint32_t)(sum >> 32);
    memcpy(out, &head, sizeof head), out += sizeof head;
    for (i = 0; i < count; ++i) {
        size_t part = parts[i].size * (size_t)parts[i].count;
        if (part) memcpy(out, parts[i].data, part);
        out += part;
    }
    return size;
}

static bool ipbdx_in(int begin, int count, int total) {
    return begin >= 0 && count >= 0 && begin <= total && count <= total - begin;
}
static bool ipbdx_between(int begin, int end, int total) { return begin >= 0 && end >= begin && end <= total; }
static bool ipbdx_counts_sane(const ipbd_world *world, const ipbdx_counts *n) {
    const ipbd_capacity *c = &world->desc.capacity;
    int k;
    for (k = 0; k < IPBDX_STORES; ++k)
        if (!ipbdx_in(0, n->groups[k], ipbdx_store_room(c, k))) return false;
    return ipbdx_in(0, n->vertices, c->vertices) && ipbdx_in(0, n->inputs, c->input_vertices) &&
           ipbdx_in(0, n->triangles, c->triangles) && ipbdx_in(0, n->surface_edges, 3 * c->triangles) &&
           ipbdx_in(0, n->slabs, c->slabs) && ipbdx_in(0, n->bodies, c->bodies) &&
           ipbdx_in(0, n->colliders, c->colliders) && ipbdx_in(0, n->skins, c->skins) &&
           ipbdx_in(0, n->binds, c->skin_vertices) && ipbdx_in(0, n->collider_vertices, c->collider_vertices) &&
           ipbdx_in(0, n->collider_triangles, c->collider_triangles);
}
/* What the desc and the calls that change it allow. The forces of the last step are not looked at: from those that are
   no numbers the next step recovers, as it does from its own. */
static bool ipbdx_body_numbers_sane(const ipbdx_body *b) {
    const float not_negative[10] = {b->balloon_pressure, b->damping,     b->drag,          b->wind_drag,
                                    b->wind_lift,        b->friction,    b->plastic_yield, b->plastic_creep,
                                    b->plastic_max,      b->quiet_seconds};
    int k;
    for (k = 0; k < 10; ++k)
        if (!ipbdx_not_negative(not_negative[k])) return false;
    return ipbdx_positive(b->thickness) && isphpbdx_finite(b->overpressure) && isphpbdx_finite(b->gravity_scale) &&
           isphpbdx_finite(b->rest_volume) && ipbdx_not_negative(b->warm_start) && b->warm_start <= 1.0f &&
           isphpbdx_finite(b->tether_slack) && isphpbdx_finite(b->tether_stretch) && ipbdx_not_negative(b->lambda_h);
}
static bool ipbdx_body_sane(const ipbdx_body *b, const ipbdx_counts *n) {
    int k;
    if (b->used > 1u) return false;
    if (!b->used) return true;
    for (k = 0; k < IPBDX_STORES; ++k)
        if (!ipbdx_in(b->group_begin[k], b->group_count[k], n->groups[k])) return false;
    for (k = 0; k < IPBDX_KINDS; ++k) /* at most four to a group */
        if (b->constraint_count[k] < 0 || b->constraint_count[k] / 4 > b->group_count[ipbdx_store_of(k)])
            return false;
    return ipbdx_body_numbers_sane(b) && ipbdx_in(b->vertex_begin, b->vertex_count, n->vertices) &&
           ipbdx_in(b->input_begin, b->input_count, n->inputs) &&
           ipbdx_in(b->triangle_begin, b->triangle_count, n->triangles) &&
           ipbdx_in(b->edge_begin, b->edge_count, n->surface_edges) &&
           ipbdx_in(b->slab_begin, b->slab_count, n->slabs) && ipbdx_in(0, b->slab_interior, b->slab_count);
}
/* Copies record i of an unaligned array. */
static void ipbdx_fetch(const unsigned char *array, size_t size, int i, void *record) {
    memcpy(record, array + size * (size_t)i, size);
}

static bool ipbdx_words_below(const unsigned char *bytes, int begin, int count, uint32_t limit, bool none_too) {
    int i;
    for (i = begin; i < begin + count; ++i) {
        uint32_t v;
        memcpy(&v, bytes + 4 * (size_t)i, 4);
        if (v >= limit && !(none_too && v == IPBDX_NONE)) return false;
    }
    return true;
}
static bool ipbdx_words_are(const unsigned char *bytes, int begin, int count, uint32_t value) {
    int i;
    for (i = begin; i < begin + count; ++i)
        if (memcmp(bytes + 4 * (size_t)i, &value, 4) != 0) return false;
    return true;
}
/* Between them, the slabs that are not seams hold every vertex once: each is ended by one task. All together hold no
   more groups than there are: the search for tethers has room for each edge once. */
static bool ipbdx_slabs_sane(const ipbdx_body *body, const unsigned char *slabs, int slot) {
    int i, kind, held = 0, left[IPBDX_STORES];
    memcpy(left, body->group_count, sizeof left);
    for (i = 0; i < body->slab_count; ++i) {
        ipbdx_slab slab;
        ipbdx_fetch(slabs, sizeof slab, body->slab_begin + i, &slab);
        if (slab.body != slot || !ipbdx_between(slab.vertex_begin, slab.vertex_end, body->vertex_count)) return false;
        if (i < body->slab_interior && slab.vertex_begin != held) return false;
        if (i < body->slab_interior) held = slab.vertex_end;
        for (kind = 0; kind < IPBDX_KINDS; ++kind) {
            const int store = ipbdx_store_of(kind), begin = slab.group_begin[kind], end = slab.group_end[kind];
            if (!ipbdx_between(begin, end, body->group_count[store]) || end - begin > left[store]) return false;
            left[store] -= end - begin;
        }
    }
    return held == body->vertex_count;
}
/* Vertices are the first words of every group: two rows for edges, else four. */
static bool ipbdx_groups_sane(const ipbdx_body *body, const ipbdx_part *stores) {
    int store, i;
    for (store = 0; store < IPBDX_STORES; ++store)
        for (i = body->group_begin[store]; i < body->group_begin[store] + body->group_count[store]; ++i)
            if (!ipbdx_words_below((const unsigned char *)stores[store].data + stores[store].size * (size_t)i, 0,
                                   store == IPBDX_EDGES ? 8 : 16, (uint32_t)body->vertex_count, false))
                return false;
    return true;
}
/* Tethers that count lead to pins: another task may move what is free. */
static bool ipbdx_tether_sane(const ipbdx_body *body, const unsigned char *pins, const ipbdx_tether *tether) {
    ipbdx_pin anchor;
    if (tether->anchor == IPBDX_NONE) return true;
    if (tether->anchor >= (uint32_t)body->vertex_count || !(tether->reach >= 0.0f) || !isphpbdx_finite(tether->pull))
        return false;
    ipbdx_fetch(pins, sizeof anchor, body->vertex_begin + (int)tether->anchor, &anchor);
    return anchor.pinned != 0 || body->tethers_stale != 0;
}
static bool ipbdx_pins_sane(const ipbdx_body *body, const unsigned char *pins, const ipbdx_counts *n) {
    int i;
    for (i = body->vertex_begin; i < body->vertex_begin + body->vertex_count; ++i) {
        ipbdx_pin pin;
        int k;
        ipbdx_fetch(pins, sizeof pin, i, &pin);
        if (pin.pinned >= 2u + (uint32_t)n->colliders) return false;
        for (k = 0; k < IPBDX_TETHERS; ++k)
            if (!ipbdx_tether_sane(body, pins, pin.tethers + k)) return false;
    }
    return true;
}
/* Positions of the parts in ipbdx_list_parts that the checks look into. */
enum {
    IPBDX_AT_BODIES = 0,
    IPBDX_AT_SLABS = 1,
    IPBDX_AT_STORES = 2,
    IPBDX_AT_POSITIONS = 7,
    IPBDX_AT_STARTS,
    IPBDX_AT_VELOCITIES,
    IPBDX_AT_RESTS,
    IPBDX_AT_MASSES,
    IPBDX_AT_INVERSE_MASSES,
    IPBDX_AT_PINS,
    IPBDX_AT_VERTEX_BODY,
    IPBDX_AT_INPUT,
    IPBDX_AT_MAP,
    IPBDX_AT_TRIANGLES,
    IPBDX_AT_EDGES,
    IPBDX_AT_EDGE_BODY,
    IPBDX_AT_COLLIDERS,
    IPBDX_AT_CV,
    IPBDX_AT_CT,
    IPBDX_AT_CN,
    IPBDX_AT_SKINS,
    IPBDX_AT_BINDS
};

/* All vertices and surface edges name the body that they are of; those of different bodies cannot overlap then, and
   none is left over where as many are named as there are. */
static bool ipbdx_owners_sane(const ipbdx_part *parts, const ipbdx_counts *n) {
    int slot, vertices = 0, edges = 0;
    for (slot = 0; slot < n->bodies; ++slot) {
        ipbdx_body b;
        ipbdx_fetch((const unsigned char *)parts[IPBDX_AT_BODIES].data, sizeof b, slot, &b);
        if (!b.used) continue;
        if (!ipbdx_words_are((const unsigned char *)parts[IPBDX_AT_VERTEX_BODY].data, b.vertex_begin, b.vertex_count,
                             (uint32_t)slot) ||
            !ipbdx_words_are((const unsigned char *)parts[IPBDX_AT_EDGE_BODY].data, b.edge_begin, b.edge_count,
                             (uint32_t)slot))
            return false;
        vertices += b.vertex_count, edges += b.edge_count;
    }
    return vertices == n->vertices && edges == n->surface_edges;
}
/* In the order of their vertices, bodies follow each other without a gap in triangles and groups too: what the task of
   one body writes is no other's. Only where owners are sane. */
static bool ipbdx_order_sane(const ipbdx_part *parts, const ipbdx_counts *n) {
    int v = 0, triangles = 0, groups[IPBDX_STORES], k;
    memset(groups, 0, sizeof groups);
    while (v < n->vertices) {
        ipbdx_body b;
        uint32_t slot;
        ipbdx_fetch((const unsigned char *)parts[IPBDX_AT_VERTEX_BODY].data, sizeof slot, v, &slot);
        ipbdx_fetch((const unsigned char *)parts[IPBDX_AT_BODIES].data, sizeof b, (int)slot, &b);
        if (b.triangle_begin != triangles || memcmp(b.group_begin, groups, sizeof groups) != 0) return false;
        for (k = 0; k < IPBDX_STORES; ++k) groups[k] += b.group_count[k];
        triangles += b.triangle_count, v += b.vertex_count;
    }
    return true;
}
static bool ipbdx_bodies_sane(const ipbdx_part *parts, const ipbdx_counts *n) {
    int slot;
    for (slot = 0; slot < n->bodies; ++slot) {
        ipbdx_body b;
        ipbdx_fetch((const unsigned char *)parts[IPBDX_AT_BODIES].data, sizeof b, slot, &b);
        if (!ipbdx_body_sane(&b, n)) return false;
        if (!b.used) continue;
        if (!ipbdx_slabs_sane(&b, (const unsigned char *)parts[IPBDX_AT_SLABS].data, slot) ||
            !ipbdx_groups_sane(&b, parts + IPBDX_AT_STORES) ||
            !ipbdx_pins_sane(&b, (const unsigned char *)parts[IPBDX_AT_PINS].data, n) ||
            !ipbdx_words_below((const unsigned char *)parts[IPBDX_AT_INPUT].data, b.vertex_begin, b.vertex_count,
                               (uint32_t)b.input_count, false) ||
            !ipbdx_words_below((const unsigned char *)parts[IPBDX_AT_MAP].data, b.input_begin, b.input_count,
                               (uint32_t)b.vertex_count, true) ||
            !ipbdx_words_below((const unsigned char *)parts[IPBDX_AT_TRIANGLES].data, 3 * b.triangle_begin,
                               3 * b.triangle_count, (uint32_t)b.vertex_count, false) ||
            !ipbdx_words_below((const unsigned char *)parts[IPBDX_AT_EDGES].data, 2 * b.edge_begin, 2 * b.edge_count,
                               (uint32_t)b.vertex_count, false))
            return false;
    }
    return ipbdx_owners_sane(parts, n) && ipbdx_order_sane(parts, n);
}
static bool ipbdx_inverse_sane(float inverse) { return inverse >= 0.0f && inverse <= 1e21f; } /* of ipbdx_weight_ok */
/* What ipbd_collider_create would take, and what a step leaves; what it only uses inside begins anew with the next. */
static bool ipbdx_collider_sane(const ipbdx_collider *c) {
    ipbd_pose poses[4];
    ipbd_shape shape;
    int k;
    poses[0] = c->from, poses[1] = c->to, poses[2] = c->start, poses[3] = c->end;
    for (k = 0; k < 4; ++k)
        if (!ipbdx_pose_ready(poses + k)) return false;
    memset(&shape, 0, sizeof shape);
    shape.type = c->type, shape.size = c->size;
    if (c->type <= IPBD_BOX && ipbdx_shape_fault(&shape)) return false;
    if (c->type == IPBD_HEIGHTFIELD && !ipbdx_positive(c->cell)) return false;
    return ipbdx_not_negative(c->friction) && c->bound >= 0.0f && isphpbdx_finite(c->inner) &&
           ipbdx_inverse_sane(c->inverse_mass) && ipbdx_inverse_sane(c->inverse_inertia.x) &&
           ipbdx_inverse_sane(c->inverse_inertia.y) && ipbdx_inverse_sane(c->inverse_inertia.z) &&
           ipbdx_within3(c->linear, IPBDX_MOST_IMPULSE) && ipbdx_within3(c->angular, IPBDX_MOST_IMPULSE);
}
static bool ipbdx_colliders_sane(const ipbdx_part *parts, const ipbdx_counts *n) {
    int slot;
    for (slot = 0; slot < n->colliders; ++slot) {
        ipbdx_collider c;
        ipbdx_fetch((const unsigned char *)parts[IPBDX_AT_COLLIDERS].data, sizeof c, slot, &c);
        if (!c.used) continue;
        if (c.type < IPBD_PLANE || c.type > IPBD_SDF ||
            !ipbdx_in(c.vertex_begin, c.vertex_count, n->collider_vertices) ||
            !ipbdx_in(c.triangle_begin, c.triangle_count, n->collider_triangles) || !ipbdx_collider_sane(&c))
            return false;
        if (!ipbdx_words_below((const unsigned char *)parts[IPBDX_AT_CT].data, 3 * c.triangle_begin,
                               3 * c.triangle_count, (uint32_t)c.vertex_count, false))
            return false;
        if ((c.type == IPBD_MESH || c.type == IPBD_CONVEX) && c.triangle_count < 1) return false;
        if (c.type == IPBD_HEIGHTFIELD && (c.columns < 2 || c.rows < 2 || c.columns > 8192 || c.rows > 8192 ||
                                           c.columns * c.rows > 3 * c.vertex_count))
            return false;
    }
    return true;
}
static bool ipbdx_skins_sane(const ipbdx_part *parts, const ipbdx_counts *n) {
    int slot, i, k;
    for (slot = 0; slot < n->skins; ++slot) {
        ipbdx_skin s;
        ipbdx_body b;
        ipbdx_fetch((const unsigned char *)parts[IPBDX_AT_SKINS].data, sizeof s, slot, &s);
        if (!s.used) continue;
        if (s.body < 0 || s.body >= n->bodies || !ipbdx_in(s.begin, s.count, n->binds)) return false;
        ipbdx_fetch((const unsigned char *)parts[IPBDX_AT_BODIES].data, sizeof b, s.body, &b);
        for (i = s.begin; i < s.begin + s.count; ++i) {
            ipbdx_bind bind;
            ipbdx_fetch((const unsigned char *)parts[IPBDX_AT_BINDS].data, sizeof bind, i, &bind);
            for (k = 0; k < 4; ++k)
                if (bind.v[k] >= (uint32_t)b.vertex_count && !(k == 3 && bind.v[k] == IPBDX_NONE)) return false;
            if (!ipbdx_weights_sane(bind.weight)) return false;
        }
    }
    return true;
}
/* The first numbers of every record of a part: places, speeds and masses. */
static bool ipbdx_numbers_sane(const ipbdx_part *part, int numbers) {
    int i, k;
    for (i = 0; i < part->count; ++i)
        for (k = 0; k < numbers; ++k) {
            float value;
            memcpy(&value, (const unsigned char *)part->data + part->size * (size_t)i + 4 * (size_t)k, 4);
            if (!ipbdx_sane(value)) return false;
        }
    return true;
}
static bool ipbdx_vertices_sane(const ipbdx_part *parts) {
    const ipbdx_part *inverse = parts + IPBDX_AT_INVERSE_MASSES;
    int i;
    for (i = 0; i < inverse->count; ++i) {
        float value;
        ipbdx_fetch((const unsigned char *)inverse->data, 4, i, &value);
        if (!ipbdx_not_negative(value)) return false;
    }
    return ipbdx_numbers_sane(parts + IPBDX_AT_POSITIONS, 3) && ipbdx_numbers_sane(parts + IPBDX_AT_STARTS, 3) &&
           ipbdx_numbers_sane(parts + IPBDX_AT_VELOCITIES, 3) && ipbdx_numbers_sane(parts + IPBDX_AT_RESTS, 3) &&
           ipbdx_numbers_sane(parts + IPBDX_AT_MASSES, 1) && ipbdx_numbers_sane(parts + IPBDX_AT_PINS, 6) &&
           ipbdx_numbers_sane(parts + IPBDX_AT_CV, 3) && ipbdx_numbers_sane(parts + IPBDX_AT_CN, 6);
}
/* Points parts into the snapshot and checks everything that indexes something, and every place, speed, mass and setting
   (not the forces, rest shapes and stiffnesses of single constraints). */
static bool ipbdx_snapshot_sane(const ipbd_world *world, const unsigned char *bytes, size_t size,
                                const ipbdx_snapshot_head *head, ipbdx_part *parts) {
    ipbdx_snapshot_head plain = *head;
    size_t used = sizeof *head;
    uint64_t sum;
    int i, count;
    if (!ipbdx_counts_sane(world, &head->counts)) return false;
    count = ipbdx_list_parts(world, &head->counts, parts);
    for (i = 0; i < count; ++i) {
        union {
            const void *from;
            void *to;
        } pointer; /* parts are only read here */
        pointer.from = bytes + used;
        parts[i].data = pointer.to;
        used += parts[i].size * (size_t)parts[i].count;
        if (used > size) return false;
    }
    if (used != size) return false;
    plain.sum[0] = plain.sum[1] = 0;
    sum = ipbdx_parts_hash(isphpbdx_hash_words(7, &plain, sizeof plain / 4), parts, count);
    if (head->sum[0] != (uint32_t)sum || head->sum[1] != (uint32_t)(sum >> 32)) return false;
    return ipbdx_bodies_sane(parts, &head->counts) && ipbdx_colliders_sane(parts, &head->counts) &&
           ipbdx_skins_sane(parts, &head->counts) && ipbdx_vertices_sane(parts);
}
/* Everything about the image is right; fills in its head and where its parts are. */
static bool ipbdx_snapshot_ok(const ipbd_world *world, const void *bytes, size_t size, ipbdx_snapshot_head *head,
                              ipbdx_part *parts) {
    const uint64_t layout = ipbdx_layout_hash(world);
    if (!bytes || size < sizeof *head) return false;
    memcpy(head, bytes, sizeof *head);
    return head->magic == IPBDX_MAGIC && head->version == ISPHPBD_VERSION && head->layout[0] == (uint32_t)layout &&
           head->layout[1] == (uint32_t)(layout >> 32) && head->substeps >= 1 && head->substeps <= 1000 &&
           head->iterations >= 1 && head->iterations <= 1000 && ipbdx_sane3(head->gravity) && ipbdx_sane3(head->wind) &&
           ipbdx_not_negative(head->air_density) &&
           ipbdx_snapshot_sane(world, (const unsigned char *)bytes, size, head, parts);
}
ISPHPBD_API isphpbd_result ipbd_load(ipbd_world *world, const void *bytes, size_t size) {
    isphpbd_result open = ipbdx_open_wide(world);
    ipbdx_snapshot_head head;
    ipbdx_part from[IPBDX_PARTS], to[IPBDX_PARTS];
    int i, count;
    if (open != ISPHPBD_OK) return open;
    if (!ipbdx_snapshot_ok(world, bytes, size, &head, from))
        return ipbdx_refuse(&world->desc.logger, ISPHPBD_BAD_SNAPSHOT,
                            "the snapshot is damaged, or of another version, other capacities or sleep settings");
    world->counts = head.counts;
    world->desc.gravity = head.gravity, world->desc.wind = head.wind, world->desc.air_density = head.air_density;
    world->desc.substeps = head.substeps, world->desc.iterations = head.iterations;
    count = ipbdx_list_parts(world, &world->counts, to);
    for (i = 0; i < count; ++i)
        if (to[i].count) memcpy(to[i].data, from[i].data, to[i].size * (size_t)to[i].count);
    ipbdx_number_triangles(world);
    memset(world->touches, 0, 2 * (size_t)world->counts.vertices * sizeof *world->touches);
    world->pairs_stale = true;
    return ISPHPBD_OK;
}

/* ---- [helpers] descs and simple meshes --------------------------------------------------------------------------- */

ISPHPBD_API ipbd_elasticity ipbd_compliance(float value) {
    ipbd_elasticity e;
    e.measure = IPBD_COMPLIANCE, e.value = value;
    return e;
}
ISPHPBD_API ipbd_elasticity ipbd_stiffness(float value) {
    ipbd_elasticity e;
    e.measure = IPBD_STIFFNESS, e.value = value;
    return e;
}
ISPHPBD_API ipbd_elasticity ipbd_absent(void) {
    ipbd_elasticity e;
    e.measure = IPBD_ABSENT, e.value = 0.0f;
    return e;
}
ISPHPBD_API ipbd_pose ipbd_pose_at(float x, float y, float z) {
    ipbd_pose pose;
    pose.position = isphpbd_v3(x, y, z), pose.rotation = ipbdx_quat_identity();
    return pose;
}
ISPHPBD_API ipbd_body_desc ipbd_body_desc_default(void) {
    ipbd_body_desc d;
    memset(&d, 0, sizeof d);
    d.mesh.stride_bytes = 12;
    d.pose = ipbd_pose_at(0.0f, 0.0f, 0.0f);
    d.weld_distance = -1.0f;
    d.density = 0.2f, d.line_density = 0.1f;
    d.stretch = ipbd_compliance(0.0f), d.shear = ipbd_compliance(1e-4f), d.bend = ipbd_compliance(1e4f);
    d.bend_model = IPBD_BEND_ISOMETRIC, d.solid_model = IPBD_SOLID_ELASTIC;
    d.volume = ipbd_compliance(0.0f), d.balloon = ipbd_absent(), d.link = ipbd_compliance(0.0f);
    d.young_modulus = 1e5f, d.poisson_ratio = 0.3f;
    d.balloon_pressure = 1.0f, d.warm_start = 1.0f, d.tether_slack = -1.0f;
    d.damping = 0.2f, d.gravity_scale = 1.0f, d.plastic_max = 1.0f;
    d.thickness = 0.01f, d.friction = 0.3f;
    d.still_air = d.can_sleep = true;
    d.layer = 1u, d.mask = 0xffffffffu;
    d.cookie = IPBDX_BODY_COOKIE;
    return d;
}
ISPHPBD_API ipbd_body_desc ipbd_body_desc_preset(ipbd_preset preset) {
    /* Typical values; the bend of cotton is by trial within them: softer, it trembles where it lies in folds. Shells:
       density kg/m^2, stretch and shear m/N, bend 1/(N m), damping 1/s, friction, thickness m.
       Bending lengths (D / (density g))^(1/3) are 1.8 cm for silk, 3.4 cotton, 4 denim, 4.8 canvas, 5.5 leather, in the
       range of Peirce's cantilever test (ASTM D1388); rubber is 1 mm with E = 1 MPa. The damping of sheets was chosen
       by trial: what is let fall from two corners, 1 m wide, hangs still after 10 s. With it 1 m of canvas or leather
       that falls over a ball still swings by 1.2 cm/s after 5 s. It has landed after 1 s, with 0.3 m/s (rms), and a
       swing decays by half the damping, so that 2 ln(0.3 / 0.01) / (4 s) = 1.7 1/s leaves at most 1 cm/s. Drag is that
       of a plate across the wind, 1.2, and of a sphere, 0.47 (Hoerner 1965; all of a sphere's plates together make its
       coefficient). Solids: density kg/m^3, Young's modulus Pa, Poisson's ratio, damping 1/s, friction, thickness m. */
    static const float shells[7][7] = {{0.06f, 5e-5f, 2e-3f, 3e5f, 1.2f, 0.2f, 0.003f},  /* silk */
                                       {0.15f, 2e-5f, 1e-3f, 1.67e4f, 1.2f, 0.4f, 0.006f},  /* cotton */
                                       {0.40f, 1e-5f, 3e-4f, 4e3f, 1.2f, 0.5f, 0.010f},  /* denim */
                                       {0.50f, 3e-6f, 1e-4f, 1.8e3f, 1.7f, 0.5f, 0.010f}, /* canvas */
                                       {0.90f, 2e-5f, 1e-4f, 7e2f, 1.7f, 0.6f, 0.012f},  /* leather */
                                       {1.10f, 1e-3f, 1e-3f, 1e4f, 1.2f, 0.9f, 0.008f},  /* rubber sheet */
                                       {0.30f, 2e-3f, 2e-3f, 1e5f, 0.5f, 0.8f, 0.006f}}; /* balloon */
    static const float solids[4][6] = {{1000.0f, 1.0e4f, 0.45f, 1.0f, 0.4f, 0.01f},      /* jelly */
                                       {60.0f, 5.0e4f, 0.10f, 2.0f, 0.6f, 0.01f},        /* foam */
                                       {1050.0f, 6.0e4f, 0.45f, 2.0f, 0.5f, 0.01f},      /* flesh */
                                       {1100.0f, 1.0e6f, 0.47f, 0.5f, 0.8f, 0.01f}};     /* rubber */
    ipbd_body_desc d = ipbd_body_desc_default();
    if (preset >= IPBD_SILK && preset <= IPBD_BALLOON) {
        const float *m = shells[preset];
        d.density = m[0], d.stretch = ipbd_compliance(m[1]), d.shear = ipbd_compliance(m[2]),
        d.bend = ipbd_compliance(m[3]);
        d.damping = m[4], d.friction = m[5], d.thickness = m[6];
        d.wind_drag = preset == IPBD_BALLOON ? 0.47f : 1.2f, d.still_air = false;
        if (preset == IPBD_BALLOON) d.balloon = ipbd_compliance(0.0f);
    } else if (preset >= IPBD_JELLY && preset <= IPBD_RUBBER) {
        const float *m = solids[preset - IPBD_JELLY];
        d.density = m[0], d.young_modulus = m[1], d.poisson_ratio = m[2], d.damping = m[3], d.friction = m[4],
        d.thickness = m[5];
    } else if (preset == IPBD_ROPE) {
        d.line_density = 0.08f, d.stretch = ipbd_compliance(2e-5f), d.bend = ipbd_absent(), d.damping = 0.5f,
        d.thickness = 0.01f, d.friction = 0.5f;
    } else {
        d.cookie = 0;
    }
    return d;
}
ISPHPBD_API int ipbd_grid(int columns, int rows, float width, float depth, float *positions, uint32_t *triangles) {
    int i, j, count = 0;
    if (columns < 2 || rows < 2 || !positions || !triangles) return 0;
    for (j = 0; j < rows; ++j)
        for (i = 0; i < columns; ++i) {
            float *p = positions + 3 * (size_t)(i + columns * j);
            p[0] = width * ((float)i / (float)(columns - 1) - 0.5f), p[1] = 0.0f,
            p[2] = depth * ((float)j / (float)(rows - 1) - 0.5f);
        }
    for (j = 0; j + 1 < rows; ++j)
        for (i = 0; i + 1 < columns; ++i, count += 2) {
            uint32_t a = (uint32_t)(i + columns * j), b = a + 1, c = a + (uint32_t)columns, d = c + 1,
                     *t = triangles + 3 * (size_t)count;
            t[0] = a, t[1] = c, t[2] = b, t[3] = b, t[4] = c, t[5] = d;
        }
    return count;
}
ISPHPBD_API int ipbd_block(int nx, int ny, int nz, isphpbd_vec3 size, float *positions, uint32_t *tetrahedra) {
    /* six tetrahedra round the diagonal of a cell, one for each way along its edges; of positive volume */
    static const uint8_t corners[6][4] = {{0, 1, 3, 7}, {0, 1, 7, 5}, {0, 2, 7, 3},
                                          {0, 2, 6, 7}, {0, 4, 5, 7}, {0, 4, 7, 6}};
    int i, j, k, t, c, count = 0;
    if (nx < 1 || ny < 1 || nz < 1 || !positions || !tetrahedra) return 0;
    for (k = 0; k <= nz; ++k)
        for (j = 0; j <= ny; ++j)
            for (i = 0; i <= nx; ++i) {
                float *p = positions + 3 * (size_t)(i + (nx + 1) * (j + (ny + 1) * k));
                p[0] = size.x * ((float)i / (float)nx - 0.5f), p[1] = size.y * ((float)j / (float)ny - 0.5f),
                p[2] = size.z * ((float)k / (float)nz - 0.5f);
            }
    for (k = 0; k < nz; ++k)
        for (j = 0; j < ny; ++j)
            for (i = 0; i < nx; ++i)
                for (t = 0; t < 6; ++t, ++count)
                    for (c = 0; c < 4; ++c) {
                        const int corner = corners[t][c];
                        tetrahedra[4 * (size_t)count + (size_t)c] =
                            (uint32_t)((i + (corner & 1)) +
                                       (nx + 1) * ((j + (corner >> 1 & 1)) + (ny + 1) * (k + (corner >> 2))));
                    }
    return count;
}

/* ---- [assets] bytes made offline -> checked view --------------------------------------------------------------------
   Nothing is believed before the checksum, and no index after it. Format, version 1:
   Little-endian 32-bit words throughout. 40 words of header, then the sections in the order of ipbd_asset_section,
   each padded with zeros to a multiple of 16 bytes. Offsets follow from the counts: nothing can point astray.
       word 0, 1   magic "IPBD" "TETA"         word 2      version
       word 3      bytes of the header (160)   word 4, 5   bytes of the file, low and high
       word 6, 7   checksum, low and high      word 8      flags (IPBD_ASSET_*)
       word 9..23  counts of the sections      word 24..29 bounds: lower, upper corner (float)
       word 30..34 density, mass, volume, area, element size (float)
       word 35..39 zero
   Checksum: 64 bits over all words but the checksum's own, in order; each word enters by (h ^ word) * odd constant,
   then h ^= h >> 29. Both steps are one-to-one, so a change within one word never goes unnoticed. */

enum {
    IPBDX_ASSET_HEADER_WORDS = 40,
    IPBDX_ASSET_COUNTS = 9,  /* first word of the counts */
    IPBDX_ASSET_BOUNDS = 24, /* first word of the bounds */
    IPBDX_ASSET_NUMBERS = 30,
    IPBDX_ASSET_UNUSED = 35,
    IPBDX_ASSET_MOST = 1 << 27 /* elements of one section: keeps every product within int and size_t */
};

ISPHPBD_INLINE uint32_t ipbdx_asset_word(const void *bytes, size_t word) {
    const unsigned char *b = (const unsigned char *)bytes + 4 * word;
    return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

ISPHPBD_INLINE float ipbdx_asset_float(const void *bytes, size_t word) {
    uint32_t bits = ipbdx_asset_word(bytes, word);
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Words of one element, by section. */
ISPHPBD_INLINE uint32_t ipbdx_asset_width(int section) {
    static const unsigned char width[IPBD_ASSET_SECTION_COUNT] = {3, 1, 4, 1, 3, 2, 1, 1, 4, 1, 1, 1, 4, 3, 1};
    return width[section];
}

ISPHPBD_INLINE uint64_t ipbdx_asset_section_bytes(int section, uint32_t count) {
    return ((uint64_t)count * ipbdx_asset_width(section) * 4u + 15u) & ~(uint64_t)15u;
}

ISPHPBD_INLINE bool ipbdx_asset_in_place(const void *bytes) {
    const uint32_t one = 1;
    unsigned char low;
    memcpy(&low, &one, 1);
    return low == 1 && ((uintptr_t)bytes & 3u) == 0;
}

ISPHPBD_API size_t ipbd_asset_scratch_bytes(const void *bytes, size_t size) {
    return !bytes || ipbdx_asset_in_place(bytes) || size > (size_t)-1 - 3u ? 0 : size + 3u;
}

ISPHPBD_API uint64_t ipbd_asset_checksum(const void *bytes, size_t size) {
    uint64_t hash = UINT64_C(0x49504244);
    size_t i;
    for (i = 0; i < size / 4; ++i) {
        if (i != 6 && i != 7) hash = isphpbdx_hash_word(hash, ipbdx_asset_word(bytes, i));
    }
    return hash;
}

/* Header and size agree with each other and with what was handed in. */
static bool ipbdx_asset_sound(const void *bytes, size_t size) {
    uint64_t total = IPBDX_ASSET_HEADER_WORDS * 4u, sum;
    int i;
    if (size < total || size % 16 != 0) return false;
    if (ipbdx_asset_word(bytes, 0) != 0x44425049u || ipbdx_asset_word(bytes, 1) != 0x41544554u) return false;
    if (ipbdx_asset_word(bytes, 2) != IPBD_ASSET_VERSION || ipbdx_asset_word(bytes, 3) != total) return false;
    for (i = 0; i < IPBD_ASSET_SECTION_COUNT; ++i) {
        uint32_t count = ipbdx_asset_word(bytes, (size_t)(IPBDX_ASSET_COUNTS + i));
        if (count > IPBDX_ASSET_MOST) return false;
        total += ipbdx_asset_section_bytes(i, count);
    }
    if (total != size || (ipbdx_asset_word(bytes, 4) | (uint64_t)ipbdx_asset_word(bytes, 5) << 32) != total)
        return false;
    for (i = IPBDX_ASSET_UNUSED; i < IPBDX_ASSET_HEADER_WORDS; ++i) {
        if (ipbdx_asset_word(bytes, (size_t)i) != 0) return false;
    }
    sum = ipbdx_asset_word(bytes, 6) | (uint64_t)ipbdx_asset_word(bytes, 7) << 32;
    return sum == ipbd_asset_checksum(bytes, size);
}

/* The words as they are, or turned into this machine's order in scratch. */
static const void *ipbdx_asset_words(const void *bytes, size_t size, void *scratch, size_t scratch_size) {
    uint32_t *words;
    size_t i, skip;
    if (ipbdx_asset_in_place(bytes)) return bytes;
    skip = (4u - ((uintptr_t)scratch & 3u)) & 3u;
    if (!scratch || scratch_size < skip || scratch_size - skip < size) return NULL;
    words = (uint32_t *)(void *)((unsigned char *)scratch + skip);
    for (i = 0; i < size / 4; ++i) words[i] = ipbdx_asset_word(bytes, i);
    return words;
}

typedef struct ipbdx_asset_sections {
    const void *at[IPBD_ASSET_SECTION_COUNT];
    int count[IPBD_ASSET_SECTION_COUNT];
} ipbdx_asset_sections;

static void ipbdx_asset_split(const void *words, const void *bytes, ipbdx_asset_sections *sections) {
    size_t offset = IPBDX_ASSET_HEADER_WORDS * 4u;
    int i;
    for (i = 0; i < IPBD_ASSET_SECTION_COUNT; ++i) {
        uint32_t count = ipbdx_asset_word(bytes, (size_t)(IPBDX_ASSET_COUNTS + i));
        sections->at[i] = (const unsigned char *)words + offset;
        sections->count[i] = (int)count;
        offset += (size_t)ipbdx_asset_section_bytes(i, count);
    }
}

static void ipbdx_asset_fill(ipbd_asset *a, const ipbdx_asset_sections *s) {
    a->positions = (const float *)s->at[IPBD_ASSET_POSITIONS];
    a->vertex_count = s->count[IPBD_ASSET_POSITIONS];
    a->masses = (const float *)s->at[IPBD_ASSET_MASSES];
    a->tetrahedra = (const uint32_t *)s->at[IPBD_ASSET_TETRAHEDRA];
    a->tetrahedron_count = s->count[IPBD_ASSET_TETRAHEDRA];
    a->tetrahedron_colours = (const uint32_t *)s->at[IPBD_ASSET_TETRA_COLOURS];
    a->tetrahedron_colour_count = s->count[IPBD_ASSET_TETRA_COLOURS];
    a->triangles = (const uint32_t *)s->at[IPBD_ASSET_TRIANGLES];
    a->triangle_count = s->count[IPBD_ASSET_TRIANGLES];
    a->edges = (const uint32_t *)s->at[IPBD_ASSET_EDGES];
    a->edge_count = s->count[IPBD_ASSET_EDGES];
    a->edge_lengths = (const float *)s->at[IPBD_ASSET_EDGE_LENGTHS];
    a->edge_colours = (const uint32_t *)s->at[IPBD_ASSET_EDGE_COLOURS];
    a->edge_colour_count = s->count[IPBD_ASSET_EDGE_COLOURS];
    a->bends = (const uint32_t *)s->at[IPBD_ASSET_BENDS];
    a->bend_count = s->count[IPBD_ASSET_BENDS];
    a->bend_angles = (const float *)s->at[IPBD_ASSET_BEND_ANGLES];
    a->bend_colours = (const uint32_t *)s->at[IPBD_ASSET_BEND_COLOURS];
    a->bend_colour_count = s->count[IPBD_ASSET_BEND_COLOURS];
    a->skin_tetrahedra = (const uint32_t *)s->at[IPBD_ASSET_SKIN_TETRAHEDRA];
    a->skin_vertex_count = s->count[IPBD_ASSET_SKIN_TETRAHEDRA];
    a->skin_weights = (const float *)s->at[IPBD_ASSET_SKIN_WEIGHTS];
    a->skin_triangles = (const uint32_t *)s->at[IPBD_ASSET_SKIN_TRIANGLES];
    a->skin_triangle_count = s->count[IPBD_ASSET_SKIN_TRIANGLES];
    a->vertex_map = (const uint32_t *)s->at[IPBD_ASSET_VERTEX_MAP];
    a->input_vertex_count = s->count[IPBD_ASSET_VERTEX_MAP];
}

static void ipbdx_asset_numbers(ipbd_asset *a, const void *bytes) {
    a->flags = ipbdx_asset_word(bytes, 8);
    a->lower =
        isphpbd_v3(ipbdx_asset_float(bytes, IPBDX_ASSET_BOUNDS), ipbdx_asset_float(bytes, IPBDX_ASSET_BOUNDS + 1),
                   ipbdx_asset_float(bytes, IPBDX_ASSET_BOUNDS + 2));
    a->upper =
        isphpbd_v3(ipbdx_asset_float(bytes, IPBDX_ASSET_BOUNDS + 3), ipbdx_asset_float(bytes, IPBDX_ASSET_BOUNDS + 4),
                   ipbdx_asset_float(bytes, IPBDX_ASSET_BOUNDS + 5));
    a->density = ipbdx_asset_float(bytes, IPBDX_ASSET_NUMBERS);
    a->mass = ipbdx_asset_float(bytes, IPBDX_ASSET_NUMBERS + 1);
    a->volume = ipbdx_asset_float(bytes, IPBDX_ASSET_NUMBERS + 2);
    a->area = ipbdx_asset_float(bytes, IPBDX_ASSET_NUMBERS + 3);
    a->element_size = ipbdx_asset_float(bytes, IPBDX_ASSET_NUMBERS + 4);
}

/* count elements of width indices: in range, and no index twice within an element. */
static bool ipbdx_asset_indices_valid(const uint32_t *indices, int count, int width, int limit) {
    int i, k, j;
    for (i = 0; i < count; ++i) {
        const uint32_t *element = indices + (size_t)i * (size_t)width;
        for (k = 0; k < width; ++k) {
            if (element[k] >= (uint32_t)limit) return false;
            for (j = 0; j < k; ++j) {
                if (element[j] == element[k]) return false;
            }
        }
    }
    return true;
}

/* Finite, and at least lowest. */
static bool ipbdx_asset_floats_valid(const float *values, size_t count, float lowest) {
    size_t i;
    for (i = 0; i < count; ++i) {
        if (!isphpbdx_finite(values[i]) || values[i] < lowest) return false;
    }
    return true;
}

/* Ends of colours: increasing, the last is the end of the list. */
static bool ipbdx_asset_colours_valid(const uint32_t *ends, int colours, int count) {
    uint32_t last = 0;
    int i;
    for (i = 0; i < colours; ++i) {
        if (ends[i] <= last) return false;
        last = ends[i];
    }
    return last == (uint32_t)count;
}

static bool ipbdx_asset_lists_match(const ipbd_asset *a, const int *count) {
    bool solid = (a->flags & IPBD_ASSET_SOLID) != 0, shell = (a->flags & IPBD_ASSET_SHELL) != 0;
    if (solid == shell || (a->flags & ~(uint32_t)15u) || a->vertex_count == 0 || a->triangle_count == 0) return false;
    if (solid != (a->tetrahedron_count > 0) || (shell && a->skin_vertex_count > 0)) return false;
    return count[IPBD_ASSET_MASSES] == a->vertex_count && count[IPBD_ASSET_EDGE_LENGTHS] == a->edge_count &&
           count[IPBD_ASSET_BEND_ANGLES] == a->bend_count && count[IPBD_ASSET_SKIN_WEIGHTS] == a->skin_vertex_count;
}

static bool ipbdx_asset_skin_valid(const ipbd_asset *a) {
    int i;
    if (!ipbdx_asset_indices_valid(a->skin_tetrahedra, a->skin_vertex_count, 1, a->tetrahedron_count)) return false;
    if (!ipbdx_asset_indices_valid(a->skin_triangles, a->skin_triangle_count, 3, a->skin_vertex_count)) return false;
    for (i = 0; i < a->skin_vertex_count; ++i) {
        const float *w = a->skin_weights + 4 * (size_t)i;
        float sum = w[0] + w[1] + w[2] + w[3];
        if (!ipbdx_asset_floats_valid(w, 4, -1e3f) || !(isphpbdx_abs(sum - 1.0f) < 1e-3f)) return false;
    }
    return true;
}

static bool ipbdx_asset_map_valid(const ipbd_asset *a) {
    uint32_t limit = (uint32_t)(a->flags & IPBD_ASSET_SOLID ? a->skin_vertex_count : a->vertex_count);
    int i;
    for (i = 0; i < a->input_vertex_count; ++i) {
        if (a->vertex_map[i] >= limit && a->vertex_map[i] != IPBD_NO_VERTEX) return false;
    }
    return true;
}

static bool ipbdx_asset_valid(const ipbd_asset *a) {
    const float low = -3e38f;
    return ipbdx_asset_floats_valid(&a->density, 1, 0.0f) && ipbdx_asset_floats_valid(&a->mass, 1, 0.0f) &&
           ipbdx_asset_floats_valid(&a->volume, 1, 0.0f) && ipbdx_asset_floats_valid(&a->area, 1, 0.0f) &&
           ipbdx_asset_floats_valid(&a->element_size, 1, 0.0f) && isphpbdx_finite3(a->lower) &&
           isphpbdx_finite3(a->upper) && ipbdx_asset_floats_valid(a->positions, 3 * (size_t)a->vertex_count, low) &&
           ipbdx_asset_floats_valid(a->masses, (size_t)a->vertex_count, 1e-38f) &&
           ipbdx_asset_floats_valid(a->edge_lengths, (size_t)a->edge_count, 1e-38f) &&
           ipbdx_asset_floats_valid(a->bend_angles, (size_t)a->bend_count, -3.15f) &&
           ipbdx_asset_indices_valid(a->tetrahedra, a->tetrahedron_count, 4, a->vertex_count) &&
           ipbdx_asset_indices_valid(a->triangles, a->triangle_count, 3, a->vertex_count) &&
           ipbdx_asset_indices_valid(a->edges, a->edge_count, 2, a->vertex_count) &&
           ipbdx_asset_indices_valid(a->bends, a->bend_count, 4, a->vertex_count) &&
           ipbdx_asset_colours_valid(a->tetrahedron_colours, a->tetrahedron_colour_count, a->tetrahedron_count) &&
           ipbdx_asset_colours_valid(a->edge_colours, a->edge_colour_count, a->edge_count) &&
           ipbdx_asset_colours_valid(a->bend_colours, a->bend_colour_count, a->bend_count) &&
           ipbdx_asset_skin_valid(a) && ipbdx_asset_map_valid(a);
}

ISPHPBD_API isphpbd_result ipbd_asset_open(const void *bytes, size_t size, void *scratch, size_t scratch_size,
                                           ipbd_asset *asset) {
    ipbdx_asset_sections sections;
    const void *words;
    ipbd_asset opened;
    if (!asset) return ISPHPBD_BAD_ARGUMENT;
    memset(asset, 0, sizeof *asset);
    if (!bytes) return ISPHPBD_BAD_ARGUMENT;
    if (!ipbdx_asset_sound(bytes, size)) return ISPHPBD_BAD_SNAPSHOT;
    words = ipbdx_asset_words(bytes, size, scratch, scratch_size);
    if (!words) return ISPHPBD_CAPACITY;
    ipbdx_asset_split(words, bytes, &sections);
    memset(&opened, 0, sizeof opened);
    ipbdx_asset_fill(&opened, &sections);
    ipbdx_asset_numbers(&opened, bytes);
    if (!ipbdx_asset_lists_match(&opened, sections.count) || !ipbdx_asset_valid(&opened)) return ISPHPBD_BAD_MESH;
    *asset = opened;
    return ISPHPBD_OK;
}

ISPHPBD_API void ipbd_asset_apply(const ipbd_asset *asset, ipbd_body_desc *desc) {
    if (!asset || !desc) return;
    desc->mesh.positions = asset->positions;
    desc->mesh.stride_bytes = 3 * sizeof(float);
    desc->mesh.vertex_count = asset->vertex_count;
    desc->mesh.triangles = asset->triangles;
    desc->mesh.triangle_count = asset->triangle_count;
    desc->mesh.tetrahedra = asset->tetrahedron_count ? asset->tetrahedra : NULL;
    desc->mesh.tetrahedron_count = asset->tetrahedron_count;
    desc->masses = asset->masses;
    desc->weld_distance = 0.0f;
}

/* ---- [asset-skin] the embedded surface of a body made from an asset ---------------------------------------------- */

ISPHPBD_INLINE float *ipbdx_asset_at(float *base, size_t stride, uint32_t index) {
    return (float *)(void *)((unsigned char *)base + stride * index);
}

ISPHPBD_INLINE isphpbd_vec3 ipbdx_asset_body_vertex(const ipbd_view *view, uint32_t input_vertex) {
    const float *p = (const float *)(const void *)((const unsigned char *)view->positions +
                                                   view->stride_bytes * view->vertex_map[input_vertex]);
    return isphpbd_v3(p[0], p[1], p[2]);
}

static isphpbd_vec3 ipbdx_asset_skin_point(const ipbd_view *view, const ipbd_asset *asset, int vertex) {
    const uint32_t *corners = asset->tetrahedra + 4 * (size_t)asset->skin_tetrahedra[vertex];
    const float *weights = asset->skin_weights + 4 * (size_t)vertex;
    isphpbd_vec3 sum = isphpbd_v3(0.0f, 0.0f, 0.0f);
    int k;
    for (k = 0; k < 4; ++k) sum = isphpbdx_madd(sum, ipbdx_asset_body_vertex(view, corners[k]), weights[k]);
    return sum;
}

/* Every input vertex of the body is there and none was left out: else the body is not made from this asset. */
static bool ipbdx_asset_fits(const ipbd_view *view, const ipbd_asset *asset) {
    int i;
    if (!view->positions || view->input_vertex_count != asset->vertex_count) return false;
    for (i = 0; i < asset->vertex_count; ++i) {
        if (view->vertex_map[i] >= (uint32_t)view->vertex_count) return false;
    }
    return true;
}

static void ipbdx_asset_normals(const float *positions, float *normals, size_t stride, const uint32_t *triangles,
                                int count, int vertices) {
    int i, k;
    for (i = 0; i < vertices; ++i) memset(ipbdx_asset_at(normals, stride, (uint32_t)i), 0, 3 * sizeof(float));
    for (i = 0; i < count; ++i) {
        isphpbd_vec3 p[3], n;
        for (k = 0; k < 3; ++k) {
            memcpy(&p[k], (const unsigned char *)positions + stride * triangles[3 * (size_t)i + (size_t)k],
                   sizeof p[k]);
        }
        n = isphpbdx_cross(isphpbdx_sub(p[1], p[0]), isphpbdx_sub(p[2], p[0]));
        for (k = 0; k < 3; ++k) {
            float *out = ipbdx_asset_at(normals, stride, triangles[3 * (size_t)i + (size_t)k]);
            out[0] += n.x, out[1] += n.y, out[2] += n.z;
        }
    }
    for (i = 0; i < vertices; ++i) {
        float *out = ipbdx_asset_at(normals, stride, (uint32_t)i);
        float length = sqrtf(out[0] * out[0] + out[1] * out[1] + out[2] * out[2]),
              scale = length > 0.0f ? 1.0f / length : 0.0f;
        out[0] *= scale, out[1] *= scale, out[2] *= scale;
    }
}

ISPHPBD_API isphpbd_result ipbd_asset_read(const ipbd_world *world, ipbd_body body, const ipbd_asset *asset,
                                           float *positions, float *normals, size_t stride_bytes) {
    bool solid = asset && (asset->flags & IPBD_ASSET_SOLID);
    int count, i;
    ipbd_view view;
    if (!world || !asset || !positions || stride_bytes < 3 * sizeof(float) || stride_bytes % sizeof(float)) {
        return ISPHPBD_BAD_ARGUMENT;
    }
    view = ipbd_body_view(world, body);
    if (!view.positions) return ISPHPBD_BAD_HANDLE;
    if (!ipbdx_asset_fits(&view, asset)) return ISPHPBD_BAD_MESH;
    count = solid ? asset->skin_vertex_count : asset->vertex_count;
    for (i = 0; i < count; ++i) {
        isphpbd_vec3 p = solid ? ipbdx_asset_skin_point(&view, asset, i) : ipbdx_asset_body_vertex(&view, (uint32_t)i);
        memcpy(ipbdx_asset_at(positions, stride_bytes, (uint32_t)i), &p, sizeof p);
    }
    if (normals) {
        ipbdx_asset_normals(positions, normals, stride_bytes, solid ? asset->skin_triangles : asset->triangles,
                            solid ? asset->skin_triangle_count : asset->triangle_count, count);
    }
    return ISPHPBD_OK;
}

#undef IPBDX_WORLD_COOKIE
#undef IPBDX_BODY_COOKIE
#undef IPBDX_COLLIDER_COOKIE
#undef IPBDX_NONE
#undef IPBDX_TINY
#undef IPBDX_SLAB_VERTICES
#undef IPBDX_PAIR_BLOCK
#undef IPBDX_SEEK_BLOCK
#undef IPBDX_GROUP
#undef IPBDX_CROWD
#undef IPBDX_PLAN
#undef IPBDX_PI
#undef IPBDX_PUSH_SPEED
#undef IPBDX_PUSH_SHARE
#undef IPBDX_TETHERS
#undef IPBDX_TETHER_RETURN
#undef IPBDX_TETHER_SHARE
#undef IPBDX_FIRM
#undef IPBDX_FOOT
#undef IPBDX_ALERT
#undef IPBDX_LEAST_GAP
#undef IPBDX_REST_SPEED
#undef IPBDX_SWEEPS
#undef IPBDX_EDGES_HOLD
#undef IPBDX_MOST_SWEEPS
#undef IPBDX_SOFTER
#undef IPBDX_USUAL_STEP
#undef IPBDX_HEAVY_SHEET
#undef IPBDX_STIFFNESS_PERIOD
#undef IPBDX_HARDENING
#undef IPBDX_ADD
#undef IPBDX_SUB
#undef IPBDX_MUL
#undef IPBDX_ALL
#undef IPBDX_HOT
#undef IPBDX_FAR
#undef IPBDX_SWEEP_LOOKS
#undef IPBDX_SLIVER
#undef IPBDX_LIMIT
#undef IPBDX_MOST_IMPULSE
#undef IPBDX_STACK
#undef IPBDX_NEAR
#undef IPBDX_FACES
#undef IPBDX_CLAMP_ROUNDS
#undef IPBDX_FREEZING_ROUND
#undef IPBDX_HOLDS
#undef IPBDX_RELATIVE_ROUND
#undef IPBDX_FACE_ROUNDS
#undef IPBDX_FACE_LEVER
#undef IPBDX_BLOW_PASSES
#undef IPBDX_PARTS
#undef IPBDX_MAGIC

#ifdef __cplusplus
}
#endif
#endif /* ISPHPBD_PBD_IMPLEMENTED */
#endif /* ISPHPBD_IMPLEMENTATION || IPBD_IMPLEMENTATION */

/* MIT License

Copyright (c) 2026 the isphpbd authors

Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated
documentation files (the "Software"), to deal in the Software without restriction, including without limitation the
rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit
persons to whom the Software is furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the
Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE
WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR
COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR
OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE. */
