/* Every function of our headers, called from outside so that none is left out. */
#include "losses.h"
#include "row_block.h"

double all_of_losses(int family, double power, double y, double score) {
    return loss_value(family, power, y, score) + loss_gradient(family, power, y, score) + loss_hessian(family, power, y, score) +
           loss_expected_hessian(family, power, score) + size_of_terms(family, power, y, score);
}

double all_of_rows(double *out, double *out2, const double *x, const double *x2, const double *U, int vectors, int rows) {
    find_instructions();
    add_scaled(out, x, 2.0, rows);
    logistic_derivatives(x, x2, U, out, out2, rows);
    multiply(out, x, x2, rows);
    add_products(out, out2, x, x2, U, vectors, rows);
    return sum_of(out, rows);
}
