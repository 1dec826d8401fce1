"""vLLM page: compile calls of vLLM's backend, their piecewise compilations, caches and configuration."""

import streamlit as st

from core.views.vllm import VllmView
from pages.parts.dynamo.tables import choose_call, configuration, piece_details, piece_table
from pages.session.downloads import json_twin
from pages.session.header import page_title
from pages.session.require import require_report

view = require_report("What vLLM compiled will stand here.")
vllm = VllmView(view.report)
if not view.report.vllm:
    page_title(vllm.title)
    st.write(vllm.how_to_record)
    st.stop()

page_title(vllm.title)
vllm = choose_call(vllm)
for note in vllm.notes:
    st.info(note)
left, right = st.columns([3, 2], gap="medium")
with left:
    piece = piece_table(vllm)
if piece is not None:
    with right:
        piece_details(view, vllm, piece)
configuration(vllm)
json_twin("vllm", view.report.vllm, key="vllm")
