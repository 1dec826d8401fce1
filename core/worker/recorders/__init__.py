"""Recorders of compilation details that torch's trace lacks.

Each is a context manager that restores torch.
"""
