# The formulas of the losses, for kernels to include.

cdef extern from "losses.h" nogil:
    int SQUARED
    int LOGISTIC
    int POISSON
    int TWEEDIE
    int N_FAMILIES
    double logistic_decay(double score)
    double logistic_value(double y, double score, double decay)
    double logistic_mean(double score, double decay)
    double logistic_hessian(double decay)
    double loss_value(int family, double power, double y, double score)
    double loss_mean(int family, double score)
    double loss_gradient(int family, double power, double y, double score)
    double loss_hessian(int family, double power, double y, double score)
    double loss_expected_hessian(int family, double power, double score)
    double size_of_terms(int family, double power, double y, double score)


cdef int checked_family(int family, double power) except -1:
    if not 0 <= family < N_FAMILIES:
        raise ValueError(f"family must be one of {list(range(N_FAMILIES))}; got {family}.")
    if family == TWEEDIE and not 1.0 < power <= 2.0:
        raise ValueError(f"power must be more than 1 and at most 2; got {power}.")
    return family
