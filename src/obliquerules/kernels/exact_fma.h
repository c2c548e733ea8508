/* A product and a sum rounded once, for processors that have no instruction for it: Boldo and Melquiond, "Emulation of FMA and
   correctly rounded sums", 2008. Where the C library emulates it too, it took about eight times as long. */
#ifndef OBLIQUERULES_EXACT_FMA_H
#define OBLIQUERULES_EXACT_FMA_H

#include <math.h>
#include <stdint.h>
#include <string.h>

typedef struct { double high, low; } exact; /* a number as the sum of two: what rounding leaves of it, and what it takes away */

static inline exact exact_sum(double a, double b) {
    const double sum = a + b, part = sum - a;
    return (exact){sum, (a - (sum - part)) + (b - part)};
}

static inline exact halves(double a) {
    const double scaled = 134217729.0 * a, high = scaled - (scaled - a); /* 2^27 + 1: the high half has 26 bits */
    return (exact){high, a - high};
}

static inline exact exact_product(double a, double b) {
    const double product = a * b;
    const exact x = halves(a), y = halves(b);
    return (exact){product, x.low * y.low - (((product - x.high * y.high) - x.low * y.high) - x.high * y.low)};
}

/* The sum, rounded to an odd last bit unless it is exact: then the rounding that follows is as if it were the first. */
static inline double odd_sum(double a, double b) {
    const exact sum = exact_sum(a, b);
    int64_t bits;
    double odd;
    memcpy(&bits, &sum.high, sizeof bits);
    if (sum.low != 0.0 && bits % 2 == 0) bits += (sum.low > 0.0) == (sum.high > 0.0) ? 1 : -1;
    memcpy(&odd, &bits, sizeof odd);
    return odd;
}

static inline int is_moderate(double a) { return 1e-70 < fabs(a) && fabs(a) < 1e70; }

/* fma(a, b, c), bit for bit. Where a part might underflow or overflow, the C library is asked after all. */
static inline double exact_fma(double a, double b, double c) {
    if (a == 0.0 || b == 0.0 || c == 0.0) return a * b + c;
    if (!is_moderate(a) || !is_moderate(b) || !is_moderate(c)) return fma(a, b, c);
    const exact product = exact_product(a, b), low = exact_sum(c, product.low), high = exact_sum(product.high, low.high);
    return high.high + odd_sum(low.low, high.low);
}

#endif
