"""Routes and messages of the graph view: levels, searches, parts of a graph, and downloads.

A request names a graph by its digest. The messages of a graph itself are in `core.views.wire`. `make docs`
writes the types of js/wire.d.ts from both modules.
"""

from __future__ import annotations

import gzip
from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import replace
from threading import Lock

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from core.base import words as fmt
from core.views import wire

MOST_NODES_AT_ONCE = 60_000  #: nodes in one response
MOST_LEVELS_AT_ONCE = 500  #: groups in one response
MOST_HOPS = 20  #: hops of a neighbourhood
LEAST_ZIPPED_BYTES = 32_000
ZIP_LEVEL = 5
CACHED = "private, max-age=3600"

Respond = Callable[[wire.StoredGraph, Request], Response]


def graph_routes(base: str = "") -> list[Route]:
    """Return the routes below the server's own path; a graph's digest cannot be guessed."""
    start = f"/{base.strip('/')}/graph/{{digest}}" if base.strip("/") else "/graph/{digest}"
    return [Route(f"{start}/{name}", _endpoint(respond)) for name, respond in RESPONSES.items()]


def _endpoint(respond: Respond) -> Callable[[Request], Response]:
    def endpoint(request: Request) -> Response:
        """Answer a request; Starlette runs this in a thread, since layouts take a while."""
        graph = GRAPHS.get(request.path_params["digest"])
        if graph is None:
            return _json(request, ProblemData(lost=True), 404)
        try:
            return respond(graph, request)
        except (ValueError, IndexError):
            return _json(request, ProblemData(error="there is no such thing in this graph"), 404)

    return endpoint


def _levels(graph: wire.StoredGraph, request: Request) -> Response:
    ids = [int(text) for text in request.query_params.get("ids", "").split(",")[:MOST_LEVELS_AT_ONCE]]
    return _json(request, _levels_data(graph, ids))


def _all(graph: wire.StoredGraph, request: Request) -> Response:
    under = int(request.query_params.get("under", "-1"))
    count = graph.view.size(under)
    if count > MOST_NODES_AT_ONCE:
        return _json(request, ProblemData(error=f"{fmt.count(count, 'node')} are too many at once"), 413)
    return _json(request, _levels_data(graph, (level.group for level in graph.view.levels_below(under))))


def _levels_data(graph: wire.StoredGraph, groups: Iterable[int]) -> LevelsData:
    return LevelsData({str(group): wire.level_data(graph, group) for group in groups})


def _search(graph: wire.StoredGraph, request: Request) -> Response:
    view = graph.view
    total, hits = view.search(request.query_params.get("q", ""))
    nodes = [(hit, view.model.nodes[hit.node]) for hit in hits]
    data = (HitData(node.id, node.label, node.detail, hit.path, view.path_words(hit), hit.node) for hit, node in nodes)
    return _json(request, HitsData(total, tuple(data)))


def _find(graph: wire.StoredGraph, request: Request) -> Response:
    hit = graph.view.find(request.query_params.get("id", ""))
    if hit is None:
        raise ValueError("no such id")
    return _json(request, FoundData(hit.path, hit.node))


def _part(graph: wire.StoredGraph, request: Request) -> Response:
    query = request.query_params
    if "around" in query:
        titled = graph.view.around(query["around"], min(max(int(query.get("hops", "2")), 1), MOST_HOPS))
    else:
        titled = graph.view.between(query.get("from", ""), query.get("to", ""))
    if titled is None:
        return _json(request, ProblemData(error="there is no path, or no such node"), 404)
    view, title = titled
    return _json(request, PartData(wire.level_data(replace(graph, view=view), whole=graph.view), title))


def _dot(graph: wire.StoredGraph, request: Request) -> Response:
    return _file(request, graph.view.as_dot().encode("utf-8", "replace"), "text/vnd.graphviz", "graph.dot")


def _download(graph: wire.StoredGraph, request: Request) -> Response:
    return _file(request, graph.view.as_json(), "application/json", "graph.json")


RESPONSES: dict[str, Respond] = {
    "levels": _levels,
    "all": _all,
    "search": _search,
    "find": _find,
    "part": _part,
    "graph.dot": _dot,
    "graph.json": _download,
}


def _json(request: Request, data: msgspec.Struct, status: int = 200) -> Response:
    caching = CACHED if status == 200 else "no-store"
    return _zipped(request, msgspec.json.encode(data), "application/json", {"cache-control": caching}, status)


def _file(request: Request, content: bytes, kind: str, name: str) -> Response:
    headers = {"cache-control": CACHED, "content-disposition": f'attachment; filename="{name}"'}
    return _zipped(request, content, kind, headers, 200)


def _zipped(request: Request, content: bytes, kind: str, headers: dict[str, str], status: int) -> Response:
    """Return the response, compressed if it is large, at a faster level than Streamlit's."""
    if len(content) > LEAST_ZIPPED_BYTES and "gzip" in request.headers.get("accept-encoding", ""):
        content = gzip.compress(content, ZIP_LEVEL)
        headers |= {"content-encoding": "gzip", "vary": "accept-encoding"}
    return Response(content, status, headers, kind)


MOST_NODES = 400_000  #: nodes of all drawings that the server caches


class PlaceData(msgspec.Struct, frozen=True, kw_only=True):
    """Settings of a graph view: its key, height, channel and step, and its initial overlay and frame.

    Without `frame`, a film starts with its last frame.
    """

    source: str
    height: int
    channel: str = "compileboard"
    step: str = ""
    overlay: str = ""
    frame: int | None = None


class CommandData(msgspec.Struct, frozen=True):
    """A selection requested by Python; `serial` is the number of the user's choices before it.

    `outlined` are the ids of items that are outlined, and `tie` the words on the line between two of them.
    """

    source: str
    id: str | None
    serial: int
    frame: int | None
    outlined: tuple[str, ...] = ()
    tie: str = ""


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
    """An error response: a message, or `lost` if the server has dropped the graph."""

    lost: bool = False
    error: str = ""


class GraphStore:
    """Thread-safe store of the most recently used graphs, with at most `most_nodes` nodes in total."""

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
