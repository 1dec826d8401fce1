"""Where an error went through the user's own file."""

from __future__ import annotations

import linecache
import traceback
from collections.abc import Collection
from pathlib import Path

from core.report import Frame


def user_frames(paths: Collection[Path], error: BaseException) -> tuple[Frame, ...]:
    """The lines of the user's files that an error went through, outermost first."""
    own = {str(path) for path in paths}
    frames = [
        Frame(frame.filename, frame.lineno or 0, frame.name, frame.line or "")
        for frame in traceback.TracebackException.from_exception(error).stack
        if frame.filename in own
    ]
    if isinstance(error, SyntaxError) and error.filename in own:
        line = error.lineno or 0
        frames.append(Frame(error.filename, line, "", linecache.getline(error.filename, line).strip()))
    return tuple(frames)
