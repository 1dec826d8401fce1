"""Frames of an error in the user's own files, and the line of an FX node.

One-line texts of errors.
"""

from __future__ import annotations

import linecache
import re
import sys
import traceback
from collections.abc import Collection
from pathlib import Path
from types import ModuleType

from torch.fx import Node

from core.report import Frame

LONGEST_REASON = 300
PLACE = re.compile(r'File "(?:[^"]*/)?(?P<file>[^"/]+)", line (?P<line>\d+)')
NO_MLX = (
    '. MLX is not installed in this environment: pip install "mlx[cpu]" (on a Mac: pip install mlx). torch.compile '
    "compiles functions of torch alone; the page Neighbours compares both"
)
NOT_IN = re.compile(r"cannot import name '(\w+)'")


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
    return f"{type(error).__name__}: {(str(error).strip().splitlines() or [''])[0]}"[:LONGEST_REASON]


def node_line(node: Node) -> str:
    """Return the innermost line of code that made an FX node, as `file:line: code`; empty without a stack trace."""
    lines = [line.strip() for line in (node.stack_trace or "").splitlines()]
    places = [(match, at) for at, line in enumerate(lines) if (match := PLACE.match(line))]
    if not places:
        return ""
    place, at = places[-1]
    return ": ".join([f"{place['file']}:{place['line']}", *lines[at + 1 : at + 2]])


def suggestion(error: BaseException) -> str:
    """Return what to do about a missing name: the correct module of torch as a question, like Python's own.

    For MLX, the command that installs it. Empty if there is none.
    """
    if isinstance(error, ModuleNotFoundError) and str(error.name).partition(".")[0] == "mlx":
        return NO_MLX
    module, wanted = _missing_name(error)
    path = module.split(".")
    above = [".".join(path[:depth]) for depth in range(len(path) - 1, 0, -1)] if path[0] == "torch" else []
    owner = next((name for name in above if hasattr(sys.modules.get(name), wanted)), None)
    return f". Did you mean: '{owner}.{wanted}'?" if owner else ""


def _missing_name(error: BaseException) -> tuple[str, str]:
    """Return a module and the name it lacks; empty for any other error."""
    if isinstance(error, AttributeError) and isinstance(error.obj, ModuleType):
        return error.obj.__name__, str(error.name)
    match = NOT_IN.match(str(error)) if isinstance(error, ImportError) else None
    return (str(error.name), match[1]) if isinstance(error, ImportError) and match else ("", "")
