"""Recompiles page: a tree of each recompiled frame, and recompiles with failed guard and fixes."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, partial

from core.analysis.dynamo.failures import frame_names
from core.analysis.dynamo.recompiles import (
    CallUse,
    FrameLineage,
    LineageGroup,
    LineageNode,
    RecompileEdge,
    lineage_groups,
    lineages,
    recompiled,
)
from core.analysis.repairs.offers import newest_reasons
from core.analysis.repairs.trials import recompile_subject
from core.analysis.verdict import records_dynamo
from core.analysis.work import heaviest, refused_calls, uncompiled_calls
from core.base import words as fmt
from core.report import Call, Compilation, Recompile, Report
from core.views.blocks import (
    NOTHING_PICKED,
    Card,
    Code,
    Column,
    Data,
    Drawn,
    Fold,
    InLine,
    Lazy,
    Listing,
    PageBlock,
    PageLink,
    Picks,
    Table,
    Title,
    folded,
    paragraph,
    spans,
)
from core.views.fixes import ORIGINAL, FixesView, offer, offer_all
from core.views.glossary import GLOSSARY
from core.views.markdown import LONGEST_LINE, LONGEST_NAME, LONGEST_TEXT, code, one_line, plain, prose
from core.views.verdict import uncompiled_words
from core.views.wire import RecompileRow

# Names: the part that the page draws, and the selected compilation.
LINEAGE, SELECT = "lineage", "select"
# Recompiles that other outputs than the dashboard explain.
MOST_EXPLAINED = 100  #: limit: recompiles that a file or the command line has in full
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


RECOMPILE_COLUMNS: tuple[Column[RecompileRow], ...] = (
    Column("id", lambda row: f"{'↳ ' * row.depth}[{row.id}]"),
    Column("failed guard", lambda row: row.because or "first compilation"),
    Column("expected", lambda row: row.old),
    Column("got", lambda row: row.new),
    Column("call", lambda row: row.call),
    Column("took", lambda row: row.took),
)


def recompiles(
    report: Report, fixes: FixesView, compilation: Compilation | None = None, picks: Picks = NOTHING_PICKED
) -> Iterator[PageBlock]:
    """Yield the recompiles of a run: a tree per function, and the selected recompile in full."""
    view = RecompilesView(report)
    yield Title(spans(view.title), GLOSSARY["recompile"] if view.count else "")
    yield Drawn(ORIGINAL)
    if not view.count:
        yield from view.without_recompiles()
        return
    yield InLine((*paragraph(view.sources, "quiet"), Data("recompiles", report.recompiles)))
    yield from offer_all(fixes, "recompiles")
    chosen = view.chosen(compilation, picks.text(SELECT))
    for number, tree in enumerate(view.trees(chosen)):
        yield from paragraph(tree.similar, "quiet")
        yield Drawn(LINEAGE, Lazy(partial(view.tree_blocks, tree)), (view, number, tree, chosen))
        if tree.shown is not None:
            yield Card(f"recompile-{chosen.replace('/', '-')}", tuple(view.details(tree.shown)))
            recompile = view.newest.get(chosen)
            yield from offer(fixes.of_recompile(recompile), f"recompile-{chosen}") if recompile is not None else ()
    if view.with_symbols:
        label = "Dynamic shapes: symbols of the inputs that changed"
        yield PageLink("dynamic_shapes", label, {"compilation": view.with_symbols})


@dataclass(frozen=True, slots=True)
class RecompileTree:
    """The tree of one frame, shown for all similar frames of its function.

    Frames are similar if they recompiled for the same reasons. `similar` has their number and total time, empty
    for a single frame. `shown` is the selected recompile, None if it is not in this tree.
    """

    name: str
    summary: str
    nodes: tuple[LineageNode, ...]
    similar: str
    shown: LineageNode | None

    @property
    def rows(self) -> tuple[RecompileRow, ...]:
        """A row for each compilation."""
        return tuple(map(_row, self.nodes))


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
            calls = uncompiled_words(uncompiled_calls(self.report))
            return f"No recompile: {calls or 'the first compilation of every frame served all calls'}."
        recompile_s = sum(frame.recompile_s for frame in self._frames)
        took = f", {fmt.duration_s(recompile_s)} of compile time" if recompile_s else ""
        attempts = {recompile.compilation for recompile in self.report.recompiles} - self._recompiled
        ended = f" ({fmt.count(len(attempts), 'more attempt', 'more attempts')} compiled nothing)" if attempts else ""
        return f"{fmt.count(self.count, 'recompile')} because a guard failed{ended}{took}."

    def without_recompiles(self) -> Iterator[PageBlock]:
        """Yield the calls that the compiled code refused, each with the error, and how to get a recompile."""
        if not self.report.compilations:
            return
        for call in refused_calls(self.report):
            yield Listing(f"Call {call.index}: {one_line(call.inputs)}", Code(call.raised, "text"), is_open=True)
        advice = "To see one, add two calls with different shapes, dtypes or arguments in the options of a new run."
        yield from paragraph(advice)

    def tree_blocks(self, tree: RecompileTree) -> Iterator[PageBlock]:
        """Yield a tree as a table, with those recompiles in full that the page does not show."""
        yield from paragraph(f"**{plain(tree.name)}** {plain(tree.summary)}")
        yield Table(f"recompiles of {tree.name}", RECOMPILE_COLUMNS, tree.rows)
        for node in tree.nodes:
            if node.edge and node is not tree.shown and node.compilation.id in self._explained:
                condition = code(_condition(node.edge.reason))
                yield Fold(spans(f"{_heading(node, node.edge)}: {condition}"), tuple(self.details(node)[2:]))

    @cached_property
    def _explained(self) -> frozenset[str]:
        ids = [compilation.id for compilation in self.report.compilations if compilation.id in self.newest]
        return frozenset(ids[:MOST_EXPLAINED])

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

    def chosen(self, compilation: Compilation | None, selected: str) -> str:
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
            nodes=frame.nodes,
            similar=_similar(group),
            shown=node,
        )

    def details(self, node: LineageNode) -> list[PageBlock]:
        """Return a compilation in full: heading, links, and for a recompile guard, values and hint."""
        edge, compile_id = node.edge, node.compilation.id
        if edge is None:
            why = "the first compilation of its frame" if node.depth == 0 else "the reason was not recorded"
            return [*paragraph(f"**\\[{plain(compile_id)}\\]** {why}")]
        failed, guard = edge.reason.failed, edge.guard
        search = {"guard": guard.source or guard.kind} if guard else {}
        guards = PageLink("guards", f"Guards of [{failed}]" if failed else "Guards", {**search, "compilation": failed})
        graph = PageLink("fx_graph", f"Graph of [{compile_id}]", {"compilation": compile_id})
        hint, error = edge.reason.hint, node.compilation.error or "this compilation failed"
        older = [block for text in _older(edge) for block in paragraph(text)]
        return [
            InLine((*paragraph(_heading(node, edge)), guards, graph)),
            Listing("Failed guard", Code(one_line(_condition(edge.reason), LONGEST_TEXT)), is_open=True),
            *paragraph(" · ".join(_values(edge, self.report.calls))),
            *paragraph(f"torch's hint: {prose(hint, LONGEST_TEXT)}" if hint else "", "quiet"),
            *paragraph(plain(error) if node.compilation.status == "failed" else "", "warn"),
            *folded(f"{fmt.count(len(edge.older), 'older compilation')} had a failed guard, too", older),
        ]

    @cached_property
    def newest(self) -> dict[str, Recompile]:
        """Compilation id → newest reason why it was compiled."""
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


def _heading(node: LineageNode, edge: RecompileEdge) -> str:
    took = f" took {fmt.duration_s(node.seconds)}" if node.seconds else ""
    return f"**{_edge_words(edge.reason.failed, node.compilation.id)}**{took}"


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
