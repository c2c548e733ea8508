# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Damped Newton steps on the class weights of rules; the arithmetic behind `solvers.class_weights`."""

from libc.float cimport DBL_MAX
from libc.math cimport INFINITY, NAN, exp, fabs, fmax, log, sqrt

import numpy as np

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


cdef inline double dot(const double *a, const double *b, Py_ssize_t n) noexcept nogil:
    # Four sums side by side: a single one would wait for each addition.
    cdef Py_ssize_t i
    cdef double s = 0.0, t = 0.0, u = 0.0, v = 0.0
    for i in range(0, n - 3, 4):
        s += a[i] * b[i]
        t += a[i + 1] * b[i + 1]
        u += a[i + 2] * b[i + 2]
        v += a[i + 3] * b[i + 3]
    for i in range(n - n % 4, n):
        s += a[i] * b[i]
    return (s + t) + (u + v)


cdef bint factorise(double[:, ::1] matrix) noexcept nogil:
    """Cholesky of the lower triangle, in place; False if the matrix is not positive definite."""
    cdef Py_ssize_t i, j, m = matrix.shape[0]
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
    return True


cdef void solve(const double[:, ::1] factor, double[::1] x) noexcept nogil:
    """Solve both triangular systems, in place."""
    cdef Py_ssize_t i, j, m = x.shape[0]
    for i in range(m):
        x[i] = (x[i] - dot(&factor[i, 0], &x[0], i)) / factor[i, i]
    for i in range(m - 1, -1, -1):
        x[i] /= factor[i, i]
        for j in range(i):
            x[j] -= factor[i, j] * x[i]


cdef class ClassWeightFinder:
    """The data of one problem: min over b of sum_i c_i (log sum_k exp f_ik - sum_k s_ik f_ik) + 1/2 sum_j ridge_j b_j^2.

    Weight j is added to the score of class output[j] of the rows whose entry in column[j] of the design is not zero; the score
    starts at the offset. Weights in column 0 are constants: they have no ridge, and their sum is zero.
    """

    cdef const double[:, ::1] design, shares, offset
    cdef const double[::1] row_weight, given_ridge
    cdef const Py_ssize_t[::1] column, output
    cdef Py_ssize_t n, m, k
    cdef double[::1] weights, candidate, gradient, next_gradient, step, ridge, mass, scale, mean, acting_mean
    cdef double[:, ::1] hessian, factor
    cdef Py_ssize_t[::1] first, active
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
        cdef Py_ssize_t i, j, acting = 0
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
        self.weights, self.candidate, self.gradient, self.next_gradient, self.step = np.zeros((5, self.m))
        self.ridge, self.mass, self.scale, self.acting_mean = np.zeros((4, self.m))
        self.hessian, self.factor = np.zeros((2, self.m, self.m))
        self.mean = np.zeros(self.k)
        self.first = np.zeros(self.n + 1, dtype=np.intp)
        for i in range(self.n):
            for j in range(self.m):
                acting += design[i, column[j]] != 0.0
            self.first[i + 1] = acting
        self.active = np.zeros(acting, dtype=np.intp)
        acting = 0
        for i in range(self.n):
            for j in range(self.m):
                if design[i, column[j]] != 0.0:
                    self.active[acting] = j
                    acting += 1

    cdef void score(self, Py_ssize_t i, const double[::1] weights) noexcept nogil:
        """Set the scores of a row, in the place of its means."""
        cdef Py_ssize_t a, k
        for k in range(self.k):
            self.mean[k] = self.offset[i, k]
        for a in range(self.first[i], self.first[i + 1]):
            self.mean[self.output[self.active[a]]] += weights[self.active[a]]

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

    cdef double objective(self, const double[::1] weights, double[::1] gradient) except? -1.0 nogil:
        """Return the objective at some weights, and set its gradient and the size of its terms."""
        cdef Py_ssize_t i, a, j, k
        cdef double total = 0.0, constants = 0.0, loss
        gradient[:] = 0.0
        self.size = 0.0
        for i in range(self.n):
            self.score(i, weights)
            loss = self.loss(i)
            total += self.row_weight[i] * loss
            self.size += self.row_weight[i] * (1.0 + loss)
            for k in range(self.k):
                self.mean[k] = self.row_weight[i] * (self.mean[k] - self.shares[i, k])
            for a in range(self.first[i], self.first[i + 1]):
                gradient[self.active[a]] += self.mean[self.output[self.active[a]]]
        for j in range(self.m):
            if self.column[j] == 0:
                constants += weights[j]
        for j in range(self.m):
            gradient[j] += self.ridge[j] * weights[j] + (self.centred * constants if self.column[j] == 0 else 0.0)
        ask_for_signals(&self.work, <double> self.n * 12 * self.k + 2 * self.active.shape[0])
        return total + self.penalty(weights)

    cdef int curve(self) except -1 nogil:
        """Set the lower triangle of the Hessian at the current weights."""
        cdef Py_ssize_t i, a, b, j, k, acting
        cdef const Py_ssize_t *active
        cdef double *entries
        cdef double scaled, done = 0.0
        self.hessian[:, :] = 0.0
        for i in range(self.n):
            self.score(i, self.weights)
            self.loss(i)
            acting = self.first[i + 1] - self.first[i]
            if acting == 0:
                continue
            active = &self.active[self.first[i]]
            for a in range(acting):
                self.acting_mean[a] = self.mean[self.output[active[a]]]
            for a in range(acting):
                j = active[a]
                k = self.output[j]
                entries = &self.hessian[j, 0]
                scaled = self.row_weight[i] * self.acting_mean[a]
                for b in range(a + 1):
                    entries[active[b]] += scaled * ((1.0 if self.output[active[b]] == k else 0.0) - self.acting_mean[b])
            done += 10 * self.k + acting * acting
        for j in range(self.m):
            self.hessian[j, j] += self.ridge[j]
            if self.column[j] == 0:
                for a in range(j + 1):
                    if self.column[a] == 0:
                        self.hessian[j, a] += self.centred
        return ask_for_signals(&self.work, done)

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
        return factorise(self.factor)

    cdef double aim(self) noexcept nogil:
        """Set the step that minimises the quadratic model; return what it promises."""
        cdef Py_ssize_t j
        for j in range(self.m):
            self.step[j] = self.gradient[j] / self.scale[j]
        solve(self.factor, self.step)
        for j in range(self.m):
            self.step[j] /= self.scale[j]
        return dot(&self.gradient[0], &self.step[0], self.m)

    cdef void weigh(self) noexcept nogil:
        """Set the weight of all rows, that of the rows of each weight, and the penalties that depend on it."""
        cdef Py_ssize_t i, j, a
        self.mass[:] = 0.0
        self.total_weight = 0.0
        for i in range(self.n):
            self.total_weight += self.row_weight[i]
            for a in range(self.first[i], self.first[i + 1]):
                self.mass[self.active[a]] += self.row_weight[i]
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
                objective = self.minimise(tolerance)
        finally:
            self.is_running = False
        return np.array(self.weights), objective
