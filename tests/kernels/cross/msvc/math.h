/* The functions that our headers use, as Microsoft's C library declares them. */
double exp(double);
double expm1(double);
double fabs(double);
double fma(double, double, double);
double fmax(double, double);
double fmin(double, double);
double log(double);
double log1p(double);
