"""Compiled loops: arrays in, arrays out; nothing here knows a rule or an estimator."""
