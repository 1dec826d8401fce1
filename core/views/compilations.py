"""Compilations of a run as a tree, and one of them with its facts; texts are Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from core.analysis import Entry, alike, compilation_tree, flattened, tree_sentence
from core.base import words as fmt
from core.report import Compilation, Report
from core.views.markdown import LONGEST_LINE, LONGEST_NAME, LONGEST_TEXT, code, one_line, plain, prose

# Within a cell of a table ordinary spaces at the start would not be drawn.
INDENT = "\u2003"
BRANCHES = {"frame": "", "resume": "↳ ", "recompile": "↻ "}
MEANINGS = {
    "ok": "compiled",
    "empty": "Dynamo captured no op, so there was nothing to compile: the function runs as Python, and what it calls "
    "is compiled by itself",
    "failed": "an error ended it, and nothing was compiled",
    "over the limit": "the frame was compiled as often as torch allows, and runs eagerly where no code fits",
    "given up": "Dynamo cannot trace it, and the frame runs eagerly",
    "not finished": "the log ends before it does",
}


@dataclass(frozen=True, slots=True)
class CompilationDetails:
    """A compilation in words; `error` is empty without an error, `restarts` for a frame that was traced once."""

    heading: str
    place: str
    failed: bool
    error: str
    restarts: str
    stack: tuple[str, ...]
    has_breaks: bool
    has_recompiles: bool


@dataclass(frozen=True)
class CompilationsView:
    """The compilations of a run."""

    report: Report

    @cached_property
    def entries(self) -> tuple[Entry, ...]:
        """Tree of the compilations."""
        return tuple(compilation_tree(self.report))

    @property
    def title(self) -> str:
        """Number of compilations by function."""
        return prose(tree_sentence(self.entries), LONGEST_TEXT)

    @property
    def totals(self) -> str:
        """Sums over all compilations."""
        entries = [entry for _, entry in self._all]
        parts = [
            fmt.count(sum(entry.ops for entry in entries), "captured op"),
            fmt.count(sum(entry.kernels for entry in entries), "kernel"),
            fmt.count(len(self.report.graph_breaks), "graph break"),
            fmt.count(sum(entry.recompiles for entry in entries), "recompile"),
        ]
        seconds = [entry.seconds for entry in entries if entry.seconds is not None]
        took = f", {fmt.duration_s(sum(seconds))} of compile time" if seconds else ""
        return f"All of them together: {', '.join(parts)}{took}."

    @property
    def hides_similar(self) -> bool:
        """True if only the first of similar frames has rows."""
        return len(self._times) < len(self.entries)

    def matches(self, text: str) -> list[tuple[int, Entry]]:
        """Return the compilations with a text in their name or id, with their depths in the tree.

        Without a text or a match, those of the tree, and of similar frames only the first.
        """
        wanted = text.strip().lower()
        rows = [(depth, entry) for depth, entry in self._all if wanted in f"[{entry.id}] {entry.name}".lower()]
        first = [entry for entry in self.entries if entry.id in self._times]
        return (rows if wanted else []) or list(flattened(first))

    def rows(self, matches: Sequence[tuple[int, Entry]]) -> list[dict[str, object]]:
        """Return compilations as rows of a table; compile times in seconds, None for numbers that are 0."""
        return [
            {
                "function": self._function(depth, entry),
                "id": f"[{entry.id}]",
                "status": entry.status,
                "ops": entry.ops or None,
                "compile time": entry.seconds,
                "kernels": entry.kernels or None,
                "breaks": entry.breaks or None,
                "recompiles": entry.recompiles or None,
            }
            for depth, entry in matches
        ]

    def meanings(self, statuses: Sequence[str]) -> str:
        """Return the meaning of each status that is shown."""
        shown = {status: meaning for status, meaning in MEANINGS.items() if any(status in text for text in statuses)}
        return "; ".join(f"{status}: {meaning}" for status, meaning in shown.items())

    def details(self, compilation: Compilation) -> CompilationDetails:
        """Return the facts of a compilation."""
        entry = next(entry for _, entry in self._all if entry.id == compilation.id)
        place = code(compilation.frame.short) or "Its place was not recorded"
        return CompilationDetails(
            heading=f"\\[{plain(compilation.id)}\\] {plain(entry.name, LONGEST_NAME)}",
            place=f"{place}: {MEANINGS[entry.status]}.",
            failed=entry.status == "failed",
            error=plain(compilation.error, LONGEST_LINE),
            restarts=_restarts(compilation),
            stack=tuple(
                one_line(f"{frame.file}:{frame.line} in {frame.name}", LONGEST_LINE) for frame in compilation.stack
            ),
            has_breaks=bool(entry.breaks),
            has_recompiles=bool(entry.recompiles) or entry.kind == "recompile",
        )

    def _function(self, depth: int, entry: Entry) -> str:
        times = self._times.get(entry.id, 1)
        more = f" × {fmt.number(times)}" if times > 1 else ""
        return f"{INDENT * depth}{BRANCHES[entry.kind]}{one_line(entry.brief, LONGEST_NAME)}{more}"

    @cached_property
    def _all(self) -> list[tuple[int, Entry]]:
        return list(flattened(self.entries))

    @cached_property
    def _times(self) -> dict[str, int]:
        return dict(alike(self.entries))


def _restarts(compilation: Compilation) -> str:
    if compilation.attempts < 2:
        return ""
    reasons = "; ".join(plain(reason, LONGEST_LINE) for reason in dict.fromkeys(compilation.restart_reasons))
    return f"Traced {fmt.count(compilation.attempts, 'time')}: {reasons or 'torch does not say why'}."


__all__ = ["CompilationDetails", "CompilationsView"]
