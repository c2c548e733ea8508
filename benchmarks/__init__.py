"""Measurements: the protocol of the paper, its data sets, and scripts that print one table each."""
