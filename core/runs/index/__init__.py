"""Index of the runs for lists, search and charts, in an SQLite file.

The index is made from the run directories, and can be deleted at any time.
"""
