/* Speed of the soft-body constraints: ns per projection by kind, on a 65 x 65 cloth and a block of tetrahedra.
   Usage: bench_pbd [--json] [--seconds S] */
#define _POSIX_C_SOURCE 199309L
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define IPBD_IMPLEMENTATION
#include "isphpbd_pbd.h"

static double seconds_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- two threads: a worker that spins briefly for its share, then sleeps ---- */

typedef struct pair_pool {
    pthread_mutex_t mutex;
    pthread_cond_t wake;
    void (*task)(void *, int);
    void *context;
    int count, quit;
    volatile int go, done;
} pair_pool;

static void *pool_worker(void *argument) {
    pair_pool *pool = (pair_pool *)argument;
    int seen = 0;
    for (;;) {
        int spin, i;
        for (spin = 0; spin < 20000 && __atomic_load_n(&pool->go, __ATOMIC_ACQUIRE) == seen; ++spin) {}
        pthread_mutex_lock(&pool->mutex);
        while (__atomic_load_n(&pool->go, __ATOMIC_ACQUIRE) == seen) pthread_cond_wait(&pool->wake, &pool->mutex);
        pthread_mutex_unlock(&pool->mutex);
        ++seen;
        if (pool->quit) return NULL;
        for (i = 1; i < pool->count; i += 2) pool->task(pool->context, i);
        __atomic_store_n(&pool->done, seen, __ATOMIC_RELEASE);
    }
}
static void pool_kick(pair_pool *pool) {
    pthread_mutex_lock(&pool->mutex);
    __atomic_store_n(&pool->go, pool->go + 1, __ATOMIC_RELEASE);
    pthread_cond_signal(&pool->wake);
    pthread_mutex_unlock(&pool->mutex);
}
static void pool_run(void (*task)(void *, int), void *context, int count, void *user) {
    pair_pool *pool = (pair_pool *)user;
    int i;
    pool->task = task, pool->context = context, pool->count = count;
    pool_kick(pool);
    for (i = 0; i < count; i += 2) task(context, i);
    while (__atomic_load_n(&pool->done, __ATOMIC_ACQUIRE) != pool->go) {}
}

/* ---- meshes ---- */

typedef struct bench {
    ipbd_body_desc desc;
    float *xyz;
    uint32_t *elements, *links;
    int vertices;
} bench;

static bench make_cloth(int n) {
    bench b;
    int i, j, count = 0;
    b.vertices = n * n;
    b.xyz = (float *)malloc(sizeof(float) * 3 * (size_t)(n * n)),
    b.elements = (uint32_t *)malloc(sizeof(uint32_t) * 6 * (size_t)((n - 1) * (n - 1)));
    b.links = (uint32_t *)malloc(sizeof(uint32_t) * 4 * (size_t)(n * n));
    b.desc = ipbd_body_desc_default();
    b.desc.mesh.triangle_count = ipbd_grid(n, n, 3.0f, 3.0f, b.xyz, b.elements);
    b.desc.mesh.positions = b.xyz, b.desc.mesh.vertex_count = n * n, b.desc.mesh.triangles = b.elements;
    for (j = 0; j < n; ++j) /* every second vertex along rows and columns */
        for (i = 0; i < n; ++i) {
            if (i + 2 < n)
                b.links[2 * count] = (uint32_t)(i + n * j), b.links[2 * count + 1] = (uint32_t)(i + 2 + n * j), ++count;
            if (j + 2 < n)
                b.links[2 * count] = (uint32_t)(i + n * j), b.links[2 * count + 1] = (uint32_t)(i + n * (j + 2)),
                            ++count;
        }
    b.desc.links = b.links, b.desc.link_count = count, b.desc.link = ipbd_compliance(1e-4f);
    b.desc.shear = ipbd_compliance(0.0f), b.desc.bend = ipbd_absent();
    return b;
}
static bench
make_block(void) { /* 13 x 13 x 12 cells: 12,168 tetrahedra, 7,084 edges along the axes and 2,028 diagonals */
    const int nx = 13, ny = 13, nz = 12;
    bench b;
    int i, j, k, count = 0;
    b.vertices = (nx + 1) * (ny + 1) * (nz + 1);
    b.xyz = (float *)malloc(sizeof(float) * 3 * (size_t)b.vertices),
    b.elements = (uint32_t *)malloc(sizeof(uint32_t) * 24 * (size_t)(nx * ny * nz));
    b.links = (uint32_t *)malloc(sizeof(uint32_t) * 8 * (size_t)b.vertices);
    b.desc = ipbd_body_desc_default();
    b.desc.mesh.tetrahedron_count = ipbd_block(nx, ny, nz, isphpbd_v3(1.3f, 1.3f, 1.2f), b.xyz, b.elements);
    b.desc.mesh.positions = b.xyz, b.desc.mesh.vertex_count = b.vertices, b.desc.mesh.tetrahedra = b.elements;
    for (k = 0; k <= nz; ++k)
        for (j = 0; j <= ny; ++j)
            for (i = 0; i <= nx; ++i) {
                uint32_t a = (uint32_t)(i + (nx + 1) * (j + (ny + 1) * k)), dx = 1, dy = (uint32_t)(nx + 1),
                         dz = (uint32_t)((nx + 1) * (ny + 1));
                if (i < nx) b.links[2 * count] = a, b.links[2 * count + 1] = a + dx, ++count;
                if (j < ny) b.links[2 * count] = a, b.links[2 * count + 1] = a + dy, ++count;
                if (k < nz) b.links[2 * count] = a, b.links[2 * count + 1] = a + dz, ++count;
                if (i < nx && j < ny && k < nz)
                    b.links[2 * count] = a, b.links[2 * count + 1] = a + dx + dy + dz, ++count;
            }
    b.desc.links = b.links, b.desc.link_count = count;
    b.desc.stretch = ipbd_absent(), b.desc.density = 1000.0f, b.desc.solid_model = IPBD_SOLID_VOLUME;
    return b;
}
static void free_bench(bench *b) { free(b->xyz), free(b->elements), free(b->links); }

/* ---- measuring ---- */

static double budget = 1.0;

/* Best time of a step in ms; two corners are pinned, so that the cloth swings. */
static double step_ms(bench *b, float dt, int substeps, pair_pool *pool, size_t *bytes) {
    uint32_t pins[2] = {0, 64};
    ipbd_world_desc w = ipbd_world_desc_default();
    ipbd_world *world;
    double best = 1e9, until = seconds_now() + budget;
    isphpbd_result why;
    int i;
    b->desc.pinned = pins, b->desc.pinned_count = b->vertices > 64 ? 2 : 1, b->desc.can_sleep = false,
    b->desc.damping = 0.0f;
    w.capacity = ipbd_capacity_none(), w.substeps = substeps;
    (void)ipbd_capacity_add(&w.capacity, &b->desc, NULL);
    if (pool) w.parallel.run = pool_run, w.parallel.user = pool;
    world = ipbd_create(&w, &why);
    if (!world || !ipbd_body_create(world, &b->desc, &why).id) {
        fprintf(stderr, "bench_pbd: %s\n", isphpbd_result_text(why));
        exit(1);
    }
    if (bytes) *bytes = ipbd_bytes(&w);
    for (i = 0; i < 20 || seconds_now() < until; ++i) {
        double began = seconds_now(), took;
        ipbd_step(world, dt);
        took = 1e3 * (seconds_now() - began);
        if (i > 4 && took < best) best = took;
    }
    ipbd_destroy(world);
    return best;
}
/* ns per projection of one kind alone: the solver's own loop over the slabs, without the rest of a step. */
static double kind_ns(bench *b, int kind) {
    ipbd_world_desc w = ipbd_world_desc_default();
    ipbd_world *world;
    ipbdx_body *body;
    double best = 1e9, until = seconds_now() + 0.5 * budget;
    int slab;
    w.capacity = ipbd_capacity_none();
    (void)ipbd_capacity_add(&w.capacity, &b->desc, NULL);
    world = ipbd_create(&w, NULL);
    if (!world || !ipbd_body_create(world, &b->desc, NULL).id) exit(1);
    body = world->bodies;
    world->h = 1.0f / 2400.0f;
    while (seconds_now() < until) {
        double began = seconds_now(), took;
        for (slab = 0; slab < body->slab_count; ++slab)
            ipbdx_solve_kind(world, body, kind, world->slabs[slab].group_begin[kind],
                             world->slabs[slab].group_end[kind], ipbdx_make_pass(world, body, kind));
        took = seconds_now() - began;
        if (took < best) best = took;
    }
    best = 1e9 * best / (double)body->constraint_count[kind];
    ipbd_destroy(world);
    return best;
}

typedef struct row {
    const char *name;
    double value, target;
    const char *unit;
    bool at_least;
} row;
static row rows[24];
static int row_count;
static void add_row(const char *name, double value, double target, const char *unit, bool at_least) {
    row *r = rows + row_count++;
    r->name = name, r->value = value, r->target = target, r->unit = unit, r->at_least = at_least;
}
static void measure_cloth(pair_pool *pool) {
    bench b = make_cloth(65);
    const double projections = 12.0 * (12416.0 + 8190.0);
    size_t bytes;
    double one = step_ms(&b, 1.0f / 200.0f, 12, NULL, &bytes), two = step_ms(&b, 1.0f / 200.0f, 12, pool, NULL);
    add_row("cloth 65x65, 12 substeps: step", one, 1.0, "ms", false);
    add_row("cloth: per projection, all of a step", 1e6 * one / projections, 4.0, "ns", false);
    add_row("cloth: two threads", one / two, 1.6, "x", true);
    add_row("cloth: world bytes per vertex", (double)bytes / 4225.0, 0.0, "B", false);
    add_row("stretch edge", kind_ns(&b, IPBDX_STRETCH), 4.0, "ns", false);
    add_row("distance bend", kind_ns(&b, IPBDX_LINK), 4.0, "ns", false);
    b.desc.bend = ipbd_compliance(10.0f), b.desc.bend_model = IPBD_BEND_DIHEDRAL;
    add_row("dihedral bend", kind_ns(&b, IPBDX_DIHEDRAL), 0.0, "ns", false);
    b.desc.bend_model = IPBD_BEND_ISOMETRIC;
    add_row("isometric bend", kind_ns(&b, IPBDX_ISOMETRIC), 0.0, "ns", false);
    free_bench(&b);
}
static void measure_block(pair_pool *pool) {
    bench b = make_block();
    double one = step_ms(&b, 1.0f / 60.0f, 20, NULL, NULL), two = step_ms(&b, 1.0f / 60.0f, 20, pool, NULL);
    add_row("block, 20 substeps: step", one, 0.0, "ms", false);
    add_row("block: per projection, all of a step", 1e6 * one / (20.0 * (9112.0 + 12168.0)), 0.0, "ns", false);
    add_row("block: two threads", one / two, 1.6, "x", true);
    add_row("volume tetrahedron", kind_ns(&b, IPBDX_VOLUME), 8.0, "ns", false);
    b.desc.solid_model = IPBD_SOLID_ELASTIC;
    add_row("elastic tetrahedron", kind_ns(&b, IPBDX_ELASTIC), 0.0, "ns", false);
    free_bench(&b);
}
static void measure_bytes(void) {
    add_row("bytes per stretch, shear, bend or link", (double)sizeof(ipbdx_edges) / 4.0, 0.0, "B", false);
    add_row("bytes per dihedral bend or volume", (double)sizeof(ipbdx_quads) / 4.0, 0.0, "B", false);
    add_row("bytes per isometric bend", (double)sizeof(ipbdx_isometrics) / 4.0, 0.0, "B", false);
    add_row("bytes per elastic tetrahedron", (double)sizeof(ipbdx_elastics) / 4.0, 0.0, "B", false);
}
static void print_rows(bool json) {
    int i;
    if (json) printf("{");
    for (i = 0; i < row_count; ++i) {
        const row *r = rows + i;
        const char *verdict = r->target <= 0.0                                                ? ""
                              : (r->at_least ? r->value >= r->target : r->value <= r->target) ? "reached"
                                                                                              : "missed";
        if (json) printf("%s\"%s [%s]\": %.4g", i ? ", " : "", r->name, r->unit, r->value);
        else if (r->target > 0.0)
            printf("%-40s %9.2f %-2s  %s %.1f  %s\n", r->name, r->value, r->unit, r->at_least ? ">=" : "<=", r->target,
                   verdict);
        else printf("%-40s %9.2f %s\n", r->name, r->value, r->unit);
    }
    if (json) printf("}\n");
}
int main(int argc, char **argv) {
    pair_pool pool;
    pthread_t thread;
    bool json = false;
    int i;
    for (i = 1; i < argc; ++i) {
        if (strcmp(argv[i], "--json") == 0) json = true;
        else if (strcmp(argv[i], "--seconds") == 0 && i + 1 < argc) budget = atof(argv[++i]);
        else return fprintf(stderr, "usage: bench_pbd [--json] [--seconds S]\n"), 2;
    }
    memset(&pool, 0, sizeof pool);
    pthread_mutex_init(&pool.mutex, NULL);
    pthread_cond_init(&pool.wake, NULL);
    if (pthread_create(&thread, NULL, pool_worker, &pool) != 0)
        return fprintf(stderr, "bench_pbd: no second thread\n"), 1;
    measure_cloth(&pool);
    measure_block(&pool);
    measure_bytes();
    print_rows(json);
    pool.quit = 1;
    pool_kick(&pool);
    pthread_join(thread, NULL);
    return 0;
}
