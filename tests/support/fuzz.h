/* fuzz.h - the loop around a libFuzzer entry point where libFuzzer is not there. With -DSTANDALONE it has a
   main:

       fuzz_x FILE...              runs the files once each
       fuzz_x [-n COUNT] [-t S]    mutates built-in seeds COUNT times or for S seconds, whichever ends first
                                   (default 100000 inputs, 60 s); -s N sets the start of the random numbers
       fuzz_x -w DIRECTORY         writes the built-in seeds as files

   SPDX-License-Identifier: MIT */
#ifndef SUPPORT_FUZZ_H
#define SUPPORT_FUZZ_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#ifdef STANDALONE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { FUZZ_ROOM = 1 << 16, FUZZ_SEEDS = 16 };

typedef struct fuzz_random {
    uint64_t state;
} fuzz_random;

static uint32_t fuzz_next(fuzz_random *r) { /* xorshift64* */
    r->state ^= r->state >> 12;
    r->state ^= r->state << 25;
    r->state ^= r->state >> 27;
    return (uint32_t)((r->state * UINT64_C(2685821657736338717)) >> 32);
}
static size_t fuzz_below(fuzz_random *r, size_t n) { return n ? fuzz_next(r) % n : 0; }

/* One change: a bit, a byte, a telling 32-bit number, a piece cut out, doubled or copied elsewhere, or the end
   cut off. */
static size_t fuzz_mutate(fuzz_random *r, uint8_t *data, size_t size) {
    static const uint32_t telling[] = {0,          1,           2,           0x7f,       0x80,      0xff,
                                       0x7fffffff, 0x80000000u, 0xffffffffu, 0x7f800000, 0x7fc00000};
    size_t at = fuzz_below(r, size), length = 1 + fuzz_below(r, 32), to;
    uint32_t word;
    if (size == 0) return 0;
    switch (fuzz_next(r) % 8) {
        case 0: data[at] ^= (uint8_t)(1u << fuzz_below(r, 8)); return size;
        case 1: data[at] = (uint8_t)fuzz_next(r); return size;
        case 2: data[at] = (uint8_t) " \n-.0123456789e/#"[fuzz_below(r, 17)]; return size;
        case 3:
            word = telling[fuzz_below(r, sizeof telling / sizeof *telling)];
            if (size >= 4) memcpy(data + fuzz_below(r, size - 3), &word, 4);
            return size;
        case 4: return at;
        case 5:
            if (length > size - at) length = size - at;
            memmove(data + at, data + at + length, size - at - length);
            return size - length;
        case 6:
            if (length > size - at) length = size - at;
            if (size + length > FUZZ_ROOM) return size;
            memmove(data + at + length, data + at, size - at);
            return size + length;
        default:
            to = fuzz_below(r, size);
            if (length > size - (at > to ? at : to)) length = size - (at > to ? at : to);
            memmove(data + to, data + at, length);
            return size;
    }
}

static int fuzz_file(const char *path) {
    FILE *file = fopen(path, "rb");
    uint8_t *data = (uint8_t *)malloc(1 << 24);
    size_t size;
    if (!file || !data) {
        if (file) fclose(file);
        free(data);
        return fprintf(stderr, "cannot read %s\n", path), 1;
    }
    size = fread(data, 1, 1 << 24, file);
    fclose(file);
    LLVMFuzzerTestOneInput(data, size);
    free(data);
    return 0;
}

typedef size_t fuzz_seed_fn(int index, uint8_t *data, size_t room);

/* Mutates seeds, which stand one behind the other in blocks of FUZZ_ROOM. Answers how many inputs there were. */
static long fuzz_loop(fuzz_random *random, const uint8_t *starts, const size_t *sizes, int seeds, long count,
                      long seconds) {
    uint8_t *data = (uint8_t *)malloc(FUZZ_ROOM);
    time_t begin = time(NULL);
    long i;
    for (i = 0; data && i < count && time(NULL) - begin < seconds; ++i) {
        size_t which = fuzz_below(random, (size_t)seeds), size = sizes[which];
        size_t changes = 1 + fuzz_below(random, (size_t)1 << fuzz_below(random, 5));
        memcpy(data, starts + which * FUZZ_ROOM, size);
        while (changes-- > 0) size = fuzz_mutate(random, data, size);
        LLVMFuzzerTestOneInput(data, size);
    }
    free(data);
    return i;
}

static int fuzz_write(const char *directory, int index, const uint8_t *data, size_t size) {
    char path[1024];
    FILE *file;
    size_t written;
    if (strlen(directory) > 1000) return 1;
    sprintf(path, "%s/built-in-%d", directory, index);
    file = fopen(path, "wb");
    if (!file) return fprintf(stderr, "cannot write %s\n", path), 1;
    written = fwrite(data, 1, size, file);
    return fclose(file) != 0 || written != size;
}

/* seed(i, ...) fills a buffer with start number i and answers its size, 0 beyond the last. */
static int fuzz_main(int argc, char **argv, fuzz_seed_fn *seed) {
    uint8_t *starts = (uint8_t *)malloc((size_t)FUZZ_ROOM * FUZZ_SEEDS);
    size_t sizes[FUZZ_SEEDS];
    const char *directory = NULL;
    long count = 100000, seconds = 60;
    fuzz_random random;
    int a, seeds = 0, failed = 0;
    random.state = UINT64_C(88172645463325252);
    for (a = 1; a < argc; ++a) {
        if (strcmp(argv[a], "-n") == 0 && a + 1 < argc) count = atol(argv[++a]);
        else if (strcmp(argv[a], "-t") == 0 && a + 1 < argc) seconds = atol(argv[++a]);
        else if (strcmp(argv[a], "-s") == 0 && a + 1 < argc) random.state += (uint64_t)atol(argv[++a]) * 7919u;
        else if (strcmp(argv[a], "-w") == 0 && a + 1 < argc) directory = argv[++a], count = 0;
        else failed |= fuzz_file(argv[a]), count = 0;
    }
    while (starts && seeds < FUZZ_SEEDS &&
           (sizes[seeds] = seed(seeds, starts + (size_t)seeds * FUZZ_ROOM, FUZZ_ROOM)) > 0)
        ++seeds;
    for (a = 0; directory && a < seeds; ++a)
        failed |= fuzz_write(directory, a, starts + (size_t)a * FUZZ_ROOM, sizes[a]);
    if (seeds == 0) failed = 1;
    else if (count)
        printf("%ld inputs from %d seeds, no crash\n", fuzz_loop(&random, starts, sizes, seeds, count, seconds), seeds);
    free(starts);
    return failed;
}
#endif
#endif /* SUPPORT_FUZZ_H */
