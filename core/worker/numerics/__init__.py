"""Eager and compiled held against the same in float64: what calls leave, and every node of their graphs."""
