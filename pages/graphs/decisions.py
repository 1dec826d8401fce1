"""Decisions page: how Inductor computes each op, its layout and memory, and autotuning's choices."""

from typing import Literal

import streamlit as st

from core.base import words as fmt
from core.views.decisions import DecisionsView
from core.views.fusion import FusionView
from pages.look.palette import TALL
from pages.session.downloads import json_twin
from pages.session.header import page_title
from pages.session.require import require_view
from pages.session.tables import data_frame, in_words

FEW = 16
WIDE = {"options": st.column_config.TextColumn(help="Of torch._inductor.config; *Options* has torch's comment on each")}

view = require_view("How Inductor computes each op will stand here.")
if view is None or not view.compilation.schedules:
    page_title("The decisions of Inductor were not recorded for this compilation")
    st.write(FusionView.why_none(view.compilation if view is not None else None))
    st.stop()

nodes = {node.name: node for graph in view.compilation.lowered_graphs for node in view.nodes(graph)}
decisions = DecisionsView(view.report, view.compilation, nodes, view.text)
page_title(decisions.title)
st.caption(decisions.caption)
if decisions.cudagraphs:
    st.write(decisions.cudagraphs)
table = in_words(data_frame(decisions.rows), {"bytes": fmt.bytes_})
height: int | Literal["content"] = TALL if len(decisions.rows) > FEW else "content"
st.dataframe(table, hide_index=True, height=height, column_config=WIDE)
json_twin("decisions", decisions.decisions, key="decisions")
if decisions.chosen:
    st.subheader("Autotuning", anchor=False)
    for sentence in decisions.chosen:
        st.markdown(f"- {sentence}")
