"""Recorders of compilation details missing from torch's trace, as context managers that restore torch."""
