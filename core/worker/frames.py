"""Frames of an error in the user's own files.

One-line texts of errors.
"""

from __future__ import annotations

import linecache
import traceback
from collections.abc import Collection
from pathlib import Path

from core.report import Frame

LONGEST_REASON = 300


def user_frames(paths: Collection[Path], error: BaseException) -> tuple[Frame, ...]:
    """Return the lines of the user's files in an error's traceback, outermost first."""
    files = {str(path) for path in paths}
    frames = [
        Frame(frame.filename, frame.lineno or 0, frame.name, frame.line or "")
        for frame in traceback.TracebackException.from_exception(error).stack
        if frame.filename in files
    ]
    if isinstance(error, SyntaxError) and error.filename in files:
        line = error.lineno or 0
        frames.append(Frame(error.filename, line, "", linecache.getline(error.filename, line).strip()))
    return tuple(frames)


def first_line(error: Exception) -> str:
    """Return an error's type and the first line of its message."""
    return f"{type(error).__name__}: {(str(error).splitlines() or [''])[0]}"[:LONGEST_REASON]
