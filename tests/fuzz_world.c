/* fuzz_world.c - any bytes into the snapshot reader of isphpbd.h. What is refused must change nothing; what is taken
   must be a world that steps. The last byte says whether the checksum of the world's own part is mended first, so that
   the checks behind it meet changed numbers, too.

       clang -g -O1 -fsanitize=fuzzer,address,undefined -I. -Itests/support tests/fuzz_world.c -lm
       cc -g -O1 -DSTANDALONE -fsanitize=address,undefined -I. -Itests/support tests/fuzz_world.c -lm

   SPDX-License-Identifier: MIT */
#define ISPHPBD_STATIC
#include "isphpbd.h"

#include "fuzz.h"
#include "world_mixed.h"

/* A bit of everything, small in bytes. */
static mixed fuzz_world(void) {
    isphpbd_world_desc desc = mixed_desc();
    mixed m;
    desc.capacity.fluid_particles = 64, desc.capacity.mesh_triangles = 16;
    desc.capacity.colliders = desc.capacity.bodies = 4;
    m = mixed_make(desc, MIXED_BODY | MIXED_PADDLE | MIXED_EMITTER | MIXED_BALLOON);
    (void)mixed_run(&m, 12);
    return m;
}

/* Reads the world's part as the loader does, and writes the sum that it will then expect. */
static void fuzz_mend(const isphpbd_world *world, uint8_t *data, size_t size) {
    isphx_stream in = {NULL, NULL, 0, UINT64_C(0x69737062)}, out = {NULL, NULL, 40, 0};
    isphpbdx_settings settings;
    isphpbdx_header h;
    if (size < isphpbd_world_save(world, NULL, 0)) return;
    memset(&settings, 0, sizeof settings);
    in.in = data, out.out = data;
    isphpbdx_stream_header(&in, &h);
    in.used = 48;
    isphpbdx_stream_settings(&in, &settings);
    if (h.mortals < 0 || h.mortals > 64 || !isphpbdx_records_sane(world, &in)) return;
    if (isphpbdx_mortals_sane(world, &in, h.mortals)) isphx_stream_u64(&out, &in.checksum);
}

static void fuzz_demand(bool good) {
    if (!good) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static mixed m;
    static world_image own;
    uint64_t hash;
    uint8_t *copy;
    if (!m.world) m = fuzz_world(), own = world_take_image(m.world);
    if (size == 0) return 0;
    copy = (uint8_t *)malloc(size);
    fuzz_demand(copy != NULL);
    memcpy(copy, data, size);
    if (data[size - 1] & 1) fuzz_mend(m.world, copy, size - 1);
    hash = isphpbd_world_hash(m.world);
    if (isphpbd_world_load(m.world, copy, size - 1) == ISPHPBD_OK) {
        const isphpbd_soft softs[1] = {m.balloon};
        (void)mixed_run(&m, 2);
        fuzz_demand(world_broken(m.world, softs, 1) == 0);
        fuzz_demand(isphpbd_world_load(m.world, own.bytes, own.size) == ISPHPBD_OK);
    } else {
        fuzz_demand(hash == isphpbd_world_hash(m.world));
    }
    free(copy);
    return 0;
}

#ifdef STANDALONE
/* The image of a world, without and with mending. */
static size_t fuzz_seed(int index, uint8_t *data, size_t room) {
    mixed m;
    size_t size;
    if (index > 3) return 0;
    m = fuzz_world();
    if (index > 1) (void)mixed_run(&m, 10);
    size = isphpbd_world_save(m.world, NULL, 0);
    fuzz_demand(size < room);
    (void)isphpbd_world_save(m.world, data, room);
    data[size] = (uint8_t)(index & 1);
    mixed_end(&m);
    return size + 1;
}

int main(int argc, char **argv) { return fuzz_main(argc, argv, fuzz_seed); }
#endif
