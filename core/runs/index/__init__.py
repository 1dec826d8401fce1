"""Index of the runs for lists, search and charts, in an SQLite file.

The index is made from the run directories, and can be deleted at any time.
"""

from core.runs.index.database import IndexProgress, RunIndex, RunPage
from core.runs.index.entry import IndexedRun
from core.runs.index.query import RunQuery, Viewer

__all__ = ["IndexProgress", "IndexedRun", "RunIndex", "RunPage", "RunQuery", "Viewer"]
