"""Documents: models as JSON files: strict fields, ensembles, and whole models."""
