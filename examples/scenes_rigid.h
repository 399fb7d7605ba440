/* scenes_rigid.h - water with rigid bodies of the host: the scenes of Becker, Tessendorf, Teschner 2009, "Direct
   forcing for Lagrangian rigid-fluid coupling"; included by scenes.h. SPDX: MIT */

static isphpbd_quat scene_turn_z(float angle) { /* radians */
    isphpbd_quat q;
    q.x = q.y = 0.0f, q.z = sinf(0.5f * angle), q.w = cosf(0.5f * angle);
    return q;
}

static vec3 scene_into_body(const scene *s, const scene_object *o, vec3 p) { /* world to local coordinates */
    const isphpbd_pose *pose = &scene_host_body(s, o)->motion.pose;
    isphpbd_quat back = pose->rotation;
    back.x = -back.x, back.y = -back.y, back.z = -back.z;
    return scene_rotate(back, v3_sub(p, pose->position));
}

static float scene_body_height(const scene *s, const scene_object *o) {
    return scene_host_body(s, o)->motion.pose.position.y;
}

static void mesh_move(mesh *m, vec3 by) {
    int i;
    for (i = 0; i < m->vertex_count; ++i) m->vertices[i] = v3_add(m->vertices[i], by);
}

/* ---- sinking_ship: figure 5. An open hull of no thickness with a hole fills and goes down ------------------------ */

#define SHIP_LENGTH 1.2f
#define SHIP_BEAM   0.44f
#define SHIP_DEPTH  0.32f
#define SHIP_KEEL   0.11f /* m, centre of mass above the keel */
#define SHIP_LEVEL  0.54f /* m, of the water */

/* Between the plates; in the ship's coordinates. */
static bool ship_holds(vec3 p) {
    float along = p.x / SHIP_LENGTH + 0.5f, up = (p.y + SHIP_KEEL) / SHIP_DEPTH;
    if (along <= 0.0f || along >= 1.0f || up <= 0.0f || up >= 1.0f) return false;
    return fabsf(p.z) < 0.5f * SHIP_BEAM * hull_breadth(along, up);
}

/* m: how deep an intact hull of this mass (kg) floats, by Archimedes. */
static float ship_draught(float mass) {
    enum { ACROSS = 40 };
    const float cell = SHIP_LENGTH / ACROSS, layer = 0.005f;
    float volume = 0.0f, up;
    int i;
    for (up = 0.0f; up < SHIP_DEPTH && 1000.0f * volume < mass; up += layer)
        for (i = 0; i < ACROSS; ++i)
            volume +=
                layer * cell * SHIP_BEAM * hull_breadth(((float)i + 0.5f) / ACROSS, (up + 0.5f * layer) / SHIP_DEPTH);
    return up;
}

/* Where water is at the start: outside, with its ball of half a spacing. */
static bool ship_floats_here(const scene *s, vec3 p) {
    vec3 q = scene_into_body(s, &s->objects[1], p);
    float r = 0.5f * s->spacing;
    return !(ship_holds(q) || ship_holds(v3_add(q, v3(r, 0, 0))) || ship_holds(v3_add(q, v3(-r, 0, 0))) ||
             ship_holds(v3_add(q, v3(0, r, 0))) || ship_holds(v3_add(q, v3(0, 0, r))) ||
             ship_holds(v3_add(q, v3(0, 0, -r))));
}

static bool ship_build(scene *s) {
    static const float hole[2] = {0.36f, 0.50f};
    isph_material_desc water = scene_water(s);
    scene_object *o;
    float mass = scene_setting(s, "mass", 40.0f);
    mesh hull;
    s->look[0] = render_water(0.8f);
    if (!scene_start_fluid(s, 0.03f, SHIP_LEVEL, 2.0f * 1.0f * SHIP_LEVEL, &water)) return false;
    if (!scene_tank(s, v3(-1.0f, 0, -0.5f), v3(1.0f, 0.9f, 0.5f)) || !scene_frame_tank(s)) return false;
    memset(&hull, 0, sizeof hull);
    mesh_hull(&hull, SHIP_LENGTH, SHIP_BEAM, SHIP_DEPTH, 30, hole, 0.17f);
    mesh_move(&hull, v3(0, -SHIP_KEEL, 0));
    o = scene_mesh_body(s, &hull, false, false, mass, v3(0, SHIP_LEVEL + SHIP_KEEL - ship_draught(mass), 0),
                        v3(0.45f, 0.10f, 0.07f));
    if (!o) return false;
    o->guard = GUARD_PARTS;
    scene_camera(s, v3(-1.02f, 0, -0.52f), v3(1.02f, 1.0f, 0.52f), 24.0f, 20.0f);
    return scene_add_where(s, s->liquid[0], v3(-1.0f, 0, -0.5f), v3(1.0f, SHIP_LEVEL, 0.5f), ship_floats_here);
}

static int ship_filling(const scene *s) { /* particles between the plates */
    int i, inside = 0;
    for (i = 0; i < s->point_count; ++i) inside += ship_holds(scene_into_body(s, &s->objects[1], s->points[i]));
    return inside;
}

static void ship_measure(scene *s) { /* custom[0]: highest of the centre once afloat, [1]: filling after 0.5 s */
    float *m = s->measures.custom;
    if (s->time > 0.4f) m[0] = fmaxf(m[0], scene_body_height(s, &s->objects[1]));
    if (m[1] == 0.0f && s->time >= 0.5f) m[1] = (float)ship_filling(s);
}

static void ship_check(scene *s) {
    float volume = s->spacing * s->spacing * s->spacing;
    if (!scene_complete(s)) return;
    /* by Torricelli its hole lets in 20 l/s: after 0.4 s it is hardly deeper than at the start */
    scene_check_least(s, "floated_first_at_m", (double)s->measures.custom[0], (double)(SHIP_LEVEL - 0.15f));
    scene_check_least(s, "filled_litres", 1000.0 * (double)((float)ship_filling(s) * volume), 30.0);
    scene_check_most(s, "sank_to_m", (double)scene_body_height(s, &s->objects[1]), 2.0 * (double)SHIP_KEEL);
    scene_check_volume(s, 0.03);
}

/* ---- vessel: figure 6. A bowl of no thickness falls into a basin and stays dry ----------------------------------- */

#define VESSEL_RADIUS 0.36f
#define VESSEL_HEIGHT 0.30f
#define VESSEL_MASS   24.0f
#define VESSEL_CENTRE 0.10f /* m, centre of mass above its lowest point */
#define VESSEL_LEVEL  0.42f

static bool vessel_build(scene *s) {
    enum { RINGS = 12 };
    isph_material_desc water = scene_water(s);
    mesh_profile profile[RINGS + 1];
    scene_object *o;
    mesh bowl;
    int i;
    s->look[0] = render_water(0.8f);
    if (!scene_start_fluid(s, 0.03f, VESSEL_LEVEL, 1.5f * 1.5f * VESSEL_LEVEL, &water)) return false;
    if (!scene_tank(s, v3(-0.75f, 0, -0.75f), v3(0.75f, 0.75f, 0.75f)) || !scene_frame_tank(s)) return false;
    for (i = 0; i <= RINGS; ++i) {
        float t = (float)i / (float)RINGS;
        profile[i].radius = VESSEL_RADIUS * sinf(1.5707963f * t);
        profile[i].height = VESSEL_HEIGHT * (1.0f - cosf(1.5707963f * t)) - VESSEL_CENTRE;
    }
    memset(&bowl, 0, sizeof bowl);
    mesh_revolve(&bowl, profile, RINGS + 1, 40);
    o = scene_mesh_body(s, &bowl, false, false, scene_setting(s, "mass", VESSEL_MASS),
                        v3(0.05f, VESSEL_LEVEL + VESSEL_CENTRE + 0.06f, 0), v3(0.55f, 0.36f, 0.16f));
    if (!o) return false;
    o->guard = GUARD_PARTS;
    scene_camera(s, v3(-0.77f, 0, -0.77f), v3(0.77f, 0.85f, 0.77f), 24.0f, 26.0f);
    return scene_add_box(s, s->liquid[0], v3(-0.75f, 0, -0.75f), v3(0.75f, VESSEL_LEVEL, 0.75f));
}

/* Litres below the level at which water of this volume stands round the bowl. */
static double vessel_displaced(const scene *s) {
    float area = (s->tank_hi.x - s->tank_lo.x) * (s->tank_hi.z - s->tank_lo.z), level = scene_rest_level(s);
    double volume = 0.0;
    int k;
    for (k = 0; k < 20; ++k) volume = scene_volume_below(&s->objects[1], level + (float)volume / area);
    return 1000.0 * volume;
}

/* custom[0]: most particles inside, below the rim, [1], [2]: sum and number of what it displaces, from half time on */
static void vessel_measure(scene *s) {
    int i, inside = 0;
    for (i = 0; i < s->point_count; ++i) {
        vec3 p = scene_into_body(s, &s->objects[1], s->points[i]);
        float up = (p.y + VESSEL_CENTRE) / VESSEL_HEIGHT, radius;
        if (up <= 0.0f || up >= 1.0f) continue;
        radius = VESSEL_RADIUS * sinf(acosf(1.0f - up)) - 0.5f * s->spacing;
        inside += p.x * p.x + p.z * p.z < radius * radius;
    }
    s->measures.custom[0] = fmaxf(s->measures.custom[0], (float)inside);
    if (s->time > 0.5f * s->def->seconds)
        s->measures.custom[1] += (float)vessel_displaced(s), s->measures.custom[2] += 1.0f;
}

static void vessel_check(scene *s) {
    const float *m = s->measures.custom;
    scene_check_most(s, "particles_inside", (double)m[0], 0);
    if (scene_complete(s)) /* it still bobs: on average it displaces its weight */
        scene_check_most(s, "displaced_mass_error",
                         fabs((double)(m[1] / m[2] / scene_host_body(s, &s->objects[1])->mass) - 1.0), 0.15);
}

/* ---- slip_ramp: figure 7. Three ramps side by side: no slip, some, free ------------------------------------------ */

#define RAMP_LENGTH 1.3f
#define RAMP_HIGH   0.75f
#define RAMP_LOW    0.15f
#define RAMP_LANE   0.30f /* m, width */
#define RAMP_SPEED  0.8f  /* m/s at the mouth */
#define RAMP_MOUTH  0.10f /* m along the ramp */

static const float ramp_slip[3] = {0.0f, 0.97f, 1.0f}; /* the middle one loses 3 % of its speed per 5 ms */
static float ramp_middle(int lane) { return ((float)lane - 1.0f) * (RAMP_LANE + 0.04f); }

static bool ramp_lane(scene *s, int lane) {
    isphpbd_emitter_desc mouth = isphpbd_emitter_desc_default();
    float z = ramp_middle(lane), half = 0.5f * RAMP_LANE + 0.02f, thick = 2.0f * s->spacing;
    vec3 down = v3_unit(v3(RAMP_LENGTH, RAMP_LOW - RAMP_HIGH, 0)), up = v3(-down.y, down.x, 0);
    isphpbd_result why = ISPHPBD_OK;
    mesh wedge;
    int i;
    memset(&wedge, 0, sizeof wedge);
    mesh_box(&wedge, v3(0, -0.1f, z - half), v3(RAMP_LENGTH, RAMP_HIGH, z + half));
    for (i = 0; i < wedge.vertex_count; ++i)
        if (wedge.vertices[i].x > 0.0f && wedge.vertices[i].y > 0.0f) wedge.vertices[i].y = RAMP_LOW;
    if (!scene_solid(s, &wedge, v3(0, 0, 0), v3_scale(scene_stone, 0.6f + 0.4f * ramp_slip[lane]), ramp_slip[lane],
                     true))
        return false;
    s->objects[s->object_count - 1].flat = true;
    mouth.fluid = s->liquid[0];
    mouth.position = v3_add(v3_madd(v3(0, RAMP_HIGH, z), down, RAMP_MOUTH), v3_scale(up, thick + 0.5f * s->spacing));
    mouth.direction = down, mouth.speed = RAMP_SPEED;
    mouth.radius = 0.0f, mouth.half_width = 0.5f * RAMP_LANE, mouth.half_height = thick;
    return isphpbd_emitter_create(s->world, &mouth, &why).id ? true : scene_fail(s, "emitter", why);
}

static bool ramp_build(scene *s) {
    isph_material_desc water = scene_water(s);
    float side = 1.5f * RAMP_LANE + 0.06f;
    int i;
    s->look[0] = render_water(0.15f), s->foam = 0.2f;
    if (!scene_start_fluid(s, 0.016f, RAMP_LANE, 3.0f * RAMP_LANE * 0.08f * RAMP_SPEED * s->seconds, &water))
        return false;
    if (!scene_tank(s, v3(0, 0, -side), v3(2.1f, 0.25f, side)) || !scene_frame_tank(s)) return false;
    for (i = 0; i < 3; ++i)
        if (!ramp_lane(s, i)) return false;
    for (i = 0; i < 4; ++i) { /* walls between the lanes, as high as the water needs */
        float z = ((float)i - 1.5f) * (RAMP_LANE + 0.04f), angle = atan2f(RAMP_LOW - RAMP_HIGH, RAMP_LENGTH);
        scene_object *wall = scene_box(s, v3(0.5f * RAMP_LENGTH, 0.5f * (RAMP_LOW + RAMP_HIGH), z),
                                       v3(0.5f * RAMP_LENGTH / cosf(angle), 0.10f, 0.02f), scene_steel);
        isphpbd_pose pose;
        if (!wall || isphpbd_collider_pose(s->world, wall->collider, &pose) != ISPHPBD_OK) return false;
        pose.rotation = scene_turn_z(angle);
        isphpbd_collider_teleport(s->world, wall->collider, pose);
    }
    scene_camera(s, v3(0, 0, -side), v3(2.1f, 0.85f, side), 38.0f, 22.0f);
    return true;
}

/* custom[i], [3 + i]: sum and number of the speeds of particles in the lowest quarter of lane i */
static void ramp_measure(scene *s) {
    isph_view view = isph_particles(s->fluid);
    float *m = s->measures.custom;
    int i, lane;
    if (s->time < 0.5f * s->seconds) return;
    for (i = 0; i < view.count; ++i) {
        vec3 p = scene_position(&view, i);
        if (p.x < 0.75f * RAMP_LENGTH || p.x > 0.95f * RAMP_LENGTH) continue;
        for (lane = 0; lane < 3; ++lane)
            if (fabsf(p.z - ramp_middle(lane)) < 0.4f * RAMP_LANE) {
                m[lane] += scene_velocity(&view, i).x * sqrtf(1.0f + powf((RAMP_HIGH - RAMP_LOW) / RAMP_LENGTH, 2.0f));
                m[3 + lane] += 1.0f;
            }
    }
}

/* m/s at 0.85 of a smooth ramp: v dv/ds = g sin - Cf / 2 v^2 / h, where the layer thins as it gets faster, h v = const.
   The wall's Cf is 0.01 (isphpbd_sph.h, viscous_grip). */
static double ramp_theory(const scene *s) {
    enum { PIECES = 1000 };
    double length = hypot((double)RAMP_LENGTH, (double)(RAMP_HIGH - RAMP_LOW));
    double pull = 9.81 * (double)(RAMP_HIGH - RAMP_LOW) / length, way = 0.85 * length - (double)RAMP_MOUTH;
    double flow = 4.0 * (double)(s->spacing * RAMP_SPEED), speed2 = (double)(RAMP_SPEED * RAMP_SPEED);
    int i;
    for (i = 0; i < PIECES; ++i) speed2 += 2.0 * way / PIECES * (pull - 0.005 * speed2 * sqrt(speed2) / flow);
    return sqrt(speed2);
}

static void ramp_check(scene *s) {
    const float *m = s->measures.custom;
    double theory = ramp_theory(s), speed[3];
    int i;
    if (!scene_complete(s)) return;
    for (i = 0; i < 3; ++i) speed[i] = (double)(m[i] / fmaxf(m[3 + i], 1.0f));
    scene_check_most(s, "free_slip_speed_error", fabs(speed[2] / theory - 1.0), 0.06);
    scene_check_most(s, "no_slip_to_free_slip", speed[0] / speed[2], 0.60);
    scene_check_most(s, "some_slip_to_free_slip", speed[1] / speed[2], 0.97);
    scene_check_least(s, "some_slip_to_no_slip", speed[1] / speed[0], 1.05);
}

/* ---- impact: figure 8. An asteroid that water cannot stop -------------------------------------------------------- */

#define IMPACT_RADIUS 0.17f
#define IMPACT_SPEED  14.0f

static float impact_relief(vec3 p) { /* a lumpy stone; p is unit */
    return 1.0f + 0.13f * sinf(3.1f * p.x + 1.0f) * sinf(2.7f * p.y) + 0.09f * sinf(5.3f * p.z + 2.0f * p.x) +
           0.05f * sinf(8.0f * p.y - 3.0f * p.z);
}

static bool impact_build(scene *s) {
    isph_material_desc water = scene_water(s);
    const float half = 1.2f, level = 0.5f;
    vec3 direction = v3_unit(v3(0.6f, -1, 0.15f)), target = v3(-0.1f, level, 0);
    isphpbd_shape shape;
    scene_object *o;
    mesh stone;
    int i, body;
    s->look[0] = render_water(0.9f);
    if (!scene_start_fluid(s, 0.036f, level, 4.0f * half * half * level, &water)) return false;
    if (!scene_tank(s, v3(-half, 0, -half), v3(half, 0.9f, half)) || !scene_frame_tank(s)) return false;
    memset(&stone, 0, sizeof stone);
    mesh_icosphere(&stone, v3(0, 0, 0), 1.0f, 8);
    for (i = 0; i < stone.vertex_count; ++i)
        stone.vertices[i] = v3_scale(stone.vertices[i], IMPACT_RADIUS * impact_relief(stone.vertices[i]));
    body = host_add_mesh(s->bodies, HOST_SHELL, &stone, 60.0f, v3_madd(target, direction, -1.2f));
    shape = scene_mesh_shape(&stone, true);
    o = scene_body(s, body, shape, true, &stone, scene_stone);
    if (!o) return false;
    o->guard = GUARD_KEEPS_OUT;
    scene_host_body(s, o)->motion.linear_velocity = v3_scale(direction, IMPACT_SPEED);
    scene_host_body(s, o)->motion.angular_velocity = v3(1, 2, -3);
    scene_camera(s, v3(-half, 0, -half), v3(half, 1.5f, half), 26.0f, 18.0f);
    return scene_add_box(s, s->liquid[0], v3(-half, 0, -half), v3(half, level, half));
}

static void impact_measure(scene *s) { /* custom[0]: largest share of the water that was faster than the stone */
    isph_view view = isph_particles(s->fluid);
    int i, fast = 0;
    for (i = 0; i < view.count; ++i) fast += v3_length(scene_velocity(&view, i)) > IMPACT_SPEED;
    s->measures.custom[0] = fmaxf(s->measures.custom[0], (float)fast / (float)view.count);
}

static void impact_check(scene *s) {
    if (scene_complete(s)) scene_check_least(s, "splash_m", (double)s->measures.highest, 0.9);
    /* water gives way more slowly than the stone comes; only the thin sheet from under its rim overtakes it, by factors
       of 2 to 10 (Thoroddsen et al. 2004, "Impact jetting by a solid sphere"). By Wagner's theory (1932) the rim of the
       contact, at radius a, runs at 3 R V / (2 a) and the sheet twice as fast; the narrowest contact that particles can
       show is one spacing wide */
    scene_check_most(s, "share_faster_than_stone", (double)s->measures.custom[0], 0.01);
    scene_check_most(s, "splash_speed_by_impact", (double)(s->measures.top_speed / IMPACT_SPEED),
                     fmin(10.0, (double)(3.0f * IMPACT_RADIUS / s->spacing)));
    scene_check_volume(s, 0.03);
}

/* ---- floating_cuboids: figure 9. Light, a little too heavy, heavy ------------------------------------------------ */

#define CUBOID_SIDE 0.24f
static const float cuboids_density[3] = {400.0f, 1150.0f, 3000.0f};

static bool cuboids_build(scene *s) {
    static const vec3 color[3] = {{0.70f, 0.08f, 0.06f}, {0.12f, 0.45f, 0.12f}, {0.10f, 0.20f, 0.62f}};
    isph_material_desc water = scene_water(s);
    const vec3 hi = {0.85f, 0.9f, 0.35f};
    int i;
    s->look[0] = render_water(0.8f);
    if (!scene_start_fluid(s, 0.024f, 0.48f, 1.7f * 0.7f * 0.48f, &water)) return false;
    if (!scene_tank(s, v3(-hi.x, 0, -hi.z), hi) || !scene_frame_tank(s)) return false;
    for (i = 0; i < 3; ++i) {
        vec3 place = v3(0.5f * ((float)i - 1.0f), 0.75f, 0.03f * (float)i);
        scene_object *o = scene_box_body(s, v3_all(0.5f * CUBOID_SIDE), cuboids_density[i], place, color[i]);
        if (!o) return false;
        o->guard = GUARD_KEEPS_OUT;
        scene_host_body(s, o)->motion.pose.rotation = scene_turn_z(0.2f);
    }
    scene_camera(s, v3(-hi.x, 0, -hi.z), v3(hi.x, 0.95f, hi.z), 16.0f, 12.0f);
    return scene_add_box(s, s->liquid[0], v3(-hi.x, 0, -hi.z), v3(hi.x, 0.48f, hi.z));
}

static void cuboids_measure(scene *s) { /* custom[i]: when cuboid i touched the floor */
    int i;
    for (i = 0; i < 3; ++i)
        if (s->measures.custom[i] == 0.0f && scene_lowest(&s->objects[1 + i]) < 0.02f) s->measures.custom[i] = s->time;
}

static void cuboids_check(scene *s) {
    const float *m = s->measures.custom;
    float level = scene_water_level(s);
    if (!scene_complete(s)) return;
    scene_check_most(s, "light_submerged_error", fabs(scene_submerged(&s->objects[1], level) - 0.4), 0.06);
    scene_check_most(s, "light_touched_floor", (double)m[0], 0);
    scene_check_least(s, "medium_touched_floor_s", (double)m[1], 0.1);
    scene_check_least(s, "heavy_touched_floor_s", (double)m[2], 0.1);
    scene_check_least(s, "medium_later_than_heavy_s", (double)(m[1] - m[2]), 0.15);
    scene_check_volume(s, 0.03);
}

/* ---- drag_spheres: figure 10. The same ball in a thin and in a thick liquid -------------------------------------- */

#define DRAG_RADIUS 0.08f
#define DRAG_LEVEL  0.72f
#define DRAG_WALL   0.05f /* m, half the thickness of what parts the liquids */

static bool drag_build(scene *s) {
    isph_material_desc thin = isph_material_desc_default(), thick = isph_material_desc_default();
    const vec3 hi = {DRAG_WALL + 0.48f, 0.95f, 0.24f};
    const float middle = DRAG_WALL + 0.24f;
    int i;
    thin.viscosity = scene_setting(s, "thin", 0.1f), thick.viscosity = scene_setting(s, "thick", 5.0f); /* Pa s */
    if (!scene_start_fluid(s, 0.024f, 0.24f, 0.98f * 0.48f * DRAG_LEVEL, &thin) || !scene_second_fluid(s, &thick))
        return false;
    s->look[0] = render_water(0.7f);
    s->look[1].absorption = v3(0.5f, 1.6f, 7.0f), s->look[1].scatter = v3(0.42f, 0.22f, 0.02f), s->look[1].milky = 1.0f;
    if (!scene_tank(s, v3(-hi.x, 0, -hi.z), hi) || !scene_frame_tank(s)) return false;
    if (!scene_box(s, v3(0, 0.5f, 0), v3(DRAG_WALL, 0.5f, hi.z), scene_steel)) return false;
    for (i = 0; i < 2; ++i) {
        scene_object *o =
            scene_ball_body(s, DRAG_RADIUS, 1300.0f, v3(i ? middle : -middle, DRAG_LEVEL + 0.09f, 0), scene_red);
        if (!o) return false;
        o->guard = GUARD_KEEPS_OUT;
    }
    scene_camera(s, v3(-hi.x, 0, -hi.z), v3(hi.x, 0.98f, hi.z), 14.0f, 8.0f);
    return scene_add_box(s, s->liquid[0], v3(-hi.x, 0, -hi.z), v3(-DRAG_WALL, DRAG_LEVEL, hi.z)) &&
           scene_add_box(s, s->liquid[1], v3(DRAG_WALL, 0, -hi.z), v3(hi.x, DRAG_LEVEL, hi.z));
}

static void drag_measure(scene *s) { /* custom[0], [1]: heights of the balls after 0.8 s */
    float *m = s->measures.custom;
    if (m[0] != 0.0f || s->time < 0.8f - 1e-4f) return;
    m[0] = scene_body_height(s, &s->objects[2]), m[1] = scene_body_height(s, &s->objects[3]);
}

static void drag_check(scene *s) {
    const float *m = s->measures.custom;
    if (s->time < 0.8f) return;
    scene_check_least(s, "thin_deeper_by_m", (double)(m[1] - m[0]), 0.12);
    scene_check_most(s, "thick_sinks_too_m", (double)m[1], (double)(DRAG_LEVEL + 0.05f));
    scene_check_volume(s, 0.03);
}

/* ---- stone_skipping: figures 1 and 11 ---------------------------------------------------------------------------- */

#define STONE_RADIUS  0.13f
#define STONE_HALF    0.030f  /* m, half its thickness */
#define STONE_DENSITY 2650.0f /* kg/m^3: quartz */
#define STONE_LEVEL   0.21f
#define STONE_FLIGHT  0.52f /* m, through the air: two lengths of the stone make a skip, less is a graze */

/* It comes in tilted by about 20 degrees, at which stones skip best, at about as steep a path, and spun, which keeps
   the tilt (Clanet, Hersen, Bocquet 2004, "Secrets of successful stone-skipping"). */
static bool stone_build(scene *s) {
    isph_material_desc water = scene_water(s);
    const float half = 0.36f, length = 8.0f;
    float tilt = scene_setting(s, "tilt", 24.0f) * 0.017453293f;
    host_body *body;
    scene_object *o;
    mesh stone;
    int i;
    s->look[0] = render_water(0.5f);
    if (!scene_start_fluid(s, 0.03f, STONE_LEVEL, length * 2.0f * half * STONE_LEVEL, &water)) return false;
    if (!scene_tank(s, v3(0, 0, -half), v3(length, 0.4f, half)) || !scene_frame_tank(s)) return false;
    memset(&stone, 0, sizeof stone);
    mesh_sphere(&stone, v3(0, 0, 0), STONE_RADIUS, 16);
    for (i = 0; i < stone.vertex_count; ++i) stone.vertices[i].y *= STONE_HALF / STONE_RADIUS;
    o = scene_mesh_body(s, &stone, true, true, 4.18879f * STONE_RADIUS * STONE_RADIUS * STONE_HALF * STONE_DENSITY,
                        v3(0.3f, STONE_LEVEL + 0.22f, 0), scene_stone);
    if (!o) return false;
    o->guard = GUARD_KEEPS_OUT;
    body = scene_host_body(s, o);
    body->motion.pose.rotation = scene_turn_z(tilt);
    body->motion.linear_velocity = v3(scene_setting(s, "speed", 10.0f), -3.0f, 0);
    body->motion.angular_velocity = v3_scale(v3(-sinf(tilt), cosf(tilt), 0), scene_setting(s, "spin", 200.0f));
    scene_camera(s, v3(0, 0, -half), v3(length, 0.45f, half), 62.0f, 17.0f);
    return scene_add_box(s, s->liquid[0], v3(0, 0, -half), v3(length, STONE_LEVEL, half));
}

/* Water, like the floor, tells by a fall that is slower than a free one. custom[0]: skips, [1]: upward speed one step
   before, [2]: x of the last touch, [3]: lowest height of its axis until the second skip, less 1 */
static void stone_measure(scene *s) {
    const isphpbd_motion *motion = &scene_host_body(s, &s->objects[1])->motion;
    float *m = s->measures.custom, up = motion->linear_velocity.y, x = motion->pose.position.x;
    bool touched = up - m[1] > -0.9f * 9.81f * s->dt && s->steps > 1;
    m[1] = up;
    if (m[0] < 2.0f) m[3] = fminf(m[3], scene_rotate(motion->pose.rotation, v3(0, 1, 0)).y - 1.0f);
    if (!touched) return;
    if (m[2] > 0.0f && x - m[2] > STONE_FLIGHT) m[0] += 1.0f;
    m[2] = x;
}

static void stone_check(scene *s) {
    const float *m = s->measures.custom;
    scene_check_volume(s, 0.04);
    if (!scene_complete(s)) return;
    scene_check_least(s, "skips", (double)m[0], 2);
    scene_check_least(s, "axis_up_while_skipping", 1.0 + (double)m[3], 0.7); /* it leans by less than 45 degrees */
    scene_check_most(s, "sank_in_the_end_m", (double)scene_body_height(s, &s->objects[1]), (double)STONE_LEVEL);
}

/* ---- flotsam: figure 12. A wave carries crates, barrels, planks, a ball and a ring to the beach ------------------ */

#define FLOTSAM_LENGTH 4.2f
#define FLOTSAM_HALF   0.8f /* m, half the width */
#define FLOTSAM_BEACH  2.1f /* m, where the slope begins */
#define FLOTSAM_SLOPE  0.35f
#define FLOTSAM_LEVEL  0.38f

/* Columns of whole particles between the beach and the level: a lattice would make steps on the slope. */
static bool flotsam_water(scene *s) {
    enum { MOST = 512 }; /* particles across; a thousand times the scene's own number is 471 */
    const int across = (int)(2.0f * FLOTSAM_HALF / s->spacing + 0.5f);
    const float width = 2.0f * FLOTSAM_HALF / (float)across;
    isphpbd_result why = ISPHPBD_OK;
    float x;
    for (x = 0.5f * s->spacing; why == ISPHPBD_OK; x += s->spacing) {
        vec3 row[MOST];
        float floor = fmaxf(FLOTSAM_SLOPE * (x - FLOTSAM_BEACH), 0.0f), depth = FLOTSAM_LEVEL - floor;
        int high = (int)(depth / s->spacing + 0.5f), y, z, n;
        if (high == 0) return true;
        for (y = 0; y < high; ++y) {
            for (z = n = 0; z < across && n < MOST; ++z)
                row[n++] =
                    v3(x, floor + depth * ((float)y + 0.5f) / (float)high, -FLOTSAM_HALF + width * ((float)z + 0.5f));
            why = isphpbd_fluid_add(s->world, s->liquid[0], &row[0].x, sizeof(vec3), NULL, 0, n, NULL);
        }
    }
    return scene_fail(s, "particles", why);
}

static bool flotsam_ring(scene *s, vec3 place) {
    enum { TUBE = 10, ROUND = 24 };
    mesh ring;
    int i, k;
    memset(&ring, 0, sizeof ring);
    for (i = 0; i < ROUND; ++i)
        for (k = 0; k < TUBE; ++k) {
            float a = 6.2831853f * (float)k / TUBE, b = 6.2831853f * (float)i / ROUND;
            float radius = 0.14f + 0.055f * cosf(a);
            mesh_vertex(&ring, v3(radius * cosf(b), 0.055f * sinf(a), radius * sinf(b)));
        }
    for (i = 0; i < ROUND; ++i)
        for (k = 0; k < TUBE; ++k) {
            uint32_t a = (uint32_t)(i * TUBE + k), b = (uint32_t)(i * TUBE + (k + 1) % TUBE);
            uint32_t c = (uint32_t)((i + 1) % ROUND * TUBE + k),
                     d = (uint32_t)((i + 1) % ROUND * TUBE + (k + 1) % TUBE);
            mesh_triangle(&ring, a, b, d);
            mesh_triangle(&ring, a, d, c);
        }
    return scene_mesh_body(s, &ring, true, false, 4.2f, place, v3(0.78f, 0.10f, 0.06f)) != NULL;
}

static bool flotsam_barrel(scene *s, vec3 place, float turn) {
    static const mesh_profile staves[] = {{0, -0.15f},     {0.085f, -0.15f}, {0.105f, -0.06f}, {0.11f, 0},
                                          {0.105f, 0.06f}, {0.085f, 0.15f},  {0, 0.15f}};
    mesh barrel;
    scene_object *o;
    memset(&barrel, 0, sizeof barrel);
    mesh_revolve(&barrel, staves, 7, 18);
    o = scene_mesh_body(s, &barrel, true, true, 4.5f, place, v3(0.33f, 0.18f, 0.07f));
    if (o) scene_host_body(s, o)->motion.pose.rotation = scene_turn_z(turn);
    return o != NULL;
}

static bool flotsam_bodies(scene *s) {
    const vec3 wood = {0.45f, 0.27f, 0.11f}, pale = {0.62f, 0.47f, 0.26f};
    const float y = FLOTSAM_LEVEL + 0.08f;
    return scene_box_body(s, v3_all(0.11f), 350.0f, v3(0.9f, y + 0.05f, -0.45f), wood) &&
           scene_box_body(s, v3_all(0.13f), 450.0f, v3(1.6f, y + 0.05f, 0.40f), wood) &&
           scene_box_body(s, v3(0.28f, 0.04f, 0.09f), 600.0f, v3(1.15f, y, 0.1f), pale) &&
           scene_box_body(s, v3(0.09f, 0.04f, 0.30f), 550.0f, v3(1.9f, y, -0.35f), pale) &&
           scene_ball_body(s, 0.10f, 250.0f, v3(1.45f, y + 0.05f, -0.2f), v3(0.80f, 0.55f, 0.04f)) &&
           flotsam_barrel(s, v3(0.75f, y + 0.1f, 0.45f), 1.5707963f) &&
           flotsam_barrel(s, v3(2.0f, y + 0.05f, 0.05f), 0.3f) && flotsam_ring(s, v3(1.7f, y, -0.58f));
}

static bool flotsam_build(scene *s) {
    isph_material_desc water = scene_water(s);
    float top = FLOTSAM_SLOPE * (FLOTSAM_LENGTH - FLOTSAM_BEACH), length = sqrtf(1.0f + FLOTSAM_SLOPE * FLOTSAM_SLOPE);
    mesh beach;
    int i;
    s->look[0] = render_water(0.6f);
    if (!scene_start_fluid(s, 0.034f, FLOTSAM_LEVEL, 2.0f * FLOTSAM_HALF * FLOTSAM_LEVEL * 2.7f, &water)) return false;
    if (!scene_tank(s, v3(0, 0, -FLOTSAM_HALF), v3(FLOTSAM_LENGTH, 0.85f, FLOTSAM_HALF)) || !scene_frame_tank(s))
        return false;
    memset(&beach, 0, sizeof beach);
    mesh_box(&beach, v3(FLOTSAM_BEACH - 0.3f, -0.4f, -FLOTSAM_HALF - 0.1f),
             v3(FLOTSAM_LENGTH + 0.1f, 0, FLOTSAM_HALF + 0.1f));
    for (i = 0; i < beach.vertex_count; ++i)
        if (beach.vertices[i].y > -0.1f) beach.vertices[i].y = FLOTSAM_SLOPE * (beach.vertices[i].x - FLOTSAM_BEACH);
    if (!scene_solid(s, &beach, v3(0, 0, 0), v3(0.62f, 0.52f, 0.36f), 0.7f, true)) return false;
    s->objects[s->object_count - 1].flat = true;
    host_add_plane(s->bodies, v3(-FLOTSAM_SLOPE / length, 1.0f / length, 0), -FLOTSAM_SLOPE * FLOTSAM_BEACH / length);
    if (!scene_box(s, v3(-0.1f, 0.5f, 0), v3(0.1f, 0.5f, FLOTSAM_HALF), scene_steel) || !flotsam_bodies(s))
        return false;
    scene_camera(s, v3(0, 0, -FLOTSAM_HALF), v3(FLOTSAM_LENGTH, top + 0.2f, FLOTSAM_HALF), 22.0f, 22.0f);
    return flotsam_water(s);
}

static void flotsam_paddle(scene *s) { /* pushes three waves */
    float t = s->time + s->dt, way = 0.28f * (1.0f - cosf(2.4f * fminf(t, 7.85f)));
    isphpbd_collider_move(s->world, s->objects[2].collider, isphpbd_pose_at(v3(-0.1f + way, 0.5f, 0)));
}

static void flotsam_check(scene *s) { /* objects 3 .. 10 are the bodies */
    double farthest = 0.0, lowest = 1e30, outside = 0.0;
    int i;
    for (i = 3; i < s->object_count; ++i) {
        vec3 p = scene_host_body(s, &s->objects[i])->motion.pose.position;
        farthest = fmax(farthest, (double)p.x), lowest = fmin(lowest, (double)p.y);
        outside += fabsf(p.z) > FLOTSAM_HALF || p.x < 0.0f || p.x > FLOTSAM_LENGTH;
    }
    scene_check_most(s, "bodies_outside", outside, 0);
    scene_check_volume(s, 0.04);
    if (!scene_complete(s)) return;
    scene_check_least(s, "lowest_body_m", lowest, 0.5 * (double)FLOTSAM_LEVEL);
    scene_check_least(s, "farthest_up_the_beach_m", farthest, 2.5);
}

/* ---- the list ---------------------------------------------------------------------------------------------------- */

static const scene_def scenes_rigid[] = {
    {"sinking_ship", "an open hull with a hole fills and goes down", 6.0f, 1.0f / 60.0f, ship_build, NULL, ship_measure,
     ship_check},
    {"vessel", "a bowl of no thickness falls into a basin and stays dry", 3.0f, 1.0f / 60.0f, vessel_build, NULL,
     vessel_measure, vessel_check},
    {"slip_ramp", "water on three ramps: no slip, some slip, free slip", 2.4f, 1.0f / 60.0f, ramp_build, NULL,
     ramp_measure, ramp_check},
    {"impact", "an asteroid at 14 m/s", 1.5f, 1.0f / 120.0f, impact_build, NULL, impact_measure, impact_check},
    {"floating_cuboids", "one floats, one sinks slowly, one fast", 4.0f, 1.0f / 60.0f, cuboids_build, NULL,
     cuboids_measure, cuboids_check},
    {"drag_spheres", "the same ball sinks in a thin and in a thick liquid", 1.6f, 1.0f / 60.0f, drag_build, NULL,
     drag_measure, drag_check},
    {"stone_skipping", "a flat stone skips over the water and sinks at last", 1.8f, 1.0f / 120.0f, stone_build, NULL,
     stone_measure, stone_check},
    {"flotsam", "waves carry crates, barrels, planks and a ring to the beach", 8.0f, 1.0f / 60.0f, flotsam_build,
     flotsam_paddle, NULL, flotsam_check}};

enum { SCENES_RIGID_COUNT = sizeof scenes_rigid / sizeof scenes_rigid[0] };
