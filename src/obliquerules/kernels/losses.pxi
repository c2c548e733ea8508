# The formulas of the losses, for kernels to include.

cdef extern from "losses.h" nogil:
    int SQUARED
    int LOGISTIC
    int POISSON
    int N_FAMILIES
    double loss_value(int family, double y, double score)
    double loss_mean(int family, double score)
    double loss_gradient(int family, double y, double score)
    double loss_hessian(int family, double score)
    double size_of_terms(int family, double y, double score)


cdef int checked_family(int family) except -1:
    if not 0 <= family < N_FAMILIES:
        raise ValueError(f"family must be one of {list(range(N_FAMILIES))}; got {family}.")
    return family
