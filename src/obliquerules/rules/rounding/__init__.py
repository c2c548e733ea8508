"""Decimals: numbers short enough to read, and how far those of a model can be shortened before a row changes side."""
