"""The graph view's requests to the server: levels, searches, parts of a graph, and downloads."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterable

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from core.base import words as fmt
from core.graph import (
    MOST_NEAR,
    GraphModel,
    Hit,
    Level,
    as_dot,
    as_json,
    between,
    find,
    level,
    levels_below,
    neighbourhood,
    search,
)
from pages.components.graph.messages import FoundData, HitData, HitsData, LevelsData, PartData, ProblemData
from pages.components.graph.store import GRAPHS, Stored
from pages.components.graph.wire import level_data

MOST_NODES_AT_ONCE = 60_000
MOST_LEVELS_AT_ONCE = 500
MOST_HOPS = 20
LEAST_ZIPPED_BYTES = 32_000
ZIP_LEVEL = 5
CACHED = "private, max-age=3600"

Answer = Callable[[Stored, Request], Response]


def graph_routes(base: str = "") -> list[Route]:
    """Return the routes below `base`, the server's own path.

    They address a graph by its digest, which nobody can guess.
    """
    start = f"/{base.strip('/')}/graph/{{digest}}" if base.strip("/") else "/graph/{digest}"
    return [Route(f"{start}/{name}", _endpoint(answer)) for name, answer in ANSWERS.items()]


def _endpoint(answer: Answer) -> Callable[[Request], Response]:
    def endpoint(request: Request) -> Response:
        """Answer a request; Starlette runs this in a thread, since layouts take a while."""
        graph = GRAPHS.get(request.path_params["digest"])
        if graph is None:
            return _json(request, ProblemData(lost=True), 404)
        try:
            return answer(graph, request)
        except (ValueError, IndexError):
            return _json(request, ProblemData(error="there is no such thing in this graph"), 404)

    return endpoint


def _levels(graph: Stored, request: Request) -> Response:
    ids = [int(text) for text in request.query_params.get("ids", "").split(",")[:MOST_LEVELS_AT_ONCE]]
    return _json(request, _told(graph, (level(graph.model, group) for group in ids)))


def _all(graph: Stored, request: Request) -> Response:
    under = int(request.query_params.get("under", "-1"))
    model = graph.model
    count = len(model.nodes) if under < 0 else model.groups[under].last - model.groups[under].first
    if count > MOST_NODES_AT_ONCE:
        return _json(request, ProblemData(error=f"{fmt.count(count, 'node')} are too many at once"), 413)
    return _json(request, _told(graph, levels_below(model, under)))


def _told(graph: Stored, levels: Iterable[Level]) -> LevelsData:
    return LevelsData({str(shown.group): level_data(graph, shown) for shown in levels})


def _search(graph: Stored, request: Request) -> Response:
    total, hits = search(graph.model, request.query_params.get("q", ""))
    return _json(request, HitsData(total, tuple(_hit(graph.model, hit) for hit in hits)))


def _hit(model: GraphModel, hit: Hit) -> HitData:
    node = model.nodes[hit.node]
    where = " › ".join(model.groups[group].label for group in hit.path)
    return HitData(node.id, node.label, node.detail, tuple(hit.path), where, hit.node)


def _find(graph: Stored, request: Request) -> Response:
    found = find(graph.model, request.query_params.get("id", ""))
    if found is None:
        raise ValueError("no such id")
    return _json(request, FoundData(tuple(found.path), found.node))


def _part(graph: Stored, request: Request) -> Response:
    asked = request.query_params
    if "around" in asked:
        hops = min(max(int(asked.get("hops", "2")), 1), MOST_HOPS)
        part = neighbourhood(graph.model, asked["around"], hops)
        title = f"{fmt.count(hops, 'hop')} around {_label(graph.model, asked['around'])}"
    else:
        ends = asked.get("from", ""), asked.get("to", "")
        part = between(graph.model, *ends)
        title = " to ".join(_label(graph.model, end) for end in ends)
    if part is None:
        return _json(request, ProblemData(error="there is no path, or no such node"), 404)
    if len(part.nodes) == MOST_NEAR:
        title += f", the nearest {MOST_NEAR} nodes"
    found = Stored(graph.digest, part, graph.look)
    return _json(request, PartData(level_data(found, level(part), graph.model), title))


def _label(model: GraphModel, item: str) -> str:
    found = find(model, item)
    return model.nodes[found.node].label if found and found.node >= 0 else ""


def _dot(graph: Stored, request: Request) -> Response:
    return _file(request, as_dot(graph.model).encode("utf-8", "replace"), "text/vnd.graphviz", "graph.dot")


def _download(graph: Stored, request: Request) -> Response:
    return _file(request, as_json(graph.model), "application/json", "graph.json")


ANSWERS: dict[str, Answer] = {
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
