"""A page with nothing but graph views, and the graphs for it: for tests and benchmarks of the view in a browser."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import msgspec
import uvicorn
from playwright.sync_api import Page
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from core.graph.model import Edge, Fact, GraphModel, Group, Node, Overlay
from core.views.graph import GraphFrame, GraphView
from core.views.wire import StoredGraph, graph_data, stored
from pages.components.exchange import module_routes
from pages.components.graph.routes import GRAPHS, PlaceData, graph_routes
from pages.components.graph.view import SCRIPT, STYLE
from tests.support.browser import NewContext

BLOCK = (
    ("norm1", "layer_norm", "reduction"),
    ("q", "linear", "matmul"),
    ("k", "linear", "matmul"),
    ("v", "linear", "matmul"),
    ("attn", "scaled_dot_product_attention", "attention"),
    ("out", "linear", "matmul"),
    ("add1", "add", "pointwise"),
    ("norm2", "layer_norm", "reduction"),
    ("up", "linear", "matmul"),
    ("gelu", "gelu", "pointwise"),
    ("down", "linear", "matmul"),
    ("add2", "add", "pointwise"),
)
INSIDE = (
    (0, 1),
    (0, 2),
    (0, 3),
    (1, 4),
    (2, 4),
    (3, 4),
    (4, 5),
    (5, 6),
    (6, 7),
    (7, 8),
    (8, 9),
    (9, 10),
    (10, 11),
    (6, 11),
)
CLASSES = ("matmul", "attention", "pointwise", "reduction", "embedding", "view")
PAGE = """<!doctype html><meta charset="utf-8"><base href="/"><style>body { margin: 12px; display: grid; gap: 12px }
body.dark { background: #141922 }
.dark .host { --st-background-color: #141922; --st-secondary-background-color: #1b2230;
--st-text-color: #dee3ec; --st-border-color: #28303e; --st-primary-color: #8c96f2 }
.host { --st-primary-color: #4a56c9; --st-background-color: #fbfcfd; --st-border-color: #e4e8ee;
        --st-text-color: #1a2130 }</style>
<script type="module">
import draw from "/view.js";
window.told = [];
window.mount = async (name, more = {}) => {
  const data = await (await fetch(`/data/${name}`)).json();
  const host = Object.assign(document.createElement("div"), { className: "host", id: more.source ?? name });
  document.body.append(host);
  const parentElement = host.attachShadow({ mode: "open" });
  const style = document.createElement("style");
  style.textContent = await (await fetch("/view.css")).text();
  parentElement.append(style);
  const tell = (name, value) => window.told.push([data.source, name, value]);
  const args = { data: [Object.assign(data, more)], parentElement, setStateValue: tell, setTriggerValue: tell };
  const off = draw(args);
  const view = parentElement.querySelector(".view").compileboardView;
  (window.views ??= {})[data.source] = view;
  window.again = (changed) => draw(Object.assign(args, { data: [Object.assign({}, args.data[0], changed)] }));
  return off && true;
};
window.ready = true;
</script>"""


def transformer(layers: int = 12, prefix: str = "") -> GraphModel:
    """A model with an embedding, a stack of `layers` blocks, and a head; attention and MLP are groups of their own."""
    nodes = [Node("n:embedding", "embedding", "f32[8, 128, 768]", "embedding", -1, chips=("wte",), tooltip="model.wte")]
    edges: list[Edge] = []
    groups = [_group("m:blocks", "blocks", f"× {layers}", "stack", -1, 1, 1 + 12 * layers)]
    for layer in range(layers):
        start, block = len(nodes), len(groups)
        groups.append(_group(f"m:blocks.{layer}", f"blocks.{layer}", "Block", "module", 0, start, start + 12))
        groups.append(_group(f"m:blocks.{layer}.attn", "attn", "Attention", "module", block, start, start + 6))
        groups.append(_group(f"m:blocks.{layer}.mlp", "mlp", "MLP", "module", block, start + 7, start + 11))
        edges += [Edge(start - 1, start, "f32[8, 128, 768]", 3_145_728), Edge(start - 1, start + 6)]
        edges += [Edge(start + one, start + other, "f32[8, 128, 768]", 3_145_728) for one, other in INSIDE]
        for place, (name, op, op_class) in enumerate(BLOCK):
            group = block + 1 if place < 6 else block + 2 if 7 <= place < 11 else block
            links = (f"l:{10 + place}", f"k:kernel{layer}.{place // 3}")
            chips = (f"{name}.weight",) if op_class == "matmul" else ()
            nodes.append(Node(f"n:{name}_{layer}", op, "f32[8, 128, 768]", op_class, group, links=links, chips=chips))
    nodes.append(Node("n:head", "linear", "f32[8, 128, 50257]", "matmul", -1, chips=("lm_head.weight",)))
    edges.append(Edge(len(nodes) - 2, len(nodes) - 1, "f32[8, 128, 768]", 3_145_728))
    return GraphModel(tuple(nodes), tuple(edges), tuple(groups), overlays(nodes))


def _group(id_: str, label: str, detail: str, kind: Any, parent: int, first: int, last: int) -> Group:
    facts = (Fact("parameters", 7_087_872, "count"), Fact("share of bytes", 0.083, "share"))
    return Group(id_, label, detail, kind, parent, first, last, last - first, facts)


def overlays(nodes: list[Node]) -> tuple[Overlay, ...]:
    """Classes, bytes on a scale of decades, and a time that was not recorded everywhere."""
    classes = tuple(CLASSES.index(node.op_class) for node in nodes)
    sizes = tuple(3_145_728 * (1 + number % 7) ** 3 for number, _ in enumerate(nodes))
    times = tuple(None if number % 5 == 4 else 1e-6 * (1 + number % 11) for number, _ in enumerate(nodes))
    directions = tuple(number % 2 for number, _ in enumerate(nodes))
    return (
        Overlay("op_class", "op class", "category", "", classes, "commonest", CLASSES),
        Overlay("bytes", "bytes", "number", "B", sizes, "sum"),
        Overlay("time", "time", "number", "s", times, "sum", note="no kernel of its own"),
        Overlay("direction", "direction", "category", "", directions, "commonest", ("forward", "backward")),
    )


def flat(count: int = 10_000) -> GraphModel:
    """One level without groups: long chains with skips, side by side."""
    nodes = [Node(f"n:{i}", f"op_{i}", "f32[64, 64]", CLASSES[i % 6], -1, links=(f"l:{i % 90}",)) for i in range(count)]
    edges = [Edge(i, i + 1, "f32[64, 64]", 16_384) for i in range(count - 1) if i % 250 != 249]
    edges += [Edge(i, i + 3) for i in range(0, count - 3, 5) if i // 250 == (i + 3) // 250]
    return GraphModel(tuple(nodes), tuple(edges), (), overlays(nodes))


def film() -> GraphView:
    """Four frames: a node comes, one is rewritten, one goes."""
    nodes = (
        Node("n:a", "relu", "f32[8]", "pointwise", -1),
        Node("n:b", "dropout", "f32[8]", "random", -1, frames=((0, 2),)),
        Node("n:c", "addmm", "f32[8]", "matmul", -1, frames=((1, 4),)),
        Node("n:d", "sum", "f32[]", "reduction", -1),
    )
    edges = (
        Edge(0, 1, frames=((0, 2),)),
        Edge(1, 3, frames=((0, 2),)),
        Edge(0, 2, frames=((1, 4),)),
        Edge(2, 3, frames=((1, 4),)),
    )
    frames = (
        GraphFrame("before", "as it was captured"),
        GraphFrame("fuse_addmm", "adds addmm", added=("n:c",)),
        GraphFrame("remove_noop", "removes dropout", removed=("n:b",)),
        GraphFrame("reshape", "rewrites sum", rewritten=("n:d",)),
    )
    return GraphView(GraphModel(nodes, edges), frames=frames)


def fused() -> GraphView:
    """Five ops that one kernel computes, and a library call: three steps join the ops, one after the other."""
    names = ("mul", "add", "exp", "sum", "div", "mm")
    classes = ("pointwise", "pointwise", "pointwise", "reduction", "pointwise", "matmul")
    joined = (
        ((1, "op0"),),
        ((1, "op1"), (2, "op0")),
        ((1, "op2"), (3, "op0")),
        ((1, "op3"), (4, "op0")),
        ((1, "op0"),),
        ((1, "op5"),),
    )
    nodes = tuple(
        Node(
            f"n:{name}", name, "f32[8, 64]", classes[i], int(i == 5), links=(f"l:{i}", f"s:op{i}"),
            joins=joined[i],
        )
        for i, name in enumerate(names)
    )  # fmt: skip
    groups = (
        Group("g:op0", "mul, add +3", "7 µs · 5 ops", "launch", -1, 0, 5, 5, badge="1", links=("k:fused",)),
        Group("g:op5", "mm", "1 op", "library", -1, 5, 6, 1, links=("k:mm",)),
    )
    edges = tuple(Edge(i, i + 1, "f32[8, 64]", 2048 if i == 4 else 0) for i in range(5))
    titles = ("Ops", "Scheduler nodes", "Fusion 1 of 3", "Fusion 2 of 3", "Fusion 3 of 3", "Kernels")
    return GraphView(
        GraphModel(nodes, edges, groups), frames=tuple(GraphFrame(title, "by shared reads") for title in titles)
    )


def _message(graph: StoredGraph, source: str, height: int) -> dict[str, Any]:
    place = PlaceData(source=source, height=height)
    return {**msgspec.to_builtins(graph_data(graph)), **msgspec.to_builtins(place)}


def datasets() -> Mapping[str, dict[str, Any]]:
    """The component's first message by name; the graphs are registered for the routes."""
    graphs = {
        name: stored(view)
        for name, view in {
            "transformer": GraphView(transformer()),
            "twin": GraphView(transformer()),
            "flat": GraphView(flat()),
            "film": film(),
            "fused": fused(),
        }.items()
    }
    for graph in graphs.values():
        GRAPHS.keep(graph)
    return {
        "transformer": _message(graphs["transformer"], "transformer", 700),
        "twin": _message(graphs["twin"], "twin", 700),
        "flat": _message(graphs["flat"], "flat", 700),
        "film": _message(graphs["film"], "film", 560),
        "fused": _message(graphs["fused"], "fused", 560),
    }


@contextmanager
def harness() -> Iterator[str]:
    """Serve the page and the graphs' routes on a free port; gives the address."""
    data = {name: json.dumps(value) for name, value in datasets().items()}

    def message(request: Request) -> Response:
        return Response(data[request.path_params["name"]], media_type="application/json")

    routes = [
        Route("/", lambda request: HTMLResponse(PAGE)),
        Route("/view.js", lambda request: Response(SCRIPT, media_type="text/javascript")),
        Route("/view.css", lambda request: Response(STYLE, media_type="text/css")),
        Route("/data/{name}", message),
        *graph_routes(),
        *module_routes(),
    ]
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        server = uvicorn.Server(uvicorn.Config(Starlette(routes=routes), log_level="error", lifespan="off"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
        thread.start()
        while not server.started:
            time.sleep(0.01)
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        server.should_exit = True
        thread.join(10)


def harness_page(new_context: NewContext, address: str) -> Page:
    """The harness in a page of its own, with its script ready."""
    page = new_context().new_page()
    page.goto(address)
    page.wait_for_function("window.ready")
    return page
