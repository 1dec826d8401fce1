"""A compiler graph, and the union of two graphs.

`GraphView` has levels, film frames, search, subgraphs, exports. `GraphUnionView` has a film and the changed nodes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import ClassVar

from core.analysis.comparison.graphs import BOTH, UnionNode, graph_union
from core.base import words as fmt
from core.graph.assemble import SMALL
from core.graph.fx import DIFFERENCE, source_path, union_model
from core.graph.layout.ladder import draw_png
from core.graph.levels import (
    METRICS,
    MOST_NEAR,
    Hit,
    as_dot,
    as_json,
    between,
    costliest_groups,
    digest,
    find,
    heaviest_groups,
    level,
    levels_below,
    neighbourhood,
    search,
)
from core.graph.model import HULLS, TOP, Fact, Frames, GraphModel, Level, index_of, launch_title
from core.report import FxNode, Report, tensor_text
from core.views.blocks import Column, Table
from core.views.markdown import LONGEST_LINE, LONGEST_TEXT, code, one_line

MOST_NAMED = 3  #: nodes in the title of a subgraph
MOST_LAUNCHES = 12  #: launches that are listed for a layer
MOST_OPENED_ITEMS = 400  #: items of a graph when it opens
MOST_WHOLE = 100  #: nodes and groups of a drawing of launches that is unfolded as a whole
MOST_OPENED_BOXES = 72  #: boxes of a larger drawing of launches when it opens


@dataclass(frozen=True, slots=True)
class GraphFrame:
    """A frame of a film, `missing` if it was not recorded; amounts are (name, text, part of the largest)."""

    title: str
    detail: str = ""
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    rewritten: tuple[str, ...] = ()
    amounts: tuple[tuple[str, str, float], ...] = ()
    missing: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class GraphView:
    """A graph of nested groups, with kernel display names by id, and with frames if it is a film.

    Groups are addressed by index (-1: the top level), nodes and other items by id or by index.
    """

    metrics: ClassVar[Mapping[str, float]] = METRICS

    model: GraphModel
    kernel_names: Mapping[str, str] = field(default_factory=dict)
    frames: tuple[GraphFrame, ...] = ()
    caption: str = ""

    def level(self, group: int = TOP) -> Level:
        """Return the layout of a group's direct members, cached; raises IndexError if there is no such group."""
        return level(self.model, group)

    def levels_below(self, group: int = TOP) -> Iterator[Level]:
        """Yield the layout of a group and of each group in it; after a few seconds, simpler layouts."""
        return levels_below(self.model, group)

    def opened(self) -> list[Level]:
        """Return the layouts of the groups that are unfolded at first.

        A graph with few ops unfolds all groups. A larger graph unfolds forward and backward, or else the groups
        around the model's layers, up to `MOST_OPENED_ITEMS` items. A drawing of kernel launches with more than
        `MOST_WHOLE` nodes and groups unfolds what costs most, up to `MOST_OPENED_BOXES` boxes.
        """
        groups: Iterable[int] = range(len(self.model.groups))
        launched = any(group.kind in HULLS for group in self.model.groups)
        if launched and len(self.model.nodes) + len(self.model.groups) > MOST_WHOLE:
            return [self.level(group) for group in costliest_groups(self.model, MOST_OPENED_BOXES)]
        sides = [number for number, group in enumerate(self.model.groups) if group.kind == "direction"]
        if not launched and len(self.model.nodes) > SMALL:
            groups = sides or heaviest_groups(self.model)
        children = index_of(self.model).children
        opened = [TOP]
        items = len(children[TOP])
        for group in groups:
            items += len(children[group])
            if items > MOST_OPENED_ITEMS:
                break
            opened.append(group)
        return [self.level(group) for group in opened if group != TOP]

    def launches_in(self, group: int) -> list[str]:
        """Return the titles and facts of a group's first launches, and how many more there are."""
        around = self.model.groups[group]
        inside = [
            each
            for each in self.model.groups
            if each.kind in HULLS and around.first <= each.first and each.last <= around.last
        ]
        lines = [f"{launch_title(each.label, each.badge)}: {each.detail}" for each in inside[:MOST_LAUNCHES]]
        more = len(inside) - len(lines)
        return [*lines, *([f"{more} more"] if more else [])]

    def size(self, group: int = TOP) -> int:
        """Return the number of nodes in a group; raises IndexError if there is no such group."""
        if group < 0:
            return len(self.model.nodes)
        return self.model.groups[group].last - self.model.groups[group].first

    def overlay_values(self, group: int) -> list[int | float | None]:
        """Return the value of each overlay for a folded group; None if it is unknown."""
        return index_of(self.model).painted(group)

    def group_frames(self, group: int) -> Frames:
        """Return the frames in which any node of a group exists; empty means all frames."""
        return index_of(self.model).frames(group)

    def group_facts(self, group: int) -> tuple[tuple[str, str], ...]:
        """Return the facts of a group as (name, text) pairs."""
        return tuple((fact.name, _fact_words(fact)) for fact in self.model.groups[group].facts)

    def find(self, item_id: str) -> Hit | None:
        """Return the node and the surrounding groups of an id; None if nothing has this id."""
        return find(self.model, item_id)

    def node_of(self, item_id: str) -> int | None:
        """Return the index of a node by an id; None for a group or an unknown id."""
        hit = self.find(item_id)
        return None if hit is None or hit.node == TOP else hit.node

    def search(self, text: str) -> tuple[int, list[Hit]]:
        """Return the number of nodes that contain all words of a text, and the best matches."""
        return search(self.model, text)

    def path_words(self, hit: Hit) -> str:
        """Return the names of the groups around a search hit, the outermost first."""
        return " › ".join(self.model.groups[group].label for group in hit.path)

    def around(self, item_id: str, hops: int, *more: str) -> tuple[GraphView, str] | None:
        """Return the subgraph within `hops` edges of a node or `more`, and its title; None without it."""
        names = fmt.first_of([self._label(each) for each in (item_id, *more)], MOST_NAMED)
        return self._part(neighbourhood(self.model, item_id, hops, *more), f"{fmt.count(hops, 'hop')} around {names}")

    def between(self, start: str, end: str) -> tuple[GraphView, str] | None:
        """Return the shortest paths between two nodes, and their title; None without a path or such nodes."""
        return self._part(between(self.model, start, end), f"{self._label(start)} to {self._label(end)}")

    def numbers_in(self, graph: GraphView) -> list[int]:
        """Return the index in the whole graph `graph` for each node of this subgraph."""
        places = index_of(graph.model).places
        return [places[node.id] for node in self.model.nodes]

    def digest(self, *more: object) -> str:
        """Return a short text that changes exactly with the graph, the kernels' names or further values."""
        return digest(self.model, self.kernel_names, *more)

    def as_dot(self) -> str:
        """Return the graph in Graphviz's DOT language."""
        return as_dot(self.model)

    def as_png(self) -> bytes:
        """Return the graph as a picture; raises LayoutError."""
        return draw_png(self.as_dot())

    def as_json(self) -> bytes:
        return as_json(self.model)

    def _label(self, item_id: str) -> str:
        node = self.node_of(item_id)
        return "" if node is None else self.model.nodes[node].label

    def _part(self, part: GraphModel | None, title: str) -> tuple[GraphView, str] | None:
        if part is None:
            return None
        is_cut = len(part.nodes) == MOST_NEAR
        return replace(self, model=part), f"{title}, the nearest {fmt.number(MOST_NEAR)} nodes" if is_cut else title


def _fact_words(fact: Fact) -> str:
    if isinstance(fact.value, str):
        return fact.value
    if fact.unit == "share":
        return fmt.percent(fact.value)
    return fmt.duration_s(fact.value) if fact.unit == "s" else fmt.amount(fact.value)


class GraphUnionView:
    """The union of two graphs: every node once, with its change from left to right."""

    overlay, both_frame = DIFFERENCE, BOTH
    no_changes = "Every node is the same in both."

    def __init__(self, left: Sequence[FxNode], right: Sequence[FxNode], report: Report) -> None:
        """Unite the graphs of two runs; `report` is the left run's report."""
        self._union, self._source = graph_union(left, right), source_path(report)

    @property
    def picture(self) -> GraphView:
        """The drawing: a film of the left graph, both, and the right graph."""
        added, removed = self._ids("only right"), self._ids("only left")
        frames = (
            GraphFrame("left", "the shown run"),
            GraphFrame("both", "every node of either graph", added, removed, self._ids("changed", "moved")),
            GraphFrame("right", "the other run", (), removed),
        )
        return GraphView(union_model(self._union, self._source), frames=frames)

    def _ids(self, *changes: str) -> tuple[str, ...]:
        return tuple(f"n:{node.name}" for node in self._union.nodes if node.change in changes)

    @property
    def size(self) -> int:
        """The number of nodes."""
        return len(self._union.nodes)

    @cached_property
    def changes(self) -> Table[UnionNode]:
        """The nodes that differ."""
        return Table("changes", CHANGE_COLUMNS, [node for node in self._union.nodes if node.change != "same"])

    def node_title(self, node_id: str | None) -> str:
        """Return a node's change and name as Markdown; empty if neither graph has it."""
        node = self._node(node_id)
        return f"**{node.change}** {code(node.name)}" if node is not None else ""

    @staticmethod
    def no_node(selected: str | None) -> str:
        """Return the message for a selected node that neither graph has, or for no selection."""
        return "Neither graph has this node." if selected else "Click a node."

    def node_facts(self, node_id: str | None) -> dict[str, str]:
        """Return the facts of a node in both graphs, as Markdown by name: "left → right" if they differ."""
        node = self._node(node_id)
        if node is None:
            return {}
        left, right = (_facts(version) if version else {} for version in (node.left, node.right))
        return {name: _both(left.get(name, ""), right.get(name, "")) for name in dict.fromkeys((*left, *right))}

    def _node(self, node_id: str | None) -> UnionNode | None:
        name = (node_id or "").removeprefix("n:")
        return next((node for node in self._union.nodes if node.name == name), None)


def _both(left: str, right: str) -> str:
    return left if left == right else " → ".join(filter(None, (left, right)))


def _facts(node: FxNode) -> dict[str, str]:
    facts = {
        "name": code(node.name),
        "target": code(node.target),
        "value": code(tensor_text(node.meta.dtype, node.meta.shape)) if node.meta else "",
        "arguments": code(node.args, LONGEST_TEXT),
        "line": f"{code(node.code)} at {code(node.source.short)}" if node.source else "",
        "module": f"{code(node.module)} {code(node.module_class)}".strip(),
    }
    return {name: text for name, text in facts.items() if text}


def _call(node: FxNode | None) -> str:
    return one_line(f"{node.name} = {node.target}({node.args})", LONGEST_LINE) if node else ""


CHANGE_COLUMNS: tuple[Column[UnionNode], ...] = (
    Column("change", lambda node: node.change),
    Column("node", lambda node: one_line(node.name, LONGEST_LINE)),
    Column("left", lambda node: _call(node.left)),
    Column("right", lambda node: _call(node.right)),
)
