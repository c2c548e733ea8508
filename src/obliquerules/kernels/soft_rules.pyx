# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Refine an ensemble whose conditions are sigmoids instead of steps: all its numbers at once (Levenberg and Marquardt)."""

from libc.float cimport DBL_MAX
from libc.math cimport INFINITY, fmax, isfinite
from libc.string cimport memcpy, memset

import numpy as np

include "cholesky.pxi"
include "losses.pxi"
include "row_block.pxi"
include "signals.pxi"

cdef double JITTER = 1e-9         # of the mean diagonal entry
cdef double FIRST_DAMPING = 1e-2, LEAST_DAMPING = 1e-5
# A step that does not lower the loss is tried again with this many times the damping, this often; after one that does, the
# damping is divided.
cdef double MORE = 4.0, LESS = 3.0
cdef int TRIES = 6
cdef double SMALLEST_FALL = 1e-4  # of the loss: where a step lowers it by less, the descent ends


cdef class SoftRules:
    """The loss of b_0 + sum_r b_r prod_j sigmoid(sharpness (z.w_j - t_j)), with gradient and Gauss-Newton matrix.

    The parameters are one vector: b_0, the weight b_r of each rule, and for each condition, in order, its weights w and its
    threshold t. Conditions that are not ``soft`` are the value of their only term. Only ``free`` parameters move. ``terms`` has
    a line for each term.
    """

    cdef const double[:, ::1] terms
    cdef const double[::1] y, row_weight, offset
    cdef const int[::1] rule_of, first_term, term_of
    cdef const unsigned char[::1] soft, missing, free
    cdef int family
    cdef double ridge, power, least_curvature
    cdef Py_ssize_t n, n_rules, n_conditions, m, n_moving, n_vectors
    cdef int[::1] first_parameter, moving   # of each condition; the parameters that move
    cdef double[:, ::1] value_of, rule_value, derivative   # of the rows of one block, for each condition, rule, moving parameter
    cdef double[:, ::1] work_rows
    cdef double[::1] found, moved, step     # parameters
    cdef double[::1] gradient, solution     # of the moving parameters
    cdef double[:, ::1] curvature, factor
    cdef double work
    cdef bint is_running

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
        cdef Py_ssize_t p, j
        self.terms, self.y, self.row_weight, self.offset = terms, y, row_weight, offset
        self.rule_of, self.first_term, self.term_of = rule_of, first_term, term_of
        self.soft, self.missing, self.free = soft, missing, free
        self.family, self.ridge, self.power = checked_family(family, power), ridge, power
        self.least_curvature = least_curvature
        self.n, self.n_rules, self.n_conditions = terms.shape[1], n_rules, rule_of.shape[0]
        self.m = 1 + n_rules + term_of.shape[0] + self.n_conditions
        self.check()
        self.first_parameter, self.moving = np.empty(self.n_conditions, dtype=np.intc), np.empty(self.m, dtype=np.intc)
        for p in range(self.n_conditions):
            self.first_parameter[p] = <int> (1 + n_rules + first_term[p] + p)
        # Constant and rule weights always move, and conditions that are not soft never do.
        self.n_moving = 0
        for j in range(1 + n_rules):
            self.moving[j] = <int> j
        self.n_moving = 1 + n_rules
        for p in range(self.n_conditions):
            for j in range(self.first_parameter[p], self.first_parameter[p] + first_term[p + 1] - first_term[p] + 1):
                if soft[p] and free[j]:
                    self.moving[self.n_moving] = <int> j
                    self.n_moving += 1
        # Sums of products are computed for a multiple of this many vectors; the last ones are zero.
        self.n_vectors = LANES * ((self.n_moving + LANES) // LANES)
        self.value_of, self.rule_value = np.empty((self.n_conditions, ROWS_PER_BLOCK)), np.empty((n_rules, ROWS_PER_BLOCK))
        self.derivative, self.work_rows = np.zeros((self.n_vectors, ROWS_PER_BLOCK)), np.empty((6, ROWS_PER_BLOCK))
        self.found, self.moved, self.step = np.zeros((3, self.m))
        self.gradient, self.solution = np.empty(self.n_vectors), np.empty(self.n_moving)
        self.curvature, self.factor = np.empty((self.n_vectors, self.n_vectors)), np.empty((self.n_moving, self.n_moving))

    def check(self):
        """Raise unless all arrays fit together."""
        rows = {self.terms.shape[1], len(self.y), len(self.row_weight), len(self.offset)}
        conditions = {len(self.first_term) - 1, len(self.soft), len(self.missing), self.n_conditions}
        if len(rows) != 1 or len(conditions) != 1 or len(self.free) != self.m:
            raise ValueError("The arrays of soft rules must fit together: one entry for each row, condition or parameter.")
        first = np.asarray(self.first_term, dtype=np.int64)  # differences of int could overflow
        term, rule = np.asarray(self.term_of), np.asarray(self.rule_of)
        inside = (first[:1] == 0).all() and (np.diff(first) > 0).all() and first[len(first) - 1] == len(term)
        inside &= (term >= 0).all() and (term < self.terms.shape[0]).all()
        if not inside or not ((rule >= 0).all() and (rule < self.n_rules).all()):
            raise ValueError("Conditions must name terms and rules that there are, and each has one term or more.")
        if not 0.0 <= self.ridge <= DBL_MAX:
            raise ValueError(f"ridge must be finite and not negative; got {self.ridge}.")

    cdef double *scores(self, Py_ssize_t begin, int rows, const double *at, double sharpness) noexcept nogil:
        """Evaluate the conditions and rules of a block of rows; return its scores."""
        cdef Py_ssize_t p, k, r
        cdef int i
        cdef double *score = &self.work_rows[0, 0]
        cdef double *u = &self.work_rows[1, 0]
        cdef double *value
        cdef double *rule
        cdef const double *w
        for r in range(self.n_rules):
            for i in range(rows):
                self.rule_value[r, i] = 1.0
        for p in range(self.n_conditions):
            value, rule = &self.value_of[p, 0], &self.rule_value[self.rule_of[p], 0]
            if self.soft[p]:
                w = at + self.first_parameter[p]
                for i in range(rows):
                    u[i] = -w[self.first_term[p + 1] - self.first_term[p]]
                for k in range(self.first_term[p], self.first_term[p + 1]):
                    add_scaled(u, &self.terms[self.term_of[k], begin], w[k - self.first_term[p]], rows)
                sigmoids(value, u, sharpness, self.missing[p], rows)
            else:
                memcpy(value, &self.terms[self.term_of[self.first_term[p]], begin], rows * sizeof(double))
            multiply(rule, rule, value, rows)
        for i in range(rows):
            score[i] = self.offset[begin + i] + at[0]
        for r in range(self.n_rules):
            add_scaled(score, &self.rule_value[r, 0], at[1 + r], rows)
        return score

    cdef void differentiate_scores(self, Py_ssize_t begin, int rows, const double *at, double sharpness) noexcept nogil:
        """Set the derivatives of the scores of the rows last evaluated in the parameters that move."""
        cdef Py_ssize_t p, o, k, r, last, place = 1 + self.n_rules
        cdef int i
        cdef double *slope = &self.work_rows[1, 0]
        cdef const double *value
        for i in range(rows):
            self.derivative[0, i] = 1.0
        for r in range(self.n_rules):
            memcpy(&self.derivative[1 + r, 0], &self.rule_value[r, 0], rows * sizeof(double))
        for p in range(self.n_conditions):
            last = self.first_parameter[p] + self.first_term[p + 1] - self.first_term[p]
            if place == self.n_moving or not self.first_parameter[p] <= self.moving[place] <= last:
                continue
            r, value = self.rule_of[p], &self.value_of[p, 0]
            for i in range(rows):
                slope[i] = at[1 + r] * sharpness * value[i] * (1.0 - value[i])
            for o in range(self.n_conditions):
                if o != p and self.rule_of[o] == r:
                    multiply(slope, slope, &self.value_of[o, 0], rows)
            while place < self.n_moving and self.moving[place] < last:
                k = self.first_term[p] + self.moving[place] - self.first_parameter[p]
                self.set_products(place, slope, &self.terms[self.term_of[k], begin], rows)
                place += 1
            if place < self.n_moving and self.moving[place] == last:
                for i in range(rows):
                    self.derivative[place, i] = -slope[i]
                place += 1

    cdef void set_products(self, Py_ssize_t place, const double *slope, const double *z, int rows) noexcept nogil:
        """Set a derivative to slope times z; where a value is missing, and the slope is zero, to zero."""
        cdef int i
        cdef double *target = &self.derivative[place, 0]
        for i in range(rows):
            target[i] = slope[i] * z[i] if slope[i] != 0.0 else 0.0

    cdef double penalty(self, const double *at) noexcept nogil:
        cdef Py_ssize_t r
        cdef double square = 0.0
        for r in range(1, 1 + self.n_rules):
            square += at[r] * at[r]
        return 0.5 * self.ridge * square

    cdef double total_loss(self, const double *at, double sharpness) except? -1.0 nogil:
        cdef Py_ssize_t begin, row
        cdef int i, rows
        cdef double total = 0.0
        cdef double *loss = &self.work_rows[2, 0]
        cdef double *score
        for begin from 0 <= begin < self.n by ROWS_PER_BLOCK:
            rows = <int> min(<Py_ssize_t> ROWS_PER_BLOCK, self.n - begin)
            score = self.scores(begin, rows, at, sharpness)
            if self.family == LOGISTIC:
                logistic_losses(score, &self.y[begin], &self.row_weight[begin], loss, rows)
            else:
                for i in range(rows):
                    row = begin + i
                    loss[i] = self.row_weight[row] * loss_value(self.family, self.power, self.y[row], score[i])
            total += sum_of(loss, rows)
        ask_for_signals(&self.work, <double> self.n * (10 + self.m + 10 * self.n_conditions))
        return total + self.penalty(at)

    cdef void differentiate_loss(self, Py_ssize_t begin, int rows, const double *score) noexcept nogil:
        """Set the weighted slope and curvature of the loss in the scores of a block of rows."""
        cdef int i
        cdef Py_ssize_t row
        cdef double *slope = &self.work_rows[2, 0]
        cdef double *curved = &self.work_rows[3, 0]
        if self.family == LOGISTIC:
            logistic_derivatives(score, &self.y[begin], &self.row_weight[begin], slope, curved, rows)
        else:
            for i in range(rows):
                row = begin + i
                slope[i] = self.row_weight[row] * loss_gradient(self.family, self.power, self.y[row], score[i])
                curved[i] = self.row_weight[row] * loss_expected_hessian(self.family, self.power, score[i])
        for i in range(rows):
            curved[i] = fmax(curved[i], self.row_weight[begin + i] * self.least_curvature)

    cdef int differentiate(self, const double *at, double sharpness) except -1 nogil:
        """Set the gradient and the lower triangle of the Gauss-Newton matrix, of the parameters that move."""
        cdef Py_ssize_t begin, a
        cdef int rows
        cdef double *slope = &self.work_rows[2, 0]
        cdef double *curved = &self.work_rows[3, 0]
        cdef double *scaled = &self.work_rows[4, 0]
        cdef double *scaled2 = &self.work_rows[5, 0]
        cdef double *U = &self.derivative[0, 0]
        self.gradient[:] = 0.0
        self.curvature[:, :] = 0.0
        for begin from 0 <= begin < self.n by ROWS_PER_BLOCK:
            rows = <int> min(<Py_ssize_t> ROWS_PER_BLOCK, self.n - begin)
            self.differentiate_loss(begin, rows, self.scores(begin, rows, at, sharpness))
            self.differentiate_scores(begin, rows, at, sharpness)
            # The first vector is all ones.
            add_products(&self.gradient[0], &self.curvature[0, 0], slope, curved, U, <int> self.n_vectors, rows)
            for a from 1 <= a < self.n_moving by 2:
                multiply(scaled, curved, &self.derivative[a, 0], rows)
                multiply(scaled2, curved, &self.derivative[a + 1, 0], rows)
                add_products(
                    &self.curvature[a, 0], &self.curvature[a + 1, 0], scaled, scaled2, U, <int> (LANES * ((a + 1) // LANES + 1)), rows
                )
        for a in range(1, 1 + self.n_rules):
            self.gradient[a] += self.ridge * at[a]
            self.curvature[a, a] += self.ridge
        return ask_for_signals(&self.work, <double> self.n * (10 * self.m + self.m * self.m / 8))

    cdef bint set_step(self, double damping) noexcept nogil:
        """Set the step of Gauss and Newton, with damping times each diagonal entry; False if there is none."""
        cdef Py_ssize_t i, j
        cdef double trace = 0.0, least
        for j in range(self.n_moving):
            trace += self.curvature[j, j]
        least = JITTER * trace / self.m
        for j in range(self.n_moving):
            self.solution[j] = self.gradient[j]
            for i in range(j):
                self.factor[j, i] = self.curvature[j, i]
            self.factor[j, j] = (1.0 + damping) * self.curvature[j, j] + least
            if self.factor[j, j] <= least:  # it changes nothing
                self.factor[j, j] = 1.0
        if not solve_in_place(self.factor, self.solution):
            return False
        self.step[:] = 0.0
        for j in range(self.n_moving):
            self.step[self.moving[j]] = self.solution[j]
        return True

    cdef double value_after_step(self, double damping, double sharpness) except? -1.0 nogil:
        """Set ``moved`` to where a step leads from ``found``; return the loss there, infinite if there is no such place."""
        cdef Py_ssize_t j
        if not self.set_step(damping):
            return INFINITY
        for j in range(self.m):
            self.moved[j] = self.found[j] - self.step[j]
            if not isfinite(self.moved[j]):
                return INFINITY
        return self.total_loss(&self.moved[0], sharpness)

    cdef bint go_down(self, double sharpness, int n_steps) except -1 nogil:
        """Move ``found`` to where the loss is lower, if there is such a place; say whether there is."""
        cdef double value = self.total_loss(&self.found[0], sharpness), reached = INFINITY, damping = FIRST_DAMPING, fall
        cdef bint is_lower = False
        cdef int i, tried
        for i in range(n_steps):
            self.differentiate(&self.found[0], sharpness)
            for tried in range(TRIES):
                reached = self.value_after_step(damping, sharpness)
                if reached < value:
                    break
                damping *= MORE
            else:
                return is_lower
            fall, value, is_lower = value - reached, reached, True
            self.found[:] = self.moved
            damping = fmax(damping / LESS, LEAST_DAMPING)
            if fall < SMALLEST_FALL * value:
                return True
        return is_lower

    def descend(self, const double[::1] start not None, double sharpness, int n_steps):
        """Return parameters with a lower loss than the start, after at most this many steps; None if there are none."""
        cdef bint is_lower
        self.begin(start)
        try:
            with nogil:
                self.found[:] = start
                is_lower = self.go_down(sharpness, n_steps)
        finally:
            self.is_running = False
        return np.array(self.found) if is_lower else None

    def value(self, const double[::1] parameters not None, double sharpness):
        """Return the loss of all rows plus the ridge."""
        cdef double total
        self.begin(parameters)
        try:
            with nogil:
                total = self.total_loss(&parameters[0], sharpness)
        finally:
            self.is_running = False
        return total

    def sums(self, const double[::1] parameters not None, double sharpness):
        """Return the gradient and the lower triangle of the Gauss-Newton matrix of `value`."""
        self.begin(parameters)
        try:
            with nogil:
                self.differentiate(&parameters[0], sharpness)
        finally:
            self.is_running = False
        moving = np.asarray(self.moving)[: self.n_moving]
        gradient, curvature = np.zeros(self.m), np.zeros((self.m, self.m))
        gradient[moving] = np.asarray(self.gradient)[: self.n_moving]
        curvature[np.ix_(moving, moving)] = np.tril(self.curvature)[: self.n_moving, : self.n_moving]
        return gradient, curvature

    def damped_step(self, double damping):
        """Return the step from where `sums` was called last: that of Gauss and Newton, with damping times each diagonal entry.

        None if there is no such step.
        """
        cdef bint solved
        with nogil:
            solved = self.set_step(damping)
        return np.array(self.step) if solved else None

    cdef int begin(self, const double[::1] parameters) except -1:
        if parameters.shape[0] != self.m:
            raise ValueError(f"There are {self.m} parameters; got {parameters.shape[0]}.")
        if self.is_running:
            raise RuntimeError("These rules are being refined already, in another thread.")
        self.is_running = True
        return 0
