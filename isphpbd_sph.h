/* isphpbd_sph.h - v0.1.0 - incompressible water for games on the CPU, in one C99 file - SPDX-License-Identifier: MIT

DO THIS
    In exactly one C or C++ file:
        #define ISPH_IMPLEMENTATION
        #include "isphpbd_sph.h"
    Everywhere else include it plainly. Compile with -ffp-contract=off where bit-equal results across compilers matter;
    link with -lm. Nothing else is needed: no other file of isphpbd, no thread library, no build system.

WHAT IT IS (AND IS NOT)
    Liquids as particles: divergence-free incompressible SPH whose pressure comes from a sparse linear solve, with a
    second solve on the same matrix that keeps the volume. Water that stays at rest when it should, recovers from
    being crushed, and steps at 1/60 s. Several liquids at once, from mercury to honey, in SI units. Walls are planes,
    boxes, spheres, capsules and triangle meshes: still, moved by you, or with a mass, floating and sinking; a coupler
    can add walls of its own that yield (cloth). Kernels, neighbour search and the sparse solvers (BiCGSTAB, CG) are
    public and useful alone. It is not a rigid-body engine and does not render. Gases, surface tension and foam are not
    simulated.

QUICK START
    /--- quick start
    #include <stdio.h>
    #define ISPH_IMPLEMENTATION
    #include "isphpbd_sph.h"

    int main(void) {
        isph_fluid_desc desc = isph_fluid_desc_default();
        isph_material_desc water = isph_material_desc_default();
        isph_boundary_desc tank = isph_boundary_desc_default();
        isphpbd_result why;
        isph_fluid *fluid = isph_fluid_create(&desc, &why);
        int frame, added;
        if (!fluid) return printf("%s\n", isphpbd_result_text(why)), 1;
        tank.shape = ISPH_SHAPE_BOX, tank.container = true;
        tank.half_extents = isphpbd_v3(1.0f, 1.0f, 0.5f);
        isph_boundary_create(fluid, &tank, &why);
        isph_particles_add_box(fluid, isph_material_create(fluid, &water, &why), isphpbd_v3(-1.0f, -1.0f, -0.5f),
                               isphpbd_v3(-0.4f, 0.0f, 0.5f), isphpbd_v3(0.0f, 0.0f, 0.0f), &added);
        for (frame = 0; frame < 60; ++frame) {
            isph_fluid_step(fluid, 1.0f / 60.0f, &why);
            isph_view view = isph_particles(fluid);
            if (frame % 20) continue;
            printf("%d drops, up to %.2f m/s\n", view.count, (double)isph_fluid_stats(fluid).max_speed);
        }
        isph_fluid_destroy(fluid);
        return 0;
    }
    ---/

CONTENTS (search for the tag in brackets)
    [kernels] smoothing kernels                [grid] neighbour search
    [sparse] matrix, BiCGSTAB, CG              [fluid] materials, particles, boundaries, steps, statistics, snapshots
    [coupler] how other solvers meet the fluid
    Implementation:
    [machine] [kernels] [grid] [sparse] [coarse] [krylov] [bicgstab] [matrix] [fluid] [boundaries] [bodies] [walls]
    [rows] [coarsen] [predict] [viscosity] [pressure] [vessels] [move] [balance] [weakly-compressible] [step]
    [snapshot]

CONFIGURATION
    ISPHPBD_STATIC      everything static in this file     ISPHPBD_API         your own linkage
    ISPHPBD_NO_SIMD     plain C instead of SSE2            ISPHPBD_NO_OPENMP   no built-in OpenMP runner
    ISPHPBD_NO_STDLIB   no malloc: an allocator is required
    Define the same in every file that includes the header.

MEMORY
    One allocation per object, at creation; isph_fluid_bytes() tells its size to the byte. Steps never allocate. At
    default settings a particle takes less than 1 KB, most of it matrix.

THREADS
    Give a runner (isphpbd_parallel) or compile with OpenMP. Different fluids may step on different threads at once; one
    fluid belongs to one thread at a time. Callbacks of the coupler run on the runner's threads where they say so.
    A task takes up to 64 KB of its thread's stack.
    A substep can also be made in pieces of some tens of microseconds: isph_fluid_substep_continue().

DETERMINISM
    The same bits for any number of threads, serial or OpenMP, SSE2 or plain C, gcc or clang, C or C++, -O0 to -O3, and
    after a snapshot is restored. Conditions: IEEE floats without contraction (-ffp-contract=off) and no -ffast-math; on
    32-bit x86 also -msse2 -mfpmath=sse. isph_fluid_hash() is there to check it.

NUMERICS AND UNITS
    SI throughout: m, s, kg, Pa. Spacings from 1 mm to 1 m are in order; everything is scaled by the spacing and by
    gravity. A step is divided so that nothing moves more than cfl spacings and so that no substep is longer than about
    0.117 sqrt(spacing / g): 8.3 ms for 5 cm, 3.7 ms for 1 cm. With max_substeps reached, particles are slowed down
    instead, and a flag says so. The weakly compressible solver wants a substep per quarter of a support that sound
    goes, 44 in 1/60 s at 5 cm. With fewer, as by default, sound is slowed down to what they bear, and the same flag
    says so: water is softer then, half a metre of it stands 2 % too low with eight substeps, and collapses with one.
    Coordinates up to 2^18 spacings from the origin are accepted (13 km for 5 cm); beyond some 2^16 the digits left for
    the arrangement of particles get few: use isph_fluid_shift_origin(). Water at rest is noisier there: at 2^17.6
    spacings (10 km for 5 cm) places are multiples of a fiftieth of the spacing, and its speeds about ten times those
    near the origin. What breaks first: gaps between walls narrower than two spacings hold no water; films thinner than
    a spacing become drops; walls are seen as planes, so curvature finer than a few spacings is blurred; more than six
    walls at one particle are ignored. Pressure on a wall is right on average, not particle by particle. Particles
    inside a solid are pushed out, at most a spacing per substep.
    Floating bodies want their mass in the desc (isph_boundary_desc): they then yield inside the pressure solve, however
    light they are. A body that the host moves by impulses alone should weigh at least a tenth of what it displaces.
    Hundreds of boundaries are in order.

ERRORS
    Fallible calls answer an isphpbd_result and have changed nothing unless it is ISPHPBD_OK. NaN and infinite input is
    refused; a NaN born inside stays with its particle, which is put to rest and counted. isph_fluid_step() answers a
    bit field that names the limit to raise.
    isph_fluid_desc.logger is told in words: as an error, the field that made a desc refused, what is wrong with a mesh
    or a snapshot, the capacity to raise, and that there was no memory; as a warning, each kind of ISPH_STEP_* flag when
    a step raises it for the first time since the fluid was made. Bad arguments and handles are not told.

READING
    Abu Rumman, Nair, Mueller, Barthe, Vanderhaeghe: ISPH-PBD, The Visual Computer 36 (2020): projection, free surface.
    Kugelstadt, Longva, Thuerey, Bender: Implicit density projection for volume conserving liquids, IEEE TVCG (2019).
    Becker, Tessendorf, Teschner: Direct forcing for Lagrangian rigid-fluid coupling, IEEE TVCG (2009): weakly
    compressible. Wendland (1995): the kernel. van der Vorst (1992): BiCGSTAB.

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

#ifndef ISPH_INCLUDED
#define ISPH_INCLUDED

#ifdef __cplusplus
extern "C" {
#endif

/* What holds for every call below, unless its comment says otherwise.
   Cost: constant time.
   Failure: the call has changed nothing and answers an isphpbd_result, or a null handle with the result in *why. A NULL
   object is BAD_ARGUMENT; calls that only read one answer 0, false or an empty view. `why` and other pointers that only
   receive something may be NULL. Strides are in bytes, at least 12 and a multiple of 4, else BAD_ARGUMENT (in a mesh
   BAD_MESH). A handle does not know its fluid: BAD_HANDLE is for one that is null or stale, while one of another
   fluid passes where this fluid has one of the same number.
   Descs: X_desc_default() fills one with the defaults that stand beside the fields, and a cookie without which it is
   refused. Descs are read during the call and never kept. A NULL one, or a field out of range, is BAD_DESC.
   Objects: X_bytes() answers what X_create() will take from the allocator, to the byte, 0 for a bad desc. X_create()
   makes one allocation; NULL with BAD_DESC or OUT_OF_MEMORY when it fails. X_destroy() gives the memory back; NULL is
   fine. */

/* ==== [kernels] ======================================================================================================
   Smoothing kernels in 3D, all written over their support radius: W(r) = 0 for r >= support. */
typedef enum isph_kernel {
    ISPH_KERNEL_WENDLAND_C2 = 0, /* support 2 h; what the fluid uses */
    ISPH_KERNEL_CUBIC_SPLINE,    /* support 2 h */
    ISPH_KERNEL_QUARTIC_SPLINE   /* support 2.5 h */
} isph_kernel;

/* W(r) in 1/m^3, 0 from r = support on; integrates to 1 over space. r >= 0 and support > 0, in m, are not checked. A
   few flops, like the other two. */
ISPHPBD_API float isph_kernel_value(isph_kernel kernel, float r, float support);
/* W'(r)/r in 1/m^5, <= 0 and finite at r = 0: the gradient of W at a point is this number times the vector to the point
   from the kernel's centre. Conditions as above. */
ISPHPBD_API float isph_kernel_slope(isph_kernel kernel, float r, float support);
/* The smoothing length h in m that belongs to a support radius: support / 2, or / 2.5 for the quartic spline. */
ISPHPBD_API float isph_kernel_smoothing_length(isph_kernel kernel, float support);

/* ==== [grid] =========================================================================================================
   Fixed-radius neighbour search over any cloud of points: no bounds to set, linear cost, bit-identical results for any
   thread count. The fluid has one inside; this is the same one for your own use. About 37 bytes per point. */
typedef struct isph_grid isph_grid;
typedef struct isph_grid_desc {
    int capacity;                /* points, default 32768, 1 .. 2^26 */
    float radius;                /* m, > 0, default 0.1: every query finds what is nearer than this */
    isphpbd_allocator allocator; /* default malloc */
    isphpbd_parallel parallel;   /* default OpenMP or serial; used by isph_grid_build() */
    uint32_t cookie;             /* set by isph_grid_desc_default(); do not touch */
} isph_grid_desc;

/* Made like every object here (see the top). A new grid has no points. */
ISPHPBD_API isph_grid_desc isph_grid_desc_default(void);
ISPHPBD_API size_t isph_grid_bytes(const isph_grid_desc *desc);
ISPHPBD_API isph_grid *isph_grid_create(const isph_grid_desc *desc, isphpbd_result *why);
ISPHPBD_API void isph_grid_destroy(isph_grid *grid);
/* Copies count >= 0 points (m; x, y, z at the start of every stride) and indexes them, in place of those before.
   BAD_ARGUMENT for a coordinate that is not finite or beyond 2^18 radii from the origin, CAPACITY for too many points.
   Linear in count. */
ISPHPBD_API isphpbd_result isph_grid_build(isph_grid *grid, const float *xyz, size_t stride_bytes, int count);
/* Points nearer than the radius to `point` (m), as indices into the array given to isph_grid_build(), in no useful
   order. Writes at most out_capacity of them to `out` (NULL only with a capacity of 0) and returns how many there are,
   so that a second call can bring a larger array. 0 for a bad argument. Linear in the points around, about five looked
   at per point found. Any number of threads may ask at once. */
ISPHPBD_API int isph_grid_query(const isph_grid *grid, isphpbd_vec3 point, int *out, int out_capacity);
/* The same around point number `index`, without the point itself (others in the same place do count). 0, too, for an
   index out of range. */
ISPHPBD_API int isph_grid_neighbours(const isph_grid *grid, int index, int *out, int out_capacity);

/* ==== [sparse] =======================================================================================================
   Sparse matrix in the layout that the fluid's pressure solve runs on (eight rows interleaved, 32-bit floats), with two
   Krylov solvers. Usable alone: any square matrix given as compressed rows. */
typedef struct isph_matrix isph_matrix;
typedef struct isph_matrix_desc {
    int row_capacity;            /* rows, default 32768, 1 .. 2^26 */
    int nonzero_capacity;        /* off-diagonal entries with their padding (see isph_matrix_set()), default 2^21: 64
                                    for each row of the default; 0 .. 2^30 */
    isphpbd_allocator allocator; /* default malloc */
    isphpbd_parallel parallel;   /* default OpenMP or serial; used by the solves */
    uint32_t cookie;             /* set by isph_matrix_desc_default(); do not touch */
} isph_matrix_desc;

/* Made like every object here (see the top). A new matrix has no rows: nothing but isph_matrix_set() works on it. The
   work vectors of the solves live in it, so one matrix is for one thread at a time. */
ISPHPBD_API isph_matrix_desc isph_matrix_desc_default(void);
ISPHPBD_API size_t isph_matrix_bytes(const isph_matrix_desc *desc);
ISPHPBD_API isph_matrix *isph_matrix_create(const isph_matrix_desc *desc, isphpbd_result *why);
ISPHPBD_API void isph_matrix_destroy(isph_matrix *matrix);
/* Copies a square matrix of `rows` >= 1 rows, in place of the one before: entries row_start[i] .. row_start[i + 1] - 1
   hold the columns and values of row i (diagonal included, any order; a column named twice counts as the sum). Every
   eight rows are padded to the longest of them. Aggregates are forgotten. BAD_ARGUMENT for indices out of range or
   values that are not finite, CAPACITY when rows, or entries with their padding, do not fit. Linear in the entries. */
ISPHPBD_API isphpbd_result isph_matrix_set(isph_matrix *matrix, int rows, const int *row_start, const int *columns,
                                           const float *values);
/* y = A x; both of `rows` floats, not overlapping. BAD_ARGUMENT for NULL, or without a matrix. Linear in the entries,
   on the calling thread. */
ISPHPBD_API isphpbd_result isph_matrix_multiply(isph_matrix *matrix, const float *x, float *y);
/* Assigns every row to an aggregate for the two-level preconditioner and factorises the coarse matrix (for a symmetric
   positive semi-definite matrix). Rows that couple strongly should share an aggregate of some 20-100 rows. aggregate[i]
   in [0, count), else BAD_ARGUMENT. CAPACITY when there are too many, or when the coarse factor does not fit (about 16
   floats per row are kept for it). Linear in the entries, plus count times the square of the coarse matrix's bandwidth;
   on the calling thread. */
ISPHPBD_API isphpbd_result isph_matrix_set_aggregates(isph_matrix *matrix, const int *aggregate, int count);

typedef enum isph_preconditioner {
    ISPH_PRECONDITIONER_NONE = 0, /* for comparison */
    ISPH_PRECONDITIONER_JACOBI,   /* inverse diagonal */
    ISPH_PRECONDITIONER_TWO_LEVEL /* inverse diagonal + coarse solve; needs isph_matrix_set_aggregates() */
} isph_preconditioner;

typedef struct isph_solve_desc {
    float tolerance;                    /* stop when |b - A x| <= tolerance |b|; >= 0, default 1e-5; 0: on to the cap */
    int max_iterations;                 /* >= 0, default 1000; 0 returns the start */
    isph_preconditioner preconditioner; /* default JACOBI */
    bool warm_start;                    /* default false (start at 0); true: start at the x given */
    bool constant_nullspace;            /* default false; true: A times a constant is 0 (closed tank): the mean of b and
                                           of x is taken out, so that an inconsistent right side converges too */
    float *history;                     /* default NULL; else gets the relative residuals: the first, and one per
                                           iteration. Room for max_iterations + 1 */
    uint32_t cookie;                    /* set by isph_solve_desc_default(); do not touch */
} isph_solve_desc;

typedef enum isph_solve_state {
    ISPH_SOLVE_CONVERGED = 0, /* the tolerance is met */
    ISPH_SOLVE_CAPPED,        /* max_iterations reached; x holds the last iterate, or 0 if that is better */
    ISPH_SOLVE_BREAKDOWN      /* a scalar of the recurrence vanished or overflowed; x likewise */
} isph_solve_state;

typedef struct isph_solve_info {
    isph_solve_state state;
    int iterations; /* done */
    float residual; /* |b - A x| / |b| of the x returned; 0 for b = 0 */
} isph_solve_info;

ISPHPBD_API isph_solve_desc isph_solve_desc_default(void);
/* A x = b by conjugate gradients, for symmetric positive (semi-)definite A. b and x: `rows` floats each; x is read only
   with warm_start. BAD_ARGUMENT for NULL, without a matrix, or where what is read is not finite; BAD_DESC, too, for
   TWO_LEVEL without aggregates. To end short of the tolerance is no error: *info says how it went. One product and five
   vector passes per iteration, each linear. */
ISPHPBD_API isphpbd_result isph_matrix_solve_cg(isph_matrix *matrix, const float *b, float *x,
                                                const isph_solve_desc *desc, isph_solve_info *info);
/* The same by BiCGSTAB, for any A; it restarts where its shadow residual breaks down, up to eight times. Two products
   per iteration. */
ISPHPBD_API isphpbd_result isph_matrix_solve_bicgstab(isph_matrix *matrix, const float *b, float *x,
                                                      const isph_solve_desc *desc, isph_solve_info *info);

/* ==== [fluid] ========================================================================================================
   All particles of a simulation, of one or more materials, with the walls they meet. */
typedef struct isph_fluid isph_fluid;
typedef struct isph_material {
    uint32_t id;
} isph_material; /* 0 is null */
typedef struct isph_boundary {
    uint32_t id;
} isph_boundary; /* 0 is null */

typedef enum isph_solver {
    ISPH_SOLVER_INCOMPRESSIBLE = 0, /* pressure projection + density projection: the one to use */
    ISPH_SOLVER_WEAKLY_COMPRESSIBLE /* Tait equation, the classic baseline: many small substeps, so raise max_substeps
                                       (see NUMERICS). Viscosity is explicit, up to 0.1 spacing^2 per substep */
} isph_solver;

/* The pressure matrix is symmetric, so CG does with half the products. A coupler with respond() always uses it. */
typedef enum isph_linear_solver { ISPH_LINEAR_CG = 0, ISPH_LINEAR_BICGSTAB } isph_linear_solver;

typedef struct isph_fluid_desc {
    isphpbd_vec3 gravity; /* m/s^2, default (0, -9.81, 0); less than 1e6 long */
    float spacing;        /* m, default 0.05, 1e-4 .. 1e3: distance of particles at rest. Each stands for spacing^3 of
                             volume; half the spacing costs 8 times the particles and up to twice the substeps */
    /* interaction radius in spacings, default 2.0, 1.8 .. 3.2. 2.4 costs twice as much: waves keep their pace better,
       still water moves more */
    float support;
    isph_solver solver;                 /* default INCOMPRESSIBLE */
    isph_linear_solver linear_solver;   /* default CG */
    isph_preconditioner preconditioner; /* default TWO_LEVEL */
    bool rigid_local;            /* default false: boundaries with mass yield by their six degrees of freedom, all that
                                    touches them at once. true: every wall a particle sees yields by itself: cheaper */
    bool density_projection;     /* default true: keeps the volume (Kugelstadt et al.); false only for comparison */
    float tolerance;             /* relative residual at which both solves stop, >= 0 and < 1, default 0.05 */
    int max_iterations;          /* cap of pressure + density iterations per substep, 1 .. 100000, default 50 */
    int max_substeps;            /* cap per step, 1 .. 10^6, default 8; reported when it bites */
    float cfl;                   /* spacings a particle may move per substep, 0.05 .. 4, default 1 */
    float max_substep_seconds;   /* s, 0 .. 1, default 0: 0.117 sqrt(spacing / g), 8.3 ms for 5 cm */
    float sound_speed;           /* m/s, 0 .. 10^5, weakly compressible only; 0 (default): 10 x the expected speed; less
                                    in substeps that are too long for it */
    float max_speed;             /* m/s, 0 .. 10^6, default 0: 1000 spacings per second but at least 50 m/s; what is
                                    faster is slowed down to it */
    int particle_capacity;       /* default 32768, at most 2^24 (and 2^31 matrix entries); about 1 KB each */
    int material_capacity;       /* default 8, 1 .. 255 */
    int boundary_capacity;       /* default 64, 0 .. 65535 */
    int triangle_capacity;       /* default 8192, 0 .. 2^24: triangles of all mesh boundaries together */
    isphpbd_allocator allocator; /* default malloc; one allocation, at creation */
    isphpbd_parallel parallel;   /* default OpenMP where compiled in, else serial */
    isphpbd_logger logger;       /* default silent; see ERRORS */
    isphpbd_clock clock;         /* default none: stage timers stay 0 */
    uint32_t cookie;             /* set by isph_fluid_desc_default(); do not touch */
} isph_fluid_desc;

/* Made like every object here (see the top). A new fluid has no materials, particles or boundaries. Destroying it does
   nothing inside a callback or while the fluid has an owner.
   For all calls with a non-const fluid: LOCKED (or nothing done, and 0) inside a callback, and, but for those on
   particles, while somebody owns the fluid. A substep that is pending (isph_fluid_substep_begin()) is abandoned by what
   changes the fluid. */
ISPHPBD_API isph_fluid_desc isph_fluid_desc_default(void);
ISPHPBD_API size_t isph_fluid_bytes(const isph_fluid_desc *desc);
ISPHPBD_API isph_fluid *isph_fluid_create(const isph_fluid_desc *desc, isphpbd_result *why);
ISPHPBD_API void isph_fluid_destroy(isph_fluid *fluid);
/* Hands the fluid from one owner to the next; each is any address, NULL is nobody. LOCKED unless `owner` has it now.
   While it has an owner, everything but reading and adding, removing and editing particles answers LOCKED (or does
   nothing): a solver built on top of the fluid gives it to NULL before its own calls and takes it back after them. */
ISPHPBD_API isphpbd_result isph_fluid_set_owner(isph_fluid *fluid, const void *owner, const void *next);
/* From the next substep on, with the units and ranges of the desc; BAD_ARGUMENT outside of them. */
ISPHPBD_API isphpbd_result isph_fluid_set_gravity(isph_fluid *fluid, isphpbd_vec3 gravity);
ISPHPBD_API isphpbd_result isph_fluid_set_budget(isph_fluid *fluid, int max_iterations, int max_substeps,
                                                 float tolerance);
/* Switches the solves off (particles then fall freely and pile up) and on again; they are on at first. To test how
   water recovers from being crushed. Open to all while the fluid has an owner. */
ISPHPBD_API isphpbd_result isph_fluid_set_solver_enabled(isph_fluid *fluid, bool enabled);
/* Adds `offset` (m) to the position of every particle and boundary: keeps large worlds near the origin. BAD_ARGUMENT if
   one of them would be out of range then. Linear in particles. */
ISPHPBD_API isphpbd_result isph_fluid_shift_origin(isph_fluid *fluid, isphpbd_vec3 offset);

/* ---- materials ---- */
typedef struct isph_material_desc {
    float density;   /* kg/m^3, 1e-3 .. 1e6, default 1000. A light liquid under a depth h of one n times as heavy is
                        driven out at up to sqrt(2 n g h): beyond some 20:1 that takes many substeps */
    float viscosity; /* Pa s (dynamic), 0 .. 1e6, default 0.001; honey is 10. Large values are solved for implicitly, at
                        the cost of some iterations per substep; with ISPH_SOLVER_WEAKLY_COMPRESSIBLE not: there they
                        count as at most density * 0.1 spacing^2 / substep (600 Pa s for water at 5 cm). What only walls
                        of a coupler hold, which do not grip along their normal, comes to rest up to some
                        10 density spacing^2 / substep */
    uint32_t cookie; /* set by the default functions; do not touch */
} isph_material_desc;

ISPHPBD_API isph_material_desc isph_material_desc_default(void); /* water */
ISPHPBD_API isph_material_desc isph_material_desc_oil(void);     /* 900 kg/m^3, 0.08 Pa s */
ISPHPBD_API isph_material_desc isph_material_desc_honey(void);   /* 1400 kg/m^3, 10 Pa s */
ISPHPBD_API isph_material_desc isph_material_desc_mercury(void); /* 13534 kg/m^3, 0.0015 Pa s */
/* A material for particles of this fluid; it stays for good. CAPACITY when there are material_capacity of them. */
ISPHPBD_API isph_material isph_material_create(isph_fluid *fluid, const isph_material_desc *desc, isphpbd_result *why);

/* ---- particles ---- */
/* Adds count >= 0 particles (m), at rest or with given velocities (m/s; NULL: 0; else with a stride of their own). All
   or none. ids (NULL or count entries) receives the stable ids; any number can be one, 0 too. BAD_ARGUMENT for numbers
   that are not finite, coordinates beyond 2^18 spacings from the origin and velocities beyond 2^18 m/s; BAD_HANDLE for
   the material, CAPACITY where there is no room. Linear in count. */
ISPHPBD_API isphpbd_result isph_particles_add(isph_fluid *fluid, isph_material material, const float *positions,
                                              size_t position_stride_bytes, const float *velocities,
                                              size_t velocity_stride_bytes, int count, uint32_t *ids);
/* Fills the box lo .. hi (m) with particles of one velocity (m/s) on a cubic lattice, half a spacing off its faces; all
   or none. A box thinner than a spacing gets one layer, half a spacing from lo. *added gets their number, 0 on failure.
   Refused like isph_particles_add(), and BAD_ARGUMENT where lo exceeds hi. Linear in what is added. */
ISPHPBD_API isphpbd_result isph_particles_add_box(isph_fluid *fluid, isph_material material, isphpbd_vec3 lo,
                                                  isphpbd_vec3 hi, isphpbd_vec3 velocity, int *added);
/* Removes particles by id; ids that are not alive are passed over. Returns how many went; 0 for a bad argument. The
   order of the others is kept. Linear in all particles. */
ISPHPBD_API int isph_particles_remove(isph_fluid *fluid, const uint32_t *ids, int count);
typedef struct isph_particle {
    isphpbd_vec3 position, velocity; /* m, m/s */
    uint32_t id, user;               /* stable id; and yours: 0 at first, the library never looks at it */
    isph_material material;
} isph_particle;
/* Removes every particle for which test() answers true: sinks, lifetimes, kill planes. Returns how many went; 0 for a
   bad argument. A world without a floor wants a kill plane: a drop that falls for ever sets the number of substeps for
   all. Linear in all particles; test() is called on the calling thread, in the order of the view. */
ISPHPBD_API int isph_particles_remove_if(isph_fluid *fluid, bool (*test)(void *user, const isph_particle *particle),
                                         void *user);
/* Calls edit() for every particle; it may change position, velocity and user (teleports, force zones, blasts), and
   answers true to have that kept. Changes of id and material are ignored. Numbers that isph_particles_add() would
   refuse leave that particle as it was. Returns how many were kept; 0 for a bad argument. Linear in all particles, on
   the calling thread. */
ISPHPBD_API int isph_particles_edit(isph_fluid *fluid, bool (*edit)(void *user, isph_particle *particle), void *user);

/* Arrays of the library's own, valid until the next call with a non-const fluid. The order changes with every substep;
   the ids do not. */
typedef struct isph_view {
    const float *position;   /* m; x, y, z at the start of every stride */
    const float *velocity;   /* m/s; x, y, z likewise */
    size_t stride_bytes;     /* of position and velocity */
    const float *pressure;   /* Pa, >= 0, of the last substep; one per particle */
    const float *density;    /* relative to rest (1 = right), walls included, at the start of the last substep */
    const uint32_t *id;      /* stable id */
    const uint32_t *user;    /* yours; see isph_particles_edit() */
    const uint8_t *material; /* material number: handle id - 1 */
    int count;               /* particles: entries of every array */
} isph_view;
/* All particles. Nothing is copied. */
ISPHPBD_API isph_view isph_particles(const isph_fluid *fluid);
/* Index in the view of a particle, or -1 when it is gone. */
ISPHPBD_API int isph_particle_find(const isph_fluid *fluid, uint32_t id);

/* ---- boundaries ---- */
typedef enum isph_shape {
    ISPH_SHAPE_PLANE = 1, /* solid below the local xz plane: +y is outside */
    ISPH_SHAPE_BOX,       /* half_extents */
    ISPH_SHAPE_SPHERE,    /* radius */
    ISPH_SHAPE_CAPSULE,   /* radius, and half_height of its segment along local y */
    ISPH_SHAPE_MESH       /* triangles; a thin shell wet on both sides, or the skin of a solid (see mesh_solid) */
} isph_shape;

typedef struct isph_mesh {   /* a view: read during the call, never kept */
    const float *positions;  /* m; x, y, z at the start of every stride, within 2^18 spacings */
    size_t stride_bytes;     /* from one vertex to the next */
    int vertex_count;        /* >= 3 */
    const uint32_t *indices; /* 3 per triangle; triangles without an area are left out */
    int index_count;         /* 3 times the number of triangles, > 0 */
} isph_mesh;

typedef struct isph_boundary_desc {
    isph_shape shape;                               /* default PLANE; only the fields of the shape given are read */
    bool container;                                 /* default false; true: box, sphere, capsule are hollow and hold
                                                       all fluid inside (two of them: inside both) */
    isphpbd_vec3 half_extents;                      /* m, box, each 1e-6 .. 1e6, default 0.5 */
    float radius;                                   /* m, sphere and capsule, 1e-6 .. 1e6, default 0.5 */
    float half_height;                              /* m, capsule, 0 .. 1e6, default 0.5: of the segment on its axis */
    isph_mesh mesh;                                 /* mesh only; local coordinates. Copied */
    bool mesh_solid;                                /* default false: shell. true: closed mesh, wound counter-clockwise
                                                       seen from outside; particles inside are pushed out. One that is
                                                       wound inside out is refused, one with a gap is not found out */
    isphpbd_vec3 position;                          /* m, default 0; less than 1e7 from the origin */
    isphpbd_quat rotation;                          /* default identity; of length 1 to within 1 % */
    isphpbd_vec3 linear_velocity, angular_velocity; /* m/s, rad/s about position; default 0; less than 1e5 long */
    float friction;                                 /* 0 .. 1, default 0: share of the sliding speed that a touching
                                                       particle loses per 5 ms; 1 is no slip whatever the viscosity */
    float viscous_grip;                             /* 0 .. 1, default 1: share of the viscous wall stress and of the
                                                       skin friction of a smooth wall (0: free slip) */
    float restitution;                              /* 0 .. 1, default 0: share of the approach speed with which a
                                                       particle bounces off */
    float mass;                                     /* kg, default 0: the fluid cannot move it. 1e-9 .. 1e12: a free
                                                       body, see isph_boundary_motion(), with its centre of mass at
                                                       `position`; not for planes */
    isphpbd_vec3 inertia;                           /* kg m^2 about the local axes; 0 (default): does not turn about
                                                       that axis; else 1e-20 .. 1e12. Only with mass */
    float gravity_scale;                            /* default 1, within 1000: share of gravity that acts on a body with
                                                       mass */
    uint32_t material_mask;                         /* default all: bit n lets it meet the material of number n (handle
                                                       id - 1); numbers from 32 on meet everything */
    uint32_t cookie;                                /* set by isph_boundary_desc_default(); do not touch */
} isph_boundary_desc;

ISPHPBD_API isph_boundary_desc isph_boundary_desc_default(void);
/* BAD_MESH for a mesh with an index out of range, a vertex that is not finite or too far away, or no triangle with an
   area, and for a closed mesh_solid whose volume is not positive; CAPACITY where boundaries or triangles do not fit. A
   few stores and a look for a free place; a mesh is sorted into a tree, O(n log n) in its triangles. */
ISPHPBD_API isph_boundary isph_boundary_create(isph_fluid *fluid, const isph_boundary_desc *desc, isphpbd_result *why);
/* For this and all calls below: BAD_HANDLE for a handle that is null or stale, or a NULL fluid. Destroying a mesh moves
   the triangles of later ones up: linear in those. */
ISPHPBD_API isphpbd_result isph_boundary_destroy(isph_fluid *fluid, isph_boundary boundary);
/* Pose (m) at the start of the next step, and the velocities (m/s, rad/s) with which it then goes on moving until told
   otherwise. Give the velocities that belong to the motion: what a mesh shell jumps over by a new pose alone (more than
   half a spacing) is then on its other side. BAD_ARGUMENT outside the ranges of the desc. */
ISPHPBD_API isphpbd_result isph_boundary_set_motion(isph_fluid *fluid, isph_boundary boundary, isphpbd_vec3 position,
                                                    isphpbd_quat rotation, isphpbd_vec3 linear_velocity,
                                                    isphpbd_vec3 angular_velocity);
/* The pose now, that is after the last substep or as given since. */
ISPHPBD_API isphpbd_result isph_boundary_pose(const isph_fluid *fluid, isph_boundary boundary, isphpbd_vec3 *position,
                                              isphpbd_quat *rotation);
/* Pose and velocities now; inside the coupler's again() and finish() those at the end of the substep. A boundary with
   mass is a free body while the fluid steps: its velocities follow gravity * gravity_scale and what the fluid does to
   it, inside the pressure solve, and its pose follows them. A host engine that owns the body gives its state by
   isph_boundary_set_motion() before the step, and afterwards applies what isph_boundary_take_impulse() answers, which
   holds no gravity, to its own copy. */
ISPHPBD_API isphpbd_result isph_boundary_motion(const isph_fluid *fluid, isph_boundary boundary, isphpbd_vec3 *position,
                                                isphpbd_quat *rotation, isphpbd_vec3 *linear_velocity,
                                                isphpbd_vec3 *angular_velocity);
/* Which materials it meets, as in the desc, from the next substep on. */
ISPHPBD_API isphpbd_result isph_boundary_set_material_mask(isph_fluid *fluid, isph_boundary boundary, uint32_t mask);
/* Mass and inertia as in the desc, from the next substep on; BAD_ARGUMENT outside of its ranges. */
ISPHPBD_API isphpbd_result isph_boundary_set_mass(isph_fluid *fluid, isph_boundary boundary, float mass,
                                                  isphpbd_vec3 inertia);
/* What the fluid did to the boundary since the last call: linear impulse in N s and angular impulse about its position
   in N m s, world axes; reading clears both, whether or not a pointer is NULL. LOCKED like a change. */
ISPHPBD_API isphpbd_result isph_boundary_take_impulse(isph_fluid *fluid, isph_boundary boundary, isphpbd_vec3 *linear,
                                                      isphpbd_vec3 *angular);

/* ---- stepping ---- */
/* What was cut in a step, as bits, and the limit to raise. */
enum {
    ISPH_STEP_ITERATIONS_CAPPED =
        1,                         /* a solve stopped at max_iterations: raise it or accept the residual in the stats */
    ISPH_STEP_SUBSTEPS_CAPPED = 2, /* max_substeps was too small for the speed: particles were held to 2 cfl, or sound
                                      (weakly compressible) was slowed down */
    ISPH_STEP_CROWDED = 4,         /* too many particles in one place; they are being spread (see stats.crowded) */
    ISPH_STEP_QUARANTINED = 8,     /* particles not finite, or beyond the range of coordinates, were put to rest at
                                      their last good position (stats.quarantined) */
    ISPH_STEP_SPEED_CLAMPED = 16,  /* particles faster than max_speed were slowed down to it */
    ISPH_STEP_WALLS_CAPPED = 32    /* a particle met more than 6 walls at once; the farthest were ignored */
};

/* Advances by `seconds` (1e-9 .. 1) in one or more substeps, as many as the fastest particle or wall needs. Returns
   ISPH_STEP_* flags; 0, with the reason in *why, where it was refused: BAD_ARGUMENT for a bad time, LOCKED. Never
   allocates. Per substep linear in the particles, times the iterations of the solves. */
ISPHPBD_API uint32_t isph_fluid_step(isph_fluid *fluid, float seconds, isphpbd_result *why);

/* For those who divide time themselves. How long (s) the next substep may be when `left` seconds (1e-9 .. 1) are to go
   in at most `most` (>= 1) more: by the fastest particle, boundary or `fastest` (m/s, 0 .. 1e9: things that the fluid
   does not know of), and by max_substep_seconds; the rest is divided evenly. Adds ISPH_STEP_SUBSTEPS_CAPPED to *flags
   where `most` is too small. 0 for a bad argument. Looks at every velocity once. */
ISPHPBD_API float isph_fluid_substep_seconds(const isph_fluid *fluid, float left, float fastest, int most,
                                             uint32_t *flags);
/* Exactly one substep of that length, whatever the speeds; flags, errors and cost as for isph_fluid_step(). */
ISPHPBD_API uint32_t isph_fluid_substep(isph_fluid *fluid, float seconds, isphpbd_result *why);

/* A substep in pieces, for those who look at a clock: begin one, then go on with it until it is done. Until then every
   view, hash, snapshot and statistic is that of the state before it, and the fluid may be read as usual. Setting the
   motion of a boundary counts from the next substep on; any other change (particles, boundaries, materials, settings,
   load, a whole step) abandons the substep, or completes it where the coupler's finish() has been called. However it is
   divided, the result has the same bits. `seconds` as for isph_fluid_step(), else BAD_ARGUMENT. Beginning one looks at
   every velocity once. */
ISPHPBD_API isphpbd_result isph_fluid_substep_begin(isph_fluid *fluid, float seconds);
/* Works until stop(user) answers true, which is asked after every unit of work (some tens of microseconds of one core;
   callbacks of the coupler and solves with ISPH_LINEAR_BICGSTAB are one unit each), or to the end: true when the
   substep is done. NULL stop: to the end at once, which is faster on many threads. False, too, when none is pending or
   the fluid is locked. */
ISPHPBD_API bool isph_fluid_substep_continue(isph_fluid *fluid, bool (*stop)(void *user), void *user);
/* Ends the solves of the pending substep after the iteration under way (but not before the fourth): the residual may be
   above the tolerance, and ISPH_STEP_ITERATIONS_CAPPED says so. The bits then depend on when this was called. OK and
   without effect where none is pending. */
ISPHPBD_API isphpbd_result isph_fluid_substep_hurry(isph_fluid *fluid);
/* Forgets the pending substep, if there is one: the state is the one before it. Where the coupler's finish() has been
   called it is completed instead. */
ISPHPBD_API isphpbd_result isph_fluid_substep_abandon(isph_fluid *fluid);
/* Has a substep been begun that is neither done nor abandoned? */
ISPHPBD_API bool isph_fluid_substep_pending(const isph_fluid *fluid);
/* ISPH_STEP_* flags of the last step or substep; of a pending one those so far, 0 after one was abandoned. */
ISPHPBD_API uint32_t isph_fluid_flags(const isph_fluid *fluid);

typedef struct isph_stats {
    /* there are now */
    int particles, boundaries, triangles;
    int substeps;             /* of the last step */
    int pressure_iterations;  /* of the last substep, all its rounds (isph_coupler.again) */
    int density_iterations;   /* likewise */
    int viscosity_iterations; /* most in a substep of the last step; 0 when explicit was enough */
    float pressure_residual;  /* relative, where the last substep stopped */
    float density_residual;   /* likewise */
    float density_error_mean; /* mean of |density - 1| over particles with full support */
    float density_error_max;  /* largest compression max(density - 1) */
    float compression_mean;   /* mean of max(density - 1, 0) over all particles: what most solvers call density error */
    float max_speed;          /* m/s, of particles at the end of the last substep */
    float kinetic_energy;     /* J, of particles then */
    float neighbours_mean;    /* per particle, in the last substep */
    /* particles too close together to be solved for, in the last substep; particles put to rest in the last step */
    int crowded, quarantined;
    uint64_t total_pressure_iterations, total_density_iterations, total_substeps; /* since creation */
    size_t bytes; /* memory of the fluid, all of it taken at creation */
    /* user clock ticks of the last step, by stage */
    uint64_t ticks_total, ticks_neighbours, ticks_walls, ticks_viscosity, ticks_pressure, ticks_move;
} isph_stats;
/* Numbers that the last step has left; nothing is measured by the call. */
ISPHPBD_API isph_stats isph_fluid_stats(const isph_fluid *fluid);

/* 64-bit digest of everything that affects the future; equal for equal states on every platform. Linear in the
   particles. */
ISPHPBD_API uint64_t isph_fluid_hash(const isph_fluid *fluid);
/* Writes a snapshot to `bytes` when `capacity` is enough and `bytes` not NULL; always returns the size needed: 45 bytes
   per particle, 8 per id that ever was in use at the same time, 129 per boundary, a few hundred more. Resuming from it
   gives the same bits as going on, on any platform. Linear in particles. */
ISPHPBD_API size_t isph_fluid_save(const isph_fluid *fluid, void *bytes, size_t capacity);
/* Restores a snapshot of a fluid made from the same desc and with the same boundaries, made in the same order (their
   shapes are checked, not stored). What calls can change comes from the snapshot: gravity, budget with tolerance,
   whether the solver is enabled, materials, and of boundaries motion, mass and mask; triangle_capacity and the
   callbacks may differ. All else in the desc has to be the same, to the bit. BAD_SNAPSHOT for any other, or a damaged
   one; the logger says why. Linear in particles. */
ISPHPBD_API isphpbd_result isph_fluid_load(isph_fluid *fluid, const void *bytes, size_t size);

/* ==== [coupler] ======================================================================================================
   How another solver (cloth, soft and rigid bodies) meets the fluid. Its surfaces enter as walls per particle: they
   count in density, matrix, right side and forces exactly as the fluid's own boundaries do. All callbacks are called
   while a substep runs, on the thread that steps unless they say otherwise; any may be NULL. They may read the fluid;
   what would change it is LOCKED. Particles are named by their index in the arrays of this substep. */
typedef struct isph_wall { /* one with a number out of range is no wall */
    isphpbd_vec3 normal;   /* unit, from the wall to the particle */
    float distance;        /* m, of the particle from the wall; < 0: behind it */
    isphpbd_vec3 velocity; /* m/s, of the wall at the foot of the particle; less than 10^5 */
    float inverse_mass;    /* 1/kg, 0 .. 10^9: how the wall yields to an impulse along its normal there; 0: not */
    float friction;        /* as in isph_boundary_desc */
    float viscous_grip;    /* likewise */
    float missed;          /* 0 .. 1: share of the pressure that misses it, as beyond the edges of a box; 0: none */
    uint32_t tag;          /* yours, comes back with the impulse */
} isph_wall;

typedef struct isph_wall_impulse {
    int particle;          /* index of the particle that gave it */
    uint32_t tag;          /* of the wall */
    isphpbd_vec3 impulse;  /* N s, on the wall, of this substep; the fluid got the opposite */
    isphpbd_vec3 position; /* m, of the particle */
} isph_wall_impulse;

typedef struct isph_coupler {
    /* Substep begins: positions and velocities are sorted (x, y, z and a pad per particle), seconds is its length. */
    void (*begin)(void *user, const float *positions, const float *velocities, int count, float seconds);
    /* Walls of particle `index` nearer than `reach` (m): write at most `capacity` (6), return how many. Runs on the
       runner's threads for different particles at once. */
    int (*walls)(void *user, int index, isphpbd_vec3 position, float reach, isph_wall *out, int capacity);
    /* Thin surfaces part the fluid: begin() marks particles with 1 in guarded[index] (yours, as many bytes as there are
       particles), and for two neighbours that are both marked separated() says whether a surface is between them; they
       then know nothing of each other. Must answer the same for (i, j) and (j, i). Runs on the runner's threads. */
    const uint8_t *guarded;
    bool (*separated)(void *user, int i, int j);
    /* Inside every product of the pressure solve: impulse[i] (N s, along -normal, so towards the wall) acts on wall
       entry i; write into velocity_change[i] the change of the wall's velocity along -normal at entry i. Must be
       linear, symmetric and positive semi-definite; what is not finite counts as 0. NULL: each entry yields by its own
       inverse_mass. */
    void (*respond)(void *user, const float *impulse, float *velocity_change, int wall_count);
    /* Pressure and viscous impulses of this substep, by particle in ascending order, in one call or several. */
    void (*impulses)(void *user, const isph_wall_impulse *impulse, int count);
    /* After all of the above, with the arrays that finish() gets: true asks for another round. The fluid then goes back
       to its velocities at the beginning of the substep, asks walls() again (whose answers may differ in velocity
       only), and solves for the pressure anew, starting from the last one. What was written here, and impulses given
       before, do not count then. After 100 rounds the fluid goes on whatever the answer is. NULL: one round. */
    bool (*again)(void *user, const float *start, float *positions, float *velocities, int count, float seconds);
    /* Substep ends: positions and velocities (stride 4 floats) may be changed. `start` holds the positions at the
       beginning of the substep. Contacts are to be resolved here, as the fluid does it for its own walls; it does so
       for the coupler's, too, when there is neither finish() nor respond(). */
    void (*finish)(void *user, const float *start, float *positions, float *velocities, int count, float seconds);
    void *user; /* yours, handed to all of them */
} isph_coupler;
/* From the next substep on. The struct is copied; NULL removes the coupler. */
ISPHPBD_API isphpbd_result isph_fluid_set_coupler(isph_fluid *fluid, const isph_coupler *coupler);

/* The particles of this substep, for callbacks of the coupler; in the order of its indices. */
typedef struct isph_coupled {
    const uint32_t *id, *user;  /* as in isph_view */
    const uint8_t *material;    /* material number: handle id - 1 */
    const float *material_mass; /* kg, of one particle, by material number */
    const uint8_t *wall_count;  /* walls that it meets, the fluid's own and the coupler's; after walls() */
    int count;                  /* particles */
} isph_coupled;
/* Valid during the callback; means nothing outside of one. Nothing is copied. */
ISPHPBD_API isph_coupled isph_fluid_coupled(const isph_fluid *fluid);

#ifdef __cplusplus
}
#endif
#endif /* ISPH_INCLUDED */

/* ==== implementation ============================================================================================== */
#if defined(ISPHPBD_IMPLEMENTATION) || defined(ISPH_IMPLEMENTATION)
#ifndef ISPHX_IMPLEMENTED
#define ISPHX_IMPLEMENTED

#if defined(__GNUC__)
#define ISPHX_HOT static inline __attribute__((always_inline)) /* inner loops: a call would cost more than the work */
#else
#define ISPHX_HOT static inline
#endif

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

/* ==== [machine] ====================================================================================================
   Long work in small units, so that it can pause between any two of them. Work is posted as a job of `count` tasks and
   the piece of serial work that comes after it, which posts the next job. Run without a stop callback a job goes to
   the runner as a whole; with one it goes there a few tasks at a time. The tasks are the same, and so are the bits.
   Work that has an order, and that a job does not need, stands beside it: one thread does it, others do the job. */
enum { /* tasks of a job per unit: some tens of microseconds in all */
       ISPHX_HEAVY = 2,
       ISPHX_MEDIUM = 8,
       ISPHX_LIGHT = 32,
       ISPHX_TINY = 128
};

typedef struct isphx_beside {
    void (*task)(void *ctx, int index);
    void *ctx;
    int done, count, unit;
} isphx_beside;

typedef struct isphx_machine {
    const isphpbd_parallel *parallel;
    void (*task)(void *ctx, int index);
    void *task_ctx;
    int done, count, unit;
    bool ordered;            /* one task after the other, on the calling thread */
    bool sliced;             /* somebody asks for pauses */
    void (*then)(void *ctx); /* NULL: the job is the last */
    void *then_ctx;
    isphx_beside beside; /* one task after the other, done with the first job that is posted after it */
} isphx_machine;

static void isphx_post(isphx_machine *m, void (*task)(void *, int), void *ctx, int count, int unit) {
    m->task = task, m->task_ctx = ctx;
    m->done = 0, m->count = count, m->unit = unit;
    m->ordered = false;
}
static void isphx_post_ordered(isphx_machine *m, void (*task)(void *, int), void *ctx, int count, int unit) {
    isphx_post(m, task, ctx, count, unit);
    m->ordered = true;
}
static void isphx_then(isphx_machine *m, void (*then)(void *), void *ctx) { m->then = then, m->then_ctx = ctx; }

static void isphx_post_beside(isphx_machine *m, void (*task)(void *, int), void *ctx, int count, int unit) {
    m->beside.task = task, m->beside.ctx = ctx;
    m->beside.done = 0, m->beside.count = count, m->beside.unit = unit;
}

static bool isphx_busy(const isphx_machine *m) { return m->done < m->count || m->then; }

static void isphx_slice_task(void *ctx, int index) {
    const isphx_machine *m = (const isphx_machine *)ctx;
    m->task(m->task_ctx, m->done + index);
}

static void isphx_run_beside(isphx_machine *m, int count) {
    isphx_beside *b = &m->beside;
    for (; count > 0 && b->done < b->count; --count) b->task(b->ctx, b->done++);
}
/* Called by a task beside a job: there is no need for those after it. */
static void isphx_end_beside(isphx_machine *m) { m->beside.count = m->beside.done; }

/* The first task is what stands beside the job. */
static void isphx_both_task(void *ctx, int index) {
    isphx_machine *m = (isphx_machine *)ctx;
    if (index == 0) isphx_run_beside(m, m->beside.count);
    else m->task(m->task_ctx, m->done + index - 1);
}

static void isphx_run_tasks(isphx_machine *m, int count) {
    int i;
    if (m->ordered) {
        for (i = 0; i < count; ++i) m->task(m->task_ctx, m->done + i);
    } else if (count == m->count) {
        isphpbdx_run(m->parallel, m->task, m->task_ctx, count);
    } else {
        isphpbdx_run(m->parallel, isphx_slice_task, m, count);
    }
    m->done += count;
}

/* One unit of work. */
static void isphx_run_unit(isphx_machine *m) {
    const int left = m->count - m->done;
    void (*then)(void *ctx) = m->then;
    if (left > 0 && m->beside.done < m->beside.count) {
        if (m->sliced || m->ordered) {
            isphx_run_beside(m, m->sliced ? m->beside.unit : m->beside.count);
            return;
        }
        isphpbdx_run(m->parallel, isphx_both_task, m, left + 1);
        m->done += left;
        return;
    }
    if (left > 0) {
        isphx_run_tasks(m, m->sliced ? isphpbdx_mini(left, m->unit) : left);
        return;
    }
    m->then = NULL;
    then(m->then_ctx);
}

/* Runs until stop() (may be NULL) answers true or everything is done; false where it was stopped, even at the end. */
static bool isphx_run_until(isphx_machine *m, bool (*stop)(void *user), void *user) {
    m->sliced = stop != NULL;
    while (isphx_busy(m)) {
        isphx_run_unit(m);
        if (stop && stop(user)) return false;
    }
    return true;
}

/* ==== [kernels] implementation ======================================================================================
   In: distance, support. Out: value and slope. Written over t = 1 - r/H so that the fluid's inner loops need no
   branch. */
#define ISPHX_PI 3.14159265358979323846f

ISPHPBD_API float isph_kernel_smoothing_length(isph_kernel kernel, float support) {
    return kernel == ISPH_KERNEL_QUARTIC_SPLINE ? support / 2.5f : support / 2.0f;
}

static float isphx_pow3(float v) { return v * v * v; }
static float isphx_pow4(float v) { return v * v * v * v; }
static float isphx_positive(float v) { return v > 0.0f ? v : 0.0f; }

ISPHPBD_API float isph_kernel_value(isph_kernel kernel, float r, float support) {
    const float h = isph_kernel_smoothing_length(kernel, support);
    const float q = r / h;
    if (!(r < support)) return 0.0f;
    if (kernel == ISPH_KERNEL_CUBIC_SPLINE) {
        return (isphx_pow3(2.0f - q) - 4.0f * isphx_pow3(isphx_positive(1.0f - q))) / (4.0f * ISPHX_PI * isphx_pow3(h));
    }
    if (kernel == ISPH_KERNEL_QUARTIC_SPLINE) {
        return (isphx_pow4(2.5f - q) - 5.0f * isphx_pow4(isphx_positive(1.5f - q)) +
                10.0f * isphx_pow4(isphx_positive(0.5f - q))) /
               (20.0f * ISPHX_PI * isphx_pow3(h));
    }
    return 21.0f / (16.0f * ISPHX_PI * isphx_pow3(h)) * isphx_pow4(1.0f - 0.5f * q) * (2.0f * q + 1.0f);
}

/* Slopes of the splines over q = r/h, divided by q; their value at 0 is the limit, written out. */
static float isphx_cubic_slope(float q) {
    if (q < 1.0f) return -12.0f + 9.0f * q;
    return -3.0f * (2.0f - q) * (2.0f - q) / q;
}
static float isphx_quartic_slope(float q) {
    const float a = isphx_pow3(2.5f - q), b = isphx_pow3(isphx_positive(1.5f - q));
    if (q < 0.5f) return -30.0f + 24.0f * q * q; /* the three cubes, multiplied out and divided by q */
    return -4.0f * (a - 5.0f * b) / q;
}

ISPHPBD_API float isph_kernel_slope(isph_kernel kernel, float r, float support) {
    const float h = isph_kernel_smoothing_length(kernel, support);
    const float q = r / h, h5 = h * h * h * h * h;
    if (!(r < support)) return 0.0f;
    if (kernel == ISPH_KERNEL_CUBIC_SPLINE) return isphx_cubic_slope(q) / (4.0f * ISPHX_PI * h5);
    if (kernel == ISPH_KERNEL_QUARTIC_SPLINE) return isphx_quartic_slope(q) / (20.0f * ISPHX_PI * h5);
    return -105.0f / (16.0f * ISPHX_PI * h5) * isphx_pow3(1.0f - 0.5f * q);
}

/* ==== [grid] implementation =========================================================================================
   Cells of (H/4, H, H): points are counting-sorted by cell, so that the neighbours of a point lie in nine contiguous
   runs. Coordinates wrap round a table of bounded size: distant points may share a cell, which costs a rejected
   candidate and never a wrong answer. Cost linear in points (Abu Rumman et al., section 7). */
#define ISPHX_CELLS_PER_RADIUS 4
#define ISPHX_MIN_DIM_FAST     16        /* > 2 * 4 + 1 cells, so that a wrapped run never meets itself */
#define ISPHX_MIN_DIM_SLOW     4         /* > 3 cells */
#define ISPHX_FAR              262144.0f /* 2^18: coordinates beyond this many radii have lost the digits that matter */

typedef struct isphx_cells {
    float radius;
    int axis[3];              /* which coordinate is fastest, middle, slowest: the longest extent is slowest */
    double lo[3], inverse[3]; /* per sorted axis: origin in m, cells per m */
    double extent[3];         /* m */
    int dim[3];               /* cells of the table per sorted axis */
    bool wraps[3];
    int table_capacity, capacity, count;
    bool crowded; /* some cell holds more than crowd_limit points: those cells take no part in searches */
    int crowd_limit;
    int fullest;      /* points in the fullest cell */
    int *start;       /* table_capacity + 1: first sorted point of every cell */
    int *cell;        /* capacity: cell of every sorted point */
    int *order;       /* capacity: sorted position -> index before the sort */
    float *x, *y, *z; /* capacity + 8: sorted coordinates, one array each for the vector search */
} isphx_cells;

typedef struct isphx_run {
    int begin, end;
} isphx_run;
#define ISPHX_MAX_RUNS 96 /* nine rows of nine cells and one wrap, when every cell has to be looked at by itself */

static int isphx_table_capacity(int points) { return 2 * points + 4096; }

static void isphx_cells_layout(isphx_cells *cells, isphpbdx_layout *layout, int capacity) {
    const size_t n = (size_t)capacity;
    cells->capacity = capacity;
    cells->table_capacity = isphx_table_capacity(capacity);
    cells->start = (int *)isphpbdx_take(layout, (size_t)cells->table_capacity + 1, sizeof(int));
    cells->cell = (int *)isphpbdx_take(layout, n, sizeof(int));
    cells->order = (int *)isphpbdx_take(layout, n, sizeof(int));
    cells->x = (float *)isphpbdx_take(layout, n + 8, sizeof(float));
    cells->y = (float *)isphpbdx_take(layout, n + 8, sizeof(float));
    cells->z = (float *)isphpbdx_take(layout, n + 8, sizeof(float));
}

/* Floats are read where they are: a stride has to keep them aligned. */
static bool isphx_stride_ok(size_t stride_bytes) {
    return stride_bytes >= 3 * sizeof(float) && stride_bytes % sizeof(float) == 0;
}

static const float *isphx_at(const float *base, size_t stride_bytes, int index) {
    return (const float *)(const void *)((const unsigned char *)base + stride_bytes * (size_t)index);
}

/* Halves the longest dimension until the table fits; whatever was halved wraps. */
static void isphx_cells_fit(isphx_cells *cells) {
    for (;;) {
        int longest = -1, k;
        int64_t total = (int64_t)cells->dim[0] * cells->dim[1] * cells->dim[2];
        if (total <= cells->table_capacity) return;
        for (k = 0; k < 3; ++k) {
            const int least = k == 0 ? ISPHX_MIN_DIM_FAST : ISPHX_MIN_DIM_SLOW;
            if (cells->dim[k] <= least) continue;
            if (longest < 0 || cells->dim[k] > cells->dim[longest]) longest = k;
        }
        if (longest < 0) return; /* 16 x 4 x 4 always fits */
        cells->dim[longest] =
            isphpbdx_maxi((cells->dim[longest] + 1) / 2, longest == 0 ? ISPHX_MIN_DIM_FAST : ISPHX_MIN_DIM_SLOW);
        cells->wraps[longest] = true;
    }
}

/* Chooses axes and dimensions for points inside lo .. hi. */
static void isphx_cells_frame(isphx_cells *cells, float radius, const float lo[3], const float hi[3]) {
    double extent[3];
    int k;
    for (k = 0; k < 3; ++k) extent[k] = (double)hi[k] - (double)lo[k], cells->axis[k] = k;
    for (k = 0; k < 3; ++k) { /* three numbers: bubble sort, ascending */
        const int j = k % 2;
        if (extent[cells->axis[j]] > extent[cells->axis[j + 1]]) {
            const int swap = cells->axis[j];
            cells->axis[j] = cells->axis[j + 1], cells->axis[j + 1] = swap;
        }
    }
    cells->radius = radius;
    for (k = 0; k < 3; ++k) {
        const double size = (double)radius * 1.00001 / (k == 0 ? ISPHX_CELLS_PER_RADIUS : 1);
        cells->lo[k] = (double)lo[cells->axis[k]];
        cells->extent[k] = extent[cells->axis[k]];
        cells->inverse[k] = 1.0 / size;
        cells->dim[k] = (int)(extent[cells->axis[k]] * cells->inverse[k]) + 1;
        cells->wraps[k] = false;
    }
    isphx_cells_fit(cells);
}

static int isphx_cell_coordinate(const isphx_cells *cells, int k, float value) {
    const double c = ((double)value - cells->lo[k]) * cells->inverse[k];
    return (int)(c < 0.0 ? c - 1.0 : c); /* floor; queries may lie outside the points' box */
}
static int isphx_wrap(int c, int dim) {
    c %= dim;
    return c < 0 ? c + dim : c;
}
static int isphx_cell_of(const isphx_cells *cells, const float p[3]) {
    int c[3], k;
    for (k = 0; k < 3; ++k) {
        c[k] = isphx_cell_coordinate(cells, k, p[cells->axis[k]]);
        if (cells->wraps[k]) c[k] = isphx_wrap(c[k], cells->dim[k]);
    }
    return (c[2] * cells->dim[1] + c[1]) * cells->dim[0] + c[0];
}

#define ISPHX_POINTS 1024 /* points per task */

typedef struct isphx_cells_job { /* points being sorted */
    isphx_cells *cells;
    isphx_machine *machine;
    const float *xyz;
    size_t stride;
    int count, tasks;
    int *cell; /* of every point, in the order given */
    int sum;   /* points in the cells counted so far */
} isphx_cells_job;

static void isphx_job_range(const isphx_cells_job *job, int task, int *begin, int *end) {
    *begin = task * ISPHX_POINTS;
    *end = isphpbdx_mini(*begin + ISPHX_POINTS, job->count);
}

/* Bounds of the points of a task: lowest and highest x, y, z, left in cells->x until the points themselves go there. */
static void isphx_cells_bounds_task(void *ctx, int task) {
    const isphx_cells_job *job = (const isphx_cells_job *)ctx;
    float *out = job->cells->x + 6 * task, lo[3], hi[3];
    int i, end, k;
    isphx_job_range(job, task, &i, &end);
    for (k = 0; k < 3; ++k) lo[k] = hi[k] = isphx_at(job->xyz, job->stride, i)[k];
    for (; i < end; ++i) {
        const float *p = isphx_at(job->xyz, job->stride, i);
        for (k = 0; k < 3; ++k) {
            lo[k] = p[k] < lo[k] ? p[k] : lo[k];
            hi[k] = p[k] > hi[k] ? p[k] : hi[k];
        }
    }
    memcpy(out, lo, sizeof lo), memcpy(out + 3, hi, sizeof hi);
}

static void isphx_cells_locate_task(void *ctx, int task) {
    const isphx_cells_job *job = (const isphx_cells_job *)ctx;
    int i, end;
    isphx_job_range(job, task, &i, &end);
    for (; i < end; ++i) job->cell[i] = isphx_cell_of(job->cells, isphx_at(job->xyz, job->stride, i));
}

/* Copies the points to their places. */
static void isphx_cells_place_task(void *ctx, int task) {
    const isphx_cells_job *job = (const isphx_cells_job *)ctx;
    isphx_cells *cells = job->cells;
    int slot, end;
    isphx_job_range(job, task, &slot, &end);
    for (; slot < end; ++slot) {
        const float *p = isphx_at(job->xyz, job->stride, cells->order[slot]);
        cells->cell[slot] = job->cell[cells->order[slot]];
        cells->x[slot] = p[0], cells->y[slot] = p[1], cells->z[slot] = p[2];
    }
}

/* The stable counting sort: points per cell, where every cell ends, and the points from the last to the first, so that
   ends become starts. */
static void isphx_cells_count_task(void *ctx, int task) {
    const isphx_cells_job *job = (const isphx_cells_job *)ctx;
    int i, end;
    isphx_job_range(job, task, &i, &end);
    for (; i < end; ++i) job->cells->start[job->cell[i]]++;
}

static int isphx_cells_total(const isphx_cells *cells) { return cells->dim[0] * cells->dim[1] * cells->dim[2]; }

static void isphx_cells_sum_task(void *ctx, int task) {
    isphx_cells_job *job = (isphx_cells_job *)ctx;
    isphx_cells *cells = job->cells;
    const int end = isphpbdx_mini((task + 1) * ISPHX_POINTS, isphx_cells_total(cells));
    int i, sum = job->sum, fullest = cells->fullest;
    for (i = task * ISPHX_POINTS; i < end; ++i) {
        fullest = isphpbdx_maxi(fullest, cells->start[i]);
        sum += cells->start[i];
        cells->start[i] = sum;
    }
    job->sum = sum, cells->fullest = fullest;
}

static void isphx_cells_order_task(void *ctx, int task) {
    const isphx_cells_job *job = (const isphx_cells_job *)ctx;
    isphx_cells *cells = job->cells;
    int begin, i;
    isphx_job_range(job, job->tasks - 1 - task, &begin, &i);
    while (--i >= begin) cells->order[--cells->start[job->cell[i]]] = i;
}

static void isphx_cells_place(void *ctx) {
    isphx_cells_job *job = (isphx_cells_job *)ctx;
    isphx_cells *cells = job->cells;
    int i;
    for (i = job->count; i < job->count + 8; ++i)
        cells->x[i] = cells->y[i] = cells->z[i] = 0.0f; /* vector loads may look past the end */
    isphx_post(job->machine, isphx_cells_place_task, job, job->tasks, ISPHX_MEDIUM);
}

static void isphx_cells_order(void *ctx) {
    isphx_cells_job *job = (isphx_cells_job *)ctx;
    job->cells->start[isphx_cells_total(job->cells)] = job->sum;
    isphx_post_ordered(job->machine, isphx_cells_order_task, job, job->tasks, ISPHX_MEDIUM);
    isphx_then(job->machine, isphx_cells_place, job);
}

static void isphx_cells_sum(void *ctx) {
    isphx_cells_job *job = (isphx_cells_job *)ctx;
    const int tasks = (isphx_cells_total(job->cells) + ISPHX_POINTS - 1) / ISPHX_POINTS;
    job->sum = job->cells->fullest = 0;
    isphx_post_ordered(job->machine, isphx_cells_sum_task, job, tasks, ISPHX_LIGHT);
    isphx_then(job->machine, isphx_cells_order, job);
}

static void isphx_cells_count(void *ctx) {
    isphx_cells_job *job = (isphx_cells_job *)ctx;
    memset(job->cells->start, 0, ((size_t)isphx_cells_total(job->cells) + 1) * sizeof(int));
    isphx_post_ordered(job->machine, isphx_cells_count_task, job, job->tasks, ISPHX_MEDIUM);
    isphx_then(job->machine, isphx_cells_sum, job);
}

static void isphx_cells_locate(void *ctx) {
    isphx_cells_job *job = (isphx_cells_job *)ctx;
    float lo[3] = {0.0f, 0.0f, 0.0f}, hi[3] = {0.0f, 0.0f, 0.0f};
    int i, k;
    for (i = 0; i < job->tasks; ++i) {
        const float *part = job->cells->x + 6 * i;
        for (k = 0; k < 3; ++k) {
            lo[k] = i == 0 || part[k] < lo[k] ? part[k] : lo[k];
            hi[k] = i == 0 || part[3 + k] > hi[k] ? part[3 + k] : hi[k];
        }
    }
    isphx_cells_frame(job->cells, job->cells->radius, lo, hi);
    isphx_post(job->machine, isphx_cells_locate_task, job, job->tasks, ISPHX_MEDIUM);
    isphx_then(job->machine, isphx_cells_count, job);
}

/* Posts the indexing of the points of a job, whose first members the caller has set. */
static void isphx_cells_build(isphx_cells_job *job, float radius) {
    job->tasks = (job->count + ISPHX_POINTS - 1) / ISPHX_POINTS;
    job->cells->radius = radius;
    job->cells->count = job->count;
    isphx_post(job->machine, isphx_cells_bounds_task, job, job->tasks, ISPHX_LIGHT);
    isphx_then(job->machine, isphx_cells_locate, job);
}

static int isphx_cell_points(const isphx_cells *cells, int cell) { return cells->start[cell + 1] - cells->start[cell]; }

/* Cells first .. last of a row as runs; crowded cells (more than crowd_limit points) are left out. */
static int isphx_cells_span(const isphx_cells *cells, int first, int last, isphx_run *runs) {
    int n = 0, c;
    if (!cells->crowded) {
        runs[0].begin = cells->start[first], runs[0].end = cells->start[last + 1];
        return runs[0].begin < runs[0].end;
    }
    for (c = first; c <= last; ++c) {
        if (isphx_cell_points(cells, c) > cells->crowd_limit || isphx_cell_points(cells, c) == 0) continue;
        if (n > 0 && runs[n - 1].end == cells->start[c]) runs[n - 1].end = cells->start[c + 1];
        else runs[n].begin = cells->start[c], runs[n++].end = cells->start[c + 1];
    }
    return n;
}

/* The runs of sorted points in one row of cells, fast coordinate c0 - 4 .. c0 + more + 4. */
static int isphx_cells_row(const isphx_cells *cells, int c0, int more, int row, isphx_run *runs) {
    const int dim = cells->dim[0], origin = row * dim;
    int first = c0 - ISPHX_CELLS_PER_RADIUS, last = c0 + more + ISPHX_CELLS_PER_RADIUS, n = 0;
    if (cells->wraps[0]) {
        first = isphx_wrap(first, dim), last = isphx_wrap(last, dim);
        if (first > last) {
            n = isphx_cells_span(cells, origin, origin + last, runs);
            last = dim - 1;
        }
    } else {
        first = isphpbdx_maxi(first, 0), last = isphpbdx_mini(last, dim - 1);
        if (first > last) return 0;
    }
    return n + isphx_cells_span(cells, origin + first, origin + last, runs + n);
}

/* All runs that can hold neighbours of points with cell coordinates c (unwrapped or wrapped alike), and in the `more`
   cells after that. */
static int isphx_cells_runs(const isphx_cells *cells, const int c[3], int more, isphx_run runs[ISPHX_MAX_RUNS]) {
    int n = 0, d1, d2;
    for (d2 = -1; d2 <= 1; ++d2) {
        int c2 = c[2] + d2;
        if (cells->wraps[2]) c2 = isphx_wrap(c2, cells->dim[2]);
        else if (c2 < 0 || c2 >= cells->dim[2]) continue;
        for (d1 = -1; d1 <= 1; ++d1) {
            int c1 = c[1] + d1;
            if (cells->wraps[1]) c1 = isphx_wrap(c1, cells->dim[1]);
            else if (c1 < 0 || c1 >= cells->dim[1]) continue;
            n += isphx_cells_row(cells, c[0], more, c2 * cells->dim[1] + c1, runs + n);
        }
    }
    return n;
}

static void isphx_cell_unpack(const isphx_cells *cells, int cell, int c[3]) {
    c[0] = cell % cells->dim[0];
    c[1] = cell / cells->dim[0] % cells->dim[1];
    c[2] = cell / cells->dim[0] / cells->dim[1];
}

/* Appends to out (from *n on) the sorted points of one run nearer than the radius; out has room for 4 more than limit.
   Stops at limit. The vector and the plain version give the same list in the same order. */
#ifdef ISPHPBDX_SSE2
/* offsets of the set bits of a 4-bit mask, then their number */
static const int32_t isphx_mask_offsets[16][4] = {
    {0, 0, 0, 0}, {0, 0, 0, 0}, {1, 0, 0, 0}, {0, 1, 0, 0}, {2, 0, 0, 0}, {0, 2, 0, 0}, {1, 2, 0, 0}, {0, 1, 2, 0},
    {3, 0, 0, 0}, {0, 3, 0, 0}, {1, 3, 0, 0}, {0, 1, 3, 0}, {2, 3, 0, 0}, {0, 2, 3, 0}, {1, 2, 3, 0}, {0, 1, 2, 3}};
static const uint8_t isphx_mask_count[16] = {0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4};

/* Those of i .. i + 3 whose bits are set; writes four in any case. */
ISPHX_HOT void isphx_append(int *out, int i, unsigned mask) {
    const __m128i offsets = _mm_loadu_si128((const __m128i *)(const void *)isphx_mask_offsets[mask]);
    _mm_storeu_si128((__m128i *)(void *)out, _mm_add_epi32(_mm_set1_epi32(i), offsets));
}

static int isphx_run_search(const isphx_cells *cells, isphx_run run, const float p[3], int *out, int n, int limit) {
    const __m128 px = _mm_set1_ps(p[0]), py = _mm_set1_ps(p[1]), pz = _mm_set1_ps(p[2]);
    const __m128 reach = _mm_set1_ps(cells->radius * cells->radius);
    int i;
    for (i = run.begin; i < run.end && n < limit; i += 4) {
        const __m128 dx = _mm_sub_ps(px, _mm_loadu_ps(cells->x + i));
        const __m128 dy = _mm_sub_ps(py, _mm_loadu_ps(cells->y + i));
        const __m128 dz = _mm_sub_ps(pz, _mm_loadu_ps(cells->z + i));
        const __m128 r2 = _mm_add_ps(_mm_add_ps(_mm_mul_ps(dx, dx), _mm_mul_ps(dy, dy)), _mm_mul_ps(dz, dz));
        int mask = _mm_movemask_ps(_mm_cmplt_ps(r2, reach));
        const int left = run.end - i;
        if (left < 4) mask &= (1 << left) - 1;
        isphx_append(out + n, i, (unsigned)mask);
        n += isphx_mask_count[mask];
    }
    return isphpbdx_mini(n, limit);
}
#else
static int isphx_run_search(const isphx_cells *cells, isphx_run run, const float p[3], int *out, int n, int limit) {
    const float reach = cells->radius * cells->radius;
    int i;
    for (i = run.begin; i < run.end && n < limit; ++i) {
        const float dx = p[0] - cells->x[i], dy = p[1] - cells->y[i], dz = p[2] - cells->z[i];
        const float r2 = dx * dx + dy * dy + dz * dz;
        out[n] = i;
        n += r2 < reach;
    }
    return n;
}
#endif

struct isph_grid {
    isph_grid_desc desc;
    isphx_cells cells;
    int *scratch;  /* capacity */
    int *position; /* capacity: index given by the user -> sorted position */
    size_t bytes;
};

#define ISPHX_COOKIE_GRID 0x69737067u
#define ISPHX_MAX_POINTS  (1 << 26)

ISPHPBD_API isph_grid_desc isph_grid_desc_default(void) {
    isph_grid_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.capacity = 32768;
    desc.radius = 0.1f;
    desc.cookie = ISPHX_COOKIE_GRID;
    return desc;
}

/* Both functions, or neither and malloc is there. */
static bool isphx_allocator_ok(isphpbd_allocator allocator) { return isphpbdx_allocator_ready(&allocator); }

static bool isphx_grid_desc_ok(const isph_grid_desc *desc) {
    return desc && desc->cookie == ISPHX_COOKIE_GRID && desc->capacity >= 1 && desc->capacity <= ISPHX_MAX_POINTS &&
           isphpbdx_finite(desc->radius) && desc->radius > 0.0f && isphx_allocator_ok(desc->allocator);
}

static isph_grid *isphx_grid_layout(isphpbdx_layout *layout, int capacity) {
    isph_grid measured, *grid = (isph_grid *)isphpbdx_take(layout, 1, sizeof(isph_grid));
    /* cppcheck-suppress uninitvar ; only its address counts: the layout writes every pointer */
    isph_grid *target = grid ? grid : &measured;
    memset(target, 0, sizeof *target);
    isphx_cells_layout(&target->cells, layout, capacity);
    target->scratch = (int *)isphpbdx_take(layout, (size_t)capacity, sizeof(int));
    target->position = (int *)isphpbdx_take(layout, (size_t)capacity, sizeof(int));
    return grid;
}

ISPHPBD_API size_t isph_grid_bytes(const isph_grid_desc *desc) {
    isphpbdx_layout layout = {NULL, 0, false};
    if (!isphx_grid_desc_ok(desc)) return 0;
    isphx_grid_layout(&layout, desc->capacity);
    return layout.overflow ? 0 : layout.used;
}

static void isphx_why(isphpbd_result *why, isphpbd_result result) {
    if (why) *why = result;
}

/* Logs and hands the result through, so that every refusal is one line. */
static isphpbd_result isphx_refuse(const isphpbd_logger *logger, isphpbd_result code, const char *text) {
    isphpbdx_log(logger, ISPHPBD_LOG_ERROR, code, text);
    return code;
}

/* The one allocation of an object: `bytes` of it, or 0 for a bad desc. `wanted` is the user's allocator, `got` the one
   in use from now on. False and a reason when there is none. */
static bool isphx_allocate(const isphpbd_allocator *wanted, size_t bytes, isphpbd_allocator *got,
                           isphpbdx_layout *layout, isphpbd_result *why) {
    isphx_why(why, ISPHPBD_BAD_DESC);
    if (bytes == 0 || !wanted) return false;
    *got = *wanted;
    if (!isphpbdx_allocator_ready(got)) return false;
    layout->base = (unsigned char *)isphpbdx_allocate(got, bytes);
    isphx_why(why, layout->base ? ISPHPBD_OK : ISPHPBD_OUT_OF_MEMORY);
    return layout->base != NULL;
}

ISPHPBD_API isph_grid *isph_grid_create(const isph_grid_desc *desc, isphpbd_result *why) {
    isphpbdx_layout layout = {NULL, 0, false};
    isphpbd_allocator allocator;
    isph_grid *grid;
    const size_t bytes = isph_grid_bytes(desc);
    if (!isphx_allocate(desc ? &desc->allocator : NULL, bytes, &allocator, &layout, why)) return NULL;
    grid = isphx_grid_layout(&layout, desc->capacity);
    grid->desc = *desc;
    grid->desc.allocator = allocator;
    grid->bytes = bytes;
    return grid;
}

ISPHPBD_API void isph_grid_destroy(isph_grid *grid) {
    if (grid) grid->desc.allocator.free(grid, grid->bytes, grid->desc.allocator.user);
}

/* Finite and within 2^18 lengths of the origin. */
static bool isphx_points_ok(const float *xyz, size_t stride, int count, float length) {
    const float limit = ISPHX_FAR * length;
    int i, k;
    for (i = 0; i < count; ++i) {
        const float *p = isphx_at(xyz, stride, i);
        for (k = 0; k < 3; ++k) {
            if (!isphpbdx_finite(p[k]) || isphpbdx_abs(p[k]) > limit) return false;
        }
    }
    return true;
}

ISPHPBD_API isphpbd_result isph_grid_build(isph_grid *grid, const float *xyz, size_t stride_bytes, int count) {
    isphx_machine machine;
    isphx_cells_job job;
    int i;
    if (!grid || count < 0 || (count > 0 && !xyz) || !isphx_stride_ok(stride_bytes)) return ISPHPBD_BAD_ARGUMENT;
    if (count > grid->desc.capacity) return ISPHPBD_CAPACITY;
    if (!isphx_points_ok(xyz, stride_bytes, count, grid->desc.radius)) return ISPHPBD_BAD_ARGUMENT;
    memset(&machine, 0, sizeof machine);
    machine.parallel = &grid->desc.parallel;
    job.cells = &grid->cells, job.machine = &machine, job.cell = grid->scratch;
    job.xyz = xyz, job.stride = stride_bytes, job.count = count;
    isphx_cells_build(&job, grid->desc.radius);
    (void)isphx_run_until(&machine, NULL, NULL);
    for (i = 0; i < count; ++i) grid->position[grid->cells.order[i]] = i;
    return ISPHPBD_OK;
}

/* Counts all neighbours in pieces of 64, writes what fits, leaves out the sorted point `self` (-1: none). */
static int isphx_grid_collect(const isph_grid *grid, const float p[3], int self, int *out, int out_capacity) {
    isphx_run runs[ISPHX_MAX_RUNS];
    int c[3], found[64 + 4], total = 0, k, r, i, run_count;
    if (grid->cells.count == 0) return 0;
    for (k = 0; k < 3; ++k) {
        const double reach = ((double)p[grid->cells.axis[k]] - grid->cells.lo[k]) * grid->cells.inverse[k];
        if (!(reach > -1e9 && reach < 1e9)) return 0;
        c[k] = isphx_cell_coordinate(&grid->cells, k, p[grid->cells.axis[k]]);
    }
    run_count = isphx_cells_runs(&grid->cells, c, 0, runs);
    for (r = 0; r < run_count; ++r) {
        isphx_run piece;
        for (piece.begin = runs[r].begin; piece.begin < runs[r].end; piece.begin = piece.end) {
            int n;
            piece.end = isphpbdx_mini(piece.begin + 64, runs[r].end);
            n = isphx_run_search(&grid->cells, piece, p, found, 0, 64);
            for (i = 0; i < n; ++i) {
                if (found[i] == self) continue;
                if (total < out_capacity) out[total] = grid->cells.order[found[i]];
                ++total;
            }
        }
    }
    return total;
}

ISPHPBD_API int isph_grid_query(const isph_grid *grid, isphpbd_vec3 point, int *out, int out_capacity) {
    float p[3];
    if (!grid || !isphpbdx_finite3(point) || (!out && out_capacity > 0)) return 0;
    p[0] = point.x, p[1] = point.y, p[2] = point.z;
    return isphx_grid_collect(grid, p, -1, out, out_capacity);
}

ISPHPBD_API int isph_grid_neighbours(const isph_grid *grid, int index, int *out, int out_capacity) {
    float p[3];
    int s;
    if (!grid || index < 0 || index >= grid->cells.count || (!out && out_capacity > 0)) return 0;
    s = grid->position[index];
    p[0] = grid->cells.x[s], p[1] = grid->cells.y[s], p[2] = grid->cells.z[s];
    return isphx_grid_collect(grid, p, s, out, out_capacity);
}

/* ==== [sparse] implementation =======================================================================================
   Off-diagonal entries w with A x = D x - sum w x, eight rows interleaved (SELL-8): entry j of row r of a chunk stands
   at offset + 8 j + r. Columns are stored as distances from the chunk's lowest column, 16 bits where they fit. Every
   row is summed in the order of its entries, so vector and plain versions agree to the last bit. */
#define ISPHX_LANES       8
#define ISPHX_BLOCK       128 /* rows per task, fixed: reductions do not depend on threads */
#ifndef ISPHX_NARROW_ROWS     /* a test has a smaller one */
#define ISPHX_NARROW_ROWS 65536
#endif

typedef struct isphx_sell {
    int rows, row_capacity, entry_capacity;
    int index_bytes; /* from entry to entry, 2 or 4; a chunk uses 2 where its columns span less than 65536 */
    int *offset;     /* per chunk: its first entry */
    int *length;     /* per chunk: entries per row, padded with zeros to the longest row */
    int *base;       /* per chunk: lowest column; ~base marks 32-bit columns */
    unsigned char *index;
    float *value;
} isphx_sell;

static int isphx_chunks(int rows) { return (rows + ISPHX_LANES - 1) / ISPHX_LANES; }
static int isphx_blocks(int rows) { return (rows + ISPHX_BLOCK - 1) / ISPHX_BLOCK; }
static int isphx_padded(int rows) { return isphx_chunks(rows) * ISPHX_LANES; }

static void isphx_sell_layout(isphx_sell *sell, isphpbdx_layout *layout, int rows, int entries) {
    const size_t chunks = (size_t)isphx_chunks(rows) + 1;
    sell->row_capacity = rows;
    sell->entry_capacity = entries;
    sell->index_bytes = rows <= ISPHX_NARROW_ROWS ? 2 : 4;
    sell->offset = (int *)isphpbdx_take(layout, chunks, sizeof(int));
    sell->length = (int *)isphpbdx_take(layout, chunks, sizeof(int));
    sell->base = (int *)isphpbdx_take(layout, chunks, sizeof(int));
    sell->index = (unsigned char *)isphpbdx_take(layout, (size_t)entries, (size_t)sell->index_bytes);
    sell->value = (float *)isphpbdx_take(layout, (size_t)entries, sizeof(float));
}

static bool isphx_chunk_is_wide(const isphx_sell *sell, int chunk) { return sell->base[chunk] < 0; }
static int isphx_chunk_base(const isphx_sell *sell, int chunk) {
    return isphx_chunk_is_wide(sell, chunk) ? ~sell->base[chunk] : sell->base[chunk];
}
static unsigned char *isphx_chunk_index(const isphx_sell *sell, int chunk) {
    return sell->index + (size_t)sell->offset[chunk] * (size_t)sell->index_bytes;
}
/* Column of entry e (8 j + row) of a chunk. */
static int isphx_column(const isphx_sell *sell, int chunk, int e) {
    const unsigned char *index = isphx_chunk_index(sell, chunk);
    if (isphx_chunk_is_wide(sell, chunk))
        return isphx_chunk_base(sell, chunk) + (int)((const uint32_t *)(const void *)index)[e];
    return sell->base[chunk] + (int)((const uint16_t *)(const void *)index)[e];
}

/* ---- pairs: two right sides share one pass over the matrix, which is what the memory has to deliver ---- */
#ifdef ISPHPBDX_SSE2
ISPHX_HOT isphpbdx_f4 isphx_pairs(const float *a, const float *b) {
    /* through the vector types, which may alias floats: a double may not */
    return _mm_loadh_pi(_mm_castsi128_ps(_mm_loadl_epi64((const __m128i *)(const void *)a)),
                        (const __m64 *)(const void *)b);
}
ISPHX_HOT isphpbdx_f4 isphx_twice_low(isphpbdx_f4 v) { return _mm_unpacklo_ps(v, v); }  /* v0 v0 v1 v1 */
ISPHX_HOT isphpbdx_f4 isphx_twice_high(isphpbdx_f4 v) { return _mm_unpackhi_ps(v, v); } /* v2 v2 v3 v3 */
#else
ISPHX_HOT isphpbdx_f4 isphx_pairs(const float *a, const float *b) { return isphpbdx_f4_set(a[0], a[1], b[0], b[1]); }
ISPHX_HOT isphpbdx_f4 isphx_twice_low(isphpbdx_f4 v) { return isphpbdx_f4_set(v.v[0], v.v[0], v.v[1], v.v[1]); }
ISPHX_HOT isphpbdx_f4 isphx_twice_high(isphpbdx_f4 v) { return isphpbdx_f4_set(v.v[2], v.v[2], v.v[3], v.v[3]); }
#endif
ISPHX_HOT isphpbdx_f4 isphx_madd4(isphpbdx_f4 sum, isphpbdx_f4 a, isphpbdx_f4 b) {
    return isphpbdx_f4_add(sum, isphpbdx_f4_mul(a, b));
}
/* Component k of all four in v[k], instead of all components of the k-th. */
#ifdef ISPHPBDX_SSE2
ISPHX_HOT void isphx_transpose(isphpbdx_f4 v[4]) { _MM_TRANSPOSE4_PS(v[0], v[1], v[2], v[3]); }
#else
ISPHX_HOT void isphx_transpose(isphpbdx_f4 v[4]) {
    int i, k;
    for (i = 0; i < 4; ++i) {
        for (k = 0; k < i; ++k) {
            const float swap = v[i].v[k];
            v[i].v[k] = v[k].v[i], v[k].v[i] = swap;
        }
    }
}
#endif

static double isphx_sum_even(isphpbdx_f4 v) {
    float lane[4];
    isphpbdx_f4_store(lane, v);
    return (double)lane[0] + (double)lane[2];
}
static double isphx_sum_odd(isphpbdx_f4 v) {
    float lane[4];
    isphpbdx_f4_store(lane, v);
    return (double)lane[1] + (double)lane[3];
}

/* Asks for memory that will be read soon: what the processor fetches by itself ends with every page, and a matrix that
   does not fit the caches has many. A hint that changes nothing else, beyond the end of an array as well. */
#define ISPHX_AHEAD 512 /* entries, 64 per row: one or two chunks; the best of 256, 512 and 1024 by trial */
#ifdef ISPHPBDX_SSE2
ISPHX_HOT void isphx_ahead(const void *p, size_t bytes) {
    _mm_prefetch((const char *)((uintptr_t)p + bytes), _MM_HINT_T0);
}
#else
ISPHX_HOT void isphx_ahead(const void *p, size_t bytes) { (void)p, (void)bytes; }
#endif

/* sum w x over the entries of a chunk, for pairs: acc[k] holds rows 2 k and 2 k + 1. The macro is the body for one
   width of column index. */
#define ISPHX_CHUNK_PAIRS(name, index_type)                                                                            \
    static void name(const index_type *index, const float *value, const float *x, int length, isphpbdx_f4 acc[4]) {    \
        isphpbdx_f4 a = isphpbdx_f4_all(0.0f), b = a, c = a, d = a;                                                    \
        int j;                                                                                                         \
        for (j = 0; j < length; ++j, index += ISPHX_LANES, value += ISPHX_LANES) {                                     \
            const isphpbdx_f4 low = isphpbdx_f4_load(value), high = isphpbdx_f4_load(value + 4);                       \
            if (j % 2 == 0) isphx_ahead(value, ISPHX_AHEAD * sizeof *value);                                           \
            else isphx_ahead(index, ISPHX_AHEAD * sizeof *index);                                                      \
            a = isphx_madd4(a, isphx_twice_low(low), isphx_pairs(x + 2 * (size_t)index[0], x + 2 * (size_t)index[1])); \
            b = isphx_madd4(b, isphx_twice_high(low),                                                                  \
                            isphx_pairs(x + 2 * (size_t)index[2], x + 2 * (size_t)index[3]));                          \
            c = isphx_madd4(c, isphx_twice_low(high),                                                                  \
                            isphx_pairs(x + 2 * (size_t)index[4], x + 2 * (size_t)index[5]));                          \
            d = isphx_madd4(d, isphx_twice_high(high),                                                                 \
                            isphx_pairs(x + 2 * (size_t)index[6], x + 2 * (size_t)index[7]));                          \
        }                                                                                                              \
        acc[0] = a, acc[1] = b, acc[2] = c, acc[3] = d;                                                                \
    }
ISPHX_CHUNK_PAIRS(isphx_chunk_pairs_narrow, uint16_t)
ISPHX_CHUNK_PAIRS(isphx_chunk_pairs_wide, uint32_t)
#undef ISPHX_CHUNK_PAIRS

static void isphx_chunk_pairs(const isphx_sell *sell, int chunk, const float *x, isphpbdx_f4 acc[4]) {
    const unsigned char *index = isphx_chunk_index(sell, chunk);
    const float *value = sell->value + sell->offset[chunk];
    const float *origin = x + 2 * (size_t)isphx_chunk_base(sell, chunk);
    if (isphx_chunk_is_wide(sell, chunk)) {
        isphx_chunk_pairs_wide((const uint32_t *)(const void *)index, value, origin, sell->length[chunk], acc);
    } else {
        isphx_chunk_pairs_narrow((const uint16_t *)(const void *)index, value, origin, sell->length[chunk], acc);
    }
}

/* [coarse] The coarse half of the two-level preconditioner: one unknown per aggregate, symmetric, in skyline
   storage. */
#define ISPHX_COARSE_LINKS  32 /* lower neighbours of an aggregate that are kept; without one it stays definite */
#define ISPHX_COARSE_FACTOR 16 /* floats of factor kept per row of the matrix */

typedef struct isphx_coarse {
    int rows, capacity;           /* rows of the fine matrix; aggregates at most */
    int count;                    /* aggregates; 0: no coarse level */
    int members;                  /* fine rows in use */
    int *aggregate;               /* per fine row */
    int *member_start, *member;   /* fine rows of every aggregate */
    float *weight;                /* per fine row: value of the coarse basis function there; NULL: 1 */
    int *link_count, *link;       /* lower neighbours, ISPHX_COARSE_LINKS per aggregate */
    float *link_value, *diagonal; /* couplings to them (>= 0, entering with a minus), and the diagonal */
    int *first;                   /* first column of a row of the factor */
    int *row_offset;              /* row i, column j stands at factor[row_offset[i] + j] */
    float *factor, *inverse;      /* Cholesky factor without its diagonal; inverse of that */
    int factor_capacity;
    float *value;  /* right side and solution: two per aggregate */
    double dot[2]; /* of right side and solution */
} isphx_coarse;

static int isphx_coarse_capacity(int rows) { return rows / 4 + 64; }

static void isphx_coarse_layout(isphx_coarse *coarse, isphpbdx_layout *layout, int rows) {
    const size_t n = (size_t)isphx_coarse_capacity(rows);
    coarse->rows = rows;
    coarse->capacity = (int)n;
    coarse->factor_capacity = isphpbdx_mini(rows, 0x7fffffff / ISPHX_COARSE_FACTOR - 256) * ISPHX_COARSE_FACTOR + 4096;
    coarse->aggregate = (int *)isphpbdx_take(layout, (size_t)isphx_padded(rows), sizeof(int));
    coarse->member_start = (int *)isphpbdx_take(layout, n + 1, sizeof(int));
    coarse->member = (int *)isphpbdx_take(layout, (size_t)rows, sizeof(int));
    coarse->link_count = (int *)isphpbdx_take(layout, n, sizeof(int));
    coarse->link = (int *)isphpbdx_take(layout, n * ISPHX_COARSE_LINKS, sizeof(int));
    coarse->link_value = (float *)isphpbdx_take(layout, n * ISPHX_COARSE_LINKS, sizeof(float));
    coarse->diagonal = (float *)isphpbdx_take(layout, n, sizeof(float));
    coarse->first = (int *)isphpbdx_take(layout, n, sizeof(int));
    coarse->row_offset = (int *)isphpbdx_take(layout, n, sizeof(int));
    coarse->factor = (float *)isphpbdx_take(layout, (size_t)coarse->factor_capacity, sizeof(float));
    coarse->inverse = (float *)isphpbdx_take(layout, n, sizeof(float));
    coarse->value = (float *)isphpbdx_take(layout, 2 * n, sizeof(float));
}

/* Lists the members of every aggregate in ascending order: how many, where they end, and the rows from the last to the
   first, so that ends become starts. A task is a piece of the rows. */
#define ISPHX_MEMBERS 4096
static int isphx_member_tasks(const isphx_coarse *coarse) {
    return (coarse->members + ISPHX_MEMBERS - 1) / ISPHX_MEMBERS;
}

static void isphx_members_count(isphx_coarse *coarse, int task) {
    const int end = isphpbdx_mini((task + 1) * ISPHX_MEMBERS, coarse->members);
    int i;
    for (i = task * ISPHX_MEMBERS; i < end; ++i) coarse->member_start[coarse->aggregate[i]]++;
}

static void isphx_members_sum(isphx_coarse *coarse) {
    int i;
    for (i = 1; i <= coarse->count; ++i) coarse->member_start[i] += coarse->member_start[i - 1];
}

static void isphx_members_place(isphx_coarse *coarse, int task) {
    const int begin = (isphx_member_tasks(coarse) - 1 - task) * ISPHX_MEMBERS;
    int i = isphpbdx_mini(begin + ISPHX_MEMBERS, coarse->members);
    if (task == 0) isphx_members_sum(coarse);
    while (--i >= begin) coarse->member[--coarse->member_start[coarse->aggregate[i]]] = i;
}

/* Before the count. */
static void isphx_members_clear(isphx_coarse *coarse, int rows) {
    coarse->members = rows;
    memset(coarse->member_start, 0, ((size_t)coarse->count + 1) * sizeof(int));
}

static void isphx_coarse_members(isphx_coarse *coarse, int rows) {
    int task;
    isphx_members_clear(coarse, rows);
    for (task = 0; task < isphx_member_tasks(coarse); ++task) isphx_members_count(coarse, task);
    for (task = 0; task < isphx_member_tasks(coarse); ++task) isphx_members_place(coarse, task);
}

/* Adds to the coupling of aggregate i with a lower one. */
static void isphx_coarse_link(isphx_coarse *coarse, int i, int lower, float value) {
    int *link = coarse->link + (size_t)i * ISPHX_COARSE_LINKS;
    int k;
    for (k = 0; k < coarse->link_count[i]; ++k) {
        if (link[k] == lower) break;
    }
    if (k == ISPHX_COARSE_LINKS) return;
    if (k == coarse->link_count[i]) {
        link[k] = lower;
        coarse->link_value[(size_t)i * ISPHX_COARSE_LINKS + (size_t)k] = 0.0f;
        coarse->link_count[i]++;
    }
    coarse->link_value[(size_t)i * ISPHX_COARSE_LINKS + (size_t)k] += value;
}

/* first[i] = the lowest aggregate that i is linked to. */
static void isphx_coarse_first(isphx_coarse *coarse) {
    int i, k;
    for (i = 0; i < coarse->count; ++i) {
        coarse->first[i] = i;
        for (k = 0; k < coarse->link_count[i]; ++k)
            coarse->first[i] =
                isphpbdx_mini(coarse->first[i], coarse->link[(size_t)i * ISPHX_COARSE_LINKS + (size_t)k]);
    }
}

/* Multiplications that the factorisation will take, or -1 when the factor does not fit. Sets row_offset. */
static double isphx_coarse_envelope(isphx_coarse *coarse) {
    double work = 0.0;
    int64_t used = 0;
    int i;
    for (i = 0; i < coarse->count; ++i) {
        const int first = coarse->first[i] & ~3; /* at multiples of four, so that dot products run in whole vectors */
        coarse->first[i] = first;
        if (used + (i - first) + 4 > coarse->factor_capacity) return -1.0;
        coarse->row_offset[i] = (int)used - first;
        used += (i - first + 3) & ~3;
        work += (double)(i - first) * (double)(i - first);
    }
    return work;
}

/* Rows of the factor are found, and used, four at a time: columns begin at multiples of four, so what is left of the
   four can be summed up for all of them before the first is known, and values are loaded once for several. */
#define ISPHX_COARSE_ROWS 4
static int isphx_coarse_quads(const isphx_coarse *coarse) {
    return (coarse->count + ISPHX_COARSE_ROWS - 1) / ISPHX_COARSE_ROWS;
}
static int isphx_quad_end(const isphx_coarse *coarse, int i) {
    return isphpbdx_mini(i + ISPHX_COARSE_ROWS, coarse->count);
}
static float *isphx_coarse_row(const isphx_coarse *coarse, int i) { return coarse->factor + coarse->row_offset[i]; }

/* sum += a b over columns begin .. end, in four fixed lanes. */
ISPHX_HOT isphpbdx_f4 isphx_dot_along(const float *a, const float *b, int begin, int end) {
    isphpbdx_f4 sum = isphpbdx_f4_all(0.0f);
    for (; begin < end; begin += 4) sum = isphx_madd4(sum, isphpbdx_f4_load(a + begin), isphpbdx_f4_load(b + begin));
    return sum;
}

/* Row i times rows j .. j + 3 (none beyond i), over the columns before j that both have. */
static void isphx_coarse_dots(const isphx_coarse *coarse, int i, int j, float out[4]) {
    const float *row = isphx_coarse_row(coarse, i), *other[4];
    isphpbdx_f4 sum[4], a, b, c, d;
    int from[4], k, most = 0;
    for (k = 0; k < 4; ++k) {
        other[k] = isphx_coarse_row(coarse, isphpbdx_mini(j + k, i));
        from[k] = isphpbdx_maxi(coarse->first[i], coarse->first[isphpbdx_mini(j + k, i)]);
        most = isphpbdx_maxi(most, from[k]);
    }
    a = isphx_dot_along(row, other[0], from[0], most), b = isphx_dot_along(row, other[1], from[1], most);
    c = isphx_dot_along(row, other[2], from[2], most), d = isphx_dot_along(row, other[3], from[3], most);
    for (; most < j; most += 4) {
        const isphpbdx_f4 own = isphpbdx_f4_load(row + most);
        a = isphx_madd4(a, own, isphpbdx_f4_load(other[0] + most));
        b = isphx_madd4(b, own, isphpbdx_f4_load(other[1] + most));
        c = isphx_madd4(c, own, isphpbdx_f4_load(other[2] + most));
        d = isphx_madd4(d, own, isphpbdx_f4_load(other[3] + most));
    }
    sum[0] = a, sum[1] = b, sum[2] = c, sum[3] = d;
    isphx_transpose(sum);
    isphpbdx_f4_store(out, isphpbdx_f4_add(isphpbdx_f4_add(sum[0], sum[1]), isphpbdx_f4_add(sum[2], sum[3])));
}

/* Columns j .. j + 3 of row i, as far as it has them. A pivot that vanishes (a closed component's constant) takes that
   unknown out. */
static void isphx_coarse_columns(isphx_coarse *coarse, int i, int j) {
    float *row = isphx_coarse_row(coarse, i), dot[4], pivot;
    const int end = isphpbdx_mini(j + 4, i + 1);
    int c, k;
    if (coarse->first[i] > j) return;
    isphx_coarse_dots(coarse, i, j, dot);
    for (c = j; c < end; ++c) {
        const float *other = isphx_coarse_row(coarse, c);
        float tail = 0.0f;
        for (k = j; k < c; ++k) tail += row[k] * other[k];
        dot[c - j] += tail;
        if (c < i) row[c] = (row[c] - dot[c - j]) * coarse->inverse[c];
    }
    if (end <= i) return;
    pivot = coarse->diagonal[i] - dot[i - j];
    coarse->inverse[i] = pivot > 1e-5f * coarse->diagonal[i] ? 1.0f / sqrtf(pivot) : 0.0f;
}

/* Row i of the matrix, where that of the factor comes to be. */
static void isphx_coarse_fill(isphx_coarse *coarse, int i) {
    float *row = isphx_coarse_row(coarse, i);
    int j, k;
    for (j = coarse->first[i]; j < i; ++j) row[j] = 0.0f;
    for (k = 0; k < coarse->link_count[i]; ++k) {
        const size_t e = (size_t)i * ISPHX_COARSE_LINKS + (size_t)k;
        row[coarse->link[e]] = -coarse->link_value[e];
    }
}

/* Four rows of the Cholesky factorisation inside the envelope; they follow each other. */
static void isphx_coarse_factor_task(void *ctx, int quad) {
    isphx_coarse *coarse = (isphx_coarse *)ctx;
    const int begin = quad * ISPHX_COARSE_ROWS, end = isphx_quad_end(coarse, begin);
    int i, j = begin;
    for (i = begin; i < end; ++i) {
        isphx_coarse_fill(coarse, i);
        j = isphpbdx_mini(j, coarse->first[i]);
    }
    for (; j <= begin; j += 4) {
        for (i = begin; i < end; ++i) isphx_coarse_columns(coarse, i, j);
    }
}

/* What the columns of a row before its four take from its value, as pairs: even columns and odd ones. */
typedef struct isphx_taken {
    isphpbdx_f4 low, high;
} isphx_taken;
ISPHX_HOT void isphx_taken_add(isphx_taken *taken, isphpbdx_f4 row, isphpbdx_f4 low, isphpbdx_f4 high) {
    taken->low = isphx_madd4(taken->low, isphx_twice_low(row), low);
    taken->high = isphx_madd4(taken->high, isphx_twice_high(row), high);
}
ISPHX_HOT isphx_taken isphx_taken_along(const float *value, const float *row, int begin, int end) {
    isphx_taken taken;
    taken.low = taken.high = isphpbdx_f4_all(0.0f);
    for (; begin < end; begin += 4)
        isphx_taken_add(&taken, isphpbdx_f4_load(row + begin), isphpbdx_f4_load(value + 2 * begin),
                        isphpbdx_f4_load(value + 2 * begin + 4));
    return taken;
}

/* The same for rows i and i + 1, over the columns before `end`. */
static void isphx_coarse_take_two(const isphx_coarse *coarse, int i, int end, isphpbdx_f4 out[2]) {
    const float *row = isphx_coarse_row(coarse, i), *next = isphx_coarse_row(coarse, i + 1), *value = coarse->value;
    int j = isphpbdx_maxi(coarse->first[i], coarse->first[i + 1]);
    isphx_taken a = isphx_taken_along(value, row, coarse->first[i], j);
    isphx_taken b = isphx_taken_along(value, next, coarse->first[i + 1], j);
    for (; j < end; j += 4) {
        const isphpbdx_f4 low = isphpbdx_f4_load(value + 2 * j), high = isphpbdx_f4_load(value + 2 * j + 4);
        isphx_taken_add(&a, isphpbdx_f4_load(row + j), low, high);
        isphx_taken_add(&b, isphpbdx_f4_load(next + j), low, high);
    }
    out[0] = isphpbdx_f4_add(a.low, a.high), out[1] = isphpbdx_f4_add(b.low, b.high);
}

/* value[i] = (value[i] - sum row[j] value[j] over j < i) / pivot for four rows, and dot += value^2. */
static void isphx_coarse_eliminate(isphx_coarse *coarse, int begin, int end) {
    float *value = coarse->value;
    isphpbdx_f4 taken[ISPHX_COARSE_ROWS];
    int i, j;
    for (i = begin; i + 2 <= end; i += 2) isphx_coarse_take_two(coarse, i, begin, taken + (i - begin));
    if (i < end) {
        const isphx_taken last = isphx_taken_along(value, isphx_coarse_row(coarse, i), coarse->first[i], begin);
        taken[i - begin] = isphpbdx_f4_add(last.low, last.high);
    }
    for (i = begin; i < end; ++i) {
        const float *row = isphx_coarse_row(coarse, i);
        float lane[4], s0 = value[2 * i], s1 = value[2 * i + 1];
        isphpbdx_f4_store(lane, taken[i - begin]);
        for (j = begin; j < i; ++j) s0 -= row[j] * value[2 * j], s1 -= row[j] * value[2 * j + 1];
        value[2 * i] = (s0 - (lane[0] + lane[2])) * coarse->inverse[i];
        value[2 * i + 1] = (s1 - (lane[1] + lane[3])) * coarse->inverse[i];
        coarse->dot[0] += (double)value[2 * i] * (double)value[2 * i];
        coarse->dot[1] += (double)value[2 * i + 1] * (double)value[2 * i + 1];
    }
}

/* value[j] and three after it, less what the known value of a row gives them. */
ISPHX_HOT void isphx_coarse_give(const float *row, isphpbdx_f4 own, int j, isphpbdx_f4 *low, isphpbdx_f4 *high) {
    const isphpbdx_f4 four = isphpbdx_f4_load(row + j);
    *low = isphpbdx_f4_sub(*low, isphpbdx_f4_mul(isphx_twice_low(four), own));
    *high = isphpbdx_f4_sub(*high, isphpbdx_f4_mul(isphx_twice_high(four), own));
}

static isphpbdx_f4 isphx_coarse_own(const isphx_coarse *coarse, int i) {
    return isphx_pairs(coarse->value + 2 * i, coarse->value + 2 * i);
}

/* value[j] -= row[j] value[i] over begin <= j < end, for pairs. */
static void isphx_coarse_substitute_row(isphx_coarse *coarse, int i, int begin, int end) {
    const isphpbdx_f4 own = isphx_coarse_own(coarse, i);
    for (; begin < end; begin += 4) {
        float *value = coarse->value + 2 * begin;
        isphpbdx_f4 low = isphpbdx_f4_load(value), high = isphpbdx_f4_load(value + 4);
        isphx_coarse_give(isphx_coarse_row(coarse, i), own, begin, &low, &high);
        isphpbdx_f4_store(value, low), isphpbdx_f4_store(value + 4, high);
    }
}

/* The same for rows i + 3, i + 2, i + 1 and i, in this order, over begin <= j < i. */
static void isphx_coarse_substitute_quad(isphx_coarse *coarse, int i, int begin) {
    const float *a = isphx_coarse_row(coarse, i), *b = isphx_coarse_row(coarse, i + 1);
    const float *c = isphx_coarse_row(coarse, i + 2), *d = isphx_coarse_row(coarse, i + 3);
    const isphpbdx_f4 va = isphx_coarse_own(coarse, i), vb = isphx_coarse_own(coarse, i + 1);
    const isphpbdx_f4 vc = isphx_coarse_own(coarse, i + 2), vd = isphx_coarse_own(coarse, i + 3);
    for (; begin < i; begin += 4) {
        float *value = coarse->value + 2 * begin;
        isphpbdx_f4 low = isphpbdx_f4_load(value), high = isphpbdx_f4_load(value + 4);
        isphx_coarse_give(d, vd, begin, &low, &high), isphx_coarse_give(c, vc, begin, &low, &high);
        isphx_coarse_give(b, vb, begin, &low, &high), isphx_coarse_give(a, va, begin, &low, &high);
        isphpbdx_f4_store(value, low), isphpbdx_f4_store(value + 4, high);
    }
}

/* Every value[j] is reduced by one row after the other, from the last row to the first. */
static void isphx_coarse_substitute(isphx_coarse *coarse, int begin, int end) {
    float *value = coarse->value;
    int i, j, most = end - begin < ISPHX_COARSE_ROWS ? begin : 0;
    for (i = end - 1; i >= begin; --i) {
        const float *row = isphx_coarse_row(coarse, i);
        value[2 * i] *= coarse->inverse[i], value[2 * i + 1] *= coarse->inverse[i];
        for (j = begin; j < i; ++j)
            value[2 * j] -= row[j] * value[2 * i], value[2 * j + 1] -= row[j] * value[2 * i + 1];
        most = isphpbdx_maxi(most, coarse->first[i]);
    }
    for (i = end - 1; i >= begin; --i) isphx_coarse_substitute_row(coarse, i, coarse->first[i], most);
    if (most < begin) isphx_coarse_substitute_quad(coarse, begin, most);
}

/* value = Ac^-1 value, for both right sides, four rows after the other: the first half of the tasks eliminates and sums
   up the dot products with the right side, the second one substitutes back. */
static void isphx_coarse_solve_task(void *ctx, int task) {
    isphx_coarse *coarse = (isphx_coarse *)ctx;
    const int quads = isphx_coarse_quads(coarse);
    const int begin = (task < quads ? task : 2 * quads - 1 - task) * ISPHX_COARSE_ROWS;
    if (task == 0) coarse->dot[0] = coarse->dot[1] = 0.0;
    if (task < quads) isphx_coarse_eliminate(coarse, begin, isphx_quad_end(coarse, begin));
    else isphx_coarse_substitute(coarse, begin, isphx_quad_end(coarse, begin));
}

/* [krylov] A symmetric system with two right sides, and the work vectors of its solve: pairs, interleaved. */
typedef struct isphx_cg_result {
    int iterations[2];
    float residual[2];
    bool breakdown;
} isphx_cg_result;

typedef struct isphx_system {
    const isphx_sell *sell;
    const float *diagonal, *inverse; /* D and the Jacobi part of the preconditioner */
    isphx_coarse *coarse;            /* NULL: Jacobi only */
    isphx_machine *machine;
    void (*respond)(void *ctx, const float *x, float *y); /* NULL, or adds a low-rank symmetric term: y += R x */
    void *respond_ctx;
    float *x, *r, *d, *q; /* solution, residual, direction, product: 2 per row, padded to 8 rows */
    const float *in;      /* what the product is of */
    double *partial;      /* 4 per block */
    float alpha[2], beta[2];
    bool keep[2]; /* right sides whose start stays */
    /* of the solve that runs */
    float tolerance;
    int cap[2], iteration;
    float *history;    /* NULL, or receives the relative residuals of the first right side */
    const bool *hurry; /* NULL, or becomes true when a few iterations have to do */
    double norm[2], rr[2], rz[2], rz_new[2];
    bool open[2]; /* not there yet */
    isphx_cg_result result;
    void (*then)(void *ctx); /* what comes after it, or NULL */
    void *then_ctx;
} isphx_system;

static void isphx_block_chunks(int rows, int block, int *begin, int *end) {
    *begin = block * (ISPHX_BLOCK / ISPHX_LANES);
    *end = isphpbdx_mini(*begin + ISPHX_BLOCK / ISPHX_LANES, isphx_chunks(rows));
}

static void isphx_sum_partials(const isphx_system *s, int k, int n, double *out) {
    int b, i;
    for (i = 0; i < n; ++i) out[i] = 0.0;
    for (b = 0; b < isphx_blocks(s->sell->rows); ++b) {
        for (i = 0; i < n; ++i) out[i] += s->partial[4 * b + k + i];
    }
}

/* y = D x - W x for one chunk of pairs. */
static void isphx_product_chunk(const isphx_system *s, int chunk, const float *x, isphpbdx_f4 y[4]) {
    const float *diagonal = s->diagonal + chunk * ISPHX_LANES, *own = x + 2 * (size_t)chunk * ISPHX_LANES;
    const isphpbdx_f4 low = isphpbdx_f4_load(diagonal), high = isphpbdx_f4_load(diagonal + 4);
    isphx_chunk_pairs(s->sell, chunk, x, y);
    y[0] = isphpbdx_f4_sub(isphpbdx_f4_mul(isphx_twice_low(low), isphpbdx_f4_load(own)), y[0]);
    y[1] = isphpbdx_f4_sub(isphpbdx_f4_mul(isphx_twice_high(low), isphpbdx_f4_load(own + 4)), y[1]);
    y[2] = isphpbdx_f4_sub(isphpbdx_f4_mul(isphx_twice_low(high), isphpbdx_f4_load(own + 8)), y[2]);
    y[3] = isphpbdx_f4_sub(isphpbdx_f4_mul(isphx_twice_high(high), isphpbdx_f4_load(own + 12)), y[3]);
}

/* q = A in and the dot products in.q */
static void isphx_cg_product_task(void *ctx, int block) {
    isphx_system *s = (isphx_system *)ctx;
    isphpbdx_f4 sum = isphpbdx_f4_all(0.0f), y[4];
    int chunk, end, k;
    isphx_block_chunks(s->sell->rows, block, &chunk, &end);
    for (; chunk < end; ++chunk) {
        const size_t at = 2 * (size_t)chunk * ISPHX_LANES;
        isphx_product_chunk(s, chunk, s->in, y);
        for (k = 0; k < 4; ++k) {
            isphpbdx_f4_store(s->q + at + 4 * k, y[k]);
            sum = isphx_madd4(sum, y[k], isphpbdx_f4_load(s->in + at + 4 * k));
        }
    }
    s->partial[4 * block] = isphx_sum_even(sum), s->partial[4 * block + 1] = isphx_sum_odd(sum);
}

/* in.q again, after respond() has added to q */
static void isphx_cg_dot_task(void *ctx, int block) {
    isphx_system *s = (isphx_system *)ctx;
    isphpbdx_f4 sum = isphpbdx_f4_all(0.0f);
    int chunk, end, k;
    isphx_block_chunks(s->sell->rows, block, &chunk, &end);
    for (; chunk < end; ++chunk) {
        const size_t at = 2 * (size_t)chunk * ISPHX_LANES;
        for (k = 0; k < 4; ++k)
            sum = isphx_madd4(sum, isphpbdx_f4_load(s->q + at + 4 * k), isphpbdx_f4_load(s->in + at + 4 * k));
    }
    s->partial[4 * block] = isphx_sum_even(sum), s->partial[4 * block + 1] = isphx_sum_odd(sum);
}

/* x += alpha d, r -= alpha q; the dot products r.r and r.D^-1 r */
static void isphx_cg_update_task(void *ctx, int block) {
    isphx_system *s = (isphx_system *)ctx;
    const isphpbdx_f4 alpha = isphpbdx_f4_set(s->alpha[0], s->alpha[1], s->alpha[0], s->alpha[1]);
    isphpbdx_f4 rr = isphpbdx_f4_all(0.0f), rz = rr;
    int chunk, end, k;
    isphx_block_chunks(s->sell->rows, block, &chunk, &end);
    for (; chunk < end; ++chunk) {
        const float *inverse = s->inverse + chunk * ISPHX_LANES;
        const isphpbdx_f4 low = isphpbdx_f4_load(inverse), high = isphpbdx_f4_load(inverse + 4);
        for (k = 0; k < 4; ++k) {
            const size_t at = 2 * (size_t)chunk * ISPHX_LANES + 4 * (size_t)k;
            const isphpbdx_f4 d = isphpbdx_f4_mul(alpha, isphpbdx_f4_load(s->d + at));
            const isphpbdx_f4 q = isphpbdx_f4_mul(alpha, isphpbdx_f4_load(s->q + at));
            const isphpbdx_f4 r = isphpbdx_f4_sub(isphpbdx_f4_load(s->r + at), q);
            const isphpbdx_f4 half = k < 2 ? low : high;
            const isphpbdx_f4 scale = k % 2 == 0 ? isphx_twice_low(half) : isphx_twice_high(half);
            isphpbdx_f4_store(s->x + at, isphpbdx_f4_add(isphpbdx_f4_load(s->x + at), d));
            isphpbdx_f4_store(s->r + at, r);
            rr = isphx_madd4(rr, r, r);
            rz = isphx_madd4(rz, isphpbdx_f4_mul(scale, r), r);
        }
    }
    s->partial[4 * block] = isphx_sum_even(rr), s->partial[4 * block + 1] = isphx_sum_odd(rr);
    s->partial[4 * block + 2] = isphx_sum_even(rz), s->partial[4 * block + 3] = isphx_sum_odd(rz);
}

/* The coarse correction of rows i and i + 1, as pairs. */
static isphpbdx_f4 isphx_prolong(const isphx_coarse *coarse, int i) {
    const isphpbdx_f4 value =
        isphx_pairs(coarse->value + 2 * coarse->aggregate[i], coarse->value + 2 * coarse->aggregate[i + 1]);
    if (!coarse->weight) return value;
    return isphpbdx_f4_mul(
        isphpbdx_f4_set(coarse->weight[i], coarse->weight[i], coarse->weight[i + 1], coarse->weight[i + 1]), value);
}

/* d = D^-1 r + P value + beta d */
static void isphx_cg_direction_task(void *ctx, int block) {
    isphx_system *s = (isphx_system *)ctx;
    const int begin = block * ISPHX_BLOCK, end = isphpbdx_mini(begin + ISPHX_BLOCK, s->sell->rows);
    const isphpbdx_f4 beta = isphpbdx_f4_set(s->beta[0], s->beta[1], s->beta[0], s->beta[1]);
    int i, k;
    for (i = begin; i + 2 <= end; i += 2) {
        const isphpbdx_f4 inverse = isphpbdx_f4_set(s->inverse[i], s->inverse[i], s->inverse[i + 1], s->inverse[i + 1]);
        isphpbdx_f4 z = isphpbdx_f4_mul(inverse, isphpbdx_f4_load(s->r + 2 * i));
        if (s->coarse) z = isphpbdx_f4_add(z, isphx_prolong(s->coarse, i));
        isphpbdx_f4_store(s->d + 2 * i, isphx_madd4(z, beta, isphpbdx_f4_load(s->d + 2 * i)));
    }
    for (k = 0; i < end && k < 2; ++k) { /* the last row, when their number is odd */
        float z = s->inverse[i] * s->r[2 * i + k];
        if (s->coarse)
            z += (s->coarse->weight ? s->coarse->weight[i] : 1.0f) * s->coarse->value[2 * s->coarse->aggregate[i] + k];
        s->d[2 * i + k] = z + s->beta[k] * s->d[2 * i + k];
    }
}

#define ISPHX_COARSE_BLOCK 16 /* aggregates per task */
static int isphx_coarse_blocks(const isphx_coarse *coarse) {
    return (coarse->count + ISPHX_COARSE_BLOCK - 1) / ISPHX_COARSE_BLOCK;
}

/* value = P^T r, two members at a time */
static void isphx_cg_restrict_task(void *ctx, int block) {
    isphx_system *s = (isphx_system *)ctx;
    isphx_coarse *coarse = s->coarse;
    const int end = isphpbdx_mini((block + 1) * ISPHX_COARSE_BLOCK, coarse->count);
    const float none[2] = {0.0f, 0.0f};
    int g, m;
    for (g = block * ISPHX_COARSE_BLOCK; g < end; ++g) {
        isphpbdx_f4 sum = isphpbdx_f4_all(0.0f);
        float lane[4];
        for (m = coarse->member_start[g]; m < coarse->member_start[g + 1]; m += 2) {
            const bool two = m + 1 < coarse->member_start[g + 1];
            const int a = coarse->member[m], b = two ? coarse->member[m + 1] : a;
            isphpbdx_f4 r = isphx_pairs(s->r + 2 * a, two ? s->r + 2 * b : none);
            if (coarse->weight)
                r = isphpbdx_f4_mul(
                    r, isphpbdx_f4_set(coarse->weight[a], coarse->weight[a], coarse->weight[b], coarse->weight[b]));
            sum = isphpbdx_f4_add(sum, r);
        }
        isphpbdx_f4_store(lane, sum);
        coarse->value[2 * g] = lane[0] + lane[2], coarse->value[2 * g + 1] = lane[1] + lane[3];
    }
}

static void isphx_post_blocks(isphx_system *s, void (*task)(void *, int), int unit, void (*then)(void *)) {
    isphx_post(s->machine, task, s, isphx_blocks(s->sell->rows), unit);
    isphx_then(s->machine, then, s);
}

static bool isphx_finite_double(double v) { return v - v == 0.0 && isphpbdx_finite((float)v); }

/* The start of a solve: b in r, q = A x. |b|^2 and |b - q|^2; no direction yet. */
static void isphx_cg_compare_task(void *ctx, int block) {
    isphx_system *s = (isphx_system *)ctx;
    isphpbdx_f4 zero = isphpbdx_f4_all(0.0f), bb = zero, rr = zero;
    int chunk, end, k;
    isphx_block_chunks(s->sell->rows, block, &chunk, &end);
    for (k = 2 * chunk * ISPHX_LANES; k < 2 * end * ISPHX_LANES; k += 4) {
        const isphpbdx_f4 b = isphpbdx_f4_load(s->r + k), r = isphpbdx_f4_sub(b, isphpbdx_f4_load(s->q + k));
        bb = isphx_madd4(bb, b, b);
        rr = isphx_madd4(rr, r, r);
        isphpbdx_f4_store(s->d + k, zero);
    }
    s->partial[4 * block] = isphx_sum_even(bb), s->partial[4 * block + 1] = isphx_sum_odd(bb);
    s->partial[4 * block + 2] = isphx_sum_even(rr), s->partial[4 * block + 3] = isphx_sum_odd(rr);
}

/* x = q = 0 for what is not kept */
static void isphx_cg_drop_task(void *ctx, int block) {
    isphx_system *s = (isphx_system *)ctx;
    int chunk, end, i, k;
    isphx_block_chunks(s->sell->rows, block, &chunk, &end);
    for (k = 0; k < 2; ++k) {
        if (s->keep[k]) continue;
        for (i = chunk * ISPHX_LANES; i < end * ISPHX_LANES; ++i) s->x[2 * i + k] = s->q[2 * i + k] = 0.0f;
    }
}

/* The rest is the solve itself, piece by piece in the order in which they run: preconditioned conjugate gradients on
   both right sides at once, each of which stops by its own residual. */
#define ISPHX_CG_HURRIED 4 /* iterations that a solve in a hurry makes all the same */

static double isphx_relative(double rr, double norm) { return norm > 0.0 ? sqrt(rr) / norm : 0.0; }

static void isphx_cg_next(void *ctx);

/* q += R in; true where there is anything that responds. That is the pressure's alone: a solve that goes on for the
   density has no use for it. */
static bool isphx_cg_respond(isphx_system *s) {
    const bool wanted = s->respond && (s->iteration == 0 || s->open[0]);
    if (wanted) s->respond(s->respond_ctx, s->in, s->q);
    return wanted;
}

static void isphx_cg_coarse_solve(void *ctx) {
    isphx_system *s = (isphx_system *)ctx;
    isphx_post_ordered(s->machine, isphx_coarse_solve_task, s->coarse, 2 * isphx_coarse_quads(s->coarse), ISPHX_LIGHT);
    isphx_then(s->machine, isphx_cg_next, s);
}

/* x and r are new: the preconditioner comes before the next direction. */
static void isphx_cg_precondition(void *ctx) {
    isphx_system *s = (isphx_system *)ctx;
    double sums[4];
    isphx_sum_partials(s, 0, 4, sums);
    s->rr[0] = s->open[0] ? sums[0] : s->rr[0], s->rr[1] = s->open[1] ? sums[1] : s->rr[1];
    s->rz_new[0] = sums[2], s->rz_new[1] = sums[3];
    if (!s->coarse) {
        isphx_cg_next(s);
        return;
    }
    isphx_post(s->machine, isphx_cg_restrict_task, s, isphx_coarse_blocks(s->coarse), ISPHX_LIGHT);
    isphx_then(s->machine, isphx_cg_coarse_solve, s);
}

static void isphx_cg_update(void *ctx) {
    isphx_system *s = (isphx_system *)ctx;
    double dq[2];
    int k;
    isphx_sum_partials(s, 0, 2, dq);
    for (k = 0; k < 2; ++k) {
        const double alpha = dq[k] > 0.0 ? s->rz[k] / dq[k] : 0.0;
        if (s->open[k] && !(alpha > 0.0 && isphx_finite_double(alpha))) s->result.breakdown = true, s->open[k] = false;
        s->alpha[k] = s->open[k] ? (float)alpha : 0.0f;
    }
    isphx_post_blocks(s, isphx_cg_update_task, ISPHX_TINY, isphx_cg_precondition);
}

static void isphx_cg_dot(void *ctx) {
    isphx_system *s = (isphx_system *)ctx;
    if (isphx_cg_respond(s)) isphx_post_blocks(s, isphx_cg_dot_task, ISPHX_TINY, isphx_cg_update);
    else isphx_cg_update(s);
}

static void isphx_cg_product(void *ctx) {
    isphx_system *s = (isphx_system *)ctx;
    s->in = s->d;
    isphx_post_blocks(s, isphx_cg_product_task, ISPHX_LIGHT, isphx_cg_dot);
}

static bool isphx_cg_hurried(const isphx_system *s) {
    return s->hurry && *s->hurry && s->iteration >= ISPHX_CG_HURRIED;
}

/* An iteration is over, or the start: on to the next one, or to the end. */
static void isphx_cg_next(void *ctx) {
    isphx_system *s = (isphx_system *)ctx;
    int k;
    for (k = 0; k < 2; ++k) {
        if (!s->open[k]) continue;
        if (s->coarse) s->rz_new[k] += s->coarse->dot[k];
        s->beta[k] = s->iteration > 0 && s->rz[k] > 0.0 ? (float)(s->rz_new[k] / s->rz[k]) : 0.0f;
        s->rz[k] = s->rz_new[k];
        s->result.iterations[k] = s->iteration;
        s->result.residual[k] = (float)isphx_relative(s->rr[k], s->norm[k]);
        s->open[k] = s->iteration < s->cap[k] && sqrt(s->rr[k]) > (double)s->tolerance * s->norm[k] &&
                     s->norm[k] > 0.0 && !isphx_cg_hurried(s);
        if (k == 0 && s->history) s->history[s->iteration] = s->result.residual[0];
    }
    if (!s->open[0] && !s->open[1]) {
        isphx_then(s->machine, s->then, s->then_ctx);
        return;
    }
    ++s->iteration;
    isphx_post_blocks(s, isphx_cg_direction_task, ISPHX_TINY, isphx_cg_product);
}

/* r = b - q, by the update with a step of 1 along no direction. */
static void isphx_cg_residual(void *ctx) {
    isphx_system *s = (isphx_system *)ctx;
    s->alpha[0] = s->alpha[1] = 1.0f;
    isphx_post_blocks(s, isphx_cg_update_task, ISPHX_TINY, isphx_cg_precondition);
}

static void isphx_cg_judge(void *ctx) {
    isphx_system *s = (isphx_system *)ctx;
    double sums[4];
    int k;
    isphx_sum_partials(s, 0, 4, sums);
    for (k = 0; k < 2; ++k) {
        s->norm[k] = sqrt(sums[k]);
        s->keep[k] = sums[2 + k] <= sums[k]; /* a start that is not a number goes, too */
        s->open[k] = true;
    }
    isphx_post_blocks(s, isphx_cg_drop_task, ISPHX_TINY, isphx_cg_residual);
}

static void isphx_cg_compare(void *ctx) {
    isphx_system *s = (isphx_system *)ctx;
    (void)isphx_cg_respond(s);
    isphx_post_blocks(s, isphx_cg_compare_task, ISPHX_TINY, isphx_cg_judge);
}

static void isphx_cg_try(void *ctx) {
    isphx_system *s = (isphx_system *)ctx;
    s->in = s->x;
    isphx_post_blocks(s, isphx_cg_product_task, ISPHX_LIGHT, isphx_cg_compare);
}

/* Posts a solve. b is given in r and the start in x, used where warm[k]; a start that is worse than 0 is dropped. The
   result is in the system when the machine has nothing more to do. */
static void isphx_cg(isphx_system *s, bool warm_first, bool warm_second, float tolerance, int cap_first,
                     int cap_second) {
    s->keep[0] = warm_first, s->keep[1] = warm_second;
    s->tolerance = tolerance;
    s->cap[0] = cap_first, s->cap[1] = cap_second;
    s->iteration = 0;
    memset(&s->result, 0, sizeof s->result);
    isphx_post_blocks(s, isphx_cg_drop_task, ISPHX_TINY, isphx_cg_try);
}

/* [bicgstab] One right side, any matrix: van der Vorst's method with the preconditioner on the right, so that the
   residual is the true one. Work vectors are single, padded to 8 rows. */
typedef struct isphx_bicgstab {
    isphx_system *system;
    float *x, *r, *shadow, *p, *v, *t, *y;
    const float *in, *dotted; /* of the product that runs now */
    float *out;
    float alpha, beta, omega;
} isphx_bicgstab;

#define ISPHX_CHUNK_SINGLE(name, index_type)                                                                           \
    static void name(const index_type *index, const float *value, const float *x, int length, isphpbdx_f4 acc[2]) {    \
        isphpbdx_f4 a = isphpbdx_f4_all(0.0f), b = a;                                                                  \
        int j;                                                                                                         \
        for (j = 0; j < length; ++j, index += ISPHX_LANES, value += ISPHX_LANES) {                                     \
            a = isphx_madd4(a, isphpbdx_f4_load(value),                                                                \
                            isphpbdx_f4_set(x[index[0]], x[index[1]], x[index[2]], x[index[3]]));                      \
            b = isphx_madd4(b, isphpbdx_f4_load(value + 4),                                                            \
                            isphpbdx_f4_set(x[index[4]], x[index[5]], x[index[6]], x[index[7]]));                      \
        }                                                                                                              \
        acc[0] = a, acc[1] = b;                                                                                        \
    }
ISPHX_CHUNK_SINGLE(isphx_chunk_single_narrow, uint16_t)
ISPHX_CHUNK_SINGLE(isphx_chunk_single_wide, uint32_t)
#undef ISPHX_CHUNK_SINGLE

/* y = D x - W x for one chunk of a single vector. */
static void isphx_chunk_single(const isphx_sell *sell, const float *diagonal, int chunk, const float *x,
                               isphpbdx_f4 y[2]) {
    const unsigned char *index = isphx_chunk_index(sell, chunk);
    const float *value = sell->value + sell->offset[chunk], *origin = x + isphx_chunk_base(sell, chunk);
    const float *own = x + chunk * ISPHX_LANES, *d = diagonal + chunk * ISPHX_LANES;
    if (isphx_chunk_is_wide(sell, chunk)) {
        isphx_chunk_single_wide((const uint32_t *)(const void *)index, value, origin, sell->length[chunk], y);
    } else {
        isphx_chunk_single_narrow((const uint16_t *)(const void *)index, value, origin, sell->length[chunk], y);
    }
    y[0] = isphpbdx_f4_sub(isphpbdx_f4_mul(isphpbdx_f4_load(d), isphpbdx_f4_load(own)), y[0]);
    y[1] = isphpbdx_f4_sub(isphpbdx_f4_mul(isphpbdx_f4_load(d + 4), isphpbdx_f4_load(own + 4)), y[1]);
}

static double isphx_sum4(isphpbdx_f4 v) { return isphx_sum_even(v) + isphx_sum_odd(v); }

/* out = A in; out.dotted and out.out */
static void isphx_bicgstab_product_task(void *ctx, int block) {
    isphx_bicgstab *s = (isphx_bicgstab *)ctx;
    isphpbdx_f4 with = isphpbdx_f4_all(0.0f), own = with, y[2];
    int chunk, end, k;
    isphx_block_chunks(s->system->sell->rows, block, &chunk, &end);
    for (; chunk < end; ++chunk) {
        isphx_chunk_single(s->system->sell, s->system->diagonal, chunk, s->in, y);
        for (k = 0; k < 2; ++k) {
            const int at = chunk * ISPHX_LANES + 4 * k;
            isphpbdx_f4_store(s->out + at, y[k]);
            with = isphx_madd4(with, y[k], isphpbdx_f4_load(s->dotted + at));
            own = isphx_madd4(own, y[k], y[k]);
        }
    }
    s->system->partial[4 * block] = isphx_sum4(with), s->system->partial[4 * block + 1] = isphx_sum4(own);
}

/* y = M^-1 in; the coarse correction is ready in coarse->value */
static void isphx_bicgstab_precondition_task(void *ctx, int block) {
    isphx_bicgstab *s = (isphx_bicgstab *)ctx;
    const isphx_coarse *coarse = s->system->coarse;
    const int begin = block * ISPHX_BLOCK, end = isphpbdx_mini(begin + ISPHX_BLOCK, s->system->sell->rows);
    int i;
    for (i = begin; i < end; ++i) {
        s->y[i] = s->system->inverse[i] * s->in[i];
        if (coarse) s->y[i] += (coarse->weight ? coarse->weight[i] : 1.0f) * coarse->value[2 * coarse->aggregate[i]];
    }
}

/* coarse->value = P^T in, for the first of the pair */
static void isphx_bicgstab_restrict_task(void *ctx, int block) {
    const isphx_bicgstab *s = (const isphx_bicgstab *)ctx;
    isphx_coarse *coarse = s->system->coarse;
    const int end = isphpbdx_mini((block + 1) * ISPHX_COARSE_BLOCK, coarse->count);
    int g, m;
    for (g = block * ISPHX_COARSE_BLOCK; g < end; ++g) {
        float sum = 0.0f;
        for (m = coarse->member_start[g]; m < coarse->member_start[g + 1]; ++m) {
            const int i = coarse->member[m];
            sum += (coarse->weight ? coarse->weight[i] : 1.0f) * s->in[i];
        }
        coarse->value[2 * g] = sum, coarse->value[2 * g + 1] = 0.0f;
    }
}

/* p = r + beta (p - omega v) */
static void isphx_bicgstab_direction_task(void *ctx, int block) {
    isphx_bicgstab *s = (isphx_bicgstab *)ctx;
    const int begin = block * ISPHX_BLOCK, end = isphpbdx_mini(begin + ISPHX_BLOCK, s->system->sell->rows);
    int i;
    for (i = begin; i < end; ++i) s->p[i] = s->r[i] + s->beta * (s->p[i] - s->omega * s->v[i]);
}

/* x += alpha y, r -= alpha out; the dot products r.r and r.shadow */
static void isphx_bicgstab_update_task(void *ctx, int block) {
    isphx_bicgstab *s = (isphx_bicgstab *)ctx;
    const isphpbdx_f4 alpha = isphpbdx_f4_all(s->alpha);
    isphpbdx_f4 rr = isphpbdx_f4_all(0.0f), rs = rr;
    int chunk, end, k;
    isphx_block_chunks(s->system->sell->rows, block, &chunk, &end);
    for (k = chunk * ISPHX_LANES; k < end * ISPHX_LANES; k += 4) {
        const isphpbdx_f4 r =
            isphpbdx_f4_sub(isphpbdx_f4_load(s->r + k), isphpbdx_f4_mul(alpha, isphpbdx_f4_load(s->out + k)));
        isphpbdx_f4_store(s->x + k, isphx_madd4(isphpbdx_f4_load(s->x + k), alpha, isphpbdx_f4_load(s->y + k)));
        isphpbdx_f4_store(s->r + k, r);
        rr = isphx_madd4(rr, r, r);
        rs = isphx_madd4(rs, r, isphpbdx_f4_load(s->shadow + k));
    }
    s->system->partial[4 * block] = isphx_sum4(rr), s->system->partial[4 * block + 1] = isphx_sum4(rs);
}

static void isphx_bicgstab_run(isphx_bicgstab *s, void (*task)(void *, int), double sums[2]) {
    isphpbdx_run(s->system->machine->parallel, task, s, isphx_blocks(s->system->sell->rows));
    if (sums) isphx_sum_partials(s->system, 0, 2, sums);
}

static void isphx_bicgstab_product(isphx_bicgstab *s, const float *in, float *out, const float *dotted,
                                   double sums[2]) {
    s->in = in, s->out = out, s->dotted = dotted;
    isphx_bicgstab_run(s, isphx_bicgstab_product_task, sums);
}

/* y = M^-1 in */
static void isphx_bicgstab_precondition(isphx_bicgstab *s, const float *in) {
    isphx_coarse *coarse = s->system->coarse;
    int i;
    s->in = in;
    if (coarse) {
        isphpbdx_run(s->system->machine->parallel, isphx_bicgstab_restrict_task, s, isphx_coarse_blocks(coarse));
        for (i = 0; i < 2 * isphx_coarse_quads(coarse); ++i) isphx_coarse_solve_task(coarse, i);
    }
    isphx_bicgstab_run(s, isphx_bicgstab_precondition_task, NULL);
}

/* One iteration. False: the recurrence broke down before or after the half step; *rr holds |r|^2 either way. */
static bool isphx_bicgstab_iterate(isphx_bicgstab *s, double *rho, double *rr) {
    double sums[2], alpha, omega, rho_old = *rho;
    isphx_bicgstab_run(s, isphx_bicgstab_direction_task, NULL);
    isphx_bicgstab_precondition(s, s->p);
    isphx_bicgstab_product(s, s->y, s->v, s->shadow, sums);
    alpha = rho_old / sums[0];
    if (!isphx_finite_double(alpha)) return false;
    s->alpha = (float)alpha, s->out = s->v;
    isphx_bicgstab_run(s, isphx_bicgstab_update_task, sums);
    *rr = sums[0];
    isphx_bicgstab_precondition(s, s->r);
    isphx_bicgstab_product(s, s->y, s->t, s->r, sums);
    if (!(sums[1] > 0.0)) return *rr == 0.0;
    omega = sums[0] / sums[1];
    if (!isphx_finite_double(omega)) return false;
    s->alpha = s->omega = (float)omega, s->out = s->t;
    isphx_bicgstab_run(s, isphx_bicgstab_update_task, sums);
    *rr = sums[0], *rho = sums[1];
    s->beta = (float)((*rho / rho_old) * (alpha / omega));
    return isphpbdx_finite(s->beta) && *rho != 0.0;
}

/* The shadow residual starts as the residual: at the start and after a breakdown. */
static void isphx_bicgstab_restart(isphx_bicgstab *s, double rr, double *rho) {
    const size_t bytes = (size_t)isphx_padded(s->system->sell->rows) * sizeof(float);
    memcpy(s->shadow, s->r, bytes);
    memset(s->p, 0, bytes);
    memset(s->v, 0, bytes);
    s->beta = s->omega = 0.0f;
    *rho = rr;
}

/* r = b on entry, x the start (finite). A start with a larger residual than 0 has is dropped. */
static isph_solve_info isphx_bicgstab_solve(isphx_bicgstab *s, float tolerance, int cap, float *history) {
    const size_t bytes = (size_t)isphx_padded(s->system->sell->rows) * sizeof(float);
    isph_solve_info info = {ISPH_SOLVE_CAPPED, 0, 0.0f};
    double sums[2], norm, rr, rho;
    int breakdowns = 0;
    memcpy(s->t, s->r, bytes);
    memcpy(s->y, s->x, bytes);
    memset(s->x, 0, bytes);
    s->alpha = 0.0f, s->out = s->r;
    memcpy(s->shadow, s->r, bytes);
    isphx_bicgstab_run(s, isphx_bicgstab_update_task, sums);
    norm = sqrt(sums[0]);
    isphx_bicgstab_product(s, s->y, s->v, s->shadow, NULL);
    s->alpha = 1.0f, s->out = s->v;
    isphx_bicgstab_run(s, isphx_bicgstab_update_task, sums);
    rr = sums[0];
    if (!(rr <= norm * norm)) {
        memset(s->x, 0, bytes);
        memcpy(s->r, s->t, bytes);
        rr = norm * norm;
    }
    isphx_bicgstab_restart(s, rr, &rho);
    if (history) history[0] = norm > 0.0 ? (float)(sqrt(rr) / norm) : 0.0f;
    while (info.iterations < cap && sqrt(rr) > (double)tolerance * norm && rr > 0.0) {
        const bool going = isphx_bicgstab_iterate(s, &rho, &rr);
        ++info.iterations;
        if (history) history[info.iterations] = (float)(sqrt(rr) / norm);
        if (going) continue;
        if (++breakdowns > 8 || !isphx_finite_double(rr)) break;
        isphx_bicgstab_restart(s, rr, &rho);
    }
    info.residual = norm > 0.0 ? (float)(sqrt(rr) / norm) : 0.0f;
    if (!(sqrt(rr) > (double)tolerance * norm)) info.state = ISPH_SOLVE_CONVERGED;
    else if (info.iterations < cap) info.state = ISPH_SOLVE_BREAKDOWN;
    return info;
}

/* [matrix] The public matrix: the pieces above with memory of their own. */
struct isph_matrix {
    isph_matrix_desc desc;
    isphx_sell sell;
    isphx_coarse coarse;
    float *diagonal, *inverse;
    float *work[8]; /* one piece of memory, cut by the rows in use: four pairs for CG, seven singles for BiCGSTAB */
    double *partial;
    size_t bytes;
};

#define ISPHX_COOKIE_MATRIX 0x6973706du
#define ISPHX_COOKIE_SOLVE  0x69737073u

ISPHPBD_API isph_matrix_desc isph_matrix_desc_default(void) {
    isph_matrix_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.row_capacity = 32768;
    desc.nonzero_capacity = 64 * 32768;
    desc.cookie = ISPHX_COOKIE_MATRIX;
    return desc;
}

ISPHPBD_API isph_solve_desc isph_solve_desc_default(void) {
    isph_solve_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.tolerance = 1e-5f;
    desc.max_iterations = 1000;
    desc.preconditioner = ISPH_PRECONDITIONER_JACOBI;
    desc.cookie = ISPHX_COOKIE_SOLVE;
    return desc;
}

static isph_matrix *isphx_matrix_layout(isphpbdx_layout *layout, int rows, int nonzeros) {
    isph_matrix measured, *matrix = (isph_matrix *)isphpbdx_take(layout, 1, sizeof(isph_matrix));
    /* cppcheck-suppress uninitvar ; only its address counts: the layout writes every pointer */
    isph_matrix *target = matrix ? matrix : &measured;
    const size_t padded = (size_t)isphx_padded(rows);
    memset(target, 0, sizeof *target);
    isphx_sell_layout(&target->sell, layout, rows, nonzeros);
    isphx_coarse_layout(&target->coarse, layout, rows);
    target->diagonal = (float *)isphpbdx_take(layout, padded, sizeof(float));
    target->inverse = (float *)isphpbdx_take(layout, padded, sizeof(float));
    target->work[0] = (float *)isphpbdx_take(layout, 8 * padded, sizeof(float));
    target->partial = (double *)isphpbdx_take(layout, 4 * (size_t)isphx_blocks(rows), sizeof(double));
    return matrix;
}

ISPHPBD_API size_t isph_matrix_bytes(const isph_matrix_desc *desc) {
    isphpbdx_layout layout = {NULL, 0, false};
    if (!desc || desc->cookie != ISPHX_COOKIE_MATRIX || desc->row_capacity < 1 ||
        desc->row_capacity > ISPHX_MAX_POINTS || desc->nonzero_capacity < 0 || desc->nonzero_capacity > (1 << 30) ||
        !isphx_allocator_ok(desc->allocator))
        return 0;
    isphx_matrix_layout(&layout, desc->row_capacity, desc->nonzero_capacity);
    return layout.overflow ? 0 : layout.used;
}

ISPHPBD_API isph_matrix *isph_matrix_create(const isph_matrix_desc *desc, isphpbd_result *why) {
    isphpbdx_layout layout = {NULL, 0, false};
    const size_t bytes = isph_matrix_bytes(desc);
    isphpbd_allocator allocator;
    isph_matrix *matrix;
    if (!isphx_allocate(desc ? &desc->allocator : NULL, bytes, &allocator, &layout, why)) return NULL;
    matrix = isphx_matrix_layout(&layout, desc->row_capacity, desc->nonzero_capacity);
    matrix->desc = *desc;
    matrix->desc.allocator = allocator;
    matrix->bytes = bytes;
    return matrix;
}

ISPHPBD_API void isph_matrix_destroy(isph_matrix *matrix) {
    if (matrix) matrix->desc.allocator.free(matrix, matrix->bytes, matrix->desc.allocator.user);
}

/* Off-diagonal entries of a row; -1 when the row is malformed. */
static int isphx_csr_row(int rows, int row, const int *row_start, const int *columns, const float *values) {
    int e, n = 0;
    if (row_start[row] < 0 || row_start[row + 1] < row_start[row]) return -1;
    for (e = row_start[row]; e < row_start[row + 1]; ++e) {
        if (columns[e] < 0 || columns[e] >= rows || !isphpbdx_finite(values[e])) return -1;
        n += columns[e] != row;
    }
    return n;
}

/* Entries that the padded layout will take, or -1 for a malformed matrix. */
static int64_t isphx_csr_entries(int rows, const int *row_start, const int *columns, const float *values) {
    int64_t total = 0;
    int chunk, r;
    for (chunk = 0; chunk < isphx_chunks(rows); ++chunk) {
        int longest = 0;
        for (r = chunk * ISPHX_LANES; r < isphpbdx_mini(rows, (chunk + 1) * ISPHX_LANES); ++r) {
            const int n = isphx_csr_row(rows, r, row_start, columns, values);
            if (n < 0) return -1;
            longest = isphpbdx_maxi(longest, n);
        }
        total += (int64_t)longest * ISPHX_LANES;
    }
    return total;
}

/* Copies one chunk of compressed rows, eight side by side, padded with zeros to the longest. */
static void isphx_matrix_set_chunk(isph_matrix *matrix, int chunk, const int *row_start, const int *columns,
                                   const float *values) {
    isphx_sell *sell = &matrix->sell;
    float *value = sell->value + sell->offset[chunk];
    int length = 0, lane, e, pass, low = chunk * ISPHX_LANES, high = low;
    bool wide = false;
    for (pass = 0; pass < 2; ++pass) { /* first the extent of rows and columns, then the entries */
        unsigned char *index = isphx_chunk_index(sell, chunk);
        for (lane = 0; lane < ISPHX_LANES; ++lane) {
            const int row = chunk * ISPHX_LANES + lane;
            int n = 0, at;
            if (pass == 1) matrix->diagonal[row] = row < sell->rows ? 0.0f : 1.0f;
            for (e = row < sell->rows ? row_start[row] : 0; row < sell->rows && e < row_start[row + 1]; ++e) {
                if (pass == 0) low = isphpbdx_mini(low, columns[e]), high = isphpbdx_maxi(high, columns[e]);
                if (columns[e] == row) {
                    if (pass == 1) matrix->diagonal[row] += values[e];
                    continue;
                }
                at = n++ * ISPHX_LANES + lane;
                if (pass == 0) continue;
                value[at] = -values[e];
                if (wide) ((uint32_t *)(void *)index)[at] = (uint32_t)(columns[e] - low);
                else ((uint16_t *)(void *)index)[at] = (uint16_t)(columns[e] - low);
            }
            if (pass == 0) length = isphpbdx_maxi(length, n);
            for (at = n * ISPHX_LANES + lane; pass == 1 && at < length * ISPHX_LANES; at += ISPHX_LANES) {
                value[at] = 0.0f;
                if (wide) ((uint32_t *)(void *)index)[at] = 0;
                else ((uint16_t *)(void *)index)[at] = 0;
            }
        }
        wide = high - low >= ISPHX_NARROW_ROWS;
        sell->base[chunk] = wide ? ~low : low;
        sell->length[chunk] = length;
    }
}

ISPHPBD_API isphpbd_result isph_matrix_set(isph_matrix *matrix, int rows, const int *row_start, const int *columns,
                                           const float *values) {
    int64_t entries;
    int chunk, i;
    if (!matrix || rows < 1 || !row_start || !columns || !values) return ISPHPBD_BAD_ARGUMENT;
    if (rows > matrix->desc.row_capacity) return ISPHPBD_CAPACITY;
    entries = isphx_csr_entries(rows, row_start, columns, values);
    if (entries < 0) return ISPHPBD_BAD_ARGUMENT;
    if (entries > matrix->sell.entry_capacity) return ISPHPBD_CAPACITY;
    matrix->sell.rows = rows;
    for (i = 1; i < 8; ++i) matrix->work[i] = matrix->work[0] + i * isphx_padded(rows);
    matrix->coarse.count = 0;
    matrix->sell.offset[0] = 0;
    for (chunk = 0; chunk < isphx_chunks(rows); ++chunk) {
        isphx_matrix_set_chunk(matrix, chunk, row_start, columns, values);
        matrix->sell.offset[chunk + 1] = matrix->sell.offset[chunk] + matrix->sell.length[chunk] * ISPHX_LANES;
    }
    for (i = 0; i < isphx_padded(rows); ++i) {
        const float d = matrix->diagonal[i];
        matrix->inverse[i] = isphpbdx_abs(d) > 1e-30f ? 1.0f / d : 1.0f;
    }
    return ISPHPBD_OK;
}

ISPHPBD_API isphpbd_result isph_matrix_multiply(isph_matrix *matrix, const float *x, float *y) {
    int chunk, r;
    if (!matrix || !x || !y || matrix->sell.rows < 1) return ISPHPBD_BAD_ARGUMENT;
    for (chunk = 0; chunk < isphx_chunks(matrix->sell.rows); ++chunk) {
        float *padded = matrix->work[0];
        float out[ISPHX_LANES];
        isphpbdx_f4 acc[2];
        if (chunk == 0) {
            memcpy(padded, x, (size_t)matrix->sell.rows * sizeof(float));
            for (r = matrix->sell.rows; r < isphx_padded(matrix->sell.rows); ++r) padded[r] = 0.0f;
        }
        isphx_chunk_single(&matrix->sell, matrix->diagonal, chunk, padded, acc);
        isphpbdx_f4_store(out, acc[0]), isphpbdx_f4_store(out + 4, acc[1]);
        for (r = 0; r < ISPHX_LANES && chunk * ISPHX_LANES + r < matrix->sell.rows; ++r)
            y[chunk * ISPHX_LANES + r] = out[r];
    }
    return ISPHPBD_OK;
}

/* Galerkin coarse matrix with piecewise constant basis: couplings are the sums of the entries between two
   aggregates. */
static void isphx_matrix_coarsen(isph_matrix *matrix) {
    isphx_coarse *coarse = &matrix->coarse;
    int row, j;
    for (row = 0; row < coarse->count; ++row) coarse->link_count[row] = 0, coarse->diagonal[row] = 0.0f;
    for (row = 0; row < matrix->sell.rows; ++row) {
        const int chunk = row / ISPHX_LANES, lane = row % ISPHX_LANES, own = coarse->aggregate[row];
        coarse->diagonal[own] += matrix->diagonal[row];
        for (j = 0; j < matrix->sell.length[chunk]; ++j) {
            const int e = j * ISPHX_LANES + lane;
            const float value = matrix->sell.value[matrix->sell.offset[chunk] + e];
            const int other = coarse->aggregate[isphx_column(&matrix->sell, chunk, e)];
            if (other == own) coarse->diagonal[own] -= value;
            else if (other < own && value != 0.0f) isphx_coarse_link(coarse, own, other, value);
        }
    }
}

/* False where the coarse factor does not fit. */
static bool isphx_matrix_aggregate(isph_matrix *matrix, const int *aggregate, int count) {
    isphx_coarse *coarse = &matrix->coarse;
    int i;
    memcpy(coarse->aggregate, aggregate, (size_t)matrix->sell.rows * sizeof(int));
    coarse->count = count;
    isphx_coarse_members(coarse, matrix->sell.rows);
    isphx_matrix_coarsen(matrix);
    isphx_coarse_first(coarse);
    if (isphx_coarse_envelope(coarse) < 0.0) return false;
    for (i = 0; i < isphx_coarse_quads(coarse); ++i) isphx_coarse_factor_task(coarse, i);
    return true;
}

/* How large a factor is comes out only when most of the work is done: the old aggregates wait in the work vectors. */
ISPHPBD_API isphpbd_result isph_matrix_set_aggregates(isph_matrix *matrix, const int *aggregate, int count) {
    int i, before;
    int *kept;
    if (!matrix || !aggregate || count < 1 || matrix->sell.rows < 1) return ISPHPBD_BAD_ARGUMENT;
    if (count > matrix->coarse.capacity) return ISPHPBD_CAPACITY;
    for (i = 0; i < matrix->sell.rows; ++i) {
        if (aggregate[i] < 0 || aggregate[i] >= count) return ISPHPBD_BAD_ARGUMENT;
    }
    kept = (int *)(void *)matrix->work[0], before = matrix->coarse.count;
    memcpy(kept, matrix->coarse.aggregate, (size_t)matrix->sell.rows * sizeof(int));
    if (isphx_matrix_aggregate(matrix, aggregate, count)) return ISPHPBD_OK;
    matrix->coarse.count = 0;
    if (before > 0) (void)isphx_matrix_aggregate(matrix, kept, before);
    return ISPHPBD_CAPACITY;
}

/* Takes the mean out of the first n of a strided vector. */
static void isphx_remove_mean(float *v, int n, int stride) {
    double sum = 0.0;
    int i;
    for (i = 0; i < n; ++i) sum += (double)v[i * stride];
    for (i = 0; i < n; ++i) v[i * stride] -= (float)(sum / n);
}

static bool isphx_solve_desc_ok(const isph_matrix *matrix, const isph_solve_desc *desc) {
    return desc && desc->cookie == ISPHX_COOKIE_SOLVE && isphpbdx_finite(desc->tolerance) && desc->tolerance >= 0.0f &&
           desc->max_iterations >= 0 &&
           (desc->preconditioner == ISPH_PRECONDITIONER_NONE || desc->preconditioner == ISPH_PRECONDITIONER_JACOBI ||
            (desc->preconditioner == ISPH_PRECONDITIONER_TWO_LEVEL && matrix->coarse.count > 0));
}

/* Checks the arguments of a solve and sets up the system on the matrix's memory; b goes to r and the start to x, each
   with the given stride and scaled so that squares neither vanish nor overflow. */
static isphpbd_result isphx_solve_begin(isph_matrix *matrix, const float *b, const float *x,
                                        const isph_solve_desc *desc, isphx_system *system, isphx_machine *machine,
                                        float *r0, float *x0, int stride, float *scale) {
    const int rows = matrix->sell.rows;
    float most = 0.0f;
    int i;
    if (!b || !x || rows < 1) return ISPHPBD_BAD_ARGUMENT;
    if (!isphx_solve_desc_ok(matrix, desc)) return ISPHPBD_BAD_DESC;
    for (i = 0; i < rows; ++i) {
        if (!isphpbdx_finite(b[i]) || (desc->warm_start && !isphpbdx_finite(x[i]))) return ISPHPBD_BAD_ARGUMENT;
        most = isphpbdx_max(most, isphpbdx_abs(b[i]));
    }
    *scale = most > 1e-37f ? most : 1.0f;
    memset(matrix->work[0], 0, 8 * (size_t)isphx_padded(rows) * sizeof(float));
    for (i = 0; i < rows; ++i) r0[i * stride] = b[i] / *scale, x0[i * stride] = desc->warm_start ? x[i] / *scale : 0.0f;
    for (i = 0; i < isphx_padded(rows); ++i) {
        const float d = matrix->diagonal[i];
        const bool scaled = desc->preconditioner != ISPH_PRECONDITIONER_NONE && isphpbdx_abs(d) > 1e-30f;
        matrix->inverse[i] = scaled ? 1.0f / d : 1.0f;
    }
    if (desc->constant_nullspace) isphx_remove_mean(r0, rows, stride);
    memset(machine, 0, sizeof *machine);
    machine->parallel = &matrix->desc.parallel;
    memset(system, 0, sizeof *system);
    system->machine = machine;
    system->sell = &matrix->sell;
    system->diagonal = matrix->diagonal, system->inverse = matrix->inverse;
    system->coarse = desc->preconditioner == ISPH_PRECONDITIONER_TWO_LEVEL ? &matrix->coarse : NULL;
    system->partial = matrix->partial;
    return ISPHPBD_OK;
}

/* Gives the solution out, or 0 where that has the smaller residual, and judges how it went. */
static void isphx_solve_end(const isph_matrix *matrix, const isph_solve_desc *desc, float *from, int stride,
                            float scale, isph_solve_info *out, float *x, isph_solve_info *info) {
    const bool useless = !(out->residual <= 1.0f);
    int i;
    if (useless) out->residual = 1.0f;
    if (desc->constant_nullspace && !useless) isphx_remove_mean(from, matrix->sell.rows, stride);
    for (i = 0; i < matrix->sell.rows; ++i) x[i] = useless ? 0.0f : from[i * stride] * scale;
    if (info) *info = *out;
}

ISPHPBD_API isphpbd_result isph_matrix_solve_cg(isph_matrix *matrix, const float *b, float *x,
                                                const isph_solve_desc *desc, isph_solve_info *info) {
    isphx_system system;
    isphx_machine machine;
    isph_solve_info out;
    float scale;
    isphpbd_result result;
    if (!matrix) return ISPHPBD_BAD_ARGUMENT;
    result = isphx_solve_begin(matrix, b, x, desc, &system, &machine, matrix->work[2], matrix->work[0], 2, &scale);
    if (result != ISPHPBD_OK) return result;
    system.x = matrix->work[0], system.r = matrix->work[2], system.d = matrix->work[4], system.q = matrix->work[6];
    system.history = desc->history;
    isphx_cg(&system, true, true, desc->tolerance, desc->max_iterations, 0); /* the start is 0 unless one was given */
    (void)isphx_run_until(&machine, NULL, NULL);
    out.iterations = system.result.iterations[0];
    out.residual = system.result.residual[0];
    out.state = out.residual <= desc->tolerance ? ISPH_SOLVE_CONVERGED
                : system.result.breakdown       ? ISPH_SOLVE_BREAKDOWN
                                                : ISPH_SOLVE_CAPPED;
    isphx_solve_end(matrix, desc, system.x, 2, scale, &out, x, info);
    return ISPHPBD_OK;
}

ISPHPBD_API isphpbd_result isph_matrix_solve_bicgstab(isph_matrix *matrix, const float *b, float *x,
                                                      const isph_solve_desc *desc, isph_solve_info *info) {
    isphx_system system;
    isphx_machine machine;
    isphx_bicgstab s;
    isph_solve_info out;
    float scale;
    isphpbd_result result;
    if (!matrix) return ISPHPBD_BAD_ARGUMENT;
    result = isphx_solve_begin(matrix, b, x, desc, &system, &machine, matrix->work[1], matrix->work[0], 1, &scale);
    if (result != ISPHPBD_OK) return result;
    memset(&s, 0, sizeof s);
    s.system = &system;
    s.x = matrix->work[0], s.r = matrix->work[1], s.shadow = matrix->work[2], s.p = matrix->work[3];
    s.v = matrix->work[4], s.t = matrix->work[5], s.y = matrix->work[6];
    out = isphx_bicgstab_solve(&s, desc->tolerance, desc->max_iterations, desc->history);
    isphx_solve_end(matrix, desc, s.x, 1, scale, &out, x, info);
    return ISPHPBD_OK;
}

/* ==== [fluid] implementation ========================================================================================
   Notation of the comments: V = dx^3, H support, t = 1 - r/H, x_ab = x_a - x_b, F = W'/r. The dimensionless weight
   w_ab = -2 V F dx^2 is all that is stored of a pair: its sum over a full lattice is K, the Laplacian of f at a is sum
   w (f_b - f_a) / dx^2 and its gradient -sum w (f_b - f_a) x_ab / (2 dx^2). With several materials everything is
   symmetrised by s = sqrt(rho_ref / rho): the unknown is s p, so that one matrix of pure geometry serves all
   densities. */
#define ISPHX_TABLE              128 /* intervals of the wall tables over 0 .. H */
#define ISPHX_WALLS              6   /* walls that one particle can meet */
#define ISPHX_GROUP              16  /* particles that look for boundaries together */
#define ISPHX_NEARBY             64  /* boundaries that they may find */
#define ISPHX_WALL_BLOCK         512 /* particles whose walls share their room */
#define ISPHX_STRETCH            8   /* blocks whose matrix entries share their room */
#define ISPHX_WALLS_PER_BLOCK    (3 * ISPHX_WALL_BLOCK)
#define ISPHX_IMPULSES           256   /* handed to the coupler at a time */
#define ISPHX_LIST               512   /* neighbours that one particle can have */
#define ISPHX_FREE_SURFACE_BAND  0.08f /* kernel deficit below which a particle counts as covered */
#define ISPHX_FREE_SURFACE_WIDTH 0.04f
#define ISPHX_AIR                1.75f /* p = 0 is half a spacing above the surface: 2, a little less is livelier */
#define ISPHX_SECOND_SHARE       0.35f  /* at a support of 2 spacings, fading to 0 at 2.4 */
#define ISPHX_HOLE               0.15f  /* deficit up to which air is a hole: next to one missing particle it is 0.12 */
#define ISPHX_FLAT_SURFACE       0.22f  /* deficit at a flat surface of a lattice */
#define ISPHX_COVERED            0.06f  /* deficit up to which a density below rest is believed */
#define ISPHX_OPEN               0.12f  /* deficit above which it is a surface, where suction is not allowed */
#define ISPHX_SQUEEZED           1.3f   /* density that no flow reaches: something was put on top of something else */
#define ISPHX_CRUSHED            1.6f   /* density at which only positions are mended, velocities left alone */
#define ISPHX_LEAVE_SOLID        4.0f   /* speed that pressure gives to what is inside a solid, in sqrt(g dx) */
#define ISPHX_LEAVE_HEAP         12.0f  /* and next to what is squeezed: less leaves great heaps standing longer */
#define ISPHX_PRESSURE_CAP       0.15f  /* bound of the ordering pressure, in rho dx^2 / dt^2 */
#define ISPHX_RELAXATION         0.117f /* time to repair a density error, in sqrt(dx / g) */
#define ISPHX_SMOOTHING          0.37f  /* velocity smoothing per sqrt(dx / g) */
#define ISPHX_SHIFT              4.0f   /* tendency to an even arrangement inside, over the path of a substep; on the
                                           way of one spacing a particle's disorder in a lattice goes by exp(-4.4) */
#define ISPHX_SHIFT_MOST         0.3f   /* and its bound */
#define ISPHX_PROJECTION_REACH   0.5f   /* spacings that the density projection may move a particle per substep */
#define ISPHX_SKIN_FRICTION      0.01f  /* Cf of a smooth wall at the Reynolds numbers of a bath */
#define ISPHX_IMPLICIT_VISCOSITY 0.1f   /* nu dt / dx^2 above which viscosity is solved for */
#define ISPHX_FORGETS            0.1f   /* share of the last pressure that a fluid just thick enough for it forgets */
#define ISPHX_THICK_TOLERANCE    0.1f   /* of the pressure solve then, in shares of the one that is asked for */

typedef struct isphx_entry { /* a wall as seen by one particle in this substep */
    isphpbd_vec3 normal;     /* from the wall to the particle */
    float distance;
    isphpbd_vec3 velocity; /* of the wall */
    isphpbd_vec3 impulse;  /* on the wall so far, N s */
    float gradient;        /* |G|, 1/m: share of the kernel gradient that the wall holds */
    float area;            /* 1/m: what pressure acts on, on the same scale; before walls are joined isphx_foot.share */
    float grip;            /* weight of the viscous coupling to the wall */
    float friction;
    float inverse_mass; /* how it yields by itself; of a body, from the solve on, the lift (isphx_body_lift) */
    float skin;         /* viscous_grip of the wall: its share of skin friction */
    int boundary;       /* index, or -1: of the coupler */
    uint32_t tag;
} isphx_entry;

#define ISPHX_COARSE_SIZES 7
static const int isphx_coarse_sizes[ISPHX_COARSE_SIZES] = {4, 5, 6, 8, 12, 16, 32}; /* spacings */

typedef struct isphx_wall_row {
    float share, weight, gradient, moment, grip;
} isphx_wall_row;

typedef struct isphx_tables { /* kernel constants and half-space shares over the distance from a wall */
    float value_scale;        /* V W = value_scale t^4 (5 - 4 t) */
    float weight_scale;       /* w = weight_scale t^3 */
    float full_weight;        /* K */
    float value_self;         /* V W(0) */
    float second_share;       /* of the second moment in the density */
    int neighbours;           /* on the lattice */
    isphx_wall_row wall[ISPHX_TABLE + 2];
    float coupling[ISPHX_COARSE_SIZES]
                  [4]; /* of full coarse cells by size and by what they share: face 1, edge 2, corner 3 */
} isphx_tables;

typedef struct isphx_triangle {
    isphpbd_vec3 corner, edge1, edge2, normal; /* local coordinates */
    uint32_t open_edges;                       /* bit k: edge k has no neighbour */
} isphx_triangle;

typedef struct isphx_node { /* of a bounding volume tree: leaves have count > 0 */
    float lo[3], hi[3];
    int first, count; /* leaf: triangles; inner: first = right child, the left one follows the node */
} isphx_node;

typedef struct isphx_pose {
    isphpbd_vec3 position;
    isphpbd_quat rotation;
} isphx_pose;

typedef struct isphx_motion {
    isphx_pose pose;
    isphpbd_vec3 linear, angular; /* velocities */
} isphx_motion;

typedef struct isphx_boundary {
    bool alive;
    bool given; /* a motion was set while a substep is under way: it counts afterwards */
    isphx_motion given_motion;
    uint32_t generation;
    isph_boundary_desc desc; /* mesh pointers cleared: nothing of the user's is kept */
    isphx_pose pose, end;    /* at the start and the end of the substep */
    float lo[3], hi[3];      /* local bounds */
    int triangle_first, triangle_count, node_first, node_count;
    uint64_t shape_hash;          /* of all that does not change while it lives */
    double linear[3], angular[3]; /* impulse since last taken */
    /* of the substep that runs */
    float world_lo[3], world_hi[3];       /* bounds at its start */
    isphpbd_vec3 linear_now, angular_now; /* velocities, as far as they are known */
    double gain[6];                       /* impulse on a body so far: linear, and angular about its position */
    double inverse_inertia[3][3];         /* of a body, world axes */
    int entry_first, entry_count;         /* of a body: in body_entry */
} isphx_boundary;

typedef struct isphx_material {
    float density, viscosity;
    float scale; /* s = sqrt(rho_ref / rho) */
    float grip;  /* sqrt(viscosity) */
} isphx_material;

typedef struct isphx_substep { /* constants of the substep that runs */
    float seconds, inverse_seconds;
    float density;    /* rho_ref */
    float relaxation; /* share of the density error repaired now */
    float smoothing;  /* per weight w */
    float diffusion;  /* nu dt / dx^2 of the most viscous material */
    float viscous_seconds; /* for which explicit viscosity acts: `seconds`, or less where that would be unstable */
    float sound;           /* m/s, weakly compressible: what a substep of this length bears */
    bool several, implicit_viscosity;
    bool squeezed; /* some particle is: something was put on top of something else */
    float drive;   /* m/s: the fastest boundary that the caller moves */
    int component; /* of the implicit viscosity solve */
    float lean;    /* share of the last pressure, put into the predicted velocities or (< 0) taken out of them */
    float memory;  /* share of it that a thick fluid starts from */
    float alpha;
} isphx_substep;

typedef struct isphx_state {    /* the particles between substeps: what the user sees, and what a substep starts from */
    float *position, *velocity; /* x y z - */
    float *pair;                /* s p of the last solve, where the next one starts; and nothing */
    float *pressure, *density;
    uint32_t *id, *user;
    uint8_t *material;
} isphx_state;

typedef struct isphx_blocks_frame { /* cells of the coarse level */
    int size, dim[3];
    double lo[3]; /* m */
    bool wraps[3];
    const float *coupling;
    int *table; /* aggregate of every cell, or -1 */
} isphx_blocks_frame;

typedef struct isphx_vessel { /* of an aggregate, then of its connected component at the root */
    int root;                 /* the lowest aggregate of the component */
    bool yields;              /* a wall gives way to the pressure */
    float room;               /* particles that find a place in it in this substep */
    float excess[2], weight;  /* s . b of both right sides, then what is too much of it over s . s; s . s */
    float push[3], area;      /* of bodies with mass: sum of area times normal, and of area */
    float least;              /* pressure */
} isphx_vessel;

enum { ISPHX_NEIGHBOURS, ISPHX_WALL_SEARCH, ISPHX_VISCOSITY, ISPHX_PRESSURE, ISPHX_MOVE, ISPHX_TIMERS };

struct isph_fluid {
    isph_fluid_desc desc;
    size_t bytes;
    isphx_tables tables;
    float dx, reach, volume, reference_acceleration, max_speed, max_substep;
    bool solver_enabled, stepping;
    const void *owner; /* who alone may step and change it; NULL: everybody */
    isph_coupler coupler;
    int count, material_count, boundary_count, triangle_count, node_count;
    uint32_t edits;   /* times that the user put particles elsewhere */
    uint32_t changes; /* times that the particles became others or got another order: views of before are void */
    isphx_material *material_table;
    float *material_mass; /* kg, of one particle */
    isphx_boundary *boundary;
    int *active; /* boundaries that are alive, in this substep */
    int active_count;
    isphx_triangle *triangle;
    isphx_node *node;
    isphx_state state;
    /* particles of the substep that runs, in the order of its sort; floats in groups of four */
    float *position, *velocity; /* x y z - at its start; the fourth of position carries s p */
    float *star, *next;         /* predicted and then next velocity, next position */
    float *spread;              /* S = V sum F x_ab + G, and density / rest */
    float *shape;               /* what makes pressure gradients true, symmetric: xx yy zz, and the deficit; */
    float *skew;                /* and its xy yz zx, in threes */
    float *wall;                /* sum of G over walls, and of u_wall . G */
    float *moment;              /* walls' shares of the second moment, xx yy zz, and of the kernel; lives in `next` */
    float *mixed;               /* the same, xy yz zx, and their share of K; lives in `star` */
    float *scale;               /* s of the material */
    float *diagonal, *inverse;
    float *pair[4];            /* solution (the next start), residual, direction, product */
    float *density_pressure;   /* solution of the density projection, m^2 */
    float *pressure, *density; /* Pa, over rest density */
    uint32_t *id, *user;
    uint8_t *material;
    unsigned char *scratch; /* 8 bytes per particle: cells of the coarse level */
    int *entry_first;
    uint8_t *entry_count;
    isphx_entry *entry;
    int *body_entry, *body_particle;   /* entries that belong to bodies, body by body: the end of the next two arrays */
    bool shells;                       /* a mesh without thickness is there */
    bool bodies;                       /* a boundary with mass is there */
    float *wall_impulse, *wall_change; /* per entry of the coupler, inside the solve */
    int *yielding_first;               /* of them, per block of rows: blocks + 1 */
    isph_wall_impulse *impulse;
    uint32_t *slot_generation;
    int *slot_index, *free_slot;
    int slots_used, free_count;
    double *partial; /* 8 per block */
    uint32_t *block_flags;
    isphx_cells cells;
    isphx_sell sell;
    isphx_coarse coarse;
    int slot_bits;
    isph_stats stats;
    uint32_t flags;
    uint32_t told; /* kinds of flags that the logger knows of */
    /* of the substep that runs */
    isphx_substep now;
    isphx_machine machine;
    bool under_way; /* it has begun and is not done */
    int stage;      /* the next one */
    int rounds;     /* that the coupler has sent back */
    bool finished;  /* the coupler has seen its end: there is no way back */
    bool hurry;
    int attempt;          /* of rows and coarse level, which may not fit at first */
    int round, round_end; /* blocks of every stretch whose rows are found now */
    isphx_cells_job sorting;
    isphx_blocks_frame frame;
    isphx_system system;
    int impulse_count;
    isph_stats before; /* of the last one */
    uint64_t ticks[ISPHX_TIMERS], lap;
};

/* ---- constants ---- */
typedef struct isphx_scales {
    double reach, value, weight;
} isphx_scales; /* support in spacings; V W and w at t = 1 */

static double isphx_weight_at(const isphx_scales *k, double r) { /* w */
    const double t = 1.0 - r / k->reach;
    return t > 0.0 ? k->weight * t * t * t : 0.0;
}
static double isphx_value_at(const isphx_scales *k, double r) { /* V W */
    const double t = 1.0 - r / k->reach;
    return t > 0.0 ? k->value * t * t * t * t * (5.0 - 4.0 * t) : 0.0;
}

typedef struct isphx_lattice {
    double value, weight, moment, wall_value, wall_weight, wall_gradient, wall_grip;
    int neighbours;
} isphx_lattice;

/* Sums over the cubic lattice of spacing 1; the wall_* ones over its lower half, as a wall at half a spacing sees
   it. */
static isphx_lattice isphx_lattice_sums(const isphx_scales *scales) {
    isphx_lattice sum = {0, 0, 0, 0, 0, 0, 0, 0};
    const int n = (int)scales->reach + 1;
    int i, j, k;
    for (k = -n; k <= n; ++k)
        for (j = -n; j <= n; ++j)
            for (i = -n; i <= n; ++i) {
                const double r = sqrt((double)(i * i + j * j + k * k));
                const double value = isphx_value_at(scales, r), weight = isphx_weight_at(scales, r);
                if (r >= scales->reach) continue;
                sum.value += value;
                if (i == 0 && j == 0 && k == 0) continue;
                sum.neighbours++;
                sum.weight += weight;
                sum.moment += 0.5 * weight * i * i;
                if (j >= 0) continue;
                sum.wall_value += value;
                sum.wall_weight += weight;
                sum.wall_gradient += 0.5 * weight * -j;
                sum.wall_grip += weight * -2.0 * j;
            }
    return sum;
}

/* Half-space integrals at distance d (everything in spacings), by Simpson's rule over shells of radius s: share = int
   2 pi s (s - d) W, weight the same of w, gradient = int 2 pi s W, moment = int (2 pi/3)(s^4 - d^3 s)(-F). */
static void isphx_half_space(const isphx_scales *scales, double d, double out[5]) {
    const int steps = 64;
    const double pi = 3.14159265358979323846, width = (scales->reach - d) / steps, held = d > 0.5 ? d : 0.5;
    int i, k;
    for (k = 0; k < 5; ++k) out[k] = 0.0;
    for (i = 0; i <= steps; ++i) {
        const double s = d + width * i, depth = s - d;
        const double simpson = width / 3.0 * (i == 0 || i == steps ? 1.0 : i % 2 ? 4.0 : 2.0);
        const double value = simpson * isphx_value_at(scales, s), weight = simpson * isphx_weight_at(scales, s);
        out[0] += 2.0 * pi * s * depth * value;
        out[1] += 2.0 * pi * s * depth * weight;
        out[2] += 2.0 * pi * s * value;
        out[3] += pi / 3.0 * (s * s * s * s - d * d * d * s) * weight;
        out[4] += 2.0 * pi * s * (depth + depth * depth / (2.0 * held)) * weight;
    }
}

/* Kernel scales such that the lattice is exact: it has density 1, and the second moment of w is 2. */
static isphx_scales isphx_scales_make(float support) {
    const double reach = (double)support, h = 0.5 * reach, pi = 3.14159265358979323846;
    isphx_scales scales;
    isphx_lattice sum;
    scales.reach = reach;
    scales.value = 21.0 / (16.0 * pi * h * h * h);
    scales.weight = 210.0 / (16.0 * pi * h * h * h * h * h);
    sum = isphx_lattice_sums(&scales);
    scales.value /= sum.value;
    scales.weight /= sum.moment;
    return scales;
}

/* Sum of w between two full cells of m^3 lattice points that share a face (kind 1), an edge (2) or a corner (3), per
   point of a cell. */
static double isphx_cell_coupling(const isphx_scales *scales, int m, int kind) {
    const int n = (int)scales->reach + 1;
    double sum = 0.0;
    int i, j, k;
    for (k = -n; k <= n; ++k)
        for (j = -n; j <= n; ++j)
            for (i = 1; i <= n; ++i) {
                const double r = sqrt((double)(i * i + j * j + k * k));
                double pairs = isphpbdx_mini(i, m);
                if ((kind >= 2 && j < 1) || (kind >= 3 && k < 1)) continue;
                pairs *= kind >= 2 ? isphpbdx_mini(j, m) : isphpbdx_maxi(m - (j < 0 ? -j : j), 0);
                pairs *= kind >= 3 ? isphpbdx_mini(k, m) : isphpbdx_maxi(m - (k < 0 ? -k : k), 0);
                sum += pairs * isphx_weight_at(scales, r);
            }
    return sum / ((double)m * m * m);
}

/* The wall tables, scaled to be exact for a lattice at dx/2. */
static void isphx_tables_make(isphx_tables *t, float support) {
    const isphx_scales scales = isphx_scales_make(support);
    const isphx_lattice sum = isphx_lattice_sums(&scales);
    double half[5], scale[5];
    int i, k;
    t->value_scale = t->value_self = (float)scales.value;
    t->weight_scale = (float)scales.weight;
    t->full_weight = (float)sum.weight;
    t->neighbours = sum.neighbours;
    t->second_share = ISPHX_SECOND_SHARE * isphpbdx_clamp((2.4f - support) / 0.4f, 0.0f, 1.0f);
    isphx_half_space(&scales, 0.5, half);
    scale[0] = sum.wall_value / half[0], scale[1] = sum.wall_weight / half[1], scale[2] = sum.wall_gradient / half[2];
    scale[3] = 1.0, scale[4] = sum.wall_grip / half[4];
    for (i = 0; i < ISPHX_TABLE + 2; ++i) {
        const double d = scales.reach * isphpbdx_mini(i, ISPHX_TABLE) / ISPHX_TABLE;
        isphx_half_space(&scales, d, half);
        for (k = 0; k < 5; ++k) half[k] *= scale[k];
        t->wall[i].share = (float)half[0], t->wall[i].weight = (float)(half[1] / sum.weight);
        t->wall[i].gradient = (float)half[2], t->wall[i].moment = (float)half[3], t->wall[i].grip = (float)half[4];
    }
    for (i = 0; i < ISPHX_COARSE_SIZES; ++i) {
        for (k = 1; k < 4; ++k) t->coupling[i][k] = (float)isphx_cell_coupling(&scales, isphx_coarse_sizes[i], k);
    }
}

/* Shares of a wall at distance d (in supports), linear between table rows. */
static isphx_wall_row isphx_wall_shares(const isphx_tables *t, float d) {
    const float at = isphpbdx_clamp(d, 0.0f, 1.0f) * (float)ISPHX_TABLE;
    const int i = (int)at;
    const float f = at - (float)i;
    const isphx_wall_row *a = t->wall + i, *b = a + 1;
    isphx_wall_row row;
    row.share = a->share + f * (b->share - a->share);
    row.weight = a->weight + f * (b->weight - a->weight);
    row.gradient = a->gradient + f * (b->gradient - a->gradient);
    row.moment = a->moment + f * (b->moment - a->moment);
    row.grip = a->grip + f * (b->grip - a->grip);
    return row;
}

/* ---- creation ---- */
#define ISPHX_COOKIE_FLUID    0x69737066u
#define ISPHX_COOKIE_MATERIAL 0x69737061u
#define ISPHX_COOKIE_BOUNDARY 0x69737062u

ISPHPBD_API isph_fluid_desc isph_fluid_desc_default(void) {
    isph_fluid_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.gravity = isphpbd_v3(0.0f, -9.81f, 0.0f);
    desc.spacing = 0.05f;
    desc.support = 2.0f;
    desc.preconditioner = ISPH_PRECONDITIONER_TWO_LEVEL;
    desc.density_projection = true;
    desc.tolerance = 0.05f;
    desc.max_iterations = 50;
    desc.max_substeps = 8;
    desc.cfl = 1.0f;
    desc.particle_capacity = 32768;
    desc.material_capacity = 8;
    desc.boundary_capacity = 64;
    desc.triangle_capacity = 8192;
    desc.cookie = ISPHX_COOKIE_FLUID;
    return desc;
}

static bool isphx_in(float v, float lo, float hi) { return isphpbdx_finite(v) && v >= lo && v <= hi; }

static bool isphx_gravity_ok(isphpbd_vec3 gravity) {
    return isphpbdx_finite3(gravity) && isphpbdx_length(gravity) < 1e6f;
}

/* What is wrong with a desc, in words, or NULL. */
static const char *isphx_budget_fault(int max_iterations, int max_substeps, float tolerance) {
    if (max_iterations < 1 || max_iterations > 100000) return "max_iterations must be 1..100000";
    if (max_substeps < 1 || max_substeps > 1000000) return "max_substeps must be 1..1000000";
    if (!isphx_in(tolerance, 0.0f, 1.0f) || tolerance == 1.0f) return "tolerance must be >= 0 and < 1";
    return NULL;
}

static const char *isphx_capacity_fault(const isph_fluid_desc *d) {
    if (d->particle_capacity < 1 || d->particle_capacity > ISPHX_MAX_POINTS / 4)
        return "particle_capacity must be 1..2^24";
    if (d->material_capacity < 1 || d->material_capacity > 255) return "material_capacity must be 1..255";
    if (d->boundary_capacity < 0 || d->boundary_capacity > 65535) return "boundary_capacity must be 0..65535";
    if (d->triangle_capacity < 0 || d->triangle_capacity > 1 << 24) return "triangle_capacity must be 0..2^24";
    return NULL;
}

static const char *isphx_fluid_fault(const isph_fluid_desc *d) {
    const char *fault = isphx_budget_fault(d->max_iterations, d->max_substeps, d->tolerance);
    if (fault) return fault;
    if (!isphx_gravity_ok(d->gravity)) return "gravity is not finite or too large";
    if (!isphx_in(d->spacing, 1e-4f, 1e3f)) return "spacing must be 1e-4..1e3";
    if (!isphx_in(d->support, 1.8f, 3.2f)) return "support must be 1.8..3.2";
    if (d->solver > ISPH_SOLVER_WEAKLY_COMPRESSIBLE) return "unknown solver";
    if (d->linear_solver > ISPH_LINEAR_BICGSTAB) return "unknown linear_solver";
    if (d->preconditioner > ISPH_PRECONDITIONER_TWO_LEVEL) return "unknown preconditioner";
    if (!isphx_in(d->cfl, 0.05f, 4.0f)) return "cfl must be 0.05..4";
    if (!isphx_in(d->max_substep_seconds, 0.0f, 1.0f)) return "max_substep_seconds must be 0..1";
    if (!isphx_in(d->sound_speed, 0.0f, 1e5f)) return "sound_speed must be 0..1e5";
    if (!isphx_in(d->max_speed, 0.0f, 1e6f)) return "max_speed must be 0..1e6";
    if (!isphx_allocator_ok(d->allocator)) return "the allocator needs both alloc and free";
    return isphx_capacity_fault(d);
}

static int isphx_wall_blocks(int rows) { return (rows + ISPHX_WALL_BLOCK - 1) / ISPHX_WALL_BLOCK; }

/* Matrix entries kept per stretch of rows: 1.6 times the lattice's, so that moderate crowding fits. */
static int isphx_stretch_entries(int neighbours) {
    return (ISPHX_STRETCH * ISPHX_BLOCK * neighbours * 8 / 5 + 255) / ISPHX_LANES * ISPHX_LANES;
}
static int isphx_stretches(int rows) { return (isphx_blocks(rows) + ISPHX_STRETCH - 1) / ISPHX_STRETCH; }

static void isphx_layout_state(isphx_state *state, isphpbdx_layout *layout, size_t n) {
    state->position = (float *)isphpbdx_take(layout, 4 * n, sizeof(float));
    state->velocity = (float *)isphpbdx_take(layout, 4 * n, sizeof(float));
    state->pair = (float *)isphpbdx_take(layout, 2 * n, sizeof(float));
    state->pressure = (float *)isphpbdx_take(layout, n, sizeof(float));
    state->density = (float *)isphpbdx_take(layout, n, sizeof(float));
    state->id = (uint32_t *)isphpbdx_take(layout, n, sizeof(uint32_t));
    state->user = (uint32_t *)isphpbdx_take(layout, n, sizeof(uint32_t));
    state->material = (uint8_t *)isphpbdx_take(layout, n, sizeof(uint8_t));
}

static void isphx_layout_particles(isph_fluid *f, isphpbdx_layout *layout, size_t n) {
    float **four[7];
    float **one[6];
    size_t k;
    isphx_layout_state(&f->state, layout, n);
    four[0] = &f->position, four[1] = &f->velocity, four[2] = &f->star, four[3] = &f->next;
    four[4] = &f->spread, four[5] = &f->shape, four[6] = &f->wall;
    one[0] = &f->scale, one[1] = &f->diagonal, one[2] = &f->inverse;
    one[3] = &f->pressure, one[4] = &f->density, one[5] = &f->density_pressure;
    for (k = 0; k < 7; ++k) *four[k] = (float *)isphpbdx_take(layout, 4 * n, sizeof(float));
    for (k = 0; k < 6; ++k) *one[k] = (float *)isphpbdx_take(layout, n, sizeof(float));
    f->skew = (float *)isphpbdx_take(layout, 3 * n, sizeof(float));
    for (k = 0; k < 4; ++k) f->pair[k] = (float *)isphpbdx_take(layout, 2 * n, sizeof(float));
    f->id = (uint32_t *)isphpbdx_take(layout, n, sizeof(uint32_t));
    f->user = (uint32_t *)isphpbdx_take(layout, n, sizeof(uint32_t));
    f->material = (uint8_t *)isphpbdx_take(layout, n, sizeof(uint8_t));
    f->scratch = (unsigned char *)isphpbdx_take(layout, n + 32, 8);
    f->entry_first = (int *)isphpbdx_take(layout, n, sizeof(int));
    f->entry_count = (uint8_t *)isphpbdx_take(layout, n, sizeof(uint8_t));
    f->slot_generation = (uint32_t *)isphpbdx_take(layout, n, sizeof(uint32_t));
    f->slot_index = (int *)isphpbdx_take(layout, n, sizeof(int));
    f->free_slot = (int *)isphpbdx_take(layout, n, sizeof(int));
}

static isph_fluid *isphx_fluid_layout(isphpbdx_layout *layout, const isph_fluid_desc *desc) {
    isph_fluid measured, *fluid = (isph_fluid *)isphpbdx_take(layout, 1, sizeof(isph_fluid));
    /* cppcheck-suppress uninitvar ; only its address counts: the layout writes every pointer */
    isph_fluid *f = fluid ? fluid : &measured;
    const int capacity = isphx_padded(desc->particle_capacity);
    const size_t blocks = (size_t)isphx_blocks(capacity);
    const size_t walls = (size_t)isphx_wall_blocks(capacity) * ISPHX_WALLS_PER_BLOCK;
    int64_t entries;
    memset(f, 0, sizeof *f);
    isphx_tables_make(&f->tables, desc->support);
    isphx_layout_particles(f, layout, (size_t)capacity);
    f->material_table =
        (isphx_material *)isphpbdx_take(layout, (size_t)desc->material_capacity, sizeof(isphx_material));
    f->material_mass = (float *)isphpbdx_take(layout, (size_t)desc->material_capacity, sizeof(float));
    f->boundary = (isphx_boundary *)isphpbdx_take(layout, (size_t)desc->boundary_capacity, sizeof(isphx_boundary));
    f->active = (int *)isphpbdx_take(layout, (size_t)desc->boundary_capacity, sizeof(int));
    f->triangle = (isphx_triangle *)isphpbdx_take(layout, (size_t)desc->triangle_capacity, sizeof(isphx_triangle));
    f->node = (isphx_node *)isphpbdx_take(layout, 2 * (size_t)desc->triangle_capacity, sizeof(isphx_node));
    f->entry = (isphx_entry *)isphpbdx_take(layout, walls, sizeof(isphx_entry));
    f->wall_impulse = (float *)isphpbdx_take(layout, walls, sizeof(float));
    f->wall_change = (float *)isphpbdx_take(layout, walls, sizeof(float));
    f->yielding_first = (int *)isphpbdx_take(layout, blocks + 1, sizeof(int));
    f->impulse = (isph_wall_impulse *)isphpbdx_take(layout, ISPHX_IMPULSES, sizeof(isph_wall_impulse));
    f->partial = (double *)isphpbdx_take(layout, 8 * blocks, sizeof(double));
    f->block_flags = (uint32_t *)isphpbdx_take(layout, blocks, sizeof(uint32_t));
    isphx_cells_layout(&f->cells, layout, capacity);
    entries = (int64_t)isphx_stretches(capacity) * isphx_stretch_entries(f->tables.neighbours);
    if (entries > 0x7fffffff) layout->overflow = true, entries = 0; /* offsets into the matrix are ints */
    isphx_sell_layout(&f->sell, layout, capacity, (int)entries);
    isphx_coarse_layout(&f->coarse, layout, capacity);
    return fluid;
}

ISPHPBD_API size_t isph_fluid_bytes(const isph_fluid_desc *desc) {
    isphpbdx_layout layout = {NULL, 0, false};
    const char *fault;
    if (!desc || desc->cookie != ISPHX_COOKIE_FLUID) return 0; /* what looks like a logger may be none */
    fault = isphx_fluid_fault(desc);
    if (!fault) isphx_fluid_layout(&layout, desc);
    if (layout.overflow) fault = "particle_capacity needs a larger matrix than there can be";
    if (fault) (void)isphx_refuse(&desc->logger, ISPHPBD_BAD_DESC, fault);
    return fault ? 0 : layout.used;
}

static void isphx_fluid_derive(isph_fluid *f) {
    const float g = isphpbdx_length(f->desc.gravity);
    f->dx = f->desc.spacing;
    f->reach = f->desc.support * f->dx;
    f->volume = f->dx * f->dx * f->dx;
    f->reference_acceleration = isphpbdx_max(g, 1.0f);
    f->max_speed = f->desc.max_speed > 0.0f ? f->desc.max_speed : isphpbdx_max(50.0f, 1000.0f * f->dx);
    f->max_substep = f->desc.max_substep_seconds > 0.0f ? f->desc.max_substep_seconds
                                                        : ISPHX_RELAXATION * sqrtf(f->dx / f->reference_acceleration);
}

ISPHPBD_API isph_fluid *isph_fluid_create(const isph_fluid_desc *desc, isphpbd_result *why) {
    isphpbdx_layout layout = {NULL, 0, false};
    const size_t bytes = isph_fluid_bytes(desc);
    isphpbd_allocator allocator;
    isph_fluid *fluid;
    if (!isphx_allocate(desc ? &desc->allocator : NULL, bytes, &allocator, &layout, why)) {
        if (bytes > 0) (void)isphx_refuse(&desc->logger, ISPHPBD_OUT_OF_MEMORY, "no memory for the fluid");
        return NULL;
    }
    fluid = isphx_fluid_layout(&layout, desc);
    fluid->desc = *desc;
    fluid->desc.allocator = allocator;
    fluid->bytes = bytes;
    fluid->solver_enabled = true;
    for (fluid->slot_bits = 1; (1 << fluid->slot_bits) < desc->particle_capacity; ++fluid->slot_bits) {}
    memset(fluid->boundary, 0, (size_t)desc->boundary_capacity * sizeof(isphx_boundary));
    isphx_fluid_derive(fluid);
    return fluid;
}

static bool isphx_pending(const isph_fluid *f); /* [step] */
static void isphx_settle(isph_fluid *f);        /* ends a pending substep before the fluid is changed: [step] */

/* Inside a callback nobody may change the fluid; with an owner only particles may be changed by others. */
static bool isphx_locked(const isph_fluid *f) { return f->stepping || f->owner; }

ISPHPBD_API void isph_fluid_destroy(isph_fluid *fluid) {
    if (!fluid || isphx_locked(fluid)) return;
    fluid->desc.allocator.free(fluid, fluid->bytes, fluid->desc.allocator.user);
}

ISPHPBD_API isphpbd_result isph_fluid_set_owner(isph_fluid *fluid, const void *owner, const void *next) {
    if (!fluid) return ISPHPBD_BAD_ARGUMENT;
    if (fluid->stepping || fluid->owner != owner) return ISPHPBD_LOCKED;
    fluid->owner = next;
    return ISPHPBD_OK;
}

ISPHPBD_API isphpbd_result isph_fluid_set_gravity(isph_fluid *fluid, isphpbd_vec3 gravity) {
    if (!fluid || !isphx_gravity_ok(gravity)) return ISPHPBD_BAD_ARGUMENT;
    if (isphx_locked(fluid)) return ISPHPBD_LOCKED;
    isphx_settle(fluid);
    fluid->desc.gravity = gravity;
    isphx_fluid_derive(fluid);
    return ISPHPBD_OK;
}

ISPHPBD_API isphpbd_result isph_fluid_set_budget(isph_fluid *fluid, int max_iterations, int max_substeps,
                                                 float tolerance) {
    if (!fluid || isphx_budget_fault(max_iterations, max_substeps, tolerance)) return ISPHPBD_BAD_ARGUMENT;
    if (isphx_locked(fluid)) return ISPHPBD_LOCKED;
    isphx_settle(fluid);
    fluid->desc.max_iterations = max_iterations;
    fluid->desc.max_substeps = max_substeps;
    fluid->desc.tolerance = tolerance;
    return ISPHPBD_OK;
}

ISPHPBD_API isphpbd_result isph_fluid_set_solver_enabled(isph_fluid *fluid, bool enabled) {
    if (!fluid) return ISPHPBD_BAD_ARGUMENT;
    if (fluid->stepping) return ISPHPBD_LOCKED;
    isphx_settle(fluid);
    fluid->solver_enabled = enabled;
    return ISPHPBD_OK;
}

ISPHPBD_API isphpbd_result isph_fluid_set_coupler(isph_fluid *fluid, const isph_coupler *coupler) {
    if (!fluid) return ISPHPBD_BAD_ARGUMENT;
    if (isphx_locked(fluid)) return ISPHPBD_LOCKED;
    isphx_settle(fluid);
    if (coupler) fluid->coupler = *coupler;
    else memset(&fluid->coupler, 0, sizeof fluid->coupler);
    return ISPHPBD_OK;
}

ISPHPBD_API isph_coupled isph_fluid_coupled(const isph_fluid *fluid) {
    isph_coupled view;
    memset(&view, 0, sizeof view);
    if (!fluid) return view;
    view.id = fluid->id, view.user = fluid->user, view.material = fluid->material;
    view.material_mass = fluid->material_mass, view.wall_count = fluid->entry_count;
    view.count = fluid->count;
    return view;
}

/* ---- materials ---- */
static isph_material_desc isphx_material_desc(float density, float viscosity) {
    isph_material_desc desc;
    desc.density = density;
    desc.viscosity = viscosity;
    desc.cookie = ISPHX_COOKIE_MATERIAL;
    return desc;
}
ISPHPBD_API isph_material_desc isph_material_desc_default(void) { return isphx_material_desc(1000.0f, 0.001f); }
ISPHPBD_API isph_material_desc isph_material_desc_oil(void) { return isphx_material_desc(900.0f, 0.08f); }
ISPHPBD_API isph_material_desc isph_material_desc_honey(void) { return isphx_material_desc(1400.0f, 10.0f); }
ISPHPBD_API isph_material_desc isph_material_desc_mercury(void) { return isphx_material_desc(13534.0f, 0.0015f); }

static isphpbd_result isphx_material_check(const isph_fluid *f, const isph_material_desc *desc) {
    const char *fault = NULL;
    if (!f) return ISPHPBD_BAD_ARGUMENT;
    if (isphx_locked(f)) return ISPHPBD_LOCKED;
    if (!desc || desc->cookie != ISPHX_COOKIE_MATERIAL) fault = "make the material desc with isph_material_desc_*()";
    else if (!isphx_in(desc->density, 1e-3f, 1e6f)) fault = "density must be 1e-3..1e6";
    else if (!isphx_in(desc->viscosity, 0.0f, 1e6f)) fault = "viscosity must be 0..1e6";
    if (fault) return isphx_refuse(&f->desc.logger, ISPHPBD_BAD_DESC, fault);
    if (f->material_count < f->desc.material_capacity) return ISPHPBD_OK;
    return isphx_refuse(&f->desc.logger, ISPHPBD_CAPACITY, "raise material_capacity");
}

ISPHPBD_API isph_material isph_material_create(isph_fluid *fluid, const isph_material_desc *desc, isphpbd_result *why) {
    const isphpbd_result result = isphx_material_check(fluid, desc);
    isph_material handle = {0};
    isphx_material *m;
    isphx_why(why, result);
    if (result != ISPHPBD_OK) return handle;
    isphx_settle(fluid);
    m = fluid->material_table + fluid->material_count++;
    m->density = desc->density;
    m->viscosity = desc->viscosity;
    m->scale = sqrtf(fluid->material_table[0].density / desc->density);
    m->grip = sqrtf(desc->viscosity);
    fluid->material_mass[fluid->material_count - 1] = m->density * fluid->volume;
    handle.id = (uint32_t)fluid->material_count;
    return handle;
}

/* ---- particles ---- */
static uint32_t isphx_id_new(isph_fluid *f, int index) {
    const bool reuse = f->free_count > 0;
    const int slot = reuse ? f->free_slot[--f->free_count] : f->slots_used++;
    if (!reuse) f->slot_generation[slot] = 0;
    f->slot_index[slot] = index;
    return (f->slot_generation[slot] << f->slot_bits) | (uint32_t)slot;
}
static uint32_t isphx_slot(const isph_fluid *f, uint32_t id) { return id & ((1u << f->slot_bits) - 1u); }

ISPHPBD_API int isph_particle_find(const isph_fluid *fluid, uint32_t id) {
    uint32_t slot;
    int index;
    if (!fluid) return -1;
    slot = isphx_slot(fluid, id);
    if (slot >= (uint32_t)fluid->slots_used) return -1;
    index = fluid->slot_index[slot];
    return index >= 0 && index < fluid->count && fluid->state.id[index] == id ? index : -1;
}

static void isphx_set3(float *out, float x, float y, float z) { out[0] = x, out[1] = y, out[2] = z, out[3] = 0.0f; }

static void isphx_particle_put(isph_fluid *f, const float *position, isphpbd_vec3 velocity, int material) {
    const int i = f->count++;
    isphx_set3(f->state.position + 4 * i, position[0], position[1], position[2]);
    isphx_set3(f->state.velocity + 4 * i, velocity.x, velocity.y, velocity.z);
    f->state.pair[2 * i] = f->state.pair[2 * i + 1] = 0.0f;
    f->state.pressure[i] = 0.0f;
    f->state.density[i] = 1.0f;
    f->state.user[i] = 0;
    f->state.material[i] = (uint8_t)material;
    f->state.id[i] = isphx_id_new(f, i);
}

static isphpbd_result isphx_add_check(const isph_fluid *f, isph_material material, int64_t count) {
    if (!f || count < 0) return ISPHPBD_BAD_ARGUMENT;
    if (f->stepping) return ISPHPBD_LOCKED;
    if (material.id < 1 || material.id > (uint32_t)f->material_count) return ISPHPBD_BAD_HANDLE;
    if (count <= f->desc.particle_capacity - f->count) return ISPHPBD_OK;
    return isphx_refuse(&f->desc.logger, ISPHPBD_CAPACITY, "raise particle_capacity");
}

ISPHPBD_API isphpbd_result isph_particles_add(isph_fluid *fluid, isph_material material, const float *positions,
                                              size_t position_stride_bytes, const float *velocities,
                                              size_t velocity_stride_bytes, int count, uint32_t *ids) {
    const isphpbd_result result = isphx_add_check(fluid, material, count);
    int i;
    if (result != ISPHPBD_OK) return result;
    if (count > 0 && (!positions || !isphx_stride_ok(position_stride_bytes) ||
                      (velocities && !isphx_stride_ok(velocity_stride_bytes))))
        return ISPHPBD_BAD_ARGUMENT;
    if (!isphx_points_ok(positions, position_stride_bytes, count, fluid->dx)) return ISPHPBD_BAD_ARGUMENT;
    if (velocities && !isphx_points_ok(velocities, velocity_stride_bytes, count, 1.0f)) return ISPHPBD_BAD_ARGUMENT;
    isphx_settle(fluid);
    if (count > 0) fluid->changes++;
    for (i = 0; i < count; ++i) {
        const float *v = velocities ? isphx_at(velocities, velocity_stride_bytes, i) : NULL;
        const isphpbd_vec3 velocity = v ? isphpbd_v3(v[0], v[1], v[2]) : isphpbd_v3(0.0f, 0.0f, 0.0f);
        isphx_particle_put(fluid, isphx_at(positions, position_stride_bytes, i), velocity, (int)material.id - 1);
        if (ids) ids[i] = fluid->state.id[fluid->count - 1];
    }
    return ISPHPBD_OK;
}

/* Lattice points of spacing dx that fit between lo and hi, half a spacing off both; at least one. */
static int isphx_lattice_count(float lo, float hi, float dx) {
    const float n = (hi - lo) / dx + 0.01f;
    return n < 1.0f ? 1 : n > 1e7f ? 10000000 : (int)n;
}

ISPHPBD_API isphpbd_result isph_particles_add_box(isph_fluid *fluid, isph_material material, isphpbd_vec3 lo,
                                                  isphpbd_vec3 hi, isphpbd_vec3 velocity, int *added) {
    float corner[6];
    int nx, ny, nz, i, j, k;
    int64_t total;
    isphpbd_result result = isphx_add_check(fluid, material, 0);
    if (added) *added = 0;
    if (result != ISPHPBD_OK) return result;
    corner[0] = lo.x, corner[1] = lo.y, corner[2] = lo.z, corner[3] = hi.x, corner[4] = hi.y, corner[5] = hi.z;
    if (!isphx_points_ok(corner, 3 * sizeof(float), 2, fluid->dx) || !isphpbdx_finite3(velocity))
        return ISPHPBD_BAD_ARGUMENT;
    if (lo.x > hi.x || lo.y > hi.y || lo.z > hi.z || isphpbdx_length(velocity) > ISPHX_FAR) return ISPHPBD_BAD_ARGUMENT;
    nx = isphx_lattice_count(lo.x, hi.x, fluid->dx), ny = isphx_lattice_count(lo.y, hi.y, fluid->dx);
    nz = isphx_lattice_count(lo.z, hi.z, fluid->dx);
    total = (int64_t)nx * ny; /* up to 1e14; three of them would not fit */
    if (total <= fluid->desc.particle_capacity) total *= nz;
    result = isphx_add_check(fluid, material, total);
    if (result != ISPHPBD_OK) return result;
    isphx_settle(fluid);
    fluid->changes++;
    for (k = 0; k < nz; ++k)
        for (j = 0; j < ny; ++j)
            for (i = 0; i < nx; ++i) {
                float p[3];
                p[0] = lo.x + fluid->dx * ((float)i + 0.5f), p[1] = lo.y + fluid->dx * ((float)j + 0.5f);
                p[2] = lo.z + fluid->dx * ((float)k + 0.5f);
                isphx_particle_put(fluid, p, velocity, (int)material.id - 1);
            }
    if (added) *added = (int)total;
    return ISPHPBD_OK;
}

/* Moves particle `from` to place `to`; the order of the rest is kept. */
static void isphx_particle_copy(isph_fluid *f, int to, int from) {
    if (to == from) return;
    memcpy(f->state.position + 4 * to, f->state.position + 4 * from, 4 * sizeof(float));
    memcpy(f->state.velocity + 4 * to, f->state.velocity + 4 * from, 4 * sizeof(float));
    memcpy(f->state.pair + 2 * to, f->state.pair + 2 * from, 2 * sizeof(float));
    f->state.pressure[to] = f->state.pressure[from], f->state.density[to] = f->state.density[from];
    f->state.user[to] = f->state.user[from], f->state.material[to] = f->state.material[from],
    f->state.id[to] = f->state.id[from];
    f->slot_index[isphx_slot(f, f->state.id[to])] = to;
}

static void isphx_id_free(isph_fluid *f, uint32_t id) {
    const uint32_t slot = isphx_slot(f, id);
    f->slot_index[slot] = -1;
    f->slot_generation[slot] = (f->slot_generation[slot] + 1) & (0xffffffffu >> f->slot_bits);
    f->free_slot[f->free_count++] = (int)slot;
}

static isph_particle isphx_particle_get(const isph_fluid *f, int i) {
    const float *p = f->state.position + 4 * i, *v = f->state.velocity + 4 * i;
    isph_particle particle;
    particle.position = isphpbd_v3(p[0], p[1], p[2]);
    particle.velocity = isphpbd_v3(v[0], v[1], v[2]);
    particle.id = f->state.id[i], particle.user = f->state.user[i];
    particle.material.id = f->state.material[i] + 1u;
    return particle;
}

ISPHPBD_API int isph_particles_remove_if(isph_fluid *fluid, bool (*test)(void *user, const isph_particle *particle),
                                         void *user) {
    int i, kept = 0, count;
    if (!fluid || !test || fluid->stepping) return 0;
    isphx_settle(fluid);
    count = fluid->count;
    fluid->stepping = true; /* calls from inside the callback are refused */
    for (i = 0; i < count; ++i) {
        const isph_particle particle = isphx_particle_get(fluid, i);
        if (test(user, &particle)) isphx_id_free(fluid, particle.id);
        else isphx_particle_copy(fluid, kept++, i);
    }
    fluid->stepping = false;
    fluid->count = kept;
    fluid->changes += kept < count;
    return count - kept;
}

/* Marks by clearing the slot's index; the sweep drops what is marked. */
ISPHPBD_API int isph_particles_remove(isph_fluid *fluid, const uint32_t *ids, int count) {
    int i, kept = 0, before;
    if (!fluid || !ids || count <= 0 || fluid->stepping) return 0;
    isphx_settle(fluid);
    for (i = 0; i < count; ++i) {
        const int index = isph_particle_find(fluid, ids[i]);
        if (index >= 0) fluid->slot_index[isphx_slot(fluid, ids[i])] = -1;
    }
    before = fluid->count;
    for (i = 0; i < before; ++i) {
        if (fluid->slot_index[isphx_slot(fluid, fluid->state.id[i])] < 0) isphx_id_free(fluid, fluid->state.id[i]);
        else isphx_particle_copy(fluid, kept++, i);
    }
    fluid->count = kept;
    fluid->changes += kept < before;
    return before - kept;
}

ISPHPBD_API int isph_particles_edit(isph_fluid *fluid, bool (*edit)(void *user, isph_particle *particle), void *user) {
    uint32_t moved = 0;
    int i, changed = 0;
    if (!fluid || !edit || fluid->stepping) return 0;
    isphx_settle(fluid);
    fluid->stepping = true;
    for (i = 0; i < fluid->count; ++i) {
        isph_particle particle = isphx_particle_get(fluid, i);
        float *x = fluid->state.position + 4 * i;
        if (!edit(user, &particle)) continue;
        if (!isphx_points_ok(&particle.position.x, 3 * sizeof(float), 1, fluid->dx)) continue;
        if (!isphx_points_ok(&particle.velocity.x, 3 * sizeof(float), 1, 1.0f)) continue;
        if (x[0] != particle.position.x || x[1] != particle.position.y || x[2] != particle.position.z) moved = 1;
        isphx_set3(x, particle.position.x, particle.position.y, particle.position.z);
        isphx_set3(fluid->state.velocity + 4 * i, particle.velocity.x, particle.velocity.y, particle.velocity.z);
        fluid->state.user[i] = particle.user;
        ++changed;
    }
    fluid->edits += moved;
    fluid->stepping = false;
    return changed;
}

ISPHPBD_API isph_view isph_particles(const isph_fluid *fluid) {
    isph_view view;
    memset(&view, 0, sizeof view);
    if (!fluid) return view;
    view.position = fluid->state.position, view.velocity = fluid->state.velocity;
    view.stride_bytes = 4 * sizeof(float);
    view.pressure = fluid->state.pressure, view.density = fluid->state.density;
    view.id = fluid->state.id, view.user = fluid->state.user, view.material = fluid->state.material;
    view.count = fluid->count;
    return view;
}

#define ISPHX_MAX_PLACE  1e7f /* of boundaries, m from the origin */
#define ISPHX_MAX_MOTION 1e5f /* of boundaries, m/s and rad/s */

ISPHPBD_API isphpbd_result isph_fluid_shift_origin(isph_fluid *fluid, isphpbd_vec3 offset) {
    int i, k;
    if (!fluid || !isphpbdx_finite3(offset)) return ISPHPBD_BAD_ARGUMENT;
    if (isphx_locked(fluid)) return ISPHPBD_LOCKED;
    for (k = 0; k < 2; ++k) { /* first look, then do */
        if (k == 1) isphx_settle(fluid);
        for (i = 0; i < fluid->count; ++i) {
            float *p = fluid->state.position + 4 * i, moved[3];
            moved[0] = p[0] + offset.x, moved[1] = p[1] + offset.y, moved[2] = p[2] + offset.z;
            if (k == 0 && !isphx_points_ok(moved, sizeof moved, 1, fluid->dx)) return ISPHPBD_BAD_ARGUMENT;
            if (k == 1) memcpy(p, moved, sizeof moved);
        }
        for (i = 0; i < fluid->desc.boundary_capacity; ++i) {
            isphx_pose *pose = &fluid->boundary[i].pose;
            const isphpbd_vec3 moved = isphpbdx_add(pose->position, offset);
            if (!fluid->boundary[i].alive) continue;
            if (k == 0 && !(isphpbdx_length(moved) < ISPHX_MAX_PLACE)) return ISPHPBD_BAD_ARGUMENT;
            if (k == 1) pose->position = moved;
        }
    }
    return ISPHPBD_OK;
}

/* [boundaries] Shapes answer one question: which walls does a point see within a reach? In: point in local coordinates.
   Out: foot normals and distances. Analytic shapes in a few flops, meshes through a bounding volume tree. */
typedef struct isphx_foot {
    isphpbd_vec3 normal;
    float distance;
    float share; /* area of the wall at the foot over the area at the point: below 1 off a convex wall; 0: hidden */
} isphx_foot;

static isphpbd_vec3 isphx_to_local(const isphx_pose *pose, isphpbd_vec3 p) {
    return isphpbdx_unrotate(pose->rotation, isphpbdx_sub(p, pose->position));
}
static isphpbd_vec3 isphx_to_world(const isphx_pose *pose, isphpbd_vec3 p) {
    return isphpbdx_add(pose->position, isphpbdx_rotate(pose->rotation, p));
}

/* Pose after `seconds` of constant velocities; the rotation by the exponential map to second order, normalised. */
static isphx_pose isphx_pose_advance(isphx_pose pose, isphpbd_vec3 linear, isphpbd_vec3 angular, float seconds) {
    isphpbd_quat q = pose.rotation;
    const isphpbd_vec3 half = isphpbdx_scale(angular, 0.5f * seconds);
    const float w = 1.0f - 0.5f * isphpbdx_dot(half, half);
    float inverse;
    pose.position = isphpbdx_madd(pose.position, linear, seconds);
    pose.rotation.x = w * q.x + half.x * q.w + half.y * q.z - half.z * q.y;
    pose.rotation.y = w * q.y + half.y * q.w + half.z * q.x - half.x * q.z;
    pose.rotation.z = w * q.z + half.z * q.w + half.x * q.y - half.y * q.x;
    pose.rotation.w = w * q.w - half.x * q.x - half.y * q.y - half.z * q.z;
    q = pose.rotation;
    inverse = 1.0f / sqrtf(q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w);
    pose.rotation.x *= inverse, pose.rotation.y *= inverse, pose.rotation.z *= inverse, pose.rotation.w *= inverse;
    return pose;
}

static isphpbd_vec3 isphx_boundary_velocity(const isphx_boundary *b, const isphx_pose *pose, isphpbd_vec3 at) {
    return isphpbdx_add(b->linear_now, isphpbdx_cross(b->angular_now, isphpbdx_sub(at, pose->position)));
}

/* Of its fastest point; of what is larger than the water, near its centre. */
static float isphx_boundary_speed(const isph_fluid *f, const isphx_boundary *b, isphpbd_vec3 linear,
                                  isphpbd_vec3 angular) {
    const float spin = isphpbdx_length(angular);
    float radius = 0.0f;
    int k;
    if (spin == 0.0f) return isphpbdx_length(linear);
    for (k = 0; k < 3; ++k) radius += isphpbdx_max(b->hi[k] * b->hi[k], b->lo[k] * b->lo[k]);
    return isphpbdx_length(linear) + spin * isphpbdx_min(sqrtf(radius), 1e3f * f->dx);
}

/* Round shapes: the distance from a segment of half height hh along y. */
static int isphx_round_foot(const isph_boundary_desc *d, float hh, isphpbd_vec3 p, float reach, isphx_foot *out) {
    const isphpbd_vec3 radial = isphpbd_v3(p.x, p.y - isphpbdx_clamp(p.y, -hh, hh), p.z);
    const float r = isphpbdx_length(radial);
    const float seen = d->radius + (d->container ? -0.1f : 0.1f) * reach; /* where the area counts, as measured */
    const float round = isphpbdx_clamp(seen / isphpbdx_max(r, 1e-12f), 0.0f, 1.4f);
    out->normal = r > 1e-12f ? isphpbdx_scale(radial, 1.0f / r) : isphpbd_v3(0.0f, 1.0f, 0.0f);
    out->distance = r - d->radius;
    out->share = isphpbdx_abs(p.y) < hh ? round : round * round;
    if (d->container) {
        out->distance = -out->distance;
        out->normal = isphpbdx_scale(out->normal, -1.0f);
    }
    return out->distance < reach;
}

/* Hollow box: each face by itself. */
static int isphx_room_feet(const isph_boundary_desc *d, isphpbd_vec3 p, float reach, isphx_foot *out) {
    const float at[3] = {p.x, p.y, p.z}, half[3] = {d->half_extents.x, d->half_extents.y, d->half_extents.z};
    int k, side, n = 0;
    for (k = 0; k < 3; ++k) {
        for (side = -1; side <= 1; side += 2) {
            const float distance = half[k] - (float)side * at[k];
            if (distance >= reach) continue;
            out[n].normal =
                isphpbd_v3(k == 0 ? (float)-side : 0.0f, k == 1 ? (float)-side : 0.0f, k == 2 ? (float)-side : 0.0f);
            out[n].share = 1.0f, out[n++].distance = distance;
        }
    }
    return n;
}

/* Seen from beyond an edge of a box its faces have no area: a ramp of a spacing about the edge, so that what the
   particles hold adds up to the face wherever they lie. */
static float isphx_block_share(isphpbd_vec3 h, isphpbd_vec3 p, float width) {
    const float beyond[3] = {isphpbdx_abs(p.x) - h.x, isphpbdx_abs(p.y) - h.y, isphpbdx_abs(p.z) - h.z};
    float share = 1.0f;
    int k, most = 0;
    for (k = 1; k < 3; ++k)
        if (beyond[k] > beyond[most]) most = k;
    for (k = 0; k < 3; ++k)
        if (k != most) share *= isphpbdx_clamp(0.5f - beyond[k] / width, 1e-3f, 1.0f); /* 0: hidden */
    return share;
}

/* Solid box: nearest point of its surface, or the nearest face from inside. */
static int isphx_block_foot(const isph_boundary_desc *d, isphpbd_vec3 p, float reach, isphx_foot *out) {
    const isphpbd_vec3 h = d->half_extents;
    const isphpbd_vec3 closest =
        isphpbd_v3(isphpbdx_clamp(p.x, -h.x, h.x), isphpbdx_clamp(p.y, -h.y, h.y), isphpbdx_clamp(p.z, -h.z, h.z));
    const isphpbd_vec3 away = isphpbdx_sub(p, closest);
    const float r = isphpbdx_length(away);
    const float in[3] = {h.x - isphpbdx_abs(p.x), h.y - isphpbdx_abs(p.y), h.z - isphpbdx_abs(p.z)};
    int k = 0;
    out->share = isphx_block_share(h, p, 0.5f * reach);
    if (r > 1e-12f) {
        out->normal = isphpbdx_scale(away, 1.0f / r);
        out->distance = r;
        return r < reach;
    }
    if (in[1] < in[k]) k = 1;
    if (in[2] < in[k]) k = 2;
    out->normal = isphpbd_v3(k == 0 ? (p.x < 0.0f ? -1.0f : 1.0f) : 0.0f, k == 1 ? (p.y < 0.0f ? -1.0f : 1.0f) : 0.0f,
                             k == 2 ? (p.z < 0.0f ? -1.0f : 1.0f) : 0.0f);
    out->distance = -in[k];
    return 1;
}

/* Nearest point of a triangle. *feature: 0 inside, 1..3 edge (corner,1) (1,2) (2,corner), 4..6 vertex. */
static isphpbd_vec3 isphx_triangle_nearest(const isphx_triangle *t, isphpbd_vec3 p, int *feature) {
    const isphpbd_vec3 ap = isphpbdx_sub(p, t->corner);
    const float d1 = isphpbdx_dot(t->edge1, ap), d2 = isphpbdx_dot(t->edge2, ap);
    const isphpbd_vec3 bp = isphpbdx_sub(ap, t->edge1), cp = isphpbdx_sub(ap, t->edge2);
    const float d3 = isphpbdx_dot(t->edge1, bp), d4 = isphpbdx_dot(t->edge2, bp);
    const float d5 = isphpbdx_dot(t->edge1, cp), d6 = isphpbdx_dot(t->edge2, cp);
    const float va = d3 * d6 - d5 * d4, vb = d5 * d2 - d1 * d6, vc = d1 * d4 - d3 * d2;
    float u, v;
    if (d1 <= 0.0f && d2 <= 0.0f) u = 0.0f, v = 0.0f, *feature = 4;
    else if (d3 >= 0.0f && d4 <= d3) u = 1.0f, v = 0.0f, *feature = 5;
    else if (vc <= 0.0f && d1 >= 0.0f && d3 <= 0.0f) u = d1 / (d1 - d3), v = 0.0f, *feature = 1;
    else if (d6 >= 0.0f && d5 <= d6) u = 0.0f, v = 1.0f, *feature = 6;
    else if (vb <= 0.0f && d2 >= 0.0f && d6 <= 0.0f) u = 0.0f, v = d2 / (d2 - d6), *feature = 3;
    else if (va <= 0.0f && d4 - d3 >= 0.0f && d5 - d6 >= 0.0f) {
        v = (d4 - d3) / ((d4 - d3) + (d5 - d6)), u = 1.0f - v, *feature = 2;
    } else {
        const float scale = 1.0f / (va + vb + vc);
        u = vb * scale, v = vc * scale, *feature = 0;
    }
    return isphpbdx_madd(isphpbdx_madd(t->corner, t->edge1, u), t->edge2, v);
}

/* Is the nearest point on a rim, an edge with nothing behind it? There a shell holds nobody. */
static bool isphx_on_rim(const isphx_triangle *t, int feature) {
    static const uint32_t edges[7] = {0, 1, 2, 4, 5, 3, 6}; /* edges that meet in the feature */
    return (t->open_edges & edges[feature]) != 0;
}

/* Keeps the nearest of feet that look the same way; the farthest goes when there are too many. */
static int isphx_foot_merge(isphx_foot *feet, int n, isphx_foot foot) {
    int k, farthest = 0;
    for (k = 0; k < n; ++k) {
        if (isphpbdx_dot(feet[k].normal, foot.normal) > 0.8f) {
            if (foot.distance < feet[k].distance) feet[k] = foot;
            return n;
        }
        if (feet[k].distance > feet[farthest].distance) farthest = k;
    }
    if (n < ISPHX_WALLS) feet[n++] = foot;
    else if (foot.distance < feet[farthest].distance) feet[farthest] = foot;
    return n;
}

typedef struct isphx_mesh_search {
    isphpbd_vec3 p;
    float reach;
    isphx_foot feet[ISPHX_WALLS];
    int count;
    float nearest, cosine;
    bool inside;
} isphx_mesh_search;

static void isphx_mesh_visit(isphx_mesh_search *s, const isphx_triangle *t, bool solid) {
    int feature;
    const isphpbd_vec3 away = isphpbdx_sub(s->p, isphx_triangle_nearest(t, s->p, &feature));
    const float r = isphpbdx_length(away), side = isphpbdx_dot(away, t->normal);
    isphx_foot foot;
    if (r >= s->reach || (isphx_on_rim(t, feature) && isphpbdx_abs(side) < 0.999f * r)) return;
    foot.distance = r;
    foot.share = solid && feature > 0 ? 0.5f : 1.0f; /* edges of a convex mesh: between a box's and a ball's */
    foot.normal = r > 1e-6f * s->reach ? isphpbdx_scale(away, 1.0f / r) : t->normal;
    /* which side of a closed mesh: by the nearest face, and among equals by the one that faces the point most */
    if (solid && (r < s->nearest * 0.9999f || (r < s->nearest * 1.0001f && isphpbdx_abs(side) > s->cosine * r))) {
        s->nearest = isphpbdx_min(r, s->nearest);
        s->cosine = r > 0.0f ? isphpbdx_abs(side) / r : 1.0f;
        s->inside = side < 0.0f;
    }
    s->count = isphx_foot_merge(s->feet, s->count, foot);
}

static float isphx_box_distance2(const isphx_node *node, const float p[3]) {
    float sum = 0.0f;
    int k;
    for (k = 0; k < 3; ++k) {
        const float d = isphpbdx_max(isphpbdx_max(node->lo[k] - p[k], p[k] - node->hi[k]), 0.0f);
        sum += d * d;
    }
    return sum;
}

/* From inside a closed mesh only the way out counts: the nearest face, turned round. From outside an edge or a corner
   has area only as the nearest of all: else a face beside it is nearer. */
static int isphx_mesh_result(isphx_mesh_search *s, isphx_foot *out) {
    int k, nearest = 0;
    for (k = 1; k < s->count; ++k)
        if (s->feet[k].distance < s->feet[nearest].distance) nearest = k;
    if (s->inside) {
        out[0].normal = isphpbdx_scale(s->feet[nearest].normal, -1.0f);
        out[0].distance = -s->feet[nearest].distance;
        out[0].share = 1.0f;
        return 1;
    }
    for (k = 0; k < s->count; ++k) {
        out[k] = s->feet[k];
        if (k != nearest && out[k].share < 1.0f) out[k].share = 0.0f;
    }
    return s->count;
}

/* Visits the triangles within reach. `shrink`: only the nearest one matters, so the reach follows it. */
static void isphx_mesh_walk(const isph_fluid *f, const isphx_boundary *b, isphx_mesh_search *s, bool shrink) {
    const float at[3] = {s->p.x, s->p.y, s->p.z};
    int stack[64], top = 0, k;
    stack[top++] = b->node_first;
    while (top > 0) {
        const int index = stack[--top];
        const isphx_node *node = f->node + index;
        if (isphx_box_distance2(node, at) >= s->reach * s->reach) continue;
        for (k = 0; k < node->count; ++k) isphx_mesh_visit(s, f->triangle + node->first + k, b->desc.mesh_solid);
        if (shrink) s->reach = s->nearest * 1.001f;
        if (node->count == 0) stack[top++] = node->first, stack[top++] = index + 1;
    }
}

static int isphx_mesh_feet(const isph_fluid *f, const isphx_boundary *b, isphpbd_vec3 p, float reach, isphx_foot *out) {
    isphx_mesh_search s;
    memset(&s, 0, sizeof s);
    s.p = p, s.reach = reach, s.nearest = reach;
    isphx_mesh_walk(f, b, &s, false);
    if (s.count == 0 && b->desc.mesh_solid) { /* far from the skin: outside, or deep inside and to be pushed out? */
        s.reach = s.nearest =
            isphpbdx_length(isphpbd_v3(b->hi[0] - b->lo[0], b->hi[1] - b->lo[1], b->hi[2] - b->lo[2]));
        isphx_mesh_walk(f, b, &s, true);
        if (!s.inside) return 0;
    }
    return isphx_mesh_result(&s, out);
}

/* Walls of a boundary that a point (world) sees within reach, at a pose: normals in world axes. */
static int isphx_boundary_feet(const isph_fluid *f, const isphx_boundary *b, const isphx_pose *pose, isphpbd_vec3 point,
                               float reach, isphx_foot *out) {
    const isphpbd_vec3 p = isphx_to_local(pose, point);
    int n = 0, k;
    switch (b->desc.shape) {
        case ISPH_SHAPE_PLANE:
            out->normal = isphpbd_v3(0.0f, 1.0f, 0.0f);
            out->distance = p.y, out->share = 1.0f;
            n = p.y < reach;
            break;
        case ISPH_SHAPE_BOX:
            n = b->desc.container ? isphx_room_feet(&b->desc, p, reach, out)
                                  : isphx_block_foot(&b->desc, p, reach, out);
            break;
        case ISPH_SHAPE_SPHERE: n = isphx_round_foot(&b->desc, 0.0f, p, reach, out); break;
        case ISPH_SHAPE_CAPSULE: n = isphx_round_foot(&b->desc, b->desc.half_height, p, reach, out); break;
        case ISPH_SHAPE_MESH: n = isphx_mesh_feet(f, b, p, reach, out); break;
    }
    for (k = 0; k < n; ++k) out[k].normal = isphpbdx_rotate(pose->rotation, out[k].normal);
    return n;
}

/* Does the way from -> to (local) cross a triangle? A little past its edges counts, so that seams are closed. */
static bool isphx_triangle_crossed(const isphx_triangle *t, isphpbd_vec3 from, isphpbd_vec3 to) {
    const double margin = 1e-3;
    const isphpbd_vec3 way = isphpbdx_sub(to, from), start = isphpbdx_sub(from, t->corner);
    const double before = (double)isphpbdx_dot(t->normal, start), along = (double)isphpbdx_dot(t->normal, way);
    double s, d00, d01, d11, d20, d21, scale, u, v;
    isphpbd_vec3 hit;
    if ((before > 0.0) == (before + along > 0.0) || along == 0.0) return false;
    s = -before / along;
    hit = isphpbdx_madd(start, way, (float)s);
    d00 = (double)isphpbdx_dot(t->edge1, t->edge1), d01 = (double)isphpbdx_dot(t->edge1, t->edge2);
    d11 = (double)isphpbdx_dot(t->edge2, t->edge2);
    d20 = (double)isphpbdx_dot(hit, t->edge1), d21 = (double)isphpbdx_dot(hit, t->edge2);
    scale = 1.0 / (d00 * d11 - d01 * d01);
    u = (d11 * d20 - d01 * d21) * scale, v = (d00 * d21 - d01 * d20) * scale;
    return u > -margin && v > -margin && u + v < 1.0 + margin;
}

static bool isphx_segment_meets(const isphx_node *node, isphpbd_vec3 a, isphpbd_vec3 b) {
    const float from[3] = {a.x, a.y, a.z}, to[3] = {b.x, b.y, b.z};
    int k;
    for (k = 0; k < 3; ++k) {
        if (isphpbdx_max(from[k], to[k]) < node->lo[k] || isphpbdx_min(from[k], to[k]) > node->hi[k]) return false;
    }
    return true;
}

/* Does the way from a to c (local) go through the mesh? */
static bool isphx_mesh_between(const isph_fluid *f, const isphx_boundary *b, isphpbd_vec3 a, isphpbd_vec3 c) {
    int stack[64], top = 0, k;
    stack[top++] = b->node_first;
    while (top > 0) {
        const int index = stack[--top];
        const isphx_node *node = f->node + index;
        if (!isphx_segment_meets(node, a, c)) continue;
        for (k = 0; k < node->count; ++k) {
            if (isphx_triangle_crossed(f->triangle + node->first + k, a, c)) return true;
        }
        if (node->count == 0) stack[top++] = node->first, stack[top++] = index + 1;
    }
    return false;
}

/* Does a particle that was at `from` (world, pose) and is at `to` (world, end pose) pass through the mesh? In the
   frame of the mesh the triangles stand still, so the test is exact for a moving mesh too. */
static bool isphx_mesh_crossed(const isph_fluid *f, const isphx_boundary *b, isphpbd_vec3 from, isphpbd_vec3 to) {
    return isphx_mesh_between(f, b, isphx_to_local(&b->pose, from), isphx_to_local(&b->end, to));
}

/* ---- making a mesh ---- */
static float isphx_axis(isphpbd_vec3 v, int k) { return k == 0 ? v.x : k == 1 ? v.y : v.z; }

static isphpbd_vec3 isphx_triangle_corner(const isphx_triangle *t, int k) {
    return k == 0 ? t->corner : isphpbdx_add(t->corner, k == 1 ? t->edge1 : t->edge2);
}

static void isphx_node_bounds(isphx_node *node, const isphx_triangle *t, int count) {
    int i, c, k;
    for (k = 0; k < 3; ++k) node->lo[k] = node->hi[k] = isphx_axis(t->corner, k);
    for (i = 0; i < count; ++i)
        for (c = 0; c < 3; ++c)
            for (k = 0; k < 3; ++k) {
                const float v = isphx_axis(isphx_triangle_corner(t + i, c), k);
                node->lo[k] = isphpbdx_min(node->lo[k], v), node->hi[k] = isphpbdx_max(node->hi[k], v);
            }
}

static float isphx_centre(const isphx_triangle *t, int k) {
    return 3.0f * isphx_axis(t->corner, k) + isphx_axis(t->edge1, k) + isphx_axis(t->edge2, k);
}

/* Sorts triangles by centre along an axis: heap sort, no recursion, no memory. Equal centres keep no order, but the
   same one every time. */
static void isphx_triangles_sort(isphx_triangle *t, int n, int axis) {
    int start = n / 2, end = n;
    while (end > 1) {
        int root;
        isphx_triangle swap;
        if (start > 0) --start;
        else swap = t[--end], t[end] = t[0], t[0] = swap;
        for (root = start; 2 * root + 1 < end;) {
            int child = 2 * root + 1;
            if (child + 1 < end && isphx_centre(t + child, axis) < isphx_centre(t + child + 1, axis)) ++child;
            if (!(isphx_centre(t + root, axis) < isphx_centre(t + child, axis))) break;
            swap = t[root], t[root] = t[child], t[child] = swap;
            root = child;
        }
    }
}

#define ISPHX_LEAF 4
/* Median split tree in depth-first order; the number of nodes is at most 2 n. Recursion depth is log2 n. */
static void isphx_tree_build(isph_fluid *f, int first, int count) {
    const int index = f->node_count++;
    isphx_node *node = f->node + index;
    int axis = 0, k;
    isphx_node_bounds(node, f->triangle + first, count);
    node->first = first, node->count = count;
    if (count <= ISPHX_LEAF) return;
    for (k = 1; k < 3; ++k)
        if (node->hi[k] - node->lo[k] > node->hi[axis] - node->lo[axis]) axis = k;
    isphx_triangles_sort(f->triangle + first, count, axis);
    node->count = 0;
    isphx_tree_build(f, first, count / 2);
    node->first = f->node_count;
    isphx_tree_build(f, first + count / 2, count - count / 2);
}

/* Corners meet when they are within a hundred-thousandth of an edge: they are rebuilt from corner and edges. */
static float isphx_weld2(isphpbd_vec3 a, isphpbd_vec3 b) {
    const isphpbd_vec3 edge = isphpbdx_sub(a, b);
    return 1e-10f * isphpbdx_dot(edge, edge);
}

static bool isphx_same_point(isphpbd_vec3 a, isphpbd_vec3 b, float weld2) {
    const isphpbd_vec3 d = isphpbdx_sub(a, b);
    return isphpbdx_dot(d, d) <= weld2;
}

static bool isphx_has_edge(const isphx_triangle *t, isphpbd_vec3 a, isphpbd_vec3 b) {
    const float weld2 = isphx_weld2(a, b);
    int k, found = 0;
    for (k = 0; k < 3; ++k) {
        const isphpbd_vec3 c = isphx_triangle_corner(t, k);
        found += isphx_same_point(c, a, weld2) || isphx_same_point(c, b, weld2);
    }
    return found >= 2;
}

/* Another triangle with the same edge? Through the tree: those that touch both ends. */
static bool isphx_edge_shared(const isph_fluid *f, const isphx_boundary *b, const isphx_triangle *self, isphpbd_vec3 a,
                              isphpbd_vec3 c) {
    const float at[3] = {a.x, a.y, a.z};
    int stack[64], top = 0, k;
    stack[top++] = b->node_first;
    while (top > 0) {
        const int index = stack[--top];
        const isphx_node *node = f->node + index;
        if (isphx_box_distance2(node, at) > isphx_weld2(a, c)) continue;
        for (k = 0; k < node->count; ++k) {
            const isphx_triangle *t = f->triangle + node->first + k;
            if (t != self && isphx_has_edge(t, a, c)) return true;
        }
        if (node->count == 0) stack[top++] = node->first, stack[top++] = index + 1;
    }
    return false;
}

static void isphx_mesh_mark_rims(isph_fluid *f, isphx_boundary *b) {
    int i, k;
    for (i = 0; i < b->triangle_count; ++i) {
        isphx_triangle *t = f->triangle + b->triangle_first + i;
        t->open_edges = 0;
        for (k = 0; k < 3; ++k) {
            const isphpbd_vec3 a = isphx_triangle_corner(t, k), c = isphx_triangle_corner(t, (k + 1) % 3);
            if (!isphx_edge_shared(f, b, t, a, c)) t->open_edges |= 1u << k;
        }
    }
}

static isphpbd_vec3 isphx_mesh_vertex(const isph_mesh *mesh, uint32_t index) {
    const float *p = isphx_at(mesh->positions, mesh->stride_bytes, (int)index);
    return isphpbd_v3(p[0], p[1], p[2]);
}

static const char *isphx_mesh_fault(const isph_mesh *mesh, float dx) {
    int i;
    if (!mesh->positions || !mesh->indices || !isphx_stride_ok(mesh->stride_bytes) || mesh->vertex_count < 3)
        return "mesh: positions, stride_bytes, vertex_count or indices is bad";
    if (mesh->index_count < 3 || mesh->index_count % 3 != 0) return "mesh: index_count must be 3, 6, 9, ...";
    for (i = 0; i < mesh->index_count; ++i)
        if (mesh->indices[i] >= (uint32_t)mesh->vertex_count) return "mesh: an index is out of range";
    return isphx_points_ok(mesh->positions, mesh->stride_bytes, mesh->vertex_count, dx)
               ? NULL
               : "mesh: a vertex is not finite or too far away";
}

/* Copies the triangles with an area; false when none has. */
static bool isphx_mesh_copy(isph_fluid *f, isphx_boundary *b, const isph_mesh *mesh) {
    int i;
    b->triangle_first = f->triangle_count, b->triangle_count = 0;
    for (i = 0; i + 2 < mesh->index_count; i += 3) {
        isphx_triangle *t = f->triangle + b->triangle_first + b->triangle_count;
        isphpbd_vec3 cross;
        float area2;
        t->corner = isphx_mesh_vertex(mesh, mesh->indices[i]);
        t->edge1 = isphpbdx_sub(isphx_mesh_vertex(mesh, mesh->indices[i + 1]), t->corner);
        t->edge2 = isphpbdx_sub(isphx_mesh_vertex(mesh, mesh->indices[i + 2]), t->corner);
        cross = isphpbdx_cross(t->edge1, t->edge2);
        area2 = isphpbdx_length(cross);
        if (!(area2 > 1e-6f * (isphpbdx_dot(t->edge1, t->edge1) + isphpbdx_dot(t->edge2, t->edge2)))) continue;
        t->normal = isphpbdx_scale(cross, 1.0f / area2);
        b->triangle_count++;
    }
    return b->triangle_count > 0;
}

/* Six times the signed volume inside, about the first corner; in double, since the terms cancel. */
static double isphx_mesh_volume6(const isph_fluid *f, const isphx_boundary *b) {
    const isphx_triangle *t = f->triangle + b->triangle_first;
    const isphpbd_vec3 origin = t->corner;
    double sum = 0.0;
    int i;
    for (i = 0; i < b->triangle_count; ++i, ++t) {
        const isphpbd_vec3 p = isphpbdx_sub(t->corner, origin), n = isphpbdx_cross(t->edge1, t->edge2);
        sum += (double)p.x * (double)n.x + (double)p.y * (double)n.y + (double)p.z * (double)n.z;
    }
    return sum;
}

/* Of a mesh with open edges nobody can say what is inside. */
static bool isphx_mesh_inside_out(const isph_fluid *f, const isphx_boundary *b) {
    int i;
    for (i = 0; i < b->triangle_count; ++i)
        if (f->triangle[b->triangle_first + i].open_edges) return false;
    return !(isphx_mesh_volume6(f, b) > 0.0);
}

static isphpbd_result isphx_mesh_build(isph_fluid *f, isphx_boundary *b, const isph_mesh *mesh) {
    const isphpbd_logger *logger = &f->desc.logger;
    const char *fault = isphx_mesh_fault(mesh, f->dx);
    if (fault) return isphx_refuse(logger, ISPHPBD_BAD_MESH, fault);
    if (mesh->index_count / 3 > f->desc.triangle_capacity - f->triangle_count)
        return isphx_refuse(logger, ISPHPBD_CAPACITY, "raise triangle_capacity");
    if (!isphx_mesh_copy(f, b, mesh)) return isphx_refuse(logger, ISPHPBD_BAD_MESH, "mesh: no triangle has an area");
    b->node_first = f->node_count;
    isphx_tree_build(f, b->triangle_first, b->triangle_count);
    b->node_count = f->node_count - b->node_first;
    isphx_mesh_mark_rims(f, b);
    if (b->desc.mesh_solid && isphx_mesh_inside_out(f, b)) {
        f->node_count = b->node_first;
        return isphx_refuse(logger, ISPHPBD_BAD_MESH,
                            "mesh: mesh_solid is wound inside out, or has no volume: turn its triangles");
    }
    f->triangle_count += b->triangle_count;
    return ISPHPBD_OK;
}

/* Closes the gap that a removed mesh leaves in the shared arrays. */
static void isphx_mesh_release(isph_fluid *f, const isphx_boundary *gone) {
    const int triangles = gone->triangle_count, nodes = gone->node_count;
    const int triangle_end = gone->triangle_first + triangles, node_end = gone->node_first + nodes;
    int i;
    memmove(f->triangle + gone->triangle_first, f->triangle + triangle_end,
            (size_t)(f->triangle_count - triangle_end) * sizeof(isphx_triangle));
    memmove(f->node + gone->node_first, f->node + node_end, (size_t)(f->node_count - node_end) * sizeof(isphx_node));
    f->triangle_count -= triangles, f->node_count -= nodes;
    for (i = gone->node_first; i < f->node_count; ++i) f->node[i].first -= f->node[i].count > 0 ? triangles : nodes;
    for (i = 0; i < f->desc.boundary_capacity; ++i) {
        isphx_boundary *b = f->boundary + i;
        if (!b->alive || b->triangle_count == 0 || b->triangle_first < triangle_end) continue;
        b->triangle_first -= triangles, b->node_first -= nodes;
    }
}

/* ---- public ---- */
ISPHPBD_API isph_boundary_desc isph_boundary_desc_default(void) {
    isph_boundary_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.shape = ISPH_SHAPE_PLANE;
    desc.half_extents = isphpbd_v3(0.5f, 0.5f, 0.5f);
    desc.radius = desc.half_height = 0.5f;
    desc.rotation.w = 1.0f;
    desc.viscous_grip = desc.gravity_scale = 1.0f;
    desc.material_mask = 0xffffffffu;
    desc.cookie = ISPHX_COOKIE_BOUNDARY;
    return desc;
}

static bool isphx_motion_ok(isphpbd_vec3 p, isphpbd_quat q, isphpbd_vec3 v, isphpbd_vec3 w) {
    const float norm2 = q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w;
    return isphpbdx_finite3(p) && isphpbdx_finite3(v) && isphpbdx_finite3(w) && norm2 > 0.98f && norm2 < 1.02f &&
           isphpbdx_length(p) < ISPHX_MAX_PLACE && isphpbdx_length(v) < ISPHX_MAX_MOTION &&
           isphpbdx_length(w) < ISPHX_MAX_MOTION;
}
/* The vector, shortened to what is allowed; one that is no number becomes zero. */
static isphpbd_vec3 isphx_shortened(isphpbd_vec3 v, float most) {
    const float length = isphpbdx_length(v);
    if (length < most) return v;
    if (!isphpbdx_finite(length)) return isphpbd_v3(0.0f, 0.0f, 0.0f);
    return isphpbdx_scale(v, 0.99f * most / length);
}

/* What can move has a shape that does: a plane cannot fall. */
static bool isphx_inertia_ok(float inertia) { return inertia == 0.0f || isphx_in(inertia, 1e-20f, 1e12f); }
static bool isphx_mass_ok(isph_shape shape, float mass, isphpbd_vec3 inertia) {
    return isphx_inertia_ok(inertia.x) && isphx_inertia_ok(inertia.y) && isphx_inertia_ok(inertia.z) &&
           (mass == 0.0f || (isphx_in(mass, 1e-9f, 1e12f) && shape != ISPH_SHAPE_PLANE));
}

static const char *isphx_shape_fault(const isph_boundary_desc *d) {
    const float huge = 1e6f;
    if (d->shape < ISPH_SHAPE_PLANE || d->shape > ISPH_SHAPE_MESH) return "unknown shape";
    if (d->shape == ISPH_SHAPE_BOX &&
        (!isphx_in(d->half_extents.x, 1e-6f, huge) || !isphx_in(d->half_extents.y, 1e-6f, huge) ||
         !isphx_in(d->half_extents.z, 1e-6f, huge)))
        return "half_extents must be 1e-6..1e6";
    if ((d->shape == ISPH_SHAPE_SPHERE || d->shape == ISPH_SHAPE_CAPSULE) && !isphx_in(d->radius, 1e-6f, huge))
        return "radius must be 1e-6..1e6";
    if (d->shape == ISPH_SHAPE_CAPSULE && !isphx_in(d->half_height, 0.0f, huge)) return "half_height must be 0..1e6";
    return NULL;
}

static const char *isphx_boundary_fault(const isph_boundary_desc *d) {
    const char *fault;
    if (!d || d->cookie != ISPHX_COOKIE_BOUNDARY) return "make the boundary desc with isph_boundary_desc_default()";
    fault = isphx_shape_fault(d);
    if (fault) return fault;
    if (!isphx_in(d->friction, 0.0f, 1.0f)) return "friction must be 0..1";
    if (!isphx_in(d->viscous_grip, 0.0f, 1.0f)) return "viscous_grip must be 0..1";
    if (!isphx_in(d->restitution, 0.0f, 1.0f)) return "restitution must be 0..1";
    if (!isphx_in(d->gravity_scale, -1e3f, 1e3f)) return "gravity_scale must be -1000..1000";
    if (!isphx_mass_ok(d->shape, d->mass, d->inertia)) return "mass or inertia is out of range, or a plane has one";
    if (!isphx_motion_ok(d->position, d->rotation, isphpbd_v3(0.0f, 0.0f, 0.0f), isphpbd_v3(0.0f, 0.0f, 0.0f)))
        return "position or rotation is out of range";
    if (!isphx_motion_ok(d->position, d->rotation, d->linear_velocity, d->angular_velocity))
        return "linear_velocity or angular_velocity is out of range";
    return NULL;
}

static void isphx_boundary_bounds(const isph_fluid *f, isphx_boundary *b) {
    const isph_boundary_desc *d = &b->desc;
    const float r = d->radius, tall = r + (d->shape == ISPH_SHAPE_CAPSULE ? d->half_height : 0.0f);
    const isphpbd_vec3 h = d->shape == ISPH_SHAPE_BOX ? d->half_extents : isphpbd_v3(r, tall, r);
    const bool unbounded = d->shape == ISPH_SHAPE_PLANE || d->container;
    int k;
    for (k = 0; k < 3; ++k) b->hi[k] = unbounded ? 1e30f : isphx_axis(h, k), b->lo[k] = -b->hi[k];
    if (d->shape != ISPH_SHAPE_MESH) return;
    memcpy(b->lo, f->node[b->node_first].lo, sizeof b->lo);
    memcpy(b->hi, f->node[b->node_first].hi, sizeof b->hi);
}

static uint64_t isphx_shape_hash(const isph_fluid *f, const isphx_boundary *b) {
    const isph_boundary_desc *d = &b->desc;
    const float numbers[9] = {d->half_extents.x, d->half_extents.y, d->half_extents.z, d->radius,       d->half_height,
                              d->friction,       d->viscous_grip,   d->restitution,    d->gravity_scale};
    uint64_t hash = isphpbdx_hash_word(UINT64_C(0x73686170), (uint32_t)d->shape);
    hash = isphpbdx_hash_word(hash, (d->container ? 1u : 0u) | (d->mesh_solid ? 2u : 0u));
    hash = isphpbdx_hash_words(hash, numbers, 9);
    return isphpbdx_hash_words(hash, f->triangle + b->triangle_first,
                               (size_t)b->triangle_count * sizeof(isphx_triangle) / 4);
}

ISPHPBD_API isph_boundary isph_boundary_create(isph_fluid *fluid, const isph_boundary_desc *desc, isphpbd_result *why) {
    isph_boundary handle = {0};
    isphx_boundary made; /* takes its place only when all went well */
    isphpbd_result result = ISPHPBD_OK;
    const char *fault;
    int slot = 0;
    isphx_why(why, ISPHPBD_BAD_ARGUMENT);
    if (!fluid) return handle;
    isphx_why(why, ISPHPBD_LOCKED);
    if (isphx_locked(fluid)) return handle;
    while (slot < fluid->desc.boundary_capacity && fluid->boundary[slot].alive) ++slot;
    fault = isphx_boundary_fault(desc);
    if (fault) result = isphx_refuse(&fluid->desc.logger, ISPHPBD_BAD_DESC, fault);
    else if (slot == fluid->desc.boundary_capacity)
        result = isphx_refuse(&fluid->desc.logger, ISPHPBD_CAPACITY, "raise boundary_capacity");
    isphx_why(why, result);
    if (result != ISPHPBD_OK) return handle;
    memset(&made, 0, sizeof made);
    made.generation = (fluid->boundary[slot].generation % 0xffffu) + 1u;
    made.desc = *desc;
    memset(&made.desc.mesh, 0, sizeof made.desc.mesh);
    made.pose.position = desc->position, made.pose.rotation = desc->rotation;
    made.end = made.pose;
    if (desc->shape == ISPH_SHAPE_MESH) result = isphx_mesh_build(fluid, &made, &desc->mesh);
    isphx_why(why, result);
    if (result != ISPHPBD_OK) return handle;
    isphx_boundary_bounds(fluid, &made);
    made.shape_hash = isphx_shape_hash(fluid, &made);
    made.alive = true;
    isphx_settle(fluid);
    fluid->boundary[slot] = made;
    fluid->boundary_count++;
    handle.id = (made.generation << 16) | ((uint32_t)slot + 1u);
    return handle;
}

static int isphx_boundary_slot(const isph_fluid *f, isph_boundary handle) {
    const int slot = (int)(handle.id & 0xffffu) - 1;
    if (!f || slot < 0 || slot >= f->desc.boundary_capacity) return -1;
    return f->boundary[slot].alive && f->boundary[slot].generation == handle.id >> 16 ? slot : -1;
}

ISPHPBD_API isphpbd_result isph_boundary_destroy(isph_fluid *fluid, isph_boundary boundary) {
    const int slot = isphx_boundary_slot(fluid, boundary);
    if (slot < 0) return ISPHPBD_BAD_HANDLE;
    if (isphx_locked(fluid)) return ISPHPBD_LOCKED;
    isphx_settle(fluid);
    fluid->boundary[slot].alive = false;
    if (fluid->boundary[slot].triangle_count > 0) isphx_mesh_release(fluid, fluid->boundary + slot);
    fluid->boundary_count--;
    return ISPHPBD_OK;
}

/* The motion that was given becomes the boundary's. */
static void isphx_boundary_take(isphx_boundary *b) {
    if (!b->given) return;
    b->given = false;
    b->pose = b->given_motion.pose;
    b->desc.linear_velocity = b->given_motion.linear, b->desc.angular_velocity = b->given_motion.angular;
}

/* As the user knows it, whatever is under way. */
static isphx_boundary isphx_boundary_shown(const isphx_boundary *b) {
    isphx_boundary shown = *b;
    isphx_boundary_take(&shown);
    return shown;
}

ISPHPBD_API isphpbd_result isph_boundary_set_motion(isph_fluid *fluid, isph_boundary boundary, isphpbd_vec3 position,
                                                    isphpbd_quat rotation, isphpbd_vec3 linear_velocity,
                                                    isphpbd_vec3 angular_velocity) {
    const int slot = isphx_boundary_slot(fluid, boundary);
    isphx_boundary *b;
    if (slot < 0) return ISPHPBD_BAD_HANDLE;
    if (isphx_locked(fluid)) return ISPHPBD_LOCKED;
    if (!isphx_motion_ok(position, rotation, linear_velocity, angular_velocity)) return ISPHPBD_BAD_ARGUMENT;
    b = fluid->boundary + slot;
    b->given = true;
    b->given_motion.pose.position = position, b->given_motion.pose.rotation = rotation;
    b->given_motion.linear = linear_velocity, b->given_motion.angular = angular_velocity;
    if (!isphx_pending(fluid)) isphx_boundary_take(b);
    return ISPHPBD_OK;
}

ISPHPBD_API isphpbd_result isph_boundary_pose(const isph_fluid *fluid, isph_boundary boundary, isphpbd_vec3 *position,
                                              isphpbd_quat *rotation) {
    const int slot = isphx_boundary_slot(fluid, boundary);
    isphx_boundary shown;
    if (slot < 0) return ISPHPBD_BAD_HANDLE;
    shown = isphx_boundary_shown(fluid->boundary + slot);
    if (position) *position = shown.pose.position;
    if (rotation) *rotation = shown.pose.rotation;
    return ISPHPBD_OK;
}

ISPHPBD_API isphpbd_result isph_boundary_motion(const isph_fluid *fluid, isph_boundary boundary, isphpbd_vec3 *position,
                                                isphpbd_quat *rotation, isphpbd_vec3 *linear_velocity,
                                                isphpbd_vec3 *angular_velocity) {
    const int slot = isphx_boundary_slot(fluid, boundary);
    isphx_boundary shown;
    if (slot < 0) return ISPHPBD_BAD_HANDLE;
    shown = isphx_boundary_shown(fluid->boundary + slot);
    if (fluid->stepping && fluid->finished) { /* asked from inside finish() */
        shown.pose = shown.end;
        shown.desc.linear_velocity = shown.linear_now, shown.desc.angular_velocity = shown.angular_now;
    }
    if (position) *position = shown.pose.position;
    if (rotation) *rotation = shown.pose.rotation;
    if (linear_velocity) *linear_velocity = shown.desc.linear_velocity;
    if (angular_velocity) *angular_velocity = shown.desc.angular_velocity;
    return ISPHPBD_OK;
}

ISPHPBD_API isphpbd_result isph_boundary_set_material_mask(isph_fluid *fluid, isph_boundary boundary, uint32_t mask) {
    const int slot = isphx_boundary_slot(fluid, boundary);
    if (slot < 0) return ISPHPBD_BAD_HANDLE;
    if (isphx_locked(fluid)) return ISPHPBD_LOCKED;
    isphx_settle(fluid);
    fluid->boundary[slot].desc.material_mask = mask;
    return ISPHPBD_OK;
}

ISPHPBD_API isphpbd_result isph_boundary_set_mass(isph_fluid *fluid, isph_boundary boundary, float mass,
                                                  isphpbd_vec3 inertia) {
    const int slot = isphx_boundary_slot(fluid, boundary);
    if (slot < 0) return ISPHPBD_BAD_HANDLE;
    if (isphx_locked(fluid)) return ISPHPBD_LOCKED;
    if (!isphx_mass_ok(fluid->boundary[slot].desc.shape, mass, inertia)) return ISPHPBD_BAD_ARGUMENT;
    isphx_settle(fluid);
    fluid->boundary[slot].desc.mass = mass;
    fluid->boundary[slot].desc.inertia = inertia;
    return ISPHPBD_OK;
}

ISPHPBD_API isphpbd_result isph_boundary_take_impulse(isph_fluid *fluid, isph_boundary boundary, isphpbd_vec3 *linear,
                                                      isphpbd_vec3 *angular) {
    const int slot = isphx_boundary_slot(fluid, boundary);
    isphx_boundary *b;
    if (slot < 0) return ISPHPBD_BAD_HANDLE;
    if (isphx_locked(fluid)) return ISPHPBD_LOCKED;
    b = fluid->boundary + slot;
    if (linear) *linear = isphpbd_v3((float)b->linear[0], (float)b->linear[1], (float)b->linear[2]);
    if (angular) *angular = isphpbd_v3((float)b->angular[0], (float)b->angular[1], (float)b->angular[2]);
    memset(b->linear, 0, sizeof b->linear);
    memset(b->angular, 0, sizeof b->angular);
    return ISPHPBD_OK;
}

/* [bodies] Boundaries with mass: six degrees of freedom each. They meet the fluid four times in a substep: in the
   viscous drag, inside the pressure solve, in contact, and in gravity. In: entries, velocities. Out: the bodies'
   velocities of this substep, impulses on both sides, equal and opposite. Sums over the entries of a body are in
   double and in the order of the particles. */
static bool isphx_is_body(const isph_fluid *f, const isphx_entry *entry) {
    return entry->boundary >= 0 && f->boundary[entry->boundary].desc.mass > 0.0f;
}

/* Impulse on the wall of a body per pressure. */
static float isphx_wall_push(const isph_fluid *f, const isphx_entry *entry) {
    return 2.0f * f->volume * entry->area * f->now.seconds;
}

/* G . velocity of a wall that a particle of velocity u sees. Of a body as much moves as pressure can act on, so that
   both see the same area; the rest goes with the particle. */
static float isphx_wall_flux(const isph_fluid *f, const isphx_entry *entry, isphpbd_vec3 u) {
    const float wall = isphpbdx_dot(entry->velocity, entry->normal);
    if (!isphx_is_body(f, entry)) return entry->gradient * wall;
    return entry->gradient * isphpbdx_dot(u, entry->normal) + entry->area * (wall - isphpbdx_dot(u, entry->normal));
}

typedef struct isphx_six { /* a velocity, momentum or impulse: linear and angular */
    double v[6];
} isphx_six;

static isphx_six isphx_six_zero(void) {
    isphx_six s;
    memset(&s, 0, sizeof s);
    return s;
}

/* The direction d at the lever r, as a row of the Jacobian. */
static isphx_six isphx_six_row(isphpbd_vec3 d, isphpbd_vec3 r) {
    const isphpbd_vec3 turn = isphpbdx_cross(r, d);
    isphx_six s;
    s.v[0] = (double)d.x, s.v[1] = (double)d.y, s.v[2] = (double)d.z;
    s.v[3] = (double)turn.x, s.v[4] = (double)turn.y, s.v[5] = (double)turn.z;
    return s;
}

static void isphx_six_add(isphx_six *sum, isphpbd_vec3 impulse, isphpbd_vec3 lever) {
    const isphx_six row = isphx_six_row(impulse, lever);
    int k;
    for (k = 0; k < 6; ++k) sum->v[k] += row.v[k];
}

/* What a motion does at a lever. */
static isphpbd_vec3 isphx_six_at(const isphx_six *s, isphpbd_vec3 r) {
    const isphpbd_vec3 linear = isphpbd_v3((float)s->v[0], (float)s->v[1], (float)s->v[2]);
    return isphpbdx_add(linear, isphpbdx_cross(isphpbd_v3((float)s->v[3], (float)s->v[4], (float)s->v[5]), r));
}

/* R diag(local) R^T, of a pose. */
static void isphx_turned_tensor(isphpbd_quat q, const double local[3], double out[3][3]) {
    const isphpbd_vec3 axis[3] = {isphpbdx_rotate(q, isphpbd_v3(1.0f, 0.0f, 0.0f)),
                                  isphpbdx_rotate(q, isphpbd_v3(0.0f, 1.0f, 0.0f)),
                                  isphpbdx_rotate(q, isphpbd_v3(0.0f, 0.0f, 1.0f))};
    int a, b, k;
    for (a = 0; a < 3; ++a)
        for (b = 0; b < 3; ++b) {
            out[a][b] = 0.0;
            for (k = 0; k < 3; ++k)
                out[a][b] += local[k] * (double)isphx_axis(axis[k], a) * (double)isphx_axis(axis[k], b);
        }
}

/* An axis without inertia does not turn: as if it had very much. */
static void isphx_body_inertia(const isphx_boundary *b, const isphx_pose *pose, double power, double out[3][3]) {
    double local[3];
    int k;
    for (k = 0; k < 3; ++k) {
        const float own = isphx_axis(b->desc.inertia, k);
        local[k] = own > 0.0f ? (double)own : 1e15;
        if (power < 0.0) local[k] = 1.0 / local[k];
    }
    isphx_turned_tensor(pose->rotation, local, out);
}

/* M^-1 times an impulse. */
static isphx_six isphx_body_answer(const isphx_boundary *b, const isphx_six *impulse) {
    isphx_six out;
    int k, j;
    for (k = 0; k < 3; ++k) {
        out.v[k] = impulse->v[k] / (double)b->desc.mass;
        out.v[3 + k] = 0.0;
        for (j = 0; j < 3; ++j) out.v[3 + k] += b->inverse_inertia[k][j] * impulse->v[3 + j];
    }
    return out;
}

/* Changes the velocity of this substep by an impulse. Bounded, since contacts far out on a body of hardly any inertia
   are resolved too badly in floats for one not to spin it up for the next. */
static void isphx_body_kick(isphx_boundary *b, const isphx_six *impulse) {
    const isphx_six change = isphx_body_answer(b, impulse);
    const isphpbd_vec3 turn = isphpbd_v3((float)change.v[3], (float)change.v[4], (float)change.v[5]);
    int k;
    for (k = 0; k < 6; ++k) b->gain[k] += impulse->v[k];
    b->linear_now = isphpbdx_add(b->linear_now, isphx_six_at(&change, isphpbd_v3(0.0f, 0.0f, 0.0f)));
    b->linear_now = isphx_shortened(b->linear_now, ISPHX_MAX_MOTION);
    b->angular_now = isphx_shortened(isphpbdx_add(b->angular_now, turn), ISPHX_MAX_MOTION);
}

static bool isphx_is_shell(const isphx_boundary *b) { return b->desc.shape == ISPH_SHAPE_MESH && !b->desc.mesh_solid; }

/* Box round a boundary, world axes. */
static void isphx_boundary_box(isphx_boundary *b) {
    const isphpbd_vec3 middle = isphpbd_v3(0.5f * (b->lo[0] + b->hi[0]), 0.5f * (b->lo[1] + b->hi[1]),
                                           0.5f * (b->lo[2] + b->hi[2])),
                       centre = isphx_to_world(&b->pose, middle);
    int a, k;
    for (a = 0; a < 3; ++a) {
        float half = 0.0f;
        for (k = 0; k < 3; ++k) {
            const isphpbd_vec3 axis = isphpbd_v3(k == 0 ? 1.0f : 0.0f, k == 1 ? 1.0f : 0.0f, k == 2 ? 1.0f : 0.0f);
            half +=
                0.5001f * (b->hi[k] - b->lo[k]) * isphpbdx_abs(isphx_axis(isphpbdx_rotate(b->pose.rotation, axis), a));
        }
        if (b->hi[0] > 1e29f) half = 3e37f; /* unbounded */
        b->world_lo[a] = isphx_axis(centre, a) - half, b->world_hi[a] = isphx_axis(centre, a) + half;
    }
}

/* Every substep starts from the given motion. */
static void isphx_bodies_begin(isph_fluid *f) {
    int a;
    f->bodies = f->shells = false;
    for (a = 0; a < f->active_count; ++a) {
        isphx_boundary *b = f->boundary + f->active[a];
        b->linear_now = b->desc.linear_velocity, b->angular_now = b->desc.angular_velocity;
        memset(b->gain, 0, sizeof b->gain);
        isphx_boundary_box(b);
        f->shells = f->shells || isphx_is_shell(b);
        b->entry_first = b->entry_count = 0;
        if (!(b->desc.mass > 0.0f)) continue;
        isphx_body_inertia(b, &b->pose, -1.0, b->inverse_inertia);
        f->bodies = true;
    }
}

/* Lists the entries of each body, in the order of the particles. */
static void isphx_stage_bodies(isph_fluid *f) {
    int i, e, a, used = 0;
    if (!f->bodies) return;
    for (i = 0; i < f->count; ++i)
        for (e = f->entry_first[i]; e < f->entry_first[i] + f->entry_count[i]; ++e)
            if (isphx_is_body(f, f->entry + e)) f->boundary[f->entry[e].boundary].entry_count++;
    for (a = 0; a < f->active_count; ++a) {
        isphx_boundary *b = f->boundary + f->active[a];
        b->entry_first = used, used += b->entry_count, b->entry_count = 0;
    }
    used = isphx_wall_blocks(isphx_padded(f->desc.particle_capacity)) * ISPHX_WALLS_PER_BLOCK - used;
    f->body_entry = (int *)(void *)(f->wall_impulse + used); /* an entry is the coupler's or a body's */
    f->body_particle = (int *)(void *)(f->wall_change + used);
    for (i = 0; i < f->count; ++i)
        for (e = f->entry_first[i]; e < f->entry_first[i] + f->entry_count[i]; ++e) {
            isphx_boundary *b = f->boundary + isphpbdx_maxi(f->entry[e].boundary, 0);
            if (!isphx_is_body(f, f->entry + e)) continue;
            f->body_entry[b->entry_first + b->entry_count] = e;
            f->body_particle[b->entry_first + b->entry_count++] = i;
        }
}

/* How a wall of a body yields where one particle pushes it, all others being quiet: 1/m + (r x n) I^-1 (r x n). */
static float isphx_body_local(const isphx_boundary *b, isphpbd_vec3 normal, isphpbd_vec3 at) {
    const isphx_six row = isphx_six_row(normal, isphpbdx_sub(at, b->pose.position));
    const isphx_six answer = isphx_body_answer(b, &row);
    double sum = 0.0;
    int k;
    for (k = 0; k < 6; ++k) sum += row.v[k] * answer.v[k];
    return (float)sum;
}

/* [walls] Which walls does every particle see, and which share of its kernel do they fill? In: sorted positions,
   boundary poses, the coupler. Out: entries per particle, G, the shares and moments. A wall is a half-space; shares of
   several are joined as if independent (exact for a separable kernel and square corners): overlap o l1 l2 with o = 1 +
   n1.n2 <= 1. */
static isphpbd_vec3 isphx_vec(const float *p) { return isphpbd_v3(p[0], p[1], p[2]); }

/* Do the bounds of a boundary come nearer than reach to the box lo .. hi? */
static bool isphx_boundary_near(const isphx_boundary *b, const float *lo, const float *hi, float reach) {
    return hi[0] > b->world_lo[0] - reach && lo[0] < b->world_hi[0] + reach && hi[1] > b->world_lo[1] - reach &&
           lo[1] < b->world_hi[1] + reach && hi[2] > b->world_lo[2] - reach && lo[2] < b->world_hi[2] + reach;
}

/* The farthest goes when there are too many. */
static int isphx_entry_push(isphx_entry *list, int n, const isphx_entry *entry, uint32_t *flags) {
    int k, farthest = 0;
    if (n < ISPHX_WALLS) {
        list[n] = *entry;
        return n + 1;
    }
    *flags |= ISPH_STEP_WALLS_CAPPED;
    for (k = 1; k < n; ++k)
        if (list[k].distance > list[farthest].distance) farthest = k;
    if (entry->distance < list[farthest].distance) list[farthest] = *entry;
    return n;
}

static bool isphx_boundary_meets(const isphx_boundary *b, int material) {
    return material >= 32 || (b->desc.material_mask >> material & 1u) != 0;
}

typedef struct isphx_nearby { /* boundaries that a few particles next to each other may meet */
    const int *which;
    int count, room[ISPHX_NEARBY];
} isphx_nearby;

/* Looks at all boundaries once for a group. When there are few, or too many near by, each looks for itself. */
static void isphx_find_nearby(const isph_fluid *f, int begin, int end, isphx_nearby *nearby) {
    float lo[3], hi[3];
    int a, i, k, n = 0;
    nearby->which = f->active, nearby->count = f->active_count;
    if (f->active_count < 4) return;
    for (k = 0; k < 3; ++k) lo[k] = hi[k] = f->position[4 * begin + k];
    for (i = begin + 1; i < end; ++i) {
        for (k = 0; k < 3; ++k) {
            lo[k] = isphpbdx_min(lo[k], f->position[4 * i + k]);
            hi[k] = isphpbdx_max(hi[k], f->position[4 * i + k]);
        }
    }
    for (a = 0; a < f->active_count; ++a) {
        if (!isphx_boundary_near(f->boundary + f->active[a], lo, hi, f->reach)) continue;
        if (n == ISPHX_NEARBY) return;
        nearby->room[n++] = f->active[a];
    }
    nearby->which = nearby->room, nearby->count = n;
}

static int isphx_own_walls(const isph_fluid *f, int i, isphpbd_vec3 p, const isphx_nearby *nearby, isphx_entry *list,
                           uint32_t *flags) {
    int a, k, n = 0;
    for (a = 0; a < nearby->count; ++a) {
        const isphx_boundary *boundary = f->boundary + nearby->which[a];
        isphx_foot feet[ISPHX_WALLS];
        int count;
        if (!isphx_boundary_near(boundary, &p.x, &p.x, f->reach) || !isphx_boundary_meets(boundary, f->material[i]))
            continue;
        count = isphx_boundary_feet(f, boundary, &boundary->pose, p, f->reach, feet);
        for (k = 0; k < count; ++k) {
            isphx_entry entry;
            memset(&entry, 0, sizeof entry);
            entry.normal = feet[k].normal;
            entry.distance = feet[k].distance;
            entry.area = feet[k].share;
            entry.velocity =
                isphx_boundary_velocity(boundary, &boundary->pose, isphpbdx_madd(p, entry.normal, -entry.distance));
            entry.friction = boundary->desc.friction;
            entry.grip = entry.skin = boundary->desc.viscous_grip;
            if (f->desc.rigid_local && boundary->desc.mass > 0.0f)
                entry.inverse_mass = isphx_body_local(boundary, entry.normal, p);
            entry.boundary = nearby->which[a];
            n = isphx_entry_push(list, n, &entry, flags);
        }
    }
    return n;
}

static bool isphx_wall_ok(const isph_wall *wall) {
    const float norm2 = isphpbdx_dot(wall->normal, wall->normal);
    return norm2 > 0.98f && norm2 < 1.02f && isphpbdx_length(wall->velocity) < ISPHX_MAX_MOTION &&
           isphx_in(wall->distance, -1e6f, 1e6f) && isphx_in(wall->inverse_mass, 0.0f, 1e9f) &&
           isphx_in(wall->friction, 0.0f, 1.0f) && isphx_in(wall->viscous_grip, 0.0f, 1.0f) &&
           isphx_in(wall->missed, 0.0f, 1.0f);
}

static int isphx_coupler_walls(const isph_fluid *f, int i, isphpbd_vec3 p, isphx_entry *list, int n, uint32_t *flags) {
    isph_wall walls[ISPHX_WALLS];
    int count, k;
    if (!f->coupler.walls) return n;
    count = isphpbdx_mini(f->coupler.walls(f->coupler.user, i, p, f->reach, walls, ISPHX_WALLS), ISPHX_WALLS);
    for (k = 0; k < count; ++k) {
        isphx_entry entry;
        if (!isphx_wall_ok(walls + k)) continue;
        memset(&entry, 0, sizeof entry);
        entry.normal = walls[k].normal, entry.distance = walls[k].distance, entry.velocity = walls[k].velocity;
        entry.grip = entry.skin = walls[k].viscous_grip, entry.friction = walls[k].friction;
        entry.inverse_mass = walls[k].inverse_mass, entry.area = 1.0f - walls[k].missed;
        entry.boundary = -1, entry.tag = walls[k].tag;
        n = isphx_entry_push(list, n, &entry, flags);
    }
    return n;
}

/* What a particle holds of the area of a wall, per volume (1/m): all of its own where it lies next to it, falling to
   none a layer farther, so that it adds up to the whole wall however the layers lie. Twice, as |G| is. */
static float isphx_wall_area(const isph_fluid *f, float distance) {
    return 0.5f * isphpbdx_clamp((1.48f - distance / f->dx) / 0.96f, 0.0f, 1.0f) / f->dx;
}

/* Joins the shares of n walls and leaves the sums with the particle. */
static void isphx_walls_join(isph_fluid *f, int i, isphx_entry *list, int n) {
    float lam = 0.0f, weight = 0.0f, m[3] = {0.0f, 0.0f, 0.0f};
    float *wall = f->wall + 4 * i, *moment = f->moment + 4 * i, *mixed = f->mixed + 4 * i;
    isphx_wall_row row[ISPHX_WALLS];
    int k, j, a;
    for (k = 0; k < n; ++k) row[k] = isphx_wall_shares(&f->tables, list[k].distance / f->reach);
    isphx_set3(wall, 0.0f, 0.0f, 0.0f);
    isphx_set3(mixed, 0.0f, 0.0f, 0.0f);
    for (k = 0; k < n; ++k) {
        const float nk[3] = {list[k].normal.x, list[k].normal.y, list[k].normal.z};
        float left = 1.0f, left_weight = 1.0f, others = 1.0f; /* what earlier walls, and all others, leave free */
        for (j = 0; j < n; ++j) {
            const float overlap = isphpbdx_clamp(1.0f + isphpbdx_dot(list[k].normal, list[j].normal), 0.0f, 1.0f);
            if (j == k) continue;
            others *= 1.0f - overlap * row[j].share;
            if (j > k) continue;
            left *= 1.0f - overlap * row[j].share;
            left_weight *= 1.0f - overlap * row[j].weight;
        }
        lam += left * row[k].share;
        weight += left_weight * row[k].weight;
        for (a = 0; a < 3; ++a) {
            const float c2 = nk[a] * nk[a];
            m[a] += left * (c2 * row[k].moment + (1.0f - c2) * row[k].share);
            mixed[a] += left * nk[a] * nk[(a + 1) % 3] * (row[k].moment - row[k].share);
        }
        list[k].gradient = others * (row[k].gradient / f->dx);
        list[k].area *= isphx_wall_area(f, list[k].distance);
        list[k].grip *= others * row[k].grip;
        for (a = 0; a < 3; ++a) wall[a] -= list[k].gradient * nk[a];
        wall[3] -= list[k].gradient * isphpbdx_dot(list[k].velocity, list[k].normal);
    }
    isphx_set3(moment, m[0], m[1], m[2]);
    moment[3] = lam;
    mixed[3] = weight * f->tables.full_weight;
}

/* Keeps the nearest `room` entries: every later particle of the block has to find room for one of its own. */
static int isphx_entries_fit(isphx_entry *list, int n, int room, uint32_t *flags) {
    while (n > room) {
        int k, farthest = 0;
        for (k = 1; k < n; ++k)
            if (list[k].distance > list[farthest].distance) farthest = k;
        list[farthest] = list[--n];
        *flags |= ISPH_STEP_WALLS_CAPPED;
    }
    return n;
}

static void isphx_walls_task(void *ctx, int block) {
    isph_fluid *f = (isph_fluid *)ctx;
    const int begin = block * ISPHX_WALL_BLOCK, end = isphpbdx_mini(begin + ISPHX_WALL_BLOCK, f->count);
    int used = block * ISPHX_WALLS_PER_BLOCK, i;
    isphx_nearby nearby;
    uint32_t flags = 0;
    for (i = begin; i < end; ++i) {
        const isphpbd_vec3 p = isphx_vec(f->position + 4 * i);
        isphx_entry list[ISPHX_WALLS];
        int n;
        if (i % ISPHX_GROUP == 0) isphx_find_nearby(f, i, isphpbdx_mini(i + ISPHX_GROUP, end), &nearby);
        n = isphx_own_walls(f, i, p, &nearby, list, &flags);
        n = isphx_coupler_walls(f, i, p, list, n, &flags);
        n = isphx_entries_fit(list, n, (block + 1) * ISPHX_WALLS_PER_BLOCK - used - (end - 1 - i), &flags);
        isphx_walls_join(f, i, list, n);
        f->entry_first[i] = used;
        f->entry_count[i] = (uint8_t)n;
        memcpy(f->entry + used, list, (size_t)n * sizeof(isphx_entry));
        used += n;
    }
    f->block_flags[block] |= flags;
}

/* [rows] Search and assembly in one pass, eight particles at a time; no neighbour list reaches memory. In: sorted
   positions, wall shares. Out: matrix, density, S, gradient matrix, deficit, diagonal. */
typedef struct isphx_chunk_work {
    int list[ISPHX_LANES][ISPHX_LIST + 4];
    int found[ISPHX_LANES];
    float hidden[ISPHX_LANES];   /* weight of crowded cells, which take no part */
    int low, high;               /* all columns lie between these */
    float apart[ISPHX_LIST][12]; /* x_ab, y_ab, z_ab of four rows */
    float sums[11][ISPHX_LANES]; /* density, weight, S x y z, B xx yy zz xy yz zx */
    float scaled[ISPHX_LANES];   /* sum w s_b, with several materials */
} isphx_chunk_work;

/* Neighbours of a row in the given runs, without the row itself, which parts the run that holds it. */
static int isphx_row_search(const isphx_cells *cells, int row, const isphx_run *runs, int run_count, int *list) {
    const float p[3] = {cells->x[row], cells->y[row], cells->z[row]};
    int r, n = 0;
    for (r = 0; r < run_count; ++r) {
        isphx_run run = runs[r];
        if (row >= run.begin && row < run.end) {
            run.end = row;
            n = isphx_run_search(cells, run, p, list, n, ISPHX_LIST);
            run.begin = row + 1, run.end = runs[r].end;
        }
        n = isphx_run_search(cells, run, p, list, n, ISPHX_LIST);
    }
    return n;
}

/* The same for this row and the next, which share their runs, and every look at a candidate. False where a list might
   overflow: then one row at a time. */
#ifdef ISPHPBDX_SSE2
typedef struct isphx_seeker {
    __m128 x, y, z;
    int row, *list, *end; /* of the list */
} isphx_seeker;

ISPHX_HOT isphx_seeker isphx_seeker_of(const isphx_cells *cells, int row, int *list) {
    isphx_seeker s;
    s.x = _mm_set1_ps(cells->x[row]), s.y = _mm_set1_ps(cells->y[row]), s.z = _mm_set1_ps(cells->z[row]);
    s.row = row, s.list = s.end = list;
    return s;
}

/* Those of the four candidates from i on that are allowed (bits) and near. */
ISPHX_HOT void isphx_seek(isphx_seeker *s, int i, unsigned allowed, __m128 x, __m128 y, __m128 z, __m128 reach) {
    const __m128 dx = _mm_sub_ps(s->x, x), dy = _mm_sub_ps(s->y, y), dz = _mm_sub_ps(s->z, z);
    const __m128 r2 = _mm_add_ps(_mm_add_ps(_mm_mul_ps(dx, dx), _mm_mul_ps(dy, dy)), _mm_mul_ps(dz, dz));
    const unsigned mask = (unsigned)_mm_movemask_ps(_mm_cmplt_ps(r2, reach)) & allowed;
    isphx_append(s->end, i, mask);
    s->end += isphx_mask_count[mask];
}

/* All bits but that of the seeker itself, where it is among the four candidates from i on. */
ISPHX_HOT unsigned isphx_others(const isphx_seeker *s, int i) {
    const unsigned self = (unsigned)(s->row - i);
    return ~((unsigned)(self < 4u) << (self & 3u));
}

/* The points as values: a compiler has to expect that writing a list changes what it can only reach by a pointer. */
typedef struct isphx_places {
    const float *x, *y, *z;
    __m128 reach; /* squared */
} isphx_places;

/* The candidates i .. i + 3 for both; `own`: they may be among them. */
ISPHX_HOT void isphx_seek_both(const isphx_places *p, int i, unsigned allowed, bool own, isphx_seeker *a,
                               isphx_seeker *b) {
    const __m128 x = _mm_loadu_ps(p->x + i), y = _mm_loadu_ps(p->y + i), z = _mm_loadu_ps(p->z + i);
    isphx_seek(a, i, own ? allowed & isphx_others(a, i) : allowed, x, y, z, p->reach);
    isphx_seek(b, i, own ? allowed & isphx_others(b, i) : allowed, x, y, z, p->reach);
}

/* A run that is not empty: fours, then the last one to four. */
ISPHX_HOT void isphx_seek_run(const isphx_places *p, isphx_run run, bool own, isphx_seeker *a, isphx_seeker *b) {
    int i;
    for (i = run.begin; i + 4 < run.end; i += 4) isphx_seek_both(p, i, 15u, own, a, b);
    isphx_seek_both(p, i, 15u >> (unsigned)(i + 4 - run.end), own, a, b);
}

static bool isphx_two_search(const isphx_cells *cells, int row, const isphx_run *runs, int run_count, int *list,
                             int *next_list, int found[2]) {
    const isphx_places places = {cells->x, cells->y, cells->z, _mm_set1_ps(cells->radius * cells->radius)};
    isphx_seeker a = isphx_seeker_of(cells, row, list), b = isphx_seeker_of(cells, row + 1, next_list);
    int r;
    for (r = 0; r < run_count; ++r) {
        const isphx_run run = runs[r];
        const int room = ISPHX_LIST - (run.end - run.begin);
        if (a.end - a.list > room || b.end - b.list > room) return false;
        if (row + 1 >= run.begin && row < run.end) isphx_seek_run(&places, run, true, &a, &b);
        else isphx_seek_run(&places, run, false, &a, &b);
    }
    found[0] = (int)(a.end - a.list), found[1] = (int)(b.end - b.list);
    return true;
}

/* How many cells after the row's the next row is, if the two had better be searched together, else -1: runs that serve
   both have so many cells more. */
#define ISPHX_PAIR_SPAN 2
static int isphx_pair_span(const isphx_cells *cells, int row) {
    const int cell = cells->cell[row], more = cells->cell[row + 1] - cell;
    if (more == 0) return 0;
    if (more > ISPHX_PAIR_SPAN || cells->crowded || cell % cells->dim[0] + more >= cells->dim[0]) return -1;
    return more;
}
#else
static bool isphx_two_search(const isphx_cells *cells, int row, const isphx_run *runs, int run_count, int *list,
                             int *next_list, int found[2]) {
    (void)cells, (void)row, (void)runs, (void)run_count, (void)list, (void)next_list, (void)found;
    return false;
}
static int isphx_pair_span(const isphx_cells *cells, int row) {
    (void)cells, (void)row;
    return -1;
}
#endif

/* Is a shell that both particles see between them? They then see it under opposite normals, or nearly, and no farther
   away than they are from each other. */
static bool isphx_shell_between(const isph_fluid *f, int i, int j) {
    const int low = isphpbdx_mini(i, j), high = isphpbdx_maxi(i, j); /* the same answer either way */
    const float apart =
        isphpbdx_length(isphpbdx_sub(isphx_vec(f->position + 4 * low), isphx_vec(f->position + 4 * high)));
    int a, b;
    for (a = f->entry_first[low]; a < f->entry_first[low] + f->entry_count[low]; ++a) {
        const isphx_boundary *shell = f->boundary + isphpbdx_maxi(f->entry[a].boundary, 0);
        if (f->entry[a].boundary < 0 || !isphx_is_shell(shell)) continue;
        for (b = f->entry_first[high]; b < f->entry_first[high] + f->entry_count[high]; ++b) {
            if (f->entry[b].boundary != f->entry[a].boundary ||
                isphpbdx_dot(f->entry[a].normal, f->entry[b].normal) > -0.2f ||
                f->entry[a].distance + f->entry[b].distance > 1.01f * apart)
                continue;
            if (isphx_mesh_between(f, shell, isphx_to_local(&shell->pose, isphx_vec(f->position + 4 * low)),
                                   isphx_to_local(&shell->pose, isphx_vec(f->position + 4 * high))))
                return true;
        }
    }
    return false;
}

static bool isphx_sees_shell(const isph_fluid *f, int i) {
    int e;
    for (e = f->entry_first[i]; e < f->entry_first[i] + f->entry_count[i]; ++e)
        if (f->entry[e].boundary >= 0 && isphx_is_shell(f->boundary + f->entry[e].boundary)) return true;
    return false;
}

/* Takes the neighbours out that shells or the coupler's surfaces separate from the row. */
static int isphx_row_part(const isph_fluid *f, int row, int *list, int n) {
    const isph_coupler *c = &f->coupler;
    const bool guarded = c->separated && c->guarded && c->guarded[row], shells = f->shells && isphx_sees_shell(f, row);
    int j, kept = 0;
    if (!guarded && !shells) return n;
    for (j = 0; j < n; ++j) {
        if (guarded && c->guarded[list[j]] && c->separated(c->user, row, list[j])) continue;
        if (shells && isphx_shell_between(f, row, list[j])) continue;
        list[kept++] = list[j];
    }
    return kept;
}

/* The crowded cell `step` cells away from cell c; -1 where there is none. */
static int isphx_crowded_cell(const isphx_cells *cells, const int c[3], const int step[3]) {
    int at[3], k, cell;
    for (k = 0; k < 3; ++k) {
        at[k] = c[k] + step[k];
        if (cells->wraps[k]) at[k] = isphx_wrap(at[k], cells->dim[k]);
        else if (at[k] < 0 || at[k] >= cells->dim[k]) return -1;
    }
    cell = (at[2] * cells->dim[1] + at[1]) * cells->dim[0] + at[0];
    return isphx_cell_points(cells, cell) > cells->crowd_limit ? cell : -1;
}

/* Weight of a cell `step` cells away that is full of water at rest, from four points of it; within: where in its own
   cell the row is, 0..1. */
static float isphx_full_cell_weight(const isph_fluid *f, const float within[3], const int step[3]) {
    const float size[3] = {f->reach / (float)ISPHX_CELLS_PER_RADIUS, f->reach, f->reach};
    const float x = ((float)step[0] + 0.5f - within[0]) * size[0];
    const float share = 0.25f * size[0] * size[1] * size[2] / f->volume; /* particles for each point */
    float sum = 0.0f;
    int k;
    for (k = 0; k < 4; ++k) {
        const float y = ((float)step[1] + (k & 1 ? 0.75f : 0.25f) - within[1]) * size[1];
        const float z = ((float)step[2] + (k & 2 ? 0.75f : 0.25f) - within[2]) * size[2];
        const float t = isphpbdx_max(1.0f - sqrtf(x * x + y * y + z * z) / f->reach, 0.0f);
        sum += share * f->tables.weight_scale * t * t * t;
    }
    return sum;
}

/* What crowded cells hide is not air: the weight they would have if they were just full. Air beyond them is air. */
static float isphx_hidden_weight(const isph_fluid *f, int row) {
    const isphx_cells *cells = &f->cells;
    float within[3], sum = 0.0f;
    int c[3], step[3], k;
    if (!cells->crowded) return 0.0f;
    isphx_cell_unpack(cells, cells->cell[row], c);
    for (k = 0; k < 3; ++k) {
        const float p = f->position[4 * row + cells->axis[k]];
        const double at = ((double)p - cells->lo[k]) * cells->inverse[k];
        within[k] = (float)(at - (double)isphx_cell_coordinate(cells, k, p));
    }
    for (step[2] = -1; step[2] <= 1; ++step[2])
        for (step[1] = -1; step[1] <= 1; ++step[1])
            for (step[0] = -ISPHX_CELLS_PER_RADIUS; step[0] <= ISPHX_CELLS_PER_RADIUS; ++step[0])
                if (isphx_crowded_cell(cells, c, step) >= 0) sum += isphx_full_cell_weight(f, within, step);
    return sum;
}

/* Lists the neighbours of a lane and, where the next is near by, of both; returns how many that were. */
static int isphx_lanes_search(const isph_fluid *f, int row, int lane, isphx_chunk_work *work) {
    const isphx_cells *cells = &f->cells;
    const int more = lane + 1 < ISPHX_LANES && row + 1 < f->count ? isphx_pair_span(cells, row) : -1;
    isphx_run runs[ISPHX_MAX_RUNS];
    int c[3], r, run_count;
    isphx_cell_unpack(cells, cells->cell[row], c);
    run_count = isphx_cells_runs(cells, c, isphpbdx_maxi(more, 0), runs);
    for (r = 0; r < run_count; ++r) {
        work->low = isphpbdx_mini(work->low, runs[r].begin);
        work->high = isphpbdx_maxi(work->high, runs[r].end - 1);
    }
    if (more >= 0 &&
        isphx_two_search(cells, row, runs, run_count, work->list[lane], work->list[lane + 1], work->found + lane))
        return 2;
    work->found[lane] = isphx_row_search(cells, row, runs, run_count, work->list[lane]);
    return 1;
}

/* Lists the neighbours of the eight rows of a chunk. */
static void isphx_chunk_search(const isph_fluid *f, int chunk, isphx_chunk_work *work) {
    const isphx_cells *cells = &f->cells;
    const int first = chunk * ISPHX_LANES, lanes = isphpbdx_mini(ISPHX_LANES, f->count - first);
    int lane, searched = 0;
    work->low = first, work->high = first + ISPHX_LANES - 1;
    memset(work->found, 0, sizeof work->found);
    memset(work->hidden, 0, sizeof work->hidden);
    for (lane = 0; lane < lanes; ++lane) {
        const int row = first + lane;
        if (cells->crowded && isphx_cell_points(cells, cells->cell[row]) > cells->crowd_limit) continue;
        work->hidden[lane] = isphx_hidden_weight(f, row);
        if (lane >= searched) searched = lane + isphx_lanes_search(f, row, lane, work);
        if (f->shells || (f->coupler.guarded && f->coupler.separated))
            work->found[lane] = isphx_row_part(f, row, work->list[lane], work->found[lane]);
    }
}

/* Fills the lists up to a common length, at most `room`, with the row itself, and returns that length. */
static int isphx_chunk_pad(const isph_fluid *f, int chunk, isphx_chunk_work *work, int room) {
    int length = 0, lane, j;
    for (lane = 0; lane < ISPHX_LANES; ++lane) length = isphpbdx_maxi(length, work->found[lane]);
    length = isphpbdx_mini(length, room);
    for (lane = 0; lane < ISPHX_LANES; ++lane) {
        const int row = isphpbdx_mini(chunk * ISPHX_LANES + lane, f->count - 1);
        work->found[lane] = isphpbdx_mini(work->found[lane], length);
        for (j = work->found[lane]; j < length; ++j) work->list[lane][j] = row;
    }
    return length;
}

/* Columns of a chunk, interleaved, as distances from `low` in 16 bits; lists have room for four more. */
#ifdef ISPHPBDX_SSE2
/* Four entries of the lists of four lanes, less low + 2^15, so that they fit 16 bits with a sign. */
ISPHX_HOT void isphx_four_columns(const isphx_chunk_work *work, int lane, int j, __m128i out[4]) {
    const __m128i low = _mm_set1_epi32(work->low + 32768);
    __m128i v[4], ab, cd;
    int k;
    for (k = 0; k < 4; ++k)
        v[k] = _mm_sub_epi32(_mm_loadu_si128((const __m128i *)(const void *)(work->list[lane + k] + j)), low);
    ab = _mm_unpacklo_epi32(v[0], v[1]), cd = _mm_unpacklo_epi32(v[2], v[3]);
    out[0] = _mm_unpacklo_epi64(ab, cd), out[1] = _mm_unpackhi_epi64(ab, cd);
    ab = _mm_unpackhi_epi32(v[0], v[1]), cd = _mm_unpackhi_epi32(v[2], v[3]);
    out[2] = _mm_unpacklo_epi64(ab, cd), out[3] = _mm_unpackhi_epi64(ab, cd);
}
static void isphx_narrow_columns(const isphx_chunk_work *work, int length, uint16_t *index) {
    const __m128i sign = _mm_set1_epi16((short)-32768);
    __m128i first[4], second[4];
    int j, k;
    for (j = 0; j < length; j += 4) {
        isphx_four_columns(work, 0, j, first);
        isphx_four_columns(work, 4, j, second);
        for (k = 0; k < 4 && j + k < length; ++k)
            _mm_storeu_si128((__m128i *)(void *)(index + (j + k) * ISPHX_LANES),
                             _mm_xor_si128(_mm_packs_epi32(first[k], second[k]), sign));
    }
}
#else
static void isphx_narrow_columns(const isphx_chunk_work *work, int length, uint16_t *index) {
    int j, lane;
    for (lane = 0; lane < ISPHX_LANES; ++lane)
        for (j = 0; j < length; ++j) index[j * ISPHX_LANES + lane] = (uint16_t)(work->list[lane][j] - work->low);
}
#endif

static void isphx_chunk_set_columns(isphx_sell *sell, int chunk, const isphx_chunk_work *work, int length) {
    unsigned char *index = isphx_chunk_index(sell, chunk);
    uint32_t *wide = (uint32_t *)(void *)index;
    int j, lane;
    sell->base[chunk] = work->high - work->low < ISPHX_NARROW_ROWS ? work->low : ~work->low;
    if (!isphx_chunk_is_wide(sell, chunk)) {
        isphx_narrow_columns(work, length, (uint16_t *)(void *)index);
        return;
    }
    for (lane = 0; lane < ISPHX_LANES; ++lane)
        for (j = 0; j < length; ++j) wide[j * ISPHX_LANES + lane] = (uint32_t)(work->list[lane][j] - work->low);
}

/* Four groups of four floats, gathered and transposed: out[k] holds component k of the four. */
#ifdef ISPHPBDX_SSE2
ISPHX_HOT void isphx_gather(const float *array, const int *index, isphpbdx_f4 out[4]) {
    out[0] = _mm_loadu_ps(array + 4 * (size_t)index[0]), out[1] = _mm_loadu_ps(array + 4 * (size_t)index[1]);
    out[2] = _mm_loadu_ps(array + 4 * (size_t)index[2]), out[3] = _mm_loadu_ps(array + 4 * (size_t)index[3]);
    _MM_TRANSPOSE4_PS(out[0], out[1], out[2], out[3]);
}
#else
ISPHX_HOT void isphx_gather(const float *array, const int *index, isphpbdx_f4 out[4]) {
    int k;
    for (k = 0; k < 4; ++k) {
        out[k] = isphpbdx_f4_set(array[4 * (size_t)index[0] + (size_t)k], array[4 * (size_t)index[1] + (size_t)k],
                                 array[4 * (size_t)index[2] + (size_t)k], array[4 * (size_t)index[3] + (size_t)k]);
    }
}
#endif
ISPHX_HOT isphpbdx_f4 isphx_gather1(const float *array, const int *index) {
    return isphpbdx_f4_set(array[index[0]], array[index[1]], array[index[2]], array[index[3]]);
}

/* Four rows that follow each other, there and back: component k of all of them in v[k]. */
ISPHX_HOT void isphx_load_rows(const float *rows, isphpbdx_f4 v[4]) {
    const int index[4] = {0, 1, 2, 3};
    isphx_gather(rows, index, v);
}
#ifdef ISPHPBDX_SSE2
ISPHX_HOT void isphx_store_rows(float *rows, const isphpbdx_f4 v[4]) {
    isphpbdx_f4 a = v[0], b = v[1], c = v[2], d = v[3];
    _MM_TRANSPOSE4_PS(a, b, c, d);
    _mm_storeu_ps(rows, a), _mm_storeu_ps(rows + 4, b), _mm_storeu_ps(rows + 8, c), _mm_storeu_ps(rows + 12, d);
}
#else
ISPHX_HOT void isphx_store_rows(float *rows, const isphpbdx_f4 v[4]) {
    int e;
    for (e = 0; e < 16; ++e) rows[e] = v[e % 4].v[e / 4];
}
#endif
ISPHX_HOT isphpbdx_f4 isphx_clamp4(isphpbdx_f4 v, isphpbdx_f4 lo, isphpbdx_f4 hi) { /* as isphpbdx_clamp */
    return isphpbdx_f4_min(hi, isphpbdx_f4_max(lo, v));
}
ISPHX_HOT isphpbdx_f4 isphx_minus4(isphpbdx_f4 v) { return isphpbdx_f4_mul(isphpbdx_f4_all(-1.0f), v); }

/* How far four rows of a chunk (half = 0 or 4) are from their neighbours; t waits where the weights come to be. Pads
   have a distance beyond the support. Apart from the sums because roots take long: so many of them are under way at
   once. */
static void isphx_chunk_apart(const isph_fluid *f, int chunk, int half, isphx_chunk_work *work, int length,
                              float *value) {
    const int own[4] = {chunk * ISPHX_LANES + half, chunk * ISPHX_LANES + half + 1, chunk * ISPHX_LANES + half + 2,
                        chunk * ISPHX_LANES + half + 3};
    const isphpbdx_f4 one = isphpbdx_f4_all(1.0f), zero = isphpbdx_f4_all(0.0f);
    const isphpbdx_f4 inverse_reach = isphpbdx_f4_all(1.0f / f->reach),
                      outside = isphpbdx_f4_all(4.0f * f->reach * f->reach);
    const int *const list[4] = {work->list[half], work->list[half + 1], work->list[half + 2], work->list[half + 3]};
    const float *const position = f->position;
    isphpbdx_f4 a[4], b[4], beyond = isphpbdx_f4_set((float)-work->found[half], (float)-work->found[half + 1],
                                                     (float)-work->found[half + 2], (float)-work->found[half + 3]);
    int j;
    isphx_gather(position, own, a);
    for (j = 0; j < length; ++j) {
        const int index[4] = {list[0][j], list[1][j], list[2][j], list[3][j]};
        isphpbdx_f4 dx, dy, dz, r2;
        beyond = isphpbdx_f4_add(beyond, one); /* 1, 2 ... from the first pad on, else <= 0 */
        isphx_gather(position, index, b);
        dx = isphpbdx_f4_sub(a[0], b[0]), dy = isphpbdx_f4_sub(a[1], b[1]), dz = isphpbdx_f4_sub(a[2], b[2]);
        isphpbdx_f4_store(work->apart[j], dx);
        isphpbdx_f4_store(work->apart[j] + 4, dy);
        isphpbdx_f4_store(work->apart[j] + 8, dz);
        r2 = isphx_madd4(isphx_madd4(isphpbdx_f4_mul(dx, dx), dy, dy), dz, dz);
        r2 = isphpbdx_f4_max(r2, isphpbdx_f4_mul(beyond, outside));
        isphpbdx_f4_store(
            value + j * ISPHX_LANES + half,
            isphpbdx_f4_max(isphpbdx_f4_sub(one, isphpbdx_f4_mul(isphpbdx_f4_sqrt(r2), inverse_reach)), zero));
    }
}

/* Weights and sums of the same four rows. */
static void isphx_chunk_weigh(const isph_fluid *f, int half, isphx_chunk_work *work, int length, float *value) {
    const isphpbdx_f4 four = isphpbdx_f4_all(4.0f), five = isphpbdx_f4_all(5.0f);
    const isphpbdx_f4 value_scale = isphpbdx_f4_all(f->tables.value_scale),
                      weight_scale = isphpbdx_f4_all(f->tables.weight_scale);
    isphpbdx_f4 sum[11];
    int j, k;
    for (k = 0; k < 11; ++k) sum[k] = isphpbdx_f4_all(0.0f);
    for (j = 0; j < length; ++j) {
        const isphpbdx_f4 t = isphpbdx_f4_load(value + j * ISPHX_LANES + half);
        const isphpbdx_f4 t3 = isphpbdx_f4_mul(isphpbdx_f4_mul(t, t), t), w = isphpbdx_f4_mul(weight_scale, t3);
        const isphpbdx_f4 dx = isphpbdx_f4_load(work->apart[j]), dy = isphpbdx_f4_load(work->apart[j] + 4),
                          dz = isphpbdx_f4_load(work->apart[j] + 8);
        const isphpbdx_f4 wx = isphpbdx_f4_mul(w, dx), wy = isphpbdx_f4_mul(w, dy), wz = isphpbdx_f4_mul(w, dz);
        isphpbdx_f4_store(value + j * ISPHX_LANES + half, w);
        sum[0] = isphx_madd4(sum[0], isphpbdx_f4_mul(value_scale, isphpbdx_f4_mul(t3, t)),
                             isphpbdx_f4_sub(five, isphpbdx_f4_mul(four, t)));
        sum[1] = isphpbdx_f4_add(sum[1], w);
        sum[2] = isphpbdx_f4_add(sum[2], wx), sum[3] = isphpbdx_f4_add(sum[3], wy),
        sum[4] = isphpbdx_f4_add(sum[4], wz);
        sum[5] = isphx_madd4(sum[5], wx, dx), sum[6] = isphx_madd4(sum[6], wy, dy),
        sum[7] = isphx_madd4(sum[7], wz, dz);
        sum[8] = isphx_madd4(sum[8], wx, dy), sum[9] = isphx_madd4(sum[9], wy, dz),
        sum[10] = isphx_madd4(sum[10], wz, dx);
    }
    for (k = 0; k < 11; ++k) isphpbdx_f4_store(work->sums[k] + half, sum[k]);
}

/* sum w s_b of the same four rows. */
static void isphx_chunk_scale(const isph_fluid *f, int half, isphx_chunk_work *work, int length, const float *value) {
    isphpbdx_f4 sum = isphpbdx_f4_all(0.0f);
    int j;
    for (j = 0; j < length && f->now.several; ++j) {
        const int index[4] = {work->list[half][j], work->list[half + 1][j], work->list[half + 2][j],
                              work->list[half + 3][j]};
        sum = isphx_madd4(sum, isphpbdx_f4_load(value + j * ISPHX_LANES + half), isphx_gather1(f->scale, index));
    }
    isphpbdx_f4_store(work->scaled + half, f->now.several ? sum : isphpbdx_f4_load(work->sums[1] + half));
}

/* Four rows of a chunk once their sums are there. The functions below read it; whether a row has walls decides by
   numbers, not by branches. */
typedef struct isphx_rows {
    isphpbdx_f4 sum[11], moment[4], mixed[4]; /* sums as in isphx_chunk_work, wall shares as in the fluid */
    isphpbdx_f4 least, second_share;          /* see isphx_gradient_matrix and isphx_row_densities */
    isphpbdx_f4 found, hidden, half_inverse;  /* 0.5 / dx^2 */
} isphx_rows;

static void isphx_rows_load(const isph_fluid *f, int i, int half, const isphx_chunk_work *work, isphx_rows *rows) {
    const float second[2] = {f->tables.second_share, 0.0f}, least[2] = {0.75f, 0.4f};
    int walls[4], k;
    for (k = 0; k < 4; ++k) walls[k] = f->entry_count[i + k] > 0;
    for (k = 0; k < 11; ++k) rows->sum[k] = isphpbdx_f4_load(work->sums[k] + half);
    isphx_load_rows(f->moment + 4 * i, rows->moment);
    isphx_load_rows(f->mixed + 4 * i, rows->mixed);
    rows->least = isphx_gather1(least, walls);
    rows->second_share = isphx_gather1(second, walls);
    rows->found = isphpbdx_f4_set((float)work->found[half], (float)work->found[half + 1], (float)work->found[half + 2],
                                  (float)work->found[half + 3]);
    rows->hidden = isphpbdx_f4_load(work->hidden + half);
    rows->half_inverse = isphpbdx_f4_all(0.5f / (f->dx * f->dx));
}

/* Density over rest density. A lattice that is squeezed one way and stretched another at constant volume reads too
   dense by the kernel sum and too thin by the second moment tr(B)/3 of w, so a little of the latter keeps a falling
   column from swelling. Near walls the plain sum is exact enough, and wide supports need no help. The difference is
   bounded because coincident particles do not count in B. */
ISPHX_HOT isphpbdx_f4 isphx_row_densities(const isph_fluid *f, const isphx_rows *rows) {
    const isphpbdx_f4 *sum = rows->sum;
    const isphpbdx_f4 density =
        isphpbdx_f4_add(isphpbdx_f4_add(isphpbdx_f4_all(f->tables.value_self), sum[0]), rows->moment[3]);
    const isphpbdx_f4 second = isphpbdx_f4_div(isphpbdx_f4_add(isphpbdx_f4_add(sum[5], sum[6]), sum[7]),
                                               isphpbdx_f4_all(6.0f * f->dx * f->dx));
    const isphpbdx_f4 differ =
        isphx_clamp4(isphpbdx_f4_sub(second, density), isphpbdx_f4_all(-0.3f), isphpbdx_f4_all(0.3f));
    return isphx_madd4(density, rows->second_share, differ);
}

/* plain + covered (fluid - plain) */
ISPHX_HOT isphpbdx_f4 isphx_blend4(isphpbdx_f4 plain, isphpbdx_f4 fluid, isphpbdx_f4 covered) {
    return isphx_madd4(plain, covered, isphpbdx_f4_sub(fluid, plain));
}

/* A gradient in difference form is the true one times the second moments B of the neighbours that are there; their
   inverse makes it true, whichever way walls lie and a strained arrangement leans. Without the mixed moments water
   creeps up slanted walls for ever. Towards the open surface, where the other half of the gradient is the air's, only
   what walls take away counts. Bounds keep the matrix diagonally dominant. */
ISPHX_HOT void isphx_gradient_matrix(const isphx_rows *rows, isphpbdx_f4 covered, isphpbdx_f4 shape[3],
                                     isphpbdx_f4 skew[3]) {
    const isphpbdx_f4 one = isphpbdx_f4_all(1.0f);
    isphpbdx_f4 own[3], mixed[3], inverse;
    int k;
    for (k = 0; k < 3; ++k) {
        const isphpbdx_f4 plain = isphpbdx_f4_sub(one, rows->moment[k]);
        const isphpbdx_f4 fluid = isphpbdx_f4_mul(rows->half_inverse, rows->sum[5 + k]);
        own[k] = isphx_clamp4(isphx_blend4(plain, fluid, covered), rows->least, isphpbdx_f4_all(1.25f));
    }
    for (k = 0; k < 3; ++k) {
        const isphpbdx_f4 fluid = isphpbdx_f4_mul(rows->half_inverse, rows->sum[8 + k]);
        const isphpbdx_f4 most = isphpbdx_f4_mul(isphpbdx_f4_all(0.49f), isphpbdx_f4_min(own[k], own[(k + 1) % 3]));
        mixed[k] = isphx_clamp4(isphx_blend4(isphx_minus4(rows->mixed[k]), fluid, covered), isphx_minus4(most), most);
    }
    for (k = 0; k < 3; ++k) {
        const int k1 = (k + 1) % 3, k2 = (k + 2) % 3;
        shape[k] = isphpbdx_f4_sub(isphpbdx_f4_mul(own[k1], own[k2]), isphpbdx_f4_mul(mixed[k1], mixed[k1]));
        skew[k] = isphpbdx_f4_sub(isphpbdx_f4_mul(mixed[k1], mixed[k2]), isphpbdx_f4_mul(mixed[k], own[k2]));
    }
    inverse = isphx_madd4(isphx_madd4(isphpbdx_f4_mul(own[0], shape[0]), mixed[0], skew[0]), mixed[2], skew[2]);
    inverse = isphpbdx_f4_div(one, inverse);
    for (k = 0; k < 3; ++k) shape[k] = isphpbdx_f4_mul(shape[k], inverse), skew[k] = isphpbdx_f4_mul(skew[k], inverse);
}

static isphpbd_vec3 isphx_true_gradient(const isph_fluid *f, int i, float x, float y, float z) {
    const float *shape = f->shape + 4 * i, *skew = f->skew + 3 * i;
    return isphpbd_v3(shape[0] * x + skew[0] * y + skew[2] * z, skew[0] * x + shape[1] * y + skew[1] * z,
                      skew[2] * x + skew[1] * y + shape[2] * z);
}

/* The part of a deficit that is air. A little of it is disorder. */
static float isphx_hole(const isph_fluid *f, int i) {
    const float deficit = f->shape[4 * i + 3];
    if (deficit <= ISPHX_FREE_SURFACE_BAND) return 0.0f; /* as most are: no need to divide */
    return isphpbdx_max(deficit, 0.0f) *
           isphpbdx_clamp((deficit - ISPHX_FREE_SURFACE_BAND) / ISPHX_FREE_SURFACE_WIDTH, 0.0f, 1.0f);
}
static float isphx_air(const isph_fluid *f, int i) { return ISPHX_AIR * f->tables.full_weight * isphx_hole(f, i); }

/* Share of the kernel that neither fluid, crowd nor wall fills. Neighbours that sit on top of each other have great
   weight and cover nothing: few of them cannot close a surface, whatever they weigh. */
ISPHX_HOT isphpbdx_f4 isphx_row_deficits(const isph_fluid *f, const isphx_rows *rows) {
    const isphpbdx_f4 full = isphpbdx_f4_all(f->tables.full_weight);
    const isphpbdx_f4 neighbours = isphpbdx_f4_all((float)f->tables.neighbours);
    const isphpbdx_f4 walls = isphpbdx_f4_add(rows->mixed[3], rows->hidden);
    const isphpbdx_f4 by_weight =
        isphpbdx_f4_sub(isphpbdx_f4_all(1.0f), isphpbdx_f4_div(isphpbdx_f4_add(rows->sum[1], walls), full));
    const isphpbdx_f4 by_count = isphpbdx_f4_sub(isphpbdx_f4_all(0.7f), isphpbdx_f4_div(rows->found, neighbours));
    return isphpbdx_f4_max(by_weight, isphpbdx_f4_sub(by_count, isphpbdx_f4_div(walls, full)));
}

/* What walls that give way by themselves add to `start`, a diagonal. */
static float isphx_wall_yield(const isph_fluid *f, int i, float start) {
    int e;
    for (e = f->entry_first[i]; e < f->entry_first[i] + f->entry_count[i]; ++e) {
        const float g = (f->entry[e].boundary >= 0 ? f->entry[e].area : f->entry[e].gradient) / f->scale[i];
        if (f->entry[e].boundary >= 0 || !f->coupler.respond)
            start += 4.0f * f->now.density * f->dx * f->dx * f->volume * g * g * f->entry[e].inverse_mass;
    }
    return start;
}

/* The diagonal: what couples to fluid (`scaled`), to air, and to walls that give way. */
static void isphx_row_diagonal(isph_fluid *f, int i, float scaled) {
    const float full = f->tables.full_weight;
    float diagonal = scaled / f->scale[i] + isphx_air(f, i);
    diagonal = isphpbdx_max(diagonal, 0.05f * full) + 1e-5f * full; /* the last term anchors a closed component */
    diagonal = isphx_wall_yield(f, i, diagonal);
    f->diagonal[i] = diagonal;
    f->inverse[i] = 1.0f / diagonal;
}

/* What particles know about themselves once their sums are there (equations of docs/how-it-works.md; free surface after
   Abu Rumman et al., eqs 10-13): density, S, deficit split into wall and air, diagonal. Four rows of a chunk. */
static void isphx_rows_finish(isph_fluid *f, int chunk, int half, const isphx_chunk_work *work) {
    const int i = chunk * ISPHX_LANES + half;
    const isphpbdx_f4 zero = isphpbdx_f4_all(0.0f), one = isphpbdx_f4_all(1.0f);
    isphpbdx_f4 shape[4], skew[4], spread[4], covered;
    float lane[16];
    isphx_rows rows;
    int k;
    isphx_rows_load(f, i, half, work, &rows);
    isphx_load_rows(f->wall + 4 * i, spread);
    for (k = 0; k < 3; ++k) spread[k] = isphpbdx_f4_sub(spread[k], isphpbdx_f4_mul(rows.half_inverse, rows.sum[2 + k]));
    spread[3] = isphx_row_densities(f, &rows);
    shape[3] = isphx_row_deficits(f, &rows);
    covered = isphx_clamp4(isphpbdx_f4_div(shape[3], isphpbdx_f4_all(ISPHX_COVERED)), zero, one);
    isphx_gradient_matrix(&rows, isphpbdx_f4_sub(one, covered), shape, skew);
    skew[3] = zero;
    isphx_store_rows(f->shape + 4 * i, shape);
    isphx_store_rows(f->spread + 4 * i, spread);
    isphx_store_rows(lane, skew);
    for (k = 0; k < 4; ++k) memcpy(f->skew + 3 * (i + k), lane + 4 * k, 3 * sizeof(float));
    for (k = 0; k < 4 && i + k < f->count; ++k) {
        float *density = f->spread + 4 * (i + k) + 3;
        if (work->hidden[half + k] > 0.0f) *density = isphpbdx_max(*density, 1.0f);
        f->density[i + k] = *density;
        isphx_row_diagonal(f, i + k, work->scaled[half + k]);
    }
}

static void isphx_rows_pad(isph_fluid *f, int i) {
    int k;
    f->diagonal[i] = f->inverse[i] = 1.0f;
    for (k = 0; k < 4; ++k) f->pair[k][2 * i] = f->pair[k][2 * i + 1] = 0.0f;
    for (k = 0; k < 4; ++k) f->position[4 * i + k] = f->velocity[4 * i + k] = f->wall[4 * i + k] = 0.0f;
    for (k = 0; k < 4; ++k) f->moment[4 * i + k] = f->mixed[4 * i + k] = 0.0f;
    f->scale[i] = 1.0f, f->density_pressure[i] = 0.0f, f->material[i] = 0, f->entry_count[i] = 0;
}

/* The chunk that follows in its stretch: first entry of the matrix that is free, and where its room ends. */
static int isphx_chunk_room(const isph_fluid *f, int chunk, int *end) {
    const int chunks = ISPHX_STRETCH * ISPHX_BLOCK / ISPHX_LANES, stretch = chunk / chunks;
    const int room = isphx_stretch_entries(f->tables.neighbours);
    *end = (stretch + 1) * room;
    return chunk % chunks == 0 ? stretch * room : f->sell.offset[chunk - 1] + f->sell.length[chunk - 1] * ISPHX_LANES;
}

static void isphx_rows_chunk(isph_fluid *f, int chunk, isphx_chunk_work *work, uint32_t *flags) {
    int end, used = isphx_chunk_room(f, chunk, &end), length, wanted = 0, lane;
    isphx_chunk_search(f, chunk, work);
    for (lane = 0; lane < ISPHX_LANES; ++lane) wanted = isphpbdx_maxi(wanted, work->found[lane]);
    length = isphx_chunk_pad(f, chunk, work, (end - used) / ISPHX_LANES);
    if (length < wanted || wanted >= ISPHX_LIST - 1) *flags |= ISPH_STEP_CROWDED;
    f->sell.offset[chunk] = used;
    f->sell.length[chunk] = length;
    isphx_chunk_set_columns(&f->sell, chunk, work, length);
    for (lane = 0; lane < ISPHX_LANES; lane += 4) {
        isphx_chunk_apart(f, chunk, lane, work, length, f->sell.value + used);
        isphx_chunk_weigh(f, lane, work, length, f->sell.value + used);
        isphx_chunk_scale(f, lane, work, length, f->sell.value + used);
        isphx_rows_finish(f, chunk, lane, work);
    }
}

static void isphx_rows_block(isph_fluid *f, int block) {
    isphx_chunk_work work;
    int chunk, end, lane;
    double entries = 0.0;
    isphx_block_chunks(f->count, block, &chunk, &end);
    for (; chunk < end; ++chunk) {
        isphx_rows_chunk(f, chunk, &work, f->block_flags + block);
        for (lane = 0; lane < ISPHX_LANES; ++lane) entries += work.found[lane];
    }
    f->partial[8 * block] = entries;
}

/* The blocks of a stretch follow each other in the room that they share. */
static void isphx_rows_task(void *ctx, int stretch) {
    isph_fluid *f = (isph_fluid *)ctx;
    const int end = isphpbdx_mini(stretch * ISPHX_STRETCH + f->round_end, isphx_blocks(f->count));
    int block;
    for (block = stretch * ISPHX_STRETCH + f->round; block < end; ++block) isphx_rows_block(f, block);
}

/* ---- sorting ---- */
static void isphx_sort_task(void *ctx, int block) {
    isph_fluid *f = (isph_fluid *)ctx;
    const isphx_state *state = &f->state;
    const int end = isphpbdx_mini((block + 1) * ISPHX_BLOCK, f->count);
    int i;
    for (i = block * ISPHX_BLOCK; i < end; ++i) {
        const int from = f->cells.order[i];
        memcpy(f->position + 4 * i, state->position + 4 * from, 4 * sizeof(float));
        memcpy(f->velocity + 4 * i, state->velocity + 4 * from, 4 * sizeof(float));
        memcpy(f->pair[0] + 2 * i, state->pair + 2 * from, 2 * sizeof(float));
        f->id[i] = state->id[from], f->user[i] = state->user[from], f->material[i] = state->material[from];
        f->scale[i] = f->material_table[f->material[i]].scale;
    }
}

static void isphx_stage_cells(isph_fluid *f) {
    isphx_cells_job *job = &f->sorting;
    job->cells = &f->cells, job->machine = &f->machine, job->cell = f->entry_first;
    job->xyz = f->state.position, job->stride = 4 * sizeof(float), job->count = f->count;
    isphx_cells_build(job, f->reach);
}

/* Most work of a substep: a task over blocks of rows. */
static void isphx_post_rows(isph_fluid *f, void (*task)(void *, int), int unit) {
    isphx_post(&f->machine, task, f, isphx_blocks(f->count), unit);
}

static void isphx_stage_sort(isph_fluid *f) { isphx_post_rows(f, isphx_sort_task, ISPHX_LIGHT); }

/* Finds the rows; where crowding makes the matrix overflow, ever fewer particles per cell take part (the rest are
   spread by isphx_relief) until it fits: cut rows would leave a matrix that is not symmetric. A lattice has 2. */
#define ISPHX_CROWD_ATTEMPTS 6
static void isphx_rows_judge(void *ctx);

static void isphx_rows_round(void *ctx) {
    isph_fluid *f = (isph_fluid *)ctx;
    f->round_end = f->machine.sliced ? f->round + 1 : ISPHX_STRETCH;
    isphx_post(&f->machine, isphx_rows_task, f, isphx_stretches(f->count), ISPHX_HEAVY);
    isphx_then(&f->machine, isphx_rows_judge, f);
}

static void isphx_rows_try(isph_fluid *f) {
    static const int limits[ISPHX_CROWD_ATTEMPTS] = {32, 16, 10, 6, 4, 3};
    int b;
    f->cells.crowd_limit = limits[f->attempt];
    f->cells.crowded = f->cells.fullest > f->cells.crowd_limit;
    for (b = 0; b < isphx_blocks(f->count); ++b) f->block_flags[b] &= ~(uint32_t)ISPH_STEP_CROWDED;
    f->round = 0;
    isphx_rows_round(f);
}

static void isphx_rows_judge(void *ctx) {
    isph_fluid *f = (isph_fluid *)ctx;
    uint32_t overflow = 0;
    double entries = 0.0;
    int b;
    f->round = f->round_end;
    if (f->round < ISPHX_STRETCH) {
        isphx_rows_round(f);
        return;
    }
    for (b = 0; b < isphx_blocks(f->count); ++b) {
        overflow |= f->block_flags[b] & ISPH_STEP_CROWDED;
        entries += f->partial[8 * b];
    }
    if (overflow && f->attempt < ISPHX_CROWD_ATTEMPTS - 1) {
        ++f->attempt;
        isphx_rows_try(f);
        return;
    }
    f->sell.rows = f->count;
    f->stats.neighbours_mean = (float)(entries / f->count);
    if (f->cells.crowded) f->flags |= ISPH_STEP_CROWDED;
}

/* Can all columns be stored in 16 bits, which many particles read faster? The rows of a chunk lie in one slab of cells,
   or in two with next to nothing between them; their neighbours also in the slab before and the one behind. */
static bool isphx_columns_narrow(const isph_fluid *f) {
    const isphx_cells *cells = &f->cells;
    const int slab = cells->dim[0] * cells->dim[1];
    int s, most = 0;
    if (f->count <= ISPHX_NARROW_ROWS) return true;
    if (cells->wraps[2]) return false;
    for (s = 0; s < cells->dim[2]; ++s) {
        const int end = isphpbdx_mini(s + 2, cells->dim[2]);
        most = isphpbdx_maxi(most, cells->start[end * slab] - cells->start[s * slab]);
    }
    return 2 * most + ISPHX_LANES < ISPHX_NARROW_ROWS;
}

/* [coarsen] Coarse level of the pressure matrix. Aggregates are cubic cells of m spacings; the coupling of two
   neighbours is that of full lattice cells times the share of the emptier of their faces, which is close to the
   Galerkin matrix and costs little. Numbered along the sorted axes, so that the envelope stays narrow. */
/* Cells along an axis: their borders lie between the layers of a lattice, and what is left over when they do not fit is
   shared by both ends, because thin cells make a poor coarse level. */
static void isphx_coarse_axis(const isph_fluid *f, isphx_blocks_frame *frame, int k) {
    const isphx_cells *cells = &f->cells;
    const double dx = (double)f->dx;
    int left = 0;
    frame->wraps[k] = cells->wraps[k];
    if (cells->wraps[k]) {
        const double reaches = (double)cells->dim[k] / (k == 0 ? ISPHX_CELLS_PER_RADIUS : 1);
        frame->dim[k] = (int)(reaches * (double)f->desc.support / frame->size) + 2;
    } else {
        const int layers = (int)(cells->extent[k] / dx + 0.5) + 1;
        frame->dim[k] = (layers + frame->size - 1) / frame->size;
        left = frame->dim[k] * frame->size - layers;
    }
    frame->dim[k] = isphpbdx_maxi(frame->dim[k], 4);
    frame->lo[k] = cells->lo[k] - dx * (0.5 + left / 2);
}

static void isphx_coarse_frame(isph_fluid *f, int size, int table_capacity) {
    isphx_blocks_frame *frame = &f->frame;
    int k;
    frame->size = isphx_coarse_sizes[size];
    frame->coupling = f->tables.coupling[size];
    frame->table = (int *)(void *)f->scratch;
    for (k = 0; k < 3; ++k) isphx_coarse_axis(f, frame, k);
    while ((int64_t)frame->dim[0] * frame->dim[1] * frame->dim[2] > table_capacity) {
        k = frame->dim[2] > frame->dim[1] ? 2 : 1;
        if (frame->dim[0] > frame->dim[k]) k = 0;
        frame->dim[k] = isphpbdx_maxi(frame->dim[k] / 2, 4);
        frame->wraps[k] = true;
    }
}

static int isphx_coarse_cells(const isphx_blocks_frame *frame) { return frame->dim[0] * frame->dim[1] * frame->dim[2]; }

static int isphx_coarse_cell(const isph_fluid *f, const float *p) {
    const isphx_blocks_frame *frame = &f->frame;
    const double inverse = 1.0 / ((double)f->dx * frame->size);
    int c[3], k;
    for (k = 0; k < 3; ++k) {
        c[k] = (int)(((double)p[f->cells.axis[k]] - frame->lo[k]) * inverse);
        c[k] = frame->wraps[k] ? isphx_wrap(c[k], frame->dim[k]) : isphpbdx_mini(c[k], frame->dim[k] - 1);
    }
    return (c[2] * frame->dim[1] + c[1]) * frame->dim[0] + c[0];
}

/* Members within a spacing of each face of an aggregate: low and high side of every axis. They wait where the factor
   comes to be. */
static float *isphx_coarse_faces(const isphx_coarse *coarse, int g) { return coarse->factor + 6 * (size_t)g; }

typedef struct isphx_faces { /* of x y z -, unlike those of an aggregate, and what they are counted by */
    isphpbdx_f4 low, high;
    isphpbdx_f4 lo, inverse, size; /* of the cells, m, and 1 / m; in spacings */
} isphx_faces;

/* 1 where a < b, else 0; and a without its fraction. */
#ifdef ISPHPBDX_SSE2
ISPHX_HOT isphpbdx_f4 isphx_ones_below(isphpbdx_f4 a, isphpbdx_f4 b) {
    return _mm_and_ps(_mm_cmplt_ps(a, b), _mm_set1_ps(1.0f));
}
ISPHX_HOT isphpbdx_f4 isphx_whole4(isphpbdx_f4 a) { return _mm_cvtepi32_ps(_mm_cvttps_epi32(a)); }
#else
ISPHX_HOT isphpbdx_f4 isphx_ones_below(isphpbdx_f4 a, isphpbdx_f4 b) {
    isphpbdx_f4 r;
    int k;
    for (k = 0; k < 4; ++k) r.v[k] = a.v[k] < b.v[k] ? 1.0f : 0.0f;
    return r;
}
ISPHX_HOT isphpbdx_f4 isphx_whole4(isphpbdx_f4 a) { /* of three: the fourth may be any number */
    return isphpbdx_f4_set((float)(int)a.v[0], (float)(int)a.v[1], (float)(int)a.v[2], 0.0f);
}
#endif

static void isphx_faces_begin(const isph_fluid *f, isphx_faces *faces) {
    float lo[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    int k;
    for (k = 0; k < 3; ++k) lo[f->cells.axis[k]] = (float)f->frame.lo[k];
    faces->lo = isphpbdx_f4_load(lo);
    faces->inverse = isphpbdx_f4_all(1.0f / f->dx);
    faces->size = isphpbdx_f4_all((float)f->frame.size);
    faces->low = faces->high = isphpbdx_f4_all(0.0f);
}

ISPHX_HOT void isphx_faces_count(isphx_faces *faces, const float *p) {
    const isphpbdx_f4 one = isphpbdx_f4_all(1.0f), size = faces->size;
    const isphpbdx_f4 at = isphpbdx_f4_mul(isphpbdx_f4_sub(isphpbdx_f4_load(p), faces->lo), faces->inverse);
    const isphpbdx_f4 in = isphpbdx_f4_sub(at, isphpbdx_f4_mul(size, isphx_whole4(isphpbdx_f4_div(at, size))));
    const isphpbdx_f4 inner = isphx_ones_below(in, isphpbdx_f4_sub(size, one));
    faces->low = isphpbdx_f4_add(faces->low, isphx_ones_below(in, one));
    faces->high = isphpbdx_f4_add(faces->high, isphpbdx_f4_sub(one, inner));
}

/* Leaves them with an aggregate, along the sorted axes. */
static void isphx_faces_end(const isph_fluid *f, const isphx_faces *faces, int g) {
    float low[4], high[4], *out = isphx_coarse_faces(&f->coarse, g);
    int k;
    isphpbdx_f4_store(low, faces->low);
    isphpbdx_f4_store(high, faces->high);
    for (k = 0; k < 3; ++k) out[2 * k] = low[f->cells.axis[k]], out[2 * k + 1] = high[f->cells.axis[k]];
}

/* What is left of the coupling of two full cells when the faces that they turn to each other are not full; at least
   that of a particle, since components are found by links. */
static float isphx_coarse_contact(const isph_fluid *f, int own, int other, const int step[3]) {
    const float *a = isphx_coarse_faces(&f->coarse, own), *b = isphx_coarse_faces(&f->coarse, other);
    float least = 3e38f;
    int k;
    for (k = 0; k < 3; ++k) {
        if (step[k] == 0) continue;
        least = isphpbdx_min(least, isphpbdx_min(a[2 * k + (step[k] > 0)], b[2 * k + (step[k] < 0)]));
    }
    return isphpbdx_max(least * (float)f->frame.size, 1.0f);
}

/* The aggregate of one of the 13 cells next to cell c that come before it, (x, y, z) in lexical order; -1 where it is
   empty. In step: where it is. */
static int isphx_coarse_before(const isphx_blocks_frame *frame, const int c[3], int which, int step[3]) {
    int n[3], k;
    step[0] = which % 3 - 1, step[1] = which / 3 % 3 - 1, step[2] = which / 9 - 1;
    for (k = 0; k < 3; ++k) {
        n[k] = c[k] + step[k];
        if (frame->wraps[k]) n[k] = isphx_wrap(n[k], frame->dim[k]);
        else if (n[k] < 0 || n[k] >= frame->dim[k]) return -1;
    }
    return frame->table[(n[2] * frame->dim[1] + n[1]) * frame->dim[0] + n[0]];
}

static void isphx_coarse_unpack(const isphx_blocks_frame *frame, int cell, int c[3]) {
    c[0] = cell % frame->dim[0], c[1] = cell / frame->dim[0] % frame->dim[1],
    c[2] = cell / frame->dim[0] / frame->dim[1];
}

/* Links the cell to those of its lower neighbours that are occupied. */
static void isphx_coarse_link_cell(isph_fluid *f, int cell) {
    const isphx_blocks_frame *frame = &f->frame;
    isphx_coarse *coarse = &f->coarse;
    const int own = frame->table[cell], scale_at = coarse->member[coarse->member_start[own]];
    int c[3], step[3], which;
    isphx_coarse_unpack(frame, cell, c);
    for (which = 0; which < 13; ++which) {
        const int other = isphx_coarse_before(frame, c, which, step);
        float coupling;
        if (other < 0 || other == own) continue;
        coupling = frame->coupling[(step[0] != 0) + (step[1] != 0) + (step[2] != 0)] *
                   isphx_coarse_contact(f, own, other, step);
        coupling *= f->scale[scale_at] * f->scale[coarse->member[coarse->member_start[other]]];
        isphx_coarse_link(coarse, isphpbdx_maxi(own, other), isphpbdx_mini(own, other), coupling);
        coarse->diagonal[own] += coupling;
        coarse->diagonal[other] += coupling;
    }
}

/* As isphx_coarse_first, before there are links. */
static void isphx_coarse_foresee(isph_fluid *f) {
    const isphx_blocks_frame *frame = &f->frame;
    int *first = f->coarse.first, c[3], step[3], cell, g, which;
    for (g = 0; g < f->coarse.count; ++g) first[g] = g;
    for (cell = 0; cell < isphx_coarse_cells(frame); ++cell) {
        const int own = frame->table[cell];
        if (own < 0) continue;
        isphx_coarse_unpack(frame, cell, c);
        for (which = 0; which < 13; ++which) {
            const int other = isphx_coarse_before(frame, c, which, step);
            if (other < 0) continue;
            first[isphpbdx_maxi(own, other)] =
                isphpbdx_mini(first[isphpbdx_maxi(own, other)], isphpbdx_mini(own, other));
        }
    }
}

/* The part of the diagonals that does not couple: air, and the anchor of closed components; and what couples. */
static void isphx_coarse_diagonal_task(void *ctx, int block) {
    isph_fluid *f = (isph_fluid *)ctx;
    isphx_coarse *coarse = &f->coarse;
    const float anchor = 1e-5f * f->tables.full_weight;
    const int end = isphpbdx_mini((block + 1) * ISPHX_COARSE_BLOCK, coarse->count);
    int g, m;
    for (g = block * ISPHX_COARSE_BLOCK; g < end; ++g) {
        isphx_faces faces;
        float diagonal = 0.0f;
        isphx_faces_begin(f, &faces);
        for (m = coarse->member_start[g]; m < coarse->member_start[g + 1]; ++m) {
            const int i = coarse->member[m];
            diagonal += f->scale[i] * f->scale[i] * (isphx_air(f, i) + anchor);
            isphx_faces_count(&faces, f->position + 4 * i);
        }
        coarse->link_count[g] = 0, coarse->diagonal[g] = diagonal;
        isphx_faces_end(f, &faces, g);
    }
}

/* The cells are numbered and their members listed. Cells grow until numbering, memory and work are in proportion to the
   particles, which the numbers alone tell; count = 0 is left when nothing is. It needs places only, and goes on beside
   the rows. A task is a piece of the particles. */
static int isphx_coarse_pieces(const isph_fluid *f) { return (f->count + ISPHX_MEMBERS - 1) / ISPHX_MEMBERS; }
static int isphx_coarse_turns(const isph_fluid *f) { return 3 * isphx_coarse_pieces(f) + 1; } /* tasks per size */

static void isphx_coarse_locate(isph_fluid *f, int size, int piece) {
    const int end = isphpbdx_mini((piece + 1) * ISPHX_MEMBERS, f->count);
    int i;
    if (piece == 0) isphx_coarse_frame(f, size, isphpbdx_maxi(2 * isphx_padded(f->desc.particle_capacity), 64));
    for (i = piece * ISPHX_MEMBERS; i < end; ++i) f->coarse.aggregate[i] = isphx_coarse_cell(f, f->position + 4 * i);
}

static void isphx_coarse_number(isph_fluid *f) {
    int *table = f->frame.table, i, count = 0;
    double work = -1.0;
    for (i = 0; i < isphx_coarse_cells(&f->frame); ++i) table[i] = -1;
    for (i = 0; i < f->count; ++i) table[f->coarse.aggregate[i]] = 0;
    for (i = 0; i < isphx_coarse_cells(&f->frame); ++i)
        if (table[i] == 0) table[i] = count++;
    f->coarse.count = count;
    if (count <= f->coarse.capacity) isphx_coarse_foresee(f), work = isphx_coarse_envelope(&f->coarse);
    if (work < 0.0 || work > 400.0 * f->count + 1e5) f->coarse.count = 0;
    else isphx_members_clear(&f->coarse, f->count);
}

static void isphx_coarse_rename(isph_fluid *f, int piece) {
    const int end = isphpbdx_mini((piece + 1) * ISPHX_MEMBERS, f->count);
    int i;
    for (i = piece * ISPHX_MEMBERS; i < end; ++i) f->coarse.aggregate[i] = f->frame.table[f->coarse.aggregate[i]];
    isphx_members_count(&f->coarse, piece);
}

static void isphx_coarse_number_task(void *ctx, int task) {
    isph_fluid *f = (isph_fluid *)ctx;
    const int size = task / isphx_coarse_turns(f), turn = task % isphx_coarse_turns(f), pieces = isphx_coarse_pieces(f);
    if (turn > pieces && f->coarse.count == 0) return; /* the next size, then */
    if (turn < pieces) isphx_coarse_locate(f, size, turn);
    else if (turn == pieces) isphx_coarse_number(f);
    else if (turn <= 2 * pieces) isphx_coarse_rename(f, turn - pieces - 1);
    else isphx_members_place(&f->coarse, turn - 2 * pieces - 1);
    if (turn == 3 * pieces) isphx_end_beside(&f->machine);
}

static bool isphx_projects(const isph_fluid *f) {
    return f->solver_enabled && f->desc.solver == ISPH_SOLVER_INCOMPRESSIBLE;
}
static bool isphx_weakly_compressible(const isph_fluid *f) {
    return f->solver_enabled && f->desc.solver == ISPH_SOLVER_WEAKLY_COMPRESSIBLE;
}

static void isphx_stage_rows(isph_fluid *f) {
    if (f->rounds > 0) return; /* nobody has moved since */
    if (isphx_projects(f))
        isphx_post_beside(&f->machine, isphx_coarse_number_task, f, ISPHX_COARSE_SIZES * isphx_coarse_turns(f),
                          ISPHX_HEAVY);
    f->sell.index_bytes = isphx_columns_narrow(f) ? 2 : 4;
    f->attempt = 0;
    isphx_rows_try(f);
}

/* When there are rows: links are made and the factor found, beside the right sides, which need neither. */
#define ISPHX_LINK_CELLS 128 /* per task */
static int isphx_link_tasks(const isph_fluid *f) {
    return (isphx_coarse_cells(&f->frame) + ISPHX_LINK_CELLS - 1) / ISPHX_LINK_CELLS;
}

static void isphx_coarse_link_piece(isph_fluid *f, int task) {
    const int end = isphpbdx_mini((task + 1) * ISPHX_LINK_CELLS, isphx_coarse_cells(&f->frame));
    int i;
    for (i = task * ISPHX_LINK_CELLS; i < end; ++i)
        if (f->frame.table[i] >= 0) isphx_coarse_link_cell(f, i);
}

static void isphx_coarse_build_task(void *ctx, int task) {
    isph_fluid *f = (isph_fluid *)ctx;
    const int links = isphx_link_tasks(f);
    if (task < links) isphx_coarse_link_piece(f, task);
    else isphx_coarse_factor_task(&f->coarse, task - links);
}

static void isphx_coarsen_build(void *ctx) {
    isph_fluid *f = (isph_fluid *)ctx;
    isphx_post_beside(&f->machine, isphx_coarse_build_task, f, isphx_link_tasks(f) + isphx_coarse_quads(&f->coarse),
                      ISPHX_HEAVY);
}

/* With Jacobi too: the closed components are found on it. */
static void isphx_stage_coarsen(isph_fluid *f) {
    if (!isphx_projects(f)) return;
    f->coarse.weight = f->now.several ? f->scale : NULL;
    if (f->coarse.count == 0) return;
    isphx_post(&f->machine, isphx_coarse_diagonal_task, f, isphx_coarse_blocks(&f->coarse), ISPHX_MEDIUM);
    isphx_then(&f->machine, isphx_coarsen_build, f);
}

/* [predict] u* = u + dt g + viscosity + smoothing. In: velocity. Out: star. The smoothing (XSPH) and explicit
   viscosity are one sum: both are multiples of the Laplacian. */
/* Columns of 16 bits in full; entries come in eights. Asks for what the next chunks hold, values as well. */
#ifdef ISPHPBDX_SSE2
static void isphx_columns_widen(const uint16_t *index, const float *value, int entries, int base, int *columns) {
    const __m128i zero = _mm_setzero_si128(), origin = _mm_set1_epi32(base);
    int e;
    for (e = 0; e < entries; e += ISPHX_LANES) {
        const __m128i eight = _mm_loadu_si128((const __m128i *)(const void *)(index + e));
        if (e / ISPHX_LANES % 2 == 0) isphx_ahead(value + e, ISPHX_AHEAD * sizeof *value);
        else isphx_ahead(index + e, ISPHX_AHEAD * sizeof *index);
        _mm_storeu_si128((__m128i *)(void *)(columns + e), _mm_add_epi32(_mm_unpacklo_epi16(eight, zero), origin));
        _mm_storeu_si128((__m128i *)(void *)(columns + e + 4), _mm_add_epi32(_mm_unpackhi_epi16(eight, zero), origin));
    }
}
#else
static void isphx_columns_widen(const uint16_t *index, const float *value, int entries, int base, int *columns) {
    int e;
    (void)value;
    for (e = 0; e < entries; ++e) columns[e] = base + (int)index[e];
}
#endif

static void isphx_chunk_columns(const isphx_sell *sell, int chunk, int *columns) {
    const int entries = sell->length[chunk] * ISPHX_LANES, base = isphx_chunk_base(sell, chunk);
    const unsigned char *index = isphx_chunk_index(sell, chunk);
    int e;
    if (!isphx_chunk_is_wide(sell, chunk)) {
        isphx_columns_widen((const uint16_t *)(const void *)index, sell->value + sell->offset[chunk], entries, base,
                            columns);
        return;
    }
    for (e = 0; e < entries; ++e) columns[e] = base + (int)((const uint32_t *)(const void *)index)[e];
}

static void isphx_own_rows(int chunk, int half, int own[4]) {
    int k;
    for (k = 0; k < 4; ++k) own[k] = chunk * ISPHX_LANES + half + k;
}

/* With several materials the pair weight is eps s_a / s_b + dt sqrt(mu_a mu_b) / (rho_a dx^2), which conserves
   momentum. */
static isphpbdx_f4 isphx_mixed_weight(const isph_fluid *f, const int own[4], const int *index) {
    float weight[4];
    int k;
    for (k = 0; k < 4; ++k) {
        const isphx_material *a = f->material_table + f->material[own[k]],
                             *b = f->material_table + f->material[index[k]];
        weight[k] = f->now.smoothing * a->scale / b->scale;
        if (f->now.implicit_viscosity) continue;
        weight[k] += f->now.viscous_seconds * a->grip * b->grip / (a->density * f->dx * f->dx);
    }
    return isphpbdx_f4_load(weight);
}

static void isphx_chunk_diffuse(const isph_fluid *f, int chunk, int half, const int *columns,
                                float out[3][ISPHX_LANES]) {
    const float *value = f->sell.value + f->sell.offset[chunk];
    const float alpha = f->now.smoothing + (f->now.implicit_viscosity ? 0.0f : f->now.diffusion);
    isphpbdx_f4 a[4], b[4], sum[3], scale = isphpbdx_f4_all(alpha);
    int own[4], j, k;
    isphx_own_rows(chunk, half, own);
    isphx_gather(f->velocity, own, a);
    for (k = 0; k < 3; ++k) sum[k] = isphpbdx_f4_all(0.0f);
    for (j = 0; j < f->sell.length[chunk]; ++j) {
        const int *index = columns + j * ISPHX_LANES + half;
        isphpbdx_f4 w = isphpbdx_f4_load(value + j * ISPHX_LANES + half);
        if (f->now.several) w = isphpbdx_f4_mul(w, isphx_mixed_weight(f, own, index));
        isphx_gather(f->velocity, index, b);
        sum[0] = isphx_madd4(sum[0], w, isphpbdx_f4_sub(b[0], a[0])); /* written out: a loop would go through memory */
        sum[1] = isphx_madd4(sum[1], w, isphpbdx_f4_sub(b[1], a[1]));
        sum[2] = isphx_madd4(sum[2], w, isphpbdx_f4_sub(b[2], a[2]));
    }
    for (k = 0; k < 3; ++k) isphpbdx_f4_store(out[k] + half, f->now.several ? sum[k] : isphpbdx_f4_mul(sum[k], scale));
}

/* Viscous pull of the walls on the tangential velocity, implicit in the particle's own velocity. */
static isphpbd_vec3 isphx_slip(const isphx_entry *entry, isphpbd_vec3 u) {
    const isphpbd_vec3 slip = isphpbdx_sub(entry->velocity, u);
    return isphpbdx_madd(slip, entry->normal, -isphpbdx_dot(slip, entry->normal));
}

/* Changes the velocity of a particle by means of a wall, which gets the opposite impulse. */
static void isphx_exchange(const isph_fluid *f, int i, isphx_entry *entry, isphpbd_vec3 *u, isphpbd_vec3 change) {
    *u = isphpbdx_add(*u, change);
    entry->impulse = isphpbdx_madd(entry->impulse, change, -f->material_table[f->material[i]].density * f->volume);
}

static isphpbd_vec3 isphx_wall_drag(const isph_fluid *f, int i, isphpbd_vec3 u) {
    const isphx_material *m = f->material_table + f->material[i];
    const float diffusion = f->now.seconds * m->viscosity / (m->density * f->dx * f->dx);
    int e;
    for (e = f->entry_first[i]; e < f->entry_first[i] + f->entry_count[i]; ++e) {
        const float pull = diffusion * f->entry[e].grip;
        isphx_exchange(f, i, f->entry + e, &u, isphpbdx_scale(isphx_slip(f->entry + e, u), pull / (1.0f + pull)));
    }
    return u;
}

static void isphx_predict_task(void *ctx, int block) {
    isph_fluid *f = (isph_fluid *)ctx;
    const isphpbd_vec3 kick = isphpbdx_scale(f->desc.gravity, f->now.seconds);
    int columns[ISPHX_LIST * ISPHX_LANES], chunk, end, lane;
    float sum[3][ISPHX_LANES];
    isphx_block_chunks(f->count, block, &chunk, &end);
    for (; chunk < end; ++chunk) {
        isphx_chunk_columns(&f->sell, chunk, columns);
        isphx_chunk_diffuse(f, chunk, 0, columns, sum);
        isphx_chunk_diffuse(f, chunk, 4, columns, sum);
        for (lane = 0; lane < ISPHX_LANES; ++lane) {
            const int i = chunk * ISPHX_LANES + lane;
            const float *v = f->velocity + 4 * i;
            isphpbd_vec3 u =
                isphpbd_v3(v[0] + kick.x + sum[0][lane], v[1] + kick.y + sum[1][lane], v[2] + kick.z + sum[2][lane]);
            if (i >= f->count) continue;
            if (!f->now.implicit_viscosity && f->entry_count[i] > 0) u = isphx_wall_drag(f, i, u);
            isphx_set3(f->star + 4 * i, u.x, u.y, u.z);
        }
    }
}

/* [viscosity] Thick fluids: (rho / dt) u - mu-weighted Laplacian = (rho / dt) u*, solved component by component with
   the pressure matrix and another diagonal. The unknown is sqrt(mu) u, so that one matrix serves all materials. */
static float isphx_wall_grip(const isph_fluid *f, int i) {
    float sum = 0.0f;
    int e;
    for (e = f->entry_first[i]; e < f->entry_first[i] + f->entry_count[i]; ++e) sum += f->entry[e].grip;
    return sum;
}

/* Least viscosity that takes part, so that sqrt(mu) does not vanish next to a thick fluid. */
static float isphx_grip_of(const isph_fluid *f, int i) {
    return isphpbdx_max(f->material_table[f->material[i]].grip, 0.01f);
}

/* sum w sqrt(mu_b) over the neighbours of the rows of a chunk. */
static void isphx_chunk_grips(const isph_fluid *f, int chunk, const int *columns, float sum[ISPHX_LANES]) {
    const float *value = f->sell.value + f->sell.offset[chunk];
    int e;
    memset(sum, 0, ISPHX_LANES * sizeof(float));
    for (e = 0; e < f->sell.length[chunk] * ISPHX_LANES; ++e)
        sum[e % ISPHX_LANES] += value[e] * isphx_grip_of(f, columns[e]);
}

/* How much slower a particle of velocity u is than the wall that holds it. A wall of the fluid's own holds all of it:
   to keep the particle's normal part as it was predicted would hold on to an error of the prediction, and what is thick
   enough then moves as a whole with it. One of the coupler, which may be light, only feels it slide. */
static isphpbd_vec3 isphx_held_slip(const isphx_entry *entry, isphpbd_vec3 u) {
    return entry->boundary < 0 ? isphx_slip(entry, u) : isphpbdx_sub(entry->velocity, u);
}

/* What the walls pull component k of a particle to, weighted by their grip. */
static float isphx_wall_pull(const isph_fluid *f, int i, int k) {
    const isphpbd_vec3 own = isphx_vec(f->star + 4 * i);
    float sum = 0.0f;
    int e;
    for (e = f->entry_first[i]; e < f->entry_first[i] + f->entry_count[i]; ++e) {
        sum += f->entry[e].grip * isphx_axis(isphpbdx_add(own, isphx_held_slip(f->entry + e, own)), k);
    }
    return sum;
}

/* The pressure diagonal waits in `next`, which is idle until the move; the solution is there, too. */
static float *isphx_viscosity_solution(isph_fluid *f) { return f->next + 2 * (size_t)isphx_padded(f->count); }

/* Diagonal, right sides and start of two components from now.component on; the fourth is nothing. */
static void isphx_viscosity_row(isph_fluid *f, int i, float neighbours) {
    const float grip = isphx_grip_of(f, i);
    const float inertia = f->material_table[f->material[i]].density * f->dx * f->dx / f->now.seconds;
    int k;
    f->diagonal[i] = neighbours / grip + inertia / (grip * grip) + isphx_wall_grip(f, i);
    f->inverse[i] = 1.0f / f->diagonal[i];
    for (k = 0; k < 2; ++k) {
        const int component = f->now.component + k;
        const float u = component < 3 ? f->star[4 * i + component] : 0.0f;
        const float wall = component < 3 ? isphx_wall_pull(f, i, component) : 0.0f;
        f->pair[1][2 * i + k] = inertia / grip * u + grip * wall;
        isphx_viscosity_solution(f)[2 * i + k] = grip * u; /* start */
    }
}

static void isphx_viscosity_task(void *ctx, int block) {
    isph_fluid *f = (isph_fluid *)ctx;
    int columns[ISPHX_LIST * ISPHX_LANES], chunk, end, lane;
    float sum[ISPHX_LANES];
    isphx_block_chunks(f->count, block, &chunk, &end);
    for (; chunk < end; ++chunk) {
        isphx_chunk_columns(&f->sell, chunk, columns);
        isphx_chunk_grips(f, chunk, columns, sum);
        for (lane = 0; lane < ISPHX_LANES; ++lane) {
            const int i = chunk * ISPHX_LANES + lane;
            if (i < f->count) isphx_viscosity_row(f, i, sum[lane]);
        }
    }
}

/* What the walls felt of the implicit solve: V dt mu / dx^2 times grip times slip, with the velocities it ended on. */
static void isphx_viscosity_reactions(isph_fluid *f, int i) {
    const float scale = -f->volume * f->now.seconds * f->material_table[f->material[i]].viscosity / (f->dx * f->dx);
    int e;
    for (e = f->entry_first[i]; e < f->entry_first[i] + f->entry_count[i]; ++e) {
        isphx_entry *entry = f->entry + e;
        entry->impulse =
            isphpbdx_madd(entry->impulse, isphx_held_slip(entry, isphx_vec(f->star + 4 * i)), scale * entry->grip);
    }
}

static void isphx_system_make(isph_fluid *f, isphx_system *s, float *x) {
    memset(s, 0, sizeof *s);
    s->sell = &f->sell;
    s->diagonal = f->diagonal, s->inverse = f->inverse;
    s->machine = &f->machine;
    s->hurry = &f->hurry;
    s->x = x, s->r = f->pair[1], s->d = f->pair[2], s->q = f->pair[3];
    s->partial = f->partial;
}

static void isphx_viscosity_keep_task(void *ctx, int block) {
    isph_fluid *f = (isph_fluid *)ctx;
    const int end = isphpbdx_mini((block + 1) * ISPHX_BLOCK, isphx_padded(f->count));
    float *x = isphx_viscosity_solution(f);
    int i;
    for (i = block * ISPHX_BLOCK; i < end; ++i) {
        f->next[2 * i] = f->diagonal[i], f->next[2 * i + 1] = f->inverse[i];
        x[2 * i] = x[2 * i + 1] = 0.0f;
    }
}

static void isphx_viscosity_store_task(void *ctx, int block) {
    isph_fluid *f = (isph_fluid *)ctx;
    const int end = isphpbdx_mini((block + 1) * ISPHX_BLOCK, f->count);
    const float *x = isphx_viscosity_solution(f);
    int i, k;
    for (i = block * ISPHX_BLOCK; i < end; ++i) {
        for (k = 0; k < 2 && f->now.component + k < 3; ++k)
            f->star[4 * i + f->now.component + k] = x[2 * i + k] / isphx_grip_of(f, i);
    }
}

/* A p of the last pressure, which u* holds already, waits where the right side will be. Walls that yield do so to the
   whole pressure, not to what it changes by, so their part of the diagonal stays out. */
static void isphx_viscosity_carry(isph_fluid *f, int chunk) {
    const float *value = f->sell.value + f->sell.offset[chunk];
    int columns[ISPHX_LIST * ISPHX_LANES], lane, e;
    float sum[ISPHX_LANES];
    if (!isphx_projects(f)) return;
    isphx_chunk_columns(&f->sell, chunk, columns);
    memset(sum, 0, sizeof sum);
    for (e = 0; e < f->sell.length[chunk] * ISPHX_LANES; ++e)
        sum[e % ISPHX_LANES] += value[e] * f->position[4 * columns[e] + 3];
    for (lane = 0; lane < ISPHX_LANES; ++lane) {
        const int i = chunk * ISPHX_LANES + lane;
        if (i >= f->count) return;
        f->pair[1][2 * i] =
            f->now.memory * ((f->diagonal[i] - isphx_wall_yield(f, i, 0.0f)) * f->position[4 * i + 3] - sum[lane]);
    }
}

static void isphx_viscosity_end_task(void *ctx, int block) {
    isph_fluid *f = (isph_fluid *)ctx;
    const int rows = isphpbdx_mini((block + 1) * ISPHX_BLOCK, f->count);
    int i, chunk, end;
    for (i = block * ISPHX_BLOCK; i < rows; ++i) {
        f->diagonal[i] = f->next[2 * i], f->inverse[i] = f->next[2 * i + 1];
        isphx_viscosity_reactions(f, i);
    }
    isphx_block_chunks(f->count, block, &chunk, &end);
    for (; chunk < end; ++chunk) isphx_viscosity_carry(f, chunk);
}

static void isphx_viscosity_rows(void *ctx);
static void isphx_lean_task(void *ctx, int block); /* [move] */

/* Viscosity and pressure are solved one after the other, and a thick fluid has both of the same size: what shears is u*
   without the pressure, which then makes it slide along walls by dt grad p / rho. So the viscosity sees u* as the last
   pressure would leave it, and what the pressure solve looks for is by how much that one has to change: its right side
   is div u* with the last pressure in it, plus A times that pressure. Only then is the push taken back. To take it back
   first would leave the difference of A p and of the divergence of what the move makes of p, which is no small part of
   the weight, and which a thick fluid, unlike water, does not shake off. A little of it is taken back first all the
   same (isphx_substep.memory), so that what the move does not see of p is forgotten, the sooner the more it flows. */
static void isphx_lean(isph_fluid *f, float share) {
    f->now.lean = share;
    if (isphx_projects(f)) isphx_post_rows(f, isphx_lean_task, ISPHX_MEDIUM);
}

static void isphx_viscosity_upright(void *ctx) {
    isph_fluid *f = (isph_fluid *)ctx;
    isphx_lean(f, f->now.memory - 1.0f);
}

static void isphx_viscosity_next(void *ctx) {
    isph_fluid *f = (isph_fluid *)ctx;
    f->now.component += 2;
    if (f->now.component < 3) {
        isphx_viscosity_rows(f);
        return;
    }
    isphx_post_rows(f, isphx_viscosity_end_task, ISPHX_MEDIUM);
    isphx_then(&f->machine, isphx_viscosity_upright, f);
}

static void isphx_viscosity_store(void *ctx) {
    isph_fluid *f = (isph_fluid *)ctx;
    const int *iterations = f->system.result.iterations;
    f->stats.viscosity_iterations =
        isphpbdx_maxi(f->stats.viscosity_iterations, isphpbdx_maxi(iterations[0], iterations[1]));
    isphx_post_rows(f, isphx_viscosity_store_task, ISPHX_LIGHT);
    isphx_then(&f->machine, isphx_viscosity_next, f);
}

static void isphx_viscosity_solve(void *ctx) {
    isph_fluid *f = (isph_fluid *)ctx;
    isphx_system_make(f, &f->system, isphx_viscosity_solution(f));
    f->system.then = isphx_viscosity_store, f->system.then_ctx = f;
    isphx_cg(&f->system, true, true, 1e-3f, 200, 200);
}

static void isphx_viscosity_rows(void *ctx) {
    isph_fluid *f = (isph_fluid *)ctx;
    isphx_post_rows(f, isphx_viscosity_task, ISPHX_MEDIUM);
    isphx_then(&f->machine, isphx_viscosity_solve, f);
}

static void isphx_viscosity_keep(void *ctx) {
    isph_fluid *f = (isph_fluid *)ctx;
    isphx_post_rows(f, isphx_viscosity_keep_task, ISPHX_LIGHT);
    isphx_then(&f->machine, isphx_viscosity_rows, f);
}

static void isphx_viscosity_lean(void *ctx) {
    isph_fluid *f = (isph_fluid *)ctx;
    isphx_lean(f, 1.0f);
    isphx_then(&f->machine, isphx_viscosity_keep, f);
}

static void isphx_stage_pressures(isph_fluid *f);

static void isphx_stage_viscosity(isph_fluid *f) {
    if (!f->now.implicit_viscosity || isphx_weakly_compressible(f)) return;
    f->now.component = 0;
    isphx_stage_pressures(f);
    isphx_then(&f->machine, isphx_viscosity_lean, f);
}

/* ---- bodies: drag, and what the pressure solve needs of them ---- */
typedef struct isphx_joint { /* (M + sum k g g^T) x = right, for one body */
    double matrix[6][6];
    isphx_six right;
} isphx_joint;

static void isphx_joint_begin(const isphx_boundary *b, const isphx_pose *pose, isphx_joint *joint) {
    double inertia[3][3];
    int k, j;
    memset(joint, 0, sizeof *joint);
    isphx_body_inertia(b, pose, 1.0, inertia);
    for (k = 0; k < 3; ++k) {
        joint->matrix[k][k] = (double)b->desc.mass;
        for (j = 0; j < 3; ++j) joint->matrix[3 + k][3 + j] = inertia[k][j];
    }
}

/* One direction of an exchange: stiffness k (kg), relative velocity `way` of the particle along d. */
static void isphx_joint_direction(isphx_joint *joint, isphpbd_vec3 d, isphpbd_vec3 lever, float k, float way) {
    const isphx_six g = isphx_six_row(d, lever);
    int a, b;
    if (k == 0.0f) return;
    for (a = 0; a < 6; ++a) {
        for (b = 0; b < 6; ++b) joint->matrix[a][b] += (double)k * g.v[a] * g.v[b];
        joint->right.v[a] += (double)k * (double)way * g.v[a];
    }
}

/* normal and sliding part of an exchange with a particle of relative velocity `way` */
static void isphx_joint_add(isphx_joint *joint, isphpbd_vec3 n, isphpbd_vec3 lever, float normal, float sliding,
                            isphpbd_vec3 way) {
    isphx_joint_direction(joint, isphpbd_v3(1.0f, 0.0f, 0.0f), lever, sliding, way.x);
    isphx_joint_direction(joint, isphpbd_v3(0.0f, 1.0f, 0.0f), lever, sliding, way.y);
    isphx_joint_direction(joint, isphpbd_v3(0.0f, 0.0f, 1.0f), lever, sliding, way.z);
    isphx_joint_direction(joint, n, lever, normal - sliding, isphpbdx_dot(way, n));
}

/* By Cholesky; the matrix is at least M, so positive definite. */
static isphx_six isphx_joint_solve(isphx_joint *joint) {
    double(*m)[6] = joint->matrix;
    isphx_six x = joint->right;
    int i, j, k;
    for (i = 0; i < 6; ++i) {
        for (j = 0; j <= i; ++j) {
            double sum = m[i][j];
            for (k = 0; k < j; ++k) sum -= m[i][k] * m[j][k];
            m[i][j] = i == j ? sqrt(sum > 1e-300 ? sum : 1e-300) : sum / m[j][j];
        }
    }
    for (i = 0; i < 6; ++i) {
        for (k = 0; k < i; ++k) x.v[i] -= m[i][k] * x.v[k];
        x.v[i] /= m[i][i];
    }
    for (i = 5; i >= 0; --i) {
        for (k = i + 1; k < 6; ++k) x.v[i] -= m[k][i] * x.v[k];
        x.v[i] /= m[i][i];
    }
    return x;
}

/* What the walls' motion adds to the divergence of a particle, with the velocities as they are now. */
static void isphx_body_refresh(isph_fluid *f, const isphx_boundary *b) {
    int k, e;
    for (k = b->entry_first; k < b->entry_first + b->entry_count; ++k) {
        isphx_entry *entry = f->entry + f->body_entry[k];
        const int i = f->body_particle[k];
        const isphpbd_vec3 at = isphx_vec(f->position + 4 * i);
        float sum = 0.0f;
        entry->velocity = isphx_boundary_velocity(b, &b->pose, isphpbdx_madd(at, entry->normal, -entry->distance));
        for (e = f->entry_first[i]; e < f->entry_first[i] + f->entry_count[i]; ++e)
            sum += isphx_wall_flux(f, f->entry + e, isphx_vec(f->star + 4 * i));
        f->wall[4 * i + 3] = -sum;
    }
}

/* Gradient of the pressure along a direction, from the last solve, divided by s^2 as isphx_reactions() does. */
static float isphx_row_slope(const isph_fluid *f, int i, isphpbd_vec3 n) {
    const int chunk = i / ISPHX_LANES, lane = i % ISPHX_LANES;
    const float *value = f->sell.value + f->sell.offset[chunk];
    const float own = isphpbdx_max(f->pair[0][2 * i], 0.0f), s = f->scale[i];
    float sum[3] = {0.0f, 0.0f, 0.0f};
    int j, k;
    for (j = 0; j < f->sell.length[chunk]; ++j) {
        const int other = isphx_column(&f->sell, chunk, j * ISPHX_LANES + lane);
        const float w =
            value[j * ISPHX_LANES + lane] * (s * isphpbdx_max(f->pair[0][2 * other], 0.0f) - f->scale[other] * own);
        for (k = 0; k < 3; ++k) sum[k] += w * (f->position[4 * i + k] - f->position[4 * other + k]);
    }
    return isphpbdx_dot(isphx_true_gradient(f, i, sum[0], sum[1], sum[2]), n) * -0.5f / (f->dx * f->dx * s * s);
}

/* How densely the feet of particles lie round that of particle i on a body, over one per spacing squared: by a kernel
   (1 - q^2)^2 of the width at which its sum over a lattice is its integral, so that order and disorder read alike. */
static float isphx_foot_density(const isph_fluid *f, int i, const isphx_entry *entry) {
    const int chunk = i / ISPHX_LANES, lane = i % ISPHX_LANES;
    const float *value = f->sell.value + f->sell.offset[chunk];
    const float width2 = 2.56f * f->dx * f->dx, integral = 2.6808f; /* pi 1.6^2 / 3 */
    const isphpbd_vec3 foot = isphpbdx_madd(isphx_vec(f->position + 4 * i), entry->normal, -entry->distance);
    float sum = 0.0f;
    int j, e;
    for (j = -1; j < f->sell.length[chunk]; ++j) { /* itself, then its neighbours */
        const int other = j < 0 ? i : isphx_column(&f->sell, chunk, j * ISPHX_LANES + lane);
        if (j >= 0 && !(value[j * ISPHX_LANES + lane] > 0.0f)) continue;
        for (e = f->entry_first[other]; e < f->entry_first[other] + f->entry_count[other]; ++e) {
            const isphx_entry *seen = f->entry + e;
            const isphpbd_vec3 way =
                isphpbdx_sub(isphpbdx_madd(isphx_vec(f->position + 4 * other), seen->normal, -seen->distance), foot);
            const float left = 1.0f - isphpbdx_dot(way, way) / width2;
            if (seen->boundary == entry->boundary && seen->area > 0.0f && left > 0.0f &&
                isphpbdx_dot(seen->normal, entry->normal) > -0.5f) /* not from behind a thin one */
                sum += 2.0f * f->dx * isphx_wall_area(f, seen->distance) * left * left;
        }
    }
    return sum / integral;
}

/* The feet on a body share its surface among them, whatever its shape and however they lie: each holds as much as there
   is per foot, so that the whole adds up to the body's and pressure lifts it by its volume. None holds more than its
   own cross-section: at the water line and beside other walls neighbours are missing, not feet. */
static void isphx_body_areas(isph_fluid *f, const isphx_boundary *b) {
    int k;
    for (k = b->entry_first; k < b->entry_first + b->entry_count; ++k) {
        const int i = f->body_particle[k];
        isphx_entry *entry = f->entry + f->body_entry[k];
        if (entry->area > 0.0f)
            entry->area = isphx_wall_area(f, entry->distance) / isphpbdx_max(isphx_foot_density(f, i, entry), 1.0f);
    }
}

/* The pressure at a wall is that of its particles less what lies between them: as much as the last solve says, up to
   the weight of the fluid there. It is known before the solve; so is what the last pressures would do to the body. */
static isphx_six isphx_body_rise(isph_fluid *f, const isphx_boundary *b, bool whole) {
    isphx_six sum = isphx_six_zero();
    int k;
    for (k = b->entry_first; k < b->entry_first + b->entry_count; ++k) {
        const isphx_entry *entry = f->entry + f->body_entry[k];
        const int i = f->body_particle[k];
        const float last = whole ? isphpbdx_max(f->pair[0][2 * i], 0.0f) / f->scale[i] : 0.0f;
        const float p = whole ? isphpbdx_max(last + entry->inverse_mass, 0.0f) : entry->inverse_mass;
        isphx_six_add(&sum, isphpbdx_scale(entry->normal, -p * isphx_wall_push(f, entry)),
                      isphpbdx_sub(isphx_vec(f->position + 4 * i), b->pose.position));
    }
    return sum;
}

static void isphx_body_slopes(isph_fluid *f, const isphx_boundary *b) {
    int k;
    for (k = b->entry_first; k < b->entry_first + b->entry_count; ++k) {
        isphx_entry *entry = f->entry + f->body_entry[k];
        const int i = f->body_particle[k];
        const float weight = f->material_table[f->material[i]].density * isphpbdx_length(f->desc.gravity);
        entry->inverse_mass = 0.0f;
        if (!isphx_projects(f)) continue;
        entry->inverse_mass = -entry->distance * isphpbdx_clamp(isphx_row_slope(f, i, entry->normal), -weight, weight);
    }
}

/* What lies between changes the body's velocity before the solve. */
static void isphx_body_lift(isph_fluid *f, const isphx_boundary *b) {
    const isphx_six sum = isphx_body_rise(f, b, false);
    isphx_boundary ahead = *b;
    isphx_body_kick(&ahead, &sum);
    isphx_body_refresh(f, &ahead);
}

/* Viscous stiffness (kg) of an entry. Beyond the particle's own mass it drags along what diffusion reaches. */
static float isphx_drag_stiffness(const isph_fluid *f, int i, const isphx_entry *entry) {
    const isphx_material *m = f->material_table + f->material[i];
    const float diffusion = f->now.seconds * m->viscosity / (m->density * f->dx * f->dx),
                pull = diffusion * entry->grip;
    const float along = f->now.implicit_viscosity ? 1.0f + sqrtf(diffusion) : 1.0f;
    return m->density * f->volume * along * pull / (1.0f + pull);
}

/* Gravity and drag. The fluid was dragged with the body's velocity at the start of the substep; a light body in a thick
   fluid changes it at once, so the drag is made implicit: (M + K) dV = F + P + M g dt, and the fluid gets K dV. P is
   what the pressures of the last solve are expected to do: a body that they carry does not fall through the drag. */
static void isphx_body_drag(isph_fluid *f, isphx_boundary *b) {
    const isphpbd_vec3 gravity = isphpbdx_scale(f->desc.gravity, f->now.seconds * b->desc.gravity_scale);
    isphx_six sum = isphx_six_zero(), change;
    isphx_joint joint;
    int k;
    isphx_joint_begin(b, &b->pose, &joint);
    for (k = b->entry_first; k < b->entry_first + b->entry_count; ++k) {
        const isphx_entry *entry = f->entry + f->body_entry[k];
        const int i = f->body_particle[k];
        const isphpbd_vec3 lever = isphpbdx_sub(isphx_vec(f->position + 4 * i), b->pose.position);
        const float sliding = isphx_drag_stiffness(f, i, entry);
        isphx_six_add(&sum, entry->impulse, lever);
        isphx_joint_add(&joint, entry->normal, lever, f->now.implicit_viscosity ? sliding : 0.0f, sliding,
                        isphpbd_v3(0.0f, 0.0f, 0.0f));
    }
    joint.right = isphx_body_rise(f, b, isphx_projects(f)); /* else the last pressures are of long ago */
    for (k = 0; k < 6; ++k) joint.right.v[k] += sum.v[k];
    isphx_six_add(&joint.right, isphpbdx_scale(gravity, b->desc.mass), isphpbd_v3(0.0f, 0.0f, 0.0f));
    change = isphx_joint_solve(&joint);
    for (k = b->entry_first; k < b->entry_first + b->entry_count; ++k) {
        isphx_entry *entry = f->entry + f->body_entry[k];
        const int i = f->body_particle[k];
        const float mass = f->material_mass[f->material[i]];
        const isphpbd_vec3 lever = isphpbdx_sub(isphx_vec(f->position + 4 * i), b->pose.position);
        const isphpbd_vec3 before = entry->impulse, way = isphx_six_at(&change, lever);
        const float normal = f->now.implicit_viscosity ? 0.0f : isphpbdx_dot(way, entry->normal);
        isphpbd_vec3 u = isphx_vec(f->star + 4 * i);
        isphx_exchange(f, i, entry, &u,
                       isphpbdx_scale(isphpbdx_madd(way, entry->normal, -normal),
                                      isphx_drag_stiffness(f, i, entry) / mass));
        isphx_set3(f->star + 4 * i, u.x, u.y, u.z);
        isphx_six_add(&sum, isphpbdx_sub(entry->impulse, before), lever);
    }
    isphx_body_kick(b, &sum);
    b->linear_now = isphpbdx_add(b->linear_now, gravity);
}

static void isphx_stage_drag(isph_fluid *f) {
    int a;
    for (a = 0; a < f->active_count; ++a) {
        isphx_boundary *b = f->boundary + f->active[a];
        if (!(b->desc.mass > 0.0f)) continue;
        isphx_body_areas(f, b);
        isphx_body_slopes(f, b);
        isphx_body_drag(f, b);
    }
}

static void isphx_stage_lift(isph_fluid *f) {
    int a;
    for (a = 0; a < f->active_count; ++a)
        if (f->boundary[f->active[a]].entry_count > 0) isphx_body_lift(f, f->boundary + f->active[a]);
}

/* y += R x: every body by its six degrees of freedom. */
static void isphx_body_respond(const isph_fluid *f, const isphx_boundary *b, const float *x, float *y) {
    const float pull = f->now.density * f->dx * f->dx * f->now.inverse_seconds * f->now.inverse_seconds / f->volume;
    isphx_six sum = isphx_six_zero(), answer;
    int k;
    for (k = b->entry_first; k < b->entry_first + b->entry_count; ++k) {
        const isphx_entry *entry = f->entry + f->body_entry[k];
        const int i = f->body_particle[k];
        isphx_six_add(&sum, isphpbdx_scale(entry->normal, isphx_wall_push(f, entry) * x[2 * i] / f->scale[i]),
                      isphpbdx_sub(isphx_vec(f->position + 4 * i), b->pose.position));
    }
    answer = isphx_body_answer(b, &sum);
    for (k = b->entry_first; k < b->entry_first + b->entry_count; ++k) {
        const isphx_entry *entry = f->entry + f->body_entry[k];
        const int i = f->body_particle[k];
        const isphpbd_vec3 way = isphx_six_at(&answer, isphpbdx_sub(isphx_vec(f->position + 4 * i), b->pose.position));
        y[2 * i] += pull * isphx_wall_push(f, entry) * isphpbdx_dot(way, entry->normal) / f->scale[i];
    }
}

/* The pressure that was solved for pushes the bodies. */
static void isphx_body_push(isph_fluid *f, isphx_boundary *b) {
    isphx_six sum = isphx_six_zero();
    int k;
    for (k = b->entry_first; k < b->entry_first + b->entry_count; ++k) {
        isphx_entry *entry = f->entry + f->body_entry[k];
        const int i = f->body_particle[k];
        const float p = isphpbdx_max(f->pressure[i] + entry->inverse_mass, 0.0f);
        const isphpbd_vec3 impulse = isphpbdx_scale(entry->normal, -p * isphx_wall_push(f, entry));
        entry->impulse = isphpbdx_add(entry->impulse, impulse);
        isphx_six_add(&sum, impulse, isphpbdx_sub(isphx_vec(f->position + 4 * i), b->pose.position));
    }
    isphx_body_kick(b, &sum);
}

static void isphx_stage_push(isph_fluid *f) {
    int a;
    for (a = 0; a < f->active_count; ++a)
        if (f->boundary[f->active[a]].entry_count > 0) isphx_body_push(f, f->boundary + f->active[a]);
}

/* [pressure] Right sides: -rho dx^2 div(u*) / dt for the pressure (eqs 7-8), dx^2 (density - 1) for the density
   projection (Kugelstadt et al., in SPH form), both divided by s. */
/* u_ba x_ab of a row and a neighbour, component by component. */
ISPHX_HOT isphpbdx_f4 isphx_closing(const isph_fluid *f, isphpbdx_f4 x, isphpbdx_f4 u, int other) {
    return isphpbdx_f4_mul(isphpbdx_f4_sub(isphpbdx_f4_load(f->star + 4 * (size_t)other), u),
                           isphpbdx_f4_sub(x, isphpbdx_f4_load(f->position + 4 * (size_t)other)));
}

static void isphx_chunk_divergence(const isph_fluid *f, int chunk, int half, const int *columns,
                                   float out[ISPHX_LANES]) {
    const float *value = f->sell.value + f->sell.offset[chunk];
    const size_t own = 4 * (size_t)(chunk * ISPHX_LANES + half);
    isphpbdx_f4 x[4], u[4], product[4], sum = isphpbdx_f4_all(0.0f);
    int j, k;
    for (k = 0; k < 4; ++k)
        x[k] = isphpbdx_f4_load(f->position + own + 4 * k), u[k] = isphpbdx_f4_load(f->star + own + 4 * k);
    for (j = 0; j < f->sell.length[chunk]; ++j) {
        const int *index = columns + j * ISPHX_LANES + half;
        product[0] = isphx_closing(f, x[0], u[0], index[0]); /* written out: a loop would go through memory */
        product[1] = isphx_closing(f, x[1], u[1], index[1]);
        product[2] = isphx_closing(f, x[2], u[2], index[2]);
        product[3] = isphx_closing(f, x[3], u[3], index[3]);
        isphx_transpose(product);
        sum = isphx_madd4(sum, isphpbdx_f4_load(value + j * ISPHX_LANES + half),
                          isphpbdx_f4_add(isphpbdx_f4_add(product[0], product[1]), product[2]));
    }
    isphpbdx_f4_store(out + half, isphpbdx_f4_mul(sum, isphpbdx_f4_all(-0.5f / (f->dx * f->dx))));
}

/* Share of what a particle lacks that nothing open explains: 1 inside, 0 at a surface. */
static float isphx_covered(const isph_fluid *f, int i) {
    return 1.0f - isphpbdx_clamp((f->shape[4 * i + 3] - ISPHX_COVERED) / (ISPHX_OPEN - ISPHX_COVERED), 0.0f, 1.0f);
}

/* Density error that is to be repaired: bounded, and a deficit only inside. */
static float isphx_density_error(const isph_fluid *f, int i) {
    const float e = isphpbdx_clamp(f->spread[4 * i + 3] - 1.0f, -0.5f, 1.0f);
    return e >= 0.0f ? e : e * isphx_covered(f, i);
}

static void isphx_rhs_task(void *ctx, int block) {
    isph_fluid *f = (isph_fluid *)ctx;
    const float dx2 = f->dx * f->dx;
    int columns[ISPHX_LIST * ISPHX_LANES], chunk, end, lane;
    float divergence[ISPHX_LANES];
    isphx_block_chunks(f->count, block, &chunk, &end);
    for (; chunk < end; ++chunk) {
        isphx_chunk_columns(&f->sell, chunk, columns);
        isphx_chunk_divergence(f, chunk, 0, columns, divergence);
        isphx_chunk_divergence(f, chunk, 4, columns, divergence);
        for (lane = 0; lane < ISPHX_LANES; ++lane) {
            const int i = chunk * ISPHX_LANES + lane;
            const float *wall = f->wall + 4 * i, *u = f->star + 4 * i;
            float div, error, carried;
            if (i >= f->count) continue;
            carried = f->now.implicit_viscosity ? f->pair[1][2 * i] : 0.0f; /* of isphx_viscosity_carry */
            error = f->desc.density_projection ? isphx_density_error(f, i) : 0.0f;
            div = divergence[lane] + 2.0f * (wall[3] - (u[0] * wall[0] + u[1] * wall[1] + u[2] * wall[2]));
            f->pair[1][2 * i] = carried - f->now.density * dx2 * f->now.inverse_seconds * div / f->scale[i];
            f->pair[1][2 * i + 1] = dx2 * f->now.relaxation * error / f->scale[i];
        }
    }
}

/* Too crowded to be solved for: it takes no part in the matrix. */
static bool isphx_is_crowded(const isph_fluid *f, int i) {
    return f->cells.crowded && isphx_cell_points(&f->cells, f->cells.cell[i]) > f->cells.crowd_limit;
}

/* [vessels] Connected components of fluid, and what finds a place in them. Between walls alone the matrix knows
   pressures up to a constant, along its null vector s, and A p = b has a solution only if b is orthogonal to that: as
   much flows out as in. With little air left it has one, but of a pressure without bounds, which shoots the water at
   the last holes. So of what walls and density errors ask for (s . b) each component is given what it has room for, and
   the rest is taken off evenly: it is compressed. In: right sides. Out: right sides, components. These are those of the
   coarse level, and live where its couplings were, which are in the factor now. */
static isphx_vessel *isphx_vessels(const isph_fluid *f) { return (isphx_vessel *)(void *)f->coarse.link_value; }

/* Room next to a particle, in particles. The shares that a hole takes of the kernels around it add up to its volume.
   Behind an open surface there is more: up to the spacing that it may move in a substep. */
static float isphx_room(const isph_fluid *f, int i) {
    const float hole = isphx_hole(f, i);
    float open;
    if (hole <= ISPHX_HOLE) return hole;
    open = isphpbdx_clamp((hole - ISPHX_HOLE) / (ISPHX_FLAT_SURFACE - ISPHX_HOLE), 0.0f, 1.0f);
    return hole * (1.0f + open * (1.0f / ISPHX_FLAT_SURFACE - 1.0f));
}

/* Walls of the coupler give way; bodies do so together, where the areas that they turn to the fluid do not balance. */
static void isphx_vessel_walls(const isph_fluid *f, int i, isphx_vessel *v) {
    int e;
    for (e = f->entry_first[i]; e < f->entry_first[i] + f->entry_count[i]; ++e) {
        const isphx_entry *entry = f->entry + e;
        if (entry->boundary < 0 && (f->coupler.respond || entry->inverse_mass > 0.0f)) v->yields = true;
        if (!isphx_is_body(f, entry)) continue;
        v->push[0] += entry->area * entry->normal.x;
        v->push[1] += entry->area * entry->normal.y;
        v->push[2] += entry->area * entry->normal.z;
        v->area += entry->area;
    }
}

static void isphx_vessels_task(void *ctx, int block) {
    const isph_fluid *f = (const isph_fluid *)ctx;
    const isphx_coarse *coarse = &f->coarse;
    const int end = isphpbdx_mini((block + 1) * ISPHX_COARSE_BLOCK, coarse->count);
    int g, m;
    for (g = block * ISPHX_COARSE_BLOCK; g < end; ++g) {
        isphx_vessel v;
        memset(&v, 0, sizeof v);
        v.root = g, v.least = 3e38f;
        for (m = coarse->member_start[g]; m < coarse->member_start[g + 1]; ++m) {
            const int i = coarse->member[m];
            const float s = f->scale[i];
            if (isphx_is_crowded(f, i)) continue;
            v.excess[0] += s * f->pair[1][2 * i], v.excess[1] += s * f->pair[1][2 * i + 1];
            v.weight += s * s;
            v.room += isphx_room(f, i);
            isphx_vessel_walls(f, i, &v);
        }
        isphx_vessels(f)[g] = v;
    }
}

static int isphx_root(isphx_vessel *vessel, int g) {
    while (vessel[g].root != g) g = vessel[g].root = vessel[vessel[g].root].root;
    return g;
}

static void isphx_vessel_add(isphx_vessel *to, const isphx_vessel *from) {
    int k;
    to->yields = to->yields || from->yields;
    to->room += from->room;
    to->weight += from->weight;
    to->area += from->area;
    for (k = 0; k < 2; ++k) to->excess[k] += from->excess[k];
    for (k = 0; k < 3; ++k) to->push[k] += from->push[k];
}

/* Roots are the lowest of their component, and every aggregate knows its own in the end. */
static void isphx_vessels_join(const isphx_coarse *coarse, isphx_vessel *vessel) {
    int g, k;
    for (g = 0; g < coarse->count; ++g) {
        int own = isphx_root(vessel, g);
        for (k = 0; k < coarse->link_count[g]; ++k) {
            const int other = isphx_root(vessel, coarse->link[(size_t)g * ISPHX_COARSE_LINKS + (size_t)k]);
            if (other == own) continue;
            vessel[isphpbdx_maxi(own, other)].root = isphpbdx_mini(own, other);
            own = isphpbdx_mini(own, other);
        }
    }
    for (g = coarse->count - 1; g >= 0; --g) {
        const int root = vessel[g].root = isphx_root(vessel, g);
        if (root != g) isphx_vessel_add(vessel + root, vessel + g);
    }
}

/* What is asked beyond the room either way, per s . s; `unit` is the right side that asks for room for one particle. */
static void isphx_vessel_judge(isphx_vessel *v, const float unit[2]) {
    const float weight = isphpbdx_max(v->weight, 1e-30f);
    int k;
    v->yields = v->yields || isphpbdx_length(isphx_vec(v->push)) > 0.1f * v->area;
    for (k = 0; k < 2; ++k) {
        const float most = unit[k] * v->room;
        v->excess[k] = v->yields ? 0.0f : (v->excess[k] - isphpbdx_clamp(v->excess[k], -most, most)) / weight;
    }
}

static void isphx_vessels_relieve_task(void *ctx, int block) {
    isph_fluid *f = (isph_fluid *)ctx;
    const isphx_coarse *coarse = &f->coarse;
    const int end = isphpbdx_mini((block + 1) * ISPHX_COARSE_BLOCK, coarse->count);
    int g, m;
    for (g = block * ISPHX_COARSE_BLOCK; g < end; ++g) {
        const isphx_vessel *v = isphx_vessels(f) + isphx_vessels(f)[g].root;
        if (v->excess[0] == 0.0f && v->excess[1] == 0.0f) continue;
        for (m = coarse->member_start[g]; m < coarse->member_start[g + 1]; ++m) {
            const int i = coarse->member[m];
            f->pair[1][2 * i] -= v->excess[0] * f->scale[i];
            f->pair[1][2 * i + 1] -= v->excess[1] * f->scale[i];
        }
    }
}

static void isphx_vessels_relieve(void *ctx) {
    isph_fluid *f = (isph_fluid *)ctx;
    const float dx2 = f->dx * f->dx, per_second = f->now.inverse_seconds;
    const float unit[2] = {f->now.density * dx2 * per_second * per_second, dx2};
    isphx_vessel *vessel = isphx_vessels(f);
    int g;
    isphx_vessels_join(&f->coarse, vessel);
    for (g = 0; g < f->coarse.count; ++g)
        if (vessel[g].root == g) isphx_vessel_judge(vessel + g, unit);
    isphx_post(&f->machine, isphx_vessels_relieve_task, f, isphx_coarse_blocks(&f->coarse), ISPHX_MEDIUM);
}

static void isphx_stage_vessels(isph_fluid *f) {
    if (!isphx_projects(f) || f->coarse.count == 0) return;
    isphx_post(&f->machine, isphx_vessels_task, f, isphx_coarse_blocks(&f->coarse), ISPHX_MEDIUM);
    isphx_then(&f->machine, isphx_vessels_relieve, f);
}

/* Walls that yield: y += R x for the pressure half of the pairs, through the coupler. The pressure p pushes a wall by
   2 p V |G| dt, and the wall's motion enters the divergence as 2 v |G|: the same numbers twice, so R is symmetric. */
typedef struct isphx_yield {
    isph_fluid *f;
    const float *x;
    float *y;
} isphx_yield;

/* How many walls of the coupler the particle sees. */
static int isphx_yielding_count(const isph_fluid *f, int particle) {
    int e, n = 0;
    for (e = f->entry_first[particle]; e < f->entry_first[particle] + f->entry_count[particle]; ++e)
        n += f->entry[e].boundary < 0;
    return n;
}
static void isphx_number_yielding(isph_fluid *f) {
    int i, n = 0;
    for (i = 0; i < f->count; ++i) {
        if (i % ISPHX_BLOCK == 0) f->yielding_first[i / ISPHX_BLOCK] = n;
        n += isphx_yielding_count(f, i);
    }
    f->yielding_first[isphx_blocks(f->count)] = n;
}
static void isphx_yield_push_task(void *ctx, int block) {
    const isphx_yield *r = (const isphx_yield *)ctx;
    const isph_fluid *f = r->f;
    const float push = 2.0f * f->volume * f->now.seconds;
    int e, i = block * ISPHX_BLOCK, n = f->yielding_first[block];
    for (; n < f->yielding_first[block + 1]; ++i)
        for (e = f->entry_first[i]; e < f->entry_first[i] + f->entry_count[i]; ++e) {
            if (f->entry[e].boundary >= 0) continue;
            f->wall_impulse[n] = push * f->entry[e].gradient * r->x[2 * i] / f->scale[i], f->wall_change[n++] = 0.0f;
        }
}
static float isphx_finite_or(float value, float other) { return isphpbdx_finite(value) ? value : other; }
static void isphx_yield_pull_task(void *ctx, int block) {
    const isphx_yield *r = (const isphx_yield *)ctx;
    const isph_fluid *f = r->f;
    const float pull = 2.0f * f->now.density * f->dx * f->dx * f->now.inverse_seconds;
    int e, i = block * ISPHX_BLOCK, n = f->yielding_first[block];
    for (; n < f->yielding_first[block + 1]; ++i)
        for (e = f->entry_first[i]; e < f->entry_first[i] + f->entry_count[i]; ++e)
            if (f->entry[e].boundary < 0)
                r->y[2 * i] += pull * f->entry[e].gradient * isphx_finite_or(f->wall_change[n++], 0.0f) / f->scale[i];
}
static void isphx_coupler_respond(isph_fluid *f, const float *x, float *y) {
    const int blocks = isphx_blocks(f->count);
    isphx_yield r;
    r.f = f, r.x = x, r.y = y;
    isphpbdx_run(&f->desc.parallel, isphx_yield_push_task, &r, blocks);
    f->coupler.respond(f->coupler.user, f->wall_impulse, f->wall_change, f->yielding_first[blocks]);
    isphpbdx_run(&f->desc.parallel, isphx_yield_pull_task, &r, blocks);
}

static void isphx_respond(void *ctx, const float *x, float *y) {
    isph_fluid *f = (isph_fluid *)ctx;
    int a;
    if (f->coupler.walls && f->coupler.respond) isphx_coupler_respond(f, x, y);
    if (!f->bodies || f->desc.rigid_local) return;
    for (a = 0; a < f->active_count; ++a)
        if (f->boundary[f->active[a]].entry_count > 0) isphx_body_respond(f, f->boundary + f->active[a], x, y);
}

/* In a thick fluid what a solve leaves undone stays: the next starts from it, and no flow tells of it. */
static float isphx_tolerance(const isph_fluid *f) {
    return f->desc.tolerance * (f->now.implicit_viscosity ? ISPHX_THICK_TOLERANCE : 1.0f);
}

/* Both solves by BiCGSTAB, one after the other; its vectors live in arrays that are idle now. */
static isphx_cg_result isphx_solve_bicgstab(isph_fluid *f, isphx_system *system) {
    const int n = isphx_padded(f->count);
    isphx_cg_result result;
    isphx_bicgstab s;
    int i, k;
    memset(&s, 0, sizeof s);
    s.system = system;
    s.x = f->next, s.r = f->next + n, s.shadow = f->next + 2 * n, s.p = f->next + 3 * n;
    s.v = f->pair[2], s.t = f->pair[2] + n, s.y = f->pair[3];
    result.breakdown = false;
    for (k = 0; k < 2; ++k) {
        isph_solve_info info;
        memset(f->next, 0, 4 * (size_t)n * sizeof(float));
        memset(s.y, 0, (size_t)n * sizeof(float));
        for (i = 0; i < f->count; ++i) s.x[i] = k == 0 ? f->pair[0][2 * i] : 0.0f, s.r[i] = f->pair[1][2 * i + k];
        info = isphx_bicgstab_solve(&s, isphx_tolerance(f), f->desc.max_iterations, NULL);
        for (i = 0; i < f->count; ++i) f->pair[0][2 * i + k] = s.x[i];
        result.iterations[k] = info.iterations, result.residual[k] = info.residual;
        result.breakdown = result.breakdown || info.state == ISPH_SOLVE_BREAKDOWN;
    }
    return result;
}

static void isphx_upright(void *ctx) {
    isph_fluid *f = (isph_fluid *)ctx;
    isphx_lean(f, -f->now.memory);
}

static void isphx_stage_divergence(isph_fluid *f) {
    if (!isphx_projects(f)) return;
    isphx_post_rows(f, isphx_rhs_task, ISPHX_MEDIUM);
    if (f->now.implicit_viscosity) isphx_then(&f->machine, isphx_upright, f);
}

static void isphx_solved(void *ctx) {
    isph_fluid *f = (isph_fluid *)ctx;
    const isphx_cg_result *result = &f->system.result;
    f->stats.pressure_iterations += result->iterations[0], f->stats.density_iterations += result->iterations[1];
    f->stats.pressure_residual = isphx_finite_or(result->residual[0], 1.0f); /* 1: nothing is solved */
    f->stats.density_residual = isphx_finite_or(result->residual[1], 1.0f);
    f->stats.total_pressure_iterations += (uint64_t)result->iterations[0];
    f->stats.total_density_iterations += (uint64_t)result->iterations[1];
    if (f->stats.pressure_residual > f->desc.tolerance || f->stats.density_residual > f->desc.tolerance)
        f->flags |= ISPH_STEP_ITERATIONS_CAPPED;
}

static void isphx_stage_solve(isph_fluid *f) {
    isphx_system *system = &f->system;
    if (!isphx_projects(f)) return;
    isphx_system_make(f, system, f->pair[0]);
    if (f->desc.preconditioner == ISPH_PRECONDITIONER_TWO_LEVEL && f->coarse.count > 0) system->coarse = &f->coarse;
    if ((f->coupler.walls && f->coupler.respond) || (f->bodies && !f->desc.rigid_local))
        system->respond = isphx_respond, system->respond_ctx = f;
    if (system->respond && f->coupler.respond) isphx_number_yielding(f);
    if (f->desc.linear_solver == ISPH_LINEAR_CG || system->respond) {
        system->then = isphx_solved, system->then_ctx = f;
        isphx_cg(system, true, f->rounds > 0, isphx_tolerance(f), f->desc.max_iterations, /* the density error is */
                 f->desc.density_projection ? f->desc.max_iterations : 0); /* that of the last round, else new */
    } else {
        system->result = isphx_solve_bicgstab(f, system);
        isphx_solved(f);
    }
}

/* A closed component has its pressure up to a constant: its least value becomes 0. */
static bool isphx_is_closed(const isph_fluid *f, int g) {
    const isphx_vessel *v = isphx_vessels(f) + isphx_vessels(f)[g].root;
    return !v->yields && v->room <= 0.0f;
}

static void isphx_least_task(void *ctx, int block) {
    const isph_fluid *f = (const isph_fluid *)ctx;
    const isphx_coarse *coarse = &f->coarse;
    const int end = isphpbdx_mini((block + 1) * ISPHX_COARSE_BLOCK, coarse->count);
    int g, m;
    for (g = block * ISPHX_COARSE_BLOCK; g < end; ++g) {
        isphx_vessel *v = isphx_vessels(f) + g;
        for (m = coarse->member_start[g]; m < coarse->member_start[g + 1] && isphx_is_closed(f, g); ++m) {
            const int i = coarse->member[m];
            if (isphx_is_crowded(f, i)) continue;
            v->least = isphpbdx_min(v->least, f->pair[0][2 * i] / f->scale[i]);
        }
    }
}

static void isphx_lower_task(void *ctx, int block) {
    isph_fluid *f = (isph_fluid *)ctx;
    const isphx_coarse *coarse = &f->coarse;
    const int end = isphpbdx_mini((block + 1) * ISPHX_COARSE_BLOCK, coarse->count);
    int g, m;
    for (g = block * ISPHX_COARSE_BLOCK; g < end; ++g) {
        const isphx_vessel *v = isphx_vessels(f) + isphx_vessels(f)[g].root;
        for (m = coarse->member_start[g]; m < coarse->member_start[g + 1] && isphx_is_closed(f, g); ++m) {
            const int i = coarse->member[m];
            if (!isphx_is_crowded(f, i)) f->pair[0][2 * i] -= v->least * f->scale[i];
        }
    }
}

static void isphx_lower(void *ctx) {
    isph_fluid *f = (isph_fluid *)ctx;
    isphx_vessel *vessel = isphx_vessels(f);
    int g;
    for (g = f->coarse.count - 1; g >= 0; --g)
        vessel[vessel[g].root].least = isphpbdx_min(vessel[vessel[g].root].least, vessel[g].least);
    isphx_post(&f->machine, isphx_lower_task, f, isphx_coarse_blocks(&f->coarse), ISPHX_MEDIUM);
}

static void isphx_stage_lower(isph_fluid *f) {
    int g = 0;
    if (!isphx_projects(f)) return;
    while (g < f->coarse.count && !isphx_is_closed(f, g)) ++g;
    if (g == f->coarse.count) return;
    isphx_post(&f->machine, isphx_least_task, f, isphx_coarse_blocks(&f->coarse), ISPHX_MEDIUM);
    isphx_then(&f->machine, isphx_lower, f);
}

/* [move] Pressure acceleration, density displacement, contact. In: star, pairs. Out: next velocity (in star) and
   position. */
typedef struct isphx_force {
    float pressure[3][ISPHX_LANES], density[3][ISPHX_LANES], least[ISPHX_LANES];
} isphx_force;

/* Gradients of both solutions, and the least pressure of the neighbourhood. position[3] holds s p, pair[0] the raw
   pair. */
static void isphx_chunk_force(const isph_fluid *f, int chunk, int half, const int *columns, isphx_force *out) {
    const float *value = f->sell.value + f->sell.offset[chunk];
    const isphpbdx_f4 scale = isphpbdx_f4_all(-0.5f / (f->dx * f->dx));
    const bool several = f->now.several; /* else s is 1 everywhere */
    isphpbdx_f4 a[4], b[4], p2a, p2b, sa, sb, least, first[3], second[3];
    int own[4], j, k;
    isphx_own_rows(chunk, half, own);
    isphx_gather(f->position, own, a);
    p2a = isphx_gather1(f->density_pressure, own);
    sa = isphx_gather1(f->scale, own);
    least = isphpbdx_f4_div(a[3], sa);
    for (k = 0; k < 3; ++k) first[k] = second[k] = isphpbdx_f4_all(0.0f);
    for (j = 0; j < f->sell.length[chunk]; ++j) {
        const int *index = columns + j * ISPHX_LANES + half;
        const isphpbdx_f4 w = isphpbdx_f4_load(value + j * ISPHX_LANES + half);
        isphpbdx_f4 w1, w2, dx, dy, dz;
        isphx_gather(f->position, index, b);
        p2b = isphx_gather1(f->density_pressure, index);
        if (several) {
            sb = isphx_gather1(f->scale, index);
            w1 = isphpbdx_f4_mul(w, isphpbdx_f4_sub(isphpbdx_f4_mul(sa, b[3]), isphpbdx_f4_mul(sb, a[3])));
            w2 = isphpbdx_f4_mul(w, isphpbdx_f4_sub(isphpbdx_f4_mul(sa, p2b), isphpbdx_f4_mul(sb, p2a)));
            least = isphpbdx_f4_min(least, isphpbdx_f4_div(b[3], sb));
        } else {
            w1 = isphpbdx_f4_mul(w, isphpbdx_f4_sub(b[3], a[3]));
            w2 = isphpbdx_f4_mul(w, isphpbdx_f4_sub(p2b, p2a));
            least = isphpbdx_f4_min(least, b[3]);
        }
        dx = isphpbdx_f4_sub(a[0], b[0]), dy = isphpbdx_f4_sub(a[1], b[1]), dz = isphpbdx_f4_sub(a[2], b[2]);
        first[0] = isphx_madd4(first[0], w1, dx), second[0] = isphx_madd4(second[0], w2, dx);
        first[1] = isphx_madd4(first[1], w1, dy), second[1] = isphx_madd4(second[1], w2, dy);
        first[2] = isphx_madd4(first[2], w1, dz), second[2] = isphx_madd4(second[2], w2, dz);
    }
    for (k = 0; k < 3; ++k) {
        isphpbdx_f4_store(out->pressure[k] + half, isphpbdx_f4_mul(first[k], scale));
        isphpbdx_f4_store(out->density[k] + half, isphpbdx_f4_mul(second[k], scale));
    }
    isphpbdx_f4_store(out->least + half, least);
}

/* Four rows from i on as the move reads them: components in lanes. */
typedef struct isphx_movers {
    isphpbdx_f4 velocity[4], star[4], spread[4], shape[4], skew[3], pressure, scale; /* pressure: s p */
} isphx_movers;

static void isphx_movers_load(const isph_fluid *f, int i, isphx_movers *m) {
    const int third[4] = {3 * i, 3 * i + 3, 3 * i + 6, 3 * i + 9};
    isphpbdx_f4 position[4];
    isphx_load_rows(f->position + 4 * i, position);
    isphx_load_rows(f->velocity + 4 * i, m->velocity);
    isphx_load_rows(f->star + 4 * i, m->star);
    isphx_load_rows(f->spread + 4 * i, m->spread);
    isphx_load_rows(f->shape + 4 * i, m->shape);
    m->skew[0] = isphx_gather1(f->skew, third);
    m->skew[1] = isphx_gather1(f->skew + 1, third);
    m->skew[2] = isphx_gather1(f->skew + 2, third);
    m->pressure = position[3];
    m->scale = isphpbdx_f4_load(f->scale + i);
}

/* As isphx_true_gradient. */
ISPHX_HOT void isphx_true_gradients(const isphx_movers *m, isphpbdx_f4 x, isphpbdx_f4 y, isphpbdx_f4 z,
                                    isphpbdx_f4 out[3]) {
    out[0] = isphx_madd4(isphx_madd4(isphpbdx_f4_mul(m->shape[0], x), m->skew[0], y), m->skew[2], z);
    out[1] = isphx_madd4(isphx_madd4(isphpbdx_f4_mul(m->skew[0], x), m->shape[1], y), m->skew[1], z);
    out[2] = isphx_madd4(isphx_madd4(isphpbdx_f4_mul(m->skew[2], x), m->skew[1], y), m->shape[2], z);
}

/* The least pressure of a neighbourhood; where there is air, its. */
ISPHX_HOT isphpbdx_f4 isphx_least_pressures(const isphx_movers *m, const float *least) {
    const int air = isphpbdx_f4_below(isphpbdx_f4_all(ISPHX_FREE_SURFACE_BAND), m->shape[3]);
    if (air == 0) return isphpbdx_f4_load(least);
    return isphpbdx_f4_set(air & 1 ? 0.0f : least[0], air & 2 ? 0.0f : least[1], air & 4 ? 0.0f : least[2],
                           air & 8 ? 0.0f : least[3]);
}

/* u = u* - dt (grad p + 2 Pe S) / rho: the gradient in difference form, corrected where walls cut the kernel, plus a
   bounded ordering pressure that keeps the particles apart. */
ISPHX_HOT void isphx_pressure_kicks(const isph_fluid *f, const isphx_movers *m, const isphx_force *force, int half,
                                    isphpbdx_f4 kick[3]) {
    const float cap =
        ISPHX_PRESSURE_CAP * f->now.density * f->dx * f->dx * f->now.inverse_seconds * f->now.inverse_seconds;
    const isphpbdx_f4 s = m->scale, density = isphpbdx_f4_max(m->spread[3], isphpbdx_f4_all(1.0f));
    const isphpbdx_f4 bound = isphpbdx_f4_div(isphpbdx_f4_all(cap), isphpbdx_f4_mul(s, s));
    const isphpbdx_f4 above =
        isphpbdx_f4_sub(isphpbdx_f4_div(m->pressure, s), isphx_least_pressures(m, force->least + half));
    const isphpbdx_f4 ordering =
        isphpbdx_f4_mul(isphpbdx_f4_mul(isphpbdx_f4_mul(isphpbdx_f4_all(2.0f), isphpbdx_f4_min(above, bound)), s), s);
    const isphpbdx_f4 scale =
        isphpbdx_f4_div(isphpbdx_f4_all(-f->now.seconds), isphpbdx_f4_mul(isphpbdx_f4_all(f->now.density), density));
    int k;
    isphx_true_gradients(m, isphpbdx_f4_load(force->pressure[0] + half), isphpbdx_f4_load(force->pressure[1] + half),
                         isphpbdx_f4_load(force->pressure[2] + half), kick);
    for (k = 0; k < 3; ++k) kick[k] = isphpbdx_f4_mul(isphx_madd4(kick[k], m->spread[k], ordering), scale);
}

/* star += lean times what the last pressure does, with the gradients that the move will have. */
static void isphx_lean_rows(isph_fluid *f, int chunk, int half, const isphx_force *force) {
    const int i = chunk * ISPHX_LANES + half;
    isphpbdx_f4 kick[3];
    isphx_movers m;
    int k;
    isphx_movers_load(f, i, &m);
    isphx_pressure_kicks(f, &m, force, half, kick);
    for (k = 0; k < 3; ++k) m.star[k] = isphx_madd4(m.star[k], kick[k], isphpbdx_f4_all(f->now.lean));
    isphx_store_rows(f->star + 4 * i, m.star);
}

static void isphx_lean_task(void *ctx, int block) {
    isph_fluid *f = (isph_fluid *)ctx;
    int columns[ISPHX_LIST * ISPHX_LANES], chunk, end;
    isphx_force force;
    isphx_block_chunks(f->count, block, &chunk, &end);
    for (; chunk < end; ++chunk) {
        isphx_chunk_columns(&f->sell, chunk, columns);
        isphx_chunk_force(f, chunk, 0, columns, &force);
        isphx_chunk_force(f, chunk, 4, columns, &force);
        isphx_lean_rows(f, chunk, 0, &force);
        isphx_lean_rows(f, chunk, 4, &force);
    }
}

/* 1 for any flow; 0 where particles were crushed together, whose velocities mean nothing: only positions are mended
   there and the speed dies away. */
ISPHX_HOT isphpbdx_f4 isphx_sanities(isphpbdx_f4 density) {
    const isphpbdx_f4 span = isphpbdx_f4_all(ISPHX_CRUSHED - ISPHX_SQUEEZED);
    return isphx_clamp4(isphpbdx_f4_div(isphpbdx_f4_sub(isphpbdx_f4_all(ISPHX_CRUSHED), density), span),
                        isphpbdx_f4_all(0.0f), isphpbdx_f4_all(1.0f));
}

static isphpbd_vec3 isphx_limit(isphpbd_vec3 v, float most) {
    const float square = isphpbdx_dot(v, v);
    return square > most * most ? isphpbdx_scale(v, most / sqrtf(square)) : v;
}

ISPHX_HOT isphpbdx_f4 isphx_squares(const isphpbdx_f4 v[3]) {
    return isphx_madd4(isphx_madd4(isphpbdx_f4_mul(v[0], v[0]), v[1], v[1]), v[2], v[2]);
}

/* isphx_limit for four, which hardly ever has anything to do. */
ISPHX_HOT void isphx_limits(isphpbdx_f4 v[3], isphpbdx_f4 most) {
    const isphpbdx_f4 square = isphx_squares(v);
    const int over = isphpbdx_f4_below(isphpbdx_f4_mul(most, most), square);
    float factor[4];
    int k;
    if (over == 0) return;
    isphpbdx_f4_store(factor, isphpbdx_f4_div(most, isphpbdx_f4_sqrt(square)));
    for (k = 0; k < 4; ++k) factor[k] = over >> k & 1 ? factor[k] : 1.0f;
    for (k = 0; k < 3; ++k) v[k] = isphpbdx_f4_mul(v[k], isphpbdx_f4_load(factor));
}

/* A direction of its own for a particle in this substep: three numbers in -1 .. 1. */
static isphpbd_vec3 isphx_jitter(const isph_fluid *f, int i) {
    uint64_t hash = isphpbdx_hash_word(f->id[i], (uint32_t)f->stats.total_substeps);
    float v[3];
    int k;
    for (k = 0; k < 3; ++k) {
        hash = isphpbdx_hash_word(hash, (uint32_t)k);
        v[k] = (float)(hash >> 40) / 8388608.0f - 1.0f;
    }
    return isphx_vec(v);
}

/* Towards an even arrangement, down the crowd: -A dx |u| dt S (Skillen et al. 2013, A 1 to 6), because it is motion
   that makes disorder, that of the density projection too. At the same rate in still water it never ends: where all
   densities are 1 their sum, whose slope S is, is the same for every arrangement, so nothing gets smaller on the way,
   and the surface layers turn over for ever. */
ISPHX_HOT void isphx_shifts(const isph_fluid *f, const isphx_movers *m, const isphpbdx_f4 repair[3],
                            isphpbdx_f4 shift[3]) {
    const isphpbdx_f4 zero = isphpbdx_f4_all(0.0f), one = isphpbdx_f4_all(1.0f), dx = isphpbdx_f4_all(f->dx);
    const isphpbdx_f4 moved =
        isphpbdx_f4_add(isphpbdx_f4_mul(isphpbdx_f4_sqrt(isphx_squares(m->velocity)), isphpbdx_f4_all(f->now.seconds)),
                        isphpbdx_f4_sqrt(isphx_squares(repair)));
    const isphpbdx_f4 path = isphpbdx_f4_div(moved, dx);
    const isphpbdx_f4 open = isphpbdx_f4_div(isphpbdx_f4_sub(m->shape[3], isphpbdx_f4_all(ISPHX_COVERED)),
                                             isphpbdx_f4_all(ISPHX_OPEN - ISPHX_COVERED));
    const isphpbdx_f4 covered = isphpbdx_f4_sub(one, isphx_clamp4(open, zero, one)); /* as isphx_covered */
    const isphpbdx_f4 share =
        isphpbdx_f4_mul(covered, isphpbdx_f4_min(isphpbdx_f4_mul(isphpbdx_f4_all(ISPHX_SHIFT), path),
                                                 isphpbdx_f4_all(ISPHX_SHIFT_MOST * f->now.relaxation)));
    const isphpbdx_f4 scale = isphpbdx_f4_mul(isphpbdx_f4_mul(isphx_minus4(share), dx), dx);
    int k;
    for (k = 0; k < 3; ++k) shift[k] = isphpbdx_f4_mul(m->spread[k], scale);
    isphx_limits(shift, isphpbdx_f4_all(0.1f * f->dx));
}

/* Positions only: density projection, and an even arrangement. */
ISPHX_HOT void isphx_displacements(const isph_fluid *f, const isphx_movers *m, const isphx_force *force, int half,
                                   isphpbdx_f4 d[3]) {
    const int crushed = isphpbdx_f4_below(isphpbdx_f4_all(ISPHX_CRUSHED), m->spread[3]);
    const float reach[2] = {ISPHX_PROJECTION_REACH * f->dx, 1.0f * f->dx};
    isphpbdx_f4 shift[3];
    int k;
    for (k = 0; k < 3; ++k) d[k] = isphx_minus4(isphpbdx_f4_load(force->density[k] + half));
    isphx_limits(
        d, isphpbdx_f4_set(reach[crushed & 1], reach[crushed >> 1 & 1], reach[crushed >> 2 & 1], reach[crushed >> 3]));
    if (!f->desc.density_projection) return;
    isphx_shifts(f, m, d, shift);
    for (k = 0; k < 3; ++k) d[k] = isphpbdx_f4_add(d[k], shift[k]);
}

/* Velocities and displacements that pressures make, before walls are met. */
typedef struct isphx_moves {
    float u[3][ISPHX_LANES], d[3][ISPHX_LANES];
} isphx_moves;

static bool isphx_takes_part(const isph_fluid *f, int i) { return i < f->count && !isphx_is_crowded(f, i); }

static void isphx_moves_find(const isph_fluid *f, int chunk, int half, const isphx_force *force, isphx_moves *out) {
    const int i = chunk * ISPHX_LANES + half;
    isphpbdx_f4 kick[3], d[3], sane, lost;
    float part[4];
    isphx_movers m;
    int k;
    isphx_movers_load(f, i, &m);
    for (k = 0; k < 4; ++k) part[k] = isphx_takes_part(f, i + k) ? 1.0f : 0.0f;
    sane = isphpbdx_f4_mul(isphx_sanities(m.spread[3]), isphpbdx_f4_load(part));
    lost = isphpbdx_f4_mul(isphpbdx_f4_all(0.8f), isphpbdx_f4_sub(isphpbdx_f4_all(1.0f), sane));
    isphx_displacements(f, &m, force, half, d);
    isphx_pressure_kicks(f, &m, force, half, kick);
    for (k = 0; k < 3; ++k) {
        const isphpbdx_f4 u = isphpbdx_f4_mul(isphpbdx_f4_add(m.star[k], kick[k]), sane);
        isphpbdx_f4_store(out->u[k] + half, isphx_madd4(u, m.velocity[k], lost));
        isphpbdx_f4_store(out->d[k] + half, d[k]);
    }
}

/* Where particles sit on top of each other no force can tell them apart, so a strongly squeezed one also takes a small
   step of its own. */
static isphpbd_vec3 isphx_squeezed_step(const isph_fluid *f, int i, isphpbd_vec3 d) {
    const float density = f->spread[4 * i + 3];
    if (!(density > ISPHX_SQUEEZED)) return d;
    return isphpbdx_madd(d, isphx_jitter(f, i), 0.1f * f->dx * isphpbdx_min(density - ISPHX_SQUEEZED, 1.0f));
}

/* Is a particle in a solid? No flow leads there: it was put there. Walls of the coupler do not count, whose thin
   surfaces have water behind them. */
static bool isphx_is_inside_solid(const isph_fluid *f, int i) {
    int e;
    for (e = f->entry_first[i]; e < f->entry_first[i] + f->entry_count[i]; ++e)
        if (f->entry[e].boundary >= 0 && f->entry[e].distance < 0.0f) return true;
    return false;
}

static bool isphx_touches_coupler(const isph_fluid *f, int i) {
    int e;
    for (e = f->entry_first[i]; e < f->entry_first[i] + f->entry_count[i]; ++e)
        if (f->entry[e].boundary < 0) return true;
    return false;
}

/* Is a particle squeezed, or next to one that is? */
static bool isphx_is_by_squeezed(const isph_fluid *f, int i) {
    const int chunk = i / ISPHX_LANES, lane = i % ISPHX_LANES;
    const float *value = f->sell.value + f->sell.offset[chunk];
    int j;
    if (!f->now.squeezed) return false;
    if (f->density[i] > ISPHX_SQUEEZED) return true;
    for (j = 0; j < f->sell.length[chunk]; ++j)
        if (value[j * ISPHX_LANES + lane] > 0.0f &&
            f->density[isphx_column(&f->sell, chunk, j * ISPHX_LANES + lane)] > ISPHX_SQUEEZED)
            return true;
    return false;
}

/* The pressure of what was put on top of something else tells how much is too much there, which is no force. It may
   turn a particle, slow it down, and get it to leave at a modest speed, but gives it no more than gravity beyond that:
   what drives the heap apart is the density projection, by positions alone. Bodies of a coupler may press water
   together as hard as they like, and what touches them has to get away; walls moved by the caller take it along. */
static isphpbd_vec3 isphx_ungained(const isph_fluid *f, int i, isphpbd_vec3 u) {
    const isphpbd_vec3 before = isphx_vec(f->velocity + 4 * i);
    const float fall = isphpbdx_length(before) + f->now.seconds * isphpbdx_length(f->desc.gravity);
    const float pace = sqrtf(f->reference_acceleration * f->dx);
    float leave;
    if (isphx_touches_coupler(f, i)) return u;
    if (isphx_is_inside_solid(f, i)) leave = ISPHX_LEAVE_SOLID * pace;
    else if (isphx_is_by_squeezed(f, i)) leave = ISPHX_LEAVE_HEAP * pace;
    else return u;
    return isphx_limit(u, isphpbdx_max(fall, leave + f->now.drive));
}

/* Particles too crowded to be solved for walk down the gradient of the crowd, a spacing per substep, each also a little
   in a direction of its own so that coincident ones part. */
static isphpbd_vec3 isphx_relief(const isph_fluid *f, int i) {
    const isphx_cells *cells = &f->cells;
    isphpbd_vec3 way;
    float d[3], sum = 0.0f;
    int c[3], k, side;
    isphx_cell_unpack(cells, cells->cell[i], c);
    for (k = 0; k < 3; ++k) {
        float slope = 0.0f;
        for (side = -1; side <= 1; side += 2) {
            int n[3] = {c[0], c[1], c[2]};
            n[k] += side * (k == 0 ? ISPHX_CELLS_PER_RADIUS / 2 : 1);
            if (cells->wraps[k]) n[k] = isphx_wrap(n[k], cells->dim[k]);
            if (n[k] < 0 || n[k] >= cells->dim[k]) n[k] = c[k]; /* nobody is there, perhaps for a reason */
            slope += (float)side *
                     sqrtf((float)isphx_cell_points(cells, (n[2] * cells->dim[1] + n[1]) * cells->dim[0] + n[0]));
        }
        d[cells->axis[k]] = -slope;
        sum += slope * slope;
    }
    sum = sum > 0.0f ? 1.0f / sqrtf(sum) : 0.0f;
    way = isphpbdx_madd(isphx_jitter(f, i), isphx_vec(d), sum);
    for (k = f->entry_first[i]; k < f->entry_first[i] + f->entry_count[i]; ++k) { /* walls turn it back */
        const float into = isphpbdx_dot(way, f->entry[k].normal);
        if (into < 0.0f) way = isphpbdx_madd(way, f->entry[k].normal, -2.0f * into);
    }
    return isphx_limit(isphpbdx_scale(way, f->dx), f->dx);
}

/* Keeps half a spacing off one boundary at its end pose, taking the approaching part of the velocity. */
static void isphx_contact(const isph_fluid *f, int i, isphx_entry *entry, isphpbd_vec3 *x, isphpbd_vec3 *u) {
    const isphx_boundary *b = f->boundary + entry->boundary;
    isphx_foot feet[ISPHX_WALLS];
    const float keep = 0.5f * f->dx;
    const int n = isphx_boundary_feet(f, b, &b->end, *x, keep, feet);
    int k;
    for (k = 0; k < n; ++k) {
        const isphpbd_vec3 wall = isphx_boundary_velocity(b, &b->end, *x);
        const float approach = isphpbdx_dot(isphpbdx_sub(*u, wall), feet[k].normal);
        *x = isphpbdx_madd(*x, feet[k].normal, isphpbdx_min(keep - feet[k].distance, f->dx));
        if (approach < 0.0f && !(b->desc.mass > 0.0f))
            isphx_exchange(f, i, entry, u, isphpbdx_scale(feet[k].normal, -approach * (1.0f + b->desc.restitution)));
    }
}

/* The same for a wall of the coupler that goes on as it was seen, less what the pressure has made it yield. */
static void isphx_contact_coupled(const isph_fluid *f, int i, isphx_entry *entry, isphpbd_vec3 *x, isphpbd_vec3 *u) {
    const float mass = f->material_mass[f->material[i]], keep = 0.5f * f->dx;
    const float push = 2.0f * f->pressure[i] * f->volume * entry->gradient * f->now.seconds;
    const isphpbd_vec3 wall = isphpbdx_madd(entry->velocity, entry->normal, -push * entry->inverse_mass);
    const isphpbd_vec3 way =
        isphpbdx_sub(isphpbdx_sub(*x, isphx_vec(f->position + 4 * i)), isphpbdx_scale(wall, f->now.seconds));
    const float distance = entry->distance + isphpbdx_dot(way, entry->normal);
    const float approach = isphpbdx_dot(isphpbdx_sub(*u, wall), entry->normal);
    if (distance >= keep) return;
    *x = isphpbdx_madd(*x, entry->normal, isphpbdx_min(keep - distance, f->dx));
    if (approach < 0.0f)
        isphx_exchange(f, i, entry, u, isphpbdx_scale(entry->normal, -approach / (1.0f + mass * entry->inverse_mass)));
}

/* Share of the sliding speed that roughness leaves: it takes its part per 5 ms, whatever the step. */
static float isphx_rough_slip(float friction, float seconds) {
    float kept = 1.0f, left = seconds / 0.005f;
    if (friction <= 0.0f) return 1.0f;
    for (; left >= 1.0f; left -= 1.0f) kept *= 1.0f - friction;
    if (left <= 0.0f) return kept;
    return kept * (1.0f - friction * left / (left + (1.0f - friction) * (1.0f - left))); /* (1 - k)^left, nearly */
}

/* Share of the sliding speed that a touching particle keeps: of roughness, and of the skin friction of a turbulent
   boundary layer, tau = Cf rho v^2 / 2 on a layer of dx. Both are for layers too thin to be resolved. Where the cell's
   Reynolds number v dx / nu is below 1 the particles resolve it: the wall holds them by the viscosity alone, and what
   rests on it is the fluid at the wall, not that half a spacing off. */
static float isphx_kept_slip(const isph_fluid *f, int i, const isphx_entry *entry, float speed) {
    const isphx_material *m = f->material_table + f->material[i];
    const float skin = 0.5f * ISPHX_SKIN_FRICTION * entry->skin * speed * f->now.seconds / f->dx;
    const float inertia = m->density * speed * f->dx, square = inertia * inertia;
    const float thin = square / (square + m->viscosity * m->viscosity * entry->skin * entry->skin + 1e-30f);
    const float kept = isphx_rough_slip(entry->friction, f->now.seconds) / (1.0f + skin);
    return 1.0f - thin * (1.0f - kept);
}

static isphpbd_vec3 isphx_friction(const isph_fluid *f, int i, isphpbd_vec3 u) {
    int e;
    for (e = f->entry_first[i]; e < f->entry_first[i] + f->entry_count[i]; ++e) {
        isphx_entry *entry = f->entry + e;
        const isphpbd_vec3 slip = isphx_slip(entry, u);
        if (entry->distance > 0.8f * f->dx || isphx_is_body(f, entry)) continue;
        isphx_exchange(f, i, entry, &u,
                       isphpbdx_scale(slip, 1.0f - isphx_kept_slip(f, i, entry, isphpbdx_length(slip))));
    }
    return u;
}

/* Contact with all boundaries seen at the start of the substep; corners take a second round. What would still pass
   through a mesh stays where it was, or rides on it where that is in the way: what is caught between a wall and a body
   that a host holds up goes nowhere, instead of down with every fall of the body that the host takes back. */
static void isphx_contacts(const isph_fluid *f, int i, isphpbd_vec3 *x, isphpbd_vec3 *u) {
    const isphpbd_vec3 from = isphx_vec(f->position + 4 * i);
    const bool coupled = !f->coupler.respond && !f->coupler.finish; /* else contact is the coupler's */
    int round, e, last;
    for (round = 0; round < 2; ++round) {
        for (last = -1, e = f->entry_first[i]; e < f->entry_first[i] + f->entry_count[i]; ++e) {
            const int b = f->entry[e].boundary;
            if (b < 0 && coupled) isphx_contact_coupled(f, i, f->entry + e, x, u);
            if (b < 0 || b == last) continue;
            isphx_contact(f, i, f->entry + e, x, u);
            last = b;
        }
    }
    for (last = -1, e = f->entry_first[i]; e < f->entry_first[i] + f->entry_count[i]; ++e) {
        const int b = f->entry[e].boundary;
        const isphx_boundary *boundary = f->boundary + isphpbdx_maxi(b, 0);
        if (b < 0 || b == last || boundary->desc.shape != ISPH_SHAPE_MESH) continue;
        last = b;
        if (boundary->desc.mesh_solid && f->entry[e].distance < 0.0f) continue; /* on its way out */
        if (!isphx_mesh_crossed(f, boundary, from, *x)) continue;
        *x = from;
        if (isphx_mesh_crossed(f, boundary, from, from))
            *x = isphx_to_world(&boundary->end, isphx_to_local(&boundary->pose, from));
        f->entry[e].tag = 1; /* bodies look for it */
        if (boundary->desc.mass > 0.0f) continue;
        isphx_exchange(f, i, f->entry + e, u, isphpbdx_sub(isphx_boundary_velocity(boundary, &boundary->end, *x), *u));
    }
}

/* Pressure on the walls: 2 p V G dt, with p carried to the wall along its gradient: the floor then bears the weight. No
   gradient is known to the weakly compressible solver. */
static void isphx_reactions(isph_fluid *f, int i, const isphx_force *force, int lane) {
    const float s2 = f->scale[i] * f->scale[i];
    const float weight = f->material_table[f->material[i]].density * isphpbdx_length(f->desc.gravity);
    int e;
    for (e = f->entry_first[i]; e < f->entry_first[i] + f->entry_count[i]; ++e) {
        isphx_entry *entry = f->entry + e;
        const isphpbd_vec3 n = entry->normal;
        float p = f->pressure[i];
        if (isphx_is_body(f, entry)) continue; /* was pushed already */
        if (force) {
            const float slope = isphpbdx_dot(isphx_true_gradient(f, i, force->pressure[0][lane],
                                                                 force->pressure[1][lane], force->pressure[2][lane]),
                                             n) /
                                s2;
            p = isphpbdx_max(p - entry->distance * isphpbdx_clamp(slope, -weight, weight), 0.0f);
        }
        entry->impulse = isphpbdx_madd(entry->impulse, n, -2.0f * p * f->volume * entry->area * f->now.seconds);
    }
}

/* What a particle without a sane number did to walls must not reach them. */
static void isphx_drop_impulses(isph_fluid *f, int i) {
    int e;
    for (e = f->entry_first[i]; e < f->entry_first[i] + f->entry_count[i]; ++e)
        f->entry[e].impulse = isphpbd_v3(0.0f, 0.0f, 0.0f);
}

/* Fastest that a particle may be in this substep. */
static float isphx_speed_limit(const isph_fluid *f) {
    return isphpbdx_min(f->max_speed, 2.0f * f->desc.cfl * f->dx * f->now.inverse_seconds);
}

/* With `force` go the moves that it makes. */
static void isphx_move_particle(isph_fluid *f, int i, const isphx_force *force, const isphx_moves *moves, int lane,
                                uint32_t *flags) {
    isphpbd_vec3 x = isphx_vec(f->position + 4 * i), u = isphx_vec(f->star + 4 * i), d = isphpbd_v3(0.0f, 0.0f, 0.0f);
    const float most = isphx_speed_limit(f);
    if (force) {
        u = isphpbd_v3(moves->u[0][lane], moves->u[1][lane], moves->u[2][lane]);
        d = isphpbd_v3(moves->d[0][lane], moves->d[1][lane], moves->d[2][lane]);
        d = isphx_is_crowded(f, i) ? isphx_relief(f, i) : isphx_squeezed_step(f, i, d);
        u = isphx_ungained(f, i, u);
    }
    u = isphx_friction(f, i, u);
    if (isphpbdx_dot(u, u) > most * most) {
        *flags |= most == f->max_speed ? ISPH_STEP_SPEED_CLAMPED : ISPH_STEP_SUBSTEPS_CAPPED;
        u = isphx_limit(u, most);
    }
    x = isphpbdx_add(isphpbdx_madd(x, u, f->now.seconds), d);
    if (f->entry_count[i] > 0) isphx_contacts(f, i, &x, &u);
    if (!isphpbdx_finite3(x) || !isphpbdx_finite3(u) || !isphx_points_ok(&x.x, 3 * sizeof(float), 1, f->dx)) {
        *flags |= ISPH_STEP_QUARANTINED;
        x = isphx_vec(f->position + 4 * i);
        u = isphpbd_v3(0.0f, 0.0f, 0.0f);
        f->pair[0][2 * i] = f->pair[0][2 * i + 1] = 0.0f;
        isphx_drop_impulses(f, i);
    } else {
        isphx_reactions(f, i, force, lane);
    }
    isphx_set3(f->next + 4 * i, x.x, x.y, x.z);
    isphx_set3(f->star + 4 * i, u.x, u.y, u.z);
}

/* isphx_move_particle for four that meet no wall and nothing else out of the ordinary; false, and nothing done, where
   one of them does. */
static bool isphx_move_freely(isph_fluid *f, int i, const isphx_moves *moves, int half) {
    const uint8_t *walls = f->entry_count + i;
    const float limit = isphx_speed_limit(f);
    const isphpbdx_f4 outside = isphpbdx_f4_all(ISPHX_FAR * f->dx), seconds = isphpbdx_f4_all(f->now.seconds);
    isphpbdx_f4 x[4], u[4];
    int k, inside = 15;
    if (f->cells.crowded || f->now.squeezed || i + 4 > f->count || (walls[0] | walls[1] | walls[2] | walls[3]) != 0)
        return false;
    isphx_load_rows(f->position + 4 * i, x);
    for (k = 0; k < 3; ++k) {
        u[k] = isphpbdx_f4_load(moves->u[k] + half);
        x[k] = isphpbdx_f4_add(isphx_madd4(x[k], u[k], seconds), isphpbdx_f4_load(moves->d[k] + half));
        inside &= isphpbdx_f4_below(x[k], outside) & isphpbdx_f4_below(isphx_minus4(outside), x[k]);
    }
    if ((inside & isphpbdx_f4_below(isphx_squares(u), isphpbdx_f4_all(limit * limit))) != 15) return false;
    x[3] = u[3] = isphpbdx_f4_all(0.0f);
    isphx_store_rows(f->next + 4 * i, x);
    isphx_store_rows(f->star + 4 * i, u);
    return true;
}

/* Returns how many have to be put to rest. */
static int isphx_move_four(isph_fluid *f, int chunk, int half, const isphx_force *force, const isphx_moves *moves,
                           uint32_t *flags) {
    const int first = chunk * ISPHX_LANES + half, end = isphpbdx_mini(first + 4, f->count);
    int i, quarantined = 0;
    if (force && isphx_move_freely(f, first, moves, half)) return 0;
    for (i = first; i < end; ++i) {
        uint32_t own = 0;
        isphx_move_particle(f, i, force, moves, half + i - first, &own);
        quarantined += (own & ISPH_STEP_QUARANTINED) != 0;
        *flags |= own;
    }
    return quarantined;
}

static void isphx_move_task(void *ctx, int block) {
    isph_fluid *f = (isph_fluid *)ctx;
    const bool projected = isphx_projects(f);
    int columns[ISPHX_LIST * ISPHX_LANES], chunk, end, half, quarantined = 0;
    uint32_t flags = 0;
    isphx_moves moves;
    isphx_force force;
    isphx_block_chunks(f->count, block, &chunk, &end);
    for (; chunk < end; ++chunk) {
        if (projected) {
            isphx_chunk_columns(&f->sell, chunk, columns);
            isphx_chunk_force(f, chunk, 0, columns, &force);
            isphx_chunk_force(f, chunk, 4, columns, &force);
            isphx_moves_find(f, chunk, 0, &force, &moves);
            isphx_moves_find(f, chunk, 4, &force, &moves);
        }
        for (half = 0; half < ISPHX_LANES; half += 4)
            quarantined += isphx_move_four(f, chunk, half, projected ? &force : NULL, &moves, &flags);
    }
    f->block_flags[block] |= flags;
    f->partial[8 * block + 7] = quarantined;
}

/* Pressures where the move can gather them: s p >= 0 with the position, the density pressure in an array of its own.
   Of what is no pressure at all nothing stays. */
#define ISPHX_MAX_START 1e25f /* of what the solves look for: beyond, forces are not finite */
static void isphx_pressures_task(void *ctx, int block) {
    isph_fluid *f = (isph_fluid *)ctx;
    const int end = isphpbdx_mini((block + 1) * ISPHX_BLOCK, f->count);
    int i;
    for (i = block * ISPHX_BLOCK; i < end; ++i) {
        float *pair = f->pair[0] + 2 * i, p, q;
        if (!(isphpbdx_abs(pair[0]) <= ISPHX_MAX_START && isphpbdx_abs(pair[1]) <= ISPHX_MAX_START)) {
            pair[0] = pair[1] = 0.0f;
            f->block_flags[block] |= ISPH_STEP_QUARANTINED;
        }
        p = isphpbdx_max(pair[0], 0.0f), q = pair[1];
        f->position[4 * i + 3] = p;
        f->pressure[i] = p / f->scale[i];
        f->density_pressure[i] = f->shape[4 * i + 3] > ISPHX_OPEN ? isphpbdx_max(q, 0.0f) : q;
    }
}

static void isphx_no_pressure_task(void *ctx, int block) {
    isph_fluid *f = (isph_fluid *)ctx;
    const int begin = block * ISPHX_BLOCK, end = isphpbdx_mini(begin + ISPHX_BLOCK, f->count);
    memset(f->pressure + begin, 0, (size_t)(end - begin) * sizeof(float));
}

static void isphx_stage_pressures(isph_fluid *f) {
    if (isphx_projects(f)) isphx_post_rows(f, isphx_pressures_task, ISPHX_LIGHT);
    else if (!f->solver_enabled) isphx_post_rows(f, isphx_no_pressure_task, ISPHX_LIGHT);
}

/* [weakly-compressible] The classic baseline (Becker et al., section III): Tait's equation, symmetric forces,
   artificial viscosity, leapfrog; the density is corrected by the walls' share so that walls do not thin it out. The
   materials' own viscosity is explicit (Morris et al. 1997). */
#define ISPHX_TAIT_EXPONENT        7
#define ISPHX_ARTIFICIAL_VISCOSITY 0.08f
#define ISPHX_COURANT              0.25f /* supports that sound and particles go per substep */

static float isphx_sound_speed(const isph_fluid *f) {
    if (f->desc.sound_speed > 0.0f) return f->desc.sound_speed;
    return 10.0f * isphpbdx_max(sqrtf(2.0f * f->reference_acceleration * 40.0f * f->dx), f->stats.max_speed);
}

/* P / density^2 of every particle, with the position; pressure for the view. Suction is cut off. */
static void isphx_equation_task(void *ctx, int block) {
    isph_fluid *f = (isph_fluid *)ctx;
    const int end = isphpbdx_mini((block + 1) * ISPHX_BLOCK, f->count);
    const float c = f->now.sound;
    int i, k;
    for (i = block * ISPHX_BLOCK; i < end; ++i) {
        const float density = f->spread[4 * i + 3], rho = f->material_table[f->material[i]].density;
        float power = 1.0f;
        for (k = 0; k < ISPHX_TAIT_EXPONENT; ++k) power *= density;
        f->pressure[i] = isphpbdx_max(rho * c * c / ISPHX_TAIT_EXPONENT * (power - 1.0f), 0.0f);
        f->position[4 * i + 3] = f->pressure[i] / (density * density);
    }
}

/* sum V (P_a / d_a^2 + P_b / d_b^2 + Pi_ab) grad W, per unit of rest density of a. */
static void isphx_chunk_tait(const isph_fluid *f, int chunk, int half, const int *columns, float out[3][ISPHX_LANES]) {
    const float *value = f->sell.value + f->sell.offset[chunk];
    const float viscosity = ISPHX_ARTIFICIAL_VISCOSITY * f->reach * f->now.sound * f->now.density;
    const isphpbdx_f4 scale = isphpbdx_f4_all(0.5f / (f->dx * f->dx)), zero = isphpbdx_f4_all(0.0f);
    const isphpbdx_f4 soft = isphpbdx_f4_all(0.01f * f->dx * f->dx), strength = isphpbdx_f4_all(-viscosity);
    isphpbdx_f4 a[4], b[4], u[4], v[4], sum[3];
    int own[4], j, k;
    isphx_own_rows(chunk, half, own);
    isphx_gather(f->position, own, a);
    isphx_gather(f->velocity, own, u);
    for (k = 0; k < 3; ++k) sum[k] = zero;
    for (j = 0; j < f->sell.length[chunk]; ++j) {
        const int *index = columns + j * ISPHX_LANES + half;
        isphpbdx_f4 d[3], vx = zero, r2 = soft, w;
        isphx_gather(f->position, index, b);
        isphx_gather(f->velocity, index, v);
        for (k = 0; k < 3; ++k) {
            d[k] = isphpbdx_f4_sub(a[k], b[k]);
            vx = isphx_madd4(vx, isphpbdx_f4_sub(u[k], v[k]), d[k]);
            r2 = isphx_madd4(r2, d[k], d[k]);
        }
        vx = isphpbdx_f4_mul(strength, isphpbdx_f4_div(isphpbdx_f4_min(vx, zero), r2));
        w = isphpbdx_f4_mul(isphpbdx_f4_load(value + j * ISPHX_LANES + half),
                            isphpbdx_f4_add(isphpbdx_f4_add(a[3], b[3]), vx));
        for (k = 0; k < 3; ++k) sum[k] = isphx_madd4(sum[k], w, d[k]);
    }
    for (k = 0; k < 3; ++k) isphpbdx_f4_store(out[k] + half, isphpbdx_f4_mul(sum[k], scale));
}

static void isphx_tait_row(isph_fluid *f, int i, int lane, float force[3][ISPHX_LANES], float drag[3][ISPHX_LANES]) {
    const float gravity[3] = {f->desc.gravity.x, f->desc.gravity.y, f->desc.gravity.z};
    const float rho = f->material_table[f->material[i]].density;
    isphpbd_vec3 u;
    float v[3];
    int k;
    for (k = 0; k < 3; ++k) {
        const float wall = -2.0f * f->position[4 * i + 3] * f->wall[4 * i + k];
        v[k] = f->velocity[4 * i + k] + f->now.seconds * (gravity[k] + (force[k][lane] + wall) / rho) + drag[k][lane];
    }
    u = isphx_wall_drag(f, i, isphx_vec(v));
    isphx_set3(f->star + 4 * i, u.x, u.y, u.z);
}

static void isphx_tait_task(void *ctx, int block) {
    isph_fluid *f = (isph_fluid *)ctx;
    int columns[ISPHX_LIST * ISPHX_LANES], chunk, end, lane, half;
    float force[3][ISPHX_LANES], drag[3][ISPHX_LANES];
    isphx_block_chunks(f->count, block, &chunk, &end);
    for (; chunk < end; ++chunk) {
        isphx_chunk_columns(&f->sell, chunk, columns);
        for (half = 0; half < ISPHX_LANES; half += 4) {
            isphx_chunk_tait(f, chunk, half, columns, force);
            isphx_chunk_diffuse(f, chunk, half, columns, drag);
        }
        for (lane = 0; lane < ISPHX_LANES; ++lane)
            if (chunk * ISPHX_LANES + lane < f->count) isphx_tait_row(f, chunk * ISPHX_LANES + lane, lane, force, drag);
    }
}

/* Sound must not outrun the substep: in one that is too long it goes slower, and water yields more. Explicit viscosity
   has its limit, too: what is thicker counts as what the substep bears. */
static void isphx_now_weak(isph_fluid *f) {
    isphx_substep *now = &f->now;
    const float wanted = isphx_sound_speed(f), most = ISPHX_IMPLICIT_VISCOSITY;
    now->sound = isphpbdx_clamp(ISPHX_COURANT * f->reach * now->inverse_seconds - f->stats.max_speed, 0.0f, wanted);
    if (now->sound < 0.99f * wanted) f->flags |= ISPH_STEP_SUBSTEPS_CAPPED;
    if (now->diffusion > most) now->viscous_seconds *= most / now->diffusion;
    now->diffusion = isphpbdx_min(now->diffusion, most);
    now->smoothing = 0.0f;
    now->implicit_viscosity = false;
}

/* [step] One substep, and the choice of how many. */
static void isphx_now(isph_fluid *f, float seconds) {
    isphx_substep *now = &f->now;
    int m;
    memset(now, 0, sizeof *now);
    now->seconds = seconds;
    now->inverse_seconds = 1.0f / seconds;
    now->density = f->material_count > 0 ? f->material_table[0].density : 1000.0f;
    now->several = f->material_count > 1;
    now->relaxation = isphpbdx_min(1.0f, seconds / (ISPHX_RELAXATION * sqrtf(f->dx / f->reference_acceleration)));
    now->smoothing = ISPHX_SMOOTHING * seconds * sqrtf(f->reference_acceleration / f->dx) / f->tables.full_weight;
    for (m = 0; m < f->material_count; ++m) {
        const float nu = f->material_table[m].viscosity / f->material_table[m].density;
        now->diffusion = isphpbdx_max(now->diffusion, nu * seconds / (f->dx * f->dx));
    }
    now->implicit_viscosity = now->diffusion > ISPHX_IMPLICIT_VISCOSITY;
    now->memory = 1.0f - ISPHX_FORGETS / (1.0f + 0.3f * now->diffusion);
    now->viscous_seconds = seconds;
    if (isphx_weakly_compressible(f)) isphx_now_weak(f);
}

/* [balance] The books of a substep. For every component of fluid: what its momentum changed by, less gravity, plus what
   it gave to walls, has to be nothing, linear and angular; the discretisation leaves some. Where the component touches
   walls that cannot move, impulses of pressure take it, theirs and the coupler's, in proportion to their size and up to
   a quarter of it; what is left then, and everything elsewhere, its particles take as a small rigid motion. In:
   velocities and positions before and after, entries. Out: both corrected. */
typedef struct isphx_account { /* of an aggregate, then of a component at its root */
    double left[6];            /* linear and angular momentum about the origin of the books that nobody owns up to */
    double weight, first[3];   /* of what takes it: its sum, and times position */
    double second[6];          /* times position squared, or for walls normal squared: xx yy zz xy xz yz */
    double mass;
    isphpbd_vec3 walls;                   /* the correction of impulses, over their size */
    isphpbd_vec3 linear, angular, centre; /* the correction of velocities, about a centre */
} isphx_account;

/* They live where the factor was, which is done with; the origin is any place near by. */
static isphx_account *isphx_accounts(const isph_fluid *f) { return (isphx_account *)(void *)f->coarse.factor; }
static isphpbd_vec3 isphx_books_origin(const isph_fluid *f) { return isphx_vec(f->position); }

static void isphx_account_weight(isphx_account *a, isphpbd_vec3 p, float weight) {
    const double x = (double)p.x, y = (double)p.y, z = (double)p.z, w = (double)weight;
    a->weight += w;
    a->first[0] += w * x, a->first[1] += w * y, a->first[2] += w * z;
    a->second[0] += w * x * x, a->second[1] += w * y * y, a->second[2] += w * z * z;
    a->second[3] += w * x * y, a->second[4] += w * x * z, a->second[5] += w * y * z;
}

static void isphx_account_add(isphx_account *a, isphpbd_vec3 p, isphpbd_vec3 momentum, double sign) {
    const double x = (double)p.x, y = (double)p.y, z = (double)p.z;
    const double jx = (double)momentum.x * sign, jy = (double)momentum.y * sign, jz = (double)momentum.z * sign;
    a->left[0] += jx, a->left[1] += jy, a->left[2] += jz;
    a->left[3] += y * jz - z * jy, a->left[4] += z * jx - x * jz, a->left[5] += x * jy - y * jx;
}

#define ISPHX_SLANT 0.02 /* share of its size by which an impulse may change across the normal of its wall */

static bool isphx_is_immovable(const isph_fluid *f, const isphx_entry *entry) {
    return entry->boundary >= 0 && !isphx_is_body(f, entry);
}

static isphpbd_vec3 isphx_foot_of(const isph_fluid *f, int i, const isphx_entry *entry) {
    return isphpbdx_madd(isphx_vec(f->position + 4 * i), entry->normal, -entry->distance);
}

/* Does an aggregate touch what cannot move? In coarse->diagonal, which is idle: 1 or 0. */
static void isphx_held_task(void *ctx, int block) {
    const isph_fluid *f = (const isph_fluid *)ctx;
    const isphx_coarse *coarse = &f->coarse;
    const int end = isphpbdx_mini((block + 1) * ISPHX_COARSE_BLOCK, coarse->count);
    int g, m, e;
    for (g = block * ISPHX_COARSE_BLOCK; g < end; ++g) {
        bool held = false;
        for (m = coarse->member_start[g]; m < coarse->member_start[g + 1] && !held; ++m) {
            const int i = coarse->member[m];
            for (e = f->entry_first[i]; e < f->entry_first[i] + f->entry_count[i]; ++e)
                held = held || isphx_is_immovable(f, f->entry + e);
        }
        coarse->diagonal[g] = held ? 1.0f : 0.0f;
    }
}

/* Particle i and its walls go into the books. */
static void isphx_account_particle(const isph_fluid *f, isphx_account *a, int i, bool held) {
    const float mass = f->material_mass[f->material[i]];
    const isphpbd_vec3 origin = isphx_books_origin(f), was = isphx_vec(f->velocity + 4 * i);
    const isphpbd_vec3 before = isphpbdx_sub(isphx_vec(f->position + 4 * i), origin),
                       after = isphpbdx_sub(isphx_vec(f->next + 4 * i), origin);
    int e;
    isphx_account_add(a, after, isphpbdx_scale(isphx_vec(f->star + 4 * i), mass), 1.0);
    isphx_account_add(a, before, isphpbdx_scale(isphpbdx_madd(was, f->desc.gravity, f->now.seconds), mass), -1.0);
    a->mass += (double)mass;
    if (!held) isphx_account_weight(a, after, mass);
    for (e = f->entry_first[i]; e < f->entry_first[i] + f->entry_count[i]; ++e) {
        const isphx_entry *entry = f->entry + e;
        const isphpbd_vec3 foot = isphpbdx_sub(isphx_foot_of(f, i, entry), origin);
        const bool immovable = isphx_is_immovable(f, entry);
        isphx_account_add(a, immovable ? foot : before, entry->impulse, 1.0);
        if (held && !isphx_is_body(f, entry)) isphx_account_weight(a, entry->normal, isphpbdx_length(entry->impulse));
    }
}

static void isphx_account_task(void *ctx, int block) {
    const isph_fluid *f = (const isph_fluid *)ctx;
    const isphx_coarse *coarse = &f->coarse;
    const int end = isphpbdx_mini((block + 1) * ISPHX_COARSE_BLOCK, coarse->count);
    int g, m;
    for (g = block * ISPHX_COARSE_BLOCK; g < end; ++g) {
        const bool held = coarse->diagonal[isphx_vessels(f)[g].root] > 0.0f;
        memset(isphx_accounts(f) + g, 0, sizeof(isphx_account));
        for (m = coarse->member_start[g]; m < coarse->member_start[g + 1]; ++m)
            isphx_account_particle(f, isphx_accounts(f) + g, coarse->member[m], held);
    }
}

static void isphx_account_merge(isphx_account *to, const isphx_account *from) {
    int k;
    for (k = 0; k < 6; ++k) to->left[k] += from->left[k], to->second[k] += from->second[k];
    for (k = 0; k < 3; ++k) to->first[k] += from->first[k];
    to->weight += from->weight, to->mass += from->mass;
}

/* M^-1 b for a symmetric M: xx yy zz xy xz yz; nothing where it is nearly singular. */
static isphpbd_vec3 isphx_symmetric_solve(const double m[6], const double b[3]) {
    const double xx = m[0], yy = m[1], zz = m[2], xy = m[3], xz = m[4], yz = m[5], trace = xx + yy + zz;
    const double a = yy * zz - yz * yz, c = xz * yz - xy * zz, d = xy * yz - xz * yy, e = xy * xz - xx * yz;
    const double determinant = xx * a + xy * c + xz * d;
    if (!(determinant > 1e-5 * trace * trace * trace)) return isphpbd_v3(0.0f, 0.0f, 0.0f);
    return isphpbd_v3((float)((a * b[0] + c * b[1] + d * b[2]) / determinant),
                      (float)((c * b[0] + (xx * zz - xz * xz) * b[1] + e * b[2]) / determinant),
                      (float)((d * b[0] + e * b[1] + (xx * yy - xy * xy) * b[2]) / determinant));
}

/* Walls take it along their normals: sum w (n n + slant) a = left, of which each gets w (n n + slant) a. They take no
   angular part: they bear couples that the viscosity, being a Laplacian, does not know of. What is too much for them
   goes to the particles, but for a little (`quiet`, m/s), which would keep a tank from coming to rest. */
static void isphx_account_settle_walls(isphx_account *a, float quiet, float most) {
    double m[6], left[3];
    float size;
    int k, j;
    static const int at[3][3] = {{0, 3, 4}, {3, 1, 5}, {4, 5, 2}};
    for (k = 0; k < 6; ++k) m[k] = a->second[k] + (k < 3 ? ISPHX_SLANT * a->weight : 0.0);
    a->walls = isphx_limit(isphx_symmetric_solve(m, a->left), 0.25f);
    for (k = 0; k < 3; ++k)
        for (left[k] = a->left[k] / a->mass, j = 0; j < 3; ++j)
            left[k] -= m[at[k][j]] * (double)isphx_axis(a->walls, j) / a->mass;
    a->linear = isphpbd_v3((float)left[0], (float)left[1], (float)left[2]);
    size = isphpbdx_length(a->linear);
    a->linear =
        size > quiet ? isphx_limit(isphpbdx_scale(a->linear, 1.0f - quiet / size), most) : isphpbd_v3(0.0f, 0.0f, 0.0f);
}

/* The rigid motion of particles that takes what is left; `most` (m/s) bounds it. */
static void isphx_account_settle(isphx_account *a, float most) {
    static const int pair[6][2] = {{0, 0}, {1, 1}, {2, 2}, {0, 1}, {0, 2}, {1, 2}};
    double centre[3], second[6], inertia[6], left[3];
    float size;
    int k;
    if (!(a->weight > 0.0)) return;
    for (k = 0; k < 3; ++k) centre[k] = a->first[k] / a->weight;
    for (k = 0; k < 6; ++k) second[k] = a->second[k] - a->weight * centre[pair[k][0]] * centre[pair[k][1]];
    for (k = 0; k < 6; ++k) inertia[k] = k < 3 ? second[(k + 1) % 3] + second[(k + 2) % 3] : -second[k];
    left[0] = a->left[3] - (centre[1] * a->left[2] - centre[2] * a->left[1]);
    left[1] = a->left[4] - (centre[2] * a->left[0] - centre[0] * a->left[2]);
    left[2] = a->left[5] - (centre[0] * a->left[1] - centre[1] * a->left[0]);
    size = sqrtf((float)((second[0] + second[1] + second[2]) / a->weight) + 1e-30f);
    a->linear = isphx_limit(
        isphpbd_v3((float)(a->left[0] / a->weight), (float)(a->left[1] / a->weight), (float)(a->left[2] / a->weight)),
        most);
    a->angular = isphx_limit(isphx_symmetric_solve(inertia, left), most / size);
    a->centre = isphpbd_v3((float)centre[0], (float)centre[1], (float)centre[2]);
}

/* Numbers that are none reach nobody else. */
static void isphx_account_check(isphx_account *a) {
    if (isphpbdx_finite3(a->walls) && isphpbdx_finite3(a->linear) && isphpbdx_finite3(a->angular) &&
        isphpbdx_finite3(a->centre))
        return;
    a->walls = a->linear = a->angular = a->centre = isphpbd_v3(0.0f, 0.0f, 0.0f);
}

static isphpbd_vec3 isphx_account_at(const isphx_account *a, isphpbd_vec3 p) {
    return isphpbdx_add(a->linear, isphpbdx_cross(a->angular, isphpbdx_sub(p, a->centre)));
}

/* The walls of a particle take their part. */
static void isphx_account_walls(isph_fluid *f, const isphx_account *account, int i) {
    int e;
    for (e = f->entry_first[i]; e < f->entry_first[i] + f->entry_count[i]; ++e) {
        isphx_entry *entry = f->entry + e;
        const float size = isphpbdx_length(entry->impulse), along = isphpbdx_dot(account->walls, entry->normal);
        if (isphx_is_body(f, entry)) continue;
        entry->impulse = isphpbdx_madd(entry->impulse, entry->normal, -size * along);
        entry->impulse = isphpbdx_madd(entry->impulse, account->walls, -size * (float)ISPHX_SLANT);
    }
}

static void isphx_balance_task(void *ctx, int block) {
    isph_fluid *f = (isph_fluid *)ctx;
    const isphx_coarse *coarse = &f->coarse;
    const int end = isphpbdx_mini((block + 1) * ISPHX_COARSE_BLOCK, coarse->count);
    int g, m;
    for (g = block * ISPHX_COARSE_BLOCK; g < end; ++g) {
        const isphx_account *account = isphx_accounts(f) + isphx_vessels(f)[g].root;
        const bool held = coarse->diagonal[isphx_vessels(f)[g].root] > 0.0f;
        for (m = coarse->member_start[g]; m < coarse->member_start[g + 1]; ++m) {
            const int i = coarse->member[m];
            const isphpbd_vec3 at = isphpbdx_sub(isphx_vec(f->next + 4 * i), isphx_books_origin(f));
            isphpbd_vec3 u = isphx_vec(f->star + 4 * i);
            if (held) isphx_account_walls(f, account, i);
            u = isphx_limit(isphpbdx_sub(u, isphx_account_at(account, at)), isphx_speed_limit(f));
            isphx_set3(f->star + 4 * i, u.x, u.y, u.z);
        }
    }
}

static void isphx_balance_settle(void *ctx) {
    isph_fluid *f = (isph_fluid *)ctx;
    const isphx_coarse *coarse = &f->coarse;
    isphx_account *account = isphx_accounts(f);
    const float most = 0.1f * f->dx * f->now.inverse_seconds, quiet = 0.1f * f->reference_acceleration * f->now.seconds;
    int g;
    for (g = coarse->count - 1; g >= 0; --g)
        if (isphx_vessels(f)[g].root != g) isphx_account_merge(account + isphx_vessels(f)[g].root, account + g);
    for (g = 0; g < coarse->count; ++g) {
        if (isphx_vessels(f)[g].root != g) continue;
        if (coarse->diagonal[g] > 0.0f) isphx_account_settle_walls(account + g, quiet, most);
        else isphx_account_settle(account + g, most);
        isphx_account_check(account + g);
    }
    isphx_post(&f->machine, isphx_balance_task, f, isphx_coarse_blocks(coarse), ISPHX_MEDIUM);
}

static void isphx_balance_sum(void *ctx) {
    isph_fluid *f = (isph_fluid *)ctx;
    isphx_coarse *coarse = &f->coarse;
    int g;
    for (g = coarse->count - 1; g >= 0; --g)
        coarse->diagonal[isphx_vessels(f)[g].root] =
            isphpbdx_max(coarse->diagonal[isphx_vessels(f)[g].root], coarse->diagonal[g]);
    isphx_post(&f->machine, isphx_account_task, f, isphx_coarse_blocks(coarse), ISPHX_HEAVY);
    isphx_then(&f->machine, isphx_balance_settle, f);
}

static void isphx_stage_balance(isph_fluid *f) {
    const isphx_coarse *coarse = &f->coarse;
    const size_t room = (size_t)coarse->factor_capacity * sizeof(float);
    if (!isphx_projects(f) || (size_t)coarse->count * sizeof(isphx_account) > room) return;
    isphx_post(&f->machine, isphx_held_task, f, isphx_coarse_blocks(coarse), ISPHX_MEDIUM);
    isphx_then(&f->machine, isphx_balance_sum, f);
}

/* ---- contact of bodies (direct forcing, Becker et al. 2009) ---- */
/* Finds out how a particle touches a body where both have got to. The entry has done its work: its normal becomes that
   of the contact, its area the mass (kg) that meets along it and its gradient the mass that is dragged along. */
static void isphx_touch(isph_fluid *f, const isphx_boundary *b, isphx_entry *entry, int i, bool again) {
    const isphpbd_vec3 x = isphx_vec(f->next + 4 * i), u = isphx_vec(f->star + 4 * i);
    const isphpbd_vec3 way = isphpbdx_sub(u, isphx_boundary_velocity(b, &b->end, x));
    const float mass = f->material_mass[f->material[i]];
    isphpbd_vec3 normal = entry->normal;
    isphx_foot feet[ISPHX_WALLS];
    float most = 0.0f;
    int k, n = again ? 0 : isphx_boundary_feet(f, b, &b->end, x, 0.501f * f->dx, feet);
    entry->area = entry->gradient = 0.0f;
    if (again) return; /* another wall of the same body speaks for both */
    for (k = 0; k < n; ++k) {
        const float approach = isphpbdx_dot(way, feet[k].normal);
        if (approach < most) most = approach, normal = feet[k].normal, entry->area = mass;
    }
    entry->normal = normal;
    if (entry->distance <= 0.8f * f->dx) {
        const float along = isphpbdx_dot(way, normal);
        const float sliding = isphpbdx_length(isphpbdx_madd(way, normal, -along));
        entry->gradient = mass * (1.0f - isphx_kept_slip(f, i, entry, sliding));
    }
    if (entry->tag) entry->area = entry->gradient = mass; /* it would have gone through */
}

/* The change of a particle's velocity that an entry makes when the body moves by `motion` beyond what it does now. */
static isphpbd_vec3 isphx_touch_change(const isph_fluid *f, const isphx_boundary *b, const isphx_entry *entry, int i,
                                       const isphx_six *motion) {
    const isphpbd_vec3 x = isphx_vec(f->next + 4 * i);
    const isphpbd_vec3 wall =
        isphpbdx_add(isphx_boundary_velocity(b, &b->end, x), isphx_six_at(motion, isphpbdx_sub(x, b->end.position)));
    const isphpbd_vec3 way = isphpbdx_sub(wall, isphx_vec(f->star + 4 * i));
    const float along = isphpbdx_dot(way, entry->normal), inverse = 1.0f / f->material_mass[f->material[i]];
    return isphpbdx_madd(isphpbdx_scale(way, entry->gradient * inverse), entry->normal,
                         along * (entry->area - entry->gradient) * inverse);
}

/* Exchanges what the entry asks for. */
static void isphx_touch_apply(isph_fluid *f, isphx_boundary *b, isphx_entry *entry, int i, const isphx_six *motion,
                              isphx_six *sum) {
    isphpbd_vec3 u = isphx_vec(f->star + 4 * i), change = isphx_touch_change(f, b, entry, i, motion);
    const isphpbd_vec3 before = entry->impulse;
    if (entry->area > 0.0f)
        change = isphpbdx_madd(change, entry->normal, b->desc.restitution * isphpbdx_dot(change, entry->normal));
    isphx_exchange(f, i, entry, &u, change);
    isphx_set3(f->star + 4 * i, u.x, u.y, u.z);
    isphx_six_add(sum, isphpbdx_sub(entry->impulse, before), isphpbdx_sub(isphx_vec(f->next + 4 * i), b->end.position));
}

/* All contacts of a body at once: (M + sum k) dV = sum k (u - v). Those that would pull are let go, in a few rounds. */
static void isphx_body_contact(isph_fluid *f, isphx_boundary *b) {
    isphx_six motion = isphx_six_zero(), sum = isphx_six_zero();
    const int end = b->entry_first + b->entry_count;
    int k, round, pulling = 1;
    for (round = 0; round < 4 && pulling > 0; ++round) {
        isphx_joint joint;
        isphx_joint_begin(b, &b->end, &joint);
        for (k = b->entry_first; k < end; ++k) {
            const isphx_entry *entry = f->entry + f->body_entry[k];
            const int i = f->body_particle[k];
            const isphpbd_vec3 x = isphx_vec(f->next + 4 * i);
            isphx_joint_add(&joint, entry->normal, isphpbdx_sub(x, b->end.position), entry->area, entry->gradient,
                            isphpbdx_sub(isphx_vec(f->star + 4 * i), isphx_boundary_velocity(b, &b->end, x)));
        }
        motion = isphx_joint_solve(&joint);
        for (k = b->entry_first, pulling = 0; k < end; ++k) {
            isphx_entry *entry = f->entry + f->body_entry[k];
            if (!(entry->area > 0.0f) || entry->tag) continue;
            if (isphpbdx_dot(isphx_touch_change(f, b, entry, f->body_particle[k], &motion), entry->normal) >= 0.0f)
                continue;
            entry->area = 0.0f, ++pulling;
        }
    }
    for (k = b->entry_first; k < end; ++k)
        isphx_touch_apply(f, b, f->entry + f->body_entry[k], f->body_particle[k], &motion, &sum);
    isphx_body_kick(b, &sum);
}

/* One contact after the other, each with the body's own effective mass there. */
static void isphx_body_contact_local(isph_fluid *f, isphx_boundary *b) {
    int k;
    for (k = b->entry_first; k < b->entry_first + b->entry_count; ++k) {
        isphx_entry *entry = f->entry + f->body_entry[k];
        const int i = f->body_particle[k];
        const isphpbd_vec3 x = isphx_vec(f->next + 4 * i), lever = isphpbdx_sub(x, b->end.position);
        const isphpbd_vec3 way = isphpbdx_sub(isphx_vec(f->star + 4 * i), isphx_boundary_velocity(b, &b->end, x));
        isphx_six motion, sum = isphx_six_zero();
        isphx_joint joint;
        if (entry->area == 0.0f && entry->gradient == 0.0f) continue;
        if (isphpbdx_dot(way, entry->normal) >= 0.0f && !entry->tag) entry->area = 0.0f;
        isphx_joint_begin(b, &b->end, &joint);
        isphx_joint_add(&joint, entry->normal, lever, entry->area, entry->gradient, way);
        motion = isphx_joint_solve(&joint);
        isphx_touch_apply(f, b, entry, i, &motion, &sum);
        isphx_body_kick(b, &sum);
    }
}

static void isphx_stage_contact(isph_fluid *f) {
    int a, k;
    if (!f->bodies) return;
    for (a = 0; a < f->active_count; ++a) {
        isphx_boundary *b = f->boundary + f->active[a];
        if (b->entry_count == 0) continue;
        isphx_body_inertia(b, &b->end, -1.0, b->inverse_inertia);
        for (k = b->entry_first; k < b->entry_first + b->entry_count; ++k) {
            const int i = f->body_particle[k];
            isphx_touch(f, b, f->entry + f->body_entry[k], i, k > b->entry_first && f->body_particle[k - 1] == i);
        }
        if (f->desc.rigid_local) isphx_body_contact_local(f, b);
        else isphx_body_contact(f, b);
    }
}

/* Angular velocity of a body in that position, from its angular momentum. */
static isphpbd_vec3 isphx_body_spin(const isphx_boundary *b, isphpbd_quat rotation, isphpbd_vec3 momentum) {
    const isphpbd_vec3 own = isphpbdx_unrotate(rotation, momentum), inertia = b->desc.inertia;
    return isphpbdx_rotate(rotation, isphpbd_v3(own.x / inertia.x, own.y / inertia.y, own.z / inertia.z));
}

/* Turns a pose about one of the body's own axes, by what its angular momentum does about that axis in a time. */
static isphx_pose isphx_body_turn_axis(const isphx_boundary *b, isphx_pose pose, isphpbd_vec3 momentum, int axis,
                                       float seconds) {
    static const isphpbd_vec3 axes[3] = {{1.0f, 0.0f, 0.0f}, {0.0f, 1.0f, 0.0f}, {0.0f, 0.0f, 1.0f}};
    const isphpbd_vec3 way = isphpbdx_rotate(pose.rotation, axes[axis]);
    const float rate = isphpbdx_clamp(isphpbdx_dot(momentum, way) / isphx_axis(b->desc.inertia, axis),
                                      -ISPHX_MAX_MOTION, ISPHX_MAX_MOTION); /* about a needle's axis it is rounding */
    return isphx_pose_advance(pose, isphpbd_v3(0.0f, 0.0f, 0.0f), isphpbdx_scale(way, rate), seconds);
}

/* A body that turns freely keeps its angular momentum, not its angular velocity, and its energy: turns about single
   axes in an order that is the same from both ends keep both, however long (Dullweber, Leimkuhler, McLachlan 1997). */
#define ISPHX_SPIN_PARTS 64 /* of a substep, at most; an eighth of a radian each */
static void isphx_body_turn(isphx_boundary *b, float seconds) {
    static const int order[5] = {0, 2, 1, 2, 0};
    const isphpbd_quat start = b->pose.rotation;
    const float turns = 8.0f * isphpbdx_length(b->angular_now) * seconds;
    const int parts = 1 + (int)isphpbdx_min(turns, (float)(ISPHX_SPIN_PARTS - 1));
    const isphpbd_vec3 own = isphpbdx_unrotate(start, b->angular_now), inertia = b->desc.inertia;
    const isphpbd_vec3 momentum =
        isphpbdx_rotate(start, isphpbd_v3(own.x * inertia.x, own.y * inertia.y, own.z * inertia.z));
    isphx_pose pose = b->pose;
    int i, k;
    if (!(inertia.x > 0.0f && inertia.y > 0.0f && inertia.z > 0.0f)) return;
    for (i = 0; i < parts; ++i)
        for (k = 0; k < 5; ++k)
            pose = isphx_body_turn_axis(b, pose, momentum, order[k], (k == 2 ? 1.0f : 0.5f) * seconds / (float)parts);
    b->end.rotation = pose.rotation;
    b->angular_now = isphx_shortened(isphx_body_spin(b, pose.rotation, momentum), ISPHX_MAX_MOTION);
}

static void isphx_boundaries_advance(isph_fluid *f) {
    int a;
    f->now.drive = 0.0f;
    for (a = 0; a < f->active_count; ++a) {
        isphx_boundary *b = f->boundary + f->active[a];
        b->linear_now = isphx_shortened(b->linear_now, ISPHX_MAX_MOTION);
        b->angular_now = isphx_shortened(b->angular_now, ISPHX_MAX_MOTION);
        if (!(b->desc.mass > 0.0f))
            f->now.drive =
                isphpbdx_max(f->now.drive, isphx_boundary_speed(f, b, b->linear_now, b->angular_now));
        b->end = isphx_pose_advance(b->pose, b->linear_now, b->angular_now, f->now.seconds);
        b->end.position = isphx_shortened(b->end.position, ISPHX_MAX_PLACE);
        if (b->desc.mass > 0.0f) isphx_body_turn(b, f->now.seconds);
    }
}

/* The motion of this substep becomes the boundaries' state. None is left that isph_boundary_set_motion would refuse: a
   body of odd inertia can spin without bound. */
static void isphx_boundaries_commit(isph_fluid *f) {
    int a, k;
    for (a = 0; a < f->active_count; ++a) {
        isphx_boundary *b = f->boundary + f->active[a];
        b->pose = b->end;
        b->desc.linear_velocity = isphx_shortened(b->linear_now, ISPHX_MAX_MOTION);
        b->desc.angular_velocity = isphx_shortened(b->angular_now, ISPHX_MAX_MOTION);
        for (k = 0; k < 3; ++k) {
            if (isphx_finite_double(b->gain[k])) b->linear[k] += b->gain[k];
            if (isphx_finite_double(b->gain[3 + k])) b->angular[k] += b->gain[3 + k];
        }
        isphx_boundary_take(b);
    }
}

/* Adds an entry's impulse to its boundary. */
static void isphx_boundary_push(isphx_boundary *b, isphpbd_vec3 at, isphpbd_vec3 j) {
    const isphpbd_vec3 torque = isphpbdx_cross(isphpbdx_sub(at, b->pose.position), j);
    b->gain[0] += (double)j.x, b->gain[1] += (double)j.y, b->gain[2] += (double)j.z;
    b->gain[3] += (double)torque.x, b->gain[4] += (double)torque.y, b->gain[5] += (double)torque.z;
}

static void isphx_impulses_flush(void *ctx) {
    isph_fluid *f = (isph_fluid *)ctx;
    if (f->impulse_count > 0) f->coupler.impulses(f->coupler.user, f->impulse, f->impulse_count);
    f->impulse_count = 0;
}

static void isphx_deliver_entry(isph_fluid *f, int i, const isphx_entry *entry) {
    const isphpbd_vec3 at = isphx_vec(f->position + 4 * i);
    isph_wall_impulse *impulse = f->impulse + f->impulse_count;
    if (isphx_is_body(f, entry)) return; /* has it in its gain */
    if (entry->boundary >= 0) {
        isphx_boundary_push(f->boundary + entry->boundary, isphpbdx_madd(at, entry->normal, -entry->distance),
                            entry->impulse);
    } else if (f->coupler.impulses) {
        impulse->particle = i, impulse->tag = entry->tag;
        impulse->impulse = entry->impulse, impulse->position = at;
        if (++f->impulse_count == ISPHX_IMPULSES) isphx_impulses_flush(f);
    }
}

/* Hands out the impulses of this substep, in the order of the particles. */
static void isphx_deliver_task(void *ctx, int block) {
    isph_fluid *f = (isph_fluid *)ctx;
    const int end = isphpbdx_mini((block + 1) * ISPHX_BLOCK, f->count);
    int i, e;
    for (i = block * ISPHX_BLOCK; i < end; ++i)
        for (e = f->entry_first[i]; e < f->entry_first[i] + f->entry_count[i]; ++e)
            isphx_deliver_entry(f, i, f->entry + e);
}

static void isphx_stage_deliver(isph_fluid *f) {
    f->impulse_count = 0;
    if (!f->coupler.impulses && !f->coupler.again && !f->coupler.finish) { /* nobody who listens, or wants a say */
        isphx_post_beside(&f->machine, isphx_deliver_task, f, isphx_blocks(f->count), ISPHX_LIGHT);
        return;
    }
    isphx_post_ordered(&f->machine, isphx_deliver_task, f, isphx_blocks(f->count), ISPHX_LIGHT);
    isphx_then(&f->machine, isphx_impulses_flush, f);
}

/* Fastest particle, kinetic energy and density errors, by blocks. */
static void isphx_measure_task(void *ctx, int block) {
    isph_fluid *f = (isph_fluid *)ctx;
    const int begin = block * ISPHX_BLOCK, end = isphpbdx_mini(begin + ISPHX_BLOCK, f->count);
    double *out = f->partial + 8 * block;
    float fastest = 0.0f, dense = 0.0f;
    double energy = 0.0, error = 0.0, covered = 0.0, crowded = 0.0, compression = 0.0;
    int i;
    for (i = begin; i < end; ++i) {
        const isphpbd_vec3 u = isphx_vec(f->star + 4 * i);
        const float speed2 = isphpbdx_dot(u, u), e = f->spread[4 * i + 3] - 1.0f;
        fastest = isphpbdx_max(fastest, speed2);
        energy += 0.5 * (double)(speed2 * f->material_table[f->material[i]].density * f->volume);
        dense = isphpbdx_max(dense, e);
        compression += e > 0.0f ? (double)e : 0.0;
        if (f->shape[4 * i + 3] < ISPHX_COVERED) error += (double)isphpbdx_abs(e), covered += 1.0;
        crowded += isphx_is_crowded(f, i) ? 1.0 : 0.0;
    }
    out[0] = compression, out[1] = (double)fastest, out[2] = energy, out[3] = error, out[4] = covered,
    out[5] = (double)dense, out[6] = crowded;
}

static void isphx_measure_end(void *ctx) {
    isph_fluid *f = (isph_fluid *)ctx;
    double error = 0.0, covered = 0.0, energy = 0.0, fastest = 0.0, dense = 0.0, crowded = 0.0, quarantined = 0.0,
           compression = 0.0;
    int b;
    for (b = 0; b < isphx_blocks(f->count); ++b) {
        const double *part = f->partial + 8 * b;
        fastest = part[1] > fastest ? part[1] : fastest;
        energy += part[2], error += part[3], covered += part[4];
        dense = part[5] > dense ? part[5] : dense;
        crowded += part[6], quarantined += part[7], compression += part[0];
        f->flags |= f->block_flags[b];
    }
    f->stats.max_speed = sqrtf((float)fastest);
    f->stats.kinetic_energy = (float)energy;
    f->stats.density_error_mean = covered > 0.0 ? (float)(error / covered) : 0.0f;
    f->stats.density_error_max = (float)dense;
    f->stats.compression_mean = f->count > 0 ? (float)(compression / f->count) : 0.0f;
    f->stats.crowded = (int)crowded;
    f->stats.quarantined += (int)quarantined;
}

static void isphx_stage_measure(isph_fluid *f) {
    isphx_post_rows(f, isphx_measure_task, ISPHX_LIGHT);
    isphx_then(&f->machine, isphx_measure_end, f);
}

static void isphx_swap(float **a, float **b) {
    float *swap = *a;
    *a = *b, *b = swap;
}

static void isphx_slots_task(void *ctx, int block) {
    isph_fluid *f = (isph_fluid *)ctx;
    const int end = isphpbdx_mini((block + 1) * ISPHX_BLOCK, f->count);
    int i;
    for (i = block * ISPHX_BLOCK; i < end; ++i) f->slot_index[isphx_slot(f, f->state.id[i])] = i;
}

/* What the substep has made becomes the state; its arrays are the next one's working memory. */
static void isphx_stage_commit(isph_fluid *f) {
    isphx_state *state = &f->state;
    uint32_t *id = state->id, *user = state->user;
    uint8_t *material = state->material;
    if (f->count == 0) isphx_stage_drag(f), isphx_boundaries_advance(f); /* all that there is to do */
    isphx_boundaries_commit(f);
    if (f->count == 0) return;
    isphx_swap(&state->position, &f->next);
    isphx_swap(&state->velocity, &f->star);
    isphx_swap(&state->pair, &f->pair[0]);
    isphx_swap(&state->pressure, &f->pressure);
    isphx_swap(&state->density, &f->density);
    state->id = f->id, f->id = id;
    state->user = f->user, f->user = user;
    state->material = f->material, f->material = material;
    isphpbdx_run(&f->desc.parallel, isphx_slots_task, f, isphx_blocks(f->count));
    f->stats.total_substeps++;
    f->changes++;
}

static void isphx_list_active(isph_fluid *f) {
    int b;
    f->active_count = 0;
    for (b = 0; b < f->desc.boundary_capacity; ++b) {
        if (!f->boundary[b].alive) continue;
        f->active[f->active_count++] = b;
        memset(f->boundary[b].gain, 0, sizeof f->boundary[b].gain);
    }
}

static void isphx_stage_walls(isph_fluid *f) {
    int b, i;
    f->moment = f->next, f->mixed = f->star; /* which are idle until the viscosity and the prediction */
    for (b = 0; b < isphx_blocks(f->count); ++b) f->block_flags[b] = 0;
    for (i = f->count; i < isphx_padded(f->count); ++i) isphx_rows_pad(f, i);
    if (f->coupler.begin && f->rounds == 0)
        f->coupler.begin(f->coupler.user, f->position, f->velocity, f->count, f->now.seconds);
    isphx_post(&f->machine, isphx_walls_task, f, isphx_wall_blocks(f->count), ISPHX_HEAVY);
}

static void isphx_tait(void *ctx) {
    isph_fluid *f = (isph_fluid *)ctx;
    isphx_post_rows(f, isphx_tait_task, ISPHX_MEDIUM);
}

static void isphx_stage_predict(isph_fluid *f) {
    if (!isphx_weakly_compressible(f)) {
        isphx_post_rows(f, isphx_predict_task, ISPHX_MEDIUM);
        return;
    }
    isphx_post_rows(f, isphx_equation_task, ISPHX_LIGHT);
    isphx_then(&f->machine, isphx_tait, f);
}

static void isphx_stage_move(isph_fluid *f) {
    int i;
    for (i = 0; i < f->count && !f->now.squeezed; ++i) f->now.squeezed = f->density[i] > ISPHX_SQUEEZED;
    isphx_boundaries_advance(f);
    isphx_post_rows(f, isphx_move_task, ISPHX_HEAVY);
}

static void isphx_again(isph_fluid *f);
#define ISPHX_MOST_ROUNDS 100 /* a coupler that always asks for another must not hold the fluid for ever */

static void isphx_stage_finish(isph_fluid *f) {
    const isph_coupler *c = &f->coupler;
    f->finished = c->again || c->finish;
    if (c->again && c->again(c->user, f->position, f->next, f->star, f->count, f->now.seconds) &&
        f->rounds + 1 < ISPHX_MOST_ROUNDS) {
        f->finished = false;
        isphx_again(f);
        return;
    }
    if (c->finish) c->finish(c->user, f->position, f->next, f->star, f->count, f->now.seconds);
}

/* The coupler and bodies may have pushed particles: faster than max_speed is clamped, and what is not a place any more
   goes back to where it was, at rest. */
static void isphx_check_task(void *ctx, int block) {
    isph_fluid *f = (isph_fluid *)ctx;
    const int end = isphpbdx_mini((block + 1) * ISPHX_BLOCK, f->count);
    int i;
    for (i = block * ISPHX_BLOCK; i < end; ++i) {
        const isphpbd_vec3 u = isphx_vec(f->star + 4 * i), slower = isphx_limit(u, f->max_speed);
        if (isphx_points_ok(f->next + 4 * i, 3 * sizeof(float), 1, f->dx) &&
            isphx_points_ok(f->star + 4 * i, 3 * sizeof(float), 1, 1.0f)) {
            if (slower.x == u.x && slower.y == u.y && slower.z == u.z) continue;
            isphx_set3(f->star + 4 * i, slower.x, slower.y, slower.z);
            f->block_flags[block] |= ISPH_STEP_SPEED_CLAMPED;
            continue;
        }
        memcpy(f->next + 4 * i, f->position + 4 * i, 3 * sizeof(float));
        isphx_set3(f->star + 4 * i, 0.0f, 0.0f, 0.0f);
        f->block_flags[block] |= ISPH_STEP_QUARANTINED;
        f->partial[8 * block + 7] += 1.0;
    }
}

static void isphx_stage_check(isph_fluid *f) {
    if (f->finished || f->bodies) isphx_post_rows(f, isphx_check_task, ISPHX_LIGHT);
}

/* A substep from its beginning to its end. Until the last stage the state between substeps is left alone. */
typedef struct isphx_stage {
    void (*start)(isph_fluid *f); /* posts its work, if it has any */
    int timer;
} isphx_stage;
static const isphx_stage isphx_stages[] = {
    {isphx_stage_cells, ISPHX_NEIGHBOURS},    {isphx_stage_sort, ISPHX_NEIGHBOURS},
    {isphx_stage_walls, ISPHX_WALL_SEARCH},   {isphx_stage_bodies, ISPHX_WALL_SEARCH},
    {isphx_stage_rows, ISPHX_NEIGHBOURS},     {isphx_stage_predict, ISPHX_VISCOSITY},
    {isphx_stage_viscosity, ISPHX_VISCOSITY}, {isphx_stage_drag, ISPHX_VISCOSITY},
    {isphx_stage_coarsen, ISPHX_PRESSURE},    {isphx_stage_lift, ISPHX_PRESSURE},
    {isphx_stage_divergence, ISPHX_PRESSURE}, {isphx_stage_vessels, ISPHX_PRESSURE},
    {isphx_stage_solve, ISPHX_PRESSURE},      {isphx_stage_lower, ISPHX_PRESSURE},
    {isphx_stage_pressures, ISPHX_PRESSURE},  {isphx_stage_push, ISPHX_PRESSURE},
    {isphx_stage_move, ISPHX_MOVE},           {isphx_stage_balance, ISPHX_MOVE},
    {isphx_stage_contact, ISPHX_MOVE},        {isphx_stage_deliver, ISPHX_MOVE},
    {isphx_stage_finish, ISPHX_MOVE},         {isphx_stage_check, ISPHX_MOVE},
    {isphx_stage_measure, ISPHX_MOVE},        {isphx_stage_commit, ISPHX_MOVE},
};
#define ISPHX_STAGES ((int)(sizeof isphx_stages / sizeof isphx_stages[0]))

static bool isphx_pending(const isph_fluid *f) { return f->under_way; }

/* Gives the time since the last look to the stage that runs. */
static void isphx_lap(isph_fluid *f) {
    const uint64_t now = isphpbdx_ticks(&f->desc.clock);
    f->ticks[isphx_stages[isphpbdx_maxi(f->stage - 1, 0)].timer] += now - f->lap;
    f->lap = now;
}

/* Back to where the walls are looked at, with bodies as they were at the start. */
static void isphx_again(isph_fluid *f) {
    isphx_lap(f);
    f->rounds++;
    while (isphx_stages[f->stage].start != isphx_stage_walls) --f->stage;
    isphx_bodies_begin(f);
}

static void isphx_enter_stage(void *ctx) {
    isph_fluid *f = (isph_fluid *)ctx;
    isphx_lap(f);
    isphx_stages[f->stage++].start(f);
}

/* Goes on until stop() answers true or the substep is done; which of the two it returns. */
static bool isphx_drive(isph_fluid *f, bool (*stop)(void *user), void *user) {
    bool going = true;
    f->stepping = true;
    f->lap = isphpbdx_ticks(&f->desc.clock);
    while (going && f->under_way) {
        if (!isphx_busy(&f->machine)) isphx_then(&f->machine, isphx_enter_stage, f);
        going = isphx_run_until(&f->machine, stop, user);
        f->under_way = f->stage < ISPHX_STAGES || isphx_busy(&f->machine);
    }
    isphx_lap(f);
    f->stepping = false;
    f->finished = f->finished && f->under_way;
    return !f->under_way;
}

static void isphx_substep_start(isph_fluid *f, float seconds) {
    memset(&f->machine, 0, sizeof f->machine);
    f->machine.parallel = &f->desc.parallel;
    isphx_now(f, seconds);
    isphx_list_active(f);
    isphx_bodies_begin(f);
    f->stage = f->count > 0 ? 0 : ISPHX_STAGES - 1; /* walls go on all the same */
    f->under_way = true;
    f->finished = f->hurry = false;
    f->rounds = f->stats.pressure_iterations = f->stats.density_iterations = 0;
}

/* The fastest boundary, with its spin. */
static float isphx_fastest_boundary(const isph_fluid *f) {
    float fastest = 0.0f;
    int b;
    for (b = 0; b < f->desc.boundary_capacity; ++b) {
        const isphx_boundary *boundary = f->boundary + b;
        if (!boundary->alive) continue;
        fastest = isphpbdx_max(fastest, isphx_boundary_speed(f, boundary, boundary->desc.linear_velocity,
                                                             boundary->desc.angular_velocity));
    }
    return fastest;
}

static float isphx_fastest_particle(const isph_fluid *f) {
    float fastest = 0.0f;
    int i;
    for (i = 0; i < f->count; ++i) {
        const isphpbd_vec3 u = isphx_vec(f->state.velocity + 4 * i);
        fastest = isphpbdx_max(fastest, isphpbdx_dot(u, u));
    }
    return isphpbdx_min(sqrtf(fastest), f->max_speed);
}

/* Longest substep that the speed of things allows. */
static float isphx_longest_substep(const isph_fluid *f, float fastest) {
    float most = f->max_substep;
    fastest += 0.5f * isphpbdx_length(f->desc.gravity) * f->max_substep;
    if (fastest * most > f->desc.cfl * f->dx) most = f->desc.cfl * f->dx / fastest;
    if (f->desc.solver == ISPH_SOLVER_WEAKLY_COMPRESSIBLE)
        most = isphpbdx_min(most, ISPHX_COURANT * f->reach / (isphx_sound_speed(f) + fastest));
    return most;
}

/* What is left is divided evenly. */
static float isphx_choose_substep(const isph_fluid *f, float left, float fastest, int most, uint32_t *flags) {
    float n = left / isphx_longest_substep(f, isphpbdx_max(isphx_fastest_boundary(f), fastest));
    if (n > (float)most) *flags |= ISPH_STEP_SUBSTEPS_CAPPED;
    n = isphpbdx_clamp(n, 1.0f, (float)most);
    return left / (float)(int)(n + 0.999f);
}

ISPHPBD_API float isph_fluid_substep_seconds(const isph_fluid *fluid, float left, float fastest, int most,
                                             uint32_t *flags) {
    uint32_t unused = 0;
    if (!fluid || !isphx_in(left, 1e-9f, 1.0f) || !isphx_in(fastest, 0.0f, 1e9f) || most < 1) return 0.0f;
    fastest = isphpbdx_max(fastest, isphx_fastest_particle(fluid));
    return isphx_choose_substep(fluid, left, fastest, most, flags ? flags : &unused);
}

/* The statistics and flags of a step begin here. */
static void isphx_step_begin(isph_fluid *f) {
    f->before = f->stats;
    f->flags = 0;
    memset(f->ticks, 0, sizeof f->ticks);
    f->stats.viscosity_iterations = f->stats.quarantined = 0;
    f->stats.max_speed = isphx_fastest_particle(f);
}

/* Each kind of flag is worth one message in the life of a fluid; later ones only the flags tell. */
static void isphx_warn(isph_fluid *f) {
    static const char *const text[] = {"a solve stopped at max_iterations",
                                       "max_substeps is too small for the speed: things are held back",
                                       "too many particles in one place: they are being spread",
                                       "particles not finite or too far away were put to rest",
                                       "particles faster than max_speed were slowed down to it",
                                       "a particle met more than 6 walls: the farthest were ignored"};
    int k;
    for (k = 0; k < (int)(sizeof text / sizeof *text); ++k)
        if (f->flags & ~f->told & 1u << k) isphpbdx_log(&f->desc.logger, ISPHPBD_LOG_WARNING, ISPHPBD_OK, text[k]);
    f->told |= f->flags;
}

static uint32_t isphx_step_end(isph_fluid *f, int substeps) {
    int k;
    f->stats.substeps = substeps;
    f->stats.ticks_neighbours = f->ticks[ISPHX_NEIGHBOURS], f->stats.ticks_walls = f->ticks[ISPHX_WALL_SEARCH];
    f->stats.ticks_viscosity = f->ticks[ISPHX_VISCOSITY], f->stats.ticks_pressure = f->ticks[ISPHX_PRESSURE];
    f->stats.ticks_move = f->ticks[ISPHX_MOVE];
    for (k = 0, f->stats.ticks_total = 0; k < ISPHX_TIMERS; ++k) f->stats.ticks_total += f->ticks[k];
    if (f->flags & ~f->told) isphx_warn(f);
    return f->flags;
}

/* Back to where the substep began: nothing of the state has changed, but boundaries may have got a motion. */
static void isphx_abandon(isph_fluid *f) {
    int b;
    f->under_way = false;
    f->stats = f->before;
    f->flags = 0;
    for (b = 0; b < f->desc.boundary_capacity; ++b) isphx_boundary_take(f->boundary + b);
}

/* What the coupler has finished is done. */
static void isphx_settle(isph_fluid *f) {
    if (!f->under_way) return;
    if (!f->finished) isphx_abandon(f);
    else if (isphx_drive(f, NULL, NULL)) (void)isphx_step_end(f, 1);
}

static bool isphx_step_allowed(const isph_fluid *f, float seconds, isphpbd_result *why) {
    isphx_why(why, ISPHPBD_BAD_ARGUMENT);
    if (!f || !isphx_in(seconds, 1e-9f, 1.0f)) return false;
    isphx_why(why, isphx_locked(f) ? ISPHPBD_LOCKED : ISPHPBD_OK);
    return !isphx_locked(f);
}

ISPHPBD_API isphpbd_result isph_fluid_substep_begin(isph_fluid *fluid, float seconds) {
    isphpbd_result why;
    if (!isphx_step_allowed(fluid, seconds, &why)) return why;
    isphx_settle(fluid);
    isphx_step_begin(fluid);
    isphx_substep_start(fluid, seconds);
    return ISPHPBD_OK;
}

ISPHPBD_API bool isph_fluid_substep_continue(isph_fluid *fluid, bool (*stop)(void *user), void *user) {
    if (!fluid || isphx_locked(fluid) || !fluid->under_way) return false;
    if (!isphx_drive(fluid, stop, user)) return false;
    (void)isphx_step_end(fluid, 1);
    return true;
}

ISPHPBD_API isphpbd_result isph_fluid_substep_hurry(isph_fluid *fluid) {
    if (!fluid) return ISPHPBD_BAD_ARGUMENT;
    if (isphx_locked(fluid)) return ISPHPBD_LOCKED;
    fluid->hurry = true;
    return ISPHPBD_OK;
}

ISPHPBD_API isphpbd_result isph_fluid_substep_abandon(isph_fluid *fluid) {
    if (!fluid) return ISPHPBD_BAD_ARGUMENT;
    if (isphx_locked(fluid)) return ISPHPBD_LOCKED;
    isphx_settle(fluid);
    return ISPHPBD_OK;
}

ISPHPBD_API bool isph_fluid_substep_pending(const isph_fluid *fluid) { return fluid && fluid->under_way; }

ISPHPBD_API uint32_t isph_fluid_flags(const isph_fluid *fluid) { return fluid ? fluid->flags : 0; }

ISPHPBD_API uint32_t isph_fluid_substep(isph_fluid *fluid, float seconds, isphpbd_result *why) {
    const isphpbd_result result = isph_fluid_substep_begin(fluid, seconds);
    isphx_why(why, result);
    if (result != ISPHPBD_OK) return 0;
    (void)isphx_drive(fluid, NULL, NULL);
    return isphx_step_end(fluid, 1);
}

ISPHPBD_API uint32_t isph_fluid_step(isph_fluid *fluid, float seconds, isphpbd_result *why) {
    float left = seconds;
    int done;
    if (!isphx_step_allowed(fluid, seconds, why)) return 0;
    isphx_settle(fluid);
    isphx_step_begin(fluid);
    for (done = 0; done < fluid->desc.max_substeps && left > 0.0f; ++done) {
        const int most = fluid->desc.max_substeps - done;
        const float substep = isphx_choose_substep(fluid, left, fluid->stats.max_speed, most, &fluid->flags);
        isphx_substep_start(fluid, substep);
        (void)isphx_drive(fluid, NULL, NULL);
        left = substep > 0.999f * left ? 0.0f : left - substep;
    }
    return isphx_step_end(fluid, done);
}

ISPHPBD_API isph_stats isph_fluid_stats(const isph_fluid *fluid) {
    isph_stats stats;
    memset(&stats, 0, sizeof stats);
    if (!fluid) return stats;
    stats = fluid->under_way ? fluid->before : fluid->stats;
    stats.particles = fluid->count;
    stats.boundaries = fluid->boundary_count;
    stats.triangles = fluid->triangle_count;
    stats.bytes = fluid->bytes;
    return stats;
}

/* [snapshot] Everything that affects the future, in a fixed little-endian form: header, materials, boundaries, slots,
   particles (45 bytes each), checksum. A snapshot is read twice: once to check, once to apply. */
#define ISPHX_SNAPSHOT_MAGIC   0x50534931u /* "1ISP" */
#define ISPHX_SNAPSHOT_VERSION 3u
#define ISPHX_PARTICLE_BYTES   45u
#define ISPHX_BOUNDARY_BYTES   129u /* of one that is alive */

typedef struct isphx_stream { /* writes where out is set, reads where in is set, else only counts */
    unsigned char *out;
    const unsigned char *in;
    size_t used;
    uint64_t checksum;
} isphx_stream;

static void isphx_stream_byte(isphx_stream *s, uint8_t *value) {
    if (s->in) *value = s->in[s->used];
    if (s->out) s->out[s->used] = *value;
    s->checksum = isphpbdx_hash_word(s->checksum, *value);
    s->used++;
}
static void isphx_stream_u32(isphx_stream *s, uint32_t *value) {
    if (s->in) {
        const unsigned char *p = s->in + s->used;
        *value = (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
    }
    if (s->out) {
        unsigned char *p = s->out + s->used;
        p[0] = (unsigned char)(*value & 255u), p[1] = (unsigned char)(*value >> 8 & 255u);
        p[2] = (unsigned char)(*value >> 16 & 255u), p[3] = (unsigned char)(*value >> 24);
    }
    s->checksum = isphpbdx_hash_word(s->checksum, *value);
    s->used += 4;
}
static void isphx_stream_int(isphx_stream *s, int *value) {
    uint32_t bits = s->in ? 0u : (uint32_t)*value;
    isphx_stream_u32(s, &bits);
    if (s->in) *value = bits <= 0x7fffffffu ? (int)bits : -(int)(~bits) - 1;
}
/* values: an array or a structure of floats. */
static void isphx_stream_floats(isphx_stream *s, void *values, int count) {
    unsigned char *at = (unsigned char *)values;
    uint32_t bits = 0;
    int i;
    for (i = 0; i < count; ++i, at += sizeof bits) {
        if (!s->in) memcpy(&bits, at, sizeof bits);
        isphx_stream_u32(s, &bits);
        if (s->in) memcpy(at, &bits, sizeof bits);
    }
}
static void isphx_stream_u64(isphx_stream *s, uint64_t *value) {
    const uint64_t now = s->in ? 0 : *value;
    uint32_t low = (uint32_t)(now & 0xffffffffu), high = (uint32_t)(now >> 32);
    isphx_stream_u32(s, &low);
    isphx_stream_u32(s, &high);
    if (s->in) *value = (uint64_t)high << 32 | low;
}
static void isphx_stream_doubles(isphx_stream *s, double *values, int count) {
    int i;
    for (i = 0; i < count; ++i) {
        uint64_t bits = 0;
        if (!s->in) memcpy(&bits, values + i, sizeof bits);
        isphx_stream_u64(s, &bits);
        if (s->in) memcpy(values + i, &bits, sizeof bits);
    }
}

typedef struct isphx_header { /* what has to be known, and to match, before anything is applied */
    uint32_t magic, version, layout, settings;
    int count, material_count, slots_used, free_count;
} isphx_header;
#define ISPHX_HEADER_BYTES 32u

/* Digest of the parts of the desc that shape the state, */
static uint32_t isphx_layout_digest(const isph_fluid *f) {
    uint64_t hash = isphpbdx_hash_words(0x6c61u, &f->desc.spacing, 1);
    hash = isphpbdx_hash_words(hash, &f->desc.support, 1);
    hash = isphpbdx_hash_word(hash, (uint32_t)f->desc.particle_capacity);
    hash = isphpbdx_hash_word(hash, (uint32_t)f->desc.boundary_capacity);
    hash = isphpbdx_hash_word(hash, (uint32_t)f->desc.material_capacity);
    return (uint32_t)(hash >> 32);
}

/* and of all others that the next step depends on and that no call changes. */
static uint32_t isphx_settings_digest(const isph_fluid *f) {
    const isph_fluid_desc *d = &f->desc;
    const float numbers[4] = {d->cfl, d->max_substep_seconds, d->sound_speed, d->max_speed};
    uint64_t hash = isphpbdx_hash_words(0x7365u, numbers, 4);
    hash = isphpbdx_hash_word(hash, (uint32_t)d->solver);
    hash = isphpbdx_hash_word(hash, (uint32_t)d->linear_solver);
    hash = isphpbdx_hash_word(hash, (uint32_t)d->preconditioner);
    hash = isphpbdx_hash_word(hash, (d->rigid_local ? 1u : 0u) | (d->density_projection ? 2u : 0u));
    return (uint32_t)(hash >> 32);
}

static void isphx_stream_header(isphx_stream *s, isphx_header *h) {
    isphx_stream_u32(s, &h->magic);
    isphx_stream_u32(s, &h->version);
    isphx_stream_u32(s, &h->layout);
    isphx_stream_u32(s, &h->settings);
    isphx_stream_int(s, &h->count);
    isphx_stream_int(s, &h->material_count);
    isphx_stream_int(s, &h->slots_used);
    isphx_stream_int(s, &h->free_count);
}

/* A boundary of the snapshot; its shape is only named by a hash: the same one has to be there already, in the same
   slot. Handles stay as they are. */
static void isphx_stream_boundary(isphx_stream *s, isphx_boundary *b) {
    uint8_t alive = b->alive ? 1u : 0u;
    isphx_stream_byte(s, &alive);
    b->alive = alive == 1u;
    if (!b->alive) return;
    isphx_stream_floats(s, &b->pose.position, 3);
    isphx_stream_floats(s, &b->pose.rotation, 4);
    isphx_stream_floats(s, &b->desc.linear_velocity, 3);
    isphx_stream_floats(s, &b->desc.angular_velocity, 3);
    isphx_stream_u32(s, &b->desc.material_mask);
    isphx_stream_floats(s, &b->desc.mass, 1);
    isphx_stream_floats(s, &b->desc.inertia, 3);
    isphx_stream_u64(s, &b->shape_hash);
    isphx_stream_doubles(s, b->linear, 3);
    isphx_stream_doubles(s, b->angular, 3);
}

static void isphx_stream_settings(isphx_stream *s, isph_fluid *f) {
    uint8_t enabled = f->solver_enabled ? 1u : 0u;
    isphx_stream_floats(s, &f->desc.gravity, 3);
    isphx_stream_floats(s, &f->desc.tolerance, 1);
    isphx_stream_int(s, &f->desc.max_iterations);
    isphx_stream_int(s, &f->desc.max_substeps);
    isphx_stream_byte(s, &enabled);
    f->solver_enabled = enabled != 0;
    isphx_stream_u64(s, &f->stats.total_substeps);
}

static void isphx_stream_particle(isphx_stream *s, isph_fluid *f, int i) {
    isphx_stream_floats(s, f->state.position + 4 * i, 3);
    isphx_stream_floats(s, f->state.velocity + 4 * i, 3);
    isphx_stream_floats(s, f->state.pair + 2 * i, 1); /* the pressure start; the density solve starts at 0 */
    isphx_stream_floats(s, f->state.pressure + i, 1);
    isphx_stream_floats(s, f->state.density + i, 1);
    isphx_stream_u32(s, f->state.id + i);
    isphx_stream_u32(s, f->state.user + i);
    isphx_stream_byte(s, f->state.material + i);
}

/* The whole state in one order, for writing, reading, counting and hashing alike. */
static void isphx_stream_state(isphx_stream *s, isph_fluid *f) {
    int i;
    isphx_stream_settings(s, f);
    for (i = 0; i < f->material_count; ++i) isphx_stream_floats(s, &f->material_table[i], 4);
    for (i = 0; i < f->desc.boundary_capacity; ++i) {
        isphx_boundary shown = isphx_boundary_shown(f->boundary + i);
        isphx_stream_boundary(s, s->in ? f->boundary + i : &shown);
    }
    for (i = 0; i < f->slots_used; ++i) isphx_stream_u32(s, f->slot_generation + i);
    for (i = 0; i < f->free_count; ++i) isphx_stream_int(s, f->free_slot + i);
    for (i = 0; i < f->count; ++i) isphx_stream_particle(s, f, i);
}

static isphx_header isphx_header_of(const isph_fluid *f) {
    isphx_header h;
    h.magic = ISPHX_SNAPSHOT_MAGIC, h.version = ISPHX_SNAPSHOT_VERSION, h.layout = isphx_layout_digest(f);
    h.settings = isphx_settings_digest(f);
    h.count = f->count, h.material_count = f->material_count, h.slots_used = f->slots_used,
    h.free_count = f->free_count;
    return h;
}

/* Writing and counting leave the fluid as it is; the streams take it non-const because reading does not. */
static isphx_stream isphx_stream_out(const isph_fluid *fluid, unsigned char *out) {
    isphx_stream s = {NULL, NULL, 0, UINT64_C(0x6973706831)};
    isphx_header h = isphx_header_of(fluid);
    union {
        const isph_fluid *in;
        isph_fluid *out;
    } access;
    access.in = fluid;
    s.out = out;
    isphx_stream_header(&s, &h);
    isphx_stream_state(&s, access.out);
    return s;
}

ISPHPBD_API uint64_t isph_fluid_hash(const isph_fluid *fluid) {
    return fluid ? isphx_stream_out(fluid, NULL).checksum : 0;
}

ISPHPBD_API size_t isph_fluid_save(const isph_fluid *fluid, void *bytes, size_t capacity) {
    isphx_stream s;
    uint64_t checksum;
    size_t needed;
    if (!fluid) return 0;
    s = isphx_stream_out(fluid, NULL);
    needed = s.used + 8;
    if (!bytes || capacity < needed) return needed;
    checksum = s.checksum;
    s = isphx_stream_out(fluid, (unsigned char *)bytes);
    isphx_stream_u64(&s, &checksum);
    return needed;
}

/* Reads the boundaries of a snapshot; false when they do not belong to this fluid. */
static bool isphx_boundaries_match(const isph_fluid *f, isphx_stream *s, size_t size) {
    int i, k;
    for (i = 0; i < f->desc.boundary_capacity; ++i) {
        isphx_boundary b;
        memset(&b, 0, sizeof b);
        if (size - s->used < 1 || (s->in[s->used] == 1u && size - s->used < ISPHX_BOUNDARY_BYTES)) return false;
        isphx_stream_boundary(s, &b);
        if (b.alive != f->boundary[i].alive) return false;
        if (!b.alive) continue;
        if (b.shape_hash != f->boundary[i].shape_hash) return false;
        for (k = 0; k < 3; ++k)
            if (!isphx_finite_double(b.linear[k]) || !isphx_finite_double(b.angular[k])) return false;
        if (!isphx_motion_ok(b.pose.position, b.pose.rotation, b.desc.linear_velocity, b.desc.angular_velocity) ||
            !isphx_mass_ok(f->boundary[i].desc.shape, b.desc.mass, b.desc.inertia))
            return false;
    }
    return true;
}

/* Are ids, slots and the free list a permutation of each other? Uses the scratch, changes nothing else. */
static bool isphx_slots_match(isph_fluid *f, const isphx_header *h, isphx_stream s) {
    unsigned char *seen = f->scratch;
    const isphx_stream generations = s;
    int i;
    memset(seen, 0, (size_t)h->slots_used);
    s.used += 4 * (size_t)h->slots_used;
    for (i = 0; i < h->free_count; ++i) {
        int slot = 0;
        isphx_stream_int(&s, &slot);
        if (slot < 0 || slot >= h->slots_used || seen[slot]++) return false;
    }
    for (i = 0; i < h->count; ++i) {
        isphx_stream at = s;
        uint32_t id = 0, generation = 0, slot;
        at.used += (size_t)i * ISPHX_PARTICLE_BYTES + 36;
        isphx_stream_u32(&at, &id);
        slot = isphx_slot(f, id);
        if (slot >= (uint32_t)h->slots_used || seen[slot]++) return false;
        at = generations;
        at.used += 4 * (size_t)slot;
        isphx_stream_u32(&at, &generation);
        if (id >> f->slot_bits != generation) return false;
        at = s;
        at.used += (size_t)i * ISPHX_PARTICLE_BYTES + 44;
        if (s.in[at.used] >= h->material_count) return false;
    }
    return true;
}

static bool isphx_values_match(const isph_fluid *f, const isphx_header *h, isphx_stream s) {
    float v[9];
    int i, k;
    memset(v, 0, sizeof v);
    s.used += 4 * ((size_t)h->slots_used + (size_t)h->free_count);
    for (i = 0; i < h->count; ++i) {
        isphx_stream at = s;
        at.used += (size_t)i * ISPHX_PARTICLE_BYTES;
        isphx_stream_floats(&at, v, 9);
        for (k = 0; k < 9; ++k)
            if (!isphpbdx_finite(v[k])) return false;
        if (!isphx_points_ok(v, 3 * sizeof(float), 1, f->dx)) return false;
        if (!isphx_points_ok(v + 3, 3 * sizeof(float), 1, 4.0f)) return false; /* 2^20 m/s: max_speed is less */
        if (isphpbdx_abs(v[6]) > ISPHX_MAX_START) return false;
    }
    return true;
}

/* The checksum over the words in stream order, without applying them. */
static bool isphx_snapshot_checksum(const isph_fluid *f, const unsigned char *in, const isphx_header *h) {
    isphx_stream s = {NULL, NULL, 0, UINT64_C(0x6973706831)};
    isphx_header header;
    uint64_t stored = 0, sum;
    uint32_t word = 0;
    uint8_t byte = 0;
    int i, k;
    memset(&header, 0, sizeof header);
    s.in = in;
    isphx_stream_header(&s, &header);
    for (i = 0; i < 6; ++i) isphx_stream_u32(&s, &word);
    isphx_stream_byte(&s, &byte);
    for (i = 0; i < 2 + 4 * h->material_count; ++i) isphx_stream_u32(&s, &word);
    for (i = 0; i < f->desc.boundary_capacity; ++i) {
        isphx_boundary b;
        memset(&b, 0, sizeof b);
        isphx_stream_boundary(&s, &b);
    }
    for (i = 0; i < h->slots_used + h->free_count; ++i) isphx_stream_u32(&s, &word);
    for (i = 0; i < h->count; ++i) {
        for (k = 0; k < 11; ++k) isphx_stream_u32(&s, &word);
        isphx_stream_byte(&s, &byte);
    }
    sum = s.checksum;
    isphx_stream_u64(&s, &stored);
    return stored == sum;
}

/* Is the image of a fluid like this one? In words what is not, or NULL. */
static const char *isphx_header_fault(const isph_fluid *f, const isphx_header *h) {
    if (h->magic != ISPHX_SNAPSHOT_MAGIC) return "not a snapshot of a fluid";
    if (h->version != ISPHX_SNAPSHOT_VERSION) return "the snapshot is of another version";
    if (h->layout != isphx_layout_digest(f)) return "the snapshot is of another spacing, support or capacity";
    if (h->settings != isphx_settings_digest(f)) return "the snapshot is of other settings in isph_fluid_desc";
    if (h->count < 0 || h->count > f->desc.particle_capacity || h->material_count < 0 ||
        h->material_count > f->desc.material_capacity || h->slots_used < h->count ||
        h->slots_used > f->desc.particle_capacity || h->free_count != h->slots_used - h->count)
        return "the snapshot is damaged";
    return NULL;
}

static bool isphx_materials_match(isphx_stream *s, int count) {
    float numbers[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    int i;
    for (i = 0; i < count; ++i) {
        isphx_stream_floats(s, numbers, 4);
        if (!isphx_in(numbers[0], 1e-3f, 1e6f) || !isphx_in(numbers[1], 0.0f, 1e6f) ||
            !isphx_in(numbers[2], 1e-6f, 1e6f) || !isphx_in(numbers[3], 0.0f, 1e4f))
            return false;
    }
    return true;
}

/* What is wrong with an image, from its header to its last number, in words; or NULL. */
static const char *isphx_snapshot_fault(isph_fluid *f, const unsigned char *in, size_t size, isphx_header *h) {
    static const char *const damaged = "the snapshot is damaged";
    isphx_stream s = {NULL, NULL, 0, 0};
    const size_t settings = 3 * 4 + 4 + 4 + 4 + 1 + 8;
    const char *fault;
    size_t rest;
    float numbers[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    int limits[2] = {0, 0};
    s.in = in;
    if (size < ISPHX_HEADER_BYTES + settings + 8) return damaged;
    isphx_stream_header(&s, h);
    fault = isphx_header_fault(f, h);
    if (fault) return fault;
    isphx_stream_floats(&s, numbers, 4);
    isphx_stream_int(&s, &limits[0]);
    isphx_stream_int(&s, &limits[1]);
    if (!isphx_gravity_ok(isphx_vec(numbers)) || isphx_budget_fault(limits[0], limits[1], numbers[3])) return damaged;
    s.used += 9;
    if (size - s.used < 16 * (size_t)h->material_count || !isphx_materials_match(&s, h->material_count)) return damaged;
    if (!isphx_boundaries_match(f, &s, size)) return "the snapshot is damaged, or of other boundaries";
    rest = 4 * ((size_t)h->slots_used + (size_t)h->free_count) + ISPHX_PARTICLE_BYTES * (size_t)h->count + 8;
    return size - s.used == rest && isphx_slots_match(f, h, s) && isphx_values_match(f, h, s) &&
                   isphx_snapshot_checksum(f, in, h)
               ? NULL
               : damaged;
}

ISPHPBD_API isphpbd_result isph_fluid_load(isph_fluid *fluid, const void *bytes, size_t size) {
    isphx_stream s = {NULL, NULL, 0, 0};
    isphx_header h;
    const char *fault;
    int i;
    if (!fluid || !bytes) return ISPHPBD_BAD_ARGUMENT;
    if (isphx_locked(fluid)) return ISPHPBD_LOCKED;
    memset(&h, 0, sizeof h);
    fault = isphx_snapshot_fault(fluid, (const unsigned char *)bytes, size, &h);
    if (fault) return isphx_refuse(&fluid->desc.logger, ISPHPBD_BAD_SNAPSHOT, fault);
    isphx_settle(fluid);
    fluid->changes++;
    s.in = (const unsigned char *)bytes;
    isphx_stream_header(&s, &h);
    fluid->count = h.count, fluid->material_count = h.material_count;
    fluid->slots_used = h.slots_used, fluid->free_count = h.free_count;
    isphx_stream_state(&s, fluid);
    for (i = 0; i < fluid->slots_used; ++i) fluid->slot_index[i] = -1;
    for (i = 0; i < fluid->count; ++i) {
        fluid->slot_index[isphx_slot(fluid, fluid->state.id[i])] = i;
        fluid->state.position[4 * i + 3] = fluid->state.velocity[4 * i + 3] = 0.0f;
        fluid->state.pair[2 * i + 1] = 0.0f;
    }
    isphx_fluid_derive(fluid);
    return ISPHPBD_OK;
}

#undef ISPHX_AHEAD
#undef ISPHX_PI
#undef ISPHX_HOT
#undef ISPHX_CELLS_PER_RADIUS
#undef ISPHX_MIN_DIM_FAST
#undef ISPHX_MIN_DIM_SLOW
#undef ISPHX_FAR
#undef ISPHX_MAX_START
#undef ISPHX_MOST_ROUNDS
#undef ISPHX_MAX_RUNS
#undef ISPHX_COOKIE_GRID
#undef ISPHX_MAX_POINTS
#undef ISPHX_POINTS
#undef ISPHX_LANES
#undef ISPHX_BLOCK
#undef ISPHX_NARROW_ROWS
#undef ISPHX_COARSE_LINKS
#undef ISPHX_COARSE_ROWS
#undef ISPHX_COARSE_FACTOR
#undef ISPHX_COARSE_BLOCK
#undef ISPHX_COARSE_SIZES
#undef ISPHX_COOKIE_MATRIX
#undef ISPHX_COOKIE_SOLVE
#undef ISPHX_TABLE
#undef ISPHX_WALLS
#undef ISPHX_WALL_BLOCK
#undef ISPHX_SLANT
#undef ISPHX_GROUP
#undef ISPHX_NEARBY
#undef ISPHX_STRETCH
#undef ISPHX_CROWD_ATTEMPTS
#undef ISPHX_WALLS_PER_BLOCK
#undef ISPHX_CG_HURRIED
#undef ISPHX_MEMBERS
#undef ISPHX_LINK_CELLS
#undef ISPHX_STAGES
#undef ISPHX_IMPULSES
#undef ISPHX_LIST
#undef ISPHX_FREE_SURFACE_BAND
#undef ISPHX_FREE_SURFACE_WIDTH
#undef ISPHX_HOLE
#undef ISPHX_FLAT_SURFACE
#undef ISPHX_AIR
#undef ISPHX_COVERED
#undef ISPHX_SECOND_SHARE
#undef ISPHX_OPEN
#undef ISPHX_SQUEEZED
#undef ISPHX_CRUSHED
#undef ISPHX_PRESSURE_CAP
#undef ISPHX_RELAXATION
#undef ISPHX_SMOOTHING
#undef ISPHX_SHIFT
#undef ISPHX_SHIFT_MOST
#undef ISPHX_PROJECTION_REACH
#undef ISPHX_SKIN_FRICTION
#undef ISPHX_IMPLICIT_VISCOSITY
#undef ISPHX_COOKIE_FLUID
#undef ISPHX_COOKIE_MATERIAL
#undef ISPHX_COOKIE_BOUNDARY
#undef ISPHX_MAX_PLACE
#undef ISPHX_MAX_MOTION
#undef ISPHX_PAIR_SPAN
#undef ISPHX_LEAF
#undef ISPHX_TAIT_EXPONENT
#undef ISPHX_ARTIFICIAL_VISCOSITY
#undef ISPHX_COURANT
#undef ISPHX_FORGETS
#undef ISPHX_LEAVE_HEAP
#undef ISPHX_LEAVE_SOLID
#undef ISPHX_THICK_TOLERANCE
#undef ISPHX_SPIN_PARTS
#undef ISPHX_SNAPSHOT_MAGIC
#undef ISPHX_SNAPSHOT_VERSION
#undef ISPHX_HEADER_BYTES
#undef ISPHX_PARTICLE_BYTES
#undef ISPHX_BOUNDARY_BYTES
#endif /* ISPHX_IMPLEMENTED */
#endif /* implementation */

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
