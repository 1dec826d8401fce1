"""Compare page: any two runs or logs compared, and what-if runs with one option changed."""

import streamlit as st

from core.views.compare import CompareView
from pages import menu
from pages.look.text import LONGEST_TEXT, plain
from pages.parts.comments.comments import compared_comments
from pages.parts.compare.aspects import (
    breaks_and_recompiles,
    graphs,
    guards,
    kernel_pairs,
    phases,
    source,
    summary,
    times,
)
from pages.parts.compare.runs import any_runs, compare_view, kernel_pairs_view, newest_other, pick_other, what_if
from pages.parts.run.outcome import live_run, measured_yet
from pages.parts.run.submit import measure_again
from pages.session import url
from pages.session.downloads import comparison_download, downloads, json_twin
from pages.session.header import page_title
from pages.session.require import require_report
from pages.session.shown import RunView, open_shown, shown_compilation

view = require_report("Two runs beside each other will stand here.")
names = any_runs(view)
if not names:
    page_title("There is no other run yet")
    st.write("Change one option of this run, and compare both.")
    what_if(view)
    st.stop()

head = st.container(key="compare-head", gap="small")
title = head.container(gap=None, key="compare-title")
choice = head.container(horizontal=True, vertical_alignment="center", gap="small")
with choice:
    st.markdown("**Right**", width="content")
    other_id = pick_other(names, newest_other(view, names))
    if other_id:
        swapped = {url.RUN: other_id, url.OTHER: view.run.id}
        st.page_link(menu.COMPARE.script, label="Swap", icon=":material/swap_horiz:", query_params=swapped)
    what_if(view)
shown = open_shown(other_id) if other_id else None
if shown is None:
    page_title(CompareView.no_choice, place=title)
    st.write("No other run of this model has ended. Choose a run of another model, or change one option of this run.")
    st.stop()
if shown.going and not shown.stands:
    live_run(shown)
    st.stop()
if shown.report is None:
    page_title("The run on the right has recorded nothing to compare", place=title)
    st.write(plain(shown.problem or shown.status.reason, LONGEST_TEXT) or "Choose another one.")
    st.stop()
if shown.going:
    measured_yet(shown.run)

right = RunView(shown, shown.report)
compare = compare_view(view, right)
page_title(compare.title, place=title)
if compare.nodes_warning:
    st.warning(compare.nodes_warning, icon=":material/lan:")
compilation = shown_compilation(view.report)
pair = compare.pair(compilation.id) if compilation is not None else None
labels = compare.aspects(pair)
url.read(url.ASPECT, labels, "summary")
with head.container(horizontal=True, vertical_alignment="center", gap="small"):
    aspect = st.segmented_control(
        "Aspect",
        list(labels),
        key=url.ASPECT,
        format_func=lambda name: labels.get(name, name),
        label_visibility="collapsed",
    )
    with downloads():
        json_twin("comparison", lambda: compare.data, key="compare")
    measure_again(view, right)
with choice:
    comparison_download(view.run, right.run)
url.write(url.ASPECT)
if pair is None and aspect in ("graphs", "kernels", "guards"):
    st.write("Nothing to compare: no compilation of one run matches one of the other.")
    st.stop()
if pair is not None and aspect in ("graphs", "kernels", "guards") and compilation and pair.left != compilation.id:
    st.caption(pair.no_match(compilation.id))
match aspect:
    case "source":
        source(compare)
    case "graphs" if pair:
        graphs(pair, view, right)
    case "kernels" if pair:
        kernels = kernel_pairs_view(view, pair.left, right, pair.right)
        if kernels is not None:
            kernel_pairs(kernels, f"targets-{pair.left}-{right.run.id}")
    case "guards" if pair:
        guards(pair)
    case "breaks and recompiles":
        breaks_and_recompiles(compare)
    case "compile time":
        phases(compare, (view.run.id, view.report.log_bytes, right.run.id, right.report.log_bytes))
    case "speed":
        times(compare, view, right)
    case _:
        summary(compare)
        compared_comments(view.shown, right.shown)
