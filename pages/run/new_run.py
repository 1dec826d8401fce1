"""New run page: a sample, custom code, a trace log, or a recorded run."""

import streamlit as st

from core import samples
from core.views import header, setup
from pages.gate.addresses import MISSING
from pages.look.text import plain
from pages.parts.run.launch import (
    CODE,
    LOG,
    TABS,
    asked_again,
    card,
    code_form,
    log_form,
    opened_once,
    recorded_form,
    sample_form,
    tab_title,
    torch_is_starting,
)
from pages.session import server, url
from pages.session.header import page_title
from pages.session.runs import last_runs

page_title("What does torch.compile do to your model?")
if missing := url.asked(MISSING):
    st.warning(header.missing_page(missing), icon=":material/explore_off:")
found = server.environment()
doctor = setup.DoctorView(server.runner().store.home, found)
if doctor.compiler_problem:
    st.error(plain(doctor.compiler_problem), icon=":material/build:")
# Reserve this position, so that the tabs keep their place and selection when torch has started.
with st.empty():
    if found is None:
        torch_is_starting("You can fill in the form now.")
    elif doctor.start_problem:
        st.error(doctor.start_problem, icon=":material/error:")

start = asked_again()
of_sample = start is None or start.job.model.kind == "sample"
chosen = start.job.model.value if start is not None and of_sample else url.asked(url.SAMPLE)
tabs = ["Samples", CODE, LOG, *filter(None, [tab_title()])]
sample_tab, code_tab, log_tab, *recorded_tab = st.tabs(tabs, default=tabs[not of_sample], key=TABS, on_change="rerun")
with sample_tab:
    picked = next((item for item in samples() if item.name == chosen), None)
    if picked is not None:
        sample_form(picked, found, start if of_sample else None)
    shown = [item for item in samples() if not item.name.endswith("_repaired")]
    last = last_runs(item.name for item in shown)
    with st.grid(min_column_width=260):
        for item in shown:
            card(item, last.get(item.name))
# The other forms are larger than the gallery, so each is drawn only after it was first opened.
with code_tab:
    if opened_once(code_tab, CODE):
        code_form(found, None if of_sample else start)
with log_tab:
    if opened_once(log_tab, LOG):
        log_form()
for tab in recorded_tab:
    with tab:
        if opened_once(tab, tabs[-1]):
            recorded_form()
