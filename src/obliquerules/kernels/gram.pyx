# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Weighted sums over the rows of a narrow matrix, in one fixed order whatever the number of threads."""

import numpy as np


def weighted_gram(const double[:, ::1] design, const double[::1] weight):
    """Return design' diag(weight) design."""
    cdef Py_ssize_t n = design.shape[0], m = design.shape[1], row, i, j
    cdef double[:, ::1] gram = np.zeros((m, m))
    cdef double scaled
    with nogil:
        for row in range(n):
            for i in range(m):
                scaled = weight[row] * design[row, i]
                if scaled != 0.0:
                    for j in range(i + 1):
                        gram[i, j] += scaled * design[row, j]
        for i in range(m):
            for j in range(i):
                gram[j, i] = gram[i, j]
    return np.asarray(gram)


def weighted_sums(const double[:, ::1] design, const double[::1] weight):
    """Return design' weight."""
    cdef Py_ssize_t n = design.shape[0], m = design.shape[1], row, i
    cdef double[::1] sums = np.zeros(m)
    with nogil:
        for row in range(n):
            for i in range(m):
                sums[i] += weight[row] * design[row, i]
    return np.asarray(sums)
