/* The sparse matrix of isphpbd_sph.h and its two solvers, on systems with known behaviour. */
#define ISPH_IMPLEMENTATION
#include "isphpbd_sph.h"

#include "greatest.h"
#include "sph_fixture.h"

/* ---- [systems] -------------------------------------------------------------------------------------------------- */

typedef struct csr {
    int rows, entries, capacity;
    int *start, *column;
    float *value;
} csr;

static csr csr_make(int rows, int capacity) {
    csr a;
    a.rows = 0, a.entries = 0, a.capacity = capacity;
    a.start = (int *)calloc((size_t)rows + 1, sizeof(int));
    a.column = (int *)calloc((size_t)capacity, sizeof(int));
    a.value = (float *)calloc((size_t)capacity, sizeof(float));
    return a;
}
static void csr_free(csr *a) { free(a->start), free(a->column), free(a->value); }
static void csr_put(csr *a, int column, float value) { a->column[a->entries] = column, a->value[a->entries++] = value; }
static void csr_end_row(csr *a) { a->start[++a->rows] = a->entries; }

/* y = A x in double. */
static void csr_multiply(const csr *a, const float *x, double *y) {
    for (int i = 0; i < a->rows; i++) {
        y[i] = 0.0;
        for (int e = a->start[i]; e < a->start[i + 1]; e++) y[i] += (double)a->value[e] * (double)x[a->column[e]];
    }
}

/* |b - A x| / |b| in double; with `mean` the mean is taken out of b first. */
static double csr_residual(const csr *a, const float *x, const float *b, bool mean) {
    double *y = (double *)malloc((size_t)a->rows * sizeof(double)), rr = 0.0, bb = 0.0, sum = 0.0;
    csr_multiply(a, x, y);
    for (int i = 0; i < a->rows; i++) sum += mean ? (double)b[i] / a->rows : 0.0;
    for (int i = 0; i < a->rows; i++) {
        const double right = (double)b[i] - sum;
        rr += (right - y[i]) * (right - y[i]), bb += right * right;
    }
    free(y);
    return sqrt(rr / bb);
}

/* -Laplace u + wind . grad u (upwind) on n^3 cells; closed: no flux through the faces, else u = 0 beyond them. */
static csr transport(int n, float wind, bool closed) {
    csr a = csr_make(n * n * n, 7 * n * n * n);
    const int step[3] = {1, n, n * n};
    for (int i = 0; i < n * n * n; i++) {
        float diagonal = 0.0f;
        for (int k = 0; k < 6; k++) {
            const int at = i / step[k / 2] % n + (k % 2 ? 1 : -1);
            const float pull = k % 2 ? 1.0f : 1.0f + wind;
            if (at >= 0 && at < n) csr_put(&a, i + (k % 2 ? step[k / 2] : -step[k / 2]), -pull);
            if ((at >= 0 && at < n) || !closed) diagonal += pull;
        }
        csr_put(&a, i, diagonal);
        csr_end_row(&a);
    }
    return a;
}

/* A random sparse matrix with entries in random order, some of them named twice. */
static csr scattered(int rows, int per_row, uint32_t seed) {
    csr a = csr_make(rows, rows * per_row);
    fixture_random random = {seed};
    for (int i = 0; i < rows; i++) {
        const int n = random_below(&random, per_row);
        for (int k = 0; k < n; k++) csr_put(&a, random_below(&random, rows), random_between(&random, -2.0f, 2.0f));
        if (i % 5 != 0) csr_put(&a, i, 3.0f);
        csr_end_row(&a);
    }
    return a;
}

/* Rows of one entry each: diagonal d, or (row i, column n - 1 - i) when crossed. */
static csr one_per_row(int rows, float value, bool crossed) {
    csr a = csr_make(rows, rows);
    for (int i = 0; i < rows; i++) {
        csr_put(&a, crossed ? rows - 1 - i : i, crossed && i > rows - 1 - i ? -value : value);
        csr_end_row(&a);
    }
    return a;
}

static isph_matrix *matrix_of(const csr *a) {
    isph_matrix_desc desc = isph_matrix_desc_default();
    isph_matrix *matrix;
    desc.row_capacity = a->rows;
    desc.nonzero_capacity = 24 * a->rows + 64;
    matrix = isph_matrix_create(&desc, NULL);
    if (!matrix || isph_matrix_set(matrix, a->rows, a->start, a->column, a->value) == ISPHPBD_OK) return matrix;
    isph_matrix_destroy(matrix);
    return NULL;
}

static float *vector(int rows) { return (float *)calloc((size_t)rows + 16, sizeof(float)); }
static float *random_vector(int rows, uint32_t seed) {
    fixture_random random = {seed};
    float *v = vector(rows);
    for (int i = 0; i < rows; i++) v[i] = random_between(&random, -1.0f, 1.0f);
    return v;
}

typedef isphpbd_result solve_function(isph_matrix *, const float *, float *, const isph_solve_desc *,
                                      isph_solve_info *);
static solve_function *const solvers[2] = {isph_matrix_solve_cg, isph_matrix_solve_bicgstab};

/* ---- [product] -------------------------------------------------------------------------------------------------- */

static greatest_test_res compare_product(const csr *a, uint32_t seed) {
    isph_matrix *matrix = matrix_of(a);
    float *x = random_vector(a->rows, seed), *y = vector(a->rows);
    double *expected = (double *)malloc((size_t)a->rows * sizeof(double));
    ASSERT(matrix != NULL);
    for (int i = 0; i < 8; i++) y[a->rows + i] = 123.0f;
    ASSERT_EQ(ISPHPBD_OK, isph_matrix_multiply(matrix, x, y));
    csr_multiply(a, x, expected);
    for (int i = 0; i < a->rows; i++) {
        double scale = 1e-30;
        for (int e = a->start[i]; e < a->start[i + 1]; e++) scale += fabs((double)(a->value[e] * x[a->column[e]]));
        ASSERT_IN_RANGE(expected[i], (double)y[i], 2e-6 * scale);
    }
    for (int i = 0; i < 8; i++) ASSERT_EQ(123.0f, y[a->rows + i]); /* nothing is written past the rows */
    free(x), free(y), free(expected);
    isph_matrix_destroy(matrix);
    PASS();
}

TEST product_equals_the_dense_one(void) {
    static const int rows[9] = {1, 2, 7, 8, 9, 63, 64, 1000, 2049};
    for (int i = 0; i < 9; i++) {
        csr a = scattered(rows[i], 20, 100u + (uint32_t)i);
        CHECK_CALL(compare_product(&a, 7u));
        csr_free(&a);
    }
    PASS();
}

/* Beyond 65536 rows columns no longer fit 16 bits everywhere: near ones and far ones in the same matrix. */
TEST product_of_a_wide_matrix(void) {
    const int rows = 70003;
    csr a = csr_make(rows, 4 * rows);
    fixture_random random = {5u};
    for (int i = 0; i < rows; i++) {
        csr_put(&a, i, 2.0f);
        csr_put(&a, i > 0 ? i - 1 : 1, -1.0f);
        if (i % 16 < 8) csr_put(&a, rows - 1 - i, 0.5f);
        if (i % 64 == 0) csr_put(&a, random_below(&random, rows), 0.25f);
        csr_end_row(&a);
    }
    CHECK_CALL(compare_product(&a, 9u));
    csr_free(&a);
    PASS();
}

/* ---- [solving] -------------------------------------------------------------------------------------------------- */

typedef struct solved {
    isph_solve_info info;
    double residual;
    float *x, *history;
} solved;

/* Solves and measures; history has a mark behind its end. */
static solved solve_system(const csr *a, const float *b, int solver, isph_solve_desc desc, const int *aggregate,
                           int count) {
    solved s;
    isph_matrix *matrix = matrix_of(a);
    s.x = vector(a->rows);
    s.history = vector(desc.max_iterations + 1);
    for (int i = 0; i < 16; i++) s.history[desc.max_iterations + 1 + i] = -5.0f;
    desc.history = s.history;
    memset(&s.info, 0x7f, sizeof s.info);
    s.residual = -1.0;
    if (matrix && (!aggregate || isph_matrix_set_aggregates(matrix, aggregate, count) == ISPHPBD_OK) &&
        solvers[solver](matrix, b, s.x, &desc, &s.info) == ISPHPBD_OK) {
        s.residual = csr_residual(a, s.x, b, desc.constant_nullspace);
    }
    isph_matrix_destroy(matrix);
    return s;
}
static void solved_free(solved *s) { free(s->x), free(s->history); }

/* What every solve owes: the residual told is that of the x returned, the history is complete and ends with it (or,
   when it did not converge, holds nothing better), and nothing is written behind it. */
static greatest_test_res check_bookkeeping(const solved *s, const isph_solve_desc *desc) {
    float best = s->history[0];
    ASSERT(s->residual >= 0.0);
    ASSERT(s->info.iterations >= 0 && s->info.iterations <= desc->max_iterations);
    for (int i = 0; i <= s->info.iterations; i++) {
        ASSERT(isfinite(s->history[i]) && s->history[i] >= 0.0f);
        best = s->history[i] < best ? s->history[i] : best;
    }
    for (int i = 0; i < 15; i++) ASSERT_EQ(-5.0f, s->history[desc->max_iterations + 1 + i]);
    ASSERT_IN_RANGE((double)s->info.residual, s->residual, 0.02 * (double)s->info.residual + 3e-6);
    if (s->info.state == ISPH_SOLVE_CONVERGED) {
        ASSERT(s->info.residual <= desc->tolerance);
        ASSERT_IN_RANGE((double)s->history[s->info.iterations], (double)s->info.residual, 1e-7);
    } else {
        ASSERT_IN_RANGE((double)best, (double)s->info.residual, 0.02 * (double)best + 3e-6);
    }
    PASS();
}

static greatest_test_res check_solve(const csr *a, const float *b, int solver, isph_solve_desc desc, int most) {
    solved s = solve_system(a, b, solver, desc, NULL, 0);
    CHECK_CALL(check_bookkeeping(&s, &desc));
    ASSERT_EQ(ISPH_SOLVE_CONVERGED, s.info.state);
    ASSERTm("too many iterations", s.info.iterations > 0 && s.info.iterations <= most);
    ASSERT_IN_RANGE(1.0, (double)s.history[0], 1e-5);
    solved_free(&s);
    PASS();
}

/* Rows 4913: no multiple of 8. CG needs some n iterations for n cells across, BiCGSTAB about half as many. */
TEST poisson(void) {
    csr a = transport(17, 0.0f, false);
    float *b = random_vector(a.rows, 3u);
    isph_solve_desc desc = isph_solve_desc_default();
    desc.tolerance = 1e-4f;
    for (int p = 0; p < 2; p++) {
        desc.preconditioner = p ? ISPH_PRECONDITIONER_JACOBI : ISPH_PRECONDITIONER_NONE;
        CHECK_CALL(check_solve(&a, b, 0, desc, 60));
        CHECK_CALL(check_solve(&a, b, 1, desc, 60));
    }
    free(b), csr_free(&a);
    PASS();
}

TEST convection_and_diffusion_by_bicgstab(void) {
    csr a = transport(15, 5.0f, false);
    float *b = random_vector(a.rows, 4u);
    isph_solve_desc desc = isph_solve_desc_default();
    desc.tolerance = 1e-4f;
    CHECK_CALL(check_solve(&a, b, 1, desc, 60));
    free(b), csr_free(&a);
    PASS();
}

/* A closed tank: constants are in the null space. */
TEST closed_tank(void) {
    csr a = transport(12, 0.0f, true);
    float *x = random_vector(a.rows, 6u), *b = vector(a.rows);
    double *y = (double *)malloc((size_t)a.rows * sizeof(double));
    isph_solve_desc desc = isph_solve_desc_default();
    csr_multiply(&a, x, y);
    for (int solver = 0; solver < 2; solver++) {
        for (int shifted = 0; shifted < 2; shifted++) { /* shifted: a right side that no x can meet */
            solved s;
            double mean = 0.0;
            for (int i = 0; i < a.rows; i++) b[i] = (float)y[i] + (shifted ? 0.8f : 0.0f);
            desc.constant_nullspace = true;
            s = solve_system(&a, b, solver, desc, NULL, 0);
            CHECK_CALL(check_bookkeeping(&s, &desc));
            ASSERT_EQ(ISPH_SOLVE_CONVERGED, s.info.state);
            for (int i = 0; i < a.rows; i++) mean += (double)s.x[i] / a.rows;
            ASSERT_IN_RANGE(0.0, mean, 1e-4);
            for (int i = 1; i < a.rows; i++) {
                ASSERT_IN_RANGE((double)(x[i] - x[0]), (double)(s.x[i] - s.x[0]), 5e-3);
            }
            solved_free(&s);
        }
    }
    free(x), free(b), free(y), csr_free(&a);
    PASS();
}

/* The consistent one converges without being told of the null space; the inconsistent one ends, finite. */
TEST closed_tank_without_being_told(void) {
    csr a = transport(10, 0.0f, true);
    float *x = random_vector(a.rows, 8u), *b = vector(a.rows);
    double *y = (double *)malloc((size_t)a.rows * sizeof(double));
    isph_solve_desc desc = isph_solve_desc_default();
    desc.tolerance = 1e-3f;
    desc.max_iterations = 200;
    csr_multiply(&a, x, y);
    for (int solver = 0; solver < 2; solver++) {
        solved s;
        for (int i = 0; i < a.rows; i++) b[i] = (float)y[i];
        CHECK_CALL(check_solve(&a, b, solver, desc, 100));
        for (int i = 0; i < a.rows; i++) b[i] = (float)y[i] + 0.5f;
        s = solve_system(&a, b, solver, desc, NULL, 0);
        ASSERT(s.info.state != ISPH_SOLVE_CONVERGED);
        for (int i = 0; i < a.rows; i++) ASSERT(isfinite(s.x[i]));
        ASSERT(s.info.residual <= 1.0f && s.residual <= 1.001);
        solved_free(&s);
    }
    free(x), free(b), free(y), csr_free(&a);
    PASS();
}

TEST warm_start(void) {
    csr a = transport(13, 0.0f, false);
    float *b = random_vector(a.rows, 12u), *x = vector(a.rows);
    isph_matrix *matrix = matrix_of(&a);
    isph_solve_desc desc = isph_solve_desc_default();
    isph_solve_info cold, info;
    desc.tolerance = 1e-4f;
    for (int solver = 0; solver < 2; solver++) {
        desc.warm_start = false;
        for (int i = 0; i < a.rows; i++) x[i] = 1e9f; /* not a start: it is not asked for */
        ASSERT_EQ(ISPHPBD_OK, solvers[solver](matrix, b, x, &desc, &cold));
        ASSERT_EQ(ISPH_SOLVE_CONVERGED, cold.state);
        desc.warm_start = true;
        ASSERT_EQ(ISPHPBD_OK, solvers[solver](matrix, b, x, &desc, &info));
        ASSERT(info.state == ISPH_SOLVE_CONVERGED && info.iterations <= 1); /* the solution itself */
        for (int i = 0; i < a.rows; i++) x[i] *= 0.99f;
        ASSERT_EQ(ISPHPBD_OK, solvers[solver](matrix, b, x, &desc, &info));
        ASSERT(info.state == ISPH_SOLVE_CONVERGED && info.iterations < cold.iterations);
        for (int i = 0; i < a.rows; i++) x[i] = 1e6f * (float)(i % 3); /* worse than nothing */
        ASSERT_EQ(ISPHPBD_OK, solvers[solver](matrix, b, x, &desc, &info));
        ASSERT(info.state == ISPH_SOLVE_CONVERGED && info.iterations <= cold.iterations + 2);
        ASSERT(csr_residual(&a, x, b, false) < 1.2e-4);
    }
    isph_matrix_destroy(matrix);
    free(b), free(x), csr_free(&a);
    PASS();
}

TEST caps(void) {
    csr a = transport(13, 0.0f, false);
    float *b = random_vector(a.rows, 2u);
    isph_solve_desc desc = isph_solve_desc_default();
    for (int solver = 0; solver < 2; solver++) {
        for (int cap = 0; cap < 12; cap++) {
            solved s;
            desc.max_iterations = cap;
            s = solve_system(&a, b, solver, desc, NULL, 0);
            CHECK_CALL(check_bookkeeping(&s, &desc));
            ASSERT_EQ(ISPH_SOLVE_CAPPED, s.info.state);
            ASSERT_EQ_FMT(cap, s.info.iterations, "%d");
            ASSERT(s.info.residual <= 1.0f);
            solved_free(&s);
        }
    }
    free(b), csr_free(&a);
    PASS();
}

/* Tolerance 0 runs to the cap, or to where floats end; the answer is as good as floats allow. */
TEST tolerance_zero(void) {
    csr a = transport(8, 0.0f, false);
    float *b = random_vector(a.rows, 2u);
    isph_solve_desc desc = isph_solve_desc_default();
    desc.tolerance = 0.0f;
    desc.max_iterations = 120;
    for (int solver = 0; solver < 2; solver++) {
        solved s = solve_system(&a, b, solver, desc, NULL, 0);
        ASSERT(s.residual >= 0.0 && s.residual < 2e-6);
        for (int i = 0; i < a.rows; i++) ASSERT(isfinite(s.x[i]));
        solved_free(&s);
    }
    free(b), csr_free(&a);
    PASS();
}

TEST zero_right_side(void) {
    csr a = transport(6, 0.0f, false);
    float *b = vector(a.rows);
    isph_solve_desc desc = isph_solve_desc_default();
    for (int solver = 0; solver < 2; solver++) {
        solved s = solve_system(&a, b, solver, desc, NULL, 0);
        ASSERT_EQ(ISPH_SOLVE_CONVERGED, s.info.state);
        ASSERT_EQ(0.0f, s.info.residual);
        for (int i = 0; i < a.rows; i++) ASSERT_EQ(0.0f, s.x[i]);
        solved_free(&s);
    }
    free(b), csr_free(&a);
    PASS();
}

/* ---- [breakdown] ------------------------------------------------------------------------------------------------ */

/* Neither solver can move: it says so and gives back what is no worse than 0. */
static greatest_test_res check_stuck(const csr *a, int solver) {
    float *b = random_vector(a->rows, 15u);
    isph_solve_desc desc = isph_solve_desc_default();
    solved s;
    desc.max_iterations = 50;
    s = solve_system(a, b, solver, desc, NULL, 0);
    CHECK_CALL(check_bookkeeping(&s, &desc));
    ASSERT(s.info.state != ISPH_SOLVE_CONVERGED);
    ASSERT(s.info.residual <= 1.00001f);
    for (int i = 0; i < a->rows; i++) ASSERT(isfinite(s.x[i]));
    solved_free(&s), free(b);
    PASS();
}

TEST zero_matrix(void) {
    csr a = one_per_row(100, 0.0f, false);
    CHECK_CALL(check_stuck(&a, 0));
    CHECK_CALL(check_stuck(&a, 1));
    csr_free(&a);
    PASS();
}

/* x . A x = 0 for every x: the first scalar of both recurrences vanishes up to rounding. */
TEST skew_matrix(void) {
    csr a = one_per_row(100, 1.0f, true);
    float *b = random_vector(a.rows, 15u);
    isph_solve_desc desc = isph_solve_desc_default();
    CHECK_CALL(check_stuck(&a, 0));
    for (int iterations = 1; iterations < 60; iterations++) {
        solved s;
        desc.max_iterations = iterations;
        s = solve_system(&a, b, 1, desc, NULL, 0);
        CHECK_CALL(check_bookkeeping(&s, &desc));
        ASSERT(s.info.residual <= 1.00001f);
        solved_free(&s);
    }
    free(b), csr_free(&a);
    PASS();
}

/* CG on an indefinite matrix must not run away. */
TEST indefinite_matrix(void) {
    csr a = one_per_row(64, 1.0f, false);
    for (int i = 0; i < 64; i += 2) a.value[i] = -1.0f;
    CHECK_CALL(check_stuck(&a, 0));
    csr_free(&a);
    PASS();
}

/* Numbers near the ends of the floats: the squares of the recurrences leave them. */
TEST extreme_scales(void) {
    static const float scales[4] = {1e-25f, 1e-12f, 1e12f, 1e25f};
    csr a = transport(7, 0.0f, false);
    float *b = random_vector(a.rows, 33u);
    isph_solve_desc desc = isph_solve_desc_default();
    desc.tolerance = 1e-3f;
    for (int k = 0; k < 4; k++) {
        float *scaled = vector(a.rows);
        for (int i = 0; i < a.rows; i++) scaled[i] = b[i] * scales[k];
        for (int solver = 0; solver < 2; solver++) {
            solved s = solve_system(&a, scaled, solver, desc, NULL, 0);
            for (int i = 0; i < a.rows; i++) ASSERT(isfinite(s.x[i]));
            ASSERT(isfinite(s.info.residual) && s.residual <= 1.00001);
            if (s.info.state == ISPH_SOLVE_CONVERGED) ASSERT(s.residual < 1.2e-3);
            solved_free(&s);
        }
        free(scaled);
    }
    free(b), csr_free(&a);
    PASS();
}

/* ---- [preconditioners] ------------------------------------------------------------------------------------------ */

static int *cubes_of_four(int n) {
    int *aggregate = (int *)malloc((size_t)(n * n * n) * sizeof(int));
    const int m = n / 4;
    for (int i = 0; i < n * n * n; i++) aggregate[i] = (i / (n * n) / 4 * m + i / n % n / 4) * m + i % n / 4;
    return aggregate;
}

/* A diagonal that varies by 1e4: Jacobi sees through it, no preconditioner does not. */
TEST jacobi_helps(void) {
    csr a = transport(10, 0.0f, false);
    float *b = random_vector(a.rows, 17u);
    isph_solve_desc desc = isph_solve_desc_default();
    desc.tolerance = 1e-3f;
    for (int i = 0; i < a.rows; i++) {
        for (int e = a.start[i]; e < a.start[i + 1]; e++) {
            if (a.column[e] == i) a.value[e] += powf(10.0f, (float)(i % 5));
        }
    }
    for (int solver = 0; solver < 2; solver++) {
        solved plain, jacobi;
        desc.preconditioner = ISPH_PRECONDITIONER_NONE;
        plain = solve_system(&a, b, solver, desc, NULL, 0);
        desc.preconditioner = ISPH_PRECONDITIONER_JACOBI;
        jacobi = solve_system(&a, b, solver, desc, NULL, 0);
        ASSERT_EQ(ISPH_SOLVE_CONVERGED, jacobi.info.state);
        ASSERT(2 * jacobi.info.iterations < plain.info.iterations);
        solved_free(&plain), solved_free(&jacobi);
    }
    free(b), csr_free(&a);
    PASS();
}

/* A tank open on one face only: the slow modes are global, which is what the coarse level is for. */
TEST two_level_needs_fewer_iterations(void) {
    csr a = transport(20, 0.0f, true);
    float *b = random_vector(a.rows, 19u);
    int *aggregate = cubes_of_four(20);
    isph_solve_desc desc = isph_solve_desc_default();
    desc.tolerance = 1e-3f;
    for (int i = 0; i < 400; i++) {
        for (int e = a.start[i]; e < a.start[i + 1]; e++) {
            if (a.column[e] == i) a.value[e] += 1.0f;
        }
    }
    for (int i = 0; i < a.rows; i++) b[i] += 0.3f;
    for (int solver = 0; solver < 2; solver++) {
        solved jacobi, two;
        desc.preconditioner = ISPH_PRECONDITIONER_JACOBI;
        jacobi = solve_system(&a, b, solver, desc, NULL, 0);
        desc.preconditioner = ISPH_PRECONDITIONER_TWO_LEVEL;
        two = solve_system(&a, b, solver, desc, aggregate, 125);
        CHECK_CALL(check_bookkeeping(&two, &desc));
        ASSERT_EQ(ISPH_SOLVE_CONVERGED, two.info.state);
        ASSERT(4 * two.info.iterations < 3 * jacobi.info.iterations);
        solved_free(&jacobi), solved_free(&two);
    }
    free(b), free(aggregate), csr_free(&a);
    PASS();
}

/* The coarse matrix of a closed tank is singular: its factorisation has to bear it. */
TEST two_level_on_a_closed_tank(void) {
    csr a = transport(16, 0.0f, true);
    float *b = random_vector(a.rows, 23u);
    int *aggregate = cubes_of_four(16);
    isph_solve_desc desc = isph_solve_desc_default();
    desc.tolerance = 1e-4f;
    desc.constant_nullspace = true;
    desc.preconditioner = ISPH_PRECONDITIONER_TWO_LEVEL;
    for (int solver = 0; solver < 2; solver++) {
        solved s = solve_system(&a, b, solver, desc, aggregate, 64);
        CHECK_CALL(check_bookkeeping(&s, &desc));
        ASSERT_EQ(ISPH_SOLVE_CONVERGED, s.info.state);
        solved_free(&s);
    }
    free(b), free(aggregate), csr_free(&a);
    PASS();
}

TEST one_aggregate_and_empty_ones(void) {
    csr a = transport(8, 0.0f, false);
    float *b = random_vector(a.rows, 29u);
    int *aggregate = (int *)calloc((size_t)a.rows, sizeof(int));
    isph_solve_desc desc = isph_solve_desc_default();
    desc.preconditioner = ISPH_PRECONDITIONER_TWO_LEVEL;
    desc.tolerance = 1e-4f;
    for (int count = 1; count < 60; count += 29) { /* all rows in aggregate 0; the others have no member */
        for (int solver = 0; solver < 2; solver++) {
            solved s = solve_system(&a, b, solver, desc, aggregate, count);
            CHECK_CALL(check_bookkeeping(&s, &desc));
            ASSERT_EQ(ISPH_SOLVE_CONVERGED, s.info.state);
            solved_free(&s);
        }
    }
    free(b), free(aggregate), csr_free(&a);
    PASS();
}

/* ---- [threads] -------------------------------------------------------------------------------------------------- */

TEST same_bits_with_any_runner(void) {
    fixture_random order = {3u};
    const isphpbd_parallel runners[4] = {
        {NULL, NULL}, {run_forward, NULL}, {run_reverse, NULL}, {run_shuffled, &order}};
    csr a = transport(18, 0.0f, false);
    float *b = random_vector(a.rows, 31u), *first = vector(a.rows), *x = vector(a.rows);
    isph_solve_desc desc = isph_solve_desc_default();
    for (int solver = 0; solver < 2; solver++) {
        for (int r = 0; r < 4; r++) {
            isph_matrix_desc made = isph_matrix_desc_default();
            isph_matrix *matrix;
            made.parallel = runners[r];
            matrix = isph_matrix_create(&made, NULL);
            ASSERT_EQ(ISPHPBD_OK, isph_matrix_set(matrix, a.rows, a.start, a.column, a.value));
            ASSERT_EQ(ISPHPBD_OK, solvers[solver](matrix, b, r == 0 ? first : x, &desc, NULL));
            if (r > 0) ASSERT_MEM_EQ(first, x, (size_t)a.rows * sizeof(float));
            isph_matrix_destroy(matrix);
        }
    }
    free(b), free(first), free(x), csr_free(&a);
    PASS();
}

/* ---- [bad input] ------------------------------------------------------------------------------------------------ */

TEST refused_matrices_change_nothing(void) {
    csr a = transport(4, 0.0f, false);
    isph_matrix *matrix = matrix_of(&a);
    float *x = random_vector(a.rows, 1u), *before = vector(a.rows), *after = vector(a.rows);
    const int e = a.start[20];
    const int column = a.column[e], start = a.start[21];
    const float value = a.value[e];
    static const float bad_value[3] = {NAN, INFINITY, -INFINITY};
    static const int bad_column[3] = {-1, 64, 1 << 30};
    ASSERT_EQ(ISPHPBD_OK, isph_matrix_multiply(matrix, x, before));
    for (int i = 0; i < 3; i++) {
        a.value[e] = bad_value[i];
        ASSERT_EQ(ISPHPBD_BAD_ARGUMENT, isph_matrix_set(matrix, a.rows, a.start, a.column, a.value));
        a.value[e] = value, a.column[e] = bad_column[i];
        ASSERT_EQ(ISPHPBD_BAD_ARGUMENT, isph_matrix_set(matrix, a.rows, a.start, a.column, a.value));
        a.column[e] = column;
    }
    a.start[21] = a.start[20] - 1;
    ASSERT_EQ(ISPHPBD_BAD_ARGUMENT, isph_matrix_set(matrix, a.rows, a.start, a.column, a.value));
    a.start[21] = start, a.start[0] = -1;
    ASSERT_EQ(ISPHPBD_BAD_ARGUMENT, isph_matrix_set(matrix, a.rows, a.start, a.column, a.value));
    a.start[0] = 0;
    ASSERT_EQ(ISPHPBD_BAD_ARGUMENT, isph_matrix_set(matrix, 0, a.start, a.column, a.value));
    ASSERT_EQ(ISPHPBD_BAD_ARGUMENT, isph_matrix_set(matrix, -3, a.start, a.column, a.value));
    ASSERT_EQ(ISPHPBD_BAD_ARGUMENT, isph_matrix_set(matrix, a.rows, NULL, a.column, a.value));
    ASSERT_EQ(ISPHPBD_BAD_ARGUMENT, isph_matrix_set(matrix, a.rows, a.start, NULL, a.value));
    ASSERT_EQ(ISPHPBD_BAD_ARGUMENT, isph_matrix_set(matrix, a.rows, a.start, a.column, NULL));
    ASSERT_EQ(ISPHPBD_BAD_ARGUMENT, isph_matrix_set(NULL, a.rows, a.start, a.column, a.value));
    ASSERT_EQ(ISPHPBD_CAPACITY, isph_matrix_set(matrix, a.rows + 1, a.start, a.column, a.value));
    ASSERT_EQ(ISPHPBD_OK, isph_matrix_multiply(matrix, x, after));
    ASSERT_MEM_EQ(before, after, (size_t)a.rows * sizeof(float));
    isph_matrix_destroy(matrix);
    free(x), free(before), free(after), csr_free(&a);
    PASS();
}

/* The padding to the longest of eight rows counts: one full row among short ones does not fit where its sum would. */
TEST entries_over_capacity(void) {
    csr a = csr_make(16, 64);
    isph_matrix_desc desc = isph_matrix_desc_default();
    isph_matrix *matrix;
    for (int i = 0; i < 16; i++) {
        for (int k = 0; i == 3 && k < 10; k++) csr_put(&a, (i + k + 1) % 16, 1.0f);
        csr_put(&a, i, 4.0f);
        csr_end_row(&a);
    }
    desc.row_capacity = 16;
    desc.nonzero_capacity = 79;
    matrix = isph_matrix_create(&desc, NULL);
    ASSERT_EQ(ISPHPBD_CAPACITY, isph_matrix_set(matrix, 16, a.start, a.column, a.value));
    isph_matrix_destroy(matrix);
    desc.nonzero_capacity = 80;
    matrix = isph_matrix_create(&desc, NULL);
    ASSERT_EQ(ISPHPBD_OK, isph_matrix_set(matrix, 16, a.start, a.column, a.value));
    isph_matrix_destroy(matrix);
    csr_free(&a);
    PASS();
}

static isph_solve_desc bad_solve_desc(int which) {
    isph_solve_desc desc = isph_solve_desc_default();
    switch (which) {
        case 0: desc.tolerance = -1.0f; break;
        case 1: desc.tolerance = NAN; break;
        case 2: desc.max_iterations = -1; break;
        case 3: desc.preconditioner = (isph_preconditioner)9; break;
        case 4: desc.preconditioner = ISPH_PRECONDITIONER_TWO_LEVEL; break; /* without aggregates */
        default: memset(&desc, 0, sizeof desc); break;
    }
    return desc;
}

TEST refused_solves_change_nothing(void) {
    csr a = transport(4, 0.0f, false);
    isph_matrix *matrix = matrix_of(&a), *empty;
    isph_matrix_desc made = isph_matrix_desc_default();
    isph_solve_desc desc = isph_solve_desc_default();
    float *b = random_vector(a.rows, 1u), *x = random_vector(a.rows, 2u), *before = random_vector(a.rows, 2u);
    const size_t bytes = (size_t)a.rows * sizeof(float);
    empty = isph_matrix_create(&made, NULL);
    for (int solver = 0; solver < 2; solver++) {
        for (int i = 0; i < 6; i++) {
            const isph_solve_desc bad = bad_solve_desc(i);
            ASSERT_EQ(ISPHPBD_BAD_DESC, solvers[solver](matrix, b, x, &bad, NULL));
        }
        ASSERT_EQ(ISPHPBD_BAD_DESC, solvers[solver](matrix, b, x, NULL, NULL));
        ASSERT_EQ(ISPHPBD_BAD_ARGUMENT, solvers[solver](NULL, b, x, &desc, NULL));
        ASSERT_EQ(ISPHPBD_BAD_ARGUMENT, solvers[solver](matrix, NULL, x, &desc, NULL));
        ASSERT_EQ(ISPHPBD_BAD_ARGUMENT, solvers[solver](matrix, b, NULL, &desc, NULL));
        ASSERT_EQ(ISPHPBD_BAD_ARGUMENT, solvers[solver](empty, b, x, &desc, NULL));
        b[5] = NAN;
        ASSERT_EQ(ISPHPBD_BAD_ARGUMENT, solvers[solver](matrix, b, x, &desc, NULL));
        b[5] = 1.0f, x[7] = INFINITY, desc.warm_start = true;
        ASSERT_EQ(ISPHPBD_BAD_ARGUMENT, solvers[solver](matrix, b, x, &desc, NULL));
        x[7] = before[7], desc.warm_start = false;
        ASSERT_MEM_EQ(before, x, bytes);
    }
    ASSERT_EQ(ISPHPBD_BAD_ARGUMENT, isph_matrix_multiply(empty, b, x));
    ASSERT_EQ(ISPHPBD_BAD_ARGUMENT, isph_matrix_multiply(NULL, b, x));
    ASSERT_EQ(ISPHPBD_BAD_ARGUMENT, isph_matrix_multiply(matrix, NULL, x));
    isph_matrix_destroy(matrix), isph_matrix_destroy(empty);
    free(b), free(x), free(before), csr_free(&a);
    PASS();
}

TEST refused_aggregates(void) {
    csr a = transport(4, 0.0f, false);
    isph_matrix *matrix = matrix_of(&a);
    int aggregate[64] = {0};
    ASSERT_EQ(ISPHPBD_BAD_ARGUMENT, isph_matrix_set_aggregates(NULL, aggregate, 1));
    ASSERT_EQ(ISPHPBD_BAD_ARGUMENT, isph_matrix_set_aggregates(matrix, NULL, 1));
    ASSERT_EQ(ISPHPBD_BAD_ARGUMENT, isph_matrix_set_aggregates(matrix, aggregate, 0));
    aggregate[60] = 4;
    ASSERT_EQ(ISPHPBD_BAD_ARGUMENT, isph_matrix_set_aggregates(matrix, aggregate, 4));
    aggregate[60] = -1;
    ASSERT_EQ(ISPHPBD_BAD_ARGUMENT, isph_matrix_set_aggregates(matrix, aggregate, 4));
    aggregate[60] = 0;
    ASSERT_EQ(ISPHPBD_CAPACITY, isph_matrix_set_aggregates(matrix, aggregate, 1 << 24));
    ASSERT_EQ(ISPHPBD_OK, isph_matrix_set_aggregates(matrix, aggregate, 4));
    isph_matrix_destroy(matrix);
    csr_free(&a);
    PASS();
}

/* Aggregates that lie everywhere have a full coarse matrix, whose factor does not fit: those from before stay. */
TEST refused_aggregates_leave_the_old_ones(void) {
    csr a = transport(17, 0.0f, false);
    isph_matrix *matrix = matrix_of(&a);
    isph_solve_desc desc = isph_solve_desc_default();
    isph_solve_info first, second;
    int *aggregate = (int *)malloc((size_t)a.rows * sizeof *aggregate);
    float *b = vector(a.rows), *x = vector(a.rows), *y = vector(a.rows);
    desc.preconditioner = ISPH_PRECONDITIONER_TWO_LEVEL;
    for (int i = 0; i < a.rows; i++) aggregate[i] = i % 600, b[i] = (float)(i % 7);
    ASSERT_EQ(ISPHPBD_CAPACITY, isph_matrix_set_aggregates(matrix, aggregate, 600));
    ASSERT_EQ(ISPHPBD_BAD_DESC, isph_matrix_solve_cg(matrix, b, x, &desc, &first));
    for (int i = 0; i < a.rows; i++) aggregate[i] = i / 64;
    ASSERT_EQ(ISPHPBD_OK, isph_matrix_set_aggregates(matrix, aggregate, (a.rows + 63) / 64));
    ASSERT_EQ(ISPHPBD_OK, isph_matrix_solve_cg(matrix, b, x, &desc, &first));
    for (int i = 0; i < a.rows; i++) aggregate[i] = i % 600;
    ASSERT_EQ(ISPHPBD_CAPACITY, isph_matrix_set_aggregates(matrix, aggregate, 600));
    ASSERT_EQ(ISPHPBD_OK, isph_matrix_solve_cg(matrix, b, y, &desc, &second));
    ASSERT_EQ_FMT(first.iterations, second.iterations, "%d");
    ASSERT_EQ(0, memcmp(x, y, (size_t)a.rows * sizeof *x));
    isph_matrix_destroy(matrix);
    free(aggregate), free(b), free(x), free(y);
    csr_free(&a);
    PASS();
}

/* Room to spare, full of old numbers, changes nothing: 729 rows leave lanes of the last chunk empty. */
TEST same_bits_with_room_to_spare(void) {
    csr a = transport(9, 0.0f, false);
    isph_matrix_desc desc = isph_matrix_desc_default();
    isph_solve_desc solve = isph_solve_desc_default();
    float *b = random_vector(a.rows, 1u), *first = vector(a.rows), *x = vector(a.rows);
    for (int solver = 0; solver < 2; solver++) {
        isph_matrix *tight = matrix_of(&a), *roomy;
        isph_solve_info expected, info;
        watched_memory memory;
        desc.allocator = watched_allocator(&memory);
        roomy = isph_matrix_create(&desc, NULL);
        ASSERT_EQ(ISPHPBD_OK, isph_matrix_set(roomy, a.rows, a.start, a.column, a.value));
        ASSERT_EQ(ISPHPBD_OK, solvers[solver](tight, b, first, &solve, &expected));
        ASSERT_EQ(ISPHPBD_OK, solvers[solver](roomy, b, x, &solve, &info));
        ASSERT_MEM_EQ(first, x, (size_t)a.rows * sizeof(float));
        ASSERT(info.iterations == expected.iterations && info.residual == expected.residual);
        isph_matrix_destroy(tight), isph_matrix_destroy(roomy);
    }
    free(b), free(first), free(x), csr_free(&a);
    PASS();
}

TEST memory_is_what_was_told(void) {
    csr a = transport(9, 0.0f, false);
    isph_matrix_desc desc = isph_matrix_desc_default();
    isph_solve_desc solve = isph_solve_desc_default();
    watched_memory memory;
    isphpbd_result why = ISPHPBD_BAD_DESC;
    isph_matrix *matrix;
    float *b = random_vector(a.rows, 1u), *x = vector(a.rows);
    desc.allocator = watched_allocator(&memory);
    desc.row_capacity = a.rows;
    desc.nonzero_capacity = 6 * isphx_padded(a.rows);
    matrix = isph_matrix_create(&desc, &why);
    ASSERT(matrix != NULL && why == ISPHPBD_OK);
    ASSERT(memory.asked == isph_matrix_bytes(&desc));
    ASSERT_EQ(ISPHPBD_OK, isph_matrix_set(matrix, a.rows, a.start, a.column, a.value));
    for (int solver = 0; solver < 2; solver++) {
        ASSERT_EQ(ISPHPBD_OK, solvers[solver](matrix, b, x, &solve, NULL));
        ASSERT(csr_residual(&a, x, b, false) < 2e-5);
    }
    ASSERT_EQ_FMT(1, memory.allocations, "%d");
    isph_matrix_destroy(matrix);
    ASSERT(watched_clean(&memory));
    memory.allocations = 0, memory.refuse = 1;
    ASSERT(isph_matrix_create(&desc, &why) == NULL);
    ASSERT_EQ(ISPHPBD_OUT_OF_MEMORY, why);
    desc.row_capacity = 0;
    ASSERT(isph_matrix_create(&desc, &why) == NULL);
    ASSERT_EQ(ISPHPBD_BAD_DESC, why);
    ASSERT(isph_matrix_create(NULL, NULL) == NULL);
    isph_matrix_destroy(NULL);
    free(b), free(x), csr_free(&a);
    PASS();
}

SUITE(sph_sparse) {
    RUN_TEST(product_equals_the_dense_one);
    RUN_TEST(product_of_a_wide_matrix);
    RUN_TEST(poisson);
    RUN_TEST(convection_and_diffusion_by_bicgstab);
    RUN_TEST(closed_tank);
    RUN_TEST(closed_tank_without_being_told);
    RUN_TEST(warm_start);
    RUN_TEST(caps);
    RUN_TEST(tolerance_zero);
    RUN_TEST(zero_right_side);
    RUN_TEST(zero_matrix);
    RUN_TEST(skew_matrix);
    RUN_TEST(indefinite_matrix);
    RUN_TEST(extreme_scales);
    RUN_TEST(jacobi_helps);
    RUN_TEST(two_level_needs_fewer_iterations);
    RUN_TEST(two_level_on_a_closed_tank);
    RUN_TEST(one_aggregate_and_empty_ones);
    RUN_TEST(same_bits_with_any_runner);
    RUN_TEST(refused_matrices_change_nothing);
    RUN_TEST(entries_over_capacity);
    RUN_TEST(refused_solves_change_nothing);
    RUN_TEST(refused_aggregates);
    RUN_TEST(refused_aggregates_leave_the_old_ones);
    RUN_TEST(same_bits_with_room_to_spare);
    RUN_TEST(memory_is_what_was_told);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv) {
    GREATEST_MAIN_BEGIN();
    RUN_SUITE(sph_sparse);
    GREATEST_MAIN_END();
}
