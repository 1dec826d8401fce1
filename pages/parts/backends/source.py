"""The code of the backend that a run was compiled with, with what went wrong at its line."""

from __future__ import annotations

from core import SHIPPED_BACKENDS
from core.report import Invocation
from pages.components.code.view import CodePicture, code_lines
from pages.parts.code import source_text
from pages.parts.run.own_backend import shipped_text
from pages.session.view import View


def backend_picture(view: View, given: Invocation) -> CodePicture | None:
    """The backend's own file: the job's, one that ships, or the one that the log holds; None where there is none."""
    code, title = _code(view, given)
    if not code:
        return None
    line = given.place[1] if given.place else 0
    lines = code_lines(
        code,
        prefix="own",
        marks={line: "break"} if line else {},
        notes={line: given.problem} if line else {},
    )
    return CodePicture(title, "python", lines)


def _code(view: View, given: Invocation) -> tuple[str, str]:
    """Its text and what it is called."""
    recorded = source_text(view, given.place[0]) if given.place else ""
    if recorded and given.place:
        return recorded, given.place[0].rpartition("/")[2]
    chosen = view.job.compile if view.job else None
    if chosen is not None and chosen.backend_code:
        return chosen.backend_code, "the backend of this run"
    if chosen is not None and chosen.backend in SHIPPED_BACKENDS:
        return shipped_text(chosen.backend), f"{chosen.backend}.py"
    return "", ""
