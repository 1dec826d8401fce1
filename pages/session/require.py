"""Page without a report: its purpose, the reason why there is no report, and how to get one."""

import time
from collections.abc import Callable

import streamlit as st

from core import NO_RECORD, Run
from core.base import words as fmt
from core.report import Compilation, Report
from core.views import progress
from core.views.fusion import fusion_schedules
from pages import menu
from pages.gate.rules import Visitor
from pages.gate.visitor import who
from pages.look.text import LONGEST_TEXT, plain, prose
from pages.session import server, url
from pages.session.header import page_title
from pages.session.shown import RunView, ShownRun, View, open_shown, shown_compilation, shown_run
from pages.session.url import PAGE, state_of

FOLLOW_S = 1.0
Ready = Callable[[Report, Compilation | None], object]
# Page → the data that it needs while the run is live; without the data, it waits until all is compiled.
READY: dict[str, Ready] = {
    menu.GRAPH_BREAKS.name: lambda report, _: report.graph_breaks,
    menu.GUARDS.name: lambda _, compilation: compilation and compilation.guards,
    menu.RECOMPILES.name: lambda report, _: report.recompiles,
    menu.FX_GRAPH.name: lambda _, compilation: compilation and compilation.graphs,
    menu.CAPTURES.name: lambda report, _: report.captures,
    menu.PASSES.name: lambda _, compilation: compilation and compilation.passes,
    menu.PARTITION.name: lambda _, compilation: compilation and compilation.partitions,
    menu.FUSION.name: lambda _, compilation: compilation and fusion_schedules(compilation),
    menu.KERNELS.name: lambda _, compilation: compilation and compilation.kernels,
    menu.BACKEND.name: lambda _, compilation: compilation and compilation.invocations,
    menu.ACCELERATOR.name: lambda _, compilation: compilation and compilation.pipelines,
    menu.COMPILE_TIME.name: lambda report, _: report.phases,
    menu.NUMERICS.name: lambda report, _: report.call_numerics,
    menu.AOTINDUCTOR.name: lambda report, _: report.exports,
    menu.NEIGHBOURS.name: lambda report, _: report.neighbours,
}
# Pages that need data which is written at the end of the run.
AT_THE_END = (menu.KERNEL.name, menu.TARGETS.name, menu.COMPARE.name)


def skeleton() -> None:
    """Draw the outline of a page whose content is still to come."""
    st.html('<div class="to-come" aria-hidden="true"><i></i><i></i><i></i></div>')


def empty(what: str) -> None:
    """Draw the page before there is a run: its purpose, and how to get a run."""
    st.header(what)
    st.write("Choose an earlier run above, or make one.")
    st.page_link(menu.NEW_RUN.script, label=menu.NEW_RUN.title, icon=menu.NEW_RUN.icon)


def require_report(what: str) -> RunView:
    """Return the shown run with its report; if there is none, show why and stop the page."""
    here = shown_run()
    if here is None:
        empty(what)
        st.stop()
    if here.going:
        follow(here)
    if here.report is None or here.is_no_trace or not _is_ready(here, here.report):
        _without_report(here, what)
        st.stop()
    return RunView(here, here.report)


def _is_ready(shown: ShownRun, report: Report) -> bool:
    """Return True if the current page can already show something of a live run."""
    page = state_of(PAGE, "")
    if not shown.going:
        return True
    if shown.is_followed:
        # What others record has no end that a page could wait for.
        return True
    if page in AT_THE_END or (page == menu.SPEEDUP.name and shown.job is not None and shown.job.measure):
        return False
    ready = READY.get(page)
    return shown.stands or ready is None or bool(ready(report, shown_compilation(report)))


def follow(shown: ShownRun, every_s: float = FOLLOW_S) -> None:
    """Show the current step of a live run, and rerun the page when there is new data."""
    drawn_s = time.monotonic()

    @st.fragment(run_every=every_s)
    def polling() -> None:
        now = open_shown(shown.run.id)
        changed = now is None or now.moment != shown.moment or not now.going
        if now is None or (changed and time.monotonic() - drawn_s > every_s / 2):
            st.rerun()
        st.caption(f":material/hourglass_top: {still_to_come(now)}")

    polling()


def still_to_come(shown: ShownRun) -> str:
    """Describe the current step of a live run in one line."""
    if shown.is_followed:
        return plain(progress.followed_words(shown.run, shown.report, time.time()))
    if shown.status.state == "queued":
        return plain(progress.waiting_words(server.runner().waits_for(shown.run)))
    words = plain(shown.progress.words) or "the run has not started"
    sentence = f"{words[:1].upper()}{words[1:]}…"
    return (
        f"{sentence} The verdict is final; measuring continues."
        if shown.stands
        else f"{sentence} The page shows what is recorded so far."
    )


def require_view(what: str) -> View | None:
    """Return the shown compilation, or None; stop the page if the run has no report."""
    view = require_report(what)
    compilation = shown_compilation(view.report)
    return view.of(compilation) if compilation is not None else None


def _without_report(shown: ShownRun, what: str) -> None:
    if shown.fetch is not None:
        wait_for_files(shown.run, shown.fetch)
        return
    if shown.reading:
        wait_for_reading(shown.run)
        return
    st.header(what)
    if shown.going:
        st.write("Not recorded yet; this page updates itself.")
        skeleton()
    else:
        nothing = prose(NO_RECORD) if shown.is_no_trace else "The run recorded nothing."
        st.error(plain(shown.problem or shown.status.reason, LONGEST_TEXT) or nothing)
    st.page_link(menu.OVERVIEW.script, label=menu.OVERVIEW.title, icon=menu.OVERVIEW.icon, query_params=url.link())


def wait_for_files(run: Run, fetch: progress.Fetch) -> None:
    """Show a run's summary, and that its files come back from the archive, or why not."""
    page_title("This run is in the archive")
    if kept := fetch.stored_words:
        st.write(plain(kept, LONGEST_TEXT))
    _wait_for_files(run, fetch)


@st.fragment(run_every=1.0)
def _wait_for_files(run: Run, fetch: progress.Fetch) -> None:
    if not progress.Fetch.is_needed(run) or fetch.is_over:
        st.rerun()
    if fetch.problem:
        # The address of the archive is the owner's to know.
        problem = fetch.problem if who().kind is Visitor.OWNER else "the archive does not give its files back now"
        st.error(plain(f"{problem[:1].upper()}{problem[1:]}", LONGEST_TEXT), icon=":material/cloud_off:")
        st.caption("It is tried again in half a minute.")
        return
    st.progress(fetch.part, fetch.words)


@st.fragment(run_every=1.0)
def wait_for_reading(run: Run) -> None:
    """Show that another process reads a large log, and rerun the page when it is done."""
    here = open_shown(run.id)
    if here is None or not here.reading:
        st.rerun()
    log = run.log_path()
    size = fmt.bytes_(log.stat().st_size if log else None)
    outline = progress.outline_view(run)
    if outline is None:
        page_title("Reading the log…")
        st.write(f"{size}, read once, in a separate process.")
        skeleton()
        return
    page_title(outline.title)
    if outline.failure:
        st.error(outline.failure)
    st.caption(f"Reading the log of {size}. {outline.note}")
    st.dataframe(list(outline.rows), hide_index=True)
