# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Weighted sums of columns, the gap between them in which a threshold lies, and the degree to which rows reach one."""

from libc.math cimport INFINITY, sqrt

import numpy as np

include "row_block.pxi"


def project(const double[::1, :] X not None, columns, weights):
    """Return for each row the sum of products weight * value, added from left to right."""
    cdef Py_ssize_t i, n = X.shape[0], column
    cdef double[::1] total = np.empty(n)
    cdef const double *values
    cdef double weight
    cdef bint is_first = True
    if len(columns) == 0 or len(columns) != len(weights):
        raise ValueError(f"There must be one weight for each of one or more columns; got {len(weights)} weights.")
    for column, weight in zip(columns, weights):
        if not 0 <= column < X.shape[1]:
            raise ValueError(f"There must be a column {column}; X has {X.shape[1]} columns.")
        if n == 0:
            continue
        values = &X[0, column]
        if is_first:
            for i in range(n):
                total[i] = weight * values[i]
        else:
            for i in range(n):
                total[i] = total[i] + weight * values[i]
        is_first = False
    return np.asarray(total)


def neighbours(const double[:] values not None, double threshold):
    """Return the largest value below a threshold and the least that reaches it, infinite if there is none; NaN is no value."""
    cdef Py_ssize_t i
    cdef double lower = -INFINITY, upper = INFINITY
    with nogil:
        for i in range(values.shape[0]):
            if values[i] >= threshold:
                upper = values[i] if values[i] < upper else upper
            elif values[i] > lower:
                lower = values[i]
    return lower, upper


def standard_deviation(const double[::1] values not None):
    """Return the standard deviation of the values that are not missing, 0 if there is none."""
    cdef Py_ssize_t i, count = 0
    cdef double mean = 0.0, total = 0.0, square = 0.0
    with nogil:
        for i in range(values.shape[0]):
            if values[i] == values[i]:
                total += values[i]
                count += 1
        mean = total / count if count else 0.0
        for i in range(values.shape[0]):
            if values[i] == values[i]:
                square += (values[i] - mean) * (values[i] - mean)
    return sqrt(square / count) if count else 0.0


def sums_by_place(
    const Py_ssize_t[:, ::1] place not None,
    const double[:, ::1] values not None,
    const double[:, ::1] numbers not None,
    Py_ssize_t n_places,
):
    """Return sums over the rows at each place of a column: of numbers, and of numbers times the values of the column.

    ``place`` and ``values`` have a line for each column, ``numbers`` one for each quantity, with an entry for each row. The
    sums have shape (2, n_quantities, n_columns, n_places).
    """
    cdef Py_ssize_t i, j, k, at, n = numbers.shape[1]
    cdef double[:, :, :, ::1] sums = np.zeros((2, numbers.shape[0], place.shape[0], n_places))
    if not (place.shape[0] == values.shape[0] and place.shape[1] == values.shape[1] == n):
        raise ValueError("All arrays must have the same number of rows, and as many columns.")
    with nogil:
        for j in range(place.shape[0]):
            for i in range(n):
                at = place[j, i]
                if not 0 <= at < n_places:
                    with gil:
                        raise ValueError(f"Places must be numbers from 0 to {n_places - 1}; got {at}.")
                for k in range(numbers.shape[0]):
                    sums[0, k, j, at] += numbers[k, i]
                    sums[1, k, j, at] += numbers[k, i] * values[j, i]
    return np.asarray(sums)


def degrees(const double[::1] values not None, double threshold, double sharpness, double missing):
    """Return sigmoid(sharpness (value - threshold)), or what is given where a value is missing."""
    cdef Py_ssize_t i, begin, n = values.shape[0]
    cdef int rows
    cdef double[ROWS_PER_BLOCK] above
    cdef double[::1] found = np.empty(n)
    with nogil:
        for begin from 0 <= begin < n by ROWS_PER_BLOCK:
            rows = <int> min(<Py_ssize_t> ROWS_PER_BLOCK, n - begin)
            for i in range(rows):
                above[i] = values[begin + i] - threshold
            sigmoids(&found[begin], above, sharpness, missing, rows)
    return np.asarray(found)


def best_cut(const double[::1] values not None, const Py_ssize_t[::1] order not None, const double[::1] pull not None, double apart):
    """Return where the sum of pull over the rows before a cut is largest, and that sum; rows come in descending ``order``.

    Cuts lie between neighbours that are more than ``apart`` from each other. The third number says whether all others are equal:
    only then are these all the cuts there are.
    """
    cdef Py_ssize_t i, best = -1, n = order.shape[0]
    cdef double total = 0.0, most = -INFINITY, width
    cdef bint is_clear = True
    if values.shape[0] != pull.shape[0] or n != pull.shape[0]:
        raise ValueError("All arrays must have the same number of rows.")
    with nogil:
        for i in range(n):
            if not 0 <= order[i] < n:
                with gil:
                    raise ValueError("The order must name rows that there are.")
        for i in range(n - 1):
            total += pull[order[i]]
            width = values[order[i]] - values[order[i + 1]]
            if width > apart:
                if total > most:
                    most, best = total, i
            elif width != 0.0:
                is_clear = False
    return best, most, is_clear
