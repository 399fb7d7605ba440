/* bench_matrix.h - a pressure matrix of the fluid as compressed rows, with its right side, for any solver.
   SPDX-License-Identifier: MIT */
#ifndef BENCH_MATRIX_H
#define BENCH_MATRIX_H

#include "bench_dam.h"
#include "bench_runner.h"

#include <math.h>

typedef struct pressure_problem {
    int rows, *row_start, *columns, *aggregate, aggregates;
    float *values, *b, *x; /* x: room for a solution */
} pressure_problem;

BENCH_FN void pressure_problem_free(pressure_problem *p) {
    free(p->row_start), free(p->columns), free(p->aggregate), free(p->values), free(p->b), free(p->x);
}

/* |b - A x| / |b| in double, the same for everybody: what a solver in float believes may be less. */
BENCH_FN double pressure_problem_residual(const pressure_problem *p, const float *x) {
    double error = 0.0, norm = 0.0;
    for (int i = 0; i < p->rows; ++i) {
        double r = (double)p->b[i];
        norm += r * r;
        for (int e = p->row_start[i]; e < p->row_start[i + 1]; ++e)
            r -= (double)p->values[e] * (double)x[p->columns[e]];
        error += r * r;
    }
    return sqrt(error / norm);
}
/* Whether a residual is more than 10^-digits, rounding of the solution itself left aside. */
BENCH_FN bool pressure_problem_missed(double residual, int digits) { return residual > 1.05 * pow(10.0, -digits); }

/* Row i of the fluid's matrix D - W: the diagonal, then what is not 0. */
static int pressure_row(const isph_fluid *f, int i, int *columns, float *values) {
    const int lanes = isphx_padded(1), chunk = i / lanes;
    int n = 0;
    columns[n] = i, values[n++] = f->diagonal[i];
    for (int j = 0; j < f->sell.length[chunk]; ++j) {
        const int e = j * lanes + i % lanes;
        const float w = f->sell.value[f->sell.offset[chunk] + e];
        if (w != 0.0f) columns[n] = isphx_column(&f->sell, chunk, e), values[n++] = -w;
    }
    return n;
}

/* Cubes of three spacings share an aggregate; empty ones get no number. */
static void pressure_aggregates(pressure_problem *p, const isph_fluid *f) {
    enum { CELLS = 3 * DAM_SIDE };
    const isph_view view = isph_particles(f);
    int *number = (int *)need(calloc((size_t)CELLS * CELLS * CELLS, sizeof(int)));
    for (int i = 0; i < p->rows; ++i) {
        const float *x = dam_place(&view, i), scale = 1.0f / (3.0f * DAM_SPACING);
        int *cell = &number[((int)(x[0] * scale) * CELLS + (int)(x[1] * scale)) * CELLS + (int)(x[2] * scale)];
        if (*cell == 0) *cell = ++p->aggregates;
        p->aggregate[i] = *cell - 1;
    }
    free(number);
}

/* The matrix of the last substep. Its right side is that of the pressure found there, to the last digit. */
static void pressure_problem_copy(pressure_problem *p, const isph_fluid *f) {
    int used = 0;
    for (int i = 0; i < f->count; ++i) {
        double sum = 0.0;
        int n;
        p->row_start[i] = used;
        n = pressure_row(f, i, p->columns + used, p->values + used);
        for (int e = used; e < used + n; ++e) sum += (double)p->values[e] * (double)f->state.pair[2 * p->columns[e]];
        p->b[i] = (float)sum;
        used += n;
    }
    p->row_start[f->count] = used;
}

BENCH_FN pressure_problem pressure_problem_make(void) {
    isph_fluid_desc desc = dam_desc(DAM_SIDE, 2.0f);
    const size_t n = DAM_PARTICLES, entries = 100 * n;
    pressure_problem p;
    isph_fluid *f;
    memset(&p, 0, sizeof p);
    desc.parallel = serial_runner();
    desc.max_iterations = 1000;
    f = dam_create(&desc, DAM_SIDE);
    dam_run(f, 0.4f);
    f->desc.tolerance = 1e-6f;
    (void)isph_fluid_step(f, 0.004f, NULL);
    p.rows = f->count;
    p.row_start = (int *)need(calloc(n + 1, sizeof(int)));
    p.columns = (int *)need(calloc(entries, sizeof(int)));
    p.aggregate = (int *)need(calloc(n, sizeof(int)));
    p.values = (float *)need(calloc(entries, sizeof(float)));
    p.b = (float *)need(calloc(n, sizeof(float)));
    p.x = (float *)need(calloc(n, sizeof(float)));
    pressure_problem_copy(&p, f);
    pressure_aggregates(&p, f);
    isph_fluid_destroy(f);
    return p;
}

BENCH_FN isph_matrix *pressure_problem_matrix(const pressure_problem *p) {
    isph_matrix_desc desc = isph_matrix_desc_default();
    isph_matrix *matrix;
    desc.row_capacity = p->rows;
    desc.nonzero_capacity = 2 * p->row_start[p->rows];
    desc.parallel = serial_runner();
    matrix = (isph_matrix *)need(isph_matrix_create(&desc, NULL));
    if (isph_matrix_set(matrix, p->rows, p->row_start, p->columns, p->values) != ISPHPBD_OK ||
        isph_matrix_set_aggregates(matrix, p->aggregate, p->aggregates) != ISPHPBD_OK) {
        fprintf(stderr, "bench: the pressure matrix does not fit\n");
        exit(1);
    }
    return matrix;
}

#endif /* BENCH_MATRIX_H */
