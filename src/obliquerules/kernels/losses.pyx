# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""The formulas of the losses, row by row; the arithmetic behind `losses`."""

from libc.math cimport log

import numpy as np

include "losses.pxi"
include "row_block.pxi"

# The gamma loss is the Tweedie loss of power 2.
FAMILIES = {"squared": SQUARED, "logistic": LOGISTIC, "poisson": POISSON, "tweedie": TWEEDIE}


def value(int family, const double[::1] y not None, const double[::1] score not None, double power=0.0):
    """Return the loss of each score."""
    cdef double[::1] out = room(family, power, y, score)
    cdef Py_ssize_t i
    with nogil:
        for i in range(out.shape[0]):
            out[i] = loss_value(family, power, y[i], score[i])
    return np.asarray(out)


def inverse_link(int family, const double[::1] score not None, double power=0.0):
    """Return the prediction of each score."""
    cdef double[::1] out = room(family, power, score, score)
    cdef Py_ssize_t i
    with nogil:
        for i in range(out.shape[0]):
            out[i] = loss_mean(family, score[i])
    return np.asarray(out)


def gradient(int family, const double[::1] y not None, const double[::1] score not None, double power=0.0):
    """Return the first derivative of the loss in each score."""
    cdef double[::1] out = room(family, power, y, score)
    cdef Py_ssize_t i
    with nogil:
        for i in range(out.shape[0]):
            out[i] = loss_gradient(family, power, y[i], score[i])
    return np.asarray(out)


def hessian(int family, const double[::1] y not None, const double[::1] score not None, double power=0.0):
    """Return the second derivative of the loss in each score."""
    cdef double[::1] out = room(family, power, y, score)
    cdef Py_ssize_t i
    with nogil:
        for i in range(out.shape[0]):
            out[i] = loss_hessian(family, power, y[i], score[i])
    return np.asarray(out)


def expected_hessian(int family, const double[::1] score not None, double power=0.0):
    """Return the second derivative of the loss in each score where the target is the prediction."""
    cdef double[::1] out = room(family, power, score, score)
    cdef Py_ssize_t i
    with nogil:
        for i in range(out.shape[0]):
            out[i] = loss_expected_hessian(family, power, score[i])
    return np.asarray(out)


def class_value(const double[:, ::1] shares not None, const double[:, ::1] score not None):
    """Return the loss of the scores of classes, given the share of each class; both have a line for each row."""
    cdef Py_ssize_t i, k, begin, n = score.shape[0], classes = score.shape[1]
    cdef int rows
    cdef double[:, ::1] odds = np.empty((classes, ROWS_PER_BLOCK)), share = np.empty((classes, ROWS_PER_BLOCK))
    cdef double[::1] out = np.empty(n)
    cdef double[ROWS_PER_BLOCK] total, expected
    if shares.shape[0] != n or shares.shape[1] != classes or classes == 0:
        raise ValueError(f"There must be one share for each of the scores; got {np.shape(shares)} for {np.shape(score)}.")
    with nogil:
        for begin from 0 <= begin < n by ROWS_PER_BLOCK:
            rows = <int> min(<Py_ssize_t> ROWS_PER_BLOCK, n - begin)
            for k in range(classes):
                for i in range(rows):
                    odds[k, i], share[k, i] = score[begin + i, k], shares[begin + i, k]
            class_odds(&odds[0, 0], &share[0, 0], total, expected, <int> classes, rows)
            for i in range(rows):
                out[begin + i] = log(total[i]) - expected[i]
    return np.asarray(out)


cdef room(int family, double power, const double[::1] y, const double[::1] score):
    """Check what came to the door, and return an array for the result."""
    checked_family(family, power)
    if y.shape[0] != score.shape[0]:
        raise ValueError(f"y must have one entry for each score; got {y.shape[0]} for {score.shape[0]} scores.")
    return np.empty(score.shape[0])
