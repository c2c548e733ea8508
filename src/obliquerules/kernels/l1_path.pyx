# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Follow the L1 logistic path from event to event; the arithmetic behind `learning.l1_logistic`."""

from libc.float cimport DBL_MIN
from libc.math cimport fabs, log, sqrt
from libc.string cimport memset

import numpy as np

include "cholesky.pxi"
include "signals.pxi"
include "row_block.pxi"

cdef enum Status:
    COMPLETE = 0   # one more variable than asked for would enter: every level that exists was met
    FLOOR = 1      # lambda reached its floor first
    NO_SIGNAL = 2  # the gradient at w = 0 is rounding error
    STALLED = 3    # Newton did not settle even in the smallest steps

cdef enum Event:
    NONE = 0
    ENTER = 1
    LEAVE = 2
    WAYPOINT = 3   # as far as one step may go, no event in between
    BOTTOM = 4

cdef double TOLERANCE = 1e-9     # of the optimality conditions, relative to lambda
cdef double MISSED = 1e-7         # an inactive |gradient| this far above lambda means that an event was passed over
cdef double COLLINEAR = 1e-12     # pivot, relative to the diagonal, below which a column adds no direction
cdef double SAME_ALPHA = 1e-10    # two events this close happen at once: the level between them does not exist
cdef int MAX_NEWTON = 60          # passes for one event
cdef double LONGEST_REACH = 20.0  # change of eta in one step
cdef int MAX_SEEKS_PER_LEVEL = 100
cdef double BOLDEST_STRIDE = 0.2  # alpha after one step over alpha before it: further away the path is not a line
cdef double SHORTEST_STRIDE = 0.9999


cdef class PathFollower:
    """The state of one path: active set, signs, weights, intercept and alpha, and the sums of the last pass over the rows.

    Notation as in the optimality conditions: with r = c (p - y), h = c p (1 - p), g = X'r, m = X'h and G = X' diag(h) X,
    a solution has g_A + alpha s_A = 0 on its active set A, |g_j| <= alpha elsewhere, and sum(r) = 0.
    """

    cdef const double[::1, :] X
    cdef const double[::1] y, c
    cdef Py_ssize_t n, d
    cdef int max_active, n_active, vectors
    cdef double[:, ::1] block          # rows of one block: eta, then the vectors r, h, h x_a for a in A
    cdef double[:, ::1] sums           # per column: x.r, x.h, x.(h x_a)
    cdef double[::1] spare             # where the sums of an odd last column's twin go
    cdef double sum_r, sum_h
    cdef Py_ssize_t[::1] active
    cdef double[::1] sign, w, u, v, largest, saved_w
    cdef double[:, ::1] factor         # Cholesky factor of the centred G_AA
    cdef signed char[::1] is_active, barred
    cdef Py_ssize_t just_dropped, guest
    cdef bint sums_are_current
    cdef double intercept, alpha, alpha_max, alpha_floor, alpha_start, alpha_entered, saved_intercept
    cdef readonly int passes
    cdef int max_support
    cdef double floor_ratio, work
    cdef bint is_running
    cdef double[:, ::1] level_weights
    cdef double[::1] level_intercept, level_alpha
    cdef signed char[::1] level_found, level_at_floor

    def __cinit__(
        self,
        const double[::1, :] X not None,
        const double[::1] y not None,
        const double[::1] c not None,
        int max_support,
        double floor_ratio,
    ):
        self.X, self.y, self.c = X, y, c
        self.n, self.d = X.shape[0], X.shape[1]
        if self.n < 1 or not y.shape[0] == c.shape[0] == self.n:
            raise ValueError(f"y and c must have one entry for each row of X; got {y.shape[0]}, {c.shape[0]} and {self.n} rows.")
        if not 1 <= max_support <= self.d:
            raise ValueError(f"max_support must lie between 1 and the number of columns, {self.d}; got {max_support}.")
        if not 0.0 < floor_ratio < 1.0:
            raise ValueError(f"floor_ratio must lie between 0 and 1; got {floor_ratio}.")
        self.max_support, self.floor_ratio = max_support, floor_ratio
        self.max_active = max_support + 1
        self.block = np.zeros((1 + padded(3 + self.max_active), ROWS_PER_BLOCK))
        self.sums = np.zeros((self.d, padded(3 + self.max_active)))
        self.spare = np.zeros(self.sums.shape[1])
        self.active = np.zeros(self.max_active, dtype=np.intp)
        self.sign, self.w, self.u, self.v, self.largest, self.saved_w = np.zeros((6, self.max_active))
        self.factor = np.zeros((self.max_active, self.max_active))
        self.is_active, self.barred = np.zeros((2, self.d), dtype=np.int8)
        self.level_weights = np.zeros((max_support, self.d))
        self.level_intercept, self.level_alpha = np.zeros((2, max_support))
        self.level_found, self.level_at_floor = np.zeros((2, max_support), dtype=np.int8)

    # ---- sums over rows -------------------------------------------------------------------------------------------

    cdef int accumulate(self, Py_ssize_t guest) except -1 nogil:
        """One pass over the rows: everything a Newton step needs, at the current weights.

        `guest`, a column about to enter (or -1), is summed as if it were active, so that its entry costs no pass of its own.
        """
        cdef Py_ssize_t start = 0
        cdef int rows
        self.passes += 1
        self.guest = guest
        self.vectors = padded(2 + self.n_active + (guest >= 0))
        memset(&self.sums[0, 0], 0, self.sums.shape[0] * self.sums.shape[1] * sizeof(double))
        self.sum_r = 0.0
        self.sum_h = 0.0
        while start < self.n:
            rows = <int> min(self.n - start, <Py_ssize_t> ROWS_PER_BLOCK)
            self.accumulate_block(start, rows)
            start += rows
            ask_for_signals(&self.work, <double> rows * self.d * self.vectors)
        return 0

    cdef void accumulate_block(self, Py_ssize_t start, int rows) noexcept nogil:
        cdef double *eta = &self.block[0, 0]
        cdef double *r = &self.block[1, 0]
        cdef double *h = &self.block[2, 0]
        cdef int a, i
        cdef Py_ssize_t j
        for i in range(rows):
            eta[i] = self.intercept
        for a in range(self.n_active):
            if self.w[a] != 0.0:
                add_scaled(eta, &self.X[start, self.active[a]], self.w[a], rows)
        logistic_derivatives(eta, &self.y[start], &self.c[start], r, h, rows)
        for a in range(self.n_active):
            multiply(&self.block[3 + a, 0], h, &self.X[start, self.active[a]], rows)
        if self.guest >= 0:
            multiply(&self.block[3 + self.n_active, 0], h, &self.X[start, self.guest], rows)
        self.sum_r += sum_of(r, rows)
        self.sum_h += sum_of(h, rows)
        for j in range(0, self.d - 1, 2):
            add_products(&self.sums[j, 0], &self.sums[j + 1, 0], &self.X[start, j], &self.X[start, j + 1], r, self.vectors, rows)
        if self.d % 2 == 1:
            j = self.d - 1
            add_products(&self.sums[j, 0], &self.spare[0], &self.X[start, j], &self.X[start, j], r, self.vectors, rows)

    cdef inline double gradient(self, Py_ssize_t j) noexcept nogil:
        """g_j once the intercept has made its own Newton step."""
        return self.sums[j, 0] - self.sums[j, 1] * self.sum_r / self.sum_h

    cdef inline double gram(self, Py_ssize_t j, int a) noexcept nogil:
        """Centred Gram entry between column j and the a-th active column."""
        return self.sums[j, 2 + a] - self.sums[j, 1] * self.sums[self.active[a], 1] / self.sum_h

    cdef inline double column_size(self, int a) noexcept nogil:
        """Root mean square of an active column: what one unit of its weight does to eta, and one unit of sum(r) to its gradient."""
        return sqrt(self.sums[self.active[a], 2 + a] / self.sum_h)

    # ---- one Newton step ------------------------------------------------------------------------------------------

    cdef bint factorise(self) noexcept nogil:
        """Cholesky of the centred G_AA; False if its last column adds no direction."""
        cdef int i, j
        for i in range(self.n_active):
            for j in range(i + 1):
                self.factor[i, j] = self.gram(self.active[i], j)
        return decompose(self.factor, self.n_active, COLLINEAR)

    cdef void direction(self) noexcept nogil:
        """The linearised solution as a line in alpha: dw = u - alpha v."""
        cdef int a
        for a in range(self.n_active):
            self.u[a] = -self.gradient(self.active[a])
            self.v[a] = self.sign[a]
        solve(self.factor, self.u, self.n_active)
        solve(self.factor, self.v, self.n_active)

    cdef double next_entry(self, Py_ssize_t *index) noexcept nogil:
        """Largest alpha at which the linearised gradient a - alpha b of an inactive column meets +-alpha."""
        cdef Py_ssize_t j
        cdef int a, side
        cdef double at, slope, entry, root, best = 0.0
        for j in range(self.d):
            if self.is_active[j] or self.barred[j]:
                continue
            at = self.gradient(j)
            slope = 0.0
            for a in range(self.n_active):
                entry = self.gram(j, a)
                at += entry * self.u[a]
                slope += entry * self.v[a]
            for side in range(2):
                if side == 1:
                    at, slope = -at, -slope
                # alpha (1 + slope) - at is the room left below the bound; only if it shrinks with alpha can the column enter.
                if at > 0.0 and 1.0 + slope > 0.0:
                    root = min(at / (1.0 + slope), self.alpha_start)
                    # What has just left sits on its bound, and rounding must not take it straight back.
                    if root > best and not (j == self.just_dropped and root > self.alpha_start * (1.0 - MISSED)):
                        best = root
                        index[0] = j
        return best

    cdef double next_exit(self, Py_ssize_t *index) noexcept nogil:
        """Largest alpha at which the weight of an active column falls to zero."""
        cdef int a
        cdef double root, best = 0.0
        for a in range(self.n_active):
            if self.n_active > 1 and self.sign[a] * self.v[a] < 0.0:
                root = min((self.w[a] + self.u[a]) / self.v[a], self.alpha_start)
                if root > best:
                    best = root
                    index[0] = a
        return best

    cdef bint step_to(self, double alpha) noexcept nogil:
        """Go along the line; True if all the way, False if the step was shortened to keep eta where the line means something."""
        cdef int a
        cdef double reach, shift = self.sum_r, share = 1.0
        for a in range(self.n_active):
            shift += self.sums[self.active[a], 1] * (self.u[a] - alpha * self.v[a])
        reach = fabs(shift / self.sum_h)
        for a in range(self.n_active):
            reach += fabs(self.u[a] - alpha * self.v[a]) * self.largest[a]
        if reach > LONGEST_REACH:
            share = LONGEST_REACH / reach
        for a in range(self.n_active):
            self.w[a] += share * (self.u[a] - alpha * self.v[a])
        self.intercept -= share * shift / self.sum_h
        self.alpha += share * (alpha - self.alpha)
        if share == 1.0:
            self.alpha = alpha
        return share == 1.0

    # ---- optimality -----------------------------------------------------------------------------------------------

    cdef double residual(self, Event event, Py_ssize_t index) noexcept nogil:
        """How far intercept, active columns and the one that is to enter are from their optimality conditions."""
        cdef int a
        cdef double worst = 0.0
        for a in range(self.n_active):
            worst = max(worst, fabs(self.sums[self.active[a], 0] + self.alpha * self.sign[a]))
            worst = max(worst, fabs(self.sum_r) * self.column_size(a))
        if event == ENTER:
            worst = max(worst, fabs(fabs(self.sums[index, 0]) - self.alpha))
        return worst

    cdef bint is_on_path(self, Event event, Py_ssize_t index) noexcept nogil:
        """Whether no event was passed over: no inactive gradient above alpha, no weight across zero."""
        cdef Py_ssize_t j
        cdef int a
        for a in range(self.n_active):
            if self.sign[a] * self.w[a] * self.column_size(a) < -TOLERANCE and not (event == LEAVE and a == index):
                return False
        for j in range(self.d):
            if not self.is_active[j] and fabs(self.sums[j, 0]) > self.alpha * (1.0 + MISSED * (5.0 if self.barred[j] else 1.0)):
                return False
        return True

    # ---- events ---------------------------------------------------------------------------------------------------

    cdef void enter(self, Py_ssize_t j) noexcept nogil:
        cdef Py_ssize_t i
        self.active[self.n_active] = j
        self.sign[self.n_active] = -1.0 if self.sums[j, 0] > 0.0 else 1.0
        self.w[self.n_active] = 0.0
        self.largest[self.n_active] = 0.0
        for i in range(self.n):
            self.largest[self.n_active] = max(self.largest[self.n_active], fabs(self.X[i, j]))
        self.n_active += 1
        self.is_active[j] = 1
        self.just_dropped = -1
        self.sums_are_current = self.guest == j
        self.alpha_entered = self.alpha

    cdef void leave(self, int a) noexcept nogil:
        cdef int k
        self.is_active[self.active[a]] = 0
        self.just_dropped = self.active[a]
        self.n_active -= 1
        for k in range(a, self.n_active):
            self.active[k] = self.active[k + 1]
            self.sign[k] = self.sign[k + 1]
            self.w[k] = self.w[k + 1]
            self.largest[k] = self.largest[k + 1]
        self.barred[:] = 0
        self.sums_are_current = False

    cdef void bar_last(self) noexcept nogil:
        """The newest column repeats the others: it could only share their weight, so it waits until one of them leaves."""
        self.n_active -= 1
        self.is_active[self.active[self.n_active]] = 0
        self.barred[self.active[self.n_active]] = 1

    cdef void record(self, bint at_floor) noexcept nogil:
        cdef int a, s = self.n_active - 1
        if s < 0:
            return
        for a in range(self.n_active):
            if self.sign[a] * self.w[a] * self.column_size(a) <= TOLERANCE:
                return
        self.level_weights[s, :] = 0.0
        for a in range(self.n_active):
            self.level_weights[s, self.active[a]] = self.w[a]
        self.level_intercept[s] = self.intercept
        self.level_alpha[s] = self.alpha
        self.level_found[s] = 1
        self.level_at_floor[s] = at_floor

    cdef void save(self) noexcept nogil:
        self.saved_w[:] = self.w
        self.saved_intercept = self.intercept
        self.alpha_start = self.alpha

    cdef void restore(self) noexcept nogil:
        self.w[:] = self.saved_w
        self.intercept = self.saved_intercept
        self.alpha = self.alpha_start
        self.sums_are_current = False

    cdef Event choose(self, double waypoint, Py_ssize_t *index, double *alpha) noexcept nogil:
        """What comes first as alpha falls from the last point known to be on the path."""
        cdef Py_ssize_t entering = -1, leaving = -1
        cdef double entry = self.next_entry(&entering)
        cdef double exit = self.next_exit(&leaving)
        cdef Event event
        if max(entry, exit) > 0.0 and max(entry, exit) >= max(waypoint, self.alpha_floor):
            event = ENTER if entry >= exit else LEAVE
            index[0] = entering if event == ENTER else leaving
            alpha[0] = max(entry, exit)
        else:
            event = WAYPOINT if waypoint > self.alpha_floor else BOTTOM
            alpha[0] = max(waypoint, self.alpha_floor)
        return event

    cdef int seek(self, double waypoint, Py_ssize_t *index) except -1 nogil:
        """Newton with alpha as one more unknown, until the next event is met exactly; NONE if it did not settle."""
        cdef Event event = NONE
        cdef double alpha = self.alpha
        cdef double worst, best = 1e300
        cdef int i, since_best = 0
        for i in range(MAX_NEWTON):
            if not (i == 0 and self.sums_are_current):
                self.accumulate(index[0] if event == ENTER else -1)
            if not self.sum_h > 0.0:
                return NONE
            worst = self.residual(event, index[0]) / self.alpha
            if event != NONE:
                since_best = 0 if worst < 0.5 * best else since_best + 1
                best = min(best, worst)
                if worst <= TOLERANCE or (since_best > 3 and worst <= 1000.0 * TOLERANCE):
                    # Rounding may set a limit above the tolerance: then the best that can be had is good enough.
                    return event if self.is_on_path(event, index[0]) else NONE
                if since_best > 6:
                    return NONE
            if not self.factorise():
                if self.w[self.n_active - 1] != 0.0:
                    return NONE
                self.bar_last()
                continue
            self.direction()
            event = self.choose(waypoint, index, &alpha)
            if not self.step_to(alpha):
                event = NONE
        return NONE

    cdef int follow(self) except -1 nogil:
        cdef double stride = BOLDEST_STRIDE
        cdef Py_ssize_t index = -1
        cdef int i, event
        for i in range(MAX_SEEKS_PER_LEVEL * self.max_active):
            self.save()
            event = self.seek(self.alpha * stride, &index)
            if event == NONE:
                if stride > SHORTEST_STRIDE:
                    return STALLED
                self.restore()
                stride = sqrt(stride)
                continue
            stride = max(BOLDEST_STRIDE, stride * stride)
            if event == BOTTOM:
                self.record(True)
                return FLOOR
            if event == LEAVE:
                self.leave(<int> index)
            elif event == ENTER:
                if self.alpha < self.alpha_entered * (1.0 - SAME_ALPHA):
                    self.record(False)
                if self.n_active == self.max_support:
                    return COMPLETE
                self.enter(index)
            else:
                self.sums_are_current = True
        return STALLED

    cdef void reset(self) noexcept nogil:
        self.n_active, self.passes, self.just_dropped, self.sums_are_current = 0, 0, -1, False
        self.is_active[:] = 0
        self.barred[:] = 0
        self.level_found[:] = 0

    cdef int start_and_follow(self) except -1 nogil:
        """Start from the constant and the column with the largest gradient there."""
        cdef double positive = 0.0, negative = 0.0, size = 0.0
        cdef Py_ssize_t i, j, first = 0
        for i in range(self.n):
            positive += self.c[i] * self.y[i]
            negative += self.c[i] * (1.0 - self.y[i])
        self.intercept = log(positive / negative)
        self.accumulate(-1)
        for j in range(self.d):
            if fabs(self.gradient(j)) > fabs(self.gradient(first)):
                first = j
        self.alpha_max = self.alpha = fabs(self.gradient(first))
        for i in range(self.n):
            size += fabs(self.X[i, first]) * self.c[i]
        if not self.alpha_max > 1e-12 * size:
            return NO_SIGNAL
        self.alpha_floor = self.floor_ratio * self.alpha_max
        if self.alpha_floor < DBL_MIN:
            return STALLED
        self.enter(first)
        return self.follow()

    def run(self):
        """Follow the path and return the name of the reason for which it ended."""
        cdef int status
        if self.is_running:
            raise RuntimeError("This path is being followed already, in another thread.")
        self.is_running = True
        try:
            with nogil:
                self.reset()
                status = self.start_and_follow()
        finally:
            self.is_running = False
        return ("complete", "floor", "no signal", "stalled")[status]

    def levels(self):
        """For s = 1, 2, ...: (weights, intercept, alpha, at_floor), or None where no solution has s non-zeros."""
        return [
            (np.array(self.level_weights[s]), self.level_intercept[s], self.level_alpha[s], bool(self.level_at_floor[s]))
            if self.level_found[s] else None
            for s in range(self.max_support)
        ]

    @property
    def largest_alpha(self):
        return self.alpha_max


cdef inline int padded(int vectors) noexcept nogil:
    return (vectors + LANES - 1) // LANES * LANES
