/* Validation of isphpbd_pbd.h: statics against theory, stiffness that depends on nothing but the material,
   conservation.
   SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>

#define IPBD_IMPLEMENTATION
#include "isphpbd_pbd.h"

#include "report.h" /* after the header, whose parameters use its name */

#define STEP    (1.0f / 60.0f)
#define GRAVITY 9.81

static ipbd_world *world_of(const ipbd_body_desc *desc, ipbd_body *body, float gravity, int substeps) {
    ipbd_world_desc d = ipbd_world_desc_default();
    ipbd_world *world;
    isphpbd_result why;
    d.gravity = isphpbd_v3(0.0f, -gravity, 0.0f), d.substeps = substeps, d.sleep_speed = 0.0f;
    d.capacity = ipbd_capacity_none(), d.capacity.colliders = 4;
    why = ipbd_capacity_add(&d.capacity, desc, NULL);
    world = why == ISPHPBD_OK ? ipbd_create(&d, &why) : NULL;
    if (world) *body = ipbd_body_create(world, desc, &why);
    if (why != ISPHPBD_OK) {
        fprintf(stderr, "validate_pbd: %s\n", isphpbd_result_text(why));
        exit(2);
    }
    return world;
}

/* ---- chains ---- */

/* A chain of 1.5 m between supports 1 m apart, after 20 s: rms distance from the catenary over its sag. */
static double catenary_error(int links, int substeps) {
    float *xyz = (float *)malloc(sizeof(float) * 3 * (size_t)(links + 1));
    uint32_t *lines = (uint32_t *)malloc(sizeof(uint32_t) * 2 * (size_t)links), pins[2];
    double length = 1.5, a = 0.3, sum = 0.0, sag, link = length / links;
    ipbd_body_desc d = ipbd_body_desc_default();
    ipbd_world *world;
    ipbd_body body;
    isphpbd_vec3 p;
    int i;
    for (i = 0; i < 60; ++i)
        a -= (2.0 * a * sinh(0.5 / a) - length) / (2.0 * sinh(0.5 / a) - cosh(0.5 / a) / a); /* Newton */
    for (i = 0; i <= links; ++i) { /* starts as a zigzag of the right length */
        xyz[3 * i] = (float)(-0.5 + (double)i / links), xyz[3 * i + 1] = 0.0f;
        xyz[3 * i + 2] = i % 2 ? (float)sqrt(link * link - 1.0 / ((double)links * links)) : 0.0f;
        if (i < links) lines[2 * i] = (uint32_t)i, lines[2 * i + 1] = (uint32_t)i + 1;
    }
    pins[0] = 0, pins[1] = (uint32_t)links;
    d.mesh.positions = xyz, d.mesh.vertex_count = links + 1, d.mesh.lines = lines, d.mesh.line_count = links;
    d.pinned = pins, d.pinned_count = 2, d.bend = ipbd_absent(), d.drag = 2.0f;
    world = world_of(&d, &body, (float)GRAVITY, substeps);
    for (i = 0; i < 20 * 60; ++i) ipbd_step(world, STEP);
    sag = a * cosh(0.5 / a) - a;
    for (i = 0; i <= links; ++i) {
        double y;
        ipbd_body_vertex(world, body, i, &p, NULL);
        y = a * cosh((double)p.x / a) - a * cosh(0.5 / a);
        sum += ((double)p.y - y) * ((double)p.y - y) + (double)(p.z * p.z);
    }
    ipbd_destroy(world);
    free(xyz), free(lines);
    return sqrt(sum / (links + 1)) / sag;
}
/* Period of a bob on a massless thread of 1 m, 10 degrees, over 20 swings; relative error. */
static double pendulum_error(int substeps) {
    const double angle = 10.0 * 3.14159265358979 / 180.0,
                 theory = 2.0 * 3.14159265358979 * sqrt(1.0 / GRAVITY) * (1.0 + angle * angle / 16.0);
    float xyz[6] = {0, 0, 0, 0, 0, 0}, masses[2] = {1.0f, 1.0f};
    uint32_t line[2] = {0, 1}, pin[1] = {0};
    ipbd_body_desc d = ipbd_body_desc_default();
    ipbd_world *world;
    ipbd_body body;
    isphpbd_vec3 p;
    double before = 0.0, first = -1.0, last = 0.0;
    int i, crossings = 0;
    xyz[3] = (float)sin(angle), xyz[4] = -(float)cos(angle);
    d.mesh.positions = xyz, d.mesh.vertex_count = 2, d.mesh.lines = line, d.mesh.line_count = 1;
    d.pinned = pin, d.pinned_count = 1, d.masses = masses, d.damping = 0.0f;
    world = world_of(&d, &body, (float)GRAVITY, substeps);
    for (i = 1; crossings < 41 && i < 60 * 60; ++i) {
        ipbd_step(world, STEP);
        ipbd_body_vertex(world, body, 1, &p, NULL);
        if (i > 1 && (before < 0.0) != (p.x < 0.0f)) {
            last = ((double)i - 1.0 + before / (before - (double)p.x)) * (double)STEP;
            if (crossings++ == 0) first = last;
        }
        before = (double)p.x;
    }
    ipbd_destroy(world);
    return fabs((last - first) / 20.0 / theory - 1.0);
}
static double pin_weight_error(void) {
    static float xyz[3 * 25 * 25];
    static uint32_t triangles[6 * 24 * 24];
    uint32_t pins[3] = {0, 12, 24};
    ipbd_body_desc d = ipbd_body_desc_preset(IPBD_DENIM);
    ipbd_world *world;
    ipbd_body body;
    double sum = 0.0, weight;
    int i;
    d.mesh.triangle_count = ipbd_grid(25, 25, 1.0f, 1.0f, xyz, triangles);
    d.mesh.positions = xyz, d.mesh.vertex_count = 625, d.mesh.triangles = triangles, d.pinned = pins,
    d.pinned_count = 3, d.drag = 3.0f;
    world = world_of(&d, &body, (float)GRAVITY, 12);
    for (i = 0; i < 20 * 60; ++i) ipbd_step(world, STEP);
    for (i = 0; i < 3; ++i) {
        isphpbd_vec3 force;
        ipbd_pin_force(world, body, (int)pins[i], &force);
        sum -= (double)force.y;
    }
    weight = GRAVITY * ipbd_body_mass(world, body);
    ipbd_destroy(world);
    return fabs(sum / weight - 1.0);
}

/* ---- a cantilever of elastic tetrahedra ---- */

typedef struct beam {
    int along, across, substeps, iterations;
    float dt, density, gravity, poisson;
} beam;

/* Deflection of the tip over Timoshenko's, under its own weight: E = 1e5 Pa, 1 m x 0.2 m x 0.2 m, still after 10 s. */
static double beam_ratio(beam b) {
    const double length = 1.0, height = 0.2, young = 1e5;
    const int nx = b.along, nc = b.across, vertices = (nx + 1) * (nc + 1) * (nc + 1);
    float *xyz = (float *)malloc(sizeof(float) * 3 * (size_t)vertices);
    uint32_t *tets = (uint32_t *)malloc(sizeof(uint32_t) * 24 * (size_t)(nx * nc * nc)),
             *pins = (uint32_t *)malloc(sizeof(uint32_t) * (size_t)vertices);
    double load = (double)b.density * (double)b.gravity * height * height,
           inertia = height * height * height * height / 12.0;
    double shear = young / (2.0 * (1.0 + (double)b.poisson)), theory, sum = 0.0;
    ipbd_body_desc d = ipbd_body_desc_default();
    ipbd_world *world;
    ipbd_body body;
    isphpbd_vec3 p;
    int i, steps = (int)(10.0f / b.dt), tip = nx + (nx + 1) * (nc / 2 + (nc + 1) * (nc / 2)), count = 0;
    theory = load * length * length * length * length / (8.0 * young * inertia) +
             load * length * length / (2.0 * shear * height * height * 5.0 / 6.0);
    d.mesh.tetrahedron_count =
        ipbd_block(nx, nc, nc, isphpbd_v3((float)length, (float)height, (float)height), xyz, tets);
    d.mesh.positions = xyz, d.mesh.vertex_count = vertices, d.mesh.tetrahedra = tets;
    for (i = 0; i < vertices; ++i)
        if (i % (nx + 1) == 0) pins[d.pinned_count++] = (uint32_t)i;
    d.pinned = pins, d.density = b.density, d.young_modulus = (float)young, d.poisson_ratio = b.poisson;
    d.drag = (float)(7.0 * sqrt(young * inertia /
                                ((double)b.density * height *
                                 height))); /* critical for the first mode, 3.5 sqrt(EI / rho A l^4) */
    world = world_of(&d, &body, b.gravity, b.substeps);
    ipbd_set_budget(world, b.substeps, b.iterations);
    for (i = 0; i < steps; ++i) {
        ipbd_step(world, b.dt);
        if (i < steps * 9 / 10) continue;
        ipbd_body_vertex(world, body, tip, &p, NULL);
        sum -= (double)p.y, ++count;
    }
    ipbd_destroy(world);
    free(xyz), free(tets), free(pins);
    return sum / count / theory;
}
static void validate_beam(report *r) {
    beam fine = {40, 8, 10, 1, STEP, 1000.0f, 0.1f, 0.3f}, b = {20, 4, 10, 1, STEP, 1000.0f, 0.1f, 0.3f};
    double base, worst = 0.0, ratio;
    int i;
    report_text(r, "Beam of %d x %d x %d cells of six tetrahedra; the dependence on steps with %d x %d x %d cells.",
                fine.along, fine.across, fine.across, b.along, b.across, b.across);
    report_at_most(r, "cantilever: tip deflection against beam theory", fabs(beam_ratio(fine) - 1.0), 0.10, "",
                   "Timoshenko's beam");
    base = beam_ratio(b);
    report_value(r, "the same, coarse mesh", base - 1.0, "");
    for (i = 0; i < 6; ++i) {
        beam c = b;
        if (i == 0) c.substeps = 5;
        if (i == 1) c.substeps = 20;
        if (i == 2) c.dt = 0.5f * STEP;
        if (i == 3) c.iterations = 4;
        if (i == 4) c.density = 4000.0f, c.gravity = 0.025f;
        if (i == 5) c.density = 250.0f, c.gravity = 0.4f;
        ratio = beam_ratio(c) / base;
        worst = fmax(worst, fabs(ratio - 1.0));
        report_value(r,
                     i == 0   ? "with 5 instead of 10 substeps"
                     : i == 1 ? "with 20 substeps"
                     : i == 2 ? "with half the step"
                     : i == 3 ? "with 4 iterations"
                     : i == 4 ? "with four times the mass"
                              : "with a quarter of the mass",
                     ratio, "x");
    }
    report_at_most(r, "dependence of stiffness on step, iterations and mass", worst, 0.05, "",
                   "the material alone decides");
}

/* ---- conservation ---- */

static ipbd_body_desc cube_desc(void) {
    static float xyz[3 * 5 * 5 * 5];
    static uint32_t tets[24 * 64];
    ipbd_body_desc d = ipbd_body_desc_default();
    d.mesh.tetrahedron_count = ipbd_block(4, 4, 4, isphpbd_v3(0.5f, 0.5f, 0.5f), xyz, tets);
    d.mesh.positions = xyz, d.mesh.vertex_count = 125, d.mesh.tetrahedra = tets, d.density = 1000.0f, d.damping = 0.0f;
    return d;
}
/* A shaken, spinning cube in free flight for 60 s. */
static void validate_free_flight(report *r) {
    ipbd_body_desc d = cube_desc();
    ipbd_body body;
    ipbd_world *world = world_of(&d, &body, 0.0f, 12);
    ipbd_stats first, now;
    double scale, most = 0.0, early = 0.0, late = 0.0;
    int i;
    for (i = 0; i < 125; ++i) {
        isphpbd_vec3 p, v;
        ipbd_body_vertex(world, body, i, &p, NULL);
        v = isphpbdx_cross(isphpbd_v3(2.0f, 1.0f, -1.0f), p);
        v.x += 0.4f * (float)((i * 7) % 5 - 2), v.y += 0.2f + 0.4f * (float)((i * 11) % 7 - 3);
        ipbd_vertex_add_impulse(world, body, i, v);
    }
    first = ipbd_world_stats(world);
    scale = sqrt(2.0 * first.kinetic_energy * ipbd_body_mass(world, body));
    for (i = 0; i < 3600; ++i) {
        ipbd_step(world, STEP);
        now = ipbd_world_stats(world);
        most = fmax(most, now.kinetic_energy);
        if (i >= 60 && i < 180) early = fmax(early, now.kinetic_energy); /* the shaking has gone by then */
        if (i >= 180) late = fmax(late, now.kinetic_energy);
    }
    report_at_most(r, "momentum lost in 60 s of free flight",
                   (double)isphpbdx_length(isphpbdx_sub(now.momentum, first.momentum)) / scale, 1e-5, "",
                   "Newton; float rounding");
    report_at_most(r, "angular momentum lost",
                   (double)isphpbdx_length(isphpbdx_sub(now.angular_momentum, first.angular_momentum)) / (scale * 0.25),
                   1e-4, "", "about the origin; float rounding, 12 m away");
    report_at_most(r, "highest kinetic energy of 60 s over that at the start", most / first.kinetic_energy, 1.001, "",
                   "energy never grows; all of it is kinetic then");
    report_at_most(r, "highest kinetic energy of the last 57 s over that of the second before", late / early, 1.001, "",
                   "energy never grows");
    ipbd_destroy(world);
}
/* Kinetic and potential energy of a swinging cloth may only fall. */
static void validate_swing(report *r) {
    static float xyz[3 * 17 * 17];
    static uint32_t triangles[6 * 256];
    uint32_t pins[2] = {0, 16};
    ipbd_body_desc d = ipbd_body_desc_preset(IPBD_COTTON);
    ipbd_body body;
    ipbd_world *world;
    double start = 0.0, highest = -1e9, scale;
    int i, k;
    d.mesh.triangle_count = ipbd_grid(17, 17, 1.0f, 1.0f, xyz, triangles);
    d.mesh.positions = xyz, d.mesh.vertex_count = 289, d.mesh.triangles = triangles, d.pinned = pins,
    d.pinned_count = 2, d.damping = 0.0f;
    world = world_of(&d, &body, (float)GRAVITY, 12);
    scale = GRAVITY * ipbd_body_mass(world, body) * 0.5;
    for (i = 0; i < 3600; ++i) {
        ipbd_view v;
        double energy = 0.0;
        ipbd_step(world, STEP);
        v = ipbd_body_view(world, body);
        for (k = 0; k < v.vertex_count; ++k)
            if (v.positions[4 * k + 3] > 0.0f)
                energy += GRAVITY * (double)v.positions[4 * k + 1] / (double)v.positions[4 * k + 3];
        energy += ipbd_world_stats(world).kinetic_energy;
        if (i == 0) start = energy;
        highest = fmax(highest, (energy - start) / scale);
    }
    report_at_most(r, "energy gained by a swinging cloth in 60 s", highest, 1e-3, "of its weight times 0.5 m",
                   "energy never grows");
    ipbd_destroy(world);
}
/* A block pressed between plates to 75 % of its height. */
static double squeezed_volume_error(void) {
    ipbd_body_desc d = cube_desc();
    ipbd_collider_desc c = ipbd_collider_desc_default();
    ipbd_collider plate;
    ipbd_body body;
    ipbd_world *world;
    double rest, worst = 0.0;
    int i;
    d.solid_model = IPBD_SOLID_VOLUME, d.stretch = ipbd_compliance(1e-4f), d.damping = 1.0f;
    world = world_of(&d, &body, (float)GRAVITY, 20);
    c.pose = ipbd_pose_at(0.0f, -0.256f, 0.0f);
    ipbd_collider_create(world, &c, NULL);
    c.shape = ipbd_shape_box(1.0f, 0.1f, 1.0f), c.pose = ipbd_pose_at(0.0f, 0.36f, 0.0f);
    plate = ipbd_collider_create(world, &c, NULL);
    rest = ipbd_body_volume(world, body);
    for (i = 0; i < 180; ++i) {
        ipbd_collider_move(world, plate,
                           ipbd_pose_at(0.0f, 0.36f - 0.125f * (float)isphpbdx_mini(i, 90) / 90.0f, 0.0f));
        ipbd_step(world, STEP);
        worst = fmax(worst, fabs(ipbd_body_volume(world, body) / rest - 1.0));
    }
    ipbd_destroy(world);
    return worst;
}

int main(int argc, char **argv) {
    report r;
    if (!report_open(&r, argc, argv, "Soft bodies")) return 2;
    report_at_most(&r, "hanging chain of 40 links: rms distance from the catenary over the sag", catenary_error(40, 20),
                   0.01, "", "catenary");
    report_at_most(&r, "pendulum of 10 degrees: period over 20 swings", pendulum_error(12), 0.005, "",
                   "2 pi sqrt(l/g) (1 + a^2/16)");
    report_at_most(&r, "weight of a cloth on its three pins", pin_weight_error(), 0.01, "", "m g");
    validate_beam(&r);
    report_at_most(&r, "volume of a block squeezed by a quarter", squeezed_volume_error(), 0.01, "", "kept volume");
    validate_free_flight(&r);
    validate_swing(&r);
    return report_close(&r);
}
