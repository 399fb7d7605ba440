/* bench_stages.c - one copy of the fluid, its stages timed; see bench_stages.h. SPDX-License-Identifier: MIT

   BENCH_STAGES and BENCH_READ name the functions, bench_stages_plain and so on; the compiler's options make the
   difference. */
#define ISPHPBD_STATIC
#include "bench_stages.h"

#include "bench_dam.h"

typedef struct piece {
    void (*task)(void *ctx, int index);
    stage stage;
} piece;

static const piece pieces[] = {
    {isphx_cells_bounds_task, STAGE_SORT},
    {isphx_cells_locate_task, STAGE_SORT},
    {isphx_cells_count_task, STAGE_SORT},
    {isphx_cells_sum_task, STAGE_SORT},
    {isphx_cells_place_task, STAGE_SORT},
    {isphx_cells_order_task, STAGE_SORT},
    {isphx_sort_task, STAGE_SORT},
    {isphx_check_task, STAGE_MOVE},
    {isphx_walls_task, STAGE_WALLS},
    {isphx_rows_task, STAGE_ROWS},
    {isphx_predict_task, STAGE_PREDICT},
    {isphx_viscosity_task, STAGE_PREDICT},
    {isphx_viscosity_end_task, STAGE_PREDICT},
    {isphx_viscosity_keep_task, STAGE_PREDICT},
    {isphx_viscosity_store_task, STAGE_PREDICT},
    {isphx_coarse_number_task, STAGE_COARSEN},
    {isphx_coarse_diagonal_task, STAGE_COARSEN},
    {isphx_coarse_build_task, STAGE_COARSEN},
    {isphx_rhs_task, STAGE_DIVERGENCE},
    {isphx_cg_product_task, STAGE_PRODUCT},
    {isphx_cg_dot_task, STAGE_VECTORS},
    {isphx_cg_compare_task, STAGE_VECTORS},
    {isphx_cg_drop_task, STAGE_VECTORS},
    {isphx_cg_update_task, STAGE_VECTORS},
    {isphx_cg_direction_task, STAGE_VECTORS},
    {isphx_cg_restrict_task, STAGE_VECTORS},
    {isphx_coarse_solve_task, STAGE_VECTORS},
    {isphx_pressures_task, STAGE_PRESSURES},
    {isphx_lower_task, STAGE_PRESSURES},
    {isphx_least_task, STAGE_PRESSURES},
    {isphx_vessels_task, STAGE_PRESSURES},
    {isphx_vessels_relieve_task, STAGE_PRESSURES},
    {isphx_no_pressure_task, STAGE_PRESSURES},
    {isphx_move_task, STAGE_MOVE},
    {isphx_held_task, STAGE_MOVE},
    {isphx_account_task, STAGE_MOVE},
    {isphx_balance_task, STAGE_MOVE},
    {isphx_deliver_task, STAGE_MOVE},
    {isphx_equation_task, STAGE_DIVERGENCE},
    {isphx_measure_task, STAGE_MEASURE},
    {isphx_slots_task, STAGE_MEASURE},
};

static stage stage_of(void (*task)(void *ctx, int index)) {
    for (int k = 0; k < (int)(sizeof pieces / sizeof pieces[0]); ++k) {
        if (pieces[k].task == task) return pieces[k].stage;
    }
    return STAGE_OTHER;
}

/* ---- the runner that keeps account ------------------------------------------------------------------------------- */

typedef struct account {
    isphpbd_parallel inner;           /* does the work */
    stage now;                        /* the piece that runs, or ran last */
    double cpu_mark, wall_mark;       /* when the last look at the clocks was */
    double cpu[STAGES], wall[STAGES]; /* seconds */
    double cpu_serial, wall_serial;   /* of these, between pieces */
    int products;
    bool alone; /* one thread */
} account;

static void account_look(account *a, bool serial) {
    const double wall = timing_wall_seconds(), cpu = cpu_seconds();
    a->cpu[a->now] += cpu - a->cpu_mark, a->wall[a->now] += wall - a->wall_mark;
    if (serial) a->cpu_serial += cpu - a->cpu_mark, a->wall_serial += wall - a->wall_mark;
    a->cpu_mark = cpu, a->wall_mark = wall;
}

/* What stands beside a job: timed by itself on one thread, else it counts with the job. */
static void account_beside(account *a, isphx_machine *m) {
    if (!a->alone) return;
    a->now = stage_of(m->beside.task);
    isphx_run_beside(m, m->beside.count);
    account_look(a, false);
}

static void account_run(void (*task)(void *ctx, int index), void *ctx, int count, void *user) {
    account *a = (account *)user;
    const bool both = task == isphx_both_task;
    account_look(a, true);
    if (both) account_beside(a, (isphx_machine *)ctx);
    a->now = stage_of(both ? ((const isphx_machine *)ctx)->task : task);
    a->products += a->now == STAGE_PRODUCT;
    isphpbdx_run(&a->inner, task, ctx, count);
    account_look(a, false);
}

static void account_begin(account *a) {
    const isphpbd_parallel inner = a->inner;
    const bool alone = a->alone;
    memset(a, 0, sizeof *a);
    a->inner = inner, a->alone = alone;
    a->now = STAGE_MEASURE; /* what a step does before its first piece: it looks for the fastest particle */
    a->cpu_mark = cpu_seconds(), a->wall_mark = timing_wall_seconds();
}

static void account_end(account *a, stage_figures *out) {
    account_look(a, true);
    for (int k = 0; k < STAGES; ++k) samples_add(&out->stage[k], a->cpu[k], a->wall[k]);
    samples_add(&out->serial, a->cpu_serial, a->wall_serial);
    out->products = a->products;
}

/* ---- what the matrix holds --------------------------------------------------------------------------------------- */

static void count_entries(const isph_fluid *f, stage_figures *out) {
    const int lanes = isphx_padded(1); /* rows that are interleaved */
    out->entries = out->nonzeros = 0.0;
    for (int c = 0; c < isphx_chunks(f->count); ++c) {
        const float *value = f->sell.value + f->sell.offset[c];
        out->entries += lanes * f->sell.length[c];
        for (int e = 0; e < lanes * f->sell.length[c]; ++e) out->nonzeros += value[e] != 0.0f;
    }
}

/* The search alone; in a step its lists go straight into the rows of the matrix. */
static void search_task(void *ctx, int block) {
    const isph_fluid *f = (const isph_fluid *)ctx;
    isphx_chunk_work work;
    int chunk, end;
    isphx_block_chunks(f->count, block, &chunk, &end);
    for (; chunk < end; ++chunk) isphx_chunk_search(f, chunk, &work);
}

static void time_search(isph_fluid *f, const stage_request *request, stage_figures *out) {
    for (int r = 0; r < request->repeats; ++r) {
        samples_begin(&out->search);
        isphpbdx_run(&request->parallel, search_task, f, isphx_blocks(f->count));
        samples_end(&out->search, 1.0);
    }
}

#if defined(__SSE2__) && !defined(ISPHPBD_NO_SIMD) && defined(__GNUC__)
/* What a product has to load, and nothing else: values, columns by fours, and the pairs that those lead to, two to a
   register. The compiler is told that somebody wants them. */
static void gather_keep(isphpbdx_f4 v) { __asm__ volatile("" : : "x"(v)); }

static void gather_two(const float *x, uint64_t columns) {
    gather_keep(isphx_pairs(x + 2 * (size_t)(columns & 0xffffu), x + 2 * (size_t)(columns >> 16 & 0xffffu)));
}

static void gather_chunk(const isph_fluid *f, int chunk) {
    const unsigned char *column = isphx_chunk_index(&f->sell, chunk);
    const float *value = f->sell.value + f->sell.offset[chunk];
    const float *x = f->pair[0] + 2 * isphx_chunk_base(&f->sell, chunk);
    for (int j = 0; j < f->sell.length[chunk]; ++j, column += 16, value += 8) {
        uint64_t low, high; /* four columns each */
        memcpy(&low, column, 8), memcpy(&high, column + 8, 8);
        gather_keep(isphpbdx_f4_load(value)), gather_keep(isphpbdx_f4_load(value + 4));
        gather_two(x, low), gather_two(x, low >> 32);
        gather_two(x, high), gather_two(x, high >> 32);
    }
}

static void gather_task(void *ctx, int block) {
    const isph_fluid *f = (const isph_fluid *)ctx;
    int chunk, end;
    isphx_block_chunks(f->count, block, &chunk, &end);
    for (; chunk < end; ++chunk) gather_chunk(f, chunk);
}

static void time_gather(isph_fluid *f, const stage_request *request, stage_figures *out) {
    for (int c = 0; c < isphx_chunks(f->count); ++c)
        if (isphx_chunk_is_wide(&f->sell, c)) return; /* columns of another size */
    for (int r = 0; r < 4 * request->repeats; ++r) {
        samples_begin(&out->gather);
        isphpbdx_run(&request->parallel, gather_task, f, isphx_blocks(f->count));
        samples_end(&out->gather, 1.0);
    }
}
#else
static void time_gather(isph_fluid *f, const stage_request *request, stage_figures *out) {
    (void)f, (void)request, (void)out; /* no figure */
}
#endif

/* Whether this copy is what its name says, and this machine can run it. */
static bool usable(void) {
#if defined(BENCH_AVX2) && defined(__AVX2__) && defined(__GNUC__)
    return __builtin_cpu_supports("avx2") != 0;
#elif defined(BENCH_AVX2) || (defined(BENCH_SSE2) && !defined(__SSE2__))
    return false;
#else
    return true;
#endif
}

/* Eight sums, so that none waits for another and reading is what takes the time. */
#if defined(BENCH_AVX2) && defined(__AVX2__) && defined(__GNUC__)
typedef float read_wide __attribute__((vector_size(32), may_alias));
#elif defined(__GNUC__)
typedef float read_wide __attribute__((vector_size(16), may_alias));
#else
typedef float read_wide; /* not what is meant, but right */
#endif
enum { READ_LANES = (int)(sizeof(read_wide) / sizeof(float)), READ_SUMS = 8 };

float BENCH_READ(const float *data, size_t count) {
    const read_wide *from = (const read_wide *)(const void *)data;
    const size_t wides = count / READ_LANES;
    read_wide s[READ_SUMS];
    float lane[READ_LANES], sum = 0.0f;
    if (!usable()) return -1.0f;
    memset(s, 0, sizeof s);
    for (size_t i = 0; i + READ_SUMS <= wides; i += READ_SUMS) {
        s[0] += from[i], s[1] += from[i + 1], s[2] += from[i + 2], s[3] += from[i + 3];
        s[4] += from[i + 4], s[5] += from[i + 5], s[6] += from[i + 6], s[7] += from[i + 7];
    }
    for (int k = 1; k < READ_SUMS; ++k) s[0] += s[k];
    memcpy(lane, &s[0], sizeof s[0]);
    for (int k = 0; k < READ_LANES; ++k) sum += lane[k];
    return sum;
}

void BENCH_STAGES(const stage_request *request, stage_figures *out) {
    isph_fluid_desc desc = dam_desc(DAM_SIDE, request->support);
    isph_fluid *fluid;
    account a;
    memset(out, 0, sizeof *out);
    memset(&a, 0, sizeof a);
    if (!usable()) return;
    a.inner = request->parallel, a.alone = request->alone;
    desc.parallel.run = account_run, desc.parallel.user = &a;
    desc.clock.fn = NULL;
    fluid = dam_create(&desc, DAM_SIDE);
    for (int r = 0; r < request->repeats; ++r) {
        fluid->desc.density_projection = true; /* as in the snapshot */
        if (isph_fluid_load(fluid, request->image, request->image_size) != ISPHPBD_OK) {
            fprintf(stderr, "bench: the snapshot is not that of this fluid\n");
            exit(1);
        }
        fluid->desc.density_projection = request->density_projection;
        account_begin(&a);
        samples_begin(&out->step);
        (void)isph_fluid_step(fluid, request->seconds, NULL);
        samples_end(&out->step, 1.0);
        account_end(&a, out);
    }
    out->available = true;
    out->hash = isph_fluid_hash(fluid);
    out->particles = fluid->count;
    out->pressure_iterations = fluid->stats.pressure_iterations;
    out->density_iterations = fluid->stats.density_iterations;
    count_entries(fluid, out);
    time_search(fluid, request, out);
    time_gather(fluid, request, out);
    isph_fluid_destroy(fluid);
}
