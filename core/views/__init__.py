"""Views: the sentences, rows and chart data about a run or a sweep, for pages, command line, JSON and export.

Views are above sweeps: they import `core.sweep`, which imports no view.
"""
