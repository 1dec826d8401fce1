"""Messages to the graph view, and the graphs that the browser requests, by the digest of their content.

The messages of a graph itself are in `core.views.wire`. `make docs` writes the types of js/wire.d.ts from all of
them.
"""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock

import msgspec

from core.views import wire

MOST_NODES = 400_000


class PlaceData(msgspec.Struct, frozen=True, kw_only=True):
    """The place of a graph view: its name within its channel, its height, and its initial state.

    A film starts with its last frame by default.
    """

    source: str
    height: int
    channel: str = "compileboard"
    step: str = ""
    overlay: str = ""
    frame: int | None = None


class CommandData(msgspec.Struct, frozen=True):
    """A selection that Python requests in a view, sent after `serial` choices of the user."""

    source: str
    id: str | None
    serial: int
    frame: int | None


class LevelsData(msgspec.Struct, frozen=True):
    """The response of the routes `levels` and `all`: levels by group."""

    levels: dict[str, wire.LevelData]


class HitData(msgspec.Struct, frozen=True, rename={"node": "i"}):
    """A match of the search, with the groups around it and their names."""

    id: str
    label: str
    detail: str
    path: tuple[int, ...]
    where: str
    node: int


class HitsData(msgspec.Struct, frozen=True):
    """The response of the route `search`: the first matches, and the total number."""

    total: int
    hits: tuple[HitData, ...]


class FoundData(msgspec.Struct, frozen=True, rename={"node": "i"}):
    """The response of the route `find`: the groups around an item."""

    path: tuple[int, ...]
    node: int


class PartData(msgspec.Struct, frozen=True):
    """The response of the route `part`: a part of the graph."""

    level: wire.LevelData
    title: str


class ProblemData(msgspec.Struct, frozen=True, omit_defaults=True):
    """An error response: the server has `lost` the graph, or a message."""

    lost: bool = False
    error: str = ""


class GraphStore:
    """The most recently used graphs, with at most `most_nodes` nodes in total; safe for threads."""

    def __init__(self, most_nodes: int = MOST_NODES) -> None:
        self._most_nodes = most_nodes
        self._graphs: OrderedDict[str, wire.StoredGraph] = OrderedDict()
        self._lock = Lock()

    def keep(self, graph: wire.StoredGraph) -> None:
        """Store a graph under its digest; the least recently used graphs are dropped, never the newest one."""
        with self._lock:
            self._graphs[graph.digest] = graph
            self._graphs.move_to_end(graph.digest)
            nodes = sum(stored_graph.view.size() for stored_graph in self._graphs.values())
            while nodes > self._most_nodes and len(self._graphs) > 1:
                _, oldest = self._graphs.popitem(last=False)
                nodes -= oldest.view.size()

    def forget(self, name: str) -> None:
        """Drop a graph."""
        with self._lock:
            self._graphs.pop(name, None)

    def get(self, name: str) -> wire.StoredGraph | None:
        """Return the graph of a digest; None if it was dropped."""
        with self._lock:
            graph = self._graphs.get(name)
            if graph is not None:
                self._graphs.move_to_end(name)
            return graph


GRAPHS = GraphStore()
