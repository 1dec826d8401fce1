"""Sweeps: a job varied along axes, one run per cell, with the results in one table."""
