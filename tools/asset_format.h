/* asset_format.h - soft-body assets: the sections [pbd-assets] and [assets] where isphpbd_pbd.h does not hold them.
   SPDX-License-Identifier: MIT */
#ifndef IPBD_ASSET_FORMAT_H
#define IPBD_ASSET_FORMAT_H
#include "isphpbd_pbd.h"
#ifndef IPBD_ASSET_VERSION

#ifdef __cplusplus
extern "C" {
#endif

/* ---- [pbd-assets] ------------------------------------------------------------------------------------------------ */

#define IPBD_ASSET_VERSION 1u

/* What the asset is. Exactly one of SOLID and SHELL is set. */
enum {
    IPBD_ASSET_SOLID = 1,       /* tetrahedra, with the input surface embedded */
    IPBD_ASSET_SHELL = 2,       /* triangles only: cloth, balloons */
    IPBD_ASSET_CLOSED = 4,      /* the input surface has no holes: a shell can be a balloon */
    IPBD_ASSET_KEPT_SURFACE = 8 /* the body's surface has exactly the faces of the input */
};

typedef enum ipbd_asset_section {
    IPBD_ASSET_POSITIONS = 0,   /* float x y z per vertex of the body */
    IPBD_ASSET_MASSES,          /* float per vertex */
    IPBD_ASSET_TETRAHEDRA,      /* 4 indices each, positive volume, in the order of their colours */
    IPBD_ASSET_TETRA_COLOURS,   /* end of every colour in the list above */
    IPBD_ASSET_TRIANGLES,       /* 3 indices each, the body's own surface, outward */
    IPBD_ASSET_EDGES,           /* 2 indices each, in the order of their colours */
    IPBD_ASSET_EDGE_LENGTHS,    /* float per edge */
    IPBD_ASSET_EDGE_COLOURS,    /* ends, as above */
    IPBD_ASSET_BENDS,           /* 4 indices each: the edge, then the far corners of its two triangles; shells only */
    IPBD_ASSET_BEND_ANGLES,     /* float per bend: rest angle between the two normals, rad, positive where convex */
    IPBD_ASSET_BEND_COLOURS,    /* ends, as above */
    IPBD_ASSET_SKIN_TETRAHEDRA, /* 1 index per skin vertex: the tetrahedron it lives in; solids only */
    IPBD_ASSET_SKIN_WEIGHTS,    /* 4 floats per skin vertex: its barycentric coordinates there, sum 1 */
    IPBD_ASSET_SKIN_TRIANGLES,  /* 3 indices of skin vertices each: the mended input surface; solids only */
    IPBD_ASSET_VERTEX_MAP,      /* per vertex of the input file: its skin vertex (solid) or body vertex (shell), or
                                    IPBD_NO_VERTEX */
    IPBD_ASSET_SECTION_COUNT
} ipbd_asset_section;

/* An opened asset. The pointers lead into the caller's bytes (or into scratch) and live as long as those. */
typedef struct ipbd_asset {
    uint32_t flags;         /* IPBD_ASSET_* */
    const float *positions; /* m */
    const float *masses;    /* kg, suggested; they sum up to mass */
    int vertex_count;
    const uint32_t *tetrahedra, *tetrahedron_colours;
    int tetrahedron_count, tetrahedron_colour_count;
    const uint32_t *triangles;
    int triangle_count;
    const uint32_t *edges, *edge_colours;
    const float *edge_lengths; /* m */
    int edge_count, edge_colour_count;
    const uint32_t *bends, *bend_colours;
    const float *bend_angles; /* rad */
    int bend_count, bend_colour_count;
    const uint32_t *skin_tetrahedra;
    const float *skin_weights;
    int skin_vertex_count;
    const uint32_t *skin_triangles;
    int skin_triangle_count;
    const uint32_t *vertex_map;
    int input_vertex_count;
    isphpbd_vec3 lower, upper; /* bounds of body and skin, m */
    float density;             /* kg/m^3 (solid) or kg/m^2 (shell) the masses were made with */
    float mass;                /* kg */
    float volume;              /* m^3 of the input surface; 0 if open */
    float area;                /* m^2 of the input surface */
    float element_size;        /* m: mean edge of the body */
} ipbd_asset;

/* Bytes of scratch that ipbd_asset_open needs for this block: 0 where it can be used in place (the address is a
   multiple of 4 and the machine little-endian, which is the rule). */
ISPHPBD_API size_t ipbd_asset_scratch_bytes(const void *bytes, size_t size);
/* Checks everything (magic, version, size, checksum, every index, every number) and fills *asset. No bulk data is
   copied unless scratch is needed; scratch may be NULL otherwise and has to live as long as the asset is used.
   ISPHPBD_BAD_SNAPSHOT: not an asset, of another version, cut off or corrupted. ISPHPBD_BAD_MESH: sound as a file, but
   an index or a number is out of range. ISPHPBD_CAPACITY: scratch is needed and too small. *asset is zero unless OK.
   O(size); about 1 GB/s. */
ISPHPBD_API isphpbd_result ipbd_asset_open(const void *bytes, size_t size, void *scratch, size_t scratch_size,
                                           ipbd_asset *asset);
/* Puts the asset's mesh, masses and welding (none: it is welded) into a desc; material and pose stay. */
ISPHPBD_API void ipbd_asset_apply(const ipbd_asset *asset, ipbd_body_desc *desc);
/* Where the skin's vertices are now, for a body made from this asset: the embedding was found offline and costs nothing
   at load time. normals (may be NULL) get area-weighted unit normals. Both have stride_bytes between vertices. For a
   shell the skin is the body itself. Vertices of the file: positions[vertex_map[i]]. */
ISPHPBD_API isphpbd_result ipbd_asset_read(const ipbd_world *world, ipbd_body body, const ipbd_asset *asset,
                                           float *positions, float *normals, size_t stride_bytes);
/* The checksum of a block, over all words but its own place; size is a multiple of 4 and at least the header. */
ISPHPBD_API uint64_t ipbd_asset_checksum(const void *bytes, size_t size);

#if defined(ISPHPBD_IMPLEMENTATION) || defined(IPBD_IMPLEMENTATION)

/* ---- [assets] bytes made offline -> checked view --------------------------------------------------------------------
   Nothing is believed before the checksum, and no index after it. Format, version 1:
   Little-endian 32-bit words throughout. 40 words of header, then the sections in the order of ipbd_asset_section,
   each padded with zeros to a multiple of 16 bytes. Offsets follow from the counts: nothing can point astray.
       word 0, 1   magic "IPBD" "TETA"         word 2      version
       word 3      bytes of the header (160)   word 4, 5   bytes of the file, low and high
       word 6, 7   checksum, low and high      word 8      flags (IPBD_ASSET_*)
       word 9..23  counts of the sections      word 24..29 bounds: lower, upper corner (float)
       word 30..34 density, mass, volume, area, element size (float)
       word 35..39 zero
   Checksum: 64 bits over all words but the checksum's own, in order; each word enters by (h ^ word) * odd constant,
   then h ^= h >> 29. Both steps are one-to-one, so a change within one word never goes unnoticed. */

enum {
    IPBDX_ASSET_HEADER_WORDS = 40,
    IPBDX_ASSET_COUNTS = 9,  /* first word of the counts */
    IPBDX_ASSET_BOUNDS = 24, /* first word of the bounds */
    IPBDX_ASSET_NUMBERS = 30,
    IPBDX_ASSET_UNUSED = 35,
    IPBDX_ASSET_MOST = 1 << 27 /* elements of one section: keeps every product within int and size_t */
};

ISPHPBD_INLINE uint32_t ipbdx_asset_word(const void *bytes, size_t word) {
    const unsigned char *b = (const unsigned char *)bytes + 4 * word;
    return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

ISPHPBD_INLINE float ipbdx_asset_float(const void *bytes, size_t word) {
    uint32_t bits = ipbdx_asset_word(bytes, word);
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Words of one element, by section. */
ISPHPBD_INLINE uint32_t ipbdx_asset_width(int section) {
    static const unsigned char width[IPBD_ASSET_SECTION_COUNT] = {3, 1, 4, 1, 3, 2, 1, 1, 4, 1, 1, 1, 4, 3, 1};
    return width[section];
}

ISPHPBD_INLINE uint64_t ipbdx_asset_section_bytes(int section, uint32_t count) {
    return ((uint64_t)count * ipbdx_asset_width(section) * 4u + 15u) & ~(uint64_t)15u;
}

ISPHPBD_INLINE bool ipbdx_asset_in_place(const void *bytes) {
    const uint32_t one = 1;
    unsigned char low;
    memcpy(&low, &one, 1);
    return low == 1 && ((uintptr_t)bytes & 3u) == 0;
}

ISPHPBD_API size_t ipbd_asset_scratch_bytes(const void *bytes, size_t size) {
    return !bytes || ipbdx_asset_in_place(bytes) || size > (size_t)-1 - 3u ? 0 : size + 3u;
}

ISPHPBD_API uint64_t ipbd_asset_checksum(const void *bytes, size_t size) {
    uint64_t hash = UINT64_C(0x49504244);
    size_t i;
    for (i = 0; i < size / 4; ++i) {
        if (i != 6 && i != 7) hash = isphpbdx_hash_word(hash, ipbdx_asset_word(bytes, i));
    }
    return hash;
}

/* Header and size agree with each other and with what was handed in. */
static bool ipbdx_asset_sound(const void *bytes, size_t size) {
    uint64_t total = IPBDX_ASSET_HEADER_WORDS * 4u, sum;
    int i;
    if (size < total || size % 16 != 0) return false;
    if (ipbdx_asset_word(bytes, 0) != 0x44425049u || ipbdx_asset_word(bytes, 1) != 0x41544554u) return false;
    if (ipbdx_asset_word(bytes, 2) != IPBD_ASSET_VERSION || ipbdx_asset_word(bytes, 3) != total) return false;
    for (i = 0; i < IPBD_ASSET_SECTION_COUNT; ++i) {
        uint32_t count = ipbdx_asset_word(bytes, (size_t)(IPBDX_ASSET_COUNTS + i));
        if (count > IPBDX_ASSET_MOST) return false;
        total += ipbdx_asset_section_bytes(i, count);
    }
    if (total != size || (ipbdx_asset_word(bytes, 4) | (uint64_t)ipbdx_asset_word(bytes, 5) << 32) != total)
        return false;
    for (i = IPBDX_ASSET_UNUSED; i < IPBDX_ASSET_HEADER_WORDS; ++i) {
        if (ipbdx_asset_word(bytes, (size_t)i) != 0) return false;
    }
    sum = ipbdx_asset_word(bytes, 6) | (uint64_t)ipbdx_asset_word(bytes, 7) << 32;
    return sum == ipbd_asset_checksum(bytes, size);
}

/* The words as they are, or turned into this machine's order in scratch. */
static const void *ipbdx_asset_words(const void *bytes, size_t size, void *scratch, size_t scratch_size) {
    uint32_t *words;
    size_t i, skip;
    if (ipbdx_asset_in_place(bytes)) return bytes;
    skip = (4u - ((uintptr_t)scratch & 3u)) & 3u;
    if (!scratch || scratch_size < skip || scratch_size - skip < size) return NULL;
    words = (uint32_t *)(void *)((unsigned char *)scratch + skip);
    for (i = 0; i < size / 4; ++i) words[i] = ipbdx_asset_word(bytes, i);
    return words;
}

typedef struct ipbdx_asset_sections {
    const void *at[IPBD_ASSET_SECTION_COUNT];
    int count[IPBD_ASSET_SECTION_COUNT];
} ipbdx_asset_sections;

static void ipbdx_asset_split(const void *words, const void *bytes, ipbdx_asset_sections *sections) {
    size_t offset = IPBDX_ASSET_HEADER_WORDS * 4u;
    int i;
    for (i = 0; i < IPBD_ASSET_SECTION_COUNT; ++i) {
        uint32_t count = ipbdx_asset_word(bytes, (size_t)(IPBDX_ASSET_COUNTS + i));
        sections->at[i] = (const unsigned char *)words + offset;
        sections->count[i] = (int)count;
        offset += (size_t)ipbdx_asset_section_bytes(i, count);
    }
}

static void ipbdx_asset_fill(ipbd_asset *a, const ipbdx_asset_sections *s) {
    a->positions = (const float *)s->at[IPBD_ASSET_POSITIONS];
    a->vertex_count = s->count[IPBD_ASSET_POSITIONS];
    a->masses = (const float *)s->at[IPBD_ASSET_MASSES];
    a->tetrahedra = (const uint32_t *)s->at[IPBD_ASSET_TETRAHEDRA];
    a->tetrahedron_count = s->count[IPBD_ASSET_TETRAHEDRA];
    a->tetrahedron_colours = (const uint32_t *)s->at[IPBD_ASSET_TETRA_COLOURS];
    a->tetrahedron_colour_count = s->count[IPBD_ASSET_TETRA_COLOURS];
    a->triangles = (const uint32_t *)s->at[IPBD_ASSET_TRIANGLES];
    a->triangle_count = s->count[IPBD_ASSET_TRIANGLES];
    a->edges = (const uint32_t *)s->at[IPBD_ASSET_EDGES];
    a->edge_count = s->count[IPBD_ASSET_EDGES];
    a->edge_lengths = (const float *)s->at[IPBD_ASSET_EDGE_LENGTHS];
    a->edge_colours = (const uint32_t *)s->at[IPBD_ASSET_EDGE_COLOURS];
    a->edge_colour_count = s->count[IPBD_ASSET_EDGE_COLOURS];
    a->bends = (const uint32_t *)s->at[IPBD_ASSET_BENDS];
    a->bend_count = s->count[IPBD_ASSET_BENDS];
    a->bend_angles = (const float *)s->at[IPBD_ASSET_BEND_ANGLES];
    a->bend_colours = (const uint32_t *)s->at[IPBD_ASSET_BEND_COLOURS];
    a->bend_colour_count = s->count[IPBD_ASSET_BEND_COLOURS];
    a->skin_tetrahedra = (const uint32_t *)s->at[IPBD_ASSET_SKIN_TETRAHEDRA];
    a->skin_vertex_count = s->count[IPBD_ASSET_SKIN_TETRAHEDRA];
    a->skin_weights = (const float *)s->at[IPBD_ASSET_SKIN_WEIGHTS];
    a->skin_triangles = (const uint32_t *)s->at[IPBD_ASSET_SKIN_TRIANGLES];
    a->skin_triangle_count = s->count[IPBD_ASSET_SKIN_TRIANGLES];
    a->vertex_map = (const uint32_t *)s->at[IPBD_ASSET_VERTEX_MAP];
    a->input_vertex_count = s->count[IPBD_ASSET_VERTEX_MAP];
}

static void ipbdx_asset_numbers(ipbd_asset *a, const void *bytes) {
    a->flags = ipbdx_asset_word(bytes, 8);
    a->lower =
        isphpbd_v3(ipbdx_asset_float(bytes, IPBDX_ASSET_BOUNDS), ipbdx_asset_float(bytes, IPBDX_ASSET_BOUNDS + 1),
                   ipbdx_asset_float(bytes, IPBDX_ASSET_BOUNDS + 2));
    a->upper =
        isphpbd_v3(ipbdx_asset_float(bytes, IPBDX_ASSET_BOUNDS + 3), ipbdx_asset_float(bytes, IPBDX_ASSET_BOUNDS + 4),
                   ipbdx_asset_float(bytes, IPBDX_ASSET_BOUNDS + 5));
    a->density = ipbdx_asset_float(bytes, IPBDX_ASSET_NUMBERS);
    a->mass = ipbdx_asset_float(bytes, IPBDX_ASSET_NUMBERS + 1);
    a->volume = ipbdx_asset_float(bytes, IPBDX_ASSET_NUMBERS + 2);
    a->area = ipbdx_asset_float(bytes, IPBDX_ASSET_NUMBERS + 3);
    a->element_size = ipbdx_asset_float(bytes, IPBDX_ASSET_NUMBERS + 4);
}

/* count elements of width indices: in range, and no index twice within an element. */
static bool ipbdx_asset_indices_valid(const uint32_t *indices, int count, int width, int limit) {
    int i, k, j;
    for (i = 0; i < count; ++i) {
        const uint32_t *element = indices + (size_t)i * (size_t)width;
        for (k = 0; k < width; ++k) {
            if (element[k] >= (uint32_t)limit) return false;
            for (j = 0; j < k; ++j) {
                if (element[j] == element[k]) return false;
            }
        }
    }
    return true;
}

/* Finite, and at least lowest. */
static bool ipbdx_asset_floats_valid(const float *values, size_t count, float lowest) {
    size_t i;
    for (i = 0; i < count; ++i) {
        if (!isphpbdx_finite(values[i]) || values[i] < lowest) return false;
    }
    return true;
}

/* Ends of colours: increasing, the last is the end of the list. */
static bool ipbdx_asset_colours_valid(const uint32_t *ends, int colours, int count) {
    uint32_t last = 0;
    int i;
    for (i = 0; i < colours; ++i) {
        if (ends[i] <= last) return false;
        last = ends[i];
    }
    return last == (uint32_t)count;
}

static bool ipbdx_asset_lists_match(const ipbd_asset *a, const int *count) {
    bool solid = (a->flags & IPBD_ASSET_SOLID) != 0, shell = (a->flags & IPBD_ASSET_SHELL) != 0;
    if (solid == shell || (a->flags & ~(uint32_t)15u) || a->vertex_count == 0 || a->triangle_count == 0) return false;
    if (solid != (a->tetrahedron_count > 0) || (shell && a->skin_vertex_count > 0)) return false;
    return count[IPBD_ASSET_MASSES] == a->vertex_count && count[IPBD_ASSET_EDGE_LENGTHS] == a->edge_count &&
           count[IPBD_ASSET_BEND_ANGLES] == a->bend_count && count[IPBD_ASSET_SKIN_WEIGHTS] == a->skin_vertex_count;
}

static bool ipbdx_asset_skin_valid(const ipbd_asset *a) {
    int i;
    if (!ipbdx_asset_indices_valid(a->skin_tetrahedra, a->skin_vertex_count, 1, a->tetrahedron_count)) return false;
    if (!ipbdx_asset_indices_valid(a->skin_triangles, a->skin_triangle_count, 3, a->skin_vertex_count)) return false;
    for (i = 0; i < a->skin_vertex_count; ++i) {
        const float *w = a->skin_weights + 4 * (size_t)i;
        float sum = w[0] + w[1] + w[2] + w[3];
        if (!ipbdx_asset_floats_valid(w, 4, -1e3f) || !(isphpbdx_abs(sum - 1.0f) < 1e-3f)) return false;
    }
    return true;
}

static bool ipbdx_asset_map_valid(const ipbd_asset *a) {
    uint32_t limit = (uint32_t)(a->flags & IPBD_ASSET_SOLID ? a->skin_vertex_count : a->vertex_count);
    int i;
    for (i = 0; i < a->input_vertex_count; ++i) {
        if (a->vertex_map[i] >= limit && a->vertex_map[i] != IPBD_NO_VERTEX) return false;
    }
    return true;
}

static bool ipbdx_asset_valid(const ipbd_asset *a) {
    const float low = -3e38f;
    return ipbdx_asset_floats_valid(&a->density, 1, 0.0f) && ipbdx_asset_floats_valid(&a->mass, 1, 0.0f) &&
           ipbdx_asset_floats_valid(&a->volume, 1, 0.0f) && ipbdx_asset_floats_valid(&a->area, 1, 0.0f) &&
           ipbdx_asset_floats_valid(&a->element_size, 1, 0.0f) && isphpbdx_finite3(a->lower) &&
           isphpbdx_finite3(a->upper) && ipbdx_asset_floats_valid(a->positions, 3 * (size_t)a->vertex_count, low) &&
           ipbdx_asset_floats_valid(a->masses, (size_t)a->vertex_count, 1e-38f) &&
           ipbdx_asset_floats_valid(a->edge_lengths, (size_t)a->edge_count, 1e-38f) &&
           ipbdx_asset_floats_valid(a->bend_angles, (size_t)a->bend_count, -3.15f) &&
           ipbdx_asset_indices_valid(a->tetrahedra, a->tetrahedron_count, 4, a->vertex_count) &&
           ipbdx_asset_indices_valid(a->triangles, a->triangle_count, 3, a->vertex_count) &&
           ipbdx_asset_indices_valid(a->edges, a->edge_count, 2, a->vertex_count) &&
           ipbdx_asset_indices_valid(a->bends, a->bend_count, 4, a->vertex_count) &&
           ipbdx_asset_colours_valid(a->tetrahedron_colours, a->tetrahedron_colour_count, a->tetrahedron_count) &&
           ipbdx_asset_colours_valid(a->edge_colours, a->edge_colour_count, a->edge_count) &&
           ipbdx_asset_colours_valid(a->bend_colours, a->bend_colour_count, a->bend_count) &&
           ipbdx_asset_skin_valid(a) && ipbdx_asset_map_valid(a);
}

ISPHPBD_API isphpbd_result ipbd_asset_open(const void *bytes, size_t size, void *scratch, size_t scratch_size,
                                           ipbd_asset *asset) {
    ipbdx_asset_sections sections;
    const void *words;
    ipbd_asset opened;
    if (!asset) return ISPHPBD_BAD_ARGUMENT;
    memset(asset, 0, sizeof *asset);
    if (!bytes) return ISPHPBD_BAD_ARGUMENT;
    if (!ipbdx_asset_sound(bytes, size)) return ISPHPBD_BAD_SNAPSHOT;
    words = ipbdx_asset_words(bytes, size, scratch, scratch_size);
    if (!words) return ISPHPBD_CAPACITY;
    ipbdx_asset_split(words, bytes, &sections);
    memset(&opened, 0, sizeof opened);
    ipbdx_asset_fill(&opened, &sections);
    ipbdx_asset_numbers(&opened, bytes);
    if (!ipbdx_asset_lists_match(&opened, sections.count) || !ipbdx_asset_valid(&opened)) return ISPHPBD_BAD_MESH;
    *asset = opened;
    return ISPHPBD_OK;
}

ISPHPBD_API void ipbd_asset_apply(const ipbd_asset *asset, ipbd_body_desc *desc) {
    desc->mesh.positions = asset->positions;
    desc->mesh.stride_bytes = 3 * sizeof(float);
    desc->mesh.vertex_count = asset->vertex_count;
    desc->mesh.triangles = asset->triangles;
    desc->mesh.triangle_count = asset->triangle_count;
    desc->mesh.tetrahedra = asset->tetrahedron_count ? asset->tetrahedra : NULL;
    desc->mesh.tetrahedron_count = asset->tetrahedron_count;
    desc->masses = asset->masses;
    desc->weld_distance = 0.0f;
}

/* ---- [asset-skin] the embedded surface of a body made from an asset ---------------------------------------------- */

ISPHPBD_INLINE float *ipbdx_asset_at(float *base, size_t stride, uint32_t index) {
    return (float *)(void *)((unsigned char *)base + stride * index);
}

ISPHPBD_INLINE isphpbd_vec3 ipbdx_asset_body_vertex(const ipbd_view *view, uint32_t input_vertex) {
    const float *p = (const float *)(const void *)((const unsigned char *)view->positions +
                                                   view->stride_bytes * view->vertex_map[input_vertex]);
    return isphpbd_v3(p[0], p[1], p[2]);
}

static isphpbd_vec3 ipbdx_asset_skin_point(const ipbd_view *view, const ipbd_asset *asset, int vertex) {
    const uint32_t *corners = asset->tetrahedra + 4 * (size_t)asset->skin_tetrahedra[vertex];
    const float *weights = asset->skin_weights + 4 * (size_t)vertex;
    isphpbd_vec3 sum = isphpbd_v3(0.0f, 0.0f, 0.0f);
    int k;
    for (k = 0; k < 4; ++k) sum = isphpbdx_madd(sum, ipbdx_asset_body_vertex(view, corners[k]), weights[k]);
    return sum;
}

/* Every input vertex of the body is there and none was left out: else the body is not made from this asset. */
static bool ipbdx_asset_fits(const ipbd_view *view, const ipbd_asset *asset) {
    int i;
    if (!view->positions || view->input_vertex_count != asset->vertex_count) return false;
    for (i = 0; i < asset->vertex_count; ++i) {
        if (view->vertex_map[i] >= (uint32_t)view->vertex_count) return false;
    }
    return true;
}

static void ipbdx_asset_normals(const float *positions, float *normals, size_t stride, const uint32_t *triangles,
                                int count, int vertices) {
    int i, k;
    for (i = 0; i < vertices; ++i) memset(ipbdx_asset_at(normals, stride, (uint32_t)i), 0, 3 * sizeof(float));
    for (i = 0; i < count; ++i) {
        isphpbd_vec3 p[3], n;
        for (k = 0; k < 3; ++k) {
            memcpy(&p[k], (const unsigned char *)positions + stride * triangles[3 * (size_t)i + (size_t)k],
                   sizeof p[k]);
        }
        n = isphpbdx_cross(isphpbdx_sub(p[1], p[0]), isphpbdx_sub(p[2], p[0]));
        for (k = 0; k < 3; ++k) {
            float *out = ipbdx_asset_at(normals, stride, triangles[3 * (size_t)i + (size_t)k]);
            out[0] += n.x, out[1] += n.y, out[2] += n.z;
        }
    }
    for (i = 0; i < vertices; ++i) {
        float *out = ipbdx_asset_at(normals, stride, (uint32_t)i);
        float length = sqrtf(out[0] * out[0] + out[1] * out[1] + out[2] * out[2]),
              scale = length > 0.0f ? 1.0f / length : 0.0f;
        out[0] *= scale, out[1] *= scale, out[2] *= scale;
    }
}

ISPHPBD_API isphpbd_result ipbd_asset_read(const ipbd_world *world, ipbd_body body, const ipbd_asset *asset,
                                           float *positions, float *normals, size_t stride_bytes) {
    bool solid = asset && (asset->flags & IPBD_ASSET_SOLID);
    int count, i;
    ipbd_view view;
    if (!world || !asset || !positions || stride_bytes < 3 * sizeof(float) || stride_bytes % sizeof(float)) {
        return ISPHPBD_BAD_ARGUMENT;
    }
    view = ipbd_body_view(world, body);
    if (!view.positions) return ISPHPBD_BAD_HANDLE;
    if (!ipbdx_asset_fits(&view, asset)) return ISPHPBD_BAD_MESH;
    count = solid ? asset->skin_vertex_count : asset->vertex_count;
    for (i = 0; i < count; ++i) {
        isphpbd_vec3 p = solid ? ipbdx_asset_skin_point(&view, asset, i) : ipbdx_asset_body_vertex(&view, (uint32_t)i);
        memcpy(ipbdx_asset_at(positions, stride_bytes, (uint32_t)i), &p, sizeof p);
    }
    if (normals) {
        ipbdx_asset_normals(positions, normals, stride_bytes, solid ? asset->skin_triangles : asset->triangles,
                            solid ? asset->skin_triangle_count : asset->triangle_count, count);
    }
    return ISPHPBD_OK;
}

#endif

#ifdef __cplusplus
}
#endif
#endif /* IPBD_ASSET_VERSION */
#endif /* IPBD_ASSET_FORMAT_H */
