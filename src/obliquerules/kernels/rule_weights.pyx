# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Newton's method on the weights of rules; the arithmetic behind `solvers.rule_weights`."""

from libc.float cimport DBL_MAX, DBL_MIN
from libc.math cimport exp, fabs, fmax, fmin, log, log1p, sqrt

import numpy as np

include "signals.pxi"

cdef enum Family:
    SQUARED = 0
    LOGISTIC = 1
    POISSON = 2

FAMILIES = {"squared": SQUARED, "logistic": LOGISTIC, "poisson": POISSON}

cdef int MAX_ITERATIONS = 100
cdef int MAX_HALVINGS = 40
cdef double TOLERANCE = 1e-13  # Newton stops when the next step would lower the objective by no more than this share of it
cdef double JITTER = 1e-12     # of the mean diagonal: rules that fire on the same rows leave the Hessian singular without a ridge
cdef double LARGEST_EXPONENT = 600.0


# ---- losses: the same functions as in losses.py, for one row -----------------------------------------------------------

cdef inline double loss_value(int family, double y, double score) noexcept nogil:
    if family == SQUARED:
        return fmin(0.5 * (y - score) * (y - score), DBL_MAX)
    if family == LOGISTIC:
        return fmin(fmax(score, 0.0) - y * score + log1p(exp(-fabs(score))), DBL_MAX)
    cdef double bounded = fmin(score, LARGEST_EXPONENT)
    cdef double rate = exp(bounded)
    cdef double total = rate - y * bounded + (rate - y) * (score - bounded) + (y * log(y) if y > 0.0 else 0.0) - y
    return fmax(fmin(total, DBL_MAX), -DBL_MAX)


cdef inline void loss_derivatives(int family, double y, double score, double *gradient, double *hessian) noexcept nogil:
    cdef double small, share
    if family == SQUARED:
        gradient[0] = fmax(fmin(score - y, DBL_MAX), -DBL_MAX)
        hessian[0] = 1.0
    elif family == LOGISTIC:
        small = exp(-fabs(score))
        share = 1.0 / (1.0 + small)
        gradient[0] = (share if score >= 0.0 else small * share) - y
        hessian[0] = small * share * share
    else:
        hessian[0] = exp(fmin(score, LARGEST_EXPONENT))
        gradient[0] = hessian[0] - y


# ---- linear algebra ------------------------------------------------------------------------------------------------------

cdef inline double dot(const double *a, const double *b, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t i
    cdef double total = 0.0
    for i in range(n):
        total += a[i] * b[i]
    return total


cdef bint solve_in_place(double[:, ::1] matrix, double[::1] x) noexcept nogil:
    """Cholesky of the lower triangle, then both triangular systems; False if the matrix is not positive definite."""
    cdef Py_ssize_t i, j, m = x.shape[0]
    cdef double s
    for i in range(m):
        for j in range(i + 1):
            s = matrix[i, j] - dot(&matrix[i, 0], &matrix[j, 0], j)
            if i > j:
                matrix[i, j] = s / matrix[j, j]
            elif s > 0.0:
                matrix[i, i] = sqrt(s)
            else:
                return False
        x[i] = (x[i] - dot(&matrix[i, 0], &x[0], i)) / matrix[i, i]
    for i in range(m - 1, -1, -1):
        x[i] /= matrix[i, i]
        for j in range(i):
            x[j] -= matrix[i, j] * x[i]
    return True


# ---- Newton --------------------------------------------------------------------------------------------------------------

cdef class WeightFinder:
    """The data of one problem: min over b of sum_i c_i loss(y_i, o_i + x_i.b) + ridge/2 sum_{j>0} b_j^2."""

    cdef const double[:, ::1] design
    cdef const double[::1] y, row_weight, offset
    cdef int family
    cdef double ridge
    cdef Py_ssize_t n, m
    cdef double[::1] weights, candidate, gradient, step
    cdef double[:, ::1] hessian
    cdef double work
    cdef bint is_running

    def __cinit__(
        self,
        const double[:, ::1] design not None,
        const double[::1] y not None,
        const double[::1] row_weight not None,
        const double[::1] offset not None,
        int family,
        double ridge,
    ):
        self.design, self.y, self.row_weight, self.offset = design, y, row_weight, offset
        self.family, self.ridge = family, ridge
        self.n, self.m = design.shape[0], design.shape[1]
        if self.m == 0 or not y.shape[0] == row_weight.shape[0] == offset.shape[0] == self.n:
            raise ValueError("All arrays must have the same number of rows, and design at least one column.")
        if family not in FAMILIES.values():
            raise ValueError(f"family must be one of {sorted(FAMILIES.values())}; got {family}.")
        if not 0.0 <= ridge <= DBL_MAX:
            raise ValueError(f"ridge must be finite and not negative; got {ridge}.")
        self.weights, self.candidate, self.gradient, self.step = np.zeros((4, self.m))
        self.hessian = np.zeros((self.m, self.m))

    cdef double objective(self, double[::1] weights) except? -1.0 nogil:
        cdef Py_ssize_t i
        cdef double score, total = 0.0, square = 0.0
        for i in range(self.n):
            score = self.offset[i] + dot(&self.design[i, 0], &weights[0], self.m)
            total += self.row_weight[i] * loss_value(self.family, self.y[i], score)
        ask_for_signals(&self.work, <double> self.n * (10 + self.m))
        for i in range(1, self.m):
            square += weights[i] * weights[i]
        return total + 0.5 * self.ridge * square

    cdef int differentiate(self) except -1 nogil:
        """Set the gradient and the lower triangle of the Hessian at the current weights."""
        cdef Py_ssize_t i, j, k
        cdef double score, slope, curvature, scaled, trace = 0.0
        self.gradient[:] = 0.0
        self.hessian[:, :] = 0.0
        for i in range(self.n):
            score = self.offset[i] + dot(&self.design[i, 0], &self.weights[0], self.m)
            loss_derivatives(self.family, self.y[i], score, &slope, &curvature)
            slope *= self.row_weight[i]
            curvature *= self.row_weight[i]
            for j in range(self.m):
                if self.design[i, j] != 0.0:
                    self.gradient[j] += slope * self.design[i, j]
                    scaled = curvature * self.design[i, j]
                    for k in range(j + 1):
                        self.hessian[j, k] += scaled * self.design[i, k]
        for j in range(self.m):
            if j > 0:
                self.gradient[j] += self.ridge * self.weights[j]
                self.hessian[j, j] += self.ridge
            trace += self.hessian[j, j]
        for j in range(self.m):
            self.hessian[j, j] += JITTER * fmax(trace / self.m, DBL_MIN / JITTER)
        return ask_for_signals(&self.work, <double> self.n * (10 + self.m * self.m))

    cdef double descend(self, double objective) except? -1.0 nogil:
        """Take the step, halved until it lowers the objective; return the new objective, or the old one if nothing does."""
        cdef Py_ssize_t j
        cdef int i
        cdef double reached
        for i in range(MAX_HALVINGS):
            for j in range(self.m):
                self.candidate[j] = self.weights[j] - self.step[j]
            reached = self.objective(self.candidate)
            if reached < objective:
                self.weights[:] = self.candidate
                return reached
            for j in range(self.m):
                self.step[j] *= 0.5
        return objective

    cdef double minimise(self, double objective) except? -1.0 nogil:
        """Take Newton steps from the current weights, where the objective is as given; return it where they end."""
        cdef double reached, decrement
        cdef int i
        for i in range(MAX_ITERATIONS):
            self.differentiate()
            self.step[:] = self.gradient
            if not solve_in_place(self.hessian, self.step):
                break
            decrement = dot(&self.gradient[0], &self.step[0], self.m)
            if not decrement > TOLERANCE * fabs(objective):
                break
            reached = self.descend(objective)
            if not reached < objective:
                break
            objective = reached
        return objective

    def run(self, const double[::1] start not None):
        """Return the minimising weights, and the objective at the start and there."""
        cdef double before, after
        if start.shape[0] != self.m:
            raise ValueError(f"start must have one weight for each of the {self.m} columns; got {start.shape[0]}.")
        if self.is_running:
            raise RuntimeError("These weights are being sought already, in another thread.")
        self.is_running = True
        try:
            with nogil:
                self.weights[:] = start
                before = self.objective(self.weights)
                after = self.minimise(before)
        finally:
            self.is_running = False
        return np.array(self.weights), before, after
