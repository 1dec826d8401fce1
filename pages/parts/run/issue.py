"""A bug report about a run that failed or differs, as a download."""

from __future__ import annotations

import streamlit as st

from core.views.run_files import RunFiles
from pages.parts.run.submit import job_again
from pages.session.shown import ShownRun

HELP = "A report in the form of PyTorch's issue template: what happened, a script, the error, the versions"


def report_issue(shown: ShownRun) -> None:
    """Offer a bug report as Markdown and as a ZIP with its files; draw nothing for an imported log."""
    if job_again(shown) is None:
        return
    files = RunFiles(shown.run)
    with st.popover("Report an issue", icon=":material/bug_report:", help=HELP):
        st.download_button(
            "Markdown",
            files.issue_markdown,
            "issue.md",
            "text/markdown",
            icon=":material/download:",
            on_click="ignore",
            key="issue-markdown",
        )
        st.download_button(
            "ZIP with script, model, job and trace",
            files.issue_zip,
            "issue.zip",
            "application/zip",
            icon=":material/download:",
            on_click="ignore",
            key="issue-zip",
        )
