/* fuzz_world.c - snapshots of a world with a bit of everything, damaged and then sealed again with the right checksums
   of the world, of its fluid and of its soft bodies, so that the damage reaches what lies behind them. What is refused
   must change nothing; what is taken must be a world that can be looked at and steps, and what that saves must be taken
   back, with the same hash.

       clang -g -O1 -fsanitize=fuzzer,address,undefined -I. -Itests/support tests/fuzz_world.c -lm
       cc -g -O1 -DSTANDALONE -fsanitize=address,undefined -I. -Itests/support tests/fuzz_world.c -lm

   The input: a byte whose bits say which seals are left broken (1 world, 2 fluid, 4 soft bodies; 255: the rest is the
   image itself), then a list of changes as fuzz_image.h reads it.
   SPDX-License-Identifier: MIT */
#define ISPHPBD_STATIC
#include "isphpbd.h"

#include "fuzz_image.h"
#include "world_mixed.h"

enum { WORLD_LEFT = 1, FLUID_LEFT = 2, SOFTS_LEFT = 4 };

/* A bit of everything, small in bytes. */
static mixed fuzz_world(void) {
    isphpbd_world_desc desc = mixed_desc();
    mixed m;
    desc.capacity.fluid_particles = 600, desc.capacity.mesh_triangles = 16;
    desc.capacity.colliders = desc.capacity.bodies = 4;
    desc.spacing = 0.1f;
    desc.budget.substeps = desc.budget.soft_substeps = 2, desc.budget.pressure_iterations = 8;
    m = mixed_make(desc, MIXED_ALL);
    (void)mixed_run(&m, 8);
    return m;
}

/* ---- seals ------------------------------------------------------------------------------------------------------- */

/* Reads the world's part as the loader does and, unless it is to stay broken, writes the sum that the loader will
   expect. Answers where the part ends, or 0 when it is not to be read. */
static size_t seal_world_part(const isphpbd_world *world, unsigned char *bytes, size_t size, bool broken,
                              isphpbdx_header *h) {
    isphx_stream in = {NULL, NULL, 0, UINT64_C(0x69737062)}, out = {NULL, NULL, 0, 0};
    isphpbdx_settings settings;
    uint32_t word = 0;
    memset(&settings, 0, sizeof settings);
    in.in = bytes, out.out = bytes;
    isphpbdx_stream_header(&in, h);
    out.used = in.used, in.used += 8; /* the sum stands behind the header */
    if (h->mortals < 0 || h->homes < 0 || h->mortals > world->desc.capacity.fluid_particles ||
        h->homes > world->desc.capacity.fluid_particles)
        return 0;
    isphpbdx_stream_settings(&in, &settings);
    for (int kind = 0; kind < ISPHPBDX_KINDS; kind++) {
        for (int i = 0; i < world->pools[kind].capacity; i++) {
            isphpbdx_any read;
            memset(&read, 0, sizeof read);
            memcpy(&read, isphpbdx_at(world, (isphpbdx_kind)kind, i), world->pools[kind].size);
            isphpbdx_stream_record(&in, (isphpbdx_kind)kind, &read);
        }
    }
    for (int slot = 0; slot < world->soft->counts.bodies; slot++) {
        const ipbdx_body *body = world->soft->bodies + slot;
        for (int i = 0; body->used && i < 6 + 4 * body->vertex_count; i++) isphx_stream_u32(&in, &word);
    }
    for (int i = 0; i < 2 * h->mortals; i++) isphx_stream_u32(&in, &word);
    for (int i = 0; i < h->homes; i++) isphpbdx_stream_home(&in, &word);
    if (in.used > size) return 0;
    if (!broken) isphx_stream_u64(&out, &in.checksum);
    return in.used;
}
static void seal_world(const isphpbd_world *world, unsigned char *bytes, size_t size, uint8_t left) {
    isphpbdx_header h;
    size_t at = seal_world_part(world, bytes, size, (left & WORLD_LEFT) != 0, &h);
    if (at == 0 || h.fluid_bytes > size - at || h.soft_bytes > size - at - h.fluid_bytes) return;
    if (!(left & FLUID_LEFT)) seal_fluid(world->fluid, bytes + at, (size_t)h.fluid_bytes);
    if (!(left & SOFTS_LEFT)) seal_softs(world->soft, bytes + at + h.fluid_bytes, (size_t)h.soft_bytes);
}

/* ---- one input --------------------------------------------------------------------------------------------------- */

static void check_world(const mixed *m) {
    const isphpbd_soft softs[3] = {m->cloth, m->jelly, m->balloon};
    const isphpbd_points points = isphpbd_fluid_points(m->world);
    const isphpbd_stats s = isphpbd_world_stats(m->world);
    DEMAND(world_broken(m->world, softs, 3) == 0);
    DEMAND(points.count == s.fluid_particles);
    for (int i = 0; i < points.count; i++) DEMAND(points.fluid[i] < 4);
    DEMAND(isfinite(s.max_speed) && isfinite(s.time) && isfinite(s.volume_error) && isfinite(s.coupling_mismatch));
}
/* What it saves it must take back. */
static void save_and_load(mixed *m) {
    world_image image = world_take_image(m->world);
    uint64_t hash;
    DEMAND(isphpbd_world_load(m->world, image.bytes, image.size) == ISPHPBD_OK);
    hash = isphpbd_world_hash(m->world);
    free(image.bytes);
    image = world_take_image(m->world); /* the first load may have given up an unfinished step */
    DEMAND(isphpbd_world_load(m->world, image.bytes, image.size) == ISPHPBD_OK);
    DEMAND(isphpbd_world_hash(m->world) == hash);
    free(image.bytes);
}
static void live_on(mixed *m) {
    isphpbd_budget budget = isphpbd_world_desc_default().budget;
    check_world(m);
    save_and_load(m);
    budget.substeps = budget.soft_substeps = 2, budget.pressure_iterations = 8; /* a forged one takes its time */
    DEMAND(isphpbd_world_set_budget(m->world, &budget) == ISPHPBD_OK);
    (void)mixed_run(m, 2);
    check_world(m);
    save_and_load(m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static mixed m;
    static world_image own;
    static uint64_t own_hash;
    fuzz_bytes in;
    image image;
    uint64_t hash;
    uint8_t left;
    if (!m.world) {
        m = fuzz_world(), own = world_take_image(m.world);
        DEMAND(isphpbd_world_load(m.world, own.bytes, own.size) == ISPHPBD_OK);
        own_hash = isphpbd_world_hash(m.world);
    }
    in.at = data, in.end = data + size;
    left = take_byte(&in);
    image = make_image(left == 255 ? (size_t)(in.end - in.at) : own.size);
    if (left == 255) {
        if (image.size) memcpy(image.bytes, in.at, image.size);
    } else {
        memcpy(image.bytes, own.bytes, own.size);
        damage(&image, &in);
        seal_world(m.world, image.bytes, image.size, left);
    }
    hash = isphpbd_world_hash(m.world);
    if (isphpbd_world_load(m.world, image.bytes, image.size) == ISPHPBD_OK) {
        live_on(&m);
        DEMAND(isphpbd_world_load(m.world, own.bytes, own.size) == ISPHPBD_OK);
        DEMAND(isphpbd_world_hash(m.world) == own_hash);
    } else {
        DEMAND(hash == isphpbd_world_hash(m.world));
    }
    free(image.bytes);
    return 0;
}

#ifdef STANDALONE
int main(int argc, char **argv) { return fuzz_main(argc, argv, fuzz_change_seed); }
#endif
