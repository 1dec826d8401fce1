"""Backend page: the backend's input graphs, its compiled code, the executions of that code, and the
backend's reports.
"""

import streamlit as st

from core.analysis.backend import backend_problems, backend_rows, backend_sentence
from pages import menu
from pages.components.contract.view import contract_view
from pages.look.glossary import GLOSSARY
from pages.look.text import prose
from pages.parts.backends.contract import contract
from pages.parts.backends.panes import BACKEND, CODE, left_panes, pane, right_panes
from pages.parts.backends.write import offer_backends, problem_boxes, why_nothing
from pages.session import url
from pages.session.downloads import downloads, json_twin
from pages.session.navigate import go_to
from pages.session.require import require_report
from pages.session.shown import shown_compilation

view = require_report("What torch.compile gave a backend, and what came back, will stand here.")
report = view.report
rows = backend_rows(report)
if not rows:
    st.title(prose(backend_sentence(report)), anchor=False, help=GLOSSARY["backend"])
    why_nothing(report)
    offer_backends(view)
    st.stop()

with st.container(horizontal=True, vertical_alignment="center", key="title-row"):
    with st.container(gap=None, key="title"):
        st.title(prose(backend_sentence(report)), anchor=False, help=GLOSSARY["backend"])
    with downloads():
        json_twin("backend", rows, key="backend")
problem_boxes(backend_problems(report))
named = shown_compilation(report)
row = next((row for row in rows if named is not None and row.compilation.id == named.id), rows[0])
clicked = contract_view(contract(report, rows, row.compilation.id, view.going), key="contract")
if clicked and clicked != row.compilation.id:
    go_to(menu.BACKEND, url.link(compilation=clicked))

made = row.invocations[-1]
one = view.of(row.compilation)
left, right = st.columns([3, 2], gap="medium")
with left:
    panes = left_panes(one, row)
    pane(url.PANE, panes, next(iter(panes)))
with right:
    texts = right_panes(one, made)
    pane(
        url.BESIDE,
        texts,
        BACKEND if made.problem and BACKEND in texts else CODE if CODE in texts else next(iter(texts)),
    )
