"""A card of the gallery: a picture of the sample's own graph, what it teaches, and its last result."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from core import Sample, sentence, verdict
from core.store import Run
from pages.components import state

PICTURES = Path(__file__).parent.parent / "static" / "samples"


def card(item: Sample, picked: bool) -> None:
    """One sample; the button picks it, a result opens its run."""
    with st.container(border=True, key=f"card-{item.name}", gap="small"):
        picture = PICTURES / f"{item.name}.svg"
        if picture.exists():
            st.image(str(picture), width="stretch")
        st.markdown(f"**{item.title}**")
        st.caption(item.teaches)
        last = _last_run(item.name)
        if last is not None:
            st.page_link(
                "run/overview.py", label=_result(last), icon=":material/history:", query_params={state.RUN: last.id}
            )
        if st.button("Chosen" if picked else "Choose", key=f"pick-{item.name}", disabled=picked, width="stretch"):
            st.query_params["sample"] = item.name
            st.rerun()


def _last_run(name: str) -> Run | None:
    found = state.runner().store.list()
    return next((run for run, status in found if status.title == name and status.state == "done"), None)


@st.cache_data(max_entries=200, show_spinner=False)
def _sentence(run_id: str) -> str:
    here = state.open_shown(run_id)
    return sentence(verdict(here.report)) if here and here.report else "last result"


def _result(run: Run) -> str:
    return _sentence(run.id)
