/* bench_soft.h - soft bodies: time per projection by kind, and how it grows. SPDX-License-Identifier: MIT

   The two meshes that other solvers were measured on: a cloth of 65 x 65 vertices with a bend link over every second
   one (12,416 stretch and shear, 8,190 bend), and a block of 12,168 tetrahedra with 9,112 edges. */
#ifndef BENCH_SOFT_H
#define BENCH_SOFT_H

#include "bench_runner.h"

/* ==== [meshes] ==================================================================================================== */

typedef struct soft_mesh {
    ipbd_body_desc desc;
    float *positions;
    uint32_t *elements, *links;
    uint32_t pinned[2];
} soft_mesh;

BENCH_FN void soft_mesh_free(soft_mesh *m) { free(m->positions), free(m->elements), free(m->links); }

static void soft_mesh_alloc(soft_mesh *m, int vertices, int indices, int links) {
    memset(m, 0, sizeof *m);
    m->positions = (float *)need(malloc(3 * sizeof(float) * (size_t)vertices));
    m->elements = (uint32_t *)need(malloc(sizeof(uint32_t) * (size_t)indices));
    m->links = (uint32_t *)need(malloc(2 * sizeof(uint32_t) * (size_t)links));
    m->desc = ipbd_body_desc_default();
    m->desc.tether_slack = 0.0f; /* the others have none: the same constraints for all */
    m->desc.mesh.positions = m->positions, m->desc.mesh.vertex_count = vertices;
    m->desc.links = m->links;
    m->desc.can_sleep = false, m->desc.damping = 0.0f;
}

static void soft_link(soft_mesh *m, int a, int b) {
    uint32_t *link = m->links + 2 * m->desc.link_count++;
    link[0] = (uint32_t)a, link[1] = (uint32_t)b;
}

/* n x n vertices; links every second one along rows and columns. */
BENCH_FN soft_mesh soft_cloth(int n) {
    soft_mesh m;
    soft_mesh_alloc(&m, n * n, 6 * (n - 1) * (n - 1), 2 * n * n);
    m.desc.mesh.triangle_count = ipbd_grid(n, n, 3.0f, 3.0f, m.positions, m.elements);
    m.desc.mesh.triangles = m.elements;
    for (int j = 0; j < n; ++j) {
        for (int i = 0; i < n; ++i) {
            if (i + 2 < n) soft_link(&m, i + n * j, i + 2 + n * j);
            if (j + 2 < n) soft_link(&m, i + n * j, i + n * (j + 2));
        }
    }
    m.desc.link = ipbd_compliance(1e-4f);
    m.desc.shear = ipbd_compliance(0.0f), m.desc.bend = ipbd_absent();
    m.pinned[0] = 0, m.pinned[1] = (uint32_t)(n - 1);
    return m;
}

/* 13 x 13 x 12 cells: 12,168 tetrahedra, 7,084 edges along the axes and 2,028 diagonals. */
BENCH_FN soft_mesh soft_block(void) {
    const int nx = 13, ny = 13, nz = 12, dy = nx + 1, dz = (nx + 1) * (ny + 1), vertices = dz * (nz + 1);
    soft_mesh m;
    soft_mesh_alloc(&m, vertices, 24 * nx * ny * nz, 4 * vertices);
    m.desc.mesh.tetrahedron_count = ipbd_block(nx, ny, nz, isphpbd_v3(1.3f, 1.3f, 1.2f), m.positions, m.elements);
    m.desc.mesh.tetrahedra = m.elements;
    for (int a = 0; a < vertices; ++a) {
        const int i = a % dy, j = a / dy % (ny + 1), k = a / dz;
        if (i < nx) soft_link(&m, a, a + 1);
        if (j < ny) soft_link(&m, a, a + dy);
        if (k < nz) soft_link(&m, a, a + dz);
        if (i < nx && j < ny && k < nz) soft_link(&m, a, a + 1 + dy + dz);
    }
    m.desc.stretch = ipbd_absent(), m.desc.density = 1000.0f, m.desc.solid_model = IPBD_SOLID_VOLUME;
    m.pinned[0] = 0, m.pinned[1] = (uint32_t)nx;
    return m;
}

/* ==== [measuring] ================================================================================================= */

BENCH_FN ipbd_world *soft_world(soft_mesh *m, int substeps, isphpbd_parallel parallel, size_t *bytes) {
    ipbd_world_desc desc = ipbd_world_desc_default();
    ipbd_world *world;
    isphpbd_result why = ISPHPBD_OK;
    m->desc.pinned = m->pinned, m->desc.pinned_count = 2; /* two corners, so that it swings */
    desc.capacity = ipbd_capacity_none(), desc.substeps = substeps;
    (void)ipbd_capacity_add(&desc.capacity, &m->desc, NULL);
    desc.parallel = parallel;
    *bytes = ipbd_bytes(&desc);
    world = ipbd_create(&desc, &why);
    if (!world || !ipbd_body_create(world, &m->desc, &why).id) {
        fprintf(stderr, "bench: soft body: %s\n", isphpbd_result_text(why));
        exit(1);
    }
    return world;
}

BENCH_FN void soft_steps(ipbd_world *world, float seconds, int steps, samples *s) {
    for (int k = 0; k < steps + 5; ++k) {
        samples_begin(s);
        (void)ipbd_step(world, seconds);
        if (k >= 5) samples_end(s, 1.0);
    }
}

static double soft_constraints(const ipbd_world *world) {
    double sum = 0.0;
    for (int kind = 0; kind < (int)(sizeof world->bodies->constraint_count / sizeof(int)); ++kind)
        sum += world->bodies->constraint_count[kind];
    return sum;
}

/* A whole step, on one and on all threads; ns per projection with everything else that a step does. */
BENCH_FN void soft_whole(bench *b, const char *name, soft_mesh *m, float seconds, int substeps) {
    samples *s = samples_new();
    double one = 0.0;
    for (int count = 1; count > 0; count = count < b->threads ? b->threads : 0) {
        bench_pool pool = pool_open(count);
        size_t bytes;
        ipbd_world *world = soft_world(m, substeps, pool.parallel, &bytes);
        timing t;
        s->count = 0;
        soft_steps(world, seconds, repeats_of(b, 300, 30), s);
        place(b, "%s.%d_thread%s", name, count, count > 1 ? "s" : "");
        t = figure_samples(b, "step", s, 1e3, 1.0, "ms");
        figure_samples(b, "projection", s, 1e9, substeps * soft_constraints(world), "ns, all of a step");
        if (count == 1) one = t.wall_least;
        else figure_value(b, "speedup", one / t.wall_least, "by least wall times");
        if (count == 1) figure_value(b, "bytes", (double)bytes / m->desc.mesh.vertex_count, "bytes per vertex");
        ipbd_destroy(world);
        pool_close(&pool);
    }
    place(b, "%s", "");
    free(s);
}

/* One kind alone: the solver's own loop over it, without the rest of a step. */
BENCH_FN void soft_kind(bench *b, const char *name, soft_mesh *m, int kind) {
    samples *s = samples_new();
    size_t bytes;
    ipbd_world *world = soft_world(m, 12, serial_runner(), &bytes);
    ipbdx_body *body = world->bodies;
    world->h = 1.0f / 2400.0f;
    for (int r = 0; r < repeats_of(b, 400, 40); ++r) {
        samples_begin(s);
        for (int slab = 0; slab < body->slab_count; ++slab)
            ipbdx_solve_kind(world, body, kind, world->slabs[slab].group_begin[kind],
                             world->slabs[slab].group_end[kind], ipbdx_make_pass(world, body, kind));
        samples_end(s, 1.0);
    }
    figure_samples(b, name, s, 1e9, body->constraint_count[kind], "ns per projection");
    ipbd_destroy(world);
    free(s);
}

/* ==== [contacts] ================================================================================================== */

/* Cottons of 65 x 65 over each other on the ground, that come to rest: folded once, or two that lie flat. */
BENCH_FN void soft_contact_row(bench *b, const char *name, bool folded) {
    samples *s = samples_new();
    soft_mesh m = soft_cloth(65);
    ipbd_world_desc desc = ipbd_world_desc_default();
    ipbd_collider_desc ground = ipbd_collider_desc_default();
    ipbd_body_desc d = ipbd_body_desc_preset(IPBD_COTTON);
    ipbd_world *world;
    double contacts;
    desc.parallel = serial_runner(), desc.capacity.contacts = 1 << 19;
    world = (ipbd_world *)need(ipbd_create(&desc, NULL));
    (void)ipbd_collider_create(world, &ground, NULL);
    d.mesh = m.desc.mesh, d.thickness = 0.01f, d.can_sleep = false, d.self_collision = d.soft_collision = true;
    for (int i = 0; i < 65 * 65 && folded; ++i)
        if (m.positions[3 * i] > 0.0f) m.positions[3 * i] *= -0.99f, m.positions[3 * i + 1] = 0.02f;
    d.pose = ipbd_pose_at(0.0f, 0.006f, 0.0f);
    (void)ipbd_body_create(world, &d, NULL);
    d.pose = ipbd_pose_at(0.01f, 0.018f, 0.02f);
    if (!folded) (void)ipbd_body_create(world, &d, NULL);
    for (int k = 0; k < 30; ++k) (void)ipbd_step(world, 1.0f / 60.0f);
    soft_steps(world, 1.0f / 60.0f, repeats_of(b, 60, 5), s);
    contacts = (double)world->contact_count;
    place(b, "%s", name);
    figure_samples(b, "step", s, 1e3, 1.0, "ms");
    figure_samples(b, "contact", s, 1e9, 12.0 * contacts, "ns per contact and substep, all of a step");
    figure_value(b, "contacts", contacts, "pairs in contact");
    figure_value(b, "pairs", (double)world->pair_count, "pairs near each other");
    place(b, "%s", "");
    ipbd_destroy(world);
    soft_mesh_free(&m), free(s);
}

BENCH_FN void bench_soft_contacts(bench *b) {
    heading(b, "soft contacts: cottons of 65 x 65 at rest on the ground, 12 substeps, one thread");
    soft_contact_row(b, "folded", true);
    soft_contact_row(b, "two", false);
}

/* ==== [constraints] =============================================================================================== */

BENCH_FN void bench_constraints(bench *b) {
    soft_mesh cloth = soft_cloth(65), block = soft_block();
    heading(
        b, "soft bodies: cloth of 65 x 65 (20,606 constraints, 12 substeps), block of 12,168 tetrahedra (20 substeps)");
    soft_whole(b, "cloth", &cloth, 1.0f / 200.0f, 12);
    soft_whole(b, "block", &block, 1.0f / 60.0f, 20);
    heading(b, "one kind of constraint alone, one thread");
    soft_kind(b, "stretch", &cloth, IPBDX_STRETCH);
    soft_kind(b, "link", &cloth, IPBDX_LINK);
    cloth.desc.bend = ipbd_compliance(10.0f), cloth.desc.bend_model = IPBD_BEND_DIHEDRAL;
    soft_kind(b, "dihedral", &cloth, IPBDX_DIHEDRAL);
    cloth.desc.bend_model = IPBD_BEND_ISOMETRIC;
    soft_kind(b, "isometric", &cloth, IPBDX_ISOMETRIC);
    soft_kind(b, "volume", &block, IPBDX_VOLUME);
    block.desc.solid_model = IPBD_SOLID_ELASTIC;
    soft_kind(b, "elastic", &block, IPBDX_ELASTIC);
    figure_value(b, "edge_bytes", (double)sizeof(ipbdx_edges) / 4.0, "bytes per stretch, shear, distance bend, link");
    figure_value(b, "quad_bytes", (double)sizeof(ipbdx_quads) / 4.0, "bytes per dihedral bend or volume");
    figure_value(b, "isometric_bytes", (double)sizeof(ipbdx_isometrics) / 4.0, "bytes per isometric bend");
    figure_value(b, "elastic_bytes", (double)sizeof(ipbdx_elastics) / 4.0, "bytes per elastic tetrahedron");
    soft_mesh_free(&cloth), soft_mesh_free(&block);
    bench_soft_contacts(b);
}

/* ==== [scaling] =================================================================================================== */

enum { SOFT_SIZES = 6 };
static const int soft_sizes[SOFT_SIZES] = {16, 46, 143, 251, 319, 451}; /* 1.1 K to 1 M constraints */

BENCH_FN void bench_scaling_soft(bench *b) {
    samples *s = samples_new();
    heading(b, "cost over the number of constraints: cloths of growing numbers of vertices, 12 substeps, one thread");
    for (int k = 0; k < (b->quick ? 3 : SOFT_SIZES); ++k) {
        soft_mesh m = soft_cloth(soft_sizes[k]);
        size_t bytes;
        ipbd_world *world = soft_world(&m, 12, serial_runner(), &bytes);
        const double constraints = soft_constraints(world);
        s->count = 0;
        soft_steps(world, 1.0f / 200.0f, repeats_of(b, soft_sizes[k] > 100 ? 20 : 100, 10), s);
        place(b, "constraints_%d", (int)constraints);
        figure_samples(b, "", s, 1e9, 12.0 * constraints, "ns per projection, all of a step");
        figure_value(b, "bytes", (double)bytes / constraints, "bytes per constraint");
        ipbd_destroy(world);
        soft_mesh_free(&m);
    }
    free(s);
}

#endif /* BENCH_SOFT_H */
