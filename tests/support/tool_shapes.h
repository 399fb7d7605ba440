/* tool_shapes.h - closed surfaces made by code, and writers of every format the tool reads, for the tests of isphpbd-
   tet.
   SPDX-License-Identifier: MIT */
#ifndef SUPPORT_TOOL_SHAPES_H
#define SUPPORT_TOOL_SHAPES_H

#include "tools/tet_build.h"
#include "tools/tet_export.h"

#define SHAPE_PI 3.14159265358979323846

/* ---- [shapes] outward; made in memory of the tool ---------------------------------------------------------------- */

typedef double shape_radius(tet_vec direction);

/* A star-shaped body: a cube's faces in n x n squares each, pushed out to radius(direction). Corners of neighbouring
   faces are made twice and welded by the tool. */
static inline void shape_star(tet_tool *tool, tet_surface *s, int n, shape_radius *radius) {
    int face, i, j;
    for (face = 0; face < 6; ++face) {
        int first = s->point_count, axis = face / 2, flip = face % 2;
        for (j = 0; j <= n; ++j) {
            for (i = 0; i <= n; ++i) {
                double c[3];
                tet_vec d;
                c[axis] = flip ? -1.0 : 1.0;
                c[(axis + 1) % 3] = tan(SHAPE_PI / 4.0 * (2.0 * i - n) / n);
                c[(axis + 2) % 3] = tan(SHAPE_PI / 4.0 * (2.0 * j - n) / n);
                d = tet_v(c[0], c[1], c[2]);
                d = tet_scale(d, 1.0 / tet_length(d));
                tet_surface_point(tool, s, tet_scale(d, radius(d)));
            }
        }
        for (j = 0; j < n; ++j) {
            for (i = 0; i < n; ++i) {
                int a = first + j * (n + 1) + i, b = a + 1, c = a + n + 2, d = a + n + 1;
                tet_surface_triangle(tool, s, a, flip ? c : b, flip ? b : c);
                tet_surface_triangle(tool, s, a, flip ? d : c, flip ? c : d);
            }
        }
    }
}

static inline double shape_unit(tet_vec d) { return (void)d, 1.0; }

static inline double shape_bump(tet_vec d, double x, double y, double z, double height, double width) {
    tet_vec at = tet_v(x, y, z);
    return height * exp(-(1.0 - tet_dot(d, at) / tet_length(at)) / width);
}

/* A rabbit of sorts: a lumpy body, a head, two ears, a tail. */
static inline double shape_bunny_radius(tet_vec d) {
    double r = 1.0 + 0.12 * sin(3.0 * d.x + 1.0) * cos(2.0 * d.y) + 0.08 * sin(4.0 * d.z + d.y);
    r += shape_bump(d, 0.0, 0.5, 0.85, 0.45, 0.12);
    r += shape_bump(d, 0.35, 0.9, 0.2, 1.0, 0.03) + shape_bump(d, -0.35, 0.9, 0.2, 1.0, 0.03);
    return r + shape_bump(d, 0.0, -0.2, -1.0, 0.3, 0.04);
}

static inline void shape_sphere(tet_tool *tool, tet_surface *s) { shape_star(tool, s, 18, shape_unit); }
static inline void shape_bunny(tet_tool *tool, tet_surface *s) {
    shape_star(tool, s, 29, shape_bunny_radius);
} /* 10092 */

static inline void shape_ring(tet_tool *tool, tet_surface *s, int around, int across, double big, double small) {
    int i, j, first = s->point_count;
    for (i = 0; i < around; ++i) {
        for (j = 0; j < across; ++j) {
            double a = 2.0 * SHAPE_PI * i / around, b = 2.0 * SHAPE_PI * j / across, r = big + small * cos(b);
            tet_surface_point(tool, s, tet_v(r * cos(a), small * sin(b), -r * sin(a)));
        }
    }
    for (i = 0; i < around; ++i) {
        for (j = 0; j < across; ++j) {
            int p = first + i * across + j, q = first + i * across + (j + 1) % across;
            int u = first + (i + 1) % around * across + j, v = first + (i + 1) % around * across + (j + 1) % across;
            tet_surface_triangle(tool, s, p, u, v);
            tet_surface_triangle(tool, s, p, v, q);
        }
    }
}
static inline void shape_torus(tet_tool *tool, tet_surface *s) { shape_ring(tool, s, 64, 32, 1.0, 0.4); }
static inline void shape_lifebuoy(tet_tool *tool, tet_surface *s) { shape_ring(tool, s, 60, 24, 0.30, 0.075); } /* m */

/* A closed profile (radius, height) turned about the y axis; radius 0 only at its two ends. */
static inline void shape_lathe(tet_tool *tool, tet_surface *s, const double (*profile)[2], int count, int around) {
    int i, j, first = s->point_count;
    for (i = 0; i < count; ++i) {
        for (j = 0; j < around; ++j) {
            double a = 2.0 * SHAPE_PI * j / around;
            tet_surface_point(tool, s, tet_v(profile[i][0] * cos(a), profile[i][1], -profile[i][0] * sin(a)));
        }
    }
    for (i = 0; i + 1 < count; ++i) {
        for (j = 0; j < around; ++j) {
            int a = first + i * around + j, b = first + i * around + (j + 1) % around, c = a + around, d = b + around;
            tet_surface_triangle(tool, s, a, b, d);
            tet_surface_triangle(tool, s, a, d, c);
        }
    }
}

/* A flower pot: an open cup with walls and a bottom. */
static inline void shape_pot(tet_tool *tool, tet_surface *s) {
    double profile[40][2];
    int count = 0, i;
    for (i = 0; i <= 5; ++i) profile[count][0] = 0.12 * i, profile[count++][1] = 0.0;
    for (i = 1; i <= 10; ++i) profile[count][0] = 0.6 + 0.03 * i, profile[count++][1] = 0.12 * i;
    for (i = 1; i <= 2; ++i) profile[count][0] = 0.9 - 0.1 * i, profile[count++][1] = 1.2;
    for (i = 1; i <= 9; ++i) profile[count][0] = 0.7 - 0.03 * i, profile[count++][1] = 1.2 - 1.0 * i / 9.0;
    for (i = 1; i <= 4; ++i) profile[count][0] = 0.43 * (1.0 - i / 4.0), profile[count++][1] = 0.2;
    shape_lathe(tool, s, (const double(*)[2])profile, count, 48);
}

/* An axis-parallel box of 12 triangles; inward turns it inside out. */
static inline void shape_box(tet_tool *tool, tet_surface *s, tet_vec lo, tet_vec hi, bool inward) {
    static const int faces[6][4] = {{0, 2, 3, 1}, {4, 5, 7, 6}, {0, 1, 5, 4}, {2, 6, 7, 3}, {0, 4, 6, 2}, {1, 3, 7, 5}};
    int first = s->point_count, i;
    for (i = 0; i < 8; ++i)
        tet_surface_point(tool, s, tet_v(i & 1 ? hi.x : lo.x, i & 2 ? hi.y : lo.y, i & 4 ? hi.z : lo.z));
    for (i = 0; i < 6; ++i) {
        int a = first + faces[i][0], b = first + faces[i][1], c = first + faces[i][2], d = first + faces[i][3];
        tet_surface_triangle(tool, s, a, inward ? c : b, inward ? b : c);
        tet_surface_triangle(tool, s, a, inward ? d : c, inward ? c : d);
    }
}

typedef struct shape_entry {
    const char *name;
    void (*make)(tet_tool *tool, tet_surface *s);
} shape_entry;

static const shape_entry shape_all[] = {{"sphere", shape_sphere},
                                        {"torus", shape_torus},
                                        {"lifebuoy", shape_lifebuoy},
                                        {"pot", shape_pot},
                                        {"bunny", shape_bunny}};
enum { SHAPE_COUNT = 5 };

/* ---- [writers] --------------------------------------------------------------------------------------------------- */

typedef enum shape_format {
    SHAPE_OBJ,
    SHAPE_OFF,
    SHAPE_STL_TEXT,
    SHAPE_STL_BINARY,
    SHAPE_PLY_TEXT,
    SHAPE_PLY_LITTLE,
    SHAPE_PLY_BIG,
    SHAPE_FORMAT_COUNT
} shape_format;

static inline void shape_put(tet_tool *tool, tet_text *t, uint64_t value, int bytes, bool big) {
    int i;
    t->data = (char *)tet_reserve(tool, t->data, &t->capacity, t->size + bytes + 1, 1);
    for (i = 0; i < bytes; ++i) t->data[t->size++] = (char)(unsigned char)(value >> (8 * (big ? bytes - 1 - i : i)));
    t->data[t->size] = 0;
}
static inline void shape_put_float(tet_tool *tool, tet_text *t, double value, bool big) {
    float f = (float)value;
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    shape_put(tool, t, bits, 4, big);
}

static inline void shape_write_stl(tet_tool *tool, const tet_surface *s, tet_text *t, bool text) {
    int i, k;
    if (text) tet_print(tool, t, "solid test\n");
    for (i = 0; i < 80 && !text; ++i) shape_put(tool, t, (unsigned char)"solid binary"[i % 12], 1, false);
    if (!text) shape_put(tool, t, (uint64_t)s->triangle_count, 4, false);
    for (i = 0; i < s->triangle_count; ++i) {
        if (text) tet_print(tool, t, "  facet normal 0 0 0\n    outer loop\n");
        for (k = 0; k < 3 && !text; ++k) shape_put(tool, t, 0, 4, false);
        for (k = 0; k < 3; ++k) {
            tet_vec p = s->points[s->triangles[i].v[k]];
            if (text) tet_print(tool, t, "      vertex %.9g %.9g %.9g\n", p.x, p.y, p.z);
            if (!text)
                shape_put_float(tool, t, p.x, false), shape_put_float(tool, t, p.y, false),
                    shape_put_float(tool, t, p.z, false);
        }
        if (text) tet_print(tool, t, "    endloop\n  endfacet\n");
        else shape_put(tool, t, 0, 2, false);
    }
    if (text) tet_print(tool, t, "endsolid test\n");
}

static inline void shape_write_ply(tet_tool *tool, const tet_surface *s, tet_text *t, const char *format, bool text,
                                   bool big) {
    int i, k;
    tet_print(tool, t,
              "ply\nformat %s 1.0\ncomment made by a test\nelement vertex %d\nproperty float x\nproperty float y\n",
              format, s->point_count);
    tet_print(tool, t,
              "property float z\nproperty uchar red\nelement face %d\nproperty list uchar int vertex_indices\n",
              s->triangle_count);
    tet_print(tool, t, "property short group\nend_header\n");
    for (i = 0; i < s->point_count; ++i) {
        tet_vec p = s->points[i];
        if (text) {
            tet_print(tool, t, "%.9g %.9g %.9g 7\n", p.x, p.y, p.z);
            continue;
        }
        shape_put_float(tool, t, p.x, big), shape_put_float(tool, t, p.y, big), shape_put_float(tool, t, p.z, big);
        shape_put(tool, t, 7, 1, big);
    }
    for (i = 0; i < s->triangle_count; ++i) {
        const int *v = s->triangles[i].v;
        if (text) {
            tet_print(tool, t, "3 %d %d %d -1\n", v[0], v[1], v[2]);
            continue;
        }
        shape_put(tool, t, 3, 1, big);
        for (k = 0; k < 3; ++k) shape_put(tool, t, (uint64_t)v[k], 4, big);
        shape_put(tool, t, 0xffff, 2, big);
    }
}

static inline void shape_write_indexed(tet_tool *tool, const tet_surface *s, tet_text *t, bool off) {
    int i;
    if (off) tet_print(tool, t, "OFF\n# by a test\n%d %d 0\n", s->point_count, s->triangle_count);
    for (i = 0; i < s->point_count; ++i) {
        tet_print(tool, t, "%s%.9g %.9g %.9g\n", off ? "" : "v ", s->points[i].x, s->points[i].y, s->points[i].z);
    }
    for (i = 0; i < s->triangle_count; ++i) {
        const int *v = s->triangles[i].v;
        if (off) tet_print(tool, t, "3 %d %d %d\n", v[0], v[1], v[2]);
        else tet_print(tool, t, "f %d/1/1 %d//2 %d\n", v[0] + 1, v[1] + 1, v[2] - s->point_count);
    }
}

/* The bytes of a file; data[size] is 0. */
static inline tet_text shape_write(tet_tool *tool, const tet_surface *s, shape_format format) {
    tet_text t;
    memset(&t, 0, sizeof t);
    switch (format) {
        case SHAPE_OBJ: shape_write_indexed(tool, s, &t, false); break;
        case SHAPE_OFF: shape_write_indexed(tool, s, &t, true); break;
        case SHAPE_STL_TEXT: shape_write_stl(tool, s, &t, true); break;
        case SHAPE_STL_BINARY: shape_write_stl(tool, s, &t, false); break;
        case SHAPE_PLY_TEXT: shape_write_ply(tool, s, &t, "ascii", true, false); break;
        case SHAPE_PLY_LITTLE: shape_write_ply(tool, s, &t, "binary_little_endian", false, false); break;
        case SHAPE_PLY_BIG: shape_write_ply(tool, s, &t, "binary_big_endian", false, true); break;
        case SHAPE_FORMAT_COUNT: break;
    }
    return t;
}

static inline bool shape_save(const char *path, const void *data, size_t size) {
    FILE *file = fopen(path, "wb");
    bool good = file && fwrite(data, 1, size, file) == size;
    if (file && fclose(file) != 0) good = false;
    return good;
}

/* The default repair of a solid. */
static inline tet_health shape_repair(tet_tool *tool, tet_surface *s) {
    tet_repair_options options;
    memset(&options, 0, sizeof options);
    options.weld = -1.0;
    return tet_repair(tool, s, &options);
}

/* The default options of the tool. */
static inline tet_build_options shape_options(tet_method method) {
    tet_build_options o;
    memset(&o, 0, sizeof o);
    o.method = method, o.ratio = 1.4, o.min_angle = -1.0, o.max_cells = 200000;
    return o;
}

#endif /* SUPPORT_TOOL_SHAPES_H */
