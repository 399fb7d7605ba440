/* bench_textbook.h - the baseline: the same step as one writes it first. Chained hash, compressed rows, doubles,
   BiCGSTAB with the inverse diagonal, one right side after the other. SPDX-License-Identifier: MIT */
#ifndef BENCH_TEXTBOOK_H
#define BENCH_TEXTBOOK_H

#include "bench_dam.h"
#include "bench_runner.h"

#include <math.h>

typedef struct textbook {
    int n, buckets, entries, entry_capacity;
    double dx, reach, seconds, box[3];
    double full; /* the diagonal of a particle with all its neighbours */
    double (*x)[3], (*u)[3], (*star)[3];
    double *density, *diagonal, *rhs[2], *solution[2], *work[6];
    int *head, *next, *row_start, *column, (*cell)[3];
    double *value;
} textbook;

/* A pair's weight is -2 V F dx^2 = textbook_scale() q^3, q = 1 - distance / reach. */
static double textbook_scale(const textbook *t) {
    const double h = 0.5 * t->reach, pi = 3.14159265358979323846, volume = t->dx * t->dx * t->dx;
    return 2.0 * volume * t->dx * t->dx * 105.0 / (16.0 * pi * h * h * h * h * h);
}

/* The sum of the weights in a full lattice: K of equation 12 of the ISPH-PBD paper, of the initial configuration. */
static double textbook_full(const textbook *t) {
    const int most = (int)(t->reach / t->dx) + 1;
    double sum = 0.0;
    for (int i = -most; i <= most; ++i) {
        for (int j = -most; j <= most; ++j) {
            for (int k = -most; k <= most; ++k) {
                const double q = 1.0 - t->dx * sqrt((double)(i * i + j * j + k * k)) / t->reach;
                if (q > 0.0 && q < 1.0) sum += q * q * q;
            }
        }
    }
    return textbook_scale(t) * sum;
}

static double *textbook_doubles(int n) { return (double *)need(calloc((size_t)n, sizeof(double))); }

static void textbook_init(textbook *t, int n, double reach_in_spacings) {
    memset(t, 0, sizeof *t);
    t->n = n, t->buckets = 2 * n + 1, t->entry_capacity = 160 * n;
    t->dx = (double)DAM_SPACING, t->reach = reach_in_spacings * t->dx, t->seconds = 0.004;
    t->full = textbook_full(t);
    t->x = (double(*)[3])need(calloc((size_t)n, sizeof *t->x));
    t->u = (double(*)[3])need(calloc((size_t)n, sizeof *t->u));
    t->star = (double(*)[3])need(calloc((size_t)n, sizeof *t->star));
    t->density = textbook_doubles(n), t->diagonal = textbook_doubles(n);
    for (int k = 0; k < 2; ++k) t->rhs[k] = textbook_doubles(n), t->solution[k] = textbook_doubles(n);
    for (int k = 0; k < 6; ++k) t->work[k] = textbook_doubles(n);
    t->head = (int *)need(calloc((size_t)t->buckets, sizeof(int)));
    t->next = (int *)need(calloc((size_t)n, sizeof(int)));
    t->cell = (int(*)[3])need(calloc((size_t)n, sizeof *t->cell));
    t->row_start = (int *)need(calloc((size_t)n + 1, sizeof(int)));
    t->column = (int *)need(calloc((size_t)t->entry_capacity, sizeof(int)));
    t->value = textbook_doubles(t->entry_capacity);
}

static void textbook_free(textbook *t) {
    free(t->x), free(t->u), free(t->star), free(t->density), free(t->diagonal);
    for (int k = 0; k < 2; ++k) free(t->rhs[k]), free(t->solution[k]);
    for (int k = 0; k < 6; ++k) free(t->work[k]);
    free(t->head), free(t->next), free(t->cell), free(t->row_start), free(t->column), free(t->value);
}

static int textbook_bucket(const textbook *t, int i, int j, int k) {
    const uint32_t hash = ((uint32_t)i * 73856093u) ^ ((uint32_t)j * 19349663u) ^ ((uint32_t)k * 83492791u);
    return (int)(hash % (uint32_t)t->buckets);
}

static void textbook_cell(const textbook *t, int i) {
    for (int k = 0; k < 3; ++k) t->cell[i][k] = (int)floor(t->x[i][k] / t->reach);
}

static double textbook_distance2(const textbook *t, int a, int b) {
    double sum = 0.0;
    for (int k = 0; k < 3; ++k) sum += (t->x[a][k] - t->x[b][k]) * (t->x[a][k] - t->x[b][k]);
    return sum;
}

static void textbook_search_cell(textbook *t, int a, const int cell[3]) {
    for (int b = t->head[textbook_bucket(t, cell[0], cell[1], cell[2])]; b >= 0; b = t->next[b]) {
        const int *other = t->cell[b]; /* buckets mix cells */
        if (other[0] != cell[0] || other[1] != cell[1] || other[2] != cell[2]) continue;
        if (a != b && textbook_distance2(t, a, b) < t->reach * t->reach && t->entries < t->entry_capacity) {
            t->column[t->entries++] = b;
        }
    }
}

static void textbook_neighbours(textbook *t) {
    int c[3];
    for (int i = 0; i < t->buckets; ++i) t->head[i] = -1;
    for (int i = 0; i < t->n; ++i) {
        textbook_cell(t, i);
        int *head = &t->head[textbook_bucket(t, t->cell[i][0], t->cell[i][1], t->cell[i][2])];
        t->next[i] = *head, *head = i;
    }
    t->entries = 0;
    for (int i = 0; i < t->n; ++i) {
        const int *cell = t->cell[i];
        t->row_start[i] = t->entries;
        for (c[2] = cell[2] - 1; c[2] <= cell[2] + 1; ++c[2]) {
            for (c[1] = cell[1] - 1; c[1] <= cell[1] + 1; ++c[1]) {
                for (c[0] = cell[0] - 1; c[0] <= cell[0] + 1; ++c[0]) textbook_search_cell(t, i, c);
            }
        }
    }
    t->row_start[t->n] = t->entries;
}

/* Density, weights and diagonal. Where neighbours are missing the diagonal keeps K: no pressure beyond the surface
   (equation 11). The plain program has no particles in walls, so it takes those for surface, too. */
static void textbook_assemble(textbook *t) {
    const double h = 0.5 * t->reach, pi = 3.14159265358979323846;
    const double value_scale = t->dx * t->dx * t->dx * 21.0 / (16.0 * pi * h * h * h), scale = textbook_scale(t);
    for (int i = 0; i < t->n; ++i) {
        double density = value_scale, sum = 0.0;
        for (int e = t->row_start[i]; e < t->row_start[i + 1]; ++e) {
            const double q = 1.0 - sqrt(textbook_distance2(t, i, t->column[e])) / t->reach;
            t->value[e] = scale * q * q * q;
            density += value_scale * q * q * q * q * (5.0 - 4.0 * q);
            sum += t->value[e];
        }
        t->density[i] = density;
        t->diagonal[i] = sum > t->full ? sum : t->full;
    }
}

static void textbook_predict(textbook *t) {
    for (int i = 0; i < t->n; ++i) {
        double sum[3] = {0.0, 0.0, 0.0};
        for (int e = t->row_start[i]; e < t->row_start[i + 1]; ++e) {
            for (int k = 0; k < 3; ++k) sum[k] += t->value[e] * (t->u[t->column[e]][k] - t->u[i][k]);
        }
        for (int k = 0; k < 3; ++k) t->star[i][k] = t->u[i][k] + 0.005 * sum[k];
        t->star[i][1] -= 9.81 * t->seconds;
    }
}

static void textbook_right_sides(textbook *t) {
    for (int i = 0; i < t->n; ++i) {
        double divergence = 0.0;
        for (int e = t->row_start[i]; e < t->row_start[i + 1]; ++e) {
            const int b = t->column[e];
            double dot = 0.0;
            for (int k = 0; k < 3; ++k) dot += (t->star[b][k] - t->star[i][k]) * (t->x[i][k] - t->x[b][k]);
            divergence -= 0.5 * t->value[e] * dot / (t->dx * t->dx);
        }
        t->rhs[0][i] = -1000.0 * t->dx * t->dx / t->seconds * divergence;
        t->rhs[1][i] = t->density[i] > 1.0 ? t->dx * t->dx * (t->density[i] - 1.0) : 0.0;
    }
}

static void textbook_product(const textbook *t, const double *x, double *y) {
    for (int i = 0; i < t->n; ++i) {
        double sum = t->diagonal[i] * x[i];
        for (int e = t->row_start[i]; e < t->row_start[i + 1]; ++e) sum -= t->value[e] * x[t->column[e]];
        y[i] = sum;
    }
}

static double textbook_dot(int n, const double *a, const double *b) {
    double sum = 0.0;
    for (int i = 0; i < n; ++i) sum += a[i] * b[i];
    return sum;
}

/* |b - A x| / |b|. */
static double textbook_residual(textbook *t, const double *b, const double *x) {
    double *r = t->work[0];
    textbook_product(t, x, r);
    for (int i = 0; i < t->n; ++i) r[i] = b[i] - r[i];
    return sqrt(textbook_dot(t->n, r, r) / textbook_dot(t->n, b, b));
}

/* From x until |b - A x| <= tolerance |b|, at most `most` iterations of two products each. Returns how many. */
static int textbook_bicgstab(textbook *t, const double *b, double *x, double tolerance, int most) {
    double *r = t->work[0], *shadow = t->work[1], *p = t->work[2], *v = t->work[3], *y = t->work[4], *s = t->work[5];
    double rho = 1.0, alpha = 1.0, omega = 1.0;
    const double enough = tolerance * tolerance * textbook_dot(t->n, b, b);
    textbook_product(t, x, v);
    for (int i = 0; i < t->n; ++i) r[i] = shadow[i] = b[i] - v[i], p[i] = v[i] = 0.0;
    for (int k = 0; k < most; ++k) {
        const double rho_new = textbook_dot(t->n, shadow, r), beta = rho_new / rho * (alpha / omega);
        if (textbook_dot(t->n, r, r) <= enough || !(rho_new * rho_new > 0.0)) return k;
        rho = rho_new;
        for (int i = 0; i < t->n; ++i) p[i] = r[i] + beta * (p[i] - omega * v[i]);
        for (int i = 0; i < t->n; ++i) y[i] = p[i] / t->diagonal[i];
        textbook_product(t, y, v);
        alpha = rho / textbook_dot(t->n, shadow, v);
        for (int i = 0; i < t->n; ++i) x[i] += alpha * y[i], r[i] -= alpha * v[i];
        for (int i = 0; i < t->n; ++i) y[i] = r[i] / t->diagonal[i];
        textbook_product(t, y, s);
        omega = textbook_dot(t->n, s, r) / textbook_dot(t->n, s, s);
        for (int i = 0; i < t->n; ++i) x[i] += omega * y[i], r[i] -= omega * s[i];
    }
    return most;
}

/* Gradients of both solutions, the move, and the walls of the box. */
static void textbook_move(textbook *t) {
    for (int i = 0; i < t->n; ++i) {
        double kick[3] = {0.0, 0.0, 0.0}, shift[3] = {0.0, 0.0, 0.0};
        for (int e = t->row_start[i]; e < t->row_start[i + 1]; ++e) {
            const int b = t->column[e];
            for (int k = 0; k < 3; ++k) {
                const double d = -0.5 * t->value[e] * (t->x[i][k] - t->x[b][k]) / (t->dx * t->dx);
                kick[k] += d * (t->solution[0][b] - t->solution[0][i]);
                shift[k] += d * (t->solution[1][b] - t->solution[1][i]);
            }
        }
        for (int k = 0; k < 3; ++k) t->u[i][k] = t->star[i][k] - t->seconds / 1000.0 * kick[k];
        for (int k = 0; k < 3; ++k) t->star[i][k] = t->x[i][k] + t->seconds * t->u[i][k] - shift[k];
    }
    for (int i = 0; i < t->n; ++i) {
        for (int k = 0; k < 3; ++k) {
            t->x[i][k] = t->star[i][k];
            if (t->x[i][k] < 0.5 * t->dx) t->x[i][k] = 0.5 * t->dx, t->u[i][k] = 0.0;
            if (t->x[i][k] > t->box[k] - 0.5 * t->dx) t->x[i][k] = t->box[k] - 0.5 * t->dx, t->u[i][k] = 0.0;
        }
    }
}

static void textbook_load(textbook *t, const isph_fluid *f) {
    const isph_view view = isph_particles(f);
    for (int i = 0; i < view.count; ++i) {
        const int to =
            (int)(isphx_slot(f, view.id[i])); /* a plain program keeps the order in which particles were made */
        const float *x = isphx_at(view.position, view.stride_bytes, i),
                    *u = isphx_at(view.velocity, view.stride_bytes, i);
        for (int k = 0; k < 3; ++k) t->x[to][k] = (double)x[k], t->u[to][k] = (double)u[k];
        t->solution[0][to] = (double)view.pressure[i], t->solution[1][to] = 0.0;
    }
}

/* One step; both solves start where the library's do, from the last pressures and from no density error. */
static void textbook_step(textbook *t, double tolerance, const int most[2], int taken[2]) {
    textbook_neighbours(t);
    textbook_assemble(t);
    textbook_predict(t);
    textbook_right_sides(t);
    for (int k = 0; k < 2; ++k) taken[k] = textbook_bicgstab(t, t->rhs[k], t->solution[k], tolerance, most[k]);
    textbook_move(t);
}

/* The library's step and, from the same state, the textbook's: once until its residuals are as small as the library's
   had to be, with the iterations which that takes it, and once with as many products as the library just took. */
typedef struct textbook_times {
    samples *ours, *same_residual, *same_products;
    int taken[2];   /* iterations to the same residuals, pressure and density */
    double left[2]; /* residuals after as few products */
} textbook_times;

static void textbook_race(bench *b, isph_fluid *f, textbook *t, double tolerance, textbook_times *times) {
    const size_t size = isph_fluid_save(f, NULL, 0);
    const int no_limit[2] = {1000, 1000};
    void *snapshot = need(malloc(size));
    (void)isph_fluid_save(f, snapshot, size);
    for (int r = 0; r < repeats_of(b, 5, 2); ++r) {
        int same[2];
        samples_begin(times->ours);
        (void)isph_fluid_step(f, (float)t->seconds, NULL);
        const isph_stats stats = isph_fluid_stats(f);
        samples_end(times->ours, stats.substeps);
        same[0] = (stats.pressure_iterations + 1) / 2, same[1] = (stats.density_iterations + 1) / 2;
        (void)isph_fluid_load(f, snapshot, size);
        textbook_load(t, f);
        samples_begin(times->same_residual);
        textbook_step(t, tolerance, no_limit, times->taken);
        samples_end(times->same_residual, 1.0);
        textbook_load(t, f);
        samples_begin(times->same_products);
        textbook_step(t, 0.0, same, same);
        samples_end(times->same_products, 1.0);
        for (int k = 0; k < 2; ++k) times->left[k] = textbook_residual(t, t->rhs[k], t->solution[k]);
    }
    free(snapshot);
}

static void textbook_report(bench *b, textbook_times *times) {
    const char *unit = "ns per particle";
    const timing ours = figure_samples(b, "library", times->ours, 1e9, DAM_PARTICLES, unit);
    const timing residual = figure_samples(b, "textbook", times->same_residual, 1e9, DAM_PARTICLES, unit);
    const timing products = figure_samples(b, "textbook_products", times->same_products, 1e9, DAM_PARTICLES, unit);
    figure_value(b, "textbook_pressure_iterations", times->taken[0], "of BiCGSTAB, two products each");
    figure_value(b, "textbook_density_iterations", times->taken[1], "of BiCGSTAB, two products each");
    figure_value(b, "products_pressure_residual", times->left[0], "|b - A x| / |b| that the textbook has left then");
    figure_value(b, "products_density_residual", times->left[1], "|b - A x| / |b| that the textbook has left then");
    figure_value(b, "speedup", residual.cpu_least / ours.cpu_least, "times faster to the same residuals, one thread");
    figure_value(b, "speedup_products", products.cpu_least / ours.cpu_least,
                 "times faster where the textbook stops after as many products");
}

static void textbook_compare(bench *b, float support) {
    isph_fluid_desc desc = dam_desc(DAM_SIDE, support);
    const double length = (double)DAM_SIDE * (double)DAM_SPACING;
    textbook_times times = {samples_new(), samples_new(), samples_new(), {0, 0}, {0.0, 0.0}};
    isph_fluid *f;
    textbook t;
    desc.parallel = serial_runner();
    f = dam_create(&desc, DAM_SIDE);
    textbook_init(&t, DAM_PARTICLES, (double)support);
    t.box[0] = 3.0 * length, t.box[1] = 4.0 * length, t.box[2] = length;
    dam_run(f, 0.5f);
    textbook_race(b, f, &t, (double)desc.tolerance, &times);
    place(b, "support_%.1f", (double)support);
    textbook_report(b, &times);
    textbook_free(&t);
    isph_fluid_destroy(f);
    free(times.ours), free(times.same_residual), free(times.same_products);
}

static void bench_textbook(bench *b) {
    heading(b, "against a textbook step, 27,000 particles (chained hash, CSR in double, BiCGSTAB with the diagonal)");
    figure_value(b, "tolerance", (double)isph_fluid_desc_default().tolerance, "relative residual of both");
    textbook_compare(b, 2.0f);
    textbook_compare(b, 2.4f);
}

#endif /* BENCH_TEXTBOOK_H */
