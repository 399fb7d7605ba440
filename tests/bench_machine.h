/* bench_machine.h - the yardsticks: read bandwidth of the caches and of memory, pairs fetched by index, a fixed scalar
   loop, arithmetic on all threads at once. SPDX-License-Identifier: MIT */
#ifndef BENCH_MACHINE_H
#define BENCH_MACHINE_H

#include "bench_runner.h"
#include "bench_stages.h"

typedef float (*machine_reader)(const float *data, size_t count);

/* With the widest loads that this machine and the compiler have. */
static machine_reader machine_widest(void) {
    return bench_read_avx2(NULL, 0) >= 0.0f   ? bench_read_avx2
           : bench_read_sse2(NULL, 0) >= 0.0f ? bench_read_sse2
                                              : bench_read_plain;
}

/* Gigabytes per second of reading `bytes` again and again: the best of the repeats. */
static double machine_read(machine_reader reader, size_t bytes, int repeats) {
    const size_t count = bytes / sizeof(float), much = (size_t)64 << 20;
    const int passes = bytes > much ? 1 : (int)(much / bytes);
    float *memory = (float *)need(calloc(count + 16, sizeof(float)));
    float *data = memory + (64 - (uintptr_t)memory % 64) % 64 / sizeof(float);
    samples *s = samples_new();
    volatile float sink = 0.0f;
    double best;
    for (size_t i = 0; i < count; ++i) data[i] = (float)(i & 7);
    for (int r = 0; r < repeats; ++r) {
        samples_begin(s);
        for (int pass = 0; pass < passes; ++pass) sink = sink + reader(data, count);
        samples_end(s, passes);
    }
    best = 1e-9 * (double)bytes / samples_times(s, 1.0, 1.0).cpu_least;
    free(s);
    free(memory);
    return best;
}

/* One round of the scalar loop: a multiplication and an addition that wait for each other. */
static samples *machine_loop(int repeats) {
    const int rounds = 250000;
    samples *s = samples_new();
    for (int r = 0; r < repeats; ++r) {
        volatile float start = 1.0f;
        float v = start;
        samples_begin(s);
        for (int i = 0; i < rounds; ++i) v = v * 0.999999f + 0.5f;
        start = v;
        samples_end(s, rounds);
    }
    return s;
}

/* Before every case: the machine may have slowed down since the last one. */
static void machine_look(bench *b) {
    samples *s = machine_loop(32);
    b->loop_nanoseconds = samples_times(s, 1e9, 1.0).cpu_least;
    free(s);
}

/* Arithmetic that waits for nothing but the multipliers: two threads of one core have to share them. */
static void machine_arithmetic_task(void *ctx, int index) {
    isphpbdx_f4 s[8];
    const isphpbdx_f4 half = isphpbdx_f4_all(0.5f);
    for (int k = 0; k < 8; ++k) s[k] = isphpbdx_f4_all((float)k);
    for (int i = 0; i < 100000; ++i) {
        s[0] = isphx_madd4(half, s[0], half), s[1] = isphx_madd4(half, s[1], half);
        s[2] = isphx_madd4(half, s[2], half), s[3] = isphx_madd4(half, s[3], half);
        s[4] = isphx_madd4(half, s[4], half), s[5] = isphx_madd4(half, s[5], half);
        s[6] = isphx_madd4(half, s[6], half), s[7] = isphx_madd4(half, s[7], half);
    }
    for (int k = 1; k < 8; ++k) s[0] = isphpbdx_f4_add(s[0], s[k]);
    isphpbdx_f4_store((float *)ctx + 16 * index, s[0]);
}

/* What all threads do at once, over what one does in that time: less than their number where they share cores, with
   each other or with other programs. Best and median, since a host moves virtual cores about. */
static void machine_threads(bench *b, int repeats) {
    float *out = (float *)need(calloc((size_t)(16 * b->threads), sizeof(float)));
    bench_pool pool = pool_open(b->threads);
    samples *one = samples_new(), *all = samples_new();
    timing alone, together;
    for (int r = 0; r < repeats; ++r) {
        samples_begin(one);
        machine_arithmetic_task(out, 0);
        samples_end(one, 1.0);
        samples_begin(all);
        isphpbdx_run(&pool.parallel, machine_arithmetic_task, out, b->threads);
        samples_end(all, 1.0);
    }
    alone = samples_times(one, 1.0, 1.0), together = samples_times(all, 1.0, 1.0);
    figure_value(b, "threads_at_once", b->threads * alone.wall_least / together.wall_least, "times one, at best");
    figure_value(b, "threads_at_once_median", b->threads * alone.wall_median / together.wall_median, "times one");
    pool_close(&pool);
    free(one), free(all), free(out);
}

static void machine_bandwidths(bench *b, int repeats) {
    const size_t l2 = (size_t)384 << 10, l3 = (size_t)6 << 20, dram = (size_t)(b->quick ? 96 : 256) << 20;
    const machine_reader widest = machine_widest();
    const char *unit = widest == bench_read_avx2 ? "GB/s, loads of 32 bytes" : "GB/s";
    b->read_l2 = machine_read(widest, l2, repeats);
    b->read_l3 = machine_read(widest, l3, repeats);
    b->read_dram = machine_read(widest, dram, b->quick ? 2 : 4);
    figure_value(b, "read_l2", b->read_l2, unit);
    figure_value(b, "read_l3", b->read_l3, unit);
    figure_value(b, "read_dram", b->read_dram, unit);
    if (widest != bench_read_avx2) return;
    figure_value(b, "read_l2_sse2", machine_read(bench_read_sse2, l2, repeats), "GB/s, loads of 16 bytes");
    figure_value(b, "read_l3_sse2", machine_read(bench_read_sse2, l3, repeats), "GB/s, loads of 16 bytes");
}

static void bench_machine(bench *b) {
    const int repeats = b->quick ? 4 : 12;
    samples *loop = machine_loop(4 * repeats);
    heading(b, "the machine: one core reads 384 KB, 6 MB and 256 MB again and again; the scalar loop");
    machine_bandwidths(b, repeats);
    if (b->threads > 1) machine_threads(b, 8 * repeats);
    figure_samples(b, "scalar_loop", loop, 1e9, 1.0, "ns");
    free(loop);
}

#endif /* BENCH_MACHINE_H */
