/* scenes_fluid.h - the scenes that need liquid and walls only; included by scenes.h. SPDX: MIT */

static double scene_particle_count(const scene *s) { return (double)isph_particles(s->fluid).count; }

/* Of the deep water. Shallow scenes at low resolution have none: then there is nothing to judge. */
static void scene_check_volume(scene *s, double limit) {
    enum { ENOUGH = 200 };
    if (s->measures.deep_particles >= ENOUGH)
        scene_check_most(s, "volume_change", fabs(1.0 / s->measures.deep_density - 1.0), limit);
}

/* The largest share of particles that were above the height at the same time; for after_step, kept in custom[k]. */
static void scene_note_share_above(scene *s, float height, int k) {
    int i, high = 0;
    for (i = 0; i < s->point_count; ++i) high += s->points[i].y > height;
    if (s->point_count) s->measures.custom[k] = fmaxf(s->measures.custom[k], (float)high / (float)s->point_count);
}

/* ---- dam_break: Martin and Moyce 1952, a column twice as high as wide collapses on a dry bed --------------------- */

#define DAM_WIDTH 0.5f

static bool dam_break_build(scene *s) {
    isph_material_desc water = scene_water(s);
    s->look[0] = render_water(0.6f);
    if (!scene_start_fluid(s, 0.02f, DAM_WIDTH, 2.0f * DAM_WIDTH * DAM_WIDTH * 0.5f, &water)) return false;
    if (!scene_tank(s, v3(0, 0, 0), v3(2.6f, 1.2f, 0.5f)) || !scene_frame_tank(s)) return false;
    scene_camera(s, v3(-0.05f, 0, -0.05f), v3(2.65f, 1.15f, 0.55f), 24.0f, 16.0f);
    return scene_add_box(s, s->liquid[0], v3(0, 0, 0), v3(DAM_WIDTH, 2.0f * DAM_WIDTH, 0.5f));
}

/* Surge front of figure 3 of the paper (a = 2.25 in): Z = front / a passes 2.0 at T = t sqrt(2 g / a) = 1.72 and 4.5 at
   3.66. The speed between is compared, as the moment at which their gate had let go is not known. */
#define DAM_FIRST           2.0f
#define DAM_LAST            4.5f
#define DAM_EXPERIMENT_TIME (3.656f - 1.719f)

/* When the front passed z, between the last step and this one; custom[k] keeps it. */
static void dam_break_pass(scene *s, float z, float before, float now, int k) {
    if (before < z && now >= z) s->measures.custom[k] = s->time - s->dt * (now - z) / (now - before);
}

/* custom[0], [1]: times at which the front passed, [2]: front of the last step, [3], [4]: first and largest energy */
static void dam_break_measure(scene *s) {
    isph_view view = isph_particles(s->fluid);
    float front = 0.0f, *m = s->measures.custom, energy = scene_mean_energy(s);
    int i;
    for (i = 0; i < view.count; ++i) {
        vec3 p = scene_position(&view, i);
        if (p.y < 2.0f * s->spacing && p.x > front) front = p.x;
    }
    front = (front + 0.5f * s->spacing) / DAM_WIDTH;
    dam_break_pass(s, DAM_FIRST, m[2], front, 0);
    dam_break_pass(s, DAM_LAST, m[2], front, 1);
    if (s->steps == 1) m[3] = energy;
    m[2] = front;
    m[4] = fmaxf(m[4], energy);
}

static void dam_break_check(scene *s) {
    const float *m = s->measures.custom;
    float time = (m[1] - m[0]) * sqrtf(2.0f * 9.81f / DAM_WIDTH);
    if (m[1] > 0.0f) scene_check_most(s, "front_speed_error", fabs((double)(DAM_EXPERIMENT_TIME / time) - 1.0), 0.10);
    scene_check_most(s, "energy_growth", (double)(m[4] / m[3]) - 1.0, 0.01);
    scene_check_volume(s, 0.02);
}

/* ---- tank: water at rest stays at rest --------------------------------------------------------------------------- */

/* A tank of one square metre, filled up to `fill` (m) and drawn up to `rim`. */
static bool pool_build(scene *s, float spacing, float fill, float rim) {
    isph_material_desc water = scene_water(s);
    if (!scene_start_fluid(s, spacing, 1.0f, fmaxf(fill, 0.5f), &water)) return false;
    if (!scene_tank(s, v3(0, 0, 0), v3(1, rim, 1)) || !scene_frame_tank(s)) return false;
    s->look[0] = render_water(1.1f);
    scene_camera(s, v3(-0.05f, 0, -0.05f), v3(1.05f, rim, 1.05f), 28.0f, 19.0f);
    return fill <= 0.0f || scene_add_box(s, s->liquid[0], v3(0, 0, 0), v3(1, fill, 1));
}

static bool tank_build(scene *s) { return pool_build(s, 0.04f, 0.8f, 1.1f); }

static void tank_check(scene *s) {
    float height = scene_rest_level(s);
    scene_check_most(s, "height_error", fabs(2.0 * scene_mean_height(s) / (double)height - 1.0), 0.01);
    scene_check_most(s, "rms_speed", scene_rms_speed(s), 0.05);
    scene_check_most(s, "pressure_error", scene_hydrostatic_error(s, height, 1000.0f), 0.05);
    scene_check_volume(s, 0.01);
}

/* ---- pillar: 5 m of water, 30 K particles (Abu Rumman et al. 2020, figure 11) ------------------------------------ */

static bool pillar_build(scene *s) {
    isph_material_desc water = scene_water(s);
    const float side = 0.85f;
    s->view = VIEW_ERROR;
    if (!scene_start_fluid(s, 0.05f, side, 5.0f * side * side, &water)) return false;
    if (!scene_tank(s, v3(0, 0, 0), v3(side, 5.2f, side)) || !scene_frame_tank(s)) return false;
    scene_camera(s, v3(-0.1f, 0, -0.1f), v3(side + 0.1f, 5.2f, side + 0.1f), 30.0f, 8.0f);
    return scene_add_box(s, s->liquid[0], v3(0, 0, 0), v3(side, 5.0f, side));
}

static void pillar_check(scene *s) {
    float height = scene_rest_level(s);
    /* the paper's figure for a spacing of 0.05 m; what is lost is a share of the topmost layer */
    double limit = 1.19e-3 * (double)(s->spacing / 0.05f);
    scene_check_most(s, "volume_loss", fabs(2.0 * scene_mean_height(s) / (double)height - 1.0), limit);
    scene_check_most(s, "pressure_error", scene_hydrostatic_error(s, height, 1000.0f), 0.03);
    scene_check_most(s, "rms_speed", scene_rms_speed(s), 0.05);
}

/* ---- double_dam_break: two columns meet round a statue (Kugelstadt et al. 2019, figures 1, 3, 4) ----------------- */

static bool double_dam_build(scene *s) {
    isph_material_desc water = scene_water(s);
    vec3 hi = v3(3.6f, 1.9f, 1.8f);
    s->look[0] = render_water(1.1f);
    if (!scene_start_fluid(s, 0.045f, 1.8f, 2.0f * 1.3f, &water)) return false;
    if (!scene_tank(s, v3(0, 0, 0), hi) || !scene_frame_tank(s)) return false;
    if (scene_setting(s, "statue", 1.0f) != 0.0f) {
        mesh bunny;
        memset(&bunny, 0, sizeof bunny);
        mesh_bunny(&bunny, 0.8f, 24);
        if (!scene_solid(s, &bunny, v3(1.8f, 0.0f, 0.9f), scene_stone, 1.0f, true)) return false;
    }
    scene_camera(s, v3(-0.05f, 0, -0.05f), v3(hi.x + 0.05f, hi.y - 0.25f, hi.z + 0.05f), 30.0f, 22.0f);
    return scene_add_box(s, s->liquid[0], v3(0, 0, 0), v3(1, 1.3f, 1)) &&
           scene_add_box(s, s->liquid[0], v3(2.6f, 0, 0.8f), v3(3.6f, 1.3f, 1.8f));
}

/* custom[0]: share above twice the height of the columns */
static void double_dam_measure(scene *s) { scene_note_share_above(s, 2.6f, 0); }

static void double_dam_check(scene *s) {
    scene_check_volume(s, 0.02);
    scene_check_most(s, "share_thrown_high", (double)s->measures.custom[0], 0.01);
}

/* ---- rotating_cuboid: a basin stirred by a turning box (Kugelstadt et al. 2019, figure 6) ------------------------ */

static const vec3 cuboid_centre = {1.0f, 0.40f, 1.0f}, cuboid_half = {0.60f, 0.25f, 0.12f};

static bool cuboid_outside(const scene *s, vec3 p) {
    vec3 d = v3_sub(p, cuboid_centre);
    float gap = 0.4f * s->spacing;
    return fabsf(d.x) > cuboid_half.x + gap || fabsf(d.y) > cuboid_half.y + gap || fabsf(d.z) > cuboid_half.z + gap;
}

static bool cuboid_build(scene *s) {
    isph_material_desc water = scene_water(s);
    s->measures.custom[0] = scene_setting(s, "rate", 4.0f); /* rad/s */
    s->look[0] = render_water(1.2f);
    if (!scene_start_fluid(s, 0.05f, 2.0f, 2.0f * 2.0f * 0.9f, &water)) return false;
    if (!scene_tank(s, v3(0, 0, 0), v3(2, 1.5f, 2)) || !scene_frame_tank(s)) return false;
    if (!scene_box(s, cuboid_centre, cuboid_half, scene_red)) return false;
    scene_camera(s, v3(-0.05f, 0, -0.05f), v3(2.05f, 1.45f, 2.05f), 30.0f, 24.0f);
    return scene_add_where(s, s->liquid[0], v3(0, 0, 0), v3(2, 0.9f, 2), cuboid_outside);
}

static void cuboid_move(scene *s) {
    float t = s->time + s->dt; /* where it shall be at the end of the step; the start is soft */
    float angle = s->measures.custom[0] * (t < 0.5f ? t * t : t - 0.25f);
    isphpbd_pose pose = isphpbd_pose_at(cuboid_centre);
    pose.rotation.y = sinf(0.5f * angle), pose.rotation.w = cosf(0.5f * angle);
    isphpbd_collider_move(s->world, s->objects[1].collider, pose);
}

static void cuboid_check(scene *s) { scene_check_volume(s, 0.005); }

/* ---- collapse_recovery: a pool whose solver is off for a second (Kugelstadt et al. 2019, section 4.1) ------------ */

#define COLLAPSE_OFF 0.2f
#define COLLAPSE_ON  1.2f

static bool collapse_build(scene *s) { return pool_build(s, 0.04f, 0.6f, 1.2f); }

static void collapse_switch(scene *s) {
    isph_fluid_set_solver_enabled(s->fluid, s->time < COLLAPSE_OFF || s->time >= COLLAPSE_ON);
}

/* custom[0]: height error one second after the solver came back, [1]: lowest relative height while it was off, [2]:
   share thrown over the rim, [3]: largest energy by that of the pool at rest */
static void collapse_measure(scene *s) {
    float height = scene_rest_level(s);
    float relative = (float)(2.0 * scene_mean_height(s)) / height, *m = s->measures.custom;
    if (s->steps == 1) m[1] = 1.0f, m[0] = -1.0f;
    if (relative < m[1]) m[1] = relative;
    if (m[0] < 0.0f && s->time >= COLLAPSE_ON + 1.0f - 1e-4f) m[0] = fabsf(relative - 1.0f);
    scene_note_share_above(s, s->tank_hi.y, 2);
    m[3] = fmaxf(m[3], scene_mean_energy(s) / (0.5f * 9.81f * height));
}

static void collapse_check(scene *s) {
    const float *m = s->measures.custom;
    scene_check_most(s, "collapsed_to", (double)m[1], 0.5); /* else there was nothing to recover from */
    if (s->time >= COLLAPSE_ON + 1.0f) scene_check_value(s, "height_error_after_1_s", fabs((double)m[0]), 0.03, false);
    /* where no mean shows an explosion there was none; the finer the particles, the higher the highest drop flies */
    scene_check_most(s, "share_thrown_over_the_rim", (double)m[2], 1e-3);
    scene_check_most(s, "energy_by_that_at_rest", (double)m[3], 1.5);
    if (scene_complete(s))
        scene_check_most(s, "density_error_at_end", (double)isph_fluid_stats(s->fluid).density_error_mean, 0.02);
}

/* ---- one_cell_recovery: every particle starts in the same cell (Kugelstadt et al. 2019, section 4.1) ------------- */

static bool one_cell_build(scene *s) {
    uint32_t random = 1;
    int i, n;
    vec3 *points;
    isphpbd_result why;
    if (!pool_build(s, 0.05f, 0.0f, 1.2f)) return false;
    n = (int)(0.4f / (s->spacing * s->spacing * s->spacing));
    points = (vec3 *)malloc((size_t)n * sizeof(vec3));
    if (!points) return scene_fail(s, "particles", ISPHPBD_OUT_OF_MEMORY);
    for (i = 0; i < n; ++i) {
        float r[3];
        int k;
        for (k = 0; k < 3; ++k) random = random * 1664525u + 1013904223u, r[k] = (float)(random >> 8) / 16777216.0f;
        points[i] = v3_madd(v3(0.5f, 0.4f, 0.5f), v3(r[0], r[1], r[2]), s->spacing);
    }
    why = isphpbd_fluid_add(s->world, s->liquid[0], &points[0].x, sizeof(vec3), NULL, 0, n, NULL);
    free(points);
    return why == ISPHPBD_OK ? true : scene_fail(s, "particles", why);
}

/* What is pushed apart by position only becomes a ball of 0.4 m^3, which then falls apart. Its energy, were it to rest
   on the floor, is all there should be; J/kg. */
#define ONE_CELL_ENERGY (9.81f * 0.457f)

/* custom[0]: mean density error one second after the start, [1]: largest energy, J/kg */
static void one_cell_measure(scene *s) {
    s->measures.custom[1] = fmaxf(s->measures.custom[1], scene_mean_energy(s));
    if (s->measures.custom[0] == 0.0f && s->time >= 1.0f - 1e-4f)
        s->measures.custom[0] = isph_fluid_stats(s->fluid).density_error_mean;
}

static void one_cell_check(scene *s) {
    double height = (double)scene_rest_level(s);
    if (s->time >= 1.0f) scene_check_most(s, "density_error_after_1_s", (double)s->measures.custom[0], 0.05);
    scene_check_most(s, "energy_by_that_of_a_ball", (double)(s->measures.custom[1] / ONE_CELL_ENERGY), 1.5);
    scene_check_most(s, "top_speed_m_per_s", (double)s->measures.top_speed, 12.0);
    if (scene_complete(s)) scene_check_most(s, "height_error", fabs(2.0 * scene_mean_height(s) / height - 1.0), 0.05);
}

/* ---- pushout: a basin and a statue, both filled with particles (Kugelstadt et al. 2019, figure 9) ---------------- */

static const vec3 pushout_place = {0.8f, 0.0f, 0.6f};
#define PUSHOUT_BUNNY 0.65f

static bool pushout_build(scene *s) {
    isph_material_desc water = scene_water(s);
    mesh bunny;
    s->look[0] = render_water(1.2f);
    memset(&bunny, 0, sizeof bunny);
    mesh_bunny(&bunny, PUSHOUT_BUNNY, 24);
    if (!scene_start_fluid(s, 0.04f, 0.4f, 1.6f * 1.2f * 0.7f, &water)) return false;
    if (!scene_solid(s, &bunny, pushout_place, scene_stone, 1.0f, true)) return false;
    if (!scene_tank(s, v3(0, 0, 0), v3(1.6f, 1.1f, 1.2f)) || !scene_frame_tank(s)) return false;
    scene_camera(s, v3(-0.05f, 0, -0.05f), v3(1.65f, 1.1f, 1.25f), 28.0f, 18.0f);
    return scene_add_box(s, s->liquid[0], v3(0, 0, 0), v3(1.6f, 0.7f, 1.2f));
}

/* custom[0]: particles inside at the start, custom[1]: and half a second later (-1: not yet) */
static void pushout_measure(scene *s) {
    isph_view view = isph_particles(s->fluid);
    float inside = 0.0f, *m = s->measures.custom;
    int i;
    if (s->steps > 1 && !(m[1] < 0.0f && s->time >= 0.5f - 1e-4f)) return;
    for (i = 0; i < view.count; ++i) {
        vec3 p = v3_scale(v3_sub(scene_position(&view, i), pushout_place), 1.0f / PUSHOUT_BUNNY);
        inside += bunny_distance(p) * PUSHOUT_BUNNY < -0.5f * s->spacing;
    }
    if (s->steps == 1) m[0] = inside, m[1] = -1.0f;
    else m[1] = inside;
}

static void pushout_check(scene *s) {
    if (s->time >= 0.5f)
        scene_check_value(s, "inside_after_half_a_second", fabs((double)s->measures.custom[1]), 0, false);
    scene_check_volume(s, 0.02);
    scene_check_most(s, "highest_m", (double)s->measures.highest, 1.5);
}

/* ---- two_fluids: oil and water side by side change places -------------------------------------------------------- */

static bool two_fluids_build(scene *s) {
    isph_material_desc water = scene_water(s), oil = isph_material_desc_oil();
    oil.density = scene_setting(s, "oil_density", 800.0f);
    if (!scene_start_fluid(s, 0.03f, 0.7f, 1.4f * 0.7f * 0.45f, &water) || !scene_second_fluid(s, &oil)) return false;
    s->look[0] = render_water(0.7f);
    s->look[1].absorption = v3(0.5f, 1.6f, 7.0f), s->look[1].scatter = v3(0.42f, 0.22f, 0.02f), s->look[1].milky = 2.0f;
    if (!scene_tank(s, v3(0, 0, 0), v3(1.4f, 0.95f, 0.45f)) || !scene_frame_tank(s)) return false;
    scene_camera(s, v3(-0.03f, 0, -0.03f), v3(1.43f, 0.95f, 0.48f), 20.0f, 14.0f);
    return scene_add_box(s, s->liquid[0], v3(0, 0, 0), v3(0.7f, 0.7f, 0.45f)) &&
           scene_add_box(s, s->liquid[1], v3(0.7f, 0, 0), v3(1.4f, 0.7f, 0.45f));
}

static void two_fluids_check(scene *s) {
    isph_view view = isph_particles(s->fluid);
    double sum[2] = {0, 0}, count[2] = {0, 0};
    int i;
    for (i = 0; i < view.count; ++i) {
        int kind = view.material[i] != 0;
        sum[kind] += (double)scene_position(&view, i).y;
        count[kind] += 1.0;
    }
    /* fully parted layers of 0.35 m have their middles 0.35 m apart */
    if (scene_complete(s)) scene_check_least(s, "oil_above_water_m", sum[1] / count[1] - sum[0] / count[0], 0.20);
    scene_check_volume(s, 0.02);
}

/* ---- honey: a thick jet coils and heaps up on a plate, real viscosity in SI units -------------------------------- */

#define HONEY_HEIGHT 0.10f
#define HONEY_RADIUS 0.009f
#define HONEY_SPEED  0.9f

static bool honey_build(scene *s) {
    isph_material_desc honey = isph_material_desc_honey();
    honey.viscosity = scene_setting(s, "viscosity", honey.viscosity);
    if (!scene_start_fluid(s, 0.0034f, 0.18f, 3.15f * HONEY_RADIUS * HONEY_RADIUS * HONEY_SPEED * s->seconds * 1.3f,
                           &honey))
        return false;
    s->look[0].absorption = v3(4.0f, 22.0f, 120.0f), s->look[0].scatter = v3(0.60f, 0.26f, 0.015f),
    s->look[0].milky = 20.0f;
    s->look[1] = s->look[0];
    s->foam = 0.0f;   /* too thick to trap air */
    s->smooth = 1.7f; /* its particles keep the disorder in which they fell, which no eye sees in honey */
    if (!scene_tank(s, v3(-0.09f, 0, -0.09f), v3(0.09f, 0.06f, 0.09f)) || !scene_frame_tank(s)) return false;
    scene_camera(s, v3(-0.095f, 0, -0.095f), v3(0.095f, 0.105f, 0.095f), 28.0f, 22.0f);
    return scene_jet(s, v3(0, HONEY_HEIGHT, 0), v3(0, -1, 0), HONEY_RADIUS, HONEY_SPEED, 0.75f * s->seconds);
}

static void honey_check(scene *s) {
    if (scene_complete(s)) scene_check_least(s, "particles", scene_particle_count(s), 100);
    /* water arriving at 1.7 m/s splashes; honey heaps up and creeps */
    if (scene_complete(s)) scene_check_most(s, "rms_speed_at_end", scene_rms_speed(s), 0.10);
    scene_check_most(s, "highest_m", (double)s->measures.highest, (double)(HONEY_HEIGHT + 0.02f));
    scene_check_most(s, "top_speed_m_per_s", (double)s->measures.top_speed, 3.0);
}

/* ---- bunny_slip, bunny_noslip: water poured over a rabbit (Abu Rumman et al. 2020, figure 18) -------------------- */

#define BUNNY_SIZE      0.6f
#define BUNNY_JET       0.14f /* m, radius */
#define BUNNY_JET_SPEED 1.7f  /* m/s */

static bool bunny_build(scene *s, float slip) {
    isph_material_desc water = scene_water(s);
    mesh bunny;
    s->look[0] = render_water(0.5f);
    memset(&bunny, 0, sizeof bunny);
    mesh_bunny(&bunny, BUNNY_SIZE, 30);
    if (!scene_start_fluid(s, 0.018f, 1.3f, 3.15f * BUNNY_JET * BUNNY_JET * BUNNY_JET_SPEED * s->seconds, &water))
        return false;
    if (!scene_tank(s, v3(-0.65f, 0, -0.65f), v3(0.65f, 0.25f, 0.65f)) || !scene_frame_tank(s)) return false;
    if (!scene_solid(s, &bunny, v3(0, 0, 0), scene_stone, scene_setting(s, "slip", slip), true)) return false;
    scene_camera(s, v3(-0.66f, 0, -0.66f), v3(0.66f, 0.92f, 0.66f), 24.0f, 18.0f);
    return scene_jet(s, v3(0.05f, 0.86f, 0), v3(0, -1, 0), BUNNY_JET, BUNNY_JET_SPEED, 0.7f * s->seconds);
}

static bool bunny_slip_build(scene *s) { return bunny_build(s, 1.0f); }
static bool bunny_noslip_build(scene *s) { return bunny_build(s, 0.0f); }

/* custom[0]: sum of the median speed of particles that touch the rabbit, custom[1]: steps that had some */
static void bunny_measure(scene *s) {
    enum { MOST = 4096 };
    isph_view view = isph_particles(s->fluid);
    float speed[MOST];
    int i, count = 0;
    if (s->time < 0.5f * s->seconds || s->time > 0.7f * s->seconds || s->steps % 4) return;
    for (i = 0; i < view.count && count < MOST; ++i) {
        vec3 p = scene_position(&view, i);
        if (p.y < 0.25f || p.y > BUNNY_SIZE) continue;
        if (bunny_distance(v3_scale(p, 1.0f / BUNNY_SIZE)) * BUNNY_SIZE > 0.75f * s->spacing) continue;
        speed[count++] = v3_length(scene_velocity(&view, i));
    }
    if (count < 10) return;
    s->measures.custom[0] += (float)scene_median(speed, count);
    s->measures.custom[1] += 1.0f;
}

static double bunny_skin_speed(const scene *s) {
    return (double)(s->measures.custom[0] / fmaxf(s->measures.custom[1], 1.0f));
}

/* Water that slides falls 0.3 m from 1.7 m/s: it passes at 2 to 3 m/s. Water that sticks has a slow skin. */
static void bunny_slip_check(scene *s) {
    if (scene_complete(s)) scene_check_least(s, "speed_at_skin_m_per_s", bunny_skin_speed(s), 1.7);
    scene_check_volume(s, 0.03);
}
static void bunny_noslip_check(scene *s) {
    scene_check_most(s, "speed_at_skin_m_per_s", bunny_skin_speed(s), 0.85);
    if (scene_complete(s)) scene_check_least(s, "touching_steps", (double)s->measures.custom[1], 1);
    scene_check_volume(s, 0.03);
}

/* ---- moving_cup: water in a cup of zero thickness that is carried about ------------------------------------------ */

#define CUP_BOTTOM 0.20f
#define CUP_TOP    0.27f
#define CUP_HEIGHT 0.60f

static bool cup_inside(const scene *s, vec3 p) { /* the cup starts at the origin, 0.1 m up */
    float y = p.y - 0.1f, r = CUP_BOTTOM + (CUP_TOP - CUP_BOTTOM) * y / CUP_HEIGHT - 0.55f * s->spacing;
    return y > 0.45f * s->spacing && p.x * p.x + p.z * p.z < r * r;
}

static bool cup_build(scene *s) {
    isph_material_desc water = scene_water(s);
    mesh cup;
    scene_object *o;
    s->look[0] = render_water(0.5f);
    memset(&cup, 0, sizeof cup);
    mesh_cup(&cup, CUP_BOTTOM, CUP_TOP, CUP_HEIGHT, 36);
    if (!scene_start_fluid(s, 0.018f, CUP_HEIGHT, 3.15f * CUP_TOP * CUP_TOP * 0.36f, &water)) return false;
    if (!scene_floor(s, 0.0f)) return false;
    o = scene_solid(s, &cup, v3(0, 0.1f, 0), v3(0.75f, 0.86f, 0.92f), 1.0f, false);
    if (!o) return false;
    o->opacity = 0.06f, o->gloss = 1.0f;
    scene_camera(s, v3(-0.66f, 0, -0.3f), v3(0.66f, 0.92f, 0.3f), 15.0f, 14.0f);
    return scene_add_where(s, s->liquid[0], v3(-CUP_TOP, 0.1f, -CUP_TOP), v3(CUP_TOP, 0.44f, CUP_TOP), cup_inside);
}

/* A hand that swings the cup to and fro, up and down, tilting it; all of it starts softly. */
static void cup_pose(float t, vec3 *position, float *tilt) {
    float soft = f_smooth(0.0f, 1.0f, t);
    *position = v3(0.42f * soft * sinf(3.0f * t), 0.1f + 0.12f * soft * (1.0f - cosf(2.3f * t)), 0.0f);
    *tilt = 0.24f * soft * sinf(3.0f * t + 0.5f); /* rad about z */
}

static void cup_move(scene *s) {
    isphpbd_pose pose = isphpbd_pose_at(v3_all(0.0f));
    float tilt;
    cup_pose(s->time + s->dt, &pose.position, &tilt);
    pose.rotation.z = sinf(0.5f * tilt), pose.rotation.w = cosf(0.5f * tilt);
    isphpbd_collider_move(s->world, s->objects[0].collider, pose);
}

/* Outside the wall or below the bottom, seen from the cup: a leak. What is above the rim only splashes. */
static void cup_measure(scene *s) {
    isph_view view = isph_particles(s->fluid);
    isphpbd_pose pose;
    isphpbd_quat back;
    int i, leaked = 0;
    if (isphpbd_collider_pose(s->world, s->objects[0].collider, &pose) != ISPHPBD_OK) return;
    back = pose.rotation, back.x = -back.x, back.y = -back.y, back.z = -back.z;
    for (i = 0; i < view.count; ++i) {
        vec3 p = scene_rotate(back, v3_sub(scene_position(&view, i), pose.position));
        float r = CUP_BOTTOM + (CUP_TOP - CUP_BOTTOM) * p.y / CUP_HEIGHT;
        leaked += p.y < 0.0f || (p.y <= CUP_HEIGHT && p.x * p.x + p.z * p.z > r * r);
    }
    if (leaked > s->measures.intruded) s->measures.intruded = leaked;
}

static void cup_check(scene *s) { scene_check_volume(s, 0.03); }

/* ---- the list ---------------------------------------------------------------------------------------------------- */

static const scene_def scenes_fluid[] = {
    {"dam_break", "a column collapses on a dry bed: the experiment of Martin and Moyce", 2.0f, 1.0f / 60.0f,
     dam_break_build, NULL, dam_break_measure, dam_break_check},
    {"tank", "water at rest stays at rest", 3.0f, 1.0f / 60.0f, tank_build, NULL, NULL, tank_check},
    {"pillar", "a column 5 m high holds its pressure and volume", 2.0f, 1.0f / 100.0f, pillar_build, NULL, NULL,
     pillar_check},
    {"double_dam_break", "two columns break and meet round a statue", 4.0f, 1.0f / 60.0f, double_dam_build, NULL,
     double_dam_measure, double_dam_check},
    {"rotating_cuboid", "a basin stirred by a turning box keeps its volume", 6.0f, 1.0f / 60.0f, cuboid_build,
     cuboid_move, NULL, cuboid_check},
    {"collapse_recovery", "a pool recovers from a second without solver", 3.0f, 1.0f / 60.0f, collapse_build,
     collapse_switch, collapse_measure, collapse_check},
    {"one_cell_recovery", "all particles in one cell become a pool without exploding", 2.5f, 1.0f / 60.0f,
     one_cell_build, NULL, one_cell_measure, one_cell_check},
    {"pushout", "particles found inside a statue leave it and the water rises", 2.0f, 1.0f / 60.0f, pushout_build, NULL,
     pushout_measure, pushout_check},
    {"two_fluids", "oil and water side by side end as layers", 5.0f, 1.0f / 60.0f, two_fluids_build, NULL, NULL,
     two_fluids_check},
    {"honey", "a jet of honey, 10 Pa s, heaps up on a plate", 3.0f, 1.0f / 60.0f, honey_build, NULL, NULL, honey_check},
    {"bunny_slip", "water slides over a rabbit", 2.4f, 1.0f / 60.0f, bunny_slip_build, NULL, bunny_measure,
     bunny_slip_check},
    {"bunny_noslip", "water clings to a rough rabbit", 2.4f, 1.0f / 60.0f, bunny_noslip_build, NULL, bunny_measure,
     bunny_noslip_check},
    {"moving_cup", "a cup of zero thickness is swung about and does not leak", 4.0f, 1.0f / 60.0f, cup_build, cup_move,
     cup_measure, cup_check}};

enum { SCENES_FLUID_COUNT = sizeof scenes_fluid / sizeof scenes_fluid[0] };
