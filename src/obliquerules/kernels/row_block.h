/* Which instruction set works on a block of rows; each gives the same bits. */
#ifndef OBLIQUERULES_ROW_BLOCK_H
#define OBLIQUERULES_ROW_BLOCK_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "exact_fma.h"

enum { ROWS_PER_BLOCK = 256, ROWS_PER_LINE = 8, LANES = 4 };

/* Four doubles that are worked on together (GCC and Clang), read from wherever a double may lie. How many lanes a sum has is part
   of its last bit, so it is fixed here and not left to the instruction set. The same goes for rounding a product and a sum only
   once: that happens where FMA is written and nowhere else. */
typedef double quad __attribute__((vector_size(32), aligned(8), may_alias));
#define ACROSS(q) (((q)[0] + (q)[1]) + ((q)[2] + (q)[3]))

/* What every processor can do. */
#if defined(__FP_FAST_FMA)
#define FMA fma
#else
#define FMA exact_fma
#endif
#define TARGET
#define NAMED(function) function##_anywhere
#define ADD_PRODUCT(s, a, b) \
    for (int lane = 0; lane < LANES; lane++) (s)[lane] = FMA((a)[lane], (b)[lane], (s)[lane])
#include "row_loops.h"
#undef FMA
#undef TARGET
#undef NAMED
#undef ADD_PRODUCT

/* What nearly all x86 processors since 2013 can do. One build serves old and new: the choice is made when it runs. */
#if defined(__x86_64__)
#include <immintrin.h>
#define FMA fma
#define TARGET __attribute__((target("avx2,fma")))
#define NAMED(function) function##_with_avx2
#define ADD_PRODUCT(s, a, b) s = (quad)_mm256_fmadd_pd((__m256d)(a), (__m256d)(b), (__m256d)(s))
#include "row_loops.h"
#undef FMA
#undef TARGET
#undef NAMED
#undef ADD_PRODUCT
#define CHOSEN(function, ...) \
    (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? function##_with_avx2(__VA_ARGS__) \
                                                                     : function##_anywhere(__VA_ARGS__))
#else
#define CHOSEN(function, ...) function##_anywhere(__VA_ARGS__)
#endif

static inline void logistic_derivatives(const double *eta, const double *y, const double *c, double *r, double *h, int rows) {
    CHOSEN(logistic_derivatives, eta, y, c, r, h, rows);
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

#endif
