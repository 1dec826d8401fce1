"""Outcome of a run: its end, its compilations, its output, and the records of its log."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal
from urllib.parse import urlencode

import pandas as pd
import streamlit as st

from core import NO_RECORD, Run
from core.base import words as fmt
from core.views import card
from core.views.overview import OutcomeView, OverviewView
from core.views.run_files import RunFiles
from pages import menu
from pages.components.code.view import code_view
from pages.gate.visitor import who
from pages.look.palette import SHORT, TALL
from pages.look.text import plain, prose
from pages.parts.code import user_code
from pages.parts.run.submit import job_again, submit_or_open
from pages.session import actions, url
from pages.session.actions import attempt, toasted
from pages.session.shown import RunView, ShownRun
from pages.session.tables import in_words, newly_picked
from pages.session.uploads import scrub_choice
from pages.session.url import go_to, pressed

# Number of lines that are shown without scrolling.
SHOWN_WHOLE = 8
FORMS: dict[str, Callable[[Any], str]] = {
    "post-grad ops": fmt.number,
    "kernels": fmt.number,
    "compile time": fmt.duration_s,
}


def outcome(shown: ShownRun, ending: OutcomeView) -> None:
    """Draw why a run failed: the user's own lines first, the whole traceback folded."""
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
    if shown.status.state == "done":
        return
    if not ending.error and ending.ended_by_choice:
        st.info(ending.recorded_before, icon=":material/info:")
    elif not ending.error:
        st.error(ending.reason, icon=":material/error:")
    if ending.crash:
        st.error(ending.crash, icon=":material/memory:")
    tail = shown.run.output_tail()
    if tail:
        with st.expander("Last output of the worker", expanded=not ending.error):
            st.code(tail, language=None, height=SHORT if tail.count("\n") > SHOWN_WHOLE else "content")


def _minified(shown: ShownRun, ending: OutcomeView) -> None:
    """Draw the minified script, with its download and a run of it."""
    with st.expander("Minified script", icon=":material/description:"):
        st.code(ending.script, language="python", height=SHORT)
        with st.container(horizontal=True):
            st.download_button(
                "Download", ending.script, "minified.py", "text/x-python", icon=":material/download:", on_click="ignore"
            )
            job = job_again(shown)
            if job is not None and pressed("Run it", icon=":material/play_arrow:", key="run-minified"):
                submit_or_open(ending.minified_job(job))


def script_calls(view: RunView) -> None:
    """Draw the entry points of a script and their calls; nothing for a model."""
    script = OverviewView(view.report).script
    if script is None:
        return
    st.subheader("Script", anchor=False)
    st.markdown(f"{script.title} {script.note}")
    if script.entry_rows:
        st.dataframe(pd.DataFrame(script.entry_rows), hide_index=True, key="script-entries")
    if script.call_rows:
        height: int | Literal["content"] = SHORT if len(script.call_rows) > SHOWN_WHOLE else "content"
        st.dataframe(pd.DataFrame(script.call_rows), hide_index=True, height=height, key="script-calls")
    if script.left_out:
        st.caption(script.left_out)


def not_compiled(view: RunView, ending: OutcomeView) -> None:
    """Draw each failed compilation and each frame that runs eagerly, with torch's reason and its folded traceback."""
    for failure in ending.first_failures:
        if not ending.has_card(failure):
            icon = ":material/error:" if failure.failed else ":material/block:"
            (st.error if failure.failed else st.warning)(failure.text, icon=icon)
        text = failure.compilation.error_text if failure.compilation is not None else None
        with st.expander(failure.traceback_title):
            st.code(view.text(text) if text is not None else failure.message, language="pytb", height=SHORT)
    if ending.failures_left_out:
        st.caption(ending.failures_left_out)


def compilations(overview: OverviewView) -> None:
    """Draw the heaviest compilations; a click opens the graph, and a page shows all compilations."""
    st.header("Compilations", anchor=False)
    if overview.nothing_compiled:
        st.write(overview.nothing_compiled)
        return
    table = in_words(pd.DataFrame(list(overview.heaviest.values())), FORMS)
    compile_id = newly_picked(table, list(overview.heaviest), "compilations", width="stretch")
    if compile_id is not None:
        go_to(menu.FX_GRAPH, url.link(**{url.COMPILATION: compile_id}))
    page = menu.COMPILATIONS
    st.page_link(page.script, label=overview.all_compilations, icon=page.icon, query_params=url.link())


def model_code(view: RunView, overview: OverviewView) -> None:
    """Draw the compiled code, with graph breaks marked."""
    picture = user_code(view, breaks=view.report.graph_breaks, error=view.report.error)
    st.header("The script" if view.report.script else "The model", anchor=False)
    if picture is None:
        st.write(overview.missing_code)
        return
    code_view(picture, key="overview-code", height=TALL)


def printed(overview: OverviewView) -> None:
    """Draw each line of the output once, with its count; nothing for empty output."""
    lines = overview.first_output_lines
    if not lines:
        return
    with st.expander(overview.output_title):
        height: int | Literal["content"] = SHORT if len(lines) > SHOWN_WHOLE else "content"
        st.code("\n".join(lines), language=None, wrap_lines=True, height=height)
        if overview.output_left_out:
            st.caption(overview.output_left_out)


def what_was_read(overview: OverviewView) -> None:
    """Draw the parts of the log that the report uses: record kinds that are read, not read, and unreadable."""
    with st.expander(overview.log_title):
        for problem in overview.log_problems:
            st.warning(problem)
        rows = pd.DataFrame(overview.log_rows, columns=["kind", "records", "shown"])
        st.dataframe(rows, hide_index=True, height=SHORT)
        st.caption(overview.log_note)


def report_issue(shown: ShownRun) -> None:
    """Offer a bug report as Markdown and as a ZIP with its files; draw nothing for an imported log."""
    if job_again(shown) is None:
        return
    files = RunFiles(shown.run)
    with st.popover("Report an issue", icon=":material/bug_report:", help=files.issue_help):
        scrubber = scrub_choice("issue", shown.run)
        if scrubber is None:
            return
        st.download_button(
            "Markdown",
            lambda: files.issue_markdown(scrubber),
            "issue.md",
            "text/markdown",
            icon=":material/download:",
            on_click="ignore",
            key="issue-markdown",
        )
        st.download_button(
            "ZIP with script, model, job and trace",
            lambda: files.issue_zip(scrubber),
            "issue.zip",
            "application/zip",
            icon=":material/download:",
            on_click="ignore",
            key="issue-zip",
        )


def share(shown: ShownRun) -> None:
    """Draw the run's link, and the choice whether it previews for visitors without a role; for its author alone."""
    run = shown.run
    if not who().owns(shown.status.by):
        return
    with st.popover("Share", icon=":material/link:", help=card.HELP):
        token = card.preview_token(run)
        if run.audience() == "private":
            st.caption(card.PRIVATE)
            return
        if not token:
            st.caption(card.NO_TOKEN)
            _button("Make a link with a token", run, allowed=True)
            return
        st.code(f"{st.context.url}?{urlencode({url.RUN: run.id, url.PREVIEW: token})}", language=None, wrap_lines=True)
        st.caption(card.WITH_TOKEN)
        _button("Withdraw the link", run, allowed=False)


def _button(label: str, run: Run, allowed: bool) -> None:
    st.button(label, key="share", on_click=lambda: attempt(lambda: actions.set_preview(run, allowed), toasted))
