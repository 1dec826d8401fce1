"""Recompiles: the tree of each frame, cause and cost of each recompile, and the code used by each call."""

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
    """Edge from the compilation used last to the recompile: the failed guard and the value that failed it.

    `older` are the reasons why earlier compiled code could not be reused. `old` is the guard's expected value and `new`
    the actual one, from torch's reason, a guard of the new code, or its symbol; empty if unknown. `call` is the call
    that triggered the recompile.
    """

    reason: Recompile
    older: tuple[Recompile, ...]
    old: str
    new: str
    told_by: ToldBy
    guard: Guard | None

    @property
    def call(self) -> int | None:
        """Call that triggered the recompile."""
        return self.reason.call


@dataclass(frozen=True, slots=True)
class LineageNode:
    """A compilation in its frame's tree, `depth` levels below the first.

    `edge` is None for the first compilation and if torch logged no reason. `seconds` is the compile time, None if no
    phase was logged.
    """

    compilation: Compilation
    depth: int
    edge: RecompileEdge | None
    seconds: float | None
    calls: tuple[CallUse, ...]


@dataclass(frozen=True, slots=True)
class FrameLineage:
    """Compilations of a frame in tree order, and the total seconds of the recompiles."""

    nodes: tuple[LineageNode, ...]
    again_s: float

    @property
    def first(self) -> Compilation:
        """The first compilation of the frame."""
        return self.nodes[0].compilation


def lineage(report: Report) -> tuple[tuple[Compilation, ...], ...]:
    """Return the compilations of each frame that was compiled more than once, in order."""
    frames: dict[str, list[Compilation]] = {}
    for compilation in report.compilations:
        frames.setdefault(frame_of(compilation), []).append(compilation)
    return tuple(tuple(compilations) for compilations in frames.values() if len(compilations) > 1)


def lineages_by_function(report: Report) -> tuple[tuple[tuple[Compilation, ...], ...], ...]:
    """Return the recompiled frames grouped by function.

    A large model, or a log of several ranks, has one frame per separately compiled instance.
    """
    functions: dict[tuple[str, int, str], list[tuple[Compilation, ...]]] = {}
    for frames in lineage(report):
        first = frames[0].frame
        functions.setdefault((first.file, first.line, first.name), []).append(frames)
    return tuple(tuple(alike) for alike in functions.values())


@dataclass(frozen=True, slots=True)
class LineageGroup:
    """Frames of one function that recompiled for the same reasons.

    `longest` is the tree that took longest, `again_s` the total seconds of all recompiles.
    """

    longest: FrameLineage
    frames: tuple[FrameLineage, ...]
    again_s: float


def lineage_groups(found: Sequence[FrameLineage]) -> tuple[LineageGroup, ...]:
    """Group trees that are equal except for ids and seconds, longest total first."""
    groups: dict[tuple[object, ...], list[FrameLineage]] = {}
    for tree in found:
        first = tree.first.frame
        reasons = tuple((node.depth, node.edge and node.edge.reason.reason) for node in tree.nodes)
        groups.setdefault((first.file, first.line, first.name, reasons), []).append(tree)
    made = [LineageGroup(alike[0], tuple(alike), sum(tree.again_s for tree in alike)) for alike in groups.values()]
    return tuple(sorted(made, key=lambda group: -group.again_s))


def lineages(report: Report) -> tuple[FrameLineage, ...]:
    """Return the tree of each recompiled frame, longest recompile time first."""
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
    """Yield each compilation after the one whose code failed, with its depth; roots have an unknown parent."""
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
    """Return the cause of a compilation; None for the first one, and if torch logged no reason."""
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
    """Return the value the guard expected; empty if no single value satisfies the condition."""
    if reason.actual:
        return reason.expected
    return next((reason.expected.removeprefix(sign) for sign in ("== ", "is ") if reason.expected.startswith(sign)), "")


def _new_value(reason: Recompile, made: Compilation) -> tuple[str, ToldBy]:
    """Return the actual value and its origin.

    Torch's reason has it for tensors only; for other values a guard or symbol of the new code has it.
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
    """Return True if a text mentions exactly this value, not a longer one that contains it."""
    return re.search(rf"(?<![\w.]){re.escape(value)}(?![\w.\[])", text) is not None


def failed_guard(reason: Recompile, guards: Sequence[Guard]) -> Guard | None:
    """Return the guard of the unusable code that torch's reason refers to; None if the text is ambiguous."""
    text = reason.reason.split("\n")[0]
    tensor = OF_TENSOR.match(text)
    if tensor:
        named = (guard for guard in guards if local_names(guard.source) == local_names(tensor.group(1)))
        return next((guard for guard in named if guard.kind == "TENSOR_MATCH"), None)
    wanted = local_names(text)
    return next((guard for guard in guards if wanted in map(local_names, guard.expression.split("\n"))), None)


def local_names(text: str) -> str:
    """Return a text with locals as in torch's reasons: `x` for `L['x']`."""
    return LOCAL.sub(r"\1", text)


def call_uses(report: Report) -> dict[str, tuple[CallUse, ...]]:
    """Return compilation → use per call of the run: compiled it, failed to compile it, or reused its code.

    The use is `unknown` if it was not recorded. Empty for a log without calls.
    """
    found: dict[str, list[CallUse]] = {item.id: [""] * len(report.calls) for item in report.compilations}
    for place, (call, again) in enumerate(zip(report.calls, used(report), strict=True)):
        for item in report.compilations:
            if item.call == call.index:
                found[item.id][place] = "failed" if item.status == "failed" else "compiled"
            elif item.call is not None and item.call < call.index and item.status != "failed":
                found[item.id][place] = "unknown" if again is None else again.get(item.id, "")
    return {name: tuple(calls) for name, calls in found.items() if calls}
