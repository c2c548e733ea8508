"""Cross-validation: folds, held-out losses, and the choice of a size."""
