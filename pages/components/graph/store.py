"""Graphs that the browser can request, by the digest of their content."""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock

from core.views import wire

MOST_NODES = 400_000


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
