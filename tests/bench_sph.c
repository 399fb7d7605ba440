/* bench_sph.c - how fast the fluid is, and how far from the machine's limits. SPDX-License-Identifier: MIT

   Every figure that depends on the machine stands beside one measured in the same run: read bandwidth, a fixed scalar
   loop, a plain textbook step. Times are CPU times (wall times for threads), the least of several repeats unless a line
   says otherwise. The implementation is compiled into this file so that its private stages can be timed one by one. */
#include "timing.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#define ISPHPBD_IMPLEMENTATION
#define EXAMPLES_IMPLEMENTATION
#include "isphpbd_sph.h"
#include "examples/threads.h"

/* ==== [output] figures as text or as one flat JSON object ========================================================= */
typedef struct bench {
    bool json, quick;
    const char *only; /* NULL: all cases */
    int figures;
    double l3_gigabytes; /* per second, of the calibration */
} bench;

static void figure(bench *b, const char *group, const char *name, double value, const char *unit) {
    if (b->json) printf("%s\n  \"%s.%s\": %.6g", b->figures++ ? "," : "", group, name, value);
    else printf("  %-52s %12.4g %s\n", name, value, unit);
    fflush(stdout);
}

static void heading(const bench *b, const char *text) {
    if (!b->json) printf("%s\n", text);
}

static double cpu_seconds(void) {
    struct timespec t;
    if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t) != 0) return timing_cpu_seconds();
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double least(double a, double b) { return a < b ? a : b; }

static int by_value(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static double median(double *values, int count) {
    qsort(values, (size_t)count, sizeof *values, by_value);
    return values[count / 2];
}

static void *need(void *memory) {
    if (memory) return memory;
    fprintf(stderr, "bench_sph: out of memory\n");
    exit(1);
}

/* ==== [calibration] =============================================================================================== */
static float sum_floats(const float *data, size_t count) {
    isphpbdx_f4 s0 = isphpbdx_f4_all(0.0f), s1 = s0, s2 = s0, s3 = s0;
    float lane[4];
    for (size_t i = 0; i + 16 <= count; i += 16) {
        s0 = isphpbdx_f4_add(s0, isphpbdx_f4_load(data + i));
        s1 = isphpbdx_f4_add(s1, isphpbdx_f4_load(data + i + 4));
        s2 = isphpbdx_f4_add(s2, isphpbdx_f4_load(data + i + 8));
        s3 = isphpbdx_f4_add(s3, isphpbdx_f4_load(data + i + 12));
    }
    isphpbdx_f4_store(lane, isphpbdx_f4_add(isphpbdx_f4_add(s0, s1), isphpbdx_f4_add(s2, s3)));
    return lane[0] + lane[1] + lane[2] + lane[3];
}

/* Gigabytes per second of reading `bytes` again and again. */
static double read_bandwidth(size_t bytes, int repeats) {
    const size_t count = bytes / sizeof(float);
    const int passes = bytes > (size_t)64 << 20 ? 1 : (int)(((size_t)64 << 20) / bytes);
    float *data = (float *)need(calloc(count, sizeof(float)));
    volatile float sink = 0.0f;
    double best = 1e9;
    for (size_t i = 0; i < count; ++i) data[i] = (float)(i & 7);
    for (int r = 0; r < repeats; ++r) {
        const double start = cpu_seconds();
        for (int pass = 0; pass < passes; ++pass) sink = sink + sum_floats(data, count);
        best = least(best, (cpu_seconds() - start) / passes);
    }
    free(data);
    return 1e-9 * (double)bytes / best;
}

/* Nanoseconds of one multiplication and one addition that wait for each other. */
static double scalar_nanoseconds(int repeats) {
    const int steps = 4000000;
    double best = 1e9;
    for (int r = 0; r < repeats; ++r) {
        volatile float start_value = 1.0f;
        float v = start_value;
        const double start = cpu_seconds();
        for (int i = 0; i < steps; ++i) v = v * 0.999999f + 0.5f;
        start_value = v;
        best = least(best, cpu_seconds() - start);
    }
    return 1e9 * best / steps;
}

static void bench_machine(bench *b) {
    const int repeats = b->quick ? 4 : 12;
    char name[128];
    timing_cpu_name(name, sizeof name);
    if (!b->json) printf("the machine: %s\n", name);
    b->l3_gigabytes = read_bandwidth((size_t)6 << 20, repeats);
    figure(b, "machine", "read_l2", read_bandwidth((size_t)384 << 10, repeats), "GB/s");
    figure(b, "machine", "read_l3", b->l3_gigabytes, "GB/s");
    figure(b, "machine", "read_dram", read_bandwidth((size_t)(b->quick ? 96 : 256) << 20, b->quick ? 2 : 4), "GB/s");
    figure(b, "machine", "scalar_multiply_add", scalar_nanoseconds(repeats), "ns");
}

/* ==== [dam] the scene: a cube of water at one end of a box three times as long ==================================== */
#define SPACING 0.05f

static uint64_t clock_ticks(void *user) {
    (void)user;
    return (uint64_t)(1e9 * cpu_seconds());
}

static isph_fluid_desc dam_desc(int side, float support) {
    isph_fluid_desc desc = isph_fluid_desc_default();
    desc.spacing = SPACING;
    desc.support = support;
    desc.particle_capacity = side * side * side;
    desc.clock.fn = clock_ticks;
    return desc;
}

static isph_fluid *dam_create(const isph_fluid_desc *desc, int side) {
    const float length = SPACING * (float)side;
    const isph_material_desc water = isph_material_desc_default();
    isph_boundary_desc box = isph_boundary_desc_default();
    isph_fluid *fluid = (isph_fluid *)need(isph_fluid_create(desc, NULL));
    const isph_material material = isph_material_create(fluid, &water, NULL);
    box.shape = ISPH_SHAPE_BOX;
    box.container = true;
    box.half_extents = box.position = isphpbd_v3(1.5f * length, 2.0f * length, 0.5f * length);
    isph_boundary_create(fluid, &box, NULL);
    isph_particles_add_box(fluid, material, isphpbd_v3(0.0f, 0.0f, 0.0f), isphpbd_v3(length, length, length),
                           isphpbd_v3(0.0f, 0.0f, 0.0f), NULL);
    return fluid;
}

static int side_of(int particles) {
    int side = 1;
    while (side * side * side < particles) ++side;
    return side;
}

static void dam_run(isph_fluid *fluid, float seconds) {
    for (float t = 0.0f; t < seconds; t += 0.005f) (void)isph_fluid_step(fluid, 0.005f, NULL);
}

/* Mean compression max(density - 1, 0) over all particles: what DFSPH solvers call their density error. */
static double compression_of(const isph_fluid *fluid) {
    const isph_view view = isph_particles(fluid);
    double sum = 0.0;
    for (int i = 0; i < view.count; ++i) sum += view.density[i] > 1.0f ? (double)view.density[i] - 1.0 : 0.0;
    return sum / view.count;
}

typedef struct dam_figures {
    double nanoseconds, least_nanoseconds, median_nanoseconds; /* per particle and substep */
    double error, compression;                                 /* means over time */
    double pressure_iterations, density_iterations;
} dam_figures;

/* Steps of 5 ms from the start on; figures per particle and substep. */
static dam_figures dam_measure(isph_fluid *fluid, int steps) {
    double *times = (double *)need(calloc((size_t)steps, sizeof(double)));
    dam_figures out;
    double total = 0.0;
    isph_stats stats = isph_fluid_stats(fluid);
    const isph_stats before = stats;
    memset(&out, 0, sizeof out);
    for (int s = 0; s < steps; ++s) {
        const double start = cpu_seconds();
        (void)isph_fluid_step(fluid, 0.005f, NULL);
        times[s] = cpu_seconds() - start;
        total += times[s];
        stats = isph_fluid_stats(fluid);
        times[s] *= 1e9 / ((double)stats.substeps * stats.particles);
        out.error += (double)stats.density_error_mean / steps;
        out.compression += compression_of(fluid) / steps;
    }
    const double substeps = (double)(stats.total_substeps - before.total_substeps);
    out.nanoseconds = 1e9 * total / (substeps * stats.particles);
    out.median_nanoseconds = median(times, steps);
    out.least_nanoseconds = times[0];
    out.pressure_iterations = (double)(stats.total_pressure_iterations - before.total_pressure_iterations) / substeps;
    out.density_iterations = (double)(stats.total_density_iterations - before.total_density_iterations) / substeps;
    free(times);
    return out;
}

static void bench_dam(bench *b) {
    static const float tolerances[3] = {0.1f, 0.05f, 0.01f};
    for (int k = b->quick ? 1 : 0; k < (b->quick ? 2 : 3); ++k) {
        isph_fluid_desc desc = dam_desc(30, 2.0f);
        char group[32], text[96];
        desc.tolerance = tolerances[k];
        isph_fluid *fluid = dam_create(&desc, 30);
        const dam_figures f = dam_measure(fluid, b->quick ? 60 : 200);
        (void)snprintf(group, sizeof group, "dam_%g", (double)tolerances[k]);
        (void)snprintf(text, sizeof text, "dam break, 27,000 particles, support 2.0, tolerance %g, %s s",
                       (double)tolerances[k], b->quick ? "0.3" : "1");
        heading(b, text);
        figure(b, group, "million_particle_steps_per_second", 1e3 / f.nanoseconds, "M/s of CPU time, mean");
        figure(b, group, "million_particle_steps_per_second_median", 1e3 / f.median_nanoseconds, "M/s, median step");
        figure(b, group, "density_error_percent", 100.0 * f.error, "% mean |density - 1|, covered particles");
        figure(b, group, "compression_percent", 100.0 * f.compression, "% mean max(density - 1, 0), all particles");
        figure(b, group, "pressure_iterations", f.pressure_iterations, "per substep");
        figure(b, group, "density_iterations", f.density_iterations, "per substep");
        isph_fluid_destroy(fluid);
    }
}

/* ==== [stages] ==================================================================================================== */
enum { SORT, WALLS, ROWS, PREDICT, COARSEN, RIGHT_SIDE, SOLVE, PRESSURES, MOVE, REST, STAGES };
static const char *const stage_names[STAGES] = {
    "sort",       "walls",  "search_and_assembly", "predict",           "coarsen",
    "divergence", "krylov", "pressures",           "gradient_and_move", "deliver_and_measure"};

typedef struct lap {
    double *times, last;
} lap;

static void lap_end(lap *l, int stage) {
    const double now = cpu_seconds();
    l->times[stage] = now - l->last;
    l->last = cpu_seconds();
}

static void run_task(isph_fluid *f, void (*task)(void *, int)) {
    isphpbdx_run(&f->desc.parallel, task, f, isphx_blocks(f->count));
}

/* A substep as the library does it, with a look at the clock after every stage. */
static void timed_substep(isph_fluid *f, float seconds, double times[STAGES]) {
    lap l;
    l.times = times, l.last = cpu_seconds();
    isphx_now(f, seconds);
    isphx_sort(f), isphx_clear_rows(f), lap_end(&l, SORT);
    run_task(f, isphx_walls_task), lap_end(&l, WALLS);
    isphx_rows(f), lap_end(&l, ROWS);
    run_task(f, isphx_predict_task), lap_end(&l, PREDICT);
    isphx_coarsen(f), lap_end(&l, COARSEN); /* the solve does these two again: */
    run_task(f, isphx_rhs_task), lap_end(&l, RIGHT_SIDE);
    isphx_solve(f), lap_end(&l, SOLVE);
    times[SOLVE] -= times[COARSEN] + times[RIGHT_SIDE];
    isphx_close_components(f), isphx_pressures(f), lap_end(&l, PRESSURES);
    isphx_boundaries_advance(f, false);
    run_task(f, isphx_move_task), lap_end(&l, MOVE);
    isphx_deliver(f);
    isphx_boundaries_advance(f, true);
    isphx_measure(f), isphx_commit(f), lap_end(&l, REST);
    f->stats.total_substeps++;
}

static int lanes(void) { return isphx_padded(1); } /* rows that are interleaved */

static double entries_of(const isph_fluid *f) {
    double entries = 0.0;
    for (int c = 0; c < isphx_chunks(f->count); ++c) entries += lanes() * f->sell.length[c];
    return entries;
}

static double nonzeros_of(const isph_fluid *f) {
    double nonzeros = 0.0;
    for (int c = 0; c < isphx_chunks(f->count); ++c) {
        const float *value = f->sell.value + f->sell.offset[c];
        for (int e = 0; e < lanes() * f->sell.length[c]; ++e) nonzeros += value[e] != 0.0f;
    }
    return nonzeros;
}

/* Seconds of one product with the pair of right sides that the pressure solve works on. */
static double pair_product_seconds(isph_fluid *f, int repeats) {
    isphx_system system;
    double best = 1e9;
    isphx_system_make(f, &system, f->pair[0]);
    for (int r = 0; r < repeats; ++r) {
        const double start = cpu_seconds();
        for (int k = 0; k < 8; ++k) isphx_cg_apply(&system);
        best = least(best, (cpu_seconds() - start) / 8);
    }
    return best;
}

/* Seconds of one product with a single vector. */
static double single_product_seconds(isph_fluid *f, int repeats) {
    isphx_system system;
    isphx_bicgstab s;
    double best = 1e9, sums[2];
    isphx_system_make(f, &system, f->pair[0]);
    memset(&s, 0, sizeof s);
    s.system = &system;
    for (int r = 0; r < repeats; ++r) {
        const double start = cpu_seconds();
        for (int k = 0; k < 8; ++k) isphx_bicgstab_product(&s, f->pair[2], f->pair[3], f->pair[2], sums);
        best = least(best, (cpu_seconds() - start) / 8);
    }
    return best;
}

/* Nanoseconds per nonzero of the same product where matrix and vectors fit the second-level cache. */
static double product_in_cache(float support, int repeats) {
    const isph_fluid_desc desc = dam_desc(10, support);
    isph_fluid *f = dam_create(&desc, 10);
    double result;
    dam_run(f, 0.05f);
    result = 1e9 * single_product_seconds(f, 4 * repeats) / nonzeros_of(f);
    isph_fluid_destroy(f);
    return result;
}

static void stage_products(bench *b, const char *group, isph_fluid *f) {
    const int repeats = b->quick ? 10 : 40;
    const double entries = entries_of(f), nonzeros = nonzeros_of(f), n = f->count;
    const double pair = pair_product_seconds(f, repeats), single = single_product_seconds(f, repeats);
    const double matrix = 6.0 * entries + 4.0 * n; /* values, 16-bit columns, diagonal */
    figure(b, group, "neighbours_per_particle", nonzeros / n, "");
    figure(b, group, "padding", entries / nonzeros, "entries stored per nonzero");
    figure(b, group, "product_ns_per_nonzero", 1e9 * single / nonzeros, "ns");
    figure(b, group, "pair_product_ns_per_nonzero", 1e9 * pair / nonzeros, "ns, two right sides at once");
    figure(b, group, "product_ns_per_nonzero_in_cache", product_in_cache(f->desc.support, repeats),
           "ns, 1,000 particles: what the instructions take");
    if (b->l3_gigabytes <= 0.0) b->l3_gigabytes = read_bandwidth((size_t)6 << 20, repeats);
    figure(b, group, "product_share_of_l3", 1e-9 * (matrix + 8.0 * n) / single / b->l3_gigabytes,
           "of the read bandwidth");
    figure(b, group, "pair_product_share_of_l3", 1e-9 * (matrix + 16.0 * n) / pair / b->l3_gigabytes, "");
    figure(b, group, "pair_products_per_single", pair / single, "single products in the time of a pair");
}

static void bench_stages_at(bench *b, float support) {
    const int substeps = b->quick ? 12 : 40;
    const isph_fluid_desc desc = dam_desc(30, support);
    isph_fluid *f = dam_create(&desc, 30);
    double best[STAGES], times[STAGES], sum = 0.0, nonzeros;
    char text[96], group[32];
    int iterations = 0;
    (void)snprintf(text, sizeof text,
                   "stages of a substep, 27,000 particles, support %.1f, least of %d substeps at 0.4 s",
                   (double)support, substeps);
    (void)snprintf(group, sizeof group, "stages_%.1f", (double)support);
    heading(b, text);
    dam_run(f, 0.4f);
    for (int k = 0; k < STAGES; ++k) best[k] = 1e9;
    for (int s = 0; s < substeps; ++s) {
        timed_substep(f, 0.004f, times);
        for (int k = 0; k < STAGES; ++k) best[k] = least(best[k], times[k]);
        iterations +=
            isphpbdx_maxi(f->stats.pressure_iterations, f->stats.density_iterations) + 1; /* and one for the start */
    }
    nonzeros = nonzeros_of(f);
    for (int k = 0; k < STAGES; ++k) {
        char name[64];
        (void)snprintf(name, sizeof name, "%s_ns_per_particle", stage_names[k]);
        figure(b, group, name, 1e9 * best[k] / f->count, "ns");
        sum += best[k];
    }
    figure(b, group, "sum_ns_per_particle", 1e9 * sum / f->count, "ns");
    figure(b, group, "search_and_assembly_ns_per_nonzero", 1e9 * best[ROWS] / nonzeros, "ns");
    figure(b, group, "gradient_ns_per_nonzero", 1e9 * best[MOVE] / nonzeros, "ns");
    figure(b, group, "krylov_products", (double)iterations / substeps, "pair products per substep");
    stage_products(b, group, f);
    {
        const double product = pair_product_seconds(f, 20);
        figure(b, group, "krylov_over_products", best[SOLVE] / (product * iterations / substeps), "");
        figure(b, group, "assembly_in_products", best[ROWS] / product, "pair products");
        figure(b, group, "gradient_in_products", best[MOVE] / product, "pair products");
    }
    isph_fluid_destroy(f);
}

static void bench_stages(bench *b) {
    bench_stages_at(b, 2.0f);
    bench_stages_at(b, 2.4f);
}

/* ==== [textbook] the same step as one writes it first: chained hash, compressed rows, doubles, BiCGSTAB with Jacobi  */
typedef struct textbook {
    int n, buckets, entries, entry_capacity;
    double dx, reach, seconds, box[3];
    double (*x)[3], (*u)[3], (*star)[3];
    double *density, *diagonal, *rhs[2], *solution[2], *work[6];
    int *head, *next, *row_start, *column;
    double *value;
} textbook;

static double *doubles(int n) { return (double *)need(calloc((size_t)n, sizeof(double))); }

static void textbook_init(textbook *t, int n, double reach_in_spacings) {
    memset(t, 0, sizeof *t);
    t->n = n, t->buckets = 2 * n + 1, t->entry_capacity = 160 * n;
    t->dx = (double)SPACING, t->reach = reach_in_spacings * t->dx, t->seconds = 0.004;
    t->x = (double(*)[3])need(calloc((size_t)n, sizeof *t->x));
    t->u = (double(*)[3])need(calloc((size_t)n, sizeof *t->u));
    t->star = (double(*)[3])need(calloc((size_t)n, sizeof *t->star));
    t->density = doubles(n), t->diagonal = doubles(n);
    for (int k = 0; k < 2; ++k) t->rhs[k] = doubles(n), t->solution[k] = doubles(n);
    for (int k = 0; k < 6; ++k) t->work[k] = doubles(n);
    t->head = (int *)need(calloc((size_t)t->buckets, sizeof(int)));
    t->next = (int *)need(calloc((size_t)n, sizeof(int)));
    t->row_start = (int *)need(calloc((size_t)n + 1, sizeof(int)));
    t->column = (int *)need(calloc((size_t)t->entry_capacity, sizeof(int)));
    t->value = doubles(t->entry_capacity);
}

static void textbook_free(textbook *t) {
    free(t->x), free(t->u), free(t->star), free(t->density), free(t->diagonal);
    for (int k = 0; k < 2; ++k) free(t->rhs[k]), free(t->solution[k]);
    for (int k = 0; k < 6; ++k) free(t->work[k]);
    free(t->head), free(t->next), free(t->row_start), free(t->column), free(t->value);
}

static int textbook_bucket(const textbook *t, int i, int j, int k) {
    const uint32_t hash = ((uint32_t)i * 73856093u) ^ ((uint32_t)j * 19349663u) ^ ((uint32_t)k * 83492791u);
    return (int)(hash % (uint32_t)t->buckets);
}

static void textbook_cell(const textbook *t, int i, int cell[3]) {
    for (int k = 0; k < 3; ++k) cell[k] = (int)floor(t->x[i][k] / t->reach);
}

static double textbook_distance2(const textbook *t, int a, int b) {
    double sum = 0.0;
    for (int k = 0; k < 3; ++k) sum += (t->x[a][k] - t->x[b][k]) * (t->x[a][k] - t->x[b][k]);
    return sum;
}

static void textbook_search_cell(textbook *t, int a, const int cell[3]) {
    for (int b = t->head[textbook_bucket(t, cell[0], cell[1], cell[2])]; b >= 0; b = t->next[b]) {
        int other[3];
        textbook_cell(t, b, other); /* buckets mix cells */
        if (other[0] != cell[0] || other[1] != cell[1] || other[2] != cell[2]) continue;
        if (a != b && textbook_distance2(t, a, b) < t->reach * t->reach && t->entries < t->entry_capacity) {
            t->column[t->entries++] = b;
        }
    }
}

static void textbook_neighbours(textbook *t) {
    int cell[3], c[3];
    for (int i = 0; i < t->buckets; ++i) t->head[i] = -1;
    for (int i = 0; i < t->n; ++i) {
        textbook_cell(t, i, cell);
        int *head = &t->head[textbook_bucket(t, cell[0], cell[1], cell[2])];
        t->next[i] = *head, *head = i;
    }
    t->entries = 0;
    for (int i = 0; i < t->n; ++i) {
        t->row_start[i] = t->entries;
        textbook_cell(t, i, cell);
        for (c[2] = cell[2] - 1; c[2] <= cell[2] + 1; ++c[2]) {
            for (c[1] = cell[1] - 1; c[1] <= cell[1] + 1; ++c[1]) {
                for (c[0] = cell[0] - 1; c[0] <= cell[0] + 1; ++c[0]) textbook_search_cell(t, i, c);
            }
        }
    }
    t->row_start[t->n] = t->entries;
}

/* Density, pair weights -2 V F dx^2 and diagonal. */
static void textbook_assemble(textbook *t) {
    const double h = 0.5 * t->reach, pi = 3.14159265358979323846, volume = t->dx * t->dx * t->dx;
    const double value_scale = volume * 21.0 / (16.0 * pi * h * h * h);
    const double weight_scale = 2.0 * volume * t->dx * t->dx * 105.0 / (16.0 * pi * h * h * h * h * h);
    for (int i = 0; i < t->n; ++i) {
        double density = value_scale, sum = 0.0;
        for (int e = t->row_start[i]; e < t->row_start[i + 1]; ++e) {
            const double q = 1.0 - sqrt(textbook_distance2(t, i, t->column[e])) / t->reach;
            t->value[e] = weight_scale * q * q * q;
            density += value_scale * q * q * q * q * (5.0 - 4.0 * q);
            sum += t->value[e];
        }
        t->density[i] = density;
        t->diagonal[i] = sum > 2.0 ? sum : 2.0;
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

/* A fixed number of iterations: two products each. */
static void textbook_bicgstab(textbook *t, const double *b, double *x, int iterations) {
    double *r = t->work[0], *shadow = t->work[1], *p = t->work[2], *v = t->work[3], *y = t->work[4], *s = t->work[5];
    double rho = 1.0, alpha = 1.0, omega = 1.0;
    for (int i = 0; i < t->n; ++i) x[i] = p[i] = v[i] = 0.0, r[i] = shadow[i] = b[i];
    for (int k = 0; k < iterations; ++k) {
        const double rho_new = textbook_dot(t->n, shadow, r), beta = rho_new / rho * (alpha / omega);
        if (!(rho_new * rho_new > 0.0)) return;
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
    }
}

/* One step with as many products for either right side as the library just took (and one for its warm start). */
static void textbook_step(textbook *t, const isph_stats *stats) {
    textbook_neighbours(t);
    textbook_assemble(t);
    textbook_predict(t);
    textbook_right_sides(t);
    textbook_bicgstab(t, t->rhs[0], t->solution[0], (stats->pressure_iterations + 1) / 2);
    textbook_bicgstab(t, t->rhs[1], t->solution[1], stats->density_iterations / 2);
    textbook_move(t);
}

/* The library's step and the textbook's from the same state; seconds. */
static void race(isph_fluid *f, textbook *t, int repeats, double *ours, double *theirs) {
    const size_t size = isph_fluid_save(f, NULL, 0);
    void *image = need(malloc(size));
    isph_stats stats;
    *ours = *theirs = 1e9;
    (void)isph_fluid_save(f, image, size);
    for (int r = 0; r < repeats; ++r) {
        double start = cpu_seconds();
        (void)isph_fluid_step(f, 0.004f, NULL);
        stats = isph_fluid_stats(f);
        *ours = least(*ours, (cpu_seconds() - start) / stats.substeps);
        (void)isph_fluid_load(f, image, size);
        textbook_load(t, f);
        start = cpu_seconds();
        textbook_step(t, &stats);
        *theirs = least(*theirs, cpu_seconds() - start);
    }
    free(image);
}

static void bench_textbook(bench *b) {
    static const float supports[2] = {2.0f, 2.4f};
    heading(b, "against a textbook step of the same work, 27,000 particles (chained hash, CSR in double, BiCGSTAB)");
    for (int k = 0; k < 2; ++k) {
        const isph_fluid_desc desc = dam_desc(30, supports[k]);
        isph_fluid *f = dam_create(&desc, 30);
        const double length = 30.0 * (double)SPACING;
        double ours, theirs, sum_ours = 0.0, sum_theirs = 0.0;
        textbook t;
        char name[64];
        textbook_init(&t, 27000, (double)supports[k]);
        t.box[0] = 3.0 * length, t.box[1] = 4.0 * length, t.box[2] = length;
        for (int sample = 0; sample < (b->quick ? 1 : 3); ++sample) {
            dam_run(f, 0.3f);
            race(f, &t, b->quick ? 2 : 4, &ours, &theirs);
            sum_ours += ours, sum_theirs += theirs;
        }
        (void)snprintf(name, sizeof name, "ns_per_particle_%.1f", (double)supports[k]);
        figure(b, "library", name, 1e9 * sum_ours / (27000.0 * (b->quick ? 1 : 3)), "ns, library");
        figure(b, "textbook", name, 1e9 * sum_theirs / (27000.0 * (b->quick ? 1 : 3)), "ns, textbook");
        (void)snprintf(name, sizeof name, "speedup_%.1f", (double)supports[k]);
        figure(b, "textbook", name, sum_theirs / sum_ours, "times faster than the textbook");
        textbook_free(&t);
        isph_fluid_destroy(f);
    }
}

/* ==== [threads] =================================================================================================== */
/* A runner that plays two threads one after the other and keeps account of what both would have done at the same time:
   the critical path, free of what else runs on the machine. */
typedef struct account {
    double parallel, critical;
} account;

static void account_run(void (*task)(void *ctx, int index), void *ctx, int count, void *user) {
    account *a = (account *)user;
    double part[2];
    for (int thread = 0; thread < 2; ++thread) {
        const double start = cpu_seconds();
        for (int i = thread; i < count; i += 2) task(ctx, i);
        part[thread] = cpu_seconds() - start;
    }
    a->parallel += part[0] + part[1];
    a->critical += part[0] > part[1] ? part[0] : part[1];
}

static double threads_balance(int side, int steps, double *serial_share) {
    isph_fluid_desc desc = dam_desc(side, 2.0f);
    account a = {0.0, 0.0};
    desc.parallel.run = account_run;
    desc.parallel.user = &a;
    isph_fluid *f = dam_create(&desc, side);
    dam_run(f, 0.2f);
    a.parallel = a.critical = 0.0;
    const double start = cpu_seconds();
    for (int s = 0; s < steps; ++s) (void)isph_fluid_step(f, 0.005f, NULL);
    const double total = cpu_seconds() - start;
    isph_fluid_destroy(f);
    *serial_share = (total - a.parallel) / total;
    return total / (total - a.parallel + a.critical);
}

/* Wall seconds per substep, the least of all steps. */
static double threads_wall(int threads_wanted, int side, int steps) {
    isph_fluid_desc desc = dam_desc(side, 2.0f);
    threads *pool = (threads *)need(threads_create(threads_wanted));
    double best = 1e9;
    desc.parallel = threads_runner(pool);
    isph_fluid *f = dam_create(&desc, side);
    dam_run(f, 0.2f);
    for (int s = 0; s < steps; ++s) {
        const double start = timing_wall_seconds();
        (void)isph_fluid_step(f, 0.005f, NULL);
        best = least(best, (timing_wall_seconds() - start) / isph_fluid_stats(f).substeps);
    }
    isph_fluid_destroy(f);
    threads_destroy(pool);
    return best;
}

static void bench_threads(bench *b) {
    const int steps = b->quick ? 10 : 40;
    double serial, one, two;
    heading(b, "two threads, 27,000 particles, support 2.0");
    figure(b, "threads", "two_by_critical_path", threads_balance(30, steps, &serial), "times one, from CPU times");
    figure(b, "threads", "serial_share", serial, "of the step");
    if (threads_available() < 2) return;
    one = threads_wall(1, 30, steps), two = threads_wall(2, 30, steps);
    figure(b, "threads", "one_ms_per_substep", 1e3 * one, "ms of wall time");
    figure(b, "threads", "two_ms_per_substep", 1e3 * two, "ms of wall time");
    figure(b, "threads", "two_by_wall", one / two, "times one; needs two idle cores");
}

/* ==== [scaling] =================================================================================================== */
static void bench_scaling(bench *b) {
    static const int sizes[5] = {5000, 20000, 50000, 100000, 200000};
    double cost[5];
    heading(b, "cost per particle and substep over the number of particles, support 2.0");
    for (int k = 0; k < 5; ++k) {
        const int side = side_of(sizes[k]);
        const isph_fluid_desc desc = dam_desc(side, 2.0f);
        isph_fluid *f = dam_create(&desc, side);
        char name[64], unit[96];
        dam_run(f, 0.05f);
        const dam_figures d = dam_measure(f, b->quick ? 6 : 24);
        cost[k] = d.least_nanoseconds;
        (void)snprintf(name, sizeof name, "ns_per_particle_%d", sizes[k]);
        (void)snprintf(unit, sizeof unit, "ns; %.1f + %.1f iterations, %.0f bytes per particle", d.pressure_iterations,
                       d.density_iterations, (double)isph_fluid_stats(f).bytes / desc.particle_capacity);
        figure(b, "scaling", name, cost[k], unit);
        isph_fluid_destroy(f);
    }
    figure(b, "scaling", "cost_at_200K_over_20K", cost[4] / cost[1], "");
}

/* ==== [solvers] =================================================================================================== */
typedef struct solver_kind {
    const char *name;
    isph_linear_solver solver;
    isph_preconditioner preconditioner;
} solver_kind;

static void bench_solvers(bench *b) {
    static const solver_kind kinds[4] = {{"cg_jacobi", ISPH_LINEAR_CG, ISPH_PRECONDITIONER_JACOBI},
                                         {"cg_two_level", ISPH_LINEAR_CG, ISPH_PRECONDITIONER_TWO_LEVEL},
                                         {"bicgstab_jacobi", ISPH_LINEAR_BICGSTAB, ISPH_PRECONDITIONER_JACOBI},
                                         {"bicgstab_two_level", ISPH_LINEAR_BICGSTAB, ISPH_PRECONDITIONER_TWO_LEVEL}};
    const isph_fluid_desc desc = dam_desc(30, 2.0f);
    isph_fluid *f = dam_create(&desc, 30);
    heading(b, "both pressure solves of one substep from a cold start, 27,000 particles: ms (iterations + iterations)");
    dam_run(f, 0.4f);
    isphx_now(f, 0.004f);
    isphx_neighbours(f);
    run_task(f, isphx_predict_task);
    f->desc.max_iterations = 2000;
    for (int k = 0; k < 4; ++k) {
        double tolerance = 1.0;
        f->desc.linear_solver = kinds[k].solver, f->desc.preconditioner = kinds[k].preconditioner;
        for (int digit = 1; digit <= 5; ++digit) {
            double best = 1e9;
            char name[64], unit[64];
            tolerance *= 0.1;
            f->desc.tolerance = (float)tolerance;
            for (int r = 0; r < (b->quick ? 1 : 3); ++r) {
                memset(f->pair[0], 0, 2 * (size_t)isphx_padded(f->count) * sizeof(float));
                const double start = cpu_seconds();
                isphx_solve(f);
                best = least(best, cpu_seconds() - start);
            }
            (void)snprintf(name, sizeof name, "%s_1e-%d_ms", kinds[k].name, digit);
            (void)snprintf(unit, sizeof unit, "ms (%d + %d)", f->stats.pressure_iterations,
                           f->stats.density_iterations);
            figure(b, "solvers", name, 1e3 * best, unit);
        }
    }
    isph_fluid_destroy(f);
}

/* ==== [memory] ==================================================================================================== */
static void bench_memory(bench *b) {
    static const float supports[3] = {2.0f, 2.4f, 2.8f};
    isph_fluid_desc desc = isph_fluid_desc_default();
    heading(b, "memory at default settings");
    figure(b, "memory", "bytes_per_particle_default", (double)isph_fluid_bytes(&desc) / desc.particle_capacity,
           "bytes");
    desc.particle_capacity = 1 << 17;
    for (int k = 0; k < 3; ++k) {
        char name[64];
        desc.support = supports[k];
        (void)snprintf(name, sizeof name, "bytes_per_particle_%.1f_131072", (double)supports[k]);
        figure(b, "memory", name, (double)isph_fluid_bytes(&desc) / desc.particle_capacity, "bytes");
    }
}

/* ==== [main] ====================================================================================================== */
typedef struct bench_case {
    const char *name;
    void (*run)(bench *b);
    const char *what;
} bench_case;

static const bench_case cases[] = {
    {"machine", bench_machine, "read bandwidth of L2, L3 and DRAM, a scalar loop"},
    {"dam", bench_dam, "particle-steps per second and density error of the 27K dam break"},
    {"stages", bench_stages, "where the time of a substep goes; products against the L3"},
    {"textbook", bench_textbook, "ratio to a plain textbook step"},
    {"threads", bench_threads, "one and two threads"},
    {"scaling", bench_scaling, "cost per particle from 5K to 200K"},
    {"solvers", bench_solvers, "CG and BiCGSTAB, Jacobi and two-level, to 1e-1 .. 1e-5"},
    {"memory", bench_memory, "bytes per particle"},
};
enum { CASES = (int)(sizeof cases / sizeof cases[0]) };

static int usage(const char *program, int result) {
    FILE *out = result == 0 ? stdout : stderr;
    fprintf(out, "usage: %s [--json] [--quick] [--only CASE]\n  --json   one flat JSON object\n", program);
    fprintf(out, "  --quick  fewer repeats, shorter runs\n  --only   one of:\n");
    for (int k = 0; k < CASES; ++k) fprintf(out, "    %-9s %s\n", cases[k].name, cases[k].what);
    return result;
}

static bool known_case(const char *name) {
    for (int k = 0; k < CASES; ++k) {
        if (strcmp(cases[k].name, name) == 0) return true;
    }
    return false;
}

int main(int argc, char **argv) {
    bench b;
    memset(&b, 0, sizeof b);
    for (int i = 1; i < argc; ++i) {
        if (strcmp(argv[i], "--json") == 0) b.json = true;
        else if (strcmp(argv[i], "--quick") == 0) b.quick = true;
        else if (strcmp(argv[i], "--help") == 0) return usage(argv[0], 0);
        else if (strcmp(argv[i], "--only") == 0 && i + 1 < argc && known_case(argv[i + 1])) b.only = argv[++i];
        else return usage(argv[0], 2);
    }
    if (b.json) printf("{");
    for (int k = 0; k < CASES; ++k) {
        if (!b.only || strcmp(b.only, cases[k].name) == 0) cases[k].run(&b);
    }
    if (b.json) printf("\n}\n");
    return 0;
}
