# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Newton's method on the weights of rules; the arithmetic behind `learning.refit`."""

from libc.float cimport DBL_MAX, DBL_MIN
from libc.math cimport NAN, fabs, fmax
from libc.string cimport memcpy

import numpy as np

include "cholesky.pxi"
include "losses.pxi"
include "row_block.pxi"
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


# ---- Newton --------------------------------------------------------------------------------------------------------------

cdef class WeightFinder:
    """The data of one problem: min over b of sum_i c_i loss(y_i, o_i + x_i.b) + ridge/2 sum_{j>0} b_j^2.

    ``columns`` has a line for each weight, the values of its term.
    """

    cdef double[:, :, ::1] blocks       # of rows: the lines of columns, and lines of zeros to a multiple of LANES
    cdef const double[::1] y, row_weight, offset
    cdef double[::1] score              # of each row, where the objective was last computed
    cdef double[:, ::1] work_rows
    cdef int family
    cdef double ridge, present_ridge, power
    cdef Py_ssize_t n, m, n_vectors
    cdef double[::1] weights, candidate, gradient, step, newton_end
    cdef double[::1] mass, scale        # of each column: sum of c_i x_ij^2, and the unit of its weight while a system is solved
    cdef double[:, ::1] hessian, factor
    cdef double work, size, total_weight
    cdef bint is_running, is_expected   # curvature: where targets are means, as on average they are

    def __cinit__(
        self,
        const double[:, ::1] columns not None,
        const double[::1] y not None,
        const double[::1] row_weight not None,
        const double[::1] offset not None,
        int family,
        double ridge,
        double power=0.0,
    ):
        cdef Py_ssize_t j
        self.y, self.row_weight, self.offset = y, row_weight, offset
        self.family, self.ridge, self.power = family, ridge, power
        self.m, self.n = columns.shape[0], columns.shape[1]
        if self.m == 0 or not y.shape[0] == row_weight.shape[0] == offset.shape[0] == self.n:
            raise ValueError("All arrays must have the same number of rows, and there must be at least one column.")
        checked_family(family, power)
        if not 0.0 <= ridge <= DBL_MAX:
            raise ValueError(f"ridge must be finite and not negative; got {ridge}.")
        self.n_vectors = LANES * ((self.m + LANES) // LANES)
        self.blocks = np.zeros(((self.n + ROWS_PER_BLOCK - 1) // ROWS_PER_BLOCK, self.n_vectors, ROWS_PER_BLOCK))
        for j in range(self.m):
            self.set_column(j, columns[j])
        self.score, self.work_rows = np.empty(self.n), np.empty((4, ROWS_PER_BLOCK))
        self.weights, self.candidate, self.step, self.mass, self.scale, self.newton_end = np.zeros((6, self.m))
        self.gradient, self.hessian = np.zeros(self.n_vectors), np.zeros((self.n_vectors, self.n_vectors))
        self.factor = np.zeros((self.m, self.m))

    cdef int rows_from(self, Py_ssize_t begin) noexcept nogil:
        """Return the number of rows of the block that begins here."""
        return <int> min(<Py_ssize_t> ROWS_PER_BLOCK, self.n - begin)

    cdef void set_column(self, Py_ssize_t j, const double[::1] values) noexcept nogil:
        cdef Py_ssize_t begin
        for begin from 0 <= begin < self.n by ROWS_PER_BLOCK:
            memcpy(&self.blocks[begin // ROWS_PER_BLOCK, j, 0], &values[begin], self.rows_from(begin) * sizeof(double))

    cdef void set_scores(self, double[::1] weights) noexcept nogil:
        cdef Py_ssize_t j, begin
        cdef int rows
        cdef double *score
        for begin from 0 <= begin < self.n by ROWS_PER_BLOCK:
            rows, score = self.rows_from(begin), &self.score[begin]
            memcpy(score, &self.offset[begin], rows * sizeof(double))
            for j in range(self.m):
                add_scaled(score, &self.blocks[begin // ROWS_PER_BLOCK, j, 0], weights[j], rows)

    cdef double total_loss(self) noexcept nogil:
        """Return the loss at the present scores."""
        cdef Py_ssize_t begin, row
        cdef int i, rows
        cdef double *loss = &self.work_rows[0, 0]
        cdef double total = 0.0
        for begin from 0 <= begin < self.n by ROWS_PER_BLOCK:
            rows = self.rows_from(begin)
            if self.family == LOGISTIC:
                logistic_losses(&self.score[begin], &self.y[begin], &self.row_weight[begin], loss, rows)
            else:
                for i in range(rows):
                    row = begin + i
                    loss[i] = self.row_weight[row] * loss_value(self.family, self.power, self.y[row], self.score[row])
            total += sum_of(loss, rows)
        return total

    cdef double objective(self, double[::1] weights) except? -1.0 nogil:
        """Return the penalised loss at some weights, and keep the scores there."""
        cdef double total
        self.set_scores(weights)
        total = self.total_loss()
        ask_for_signals(&self.work, <double> self.n * (10 + self.m))
        return total + self.penalty(weights)

    cdef double penalty(self, double[::1] weights) noexcept nogil:
        cdef Py_ssize_t j
        cdef double square = 0.0
        for j in range(1, self.m):
            square += weights[j] * weights[j]
        return 0.5 * self.present_ridge * square

    cdef int differentiate(self) except -1 nogil:
        """Set the gradient and the lower triangle of the Hessian at the current weights, where the objective was computed last."""
        cdef Py_ssize_t j, begin
        cdef int rows
        cdef double *slope = &self.work_rows[0, 0]
        cdef double *curvature = &self.work_rows[1, 0]
        cdef double *scaled = &self.work_rows[2, 0]
        cdef double *scaled2 = &self.work_rows[3, 0]
        cdef double *columns
        self.size = 0.0
        self.gradient[:] = 0.0
        self.hessian[:, :] = 0.0
        for begin from 0 <= begin < self.n by ROWS_PER_BLOCK:
            rows, columns = self.rows_from(begin), &self.blocks[begin // ROWS_PER_BLOCK, 0, 0]
            self.differentiate_rows(begin, rows, slope, curvature)
            multiply(scaled, curvature, columns, rows)
            add_products(&self.gradient[0], &self.hessian[0, 0], slope, scaled, columns, <int> self.n_vectors, rows)
            for j from 1 <= j < self.m by 2:
                multiply(scaled, curvature, columns + j * ROWS_PER_BLOCK, rows)
                multiply(scaled2, curvature, columns + (j + 1) * ROWS_PER_BLOCK, rows)
                add_products(
                    &self.hessian[j, 0], &self.hessian[j + 1, 0], scaled, scaled2, columns, <int> (LANES * ((j + 1) // LANES + 1)), rows
                )
        for j in range(1, self.m):
            self.gradient[j] += self.present_ridge * self.weights[j]
            self.hessian[j, j] += self.present_ridge
        return ask_for_signals(&self.work, <double> self.n * (10 + self.m * self.m / 8))

    cdef void differentiate_rows(self, Py_ssize_t begin, int rows, double *slope, double *curvature) noexcept nogil:
        """Set the weighted derivatives of the loss in the scores of some rows."""
        cdef Py_ssize_t row
        cdef int i
        if self.family == LOGISTIC:
            logistic_derivatives(&self.score[begin], &self.y[begin], &self.row_weight[begin], slope, curvature, rows)
            self.size += sum_of(&self.row_weight[begin], rows)
            return
        for i in range(rows):
            row = begin + i
            self.size += self.row_weight[row] * size_of_terms(self.family, self.power, self.y[row], self.score[row])
            slope[i] = self.row_weight[row] * loss_gradient(self.family, self.power, self.y[row], self.score[row])
            if self.is_expected:
                curvature[i] = loss_expected_hessian(self.family, self.power, self.score[row])
            else:
                curvature[i] = loss_hessian(self.family, self.power, self.y[row], self.score[row])
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
        self.step[:] = self.gradient[: self.m]
        self.factor[:, :] = self.hessian[: self.m, : self.m]
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
        cdef double value
        self.mass[:] = 0.0
        self.total_weight = 0.0
        for i in range(self.n):
            self.total_weight += self.row_weight[i]
            for j in range(self.m):
                value = self.blocks[i // ROWS_PER_BLOCK, j, i % ROWS_PER_BLOCK]
                self.mass[j] += self.row_weight[i] * value * value

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
            hessian = np.tril(self.hessian)[: self.m, : self.m]
            return value, np.array(self.gradient[: self.m]), hessian + np.tril(hessian, -1).T
        finally:
            self.is_running = False

    cdef int begin(self, const double[::1] weights) except -1:
        if weights.shape[0] != self.m:
            raise ValueError(f"There must be one weight for each of the {self.m} columns; got {weights.shape[0]}.")
        if self.is_running:
            raise RuntimeError("These weights are being sought already, in another thread.")
        self.is_running = True
        return 0

    def run(self, const double[::1] start not None):
        """Return the minimising weights, and the objective at the start and there."""
        cdef double before, after
        self.begin(start)
        try:
            with nogil:
                self.weights[:] = start
                self.present_ridge = self.ridge
                before = self.objective(self.weights)
                after = self.found_from(before)
        finally:
            self.is_running = False
        return np.array(self.weights), before, after

    cdef double found_from(self, double before) except? -1.0 nogil:
        """Go to the minimum from the current weights, where the objective is as given; return it there."""
        cdef double after = self.minimise(before)
        return after if self.is_minimum(after) else self.mend()

    def run_each(self, const double[:, ::1] last not None, const double[::1] start not None):
        """Return, with each of some lines as the last column, the minimising weights and the loss there without the ridge."""
        cdef Py_ssize_t k, count = last.shape[0]
        cdef double[:, ::1] found = np.empty((count, self.m))
        cdef double[::1] losses = np.empty(count)
        if last.shape[1] != self.n:
            raise ValueError(f"There must be one value for each of the {self.n} rows; got {last.shape[1]}.")
        self.begin(start)
        try:
            with nogil:
                self.present_ridge = self.ridge
                for k in range(count):
                    self.set_column(self.m - 1, last[k])
                    self.weights[:] = start
                    losses[k] = self.found_from(self.objective(self.weights)) - self.penalty(self.weights)
                    found[k] = self.weights
        finally:
            self.is_running = False
        return np.asarray(found), np.asarray(losses)


    def left_out(
        self,
        const double[::1] start not None,
        const double[::1] ridges not None,
        const double[::1] part not None,
        const double[::1] counted not None,
        double jitter,
        double most_leverage,
    ):
        """Return, for each of some ridges, the loss of the best weights, and of those without a part of each row.

        These are found by one Newton step; the loss of a row without its part counts as ``counted``. Of the diagonal of the
        Hessian, a share of ``jitter`` is added; where the leverage of a part is larger than ``most_leverage``, it counts as that.
        """
        cdef Py_ssize_t r
        cdef double[:, ::1] losses = np.empty((2, ridges.shape[0])), solved = np.empty((self.m, ROWS_PER_BLOCK))
        if part.shape[0] != self.n or counted.shape[0] != self.n:
            raise ValueError(f"There must be one part for each of the {self.n} rows; got {part.shape[0]}.")
        if not np.isfinite(ridges).all() or np.less(ridges, 0.0).any():
            raise ValueError("ridges must be finite and not negative.")
        self.begin(start)
        try:
            with nogil:
                self.weights[:] = start
                for r in range(ridges.shape[0]):
                    self.ridge = self.present_ridge = ridges[r]
                    losses[0, r] = self.found_from(self.objective(self.weights)) - self.penalty(self.weights)
                    losses[1, r] = self.loss_without_parts(part, counted, jitter, most_leverage, solved)
        finally:
            self.is_running = False
        return np.asarray(losses[0]), np.asarray(losses[1])

    cdef double loss_without_parts(
        self, const double[::1] part, const double[::1] counted, double jitter, double most_leverage, double[:, ::1] solved
    ) except? -1.0 nogil:
        cdef Py_ssize_t i, j, k, begin, row
        cdef double spread, curved, hessian, total = 0.0
        cdef double *shifted = &self.work_rows[0, 0]
        cdef bint is_curved
        self.set_scores(self.weights)
        self.is_expected = True
        self.present_ridge = 0.0
        self.differentiate()
        self.is_expected = False
        self.present_ridge = self.ridge
        # The first column is the constant, whose entry is the curvature of all rows.
        is_curved = self.hessian[0, 0] * jitter > DBL_MIN
        for j in range(self.m):
            for k in range(j + 1):
                self.factor[j, k] = self.hessian[j, k]
            hessian = jitter * self.hessian[0, 0]
            self.factor[j, j] += hessian if j == 0 else fmax(fmax(self.ridge, hessian), jitter * self.hessian[j, j])
        is_curved = is_curved and decompose(self.factor, self.m)
        for begin from 0 <= begin < self.n by ROWS_PER_BLOCK:
            if is_curved:
                self.solve_rows(begin, solved)
            for i in range(self.rows_from(begin)):
                row, spread = begin + i, 0.0
                for j in range(self.m if is_curved else 0):
                    spread += solved[j, i] * solved[j, i]
                hessian = loss_expected_hessian(self.family, self.power, self.score[row])
                curved = spread * part[row] * hessian
                curved = most_leverage if curved > most_leverage else curved
                shifted[i] = spread * part[row] * loss_gradient(self.family, self.power, self.y[row], self.score[row]) / (1.0 - curved)
                shifted[i] += self.score[row]
                total += counted[row] * loss_value(self.family, self.power, self.y[row], shifted[i])
        return total

    cdef void solve_rows(self, Py_ssize_t begin, double[:, ::1] solved) noexcept nogil:
        """Set the columns of a block of rows in coordinates in which the decomposed matrix is the identity."""
        cdef Py_ssize_t j, k
        cdef int i, rows = self.rows_from(begin)
        for j in range(self.m):
            memcpy(&solved[j, 0], &self.blocks[begin // ROWS_PER_BLOCK, j, 0], rows * sizeof(double))
            for k in range(j):
                add_scaled(&solved[j, 0], &solved[k, 0], -self.factor[j, k], rows)
            for i in range(rows):
                solved[j, i] /= self.factor[j, j]


def term_sums(const double[:, ::1] terms not None, const double[:, ::1] curvature not None):
    """Return sums over rows of terms times the lines of curvature; the second of these is weighted by squared terms.

    Both have a line for each term or quantity, and a number for each row.
    """
    cdef Py_ssize_t j, t, begin, n = terms.shape[1], k = curvature.shape[0], vectors = LANES * ((k + LANES - 1) // LANES)
    cdef int rows
    if curvature.shape[1] != n or k < 2:
        raise ValueError("There must be two numbers or more for each row.")
    cdef double[:, ::1] sums = np.zeros((terms.shape[0] + 1, vectors)), block = np.zeros((vectors, ROWS_PER_BLOCK))
    cdef double[::1] squares = np.zeros(terms.shape[0])
    cdef double[ROWS_PER_BLOCK] square
    cdef const double *term
    with nogil:
        for begin from 0 <= begin < n by ROWS_PER_BLOCK:
            rows = <int> min(<Py_ssize_t> ROWS_PER_BLOCK, n - begin)
            for j in range(k):
                memcpy(&block[j, 0], &curvature[j, begin], rows * sizeof(double))
            for t from 0 <= t < terms.shape[0] by 2:
                # With an odd number of terms, the last one is its own neighbour, and the line after it is not looked at.
                term = &terms[t + 1, begin] if t + 1 < terms.shape[0] else &terms[t, begin]
                add_products(&sums[t, 0], &sums[t + 1, 0], &terms[t, begin], term, &block[0, 0], <int> vectors, rows)
            for t in range(terms.shape[0]):
                multiply(square, &terms[t, begin], &terms[t, begin], rows)
                multiply(square, square, &block[1, 0], rows)
                squares[t] += sum_of(square, rows)
    found = np.array(np.asarray(sums)[: terms.shape[0], :k])
    found[:, 1] = squares
    return found


def loss_of_each(
    const double[:, ::1] columns not None,
    const double[:, ::1] last not None,
    const double[:, ::1] weights not None,
    const double[::1] y not None,
    const double[::1] row_weight not None,
    const double[::1] offset not None,
    int family,
    double power,
):
    """Return the loss of ensembles that have all columns but the last in common.

    ``weights`` has a line for each ensemble: its constant, the weights of the common columns, and that of its last one.
    """
    cdef Py_ssize_t i, j, k, begin, row, n = last.shape[1], m = columns.shape[0], count = last.shape[0]
    cdef int rows
    cdef double[ROWS_PER_BLOCK] score, loss
    cdef double[::1] losses = np.zeros(count)
    if not (columns.shape[1] == y.shape[0] == row_weight.shape[0] == offset.shape[0] == n):
        raise ValueError("All arrays must have the same number of rows.")
    if weights.shape[0] != count or weights.shape[1] != m + 2:
        raise ValueError("There must be a line of weights for each ensemble: for a constant and for each column.")
    checked_family(family, power)
    with nogil:
        for begin from 0 <= begin < n by ROWS_PER_BLOCK:
            rows = <int> min(<Py_ssize_t> ROWS_PER_BLOCK, n - begin)
            for k in range(count):
                for i in range(rows):
                    score[i] = offset[begin + i] + weights[k, 0]
                for j in range(m):
                    add_scaled(score, &columns[j, begin], weights[k, j + 1], rows)
                add_scaled(score, &last[k, begin], weights[k, m + 1], rows)
                if family == LOGISTIC:
                    logistic_losses(score, &y[begin], &row_weight[begin], loss, rows)
                else:
                    for i in range(rows):
                        row = begin + i
                        loss[i] = row_weight[row] * loss_value(family, power, y[row], score[i])
                losses[k] += sum_of(loss, rows)
    return np.asarray(losses)


def weighted_products(const double[:, ::1] columns not None, const double[::1] weight not None):
    """Return the sums over rows of weight times the product of each two columns; ``columns`` has a line for each."""
    cdef Py_ssize_t j, k, begin, n = columns.shape[1], m = columns.shape[0], vectors = LANES * ((m + LANES) // LANES)
    cdef int rows
    if weight.shape[0] != n:
        raise ValueError(f"There must be one weight for each of the {n} rows; got {weight.shape[0]}.")
    cdef double[:, ::1] sums = np.zeros((vectors, vectors)), block = np.zeros((vectors, ROWS_PER_BLOCK))
    cdef double[ROWS_PER_BLOCK] scaled, scaled2
    with nogil:
        for begin from 0 <= begin < n by ROWS_PER_BLOCK:
            rows = <int> min(<Py_ssize_t> ROWS_PER_BLOCK, n - begin)
            for j in range(m):
                memcpy(&block[j, 0], &columns[j, begin], rows * sizeof(double))
            for j from 0 <= j < m by 2:
                multiply(scaled, &weight[begin], &block[j, 0], rows)
                multiply(scaled2, &weight[begin], &block[j + 1, 0], rows)
                add_products(
                    &sums[j, 0], &sums[j + 1, 0], scaled, scaled2, &block[0, 0], <int> (LANES * ((j + 1) // LANES + 1)), rows
                )
        for j in range(m):
            for k in range(j):
                sums[k, j] = sums[j, k]
    return np.ascontiguousarray(np.asarray(sums)[:m, :m])
