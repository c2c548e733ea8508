# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Damped Newton steps on the class weights of rules; the arithmetic behind `solvers.class_weights`."""

from libc.float cimport DBL_MAX
from libc.math cimport NAN, exp, fabs, fmax, log, sqrt

import numpy as np

include "signals.pxi"

cdef int MAX_STEPS = 500
cdef double TOLERANCE = 1e-13      # the way ends when the next step promises no more than this share of the objective
cdef double LOST = 1e-15           # of the size of its terms: so much of the objective is rounding error
cdef double LEAST_RIDGE = 1e-14    # of the weight of all rows: weights are never quite free, so that separable rows have a minimum
cdef double CENTRED = 1e-2         # of the weight of all rows: the penalty on the square of the sum of the constants
cdef double OWN_JITTER = 1e-14     # of each diagonal entry
cdef double FIRST_DAMPING = 1e-8, LEAST_DAMPING = 1e-12, LARGEST_DAMPING = 1e20


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


cdef class ClassWeightFinder:
    """The data of one problem: min over b of sum_i c_i (log sum_k exp f_ik - sum_k s_ik f_ik) + 1/2 sum_j ridge_j b_j^2.

    Weight j is added to the score of class output[j] of the rows whose entry in column[j] of the design is not zero; the score
    starts at the offset. Weights in column 0 are constants: they have no ridge, and their sum is zero.
    """

    cdef const double[:, ::1] design, shares, offset
    cdef const double[::1] row_weight, given_ridge
    cdef const Py_ssize_t[::1] column, output
    cdef Py_ssize_t n, m, k
    cdef double[::1] weights, candidate, gradient, step, ridge, mass, scale, mean
    cdef double[:, ::1] hessian, factor
    cdef Py_ssize_t[::1] active
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
        self.design, self.shares, self.row_weight, self.offset = design, shares, row_weight, offset
        self.column, self.output, self.given_ridge = column, output, ridge
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
        self.weights, self.candidate, self.gradient, self.step, self.ridge, self.mass, self.scale = np.zeros((7, self.m))
        self.hessian, self.factor = np.zeros((2, self.m, self.m))
        self.mean, self.active = np.zeros(self.k), np.zeros(self.m, dtype=np.intp)

    cdef Py_ssize_t score(self, Py_ssize_t i, const double[::1] weights) noexcept nogil:
        """Set the scores of a row, in the place of its means; return the number of weights that act on it."""
        cdef Py_ssize_t j, acting = 0
        for j in range(self.k):
            self.mean[j] = self.offset[i, j]
        for j in range(self.m):
            if self.design[i, self.column[j]] != 0.0:
                self.mean[self.output[j]] += weights[j]
                self.active[acting] = j
                acting += 1
        return acting

    cdef double loss(self, Py_ssize_t i) noexcept nogil:
        """Return the loss of a row whose scores are set, and turn them into means."""
        cdef Py_ssize_t k
        cdef double highest = self.mean[0], total = 0.0, expected = 0.0
        for k in range(1, self.k):
            highest = fmax(highest, self.mean[k])
        for k in range(self.k):
            self.mean[k] -= highest
            if self.shares[i, k] != 0.0:
                expected += self.shares[i, k] * self.mean[k]
            self.mean[k] = exp(self.mean[k])
            total += self.mean[k]
        for k in range(self.k):
            self.mean[k] /= total
        return log(total) - expected

    cdef double penalty(self, const double[::1] weights) noexcept nogil:
        cdef Py_ssize_t j
        cdef double square = 0.0, constants = 0.0
        for j in range(self.m):
            square += self.ridge[j] * weights[j] * weights[j]
            if self.column[j] == 0:
                constants += weights[j]
        return 0.5 * (square + self.centred * constants * constants)

    cdef double objective(self, const double[::1] weights) except? -1.0 nogil:
        cdef Py_ssize_t i
        cdef double total = 0.0
        for i in range(self.n):
            self.score(i, weights)
            total += self.row_weight[i] * self.loss(i)
        ask_for_signals(&self.work, <double> self.n * (10 * self.k + self.m))
        return total + self.penalty(weights)

    cdef int differentiate(self) except -1 nogil:
        """Set the gradient and the lower triangle of the Hessian at the current weights."""
        cdef Py_ssize_t i, a, b, j, acting
        cdef double constants = 0.0, scaled, share
        self.size = 0.0
        self.gradient[:] = 0.0
        self.hessian[:, :] = 0.0
        for i in range(self.n):
            acting = self.score(i, self.weights)
            self.size += self.row_weight[i] * (1.0 + self.loss(i))
            for a in range(acting):
                j = self.active[a]
                share = self.mean[self.output[j]]
                self.gradient[j] += self.row_weight[i] * (share - self.shares[i, self.output[j]])
                scaled = self.row_weight[i] * share
                for b in range(a + 1):
                    self.hessian[j, self.active[b]] -= scaled * self.mean[self.output[self.active[b]]]
                    if self.output[self.active[b]] == self.output[j]:
                        self.hessian[j, self.active[b]] += scaled
        for j in range(self.m):
            if self.column[j] == 0:
                constants += self.weights[j]
        for j in range(self.m):
            self.gradient[j] += self.ridge[j] * self.weights[j]
            self.hessian[j, j] += self.ridge[j]
            if self.column[j] == 0:
                self.gradient[j] += self.centred * constants
                for a in range(j + 1):
                    if self.column[a] == 0:
                        self.hessian[j, a] += self.centred
        return ask_for_signals(&self.work, <double> self.n * (10 * self.k + self.m * self.m))

    cdef double damped_step(self, double damping) noexcept nogil:
        """Set the step that minimises the quadratic model plus damping times the change of scores; return what it promises.

        Each weight has a unit of its own, in which its diagonal entry is one. Not a number if the system cannot be solved.
        """
        cdef Py_ssize_t i, j
        cdef double entry
        for j in range(self.m):
            entry = self.hessian[j, j] + damping * self.mass[j]
            self.scale[j] = sqrt(entry) if entry > 0.0 else 1.0
            self.step[j] = self.gradient[j] / self.scale[j]
            for i in range(j):
                self.factor[j, i] = self.hessian[j, i] / self.scale[j] / self.scale[i]
            self.factor[j, j] = 1.0 + OWN_JITTER
        if not solve_in_place(self.factor, self.step):
            return NAN
        for j in range(self.m):
            self.step[j] /= self.scale[j]
        return dot(&self.gradient[0], &self.step[0], self.m)

    cdef void weigh(self) noexcept nogil:
        """Set the weight of all rows, that of the rows of each weight, and the penalties that depend on it."""
        cdef Py_ssize_t i, j
        self.mass[:] = 0.0
        self.total_weight = 0.0
        for i in range(self.n):
            self.total_weight += self.row_weight[i]
            for j in range(self.m):
                if self.design[i, self.column[j]] != 0.0:
                    self.mass[j] += self.row_weight[i]
        self.centred = CENTRED * self.total_weight
        for j in range(self.m):
            self.ridge[j] = 0.0 if self.column[j] == 0 else fmax(self.given_ridge[j], LEAST_RIDGE * self.total_weight)

    cdef double minimise(self) except? -1.0 nogil:
        """Go down in damped steps (Levenberg and Marquardt); return the objective where they end.

        A step that does not lower the objective is taken again with more damping, so shorter; one that does lets the next be
        bolder.
        """
        cdef double damping = FIRST_DAMPING, objective = self.objective(self.weights), reached, promise
        cdef bint is_new = True
        cdef Py_ssize_t j
        cdef int i
        for i in range(MAX_STEPS):
            if is_new:
                self.differentiate()
            promise = self.damped_step(damping)
            if not promise > TOLERANCE * fabs(objective) + LOST * self.size:
                if promise == promise:
                    # Too small to be seen in the objective, this step still brings the weights closer.
                    for j in range(self.m):
                        self.weights[j] -= self.step[j]
                    break
                if damping > LARGEST_DAMPING:
                    break
                damping, is_new = fmax(10.0 * damping, LEAST_DAMPING), False
                continue
            for j in range(self.m):
                self.candidate[j] = self.weights[j] - self.step[j]
            reached = self.objective(self.candidate)
            is_new = reached < objective
            if is_new:
                self.weights[:] = self.candidate
                objective = reached
                damping = 0.1 * damping if damping > LEAST_DAMPING else 0.0
            else:
                damping = fmax(10.0 * damping, LEAST_DAMPING)
                if damping > LARGEST_DAMPING:
                    break
        return objective

    def run(self, const double[::1] start not None):
        """Return the minimising weights, and the objective there."""
        cdef double objective
        if start.shape[0] != self.m:
            raise ValueError(f"start must have one entry for each of the {self.m} weights; got {start.shape[0]}.")
        if self.is_running:
            raise RuntimeError("These weights are being sought already, in another thread.")
        self.is_running = True
        try:
            with nogil:
                self.weigh()
                self.weights[:] = start
                objective = self.minimise()
        finally:
            self.is_running = False
        return np.array(self.weights), objective
