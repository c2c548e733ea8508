"""The scikit-learn face: estimators that check, scale, grow, and hold the resulting ensembles."""
