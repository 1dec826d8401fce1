"""Graph breaks page: the breaks on the user's own lines, the most expensive first, each with its fix."""

import streamlit as st

from core import CompileJob, Model, samples
from core.views.glossary import GLOSSARY
from core.views.graph_breaks import GraphBreaksView
from pages.components.code.view import code_view
from pages.look.palette import TALL
from pages.parts.code import source_text, user_code
from pages.parts.dynamo.boxes import break_box, broken_file, eager_frames, fixes_of, offer_all, original_run
from pages.parts.run.submit import submit
from pages.session import url
from pages.session.downloads import json_twin
from pages.session.header import page_title
from pages.session.require import require_report
from pages.session.url import pressed

view = require_report("Where Dynamo stops tracing will stand here, on your own lines.")
breaks = GraphBreaksView(view.report, lambda path: source_text(view, path))
fixes = fixes_of(view)
logged = view.report.graph_breaks
page_title(breaks.title, help=GLOSSARY["graph break"] if logged else None)
original_run(view)
if breaks.record_note:
    st.caption(breaks.record_note)

job = view.job
fixed_sample = next((sample.twin for sample in samples() if job and job.model.value == sample.name), None)
with st.container(horizontal=True):
    if fixed_sample and logged and pressed("Compile the fixed version", key="compile-fixed", icon=":material/healing:"):
        submit(CompileJob(Model("sample", fixed_sample)))
    json_twin("graph_breaks", logged, key="breaks")

left, right = st.columns([1, 1], gap="medium")
with left:
    picture = user_code(view, path=broken_file(breaks), breaks=logged)
    if picture is not None:
        url.select(code_view(picture, key="breaks-code", height=TALL, selected=url.selected()))
    else:
        st.write(breaks.without_code)
with right:
    boxes = breaks.boxes
    offer_all(view, fixes.of_all_breaks(box.graph_break for box in boxes), key="breaks")
    if len(boxes) > 1:
        st.caption(breaks.method)
    for number, box in enumerate(boxes, 1):
        break_box(number, box, view, fixes)
    eager_frames(breaks)
