"""Graph breaks: where Dynamo stopped, on the user's own lines, each distinct break once."""

import streamlit as st

from core import CompileJob, Model, samples
from core.graph import source_path
from core.report import GraphBreak, Report
from pages.components import format as fmt
from pages.components import state
from pages.components.code_view import code_view
from pages.components.downloads import json_twin
from pages.components.glossary import GLOSSARY
from pages.components.header import require_report
from pages.components.launch import submit
from pages.components.sources import line_in, user_code
from pages.components.text import code, plain, prose

REGISTRY = "https://meta-pytorch.github.io/compile-graph-break-site/gb"


def one_break(number: int, found: GraphBreak, report: Report) -> None:
    """Torch's reason, explanation and hints for one break, and how often it was met."""
    line = line_in(found, source_path(report)) or found.line
    with st.container(border=True):
        st.markdown(f"**{number}. {plain(found.reason)}**")
        met = ", ".join(f"[{item}]" for item in dict.fromkeys(found.compilations))
        st.caption(f"line {line} · met {fmt.count(len(found.compilations), 'time')}, in {plain(met)}")
        st.markdown(code(found.code) or "The line was not recorded.")
        if found.explanation:
            st.markdown(prose(found.explanation))
        for hint in found.hints:
            st.markdown(f"- {prose(hint, 600)}")
        if found.registry_id[2:].isdigit():
            st.markdown(f"[{found.registry_id} in PyTorch's registry]({REGISTRY}/{found.registry_id.lower()}.html)")
        with st.expander("User stack"):
            for frame in found.stack:
                st.text(f"{frame.file}:{frame.line} in {frame.name}\n    {frame.text}")


def no_break(report: Report) -> str:
    """What it means that no break was recorded."""
    failed = sum(item.status == "failed" for item in report.compilations)
    if failed:
        return f"No graph break, but {fmt.count(failed, 'compilation')} failed."
    if not report.compilations:
        return "No frame was compiled, so none could break."
    return "No graph break: Dynamo captured every frame whole."


here, report = require_report("Where Dynamo stops tracing will stand here, on your own lines.")
breaks = report.graph_breaks
times = sum(len(found.compilations) for found in breaks)
if not breaks:
    st.title(no_break(report), anchor=False)
else:
    st.title(
        f"{fmt.count(len(breaks), 'place')} where Dynamo stopped, {fmt.count(times, 'time')} in all.",
        anchor=False,
        help=GLOSSARY["graph break"],
    )

job = here.run.job() if here.status.kind == "run" else None
twin = next((item.twin for item in samples() if job and job.model.value == item.name), None)
with st.container(horizontal=True):
    if twin and breaks and st.button("Compile the repaired twin", icon=":material/healing:", type="primary"):
        submit(CompileJob(Model("sample", twin)))
    json_twin("graph_breaks", breaks, key="breaks")

left, right = st.columns([1, 1], gap="medium")
with left:
    picture = user_code(here, report, breaks=breaks)
    if picture is not None:
        state.select(code_view(picture, key="breaks-code", height=620, selected=state.selected()))
    else:
        st.write("The log does not hold the code" + ("; the breaks beside name its lines." if breaks else "."))
with right:
    for number, found in enumerate(breaks, 1):
        one_break(number, found, report)
