/* scenes_coupled.h - water with cloth, shells and soft solids: the scenes of Abu Rumman et al. 2020, "ISPH-PBD: coupled
   simulation of incompressible fluids and deformable bodies", with the numbers of particles and constraints, time steps
   and iterations of its table 1; included by scenes.h. SPDX: MIT */

/* Passes over the constraints per step: those of the paper (twice as many for cloth), divided into small steps, which
   are far stiffer under the load of water than iterations (Macklin et al. 2019, "Small steps in physics
   simulation"). */
static isphpbd_world_desc coupled_desc(scene *s, float spacing, float volume, int substeps, int iterations) {
    isphpbd_world_desc desc = scene_world_desc(s, spacing, 200.0f * spacing, volume);
    desc.budget.soft_substeps = (int)scene_setting(s, "soft_substeps", (float)substeps);
    desc.budget.constraint_iterations = (int)scene_setting(s, "iterations", (float)iterations);
    return desc;
}

/* The paper's stiffness. */
static ipbd_elasticity coupled_stiffness(scene *s, float fallback) {
    return ipbd_stiffness(f_clamp(scene_setting(s, "stiffness", fallback), 0.0f, 1.0f));
}

/* Volume of the surface's inside below the level; an open rim above it counts as closed. By Gauss' theorem it is the
   integral of min(y - level, 0) n_y over the surface, here from sixteen points per triangle. */
static double scene_volume_below(const scene_object *o, float level) {
    double sum = 0.0;
    int i, j, k;
    for (i = 0; i < o->shape.triangle_count; ++i) {
        const uint32_t *t = o->shape.indices + 3 * i;
        vec3 a = o->vertices[t[0]], b = v3_sub(o->vertices[t[1]], a), c = v3_sub(o->vertices[t[2]], a);
        double depth = 0.0;
        for (j = 0; j < 4; ++j)
            for (k = 0; k < 7 - 2 * j; ++k) { /* centroids of the small triangles, row by row */
                float u = ((float)j + (k & 1 ? 2.0f : 1.0f) / 3.0f) / 4.0f;
                float v = ((float)(k / 2) + (k & 1 ? 2.0f : 1.0f) / 3.0f) / 4.0f;
                depth += (double)fminf(a.y + u * b.y + v * c.y - level, 0.0f) / 16.0;
            }
        sum += 0.5 * (double)v3_cross(b, c).y * depth;
    }
    return sum;
}

static double scene_submerged(const scene_object *o, float level) {
    return scene_volume_below(o, level) / scene_volume_below(o, 1e3f);
}

static vec3 scene_centre(const scene_object *o) { /* mean of the vertices */
    vec3 sum = v3_all(0.0f);
    int i;
    for (i = 0; i < o->shape.vertex_count; ++i) sum = v3_add(sum, o->vertices[i]);
    return v3_scale(sum, 1.0f / (float)o->shape.vertex_count);
}

static void scene_bounds(const scene_object *o, vec3 *lo, vec3 *hi) {
    int i;
    *lo = v3_all(1e30f), *hi = v3_all(-1e30f);
    for (i = 0; i < o->shape.vertex_count; ++i) *lo = v3_min(*lo, o->vertices[i]), *hi = v3_max(*hi, o->vertices[i]);
}

/* m, of the water's surface: the median over columns two spacings wide of the highest particle's upper side. */
static float scene_water_level(const scene *s) {
    enum { SIDE = 64 };
    isph_view view = isph_particles(s->fluid);
    float top[SIDE * SIDE], cell_x = (s->tank_hi.x - s->tank_lo.x) / SIDE,
                            cell_z = (s->tank_hi.z - s->tank_lo.z) / SIDE;
    int i, x, z, n = 0, nx = SIDE, nz = SIDE;
    while (nx > 1 && cell_x < 2.0f * s->spacing) nx /= 2, cell_x *= 2.0f;
    while (nz > 1 && cell_z < 2.0f * s->spacing) nz /= 2, cell_z *= 2.0f;
    for (i = 0; i < nx * nz; ++i) top[i] = -1e30f;
    for (i = 0; i < view.count; ++i) {
        vec3 p = scene_position(&view, i);
        x = (int)((p.x - s->tank_lo.x) / cell_x), z = (int)((p.z - s->tank_lo.z) / cell_z);
        if (x >= 0 && z >= 0 && x < nx && z < nz) top[z * nx + x] = fmaxf(top[z * nx + x], p.y);
    }
    for (i = 0; i < nx * nz; ++i)
        if (top[i] > -1e29f) top[n++] = top[i];
    return n ? (float)scene_median(top, n) + 0.5f * s->spacing : s->tank_lo.y;
}

/* ---- water_balloon: figures 7 to 10. 22 K particles, 9 K stretch constraints and one of volume ------------------- */

#define WATER_BALLOON_RADIUS 0.087f
#define WATER_BALLOON_DROP   0.40f /* m, height of the centre at the start */
#define WATER_BALLOON_AIR    1e-5f /* 1/Pa, share of the volume by which its air gives way: 1 % per kPa */

static bool water_balloon_build(scene *s) {
    isph_material_desc water = scene_water(s);
    ipbd_body_desc skin = ipbd_body_desc_preset(IPBD_BALLOON);
    isphpbd_world_desc desc = coupled_desc(s, 0.005f, 0.0029f, 5, 5);
    const float volume = 4.18879f * WATER_BALLOON_RADIUS * WATER_BALLOON_RADIUS * WATER_BALLOON_RADIUS;
    isphpbd_soft handle;
    scene_object *o;
    isphpbd_result why;
    mesh ball;
    memset(&ball, 0, sizeof ball);
    mesh_icosphere(&ball, v3(0, 0, 0), WATER_BALLOON_RADIUS, scene_finer(s, 17, 1.0f / 3.0f));
    if (ball.failed || !scene_start_world(s, &desc, &water) || !scene_floor(s, 0.0f)) return mesh_free(&ball), false;
    skin.mesh.positions = &ball.vertices[0].x, skin.mesh.vertex_count = ball.vertex_count;
    skin.mesh.triangles = ball.indices, skin.mesh.triangle_count = ball.triangle_count;
    skin.pose = ipbd_pose_at(0, WATER_BALLOON_DROP, 0);
    skin.stretch = skin.shear = coupled_stiffness(s, 0.8f);
    skin.bend = ipbd_absent();
    skin.balloon = ipbd_compliance(WATER_BALLOON_AIR * volume); /* some air is in it too */
    skin.thickness = 0.001f;
    o = scene_soft(s, &skin, v3(1.0f, 0.22f, 0.16f), 1.0f, &handle);
    mesh_free(&ball);
    if (!o) return false;
    o->opacity = 0.12f, o->guard = GUARD_HOLDS;
    s->look[0] = render_water(1.0f), s->foam = 0.0f, s->slow = 4.0f;
    scene_camera(s, v3(-0.1f, 0, -0.1f), v3(0.1f, 0.49f, 0.1f), 20.0f, 10.0f);
    why = isphpbd_fluid_fill_soft(s->world, s->liquid[0], handle, 0.25f * s->spacing, NULL);
    return why == ISPHPBD_OK ? true : scene_fail(s, "filling", why);
}

/* custom[0]: volume of the first step, [1]: worst change of it, [2]: flattest height / width, [3]: height of its middle
   then, [4]: largest height of its middle afterwards, [5]: lowest point of the skin */
static void water_balloon_measure(scene *s) {
    float volume = (float)ipbd_body_volume(s->soft, s->objects[0].soft), *m = s->measures.custom, flat;
    vec3 lo, hi;
    scene_bounds(&s->objects[0], &lo, &hi);
    flat = 2.0f * (hi.y - lo.y) / (hi.x - lo.x + hi.z - lo.z);
    if (s->steps == 1) m[0] = volume, m[2] = flat;
    m[1] = fmaxf(m[1], fabsf(volume / m[0] - 1.0f));
    if (flat < m[2]) m[2] = flat, m[3] = m[4] = scene_centre(&s->objects[0]).y;
    m[4] = fmaxf(m[4], scene_centre(&s->objects[0]).y);
    m[5] = fminf(m[5], lo.y);
}

static void water_balloon_check(scene *s) {
    const float *m = s->measures.custom;
    scene_check_most(s, "skin_volume_change", (double)m[1], 0.05);
    scene_check_volume(s, 0.03);
    scene_check_least(s, "lowest_m", (double)m[5], -0.002);
    if (!scene_complete(s)) return;
    scene_check_most(s, "flattest_height_by_width", (double)m[2], 0.7);
    scene_check_least(s, "rebound_m", (double)(m[4] - m[3]), 0.05);
}

/* ---- cloth under water: figures 12 to 14 ------------------------------------------------------------------------- */

/* The paper runs these at a fixed step of 5 ms, which it does not divide, and tells no sizes. It names one spacing,
   0.005, for all its scenes, but its pillar of 5 m from 30 K particles would be 3 cm thick with it, and at 5 mm water
   crosses four spacings per step here: lengths are ours to choose. They are such that the step is one step of water.
   That asks for two things: 0.117 sqrt(spacing / g) >= dt (isphpbd_sph.h, NUMERICS), from 1.8 cm on, and that nothing
   falls farther than a spacing per step: through a scene N spacings high, 2 g N dt^2 <= spacing. N = 100 wants 4.9 cm:
   the nozzle and the head of its jet are no higher. Single drops of a splash still are faster now and then.
   A smaller scene moves alike, but sooner by the root of its size: in as many times shorter steps. The one drop in
   twenty thousand that a splash makes a little faster than that does not divide the step of all others. */
#define SHEETS_SPACING 0.05f

static isphpbd_world_desc sheets_desc(scene *s, float volume, int substeps) {
    isphpbd_world_desc desc = coupled_desc(s, SHEETS_SPACING, volume, substeps, 1);
    desc.cfl = scene_setting(s, "cfl", 1.25f);
    return desc;
}

typedef struct coupled_sheet {
    int side;         /* vertices along a side */
    float width, sag; /* m; cut so that it hangs through by `sag` when nothing pulls at it */
    vec3 position;
    float tilt;  /* radians about z */
    bool framed; /* pinned all round, else at its corners, three vertices each */
    vec3 color;
} coupled_sheet;

static scene_object *coupled_cloth(scene *s, const coupled_sheet *c) {
    enum { MOST = 2048 };
    scene_sheet sheet;
    uint32_t pins[MOST];
    ipbd_body_desc cloth = ipbd_body_desc_preset(IPBD_RUBBER_SHEET);
    int x, z, n = 0, side = c->side;
    scene_object *o;
    if (!scene_make_sheet(s, &sheet, side, side, c->width, c->width)) return NULL;
    for (z = 0; z < side; ++z) {
        for (x = 0; x < side && n < MOST; ++x) {
            int from_x = x < side - 1 - x ? x : side - 1 - x, from_z = z < side - 1 - z ? z : side - 1 - z;
            if (c->framed ? from_x == 0 || from_z == 0 : from_x + from_z <= 1) pins[n++] = (uint32_t)(z * side + x);
        }
    }
    for (z = 0; z < side * side; ++z) {
        float u = sheet.positions[3 * z] / (0.5f * c->width), v = sheet.positions[3 * z + 2] / (0.5f * c->width);
        sheet.positions[3 * z + 1] -= c->sag * (1.0f - u * u) * (1.0f - v * v);
    }
    cloth.pinned = pins, cloth.pinned_count = n;
    cloth.density = scene_setting(s, "cloth_density", 1.5f); /* kg/m^2: rubber of 1.4 mm */
    cloth.stretch = cloth.shear = coupled_stiffness(s, 0.9f);
    cloth.pose = ipbd_pose_at(c->position.x, c->position.y, c->position.z);
    cloth.pose.rotation.z = sinf(0.5f * c->tilt), cloth.pose.rotation.w = cosf(0.5f * c->tilt);
    cloth.thickness = 0.5f * s->spacing;
    cloth.damping = scene_setting(s, "damping", cloth.damping);
    cloth.self_collision = scene_setting(s, "self_collision", c->framed ? 0.0f : 1.0f) != 0.0f;
    cloth.soft_collision = cloth.self_collision;
    o = scene_cloth(s, &sheet, &cloth, c->color);
    if (o) o->guard = GUARD_PARTS;
    return o;
}

/* double_cloth: 95 K particles, 12 K stretch and 9 K bend constraints */
static bool double_cloth_build(scene *s) {
    isph_material_desc water = scene_water(s);
    isphpbd_world_desc desc = sheets_desc(s, 12.2f, 24);
    const vec3 lo = {-4.75f, 0, -2.9f}, hi = {6.25f, 1.1f, 2.9f};
    const coupled_sheet upper = {
        scene_finer(s, 46, 1.0f / 3.0f), 4.5f, 0.8f, {-1.75f, 3.55f, 0}, -0.14f, false, {0.75f, 0.30f, 0.06f}};
    const coupled_sheet lower = {upper.side, 4.5f, 0.5f, {2.25f, 1.75f, 0}, 0.1f, false, {0.16f, 0.42f, 0.14f}};
    s->look[0] = render_water(1.75f);
    if (!scene_start_world(s, &desc, &water)) return false;
    if (!scene_bars(s, lo, hi)) return false;
    if (!coupled_cloth(s, &upper) || !coupled_cloth(s, &lower)) return false;
    if (!scene_basin(s, lo, hi)) return false;
    scene_camera(s, v3(-4.85f, 0, -3.0f), v3(6.35f, 5.05f, 3.0f), 20.0f, 16.0f);
    return scene_jet(s, v3(-2.5f, 4.5f, 0), v3_unit(v3(0.3f, -1, 0)), 0.725f, 3.13f, 2.3f);
}

static float cloth_lowest_at_rest(const scene_object *o) {
    float lowest = 1e30f;
    int i;
    for (i = 0; i < o->shape.vertex_count; ++i) lowest = fminf(lowest, o->shape.vertices[i].y);
    return lowest;
}

static void double_cloth_measure(scene *s) { /* custom[0], [1]: how far the cloths were pushed down at most, m */
    int i;
    for (i = 0; i < 2; ++i) {
        const scene_object *o = &s->objects[1 + i];
        s->measures.custom[i] = fmaxf(s->measures.custom[i], cloth_lowest_at_rest(o) - scene_lowest(o));
    }
}

static double cloth_share_below(const scene *s, float height) { /* of the particles */
    int i, below = 0;
    for (i = 0; i < s->point_count; ++i) below += s->points[i].y < height;
    return s->point_count ? (double)below / s->point_count : 0.0;
}

static void double_cloth_check(scene *s) {
    scene_check_most(s, "worst_stretch", fmax(scene_worst_stretch(&s->objects[1]), scene_worst_stretch(&s->objects[2])),
                     1.0);
    if (!scene_complete(s)) return;
    scene_check_least(s, "first_cloth_sagged_m", (double)s->measures.custom[0], 0.25);
    scene_check_least(s, "second_cloth_sagged_m", (double)s->measures.custom[1], 0.15);
    scene_check_least(s, "share_that_ran_off", cloth_share_below(s, scene_lowest(&s->objects[2])), 0.10);
}

/* thin_shell_basin: 27 K particles, 7 K stretch and 4 K bend constraints, stiffness 0.6 or 0.9 */
#define BASIN_SIDE  3.0f
#define BASIN_SHEET 1.7f /* m, height of the sheet's frame */

static bool basin_build(scene *s) {
    isph_material_desc water = scene_water(s);
    isphpbd_world_desc desc = sheets_desc(s, 3.44f, 16);
    coupled_sheet sheet = {0, 0.0f, 0.0f, {0, BASIN_SHEET, 0}, 0.0f, true, {0.75f, 0.30f, 0.06f}};
    float half = 0.5f * BASIN_SIDE;
    scene_object *o;
    s->look[0] = render_water(1.5f);
    if (!scene_start_world(s, &desc, &water)) return false;
    if (!scene_tank(s, v3(-half, 0, -half), v3(half, 3.5f, half)) || !scene_frame_tank(s)) return false;
    sheet.side = scene_finer(s, 49, 1.0f / 3.0f), sheet.width = BASIN_SIDE + 2.0f * s->spacing;
    o = coupled_cloth(s, &sheet);
    if (!o) return false;
    o->guard = GUARD_KEEPS_OUT; /* it spans the basin: whatever has it above itself went through */
    scene_camera(s, v3(-half - 0.1f, 0, -half - 0.1f), v3(half + 0.1f, 4.25f, half + 0.1f), 24.0f, 8.0f);
    return scene_jet(s, v3(-0.6f, 4.0f, 0.25f), v3_unit(v3(0.25f, -1, 0)), 0.5f, 3.58f, 1.23f);
}

/* custom[0]: deepest of the sheet, [1]: its depth now and then in the last tenth of the run (sum), [2]: how often */
static void basin_measure(scene *s) {
    float sag = BASIN_SHEET - scene_lowest(&s->objects[1]), *m = s->measures.custom;
    m[0] = fmaxf(m[0], sag);
    if (s->time > 0.9f * s->def->seconds) m[1] += sag, m[2] += 1.0f;
}

static void basin_check(scene *s) {
    const float *m = s->measures.custom;
    scene_check_most(s, "worst_stretch", scene_worst_stretch(&s->objects[1]), 1.0);
    if (!scene_complete(s)) return;
    scene_check_least(s, "deepest_sag_m", (double)m[0], 0.25);
    scene_check_most(s, "rms_speed_at_end_froude", scene_rms_speed(s) / sqrt(9.81 * (double)BASIN_SIDE), 0.2);
    scene_check_most(s, "sag_at_rest_m", (double)(m[1] / m[2]), (double)BASIN_SHEET);
    scene_check_least(s, "particles", scene_particle_count(s), 20000.0 * (double)s->options.scale);
}

/* shower_cloth: 75 K particles, 13 K stretch and 9 K bend constraints */
#define SHOWER_PINS 4.75f /* m, height of the pins */
#define SHOWER_SAG  1.75f /* m, of the sheet under its own weight */

static bool shower_build(scene *s) {
    const vec3 lo = {-3.5f, 0, -3.5f}, hi = {3.5f, 1.0f, 3.5f};
    const coupled_sheet sheet = {
        scene_finer(s, 66, 1.0f / 3.0f), 6.0f, SHOWER_SAG, {0, SHOWER_PINS, 0}, 0.0f, false, {0.75f, 0.30f, 0.06f}};
    isph_material_desc water = scene_water(s);
    isphpbd_world_desc desc = sheets_desc(s, 9.63f, 24);
    s->look[0] = render_water(1.75f);
    if (!scene_start_world(s, &desc, &water)) return false;
    if (!scene_bars(s, lo, hi)) return false;
    if (!coupled_cloth(s, &sheet) || !scene_basin(s, lo, hi)) return false;
    scene_camera(s, v3(-3.6f, 0, -3.6f), v3(3.6f, 5.5f, 3.6f), 24.0f, 30.0f);
    return scene_jet(s, v3(0, SHOWER_PINS, 0), v3(0, -1, 0), 0.55f, 3.58f, 2.75f);
}

static void shower_measure(scene *s) { /* custom[0]: deepest of the sheet */
    s->measures.custom[0] = fmaxf(s->measures.custom[0], SHOWER_PINS - scene_lowest(&s->objects[1]));
}

static void shower_check(scene *s) {
    scene_check_most(s, "worst_stretch", scene_worst_stretch(&s->objects[1]), 1.0);
    if (scene_complete(s)) scene_check_least(s, "bulged_by_m", (double)(s->measures.custom[0] - SHOWER_SAG), 0.25);
}

/* ---- soft solids ------------------------------------------------------------------------------------------------- */

/* The paper's solids: springs along the edges and kept volumes. */
static scene_object *coupled_solid(scene *s, const tets *t, float density, float stiffness, vec3 place, vec3 color) {
    ipbd_body_desc solid = ipbd_body_desc_default();
    solid.mesh.positions = &t->vertices[0].x, solid.mesh.vertex_count = t->vertex_count;
    solid.mesh.tetrahedra = t->indices, solid.mesh.tetrahedron_count = t->tetrahedron_count;
    solid.solid_model = IPBD_SOLID_VOLUME;
    solid.density = density;
    solid.stretch = coupled_stiffness(s, stiffness), solid.volume = ipbd_compliance(1e-6f);
    solid.damping = scene_setting(s, "damping", solid.damping);
    solid.thickness = 0.25f * s->spacing;
    solid.soft_collision = true;
    solid.pose = ipbd_pose_at(place.x, place.y, place.z);
    return scene_soft_body(s, &solid, color, 0.5f);
}

/* lifebuoy_ball: figure 16. 45 K particles; a ring of tetrahedra and a ball of air, 35 K constraints together */
#define BUOY_RING    0.115f /* m, middle of the tube */
#define BUOY_TUBE    0.045f
#define BUOY_BALL    0.055f
#define BUOY_DENSITY 450.0f /* kg/m^3, of the ring */
#define BUOY_START   0.10f  /* m, its height at the start */
#define BUOY_LAYER   0.06f  /* m, water that is there already */

static vec3 buoy_map(vec3 p) { /* x, y: the tube's section; z: round the ring */
    vec3 section = v3_scale(tets_disc(p.x, p.y), BUOY_TUBE);
    float angle = 3.14159265f * p.z, radius = BUOY_RING + section.x;
    return v3(radius * cosf(angle), section.z, radius * sinf(angle));
}

static scene_object *buoy_ball(scene *s) {
    ipbd_body_desc skin = ipbd_body_desc_preset(IPBD_BALLOON);
    scene_object *o;
    mesh ball;
    memset(&ball, 0, sizeof ball);
    mesh_icosphere(&ball, v3(0, 0, 0), BUOY_BALL, scene_finer(s, 10, 1.0f / 3.0f));
    if (ball.failed) return mesh_free(&ball), scene_fail(s, "ball", ISPHPBD_OUT_OF_MEMORY), (scene_object *)NULL;
    skin.mesh.positions = &ball.vertices[0].x, skin.mesh.vertex_count = ball.vertex_count;
    skin.mesh.triangles = ball.indices, skin.mesh.triangle_count = ball.triangle_count;
    skin.density = 4.5f; /* kg/m^2: 0.17 kg, a quarter of the water it takes the place of */
    skin.stretch = skin.shear = ipbd_stiffness(0.95f);
    skin.balloon = ipbd_compliance(0.0f);
    skin.soft_collision = true, skin.thickness = 0.25f * s->spacing;
    skin.pose = ipbd_pose_at(0.14f, 0.24f, -0.14f);
    o = scene_soft_body(s, &skin, v3(0.80f, 0.55f, 0.04f), 0.9f);
    mesh_free(&ball);
    return o;
}

static bool buoy_build(scene *s) {
    isph_material_desc water = scene_water(s);
    isphpbd_world_desc desc = coupled_desc(s, 0.01f, 0.0455f, 6, 6);
    const float half = 0.22f;
    int n = scene_finer(s, 5, 1.0f / 3.0f), around = scene_finer(s, 90, 1.0f / 3.0f), i;
    scene_object *ring, *ball;
    tets t;
    s->look[0] = render_water(0.3f);
    if (!scene_start_world(s, &desc, &water)) return false;
    if (!scene_tank(s, v3(-half, 0, -half), v3(half, 0.40f, half)) || !scene_frame_tank(s)) return false;
    if (!tets_create(&t, n, n, around, NULL, buoy_map)) return scene_fail(s, "lifebuoy", ISPHPBD_OUT_OF_MEMORY);
    ring = coupled_solid(s, &t, BUOY_DENSITY, 0.9f, v3(0, BUOY_START, 0), v3(0.78f, 0.10f, 0.06f));
    tets_free(&t);
    ball = ring ? buoy_ball(s) : NULL;
    if (!ball) return false;
    ring->guard = ball->guard = GUARD_KEEPS_OUT;
    scene_camera(s, v3(-half - 0.02f, 0, -half - 0.02f), v3(half + 0.02f, 0.48f, half + 0.02f), 24.0f, 20.0f);
    for (i = 0; i < 2; ++i) /* two showers in opposite corners */
        if (!scene_jet(s, v3(i ? 0.13f : -0.13f, 0.5f, i ? 0.13f : -0.13f), v3(0, -1, 0), 0.06f, 1.0f, 1.5f))
            return false;
    return scene_add_box(s, s->liquid[0], v3(-half, 0, -half), v3(half, BUOY_LAYER, half));
}

/* Both bob, so that one look tells little: custom[0], [1]: submerged shares of ring and ball, summed over looks every
   20 ms of the last 0.6 s, [2]: how many. Water keeps half a spacing off skins, so that coarse ones float high. */
static void buoy_measure(scene *s) {
    float level, *m = s->measures.custom;
    int every = (int)fmaxf(0.02f / s->dt, 1.0f);
    if (s->time < s->def->seconds - 0.6f || s->steps % every) return;
    level = scene_water_level(s);
    m[0] += (float)scene_submerged(&s->objects[1], level), m[1] += (float)scene_submerged(&s->objects[2], level);
    m[2] += 1.0f;
}

static void buoy_check(scene *s) {
    const scene_object *ring = &s->objects[1], *ball = &s->objects[2];
    const float *m = s->measures.custom;
    double ball_density = ipbd_body_mass(s->soft, ball->soft) / ipbd_body_volume(s->soft, ball->soft) / 1000.0;
    if (!scene_complete(s)) return;
    scene_check_most(s, "ring_submerged_error", fabs((double)(m[0] / m[2]) - (double)BUOY_DENSITY / 1000.0), 0.12);
    scene_check_most(s, "ball_submerged_error", fabs((double)(m[1] / m[2]) - ball_density), 0.12);
    scene_check_least(s, "ring_rose_m", (double)(scene_centre(ring).y - BUOY_LAYER), 0.06);
    scene_check_least(s, "ball_above_ring_m", (double)(scene_centre(ball).y - scene_centre(ring).y), 0.0);
}

/* flower_pot: figures 2 and 15. 27 K particles, 21 K constraints; 25 cm high, elastic, falls and bounces */
#define POT_HEIGHT 0.25f
#define POT_BOTTOM 0.090f /* m, outer radius below */
#define POT_TOP    0.126f
#define POT_DROP   0.25f                                            /* m, of its underside */
enum { POT_WALL = 2, POT_FLOOR = 2, POT_SIDE = 14, POT_ROWS = 14 }; /* cells: thickness, across, high */

static bool pot_keep(int x, int y, int z, int n) {
    return y < POT_FLOOR || x < POT_WALL || z < POT_WALL || x >= n - POT_WALL || z >= n - POT_WALL;
}

static vec3 pot_map(vec3 p) {
    float up = 0.5f * (p.y + 1.0f), radius = POT_BOTTOM + (POT_TOP - POT_BOTTOM) * up;
    vec3 q = tets_disc(p.x, p.z);
    return v3(radius * q.x, POT_HEIGHT * up, radius * q.z);
}

static bool pot_inside(const scene *s, vec3 p) { /* where water starts: inside, up to three quarters */
    float up = (p.y - POT_DROP) / POT_HEIGHT, radius = POT_BOTTOM + (POT_TOP - POT_BOTTOM) * up;
    float inner = (1.0f - 2.0f * (float)POT_WALL / (float)POT_SIDE) * radius - 0.6f * s->spacing;
    return p.y - POT_DROP > POT_HEIGHT * (float)POT_FLOOR / (float)POT_ROWS + 0.5f * s->spacing &&
           p.x * p.x + p.z * p.z < inner * inner;
}

static bool pot_build(scene *s) {
    isph_material_desc water = scene_water(s);
    isphpbd_world_desc desc = coupled_desc(s, 0.005f, 0.0036f, 4, 5);
    scene_object *pot;
    tets t;
    s->look[0] = render_water(0.30f), s->slow = 4.0f;
    if (!scene_start_world(s, &desc, &water) || !scene_floor(s, 0.0f)) return false;
    if (!tets_create(&t, POT_SIDE, POT_ROWS, POT_SIDE, pot_keep, pot_map))
        return scene_fail(s, "pot", ISPHPBD_OUT_OF_MEMORY);
    pot = coupled_solid(s, &t, 1100.0f, 0.8f, v3(0, POT_DROP, 0), v3(0.80f, 0.22f, 0.07f));
    tets_free(&t);
    if (!pot) return false;
    pot->guard = GUARD_KEEPS_OUT, pot->opacity = 0.3f;
    scene_camera(s, v3(-0.24f, 0, -0.24f), v3(0.24f, 0.56f, 0.24f), 20.0f, 14.0f);
    return scene_add_where(s, s->liquid[0], v3(-POT_TOP, POT_DROP, -POT_TOP), v3(POT_TOP, POT_DROP + 0.222f, POT_TOP),
                           pot_inside);
}

/* custom[0]: lowest of the pot, [1]: highest water after the blow, [2]: highest underside after it, [3]: if it fell,
   [4]: energy of the water at the start, [5]: most of it after the blow, J/kg */
static void pot_measure(scene *s) {
    float low = scene_lowest(&s->objects[0]), *m = s->measures.custom;
    int i;
    m[0] = fminf(m[0], low);
    if (s->steps == 1) m[4] = scene_mean_energy(s);
    if (low < 0.01f) m[3] = 1.0f;
    if (m[3] == 0.0f) return;
    m[2] = fmaxf(m[2], low);
    m[5] = fmaxf(m[5], scene_mean_energy(s));
    for (i = 0; i < s->point_count; ++i) m[1] = fmaxf(m[1], s->points[i].y);
}

static void pot_check(scene *s) {
    const float *m = s->measures.custom;
    scene_check_least(s, "lowest_m", (double)m[0], -0.002);
    if (!scene_complete(s)) return;
    scene_check_least(s, "squirted_to_m", (double)m[1], 0.25);
    /* focused by the walls a jet is some times as fast as the fall: four times, at the most, by trial */
    scene_check_most(s, "squirted_to_by_drop", (double)(m[1] / POT_DROP), 16.0);
    scene_check_most(s, "water_energy_kept", (double)(m[5] / m[4]), 1.0);
    scene_check_least(s, "bounced_to_m", (double)m[2], 0.005);
}

/* buoyancy_spheres: figure 17. Heavier than water, as heavy, lighter. The middle one has no depth of its own: it drifts
   in the surface, all but under it, and may stay down where it is carried to. Water keeps half a spacing off its skin,
   so that a soft ball is carried as if it were lighter by the order of a twentieth, more where particles are
   coarse: one of 1030 kg/m^3 that should sink still floats at --scale 0.25. */
#define SPHERES_RADIUS 0.13f
static const float spheres_density[3] = {1800.0f, 1000.0f, 400.0f};
static const float spheres_place[3] = {-0.42f, 0.0f, 0.42f};

static vec3 spheres_map(vec3 p) { return v3_scale(tets_ball(p), SPHERES_RADIUS); }

static bool spheres_build(scene *s) {
    static const vec3 color[3] = {{0.10f, 0.20f, 0.62f}, {0.12f, 0.45f, 0.12f}, {0.70f, 0.08f, 0.06f}};
    isph_material_desc water = scene_water(s);
    isphpbd_world_desc desc = scene_world_desc(s, 0.022f, 0.44f, 1.32f * 0.44f * 0.5f);
    int n = scene_finer(s, 7, 1.0f / 3.0f), i;
    bool ok = true;
    tets t;
    s->look[0] = render_water(0.6f);
    if (!scene_start_world(s, &desc, &water)) return false;
    if (!scene_tank(s, v3(-0.66f, 0, -0.22f), v3(0.66f, 0.75f, 0.22f)) || !scene_frame_tank(s)) return false;
    if (!tets_create(&t, n, n, n, NULL, spheres_map)) return scene_fail(s, "sphere", ISPHPBD_OUT_OF_MEMORY);
    for (i = 0; i < 3 && ok; ++i) {
        scene_object *o = coupled_solid(s, &t, spheres_density[i], 0.95f, v3(spheres_place[i], 0.66f, 0), color[i]);
        ok = o != NULL;
        if (ok) o->guard = GUARD_KEEPS_OUT;
    }
    tets_free(&t);
    scene_camera(s, v3(-0.68f, 0, -0.24f), v3(0.68f, 0.82f, 0.24f), 14.0f, 10.0f);
    return ok && scene_add_box(s, s->liquid[0], v3(-0.66f, 0, -0.22f), v3(0.66f, 0.484f, 0.22f));
}

static void spheres_check(scene *s) {
    float level = scene_water_level(s), height[3];
    int i;
    for (i = 0; i < 3; ++i) height[i] = scene_centre(&s->objects[1 + i]).y;
    if (!scene_complete(s)) return;
    scene_check_most(s, "heavy_above_floor_m", (double)height[0], 1.25 * (double)SPHERES_RADIUS);
    scene_check_least(s, "neutral_above_heavy_m", (double)(height[1] - height[0]), 0.02);
    scene_check_least(s, "neutral_submerged", scene_submerged(&s->objects[2], level), 0.90);
    scene_check_least(s, "light_above_neutral_m", (double)(height[2] - height[1]), 0.02);
    scene_check_most(s, "light_submerged_error", fabs(scene_submerged(&s->objects[3], level) - 0.4), 0.10);
    scene_check_volume(s, 0.03);
}

/* ---- the list ---------------------------------------------------------------------------------------------------- */

static const scene_def scenes_coupled[] = {
    {"water_balloon", "a rubber skin full of water falls, flattens, bounces and keeps every drop", 0.8f, 0.001f,
     water_balloon_build, NULL, water_balloon_measure, water_balloon_check},
    {"double_cloth", "a jet hits two elastic sheets and runs off their sides", 4.0f, 0.005f, double_cloth_build, NULL,
     double_cloth_measure, double_cloth_check},
    {"thin_shell_basin", "a jet on an elastic sheet across a glass basin: dry below", 4.5f, 0.005f, basin_build, NULL,
     basin_measure, basin_check},
    {"shower_cloth", "water pours into a hanging sheet", 4.0f, 0.005f, shower_build, NULL, shower_measure,
     shower_check},
    {"lifebuoy_ball", "a basin fills: the ball floats at once, the lifebuoy rises", 3.0f, 0.001f, buoy_build, NULL,
     buoy_measure, buoy_check},
    {"flower_pot", "an elastic pot full of water falls, bounces and squirts", 0.8f, 0.001f, pot_build, NULL,
     pot_measure, pot_check},
    {"buoyancy_spheres", "soft balls of 1800, 1000 and 400 kg/m3: sink, drift, float", 4.0f, 1.0f / 60.0f,
     spheres_build, NULL, NULL, spheres_check}};

enum { SCENES_COUPLED_COUNT = sizeof scenes_coupled / sizeof scenes_coupled[0] };
