"""Layout of one level of a graph: the members of a group, folded subgroups, box sizes, and neighbours."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from heapq import heapify, heappop, heappush
from math import ceil
from time import monotonic

import msgspec

from core.base.words import count
from core.graph.layout.ladder import lay_out
from core.graph.layout.model import Box, Layout
from core.graph.layout.model import Edge as Link
from core.graph.model import HULLS, TOP, Edge, GraphModel, Group, Index, Item, Level, LevelEdge, Node, index_of, union
from core.graph.modules import ancestors

LEVEL_BUDGET_S = 0.3
ALL_BUDGET_S = 3.0
MOST_FOR_DOT = 250  #: limit: items of an opened group that Graphviz lays out
MOST_ENDS = 6  #: edges of a bundle whose ends are listed
SAME_ROW_PX = 1.5
LABEL_PX_PER_CHAR = 7.2
SMALL_PX_PER_CHAR = 6.6
CHIP_PX_PER_CHAR = 6.0
LEAST_WIDTH, MOST_WIDTH, MOST_HULL_WIDTH = 64.0, 264.0, 400.0
PADDING_X, PADDING_Y = 11.0, 6.0
LABEL_HEIGHT, DETAIL_HEIGHT, CHIPS_HEIGHT = 18.0, 15.0, 21.0
CHIP_PADDING, CHIP_GAP = 5.0, 4.0
FOLD_SIGN = 18.0
MOST_FACTS, FACT_CHARS = 2, 8  #: with a unit, beside the number of launches
# A group with at least this fraction of the ops is unfolded first.
HEAVY = 0.75
LEAST_COST = 0.01
# A launch opens before a layer of up to this many times its cost: its ops are what the drawing is of.
WORTH_OF_LAUNCH = 4
# The frame of a module takes as much room as so many boxes.
FRAME = 3
# Otherwise up to this many groups with at least a tenth of the ops each are unfolded (encoder and decoder).
PART = 0.1
MOST_PARTS = 3  #: modules of a graph that are unfolded at first
METRICS: Mapping[str, float] = {
    "labelChar": LABEL_PX_PER_CHAR,
    "smallChar": SMALL_PX_PER_CHAR,
    "chipChar": CHIP_PX_PER_CHAR,
    "padX": PADDING_X,
    "padY": PADDING_Y,
    "label": LABEL_HEIGHT,
    "detail": DETAIL_HEIGHT,
    "chips": CHIPS_HEIGHT,
    "chipPad": CHIP_PADDING,
    "chipGap": CHIP_GAP,
    "foldSign": FOLD_SIGN,
}


def level(model: GraphModel, group: int = TOP, budget_s: float = LEVEL_BUDGET_S) -> Level:
    """Return the level of a group (-1: the top); the result is cached.

    The first call lays out the level within about `budget_s` seconds, each weakly connected part separately. An
    edge of the graph belongs to the level of the innermost group that contains both ends. The edge is drawn
    between the two members that contain the ends. Raises IndexError if there is no such group.
    """
    if not TOP <= group < len(model.groups):
        raise IndexError(f"the graph has no group {group}")
    index = index_of(model)
    if group not in index.levels:
        index.levels[group] = _Placing(model, index, group).placed(budget_s)
    return index.levels[group]


def levels_below(model: GraphModel, group: int = TOP, budget_s: float = ALL_BUDGET_S) -> Iterator[Level]:
    """Yield the level of a group and of each group in it; after the budget, the simpler layout is used."""
    end = monotonic() + budget_s
    for number in (group, *range_below(model, group)):
        yield level(model, number, min(LEVEL_BUDGET_S, max(0.0, end - monotonic())))


def range_below(model: GraphModel, group: int) -> range:
    """Return the indexes of the groups inside a group; they directly follow the group's own index."""
    if group == TOP:
        return range(len(model.groups))
    last = group + 1
    while last < len(model.groups) and model.groups[last].first < model.groups[group].last:
        last += 1
    return range(group + 1, last)


class _Placing:
    """A level during its layout; a member's number is its position in the group."""

    def __init__(self, model: GraphModel, index: Index, group: int) -> None:
        self._model, self._group = model, group
        self._members = index.children[group]
        number = {member: place for place, member in enumerate(self._members)}
        self._bundles: dict[tuple[int, int], list[int]] = {}
        for source, target, edge in index.edges[group]:
            self._bundles.setdefault((number[source], number[target]), []).append(edge)
        self._sizes = [self._size(member) for member in self._members]

    def _size(self, member: int) -> tuple[float, float]:
        return node_size(self._model.nodes[member]) if member >= 0 else group_size(self._model.groups[~member])

    def placed(self, budget_s: float) -> Level:
        """Lay out each part; the parts share the time."""
        components = parts(len(self._members), list(self._bundles))
        part_of = {place: part for part, positions in enumerate(components) for place in positions}
        pairs: list[list[tuple[int, int]]] = [[] for _ in components]
        for pair in self._bundles:
            pairs[part_of[pair[0]]].append(pair)
        items: list[Item | None] = [None] * len(self._members)
        edges: dict[tuple[int, int], tuple[float, ...]] = {}
        sizes, notes = [], []
        end = monotonic() + budget_s
        for part, positions in enumerate(components):
            layout = self._laid_out(positions, pairs[part], max(0.0, end - monotonic()))
            for place, box in zip(positions, self._rows(positions, layout, part), strict=True):
                items[place] = box
            for pair, curve in zip(pairs[part], layout.edges, strict=True):
                edges[pair] = tuple(value for point in curve for value in point)
            sizes.append((layout.width, layout.height))
            notes.append(layout.note)
        boxes = tuple(box for box in items if box is not None)
        bundled = tuple(self._edge(pair, numbers, edges[pair]) for pair, numbers in self._bundles.items())
        return Level(self._group, tuple(sizes), boxes, bundled, next(filter(None, notes), ""))

    def _laid_out(self, positions: Sequence[int], pairs: Sequence[tuple[int, int]], budget_s: float) -> Layout:
        """Lay out members with names by position, so that similar levels share one cached layout."""
        local = {place: str(index) for index, place in enumerate(positions)}
        boxes = [Box(local[place], *self._sizes[place]) for place in positions]
        links = [Link(local[source], local[target]) for source, target in pairs]
        return lay_out(boxes, links, budget_s, MOST_FOR_DOT)

    def _rows(self, positions: Sequence[int], layout: Layout, part: int) -> Iterator[Item]:
        """Yield the boxes; centres that differ only by rounding become equal."""
        centres = [at.y + self._sizes[place][1] / 2 for place, at in zip(positions, layout.boxes, strict=True)]
        row_of: dict[float, float] = {}
        row = float("-inf")
        for centre in sorted(centres):
            row = row if centre - row <= SAME_ROW_PX else centre
            row_of[centre] = row
        for place, at, centre in zip(positions, layout.boxes, centres, strict=True):
            member = self._members[place]
            wide, high = self._sizes[place]
            yield Item(max(member, TOP), max(~member, TOP), part, at.x, round(row_of[centre] - high / 2, 2), wide, high)

    def _edge(self, pair: tuple[int, int], numbers: Sequence[int], points: tuple[float, ...]) -> LevelEdge:
        edges = [self._model.edges[number] for number in numbers]
        labels = {edge.label for edge in edges}
        return LevelEdge(
            *pair,
            points,
            labels.pop() if len(labels) == 1 else "",
            _bytes_once(edges),
            len(edges),
            tuple((edge.source, edge.target) for edge in edges[:MOST_ENDS]),
            union(edge.frames for edge in edges),
            any(edge.refused for edge in edges),
        )


def _bytes_once(edges: Sequence[Edge]) -> int:
    """Return the bytes of a group's inputs; a value read by several nodes of the group counts once."""
    return sum({(edge.source, edge.label): edge.bytes for edge in edges}.values())


def parts(count: int, pairs: Sequence[tuple[int, int]]) -> list[list[int]]:
    """Return the weakly connected parts, in the order of their first members."""
    near: list[list[int]] = [[] for _ in range(count)]
    for first, second in pairs:
        near[first].append(second)
        near[second].append(first)
    seen = bytearray(count)
    components = []
    for start in range(count):
        if seen[start]:
            continue
        seen[start] = 1
        members = [start]
        for place in members:
            for neighbour in near[place]:
                if not seen[neighbour]:
                    seen[neighbour] = 1
                    members.append(neighbour)
        components.append(sorted(members))
    return components


def node_size(node: Node) -> tuple[float, float]:
    """Return the width and height of a node's box; text longer than the widest box is cut when drawn."""
    widest = max(len(node.label) * LABEL_PX_PER_CHAR, len(node.detail) * SMALL_PX_PER_CHAR)
    height = 2 * PADDING_Y + LABEL_HEIGHT + DETAIL_HEIGHT * bool(node.detail)
    if node.chips:
        widest = max(widest, sum(len(chip) * CHIP_PX_PER_CHAR + 2 * CHIP_PADDING + CHIP_GAP for chip in node.chips))
        height += CHIPS_HEIGHT
    return _width(widest), ceil(height)


def group_size(group: Group) -> tuple[float, float]:
    """Return the width and height of a folded group: label, detail, a module's count, and a few facts."""
    below = group.detail if group.kind in HULLS else f"{group.detail} · {count(group.count, 'op')}"
    label = f"K{group.badge}  {group.label}" if group.badge else group.label
    facts = [fact for fact in group.facts if fact.unit]
    # The detail of a launch has its time.
    facts = facts[: 1 if group.kind in HULLS else MOST_FACTS + any(fact.unit == "text" for fact in facts)]
    widest = max(len(label) * LABEL_PX_PER_CHAR + FOLD_SIGN, len(below) * SMALL_PX_PER_CHAR)
    widest = max([widest, *((len(fact.name) + FACT_CHARS) * SMALL_PX_PER_CHAR for fact in facts)])
    most = MOST_HULL_WIDTH if group.kind in HULLS else MOST_WIDTH
    return _width(widest, most), ceil(2 * PADDING_Y + LABEL_HEIGHT + DETAIL_HEIGHT * (1 + len(facts)))


def _width(text: float, most: float = MOST_WIDTH) -> float:
    return ceil(min(max(text + 2 * PADDING_X, LEAST_WIDTH), most))


MOST_HITS = 200  #: limit: hits of a search in a graph
MOST_NEAR = 400  #: limit: nodes of a neighbourhood
LONGEST_QUERY = 200  #: the text of a search in a graph
DIGEST_BYTES = 12
CONTROL = {code: " " for code in range(32) if code != 10} | {127: " "}


@dataclass(frozen=True, slots=True)
class Hit:
    """A search hit: a node with its groups, outermost first.

    `node` is -1 if the hit is a group, the last group of `path`.
    """

    path: tuple[int, ...]
    node: int


def find(model: GraphModel, element_id: str) -> Hit | None:
    """Return the hit of the node or group with an id; None if there is no such id.

    For a linked object, such as a kernel or a line, return the first linked group or node.
    """
    place = index_of(model).places.get(element_id)
    if place is None:
        return None
    return hit_at(model, place) if place >= 0 else Hit(_path(model, ~place), TOP)


def hit_at(model: GraphModel, node: int) -> Hit:
    """Return the hit of a node, by its index."""
    return Hit(_path(model, model.nodes[node].group), node)


def _path(model: GraphModel, group: int) -> tuple[int, ...]:
    return tuple(ancestors(group, index_of(model).parents))[::-1]


def search(model: GraphModel, text: str) -> tuple[int, list[Hit]]:
    """Return the number of matching nodes, and the best matches (at most 200).

    Names and ops come first, then shapes and modules. All words must occur in a node's id, label, detail or
    module, regardless of case.
    """
    words = text[:LONGEST_QUERY].lower().split()
    if not words:
        return 0, []
    texts = index_of(model).texts
    hits = [node for node, searched in enumerate(texts) if all(word in searched for word in words)]
    hits.sort(key=lambda node: _rank(model.nodes[node], words))
    return len(hits), [hit_at(model, node) for node in hits[:MOST_HITS]]


def _rank(node: Node, words: Sequence[str]) -> int:
    names = (node.label.lower(), node.id.partition(":")[2].lower())
    joined = " ".join(words)
    if joined in names:
        return 0
    if any(name.startswith(joined) for name in names):
        return 1
    return 2 if all(any(word in name for name in names) for word in words) else 3


def neighbourhood(model: GraphModel, element_id: str, hops: int, *more: str) -> GraphModel | None:
    """Return the graph of the nodes at most `hops` edges from a node or `more`, without groups.

    Edges count in both directions. At most the nearest 400 nodes. None if there is no such node.
    """
    nodes = (_node(model, each) for each in (element_id, *more))
    border = [*dict.fromkeys(node for node in nodes if node is not None)][:MOST_NEAR]
    if not border:
        return None
    before, after = index_of(model).neighbours
    seen = dict.fromkeys(border)
    for _ in range(hops):
        reached = [near for node in border for near in (*before[node], *after[node])]
        border = [node for node in dict.fromkeys(reached) if node not in seen][: MOST_NEAR - len(seen)]
        seen.update(dict.fromkeys(border))
    return part(model, seen)


def between(model: GraphModel, source: str, target: str) -> GraphModel | None:
    """Return the graph of the nodes on all shortest paths from one node to another, without groups.

    Without such a path, the paths in the opposite direction. At most 400 nodes. None if there is no path, or no such
    node.
    """
    ends = _node(model, source), _node(model, target)
    if ends[0] is None or ends[1] is None:
        return None
    before, after = index_of(model).neighbours
    nodes = _shortest(ends[0], ends[1], before, after) or _shortest(ends[1], ends[0], before, after)
    return part(model, nodes[:MOST_NEAR]) if nodes else None


def _shortest(start: int, goal: int, before: Sequence[Sequence[int]], after: Sequence[Sequence[int]]) -> list[int]:
    """Return the nodes on any shortest path, from the goal backwards; empty if the goal is unreachable."""
    distance = {start: 0}
    front = [start]
    while front and goal not in distance:
        reached = dict.fromkeys(near for node in front for near in after[node] if near not in distance)
        distance.update(dict.fromkeys(reached, distance[front[0]] + 1))
        front = list(reached)
    if goal not in distance:
        return []
    nodes = {goal: None}
    for node in (queue := [goal]):
        nearer = [near for near in before[node] if distance.get(near) == distance[node] - 1 and near not in nodes]
        nodes.update(dict.fromkeys(nearer))
        queue += dict.fromkeys(nearer)
    return list(nodes)


def part(model: GraphModel, nodes: Iterable[int]) -> GraphModel:
    """Return the graph of some nodes with the edges between them, without groups."""
    chosen = sorted(nodes)
    place = {node: index for index, node in enumerate(chosen)}
    _, outgoing = index_of(model).edges_by_end
    edges = [model.edges[number] for node in chosen for number in outgoing[node]]
    return GraphModel(
        tuple(replace(model.nodes[node], group=TOP) for node in chosen),
        tuple(_renumbered(edge, place) for edge in edges if edge.target in place),
        (),
        tuple(
            replace(overlay, values=tuple(overlay.shown(node) for node in chosen), whole=())
            for overlay in model.overlays
        ),
    )


def _renumbered(edge: Edge, place: dict[int, int]) -> Edge:
    return replace(edge, source=place[edge.source], target=place[edge.target])


def _node(model: GraphModel, element_id: str) -> int | None:
    hit = find(model, element_id)
    return None if hit is None or hit.node == TOP else hit.node


def as_json(model: GraphModel) -> bytes:
    """Return the graph as JSON."""
    return msgspec.json.encode(model)


def digest(model: GraphModel, *more: object) -> str:
    """Return a short text that changes exactly when the graph or the additional values change."""
    return blake2b(msgspec.json.encode((model, more)), digest_size=DIGEST_BYTES).hexdigest()


def heaviest_groups(model: GraphModel) -> Iterator[int]:
    """Yield the groups to open first, from the top down to the model's layers.

    Descend while one module holds most of the ops. If a few modules share the ops, descend into each of these modules.
    """
    tops = [number for number, group in enumerate(model.groups) if group.parent == TOP]
    ops = sum(model.groups[group].count for group in tops)
    parts = [group for group in tops if PART * ops <= model.groups[group].count < HEAVY * ops]
    if not 1 < len(parts) <= MOST_PARTS:
        yield from _descend(model, TOP, ops)
        return
    for part in parts:
        if model.groups[part].kind != "stack":
            yield part
            yield from _descend(model, part, model.groups[part].count)


def _descend(model: GraphModel, group: int, ops: int) -> Iterator[int]:
    """Yield the groups that hold most of the ops, from the outside; layers beside others stay folded."""
    while True:
        below = [~member for member in index_of(model).children[group] if member < 0]
        heavy = [child for child in below if model.groups[child].count >= HEAVY * ops]
        if not heavy or (model.groups[heavy[0]].kind == "stack" and len(below) > 1):
            return
        group = heavy[0]
        yield group


def costliest_groups(model: GraphModel, boxes: int) -> Iterator[int]:
    """Yield the groups of a drawing of launches that cost most, to open first; each after its parent.

    The cost is the time, measured or estimated, otherwise the number of ops. Of equal layers only the first is open. No
    more than `boxes` boxes are drawn in all. Groups with a hundredth of the cost or less stay folded.
    """
    index = index_of(model)
    time = next((number for number, overlay in enumerate(model.overlays) if overlay.name == "time"), TOP)
    costs = [index.value(time, group) if time != TOP else None for group in range(len(model.groups))]
    if not any(costs):
        costs = [group.count for group in model.groups]
    tops = [~member for member in index.children[TOP] if member < 0]
    least, boxes = LEAST_COST * sum(costs[group] or 0 for group in tops), boxes - len(index.children[TOP])

    def rank(group: int) -> tuple[float, int]:
        return -(costs[group] or 0) * (WORTH_OF_LAUNCH if model.groups[group].kind in HULLS else 1), group

    waiting = [rank(group) for group in tops]
    heapify(waiting)
    while waiting:
        _, group = heappop(waiting)
        inside = index.children[group]
        room = len(inside) + (0 if model.groups[group].kind in HULLS else FRAME)
        if room > boxes or (costs[group] or 0) <= least:
            continue
        boxes -= room
        yield group
        for child in [~member for member in inside if member < 0][: 1 if model.groups[group].kind == "stack" else None]:
            heappush(waiting, rank(child))


def as_dot(model: GraphModel) -> str:
    """Return the graph in DOT, groups as clusters; all external text is quoted."""
    lines = ["digraph {", "node [shape=box]", *_inside(model, TOP, "")]
    lines += [f"n{edge.source} -> n{edge.target}{_attributes(label=edge.label)}" for edge in model.edges]
    return "\n".join([*lines, "}", ""])


def _inside(model: GraphModel, group: int, indent: str) -> Iterator[str]:
    for member in index_of(model).children[group]:
        if member >= 0:
            node = model.nodes[member]
            yield f"{indent}n{member}{_attributes(label=_lines(node.label, node.detail), id=node.id)}"
            continue
        subgroup = model.groups[~member]
        yield f"{indent}subgraph cluster_{~member} {{"
        yield f"{indent}  label={quoted(_lines(subgroup.label, subgroup.detail))}"
        yield from _inside(model, ~member, indent + "  ")
        yield f"{indent}}}"


def _lines(*texts: str) -> str:
    return "\n".join(filter(None, texts))


def _attributes(**texts: str) -> str:
    attributes = ", ".join(f"{name}={quoted(text)}" for name, text in texts.items() if text)
    return f" [{attributes}]" if attributes else ""


def quoted(text: str) -> str:
    """Return a text as a plain DOT string, without markup, entities, and escapes for node or graph names."""
    plain = text.translate(CONTROL).replace("&", "&amp;").replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{plain}"'
