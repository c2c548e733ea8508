# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Newton's method on the weights of rules; the arithmetic behind `solvers.rule_weights`."""

from libc.float cimport DBL_MAX, DBL_MIN
from libc.math cimport NAN, fabs, fmax

import numpy as np

include "cholesky.pxi"
include "losses.pxi"
include "signals.pxi"

cdef int MAX_ITERATIONS = 100
cdef int MAX_HALVINGS = 40
cdef double TOLERANCE = 1e-13  # Newton stops when the next step would lower the objective by no more than this share of it
cdef double JITTER = 1e-12     # of the mean diagonal: rules that fire on the same rows leave the Hessian singular without a ridge

# When Newton's end is no minimum, a slower way is gone that cannot miss it.
cdef double NOT_REACHED = 1e-11    # share of the objective: if the next step would still win this, Newton has not arrived
cdef double LARGEST_WEIGHT = 100.0 # of a log-odds or log-rate: where weights are larger than this, nothing holds them
cdef double LOST = 1e-14           # of the size of its terms: so much of the objective is rounding error
cdef double LEAST_RIDGE = 1e-16    # of the weight of all rows: on the slower way, weights are never quite free
cdef double OWN_JITTER = 1e-14     # of each diagonal entry
cdef double FIRST_DAMPING = 1e-3, LEAST_DAMPING = 1e-12, LARGEST_DAMPING = 1e20
cdef int MAX_SAFE_STEPS = 2000, MAX_BISECTIONS = 200
cdef double NO_SLOPE = 1e-13       # of the weight of all rows: the slope of a constant that is as good as the best
cdef double LARGEST_CONSTANT = 1e300
cdef enum:
    BLOCK = 512                    # rows at a time: what is computed of them stays in the cache


cdef double product_sum(const double *a, const double *b, Py_ssize_t n) noexcept nogil:
    """Return a.b; four sums side by side take a quarter of the time."""
    cdef double first = 0.0, second = 0.0, third = 0.0, fourth = 0.0
    cdef Py_ssize_t i = 0
    while i + 4 <= n:
        first += a[i] * b[i]
        second += a[i + 1] * b[i + 1]
        third += a[i + 2] * b[i + 2]
        fourth += a[i + 3] * b[i + 3]
        i += 4
    while i < n:
        first += a[i] * b[i]
        i += 1
    return (first + second) + (third + fourth)


# ---- Newton --------------------------------------------------------------------------------------------------------------

cdef class WeightFinder:
    """The data of one problem: min over b of sum_i c_i loss(y_i, o_i + x_i.b) + ridge/2 sum_{j>0} b_j^2."""

    cdef double[:, ::1] columns         # the transposed design: sums over rows run along it
    cdef const double[::1] y, row_weight, offset
    cdef double[::1] score, decay       # of each row, where the objective was last computed; see losses.h
    cdef int family
    cdef double ridge, present_ridge, power
    cdef Py_ssize_t n, m
    cdef double[::1] weights, candidate, gradient, step, newton_end
    cdef double[::1] mass, scale        # of each column: sum of c_i x_ij^2, and the unit of its weight while a system is solved
    cdef double[:, ::1] hessian, factor
    cdef double work, size, total_weight
    cdef bint is_running

    def __cinit__(
        self,
        const double[:, ::1] design not None,
        const double[::1] y not None,
        const double[::1] row_weight not None,
        const double[::1] offset not None,
        int family,
        double ridge,
        double power=0.0,
    ):
        self.y, self.row_weight, self.offset = y, row_weight, offset
        self.family, self.ridge, self.power = family, ridge, power
        self.n, self.m = design.shape[0], design.shape[1]
        if self.m == 0 or not y.shape[0] == row_weight.shape[0] == offset.shape[0] == self.n:
            raise ValueError("All arrays must have the same number of rows, and design at least one column.")
        self.columns = np.array(np.asarray(design).T, order="C")
        self.score, self.decay = np.empty((2, self.n))
        checked_family(family, power)
        if not 0.0 <= ridge <= DBL_MAX:
            raise ValueError(f"ridge must be finite and not negative; got {ridge}.")
        self.weights, self.candidate, self.gradient, self.step, self.mass, self.scale, self.newton_end = np.zeros(
            (7, self.m)
        )
        self.hessian, self.factor = np.zeros((2, self.m, self.m))

    cdef void set_scores(self, double[::1] weights) noexcept nogil:
        cdef Py_ssize_t i, j, begin, end
        cdef double *score = &self.score[0] if self.n > 0 else NULL
        cdef const double *column
        for begin from 0 <= begin < self.n by BLOCK:
            end = min(<Py_ssize_t> (begin + BLOCK), self.n)
            for i in range(begin, end):
                score[i] = 0.0
            for j in range(self.m):
                column = &self.columns[j, 0]
                for i in range(begin, end):
                    score[i] += weights[j] * column[i]
            for i in range(begin, end):
                score[i] += self.offset[i]

    cdef double objective(self, double[::1] weights) except? -1.0 nogil:
        """Return the penalised loss at some weights, and keep the scores there."""
        cdef Py_ssize_t i
        cdef double total = 0.0, square = 0.0
        self.set_scores(weights)
        if self.family == LOGISTIC:
            for i in range(self.n):
                self.decay[i] = logistic_decay(self.score[i])
                total += self.row_weight[i] * logistic_value(self.y[i], self.score[i], self.decay[i])
        else:
            for i in range(self.n):
                total += self.row_weight[i] * loss_value(self.family, self.power, self.y[i], self.score[i])
        ask_for_signals(&self.work, <double> self.n * (10 + self.m))
        for i in range(1, self.m):
            square += weights[i] * weights[i]
        return total + 0.5 * self.present_ridge * square

    cdef int differentiate(self) except -1 nogil:
        """Set the gradient and the lower triangle of the Hessian at the current weights, where the objective was computed last."""
        cdef Py_ssize_t i, j, k, begin, size
        cdef double[BLOCK] slope, curvature, scaled
        cdef const double *column
        self.size = 0.0
        self.gradient[:] = 0.0
        self.hessian[:, :] = 0.0
        for begin from 0 <= begin < self.n by BLOCK:
            size = min(<Py_ssize_t> BLOCK, self.n - begin)
            self.differentiate_rows(begin, size, slope, curvature)
            for j in range(self.m):
                column = &self.columns[j, begin]
                self.gradient[j] += product_sum(slope, column, size)
                for i in range(size):
                    scaled[i] = curvature[i] * column[i]
                for k in range(j + 1):
                    self.hessian[j, k] += product_sum(scaled, &self.columns[k, begin], size)
        for j in range(1, self.m):
            self.gradient[j] += self.present_ridge * self.weights[j]
            self.hessian[j, j] += self.present_ridge
        return ask_for_signals(&self.work, <double> self.n * (10 + self.m * self.m))

    cdef void differentiate_rows(self, Py_ssize_t begin, Py_ssize_t size, double *slope, double *curvature) noexcept nogil:
        """Set the weighted derivatives of the loss in the scores of some rows."""
        cdef Py_ssize_t i, row
        for i in range(size):
            row = begin + i
            self.size += self.row_weight[row] * size_of_terms(self.family, self.power, self.y[row], self.score[row])
            if self.family == LOGISTIC:
                slope[i] = logistic_mean(self.score[row], self.decay[row]) - self.y[row]
                curvature[i] = logistic_hessian(self.decay[row])
            else:
                slope[i] = loss_gradient(self.family, self.power, self.y[row], self.score[row])
                curvature[i] = loss_hessian(self.family, self.power, self.y[row], self.score[row])
            slope[i] *= self.row_weight[row]
            curvature[i] *= self.row_weight[row]

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

    cdef bint newton_step(self) noexcept nogil:
        """Set the step; False if the Hessian is not positive definite."""
        cdef Py_ssize_t j
        cdef double trace = 0.0
        self.step[:] = self.gradient
        self.factor[:, :] = self.hessian
        for j in range(self.m):
            trace += self.hessian[j, j]
        for j in range(self.m):
            self.factor[j, j] += JITTER * fmax(trace / self.m, DBL_MIN / JITTER)
        return solve_in_place(self.factor, self.step)

    cdef double minimise(self, double objective) except? -1.0 nogil:
        """Take Newton steps from the current weights, where the objective is as given; return it where they end."""
        cdef double reached, decrement
        cdef int i
        for i in range(MAX_ITERATIONS):
            self.differentiate()
            if not self.newton_step():
                return objective
            decrement = dot(&self.gradient[0], &self.step[0], self.m)
            if not decrement > TOLERANCE * fabs(objective):
                return objective
            reached = self.descend(objective)
            if not reached < objective:
                return objective
            objective = reached
        self.differentiate()
        return objective

    # ---- where Newton does not arrive ---------------------------------------------------------------------------------

    cdef double damped_step(self, double damping) noexcept nogil:
        """Set the step that minimises the quadratic model plus damping times the change of scores; return what it promises.

        Each column has a unit of its own, in which its diagonal entry is one: so columns on rows of little weight, or with
        scores that are saturated, are not lost beside the others. Not a number if the system cannot be solved.
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

    cdef bint is_minimum(self, double objective) noexcept nogil:
        """Whether Newton ended where no step promises anything; gradient and Hessian are those of the current weights."""
        cdef Py_ssize_t j
        if self.family != SQUARED:
            for j in range(self.m):
                if fabs(self.weights[j]) > LARGEST_WEIGHT:
                    return False
        return self.damped_step(0.0) <= NOT_REACHED * fabs(objective) + LOST * self.size

    cdef double slope_of_constant(self, double constant) except? -1.0 nogil:
        cdef Py_ssize_t i
        cdef double total = 0.0
        for i in range(self.n):
            total += self.row_weight[i] * loss_gradient(self.family, self.power, self.y[i], self.offset[i] + constant)
        ask_for_signals(&self.work, <double> self.n * 10)
        return total

    cdef int start_safely(self) except -1 nogil:
        """Go to the best constant without any rule, which lies where the slope changes its sign."""
        cdef double lower = -1.0, upper = 1.0, slope, level = NO_SLOPE * self.total_weight
        cdef int i
        while lower > -LARGEST_CONSTANT and self.slope_of_constant(lower) > level:
            lower *= 2.0
        while upper < LARGEST_CONSTANT and self.slope_of_constant(upper) < -level:
            upper *= 2.0
        self.weights[:] = 0.0
        for i in range(MAX_BISECTIONS):
            self.weights[0] = 0.5 * (lower + upper)
            slope = self.slope_of_constant(self.weights[0])
            if fabs(slope) <= level:
                break
            if slope > 0.0:
                upper = self.weights[0]
            else:
                lower = self.weights[0]
        return 0

    cdef void weigh_columns(self) noexcept nogil:
        cdef Py_ssize_t i, j
        self.mass[:] = 0.0
        self.total_weight = 0.0
        for i in range(self.n):
            self.total_weight += self.row_weight[i]
            for j in range(self.m):
                self.mass[j] += self.row_weight[i] * self.columns[j, i] * self.columns[j, i]

    cdef double minimise_safely(self) except? -1.0 nogil:
        """Go down from the best constant in damped steps (Levenberg and Marquardt); return the objective there.

        A step that does not lower the objective is taken again with more damping, so shorter; one that does lets the next be
        bolder. Where the curvature has vanished the steps grow tenfold each, and where it has not they are Newton's.
        """
        cdef double damping = FIRST_DAMPING, objective, reached, promise
        cdef bint is_new = True, is_stuck = False
        cdef Py_ssize_t j
        cdef int i
        self.start_safely()
        objective = self.objective(self.weights)
        for i in range(MAX_SAFE_STEPS):
            if is_new:
                self.differentiate()
            promise = self.damped_step(damping)
            if not promise > TOLERANCE * fabs(objective) + 0.1 * LOST * self.size:
                if damping == 0.0 or is_stuck:
                    break
                damping, is_new = 0.0, False
                continue
            for j in range(self.m):
                self.candidate[j] = self.weights[j] - self.step[j]
            reached = self.objective(self.candidate)
            is_new = reached < objective
            if is_new:
                self.weights[:] = self.candidate
                objective, is_stuck = reached, False
                damping = 0.1 * damping if damping > LEAST_DAMPING else 0.0
            else:
                is_stuck |= damping == 0.0
                damping = fmax(10.0 * damping, LEAST_DAMPING)
                if damping > LARGEST_DAMPING:
                    break
        return objective

    cdef double mend(self) except? -1.0 nogil:
        """Go the slower way, and stay at its end unless Newton's is lower by more than rounding error; return the objective there.

        Both are compared with the least ridge: rows that rules separate would drive weights without a ridge to infinity.
        """
        cdef double reached
        self.newton_end[:] = self.weights
        self.weigh_columns()
        self.present_ridge = fmax(self.ridge, LEAST_RIDGE * self.total_weight)
        reached = self.minimise_safely()
        if self.objective(self.newton_end) < reached - LOST * self.size:
            self.weights[:] = self.newton_end
        self.present_ridge = self.ridge
        return self.objective(self.weights)

    def sums(self, const double[::1] weights not None):
        """Return the loss at some weights, without the ridge, its gradient and its second derivatives."""
        cdef double value
        self.begin(weights)
        try:
            with nogil:
                self.weights[:] = weights
                self.present_ridge = 0.0
                value = self.objective(self.weights)
                self.differentiate()
            hessian = np.tril(self.hessian)
            return value, np.array(self.gradient), hessian + np.tril(hessian, -1).T
        finally:
            self.is_running = False

    cdef int begin(self, const double[::1] weights) except -1:
        if weights.shape[0] != self.m:
            raise ValueError(f"There must be one weight for each of the {self.m} columns; got {weights.shape[0]}.")
        if self.is_running:
            raise RuntimeError("These weights are being sought already, in another thread.")
        self.is_running = True
        return 0

    def set_last_column(self, const double[::1] values not None):
        """Put another last column in the place of the present one."""
        if values.shape[0] != self.n:
            raise ValueError(f"There must be one value for each of the {self.n} rows; got {values.shape[0]}.")
        if self.is_running:
            raise RuntimeError("These weights are being sought already, in another thread.")
        self.columns[self.m - 1, :] = values

    def scores(self):
        """Return the score of each row at the weights that were found last."""
        with nogil:
            self.set_scores(self.weights)
        return np.array(self.score)

    def run(self, const double[::1] start not None):
        """Return the minimising weights, and the objective at the start and there."""
        cdef double before, after
        self.begin(start)
        try:
            with nogil:
                self.weights[:] = start
                self.present_ridge = self.ridge
                before = self.objective(self.weights)
                after = self.minimise(before)
                if not self.is_minimum(after):
                    after = self.mend()
        finally:
            self.is_running = False
        return np.array(self.weights), before, after


def term_sums(const double[:, ::1] terms not None, const double[:, ::1] curvature not None):
    """Return sums over rows of terms times the columns of curvature; the second of these is weighted by squared terms.

    ``terms`` has a line for each term, ``curvature`` one for each row.
    """
    cdef Py_ssize_t i, j, t, n = terms.shape[1], k = curvature.shape[1]
    if curvature.shape[0] != n or k < 2:
        raise ValueError("There must be a line of two numbers or more for each row.")
    cdef double[:, ::1] sums = np.zeros((terms.shape[0], k))
    cdef double *total
    cdef const double *row
    cdef double value
    with nogil:
        for t in range(terms.shape[0]):
            total = &sums[t, 0]
            for i in range(n):
                value = terms[t, i]
                if value != 0.0:
                    row = &curvature[i, 0]
                    total[0] += value * row[0]
                    total[1] += value * value * row[1]
                    for j in range(2, k):
                        total[j] += value * row[j]
    return np.asarray(sums)


def weighted_products(const double[:, ::1] columns not None, const double[::1] weight not None):
    """Return the sums over rows of weight times the product of each two columns; ``columns`` has a line for each."""
    cdef Py_ssize_t i, j, k, begin, size, n = columns.shape[1], m = columns.shape[0]
    if weight.shape[0] != n:
        raise ValueError(f"There must be one weight for each of the {n} rows; got {weight.shape[0]}.")
    cdef double[:, ::1] sums = np.zeros((m, m))
    cdef double[BLOCK] scaled
    with nogil:
        for begin from 0 <= begin < n by BLOCK:
            size = min(<Py_ssize_t> BLOCK, n - begin)
            for j in range(m):
                for i in range(size):
                    scaled[i] = weight[begin + i] * columns[j, begin + i]
                for k in range(j + 1):
                    sums[j, k] += product_sum(scaled, &columns[k, begin], size)
        for j in range(m):
            for k in range(j):
                sums[k, j] = sums[j, k]
    return np.asarray(sums)
