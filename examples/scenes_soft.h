/* scenes_soft.h - the scenes that need cloth and soft bodies only; included by scenes.h. SPDX: MIT */

static bool scene_start_soft(scene *s, vec3 wind, int substeps) {
    isphpbd_world_desc desc = scene_world_desc(s, 0.05f, 0.05f, 0.0f);
    desc.wind = wind;
    desc.budget.soft_substeps = (int)scene_setting(s, "substeps", (float)substeps);
    return scene_start_world(s, &desc, NULL);
}

/* Creates the body and draws its surface. */
static scene_object *scene_soft(scene *s, const ipbd_body_desc *desc, vec3 color, float gloss, isphpbd_soft *handle) {
    isphpbd_result why = ISPHPBD_OK;
    isphpbd_soft_desc soft = isphpbd_soft_desc_default();
    ipbd_body body;
    ipbd_view view;
    scene_object *o;
    mesh shape;
    int i;
    soft.body = *desc;
    soft.surface.slip = scene_setting(s, "slip", 1.0f);
    *handle = isphpbd_soft_create(s->world, &soft, &why);
    if (!handle->id) return scene_fail(s, "soft body", why), (scene_object *)NULL;
    body = isphpbd_soft_body(s->world, *handle);
    view = ipbd_body_view(s->soft, body);
    memset(&shape, 0, sizeof shape);
    for (i = 0; i < view.vertex_count; ++i) mesh_vertex(&shape, v3_all(0.0f));
    for (i = 0; i < view.triangle_count; ++i)
        mesh_triangle(&shape, view.triangles[3 * i], view.triangles[3 * i + 1], view.triangles[3 * i + 2]);
    o = scene_show(s, &shape, color, 1.0f, gloss, false);
    if (!o) return NULL;
    o->soft = body;
    scene_read_soft(s, o);
    memcpy(o->shape.vertices, o->vertices,
           (size_t)o->shape.vertex_count * sizeof(vec3)); /* the rest shape, for checks */
    return o;
}

static scene_object *scene_soft_body(scene *s, const ipbd_body_desc *desc, vec3 color, float gloss) {
    isphpbd_soft handle;
    return scene_soft(s, desc, color, gloss, &handle);
}

static bool scene_soft_collider(scene *s, isphpbd_shape shape, vec3 position) {
    isphpbd_collider_desc desc = isphpbd_collider_desc_default();
    isphpbd_result why = ISPHPBD_OK;
    desc.shape = shape;
    desc.pose = isphpbd_pose_at(position);
    desc.surface.friction = scene_setting(s, "friction", 0.4f);
    return isphpbd_collider_create(s->world, &desc, &why).id ? true : scene_fail(s, "collider", why);
}

/* Largest relative lengthening of any thread. The longest edge of a rest triangle is a diagonal between the threads: it
   changes by shear, which cloth allows. */
static double scene_worst_stretch(const scene_object *o) {
    double worst = 0.0;
    int i, k;
    for (i = 0; i < o->shape.triangle_count; ++i) {
        const uint32_t *t = o->shape.indices + 3 * i;
        float rest[3], now[3];
        for (k = 0; k < 3; ++k) {
            uint32_t a = t[k], b = t[(k + 1) % 3];
            rest[k] = v3_length(v3_sub(o->shape.vertices[a], o->shape.vertices[b]));
            now[k] = v3_length(v3_sub(o->vertices[a], o->vertices[b]));
        }
        for (k = 0; k < 3; ++k)
            if (rest[k] < rest[(k + 1) % 3] || rest[k] < rest[(k + 2) % 3])
                worst = fmax(worst, (double)(now[k] / rest[k]) - 1.0);
    }
    return worst;
}

static float scene_lowest(const scene_object *o) {
    float lowest = 1e30f;
    int i;
    for (i = 0; i < o->shape.vertex_count; ++i) lowest = fminf(lowest, o->vertices[i].y);
    return lowest;
}

static isphpbd_quat scene_quarter_turn_x(float turns) {
    isphpbd_quat q;
    q.x = sinf(0.78539816f * turns), q.y = q.z = 0.0f, q.w = cosf(0.78539816f * turns);
    return q;
}

/* A number along one side of a mesh that belongs to `scale`: power 1/2 for cloth alone, 1/3 to keep step with water. */
static int scene_finer(const scene *s, int count, float power) {
    int n = (int)((float)count * powf(s->options.scale, power) + 0.5f);
    return n < 3 ? 3 : n;
}

/* A cloth; the arrays live only until the body is made. */
typedef struct scene_sheet {
    float *positions;
    uint32_t *triangles;
    int columns, rows, triangle_count;
} scene_sheet;

static bool scene_make_sheet(scene *s, scene_sheet *sheet, int columns, int rows, float width, float depth) {
    sheet->columns = columns, sheet->rows = rows;
    sheet->positions = (float *)malloc((size_t)sheet->columns * (size_t)sheet->rows * 3 * sizeof(float));
    sheet->triangles = (uint32_t *)malloc((size_t)sheet->columns * (size_t)sheet->rows * 6 * sizeof(uint32_t));
    if (!sheet->positions || !sheet->triangles) {
        free(sheet->positions);
        free(sheet->triangles);
        return scene_fail(s, "cloth", ISPHPBD_OUT_OF_MEMORY);
    }
    sheet->triangle_count = ipbd_grid(sheet->columns, sheet->rows, width, depth, sheet->positions, sheet->triangles);
    return true;
}

static scene_object *scene_cloth(scene *s, scene_sheet *sheet, ipbd_body_desc *desc, vec3 color) {
    scene_object *o;
    desc->mesh.positions = sheet->positions, desc->mesh.vertex_count = sheet->columns * sheet->rows;
    desc->mesh.triangles = sheet->triangles, desc->mesh.triangle_count = sheet->triangle_count;
    o = scene_soft_body(s, desc, color, 0.12f);
    free(sheet->positions);
    free(sheet->triangles);
    return o;
}

/* ---- flag: cloth in the wind ------------------------------------------------------------------------------------- */

static bool flag_build(scene *s) {
    enum { MOST = 256 };
    scene_sheet sheet;
    uint32_t pins[MOST];
    mesh pole;
    ipbd_body_desc cloth = ipbd_body_desc_preset(IPBD_SILK);
    int i;
    if (!scene_start_soft(s, v3(scene_setting(s, "wind", 8.0f), 0.0f, 1.5f), 48)) return false;
    if (!scene_make_sheet(s, &sheet, scene_finer(s, 46, 0.5f), scene_finer(s, 31, 0.5f), 1.5f, 1.0f)) return false;
    for (i = 0; i < sheet.rows && i < MOST; ++i) pins[i] = (uint32_t)(i * sheet.columns);
    cloth.pinned = pins, cloth.pinned_count = i;
    cloth.wind_drag = 1.0f, cloth.still_air = true, cloth.wind_lift = 0.5f;
    cloth.pose = ipbd_pose_at(0.75f, 1.5f, 0.0f);
    cloth.pose.rotation = scene_quarter_turn_x(1.0f);
    if (!scene_cloth(s, &sheet, &cloth, scene_red)) return false;
    memset(&pole, 0, sizeof pole);
    mesh_box(&pole, v3(-0.03f, 0, -0.015f), v3(0.0f, 2.1f, 0.015f));
    scene_camera(s, v3(-0.2f, 0, -0.6f), v3(1.7f, 2.1f, 0.6f), -12.0f, 8.0f);
    return scene_show(s, &pole, scene_steel, 1.0f, 0.4f, true) != NULL;
}

static void flag_check(scene *s) {
    ipbd_stats stats = ipbd_world_stats(s->soft);
    scene_check_most(s, "worst_stretch", scene_worst_stretch(&s->objects[0]), 0.08);
    scene_check_least(s, "kinetic_energy_J", stats.kinetic_energy, 1e-4);        /* it flutters */
    scene_check_least(s, "lowest_m", (double)scene_lowest(&s->objects[0]), 0.4); /* it flies */
}

/* ---- drape: a cloth falls over a ball ---------------------------------------------------------------------------- */

static const vec3 drape_ball = {0.0f, 0.5f, 0.0f};
#define DRAPE_RADIUS 0.4f

static bool drape_build(scene *s) {
    scene_sheet sheet;
    mesh ball;
    ipbd_body_desc cloth = ipbd_body_desc_preset(IPBD_COTTON);
    int side = scene_finer(s, 61, 0.5f);
    if (!scene_start_soft(s, v3(0, 0, 0), 24) || !scene_make_sheet(s, &sheet, side, side, 1.7f, 1.7f)) return false;
    cloth.pose = ipbd_pose_at(0.0f, 1.15f, 0.0f);
    cloth.self_collision = scene_setting(s, "self_collision", 1.0f) != 0.0f;
    if (!scene_cloth(s, &sheet, &cloth, v3(0.10f, 0.22f, 0.42f))) return false;
    memset(&ball, 0, sizeof ball);
    mesh_sphere(&ball, drape_ball, DRAPE_RADIUS, 24);
    if (!scene_show(s, &ball, scene_red, 1.0f, 0.6f, false)) return false;
    scene_camera(s, v3(-0.8f, 0, -0.8f), v3(0.8f, 1.15f, 0.8f), 25.0f, 20.0f);
    return scene_soft_collider(s, isphpbd_shape_sphere(DRAPE_RADIUS), drape_ball) &&
           scene_soft_collider(s, isphpbd_shape_plane(), v3(0, 0, 0));
}

static void drape_check(scene *s) {
    const scene_object *cloth = &s->objects[0];
    float deepest = 0.0f;
    double highest = 0.0;
    int i;
    for (i = 0; i < cloth->shape.vertex_count; ++i) highest = fmax(highest, (double)cloth->vertices[i].y);
    for (i = 0; i < cloth->shape.vertex_count; ++i)
        deepest = fmaxf(deepest, DRAPE_RADIUS - v3_length(v3_sub(cloth->vertices[i], drape_ball)));
    scene_check_most(s, "deepest_in_ball_m", (double)deepest, 0.002);
    scene_check_least(s, "lowest_m", (double)scene_lowest(cloth), -0.002);
    scene_check_most(s, "worst_stretch", scene_worst_stretch(cloth), 0.10);
    if (scene_complete(s))
        scene_check_least(s, "highest_m", highest, (double)(drape_ball.y + DRAPE_RADIUS)); /* still on the ball */
}

/* ---- jelly: soft cubes tumble onto each other -------------------------------------------------------------------- */

#define JELLY_SIDE 0.4f

static bool jelly_cube(scene *s, vec3 place, float turn, vec3 color) {
    enum { MOST = 10 };
    float positions[3 * (MOST + 1) * (MOST + 1) * (MOST + 1)];
    uint32_t tetrahedra[24 * MOST * MOST * MOST];
    ipbd_body_desc jelly = ipbd_body_desc_preset(IPBD_JELLY);
    int n = (int)(6.0f * cbrtf(s->options.scale) + 0.5f);
    n = n < 2 ? 2 : n > MOST ? MOST : n;
    jelly.mesh.tetrahedron_count = ipbd_block(n, n, n, v3_all(JELLY_SIDE), positions, tetrahedra);
    jelly.mesh.positions = positions, jelly.mesh.vertex_count = (n + 1) * (n + 1) * (n + 1);
    jelly.mesh.tetrahedra = tetrahedra;
    jelly.young_modulus = scene_setting(s, "young_modulus", 2.0e4f);
    jelly.damping = scene_setting(s, "damping", 5.0f); /* pi f tan(delta), f = sqrt(E / density) / 2 side, delta 0.3 */
    jelly.pose = ipbd_pose_at(place.x, place.y, place.z);
    jelly.pose.rotation = scene_quarter_turn_x(turn);
    jelly.soft_collision = true;
    return scene_soft_body(s, &jelly, color, 0.7f) != NULL;
}

static bool jelly_build(scene *s) {
    if (!scene_start_soft(s, v3(0, 0, 0), 12) || !scene_soft_collider(s, isphpbd_shape_plane(), v3(0, 0, 0)))
        return false;
    scene_camera(s, v3(-1.6f, 0, -0.7f), v3(0.9f, 1.6f, 0.7f), 25.0f, 16.0f);
    return jelly_cube(s, v3(-0.25f, 0.35f, 0), 0.2f, v3(0.55f, 0.06f, 0.05f)) &&
           jelly_cube(s, v3(0.27f, 0.45f, 0.05f), 0.5f, v3(0.60f, 0.36f, 0.03f)) &&
           jelly_cube(s, v3(0.0f, 0.95f, 0.02f), 0.3f, v3(0.08f, 0.40f, 0.08f)) &&
           jelly_cube(s, v3(-0.04f, 1.5f, 0.02f), 0.7f, v3(0.05f, 0.18f, 0.50f));
}

static void jelly_check(scene *s) {
    double worst = 0.0, lowest = 1e30;
    int i;
    for (i = 0; i < s->object_count; ++i) {
        double volume = ipbd_body_volume(s->soft, s->objects[i].soft), rest = pow((double)JELLY_SIDE, 3.0);
        worst = fmax(worst, fabs(volume / rest - 1.0));
        lowest = fmin(lowest, (double)scene_lowest(&s->objects[i]));
    }
    scene_check_most(s, "volume_change", worst, 0.10);
    scene_check_least(s, "lowest_m", lowest, -0.005);
}

/* ---- balloon: an air-filled skin bounces ------------------------------------------------------------------------- */

static bool balloon_build(scene *s) {
    mesh ball;
    ipbd_body_desc skin = ipbd_body_desc_preset(IPBD_BALLOON);
    scene_object *o;
    memset(&ball, 0, sizeof ball);
    mesh_sphere(&ball, v3(0, 0, 0), 0.3f, (int)(20.0f * sqrtf(s->options.scale)) + 4);
    if (ball.failed || !scene_start_soft(s, v3(0, 0, 0), 12)) return mesh_free(&ball), false;
    skin.mesh.positions = &ball.vertices[0].x, skin.mesh.vertex_count = ball.vertex_count;
    skin.mesh.triangles = ball.indices, skin.mesh.triangle_count = ball.triangle_count;
    skin.pose = ipbd_pose_at(0, 1.3f, 0);
    skin.balloon = ipbd_compliance(0.0f);
    skin.velocity = v3(0.4f, -2.0f, 0);
    o = scene_soft_body(s, &skin, scene_red, 0.9f);
    mesh_free(&ball);
    scene_camera(s, v3(-0.6f, 0, -0.5f), v3(1.2f, 1.65f, 0.5f), 15.0f, 10.0f);
    return o && scene_soft_collider(s, isphpbd_shape_plane(), v3(0, 0, 0));
}

/* custom[0]: volume of the first step, custom[1]: worst relative change since */
static void balloon_measure(scene *s) {
    float volume = (float)ipbd_body_volume(s->soft, s->objects[0].soft), *m = s->measures.custom;
    if (s->steps == 1) m[0] = volume;
    m[1] = fmaxf(m[1], fabsf(volume / m[0] - 1.0f));
}

static void balloon_check(scene *s) {
    scene_check_most(s, "volume_change", (double)s->measures.custom[1], 0.05);
    scene_check_least(s, "lowest_m", (double)scene_lowest(&s->objects[0]), -0.005);
}

static const scene_def scenes_soft[] = {
    {"flag", "silk in the wind", 4.0f, 1.0f / 60.0f, flag_build, NULL, NULL, flag_check},
    {"drape", "a cloth falls over a ball and folds", 3.0f, 1.0f / 60.0f, drape_build, NULL, NULL, drape_check},
    {"jelly", "soft cubes tumble onto each other", 3.0f, 1.0f / 60.0f, jelly_build, NULL, NULL, jelly_check},
    {"balloon", "an air-filled skin falls and bounces", 3.0f, 1.0f / 60.0f, balloon_build, NULL, balloon_measure,
     balloon_check}};

enum { SCENES_SOFT_COUNT = sizeof scenes_soft / sizeof scenes_soft[0] };
