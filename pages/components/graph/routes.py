"""The graph view's requests to the server: levels, searches, parts of a graph, and downloads."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterable
from dataclasses import replace

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from core.base import words as fmt
from core.views import wire
from pages.components.graph.messages import GRAPHS, FoundData, HitData, HitsData, LevelsData, PartData, ProblemData

MOST_NODES_AT_ONCE = 60_000
MOST_LEVELS_AT_ONCE = 500
MOST_HOPS = 20
LEAST_ZIPPED_BYTES = 32_000
ZIP_LEVEL = 5
CACHED = "private, max-age=3600"

Respond = Callable[[wire.StoredGraph, Request], Response]


def graph_routes(base: str = "") -> list[Route]:
    """Return the routes below `base`, the server's own path.

    A request names a graph by its digest, which cannot be guessed.
    """
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
    """Compress large responses here, which is faster than Streamlit's compression at its highest level."""
    if len(content) > LEAST_ZIPPED_BYTES and "gzip" in request.headers.get("accept-encoding", ""):
        content = gzip.compress(content, ZIP_LEVEL)
        headers |= {"content-encoding": "gzip", "vary": "accept-encoding"}
    return Response(content, status, headers, kind)
