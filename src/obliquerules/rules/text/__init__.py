"""Text: how ensembles are printed, in sentences and tables, and read back."""
