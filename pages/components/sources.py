"""The user's code beside what it became."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from core.graph import source_path
from core.report import GraphBreak, Report, RunError
from pages.components import state
from pages.components.code_view import CodePicture, code_lines


def source_text(here: state.Shown, report: Report) -> str:
    """The text of that file; empty where the log does not hold it."""
    if not report.sources:
        return ""
    payload = report.sources[0].payload
    recorded = state.json_payload(here, payload)
    return str(recorded.get("text", ""))


def user_code(
    here: state.Shown,
    report: Report,
    *,
    links: Mapping[int, tuple[str, ...]] | None = None,
    colours: Mapping[int, str | tuple[str, ...] | None] | None = None,
    breaks: Iterable[GraphBreak] = (),
    error: RunError | None = None,
) -> CodePicture | None:
    """The user's file with links into the graph, colours of kernels, graph breaks and the error; None if unknown."""
    text = source_text(here, report)
    if not text:
        return None
    path = source_path(report)
    notes: dict[int, str] = {}
    for found in breaks:
        line = line_in(found, path)
        if line is not None:
            note = f"{found.reason}: {found.explanation}" if found.explanation else found.reason
            notes[line] = f"{notes[line]}\n{note}" if line in notes else note
    for frame in error.frames[-1:] if error else ():
        notes[frame.line] = f"{error.type}: {error.message}"[:600] if error else ""
    lines = code_lines(
        text,
        prefix="l",
        links=dict(links or {}),
        colours=dict(colours or {}),
        marks=dict.fromkeys(notes, "break"),
        notes=notes,
    )
    return CodePicture(title=path.rsplit("/", 1)[-1], language="python", lines=lines)


def line_in(found: GraphBreak, path: str) -> int | None:
    """The innermost line of a graph break's stack that is in a file."""
    return next((frame.line for frame in reversed(found.stack) if frame.file == path), None)
