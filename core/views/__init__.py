"""Views: what a family of pages says of a run or a sweep, made once for pages, command line, JSON and export.

Views are above sweeps: they import `core.sweep`, which imports no view.
"""
