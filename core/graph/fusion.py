"""Fusion as one drawing: the ops of a graph inside their kernel launches, and a film of the fusions.

Each launch is a group (a hull) around the ops that it computes, inside the launch's module. An op that several launches
compute is drawn in each of them. Views have no box: an edge passes through them and names them. Frame 0 has the ops
alone, frame 1 the scheduler nodes, each further frame one fusion, and the last frame the launches. If eager's calls
were recorded, a frame with them comes first. No position changes.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import repeat

from core.analysis.kernels.kernel import KernelNames, node_op, stack_of
from core.analysis.work import working_ops
from core.base.words import bytes_, count, duration_s, first_of, number, percent
from core.graph.assemble import NOWHERE, Link, Material, Refusals, assemble, largest, tree, with_launches
from core.graph.fx import Reads, meta_text, op_node, via_words
from core.graph.launches import MOST_OPS_NAMED, FxNodes, Kernels, NestedGraph, is_call, launches, replay, with_parts
from core.graph.model import TOP, GraphModel, Group, Largest, Launch, Node, collection_paused, launch_title
from core.graph.modules import Branch, Origin, Trait, classes_of, line_words, module_at, shape_words
from core.graph.overlays import (
    eager_bytes,
    launch_costs,
    launch_seconds,
    op_shares,
    refused_launches,
    run_order,
    saved_bytes,
    saving_facts,
)
from core.graph.placing import full_name, idle_words, layer_of, module_facts, part_words, placed_paths, spanned
from core.ops.costs import Cost, aten_name, constants, op_class
from core.report import FxNode, Kernel, Module, ModulePath, Schedule, SchedulerNode, module_path, tensor_text

RECORDED = "Bytes that the scheduler counts for a launch: all ops of a launch have its colour."
SAVED_MOST = "saved most by fusion"
NO_LINES = "none: torch records no lines inside torch.nn"
LONGEST_KERNEL = 32  #: characters of a kernel's name before its module is omitted

Member = tuple[int, str]


@collection_paused()
def fusion_model(
    schedule: Schedule,
    nodes: FxNodes,
    kernels: Kernels,
    *,
    source: str = "",
    seconds: Mapping[str, float] | None = None,
    drawn: Sequence[Launch] | None = None,
    parts: Sequence[NestedGraph] = (),
) -> GraphModel:
    """Return the drawing of a graph's fusion.

    `nodes` are the FX nodes of the lowered graph by name, `kernels` are by id, `seconds` are measured times by kernel
    id, and `drawn` are the launches, if they are known. Nested graphs (`parts`) are drawn in the box of their call.
    Each op lists the scheduler's groups that it joins, each with its first frame.
    """
    drawn = launches(schedule, nodes, kernels) if drawn is None else drawn
    return _Drawing(schedule, nodes, kernels, source, seconds or {}, drawn, parts).model()


class _Drawing:
    def __init__(
        self,
        schedule: Schedule,
        nodes: FxNodes,
        kernels: Kernels,
        source: str,
        seconds: Mapping[str, float],
        drawn: Sequence[Launch],
        parts: Sequence[NestedGraph],
    ) -> None:
        self._parts, self._kernels, self._source = parts, kernels, source
        self._schedule = schedule = with_parts(schedule, parts)
        self._nodes = nodes = {
            name: node for each in (nodes, *(part.nodes for part in parts)) for name, node in each.items()
        }
        self._launches = drawn = [*drawn, *(launch for part in parts for launch in part.launches)]
        inner = [number for number, part in enumerate(parts) for _ in part.launches]
        self._part_of = [TOP] * (len(drawn) - len(inner)) + inner
        self._times = launch_seconds([launch.nodes for launch in drawn], kernels, seconds)
        self._total_s = sum(time or 0.0 for time in self._times)
        self._saved = saved_bytes(schedule, drawn)
        self._launch_costs, self._shares = launch_costs(schedule, drawn), op_shares(drawn, nodes)
        self._members: list[Member] = [(place, name) for place, each in enumerate(drawn) for name in each.members]
        self._number = {member: index for index, member in enumerate(self._members)}
        self._buffers = {buffer.name: buffer for buffer in schedule.buffers}
        recorded = ((node.name, Module(node.module, node.module_class)) for node in nodes.values() if node.module)
        self._modules = {**dict(recorded), **schedule.modules}
        self._classes, self._fixed = classes_of(self._modules.values()), constants(nodes)
        self._stack = stack_of(module_path(module.path) for module in self._modules.values())
        has_lines = not self._modules or any(node.place for node in nodes.values())
        self._no_lines = "not recorded" if has_lines else NO_LINES
        self._ops = working_ops(schedule, nodes)
        self._reads = Reads(nodes, {name for _, name in self._members}, parts)
        self._pairs: Collection[tuple[int, int]] = ()
        self._origins: dict[int, Origin] = {}
        self._joins = {name: tuple(pairs) for name, pairs in replay(schedule, drawn)[0].joins.items()}
        self._eager = {name: call for call, found in enumerate(schedule.eager_calls) for name in found.nodes}
        self._refusals = Refusals(refused_launches(schedule, drawn))
        self._names = KernelNames(list(kernels.values()), [schedule], {node.target for node in nodes.values()})
        self._order = run_order(drawn, kernels)
        generated = dict.fromkeys(launch.kernel for launch in drawn if self._is_generated(launch))
        self._kernel_number = {kernel: index for index, kernel in enumerate(generated, 1)}

    def model(self) -> GraphModel:
        """Return the drawing."""
        edges = list(self._edges())
        self._pairs = dict.fromkeys((self._members[edge.source][0], self._members[edge.target][0]) for edge in edges)
        root, origins = self._tree(TOP), self._origins
        material = Material(
            origins=[origins[place] for place, _ in self._members],
            kinds=(),
            traits=[self._trait(member, origins[member[0]]) for member in self._members],
            names=[name for _, name in self._members],
            edges=edges,
            parameters={},
            costs_note=RECORDED,
        )
        model = assemble(material, lambda index, group: self._node(self._members[index], group), root)
        times: list[float | None] = [100 * share for share in self._estimates] or self._times
        moved = [cost.bytes for cost in self._launch_costs]
        amounts: dict[str, Sequence[float | None]] = {"bytes": moved, "time": times}
        model = with_launches(model, self._schedule, self._launches, amounts, once=not self._parts)
        model = self._refusals.inside(model, {launch.id: place for place, launch in enumerate(self._launches)})
        names = {launch.id: name for launch, name in zip(self._launches, self._full_names, strict=True)}
        groups = {group.id: replace(group, full=names.get(group.id, "")) for group in model.groups}
        model = replace(model, groups=tuple(groups.values()))
        return replace(model, largest=tuple(filter(None, self._largest([groups[each.id] for each in self._launches]))))

    def _largest(self, groups: Sequence[Group]) -> Iterator[Largest | None]:
        """Yield the launches that lead in time, bytes and saved bytes, and the largest missed fusion."""
        launched = [group if launch.kernel else None for launch, group in zip(self._launches, groups, strict=True)]
        moved, saved = [cost.bytes or 0 for cost in self._launch_costs], [size or 0 for size in self._saved]
        below = [max(0, (eager or 0) - size) for eager, size in zip(self._eager_bytes, moved, strict=True)]
        times = [time or 0.0 for time in self._times] if self._total_s else self._estimates
        shares = [self._time_words(place).replace(" of time", "") for place in range(len(launched))]
        yield largest("most time" if self._total_s else "most time, estimated", launched, times, shares)
        yield largest("most bytes", launched, moved, [*map(bytes_, moved)])
        if self._schedule.has_steps:
            why = (
                "fusing saved no bytes" if any(each.fused for each in self._schedule.rounds) else "no nodes were fused"
            )
            most = largest(SAVED_MOST, launched, saved, [*map(bytes_, saved)])
            yield most or Largest(SAVED_MOST, "", why, "nothing", ())
            yield largest("saved most against eager", launched, below, [f"about {bytes_(size)}" for size in below])
            yield self._refusals.largest(groups)

    @cached_property
    def _full_names(self) -> list[str]:
        """Display names of the launches with their modules, once these are known."""
        modules = [module_path(self._origins.get(place, NOWHERE).module) for place in range(len(self._launches))]
        return [*map(full_name, self._labels, modules, repeat(self._stack), repeat(self._classes))]

    @cached_property
    def _titles(self) -> list[str]:
        return [launch_title(name, self._badge(place)) for place, name in enumerate(self._full_names)]

    def _badge(self, place: int) -> str:
        kernel = self._launches[place].kernel
        return number(self._kernel_number[kernel]) if kernel in self._kernel_number else ""

    def _tree(self, number: int) -> Branch:
        """Return the groups of the whole graph or of a part, and set the origins of its launches.

        A value of a launch in a nested graph counts for the call that has it inside.
        """
        places = [place for place, owner in enumerate(self._part_of) if owner == number]
        local = {place: index for index, place in enumerate(places)}
        reads: list[dict[int, None]] = [{} for _ in places]
        for pair in self._pairs:
            source, target = (local.get(self._within(place, number), TOP) for place in pair)
            if TOP not in (source, target) and source != target:
                reads[target][source] = None
        drawn = [self._launches[place] for place in places]
        paths = placed_paths([self._paths(launch) for launch in drawn], [list(read) for read in reads])
        own = [self._origin(place, path) for place, path in zip(places, paths, strict=True)]
        self._origins.update(zip(places, own, strict=True))
        root = tree(
            own, [self._kind(launch) for launch in drawn], [list(read) for read in reads], source=self._source,
            similar=True, ops=sum(len(launch.members) for launch in drawn),
        )  # fmt: skip
        self._enclose(root, places, self._parts[number].path if number != TOP else "")
        return root

    def _within(self, place: int, number: int) -> int:
        """Return the launch of a graph that is, or has inside, another launch; -1 without one."""
        while self._part_of[place] not in (number, TOP):
            place = self._home[self._parts[self._part_of[place]].call]
        return place if self._part_of[place] == number else TOP

    def _enclose(self, branch: Branch, places: Sequence[int], path: str) -> None:
        """Put the hull of each launch in the place of its number."""
        for child in branch.branches:
            self._enclose(child, places, path)
        branch.id = f"m:{path}{branch.id}" if path else branch.id
        branch.members = [
            self._hull(places[member]) if isinstance(member, int) else member for member in branch.members
        ]

    def _hull(self, place: int) -> Branch:
        launch = self._launches[place]
        kernel = self._kernels.get(launch.kernel)
        inner = [self._part(number) for number, part in enumerate(self._parts) if part.call in launch.owner]
        detail = [f"{part.label}: {part.detail.partition(' · ')[0]}" for part in inner] or self._facts(place)
        return Branch(
            launch.id,
            self._labels[place],
            " · ".join(detail),
            kind="module" if inner else "launch" if self._is_generated(launch) else "library",
            members=[
                *(self._number[place, name] for name in launch.members),
                *(part for part in inner if part.members),
            ],
            links=tuple(f"s:{node.name}" for node in launch.nodes) + ((f"k:{kernel.id}",) if kernel else ()),
            facts=(*self._kernel_facts(place), *self._savings(place), *self._refusals.facts(place, self._titles)),
            badge=self._badge(place),
        )

    def _part(self, number: int) -> Branch:
        """Return the group of a nested graph in the box of its call."""
        part, root = self._parts[number], self._tree(number)
        root.id, root.label, root.kind = f"m:{part.path}", part_words(part), "module"
        saved = sum(self._saved[place] or 0 for place, owner in enumerate(self._part_of) if owner == number)
        launched = count(sum(bool(launch.kernel) for launch in part.launches), "launch", "launches")
        root.detail = f"{launched} · saves {bytes_(saved)} each time" if saved > 0 else launched
        return root

    def _kernel_facts(self, place: int) -> Iterator[tuple[str, str]]:
        """Yield a launch's modules, lines, inputs of the graph, its place, and its kernel's number."""
        launch = self._launches[place]
        yield from module_facts(self._paths(launch), self._classes)
        yield "lines", line_words(self._own_ops(place)) or self._no_lines
        outside = dict.fromkeys(each for name in launch.members for each in self._reads.outside(name))
        if self._schedule.is_recorded and self._part_of[place] == TOP:
            read = {name for node in launch.nodes for name, _ in node.reads}
            outside = dict.fromkeys(name for name in outside if name in read)
        if texts := [meta_text(self._nodes[name].meta) or name for name in outside]:
            yield "graph inputs, parameters", first_of(texts, MOST_OPS_NAMED)
        if not self._parts and place in self._order and len(self._order) > 1:
            yield "launch", f"{number(self._order[place])} of {number(len(self._order))}"
        if badge := self._badge(place):
            yield "kernel", badge

    def _savings(self, place: int) -> Iterator[tuple[str, str]]:
        """Yield what a launch saves, its calls of eager without those of copies, and its writers."""
        launch, saved = self._launches[place], self._saved[place] if self._is_generated(self._launches[place]) else None
        yield from saving_facts(launch, saved, self._launch_costs[place].bytes, self._eager_bytes[place])
        own = (name for name in launch.members if self._home[name] == place)
        if calls := dict.fromkeys(self._eager[name] for name in own if name in self._eager):
            names = [aten_name(self._schedule.eager_calls[call].op) for call in calls]
            parts = "" if self._eager_bytes[place] is not None else f", {'some ' if len(calls) > 1 else ''}in part"
            yield "eager", f"{count(len(calls), 'call')}: {first_of(names, MOST_OPS_NAMED)}{parts}"
        parts_of_it = [name for node in launch.nodes if not launch.nodes[0].runs for name, _ in node.reads]
        if writers := dict.fromkeys(self._writers[name][0] for name in parts_of_it if name in self._writers):
            yield "written in place by", first_of([self._titles[writer] for writer in writers], MOST_OPS_NAMED)

    @cached_property
    def _eager_bytes(self) -> list[int | None]:
        return eager_bytes(self._schedule, self._home, len(self._launches))

    def _is_generated(self, launch: Launch) -> bool:
        kernel = self._kernels.get(launch.kernel)
        return kernel is not None and not kernel.extern

    def _facts(self, place: int) -> Iterator[str]:
        """Yield time, layers if there are several, saved bytes and ops of a launch."""
        saved, eager, moved = self._saved[place], self._eager_bytes[place], self._launch_costs[place].bytes
        if words := self._time_words(place):
            yield words
        if layers := spanned(self._paths(self._launches[place]), module_path(self._origins[place].module)):
            yield f"spans {first_of(layers, MOST_OPS_NAMED)}"
        if saved:
            yield f"saves {bytes_(saved)}" if saved > 0 else f"moves {bytes_(-saved)} more"
        elif self._is_generated(self._launches[place]) and eager and moved is not None and eager > moved:
            yield f"about {bytes_(eager - moved)} less than eager"
        kernel = self._kernels.get(self._launches[place].kernel)
        if kernel is None:
            yield idle_words(self._launches[place].nodes[0])
        elif not self._schedule.is_recorded and len(kernel.calls) > 1 and not kernel.calls[0].origins:
            yield f"all {count(len(kernel.calls), 'launch', 'launches')}"
        yield count(len(self._launches[place].members), "op")

    def _time_words(self, place: int) -> str:
        """Return the measured time of a launch, otherwise its estimated share; empty if neither is known."""
        seconds = self._times[place]
        if seconds is not None:
            share = f" ({percent(seconds / self._total_s)})" if self._total_s else ""
            return f"{duration_s(seconds)}{share}"
        if not self._estimates or not self._launches[place].kernel:
            return ""
        estimate = round(100 * self._estimates[place])
        about = f"about {estimate} %" if estimate else "under 1 %"
        return f"{about} of time by {self._launch_costs[place].limit}"

    @cached_property
    def _estimates(self) -> list[float]:
        """Each launch's estimated share of the time; empty if measured, or without known bytes and runs."""
        weights = [cost.weight or 0.0 for cost in self._launch_costs]
        if self._total_s or self._parts or not self._schedule.one_count or not sum(weights):
            return []
        return [weight / sum(weights) for weight in weights]

    @cached_property
    def _labels(self) -> list[str]:
        """Display names of the launches."""
        return [self._words(place, self._kernels.get(launch.kernel)) for place, launch in enumerate(self._launches)]

    def _words(self, place: int, kernel: Kernel | None) -> str:
        """Return a launch's display name.

        A long name is reduced to the ops, since the hull is in its module.
        """
        launch = self._launches[place]
        if kernel is None or self._part_of[place] != TOP:
            known = (self._nodes[name] for name in launch.members if name in self._nodes)
            names = list(dict.fromkeys(aten_name(node.target) for node in known))
            return first_of(names, MOST_OPS_NAMED) if names else self._scheduler_words(launch.nodes[0])
        origins = tuple(dict.fromkeys(name for node in launch.nodes for name in node.origins))
        own = launch.owner.keys() - launch.fills
        apart = self._ops_named({*origins} - own) - self._ops_named(own)
        words = self._names.named(kernel, origins, self._schedule, apart if self._is_generated(launch) else ())
        return words if len(words) <= LONGEST_KERNEL else words.rpartition(" · ")[2]

    def _own_ops(self, place: int) -> list[FxNode]:
        """Return the ops that tell where a launch is from: no constants, copies, and ops of another launch."""
        known = [self._nodes[name] for name in self._launches[place].members if name in self._nodes]
        own = [node for node in known if self._home[node.name] == place]
        working = [node for node in own if node.name not in self._fixed and op_class(node.target) != "copy"]
        return working or own or known

    def _ops_named(self, names: Collection[str]) -> set[str]:
        """Return the ops of FX nodes, and those of the calls of eager that they are a part of."""
        calls = {self._schedule.eager_calls[self._eager[name]].op for name in names if name in self._eager}
        return {*map(node_op, names), *map(aten_name, calls)}

    def _paths(self, launch: Launch) -> list[ModulePath]:
        """Return the modules of a launch's ops; a constant, which layers share, counts only by itself."""
        known = [name for name in launch.members if name in self._modules]
        named = [name for name in known if name not in self._nodes or self._nodes[name].inputs] or known
        return [module_path(self._modules[name].path) for name in named]

    def _origin(self, place: int, path: ModulePath) -> Origin:
        first = next((node for node in self._own_ops(place) if node.source), None)
        module = module_at(path, self._classes)
        return Origin(module.path, module.kind, "", first.source if first else None, first.code if first else "")

    def _kind(self, launch: Launch) -> tuple[tuple[str, ...], ...]:
        """Return a key that is equal for equal launches.

        The order of ops is ignored, since the first of several equal layers may compute shared values.
        """
        return tuple((*sorted(self._ops[node.name]), self._output_text(node)) for node in launch.nodes)

    def _trait(self, member: Member, origin: Origin) -> Trait:
        place, name = member
        node, cost, share = self._nodes.get(name), self._launch_costs[place], self._shares[place][name]
        meta, seconds = node.meta if node else None, self._times[place]
        return Trait(
            cost=Cost(*(None if amount is None else round(amount * share) for amount in cost)),
            dtype=meta.dtype if meta else "",
            shapes=shape_words(meta.shape) if meta else "",
            module_class=origin.module_class,
            seconds=None if seconds is None else seconds * share,
            # A module counts an op once, in whichever launch.
            op=self._home[name] == place,
        )

    def _node(self, member: Member, group: int) -> Node:
        place, name = member
        launch, node = self._launches[place], self._nodes.get(name)
        owner = launch.owner[name]
        links = (f"s:{owner.name}", *([f"k:{launch.kernel}"] if launch.kernel in self._kernels else []))
        is_copy = self._home.get(name, place) != place
        node_id = f"n:{name}@{number(place)}" if is_copy else f"n:{name}" if node else f"s:{name}"
        if node is None:
            words = self._scheduler_words(owner)
            kind = f" ({owner.kind})" if owner.kind else ""
            tip = f"{owner.name}{kind}: its op was not recorded"
            return Node(
                node_id, words, self._output_text(owner), "other", group,
                kernel=launch.kernel, links=links[1:], tooltip=tip, joins=self._joins[owner.name],
            )  # fmt: skip
        links = (*([f"n:{name}"] if is_copy else []), *links)
        drawn = op_node(node, group, self._source, meta_text(node.meta), links)
        if self._is_layout_copy(member):
            what = "fill" if name in launch.fills else "copy"
            drawn = replace(drawn, label=f"{what} for {drawn.label}", op_class="copy", detail=self._output_text(owner))
        module = self._modules.get(name)
        layer = layer_of(module_path(module.path), module_path(self._origins[place].module)) if module else ""
        times = len(self._copies[name])
        again = f"computed in {count(times, 'launch', 'launches')}" if times > 1 else ""
        return replace(
            drawn,
            id=node_id,
            kernel=launch.kernel,
            thin=is_copy,
            chips=(layer,) if layer else (),
            tooltip="\n".join(filter(None, (line_words([node]), drawn.tooltip, again))),
            joins=(*(() if is_copy else self._eager_joins(name)), *self._joins[owner.name]),
        )

    def _eager_joins(self, name: str) -> tuple[tuple[int, str], ...]:
        """Return that an op belongs to a call of eager in frame 0, and to no group in frame 1."""
        if name not in self._eager:
            return ()
        call = self._eager[name]
        return (0, f"e:{call}:{aten_name(self._schedule.eager_calls[call].op)}"), (1, "")

    def _is_layout_copy(self, member: Member) -> bool:
        """Return True for a loop that lays out an input or result of a library call, or fills memory."""
        place, name = member
        home = self._home[name]
        is_apart = is_call(self._launches[home], self._kernels) or name in self._launches[place].fills
        return home != place and is_apart and name in self._nodes

    def _scheduler_words(self, node: SchedulerNode) -> str:
        """Return the ops of a scheduler node in words; its own name if they are unknown."""
        kernel = self._kernels.get(node.kernel)
        unknown = aten_name(kernel.name) if kernel is not None and not self._schedule.is_recorded else node.name
        return " · ".join(self._ops[node.name] or dict.fromkeys(map(node_op, node.origins))) or unknown

    @cached_property
    def _copies(self) -> dict[str, list[int]]:
        """Launches of each member."""
        copies: dict[str, list[int]] = {}
        for place, name in self._members:
            copies.setdefault(name, []).append(place)
        return copies

    @cached_property
    def _home(self) -> dict[str, int]:
        """The launch of each member: a library call, otherwise one that stores its value, otherwise the first."""
        calls = [is_call(launch, self._kernels) for launch in self._launches]

        def rank(place: int, name: str) -> tuple[bool, bool, bool]:
            return name in self._launches[place].fills, not calls[place], (place, name) not in self._stored

        return {name: min(places, key=lambda place: rank(place, name)) for name, places in self._copies.items()}

    @cached_property
    def _stored(self) -> dict[Member, int]:
        """Bytes that a launch stores of a member's value; a member without a buffer is left out."""
        fused = {name: node for node in self._schedule.after for name in node.nodes}
        sizes: dict[str, int] = {}
        for node in self._schedule.before:
            for name, size in (*node.reads, *node.writes):
                sizes[name] = max(size, sizes.get(name, 0))
        stored: dict[Member, int] = {}
        if not self._schedule.is_recorded:
            return self._reads.elsewhere(self._launches)
        for place, launch in enumerate(self._launches):
            for node in launch.nodes:
                kept = {name for name, _ in fused.get(node.name, node).writes}
                size = sum(sizes[name] for name, _ in node.writes if name in kept)
                last = self._reads.last_op(launch, node)
                if size:
                    stored[place, last] = stored.get((place, last), 0) + size
        return stored

    def _edges(self) -> Iterator[Link]:
        """Yield the values between ops; 0 bytes if a value is not stored in memory."""
        for member in self._members:
            place, name = member
            if name not in self._nodes or self._is_layout_copy(member):
                yield from self._buffer_edges(member)
                continue
            for source, via in self._reads.of(name):
                origin = (place, source) if (place, source) in self._number else (self._home[source], source)
                label = (meta_text(self._nodes[source].meta) or source) + via_words(via)
                refused = (min(origin[0], place), max(origin[0], place)) in self._refusals.pairs
                size = self._stored.get(origin, 0)
                yield Link(self._number[origin], self._number[member], label, size, refused=refused)

    def _buffer_edges(self, member: Member) -> Iterator[Link]:
        """Yield the edges of a scheduler node by its buffers, without its ops."""
        place, name = member
        node, number = self._launches[place].owner[name], self._number[member]
        for buffer, size in node.reads:
            origin = self._writers.get(buffer)
            if origin is not None and self._number[origin] != number:
                yield Link(self._number[origin], number, self._buffer(buffer), size)
        if self._is_layout_copy(member):
            written = {buffer for buffer, _ in node.writes}
            # The memory that is filled is also that of the result, which others read later.
            filled = self._home[name] if name in self._launches[place].fills else None
            for reader_place, reader in self._readers_of(written):
                target = self._number[reader_place, self._reads.last_op(self._launches[reader_place], reader)]
                if target != number and filled in (None, reader_place):
                    size = sum(size for buffer, size in reader.reads if buffer in written)
                    yield Link(number, target, self._buffer(min(written)), size)

    def _readers_of(self, buffers: Collection[str]) -> Iterator[tuple[int, SchedulerNode]]:
        """Yield the scheduler nodes that read any of these buffers, each with its launch."""
        for place, launch in enumerate(self._launches):
            for node in launch.nodes:
                if any(name in buffers for name, _ in node.reads):
                    yield place, node

    @cached_property
    def _writers(self) -> dict[str, Member]:
        """The member that each buffer has its value from."""
        return {
            name: (place, self._reads.last_op(launch, node))
            for place, launch in enumerate(self._launches)
            for node in launch.nodes
            for name, _ in node.writes
        }

    def _buffer(self, name: str) -> str:
        buffer = self._buffers.get(name)
        return f"{name} {tensor_text(buffer.dtype, buffer.shape)}" if buffer else name

    def _output_text(self, node: SchedulerNode) -> str:
        buffers = [self._buffers[name] for name, _ in node.writes if name in self._buffers]
        return tensor_text(buffers[0].dtype, buffers[0].shape) if buffers else ""
