"""Compilations of a run, and bytecode before and after Dynamo; texts are Markdown.

`CompilationsView` has the tree and facts. `BytecodeView` has listings and decompiled Python.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from core.analysis import (
    Entry,
    Instruction,
    alike,
    break_count_words,
    compilation_tree,
    flattened,
    frame_names,
    instructions,
    recompile_words,
    resume_compilations,
    tree_sentence,
)
from core.base import words as fmt
from core.base.decoder import converted, decoded_object
from core.graph import source_path
from core.report import Compilation, Payload, Report
from core.report.records.compilation import BytecodeRecord
from core.views.markdown import LONGEST_LINE, LONGEST_NAME, LONGEST_TEXT, code, one_line, plain, prose

__all__ = ["BytecodeListing", "BytecodeView", "CompilationDetails", "CompilationsView"]

RESUMES = "resume function after a graph break"
# The reason why there is no Python code, by the presence of a decompiler (None: not recorded).
WITHOUT_PYTHON = {
    True: "Not decompiled: the call ended before the run reached it.",
    False: "Not decompiled: `depyf` is not installed beside torch. Install it and run again.",
    None: "Not decompiled: this log does not contain Python code. A run here with `depyf` records it.",
}
MOST_RUNS = 60  #: entries of the order of execution
# A table cell would not show ordinary leading spaces.
INDENT = "\u2003"
BRANCHES = {"frame": "", "resume": "↳ ", "recompile": "↻ "}
MEANINGS = {
    "ok": "compiled",
    "empty": "nothing to compile: Dynamo captured no op. The function runs as Python, and functions that it calls are "
    "compiled separately",
    "failed": "it failed with an error",
    "over the limit": "the frame is over the recompile limit: calls that fit no compiled code run eagerly",
    "given up": "Dynamo cannot trace it, and the frame runs eagerly",
    "not finished": "the log ends before it does",
}


@dataclass(frozen=True, slots=True)
class BytecodeListing:
    """A listing of instructions, a line each.

    `notes` and `source_lines` are by line of the listing, counted from 1. `calls_graph` are the lines that call a
    compiled graph rather than a resume function.
    """

    text: str
    notes: Mapping[int, str]
    calls_graph: frozenset[int]
    source_lines: Mapping[int, int]


@dataclass(frozen=True)
class BytecodeView:
    """The bytecode of a compilation; `read_text` returns a payload of the log."""

    report: Report
    compilation: Compilation
    read_text: Callable[[Payload], str]

    @property
    def is_recorded(self) -> bool:
        """True if the log has any bytecode of the compilation."""
        return self.compilation.bytecode is not None

    @property
    def why_none(self) -> str:
        """Reason why there is no bytecode."""
        if self.compilation.status in ("failed", "empty") and self.compilation.graph_op_count is None:
            return "Dynamo did not rewrite this function: it runs unchanged."
        return "The bytecode was not recorded. Compileboard runs record it; torch logs it only for resume functions."

    @property
    def title(self) -> str:
        """Numbers of instructions before and after Dynamo, of called graphs and resume functions."""
        name = plain(self._names[self.compilation.id], LONGEST_NAME)
        before, after = instructions(self.original), self._modified
        counts = f"{fmt.count(len(before), 'instruction')} became {fmt.number(len(after))}"
        graphs = len({row.graph for row in after if row.graph})
        resumes = len({row.resume for row in after if row.resume})
        calls = [f"{fmt.count(graphs, 'compiled graph')}"] if graphs else []
        calls += [f"{fmt.count(resumes, 'resume function')}"] if resumes else []
        called = f", with calls of {' and '.join(calls)}." if calls else "."
        return f"\\[{self.compilation.id}\\] {name}: {counts}{called}"

    @property
    def original(self) -> str:
        """Listing before Dynamo; empty if it was not recorded."""
        return self._texts["original"]

    @property
    def modified(self) -> str:
        """Listing after Dynamo; empty if it was not recorded."""
        return self._texts["modified"]

    @property
    def python(self) -> dict[str, str]:
        """Side (`original`, `modified`) → decompiled Python, if recorded."""
        record = self._record
        sides = {"original": record.original_python, "modified": record.modified_python} if record else {}
        return {side: text for side, text in sides.items() if text}

    @property
    def without_python(self) -> str:
        """Reason why there is no decompiled Python; empty if there is some."""
        record = self._record
        return "" if record and record.decompiler else WITHOUT_PYTHON[record.has_decompiler if record else None]

    @property
    def python_note(self) -> str:
        """Decompiler that wrote the Python code."""
        decompiler = plain(self._record.decompiler if self._record else "", LONGEST_NAME)
        return f"Decompiled from the bytecode by {decompiler}: the same computation in generated Python."

    @property
    def not_decompiled(self) -> str:
        """Parts that could not be decompiled; empty if there are none."""
        reason = self._record.not_decompiled if self._record else ""
        return f"It could not read all: {plain(reason, LONGEST_LINE)}" if reason else ""

    @property
    def in_user_file(self) -> bool:
        """True if the function is in the user's file."""
        return self.compilation.frame.file == source_path(self.report)

    @property
    def calls_graph(self) -> bool:
        """True if the modified code calls a compiled graph that was recorded."""
        return bool(self.compilation.graphs) and any(row.graph for row in self._modified)

    @property
    def resume_links(self) -> dict[str, str]:
        """Compilation id → label, for each resume function that the modified code calls."""
        called = [compilation for row in self._modified for compilation in self._resumes.get(row.resume, ())]
        return {
            compilation.id: f"\\[{plain(compilation.id)}\\] {plain(self._names[compilation.id], LONGEST_NAME)}"
            for compilation in called
        }

    @property
    def original_listing(self) -> BytecodeListing:
        """Listing before Dynamo."""
        return _listing(self.original, {}, None)

    @property
    def modified_listing(self) -> BytecodeListing:
        """Listing after Dynamo.

        Dynamo puts the instructions that it adds at the function's first line; they have no source line here.
        """
        notes = {name: self._resume_note(compilations) for name, compilations in self._resumes.items()}
        return _listing(self.modified, notes, self.compilation.frame.line)

    def _resume_note(self, compilations: tuple[Compilation, ...]) -> str:
        if not compilations:
            return f"{RESUMES}, never compiled"
        names = [f"[{compilation.id}] {self._names[compilation.id]}" for compilation in compilations]
        return f"resumes in {', '.join(names)}"

    @cached_property
    def _record(self) -> BytecodeRecord | None:
        """Bytecode record of a Compileboard run; None if there is none, as in an imported log."""
        bytecode = self.compilation.bytecode
        content = decoded_object(self.read_text(bytecode.record)) if bytecode is not None and bytecode.record else None
        return converted(content, BytecodeRecord) if content else None

    @cached_property
    def _texts(self) -> dict[str, str]:
        """Listings by side, from the run's own record if there is one, otherwise from torch's log."""
        if self._record is not None:
            return {"original": self._record.original, "modified": self._record.modified}
        bytecode = self.compilation.bytecode
        sides = {"original": bytecode.original, "modified": bytecode.modified} if bytecode is not None else {}
        texts = {side: self.read_text(payload) if payload else "" for side, payload in sides.items()}
        return {"original": "", "modified": "", **texts}

    @cached_property
    def _modified(self) -> tuple[Instruction, ...]:
        return instructions(self.modified)

    @cached_property
    def _names(self) -> Mapping[str, str]:
        return frame_names(self.report)

    @cached_property
    def _resumes(self) -> Mapping[str, tuple[Compilation, ...]]:
        return resume_compilations(self.report, self.compilation)


def _listing(text: str, resume_notes: Mapping[str, str], added_at: int | None) -> BytecodeListing:
    rows = instructions(text)
    notes = {number: resume_notes.get(row.resume, RESUMES) for number, row in enumerate(rows, 1) if row.resume}
    notes |= {number: "the compiled graph" for number, row in enumerate(rows, 1) if row.graph}
    before = (None, *(row.line for row in rows))
    lines = [_line(row, row.line != line) for row, line in zip(rows, before, strict=False)]
    return BytecodeListing(
        "\n".join(lines) or "It was not recorded.",
        notes,
        frozenset(number for number in notes if not rows[number - 1].resume),
        {number: row.line for number, row in enumerate(rows, 1) if row.line and row.line != added_at},
    )


def _line(row: Instruction, first: bool) -> str:
    """Return a line of the listing: line number, offset, op and argument.

    The line number is empty if it is that of the line before; the offset is empty from Python 3.13 on.
    """
    line = row.line if first and row.line else ""
    return f"{line:>4} {row.offset:>4} {row.op:<14} {row.about}".rstrip()


@dataclass(frozen=True, slots=True)
class CompilationDetails:
    """A compilation in words.

    `error` is empty without an error, `restarts` if the frame was traced once.
    """

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

    column_help: ClassVar[Mapping[str, str]] = {
        "function": "↳ resume function after a graph break, ↻ recompile",
        "id": "As PyTorch numbers it: [frame/compilation]",
        "ops": "What Dynamo captured, by torch's own count",
        "kernels": "Distinct kernels of forward and backward, including library functions",
        "breaks": "Graph breaks that this compilation hit; each compilation that hits one counts it",
        "recompiles": "How often the frame was compiled again",
        "compile time": "Compile time, including the backward",
    }

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
            break_count_words(len(self.report.graph_breaks), self.report.break_record),
            recompile_words(sum(entry.recompiles for entry in entries), self.report),
        ]
        seconds = [entry.seconds for entry in entries if entry.seconds is not None]
        took = f", {fmt.duration_s(sum(seconds))} of compile time" if seconds else ""
        return f"Total: {', '.join(parts)}{took}."

    @property
    def execution_order(self) -> str:
        """Order in which compiled code was executed: "[0/0] × 2, [1/0]"; empty if torch did not log it."""
        runs = self.report.graph_runs
        shown = [f"[{plain(run.compilation)}]{f' × {fmt.number(run.count)}' if run.count > 1 else ''}" for run in runs]
        more = [f"{fmt.number(len(runs) - MOST_RUNS)} more"] if len(runs) > MOST_RUNS else []
        return f"Executed in this order: {', '.join([*shown[:MOST_RUNS], *more])}." if runs else ""

    @property
    def hides_similar(self) -> bool:
        """True if the table shows only the first of several similar frames."""
        return len(self._times) < len(self.entries)

    def matches(self, text: str) -> list[tuple[int, Entry]]:
        """Return the compilations with a text in their name or id, with their depths in the tree.

        Without a text or a match, return the whole tree, but only the first of similar frames.
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
    return f"Traced {fmt.count(compilation.attempts, 'time')}: {reasons or 'torch gives no reason'}."
