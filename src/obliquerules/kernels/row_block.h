/* Which instruction set works on a block of rows; each gives the same bits. */
#ifndef OBLIQUERULES_ROW_BLOCK_H
#define OBLIQUERULES_ROW_BLOCK_H

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "exact_fma.h"

/* How many lanes a sum has is part of its last bit, so it is fixed here and not left to the instruction set. The same goes for
   rounding a product and a sum only once: that happens where FMA or ADD_PRODUCT is written and nowhere else. */
enum { ROWS_PER_BLOCK = 256, ROWS_PER_LINE = 8, LANES = 4 };

static inline double across(const double *lanes) { return (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]); }

/* What GCC and Clang offer beyond C11. With PLAIN_C, which is for tests, no compiler offers anything. */
#if (defined(__GNUC__) || defined(__clang__)) && !defined(PLAIN_C)
#define WITH_INSTRUCTIONS(names) __attribute__((target(names)))
#define SIMD _Pragma("omp simd")
#define PREFETCH(address) __builtin_prefetch(address)
#else
#define WITH_INSTRUCTIONS(names)
#define SIMD
#define PREFETCH(address) ((void)0)
#endif

/* What every processor can do, in C11. */
typedef struct { double lane[LANES]; } quad;
#if defined(__FP_FAST_FMA) || defined(__aarch64__) || defined(_M_ARM64)
#define FMA fma
#else
#define FMA exact_fma
#endif
#define TARGET
#define NAMED(function) function##_anywhere
#define QUAD quad
#define CLEAR(q) memset((q).lane, 0, sizeof (q).lane)
#define LOAD(q, address) memcpy((q).lane, address, sizeof (q).lane)
#define STORE(address, q) memcpy(address, (q).lane, sizeof (q).lane)
#define ADD(s, a) \
    for (int lane = 0; lane < LANES; lane++) (s).lane[lane] += (a).lane[lane]
#define ADD_PRODUCT(s, a, b) \
    for (int lane = 0; lane < LANES; lane++) (s).lane[lane] = FMA((a).lane[lane], (b).lane[lane], (s).lane[lane])
#include "row_loops.h"

/* What nearly all x86 processors since 2013 can do. One build serves old and new: the choice is made when it runs. */
#if (defined(__x86_64__) || defined(_M_X64)) && !defined(PLAIN_C)
#include <immintrin.h>
#define FMA fma
#define TARGET WITH_INSTRUCTIONS("avx2,fma")
#define NAMED(function) function##_with_avx2
#define QUAD __m256d
#define CLEAR(q) q = _mm256_setzero_pd()
#define LOAD(q, address) q = _mm256_loadu_pd(address)
#define STORE(address, q) _mm256_storeu_pd(address, q)
#define ADD(s, a) s = _mm256_add_pd(s, a)
#define ADD_PRODUCT(s, a, b) s = _mm256_fmadd_pd(a, b, s)
#include "row_loops.h"

#if defined(_MSC_VER)
#include <intrin.h>
WITH_INSTRUCTIONS("xsave") static int can_avx2(void) {
    const int fma_and_saving = 1 << 12 | 1 << 27, wide_registers = 6;
    int found[4];
    __cpuid(found, 0);
    if (found[0] < 7) return 0;
    __cpuid(found, 1);
    if ((found[2] & fma_and_saving) != fma_and_saving || (_xgetbv(0) & wide_registers) != wide_registers) return 0;
    __cpuidex(found, 7, 0);
    return found[1] >> 5 & 1;
}
#else
static int can_avx2(void) { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); }
#endif

static int has_avx2 = 0;
static void find_instructions(void) { has_avx2 = can_avx2(); }
#define CHOSEN(function, ...) (has_avx2 ? function##_with_avx2(__VA_ARGS__) : function##_anywhere(__VA_ARGS__))
#else
static void find_instructions(void) {}
#define CHOSEN(function, ...) function##_anywhere(__VA_ARGS__)
#endif

static inline void logistic_derivatives(const double *eta, const double *y, const double *c, double *r, double *h, int rows) {
    CHOSEN(logistic_derivatives, eta, y, c, r, h, rows);
}

static inline void logistic_losses(const double *eta, const double *y, const double *c, double *loss, int rows) {
    CHOSEN(logistic_losses, eta, y, c, loss, rows);
}

static inline void sigmoids(double *value, const double *u, double sharpness, double if_missing, int rows) {
    CHOSEN(sigmoids, value, u, sharpness, if_missing, rows);
}

static inline void class_odds(double *score, const double *y, double *total, double *expected, int classes, int rows) {
    CHOSEN(class_odds, score, y, total, expected, classes, rows);
}

static inline void class_slopes(
    double *odds, const double *y, const double *c, const double *total, double *r, int classes, int rows
) {
    CHOSEN(class_slopes, odds, y, c, total, r, classes, rows);
}

static inline void add_scaled(double *target, const double *x, double scale, int rows) {
    CHOSEN(add_scaled, target, x, scale, rows);
}

static inline void multiply(double *target, const double *h, const double *x, int rows) {
    CHOSEN(multiply, target, h, x, rows);
}

static inline void add_products(
    double *out, double *out2, const double *x, const double *x2, const double *U, int vectors, int rows
) {
    CHOSEN(add_products, out, out2, x, x2, U, vectors, rows);
}

static inline double sum_of(const double *x, int rows) {
    return CHOSEN(sum_of, x, rows);
}

static inline double sum_of_products(const double *x, const double *u, int rows) {
    return CHOSEN(sum_of_products, x, u, rows);
}

#endif
