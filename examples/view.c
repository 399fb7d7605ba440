/* view.c - a live viewer of the scenes, with SDL2 and OpenGL. `make view` builds it where SDL2 is installed. SPDX: MIT

   build/view water_balloon                    --scale F  --set KEY=VALUE  --threads N  --size WxH
   left mouse      turns; on a slider sets it; on cloth grabs and drags a vertex      wheel: nearer, farther
   space pause     n one step     r reset     b shoot a ball     c next colours     tab next scene     esc end

   --frames N --screenshot FILE runs N frames and writes a picture; --keys STRING presses one key per frame, --drag
   X,Y,X,Y moves the mouse from pixel to pixel with its button held. So that it can be tested on a machine without a
   screen: SDL_VIDEODRIVER=offscreen. */
#define _POSIX_C_SOURCE 200809L
#define ISPHPBD_IMPLEMENTATION
#define EXAMPLES_IMPLEMENTATION
#include "isphpbd.h"

#include "png.h"
#include "scenes.h"
#include "threads.h"

#include <SDL.h>
#include <SDL_opengl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- OpenGL ------------------------------------------------------------------------------------------------------ */

/* Version 2.1, fetched at run time so that nothing but SDL2 has to be linked. */
#define VIEW_GL(X)                                                                                                     \
    X(void, ClearColor, (GLfloat, GLfloat, GLfloat, GLfloat))                                                          \
    X(void, Clear, (GLbitfield))                                                                                       \
    X(void, Viewport, (GLint, GLint, GLsizei, GLsizei))                                                                \
    X(void, Enable, (GLenum))                                                                                          \
    X(void, Disable, (GLenum))                                                                                         \
    X(void, BlendFunc, (GLenum, GLenum))                                                                               \
    X(void, DepthMask, (GLboolean))                                                                                    \
    X(void, MatrixMode, (GLenum))                                                                                      \
    X(void, LoadMatrixf, (const GLfloat *))                                                                            \
    X(void, EnableClientState, (GLenum))                                                                               \
    X(void, DisableClientState, (GLenum))                                                                              \
    X(void, VertexPointer, (GLint, GLenum, GLsizei, const void *))                                                     \
    X(void, NormalPointer, (GLenum, GLsizei, const void *))                                                            \
    X(void, ColorPointer, (GLint, GLenum, GLsizei, const void *))                                                      \
    X(void, Color4f, (GLfloat, GLfloat, GLfloat, GLfloat))                                                             \
    X(void, DrawArrays, (GLenum, GLint, GLsizei))                                                                      \
    X(void, DrawElements, (GLenum, GLsizei, GLenum, const void *))                                                     \
    X(void, PixelStorei, (GLenum, GLint))                                                                              \
    X(void, WindowPos2i, (GLint, GLint))                                                                               \
    X(void, DrawPixels, (GLsizei, GLsizei, GLenum, GLenum, const void *))                                              \
    X(void, PixelZoom, (GLfloat, GLfloat))                                                                             \
    X(void, ReadPixels, (GLint, GLint, GLsizei, GLsizei, GLenum, GLenum, void *))                                      \
    X(GLuint, CreateShader, (GLenum))                                                                                  \
    X(void, ShaderSource, (GLuint, GLsizei, const char *const *, const GLint *))                                       \
    X(void, CompileShader, (GLuint))                                                                                   \
    X(GLuint, CreateProgram, (void))                                                                                   \
    X(void, AttachShader, (GLuint, GLuint))                                                                            \
    X(void, LinkProgram, (GLuint))                                                                                     \
    X(void, GetProgramiv, (GLuint, GLenum, GLint *))                                                                   \
    X(void, UseProgram, (GLuint))                                                                                      \
    X(GLint, GetUniformLocation, (GLuint, const char *))                                                               \
    X(void, Uniform1i, (GLint, GLint))                                                                                 \
    X(void, Uniform2f, (GLint, GLfloat, GLfloat))                                                                      \
    X(void, Uniform4f, (GLint, GLfloat, GLfloat, GLfloat, GLfloat))                                                    \
    X(void, GenTextures, (GLsizei, GLuint *))                                                                          \
    X(void, ActiveTexture, (GLenum))                                                                                   \
    X(void, BindTexture, (GLenum, GLuint))                                                                             \
    X(void, TexParameteri, (GLenum, GLenum, GLint))                                                                    \
    X(void, CopyTexImage2D, (GLenum, GLint, GLenum, GLint, GLint, GLsizei, GLsizei, GLint))

typedef struct view_gl {
#define VIEW_MEMBER(result, name, arguments) result(APIENTRY *name) arguments;
    VIEW_GL(VIEW_MEMBER)
#undef VIEW_MEMBER
} view_gl;

static bool view_load(void **slot, const char *name) {
    *slot = SDL_GL_GetProcAddress(name);
    if (!*slot) fprintf(stderr, "view: OpenGL has no %s\n", name);
    return *slot != NULL;
}

static bool view_load_gl(view_gl *gl) {
    bool ok = true;
#define VIEW_LOAD(result, name, arguments)                                                                             \
    {                                                                                                                  \
        void *found = NULL;                                                                                            \
        ok = view_load(&found, "gl" #name) && ok;                                                                      \
        memcpy(&gl->name, &found, sizeof found);                                                                       \
    }
    VIEW_GL(VIEW_LOAD)
#undef VIEW_LOAD
    return ok;
}

/* Particles are points that the shader makes round and lights like balls; solids are lit from two sides. */
static const char *const view_ball_vertex =
    "#version 120\n"
    "uniform vec2 size; varying vec4 tint;\n"
    "void main() { gl_Position = gl_ModelViewProjectionMatrix * gl_Vertex; tint = gl_Color;\n"
    "  gl_PointSize = max(size.x * size.y / gl_Position.w, 1.0); }\n";
static const char *const view_ball_fragment =
    "#version 120\n"
    "varying vec4 tint;\n"
    "void main() { vec2 p = 2.0 * gl_PointCoord - 1.0; float r = dot(p, p); if (r > 1.0) discard;\n"
    "  vec3 n = vec3(p.x, -p.y, sqrt(1.0 - r)); float light = 0.45 + 0.55 * max(dot(n, vec3(0.42, 0.74, 0.53)), 0.0);\n"
    "  gl_FragColor = vec4(tint.rgb * light, tint.a); }\n";
static const char *const view_solid_vertex =
    "#version 120\n"
    "varying vec4 tint; varying vec3 n, at;\n"
    "void main() { gl_Position = gl_ModelViewProjectionMatrix * gl_Vertex; tint = gl_Color; n = gl_Normal;\n"
    "  at = gl_Vertex.xyz; }\n";
static const char *const view_solid_fragment =
    "#version 120\n"
    "varying vec4 tint; varying vec3 n, at;\n"
    "uniform vec4 tile;\n" /* x, z of the middle, side in m of the squares of the floor; 0: no floor */
    "void main() { vec3 m = dot(n, n) > 0.0 ? n : cross(dFdx(at), dFdy(at));\n" /* no normal: faceted */
    "  float d = dot(normalize(m), vec3(0.42, 0.74, 0.53));\n"
    "  vec3 color = tint.rgb * (0.40 + 0.60 * abs(d));\n"
    "  if (tile.z > 0.0) { vec2 q = (at.xz - tile.xy) / tile.z, c = mod(floor(q), 2.0);\n"
    "    color = mix(color * (c.x == c.y ? 1.0 : 0.92), vec3(0.72, 0.79, 0.86), smoothstep(5.0, 30.0, length(q))); }\n"
    "  gl_FragColor = vec4(color, tint.a); }\n";

/* Water as a surface, on the screen: the nearest depth of the particles, smoothed, becomes a surface with normals; how
   much light their number takes away becomes its colour (van der Laan et al. 2009, "Screen space fluid rendering
   with curvature flow", with a filter that keeps edges instead of the curvature). Depths are packed into 24 bits. The
   back buffer is copied from pass to pass: no more than OpenGL 2.1 is needed. */
#define VIEW_PACK                                                                                                      \
    "vec4 pack(float z) { vec3 c = fract(z * vec3(1.0, 255.0, 65025.0)); return vec4(c - c.yzz / vec3(255.0, 255.0, "  \
    "1e9), 1.0); }\n"                                                                                                  \
    "float depth(vec4 c) { return dot(c.rgb, vec3(1.0, 1.0 / 255.0, 1.0 / 65025.0)); }\n"
static const char *const view_depth_vertex =
    "#version 120\n"
    "uniform vec4 lens; varying float z;\n" /* diameter (m), pixels per radian, farthest (m), filter */
    "void main() { gl_Position = gl_ModelViewProjectionMatrix * gl_Vertex; z = gl_Position.w / lens.z;\n"
    "  gl_PointSize = max(1.6 * lens.x * lens.y / gl_Position.w, 2.0); }\n";
static const char *const view_depth_fragment =
    "#version 120\n"
    "uniform vec4 lens; varying float z;\n" VIEW_PACK
    "void main() { vec2 p = 2.0 * gl_PointCoord - 1.0; float r = dot(p, p); if (r > 1.0) discard;\n"
    "  float bulge = 0.5 * lens.x * sqrt(1.0 - r) / lens.z;\n"
    "  gl_FragDepth = z - bulge; gl_FragColor = pack(clamp(z - bulge, 0.0, 0.999)); }\n";
static const char *const view_amount_fragment =
    "#version 120\n"
    "varying vec4 tint;\n"
    "void main() { vec2 p = 2.0 * gl_PointCoord - 1.0; float r = dot(p, p); if (r > 1.0) discard;\n"
    "  gl_FragColor = tint * sqrt(1.0 - r); }\n";
static const char *const view_screen_vertex =
    "#version 120\n"
    "varying vec2 uv;\n"
    "void main() { gl_Position = gl_Vertex; uv = 0.5 + 0.5 * gl_Vertex.xy; }\n";
static const char *const view_smooth_fragment =
    "#version 120\n"
    "uniform sampler2D near; uniform vec4 lens; uniform vec2 along; varying vec2 uv;\n" VIEW_PACK
    "void main() { float z = depth(texture2D(near, uv)), sum = 0.0, weights = 0.0;\n"
    "  if (z > 0.998) { gl_FragColor = vec4(1.0); return; }\n"
    "  float reach = max(0.2 * lens.x * lens.y / (z * lens.z) * lens.w, 1.0);\n" /* pixels between samples */
    "  for (int i = -10; i <= 10; ++i) {\n"
    "    float q = depth(texture2D(near, uv + float(i) * reach * along));\n"
    "    float off = (q - z) * lens.z / (1.5 * lens.x), t = float(i) / 5.0;\n"
    "    float w = q > 0.998 ? 0.0 : exp(-t * t - off * off); sum += w * q, weights += w; }\n"
    "  gl_FragColor = pack(sum / weights); }\n";
static const char *const view_water_fragment =
    "#version 120\n"
    "uniform sampler2D near, amount, behind; uniform vec4 lens, clip; uniform vec2 pixel; varying vec2 uv;\n"
    "uniform vec4 soak0, soak1, glow0, glow1;\n" VIEW_PACK
    "vec3 place(vec2 at) { float z = depth(texture2D(near, at)) * lens.z;\n"
    "  return vec3((2.0 * at - 1.0) * clip.zw * z, -z); }\n"
    "vec3 slope(vec3 p, vec2 d) { vec3 a = place(uv + d) - p, b = p - place(uv - d);\n"
    "  return abs(a.z) < abs(b.z) ? a : b; }\n"
    "void main() { vec3 p = place(uv); if (-p.z > 0.998 * lens.z) discard;\n"
    "  vec3 n = normalize(cross(slope(p, vec2(2.0 * pixel.x, 0.0)), slope(p, vec2(0.0, 2.0 * pixel.y))));\n"
    "  vec3 d = normalize(p);\n"
    "  vec2 much = vec2(0.0); float ball = 0.4 * lens.x * lens.y / -p.z;\n"
    "  for (int i = -2; i <= 2; ++i) for (int k = -2; k <= 2; ++k)\n"
    "    much += 0.04 * texture2D(amount, uv + ball * pixel * vec2(float(i), float(k))).rg;\n"
    "  vec3 tau = much.x * soak0.rgb + much.y * soak1.rgb, mirror = reflect(d, n);\n"
    "  vec3 glow = (much.x * glow0.rgb + much.y * glow1.rgb) / max(much.x + much.y, 0.001);\n"
    "  vec3 seen = texture2D(behind, uv + 0.04 * min(tau.r, 1.0) * n.xy).rgb * exp(-tau);\n"
    "  seen += glow * (1.0 - exp(-0.4 * max(tau.r, tau.b)));\n"
    "  float f = 0.02 + 0.98 * pow(1.0 - max(-dot(n, d), 0.0), 5.0);\n"
    "  seen = mix(seen, vec3(0.72, 0.79, 0.86) + 0.1 * mirror.y, f);\n"
    "  seen += pow(max(dot(mirror, vec3(0.36, 0.80, 0.48)), 0.0), 60.0);\n"
    "  gl_FragDepth = 0.5 + 0.5 * (clip.x + clip.y / (0.6 * lens.x - p.z));\n" /* behind the skin that it touches */
    "  gl_FragColor = vec4(seen, 1.0); }\n";

static GLuint view_program(const view_gl *gl, const char *vertex, const char *fragment) {
    GLuint program = gl->CreateProgram(), shader[2];
    GLint linked = 0;
    int i;
    for (i = 0; i < 2; ++i) {
        const char *text = i ? fragment : vertex;
        shader[i] = gl->CreateShader(i ? GL_FRAGMENT_SHADER : GL_VERTEX_SHADER);
        gl->ShaderSource(shader[i], 1, &text, NULL);
        gl->CompileShader(shader[i]);
        gl->AttachShader(program, shader[i]);
    }
    gl->LinkProgram(program);
    gl->GetProgramiv(program, GL_LINK_STATUS, &linked);
    return linked ? program : 0;
}

/* ---- state ------------------------------------------------------------------------------------------------------- */

/* in distances of the eye: the clipping planes, and how far water is seen */
#define VIEW_NEAREST  0.02f
#define VIEW_FARTHEST 20.0f
#define VIEW_FAR      5.0f

enum { VIEW_SLIDERS = 8, VIEW_PANEL_WIDTH = 330, VIEW_PANEL_HEIGHT = 318, VIEW_ROW = 16, VIEW_BALLS = 4 };
enum { VIEW_NEAR = 0, VIEW_AMOUNT, VIEW_BEHIND, VIEW_TEXTURES }; /* the copies of the screen that water needs */
enum {
    VIEW_SHARE = 8
}; /* of 255: how much of a liquid a particle is; 32 of them behind each other are all that is told */
enum { COLORS_SURFACE = 0, COLORS_PRESSURE, COLORS_SPEED, COLORS_BALLS, COLORS_COUNT };

/* Times of a step that exclude each other: the rest of it goes to the search for walls and the motion of particles. */
enum {
    TIME_STEP = 0,
    TIME_NEIGHBOURS,
    TIME_VISCOSITY,
    TIME_PRESSURE,
    TIME_COUPLING,
    TIME_CONSTRAINTS,
    TIME_REST,
    VIEW_TIMES
};

typedef struct view_slider {
    const char *name;
    float lo, hi, value;
    bool whole; /* numbers */
} view_slider;

typedef struct view {
    const char *name, *screenshot, *keys;
    int drag[4]; /* pixels: from x, y to x, y */
    bool drags;
    scene_options options;
    scene *s;
    int width, height, frames, frame, colors, slider; /* slider: the one that is held, or -1 */
    bool paused, quit, turning;
    float yaw, pitch, distance, fov; /* radians, m, degrees */
    vec3 target, eye, right, up, forward;
    float matrix[16]; /* projection times view */
    view_slider sliders[VIEW_SLIDERS];
    scene_object *grabbed;
    int grabbed_vertex, grabbed_input; /* here; of the input mesh */
    bool grabbed_was_pinned;
    float grabbed_depth;
    scene_object *balls[VIEW_BALLS];
    int shots;
    image panel;
    uint32_t *tints;
    vec3 *normals;
    int tint_capacity, normal_capacity;
    view_gl gl;
    GLuint ball_program, solid_program, depth_program, amount_program, smooth_program, water_program;
    GLuint textures[VIEW_TEXTURES];
    double ms[VIEW_TIMES]; /* smoothed, all in the same way */
} view;

static uint64_t view_ticks(void *user) {
    struct timespec t;
    (void)user;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void view_set_sliders(view *v) {
    static const view_slider names[VIEW_SLIDERS] = {
        {"gravity m/s2", -20, 20, 0, false}, {"wind m/s", -15, 15, 0, false},
        {"substeps", 1, 32, 0, true},        {"pressure iterations", 1, 100, 0, true},
        {"soft substeps", 1, 48, 0, true},   {"constraint iterations", 1, 50, 0, true},
        {"outer iterations", 1, 8, 0, true}, {"deadline ms (0 none)", 0, 50, 0, false}};
    const isphpbd_budget *budget = &v->s->budget;
    memcpy(v->sliders, names, sizeof names);
    v->sliders[0].value = v->s->bodies->gravity.y, v->sliders[1].value = v->s->wind.x;
    v->sliders[2].value = (float)budget->substeps, v->sliders[3].value = (float)budget->pressure_iterations;
    v->sliders[4].value = (float)budget->soft_substeps, v->sliders[5].value = (float)budget->constraint_iterations;
    v->sliders[6].value = (float)budget->outer_iterations;
}

static void view_apply_sliders(view *v) {
    isphpbd_budget *budget = &v->s->budget;
    v->s->bodies->gravity = v3(0, v->sliders[0].value, 0);
    isphpbd_world_set_gravity(v->s->world, v->s->bodies->gravity);
    v->s->wind.x = v->sliders[1].value;
    isphpbd_world_set_wind(v->s->world, v->s->wind);
    budget->substeps = (int)v->sliders[2].value, budget->pressure_iterations = (int)v->sliders[3].value;
    budget->soft_substeps = (int)v->sliders[4].value, budget->constraint_iterations = (int)v->sliders[5].value;
    budget->outer_iterations = (int)v->sliders[6].value, budget->deadline_seconds = 1e-3f * v->sliders[7].value;
    isphpbd_world_set_budget(v->s->world, budget);
}

/* Builds the scene anew; false: it says why. The camera starts where the pictures are taken from. */
static bool view_reset(view *v, bool camera) {
    char message[256] = "";
    scene *s = scene_create(v->name, &v->options, message, sizeof message);
    vec3 back;
    if (!s) return fprintf(stderr, "view: %s\n", message), false;
    scene_destroy(v->s);
    v->s = s, v->grabbed = NULL, v->shots = 0, v->slider = -1;
    memset(v->balls, 0, sizeof v->balls);
    view_set_sliders(v);
    if (!camera) return true;
    back = v3_sub(s->eye, s->target);
    v->distance = v3_length(back), v->target = s->target, v->fov = s->fov;
    v->yaw = atan2f(back.x, back.z), v->pitch = asinf(back.y / v->distance);
    return true;
}

static void view_next_scene(view *v) {
    int i;
    for (i = 0; i < scene_count(); ++i)
        if (strcmp(scene_at(i)->name, v->name) == 0) break;
    v->name = scene_at((i + 1) % scene_count())->name;
    v->options.key_count = 0; /* settings belong to a scene */
    if (!view_reset(v, true)) v->quit = true;
}

/* ---- camera ------------------------------------------------------------------------------------------------------ */

static void view_camera(view *v) {
    float f = 1.0f / tanf(0.5f * v->fov * 0.017453293f), aspect = (float)v->width / (float)v->height;
    float nearest = VIEW_NEAREST * v->distance, farthest = VIEW_FARTHEST * v->distance, row[3][4];
    float a = (farthest + nearest) / (nearest - farthest), b = 2.0f * farthest * nearest / (nearest - farthest);
    float lowest = (v->s->ground - v->target.y) / v->distance + 0.02f; /* the eye stays above the ground */
    vec3 back, axis[3];
    int i;
    v->pitch = fmaxf(v->pitch, asinf(f_clamp(lowest, -1.0f, 1.0f)));
    back = v3(sinf(v->yaw) * cosf(v->pitch), sinf(v->pitch), cosf(v->yaw) * cosf(v->pitch));
    v->eye = v3_madd(v->target, back, v->distance), v->forward = v3_scale(back, -1.0f);
    v->right = v3_unit(v3_cross(v3(0, 1, 0), back)), v->up = v3_cross(back, v->right);
    axis[0] = v->right, axis[1] = v->up, axis[2] = back;
    for (i = 0; i < 3; ++i)
        row[i][0] = axis[i].x, row[i][1] = axis[i].y, row[i][2] = axis[i].z, row[i][3] = -v3_dot(axis[i], v->eye);
    for (i = 0; i < 4; ++i) {
        v->matrix[4 * i] = f / aspect * row[0][i], v->matrix[4 * i + 1] = f * row[1][i];
        v->matrix[4 * i + 2] = a * row[2][i] + (i == 3 ? b : 0.0f), v->matrix[4 * i + 3] = -row[2][i];
    }
}

static vec3 view_ray(const view *v, int x, int y) { /* from the eye; its part along the view direction is 1 */
    float tangent = tanf(0.5f * v->fov * 0.017453293f), aspect = (float)v->width / (float)v->height;
    float a = (2.0f * ((float)x + 0.5f) / (float)v->width - 1.0f) * tangent * aspect;
    float b = (1.0f - 2.0f * ((float)y + 0.5f) / (float)v->height) * tangent;
    return v3_madd(v3_madd(v->forward, v->right, a), v->up, b);
}

/* ---- hands: vertices, balls, sliders ----------------------------------------------------------------------------- */

static bool view_grab(view *v, int x, int y) { /* the vertex nearest to the mouse, within 2 % of the picture */
    vec3 ray = v3_unit(view_ray(v, x, y));
    float best = 0.02f;
    int i, k;
    for (i = 0; i < v->s->object_count; ++i) {
        scene_object *o = &v->s->objects[i];
        for (k = 0; o->soft.id && k < o->shape.vertex_count; ++k) {
            vec3 d = v3_sub(o->vertices[k], v->eye);
            float along = v3_dot(d, ray), off = v3_length(v3_madd(d, ray, -along)) / along;
            if (along > 0.0f && off < best) best = off, v->grabbed = o, v->grabbed_vertex = k;
        }
    }
    if (!v->grabbed) return false;
    {
        ipbd_view soft = ipbd_body_view(v->s->soft, v->grabbed->soft);
        for (i = 0; i < soft.input_vertex_count; ++i)
            if (soft.vertex_map[i] == (uint32_t)v->grabbed_vertex) v->grabbed_input = i;
        v->grabbed_was_pinned = soft.positions[4 * v->grabbed_vertex + 3] == 0.0f;
    }
    v->grabbed_depth = v3_dot(v3_sub(v->grabbed->vertices[v->grabbed_vertex], v->eye), v->forward);
    ipbd_pin(v->s->soft, v->grabbed->soft, v->grabbed_input);
    return true;
}

static void view_drag(view *v, int x, int y) {
    vec3 to = v3_madd(v->eye, view_ray(v, x, y), v->grabbed_depth);
    ipbd_pin_move(v->s->soft, v->grabbed->soft, v->grabbed_input, to);
}

static void view_release(view *v) {
    if (v->grabbed && !v->grabbed_was_pinned) ipbd_unpin(v->s->soft, v->grabbed->soft, v->grabbed_input);
    v->grabbed = NULL, v->slider = -1, v->turning = false;
}

static void view_shoot(view *v, int x, int y) { /* a wooden ball from the eye; the fifth is the first again */
    float size = v3_length(v3_sub(v->s->shown_hi, v->s->shown_lo)), radius = fmaxf(0.04f * size, 2.5f * v->s->spacing);
    scene_object **ball = &v->balls[v->shots % VIEW_BALLS];
    vec3 ray = v3_unit(view_ray(v, x, y)), from = v3_madd(v->eye, ray, 0.4f * v->distance);
    host_body *body;
    if (!*ball) *ball = scene_ball_body(v->s, radius, 600.0f, from, v3(0.75f, 0.55f, 0.30f));
    if (!*ball) return;
    body = scene_host_body(v->s, *ball);
    body->motion = isphpbd_motion_at(from);
    body->motion.linear_velocity = v3_scale(ray, 2.5f * sqrtf(9.81f * size));
    ++v->shots;
}

static void view_set_slider(view *v, int x) {
    view_slider *slider = &v->sliders[v->slider];
    float t = f_clamp(((float)x - 10.0f) / (float)(VIEW_PANEL_WIDTH - 20), 0.0f, 1.0f);
    slider->value = slider->lo + t * (slider->hi - slider->lo);
    if (slider->whole) slider->value = floorf(slider->value + 0.5f);
    view_apply_sliders(v);
}

static int view_slider_top(int index) { return VIEW_PANEL_HEIGHT - (VIEW_SLIDERS - index) * VIEW_ROW; }

static void view_press(view *v, int x, int y) {
    int i;
    v->slider = -1;
    for (i = 0; i < VIEW_SLIDERS; ++i)
        if (x < VIEW_PANEL_WIDTH && y >= view_slider_top(i) && y < view_slider_top(i) + VIEW_ROW) v->slider = i;
    if (v->slider >= 0) view_set_slider(v, x);
    else if (!view_grab(v, x, y)) v->turning = true;
}

/* ---- drawing ----------------------------------------------------------------------------------------------------- */

static uint32_t view_bytes(uint32_t rgb) { /* r, g, b, a in memory */
    return (rgb >> 16 & 255u) | (rgb & 0xff00u) | (rgb & 255u) << 16 | 0xff000000u;
}

static uint32_t view_tint(const view *v, const isph_view *view_, int i) {
    float scale = sqrtf(19.62f * (v->s->shown_hi.y - v->s->shown_lo.y)), value;
    if (v->colors == COLORS_SURFACE) return (uint32_t)VIEW_SHARE << (view_->material[i] ? 8 : 0); /* red or green */
    if (v->colors == COLORS_PRESSURE) value = view_->pressure[i] / (4905.0f * (v->s->shown_hi.y - v->s->shown_lo.y));
    else value = v3_length(scene_velocity(view_, i)) / scale;
    if (v->colors != COLORS_BALLS) return view_bytes(render_pressure_color(value));
    if (view_->material[i]) return view_bytes(0xd9a441u);
    value = f_clamp(value, 0.0f, 1.0f);
    return view_bytes((uint32_t)(30.0f + 200.0f * value) << 16 | (uint32_t)(110.0f + 130.0f * value) << 8 | 0xf0u);
}

static float view_pixels_per_radian(const view *v) {
    return (float)v->height / (2.0f * tanf(0.5f * v->fov * 0.017453293f));
}

static void view_draw_points(view *v, GLuint program) {
    isph_view particles = isph_particles(v->s->fluid);
    const view_gl *gl = &v->gl;
    gl->UseProgram(program);
    gl->Uniform2f(gl->GetUniformLocation(program, "size"), v->s->spacing, view_pixels_per_radian(v));
    gl->Uniform4f(gl->GetUniformLocation(program, "lens"), v->s->spacing, view_pixels_per_radian(v),
                  VIEW_FAR * v->distance, 0.0f);
    gl->EnableClientState(GL_COLOR_ARRAY);
    gl->VertexPointer(3, GL_FLOAT, (GLsizei)particles.stride_bytes, particles.position);
    gl->ColorPointer(4, GL_UNSIGNED_BYTE, 0, v->tints);
    gl->DrawArrays(GL_POINTS, 0, particles.count);
    gl->DisableClientState(GL_COLOR_ARRAY);
}

static bool view_tint_particles(view *v) {
    isph_view particles = isph_particles(v->s->fluid);
    int i;
    if (particles.count > v->tint_capacity) {
        uint32_t *tints = (uint32_t *)realloc(v->tints, (size_t)particles.count * sizeof(uint32_t));
        if (!tints) return false;
        v->tints = tints, v->tint_capacity = particles.count;
    }
    for (i = 0; i < particles.count; ++i) v->tints[i] = view_tint(v, &particles, i);
    return particles.count > 0;
}

/* ---- water on the screen ----------------------------------------------------------------------------------------- */

static void view_keep(const view *v, int texture) { /* a copy of the back buffer */
    const view_gl *gl = &v->gl;
    gl->ActiveTexture(GL_TEXTURE0 + (GLenum)texture);
    gl->BindTexture(GL_TEXTURE_2D, v->textures[texture]);
    gl->CopyTexImage2D(GL_TEXTURE_2D, 0, GL_RGB8, 0, 0, v->width, v->height, 0);
    gl->TexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, texture == VIEW_NEAR ? GL_NEAREST : GL_LINEAR);
    gl->TexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, texture == VIEW_NEAR ? GL_NEAREST : GL_LINEAR);
    gl->TexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_S, GL_CLAMP_TO_EDGE);
    gl->TexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_T, GL_CLAMP_TO_EDGE);
}

/* What a full byte of a liquid's amount takes away of the light, and the colour that it gives back. A ball covers on
   average 0.52 of its spacing squared: pi / 4 of it, two thirds as bright as its middle. */
static void view_send_liquid(const view *v, GLuint program, int kind, const char *soak, const char *glow) {
    const render_liquid *look = &v->s->look[kind];
    vec3 tau = v3_scale(look->absorption, v->s->spacing * 255.0f / (0.52f * (float)VIEW_SHARE));
    v->gl.Uniform4f(v->gl.GetUniformLocation(program, soak), tau.x, tau.y, tau.z, 0.0f);
    v->gl.Uniform4f(v->gl.GetUniformLocation(program, glow), sqrtf(look->scatter.x), sqrtf(look->scatter.y),
                    sqrtf(look->scatter.z), 0.0f);
}

/* Two triangles over the whole screen; wide: of the filter. */
static void view_draw_screen(const view *v, GLuint program, float along_x, float along_y, float wide) {
    static const float corner[12] = {-1, -1, 0, 1, -1, 0, -1, 1, 0, 1, 1, 0};
    static const char *const names[VIEW_TEXTURES] = {"near", "amount", "behind"};
    const view_gl *gl = &v->gl;
    float tangent = tanf(0.5f * v->fov * 0.017453293f), nearest = VIEW_NEAREST * v->distance;
    float farthest = VIEW_FARTHEST * v->distance;
    int i;
    gl->UseProgram(program);
    for (i = 0; i < VIEW_TEXTURES; ++i) gl->Uniform1i(gl->GetUniformLocation(program, names[i]), i);
    gl->Uniform4f(gl->GetUniformLocation(program, "lens"), v->s->spacing, view_pixels_per_radian(v),
                  VIEW_FAR * v->distance, wide);
    gl->Uniform4f(gl->GetUniformLocation(program, "clip"), (farthest + nearest) / (farthest - nearest),
                  -2.0f * farthest * nearest / (farthest - nearest), tangent * (float)v->width / (float)v->height,
                  tangent);
    gl->Uniform2f(gl->GetUniformLocation(program, "along"), along_x / (float)v->width, along_y / (float)v->height);
    gl->Uniform2f(gl->GetUniformLocation(program, "pixel"), 1.0f / (float)v->width, 1.0f / (float)v->height);
    view_send_liquid(v, program, 0, "soak0", "glow0"), view_send_liquid(v, program, 1, "soak1", "glow1");
    gl->VertexPointer(3, GL_FLOAT, 0, corner);
    gl->DrawArrays(GL_TRIANGLE_STRIP, 0, 4);
}

/* Depth and amount of the water, kept as textures; leaves the back buffer to what comes next. */
static void view_measure_water(view *v) {
    const view_gl *gl = &v->gl;
    int pass;
    gl->ClearColor(1, 1, 1, 1);
    gl->Clear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT);
    view_draw_points(v, v->depth_program);
    view_keep(v, VIEW_NEAR);
    gl->Disable(GL_DEPTH_TEST);
    for (pass = 0; pass < 6; ++pass) { /* across and down, ever narrower: what lies between samples is met later */
        static const float wide[3] = {1.0f, 0.4f, 0.0f};
        view_draw_screen(v, v->smooth_program, pass & 1 ? 0.0f : 1.0f, pass & 1 ? 1.0f : 0.0f, wide[pass / 2]);
        view_keep(v, VIEW_NEAR);
    }
    gl->ClearColor(0, 0, 0, 1);
    gl->Clear(GL_COLOR_BUFFER_BIT);
    gl->Enable(GL_BLEND), gl->BlendFunc(GL_ONE, GL_ONE);
    view_draw_points(v, v->amount_program);
    gl->Disable(GL_BLEND), gl->Enable(GL_DEPTH_TEST);
    view_keep(v, VIEW_AMOUNT);
}

static void view_draw_object(view *v, const scene_object *o) {
    const view_gl *gl = &v->gl;
    const mesh *m = &o->shape;
    int i, k;
    if (m->vertex_count > v->normal_capacity) {
        vec3 *normals = (vec3 *)realloc(v->normals, (size_t)m->vertex_count * sizeof(vec3));
        if (!normals) return;
        v->normals = normals, v->normal_capacity = m->vertex_count;
    }
    memset(v->normals, 0, (size_t)m->vertex_count * sizeof(vec3));
    for (i = 0; i < m->triangle_count && !o->flat; ++i) {
        const uint32_t *t = m->indices + 3 * i;
        vec3 a = o->vertices[t[0]], n = v3_cross(v3_sub(o->vertices[t[1]], a), v3_sub(o->vertices[t[2]], a));
        for (k = 0; k < 3; ++k) v->normals[t[k]] = v3_add(v->normals[t[k]], n);
    }
    gl->Color4f(sqrtf(o->color.x), sqrtf(o->color.y), sqrtf(o->color.z), o->opacity);
    gl->VertexPointer(3, GL_FLOAT, sizeof(vec3), o->vertices);
    gl->NormalPointer(GL_FLOAT, sizeof(vec3), v->normals);
    gl->DrawElements(GL_TRIANGLES, 3 * m->triangle_count, GL_UNSIGNED_INT, m->indices);
}

static void view_draw_ground(view *v) {
    const view_gl *gl = &v->gl;
    float side = 0.125f * v3_length(v3_sub(v->s->shown_hi, v->s->shown_lo)), size = 40.0f * side;
    float y = v->s->ground - 0.01f * side;
    GLint tile = gl->GetUniformLocation(v->solid_program, "tile");
    vec3 c = v->s->target, corner[4], normal[4];
    int i;
    for (i = 0; i < 4; ++i)
        corner[i] = v3(c.x + (i & 1 ? size : -size), y, c.z + (i & 2 ? size : -size)), normal[i] = v3(0, 1, 0);
    gl->Color4f(0.80f, 0.78f, 0.74f, 1.0f);
    gl->Uniform4f(tile, c.x, c.z, side, 0.0f);
    gl->VertexPointer(3, GL_FLOAT, sizeof(vec3), corner);
    gl->NormalPointer(GL_FLOAT, sizeof(vec3), normal);
    gl->DrawArrays(GL_TRIANGLE_STRIP, 0, 4);
    gl->Uniform4f(tile, 0.0f, 0.0f, 0.0f, 0.0f);
}

static void view_draw_solids(view *v, bool opaque) {
    const view_gl *gl = &v->gl;
    int i;
    gl->UseProgram(v->solid_program);
    gl->EnableClientState(GL_NORMAL_ARRAY);
    if (opaque) view_draw_ground(v);
    for (i = 0; i < v->s->object_count; ++i)
        if ((v->s->objects[i].opacity >= 0.99f) == opaque) view_draw_object(v, &v->s->objects[i]);
    gl->DisableClientState(GL_NORMAL_ARRAY);
}

static void view_say(view *v, int line, const char *text) {
    image_text(&v->panel, 10, 8 + 14 * line, 1, 0xffffff, text);
}

/* Counts, times of the stages, sliders. */
static void view_draw_panel(view *v) {
    isphpbd_stats t = isphpbd_world_stats(v->s->world);
    char line[96];
    int i;
    image_fill(&v->panel, 0, 0, VIEW_PANEL_WIDTH, VIEW_PANEL_HEIGHT, 0x202830);
    snprintf(line, sizeof line, "%s  t = %.2f s%s", v->name, (double)v->s->time, v->paused ? "  paused" : "");
    view_say(v, 0, line);
    snprintf(line, sizeof line, "particles %d  soft vertices %d", t.fluid_particles, t.soft_vertices),
        view_say(v, 1, line);
    snprintf(line, sizeof line, "constraints %d  bodies %d", t.constraints, t.bodies), view_say(v, 2, line);
    snprintf(line, sizeof line, "step %.2f ms of %.2f ms", v->ms[TIME_STEP], 1e3 * (double)v->s->dt),
        view_say(v, 3, line);
    snprintf(line, sizeof line, "neighbours %.2f  viscosity %.2f ms", v->ms[TIME_NEIGHBOURS], v->ms[TIME_VISCOSITY]),
        view_say(v, 4, line);
    snprintf(line, sizeof line, "pressure %.2f  coupling %.2f ms", v->ms[TIME_PRESSURE], v->ms[TIME_COUPLING]),
        view_say(v, 5, line);
    snprintf(line, sizeof line, "constraints %.2f  walls, moves %.2f ms", v->ms[TIME_CONSTRAINTS], v->ms[TIME_REST]),
        view_say(v, 6, line);
    snprintf(line, sizeof line, "(all of them smoothed over ten steps)"), view_say(v, 7, line);
    snprintf(line, sizeof line, "substeps %d  iterations %d + %d", t.substeps, t.pressure_iterations,
             t.density_iterations),
        view_say(v, 8, line);
    snprintf(line, sizeof line, "leaked %d  removed %d", scene_leaked(v->s), (int)t.total_culled), view_say(v, 9, line);
    view_say(v, 10, "space pause   n step   r reset");
    view_say(v, 11, "b shoot   c colours   tab next scene");
    for (i = 0; i < VIEW_SLIDERS; ++i) {
        const view_slider *slider = &v->sliders[i];
        int top = view_slider_top(i), full = VIEW_PANEL_WIDTH - 20;
        int part = (int)((float)full * (slider->value - slider->lo) / (slider->hi - slider->lo));
        image_fill(&v->panel, 10, top + 1, full, VIEW_ROW - 3, 0x39454f);
        image_fill(&v->panel, 10, top + 1, part, VIEW_ROW - 3, 0x3c78b4);
        snprintf(line, sizeof line, "%s %.4g", slider->name, (double)slider->value);
        image_text(&v->panel, 14, top + 4, 1, 0xffffff, line);
    }
    v->gl.UseProgram(0);
    v->gl.Disable(GL_DEPTH_TEST);
    v->gl.PixelStorei(GL_UNPACK_ALIGNMENT, 1);
    v->gl.WindowPos2i(0, v->height);
    v->gl.PixelZoom(1.0f, -1.0f);
    v->gl.DrawPixels(v->panel.width, v->panel.height, GL_RGB, GL_UNSIGNED_BYTE, v->panel.rgb);
    v->gl.Enable(GL_DEPTH_TEST);
}

static void view_draw(view *v) {
    const view_gl *gl = &v->gl;
    bool wet, smooth;
    scene_update_objects(v->s);
    view_camera(v);
    gl->Viewport(0, 0, v->width, v->height);
    gl->Enable(GL_DEPTH_TEST), gl->Enable(GL_PROGRAM_POINT_SIZE), gl->Enable(GL_POINT_SPRITE);
    gl->MatrixMode(GL_PROJECTION);
    gl->LoadMatrixf(v->matrix);
    gl->EnableClientState(GL_VERTEX_ARRAY);
    wet = view_tint_particles(v), smooth = wet && v->colors == COLORS_SURFACE;
    if (smooth) view_measure_water(v);
    gl->ClearColor(0.72f, 0.79f, 0.86f, 1.0f);
    gl->Clear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT);
    view_draw_solids(v, true);
    if (smooth) {
        view_keep(v, VIEW_BEHIND);
        view_draw_screen(v, v->water_program, 0.0f, 0.0f, 0.0f);
        gl->ActiveTexture(GL_TEXTURE0);
    } else if (wet) {
        view_draw_points(v, v->ball_program);
    }
    gl->Enable(GL_BLEND), gl->BlendFunc(GL_SRC_ALPHA, GL_ONE_MINUS_SRC_ALPHA), gl->DepthMask(GL_FALSE);
    view_draw_solids(v, false);
    gl->Disable(GL_BLEND), gl->DepthMask(GL_TRUE);
    view_draw_panel(v);
}

static bool view_write_screenshot(const view *v) {
    image im, turned;
    int y;
    bool ok;
    if (!image_create(&im, v->width, v->height)) return false;
    if (!image_create(&turned, v->width, v->height)) return image_destroy(&im), false;
    v->gl.PixelStorei(GL_PACK_ALIGNMENT, 1);
    v->gl.ReadPixels(0, 0, v->width, v->height, GL_RGB, GL_UNSIGNED_BYTE, turned.rgb);
    for (y = 0; y < v->height; ++y) /* OpenGL counts rows from below */
        memcpy(im.rgb + 3 * (size_t)v->width * (size_t)y,
               turned.rgb + 3 * (size_t)v->width * (size_t)(v->height - 1 - y), 3 * (size_t)v->width);
    ok = png_write(v->screenshot, &im, 0);
    image_destroy(&im), image_destroy(&turned);
    return ok;
}

/* ---- events and main --------------------------------------------------------------------------------------------- */

static void view_step(view *v) {
    isphpbd_stats t;
    double now[VIEW_TIMES];
    int i;
    scene_step(v->s);
    t = isphpbd_world_stats(v->s->world);
    now[TIME_STEP] = (double)t.ticks_step, now[TIME_NEIGHBOURS] = (double)t.ticks_neighbours;
    now[TIME_VISCOSITY] = (double)t.ticks_viscosity, now[TIME_PRESSURE] = (double)t.ticks_pressure;
    now[TIME_COUPLING] = (double)t.ticks_coupling, now[TIME_CONSTRAINTS] = (double)t.ticks_constraints;
    for (now[TIME_REST] = now[TIME_STEP], i = 1; i < TIME_REST; ++i) now[TIME_REST] -= now[i];
    for (i = 0; i < VIEW_TIMES; ++i) v->ms[i] += 0.1 * (1e-6 * now[i] - v->ms[i]);
}

static void view_key(view *v, int key, int x, int y) {
    switch (key) {
        case ' ': v->paused = !v->paused; break;
        case 'n': view_step(v); break;
        case 'r': v->quit = !view_reset(v, false); break;
        case 'b': view_shoot(v, x, y); break;
        case 'c': v->colors = (v->colors + 1) % COLORS_COUNT; break;
        case '\t': view_next_scene(v); break;
        case 27: v->quit = true; break;
        default: break;
    }
}

static void view_mouse_moved(view *v, int x, int y, int dx, int dy) {
    if (v->slider >= 0) view_set_slider(v, x);
    else if (v->grabbed) view_drag(v, x, y);
    else if (v->turning) {
        v->yaw -= 0.008f * (float)dx;
        v->pitch = f_clamp(v->pitch + 0.008f * (float)dy, -1.5f, 1.5f);
    }
}

static void view_events(view *v) {
    SDL_Event e;
    int x, y;
    while (SDL_PollEvent(&e)) {
        SDL_GetMouseState(&x, &y);
        switch (e.type) {
            case SDL_QUIT: v->quit = true; break;
            case SDL_KEYDOWN: view_key(v, e.key.keysym.sym, x, y); break;
            case SDL_MOUSEBUTTONDOWN: view_press(v, e.button.x, e.button.y); break;
            case SDL_MOUSEBUTTONUP: view_release(v); break;
            case SDL_MOUSEWHEEL: v->distance *= powf(0.9f, (float)e.wheel.y); break;
            case SDL_MOUSEMOTION: view_mouse_moved(v, e.motion.x, e.motion.y, e.motion.xrel, e.motion.yrel); break;
            case SDL_WINDOWEVENT:
                if (e.window.event == SDL_WINDOWEVENT_SIZE_CHANGED)
                    v->width = e.window.data1, v->height = e.window.data2;
                break;
            default: break;
        }
    }
}

/* As many steps as a frame of 1/60 s asks for, but no longer than the frame itself: slow scenes play slowly. */
static void view_advance(view *v) {
    uint64_t start = view_ticks(NULL);
    int steps = (int)(1.0f / 60.0f / v->s->dt + 0.5f), i;
    for (i = 0; i < (steps < 1 ? 1 : steps) && (i == 0 || view_ticks(NULL) - start < 12000000u); ++i) view_step(v);
}

/* The mouse of --drag: pressed in the first frame, under way until the last. */
static void view_play_drag(view *v) {
    int i, at[2], last[2];
    if (v->frame == 0) view_press(v, v->drag[0], v->drag[1]);
    for (i = 0; i < 2; ++i) {
        at[i] = v->drag[i] + (v->drag[2 + i] - v->drag[i]) * (v->frame + 1) / v->frames;
        last[i] = v->drag[i] + (v->drag[2 + i] - v->drag[i]) * v->frame / v->frames;
    }
    view_mouse_moved(v, at[0], at[1], at[0] - last[0], at[1] - last[1]);
}

static int view_run(view *v, SDL_Window *window) {
    int keys = v->keys ? (int)strlen(v->keys) : 0;
    view_camera(v); /* what is pressed before the first picture needs it */
    while (!v->quit && (v->frames == 0 || v->frame < v->frames)) {
        view_events(v);
        if (v->frame < keys) view_key(v, v->keys[v->frame], v->width / 2, v->height / 2);
        if (v->drags) view_play_drag(v);
        if (!v->paused && !v->quit) view_advance(v);
        if (v->quit) break;
        view_draw(v);
        ++v->frame;
        if (v->screenshot && v->frame == v->frames) {
            if (!view_write_screenshot(v)) return fprintf(stderr, "view: cannot write %s\n", v->screenshot), 2;
            printf("%s after %d frames, %.2f ms per step: %s\n", v->name, v->frame, v->ms[TIME_STEP], v->screenshot);
        }
        SDL_GL_SwapWindow(window);
    }
    return 0;
}

static const char view_usage[] =
    "usage: view NAME [--scale F] [--set KEY=VALUE] [--threads N] [--size WxH]\n"
    "       [--frames N --screenshot FILE [--keys STRING] [--drag X,Y,X,Y]]\n"
    "build/play --list shows the names, build/play NAME --help the settings\n";

static bool view_fail(const char *what, const char *value) {
    fprintf(stderr, "view: %s '%s'; --help shows the options\n", what, value);
    return false;
}

static bool view_number(const char *name, const char *text, double lo, double hi, bool whole, double *out) {
    char *end;
    *out = strtod(text, &end);
    if (end != text && *end == '\0' && *out >= lo && *out <= hi && !(whole && *out != floor(*out))) return true;
    fprintf(stderr, "view: %s wants a %snumber from %g to %g, not '%s'\n", name, whole ? "whole " : "", lo, hi, text);
    return false;
}

static bool view_option(view *v, const char *name, const char *value, int *thread_count) {
    int *d = v->drag;
    double n;
    char rest;
    if (strcmp(name, "--scale") == 0)
        return view_number(name, value, 1e-3, 1e3, false, &n) && (v->options.scale = (float)n) > 0.0f;
    if (strcmp(name, "--threads") == 0)
        return view_number(name, value, 1, 64, true, &n) && (*thread_count = (int)n) > 0;
    if (strcmp(name, "--frames") == 0) return view_number(name, value, 1, 1e6, true, &n) && (v->frames = (int)n) > 0;
    if (strcmp(name, "--set") == 0)
        return scene_options_set(&v->options, value) ||
               view_fail("--set wants KEY=NUMBER, at most 16 times, not", value);
    if (strcmp(name, "--keys") == 0) return v->keys = value, true;
    if (strcmp(name, "--screenshot") == 0) return v->screenshot = value, true;
    if (strcmp(name, "--drag") == 0)
        return (v->drags = sscanf(value, "%d,%d,%d,%d%c", d, d + 1, d + 2, d + 3, &rest) == 4) ||
               view_fail("--drag wants X,Y,X,Y, not", value);
    if (strcmp(name, "--size") == 0)
        return (sscanf(value, "%dx%d%c", &v->width, &v->height, &rest) == 2 && v->width >= 64 && v->height >= 64 &&
                v->width <= 8192 && v->height <= 8192) ||
               view_fail("--size wants WIDTHxHEIGHT, 64 to 8192 pixels, not", value);
    return view_fail("unknown option", name);
}

static bool view_parse(view *v, int argc, char **argv, int *thread_count, bool *help) {
    char message[256];
    int i;
    for (i = 1; i < argc; ++i) {
        if ((*help = strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)) return true;
        if (argv[i][0] != '-' && v->name) return view_fail("one scene at a time, not also", argv[i]);
        if (argv[i][0] != '-') v->name = argv[i];
        else if (i + 1 == argc) return view_fail("unknown option, or its value is missing:", argv[i]);
        else if (!view_option(v, argv[i], argv[i + 1], thread_count)) return false;
        else ++i;
    }
    if (!v->name) return fputs(view_usage, stderr), false;
    if (!scene_known(v->name, message, sizeof message)) return fprintf(stderr, "view: %s\n", message), false;
    return ((!v->screenshot && !v->drags) || v->frames > 0) || view_fail("how many frames? give", "--frames");
}

static bool view_open(view *v, SDL_Window **window) {
    SDL_GL_SetAttribute(SDL_GL_DEPTH_SIZE, 24);
    SDL_GL_SetAttribute(SDL_GL_DOUBLEBUFFER, 1);
    *window = SDL_CreateWindow("isphpbd", SDL_WINDOWPOS_CENTERED, SDL_WINDOWPOS_CENTERED, v->width, v->height,
                               SDL_WINDOW_OPENGL | SDL_WINDOW_RESIZABLE);
    if (!*window || !SDL_GL_CreateContext(*window)) return fprintf(stderr, "view: %s\n", SDL_GetError()), false;
    SDL_GL_SetSwapInterval(1);
    if (!view_load_gl(&v->gl)) return false;
    v->ball_program = view_program(&v->gl, view_ball_vertex, view_ball_fragment);
    v->solid_program = view_program(&v->gl, view_solid_vertex, view_solid_fragment);
    v->depth_program = view_program(&v->gl, view_depth_vertex, view_depth_fragment);
    v->amount_program = view_program(&v->gl, view_ball_vertex, view_amount_fragment);
    v->smooth_program = view_program(&v->gl, view_screen_vertex, view_smooth_fragment);
    v->water_program = view_program(&v->gl, view_screen_vertex, view_water_fragment);
    v->gl.GenTextures(VIEW_TEXTURES, v->textures);
    if (!v->ball_program || !v->solid_program || !v->depth_program || !v->amount_program || !v->smooth_program ||
        !v->water_program)
        return fprintf(stderr, "view: the shaders do not compile\n"), false;
    return image_create(&v->panel, VIEW_PANEL_WIDTH, VIEW_PANEL_HEIGHT);
}

int main(int argc, char **argv) {
    static view v;
    SDL_Window *window = NULL;
    threads *pool;
    bool help = false;
    int code = 2, thread_count = threads_available();
    v.options = scene_options_default();
    v.width = 1120, v.height = 760;
    if (!view_parse(&v, argc, argv, &thread_count, &help)) return 2;
    if (help) return fputs(view_usage, stdout), 0;
    pool = threads_create(thread_count);
    if (!pool) return fprintf(stderr, "view: out of memory\n"), 2;
    v.options.parallel = threads_runner(pool);
    v.options.clock.fn = view_ticks;
    if (SDL_Init(SDL_INIT_VIDEO) != 0) fprintf(stderr, "view: %s\n", SDL_GetError());
    else if (view_reset(&v, true) && view_open(&v, &window)) code = view_run(&v, window);
    scene_destroy(v.s);
    image_destroy(&v.panel);
    free(v.tints), free(v.normals);
    threads_destroy(pool);
    SDL_Quit();
    return code;
}
