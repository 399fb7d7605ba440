/* shapes.h - meshes built by code, for the scenes: triangles of boxes, balls, cups, hulls, a rabbit; tetrahedra of
   balls, rings and pots. SPDX: MIT

   All closed meshes are wound counter-clockwise seen from outside. Define EXAMPLES_IMPLEMENTATION in one file. */
#ifndef EXAMPLES_SHAPES_H
#define EXAMPLES_SHAPES_H

#include "vec.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mesh {
    vec3 *vertices;
    uint32_t *indices; /* 3 per triangle */
    int vertex_count, triangle_count;
    int vertex_capacity, triangle_capacity;
    bool failed; /* out of memory: the mesh is incomplete */
} mesh;

/* Each adds to the mesh; start with a zeroed one. */
uint32_t mesh_vertex(mesh *m, vec3 p);
void mesh_triangle(mesh *m, uint32_t a, uint32_t b, uint32_t c);
void mesh_box(mesh *m, vec3 lo, vec3 hi);
void mesh_sphere(mesh *m, vec3 centre, float radius, int rings);
/* An open beaker of zero thickness, its bottom at y = 0, upright. */
void mesh_cup(mesh *m, float bottom_radius, float top_radius, float height, int segments);
/* A ball of triangles of nearly one size: an icosahedron, each face cut into frequency^2. */
void mesh_icosphere(mesh *m, vec3 centre, float radius, int frequency);
/* Turns a profile about the y axis: radius and height of each point, from below upwards. A first or last radius of 0
   closes it. */
typedef struct mesh_profile {
    float radius, height;
} mesh_profile;
void mesh_revolve(mesh *m, const mesh_profile *profile, int points, int segments);
/* An open boat of zero thickness along x, its keel at y = 0, pointed in front, with a deck edge at y = depth. Plates
   between the shares hole[0] .. hole[1] of the length, below hole_height (m), are missing on the +z side. */
void mesh_hull(mesh *m, float length, float beam, float depth, int plates, const float *hole, float hole_height);
/* Thin bars along the edges of a box: how a glass tank is hinted. */
void mesh_frame(mesh *m, vec3 lo, vec3 hi, float width);
/* The zero level of a signed distance (negative inside) on n cells along the longest side of the box. Where two parts
   of the surface pass through one cell they share a vertex there: choose n so that they do not. */
typedef float (*mesh_distance)(vec3 p);
void mesh_from_distance(mesh *m, mesh_distance distance, vec3 lo, vec3 hi, int n);
/* A sitting rabbit 1 m high on y = 0, looking along +x: approximate signed distance in m. The mesh reaches half its
   height below y = 0, so that what is found inside has no way out through the ground; clean at 16, 20, 24, 30 cells,
   see mesh_from_distance. */
float bunny_distance(vec3 p);
void mesh_bunny(mesh *m, float height, int cells);
void mesh_free(mesh *m);

/* A block of nx x ny x nz cells, six tetrahedra each, bent into shape: keep() chooses cells (NULL: all), map() places
   the corners, whose coordinates go from -1 to 1. The cells are cut along diagonals that lead away from the middle of x
   and z, so that corners can be rounded. Vertices at the same place are for the library to weld. */
typedef struct tets {
    vec3 *vertices;
    uint32_t *indices; /* 4 per tetrahedron */
    int vertex_count, tetrahedron_count;
} tets;
bool tets_create(tets *t, int nx, int ny, int nz, bool (*keep)(int x, int y, int z, int n), vec3 (*map)(vec3 p));
void tets_free(tets *t);
vec3 tets_disc(float x, float z); /* the square -1 .. 1 becomes the unit disc */
vec3 tets_ball(vec3 p);           /* the cube becomes the unit ball */

#ifdef __cplusplus
}
#endif
#endif /* EXAMPLES_SHAPES_H */

#if defined(EXAMPLES_IMPLEMENTATION) && !defined(EXAMPLES_SHAPES_IMPLEMENTED)
#define EXAMPLES_SHAPES_IMPLEMENTED

#include <stdlib.h>
#include <string.h>

void mesh_free(mesh *m) {
    free(m->vertices);
    free(m->indices);
    memset(m, 0, sizeof *m);
}

uint32_t mesh_vertex(mesh *m, vec3 p) {
    if (m->vertex_count == m->vertex_capacity) {
        int capacity = m->vertex_capacity ? 2 * m->vertex_capacity : 256;
        vec3 *vertices = (vec3 *)realloc(m->vertices, (size_t)capacity * sizeof *vertices);
        if (!vertices) return m->failed = true, 0;
        m->vertices = vertices, m->vertex_capacity = capacity;
    }
    m->vertices[m->vertex_count] = p;
    return (uint32_t)m->vertex_count++;
}

void mesh_triangle(mesh *m, uint32_t a, uint32_t b, uint32_t c) {
    uint32_t *t;
    if (m->triangle_count == m->triangle_capacity) {
        int capacity = m->triangle_capacity ? 2 * m->triangle_capacity : 256;
        uint32_t *indices = (uint32_t *)realloc(m->indices, 3 * (size_t)capacity * sizeof *indices);
        if (!indices) {
            m->failed = true;
            return;
        }
        m->indices = indices, m->triangle_capacity = capacity;
    }
    t = m->indices + 3 * m->triangle_count++;
    t[0] = a, t[1] = b, t[2] = c;
}

static void mesh_quad(mesh *m, uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
    mesh_triangle(m, a, b, c);
    mesh_triangle(m, a, c, d);
}

/* Makes one of the vertices from `first` on that are nearer than distance, and drops triangles that lose a corner. */
static void mesh_weld(mesh *m, int first, float distance) {
    uint32_t *to = (uint32_t *)malloc(((size_t)m->vertex_count + 1) * sizeof(uint32_t));
    int i, k, n = first, triangles = 0;
    if (!to) {
        m->failed = true;
        return;
    }
    for (i = 0; i < m->vertex_count; ++i) {
        for (k = first; k < n && i >= first; ++k)
            if (v3_length(v3_sub(m->vertices[i], m->vertices[k])) < distance) break;
        if (i < first) k = i;
        else if (k == n) m->vertices[n++] = m->vertices[i];
        to[i] = (uint32_t)k;
    }
    m->vertex_count = n;
    for (i = 0; i < m->triangle_count; ++i) {
        uint32_t *t = m->indices + 3 * i, a = to[t[0]], b = to[t[1]], c = to[t[2]];
        if (a == b || b == c || c == a) continue;
        t = m->indices + 3 * triangles++;
        t[0] = a, t[1] = b, t[2] = c;
    }
    m->triangle_count = triangles;
    free(to);
}

void mesh_box(mesh *m, vec3 lo, vec3 hi) {
    static const int corner[6][4] = {{0, 4, 6, 2}, {1, 3, 7, 5}, {0, 1, 5, 4},
                                     {2, 6, 7, 3}, {0, 2, 3, 1}, {4, 5, 7, 6}};
    uint32_t v[8];
    int i;
    for (i = 0; i < 8; ++i) v[i] = mesh_vertex(m, v3(i & 1 ? hi.x : lo.x, i & 2 ? hi.y : lo.y, i & 4 ? hi.z : lo.z));
    for (i = 0; i < 6; ++i) mesh_quad(m, v[corner[i][0]], v[corner[i][1]], v[corner[i][2]], v[corner[i][3]]);
}

void mesh_frame(mesh *m, vec3 lo, vec3 hi, float width) {
    int axis, side;
    for (axis = 0; axis < 3; ++axis) {
        for (side = 0; side < 4; ++side) {
            vec3 a, b;
            bool first = (side & 1) != 0, second = (side & 2) != 0; /* which of the four parallel edges */
            if (axis == 0) a = v3(lo.x, first ? hi.y : lo.y, second ? hi.z : lo.z), b = v3(hi.x, a.y, a.z);
            else if (axis == 1) a = v3(first ? hi.x : lo.x, lo.y, second ? hi.z : lo.z), b = v3(a.x, hi.y, a.z);
            else a = v3(first ? hi.x : lo.x, second ? hi.y : lo.y, lo.z), b = v3(a.x, a.y, hi.z);
            mesh_box(m, v3_sub(a, v3_all(0.5f * width)), v3_add(b, v3_all(0.5f * width)));
        }
    }
}

/* Stitches two rings of n vertices; b lies above a. */
static void mesh_band(mesh *m, uint32_t a, uint32_t b, int n) {
    int i;
    for (i = 0; i < n; ++i) {
        uint32_t next = (uint32_t)((i + 1) % n), here = (uint32_t)i;
        mesh_quad(m, a + here, b + here, b + next, a + next);
    }
}

static uint32_t mesh_ring(mesh *m, vec3 centre, float radius, int n) {
    uint32_t first = (uint32_t)m->vertex_count;
    int i;
    for (i = 0; i < n; ++i) {
        float angle = 6.2831853f * (float)i / (float)n;
        mesh_vertex(m, v3(centre.x + radius * cosf(angle), centre.y, centre.z + radius * sinf(angle)));
    }
    return first;
}

static void mesh_fan(mesh *m, uint32_t tip, uint32_t ring, int n, bool upward) {
    int i;
    for (i = 0; i < n; ++i) {
        uint32_t here = ring + (uint32_t)i, next = ring + (uint32_t)((i + 1) % n);
        mesh_triangle(m, tip, upward ? next : here, upward ? here : next);
    }
}

void mesh_sphere(mesh *m, vec3 centre, float radius, int rings) {
    int i, n = 2 * rings;
    uint32_t bottom = mesh_vertex(m, v3(centre.x, centre.y - radius, centre.z)), below = 0;
    for (i = 1; i < rings; ++i) {
        float angle = 3.14159265f * (float)i / (float)rings;
        vec3 c = v3(centre.x, centre.y - radius * cosf(angle), centre.z);
        uint32_t ring = mesh_ring(m, c, radius * sinf(angle), n);
        if (i == 1) mesh_fan(m, bottom, ring, n, false);
        else mesh_band(m, below, ring, n);
        below = ring;
    }
    mesh_fan(m, mesh_vertex(m, v3(centre.x, centre.y + radius, centre.z)), below, n, true);
}

void mesh_cup(mesh *m, float bottom_radius, float top_radius, float height, int segments) {
    int i, rows = (int)(height / (6.2831853f * top_radius / (float)segments)) + 1, discs = segments / 6;
    uint32_t centre = mesh_vertex(m, v3(0, 0, 0)), inner = 0;
    for (i = 1; i <= discs; ++i) {
        uint32_t ring = mesh_ring(m, v3(0, 0, 0), bottom_radius * (float)i / (float)discs, segments);
        if (i == 1) mesh_fan(m, centre, ring, segments, false);
        else mesh_band(m, inner, ring, segments);
        inner = ring;
    }
    for (i = 1; i <= rows; ++i) {
        float share = (float)i / (float)rows;
        uint32_t ring =
            mesh_ring(m, v3(0, height * share, 0), bottom_radius + (top_radius - bottom_radius) * share, segments);
        mesh_band(m, inner, ring, segments);
        inner = ring;
    }
}

/* ---- balls of even triangles ------------------------------------------------------------------------------------- */

/* One face of the icosahedron with vertices of its own, cut into n^2 triangles; those on seams are equal. */
static void icosphere_face(mesh *m, vec3 a, vec3 b, vec3 c, int n) {
    uint32_t base = (uint32_t)m->vertex_count;
    int i, j;
    for (i = 0; i <= n; ++i)
        for (j = 0; j <= i; ++j)
            mesh_vertex(
                m, v3_unit(v3_add(v3_madd(v3_scale(a, (float)(n - i)), b, (float)(i - j)), v3_scale(c, (float)j))));
    for (i = 0; i < n; ++i) {
        uint32_t row = base + (uint32_t)(i * (i + 1) / 2), next = row + (uint32_t)i + 1;
        for (j = 0; j <= i; ++j) {
            uint32_t k = (uint32_t)j;
            mesh_triangle(m, row + k, next + k, next + k + 1);
            if (j < i) mesh_triangle(m, row + k, next + k + 1, row + k + 1);
        }
    }
}

void mesh_icosphere(mesh *m, vec3 centre, float radius, int frequency) {
    vec3 top = v3(0, 1, 0), bottom = v3(0, -1, 0), upper[5], lower[5];
    int i, first = m->vertex_count;
    for (i = 0; i < 5; ++i) { /* two rings at latitudes of 26.57 degrees, turned against each other */
        float turn = 1.25663706f * (float)i;
        upper[i] = v3(0.894427191f * cosf(turn), 0.447213595f, -0.894427191f * sinf(turn));
        lower[i] = v3(0.894427191f * cosf(turn + 0.62831853f), -0.447213595f, -0.894427191f * sinf(turn + 0.62831853f));
    }
    for (i = 0; i < 5; ++i) {
        int next = (i + 1) % 5;
        icosphere_face(m, top, upper[i], upper[next], frequency);
        icosphere_face(m, upper[i], lower[i], upper[next], frequency);
        icosphere_face(m, upper[next], lower[i], lower[next], frequency);
        icosphere_face(m, bottom, lower[next], lower[i], frequency);
    }
    mesh_weld(m, first, 0.01f / (float)frequency);
    for (i = first; i < m->vertex_count; ++i) m->vertices[i] = v3_madd(centre, m->vertices[i], radius);
}

void mesh_revolve(mesh *m, const mesh_profile *profile, int points, int segments) {
    uint32_t below = 0;
    int i;
    for (i = 0; i < points; ++i) {
        vec3 c = v3(0, profile[i].height, 0);
        bool tip = profile[i].radius <= 0.0f, below_tip = i && profile[i - 1].radius <= 0.0f;
        uint32_t ring = tip ? mesh_vertex(m, c) : mesh_ring(m, c, profile[i].radius, segments);
        if (below_tip) mesh_fan(m, below, ring, segments, false);
        else if (i && tip) mesh_fan(m, ring, below, segments, true);
        else if (i) mesh_band(m, below, ring, segments);
        below = ring;
    }
}

/* Half breadth of the hull at a share of its length and of its depth: full amidships, fine in front, round below. */
static float hull_breadth(float along, float up) {
    float bow = along > 0.55f ? 1.0f - powf((along - 0.55f) / 0.45f, 2.0f) : 1.0f;
    float stern = along < 0.2f ? 0.75f + 0.25f * along / 0.2f : 1.0f;
    return bow * stern * powf(up, 0.4f);
}

void mesh_hull(mesh *m, float length, float beam, float depth, int plates, const float *hole, float hole_height) {
    int rows = (int)((float)plates * depth / length * 1.6f) + 2, side, i, k, first = m->vertex_count;
    for (side = -1; side <= 1; side += 2) {
        uint32_t base = (uint32_t)m->vertex_count;
        for (i = 0; i <= plates; ++i) {
            for (k = 0; k <= rows; ++k) {
                float along = (float)i / (float)plates, up = (float)k / (float)rows;
                float rise = along > 0.75f ? 0.35f * depth * powf((along - 0.75f) / 0.25f, 2.0f) : 0.0f; /* the stem */
                mesh_vertex(m, v3(length * (along - 0.5f), rise + (depth - rise) * up,
                                  0.5f * beam * (float)side * hull_breadth(along, up)));
            }
        }
        for (i = 0; i < plates; ++i) {
            for (k = 0; k < rows; ++k) {
                uint32_t a = base + (uint32_t)(i * (rows + 1) + k), b = a + (uint32_t)rows + 1;
                float along = ((float)i + 0.5f) / (float)plates, height = depth * ((float)k + 0.5f) / (float)rows;
                if (side > 0 && hole && along > hole[0] && along < hole[1] && height < hole_height) continue;
                if (side > 0) mesh_quad(m, a, b, b + 1, a + 1);
                else mesh_quad(m, a, a + 1, b + 1, b);
            }
        }
        if (side > 0) /* the transom closes the stern between the two sides */
            for (k = 0; k < rows; ++k) {
                uint32_t left = (uint32_t)first + (uint32_t)k, right = base + (uint32_t)k;
                mesh_quad(m, left, right, right + 1, left + 1);
            }
    }
    mesh_weld(m, first, 1e-4f * length);
}

/* ---- tetrahedra -------------------------------------------------------------------------------------------------- */

vec3 tets_disc(float x, float z) { return v3(x * sqrtf(1.0f - 0.5f * z * z), 0.0f, z * sqrtf(1.0f - 0.5f * x * x)); }

vec3 tets_ball(vec3 p) {
    vec3 q = v3_mul(p, p);
    return v3(p.x * sqrtf(1.0f - 0.5f * (q.y + q.z) + q.y * q.z / 3.0f),
              p.y * sqrtf(1.0f - 0.5f * (q.z + q.x) + q.z * q.x / 3.0f),
              p.z * sqrtf(1.0f - 0.5f * (q.x + q.y) + q.x * q.y / 3.0f));
}

/* The six paths along the axes from the inner corner of a cell to its outer one are its tetrahedra. */
static void tets_cut_cell(tets *t, int x, int y, int z, int nx, int ny, int nz) {
    static const unsigned char order[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    int k, axis, corner[3], step[3];
    for (k = 0; k < 6; ++k) {
        uint32_t *out = t->indices + 4 * t->tetrahedron_count++;
        step[0] = 2 * x + 1 < nx ? -1 : 1, step[1] = 1, step[2] = 2 * z + 1 < nz ? -1 : 1;
        corner[0] = x + (step[0] < 0), corner[1] = y, corner[2] = z + (step[2] < 0);
        for (axis = 0; axis < 4; ++axis) {
            out[axis] = (uint32_t)((corner[2] * (ny + 1) + corner[1]) * (nx + 1) + corner[0]);
            if (axis < 3) corner[order[k][axis]] += step[order[k][axis]];
        }
    }
}

bool tets_create(tets *t, int nx, int ny, int nz, bool (*keep)(int x, int y, int z, int n), vec3 (*map)(vec3 p)) {
    int x, y, z;
    memset(t, 0, sizeof *t);
    t->vertices = (vec3 *)malloc((size_t)(nx + 1) * (size_t)(ny + 1) * (size_t)(nz + 1) * sizeof(vec3));
    t->indices = (uint32_t *)malloc((size_t)nx * (size_t)ny * (size_t)nz * 24 * sizeof(uint32_t));
    if (!t->vertices || !t->indices) return tets_free(t), false;
    for (z = 0; z <= nz; ++z)
        for (y = 0; y <= ny; ++y)
            for (x = 0; x <= nx; ++x)
                t->vertices[t->vertex_count++] =
                    map(v3(2.0f * (float)x / (float)nx - 1.0f, 2.0f * (float)y / (float)ny - 1.0f,
                           2.0f * (float)z / (float)nz - 1.0f));
    for (z = 0; z < nz; ++z)
        for (y = 0; y < ny; ++y)
            for (x = 0; x < nx; ++x)
                if (!keep || keep(x, y, z, nx)) tets_cut_cell(t, x, y, z, nx, ny, nz);
    return true;
}

void tets_free(tets *t) {
    free(t->vertices);
    free(t->indices);
    memset(t, 0, sizeof *t);
}

/* ---- surface nets: one vertex per cell that the surface passes, one quad per lattice edge that it cuts ----------- */

typedef struct mesh_lattice {
    float *value; /* distance at the lattice points */
    int *vertex;  /* vertex of each cell, -1: none */
    int nx, ny, nz;
    vec3 lo;
    float cell;
} mesh_lattice;

static int lattice_at(const mesh_lattice *l, int x, int y, int z) { return (z * l->ny + y) * l->nx + x; }

/* Mean of the points where the cell's twelve edges meet the surface. */
static int lattice_cell_vertex(const mesh_lattice *l, mesh *m, int x, int y, int z) {
    vec3 sum = v3_all(0.0f);
    int a, axis, cuts = 0;
    for (a = 0; a < 8; ++a) {
        for (axis = 0; axis < 3; ++axis) {
            int b = a | 1 << axis;
            float va, vb, t;
            if (b == a) continue;
            va = l->value[lattice_at(l, x + (a & 1), y + (a >> 1 & 1), z + (a >> 2))];
            vb = l->value[lattice_at(l, x + (b & 1), y + (b >> 1 & 1), z + (b >> 2))];
            if ((va < 0.0f) == (vb < 0.0f)) continue;
            t = va / (va - vb);
            sum = v3_add(sum, v3((float)(a & 1) + (axis == 0 ? t : 0), (float)(a >> 1 & 1) + (axis == 1 ? t : 0),
                                 (float)(a >> 2) + (axis == 2 ? t : 0)));
            ++cuts;
        }
    }
    if (!cuts) return -1;
    sum = v3_add(v3_scale(sum, 1.0f / (float)cuts), v3((float)x, (float)y, (float)z));
    return (int)mesh_vertex(m, v3_madd(l->lo, sum, l->cell));
}

/* The quad round the edge from (x, y, z) one step along axis; u and v are the other two axes in cyclic order. */
static void lattice_edge_quad(const mesh_lattice *l, mesh *m, int x, int y, int z, int axis) {
    int p[3], q[3], u = (axis + 1) % 3, v = (axis + 2) % 3, k;
    uint32_t corner[4];
    bool inside = l->value[lattice_at(l, x, y, z)] < 0.0f;
    p[0] = q[0] = x, p[1] = q[1] = y, p[2] = q[2] = z;
    ++q[axis];
    if (p[u] == 0 || p[v] == 0 || inside == (l->value[lattice_at(l, q[0], q[1], q[2])] < 0.0f)) return;
    for (k = 0; k < 4; ++k) { /* the four cells round the edge, counter-clockwise seen against the axis */
        int c[3];
        c[0] = x, c[1] = y, c[2] = z;
        c[u] -= k == 0 || k == 3;
        c[v] -= k < 2;
        corner[k] = (uint32_t)l->vertex[lattice_at(l, c[0], c[1], c[2])];
    }
    if (inside) mesh_quad(m, corner[0], corner[1], corner[2], corner[3]);
    else mesh_quad(m, corner[0], corner[3], corner[2], corner[1]);
}

void mesh_from_distance(mesh *m, mesh_distance distance, vec3 lo, vec3 hi, int n) {
    mesh_lattice l;
    int x, y, z;
    size_t count;
    vec3 size = v3_sub(hi, lo);
    l.cell = fmaxf(size.x, fmaxf(size.y, size.z)) / (float)n;
    l.lo = lo;
    l.nx = (int)(size.x / l.cell + 0.5f) + 1, l.ny = (int)(size.y / l.cell + 0.5f) + 1,
    l.nz = (int)(size.z / l.cell + 0.5f) + 1;
    count = (size_t)l.nx * (size_t)l.ny * (size_t)l.nz;
    l.value = (float *)malloc(count * sizeof(float));
    l.vertex = (int *)malloc(count * sizeof(int));
    if (l.value && l.vertex) {
        for (z = 0; z < l.nz; ++z)
            for (y = 0; y < l.ny; ++y)
                for (x = 0; x < l.nx; ++x)
                    l.value[lattice_at(&l, x, y, z)] = distance(v3_madd(lo, v3((float)x, (float)y, (float)z), l.cell));
        for (z = 0; z + 1 < l.nz; ++z)
            for (y = 0; y + 1 < l.ny; ++y)
                for (x = 0; x + 1 < l.nx; ++x) l.vertex[lattice_at(&l, x, y, z)] = lattice_cell_vertex(&l, m, x, y, z);
        for (z = 0; z + 1 < l.nz; ++z) {
            for (y = 0; y + 1 < l.ny; ++y) {
                for (x = 0; x + 1 < l.nx; ++x) {
                    int axis;
                    for (axis = 0; axis < 3; ++axis) lattice_edge_quad(&l, m, x, y, z, axis);
                }
            }
        }
    } else {
        m->failed = true;
    }
    free(l.value);
    free(l.vertex);
}

/* ---- bunny: ellipsoids melted together --------------------------------------------------------------------------- */

typedef struct bunny_part {
    vec3 centre, radii;
    float lean;
} bunny_part; /* lean: radians about z, then mirrored at z = 0 */

static float bunny_part_distance(const bunny_part *part,
                                 vec3 p) { /* approximate: scaled by the gradient of the level */
    vec3 d = v3_sub(p, part->centre), scaled, gradient;
    float c = cosf(part->lean), s = sinf(part->lean), k;
    d = v3(c * d.x + s * d.y, c * d.y - s * d.x, d.z);
    scaled = v3(d.x / part->radii.x, d.y / part->radii.y, d.z / part->radii.z);
    gradient = v3(scaled.x / part->radii.x, scaled.y / part->radii.y, scaled.z / part->radii.z);
    k = v3_length(scaled);
    return k < 1e-6f ? -fminf(part->radii.x, fminf(part->radii.y, part->radii.z))
                     : k * (k - 1.0f) / v3_length(gradient);
}

float bunny_distance(vec3 p) {
    static const bunny_part parts[] = {{{-0.06f, 0.26f, 0.00f}, {0.33f, 0.26f, 0.25f}, 0.25f}, /* body */
                                       {{0.16f, 0.36f, 0.00f}, {0.17f, 0.23f, 0.18f}, -0.2f},  /* chest */
                                       {{0.25f, 0.57f, 0.00f}, {0.19f, 0.15f, 0.15f}, -0.15f}, /* head */
                                       {{0.13f, 0.80f, 0.12f}, {0.065f, 0.21f, 0.05f}, 0.40f}, /* ear */
                                       {{0.25f, 0.07f, 0.12f}, {0.14f, 0.07f, 0.08f}, 0.0f},   /* front paw */
                                       {{-0.08f, 0.12f, 0.20f}, {0.22f, 0.13f, 0.11f}, 0.0f},  /* hind leg */
                                       {{-0.40f, 0.20f, 0.00f}, {0.10f, 0.09f, 0.09f}, 0.0f}}; /* tail */
    const float melt = 0.03f; /* m, width of the seams */
    float sum = 0.0f;
    size_t i;
    p.z = fabsf(p.z);
    for (i = 0; i < sizeof parts / sizeof parts[0]; ++i) sum += expf(-bunny_part_distance(&parts[i], p) / melt);
    return -melt * logf(fmaxf(sum, 1e-30f));
}

void mesh_bunny(mesh *m, float height, int cells) {
    int i, first = m->vertex_count;
    mesh_from_distance(m, bunny_distance, v3(-0.60f, -0.10f, -0.45f), v3(0.60f, 1.10f, 0.45f), cells);
    for (i = first; i < m->vertex_count; ++i) {
        if (m->vertices[i].y < 0.0f) m->vertices[i].y -= 0.5f;
        m->vertices[i] = v3_scale(m->vertices[i], height);
    }
}

#endif /* EXAMPLES_IMPLEMENTATION */
