"""Graph breaks: where Dynamo stopped, on the user's own lines, each distinct break once."""

import streamlit as st

from core import CompileJob, Model, samples
from core.analysis import failures
from pages.components.code.view import code_view
from pages.look.glossary import GLOSSARY
from pages.look.sizes import TALL
from pages.parts.code import user_code
from pages.parts.dynamo.breaks import eager_frames, one_break, title
from pages.parts.run.submit import submit
from pages.session import url
from pages.session.downloads import json_twin
from pages.session.require import require_report

view = require_report("Where Dynamo stops tracing will stand here, on your own lines.")
report = view.report
breaks = report.graph_breaks
not_compiled = failures(report)
given_up = {failure.compilation: failure.frame for failure in not_compiled if failure.kind == "given up"}
st.title(title(report, not_compiled), anchor=False, help=GLOSSARY["graph break"] if breaks else None)

job = view.job
twin = next((item.twin for item in samples() if job and job.model.value == item.name), None)
with st.container(horizontal=True):
    if twin and breaks and st.button("Compile the repaired twin", icon=":material/healing:", type="primary"):
        submit(CompileJob(Model("sample", twin)))
    json_twin("graph_breaks", breaks, key="breaks")

left, right = st.columns([1, 1], gap="medium")
with left:
    picture = user_code(view, breaks=breaks)
    if picture is not None:
        url.select(code_view(picture, key="breaks-code", height=TALL, selected=url.selected()))
    else:
        st.write("The log does not hold the code" + ("; the breaks beside name its lines." if breaks else "."))
with right:
    for number, found in enumerate(breaks, 1):
        one_break(number, found, report, given_up)
    named = {item for found in breaks for item in found.compilations}
    eager_frames([item for item in not_compiled if item.kind != "failed" and item.compilation not in named])
