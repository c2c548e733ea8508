"""Measure: the paper's protocol on the paper's data, our figures beside the paper's."""
