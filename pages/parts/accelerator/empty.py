"""The Accelerator page without a graph: the reason, and how to get one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import streamlit as st

from core import CompileJob, Environment
from core.views.accelerator import AcceleratorOptions, AcceleratorView
from pages.look.text import LONGEST_MESSAGE, plain, prose
from pages.parts.accelerator.change import run_beside
from pages.parts.run.submit import job_again, submit_or_open
from pages.session import server
from pages.session.view import RunView

WHAT = (
    "The backend `accelerator` takes AOTAutograd's graphs apart into segments that it has kernels for, builds each "
    "into a program, and runs that in a runtime in C++ behind a C ABI, which knows neither torch nor Python."
)
RUNS = "The same job on the CPU with `torch.compile(model, backend='accelerator')`"
# The first has its own kernels in Python.
WITHOUT_COMPILER = ("registry", "aot_eager", "eager")
ALWAYS = WITHOUT_COMPILER[1:]


def without_pipeline(view: RunView) -> None:
    """Draw the reason why there is no accelerator graph, and a button that makes one."""
    absence = AcceleratorView.absence(view.report, view.job)
    st.title(absence.title, anchor=False)
    st.write(WHAT)
    if absence.error:
        st.error(plain(absence.error, LONGEST_MESSAGE), icon=":material/error:")
    if absence.words:
        st.write(prose(absence.words))
    if not absence.elsewhere:
        _offer(view, absence.no_compiler)


def _offer(view: RunView, no_compiler: bool) -> None:
    """Offer the accelerator unless its compiler is missing; if it is or was missing, backends that need none."""
    job = job_again(view)
    if job is None:
        return
    environment = server.environment() or Environment()
    is_known = bool(environment.torch)
    lacks_compiler = no_compiler or (is_known and not environment.compiler)
    if lacks_compiler:
        st.write("The runtime needs a C++ compiler: install g++, or set `CXX`. Other backends need none.")
    with st.container(horizontal=True):
        if environment.compiler or not (is_known or no_compiler):
            label = "Run it again" if AcceleratorOptions.is_used(job) else "Run with the accelerator"
            if st.button(label, type="primary", key="accelerate", icon=":material/play_arrow:", help=RUNS):
                run_beside(AcceleratorOptions().applied(job), None)
        if lacks_compiler:
            _alternatives(job, environment.backends or ALWAYS)


def _alternatives(job: CompileJob, backends: Sequence[str]) -> None:
    """Draw a button for each available backend that needs no compiler; it runs the same job."""
    for name in WITHOUT_COMPILER:
        if name in backends and st.button(f"Run with {name}", key=f"instead-{name}"):
            chosen = job.with_settings(backend=name, backend_code="", mode=None, options=None)
            submit_or_open(replace(chosen, target=""))
