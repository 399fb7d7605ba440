/* bench_machine.h - the yardsticks: read bandwidth of the caches and of memory, a fixed scalar loop.
   SPDX-License-Identifier: MIT */
#ifndef BENCH_MACHINE_H
#define BENCH_MACHINE_H

#include "bench_output.h"

/* The sum in sixteen lanes, so that reading is what takes the time. */
static float machine_sum(const float *data, size_t count) {
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

/* Gigabytes per second of reading `bytes` again and again: the best of the repeats. */
static double machine_read(size_t bytes, int repeats) {
    const size_t count = bytes / sizeof(float), much = (size_t)64 << 20;
    const int passes = bytes > much ? 1 : (int)(much / bytes);
    float *data = (float *)need(calloc(count, sizeof(float)));
    samples *s = samples_new();
    volatile float sink = 0.0f;
    double best;
    for (size_t i = 0; i < count; ++i) data[i] = (float)(i & 7);
    for (int r = 0; r < repeats; ++r) {
        samples_begin(s);
        for (int pass = 0; pass < passes; ++pass) sink = sink + machine_sum(data, count);
        samples_end(s, passes);
    }
    best = 1e-9 * (double)bytes / samples_times(s, 1.0, 1.0).cpu_least;
    free(s);
    free(data);
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

static void bench_machine(bench *b) {
    const int repeats = b->quick ? 4 : 12;
    samples *loop = machine_loop(4 * repeats);
    heading(b, "the machine: one core reads 384 KB, 6 MB and 256 MB again and again; one round of the scalar loop");
    b->read_l2 = machine_read((size_t)384 << 10, repeats);
    b->read_l3 = machine_read((size_t)6 << 20, repeats);
    b->read_dram = machine_read((size_t)(b->quick ? 96 : 256) << 20, b->quick ? 2 : 4);
    figure_value(b, "read_l2", b->read_l2, "GB/s");
    figure_value(b, "read_l3", b->read_l3, "GB/s");
    figure_value(b, "read_dram", b->read_dram, "GB/s");
    figure_samples(b, "scalar_loop", loop, 1e9, 1.0, "ns");
    free(loop);
}

#endif /* BENCH_MACHINE_H */
