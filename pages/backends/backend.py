"""Backend page: the backend's input graphs, its compiled code, executions, and annotations."""

from functools import partial

import streamlit as st

from core.views.backend import BackendView
from core.views.glossary import GLOSSARY
from pages import menu
from pages.components.contract.view import contract_view
from pages.parts.backends.alternatives import offer_backends, problem_boxes, why_nothing
from pages.parts.backends.panes import BACKEND, CODE, contract, left_panes, pane, right_panes
from pages.session import url
from pages.session.downloads import downloads, json_twin
from pages.session.header import page_title
from pages.session.require import require_report
from pages.session.shown import shown_compilation
from pages.session.url import go_to, press, taken

view = require_report("What torch.compile gave a backend, and what came back, will stand here.")
backend = BackendView(view.report, view.going)
if not backend.rows:
    page_title(backend.title, help=GLOSSARY["backend"])
    why_nothing(backend)
    offer_backends(view)
    st.stop()

with st.container(horizontal=True, vertical_alignment="center", key="title-row"):
    with st.container(gap=None, key="title"):
        page_title(backend.title, help=GLOSSARY["backend"])
    with downloads():
        json_twin("backend", backend.rows, key="backend")
problem_boxes(backend)
shown = backend.of(shown_compilation(view.report))
contract_view(contract(backend, shown.id), key="contract", on_pick=partial(press, "contract"))
clicked = taken("contract")
if clicked and clicked != shown.id:
    go_to(menu.BACKEND, url.link(compilation=clicked))

compilation = view.of(shown.compilation)
left, right = st.columns([3, 2], gap="medium")
with left:
    panes = left_panes(compilation, shown)
    pane(url.PANE, panes, next(iter(panes)))
with right:
    texts = right_panes(compilation, shown)
    pane(
        url.BESIDE,
        texts,
        BACKEND if shown.is_failed and BACKEND in texts else CODE if CODE in texts else next(iter(texts)),
    )
