# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Damped Newton steps on the class weights of rules; the arithmetic behind `learning.refit`."""

from libc.float cimport DBL_MAX
from libc.math cimport INFINITY, NAN, fabs, fmax, log
from libc.string cimport memcpy

import numpy as np

include "cholesky.pxi"
include "row_block.pxi"
include "signals.pxi"

cdef int MAX_STEPS = 500
cdef double LOST = 1e-15           # of the size of its terms: so much of the objective is rounding error
cdef double LEAST_RIDGE = 1e-14    # of the weight of all rows: weights are never quite free, so that separable rows have a minimum
cdef double CENTRED = 1e-2         # of the weight of all rows: the penalty on the square of the sum of the constants
cdef double OWN_JITTER = 1e-14     # of each diagonal entry
cdef double FAST = 0.1             # a Hessian is used again as long as what the steps promise falls at least by this factor
cdef double ACCURATE = 1e-5        # and in the end until it is this share of what can be seen in the objective
cdef double CLOSE = 1e-9           # with a larger tolerance nobody asks for more
cdef double FIRST_DAMPING = 1e-8, LEAST_DAMPING = 1e-12, LARGEST_DAMPING = 1e20


cdef double[:, :, ::1] in_blocks(const double[:, ::1] rows):
    """Return the columns of rows as lines, in blocks of rows."""
    cdef Py_ssize_t i, j, begin, n = rows.shape[0]
    cdef double[:, :, ::1] blocks = np.zeros(((n + ROWS_PER_BLOCK - 1) // ROWS_PER_BLOCK, rows.shape[1], ROWS_PER_BLOCK))
    for begin from 0 <= begin < n by ROWS_PER_BLOCK:
        for j in range(rows.shape[1]):
            for i in range(min(<Py_ssize_t> ROWS_PER_BLOCK, n - begin)):
                blocks[begin // ROWS_PER_BLOCK, j, i] = rows[begin + i, j]
    return blocks


cdef class ClassWeightFinder:
    """The data of one problem: min over b of sum_i c_i (log sum_k exp f_ik - sum_k s_ik f_ik) + 1/2 sum_j ridge_j b_j^2.

    Weight j times the entry in column[j] of the design is added to the score of class output[j] of each row; the score starts
    at the offset. Weights in column 0 are constants: they have no ridge, and their sum is zero.
    """

    cdef double[:, :, ::1] columns, shares, offset  # blocks of rows, with a line for each column of the design, or class
    cdef double[:, :, ::1] means, next_means        # at the weights, and where the objective was computed last
    cdef double[:, ::1] slopes, left, right         # lines of the block of rows at hand
    cdef double[::1] totals, expected, curved, rest, spare
    cdef const double[::1] row_weight
    cdef Py_ssize_t[::1] order, column, first       # weights are held class by class
    cdef Py_ssize_t n, m, k, n_vectors
    cdef double[::1] weights, candidate, gradient, next_gradient, step, given_ridge, ridge, mass, scale
    cdef double[:, ::1] hessian, factor
    cdef double work, size, total_weight, centred
    cdef bint is_running

    def __cinit__(
        self,
        const double[:, ::1] design not None,
        const double[:, ::1] shares not None,
        const double[::1] row_weight not None,
        const double[:, ::1] offset not None,
        const Py_ssize_t[::1] column not None,
        const Py_ssize_t[::1] output not None,
        const double[::1] ridge not None,
    ):
        cdef Py_ssize_t j
        self.n, self.k, self.m = design.shape[0], shares.shape[1], column.shape[0]
        if not shares.shape[0] == row_weight.shape[0] == offset.shape[0] == self.n or offset.shape[1] != self.k:
            raise ValueError("All arrays must have the same number of rows, and shares and offset one column for each class.")
        if self.m == 0 or not output.shape[0] == ridge.shape[0] == self.m:
            raise ValueError("There must be a column, an output and a ridge for each weight, and at least one weight.")
        for j in range(self.m):
            if not (0 <= column[j] < design.shape[1] and 0 <= output[j] < self.k and 0.0 <= ridge[j] <= DBL_MAX):
                raise ValueError(
                    "column must hold positions of columns, output those of classes, and ridge finite numbers of at least 0."
                )
        order = np.argsort(output, kind="stable")
        self.order, self.column, self.given_ridge = order, np.asarray(column)[order], np.asarray(ridge)[order]
        self.first = np.searchsorted(np.asarray(output)[order], np.arange(self.k + 1))
        self.row_weight = row_weight
        self.columns, self.shares, self.offset = in_blocks(design), in_blocks(shares), in_blocks(offset)
        self.make_room()

    cdef int make_room(self) except -1:
        """Set the arrays of what is computed."""
        self.n_vectors = LANES * ((self.m + LANES) // LANES)
        self.means, self.next_means = np.zeros((2, self.shares.shape[0], self.k, ROWS_PER_BLOCK))
        self.slopes, self.left = np.zeros((self.k, ROWS_PER_BLOCK)), np.zeros((2, ROWS_PER_BLOCK))
        self.right = np.zeros((self.n_vectors, ROWS_PER_BLOCK))
        self.totals, self.expected, self.curved, self.rest = np.zeros((4, ROWS_PER_BLOCK))
        self.weights, self.candidate, self.gradient, self.next_gradient, self.step = np.zeros((5, self.m))
        self.ridge, self.mass, self.scale = np.zeros((3, self.m))
        self.hessian, self.spare = np.zeros((self.m, self.n_vectors)), np.zeros(self.n_vectors)
        self.factor = np.zeros((self.m, self.m))
        return 0

    cdef int rows_of(self, Py_ssize_t block) noexcept nogil:
        """Return the number of rows of a block."""
        return <int> min(<Py_ssize_t> ROWS_PER_BLOCK, self.n - block * ROWS_PER_BLOCK)

    cdef void differentiate(self, Py_ssize_t block, const double[::1] weights) noexcept nogil:
        """Set means, slopes, and both parts of the losses, of the rows of a block at some weights."""
        cdef Py_ssize_t j, k
        cdef int rows = self.rows_of(block)
        cdef double *means = &self.next_means[block, 0, 0]
        cdef const double *shares = &self.shares[block, 0, 0]
        memcpy(means, &self.offset[block, 0, 0], self.k * ROWS_PER_BLOCK * sizeof(double))
        for k in range(self.k):
            for j in range(self.first[k], self.first[k + 1]):
                add_scaled(means + k * ROWS_PER_BLOCK, &self.columns[block, self.column[j], 0], weights[j], rows)
        class_odds(means, shares, &self.totals[0], &self.expected[0], <int> self.k, rows)
        class_slopes(
            means, shares, &self.row_weight[block * ROWS_PER_BLOCK], &self.totals[0], &self.slopes[0, 0], <int> self.k, rows
        )

    cdef double penalty(self, const double[::1] weights) noexcept nogil:
        cdef Py_ssize_t j
        cdef double square = 0.0, constants = 0.0
        for j in range(self.m):
            square += self.ridge[j] * weights[j] * weights[j]
            if self.column[j] == 0:
                constants += weights[j]
        return 0.5 * (square + self.centred * constants * constants)

    cdef double objective(self, const double[::1] weights, double[::1] gradient) except? -1.0 nogil:
        """Return the objective at some weights, and set its gradient and the size of its terms."""
        cdef Py_ssize_t block, i, j, k
        cdef double total = 0.0, constants = 0.0, loss, weight
        gradient[:] = 0.0
        self.size = 0.0
        for block in range(self.columns.shape[0]):
            self.differentiate(block, weights)
            for i in range(self.rows_of(block)):
                loss, weight = log(self.totals[i]) - self.expected[i], self.row_weight[block * ROWS_PER_BLOCK + i]
                total += weight * loss
                self.size += weight * (1.0 + loss)
            for k in range(self.k):
                for j in range(self.first[k], self.first[k + 1]):
                    gradient[j] += sum_of_products(
                        &self.slopes[k, 0], &self.columns[block, self.column[j], 0], self.rows_of(block)
                    )
        for j in range(self.m):
            if self.column[j] == 0:
                constants += weights[j]
        for j in range(self.m):
            gradient[j] += self.ridge[j] * weights[j] + (self.centred * constants if self.column[j] == 0 else 0.0)
        ask_for_signals(&self.work, <double> self.n * (5 * self.k + self.m / 2))
        return total + self.penalty(weights)

    cdef int curve(self) except -1 nogil:
        """Set the lower triangle of the Hessian at the current weights."""
        cdef Py_ssize_t block, j, i, k
        self.hessian[:, :] = 0.0
        for block in range(self.columns.shape[0]):
            for k in range(self.k):
                self.curve_class(block, k, &self.means[block, k, 0])
            ask_for_signals(&self.work, <double> self.rows_of(block) * (self.k + self.m * self.m / 8))
        for j in range(self.m):
            self.hessian[j, j] += self.ridge[j]
            if self.column[j] == 0:
                for i in range(j + 1):
                    if self.column[i] == 0:
                        self.hessian[j, i] += self.centred
        return 0

    cdef void curve_class(self, Py_ssize_t block, Py_ssize_t k, const double *means) noexcept nogil:
        """Add to the Hessian of the weights of a class with each other, and with those of the classes before.

        That is sum_i c_i x_i p_i z_i (1 - q_i) within a class, and without the 1 between classes.
        """
        cdef Py_ssize_t i, j, first = self.first[k], end = self.first[k + 1]
        cdef int rows = self.rows_of(block)
        cdef double *further
        for i in range(rows):
            self.curved[i] = self.row_weight[block * ROWS_PER_BLOCK + i] * means[i]
            self.rest[i] = 1.0 - means[i]
        for j in range(first, end):
            multiply(&self.right[j, 0], &self.rest[0], &self.columns[block, self.column[j], 0], rows)
        for j from first <= j < end by 2:
            # Two at a time; where one is left over, it is its own companion.
            i = j + 1 if j + 1 < end else j
            further = &self.hessian[i, 0] if i > j else &self.spare[0]
            multiply(&self.left[0, 0], &self.curved[0], &self.columns[block, self.column[j], 0], rows)
            multiply(&self.left[1, 0], &self.curved[0], &self.columns[block, self.column[i], 0], rows)
            add_products(
                &self.hessian[j, 0], further, &self.left[0, 0], &self.left[1, 0], &self.right[0, 0],
                <int> (LANES * (i // LANES + 1)), rows
            )
        for i in range(rows):
            self.rest[i] = -means[i]
        for j in range(first, end):
            multiply(&self.right[j, 0], &self.rest[0], &self.columns[block, self.column[j], 0], rows)

    cdef bint damp(self, double damping) noexcept nogil:
        """Factorise the Hessian plus damping times the change of scores; False if that is not possible.

        Each weight has a unit of its own, in which its diagonal entry is one.
        """
        cdef Py_ssize_t i, j
        cdef double entry
        for j in range(self.m):
            entry = self.hessian[j, j] + damping * self.mass[j]
            self.scale[j] = sqrt(entry) if entry > 0.0 else 1.0
            for i in range(j):
                self.factor[j, i] = self.hessian[j, i] / self.scale[j] / self.scale[i]
            self.factor[j, j] = 1.0 + OWN_JITTER
        return decompose(self.factor, self.m)

    cdef double aim(self) noexcept nogil:
        """Set the step that minimises the quadratic model; return what it promises."""
        cdef Py_ssize_t j
        for j in range(self.m):
            self.step[j] = self.gradient[j] / self.scale[j]
        solve(self.factor, self.step, self.m)
        for j in range(self.m):
            self.step[j] /= self.scale[j]
        return dot(&self.gradient[0], &self.step[0], self.m)

    cdef void weigh(self) noexcept nogil:
        """Set the weight of all rows, that of the rows of each weight, and the penalties that depend on it."""
        cdef Py_ssize_t block, j
        cdef int rows
        cdef double *column
        self.mass[:] = 0.0
        self.total_weight = 0.0
        for block in range(self.columns.shape[0]):
            rows = self.rows_of(block)
            self.total_weight += sum_of(&self.row_weight[block * ROWS_PER_BLOCK], rows)
            for j in range(self.m):
                column = &self.columns[block, self.column[j], 0]
                multiply(&self.left[0, 0], &self.row_weight[block * ROWS_PER_BLOCK], column, rows)
                self.mass[j] += sum_of_products(&self.left[0, 0], column, rows)
        self.centred = CENTRED * self.total_weight
        for j in range(self.m):
            self.ridge[j] = 0.0 if self.column[j] == 0 else fmax(self.given_ridge[j], LEAST_RIDGE * self.total_weight)

    cdef int finish(self, double promise, bint once) except -1 nogil:
        """Take the steps that are too small to be seen in the objective: they still bring the weights closer.

        With a Hessian from here one is enough; with one from elsewhere each of them wins a digit or so.
        """
        cdef double enough = promise if once else ACCURATE * promise, before = INFINITY
        cdef Py_ssize_t j
        while promise <= FAST * before:
            for j in range(self.m):
                self.weights[j] -= self.step[j]
            if promise <= enough:
                break
            before = promise
            self.objective(self.weights, self.gradient)
            promise = self.aim()
        return 0

    cdef double minimise(self, double tolerance) except? -1.0 nogil:
        """Go down in damped steps (Levenberg and Marquardt); return the objective where they end.

        A step that does not lower the objective is taken again with more damping, so shorter; one that does lets the next be
        bolder. The Hessian takes longer than anything else: as long as steps become shorter quickly, it is used again.
        """
        cdef double damping = FIRST_DAMPING, objective = self.objective(self.weights, self.gradient)
        cdef double reached, promise = 0.0, before = 0.0
        cdef bint is_fresh = False, is_solved = False, is_down
        cdef Py_ssize_t j
        cdef int i
        self.means[:, :, :] = self.next_means
        for i in range(MAX_STEPS):
            if is_solved:
                promise = self.aim()
            if not is_solved or (not is_fresh and not promise <= FAST * before):
                self.curve()
                is_fresh, is_solved = True, self.damp(damping)
                promise = self.aim() if is_solved else NAN
            if not promise > tolerance * fabs(objective) + LOST * self.size:
                if promise == promise:
                    self.finish(promise, is_fresh or tolerance > CLOSE)
                    break
                is_down = False
            else:
                for j in range(self.m):
                    self.candidate[j] = self.weights[j] - self.step[j]
                reached = self.objective(self.candidate, self.next_gradient)
                is_down = reached < objective
            before = promise
            if is_down:
                self.weights[:] = self.candidate
                self.gradient[:] = self.next_gradient
                self.means[:, :, :] = self.next_means
                objective = reached
                if is_fresh:
                    damping = 0.1 * damping if damping > LEAST_DAMPING else 0.0
                is_fresh = False
            elif is_fresh:
                damping = fmax(10.0 * damping, LEAST_DAMPING)
                if damping > LARGEST_DAMPING:
                    break
                is_solved = self.damp(damping)
                promise = NAN
            else:
                is_solved = False
        return objective

    def run(self, const double[::1] start not None, double tolerance=1e-13):
        """Return the minimising weights, and the objective there.

        The way ends when the next step promises no more than the tolerance, as a share of the objective.
        """
        cdef Py_ssize_t j
        cdef double objective
        if start.shape[0] != self.m:
            raise ValueError(f"start must have one entry for each of the {self.m} weights; got {start.shape[0]}.")
        if self.is_running:
            raise RuntimeError("These weights are being sought already, in another thread.")
        self.is_running = True
        try:
            with nogil:
                self.weigh()
                for j in range(self.m):
                    self.weights[j] = start[self.order[j]]
                objective = self.minimise(tolerance)
        finally:
            self.is_running = False
        found = np.empty(self.m)
        found[np.asarray(self.order)] = self.weights
        return found, objective
