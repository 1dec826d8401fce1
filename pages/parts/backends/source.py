"""The code of a run's backend, with failures at its lines."""

from __future__ import annotations

import re

from core import SHIPPED_BACKENDS
from core.graph import source_path
from core.report import Invocation
from pages.components.code.view import CodePicture, code_lines
from pages.parts.code import source_text
from pages.parts.run.own_backend import shipped_text
from pages.session.view import View

OWN_FILE = "backend.py"


def backend_picture(view: View, invocation: Invocation) -> CodePicture | None:
    """Return the backend's own file: the job's, a built-in one, or the logged one; None if there is none."""
    code, title = _code(view, invocation)
    if not code:
        return None
    line = invocation.place[1] if invocation.place else 0
    lines = code_lines(
        code,
        prefix="own",
        marks={line: "break"} if line else {},
        notes={line: invocation.problem} if line else {},
    )
    return CodePicture(title, "python", lines)


def _code(view: View, invocation: Invocation) -> tuple[str, str]:
    """Return the text and the title of the code, as it was when it ran if the log holds it."""
    recorded = [source.path for source in view.report.sources]
    if invocation.place and invocation.place[0] in recorded:
        return source_text(view, invocation.place[0]), _name(invocation.place[0])
    chosen = view.job.compile if view.job else None
    if chosen is None:
        return "", ""
    own = OWN_FILE if chosen.backend_code else f"{chosen.backend}.py"
    path = next((path for path in recorded[1:] if _name(path) == own), "")
    if path:
        return source_text(view, path), own
    if chosen.backend_code:
        return chosen.backend_code, own
    if chosen.backend in SHIPPED_BACKENDS:
        return shipped_text(chosen.backend), own
    return _of_the_model(view, invocation.backend)


def _of_the_model(view: View, backend: str) -> tuple[str, str]:
    """Return the model's file if it defines the backend: a function, a class or a variable of its name."""
    text = source_text(view)
    held = re.search(rf"^(def|class) {re.escape(backend)}\b|^{re.escape(backend)}\s*[:=]", text, re.MULTILINE)
    return (text, _name(source_path(view.report))) if held else ("", "")


def _name(path: str) -> str:
    return path.rpartition("/")[2]
