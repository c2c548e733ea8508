"""The scikit-learn face: estimators that check, read, let their method learn, and hold the resulting model."""
