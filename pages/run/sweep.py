"""Sweep page: one sweep with its answer, or the presets and custom axes to start a sweep."""

import streamlit as st

from core.views.sweep import SweepQuestions
from pages.parts.run.submit import job_again
from pages.parts.sweep.sweeps import job_to_vary, own_axes, preset_cards, sweep, sweeps_so_far
from pages.session.header import page_title
from pages.session.runs import open_sweep, shown_sweep
from pages.session.shown import shown_run

wanted = shown_sweep()
here = open_sweep(wanted) if wanted else None
if wanted and here is None:
    st.warning("There is no such sweep here; it may have been deleted.", icon=":material/search_off:")
if here is not None:
    sweep(here)
    st.stop()

page_title("Run a job with several options, and compare")
shown = shown_run()
job = job_again(shown) if shown is not None else None
base = job_to_vary(job, shown.job if shown is not None else None)
if shown is not None and job is None:
    st.caption(SweepQuestions.not_repeatable)
preset_cards(base)
with st.expander("Axes of your own", icon=":material/tune:"):
    own_axes(base)
sweeps_so_far()
