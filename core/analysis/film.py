"""Film of the passes: how a graph was transformed frame by frame, and the frames of each node and edge."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from core.analysis.dynamo.frames import FilmStep, NodesOf, State, meaning, scenes
from core.report import Compilation, FxNode

Intervals = tuple[tuple[int, int], ...]


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

    `chapter` is dynamo, joint, forward, backward or inference. `nodes` are the nodes of all frames, in the order of the
    last frame; removed nodes follow their predecessor.
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
    """Add a new version of a node, or replace an equal one; recorded passes have no line numbers."""
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
    """Return the order of the last frame; a removed name follows the name before it."""
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
