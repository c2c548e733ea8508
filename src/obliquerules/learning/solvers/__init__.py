"""Numbers: solvers see arrays and a loss, never a rule and never an estimator."""
