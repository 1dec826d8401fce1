"""Link of a run that previews in chats and code hosts, for everybody who has it."""

from __future__ import annotations

from urllib.parse import urlencode

import streamlit as st

from core import Run
from core.views import card
from pages.gate.visitor import who
from pages.session import actions, url
from pages.session.actions import attempt, toasted
from pages.session.shown import ShownRun

WORDS = (
    "Whoever has this link sees the title, the verdict and the picture of the graph, without signing in; nothing else."
)


def share(shown: ShownRun) -> None:
    """Draw the run's link, and the choice whether it previews for visitors without a role; for its author alone."""
    run = shown.run
    if not who().owns(shown.status.by):
        return
    with st.popover("Share", icon=":material/link:", help="A link that shows title, verdict and picture in a chat"):
        token = card.preview_token(run)
        if run.audience() == "private":
            st.caption("The run is private, so its links show nothing. *Runs* › *Seen by* changes that.")
            return
        if not token:
            st.caption(
                "A link shows a preview to those who may open the run. A link with a token shows it to everybody."
            )
            _button("Make a link with a token", run, allowed=True)
            return
        st.code(f"{st.context.url}?{urlencode({url.RUN: run.id, url.PREVIEW: token})}", language=None, wrap_lines=True)
        st.caption(WORDS)
        _button("Withdraw the link", run, allowed=False)


def _button(label: str, run: Run, allowed: bool) -> None:
    st.button(label, key="share", on_click=lambda: attempt(lambda: actions.set_preview(run, allowed), toasted))
