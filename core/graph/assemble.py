"""Assembly of a grouped graph from nodes, edges, and the origins of the nodes.

Ops between a module's submodules (masks, positions, a loss) would hide the submodules and are folded. Equal
neighbouring layers become one group: "TransformerBlock × 12". The facts of a group are its parameters, input and output
shapes, and share of bytes and time.
"""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate
from typing import NamedTuple

from core.analysis.work import NO_SHARED_DATA
from core.base.words import bytes_, count, number
from core.graph.model import TOP, Edge, Fact, Frames, GraphModel, Group, Largest, Launch, Node, Overlay
from core.graph.modules import Arrangement, Branch, Origin, Trait, ancestors, arrange, chunk, grow, simplify
from core.graph.overlays import ESTIMATED_TIME, ONE_BY_ONE, named_overlays, standard_overlays, weights
from core.report import Schedule

# Maximum nodes of a graph that is shown without folding.
SMALL = 60
MakeNode = Callable[[int, int], Node]
FROM_OPS = 3
LAUNCH = "g:"  # Prefix of the ids of launches; one that calls a nested graph has that graph's launches inside.
MOST_NAMES = 2  #: functions that name a sequence of ops between modules
NOWHERE = Origin()
MOST_SHAPES = 3  #: shapes shown on a group
MOST_UNKNOWN = 0.2  #: share of ops of unknown size up to which shares are shown
# Minimum share of equal nodes in two similar modules.
SIMILAR = 0.6
MOST_REFUSALS = 2  #: refusals named on a launch
ESTIMATED_SHARES = ("share of bytes", ESTIMATED_TIME)


class Link(NamedTuple):
    """An edge; its ends are indexes of nodes in the order of `Material`."""

    source: int
    target: int
    label: str = ""
    bytes: int = 0
    frames: Frames = ()
    refused: bool = False


@dataclass(frozen=True, slots=True)
class Material:
    """Input of `assemble`, with the nodes in input order.

    `origins`, `kinds`, `traits` and `names` have an entry for each node; equal nodes have equal kinds.
    `parameters` are element counts by name, and `source` is the path of the user's file. `partition`, `errors`,
    `standings` and `segments` are values of overlays by name, None without that overlay.
    """

    origins: Sequence[Origin]
    kinds: Sequence[Hashable]
    traits: Sequence[Trait]
    names: Sequence[str]
    edges: Sequence[Link]
    parameters: Mapping[str, int | None]
    source: str = ""
    partition: Mapping[str, str] | None = None
    errors: Mapping[str, float] | None = None
    standings: Mapping[str, str] | None = None
    segments: Mapping[str, str] | None = None
    costs_note: str = ONE_BY_ONE


def tree(
    origins: Sequence[Origin],
    kinds: Sequence[Hashable],
    reads: Sequence[Sequence[int]],
    *,
    source: str = "",
    similar: bool = False,
    ops: int = 0,
) -> Branch:
    """Return the tree of groups; `reads` are the inputs of each node, by index.

    `ops` is the number of ops, since a node may have several. With `similar`, layers that are only similar are folded,
    too.
    """
    root = grow(origins, source)
    stack(root, kinds, reads, similar=similar)
    if max(len(origins), ops) > SMALL:
        fold_helpers(root, origins)
    simplify(root)
    chunk(root)
    return root


def assemble(material: Material, make: MakeNode, root: Branch | None = None) -> GraphModel:
    """Return the graph with groups and overlays; `make` returns the node of an index and a group.

    `root` is the tree of groups, by default the tree of the nodes' origins.
    """
    if root is None:
        reads = _reads(len(material.origins), material.edges)
        root = tree(material.origins, material.kinds, reads, source=material.source)
    arrangement = arrange(root)
    nodes = tuple(make(number, group) for number, group in zip(arrangement.order, arrangement.group_of, strict=True))
    traits = [material.traits[number] for number in arrangement.order]
    edges = _placed_edges(material.edges, arrangement.order)
    groups = groups_with_facts(arrangement, nodes, edges, traits, material.parameters)
    names = [material.names[number] for number in arrangement.order]
    overlays: list[Overlay] = standard_overlays(nodes, traits, material.costs_note)
    overlays += named_overlays(names, material.partition, material.errors, material.standings, material.segments)
    return GraphModel(nodes, edges, groups, tuple(overlays))


def _reads(count: int, edges: Sequence[Link]) -> list[list[int]]:
    reads: list[list[int]] = [[] for _ in range(count)]
    for edge in edges:
        reads[edge.target].append(edge.source)
    return reads


def _placed_edges(edges: Sequence[Link], order: Sequence[int]) -> tuple[Edge, ...]:
    place = [0] * len(order)
    for index, node in enumerate(order):
        place[node] = index
    return tuple(Edge(place[link[0]], place[link[1]], *link[2:]) for link in edges)


def fold_helpers(root: Branch, origins: Sequence[Origin]) -> None:
    """Put consecutive ops between submodules into groups."""
    if any(branch.kind != "line" for branch in root.branches):
        _fold(root, origins)


def _fold(branch: Branch, origins: Sequence[Origin]) -> None:
    below = list(branch.branches)
    for child in below:
        _fold(child, origins)
    if not any(child.kind in ("module", "stack") for child in below):
        return
    members: list[int | Branch] = []
    run: list[int] = []
    for member in branch.members:
        if isinstance(member, int) and origins[member] != NOWHERE:
            run.append(member)
            continue
        members += _folded_run(branch, run, origins)
        run = []
        members.append(member)
    branch.members = [*members, *_folded_run(branch, run, origins)]


def _folded_run(parent: Branch, run: list[int], origins: Sequence[Origin]) -> list[int | Branch]:
    if len(run) < FROM_OPS:
        return list(run)
    detail = _functions(run, origins)
    return [Branch(f"{parent.id}~{number(run[0])}", detail or "ops", "helpers" if detail else "", members=list(run))]


def _functions(run: Sequence[int], origins: Sequence[Origin]) -> str:
    """Return the functions that created most of these ops, as `forward()`; empty if not recorded."""
    places = (origins[member].source for member in run)
    counts = Counter(place.name for place in places if place is not None and place.name)
    return ", ".join(f"{name}()" for name, _ in counts.most_common(MOST_NAMES))


def groups_with_facts(
    arrangement: Arrangement,
    nodes: Sequence[Node],
    edges: Sequence[Edge],
    traits: Sequence[Trait],
    parameters: Mapping[str, int | None],
) -> tuple[Group, ...]:
    """Return the groups of an arrangement with their facts.

    `parameters` are element counts by name, None if a size is symbolic.
    """
    if not arrangement.branches:
        return ()
    read, written = _borders(arrangement, edges)
    owned = _parameters(arrangement, traits)
    seconds, measured = weights(traits)
    has_bytes = _has_bytes(traits)
    moved = _sums(trait.cost.bytes if has_bytes else None for trait in traits)
    spent = _sums(seconds if has_bytes or measured else [None] * len(seconds))
    counts = _sums(int(trait.op) for trait in traits)
    groups = []
    for index, branch in enumerate(arrangement.branches):
        first, last = branch.first, branch.last
        facts = [*_launch_fact(branch), *_parameter_fact(owned[index], parameters)]
        facts += _share("share of bytes", moved, first, last)
        facts += _time(spent, first, last, measured)
        facts += _shapes("in", read[index], nodes)
        facts += _shapes("out", written[index], nodes)
        facts += [Fact("modules", branch.modules)] if branch.modules else []
        facts += [Fact(name, text) for name, text in branch.facts]
        count = int(counts[last] - counts[first])
        parent = arrangement.parents[index]
        label, detail = branch.label, branch.detail
        groups.append(
            Group(
                branch.id, label, detail, branch.kind, parent, first, last, count, tuple(facts), branch.badge,
                branch.links,
            )
        )  # fmt: skip
    return tuple(groups)


def _has_bytes(traits: Sequence[Trait]) -> bool:
    """Return True if the bytes of at least 80 % of the ops are known.

    Otherwise a share of bytes would count static shapes only. Some ops, such as those that set a mode, never have
    bytes.
    """
    ops = [trait.cost.bytes for trait in traits if trait.op]
    return ops.count(None) <= MOST_UNKNOWN * len(ops)


def _sums(values: Iterable[float | None]) -> list[float]:
    """Return running sums from 0, so that a range's sum is a difference; missing values count as 0."""
    return list(accumulate((value or 0 for value in values), initial=0))


def _borders(arrangement: Arrangement, edges: Sequence[Edge]) -> tuple[list[dict[int, None]], list[dict[int, None]]]:
    """Return two lists by group: outside nodes that the group reads, and its nodes that are read outside."""
    read: list[dict[int, None]] = [{} for _ in arrangement.branches]
    written: list[dict[int, None]] = [{} for _ in arrangement.branches]
    group_of, parents, branches = arrangement.group_of, arrangement.parents, arrangement.branches
    for edge in edges:
        source, target = edge.source, edge.target
        at, to = group_of[source], group_of[target]
        if at == to:
            continue
        while at != TOP and not branches[at].first <= target < branches[at].last:
            written[at][source] = None
            at = parents[at]
        while to != TOP and not branches[to].first <= source < branches[to].last:
            read[to][source] = None
            to = parents[to]
    return read, written


def _parameters(arrangement: Arrangement, traits: Sequence[Trait]) -> list[dict[str, None]]:
    owned: list[dict[str, None]] = [{} for _ in arrangement.branches]
    for trait, group in zip(traits, arrangement.group_of, strict=True):
        if trait.parameters:
            for above in ancestors(group, arrangement.parents):
                owned[above].update(dict.fromkeys(trait.parameters))
    return owned


def _launch_fact(branch: Branch) -> Iterator[Fact]:
    """Yield the number of kernel launches in a module; of a stack, those of each layer."""
    is_stack = branch.kind == "stack"
    counts = [_launches(layer) for layer in (branch.branches if is_stack else [branch])]
    if any(counts) and not branch.id.startswith(LAUNCH):
        few, most = min(counts), max(counts)
        words = number(few) if few == most else f"{number(few)}–{number(most)}"
        yield Fact("launches per layer" if is_stack else "launches", words, "text")


def _launches(branch: Branch) -> int:
    if branch.id.startswith(LAUNCH):
        return any(link.startswith("k:") for link in branch.links)
    return sum(map(_launches, branch.branches))


def _parameter_fact(names: Iterable[str], parameters: Mapping[str, int | None]) -> list[Fact]:
    counts = [parameters[name] for name in names]
    sizes = [count for count in counts if count is not None]
    return [Fact("parameters", sum(sizes), "count")] if sizes and len(sizes) == len(counts) else []


def _shapes(name: str, members: Mapping[int, None], nodes: Sequence[Node]) -> list[Fact]:
    texts = [nodes[node].detail for node in members if nodes[node].detail]
    if not texts:
        return []
    more = f" and {number(len(texts) - MOST_SHAPES)} more" if len(texts) > MOST_SHAPES else ""
    return [Fact(name, ", ".join(texts[:MOST_SHAPES]) + more)]


def _share(name: str, sums: Sequence[float], first: int, last: int) -> list[Fact]:
    return [Fact(name, (sums[last] - sums[first]) / sums[-1], "share")] if sums[-1] else []


def _time(sums: Sequence[float], first: int, last: int, measured: bool) -> list[Fact]:
    if not measured:
        return _share(ESTIMATED_TIME, sums, first, last)
    if sums[last] == sums[first]:
        return []
    return [Fact("time (measured)", sums[last] - sums[first], "s"), *_share("share of time", sums, first, last)]


def stack(root: Branch, kinds: Sequence[Hashable], reads: Sequence[Sequence[int]], *, similar: bool = False) -> None:
    """Put equal sibling modules with consecutive numbers, such as layers, into one group.

    `kinds` has each node's operation (target and shape), `reads` the numbers of its input nodes; both are by node
    number. Modules are equal if their class, nodes, subgroups and inner edges are equal.

    With `similar`, most of the nodes must be equal, and the group's detail says "similar" if others differ.
    Inductor computes shared values in the first layer, and fuses the last layer with the following code.
    """
    _Stacker(arrange(root), kinds, reads, similar).visit(root)


class _Stacker:
    def __init__(
        self, arrangement: Arrangement, kinds: Sequence[Hashable], reads: Sequence[Sequence[int]], similar: bool
    ) -> None:
        self._similar = similar
        position = [0] * len(arrangement.order)
        for place, node in enumerate(arrangement.order):
            position[node] = place
        self._branches = arrangement.branches
        self._kinds = [kinds[number] for number in arrangement.order]
        self._reads = [tuple(position[read] for read in reads[number]) for number in arrangement.order]

    def visit(self, branch: Branch) -> None:
        """Fold equal layers in the subbranches of a branch, then in the branch itself."""
        for child in branch.branches:
            self.visit(child)
        members: list[int | Branch] = []
        run: list[Branch] = []
        for member in branch.members:
            if isinstance(member, Branch) and self._continues(run, member):
                run.append(member)
                continue
            members.extend(self._stacked_run(branch, run))
            run = [member] if isinstance(member, Branch) and member.segment.isdecimal() else []
            if not run:
                members.append(member)
        branch.members = [*members, *self._stacked_run(branch, run)]

    def _continues(self, run: Sequence[Branch], member: Branch) -> bool:
        """Return True if a branch continues a run; backward graphs have the layers in reverse order."""
        if not run or not member.segment.isdecimal():
            return False
        return abs(int(member.segment) - int(run[-1].segment)) == 1 and (
            self._equal(run[0], member) or (self._similar and self._resembles(run[-1], member))
        )

    def _resembles(self, left: Branch, right: Branch) -> bool:
        """Return True if most nodes of two branches are equal, in any order.

        False if the branches have different recorded classes.
        """
        if left.detail and right.detail and left.detail != right.detail:
            return False
        left_kinds, right_kinds = (Counter(self._kinds[branch.first : branch.last]) for branch in (left, right))
        return (left_kinds & right_kinds).total() >= SIMILAR * max(left_kinds.total(), right_kinds.total())

    def _equal(self, left: Branch, right: Branch) -> bool:
        return (
            left.detail == right.detail
            and self._kinds[left.first : left.last] == self._kinds[right.first : right.last]
            and self._subgroups(left) == self._subgroups(right)
            and self._inner_reads(left) == self._inner_reads(right)
        )

    def _subgroups(self, branch: Branch) -> list[tuple[str, str, int, int]]:
        below = self._branches[branch.index + 1 : branch.end]
        first = branch.first
        return [
            (subgroup.segment, subgroup.detail, subgroup.first - first, subgroup.last - first) for subgroup in below
        ]

    def _inner_reads(self, branch: Branch) -> list[tuple[int, ...]]:
        first, last = branch.first, branch.last
        return [tuple(at - first for at in reads if first <= at < last) for reads in self._reads[first:last]]

    def _stacked_run(self, parent: Branch, run: list[Branch]) -> list[Branch]:
        if len(run) < 2:
            return run
        first, last = run[0], run[-1]
        label = next((member.detail for member in run if member.detail), "") or parent.label or "layers"
        equal = all(self._equal(first, member) for member in run[1:])
        times = f"× {number(len(run))}" + ("" if equal else ", similar")
        modules = f"{first.label} to {last.label}"
        return [Branch(f"{first.id}-{last.segment}", label, times, kind="stack", modules=modules, members=list(run))]


def largest(
    name: str, groups: Sequence[Group | None], amounts: Sequence[float], texts: Sequence[str]
) -> Largest | None:
    """Return the first group with the largest amount, and how many have it; None without an amount."""
    places = [place for place, group in enumerate(groups) if group is not None and amounts and amounts[place] > 0]
    best = max(places, key=lambda place: (amounts[place], -place), default=None)
    group = groups[best] if best is not None else None
    if best is None or group is None:
        return None
    same = sum(amounts[place] == amounts[best] for place in places)
    return Largest(name, group.badge, _first(same) + group.name, texts[best], (group.id,))


def _times(times: int) -> str:
    return f" × {number(times)}" if times > 1 else ""


def _first(times: int) -> str:
    return f"{number(times)} equal ones, first: " if times > 1 else ""


@dataclass(frozen=True)
class Refusals:
    """Pairs of launches that torch refused to fuse, by place: bytes that both access, and the reason."""

    pairs: Mapping[tuple[int, int], tuple[int, str]]

    def saves(self, pair: tuple[int, int]) -> bool:
        """Return True if fusing a pair could save bytes, by torch's count."""
        return not self.pairs[pair][1].startswith(NO_SHARED_DATA)

    @cached_property
    def _of(self) -> dict[int, list[tuple[int, tuple[int, int]]]]:
        """Shared bytes and refused pairs of each launch."""
        pairs: dict[int, list[tuple[int, tuple[int, int]]]] = {}
        for pair, (size, _) in self.pairs.items():
            for place in pair:
                pairs.setdefault(place, []).append((size, pair))
        return pairs

    def facts(self, place: int, titles: Sequence[str]) -> Iterator[tuple[str, str]]:
        """Yield why a launch was not fused with others, most shared bytes first; `titles` are by place."""
        equal: Counter[tuple[str, str]] = Counter()
        for size, pair in sorted(self._of.get(place, ()), reverse=True):
            reason = self.pairs[pair][1]
            if size:
                shared = f"both access {bytes_(size)}"
                apart = f"nothing to save: {shared}, but other parts or in another order"
                reason = f"{reason}; {shared}" if self.saves(pair) else apart
            equal[titles[pair[1] if pair[0] == place else pair[0]], reason] += 1
        for (title, reason), times in [*equal.items()][:MOST_REFUSALS]:
            yield f"not fused with {title}{_times(times)}", reason
        if more := sum([*equal.values()][MOST_REFUSALS:]):
            yield "not fused with", count(more, "more launch", "more launches")

    def largest(self, groups: Sequence[Group]) -> Largest:
        """Return the first pair whose fusion could save most, or that shares most; `groups` are by place."""
        name = "largest missed fusion"
        pair = max(sorted(self.pairs), key=self._stake, default=None)
        if pair is None or not (self.saves(pair) or self.pairs[pair][0]):
            return Largest(name, "", "torch refused no pair", "none", ())
        size, same = self.pairs[pair][0], sum(self._stake(each) == self._stake(pair) for each in self.pairs)
        text = f"{bytes_(size)} at stake" if size else "bytes not recorded"
        first, second = (groups[place] for place in pair)
        badges = " and ".join(group.badge for group in (first, second) if group.badge)
        label = f"both {first.name}" if first.name == second.name else f"{first.name} with {second.name}"
        text = text if self.saves(pair) else "none that saves bytes"
        return Largest(name, badges, _first(same) + label, text, (first.id, second.id))

    def _stake(self, pair: tuple[int, int]) -> tuple[bool, int]:
        """Return the rank of a pair: whether its fusion could save bytes, and the bytes that both access."""
        return self.saves(pair), self.pairs[pair][0]

    def inside(self, model: GraphModel, places: Mapping[str, int]) -> GraphModel:
        """Return the drawing with the missed fusions on each module that has both launches inside.

        `places` are the launches by the ids of their hulls. A stack of equal layers says in how many of them.
        """
        number_of = {places[group.id]: index for index, group in enumerate(model.groups) if group.id in places}
        parents = [group.parent for group in model.groups]
        sizes: dict[int, list[int]] = {}
        layers: dict[int, set[int]] = {}
        for pair, (size, _) in self.pairs.items():
            if not (self.saves(pair) and size and number_of.keys() >= {*pair}):
                continue
            first, second = (list(ancestors(number_of[place], parents)) for place in pair)
            for at, around in enumerate(first[1:]):
                if around in second[1:]:
                    sizes.setdefault(around, []).append(size)
                    layers.setdefault(around, set()).update((first[at], second[second.index(around) - 1]))
        groups = list(model.groups)
        for index, inside in sizes.items():
            group = groups[index]
            each = bytes_(inside[0]) + _times(len(inside)) if len({*inside}) == 1 else f"{bytes_(sum(inside))} in all"
            within = f" in {count(len(layers[index]), 'layer')}" if group.kind == "stack" else ""
            fact = Fact("not fused inside", f"{count(len(inside), 'pair')}{within}: {each}")
            detail = f"{group.detail}, {number(len(inside))} refused" if group.kind == "stack" else group.detail
            groups[index] = replace(group, detail=detail, facts=(*group.facts, fact))
        return replace(model, groups=tuple(groups))


def with_launches(
    model: GraphModel,
    schedule: Schedule,
    drawn: Sequence[Launch],
    amounts: Mapping[str, Sequence[float | None]],
    *,
    once: bool = True,
) -> GraphModel:
    """Return a fusion with ops painted by the amounts of their launches, and eager's calls in each module.

    `amounts` has a number for each launch by overlay; folded groups keep the sums of their ops' parts. Without `once`,
    a call may run a launch several times or never, so groups have no estimated shares.
    """
    place = {launch.id: index for index, launch in enumerate(drawn)}
    hulls = [(group.first, group.last, place[group.id]) for group in model.groups if group.id in place]
    overlays = []
    for overlay in model.overlays:
        whole: list[float | None] = [None] * len(model.nodes)
        for first, last, index in hulls if overlay.name in amounts else ():
            whole[first:last] = [amounts[overlay.name][index]] * (last - first)
        title = f"{overlay.title}, of the launch"
        overlays.append(replace(overlay, title=title, whole=tuple(whole)) if overlay.name in amounts else overlay)
    call_of = {f"n:{name}": number for number, call in enumerate(schedule.eager_calls) for name in call.nodes}
    called = [call_of.get(node.id) for node in model.nodes]
    groups = []
    for group in model.groups:
        eager = () if group.id in place else _eager_calls(called[group.first : group.last], schedule)
        facts = (fact for fact in group.facts if once or fact.name not in ESTIMATED_SHARES)
        groups.append(replace(group, facts=(*facts, *eager)))
    return replace(model, overlays=tuple(overlays), groups=tuple(groups))


def _eager_calls(called: Sequence[int | None], schedule: Schedule) -> Iterator[Fact]:
    """Yield the number of the calls of eager that compute a module's ops, and their bytes."""
    calls = {call for call in called if call is not None}
    if calls:
        moved = sum(schedule.eager_calls[number].bytes for number in calls)
        yield Fact("eager", f"{count(len(calls), 'call')}, {bytes_(moved)}")
