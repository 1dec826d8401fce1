"""Tree of the compilations of a run, and the bytecode of a compilation."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from core.analysis.durations import compile_seconds
from core.analysis.dynamo.failures import FailureKind, Function, Functions, failures, functions, names_of, resumed
from core.analysis.work import captured_ops, distinct_kernels, frame_of
from core.report import Bytecode, Compilation, Frame, Report, Status, stored

Kind = Literal["frame", "resume", "recompile"]
# A compilation with a smaller share of all captured ops is a helper.
SMALL = 0.05
NAMED = 2
# Maximum depth of the tree; functions called deeper are siblings.
MOST_DEPTH = 64  #: nested functions in the tree of compilations


@dataclass(frozen=True, slots=True)
class Entry:
    """A compilation with its numbers, and its children in the tree.

    Children are the frame's recompiles, its resume functions, and the functions it calls. `brief` is a short name
    for display below the function: "after line 31". `breaks` counts the graph breaks of the compilation,
    `recompiles` the later compilations of the frame. `seconds` is None if no phase was recorded.
    """

    id: str
    frame: Frame
    name: str
    brief: str
    kind: Kind
    status: Status | FailureKind
    ops: int
    kernels: int
    breaks: int
    recompiles: int
    seconds: float | None
    below: tuple[Entry, ...] = ()


@stored
def compilation_tree(report: Report) -> tuple[Entry, ...]:
    """Return the compilations without a compiled caller, each with its children, in compile order.

    Compilations after a reset have separate trees. Their ids have a prefix.
    """
    parts: dict[str, list[Compilation]] = {}
    for compilation in report.compilations:
        parts.setdefault(compilation.id.rpartition(":")[0], []).append(compilation)
    seconds = compile_seconds(report)
    trees = (_Tree(Report(report.setting, tuple(part), report.graph_breaks), seconds) for part in parts.values())
    return tuple(entry for tree in trees for entry in tree.roots())


def flattened(entries: Sequence[Entry], depth: int = 0) -> Iterator[tuple[int, Entry]]:
    """Yield each entry with its depth, parents before children."""
    for entry in entries:
        yield depth, entry
        yield from flattened(entry.below, depth + 1)


def alike(entries: Sequence[Entry]) -> dict[str, int]:
    """Return first id → number of entries with equal name, kind, status, ops and children."""
    groups: dict[tuple[object, ...], list[str]] = {}
    for entry in entries:
        below = tuple((depth, nested.brief, nested.status, nested.ops) for depth, nested in flattened(entry.below))
        groups.setdefault((entry.name, entry.kind, entry.status, entry.ops, below), []).append(entry.id)
    return {ids[0]: len(ids) for ids in groups.values()}


class _Tree:
    """Builder of the tree: the compilations of each frame, and the frames of each function."""

    def __init__(self, report: Report, seconds: Mapping[str, float]) -> None:
        self._names = names_of(report.compilations)
        self._seconds = seconds
        self._kinds = {failure.compilation: failure.kind for failure in failures(report)}
        self._breaks = Counter(
            compilation_id for graph_break in report.graph_breaks for compilation_id in graph_break.compilations
        )
        self._frames: dict[str, list[Compilation]] = {}
        for compilation in report.compilations:
            self._frames.setdefault(frame_of(compilation), []).append(compilation)
        self._of: dict[Function, list[str]] = {}
        for frame, function in functions(report.compilations).items():
            self._of.setdefault(function, []).append(frame)
        self._calls = _callees(report, self._of)

    def roots(self) -> tuple[Entry, ...]:
        """Return the entries of functions that no compiled function calls."""
        called = {callee for below in self._calls.values() for callee in below}
        return tuple(entry for function in self._of if function not in called for entry in self._function(function))

    def _function(self, function: Function) -> list[Entry]:
        """Return the entries of a function's frames, with its resume functions below the first frame.

        If the function itself has no frame, the resume functions are siblings.
        """
        lines = {frame: resumed(self._frames[frame][0].frame.name)[1] for frame in self._of[function]}
        direct = [frame for frame, line in lines.items() if line is None]
        resumes = [
            self._frame(frame, "resume", [], f"after line {line}" if direct else "")
            for frame, line in lines.items()
            if line is not None
        ]
        called = [entry for callee in self._calls.get(function, ()) for entry in self._function(callee)]
        if not direct:
            return [*resumes, *called]
        first, *rest = direct
        return [self._frame(first, "frame", [*resumes, *called]), *(self._frame(frame, "frame", []) for frame in rest)]

    def _frame(self, frame: str, kind: Kind, below: list[Entry], brief: str = "") -> Entry:
        first, *recompiled = self._frames[frame]
        recompiles = [self._entry(compilation, "recompile", 0, [], "compiled again") for compilation in recompiled]
        compiled = sum(compilation.status != "failed" for compilation in recompiled)
        return self._entry(first, kind, compiled, [*recompiles, *below], brief)

    def _entry(self, compilation: Compilation, kind: Kind, recompiles: int, below: list[Entry], brief: str) -> Entry:
        return Entry(
            id=compilation.id,
            frame=compilation.frame,
            name=self._names[compilation.id],
            brief=brief or self._names[compilation.id],
            kind=kind,
            status=self._kinds.get(compilation.id, compilation.status),
            ops=captured_ops(compilation),
            kernels=distinct_kernels(compilation.kernels),
            breaks=self._breaks[compilation.id],
            recompiles=recompiles,
            seconds=self._seconds.get(compilation.id),
            below=tuple(below),
        )


def _callees(report: Report, frames: dict[Function, list[str]]) -> dict[Function, list[Function]]:
    """Return function → the compiled functions that it calls; each function has one caller.

    torch omits the immediate caller from a compilation's stack. So the stacks of graph breaks come first, then
    the callers within each compilation's stack, and last the compilation and the frame above it.
    """
    by_name = Functions(frames)
    broken = [_compiled_functions(graph_break.stack, by_name) for graph_break in report.graph_breaks]
    stacks = [_compiled_functions(compilation.stack, by_name) for compilation in report.compilations]
    within = [stack[:-1] for stack in stacks]
    caller: dict[Function, Function] = {}
    for stack in (*broken, *within, *stacks):
        for above, below in pairwise(stack):
            if below not in caller and _may_be_child(below, above, caller):
                caller[below] = above
    called: dict[Function, list[Function]] = {}
    for function in frames:
        if function in caller:
            called.setdefault(caller[function], []).append(function)
    return called


def _compiled_functions(stack: Sequence[Frame], by_name: Functions) -> list[Function]:
    """Return the compiled functions of a stack, outermost first."""
    return [function for frame in stack if (function := by_name.at(frame)) is not None]


def _may_be_child(below: Function, above: Function, caller: Mapping[Function, Function]) -> bool:
    """Return True if a function may be placed below another: no cycle, and at most `MOST_DEPTH` levels."""
    ancestor: Function | None = above
    for _ in range(MOST_DEPTH):
        if ancestor is None or ancestor == below:
            return ancestor is None
        ancestor = caller.get(ancestor)
    return False


def scope_words(report: Report, compilation: Compilation) -> str:
    """Return the compilation id as a prefix such as "[0/1] "; empty if the run has only one compilation."""
    return f"[{compilation.id}] " if len(report.compilations) > 1 else ""


@dataclass(frozen=True, slots=True)
class Share:
    """Compilations grouped by name, the most ops first, without small helpers.

    `small` counts the helpers, and `empty` the helpers that captured no op.
    """

    large: tuple[tuple[str, tuple[Entry, ...]], ...]
    small: int
    empty: int


def share(entries: Sequence[Entry]) -> Share:
    """Group the compilations by function or class, and separate the helpers.

    A helper has few ops, or its function has a small part of all captured ops.
    """
    all_entries = [entry for _, entry in flattened(entries)]
    least = SMALL * sum(entry.ops for entry in all_entries)
    largest = max((entry.ops for entry in all_entries), default=0)
    together = Counter[str]()
    for entry in all_entries:
        together[_model(entry.name)] += entry.ops
    large: dict[str, list[Entry]] = {}
    small = []
    for entry in all_entries:
        # In a long job each compilation is a small part, but all compilations of one function together are not.
        helps = together[_model(entry.name)] < least or entry.ops < SMALL * largest
        if entry.ops and not helps:
            large.setdefault(_model(entry.name), []).append(entry)
        else:
            small.append(entry)
    groups = sorted(large.items(), key=lambda group: -max(entry.ops for entry in group[1]))
    return Share(
        tuple((name, tuple(group)) for name, group in groups), len(small), sum(not entry.ops for entry in small)
    )


def _model(name: str) -> str:
    """Return the class or function a name belongs to: all methods of one class count as one."""
    function = name.partition(", after line ")[0]
    return function if " at " in function else function.partition(".")[0].partition(" (")[0]


# Up to Python 3.12, a row has its line and offset; from 3.13 on, its line and labels.
ROW = re.compile(
    r"^\s*(?:-->)?\s*(?P<first>\d+|--)?\s+(?:L\d+:\s+)?(?:>>\s+)?(?P<offset>\d+\s+)?(?P<op>[A-Z][A-Z0-9_]+)(?P<rest>.*)$"
)
GRAPH = re.compile(r"\b__compiled_fn_\d+\w*")
RESUME = re.compile(r"\b__resume_at_\d+_\d+\b|\btorch_dynamo_resume_in_\w+_at_\d+\b")


@dataclass(frozen=True, slots=True)
class Instruction:
    """A row of a bytecode listing: source line (None if the listing has none), offset, op, and argument.

    `offset` is empty from Python 3.13 on. `graph` and `resume` are the names of the compiled graph or resume function
    that the row refers to.
    """

    line: int | None
    offset: str
    op: str
    about: str
    graph: str = ""
    resume: str = ""


def instructions(text: str) -> tuple[Instruction, ...]:
    """Return the instructions of a listing; skips other rows, such as the exception table."""
    matches = [match for row in text.split("\n") if (match := ROW.match(row))]
    offsets = any(match["offset"] for match in matches)
    line: int | None = None
    listed = []
    for match in matches:
        says_line = match["first"] and (match["offset"] or not offsets)
        if says_line:
            line = int(match["first"]) if match["first"].isdigit() else None
        offset = match["offset"] or (match["first"] if offsets else "") or ""
        rest = match["rest"].strip()
        graph, resume = GRAPH.search(rest), RESUME.search(rest)
        listed.append(
            Instruction(
                line,
                offset.strip(),
                match["op"],
                _argument_value(rest),
                graph.group() if graph else "",
                resume.group() if resume else "",
            )
        )
    return tuple(listed)


def _argument_value(rest: str) -> str:
    """Return the value of an argument if the listing has it, otherwise the number."""
    value = rest.partition(" (")[2].removesuffix(")")
    return value or rest


def resume_compilations(report: Report, compilation: Compilation) -> dict[str, tuple[Compilation, ...]]:
    """Return function name → its compilations, for functions in the compilation's file."""
    bytecode = compilation.bytecode or Bytecode()
    by_name: dict[str, list[Compilation]] = {}
    for candidate in report.compilations:
        if candidate.frame.file == compilation.frame.file:
            by_name.setdefault(candidate.frame.name, []).append(candidate)
    named = {**{name: name for name in by_name}, **bytecode.resumes}
    return {name: tuple(by_name.get(function, ())) for name, function in named.items()}
