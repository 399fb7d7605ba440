/* The headers in tests/support that others rely on: plots, reports, clocks. */
#include "timing.h"

#include "greatest.h"
#include "report.h"

#include <stdlib.h>

static char buffer[1 << 16];

/* A file in the build directory, which the Makefile names in the environment. */
static const char *output_path(const char *name) {
    static char path[512];
    const char *directory = getenv("BUILD");
    (void)snprintf(path, sizeof path, "%s/%s", directory ? directory : "build", name);
    return path;
}

static const char *file_text(const char *path) {
    FILE *file = fopen(path, "r");
    size_t size = file ? fread(buffer, 1, sizeof buffer - 1, file) : 0;
    buffer[size] = '\0';
    if (file) (void)fclose(file);
    return buffer;
}

static int occurrences(const char *text, const char *part) {
    int count = 0;
    while ((text = strstr(text, part)) != NULL) count++, text++;
    return count;
}

TEST steps_are_nice(void) {
    ASSERT_IN_RANGE(1.0, plot_nice_step(1.0), 1e-12);
    ASSERT_IN_RANGE(2.0, plot_nice_step(1.01), 1e-12);
    ASSERT_IN_RANGE(0.05, plot_nice_step(0.021), 1e-12);
    ASSERT_IN_RANGE(1000.0, plot_nice_step(501.0), 1e-9);
    PASS();
}

/* Ticks grow, cover the axis and are few, for ranges over many magnitudes. */
TEST ticks_cover_the_axis(void) {
    for (int logarithmic = 0; logarithmic <= 1; logarithmic++) {
        for (int magnitude = -8; magnitude <= 8; magnitude++) {
            double x[2] = {pow(10.0, magnitude), 7.3 * pow(10.0, magnitude + (magnitude & 3))};
            plot p = plot_make("", "", "");
            int inside = 0;
            p.x.logarithmic = logarithmic;
            plot_add(&p, "", x, x, 2, PLOT_LINE);
            plot_fit_axis(&p, &p.x);
            ASSERT(p.x.from <= x[0] * (1.0 + 1e-9) && p.x.to >= x[1] * (1.0 - 1e-9));
            for (int i = 0; i < PLOT_TICKS_MAX; i++) {
                double fraction = plot_fraction(&p.x, plot_tick(&p.x, i));
                ASSERT(plot_tick(&p.x, i + 1) > plot_tick(&p.x, i));
                if (fraction > -1e-6 && fraction < 1.0 + 1e-6) inside++;
            }
            ASSERT(inside >= 2 && inside <= 12);
        }
    }
    PASS();
}

TEST plot_is_written(void) {
    double x[4] = {0.0, 1.0, 2.0, 3.0}, y[4] = {1.0, 2.0, 0.0, 4.0};
    plot p = plot_make("a < b & c", "time", "height");
    const char *text;
    y[2] = y[2] / y[2]; /* not a number: a gap in the line */
    plot_add(&p, "line", x, y, 4, PLOT_LINE);
    plot_add(&p, "points", x, x, 4, PLOT_POINTS);
    ASSERT(plot_write(&p, output_path("plot_test.svg")));
    text = file_text(output_path("plot_test.svg"));
    ASSERT(strstr(text, "a &lt; b &amp; c") != NULL);
    ASSERT(strstr(text, "</svg>") != NULL);
    ASSERT_FALSE(strstr(text, "nan"));
    ASSERT_EQ_FMT(0, occurrences(text, "inf"), "%d");
    ASSERT_EQ_FMT(5, occurrences(text, "width=\"6.4\""), "%d"); /* four square markers and the one of the legend */
    (void)remove(output_path("plot_test.svg"));
    PASS();
}

TEST plot_tells_when_it_cannot_write(void) {
    plot p = plot_make("", "", "");
    ASSERT_FALSE(plot_write(&p, output_path("no such directory/plot.svg")));
    PASS();
}

TEST report_counts_failures(void) {
    char name[] = "test", option[] = "--md", path[512];
    char *arguments[4] = {name, option, path, NULL};
    double zero = 0.0;
    report r;
    const char *text;
    (void)snprintf(path, sizeof path, "%s", output_path("report_test.md"));
    ASSERT(report_open(&r, 3, arguments, "Title"));
    ASSERT(report_at_most(&r, "small", 1.0, 2.0, "m", "theory"));
    ASSERT_FALSE(report_at_least(&r, "large", 1.0, 2.0, "m", "theory"));
    ASSERT_FALSE(report_at_most(&r, "not a number", zero / zero, 2.0, "m", "theory"));
    ASSERT_EQ_FMT(2, r.failures, "%d");
    ASSERT_EQ_FMT(1, report_close(&r), "%d");
    text = file_text(path);
    ASSERT(strstr(text, "## Title\n") != NULL);
    ASSERT_EQ_FMT(2, occurrences(text, "FAILED"), "%d");
    (void)remove(path);
    PASS();
}

TEST report_without_checks_fails(void) {
    char name[] = "test", option[] = "--nonsense";
    char *arguments[3] = {name, option, NULL};
    report r;
    ASSERT_FALSE(report_open(&r, 2, arguments, "Title"));
    ASSERT(report_open(&r, 1, arguments, "Title"));
    ASSERT_EQ_FMT(1, report_close(&r), "%d");
    PASS();
}

TEST clocks_go_forward(void) {
    double wall = timing_wall_seconds(), cpu = timing_cpu_seconds();
    char name[128];
    ASSERT(timing_wall_seconds() >= wall);
    ASSERT(timing_cpu_seconds() >= cpu);
    timing_cpu_name(name, sizeof name);
    ASSERT(strlen(name) > 0);
    PASS();
}

SUITE(support) {
    RUN_TEST(steps_are_nice);
    RUN_TEST(ticks_cover_the_axis);
    RUN_TEST(plot_is_written);
    RUN_TEST(plot_tells_when_it_cannot_write);
    RUN_TEST(report_counts_failures);
    RUN_TEST(report_without_checks_fails);
    RUN_TEST(clocks_go_forward);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv) {
    GREATEST_MAIN_BEGIN();
    RUN_SUITE(support);
    GREATEST_MAIN_END();
}
