"""Guards, recompiles and symbols of a run, and the code that each call used.

The reused code of a call follows from Dynamo's cache order: the most recently used entry comes first. The
order does not show if a frame was entered at all. Entry is certain for a frame whose order changed, for the
frame of an entered resume function, and for all frames if enough call sites reused code.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from core.analysis.durations import compile_seconds
from core.analysis.dynamo.failures import resumed
from core.analysis.work import frame_of
from core.base.decoder import toml_as
from core.report import (
    Call,
    Compilation,
    Frame,
    FxNode,
    Guard,
    GuardFamily,
    Recompile,
    Report,
    Specialization,
    Symbol,
    SymbolGuard,
    guard_family,
    module_roots,
)

ValueOrigin = Literal["reason", "guard", "symbol", ""]
CallUse = Literal["compiled", "failed", "used", "unknown", ""]
LOCAL = re.compile(r"\bL\['(\w+)'\]")
COMPARED = re.compile(r"^(.+?) (?:==|is) (.+)$")
OF_TENSOR = re.compile(r"^tensor '(.+)' \S+(?: key set)? mismatch")
ReuseState = Literal["used", "unknown"]


@dataclass(frozen=True, slots=True)
class RecompileEdge:
    """Edge from the compilation used last to the recompile: the failed guard and its values.

    `older` are the reasons why earlier compiled code could not be reused. `old` is the guard's expected value,
    `new` the actual value; empty if unknown. `new` is from torch's reason, a guard of the new code, or its
    symbol. `guard` is None if no guard matches torch's reason.
    """

    reason: Recompile
    older: tuple[Recompile, ...]
    old: str
    new: str
    value_origin: ValueOrigin
    guard: Guard | None

    @property
    def call(self) -> int | None:
        """Index of the call that triggered the recompile; None if calls were not recorded."""
        return self.reason.call


@dataclass(frozen=True, slots=True)
class LineageNode:
    """A compilation in its frame's tree, `depth` levels below the first.

    `edge` is None if torch logged no recompile reason. `seconds` is the compile time, None if no phase was
    logged.
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
    recompile_s: float

    @property
    def first(self) -> Compilation:
        """First compilation of the frame."""
        return self.nodes[0].compilation


def lineage(report: Report) -> tuple[tuple[Compilation, ...], ...]:
    """Return the logged compilations of each recompiled frame, in order; a late log may lack the first."""
    frames: dict[str, list[Compilation]] = {}
    for compilation in report.compilations:
        frames.setdefault(frame_of(compilation), []).append(compilation)
    recompiled = {recompile.compilation for recompile in report.recompiles}
    return tuple(
        tuple(compilations)
        for compilations in frames.values()
        if len(compilations) > 1 or compilations[0].id in recompiled
    )


def recompiled(report: Report) -> tuple[str, ...]:
    """Return the ids of the compilations that a failed guard made, without those that compiled no code."""
    failed = {compilation.id for compilation in report.compilations if compilation.status == "failed"}
    return tuple(dict.fromkeys(reason.compilation for reason in report.recompiles if reason.compilation not in failed))


def lineages_by_function(report: Report) -> tuple[tuple[tuple[Compilation, ...], ...], ...]:
    """Return the recompiled frames grouped by function: a model may have one per instance."""
    functions: dict[tuple[str, int, str], list[tuple[Compilation, ...]]] = {}
    for frames in lineage(report):
        first = frames[0].frame
        functions.setdefault((first.file, first.line, first.name), []).append(frames)
    return tuple(tuple(group) for group in functions.values())


@dataclass(frozen=True, slots=True)
class LineageGroup:
    """Frames of one function that recompiled for the same reasons.

    `longest` is the tree that took longest, `recompile_s` the total seconds of all recompiles.
    """

    longest: FrameLineage
    frames: tuple[FrameLineage, ...]
    recompile_s: float


def lineage_groups(trees: Sequence[FrameLineage]) -> tuple[LineageGroup, ...]:
    """Group trees that are equal except for ids and seconds, longest total first."""
    groups: dict[tuple[object, ...], list[FrameLineage]] = {}
    for tree in trees:
        first = tree.first.frame
        reasons = tuple((node.depth, node.edge and node.edge.reason.reason) for node in tree.nodes)
        groups.setdefault((first.file, first.line, first.name, reasons), []).append(tree)
    grouped = [
        LineageGroup(similar[0], tuple(similar), sum(tree.recompile_s for tree in similar))
        for similar in groups.values()
    ]
    return tuple(sorted(grouped, key=lambda group: -group.recompile_s))


def lineages(report: Report) -> tuple[FrameLineage, ...]:
    """Return the tree of each recompiled frame, longest recompile time first."""
    seconds = compile_seconds(report)
    uses = call_uses(report)
    by_id = {compilation.id: compilation for compilation in report.compilations}
    reasons: dict[str, list[Recompile]] = {}
    for reason in report.recompiles:
        reasons.setdefault(reason.compilation, []).append(reason)
    frames = (_frame(compilations, reasons, by_id, seconds, uses) for compilations in lineage(report))
    return tuple(sorted(frames, key=lambda frame: -frame.recompile_s))


def _frame(
    compilations: Sequence[Compilation],
    reasons: Mapping[str, Sequence[Recompile]],
    by_id: Mapping[str, Compilation],
    seconds: Mapping[str, float],
    uses: Mapping[str, tuple[CallUse, ...]],
) -> FrameLineage:
    edges = {compilation.id: _edge(compilation, reasons.get(compilation.id, ()), by_id) for compilation in compilations}
    parents = {name: edge.reason.failed for name, edge in edges.items() if edge}
    nodes = tuple(
        LineageNode(
            compilation, depth, edges[compilation.id], seconds.get(compilation.id), uses.get(compilation.id, ())
        )
        for compilation, depth in _in_order(compilations, parents)
    )
    recompiled = compilations if edges[compilations[0].id] else compilations[1:]
    return FrameLineage(nodes, sum(seconds.get(compilation.id, 0.0) for compilation in recompiled))


def _in_order(compilations: Sequence[Compilation], parents: Mapping[str, str]) -> Iterator[tuple[Compilation, int]]:
    """Yield each compilation with its depth, after its parent, the one whose guard failed."""
    depths: dict[str, int] = {}
    below: dict[str, list[Compilation]] = {}
    for compilation in compilations:
        parent = parents.get(compilation.id, "")
        has_parent = parent in depths
        depths[compilation.id] = depths[parent] + 1 if has_parent else 0
        below.setdefault(parent if has_parent else "", []).append(compilation)
    waiting = below.get("", [])[::-1]
    while waiting:
        compilation = waiting.pop()
        yield compilation, depths[compilation.id]
        waiting += below.get(compilation.id, [])[::-1]


def recompile_edge(report: Report, compilation: Compilation) -> RecompileEdge | None:
    """Return the recompile edge of a compilation; None if torch logged no recompile reason."""
    reasons = [reason for reason in report.recompiles if reason.compilation == compilation.id]
    return _edge(compilation, reasons, {logged.id: logged for logged in report.compilations})


def _edge(
    compilation: Compilation, reasons: Sequence[Recompile], by_id: Mapping[str, Compilation]
) -> RecompileEdge | None:
    if not reasons:
        return None
    first, *older = reasons
    failed = by_id.get(first.failed)
    guard = failed_guard(first, failed.guards) if failed else None
    new, value_origin = _new_value(first, compilation)
    return RecompileEdge(first, tuple(older), _old_value(first), new, value_origin, guard)


def _old_value(reason: Recompile) -> str:
    """Return the value the guard expected; empty if no single value satisfies the condition."""
    if reason.actual:
        return reason.expected
    return next((reason.expected.removeprefix(sign) for sign in ("== ", "is ") if reason.expected.startswith(sign)), "")


def _new_value(reason: Recompile, recompiled: Compilation) -> tuple[str, ValueOrigin]:
    """Return the actual value and its origin: torch's reason for tensors, else a guard or symbol."""
    if reason.actual:
        return reason.actual, "reason"
    text = reason.reason.split("\n")[0]
    compared = COMPARED.match(text)
    for guard in recompiled.guards if compared else ():
        match = COMPARED.match(local_names(guard.expression.split("\n")[0]))
        if match and compared and match.group(1) == compared.group(1) and match.group(2) != compared.group(2):
            return match.group(2), "guard"
    for symbol in recompiled.symbols:
        if symbol.source and _mentions_value(text, local_names(symbol.source)):
            return symbol.value, "symbol"
    return "", ""


def _mentions_value(text: str, value: str) -> bool:
    """Return True if a text mentions exactly this value, not a longer one that contains it."""
    return re.search(rf"(?<![\w.]){re.escape(value)}(?![\w.\[])", text) is not None


def failed_guard(reason: Recompile, guards: Sequence[Guard]) -> Guard | None:
    """Return the guard that torch's reason refers to; None if no guard matches the text."""
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
    """Return compilation → use in each call: compiled, failed, used, unknown, or empty if not used."""
    uses: dict[str, list[CallUse]] = {compilation.id: [""] * len(report.calls) for compilation in report.compilations}
    for place, (call, reused) in enumerate(zip(report.calls, used(report), strict=True)):
        for compilation in report.compilations:
            if compilation.call == call.index:
                uses[compilation.id][place] = "failed" if compilation.status == "failed" else "compiled"
            elif compilation.call is not None and compilation.call < call.index and compilation.status != "failed":
                uses[compilation.id][place] = "unknown" if reused is None else reused.get(compilation.id, "")
    return {name: tuple(calls) for name, calls in uses.items() if calls}


def used(report: Report) -> tuple[dict[str, ReuseState] | None, ...]:
    """Return the compilations that were or may have been reused by each call; None if not recorded."""
    by_id = {compilation.id: compilation for compilation in report.compilations}
    before: frozenset[str] = frozenset()
    reused: list[dict[str, ReuseState] | None] = []
    for call in report.calls:
        reused.append(None if call.entered is None else _reused_by(call, before, by_id))
        before = frozenset(call.newest)
    return tuple(reused)


def _reused_by(call: Call, before: frozenset[str], by_id: dict[str, Compilation]) -> dict[str, ReuseState]:
    newest = [by_id[name] for name in call.newest if name in by_id]
    compiled = [compilation for compilation in newest if compilation.call == call.index]
    rest = [compilation for compilation in newest if compilation.call != call.index]
    sure = {compilation.id for compilation in rest if compilation.id not in before}
    sure |= _entered_for_resume([*compiled, *(compilation for compilation in rest if compilation.id in sure)], rest)
    left = (call.entered or 0) - len(sure)
    possible = [compilation.id for compilation in rest if compilation.id not in sure]
    if left <= 0:
        return dict.fromkeys(sure, "used")
    return {**dict.fromkeys(sure, "used"), **dict.fromkeys(possible, "used" if left >= len(possible) else "unknown")}


def _entered_for_resume(entered: list[Compilation], rest: list[Compilation]) -> set[str]:
    """Return the ids of compilations that a resume function shows were entered, if unambiguous."""
    parts = (resumed(compilation.frame.name) for compilation in entered)
    names = {name for name, line in parts if line is not None}
    frames = {name: {frame_of(compilation) for compilation in rest if compilation.frame.name == name} for name in names}
    return {compilation.id for compilation in rest if len(frames.get(compilation.frame.name, ())) == 1}


PROTECTS = toml_as(Path(__file__).with_name("guards.toml"), dict[str, str])
# Condition of the guards that torch checks last, by family.
OF_LAST: dict[GuardFamily, str] = {
    "shape": "sizes and strides satisfy the conditions of the compiled code",
    "number": "numbers satisfy the conditions of the compiled code, such as not being NaN",
}
# Files of our worker, which calls the model, and of torch, which traces its graphs again: no user code.
NOT_USER_CODE = re.compile(r"/core/worker/|/torch/(?:fx/|_)|^<string>$")


@dataclass(frozen=True, slots=True)
class GuardRow:
    """A guard, with the compilations caused by its failure."""

    guard: Guard
    family: GuardFamily
    recompiles: tuple[str, ...]

    @property
    def protects(self) -> str:
        """Condition that the guard protects, in words; empty for an unknown kind."""
        return OF_LAST.get(self.family) or PROTECTS.get(self.guard.kind, "")


@dataclass(frozen=True, slots=True)
class GuardFamilyShare:
    """Guards of a family, their microseconds per check including access to the values, and their share.

    Microseconds and share are None if not recorded.
    """

    family: GuardFamily
    rows: tuple[GuardRow, ...]
    check_us: float | None
    share: float | None

    @property
    def recompiles(self) -> tuple[str, ...]:
        """Compilations caused by its guards, each once."""
        return tuple(dict.fromkeys(compilation for row in self.rows for compilation in row.recompiles))


def guard_rows(report: Report, compilation: Compilation) -> tuple[GuardRow, ...]:
    """Return the guards of a compilation with families; a recompile counts for torch's first guard."""
    modules = module_roots({guard.source for guard in compilation.guards})
    recompiles: dict[int, list[str]] = {}
    first = {reason.compilation: reason for reason in reversed(report.recompiles)}
    for reason in report.recompiles:
        is_first = reason.failed == compilation.id and first[reason.compilation] is reason
        failing = failed_guard(reason, compilation.guards) if is_first else None
        if failing is not None:
            recompiles.setdefault(id(failing), []).append(reason.compilation)
    return tuple(
        GuardRow(
            guard,
            guard_family(guard.kind, guard.source, modules, guard.depth == 0, guard.expression),
            tuple(recompiles.get(id(guard), ())),
        )
        for guard in compilation.guards
    )


def guard_families(compilation: Compilation, rows: Sequence[GuardRow]) -> tuple[GuardFamilyShare, ...]:
    """Return the families that have guards, longest check first.

    If only the family `other` was not measured, its time is the remaining check time, with the access to all values.
    """
    members: dict[GuardFamily, list[GuardRow]] = {}
    for row in rows:
        members.setdefault(row.family, []).append(row)
    times = _times(compilation, members)
    total = compilation.guard_costs.check_us if compilation.guard_costs else None
    shares = (
        GuardFamilyShare(
            family, tuple(family_rows), us := times.get(family), us / total if total and us is not None else None
        )
        for family, family_rows in members.items()
    )
    return tuple(sorted(shares, key=lambda share: (-(share.check_us or 0.0), -len(share.rows))))


def _times(compilation: Compilation, members: dict[GuardFamily, list[GuardRow]]) -> dict[GuardFamily, float]:
    costs = compilation.guard_costs
    if costs is None:
        return {}
    times = {family: costs.families_us[family] for family in members if family in costs.families_us}
    if "other" in members and set(members) - {"other"} == set(times):
        times["other"] = max(0.0, costs.check_us - sum(times.values()))
    return times


def guards_on(compilation: Compilation, node: FxNode) -> tuple[Guard, ...]:
    """Return the guards on the value of an input of Dynamo's graph; none if the node is not an input."""
    if node.op not in ("placeholder", "get_attr"):
        return ()
    wanted = _normalized(node.name)
    return tuple(guard for guard in compilation.guards if _normalized(guard.source) == wanted)


def mentions(guard: Guard, text: str) -> bool:
    """Return True if any field of a guard contains a text, ignoring case."""
    fields = (guard.kind, guard.source, guard.expression, guard.code, guard.location, guard.hint)
    return text.lower() in " ".join(str(field or "") for field in fields).lower()


def _normalized(name: str) -> str:
    """Return a common form of `L['self'].norm.weight` and Dynamo's placeholder `L_self_norm_weight_`."""
    return "_".join(part for part in "".join(c if c.isalnum() else "_" for c in name.lower()).split("_") if part)


@dataclass(frozen=True, slots=True)
class SymbolRow:
    """A symbol: conditions needed by tracing, conditions checked at every call, and its specializations."""

    symbol: Symbol
    needed: tuple[SymbolGuard, ...]
    checked: tuple[str, ...]
    specializations: tuple[Specialization, ...]

    @property
    def constant(self) -> str:
        """Constant that the symbol was specialized to; empty if it stayed symbolic."""
        return self.specializations[0].value if self.specializations else ""


def symbol_rows(compilation: Compilation) -> tuple[SymbolRow, ...]:
    """Return the symbols in the order torch created them."""
    lines = [line for guard in compilation.guards if guard.depth == 0 for line in guard.expression.split("\n")]
    return tuple(_row(symbol, compilation, lines) for symbol in compilation.symbols)


def _row(symbol: Symbol, compilation: Compilation, lines: Sequence[str]) -> SymbolRow:
    name = re.compile(rf"\b{re.escape(symbol.name)}\b")
    return SymbolRow(
        symbol,
        tuple(guard for guard in compilation.symbol_guards if name.search(guard.expression)),
        tuple(line.partition("  # ")[0] for line in lines if symbol.source and symbol.source in line),
        tuple(specialization for specialization in compilation.specializations if specialization.symbol == symbol.name),
    )


def users_frames(stack: Sequence[Frame]) -> tuple[Frame, ...]:
    """Return a stack without frames of our worker and of torch's tracing."""
    return tuple(frame for frame in stack if not NOT_USER_CODE.search(frame.file))
