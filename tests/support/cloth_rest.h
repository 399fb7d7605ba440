/* Cloths that are let fall and watched until they rest. Needs greatest.h and the implementation of soft bodies. */
#ifndef CLOTH_REST_H
#define CLOTH_REST_H

#define STEP (1.0f / 60.0f)
#define N    15
#define MOST 17 /* vertices along the side of any cloth here */
#define SECONDS 5

static float cloth_xyz[3 * MOST * MOST];
static uint32_t cloth_triangles[6 * (MOST - 1) * (MOST - 1)];

static ipbd_world *make_world(void) {
    ipbd_world_desc d = ipbd_world_desc_default();
    ipbd_collider_desc floor_desc = ipbd_collider_desc_default();
    ipbd_world *world;
    d.capacity.contacts = 100000, d.sleep_speed = 0.0f; /* nobody is put to sleep */
    world = ipbd_create(&d, NULL);
    ipbd_collider_create(world, &floor_desc, NULL);
    return world;
}
/* As the preset is, but for the kind of bending and what it collides with. */
static ipbd_body_desc preset_desc(ipbd_preset preset, ipbd_bend_model bend, int n, float size) {
    ipbd_body_desc d = ipbd_body_desc_preset(preset);
    d.mesh.triangle_count = ipbd_grid(n, n, size, size, cloth_xyz, cloth_triangles);
    d.mesh.positions = cloth_xyz, d.mesh.vertex_count = n * n, d.mesh.triangles = cloth_triangles;
    d.bend_model = bend, d.self_collision = d.soft_collision = true;
    return d;
}
static ipbd_body_desc cloth_desc(ipbd_preset preset, ipbd_bend_model bend, int n, float size) {
    ipbd_body_desc d = preset_desc(preset, bend, n, size);
    d.thickness = 0.01f;
    return d;
}
static double rms_speed(const ipbd_world *world, ipbd_body body) {
    ipbd_view view = ipbd_body_view(world, body);
    double sum = 0.0;
    int i;
    for (i = 0; i < view.vertex_count; ++i) {
        const float *u = view.velocities + 4 * i;
        sum += (double)(u[0] * u[0] + u[1] * u[1] + u[2] * u[2]);
    }
    return sqrt(sum / view.vertex_count);
}
/* In none of the last six frames may they move by more than 1 cm/s on average. */
TEST come_to_rest(ipbd_world *world, ipbd_body a, ipbd_body b) {
    double fastest = 0.0;
    int i;
    for (i = 0; i < 60 * SECONDS; ++i) {
        ipbd_step(world, STEP);
        if (i >= 60 * SECONDS - 6) fastest = fmax(fastest, fmax(rms_speed(world, a), rms_speed(world, b)));
        if (i % 50 != 49) continue;
        ASSERT_EQ(0, self_crossings(world, a));
        if (a.id != b.id) ASSERT_EQ(0, self_crossings(world, b) + mutual_crossings(world, a, b));
    }
    printf("%.5f m/s\n", fastest);
    ASSERT(fastest <= 0.01);
    PASS();
}
static const ipbd_preset presets[5] = {IPBD_SILK, IPBD_COTTON, IPBD_DENIM, IPBD_CANVAS, IPBD_LEATHER};

#endif
