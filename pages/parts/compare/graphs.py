"""The graphs of two compilations as one stable drawing: nodes added, removed, changed and moved."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from core.views.compare import PairView
from core.views.graph_union import GraphUnionView
from pages.components.graph.store import stored
from pages.components.graph.view import GraphDrawing, drawn
from pages.look.sizes import TALL
from pages.parts.drawer import drawer, open_button, stage
from pages.parts.graphs.drawn import show
from pages.session import url
from pages.session.cache import cached
from pages.session.tables import newly_picked
from pages.session.view import RunView

NODE, CHANGES = "node", "changes"


def graphs(pair: PairView, left: RunView, right: RunView) -> None:
    """Let the visitor choose a stage, and draw both its graphs as one."""
    stages = pair.stages
    if not stages:
        st.write("The two compilations have no graph of the same stage.")
        return
    url.read(url.GRAPH, stages, pair.first_stage)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        chosen = st.selectbox(
            "Stage",
            list(stages),
            key=url.GRAPH,
            width=430,
            label_visibility="collapsed",
            format_func=lambda name: stages.get(name, name),
        )
        open_button(CHANGES, "Changes", ":material/difference:")
        st.caption(pair.lone_stages)
    url.write(url.GRAPH)
    _draw(pair, left, right, chosen or pair.first_stage)


def _draw(pair: PairView, left: RunView, right: RunView, graph_id: str) -> None:
    union, picture = _union((left.run.id, right.run.id, pair.left, pair.right, graph_id), pair, left, right)
    place = stage()
    wanted = url.number(url.FRAME)
    with place.container(key="drawing"):
        name = f"union-{pair.left}-{graph_id}-{right.run.id}"
        frame = union.both_frame if wanted is None else wanted
        chosen = show(picture, name, frame=frame, overlay=union.overlay)
    url.put(url.FRAME, None if chosen.frame in (None, union.both_frame) else str(chosen.frame))
    with drawer(place, [NODE, CHANGES], chosen.id) as tab:
        if tab == NODE:
            _node(union, chosen.id)
        elif tab == CHANGES:
            _changes(union, name)


@cached("Laying the graph out")
def _union(
    ids: tuple[str, ...], _pair: PairView, _left: RunView, _right: RunView
) -> tuple[GraphUnionView, GraphDrawing]:
    union = _pair.union(ids[-1])
    return union, drawn(stored(union.picture))


def _node(union: GraphUnionView, selected: str | None) -> None:
    """Draw a node as it is in each of the two graphs."""
    title = union.node_title(selected)
    if not title:
        st.caption("Neither graph has this node." if selected else "Click a node.")
        return
    st.markdown(title)
    st.table(union.node_facts(selected), border="horizontal")


def _changes(union: GraphUnionView, key: str) -> None:
    """Draw the table of changed nodes; a click selects one in the drawing."""
    if not union.changed:
        st.caption("Every node is the same in both.")
        return
    picked = newly_picked(pd.DataFrame(union.change_rows), union.changed, f"changes-{key}", height=TALL)
    if picked is not None:
        url.select(picked)
        st.rerun()
