/* hello_cloth.c - the smallest useful cloth: a tablecloth falls over a ball and, given a name, is written as an OBJ
   file: hello_cloth cloth.obj. SPDX: MIT

   cc -std=c99 -O2 -ffp-contract=off -I. examples/hello_cloth.c -o hello_cloth -lm */
#include <stdio.h>

#define IPBD_IMPLEMENTATION
#include "isphpbd_pbd.h"

#define SIDE 33 /* vertices along each side */

static float points[3 * SIDE * SIDE];
static uint32_t triangles[6 * (SIDE - 1) * (SIDE - 1)];

static void add_collider(ipbd_world *world, ipbd_shape shape, float height) {
    ipbd_collider_desc collider = ipbd_collider_desc_default();
    collider.shape = shape;
    collider.pose = ipbd_pose_at(0.0f, height, 0.0f);
    ipbd_collider_create(world, &collider, NULL);
}

/* Positions come back in the order of the mesh that was given. */
static void write_obj(const ipbd_world *world, ipbd_body body, int triangle_count, const char *path) {
    FILE *file = fopen(path, "w");
    int i;
    if (!file) return;
    ipbd_body_read(world, body, points, NULL, 3 * sizeof(float));
    for (i = 0; i < SIDE * SIDE; ++i)
        fprintf(file, "v %g %g %g\n", (double)points[3 * i], (double)points[3 * i + 1], (double)points[3 * i + 2]);
    for (i = 0; i < triangle_count; ++i)
        fprintf(file, "f %u %u %u\n", triangles[3 * i] + 1, triangles[3 * i + 1] + 1, triangles[3 * i + 2] + 1);
    fclose(file);
}

int main(int argc, char **argv) {
    ipbd_world_desc world_desc = ipbd_world_desc_default();
    ipbd_body_desc cloth = ipbd_body_desc_preset(IPBD_COTTON);
    isphpbd_result why;
    ipbd_world *world = ipbd_create(&world_desc, &why); /* all the memory there will ever be */
    ipbd_body body;
    int frame;

    cloth.mesh.triangle_count = ipbd_grid(SIDE, SIDE, 1.2f, 1.2f, points, triangles);
    cloth.mesh.positions = points, cloth.mesh.vertex_count = SIDE * SIDE, cloth.mesh.triangles = triangles;
    cloth.pose = ipbd_pose_at(0.0f, 0.8f, 0.0f);
    cloth.still_air = true;                       /* brakes it, as wind carries it */
    body = ipbd_body_create(world, &cloth, &why); /* constraints are derived from the mesh */
    if (!body.id) {
        fprintf(stderr, "hello_cloth: %s\n", isphpbd_result_text(why));
        return 1;
    }
    add_collider(world, ipbd_shape_plane(), 0.0f);
    add_collider(world, ipbd_shape_sphere(0.3f), 0.3f);

    for (frame = 1; frame <= 180; ++frame) {
        ipbd_step(world, 1.0f / 60.0f);
        if (frame % 30 == 0) {
            ipbd_stats stats = ipbd_world_stats(world);
            isphpbd_vec3 corner;
            ipbd_body_vertex(world, body, 0, &corner, NULL);
            printf("%.1f s: corner at %.2f m, %d vertices touch, kinetic energy %.4f J\n", frame / 60.0,
                   (double)corner.y, stats.collider_contacts, stats.kinetic_energy);
        }
    }
    if (argc > 1) write_obj(world, body, cloth.mesh.triangle_count, argv[1]);
    ipbd_destroy(world);
    return 0;
}
