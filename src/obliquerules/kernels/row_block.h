/* Sums over one block of rows: the innermost loops of every solver, compiled for three instruction sets that give the same bits. */
#ifndef OBLIQUERULES_ROW_BLOCK_H
#define OBLIQUERULES_ROW_BLOCK_H

#include <math.h>
#include <stdint.h>
#include <string.h>

/* One build serves old and new processors: the loader picks the clone, so that a wheel need not be compiled per machine.
   The choice is made before a sanitizer is ready: for those, one target is enough. */
#if defined(OBLIQUERULES_ONE_TARGET)
#define FOR_EACH_TARGET
#elif defined(__x86_64__) && defined(__linux__) && defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 12
#define FOR_EACH_TARGET __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#elif defined(__x86_64__) && defined(__linux__) && defined(__GNUC__) && !defined(__clang__)
#define FOR_EACH_TARGET __attribute__((target_clones("avx2", "default")))
#else
#define FOR_EACH_TARGET
#endif

enum { ROWS_PER_BLOCK = 256, ROWS_PER_LINE = 8, LANES = 4 };

/* Four doubles that are added and multiplied together (GCC and Clang), read from wherever a double may lie; and two of them,
   for two columns. How many lanes a sum has is part of its last bit, so it is said here and not left to the instruction set. */
typedef double quad __attribute__((vector_size(32), aligned(8), may_alias));
typedef double pair __attribute__((vector_size(64)));
#define ACROSS(q) (((q)[0] + (q)[1]) + ((q)[2] + (q)[3]))
#if defined(__clang__) || __GNUC__ >= 12
#define PAIR(a, b) __builtin_shufflevector(a, b, 0, 1, 2, 3, 4, 5, 6, 7)
#else
#define PAIR(a, b) ((pair){(a)[0], (a)[1], (a)[2], (a)[3], (b)[0], (b)[1], (b)[2], (b)[3]})
#endif
#define ACROSS_SECOND(p) (((p)[4] + (p)[5]) + ((p)[6] + (p)[7]))

/* exp(x) for -700 <= x <= 0 without a branch or a call, so that the loop around it is vectorised (error below 2 ulp). */
static inline double exp_of_negative(double x) {
    const double shift = 6755399441055744.0; /* 1.5 * 2^52: adding it rounds to an integer in the low bits */
    const double scaled = x * 1.4426950408889634074 + shift;
    const double k = scaled - shift;
    const double r = (x - k * 6.93147180369123816490e-01) - k * 1.90821492927058770002e-10;
    double p = 1.0 / 6227020800.0;
    p = p * r + 1.0 / 479001600.0;
    p = p * r + 1.0 / 39916800.0;
    p = p * r + 1.0 / 3628800.0;
    p = p * r + 1.0 / 362880.0;
    p = p * r + 1.0 / 40320.0;
    p = p * r + 1.0 / 5040.0;
    p = p * r + 1.0 / 720.0;
    p = p * r + 1.0 / 120.0;
    p = p * r + 1.0 / 24.0;
    p = p * r + 1.0 / 6.0;
    p = p * r + 0.5;
    p = p * r + 1.0;
    p = p * r + 1.0;
    uint64_t bits; /* unsigned: a shift into the sign of a signed number means nothing in C */
    double power;
    memcpy(&bits, &scaled, sizeof bits);
    bits = (bits + 1023) << 52;
    memcpy(&power, &bits, sizeof power);
    return p * power;
}

/* r = c (p - y) and h = c p (1 - p) with p = sigmoid(eta); p - y as (1 - y) p - y (1 - p), which loses no digits near 1. */
FOR_EACH_TARGET
static void logistic_derivatives(const double *eta, const double *y, const double *c, double *r, double *h, int rows) {
#pragma omp simd
    for (int i = 0; i < rows; i++) {
        double a = -fabs(eta[i]);
        a = a < -700.0 ? -700.0 : a;
        const double e = exp_of_negative(a);
        const double q = 1.0 / (1.0 + e);
        const double p = eta[i] >= 0.0 ? q : e * q;
        const double rest = eta[i] >= 0.0 ? e * q : q;
        r[i] = c[i] * ((1.0 - y[i]) * p - y[i] * rest);
        h[i] = c[i] * e * q * q;
    }
}

/* target += scale * x. */
FOR_EACH_TARGET
static void add_scaled(double *target, const double *x, double scale, int rows) {
#pragma omp simd
    for (int i = 0; i < rows; i++) target[i] += scale * x[i];
}

/* target = h * x. */
FOR_EACH_TARGET
static void multiply(double *target, const double *h, const double *x, int rows) {
#pragma omp simd
    for (int i = 0; i < rows; i++) target[i] = h[i] * x[i];
}

/* out[v] += x . U_v and out2[v] += x2 . U_v for `vectors` (a multiple of LANES) vectors that lie ROWS_PER_BLOCK apart.
   Two columns by four vectors: each number loaded is used at least twice, which is what bounds this loop while the data are in
   the cache. When they are not, it waits for memory: hence it asks, a cache line at a time, for the rows of the next block. */
FOR_EACH_TARGET
static void add_products(double *out, double *out2, const double *x, const double *x2, const double *U, int vectors, int rows) {
    for (int v = 0; v < vectors; v += LANES) {
        const double *u0 = U + (v + 0) * ROWS_PER_BLOCK;
        const double *u1 = U + (v + 1) * ROWS_PER_BLOCK;
        const double *u2 = U + (v + 2) * ROWS_PER_BLOCK;
        const double *u3 = U + (v + 3) * ROWS_PER_BLOCK;
        pair s0 = {0.0}, s1 = {0.0}, s2 = {0.0}, s3 = {0.0};
        int i = 0;
        for (; i + ROWS_PER_LINE <= rows; i += ROWS_PER_LINE) {
            if (v == 0) {
                __builtin_prefetch(x + i + ROWS_PER_BLOCK);
                __builtin_prefetch(x2 + i + ROWS_PER_BLOCK);
            }
            for (int k = i; k < i + ROWS_PER_LINE; k += 4) {
                const quad a = *(const quad *)(x + k), b = *(const quad *)(x2 + k);
                const quad w0 = *(const quad *)(u0 + k), w1 = *(const quad *)(u1 + k);
                const quad w2 = *(const quad *)(u2 + k), w3 = *(const quad *)(u3 + k);
                const pair both = PAIR(a, b);
                s0 += both * PAIR(w0, w0);
                s1 += both * PAIR(w1, w1);
                s2 += both * PAIR(w2, w2);
                s3 += both * PAIR(w3, w3);
            }
        }
        for (; i < rows; i++) {
            s0[0] += x[i] * u0[i];
            s1[0] += x[i] * u1[i];
            s2[0] += x[i] * u2[i];
            s3[0] += x[i] * u3[i];
            s0[4] += x2[i] * u0[i];
            s1[4] += x2[i] * u1[i];
            s2[4] += x2[i] * u2[i];
            s3[4] += x2[i] * u3[i];
        }
        out[v + 0] += ACROSS(s0);
        out[v + 1] += ACROSS(s1);
        out[v + 2] += ACROSS(s2);
        out[v + 3] += ACROSS(s3);
        out2[v + 0] += ACROSS_SECOND(s0);
        out2[v + 1] += ACROSS_SECOND(s1);
        out2[v + 2] += ACROSS_SECOND(s2);
        out2[v + 3] += ACROSS_SECOND(s3);
    }
}

/* Sum of x. */
FOR_EACH_TARGET
static double sum_of(const double *x, int rows) {
    quad s = {0.0};
    int i = 0;
    for (; i + LANES <= rows; i += LANES) s += *(const quad *)(x + i);
    for (; i < rows; i++) s[0] += x[i];
    return ACROSS(s);
}

#endif
