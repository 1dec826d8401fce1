"""A run as the HTML of a notebook's cell: `compileboard.show(model, x)` draws graphs and kernels without a server."""

from __future__ import annotations

import html
from collections.abc import Callable
from typing import Any

from core.library.recording import RecordedRun, record
from core.runs.store import Run
from core.views.html import as_html


def show(model: Callable[..., Any], *inputs: Any, label: str = "", **keywords: Any) -> RecordedRun:
    """Compile a callable, call it once with the inputs, and return the recording, which a notebook draws.

    All code that the process has compiled before is compiled again when it is called next, so that this call compiles.
    An exception of the call passes through. Raises StoreError if the store cannot be written.
    """
    from core.worker import own_process

    name = getattr(model, "__qualname__", type(model).__name__)
    with record(label or name, reset=True) as run:
        own_process.compiled(model)(*inputs, **keywords)
    return run


HEIGHT_PX = 720
# The file has a policy of its own; the frame gives it no access to the notebook either.
FRAME = (
    '<iframe srcdoc="{page}" sandbox="allow-scripts allow-popups" title="{title}" '
    'style="width: 100%; height: {height}px; border: 0"></iframe>'
)


def cell(run: Run) -> str:
    """Return a run as the HTML of a cell: its file in a frame; raises StoreError, TraceError."""
    return FRAME.format(page=html.escape(as_html(run)), title=html.escape(run.status().title), height=HEIGHT_PX)
