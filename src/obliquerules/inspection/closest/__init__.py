"""Closest change: what must change in a row to get another prediction."""
