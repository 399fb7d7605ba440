/* bits.h - for the programs tests/bits_*.c, which print a line "SCENE HASH" per scene. tests/test_same_bits.sh compiles
   them in many ways and compares what they print. Every scene runs twice, the second time with a runner that takes the
   tasks backwards. Include after the header under test.
   SPDX-License-Identifier: MIT */
#ifndef BITS_H
#define BITS_H

#include <stdio.h>

/* The hash of a scene after its last step; 0 when it could not be made. */
typedef uint64_t bits_scene(isphpbd_parallel parallel);

static void bits_run_backwards(void (*task)(void *ctx, int index), void *ctx, int task_count, void *user) {
    (void)user;
    for (int i = task_count - 1; i >= 0; i--) task(ctx, i);
}

/* Prints the hash; returns 1 when there is none or the runner changed it. */
static int bits_print(const char *name, bits_scene *scene) {
    isphpbd_parallel built_in = {NULL, NULL}, backwards = {bits_run_backwards, NULL};
    uint64_t first = scene(built_in), second = scene(backwards);
    printf("%s %08lx%08lx\n", name, (unsigned long)(first >> 32), (unsigned long)(first & 0xffffffffu));
    if (first != 0 && first == second) return 0;
    printf("%s differs with tasks run backwards: %08lx%08lx\n", name, (unsigned long)(second >> 32),
           (unsigned long)(second & 0xffffffffu));
    return 1;
}

#endif /* BITS_H */
