/* What the examples stand on: pictures, meshes, rays, leak counting, the host, threads; every scene is built and
   stepped. */
#define _POSIX_C_SOURCE 200809L
#define ISPHPBD_IMPLEMENTATION
#define EXAMPLES_IMPLEMENTATION
#include "isphpbd.h"

#include "examples/recorder.h"
#include "examples/threads.h"

#include "greatest.h"

/* ---- a reader of deflate (RFC 1951, dynamic codes only), written from the other side ----------------------------- */

typedef struct bit_reader {
    const unsigned char *data;
    size_t size, at;
} bit_reader; /* at: in bits */

static int read_bits(bit_reader *r, int count) {
    int value = 0, i;
    for (i = 0; i < count; ++i, ++r->at)
        if (r->at / 8 < r->size) value |= (r->data[r->at / 8] >> (r->at % 8) & 1) << i;
    return value;
}

/* Canonical Huffman: walks through the lengths, counting codes of each length. -1: no such code. */
static int read_symbol(bit_reader *r, const int *lengths, int count) {
    int code = 0, first = 0, bits, i;
    for (bits = 1; bits < 16; ++bits) {
        int have = 0;
        code = code << 1 | read_bits(r, 1);
        first <<= 1;
        for (i = 0; i < count; ++i) {
            if (lengths[i] != bits) continue;
            if (code - first == have) return i;
            ++have;
        }
        first += have;
    }
    return -1;
}

static bool read_tables(bit_reader *r, int *literal, int *distance) {
    static const int order[19] = {16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15};
    int literals = read_bits(r, 5) + 257, distances = read_bits(r, 5) + 1, codes = read_bits(r, 4) + 4,
        lengths[19] = {0}, i;
    for (i = 0; i < codes; ++i) lengths[order[i]] = read_bits(r, 3);
    for (i = 0; i < literals + distances; ++i) {
        int length = read_symbol(r, lengths, 19);
        if (length < 0 || length > 15) return false; /* the writer uses no run lengths */
        if (i < literals) literal[i] = length;
        else distance[i - literals] = length;
    }
    return true;
}

static int bucket_base(int code, int per, int first, int *bits) { /* the scheme of lengths and distances */
    *bits = code < 2 * per ? 0 : code / per - 1;
    return first + (code < 2 * per ? code : (per + code % per) << *bits);
}

/* Size of the decoded zlib stream, or -1. */
static long decode(const unsigned char *data, size_t size, unsigned char *out, size_t capacity) {
    bit_reader r;
    size_t n = 0;
    int last = 0;
    r.data = data, r.size = size, r.at = 16;
    while (!last) {
        int literal[288] = {0}, distance[32] = {0}, symbol, bits;
        last = read_bits(&r, 1);
        if (read_bits(&r, 2) != 2 || !read_tables(&r, literal, distance)) return -1;
        while ((symbol = read_symbol(&r, literal, 288)) != 256) {
            int length, gap;
            if (symbol < 0 || n >= capacity) return -1;
            if (symbol < 256) {
                out[n++] = (unsigned char)symbol;
                continue;
            }
            length = symbol == 285 ? (bits = 0, 258) : bucket_base(symbol - 257, 4, 3, &bits);
            length += read_bits(&r, bits);
            gap = bucket_base(read_symbol(&r, distance, 32), 2, 1, &bits);
            gap += read_bits(&r, bits);
            if ((size_t)gap > n || n + (size_t)length > capacity) return -1;
            for (; length > 0; --length, ++n) out[n] = out[n - (size_t)gap];
        }
    }
    return (long)n;
}

/* ---- pictures ---------------------------------------------------------------------------------------------------- */

static const char *output_path(const char *name) {
    static char path[512];
    const char *directory = getenv("BUILD");
    (void)snprintf(path, sizeof path, "%s/%s", directory ? directory : "build", name);
    return path;
}

/* Reads back a PNG of ours: undoes the filters. Returns the largest difference from the image, or -1. */
static int png_difference(const char *path, const image *im) {
    static unsigned char file[1 << 20], rows[1 << 20];
    size_t stride = 3 * (size_t)im->width;
    FILE *f = fopen(path, "rb");
    size_t size = f ? fread(file, 1, sizeof file, f) : 0, body;
    int x, y, worst = 0;
    if (f) (void)fclose(f);
    if (size < 60 || memcmp(file + 37, "IDAT", 4) != 0) return -1;
    body = (size_t)file[33] << 24 | (size_t)file[34] << 16 | (size_t)file[35] << 8 | (size_t)file[36];
    if (decode(file + 41, body, rows, sizeof rows) != (long)((stride + 1) * (size_t)im->height)) return -1;
    for (y = 0; y < im->height; ++y) {
        unsigned char *row = rows + (size_t)y * (stride + 1) + 1, *up = row - stride - 1;
        int filter = row[-1];
        for (x = 0; x < (int)stride; ++x) {
            int a = x >= 3 ? row[x - 3] : 0, b = y ? up[x] : 0, c = x >= 3 && y ? up[x - 3] : 0, off;
            int guess[5];
            guess[0] = 0, guess[1] = a, guess[2] = b, guess[3] = (a + b) / 2, guess[4] = png_paeth(a, b, c);
            row[x] = (unsigned char)(row[x] + guess[filter % 5]);
            off = abs(row[x] - im->rgb[(size_t)y * stride + (size_t)x]);
            if (off > worst) worst = off;
        }
    }
    return worst;
}

static void paint(image *im) { /* flat parts, ramps and noise */
    uint32_t random = 7;
    int x, y;
    for (y = 0; y < im->height; ++y) {
        for (x = 0; x < im->width; ++x) {
            unsigned char *p = image_pixel(im, x, y);
            random = random * 1664525u + 1013904223u;
            p[0] = (unsigned char)(x < 60 ? 200 : 2 * y), p[1] = (unsigned char)(x + y);
            p[2] = (unsigned char)(y > 80 ? random >> 24 : 17);
        }
    }
    image_text(im, -3, 5, 2, 0xffffff, "clipped Text 0123456789 on every side of the picture");
}

TEST a_png_holds_what_was_drawn(void) {
    image im;
    ASSERT(image_create(&im, 150, 110));
    paint(&im);
    ASSERT(png_write(output_path("test_examples.png"), &im, 0));
    ASSERT_EQ_FMT(0, png_difference(output_path("test_examples.png"), &im), "%d");
    ASSERT(png_write(output_path("test_examples.png"), &im, 2));
    ASSERT_EQ_FMT(2, png_difference(output_path("test_examples.png"), &im), "%d");
    image_destroy(&im);
    PASS();
}

TEST an_animation_stores_what_changed(void) {
    image im;
    apng a;
    long first, second;
    ASSERT(image_create(&im, 150, 110));
    paint(&im);
    ASSERT(apng_begin(&a, output_path("test_examples.apng"), 150, 110, 1, 20, 0));
    ASSERT(apng_frame(&a, &im));
    first = ftell(a.file);
    image_fill(&im, 20, 20, 4, 4, 0xff0000);
    ASSERT(apng_frame(&a, &im));
    second = ftell(a.file) - first;
    ASSERT(second < 400 && first > 4000);
    ASSERT(apng_end(&a));
    ASSERT_EQ_FMT(2, a.frames, "%d");
    image_destroy(&im);
    PASS();
}

TEST what_cannot_be_written_is_told(void) {
    image im;
    ASSERT_FALSE(image_create(&im, 0, 10));
    ASSERT(image_create(&im, 4, 4));
    ASSERT_FALSE(png_write("no/such/directory/x.png", &im, 0));
    image_destroy(&im);
    PASS();
}

/* ---- meshes and rays --------------------------------------------------------------------------------------------- */

static double mesh_volume(const mesh *m) {
    double sum = 0.0;
    int i;
    for (i = 0; i < m->triangle_count; ++i) {
        const uint32_t *t = m->indices + 3 * i;
        sum += (double)v3_dot(m->vertices[t[0]], v3_cross(m->vertices[t[1]], m->vertices[t[2]])) / 6.0;
    }
    return sum;
}

/* Every edge is used once in each direction. */
static bool mesh_is_closed(const mesh *m) {
    int i, k, j, l;
    for (i = 0; i < m->triangle_count; ++i) {
        for (k = 0; k < 3; ++k) {
            uint32_t a = m->indices[3 * i + k], b = m->indices[3 * i + (k + 1) % 3];
            int same = 0, opposite = 0;
            for (j = 0; j < m->triangle_count; ++j) {
                for (l = 0; l < 3; ++l) {
                    uint32_t c = m->indices[3 * j + l], d = m->indices[3 * j + (l + 1) % 3];
                    same += c == a && d == b, opposite += c == b && d == a;
                }
            }
            if (same != 1 || opposite != 1) return false;
        }
    }
    return true;
}

TEST solids_are_closed_and_outward(void) {
    mesh m;
    memset(&m, 0, sizeof m);
    mesh_sphere(&m, v3(1, 2, 3), 0.5f, 24);
    ASSERT(mesh_is_closed(&m));
    ASSERT_IN_RANGE(0.5236, mesh_volume(&m), 0.01);
    mesh_free(&m);
    mesh_box(&m, v3(-1, -2, -3), v3(1, 2, 3));
    ASSERT(mesh_is_closed(&m));
    ASSERT_IN_RANGE(48.0, mesh_volume(&m), 1e-4);
    mesh_free(&m);
    mesh_bunny(&m, 1.0f, 24);
    ASSERT(mesh_is_closed(&m));
    ASSERT_EQ_FMT(2, m.vertex_count - m.triangle_count / 2, "%d"); /* Euler: no handles */
    ASSERT_IN_RANGE(0.170, mesh_volume(&m), 0.01);                 /* with what is below the ground */
    mesh_free(&m);
    PASS();
}

TEST the_tree_finds_the_nearest(void) {
    mesh m;
    bvh tree;
    uint32_t random = 5;
    int i, k;
    memset(&m, 0, sizeof m);
    mesh_bunny(&m, 1.0f, 14);
    mesh_sphere(&m, v3(0.5f, 0.2f, 0.4f), 0.3f, 12);
    ASSERT(bvh_reserve(&tree, m.triangle_count + 1));
    for (i = 0; i < m.triangle_count; ++i)
        bvh_add_triangle(&tree, m.vertices[m.indices[3 * i]], m.vertices[m.indices[3 * i + 1]],
                         m.vertices[m.indices[3 * i + 2]], 0, i);
    bvh_add_sphere(&tree, v3(-0.4f, 0.9f, 0), 0.2f, 0);
    bvh_build(&tree);
    for (i = 0; i < 300; ++i) {
        float r[4];
        vec3 o, d;
        bvh_hit hit, best;
        for (k = 0; k < 4; ++k) random = random * 1664525u + 1013904223u, r[k] = (float)(random >> 8) / 16777216.0f;
        o = v3(4.0f * r[0] - 2.0f, 2.0f, 4.0f * r[1] - 2.0f);
        d = v3_unit(v3_sub(v3(r[2] - 0.5f, 0.4f, r[3] - 0.5f), o));
        hit = bvh_nearest(&tree, o, d, 0.0f, 100.0f);
        best.t = 100.0f, best.primitive = -1;
        for (k = 0; k < tree.count; ++k) bvh_test(&tree.primitives[k], k, o, d, 0.0f, &best);
        ASSERT_EQ_FMT(best.primitive >= 0, hit.primitive >= 0, "%d");
        ASSERT_IN_RANGE((double)best.t, (double)hit.t, 0.0);
    }
    bvh_free(&tree);
    mesh_free(&m);
    PASS();
}

/* Soft balls on a line: a ray through all middles loses their shades one after the other, one past a rim nothing. */
TEST a_veil_multiplies(void) {
    enum { BALLS = 12 };
    float shade[BALLS], left = 1.0f;
    bvh tree;
    int i;
    ASSERT(bvh_reserve(&tree, BALLS));
    for (i = 0; i < BALLS; ++i) {
        shade[i] = 0.05f * (float)(i + 1);
        bvh_add_sphere(&tree, v3((float)i, 0, 0), 0.5f, i);
        if (i < 8) left *= 1.0f - shade[i];
    }
    bvh_build(&tree);
    ASSERT_IN_RANGE((double)left, (double)bvh_veil(&tree, shade, v3(-2, 0, 0), v3(1, 0, 0), 0.0f, 9.5f), 1e-6);
    ASSERT_IN_RANGE(1.0, (double)bvh_veil(&tree, shade, v3(-2, 0.51f, 0), v3(1, 0, 0), 0.0f, 100.0f), 0.0);
    /* halfway to the rim of the last: (1 - 1/4)^2 */
    ASSERT_IN_RANGE(1.0 - 0.6 * 0.5625, (double)bvh_veil(&tree, shade, v3(11.25f, 3, 0), v3(0, -1, 0), 0.0f, 9.0f),
                    1e-6);
    bvh_free(&tree);
    PASS();
}

/* A lattice filling the box up to y = 0.5: the surface is there, and up to the walls. */
TEST the_surface_is_where_the_water_ends(void) {
    enum { SIDE = 16 };
    static vec3 points[SIDE * SIDE * SIDE / 2];
    surface_input in;
    surface s;
    float spacing = 1.0f / SIDE, t;
    int x, y, z, n = 0;
    for (z = 0; z < SIDE; ++z)
        for (y = 0; y < SIDE / 2; ++y)
            for (x = 0; x < SIDE; ++x)
                points[n++] = v3_scale(v3((float)x + 0.5f, (float)y + 0.5f, (float)z + 0.5f), spacing);
    memset(&in, 0, sizeof in);
    in.positions = points, in.count = n, in.spacing = spacing, in.smooth = 1.0f, in.walls = 0x37;
    in.lo = v3(0, 0, 0), in.hi = v3(1, 2, 1);
    ASSERT(surface_create(&s, &in, NULL));
    for (x = 0; x < 10; ++x) {
        vec3 from = v3(0.01f + 0.109f * (float)x, 1.5f, 0.99f - 0.1f * (float)x), normal;
        ASSERT(surface_cross(&s, from, v3(0, -1, 0), 0.0f, 1.5f, true, &t));
        ASSERT_IN_RANGE(1.0, (double)t, 0.25 * (double)spacing);
        normal = surface_normal(&s, v3_madd(from, v3(0, -1, 0), t));
        ASSERT(normal.y > 0.98f);
        ASSERT(surface_inside(&s, v3(from.x, 0.01f, from.z)));
    }
    surface_destroy(&s);
    PASS();
}

/* A face at x = 0.25, met by rays that come from the right. */
static surface_touch face_at_quarter(void *user, vec3 p, vec3 direction, float reach, vec3 *point, vec3 *normal) {
    float way = direction.x < -0.01f ? (0.25f - p.x) / direction.x : -1.0f;
    if (way < 0.0f || way > reach) return SURFACE_NOTHING;
    *point = v3_madd(p, direction, way), *normal = v3(1, 0, 0);
    return *(const surface_touch *)user;
}

/* The same lattice beside that face: closed up to it, and beyond it only where it is thick. */
TEST water_ends_at_what_it_touches(void) {
    enum { SIDE = 16 };
    static vec3 points[SIDE * SIDE * SIDE];
    surface_touch touch;
    surface_input in;
    surface s;
    float spacing = 1.0f / SIDE;
    int x, y, z, n = 0;
    for (z = 0; z < SIDE; ++z)
        for (y = 0; y < SIDE; ++y)
            for (x = SIDE / 4; x < SIDE; ++x)
                points[n++] = v3_scale(v3((float)x + 0.5f, (float)y + 0.5f, (float)z + 0.5f), spacing);
    memset(&in, 0, sizeof in);
    in.positions = points, in.count = n, in.spacing = spacing, in.smooth = 1.0f;
    in.lo = v3(0, 0, 0), in.hi = v3(1, 2, 1);
    in.solid = face_at_quarter, in.solid_user = &touch;
    for (touch = SURFACE_THICK; touch <= SURFACE_THIN; touch = (surface_touch)(touch + 1)) {
        ASSERT(surface_create(&s, &in, NULL));
        for (y = 3; y < SIDE - 3; ++y) {
            float height = ((float)y + 0.3f) * spacing;
            ASSERT(surface_inside(&s, v3(0.25f + 0.2f * spacing, height, 0.5f)));
            ASSERT_EQ_FMT(touch == SURFACE_THICK, surface_inside(&s, v3(0.25f - 0.1f * spacing, height, 0.5f)), "%d");
        }
        surface_destroy(&s);
    }
    PASS();
}

/* ---- leaks ------------------------------------------------------------------------------------------------------- */

static float random_share(uint32_t *state) {
    *state = *state * 1664525u + 1013904223u;
    return (float)(*state >> 8) / 16777216.0f;
}

/* Against the distance from the centre; points just below vertices of the ball put the ray through its edges. */
TEST the_winding_number_finds_the_inside(void) {
    enum { COUNT = 3000 };
    static vec3 points[COUNT];
    leak_watch watch;
    mesh ball;
    uint32_t random = 3;
    int i, outside = 0;
    memset(&ball, 0, sizeof ball), memset(&watch, 0, sizeof watch);
    mesh_icosphere(&ball, v3(0.1f, 0.2f, -0.3f), 1.0f, 6);
    for (i = 0; i < COUNT; ++i) {
        vec3 d = v3_unit(v3(random_share(&random) - 0.5f, random_share(&random) - 0.5f, random_share(&random) - 0.5f));
        float radius = i & 1 ? 0.97f * random_share(&random) : 1.001f + random_share(&random);
        points[i] = v3_madd(v3(0.1f, 0.2f, -0.3f), d, radius);
        if (i < ball.vertex_count) points[i] = v3_sub(ball.vertices[i], v3(0, i & 1 ? 1e-3f : -1e-3f, 0));
        if (i < ball.vertex_count && ball.vertices[i].y < 0.2f) points[i] = v3(0.1f, 5.0f, -0.3f);
        outside += v3_length(v3_sub(points[i], v3(0.1f, 0.2f, -0.3f))) > 1.0f;
    }
    ASSERT_EQ_FMT(outside, leak_count_winding(&watch, &ball, ball.vertices, points, COUNT, 1), "%d");
    ASSERT_EQ_FMT(COUNT - outside, leak_count_winding(&watch, &ball, ball.vertices, points, COUNT, 0), "%d");
    leak_free(&watch);
    mesh_free(&ball);
    PASS();
}

/* A sheet of 10 x 10 cells: through its middle is a leak, round its edge is none. */
TEST who_goes_through_a_sheet_is_found(void) {
    leak_watch watch;
    mesh sheet;
    uint32_t ids[2] = {4, 9};
    vec3 points[2];
    int x, z, step, crossed = 0;
    memset(&sheet, 0, sizeof sheet), memset(&watch, 0, sizeof watch);
    for (z = 0; z <= 10; ++z)
        for (x = 0; x <= 10; ++x) mesh_vertex(&sheet, v3(0.1f * (float)x, 0, 0.1f * (float)z));
    for (z = 0; z < 10; ++z)
        for (x = 0; x < 10; ++x) {
            uint32_t a = (uint32_t)(z * 11 + x);
            mesh_triangle(&sheet, a, a + 11, a + 1);
            mesh_triangle(&sheet, a + 1, a + 11, a + 12);
        }
    for (step = 0; step < 40; ++step) { /* one sinks through the middle, one falls past the edge and comes in below */
        float t = (float)step / 40.0f;
        points[0] = v3(0.52f, 0.25f - 0.5f * t, 0.47f);
        points[1] = v3(0.9f + 0.4f * sinf(3.14159f * t), 0.12f - 0.24f * t, 0.5f);
        x = leak_count_crossed(&watch, &sheet, sheet.vertices, points, ids, 2, 0.2f);
        ASSERT(x >= 0);
        crossed += x;
    }
    ASSERT_EQ_FMT(1, crossed, "%d");
    leak_free(&watch);
    mesh_free(&sheet);
    PASS();
}

/* Crossings that are counted while a point goes straight from one place to the next, 5 mm at a time, in a frame that is
   turned by the angle: so that ties are broken by many roundings. */
static int crossings_of_way(leak_watch *watch, const mesh *m, const vec3 *way, int count, float angle) {
    const float c = cosf(angle), s = sinf(angle);
    vec3 *turned = (vec3 *)malloc((size_t)m->vertex_count * sizeof(vec3));
    const uint32_t id = 3;
    int i, k, crossed = 0;
    if (!turned) return -1;
    for (i = 0; i < m->vertex_count; ++i) {
        vec3 p = m->vertices[i];
        turned[i] = v3(c * p.x + s * p.z, p.y, c * p.z - s * p.x);
    }
    if (watch->side) memset(watch->side, 0, watch->side_count);
    for (i = 0; i + 1 < count; ++i) {
        int steps = (int)(v3_length(v3_sub(way[i + 1], way[i])) / 0.005f) + 1;
        for (k = 0; k <= steps; ++k) {
            vec3 p = v3_madd(way[i], v3_sub(way[i + 1], way[i]), (float)k / (float)steps);
            p = v3(c * p.x + s * p.z, p.y, c * p.z - s * p.x);
            crossed += leak_count_crossed(watch, m, turned, &p, &id, 1, 0.09f);
        }
    }
    free(turned);
    return crossed;
}

/* Where both sides of the hull meet in the stem, a plate lies on its mirror image. Water that passes it stays outside,
   on whichever side of the ship; what goes through the plates next to it, in or out, is a leak. */
TEST plates_back_to_back_hide_no_leak(void) {
    leak_watch watch;
    mesh hull;
    int side, turn;
    memset(&hull, 0, sizeof hull), memset(&watch, 0, sizeof watch);
    mesh_hull(&hull, 1.2f, 0.44f, 0.32f, 30, NULL, 0.0f);
    for (side = -1; side <= 1; side += 2) {
        const float z = (float)side;
        const vec3 past[4] = {v3(0.54f, 0.12f, 0.05f * z), v3(0.585f, 0.1025f, 0.025f * z),
                              v3(0.599f, 0.1125f, 0.02f * z), v3(0.56f, 0.16f, 0.05f * z)};
        const vec3 in[4] = {past[0], past[1], past[2], v3(0.52f, 0.16f, 0)};
        const vec3 out[3] = {v3(0.52f, 0.16f, 0), past[2], past[0]};
        for (turn = 0; turn < 32; ++turn) {
            const float angle = 0.02f * (float)turn;
            ASSERT_EQ_FMT(0, crossings_of_way(&watch, &hull, past, 4, angle), "%d");
            ASSERT_EQ_FMT(1, crossings_of_way(&watch, &hull, in, 4, angle), "%d");
            ASSERT_EQ_FMT(1, crossings_of_way(&watch, &hull, out, 3, angle), "%d");
        }
    }
    leak_free(&watch);
    mesh_free(&hull);
    PASS();
}

/* ---- the host ---------------------------------------------------------------------------------------------------- */

static void host_play(host *h, int steps) {
    for (; steps > 0; --steps) host_step(h, 1.0f / 60.0f);
}

TEST boxes_rest_and_stack(void) {
    host *h = host_create(v3(0, -9.81f, 0));
    int i;
    ASSERT(h != NULL && host_add_plane(h, v3(0, 1, 0), 0.0f));
    for (i = 0; i < 3; ++i)
        ASSERT_EQ_FMT(i, host_add_box(h, v3(0.2f, 0.1f, 0.2f), 2.0f, v3(0, 0.15f + 0.25f * (float)i, 0)), "%d");
    host_play(h, 240);
    for (i = 0; i < 3; ++i) {
        ASSERT_IN_RANGE(0.1 + 0.2 * i, (double)h->bodies[i].motion.pose.position.y, 0.01);
        ASSERT(v3_length(h->bodies[i].motion.linear_velocity) < 0.02f);
    }
    host_destroy(h);
    PASS();
}

/* A ball of restitution e comes back to e^2 of its height; on a slope of 45 degrees friction 0.4 lets a box slide with
   g (sin - 0.4 cos). */
TEST bounces_and_slides_as_told(void) {
    host *h = host_create(v3(0, -9.81f, 0));
    const float c = 0.70710678f;
    float highest = 0.0f;
    int ball, box, i;
    ASSERT(h != NULL && host_add_plane(h, v3(0, 1, 0), 0.0f));
    ball = host_add_sphere(h, 0.1f, 1.0f, v3(0, 1.1f, 0));
    h->bodies[ball].restitution = 0.7f;
    for (i = 0; i < 70; ++i) {
        host_step(h, 1.0f / 120.0f);
        if (i > 60) highest = fmaxf(highest, h->bodies[ball].motion.pose.position.y);
    }
    for (i = 0; i < 60; ++i) {
        host_step(h, 1.0f / 120.0f);
        highest = fmaxf(highest, h->bodies[ball].motion.pose.position.y);
    }
    ASSERT_IN_RANGE(0.1 + 0.49, (double)highest, 0.06);
    host_destroy(h);
    h = host_create(v3(9.81f * c, -9.81f * c, 0)); /* the slope is the floor, the gravity tilted */
    ASSERT(h != NULL && host_add_plane(h, v3(0, 1, 0), 0.0f));
    box = host_add_box(h, v3(0.3f, 0.05f, 0.3f), 5.0f, v3(0, 0.05f, 0));
    host_play(h, 60);
    ASSERT_IN_RANGE(9.81 * (double)c * 0.6, (double)h->bodies[box].motion.linear_velocity.x, 0.15);
    host_destroy(h);
    PASS();
}

/* Two balls collide in empty space: momentum stays; a spinning box turns about all axes and keeps its momentum. */
TEST the_host_conserves_momentum(void) {
    host *h = host_create(v3(0, 0, 0));
    isphpbd_impulse push;
    vec3 before, after;
    int a, b, box;
    ASSERT(h != NULL);
    a = host_add_sphere(h, 0.2f, 3.0f, v3(-0.5f, 0.05f, 0)), b = host_add_sphere(h, 0.2f, 1.0f, v3(0.5f, 0, 0));
    h->bodies[a].motion.linear_velocity = v3(1, 0, 0);
    host_play(h, 90);
    ASSERT(h->bodies[b].motion.linear_velocity.x > 0.5f);
    after = v3_add(v3_scale(h->bodies[a].motion.linear_velocity, 3.0f), h->bodies[b].motion.linear_velocity);
    ASSERT_IN_RANGE(3.0, (double)after.x, 1e-4);
    ASSERT_IN_RANGE(0.0, (double)after.y, 1e-4);
    box = host_add_box(h, v3(0.1f, 0.2f, 0.4f), 8.0f, v3(0, 5, 0));
    push.linear = v3(0, 0, 0), push.angular = before = v3(0.1f, 1.0f, 0.2f);
    host_push(h, box, &push);
    host_play(h, 600);
    after = host_rotate(h->bodies[box].motion.pose.rotation,
                        v3_mul(h->bodies[box].inertia, host_unrotate(h->bodies[box].motion.pose.rotation,
                                                                     h->bodies[box].motion.angular_velocity)));
    ASSERT(v3_length(v3_sub(after, before)) < 1e-3f);
    host_destroy(h);
    PASS();
}

/* A flat stone spun with a wobble of 3 degrees, without and with a host step of a whole radian: after a second its
   energy and momentum are what they were, and it lies as flat as at the start. Likewise what has three different axes
   and is spun about the middle one: it tumbles. */
TEST what_spins_freely_keeps_its_energy(void) {
    static const vec3 half[2] = {{0.13f, 0.03f, 0.13f}, {0.1f, 0.2f, 0.4f}}, spin[2] = {{6, 120, 0}, {0.5f, 40, 0.5f}};
    int hertz, i, k;
    for (hertz = 60; hertz <= 480; hertz *= 2)
        for (k = 0; k < 2; ++k) {
            host *h = host_create(v3(0, 0, 0));
            double energy, flattest = 1.0;
            vec3 momentum;
            host_body *b;
            ASSERT(h != NULL && host_add_box(h, half[k], 3.8f, v3(0, 0, 0)) == 0);
            b = &h->bodies[0];
            b->motion.angular_velocity = spin[k];
            momentum = v3_mul(b->inertia, spin[k]), energy = 0.5 * (double)v3_dot(momentum, spin[k]);
            for (i = 0; i < hertz; ++i) {
                vec3 w, local;
                host_step(h, 1.0f / (float)hertz);
                w = b->motion.angular_velocity, local = v3_mul(host_unrotate(b->motion.pose.rotation, w), b->inertia);
                ASSERT_IN_RANGE(2.0 * energy, (double)v3_dot(host_rotate(b->motion.pose.rotation, local), w),
                                0.02 * energy);
                ASSERT_IN_RANGE(1.0, (double)(v3_length(local) / v3_length(momentum)), 1e-3);
                flattest = fmin(flattest, (double)host_rotate(b->motion.pose.rotation, v3(0, 1, 0)).y);
            }
            if (k == 0) ASSERT(flattest > 0.99);
            else ASSERT(flattest < 0.0);
            host_destroy(h);
        }
    PASS();
}

/* ---- threads and scenes ------------------------------------------------------------------------------------------ */

static void count_task(void *ctx, int index) { ++((int *)ctx)[index]; }

TEST every_task_runs_once(void) {
    threads *pool = threads_create(4);
    isphpbd_parallel run = threads_runner(pool);
    int counts[100], round, i;
    memset(counts, 0, sizeof counts);
    for (round = 0; round < 200; ++round) run.run(count_task, counts, round % 100 + 1, run.user);
    for (i = 0; i < 100; ++i) ASSERT_EQ_FMT(2 * (100 - i), counts[i], "%d");
    threads_destroy(pool);
    PASS();
}

/* Plays a small dam break for some steps and draws it. */
static bool play_and_draw(const isphpbd_parallel *parallel, uint64_t *hash, recorder *r) {
    scene_options options = scene_options_default();
    recorder_options pictures = recorder_options_default();
    char message[128];
    scene *s;
    bool ok;
    options.scale = 0.03f, options.seconds = 0.3f, options.parallel = *parallel;
    pictures.width = 80, pictures.height = 60, pictures.sheet = output_path("test_examples.png"), pictures.shots = 2;
    s = scene_create("double_dam_break", &options, message, sizeof message);
    if (!s) return false;
    ok = recorder_begin(r, s, &pictures);
    recorder_update(r, s);
    while (s->time < s->seconds - 0.5f * s->dt) scene_step(s), recorder_update(r, s);
    *hash = scene_hash(s);
    scene_finish(s);
    ok = ok && scene_ok(s) && r->shots == 2;
    scene_destroy(s);
    return ok;
}

TEST threads_change_no_bit_and_no_pixel(void) {
    threads *one = threads_create(1), *three = threads_create(3);
    isphpbd_parallel run_one = threads_runner(one), run_three = threads_runner(three);
    static recorder a, b;
    uint64_t hash_a, hash_b;
    int i;
    ASSERT(play_and_draw(&run_one, &hash_a, &a));
    ASSERT(play_and_draw(&run_three, &hash_b, &b));
    ASSERT(hash_a == hash_b);
    for (i = 0; i < 2; ++i) ASSERT_MEM_EQ(a.shot[i].rgb, b.shot[i].rgb, 80 * 60 * 3);
    for (i = 0; i < 2; ++i) image_destroy(&a.shot[i]), image_destroy(&b.shot[i]);
    image_destroy(&a.frame), image_destroy(&b.frame);
    scene_free_particles(&a.particles), scene_free_particles(&b.particles);
    threads_destroy(one), threads_destroy(three);
    PASS();
}

TEST every_scene_builds_and_steps(void) {
    scene_options options = scene_options_default();
    char message[256];
    int i, k;
    options.scale = 0.04f;
    for (i = 0; i < scene_count(); ++i) {
        scene *s = scene_create(scene_at(i)->name, &options, message, sizeof message);
        ASSERTm(message, s != NULL);
        for (k = 0; k < 3; ++k) scene_step(s);
        scene_finish(s);
        ASSERT_EQ_FMT(0, s->measures.nan + s->allocations, "%d");
        ASSERT(s->check_count > 0);
        scene_destroy(s);
    }
    PASS();
}

/* The short form of tests/scenes.sh: a balloon hits the ground, a jet hits a sheet, boxes fall into water. What is
   measured at the end is not meant for the moment of the impact: the balloon is on its way up again. */
TEST coupled_scenes_hold_their_checks(void) {
    static const struct {
        const char *name;
        float scale, seconds;
    } short_runs[] = {
        {"water_balloon", 0.06f, 0.42f}, {"thin_shell_basin", 0.05f, 1.35f}, {"floating_cuboids", 0.03f, 0.7f}};
    scene_options options = scene_options_default();
    char message[256];
    int i, k;
    for (i = 0; i < (int)(sizeof short_runs / sizeof short_runs[0]); ++i) {
        scene *s;
        options.scale = short_runs[i].scale, options.seconds = short_runs[i].seconds;
        s = scene_create(short_runs[i].name, &options, message, sizeof message);
        ASSERTm(message, s != NULL);
        while (s->time < s->seconds - 0.5f * s->dt) scene_step(s);
        scene_finish(s);
        for (k = 0; k < s->check_count; ++k) ASSERTm(s->checks[k].name, s->checks[k].ok);
        ASSERT_EQ_FMT(0, scene_leaked(s), "%d");
        scene_destroy(s);
    }
    PASS();
}

/* A wall that is said to stand in the water, and a skin that is said to keep out what it holds. */
TEST leaks_are_told_apart(void) {
    scene_options options = scene_options_default();
    char message[256];
    scene *s;
    options.scale = 0.02f;
    s = scene_create("tank", &options, message, sizeof message);
    ASSERTm(message, s != NULL);
    s->tank_hi.x -= 0.5f * (s->tank_hi.x - s->tank_lo.x);
    scene_step(s);
    ASSERT(s->measures.escaped > 0);
    ASSERT_EQ_FMT(0, s->measures.intruded + s->measures.crossed, "%d");
    ASSERT_EQ_FMT(s->measures.escaped, scene_leaked(s), "%d");
    scene_destroy(s);
    s = scene_create("water_balloon", &options, message, sizeof message);
    ASSERTm(message, s != NULL);
    s->objects[0].guard = GUARD_KEEPS_OUT;
    scene_step(s);
    ASSERT_EQ_FMT(isph_particles(s->fluid).count, s->measures.intruded, "%d");
    ASSERT_EQ_FMT(0, s->measures.escaped, "%d");
    scene_finish(s);
    ASSERT_STR_EQ("leaked_through_skins", s->checks[0].name);
    ASSERT(!s->checks[0].ok && s->checks[1].ok);
    scene_destroy(s);
    PASS();
}

TEST unknown_names_are_refused(void) {
    scene_options options = scene_options_default();
    char message[256];
    ASSERT(scene_create("no_such_scene", &options, message, sizeof message) == NULL);
    ASSERT(strstr(message, "no_such_scene") != NULL);
    options.scale = 0.04f, options.key_count = 1;
    (void)snprintf(options.keys[0].name, sizeof options.keys[0].name, "colour");
    ASSERT(scene_create("tank", &options, message, sizeof message) == NULL);
    ASSERT(strstr(message, "colour") != NULL);
    PASS();
}

/* A step that is too long for the world is not taken, and a check says so. */
TEST a_refused_step_is_told(void) {
    scene_options options = scene_options_default();
    char message[256];
    scene *s;
    options.scale = 0.04f, options.dt = 0.2f;
    s = scene_create("tank", &options, message, sizeof message);
    ASSERTm(message, s != NULL);
    scene_step(s);
    scene_finish(s);
    ASSERT_EQ_FMT(1, s->measures.refused, "%d");
    ASSERT_FALSE(scene_ok(s));
    scene_destroy(s);
    PASS();
}

/* Every setting of every scene has a range, and its own value is in it; what is not, or is no whole number where it has
   to be, is refused by name. */
TEST settings_have_ranges(void) {
    scene_options options = scene_options_default();
    char message[256];
    int i, k, wrong;
    options.scale = 0.01f;
    for (i = 0; i < scene_count(); ++i) {
        scene *s = scene_create(scene_at(i)->name, &options, message, sizeof message);
        ASSERTm(message, s != NULL);
        for (k = 0; k < s->setting_count; ++k) {
            double lo, hi;
            bool whole;
            ASSERTm(s->settings[k].name, scene_setting_range(s->settings[k].name, &lo, &hi, &whole));
            for (wrong = 0; wrong < 3 && i % 4 == 0; ++wrong) {
                scene_options odd = options;
                odd.keys[0] = s->settings[k], odd.key_count = 1;
                odd.keys[0].value = wrong == 0 ? lo - 1.0 : wrong == 1 ? hi + 1.0 : whole ? lo + 0.5 : 1e30;
                ASSERT(scene_create(scene_at(i)->name, &odd, message, sizeof message) == NULL);
                ASSERTm(message, strstr(message, s->settings[k].name) != NULL);
            }
        }
        scene_destroy(s);
    }
    PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv) {
    GREATEST_MAIN_BEGIN();
    RUN_TEST(a_png_holds_what_was_drawn);
    RUN_TEST(an_animation_stores_what_changed);
    RUN_TEST(what_cannot_be_written_is_told);
    RUN_TEST(solids_are_closed_and_outward);
    RUN_TEST(the_tree_finds_the_nearest);
    RUN_TEST(a_veil_multiplies);
    RUN_TEST(the_surface_is_where_the_water_ends);
    RUN_TEST(water_ends_at_what_it_touches);
    RUN_TEST(the_winding_number_finds_the_inside);
    RUN_TEST(who_goes_through_a_sheet_is_found);
    RUN_TEST(plates_back_to_back_hide_no_leak);
    RUN_TEST(boxes_rest_and_stack);
    RUN_TEST(bounces_and_slides_as_told);
    RUN_TEST(the_host_conserves_momentum);
    RUN_TEST(what_spins_freely_keeps_its_energy);
    RUN_TEST(every_task_runs_once);
    RUN_TEST(threads_change_no_bit_and_no_pixel);
    RUN_TEST(every_scene_builds_and_steps);
    RUN_TEST(coupled_scenes_hold_their_checks);
    RUN_TEST(leaks_are_told_apart);
    RUN_TEST(unknown_names_are_refused);
    RUN_TEST(a_refused_step_is_told);
    RUN_TEST(settings_have_ranges);
    GREATEST_MAIN_END();
}
