"""Compare page: any two runs or logs compared, and what-if runs with one option changed."""

import streamlit as st

from core.views import compare as views
from pages.look.text import LONGEST_TEXT, plain
from pages.parts.compare.aspects import comparison_parts
from pages.parts.compare.runs import any_runs, choice, compare_view, newest_other, picked_other, what_if
from pages.parts.run.outcome import live_run, measured_yet
from pages.session.header import page_title
from pages.session.require import require_report
from pages.session.shown import RunView, open_shown, shown_compilation
from pages.session.tables import draw

view = require_report("This page compares two runs.")
names = any_runs(view)
if not names:
    page_title("There is no other run yet")
    st.write("Change one option of this run, and compare both.")
    what_if(view)
    st.stop()
other_id = picked_other(names, newest_other(view, names))
shown = open_shown(other_id) if other_id else None
if shown is None:
    page_title(views.CompareView.no_choice)
    choice(view, names)
    st.write("No other run of this model has ended. Choose a run of another model, or change one option of this run.")
    st.stop()
if shown.going and not shown.stands:
    choice(view, names)
    live_run(shown)
    st.stop()
if shown.report is None:
    page_title("The run on the right has recorded nothing to compare")
    choice(view, names)
    st.write(plain(shown.problem or shown.status.reason, LONGEST_TEXT) or "Choose another one.")
    st.stop()

right = RunView(shown, shown.report)
compare = compare_view(view, right)
compilation = shown_compilation(view.report)
compile_id = compilation.id if compilation else ""
parts = {views.CHOICE: lambda: choice(view, names, right), **comparison_parts(compare, compile_id, view, right)}
with st.container(key="compare-head", gap="small"):
    if shown.going:
        measured_yet(shown.run)
    draw(views.comparison_head(compare), parts)
draw([views.aspects(compare, compile_id)], parts)
