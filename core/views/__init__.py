"""Views of runs and sweeps: sentences, rows and chart data for pages, command line, JSON and export.

Views are above sweeps: they import `core.sweep`, which imports no view.
"""
