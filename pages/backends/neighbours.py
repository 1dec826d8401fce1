"""Neighbours page: the run's model on other compilers and runtimes, compared with eager and compiled."""

import streamlit as st

from core.views.glossary import GLOSSARY
from core.views.neighbours import NeighboursView
from pages.parts.backends.alternatives import mlx_part
from pages.parts.run.submit import neighbours_now
from pages.session.downloads import json_twin
from pages.session.header import page_title
from pages.session.require import require_report
from pages.session.tables import data_frame, shown

WIDE = {
    "installed": st.column_config.TextColumn(width=100),
    "a call": st.column_config.TextColumn(width=85),
    "result": st.column_config.TextColumn(width=105),
    "why": st.column_config.TextColumn(width=250),
    "speedup over eager": st.column_config.TextColumn(width=145),
    "speedup over compiled": st.column_config.TextColumn(width=145),
    "as code": st.column_config.TextColumn(width=420),
}

view = require_report("This model on other compilers and runtimes will stand here.")
neighbours = NeighboursView(view.report)
page_title(neighbours.title, help=GLOSSARY["neighbour"])
if neighbours.state != "recorded":
    st.write(neighbours.paragraph)
    if neighbours.state == "not recorded":
        neighbours_now(view)
    st.stop()

st.caption(neighbours.paragraph)
shown(data_frame(neighbours.rows), neighbours.rows, height="content", column_config=WIDE)
with st.container(horizontal=True, vertical_alignment="center"):
    json_twin("neighbours", view.report.neighbours, key="neighbours")
mlx_part(view)
