"""Kernel tools on one kernel of a stored run, on request: requests, results, and their storage."""
