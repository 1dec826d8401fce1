"""Display graphs of Inductor's scheduler: nodes before fusion, and kernels after fusion.

A kernel has its ops as rows. A box is in the innermost module that contains all its ops. The exception is a box between
two boxes of the same layer: it is in that layer, even if some of its ops are in no layer or in the next layer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from core.analysis.kernels.kernel import KernelNames
from core.analysis.work import launch_groups, working_ops
from core.base.words import bytes_, number
from core.graph.assemble import Link, Material, assemble
from core.graph.fusion import joins, launch_seconds, member_order
from core.graph.model import GraphModel, Node, Row, collection_paused
from core.graph.modules import Origin, Trait, classes_of, module_at, shape_words
from core.ops.costs import Cost, op_class
from core.report import FxNode, Kernel, Module, ModulePath, Schedule, SchedulerNode, module_path, tensor_text

WEIGHTIEST = (
    "attention", "matmul", "collective", "embedding", "random", "reduction", "pointwise", "copy", "view",
)  # fmt: skip
RECORDED = (
    "Bytes read and written, counted alike before and after fusion; at most so many where an index depends on data."
)
UNEVEN = "This log's bytes are not comparable before and after fusion; FLOPs are recorded."
MOST_TOOLTIP_LINES = 12  #: lines of a tooltip
LONGEST_KERNEL = 32  #: characters of a kernel's name before its module is omitted
FxNodes = Mapping[str, FxNode]


@collection_paused()
def before_model(
    schedule: Schedule, nodes: FxNodes, *, source: str = "", seconds: Mapping[str, float] | None = None
) -> GraphModel:
    """Return the scheduler's nodes before fusion, one box per node, with buffers as edges.

    `nodes` are the FX nodes of the lowered graph by name; `seconds` are measured times by kernel id; each is
    divided among the kernel's nodes in proportion to their estimated times.
    """
    drawing = _Drawing(schedule, nodes, source)
    boxes = [(member,) for member in schedule.before]
    return drawing.model(boxes, drawing.split(seconds or {}), drawing.before_node)


@collection_paused()
def after_model(
    schedule: Schedule,
    nodes: FxNodes,
    kernels: Mapping[str, Kernel],
    groups: Sequence[Sequence[str]] | None = None,
    *,
    source: str = "",
    seconds: Mapping[str, float] | None = None,
) -> GraphModel:
    """Return groups of scheduler nodes as boxes with ops as rows.

    The groups are kernel launches, unless `groups` is passed. Rows are in dendrogram order, so that fused rows
    are adjacent. Each row lists its groups, each with the first frame in which the row is in the group (frame k:
    after k fusions).
    """
    drawing = _Drawing(schedule, nodes, source)
    order = member_order(schedule, kernels)
    joined = joins(schedule, kernels)
    before = {node.name: node for node in schedule.before}
    grouped = groups if groups is not None else launch_groups(schedule, kernels)
    boxes = [tuple(before[name] for name in sorted(group, key=order.__getitem__)) for group in grouped]
    times = launch_seconds(boxes, kernels, seconds or {})
    names = KernelNames(list(kernels.values()), [schedule], {node.target for node in nodes.values()})

    def box_node(box: Box, group: int) -> Node:
        kernel = kernels.get(box[0].kernel)
        return drawing.after_node(box, group, kernel, drawing.kernel_words(kernel, box, names), joined)

    return drawing.model(boxes, times, box_node)


Box = Sequence[SchedulerNode]
MakeBox = Callable[[Box, int], Node]


class _Drawing:
    def __init__(self, schedule: Schedule, nodes: FxNodes, source: str) -> None:
        self._schedule, self._nodes, self._source = schedule, nodes, source
        self._ops = working_ops(schedule, nodes)
        self._buffers = {buffer.name: buffer for buffer in schedule.buffers}
        recorded = ((node.name, Module(node.module, node.module_class)) for node in nodes.values() if node.module)
        self._modules = {**dict(recorded), **schedule.modules}
        self._classes = classes_of(self._modules.values())
        self._fused = {name: node for node in schedule.after for name in node.nodes}
        self._order = {node.name: index for index, node in enumerate(schedule.before)}

    def model(
        self,
        boxes: Sequence[Box],
        seconds: Mapping[str, float | None],
        make: MakeBox,
    ) -> GraphModel:
        """Return the graph of boxes; `seconds` are by the name of a box's first node."""
        edges = self._edges(boxes)
        reads: list[list[int]] = [[] for _ in boxes]
        for edge in edges:
            reads[edge.target].append(edge.source)
        paths = placed_paths([self._paths(box) for box in boxes], reads)
        origins = [self._origin(box, path) for box, path in zip(boxes, paths, strict=True)]
        material = Material(
            origins=origins,
            kinds=[self._kind(box) for box in boxes],
            traits=[
                self._trait(box, origin, seconds.get(box[0].name)) for box, origin in zip(boxes, origins, strict=True)
            ],
            names=[box[0].name for box in boxes],
            edges=edges,
            parameters={},
            source=self._source,
            costs_note=RECORDED if self._schedule.one_count else UNEVEN,
            ops=sum(map(len, boxes)),
            similar=True,
        )
        return assemble(material, lambda number, group: make(boxes[number], group))

    def split(self, seconds: Mapping[str, float]) -> dict[str, float | None]:
        """Return measured kernel seconds by node, in proportion to the nodes' estimated times."""
        weight = {node.name: Cost(node.bytes_accessed, node.flops).weight or 0.0 for node in self._schedule.before}
        total: dict[str, float] = {}
        for node in self._schedule.before:
            total[node.kernel] = total.get(node.kernel, 0.0) + weight[node.name]
        return {
            node.name: seconds[node.kernel] * weight[node.name] / total[node.kernel]
            for node in self._schedule.before
            if node.kernel in seconds and total[node.kernel]
        }

    def before_node(self, box: Box, group: int) -> Node:
        """Return the box of a single scheduler node."""
        node = box[0]
        kind = self._class(node)
        return Node(
            id=f"s:{node.name}",
            label=self._words(node),
            detail=self._output_text(node),
            op_class=kind,
            group=group,
            kernel=node.kernel,
            links=(f"k:{node.kernel}",) if node.kernel else (),
            tooltip=self._tooltip(box),
            thin=kind == "view",
        )

    def after_node(
        self,
        box: Box,
        group: int,
        kernel: Kernel | None,
        label: str,
        joined: Mapping[str, tuple[tuple[int, str], ...]],
    ) -> Node:
        """Return the box of a group of nodes, with its kernel if there is one."""
        rows = tuple(
            Row(f"s:{node.name}", self._words(node), self._class(node), (), self._output_text(node), joined[node.name])
            for node in box
        )
        first = min(box, key=lambda node: self._order[node.name])
        return Node(
            id=f"g:{first.name}",
            label=label,
            detail=self._output_text(max(box, key=lambda node: self._order[node.name])),
            op_class=_weightiest([row.op_class for row in rows]),
            group=group,
            kernel=box[0].kernel,
            links=(*(row.id for row in rows), *([f"k:{kernel.id}"] if kernel else [])),
            rows=rows if len(rows) > 1 or (kernel and not kernel.extern) else (),
            tooltip="\n".join(filter(None, [self._tooltip(box), kernel.name if kernel else ""])),
        )

    def kernel_words(self, kernel: Kernel | None, box: Box, names: KernelNames) -> str:
        """Return a kernel's display name.

        A long name is reduced to the ops, since the box is already in its module.
        """
        if kernel is None:
            return self._words(box[0])
        origins = tuple(dict.fromkeys(name for node in box for name in node.origins))
        words = names.named(kernel, origins, self._schedule)
        return words if len(words) <= LONGEST_KERNEL else words.rpartition(" · ")[2]

    def _paths(self, box: Box) -> list[ModulePath]:
        """Return the recorded modules of a box's ops; the modules of views if all ops are views."""
        names = dict.fromkeys(name for node in box for name in node.origins)
        working = [name for name in names if name in self._nodes and op_class(self._nodes[name].target) != "view"]
        names = dict.fromkeys(working or names)
        return [module_path(self._modules[name].path) for name in names if name in self._modules]

    def _origin(self, box: Box, path: ModulePath) -> Origin:
        candidates = (self._nodes.get(name) for node in box for name in node.origins)
        first = next((node for node in candidates if node is not None and node.source), None)
        module = module_at(path, self._classes)
        return Origin(module.path, module.kind, "", first.source if first else None, first.code if first else "")

    def _kind(self, box: Box) -> tuple[tuple[str, ...], ...]:
        """Return a key that is equal for equal boxes.

        The order of ops is ignored, since the first of several equal layers may compute shared values.
        """
        return tuple((*sorted(self._ops[node.name]), self._output_text(node)) for node in box)

    def _trait(self, box: Box, origin: Origin, seconds: float | None) -> Trait:
        buffers = [self._buffers[name] for node in box for name, _ in node.writes if name in self._buffers]
        sizes = tuple(size for buffer in buffers for size in buffer.shape)
        return Trait(
            cost=self._cost(box),
            dtype=_single_name({buffer.dtype for buffer in buffers}),
            shapes=shape_words(sizes) if buffers else "",
            module_class=origin.module_class,
            seconds=seconds,
        )

    def _cost(self, box: Box) -> Cost:
        """Return the recorded cost of a box.

        A fused node counts as one node if all its nodes are in the box; the other nodes count one by one.
        """
        names = {node.name for node in box}
        fused = {fused_node.name: fused_node for name in names if (fused_node := self._fused.get(name)) is not None}
        complete = [fused_node for fused_node in fused.values() if names.issuperset(fused_node.nodes)]
        covered = {name for fused_node in complete for name in fused_node.nodes}
        counted = [*complete, *(node for node in box if node.name not in covered)]
        flops = [node.flops for node in counted if node.flops is not None]
        moved = sum(node.bytes_accessed for node in counted) if self._schedule.one_count else None
        return Cost(moved, sum(flops) if flops else None)

    def _edges(self, boxes: Sequence[Box]) -> list[Link]:
        """Return buffer edges from the writing box to each reading box, in box order.

        In name order, buf10 would come before buf9, and equal layers would look different.
        """
        box_of = {node.name: index for index, box in enumerate(boxes) for node in box}
        writer = {name: box_of[node.name] for node in self._schedule.before for name, _ in node.writes}
        sizes: dict[tuple[int, int, str], int] = {}
        for node in self._schedule.before:
            target = box_of[node.name]
            for name, size in node.reads:
                source = writer.get(name)
                if source is not None and source != target:
                    key = source, target, name
                    sizes[key] = max(size, sizes.get(key, 0))
        return [
            Link(source, target, self._buffer(name), size) for (source, target, name), size in sorted(sizes.items())
        ]

    def _buffer(self, name: str) -> str:
        buffer = self._buffers.get(name)
        return f"{name} {tensor_text(buffer.dtype, buffer.shape)}" if buffer else name

    def _output_text(self, node: SchedulerNode) -> str:
        buffers = [self._buffers[name] for name, _ in node.writes if name in self._buffers]
        return tensor_text(buffers[0].dtype, buffers[0].shape) if buffers else ""

    def _targets(self, node: SchedulerNode) -> list[str]:
        return [self._nodes[name].target for name in node.origins if name in self._nodes]

    def _words(self, node: SchedulerNode) -> str:
        """Return a scheduler node's user ops; its name if no ops are recorded."""
        return " · ".join(self._ops[node.name]) or node.name

    def _class(self, node: SchedulerNode) -> str:
        return _weightiest([op_class(target) for target in self._targets(node)])

    def _tooltip(self, box: Box) -> str:
        lines = [f"{node.name} ({node.kind}){self._traffic_text(node)}" for node in box]
        more = [f"and {number(len(lines) - MOST_TOOLTIP_LINES)} more"] if len(lines) > MOST_TOOLTIP_LINES else []
        return "\n".join(lines[:MOST_TOOLTIP_LINES] + more)

    def _traffic_text(self, node: SchedulerNode) -> str:
        if not self._schedule.one_count:
            return ""
        return f" reads and writes {'at most ' if node.at_most else ''}{bytes_(node.bytes_accessed)}"


def _weightiest(classes: Sequence[str]) -> str:
    return next((kind for kind in WEIGHTIEST if kind in classes), "other")


def _single_name(names: set[str]) -> str:
    return names.pop() if len(names) == 1 else ""


def common_path(paths: Sequence[ModulePath]) -> ModulePath:
    """Return the deepest module that contains all paths."""
    if not paths:
        return ()
    shortest = min(map(len, paths))
    shared = next((at for at in range(shortest) if len({path[at] for path in paths}) > 1), shortest)
    return paths[0][:shared]


def placed_paths(op_paths: Sequence[Sequence[ModulePath]], reads: Sequence[Sequence[int]]) -> list[ModulePath]:
    """Return the module of each box.

    A box's module follows from the modules of its ops, and from the boxes that it reads (`reads`, by index).
    """
    paths = [common_path(box_paths) for box_paths in op_paths]
    order = _in_order(reads)
    readers: list[list[int]] = [[] for _ in reads]
    for box, sources in enumerate(reads):
        for read in sources:
            readers[read].append(box)
    depth = 0
    while any(len(path) >= depth for path in paths):
        for parent in dict.fromkeys(
            path for path, box_paths in zip(paths, op_paths, strict=True) if _may_move(path, box_paths, depth)
        ):
            _Level(parent, paths, op_paths).place(order, reads, readers)
        depth += 1
    return paths


def _may_move(path: ModulePath, op_paths: Sequence[ModulePath], depth: int) -> bool:
    """Return True if a box at this depth may move into a child of its module.

    This requires that its ops have no recorded module, or that an op has a deeper module.
    """
    return len(path) == depth and (not op_paths or any(len(op_path) > depth for op_path in op_paths))


class _Level:
    """Children of a module, and the boxes in the module itself."""

    def __init__(self, parent: ModulePath, paths: list[ModulePath], op_paths: Sequence[Sequence[ModulePath]]) -> None:
        self._depth, self._parent, self._paths, self._op_paths = len(parent), parent, paths, op_paths
        below = [path for path in paths if len(path) > self._depth and path[: self._depth] == parent]
        self.names = list(dict.fromkeys(path[self._depth] for path in below))
        self._place = {name: index for index, name in enumerate(self.names)}
        self._lists = {
            self._place[path[self._depth]]
            for path in below
            if len(path) > self._depth + 1 and path[self._depth + 1].isdecimal()
        }
        self._child = [self._child_of(path) for path in paths]

    def place(self, order: Sequence[int], reads: Sequence[Sequence[int]], readers: Sequence[Sequence[int]]) -> None:
        """Move boxes of the module itself into the children that they belong to."""
        boxes = [box for box in order if self._paths[box] == self._parent]
        after = _reached(boxes, self._child, reads, max)
        before = _reached(boxes[::-1], self._child, readers, min)
        for box in boxes:
            read = {child for source in reads[box] if (child := self._child[source]) is not None}
            child = self._child_for(box, read, after.get(box), before.get(box))
            if child is not None:
                self._paths[box] = (*self._parent, self.names[child])

    def _child_of(self, path: ModulePath) -> int | None:
        below = len(path) > self._depth and path[: self._depth] == self._parent
        return self._place.get(path[self._depth]) if below else None

    def _child_for(self, box: int, read: set[int], after: int | None, before: int | None) -> int | None:
        """Return the child that a box belongs to; None if the box stays in the module itself.

        `after` is the last child that the box reads, and `before` the first child that reads the box, directly or
        through other boxes of the module itself.
        """
        children = sorted({child for path in self._op_paths[box] if (child := self._child_of(path)) is not None})
        direct = self._parent in self._op_paths[box]
        if after is not None and after == before and (after in children or not (children or direct)):
            return after
        if direct or not children:
            return None
        if all(self.names[child].isdecimal() for child in children):
            fits = (
                child for child in children if (after is None or child >= after) and (before is None or child <= before)
            )
            return next(fits, None)
        return children[0] if read == {children[0]} and children[0] in self._lists else None


def _reached(
    boxes: Sequence[int],
    child: Sequence[int | None],
    near: Sequence[Sequence[int]],
    choose: Callable[[list[int]], int],
) -> dict[int, int]:
    """Return box → the module's child that the box reaches, directly or through other boxes of the module.

    `choose` selects one of several children.
    """
    child_of: dict[int, int] = {}
    for box in boxes:
        direct = [place for neighbour in near[box] if (place := child[neighbour]) is not None]
        reached = direct + [child_of[neighbour] for neighbour in near[box] if neighbour in child_of]
        if reached:
            child_of[box] = choose(reached)
    return child_of


def _in_order(reads: Sequence[Sequence[int]]) -> list[int]:
    """Return the boxes in an order with inputs first; a cycle, as in a damaged log, is cut."""
    order: list[int] = []
    state = bytearray(len(reads))
    for start in range(len(reads)):
        stack = [start]
        while stack:
            box = stack.pop()
            if box < 0:
                order.append(~box)
            elif not state[box]:
                state[box] = 1
                stack.append(~box)
                stack += [read for read in reversed(reads[box]) if not state[read]]
    return order
