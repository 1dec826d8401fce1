"""Graph breaks page: the breaks on the user's own lines, the most expensive first, each with its fix."""

import streamlit as st

from core import CompileJob, Model, samples
from core.analysis import break_costs, failures
from pages.components.code.view import code_view
from pages.look.glossary import GLOSSARY
from pages.look.sizes import TALL
from pages.parts.code import user_code
from pages.parts.dynamo.breaks import METHOD, broken_file, eager_frames, one_break, title
from pages.parts.dynamo.repairs import break_repairs, offer_all, way_back
from pages.parts.run.submit import submit
from pages.session import url
from pages.session.downloads import json_twin
from pages.session.require import require_report

view = require_report("Where Dynamo stops tracing will stand here, on your own lines.")
report = view.report
breaks = report.graph_breaks
costs = break_costs(report)
not_compiled = failures(report)
given_up = {failure.compilation: failure.frame for failure in not_compiled if failure.kind == "given up"}
st.title(title(report, not_compiled), anchor=False, help=GLOSSARY["graph break"] if breaks else None)
way_back(view)

job = view.job
twin = next((item.twin for item in samples() if job and job.model.value == item.name), None)
with st.container(horizontal=True):
    if twin and breaks and st.button("Compile the repaired twin", icon=":material/healing:"):
        submit(CompileJob(Model("sample", twin)))
    json_twin("graph_breaks", breaks, key="breaks")

left, right = st.columns([1, 1], gap="medium")
with left:
    picture = user_code(view, path=broken_file(view, [cost.found for cost in costs]), breaks=breaks)
    if picture is not None:
        url.select(code_view(picture, key="breaks-code", height=TALL, selected=url.selected()))
    else:
        st.write("The log does not hold the code" + ("; the breaks beside name its lines." if breaks else "."))
with right:
    offer_all(view, [repair for cost in costs for repair in break_repairs(view, cost.found)[:1]], key="breaks")
    if len(costs) > 1:
        st.caption(METHOD)
    for number, cost in enumerate(costs, 1):
        one_break(number, cost, view, given_up)
    named = {item for found in breaks for item in found.compilations}
    eager_frames([item for item in not_compiled if item.kind != "failed" and item.compilation not in named])
