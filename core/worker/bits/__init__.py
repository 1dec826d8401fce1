"""Comparison of two configurations bit by bit."""
