"""Comparison of two runs: options, compiled graphs and kernels, and times."""
