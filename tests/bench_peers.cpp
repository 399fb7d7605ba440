/* bench_peers.cpp - the same work done by others, in the same run: Eigen's Krylov solvers on a pressure matrix of the
   fluid, Bullet's cloth. `make bench-peers` builds it where their packages are. SPDX-License-Identifier: MIT

   PEERS_EIGEN and PEERS_BULLET are defined by the Makefile for what it found. */
#include "timing.h"

#include <math.h>

#define ISPHPBD_IMPLEMENTATION
#define EXAMPLES_IMPLEMENTATION
#include "isphpbd_pbd.h"
#include "isphpbd_sph.h"

#include "bench_matrix.h"
#include "bench_soft.h"

/* ==== [solvers] =================================================================================================== */

enum { DIGITS = 5 };

static void solver_line(const char *name, int digits, double milliseconds, int iterations, double residual) {
    if (digits == 1) printf("\n| %s |", name);
    printf(" %.2f (%d)%s |", milliseconds, iterations, pressure_problem_missed(residual, digits) ? "!" : "");
    fflush(stdout);
}

static void solver_ours(const pressure_problem *p, isph_matrix *matrix, const char *name, bool cg,
                        isph_preconditioner preconditioner) {
    for (int digits = 1; digits <= DIGITS; ++digits) {
        isph_solve_desc desc = isph_solve_desc_default();
        isph_solve_info info;
        samples *s = samples_new();
        desc.preconditioner = preconditioner, desc.tolerance = (float)pow(10.0, -digits), desc.max_iterations = 5000;
        for (int r = 0; r < 5; ++r) {
            samples_begin(s);
            (void)(cg ? isph_matrix_solve_cg : isph_matrix_solve_bicgstab)(matrix, p->b, p->x, &desc, &info);
            samples_end(s, 1.0);
        }
        solver_line(name, digits, samples_times(s, 1e3, 1.0).cpu_least, info.iterations,
                    pressure_problem_residual(p, p->x));
        free(s);
    }
}

#ifdef PEERS_EIGEN
#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#endif
#include <Eigen/IterativeLinearSolvers>
#include <Eigen/Sparse>
#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

template <typename Scalar, typename Solver> static void solver_eigen(const pressure_problem *p, const char *name) {
    typedef Eigen::Matrix<Scalar, Eigen::Dynamic, 1> vector;
    Eigen::SparseMatrix<Scalar, Eigen::RowMajor> matrix(p->rows, p->rows);
    std::vector<Eigen::Triplet<Scalar>> entries;
    vector b(p->rows), x(p->rows);
    Solver solver;
    for (int i = 0; i < p->rows; ++i) {
        b[i] = (Scalar)p->b[i];
        for (int e = p->row_start[i]; e < p->row_start[i + 1]; ++e)
            entries.push_back(Eigen::Triplet<Scalar>(i, p->columns[e], (Scalar)p->values[e]));
    }
    matrix.setFromTriplets(entries.begin(), entries.end());
    solver.compute(matrix);
    solver.setMaxIterations(5000);
    for (int digits = 1; digits <= DIGITS; ++digits) {
        samples *s = samples_new();
        solver.setTolerance((Scalar)pow(10.0, -digits));
        for (int r = 0; r < 5; ++r) {
            samples_begin(s);
            x = solver.solve(b);
            samples_end(s, 1.0);
        }
        for (int i = 0; i < p->rows; ++i) p->x[i] = (float)x[i];
        solver_line(name, digits, samples_times(s, 1e3, 1.0).cpu_least, (int)solver.iterations(),
                    pressure_problem_residual(p, p->x));
        free(s);
    }
}

static void solvers_eigen(const pressure_problem *p) {
    using namespace Eigen;
    typedef SparseMatrix<float, RowMajor> floats;
    typedef SparseMatrix<double, RowMajor> doubles;
    solver_eigen<float, BiCGSTAB<floats, DiagonalPreconditioner<float>>>(p, "Eigen BiCGSTAB, diagonal, float");
    solver_eigen<double, BiCGSTAB<doubles, DiagonalPreconditioner<double>>>(p, "Eigen BiCGSTAB, diagonal, double");
    solver_eigen<float, ConjugateGradient<floats, Lower | Upper, DiagonalPreconditioner<float>>>(
        p, "Eigen CG, diagonal, float");
    solver_eigen<double, ConjugateGradient<doubles, Lower | Upper, DiagonalPreconditioner<double>>>(
        p, "Eigen CG, diagonal, double");
}
#else
static void solvers_eigen(const pressure_problem *p) {
    (void)p;
    printf("\n\nEigen is not installed (libeigen3-dev).");
}
#endif

static void peers_solvers(void) {
    pressure_problem p = pressure_problem_make();
    isph_matrix *matrix = pressure_problem_matrix(&p);
    printf("## Solvers\n\nThe pressure matrix of the dam break at 0.4 s, %d rows, %d nonzeros, from zero: least CPU "
           "time of 5 "
           "in ms, and iterations; ! where the true residual, in double, is above what was asked for.\n\n| solver |",
           p.rows, p.row_start[p.rows]);
    for (int digits = 1; digits <= DIGITS; ++digits) printf(" 1e-%d |", digits);
    printf("\n|---|---:|---:|---:|---:|---:|");
    solver_ours(&p, matrix, "isphpbd BiCGSTAB, diagonal, float", false, ISPH_PRECONDITIONER_JACOBI);
    solver_ours(&p, matrix, "isphpbd BiCGSTAB, two-level, float", false, ISPH_PRECONDITIONER_TWO_LEVEL);
    solver_ours(&p, matrix, "isphpbd CG, diagonal, float", true, ISPH_PRECONDITIONER_JACOBI);
    solver_ours(&p, matrix, "isphpbd CG, two-level, float", true, ISPH_PRECONDITIONER_TWO_LEVEL);
    solvers_eigen(&p);
    printf("\n");
    isph_matrix_destroy(matrix);
    pressure_problem_free(&p);
}

/* ==== [cloth] ===================================================================================================== */

enum { CLOTH_SIDE = 65, CLOTH_ITERATIONS = 12, CLOTH_STEPS = 300 };

static void cloth_line(const char *name, int links, samples *s) {
    const timing t = samples_times(s, 1e3, 1.0);
    printf("| %s | %.3f | %.3f | %.2f |\n", name, t.cpu_least, t.cpu_median,
           1e6 * t.cpu_least / (CLOTH_ITERATIONS * (double)links));
}

static void cloth_ours(void) {
    soft_mesh m = soft_cloth(CLOTH_SIDE);
    size_t bytes;
    ipbd_world *world = soft_world(&m, CLOTH_ITERATIONS, serial_runner(), &bytes);
    samples *s = samples_new();
    soft_steps(world, 1.0f / 200.0f, CLOTH_STEPS, s);
    cloth_line("isphpbd, 12 substeps", (int)soft_constraints(world), s);
    free(s);
    ipbd_destroy(world);
    soft_mesh_free(&m);
}

#ifdef PEERS_BULLET
#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"
#pragma GCC diagnostic ignored "-Wconversion"
#endif
#include <BulletSoftBody/btSoftBodyHelpers.h>
#include <BulletSoftBody/btSoftBodyRigidBodyCollisionConfiguration.h>
#include <BulletSoftBody/btSoftRigidDynamicsWorld.h>
#include <btBulletDynamicsCommon.h>
#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

/* The same links as soft_cloth(): edges, one diagonal per cell, and every second vertex along rows and columns. */
static btSoftBody *cloth_bullet_body(btSoftBodyWorldInfo &info) {
    const int n = CLOTH_SIDE;
    btSoftBody *body = btSoftBodyHelpers::CreatePatch(info, btVector3(0, 0, 0), btVector3(3, 0, 0), btVector3(0, 0, 3),
                                                      btVector3(3, 0, 3), n, n, 1 + 2, true);
    for (int j = 0; j < n; ++j) {
        for (int i = 0; i < n; ++i) {
            if (i + 2 < n) body->appendLink(i + n * j, i + 2 + n * j);
            if (j + 2 < n) body->appendLink(i + n * j, i + n * (j + 2));
        }
    }
    body->m_cfg.piterations = CLOTH_ITERATIONS;
    body->m_cfg.collisions = 0;
    body->setTotalMass(1);
    return body;
}

static void cloth_bullet(bool reordered) {
    btSoftBodyRigidBodyCollisionConfiguration configuration;
    btCollisionDispatcher dispatcher(&configuration);
    btDbvtBroadphase broadphase;
    btSequentialImpulseConstraintSolver solver;
    btSoftRigidDynamicsWorld world(&dispatcher, &broadphase, &solver, &configuration);
    btSoftBody *body = cloth_bullet_body(world.getWorldInfo());
    samples *s = samples_new();
    if (reordered) btSoftBodyHelpers::ReoptimizeLinkOrder(body);
    world.setGravity(btVector3(0, btScalar(-9.81), 0));
    world.addSoftBody(body);
    for (int k = 0; k < CLOTH_STEPS + 5; ++k) {
        samples_begin(s);
        world.stepSimulation(btScalar(1.0 / 200.0), 0);
        if (k >= 5) samples_end(s, 1.0);
    }
    cloth_line(reordered ? "Bullet, 12 iterations, links reordered" : "Bullet, 12 iterations", body->m_links.size(), s);
    world.removeSoftBody(body);
    delete body;
    free(s);
}

static void cloths_bullet(void) {
    cloth_bullet(false);
    cloth_bullet(true);
}
#else
static void cloths_bullet(void) { printf("\nBullet is not installed (libbullet-dev).\n"); }
#endif

int main(void) {
    const time_t now = time(NULL);
    char cpu[128], date[32];
    timing_cpu_name(cpu, sizeof cpu);
    (void)strftime(date, sizeof date, "%Y-%m-%d", gmtime(&now));
    printf("# The same work done by others\n\nPrinted by `make bench-peers` on %s: %s, one thread.\n\n", date, cpu);
    peers_solvers();
    printf("\n## Cloth\n\nA cloth of %d x %d with the same links, hung by two corners, steps of 5 ms, %d steps.\n\n"
           "| | least ms of CPU time | median | ns per projection |\n|---|---:|---:|---:|\n",
           CLOTH_SIDE, CLOTH_SIDE, CLOTH_STEPS);
    cloth_ours();
    cloths_bullet();
    return 0;
}
