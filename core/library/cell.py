"""A run as the HTML of a notebook's cell."""

from __future__ import annotations

import html

from core.runs.store import Run
from core.views.html import as_html

HEIGHT_PX = 720
# The file has a policy of its own; the frame gives it no access to the notebook either.
FRAME = (
    '<iframe srcdoc="{page}" sandbox="allow-scripts allow-popups" title="{title}" '
    'style="width: 100%; height: {height}px; border: 0"></iframe>'
)


def cell(run: Run) -> str:
    """Return a run as the HTML of a cell: its file in a frame; raises StoreError, TraceError."""
    return FRAME.format(page=html.escape(as_html(run)), title=html.escape(run.status().title), height=HEIGHT_PX)
