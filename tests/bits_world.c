/* Hashes of small scenes of isphpbd.h; see tests/support/bits.h. */
#define ISPHPBD_IMPLEMENTATION
#include "isphpbd.h"

#include "bits.h"
#include "world_mixed.h"

static uint64_t run(isphpbd_parallel parallel, int parts, int steps) {
    isphpbd_world_desc desc = mixed_desc();
    mixed m;
    uint64_t hash;
    desc.parallel = parallel;
    m = mixed_make(desc, parts);
    (void)mixed_run(&m, steps);
    hash = isphpbd_world_hash(m.world);
    mixed_end(&m);
    return hash;
}

/* Water on cloth, in and round soft bodies. */
static uint64_t coupled(isphpbd_parallel parallel) {
    return run(parallel, MIXED_WATER | MIXED_CLOTH | MIXED_JELLY | MIXED_BALLOON, 12);
}
/* A rigid body and a moving collider in water and on cloth. */
static uint64_t rigid(isphpbd_parallel parallel) {
    return run(parallel, MIXED_WATER | MIXED_CLOTH | MIXED_BODY | MIXED_PADDLE, 12);
}
static uint64_t emitter(isphpbd_parallel parallel) { return run(parallel, MIXED_EMITTER | MIXED_CLOTH, 40); }

int main(void) {
    int failures = bits_print("coupled", coupled);
    failures += bits_print("rigid", rigid);
    failures += bits_print("emitter", emitter);
    return failures > 0;
}
