# Cholesky: a positive definite system of equations solved in place, the same on every machine.

from libc.math cimport sqrt


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


cdef bint decompose(double[:, ::1] matrix, Py_ssize_t m, double least=0.0) noexcept nogil:
    """Factorise the lower triangle of m rows; False if the share of a diagonal entry that is left is not above the least."""
    cdef Py_ssize_t i, j
    cdef double s
    for i in range(m):
        for j in range(i + 1):
            s = matrix[i, j] - dot(&matrix[i, 0], &matrix[j, 0], j)
            if i > j:
                matrix[i, j] = s / matrix[j, j]
            elif s > 0.0 and s > least * matrix[i, i]:
                matrix[i, i] = sqrt(s)
            else:
                return False
    return True


cdef void solve(const double[:, ::1] factor, double[::1] x, Py_ssize_t m) noexcept nogil:
    """Solve both triangular systems of m rows."""
    cdef Py_ssize_t i, j
    for i in range(m):
        x[i] = (x[i] - dot(&factor[i, 0], &x[0], i)) / factor[i, i]
    for i in range(m - 1, -1, -1):
        x[i] /= factor[i, i]
        for j in range(i):
            x[j] -= factor[i, j] * x[i]


cdef inline bint solve_in_place(double[:, ::1] matrix, double[::1] x) noexcept nogil:
    """Decompose a matrix, and solve both triangular systems; False if the matrix is not positive definite."""
    if not decompose(matrix, x.shape[0]):
        return False
    solve(matrix, x, x.shape[0])
    return True
