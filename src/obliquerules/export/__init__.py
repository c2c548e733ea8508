"""Carrying a model away: the same arithmetic in other languages, compared with the model before it is handed over."""
