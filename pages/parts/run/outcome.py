"""Outcome of a run: progress while it is live, then findings, end, output, and records of the log.

`live_run` draws the progress until the verdict is final; `measured_yet` then draws it in one line.
"""

import time
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from typing import Any
from urllib.parse import urlencode

import streamlit as st

from core import NO_RECORD, Run
from core.report import Report
from core.views import fixes, progress, sharing
from core.views import overview as views
from core.views.run_files import RunFiles
from pages import menu
from pages.components.boxes.view import Chip, chips
from pages.components.code.view import code_view
from pages.components.progress.view import progress_view
from pages.gate.visitor import ANOTHERS, who
from pages.look.palette import SHORT, TALL
from pages.look.text import plain, prose
from pages.parts.code import source_text, user_code
from pages.parts.run.submit import job_again, job_to_change, missing_device, open_recorded, recorded_as, submit_or_open
from pages.session import actions, server, url
from pages.session.actions import attempt, toasted
from pages.session.downloads import download, scrub_choice, scrubbed_download
from pages.session.header import page_title
from pages.session.require import skeleton
from pages.session.server import cached
from pages.session.shown import RunView, ShownRun, open_shown
from pages.session.tables import newly_picked_row
from pages.session.url import go_to, pressed

# Number of lines that are shown without scrolling.
SHOWN_WHOLE = 8


def outcome(shown: ShownRun, ending: views.OutcomeView) -> None:
    """Draw how a run ended: bisection, error with folded traceback, reason, and the worker's last output."""
    if ending.is_no_trace:
        st.error(prose(NO_RECORD), icon=":material/error:")
    if ending.origin:
        st.caption(ending.origin)
    if shown.going:
        return
    if ending.bisection:
        st.info(ending.bisection, icon=":material/troubleshoot:")
    if ending.minified:
        st.info(ending.minified, icon=":material/compress:")
    if ending.script:
        _minified(shown, ending)
    if shown.status.state != "done" and shown.problem:
        st.error(plain(shown.problem), icon=":material/error:")
    if ending.error:
        st.error(ending.error, icon=":material/error:")
        with st.expander("Full traceback"):
            st.code(ending.traceback, language="pytb", height=SHORT)
    if shown.status.state != "done":
        _end_without_results(shown, ending)


def _end_without_results(shown: ShownRun, ending: views.OutcomeView) -> None:
    """Draw why a run did not complete, and the worker's last output."""
    if not ending.error and ending.ended_by_choice:
        st.info(ending.recorded_before, icon=":material/info:")
    elif not ending.error:
        st.error(ending.reason, icon=":material/error:")
    if ending.crash:
        st.error(ending.crash, icon=":material/memory:")
    tail = shown.run.output_tail()
    if tail:
        alone = not (ending.error or ending.crash or (shown.report is not None and shown.report.kinds))
        with st.expander("Last output of the worker", expanded=alone):
            st.code(tail, language=None, height=SHORT if tail.count("\n") > SHOWN_WHOLE else "content")


def _minified(shown: ShownRun, ending: views.OutcomeView) -> None:
    """Draw the minified script, with its download and a button that runs it."""
    with st.expander("Minified script", icon=":material/description:"):
        st.code(ending.script, language="python", height=SHORT)
        with st.container(horizontal=True):
            download("Download", ending.script, "minified.py", "text/x-python")
            job = job_again(shown)
            if job is not None and pressed("Run it", icon=":material/play_arrow:", key="run-minified"):
                submit_or_open(ending.minified_job(job))


def failure_part(view: RunView, overview: views.OverviewView, failure: progress.FailureView) -> None:
    """Draw a failure with its folded traceback; torch's reason is drawn unless a finding shows it."""
    if not overview.has_card(failure):
        icon = ":material/error:" if failure.failed else ":material/block:"
        (st.error if failure.failed else st.warning)(failure.text, icon=icon)
    text = failure.compilation.error_text if failure.compilation is not None else None
    with st.expander(failure.traceback_title):
        st.code(view.text(text) if text is not None else failure.message, language="pytb", height=SHORT)


def heavy_compilations(overview: views.OverviewView) -> None:
    """Draw the heaviest compilations; a click opens a compilation's graph."""
    entry = newly_picked_row(overview.heavy, width="stretch")
    if entry is not None:
        go_to(menu.FX_GRAPH, url.link(**{url.COMPILATION: entry.id}))


def model_code(view: RunView, overview: views.OverviewView) -> None:
    """Draw the compiled code, with graph breaks marked."""
    picture = user_code(view, breaks=view.report.graph_breaks, error=view.report.error)
    st.header("The script" if view.report.script else "The model", anchor=False)
    if picture is None:
        st.write(overview.missing_code)
        return
    if overview.guilty_line and url.selected() is None:
        url.put(url.ITEM, overview.guilty_line)
    code_view(picture, key="overview-code", height=TALL, selected=url.selected())


def report_issue(shown: ShownRun) -> None:
    """Offer a bug report as Markdown and as a ZIP; draw nothing if the job may not run again here."""
    if job_again(shown) is None:
        return
    files = RunFiles(shown.run)
    with st.popover("Report an issue", icon=":material/bug_report:", help=files.issue_help):
        scrubber = scrub_choice("issue", shown.run)
        if scrubber is None:
            return
        scrubbed_download(
            "Markdown",
            lambda: files.issue_markdown(scrubber),
            scrubber,
            name="issue.md",
            mime="text/markdown",
            key=f"issue-markdown-{shown.run.id}",
        )
        scrubbed_download(
            "ZIP with script, model, job and trace",
            lambda: files.issue_zip(scrubber),
            scrubber,
            name="issue.zip",
            mime="application/zip",
            key=f"issue-zip-{shown.run.id}",
        )


def share(shown: ShownRun) -> None:
    """Draw the owner's link for visitors without a role, and buttons to make or withdraw it."""
    run = shown.run
    if not who().owns(shown.status.by):
        return
    with st.popover("Share", icon=":material/link:", help=sharing.LINK_HELP):
        chips([Chip(sharing.COPY_LINK, copies=True)], key="copy-link", on_pick=lambda _: None)
        st.caption(sharing.PLAIN_LINK)
        st.code(f"{st.context.url}?{urlencode(url.link())}", language=None, wrap_lines=True)
        token = sharing.preview_token(run)
        if run.audience() == "private":
            st.caption(sharing.PRIVATE_LINK)
            return
        if not token:
            st.caption(sharing.NO_TOKEN)
            _button("Make a link with a token", run, allowed=True)
            return
        st.code(f"{st.context.url}?{urlencode({url.RUN: run.id, url.PREVIEW: token})}", language=None, wrap_lines=True)
        st.caption(sharing.WITH_TOKEN)
        _button("Withdraw the link", run, allowed=False)


def _button(label: str, run: Run, allowed: bool) -> None:
    st.button(label, key="share", on_click=lambda: attempt(lambda: actions.set_preview(run, allowed), toasted))


ICONS = {"wrong": ":material/error:", "cost": ":material/hourglass_empty:", "note": ":material/info:"}
# Maximum size of a run's output file, which has the first megabyte of the output, and its end.
MOST_OUTPUT_BYTES = 1_200_000  #: a run's output on *Overview*


def overview_view(view: RunView) -> views.OverviewView:
    """Return the overview of a run, its output included."""
    output, shown = view.run.output_tail(MOST_OUTPUT_BYTES), fixes.trials_of(view.run).proofs
    source, outcomes = source_text(view), tuple(f"{proof.key} {proof.outcome}" for proof in shown)
    return _overview(view.run.id, view.report.log_bytes, len(output), outcomes, view.report, output, source, shown)


@cached()
def _overview(
    run_id: str,
    log_bytes: int,
    output_bytes: int,
    outcomes: tuple[str, ...],
    _report: Report,
    _output: str,
    _source: str,
    _proofs: Sequence[Any],
) -> views.OverviewView:
    return views.OverviewView(_report, _output, _source, tuple(_proofs))


def finding_card(view: RunView, shown: views.FindingView, number: int) -> None:
    """Draw a finding: title, reason, advice, a link to its page, and a button that tries the change."""
    with st.container(border=True, key=f"finding-{number}", gap="small"):
        st.markdown(f"{ICONS[shown.finding.weight]} **{shown.title}**")
        st.caption(shown.reason)
        with st.expander(fixes.WITHOUT_EFFECT) if shown.is_idle else nullcontext():
            st.markdown(f":material/lightbulb: {shown.advice}")
            if shown.tried:
                st.markdown(shown.tried)
        with st.container(horizontal=True, vertical_alignment="center"):
            _evidence_link(shown)
            if shown.help and not shown.is_idle:
                _try(view, shown, number)


def _evidence_link(shown: views.FindingView) -> None:
    page = menu.PAGES[shown.finding.page]
    if page is menu.OVERVIEW:
        return
    query = {url.COMPILATION: shown.finding.compilation, url.SELECT: shown.finding.item}
    link = url.link(**{name: value for name, value in query.items() if value})
    st.page_link(page.script, label=page.title, icon=page.icon, query_params=link)


def _try(view: RunView, shown: views.FindingView, number: int) -> None:
    """Offer to run the job with the finding's change.

    If the device is missing here, offer the recorded run of that job. Draw nothing if the job may not run again.
    """
    job = job_to_change(view)
    if job is None:
        return
    proposed, missing = shown.job(job), missing_device(job)
    recorded = recorded_as(proposed) if missing else None
    if recorded is not None:
        if pressed("Open the recorded run", key=f"try-{number}", icon=":material/history:", help=recorded.words):
            open_recorded(recorded)
    elif missing:
        st.caption(shown.missing_device(missing))
    elif pressed("Try it", key=f"try-{number}", icon=":material/play_arrow:", help=shown.help):
        submit_or_open(replace(proposed, repairs_of=view.run.id) if proposed.repairs != job.repairs else proposed)


def evidence_line(line: progress.Evidence) -> None:
    """Draw a link to a page with a result, which says the result."""
    page = menu.PAGES[line.page]
    st.page_link(page.script, label=line.text, icon=page.icon, query_params=url.link(), width="stretch")


POLL_S = 0.25
# A followed log redraws the whole page.
FOLLOW_S = 2.0
LAST_CHARS, LAST_RECORDS = 4_000, 8


@st.fragment(run_every=POLL_S)
def live_run(shown: ShownRun, last_s: float | None = None) -> None:
    """Poll a run until its verdict is final or the run has ended without a verdict, then rerun the page.

    Also reruns the page when the run starts, since the header shows its state. `last_s` are the seconds of the model's
    last run, None without one.
    """
    here = open_shown(shown.run.id)
    if here is None or here.stands or bool(here.progress.steps) != bool(shown.progress.steps):
        st.rerun()
    page_title(live_headline(here))
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(_counts(here, last_s))
        cancel_button(here)
    progress_view(here.progress, key="live-progress", live=True)
    skeleton()
    _logged(here)
    _printed(here.run)


@st.fragment(run_every=2 * POLL_S)
def measured_yet(run: Run) -> None:
    """Show how far the measurements after the final verdict are; rerun the page when the run ends."""
    here = open_shown(run.id)
    if here is None or not here.going:
        st.rerun()
    with st.container(horizontal=True, vertical_alignment="center", key="measuring"):
        st.caption(f":material/timer: {progress.measuring_words(plain(here.progress.words))}")
        cancel_button(here)


def followed_log(shown: ShownRun) -> None:
    """Show how much of a followed log was read, as it grows, and a button that stops following."""
    drawn_s, ranks = time.monotonic(), shown.run.ranks()

    @st.fragment(run_every=FOLLOW_S)
    def polling() -> None:
        here = open_shown(shown.run.id)
        changed = here is None or not here.going or here.moment != shown.moment or here.run.ranks() != ranks
        if here is None or (changed and time.monotonic() - drawn_s > FOLLOW_S / 2):
            st.rerun()
        with st.container(horizontal=True, vertical_alignment="center", key="following"):
            st.caption(f":material/sensors: {plain(progress.followed_words(here.run, here.report, time.time()))}")
            if not here.status.in_process:
                cancel_button(here)

    polling()


def cancel_button(shown: ShownRun) -> None:
    """Draw the button that cancels the run; it is disabled for visitors who do not own the run."""
    own = who().owns(shown.status.by)
    st.button(
        "Stop following" if shown.is_followed else "Cancel",
        icon=":material/stop_circle:" if shown.is_followed else ":material/cancel:",
        key="cancel",
        on_click=actions.cancel,
        args=(shown.run,),
        disabled=not own,
        help=None if own else ANOTHERS,
    )


def _logged(shown: ShownRun) -> None:
    """Draw the newest messages of torch's log, if the job records it."""
    if shown.report is None or not shown.report.logs:
        return
    st.caption("Torch's log")
    view = RunView(shown, shown.report)
    newest = "\n".join(view.text(part.text) for part in shown.report.logs[-LAST_RECORDS:])
    st.code(newest[-LAST_CHARS:], language=None, height=SHORT)


def _printed(run: Run) -> None:
    tail = run.output_tail(LAST_CHARS)
    if tail:
        st.caption("Output of the model")
        st.code(tail, language=None, height=SHORT)


def live_headline(shown: ShownRun) -> str:
    """Return the current step of a live run, or the reason why a queued run waits."""
    if shown.status.state == "queued":
        return plain(progress.waiting_words(server.runner().waits_for(shown.run)))
    return progress.live_words(plain(shown.progress.words))


def _counts(shown: ShownRun, last_s: float | None) -> str:
    elapsed_s = max(0.0, time.time() - (shown.status.started_s or shown.status.created_s))
    return progress.count_words(shown.progress, elapsed_s, last_s)
