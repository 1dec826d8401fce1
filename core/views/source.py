"""User files in a log: their text, and the notes on their lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import ClassVar

from core.base import words as fmt
from core.base.decoder import decoded_object
from core.graph import source_path
from core.report import GraphBreak, Payload, Place, Report, RunError

NOTE_CHARS = 600


@dataclass(frozen=True, slots=True)
class SourceView:
    """The user's files of a run; `read` returns a payload of its log as text."""

    no_code: ClassVar[str] = "The log does not contain your code."
    no_lines: ClassVar[str] = "The log does not hold the code. The graph's text names its lines."
    no_file: ClassVar[str] = "The log does not contain this file."

    report: Report
    read: Callable[[Payload], str]

    @property
    def path(self) -> str:
        """Path of the compiled file; if the log has no files, the path of the first frame's file."""
        return source_path(self.report)

    def text(self, path: str = "") -> str:
        """Return the text of a file, by default of the first; empty if the log does not contain it."""
        files = self.report.sources
        source = next((source for source in files if source.path == path), None) if path else next(iter(files), None)
        return str(decoded_object(self.read(source.payload)).get("text", "")) if source else ""

    def notes(self, path: str, breaks: Iterable[GraphBreak], error: RunError | None) -> dict[int, str]:
        """Return the reasons of graph breaks and the error, by line of a file; equal reasons once, with their count."""
        notes = {line: "\n".join(_counted(reasons)) for line, reasons in _break_reasons(breaks, path).items()}
        if error is not None and error.frames:
            notes[error.frames[-1].line] = f"{error.type}: {error.message}"[:NOTE_CHARS]
        return notes

    @staticmethod
    def more_lines(left_out: int) -> str:
        """Return the number of lines that a shown text leaves out."""
        return f"{fmt.count(left_out, 'more line')} not shown."


def _break_reasons(breaks: Iterable[GraphBreak], path: str) -> dict[int, Counter[str]]:
    reasons: dict[int, Counter[str]] = {}
    for graph_break in breaks:
        line = line_in(graph_break, path)
        if line is not None:
            explanation = f": {graph_break.explanation}" if graph_break.explanation else ""
            reasons.setdefault(line, Counter())[f"{graph_break.reason}{explanation}"] += 1
    return reasons


def _counted(reasons: Counter[str]) -> list[str]:
    return [f"{reason} × {fmt.number(times)}" if times > 1 else reason for reason, times in reasons.items()]


def line_in(graph_break: GraphBreak, path: str) -> int | None:
    """Return the innermost line of a graph break's stack that is in a file; None if there is none."""
    return next((frame.line for frame in reversed(graph_break.stack) if frame.file == path), None)


def place_in_folder(place: Place) -> str:
    """Return a line of a file with its folder: `logging/__init__.py:1488`."""
    return f"{'/'.join(place.file.split('/')[-2:])}:{place.line}"


__all__ = ["SourceView"]
