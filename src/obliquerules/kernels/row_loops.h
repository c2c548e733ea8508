/* Sums over one block of rows: the innermost loops of the L1 path. row_block.h includes this file once for each instruction set. */

/* exp(x) for -700 <= x <= 0 without a branch or a call, so that the loop around it is vectorised (error below 2 ulp). */
TARGET static inline double NAMED(exp_of_negative)(double x) {
    const double shift = 6755399441055744.0; /* 1.5 * 2^52: adding it rounds to an integer in the low bits */
    const double scaled = FMA(x, 1.4426950408889634074, shift);
    const double k = scaled - shift;
    const double r = FMA(k, -1.90821492927058770002e-10, FMA(k, -6.93147180369123816490e-01, x));
    double p = 1.0 / 6227020800.0;
    p = FMA(p, r, 1.0 / 479001600.0);
    p = FMA(p, r, 1.0 / 39916800.0);
    p = FMA(p, r, 1.0 / 3628800.0);
    p = FMA(p, r, 1.0 / 362880.0);
    p = FMA(p, r, 1.0 / 40320.0);
    p = FMA(p, r, 1.0 / 5040.0);
    p = FMA(p, r, 1.0 / 720.0);
    p = FMA(p, r, 1.0 / 120.0);
    p = FMA(p, r, 1.0 / 24.0);
    p = FMA(p, r, 1.0 / 6.0);
    p = FMA(p, r, 0.5);
    p = FMA(p, r, 1.0);
    p = FMA(p, r, 1.0);
    uint64_t bits; /* unsigned: a shift into the sign of a signed number means nothing in C */
    double power;
    memcpy(&bits, &scaled, sizeof bits);
    bits = (bits + 1023) << 52;
    memcpy(&power, &bits, sizeof power);
    return p * power;
}

/* r = c (p - y) and h = c p (1 - p) with p = sigmoid(eta); p - y as (1 - y) p - y (1 - p), which loses no digits near 1. */
TARGET static void NAMED(logistic_derivatives)(const double *eta, const double *y, const double *c, double *r, double *h, int rows) {
#pragma omp simd
    for (int i = 0; i < rows; i++) {
        double a = -fabs(eta[i]);
        a = a < -700.0 ? -700.0 : a;
        const double e = NAMED(exp_of_negative)(a);
        const double q = 1.0 / (1.0 + e);
        const double p = eta[i] >= 0.0 ? q : e * q;
        const double rest = eta[i] >= 0.0 ? e * q : q;
        r[i] = c[i] * ((1.0 - y[i]) * p - y[i] * rest);
        h[i] = c[i] * e * q * q;
    }
}

/* target += scale * x. */
TARGET static void NAMED(add_scaled)(double *target, const double *x, double scale, int rows) {
#pragma omp simd
    for (int i = 0; i < rows; i++) target[i] = FMA(scale, x[i], target[i]);
}

/* target = h * x. */
TARGET static void NAMED(multiply)(double *target, const double *h, const double *x, int rows) {
#pragma omp simd
    for (int i = 0; i < rows; i++) target[i] = h[i] * x[i];
}

/* out[v] += x . U_v and out2[v] += x2 . U_v for `vectors` (a multiple of LANES) vectors that lie ROWS_PER_BLOCK apart.
   Two columns by four vectors: each number loaded is used at least twice, which is what bounds this loop while the data are in
   the cache. When they are not, it waits for memory: hence it asks, a cache line at a time, for the rows of the next block. */
TARGET static void NAMED(add_products)(double *out, double *out2, const double *x, const double *x2, const double *U, int vectors, int rows) {
    for (int v = 0; v < vectors; v += LANES) {
        const double *u0 = U + (v + 0) * ROWS_PER_BLOCK;
        const double *u1 = U + (v + 1) * ROWS_PER_BLOCK;
        const double *u2 = U + (v + 2) * ROWS_PER_BLOCK;
        const double *u3 = U + (v + 3) * ROWS_PER_BLOCK;
        quad s0 = {0.0}, s1 = {0.0}, s2 = {0.0}, s3 = {0.0};
        quad t0 = {0.0}, t1 = {0.0}, t2 = {0.0}, t3 = {0.0};
        int i = 0;
        for (; i + ROWS_PER_LINE <= rows; i += ROWS_PER_LINE) {
            if (v == 0) {
                __builtin_prefetch(x + i + ROWS_PER_BLOCK);
                __builtin_prefetch(x2 + i + ROWS_PER_BLOCK);
            }
            for (int k = i; k < i + ROWS_PER_LINE; k += LANES) {
                const quad a = *(const quad *)(x + k), b = *(const quad *)(x2 + k);
                const quad w0 = *(const quad *)(u0 + k), w1 = *(const quad *)(u1 + k);
                const quad w2 = *(const quad *)(u2 + k), w3 = *(const quad *)(u3 + k);
                ADD_PRODUCT(s0, a, w0);
                ADD_PRODUCT(s1, a, w1);
                ADD_PRODUCT(s2, a, w2);
                ADD_PRODUCT(s3, a, w3);
                ADD_PRODUCT(t0, b, w0);
                ADD_PRODUCT(t1, b, w1);
                ADD_PRODUCT(t2, b, w2);
                ADD_PRODUCT(t3, b, w3);
            }
        }
        for (; i < rows; i++) {
            s0[0] = FMA(x[i], u0[i], s0[0]);
            s1[0] = FMA(x[i], u1[i], s1[0]);
            s2[0] = FMA(x[i], u2[i], s2[0]);
            s3[0] = FMA(x[i], u3[i], s3[0]);
            t0[0] = FMA(x2[i], u0[i], t0[0]);
            t1[0] = FMA(x2[i], u1[i], t1[0]);
            t2[0] = FMA(x2[i], u2[i], t2[0]);
            t3[0] = FMA(x2[i], u3[i], t3[0]);
        }
        out[v + 0] += ACROSS(s0);
        out[v + 1] += ACROSS(s1);
        out[v + 2] += ACROSS(s2);
        out[v + 3] += ACROSS(s3);
        out2[v + 0] += ACROSS(t0);
        out2[v + 1] += ACROSS(t1);
        out2[v + 2] += ACROSS(t2);
        out2[v + 3] += ACROSS(t3);
    }
}

/* Sum of x. */
TARGET static double NAMED(sum_of)(const double *x, int rows) {
    quad s = {0.0};
    int i = 0;
    for (; i + LANES <= rows; i += LANES) s += *(const quad *)(x + i);
    for (; i < rows; i++) s[0] += x[i];
    return ACROSS(s);
}
