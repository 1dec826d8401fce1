"""Inductor's scheduler as a graph: its nodes before fusion, and the kernels after it with their ops inside."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from core.analysis import kernel_groups, working_ops
from core.analysis.kernels import KernelNames
from core.graph.assemble import Link, Material, assemble
from core.graph.fusion import joins, member_order
from core.graph.gc_pause import collection_paused
from core.graph.model import GraphModel, Node, Row
from core.graph.modules import Origin, classes_of, common_module
from core.graph.traits import Trait, shape_words
from core.ops import op_class
from core.ops.costs import Cost
from core.report import FxNode, Kernel, Module, Schedule, SchedulerNode, tensor_text
from core.words import bytes_, number

WEIGHTIEST = (
    "attention", "matmul", "collective", "embedding", "random", "reduction", "pointwise", "copy", "view",
)  # fmt: skip
RECORDED = (
    "Bytes read and written, counted alike before and after fusion; at most so many where an index depends on data."
)
UNEVEN = "This log's bytes are not comparable before and after fusion; FLOPs are recorded."
MOST_TOOLTIP_LINES = 12
LONGEST_KERNEL = 32

FxNodes = Mapping[str, FxNode]


@collection_paused()
def before_model(
    schedule: Schedule, nodes: FxNodes, *, source: str = "", seconds: Mapping[str, float] | None = None
) -> GraphModel:
    """The scheduler's nodes before fusion, one box a node, buffers as edges.

    `nodes` are the FX nodes of the graph that was lowered, by name; `seconds` measured times by a kernel's id, which
    are split over its nodes by their estimates.
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
    """Groups of the scheduler's nodes as boxes, their ops as rows: kernels, unless `groups` says otherwise.

    Rows stand in the order of a dendrogram, so that whatever was ever fused stands together, and know from which fusion
    on (frame k: after k of them) they belong to which group.
    """
    drawing = _Drawing(schedule, nodes, source)
    order = member_order(schedule)
    joined = joins(schedule)
    known = {node.name: node for node in schedule.before}
    found = groups if groups is not None else kernel_groups(schedule)
    boxes = [tuple(known[name] for name in sorted(group, key=order.__getitem__)) for group in found]
    times = {box[0].name: (seconds or {}).get(box[0].kernel) for box in boxes}
    names = KernelNames(list(kernels.values()), [schedule], {node.target for node in nodes.values()})

    def box_node(box: Box, group: int) -> Node:
        kernel = kernels.get(box[0].kernel)
        return drawing.after_node(box, group, kernel, drawing.kernel_words(kernel, box, names), joined)

    return drawing.model(boxes, times, box_node, kernels)


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
        self._fused = {frozenset(node.nodes): node for node in schedule.after}
        self._order = {node.name: index for index, node in enumerate(schedule.before)}

    def model(
        self,
        boxes: Sequence[Box],
        seconds: Mapping[str, float | None],
        make: MakeBox,
        kernels: Mapping[str, Kernel] | None = None,
    ) -> GraphModel:
        """The graph of boxes; `seconds` are by the name of a box's first node."""
        origins = [self._origin(box) for box in boxes]
        material = Material(
            origins=origins,
            kinds=[self._kind(box) for box in boxes],
            traits=[
                self._trait(box, origin, seconds.get(box[0].name), kernels or {})
                for box, origin in zip(boxes, origins, strict=True)
            ],
            names=[box[0].name for box in boxes],
            edges=self._edges(boxes),
            parameters={},
            source=self._source,
            costs_note=RECORDED if self._schedule.one_count else UNEVEN,
            ops=sum(map(len, boxes)),
        )
        return assemble(material, lambda number, group: make(boxes[number], group))

    def split(self, seconds: Mapping[str, float]) -> dict[str, float | None]:
        """Measured seconds of kernels by node, in proportion to what each node is estimated to take."""
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
        """One node of the scheduler."""
        node = box[0]
        kind = self._class(node)
        return Node(
            id=f"s:{node.name}",
            label=self._words(node),
            detail=self._written(node),
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
        """A group of nodes, as the kernel that it became if there is one."""
        rows = tuple(
            Row(f"s:{node.name}", self._words(node), self._class(node), (), self._written(node), joined[node.name])
            for node in box
        )
        first = min(box, key=lambda node: self._order[node.name])
        return Node(
            id=f"g:{first.name}",
            label=label,
            detail=self._written(max(box, key=lambda node: self._order[node.name])),
            op_class=_weightiest([row.op_class for row in rows]),
            group=group,
            kernel=box[0].kernel,
            links=(*(row.id for row in rows), *([f"k:{kernel.id}"] if kernel else [])),
            rows=rows if len(rows) > 1 or (kernel and not kernel.extern) else (),
            tooltip="\n".join(filter(None, [self._tooltip(box), kernel.name if kernel else ""])),
        )

    def kernel_words(self, kernel: Kernel | None, box: Box, names: KernelNames) -> str:
        """What people call a kernel; its ops alone where that would be cut, since the box stands in its module."""
        if kernel is None:
            return self._words(box[0])
        origins = tuple(dict.fromkeys(name for node in box for name in node.origins))
        whole = names.named(kernel, origins, self._schedule)
        return whole if len(whole) <= LONGEST_KERNEL else whole.rpartition(" · ")[2]

    def _origin(self, box: Box) -> Origin:
        names = [name for node in box for name in node.origins]
        path, kind = common_module([self._modules[name] for name in names if name in self._modules], self._classes)
        known = (self._nodes[name] for name in names if name in self._nodes and self._nodes[name].source)
        first = next(known, None)
        return Origin(path, kind, "", first.source if first else None, first.code if first else "")

    def _kind(self, box: Box) -> tuple[tuple[str, str], ...]:
        return tuple((self._words(node), self._written(node)) for node in box)

    def _trait(self, box: Box, origin: Origin, seconds: float | None, kernels: Mapping[str, Kernel]) -> Trait:
        buffers = [self._buffers[name] for node in box for name, _ in node.writes if name in self._buffers]
        sizes = tuple(size for buffer in buffers for size in buffer.shape)
        return Trait(
            cost=self._cost(box, kernels.get(box[0].kernel)),
            dtype=_only({buffer.dtype for buffer in buffers}),
            shapes=shape_words(sizes) if buffers else "",
            module_class=origin.module_class,
            seconds=seconds,
        )

    def _cost(self, box: Box, kernel: Kernel | None) -> Cost:
        """What was recorded of the kernel, else of the fused node that is just this box, else of its parts."""
        counted = [node.flops for node in box if node.flops is not None]
        flops = sum(counted) if counted else None
        if not self._schedule.one_count:
            return Cost(None, flops)
        if kernel is not None and kernel.bytes_read is not None and kernel.bytes_written is not None:
            return Cost(kernel.bytes_read + kernel.bytes_written, kernel.flops if kernel.flops is not None else flops)
        fused = self._fused.get(frozenset(node.name for node in box))
        parts = sum(node.bytes_accessed for node in box)
        return Cost(fused.bytes_accessed if fused else parts, flops)

    def _edges(self, boxes: Sequence[Box]) -> list[Link]:
        """A buffer from the box that writes it to each that reads it."""
        box_of = {node.name: index for index, box in enumerate(boxes) for node in box}
        writer = {name: box_of[node.name] for node in self._schedule.before for name, _ in node.writes}
        found: dict[tuple[int, int, str], int] = {}
        for node in self._schedule.before:
            target = box_of[node.name]
            for name, size in node.reads:
                source = writer.get(name)
                if source is not None and source != target:
                    key = source, target, name
                    found[key] = max(size, found.get(key, 0))
        return [Link(source, target, self._buffer(name), size) for (source, target, name), size in found.items()]

    def _buffer(self, name: str) -> str:
        buffer = self._buffers.get(name)
        return f"{name} {tensor_text(buffer.dtype, buffer.shape)}" if buffer else name

    def _written(self, node: SchedulerNode) -> str:
        found = [self._buffers[name] for name, _ in node.writes if name in self._buffers]
        return tensor_text(found[0].dtype, found[0].shape) if found else ""

    def _targets(self, node: SchedulerNode) -> list[str]:
        return [self._nodes[name].target for name in node.origins if name in self._nodes]

    def _words(self, node: SchedulerNode) -> str:
        """A scheduler node in the user's ops."""
        return " · ".join(self._ops[node.name]) or node.name

    def _class(self, node: SchedulerNode) -> str:
        return _weightiest([op_class(target) for target in self._targets(node)])

    def _tooltip(self, box: Box) -> str:
        lines = [f"{node.name} ({node.kind}){self._moved(node)}" for node in box]
        more = [f"and {number(len(lines) - MOST_TOOLTIP_LINES)} more"] if len(lines) > MOST_TOOLTIP_LINES else []
        return "\n".join(lines[:MOST_TOOLTIP_LINES] + more)

    def _moved(self, node: SchedulerNode) -> str:
        if not self._schedule.one_count:
            return ""
        return f" reads and writes {'at most ' if node.at_most else ''}{bytes_(node.bytes_accessed)}"


def _weightiest(classes: Sequence[str]) -> str:
    return next((kind for kind in WEIGHTIEST if kind in classes), "other")


def _only(names: set[str]) -> str:
    return names.pop() if len(names) == 1 else ""
