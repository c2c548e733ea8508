/* The formulas of the losses for one row, each in this place alone. Every loss is A(f) - y f + B(y), with mean mu(f) = A'(f).
   For a finite score and target all of them are finite. A score that is not a number has the largest loss there is. */
#ifndef OBLIQUERULES_LOSSES_H
#define OBLIQUERULES_LOSSES_H

#include <float.h>
#include <math.h>

enum { SQUARED, LOGISTIC, POISSON, N_FAMILIES };

#define LARGEST_EXPONENT 600.0 /* exp of this is a finite double, with room to be summed over any number of rows */

static inline double limited(double x) { return fmax(fmin(x, DBL_MAX), -DBL_MAX); }

static inline double bounded_exponent(double score) { return score > LARGEST_EXPONENT ? LARGEST_EXPONENT : score; }

static inline double loss_value(int family, double y, double score) {
    if (family == SQUARED) return fmin(0.5 * (y - score) * (y - score), DBL_MAX);
    /* log(1 + exp(f)) = max(f, 0) + log(1 + exp(-|f|)), which neither overflows nor cancels */
    if (family == LOGISTIC) return fmin(fmax(score, 0.0) - y * score + log1p(exp(-fabs(score))), DBL_MAX);
    /* Above the largest exponent the loss goes on as a line with the gradient that it has there; else -y f would win. */
    const double bounded = bounded_exponent(score), rate = exp(bounded);
    return limited(rate - y * bounded + (rate - y) * (score - bounded) + (y > 0.0 ? y * log(y) : 0.0) - y);
}

static inline double loss_mean(int family, double score) {
    if (family == SQUARED) return score;
    if (family == POISSON) return exp(bounded_exponent(score));
    const double small = exp(-fabs(score)), share = 1.0 / (1.0 + small);
    return score >= 0.0 ? share : small * share;
}

/* mu(f) - y. */
static inline double loss_gradient(int family, double y, double score) {
    const double difference = loss_mean(family, score) - y;
    return family == SQUARED ? limited(difference) : difference;
}

/* mu'(f). */
static inline double loss_hessian(int family, double score) {
    if (family == SQUARED) return 1.0;
    if (family == POISSON) return loss_mean(family, score);
    /* not mu (1 - mu): the subtraction would lose all digits for large scores */
    const double small = exp(-fabs(score)), share = 1.0 / (1.0 + small);
    return small * share * share;
}

/* What the loss of a row is the sum of: its rounding error is a share of this, however small the loss itself is. */
static inline double size_of_terms(int family, double y, double score) {
    if (family == SQUARED) return 1e-14 * (fabs(y) + fabs(score)) * (fabs(y) + fabs(score));
    return family == LOGISTIC ? 1.0 : loss_mean(family, score) + y;
}

#endif
