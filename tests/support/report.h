/* report.h - what every validation program has in common: its options, its checks with limits, its section of
   docs/validation.md and its plots. Include it after timing.h if that is used. C99.
   SPDX-License-Identifier: MIT

   DO THIS

       report r;
       if (!report_open(&r, argc, argv, "Tank at rest")) return 2;
       report_text(&r, "A tank of %d particles, 3 s at dt = 1/120 s.", count);
       report_progress(&r, "step %d of %d", step, steps);
       report_at_most(&r, "pressure error, relative L2", error, 0.03, "", "rho g h");
       report_value(&r, "iterations per solve", iterations, "");
       report_plot(&r, &p, "tank_pressure");
       return report_close(&r);

   Options: --md FILE writes the section as Markdown, --plots DIRECTORY the plots; both may be left out. */
#ifndef REPORT_H
#define REPORT_H

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "plot.h"

typedef struct report {
    FILE *md;          /* NULL without --md */
    const char *plots; /* NULL without --plots */
    int in_table;      /* rows of a table were written last */
    int checks, failures;
} report;

#if defined(__GNUC__)
#define REPORT_PRINTF __attribute__((unused, format(printf, 2, 3)))
#else
#define REPORT_PRINTF
#endif

PLOT_FN void report_end_table(report *r) {
    if (r->in_table && r->md) fputs("\n", r->md);
    r->in_table = 0;
}

/* Reads the options and begins the section. Returns 0, having said why, when the program should stop with an error. */
PLOT_FN int report_open(report *r, int argc, char **argv, const char *title) {
    const char *path = NULL;
    memset(r, 0, sizeof *r);
    for (int i = 1; i < argc; i++) {
        int has_value = i + 1 < argc;
        if (has_value && strcmp(argv[i], "--md") == 0) {
            path = argv[++i];
        } else if (has_value && strcmp(argv[i], "--plots") == 0) {
            r->plots = argv[++i];
        } else {
            fprintf(stderr, "%s: unknown option or missing value: %s\nusage: %s [--md FILE] [--plots DIRECTORY]\n",
                    argv[0], argv[i], argv[0]);
            return 0;
        }
    }
    if (path && !(r->md = fopen(path, "w"))) {
        fprintf(stderr, "%s: cannot write %s\n", argv[0], path);
        return 0;
    }
    printf("%s\n", title);
    if (r->md) fprintf(r->md, "## %s\n\n", title);
    return 1;
}

/* A paragraph, for the reader of the report and of the terminal. */
static REPORT_PRINTF void report_text(report *r, const char *format, ...) {
    char text[2048];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    report_end_table(r);
    printf("%s\n", text);
    if (r->md) fprintf(r->md, "%s\n\n", text);
}

/* One line on the terminal only. */
static REPORT_PRINTF void report_progress(report *r, const char *format, ...) {
    va_list arguments;
    (void)r;
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    printf("\n");
    fflush(stdout);
}

PLOT_FN void report_row(report *r, const char *what, const char *value, const char *limit, const char *verdict,
                        const char *source) {
    printf("  %-52s %14s  %-16s %s\n", what, value, limit, verdict);
    fflush(stdout);
    if (!r->md) return;
    if (!r->in_table) fputs("| figure | value | limit | | source |\n|---|---:|---|---|---|\n", r->md);
    r->in_table = 1;
    fprintf(r->md, "| %s | %s | %s | %s | %s |\n", what, value, limit, verdict, source);
    fflush(r->md);
}

/* A figure without a limit. */
PLOT_FN void report_value(report *r, const char *what, double value, const char *unit) {
    char text[64];
    (void)snprintf(text, sizeof text, "%.4g%s%s", value, *unit ? " " : "", unit);
    report_row(r, what, text, "", "", "");
}

PLOT_FN int report_check(report *r, const char *what, double value, const char *relation, double limit, int good,
                         const char *unit, const char *source) {
    char text[64], limit_text[64];
    (void)snprintf(text, sizeof text, "%.4g%s%s", value, *unit ? " " : "", unit);
    (void)snprintf(limit_text, sizeof limit_text, "%s %.4g%s%s", relation, limit, *unit ? " " : "", unit);
    r->checks++;
    if (!good) r->failures++;
    report_row(r, what, text, limit_text, good ? "ok" : "**FAILED**", source);
    return good;
}

/* Figures with a limit; a value that is not a number fails. Source: what the limit or the expectation is taken from. */
PLOT_FN int report_at_most(report *r, const char *what, double value, double limit, const char *unit,
                           const char *source) {
    return report_check(r, what, value, "at most", limit, value <= limit, unit, source);
}
PLOT_FN int report_at_least(report *r, const char *what, double value, double limit, const char *unit,
                            const char *source) {
    return report_check(r, what, value, "at least", limit, value >= limit, unit, source);
}

/* Writes the plot as NAME.svg where --plots says, and shows it in the section. */
PLOT_FN void report_plot(report *r, plot *p, const char *name) {
    char path[1024];
    report_end_table(r);
    if (!r->plots) return;
    (void)snprintf(path, sizeof path, "%s/%s.svg", r->plots, name);
    if (!plot_write(p, path)) {
        r->failures++;
        printf("  cannot write %s\n", path);
    } else if (r->md) {
        fprintf(r->md, "![%s](plots/%s.svg)\n\n", p->title, name);
    }
}

/* Ends the section. Returns the exit status of the program: 0 when there were checks and all of them held. */
PLOT_FN int report_close(report *r) {
    int bad = r->failures > 0 || r->checks == 0;
    report_end_table(r);
    if (r->md && fclose(r->md) != 0) bad = 1;
    printf("%d of %d figures within their limits\n", r->checks - r->failures, r->checks);
    return bad;
}

#endif /* REPORT_H */
