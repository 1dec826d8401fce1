"""What a page shows before there is a report: what would be here, why it is not, and how to get it."""

from __future__ import annotations

import streamlit as st

from core import NO_RECORD, Run
from core import words as fmt
from pages import menu
from pages.look.text import LONGEST_TEXT, plain, prose
from pages.session import url
from pages.session.shown import Shown, open_shown, shown_compilation, shown_run
from pages.session.view import RunView, View


def empty(what: str) -> None:
    """The state of a page before there is a run: what would be here, and how to get it."""
    st.subheader(what)
    st.write("Choose an earlier run above, or make one.")
    st.page_link(menu.NEW_RUN.script, label=menu.NEW_RUN.title, icon=menu.NEW_RUN.icon)


def require_report(what: str) -> RunView:
    """The shown run with its report; a page that cannot go on says why and stops."""
    here = shown_run()
    if here is None:
        empty(what)
        st.stop()
    if here.report is None or here.is_no_trace:
        _without_report(here, what)
        st.stop()
    return RunView(here, here.report)


def require_view(what: str) -> View | None:
    """The shown compilation; None if the run compiled nothing."""
    view = require_report(what)
    compilation = shown_compilation(view.report)
    return view.of(compilation) if compilation is not None else None


def _without_report(here: Shown, what: str) -> None:
    if here.reading:
        wait_for_reading(here.run)
        return
    st.subheader(what)
    if here.status.live:
        st.info("The run is still going. Its progress is on the overview.", icon=":material/hourglass_top:")
    else:
        nothing = prose(NO_RECORD) if here.is_no_trace else "The run recorded nothing."
        st.error(plain(here.problem or here.status.reason, LONGEST_TEXT) or nothing)
    st.page_link(menu.OVERVIEW.script, label=menu.OVERVIEW.title, icon=menu.OVERVIEW.icon, query_params=url.link())


@st.fragment(run_every=1.0)
def wait_for_reading(run: Run) -> None:
    """While another process reads a large log: say so, and go on once it has."""
    here = open_shown(run.id)
    if here is None or not here.reading:
        st.rerun()
    log = run.log_path()
    st.title("Reading the log…", anchor=False)
    st.write(f"It has {fmt.bytes_(log.stat().st_size if log else None)}; this is done once, in a process of its own.")
