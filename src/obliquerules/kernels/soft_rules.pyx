# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Sums over rows of an ensemble whose conditions are sigmoids instead of steps; the arithmetic behind `solvers.refinement`."""

from libc.float cimport DBL_MAX
from libc.math cimport exp, isnan

import numpy as np

include "cholesky.pxi"
include "losses.pxi"
include "signals.pxi"

cdef double NEGLIGIBLE = 1e-9  # a derivative below this share of the weight of its rule counts as zero: most rows are far away
cdef double JITTER = 1e-9      # of the mean diagonal entry


cdef class SoftRules:
    """The loss of b_0 + sum_r b_r prod_j sigmoid(sharpness (z.w_j - t_j)), with gradient and Gauss-Newton matrix.

    The parameters are one vector: b_0, the weight b_r of each rule, and for each condition, in order, its weights w and its
    threshold t. Conditions that are not ``soft`` are the value of their only term, 0 or 1. Only ``free`` parameters move.
    """

    cdef const double[:, ::1] terms
    cdef const double[::1] y, row_weight, offset
    cdef const int[::1] rule_of, first_term, term_of
    cdef const unsigned char[::1] soft, missing, free
    cdef int family
    cdef double ridge, power, least_curvature
    cdef Py_ssize_t n, n_rules, n_conditions, m
    cdef int[::1] first_parameter, nonzero
    cdef double[::1] value_of, slope_of, rule_value, gradient, derivative, step
    cdef double[:, ::1] curvature, factor
    cdef double work

    def __cinit__(
        self,
        const double[:, ::1] terms not None,
        const double[::1] y not None,
        const double[::1] row_weight not None,
        const double[::1] offset not None,
        const int[::1] rule_of not None,
        const int[::1] first_term not None,
        const int[::1] term_of not None,
        const unsigned char[::1] soft not None,
        const unsigned char[::1] missing not None,
        const unsigned char[::1] free not None,
        Py_ssize_t n_rules,
        int family,
        double ridge,
        double power,
        double least_curvature,
    ):
        self.terms, self.y, self.row_weight, self.offset = terms, y, row_weight, offset
        self.rule_of, self.first_term, self.term_of = rule_of, first_term, term_of
        self.soft, self.missing, self.free = soft, missing, free
        self.family, self.ridge, self.power = checked_family(family, power), ridge, power
        self.least_curvature = least_curvature
        self.n, self.n_rules, self.n_conditions = terms.shape[0], n_rules, rule_of.shape[0]
        self.m = 1 + n_rules + term_of.shape[0] + self.n_conditions
        self.check()
        self.first_parameter = np.empty(self.n_conditions, dtype=np.intc)
        for p in range(self.n_conditions):
            self.first_parameter[p] = 1 + n_rules + first_term[p] + p
        self.nonzero = np.empty(self.m, dtype=np.intc)
        self.value_of, self.slope_of = np.empty((2, self.n_conditions))
        self.rule_value = np.empty(n_rules)
        self.gradient, self.derivative, self.step = np.empty((3, self.m))
        self.curvature, self.factor = np.empty((2, self.m, self.m))

    def check(self):
        """Raise unless all arrays fit together."""
        rows = {len(self.terms), len(self.y), len(self.row_weight), len(self.offset)}
        conditions = {len(self.first_term) - 1, len(self.soft), len(self.missing), self.n_conditions}
        if len(rows) != 1 or len(conditions) != 1 or len(self.free) != self.m:
            raise ValueError("The arrays of soft rules must fit together: one entry for each row, condition or parameter.")
        first = np.asarray(self.first_term, dtype=np.int64)  # differences of int could overflow
        term, rule = np.asarray(self.term_of), np.asarray(self.rule_of)
        inside = (first[:1] == 0).all() and (np.diff(first) > 0).all() and first[len(first) - 1] == len(term)
        inside &= (term >= 0).all() and (term < self.terms.shape[1]).all()
        if not inside or not ((rule >= 0).all() and (rule < self.n_rules).all()):
            raise ValueError("Conditions must name terms and rules that there are, and each has one term or more.")
        if not 0.0 <= self.ridge <= DBL_MAX:
            raise ValueError(f"ridge must be finite and not negative; got {self.ridge}.")

    cdef double score_of(self, Py_ssize_t i, const double *at, double sharpness) noexcept nogil:
        """Evaluate the conditions and rules of a row; return its score."""
        cdef Py_ssize_t p, k, r
        cdef double u, score
        cdef const double *z = &self.terms[i, 0]
        cdef const double *w
        for r in range(self.n_rules):
            self.rule_value[r] = 1.0
        for p in range(self.n_conditions):
            if self.soft[p]:
                w = at + self.first_parameter[p]
                u = 0.0
                for k in range(self.first_term[p], self.first_term[p + 1]):
                    u += w[k - self.first_term[p]] * z[self.term_of[k]]
                u -= w[self.first_term[p + 1] - self.first_term[p]]
                if isnan(u):
                    self.value_of[p] = self.missing[p]
                else:
                    self.value_of[p] = 1.0 / (1.0 + exp(-sharpness * u))
                self.slope_of[p] = sharpness * self.value_of[p] * (1.0 - self.value_of[p])
            else:
                self.value_of[p], self.slope_of[p] = z[self.term_of[self.first_term[p]]], 0.0
            self.rule_value[self.rule_of[p]] *= self.value_of[p]
        score = self.offset[i] + at[0]
        for r in range(self.n_rules):
            score += at[1 + r] * self.rule_value[r]
        return score

    cdef Py_ssize_t differentiate_score(self, Py_ssize_t i, const double *at) noexcept nogil:
        """List the derivatives of the score of the row last evaluated that are not zero; return their number."""
        cdef Py_ssize_t p, o, k, r, index, found = 1
        cdef double others, slope
        cdef const double *z = &self.terms[i, 0]
        self.nonzero[0], self.derivative[0] = 0, 1.0
        for r in range(self.n_rules):
            if self.rule_value[r] > NEGLIGIBLE:
                self.nonzero[found], self.derivative[found] = <int> (1 + r), self.rule_value[r]
                found += 1
        for p in range(self.n_conditions):
            if not self.slope_of[p] > NEGLIGIBLE:
                continue
            r = self.rule_of[p]
            others = 1.0
            for o in range(self.n_conditions):
                if o != p and self.rule_of[o] == r:
                    others *= self.value_of[o]
            if not others * self.slope_of[p] > NEGLIGIBLE:
                continue
            slope = at[1 + r] * others * self.slope_of[p]
            index = self.first_parameter[p]
            for k in range(self.first_term[p], self.first_term[p + 1]):
                if self.free[index]:
                    self.nonzero[found], self.derivative[found] = <int> index, slope * z[self.term_of[k]]
                    found += 1
                index += 1
            if self.free[index]:
                self.nonzero[found], self.derivative[found] = <int> index, -slope
                found += 1
        return found

    cdef double penalty(self, const double *at) noexcept nogil:
        cdef Py_ssize_t r
        cdef double square = 0.0
        for r in range(1, 1 + self.n_rules):
            square += at[r] * at[r]
        return 0.5 * self.ridge * square

    cdef double total_loss(self, const double *at, double sharpness) except? -1.0 nogil:
        cdef Py_ssize_t i
        cdef double total = 0.0
        for i in range(self.n):
            total += self.row_weight[i] * loss_value(self.family, self.power, self.y[i], self.score_of(i, at, sharpness))
        ask_for_signals(&self.work, <double> self.n * (10 + self.m + 10 * self.n_conditions))
        return total + self.penalty(at)

    cdef int differentiate(self, const double *at, double sharpness) except -1 nogil:
        """Set the gradient and the lower triangle of the Gauss-Newton matrix."""
        cdef Py_ssize_t i, a, b, found
        cdef double score, slope, curvature, scaled
        cdef double *row
        self.gradient[:] = 0.0
        self.curvature[:, :] = 0.0
        for i in range(self.n):
            score = self.score_of(i, at, sharpness)
            slope = self.row_weight[i] * loss_gradient(self.family, self.power, self.y[i], score)
            curvature = loss_expected_hessian(self.family, self.power, score)
            curvature = self.row_weight[i] * (curvature if curvature > self.least_curvature else self.least_curvature)
            found = self.differentiate_score(i, at)
            for a in range(found):
                self.gradient[self.nonzero[a]] += slope * self.derivative[a]
                scaled = curvature * self.derivative[a]
                row = &self.curvature[self.nonzero[a], 0]
                for b in range(a + 1):
                    row[self.nonzero[b]] += scaled * self.derivative[b]
        for a in range(1, 1 + self.n_rules):
            self.gradient[a] += self.ridge * at[a]
            self.curvature[a, a] += self.ridge
        return ask_for_signals(&self.work, <double> self.n * (10 * self.m + self.m * self.m / 8))

    def value(self, const double[::1] parameters not None, double sharpness):
        """Return the loss of all rows plus the ridge."""
        cdef double total
        self.check_parameters(parameters)
        with nogil:
            total = self.total_loss(&parameters[0], sharpness)
        return total

    def sums(self, const double[::1] parameters not None, double sharpness):
        """Return the gradient and the lower triangle of the Gauss-Newton matrix of `value`."""
        self.check_parameters(parameters)
        with nogil:
            self.differentiate(&parameters[0], sharpness)
        return np.array(self.gradient), np.array(self.curvature)

    def damped_step(self, double damping):
        """Return the step from where `sums` was called last: that of Gauss and Newton, with damping times each diagonal entry.

        None if there is no such step.
        """
        cdef Py_ssize_t i, j
        cdef double trace = 0.0, least
        cdef bint solved
        with nogil:
            for j in range(self.m):
                trace += self.curvature[j, j]
            least = JITTER * trace / self.m
            for j in range(self.m):
                self.step[j] = self.gradient[j]
                for i in range(j):
                    self.factor[j, i] = self.curvature[j, i]
                self.factor[j, j] = (1.0 + damping) * self.curvature[j, j] + least
                if self.factor[j, j] <= least:  # it changes nothing, or must not move
                    self.factor[j, j] = 1.0
            solved = solve_in_place(self.factor, self.step)
        return np.array(self.step) if solved else None

    cdef int check_parameters(self, const double[::1] parameters) except -1:
        if parameters.shape[0] != self.m:
            raise ValueError(f"There are {self.m} parameters; got {parameters.shape[0]}.")
        return 0
