"""Film of the passes: logged graphs in order, their changes, and the frames of nodes and edges."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace

from core.report import Compilation, FxGraph, FxNode, GraphPass, PatternMatch, Place, Stage

Intervals = tuple[tuple[int, int], ...]
NodesOf = Callable[[FxGraph], tuple[FxNode, ...]]
State = dict[str, FxNode]
OTHER_CHANGES = "other changes"
AHEAD = "before_post_grad"
JOINT = ("aot_joint_graph", "before_joint_graph", "after_joint_graph")
DUMPED = "dumped"
# Stage of a graph that is not Dynamo's → its chapter.
WITHOUT_FRAME: dict[Stage, str] = {
    "dumped": DUMPED,
    "exported_program": "export",
    "compiled_autograd_graph_pre_reordering": "compiled autograd",
    "compiled_autograd_graph": "compiled autograd",
}
# Names of graphs that a library dumps around its passes: `before_fusion`, `graph_after`, `02_fusion`, `fusion_2`.
STEP = re.compile(r"(?:^|_)(?:before|after|pre|post)(?:_|$)|^\d+_|_\d+$")


@dataclass(frozen=True, slots=True)
class FilmNode:
    """A node name with its versions: (first frame, node) at each change; `frames` are half-open intervals."""

    name: str
    states: tuple[tuple[int, FxNode], ...]
    frames: Intervals

    @property
    def node(self) -> FxNode:
        """Node in its last version."""
        return self.states[-1][1]

    def at(self, frame: int) -> FxNode | None:
        """Return the node's version in a frame; None if the frame does not have the node."""
        if not any(first <= frame < end for first, end in self.frames):
            return None
        return next(node for first, node in reversed(self.states) if first <= frame)


@dataclass(frozen=True, slots=True)
class FilmEdge:
    """An edge: `target` reads `source` in these frames."""

    source: str
    target: str
    frames: Intervals


@dataclass(frozen=True, slots=True)
class Segment:
    """Consecutive frames in which a node name means the same node.

    `chapter` is dynamo, joint, forward, backward, inference or another result of `chapter()`. `nodes` are the
    nodes of all frames, in the order of the last frame; removed nodes follow their predecessor.
    """

    id: str
    chapter: str
    frames: tuple[FilmStep, ...]
    nodes: tuple[FilmNode, ...]
    edges: tuple[FilmEdge, ...]


def film(compilation: Compilation, nodes_of: NodesOf) -> tuple[Segment, ...]:
    """Return the segments of a compilation in log order; `nodes_of` reads a logged graph.

    The last frame of a segment equals torch's own graph; changes without a recorded pass get a separate frame.
    """
    segments: list[Segment] = []
    counts: dict[str, int] = {}
    for scene in scenes(compilation, nodes_of):
        counts[scene.chapter] = counts.get(scene.chapter, 0) + 1
        name = scene.chapter if counts[scene.chapter] == 1 else f"{scene.chapter}.{counts[scene.chapter]}"
        states = [state for _, state in scene.frames]
        frames = tuple(frame for frame, _ in scene.frames)
        segments.append(Segment(name, scene.chapter, frames, _nodes(states), _edges(states)))
    return tuple(segments)


def graph_at(segment: Segment, frame: int) -> tuple[FxNode, ...]:
    """Return the nodes of one frame, in the order of the segment's union."""
    return tuple(present for node in segment.nodes if (present := node.at(frame)) is not None)


def _nodes(states: list[State]) -> tuple[FilmNode, ...]:
    versions: dict[str, list[tuple[int, FxNode]]] = {}
    present: dict[str, list[int]] = {}
    for index, state in enumerate(states):
        for name, node in state.items():
            present.setdefault(name, []).append(index)
            _keep(versions.setdefault(name, []), index, node)
    return tuple(FilmNode(name, tuple(versions[name]), intervals(present[name])) for name in _merged(states))


def _keep(versions: list[tuple[int, FxNode]], index: int, node: FxNode) -> None:
    """Add a version of a node if it changed, otherwise keep the version with a line number."""
    if not versions or (meaning(versions[-1][1]), versions[-1][1].meta) != (meaning(node), node.meta):
        versions.append((index, node))
    elif node.line:
        versions[-1] = (versions[-1][0], node)


def _edges(states: list[State]) -> tuple[FilmEdge, ...]:
    present: dict[tuple[str, str], list[int]] = {}
    for index, state in enumerate(states):
        for name, node in state.items():
            for source in node.inputs:
                if source in state:
                    present.setdefault((source, name), []).append(index)
    return tuple(FilmEdge(*ends, intervals(indices)) for ends, indices in present.items())


def intervals(indices: Iterable[int]) -> Intervals:
    """Return increasing numbers as half-open intervals: 0, 1, 4 are (0, 2) and (4, 5)."""
    ranges: list[tuple[int, int]] = []
    for index in indices:
        if ranges and ranges[-1][1] == index:
            ranges[-1] = (ranges[-1][0], index + 1)
        else:
            ranges.append((index, index + 1))
    return tuple(ranges)


def _merged(states: list[State]) -> list[str]:
    """Return all names in the order of the last frame; a removed name follows the name before it."""
    names = list(states[-1])
    for state in reversed(states[:-1]):
        present = set(names)
        behind: dict[str, list[str]] = {}
        anchor = ""
        for name in state:
            if name in present:
                anchor = name
            else:
                behind.setdefault(anchor, []).append(name)
        if behind:
            names = [*behind.get("", []), *(entry for name in names for entry in (name, *behind.get(name, [])))]
    return names


@dataclass(frozen=True, slots=True)
class FilmStep:
    """A step: the pass or graph by torch's name, and the nodes changed since the previous frame.

    `stage` is pre_grad, joint, before_post_grad or post_grad for a pass, otherwise empty. `graph` is the id of
    the equal logged graph, empty if torch logged none. `recorded` is True if the run recorded the step; otherwise
    the step is the difference of two graphs. `reordered` is True if remaining nodes changed their order.
    """

    title: str
    stage: str
    graph: str
    recorded: bool
    duration_us: float | None = None
    source: Place | None = None
    patterns: tuple[PatternMatch, ...] = ()
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    rewritten: tuple[str, ...] = ()
    reordered: bool = False


@dataclass(slots=True)
class Scene:
    """A chapter while it is being built: stages and dumps seen so far, and its frames with their graphs."""

    chapter: str
    stages: set[str] = field(default_factory=set)
    frames: list[tuple[FilmStep, State]] = field(default_factory=list)


def chapter(compilation: Compilation, graph: FxGraph) -> str:
    """Return the chapter of a graph; node names are unique within a chapter.

    It is dynamo, joint, forward, backward, inference, export, compiled autograd, dumped or not finished.
    """
    if graph.early:
        return "dynamo"
    if graph.stage in WITHOUT_FRAME:
        return WITHOUT_FRAME[graph.stage]
    if graph.stage in JOINT:
        return "joint" if any(logged.stage == "aot_joint_graph" for logged in compilation.graphs) else "inference"
    return graph.direction or "not finished"


def scenes(compilation: Compilation, nodes_of: NodesOf) -> list[Scene]:
    """Return each chapter with its frames, in order; a chapter logged twice occurs twice."""
    passes: dict[str, list[GraphPass]] = {}
    for graph_pass in compilation.passes:
        if not graph_pass.subgraph:
            passes.setdefault(graph_pass.graph, []).append(graph_pass)
    chapters: list[Scene] = []
    for graph in compilation.graphs:
        state = {node.name: node for node in nodes_of(graph)}
        if graph.attempt != compilation.attempts - 1 or not state:
            continue
        if graph.stage == DUMPED and not STEP.search(graph.name):
            continue
        scene = _scene(chapters, chapter(compilation, graph), graph, state)
        graph_passes = passes.get(graph.id, [])
        if scene.frames:
            scene.frames.extend(
                _replayed(scene.frames[-1][1], [graph_pass for graph_pass in graph_passes if graph_pass.stage == AHEAD])
            )
        _add_graph(scene.frames, graph, state, passes_recorded=bool(compilation.unchanged_passes or compilation.passes))
        scene.frames.extend(
            _replayed(scene.frames[-1][1], [graph_pass for graph_pass in graph_passes if graph_pass.stage != AHEAD])
        )
    return [scene for scene in chapters if scene.chapter != DUMPED or len(scene.stages) > 1]


def _scene(chapters: list[Scene], name: str, graph: FxGraph, state: State) -> Scene:
    """Return the open scene of a chapter, or a new one if the stage was already seen.

    Dumped graphs are steps of one graph as long as their inputs are the same.
    """
    scene = next((candidate for candidate in reversed(chapters) if candidate.chapter == name), None)
    stage = graph.id if name == DUMPED else graph.stage
    if scene is None or stage in scene.stages or (name == DUMPED and _inputs(scene.frames[-1][1]) != _inputs(state)):
        scene = Scene(name)
        chapters.append(scene)
    scene.stages.add(stage)
    return scene


def _inputs(state: State) -> list[str]:
    return [node.target for node in state.values() if node.op == "placeholder"]


def _add_graph(frames: list[tuple[FilmStep, State]], graph: FxGraph, state: State, passes_recorded: bool) -> None:
    """Add a logged graph: as the first frame, or as a frame with the unrecorded changes, if there are any."""
    if not frames:
        frames.append((FilmStep(graph.name or graph.stage, "", graph.id, recorded=True), state))
        return
    last, shown = frames[-1]
    step = difference(shown, state)
    if step.added or step.removed or step.rewritten or step.reordered:
        title = graph.name or (OTHER_CHANGES if passes_recorded else graph.stage)
        frames.append((replace(step, title=title, graph=graph.id), state))
    else:
        frames[-1] = (last if last.graph else replace(last, graph=graph.id), state)


def difference(old: State, new: State) -> FilmStep:
    """Return the changes between two graphs: by name, and for equal names by op, target and arguments."""
    return FilmStep(
        title=OTHER_CHANGES,
        stage="",
        graph="",
        recorded=False,
        added=tuple(name for name in new if name not in old),
        removed=tuple(name for name in old if name not in new),
        rewritten=tuple(name for name, node in new.items() if name in old and meaning(old[name]) != meaning(node)),
        reordered=[name for name in old if name in new] != [name for name in new if name in old],
    )


def meaning(node: FxNode) -> tuple[str, str, str, tuple[str, ...]]:
    """Return the key of a node's computation, without its source location."""
    return node.op, node.target, node.args, node.inputs


def _replayed(state: State, passes: list[GraphPass]) -> Iterator[tuple[FilmStep, State]]:
    """Yield the graph after replaying each pass."""
    for graph_pass in passes:
        state = after_pass(state, graph_pass)
        yield (
            FilmStep(
                title=graph_pass.name or OTHER_CHANGES,
                stage=graph_pass.stage,
                graph="",
                recorded=True,
                duration_us=graph_pass.duration_us,
                source=graph_pass.source,
                patterns=graph_pass.patterns,
                added=graph_pass.added,
                removed=graph_pass.removed,
                rewritten=graph_pass.rewritten,
                reordered=bool(graph_pass.order),
            ),
            state,
        )


def after_pass(state: State, graph_pass: GraphPass) -> State:
    """Return the graph after a pass; added nodes follow the nodes named by the record."""
    nodes = {node.name: node for node in graph_pass.nodes}
    behind: dict[str, list[str]] = {}
    for name, previous in zip(graph_pass.added, graph_pass.after, strict=True):
        behind.setdefault(previous, []).append(name)
    changed = {*graph_pass.removed, *graph_pass.added}
    order = graph_pass.order or tuple(_interleaved([name for name in state if name not in changed], behind))
    return {name: current for name in order if (current := nodes.get(name) or state.get(name)) is not None}


def _interleaved(names: list[str], behind: dict[str, list[str]]) -> Iterator[str]:
    """Yield names in order, each followed by its names in `behind`; the empty name is the graph's start."""
    waiting = [iter(["", *names])]
    while waiting:
        name = next(waiting[-1], None)
        if name is None:
            waiting.pop()
            continue
        if name:
            yield name
        waiting.append(iter(behind.pop(name, [])))
