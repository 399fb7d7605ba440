/* hello_engine.c - rigid bodies of a host engine in water: state in, impulses out. host.h is the engine here; with your
   own, put its motions and take the impulses in the same two places. SPDX: MIT

   cc -std=c99 -O2 -ffp-contract=off -I. examples/hello_engine.c -o hello_engine -lm */
#include <stdio.h>
#define ISPHPBD_IMPLEMENTATION
#define EXAMPLES_IMPLEMENTATION
#include "isphpbd.h"

#include "host.h"

enum { CRATES = 3 };

int main(void) {
    static const float density[CRATES] = {200.0f, 500.0f, 800.0f}; /* kg/m^3: wood from light to wet */
    const float half = 0.1f, frame_seconds = 1.0f / 60.0f;
    isphpbd_world_desc desc = isphpbd_world_desc_default();
    isphpbd_fluid_desc water = isphpbd_fluid_desc_default();
    isphpbd_collider_desc tank = isphpbd_collider_desc_default();
    isphpbd_body bodies[CRATES];
    isphpbd_result why;
    isphpbd_world *world;
    host *engine = host_create(desc.gravity);
    int frame, i;

    /* A tank of 1.2 m x 0.6 m, filled 0.4 m high. */
    desc.spacing = 0.03f;
    world = isphpbd_world_create(&desc, &why);
    if (!world || !engine) return printf("%s\n", isphpbd_result_text(why)), 1;
    tank.shape = isphpbd_shape_box(0.6f, 1.0f, 0.3f), tank.container = true, tank.pose.position.y = 1.0f;
    isphpbd_collider_create(world, &tank, &why);
    isphpbd_fluid_add_box(world, isphpbd_fluid_create(world, &water, &why), isphpbd_v3(-0.6f, 0.0f, -0.3f),
                          isphpbd_v3(0.6f, 0.4f, 0.3f), isphpbd_v3(0.0f, 0.0f, 0.0f), NULL);

    /* The engine gets the floor and the walls too: it keeps its own contacts. */
    host_add_plane(engine, isphpbd_v3(0, 1, 0), 0.0f);
    host_add_plane(engine, isphpbd_v3(1, 0, 0), -0.6f), host_add_plane(engine, isphpbd_v3(-1, 0, 0), -0.6f);
    host_add_plane(engine, isphpbd_v3(0, 0, 1), -0.3f), host_add_plane(engine, isphpbd_v3(0, 0, -1), -0.3f);

    /* Each crate is a body of the engine and known to the world by shape, mass and inertia. */
    for (i = 0; i < CRATES; ++i) {
        isphpbd_body_desc crate = isphpbd_body_desc_default();
        int body = host_add_box(engine, isphpbd_v3(half, half, half), 8.0f * half * half * half * density[i],
                                isphpbd_v3(0.4f * (float)(i - 1), 0.6f, 0.0f));
        crate.shape = isphpbd_shape_box(half, half, half);
        crate.mass = engine->bodies[body].mass, crate.motion = engine->bodies[body].motion;
        bodies[i] = isphpbd_body_create(world, &crate, &why);
    }

    for (frame = 1; frame <= 240; ++frame) {
        for (i = 0; i < CRATES; ++i) isphpbd_body_put(world, bodies[i], &engine->bodies[i].motion); /* state in */
        isphpbd_world_step(world, frame_seconds);
        for (i = 0; i < CRATES; ++i) { /* impulses out */
            isphpbd_impulse push;
            isphpbd_body_take(world, bodies[i], &push);
            host_push(engine, i, &push);
        }
        host_step(engine, frame_seconds); /* gravity, contacts, motion */
        if (frame % 60 == 0) {
            printf("%.0f s:", frame / 60.0);
            for (i = 0; i < CRATES; ++i)
                printf("  %3.0f kg/m^3 at %.3f m", (double)density[i],
                       (double)engine->bodies[i].motion.pose.position.y);
            printf("\n");
        }
    }
    isphpbd_world_destroy(world);
    host_destroy(engine);
    return 0;
}
