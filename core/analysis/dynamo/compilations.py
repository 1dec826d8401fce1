"""The compilations of a run as a tree: by function, what calls what, and what goes on after a graph break."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from core.analysis.dynamo.failures import FailureKind, failures
from core.analysis.dynamo.frame_names import Function, Functions, frame_names, functions, resumed
from core.analysis.phases import compile_seconds
from core.analysis.work import captured_ops, distinct_kernels, frame_of
from core.base.words import agree, count, number
from core.report import Compilation, Frame, Report, Status

Kind = Literal["frame", "resume", "recompile"]
# A compilation with a smaller part of all captured ops is a helper.
SMALL = 0.05
NAMED = 2
# Functions that call each other deeper than this stand side by side.
MOST_DEPTH = 64


@dataclass(frozen=True, slots=True)
class Entry:
    """One compilation (its id and frame) with its own numbers, and below it what belongs to it: the frame's recompiles,
    what goes on after its breaks, and the functions that it calls.

    `brief` is its name where it stands below its function, which need not be named again: "after line 31". `breaks` are
    the graph breaks that it met, `recompiles` the later compilations of its frame, `seconds` None where no
    phase of it was recorded.
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


def compilation_tree(report: Report) -> tuple[Entry, ...]:
    """The compilations that nothing compiled calls, each with those below it, in the order in which they were made."""
    return _Tree(report).roots()


def flattened(entries: Sequence[Entry], depth: int = 0) -> Iterator[tuple[int, Entry]]:
    """Each entry with its depth, those below it after it."""
    for entry in entries:
        yield depth, entry
        yield from flattened(entry.below, depth + 1)


def alike(entries: Sequence[Entry]) -> dict[str, int]:
    """The first of the entries that are alike but for ids and seconds, by its id → how many they are: a long job has a
    frame for each instance of a function.
    """
    groups: dict[tuple[object, ...], list[str]] = {}
    for entry in entries:
        below = tuple((depth, found.brief, found.status, found.ops) for depth, found in flattened(entry.below))
        groups.setdefault((entry.name, entry.kind, entry.status, entry.ops, below), []).append(entry.id)
    return {ids[0]: len(ids) for ids in groups.values()}


class _Tree:
    """The tree while it is put together: the compilations of each frame, and the frames of each function."""

    def __init__(self, report: Report) -> None:
        self._names = frame_names(report)
        self._seconds = compile_seconds(report.phases)
        self._kinds = {failure.compilation: failure.kind for failure in failures(report)}
        self._breaks = Counter(item for found in report.graph_breaks for item in found.compilations)
        self._frames: dict[str, list[Compilation]] = {}
        for found in report.compilations:
            self._frames.setdefault(frame_of(found), []).append(found)
        self._of: dict[Function, list[str]] = {}
        for frame, function in functions(report).items():
            self._of.setdefault(function, []).append(frame)
        self._calls = _called_from(report, self._of)

    def roots(self) -> tuple[Entry, ...]:
        """The functions that no compiled one calls."""
        called = {one for below in self._calls.values() for one in below}
        return tuple(entry for function in self._of if function not in called for entry in self._function(function))

    def _function(self, function: Function) -> list[Entry]:
        """A function's frames, its resume functions below the first; side by side where none is the function itself."""
        lines = {frame: resumed(self._frames[frame][0].frame.name)[1] for frame in self._of[function]}
        whole = [frame for frame, line in lines.items() if line is None]
        resumes = [
            self._frame(frame, "resume", [], f"after line {line}" if whole else "")
            for frame, line in lines.items()
            if line is not None
        ]
        called = [entry for one in self._calls.get(function, ()) for entry in self._function(one)]
        if not whole:
            return [*resumes, *called]
        first, *others = whole
        return [self._frame(first, "frame", [*resumes, *called]), *(self._frame(one, "frame", []) for one in others)]

    def _frame(self, frame: str, kind: Kind, below: list[Entry], brief: str = "") -> Entry:
        first, *again = self._frames[frame]
        recompiles = [self._entry(found, "recompile", 0, [], "compiled again") for found in again]
        return self._entry(first, kind, len(again), [*recompiles, *below], brief)

    def _entry(self, found: Compilation, kind: Kind, recompiles: int, below: list[Entry], brief: str) -> Entry:
        return Entry(
            id=found.id,
            frame=found.frame,
            name=self._names[found.id],
            brief=brief or self._names[found.id],
            kind=kind,
            status=self._kinds.get(found.id, found.status),
            ops=captured_ops(found),
            kernels=distinct_kernels(found.kernels),
            breaks=self._breaks[found.id],
            recompiles=recompiles,
            seconds=self._seconds.get(found.id),
            below=tuple(below),
        )


def _called_from(report: Report, known: dict[Function, list[str]]) -> dict[Function, list[Function]]:
    """Function → the compiled functions that it calls, each below one.

    Torch leaves the immediate caller out of the stack of a compilation, so the stacks of graph breaks count first, then
    what stands within a stack, and a compilation's own place last.
    """
    by_name = Functions(known)
    broken = [_compiled(found.stack, by_name) for found in report.graph_breaks]
    stacks = [_compiled(found.stack, by_name) for found in report.compilations]
    within = [stack[:-1] for stack in stacks]
    caller: dict[Function, Function] = {}
    for stack in (*broken, *within, *stacks):
        for above, below in pairwise(stack):
            if below not in caller and _may_stand_below(below, above, caller):
                caller[below] = above
    called: dict[Function, list[Function]] = {}
    for function in known:
        if function in caller:
            called.setdefault(caller[function], []).append(function)
    return called


def _compiled(stack: Sequence[Frame], known: Functions) -> list[Function]:
    """The functions of a stack that were compiled, outermost first."""
    return [function for frame in stack if (function := known.at(frame)) is not None]


def _may_stand_below(below: Function, above: Function, caller: Mapping[Function, Function]) -> bool:
    """Whether a function may be put below another: not if it is that, or stands above it, nor any deeper than told."""
    met: Function | None = above
    for _ in range(MOST_DEPTH):
        if met is None or met == below:
            return met is None
        met = caller.get(met)
    return False


def scope_words(report: Report, found: Compilation) -> str:
    """Of which compilation a number is, in front of it; empty where a run has only one."""
    return f"[{found.id}] " if len(report.compilations) > 1 else ""


@dataclass(frozen=True, slots=True)
class Share:
    """What holds the ops: the compilations of each name that are no small helpers, the most ops first; the helpers, and
    how many of those captured nothing at all.
    """

    large: tuple[tuple[str, tuple[Entry, ...]], ...]
    small: int
    empty: int


def share(entries: Sequence[Entry]) -> Share:
    """The compilations by the part of all captured ops that they hold."""
    every = [entry for _, entry in flattened(entries)]
    least = SMALL * sum(entry.ops for entry in every)
    largest = max((entry.ops for entry in every), default=0)
    together = Counter[str]()
    for entry in every:
        together[_model(entry.name)] += entry.ops
    large: dict[str, list[Entry]] = {}
    small = []
    for entry in every:
        # Of a long job each compilation is a small part, and those of one function together are not.
        helps = together[_model(entry.name)] < least or entry.ops < SMALL * largest
        if entry.ops and not helps:
            large.setdefault(_model(entry.name), []).append(entry)
        else:
            small.append(entry)
    groups = sorted(large.items(), key=lambda item: -max(entry.ops for entry in item[1]))
    return Share(
        tuple((name, tuple(group)) for name, group in groups), len(small), sum(not entry.ops for entry in small)
    )


def _model(name: str) -> str:
    """What a function is a part of: all methods of one class are one thing to tell of."""
    whole = name.partition(", after line ")[0]
    return whole if " at " in whole else whole.partition(".")[0].partition(" (")[0]


def tree_sentence(entries: Sequence[Entry]) -> str:
    """What was compiled, as prose with code in backticks: the model, what was compiled again of it, and how many
    helpers.
    """
    found = share(entries)
    made = sum(len(group) for _, group in found.large) + found.small
    if not made:
        return "Nothing was compiled."
    if made == 1:
        first = entries[0]
        return f"1 compilation: `{first.name}`{'' if first.ops else ', without a graph'}."
    named = found.large if len(found.large) <= NAMED else ()
    parts = [part for name, group in named for part in _large(name, group)]
    if len(found.large) > NAMED:
        parts.append(f"{number(made - found.small)} in {count(len(found.large), 'function')}")
    parts += _small(found)
    return f"{count(made, 'compilation')}: {_listed(parts)}."


def _large(name: str, group: Sequence[Entry]) -> list[str]:
    kinds = Counter(entry.kind for entry in group)
    if kinds["frame"] > 1:
        return [f"`{name}` in {number(len(group))} of them"]
    parts = [f"`{name}`"]
    if kinds["recompile"]:
        parts.append(f"{count(kinds['recompile'], 'recompile')} of it")
    if kinds["resume"]:
        parts.append(
            f"{count(kinds['resume'], 'function')} that {agree(kinds['resume'], 'goes', 'go')} on after its breaks"
        )
    return parts


def _small(found: Share) -> list[str]:
    if not found.small:
        return []
    if found.empty == found.small:
        return [f"{number(found.small)} without a graph"]
    empty = f" ({number(found.empty)} without a graph)" if found.empty else ""
    return [f"{count(found.small, 'small helper')}{empty}"]


def _listed(parts: Sequence[str]) -> str:
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)
