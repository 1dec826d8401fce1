"""Recompiles of a run: the tree of each frame, and the failed guard of each recompile.

Texts are Markdown.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from core.analysis import (
    CallUse,
    FrameLineage,
    LineageGroup,
    LineageNode,
    RecompileEdge,
    frame_names,
    heaviest,
    lineage_groups,
    lineages,
    recompiled,
    records_dynamo,
    refused_calls,
    uncompiled_calls_words,
)
from core.analysis.repairs import newest_reasons, recompile_subject
from core.base import words as fmt
from core.report import Call, Compilation, Recompile, Report
from core.views.markdown import LONGEST_LINE, LONGEST_NAME, LONGEST_TEXT, code, one_line, plain, prose

__all__ = ["RecompileDetails", "RecompilesView"]

LETTERS: dict[CallUse, str] = {"compiled": "c", "failed": "f", "used": "u", "unknown": "?", "": " "}
LEGEND = {
    "c": "the call compiled it",
    "f": "not compiled, because of an error or a recompile limit: the frame ran eagerly",
    "u": "the call reused it",
    "?": "not recorded whether the call used it",
}
TOLD_BY = {
    "reason": "",
    "guard": " (inferred from a guard of the new code)",
    "symbol": " (the hint of its symbol in the new code)",
}


@dataclass(frozen=True, slots=True)
class RecompileRow:
    """A compilation in the tree of its frame, `depth` levels below the first.

    `because` is the failed guard without its values, which are `old` and `new`. `calls` has a letter for each call.
    """

    id: str
    depth: int
    failed: bool
    because: str
    old: str
    new: str
    call: str
    took: str
    calls: str


@dataclass(frozen=True, slots=True)
class RecompileTree:
    """The tree of one frame, shown for all similar frames of its function.

    Frames are similar if they recompiled for the same reasons. `similar` has their number and total time, empty
    for a single frame. `shown` is the selected recompile, None if it is not in this tree.
    """

    name: str
    summary: str
    rows: tuple[RecompileRow, ...]
    similar: str
    shown: RecompileDetails | None


@dataclass(frozen=True, slots=True)
class RecompileDetails:
    """A recompile in full: the failed guard, the expected and the new value, the call, and torch's hint.

    `failed` is the compilation whose guard failed, and `guard_search` finds that guard on the page of guards. For a
    frame's first compilation, and for a recompile without a recorded reason, only `heading` has text.
    """

    id: str
    heading: str
    recompile: Recompile | None
    failed: str = ""
    guard_search: str = ""
    condition: str = ""
    values: str = ""
    hint: str = ""
    error: str = ""
    older_label: str = ""
    older: tuple[str, ...] = ()

    @property
    def guards_label(self) -> str:
        """The label of a link to the guards of the compilation whose guard failed."""
        return f"Guards of [{self.failed}]" if self.failed else "Guards"

    @property
    def graph_label(self) -> str:
        """The label of a link to the graph of this compilation."""
        return f"Graph of [{self.id}]"


@dataclass(frozen=True)
class RecompilesView:
    """The recompiles of a run."""

    report: Report

    @cached_property
    def _frames(self) -> tuple[FrameLineage, ...]:
        return lineages(self.report)

    @cached_property
    def _recompiled(self) -> frozenset[str]:
        return frozenset(recompiled(self.report))

    @property
    def count(self) -> int:
        """Number of recompiles."""
        return len(self._recompiled)

    @property
    def title(self) -> str:
        """Number of recompiles and their total time, or a note that there are no recompiles."""
        if not self.report.compilations:
            return "No recompile: no frame was compiled."
        if not any(compilation.has_frame for compilation in self.report.compilations):
            return "No recompile: Dynamo compiled no frame in this log."
        if all(compilation.status == "failed" for compilation in self.report.compilations):
            return "No recompile: no frame could be compiled."
        if not records_dynamo(self.report):
            return "Recompiles were not recorded."
        if not self.count:
            calls = uncompiled_calls_words(self.report)
            return f"No recompile: {calls or 'the first compilation of every frame served all calls'}."
        recompile_s = sum(frame.recompile_s for frame in self._frames)
        took = f", {fmt.duration_s(recompile_s)} of compile time" if recompile_s else ""
        attempts = {recompile.compilation for recompile in self.report.recompiles} - self._recompiled
        ended = f" ({fmt.count(len(attempts), 'more attempt', 'more attempts')} compiled nothing)" if attempts else ""
        return f"{fmt.count(self.count, 'recompile')} because a guard failed{ended}{took}."

    @property
    def refused_calls(self) -> tuple[tuple[str, str], ...]:
        """Calls that the compiled code refused: each with its inputs in a sentence, and the error."""
        return tuple((f"Call {call.index}: {plain(call.inputs)}", call.raised) for call in refused_calls(self.report))

    @property
    def sources(self) -> str:
        """Note on how calls were matched to compilations, or on data that is not recorded."""
        calls = self.report.calls
        if not calls:
            return "The log does not contain calls: which call used which compilation is not recorded."
        if all(call.entered is None for call in calls):
            return "This log records which call compiled, but not which compilation a call reused."
        return (
            "*took* is the compile time. Reuse is inferred from the order in which Dynamo tries a frame's compilations."
        )

    @property
    def calls(self) -> tuple[str, ...]:
        """Inputs of each call."""
        return tuple(one_line(call.inputs, LONGEST_LINE) for call in self.report.calls)

    @property
    def legend(self) -> dict[str, str]:
        """Meaning of each letter in `RecompileRow.calls`."""
        return LEGEND

    @property
    def letters(self) -> str:
        """Letters that occur in the rows of all frames, each once."""
        uses = (use for frame in self._frames for node in frame.nodes for use in node.calls)
        return "".join({LETTERS[use]: None for use in uses})

    @property
    def with_symbols(self) -> str:
        """Id of a recompiled frame's last compilation with symbols; empty if there is none."""
        compilations = (node.compilation for frame in self._frames for node in frame.nodes[::-1])
        return next((compilation.id for compilation in compilations if compilation.symbols), "")

    def chosen(self, compilation: Compilation | None, selected: str | None) -> str:
        """Return the id of the recompile to show.

        It is the visitor's compilation if that is a recompile. Otherwise it is the last recompile of the guard that
        failed most often; between guards with the same number of failures, the longer total compile time decides.
        """
        nodes = [node for frame in self._frames for node in frame.nodes]
        recompiled = [node for node in nodes if node.edge]
        is_default = compilation == heaviest(self.report)
        if compilation is not None and (not is_default or compilation.id == selected):
            picked = [node for node in recompiled if node.compilation.id == compilation.id]
            if picked:
                return compilation.id
        return _most_frequent(recompiled or nodes).compilation.id

    def trees(self, chosen: str) -> tuple[RecompileTree, ...]:
        """Return the trees of all functions.

        Similar frames share a tree: that of the chosen recompile's frame, otherwise of the frame that took longest.
        """
        return tuple(self._tree(group, chosen) for group in lineage_groups(self._frames))

    def _tree(self, group: LineageGroup, chosen: str) -> RecompileTree:
        nodes = {node.compilation.id: (node, frame) for frame in group.frames for node in frame.nodes}
        node, frame = nodes.get(chosen, (None, group.longest))
        first = frame.first.frame
        took = f"; recompiling took {fmt.duration_s(frame.recompile_s)}" if frame.recompile_s else ""
        place = f"{first.short} · " if first.file else ""
        return RecompileTree(
            name=one_line(frame_names(self.report)[frame.first.id], LONGEST_NAME),
            summary=one_line(f"{place}{fmt.count(len(frame.nodes), 'compilation')}{took}", LONGEST_LINE),
            rows=tuple(map(_row, frame.nodes)),
            similar=_similar(group),
            shown=self._details(node) if node is not None else None,
        )

    def _details(self, node: LineageNode) -> RecompileDetails:
        edge, compile_id = node.edge, node.compilation.id
        if edge is None:
            why = "the first compilation of its frame" if node.depth == 0 else "the reason was not recorded"
            return RecompileDetails(compile_id, f"**\\[{plain(compile_id)}\\]** {why}", self._newest.get(compile_id))
        took = f" took {fmt.duration_s(node.seconds)}" if node.seconds else ""
        failed = node.compilation.status == "failed"
        return RecompileDetails(
            compile_id,
            heading=f"**{_edge_words(edge.reason.failed, compile_id)}**{took}",
            recompile=self._newest.get(compile_id),
            failed=edge.reason.failed,
            guard_search=(edge.guard.source or edge.guard.kind) if edge.guard else "",
            condition=one_line(_condition(edge.reason), LONGEST_TEXT),
            values=" · ".join(_values(edge, self.report.calls)),
            hint=f"torch's hint: {prose(edge.reason.hint, LONGEST_TEXT)}" if edge.reason.hint else "",
            error=plain(node.compilation.error or "this compilation failed") if failed else "",
            older_label=f"{fmt.count(len(edge.older), 'older compilation')} had a failed guard, too",
            older=tuple(_older(edge)),
        )

    @cached_property
    def _newest(self) -> dict[str, Recompile]:
        return {recompile.compilation: recompile for recompile in newest_reasons(self.report.recompiles)}


def _most_frequent(nodes: list[LineageNode]) -> LineageNode:
    groups: dict[str, list[LineageNode]] = {}
    for node in nodes:
        groups.setdefault(recompile_subject(node.edge.reason) if node.edge else "", []).append(node)
    return max(groups.values(), key=lambda group: (len(group), sum(node.seconds or 0.0 for node in group)))[-1]


def _similar(group: LineageGroup) -> str:
    if len(group.frames) < 2:
        return ""
    took = f", {fmt.duration_s(group.recompile_s)} together" if group.recompile_s else ""
    return f"{fmt.number(len(group.frames))} frames of this function, with the same reasons{took}."


def _row(node: LineageNode) -> RecompileRow:
    edge = node.edge
    return RecompileRow(
        id=node.compilation.id,
        depth=node.depth,
        failed=node.compilation.status == "failed",
        because=one_line(_without_values(_condition(edge.reason)), LONGEST_LINE) if edge else "",
        old=one_line(edge.old, LONGEST_NAME) if edge else "",
        new=one_line(edge.new, LONGEST_NAME) if edge else "",
        call=_call_words(node.compilation),
        took="" if node.seconds is None else fmt.duration_s(node.seconds),
        calls="".join(LETTERS[use] for use in node.calls),
    )


def _edge_words(failed: str, compile_id: str) -> str:
    """Return the two compilations of a recompile as Markdown, or one if the first is unknown."""
    before = f"\\[{plain(failed)}\\] → " if failed else ""
    return f"{before}\\[{plain(compile_id)}\\]"


def _condition(recompile: Recompile) -> str:
    """Return the failed guard in one line."""
    return recompile.reason.split("\n")[0]


def _without_values(condition: str) -> str:
    """Return a tensor's failed guard without the expected and the new value, which are shown separately."""
    return condition.partition(". expected ")[0]


def _call_words(compilation: Compilation) -> str:
    """Return the call that compiled, otherwise the user's labels; empty if neither was recorded."""
    if compilation.call is not None:
        return fmt.number(compilation.call)
    return one_line(", ".join(compilation.user_contexts), LONGEST_NAME)


def _values(edge: RecompileEdge, calls: tuple[Call, ...]) -> Iterator[str]:
    """Yield the expected value, the new value, the call, and the line that needed the guard."""
    if edge.old:
        yield f"expected {code(edge.old)}"
    yield f"got {code(edge.new)}{TOLD_BY[edge.value_origin]}" if edge.new else "the new value was not recorded"
    call = next((call for call in calls if call.index == edge.call), None)
    if call is not None:
        yield f"call {call.index} with {code(call.inputs)}"
    line = edge.reason.location
    if edge.reason.code and line:
        yield f"{code(edge.reason.code)} at {code(line.short)}"


def _older(edge: RecompileEdge) -> Iterator[str]:
    """Yield each reason of older compilations once, with their ids."""
    ids: dict[str, list[str]] = {}
    for recompile in edge.older:
        ids.setdefault(_condition(recompile), []).append(recompile.failed)
    for condition, failed in ids.items():
        yield f"{', '.join(f'[{plain(compile_id)}]' for compile_id in failed)} {code(condition)}"
