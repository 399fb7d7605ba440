/* isphpbd.h - v0.2.0 - water, cloth, soft bodies and your rigid bodies in one world - SPDX-License-Identifier: MIT

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
*/
#ifndef ISPHPBD_INCLUDED
#define ISPHPBD_INCLUDED

#include "isphpbd_pbd.h"
#include "isphpbd_sph.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ==== [handles] ======================================================================================================
   By value; all zero is null. A handle knows its world: another world refuses it. Stale ones are refused too. */
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

/* Two things meet if (a.layer & b.mask) && (b.layer & a.mask): fluids, soft bodies, colliders and bodies alike. */

/* ==== [world] ======================================================================================================*/
typedef struct isphpbd_capacity { /* fixed at creation: all memory is taken then */
    int fluid_particles;          /* default 32768 */
    int fluids;                   /* default 8, at most 32 */
    int emitters, sinks;          /* default 16 each */
    int colliders;                /* still and moving ones, default 64 */
    int bodies;                   /* of the host, default 64 */
    int mesh_triangles;           /* of colliders and bodies together, default 16384 */
    ipbd_capacity soft;           /* of soft bodies; its collider numbers are filled in from the ones above. Default
                                     ipbd_world_desc_default().capacity */
} isphpbd_capacity;

/* Counted work gives the same result everywhere. The deadline does not: it looks at your clock. */
typedef struct isphpbd_budget {
    int steps_per_advance;     /* default 2; time beyond is dropped and reported */
    int substeps;              /* per step, default 8: cap of what speed asks for */
    int pressure_iterations;   /* cap per substep, pressure + density, default 50 */
    int soft_substeps;         /* of cloth and soft bodies per step, default 12; at least one per substep */
    int constraint_iterations; /* per soft substep, default 1 */
    int outer_iterations;      /* cap of pressure + constraints rounds per substep, default 1, at most 16 */
    float deadline_seconds;    /* of one advance or step by desc.clock; 0 (default): none. Work that does not fit is
                                  cut down, then spread over the next calls: the world runs slower than the game */
} isphpbd_budget;

/* How fluid and rigid bodies find their common velocities (Becker et al. 2009: local and global direct forcing). */
typedef enum isphpbd_rigid_scheme {
    ISPHPBD_RIGID_GLOBAL = 0, /* six degrees of freedom of every body inside the pressure solve, then a 6x6 solve */
    ISPHPBD_RIGID_LOCAL       /* every touching particle for itself: cheaper, looser */
} isphpbd_rigid_scheme;

typedef struct isphpbd_world_desc {
    isphpbd_vec3 gravity;     /* m/s^2, default 0 -9.81 0 */
    isphpbd_vec3 wind;        /* m/s, on soft bodies with wind_drag, default 0 */
    float step_seconds;       /* s, default 1/60: isphpbd_world_advance() makes steps of this length */
    float spacing;            /* m, default 0.05: distance of fluid particles at rest; everything scales with it */
    float support;            /* in spacings, default 2.0 (isph_fluid_desc) */
    float tolerance;          /* of the pressure solve, default 0.05 */
    float coupling_tolerance; /* m/s, default 0.5e-3: |u - v| at which the outer loop stops */
    isphpbd_rigid_scheme rigid_scheme;
    bool interpolation; /* default true: keeps the previous positions for rendering between steps */
    isphpbd_budget budget;
    isphpbd_capacity capacity;
    isphpbd_allocator allocator; /* default malloc */
    isphpbd_parallel parallel;   /* default OpenMP where compiled in, else serial */
    isphpbd_logger logger;       /* default silent */
    isphpbd_clock clock;         /* default none: no stage timers, no deadline */
    double ticks_per_second;     /* of the clock, default 1e9 */
    uint32_t cookie;
} isphpbd_world_desc;

ISPHPBD_API isphpbd_world_desc isphpbd_world_desc_default(void);
/* Bytes that create will take in all; 0 when the desc is bad. */
ISPHPBD_API size_t isphpbd_world_bytes(const isphpbd_world_desc *desc);
/* NULL on failure; `why` may be NULL, here and everywhere. */
ISPHPBD_API isphpbd_world *isphpbd_world_create(const isphpbd_world_desc *desc, isphpbd_result *why);
ISPHPBD_API void isphpbd_world_destroy(isphpbd_world *world); /* NULL is fine; refused inside a callback */
ISPHPBD_API int isphpbd_version(void);                        /* compare with ISPHPBD_VERSION */
ISPHPBD_API isphpbd_result isphpbd_world_set_gravity(isphpbd_world *world, isphpbd_vec3 gravity);
ISPHPBD_API isphpbd_result isphpbd_world_set_wind(isphpbd_world *world, isphpbd_vec3 wind);
ISPHPBD_API isphpbd_result isphpbd_world_set_budget(isphpbd_world *world, const isphpbd_budget *budget);
/* Adds offset to every position: keeps large worlds near the origin. */
ISPHPBD_API isphpbd_result isphpbd_world_shift_origin(isphpbd_world *world, isphpbd_vec3 offset);

/* The solvers inside, for their own calls: reading, pins, wind, presets, particle edits, embedded meshes. Stepping,
   destroying, loading, hooks and colliders of these two belong to the world and are refused. */
ISPHPBD_API isph_fluid *isphpbd_world_fluids(isphpbd_world *world);
ISPHPBD_API ipbd_world *isphpbd_world_softs(isphpbd_world *world);

/* ==== [stepping] ===================================================================================================*/
enum {                                    /* what was cut, and what to raise */
       ISPHPBD_STEP_PRESSURE_CAPPED = 1,  /* budget.pressure_iterations: the residual is in the stats */
       ISPHPBD_STEP_SUBSTEPS_CAPPED = 2,  /* budget.substeps: the fastest were held back */
       ISPHPBD_STEP_COUPLING_CAPPED = 4,  /* budget.outer_iterations: |u - v| is in the stats */
       ISPHPBD_STEP_TIME_DROPPED = 8,     /* budget.steps_per_advance: info.dropped_seconds */
       ISPHPBD_STEP_DEADLINE = 16,        /* the deadline cut iterations or left a step unfinished */
       ISPHPBD_STEP_EMITTER_STARVED = 32, /* capacity.fluid_particles: an emitter could not emit */
       ISPHPBD_STEP_CULLED = 64,          /* particles that could not be saved were removed; counted in the stats */
       ISPHPBD_STEP_QUARANTINED = 128,    /* something not finite was put to rest */
       ISPHPBD_STEP_CROWDED = 256,        /* particles on top of each other are being spread */
       ISPHPBD_STEP_CONTACTS_FULL = 512,  /* capacity.soft.contacts */
       ISPHPBD_STEP_REFUSED = 1024        /* bad time, or called from inside a callback: nothing happened */
};
typedef struct isphpbd_step_info {
    int steps;             /* finished now */
    uint32_t flags;        /* ISPHPBD_STEP_* */
    float alpha;           /* 0 .. 1: where between the last two states the frame is; see isphpbd_fluid_points() */
    float dropped_seconds; /* that will never be simulated */
} isphpbd_step_info;

/* One step of `seconds` (0 < seconds <= 0.1), in substeps. With a deadline it may take several calls; info.steps is 1
   when it is done, and until then `seconds` is that of the first call. Never allocates. */
ISPHPBD_API isphpbd_step_info isphpbd_world_step(isphpbd_world *world, float seconds);
/* A frame: as many steps of desc.step_seconds as have come due, at most budget.steps_per_advance. */
ISPHPBD_API isphpbd_step_info isphpbd_world_advance(isphpbd_world *world, float frame_seconds);

/* ==== [fluids] =====================================================================================================*/
typedef struct isphpbd_fluid_desc {
    isph_material_desc material; /* default water */
    uint32_t layer, mask;        /* default 1, ~0 */
    uint32_t cookie;
} isphpbd_fluid_desc;
ISPHPBD_API isphpbd_fluid_desc isphpbd_fluid_desc_default(void);
ISPHPBD_API isphpbd_fluid isphpbd_fluid_create(isphpbd_world *world, const isphpbd_fluid_desc *desc,
                                               isphpbd_result *why);
/* Both all or none, at any time between steps. `added` and `velocities` may be NULL; strides in bytes. */
ISPHPBD_API isphpbd_result isphpbd_fluid_add_box(isphpbd_world *world, isphpbd_fluid fluid, isphpbd_vec3 lo,
                                                 isphpbd_vec3 hi, isphpbd_vec3 velocity, int *added);
ISPHPBD_API isphpbd_result isphpbd_fluid_add(isphpbd_world *world, isphpbd_fluid fluid, const float *positions,
                                             size_t position_stride, const float *velocities, size_t velocity_stride,
                                             int count, uint32_t *ids);
/* Fills the inside of a closed soft body with particles on a lattice, `gap` (m, >= 0; half a spacing is right) off its
   surface: water balloons. Costs particles * triangles near them. */
ISPHPBD_API isphpbd_result isphpbd_fluid_fill_soft(isphpbd_world *world, isphpbd_fluid fluid, isphpbd_soft soft,
                                                   float gap, int *added);
/* Removes all particles of the fluid and answers how many; the fluid itself stays. */
ISPHPBD_API int isphpbd_fluid_clear(isphpbd_world *world, isphpbd_fluid fluid);

typedef struct isphpbd_emitter_desc {
    isphpbd_fluid fluid;
    isphpbd_vec3 position;  /* m, centre of the mouth, default 0 */
    isphpbd_vec3 direction; /* any length > 0, default 0 -1 0 */
    float radius;           /* m, of a round mouth, default 0.1; 0: a rectangle of half_width x half_height */
    float half_width;       /* m, across `direction` and nearest to world x (or z), default 0.1 */
    float half_height;      /* m, across both */
    float speed;            /* m/s, > 0, default 1: gives one layer of particles per spacing / speed */
    float lifetime;         /* s that its particles live, 0 (default): for ever */
    float duration;         /* s that it emits, 0 (default): for ever */
    uint32_t cookie;
} isphpbd_emitter_desc;
ISPHPBD_API isphpbd_emitter_desc isphpbd_emitter_desc_default(void);
ISPHPBD_API isphpbd_emitter isphpbd_emitter_create(isphpbd_world *world, const isphpbd_emitter_desc *desc,
                                                   isphpbd_result *why);
ISPHPBD_API isphpbd_result isphpbd_emitter_destroy(isphpbd_world *world, isphpbd_emitter emitter);
/* Moves or retunes it; speed 0 pauses. */
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
    ISPHPBD_SHAPE_SOLID,      /* mesh: closed, counter-clockwise seen from outside; what is inside is pushed out */
    ISPHPBD_SHAPE_HEIGHTFIELD /* heights over the xz plane, columns x rows, x fastest, centred: ground */
} isphpbd_shape_type;
typedef struct isphpbd_mesh { /* a view: read during the call, never kept */
    const float *positions;
    size_t stride_bytes; /* default 12 */
    int vertex_count;
    const uint32_t *triangles; /* 3 indices each */
    int triangle_count;
} isphpbd_mesh;
typedef struct isphpbd_shape {
    isphpbd_shape_type type;
    isphpbd_vec3 half_extents; /* m */
    float radius, half_height; /* m */
    isphpbd_mesh mesh;
    const float *heights; /* m */
    int columns, rows;
    float cell; /* m between neighbouring heights */
} isphpbd_shape;
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
    isphpbd_quat rotation; /* unit */
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

/* What a surface does to what touches it; the same for colliders, bodies and soft bodies. */
typedef struct isphpbd_surface {
    float slip;        /* 0 .. 1, default 1: 1 lets water slide freely (but for its viscosity), 0 holds it: no slip */
    float restitution; /* 0 .. 1, default 0: share of the approach speed with which water bounces off (rigid only) */
    float friction;    /* Coulomb, >= 0, default 0.3: against soft bodies */
} isphpbd_surface;

/* ==== [colliders] still, or moved by you: they push and are not pushed ==============================================*/
typedef struct isphpbd_collider_desc {
    isphpbd_shape shape; /* default plane */
    bool container;      /* default false; true: box, sphere, capsule are hollow and hold everything inside */
    isphpbd_pose pose;   /* default identity */
    isphpbd_surface surface;
    uint32_t layer, mask; /* default 1, ~0 */
    uint32_t cookie;
} isphpbd_collider_desc;
ISPHPBD_API isphpbd_collider_desc isphpbd_collider_desc_default(void);
ISPHPBD_API isphpbd_collider isphpbd_collider_create(isphpbd_world *world, const isphpbd_collider_desc *desc,
                                                     isphpbd_result *why);
ISPHPBD_API isphpbd_result isphpbd_collider_destroy(isphpbd_world *world, isphpbd_collider collider);
/* Where it shall be at the end of the next step; it gets there evenly, pushing what is in the way. */
ISPHPBD_API isphpbd_result isphpbd_collider_move(isphpbd_world *world, isphpbd_collider collider, isphpbd_pose pose);
/* At once, without sweeping along; what it lands on is pushed out. */
ISPHPBD_API isphpbd_result isphpbd_collider_teleport(isphpbd_world *world, isphpbd_collider collider,
                                                     isphpbd_pose pose);
ISPHPBD_API isphpbd_result isphpbd_collider_pose(const isphpbd_world *world, isphpbd_collider collider,
                                                 isphpbd_pose *pose);
/* What water and soft bodies did to it since the last call; reading clears it. */
ISPHPBD_API isphpbd_result isphpbd_collider_take(isphpbd_world *world, isphpbd_collider collider,
                                                 isphpbd_impulse *impulse);

/* A region that swallows water: box, sphere or capsule. */
ISPHPBD_API isphpbd_sink isphpbd_sink_create(isphpbd_world *world, const isphpbd_shape *shape, isphpbd_pose pose,
                                             uint32_t mask, isphpbd_result *why);
ISPHPBD_API isphpbd_result isphpbd_sink_destroy(isphpbd_world *world, isphpbd_sink sink);
ISPHPBD_API int64_t isphpbd_sink_count(const isphpbd_world *world, isphpbd_sink sink); /* swallowed so far */

/* ==== [bodies] rigid bodies of the host engine ======================================================================
   Before every step give each body's motion; after it take the impulse, add impulse / mass to the host's velocity (and
   the angular one), and let the host do its gravity, contacts and joints. Inside a step the world predicts the body:
   its velocity, gravity * gravity_scale, and what water and soft bodies do to it; the host's body is never moved. */
typedef struct isphpbd_body_desc {
    isphpbd_shape shape;   /* default sphere of 0.5 m; its origin is the centre of mass */
    float mass;            /* kg, > 0; default 1. One-way: one_way = true */
    isphpbd_vec3 inertia;  /* kg m^2 about the local axes; 0 (default): of the filled shape */
    bool one_way;          /* default false; true: pushes water and is not pushed (the impulse is still measured) */
    float gravity_scale;   /* default 1: share of the world's gravity that the host will apply to it */
    isphpbd_motion motion; /* at the start; default at rest in the origin */
    isphpbd_surface surface;
    uint32_t layer, mask; /* default 1, ~0 */
    uint32_t cookie;
} isphpbd_body_desc;
ISPHPBD_API isphpbd_body_desc isphpbd_body_desc_default(void);
ISPHPBD_API isphpbd_body isphpbd_body_create(isphpbd_world *world, const isphpbd_body_desc *desc, isphpbd_result *why);
ISPHPBD_API isphpbd_result isphpbd_body_destroy(isphpbd_world *world, isphpbd_body body);
/* State in. A pose farther than two spacings from where the world predicted it counts as a teleport. */
ISPHPBD_API isphpbd_result isphpbd_body_put(isphpbd_world *world, isphpbd_body body, const isphpbd_motion *motion);
/* Impulses out: since the last call; reading clears them. */
ISPHPBD_API isphpbd_result isphpbd_body_take(isphpbd_world *world, isphpbd_body body, isphpbd_impulse *impulse);
/* The same for many at once: all or none (put); a bad handle gets a zero impulse and BAD_HANDLE (take). */
ISPHPBD_API isphpbd_result isphpbd_bodies_put(isphpbd_world *world, const isphpbd_body *bodies,
                                              const isphpbd_motion *motions, int count);
ISPHPBD_API isphpbd_result isphpbd_bodies_take(isphpbd_world *world, const isphpbd_body *bodies,
                                               isphpbd_impulse *impulses, int count);
/* Where the world expects it to be now: for hosts that only want water to carry a few props. */
ISPHPBD_API isphpbd_result isphpbd_body_predicted(const isphpbd_world *world, isphpbd_body body,
                                                  isphpbd_motion *motion);
ISPHPBD_API isphpbd_result isphpbd_body_set_mass(isphpbd_world *world, isphpbd_body body, float mass,
                                                 isphpbd_vec3 inertia);

/* ==== [softs] cloth, closed shells, soft solids =====================================================================*/
typedef struct isphpbd_soft_desc {
    ipbd_body_desc body;     /* geometry, material, pins; its layer, mask and friction count */
    isphpbd_surface surface; /* towards water; friction of `body` counts against solids */
    bool wet;                /* default true; false: water does not meet it */
    uint32_t cookie;
} isphpbd_soft_desc;
ISPHPBD_API isphpbd_soft_desc isphpbd_soft_desc_default(void);
ISPHPBD_API isphpbd_soft isphpbd_soft_create(isphpbd_world *world, const isphpbd_soft_desc *desc, isphpbd_result *why);
ISPHPBD_API isphpbd_result isphpbd_soft_destroy(isphpbd_world *world, isphpbd_soft soft);
/* For the calls of isphpbd_pbd.h with isphpbd_world_softs(): ipbd_pin, ipbd_body_view, ipbd_skin_create ... Null if the
   handle is bad. */
ISPHPBD_API ipbd_body isphpbd_soft_body(const isphpbd_world *world, isphpbd_soft soft);
/* Ties a vertex (of the input mesh) to a body or a collider, where it is now. */
ISPHPBD_API isphpbd_result isphpbd_soft_attach_body(isphpbd_world *world, isphpbd_soft soft, int vertex,
                                                    isphpbd_body body);
ISPHPBD_API isphpbd_result isphpbd_soft_attach_collider(isphpbd_world *world, isphpbd_soft soft, int vertex,
                                                        isphpbd_collider collider);

/* ==== [reading] views: valid until the next call with a non-const world =============================================*/
typedef struct isphpbd_points {
    const float *position, *previous,
        *velocity; /* x, y, z at the start of every stride; previous[i] is where position[i]
                                                    was one step ago (NULL without interpolation): draw
                                                    previous + alpha (position - previous) */
    size_t position_stride, previous_stride, velocity_stride; /* bytes */
    const uint32_t *id;   /* of particles: stable; NULL for vertices, whose order is fixed */
    const uint8_t *fluid; /* of particles: number of the fluid, in order of creation; else NULL */
    int count;
} isphpbd_points;
ISPHPBD_API isphpbd_points isphpbd_fluid_points(const isphpbd_world *world); /* of all fluids */
ISPHPBD_API isphpbd_points isphpbd_soft_points(const isphpbd_world *world, isphpbd_soft soft);
ISPHPBD_API int isphpbd_fluid_index(const isphpbd_world *world, isphpbd_fluid fluid); /* in points.fluid; -1: bad */

typedef struct isphpbd_stats {
    size_t bytes; /* of all, taken at creation */
    int fluid_particles, soft_vertices, soft_triangles, constraints, fluids, emitters, sinks, softs, colliders, bodies;
    /* of the last step */
    int substeps, soft_substeps;
    int pressure_iterations, density_iterations; /* of the last substep */
    int outer_iterations;                        /* largest of its substeps */
    int contacts;                                /* water particles touching soft bodies in the last substep */
    int culled;                                  /* particles removed because they could not be saved */
    int quarantined;
    float pressure_residual, density_residual;
    float density_error_mean, density_error_max, compression_mean;
    float coupling_mismatch; /* m/s: mean |u - v| along the normals of touching particles when the last round ended */
    float volume_error;      /* largest |volume / volume at rest - 1| of soft bodies that keep theirs */
    float max_speed;         /* m/s, of particles */
    /* since creation */
    int64_t steps, total_substeps, total_pressure_iterations, total_density_iterations, total_outer_iterations;
    int64_t total_culled, total_emitted, total_removed;
    double time, dropped_seconds; /* s */
    /* clock ticks of the last step; 0 without a clock */
    uint64_t ticks_step, ticks_neighbours, ticks_walls, ticks_viscosity, ticks_pressure, ticks_move, ticks_coupling,
        ticks_constraints;
} isphpbd_stats;
ISPHPBD_API isphpbd_stats isphpbd_world_stats(const isphpbd_world *world);

/* 64-bit digest of everything that affects the future. Linear. */
ISPHPBD_API uint64_t isphpbd_world_hash(const isphpbd_world *world);
/* Writes a snapshot when `capacity` is enough; always returns the size needed (at most 64 bytes per particle, plus soft
   bodies). Resuming from it gives the same bits as going on. An unfinished step (deadline) is saved as not begun. */
ISPHPBD_API size_t isphpbd_world_save(const isphpbd_world *world, void *bytes, size_t capacity);
/* Into a world of the same desc with the same objects, created in the same order. BAD_SNAPSHOT leaves all as it was. */
ISPHPBD_API isphpbd_result isphpbd_world_load(isphpbd_world *world, const void *bytes, size_t size);

enum { /* what to draw */
       ISPHPBD_DRAW_PARTICLES = 1,
       ISPHPBD_DRAW_SOFTS = 2,
       ISPHPBD_DRAW_COLLIDERS = 4,
       ISPHPBD_DRAW_BODIES = 8,
       ISPHPBD_DRAW_VELOCITIES = 16,
       ISPHPBD_DRAW_CONTACTS = 32,
       ISPHPBD_DRAW_ALL = 63
};
typedef struct isphpbd_debug_draw { /* any callback may stay NULL; called with batches of at most 256 items */
    void (*points)(const isphpbd_vec3 *xyz, const uint32_t *rgba, int count, float radius, void *user);
    void (*lines)(const isphpbd_vec3 *pairs, const uint32_t *rgba, int line_count, void *user);
    void (*triangles)(const isphpbd_vec3 *xyz, const uint32_t *rgba, int triangle_count, void *user);
    uint32_t flags; /* ISPHPBD_DRAW_* */
    void *user;
} isphpbd_debug_draw;
ISPHPBD_API isphpbd_result isphpbd_world_debug_draw(const isphpbd_world *world, const isphpbd_debug_draw *draw);

#ifdef __cplusplus
}
#endif
#endif /* ISPHPBD_INCLUDED */
