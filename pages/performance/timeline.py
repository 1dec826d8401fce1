"""Timeline page: a profile by torch.profiler, its slices joined to kernels, and idle time by cause."""

import streamlit as st

from core.views import timeline as views
from core.views.glossary import GLOSSARY
from pages.parts.performance.charts import add_profile, idle_table, kernel_table, open_timeline, timeline
from pages.parts.run.submit import record_profile
from pages.session.header import page_title
from pages.session.require import require_report

view = require_report("A profile of the run will stand here.")
profile = open_timeline(view)
if profile is None:
    page_title(views.NO_PROFILE, help=GLOSSARY["profile"])
    if reason := views.failed_profile_text(view.report):
        st.warning(reason)
    st.write(views.HOW)
    record_profile(view)
    add_profile(view)
    st.stop()

page_title(profile.title, help=GLOSSARY["profile"])
if profile.problems:
    st.warning(profile.problems)
timeline(view, profile)
left, right = st.columns([3, 2], gap="medium")
with left:
    st.header("Kernels", anchor=False)
    kernel_table(profile)
with right:
    st.header("Idle time", anchor=False)
    idle_table(profile.idle_rows)
    st.caption(profile.idle_note)
    with st.expander("Another profile"):
        add_profile(view)
