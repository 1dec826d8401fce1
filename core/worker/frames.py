"""Where an error went through the user's own file."""

from __future__ import annotations

import linecache
import traceback
from pathlib import Path

from core.report import Frame


def user_frames(path: Path, error: BaseException) -> tuple[Frame, ...]:
    """The lines of the user's file that an error went through, outermost first."""
    frames = [
        Frame(frame.filename, frame.lineno or 0, frame.name, frame.line or "")
        for frame in traceback.TracebackException.from_exception(error).stack
        if frame.filename == str(path)
    ]
    if isinstance(error, SyntaxError) and error.filename == str(path):
        line = error.lineno or 0
        frames.append(Frame(str(path), line, "", linecache.getline(str(path), line).strip()))
    return tuple(frames)
