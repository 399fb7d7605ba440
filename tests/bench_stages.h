/* bench_stages.h - where the time of a fluid step goes. SPDX-License-Identifier: MIT

   tests/bench_stages.c is compiled several times, each with a copy of the library of its own: plain C, SSE2, and the
   SSE2 code with AVX2 allowed to the compiler. The library hands its parallel pieces to a runner; one that looks at the
   clock round every piece tells the stages apart without a hand in the library. What is done between two pieces counts
   with the former. */
#ifndef BENCH_STAGES_H
#define BENCH_STAGES_H

#include "bench_output.h"
#include "isphpbd_sph.h"

typedef enum stage {
    STAGE_SORT,
    STAGE_WALLS,
    STAGE_ROWS,
    STAGE_PREDICT,
    STAGE_COARSEN,
    STAGE_DIVERGENCE,
    STAGE_PRODUCT,
    STAGE_VECTORS,
    STAGE_PRESSURES,
    STAGE_MOVE,
    STAGE_MEASURE,
    STAGE_OTHER, /* a piece that bench_stages.c has no name for */
    STAGES
} stage;

/* One substep, from a snapshot of the dam break, again and again. */
typedef struct stage_request {
    float support, seconds;
    const void *image;
    size_t image_size;
    int repeats;
    bool density_projection;
    isphpbd_parallel parallel;
    bool alone; /* it is one thread */
} stage_request;

typedef struct stage_figures {
    bool available; /* false: this machine or compiler cannot */
    samples stage[STAGES], step, search, serial;
    samples gather; /* the loads of a product without its arithmetic */
    int products;   /* of the matrix with a pair of vectors, per substep */
    int particles, pressure_iterations, density_iterations;
    double nonzeros, entries; /* entries: stored, padding included */
    uint64_t hash;            /* of the state after the substep */
} stage_figures;

/* The sum of `count` floats, a multiple of 64, none below 0 and the first at a multiple of 64 bytes, read in the widest
   loads of the copy; -1 where this machine or compiler cannot. */
float bench_read_plain(const float *data, size_t count);
float bench_read_sse2(const float *data, size_t count);
float bench_read_avx2(const float *data, size_t count);

void bench_stages_plain(const stage_request *request, stage_figures *out);
void bench_stages_sse2(const stage_request *request, stage_figures *out);
void bench_stages_avx2(const stage_request *request, stage_figures *out);

#endif /* BENCH_STAGES_H */
