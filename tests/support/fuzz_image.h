/* fuzz_image.h - for fuzzers of snapshots: an image in memory, changes to it that the bytes of an input tell, and the
   checksums of whatever stands there then, so that the damage reaches what lies behind them. Include after the
   headers, which have to be implemented in the same file.
   SPDX-License-Identifier: MIT */
#ifndef FUZZ_IMAGE_H
#define FUZZ_IMAGE_H

#include "fuzz_api.h"

typedef struct image {
    unsigned char *bytes; /* followed by zeros: a forged count may lead beyond the end */
    size_t size;
} image;

FIXTURE_FN image make_image(size_t size) {
    image i;
    i.size = size;
    i.bytes = (unsigned char *)calloc(1, size + 65536);
    if (!i.bytes) abort();
    return i;
}

/* 2 bytes where, 1 byte how, 4 bytes what, 1 byte which telling number; until the input ends. */
FIXTURE_FN void damage(image *image, fuzz_bytes *in) {
    while (in->at < in->end) {
        size_t at = (size_t)take_byte(in) << 8 | take_byte(in);
        uint8_t how = take_byte(in);
        uint32_t word = take_word(in);
        float telling = take_hostile(in);
        at = (how & 1 ? at * 4 : at) % (image->size - 3);
        if (how & 2) memcpy(image->bytes + at, &telling, 4);
        else if (how & 4) memcpy(image->bytes + at, &word, 4);
        else if (how & 8) image->bytes[at] = (unsigned char)word;
        else if (how & 16) image->bytes[at] = (unsigned char)(image->bytes[at] + (how & 32 ? 1 : 255));
        else image->bytes[at] = (unsigned char)(image->bytes[at] ^ (1u << (word & 7u)));
        if (how == 255 && image->size > 64) image->size -= word % 16u;
    }
}

/* Seeds: a byte and one change, or a few: of many, one is always refused. */
FIXTURE_FN size_t fuzz_change_seed(int index, uint8_t *data, size_t room) {
    const size_t size = 1 + 8 * (1 + (size_t)index % 3);
    if (fuzz_random_seed(index, data, room) == 0) return 0;
    data[0] = (uint8_t)(index & 1);
    return size;
}

/* ---- [seals] Each writes the checksum of whatever stands there, as the loader will compute it. ------------------- */

FIXTURE_FN void seal_fluid(const isph_fluid *f, unsigned char *bytes, size_t size) {
    isphx_stream s = {NULL, NULL, 0, UINT64_C(0x6973706831)};
    isphx_header h;
    uint32_t word = 0;
    uint8_t byte = 0;
    uint64_t sum;
    if (size < 64) return;
    s.in = bytes;
    isphx_stream_header(&s, &h);
    if (h.count < 0 || h.count > f->desc.particle_capacity || h.material_count < 0 ||
        h.material_count > f->desc.material_capacity || h.slots_used < 0 ||
        h.slots_used > f->desc.particle_capacity || h.free_count < 0 || h.free_count > f->desc.particle_capacity)
        return;
    for (int i = 0; i < 6; i++) isphx_stream_u32(&s, &word);
    isphx_stream_byte(&s, &byte);
    for (int i = 0; i < 2 + 4 * h.material_count; i++) isphx_stream_u32(&s, &word);
    for (int i = 0; i < f->desc.boundary_capacity; i++) {
        isphx_boundary b;
        memset(&b, 0, sizeof b);
        isphx_stream_boundary(&s, &b);
    }
    for (int i = 0; i < h.slots_used + h.free_count; i++) isphx_stream_u32(&s, &word);
    for (int i = 0; i < h.count; i++) {
        for (int k = 0; k < 11; k++) isphx_stream_u32(&s, &word);
        isphx_stream_byte(&s, &byte);
    }
    sum = s.checksum;
    s.in = NULL, s.out = bytes;
    if (s.used + 8 <= size) isphx_stream_u64(&s, &sum);
}

FIXTURE_FN void seal_softs(const ipbd_world *world, unsigned char *bytes, size_t size) {
    ipbdx_part parts[28]; /* as many as ipbdx_list_parts lists */
    ipbdx_snapshot_head head;
    size_t used = sizeof head;
    uint64_t sum;
    int count;
    if (size < sizeof head) return;
    memcpy(&head, bytes, sizeof head);
    head.sum[0] = head.sum[1] = 0;
    if (!ipbdx_counts_sane(world, &head.counts)) return;
    count = ipbdx_list_parts(world, &head.counts, parts);
    for (int i = 0; i < count; i++) {
        parts[i].data = bytes + used;
        used += parts[i].size * (size_t)parts[i].count;
    }
    if (used > size) return;
    sum = ipbdx_parts_hash(isphpbdx_hash_words(7, &head, sizeof head / 4), parts, count);
    head.sum[0] = (uint32_t)sum, head.sum[1] = (uint32_t)(sum >> 32);
    memcpy(bytes, &head, sizeof head);
}

#endif /* FUZZ_IMAGE_H */
