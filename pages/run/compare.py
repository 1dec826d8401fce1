"""Compare page: any two runs or logs compared, and what-if runs with one option changed."""

import streamlit as st

from core.analysis.comparison import comparison_data, comparison_sentence
from pages import menu
from pages.look.text import LONGEST_TEXT, plain
from pages.parts.compare.aspects import (
    ASPECTS,
    BREAKS,
    GRAPHS,
    GUARDS,
    KERNELS,
    OF_ONE,
    PHASES,
    SOURCE,
    SPEED,
    SUMMARY,
    aspect_label,
)
from pages.parts.compare.compared import compared_runs, pair_of, side_of_pair
from pages.parts.compare.graphs import graphs
from pages.parts.compare.kernels import kernel_pairs
from pages.parts.compare.lists import breaks_and_recompiles, guards
from pages.parts.compare.phases import phases
from pages.parts.compare.runs import any_runs, newest_other, pick_other
from pages.parts.compare.speed import times
from pages.parts.compare.summary import source, summary
from pages.parts.compare.what_if import what_if
from pages.parts.run.live import live_run, measured_yet
from pages.parts.run.measure import measure_again
from pages.session import url
from pages.session.downloads import downloads, json_twin
from pages.session.require import require_report
from pages.session.shown import open_shown, shown_compilation
from pages.session.view import RunView

view = require_report("Two runs beside each other will stand here.")
names = any_runs(view)
if not names:
    st.title("There is no other run yet.", anchor=False)
    st.write("Change one option of this run's job, and the two are compared.")
    what_if(view)
    st.stop()

head = st.container(key="compare-head", gap="small")
title = head.container(gap=None, key="compare-title")
with head.container(horizontal=True, vertical_alignment="center", gap="small"):
    st.markdown("**Right**", width="content")
    other_id = pick_other(names, newest_other(view, names))
    if other_id:
        swapped = {url.RUN: other_id, url.OTHER: view.run.id}
        st.page_link(menu.COMPARE.script, label="Swap", icon=":material/swap_horiz:", query_params=swapped)
    what_if(view)
shown = open_shown(other_id) if other_id else None
if shown is None:
    title.title("Which run is it compared with?", anchor=False)
    st.write("No other run of this model has ended; choose one of another, or change one option of this run's job.")
    st.stop()
if shown.going and not shown.stands:
    live_run(shown)
    st.stop()
if shown.report is None:
    title.title("The run on the right has recorded nothing to compare.", anchor=False)
    st.write(plain(shown.problem or shown.status.reason, LONGEST_TEXT) or "Choose another one.")
    st.stop()
if shown.going:
    measured_yet(shown.run)

there = RunView(shown, shown.report)
found = compared_runs(view, there)
title.title(plain(comparison_sentence(found), LONGEST_TEXT), anchor=False)
compilation = shown_compilation(view.report)
pair = pair_of(found, compilation.id) if compilation is not None else None
url.read(url.ASPECT, ASPECTS, SUMMARY)
with head.container(horizontal=True, vertical_alignment="center", gap="small"):
    aspect = st.segmented_control(
        "Aspect",
        list(ASPECTS),
        key=url.ASPECT,
        format_func=lambda name: aspect_label(name, found, pair),
        label_visibility="collapsed",
    )
    with downloads():
        json_twin("comparison", lambda: comparison_data(found), key="compare")
    measure_again(view, there)
url.write(url.ASPECT)
here = side_of_pair(view, pair.left) if pair is not None else None
other = side_of_pair(there, pair.right) if pair is not None else None
if aspect in OF_ONE and (pair is None or here is None or other is None):
    st.write("No compilation of one run has a counterpart in the other: there is nothing to hold side by side.")
    st.stop()
if aspect in OF_ONE and compilation is not None and pair is not None and pair.left != compilation.id:
    st.caption(f"\\[{compilation.id}\\] has no counterpart in the run on the right; \\[{pair.left}\\] has.")
if aspect == SOURCE:
    source(found)
elif aspect == GRAPHS and pair and here and other:
    graphs(pair, here, other)
elif aspect == KERNELS and pair and here and other:
    kernel_pairs(here, other)
elif aspect == GUARDS and pair:
    guards(pair)
elif aspect == BREAKS:
    breaks_and_recompiles(found)
elif aspect == PHASES:
    phases(found, view, there)
elif aspect == SPEED:
    times(found, view, there)
else:
    summary(found)
