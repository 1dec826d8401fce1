"""Graphs that the browser can request, by the digest of their content."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from threading import Lock

from core.views.graph import GraphView

MOST_NODES = 400_000


@dataclass(frozen=True, slots=True, eq=False)
class StoredGraph:
    """A graph with the colours (hex) of its kernels by id, and the digest of both."""

    digest: str
    view: GraphView
    colours: Mapping[str, str]


class GraphStore:
    """The most recently used graphs, with at most `most_nodes` nodes in total; safe for threads."""

    def __init__(self, most_nodes: int = MOST_NODES) -> None:
        self._most_nodes = most_nodes
        self._graphs: OrderedDict[str, StoredGraph] = OrderedDict()
        self._lock = Lock()

    def keep(self, graph: StoredGraph) -> None:
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

    def get(self, name: str) -> StoredGraph | None:
        """Return the graph of a digest; None if it was dropped."""
        with self._lock:
            graph = self._graphs.get(name)
            if graph is not None:
                self._graphs.move_to_end(name)
            return graph


GRAPHS = GraphStore()


def stored(view: GraphView, colours: Mapping[str, str] | None = None) -> StoredGraph:
    """Return a graph with its digest. Cache the result as long as the graph: 50,000 nodes take 0.1 s.

    `colours` are those of its kernels (hex), by kernel id.
    """
    return StoredGraph(view.digest(colours), view, colours or {})
