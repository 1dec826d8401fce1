"""Interactive views, one folder each.

They take data and return the visitor's choice. They don't depend on a run.
"""
