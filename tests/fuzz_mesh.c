/* fuzz_mesh.c - any bytes into the mesh readers, the repair and the built-in tetrahedralizer of isphpbd-tet.

       clang -g -O1 -fsanitize=fuzzer,address,undefined -I. -Itests/support tests/fuzz_mesh.c -lm
       cc -g -O1 -DSTANDALONE -fsanitize=address,undefined -I. -Itests/support tests/fuzz_mesh.c -lm

   SPDX-License-Identifier: MIT */
#if !defined(_WIN32)
#define _XOPEN_SOURCE 700
#endif
#define ISPHPBD_STATIC
#include "tools/tet_build.h"
#include "tools/tet_export.h"
#include "fuzz.h"

typedef struct fuzz_input {
    const uint8_t *data;
    size_t size;
} fuzz_input;

/* The whole way to an asset, on a lattice small enough for thousands of inputs per second. */
static void fuzz_solid(tet_tool *tool, tet_surface *s, const tet_health *health) {
    tet_box box = tet_box_of(s->points, s->point_count);
    tet_build_options options;
    tet_mesh mesh;
    tet_asset asset;
    tet_bytes bytes;
    tet_refuse(tool, s, health);
    memset(&options, 0, sizeof options);
    options.method = TET_METHOD_BUILTIN, options.max_cells = 20000, options.min_angle = 0.0;
    options.size = tet_distance(box.lo, box.hi) / 6.0;
    tet_build(tool, s, health->volume, &options, &mesh);
    asset = tet_make_solid(tool, &mesh, s, health, 1000.0);
    bytes = tet_asset_bytes(tool, &asset);
    if (bytes.size < 160) abort();
}

static void fuzz_work(tet_tool *tool, void *ctx) {
    const fuzz_input *in = (const fuzz_input *)ctx;
    char *copy = (char *)tet_alloc(tool, in->size + 1, 1);
    tet_repair_options repair;
    tet_surface s;
    tet_health health;
    if (in->size) memcpy(copy, in->data, in->size);
    tet_read(tool, copy, in->size, &s);
    if (s.triangle_count > 2000) return;
    repair.weld = -1.0;
    repair.fill_holes = (in->size & 1) != 0;
    repair.shell = (in->size & 6) == 2;
    health = tet_repair(tool, &s, &repair);
    if (repair.shell) {
        tet_asset asset;
        tet_refuse_non_manifold(tool, &health);
        asset = tet_make_shell(tool, &s, &health, 0.2);
        tet_asset_bytes(tool, &asset);
    } else {
        fuzz_solid(tool, &s, &health);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_input in;
    tet_tool tool;
    in.data = data, in.size = size;
    tet_tool_begin(&tool);
    tool.quiet = true;
    tool.limit = (size_t)64 << 20;
    tet_guard(&tool, fuzz_work, &in);
    tet_tool_end(&tool);
    return 0;
}

#ifdef STANDALONE
static const float fuzz_corners[4][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
static const unsigned char fuzz_faces[4][3] = {{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 3}};

static size_t fuzz_seed_stl(uint8_t *data) {
    size_t at = 84;
    int f, k;
    memset(data, 0, 84 + 4 * 50);
    data[80] = 4;
    for (f = 0; f < 4; ++f, at += 50) {
        for (k = 0; k < 3; ++k) memcpy(data + at + 12 + 12 * k, fuzz_corners[fuzz_faces[f][k]], 12);
    }
    return at;
}

static size_t fuzz_seed_ply(uint8_t *data) {
    static const char header[] =
        "ply\nformat binary_little_endian 1.0\nelement vertex 4\nproperty float x\nproperty float y\n"
        "property float z\nelement face 4\nproperty list uchar int vertex_indices\nend_header\n";
    size_t at = sizeof header - 1;
    int f, k;
    memcpy(data, header, at);
    memcpy(data + at, fuzz_corners, 48);
    at += 48;
    for (f = 0; f < 4; ++f) {
        data[at++] = 3;
        for (k = 0; k < 3; ++k, at += 4) memset(data + at, 0, 4), data[at] = fuzz_faces[f][k];
    }
    return at;
}

static size_t fuzz_seed(int index, uint8_t *data, size_t room) {
    static const char *const texts[] = {
        "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n",
        "# cube\nv 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\nv 0 0 1\nv 1 0 1\nv 0 1 1\nv 1 1 1\nf 1/1 3/2 4/3 2/4\n"
        "f 5//1 6//1 8//1 7//1\nf 1 2 6 5\nf 3 7 8 4\nf -8 -4 -2 -6\nf 2 4 8 6\n",
        "OFF\n4 4 6\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n3 0 2 1\n3 0 1 3 255 0 0\n3 0 3 2\n3 1 2 3\n",
        "solid t\nfacet normal 0 0 -1\nouter loop\nvertex 0 0 0\nvertex 0 1 0\nvertex 1 0 0\nendloop\nendfacet\n"
        "facet normal 0 -1 0\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 0 1\nendloop\nendfacet\n"
        "facet normal -1 0 0\nouter loop\nvertex 0 0 0\nvertex 0 0 1\nvertex 0 1 0\nendloop\nendfacet\n"
        "facet normal 1 1 1\nouter loop\nvertex 1 0 0\nvertex 0 1 0\nvertex 0 0 1\nendloop\nendfacet\nendsolid t\n",
        "ply\nformat ascii 1.0\ncomment x\nelement vertex 4\nproperty double x\nproperty double y\nproperty double z\n"
        "property uchar red\nelement face 4\nproperty list uchar uint vertex_index\nend_header\n0 0 0 1\n1 0 0 2\n0 1 "
        "0 3\n"
        "0 0 1 4\n3 0 2 1\n3 0 1 3\n3 0 3 2\n3 1 2 3\n"};
    size_t length;
    if (index == 5) return fuzz_seed_stl(data);
    if (index == 6) return fuzz_seed_ply(data);
    if (index > 6) return 0;
    length = strlen(texts[index]);
    if (length > room) return 0;
    memcpy(data, texts[index], length);
    return length;
}

int main(int argc, char **argv) { return fuzz_main(argc, argv, fuzz_seed); }
#endif
