/* isphpbd.h - v0.1.0 - water, cloth, soft bodies and your rigid bodies in one world - SPDX-License-Identifier: MIT

DO THIS
    Put isphpbd.h, isphpbd_sph.h and isphpbd_pbd.h side by side. In exactly one C or C++ file:
        #define ISPHPBD_IMPLEMENTATION
        #include "isphpbd.h"
    Everywhere else include it plainly. Compile with -ffp-contract=off where bit-equal results across compilers matter;
    link with -lm.

WHAT IT IS (AND IS NOT)
    One world, stepped once per frame: liquids (isphpbd_sph.h), cloth, shells and soft solids (isphpbd_pbd.h), still and
    moving colliders, and the rigid bodies of your engine, all two-way coupled. Water stays on its side of a sheet of no
    thickness. Your engine keeps its bodies: state in, impulses out. The work per frame is bounded by a budget.
    It is no rigid-body engine: bodies and colliders do not meet each other here. It does not render.

QUICK START
    /--- quick start
    #include <stdio.h>
    #define ISPHPBD_IMPLEMENTATION
    #include "isphpbd.h"

    int main(void) {
        isphpbd_world_desc desc = isphpbd_world_desc_default();
        isphpbd_fluid_desc water = isphpbd_fluid_desc_default();
        isphpbd_collider_desc tank = isphpbd_collider_desc_default();
        isphpbd_body_desc crate = isphpbd_body_desc_default();
        isphpbd_motion at = isphpbd_motion_at(isphpbd_v3(0.0f, 0.7f, 0.0f));
        isphpbd_result why;
        isphpbd_world *world = isphpbd_world_create(&desc, &why);
        isphpbd_fluid fluid;
        isphpbd_body body;
        int frame;
        if (!world) return printf("%s\n", isphpbd_result_text(why)), 1;
        fluid = isphpbd_fluid_create(world, &water, &why);
        tank.shape = isphpbd_shape_box(0.5f, 0.5f, 0.5f), tank.container = true, tank.pose.position.y = 0.5f;
        isphpbd_collider_create(world, &tank, &why);
        isphpbd_fluid_add_box(world, fluid, isphpbd_v3(-0.5f, 0.0f, -0.5f), isphpbd_v3(0.5f, 0.4f, 0.5f),
                              isphpbd_v3(0.0f, 0.0f, 0.0f), NULL);
        crate.shape = isphpbd_shape_box(0.1f, 0.1f, 0.1f), crate.mass = 4.0f, crate.motion = at;
        body = isphpbd_body_create(world, &crate, &why);
        for (frame = 0; frame < 120; ++frame) {
            isphpbd_impulse push;
            isphpbd_body_put(world, body, &at);
            isphpbd_world_advance(world, 1.0f / 60.0f);
            isphpbd_body_take(world, body, &push);
            at.linear_velocity.y += push.linear.y / crate.mass - 9.81f / 60.0f;
            at.pose.position.y += at.linear_velocity.y / 60.0f;
            if (frame % 30 == 29) printf("the crate is at %.2f m\n", (double)at.pose.position.y);
        }
        isphpbd_world_destroy(world);
        return 0;
    }
    ---/

CONTENTS (search for the tag in brackets)
    [handles] objects by value                 [world] creation, capacities, budget, settings
    [stepping] steps and frames                [fluids] water, emitters
    [shapes] [colliders] and sinks             [bodies] of your engine
    [softs] cloth and soft solids              [reading] views, statistics, snapshots, debug draw
    Implementation:
    [world-state] [coupling] [coupling-...] [create] [settings] [previous] [fluids] [emitters] [shapes] [solids]
    [bodies] [sinks] [softs] [fill] [solids-step] [softs-step] [pace] [step] [reading] [origin] [snapshot] [draw]

CONFIGURATION
    ISPHPBD_STATIC      everything static in this file     ISPHPBD_API         your own linkage
    ISPHPBD_NO_SIMD     plain C instead of SSE2            ISPHPBD_NO_OPENMP   no built-in OpenMP runner
    ISPHPBD_NO_STDLIB   no malloc: an allocator is required
    Define the same in every file that includes the header. isphpbd_sph.h and isphpbd_pbd.h come with it: include them
    before, after or not at all, with their own implementation macros or without.

MEMORY
    Three allocations at creation, for the world, its fluid and its soft bodies; isphpbd_world_bytes() tells their sum
    to the byte: 94 MB at default settings. Stepping, moving, reading, saving and loading never allocate. Creating soft
    bodies and heightfields borrows a block and gives it back before the call returns.

THREADS
    Give a runner (isphpbd_parallel) or compile with OpenMP. Different worlds may step on different threads at once,
    without locks; one world belongs to one thread at a time. Calls that change the world answer LOCKED from inside
    its callbacks (runner, clock, on_substep); calls of its inner solvers that would go behind its back always do.

DETERMINISM
    Counted budgets give the same bits for any number of threads, SSE2 or plain C, gcc or clang, C or C++, -O0 to -O3,
    and after a snapshot, on the conditions named in the two other headers. A deadline looks at a clock: what it cuts
    depends on the machine. isphpbd_world_hash() is there to check it.

NUMERICS AND UNITS
    SI throughout. What the two other headers say about sizes, steps and limits holds here. A step is divided into
    substeps by the fastest of water, colliders, bodies and wet cloth, up to budget.substeps; each of them is one
    substep of the fluid and some of the soft bodies. Bodies are predicted inside a step; their host should give their
    motion before every step and not correct it by more than a spacing. Soft bodies meet colliders by their vertices,
    water meets soft bodies by their triangles, which should not be much smaller than a spacing. A heightfield is a
    closed block for water: of capacity.mesh_triangles it takes two per cell and 6 (columns + rows - 2) for the rest.
    Water and soft bodies take rounds within a substep: a pressure solve that believes the walls to move in some way,
    and the constraints that move them. budget.outer_iterations allows more than the default of one; they start from the
    same place with the walls as the constraints moved them, until both agree to desc.coupling_tolerance. The difference
    falls to about a sixth per round (cloth at rest: 24, 3, 0.04 mm/s after 1, 2, 4), and each costs half to two thirds
    of a substep, most of it constraints. One is the default because light things rest more calmly with it: with four
    and more, cloth under a full basin and a full balloon moved about twice as fast. Perhaps what water and cloth
    disagree about is lost as in an inelastic impact, and without that loss the noise of the particles goes on.
    With a deadline, further rounds go first, then solves end early, then a step takes several calls. The smallest unit
    of work is some tens of microseconds of the fluid, or all soft substeps within one substep. Until a step is done,
    views show its last finished substep; what you put and move counts from the next step on; what you add or remove
    makes the substep under way begin again.

ERRORS
    Calls that can fail answer an isphpbd_result, or a null handle and *why, and have changed nothing unless it is
    ISPHPBD_OK. The logger tells in words what was wrong, once; where a solver inside refuses something, in its words
    (particle_capacity is then capacity.fluid_particles). Steps answer a bit field that names the limit to raise; the
    logger gets a warning when a kind of flag comes for the first time in the life of the world. A particle that has no
    place on its side takes a neighbour's (stats.returned), else it is removed and counted; nothing that is not finite
    spreads. Water remembers which closed shell it is inside of, if any: a particle that got through is put back in the
    same way within eight substeps. Where you add or move water, or put a shell, is where it belongs, but for the inside
    of solids: there it joins other water, and is removed where there is none.

READING
    Abu Rumman, Nair, Mueller, Barthe, Vanderhaeghe: ISPH-PBD: coupled simulation of incompressible fluids and
    deformable bodies, The Visual Computer 36 (2020). Becker, Tessendorf, Teschner: Direct forcing for Lagrangian
    rigid-fluid coupling, IEEE TVCG (2009).

CHANGES
    0.1.0  first version
*/
#ifndef ISPHPBD_INCLUDED
#define ISPHPBD_INCLUDED

#include "isphpbd_pbd.h"
#include "isphpbd_sph.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What holds for every call below, unless its comment says otherwise.
   Cost: constant time, but for a look through the capacity of the pool where something is created.
   Failure: the call has changed nothing and answers an isphpbd_result, or a null handle with the result in *why. A NULL
   world or pointer, or a number that is not finite or out of range, is BAD_ARGUMENT; in a desc, or for a desc that is
   NULL, BAD_DESC. A null, stale or foreign handle is BAD_HANDLE. Calls that only read and have no result answer 0,
   false or an empty view. `why`, `added`, `ids` and `velocities` may be NULL.
   Descs: X_desc_default() fills one with the defaults that stand beside the fields, and a cookie without which it is
   refused.
   LOCKED: what changes the world, inside a callback.
   While a step is unfinished (deadline), what adds or removes things, or changes settings, makes the substep under way
   begin again.
   Positions are at most 2^18 spacings from the origin along each axis, velocities of bodies at most 1e4 m/s and rad/s,
   rotations of length 1 to within 1 % (they are normalised), lengths and heights at most 1e6 m. Descs, meshes and
   arrays are read during the call and never kept. */

/* ==== [handles] ======================================================================================================
   By value; all zero is null. A handle knows its world: another one that lives at the same time refuses it. Stale ones
   are refused too. When a world is destroyed, forget its handles: one made later, where it was in memory, may take them
   for its own (whatever they name there, no memory is harmed). What is inside means nothing to you. */
typedef struct isphpbd_world isphpbd_world;
typedef struct isphpbd_fluid {
    uint32_t id, world;
} isphpbd_fluid;
typedef struct isphpbd_emitter {
    uint32_t id, world;
} isphpbd_emitter;
typedef struct isphpbd_sink {
    uint32_t id, world;
} isphpbd_sink;
typedef struct isphpbd_soft {
    uint32_t id, world;
} isphpbd_soft;
typedef struct isphpbd_collider {
    uint32_t id, world;
} isphpbd_collider;
typedef struct isphpbd_body {
    uint32_t id, world;
} isphpbd_body;

/* Two things meet if (a.layer & b.mask) && (b.layer & a.mask): fluids, soft bodies, colliders and bodies alike. Fluids
   among each other always do. */

/* ==== [world] ======================================================================================================*/
typedef struct isphpbd_capacity { /* fixed at creation: all memory is taken then */
    int fluid_particles;          /* default 32768, at most 2^24; 0 counts as 1: enough for a world of cloth alone */
    int fluids;                   /* default 8, 1 .. 32 */
    int emitters, sinks;          /* default 16 each, at most 65535 */
    int colliders;                /* still and moving ones, default 64; with bodies at most 65535 */
    int bodies;                   /* of the host, default 64 */
    int mesh_triangles;           /* of colliders and bodies together, default 16384, at most 2^24 */
    ipbd_capacity soft;           /* of soft bodies; its collider numbers are filled in from the ones above. Default
                                     ipbd_world_desc_default().capacity */
} isphpbd_capacity;

/* Counted work gives the same result everywhere. The deadline does not: it looks at your clock. */
typedef struct isphpbd_budget {
    int steps_per_advance;     /* 1 .. 1000, default 2; time beyond is dropped and reported */
    int substeps;              /* per step, 1 .. 1000, default 8: cap of what speed asks for */
    int pressure_iterations;   /* cap per substep, pressure + density, 1 .. 100000, default 50 */
    int soft_substeps;         /* of cloth and soft bodies per step, 1 .. 1000, default 12; at least one per substep. Up
                                  to four times as many, where they would be long, while water lies on any soft body,
                                  but not when the deadline presses */
    int constraint_iterations; /* per soft substep, 1 .. 1000, default 1 */
    int outer_iterations;      /* rounds of pressure + constraints per substep, 1 .. 16, default 1; see NUMERICS */
    float deadline_seconds;    /* of one advance or step by desc.clock, without which it is refused; 0 (default): none;
                                  at most 1000. Work that does not fit is cut down, then spread over the next calls: the
                                  world runs slower than the game */
} isphpbd_budget;

/* Called at the end of every substep, when particles, soft vertices and bodies are where they are at its end (what
   emitters bring and sinks take comes after). Only functions that take a const world; others answer LOCKED. */
typedef struct isphpbd_substep_watch {
    void (*fn)(const isphpbd_world *world, float seconds, void *user); /* seconds: of the substep. NULL: none */
    void *user;                                                        /* yours, handed to fn */
} isphpbd_substep_watch;

/* How fluid and rigid bodies find their common velocities (Becker et al. 2009: local and global direct forcing). */
typedef enum isphpbd_rigid_scheme {
    ISPHPBD_RIGID_GLOBAL = 0, /* six degrees of freedom of every body inside the pressure solve, then a 6x6 solve */
    ISPHPBD_RIGID_LOCAL       /* every touching particle for itself: cheaper, looser */
} isphpbd_rigid_scheme;

typedef struct isphpbd_world_desc {
    isphpbd_vec3 gravity;     /* m/s^2, default 0 -9.81 0; less than 1e6 long */
    isphpbd_vec3 wind;        /* m/s, on soft bodies with wind_drag, default 0; at most 1e4 along each axis */
    float step_seconds;       /* s, 1e-5 .. 0.1, default 1/60: isphpbd_world_advance() makes steps of this length */
    float spacing;            /* m, default 0.05: distance of fluid particles at rest; everything scales with it */
    float support;            /* in spacings, default 2.0; this and the next four as in isph_fluid_desc */
    isph_solver solver;       /* default ISPH_SOLVER_INCOMPRESSIBLE */
    bool density_projection;  /* default true: keeps the volume; false only for comparison */
    float cfl;                /* spacings that water may move per substep, default 1 */
    float tolerance;          /* of the pressure solve, >= 0 and < 1, default 0.05 */
    float coupling_tolerance; /* m/s, default 0.5e-3: rounds are made until stats.coupling_mismatch is below it */
    isphpbd_rigid_scheme rigid_scheme; /* default ISPHPBD_RIGID_GLOBAL */
    bool interpolation; /* default true: keeps the previous positions for rendering between steps, 16 bytes per particle
                           and 12 per soft vertex */
    isphpbd_budget budget;            /* defaults as above */
    isphpbd_capacity capacity;        /* defaults as above */
    isphpbd_allocator allocator;      /* default malloc */
    isphpbd_parallel parallel;        /* default OpenMP where compiled in, else serial */
    isphpbd_logger logger;            /* default silent; see ERRORS */
    isphpbd_clock clock;              /* default none: no stage timers, no deadline */
    double ticks_per_second;          /* of the clock, > 0, default 1e9 */
    isphpbd_substep_watch on_substep; /* default none */
    uint32_t cookie;                  /* set by isphpbd_world_desc_default(); do not touch */
} isphpbd_world_desc;

ISPHPBD_API isphpbd_world_desc isphpbd_world_desc_default(void);
/* Bytes that create will take in all; 0 when the desc is bad. */
ISPHPBD_API size_t isphpbd_world_bytes(const isphpbd_world_desc *desc);
/* An empty world; NULL on failure: BAD_DESC or OUT_OF_MEMORY, BAD_ARGUMENT without a desc. The memory is cleared:
   linear in its size, about 20 ms at default settings. */
ISPHPBD_API isphpbd_world *isphpbd_world_create(const isphpbd_world_desc *desc, isphpbd_result *why);
/* Gives all memory back, with everything in it. NULL is fine; does nothing inside a callback. */
ISPHPBD_API void isphpbd_world_destroy(isphpbd_world *world);
/* Of the implementation; compare with ISPHPBD_VERSION of the header. */
ISPHPBD_API int isphpbd_version(void);
/* From the next substep on, with units and ranges as in the desc. Gravity wakes all soft bodies, wind those that feel
   it: linear in soft bodies. */
ISPHPBD_API isphpbd_result isphpbd_world_set_gravity(isphpbd_world *world, isphpbd_vec3 gravity);
ISPHPBD_API isphpbd_result isphpbd_world_set_wind(isphpbd_world *world, isphpbd_vec3 wind);
ISPHPBD_API isphpbd_result isphpbd_world_set_budget(isphpbd_world *world, const isphpbd_budget *budget);
/* Adds offset (m) to every position, pose and target: keeps large worlds near the origin. BAD_ARGUMENT if something
   would be out of range then. Linear in particles and soft vertices. */
ISPHPBD_API isphpbd_result isphpbd_world_shift_origin(isphpbd_world *world, isphpbd_vec3 offset);

/* The solvers inside, for their own calls: reading, pins, wind, particle edits, embedded meshes. Stepping, destroying,
   loading, hooks, gravity, budget, colliders, and making or removing bodies belong to the world and are refused
   (LOCKED). They live as long as the world. */
ISPHPBD_API isph_fluid *isphpbd_world_fluids(isphpbd_world *world);
ISPHPBD_API ipbd_world *isphpbd_world_softs(isphpbd_world *world);

/* ==== [stepping] ===================================================================================================*/
enum {                                    /* what was cut, and what to raise */
       ISPHPBD_STEP_PRESSURE_CAPPED = 1,  /* budget.pressure_iterations: the residual is in the stats */
       ISPHPBD_STEP_SUBSTEPS_CAPPED = 2,  /* budget.substeps: the fastest were held back */
       ISPHPBD_STEP_COUPLING_CAPPED = 4,  /* budget.outer_iterations: stats.coupling_mismatch above the tolerance */
       ISPHPBD_STEP_TIME_DROPPED = 8,     /* budget.steps_per_advance: info.dropped_seconds */
       ISPHPBD_STEP_DEADLINE = 16,        /* the deadline cut iterations or left a step unfinished */
       ISPHPBD_STEP_EMITTER_STARVED = 32, /* capacity.fluid_particles: an emitter could not emit */
       ISPHPBD_STEP_CULLED = 64,          /* particles that could not be saved were removed; counted in the stats */
       ISPHPBD_STEP_QUARANTINED = 128,    /* something not finite was put to rest */
       ISPHPBD_STEP_CROWDED = 256,        /* particles on top of each other are being spread */
       ISPHPBD_STEP_CONTACTS_FULL = 512,  /* capacity.soft.contacts: some contacts of soft bodies were ignored */
       ISPHPBD_STEP_REFUSED = 1024,       /* no world, bad time, or inside a callback: nothing happened */
       ISPHPBD_STEP_SPEED_CLAMPED = 2048, /* water beyond 1000 spacings per second, or 50 m/s, was slowed down to it,
                                             or a soft body to 500 m/s */
       ISPHPBD_STEP_WALLS_CAPPED = 4096,  /* a particle met more than 6 walls at once; the farthest were ignored */
       ISPHPBD_STEP_FROZEN = 8192         /* budget.soft_substeps: colliding soft parts moved as one piece for one */
};
typedef struct isphpbd_step_info {
    int steps;             /* finished now */
    uint32_t flags;        /* ISPHPBD_STEP_* */
    float alpha;           /* 0 .. 1: where between the last two states the frame is; see isphpbd_fluid_points() */
    float dropped_seconds; /* that will never be simulated */
} isphpbd_step_info;

/* One step of `seconds` (1e-6 .. 0.1), in substeps. With a deadline it may take several calls; info.steps is 1 when it
   is done, and until then `seconds` is that of the first call. Never allocates. Per substep linear in particles, soft
   vertices and constraints, times the iterations of the budget. */
ISPHPBD_API isphpbd_step_info isphpbd_world_step(isphpbd_world *world, float seconds);
/* A frame of `frame_seconds` (0 .. 1e9): as many steps of desc.step_seconds as have come due, at most
   budget.steps_per_advance. Whole steps that are due beyond those are dropped; what is less than a step is owed to the
   next call and tells info.alpha. */
ISPHPBD_API isphpbd_step_info isphpbd_world_advance(isphpbd_world *world, float frame_seconds);

/* ==== [fluids] =====================================================================================================*/
typedef struct isphpbd_fluid_desc {
    isph_material_desc material; /* default water */
    uint32_t layer, mask;        /* default 1, ~0 */
    uint32_t cookie;             /* here and below: set by the default function; do not touch */
} isphpbd_fluid_desc;
ISPHPBD_API isphpbd_fluid_desc isphpbd_fluid_desc_default(void);
/* A liquid without particles; it stays for good, see isphpbd_fluid_clear(). BAD_DESC, or CAPACITY for
   capacity.fluids. Linear in colliders, bodies and soft bodies, which learn whether they meet it. */
ISPHPBD_API isphpbd_fluid isphpbd_fluid_create(isphpbd_world *world, const isphpbd_fluid_desc *desc,
                                               isphpbd_result *why);
/* Adds a box of water, or particles one by one: see isph_particles_add_box() and isph_particles_add() for units and
   refusals. All or none; CAPACITY for capacity.fluid_particles. Linear in all particles. */
ISPHPBD_API isphpbd_result isphpbd_fluid_add_box(isphpbd_world *world, isphpbd_fluid fluid, isphpbd_vec3 lo,
                                                 isphpbd_vec3 hi, isphpbd_vec3 velocity, int *added);
ISPHPBD_API isphpbd_result isphpbd_fluid_add(isphpbd_world *world, isphpbd_fluid fluid, const float *positions,
                                             size_t position_stride, const float *velocities, size_t velocity_stride,
                                             int count, uint32_t *ids);
/* Fills the inside of a closed shell with particles on a lattice, at least `gap` (m, 0 to 1000 spacings) off its
   surface and with its mean velocity: water balloons. A gap of 0 to a tenth of a spacing gives the right volume of
   water. All or none. From then on the water keeps the volume: a shell that kept its own without giving way
   (IPBD_BALLOON) no longer does, as if by a balloon_pressure of 0, because two that hold one volume never rest. One
   with air in it (a compliance > 0) goes on. BAD_ARGUMENT for a body that is open or solid. Costs points of the lattice
   in its box * triangles, so it may stall, and is refused (CAPACITY) where those points are a thousand times as many as
   fit. */
ISPHPBD_API isphpbd_result isphpbd_fluid_fill_soft(isphpbd_world *world, isphpbd_fluid fluid, isphpbd_soft soft,
                                                   float gap, int *added);
/* Removes all particles of the fluid and answers how many (0 where it is refused); the fluid itself stays. Linear in
   all particles. */
ISPHPBD_API int isphpbd_fluid_clear(isphpbd_world *world, isphpbd_fluid fluid);

typedef struct isphpbd_emitter_desc {
    isphpbd_fluid fluid;    /* must be given, else BAD_HANDLE */
    isphpbd_vec3 position;  /* m, centre of the mouth, default 0 */
    isphpbd_vec3 direction; /* any length > 0, default 0 -1 0 */
    float radius;           /* m, of a round mouth, default 0.1; 0: a rectangle of half_width x half_height. These three
                               at most 1000 spacings */
    float half_width;       /* m, across `direction` and nearest to world x (or z), default 0.1 */
    float half_height;      /* m, across both, default 0.1 */
    float speed;            /* m/s, 1e-6 .. 1e4, default 1: gives one layer of particles per spacing / speed */
    float lifetime;         /* s that its particles live, 0 (default): for ever */
    float duration;         /* s that it emits, 0 (default): for ever */
    uint32_t cookie;
} isphpbd_emitter_desc;
ISPHPBD_API isphpbd_emitter_desc isphpbd_emitter_desc_default(void);
/* It emits from the next step on, the first layer at once; where particles do not fit, less comes out and a flag says
   so. In a step it costs what it emits. BAD_DESC, BAD_HANDLE for the fluid, or CAPACITY for capacity.emitters. */
ISPHPBD_API isphpbd_emitter isphpbd_emitter_create(isphpbd_world *world, const isphpbd_emitter_desc *desc,
                                                   isphpbd_result *why);
/* Its particles stay, and so do their lifetimes. */
ISPHPBD_API isphpbd_result isphpbd_emitter_destroy(isphpbd_world *world, isphpbd_emitter emitter);
/* Moves or retunes it, with the units and ranges of the desc; speed 0 pauses. */
ISPHPBD_API isphpbd_result isphpbd_emitter_set(isphpbd_world *world, isphpbd_emitter emitter, isphpbd_vec3 position,
                                               isphpbd_vec3 direction, float speed);
ISPHPBD_API int64_t isphpbd_emitter_count(const isphpbd_world *world, isphpbd_emitter emitter); /* emitted so far */

/* ==== [shapes] =====================================================================================================*/
typedef enum isphpbd_shape_type {
    ISPHPBD_SHAPE_PLANE = 1,  /* solid below the local xz plane */
    ISPHPBD_SHAPE_SPHERE,     /* radius */
    ISPHPBD_SHAPE_CAPSULE,    /* radius, half_height of its segment along local y */
    ISPHPBD_SHAPE_BOX,        /* half_extents */
    ISPHPBD_SHAPE_SHELL,      /* mesh: any triangles, no thickness, wet on both sides */
    ISPHPBD_SHAPE_SOLID,      /* mesh: closed, counter-clockwise seen from outside, else BAD_MESH; what is inside is
                                 pushed out */
    ISPHPBD_SHAPE_HEIGHTFIELD /* heights over the xz plane, columns x rows, x fastest, centred: ground */
} isphpbd_shape_type;
typedef struct isphpbd_mesh {  /* a view: read during the call, never kept */
    const float *positions;    /* m; x, y, z at the start of every stride */
    size_t stride_bytes;       /* >= 12 and a multiple of 4; default 12 */
    int vertex_count;          /* 3 .. 2^24 */
    const uint32_t *triangles; /* 3 indices each */
    int triangle_count;        /* 1 .. 2^24 */
} isphpbd_mesh;
typedef struct isphpbd_shape {
    isphpbd_shape_type type;   /* says which of the others are read */
    isphpbd_vec3 half_extents; /* m, >= 1e-6 */
    float radius, half_height; /* m, >= 1e-6; half_height >= 0 */
    isphpbd_mesh mesh;         /* positions in local coordinates */
    const float *heights;      /* m */
    int columns, rows;         /* 2 .. 8192 each */
    float cell;                /* m between neighbouring heights, >= 1e-6 */
} isphpbd_shape;
/* Shorthands, a few stores each; positions have a stride of 12. Nothing is checked or copied before the shape is used,
   so arrays must live until then. */
ISPHPBD_API isphpbd_shape isphpbd_shape_plane(void);
ISPHPBD_API isphpbd_shape isphpbd_shape_sphere(float radius);
ISPHPBD_API isphpbd_shape isphpbd_shape_capsule(float radius, float half_height);
ISPHPBD_API isphpbd_shape isphpbd_shape_box(float half_x, float half_y, float half_z);
ISPHPBD_API isphpbd_shape isphpbd_shape_shell(const float *positions, int vertices, const uint32_t *triangles,
                                              int count);
ISPHPBD_API isphpbd_shape isphpbd_shape_solid(const float *positions, int vertices, const uint32_t *triangles,
                                              int count);
ISPHPBD_API isphpbd_shape isphpbd_shape_heightfield(const float *heights, int columns, int rows, float cell);

typedef struct isphpbd_pose {
    isphpbd_vec3 position; /* m */
    isphpbd_quat rotation; /* unit, from local to world axes */
} isphpbd_pose;
typedef struct isphpbd_motion {
    isphpbd_pose pose;             /* of the centre of mass */
    isphpbd_vec3 linear_velocity;  /* m/s */
    isphpbd_vec3 angular_velocity; /* rad/s, world axes */
} isphpbd_motion;
typedef struct isphpbd_impulse {
    isphpbd_vec3 linear;  /* N s */
    isphpbd_vec3 angular; /* N m s about the pose's position, world axes */
} isphpbd_impulse;
ISPHPBD_API isphpbd_pose isphpbd_pose_at(isphpbd_vec3 position);     /* no rotation */
ISPHPBD_API isphpbd_motion isphpbd_motion_at(isphpbd_vec3 position); /* no rotation, at rest */

/* What a surface does to what touches it, for colliders, bodies and soft bodies. */
typedef struct isphpbd_surface {
    float slip;        /* 0 .. 1, default 1: 1 lets water slide freely (but for its viscosity), 0 holds it: no slip */
    float restitution; /* 0 .. 1, default 0: share of the approach speed with which water bounces off; not off soft
                          bodies */
    float friction;    /* Coulomb, >= 0, default 0.3: of colliders and bodies against soft bodies, whose own is in their
                          ipbd_body_desc; the larger counts */
} isphpbd_surface;

/* ==== [colliders] still, or moved by you: they push and are not pushed =============================================*/
typedef struct isphpbd_collider_desc {
    isphpbd_shape shape; /* default plane */
    bool container;      /* default false; true: box, sphere, capsule are hollow and hold everything inside; any other
                            shape is refused */
    isphpbd_pose pose;   /* default identity */
    isphpbd_surface surface;
    uint32_t layer, mask; /* default 1, ~0 */
    uint32_t cookie;
} isphpbd_collider_desc;
ISPHPBD_API isphpbd_collider_desc isphpbd_collider_desc_default(void);
/* BAD_DESC, BAD_MESH for the mesh of a shell or solid, or CAPACITY for capacity.colliders or capacity.mesh_triangles.
   Arrays are copied. A mesh or heightfield costs O(n log n) in its triangles: it may stall a frame. */
ISPHPBD_API isphpbd_collider isphpbd_collider_create(isphpbd_world *world, const isphpbd_collider_desc *desc,
                                                     isphpbd_result *why);
/* Vertices attached to it are free again. Linear in soft vertices, and in the triangles of later meshes. */
ISPHPBD_API isphpbd_result isphpbd_collider_destroy(isphpbd_world *world, isphpbd_collider collider);
/* Where it shall be at the end of the next step; it gets there evenly, pushing what is in the way. */
ISPHPBD_API isphpbd_result isphpbd_collider_move(isphpbd_world *world, isphpbd_collider collider, isphpbd_pose pose);
/* At once, without sweeping along; what it lands on is pushed out. */
ISPHPBD_API isphpbd_result isphpbd_collider_teleport(isphpbd_world *world, isphpbd_collider collider,
                                                     isphpbd_pose pose);
/* Where it is now: at the end of the last substep, or where it was teleported to since. */
ISPHPBD_API isphpbd_result isphpbd_collider_pose(const isphpbd_world *world, isphpbd_collider collider,
                                                 isphpbd_pose *pose);
/* What water and soft bodies did to it since the last call; reading clears it, and is LOCKED like a change. */
ISPHPBD_API isphpbd_result isphpbd_collider_take(isphpbd_world *world, isphpbd_collider collider,
                                                 isphpbd_impulse *impulse);

/* A region that swallows water at the end of every step: a box, sphere or capsule, any other is BAD_ARGUMENT. `mask`
   says which fluids, by their layers. CAPACITY for capacity.sinks. A step with sinks costs particles * sinks more. */
ISPHPBD_API isphpbd_sink isphpbd_sink_create(isphpbd_world *world, const isphpbd_shape *shape, isphpbd_pose pose,
                                             uint32_t mask, isphpbd_result *why);
/* What it swallowed stays gone. */
ISPHPBD_API isphpbd_result isphpbd_sink_destroy(isphpbd_world *world, isphpbd_sink sink);
ISPHPBD_API int64_t isphpbd_sink_count(const isphpbd_world *world, isphpbd_sink sink); /* swallowed so far */

/* ==== [bodies] rigid bodies of the host engine ======================================================================
   Before every step give each body's motion; after it take the impulse, add impulse / mass to the host's velocity (and
   the angular one), and let the host do its gravity, contacts and joints. Inside a step the world predicts the body by
   its velocity, gravity * gravity_scale, and what water and soft bodies do to it; the host's body is never moved. */
typedef struct isphpbd_body_desc {
    isphpbd_shape shape;   /* default sphere of 0.5 m; its origin is the centre of mass. No plane or heightfield */
    float mass;            /* kg, 1e-9 .. 1e12, default 1 */
    isphpbd_vec3 inertia;  /* kg m^2 about the local axes, each 1e-20 .. 1e20; 0 0 0 (default): that of the filled
                              shape, for a shell that of its surface */
    bool one_way;          /* default false; true: pushes water and soft bodies and is not pushed (the impulse is still
                              measured) */
    float gravity_scale;   /* default 1, within 1000: share of the world's gravity that the host will apply to it */
    isphpbd_motion motion; /* at the start; default at rest in the origin */
    isphpbd_surface surface;
    uint32_t layer, mask; /* default 1, ~0 */
    uint32_t cookie;
} isphpbd_body_desc;
ISPHPBD_API isphpbd_body_desc isphpbd_body_desc_default(void);
/* Refused and costs like isphpbd_collider_create(), with capacity.bodies. */
ISPHPBD_API isphpbd_body isphpbd_body_create(isphpbd_world *world, const isphpbd_body_desc *desc, isphpbd_result *why);
/* As isphpbd_collider_destroy(). An impulse that was not taken is lost. */
ISPHPBD_API isphpbd_result isphpbd_body_destroy(isphpbd_world *world, isphpbd_body body);
/* State in, from the next step on. A position farther than two spacings from where the world predicted it counts as a
   teleport: soft bodies are not swept along. */
ISPHPBD_API isphpbd_result isphpbd_body_put(isphpbd_world *world, isphpbd_body body, const isphpbd_motion *motion);
/* Impulses out: since the last call, gravity not included; reading clears them. */
ISPHPBD_API isphpbd_result isphpbd_body_take(isphpbd_world *world, isphpbd_body body, isphpbd_impulse *impulse);
/* The same for count >= 0 at once: all or none (put); a bad handle gets a zero impulse, the others theirs, and the
   answer is BAD_HANDLE (take). Linear in count. */
ISPHPBD_API isphpbd_result isphpbd_bodies_put(isphpbd_world *world, const isphpbd_body *bodies,
                                              const isphpbd_motion *motions, int count);
ISPHPBD_API isphpbd_result isphpbd_bodies_take(isphpbd_world *world, const isphpbd_body *bodies,
                                               isphpbd_impulse *impulses, int count);
/* Where the world expects it to be, and how fast, at the end of the last substep: for hosts that only want water to
   carry a few props. What was put since is not in it. */
ISPHPBD_API isphpbd_result isphpbd_body_predicted(const isphpbd_world *world, isphpbd_body body,
                                                  isphpbd_motion *motion);
/* From the next step on, with units and ranges as in the desc; an inertia of 0 0 0 goes with the mass. */
ISPHPBD_API isphpbd_result isphpbd_body_set_mass(isphpbd_world *world, isphpbd_body body, float mass,
                                                 isphpbd_vec3 inertia);

/* ==== [softs] cloth, closed shells, soft solids ====================================================================*/
typedef struct isphpbd_soft_desc {
    ipbd_body_desc body;     /* geometry, material, pins; its layer, mask and friction count */
    isphpbd_surface surface; /* towards water: only slip counts, but all are checked */
    bool wet;                /* default true; false: water does not meet it */
    uint32_t cookie;
} isphpbd_soft_desc;
ISPHPBD_API isphpbd_soft_desc isphpbd_soft_desc_default(void);
/* Refused and costs like ipbd_body_create(): BAD_DESC, BAD_MESH, CAPACITY (of capacity.soft; the logger names it),
   OUT_OF_MEMORY for the block that it borrows; O(n log n), so it may stall a frame. */
ISPHPBD_API isphpbd_soft isphpbd_soft_create(isphpbd_world *world, const isphpbd_soft_desc *desc, isphpbd_result *why);
/* With its skins and attachments. Linear in what soft bodies have: later ones move up, views become stale. */
ISPHPBD_API isphpbd_result isphpbd_soft_destroy(isphpbd_world *world, isphpbd_soft soft);
/* For the calls of isphpbd_pbd.h with isphpbd_world_softs(): ipbd_pin, ipbd_body_view, ipbd_skin_create ... Null if the
   handle is bad. */
ISPHPBD_API ipbd_body isphpbd_soft_body(const isphpbd_world *world, isphpbd_soft soft);
/* Ties a vertex (of the input mesh) to a body or a collider, where it is now; BAD_ARGUMENT for a vertex that the body
   does not have. The pull becomes part of the impulse. Ends with ipbd_unpin(), or when one of the two is destroyed. */
ISPHPBD_API isphpbd_result isphpbd_soft_attach_body(isphpbd_world *world, isphpbd_soft soft, int vertex,
                                                    isphpbd_body body);
ISPHPBD_API isphpbd_result isphpbd_soft_attach_collider(isphpbd_world *world, isphpbd_soft soft, int vertex,
                                                        isphpbd_collider collider);

/* ==== [reading] views: valid until the next call with a non-const world ============================================*/
typedef struct isphpbd_points {
    /* m, m, m/s; x, y, z at the start of every stride. previous[i] is where position[i] was one step ago: draw
       previous + alpha (position - previous). It is NULL without interpolation; for particles, too, inside on_substep
       and after isph_ calls added or removed some, until the next step */
    const float *position, *previous, *velocity;
    size_t position_stride, previous_stride, velocity_stride; /* bytes */
    const uint32_t *id;   /* of particles: stable; NULL for vertices, whose order is fixed */
    const uint8_t *fluid; /* of particles: number of the fluid, in order of creation; else NULL */
    int count;            /* entries of all arrays */
} isphpbd_points;
/* The particles of all fluids, or the vertices of one soft body in the order of ipbd_body_view(). Nothing is copied. */
ISPHPBD_API isphpbd_points isphpbd_fluid_points(const isphpbd_world *world);
ISPHPBD_API isphpbd_points isphpbd_soft_points(const isphpbd_world *world, isphpbd_soft soft);
/* What stands for this fluid in points.fluid; -1 for a bad handle. */
ISPHPBD_API int isphpbd_fluid_index(const isphpbd_world *world, isphpbd_fluid fluid);

typedef struct isphpbd_stats {
    size_t bytes; /* of all, taken at creation */
    /* there are now */
    int fluid_particles, soft_vertices, soft_triangles, constraints, fluids, emitters, sinks, softs, colliders, bodies;
    /* of the last step */
    int substeps, soft_substeps;
    int pressure_iterations, density_iterations; /* of the last substep */
    int outer_iterations;                        /* most rounds in a substep; 0: no water touched soft bodies */
    float outer_iterations_mean;                 /* over the substeps in which it did */
    int contacts;                                /* water particles touching soft bodies in the last substep */
    int culled;                                  /* particles removed because they could not be saved */
    int returned;                                /* particles that had no place or a wrong one and got a neighbour's */
    int quarantined;                             /* particles and vertices that were not finite and were put back */
    float pressure_residual, density_residual;   /* relative, where the solves of the last substep stopped */
    float density_error_mean, density_error_max, compression_mean; /* as in isph_stats, of the last substep */
    /* m/s, where water touched soft bodies in the last substep, along the normals: how the pressure solve had the wall
       move against how the constraints moved it when the last round ended, mean and largest */
    float coupling_mismatch, coupling_mismatch_max;
    float touching_speed; /* m/s, mean speed of particles against it: flow along curved walls, and their noise */
    float volume_error;   /* now: largest |volume / volume at rest - 1| of soft bodies that keep theirs */
    float max_speed;      /* m/s, of particles */
    /* since creation, down to dropped_seconds */
    int64_t steps, total_substeps, total_pressure_iterations, total_density_iterations, total_outer_iterations;
    /* removed: by sinks, lifetimes and isphpbd_fluid_clear() */
    int64_t total_culled, total_returned, total_emitted, total_removed;
    double time, dropped_seconds; /* s */
    /* clock ticks of the last step, by stage; 0 without a clock */
    uint64_t ticks_step, ticks_neighbours, ticks_walls, ticks_viscosity, ticks_pressure, ticks_move, ticks_coupling,
        ticks_constraints;
} isphpbd_stats;
/* Linear in soft vertices, and in the triangles of soft bodies that keep their volume. */
ISPHPBD_API isphpbd_stats isphpbd_world_stats(const isphpbd_world *world);

/* 64-bit digest of everything that affects the future; equal for equal states. Linear in the state. */
ISPHPBD_API uint64_t isphpbd_world_hash(const isphpbd_world *world);
/* Writes a snapshot to `bytes` when `capacity` is enough and `bytes` not NULL; always returns the size needed (at most
   64 bytes per particle, plus soft bodies). Resuming from it gives the same bits as going on. A step that a deadline
   left unfinished is saved between its substeps: the one under way as not begun. For machines of the same byte order
   (ipbd_save()). Linear in the state. */
ISPHPBD_API size_t isphpbd_world_save(const isphpbd_world *world, void *bytes, size_t capacity);
/* Into a world of the same desc with the same objects, created in the same order; handles stay good. Gravity, wind and
   budget come from the snapshot; interpolation and the callbacks may differ, and all else in the desc has to be the
   same, to the bit. BAD_SNAPSHOT for any other, or a damaged one; the logger says why. All of it is checked first;
   linear in the state. */
ISPHPBD_API isphpbd_result isphpbd_world_load(isphpbd_world *world, const void *bytes, size_t size);

enum {                               /* what to draw */
       ISPHPBD_DRAW_PARTICLES = 1,   /* points, coloured by fluid */
       ISPHPBD_DRAW_SOFTS = 2,       /* triangles, or their edges */
       ISPHPBD_DRAW_COLLIDERS = 4,   /* lines; a plane as a grid about its origin */
       ISPHPBD_DRAW_BODIES = 8,      /* lines, where the world predicts them */
       ISPHPBD_DRAW_VELOCITIES = 16, /* of particles and soft vertices: lines as long as the way of a step */
       ISPHPBD_DRAW_CONTACTS = 32,   /* points of soft bodies that water touched in the last substep */
       ISPHPBD_DRAW_ALL = 63         /* all of these */
};
/* Any callback may stay NULL, none may change the world (not checked); called with batches of at most 256 items, one
   colour each: 0xrrggbbaa. Soft bodies come as triangles, or as lines where there is no callback for triangles; all the
   rest as lines and points. Coordinates and radius in m; arrays are valid during the callback. */
typedef struct isphpbd_debug_draw {
    /* count points */
    void (*points)(const isphpbd_vec3 *xyz, const uint32_t *rgba, int count, float radius, void *user);
    /* 2 * line_count points */
    void (*lines)(const isphpbd_vec3 *pairs, const uint32_t *rgba, int line_count, void *user);
    /* 3 * triangle_count points */
    void (*triangles)(const isphpbd_vec3 *xyz, const uint32_t *rgba, int triangle_count, void *user);
    uint32_t flags; /* ISPHPBD_DRAW_* */
    void *user;     /* yours, handed to all of them */
} isphpbd_debug_draw;
/* Calls draw's callbacks until everything that its flags name is drawn. Linear in what is drawn; there is no default:
   clear the struct first. */
ISPHPBD_API isphpbd_result isphpbd_world_debug_draw(const isphpbd_world *world, const isphpbd_debug_draw *draw);

#ifdef __cplusplus
}
#endif
#endif /* ISPHPBD_INCLUDED */

/* ==== implementation ============================================================================================== */
#if defined(ISPHPBD_IMPLEMENTATION)
#include "isphpbd_pbd.h" /* their bodies, where only their declarations came before */
#include "isphpbd_sph.h"
#ifndef ISPHPBDX_WORLD_IMPLEMENTED
#define ISPHPBDX_WORLD_IMPLEMENTED

#define ISPHPBDX_COOKIE_WORLD    0x69737731u
#define ISPHPBDX_COOKIE_FLUID    0x69737732u
#define ISPHPBDX_COOKIE_EMITTER  0x69737733u
#define ISPHPBDX_COOKIE_COLLIDER 0x69737734u
#define ISPHPBDX_COOKIE_BODY     0x69737735u
#define ISPHPBDX_COOKIE_SOFT     0x69737736u
#define ISPHPBDX_HUGE            1e6f /* m, kg ...: larger input is a mistake */
#define ISPHPBDX_LONGEST_STEP    0.1f /* s */
#define ISPHPBDX_SLIVER          1e-6f /* of a step: what is less is no time */
#define ISPHPBDX_TELEPORT        2.0f /* spacings: a body put farther from its prediction was not moved but placed */
#define ISPHPBDX_SOLVES_SHARE    0.6f /* of a substep's share of the deadline, after which its solves end early */
#define ISPHPBDX_BATCH           256  /* items per call of the debug draw, particles per call of the fluid */

/* ==== [world-state] what a world is =================================================================================
   Every object is a record in a pool; a handle names its slot, its generation and its world. */
typedef enum isphpbdx_kind {
    ISPHPBDX_FLUIDS = 0,
    ISPHPBDX_EMITTERS,
    ISPHPBDX_SINKS,
    ISPHPBDX_SOFTS,
    ISPHPBDX_COLLIDERS,
    ISPHPBDX_BODIES,
    ISPHPBDX_KINDS
} isphpbdx_kind;

typedef struct isphpbdx_slot { /* first in every record */
    uint32_t generation, used;
} isphpbdx_slot;

typedef struct isphpbdx_pool {
    unsigned char *records;
    size_t size; /* of a record */
    int capacity, used;
} isphpbdx_pool;

typedef struct isphpbdx_fluid { /* its slot is its number in isphpbd_points.fluid */
    isphpbdx_slot slot;
    isph_material material;
    uint32_t layer, mask;
} isphpbdx_fluid;

typedef struct isphpbdx_emitter {
    isphpbdx_slot slot;
    isphpbd_emitter_desc desc; /* direction is unit */
    int fluid;                 /* slot */
    float carry;               /* m of jet that left the mouth since its last layer */
    float elapsed;             /* s */
    int64_t count;
} isphpbdx_emitter;

typedef struct isphpbdx_sink {
    isphpbdx_slot slot;
    isphpbd_shape shape;
    isphpbd_pose pose;
    uint32_t mask;
    int64_t count;
} isphpbdx_sink;

typedef struct isphpbdx_soft {
    isphpbdx_slot slot;
    ipbd_body body;
    isphpbd_surface surface;
    uint32_t wet, layer, mask;
    uint32_t fluids;                  /* bit per fluid that it meets; 0 where it is not wet */
    int vertex_begin, vertex_end;     /* in ipbd_arrays; they move when an earlier body goes */
    int triangle_begin, triangle_end; /* likewise */
    float rest_volume;                /* m^3; 0: it does not keep its volume */
} isphpbdx_soft;

/* A collider or a body: a wall of the fluid and a collider of the soft bodies, moved as one. */
typedef struct isphpbdx_solid {
    isphpbdx_slot slot;
    isph_boundary wall;
    ipbd_collider collider;
    isphpbd_shape shape; /* its pointers are NULL */
    uint32_t container, layer, mask;
    isphpbd_surface surface;
    isphpbd_motion now;           /* at the end of the last substep */
    isphpbd_pose end;             /* where it will be at the end of the substep under way */
    double linear[3], angular[3]; /* impulses since they were last taken */
    /* colliders */
    isphpbd_pose from, goal; /* over the step under way */
    uint32_t moves;          /* goal counts in this step */
    isphpbd_pose next;       /* what the host said since; counts from the next step on */
    uint32_t has_next;
    /* bodies */
    float mass, gravity_scale;
    isphpbd_vec3 inertia; /* kg m^2 about the local axes */
    uint32_t one_way;
    isphpbd_motion given; /* by the host; counts from the next step on */
    uint32_t has_given;
} isphpbdx_solid;

typedef struct isphpbdx_progress { /* the step under way, or the last one */
    bool pending;                  /* begun and not finished */
    bool substep_pending;          /* begun and not finished, within it */
    float seconds, left;           /* s, of the step */
    float h;                       /* s, of the substep */
    int substeps;                  /* finished */
    bool softs_done;               /* the soft bodies have made this substep */
    int rounds, coupled;           /* of pressure + constraints; substeps in which there were any */
    uint32_t flags;                /* ISPHPBD_STEP_* */
} isphpbdx_progress;

enum { /* kinds of units of work, see [pace] */
       ISPHPBDX_UNIT_STAGES = 2 * (int)(sizeof isphx_stages / sizeof isphx_stages[0]), /* each begun, and going on */
       ISPHPBDX_UNIT_SOFTS = ISPHPBDX_UNIT_STAGES, /* soft bodies move, and the rest of the substep */
       ISPHPBDX_UNIT_BEGIN,                        /* of a substep */
       ISPHPBDX_UNIT_DRY,                          /* a whole substep without water */
       ISPHPBDX_UNIT_END,                          /* of a step */
       ISPHPBDX_UNIT_LEAVE,                        /* what a call does last when its time is up */
       ISPHPBDX_UNITS
};
typedef struct isphpbdx_pace {
    uint64_t end;               /* ticks at which this call shall be over; 0: no deadline */
    uint64_t lap, mark;         /* ticks: last look; last look inside the fluid's substep */
    float length;               /* ticks: the deadline */
    float spent, share;         /* ticks: of this substep so far; after which its solves are to end early */
    int kind;                   /* of the unit under way */
    bool worked;                /* something was done in this call */
    float cost[ISPHPBDX_UNITS]; /* ticks */
} isphpbdx_pace;

/* ==== [coupling] fluid and soft bodies ==============================================================================
   Algorithm 1 of Abu Rumman et al. (ISPH-PBD), made robust:
   - Wet vertices borrow the mass of the water next to them (lent mass), so light cloth is no harder than heavy one; the
     momentum goes back to the particles afterwards.
   - Faces are walls of the fluid that yield inside its pressure solve by the vertices' effective masses. What the
     constraints did lately (the reaction) is part of the wall's velocity: cloth at rest carries water at rest.
   - Particles near faces take part in the constraint loop, by swept contacts; a last look in double precision with the
     mesh standing still (the fence) puts back what would end on another side. What cannot be saved is removed.
   The world calls _layout when memory is measured and handed out, _ready once both solvers exist, _end after every
   substep, and isphpbdx_softs_substep() where the fluid's hook did not. */
#define ISPHPBDX_BLOCK  256 /* particles per task */
#define ISPHPBDX_SAVED  2   /* lost, but with a place now */
#define ISPHPBDX_PASSES 4   /* in which the lost look for neighbours that have a place */
#define ISPHPBDX_PLACES 3   /* walls that one particle sees of soft bodies */
#define ISPHPBDX_SEEN   32  /* faces that it looks at for them */
#define ISPHPBDX_NEAR   16  /* faces that it can touch in a substep */
#define ISPHPBDX_GATHER 1024
#define ISPHPBDX_PATCH  64    /* neighbouring movers whose contacts one task solves; by trial */
#define ISPHPBDX_SHADES 32    /* of patches: those of one have no vertex in common */
#define ISPHPBDX_FENCED 256   /* faces that the fence can look at for one particle */
#define ISPHPBDX_YIELD  0.55f /* implicitness of yielding walls: below 0.5 deep water shakes light cloth */
#define ISPHPBDX_MIX    0.1f  /* share of the newest substep in the remembered reaction */
#define ISPHPBDX_SEAM   1e-3  /* barycentric: a little past its edges a face still counts, so that seams are closed */
#define ISPHPBDX_RELAX  0.3f  /* m/s at which a particle too near is led to its distance */
#define ISPHPBDX_ROUNDS 6     /* of the fence before a particle rides */
#define ISPHPBDX_LOOKS  8     /* substeps in which every particle is looked at once, whether it is at home */
#define ISPHPBDX_NESTED 8     /* closed shells above one particle */
#define ISPHPBDX_HASTE  4.0f  /* soft substeps under water, over those of the budget, at most */
#define ISPHPBDX_STRAIN 2e-4f /* of constraints in a soft substep under 40 layers of water that makes it short */
#define ISPHPBDX_WAKE   0.2f  /* change of the water's push over weight and push that wakes a sleeping body */

typedef struct isphpbdx_wet { /* how a soft body meets the fluid, by its slot in ipbd_world */
    uint32_t fluids;          /* bit per material */
    uint32_t solid;           /* its inside is not for water */
    uint32_t held;            /* some vertices are fixed */
    float friction, grip;     /* as in isph_wall */
    float lent;               /* kg of water, by isphpbdx_find_drifts() */
} isphpbdx_wet;

typedef struct isphpbdx_known { /* where the vertices of a body were when the coupling last looked */
    uint32_t generation, used;
    int vertex_begin, vertex_count;
    isphpbd_vec3 drift; /* m/s^2: how a free shell and its water were accelerated, see isphpbdx_find_drifts() */
    isphpbd_vec3 load;  /* N: water's push while it was awake, smoothed; see isphpbdx_wake_pushed() */
} isphpbdx_known;

typedef struct isphpbdx_face { /* a wet triangle at the start of the substep */
    isphx_triangle shape;
    isphpbd_vec3 centre;
    float radius, speed; /* m; m/s of its fastest corner */
    int v[3], body;
    int sides; /* 1, 2: particles are behind, before it */
} isphpbdx_face;

typedef struct isphpbdx_spot { /* where a particle sees a wall */
    isphpbd_vec3 normal;       /* towards the particle (from inside a solid: outwards) */
    float distance;            /* m; < 0 inside a solid */
    float u, v;                /* barycentric, of corners 1 and 2 */
    float missed;              /* as in isph_wall */
    int face;
} isphpbdx_spot;

typedef struct isphpbdx_nearby {
    int face;
    float gap; /* m, signed by the face's normal, at the start of the substep */
} isphpbdx_nearby;

typedef struct isphpbdx_quad { /* four faces near a particle, as the constraint loop looks at them */
    uint32_t v[3][4];
    float gap[4];
} isphpbdx_quad;

typedef struct isphpbdx_mover { /* a particle in the constraint loop */
    isphpbd_vec3 at;
    float weight; /* 1/kg */
    int particle;
    int quad; /* the first of its own, -1 where there was no room for them */
} isphpbdx_mover;

typedef struct isphpbdx_link { /* a wall of the pressure solve: between a particle and three vertices */
    isphpbd_vec3 normal;
    float b[3]; /* barycentric */
    int v[3];
} isphpbdx_link;

typedef struct isphpbdx_hit {
    int face;
    float u, v, side; /* side: +-1 along the normal, where the particle came from */
} isphpbdx_hit;

typedef struct isphpbdx_boxes { /* a grid of boxes, by counting sort */
    float lo[3], inverse;       /* 1/m: of the cell size */
    int dim[3], *start, *item;
    uint32_t *first, *last; /* of every box its lowest and its highest cell, 10 bits per axis */
    int cell_capacity, item_capacity;
    bool empty;
} isphpbdx_boxes;

typedef struct isphpbdx_coupling {
    int contacts;   /* water particles touching soft bodies, in the last substep */
    int culled;     /* particles removed in the last substep because they could not be saved */
    int outer;      /* rounds of the last substep */
    float mismatch; /* m/s, mean |u - v| when the last round ended, see isphpbdx_measure_mismatch(); */
    float worst;    /* the largest; */
    float slip;     /* that of the particles themselves */
    float relax;    /* share of the difference that the next round takes over */
    isph_fluid *fluid;
    ipbd_world *soft;
    isph_coupled water;   /* of the substep under way */
    float dx, reach;      /* m */
    float keep;           /* m: half a spacing, the distance of contacts */
    float seconds;        /* s, of the substep */
    float moved;          /* m, the farthest way of a wet vertex in it */
    float haste;          /* soft substeps over those of the budget */
    bool in_step;         /* the soft bodies' substeps belong to a substep of the fluid */
    const float *x0, *u0; /* particles at its start; */
    float *x1, *u1;       /* at its end */
    /* per soft body */
    isphpbdx_wet *wet;
    isphpbdx_known *known;
    isphx_account *books; /* of the water next to it, see [coupling-books] */
    /* per soft vertex; floats in groups of four */
    float *reaction;        /* N: what constraints do to it, smoothed; [3] kg lent when that was measured. Saved */
    float *origin, *before; /* position and velocity at the start of the substep */
    float *star;            /* wall velocity before the water's push; [3] how it yields to that, 1/kg */
    float *seen;            /* wall velocity after it, as the pressure solve of the round has it */
    float *push;            /* N s, of the water's pressure and friction */
    float *change;          /* N s, of contacts; before them scratch */
    float *crumbs;          /* m, of their moves in a soft substep: what places have no digits for */
    float *pull;            /* m/s^2, which acts on lent mass */
    float *weight;          /* 1/kg, with lent mass; 0: fixed */
    int *degree;            /* wet faces round it */
    uint32_t *shades;       /* of the patches that move it, as bits */
    double (*lever)[3];     /* N s m, owed to the books: of pushes that act where the vertex has moved to */
    uint8_t *sides;         /* 1, 2: water behind, before the faces */
    /* per soft triangle */
    uint8_t *open_edges;
    isphpbdx_face *face;
    float *box; /* low and high corners */
    isphpbdx_boxes boxes;
    int face_count, smoothing; /* smoothing: passes that even out lent mass */
    uint64_t rims;             /* of the bodies that open_edges belong to */
    /* per particle */
    isphpbdx_spot *place;
    isphpbdx_nearby *nearby;
    float *clear; /* m, from the nearest face; the reach where none is */
    int *book;    /* the body that it is nearest to, in whose books it is; -1: none */
    uint8_t *place_count, *near_count, *contact_count, *inside, *guarded, *lost;
    isphpbdx_mover *mover;
    double (*owed)[6];                  /* to the books, by the contacts of each mover */
    int *patch;                         /* patches of movers shade by shade, at the end those that found none; */
    int patch_end[ISPHPBDX_SHADES + 1]; /* where each shade ends */
    isphpbdx_quad *quad;
    isphpbdx_hit *hit;
    uint32_t *lost_id;
    isphpbdx_link *link;         /* in the order of the solve; */
    int *link_first, *link_item; /* those of each vertex, 4 * link + corner, in that order */
    /* by the slot of a particle's id, see [coupling-homes] */
    uint16_t *home;  /* 1 + slot of the closed shell that it is inside of; 0: of none. Saved */
    uint32_t *homed; /* the id that `home` belongs to */
    uint64_t shells; /* digest of what homes were found in; 0: there are no closed shells */
    int returned;    /* particles that were put back in the last substep */
    int link_count; /* -1: not listed yet */
    int mover_count, quad_count, quad_capacity, lost_count;
    unsigned char *kept[4 + IPBDX_STORES]; /* what soft bodies were like at the start, see isphpbdx_keep_softs() */
} isphpbdx_coupling;

struct isphpbd_world {
    isphpbd_world_desc desc; /* budget and gravity are the present ones */
    size_t bytes;            /* of this block */
    uint32_t tag;            /* of its handles */
    isphpbd_parallel runner; /* the user's; those of desc shut the doors before */
    isphpbd_clock clock;     /* likewise */
    bool busy;               /* inside a step: calls from callbacks are refused */
    isph_fluid *fluid;
    ipbd_world *soft;
    isphpbdx_pool pools[ISPHPBDX_KINDS];
    isphpbdx_progress run;
    isphpbdx_pace pace;
    isphpbd_stats stats; /* what the solvers do not count themselves */
    double owed;         /* s that isphpbd_world_advance() has not stepped yet */
    uint32_t told;       /* kinds of flags that the logger knows of */
    isphpbdx_coupling coupling;
    /* of particles, by the slot of their id */
    float *previous;  /* x, y, z one step ago */
    uint32_t *known;  /* the id that `previous` belongs to */
    float *life;      /* s left */
    uint32_t *mortal; /* the id that `life` belongs to */
    /* in the order of the view */
    float *gathered;      /* previous; also scratch for isphpbd_fluid_fill_soft() */
    bool is_gathered;
    uint32_t gathered_at; /* changes of the fluid by then: after others it is of other particles */
    float *soft_previous; /* x, y, z of every soft vertex one step ago */
};

static void isphpbdx_why(isphpbd_result *why, isphpbd_result result) {
    if (why) *why = result;
}
/* Logs and hands the result through, so that every refusal is one line. */
static isphpbd_result isphpbdx_refuse(const isphpbd_world *world, isphpbd_result code, const char *text) {
    isphpbdx_log(&world->desc.logger, ISPHPBD_LOG_ERROR, code, text);
    return code;
}
/* OK where the world may be changed now. */
static isphpbd_result isphpbdx_open(const isphpbd_world *world) {
    if (!world) return ISPHPBD_BAD_ARGUMENT;
    if (world->busy || (world->fluid && world->fluid->stepping) || (world->soft && world->soft->in_callback))
        return isphpbdx_refuse(world, ISPHPBD_LOCKED, "a callback must not change the world");
    return ISPHPBD_OK;
}

/* The solvers belong to the world: others may look at them and edit particles and pins. The world opens them for its
   own calls and closes them behind. */
static void isphpbdx_unlock(isphpbd_world *world) {
    isph_fluid_set_owner(world->fluid, world, NULL);
    ipbd_set_owner(world->soft, world, NULL);
}
static void isphpbdx_lock(isphpbd_world *world) {
    isph_fluid_set_owner(world->fluid, NULL, world);
    ipbd_set_owner(world->soft, NULL, world);
}

/* While the user's code runs inside a step both solvers refuse changes, as they do inside their own callbacks. */
typedef struct isphpbdx_doors {
    bool fluid, soft; /* as they were */
} isphpbdx_doors;
static isphpbdx_doors isphpbdx_shut(isphpbd_world *world) {
    isphpbdx_doors were;
    were.fluid = world->fluid->stepping, were.soft = world->soft->in_callback;
    world->fluid->stepping = world->soft->in_callback = true;
    return were;
}
static void isphpbdx_reopen(isphpbd_world *world, isphpbdx_doors were) {
    world->fluid->stepping = were.fluid, world->soft->in_callback = were.soft;
}
/* What world and solvers have for the user's runner and clock: theirs, behind shut doors. */
static void isphpbdx_run_shut(void (*task)(void *ctx, int index), void *ctx, int task_count, void *user) {
    isphpbd_world *world = (isphpbd_world *)user;
    const isphpbdx_doors doors = isphpbdx_shut(world);
    world->runner.run(task, ctx, task_count, world->runner.user);
    isphpbdx_reopen(world, doors);
}
static uint64_t isphpbdx_tick_shut(void *user) {
    isphpbd_world *world = (isphpbd_world *)user;
    const isphpbdx_doors doors = isphpbdx_shut(world);
    const uint64_t now = world->clock.fn(world->clock.user);
    isphpbdx_reopen(world, doors);
    return now;
}
static void isphpbdx_shut_callbacks(isphpbd_world *world) {
    isphpbd_world_desc *d = &world->desc;
    world->runner = d->parallel, world->clock = d->clock;
    if (d->parallel.run) d->parallel.run = isphpbdx_run_shut, d->parallel.user = world;
    if (d->clock.fn) d->clock.fn = isphpbdx_tick_shut, d->clock.user = world;
}

static void *isphpbdx_at(const isphpbd_world *world, isphpbdx_kind kind, int slot) {
    return world->pools[kind].records + world->pools[kind].size * (size_t)slot;
}
/* The record in this slot if there is one, else NULL: for loops over a pool. */
static void *isphpbdx_used(const isphpbd_world *world, isphpbdx_kind kind, int slot) {
    void *record = isphpbdx_at(world, kind, slot);
    return ((const isphpbdx_slot *)record)->used ? record : NULL;
}
static int isphpbdx_slot_of(const isphpbd_world *world, isphpbdx_kind kind, const void *record) {
    return (int)((size_t)((const unsigned char *)record - world->pools[kind].records) / world->pools[kind].size);
}
/* The record of a handle, or NULL where that is null, stale or of another world. */
static void *isphpbdx_find(const isphpbd_world *world, isphpbdx_kind kind, uint32_t id, uint32_t tag) {
    const int slot = (int)(id & 0xffffu) - 1;
    const isphpbdx_slot *record;
    if (!world || tag != world->tag || slot < 0 || slot >= world->pools[kind].capacity) return NULL;
    record = (const isphpbdx_slot *)isphpbdx_used(world, kind, slot);
    return record && record->generation == id >> 16 ? isphpbdx_at(world, kind, slot) : NULL;
}
/* A free record, zero but for its generation and not yet in use; NULL where the pool is full. */
static void *isphpbdx_free_record(const isphpbd_world *world, isphpbdx_kind kind) {
    const isphpbdx_pool *pool = &world->pools[kind];
    int slot = 0;
    while (slot < pool->capacity && isphpbdx_used(world, kind, slot)) ++slot;
    return slot < pool->capacity ? isphpbdx_at(world, kind, slot) : NULL;
}
/* The record, filled in by the caller, is in use from now on; answers the id of its handle. */
static uint32_t isphpbdx_enter(isphpbd_world *world, isphpbdx_kind kind, void *record) {
    isphpbdx_slot *slot = (isphpbdx_slot *)record;
    slot->used = 1;
    slot->generation = slot->generation % 0xffffu + 1u;
    world->pools[kind].used++;
    return (slot->generation << 16) | (uint32_t)(isphpbdx_slot_of(world, kind, record) + 1);
}
static void isphpbdx_leave(isphpbd_world *world, isphpbdx_kind kind, void *record) {
    const uint32_t generation = ((isphpbdx_slot *)record)->generation;
    memset(record, 0, world->pools[kind].size);
    ((isphpbdx_slot *)record)->generation = generation;
    world->pools[kind].used--;
}

static isphpbdx_fluid *isphpbdx_fluid_of(const isphpbd_world *world, isphpbd_fluid fluid) {
    return (isphpbdx_fluid *)isphpbdx_find(world, ISPHPBDX_FLUIDS, fluid.id, fluid.world);
}
static isphpbdx_emitter *isphpbdx_emitter_of(const isphpbd_world *world, isphpbd_emitter emitter) {
    return (isphpbdx_emitter *)isphpbdx_find(world, ISPHPBDX_EMITTERS, emitter.id, emitter.world);
}
static isphpbdx_sink *isphpbdx_sink_of(const isphpbd_world *world, isphpbd_sink sink) {
    return (isphpbdx_sink *)isphpbdx_find(world, ISPHPBDX_SINKS, sink.id, sink.world);
}
static isphpbdx_soft *isphpbdx_soft_of(const isphpbd_world *world, isphpbd_soft soft) {
    return (isphpbdx_soft *)isphpbdx_find(world, ISPHPBDX_SOFTS, soft.id, soft.world);
}
static isphpbdx_solid *isphpbdx_collider_of(const isphpbd_world *world, isphpbd_collider collider) {
    return (isphpbdx_solid *)isphpbdx_find(world, ISPHPBDX_COLLIDERS, collider.id, collider.world);
}
static isphpbdx_solid *isphpbdx_body_of(const isphpbd_world *world, isphpbd_body body) {
    return (isphpbdx_solid *)isphpbdx_find(world, ISPHPBDX_BODIES, body.id, body.world);
}

/* ---- numbers and poses ---- */
static bool isphpbdx_between(float value, float lo, float hi) { /* false for NaN */
    return isphpbdx_finite(value) && value >= lo && value <= hi;
}
static bool isphpbdx_vector_ok(isphpbd_vec3 v, float limit) {
    return isphpbdx_finite3(v) && isphpbdx_abs(v.x) <= limit && isphpbdx_abs(v.y) <= limit &&
           isphpbdx_abs(v.z) <= limit;
}
static ipbd_pose isphpbdx_soft_pose(isphpbd_pose pose) {
    ipbd_pose soft;
    soft.position = pose.position, soft.rotation = pose.rotation;
    return soft;
}
static isphpbd_pose isphpbdx_world_pose(ipbd_pose pose) {
    isphpbd_pose out;
    out.position = pose.position, out.rotation = pose.rotation;
    return out;
}
/* In reach of the fluid's coordinates, with a rotation of length one to 1 %; then made unit to float. */
#define ISPHPBDX_FARTHEST 262144.0f /* spacings from the origin along each axis */
#define ISPHPBDX_FASTEST  1e4f      /* m/s and rad/s along each axis, of bodies and colliders */
static bool isphpbdx_pose_ready(const isphpbd_world *world, isphpbd_pose *pose) {
    ipbd_pose soft = isphpbdx_soft_pose(*pose);
    if (!isphpbdx_vector_ok(pose->position, ISPHPBDX_FARTHEST * world->desc.spacing) || !ipbdx_pose_ready(&soft))
        return false;
    pose->rotation = soft.rotation;
    return true;
}
static bool isphpbdx_motion_ready(const isphpbd_world *world, isphpbd_motion *motion) {
    return isphpbdx_pose_ready(world, &motion->pose) && isphpbdx_vector_ok(motion->linear_velocity, ISPHPBDX_FASTEST) &&
           isphpbdx_vector_ok(motion->angular_velocity, ISPHPBDX_FASTEST);
}
/* A step leaves no motion that could not be given: a needle hit by a drop can spin without bound. */
static isphpbd_vec3 isphpbdx_bounded(isphpbd_vec3 v, float limit) {
    if (!isphpbdx_finite3(v)) return isphpbd_v3(0.0f, 0.0f, 0.0f);
    return isphpbd_v3(isphpbdx_clamp(v.x, -limit, limit), isphpbdx_clamp(v.y, -limit, limit),
                      isphpbdx_clamp(v.z, -limit, limit));
}
static void isphpbdx_bound_motion(const isphpbd_world *world, isphpbd_motion *motion) {
    motion->pose.position = isphpbdx_bounded(motion->pose.position, ISPHPBDX_FARTHEST * world->desc.spacing);
    motion->linear_velocity = isphpbdx_bounded(motion->linear_velocity, ISPHPBDX_FASTEST);
    motion->angular_velocity = isphpbdx_bounded(motion->angular_velocity, ISPHPBDX_FASTEST);
}
static isphpbd_pose isphpbdx_pose_mix(isphpbd_pose a, isphpbd_pose b, float t) {
    a.position = ipbdx_lerp3(a.position, b.position, t);
    a.rotation = ipbdx_quat_mix(a.rotation, b.rotation, t);
    return a;
}
/* The velocities that lead from one pose to the other in `seconds`. */
static void isphpbdx_velocities(isphpbd_pose from, isphpbd_pose to, float seconds, isphpbd_motion *out) {
    isphpbd_quat back = from.rotation, turn;
    back.x = -back.x, back.y = -back.y, back.z = -back.z;
    turn = ipbdx_quat_mul(to.rotation, back);
    out->linear_velocity = isphpbdx_scale(isphpbdx_sub(to.position, from.position), 1.0f / seconds);
    out->angular_velocity =
        isphpbdx_scale(isphpbd_v3(turn.x, turn.y, turn.z), (turn.w < 0.0f ? -2.0f : 2.0f) / seconds);
}

ISPHPBD_API isphpbd_pose isphpbd_pose_at(isphpbd_vec3 position) {
    isphpbd_pose pose;
    pose.position = position, pose.rotation = ipbdx_quat_identity();
    return pose;
}
ISPHPBD_API isphpbd_motion isphpbd_motion_at(isphpbd_vec3 position) {
    isphpbd_motion motion;
    motion.pose = isphpbd_pose_at(position);
    motion.linear_velocity = motion.angular_velocity = ipbdx_zero3();
    return motion;
}

/* ==== [coupling-memory] ============================================================================================*/
static isphpbd_vec3 isphpbdx_get3(const float *array, int i) {
    return isphpbd_v3(array[4 * (size_t)i], array[4 * (size_t)i + 1], array[4 * (size_t)i + 2]);
}
static void isphpbdx_put3(float *array, int i, isphpbd_vec3 v) {
    array[4 * (size_t)i] = v.x, array[4 * (size_t)i + 1] = v.y, array[4 * (size_t)i + 2] = v.z;
}
static void isphpbdx_add3(float *array, int i, isphpbd_vec3 v) {
    array[4 * (size_t)i] += v.x, array[4 * (size_t)i + 1] += v.y, array[4 * (size_t)i + 2] += v.z;
}
/* sum b_k array[v_k] */
static isphpbd_vec3 isphpbdx_mix3(const float *array, const int v[3], const float b[3]) {
    return isphpbdx_madd(
        isphpbdx_madd(isphpbdx_scale(isphpbdx_get3(array, v[0]), b[0]), isphpbdx_get3(array, v[1]), b[1]),
        isphpbdx_get3(array, v[2]), b[2]);
}
/* Four floats per item. */
static float *isphpbdx_take4(isphpbdx_layout *layout, int count) {
    return (float *)isphpbdx_take(layout, (size_t)count, 4 * sizeof(float));
}
static void isphpbdx_coupling_softs_layout(isphpbdx_coupling *c, isphpbdx_layout *l, const ipbd_capacity *soft) {
    const size_t vertices = (size_t)soft->vertices, triangles = (size_t)soft->triangles, bodies = (size_t)soft->bodies;
    c->wet = (isphpbdx_wet *)isphpbdx_take(l, bodies, sizeof(isphpbdx_wet));
    c->known = (isphpbdx_known *)isphpbdx_take(l, bodies, sizeof(isphpbdx_known));
    c->books = (isphx_account *)isphpbdx_take(l, bodies, sizeof(isphx_account));
    c->reaction = isphpbdx_take4(l, soft->vertices);
    c->origin = isphpbdx_take4(l, soft->vertices), c->before = isphpbdx_take4(l, soft->vertices);
    c->star = isphpbdx_take4(l, soft->vertices), c->push = isphpbdx_take4(l, soft->vertices);
    c->crumbs = isphpbdx_take4(l, soft->vertices);
    c->seen = isphpbdx_take4(l, soft->vertices);
    c->change = isphpbdx_take4(l, soft->vertices), c->pull = isphpbdx_take4(l, soft->vertices);
    c->weight = (float *)isphpbdx_take(l, vertices, sizeof(float));
    c->degree = (int *)isphpbdx_take(l, vertices, sizeof(int));
    c->shades = (uint32_t *)isphpbdx_take(l, vertices, sizeof(uint32_t));
    c->lever = (double(*)[3])isphpbdx_take(l, vertices, sizeof *c->lever);
    c->link_first = (int *)isphpbdx_take(l, vertices + 1, sizeof(int));
    c->sides = (uint8_t *)isphpbdx_take(l, vertices, 1);
    c->open_edges = (uint8_t *)isphpbdx_take(l, triangles, 1);
    c->face = (isphpbdx_face *)isphpbdx_take(l, triangles, sizeof(isphpbdx_face));
    c->box = (float *)isphpbdx_take(l, triangles, 6 * sizeof(float));
    c->boxes.cell_capacity = 8 * soft->triangles + 4096, c->boxes.item_capacity = 16 * soft->triangles + 1024;
    c->boxes.start = (int *)isphpbdx_take(l, (size_t)c->boxes.cell_capacity + 1, sizeof(int));
    c->boxes.item = (int *)isphpbdx_take(l, (size_t)c->boxes.item_capacity, sizeof(int));
    c->boxes.first = (uint32_t *)isphpbdx_take(l, triangles, sizeof(uint32_t));
    c->boxes.last = (uint32_t *)isphpbdx_take(l, triangles, sizeof(uint32_t));
}
/* ---- soft bodies as they were at the start of a substep, besides origin and before: what a step changes ---- */
typedef struct isphpbdx_piece { /* of records so long, the bytes that change */
    void *base;
    size_t stride, size;
    int count;
} isphpbdx_piece;
#define ISPHPBDX_PIECES (4 + IPBDX_STORES)

/* Of a world, or as many as there is room for. Multipliers, and rest lengths that flow, are last in their records. */
static void isphpbdx_list_pieces(const ipbd_world *soft, const ipbd_capacity *room, isphpbdx_piece *out) {
    static const size_t tails[IPBDX_STORES] = {12 * sizeof(float), 4 * sizeof(float), 4 * sizeof(float),
                                               4 * sizeof(float), 28 * sizeof(float)};
    const ipbdx_counts *n = soft ? &soft->counts : NULL;
    int k;
    out[0].base = soft ? soft->bodies : NULL, out[0].stride = out[0].size = sizeof(ipbdx_body);
    out[1].base = soft ? soft->colliders : NULL, out[1].stride = out[1].size = sizeof(ipbdx_collider);
    out[2].base = soft ? soft->starts : NULL, out[2].stride = out[2].size = 4 * sizeof(float);
    out[3].base = soft ? soft->pins : NULL, out[3].stride = sizeof(ipbdx_pin), out[3].size = sizeof(isphpbd_vec3);
    out[0].count = n ? n->bodies : room->bodies, out[1].count = n ? n->colliders : room->colliders;
    out[2].count = out[3].count = n ? n->vertices : room->vertices;
    for (k = 0; k < IPBDX_STORES; ++k) {
        out[4 + k].stride = ipbdx_store_size(k), out[4 + k].size = tails[k];
        out[4 + k].count = n ? n->groups[k] : ipbdx_store_room(room, k);
        out[4 + k].base = n ? ipbdx_store_base(soft, k) + out[4 + k].stride - tails[k] : NULL;
    }
}
static void isphpbdx_kept_layout(isphpbd_world *world, isphpbdx_layout *layout) {
    ipbd_capacity room = world->desc.capacity.soft;
    isphpbdx_piece piece[ISPHPBDX_PIECES];
    int k;
    room.colliders = world->desc.capacity.colliders + world->desc.capacity.bodies;
    isphpbdx_list_pieces(NULL, &room, piece);
    for (k = 0; k < ISPHPBDX_PIECES; ++k)
        world->coupling.kept[k] = (unsigned char *)isphpbdx_take(layout, (size_t)piece[k].count, piece[k].size);
}
static void isphpbdx_keep_softs(isphpbdx_coupling *c) {
    isphpbdx_piece piece[ISPHPBDX_PIECES];
    int k, i;
    isphpbdx_list_pieces(c->soft, &c->soft->desc.capacity, piece);
    for (k = 0; k < ISPHPBDX_PIECES; ++k)
        for (i = 0; i < piece[k].count; ++i)
            memcpy(c->kept[k] + piece[k].size * (size_t)i, (unsigned char *)piece[k].base + piece[k].stride * (size_t)i,
                   piece[k].size);
}
static void isphpbdx_restore_softs(isphpbdx_coupling *c) {
    const size_t bytes = 16 * (size_t)c->soft->counts.vertices;
    isphpbdx_piece piece[ISPHPBDX_PIECES];
    int k, i;
    isphpbdx_list_pieces(c->soft, &c->soft->desc.capacity, piece);
    for (k = 0; k < ISPHPBDX_PIECES; ++k)
        for (i = 0; i < piece[k].count; ++i)
            memcpy((unsigned char *)piece[k].base + piece[k].stride * (size_t)i, c->kept[k] + piece[k].size * (size_t)i,
                   piece[k].size);
    memcpy(c->soft->positions, c->origin, bytes);
    memcpy(c->soft->velocities, c->before, bytes);
    c->soft->pairs_stale = true;
}
/* Hands out the coupling's arrays; sizes from world->desc.capacity. */
static void isphpbdx_coupling_layout(isphpbd_world *world, isphpbdx_layout *layout) {
    isphpbdx_coupling *c = &world->coupling;
    const size_t particles = (size_t)isphpbdx_maxi(world->desc.capacity.fluid_particles, 1);
    isphpbdx_coupling_softs_layout(c, layout, &world->desc.capacity.soft);
    isphpbdx_kept_layout(world, layout);
    c->place = (isphpbdx_spot *)isphpbdx_take(layout, particles, ISPHPBDX_PLACES * sizeof(isphpbdx_spot));
    c->nearby = (isphpbdx_nearby *)isphpbdx_take(layout, particles, ISPHPBDX_NEAR * sizeof(isphpbdx_nearby));
    c->link = (isphpbdx_link *)isphpbdx_take(layout, particles, ISPHPBDX_PLACES * sizeof(isphpbdx_link));
    c->link_item = (int *)isphpbdx_take(layout, particles, 3 * ISPHPBDX_PLACES * sizeof(int));
    c->mover = (isphpbdx_mover *)isphpbdx_take(layout, particles, sizeof(isphpbdx_mover));
    c->owed = (double(*)[6])isphpbdx_take(layout, particles, sizeof *c->owed);
    c->patch = (int *)isphpbdx_take(layout, particles / ISPHPBDX_PATCH + 1, 2 * sizeof(int));
    c->quad_capacity = (int)(particles / 2);
    c->quad = (isphpbdx_quad *)isphpbdx_take(layout, particles / 2, sizeof(isphpbdx_quad));
    c->hit = (isphpbdx_hit *)isphpbdx_take(layout, particles, sizeof(isphpbdx_hit));
    c->lost_id = (uint32_t *)isphpbdx_take(layout, particles, sizeof(uint32_t));
    c->clear = (float *)isphpbdx_take(layout, particles, sizeof(float));
    c->book = (int *)isphpbdx_take(layout, particles, sizeof(int));
    c->home = (uint16_t *)isphpbdx_take(layout, particles, sizeof(uint16_t));
    c->homed = (uint32_t *)isphpbdx_take(layout, particles, sizeof(uint32_t));
    c->place_count = (uint8_t *)isphpbdx_take(layout, particles, 1);
    c->near_count = (uint8_t *)isphpbdx_take(layout, particles, 1);
    c->contact_count = (uint8_t *)isphpbdx_take(layout, particles, 1);
    c->inside = (uint8_t *)isphpbdx_take(layout, particles, 1);
    c->guarded = (uint8_t *)isphpbdx_take(layout, particles, 1);
    c->lost = (uint8_t *)isphpbdx_take(layout, particles, 1);
}
static int isphpbdx_block_count(int items) { return (items + ISPHPBDX_BLOCK - 1) / ISPHPBDX_BLOCK; }
static void isphpbdx_run_particles(const isphpbdx_coupling *c, void (*task)(void *ctx, int block), void *ctx) {
    isphpbdx_run(&c->fluid->desc.parallel, task, ctx, isphpbdx_block_count(c->water.count));
}
static int isphpbdx_particle_end(const isphpbdx_coupling *c, int block) {
    return isphpbdx_mini((block + 1) * ISPHPBDX_BLOCK, c->water.count);
}
static void isphpbdx_run_vertices(const isphpbdx_coupling *c, void (*task)(void *ctx, int block), void *ctx) {
    isphpbdx_run(&c->fluid->desc.parallel, task, ctx, isphpbdx_block_count(c->soft->counts.vertices));
}
static int isphpbdx_vertex_end(const isphpbdx_coupling *c, int block) {
    return isphpbdx_mini((block + 1) * ISPHPBDX_BLOCK, c->soft->counts.vertices);
}

/* ==== [coupling-bodies] which bodies are wet, and what is remembered of them =======================================*/
static bool isphpbdx_is_closed(const ipbdx_body *body) { return body->used && body->closed; }
/* Filled with tetrahedra: nobody's home. */
static bool isphpbdx_is_solid(const ipbdx_body *body) {
    return body->closed && body->group_count[IPBDX_VOLUMES] + body->group_count[IPBDX_ELASTICS] > 0;
}
static bool isphpbdx_is_held(const ipbd_world *soft, const ipbdx_body *body) {
    int v;
    for (v = body->vertex_begin; v < body->vertex_begin + body->vertex_count; ++v)
        if (!(soft->inverse_masses[v] > 0.0f)) return true;
    return false;
}
static void isphpbdx_list_wet(isphpbd_world *world) {
    isphpbdx_coupling *c = &world->coupling;
    int i;
    memset(c->wet, 0, (size_t)world->desc.capacity.soft.bodies * sizeof(isphpbdx_wet));
    for (i = 0; i < world->pools[ISPHPBDX_SOFTS].capacity; ++i) {
        const isphpbdx_soft *soft = (const isphpbdx_soft *)isphpbdx_used(world, ISPHPBDX_SOFTS, i);
        const int slot = soft ? (int)(soft->body.id & 0xffffu) - 1 : -1;
        const ipbdx_body *body = world->soft->bodies + isphpbdx_maxi(slot, 0);
        if (slot < 0 || !soft->wet) continue;
        c->wet[slot].fluids = soft->fluids;
        c->wet[slot].solid = isphpbdx_is_solid(body);
        c->wet[slot].held = isphpbdx_is_held(world->soft, body);
        c->wet[slot].friction = 1.0f - soft->surface.slip, c->wet[slot].grip = 1.0f;
    }
}
/* Where the budget has no substeps left, particles are slowed down to the path that contacts can follow; so are the
   vertices of bodies that meet water, against the motion of their centre: linear momentum is kept, spin is not. In a
   shell that was crushed through itself nothing else would end the quarrel of its volume with water in its folds. */
static void isphpbdx_slow_softs(isphpbdx_coupling *c) {
    const float most = isphx_speed_limit(c->fluid);
    ipbd_world *soft = c->soft;
    int slot, v;
    for (slot = 0; slot < soft->counts.bodies; ++slot) {
        const ipbdx_body *body = soft->bodies + slot;
        const int end = body->vertex_begin + body->vertex_count;
        isphpbd_vec3 sum = ipbdx_zero3();
        float mass = 0.0f, fastest = 0.0f;
        if (!body->used || !c->wet[slot].fluids) continue;
        for (v = body->vertex_begin; v < end; ++v) {
            sum = isphpbdx_madd(sum, isphpbdx_get3(soft->velocities, v), soft->masses[v]);
            mass += soft->masses[v];
        }
        sum = isphpbdx_scale(sum, mass > 0.0f ? 1.0f / mass : 0.0f);
        for (v = body->vertex_begin; v < end; ++v)
            fastest = isphpbdx_max(fastest, isphpbdx_length(isphpbdx_sub(isphpbdx_get3(soft->velocities, v), sum)));
        if (!(fastest > most)) continue;
        for (v = body->vertex_begin; v < end; ++v)
            isphpbdx_put3(soft->velocities, v,
                          ipbdx_lerp3(sum, isphpbdx_get3(soft->velocities, v), most / fastest));
    }
}
static bool isphpbdx_is_known(const isphpbdx_coupling *c, int slot) {
    const ipbdx_body *body = c->soft->bodies + slot;
    return c->known[slot].used && body->used && c->known[slot].generation == body->generation &&
           c->known[slot].vertex_count == body->vertex_count;
}
/* Reactions follow their bodies when these move in the arrays; new bodies have none. */
static void isphpbdx_follow_bodies(isphpbdx_coupling *c) {
    int slot;
    bool same = true;
    for (slot = 0; slot < c->soft->desc.capacity.bodies && same; ++slot)
        same = isphpbdx_is_known(c, slot) ? c->known[slot].vertex_begin == c->soft->bodies[slot].vertex_begin
                                          : !c->known[slot].used && !c->soft->bodies[slot].used;
    if (same) return;
    memcpy(c->change, c->reaction, 16 * (size_t)c->soft->desc.capacity.vertices);
    for (slot = 0; slot < c->soft->desc.capacity.bodies; ++slot) {
        const ipbdx_body *body = c->soft->bodies + slot;
        isphpbdx_known *known = c->known + slot;
        float *to = c->reaction + 4 * (size_t)body->vertex_begin;
        if (isphpbdx_is_known(c, slot)) {
            memcpy(to, c->change + 4 * (size_t)known->vertex_begin, 16 * (size_t)body->vertex_count);
            known->vertex_begin = body->vertex_begin;
            continue;
        }
        memset(known, 0, sizeof *known);
        if (!body->used) continue;
        memset(to, 0, 16 * (size_t)body->vertex_count);
        known->used = 1, known->generation = body->generation;
        known->vertex_begin = body->vertex_begin, known->vertex_count = body->vertex_count;
    }
}
/* Which bodies there are, as a number. */
static uint64_t isphpbdx_bodies_stamp(const ipbd_world *soft) {
    uint64_t hash = 1;
    int slot;
    for (slot = 0; slot < soft->counts.bodies; ++slot) {
        const ipbdx_body *body = soft->bodies + slot;
        hash = isphpbdx_hash_word(hash, body->used ? body->generation + 1u : 0u);
        hash = isphpbdx_hash_word(hash, (uint32_t)body->triangle_begin);
    }
    return hash;
}
/* Looks an edge up in a hash table of 3 * triangle + edge (or -1); enters it where it is new. Answers its first. */
static int isphpbdx_rim_edge(const ipbd_arrays *a, int *table, uint32_t mask, int self) {
    const uint32_t *t = a->triangles + self / 3 * 3;
    const uint32_t i = t[self % 3], j = t[(self % 3 + 1) % 3];
    const uint32_t lo = i < j ? i : j, hi = i < j ? j : i;
    uint32_t slot = (uint32_t)(isphpbdx_hash_word(isphpbdx_hash_word(0, lo), hi) >> 24) & mask;
    for (; table[slot] >= 0; slot = (slot + 1u) & mask) {
        const uint32_t *other = a->triangles + table[slot] / 3 * 3;
        const uint32_t oi = other[table[slot] % 3], oj = other[(table[slot] % 3 + 1) % 3];
        if ((oi == lo && oj == hi) || (oi == hi && oj == lo)) return table[slot];
    }
    table[slot] = self;
    return self;
}
/* Edges without a second triangle hold nobody: water runs off there. The table is the grid's, idle now. */
static void isphpbdx_find_rims(isphpbdx_coupling *c) {
    const ipbd_arrays a = ipbd_world_arrays(c->soft);
    const uint64_t stamp = isphpbdx_bodies_stamp(c->soft);
    uint32_t mask = 1;
    int i;
    if (stamp == c->rims) return;
    c->rims = stamp;
    while ((int)(2u * mask) <= c->boxes.cell_capacity) mask *= 2u;
    for (i = 0; i < (int)mask; ++i) c->boxes.start[i] = -1;
    memset(c->open_edges, 7, (size_t)a.triangle_count);
    for (i = 0; i < 3 * a.triangle_count; ++i) {
        const int other = isphpbdx_rim_edge(&a, c->boxes.start, mask - 1u, i);
        if (other == i) continue;
        c->open_edges[other / 3] &= (uint8_t)(7 & ~(1 << other % 3));
        c->open_edges[i / 3] &= (uint8_t)(7 & ~(1 << i % 3));
    }
}

/* ---- closed surfaces, of which particles remember the side: [coupling-homes] ---- */
/* Of all closed surfaces, where they are, and how often particles were edited; 0: there are none. */
static uint64_t isphpbdx_shells_digest(const isphpbdx_coupling *c) {
    uint64_t hash = isphpbdx_hash_word(isphpbdx_bodies_stamp(c->soft), c->fluid->edits);
    bool any = false;
    int slot, v;
    for (slot = 0; slot < c->soft->counts.bodies; ++slot) {
        const ipbdx_body *body = c->soft->bodies + slot;
        if (!isphpbdx_is_closed(body)) continue;
        any = true;
        for (v = body->vertex_begin; v < body->vertex_begin + body->vertex_count; ++v)
            hash = isphpbdx_hash_words(hash, c->soft->positions + 4 * (size_t)v, 3);
    }
    return any ? hash | 1u : 0u;
}
static void isphpbdx_forget_homes(isphpbdx_coupling *c, int capacity) {
    int i;
    for (i = 0; i < capacity; ++i) c->homed[i] = ~(uint32_t)i; /* no id has these bits in this slot */
}
/* Homes were found among shells and particles that are still there. */
static void isphpbdx_watch_shells(isphpbd_world *world) {
    isphpbdx_coupling *c = &world->coupling;
    const uint64_t digest = isphpbdx_shells_digest(c);
    if (digest == c->shells) return;
    isphpbdx_forget_homes(c, world->desc.capacity.fluid_particles);
    c->shells = digest;
}

/* ==== [coupling-grid] which faces are near =========================================================================*/
static int isphpbdx_cell(const isphpbdx_boxes *b, int k, float x) {
    const float c = (x - b->lo[k]) * b->inverse;
    return c < 0.0f ? 0 : c >= (float)b->dim[k] ? b->dim[k] - 1 : (int)c;
}
static bool isphpbdx_boxes_bounds(isphpbdx_boxes *b, const float *box, int count, float hi[3]) {
    int i, k;
    b->empty = count == 0;
    if (b->empty) return false;
    for (k = 0; k < 3; ++k) b->lo[k] = box[k], hi[k] = box[3 + k];
    for (i = 1; i < count; ++i)
        for (k = 0; k < 3; ++k)
            b->lo[k] = isphpbdx_min(b->lo[k], box[6 * i + k]), hi[k] = isphpbdx_max(hi[k], box[6 * i + 3 + k]);
    return true;
}
typedef struct isphpbdx_sorting {
    isphpbdx_boxes *boxes;
    const float *box;
    int count;
} isphpbdx_sorting;

static uint32_t isphpbdx_cell_bits(const isphpbdx_boxes *b, const float *corner) {
    return (uint32_t)isphpbdx_cell(b, 0, corner[0]) | (uint32_t)isphpbdx_cell(b, 1, corner[1]) << 10 |
           (uint32_t)isphpbdx_cell(b, 2, corner[2]) << 20;
}
static void isphpbdx_cells_task(void *ctx, int block) {
    const isphpbdx_sorting *s = (const isphpbdx_sorting *)ctx;
    const int end = isphpbdx_mini((block + 1) * ISPHPBDX_BLOCK, s->count);
    int i;
    for (i = block * ISPHPBDX_BLOCK; i < end; ++i) {
        s->boxes->first[i] = isphpbdx_cell_bits(s->boxes, s->box + 6 * (size_t)i);
        s->boxes->last[i] = isphpbdx_cell_bits(s->boxes, s->box + 6 * (size_t)i + 3);
    }
}
/* The cells of a size, and in which every box is; false where those are too many. */
static bool isphpbdx_boxes_fit(isphpbdx_sorting *s, const isphpbd_parallel *parallel, const float hi[3], float size) {
    isphpbdx_boxes *b = s->boxes;
    double cells = 1.0, items = 0.0;
    int i, k;
    b->inverse = 1.0f / size;
    for (k = 0; k < 3; ++k) {
        const float n = (hi[k] - b->lo[k]) * b->inverse;
        if (n >= 1000.0f) return false;
        b->dim[k] = (int)n + 1, cells *= b->dim[k];
    }
    if (cells > (double)b->cell_capacity) return false;
    isphpbdx_run(parallel, isphpbdx_cells_task, s, isphpbdx_block_count(s->count));
    for (i = 0; i < s->count; ++i) {
        const uint32_t more = b->last[i] - b->first[i]; /* no axis borrows from the next */
        items += (double)((1u + (more & 1023u)) * (1u + (more >> 10 & 1023u))) * (double)(1u + (more >> 20));
    }
    return items <= (double)b->item_capacity;
}
/* Counts a box in its cells, or puts it there. */
static void isphpbdx_boxes_enter(isphpbdx_boxes *b, int i, bool put) {
    const uint32_t f = b->first[i], l = b->last[i];
    int x, y, z;
    for (z = (int)(f >> 20); z <= (int)(l >> 20); ++z)
        for (y = (int)(f >> 10 & 1023u); y <= (int)(l >> 10 & 1023u); ++y)
            for (x = (int)(f & 1023u); x <= (int)(l & 1023u); ++x) {
                int *cell = b->start + (z * b->dim[1] + y) * b->dim[0] + x;
                if (put) b->item[--*cell] = i;
                else ++*cell;
            }
}
static void isphpbdx_boxes_build(isphpbdx_coupling *c, float size) {
    isphpbdx_boxes *b = &c->boxes;
    isphpbdx_sorting s;
    float hi[3];
    int i, sum = 0, total;
    s.boxes = b, s.box = c->box, s.count = c->face_count;
    if (!isphpbdx_boxes_bounds(b, c->box, c->face_count, hi)) return;
    while (!isphpbdx_boxes_fit(&s, &c->fluid->desc.parallel, hi, size)) size *= 1.5f;
    total = b->dim[0] * b->dim[1] * b->dim[2];
    memset(b->start, 0, ((size_t)total + 1) * sizeof(int));
    for (i = 0; i < c->face_count; ++i) isphpbdx_boxes_enter(b, i, false);
    for (i = 0; i < total; ++i) sum += b->start[i], b->start[i] = sum;
    b->start[total] = sum;
    for (i = c->face_count - 1; i >= 0; --i) isphpbdx_boxes_enter(b, i, true);
}
/* Faces whose boxes share a cell with the box lo .. hi, each once: in the first of these cells, which beyond the lowest
   on an axis is where the face begins. */
static int isphpbdx_boxes_gather(const isphpbdx_boxes *b, const float lo[3], const float hi[3], int *out, int room) {
    int a[3], e[3], k, x, y, z, j, n = 0;
    if (b->empty) return 0;
    for (k = 0; k < 3; ++k) {
        if (!(hi[k] >= b->lo[k]) || !((lo[k] - b->lo[k]) * b->inverse < (float)b->dim[k])) return 0;
        a[k] = isphpbdx_cell(b, k, lo[k]), e[k] = isphpbdx_cell(b, k, hi[k]);
    }
    for (z = a[2]; z <= e[2]; ++z)
        for (y = a[1]; y <= e[1]; ++y)
            for (x = a[0]; x <= e[0]; ++x) {
                const int *cell = b->start + (z * b->dim[1] + y) * b->dim[0] + x;
                const uint32_t mask =
                    (x > a[0] ? 1023u : 0u) | (y > a[1] ? 1023u << 10 : 0u) | (z > a[2] ? 1023u << 20 : 0u);
                const uint32_t here = ((uint32_t)x | (uint32_t)y << 10 | (uint32_t)z << 20) & mask;
                for (j = cell[0]; j < cell[1] && n < room; ++j) {
                    out[n] = b->item[j];
                    n += mask == 0u || (b->first[b->item[j]] & mask) == here;
                }
            }
    return n;
}

static bool isphpbdx_boxes_meet(const float *box, const float lo[3], const float hi[3]) {
    return box[0] <= hi[0] && box[3] >= lo[0] && box[1] <= hi[1] && box[4] >= lo[1] && box[2] <= hi[2] &&
           box[5] >= lo[2];
}

/* ==== [coupling-faces] the wet triangles ===========================================================================*/
static void isphpbdx_face_box(isphpbdx_coupling *c, int f, const float *p, const float *q) {
    const int *v = c->face[f].v;
    float *box = c->box + 6 * (size_t)f;
    int k, j;
    for (k = 0; k < 3; ++k) box[k] = 3e38f, box[3 + k] = -3e38f;
    for (j = 0; j < 3; ++j)
        for (k = 0; k < 3; ++k) {
            const float x = p[4 * (size_t)v[j] + (size_t)k], y = q[4 * (size_t)v[j] + (size_t)k];
            box[k] = isphpbdx_min(box[k], isphpbdx_min(x, y));
            box[3 + k] = isphpbdx_max(box[3 + k], isphpbdx_max(x, y));
        }
}
static void isphpbdx_face_make(isphpbdx_face *f, const float *p, const float *v) {
    const isphpbd_vec3 a = isphpbdx_get3(p, f->v[0]);
    isphpbd_vec3 cross;
    float area, r = 0.0f, speed = 0.0f;
    int k;
    f->shape.corner = a;
    f->shape.edge1 = isphpbdx_sub(isphpbdx_get3(p, f->v[1]), a),
    f->shape.edge2 = isphpbdx_sub(isphpbdx_get3(p, f->v[2]), a);
    cross = isphpbdx_cross(f->shape.edge1, f->shape.edge2);
    area = isphpbdx_length(cross);
    f->shape.normal = area > 0.0f ? isphpbdx_scale(cross, 1.0f / area) : isphpbd_v3(0.0f, 0.0f, 0.0f);
    f->centre = isphpbdx_madd(isphpbdx_madd(a, f->shape.edge1, 1.0f / 3.0f), f->shape.edge2, 1.0f / 3.0f);
    for (k = 0; k < 3; ++k) {
        const isphpbd_vec3 d = isphpbdx_sub(isphpbdx_get3(p, f->v[k]), f->centre), u = isphpbdx_get3(v, f->v[k]);
        r = isphpbdx_max(r, isphpbdx_dot(d, d)), speed = isphpbdx_max(speed, isphpbdx_dot(u, u));
    }
    f->radius = sqrtf(r), f->speed = sqrtf(speed);
}
/* Lent mass has no weight: the water that lends it has, and leans on the faces by its pressure. It takes part in the
   drift of its body instead. */
static void isphpbdx_find_pulls(isphpbdx_coupling *c) {
    int v;
    for (v = 0; v < c->soft->counts.vertices; ++v) isphpbdx_put3(c->pull, v, c->known[c->soft->vertex_body[v]].drift);
}
static void isphpbdx_faces_task(void *ctx, int block) {
    isphpbdx_coupling *c = (isphpbdx_coupling *)ctx;
    const int end = isphpbdx_mini((block + 1) * ISPHPBDX_BLOCK, c->face_count);
    int f;
    for (f = block * ISPHPBDX_BLOCK; f < end; ++f) {
        isphpbdx_face_make(c->face + f, c->soft->positions, c->soft->velocities);
        isphpbdx_face_box(c, f, c->soft->positions, c->soft->positions);
    }
}
/* Lists the wet triangles. */
static void isphpbdx_list_faces(isphpbdx_coupling *c) {
    const ipbd_arrays a = ipbd_world_arrays(c->soft);
    int t, k;
    double area = 0.0;
    c->face_count = 0;
    memset(c->degree, 0, (size_t)a.vertex_count * sizeof(int));
    for (t = 0; t < a.triangle_count; ++t) {
        const int body = (int)c->soft->vertex_body[a.triangles[3 * t]];
        isphpbdx_face *f = c->face + c->face_count;
        if (!c->wet[body].fluids) continue;
        for (k = 0; k < 3; ++k) f->v[k] = (int)a.triangles[3 * t + k], c->degree[f->v[k]]++;
        f->body = body, f->shape.open_edges = c->open_edges[t], f->sides = 0;
        c->face_count++;
    }
    isphpbdx_run(&c->fluid->desc.parallel, isphpbdx_faces_task, c, isphpbdx_block_count(c->face_count));
    for (t = 0; t < c->face_count; ++t)
        area += 0.5 * (double)isphpbdx_length(isphpbdx_cross(c->face[t].shape.edge1, c->face[t].shape.edge2));
    c->smoothing = area > 0.0 ? isphpbdx_mini((int)(2.0 * (double)(c->dx * c->dx) * c->face_count / area + 0.5), 8) : 0;
}

/* ==== [coupling-places] nearest faces of every particle ============================================================*/
typedef struct isphpbdx_seen { /* the nearest faces of a particle, in the order in which it looked at them */
    float distance[ISPHPBDX_SEEN], x[ISPHPBDX_SEEN], y[ISPHPBDX_SEEN], z[ISPHPBDX_SEEN]; /* x, y, z: spot's normal */
    int face[ISPHPBDX_SEEN], v[3][ISPHPBDX_SEEN];
    int feature[ISPHPBDX_SEEN]; /* as of isphx_triangle_nearest(); -1: a rim, which holds nobody */
    int count;
} isphpbdx_seen;

typedef struct isphpbdx_search {
    isphpbd_vec3 p;
    float reach, contact;
    isphpbdx_seen seen;
    int order[ISPHPBDX_SEEN]; /* of what it sees, by distance; only where isphpbdx_order_seen() was asked to */
    isphpbdx_spot place[ISPHPBDX_PLACES];
    int place_count;
    isphpbdx_nearby nearby[ISPHPBDX_NEAR];
    float distance[ISPHPBDX_NEAR];
    int near_count;
    float clear; /* m, to the nearest face of any kind */
    float nearest, cosine;
    int inside; /* face + 1 */
} isphpbdx_search;

typedef struct isphpbdx_glance { /* at four faces */
    int face[4], v[3][4];
    float distance[4], x[4], y[4], z[4]; /* x, y, z: from the nearest point to the particle, of length 1 */
    float feature[4];
} isphpbdx_glance;

static void isphpbdx_keep_near(isphpbdx_search *s, int face, float distance, float gap) {
    int k = s->near_count, j;
    if (k == ISPHPBDX_NEAR && !(distance < s->distance[k - 1])) return;
    if (k < ISPHPBDX_NEAR) s->near_count++;
    else --k;
    for (j = k; j > 0 && s->distance[j - 1] > distance; --j)
        s->distance[j] = s->distance[j - 1], s->nearby[j] = s->nearby[j - 1];
    s->distance[j] = distance, s->nearby[j].face = face, s->nearby[j].gap = gap;
}
/* Is the face at k before the one at j, by distance and then by when they were seen? */
static bool isphpbdx_seen_before(const isphpbdx_seen *seen, int k, int j) {
    return seen->distance[k] < seen->distance[j] || (!(seen->distance[j] < seen->distance[k]) && k < j);
}
/* Forgets the farthest, and of equals the last; false where this distance is not less. */
static bool isphpbdx_seen_drop(isphpbdx_seen *seen, float distance) {
    int farthest = 0, k, j;
    for (k = 1; k < seen->count; ++k)
        if (isphpbdx_seen_before(seen, farthest, k)) farthest = k;
    if (!(distance < seen->distance[farthest])) return false;
    for (k = farthest; k + 1 < seen->count; ++k) {
        seen->distance[k] = seen->distance[k + 1];
        seen->x[k] = seen->x[k + 1], seen->y[k] = seen->y[k + 1], seen->z[k] = seen->z[k + 1];
        seen->face[k] = seen->face[k + 1], seen->feature[k] = seen->feature[k + 1];
        for (j = 0; j < 3; ++j) seen->v[j][k] = seen->v[j][k + 1];
    }
    seen->count--;
    return true;
}
/* Which of the faces k .. k + 3 have this corner, as bits. */
#ifdef ISPHPBDX_SSE2
static int isphpbdx_have_corner(const isphpbdx_seen *seen, int k, int corner) {
    const __m128i all = _mm_set1_epi32(corner);
    __m128i same = _mm_cmpeq_epi32(_mm_loadu_si128((const __m128i *)(const void *)(seen->v[0] + k)), all);
    same = _mm_or_si128(same, _mm_cmpeq_epi32(_mm_loadu_si128((const __m128i *)(const void *)(seen->v[1] + k)), all));
    same = _mm_or_si128(same, _mm_cmpeq_epi32(_mm_loadu_si128((const __m128i *)(const void *)(seen->v[2] + k)), all));
    return _mm_movemask_ps(_mm_castsi128_ps(same));
}
#else
static int isphpbdx_have_corner(const isphpbdx_seen *seen, int k, int corner) {
    int j, mask = 0;
    for (j = 0; j < 4; ++j)
        mask |= (seen->v[0][k + j] == corner || seen->v[1][k + j] == corner || seen->v[2][k + j] == corner) << j;
    return mask;
}
#endif
/* The nearest point of a face on an edge or a corner is not the surface's where a nearer face shares that: a flat sheet
   of many triangles is one wall. */
static bool isphpbdx_is_hidden(const isphpbdx_seen *seen, int k) {
    static const int first[7] = {0, 0, 1, 2, 0, 1, 2}, second[7] = {0, 1, 2, 0, 0, 1, 2};
    const int feature = seen->feature[k];
    int j, i;
    for (j = 0; j < seen->count && feature > 0; j += 4) {
        int mask = isphpbdx_have_corner(seen, j, seen->v[first[feature]][k]);
        if (mask != 0 && feature < 4) mask &= isphpbdx_have_corner(seen, j, seen->v[second[feature]][k]);
        for (i = j; mask != 0; mask >>= 1, ++i)
            if ((mask & 1) && isphpbdx_seen_before(seen, i, k)) return true;
    }
    return feature < 0;
}
/* Bits of the faces that look another way than n. */
static uint32_t isphpbdx_look_away(const isphpbdx_seen *seen, isphpbd_vec3 n) {
    const isphpbdx_f4 x = isphpbdx_f4_all(n.x), y = isphpbdx_f4_all(n.y), z = isphpbdx_f4_all(n.z);
    uint32_t same = 0;
    int k;
    for (k = 0; k < seen->count; k += 4) {
        isphpbdx_f4 cosine = isphpbdx_f4_mul(x, isphpbdx_f4_load(seen->x + k));
        cosine = isphx_madd4(cosine, y, isphpbdx_f4_load(seen->y + k));
        cosine = isphx_madd4(cosine, z, isphpbdx_f4_load(seen->z + k));
        same |= (uint32_t)isphpbdx_f4_below(isphpbdx_f4_all(0.8f), cosine) << k;
    }
    return ~same;
}
static uint32_t isphpbdx_not_hidden(const isphpbdx_seen *seen, uint32_t open) {
    int k;
    for (k = 0; k < seen->count; ++k)
        if ((open >> k & 1u) && isphpbdx_is_hidden(seen, k)) open &= ~(1u << k);
    return open;
}
/* The walls: from the nearest on, what looks another way and is not hidden. */
static void isphpbdx_choose_places(isphpbdx_search *s) {
    const isphpbdx_seen *seen = &s->seen;
    uint32_t open = seen->count > 0 ? 0xffffffffu >> (ISPHPBDX_SEEN - seen->count) : 0u;
    while (open != 0u && s->place_count < ISPHPBDX_PLACES) {
        isphpbdx_spot *place = s->place + s->place_count;
        int k, next = 0;
        for (k = 0; k < seen->count; ++k)
            if ((open >> k & 1u) && (!(open >> next & 1u) || seen->distance[k] < seen->distance[next])) next = k;
        open &= ~(1u << next);
        if (isphpbdx_is_hidden(seen, next)) continue;
        place->face = seen->face[next], place->distance = seen->distance[next], place->missed = 0.0f;
        place->normal = isphpbd_v3(seen->x[next], seen->y[next], seen->z[next]);
        open = isphpbdx_not_hidden(seen, open & isphpbdx_look_away(seen, place->normal));
        s->place_count++;
    }
}
/* isphx_triangle_nearest() of four triangles at once, with the same bits: from edges and the particle, seen from the
   first corner, to the nearest point as shares u, v of the edges, and its feature. What that function asks last is
   looked at first here, and overruled by the others. */
static isphpbdx_f4 isphpbdx_nearest4(ipbdx_v4 e1, ipbdx_v4 e2, ipbdx_v4 ap, isphpbdx_f4 *u, isphpbdx_f4 *v) {
    const isphpbdx_f4 zero = isphpbdx_f4_all(0.0f), one = isphpbdx_f4_all(1.0f);
    const ipbdx_v4 bp = ipbdx_v4_sub(ap, e1), cp = ipbdx_v4_sub(ap, e2);
    const isphpbdx_f4 d1 = ipbdx_v4_dot(e1, ap), d2 = ipbdx_v4_dot(e2, ap), d3 = ipbdx_v4_dot(e1, bp),
                      d4 = ipbdx_v4_dot(e2, bp), d5 = ipbdx_v4_dot(e1, cp), d6 = ipbdx_v4_dot(e2, cp);
    const isphpbdx_f4 va = isphpbdx_f4_sub(isphpbdx_f4_mul(d3, d6), isphpbdx_f4_mul(d5, d4)),
                      vb = isphpbdx_f4_sub(isphpbdx_f4_mul(d5, d2), isphpbdx_f4_mul(d1, d6)),
                      vc = isphpbdx_f4_sub(isphpbdx_f4_mul(d1, d4), isphpbdx_f4_mul(d3, d2));
    const isphpbdx_f4 d43 = isphpbdx_f4_sub(d4, d3), d56 = isphpbdx_f4_sub(d5, d6);
    const isphpbdx_f4 scale = isphpbdx_f4_div(one, isphpbdx_f4_add(isphpbdx_f4_add(va, vb), vc)),
                      bc = isphpbdx_f4_div(d43, isphpbdx_f4_add(d43, d56)),
                      ac = isphpbdx_f4_div(d2, isphpbdx_f4_sub(d2, d6)),
                      ab = isphpbdx_f4_div(d1, isphpbdx_f4_sub(d1, d3));
    /* where each of these is not above 0 the feature of that number has the nearest point */
    const isphpbdx_f4 on2 = isphpbdx_f4_max(va, isphpbdx_f4_sub(zero, isphpbdx_f4_min(d43, d56))),
                      on3 = isphpbdx_f4_max(isphpbdx_f4_max(vb, d6), isphpbdx_f4_sub(zero, d2)),
                      on6 = isphpbdx_f4_max(isphpbdx_f4_sub(zero, d6), d56),
                      on1 = isphpbdx_f4_max(isphpbdx_f4_max(vc, d3), isphpbdx_f4_sub(zero, d1)),
                      on5 = isphpbdx_f4_max(isphpbdx_f4_sub(zero, d3), d43), on4 = isphpbdx_f4_max(d1, d2);
    isphpbdx_f4 feature = ipbdx_f4_select_gt(on2, zero, zero, isphpbdx_f4_all(2.0f));
    *u = ipbdx_f4_select_gt(on2, zero, isphpbdx_f4_mul(vb, scale), isphpbdx_f4_sub(one, bc));
    *v = ipbdx_f4_select_gt(on2, zero, isphpbdx_f4_mul(vc, scale), bc);
    *u = ipbdx_f4_select_gt(on3, zero, *u, zero), *v = ipbdx_f4_select_gt(on3, zero, *v, ac);
    *u = ipbdx_f4_select_gt(on6, zero, *u, zero), *v = ipbdx_f4_select_gt(on6, zero, *v, one);
    *u = ipbdx_f4_select_gt(on1, zero, *u, ab), *v = ipbdx_f4_select_gt(on1, zero, *v, zero);
    *u = ipbdx_f4_select_gt(on5, zero, *u, one), *v = ipbdx_f4_select_gt(on5, zero, *v, zero);
    *u = ipbdx_f4_select_gt(on4, zero, *u, zero), *v = ipbdx_f4_select_gt(on4, zero, *v, zero);
    feature = ipbdx_f4_select_gt(on3, zero, feature, isphpbdx_f4_all(3.0f));
    feature = ipbdx_f4_select_gt(on6, zero, feature, isphpbdx_f4_all(6.0f));
    feature = ipbdx_f4_select_gt(on1, zero, feature, one);
    feature = ipbdx_f4_select_gt(on5, zero, feature, isphpbdx_f4_all(5.0f));
    return ipbdx_f4_select_gt(on4, zero, feature, isphpbdx_f4_all(4.0f));
}
/* Looks at four faces; answers which are in reach, as bits. */
static int isphpbdx_look(const isphpbdx_coupling *c, const isphpbdx_search *s, isphpbdx_glance *g) {
    uint32_t corner[3][4];
    ipbdx_v4 p, a, e1, e2, away;
    isphpbdx_f4 u, v, r;
    int k, j;
    for (k = 0; k < 4; ++k)
        for (j = 0; j < 3; ++j) g->v[j][k] = c->face[g->face[k]].v[j], corner[j][k] = (uint32_t)g->v[j][k];
    a = ipbdx_gather(c->origin, corner[0]).p; /* the shapes of the faces, from whose vertices they were made */
    e1 = ipbdx_v4_sub(ipbdx_gather(c->origin, corner[1]).p, a);
    e2 = ipbdx_v4_sub(ipbdx_gather(c->origin, corner[2]).p, a);
    p.x = isphpbdx_f4_all(s->p.x), p.y = isphpbdx_f4_all(s->p.y), p.z = isphpbdx_f4_all(s->p.z);
    isphpbdx_f4_store(g->feature, isphpbdx_nearest4(e1, e2, ipbdx_v4_sub(p, a), &u, &v));
    away = ipbdx_v4_sub(p, ipbdx_v4_madd(ipbdx_v4_madd(a, e1, u), e2, v));
    r = isphpbdx_f4_sqrt(ipbdx_v4_dot(away, away));
    isphpbdx_f4_store(g->distance, r);
    away = ipbdx_v4_scale(away, isphpbdx_f4_div(isphpbdx_f4_all(1.0f), r));
    isphpbdx_f4_store(g->x, away.x), isphpbdx_f4_store(g->y, away.y), isphpbdx_f4_store(g->z, away.z);
    return isphpbdx_f4_below(r, isphpbdx_f4_all(s->reach));
}
/* Keeps a face of a glance in mind. */
static void isphpbdx_keep_seen(isphpbdx_search *s, const isphpbdx_glance *g, int k, const isphpbdx_face *f,
                               float side) {
    isphpbdx_seen *seen = &s->seen;
    const float r = g->distance[k];
    const int feature = (int)g->feature[k];
    int n, j;
    if (seen->count == ISPHPBDX_SEEN && !isphpbdx_seen_drop(seen, r)) return;
    n = seen->count++;
    seen->distance[n] = r, seen->face[n] = g->face[k];
    for (j = 0; j < 3; ++j) seen->v[j][n] = g->v[j][k];
    seen->feature[n] = isphx_on_rim(&f->shape, feature) && isphpbdx_abs(side) < 0.999f * r ? -1 : feature;
    seen->x[n] = g->x[k], seen->y[n] = g->y[k], seen->z[n] = g->z[k];
    if (!(r > 1e-6f * s->reach))
        seen->x[n] = f->shape.normal.x, seen->y[n] = f->shape.normal.y, seen->z[n] = f->shape.normal.z;
}
/* A face of a glance that is in reach. */
static void isphpbdx_visit(const isphpbdx_coupling *c, isphpbdx_search *s, const isphpbdx_glance *g, int k) {
    const isphpbdx_face *f = c->face + g->face[k];
    const float side = isphpbdx_dot(isphpbdx_sub(s->p, f->centre), f->shape.normal), r = g->distance[k];
    s->clear = isphpbdx_min(s->clear, r);
    if (r < isphpbdx_max(1.05f * c->dx, s->contact + c->seconds * f->speed)) isphpbdx_keep_near(s, g->face[k], r, side);
    if (c->wet[f->body].solid &&
        (r < s->nearest * 0.9999f || (r < s->nearest * 1.0001f && isphpbdx_abs(side) > s->cosine * r))) {
        s->nearest = isphpbdx_min(r, s->nearest);
        s->cosine = r > 0.0f ? isphpbdx_abs(side) / r : 1.0f;
        s->inside = side < 0.0f ? g->face[k] + 1 : 0;
    }
    isphpbdx_keep_seen(s, g, k, f, side);
}
/* Looks at n faces, four by four. */
static void isphpbdx_see(const isphpbdx_coupling *c, isphpbdx_search *s, const int *list, int n, uint32_t fluid) {
    isphpbdx_seen *seen = &s->seen;
    isphpbdx_glance g;
    int i, k, mask;
    for (i = 0; i < n; i += 4) {
        for (k = 0; k < 4; ++k) g.face[k] = list[isphpbdx_mini(i + k, n - 1)];
        mask = isphpbdx_look(c, s, &g) & ((1 << isphpbdx_mini(n - i, 4)) - 1);
        for (k = 0; mask >> k != 0; ++k)
            if ((mask >> k & 1) && (c->wet[c->face[g.face[k]].body].fluids & fluid)) isphpbdx_visit(c, s, &g, k);
    }
    for (k = seen->count; k % 4 != 0; ++k) { /* they are read four by four */
        seen->x[k] = seen->y[k] = seen->z[k] = 0.0f;
        seen->v[0][k] = seen->v[1][k] = seen->v[2][k] = -1;
    }
}
static void isphpbdx_order_seen(isphpbdx_search *s) {
    int k, j;
    for (k = 0; k < s->seen.count; ++k) {
        for (j = k; j > 0 && s->seen.distance[s->order[j - 1]] > s->seen.distance[k]; --j)
            s->order[j] = s->order[j - 1];
        s->order[j] = k;
    }
}
/* Barycentric coordinates of the foot. */
static void isphpbdx_place_finish(const isphpbdx_coupling *c, isphpbdx_spot *place, isphpbd_vec3 p) {
    /* cppcheck-suppress ctuuninitvar ; the caller has chosen the place */
    const isphx_triangle *t = &c->face[place->face].shape;
    const isphpbd_vec3 d = isphpbdx_sub(isphpbdx_madd(p, place->normal, -place->distance), t->corner);
    const float d00 = isphpbdx_dot(t->edge1, t->edge1), d01 = isphpbdx_dot(t->edge1, t->edge2),
                d11 = isphpbdx_dot(t->edge2, t->edge2), d20 = isphpbdx_dot(d, t->edge1),
                d21 = isphpbdx_dot(d, t->edge2), det = d00 * d11 - d01 * d01;
    if (!(det > 0.0f)) return;
    place->u = isphpbdx_clamp((d11 * d20 - d01 * d21) / det, 0.0f, 1.0f);
    place->v = isphpbdx_clamp((d00 * d21 - d01 * d20) / det, 0.0f, 1.0f - place->u);
}
/* Beyond the edges of a solid its faces have no area: a ramp of a spacing, as isphx_block_share() has it for boxes,
   over the planes of the convex neighbours of the face that looks most towards the particle. */
static float isphpbdx_missed(const isphpbdx_coupling *c, const isphpbdx_search *s, const isphpbdx_spot *place) {
    const isphpbdx_face *own = c->face + place->face;
    isphpbd_vec3 counted[4];
    float share = 1.0f;
    int k, j, n = 1;
    for (k = 0; k < s->seen.count; ++k) { /* where several are equally near */
        const isphpbdx_face *f = c->face + s->seen.face[s->order[k]];
        if (f->body == own->body && s->seen.distance[s->order[k]] < 1.0001f * place->distance &&
            isphpbdx_dot(f->shape.normal, place->normal) > isphpbdx_dot(own->shape.normal, place->normal))
            own = f;
    }
    counted[0] = own->shape.normal;
    for (k = 0; k < s->seen.count && n < 4; ++k) {
        const isphpbdx_face *f = c->face + s->seen.face[s->order[k]];
        const float sharp = isphpbdx_min(1.0f - isphpbdx_dot(own->shape.normal, f->shape.normal), 1.0f),
                    beyond = isphpbdx_dot(isphpbdx_sub(s->p, f->centre), f->shape.normal);
        bool fresh = f->body == own->body;
        for (j = 0; j < n && fresh; ++j) fresh = isphpbdx_dot(counted[j], f->shape.normal) < 0.9f;
        if (!fresh || isphpbdx_dot(own->shape.normal, isphpbdx_sub(f->centre, own->centre)) > -1e-3f * c->dx) continue;
        counted[n++] = f->shape.normal;
        share *= 1.0f - sharp * (1.0f - isphpbdx_clamp(0.5f - beyond / c->dx, 0.0f, 1.0f));
    }
    return 1.0f - share;
}
/* From inside a solid only the way out counts. */
static void isphpbdx_turn_inside(const isphpbdx_coupling *c, isphpbdx_search *s) {
    const isphpbdx_face *f = c->face + s->inside - 1;
    int feature;
    const isphpbd_vec3 away = isphpbdx_sub(s->p, isphx_triangle_nearest(&f->shape, s->p, &feature));
    const float r = isphpbdx_length(away);
    s->place_count = 1;
    s->place[0].face = s->inside - 1, s->place[0].distance = -r, s->place[0].missed = 0.0f;
    s->place[0].normal = r > 1e-6f * s->reach ? isphpbdx_scale(away, -1.0f / r) : f->shape.normal;
}
static void isphpbdx_store_search(isphpbdx_coupling *c, int i, isphpbdx_search *s) {
    bool ordered = false;
    int k;
    if (s->inside) isphpbdx_turn_inside(c, s);
    else isphpbdx_choose_places(s);
    for (k = 0; k < s->place_count; ++k) {
        s->place[k].u = s->place[k].v = 0.0f;
        isphpbdx_place_finish(c, s->place + k, s->p);
        if (!s->inside && c->wet[c->face[s->place[k].face].body].solid) {
            if (!ordered) isphpbdx_order_seen(s), ordered = true;
            s->place[k].missed = isphpbdx_missed(c, s, s->place + k);
        }
        c->place[ISPHPBDX_PLACES * (size_t)i + (size_t)k] = s->place[k];
    }
    c->inside[i] = s->inside != 0;
    c->place_count[i] = (uint8_t)s->place_count, c->near_count[i] = (uint8_t)s->near_count;
    for (k = 0; k < s->near_count; ++k) {
        c->nearby[ISPHPBDX_NEAR * (size_t)i + (size_t)k] = s->nearby[k];
        if (s->distance[k] < s->contact + c->seconds * c->face[s->nearby[k].face].speed)
            c->contact_count[i] = (uint8_t)(k + 1);
    }
}
/* Faces near a run of particles, side by side: centre, square of the distance from it at which one may be in reach,
   normal. The fluid's order makes runs compact. */
typedef struct isphpbdx_crowd {
    int face[ISPHPBDX_GATHER], count;
    float x[ISPHPBDX_GATHER], y[ISPHPBDX_GATHER], z[ISPHPBDX_GATHER], room[ISPHPBDX_GATHER];
    float nx[ISPHPBDX_GATHER], ny[ISPHPBDX_GATHER], nz[ISPHPBDX_GATHER];
} isphpbdx_crowd;

static void isphpbdx_crowd_add(const isphpbdx_coupling *c, isphpbdx_crowd *crowd, int index) {
    const isphpbdx_face *f = c->face + index;
    const float room = c->reach + f->radius;
    const int n = crowd->count++;
    crowd->face[n] = index, crowd->x[n] = f->centre.x, crowd->y[n] = f->centre.y, crowd->z[n] = f->centre.z;
    crowd->nx[n] = f->shape.normal.x, crowd->ny[n] = f->shape.normal.y, crowd->nz[n] = f->shape.normal.z;
    crowd->room[n] = room * room;
}
static void isphpbdx_crowd_gather(const isphpbdx_coupling *c, isphpbdx_crowd *crowd, float lo[3], float hi[3]) {
    int list[ISPHPBDX_GATHER], n, k;
    for (k = 0; k < 3; ++k) lo[k] -= c->reach, hi[k] += c->reach;
    n = isphpbdx_boxes_gather(&c->boxes, lo, hi, list, ISPHPBDX_GATHER - 3);
    crowd->count = 0;
    for (k = 0; k < n; ++k)
        if (isphpbdx_boxes_meet(c->box + 6 * (size_t)list[k], lo, hi)) isphpbdx_crowd_add(c, crowd, list[k]);
    for (n = crowd->count; n % 4 != 0; ++n) {
        crowd->x[n] = crowd->y[n] = crowd->z[n] = crowd->nx[n] = crowd->ny[n] = crowd->nz[n] = 0.0f;
        crowd->room[n] = -1.0f;
    }
}
/* Lists the faces of a crowd that may be in reach of p: by their bounding spheres and their planes. */
static int isphpbdx_crowd_hold(const isphpbdx_crowd *crowd, const float *p, float reach, int *out) {
    const isphpbdx_f4 x = isphpbdx_f4_all(p[0]), y = isphpbdx_f4_all(p[1]), z = isphpbdx_f4_all(p[2]);
    const isphpbdx_f4 reach2 = isphpbdx_f4_all(reach * reach);
    int i, k, n = 0;
    for (i = 0; i < crowd->count; i += 4) {
        const isphpbdx_f4 dx = isphpbdx_f4_sub(x, isphpbdx_f4_load(crowd->x + i)),
                          dy = isphpbdx_f4_sub(y, isphpbdx_f4_load(crowd->y + i)),
                          dz = isphpbdx_f4_sub(z, isphpbdx_f4_load(crowd->z + i));
        const isphpbdx_f4 r2 = isphx_madd4(isphx_madd4(isphpbdx_f4_mul(dx, dx), dy, dy), dz, dz);
        int mask = isphpbdx_f4_below(r2, isphpbdx_f4_load(crowd->room + i));
        isphpbdx_f4 side;
        if (mask == 0) continue;
        side = isphpbdx_f4_mul(dx, isphpbdx_f4_load(crowd->nx + i));
        side = isphx_madd4(isphx_madd4(side, dy, isphpbdx_f4_load(crowd->ny + i)), dz, isphpbdx_f4_load(crowd->nz + i));
        mask &= isphpbdx_f4_below(isphpbdx_f4_mul(side, side), reach2);
        for (k = 0; k < 4; ++k) {
            out[n] = crowd->face[i + k];
            n += mask >> k & 1;
        }
    }
    return n;
}
static void isphpbdx_find_places(isphpbdx_coupling *c, int i, const isphpbdx_crowd *crowd) {
    const float *p = c->x0 + 4 * (size_t)i;
    const uint32_t bit = 1u << (c->water.material[i] & 31u);
    int list[ISPHPBDX_GATHER + 4], n;
    isphpbdx_search s;
    n = isphpbdx_crowd_hold(crowd, p, c->reach, list);
    if (n == 0) return;
    s.p = isphx_vec(p), s.reach = s.nearest = s.clear = c->reach, s.cosine = 0.0f;
    s.contact = c->keep + c->seconds * isphpbdx_length(isphx_vec(c->u0 + 4 * (size_t)i)) + 0.3f * c->dx;
    s.seen.count = s.place_count = s.near_count = s.inside = 0;
    isphpbdx_see(c, &s, list, n, bit);
    isphpbdx_store_search(c, i, &s);
    c->clear[i] = crowd->count < ISPHPBDX_GATHER - 3 ? s.clear : 0.0f; /* some may be missing */
}
/* Where the run of particles that starts at i ends, and its bounds: at most three reaches wide. */
static int isphpbdx_run_end(const isphpbdx_coupling *c, int i, int end, float lo[3], float hi[3]) {
    int k, j;
    for (k = 0; k < 3; ++k) lo[k] = hi[k] = c->x0[4 * (size_t)i + (size_t)k];
    for (j = i + 1; j < end; ++j) {
        float low[3], high[3];
        bool fits = true;
        for (k = 0; k < 3; ++k) {
            const float x = c->x0[4 * (size_t)j + (size_t)k];
            low[k] = isphpbdx_min(lo[k], x), high[k] = isphpbdx_max(hi[k], x);
            fits = fits && high[k] - low[k] <= 3.0f * c->reach;
        }
        if (!fits) return j;
        memcpy(lo, low, sizeof low), memcpy(hi, high, sizeof high);
    }
    return end;
}
static void isphpbdx_places_task(void *ctx, int block) {
    isphpbdx_coupling *c = (isphpbdx_coupling *)ctx;
    const int end = isphpbdx_mini((block + 1) * ISPHPBDX_BLOCK, c->water.count);
    isphpbdx_crowd crowd;
    int i = block * ISPHPBDX_BLOCK;
    while (i < end) {
        float lo[3], hi[3];
        const int next = isphpbdx_run_end(c, i, end, lo, hi);
        isphpbdx_crowd_gather(c, &crowd, lo, hi);
        for (; i < next; ++i) {
            c->place_count[i] = c->near_count[i] = c->contact_count[i] = c->inside[i] = 0;
            c->clear[i] = c->reach;
            if (crowd.count > 0) isphpbdx_find_places(c, i, &crowd);
        }
    }
}

/* ==== [coupling-mass] lent mass, and walls that yield ==============================================================*/
static float isphpbdx_particle_mass(const isphpbdx_coupling *c, int i) {
    return c->water.material_mass[c->water.material[i]];
}
/* Share of its mass that particle i lends to the face it is nearest to. */
static float isphpbdx_lent_share(const isphpbdx_coupling *c, int i) {
    if (c->place_count[i] == 0) return 0.0f;
    return isphpbdx_clamp(3.2f - 2.0f * c->place[ISPHPBDX_PLACES * (size_t)i].distance / c->dx, 0.0f, 1.0f);
}
static void isphpbdx_place_weights(const isphpbdx_spot *place, float b[3]) {
    b[0] = 1.0f - place->u - place->v, b[1] = place->u, b[2] = place->v;
}
/* One pass of averaging over the faces, on components first .. last of groups of four. It is symmetric and keeps sums,
   so momentum stays when mass is lent and given back through the same passes. */
static void isphpbdx_smooth(isphpbdx_coupling *c, float *value, int first, int last, float *scratch) {
    const size_t vertices = (size_t)c->soft->counts.vertices;
    size_t v;
    int f, j, k;
    memset(scratch, 0, 16 * vertices);
    for (f = 0; f < c->face_count; ++f) {
        const int *at = c->face[f].v;
        const int degree = isphpbdx_maxi(c->degree[at[0]], isphpbdx_maxi(c->degree[at[1]], c->degree[at[2]]));
        const float share = 0.9f / (float)degree;
        for (k = first; k <= last; ++k) {
            const float mean = (value[4 * at[0] + k] + value[4 * at[1] + k] + value[4 * at[2] + k]) / 3.0f;
            for (j = 0; j < 3; ++j) scratch[4 * at[j] + k] += share * (mean - value[4 * at[j] + k]);
        }
    }
    for (v = 0; v < vertices; ++v)
        for (k = first; k <= last; ++k) value[4 * v + (size_t)k] += scratch[4 * v + (size_t)k];
}
/* kg of water that every vertex carries, into star[3]. */
static void isphpbdx_lend(isphpbdx_coupling *c) {
    int i, k;
    for (i = 0; i < c->water.count; ++i) {
        const isphpbdx_spot *place = c->place + ISPHPBDX_PLACES * (size_t)i;
        const float share = isphpbdx_lent_share(c, i);
        float b[3];
        if (!(share > 0.0f)) continue;
        isphpbdx_place_weights(place, b);
        for (k = 0; k < 3; ++k)
            c->star[4 * (size_t)c->face[place->face].v[k] + 3] += b[k] * share * isphpbdx_particle_mass(c, i);
    }
    for (i = 0; i < c->smoothing; ++i) isphpbdx_smooth(c, c->star, 3, 3, c->change);
}
/* Where a fixed vertex goes in this substep; an attached one goes on as it did. */
static isphpbd_vec3 isphpbdx_fixed_velocity(const isphpbd_world *world, int v) {
    const ipbd_world *soft = world->soft;
    const ipbdx_pin *pin = soft->pins + v;
    const float h = world->coupling.seconds, share = world->run.left > h ? h / world->run.left : 1.0f;
    if (soft->bodies[soft->vertex_body[v]].asleep) return isphpbd_v3(0.0f, 0.0f, 0.0f);
    if (pin->pinned != 1u) return isphpbdx_get3(soft->velocities, v);
    return isphpbdx_scale(isphpbdx_sub(ipbdx_lerp3(pin->from, pin->to, share), isphpbdx_get3(soft->positions, v)),
                          1.0f / h);
}
/* The velocity of a vertex as the pressure solve sees it: its own, and a share of what gravity and constraints are
   going to do. Lent mass enters in star[3], the response to impulses leaves. */
static void isphpbdx_star_vertex(isphpbd_world *world, int v) {
    isphpbdx_coupling *c = &world->coupling;
    const ipbd_world *soft = c->soft;
    const ipbdx_body *body = soft->bodies + soft->vertex_body[v];
    float *star = c->star + 4 * (size_t)v, *reaction = c->reaction + 4 * (size_t)v;
    const float lent = star[3],
                held = lent < reaction[3] ? lent / reaction[3] : 1.0f; /* water left: so does its load */
    isphpbd_vec3 kick;
    star[3] = c->weight[v] = 0.0f;
    if (!(soft->inverse_masses[v] > 0.0f) || body->asleep) {
        isphpbdx_put3(c->star, v, isphpbdx_fixed_velocity(world, v));
        return;
    }
    c->weight[v] = 1.0f / (soft->masses[v] + lent);
    kick = isphpbdx_madd(isphpbdx_scale(isphx_vec(reaction), held), soft->desc.gravity,
                         body->gravity_scale * soft->masses[v]);
    kick = isphpbdx_madd(kick, isphpbdx_get3(c->pull, v), lent);
    kick = isphx_limit(isphpbdx_scale(kick, ISPHPBDX_YIELD * c->seconds * c->weight[v]), c->dx / c->seconds);
    isphpbdx_put3(c->star, v, isphpbdx_add(isphpbdx_get3(soft->velocities, v), kick));
    reaction[3] = lent;
    star[3] = ISPHPBDX_YIELD * c->weight[v];
}

/* ==== [coupling-sides] who is on which side ========================================================================*/
/* On which sides of the faces particles are, and of the faces round each vertex. */
static void isphpbdx_find_sides(isphpbdx_coupling *c) {
    int i, k, j;
    memset(c->sides, 0, (size_t)c->soft->counts.vertices);
    for (i = 0; i < c->water.count; ++i)
        for (k = 0; k < c->near_count[i]; ++k) {
            const isphpbdx_nearby *n = c->nearby + ISPHPBDX_NEAR * (size_t)i + (size_t)k;
            c->face[n->face].sides |= n->gap < 0.0f ? 1 : 2;
        }
    for (i = 0; i < c->face_count; ++i)
        for (j = 0; j < 3; ++j) c->sides[c->face[i].v[j]] |= (uint8_t)c->face[i].sides;
}
static int isphpbdx_nearest_body(const isphpbdx_coupling *c, int i) {
    if (c->place_count[i] > 0) return c->face[c->place[ISPHPBDX_PLACES * (size_t)i].face].body;
    return c->near_count[i] > 0 ? c->face[c->nearby[ISPHPBDX_NEAR * (size_t)i].face].body : -1;
}
static void isphpbdx_guard_task(void *ctx, int block) {
    const isphpbdx_coupling *c = (const isphpbdx_coupling *)ctx;
    int i, k;
    for (i = block * ISPHPBDX_BLOCK; i < isphpbdx_particle_end(c, block); ++i) {
        c->guarded[i] = 0, c->book[i] = isphpbdx_nearest_body(c, i);
        for (k = 0; k < c->near_count[i] && !c->guarded[i]; ++k) {
            const int *v = c->face[c->nearby[ISPHPBDX_NEAR * (size_t)i + (size_t)k].face].v;
            c->guarded[i] = c->sides[v[0]] == 3u || c->sides[v[1]] == 3u || c->sides[v[2]] == 3u;
        }
    }
}
static bool isphpbdx_parted_by(const isphpbdx_coupling *c, int i, isphpbd_vec3 from, isphpbd_vec3 to) {
    int k;
    for (k = 0; k < c->near_count[i]; ++k)
        if (isphx_triangle_crossed(&c->face[c->nearby[ISPHPBDX_NEAR * (size_t)i + (size_t)k].face].shape, from, to))
            return true;
    return false;
}
static bool isphpbdx_water_separated(void *user, int i, int j) {
    const isphpbdx_coupling *c = &((const isphpbd_world *)user)->coupling;
    const int a = isphpbdx_mini(i, j), b = isphpbdx_maxi(i, j);
    const isphpbd_vec3 from = isphx_vec(c->x0 + 4 * (size_t)a), to = isphx_vec(c->x0 + 4 * (size_t)b);
    return isphpbdx_parted_by(c, a, from, to) || isphpbdx_parted_by(c, b, from, to);
}

/* ==== [coupling-books] what the water next to a body gets is what the body gives ====================================
   Impulses between water and soft bodies are equal and opposite, but their levers are not: vertices move on while the
   pressure of a substep acts, lent mass is at a vertex when it gets its velocity and with its particle when it gives it
   back, places are mended without a change of velocity. The books of a body hold what its water did in the end less
   what it should have; a small rigid motion of that water takes the difference, as in [balance] of the fluid. */

/* Momentum at a place that is owed by (sign 1) or to (sign -1) the water of a body. */
static void isphpbdx_book(isphpbdx_coupling *c, int body, isphpbd_vec3 at, isphpbd_vec3 momentum, double sign) {
    if (body < 0) return;
    isphx_account_add(c->books + body, isphpbdx_sub(at, isphx_books_origin(c->fluid)), momentum, sign);
}
/* A couple r x momentum. */
static void isphpbdx_book_couple(isphpbdx_coupling *c, int body, isphpbd_vec3 r, isphpbd_vec3 momentum, double sign) {
    const isphpbd_vec3 couple = isphpbdx_cross(r, momentum);
    double *left = c->books[body].left;
    left[3] += sign * (double)couple.x, left[4] += sign * (double)couple.y, left[5] += sign * (double)couple.z;
}
/* All that the water of bodies has now: -1 when the coupling begins to change it, 1 when it is done. */
static void isphpbdx_book_water(isphpbdx_coupling *c, double sign) {
    int i;
    for (i = 0; i < c->water.count; ++i) {
        const int body = c->book[i];
        const float mass = c->water.material_mass[c->water.material[i]];
        if (body < 0) continue;
        isphpbdx_book(c, body, isphpbdx_get3(c->x1, i), isphpbdx_scale(isphpbdx_get3(c->u1, i), mass), sign);
        if (sign > 0.0)
            isphx_account_weight(c->books + body, isphpbdx_sub(isphpbdx_get3(c->x1, i), isphx_books_origin(c->fluid)),
                                 mass);
    }
}
/* What lent mass gained on its way with the vertices is the water's, but for gravity, which it has by itself. */
static void isphpbdx_book_lent(isphpbdx_coupling *c) {
    const ipbd_world *soft = c->soft;
    int v;
    for (v = 0; v < soft->counts.vertices; ++v) {
        const isphpbd_vec3 from = isphpbdx_get3(c->origin, v), to = isphpbdx_get3(soft->positions, v);
        const int body = (int)soft->vertex_body[v];
        float lent;
        if (!(c->weight[v] > 0.0f) || !c->wet[body].fluids) continue;
        lent = 1.0f / c->weight[v] - soft->masses[v];
        isphpbdx_book(c, body, to, isphpbdx_scale(isphpbdx_get3(soft->velocities, v), lent), -1.0);
        isphpbdx_book(c, body, from, isphpbdx_scale(isphpbdx_get3(c->before, v), lent), 1.0);
        isphpbdx_book(c, body, ipbdx_lerp3(from, to, 0.5f),
                      isphpbdx_scale(isphpbdx_get3(c->pull, v), lent * c->seconds), 1.0);
    }
}
static void isphpbdx_settle_task(void *ctx, int block) {
    const isphpbdx_coupling *c = (const isphpbdx_coupling *)ctx;
    int i;
    for (i = block * ISPHPBDX_BLOCK; i < isphpbdx_particle_end(c, block); ++i) {
        const isphpbd_vec3 at = isphpbdx_sub(isphpbdx_get3(c->x1, i), isphx_books_origin(c->fluid));
        if (c->book[i] < 0) continue;
        isphpbdx_add3(c->u1, i, isphpbdx_scale(isphx_account_at(c->books + c->book[i], at), -1.0f));
    }
}
/* What water has in the end has been written down. */
static void isphpbdx_books_close(isphpbdx_coupling *c) {
    const float most = 0.1f * c->dx / c->seconds;
    int slot;
    for (slot = 0; slot < c->soft->counts.bodies; ++slot) {
        isphx_account_settle(c->books + slot, most);
        isphx_account_check(c->books + slot);
    }
    isphpbdx_run_particles(c, isphpbdx_settle_task, c);
}

/* ==== [coupling-water] hooks of the fluid ==========================================================================*/
static void isphpbdx_begin_task(void *ctx, int index) { /* serial work, side by side */
    isphpbdx_coupling *c = (isphpbdx_coupling *)ctx;
    if (index == 0) isphpbdx_lend(c);
    else isphpbdx_find_sides(c);
}
static void isphpbdx_star_task(void *ctx, int block) {
    isphpbd_world *world = (isphpbd_world *)ctx;
    int v;
    for (v = block * ISPHPBDX_BLOCK; v < isphpbdx_vertex_end(&world->coupling, block); ++v)
        isphpbdx_star_vertex(world, v);
}
static void isphpbdx_water_begin(void *user, const float *positions, const float *velocities, int count,
                                 float seconds) {
    isphpbd_world *world = (isphpbd_world *)user;
    isphpbdx_coupling *c = &world->coupling;
    const uint64_t began = isphpbdx_ticks(&world->desc.clock);
    const size_t bytes = 16 * (size_t)c->soft->counts.vertices;
    c->water = isph_fluid_coupled(c->fluid);
    c->water.count = count;
    c->x0 = positions, c->u0 = velocities, c->seconds = seconds;
    c->link_count = -1;
    c->outer = 0, c->relax = 1.0f;
    isphpbdx_watch_shells(world);
    isphpbdx_list_wet(world);
    isphpbdx_follow_bodies(c);
    isphpbdx_find_rims(c);
    memcpy(c->origin, c->soft->positions, bytes);
    memcpy(c->before, c->soft->velocities, bytes);
    memset(c->star, 0, bytes), memset(c->push, 0, bytes);
    memset(c->books, 0, (size_t)c->soft->counts.bodies * sizeof *c->books);
    isphpbdx_list_faces(c);
    isphpbdx_find_pulls(c);
    isphpbdx_boxes_build(c, c->reach);
    isphpbdx_run_particles(c, isphpbdx_places_task, c);
    isphpbdx_run(&c->fluid->desc.parallel, isphpbdx_begin_task, c, 2);
    isphpbdx_run_vertices(c, isphpbdx_star_task, world);
    isphpbdx_run_particles(c, isphpbdx_guard_task, c);
    world->stats.ticks_coupling += isphpbdx_ticks(&world->desc.clock) - began;
}
static int isphpbdx_water_walls(void *user, int index, isphpbd_vec3 position, float reach, isph_wall *out,
                                int capacity) {
    const isphpbdx_coupling *c = &((const isphpbd_world *)user)->coupling;
    const int n = isphpbdx_mini(c->place_count[index], capacity);
    int k, j;
    (void)position, (void)reach;
    for (k = 0; k < n; ++k) {
        const isphpbdx_spot *place = c->place + ISPHPBDX_PLACES * (size_t)index + (size_t)k;
        const isphpbdx_face *face = c->face + place->face;
        float b[3];
        isphpbdx_place_weights(place, b);
        memset(out + k, 0, sizeof *out);
        out[k].normal = place->normal, out[k].distance = place->distance;
        out[k].velocity = isphpbdx_mix3(c->star, face->v, b);
        for (j = 0; j < 3; ++j) out[k].inverse_mass += b[j] * b[j] * c->star[4 * (size_t)face->v[j] + 3];
        out[k].friction = c->wet[face->body].friction, out[k].viscous_grip = c->wet[face->body].grip;
        out[k].missed = place->missed, out[k].tag = (uint32_t)(ISPHPBDX_PLACES * index + k);
    }
    return n;
}
/* The walls in the order in which the solve counts them, */
static void isphpbdx_list_links(isphpbdx_coupling *c) {
    const isph_fluid *f = c->fluid;
    int i, e;
    c->link_count = 0;
    for (i = 0; i < f->count; ++i)
        for (e = f->entry_first[i]; e < f->entry_first[i] + f->entry_count[i]; ++e) {
            const isphpbdx_spot *place = c->place + f->entry[e].tag;
            isphpbdx_link *link = c->link + c->link_count;
            if (f->entry[e].boundary >= 0) continue;
            link->normal = place->normal;
            isphpbdx_place_weights(place, link->b);
            memcpy(link->v, c->face[place->face].v, sizeof link->v);
            c->link_count++;
        }
}
/* and sorted by vertex, by counting: each adds up its own, in that order. */
static void isphpbdx_sort_links(isphpbdx_coupling *c) {
    const int vertices = c->soft->counts.vertices;
    int *first = c->link_first, e, k, v;
    memset(first, 0, ((size_t)vertices + 1) * sizeof(int));
    for (e = 0; e < c->link_count; ++e)
        for (k = 0; k < 3; ++k) first[c->link[e].v[k]]++;
    for (v = 0; v < vertices; ++v) first[v + 1] += first[v];
    for (e = c->link_count - 1; e >= 0; --e)
        for (k = 2; k >= 0; --k) c->link_item[--first[c->link[e].v[k]]] = 4 * e + k;
}
typedef struct isphpbdx_response {
    isphpbdx_coupling *c;
    const float *impulse;   /* along the normal of every link, on the particle */
    float *velocity_change; /* of its wall */
} isphpbdx_response;

static void isphpbdx_push_task(void *ctx, int block) {
    const isphpbdx_response *r = (const isphpbdx_response *)ctx;
    const isphpbdx_coupling *c = r->c;
    const int end = isphpbdx_mini((block + 1) * ISPHPBDX_BLOCK, c->soft->counts.vertices);
    int v, j;
    for (v = block * ISPHPBDX_BLOCK; v < end; ++v) {
        isphpbd_vec3 sum = isphpbd_v3(0.0f, 0.0f, 0.0f);
        for (j = c->link_first[v]; j < c->link_first[v + 1]; ++j) {
            const isphpbdx_link *link = c->link + c->link_item[j] / 4;
            sum = isphpbdx_add(sum, isphpbdx_scale(link->normal, -r->impulse[c->link_item[j] / 4] *
                                                                     link->b[c->link_item[j] % 4]));
        }
        isphpbdx_put3(c->change, v, sum);
    }
}
static void isphpbdx_yield_task(void *ctx, int block) {
    const isphpbdx_response *r = (const isphpbdx_response *)ctx;
    const isphpbdx_coupling *c = r->c;
    const int end = isphpbdx_mini((block + 1) * ISPHPBDX_BLOCK, c->link_count);
    int e, k;
    for (e = block * ISPHPBDX_BLOCK; e < end; ++e) {
        const isphpbdx_link *link = c->link + e;
        float sum = 0.0f;
        for (k = 0; k < 3; ++k)
            sum += link->b[k] * c->star[4 * (size_t)link->v[k] + 3] *
                   isphpbdx_dot(isphpbdx_get3(c->change, link->v[k]), link->normal);
        r->velocity_change[e] = -sum;
    }
}
/* Impulses to vertices, by their effective masses to velocities, and back to the walls: B^T W B. */
static void isphpbdx_water_respond(void *user, const float *impulse, float *velocity_change, int wall_count) {
    isphpbdx_coupling *c = &((isphpbd_world *)user)->coupling;
    const isphpbd_parallel *parallel = &c->fluid->desc.parallel;
    isphpbdx_response r;
    if (c->link_count < 0) isphpbdx_list_links(c), isphpbdx_sort_links(c);
    r.c = c, r.impulse = impulse, r.velocity_change = velocity_change;
    isphpbdx_run(parallel, isphpbdx_push_task, &r, isphpbdx_block_count(c->soft->counts.vertices));
    isphpbdx_run(parallel, isphpbdx_yield_task, &r, isphpbdx_block_count(wall_count));
}
static void isphpbdx_water_impulses(void *user, const isph_wall_impulse *impulse, int count) {
    isphpbdx_coupling *c = &((isphpbd_world *)user)->coupling;
    int i, k;
    for (i = 0; i < count; ++i) {
        const isphpbdx_spot *place = c->place + impulse[i].tag;
        const isphpbdx_face *face = c->face + place->face;
        float b[3];
        isphpbdx_place_weights(place, b);
        for (k = 0; k < 3; ++k) isphpbdx_add3(c->push, face->v[k], isphpbdx_scale(impulse[i].impulse, b[k]));
        isphpbdx_book_couple(c, face->body, isphpbdx_sub(isphpbdx_mix3(c->origin, face->v, b), impulse[i].position),
                             impulse[i].impulse, 1.0);
    }
}

/* ==== [coupling-contacts] particles in the constraint loop =========================================================*/
typedef struct isphpbdx_touching {
    isphpbd_vec3 normal; /* unit, towards the particle's side */
    float b[3], depth;
} isphpbdx_touching;

/* Barycentric coordinates of the point d (from corner a) in the plane of e1, e2 with n = e1 x e2. */
static void isphpbdx_barycentric(isphpbd_vec3 e1, isphpbd_vec3 e2, isphpbd_vec3 n, isphpbd_vec3 d, float b[3]) {
    const float scale = 1.0f / isphpbdx_dot(n, n);
    b[1] = isphpbdx_dot(isphpbdx_cross(d, e2), n) * scale;
    b[2] = isphpbdx_dot(isphpbdx_cross(e1, d), n) * scale;
    b[0] = 1.0f - b[1] - b[2];
}
static bool isphpbdx_in_triangle(const float b[3], float margin) {
    return b[0] > -margin && b[1] > -margin && b[2] > -margin;
}
/* Where did the way from x0 (mesh at origin) to x (mesh now) meet the plane, straight and linear in between? */
static void isphpbdx_crossing(const isphpbdx_coupling *c, const isphpbdx_face *f, const float *now, isphpbd_vec3 x0,
                              isphpbd_vec3 x, float t, float b[3]) {
    isphpbd_vec3 p[3], e1, e2, n;
    int k;
    for (k = 0; k < 3; ++k) p[k] = ipbdx_lerp3(isphpbdx_get3(c->origin, f->v[k]), isphpbdx_get3(now, f->v[k]), t);
    e1 = isphpbdx_sub(p[1], p[0]), e2 = isphpbdx_sub(p[2], p[0]), n = isphpbdx_cross(e1, e2);
    b[0] = b[1] = b[2] = -1.0f;
    if (!(isphpbdx_dot(n, n) > 0.0f)) return;
    isphpbdx_barycentric(e1, e2, n, isphpbdx_sub(ipbdx_lerp3(x0, x, t), p[0]), b);
}
static void isphpbdx_quad_make(const isphpbdx_coupling *c, const isphpbdx_nearby *near_faces, int count,
                               isphpbdx_quad *quad) {
    int k, j;
    for (k = 0; k < 4; ++k) {
        const isphpbdx_nearby *one = near_faces + isphpbdx_mini(k, count - 1);
        for (j = 0; j < 3; ++j) quad->v[j][k] = (uint32_t)c->face[one->face].v[j];
        quad->gap[k] = one->gap;
    }
}
/* Which of four points, d from the first corners, have barycentric coordinates above 0, as bits: as
   isphpbdx_barycentric() finds them, and a little more. */
static int isphpbdx_above_triangles(ipbdx_v4 e1, ipbdx_v4 e2, ipbdx_v4 n, isphpbdx_f4 nn, ipbdx_v4 d) {
    const isphpbdx_f4 least = isphpbdx_f4_mul(isphpbdx_f4_all(-1e-4f), nn);
    const isphpbdx_f4 b1 = ipbdx_v4_dot(ipbdx_v4_cross(d, e2), n), b2 = ipbdx_v4_dot(ipbdx_v4_cross(e1, d), n);
    return isphpbdx_f4_below(least, isphpbdx_f4_min(isphpbdx_f4_min(b1, b2),
                                                    isphpbdx_f4_sub(isphpbdx_f4_sub(nn, b1), b2)));
}
/* Of four faces near a particle, as bits, those whose plane it has passed, or is nearer to than to be left alone with
   the face below it: the others cannot touch it. The limit is that of isphpbdx_touches() and a little more, for the
   rounding of squares. */
static int isphpbdx_near_planes(const isphpbdx_quad *quad, const float *now, isphpbd_vec3 x, float keep) {
    const ipbdx_v4 a = ipbdx_gather(now, quad->v[0]).p, e1 = ipbdx_v4_sub(ipbdx_gather(now, quad->v[1]).p, a),
                   e2 = ipbdx_v4_sub(ipbdx_gather(now, quad->v[2]).p, a), n = ipbdx_v4_cross(e1, e2);
    const isphpbdx_f4 zero = isphpbdx_f4_all(0.0f), nn = ipbdx_v4_dot(n, n), gap = isphpbdx_f4_load(quad->gap);
    const isphpbdx_f4 limit = isphpbdx_f4_mul(isphpbdx_f4_min(isphpbdx_f4_mul(gap, gap), isphpbdx_f4_all(keep * keep)),
                                              isphpbdx_f4_all(1.00001f));
    isphpbdx_f4 scaled;
    ipbdx_v4 d;
    int passed, close;
    d.x = isphpbdx_f4_all(x.x), d.y = isphpbdx_f4_all(x.y), d.z = isphpbdx_f4_all(x.z);
    d = ipbdx_v4_sub(d, a), scaled = ipbdx_v4_dot(n, d);
    passed = isphpbdx_f4_below(gap, zero) ^ isphpbdx_f4_below(scaled, zero);
    close = isphpbdx_f4_below(isphpbdx_f4_mul(scaled, scaled), isphpbdx_f4_mul(limit, nn));
    if ((passed | close) == 0) return 0;
    return (passed | (close & isphpbdx_above_triangles(e1, e2, n, nn, d))) & isphpbdx_f4_below(zero, nn);
}
static bool isphpbdx_touches(const isphpbdx_coupling *c, const float *now, const isphpbdx_nearby *near_face,
                             isphpbd_vec3 x0, isphpbd_vec3 x, isphpbdx_touching *out) {
    const isphpbdx_face *f = c->face + near_face->face;
    const isphpbd_vec3 a = isphpbdx_get3(now, f->v[0]), e1 = isphpbdx_sub(isphpbdx_get3(now, f->v[1]), a),
                       e2 = isphpbdx_sub(isphpbdx_get3(now, f->v[2]), a), d = isphpbdx_sub(x, a);
    const isphpbd_vec3 n = isphpbdx_cross(e1, e2);
    const float nn = isphpbdx_dot(n, n), scaled = isphpbdx_dot(n, d), gap0 = near_face->gap;
    const bool crossed = (gap0 < 0.0f) != (scaled < 0.0f);
    const float side = gap0 < 0.0f ? -1.0f : 1.0f;
    float gap, length;
    if (!(nn > 0.0f) || (!crossed && scaled * scaled >= c->keep * c->keep * nn)) return false;
    length = sqrtf(nn), gap = scaled / length;
    out->depth = isphpbdx_min(c->keep, isphpbdx_abs(gap0)) - side * gap;
    if (!(out->depth > 0.0f)) return false;
    isphpbdx_barycentric(e1, e2, n, d, out->b);
    if (!crossed && !isphpbdx_in_triangle(out->b, 0.0f)) return false;
    if (crossed) {
        isphpbdx_crossing(c, f, now, x0, x, gap0 / (gap0 - gap), out->b);
        if (!isphpbdx_in_triangle(out->b, 0.02f)) return false;
    }
    out->normal = isphpbdx_scale(n, side / length);
    return true;
}
/* Sum of inverse masses that a push along a contact meets. */
static float isphpbdx_contact_weight(const isphpbdx_coupling *c, const isphpbdx_face *f, const float b[3], float own) {
    int k;
    for (k = 0; k < 3; ++k) own += b[k] * b[k] * c->weight[f->v[k]];
    return own;
}
/* Moves a vertex. Lent mass makes corrections smaller than the last digit of a place; what gets lost there is kept in
   `crumbs` and becomes velocity when the soft substep ends. */
static void isphpbdx_nudge(isphpbdx_coupling *c, float *now, int v, isphpbd_vec3 way) {
    const isphpbd_vec3 from = isphpbdx_get3(now, v), to = isphpbdx_add(from, way);
    isphpbdx_put3(now, v, to);
    isphpbdx_add3(c->crumbs, v, isphpbdx_sub(way, isphpbdx_sub(to, from)));
}
/* Momentum that a mover gets at a place; it goes into the books when the constraints are done. */
static void isphpbdx_owe(isphpbdx_coupling *c, const isphpbdx_mover *m, isphpbd_vec3 at, isphpbd_vec3 momentum) {
    const isphpbd_vec3 r = isphpbdx_sub(at, isphx_books_origin(c->fluid));
    const double x = (double)r.x, y = (double)r.y, z = (double)r.z;
    const double jx = (double)momentum.x, jy = (double)momentum.y, jz = (double)momentum.z;
    double *owed = c->owed[m - c->mover];
    owed[0] += jx, owed[1] += jy, owed[2] += jz;
    owed[3] += y * jz - z * jy, owed[4] += z * jx - x * jz, owed[5] += x * jy - y * jx;
}
static void isphpbdx_book_owed(isphpbdx_coupling *c) {
    int m, v, k;
    for (v = 0; v < c->soft->counts.vertices; ++v)
        for (k = 0; k < 3; ++k) c->books[c->soft->vertex_body[v]].left[3 + k] += c->lever[v][k];
    for (m = 0; m < c->mover_count; ++m)
        for (k = 0; k < 6; ++k) c->books[c->book[c->mover[m].particle]].left[k] -= c->owed[m][k];
}
/* One contact: equal and opposite corrections by effective masses. They become velocity, so they take the approach of
   this substep and no more; the rest of the depth is a matter of places alone, see isphpbdx_displace(). */
static void isphpbdx_contact(isphpbdx_coupling *c, float *now, const isphpbdx_face *f, const isphpbdx_touching *t,
                             isphpbdx_mover *m, float h) {
    const float sum = isphpbdx_contact_weight(c, f, t->b, m->weight);
    const isphpbd_vec3 moved = isphpbdx_sub(isphpbdx_mix3(now, f->v, t->b), isphpbdx_mix3(c->soft->starts, f->v, t->b));
    const float approach =
        isphpbdx_dot(isphpbdx_sub(moved, isphpbdx_scale(isphpbdx_get3(c->u1, m->particle), h)), t->normal);
    isphpbd_vec3 push;
    int k;
    if (!(approach > 0.0f) || !(sum > 0.0f)) return;
    push = isphpbdx_scale(t->normal, isphpbdx_min(t->depth, approach) / sum);
    m->at = isphpbdx_madd(m->at, push, m->weight);
    isphpbdx_add3(c->u1, m->particle, isphpbdx_scale(push, m->weight / h));
    isphpbdx_owe(c, m, isphpbdx_mix3(now, f->v, t->b), isphpbdx_scale(push, 1.0f / h));
    for (k = 0; k < 3; ++k) {
        const isphpbd_vec3 back = isphpbdx_scale(push, -t->b[k]);
        isphpbdx_nudge(c, now, f->v[k], isphpbdx_scale(back, c->weight[f->v[k]]));
        isphpbdx_add3(c->change, f->v[k], isphpbdx_scale(back, 1.0f / h));
        isphpbdx_add3(c->soft->loads, f->v[k], isphpbdx_scale(back, 1.0f / h));
    }
}
/* What the density projection moves and a face is in the way of: both give way by their masses, in place only, so that
   squeezed water widens its skin. */
static void isphpbdx_displace(isphpbdx_coupling *c) {
    float *now = c->soft->positions;
    int m, k, j;
    for (m = 0; m < c->mover_count; ++m) {
        const int i = c->mover[m].particle;
        const float squeezed = isphpbdx_min((c->fluid->density[i] - 1.02f) / 0.05f, 1.0f);
        for (k = 0; k < c->contact_count[i] && squeezed > 0.0f; ++k) {
            const isphpbdx_nearby *n = c->nearby + ISPHPBDX_NEAR * (size_t)i + (size_t)k;
            const isphpbdx_face *f = c->face + n->face;
            isphpbdx_touching t;
            isphpbd_vec3 push;
            if (c->inside[i] && c->wet[f->body].solid) continue;
            if (!isphpbdx_touches(c, now, n, isphpbdx_get3(c->x0, i), isphpbdx_get3(c->x1, i), &t)) continue;
            push = isphpbdx_scale(t.normal, squeezed * isphpbdx_min(t.depth, 0.1f * c->dx) /
                                                isphpbdx_contact_weight(c, f, t.b, c->mover[m].weight));
            isphpbdx_add3(c->x1, i, isphpbdx_scale(push, c->mover[m].weight));
            for (j = 0; j < 3; ++j) {
                const isphpbd_vec3 moved = isphpbdx_scale(push, -t.b[j] * c->weight[f->v[j]]);
                isphpbdx_add3(now, f->v[j], moved);
                isphpbdx_book_couple(
                    c, c->book[i], moved,
                    isphpbdx_scale(isphpbdx_get3(c->soft->velocities, f->v[j]), c->soft->masses[f->v[j]]), 1.0);
            }
        }
    }
}
/* The first of four faces of a particle, counted from k and the bits of `open`, that touches it and is met; the bits of
   those that are left, 0: none. */
static int isphpbdx_meet_first(isphpbdx_coupling *c, float *now, isphpbdx_mover *mover, int k, int open, float h) {
    const isphpbdx_nearby *n = c->nearby + ISPHPBDX_NEAR * (size_t)mover->particle + (size_t)k;
    const bool inside = c->inside[mover->particle] != 0;
    int j;
    for (j = 0; open >> j != 0; ++j) {
        isphpbdx_touching t;
        if (!(open >> j & 1) || (inside && c->wet[c->face[n[j].face].body].solid)) continue;
        if (!isphpbdx_touches(c, now, n + j, isphx_vec(c->x0 + 4 * (size_t)mover->particle), mover->at, &t)) continue;
        isphpbdx_contact(c, now, c->face + n[j].face, &t, mover, h);
        return 14 << j & 15;
    }
    return 0;
}
/* The contacts of one particle, one after the other. Its faces were looked up before, from its first quad on. */
static void isphpbdx_meet_faces(isphpbdx_coupling *c, float *now, isphpbdx_mover *mover, float h) {
    const int i = mover->particle, count = c->contact_count[i];
    isphpbdx_quad made;
    int k;
    for (k = 0; k < count; k += 4) {
        const int room = isphpbdx_mini(count - k, 4), all = 15 >> (4 - room);
        const isphpbdx_quad *quad = &made;
        int left;
        if (mover->quad >= 0) quad = c->quad + mover->quad + k / 4;
        else isphpbdx_quad_make(c, c->nearby + ISPHPBDX_NEAR * (size_t)i + (size_t)k, room, &made);
        for (left = all; left != 0; left = all & isphpbdx_meet_first(c, now, mover, k, left, h))
            left &= isphpbdx_near_planes(quad, now, mover->at, c->keep); /* who was moved looks anew at the others */
    }
}
typedef struct isphpbdx_meeting {
    isphpbdx_coupling *c;
    float *now, h;
    const int *patch; /* of one shade */
} isphpbdx_meeting;

static void isphpbdx_meet_task(void *ctx, int index) {
    const isphpbdx_meeting *k = (const isphpbdx_meeting *)ctx;
    const int first = k->patch[index] * ISPHPBDX_PATCH,
              end = isphpbdx_mini(first + ISPHPBDX_PATCH, k->c->mover_count);
    int m;
    for (m = first; m < end; ++m) isphpbdx_meet_faces(k->c, k->now, k->c->mover + m, k->h);
}
static void isphpbdx_soft_iterate(ipbd_world *world, const ipbd_arrays *arrays, float h, int iteration, void *user) {
    isphpbdx_coupling *c = &((isphpbd_world *)user)->coupling;
    isphpbdx_meeting k;
    int shade, first = 0;
    (void)world, (void)iteration;
    if (!c->in_step || c->mover_count == 0) return;
    k.c = c, k.now = arrays->positions, k.h = h;
    for (shade = 0; shade < ISPHPBDX_SHADES && c->patch_end[shade] > first; first = c->patch_end[shade++]) {
        k.patch = c->patch + first;
        isphpbdx_run(&c->fluid->desc.parallel, isphpbdx_meet_task, &k, c->patch_end[shade] - first);
    }
    for (k.patch = c->patch; first < c->patch_end[ISPHPBDX_SHADES]; ++first) isphpbdx_meet_task(&k, first);
}
/* Share of a vertex' effective mass that is lent: it falls, too, and what it falls is not given back. */
static float isphpbdx_lent_part(const isphpbdx_coupling *c, int v) { return 1.0f - c->soft->masses[v] * c->weight[v]; }
static void isphpbdx_load_task(void *ctx, int block) {
    const isphpbdx_meeting *k = (const isphpbdx_meeting *)ctx;
    isphpbdx_coupling *c = k->c;
    ipbd_world *soft = c->soft;
    const float share = 1.0f / (float)soft->substeps;
    const int end = isphpbdx_mini((block + 1) * ISPHPBDX_BLOCK, soft->counts.vertices);
    int v;
    for (v = block * ISPHPBDX_BLOCK; v < end; ++v) {
        const isphpbd_vec3 push = isphpbdx_scale(isphpbdx_get3(c->push, v), share);
        const isphpbd_vec3 couple =
            isphpbdx_cross(isphpbdx_sub(isphpbdx_get3(k->now, v), isphpbdx_get3(c->origin, v)), push);
        isphpbdx_put3(soft->loads, v, push);
        c->lever[v][0] += (double)couple.x, c->lever[v][1] += (double)couple.y, c->lever[v][2] += (double)couple.z;
        if (!(c->weight[v] > 0.0f)) continue;
        k->now[4 * (size_t)v + 3] = c->weight[v];
        isphpbdx_add3(soft->velocities, v, isphpbdx_scale(isphpbdx_get3(c->pull, v), k->h * isphpbdx_lent_part(c, v)));
        isphpbdx_add3(soft->velocities, v, isphpbdx_scale(push, c->weight[v]));
    }
}
static void isphpbdx_advance_task(void *ctx, int block) {
    const isphpbdx_meeting *k = (const isphpbdx_meeting *)ctx;
    isphpbdx_coupling *c = k->c;
    const int end = isphpbdx_mini((block + 1) * ISPHPBDX_BLOCK, c->mover_count);
    int m;
    for (m = block * ISPHPBDX_BLOCK; m < end; ++m)
        c->mover[m].at = isphpbdx_madd(c->mover[m].at, isphx_vec(c->u1 + 4 * (size_t)c->mover[m].particle), k->h);
}
static void isphpbdx_soft_begin(ipbd_world *world, const ipbd_arrays *arrays, float h, void *user) {
    isphpbdx_coupling *c = &((isphpbd_world *)user)->coupling;
    const isphpbd_parallel *parallel = &c->fluid->desc.parallel;
    isphpbdx_meeting k;
    (void)world;
    if (!c->in_step) return;
    k.c = c, k.now = arrays->positions, k.h = h, k.patch = NULL;
    isphpbdx_run(parallel, isphpbdx_load_task, &k, isphpbdx_block_count(arrays->vertex_count));
    isphpbdx_run(parallel, isphpbdx_advance_task, &k, isphpbdx_block_count(c->mover_count));
}
static void isphpbdx_crumbs_task(void *ctx, int block) {
    const isphpbdx_meeting *k = (const isphpbdx_meeting *)ctx;
    isphpbdx_coupling *c = k->c;
    int v;
    for (v = block * ISPHPBDX_BLOCK; v < isphpbdx_vertex_end(c, block); ++v) {
        isphpbdx_add3(c->soft->velocities, v, isphpbdx_scale(isphpbdx_get3(c->crumbs, v), 1.0f / k->h));
        memset(c->crumbs + 4 * (size_t)v, 0, 4 * sizeof(float));
    }
}
static void isphpbdx_soft_end(ipbd_world *world, const ipbd_arrays *arrays, float h, void *user) {
    isphpbdx_coupling *c = &((isphpbd_world *)user)->coupling;
    isphpbdx_meeting k;
    (void)world;
    if (!c->in_step) return;
    k.c = c, k.now = arrays->positions, k.h = h, k.patch = NULL;
    isphpbdx_run_vertices(c, isphpbdx_crumbs_task, &k);
}
/* Which particles move in the constraint loop, and where the faces of each will be, four by four. */
static void isphpbdx_list_movers(isphpbdx_coupling *c) {
    int i;
    c->mover_count = c->quad_count = 0;
    for (i = 0; i < c->water.count; ++i) {
        const int quads = (c->contact_count[i] + 3) / 4;
        isphpbdx_mover *m = c->mover + c->mover_count;
        if (quads == 0) continue;
        m->particle = i, m->quad = c->quad_count + quads > c->quad_capacity ? -1 : c->quad_count;
        if (m->quad >= 0) c->quad_count += quads;
        c->mover_count++;
    }
}
/* The faces are in one place, because the sweeps come by often. */
static void isphpbdx_start_mover(isphpbdx_coupling *c, isphpbdx_mover *m) {
    const int i = m->particle, count = c->contact_count[i];
    int k;
    m->at = isphx_vec(c->x0 + 4 * (size_t)i), m->weight = 1.0f / isphpbdx_particle_mass(c, i);
    /* what is not velocity is kept aside: density displacement, contact with the fluid's own walls */
    isphpbdx_put3(c->x1, i,
                  isphpbdx_sub(isphx_vec(c->x1 + 4 * (size_t)i),
                               isphpbdx_madd(m->at, isphx_vec(c->u1 + 4 * (size_t)i), c->seconds)));
    for (k = 0; k < count && m->quad >= 0; k += 4)
        isphpbdx_quad_make(c, c->nearby + ISPHPBDX_NEAR * (size_t)i + (size_t)k, isphpbdx_mini(4, count - k),
                           c->quad + m->quad + k / 4);
    memset(c->owed[m - c->mover], 0, sizeof *c->owed);
}
static void isphpbdx_movers_task(void *ctx, int block) {
    isphpbdx_coupling *c = (isphpbdx_coupling *)ctx;
    const int end = isphpbdx_mini((block + 1) * ISPHPBDX_BLOCK, c->mover_count);
    int m;
    for (m = block * ISPHPBDX_BLOCK; m < end; ++m) isphpbdx_start_mover(c, c->mover + m);
}

/* The vertices of a patch: what their shades are together; then one more. */
static uint32_t isphpbdx_patch_shades(isphpbdx_coupling *c, int patch, uint32_t more) {
    const int end = isphpbdx_mini((patch + 1) * ISPHPBDX_PATCH, c->mover_count);
    uint32_t all = 0;
    int m, k, j;
    for (m = patch * ISPHPBDX_PATCH; m < end; ++m) {
        const int i = c->mover[m].particle;
        for (k = 0; k < c->contact_count[i]; ++k)
            for (j = 0; j < 3; ++j) {
                uint32_t *shades = c->shades + c->face[c->nearby[ISPHPBDX_NEAR * (size_t)i + (size_t)k].face].v[j];
                all |= *shades, *shades |= more;
            }
    }
    return all;
}
/* Patches of one shade may move at once: each takes the first that none of its vertices has. Where there is none left,
   because triangles are much larger than patches, it goes to the end, where they move one by one. */
static void isphpbdx_shade_patches(isphpbdx_coupling *c) {
    const int patches = (c->mover_count + ISPHPBDX_PATCH - 1) / ISPHPBDX_PATCH;
    int *shade_of = c->patch + patches, *end = c->patch_end, p, k;
    memset(c->shades, 0, (size_t)c->soft->counts.vertices * sizeof(uint32_t));
    memset(end, 0, sizeof c->patch_end);
    for (p = 0; p < patches; ++p) {
        const uint32_t taken = isphpbdx_patch_shades(c, p, 0u);
        for (k = 0; k < ISPHPBDX_SHADES && (taken >> k & 1u); ++k) continue;
        if (k < ISPHPBDX_SHADES) (void)isphpbdx_patch_shades(c, p, 1u << k);
        shade_of[p] = k, end[k]++;
    }
    for (k = 1; k <= ISPHPBDX_SHADES; ++k) end[k] += end[k - 1];
    for (p = patches - 1; p >= 0; --p) c->patch[--end[shade_of[p]]] = p;
    for (k = 0; k < ISPHPBDX_SHADES; ++k) end[k] = end[k + 1];
    end[ISPHPBDX_SHADES] = patches;
}

/* ==== [coupling-sweep] does a moving point cross a moving triangle? ================================================*/
typedef struct isphpbdx_sweep {
    double a[3], b[3], c[3], da[3], db[3], dc[3]; /* edges and the point, from the first corner: at 0, and changes */
} isphpbdx_sweep;
typedef struct isphpbdx_sweep_hit {
    double time, u, v, side;
} isphpbdx_sweep_hit;

static double isphpbdx_dot3(const double *a, const double *b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
static void isphpbdx_cross3(const double *a, const double *b, double *out) {
    out[0] = a[1] * b[2] - a[2] * b[1], out[1] = a[2] * b[0] - a[0] * b[2], out[2] = a[0] * b[1] - a[1] * b[0];
}
static void isphpbdx_sweep_make(isphpbdx_sweep *s, const float *p0, const float *p1, const int v[3], const float *x0,
                                const float *x1) {
    int k;
    for (k = 0; k < 3; ++k) {
        const double o0 = (double)p0[4 * (size_t)v[0] + (size_t)k], o1 = (double)p1[4 * (size_t)v[0] + (size_t)k];
        s->a[k] = (double)p0[4 * (size_t)v[1] + (size_t)k] - o0,
        s->b[k] = (double)p0[4 * (size_t)v[2] + (size_t)k] - o0;
        s->c[k] = (double)x0[k] - o0;
        s->da[k] = (double)p1[4 * (size_t)v[1] + (size_t)k] - o1 - s->a[k];
        s->db[k] = (double)p1[4 * (size_t)v[2] + (size_t)k] - o1 - s->b[k];
        s->dc[k] = (double)x1[k] - o1 - s->c[k];
    }
}
/* det(a + t da, b + t db, c + t dc) as a cubic */
static void isphpbdx_sweep_cubic(const isphpbdx_sweep *s, double q[4]) {
    double n0[3], n1[3], n2[3], t[3];
    int k;
    isphpbdx_cross3(s->a, s->b, n0), isphpbdx_cross3(s->da, s->db, n2);
    isphpbdx_cross3(s->a, s->db, n1), isphpbdx_cross3(s->da, s->b, t);
    for (k = 0; k < 3; ++k) n1[k] += t[k];
    q[0] = isphpbdx_dot3(n0, s->c), q[1] = isphpbdx_dot3(n1, s->c) + isphpbdx_dot3(n0, s->dc);
    q[2] = isphpbdx_dot3(n2, s->c) + isphpbdx_dot3(n1, s->dc), q[3] = isphpbdx_dot3(n2, s->dc);
}
static double isphpbdx_cubic(const double q[4], double t) { return q[0] + t * (q[1] + t * (q[2] + t * q[3])); }
/* Root of the cubic between l and r, where it changes sign. */
static double isphpbdx_bisect(const double q[4], double l, double r) {
    const bool rising = isphpbdx_cubic(q, l) < 0.0;
    int i;
    for (i = 0; i < 52; ++i) {
        const double m = 0.5 * (l + r);
        if ((isphpbdx_cubic(q, m) < 0.0) == rising) l = m;
        else r = m;
    }
    return 0.5 * (l + r);
}
/* Barycentric coordinates at time t; false outside. */
static bool isphpbdx_sweep_inside(const isphpbdx_sweep *s, double t, isphpbdx_sweep_hit *hit) {
    double a[3], b[3], c[3], n[3], m[3], nn;
    int k;
    for (k = 0; k < 3; ++k) a[k] = s->a[k] + t * s->da[k], b[k] = s->b[k] + t * s->db[k], c[k] = s->c[k] + t * s->dc[k];
    isphpbdx_cross3(a, b, n);
    nn = isphpbdx_dot3(n, n);
    if (!(nn > 1e-12 * isphpbdx_dot3(a, a) * isphpbdx_dot3(b, b))) return false;
    isphpbdx_cross3(c, b, m), hit->u = isphpbdx_dot3(m, n) / nn;
    isphpbdx_cross3(a, c, m), hit->v = isphpbdx_dot3(m, n) / nn;
    return hit->u > -ISPHPBDX_SEAM && hit->v > -ISPHPBDX_SEAM && hit->u + hit->v < 1.0 + ISPHPBDX_SEAM;
}
/* Times in (0, 1) between which the cubic is monotone. */
static int isphpbdx_cubic_turns(const double q[4], double turn[2]) {
    const double a = 3.0 * q[3], b = q[2], c = q[1], d = b * b - a * c;
    double lo, hi, root;
    int n = 0;
    if (!(d > 0.0)) return 0;
    root = sqrt(d), lo = -(b + (b < 0.0 ? -root : root)); /* stable form of a t^2 + 2 b t + c = 0 */
    hi = lo != 0.0 ? c / lo : 2.0;
    lo = a != 0.0 ? lo / a : 2.0;
    if (hi < lo) root = lo, lo = hi, hi = root;
    if (lo > 0.0 && lo < 1.0) turn[n++] = lo;
    if (hi > 0.0 && hi < 1.0) turn[n++] = hi;
    return n;
}
/* First time at which the point passes through the triangle, and the side it came from (along the normal a x b). */
static bool isphpbdx_sweep_first(const isphpbdx_sweep *s, isphpbdx_sweep_hit *hit) {
    double q[4], time[4], b1, b2, b3;
    int n, k;
    isphpbdx_sweep_cubic(s, q);
    b1 = q[0] + q[1] / 3.0, b2 = q[0] + 2.0 / 3.0 * q[1] + q[2] / 3.0, b3 = q[0] + q[1] + q[2] + q[3];
    if ((q[0] > 0.0 && b1 > 0.0 && b2 > 0.0 && b3 > 0.0) || (q[0] < 0.0 && b1 < 0.0 && b2 < 0.0 && b3 < 0.0))
        return false;
    time[0] = 0.0;
    n = 1 + isphpbdx_cubic_turns(q, time + 1);
    time[n] = 1.0;
    for (k = 0; k < n; ++k) {
        const double l = isphpbdx_cubic(q, time[k]), r = isphpbdx_cubic(q, time[k + 1]);
        if ((l < 0.0) == (r < 0.0)) continue;
        hit->time = isphpbdx_bisect(q, time[k], time[k + 1]);
        if (!isphpbdx_sweep_inside(s, hit->time, hit)) continue;
        hit->side = l < 0.0 ? -1.0 : 1.0;
        return true;
    }
    return false;
}

/* ==== [coupling-fence] the mesh stands still now: nobody ends on another side ======================================*/
typedef struct isphpbdx_fence {
    isphpbdx_coupling *c;
    const float *p1;
    float x0[3], x1[3];
    int list[ISPHPBDX_FENCED], count;
} isphpbdx_fence;

static isphpbd_vec3 isphpbdx_end_normal(const isphpbdx_fence *k, const int v[3]) {
    const isphpbd_vec3 a = isphpbdx_get3(k->p1, v[0]), n = isphpbdx_cross(isphpbdx_sub(isphpbdx_get3(k->p1, v[1]), a),
                                                                          isphpbdx_sub(isphpbdx_get3(k->p1, v[2]), a));
    const float length = isphpbdx_length(n);
    return length > 0.0f ? isphpbdx_scale(n, 1.0f / length) : n;
}
static bool isphpbdx_fence_first(const isphpbdx_fence *k, isphpbdx_hit *out) {
    double first = 2.0;
    int j;
    for (j = 0; j < k->count; ++j) {
        isphpbdx_sweep s;
        isphpbdx_sweep_hit hit;
        isphpbdx_sweep_make(&s, k->c->origin, k->p1, k->c->face[k->list[j]].v, k->x0, k->x1);
        if (!isphpbdx_sweep_first(&s, &hit) || hit.time >= first) continue;
        first = hit.time;
        out->face = k->list[j], out->u = (float)hit.u, out->v = (float)hit.v, out->side = (float)hit.side;
    }
    return first <= 1.0;
}
static void isphpbdx_fence_set(isphpbdx_fence *k, isphpbd_vec3 x) { k->x1[0] = x.x, k->x1[1] = x.y, k->x1[2] = x.z; }
/* Puts the particle beside a point of a face, on the given side. */
static void isphpbdx_fence_beside(isphpbdx_fence *k, const isphpbdx_hit *hit, float offset) {
    const int *v = k->c->face[hit->face].v;
    const float b[3] = {1.0f - hit->u - hit->v, hit->u, hit->v};
    isphpbdx_fence_set(k, isphpbdx_madd(isphpbdx_mix3(k->p1, v, b), isphpbdx_end_normal(k, v), hit->side * offset));
}
/* Keeps the distance from faces that it is beside: no velocity comes from that, and nothing pops. */
static void isphpbdx_fence_keep(isphpbdx_fence *k) {
    const isphpbdx_coupling *c = k->c;
    int j, sweep;
    for (sweep = 0; sweep < 2; ++sweep)
        for (j = 0; j < k->count; ++j) {
            const isphpbdx_face *f = c->face + k->list[j];
            const isphpbd_vec3 a = isphpbdx_get3(k->p1, f->v[0]), e1 = isphpbdx_sub(isphpbdx_get3(k->p1, f->v[1]), a),
                               e2 = isphpbdx_sub(isphpbdx_get3(k->p1, f->v[2]), a), x = isphx_vec(k->x1),
                               d = isphpbdx_sub(x, a), n = isphpbdx_cross(e1, e2);
            const float nn = isphpbdx_dot(n, n), scaled = isphpbdx_dot(n, d),
                        gap0 = isphpbdx_dot(f->shape.normal, isphpbdx_sub(isphx_vec(k->x0), f->shape.corner));
            const float wanted = isphpbdx_min(c->keep, isphpbdx_abs(gap0) + ISPHPBDX_RELAX * c->seconds);
            float b[3], length;
            if (!(nn > 0.0f) || (scaled < 0.0f) != (gap0 < 0.0f) || scaled * scaled >= wanted * wanted * nn) continue;
            isphpbdx_barycentric(e1, e2, n, d, b);
            if (!isphpbdx_in_triangle(b, 0.0f)) continue;
            length = sqrtf(nn);
            isphpbdx_fence_set(k, isphpbdx_madd(x, n, ((gap0 < 0.0f ? -wanted : wanted) - scaled / length) / length));
        }
}
/* Stays with the face that was nearest at the start. */
static bool isphpbdx_fence_ride(isphpbdx_fence *k) {
    const isphpbd_vec3 x0 = isphx_vec(k->x0);
    float nearest = 3e38f;
    isphpbdx_hit hit, again;
    int j, feature;
    hit.face = -1;
    for (j = 0; j < k->count; ++j) {
        const isphpbdx_face *f = k->c->face + k->list[j];
        const isphpbd_vec3 foot = isphx_triangle_nearest(&f->shape, x0, &feature), away = isphpbdx_sub(x0, foot);
        const float r = isphpbdx_length(away);
        isphpbdx_spot place;
        if (!(r < nearest)) continue;
        nearest = r;
        place.face = hit.face = k->list[j], place.distance = r, place.u = place.v = 0.0f;
        place.normal = r > 0.0f ? isphpbdx_scale(away, 1.0f / r) : f->shape.normal;
        isphpbdx_place_finish(k->c, &place, x0);
        hit.u = place.u, hit.v = place.v, hit.side = isphpbdx_dot(away, f->shape.normal) < 0.0f ? -1.0f : 1.0f;
    }
    if (hit.face < 0) return false;
    for (j = 0; j < 4; ++j) {
        isphpbdx_fence_beside(k, &hit,
                              isphpbdx_min(nearest, k->c->keep) * (j == 0   ? 1.0f
                                                                   : j == 1 ? 0.5f
                                                                   : j == 2 ? 0.1f
                                                                            : 0.02f));
        if (!isphpbdx_fence_first(k, &again)) return true;
    }
    return false;
}
static void isphpbdx_fence_gather(isphpbdx_fence *k, int i) {
    const isphpbdx_coupling *c = k->c;
    const float r = c->keep;
    float lo[3], hi[3];
    int list[ISPHPBDX_GATHER], n, j, a;
    for (a = 0; a < 3; ++a) {
        lo[a] = isphpbdx_min(k->x0[a], k->x1[a]) - r, hi[a] = isphpbdx_max(k->x0[a], k->x1[a]) + r;
    }
    n = isphpbdx_boxes_gather(&c->boxes, lo, hi, list, ISPHPBDX_GATHER);
    k->count = 0;
    for (j = 0; j < n && k->count < ISPHPBDX_FENCED; ++j) {
        const isphpbdx_wet *wet = c->wet + c->face[list[j]].body;
        if (!isphpbdx_boxes_meet(c->box + 6 * (size_t)list[j], lo, hi)) continue;
        if (!(wet->fluids >> (c->water.material[i] & 31u) & 1u) || (wet->solid && c->inside[i])) continue;
        k->list[k->count++] = list[j];
    }
}
/* Is it only solids that it would end inside of? They push it out again. */
static bool isphpbdx_fence_solid(isphpbdx_fence *k) {
    isphpbdx_hit hit;
    int j, kept = 0;
    for (j = 0; j < k->count; ++j)
        if (!k->c->wet[k->c->face[k->list[j]].body].solid) k->list[kept++] = k->list[j];
    k->count = isphpbdx_maxi(kept, 1); /* a place was found: it counts */
    return kept == 0 || !isphpbdx_fence_first(k, &hit);
}
static bool isphpbdx_fence_particle(isphpbdx_fence *k, int i, isphpbdx_hit *last) {
    const isphpbdx_coupling *c = k->c;
    float offset = c->keep;
    int round;
    const isphpbd_vec3 way = isphpbdx_sub(isphx_vec(k->x1), isphx_vec(k->x0));
    const float spare = c->clear[i] - c->keep - c->moved;
    k->count = 0, last->face = -1;
    if (spare > 0.0f && isphpbdx_dot(way, way) < spare * spare) return true; /* nothing can have come near */
    isphpbdx_fence_gather(k, i);
    if (k->count == 0) return true;
    isphpbdx_fence_keep(k);
    for (round = 0; round < ISPHPBDX_ROUNDS; ++round, offset *= 0.5f) {
        isphpbdx_hit hit;
        if (!isphpbdx_fence_first(k, &hit)) return true;
        *last = hit;
        isphpbdx_fence_beside(k, &hit, offset);
    }
    return isphpbdx_fence_ride(k) || isphpbdx_fence_solid(k);
}
static void isphpbdx_fence_task(void *ctx, int block) {
    isphpbdx_coupling *c = (isphpbdx_coupling *)ctx;
    const int end = isphpbdx_mini((block + 1) * ISPHPBDX_BLOCK, c->water.count);
    isphpbdx_fence k;
    int i;
    k.c = c, k.p1 = c->soft->positions;
    for (i = block * ISPHPBDX_BLOCK; i < end; ++i) {
        memcpy(k.x0, c->x0 + 4 * (size_t)i, sizeof k.x0), memcpy(k.x1, c->x1 + 4 * (size_t)i, sizeof k.x1);
        c->lost[i] = !isphpbdx_fence_particle(&k, i, c->hit + i);
        if (k.count > 0) memcpy(c->x1 + 4 * (size_t)i, k.x1, sizeof k.x1);
    }
}
/* Takes the approach along the normal out of particle and face, by their real masses. */
static void isphpbdx_stop(isphpbdx_coupling *c, int i, const isphpbdx_hit *hit) {
    ipbd_world *soft = c->soft;
    const int *v = c->face[hit->face].v;
    const float b[3] = {1.0f - hit->u - hit->v, hit->u, hit->v}, w = 1.0f / isphpbdx_particle_mass(c, i);
    isphpbdx_fence k;
    isphpbd_vec3 n;
    float sum = w, approach;
    int j;
    k.c = c, k.p1 = soft->positions;
    n = isphpbdx_scale(isphpbdx_end_normal(&k, v), hit->side);
    approach = isphpbdx_dot(isphpbdx_sub(isphx_vec(c->u1 + 4 * (size_t)i), isphpbdx_mix3(soft->velocities, v, b)), n);
    if (!(approach < 0.0f)) return;
    for (j = 0; j < 3; ++j) sum += b[j] * b[j] * soft->inverse_masses[v[j]];
    isphpbdx_add3(c->u1, i, isphpbdx_scale(n, -approach * w / sum));
    isphpbdx_book(c, c->book[i], isphpbdx_mix3(soft->positions, v, b), isphpbdx_scale(n, -approach / sum), -1.0);
    for (j = 0; j < 3; ++j) { /* far from the centre of a face of unlike masses a corner can get beyond all speeds */
        const isphpbd_vec3 kick = isphpbdx_scale(n, approach * b[j] * soft->inverse_masses[v[j]] / sum);
        const isphpbd_vec3 u = isphpbdx_add(isphpbdx_get3(soft->velocities, v[j]), kick);
        if (ipbdx_sane3(u)) isphpbdx_put3(soft->velocities, v[j], u);
    }
}
/* A neighbour of the start of the substep with no face between, which has found a place; -1: none. */
static int isphpbdx_companion(isphpbd_world *world, int i) {
    const isphpbdx_coupling *c = &world->coupling;
    int d, side;
    for (d = 1; d <= ISPHPBDX_BLOCK; ++d)
        for (side = -1; side <= 1; side += 2) {
            const int j = i + side * d;
            isphpbd_vec3 way;
            if (j < 0 || j >= c->water.count || c->lost[j] == 1) continue;
            way = isphpbdx_sub(isphx_vec(c->x0 + 4 * (size_t)i), isphx_vec(c->x0 + 4 * (size_t)j));
            if (isphpbdx_dot(way, way) < c->reach * c->reach && !isphpbdx_water_separated(world, i, j)) return j;
        }
    return -1;
}
static void isphpbdx_take_place(isphpbdx_coupling *c, int i, int mate) {
    memcpy(c->x1 + 4 * (size_t)i, c->x1 + 4 * (size_t)mate, 3 * sizeof(float));
    memcpy(c->u1 + 4 * (size_t)i, c->u1 + 4 * (size_t)mate, 3 * sizeof(float));
    c->returned++;
}
/* Those for whom the fence found no place are where a neighbour is, which comes apart again; who was saved saves others
   in the next pass. What is left goes. */
static void isphpbdx_rescue(isphpbd_world *world) {
    isphpbdx_coupling *c = &world->coupling;
    int pass, i;
    for (pass = 0; pass < ISPHPBDX_PASSES; ++pass)
        for (i = 0; i < c->water.count; ++i) {
            const int mate = c->lost[i] == 1 ? isphpbdx_companion(world, i) : -1;
            if (mate >= 0) isphpbdx_take_place(c, i, mate), c->lost[i] = ISPHPBDX_SAVED;
        }
    for (i = 0; i < c->water.count; ++i) {
        if (c->lost[i] == 1) c->lost_id[c->lost_count++] = c->water.id[i];
        c->lost[i] = c->lost[i] == 1;
    }
}
static void isphpbdx_paths_task(void *ctx, int block) {
    isphpbdx_coupling *c = (isphpbdx_coupling *)ctx;
    const int end = isphpbdx_mini((block + 1) * ISPHPBDX_BLOCK, c->face_count);
    int f;
    for (f = block * ISPHPBDX_BLOCK; f < end; ++f) isphpbdx_face_box(c, f, c->origin, c->soft->positions);
}
/* The farthest way of a vertex in the substep. */
static float isphpbdx_farthest(const isphpbdx_coupling *c) {
    float far2 = 0.0f;
    int v;
    for (v = 0; v < c->soft->counts.vertices; ++v) {
        const isphpbd_vec3 way = isphpbdx_sub(isphpbdx_get3(c->soft->positions, v), isphpbdx_get3(c->origin, v));
        far2 = isphpbdx_max(far2, isphpbdx_dot(way, way));
    }
    return sqrtf(far2);
}
static void isphpbdx_fence_all(isphpbd_world *world) {
    isphpbdx_coupling *c = &world->coupling;
    bool lost = false;
    int i;
    isphpbdx_run(&c->fluid->desc.parallel, isphpbdx_paths_task, c, isphpbdx_block_count(c->face_count));
    isphpbdx_boxes_build(c, 2.0f * c->dx);
    isphpbdx_run_particles(c, isphpbdx_fence_task, c);
    for (i = 0; i < c->water.count; ++i) {
        if (!c->lost[i] && c->hit[i].face >= 0) isphpbdx_stop(c, i, c->hit + i);
        lost = lost || c->lost[i];
    }
    c->lost_count = c->returned = 0;
    if (lost) isphpbdx_rescue(world);
}

/* ==== [coupling-homes] who is inside of which closed surface ========================================================
   The fence keeps particles on their side of every face; a surface that is crushed through itself has none. So it is
   remembered which shell a particle is inside of, if any, and in every substep one in ISPHPBDX_LOOKS is looked at by
   itself: the winding of the closed surfaces about it. One on the wrong side takes the place of a neighbour of the same
   home, or goes. New particles, and all when bodies or particles were put elsewhere by the user, are at home where they
   are, but never inside of a solid: water caught in there would blow it up and never come out again. */
static bool isphpbdx_left_of(const float *xyzw, uint32_t i, uint32_t j, isphpbd_vec3 p);
static bool isphpbdx_ray_up(const float *xyzw, const uint32_t *t, isphpbd_vec3 p);

static bool isphpbdx_is_homed(const isphpbdx_coupling *c, uint32_t id) {
    return c->homed[isphx_slot(c->fluid, id)] == id;
}
/* Windings of the shells that a ray straight up from the particle meets, by the faces of the fence's grid. Answers the
   home there, or -1 where it cannot be told; a solid before the shells round it, unless it is to be left out. */
static int isphpbdx_home_at(const isphpbdx_coupling *c, int i, isphpbd_vec3 p, bool hollow) {
    const float lo[3] = {p.x, p.y, p.z}, hi[3] = {p.x, 3e38f, p.z};
    int list[ISPHPBDX_GATHER], body[ISPHPBDX_NESTED], winding[ISPHPBDX_NESTED], bodies = 0, k, j;
    int home[2] = {0, 0}; /* shell, solid */
    const int n = isphpbdx_boxes_gather(&c->boxes, lo, hi, list, ISPHPBDX_GATHER);
    if (n == ISPHPBDX_GATHER) return -1;
    for (k = 0; k < n; ++k) {
        const isphpbdx_face *f = c->face + list[k];
        const uint32_t t[3] = {(uint32_t)f->v[0], (uint32_t)f->v[1], (uint32_t)f->v[2]};
        if (!isphpbdx_is_closed(c->soft->bodies + f->body)) continue;
        if (!(c->wet[f->body].fluids >> (c->water.material[i] & 31u) & 1u)) continue;
        if (!isphpbdx_ray_up(c->soft->positions, t, p)) continue;
        for (j = 0; j < bodies && body[j] != f->body; ++j) continue;
        if (j == ISPHPBDX_NESTED) return -1;
        if (j == bodies) body[bodies] = f->body, winding[bodies++] = 0;
        winding[j] += isphpbdx_left_of(c->soft->positions, t[0], t[1], p) ? 1 : -1;
    }
    for (j = 0; j < bodies; ++j) {
        int *at = home + (isphpbdx_is_solid(c->soft->bodies + body[j]) ? 1 : 0);
        if (winding[j] != 0 && (*at == 0 || body[j] + 1 < *at)) *at = body[j] + 1;
    }
    return home[1] > 0 && !hollow ? home[1] : home[0];
}
/* Where those are that are looked at in this substep: hit[].face, -2 for the others. */
static void isphpbdx_homes_task(void *ctx, int block) {
    isphpbdx_coupling *c = (isphpbdx_coupling *)ctx;
    const int end = isphpbdx_mini((block + 1) * ISPHPBDX_BLOCK, c->water.count);
    const uint32_t turn = (uint32_t)c->fluid->stats.total_substeps % ISPHPBDX_LOOKS;
    int i;
    for (i = block * ISPHPBDX_BLOCK; i < end; ++i) {
        const uint32_t id = c->water.id[i];
        const bool look = !isphpbdx_is_homed(c, id) || isphx_slot(c->fluid, id) % ISPHPBDX_LOOKS == turn;
        c->hit[i].face = look && !c->lost[i] ? isphpbdx_home_at(c, i, isphpbdx_get3(c->x1, i), false) : -2;
    }
}
static bool isphpbdx_is_astray(const isphpbdx_coupling *c, int i) {
    return c->hit[i].face >= 0 && c->hit[i].face != c->home[isphx_slot(c->fluid, c->water.id[i])];
}
/* Home of a particle that is found at `home` when it is looked at first; of one in a solid, what that is inside of. */
static uint16_t isphpbdx_first_home(const isphpbdx_coupling *c, int i, int home) {
    if (home == 0 || !isphpbdx_is_solid(c->soft->bodies + home - 1)) return (uint16_t)home;
    return (uint16_t)isphpbdx_maxi(isphpbdx_home_at(c, i, isphpbdx_get3(c->x1, i), true), 0);
}
/* Is it where it should be? Those that nobody looked at yet are looked at now. */
static bool isphpbdx_is_at(const isphpbdx_coupling *c, int i, int home) {
    if (c->lost[i] || c->home[isphx_slot(c->fluid, c->water.id[i])] != home) return false;
    return (c->hit[i].face == -2 ? isphpbdx_home_at(c, i, isphpbdx_get3(c->x1, i), false) : c->hit[i].face) == home;
}
/* Somebody at the same home, near by in the order of the particles and best away from faces; -1: nobody. */
static int isphpbdx_housemate(const isphpbdx_coupling *c, int i) {
    const int home = c->home[isphx_slot(c->fluid, c->water.id[i])];
    int d, side, mate = -1;
    for (d = 1; d <= ISPHPBDX_BLOCK; ++d)
        for (side = -1; side <= 1; side += 2) {
            const int j = i + side * d;
            if (j < 0 || j >= c->water.count || (mate >= 0 && !(c->clear[j] > c->keep))) continue;
            if (!isphpbdx_is_at(c, j, home)) continue;
            if (c->clear[j] > c->keep) return j;
            mate = j;
        }
    return mate;
}
static void isphpbdx_send_home(isphpbdx_coupling *c, int i) {
    const int mate = isphpbdx_housemate(c, i);
    if (mate < 0) {
        c->lost[i] = 1, c->lost_id[c->lost_count++] = c->water.id[i];
        return;
    }
    isphpbdx_take_place(c, i, mate);
}
static void isphpbdx_check_homes(isphpbdx_coupling *c) {
    int i;
    if (c->shells == 0) return;
    isphpbdx_run_particles(c, isphpbdx_homes_task, c);
    for (i = 0; i < c->water.count; ++i) {
        const uint32_t id = c->water.id[i], slot = isphx_slot(c->fluid, id);
        if (isphpbdx_is_homed(c, id) || c->hit[i].face < 0) continue;
        c->homed[slot] = id, c->home[slot] = isphpbdx_first_home(c, i, c->hit[i].face);
    }
    for (i = 0; i < c->water.count; ++i)
        if (isphpbdx_is_astray(c, i)) isphpbdx_send_home(c, i);
}

/* ==== [coupling-finish] ============================================================================================*/
/* The momentum of lent mass goes back: every lender gets its share of the vertices' change of velocity. */
static void isphpbdx_gain_task(void *ctx, int block) {
    const isphpbdx_coupling *c = (const isphpbdx_coupling *)ctx;
    int v;
    for (v = block * ISPHPBDX_BLOCK; v < isphpbdx_vertex_end(c, block); ++v)
        isphpbdx_put3(c->star, v,
                      c->weight[v] > 0.0f ? isphpbdx_sub(isphpbdx_get3(c->soft->velocities, v),
                                                         isphpbdx_madd(isphpbdx_get3(c->before, v),
                                                                       isphpbdx_get3(c->pull, v), c->seconds))
                                          : isphpbd_v3(0.0f, 0.0f, 0.0f));
}
static void isphpbdx_share_task(void *ctx, int block) {
    const isphpbdx_coupling *c = (const isphpbdx_coupling *)ctx;
    int i, k;
    for (i = block * ISPHPBDX_BLOCK; i < isphpbdx_particle_end(c, block); ++i) {
        const isphpbdx_spot *place = c->place + ISPHPBDX_PLACES * (size_t)i;
        const float share = isphpbdx_lent_share(c, i);
        float b[3];
        if (!(share > 0.0f)) continue;
        isphpbdx_place_weights(place, b);
        for (k = 0; k < 3; ++k)
            isphpbdx_add3(c->u1, i, isphpbdx_scale(isphpbdx_get3(c->star, c->face[place->face].v[k]), share * b[k]));
    }
}
static void isphpbdx_give_back(isphpbdx_coupling *c) {
    int i;
    isphpbdx_run_vertices(c, isphpbdx_gain_task, c);
    for (i = 0; i < c->smoothing; ++i) isphpbdx_smooth(c, c->star, 0, 2, c->change);
    isphpbdx_run_particles(c, isphpbdx_share_task, c);
}
/* How the water that a free shell carries was accelerated, on average. Lent mass takes part in that in the next
   substep: else a shell falls slower than its water, and momentum that goes back to water of another speed is energy
   from nowhere. A shell that is held stays behind instead, and water slides along it. */
static void isphpbdx_find_drifts(isphpbdx_coupling *c) {
    int i;
    for (i = 0; i < c->soft->desc.capacity.bodies; ++i) c->known[i].drift = ipbdx_zero3();
    for (i = 0; i < c->water.count; ++i) {
        const float share = isphpbdx_lent_share(c, i), mass = share * isphpbdx_particle_mass(c, i);
        isphpbd_vec3 *drift;
        int body;
        if (!(share > 0.0f)) continue;
        body = c->face[c->place[ISPHPBDX_PLACES * (size_t)i].face].body;
        if (c->wet[body].solid || c->wet[body].held) continue;
        drift = &c->known[body].drift;
        *drift = isphpbdx_madd(*drift, isphpbdx_sub(isphpbdx_get3(c->u1, i), isphpbdx_get3(c->u0, i)), mass);
        c->wet[body].lent += mass;
    }
    for (i = 0; i < c->soft->desc.capacity.bodies; ++i)
        if (c->wet[i].lent > 0.0f)
            c->known[i].drift = isphpbdx_scale(c->known[i].drift, 1.0f / (c->wet[i].lent * c->seconds));
}
/* What constraints did: all change of momentum that is neither water's nor gravity's. */
static void isphpbdx_reactions_task(void *ctx, int block) {
    const isphpbdx_coupling *c = (const isphpbdx_coupling *)ctx;
    const ipbd_world *soft = c->soft;
    int v;
    for (v = block * ISPHPBDX_BLOCK; v < isphpbdx_vertex_end(c, block); ++v) {
        const ipbdx_body *body = soft->bodies + soft->vertex_body[v];
        isphpbd_vec3 force;
        if (!(c->weight[v] > 0.0f)) continue;
        force = isphpbdx_scale(isphpbdx_sub(isphpbdx_get3(soft->velocities, v), isphpbdx_get3(c->before, v)),
                               1.0f / c->weight[v]);
        force = isphpbdx_sub(isphpbdx_sub(force, isphpbdx_get3(c->push, v)), isphpbdx_get3(c->change, v));
        force = isphpbdx_madd(isphpbdx_scale(force, 1.0f / c->seconds), soft->desc.gravity,
                              -body->gravity_scale * soft->masses[v]);
        force = isphpbdx_madd(force, isphpbdx_get3(c->pull, v), -isphpbdx_lent_part(c, v) / c->weight[v]);
        isphpbdx_put3(c->reaction, v, ipbdx_lerp3(isphpbdx_get3(c->reaction, v), force, ISPHPBDX_MIX));
    }
}
/* Water wakes a sleeping body when it pushes it otherwise than when it fell asleep, by a good part of the weight that
   is at play. */
static void isphpbdx_wake_pushed(isphpbdx_coupling *c) {
    const ipbd_world *soft = c->soft;
    int slot, v;
    for (slot = 0; slot < soft->counts.bodies; ++slot) {
        ipbdx_body *body = soft->bodies + slot;
        isphpbdx_known *known = c->known + slot;
        isphpbd_vec3 force = isphpbd_v3(0.0f, 0.0f, 0.0f);
        float mass = 0.0f;
        if (!body->used || !c->wet[slot].fluids) continue;
        for (v = body->vertex_begin; v < body->vertex_begin + body->vertex_count; ++v) {
            force = isphpbdx_add(force, isphpbdx_add(isphpbdx_get3(c->push, v), isphpbdx_get3(c->change, v)));
            mass += soft->masses[v];
        }
        force = isphpbdx_scale(force, 1.0f / c->seconds);
        if (!body->asleep) known->load = ipbdx_lerp3(known->load, force, ISPHPBDX_MIX);
        else if (isphpbdx_length(isphpbdx_sub(force, known->load)) >
                 ISPHPBDX_WAKE * (mass * c->fluid->reference_acceleration + isphpbdx_length(known->load)))
            ipbdx_wake(body);
    }
}
/* Deep water leans on the vertices with many times the weight of what it lends them, and constraints give way to such a
   load like rubber where their sweeps are too few: a layer of dx under a depth of H falls by g H h^2 / dx in a substep,
   which a sweep takes back. Soft substeps are so short that this strains a mesh as fine as the water little, and at
   most four times as many as the budget has; always where water is, since a stiffness that changed with the load would
   pump energy. */
static float isphpbdx_find_haste(const isphpbd_world *world) {
    const isphpbdx_coupling *c = &world->coupling;
    const isphpbd_budget *budget = &world->desc.budget;
    const float depth = 40.0f * c->dx, sweeps = (float)budget->constraint_iterations;
    const float fine = c->dx * sqrtf(ISPHPBDX_STRAIN * sweeps / (c->fluid->reference_acceleration * depth));
    const float wanted = world->run.seconds / ((float)budget->soft_substeps * fine);
    int v;
    if (c->fluid->hurry) return 1.0f; /* the deadline */
    for (v = 0; v < c->soft->counts.vertices; ++v)
        if (c->weight[v] > 0.0f && c->weight[v] < 0.5f * c->soft->inverse_masses[v])
            return isphpbdx_clamp(wanted, 1.0f, ISPHPBDX_HASTE);
    return 1.0f;
}
/* ==== [coupling-rounds] the outer loop of Algorithm 1 ===============================================================
   A round is a pressure solve and the constraints of the soft substeps. The solve believes that a wall moves as it did,
   plus what gravity, the remembered reaction and the pressure do to its effective mass; the constraints then move it as
   they must. While the two differ by more than desc.coupling_tolerance and the budget has rounds left, both sides go
   back to the start of the substep, each to advance once, and the solve begins with walls that end up, under the last
   pressure, where the constraints put them. What is compared and taken over is the velocity at ISPHPBDX_YIELD of the
   substep, so that the implicitness of a coupling by one round and by many is the same. */

/* The velocities that the solve gave the walls: star, and how they yield to its pressure. */
static void isphpbdx_see_walls(isphpbdx_coupling *c) {
    const isph_fluid *f = c->fluid;
    const float push = 2.0f * f->volume * c->seconds;
    int i, e, k, v;
    memset(c->change, 0, 16 * (size_t)c->soft->counts.vertices);
    for (i = 0; i < f->count; ++i)
        for (e = f->entry_first[i]; e < f->entry_first[i] + f->entry_count[i]; ++e) {
            const isphpbdx_spot *place = c->place + f->entry[e].tag;
            float b[3];
            if (f->entry[e].boundary >= 0) continue;
            isphpbdx_place_weights(place, b);
            for (k = 0; k < 3; ++k)
                isphpbdx_add3(c->change, c->face[place->face].v[k],
                              isphpbdx_scale(place->normal, -push * f->entry[e].gradient * f->pressure[i] * b[k]));
        }
    for (v = 0; v < c->soft->counts.vertices; ++v)
        isphpbdx_put3(
            c->seen, v,
            isphpbdx_madd(isphpbdx_get3(c->star, v), isphpbdx_get3(c->change, v), c->star[4 * (size_t)v + 3]));
}
/* By how much the constraints moved a vertex otherwise than the solve had it, m/s, into `seen`. */
static void isphpbdx_missed_task(void *ctx, int block) {
    const isphpbdx_coupling *c = (const isphpbdx_coupling *)ctx;
    int v;
    for (v = block * ISPHPBDX_BLOCK; v < isphpbdx_vertex_end(c, block); ++v) {
        const isphpbd_vec3 from = isphpbdx_get3(c->before, v), to = isphpbdx_get3(c->soft->velocities, v);
        isphpbdx_put3(c->seen, v, isphpbdx_sub(ipbdx_lerp3(from, to, ISPHPBDX_YIELD), isphpbdx_get3(c->seen, v)));
    }
}
/* Along the normals of the walls that particles touch: |u - v| of water and constraints at the wall, mean and largest,
   and of the particles themselves, which also move for reasons of their own. */
static void isphpbdx_measure_mismatch(isphpbdx_coupling *c) {
    double sum = 0.0, slips = 0.0;
    int i, n = 0, k;
    c->worst = 0.0f;
    for (i = 0; i < c->water.count; ++i) {
        const isphpbdx_spot *place = c->place + ISPHPBDX_PLACES * (size_t)i;
        isphpbd_vec3 slip;
        float b[3], miss;
        if (c->place_count[i] == 0 || place->distance > c->dx) continue;
        isphpbdx_place_weights(place, b);
        k = place->face;
        slip = isphpbdx_sub(isphpbdx_get3(c->u1, i), isphpbdx_mix3(c->soft->velocities, c->face[k].v, b));
        miss = isphpbdx_abs(isphpbdx_dot(place->normal, isphpbdx_mix3(c->seen, c->face[k].v, b)));
        sum += (double)miss, slips += (double)isphpbdx_abs(isphpbdx_dot(place->normal, slip)), ++n;
        c->worst = isphpbdx_max(c->worst, miss);
    }
    c->contacts = n;
    c->mismatch = n ? (float)(sum / n) : 0.0f, c->slip = n ? (float)(slips / n) : 0.0f;
}
/* Is another round worth it, and is there time for it? One that brings them no nearer makes the next more careful. */
static bool isphpbdx_wants_round(isphpbd_world *world, float before) {
    isphpbdx_coupling *c = &world->coupling;
    const isphpbdx_pace *pace = &world->pace;
    if (c->outer > 1 && c->mismatch > 0.7f * before) c->relax *= 0.5f;
    if (c->outer >= world->desc.budget.outer_iterations) return false;
    if (!(c->mismatch > world->desc.coupling_tolerance)) return false;
    if (c->fluid->hurry || (pace->end && 2.0f * pace->spent > pace->share)) return false;
    return isphx_projects(c->fluid);
}
/* Both sides are at the start of the substep again; walls are such that the same push would lead them where the
   constraints did. In: what isphpbdx_measure_mismatch() left in `seen`. */
static void isphpbdx_begin_round(isphpbd_world *world) {
    isphpbdx_coupling *c = &world->coupling;
    const size_t bytes = 16 * (size_t)c->soft->counts.vertices;
    int v;
    for (v = 0; v < c->soft->counts.vertices; ++v)
        isphpbdx_add3(c->star, v, isphx_limit(isphpbdx_scale(isphpbdx_get3(c->seen, v), c->relax), c->dx / c->seconds));
    world->stats.quarantined -= c->soft->last.quarantined;
    isphpbdx_restore_softs(c);
    world->run.softs_done = false;
    memset(c->push, 0, bytes);
    memset(c->books, 0, (size_t)c->soft->counts.bodies * sizeof *c->books);
}
static void isphpbdx_softs_substep(isphpbd_world *world, float h);

/* What is serial before the soft substeps and after them, side by side. */
static void isphpbdx_before_task(void *ctx, int index) {
    isphpbdx_coupling *c = (isphpbdx_coupling *)ctx;
    const size_t vertices = (size_t)c->soft->counts.vertices;
    if (index == 0) {
        isphpbdx_book_water(c, -1.0);
    } else if (index == 1) {
        isphpbdx_see_walls(c);
        memset(c->change, 0, 16 * vertices);
    } else {
        memset(c->crumbs, 0, 16 * vertices), memset(c->lever, 0, vertices * sizeof *c->lever);
        isphpbdx_shade_patches(c);
    }
}
static void isphpbdx_behind_task(void *ctx, int index) {
    isphpbdx_coupling *c = (isphpbdx_coupling *)ctx;
    int m;
    if (index == 0) isphpbdx_measure_mismatch(c);
    else if (index == 1) isphpbdx_book_owed(c);
    else
        for (m = 0; m < c->mover_count; ++m) isphpbdx_add3(c->x1, c->mover[m].particle, c->mover[m].at);
}
/* Water has its pressure and soft bodies their pushes: the constraints' half of a round. True: and another one. */
static bool isphpbdx_water_again(void *user, const float *start, float *positions, float *velocities, int count,
                                 float seconds) {
    isphpbd_world *world = (isphpbd_world *)user;
    isphpbdx_coupling *c = &world->coupling;
    const uint64_t began = isphpbdx_ticks(&world->desc.clock), constraints = world->stats.ticks_constraints;
    const float before = c->mismatch;
    bool again;
    (void)count;
    c->x0 = start, c->x1 = positions, c->u1 = velocities;
    if (c->outer == 0 && world->desc.budget.outer_iterations > 1 && c->face_count > 0) isphpbdx_keep_softs(c);
    isphpbdx_list_movers(c);
    isphpbdx_run(&c->fluid->desc.parallel, isphpbdx_before_task, c, 3);
    isphpbdx_run(&c->fluid->desc.parallel, isphpbdx_movers_task, c, isphpbdx_block_count(c->mover_count));
    c->in_step = true, c->haste = isphpbdx_find_haste(world);
    isphpbdx_softs_substep(world, seconds);
    c->in_step = false;
    isphpbdx_run_vertices(c, isphpbdx_missed_task, c);
    isphpbdx_run(&c->fluid->desc.parallel, isphpbdx_behind_task, c, 3);
    c->outer += c->contacts > 0;
    again = c->contacts > 0 && isphpbdx_wants_round(world, before);
    if (again) isphpbdx_begin_round(world);
    world->stats.ticks_coupling += isphpbdx_ticks(&world->desc.clock) - began;
    world->stats.ticks_coupling -= world->stats.ticks_constraints - constraints;
    return again;
}
/* Serial work, two and two side by side. */
static void isphpbdx_weigh_task(void *ctx, int index) {
    isphpbdx_coupling *c = (isphpbdx_coupling *)ctx;
    if (index == 0) isphpbdx_book_lent(c);
    else isphpbdx_wake_pushed(c);
}
static void isphpbdx_drift_task(void *ctx, int index) {
    isphpbdx_coupling *c = (isphpbdx_coupling *)ctx;
    if (index == 0) isphpbdx_find_drifts(c);
    else c->moved = isphpbdx_farthest(c);
}
static void isphpbdx_last_task(void *ctx, int index) {
    isphpbdx_coupling *c = (isphpbdx_coupling *)ctx;
    if (index == 0) isphpbdx_book_water(c, 1.0);
    else isphpbdx_slow_softs(c);
}
static void isphpbdx_water_finish(void *user, const float *start, float *positions, float *velocities, int count,
                                  float seconds) {
    isphpbd_world *world = (isphpbd_world *)user;
    isphpbdx_coupling *c = &world->coupling;
    const uint64_t began = isphpbdx_ticks(&world->desc.clock);
    (void)start, (void)positions, (void)velocities, (void)count, (void)seconds; /* as in the last round */
    isphpbdx_run_vertices(c, isphpbdx_reactions_task, c);
    isphpbdx_run(&c->fluid->desc.parallel, isphpbdx_weigh_task, c, 2);
    isphpbdx_displace(c);
    isphpbdx_give_back(c);
    isphpbdx_run(&c->fluid->desc.parallel, isphpbdx_drift_task, c, 2);
    isphpbdx_fence_all(world);
    isphpbdx_check_homes(c);
    isphpbdx_run(&c->fluid->desc.parallel, isphpbdx_last_task, c, 2);
    isphpbdx_books_close(c);
    world->stats.ticks_coupling += isphpbdx_ticks(&world->desc.clock) - began;
}

/* ==== [coupling-doors] =============================================================================================*/
/* Both solvers exist: hooks are set here. */
static isphpbd_result isphpbdx_coupling_ready(isphpbd_world *world) {
    isphpbdx_coupling *c = &world->coupling;
    isph_coupler coupler;
    ipbd_hooks hooks;
    isphpbd_result result;
    memset(&coupler, 0, sizeof coupler), memset(&hooks, 0, sizeof hooks);
    c->fluid = world->fluid, c->soft = world->soft;
    c->dx = world->fluid->dx, c->reach = world->fluid->reach, c->keep = 0.5f * c->dx;
    coupler.begin = isphpbdx_water_begin, coupler.walls = isphpbdx_water_walls;
    coupler.respond = isphpbdx_water_respond, coupler.impulses = isphpbdx_water_impulses;
    coupler.again = isphpbdx_water_again, coupler.finish = isphpbdx_water_finish;
    coupler.guarded = c->guarded, coupler.separated = isphpbdx_water_separated;
    coupler.user = world;
    hooks.begin = isphpbdx_soft_begin, hooks.iterate = isphpbdx_soft_iterate, hooks.end = isphpbdx_soft_end;
    hooks.user = world;
    result = isph_fluid_set_coupler(world->fluid, &coupler);
    return result == ISPHPBD_OK ? ipbd_set_hooks(world->soft, &hooks) : result;
}
/* Speed of the fastest wet vertex, m/s: it shall not move farther in a substep than a particle may. */
static float isphpbdx_coupling_fastest(const isphpbd_world *world) {
    const ipbd_world *soft = world->soft;
    float fastest = 0.0f;
    int i, v;
    for (i = 0; i < world->pools[ISPHPBDX_SOFTS].capacity; ++i) {
        const isphpbdx_soft *record = (const isphpbdx_soft *)isphpbdx_used(world, ISPHPBDX_SOFTS, i);
        const ipbdx_body *body = record ? soft->bodies + (record->body.id & 0xffffu) - 1 : NULL;
        if (!body || !record->wet || body->asleep) continue;
        for (v = body->vertex_begin; v < body->vertex_begin + body->vertex_count; ++v) {
            const isphpbd_vec3 u = isphpbdx_get3(soft->velocities, v);
            fastest = isphpbdx_max(fastest, isphpbdx_dot(u, u));
        }
    }
    return isphpbdx_min(sqrtf(fastest), 1e9f); /* what isph_fluid_substep_seconds() takes */
}
/* After a substep: particles that could not be saved go, and are counted. */
static void isphpbdx_coupling_end(isphpbd_world *world, float h) {
    isphpbdx_coupling *c = &world->coupling;
    isphpbd_stats *s = &world->stats;
    (void)h;
    c->culled = c->lost_count > 0 ? isph_particles_remove(world->fluid, c->lost_id, c->lost_count) : 0;
    c->lost_count = 0;
    c->shells = isphpbdx_shells_digest(c);
    s->returned += c->returned, s->total_returned += c->returned;
    c->returned = 0;
    if (c->culled > 0) world->run.flags |= ISPHPBD_STEP_CULLED;
    s->culled += c->culled, s->total_culled += c->culled;
    s->contacts = c->contacts, s->touching_speed = c->slip;
    s->coupling_mismatch = c->mismatch, s->coupling_mismatch_max = c->worst;
    if (c->mismatch > world->desc.coupling_tolerance) world->run.flags |= ISPHPBD_STEP_COUPLING_CAPPED;
    s->outer_iterations = isphpbdx_maxi(s->outer_iterations, c->outer), s->total_outer_iterations += c->outer;
    world->run.rounds += c->outer, world->run.coupled += c->outer > 0;
    if (c->outer > 0) s->outer_iterations_mean = (float)world->run.rounds / (float)world->run.coupled;
    c->contacts = c->outer = 0, c->mismatch = c->worst = c->slip = 0.0f;
}

/* ==== [create] memory: this block, the fluid's and the soft bodies' ================================================*/
ISPHPBD_API int isphpbd_version(void) { return ISPHPBD_VERSION; }

static isphpbd_budget isphpbdx_budget_default(void) {
    isphpbd_budget budget;
    memset(&budget, 0, sizeof budget);
    budget.steps_per_advance = 2;
    budget.substeps = 8;
    budget.pressure_iterations = 50;
    budget.soft_substeps = 12;
    budget.constraint_iterations = 1;
    budget.outer_iterations = 1;
    return budget;
}
ISPHPBD_API isphpbd_world_desc isphpbd_world_desc_default(void) {
    isphpbd_world_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.gravity.y = -9.81f;
    desc.step_seconds = 1.0f / 60.0f;
    desc.spacing = 0.05f;
    desc.support = 2.0f;
    desc.solver = ISPH_SOLVER_INCOMPRESSIBLE;
    desc.density_projection = true;
    desc.cfl = 1.0f;
    desc.tolerance = 0.05f;
    desc.coupling_tolerance = 0.5e-3f;
    desc.interpolation = true;
    desc.budget = isphpbdx_budget_default();
    desc.capacity.fluid_particles = 32768;
    desc.capacity.fluids = 8;
    desc.capacity.emitters = desc.capacity.sinks = 16;
    desc.capacity.colliders = desc.capacity.bodies = 64;
    desc.capacity.mesh_triangles = 16384;
    desc.capacity.soft = ipbd_world_desc_default().capacity;
    desc.ticks_per_second = 1e9;
    desc.cookie = ISPHPBDX_COOKIE_WORLD;
    return desc;
}

static const char *isphpbdx_budget_fault(const isphpbd_budget *budget, const isphpbd_clock *clock) {
    if (budget->steps_per_advance < 1 || budget->steps_per_advance > 1000) return "steps_per_advance must be 1..1000";
    if (budget->substeps < 1 || budget->substeps > 1000) return "substeps must be 1..1000";
    if (budget->pressure_iterations < 1 || budget->pressure_iterations > 100000)
        return "pressure_iterations must be 1..100000";
    if (budget->soft_substeps < 1 || budget->soft_substeps > 1000) return "soft_substeps must be 1..1000";
    if (budget->constraint_iterations < 1 || budget->constraint_iterations > 1000)
        return "constraint_iterations must be 1..1000";
    if (budget->outer_iterations < 1 || budget->outer_iterations > 16) return "outer_iterations must be 1..16";
    if (!isphpbdx_between(budget->deadline_seconds, 0.0f, 1e3f)) return "deadline_seconds must be 0..1000";
    if (budget->deadline_seconds > 0.0f && !clock->fn) return "a deadline needs desc.clock";
    return NULL;
}
static const char *isphpbdx_capacity_fault(const isphpbd_capacity *c) {
    const int limit = 0xffff; /* a slot is 16 bits of a handle */
    if (c->fluid_particles < 0 || c->fluid_particles > 1 << 24) return "capacity.fluid_particles must be 0..2^24";
    if (c->fluids < 1 || c->fluids > 32) return "capacity.fluids must be 1..32";
    if (c->emitters < 0 || c->emitters > limit || c->sinks < 0 || c->sinks > limit || c->colliders < 0 ||
        c->bodies < 0 || c->colliders > limit || c->bodies > limit - c->colliders)
        return "a capacity is negative or too large";
    if (c->mesh_triangles < 0 || c->mesh_triangles > 1 << 24) return "capacity.mesh_triangles must be 0..2^24";
    return NULL;
}
static const char *isphpbdx_desc_fault(const isphpbd_world_desc *d) {
    const char *fault;
    if (!isphpbdx_vector_ok(d->gravity, ISPHPBDX_HUGE) || !isphpbdx_vector_ok(d->wind, 1e4f))
        return "gravity or wind is not finite or too large";
    if (!isphpbdx_between(d->step_seconds, 1e-5f, ISPHPBDX_LONGEST_STEP)) return "step_seconds must be 1e-5..0.1";
    if (!isphpbdx_between(d->coupling_tolerance, 0.0f, 1e3f)) return "coupling_tolerance must be >= 0";
    if (d->rigid_scheme < ISPHPBD_RIGID_GLOBAL || d->rigid_scheme > ISPHPBD_RIGID_LOCAL) return "unknown rigid_scheme";
    if (!(d->ticks_per_second > 0.0 && d->ticks_per_second < 1e18)) return "ticks_per_second must be > 0";
    fault = isphpbdx_budget_fault(&d->budget, &d->clock);
    return fault ? fault : isphpbdx_capacity_fault(&d->capacity);
}

static isph_fluid_desc isphpbdx_inner_fluid(const isphpbd_world_desc *d) {
    isph_fluid_desc fluid = isph_fluid_desc_default();
    fluid.gravity = d->gravity, fluid.spacing = d->spacing, fluid.support = d->support;
    fluid.solver = d->solver, fluid.density_projection = d->density_projection;
    fluid.cfl = d->cfl, fluid.tolerance = d->tolerance;
    fluid.rigid_local = d->rigid_scheme == ISPHPBD_RIGID_LOCAL;
    fluid.max_iterations = d->budget.pressure_iterations, fluid.max_substeps = 1;
    fluid.particle_capacity = d->capacity.fluid_particles;
    fluid.material_capacity = d->capacity.fluids;
    fluid.boundary_capacity = d->capacity.colliders + d->capacity.bodies;
    fluid.triangle_capacity = d->capacity.mesh_triangles;
    fluid.allocator = d->allocator, fluid.parallel = d->parallel, fluid.logger = d->logger, fluid.clock = d->clock;
    return fluid;
}
static ipbd_world_desc isphpbdx_inner_softs(const isphpbd_world_desc *d) {
    ipbd_world_desc soft = ipbd_world_desc_default();
    soft.gravity = d->gravity, soft.wind = d->wind;
    soft.substeps = d->budget.soft_substeps, soft.iterations = d->budget.constraint_iterations;
    soft.capacity = d->capacity.soft;
    soft.capacity.colliders = d->capacity.colliders + d->capacity.bodies;
    soft.capacity.collider_triangles = d->capacity.mesh_triangles;
    soft.capacity.collider_vertices = 3 * d->capacity.mesh_triangles; /* triangles may share no vertex at all */
    soft.allocator = d->allocator, soft.parallel = d->parallel, soft.logger = d->logger, soft.clock = d->clock;
    return soft;
}

static void isphpbdx_pool_layout(isphpbd_world *world, isphpbdx_layout *layout, isphpbdx_kind kind, size_t size,
                                 int capacity) {
    isphpbdx_pool *pool = &world->pools[kind];
    pool->size = size, pool->capacity = capacity;
    pool->records = (unsigned char *)isphpbdx_take(layout, (size_t)capacity, size);
}
/* Measures where layout->base is NULL, hands out otherwise; `world` has its desc. */
static void isphpbdx_layout_world(isphpbd_world *world, isphpbdx_layout *layout) {
    const isphpbd_capacity *c = &world->desc.capacity;
    const size_t particles = (size_t)c->fluid_particles, vertices = (size_t)c->soft.vertices;
    isphpbdx_take(layout, 1, sizeof *world);
    isphpbdx_pool_layout(world, layout, ISPHPBDX_FLUIDS, sizeof(isphpbdx_fluid), c->fluids);
    isphpbdx_pool_layout(world, layout, ISPHPBDX_EMITTERS, sizeof(isphpbdx_emitter), c->emitters);
    isphpbdx_pool_layout(world, layout, ISPHPBDX_SINKS, sizeof(isphpbdx_sink), c->sinks);
    isphpbdx_pool_layout(world, layout, ISPHPBDX_SOFTS, sizeof(isphpbdx_soft), c->soft.bodies);
    isphpbdx_pool_layout(world, layout, ISPHPBDX_COLLIDERS, sizeof(isphpbdx_solid), c->colliders);
    isphpbdx_pool_layout(world, layout, ISPHPBDX_BODIES, sizeof(isphpbdx_solid), c->bodies);
    world->life = (float *)isphpbdx_take(layout, particles, sizeof(float));
    world->mortal = (uint32_t *)isphpbdx_take(layout, particles, sizeof(uint32_t));
    world->gathered = (float *)isphpbdx_take(layout, particles, 3 * sizeof(float));
    if (world->desc.interpolation) {
        world->previous = (float *)isphpbdx_take(layout, particles, 3 * sizeof(float));
        world->known = (uint32_t *)isphpbdx_take(layout, particles, sizeof(uint32_t));
        world->soft_previous = (float *)isphpbdx_take(layout, vertices, 3 * sizeof(float));
    }
    isphpbdx_coupling_layout(world, layout);
}

/* Bytes of the three blocks; OK unless a desc is bad or too large for the machine. */
static isphpbd_result isphpbdx_measure(const isphpbd_world_desc *desc, isphpbd_world *measured, size_t blocks[3]) {
    isphpbdx_layout layout = {NULL, 0, false};
    isph_fluid_desc fluid;
    ipbd_world_desc soft;
    const char *fault;
    if (!desc) return ISPHPBD_BAD_ARGUMENT;
    memset(measured, 0, sizeof *measured);
    measured->desc = *desc;
    measured->desc.capacity.fluid_particles = isphpbdx_maxi(desc->capacity.fluid_particles, 1);
    if (desc->cookie != ISPHPBDX_COOKIE_WORLD) return ISPHPBD_BAD_DESC; /* what looks like a logger may be none */
    fault = isphpbdx_desc_fault(desc);
    if (fault) return isphpbdx_refuse(measured, ISPHPBD_BAD_DESC, fault);
    if (!isphpbdx_allocator_ready(&measured->desc.allocator))
        return isphpbdx_refuse(measured, ISPHPBD_BAD_DESC, "the allocator needs both alloc and free");
    fluid = isphpbdx_inner_fluid(&measured->desc), soft = isphpbdx_inner_softs(&measured->desc);
    blocks[1] = isph_fluid_bytes(&fluid), blocks[2] = blocks[1] ? ipbd_bytes(&soft) : 0;
    if (!blocks[1] || !blocks[2]) return ISPHPBD_BAD_DESC; /* they told the logger why */
    isphpbdx_layout_world(measured, &layout);
    blocks[0] = layout.used;
    if (layout.overflow || blocks[1] > (size_t)-1 - blocks[0] || blocks[2] > (size_t)-1 - blocks[0] - blocks[1])
        return isphpbdx_refuse(measured, ISPHPBD_OUT_OF_MEMORY, "the capacities do not fit this machine");
    return ISPHPBD_OK;
}
ISPHPBD_API size_t isphpbd_world_bytes(const isphpbd_world_desc *desc) {
    isphpbd_world measured;
    size_t blocks[3];
    return isphpbdx_measure(desc, &measured, blocks) == ISPHPBD_OK ? blocks[0] + blocks[1] + blocks[2] : 0;
}

/* A number that tells worlds apart while they live. */
static uint32_t isphpbdx_tag(const isphpbd_world *world) {
    const uint64_t address = (uint64_t)(uintptr_t)world;
    const uint64_t mixed = isphpbdx_hash_word(isphpbdx_hash_word(1, (uint32_t)address), (uint32_t)(address >> 32));
    return (uint32_t)(mixed >> 32) | 1u;
}
static void isphpbdx_forget_particles(isphpbd_world *world) {
    int i;
    world->is_gathered = false;
    for (i = 0; i < world->desc.capacity.fluid_particles; ++i) {
        world->mortal[i] = ~(uint32_t)i; /* no id has these bits in this slot */
        if (world->known) world->known[i] = ~(uint32_t)i;
    }
}
static isphpbd_world *isphpbdx_world_start(const isphpbd_world *measured, size_t bytes) {
    const isphpbd_allocator *allocator = &measured->desc.allocator;
    isphpbdx_layout layout = {NULL, 0, false};
    isphpbd_world *world;
    layout.base = (unsigned char *)isphpbdx_allocate(allocator, bytes);
    if (!layout.base) return NULL;
    memset(layout.base, 0, bytes);
    world = (isphpbd_world *)(void *)layout.base;
    world->desc = measured->desc;
    isphpbdx_shut_callbacks(world);
    world->bytes = bytes;
    isphpbdx_layout_world(world, &layout);
    world->tag = isphpbdx_tag(world);
    isphpbdx_forget_particles(world);
    isphpbdx_forget_homes(&world->coupling, world->desc.capacity.fluid_particles);
    return world;
}

ISPHPBD_API void isphpbd_world_destroy(isphpbd_world *world) {
    isphpbd_allocator allocator;
    if (!world || isphpbdx_open(world) != ISPHPBD_OK) return;
    isphpbdx_unlock(world);
    ipbd_destroy(world->soft);
    isph_fluid_destroy(world->fluid);
    allocator = world->desc.allocator;
    allocator.free(world, world->bytes, allocator.user);
}
ISPHPBD_API isphpbd_world *isphpbd_world_create(const isphpbd_world_desc *desc, isphpbd_result *why) {
    isphpbd_world measured, *world;
    size_t blocks[3];
    isphpbd_result result = isphpbdx_measure(desc, &measured, blocks);
    const isphpbd_world_desc *inner;
    isph_fluid_desc fluid;
    ipbd_world_desc soft;
    isphpbdx_why(why, result);
    if (result != ISPHPBD_OK) return NULL;
    world = isphpbdx_world_start(&measured, blocks[0]);
    if (!world) result = isphpbdx_refuse(&measured, ISPHPBD_OUT_OF_MEMORY, "no memory for the world");
    inner = world ? &world->desc : &measured.desc;
    fluid = isphpbdx_inner_fluid(inner), soft = isphpbdx_inner_softs(inner);
    if (world) world->fluid = isph_fluid_create(&fluid, &result);
    if (world && world->fluid) world->soft = ipbd_create(&soft, &result);
    if (world && world->fluid) world->fluid->told = ~0u; /* the world warns in its own words */
    if (world && world->soft) result = isphpbdx_coupling_ready(world);
    isphpbdx_why(why, result);
    if (result == ISPHPBD_OK) return isphpbdx_lock(world), world;
    isphpbd_world_destroy(world);
    return NULL;
}

ISPHPBD_API isph_fluid *isphpbd_world_fluids(isphpbd_world *world) { return world ? world->fluid : NULL; }
ISPHPBD_API ipbd_world *isphpbd_world_softs(isphpbd_world *world) { return world ? world->soft : NULL; }

/* ==== [settings] ===================================================================================================*/
ISPHPBD_API isphpbd_result isphpbd_world_set_gravity(isphpbd_world *world, isphpbd_vec3 gravity) {
    isphpbd_result result = isphpbdx_open(world);
    if (result != ISPHPBD_OK) return result;
    isphpbdx_unlock(world);
    result = isph_fluid_set_gravity(world->fluid, gravity); /* the stricter of the two */
    if (result == ISPHPBD_OK) world->desc.gravity = gravity, ipbd_set_gravity(world->soft, gravity);
    isphpbdx_lock(world);
    if (result != ISPHPBD_OK) return isphpbdx_refuse(world, result, "gravity is not finite or too large");
    return ISPHPBD_OK;
}
ISPHPBD_API isphpbd_result isphpbd_world_set_wind(isphpbd_world *world, isphpbd_vec3 wind) {
    const isphpbd_result result = isphpbdx_open(world);
    if (result != ISPHPBD_OK) return result;
    if (!isphpbdx_vector_ok(wind, 1e4f))
        return isphpbdx_refuse(world, ISPHPBD_BAD_ARGUMENT, "wind is not finite or too large");
    world->desc.wind = wind;
    return ipbd_set_wind(world->soft, wind);
}
ISPHPBD_API isphpbd_result isphpbd_world_set_budget(isphpbd_world *world, const isphpbd_budget *budget) {
    isphpbd_result result = isphpbdx_open(world);
    const char *fault;
    if (result != ISPHPBD_OK) return result;
    fault = budget ? isphpbdx_budget_fault(budget, &world->desc.clock) : "budget is NULL";
    if (fault) return isphpbdx_refuse(world, ISPHPBD_BAD_ARGUMENT, fault);
    isphpbdx_unlock(world);
    result = isph_fluid_set_budget(world->fluid, budget->pressure_iterations, 1, world->desc.tolerance);
    if (result == ISPHPBD_OK) ipbd_set_budget(world->soft, budget->soft_substeps, budget->constraint_iterations);
    isphpbdx_lock(world);
    if (result != ISPHPBD_OK) return isphpbdx_refuse(world, result, "pressure_iterations is out of range");
    world->desc.budget = *budget;
    return ISPHPBD_OK;
}

/* ==== [previous] positions one step ago, for drawing between steps =================================================*/
static void isphpbdx_copy_points(float *to, const float *from, size_t stride, int count) {
    int i;
    for (i = 0; i < count; ++i) memcpy(to + 3 * i, (const char *)from + stride * (size_t)i, 3 * sizeof(float));
}
/* The previous positions in the order of the view; who is new was where it is. */
static void isphpbdx_gather(isphpbd_world *world) {
    const isph_view view = isph_particles(world->fluid);
    int i;
    if (!world->previous) return;
    for (i = 0; i < view.count; ++i) {
        const uint32_t slot = isphx_slot(world->fluid, view.id[i]);
        const float *from =
            world->known[slot] == view.id[i]
                ? world->previous + 3 * (size_t)slot
                : (const float *)(const void *)((const char *)view.position + view.stride_bytes * (size_t)i);
        memcpy(world->gathered + 3 * (size_t)i, from, 3 * sizeof(float));
    }
    world->is_gathered = true, world->gathered_at = world->fluid->changes;
}
/* Before a step: where everything is now will be the previous position. */
static void isphpbdx_remember(isphpbd_world *world) {
    const isph_view view = isph_particles(world->fluid);
    const ipbd_arrays soft = ipbd_world_arrays(world->soft);
    int i;
    if (!world->previous) return;
    for (i = 0; i < view.count; ++i) {
        const uint32_t slot = isphx_slot(world->fluid, view.id[i]);
        memcpy(world->previous + 3 * (size_t)slot, (const char *)view.position + view.stride_bytes * (size_t)i,
               3 * sizeof(float));
        world->known[slot] = view.id[i];
    }
    isphpbdx_copy_points(world->soft_previous, soft.positions, 16, soft.vertex_count);
}

/* ==== [fluids] =====================================================================================================*/
ISPHPBD_API isphpbd_fluid_desc isphpbd_fluid_desc_default(void) {
    isphpbd_fluid_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.material = isph_material_desc_default();
    desc.layer = 1, desc.mask = ~0u;
    desc.cookie = ISPHPBDX_COOKIE_FLUID;
    return desc;
}
static bool isphpbdx_meet(uint32_t layer, uint32_t mask, uint32_t other_layer, uint32_t other_mask) {
    return (layer & other_mask) != 0 && (other_layer & mask) != 0;
}
/* Bit per fluid that something with this layer and mask meets. */
static uint32_t isphpbdx_fluids_met(const isphpbd_world *world, uint32_t layer, uint32_t mask) {
    uint32_t bits = 0;
    int i;
    for (i = 0; i < world->pools[ISPHPBDX_FLUIDS].capacity; ++i) {
        const isphpbdx_fluid *fluid = (const isphpbdx_fluid *)isphpbdx_used(world, ISPHPBDX_FLUIDS, i);
        if (fluid && isphpbdx_meet(layer, mask, fluid->layer, fluid->mask)) bits |= 1u << i;
    }
    return bits;
}
static void isphpbdx_solid_masks(isphpbd_world *world, isphpbdx_kind kind); /* [solids] */
/* Who meets whom, told to the solvers; after a fluid or a solid came. */
static void isphpbdx_update_masks(isphpbd_world *world) {
    int i;
    for (i = 0; i < world->pools[ISPHPBDX_SOFTS].capacity; ++i) {
        isphpbdx_soft *soft = (isphpbdx_soft *)isphpbdx_used(world, ISPHPBDX_SOFTS, i);
        if (soft) soft->fluids = soft->wet ? isphpbdx_fluids_met(world, soft->layer, soft->mask) : 0u;
    }
    isphpbdx_unlock(world);
    isphpbdx_solid_masks(world, ISPHPBDX_COLLIDERS);
    isphpbdx_solid_masks(world, ISPHPBDX_BODIES);
    isphpbdx_lock(world);
}

ISPHPBD_API isphpbd_fluid isphpbd_fluid_create(isphpbd_world *world, const isphpbd_fluid_desc *desc,
                                               isphpbd_result *why) {
    isphpbd_fluid handle = {0, 0};
    isphpbdx_fluid *fluid;
    isphpbd_result result = isphpbdx_open(world);
    isphpbdx_why(why, result);
    if (result != ISPHPBD_OK) return handle;
    isphpbdx_why(why, ISPHPBD_BAD_DESC);
    if (!desc || desc->cookie != ISPHPBDX_COOKIE_FLUID)
        return isphpbdx_refuse(world, ISPHPBD_BAD_DESC, "make the desc with isphpbd_fluid_desc_default()"), handle;
    fluid = (isphpbdx_fluid *)isphpbdx_free_record(world, ISPHPBDX_FLUIDS);
    isphpbdx_why(why, ISPHPBD_CAPACITY);
    if (!fluid) return isphpbdx_refuse(world, ISPHPBD_CAPACITY, "raise capacity.fluids"), handle;
    isphpbdx_unlock(world);
    fluid->material = isph_material_create(world->fluid, &desc->material, &result);
    isphpbdx_lock(world);
    isphpbdx_why(why, result);
    if (result != ISPHPBD_OK) return handle; /* the fluid told the logger why */
    fluid->layer = desc->layer, fluid->mask = desc->mask;
    handle.id = isphpbdx_enter(world, ISPHPBDX_FLUIDS, fluid), handle.world = world->tag;
    isphpbdx_update_masks(world);
    return handle;
}
ISPHPBD_API int isphpbd_fluid_index(const isphpbd_world *world, isphpbd_fluid fluid) {
    const isphpbdx_fluid *record = isphpbdx_fluid_of(world, fluid);
    return record ? isphpbdx_slot_of(world, ISPHPBDX_FLUIDS, record) : -1;
}

/* The record of a handle if the world may be changed and the handle is good; else NULL, and why. */
static void *isphpbdx_edit(isphpbd_world *world, isphpbdx_kind kind, uint32_t id, uint32_t tag,
                           isphpbd_result *result) {
    static const char *const text[ISPHPBDX_KINDS] = {"not a fluid of this world",    "not an emitter of this world",
                                                     "not a sink of this world",     "not a soft body of this world",
                                                     "not a collider of this world", "not a body of this world"};
    void *record;
    *result = isphpbdx_open(world);
    if (*result != ISPHPBD_OK) return NULL;
    record = isphpbdx_find(world, kind, id, tag);
    if (!record) *result = isphpbdx_refuse(world, ISPHPBD_BAD_HANDLE, text[kind]);
    return record;
}
static isphpbdx_fluid *isphpbdx_fluid_edit(isphpbd_world *world, isphpbd_fluid handle, isphpbd_result *result) {
    return (isphpbdx_fluid *)isphpbdx_edit(world, ISPHPBDX_FLUIDS, handle.id, handle.world, result);
}
/* Passes on why the fluid refused particles; that there is no room it tells the logger itself. */
static isphpbd_result isphpbdx_not_added(const isphpbd_world *world, isphpbd_result result, const char *text) {
    return result == ISPHPBD_CAPACITY ? result : isphpbdx_refuse(world, result, text);
}
ISPHPBD_API isphpbd_result isphpbd_fluid_add_box(isphpbd_world *world, isphpbd_fluid fluid, isphpbd_vec3 lo,
                                                 isphpbd_vec3 hi, isphpbd_vec3 velocity, int *added) {
    isphpbd_result result;
    const isphpbdx_fluid *record = isphpbdx_fluid_edit(world, fluid, &result);
    if (added) *added = 0;
    if (!record) return result;
    result = isph_particles_add_box(world->fluid, record->material, lo, hi, velocity, added);
    if (result != ISPHPBD_OK) return isphpbdx_not_added(world, result, "the box of water was not added");
    isphpbdx_gather(world);
    return ISPHPBD_OK;
}
ISPHPBD_API isphpbd_result isphpbd_fluid_add(isphpbd_world *world, isphpbd_fluid fluid, const float *positions,
                                             size_t position_stride, const float *velocities, size_t velocity_stride,
                                             int count, uint32_t *ids) {
    isphpbd_result result;
    const isphpbdx_fluid *record = isphpbdx_fluid_edit(world, fluid, &result);
    if (!record) return result;
    result = isph_particles_add(world->fluid, record->material, positions, position_stride, velocities, velocity_stride,
                                count, ids);
    if (result != ISPHPBD_OK) return isphpbdx_not_added(world, result, "the particles were not added");
    isphpbdx_gather(world);
    return ISPHPBD_OK;
}
static bool isphpbdx_is_material(void *user, const isph_particle *particle) {
    return particle->material.id == ((const isph_material *)user)->id;
}
ISPHPBD_API int isphpbd_fluid_clear(isphpbd_world *world, isphpbd_fluid fluid) {
    isphpbd_result result;
    isphpbdx_fluid *record = isphpbdx_fluid_edit(world, fluid, &result);
    int gone;
    if (!record) return 0;
    gone = isph_particles_remove_if(world->fluid, isphpbdx_is_material, &record->material);
    world->stats.total_removed += gone;
    isphpbdx_gather(world);
    return gone;
}

/* ==== [emitters] layers of particles leave a mouth, one spacing apart ==============================================*/
ISPHPBD_API isphpbd_emitter_desc isphpbd_emitter_desc_default(void) {
    isphpbd_emitter_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.direction.y = -1.0f;
    desc.radius = desc.half_width = desc.half_height = 0.1f;
    desc.speed = 1.0f;
    desc.cookie = ISPHPBDX_COOKIE_EMITTER;
    return desc;
}
static bool isphpbdx_direction_ready(isphpbd_vec3 *direction) {
    if (!isphpbdx_vector_ok(*direction, 1e15f) || !(isphpbdx_length(*direction) > 1e-15f)) return false;
    *direction = isphpbdx_scale(*direction, 1.0f / isphpbdx_length(*direction));
    return true;
}
static bool isphpbdx_place_ok(const isphpbd_world *world, isphpbd_vec3 position) {
    return isphpbdx_vector_ok(position, ISPHPBDX_FARTHEST * world->desc.spacing);
}
static const char *isphpbdx_emitter_fault(const isphpbd_world *world, isphpbd_emitter_desc *d) {
    const float widest = 1e3f * world->desc.spacing;
    if (d->cookie != ISPHPBDX_COOKIE_EMITTER) return "make the desc with isphpbd_emitter_desc_default()";
    if (!isphpbdx_place_ok(world, d->position) || !isphpbdx_direction_ready(&d->direction))
        return "an emitter's position or direction is not finite, too large, or has no length";
    if (!isphpbdx_between(d->radius, 0.0f, widest)) return "an emitter's radius must be 0..1000 spacings";
    if (d->radius == 0.0f &&
        (!isphpbdx_between(d->half_width, 0.0f, widest) || !isphpbdx_between(d->half_height, 0.0f, widest)))
        return "an emitter's half width and height must be 0..1000 spacings";
    if (!isphpbdx_between(d->speed, 1e-6f, 1e4f)) return "an emitter's speed must be > 0 and at most 10 km/s";
    if (!isphpbdx_between(d->lifetime, 0.0f, 1e9f) || !isphpbdx_between(d->duration, 0.0f, 1e9f))
        return "an emitter's lifetime and duration must be >= 0";
    return NULL;
}
ISPHPBD_API isphpbd_emitter isphpbd_emitter_create(isphpbd_world *world, const isphpbd_emitter_desc *desc,
                                                   isphpbd_result *why) {
    isphpbd_emitter handle = {0, 0};
    isphpbdx_emitter *emitter;
    isphpbd_emitter_desc ready;
    isphpbd_result result = isphpbdx_open(world);
    const char *fault;
    isphpbdx_why(why, result);
    if (result != ISPHPBD_OK) return handle;
    isphpbdx_why(why, ISPHPBD_BAD_DESC);
    if (!desc) return handle;
    ready = *desc;
    fault = isphpbdx_emitter_fault(world, &ready);
    if (fault) return isphpbdx_refuse(world, ISPHPBD_BAD_DESC, fault), handle;
    isphpbdx_why(why, ISPHPBD_BAD_HANDLE);
    if (!isphpbdx_fluid_of(world, desc->fluid))
        return isphpbdx_refuse(world, ISPHPBD_BAD_HANDLE, "an emitter needs a fluid of this world"), handle;
    isphpbdx_why(why, ISPHPBD_CAPACITY);
    emitter = (isphpbdx_emitter *)isphpbdx_free_record(world, ISPHPBDX_EMITTERS);
    if (!emitter) return isphpbdx_refuse(world, ISPHPBD_CAPACITY, "raise capacity.emitters"), handle;
    isphpbdx_why(why, ISPHPBD_OK);
    emitter->desc = ready;
    emitter->fluid = isphpbd_fluid_index(world, desc->fluid);
    emitter->carry = world->desc.spacing; /* the first layer comes at once */
    handle.id = isphpbdx_enter(world, ISPHPBDX_EMITTERS, emitter), handle.world = world->tag;
    return handle;
}
ISPHPBD_API isphpbd_result isphpbd_emitter_destroy(isphpbd_world *world, isphpbd_emitter emitter) {
    const isphpbd_result result = isphpbdx_open(world);
    isphpbdx_emitter *record = isphpbdx_emitter_of(world, emitter);
    if (result != ISPHPBD_OK) return result;
    if (!record) return isphpbdx_refuse(world, ISPHPBD_BAD_HANDLE, "not an emitter of this world");
    isphpbdx_leave(world, ISPHPBDX_EMITTERS, record);
    return ISPHPBD_OK;
}
ISPHPBD_API isphpbd_result isphpbd_emitter_set(isphpbd_world *world, isphpbd_emitter emitter, isphpbd_vec3 position,
                                               isphpbd_vec3 direction, float speed) {
    const isphpbd_result result = isphpbdx_open(world);
    isphpbdx_emitter *record = isphpbdx_emitter_of(world, emitter);
    if (result != ISPHPBD_OK) return result;
    if (!record) return isphpbdx_refuse(world, ISPHPBD_BAD_HANDLE, "not an emitter of this world");
    if (!isphpbdx_place_ok(world, position) || !isphpbdx_direction_ready(&direction) ||
        !isphpbdx_between(speed, 0.0f, 1e4f))
        return isphpbdx_refuse(world, ISPHPBD_BAD_ARGUMENT, "an emitter's position, direction or speed is bad");
    record->desc.position = position, record->desc.direction = direction, record->desc.speed = speed;
    return ISPHPBD_OK;
}
ISPHPBD_API int64_t isphpbd_emitter_count(const isphpbd_world *world, isphpbd_emitter emitter) {
    const isphpbdx_emitter *record = isphpbdx_emitter_of(world, emitter);
    return record ? record->count : 0;
}

typedef struct isphpbdx_mouth { /* a square lattice across the jet */
    isphpbd_vec3 centre, across, up;
    int columns, rows; /* half numbers: -columns .. columns */
    float radius;      /* 0: rectangle */
} isphpbdx_mouth;

/* Particles keep half a spacing from the rim; the narrowest mouth has one. */
static int isphpbdx_lattice_half(float half, float spacing) {
    const float n = half / spacing - 0.5f;
    return n > 0.0f ? (int)(n + 1e-3f) : 0;
}
static isphpbdx_mouth isphpbdx_mouth_of(const isphpbdx_emitter *e, float spacing, float ahead) {
    const isphpbd_emitter_desc *d = &e->desc;
    const isphpbd_vec3 hint =
        isphpbdx_abs(d->direction.x) < 0.9f ? isphpbd_v3(1.0f, 0.0f, 0.0f) : isphpbd_v3(0.0f, 0.0f, 1.0f);
    isphpbdx_mouth mouth;
    mouth.centre = isphpbdx_madd(d->position, d->direction, ahead);
    mouth.across = isphpbdx_madd(hint, d->direction, -isphpbdx_dot(hint, d->direction));
    mouth.across = isphpbdx_scale(mouth.across, 1.0f / isphpbdx_length(mouth.across));
    mouth.up = isphpbdx_cross(d->direction, mouth.across);
    mouth.radius = d->radius;
    mouth.columns = isphpbdx_lattice_half(d->radius > 0.0f ? d->radius : d->half_width, spacing);
    mouth.rows = isphpbdx_lattice_half(d->radius > 0.0f ? d->radius : d->half_height, spacing);
    return mouth;
}
static bool isphpbdx_mouth_has(const isphpbdx_mouth *mouth, int column, int row, float spacing) {
    const float reach = mouth->radius / spacing - 0.5f, r2 = (float)(column * column + row * row);
    return mouth->radius == 0.0f || r2 == 0.0f || (reach > 0.0f && r2 <= reach * reach + 1e-3f);
}
static int isphpbdx_mouth_count(const isphpbdx_mouth *mouth, float spacing) {
    int column, row, count = 0;
    for (row = -mouth->rows; row <= mouth->rows; ++row)
        for (column = -mouth->columns; column <= mouth->columns; ++column)
            count += isphpbdx_mouth_has(mouth, column, row, spacing);
    return count;
}
static void isphpbdx_give_life(isphpbd_world *world, const uint32_t *ids, int count, float seconds) {
    int i;
    for (i = 0; i < count; ++i) {
        const uint32_t slot = isphx_slot(world->fluid, ids[i]);
        world->life[slot] = seconds, world->mortal[slot] = ids[i];
    }
}
/* A batch of particles enters; false where they are beyond the world. */
static bool isphpbdx_emit_batch(isphpbd_world *world, isphpbdx_emitter *e, const isphpbd_vec3 *points, int count) {
    const isphpbdx_fluid *fluid = (const isphpbdx_fluid *)isphpbdx_at(world, ISPHPBDX_FLUIDS, e->fluid);
    isphpbd_vec3 velocities[ISPHPBDX_BATCH];
    uint32_t ids[ISPHPBDX_BATCH];
    int i;
    for (i = 0; i < count; ++i) velocities[i] = isphpbdx_scale(e->desc.direction, e->desc.speed);
    if (isph_particles_add(world->fluid, fluid->material, &points->x, sizeof *points, &velocities->x,
                           sizeof *velocities, count, ids) != ISPHPBD_OK)
        return false;
    if (e->desc.lifetime > 0.0f) isphpbdx_give_life(world, ids, count, e->desc.lifetime);
    e->count += count, world->stats.total_emitted += count;
    return true;
}
/* One layer, all of it or nothing; false where there is no room. Every other column leads by half a spacing: a flat
   layer would show as a slice where the jet is stretched, and strike as one blow. */
static bool isphpbdx_emit_layer(isphpbd_world *world, isphpbdx_emitter *e, float ahead) {
    const float spacing = world->desc.spacing;
    const isphpbdx_mouth mouth = isphpbdx_mouth_of(e, spacing, ahead);
    isphpbd_vec3 points[ISPHPBDX_BATCH];
    int column, row, count = 0;
    if (isphpbdx_mouth_count(&mouth, spacing) >
        world->desc.capacity.fluid_particles - isph_particles(world->fluid).count)
        return false;
    for (row = -mouth.rows; row <= mouth.rows; ++row) {
        for (column = -mouth.columns; column <= mouth.columns; ++column) {
            if (!isphpbdx_mouth_has(&mouth, column, row, spacing)) continue;
            points[count] = isphpbdx_madd(mouth.centre, mouth.across, (float)column * spacing);
            points[count] = isphpbdx_madd(points[count], mouth.up, (float)row * spacing);
            if ((column + row) & 1) points[count] = isphpbdx_madd(points[count], e->desc.direction, 0.5f * spacing);
            if (++count < ISPHPBDX_BATCH) continue;
            if (!isphpbdx_emit_batch(world, e, points, count)) return false;
            count = 0;
        }
    }
    return count == 0 || isphpbdx_emit_batch(world, e, points, count);
}
/* After a substep: the layers that left the mouth during it, each where it has got to by now. */
static void isphpbdx_emit(isphpbd_world *world, isphpbdx_emitter *e, float h) {
    const float spacing = world->desc.spacing;
    float seconds = h;
    if (e->desc.duration > 0.0f) seconds = isphpbdx_min(seconds, isphpbdx_max(e->desc.duration - e->elapsed, 0.0f));
    e->elapsed += h;
    if (!(seconds > 0.0f) || !(e->desc.speed > 0.0f)) return;
    e->carry += e->desc.speed * seconds;
    while (e->carry >= spacing) {
        e->carry -= spacing;
        if (isphpbdx_emit_layer(world, e, e->carry)) continue;
        world->run.flags |= ISPHPBD_STEP_EMITTER_STARVED; /* nor is there room for the others */
        e->carry = isphpbdx_max(e->carry - spacing * (float)(int)(e->carry / spacing), 0.0f);
    }
}
static void isphpbdx_emit_all(isphpbd_world *world, float h) {
    int i;
    for (i = 0; i < world->pools[ISPHPBDX_EMITTERS].capacity; ++i) {
        isphpbdx_emitter *e = (isphpbdx_emitter *)isphpbdx_used(world, ISPHPBDX_EMITTERS, i);
        if (e) isphpbdx_emit(world, e, h);
    }
}

/* ==== [shapes] =====================================================================================================*/
static isphpbd_shape isphpbdx_shape(isphpbd_shape_type type) {
    isphpbd_shape shape;
    memset(&shape, 0, sizeof shape);
    shape.type = type;
    shape.mesh.stride_bytes = 3 * sizeof(float);
    return shape;
}
ISPHPBD_API isphpbd_shape isphpbd_shape_plane(void) { return isphpbdx_shape(ISPHPBD_SHAPE_PLANE); }
ISPHPBD_API isphpbd_shape isphpbd_shape_sphere(float radius) {
    isphpbd_shape shape = isphpbdx_shape(ISPHPBD_SHAPE_SPHERE);
    shape.radius = radius;
    return shape;
}
ISPHPBD_API isphpbd_shape isphpbd_shape_capsule(float radius, float half_height) {
    isphpbd_shape shape = isphpbdx_shape(ISPHPBD_SHAPE_CAPSULE);
    shape.radius = radius, shape.half_height = half_height;
    return shape;
}
ISPHPBD_API isphpbd_shape isphpbd_shape_box(float half_x, float half_y, float half_z) {
    isphpbd_shape shape = isphpbdx_shape(ISPHPBD_SHAPE_BOX);
    shape.half_extents = isphpbd_v3(half_x, half_y, half_z);
    return shape;
}
static isphpbd_shape isphpbdx_shape_of_mesh(isphpbd_shape_type type, const float *positions, int vertices,
                                            const uint32_t *triangles, int count) {
    isphpbd_shape shape = isphpbdx_shape(type);
    shape.mesh.positions = positions, shape.mesh.vertex_count = vertices;
    shape.mesh.triangles = triangles, shape.mesh.triangle_count = count;
    return shape;
}
ISPHPBD_API isphpbd_shape isphpbd_shape_shell(const float *positions, int vertices, const uint32_t *triangles,
                                              int count) {
    return isphpbdx_shape_of_mesh(ISPHPBD_SHAPE_SHELL, positions, vertices, triangles, count);
}
ISPHPBD_API isphpbd_shape isphpbd_shape_solid(const float *positions, int vertices, const uint32_t *triangles,
                                              int count) {
    return isphpbdx_shape_of_mesh(ISPHPBD_SHAPE_SOLID, positions, vertices, triangles, count);
}
ISPHPBD_API isphpbd_shape isphpbd_shape_heightfield(const float *heights, int columns, int rows, float cell) {
    isphpbd_shape shape = isphpbdx_shape(ISPHPBD_SHAPE_HEIGHTFIELD);
    shape.heights = heights, shape.columns = columns, shape.rows = rows, shape.cell = cell;
    return shape;
}

static bool isphpbdx_is_mesh(const isphpbd_shape *shape) {
    return shape->type == ISPHPBD_SHAPE_SHELL || shape->type == ISPHPBD_SHAPE_SOLID;
}
static bool isphpbdx_is_round_or_box(const isphpbd_shape *shape) {
    return shape->type == ISPHPBD_SHAPE_SPHERE || shape->type == ISPHPBD_SHAPE_CAPSULE ||
           shape->type == ISPHPBD_SHAPE_BOX;
}
static const char *isphpbdx_heights_fault(const isphpbd_shape *s) {
    int i;
    if (!s->heights || s->columns < 2 || s->rows < 2 || s->columns > 8192 || s->rows > 8192 ||
        !isphpbdx_between(s->cell, 1e-6f, ISPHPBDX_HUGE))
        return "a heightfield needs 2 x 2 to 8192 x 8192 heights and a cell > 0";
    for (i = 0; i < s->columns * s->rows; ++i)
        if (!isphpbdx_between(s->heights[i], -ISPHPBDX_HUGE, ISPHPBDX_HUGE))
            return "a height is not finite or too large";
    return NULL;
}
/* Of the edge from a to b, minus that of the way back: the sum over all edges of a closed surface is 0. */
static uint64_t isphpbdx_edge_digest(isphpbd_vec3 a, isphpbd_vec3 b) {
    const isphpbd_vec3 zero = isphpbd_v3(0.0f, 0.0f, 0.0f); /* turns -0 into 0 */
    isphpbd_vec3 there[2], back[2];
    there[0] = back[1] = isphpbdx_add(a, zero), there[1] = back[0] = isphpbdx_add(b, zero);
    return isphpbdx_hash_words(1, there, 6) - isphpbdx_hash_words(1, back, 6);
}
static isphpbd_vec3 isphpbdx_mesh_point(const isphpbd_mesh *mesh, uint32_t index) {
    float p[3];
    memcpy(p, (const char *)mesh->positions + mesh->stride_bytes * (size_t)index, sizeof p);
    return isphpbd_v3(p[0], p[1], p[2]);
}
/* Every edge is there in both directions, and the volume is positive. Vertices count by place, not by number. */
static bool isphpbdx_mesh_closed(const isphpbd_mesh *mesh) {
    uint64_t open = 0;
    double volume = 0.0;
    int i;
    for (i = 0; i < mesh->triangle_count; ++i) {
        const isphpbd_vec3 a = isphpbdx_mesh_point(mesh, mesh->triangles[3 * i]),
                           b = isphpbdx_mesh_point(mesh, mesh->triangles[3 * i + 1]),
                           c = isphpbdx_mesh_point(mesh, mesh->triangles[3 * i + 2]);
        open += isphpbdx_edge_digest(a, b) + isphpbdx_edge_digest(b, c) + isphpbdx_edge_digest(c, a);
        volume += (double)isphpbdx_dot(a, isphpbdx_cross(b, c));
    }
    return open == 0 && volume > 0.0;
}
static const char *isphpbdx_mesh_fault(const isphpbd_shape *s) {
    ipbd_shape mesh = ipbdx_shape_of_triangles(IPBD_MESH, s->mesh.positions, s->mesh.vertex_count, s->mesh.triangles,
                                               s->mesh.triangle_count);
    const char *fault;
    mesh.mesh.stride_bytes = s->mesh.stride_bytes;
    if (s->mesh.stride_bytes % sizeof(float)) return "a mesh's stride is not a multiple of 4 bytes";
    fault = ipbdx_shape_fault(&mesh);
    if (fault || s->type != ISPHPBD_SHAPE_SOLID) return fault;
    return isphpbdx_mesh_closed(&s->mesh) ? NULL : "a solid's mesh must be closed and wound outward";
}
/* Plain shapes; those with arrays are looked at by the solvers as well. */
static const char *isphpbdx_shape_fault(const isphpbd_shape *s) {
    const float tiny = 1e-6f, huge = ISPHPBDX_HUGE;
    switch (s->type) {
        case ISPHPBD_SHAPE_PLANE: return NULL;
        case ISPHPBD_SHAPE_SPHERE:
            return isphpbdx_between(s->radius, tiny, huge) ? NULL : "a sphere needs a radius > 0";
        case ISPHPBD_SHAPE_CAPSULE:
            return isphpbdx_between(s->radius, tiny, huge) && isphpbdx_between(s->half_height, 0.0f, huge)
                       ? NULL
                       : "a capsule needs a radius > 0 and a half height >= 0";
        case ISPHPBD_SHAPE_BOX:
            return isphpbdx_between(s->half_extents.x, tiny, huge) && isphpbdx_between(s->half_extents.y, tiny, huge) &&
                           isphpbdx_between(s->half_extents.z, tiny, huge)
                       ? NULL
                       : "a box needs half extents > 0";
        case ISPHPBD_SHAPE_SHELL:
        case ISPHPBD_SHAPE_SOLID: return isphpbdx_mesh_fault(s);
        case ISPHPBD_SHAPE_HEIGHTFIELD: return isphpbdx_heights_fault(s);
    }
    return "an unknown shape";
}

/* How a hollow shape meets soft bodies: solid outside, negative there. `user` is the isphpbdx_solid. */
static float isphpbdx_hollow_round(isphpbd_vec3 p, isphpbd_vec3 *normal, float radius, float half_height) {
    const isphpbd_vec3 out = isphpbd_v3(p.x, p.y - isphpbdx_clamp(p.y, -half_height, half_height), p.z);
    *normal = isphpbdx_scale(ipbdx_unit(out, isphpbd_v3(0.0f, 1.0f, 0.0f)), -1.0f);
    return radius - isphpbdx_length(out);
}
static float isphpbdx_hollow_box(isphpbd_vec3 p, isphpbd_vec3 *normal, isphpbd_vec3 half) {
    const isphpbd_vec3 gap =
        isphpbd_v3(half.x - isphpbdx_abs(p.x), half.y - isphpbdx_abs(p.y), half.z - isphpbdx_abs(p.z));
    const isphpbd_vec3 nearest = isphpbd_v3(isphpbdx_clamp(p.x, -half.x, half.x), isphpbdx_clamp(p.y, -half.y, half.y),
                                            isphpbdx_clamp(p.z, -half.z, half.z));
    if (gap.x < 0.0f || gap.y < 0.0f || gap.z < 0.0f) { /* behind the wall: straight back in */
        *normal = ipbdx_unit(isphpbdx_sub(nearest, p), isphpbd_v3(0.0f, 1.0f, 0.0f));
        return -isphpbdx_length(isphpbdx_sub(nearest, p));
    }
    *normal = ipbdx_zero3();
    if (gap.x <= gap.y && gap.x <= gap.z) return normal->x = p.x > 0.0f ? -1.0f : 1.0f, gap.x;
    if (gap.y <= gap.z) return normal->y = p.y > 0.0f ? -1.0f : 1.0f, gap.y;
    return normal->z = p.z > 0.0f ? -1.0f : 1.0f, gap.z;
}
static float isphpbdx_hollow(isphpbd_vec3 point, isphpbd_vec3 *normal, void *user) {
    const isphpbd_shape *shape = &((const isphpbdx_solid *)user)->shape;
    if (shape->type == ISPHPBD_SHAPE_BOX) return isphpbdx_hollow_box(point, normal, shape->half_extents);
    return isphpbdx_hollow_round(point, normal, shape->radius,
                                 shape->type == ISPHPBD_SHAPE_CAPSULE ? shape->half_height : 0.0f);
}

/* ==== [solids] colliders and bodies as both solvers see them =======================================================*/
static isphpbd_surface isphpbdx_surface_default(void) {
    isphpbd_surface surface;
    surface.slip = 1.0f, surface.restitution = 0.0f, surface.friction = 0.3f;
    return surface;
}
static bool isphpbdx_surface_ok(const isphpbd_surface *surface) {
    return isphpbdx_between(surface->slip, 0.0f, 1.0f) && isphpbdx_between(surface->restitution, 0.0f, 1.0f) &&
           isphpbdx_between(surface->friction, 0.0f, ISPHPBDX_HUGE);
}
static ipbd_shape isphpbdx_soft_shape(isphpbdx_solid *solid, const isphpbd_shape *shape) {
    ipbd_shape soft;
    if (solid->container) return ipbd_shape_sdf(isphpbdx_hollow, solid);
    switch (shape->type) {
        case ISPHPBD_SHAPE_PLANE: return ipbd_shape_plane();
        case ISPHPBD_SHAPE_SPHERE: return ipbd_shape_sphere(shape->radius);
        case ISPHPBD_SHAPE_CAPSULE: return ipbd_shape_capsule(shape->radius, shape->half_height);
        case ISPHPBD_SHAPE_BOX:
            return ipbd_shape_box(shape->half_extents.x, shape->half_extents.y, shape->half_extents.z);
        case ISPHPBD_SHAPE_HEIGHTFIELD:
            return ipbd_shape_heightfield(shape->heights, shape->columns, shape->rows, shape->cell);
        case ISPHPBD_SHAPE_SHELL:
        case ISPHPBD_SHAPE_SOLID: break;
    }
    soft = ipbd_shape_mesh(shape->mesh.positions, shape->mesh.vertex_count, shape->mesh.triangles,
                           shape->mesh.triangle_count);
    soft.mesh.stride_bytes = shape->mesh.stride_bytes;
    return soft;
}
/* Is it moved by what touches it? */
static bool isphpbdx_is_free(const isphpbdx_solid *solid) { return solid->mass > 0.0f && !solid->one_way; }

static isph_boundary_desc isphpbdx_wall_desc(const isphpbdx_solid *solid, const isphpbd_shape *shape) {
    isph_boundary_desc wall = isph_boundary_desc_default();
    static const isph_shape shapes[] = {ISPH_SHAPE_PLANE, ISPH_SHAPE_PLANE, ISPH_SHAPE_SPHERE, ISPH_SHAPE_CAPSULE,
                                        ISPH_SHAPE_BOX,   ISPH_SHAPE_MESH,  ISPH_SHAPE_MESH,   ISPH_SHAPE_MESH};
    wall.shape = shapes[shape->type];
    wall.container = solid->container != 0;
    if (shape->type == ISPHPBD_SHAPE_BOX) wall.half_extents = shape->half_extents;
    if (shape->type == ISPHPBD_SHAPE_SPHERE || shape->type == ISPHPBD_SHAPE_CAPSULE) wall.radius = shape->radius;
    if (shape->type == ISPHPBD_SHAPE_CAPSULE) wall.half_height = shape->half_height;
    wall.mesh.positions = shape->mesh.positions, wall.mesh.stride_bytes = shape->mesh.stride_bytes;
    wall.mesh.vertex_count = shape->mesh.vertex_count, wall.mesh.indices = shape->mesh.triangles;
    wall.mesh.index_count = 3 * shape->mesh.triangle_count;
    wall.mesh_solid = shape->type == ISPHPBD_SHAPE_SOLID;
    wall.position = solid->now.pose.position, wall.rotation = solid->now.pose.rotation;
    wall.linear_velocity = solid->now.linear_velocity, wall.angular_velocity = solid->now.angular_velocity;
    wall.friction = 1.0f - solid->surface.slip, wall.restitution = solid->surface.restitution;
    if (isphpbdx_is_free(solid))
        wall.mass = solid->mass, wall.inertia = solid->inertia, wall.gravity_scale = solid->gravity_scale;
    return wall;
}
/* ---- heightfields: a closed block under the heights, so that water below is pushed up ---- */
typedef struct isphpbdx_ground {
    float *points;
    uint32_t *triangles;
    int point_count, triangle_count, rim; /* rim: vertices around the edge */
} isphpbdx_ground;

static void isphpbdx_ground_layout(isphpbdx_ground *g, isphpbdx_layout *layout, const isphpbd_shape *s) {
    g->rim = 2 * (s->columns - 1) + 2 * (s->rows - 1);
    g->points = (float *)isphpbdx_take(layout, (size_t)(s->columns * s->rows + g->rim + 1), 3 * sizeof(float));
    g->triangles = (uint32_t *)isphpbdx_take(layout, (size_t)(2 * (s->columns - 1) * (s->rows - 1) + 3 * g->rim),
                                             3 * sizeof(uint32_t));
}
/* Vertex number k of the edge, counted around: along the first row, down the last column, and back. */
static uint32_t isphpbdx_rim_vertex(const isphpbd_shape *s, int k) {
    const int across = s->columns - 1, down = s->rows - 1;
    int column, row;
    k %= 2 * (across + down);
    if (k < across) column = k, row = 0;
    else if (k < across + down) column = across, row = k - across;
    else if (k < 2 * across + down) column = 2 * across + down - k, row = down;
    else column = 0, row = 2 * (across + down) - k;
    return (uint32_t)(row * s->columns + column);
}
static void isphpbdx_ground_triangle(isphpbdx_ground *g, uint32_t a, uint32_t b, uint32_t c) {
    uint32_t *t = g->triangles + 3 * (size_t)g->triangle_count++;
    t[0] = a, t[1] = b, t[2] = c;
}
static void isphpbdx_ground_points(isphpbdx_ground *g, const isphpbd_shape *s, float depth) {
    const int count = s->columns * s->rows;
    float lowest = s->heights[0];
    int i;
    for (i = 0; i < count; ++i) {
        const float x = ((float)(i % s->columns) - 0.5f * (float)(s->columns - 1)) * s->cell;
        const float z = ((float)(i / s->columns) - 0.5f * (float)(s->rows - 1)) * s->cell;
        ipbdx_put3(g->points + 3 * (size_t)i, isphpbd_v3(x, s->heights[i], z));
        lowest = isphpbdx_min(lowest, s->heights[i]);
    }
    for (i = 0; i < g->rim; ++i) {
        float *p = g->points + 3 * (size_t)(count + i);
        memcpy(p, g->points + 3 * (size_t)isphpbdx_rim_vertex(s, i), 3 * sizeof(float));
        p[1] = lowest - depth;
    }
    ipbdx_put3(g->points + 3 * (size_t)(count + g->rim), isphpbd_v3(0.0f, lowest - depth, 0.0f));
    g->point_count = count + g->rim + 1;
}
/* Cells are cut along the same diagonal as for soft bodies. */
static void isphpbdx_ground_build(isphpbdx_ground *g, const isphpbd_shape *s, float depth) {
    const uint32_t columns = (uint32_t)s->columns, count = columns * (uint32_t)s->rows,
                   bottom = count + (uint32_t)g->rim;
    int i, k;
    isphpbdx_ground_points(g, s, depth);
    g->triangle_count = 0;
    for (k = 0; k + 1 < s->rows; ++k)
        for (i = 0; i + 1 < s->columns; ++i) {
            const uint32_t v = (uint32_t)k * columns + (uint32_t)i;
            isphpbdx_ground_triangle(g, v, v + columns + 1u, v + 1u);
            isphpbdx_ground_triangle(g, v, v + columns, v + columns + 1u);
        }
    for (i = 0; i < g->rim; ++i) {
        const uint32_t a = isphpbdx_rim_vertex(s, i), b = isphpbdx_rim_vertex(s, i + 1);
        const uint32_t below_a = count + (uint32_t)i, below_b = count + (uint32_t)((i + 1) % g->rim);
        isphpbdx_ground_triangle(g, a, b, below_b);
        isphpbdx_ground_triangle(g, a, below_b, below_a);
        isphpbdx_ground_triangle(g, bottom, below_a, below_b);
    }
}
/* Borrows memory for the call. */
static isph_boundary isphpbdx_ground_create(isphpbd_world *world, isph_boundary_desc *wall, const isphpbd_shape *shape,
                                            isphpbd_result *why) {
    const isphpbd_allocator *allocator = &world->desc.allocator;
    isphpbdx_layout layout = {NULL, 0, false};
    isphpbdx_ground ground;
    isph_boundary made = {0};
    size_t bytes;
    memset(&ground, 0, sizeof ground);
    isphpbdx_ground_layout(&ground, &layout, shape);
    bytes = layout.used, layout.used = 0;
    layout.base = (unsigned char *)isphpbdx_allocate(allocator, bytes);
    *why = ISPHPBD_OUT_OF_MEMORY;
    if (!layout.base) return isphpbdx_refuse(world, *why, "no temporary memory for a heightfield"), made;
    isphpbdx_ground_layout(&ground, &layout, shape);
    isphpbdx_ground_build(&ground, shape, 4.0f * world->desc.spacing);
    wall->mesh.positions = ground.points, wall->mesh.stride_bytes = 3 * sizeof(float);
    wall->mesh.vertex_count = ground.point_count, wall->mesh.indices = ground.triangles;
    wall->mesh.index_count = 3 * ground.triangle_count, wall->mesh_solid = true;
    made = isph_boundary_create(world->fluid, wall, why);
    allocator->free(layout.base, bytes, allocator->user);
    return made;
}
static isph_boundary isphpbdx_wall_create(isphpbd_world *world, const isphpbdx_solid *solid, const isphpbd_shape *shape,
                                          isphpbd_result *why) {
    isph_boundary_desc wall = isphpbdx_wall_desc(solid, shape);
    if (shape->type == ISPHPBD_SHAPE_HEIGHTFIELD) return isphpbdx_ground_create(world, &wall, shape, why);
    return isph_boundary_create(world->fluid, &wall, why);
}
static ipbd_collider isphpbdx_soft_collider(isphpbd_world *world, isphpbdx_solid *solid, const isphpbd_shape *shape,
                                            isphpbd_result *why) {
    ipbd_collider_desc desc = ipbd_collider_desc_default();
    desc.shape = isphpbdx_soft_shape(solid, shape);
    desc.pose = isphpbdx_soft_pose(solid->now.pose);
    desc.friction = solid->surface.friction;
    desc.layer = solid->layer, desc.mask = solid->mask;
    if (!solid->one_way) desc.mass = solid->mass, desc.inertia = solid->inertia;
    return ipbd_collider_create(world->soft, &desc, why);
}
/* Makes the wall and the soft collider of a filled-in record: both or none. */
static isphpbd_result isphpbdx_solid_create(isphpbd_world *world, isphpbdx_solid *solid, const isphpbd_shape *shape) {
    isphpbd_result result;
    solid->shape = *shape;
    memset(&solid->shape.mesh, 0, sizeof solid->shape.mesh);
    solid->shape.heights = NULL;
    solid->end = solid->from = solid->goal = solid->next = solid->now.pose;
    solid->given = solid->now;
    solid->wall = isphpbdx_wall_create(world, solid, shape, &result);
    if (result != ISPHPBD_OK) return result; /* whoever refused it told the logger why */
    solid->collider = isphpbdx_soft_collider(world, solid, shape, &result);
    if (result == ISPHPBD_OK) return ISPHPBD_OK;
    isph_boundary_destroy(world->fluid, solid->wall);
    return result;
}
static void isphpbdx_solid_destroy(isphpbd_world *world, isphpbdx_kind kind, isphpbdx_solid *solid) {
    isphpbdx_unlock(world);
    isph_boundary_destroy(world->fluid, solid->wall);
    ipbd_collider_destroy(world->soft, solid->collider);
    isphpbdx_lock(world);
    isphpbdx_leave(world, kind, solid);
}
static void isphpbdx_solid_masks(isphpbd_world *world, isphpbdx_kind kind) {
    int i;
    for (i = 0; i < world->pools[kind].capacity; ++i) {
        const isphpbdx_solid *solid = (const isphpbdx_solid *)isphpbdx_used(world, kind, i);
        if (solid)
            isph_boundary_set_material_mask(world->fluid, solid->wall,
                                            isphpbdx_fluids_met(world, solid->layer, solid->mask));
    }
}

static void isphpbdx_add_impulse(double total[3], isphpbd_vec3 impulse) {
    total[0] += (double)impulse.x, total[1] += (double)impulse.y, total[2] += (double)impulse.z;
}
static void isphpbdx_take_impulse(isphpbdx_solid *solid, isphpbd_impulse *out) {
    out->linear = isphpbd_v3((float)solid->linear[0], (float)solid->linear[1], (float)solid->linear[2]);
    out->angular = isphpbd_v3((float)solid->angular[0], (float)solid->angular[1], (float)solid->angular[2]);
    memset(solid->linear, 0, sizeof solid->linear);
    memset(solid->angular, 0, sizeof solid->angular);
}
/* Velocities after an impulse at the centre of mass. */
static void isphpbdx_push(isphpbdx_solid *solid, isphpbd_vec3 linear, isphpbd_vec3 angular) {
    isphpbd_vec3 local;
    isphpbdx_add_impulse(solid->linear, linear);
    isphpbdx_add_impulse(solid->angular, angular);
    if (!isphpbdx_is_free(solid)) return;
    local = isphpbdx_unrotate(solid->now.pose.rotation, angular);
    local = isphpbd_v3(local.x / solid->inertia.x, local.y / solid->inertia.y, local.z / solid->inertia.z);
    solid->now.linear_velocity = isphpbdx_madd(solid->now.linear_velocity, linear, 1.0f / solid->mass);
    solid->now.angular_velocity =
        isphpbdx_add(solid->now.angular_velocity, isphpbdx_rotate(solid->now.pose.rotation, local));
}

/* ---- colliders ---- */
ISPHPBD_API isphpbd_collider_desc isphpbd_collider_desc_default(void) {
    isphpbd_collider_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.shape = isphpbd_shape_plane();
    desc.pose = isphpbd_pose_at(ipbdx_zero3());
    desc.surface = isphpbdx_surface_default();
    desc.layer = 1, desc.mask = ~0u;
    desc.cookie = ISPHPBDX_COOKIE_COLLIDER;
    return desc;
}
/* What is common to the descs of colliders and bodies goes into the record; a sentence where it is bad. */
static const char *isphpbdx_solid_fault(const isphpbd_shape *shape, const isphpbd_surface *surface) {
    if (!isphpbdx_surface_ok(surface)) return "slip and restitution must be 0..1, friction >= 0";
    return isphpbdx_shape_fault(shape);
}
static const char *isphpbdx_collider_fault(const isphpbd_world *world, const isphpbd_collider_desc *d,
                                           isphpbdx_solid *out) {
    if (d->cookie != ISPHPBDX_COOKIE_COLLIDER) return "make the desc with isphpbd_collider_desc_default()";
    if (d->container && !isphpbdx_is_round_or_box(&d->shape)) return "only boxes, spheres and capsules are containers";
    out->now = isphpbd_motion_at(d->pose.position);
    out->now.pose = d->pose;
    if (!isphpbdx_pose_ready(world, &out->now.pose)) return "a collider's pose is out of range";
    out->container = d->container ? 1u : 0u, out->surface = d->surface;
    out->layer = d->layer, out->mask = d->mask;
    out->one_way = 1u;
    return isphpbdx_solid_fault(&d->shape, &d->surface);
}
/* The last steps of creating a collider or a body from a checked draft; answers the id, or 0. */
static uint32_t isphpbdx_solid_enter(isphpbd_world *world, isphpbdx_kind kind, const isphpbdx_solid *draft,
                                     const isphpbd_shape *shape, isphpbd_result *result) {
    isphpbdx_solid *solid = (isphpbdx_solid *)isphpbdx_free_record(world, kind);
    const uint32_t generation = solid ? solid->slot.generation : 0u;
    uint32_t id;
    *result = ISPHPBD_CAPACITY;
    if (!solid) return isphpbdx_refuse(world, ISPHPBD_CAPACITY, "raise capacity.colliders or capacity.bodies"), 0;
    *solid = *draft;
    solid->slot.generation = generation;
    isphpbdx_unlock(world);
    *result = isphpbdx_solid_create(world, solid, shape);
    isphpbdx_lock(world);
    if (*result != ISPHPBD_OK) {
        memset(solid, 0, sizeof *solid);
        solid->slot.generation = generation;
        return 0;
    }
    id = isphpbdx_enter(world, kind, solid);
    isphpbdx_update_masks(world);
    return id;
}
static isphpbd_result isphpbdx_fault_code(const isphpbd_shape *shape) {
    return isphpbdx_is_mesh(shape) && isphpbdx_shape_fault(shape) ? ISPHPBD_BAD_MESH : ISPHPBD_BAD_DESC;
}
/* May something be created now, and is there a desc to create it from? */
static bool isphpbdx_may_create(const isphpbd_world *world, const void *desc, isphpbd_result *why) {
    const isphpbd_result result = isphpbdx_open(world);
    isphpbdx_why(why, result != ISPHPBD_OK ? result : ISPHPBD_BAD_DESC);
    return result == ISPHPBD_OK && desc;
}
/* What creating a collider and creating a body have in common: the draft is good unless `fault` says why not. */
static uint32_t isphpbdx_solid_new(isphpbd_world *world, isphpbdx_kind kind, const isphpbdx_solid *draft,
                                   const isphpbd_shape *shape, const char *fault, isphpbd_result *why) {
    isphpbd_result result;
    uint32_t id = 0;
    if (fault) result = isphpbdx_refuse(world, isphpbdx_fault_code(shape), fault);
    else id = isphpbdx_solid_enter(world, kind, draft, shape, &result);
    isphpbdx_why(why, result);
    return id;
}
ISPHPBD_API isphpbd_collider isphpbd_collider_create(isphpbd_world *world, const isphpbd_collider_desc *desc,
                                                     isphpbd_result *why) {
    isphpbd_collider handle = {0, 0};
    isphpbdx_solid draft;
    if (!isphpbdx_may_create(world, desc, why)) return handle;
    memset(&draft, 0, sizeof draft);
    handle.id = isphpbdx_solid_new(world, ISPHPBDX_COLLIDERS, &draft, &desc->shape,
                                   isphpbdx_collider_fault(world, desc, &draft), why);
    if (handle.id) handle.world = world->tag;
    return handle;
}
static isphpbdx_solid *isphpbdx_collider_edit(isphpbd_world *world, isphpbd_collider handle, isphpbd_result *result) {
    return (isphpbdx_solid *)isphpbdx_edit(world, ISPHPBDX_COLLIDERS, handle.id, handle.world, result);
}
ISPHPBD_API isphpbd_result isphpbd_collider_destroy(isphpbd_world *world, isphpbd_collider collider) {
    isphpbd_result result;
    isphpbdx_solid *solid = isphpbdx_collider_edit(world, collider, &result);
    if (solid) isphpbdx_solid_destroy(world, ISPHPBDX_COLLIDERS, solid);
    return result;
}
ISPHPBD_API isphpbd_result isphpbd_collider_move(isphpbd_world *world, isphpbd_collider collider, isphpbd_pose pose) {
    isphpbd_result result;
    isphpbdx_solid *solid = isphpbdx_collider_edit(world, collider, &result);
    if (!solid) return result;
    if (!isphpbdx_pose_ready(world, &pose))
        return isphpbdx_refuse(world, ISPHPBD_BAD_ARGUMENT, "a collider's pose is out of range");
    solid->next = pose, solid->has_next = 1u;
    return ISPHPBD_OK;
}
/* Both solvers learn where it is, without a way there. */
static void isphpbdx_place(isphpbd_world *world, isphpbdx_solid *solid) {
    isph_boundary_set_motion(world->fluid, solid->wall, solid->now.pose.position, solid->now.pose.rotation,
                             solid->now.linear_velocity, solid->now.angular_velocity);
    ipbd_collider_teleport(world->soft, solid->collider, isphpbdx_soft_pose(solid->now.pose));
}
ISPHPBD_API isphpbd_result isphpbd_collider_teleport(isphpbd_world *world, isphpbd_collider collider,
                                                     isphpbd_pose pose) {
    isphpbd_result result;
    isphpbdx_solid *solid = isphpbdx_collider_edit(world, collider, &result);
    if (!solid) return result;
    if (!isphpbdx_pose_ready(world, &pose))
        return isphpbdx_refuse(world, ISPHPBD_BAD_ARGUMENT, "a collider's pose is out of range");
    solid->now = isphpbd_motion_at(pose.position);
    solid->now.pose = solid->end = solid->from = solid->goal = pose;
    solid->moves = solid->has_next = 0u;
    isphpbdx_unlock(world);
    isphpbdx_place(world, solid);
    isphpbdx_lock(world);
    return ISPHPBD_OK;
}
ISPHPBD_API isphpbd_result isphpbd_collider_pose(const isphpbd_world *world, isphpbd_collider collider,
                                                 isphpbd_pose *pose) {
    const isphpbdx_solid *solid = isphpbdx_collider_of(world, collider);
    if (!world || !pose) return ISPHPBD_BAD_ARGUMENT;
    if (!solid) return isphpbdx_refuse(world, ISPHPBD_BAD_HANDLE, "not a collider of this world");
    *pose = solid->now.pose;
    return ISPHPBD_OK;
}
ISPHPBD_API isphpbd_result isphpbd_collider_take(isphpbd_world *world, isphpbd_collider collider,
                                                 isphpbd_impulse *impulse) {
    isphpbd_result result;
    isphpbdx_solid *solid = isphpbdx_collider_edit(world, collider, &result);
    if (!solid) return result;
    if (!impulse) return ISPHPBD_BAD_ARGUMENT;
    isphpbdx_take_impulse(solid, impulse);
    return ISPHPBD_OK;
}

/* ==== [bodies] of the host =========================================================================================*/
ISPHPBD_API isphpbd_body_desc isphpbd_body_desc_default(void) {
    isphpbd_body_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.shape = isphpbd_shape_sphere(0.5f);
    desc.mass = 1.0f;
    desc.gravity_scale = 1.0f;
    desc.motion = isphpbd_motion_at(ipbdx_zero3());
    desc.surface = isphpbdx_surface_default();
    desc.layer = 1, desc.mask = ~0u;
    desc.cookie = ISPHPBDX_COOKIE_BODY;
    return desc;
}

/* Sums of x^2, y^2, z^2 over the corners a, b, c and their mean: with weight / 12 the integral over a triangle, with
   the origin as fourth corner and weight / 20 that over a tetrahedron. */
static void isphpbdx_squares(isphpbd_vec3 a, isphpbd_vec3 b, isphpbd_vec3 c, double out[3]) {
    const double x = (double)a.x + (double)b.x + (double)c.x, y = (double)a.y + (double)b.y + (double)c.y,
                 z = (double)a.z + (double)b.z + (double)c.z;
    out[0] = (double)a.x * (double)a.x + (double)b.x * (double)b.x + (double)c.x * (double)c.x + x * x;
    out[1] = (double)a.y * (double)a.y + (double)b.y * (double)b.y + (double)c.y * (double)c.y + y * y;
    out[2] = (double)a.z * (double)a.z + (double)b.z * (double)b.z + (double)c.z * (double)c.z + z * z;
}
/* Inertia of a mesh of mass one: filled (signed tetrahedra from the origin) or its skin alone. */
static isphpbd_vec3 isphpbdx_mesh_inertia(const isphpbd_mesh *mesh, bool filled) {
    double size = 0.0, sum[3] = {0.0, 0.0, 0.0}, part[3];
    int i, k;
    for (i = 0; i < mesh->triangle_count; ++i) {
        const isphpbd_vec3 a = isphpbdx_mesh_point(mesh, mesh->triangles[3 * i]),
                           b = isphpbdx_mesh_point(mesh, mesh->triangles[3 * i + 1]),
                           c = isphpbdx_mesh_point(mesh, mesh->triangles[3 * i + 2]);
        const isphpbd_vec3 cross = isphpbdx_cross(isphpbdx_sub(b, a), isphpbdx_sub(c, a));
        const double weight =
            filled ? (double)isphpbdx_dot(a, isphpbdx_cross(b, c)) / 6.0 : 0.5 * (double)isphpbdx_length(cross);
        isphpbdx_squares(a, b, c, part);
        size += weight;
        for (k = 0; k < 3; ++k) sum[k] += weight * part[k] / (filled ? 20.0 : 12.0);
    }
    if (!(size > 0.0)) return ipbdx_zero3();
    return isphpbd_v3((float)((sum[1] + sum[2]) / size), (float)((sum[0] + sum[2]) / size),
                      (float)((sum[0] + sum[1]) / size));
}
/* Of a capsule of mass one: a cylinder and two half balls. */
static isphpbd_vec3 isphpbdx_capsule_inertia(float r, float half) {
    const float cylinder = 2.0f * half, ball = 4.0f / 3.0f * r, total = cylinder + ball; /* volumes over pi r^2 */
    const float mc = cylinder / total, mb = ball / total;
    const float along = mc * 0.5f * r * r + mb * 0.4f * r * r;
    const float across =
        mc * (r * r / 4.0f + half * half / 3.0f) + mb * (0.4f * r * r + half * half + 0.75f * half * r);
    return isphpbd_v3(across, along, across);
}
static isphpbd_vec3 isphpbdx_shape_inertia(const isphpbd_shape *s, float mass) {
    const isphpbd_vec3 h = s->half_extents;
    isphpbd_vec3 one = ipbdx_zero3();
    if (s->type == ISPHPBD_SHAPE_SPHERE) one = isphpbdx_capsule_inertia(s->radius, 0.0f);
    if (s->type == ISPHPBD_SHAPE_CAPSULE) one = isphpbdx_capsule_inertia(s->radius, s->half_height);
    if (s->type == ISPHPBD_SHAPE_BOX)
        one =
            isphpbd_v3((h.y * h.y + h.z * h.z) / 3.0f, (h.x * h.x + h.z * h.z) / 3.0f, (h.x * h.x + h.y * h.y) / 3.0f);
    if (isphpbdx_is_mesh(s)) one = isphpbdx_mesh_inertia(&s->mesh, s->type == ISPHPBD_SHAPE_SOLID);
    return isphpbdx_scale(one, mass);
}
static bool isphpbdx_inertia_ok(isphpbd_vec3 inertia) {
    const float lo = 1e-20f, hi = 1e20f;
    return isphpbdx_between(inertia.x, lo, hi) && isphpbdx_between(inertia.y, lo, hi) &&
           isphpbdx_between(inertia.z, lo, hi);
}
static bool isphpbdx_is_zero(isphpbd_vec3 v) { return v.x == 0.0f && v.y == 0.0f && v.z == 0.0f; }

static const char *isphpbdx_body_fault(const isphpbd_world *world, const isphpbd_body_desc *d, isphpbdx_solid *out) {
    const char *fault;
    if (d->cookie != ISPHPBDX_COOKIE_BODY) return "make the desc with isphpbd_body_desc_default()";
    if (!isphpbdx_is_round_or_box(&d->shape) && !isphpbdx_is_mesh(&d->shape))
        return "a body is a sphere, a capsule, a box, a shell or a solid";
    fault = isphpbdx_solid_fault(&d->shape, &d->surface);
    if (fault) return fault;
    out->now = d->motion;
    if (!isphpbdx_motion_ready(world, &out->now)) return "a body's motion is out of range";
    if (!isphpbdx_between(d->mass, 1e-9f, 1e12f)) return "a body's mass must be > 0";
    if (!isphpbdx_between(d->gravity_scale, -1e3f, 1e3f)) return "a body's gravity_scale is out of range";
    out->inertia = isphpbdx_is_zero(d->inertia) ? isphpbdx_shape_inertia(&d->shape, d->mass) : d->inertia;
    if (!isphpbdx_inertia_ok(out->inertia)) return "a body's inertia must be > 0 (is its mesh closed and outward?)";
    out->mass = d->mass, out->gravity_scale = d->gravity_scale, out->one_way = d->one_way ? 1u : 0u;
    out->surface = d->surface, out->layer = d->layer, out->mask = d->mask;
    return NULL;
}
ISPHPBD_API isphpbd_body isphpbd_body_create(isphpbd_world *world, const isphpbd_body_desc *desc, isphpbd_result *why) {
    isphpbd_body handle = {0, 0};
    isphpbdx_solid draft;
    if (!isphpbdx_may_create(world, desc, why)) return handle;
    memset(&draft, 0, sizeof draft);
    handle.id =
        isphpbdx_solid_new(world, ISPHPBDX_BODIES, &draft, &desc->shape, isphpbdx_body_fault(world, desc, &draft), why);
    if (handle.id) handle.world = world->tag;
    return handle;
}
static isphpbdx_solid *isphpbdx_body_edit(isphpbd_world *world, isphpbd_body handle, isphpbd_result *result) {
    return (isphpbdx_solid *)isphpbdx_edit(world, ISPHPBDX_BODIES, handle.id, handle.world, result);
}
ISPHPBD_API isphpbd_result isphpbd_body_destroy(isphpbd_world *world, isphpbd_body body) {
    isphpbd_result result;
    isphpbdx_solid *solid = isphpbdx_body_edit(world, body, &result);
    if (solid) isphpbdx_solid_destroy(world, ISPHPBDX_BODIES, solid);
    return result;
}
ISPHPBD_API isphpbd_result isphpbd_body_put(isphpbd_world *world, isphpbd_body body, const isphpbd_motion *motion) {
    isphpbd_result result;
    isphpbdx_solid *solid = isphpbdx_body_edit(world, body, &result);
    isphpbd_motion ready;
    if (!solid) return result;
    if (!motion) return isphpbdx_refuse(world, ISPHPBD_BAD_ARGUMENT, "motion is NULL");
    ready = *motion;
    if (!isphpbdx_motion_ready(world, &ready))
        return isphpbdx_refuse(world, ISPHPBD_BAD_ARGUMENT, "a body's motion is not finite or out of range");
    solid->given = ready, solid->has_given = 1u;
    return ISPHPBD_OK;
}
ISPHPBD_API isphpbd_result isphpbd_body_take(isphpbd_world *world, isphpbd_body body, isphpbd_impulse *impulse) {
    isphpbd_result result;
    isphpbdx_solid *solid = isphpbdx_body_edit(world, body, &result);
    if (!solid) return result;
    if (!impulse) return isphpbdx_refuse(world, ISPHPBD_BAD_ARGUMENT, "impulse is NULL");
    isphpbdx_take_impulse(solid, impulse);
    return ISPHPBD_OK;
}
ISPHPBD_API isphpbd_result isphpbd_bodies_put(isphpbd_world *world, const isphpbd_body *bodies,
                                              const isphpbd_motion *motions, int count) {
    isphpbd_result result = isphpbdx_open(world);
    int i;
    if (result != ISPHPBD_OK) return result;
    if (count < 0 || (count > 0 && (!bodies || !motions)))
        return isphpbdx_refuse(world, ISPHPBD_BAD_ARGUMENT, "bodies or motions is NULL, or count negative");
    for (i = 0; i < count; ++i) {
        isphpbd_motion ready = motions[i];
        if (!isphpbdx_body_edit(world, bodies[i], &result)) return result;
        if (!isphpbdx_motion_ready(world, &ready))
            return isphpbdx_refuse(world, ISPHPBD_BAD_ARGUMENT, "a body's motion is not finite or out of range");
    }
    for (i = 0; i < count; ++i) isphpbd_body_put(world, bodies[i], motions + i);
    return ISPHPBD_OK;
}
ISPHPBD_API isphpbd_result isphpbd_bodies_take(isphpbd_world *world, const isphpbd_body *bodies,
                                               isphpbd_impulse *impulses, int count) {
    isphpbd_result result = isphpbdx_open(world);
    int i;
    if (result != ISPHPBD_OK) return result;
    if (count < 0 || (count > 0 && (!bodies || !impulses)))
        return isphpbdx_refuse(world, ISPHPBD_BAD_ARGUMENT, "bodies or impulses is NULL, or count negative");
    for (i = 0; i < count; ++i) {
        memset(impulses + i, 0, sizeof *impulses);
        if (isphpbd_body_take(world, bodies[i], impulses + i) != ISPHPBD_OK) result = ISPHPBD_BAD_HANDLE;
    }
    return result;
}
ISPHPBD_API isphpbd_result isphpbd_body_predicted(const isphpbd_world *world, isphpbd_body body,
                                                  isphpbd_motion *motion) {
    const isphpbdx_solid *solid = isphpbdx_body_of(world, body);
    if (!world || !motion) return ISPHPBD_BAD_ARGUMENT;
    if (!solid) return isphpbdx_refuse(world, ISPHPBD_BAD_HANDLE, "not a body of this world");
    *motion = solid->now;
    return ISPHPBD_OK;
}
ISPHPBD_API isphpbd_result isphpbd_body_set_mass(isphpbd_world *world, isphpbd_body body, float mass,
                                                 isphpbd_vec3 inertia) {
    isphpbd_result result;
    isphpbdx_solid *solid = isphpbdx_body_edit(world, body, &result);
    if (!solid) return result;
    if (!isphpbdx_between(mass, 1e-9f, 1e12f) || (!isphpbdx_is_zero(inertia) && !isphpbdx_inertia_ok(inertia)))
        return isphpbdx_refuse(world, ISPHPBD_BAD_ARGUMENT, "mass and inertia must be > 0");
    if (isphpbdx_is_zero(inertia)) inertia = isphpbdx_scale(solid->inertia, mass / solid->mass);
    solid->mass = mass, solid->inertia = inertia;
    if (!isphpbdx_is_free(solid)) return ISPHPBD_OK;
    isphpbdx_unlock(world);
    isph_boundary_set_mass(world->fluid, solid->wall, mass, inertia);
    ipbd_collider_set_mass(world->soft, solid->collider, mass, inertia);
    isphpbdx_lock(world);
    return ISPHPBD_OK;
}

/* ==== [sinks] and lifetimes: particles that go =====================================================================*/
ISPHPBD_API isphpbd_sink isphpbd_sink_create(isphpbd_world *world, const isphpbd_shape *shape, isphpbd_pose pose,
                                             uint32_t mask, isphpbd_result *why) {
    isphpbd_sink handle = {0, 0};
    isphpbdx_sink *sink;
    isphpbd_result result = isphpbdx_open(world);
    isphpbdx_why(why, result);
    if (result != ISPHPBD_OK) return handle;
    isphpbdx_why(why, ISPHPBD_BAD_ARGUMENT);
    if (!shape || !isphpbdx_is_round_or_box(shape) || isphpbdx_shape_fault(shape) || !isphpbdx_pose_ready(world, &pose))
        return isphpbdx_refuse(world, ISPHPBD_BAD_ARGUMENT, "a sink is a box, a sphere or a capsule"), handle;
    isphpbdx_why(why, ISPHPBD_CAPACITY);
    sink = (isphpbdx_sink *)isphpbdx_free_record(world, ISPHPBDX_SINKS);
    if (!sink) return isphpbdx_refuse(world, ISPHPBD_CAPACITY, "raise capacity.sinks"), handle;
    isphpbdx_why(why, ISPHPBD_OK);
    sink->shape = *shape, sink->pose = pose, sink->mask = mask;
    memset(&sink->shape.mesh, 0, sizeof sink->shape.mesh);
    sink->shape.heights = NULL;
    handle.id = isphpbdx_enter(world, ISPHPBDX_SINKS, sink), handle.world = world->tag;
    return handle;
}
ISPHPBD_API isphpbd_result isphpbd_sink_destroy(isphpbd_world *world, isphpbd_sink sink) {
    const isphpbd_result result = isphpbdx_open(world);
    isphpbdx_sink *record = isphpbdx_sink_of(world, sink);
    if (result != ISPHPBD_OK) return result;
    if (!record) return isphpbdx_refuse(world, ISPHPBD_BAD_HANDLE, "not a sink of this world");
    isphpbdx_leave(world, ISPHPBDX_SINKS, record);
    return ISPHPBD_OK;
}
ISPHPBD_API int64_t isphpbd_sink_count(const isphpbd_world *world, isphpbd_sink sink) {
    const isphpbdx_sink *record = isphpbdx_sink_of(world, sink);
    return record ? record->count : 0;
}

static bool isphpbdx_inside(const isphpbd_shape *shape, isphpbd_vec3 p) {
    isphpbd_vec3 normal;
    if (shape->type == ISPHPBD_SHAPE_BOX) return isphpbdx_hollow_box(p, &normal, shape->half_extents) >= 0.0f;
    return isphpbdx_hollow_round(p, &normal, shape->radius,
                                 shape->type == ISPHPBD_SHAPE_CAPSULE ? shape->half_height : 0.0f) >= 0.0f;
}
static bool isphpbdx_swallowed(isphpbd_world *world, const isph_particle *particle) {
    const isphpbdx_fluid *fluid =
        (const isphpbdx_fluid *)isphpbdx_at(world, ISPHPBDX_FLUIDS, (int)particle->material.id - 1);
    int i;
    for (i = 0; i < world->pools[ISPHPBDX_SINKS].capacity; ++i) {
        isphpbdx_sink *sink = (isphpbdx_sink *)isphpbdx_used(world, ISPHPBDX_SINKS, i);
        isphpbd_vec3 local;
        if (!sink || !(sink->mask & fluid->layer)) continue;
        local = isphpbdx_unrotate(sink->pose.rotation, isphpbdx_sub(particle->position, sink->pose.position));
        if (!isphpbdx_inside(&sink->shape, local)) continue;
        sink->count++;
        return true;
    }
    return false;
}
static bool isphpbdx_goes(void *user, const isph_particle *particle) {
    isphpbd_world *world = (isphpbd_world *)user;
    const uint32_t slot = isphx_slot(world->fluid, particle->id);
    if (world->mortal[slot] == particle->id) {
        world->life[slot] -= world->run.seconds;
        if (world->life[slot] <= 0.0f) return true;
    }
    return world->pools[ISPHPBDX_SINKS].used > 0 && isphpbdx_swallowed(world, particle);
}
/* At the end of a step. */
static void isphpbdx_remove_particles(isphpbd_world *world) {
    const int gone = isph_particles_remove_if(world->fluid, isphpbdx_goes, world);
    world->stats.total_removed += gone;
}

/* ==== [softs] ======================================================================================================*/
ISPHPBD_API isphpbd_soft_desc isphpbd_soft_desc_default(void) {
    isphpbd_soft_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.body = ipbd_body_desc_default();
    desc.surface = isphpbdx_surface_default();
    desc.wet = true;
    desc.cookie = ISPHPBDX_COOKIE_SOFT;
    return desc;
}
/* Bodies move up in the arrays when an earlier one goes. */
static void isphpbdx_soft_ranges(isphpbd_world *world) {
    int i;
    for (i = 0; i < world->pools[ISPHPBDX_SOFTS].capacity; ++i) {
        isphpbdx_soft *soft = (isphpbdx_soft *)isphpbdx_used(world, ISPHPBDX_SOFTS, i);
        if (soft)
            ipbd_body_range(world->soft, soft->body, &soft->vertex_begin, &soft->vertex_end, &soft->triangle_begin,
                            &soft->triangle_end);
    }
}
static bool isphpbdx_keeps_volume(const ipbd_body_desc *desc) {
    return desc->mesh.tetrahedron_count > 0 || desc->balloon.measure != IPBD_ABSENT;
}
ISPHPBD_API isphpbd_soft isphpbd_soft_create(isphpbd_world *world, const isphpbd_soft_desc *desc, isphpbd_result *why) {
    isphpbd_soft handle = {0, 0};
    isphpbdx_soft *soft;
    isphpbd_result result = isphpbdx_open(world);
    isphpbdx_why(why, result);
    if (result != ISPHPBD_OK) return handle;
    isphpbdx_why(why, ISPHPBD_BAD_DESC);
    if (!desc || desc->cookie != ISPHPBDX_COOKIE_SOFT || !isphpbdx_surface_ok(&desc->surface))
        return isphpbdx_refuse(world, ISPHPBD_BAD_DESC, "a soft body's desc or surface is bad"), handle;
    isphpbdx_why(why, ISPHPBD_CAPACITY);
    soft = (isphpbdx_soft *)isphpbdx_free_record(world, ISPHPBDX_SOFTS);
    if (!soft) return isphpbdx_refuse(world, ISPHPBD_CAPACITY, "raise capacity.soft.bodies"), handle;
    isphpbdx_unlock(world);
    isph_fluid_substep_abandon(world->fluid); /* its walls are the old ones */
    soft->body = ipbd_body_create(world->soft, &desc->body, &result);
    isphpbdx_lock(world);
    isphpbdx_why(why, result);
    if (result != ISPHPBD_OK) return handle; /* the soft bodies told the logger why */
    soft->surface = desc->surface, soft->wet = desc->wet ? 1u : 0u;
    soft->layer = desc->body.layer, soft->mask = desc->body.mask;
    soft->rest_volume = isphpbdx_keeps_volume(&desc->body) ? (float)ipbd_body_volume(world->soft, soft->body) : 0.0f;
    handle.id = isphpbdx_enter(world, ISPHPBDX_SOFTS, soft), handle.world = world->tag;
    isphpbdx_soft_ranges(world);
    isphpbdx_update_masks(world);
    if (world->soft_previous)
        isphpbdx_copy_points(world->soft_previous + 3 * (size_t)soft->vertex_begin,
                             ipbd_world_arrays(world->soft).positions + 4 * (size_t)soft->vertex_begin, 16,
                             soft->vertex_end - soft->vertex_begin);
    return handle;
}
static isphpbdx_soft *isphpbdx_soft_edit(isphpbd_world *world, isphpbd_soft handle, isphpbd_result *result) {
    return (isphpbdx_soft *)isphpbdx_edit(world, ISPHPBDX_SOFTS, handle.id, handle.world, result);
}
ISPHPBD_API isphpbd_result isphpbd_soft_destroy(isphpbd_world *world, isphpbd_soft soft) {
    isphpbd_result result;
    isphpbdx_soft *record = isphpbdx_soft_edit(world, soft, &result);
    if (!record) return result;
    if (world->soft_previous)
        memmove(world->soft_previous + 3 * (size_t)record->vertex_begin,
                world->soft_previous + 3 * (size_t)record->vertex_end,
                (size_t)(ipbd_world_arrays(world->soft).vertex_count - record->vertex_end) * 3 * sizeof(float));
    isphpbdx_unlock(world);
    isph_fluid_substep_abandon(world->fluid); /* its walls are the old ones */
    ipbd_body_destroy(world->soft, record->body);
    isphpbdx_lock(world);
    isphpbdx_leave(world, ISPHPBDX_SOFTS, record);
    isphpbdx_soft_ranges(world);
    return ISPHPBD_OK;
}
ISPHPBD_API ipbd_body isphpbd_soft_body(const isphpbd_world *world, isphpbd_soft soft) {
    const isphpbdx_soft *record = isphpbdx_soft_of(world, soft);
    ipbd_body none = {0};
    return record ? record->body : none;
}
static isphpbd_result isphpbdx_attach(isphpbd_world *world, isphpbd_soft soft, int vertex,
                                      const isphpbdx_solid *solid) {
    isphpbd_result result;
    const isphpbdx_soft *record = isphpbdx_soft_edit(world, soft, &result);
    if (!record) return result;
    if (!solid) return isphpbdx_refuse(world, ISPHPBD_BAD_HANDLE, "not a body or collider of this world");
    return ipbd_attach(world->soft, record->body, vertex, solid->collider);
}
ISPHPBD_API isphpbd_result isphpbd_soft_attach_body(isphpbd_world *world, isphpbd_soft soft, int vertex,
                                                    isphpbd_body body) {
    return isphpbdx_attach(world, soft, vertex, isphpbdx_body_of(world, body));
}
ISPHPBD_API isphpbd_result isphpbd_soft_attach_collider(isphpbd_world *world, isphpbd_soft soft, int vertex,
                                                        isphpbd_collider collider) {
    return isphpbdx_attach(world, soft, vertex, isphpbdx_collider_of(world, collider));
}

/* ==== [fill] water inside a closed soft body =======================================================================*/
/* On which side of the edge between vertices i and j (in the xz plane) is the point? The edge is always taken from the
   lower to the higher number, so that its two triangles agree to the last bit and a ray between them meets one. */
static bool isphpbdx_left_of(const float *xyzw, uint32_t i, uint32_t j, isphpbd_vec3 p) {
    const float *a = xyzw + 4 * (size_t)(i < j ? i : j), *b = xyzw + 4 * (size_t)(i < j ? j : i);
    const double cross = ((double)b[0] - (double)a[0]) * ((double)p.z - (double)a[2]) -
                         ((double)b[2] - (double)a[2]) * ((double)p.x - (double)a[0]);
    return (cross >= 0.0) == (i < j);
}
/* Does the ray from p straight up cross the triangle? */
static bool isphpbdx_ray_up(const float *xyzw, const uint32_t *t, isphpbd_vec3 p) {
    const bool side = isphpbdx_left_of(xyzw, t[0], t[1], p);
    const float *a = xyzw + 4 * (size_t)t[0], *b = xyzw + 4 * (size_t)t[1], *c = xyzw + 4 * (size_t)t[2];
    double ux, uy, uz, vx, vy, vz, nx, ny, nz;
    if (side != isphpbdx_left_of(xyzw, t[1], t[2], p) || side != isphpbdx_left_of(xyzw, t[2], t[0], p)) return false;
    ux = (double)b[0] - (double)a[0], uy = (double)b[1] - (double)a[1], uz = (double)b[2] - (double)a[2];
    vx = (double)c[0] - (double)a[0], vy = (double)c[1] - (double)a[1], vz = (double)c[2] - (double)a[2];
    nx = uy * vz - uz * vy, ny = uz * vx - ux * vz, nz = ux * vy - uy * vx;
    if (ny == 0.0) return false;
    return (double)a[1] - (nx * ((double)p.x - (double)a[0]) + nz * ((double)p.z - (double)a[2])) / ny > (double)p.y;
}
static bool isphpbdx_nearer(const float *xyzw, const uint32_t *t, isphpbd_vec3 p, float gap) {
    const isphpbd_vec3 a = ipbdx_v3(xyzw + 4 * (size_t)t[0]), b = ipbdx_v3(xyzw + 4 * (size_t)t[1]),
                       c = ipbdx_v3(xyzw + 4 * (size_t)t[2]), lo = ipbdx_min3(a, ipbdx_min3(b, c)),
                       hi = ipbdx_max3(a, ipbdx_max3(b, c));
    isphpbd_vec3 away;
    float v, w;
    if (p.x < lo.x - gap || p.y < lo.y - gap || p.z < lo.z - gap || p.x > hi.x + gap || p.y > hi.y + gap ||
        p.z > hi.z + gap)
        return false;
    ipbdx_closest_on_triangle(p, a, b, c, &v, &w);
    away = isphpbdx_sub(p, ipbdx_triangle_point(a, b, c, v, w));
    return isphpbdx_dot(away, away) < gap * gap;
}
/* Triangles that a layer of points at this z can meet, or be near to. */
static int isphpbdx_layer_triangles(const ipbd_view *view, float z, float gap, int *list) {
    int i, n = 0;
    for (i = 0; i < view->triangle_count; ++i) {
        const uint32_t *t = view->triangles + 3 * (size_t)i;
        const float a = view->positions[4 * (size_t)t[0] + 2], b = view->positions[4 * (size_t)t[1] + 2],
                    c = view->positions[4 * (size_t)t[2] + 2];
        list[n] = i;
        n += isphpbdx_min(a, isphpbdx_min(b, c)) <= z + gap && isphpbdx_max(a, isphpbdx_max(b, c)) >= z - gap;
    }
    return n;
}
/* Inside by the parity of crossings, and at least `gap` off every triangle of the list. */
static bool isphpbdx_fills(const ipbd_view *view, const int *list, int list_count, isphpbd_vec3 p, float gap) {
    bool inside = false;
    int i;
    for (i = 0; i < list_count; ++i) {
        const uint32_t *t = view->triangles + 3 * (size_t)list[i];
        const float *a = view->positions + 4 * (size_t)t[0], *b = view->positions + 4 * (size_t)t[1],
                    *c = view->positions + 4 * (size_t)t[2];
        if (isphpbdx_max(a[1], isphpbdx_max(b[1], c[1])) < p.y - gap) continue;
        if (isphpbdx_ray_up(view->positions, t, p)) inside = !inside;
        if (isphpbdx_nearer(view->positions, t, p, gap)) return false;
    }
    return inside;
}
static isphpbd_vec3 isphpbdx_lattice_point(isphpbd_vec3 lo, const int cell[3], float spacing) {
    return isphpbd_v3(lo.x + ((float)cell[0] + 0.5f) * spacing, lo.y + ((float)cell[1] + 0.5f) * spacing,
                      lo.z + ((float)cell[2] + 0.5f) * spacing);
}
/* The lattice in the box around the vertices; false where it has a thousand times more points than there is room. */
static bool isphpbdx_lattice_around(const ipbd_view *view, float spacing, int room, isphpbd_vec3 *lo, int cells[3]) {
    isphpbd_vec3 hi = ipbdx_v3(view->positions);
    double total = 1.0;
    int i, k;
    for (i = 0, *lo = hi; i < view->vertex_count; ++i)
        *lo = ipbdx_min3(*lo, ipbdx_v3(view->positions + 4 * (size_t)i)),
        hi = ipbdx_max3(hi, ipbdx_v3(view->positions + 4 * (size_t)i));
    for (k = 0; k < 3; ++k) {
        const float n = (isphx_axis(hi, k) - isphx_axis(*lo, k)) / spacing;
        cells[k] = (int)isphpbdx_min(n, 1e9f) + 1;
        total *= (double)cells[k];
    }
    return total < 1e3 * ((double)room + 1e3);
}
/* Points of the lattice inside go to `gathered`; one more than fit where there are too many. */
static int isphpbdx_list_inside(isphpbd_world *world, const ipbd_view *view, float gap, int room) {
    const float spacing = world->desc.spacing;
    isphpbd_vec3 lo;
    int count = 0, near_count, cells[3], cell[3], *near_list = world->coupling.boxes.item; /* idle now */
    if (!isphpbdx_lattice_around(view, spacing, room, &lo, cells)) return room + 1;
    for (cell[2] = 0; cell[2] < cells[2]; ++cell[2]) {
        cell[0] = cell[1] = 0;
        near_count = isphpbdx_layer_triangles(view, isphpbdx_lattice_point(lo, cell, spacing).z, gap, near_list);
        for (cell[1] = 0; cell[1] < cells[1]; ++cell[1])
            for (cell[0] = 0; cell[0] < cells[0]; ++cell[0]) {
                const isphpbd_vec3 p = isphpbdx_lattice_point(lo, cell, spacing);
                if (!isphpbdx_fills(view, near_list, near_count, p, gap)) continue;
                if (count == room) return room + 1;
                ipbdx_put3(world->gathered + 3 * (size_t)count++, p);
            }
    }
    return count;
}
static isphpbd_vec3 isphpbdx_mean_velocity(const ipbd_view *view) {
    double sum[3] = {0.0, 0.0, 0.0};
    int i, k;
    for (i = 0; i < view->vertex_count; ++i)
        for (k = 0; k < 3; ++k) sum[k] += (double)view->velocities[4 * (size_t)i + (size_t)k];
    for (k = 0; k < 3; ++k) sum[k] /= view->vertex_count > 0 ? (double)view->vertex_count : 1.0;
    return isphpbd_v3((float)sum[0], (float)sum[1], (float)sum[2]);
}
/* Adds the points in `gathered`; there is room for them. */
static isphpbd_result isphpbdx_add_gathered(isphpbd_world *world, isph_material material, isphpbd_vec3 velocity,
                                            int count) {
    isphpbd_vec3 velocities[ISPHPBDX_BATCH];
    isphpbd_result result = ISPHPBD_OK;
    int i, first;
    for (i = 0; i < ISPHPBDX_BATCH; ++i) velocities[i] = velocity;
    for (first = 0; first < count && result == ISPHPBD_OK; first += ISPHPBDX_BATCH)
        result =
            isph_particles_add(world->fluid, material, world->gathered + 3 * (size_t)first, 3 * sizeof(float),
                               &velocities->x, sizeof *velocities, isphpbdx_mini(count - first, ISPHPBDX_BATCH), NULL);
    return result;
}
/* A shell without holes; tetrahedra leave no room. */
static bool isphpbdx_is_hollow(const isphpbd_world *world, ipbd_body handle) {
    const ipbdx_body *body = ipbdx_body_of(world->soft, handle);
    return body && isphpbdx_is_closed(body) && !isphpbdx_is_solid(body);
}
/* The water that fills most of a shell keeps its volume from now on, unless there is air in it, too. */
static void isphpbdx_hand_over_volume(isphpbd_world *world, const isphpbdx_soft *shell, int particles) {
    const float dx = world->desc.spacing;
    const ipbdx_body *body = ipbdx_body_of(world->soft, shell->body);
    const bool gives_way = body->balloon.measure == IPBD_COMPLIANCE && body->balloon.value > 0.0f;
    if (!ipbdx_is_balloon(body) || gives_way || (float)particles * dx * dx * dx < 0.5f * body->rest_volume) return;
    ipbd_body_set_pressure(world->soft, shell->body, 0.0f, body->overpressure);
}
ISPHPBD_API isphpbd_result isphpbd_fluid_fill_soft(isphpbd_world *world, isphpbd_fluid fluid, isphpbd_soft soft,
                                                   float gap, int *added) {
    isphpbd_result result;
    const isphpbdx_fluid *record = isphpbdx_fluid_edit(world, fluid, &result);
    const isphpbdx_soft *shell = record ? isphpbdx_soft_edit(world, soft, &result) : NULL;
    ipbd_view view;
    int count, room;
    if (added) *added = 0;
    if (!shell) return result;
    if (!isphpbdx_between(gap, 0.0f, 1e3f * world->desc.spacing) || !isphpbdx_is_hollow(world, shell->body))
        return isphpbdx_refuse(world, ISPHPBD_BAD_ARGUMENT, "only closed shells can be filled, with a gap >= 0");
    view = ipbd_body_view(world->soft, shell->body);
    room = world->desc.capacity.fluid_particles - isph_particles(world->fluid).count;
    count = isphpbdx_list_inside(world, &view, gap, room);
    if (count > room) result = isphpbdx_refuse(world, ISPHPBD_CAPACITY, "raise capacity.fluid_particles");
    else result = isphpbdx_add_gathered(world, record->material, isphpbdx_mean_velocity(&view), count);
    isphpbdx_gather(world);
    if (result != ISPHPBD_OK) return result;
    isphpbdx_hand_over_volume(world, shell, count);
    if (added) *added = count;
    return ISPHPBD_OK;
}

/* ==== [solids-step] colliders and bodies through a step ============================================================*/
static void isphpbdx_each_solid(isphpbd_world *world, isphpbdx_kind kind,
                                void (*act)(isphpbd_world *world, isphpbdx_solid *solid)) {
    int i;
    for (i = 0; i < world->pools[kind].capacity; ++i) {
        isphpbdx_solid *solid = (isphpbdx_solid *)isphpbdx_used(world, kind, i);
        if (solid) act(world, solid);
    }
}
/* The fluid learns where a wall is and how it moves; the length of the next substep depends on it. */
static void isphpbdx_wall_motion(isphpbd_world *world, const isphpbdx_solid *solid, isphpbd_vec3 velocity) {
    isph_boundary_set_motion(world->fluid, solid->wall, solid->now.pose.position, solid->now.pose.rotation, velocity,
                             solid->now.angular_velocity);
}
/* What the host said since the last step counts from now on. */
static void isphpbdx_collider_begin(isphpbd_world *world, isphpbdx_solid *solid) {
    solid->from = solid->now.pose;
    solid->goal = solid->has_next ? solid->next : solid->now.pose;
    solid->moves = solid->has_next;
    solid->has_next = 0u;
    isphpbdx_velocities(solid->from, solid->goal, world->run.seconds, &solid->now);
    isphpbdx_wall_motion(world, solid, solid->now.linear_velocity);
}
static void isphpbdx_body_begin(isphpbd_world *world, isphpbdx_solid *solid) {
    const float jump = isphpbdx_length(isphpbdx_sub(solid->given.pose.position, solid->now.pose.position));
    if (!solid->has_given) return;
    solid->has_given = 0u;
    solid->now = solid->given;
    isphpbdx_wall_motion(world, solid, solid->now.linear_velocity);
    if (jump > ISPHPBDX_TELEPORT * world->desc.spacing)
        ipbd_collider_teleport(world->soft, solid->collider, isphpbdx_soft_pose(solid->now.pose));
}
static void isphpbdx_solids_begin(isphpbd_world *world) {
    isphpbdx_each_solid(world, ISPHPBDX_COLLIDERS, isphpbdx_collider_begin);
    isphpbdx_each_solid(world, ISPHPBDX_BODIES, isphpbdx_body_begin);
}
/* Before a substep: how the walls move in it. */
static void isphpbdx_collider_aim(isphpbd_world *world, isphpbdx_solid *solid) {
    const float left = world->run.left - world->run.h;
    solid->end = solid->goal;
    if (left > 0.0f) solid->end = isphpbdx_pose_mix(solid->from, solid->goal, 1.0f - left / world->run.seconds);
    isphpbdx_velocities(solid->now.pose, solid->end, world->run.h, &solid->now);
    isphpbdx_wall_motion(world, solid, solid->now.linear_velocity);
}
/* The fluid adds gravity to a body that it can move, and moves it; any other gets its velocity from here. */
static void isphpbdx_body_aim(isphpbd_world *world, isphpbdx_solid *solid) {
    isphpbd_vec3 velocity = solid->now.linear_velocity;
    if (!isphpbdx_is_free(solid))
        velocity = isphpbdx_madd(velocity, world->desc.gravity, solid->gravity_scale * world->run.h);
    isphpbdx_wall_motion(world, solid, velocity);
}
static void isphpbdx_solids_aim(isphpbd_world *world) {
    isphpbdx_each_solid(world, ISPHPBDX_COLLIDERS, isphpbdx_collider_aim);
    isphpbdx_each_solid(world, ISPHPBDX_BODIES, isphpbdx_body_aim);
}

/* After the fluid: its impulses are in the velocities of a body already, those of soft bodies come on top. */
static void isphpbdx_solid_pushed(isphpbd_world *world, isphpbdx_solid *solid) {
    isphpbd_vec3 linear = isphpbd_v3(0.0f, 0.0f, 0.0f), angular = linear;
    solid->now.pose = solid->end;
    isph_boundary_take_impulse(world->fluid, solid->wall, &linear, &angular);
    isphpbdx_add_impulse(solid->linear, linear);
    isphpbdx_add_impulse(solid->angular, angular);
    ipbd_collider_take_impulse(world->soft, solid->collider, &linear, &angular);
    isphpbdx_push(solid, linear, angular);
}
static void isphpbdx_collider_end(isphpbd_world *world, isphpbdx_solid *solid) {
    isphpbdx_solid_pushed(world, solid);
    isphpbdx_bound_motion(world, &solid->now);
}
static void isphpbdx_body_end(isphpbd_world *world, isphpbdx_solid *solid) {
    ipbd_pose pose;
    isph_boundary_motion(world->fluid, solid->wall, NULL, NULL, &solid->now.linear_velocity,
                         &solid->now.angular_velocity);
    isphpbdx_solid_pushed(world, solid);
    if (world->pools[ISPHPBDX_SOFTS].used > 0 && ipbd_collider_pose(world->soft, solid->collider, &pose) == ISPHPBD_OK)
        solid->now.pose = isphpbdx_world_pose(pose); /* soft bodies may have made it yield on its way */
    isphpbdx_bound_motion(world, &solid->now);
}
static void isphpbdx_solids_end(isphpbd_world *world) {
    isphpbdx_each_solid(world, ISPHPBDX_COLLIDERS, isphpbdx_collider_end);
    isphpbdx_each_solid(world, ISPHPBDX_BODIES, isphpbdx_body_end);
}

/* ==== [softs-step] =================================================================================================*/
/* Soft bodies meet colliders and bodies where these will be at the end of the substep. */
static void isphpbdx_soft_collider_aim(isphpbd_world *world, isphpbdx_solid *solid) {
    const ipbd_pose end = isphpbdx_soft_pose(solid->end);
    if (world->pools[ISPHPBDX_SOFTS].used == 0) ipbd_collider_teleport(world->soft, solid->collider, end);
    else ipbd_collider_move(world->soft, solid->collider, end);
}
static void isphpbdx_soft_body_aim(isphpbd_world *world, isphpbdx_solid *solid) { /* where the fluid takes it */
    isph_boundary_motion(world->fluid, solid->wall, &solid->end.position, &solid->end.rotation, NULL, NULL);
    isphpbdx_soft_collider_aim(world, solid);
}
static void isphpbdx_softs_aim(isphpbd_world *world) {
    isphpbdx_each_solid(world, ISPHPBDX_COLLIDERS, isphpbdx_soft_collider_aim);
    isphpbdx_each_solid(world, ISPHPBDX_BODIES, isphpbdx_soft_body_aim);
}
/* How many substeps the soft bodies make within a substep of h: the budget's share of the step, at least one; more
   under the weight of water. */
static int isphpbdx_soft_count(const isphpbd_world *world, float h) {
    const float haste = world->coupling.in_step ? world->coupling.haste : 1.0f;
    const float wanted = haste * (float)world->desc.budget.soft_substeps * (h / world->run.seconds);
    return isphpbdx_maxi((int)(wanted + 0.999f), 1);
}
static void isphpbdx_softs_flags(isphpbd_world *world, uint32_t flags) {
    if (flags & IPBD_STEP_CONTACTS_FULL) world->run.flags |= ISPHPBD_STEP_CONTACTS_FULL;
    if (flags & IPBD_STEP_QUARANTINE) world->run.flags |= ISPHPBD_STEP_QUARANTINED;
    if (flags & IPBD_STEP_FROZEN) world->run.flags |= ISPHPBD_STEP_FROZEN;
    if (flags & IPBD_STEP_SPEED_CLAMPED) world->run.flags |= ISPHPBD_STEP_SPEED_CLAMPED;
}
/* All soft substeps of one substep of the fluid. */
static void isphpbdx_softs_substep(isphpbd_world *world, float h) {
    const int count = isphpbdx_soft_count(world, h);
    const uint64_t began = isphpbdx_ticks(&world->desc.clock);
    int i, k;
    isphpbdx_softs_aim(world);
    world->run.softs_done = true;
    if (world->pools[ISPHPBDX_SOFTS].used == 0) return;
    world->soft->pin_share = world->run.left > h ? h / world->run.left : 1.0f; /* pins have the whole step */
    ipbd_step_begin(world->soft, h, count);
    for (i = 0; i < count; ++i) {
        ipbd_substep_predict(world->soft);
        for (k = 0; k < world->desc.budget.constraint_iterations; ++k) ipbd_substep_iterate(world->soft);
        ipbd_substep_end(world->soft);
    }
    isphpbdx_softs_flags(world, ipbd_step_finish(world->soft).flags);
    world->stats.soft_substeps += count;
    world->stats.quarantined += world->soft->last.quarantined;
    world->stats.ticks_constraints += isphpbdx_ticks(&world->desc.clock) - began;
}

/* ==== [pace] deadlines ==============================================================================================
   Work is done in units of some kinds: the stages of the fluid's substep, each begun or going on, and what the world
   does itself. What a unit of a kind cost lately tells whether the next one still fits into the call. */
static uint64_t isphpbdx_now(const isphpbd_world *world) { return isphpbdx_ticks(&world->desc.clock); }

/* The time since the last look was spent on a unit of this kind. Costs rise fast and fall slowly; a single unit during
   which the machine did something else counts little. */
static void isphpbdx_pace_note(isphpbd_world *world, int kind) {
    isphpbdx_pace *pace = &world->pace;
    const uint64_t now = isphpbdx_now(world);
    float *cost = pace->cost + kind, ticks = now > pace->lap ? isphpbdx_min((float)(now - pace->lap), 1e17f) : 0.0f;
    if (*cost > 0.0f) ticks = isphpbdx_min(ticks, 4.0f * *cost);
    else *cost = ticks;
    *cost += (ticks - *cost) * (ticks > *cost ? 0.25f : 0.03f);
    pace->lap = now;
    pace->worked = true;
}
/* Is there time for a unit of this kind? For the first of a call there always is: the world has to get on. */
static bool isphpbdx_pace_fits(const isphpbd_world *world, int kind) {
    const isphpbdx_pace *pace = &world->pace;
    float needed = 1.25f * pace->cost[kind] + pace->cost[ISPHPBDX_UNIT_LEAVE];
    if (pace->end == 0 || !pace->worked) return true;
    if (kind == ISPHPBDX_UNIT_SOFTS && !(pace->cost[kind] > 0.0f)) needed = 0.5f * pace->length; /* not known yet */
    return pace->lap + (uint64_t)needed < pace->end;
}
static int isphpbdx_pace_kind(const isph_fluid *fluid) {
    const int stage = isphpbdx_mini(fluid->stage, ISPHPBDX_UNIT_STAGES / 2 - 1);
    if (isphx_busy(&fluid->machine)) return 2 * stage + 1;
    return isphx_stages[stage].start == isphx_stage_finish ? (int)ISPHPBDX_UNIT_SOFTS : 2 * stage;
}
/* Asked by the fluid between units. Where the substep has had its share of the deadline its solves end early. From the
   moment the soft bodies move it goes to its end, as one unit. */
static bool isphpbdx_pace_stop(void *user) {
    isphpbd_world *world = (isphpbd_world *)user;
    isphpbdx_pace *pace = &world->pace;
    isph_fluid *fluid = world->fluid;
    if (fluid->finished) return false;
    isphpbdx_pace_note(world, pace->kind);
    pace->kind = isphpbdx_pace_kind(fluid);
    pace->spent += (float)(pace->lap - pace->mark), pace->mark = pace->lap;
    if (pace->spent > pace->share) fluid->hurry = true;
    return !isphpbdx_pace_fits(world, pace->kind);
}
static void isphpbdx_pace_begin(isphpbd_world *world) {
    const double ticks = (double)world->desc.budget.deadline_seconds * world->desc.ticks_per_second;
    world->pace.lap = isphpbdx_now(world);
    world->pace.end = ticks > 0.0 ? world->pace.lap + (uint64_t)ticks + 1u : 0;
    world->pace.length = (float)ticks;
    world->pace.worked = false;
}

/* ==== [step] =======================================================================================================*/
static void isphpbdx_step_begin(isphpbd_world *world, float seconds) {
    isphpbd_stats *s = &world->stats;
    memset(&world->run, 0, sizeof world->run);
    world->run.pending = true;
    world->run.seconds = world->run.left = seconds;
    s->substeps = s->soft_substeps = s->outer_iterations = s->contacts = s->culled = s->returned = s->quarantined = 0;
    s->outer_iterations_mean = s->coupling_mismatch = s->coupling_mismatch_max = s->touching_speed = 0.0f;
    s->ticks_step = s->ticks_neighbours = s->ticks_walls = s->ticks_viscosity = s->ticks_pressure = s->ticks_move = 0;
    s->ticks_coupling = s->ticks_constraints = 0;
    isphpbdx_remember(world);
    isphpbdx_solids_begin(world);
}
static void isphpbdx_fluid_flags(isphpbd_world *world, uint32_t flags) {
    if (flags & ISPH_STEP_ITERATIONS_CAPPED)
        world->run.flags |= world->fluid->hurry ? (uint32_t)ISPHPBD_STEP_DEADLINE | ISPHPBD_STEP_PRESSURE_CAPPED
                                                : (uint32_t)ISPHPBD_STEP_PRESSURE_CAPPED;
    if (flags & ISPH_STEP_SUBSTEPS_CAPPED) world->run.flags |= ISPHPBD_STEP_SUBSTEPS_CAPPED;
    if (flags & ISPH_STEP_CROWDED) world->run.flags |= ISPHPBD_STEP_CROWDED;
    if (flags & ISPH_STEP_QUARANTINED) world->run.flags |= ISPHPBD_STEP_QUARANTINED;
    if (flags & ISPH_STEP_SPEED_CLAMPED) world->run.flags |= ISPHPBD_STEP_SPEED_CLAMPED;
    if (flags & ISPH_STEP_WALLS_CAPPED) world->run.flags |= ISPHPBD_STEP_WALLS_CAPPED;
}
static void isphpbdx_count_substep(isphpbd_world *world) {
    const isph_stats fluid = isph_fluid_stats(world->fluid);
    isphpbd_stats *s = &world->stats;
    s->substeps++, s->total_substeps++;
    s->quarantined += fluid.quarantined;
    s->ticks_neighbours += fluid.ticks_neighbours, s->ticks_walls += fluid.ticks_walls;
    s->ticks_viscosity += fluid.ticks_viscosity, s->ticks_pressure += fluid.ticks_pressure;
    s->ticks_move += fluid.ticks_move;
}
static void isphpbdx_show_substep(isphpbd_world *world, float h) {
    const isphpbdx_doors doors = isphpbdx_shut(world);
    if (world->desc.on_substep.fn) world->desc.on_substep.fn(world, h, world->desc.on_substep.user);
    isphpbdx_reopen(world, doors);
}
/* How long the next substep may be. */
static float isphpbdx_choose_substep(isphpbd_world *world) {
    const int left = isphpbdx_maxi(world->desc.budget.substeps - world->run.substeps, 1);
    uint32_t flags = 0;
    const float h =
        isph_fluid_substep_seconds(world->fluid, world->run.left, isphpbdx_coupling_fastest(world), left, &flags);
    isphpbdx_fluid_flags(world, flags);
    return h;
}
static void isphpbdx_substep_begin(isphpbd_world *world) {
    isphpbdx_progress *run = &world->run;
    isphpbdx_pace *pace = &world->pace;
    run->h = isphpbdx_choose_substep(world);
    run->softs_done = false;
    isphpbdx_solids_aim(world);
    isph_fluid_substep_begin(world->fluid, run->h);
    run->substep_pending = true;
    pace->spent = 0.0f;
    pace->share = ISPHPBDX_SOLVES_SHARE * world->desc.budget.deadline_seconds * (run->h / run->seconds) *
                  (float)world->desc.ticks_per_second;
}
/* The fluid and, through its coupler, the soft bodies have moved. */
static void isphpbdx_substep_end(isphpbd_world *world) {
    isphpbdx_progress *run = &world->run;
    const float h = run->h;
    isphpbdx_fluid_flags(world, isph_fluid_flags(world->fluid));
    if (!run->softs_done) isphpbdx_softs_substep(world, h);
    isphpbdx_solids_end(world);
    isphpbdx_coupling_end(world, h);
    isphpbdx_count_substep(world);
    world->is_gathered = false; /* the order of the particles is a new one */
    isphpbdx_show_substep(world, h);
    isphpbdx_emit_all(world, h);
    run->substep_pending = false;
    run->left = h > 0.999f * run->left ? 0.0f : run->left - h;
    if (run->left < ISPHPBDX_SLIVER * run->seconds) run->left = 0.0f;
    run->substeps++;
}
/* One substep, or what is left of it; false where the deadline came first. */
static bool isphpbdx_substep(isphpbd_world *world) {
    isphpbdx_pace *pace = &world->pace;
    const int whole = isph_particles(world->fluid).count > 0 ? ISPHPBDX_UNIT_BEGIN : ISPHPBDX_UNIT_DRY;
    if (world->run.substep_pending && !isph_fluid_substep_pending(world->fluid))
        world->run.substep_pending = false; /* the user changed something: it begins again */
    if (!world->run.substep_pending) {
        if (!isphpbdx_pace_fits(world, whole)) return false;
        isphpbdx_substep_begin(world);
        if (whole == ISPHPBDX_UNIT_BEGIN) isphpbdx_pace_note(world, whole);
    }
    pace->mark = pace->lap, pace->kind = isphpbdx_pace_kind(world->fluid);
    if (!isph_fluid_substep_continue(world->fluid, pace->end ? isphpbdx_pace_stop : NULL, world)) return false;
    isphpbdx_substep_end(world);
    if (pace->end) isphpbdx_pace_note(world, whole == ISPHPBDX_UNIT_DRY ? whole : pace->kind);
    return true;
}
static void isphpbdx_step_end(isphpbd_world *world) {
    isphpbdx_remove_particles(world);
    isphpbdx_gather(world);
    world->run.pending = false;
    world->stats.steps++;
    world->stats.time += (double)world->run.seconds;
}
/* Time is up: what is shown until the next call. */
static bool isphpbdx_step_leave(isphpbd_world *world) {
    world->run.flags |= ISPHPBD_STEP_DEADLINE;
    if (!world->is_gathered) {
        isphpbdx_gather(world);
        isphpbdx_pace_note(world, ISPHPBDX_UNIT_LEAVE);
    }
    return false;
}
static bool isphpbdx_step_work(isphpbd_world *world) {
    while (world->run.left > 0.0f)
        if (!isphpbdx_substep(world)) return isphpbdx_step_leave(world);
    if (!isphpbdx_pace_fits(world, ISPHPBDX_UNIT_END)) return isphpbdx_step_leave(world);
    isphpbdx_step_end(world);
    isphpbdx_pace_note(world, ISPHPBDX_UNIT_END);
    return true;
}
/* Begins a step of `seconds` unless one is pending, and goes on with it; true when it is done. */
static bool isphpbdx_step(isphpbd_world *world, float seconds) {
    const uint64_t began = world->pace.lap;
    bool done;
    isphpbdx_unlock(world);
    if (!world->run.pending) isphpbdx_step_begin(world, seconds);
    done = isphpbdx_step_work(world);
    isphpbdx_lock(world);
    world->stats.ticks_step += isphpbdx_now(world) - began;
    return done;
}
static isphpbd_step_info isphpbdx_refused(void) {
    isphpbd_step_info info;
    memset(&info, 0, sizeof info);
    info.flags = ISPHPBD_STEP_REFUSED;
    return info;
}
/* Each kind of flag is worth one message in the life of a world; later ones only the flags tell. */
static void isphpbdx_warn(isphpbd_world *world, uint32_t flags) {
    static const char *const text[] = {"a solve stopped at budget.pressure_iterations",
                                       "budget.substeps is too small for the speed: things are held back",
                                       "budget.outer_iterations ended before coupling_tolerance was met",
                                       "budget.steps_per_advance is too small for the frames: time is dropped",
                                       "budget.deadline_seconds cut the work",
                                       "capacity.fluid_particles: an emitter could not emit",
                                       "particles that could not be saved were removed",
                                       "something not finite was put to rest",
                                       "too many particles in one place: they are being spread",
                                       "capacity.soft.contacts: some contacts of soft bodies were ignored",
                                       NULL,
                                       "water faster than the limit was slowed down to it",
                                       "a particle met more than 6 walls: the farthest were ignored",
                                       "budget.soft_substeps: colliding soft parts had to move as one piece"};
    int k;
    for (k = 0; k < (int)(sizeof text / sizeof *text); ++k)
        if ((flags & ~world->told & 1u << k) && text[k])
            isphpbdx_log(&world->desc.logger, ISPHPBD_LOG_WARNING, ISPHPBD_OK, text[k]);
    world->told |= flags;
}
ISPHPBD_API isphpbd_step_info isphpbd_world_step(isphpbd_world *world, float seconds) {
    isphpbd_step_info info = isphpbdx_refused();
    if (isphpbdx_open(world) != ISPHPBD_OK) return info;
    if (!isphpbdx_between(seconds, 1e-6f, ISPHPBDX_LONGEST_STEP))
        return isphpbdx_refuse(world, ISPHPBD_BAD_ARGUMENT, "a step lasts more than 0 and at most 0.1 s"), info;
    world->busy = true;
    isphpbdx_pace_begin(world);
    info.steps = isphpbdx_step(world, seconds);
    world->busy = false;
    info.flags = world->run.flags;
    isphpbdx_warn(world, info.flags);
    info.alpha = 1.0f;
    return info;
}

/* The steps that have come due, as many as the budget allows. */
static void isphpbdx_advance_steps(isphpbd_world *world, isphpbd_step_info *info) {
    const double step = (double)world->desc.step_seconds;
    bool done = true;
    while (done && info->steps < world->desc.budget.steps_per_advance &&
           (world->run.pending || world->owed >= step * (1.0 - 1e-6))) {
        if (!isphpbdx_pace_fits(world, ISPHPBDX_UNIT_BEGIN)) {
            info->flags |= ISPHPBD_STEP_DEADLINE;
            return;
        }
        if (!world->run.pending) world->owed = world->owed > step ? world->owed - step : 0.0;
        done = isphpbdx_step(world, world->desc.step_seconds);
        info->steps += done;
        info->flags |= world->run.flags;
    }
}
ISPHPBD_API isphpbd_step_info isphpbd_world_advance(isphpbd_world *world, float frame_seconds) {
    isphpbd_step_info info = isphpbdx_refused();
    double step, beyond;
    if (isphpbdx_open(world) != ISPHPBD_OK) return info;
    if (!isphpbdx_between(frame_seconds, 0.0f, 1e9f))
        return isphpbdx_refuse(world, ISPHPBD_BAD_ARGUMENT, "a frame lasts 0 s or more"), info;
    info.flags = 0;
    world->busy = true;
    world->owed += (double)frame_seconds;
    isphpbdx_pace_begin(world);
    isphpbdx_advance_steps(world, &info);
    world->busy = false;
    step = (double)world->desc.step_seconds;
    beyond = (double)(int64_t)(world->owed / step) * step;
    if (beyond > 0.0) {
        info.dropped_seconds = (float)beyond, info.flags |= ISPHPBD_STEP_TIME_DROPPED;
        world->owed -= beyond, world->stats.dropped_seconds += beyond;
    }
    isphpbdx_warn(world, info.flags);
    info.alpha = world->run.pending ? 1.0f : isphpbdx_clamp((float)(world->owed / step), 0.0f, 1.0f);
    return info;
}

/* ==== [reading] ====================================================================================================*/
ISPHPBD_API isphpbd_points isphpbd_fluid_points(const isphpbd_world *world) {
    isphpbd_points points;
    isph_view view;
    memset(&points, 0, sizeof points);
    if (!world) return points;
    view = isph_particles(world->fluid);
    points.position = view.position, points.velocity = view.velocity;
    points.position_stride = points.velocity_stride = view.stride_bytes;
    points.id = view.id, points.fluid = view.material, points.count = view.count;
    if (!world->previous || !world->is_gathered || world->gathered_at != world->fluid->changes) return points;
    points.previous = world->gathered, points.previous_stride = 3 * sizeof(float);
    return points;
}
ISPHPBD_API isphpbd_points isphpbd_soft_points(const isphpbd_world *world, isphpbd_soft soft) {
    const isphpbdx_soft *record = isphpbdx_soft_of(world, soft);
    isphpbd_points points;
    ipbd_view view;
    memset(&points, 0, sizeof points);
    if (!record) return points;
    view = ipbd_body_view(world->soft, record->body);
    points.position = view.positions, points.velocity = view.velocities;
    points.position_stride = points.velocity_stride = view.stride_bytes;
    points.count = view.vertex_count;
    if (!world->soft_previous) return points;
    points.previous = world->soft_previous + 3 * (size_t)record->vertex_begin;
    points.previous_stride = 3 * sizeof(float);
    return points;
}
static float isphpbdx_volume_error(const isphpbd_world *world) {
    float worst = 0.0f;
    int i;
    for (i = 0; i < world->pools[ISPHPBDX_SOFTS].capacity; ++i) {
        const isphpbdx_soft *soft = (const isphpbdx_soft *)isphpbdx_used(world, ISPHPBDX_SOFTS, i);
        if (!soft || !(soft->rest_volume > 0.0f)) continue;
        worst = isphpbdx_max(worst,
                             isphpbdx_abs((float)ipbd_body_volume(world->soft, soft->body) / soft->rest_volume - 1.0f));
    }
    return worst;
}
static void isphpbdx_stats_fluid(isphpbd_stats *s, const isph_stats *fluid) {
    s->fluid_particles = fluid->particles;
    s->pressure_iterations = fluid->pressure_iterations, s->density_iterations = fluid->density_iterations;
    s->pressure_residual = fluid->pressure_residual, s->density_residual = fluid->density_residual;
    s->density_error_mean = fluid->density_error_mean, s->density_error_max = fluid->density_error_max;
    s->compression_mean = fluid->compression_mean, s->max_speed = fluid->max_speed;
    s->total_pressure_iterations = (int64_t)fluid->total_pressure_iterations;
    s->total_density_iterations = (int64_t)fluid->total_density_iterations;
}
ISPHPBD_API isphpbd_stats isphpbd_world_stats(const isphpbd_world *world) {
    isphpbd_stats s;
    isph_stats fluid;
    ipbd_stats soft;
    memset(&s, 0, sizeof s);
    if (!world) return s;
    s = world->stats;
    fluid = isph_fluid_stats(world->fluid), soft = ipbd_world_stats(world->soft);
    isphpbdx_stats_fluid(&s, &fluid);
    s.bytes = world->bytes + fluid.bytes + soft.bytes;
    s.soft_vertices = soft.vertices, s.soft_triangles = soft.triangles;
    s.constraints = soft.edges + soft.bends + soft.tetrahedra;
    s.fluids = world->pools[ISPHPBDX_FLUIDS].used, s.emitters = world->pools[ISPHPBDX_EMITTERS].used;
    s.sinks = world->pools[ISPHPBDX_SINKS].used, s.softs = world->pools[ISPHPBDX_SOFTS].used;
    s.colliders = world->pools[ISPHPBDX_COLLIDERS].used, s.bodies = world->pools[ISPHPBDX_BODIES].used;
    s.volume_error = isphpbdx_volume_error(world);
    return s;
}

/* ==== [origin] =====================================================================================================*/
/* The places that a record holds: how many, up to six. */
static int isphpbdx_record_places(isphpbdx_kind kind, void *record, isphpbd_vec3 **places) {
    isphpbdx_solid *solid = (isphpbdx_solid *)record;
    if (kind == ISPHPBDX_EMITTERS) return places[0] = &((isphpbdx_emitter *)record)->desc.position, 1;
    if (kind == ISPHPBDX_SINKS) return places[0] = &((isphpbdx_sink *)record)->pose.position, 1;
    if (kind < ISPHPBDX_COLLIDERS) return 0;
    places[0] = &solid->now.pose.position, places[1] = &solid->end.position, places[2] = &solid->from.position;
    places[3] = &solid->goal.position, places[4] = &solid->next.position, places[5] = &solid->given.pose.position;
    return 6;
}
static void isphpbdx_shift_points(float *points, isphpbd_vec3 offset, int count) {
    int i;
    for (i = 0; i < count; ++i)
        ipbdx_put3(points + 3 * (size_t)i, isphpbdx_add(ipbdx_v3(points + 3 * (size_t)i), offset));
}
/* Adds to the places of all records, or, to look first, tells whether all of them could be there. */
static bool isphpbdx_shift_records(isphpbd_world *world, isphpbd_vec3 offset, bool look) {
    isphpbd_vec3 *places[6];
    int kind, i, k, count;
    for (kind = 0; kind < ISPHPBDX_KINDS; ++kind) {
        for (i = 0; i < world->pools[kind].capacity; ++i) {
            void *record = isphpbdx_used(world, (isphpbdx_kind)kind, i);
            count = record ? isphpbdx_record_places((isphpbdx_kind)kind, record, places) : 0;
            for (k = 0; k < count; ++k) {
                const isphpbd_vec3 place = isphpbdx_add(*places[k], offset);
                if (look && !isphpbdx_place_ok(world, place)) return false;
                if (!look) *places[k] = place;
            }
        }
    }
    return true;
}
ISPHPBD_API isphpbd_result isphpbd_world_shift_origin(isphpbd_world *world, isphpbd_vec3 offset) {
    isphpbd_result result = isphpbdx_open(world);
    if (result != ISPHPBD_OK) return result;
    if (!isphpbdx_place_ok(world, offset))
        return isphpbdx_refuse(world, ISPHPBD_BAD_ARGUMENT, "the offset is not finite or too far");
    isphpbdx_unlock(world);
    result = ISPHPBD_BAD_ARGUMENT;
    if (isphpbdx_shift_records(world, offset, true) && ipbdx_shift_ok(world->soft, offset))
        result = isph_fluid_shift_origin(world->fluid, offset);
    if (result == ISPHPBD_OK) ipbd_shift_origin(world->soft, offset);
    isphpbdx_lock(world);
    if (result != ISPHPBD_OK) return isphpbdx_refuse(world, result, "something would be too far from the origin");
    isphpbdx_shift_records(world, offset, false);
    if (!world->previous) return ISPHPBD_OK;
    isphpbdx_shift_points(world->previous, offset, world->desc.capacity.fluid_particles);
    isphpbdx_shift_points(world->soft_previous, offset, world->desc.capacity.soft.vertices);
    isphpbdx_gather(world);
    return ISPHPBD_OK;
}

/* ==== [snapshot] ====================================================================================================
   Header, what the world itself knows, the image of the fluid, the image of the soft bodies. Read twice: once to check
   all of it, once to apply. Records are named by their slots: the same objects have to be there. */
#define ISPHPBDX_SNAPSHOT_MAGIC   0x44505331u /* "1SPD" */
#define ISPHPBDX_SNAPSHOT_VERSION 2u
#define ISPHPBDX_HEADER_BYTES     52u

typedef struct isphpbdx_header {
    uint32_t magic, version;
    uint64_t layout;
    uint32_t settings;
    uint64_t fluid_bytes, soft_bytes;
    int mortals;       /* particles with a lifetime */
    int homes;         /* particles whose homes are saved: all or none */
    uint64_t checksum; /* of the rest of the header and of the world's part; the images have their own */
} isphpbdx_header;

static void isphpbdx_stream_pose(isphx_stream *s, isphpbd_pose *pose) {
    isphx_stream_floats(s, &pose->position, 3);
    isphx_stream_floats(s, &pose->rotation, 4);
}
static void isphpbdx_stream_motion(isphx_stream *s, isphpbd_motion *motion) {
    isphpbdx_stream_pose(s, &motion->pose);
    isphx_stream_floats(s, &motion->linear_velocity, 3);
    isphx_stream_floats(s, &motion->angular_velocity, 3);
}
static void isphpbdx_stream_i64(isphx_stream *s, int64_t *value) {
    uint64_t bits = (uint64_t)*value;
    isphx_stream_u64(s, &bits);
    if (s->in) *value = bits <= (uint64_t)INT64_MAX ? (int64_t)bits : 0; /* counters are never negative */
}
static void isphpbdx_stream_bool(isphx_stream *s, bool *value) {
    uint8_t byte = *value ? 1u : 0u;
    isphx_stream_byte(s, &byte);
    *value = byte == 1u;
}
static void isphpbdx_stream_emitter(isphx_stream *s, isphpbdx_emitter *e) {
    isphx_stream_floats(s, &e->desc.position, 3);
    isphx_stream_floats(s, &e->desc.direction, 3);
    isphx_stream_floats(s, &e->desc.radius, 1);
    isphx_stream_floats(s, &e->desc.half_width, 1);
    isphx_stream_floats(s, &e->desc.half_height, 1);
    isphx_stream_floats(s, &e->desc.speed, 1);
    isphx_stream_floats(s, &e->desc.lifetime, 1);
    isphx_stream_floats(s, &e->desc.duration, 1);
    isphx_stream_int(s, &e->fluid);
    isphx_stream_floats(s, &e->carry, 1);
    isphx_stream_floats(s, &e->elapsed, 1);
    isphpbdx_stream_i64(s, &e->count);
}
static void isphpbdx_stream_sink(isphx_stream *s, isphpbdx_sink *sink) {
    isphx_stream_floats(s, &sink->shape.half_extents, 3);
    isphx_stream_floats(s, &sink->shape.radius, 1);
    isphx_stream_floats(s, &sink->shape.half_height, 1);
    isphpbdx_stream_pose(s, &sink->pose);
    isphx_stream_u32(s, &sink->mask);
    isphpbdx_stream_i64(s, &sink->count);
}
static void isphpbdx_stream_soft(isphx_stream *s, isphpbdx_soft *soft) {
    isphx_stream_u32(s, &soft->body.id);
    isphx_stream_floats(s, &soft->surface.slip, 1);
    isphx_stream_floats(s, &soft->surface.friction, 1);
    isphx_stream_u32(s, &soft->wet);
    isphx_stream_u32(s, &soft->layer);
    isphx_stream_u32(s, &soft->mask);
    isphx_stream_floats(s, &soft->rest_volume, 1);
}
static void isphpbdx_stream_solid(isphx_stream *s, isphpbdx_solid *solid) {
    isphx_stream_u32(s, &solid->wall.id);
    isphx_stream_u32(s, &solid->collider.id);
    isphpbdx_stream_motion(s, &solid->now);
    isphpbdx_stream_pose(s, &solid->from);
    isphpbdx_stream_pose(s, &solid->goal);
    isphx_stream_u32(s, &solid->moves);
    isphpbdx_stream_pose(s, &solid->next);
    isphx_stream_u32(s, &solid->has_next);
    isphpbdx_stream_motion(s, &solid->given);
    isphx_stream_u32(s, &solid->has_given);
    isphx_stream_floats(s, &solid->mass, 1);
    isphx_stream_floats(s, &solid->inertia, 3);
    isphx_stream_floats(s, &solid->gravity_scale, 1);
    isphx_stream_u32(s, &solid->one_way);
    isphx_stream_doubles(s, solid->linear, 3);
    isphx_stream_doubles(s, solid->angular, 3);
}
static void isphpbdx_stream_record(isphx_stream *s, isphpbdx_kind kind, void *record) {
    isphpbdx_slot *slot = (isphpbdx_slot *)record;
    isphx_stream_u32(s, &slot->used);
    isphx_stream_u32(s, &slot->generation);
    if (!slot->used) return;
    switch (kind) {
        case ISPHPBDX_FLUIDS:
            isphx_stream_u32(s, &((isphpbdx_fluid *)record)->layer);
            isphx_stream_u32(s, &((isphpbdx_fluid *)record)->mask);
            return;
        case ISPHPBDX_EMITTERS: isphpbdx_stream_emitter(s, (isphpbdx_emitter *)record); return;
        case ISPHPBDX_SINKS: isphpbdx_stream_sink(s, (isphpbdx_sink *)record); return;
        case ISPHPBDX_SOFTS: isphpbdx_stream_soft(s, (isphpbdx_soft *)record); return;
        case ISPHPBDX_COLLIDERS:
        case ISPHPBDX_BODIES: isphpbdx_stream_solid(s, (isphpbdx_solid *)record); return;
        case ISPHPBDX_KINDS: return;
    }
}

/* What a load puts back besides the records; also what it is checked in. */
typedef struct isphpbdx_settings {
    isphpbd_vec3 gravity, wind;
    isphpbd_budget budget;
    double owed;
    isphpbdx_progress run;
    isphpbd_stats stats;
} isphpbdx_settings;

static void isphpbdx_stream_budget(isphx_stream *s, isphpbd_budget *b) {
    isphx_stream_int(s, &b->steps_per_advance);
    isphx_stream_int(s, &b->substeps);
    isphx_stream_int(s, &b->pressure_iterations);
    isphx_stream_int(s, &b->soft_substeps);
    isphx_stream_int(s, &b->constraint_iterations);
    isphx_stream_int(s, &b->outer_iterations);
    isphx_stream_floats(s, &b->deadline_seconds, 1);
}
static void isphpbdx_stream_totals(isphx_stream *s, isphpbd_stats *stats) {
    isphpbdx_stream_i64(s, &stats->steps);
    isphpbdx_stream_i64(s, &stats->total_substeps);
    isphpbdx_stream_i64(s, &stats->total_outer_iterations);
    isphpbdx_stream_i64(s, &stats->total_culled);
    isphpbdx_stream_i64(s, &stats->total_returned);
    isphpbdx_stream_i64(s, &stats->total_emitted);
    isphpbdx_stream_i64(s, &stats->total_removed);
    isphx_stream_doubles(s, &stats->time, 1);
    isphx_stream_doubles(s, &stats->dropped_seconds, 1);
}
static void isphpbdx_stream_settings(isphx_stream *s, isphpbdx_settings *v) {
    isphx_stream_floats(s, &v->gravity, 3);
    isphx_stream_floats(s, &v->wind, 3);
    isphpbdx_stream_budget(s, &v->budget);
    isphx_stream_doubles(s, &v->owed, 1);
    isphpbdx_stream_bool(s, &v->run.pending);
    isphx_stream_floats(s, &v->run.seconds, 1);
    isphx_stream_floats(s, &v->run.left, 1);
    isphx_stream_int(s, &v->run.substeps);
    isphx_stream_u32(s, &v->run.flags);
    isphpbdx_stream_totals(s, &v->stats);
}
static isphpbdx_settings isphpbdx_settings_of(const isphpbd_world *world) {
    isphpbdx_settings v;
    v.gravity = world->desc.gravity, v.wind = world->desc.wind, v.budget = world->desc.budget;
    v.owed = world->owed, v.run = world->run, v.stats = world->stats;
    if (!v.run.pending) memset(&v.run, 0, sizeof v.run); /* a finished step leaves nothing that counts */
    return v;
}

/* What the coupling remembers: for every soft body the load of water and the reactions of its vertices. */
static void isphpbdx_stream_reactions(isphx_stream *s, const isphpbdx_coupling *c) {
    int slot, i;
    for (slot = 0; slot < c->soft->counts.bodies; ++slot) {
        const ipbdx_body *body = c->soft->bodies + slot;
        const isphpbdx_known *known = c->known + slot;
        const float *reaction = isphpbdx_is_known(c, slot) ? c->reaction + 4 * (size_t)known->vertex_begin : NULL;
        isphpbd_vec3 drift = reaction ? known->drift : ipbdx_zero3(), load = reaction ? known->load : ipbdx_zero3();
        if (!body->used) continue;
        isphx_stream_floats(s, &drift, 3);
        isphx_stream_floats(s, &load, 3);
        for (i = 0; i < 4 * body->vertex_count; ++i) {
            float value = reaction ? reaction[i] : 0.0f;
            isphx_stream_floats(s, &value, 1);
        }
    }
}
static void isphpbdx_apply_reactions(isphx_stream *s, isphpbdx_coupling *c) {
    int slot;
    memset(c->known, 0, (size_t)c->soft->desc.capacity.bodies * sizeof *c->known);
    for (slot = 0; slot < c->soft->counts.bodies; ++slot) {
        const ipbdx_body *body = c->soft->bodies + slot;
        isphpbdx_known *known = c->known + slot;
        if (!body->used) continue;
        known->used = 1, known->generation = body->generation;
        known->vertex_begin = body->vertex_begin, known->vertex_count = body->vertex_count;
        isphx_stream_floats(s, &known->drift, 3);
        isphx_stream_floats(s, &known->load, 3);
        isphx_stream_floats(s, c->reaction + 4 * (size_t)body->vertex_begin, 4 * body->vertex_count);
    }
}
static bool isphpbdx_reactions_sane(isphx_stream *s, const isphpbdx_coupling *c) {
    int slot, i;
    for (slot = 0; slot < c->soft->counts.bodies; ++slot) {
        const ipbdx_body *body = c->soft->bodies + slot;
        for (i = 0; body->used && i < 6 + 4 * body->vertex_count; ++i) {
            float value = 0.0f;
            isphx_stream_floats(s, &value, 1);
            if (!isphpbdx_between(value, -1e18f, 1e18f)) return false;
        }
    }
    return true;
}

static bool isphpbdx_is_mortal(const isphpbd_world *world, uint32_t id) {
    return world->mortal[isphx_slot(world->fluid, id)] == id;
}
static int isphpbdx_count_mortals(const isphpbd_world *world) {
    const isph_view view = isph_particles(world->fluid);
    int i, count = 0;
    for (i = 0; i < view.count; ++i) count += isphpbdx_is_mortal(world, view.id[i]);
    return count;
}
/* Homes that will still count in the next substep are saved, for all particles in their order. */
static int isphpbdx_count_homes(const isphpbd_world *world) {
    const isphpbdx_coupling *c = &world->coupling;
    return c->shells != 0 && c->shells == isphpbdx_shells_digest(c) ? isph_particles(world->fluid).count : 0;
}
static void isphpbdx_stream_home(isphx_stream *s, uint32_t *home) {
    uint8_t low = (uint8_t)(*home & 255u), high = (uint8_t)(*home >> 8);
    isphx_stream_byte(s, &low);
    isphx_stream_byte(s, &high);
    *home = low | (uint32_t)high << 8;
}
static void isphpbdx_stream_homes(isphx_stream *s, const isphpbd_world *world) {
    const isphpbdx_coupling *c = &world->coupling;
    const isph_view view = isph_particles(world->fluid);
    int i, count = isphpbdx_count_homes(world);
    for (i = 0; i < count; ++i) {
        uint32_t home = isphpbdx_is_homed(c, view.id[i]) ? c->home[isphx_slot(c->fluid, view.id[i])] : 0xffffu;
        isphpbdx_stream_home(s, &home);
    }
}
/* The particles are those of the image now. */
static void isphpbdx_apply_homes(isphpbd_world *world, isphx_stream *s, int count) {
    isphpbdx_coupling *c = &world->coupling;
    const isph_view view = isph_particles(world->fluid);
    int i;
    isphpbdx_forget_homes(c, world->desc.capacity.fluid_particles);
    c->shells = count > 0 ? isphpbdx_shells_digest(c) : 0u; /* none were saved: nor would they be now */
    for (i = 0; i < count && i < view.count; ++i) {
        const uint32_t slot = isphx_slot(c->fluid, view.id[i]);
        uint32_t home = 0;
        isphpbdx_stream_home(s, &home);
        if (home != 0xffffu) c->homed[slot] = view.id[i], c->home[slot] = (uint16_t)home;
    }
}
static bool isphpbdx_homes_sane(const isphpbd_world *world, isphx_stream *s, int count) {
    int i;
    for (i = 0; i < count; ++i) {
        uint32_t home = 0;
        isphpbdx_stream_home(s, &home);
        if (home != 0xffffu && home > (uint32_t)world->desc.capacity.soft.bodies) return false;
    }
    return true;
}
/* Writes and counts; reading is isphpbdx_apply(). */
static void isphpbdx_stream_world(isphx_stream *s, const isphpbd_world *world) {
    const isph_view view = isph_particles(world->fluid);
    isphpbdx_settings settings = isphpbdx_settings_of(world);
    int kind, i;
    isphpbdx_stream_settings(s, &settings);
    for (kind = 0; kind < ISPHPBDX_KINDS; ++kind)
        for (i = 0; i < world->pools[kind].capacity; ++i)
            isphpbdx_stream_record(s, (isphpbdx_kind)kind, isphpbdx_at(world, (isphpbdx_kind)kind, i));
    isphpbdx_stream_reactions(s, &world->coupling);
    for (i = 0; i < view.count; ++i) {
        uint32_t id = view.id[i];
        if (!isphpbdx_is_mortal(world, id)) continue;
        isphx_stream_u32(s, &id);
        isphx_stream_floats(s, world->life + isphx_slot(world->fluid, id), 1);
    }
    isphpbdx_stream_homes(s, world);
}
static uint64_t isphpbdx_layout_digest(const isphpbd_world *world) {
    uint64_t hash = isphpbdx_hash_words(1, &world->desc.spacing, 1);
    int kind;
    for (kind = 0; kind < ISPHPBDX_KINDS; ++kind)
        hash = isphpbdx_hash_word(hash, (uint32_t)world->pools[kind].capacity);
    return isphpbdx_hash_word(hash, (uint32_t)world->desc.capacity.fluid_particles);
}
/* Of what the next step depends on, no call changes, and the solvers inside do not check. */
static uint32_t isphpbdx_settings_digest(const isphpbd_world *world) {
    const isphpbd_world_desc *d = &world->desc;
    const float numbers[3] = {d->step_seconds, d->tolerance, d->coupling_tolerance};
    const uint64_t hash = isphpbdx_hash_words(2, numbers, 3);
    return (uint32_t)(isphpbdx_hash_word(hash, (uint32_t)d->rigid_scheme) >> 32);
}
static void isphpbdx_stream_header(isphx_stream *s, isphpbdx_header *h) {
    isphx_stream_u32(s, &h->magic);
    isphx_stream_u32(s, &h->version);
    isphx_stream_u64(s, &h->layout);
    isphx_stream_u32(s, &h->settings);
    isphx_stream_u64(s, &h->fluid_bytes);
    isphx_stream_u64(s, &h->soft_bytes);
    isphx_stream_int(s, &h->mortals);
    isphx_stream_int(s, &h->homes);
}
static isphpbdx_header isphpbdx_header_of(const isphpbd_world *world) {
    isphpbdx_header h;
    memset(&h, 0, sizeof h);
    h.magic = ISPHPBDX_SNAPSHOT_MAGIC, h.version = ISPHPBDX_SNAPSHOT_VERSION, h.layout = isphpbdx_layout_digest(world);
    h.settings = isphpbdx_settings_digest(world);
    h.fluid_bytes = isph_fluid_save(world->fluid, NULL, 0), h.soft_bytes = ipbd_save(world->soft, NULL, 0);
    h.mortals = isphpbdx_count_mortals(world), h.homes = isphpbdx_count_homes(world);
    return h;
}
/* Header and world's part into `out`, or only counted and summed up. */
static isphx_stream isphpbdx_stream_out(const isphpbd_world *world, unsigned char *out) {
    isphx_stream s = {NULL, NULL, 0, UINT64_C(0x69737062)};
    isphpbdx_header h = isphpbdx_header_of(world);
    s.out = out;
    isphpbdx_stream_header(&s, &h);
    s.used = ISPHPBDX_HEADER_BYTES;
    isphpbdx_stream_world(&s, world);
    return s;
}
ISPHPBD_API uint64_t isphpbd_world_hash(const isphpbd_world *world) {
    uint64_t parts[3], hash = UINT64_C(0x776f726c64);
    int i;
    if (!world) return 0;
    parts[0] = isphpbdx_stream_out(world, NULL).checksum;
    parts[1] = isph_fluid_hash(world->fluid), parts[2] = ipbd_hash(world->soft);
    for (i = 0; i < 3; ++i)
        hash = isphpbdx_hash_word(isphpbdx_hash_word(hash, (uint32_t)parts[i]), (uint32_t)(parts[i] >> 32));
    return hash;
}
ISPHPBD_API size_t isphpbd_world_save(const isphpbd_world *world, void *bytes, size_t capacity) {
    unsigned char *out = (unsigned char *)bytes;
    isphx_stream s, tail = {NULL, NULL, ISPHPBDX_HEADER_BYTES - 8u, 0};
    size_t fluid, soft;
    if (!world) return 0;
    s = isphpbdx_stream_out(world, NULL);
    fluid = isph_fluid_save(world->fluid, NULL, 0), soft = ipbd_save(world->soft, NULL, 0);
    if (!bytes || capacity < s.used + fluid + soft) return s.used + fluid + soft;
    isphpbdx_stream_out(world, out);
    tail.out = out;
    isphx_stream_u64(&tail, &s.checksum);
    isph_fluid_save(world->fluid, out + s.used, fluid);
    ipbd_save(world->soft, out + s.used + fluid, soft);
    return s.used + fluid + soft;
}

/* ---- checking an image ---- */
static bool isphpbdx_settings_sane(const isphpbd_world *world, const isphpbdx_settings *v) {
    if (!isphpbdx_vector_ok(v->gravity, ISPHPBDX_HUGE) || !isphpbdx_vector_ok(v->wind, 1e4f)) return false;
    if (isphpbdx_budget_fault(&v->budget, &world->desc.clock)) return false;
    if (!(v->owed >= 0.0 && v->owed <= 1e10) || !(v->stats.time >= 0.0 && v->stats.time <= 1e300) ||
        !(v->stats.dropped_seconds >= 0.0 && v->stats.dropped_seconds <= 1e300))
        return false;
    return !v->run.pending ||
           (isphpbdx_between(v->run.seconds, 1e-6f, ISPHPBDX_LONGEST_STEP) &&
            isphpbdx_between(v->run.left, 0.0f, v->run.seconds) &&
            !(v->run.left > 0.0f && v->run.left < ISPHPBDX_SLIVER * v->run.seconds) && v->run.substeps >= 0 &&
            v->run.substeps <= 100000);
}
static bool isphpbdx_emitter_sane(const isphpbd_world *world, const isphpbdx_emitter *e) {
    isphpbd_emitter_desc desc = e->desc;
    if (desc.speed == 0.0f) desc.speed = 1.0f; /* paused */
    return !isphpbdx_emitter_fault(world, &desc) && e->fluid >= 0 &&
           e->fluid < world->pools[ISPHPBDX_FLUIDS].capacity && isphpbdx_used(world, ISPHPBDX_FLUIDS, e->fluid) &&
           isphpbdx_between(e->carry, 0.0f, 2.0f * world->desc.spacing) && isphpbdx_between(e->elapsed, 0.0f, 1e30f);
}
static bool isphpbdx_solid_sane(const isphpbd_world *world, const isphpbdx_solid *read, const isphpbdx_solid *here,
                                isphpbdx_kind kind) {
    isphpbdx_solid v = *read;
    int k;
    if (v.wall.id != here->wall.id || v.collider.id != here->collider.id) return false;
    if (!isphpbdx_motion_ready(world, &v.now) || !isphpbdx_motion_ready(world, &v.given)) return false;
    if (!isphpbdx_pose_ready(world, &v.from) || !isphpbdx_pose_ready(world, &v.goal) ||
        !isphpbdx_pose_ready(world, &v.next))
        return false;
    if (v.moves > 1u || v.has_next > 1u || v.has_given > 1u || v.one_way > 1u) return false;
    for (k = 0; k < 3; ++k)
        if (!(v.linear[k] > -1e300 && v.linear[k] < 1e300 && v.angular[k] > -1e300 && v.angular[k] < 1e300))
            return false;
    return kind == ISPHPBDX_COLLIDERS || (isphpbdx_between(v.mass, 1e-9f, 1e12f) && isphpbdx_inertia_ok(v.inertia) &&
                                          isphpbdx_between(v.gravity_scale, -1e3f, 1e3f));
}
static bool isphpbdx_record_sane(const isphpbd_world *world, isphpbdx_kind kind, const void *read, const void *here) {
    if (kind == ISPHPBDX_EMITTERS) return isphpbdx_emitter_sane(world, (const isphpbdx_emitter *)read);
    if (kind == ISPHPBDX_SINKS) {
        isphpbd_pose pose = ((const isphpbdx_sink *)read)->pose;
        return !isphpbdx_shape_fault(&((const isphpbdx_sink *)read)->shape) && isphpbdx_pose_ready(world, &pose);
    }
    if (kind == ISPHPBDX_SOFTS) {
        const isphpbdx_soft *soft = (const isphpbdx_soft *)read;
        return soft->body.id == ((const isphpbdx_soft *)here)->body.id && soft->wet <= 1u &&
               isphpbdx_between(soft->rest_volume, 0.0f, 1e18f) && isphpbdx_between(soft->surface.slip, 0.0f, 1.0f) &&
               isphpbdx_between(soft->surface.friction, 0.0f, ISPHPBDX_HUGE);
    }
    if (kind >= ISPHPBDX_COLLIDERS)
        return isphpbdx_solid_sane(world, (const isphpbdx_solid *)read, (const isphpbdx_solid *)here, kind);
    return true;
}
typedef union isphpbdx_any { /* room for a record of any kind */
    isphpbdx_slot slot;
    isphpbdx_fluid fluid;
    isphpbdx_emitter emitter;
    isphpbdx_sink sink;
    isphpbdx_soft soft;
    isphpbdx_solid solid;
} isphpbdx_any;

/* Reads records without keeping them. The stream is long enough: its length was that of this world's own records, and
   a record that claims to be another one ends the reading. */
static bool isphpbdx_records_sane(const isphpbd_world *world, isphx_stream *s) {
    int kind, i;
    for (kind = 0; kind < ISPHPBDX_KINDS; ++kind) {
        for (i = 0; i < world->pools[kind].capacity; ++i) {
            const void *here = isphpbdx_at(world, (isphpbdx_kind)kind, i);
            const isphpbdx_slot slot = *(const isphpbdx_slot *)here;
            isphx_stream peek = *s;
            isphpbdx_any read;
            memset(&read, 0, sizeof read);
            memcpy(&read, here, world->pools[kind].size);
            isphx_stream_u32(&peek, &read.slot.used);
            isphx_stream_u32(&peek, &read.slot.generation);
            if (read.slot.used != slot.used || read.slot.generation != slot.generation) return false;
            isphpbdx_stream_record(s, (isphpbdx_kind)kind, &read);
            if (slot.used && !isphpbdx_record_sane(world, (isphpbdx_kind)kind, &read, here)) return false;
        }
    }
    return true;
}
static bool isphpbdx_mortals_sane(const isphpbd_world *world, isphx_stream *s, int count) {
    int i;
    for (i = 0; i < count; ++i) {
        uint32_t id = 0;
        float life = 0.0f;
        isphx_stream_u32(s, &id);
        isphx_stream_floats(s, &life, 1);
        if (isphx_slot(world->fluid, id) >= (uint32_t)world->desc.capacity.fluid_particles ||
            !isphpbdx_between(life, 0.0f, 1e9f))
            return false;
    }
    return true;
}
/* The soft bodies and colliders that the world's records name are in the image. */
static bool isphpbdx_soft_image_has_all(const isphpbd_world *world, const ipbdx_part *parts, const ipbdx_counts *n) {
    int i;
    if (n->bodies != world->soft->counts.bodies || n->colliders != world->soft->counts.colliders) return false;
    for (i = 0; i < n->bodies; ++i) {
        ipbdx_body body;
        ipbdx_fetch((const unsigned char *)parts[IPBDX_AT_BODIES].data, sizeof body, i, &body);
        if (body.used != world->soft->bodies[i].used || body.generation != world->soft->bodies[i].generation ||
            body.vertex_begin != world->soft->bodies[i].vertex_begin ||
            body.vertex_count != world->soft->bodies[i].vertex_count)
            return false;
    }
    for (i = 0; i < n->colliders; ++i) {
        ipbdx_collider c;
        ipbdx_fetch((const unsigned char *)parts[IPBDX_AT_COLLIDERS].data, sizeof c, i, &c);
        if (c.used != world->soft->colliders[i].used || c.generation != world->soft->colliders[i].generation ||
            c.type != world->soft->colliders[i].type)
            return false;
    }
    return true;
}
static const char *isphpbdx_images_fault(isphpbd_world *world, const unsigned char *fluid, const isphpbdx_header *h) {
    const unsigned char *soft = fluid + (size_t)h->fluid_bytes;
    ipbdx_parts parts;
    ipbdx_snapshot_head head;
    isphx_header inner;
    const char *fault = isphx_snapshot_fault(world->fluid, fluid, (size_t)h->fluid_bytes, &inner);
    if (fault) return fault;
    return ipbdx_snapshot_ok(world->soft, soft, (size_t)h->soft_bytes, &head, parts) &&
                   isphpbdx_soft_image_has_all(world, parts, &head.counts)
               ? NULL
               : "the snapshot is damaged, or of other soft bodies";
}
/* Is the image of a world like this one? In words what is not, or NULL. */
static const char *isphpbdx_header_fault(const isphpbd_world *world, const isphpbdx_header *h) {
    if (h->magic != ISPHPBDX_SNAPSHOT_MAGIC) return "not a snapshot of a world";
    if (h->version != ISPHPBDX_SNAPSHOT_VERSION) return "the snapshot is of another version";
    if (h->layout != isphpbdx_layout_digest(world)) return "the snapshot is of another spacing or capacity";
    if (h->settings != isphpbdx_settings_digest(world))
        return "the snapshot is of other settings in isphpbd_world_desc";
    if (h->mortals < 0 || h->homes < 0 || h->mortals > world->desc.capacity.fluid_particles ||
        h->homes > world->desc.capacity.fluid_particles)
        return "the snapshot is damaged";
    return NULL;
}
/* What is wrong with an image, in words, or NULL; *h and *part_end tell where the images inside begin. */
static const char *isphpbdx_snapshot_fault(isphpbd_world *world, const unsigned char *in, size_t size,
                                           isphpbdx_header *h, size_t *part_end) {
    isphx_stream s = {NULL, NULL, 0, UINT64_C(0x69737062)}, tail = {NULL, NULL, ISPHPBDX_HEADER_BYTES - 8u, 0};
    const size_t own = isphpbdx_stream_out(world, NULL).used - 8u * (size_t)isphpbdx_count_mortals(world) -
                       2u * (size_t)isphpbdx_count_homes(world);
    static const char *const damaged = "the snapshot is damaged, or of a world with other things in it";
    const char *fault;
    isphpbdx_settings settings;
    if (size < own) return damaged;
    s.in = tail.in = in;
    isphpbdx_stream_header(&s, h);
    isphx_stream_u64(&tail, &h->checksum);
    fault = isphpbdx_header_fault(world, h);
    if (fault) return fault;
    *part_end = own + 8u * (size_t)h->mortals + 2u * (size_t)h->homes;
    if (size < *part_end || h->fluid_bytes > size - *part_end || h->soft_bytes != size - *part_end - h->fluid_bytes)
        return damaged;
    memset(&settings, 0, sizeof settings);
    s.used = ISPHPBDX_HEADER_BYTES;
    isphpbdx_stream_settings(&s, &settings);
    if (!(isphpbdx_settings_sane(world, &settings) && isphpbdx_records_sane(world, &s) &&
          isphpbdx_reactions_sane(&s, &world->coupling) && isphpbdx_mortals_sane(world, &s, h->mortals) &&
          isphpbdx_homes_sane(world, &s, h->homes) && s.checksum == h->checksum))
        return damaged;
    return isphpbdx_images_fault(world, in + *part_end, h);
}

/* ---- applying it ---- */
static void isphpbdx_apply_mortals(isphpbd_world *world, isphx_stream *s, int count) {
    int i;
    for (i = 0; i < count; ++i) {
        uint32_t id = 0, slot;
        isphx_stream_u32(s, &id);
        slot = isphx_slot(world->fluid, id);
        world->mortal[slot] = id;
        isphx_stream_floats(s, world->life + slot, 1);
    }
}
static void isphpbdx_apply(isphpbd_world *world, const unsigned char *in, const isphpbdx_header *h) {
    isphx_stream s = {NULL, NULL, ISPHPBDX_HEADER_BYTES, 0};
    isphpbdx_settings settings;
    int kind, i;
    memset(&settings, 0, sizeof settings);
    s.in = in;
    isphpbdx_stream_settings(&s, &settings);
    world->desc.gravity = settings.gravity, world->desc.wind = settings.wind, world->desc.budget = settings.budget;
    world->owed = settings.owed, world->run = settings.run, world->stats = settings.stats;
    for (kind = 0; kind < ISPHPBDX_KINDS; ++kind)
        for (i = 0; i < world->pools[kind].capacity; ++i)
            isphpbdx_stream_record(&s, (isphpbdx_kind)kind, isphpbdx_at(world, (isphpbdx_kind)kind, i));
    isphpbdx_apply_reactions(&s, &world->coupling);
    isphpbdx_forget_particles(world);
    isphpbdx_apply_mortals(world, &s, h->mortals);
    isphpbdx_apply_homes(world, &s, h->homes);
}
ISPHPBD_API isphpbd_result isphpbd_world_load(isphpbd_world *world, const void *bytes, size_t size) {
    const unsigned char *in = (const unsigned char *)bytes;
    isphpbd_result result = isphpbdx_open(world);
    isphpbdx_header h;
    const char *fault;
    size_t at = 0;
    if (result != ISPHPBD_OK) return result;
    if (!bytes) return isphpbdx_refuse(world, ISPHPBD_BAD_ARGUMENT, "bytes is NULL");
    fault = isphpbdx_snapshot_fault(world, in, size, &h, &at);
    if (fault) return isphpbdx_refuse(world, ISPHPBD_BAD_SNAPSHOT, fault);
    isphpbdx_unlock(world);
    isph_fluid_load(world->fluid, in + at, (size_t)h.fluid_bytes);
    ipbd_load(world->soft, in + at + (size_t)h.fluid_bytes, (size_t)h.soft_bytes);
    isphpbdx_lock(world);
    isphpbdx_apply(world, in, &h);
    isphpbdx_soft_ranges(world);
    isphpbdx_update_masks(world);
    isphpbdx_remember(world);
    isphpbdx_gather(world);
    return ISPHPBD_OK;
}

/* ==== [draw] what there is, in batches =============================================================================*/
typedef struct isphpbdx_pen {
    const isphpbd_debug_draw *draw;
    isphpbd_vec3 xyz[3 * ISPHPBDX_BATCH]; /* 1, 2 or 3 per item */
    uint32_t rgba[ISPHPBDX_BATCH];
    int count; /* items */
    float radius;
} isphpbdx_pen;

static void isphpbdx_pen_flush(isphpbdx_pen *pen, int corners) {
    const isphpbd_debug_draw *d = pen->draw;
    if (pen->count > 0 && corners == 1 && d->points) d->points(pen->xyz, pen->rgba, pen->count, pen->radius, d->user);
    if (pen->count > 0 && corners == 2 && d->lines) d->lines(pen->xyz, pen->rgba, pen->count, d->user);
    if (pen->count > 0 && corners == 3 && d->triangles) d->triangles(pen->xyz, pen->rgba, pen->count, d->user);
    pen->count = 0;
}
/* A point, a line or a triangle. */
static void isphpbdx_pen_add(isphpbdx_pen *pen, int corners, const isphpbd_vec3 *xyz, uint32_t rgba) {
    memcpy(pen->xyz + corners * pen->count, xyz, (size_t)corners * sizeof *xyz);
    pen->rgba[pen->count++] = rgba;
    if (pen->count == ISPHPBDX_BATCH) isphpbdx_pen_flush(pen, corners);
}
static void isphpbdx_pen_line(isphpbdx_pen *pen, isphpbd_pose pose, isphpbd_vec3 a, isphpbd_vec3 b, uint32_t rgba) {
    isphpbd_vec3 line[2];
    line[0] = isphpbdx_add(pose.position, isphpbdx_rotate(pose.rotation, a));
    line[1] = isphpbdx_add(pose.position, isphpbdx_rotate(pose.rotation, b));
    isphpbdx_pen_add(pen, 2, line, rgba);
}

static uint32_t isphpbdx_fluid_colour(int fluid) {
    static const uint32_t colours[8] = {0x3080e0ffu, 0xe0b030ffu, 0xd06020ffu, 0xa0a8b0ffu,
                                        0x40b060ffu, 0xb050c0ffu, 0x30c0c0ffu, 0xd04060ffu};
    return colours[fluid & 7];
}
static isphpbd_vec3 isphpbdx_view_point(const float *base, size_t stride, int i) {
    isphpbd_vec3 v;
    memcpy(&v, (const char *)base + stride * (size_t)i, sizeof v);
    return v;
}
static void isphpbdx_draw_particles(isphpbdx_pen *pen, const isphpbd_world *world) {
    const isph_view view = isph_particles(world->fluid);
    int i;
    pen->radius = 0.5f * world->desc.spacing;
    for (i = 0; i < view.count; ++i) {
        const isphpbd_vec3 p = isphpbdx_view_point(view.position, view.stride_bytes, i);
        isphpbdx_pen_add(pen, 1, &p, isphpbdx_fluid_colour(view.material[i]));
    }
    isphpbdx_pen_flush(pen, 1);
}
/* How far each particle and soft vertex goes in a step. */
static void isphpbdx_draw_velocities(isphpbdx_pen *pen, const isphpbd_world *world) {
    const isph_view view = isph_particles(world->fluid);
    const ipbd_arrays soft = ipbd_world_arrays(world->soft);
    int i;
    for (i = 0; i < view.count + soft.vertex_count; ++i) {
        const bool wet = i < view.count;
        const isphpbd_vec3 v = wet ? isphpbdx_view_point(view.velocity, view.stride_bytes, i)
                                   : ipbdx_v3(soft.velocities + 4 * (size_t)(i - view.count));
        isphpbd_vec3 line[2];
        line[0] = wet ? isphpbdx_view_point(view.position, view.stride_bytes, i)
                      : ipbdx_v3(soft.positions + 4 * (size_t)(i - view.count));
        line[1] = isphpbdx_madd(line[0], v, world->desc.step_seconds);
        isphpbdx_pen_add(pen, 2, line, 0xffffffffu);
    }
    isphpbdx_pen_flush(pen, 2);
}
/* As triangles where the user draws them, else as their edges. */
static void isphpbdx_draw_triangle(isphpbdx_pen *pen, isphpbd_vec3 a, isphpbd_vec3 b, isphpbd_vec3 c, uint32_t rgba) {
    isphpbd_vec3 corners[3], edges[6];
    corners[0] = a, corners[1] = b, corners[2] = c;
    edges[0] = a, edges[1] = b, edges[2] = b, edges[3] = c, edges[4] = c, edges[5] = a;
    if (pen->draw->triangles) isphpbdx_pen_add(pen, 3, corners, rgba);
    else {
        isphpbdx_pen_add(pen, 2, edges, rgba);
        isphpbdx_pen_add(pen, 2, edges + 2, rgba);
        isphpbdx_pen_add(pen, 2, edges + 4, rgba);
    }
}
static void isphpbdx_draw_softs(isphpbdx_pen *pen, const isphpbd_world *world) {
    const ipbd_arrays soft = ipbd_world_arrays(world->soft);
    int i;
    for (i = 0; i < soft.triangle_count; ++i) {
        const uint32_t *t = soft.triangles + 3 * (size_t)i;
        isphpbdx_draw_triangle(pen, ipbdx_v3(soft.positions + 4 * (size_t)t[0]),
                               ipbdx_v3(soft.positions + 4 * (size_t)t[1]), ipbdx_v3(soft.positions + 4 * (size_t)t[2]),
                               0xe08050ffu);
    }
    isphpbdx_pen_flush(pen, pen->draw->triangles ? 3 : 2);
}

/* Where water touched soft bodies in the last substep: points on their surfaces. */
static void isphpbdx_draw_contacts(isphpbdx_pen *pen, const isphpbd_world *world) {
    const isphpbdx_coupling *c = &world->coupling;
    int i;
    pen->radius = 0.25f * world->desc.spacing;
    if (c->face_count == 0 || c->rims != isphpbdx_bodies_stamp(c->soft)) return; /* soft bodies came or went since */
    for (i = 0; i < c->water.count; ++i) {
        const isphpbdx_spot *place = c->place + ISPHPBDX_PLACES * (size_t)i;
        isphpbd_vec3 at;
        float b[3];
        if (c->place_count[i] == 0 || place->distance > c->dx) continue;
        isphpbdx_place_weights(place, b);
        at = isphpbdx_mix3(c->soft->positions, c->face[place->face].v, b);
        isphpbdx_pen_add(pen, 1, &at, 0xff3030ffu);
    }
    isphpbdx_pen_flush(pen, 1);
}

static void isphpbdx_draw_box(isphpbdx_pen *pen, isphpbd_pose pose, isphpbd_vec3 h, uint32_t rgba) {
    int i, axis;
    for (i = 0; i < 8; ++i) {
        const isphpbd_vec3 a = isphpbd_v3(i & 1 ? h.x : -h.x, i & 2 ? h.y : -h.y, i & 4 ? h.z : -h.z);
        for (axis = 0; axis < 3; ++axis) {
            isphpbd_vec3 b = a;
            if (i & (1 << axis)) continue; /* every edge once, from its lower end */
            if (axis == 0) b.x = h.x;
            else if (axis == 1) b.y = h.y;
            else b.z = h.z;
            isphpbdx_pen_line(pen, pose, a, b, rgba);
        }
    }
}
/* A circle about `centre` in the plane of u and v (lengths are the radius), in 24 pieces of 15 degrees. */
static void isphpbdx_draw_circle(isphpbdx_pen *pen, isphpbd_pose pose, isphpbd_vec3 centre, isphpbd_vec3 u,
                                 isphpbd_vec3 v, uint32_t rgba) {
    const float c = 0.965925826f, s = 0.258819045f;
    float x = 1.0f, y = 0.0f;
    int i;
    for (i = 0; i < 24; ++i) {
        const float nx = x * c - y * s, ny = x * s + y * c;
        isphpbdx_pen_line(pen, pose, isphpbdx_madd(isphpbdx_madd(centre, u, x), v, y),
                          isphpbdx_madd(isphpbdx_madd(centre, u, nx), v, ny), rgba);
        x = nx, y = ny;
    }
}
static void isphpbdx_draw_round(isphpbdx_pen *pen, isphpbd_pose pose, float r, float half, uint32_t rgba) {
    const isphpbd_vec3 x = isphpbd_v3(r, 0.0f, 0.0f), y = isphpbd_v3(0.0f, r, 0.0f), z = isphpbd_v3(0.0f, 0.0f, r);
    int side, i;
    for (side = -1; side <= (half > 0.0f ? 1 : -1); side += 2) {
        const isphpbd_vec3 centre = isphpbd_v3(0.0f, (float)side * half, 0.0f);
        isphpbdx_draw_circle(pen, pose, centre, x, z, rgba);
        isphpbdx_draw_circle(pen, pose, centre, x, y, rgba);
        isphpbdx_draw_circle(pen, pose, centre, z, y, rgba);
    }
    for (i = 0; i < 4 && half > 0.0f; ++i) {
        const isphpbd_vec3 rim =
            i & 1 ? isphpbd_v3(i & 2 ? r : -r, 0.0f, 0.0f) : isphpbd_v3(0.0f, 0.0f, i & 2 ? r : -r);
        isphpbdx_pen_line(pen, pose, isphpbd_v3(rim.x, -half, rim.z), isphpbd_v3(rim.x, half, rim.z), rgba);
    }
}
static void isphpbdx_draw_plane(isphpbdx_pen *pen, isphpbd_pose pose, float cell, uint32_t rgba) {
    const float reach = 10.0f * cell;
    int i;
    for (i = -10; i <= 10; ++i) {
        const float at = (float)i * cell;
        isphpbdx_pen_line(pen, pose, isphpbd_v3(at, 0.0f, -reach), isphpbd_v3(at, 0.0f, reach), rgba);
        isphpbdx_pen_line(pen, pose, isphpbd_v3(-reach, 0.0f, at), isphpbd_v3(reach, 0.0f, at), rgba);
    }
}
/* The soft bodies' copy of a mesh is the one with vertices. */
static void isphpbdx_draw_mesh(isphpbdx_pen *pen, const isphpbd_world *world, const isphpbdx_solid *solid,
                               uint32_t rgba) {
    const ipbdx_collider *c = ipbdx_collider_of(world->soft, solid->collider);
    int i, k;
    for (i = 0; c && i < c->triangle_count; ++i) {
        const uint32_t *t = world->soft->collider_triangles + 3 * (size_t)(c->triangle_begin + i);
        for (k = 0; k < 3; ++k)
            isphpbdx_pen_line(pen, solid->now.pose, world->soft->collider_vertices[c->vertex_begin + (int)t[k]],
                              world->soft->collider_vertices[c->vertex_begin + (int)t[(k + 1) % 3]], rgba);
    }
}
static isphpbd_vec3 isphpbdx_height_point(const isphpbd_world *world, const ipbdx_collider *c, int column, int row) {
    const float *heights = &world->soft->collider_vertices[c->vertex_begin].x;
    return isphpbd_v3(((float)column - 0.5f * (float)(c->columns - 1)) * c->cell, heights[row * c->columns + column],
                      ((float)row - 0.5f * (float)(c->rows - 1)) * c->cell);
}
static void isphpbdx_draw_heights(isphpbdx_pen *pen, const isphpbd_world *world, const isphpbdx_solid *solid,
                                  uint32_t rgba) {
    const ipbdx_collider *c = ipbdx_collider_of(world->soft, solid->collider);
    int i, k;
    for (k = 0; c && k < c->rows; ++k)
        for (i = 0; i < c->columns; ++i) {
            const isphpbd_vec3 here = isphpbdx_height_point(world, c, i, k);
            if (i + 1 < c->columns)
                isphpbdx_pen_line(pen, solid->now.pose, here, isphpbdx_height_point(world, c, i + 1, k), rgba);
            if (k + 1 < c->rows)
                isphpbdx_pen_line(pen, solid->now.pose, here, isphpbdx_height_point(world, c, i, k + 1), rgba);
        }
}
static void isphpbdx_draw_solid(isphpbdx_pen *pen, const isphpbd_world *world, const isphpbdx_solid *solid,
                                uint32_t rgba) {
    const isphpbd_shape *s = &solid->shape;
    const isphpbd_pose pose = solid->now.pose;
    switch (s->type) {
        case ISPHPBD_SHAPE_PLANE: isphpbdx_draw_plane(pen, pose, 10.0f * world->desc.spacing, rgba); return;
        case ISPHPBD_SHAPE_SPHERE: isphpbdx_draw_round(pen, pose, s->radius, 0.0f, rgba); return;
        case ISPHPBD_SHAPE_CAPSULE: isphpbdx_draw_round(pen, pose, s->radius, s->half_height, rgba); return;
        case ISPHPBD_SHAPE_BOX: isphpbdx_draw_box(pen, pose, s->half_extents, rgba); return;
        case ISPHPBD_SHAPE_SHELL:
        case ISPHPBD_SHAPE_SOLID: isphpbdx_draw_mesh(pen, world, solid, rgba); return;
        case ISPHPBD_SHAPE_HEIGHTFIELD: isphpbdx_draw_heights(pen, world, solid, rgba); return;
    }
}
static void isphpbdx_draw_solids(isphpbdx_pen *pen, const isphpbd_world *world, isphpbdx_kind kind, uint32_t rgba) {
    int i;
    for (i = 0; i < world->pools[kind].capacity; ++i) {
        const isphpbdx_solid *solid = (const isphpbdx_solid *)isphpbdx_used(world, kind, i);
        if (solid) isphpbdx_draw_solid(pen, world, solid, rgba);
    }
    isphpbdx_pen_flush(pen, 2);
}
ISPHPBD_API isphpbd_result isphpbd_world_debug_draw(const isphpbd_world *world, const isphpbd_debug_draw *draw) {
    isphpbdx_pen pen;
    if (!world || !draw) return ISPHPBD_BAD_ARGUMENT;
    pen.draw = draw, pen.count = 0, pen.radius = 0.0f;
    if ((draw->flags & ISPHPBD_DRAW_PARTICLES) && draw->points) isphpbdx_draw_particles(&pen, world);
    if ((draw->flags & ISPHPBD_DRAW_SOFTS) && (draw->triangles || draw->lines)) isphpbdx_draw_softs(&pen, world);
    if ((draw->flags & ISPHPBD_DRAW_CONTACTS) && draw->points) isphpbdx_draw_contacts(&pen, world);
    if (!draw->lines) return ISPHPBD_OK;
    if (draw->flags & ISPHPBD_DRAW_COLLIDERS) isphpbdx_draw_solids(&pen, world, ISPHPBDX_COLLIDERS, 0x909090ffu);
    if (draw->flags & ISPHPBD_DRAW_BODIES) isphpbdx_draw_solids(&pen, world, ISPHPBDX_BODIES, 0x60d060ffu);
    if (draw->flags & ISPHPBD_DRAW_VELOCITIES) isphpbdx_draw_velocities(&pen, world);
    return ISPHPBD_OK;
}

#undef ISPHPBDX_FARTHEST
#undef ISPHPBDX_FASTEST
#undef ISPHPBDX_COOKIE_WORLD
#undef ISPHPBDX_COOKIE_FLUID
#undef ISPHPBDX_COOKIE_EMITTER
#undef ISPHPBDX_COOKIE_COLLIDER
#undef ISPHPBDX_COOKIE_BODY
#undef ISPHPBDX_COOKIE_SOFT
#undef ISPHPBDX_HUGE
#undef ISPHPBDX_LONGEST_STEP
#undef ISPHPBDX_SLIVER
#undef ISPHPBDX_TELEPORT
#undef ISPHPBDX_SOLVES_SHARE
#undef ISPHPBDX_BATCH
#undef ISPHPBDX_BLOCK
#undef ISPHPBDX_SAVED
#undef ISPHPBDX_PASSES
#undef ISPHPBDX_PLACES
#undef ISPHPBDX_PIECES
#undef ISPHPBDX_NEAR
#undef ISPHPBDX_SEEN
#undef ISPHPBDX_GATHER
#undef ISPHPBDX_FENCED
#undef ISPHPBDX_PATCH
#undef ISPHPBDX_SHADES
#undef ISPHPBDX_YIELD
#undef ISPHPBDX_MIX
#undef ISPHPBDX_SEAM
#undef ISPHPBDX_RELAX
#undef ISPHPBDX_ROUNDS
#undef ISPHPBDX_LOOKS
#undef ISPHPBDX_NESTED
#undef ISPHPBDX_HASTE
#undef ISPHPBDX_STRAIN
#undef ISPHPBDX_WAKE
#undef ISPHPBDX_SNAPSHOT_MAGIC
#undef ISPHPBDX_SNAPSHOT_VERSION
#undef ISPHPBDX_HEADER_BYTES
#endif /* ISPHPBDX_WORLD_IMPLEMENTED */
#endif /* ISPHPBD_IMPLEMENTATION */

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
