# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Axis-parallel rules: the best cut of every column, and the best conjunction of cuts by branch and bound."""

from libc.math cimport INFINITY, fmax, fmin, sqrt
from libc.stdint cimport uint64_t

from time import perf_counter

import numpy as np

include "signals.pxi"

cdef double SAME = 1e-9          # relative: values that differ by less are equal, and of equals the shorter rule is taken
cdef double NOTHING_LEFT = 1e-6  # of the size of a rule: with less than this left, the ensemble has the rule already
cdef enum:
    PULL = 0
    MASS = 1
    BASIS = 2


# ---- doors -----------------------------------------------------------------------------------------------------------

ctypedef fused Index:
    int
    Py_ssize_t


cdef bint are_below(const Index[::1] indices, Py_ssize_t limit) noexcept nogil:
    """Whether all are from 0 to below the limit. No early end: so the compiler can look at several at once."""
    cdef Py_ssize_t i
    cdef bint below = True
    for i in range(indices.shape[0]):
        below &= (indices[i] >= 0) & (indices[i] < limit)
    return below


cdef int check_columns(
    const int[:, ::1] order, const int[:, ::1] group, DirectedObjective objective, const uint64_t[::1] keys
) except -1:
    """Raise unless all have the same rows, and orders and groups are numbers of rows."""
    cdef Py_ssize_t j, n = order.shape[1]
    if group.shape[0] != order.shape[0] or group.shape[1] != n:
        raise ValueError("order and group must have the same shape.")
    if objective.n != n or keys.shape[0] != n:
        raise ValueError(f"objective and keys must have one entry for each of the {n} rows.")
    for j in range(order.shape[0]):
        if not (are_below[int](order[j], n) and are_below[int](group[j], n)):
            raise ValueError(f"order and group must hold numbers from 0 to below {n}, the number of rows.")
    return 0


# ---- the objective -------------------------------------------------------------------------------------------------------

cdef class DirectedObjective:
    """value(q) = pull.q / sqrt(offset + mass.q - |sum_i q_i mass_i basis_i|^2), basis_i belonging to the pattern of row i.

    Zero if pull.q is not positive, or if nothing is left of the size of q.
    """

    cdef const double[::1] pull, mass
    cdef const double[:, ::1] basis
    cdef const Py_ssize_t[::1] pattern
    cdef double offset
    cdef Py_ssize_t n, m
    cdef bint plain

    def __cinit__(
        self,
        const double[::1] pull not None,
        const double[::1] mass not None,
        double offset,
        const double[:, ::1] basis not None,
        const Py_ssize_t[::1] pattern not None,
        bint plain,
    ):
        self.pull, self.mass, self.offset, self.basis, self.pattern, self.plain = pull, mass, offset, basis, pattern, plain
        self.n, self.m = pull.shape[0], basis.shape[1]
        if mass.shape[0] != self.n or pattern.shape[0] != self.n:
            raise ValueError("pull, mass and pattern must have the same number of rows.")
        if not are_below(pattern, basis.shape[0]):
            raise ValueError(f"pattern must hold rows of the basis, of which there are {basis.shape[0]}.")

    cdef inline void add(self, Py_ssize_t row, double *sums) noexcept nogil:
        cdef Py_ssize_t k
        cdef const double *direction
        sums[PULL] += self.pull[row]
        if not self.plain:
            sums[MASS] += self.mass[row]
            if self.m > 0:
                direction = &self.basis[self.pattern[row], 0]
                for k in range(self.m):
                    sums[BASIS + k] += self.mass[row] * direction[k]

    cdef inline double value(self, const double *sums) noexcept nogil:
        cdef Py_ssize_t k
        cdef double size = self.offset + sums[MASS], left = size
        if not sums[PULL] > 0.0:
            return 0.0
        if self.plain:
            return sums[PULL]
        for k in range(self.m):
            left -= sums[BASIS + k] * sums[BASIS + k]
        return sums[PULL] / sqrt(left) if left > NOTHING_LEFT * size else 0.0

    cdef inline double value_of_rest(self, const double *total, const double *sums) noexcept nogil:
        """Return the value of the rows that are in the total but not in the sums."""
        cdef Py_ssize_t k
        cdef double pull = total[PULL] - sums[PULL], size = self.offset + (total[MASS] - sums[MASS]), left = size, shared
        if not pull > 0.0:
            return 0.0
        if self.plain:
            return pull
        for k in range(self.m):
            shared = total[BASIS + k] - sums[BASIS + k]
            left -= shared * shared
        return pull / sqrt(left) if left > NOTHING_LEFT * size else 0.0


cdef inline bint is_among(uint64_t key, const uint64_t[::1] taken) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(taken.shape[0]):
        if taken[i] == key:
            return True
    return False


# ---- one cut -------------------------------------------------------------------------------------------------------------

def best_cuts(
    const int[:, ::1] order not None,
    const int[:, ::1] group not None,
    DirectedObjective objective not None,
    const unsigned char[::1] covers not None,
    const uint64_t[::1] keys not None,
    const uint64_t[::1] taken not None,
):
    """Return for each column the best value of a cut, the groups above and below it, and whether the rows above are meant.

    ``order`` has the rows of each column by descending value and ``group`` the numbers of their groups, in that order; rows of
    a group cannot be told apart. One pass over each column; of equal values the first cut counts, and its upper side. A set of
    rows is known by the sum of their keys; those that are taken are passed over.
    """
    cdef Py_ssize_t i, j, row, d = order.shape[0], n = order.shape[1], length = BASIS + objective.m
    cdef int last
    cdef double value, work = 0.0
    cdef uint64_t key, all_keys = 0
    check_columns(order, group, objective, keys)
    if covers.shape[0] != n:
        raise ValueError(f"covers must have one entry for each of the {n} rows.")
    values = np.zeros(d)
    groups = np.zeros((d, 2), dtype=np.intc)
    is_above = np.zeros(d, dtype=np.bool_)
    cdef double[::1] best = values, total = np.zeros(length), above = np.zeros(length)
    cdef int[:, ::1] between = groups
    cdef unsigned char[::1] upper = is_above.view(np.uint8)
    with nogil:
        for row in range(n):
            if covers[row]:
                objective.add(row, &total[0])
                all_keys += keys[row]
        for j in range(d):
            above[:] = 0.0
            last = -1
            key = 0
            for i in range(n):
                row = order[j, i]
                if not covers[row]:
                    continue
                if last >= 0 and group[j, i] != last:
                    value = objective.value(&above[0])
                    if value > best[j] and not is_among(key, taken):
                        best[j], between[j, 0], between[j, 1], upper[j] = value, last, group[j, i], True
                    value = objective.value_of_rest(&total[0], &above[0])
                    if value > best[j] and not is_among(all_keys - key, taken):
                        best[j], between[j, 0], between[j, 1], upper[j] = value, last, group[j, i], False
                objective.add(row, &above[0])
                key += keys[row]
                last = group[j, i]
            ask_for_signals(&work, <double> n * (10 + objective.m))
    return values, groups, is_above


# ---- conjunctions --------------------------------------------------------------------------------------------------------

cdef class RuleSearch:
    """Depth-first branch and bound over conjunctions of cuts, each of the 2 d kinds (column and side) at most once.

    A conjunction is met in one order of its kinds only. The rows of a node bound all its descendants, as they cover a subset:
    the bound of a subset is never larger, so that along one kind, from the weakest cut to the strongest, the first node that
    cannot win ends the kind.

    The bound is the largest value over *all* subsets of the rows. Without a basis that is exact: the best subset is a prefix of
    the rows by descending pull / mass or, where the size does not matter, all rows with a positive pull. With a basis it is the smaller of two that are not, see `bound`.

    Parameters
    ----------
    order, group : as for `best_cuts`
    objective : DirectedObjective
    ranking : the rows by descending pull / mass
    between : with a basis, the square of a bound on the value of rules that cover any parts of whole patterns
    keys, taken : as for `best_cuts`
    """

    cdef const int[:, ::1] order, group
    cdef DirectedObjective objective
    cdef const Py_ssize_t[::1] ranking
    cdef const uint64_t[::1] keys, taken
    cdef Py_ssize_t n, d, n_patterns
    cdef double between
    # of each pattern: its mass, and its pull per mass
    cdef double[::1] pattern_mass, pattern_pull
    # for each depth: rows inside, rows in the order of a kind, and sums
    cdef unsigned char[:, ::1] inside
    cdef int[:, ::1] members, member_group
    cdef double[:, ::1] sums
    cdef double[::1] mass_inside, pull_inside, best_inside
    cdef double[:, ::1] gram
    # the way to the present node and to the best one: kind, last group inside, first group outside
    cdef int[:, ::1] way, best_way
    cdef Py_ssize_t limit, best_length, nodes, max_nodes
    cdef double best, deadline
    cdef bint stopped, is_running
    cdef double work

    def __cinit__(
        self,
        const int[:, ::1] order not None,
        const int[:, ::1] group not None,
        DirectedObjective objective not None,
        const Py_ssize_t[::1] ranking not None,
        double between,
        const uint64_t[::1] keys not None,
        const uint64_t[::1] taken not None,
    ):
        cdef Py_ssize_t row, p
        check_columns(order, group, objective, keys)
        if ranking.shape[0] != order.shape[1] or not are_below(ranking, order.shape[1]):
            raise ValueError(f"ranking must hold each of the {order.shape[1]} rows.")
        self.order, self.group, self.objective, self.ranking, self.between = order, group, objective, ranking, between
        self.keys, self.taken = keys, taken
        self.d, self.n, self.n_patterns = order.shape[0], order.shape[1], objective.basis.shape[0]
        self.pattern_mass, self.pattern_pull, self.mass_inside, self.pull_inside, self.best_inside = np.zeros(
            (5, self.n_patterns)
        )
        self.gram = np.zeros((objective.m, objective.m))
        for row in range(self.n):
            self.pattern_mass[objective.pattern[row]] += objective.mass[row]
            self.pattern_pull[objective.pattern[row]] += objective.pull[row]
        for p in range(self.n_patterns):
            if self.pattern_mass[p] > 0.0:
                self.pattern_pull[p] /= self.pattern_mass[p]

    def run(self, Py_ssize_t limit, double best, Py_ssize_t max_nodes, double deadline):
        """Look for a conjunction of at most ``limit`` cuts that is better than ``best``.

        Returns its kinds and groups or None, the number of nodes that were looked at, and whether the search came to its end.
        """
        if limit < 1:
            raise ValueError(f"limit must be at least 1; got {limit}.")
        if self.is_running:
            raise RuntimeError("This search is running already, in another thread.")
        self.is_running = True
        try:
            self.prepare(min(limit, max(1, 2 * self.d)), best, max_nodes, deadline)
            with nogil:
                self.expand(0, 0)
        finally:
            self.is_running = False
        found = np.asarray(self.best_way)[: self.best_length].tolist() if self.best_length else None
        return found, self.nodes, not self.stopped

    cdef int prepare(self, Py_ssize_t limit, double best, Py_ssize_t max_nodes, double deadline) except -1:
        """Make room for conjunctions of up to `limit` cuts; none has more cuts than there are kinds."""
        self.limit, self.best, self.max_nodes, self.deadline = limit, best, max_nodes, deadline
        self.nodes, self.best_length, self.stopped = 0, 0, perf_counter() >= deadline
        self.inside = np.ones((limit, self.n), dtype=np.uint8)
        self.members = np.zeros((limit, self.n), dtype=np.intc)
        self.member_group = np.zeros((limit, self.n), dtype=np.intc)
        self.sums = np.zeros((limit, BASIS + self.objective.m))
        self.way = np.zeros((limit, 3), dtype=np.intc)
        self.best_way = np.zeros((limit, 3), dtype=np.intc)
        return 0

    cdef int look_up(self, double done) except -1 nogil:
        """Add up what was done and, once it is enough, ask for signals and the time."""
        self.work += done
        if self.work >= WORK_BETWEEN_QUESTIONS:
            with gil:
                self.stopped |= perf_counter() >= self.deadline
            ask_for_signals(&self.work, 0.0)
        return 0

    cdef int expand(self, Py_ssize_t depth, Py_ssize_t first_kind) except -1 nogil:
        """Look at all children of a node, and go down to those that may have better descendants."""
        cdef Py_ssize_t kind
        if self.stopped or self.nodes >= self.max_nodes:
            self.stopped = True
            return 0
        self.nodes += 1
        for kind in range(first_kind, 2 * self.d):
            self.judge_children(depth, kind)
            if depth + 1 < self.limit and kind + 1 < 2 * self.d:
                self.descend(depth, kind)
            if self.stopped:
                break
        return 0

    cdef int judge_children(self, Py_ssize_t depth, Py_ssize_t kind) except -1 nogil:
        """List the rows of the node in the order of the kind, and take note of the best child."""
        cdef Py_ssize_t i, row, place, count = 0, column = kind // 2
        cdef double value
        cdef uint64_t key = 0
        self.sums[depth, :] = 0.0
        for i in range(self.n):
            place = i if kind % 2 == 0 else self.n - 1 - i
            row = self.order[column, place]
            if not self.inside[depth, row]:
                continue
            if count > 0 and self.group[column, place] != self.member_group[depth, count - 1]:
                value = self.objective.value(&self.sums[depth, 0])
                if value > self.best * (1.0 + SAME) and not is_among(key, self.taken):
                    self.best = value
                    self.step(depth, kind, self.member_group[depth, count - 1], self.group[column, place])
                    self.best_way[: depth + 1] = self.way[: depth + 1]
                    self.best_length = depth + 1
            self.objective.add(row, &self.sums[depth, 0])
            key += self.keys[row]
            self.members[depth, count] = <int> row
            self.member_group[depth, count] = self.group[column, place]
            count += 1
        return self.look_up(<double> self.n * (10 + self.objective.m))

    cdef int descend(self, Py_ssize_t depth, Py_ssize_t kind) except -1 nogil:
        """Expand the children of one kind, the weakest cut first, as long as the bound allows."""
        cdef Py_ssize_t i, count = 0
        self.inside[depth + 1, :] = self.inside[depth, :]
        for i in range(self.n):
            count += self.inside[depth, i]
        for i in range(count - 1, 0, -1):
            self.inside[depth + 1, self.members[depth, i]] = False
            if self.member_group[depth, i] == self.member_group[depth, i - 1]:
                continue
            if not self.bound(depth + 1) > self.best * (1.0 + SAME):
                return 0
            self.step(depth, kind, self.member_group[depth, i - 1], self.member_group[depth, i])
            self.expand(depth + 1, kind + 1)
            self.look_up(<double> self.n * 10)
            if self.stopped:
                return 0
        return 0

    cdef inline void step(self, Py_ssize_t depth, Py_ssize_t kind, int last, int first) noexcept nogil:
        self.way[depth, 0], self.way[depth, 1], self.way[depth, 2] = <int> kind, last, first

    cdef double bound(self, Py_ssize_t depth) except? -1.0 nogil:
        """Return a value that no subset of the rows inside exceeds."""
        if self.objective.plain:
            return self.positive_pull(depth)
        if self.objective.m > 0:
            return self.bound_with_basis(depth)
        cdef Py_ssize_t i, row
        cdef double pull = 0.0, size = self.objective.offset, most = 0.0
        for i in range(self.n):
            row = self.ranking[i]
            if not self.objective.pull[row] > 0.0:
                break
            if self.inside[depth, row]:
                pull += self.objective.pull[row]
                size += self.objective.mass[row]
                if size <= 0.0:
                    return INFINITY
                if pull * pull > most * size:
                    most = pull * pull / size
        return sqrt(most)

    cdef double positive_pull(self, Py_ssize_t depth) noexcept nogil:
        """Return what the rows inside with a positive pull add up to, the best where the size does not matter."""
        cdef Py_ssize_t i
        cdef double pull = 0.0
        for i in range(self.n):
            if self.inside[depth, i]:
                pull += fmax(self.objective.pull[i], 0.0)
        return pull

    cdef double bound_with_basis(self, Py_ssize_t depth) except? -1.0 nogil:
        """Return the smaller of two bounds.

        First, split q into what is constant on each pattern and the rest. The pull is the sum of what the parts pull, and the
        size is at least the sum of their sizes; so, by Cauchy and Schwarz, the square of the value is at most the sum of the
        squares of the best values of each part: ``between``, and within each pattern that of a prefix.
        Second, the size is at least (1 - r) (offset + mass.q), r being the largest eigenvalue of the Gram matrix of the basis on
        the rows inside, which its Frobenius norm exceeds.
        """
        cdef Py_ssize_t i, row, p
        cdef double pull = 0.0, mass = 0.0, most = 0.0, within = self.between, left
        self.mass_inside[:] = 0.0
        self.pull_inside[:] = 0.0
        self.best_inside[:] = 0.0
        for i in range(self.n):
            row = self.ranking[i]
            if not self.inside[depth, row]:
                continue
            p = self.objective.pattern[row]
            if not self.objective.mass[row] > 0.0:
                if self.objective.pull[row] > 0.0:
                    return INFINITY
                continue
            mass += self.objective.mass[row]
            pull += self.objective.pull[row]
            if pull > 0.0 and pull * pull > most * (self.objective.offset + mass):
                most = pull * pull / (self.objective.offset + mass)
            self.mass_inside[p] += self.objective.mass[row]
            self.pull_inside[p] += self.objective.pull[row] - self.pattern_pull[p] * self.objective.mass[row]
            left = self.mass_inside[p] * (1.0 - self.mass_inside[p] / self.pattern_mass[p])
            if left > 1e-12 * self.mass_inside[p] and self.pull_inside[p] > 0.0:
                if self.pull_inside[p] * self.pull_inside[p] > self.best_inside[p] * left:
                    self.best_inside[p] = self.pull_inside[p] * self.pull_inside[p] / left
        for p in range(self.n_patterns):
            within += self.best_inside[p]
        left = 1.0 - self.overlap()
        return sqrt(fmin(within, most / left)) if left > 0.0 else sqrt(within)

    cdef double overlap(self) noexcept nogil:
        """Return the Frobenius norm of the Gram matrix of the basis, with the mass inside as weights."""
        cdef Py_ssize_t p, j, k
        cdef double scaled, total = 0.0
        self.gram[:, :] = 0.0
        for p in range(self.n_patterns):
            for j in range(self.objective.m):
                scaled = self.mass_inside[p] * self.objective.basis[p, j]
                for k in range(j + 1):
                    self.gram[j, k] += scaled * self.objective.basis[p, k]
        for j in range(self.objective.m):
            for k in range(j + 1):
                total += (1.0 if j == k else 2.0) * self.gram[j, k] * self.gram[j, k]
        return sqrt(total)
