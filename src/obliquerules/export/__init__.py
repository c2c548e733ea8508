"""Carrying a model away: the same arithmetic in other languages, verified against the model before it is handed over."""
