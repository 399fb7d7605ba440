/* world_mixed.h - one small tank with a bit of everything, for tests of budgets, snapshots, bad input and bits: water,
   cloth, jelly, a rigid body, a moving paddle, an emitter and a sink. No function of libm decides what happens in it,
   so it has the same bits everywhere. Include after isphpbd.h. C99 and C++11.
   SPDX-License-Identifier: MIT */
#ifndef WORLD_MIXED_H
#define WORLD_MIXED_H

#include "world_fixture.h"

enum {
    MIXED_WATER = 1,
    MIXED_CLOTH = 2,
    MIXED_JELLY = 4,
    MIXED_BODY = 8,
    MIXED_PADDLE = 16,
    MIXED_EMITTER = 32, /* with a sink */
    MIXED_BALLOON = 64,
    MIXED_ALL = 127
};

typedef struct mixed {
    isphpbd_world *world;
    int parts, steps;
    isphpbd_fluid water;
    isphpbd_collider room, paddle;
    isphpbd_body body;
    isphpbd_soft cloth, jelly, balloon;
    isphpbd_emitter emitter;
    isphpbd_sink sink;
} mixed;

FIXTURE_FN isphpbd_soft_desc mixed_cloth_desc(const fixture_mesh *m) {
    isphpbd_soft_desc d = world_soft_desc(m, IPBD_COTTON);
    d.body.pose.position = isphpbd_v3(0.0f, 0.55f, 0.0f);
    return d;
}
FIXTURE_FN isphpbd_soft_desc mixed_jelly_desc(const fixture_mesh *m) {
    isphpbd_soft_desc d = world_soft_desc(m, IPBD_JELLY);
    d.body.pose.position = isphpbd_v3(0.22f, 0.3f, 0.2f), d.body.density = 600.0f;
    return d;
}
FIXTURE_FN isphpbd_soft_desc mixed_balloon_desc(const fixture_mesh *m) {
    isphpbd_soft_desc d = world_soft_desc(m, IPBD_BALLOON);
    d.body.pose.position = isphpbd_v3(-0.2f, 0.35f, 0.2f);
    return d;
}

FIXTURE_FN void mixed_add_softs(mixed *m, const isphpbd_soft_desc *cloth, const isphpbd_soft_desc *jelly,
                                const isphpbd_soft_desc *balloon) {
    if (m->parts & MIXED_CLOTH) m->cloth = world_soft(m->world, cloth);
    if (m->parts & MIXED_JELLY) m->jelly = world_soft(m->world, jelly);
    if (m->parts & MIXED_BALLOON) m->balloon = world_soft(m->world, balloon);
}

FIXTURE_FN void mixed_add_body(mixed *m) {
    isphpbd_body_desc d = isphpbd_body_desc_default();
    isphpbd_result why = ISPHPBD_OK;
    d.shape = isphpbd_shape_box(0.1f, 0.08f, 0.1f), d.mass = 4.0f;
    d.motion = isphpbd_motion_at(isphpbd_v3(-0.15f, 0.4f, -0.15f));
    d.motion.angular_velocity = isphpbd_v3(0.5f, 1.0f, 0.0f), d.surface.slip = 0.5f;
    m->body = isphpbd_body_create(m->world, &d, &why);
    world_demand(m->body.id != 0, "create a body", why);
}

FIXTURE_FN void mixed_add_paddle(mixed *m) {
    isphpbd_collider_desc d = isphpbd_collider_desc_default();
    d.shape = isphpbd_shape_capsule(0.06f, 0.1f);
    d.pose.position = isphpbd_v3(0.25f, 0.15f, -0.2f), d.surface.slip = 0.2f;
    m->paddle = world_collider(m->world, &d);
}

FIXTURE_FN void mixed_add_emitter(mixed *m) {
    isphpbd_emitter_desc d = isphpbd_emitter_desc_default();
    const isphpbd_shape drain = isphpbd_shape_sphere(0.08f);
    isphpbd_result why = ISPHPBD_OK;
    d.fluid = m->water, d.position = isphpbd_v3(0.1f, 0.9f, 0.1f), d.direction = isphpbd_v3(0.2f, -1.0f, 0.0f);
    d.radius = 0.08f, d.speed = 2.0f, d.lifetime = 1.0f;
    m->emitter = isphpbd_emitter_create(m->world, &d, &why);
    world_demand(m->emitter.id != 0, "create an emitter", why);
    m->sink = isphpbd_sink_create(m->world, &drain, isphpbd_pose_at(isphpbd_v3(0.35f, 0.05f, 0.35f)), ~0u, &why);
    world_demand(m->sink.id != 0, "create a sink", why);
}

/* `desc` as the caller wants it; its room for soft bodies is found here. */
FIXTURE_FN mixed mixed_make(isphpbd_world_desc desc, int parts) {
    fixture_mesh sheet = mesh_sheet(6, 0.7, 0.1, true), block = mesh_block(2, 2, 2, 0.2, 0.2, 0.2);
    fixture_mesh ball = mesh_sphere(0.12, 2);
    const isphpbd_soft_desc cloth = mixed_cloth_desc(&sheet), jelly = mixed_jelly_desc(&block);
    const isphpbd_soft_desc balloon = mixed_balloon_desc(&ball);
    mixed m;
    memset(&m, 0, sizeof m);
    m.parts = parts;
    desc.capacity.soft = ipbd_capacity_none();
    world_count_soft(&desc, &cloth), world_count_soft(&desc, &jelly), world_count_soft(&desc, &balloon);
    m.world = world_make(&desc);
    m.room = world_room(m.world, vec3d_make(-0.4, 0.0, -0.4), vec3d_make(0.4, 4.0, 0.4), 0.8f);
    m.water = world_water(m.world);
    if (parts & MIXED_WATER) {
        (void)world_fill(m.world, m.water, vec3d_make(-0.4, 0.0, -0.4), vec3d_make(0.4, 0.2, 0.4), vec3d_make(0, 0, 0));
        (void)world_fill(m.world, m.water, vec3d_make(-0.15, 0.65, -0.15), vec3d_make(0.15, 0.8, 0.15),
                         vec3d_make(0, 0, 0));
    }
    mixed_add_softs(&m, &cloth, &jelly, &balloon);
    if (parts & MIXED_BODY) mixed_add_body(&m);
    if (parts & MIXED_PADDLE) mixed_add_paddle(&m);
    if (parts & MIXED_EMITTER) mixed_add_emitter(&m);
    mesh_free(&sheet), mesh_free(&block), mesh_free(&ball);
    return m;
}

FIXTURE_FN isphpbd_world_desc mixed_desc(void) {
    isphpbd_world_desc desc = world_desc(3000);
    desc.capacity.emitters = desc.capacity.sinks = desc.capacity.fluids = 4;
    return desc;
}

/* The paddle goes to and fro, and the host takes the world's word for where its body is. */
FIXTURE_FN void mixed_before_step(mixed *m) {
    if (m->parts & MIXED_BODY) {
        isphpbd_motion at;
        if (isphpbd_body_predicted(m->world, m->body, &at) == ISPHPBD_OK) {
            (void)isphpbd_body_put(m->world, m->body, &at);
        }
    }
    if (m->parts & MIXED_PADDLE) {
        const int phase = m->steps % 80, way = phase < 40 ? phase : 80 - phase;
        (void)isphpbd_collider_move(m->world, m->paddle,
                                    isphpbd_pose_at(isphpbd_v3(0.25f, 0.15f, -0.2f + 0.01f * (float)way)));
    }
}

FIXTURE_FN isphpbd_step_info mixed_step(mixed *m, float seconds) {
    isphpbd_step_info info;
    mixed_before_step(m);
    info = isphpbd_world_step(m->world, seconds);
    m->steps++;
    if (m->parts & MIXED_BODY) {
        isphpbd_impulse push;
        (void)isphpbd_body_take(m->world, m->body, &push);
    }
    return info;
}

FIXTURE_FN uint32_t mixed_run(mixed *m, int steps) {
    uint32_t flags = 0;
    for (int i = 0; i < steps; i++) flags |= mixed_step(m, WORLD_STEP).flags;
    return flags;
}

FIXTURE_FN void mixed_end(mixed *m) {
    isphpbd_world_destroy(m->world);
    m->world = NULL;
}

/* Nothing is broken, nothing went astray: finite, in the room (with a spacing to spare), and counted. */
FIXTURE_FN bool mixed_sane(const mixed *m, int added) {
    const isphpbd_points p = isphpbd_fluid_points(m->world);
    const isphpbd_soft softs[3] = {m->cloth, m->jelly, m->balloon};
    const isphpbd_stats s = isphpbd_world_stats(m->world);
    if (world_broken(m->world, softs, 3) != 0) return false;
    for (int i = 0; i < p.count; i++) {
        const vec3d x = points_position(&p, i);
        if (fabs(x.x) > 0.45 || fabs(x.z) > 0.45 || x.y < -0.05 || x.y > 4.05) return false;
    }
    return p.count == s.fluid_particles && added + s.total_emitted - s.total_removed - s.total_culled == p.count;
}

#endif /* WORLD_MIXED_H */
