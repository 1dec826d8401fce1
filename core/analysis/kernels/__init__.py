"""Kernel analyses: traffic, times and roofline of a run, and the comparison of two runs."""
