# Cholesky: a positive definite system of equations solved in place, the same on every machine.

from libc.math cimport sqrt


cdef inline double dot(const double *a, const double *b, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t i
    cdef double total = 0.0
    for i in range(n):
        total += a[i] * b[i]
    return total


cdef bint decompose(double[:, ::1] matrix) noexcept nogil:
    """Cholesky of the lower triangle; False if the matrix is not positive definite."""
    cdef Py_ssize_t i, j
    cdef double s
    for i in range(matrix.shape[0]):
        for j in range(i + 1):
            s = matrix[i, j] - dot(&matrix[i, 0], &matrix[j, 0], j)
            if i > j:
                matrix[i, j] = s / matrix[j, j]
            elif s > 0.0:
                matrix[i, i] = sqrt(s)
            else:
                return False
    return True


cdef bint solve_in_place(double[:, ::1] matrix, double[::1] x) noexcept nogil:
    """Decompose a matrix, and solve both triangular systems; False if the matrix is not positive definite."""
    cdef Py_ssize_t i, j, m = x.shape[0]
    if not decompose(matrix):
        return False
    for i in range(m):
        x[i] = (x[i] - dot(&matrix[i, 0], &x[0], i)) / matrix[i, i]
    for i in range(m - 1, -1, -1):
        x[i] /= matrix[i, i]
        for j in range(i):
            x[j] -= matrix[i, j] * x[i]
    return True
