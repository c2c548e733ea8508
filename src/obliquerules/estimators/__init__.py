"""The scikit-learn face: estimators that fit, inspect, edit and export."""
