/* plot.h - line plots as SVG files, for the validations. C99, no dependencies.
   SPDX-License-Identifier: MIT

   DO THIS

       plot p = plot_make("Dam break", "t sqrt(g/a)", "x/a");
       plot_add(&p, "measured", t, x, count, PLOT_POINTS);
       plot_add(&p, "computed", u, y, other_count, PLOT_LINE);
       if (!plot_write(&p, "docs/plots/dam_break.svg")) ...

   The arrays and texts are read by plot_write and must live until then. Points that are not finite (or not positive on
   a logarithmic axis) are left out and interrupt the line. Fields of a plot may be set before
   plot_write. */
#ifndef PLOT_H
#define PLOT_H

#include <math.h>
#include <stdio.h>
#include <string.h>

#if defined(__GNUC__)
#define PLOT_FN static __attribute__((unused))
#else
#define PLOT_FN static
#endif

enum { PLOT_SERIES_MAX = 12, PLOT_TICKS_MAX = 40 };
enum { PLOT_LINE = 1, PLOT_POINTS = 2, PLOT_DASHED = 4 }; /* styles, to be or-ed; PLOT_DASHED is a line too */

typedef struct plot_series {
    const char *label;
    const double *x, *y;
    int count, style;
} plot_series;

typedef struct plot_axis {
    const char *label;
    int logarithmic;        /* 0: linear (default), 1: logarithmic */
    double lowest, highest; /* both 0 (default): from the data, widened to whole ticks */
    double from, to, step;  /* written by plot_write */
} plot_axis;

typedef struct plot {
    const char *title;
    plot_axis x, y;
    plot_series series[PLOT_SERIES_MAX];
    int series_count;
} plot;

PLOT_FN plot plot_make(const char *title, const char *x_label, const char *y_label) {
    plot p;
    memset(&p, 0, sizeof p);
    p.title = title;
    p.x.label = x_label;
    p.y.label = y_label;
    return p;
}

/* Adds a series of points; does nothing beyond PLOT_SERIES_MAX. */
PLOT_FN void plot_add(plot *p, const char *label, const double *x, const double *y, int count, int style) {
    plot_series *s;
    if (p->series_count >= PLOT_SERIES_MAX) return;
    s = &p->series[p->series_count++];
    s->label = label;
    s->x = x;
    s->y = y;
    s->count = count;
    s->style = style;
}

/* ---- [geometry] all lengths in pixels ---------------------------------------------------------------------------- */

static const double PLOT_LEFT = 78.0, PLOT_TOP = 48.0, PLOT_BOTTOM = 58.0; /* margins */
static const double PLOT_AREA_WIDTH = 560.0, PLOT_AREA_HEIGHT = 360.0;
static const double PLOT_LEGEND_GAP = 18.0, PLOT_LEGEND_SAMPLE = 30.0, PLOT_LEGEND_ROW = 22.0;

/* The legend stands at the right; 7.4 pixels is a generous mean width of a letter at the size used. */
PLOT_FN double plot_width(const plot *p) {
    size_t longest = 0;
    for (int i = 0; i < p->series_count; i++) {
        size_t length = strlen(p->series[i].label);
        if (length > longest) longest = length;
    }
    return PLOT_LEFT + PLOT_AREA_WIDTH + PLOT_LEGEND_GAP + PLOT_LEGEND_SAMPLE + 20 + 7.4 * (double)longest;
}

PLOT_FN int plot_usable(const plot_axis *a, double value) {
    return value - value == 0.0 && (!a->logarithmic || value > 0.0);
}

/* Where a value lies along its axis, 0 at the beginning and 1 at the end. */
PLOT_FN double plot_fraction(const plot_axis *a, double value) {
    if (a->logarithmic) return log10(value / a->from) / log10(a->to / a->from);
    return (value - a->from) / (a->to - a->from);
}
PLOT_FN double plot_px(const plot *p, double x) { return PLOT_LEFT + PLOT_AREA_WIDTH * plot_fraction(&p->x, x); }
PLOT_FN double plot_py(const plot *p, double y) {
    return PLOT_TOP + PLOT_AREA_HEIGHT * (1.0 - plot_fraction(&p->y, y));
}

/* ---- [axes] ------------------------------------------------------------------------------------------------------ */

/* The smallest of 1, 2, 5, 10, ... times a power of ten that is at least `least`. */
PLOT_FN double plot_nice_step(double least) {
    double power = pow(10.0, floor(log10(least)));
    double mantissa = least / power;
    if (mantissa <= 1.0 + 1e-9) return power;
    if (mantissa <= 2.0 + 1e-9) return 2.0 * power;
    if (mantissa <= 5.0 + 1e-9) return 5.0 * power;
    return 10.0 * power;
}

PLOT_FN void plot_data_range(const plot *p, const plot_axis *a, double *low, double *high) {
    int found = 0;
    for (int s = 0; s < p->series_count; s++) {
        for (int i = 0; i < p->series[s].count; i++) {
            double x = p->series[s].x[i], y = p->series[s].y[i], value = a == &p->x ? x : y;
            if (!plot_usable(&p->x, x) || !plot_usable(&p->y, y)) continue;
            if (!found || value < *low) *low = value;
            if (!found || value > *high) *high = value;
            found = 1;
        }
    }
}

PLOT_FN void plot_fit_axis(const plot *p, plot_axis *a) {
    double low = a->logarithmic ? 1.0 : 0.0, high = a->logarithmic ? 10.0 : 1.0;
    int fixed = a->highest > a->lowest && plot_usable(a, a->lowest);
    if (fixed) low = a->lowest, high = a->highest;
    else plot_data_range(p, a, &low, &high);
    if (a->logarithmic) {
        if (!fixed) low = pow(10.0, floor(log10(low) + 1e-9)), high = pow(10.0, ceil(log10(high) - 1e-9));
        if (!(high > low)) high = 10.0 * low;
    } else {
        if (!(high - low > 1e-9 * (fabs(high) + fabs(low)))) {
            double margin = low != 0.0 ? 0.1 * fabs(low) : 1.0;
            low -= margin, high += margin;
        }
        a->step = plot_nice_step((high - low) / 7.0);
        if (!fixed) low = a->step * floor(low / a->step + 1e-9), high = a->step * ceil(high / a->step - 1e-9);
    }
    a->from = low;
    a->to = high;
}

/* The value of a tick; ticks count from one at or a little before the beginning of the axis. Logarithmic axes have them
   at the powers of ten, over at most two decades also at 2 and 5 times these. */
PLOT_FN double plot_tick(const plot_axis *a, int index) {
    static const double factors[3] = {1.0, 2.0, 5.0};
    int per_decade;
    if (!a->logarithmic) return a->step * (ceil(a->from / a->step - 1e-9) + index);
    per_decade = log10(a->to / a->from) > 2.0 + 1e-9 ? 1 : 3;
    return factors[index % per_decade] * pow(10.0, floor(log10(a->from) + 1e-9) + index / per_decade);
}

/* ---- [drawing] --------------------------------------------------------------------------------------------------- */

PLOT_FN void plot_text(FILE *f, double x, double y, const char *attributes, const char *text) {
    fprintf(f, "<text x=\"%.1f\" y=\"%.1f\" %s>", x, y, attributes);
    for (; *text; text++) {
        if (*text == '&') fputs("&amp;", f);
        else if (*text == '<') fputs("&lt;", f);
        else if (*text == '>') fputs("&gt;", f);
        else fputc(*text, f);
    }
    fputs("</text>\n", f);
}

PLOT_FN void plot_line(FILE *f, double x0, double y0, double x1, double y1, const char *attributes) {
    fprintf(f, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" %s/>\n", x0, y0, x1, y1, attributes);
}

PLOT_FN void plot_ticks(FILE *f, const plot *p, const plot_axis *a) {
    double bottom = PLOT_TOP + PLOT_AREA_HEIGHT, right = PLOT_LEFT + PLOT_AREA_WIDTH;
    for (int i = 0; i < PLOT_TICKS_MAX; i++) {
        double tick = plot_tick(a, i), fraction = plot_fraction(a, tick);
        char label[32];
        double value = !a->logarithmic && fabs(tick) < 1e-6 * a->step ? 0.0 : tick;
        if (fraction < -1e-6) continue;
        if (fraction > 1.0 + 1e-6) break;
        (void)snprintf(label, sizeof label, "%.6g", value);
        if (a == &p->x) {
            plot_line(f, plot_px(p, tick), PLOT_TOP, plot_px(p, tick), bottom, "stroke=\"#e4e4e4\"");
            plot_text(f, plot_px(p, tick), bottom + 18, "text-anchor=\"middle\"", label);
        } else {
            plot_line(f, PLOT_LEFT, plot_py(p, tick), right, plot_py(p, tick), "stroke=\"#e4e4e4\"");
            plot_text(f, PLOT_LEFT - 8, plot_py(p, tick) + 4, "text-anchor=\"end\"", label);
        }
    }
}

PLOT_FN void plot_frame(FILE *f, const plot *p) {
    char attributes[96];
    double x = PLOT_LEFT + 0.5 * PLOT_AREA_WIDTH, y = PLOT_TOP + 0.5 * PLOT_AREA_HEIGHT;
    plot_ticks(f, p, &p->x);
    plot_ticks(f, p, &p->y);
    fprintf(f, "<rect x=\"%.0f\" y=\"%.0f\" width=\"%.0f\" height=\"%.0f\" fill=\"none\" stroke=\"#555\"/>\n",
            PLOT_LEFT, PLOT_TOP, PLOT_AREA_WIDTH, PLOT_AREA_HEIGHT);
    plot_text(f, x, 28, "text-anchor=\"middle\" font-size=\"16\" font-weight=\"bold\"", p->title);
    plot_text(f, x, PLOT_TOP + PLOT_AREA_HEIGHT + 42, "text-anchor=\"middle\" font-size=\"14\"", p->x.label);
    (void)snprintf(attributes, sizeof attributes,
                   "text-anchor=\"middle\" font-size=\"14\" transform=\"rotate(-90 20 %.1f)\"", y);
    plot_text(f, 20, y, attributes, p->y.label);
}

/* Colours that stay apart for colour-blind eyes and in print. */
PLOT_FN const char *plot_colour(int index) {
    static const char *const colours[6] = {"#0b62a4", "#d1495b", "#2a9d6f", "#e08e0b", "#7b5ea7", "#444444"};
    return colours[index % 6];
}

PLOT_FN void plot_marker(FILE *f, double x, double y, int index) {
    const char *colour = plot_colour(index);
    switch (index % 3) {
        case 0: fprintf(f, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3.5\"", x, y); break;
        case 1: fprintf(f, "<rect x=\"%.1f\" y=\"%.1f\" width=\"6.4\" height=\"6.4\"", x - 3.2, y - 3.2); break;
        default: fprintf(f, "<path d=\"M%.1f %.1fl4.2 7.2h-8.4z\"", x, y - 4.6); break;
    }
    fprintf(f, " fill=\"#fff\" stroke=\"%s\" stroke-width=\"1.6\"/>\n", colour);
}

PLOT_FN void plot_begin_path(FILE *f, int index, int style) {
    fprintf(f, "<path fill=\"none\" stroke=\"%s\" stroke-width=\"2\" stroke-linejoin=\"round\"%s d=\"",
            plot_colour(index), style & PLOT_DASHED ? " stroke-dasharray=\"7 5\"" : "");
}

/* The line leaves out points less than half a pixel from the one before: a long series stays a small file. */
PLOT_FN void plot_draw_line(FILE *f, const plot *p, int index) {
    const plot_series *s = &p->series[index];
    double last_x = 0.0, last_y = 0.0;
    int drawing = 0;
    plot_begin_path(f, index, s->style);
    for (int i = 0; i < s->count; i++) {
        int usable = plot_usable(&p->x, s->x[i]) && plot_usable(&p->y, s->y[i]);
        if (usable) {
            double x = plot_px(p, s->x[i]), y = plot_py(p, s->y[i]);
            if (drawing && i + 1 < s->count && fabs(x - last_x) < 0.5 && fabs(y - last_y) < 0.5) continue;
            fprintf(f, "%c%.1f %.1f", drawing ? 'L' : 'M', x, y);
            last_x = x, last_y = y;
        }
        drawing = usable;
    }
    fputs("\"/>\n", f);
}

PLOT_FN void plot_draw_points(FILE *f, const plot *p, int index) {
    const plot_series *s = &p->series[index];
    for (int i = 0; i < s->count; i++) {
        if (!plot_usable(&p->x, s->x[i]) || !plot_usable(&p->y, s->y[i])) continue;
        plot_marker(f, plot_px(p, s->x[i]), plot_py(p, s->y[i]), index);
    }
}

PLOT_FN void plot_draw_legend(FILE *f, const plot *p, int index) {
    const plot_series *s = &p->series[index];
    double x = PLOT_LEFT + PLOT_AREA_WIDTH + PLOT_LEGEND_GAP, y = PLOT_TOP + 12 + PLOT_LEGEND_ROW * index;
    if (s->style & (PLOT_LINE | PLOT_DASHED)) {
        plot_begin_path(f, index, s->style);
        fprintf(f, "M%.1f %.1fh%.0f\"/>\n", x, y, PLOT_LEGEND_SAMPLE);
    }
    if (s->style & PLOT_POINTS) plot_marker(f, x + 0.5 * PLOT_LEGEND_SAMPLE, y, index);
    plot_text(f, x + PLOT_LEGEND_SAMPLE + 8, y + 4, "", s->label);
}

/* Writes the plot; returns 1, or 0 when the file could not be written. */
PLOT_FN int plot_write(plot *p, const char *path) {
    double width = plot_width(p), height = PLOT_TOP + PLOT_AREA_HEIGHT + PLOT_BOTTOM;
    int good;
    FILE *f = fopen(path, "w");
    if (!f) return 0;
    plot_fit_axis(p, &p->x);
    plot_fit_axis(p, &p->y);
    fprintf(f,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\" "
            "font-family=\"Helvetica, Arial, sans-serif\" font-size=\"13\" fill=\"#222\">\n",
            width, height, width, height);
    fprintf(f, "<rect width=\"%.0f\" height=\"%.0f\" fill=\"#fff\"/>\n", width, height);
    plot_frame(f, p);
    fprintf(f, "<clipPath id=\"area\"><rect x=\"%.0f\" y=\"%.0f\" width=\"%.0f\" height=\"%.0f\"/></clipPath>\n",
            PLOT_LEFT - 5, PLOT_TOP - 5, PLOT_AREA_WIDTH + 10, PLOT_AREA_HEIGHT + 10);
    fputs("<g clip-path=\"url(#area)\">\n", f);
    for (int i = 0; i < p->series_count; i++) {
        if (p->series[i].style & (PLOT_LINE | PLOT_DASHED)) plot_draw_line(f, p, i);
        if (p->series[i].style & PLOT_POINTS) plot_draw_points(f, p, i);
    }
    fputs("</g>\n", f);
    for (int i = 0; i < p->series_count; i++) plot_draw_legend(f, p, i);
    fputs("</svg>\n", f);
    good = !ferror(f);
    return fclose(f) == 0 && good;
}

#endif /* PLOT_H */
