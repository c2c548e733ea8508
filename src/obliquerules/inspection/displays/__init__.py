"""Pictures of a model, in the convention of scikit-learn: what a display shows is computed apart from its drawing."""
