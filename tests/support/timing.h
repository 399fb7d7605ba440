/* timing.h - CPU time, wall time and the name of the CPU, for benchmarks and validations. Never for a test.
   SPDX-License-Identifier: MIT

   Wall time comes from clock_gettime, which a strict -std=c99 hides unless it is asked for before the first include of
   a system header: include this one before any other, or the resolution is a second. */
#ifndef TIMING_H
#define TIMING_H

#if !defined(_POSIX_C_SOURCE) && !defined(_WIN32)
#define _POSIX_C_SOURCE 200112L
#endif

#include <stdio.h>
#include <string.h>
#include <time.h>

#if defined(__GNUC__)
#define TIMING_FN static __attribute__((unused))
#else
#define TIMING_FN static
#endif

/* Seconds of CPU time used by all threads of this program. */
TIMING_FN double timing_cpu_seconds(void) { return (double)clock() / (double)CLOCKS_PER_SEC; }

/* Seconds of real time since some fixed moment. */
TIMING_FN double timing_wall_seconds(void) {
#if defined(CLOCK_MONOTONIC)
    struct timespec t;
    if (clock_gettime(CLOCK_MONOTONIC, &t) == 0) return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
#endif
#if defined(_WIN32)
    return (double)clock() / (double)CLOCKS_PER_SEC; /* there clock() is real time */
#else
    return (double)time(NULL);
#endif
}

/* Writes the CPU's model name as the system tells it, or "unknown CPU", into name. */
TIMING_FN void timing_cpu_name(char *name, size_t size) {
    FILE *file = fopen("/proc/cpuinfo", "r");
    char line[256];
    if (size == 0) return;
    (void)snprintf(name, size, "unknown CPU");
    while (file && fgets(line, sizeof line, file)) {
        char *colon = strchr(line, ':');
        if (strncmp(line, "model name", 10) != 0 || !colon) continue;
        line[strcspn(line, "\n")] = '\0';
        (void)snprintf(name, size, "%s", colon + 1 + strspn(colon + 1, " "));
        break;
    }
    if (file) (void)fclose(file);
}

#endif /* TIMING_H */
