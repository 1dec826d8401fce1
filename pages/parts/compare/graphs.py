"""The graphs of two compilations as one stable drawing: nodes added, removed, changed and moved."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from core.analysis.comparison import (
    BOTH,
    Change,
    CompilationComparison,
    GraphDifference,
    GraphUnion,
    UnionNode,
    graph_union,
)
from core.base import words as fmt
from core.graph import DIFFERENCE, source_path, union_model
from core.report import FxNode, TensorMeta, tensor_text
from core.views.graph import GraphFrame, GraphView
from pages.components.graph.store import stored
from pages.components.graph.view import Drawn, drawn
from pages.look.sizes import TALL
from pages.look.text import LONGEST_LINE, LONGEST_TEXT, code, one_line
from pages.parts.drawer import drawer, open_button, stage
from pages.parts.graphs.drawn import show
from pages.session import url
from pages.session.cache import cached
from pages.session.tables import newly_picked
from pages.session.view import View

NODE, CHANGES = "node", "changes"
SIGNS: dict[Change, str] = {"only right": "+", "only left": "−", "changed": "~", "moved": "↕"}
GONE = "Neither graph has this node."


def graphs(pair: CompilationComparison, left: View, right: View) -> None:
    """Let the visitor choose a stage, and draw both its graphs as one."""
    stages = {graph.left: graph for graph in pair.graphs if graph.left and graph.right}
    if not stages:
        st.write("The two compilations have no graph of the same stage.")
        return
    first = next((name for name, graph in stages.items() if not graph.same), next(iter(stages)))
    url.read(url.GRAPH, stages, first)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        chosen = st.selectbox(
            "Stage",
            list(stages),
            key=url.GRAPH,
            width=430,
            label_visibility="collapsed",
            format_func=lambda name: f"{name} · {changes_words(stages[name])}" if name in stages else name,
        )
        open_button(CHANGES, "Changes", ":material/difference:")
        st.caption(_alone(pair))
    url.write(url.GRAPH)
    _draw(stages[chosen or first], left, right)


def _draw(graph: GraphDifference, left: View, right: View) -> None:
    union, picture = union_drawn(left, right, graph.left, graph.right)
    place = stage()
    asked = url.number(url.FRAME)
    with place.container(key="drawing"):
        name = f"union-{left.compilation.id}-{graph.left}-{right.run.id}"
        chosen = show(picture, name, frame=BOTH if asked is None else asked, overlay=DIFFERENCE)
    url.put(url.FRAME, None if chosen.frame in (None, BOTH) else str(chosen.frame))
    with drawer(place, [NODE, CHANGES], chosen.id) as tab:
        if tab == NODE:
            _node(union, chosen.id)
        elif tab == CHANGES:
            _changes(union, name)


def changes_words(graph: GraphDifference) -> str:
    """Return the counts of changed nodes ("+4 −12 ~4"), or "the same"."""
    told = [f"{sign}{fmt.number(graph.changes[change])}" for change, sign in SIGNS.items() if graph.changes.get(change)]
    return " ".join(told) or "the same"


def _alone(pair: CompilationComparison) -> str:
    """Note the stages that only one of the two has."""
    sides = (
        ("left", [g.stage for g in pair.graphs if not g.right]),
        ("right", [g.stage for g in pair.graphs if not g.left]),
    )
    return "; ".join(f"only on the {side}: {fmt.count(len(found), 'stage')}" for side, found in sides if found)


@cached("Laying the graph out")
def _union(ids: tuple[str, ...], _left: View, _right: View) -> tuple[GraphUnion, Drawn]:
    here, there = _left.compilation.graph(ids[2]), _right.compilation.graph(ids[5])
    assert here is not None
    assert there is not None
    union = graph_union(_left.nodes(here), _right.nodes(there))
    return union, drawn(stored(GraphView(union_model(union, source_path(_left.report)), frames=_frames(union))))


def union_drawn(left: View, right: View, graph: str, other: str) -> tuple[GraphUnion, Drawn]:
    """Return two graphs, by id, as one graph, and its drawing."""
    ids = (left.run.id, left.compilation.id, graph, right.run.id, right.compilation.id, other)
    return _union(ids, left, right)


def _frames(union: GraphUnion) -> tuple[GraphFrame, ...]:
    """Return the frames: the left graph, both at once, and the right graph."""
    ids = {
        change: tuple(f"n:{node.name}" for node in union.nodes if node.change == change)
        for change in ("only right", "only left", "changed", "moved")
    }
    rewritten = (*ids["changed"], *ids["moved"])
    both = GraphFrame("both", "every node of either graph", ids["only right"], ids["only left"], rewritten)
    right = GraphFrame("right", "the other run", (), ids["only left"])
    return GraphFrame("left", "the shown run"), both, right


def _node(union: GraphUnion, selected: str | None) -> None:
    """Draw a node as it is in each of the two graphs."""
    name = (selected or "").removeprefix("n:")
    node = next((one for one in union.nodes if one.name == name), None)
    if node is None:
        st.caption(GONE if selected else "Click a node.")
        return
    st.markdown(f"**{node.change}** {code(node.name)}")
    left, right = (_told(found) if found else {} for found in (node.left, node.right))
    names = dict.fromkeys((*left, *right))
    st.table({name: _both(left.get(name, ""), right.get(name, "")) for name in names}, border="horizontal")


def _both(left: str, right: str) -> str:
    """Return the value of both sides, once if it is the same."""
    return left if left == right else " → ".join(filter(None, (left, right)))


def _told(node: FxNode) -> dict[str, str]:
    told = {
        "name": code(node.name),
        "target": code(node.target),
        "value": code(_value(node.meta)),
        "arguments": code(node.args, LONGEST_TEXT),
        "line": f"{code(node.code)} at {code(node.source.short)}" if node.source else "",
        "module": f"{code(node.module)} {code(node.module_class)}".strip(),
    }
    return {name: text for name, text in told.items() if text}


def _value(meta: TensorMeta | None) -> str:
    return tensor_text(meta.dtype, meta.shape) if meta else ""


def _changes(union: GraphUnion, key: str) -> None:
    """Draw the table of changed nodes; a click selects one in the drawing."""
    nodes = [node for node in union.nodes if node.change != "same"]
    if not nodes:
        st.caption("Every node is the same in both.")
        return
    rows = pd.DataFrame([_row(node) for node in nodes])
    picked = newly_picked(rows, nodes, f"changes-{key}", height=TALL)
    if picked is not None:
        url.select(f"n:{picked.name}")
        st.rerun()


def _row(node: UnionNode) -> dict[str, str]:
    return {
        "change": node.change,
        "node": one_line(node.name, LONGEST_LINE),
        "left": _call(node.left),
        "right": _call(node.right),
    }


def _call(node: FxNode | None) -> str:
    return one_line(f"{node.name} = {node.target}({node.args})", LONGEST_LINE) if node else ""


def unlike(found: Sequence[GraphDifference]) -> int:
    """Count the stages that both runs have and that differ."""
    return sum(not graph.same for graph in found if graph.left and graph.right)
