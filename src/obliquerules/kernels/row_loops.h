/* Sums over one block of rows: the innermost loops of the kernels. row_block.h includes this file once for each instruction set,
   with macros that say what it is, and which the end of this file takes back. */

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
    SIMD
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

/* log(1 + x) for 0 <= x <= 1, as 2 atanh(x / (2 + x)), in a series that has converged to the last bit but one. */
TARGET static inline double NAMED(log1p_of_share)(double x) {
    const double s = x / (2.0 + x), z = s * s;
    double p = 1.0 / 33.0;
    p = FMA(p, z, 1.0 / 31.0);
    p = FMA(p, z, 1.0 / 29.0);
    p = FMA(p, z, 1.0 / 27.0);
    p = FMA(p, z, 1.0 / 25.0);
    p = FMA(p, z, 1.0 / 23.0);
    p = FMA(p, z, 1.0 / 21.0);
    p = FMA(p, z, 1.0 / 19.0);
    p = FMA(p, z, 1.0 / 17.0);
    p = FMA(p, z, 1.0 / 15.0);
    p = FMA(p, z, 1.0 / 13.0);
    p = FMA(p, z, 1.0 / 11.0);
    p = FMA(p, z, 1.0 / 9.0);
    p = FMA(p, z, 1.0 / 7.0);
    p = FMA(p, z, 1.0 / 5.0);
    p = FMA(p, z, 1.0 / 3.0);
    return 2.0 * FMA(s * z, p, s);
}

/* loss = c (log(1 + exp(eta)) - y eta), the weighted logistic loss. */
TARGET static void NAMED(logistic_losses)(const double *eta, const double *y, const double *c, double *loss, int rows) {
    SIMD
    for (int i = 0; i < rows; i++) {
        double a = -fabs(eta[i]);
        a = a < -700.0 ? -700.0 : a;
        const double above = eta[i] > 0.0 ? eta[i] : 0.0;
        const double value = (above - y[i] * eta[i]) + NAMED(log1p_of_share)(NAMED(exp_of_negative)(a));
        loss[i] = c[i] * (value < DBL_MAX ? value : DBL_MAX); /* also where the score is not a number */
    }
}

/* value = sigmoid(sharpness u), or what is given where u is not a number. */
TARGET static void NAMED(sigmoids)(double *value, const double *u, double sharpness, double if_missing, int rows) {
    SIMD
    for (int i = 0; i < rows; i++) {
        const double v = sharpness * u[i];
        double a = -fabs(v);
        a = a < -700.0 ? -700.0 : a;
        const double e = NAMED(exp_of_negative)(a);
        const double q = 1.0 / (1.0 + e);
        const double s = v >= 0.0 ? q : e * q;
        value[i] = v != v ? if_missing : s;
    }
}

/* Turn the scores of classes, ROWS_PER_BLOCK apart, into odds, which add up to total; the loss is log(total) - expected. */
TARGET static void NAMED(class_odds)(double *score, const double *y, double *total, double *expected, int classes, int rows) {
    double highest[ROWS_PER_BLOCK];
    for (int i = 0; i < rows; i++) highest[i] = score[i];
    for (int k = 1; k < classes; k++) {
        const double *own = score + k * ROWS_PER_BLOCK;
        SIMD
        for (int i = 0; i < rows; i++) highest[i] = own[i] > highest[i] ? own[i] : highest[i];
    }
    for (int i = 0; i < rows; i++) total[i] = expected[i] = 0.0;
    for (int k = 0; k < classes; k++) {
        double *own = score + k * ROWS_PER_BLOCK;
        const double *share = y + k * ROWS_PER_BLOCK;
        SIMD
        for (int i = 0; i < rows; i++) {
            double a = own[i] - highest[i];
            expected[i] += share[i] != 0.0 ? share[i] * a : 0.0; /* a score may be minus infinity */
            a = a < -700.0 ? -700.0 : a;
            own[i] = NAMED(exp_of_negative)(a);
            total[i] += own[i];
        }
    }
}

/* Turn odds into probabilities p, and set r = c (p - y). */
TARGET static void NAMED(class_slopes)(double *odds, const double *y, const double *c, const double *total, double *r, int classes, int rows) {
    for (int k = 0; k < classes; k++) {
        double *own = odds + k * ROWS_PER_BLOCK, *slope = r + k * ROWS_PER_BLOCK;
        const double *share = y + k * ROWS_PER_BLOCK;
        SIMD
        for (int i = 0; i < rows; i++) {
            own[i] /= total[i];
            slope[i] = c[i] * (own[i] - share[i]);
        }
    }
}

/* target += scale * x. */
TARGET static void NAMED(add_scaled)(double *target, const double *x, double scale, int rows) {
    SIMD
    for (int i = 0; i < rows; i++) target[i] = FMA(scale, x[i], target[i]);
}

/* target = h * x. */
TARGET static void NAMED(multiply)(double *target, const double *h, const double *x, int rows) {
    SIMD
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
        QUAD a, b, w0, w1, w2, w3, s0, s1, s2, s3, t0, t1, t2, t3;
        CLEAR(s0);
        CLEAR(s1);
        CLEAR(s2);
        CLEAR(s3);
        CLEAR(t0);
        CLEAR(t1);
        CLEAR(t2);
        CLEAR(t3);
        int i = 0;
        for (; i + ROWS_PER_LINE <= rows; i += ROWS_PER_LINE) {
            if (v == 0) {
                PREFETCH(x + i + ROWS_PER_BLOCK);
                PREFETCH(x2 + i + ROWS_PER_BLOCK);
            }
            for (int k = i; k < i + ROWS_PER_LINE; k += LANES) {
                LOAD(a, x + k);
                LOAD(b, x2 + k);
                LOAD(w0, u0 + k);
                LOAD(w1, u1 + k);
                LOAD(w2, u2 + k);
                LOAD(w3, u3 + k);
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
        double s[LANES][LANES], t[LANES][LANES]; /* of each vector */
        STORE(s[0], s0);
        STORE(s[1], s1);
        STORE(s[2], s2);
        STORE(s[3], s3);
        STORE(t[0], t0);
        STORE(t[1], t1);
        STORE(t[2], t2);
        STORE(t[3], t3);
        for (int k = 0; k < LANES; k++) {
            const double *u = u0 + k * ROWS_PER_BLOCK;
            for (int j = i; j < rows; j++) {
                s[k][0] = FMA(x[j], u[j], s[k][0]);
                t[k][0] = FMA(x2[j], u[j], t[k][0]);
            }
            out[v + k] += across(s[k]);
            out2[v + k] += across(t[k]);
        }
    }
}

/* Sum of x. */
TARGET static double NAMED(sum_of)(const double *x, int rows) {
    QUAD a, s;
    double lanes[LANES];
    int i = 0;
    CLEAR(s);
    for (; i + LANES <= rows; i += LANES) {
        LOAD(a, x + i);
        ADD(s, a);
    }
    STORE(lanes, s);
    for (; i < rows; i++) lanes[0] += x[i];
    return across(lanes);
}

/* Sum of x * u. */
TARGET static double NAMED(sum_of_products)(const double *x, const double *u, int rows) {
    QUAD a, b, w, v, s, t;
    double lanes[LANES], more[LANES];
    int i = 0;
    CLEAR(s);
    CLEAR(t);
    for (; i + ROWS_PER_LINE <= rows; i += ROWS_PER_LINE) {
        LOAD(a, x + i);
        LOAD(w, u + i);
        LOAD(b, x + i + LANES);
        LOAD(v, u + i + LANES);
        ADD_PRODUCT(s, a, w);
        ADD_PRODUCT(t, b, v);
    }
    STORE(lanes, s);
    STORE(more, t);
    for (; i < rows; i++) lanes[0] = FMA(x[i], u[i], lanes[0]);
    return across(lanes) + across(more);
}

#undef FMA
#undef TARGET
#undef NAMED
#undef QUAD
#undef CLEAR
#undef LOAD
#undef STORE
#undef ADD
#undef ADD_PRODUCT
