"""Content of an HTML file as one value: titles, blocks, and the data of the graphs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, TypeVar

import msgspec

from core.analysis.comparison.matching import RunSide
from core.base import words as fmt
from core.report import Compilation, FxGraph, FxNode, Report
from core.runs.store import Run
from core.runs.stored import side_of_run
from core.views.blocks import (
    NO_PARTS,
    Block,
    Card,
    Data,
    Drawing,
    Fold,
    Listing,
    PageLink,
    Parts,
    Prose,
    Search,
    Select,
    Table,
    Text,
    TextTable,
    Title,
    flat,
    paragraph,
    spans,
)
from core.views.colours import kernel_colours
from core.views.compilations import CompilationsView
from core.views.fusion import FusionView, fusion_schedules
from core.views.fx_graph import FxGraphView, GraphStages
from core.views.markdown import LONGEST_LINE, one_line
from core.views.wire import TOP, StoredGraph, graph_data, level_data, stored


@dataclass(frozen=True, slots=True)
class Section:
    """A section of the page; links point to its `id`."""

    id: str
    title: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class HtmlChip:
    """A fact in the header; `section` is the id of the section with its evidence, empty for none."""

    value: str
    label: str
    tone: str
    section: str


@dataclass(frozen=True, slots=True)
class HtmlPage:
    """The content of an HTML file: title, verdict, chips, sections and graphs.

    `drawings` maps each placeholder id to the initial data of its graph view. `levels` maps each graph's digest
    to the levels of the groups that are folded at first.
    """

    title: str
    verdict: Prose
    chips: tuple[HtmlChip, ...]
    sections: tuple[Section, ...]
    origin: str
    drawings: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    levels: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


def section(name: str, title: str, blocks: Iterable[Block]) -> Iterator[Section]:
    """Yield a section if it has any block."""
    content = tuple(blocks)
    if content:
        yield Section(name, title, content)


def table(rows: Sequence[Mapping[str, str]], numeric: Iterable[str] = ()) -> Iterator[TextTable]:
    """Yield a view's rows as a table, unless there are none; columns without any text are left out."""
    head = tuple(name for name in rows[0] if any(row[name] for row in rows)) if rows else ()
    if head:
        yield TextTable(head, tuple(tuple(row[name] for name in head) for row in rows), frozenset(numeric))


def left_out(lines: Sequence[str]) -> Iterator[Text]:
    """Yield a list of the content that was left out of the file."""
    if lines:
        yield from paragraph("Left out, so that the file stays small; the dashboard shows all of it:")
        yield Text(spans("\n".join(f"- {one_line(line, LONGEST_LINE)}" for line in lines)))


GRAPH_PX = 520
POST_GRAD = "inductor_post_grad_graph"
# What a file takes at most, so that it stays small enough to send.
MOST_COMPILATIONS = 8  #: limit: compilations with graphs, kernels and guards in an HTML file
MOST_NODES = 6_000  #: limit: nodes of all graphs in an HTML file
MOST_ROWS = 250  #: limit: rows of a table in an HTML file
MOST_BLOCKS = 300  #: limit: blocks of a page in an HTML file
MOST_CODE_CHARS = 1_200_000  #: limit: characters of all code in an HTML file
MOST_LISTING_CHARS = 80_000  #: limit: characters of one listing in an HTML file

Element = TypeVar("Element")


@dataclass
class Drawings:
    """Data of the graph views in an HTML file.

    `messages` has the first message of each view by the id of its element, `levels` the levels inside groups by digest.
    """

    messages: dict[str, dict[str, Any]] = field(default_factory=dict)
    levels: dict[str, dict[str, Any]] = field(default_factory=dict)

    def place(
        self,
        channel: str,
        graph: StoredGraph,
        *,
        step: str = "",
        overlay: str = "",
        frame: int | None = None,
    ) -> str:
        """Store a graph's data and return its placeholder id; graphs of one channel share a selection."""
        number = len(self.messages)
        place = f"graph-{number}"
        data = msgspec.to_builtins(graph_data(graph))
        where = {"source": place, "channel": channel, "height": GRAPH_PX, "step": step, "overlay": overlay}
        self.messages[place] = {**data, **where, "frame": frame}
        self.levels.setdefault(graph.digest, _further_levels(graph))
        return place


@dataclass
class Graphs:
    """The graphs of a run, as blocks; their data is in `drawings`."""

    source: Source
    drawings: Drawings = field(default_factory=Drawings)

    def blocks(self, compilation: Compilation) -> Iterator[Block]:
        """Yield drawings of a compilation: the captured graph, the last lowered graph, and each fusion."""
        for graph in _shown(compilation):
            yield from self._fx(compilation, graph)
        for index in range(len(fusion_schedules(compilation))):
            yield from self._fusion(compilation, index)

    def _fx(self, compilation: Compilation, graph: FxGraph) -> Iterator[Block]:
        view = FxGraphView(
            self.source.run, self.source.report, compilation, graph, partial(self.source.nodes, compilation)
        )
        title = f"[{compilation.id}] {GraphStages.describe(graph)}"
        if not graph.ops or not self.source.takes_graph(title, sum(graph.ops.values())):
            return
        place = self.drawings.place(compilation.id, stored(view.picture, self.source.colours))
        drawing = Drawing(place, title)
        yield Fold(spans(f"FX graph: {view.title}"), (drawing,), graph is _shown(compilation)[0])

    def _fusion(self, compilation: Compilation, index: int) -> Iterator[Block]:
        schedule = fusion_schedules(compilation)[index]
        view = FusionView(self.source.report, compilation, schedule, partial(self.source.nodes, compilation))
        title = f"[{compilation.id}] fusion of {view.name}"
        # Nodes before fusion are drawn twice.
        if not self.source.takes_graph(title, 2 * len(schedule.before) + len(schedule.after)):
            return
        picture = stored(view.picture, self.source.colours)
        place = self.drawings.place(compilation.id, picture, frame=len(view.picture.frames) - 1)
        note = Text(spans("Each hull is a kernel launch; the slider goes from the ops to the launches."), "quiet")
        yield Fold(spans(f"Fusion: {view.title}"), (note, Drawing(place, title)), is_open=True)


def _further_levels(graph: StoredGraph) -> dict[str, Any]:
    """Return the levels of the groups that are folded at first, by group."""
    opened = {level.group for level in graph.view.opened()}
    groups = (level.group for level in graph.view.levels_below(TOP) if level.group not in {*opened, TOP})
    return {str(group): msgspec.to_builtins(level_data(graph, group)) for group in groups}


def _shown(compilation: Compilation) -> list[FxGraph]:
    """Return the captured graph, and the last graph that Inductor lowered."""
    if not compilation.graphs:
        return []
    lowered = [graph for graph in compilation.graphs if graph.stage == POST_GRAD and not graph.name]
    first = GraphStages(compilation.graphs).first
    return [first, *(graph for graph in lowered[-1:] if graph is not first)]


@dataclass(kw_only=True)
class Allowance:
    """The room left in a file; builders of a page take from it and note the parts that do not fit."""

    nodes_left: int = MOST_NODES
    code_left: int = MOST_CODE_CHARS
    left_out: list[str] = field(default_factory=list)

    def first(self, what: str, elements: Sequence[Element], most: int = MOST_ROWS) -> Sequence[Element]:
        """Return the first elements; the number of the others is noted as left out."""
        if len(elements) > most:
            self.left_out.append(f"{what}: {fmt.number(len(elements) - most)} of {fmt.number(len(elements))}")
        return elements[:most]

    def rendered(self, blocks: Iterable[Block], parts: Parts = NO_PARTS) -> Iterator[Block]:
        """Yield a page's blocks for a file: tables as text and code, as much as fits, and no fields."""
        for block in self.first("Parts of a page", [*flat(blocks, parts)], MOST_BLOCKS):
            match block:
                case Table():
                    if block.rows:
                        yield block.texts(self.first(f"Rows of {block.name}", block.rows))
                case Fold() | Card():
                    yield replace(block, blocks=tuple(self.rendered(block.blocks, parts)))
                case Listing():
                    yield replace(block, code=replace(block.code, text=self.excerpt(block.title, block.code.text)))
                case Title():
                    yield Text(block.prose)
                case Search() | Select() | Data() | PageLink():
                    pass
                case _:
                    yield block

    def folded(self, page: Iterable[Block]) -> Fold:
        """Return a page's blocks below its title, for a file."""
        blocks = tuple(page)
        title = next((block.prose for block in blocks if isinstance(block, Title)), ())
        return Fold(title, tuple(self.rendered(block for block in blocks if not isinstance(block, Title))))

    def takes_graph(self, what: str, size: int) -> bool:
        """Return True and take the room if a graph of `size` nodes fits; otherwise note it as left out."""
        if size > self.nodes_left:
            self.left_out.append(f"{what}: a graph of {fmt.count(size, 'node')}")
            return False
        self.nodes_left -= size
        return True

    def excerpt(self, what: str, text: str) -> str:
        """Return the beginning of a text that fits into the file; note the number of characters left out."""
        kept = text[: min(MOST_LISTING_CHARS, self.code_left)]
        self.code_left -= len(kept)
        if len(kept) < len(text):
            self.left_out.append(f"{what}: {fmt.number(len(text) - len(kept))} of {fmt.number(len(text))} characters")
        return kept


@dataclass
class Source(Allowance):
    """A stored run with its report, and the room that is left in its file."""

    run: Run
    side: RunSide

    @classmethod
    def of(cls, run: Run) -> Source:
        """Create a `Source` for a run that has a log; raises StoreError, TraceError."""
        return cls(run, side_of_run(run))

    @property
    def report(self) -> Report:
        """The run's report."""
        return self.side.report

    @cached_property
    def heaviest(self) -> Sequence[Compilation]:
        """The compilations with the most ops, at most `MOST_COMPILATIONS`, in log order.

        The file has graphs, kernels and guards of these compilations only.
        """
        weights = {entry.id: entry.ops for _, entry in CompilationsView(self.report).matches("")}
        ranked = sorted(self.report.compilations, key=lambda compilation: -weights.get(compilation.id, 0))
        kept = {compilation.id for compilation in self.first("Graphs, kernels and guards", ranked, MOST_COMPILATIONS)}
        return [compilation for compilation in self.report.compilations if compilation.id in kept]

    @property
    def colours(self) -> dict[str, str]:
        """Colour of each kernel of the run, as on the dashboard's pages."""
        return kernel_colours(self.report)

    def nodes(self, compilation: Compilation, graph: FxGraph) -> tuple[FxNode, ...]:
        return self.side.nodes(compilation, graph)
