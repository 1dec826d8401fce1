"""What was compiled again: the tree of each frame, what each recompile was made for and cost, and which call used which
code.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from core.analysis.dynamo.frames_entered import used
from core.analysis.phases import compile_seconds
from core.analysis.work import frame_of
from core.report import Compilation, Guard, Recompile, Report

ToldBy = Literal["reason", "guard", "symbol", ""]
CallUse = Literal["compiled", "failed", "used", "unknown", ""]
LOCAL = re.compile(r"\bL\['(\w+)'\]")
COMPARED = re.compile(r"^(.+?) (?:==|is) (.+)$")
OF_TENSOR = re.compile(r"^tensor '(.+)' \S+(?: key set)? mismatch")


@dataclass(frozen=True, slots=True)
class RecompileEdge:
    """From the code that was used last to the one that was made for it: the guard that failed, and what it met.

    `older` are the reasons why codes from before could not be used either. `old` is what the guard expected and `new`
    what came, told by torch's reason, by a guard of the new code, or by the symbol that the new code has for it; empty
    where nothing tells it. `call` is the call that met it.
    """

    reason: Recompile
    older: tuple[Recompile, ...]
    old: str
    new: str
    told_by: ToldBy
    guard: Guard | None

    @property
    def call(self) -> int | None:
        """The call that met it."""
        return self.reason.call


@dataclass(frozen=True, slots=True)
class LineageNode:
    """A compilation in the tree of its frame, `depth` below the first; `edge` is None for the first, and where torch
    logged no reason. `seconds` is what compiling it took, None where no phase was logged.
    """

    compilation: Compilation
    depth: int
    edge: RecompileEdge | None
    seconds: float | None
    calls: tuple[CallUse, ...]


@dataclass(frozen=True, slots=True)
class FrameLineage:
    """The compilations of a frame in the order of their tree, and what those after the first took together."""

    nodes: tuple[LineageNode, ...]
    again_s: float

    @property
    def first(self) -> Compilation:
        """The first compilation of the frame."""
        return self.nodes[0].compilation


def lineage(report: Report) -> tuple[tuple[Compilation, ...], ...]:
    """Compilations by frame in their order, for the frames that were compiled more than once."""
    frames: dict[str, list[Compilation]] = {}
    for compilation in report.compilations:
        frames.setdefault(frame_of(compilation), []).append(compilation)
    return tuple(tuple(compilations) for compilations in frames.values() if len(compilations) > 1)


def lineages_by_function(report: Report) -> tuple[tuple[tuple[Compilation, ...], ...], ...]:
    """The frames that were compiled more than once, those of one function together: a long job, or a log of several
    ranks, has a frame for each instance that is compiled by itself.
    """
    functions: dict[tuple[str, int, str], list[tuple[Compilation, ...]]] = {}
    for frames in lineage(report):
        first = frames[0].frame
        functions.setdefault((first.file, first.line, first.name), []).append(frames)
    return tuple(tuple(alike) for alike in functions.values())


@dataclass(frozen=True, slots=True)
class LineageGroup:
    """Frames of one function that were compiled again for the same reasons: the tree that took longest, those of all,
    and what their recompiles took together.
    """

    longest: FrameLineage
    frames: tuple[FrameLineage, ...]
    again_s: float


def lineage_groups(found: Sequence[FrameLineage]) -> tuple[LineageGroup, ...]:
    """Trees that are alike but for ids and seconds, those that took longest together first."""
    groups: dict[tuple[object, ...], list[FrameLineage]] = {}
    for tree in found:
        first = tree.first.frame
        reasons = tuple((node.depth, node.edge and node.edge.reason.reason) for node in tree.nodes)
        groups.setdefault((first.file, first.line, first.name, reasons), []).append(tree)
    made = [LineageGroup(alike[0], tuple(alike), sum(tree.again_s for tree in alike)) for alike in groups.values()]
    return tuple(sorted(made, key=lambda group: -group.again_s))


def lineages(report: Report) -> tuple[FrameLineage, ...]:
    """The tree of each frame that was compiled more than once, the one whose recompiles took longest first."""
    seconds = compile_seconds(report.phases)
    uses = call_uses(report)
    by_id = {found.id: found for found in report.compilations}
    reasons: dict[str, list[Recompile]] = {}
    for reason in report.recompiles:
        reasons.setdefault(reason.compilation, []).append(reason)
    found = (_frame(compilations, reasons, by_id, seconds, uses) for compilations in lineage(report))
    return tuple(sorted(found, key=lambda frame: -frame.again_s))


def _frame(
    compilations: Sequence[Compilation],
    reasons: Mapping[str, Sequence[Recompile]],
    by_id: Mapping[str, Compilation],
    seconds: Mapping[str, float],
    uses: Mapping[str, tuple[CallUse, ...]],
) -> FrameLineage:
    edges = {found.id: _edge(found, reasons.get(found.id, ()), by_id) for found in compilations}
    parents = {found: edge.reason.failed for found, edge in edges.items() if edge}
    nodes = tuple(
        LineageNode(found, depth, edges[found.id], seconds.get(found.id), uses.get(found.id, ()))
        for found, depth in _in_order(compilations, parents)
    )
    return FrameLineage(nodes, sum(seconds.get(found.id, 0.0) for found in compilations[1:]))


def _in_order(compilations: Sequence[Compilation], parents: Mapping[str, str]) -> Iterator[tuple[Compilation, int]]:
    """Each compilation behind the one whose code failed, with its depth; one whose parent is not known is a first."""
    depths: dict[str, int] = {}
    below: dict[str, list[Compilation]] = {}
    for found in compilations:
        parent = parents.get(found.id, "")
        known = parent in depths
        depths[found.id] = depths[parent] + 1 if known else 0
        below.setdefault(parent if known else "", []).append(found)
    waiting = below.get("", [])[::-1]
    while waiting:
        found = waiting.pop()
        yield found, depths[found.id]
        waiting += below.get(found.id, [])[::-1]


def recompile_edge(report: Report, compilation: Compilation) -> RecompileEdge | None:
    """Why a compilation was made; None for a first, and where torch logged no reason."""
    reasons = [reason for reason in report.recompiles if reason.compilation == compilation.id]
    return _edge(compilation, reasons, {found.id: found for found in report.compilations})


def _edge(
    compilation: Compilation, reasons: Sequence[Recompile], by_id: Mapping[str, Compilation]
) -> RecompileEdge | None:
    if not reasons:
        return None
    first, *older = reasons
    failed = by_id.get(first.failed)
    guard = failed_guard(first, failed.guards) if failed else None
    new, told_by = _new_value(first, compilation)
    return RecompileEdge(first, tuple(older), _old_value(first), new, told_by, guard)


def _old_value(reason: Recompile) -> str:
    """What the guard expected; empty for a condition that no one value meets."""
    if reason.actual:
        return reason.expected
    return next((reason.expected.removeprefix(sign) for sign in ("== ", "is ") if reason.expected.startswith(sign)), "")


def _new_value(reason: Recompile, made: Compilation) -> tuple[str, ToldBy]:
    """What came instead of what was expected: torch's reason tells it of tensors alone, the new code's own guard or
    symbol of the rest.
    """
    if reason.actual:
        return reason.actual, "reason"
    text = reason.reason.split("\n")[0]
    compared = COMPARED.match(text)
    for guard in made.guards if compared else ():
        found = COMPARED.match(local_names(guard.expression.split("\n")[0]))
        if found and compared and found.group(1) == compared.group(1) and found.group(2) != compared.group(2):
            return found.group(2), "guard"
    for symbol in made.symbols:
        if symbol.source and _names(text, local_names(symbol.source)):
            return symbol.value, "symbol"
    return "", ""


def _names(text: str, value: str) -> bool:
    """Whether a text is about a value, and not about one that begins or ends like it."""
    return re.search(rf"(?<![\w.]){re.escape(value)}(?![\w.\[])", text) is not None


def failed_guard(reason: Recompile, guards: Sequence[Guard]) -> Guard | None:
    """The guard of the code that could not be used that torch's reason is about; None where the text does not tell."""
    text = reason.reason.split("\n")[0]
    tensor = OF_TENSOR.match(text)
    if tensor:
        named = (guard for guard in guards if local_names(guard.source) == local_names(tensor.group(1)))
        return next((guard for guard in named if guard.kind == "TENSOR_MATCH"), None)
    wanted = local_names(text)
    return next((guard for guard in guards if wanted in map(local_names, guard.expression.split("\n"))), None)


def local_names(text: str) -> str:
    """Locals as torch names them in its reasons: `x` for `L['x']`."""
    return LOCAL.sub(r"\1", text)


def call_uses(report: Report) -> dict[str, tuple[CallUse, ...]]:
    """Compilation → for each call of the run whether it compiled it, failed to, or used its code again; `unknown` where
    that was not recorded. Nothing for a log without calls.
    """
    found: dict[str, list[CallUse]] = {item.id: [""] * len(report.calls) for item in report.compilations}
    for place, (call, again) in enumerate(zip(report.calls, used(report), strict=True)):
        for item in report.compilations:
            if item.call == call.index:
                found[item.id][place] = "failed" if item.status == "failed" else "compiled"
            elif item.call is not None and item.call < call.index and item.status != "failed":
                found[item.id][place] = "unknown" if again is None else again.get(item.id, "")
    return {name: tuple(calls) for name, calls in found.items() if calls}
