/* bench_output.h - clocks, samples and figures of the benchmark. SPDX-License-Identifier: MIT

   A sample is one run of the same work: CPU time of all threads and wall time. A figure is the least and the median of
   its samples, both clocks, and the ratio to a fixed scalar loop that is measured before every case: ratios can be
   compared between machines, and between two runs on a machine that drifts. Figures go out at once as text, CSV or
   JSON, and are kept for the report. */
#ifndef BENCH_OUTPUT_H
#define BENCH_OUTPUT_H

#include "timing.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#if defined(__GNUC__)
#define BENCH_FN     static __attribute__((unused))
#define BENCH_PRINTF __attribute__((unused, format(printf, 2, 3)))
#else
#define BENCH_FN static
#define BENCH_PRINTF
#endif

/* ---- [clocks] ---------------------------------------------------------------------------------------------------- */

/* Seconds of CPU time of all threads, finer than clock() where there is such a clock. */
BENCH_FN double cpu_seconds(void) {
#if defined(CLOCK_PROCESS_CPUTIME_ID)
    struct timespec t;
    if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t) == 0) return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
#endif
    return timing_cpu_seconds();
}

/* The same of the thread that asks, where there is such a clock: what it would take if nobody else were there. */
BENCH_FN double thread_seconds(void) {
#if defined(CLOCK_THREAD_CPUTIME_ID)
    struct timespec t;
    if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t) == 0) return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
#endif
    return timing_wall_seconds();
}

BENCH_FN void *need(void *memory) {
    if (memory) return memory;
    fprintf(stderr, "bench: out of memory\n");
    exit(1);
}

/* ---- [samples] --------------------------------------------------------------------------------------------------- */

enum { SAMPLES_MOST = 1024 };
typedef struct samples {
    int count;
    double cpu_start, wall_start;
    double cpu[SAMPLES_MOST], wall[SAMPLES_MOST]; /* seconds */
} samples;

BENCH_FN void samples_add(samples *s, double cpu, double wall) {
    if (s->count == SAMPLES_MOST) return;
    s->cpu[s->count] = cpu, s->wall[s->count] = wall;
    s->count++;
}
BENCH_FN void samples_begin(samples *s) { s->cpu_start = cpu_seconds(), s->wall_start = timing_wall_seconds(); }
/* The time since samples_begin() as one sample of `parts` equal pieces of work. */
BENCH_FN void samples_end(samples *s, double parts) {
    const double wall = timing_wall_seconds(), cpu = cpu_seconds();
    samples_add(s, (cpu - s->cpu_start) / parts, (wall - s->wall_start) / parts);
}

BENCH_FN int samples_order(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}
/* The value that `share` (0 .. 1) of all values do not exceed; sorts them. */
BENCH_FN double samples_quantile(double *values, int count, double share) {
    int k;
    if (count == 0) return 0.0;
    qsort(values, (size_t)count, sizeof *values, samples_order);
    k = (int)(share * (double)(count - 1) + 0.5);
    return values[k];
}

/* Two clocks, least and median, in the unit of the figure. */
typedef struct timing {
    double cpu_least, cpu_median, wall_least, wall_median;
} timing;

/* Each sample stands for `items`; seconds become `per_second` units. Sorts the samples. */
BENCH_FN timing samples_times(samples *s, double per_second, double items) {
    timing t;
    const double scale = per_second / items;
    t.cpu_least = scale * samples_quantile(s->cpu, s->count, 0.0);
    t.cpu_median = scale * samples_quantile(s->cpu, s->count, 0.5);
    t.wall_least = scale * samples_quantile(s->wall, s->count, 0.0);
    t.wall_median = scale * samples_quantile(s->wall, s->count, 0.5);
    return t;
}

BENCH_FN samples *samples_new(void) { return (samples *)need(calloc(1, sizeof(samples))); }

/* ---- [figures] --------------------------------------------------------------------------------------------------- */

enum { FIGURES_MOST = 1024, ONLY_MOST = 16 };
typedef struct figure {
    char name[96]; /* case.place.what */
    char unit[72]; /* its first word tells times from other values */
    bool timed;    /* by two clocks */
    timing time;
    double value; /* of a timed one: the least CPU time */
    double loops; /* of a time: in rounds of the scalar loop; else 0 */
} figure;

typedef enum bench_format { BENCH_TEXT, BENCH_JSON, BENCH_CSV } bench_format;

/* When, where and how figures came about. */
typedef struct run_facts {
    char date[16], cpu[96], compiler[96];
    int threads;
    bool quick;
} run_facts;

typedef struct bench {
    bench_format format;
    bool quick;
    int threads, repeats; /* 0: the case's own */
    const char *only[ONLY_MOST];
    int only_count;
    const char *document, *plots; /* NULL: not written */
    const char *group;            /* the case that runs */
    char place[48];               /* part of the names of figures, between the case and what they are; may be empty */
    double loop_nanoseconds;      /* one multiplication and one addition that wait for each other, just measured */
    double read_l2, read_l3, read_dram; /* GB/s */
    figure figures[FIGURES_MOST];
    int figure_count, loaded; /* loaded: of these, the first come from a file */
    run_facts run, loaded_run;
} bench;

#if defined(__clang__)
#define BENCH_COMPILER "clang " __clang_version__
#elif defined(__GNUC__)
#define BENCH_COMPILER "gcc " __VERSION__
#else
#define BENCH_COMPILER "unknown"
#endif

/* Copies what fits; what would end a string of JSON early becomes a blank. */
BENCH_FN void facts_text(char *to, size_t size, const char *from) {
    size_t n = 0;
    for (; from[n] && n + 1 < size; ++n) to[n] = strchr("\"\\\n", from[n]) ? ' ' : from[n];
    to[n] = '\0';
}

BENCH_FN run_facts facts_now(const bench *b) {
    run_facts facts;
    char cpu[96];
    const time_t now = time(NULL);
    timing_cpu_name(cpu, sizeof cpu);
    (void)strftime(facts.date, sizeof facts.date, "%Y-%m-%d", gmtime(&now));
    facts_text(facts.cpu, sizeof facts.cpu, cpu);
    facts_text(facts.compiler, sizeof facts.compiler, BENCH_COMPILER);
    facts.threads = b->threads, facts.quick = b->quick;
    return facts;
}

/* How many seconds a unit is that begins with ns, us, ms or s; 0: it is no time. */
BENCH_FN double unit_seconds(const char *unit) {
    static const char *const names[4] = {"ns", "us", "ms", "s"};
    static const double seconds[4] = {1e-9, 1e-6, 1e-3, 1.0};
    const size_t length = strcspn(unit, " ,;:");
    for (int k = 0; k < 4; ++k) {
        if (length == strlen(names[k]) && strncmp(unit, names[k], length) == 0) return seconds[k];
    }
    return 0.0;
}

BENCH_FN void figure_print_text(const figure *f) {
    if (f->timed)
        printf("  %-44s %10.4g %10.4g %10.4g %10.4g  %-24s", f->name, f->time.cpu_least, f->time.cpu_median,
               f->time.wall_least, f->time.wall_median, f->unit);
    else printf("  %-44s %10.4g %32s  %-24s", f->name, f->value, "", f->unit);
    if (f->loops > 0.0) printf(" %9.3g", f->loops);
    printf("\n");
}

BENCH_FN void figure_print_json(const figure *f, bool first) {
    printf("%s\n  \"%s\": {\"unit\": \"%s\", ", first ? "" : ",", f->name, f->unit);
    if (f->timed)
        printf("\"cpu_least\": %.6g, \"cpu_median\": %.6g, \"wall_least\": %.6g, \"wall_median\": %.6g",
               f->time.cpu_least, f->time.cpu_median, f->time.wall_least, f->time.wall_median);
    else printf("\"value\": %.6g", f->value);
    if (f->loops > 0.0) printf(", \"scalar_loops\": %.4g", f->loops);
    printf("}");
}

BENCH_FN void figure_print_csv(const figure *f) {
    printf("%s,\"%s\",", f->name, f->unit);
    if (f->timed)
        printf(",%.6g,%.6g,%.6g,%.6g,", f->time.cpu_least, f->time.cpu_median, f->time.wall_least, f->time.wall_median);
    else printf("%.6g,,,,,", f->value);
    if (f->loops > 0.0) printf("%.4g", f->loops);
    printf("\n");
}

/* What comes before the figures and after them. */
BENCH_FN void figures_begin(const bench *b) {
    const run_facts *r = &b->run;
    if (b->format == BENCH_JSON)
        printf("{\"run\": {\"date\": \"%s\", \"cpu\": \"%s\", \"compiler\": \"%s\", \"threads\": %d, \"quick\": %s},\n"
               "\"figures\": {",
               r->date, r->cpu, r->compiler, r->threads, r->quick ? "true" : "false");
    if (b->format == BENCH_CSV)
        printf("# date: %s\n# cpu: %s\n# compiler: %s\n# threads: %d\n# quick: %s\n"
               "name,unit,value,cpu_least,cpu_median,wall_least,wall_median,scalar_loops\n",
               r->date, r->cpu, r->compiler, r->threads, r->quick ? "yes" : "no");
}
BENCH_FN void figures_end(const bench *b) {
    if (b->format == BENCH_JSON) printf("\n}}\n");
}

/* The names of the figures to come begin with case.place; "" ends that. */
static BENCH_PRINTF void place(bench *b, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(b->place, sizeof b->place, format, arguments);
    va_end(arguments);
}

BENCH_FN figure *figure_new(bench *b, const char *name, const char *unit) {
    figure *f;
    if (b->figure_count == FIGURES_MOST) {
        fprintf(stderr, "bench: too many figures\n");
        exit(1);
    }
    f = &b->figures[b->figure_count++];
    memset(f, 0, sizeof *f);
    (void)snprintf(f->name, sizeof f->name, "%s%s%s%s%s", b->group, *b->place ? "." : "", b->place, *name ? "." : "",
                   name);
    (void)snprintf(f->unit, sizeof f->unit, "%s", unit);
    return f;
}

BENCH_FN void figure_print(const bench *b, const figure *f) {
    if (b->format == BENCH_JSON) figure_print_json(f, f == b->figures + b->loaded);
    else if (b->format == BENCH_CSV) figure_print_csv(f);
    else figure_print_text(f);
    fflush(stdout);
}

/* Prints it, and to every time its ratio to the scalar loop. */
BENCH_FN void figure_done(bench *b, figure *f) {
    if (b->loop_nanoseconds > 0.0) f->loops = 1e9 * f->value * unit_seconds(f->unit) / b->loop_nanoseconds;
    figure_print(b, f);
}

/* A count, a share, a ratio, or a time that is neither least nor median. */
BENCH_FN void figure_value(bench *b, const char *name, double value, const char *unit) {
    figure *f = figure_new(b, name, unit);
    f->value = value;
    figure_done(b, f);
}

BENCH_FN void figure_times(bench *b, const char *name, timing t, const char *unit) {
    figure *f = figure_new(b, name, unit);
    f->timed = true;
    f->time = t;
    f->value = t.cpu_least;
    figure_done(b, f);
}

/* Units of 1/per_second s, of samples of `items` each. */
BENCH_FN timing figure_samples(bench *b, const char *name, samples *s, double per_second, double items,
                               const char *unit) {
    const timing t = samples_times(s, per_second, items);
    figure_times(b, name, t, unit);
    return t;
}

BENCH_FN const figure *figure_find(const bench *b, const char *name) {
    for (int k = b->figure_count - 1; k >= 0; --k) { /* the newest */
        if (strcmp(b->figures[k].name, name) == 0) return &b->figures[k];
    }
    return NULL;
}
/* 0 where it was not measured. */
BENCH_FN double figure_get(const bench *b, const char *name) {
    const figure *f = figure_find(b, name);
    return f ? f->value : 0.0;
}

/* One line of what --csv printed; false for anything else. */
BENCH_FN bool figure_read(figure *f, char *line) {
    char *unit = strstr(line, ",\""), *end = unit ? strstr(unit + 2, "\",") : NULL;
    double *const fields[6] = {&f->value,           &f->time.cpu_least,   &f->time.cpu_median,
                               &f->time.wall_least, &f->time.wall_median, &f->loops};
    memset(f, 0, sizeof *f);
    if (!end) return false;
    *unit = *end = '\0';
    (void)snprintf(f->name, sizeof f->name, "%.95s", line);
    (void)snprintf(f->unit, sizeof f->unit, "%.71s", unit + 2);
    f->timed = end[2] == ',';
    for (int k = 0; k < 6 && end; ++k) { /* an empty field is 0 */
        *fields[k] = strtod(end + (k == 0 ? 2 : 1), NULL);
        end = strchr(end + (k == 0 ? 2 : 1), ',');
    }
    if (f->timed) f->value = f->time.cpu_least;
    return true;
}
/* A line "# name: value" of its head. */
BENCH_FN void facts_read(run_facts *facts, const char *line) {
    const char *value = strstr(line, ": ");
    if (strncmp(line, "# date: ", 8) == 0) facts_text(facts->date, sizeof facts->date, line + 8);
    if (strncmp(line, "# cpu: ", 7) == 0) facts_text(facts->cpu, sizeof facts->cpu, line + 7);
    if (strncmp(line, "# quick: ", 9) == 0) facts->quick = strncmp(value + 2, "yes", 3) == 0;
}
/* Takes over the figures of a former run; false where there are none. */
BENCH_FN bool figures_load(bench *b, const char *path) {
    char line[512];
    const int before = b->figure_count;
    FILE *file = fopen(path, "r");
    while (file && b->figure_count < FIGURES_MOST && fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = '\0';
        if (*line == '#') facts_read(&b->loaded_run, line);
        else b->figure_count += figure_read(&b->figures[b->figure_count], line);
    }
    b->loaded = b->figure_count;
    return file && fclose(file) == 0 && b->figure_count > before;
}

BENCH_FN void heading(const bench *b, const char *text) {
    if (b->format != BENCH_TEXT) return;
    printf("\n%s\n  %-44s %10s %10s %10s %10s  %-24s %9s\n", text, "", "CPU least", "median", "wall least", "median",
           "", "loops");
}

/* How often to repeat: what was asked for, or the case's own numbers. */
BENCH_FN int repeats_of(const bench *b, int full, int quick) {
    return b->repeats > 0 ? b->repeats : b->quick ? quick : full;
}

#endif /* BENCH_OUTPUT_H */
