# Loops over a block of rows, for kernels to include; each gives the same bits on every processor.

cdef extern from "row_block.h" nogil:
    enum:
        ROWS_PER_BLOCK
        LANES
    void find_instructions()
    void logistic_derivatives(const double *eta, const double *y, const double *c, double *r, double *h, int rows)
    void logistic_losses(const double *eta, const double *y, const double *c, double *loss, int rows)
    void sigmoids(double *value, const double *u, double sharpness, double if_missing, int rows)
    void class_odds(double *score, const double *y, double *total, double *expected, int classes, int rows)
    void class_slopes(double *odds, const double *y, const double *c, const double *total, double *r, int classes, int rows)
    void add_scaled(double *target, const double *x, double scale, int rows)
    void multiply(double *target, const double *h, const double *x, int rows)
    void add_products(double *out, double *out2, const double *x, const double *x2, const double *U, int vectors, int rows)
    double sum_of(const double *x, int rows)
    double sum_of_products(const double *x, const double *u, int rows)

find_instructions()  # once, before anything runs
