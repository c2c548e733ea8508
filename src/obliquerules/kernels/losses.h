/* The formulas of the losses for one row, each in this place alone. Every loss is linear in the target and convex in the score.
   The first three are A(f) - y f + B(y), with mean mu(f) = A'(f). The Tweedie loss has a power p of more than 1 and at most 2,
   which the others ignore; with the mean exp(f) it is exp((2-p) f) / (2-p) + y exp((1-p) f) / (p-1) + B(y), and with p = 2 the
   gamma loss f + y exp(-f) + B(y). For a finite score and target all formulas are finite. A score that is not a number has the
   largest loss there is. */
#ifndef OBLIQUERULES_LOSSES_H
#define OBLIQUERULES_LOSSES_H

#include <float.h>
#include <math.h>

enum { SQUARED, LOGISTIC, POISSON, TWEEDIE, N_FAMILIES };

#define LARGEST_EXPONENT 600.0 /* exp of this is a finite double, with room to be summed over any number of rows */

static inline double limited(double x) { return fmax(fmin(x, DBL_MAX), -DBL_MAX); }

static inline double bounded_exponent(double score) { return score > LARGEST_EXPONENT ? LARGEST_EXPONENT : score; }

static inline double bounded_below(double score) { return score < -LARGEST_EXPONENT ? -LARGEST_EXPONENT : score; }

/* exp(s) (exp(c u) - exp(c v)) / c, or exp(s) (u - v) where c is 0: it neither cancels nor overflows unless it must. */
static inline double exponential_gap(double s, double c, double u, double v) {
    if (c == 0.0) return exp(s) * (u - v);
    const double size = exp(s + fmax(c * u, c * v)) * -expm1(-fabs(c * (u - v))) / fabs(c);
    return u >= v ? size : -size;
}

/* The two terms of the derivative of the Tweedie loss: exp((2-p) f), and exp((1-p) f), by which the target is multiplied. Where
   a score is so large, or so far below zero, that one would be beyond all bounds, it stays: that part of the loss is a line. */
static inline double rising_term(double power, double score) { return exp((2.0 - power) * bounded_exponent(score)); }

static inline double falling_term(double power, double score) { return exp((1.0 - power) * bounded_below(score)); }

static inline double tweedie_value(double power, double y, double score) {
    const double above = bounded_exponent(score), below = bounded_below(score), best = log(y);
    const double rising = exponential_gap(0.0, 2.0 - power, above, best) + rising_term(power, score) * (score - above);
    if (y <= 0.0) return limited(rising);
    const double falling = exponential_gap(best, 1.0 - power, below, best) + y * falling_term(power, score) * (score - below);
    return limited(rising - falling);
}

/* exp(-|f|), from which all that the logistic loss needs of a score follows; kernels that need several compute it once. */
static inline double logistic_decay(double score) { return exp(-fabs(score)); }

/* log(1 + exp(f)) = max(f, 0) + log(1 + exp(-|f|)), which neither overflows nor cancels */
static inline double logistic_value(double y, double score, double decay) {
    return fmin(fmax(score, 0.0) - y * score + log1p(decay), DBL_MAX);
}

static inline double logistic_mean(double score, double decay) {
    const double share = 1.0 / (1.0 + decay);
    return score >= 0.0 ? share : decay * share;
}

/* not mu (1 - mu): the subtraction would lose all digits for large scores */
static inline double logistic_hessian(double decay) {
    const double share = 1.0 / (1.0 + decay);
    return decay * share * share;
}

static inline double loss_value(int family, double power, double y, double score) {
    if (family == TWEEDIE) return tweedie_value(power, y, score);
    if (family == SQUARED) return fmin(0.5 * (y - score) * (y - score), DBL_MAX);
    if (family == LOGISTIC) return logistic_value(y, score, logistic_decay(score));
    /* Above the largest exponent the loss goes on as a line with the gradient that it has there; else -y f would win. */
    const double bounded = bounded_exponent(score), rate = exp(bounded);
    return limited(rate - y * bounded + (rate - y) * (score - bounded) + (y > 0.0 ? y * log(y) : 0.0) - y);
}

static inline double loss_mean(int family, double score) {
    if (family == SQUARED) return score;
    if (family == POISSON || family == TWEEDIE) return exp(bounded_exponent(score));
    return logistic_mean(score, logistic_decay(score));
}

/* mu(f) - y; for the Tweedie loss (mu - y) mu^(1-p). */
static inline double loss_gradient(int family, double power, double y, double score) {
    if (family == TWEEDIE) return limited(rising_term(power, score) - y * falling_term(power, score));
    const double difference = loss_mean(family, score) - y;
    return family == SQUARED ? limited(difference) : difference;
}

/* Where a part of the Tweedie loss is a line it has no curvature, and Newton's step would have no end. With this one it leads
   to where the line begins, and a little further. */
static inline double tweedie_hessian(double power, double y, double score) {
    const double a = 2.0 - power, b = power - 1.0;
    const double rising = a * rising_term(power, score) / (1.0 + a * (score - bounded_exponent(score)));
    const double falling = b * y * falling_term(power, score) / (1.0 + b * (bounded_below(score) - score));
    return limited(rising + falling);
}

/* mu'(f), whatever the target; that of the Tweedie loss depends on it. */
static inline double loss_hessian(int family, double power, double y, double score) {
    if (family == SQUARED) return 1.0;
    if (family == POISSON) return loss_mean(family, score);
    if (family == TWEEDIE) return tweedie_hessian(power, y, score);
    return logistic_hessian(logistic_decay(score));
}

/* The hessian where the target is the mean, as it is on average where the score is right. */
static inline double loss_expected_hessian(int family, double power, double score) {
    return family == TWEEDIE ? rising_term(power, score) : loss_hessian(family, power, 0.0, score);
}

/* What the loss of a row is the sum of: its rounding error is a share of this, however small the loss itself is. */
static inline double size_of_terms(int family, double power, double y, double score) {
    if (family == SQUARED) return 1e-14 * (fabs(y) + fabs(score)) * (fabs(y) + fabs(score));
    if (family == TWEEDIE)
        return tweedie_value(power, y, score) + rising_term(power, score) + y * falling_term(power, score);
    return family == LOGISTIC ? 1.0 : loss_mean(family, score) + y;
}

#endif
