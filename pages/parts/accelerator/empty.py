"""The Accelerator page without a graph: the reason, and how to get one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import streamlit as st

from core import CompileJob, Environment
from core.report import Report
from pages.look.text import LONGEST_MESSAGE, plain
from pages.parts.accelerator.change import ACCELERATOR, accelerated, run_beside
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
NO_COMPILER = "builds its runtime with a C++ compiler"


def without_pipeline(of: RunView) -> None:
    """Draw the reason why there is no pipeline, and a button that makes one."""
    failed = _failed(of)
    st.title(f"The accelerator {'could not be used' if failed else 'was given no graph'}.", anchor=False)
    st.write(WHAT)
    others = [found.id for found in of.report.compilations if found.pipelines]
    if others:
        st.write(f"It was given those of {', '.join(f'[{plain(name)}]' for name in others[:8])}: choose one above.")
        return
    if failed:
        st.error(plain(failed, LONGEST_MESSAGE), icon=":material/error:")
    elif of.job is None:
        st.write("This log is from elsewhere; torch's own trace does not hold what a backend makes of a graph.")
    else:
        st.write(f"This run was made with `{plain(of.job.compile.backend)}`.")
    _offer(of, NO_COMPILER in failed)


def _failed(of: RunView) -> str:
    """Return the error that ended a run of the accelerator; empty if there is none."""
    job = of.job
    if job is None or job.compile.backend != ACCELERATOR:
        return ""
    return _message(of.report)


def _message(report: Report) -> str:
    said = report.error.message if report.error else ""
    return said or next((found.error for found in report.compilations if found.error), "")


def _offer(of: RunView, said_none: bool) -> None:
    """Offer the accelerator unless its compiler is missing; if it is or was missing, backends that need none."""
    job = job_again(of)
    if job is None:
        return
    here = server.environment() or Environment()
    known = bool(here.torch)
    if said_none or (known and not here.compiler):
        st.write("The runtime needs a C++ compiler: install g++, or set `CXX`. Other backends need none.")
    with st.container(horizontal=True):
        if here.compiler or not (known or said_none):
            label = "Run it again" if job.compile.backend == ACCELERATOR else "Run with the accelerator"
            if st.button(label, type="primary", key="accelerate", icon=":material/play_arrow:", help=RUNS):
                run_beside(accelerated(job), None)
        if said_none or (known and not here.compiler):
            _instead(job, here.backends or ALWAYS)


def _instead(job: CompileJob, backends: Sequence[str]) -> None:
    """Return the same job with each available backend that needs no compiler."""
    for name in WITHOUT_COMPILER:
        if name in backends and st.button(f"Run with {name}", key=f"instead-{name}"):
            chosen = job.with_settings(backend=name, backend_code="", mode=None, options=None)
            submit_or_open(replace(chosen, target=""))
