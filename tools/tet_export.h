/* tet_export.h - what leaves the tool beside the asset: C arrays, OBJ, and what --info prints. Private to tools/.
   SPDX-License-Identifier: MIT */
#ifndef TET_EXPORT_H
#define TET_EXPORT_H

#include "tet_asset.h"
#include "tet_quality.h"

/* ---- [text] a growing buffer: files are written in one go, when everything is known to be right ------------------ */

typedef struct tet_text {
    char *data;
    int size, capacity;
} tet_text;

static inline void tet_print(tet_tool *tool, tet_text *text, const char *format, ...) TET_PRINTF(3, 4);
static inline void tet_print(tet_tool *tool, tet_text *text, const char *format, ...) {
    va_list list;
    int length;
    text->data = (char *)tet_reserve(tool, text->data, &text->capacity, text->size + 512, 1);
    va_start(list, format);
    length = vsnprintf(text->data + text->size, 512, format, list);
    va_end(list);
    if (length > 0) text->size += length < 512 ? length : 511;
}

/* ---- [c-array] --------------------------------------------------------------------------------------------------- */

/* A name for the array from the file's name: letters, digits and underscores. */
static inline void tet_array_name(const char *path, char *name, size_t size) {
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
    size_t length = 0;
    if (*base >= '0' && *base <= '9') name[length++] = '_';
    for (; *base && *base != '.' && length + 1 < size; ++base) {
        bool plain = (*base >= 'a' && *base <= 'z') || (*base >= 'A' && *base <= 'Z') || (*base >= '0' && *base <= '9');
        name[length++] = plain ? *base : '_';
    }
    if (!length) name[length++] = '_';
    name[length] = 0;
}

/* Bytes, so that the array is the same on every machine, in a union that aligns them: ipbd_asset_open works in
   place. */
static inline tet_text tet_c_array(tet_tool *tool, const tet_bytes *b, const char *name) {
    tet_text text;
    size_t i;
    memset(&text, 0, sizeof text);
    tet_print(tool, &text, "/* Made by isphpbd-tet: a soft-body asset of %zu bytes.\n", b->size);
    tet_print(tool, &text, "   ipbd_asset_open(%s.bytes, sizeof %s.bytes, NULL, 0, &asset) */\n", name, name);
    tet_print(tool, &text, "#include <stdint.h>\n");
    tet_print(tool, &text, "static const union { unsigned char bytes[%zu]; uint32_t aligned; } %s = {{", b->size, name);
    for (i = 0; i < b->size; ++i) {
        if (i % 32 == 0) tet_print(tool, &text, "\n    ");
        tet_print(tool, &text, "%u,", (unsigned)b->data[i]);
    }
    tet_print(tool, &text, "\n}};\n");
    return text;
}

/* ---- [obj] ------------------------------------------------------------------------------------------------------- */

static inline tet_vec tet_asset_vertex(const ipbd_asset *a, uint32_t i) {
    const float *p = a->positions + 3 * (size_t)i;
    return tet_v((double)p[0], (double)p[1], (double)p[2]);
}

/* Where the asset says a skin vertex is. */
static inline tet_vec tet_asset_skin_vertex(const ipbd_asset *a, uint32_t i) {
    const uint32_t *v = a->tetrahedra + 4 * (size_t)a->skin_tetrahedra[i];
    tet_vec sum = tet_v(0, 0, 0);
    int k;
    for (k = 0; k < 4; ++k)
        sum = tet_add(sum, tet_scale(tet_asset_vertex(a, v[k]), (double)a->skin_weights[4 * (size_t)i + (size_t)k]));
    return sum;
}

/* The skin, or the body's own surface (shells have only that). */
static inline tet_text tet_obj(tet_tool *tool, const ipbd_asset *a, bool body) {
    bool own = body || !a->skin_vertex_count;
    int vertices = own ? a->vertex_count : a->skin_vertex_count,
        triangles = own ? a->triangle_count : a->skin_triangle_count;
    const uint32_t *t = own ? a->triangles : a->skin_triangles;
    tet_text text;
    int i;
    memset(&text, 0, sizeof text);
    for (i = 0; i < vertices; ++i) {
        tet_vec p = own ? tet_asset_vertex(a, (uint32_t)i) : tet_asset_skin_vertex(a, (uint32_t)i);
        tet_print(tool, &text, "v %.9g %.9g %.9g\n", p.x, p.y, p.z);
    }
    for (i = 0; i < triangles; ++i) {
        const uint32_t *v = t + 3 * (size_t)i;
        tet_print(tool, &text, "f %u %u %u\n", v[0] + 1, v[1] + 1, v[2] + 1);
    }
    return text;
}

/* ---- [info] ------------------------------------------------------------------------------------------------------ */

/* The tetrahedra of an asset as a mesh. */
static inline tet_mesh tet_asset_mesh(tet_tool *tool, const ipbd_asset *a) {
    tet_mesh m;
    int i, k, v[4];
    memset(&m, 0, sizeof m);
    for (i = 0; i < a->vertex_count; ++i) tet_mesh_point(tool, &m, tet_asset_vertex(a, (uint32_t)i));
    for (i = 0; i < a->tetrahedron_count; ++i) {
        for (k = 0; k < 4; ++k) v[k] = (int)a->tetrahedra[4 * (size_t)i + (size_t)k];
        tet_mesh_cell(tool, &m, v);
    }
    return m;
}

static inline void tet_quality_json(FILE *file, const tet_quality *q) {
    int i;
    fprintf(file, ", \"tetrahedra_volume\": %.9g, \"not_positive\": %d", q->volume, q->not_positive);
    fprintf(file, ", \"dihedral_min\": %.6g, \"dihedral_max\": %.6g", q->angle_min, q->angle_max);
    fprintf(file, ", \"radius_edge_max\": %.6g, \"dihedral_histogram\": [", q->ratio_max);
    for (i = 0; i < TET_ANGLE_BINS; ++i) fprintf(file, "%s%ld", i ? ", " : "", q->angles[i]);
    fprintf(file, "], \"radius_edge_histogram\": [");
    for (i = 0; i < TET_RATIO_BINS; ++i) fprintf(file, "%s%ld", i ? ", " : "", q->ratios[i]);
    fprintf(file, "]");
}

static inline void tet_info_asset_json(FILE *file, const ipbd_asset *a, const tet_quality *q) {
    fprintf(file, "{\"kind\": \"%s\", \"closed\": %s", a->flags & IPBD_ASSET_SOLID ? "solid" : "shell",
            a->flags & IPBD_ASSET_CLOSED ? "true" : "false");
    fprintf(file, ", \"kept_surface\": %s", a->flags & IPBD_ASSET_KEPT_SURFACE ? "true" : "false");
    fprintf(file, ", \"vertices\": %d, \"tetrahedra\": %d, \"triangles\": %d", a->vertex_count, a->tetrahedron_count,
            a->triangle_count);
    fprintf(file, ", \"edges\": %d, \"edge_colours\": %d", a->edge_count, a->edge_colour_count);
    fprintf(file, ", \"tetrahedron_colours\": %d, \"bends\": %d", a->tetrahedron_colour_count, a->bend_count);
    fprintf(file, ", \"bend_colours\": %d, \"skin_vertices\": %d", a->bend_colour_count, a->skin_vertex_count);
    fprintf(file, ", \"skin_triangles\": %d, \"input_vertices\": %d", a->skin_triangle_count, a->input_vertex_count);
    fprintf(file, ", \"volume\": %.9g, \"area\": %.9g", (double)a->volume, (double)a->area);
    fprintf(file, ", \"density\": %.9g, \"mass\": %.9g, \"element_size\": %.9g", (double)a->density, (double)a->mass,
            (double)a->element_size);
    if (a->tetrahedron_count) tet_quality_json(file, q);
    fprintf(file, "}\n");
}

static inline void tet_info_asset_text(FILE *file, const ipbd_asset *a, const tet_quality *q) {
    fprintf(file, "asset       version %u, %s%s%s\n", IPBD_ASSET_VERSION,
            a->flags & IPBD_ASSET_SOLID ? "solid" : "shell", a->flags & IPBD_ASSET_CLOSED ? ", closed" : ", open",
            a->flags & IPBD_ASSET_KEPT_SURFACE ? ", kept surface" : "");
    fprintf(file, "body        %d vertices, %d tetrahedra, %d surface triangles\n", a->vertex_count,
            a->tetrahedron_count, a->triangle_count);
    fprintf(file, "constraints %d edges in %d colours, %d tetrahedra in %d, %d bends in %d\n", a->edge_count,
            a->edge_colour_count, a->tetrahedron_count, a->tetrahedron_colour_count, a->bend_count,
            a->bend_colour_count);
    fprintf(file, "skin        %d vertices, %d triangles, for %d vertices of the input\n", a->skin_vertex_count,
            a->skin_triangle_count, a->input_vertex_count);
    fprintf(file, "bounds      (%g, %g, %g) to (%g, %g, %g)\n", (double)a->lower.x, (double)a->lower.y,
            (double)a->lower.z, (double)a->upper.x, (double)a->upper.y, (double)a->upper.z);
    fprintf(file, "mass        %g kg at density %g, area %g m^2, volume %g m^3", (double)a->mass, (double)a->density,
            (double)a->area, (double)a->volume);
    if (a->tetrahedron_count && a->volume > 0.0f) {
        fprintf(file, " (tetrahedra %+.4f %%)", 100.0 * (q->volume / (double)a->volume - 1.0));
    }
    fprintf(file, "\n");
    if (a->tetrahedron_count) tet_quality_print(file, q, a->tetrahedron_count);
}

static inline void tet_info_asset(tet_tool *tool, FILE *file, const ipbd_asset *a, bool json) {
    tet_mesh m = tet_asset_mesh(tool, a);
    tet_quality q = tet_mesh_quality(&m);
    if (json) tet_info_asset_json(file, a, &q);
    else tet_info_asset_text(file, a, &q);
}

static inline void tet_info_mesh_json(FILE *file, const tet_surface *s, const tet_health *h, const char *kind) {
    fprintf(file, "{\"kind\": \"%s\", \"file_vertices\": %d, \"vertices\": %d, \"triangles\": %d", kind, s->map_count,
            s->point_count, s->triangle_count);
    fprintf(file, ", \"welded\": %d, \"degenerate\": %d, \"duplicate\": %d", h->welded, h->degenerate, h->duplicate);
    fprintf(file, ", \"unused\": %d, \"flipped\": %d, \"filled_holes\": %d", h->unused, h->flipped, h->filled);
    fprintf(file, ", \"parts\": %d, \"cavities\": %d, \"holes\": %d", h->components, h->cavities, h->holes.count);
    fprintf(file, ", \"non_manifold_edges\": %d, \"self_intersections\": %d", h->non_manifold.count,
            h->crossings.count);
    fprintf(file, ", \"orientable\": %s, \"area\": %.9g, \"volume\": %.9g}\n", h->unorientable.count ? "false" : "true",
            h->area, h->volume);
}

static inline void tet_info_problem(FILE *file, const char *what, const tet_problem *p) {
    if (p->count)
        fprintf(file, "problem     %d %s, at (%g, %g, %g)\n", p->count, what, p->place.x, p->place.y, p->place.z);
}

static inline void tet_info_mesh_text(FILE *file, const tet_surface *s, const tet_health *h, const char *kind) {
    tet_box box = tet_box_of(s->points, s->point_count);
    fprintf(file, "mesh        %s, %d vertices, %d triangles after repair (%d vertices in the file)\n", kind,
            s->point_count, s->triangle_count, s->map_count);
    fprintf(file, "repair      %d welded, %d degenerate, %d duplicate, %d unused, %d turned, %d holes filled\n",
            h->welded, h->degenerate, h->duplicate, h->unused, h->flipped, h->filled);
    fprintf(file, "parts       %d, %d of them cavities; %s\n", h->components, h->cavities,
            tet_closed(h) ? "closed" : "not closed");
    fprintf(file, "bounds      (%g, %g, %g) to (%g, %g, %g)\n", box.lo.x, box.lo.y, box.lo.z, box.hi.x, box.hi.y,
            box.hi.z);
    fprintf(file, "size        area %g, volume %g\n", h->area, h->volume);
    tet_info_problem(file, "holes", &h->holes);
    tet_info_problem(file, "edges with more than two faces", &h->non_manifold);
    tet_info_problem(file, "places where the surface has one side", &h->unorientable);
    tet_info_problem(file, "pairs of faces that cut each other", &h->crossings);
}

#endif /* TET_EXPORT_H */
