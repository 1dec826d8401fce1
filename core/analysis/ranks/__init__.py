"""Comparison of a run's ranks: first difference in causal order, cause, forecast of a hang."""
