"""One graph of the film after the other: the graphs that the log holds, and between them each pass's own changes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

from core.report import Compilation, FxGraph, FxNode, GraphPass, PatternMatch, Place, Stage

NodesOf = Callable[[FxGraph], tuple[FxNode, ...]]
State = dict[str, FxNode]
OTHER = "other changes"
AHEAD = "before_post_grad"
JOINT = ("aot_joint_graph", "before_joint_graph", "after_joint_graph")


@dataclass(frozen=True, slots=True)
class FilmStep:
    """One step: torch's name of the pass or graph, and the names of the nodes that it changed from the frame before.

    `stage` is pre_grad, joint, before_post_grad or post_grad for a pass, else empty; `graph` is the id of the logged
    graph that the frame equals, empty where torch logged none. `recorded` says whether a record of the run tells the
    step; otherwise it is what differs between two graphs. `reordered` says whether nodes that stayed changed places.
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
    """A chapter while it is put together: the stages that the log has shown of it, and its frames with their graphs."""

    chapter: str
    stages: set[Stage] = field(default_factory=set)
    frames: list[tuple[FilmStep, State]] = field(default_factory=list)


def chapter(compilation: Compilation, graph: FxGraph) -> str:
    """Within which graphs a node's name means the same: dynamo, joint, forward, backward or inference."""
    if graph.early:
        return "dynamo"
    if graph.stage in JOINT:
        return "joint" if any(other.stage == "aot_joint_graph" for other in compilation.graphs) else "inference"
    return graph.direction or "not finished"


def scenes(compilation: Compilation, nodes_of: NodesOf) -> list[Scene]:
    """Each chapter with its frames, in order; a chapter that the log holds twice comes twice."""
    passes: dict[str, list[GraphPass]] = {}
    for one in compilation.passes:
        if not one.subgraph:
            passes.setdefault(one.graph, []).append(one)
    found: list[Scene] = []
    for graph in compilation.graphs:
        state = {node.name: node for node in nodes_of(graph)}
        if graph.attempt != compilation.attempts - 1 or not state:
            continue
        scene = _scene(found, chapter(compilation, graph), graph.stage)
        mine = passes.get(graph.id, [])
        if scene.frames:
            scene.frames.extend(_played(scene.frames[-1][1], [one for one in mine if one.stage == AHEAD]))
        _show(scene.frames, graph, state, told=bool(compilation.unchanged_passes or compilation.passes))
        scene.frames.extend(_played(scene.frames[-1][1], [one for one in mine if one.stage != AHEAD]))
    return found


def _scene(found: list[Scene], name: str, stage: Stage) -> Scene:
    """The open scene of a chapter, a new one if it has seen this stage already."""
    scene = next((one for one in reversed(found) if one.chapter == name), None)
    if scene is None or stage in scene.stages:
        scene = Scene(name)
        found.append(scene)
    scene.stages.add(stage)
    return scene


def _show(frames: list[tuple[FilmStep, State]], graph: FxGraph, state: State, told: bool) -> None:
    """A logged graph: the first frame; no new one if it is what the last frame shows; else what nobody told of."""
    if not frames:
        frames.append((FilmStep(graph.stage, "", graph.id, recorded=True), state))
        return
    last, shown = frames[-1]
    step = difference(shown, state)
    if step.added or step.removed or step.rewritten or step.reordered:
        title = OTHER if told else graph.stage
        frames.append((replace(step, title=title, graph=graph.id), state))
    else:
        frames[-1] = (last if last.graph else replace(last, graph=graph.id), state)


def difference(old: State, new: State) -> FilmStep:
    """What changed from one graph to another: by name, and for the same name by op, target and arguments."""
    return FilmStep(
        title=OTHER,
        stage="",
        graph="",
        recorded=False,
        added=tuple(name for name in new if name not in old),
        removed=tuple(name for name in old if name not in new),
        rewritten=tuple(name for name, node in new.items() if name in old and meaning(old[name]) != meaning(node)),
        reordered=[name for name in old if name in new] != [name for name in new if name in old],
    )


def meaning(node: FxNode) -> tuple[str, str, str, tuple[str, ...]]:
    """What a node computes, without where it came from."""
    return node.op, node.target, node.args, node.inputs


def _played(state: State, passes: list[GraphPass]) -> Iterator[tuple[FilmStep, State]]:
    """Each pass done to the graph again."""
    for one in passes:
        state = after_pass(state, one)
        yield (
            FilmStep(
                title=one.name or OTHER,
                stage=one.stage,
                graph="",
                recorded=True,
                duration_us=one.duration_us,
                source=one.source,
                patterns=one.patterns,
                added=one.added,
                removed=one.removed,
                rewritten=one.rewritten,
                reordered=bool(one.order),
            ),
            state,
        )


def after_pass(state: State, one: GraphPass) -> State:
    """The graph after a pass: nodes that it added stand behind those that the record names."""
    nodes = {node.name: node for node in one.nodes}
    behind: dict[str, list[str]] = {}
    for name, previous in zip(one.added, one.after, strict=True):
        behind.setdefault(previous, []).append(name)
    gone = {*one.removed, *one.added}
    order = one.order or tuple(_woven([name for name in state if name not in gone], behind))
    return {name: found for name in order if (found := nodes.get(name) or state.get(name)) is not None}


def _woven(names: list[str], behind: dict[str, list[str]]) -> Iterator[str]:
    """Names in order, each followed by what stands behind it; the empty name is the start of the graph."""
    waiting = [iter(["", *names])]
    while waiting:
        name = next(waiting[-1], None)
        if name is None:
            waiting.pop()
            continue
        if name:
            yield name
        waiting.append(iter(behind.pop(name, [])))
