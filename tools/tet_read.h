/* tet_read.h - surface meshes from bytes: OBJ, PLY (ASCII, binary of both byte orders), STL (ASCII, binary), OFF.
   SPDX-License-Identifier: MIT

   The kind is told by the content, never by the file's name. Any bytes may come in: whatever is wrong leaves through
   tet_fail() with the place named, and memory stays proportional to the size of the file. */
#ifndef TET_READ_H
#define TET_READ_H

#include "tet_base.h"

enum { TET_POLYGON_LIMIT = 4096 }; /* corners of one face: ear clipping is quadratic */

/* ---- [cursor] over bytes that end with a NUL the caller put behind them ------------------------------------------ */

typedef struct tet_cursor {
    const char *at, *end;
    int line;
    bool big_endian; /* of binary numbers */
} tet_cursor;

static inline bool tet_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f'; }

/* Blanks within the line; a backslash before the line's end continues it (OBJ). */
static inline void tet_skip_blanks(tet_cursor *c) {
    while (c->at < c->end) {
        const char *after = c->at + 1;
        if (*c->at == '\\') {
            if (after < c->end && *after == '\r') ++after;
            if (after >= c->end || *after != '\n') return;
            c->at = after + 1;
            c->line++;
        } else if (tet_blank(*c->at)) {
            c->at++;
        } else {
            return;
        }
    }
}

static inline void tet_next_line(tet_cursor *c) {
    while (c->at < c->end && *c->at != '\n') c->at++;
    if (c->at < c->end) c->at++, c->line++;
}

/* Blanks, line ends and comments from '#' on: where line structure means nothing. */
static inline void tet_skip_space(tet_cursor *c) {
    for (;;) {
        tet_skip_blanks(c);
        if (c->at < c->end && *c->at == '\n') c->at++, c->line++;
        else if (c->at < c->end && *c->at == '#') tet_next_line(c);
        else return;
    }
}

static inline bool tet_line_done(tet_cursor *c) {
    tet_skip_blanks(c);
    return c->at >= c->end || *c->at == '\n' || *c->at == '#';
}

/* True, and past it, when the word stands here as a whole. */
static inline bool tet_take_word(tet_cursor *c, const char *word) {
    size_t length = strlen(word);
    const char *after = c->at + length;
    if ((size_t)(c->end - c->at) < length || memcmp(c->at, word, length) != 0) return false;
    if (after < c->end && !tet_blank(*after) && *after != '\n') return false;
    c->at = after;
    return true;
}

static inline void tet_copy_word(tet_cursor *c, char *word, size_t size) {
    size_t length = 0;
    tet_skip_blanks(c);
    while (c->at < c->end && !tet_blank(*c->at) && *c->at != '\n') {
        if (length + 1 < size) word[length++] = *c->at;
        c->at++;
    }
    word[length] = 0;
}

static inline double tet_take_number(tet_tool *tool, tet_cursor *c) {
    char *after;
    double value;
    if (c->at >= c->end || *c->at == '\n') tet_fail(tool, "line %d: a number is missing", c->line);
    value = strtod(c->at, &after);
    if (after == c->at || after > c->end) tet_fail(tool, "line %d: a number is expected", c->line);
    if (value - value != 0.0) tet_fail(tool, "line %d: a number is not finite", c->line);
    c->at = after;
    return value;
}

static inline long long tet_take_integer(tet_tool *tool, tet_cursor *c) {
    char *after;
    long long value;
    if (c->at >= c->end || *c->at == '\n') tet_fail(tool, "line %d: an integer is missing", c->line);
    value = strtoll(c->at, &after, 10);
    if (after == c->at || after > c->end) tet_fail(tool, "line %d: an integer is expected", c->line);
    c->at = after;
    return value;
}

static inline tet_vec tet_take_vec(tet_tool *tool, tet_cursor *c) {
    tet_vec p;
    tet_skip_blanks(c);
    p.x = tet_take_number(tool, c);
    tet_skip_blanks(c);
    p.y = tet_take_number(tool, c);
    tet_skip_blanks(c);
    p.z = tet_take_number(tool, c);
    return p;
}

static inline uint64_t tet_take_bytes(tet_tool *tool, tet_cursor *c, int count) {
    const unsigned char *b = (const unsigned char *)c->at;
    uint64_t value = 0;
    int i;
    if (c->end - c->at < count) tet_fail(tool, "the file is cut off");
    for (i = 0; i < count; ++i) value |= (uint64_t)b[c->big_endian ? count - 1 - i : i] << (8 * i);
    c->at += count;
    return value;
}

static inline float tet_float_from_bits(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}
static inline double tet_double_from_bits(uint64_t bits) {
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* ---- [polygon] faces with more than three corners become triangles by ear clipping ------------------------------- */

typedef struct tet_polygon {
    int *corners;
    int count, capacity;
} tet_polygon;

static inline void tet_polygon_push(tet_tool *tool, tet_polygon *polygon, long long index, int point_count, int line) {
    if (index < 0 || index >= point_count) {
        tet_fail(tool, "line %d: a face names vertex %lld, there are %d", line, index, point_count);
    }
    if (polygon->count >= TET_POLYGON_LIMIT) {
        tet_fail(tool, "line %d: a face has more than %d corners", line, TET_POLYGON_LIMIT);
    }
    polygon->corners = (int *)tet_reserve(tool, polygon->corners, &polygon->capacity, polygon->count + 1, sizeof(int));
    polygon->corners[polygon->count++] = (int)index;
}

/* Newell's normal: right for any flat polygon, a fair mean for a bent one. */
static inline tet_vec tet_polygon_normal(const tet_surface *s, const tet_polygon *polygon) {
    tet_vec sum = tet_v(0, 0, 0), origin = s->points[polygon->corners[0]];
    int i;
    for (i = 1; i + 1 < polygon->count; ++i) {
        tet_vec a = tet_sub(s->points[polygon->corners[i]], origin),
                b = tet_sub(s->points[polygon->corners[i + 1]], origin);
        sum = tet_add(sum, tet_cross(a, b));
    }
    return sum;
}

static inline double tet_turn(tet_vec a, tet_vec b, tet_vec c, tet_vec normal) {
    return tet_dot(tet_cross(tet_sub(b, a), tet_sub(c, a)), normal);
}

/* An ear turns left and holds no other corner of the polygon. */
static inline bool tet_is_ear(const tet_surface *s, const tet_polygon *polygon, int at, tet_vec normal) {
    int n = polygon->count, i;
    int ia = polygon->corners[(at + n - 1) % n], ib = polygon->corners[at], ic = polygon->corners[(at + 1) % n];
    tet_vec a = s->points[ia], b = s->points[ib], c = s->points[ic];
    if (tet_turn(a, b, c, normal) <= 0.0) return false;
    for (i = 0; i < n; ++i) {
        int corner = polygon->corners[i];
        tet_vec p = s->points[corner];
        if (corner == ia || corner == ib || corner == ic) continue;
        if (tet_turn(a, b, p, normal) >= 0.0 && tet_turn(b, c, p, normal) >= 0.0 && tet_turn(c, a, p, normal) >= 0.0) {
            return false;
        }
    }
    return true;
}

/* Uses the polygon up. Where no ear is found (a self-crossing face) the first corner is clipped all the same. */
static inline void tet_polygon_clip(tet_tool *tool, tet_surface *s, tet_polygon *polygon) {
    tet_vec normal;
    if (polygon->count < 3) {
        polygon->count = 0;
        return;
    }
    normal = tet_polygon_normal(s, polygon);
    while (polygon->count > 3) {
        int n = polygon->count, at = 0;
        while (at < n && !tet_is_ear(s, polygon, at, normal)) ++at;
        if (at == n) at = 1;
        tet_surface_triangle(tool, s, polygon->corners[(at + n - 1) % n], polygon->corners[at],
                             polygon->corners[(at + 1) % n]);
        memmove(polygon->corners + at, polygon->corners + at + 1, (size_t)(n - at - 1) * sizeof(int));
        polygon->count--;
    }
    tet_surface_triangle(tool, s, polygon->corners[0], polygon->corners[1], polygon->corners[2]);
    polygon->count = 0;
}

/* ---- [obj] ------------------------------------------------------------------------------------------------------- */

/* "7", "7/1", "7//3", "7/1/3" and negative numbers counted from the end; only the position matters. */
static inline void tet_obj_face(tet_tool *tool, tet_cursor *c, tet_surface *s, tet_polygon *polygon) {
    while (!tet_line_done(c)) {
        long long index = tet_take_integer(tool, c);
        if (index == 0) tet_fail(tool, "line %d: vertex number 0 (OBJ counts from 1)", c->line);
        tet_polygon_push(tool, polygon, index < 0 ? s->point_count + index : index - 1, s->point_count, c->line);
        while (c->at < c->end && !tet_blank(*c->at) && *c->at != '\n') c->at++;
    }
    tet_polygon_clip(tool, s, polygon);
}

static inline void tet_read_obj(tet_tool *tool, tet_cursor *c, tet_surface *s) {
    tet_polygon polygon;
    memset(&polygon, 0, sizeof polygon);
    while (c->at < c->end) {
        tet_skip_blanks(c);
        if (tet_take_word(c, "v")) tet_surface_point(tool, s, tet_take_vec(tool, c));
        else if (tet_take_word(c, "f")) tet_obj_face(tool, c, s, &polygon);
        tet_next_line(c);
    }
}

/* ---- [off] ------------------------------------------------------------------------------------------------------- */

static inline int tet_take_count(tet_tool *tool, tet_cursor *c) {
    long long count;
    tet_skip_space(c);
    count = tet_take_integer(tool, c);
    if (count < 0 || count > INT_MAX / 2) tet_fail(tool, "line %d: a count of %lld", c->line, count);
    return (int)count;
}

static inline void tet_read_off(tet_tool *tool, tet_cursor *c, tet_surface *s) {
    tet_polygon polygon;
    int points, faces, i, k;
    char word[16];
    memset(&polygon, 0, sizeof polygon);
    tet_copy_word(c, word, sizeof word); /* OFF, COFF, NOFF, STOFF ...: the first three numbers are the position */
    tet_skip_blanks(c);
    if (tet_take_word(c, "BINARY")) tet_fail(tool, "binary OFF is not supported: save as text");
    points = tet_take_count(tool, c);
    faces = tet_take_count(tool, c);
    tet_take_count(tool, c); /* edges: unused */
    for (i = 0; i < points; ++i) {
        tet_skip_space(c);
        tet_surface_point(tool, s, tet_take_vec(tool, c));
        tet_next_line(c);
    }
    for (i = 0; i < faces; ++i) {
        int corners = tet_take_count(tool, c);
        for (k = 0; k < corners; ++k) {
            tet_skip_space(c);
            tet_polygon_push(tool, &polygon, tet_take_integer(tool, c), s->point_count, c->line);
        }
        tet_next_line(c); /* colours may follow */
        tet_polygon_clip(tool, s, &polygon);
    }
}

/* ---- [stl] ------------------------------------------------------------------------------------------------------- */

static inline void tet_read_stl_text(tet_tool *tool, tet_cursor *c, tet_surface *s) {
    int corners = 0;
    while (c->at < c->end) {
        tet_skip_blanks(c);
        if (tet_take_word(c, "vertex")) {
            tet_surface_point(tool, s, tet_take_vec(tool, c));
            if (++corners > 3) tet_fail(tool, "line %d: an STL facet with more than three corners", c->line);
        } else if (tet_take_word(c, "endloop")) {
            if (corners != 3) tet_fail(tool, "line %d: an STL facet with %d corners", c->line, corners);
            tet_surface_triangle(tool, s, s->point_count - 3, s->point_count - 2, s->point_count - 1);
            corners = 0;
        }
        tet_next_line(c);
    }
    if (corners) tet_fail(tool, "line %d: the file is cut off", c->line);
}

static inline void tet_read_stl_binary(tet_tool *tool, tet_cursor *c, tet_surface *s) {
    uint32_t count, i;
    int k;
    c->at += 80;
    count = (uint32_t)tet_take_bytes(tool, c, 4);
    if ((uint64_t)(c->end - c->at) < (uint64_t)count * 50) {
        tet_fail(tool, "the file is cut off: binary STL of %u facets needs %.0f bytes", count, 84.0 + 50.0 * count);
    }
    for (i = 0; i < count; ++i) {
        c->at += 12; /* the normal: the corners tell it better */
        for (k = 0; k < 3; ++k) {
            tet_vec p;
            p.x = (double)tet_float_from_bits((uint32_t)tet_take_bytes(tool, c, 4));
            p.y = (double)tet_float_from_bits((uint32_t)tet_take_bytes(tool, c, 4));
            p.z = (double)tet_float_from_bits((uint32_t)tet_take_bytes(tool, c, 4));
            if (!tet_finite(p)) tet_fail(tool, "facet %u has a corner that is not finite", i);
            tet_surface_point(tool, s, p);
        }
        c->at += 2;
        tet_surface_triangle(tool, s, s->point_count - 3, s->point_count - 2, s->point_count - 1);
    }
}

/* ---- [ply] ------------------------------------------------------------------------------------------------------- */

enum { TET_PLY_PROPERTIES = 64, TET_PLY_ELEMENTS = 16 };

/* What a property is to us. */
typedef enum tet_ply_role { TET_PLY_OTHER, TET_PLY_X, TET_PLY_Y, TET_PLY_Z, TET_PLY_CORNERS } tet_ply_role;

typedef struct tet_ply_property {
    int type, count_type; /* index into the type table; count_type -1: not a list */
    tet_ply_role role;
} tet_ply_property;

typedef struct tet_ply_element {
    tet_ply_property properties[TET_PLY_PROPERTIES];
    int property_count;
    long long count;
    bool is_vertex, is_face;
} tet_ply_element;

typedef struct tet_ply {
    tet_ply_element elements[TET_PLY_ELEMENTS];
    int element_count;
    bool text;
} tet_ply;

/* Types in pairs of names, old and new; TET_PLY_BYTES and the sign by the same index / 2. */
static inline int tet_ply_type(tet_tool *tool, tet_cursor *c) {
    static const char *const names[] = {"char", "int8",  "uchar", "uint8",  "short", "int16",   "ushort", "uint16",
                                        "int",  "int32", "uint",  "uint32", "float", "float32", "double", "float64"};
    char word[16];
    int i;
    tet_copy_word(c, word, sizeof word);
    for (i = 0; i < 16; ++i) {
        if (strcmp(word, names[i]) == 0) return i / 2;
    }
    tet_fail(tool, "line %d: PLY type '%s' is unknown", c->line, word);
}

static inline void tet_ply_property_line(tet_tool *tool, tet_cursor *c, tet_ply *ply) {
    tet_ply_element *element;
    tet_ply_property *property;
    char name[32];
    if (!ply->element_count) tet_fail(tool, "line %d: a PLY property without an element", c->line);
    element = &ply->elements[ply->element_count - 1];
    if (element->property_count >= TET_PLY_PROPERTIES) tet_fail(tool, "line %d: too many PLY properties", c->line);
    property = &element->properties[element->property_count++];
    tet_skip_blanks(c);
    property->count_type = tet_take_word(c, "list") ? tet_ply_type(tool, c) : -1;
    property->type = tet_ply_type(tool, c);
    tet_copy_word(c, name, sizeof name);
    if (element->is_vertex && property->count_type < 0 && name[0] >= 'x' && name[0] <= 'z' && !name[1]) {
        property->role = (tet_ply_role)(TET_PLY_X + (name[0] - 'x'));
    }
    if (element->is_face && property->count_type >= 0 &&
        (strcmp(name, "vertex_indices") == 0 || strcmp(name, "vertex_index") == 0)) {
        property->role = TET_PLY_CORNERS;
    }
}

static inline void tet_ply_element_line(tet_tool *tool, tet_cursor *c, tet_ply *ply) {
    tet_ply_element *element;
    char name[32];
    if (ply->element_count >= TET_PLY_ELEMENTS) tet_fail(tool, "line %d: too many PLY elements", c->line);
    element = &ply->elements[ply->element_count++];
    tet_copy_word(c, name, sizeof name);
    element->is_vertex = strcmp(name, "vertex") == 0;
    element->is_face = strcmp(name, "face") == 0;
    tet_skip_blanks(c);
    element->count = tet_take_integer(tool, c);
    if (element->count < 0 || element->count > INT_MAX / 2) {
        tet_fail(tool, "line %d: a count of %lld", c->line, element->count);
    }
}

static inline void tet_ply_format_line(tet_tool *tool, tet_cursor *c, tet_ply *ply) {
    tet_skip_blanks(c);
    if (tet_take_word(c, "ascii")) ply->text = true;
    else if (tet_take_word(c, "binary_big_endian")) c->big_endian = true;
    else if (!tet_take_word(c, "binary_little_endian")) tet_fail(tool, "line %d: this PLY format is unknown", c->line);
}

static inline void tet_ply_header(tet_tool *tool, tet_cursor *c, tet_ply *ply) {
    bool format_seen = false;
    for (tet_next_line(c); !tet_take_word(c, "end_header"); tet_next_line(c)) {
        if (c->at >= c->end) tet_fail(tool, "the PLY header has no end");
        tet_skip_blanks(c);
        if (tet_take_word(c, "format")) tet_ply_format_line(tool, c, ply), format_seen = true;
        else if (tet_take_word(c, "element")) tet_ply_element_line(tool, c, ply);
        else if (tet_take_word(c, "property")) tet_ply_property_line(tool, c, ply);
    }
    tet_next_line(c);
    if (!format_seen) tet_fail(tool, "the PLY header names no format");
}

static inline double tet_ply_value(tet_tool *tool, tet_cursor *c, const tet_ply *ply, int type) {
    static const int bytes[] = {1, 1, 2, 2, 4, 4, 4, 8};
    uint64_t bits;
    if (ply->text) {
        tet_skip_space(c);
        return tet_take_number(tool, c);
    }
    bits = tet_take_bytes(tool, c, bytes[type]);
    switch (type) {
        case 0: return (double)(bits & 0x7f) - (double)(bits & 0x80);
        case 2: return (double)(bits & 0x7fff) - (double)(bits & 0x8000);
        case 4: return (double)(bits & 0x7fffffff) - (double)(bits & 0x80000000u);
        case 6: return (double)tet_float_from_bits((uint32_t)bits);
        case 7: return tet_double_from_bits(bits);
        default: return (double)bits;
    }
}

static inline void tet_ply_list(tet_tool *tool, tet_cursor *c, const tet_ply *ply, const tet_ply_property *property,
                                tet_surface *s, tet_polygon *polygon) {
    double count = tet_ply_value(tool, c, ply, property->count_type), i;
    if (!(count >= 0.0 && count <= (double)(c->end - c->at))) tet_fail(tool, "the file is cut off in a PLY list");
    for (i = 0.0; i < count; ++i) {
        double value = tet_ply_value(tool, c, ply, property->type);
        if (property->role != TET_PLY_CORNERS) continue;
        tet_polygon_push(tool, polygon, value >= 0.0 && value < INT_MAX ? (long long)value : -1, s->point_count,
                         c->line);
    }
}

static inline void tet_ply_row(tet_tool *tool, tet_cursor *c, const tet_ply *ply, const tet_ply_element *element,
                               tet_surface *s, tet_polygon *polygon) {
    double xyz[3] = {0.0, 0.0, 0.0};
    int i;
    for (i = 0; i < element->property_count; ++i) {
        const tet_ply_property *property = &element->properties[i];
        if (property->count_type >= 0) {
            tet_ply_list(tool, c, ply, property, s, polygon);
        } else {
            double value = tet_ply_value(tool, c, ply, property->type);
            if (property->role != TET_PLY_OTHER) xyz[property->role - TET_PLY_X] = value;
        }
    }
    if (element->is_vertex) {
        tet_vec p = tet_v(xyz[0], xyz[1], xyz[2]);
        if (!tet_finite(p)) tet_fail(tool, "vertex %d is not finite", s->point_count);
        tet_surface_point(tool, s, p);
    } else if (element->is_face) {
        tet_polygon_clip(tool, s, polygon);
    }
}

static inline void tet_read_ply(tet_tool *tool, tet_cursor *c, tet_surface *s) {
    tet_ply *ply = (tet_ply *)tet_alloc(tool, 1, sizeof *ply);
    tet_polygon polygon;
    int e;
    memset(&polygon, 0, sizeof polygon);
    tet_ply_header(tool, c, ply);
    for (e = 0; e < ply->element_count; ++e) {
        const tet_ply_element *element = &ply->elements[e];
        long long row;
        if (!element->property_count) continue; /* rows without bytes: any count costs nothing */
        for (row = 0; row < element->count; ++row) tet_ply_row(tool, c, ply, element, s, &polygon);
    }
}

/* ---- [sniff] ----------------------------------------------------------------------------------------------------- */

typedef enum tet_kind {
    TET_KIND_UNKNOWN,
    TET_KIND_OBJ,
    TET_KIND_PLY,
    TET_KIND_STL_TEXT,
    TET_KIND_STL_BINARY,
    TET_KIND_OFF
} tet_kind;

static inline const char *tet_kind_name(tet_kind kind) {
    static const char *const names[] = {"unknown", "OBJ", "PLY", "STL (text)", "STL (binary)", "OFF"};
    return names[kind];
}

static inline bool tet_first_word_ends_with_off(tet_cursor c) {
    char word[8];
    size_t length;
    tet_skip_space(&c);
    tet_copy_word(&c, word, sizeof word);
    length = strlen(word);
    return length >= 3 && length <= 6 && strcmp(word + length - 3, "OFF") == 0 && word[0] != '4' && word[0] != 'n';
}

/* Both a vertex and a face line: less would make any text an OBJ. */
static inline bool tet_looks_like_obj(tet_cursor c) {
    bool vertex = false, face = false;
    while (c.at < c.end && !(vertex && face)) {
        tet_skip_blanks(&c);
        if (tet_take_word(&c, "v")) vertex = true;
        else if (tet_take_word(&c, "f")) face = true;
        tet_next_line(&c);
    }
    return vertex && face;
}

static inline tet_kind tet_sniff(const tet_cursor *start) {
    tet_cursor c = *start, number = *start;
    size_t size = (size_t)(c.end - c.at);
    uint64_t facets = 0;
    if (tet_take_word(&c, "ply")) return TET_KIND_PLY;
    if (size >= 84) {
        const unsigned char *b = (const unsigned char *)number.at + 80;
        facets = (uint64_t)b[0] | (uint64_t)b[1] << 8 | (uint64_t)b[2] << 16 | (uint64_t)b[3] << 24;
        if (size == 84 + 50 * facets)
            return TET_KIND_STL_BINARY; /* even if it begins with "solid": some writers do that */
    }
    if (tet_first_word_ends_with_off(*start)) return TET_KIND_OFF;
    tet_skip_space(&c);
    if (tet_take_word(&c, "solid") && !memchr(start->at, 0, size)) return TET_KIND_STL_TEXT;
    if (tet_looks_like_obj(*start)) return TET_KIND_OBJ;
    if (size >= 84 && memchr(start->at, 0, size)) return TET_KIND_STL_BINARY; /* cut off, or bytes behind the end */
    return TET_KIND_UNKNOWN;
}

/* Reads a surface; bytes[size] must be readable and 0. Points are those of the file, in its order. */
static inline tet_kind tet_read(tet_tool *tool, const char *bytes, size_t size, tet_surface *s) {
    tet_cursor c;
    tet_kind kind;
    memset(s, 0, sizeof *s);
    c.at = bytes, c.end = bytes + size, c.line = 1, c.big_endian = false;
    if (size == 0) tet_fail(tool, "the file is empty");
    if (size >= 2 && (memcmp(bytes, "\xff\xfe", 2) == 0 || memcmp(bytes, "\xfe\xff", 2) == 0)) {
        tet_fail(tool, "the file is UTF-16 text: save it as UTF-8 or ASCII");
    }
    if (size >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0) c.at += 3;
    kind = tet_sniff(&c);
    switch (kind) {
        case TET_KIND_OBJ: tet_read_obj(tool, &c, s); break;
        case TET_KIND_PLY: tet_read_ply(tool, &c, s); break;
        case TET_KIND_STL_TEXT: tet_read_stl_text(tool, &c, s); break;
        case TET_KIND_STL_BINARY: tet_read_stl_binary(tool, &c, s); break;
        case TET_KIND_OFF: tet_read_off(tool, &c, s); break;
        case TET_KIND_UNKNOWN:
            tet_fail(tool, "not a mesh this tool knows (OBJ, PLY, STL, OFF are told by their content)");
    }
    if (s->triangle_count == 0) tet_fail(tool, "the file holds no faces (read as %s)", tet_kind_name(kind));
    return kind;
}

#endif /* TET_READ_H */
