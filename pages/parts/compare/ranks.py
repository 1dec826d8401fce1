"""Ranks of a run: the groups, the first difference with its cause, and tables by compilation."""

from __future__ import annotations

import subprocess

import pandas as pd
import streamlit as st

from core.base import words as fmt
from core.views import ranks as rank_views
from pages.look.palette import TALL
from pages.look.text import LONGEST_LINE, one_line
from pages.parts.code import diff_view
from pages.session import url
from pages.session.server import cached
from pages.session.shown import RunView
from pages.session.tables import in_words, shown
from pages.session.uploads import downloads, json_twin

MARK = "background-color: rgba(204, 140, 20, 0.2)"
PHASE_FORMS = {"median": fmt.duration_s, "slowest": fmt.duration_s, "slowest over median": fmt.ratio}
TABLES = {
    "compilations": "Compilations",
    "caches": "Caches",
    "collectives": "Collectives",
    "tensors": "Tensors and estimates",
    "seconds": "Seconds by phase",
}


def ranks_view(view: RunView, run_ranks: rank_views.RunRanks) -> rank_views.RanksView | None:
    """Return the ranks in groups; None while another process reads their logs."""
    key = (view.run.path.name, len(run_ranks.ranks))
    if not run_ranks.is_quick and _reader(key, run_ranks).poll() is None:
        return None
    return _ranks(key, view, run_ranks)


@cached("Comparing the ranks")
def _ranks(key: tuple[str, int], _view: RunView, _run_ranks: rank_views.RunRanks) -> rank_views.RanksView:
    return _run_ranks.view()


@cached()
def _reader(key: tuple[str, int], _run_ranks: rank_views.RunRanks) -> subprocess.Popen[bytes]:
    return _run_ranks.start_reading()


@st.fragment(run_every=1.0)
def wait_for_ranks(view: RunView, run_ranks: rank_views.RunRanks) -> None:
    """Show how many logs another process has read, and rerun the page when it is done."""
    if ranks_view(view, run_ranks) is not None:
        st.rerun()
    st.title(run_ranks.reading, anchor=False)
    read, words = run_ranks.progress
    st.progress(read, text=words)


def groups(ranks: rank_views.RanksView) -> rank_views.DifferenceView | None:
    """Let the visitor pick one of the groups that differ; None if there is none. The choice is in the URL."""
    views = {str(view.group.rank): view for view in ranks.differences}
    if not views:
        return None
    if len(views) == 1:
        return next(iter(views.values()))
    url.read(url.GROUP, views, next(iter(views)))
    chosen = st.selectbox(
        "Group",
        list(views),
        key=url.GROUP,
        format_func=lambda rank: one_line(views[rank].label, LONGEST_LINE) if rank in views else rank,
        label_visibility="collapsed",
        width=420,
    )
    url.write(url.GROUP)
    return views[chosen]


def first_difference(view: rank_views.DifferenceView) -> None:
    """Draw where a group first differs from the largest: the line, both texts, the forecast and the advice."""
    st.markdown(view.sentence)
    if view.line:
        st.markdown(view.line)
    if view.alone:
        st.caption(view.alone)
    left, right = view.texts
    if left or right:
        for column, name, text in zip(st.columns(2), view.names, (left, right), strict=True):
            with column:
                st.caption(name)
                st.code(text or "–", language=None, wrap_lines=True)
    if view.forecast:
        st.warning(view.forecast, icon=":material/hourglass_bottom:")
    for sentence, code in view.advice:
        st.markdown(sentence)
        if code:
            st.code(code, language="python")


def both_texts(view: rank_views.DifferenceView) -> None:
    """Draw the difference of the two whole texts, folded."""
    if view.diff:
        with st.expander("Both texts", icon=":material/difference:"):
            diff_view(view.diff_title, view.diff, key=f"ranks-diff-{view.group.rank}")


def table(ranks: rank_views.RanksView) -> None:
    """Draw the groups, and a table of the visitor's choice with a column for each group."""
    if len(ranks.group_rows) > 1:
        st.header("Groups", anchor=False)
        rows = in_words(pd.DataFrame(ranks.group_rows), {"number": fmt.number, "group": fmt.number})
        shown(rows, ranks.group_rows, height=TALL, key="ranks-groups")
    url.read(url.RANK_TABLE, TABLES, "compilations")
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        chosen = st.segmented_control(
            "Table", list(TABLES), key=url.RANK_TABLE, format_func=TABLES.__getitem__, label_visibility="collapsed"
        )
        with downloads():
            json_twin("ranks", lambda: ranks.data, key="ranks")
    url.write(url.RANK_TABLE)
    match chosen:
        case "caches":
            _marked(ranks.cache_rows, ranks.no_caches)
        case "collectives":
            _marked(ranks.collective_rows, ranks.no_collectives)
            st.caption(ranks.collectives_note)
        case "tensors":
            _marked(ranks.tensor_rows, ranks.no_tensors)
            st.markdown(ranks.execution)
        case "seconds":
            _seconds(ranks)
        case _:
            _marked(ranks.compilation_rows, ranks.no_compilations)
    if ranks.left_out:
        st.caption(ranks.left_out)


def _marked(rows: list[dict[str, object]], nothing: str) -> None:
    """Draw a table whose rows with a difference are marked."""
    if not rows:
        st.write(nothing)
        return
    frame = pd.DataFrame(rows)
    marked = frame.style.map(lambda value: MARK if value == "≠" else "", subset=["≠"])
    shown(marked, rows, height=TALL, key="ranks-table")


def _seconds(ranks: rank_views.RanksView) -> None:
    """Draw the median and the slowest rank of each phase."""
    if not ranks.phase_rows:
        st.write(ranks.no_phases)
        return
    st.dataframe(
        in_words(pd.DataFrame(ranks.phase_rows), PHASE_FORMS), hide_index=True, height="content", key="ranks-seconds"
    )
    st.caption(ranks.phases_note)
