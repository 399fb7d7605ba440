/* world_scene.h - a small world with one of everything: water in a tank, an emitter, a sink, a hanging cloth, a jelly,
   a floating body with a simple host, and a collider that stirs. Include after isphpbd.h.
   SPDX-License-Identifier: MIT */
#ifndef WORLD_SCENE_H
#define WORLD_SCENE_H

#include "fixture.h"

enum { SCENE_CLOTH = 7, SCENE_CELLS = 2, SCENE_CORNERS = SCENE_CELLS + 1 };

typedef struct world_scene {
    isphpbd_world *world;
    isphpbd_fluid water;
    isphpbd_body body;
    isphpbd_collider paddle;
    isphpbd_soft cloth, jelly;
    isphpbd_motion motion; /* of the body, as the host knows it */
    float mass;
    int steps;
} world_scene;

FIXTURE_FN isphpbd_world_desc scene_desc(void) {
    isphpbd_world_desc desc = isphpbd_world_desc_default();
    const int soft[16] = {4, 256, 256, 512, 2048, 64, 1024, 64, 512, 64, 8, 64, 64, 1024, 2, 64};
    memcpy(&desc.capacity.soft, soft, sizeof soft);
    desc.capacity.fluid_particles = 2048, desc.capacity.mesh_triangles = 64;
    desc.capacity.colliders = desc.capacity.bodies = 4;
    desc.capacity.fluids = desc.capacity.emitters = desc.capacity.sinks = 2;
    desc.spacing = 0.06f;
    return desc;
}

FIXTURE_FN void scene_add_water(world_scene *s) {
    isphpbd_fluid_desc water = isphpbd_fluid_desc_default();
    isphpbd_emitter_desc hose = isphpbd_emitter_desc_default();
    isphpbd_shape drain = isphpbd_shape_sphere(0.1f);
    s->water = isphpbd_fluid_create(s->world, &water, NULL);
    (void)isphpbd_fluid_add_box(s->world, s->water, isphpbd_v3(-0.4f, 0.0f, -0.3f), isphpbd_v3(0.4f, 0.3f, 0.3f),
                                isphpbd_v3(0.0f, 0.0f, 0.0f), NULL);
    hose.fluid = s->water, hose.position = isphpbd_v3(0.2f, 0.8f, 0.0f), hose.radius = 0.08f;
    (void)isphpbd_emitter_create(s->world, &hose, NULL);
    (void)isphpbd_sink_create(s->world, &drain, isphpbd_pose_at(isphpbd_v3(-0.4f, 0.0f, 0.3f)), ~0u, NULL);
}
FIXTURE_FN void scene_add_solids(world_scene *s) {
    isphpbd_collider_desc solid = isphpbd_collider_desc_default();
    isphpbd_body_desc body = isphpbd_body_desc_default();
    solid.shape = isphpbd_shape_box(0.4f, 0.6f, 0.3f), solid.container = true, solid.pose.position.y = 0.6f;
    (void)isphpbd_collider_create(s->world, &solid, NULL);
    solid.shape = isphpbd_shape_capsule(0.06f, 0.1f), solid.container = false;
    solid.pose.position = isphpbd_v3(0.25f, 0.15f, 0.0f);
    s->paddle = isphpbd_collider_create(s->world, &solid, NULL);
    s->mass = 2.0f, s->motion = isphpbd_motion_at(isphpbd_v3(0.0f, 0.4f, 0.1f));
    body.shape = isphpbd_shape_sphere(0.1f), body.mass = s->mass, body.motion = s->motion;
    s->body = isphpbd_body_create(s->world, &body, NULL);
}
FIXTURE_FN void scene_add_softs(world_scene *s) {
    float positions[3 * SCENE_CLOTH * SCENE_CLOTH];
    uint32_t indices[6 * (SCENE_CLOTH - 1) * (SCENE_CLOTH - 1)], corners[2] = {0, SCENE_CLOTH - 1};
    isphpbd_soft_desc desc = isphpbd_soft_desc_default();
    desc.body = ipbd_body_desc_preset(IPBD_COTTON);
    desc.body.mesh.triangle_count = ipbd_grid(SCENE_CLOTH, SCENE_CLOTH, 0.5f, 0.4f, positions, indices);
    desc.body.mesh.positions = positions, desc.body.mesh.triangles = indices;
    desc.body.mesh.vertex_count = SCENE_CLOTH * SCENE_CLOTH, desc.body.pose = ipbd_pose_at(0.0f, 0.38f, 0.0f);
    desc.body.pinned = corners, desc.body.pinned_count = 2;
    s->cloth = isphpbd_soft_create(s->world, &desc, NULL);
    desc = isphpbd_soft_desc_default();
    desc.body = ipbd_body_desc_preset(IPBD_JELLY);
    desc.body.mesh.tetrahedron_count =
        ipbd_block(SCENE_CELLS, SCENE_CELLS, SCENE_CELLS, isphpbd_v3(0.15f, 0.15f, 0.15f), positions, indices);
    desc.body.mesh.positions = positions, desc.body.mesh.tetrahedra = indices;
    desc.body.mesh.vertex_count = SCENE_CORNERS * SCENE_CORNERS * SCENE_CORNERS;
    desc.body.pose = ipbd_pose_at(-0.2f, 0.6f, 0.0f);
    s->jelly = isphpbd_soft_create(s->world, &desc, NULL);
}

/* False when anything of it could not be made. */
FIXTURE_FN bool scene_fill(world_scene *s, isphpbd_world *world) {
    memset(s, 0, sizeof *s);
    s->world = world;
    scene_add_water(s), scene_add_solids(s), scene_add_softs(s);
    return s->water.id && s->body.id && s->paddle.id && s->cloth.id && s->jelly.id;
}

/* A frame of a host: the paddle swings, the body goes where gravity and the impulses take it. */
FIXTURE_FN isphpbd_step_info scene_step(world_scene *s) {
    const float dt = 1.0f / 60.0f;
    isphpbd_step_info info;
    isphpbd_impulse push;
    memset(&push, 0, sizeof push);
    (void)isphpbd_collider_move(s->world, s->paddle,
                                isphpbd_pose_at(isphpbd_v3(s->steps / 20 % 2 ? 0.2f : 0.25f, 0.15f, 0.0f)));
    (void)isphpbd_body_put(s->world, s->body, &s->motion);
    info = isphpbd_world_step(s->world, dt);
    (void)isphpbd_body_take(s->world, s->body, &push);
    s->motion.linear_velocity.x += push.linear.x / s->mass;
    s->motion.linear_velocity.y += push.linear.y / s->mass - 9.81f * dt;
    s->motion.linear_velocity.z += push.linear.z / s->mass;
    s->motion.pose.position.x += dt * s->motion.linear_velocity.x;
    s->motion.pose.position.y += dt * s->motion.linear_velocity.y;
    s->motion.pose.position.z += dt * s->motion.linear_velocity.z;
    s->steps++;
    return info;
}

#endif /* WORLD_SCENE_H */
