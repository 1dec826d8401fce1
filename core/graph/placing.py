"""Places of boxes: the module of a box with ops of several modules, and the graphs within a call.

A box is in the innermost module that contains all its ops. The exception is a box between two boxes of the same layer:
it is in that layer, even if some of its ops are in no layer or in the next layer.
"""

from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

from core.analysis.kernels.kernel import path_words, shortened
from core.analysis.work import leaves
from core.base.words import first_of
from core.graph.launches import MOST_OPS_NAMED, FxNodes, Kernels, NestedGraph, launches
from core.report import FusionRound, FxNode, ModulePath, Schedule, SchedulerNode

MOST_NESTED = 20_000  #: nodes of nested graphs in a drawing
LABELS = {
    "true_graph": "true branch",
    "false_graph": "false branch",
    "while_loop_cond_graph": "condition",
    "while_loop_body_graph": "body",
}


def common_path(paths: Sequence[ModulePath]) -> ModulePath:
    """Return the deepest module that contains all paths."""
    if not paths:
        return ()
    shortest = min(map(len, paths))
    shared = next((at for at in range(shortest) if len({path[at] for path in paths}) > 1), shortest)
    return paths[0][:shared]


@lru_cache(maxsize=10_000)
def layer_of(op_path: ModulePath, path: ModulePath) -> str:
    """Return the layer of an op if the place of its box does not tell it; otherwise an empty text.

    A layer is the outermost module of the op that does not contain the box; inside the box's module, a numbered one.
    """
    at = len(common_path((op_path, path)))
    if at == len(op_path) or (at == len(path) and not op_path[at].isdecimal()):
        return ""
    if at and op_path[at].isdecimal():
        at -= 1
    numbered = op_path[at + 1 : at + 2]
    return ".".join((op_path[at], *(number for number in numbered if number.isdecimal())))


def spanned(op_paths: Sequence[ModulePath], path: ModulePath) -> list[str]:
    """Return the layers of a box with ops of several layers; empty for one layer."""
    layers = {layer for op_path in op_paths if (layer := layer_of(op_path, path))}
    layers |= {own for op_path in op_paths if layer_of(op_path, path) and (own := layer_of(path, op_path))}
    inner = [layer for layer in layers if not any(below.startswith(f"{layer}.") for below in layers)]
    return sorted(inner, key=lambda layer: (len(layer), layer)) if len(inner) > 1 else []


def placed_paths(op_paths: Sequence[Sequence[ModulePath]], reads: Sequence[Sequence[int]]) -> list[ModulePath]:
    """Return the module of each box.

    A box's module follows from the modules of its ops, and from the boxes that it reads (`reads`, by index).
    """
    paths = [common_path(box_paths) for box_paths in op_paths]
    rank = {box: index for index, box in enumerate(_in_order(reads))}
    readers: list[list[int]] = [[] for _ in reads]
    for box, sources in enumerate(reads):
        for read in sources:
            readers[read].append(box)
    depth = 0
    while any(len(path) >= depth for path in paths):
        within: dict[ModulePath, list[int]] = {}
        for box, path in enumerate(paths):
            if len(path) >= depth:
                within.setdefault(path[:depth], []).append(box)
        for parent in dict.fromkeys(
            path for path, box_paths in zip(paths, op_paths, strict=True) if _may_move(path, box_paths, depth)
        ):
            _Level(parent, within[parent], paths, op_paths).place(rank, reads, readers)
        depth += 1
    return paths


def _may_move(path: ModulePath, op_paths: Sequence[ModulePath], depth: int) -> bool:
    """Return True if a box at this depth may move into a child of its module.

    This requires that its ops have no recorded module, or that an op has a deeper module.
    """
    return len(path) == depth and (not op_paths or any(len(op_path) > depth for op_path in op_paths))


class _Level:
    """Children of a module, and the boxes in the module itself; `within` are the boxes of both."""

    def __init__(
        self,
        parent: ModulePath,
        within: Sequence[int],
        paths: list[ModulePath],
        op_paths: Sequence[Sequence[ModulePath]],
    ) -> None:
        self._depth, self._parent, self._paths, self._op_paths = len(parent), parent, paths, op_paths
        self._own = [box for box in within if paths[box] == parent]
        below = [paths[box] for box in within if len(paths[box]) > self._depth]
        self.names = list(dict.fromkeys(path[self._depth] for path in below))
        self._place = {name: index for index, name in enumerate(self.names)}
        self._lists = {
            self._place[path[self._depth]]
            for path in below
            if len(path) > self._depth + 1 and path[self._depth + 1].isdecimal()
        }
        self._child = {box: child for box in within if (child := self._child_of(paths[box])) is not None}

    def place(self, rank: Mapping[int, int], reads: Sequence[Sequence[int]], readers: Sequence[Sequence[int]]) -> None:
        """Move boxes of the module itself into the children that they belong to; `rank` has inputs first."""
        boxes = sorted(self._own, key=rank.__getitem__)
        after = _reached(boxes, self._child, reads, max)
        before = _reached(boxes[::-1], self._child, readers, min)
        for box in boxes:
            read = {child for source in reads[box] if (child := self._child.get(source)) is not None}
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
    child: Mapping[int, int],
    near: Sequence[Sequence[int]],
    choose: Callable[[list[int]], int],
) -> dict[int, int]:
    """Return box → the module's child that the box reaches, directly or through other boxes of the module.

    `choose` selects one of several children.
    """
    child_of: dict[int, int] = {}
    for box in boxes:
        direct = [place for neighbour in near[box] if (place := child.get(neighbour)) is not None]
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


def nested_parts(
    schedule: Schedule, nodes: FxNodes, schedules: Iterable[Schedule], kernels: Kernels
) -> tuple[NestedGraph, ...]:
    """Return the nested graphs that a graph calls, once for each call, outer graphs first.

    `schedules` are those of the compilation. Inductor names a nested graph after the outer one and the attribute.
    """
    known = {each.subgraph: each for each in schedules if each.subgraph and each.direction == schedule.direction}
    calls: Counter[str] = Counter()
    parts: list[NestedGraph] = []
    waiting = deque([NestedGraph("", "", schedule, nodes, launches(schedule, nodes, kernels))] if known else [])
    room = MOST_NESTED
    while waiting:
        outer = waiting.popleft()
        prefix = f"{outer.schedule.subgraph}_" if outer.schedule.subgraph else ""
        drawn = dict.fromkeys(name for launch in outer.launches for name in launch.members if name in outer.nodes)
        for node in map(outer.nodes.__getitem__, drawn):
            for graph in [outer.nodes[name] for name in node.inputs if name in outer.nodes]:
                inner = known.get(prefix + graph.target) if graph.graph else None
                if inner is None or len(graph.graph) > room:
                    continue
                room -= len(graph.graph)
                calls[inner.subgraph] += 1
                parts.append(_part(node.name, outer.path + graph.target, graph, inner, calls[inner.subgraph], kernels))
                waiting.append(parts[-1])
    return tuple(parts)


def _part(call: str, path: str, graph: FxNode, schedule: Schedule, times: int, kernels: Kernels) -> NestedGraph:
    """Return a nested graph with the names of the drawing; `times` is 2 for the second call of a graph.

    The fusions of a graph are those of its first call: `replay` repeats them at the others.
    """
    mark = f"#{times}" if times > 1 else ""
    path += f"{mark}/"
    nodes = {
        path + node.name: replace(node, name=path + node.name, inputs=tuple(path + name for name in node.inputs))
        for node in graph.graph
    }
    order = {node.name: index for index, node in enumerate(schedule.before)}

    def fused(name: str) -> str:
        return "_".join(part + mark for part in leaves(name, order)) if mark else name

    def renamed(node: SchedulerNode) -> SchedulerNode:
        return replace(
            node,
            name=fused(node.name),
            nodes=tuple(name + mark for name in node.nodes),
            reads=tuple((name + mark, size) for name, size in node.reads),
            writes=tuple((name + mark, size) for name, size in node.writes),
            origins=tuple(path + name for name in node.origins if path + name in nodes),
        )

    own = replace(
        schedule,
        before=tuple(map(renamed, schedule.before)),
        after=tuple(map(renamed, schedule.after)),
        rounds=tuple(
            FusionRound(
                () if mark else each.fused,
                tuple((fused(first), fused(second), reason) for first, second, reason in each.rejected),
            )
            for each in schedule.rounds
        ),
        buffers=tuple(replace(buffer, name=buffer.name + mark) for buffer in schedule.buffers),
        modules={path + name: module for name, module in schedule.modules.items()},
        eager_calls=tuple(
            replace(each, nodes=tuple(path + name for name in each.nodes)) for each in schedule.eager_calls
        ),
    )
    return NestedGraph(call, path, own, nodes, launches(own, nodes, kernels))


def part_words(part: NestedGraph) -> str:
    """Return the role of a nested graph, such as "true branch", otherwise its name."""
    name = part.path.rstrip("/").rpartition("/")[2].partition("#")[0]
    return LABELS.get(name.rstrip("0123456789").removesuffix("_"), name)


def module_facts(paths: Sequence[ModulePath], classes: Mapping[ModulePath, str]) -> Iterator[tuple[str, str]]:
    """Yield the module of a launch's ops with its class, or the first of several modules."""
    names = {path: ".".join(path[1:]) or path[0] for path in paths}
    if len(names) > 1:
        yield "spans", first_of([*names.values()], MOST_OPS_NAMED)
    for path, name in names.items() if len(names) == 1 else ():
        yield "module", f"{name} ({classes[path]})" if path in classes else name


def full_name(label: str, path: ModulePath, stack: ModulePath, classes: Mapping[ModulePath, str]) -> str:
    """Return a launch's display name with its module, below the layers' list `stack`, or the root's class."""
    layer = path_words(shortened(path, stack)) or classes.get(path, "")
    return label if " · " in label or not layer else f"{layer} · {label}"


def idle_words(node: SchedulerNode) -> str:
    """Return why a scheduler node has no kernel."""
    idle = "others write it in place" if node.reads else "nothing to compute"
    return f"no kernel: {'lines of the wrapper' if node.runs else idle}"
