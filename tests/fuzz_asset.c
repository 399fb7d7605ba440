/* fuzz_asset.c - any bytes into the asset loader of isphpbd_pbd.h, once as they are and once with size and checksum put
   right, so that the checks behind the checksum are reached; at aligned and at odd addresses. What is accepted is read
   from end to end, and must make a soft body or be refused by ipbd_mesh_check.

       clang -g -O1 -fsanitize=fuzzer,address,undefined -I. -Itests/support tests/fuzz_asset.c -lm
       cc -g -O1 -DSTANDALONE -fsanitize=address,undefined -I. -Itests/support tests/fuzz_asset.c -lm

   SPDX-License-Identifier: MIT */
#if !defined(_WIN32)
#define _XOPEN_SOURCE 700
#endif
#define ISPHPBD_STATIC
#include "tools/tet_build.h"
#include "fuzz.h"

/* Touches everything the view points at; a sanitizer tells if it is not ours. */
static uint64_t fuzz_read_all(const ipbd_asset *a) {
    uint64_t hash = a->flags;
    hash = isphpbdx_hash_words(hash, a->positions, 3 * (size_t)a->vertex_count);
    hash = isphpbdx_hash_words(hash, a->masses, (size_t)a->vertex_count);
    hash = isphpbdx_hash_words(hash, a->tetrahedra, 4 * (size_t)a->tetrahedron_count);
    hash = isphpbdx_hash_words(hash, a->tetrahedron_colours, (size_t)a->tetrahedron_colour_count);
    hash = isphpbdx_hash_words(hash, a->triangles, 3 * (size_t)a->triangle_count);
    hash = isphpbdx_hash_words(hash, a->edges, 2 * (size_t)a->edge_count);
    hash = isphpbdx_hash_words(hash, a->edge_lengths, (size_t)a->edge_count);
    hash = isphpbdx_hash_words(hash, a->edge_colours, (size_t)a->edge_colour_count);
    hash = isphpbdx_hash_words(hash, a->bends, 4 * (size_t)a->bend_count);
    hash = isphpbdx_hash_words(hash, a->bend_angles, (size_t)a->bend_count);
    hash = isphpbdx_hash_words(hash, a->bend_colours, (size_t)a->bend_colour_count);
    hash = isphpbdx_hash_words(hash, a->skin_tetrahedra, (size_t)a->skin_vertex_count);
    hash = isphpbdx_hash_words(hash, a->skin_weights, 4 * (size_t)a->skin_vertex_count);
    hash = isphpbdx_hash_words(hash, a->skin_triangles, 3 * (size_t)a->skin_triangle_count);
    return isphpbdx_hash_words(hash, a->vertex_map, (size_t)a->input_vertex_count);
}

/* An accepted asset's indices must be safe to follow. */
static void fuzz_follow(const ipbd_asset *a) {
    ipbd_body_desc desc = ipbd_body_desc_default();
    ipbd_mesh_report report;
    int i, k;
    float sum = 0.0f;
    for (i = 0; i < a->skin_vertex_count; ++i) {
        for (k = 0; k < 4; ++k) sum += a->positions[3 * a->tetrahedra[4 * a->skin_tetrahedra[i] + (uint32_t)k]];
    }
    ipbd_asset_apply(a, &desc);
    if (ipbd_mesh_check(&desc, NULL, &report) == ISPHPBD_OUT_OF_MEMORY) abort();
    if (sum != sum) return;
}

static void fuzz_open(const uint8_t *data, size_t size) {
    uint8_t *odd = (uint8_t *)malloc(size + 1), *scratch;
    size_t room = ipbd_asset_scratch_bytes(data, size);
    ipbd_asset asset, copied;
    isphpbd_result result, result_odd;
    scratch = (uint8_t *)malloc(size + 8);
    if (!odd || !scratch) abort();
    result = ipbd_asset_open(data, size, scratch, room, &asset);
    if (result == ISPHPBD_OK) fuzz_read_all(&asset), fuzz_follow(&asset);
    memcpy(odd + 1, data, size);
    result_odd = ipbd_asset_open(odd + 1, size, scratch, ipbd_asset_scratch_bytes(odd + 1, size), &copied);
    if (result != result_odd) abort();
    if (result == ISPHPBD_OK && fuzz_read_all(&asset) != fuzz_read_all(&copied)) abort();
    free(odd);
    free(scratch);
}

static void fuzz_put(uint8_t *data, size_t at, uint64_t value) {
    int i;
    for (i = 0; i < 8; ++i) data[at + (size_t)i] = (uint8_t)(value >> (8 * i));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    size_t padded = size < 160 ? 160 : (size + 15) & ~(size_t)15;
    uint8_t *copy = (uint8_t *)calloc(1, padded);
    if (!copy) abort();
    if (size) memcpy(copy, data, size);
    fuzz_open(copy, size);
    memcpy(copy, "IPBDTETA", 8);
    fuzz_put(copy, 8, IPBD_ASSET_VERSION | UINT64_C(160) << 32);
    fuzz_put(copy, 16, padded);
    fuzz_put(copy, 24, ipbd_asset_checksum(copy, padded));
    fuzz_open(copy, padded);
    free(copy);
    return 0;
}

#ifdef STANDALONE
typedef struct fuzz_make {
    uint8_t *data;
    size_t size, room;
    bool shell;
} fuzz_make;

/* A pyramid, as a solid of a few tetrahedra or as a shell. */
static void fuzz_make_asset(tet_tool *tool, void *ctx) {
    static const char text[] = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";
    fuzz_make *make = (fuzz_make *)ctx;
    tet_repair_options repair;
    tet_build_options options;
    tet_surface s;
    tet_mesh mesh;
    tet_asset asset;
    tet_bytes bytes;
    tet_health health;
    memset(&repair, 0, sizeof repair);
    memset(&options, 0, sizeof options);
    repair.weld = -1.0, repair.shell = make->shell;
    tet_read(tool, text, sizeof text - 1, &s);
    health = tet_repair(tool, &s, &repair);
    options.method = TET_METHOD_BUILTIN, options.size = 0.25, options.max_cells = 1000;
    if (!make->shell) tet_build(tool, &s, health.volume, &options, &mesh);
    asset = make->shell ? tet_make_shell(tool, &s, &health, 0.2) : tet_make_solid(tool, &mesh, &s, &health, 1000.0);
    bytes = tet_asset_bytes(tool, &asset);
    make->size = bytes.size <= make->room ? bytes.size : 0;
    memcpy(make->data, bytes.data, make->size);
}

static size_t fuzz_seed(int index, uint8_t *data, size_t room) {
    fuzz_make make;
    tet_tool tool;
    if (index > 1) return 0;
    make.data = data, make.size = 0, make.room = room, make.shell = index == 1;
    tet_tool_begin(&tool);
    tool.quiet = true;
    if (!tet_guard(&tool, fuzz_make_asset, &make)) fprintf(stderr, "no seed: %s\n", tool.message);
    tet_tool_end(&tool);
    return make.size;
}

int main(int argc, char **argv) { return fuzz_main(argc, argv, fuzz_seed); }
#endif
