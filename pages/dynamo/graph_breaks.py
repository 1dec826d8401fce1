"""Graph breaks: where Dynamo stopped, on the user's own lines, each distinct break once."""

from collections.abc import Mapping, Sequence

import streamlit as st

from core import CompileJob, Model, samples
from core.analysis import Failure, failure_counts, failures
from core.graph import source_path
from core.report import GraphBreak, Report
from pages.components.code.view import code_view
from pages.look import format as fmt
from pages.look.glossary import GLOSSARY
from pages.look.text import code, plain, prose
from pages.parts.code import line_in, user_code
from pages.parts.run.submit import submit
from pages.session import url
from pages.session.downloads import json_twin
from pages.session.require import require_report

REGISTRY = "https://meta-pytorch.github.io/compile-graph-break-site/gb"


def one_break(number: int, found: GraphBreak, report: Report, given_up: Mapping[str, str]) -> None:
    """Torch's reason, explanation and hints for one break, how often it was met, and whether it cost the whole frame."""
    line = line_in(found, source_path(report)) or found.line
    with st.container(border=True):
        st.markdown(f"**{number}. {plain(found.reason)}**")
        met = ", ".join(f"[{item}]" for item in dict.fromkeys(found.compilations))
        st.caption(f"line {line} · met {fmt.count(len(found.compilations), 'time')}, in {plain(met)}")
        for item in dict.fromkeys(found.compilations):
            if item in given_up:
                words = f"\\[{plain(item)}\\] {code(given_up[item])}: Dynamo gave up, this frame runs eagerly."
                st.warning(words, icon=":material/block:")
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


def eager_frames(found: Sequence[Failure]) -> None:
    """The frames that run eagerly although no graph break says so, such as those over the recompile limit."""
    for failure in found:
        with st.container(border=True):
            st.markdown(f"**\\[{plain(failure.compilation)}\\] {code(failure.frame)}: {prose(failure.reason)}**")
            st.caption(f"{plain(failure.place)} · {failure.consequence}")


def title(report: Report, found: Sequence[Failure]) -> str:
    """Places first, then how often they were met, and what was not compiled at all."""
    rest = ", ".join(failure_counts(found).values())
    breaks = report.graph_breaks
    if breaks:
        times = sum(len(item.compilations) for item in breaks)
        head = f"{fmt.count(len(breaks), 'place')} where Dynamo stopped, met {fmt.count(times, 'time')}"
        return f"{head}; {rest}." if rest else f"{head}."
    if rest:
        return f"No graph break, but {rest}."
    if not report.compilations:
        return "No frame was compiled, so none could break."
    return "No graph break: Dynamo captured every frame whole."


here, report = require_report("Where Dynamo stops tracing will stand here, on your own lines.")
breaks = report.graph_breaks
not_compiled = failures(report)
given_up = {failure.compilation: failure.frame for failure in not_compiled if failure.kind == "given up"}
st.title(title(report, not_compiled), anchor=False, help=GLOSSARY["graph break"] if breaks else None)

job = here.job
twin = next((item.twin for item in samples() if job and job.model.value == item.name), None)
with st.container(horizontal=True):
    if twin and breaks and st.button("Compile the repaired twin", icon=":material/healing:", type="primary"):
        submit(CompileJob(Model("sample", twin)))
    json_twin("graph_breaks", breaks, key="breaks")

left, right = st.columns([1, 1], gap="medium")
with left:
    picture = user_code(here, report, breaks=breaks)
    if picture is not None:
        url.select(code_view(picture, key="breaks-code", height=620, selected=url.selected()))
    else:
        st.write("The log does not hold the code" + ("; the breaks beside name its lines." if breaks else "."))
with right:
    for number, found in enumerate(breaks, 1):
        one_break(number, found, report, given_up)
    named = {item for found in breaks for item in found.compilations}
    eager_frames([item for item in not_compiled if item.kind != "failed" and item.compilation not in named])
