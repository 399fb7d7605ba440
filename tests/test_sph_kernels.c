/* The smoothing kernels of isphpbd_sph.h: normalised, smooth, compact, and a slope that is their derivative. */
#define ISPH_IMPLEMENTATION
#include "isphpbd_sph.h"

#include "greatest.h"
#include "sph_fixture.h"

static const isph_kernel kernels[3] = {ISPH_KERNEL_WENDLAND_C2, ISPH_KERNEL_CUBIC_SPLINE, ISPH_KERNEL_QUARTIC_SPLINE};
static const float supports[4] = {0.01f, 0.12f, 1.0f, 25.0f};

static double value(isph_kernel kernel, double r, double support) {
    return (double)isph_kernel_value(kernel, (float)r, (float)support);
}

/* Integral of 4 pi r^2 W by Simpson's rule. */
static double volume_integral(isph_kernel kernel, double support) {
    const int steps = 4000;
    const double pi = 3.14159265358979323846;
    double sum = 0.0;
    for (int i = 0; i <= steps; i++) {
        const double r = support * i / steps, weight = i == 0 || i == steps ? 1.0 : i % 2 ? 4.0 : 2.0;
        sum += weight * 4.0 * pi * r * r * value(kernel, r, support);
    }
    return sum * support / (3.0 * steps);
}

TEST integrate_to_one(void) {
    for (int k = 0; k < 3; k++) {
        for (int s = 0; s < 4; s++) { ASSERT_IN_RANGE(1.0, volume_integral(kernels[k], (double)supports[s]), 1e-5); }
    }
    PASS();
}

/* The gradient is slope times the vector, so W' = slope r; central differences, everywhere inside. */
TEST slope_is_the_derivative(void) {
    for (int k = 0; k < 3; k++) {
        for (int s = 0; s < 4; s++) {
            const double support = (double)supports[s], step = 2e-3 * support;
            const double steepest = value(kernels[k], 0.0, support) / support;
            for (int i = 2; i < 498; i++) {
                const double r = support * i / 500.0;
                const double difference =
                    (value(kernels[k], r + step, support) - value(kernels[k], r - step, support)) / (2.0 * step);
                const double slope = (double)isph_kernel_slope(kernels[k], (float)r, (float)support) * r;
                ASSERT_IN_RANGE(difference, slope, 1e-3 * steepest);
            }
        }
    }
    PASS();
}

TEST slope_at_zero_is_the_limit(void) {
    for (int k = 0; k < 3; k++) {
        const double at_zero = (double)isph_kernel_slope(kernels[k], 0.0f, 0.5f);
        ASSERT(isfinite(at_zero) && at_zero < 0.0);
        ASSERT_IN_RANGE(at_zero, (double)isph_kernel_slope(kernels[k], 1e-6f, 0.5f), 1e-4 * -at_zero);
        ASSERT_IN_RANGE(at_zero, (double)isph_kernel_slope(kernels[k], 1e-3f, 0.5f), 1e-2 * -at_zero);
    }
    PASS();
}

TEST fall_from_the_centre_to_zero_at_the_support(void) {
    for (int k = 0; k < 3; k++) {
        double last = value(kernels[k], 0.0, 0.3);
        for (int i = 1; i < 300; i++) {
            const double here = value(kernels[k], 0.3 * i / 300.0, 0.3);
            ASSERT(here >= 0.0 && here < last);
            ASSERT(isph_kernel_slope(kernels[k], 0.3f * (float)i / 300.0f, 0.3f) <= 0.0f);
            last = here;
        }
    }
    PASS();
}

TEST nothing_beyond_the_support(void) {
    static const float beyond[4] = {0.3f, 0.300001f, 1.0f, 1e30f};
    for (int k = 0; k < 3; k++) {
        for (int i = 0; i < 4; i++) {
            ASSERT_EQ(0.0f, isph_kernel_value(kernels[k], beyond[i], 0.3f));
            ASSERT_EQ(0.0f, isph_kernel_slope(kernels[k], beyond[i], 0.3f));
        }
    }
    PASS();
}

TEST smoothing_lengths(void) {
    ASSERT_IN_RANGE(0.5, (double)isph_kernel_smoothing_length(ISPH_KERNEL_WENDLAND_C2, 1.0f), 1e-7);
    ASSERT_IN_RANGE(0.5, (double)isph_kernel_smoothing_length(ISPH_KERNEL_CUBIC_SPLINE, 1.0f), 1e-7);
    ASSERT_IN_RANGE(0.4, (double)isph_kernel_smoothing_length(ISPH_KERNEL_QUARTIC_SPLINE, 1.0f), 1e-7);
    PASS();
}

/* Values at the centre for h = 1, from the closed forms. */
TEST centre_values(void) {
    const double pi = 3.14159265358979323846;
    ASSERT_IN_RANGE(21.0 / (16.0 * pi), value(ISPH_KERNEL_WENDLAND_C2, 0.0, 2.0), 1e-6);
    ASSERT_IN_RANGE(1.0 / pi, value(ISPH_KERNEL_CUBIC_SPLINE, 0.0, 2.0), 1e-6);
    ASSERT_IN_RANGE((39.0625 - 5.0 * 5.0625 + 10.0 * 0.0625) / (20.0 * pi), value(ISPH_KERNEL_QUARTIC_SPLINE, 0.0, 2.5),
                    1e-6);
    PASS();
}

SUITE(sph_kernels) {
    RUN_TEST(integrate_to_one);
    RUN_TEST(slope_is_the_derivative);
    RUN_TEST(slope_at_zero_is_the_limit);
    RUN_TEST(fall_from_the_centre_to_zero_at_the_support);
    RUN_TEST(nothing_beyond_the_support);
    RUN_TEST(smoothing_lengths);
    RUN_TEST(centre_values);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv) {
    GREATEST_MAIN_BEGIN();
    RUN_SUITE(sph_kernels);
    GREATEST_MAIN_END();
}
