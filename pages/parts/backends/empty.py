"""The page without a recorded call of a backend: the reason, the built-in backends, and the form for a custom one."""

from __future__ import annotations

import streamlit as st

from core import SHIPPED_BACKENDS
from core.analysis.backend import requested_backend
from core.report import Report
from pages import menu
from pages.look.text import code
from pages.parts.backends.write import run_with, write_backend
from pages.parts.run.own_backend import BackendChoice
from pages.parts.run.submit import job_again
from pages.session import url
from pages.session.view import RunView

INDUCTOR = "inductor"
CONTRACT = (
    "A backend is any callable `(gm, example_inputs)` that returns a callable. Dynamo captures a frame as a graph, "
    "gives it to the backend once, and from then on runs what came back at each call whose guards hold."
)


def why_nothing(report: Report) -> None:
    """Draw the reason why no backend was recorded, and where to look instead."""
    asked = requested_backend(report)
    st.write(CONTRACT)
    if asked == INDUCTOR:
        st.write("What Inductor was given is the Dynamo graph; what it made of it are kernels.")
        with st.container(horizontal=True):
            for page in (menu.FX_GRAPH, menu.KERNELS):
                st.page_link(page.script, label=page.title, icon=page.icon, query_params=url.link())
    elif not asked:
        st.write("The log holds no record of what the backend was given: Compileboard's worker writes it.")
    else:
        st.write(f"What {code(asked)} was given was not recorded, or it was given nothing.")


def offer_backends(view: RunView) -> None:
    """Offer the run's job with a built-in or a custom backend; nothing if the job may not run again."""
    job = job_again(view)
    if job is None:
        st.caption("This cannot be run again here: it came from elsewhere, or from code that may not be run here.")
        return
    st.header("Run it with a backend that ships", anchor=False)
    st.caption("Each is one file, to be read and changed.")
    with st.grid(min_column_width=200):
        for shipped in SHIPPED_BACKENDS.values():
            with st.container(border=True, gap="small", height="stretch"):
                st.markdown(f"**{code(shipped.name)}**")
                st.caption(f"{shipped.words[:1].upper()}{shipped.words[1:]}.")
                if st.button("Run it", key=f"with-{shipped.name}", icon=":material/play_arrow:"):
                    run_with(job, BackendChoice(shipped.name))
    write_backend(view, job)
