"""A form to package a run's model: the dynamic dimensions and their bounds."""

from __future__ import annotations

import streamlit as st

from core import BATCH, CompileJob, DynamicDim, tensor_sizes
from core.base import words as fmt
from core.views.aotinductor import PackageRequest
from pages import menu
from pages.look.text import code
from pages.parts.run.submit import job_again, submit_or_open
from pages.session.actions import attempt, passed_over
from pages.session.shown import RunView

MOST_OFFERED = 60
MOST_SIZE = 2**40
FORM_PX = 620
HELP = (
    "Input dimensions that are dynamic in the package, each a `torch.export.Dim` with bounds. `batch` is dimension 0 "
    "of every tensor whose dimension 0 has the same size as that of the first tensor."
)
BOUND_HELP = "Empty: torch's default bound. Torch reports a bound that the model narrows."


def ask_for_package(view: RunView, label: str) -> None:
    """Offer to package the run's model, and show the command line; draw nothing if the job may not run here."""
    job = job_again(view)
    if job is None or job.target:
        return
    request = PackageRequest(job, _dims(view, job))
    with st.container(horizontal=True, vertical_alignment="center"):
        if st.button(label, key="package-model", type="primary", icon=menu.AOTINDUCTOR.icon):
            submit_or_open(request.job)
        st.caption(request.caption)
    st.caption("From a terminal, with the C++ program and its build files in a folder:")
    st.code(request.command, language=None, wrap_lines=True)


def _dims(view: RunView, job: CompileJob) -> tuple[DynamicDim, ...]:
    """Return the chosen dimensions, each with its bounds."""
    sizes = _offered(view)
    before = {dim.at: dim for dim in (job.aoti.dims if job.aoti else ())}
    names = list(dict.fromkeys([*before, BATCH, *sizes]))
    chosen = st.multiselect(
        "Dynamic dimensions",
        names,
        [name for name in names if name in before],
        lambda name: f"{name} (now {fmt.number(sizes[name])})" if name in sizes else name,
        key="package-dims",
        help=HELP,
        placeholder="every size is fixed",
        width=FORM_PX,
    )
    return tuple(_bounded(name, before.get(name, DynamicDim(name))) for name in chosen)


def _offered(view: RunView) -> dict[str, int]:
    """Return the dimensions of the first call's tensors; empty if its inputs were not recorded as a call's text."""
    first = next(iter(view.report.calls), None)
    sizes = attempt(lambda: tensor_sizes(first.inputs), passed_over) if first else None
    if not sizes:
        return {}
    return {BATCH: next(iter(sizes.values())), **dict(list(sizes.items())[:MOST_OFFERED])}


def _bounded(name: str, before: DynamicDim) -> DynamicDim:
    """Return a dimension with the typed bounds; an empty field means torch's own bound."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"{code(name)} from", width=130)
        least = _bound("at least", name, before.least)
        st.markdown("to", width=20)
        most = _bound("at most", name, before.most)
    return DynamicDim(name, least, most)


def _bound(label: str, name: str, before: int | None) -> int | None:
    found = st.number_input(
        label,
        0,
        MOST_SIZE,
        before,
        key=f"package-{label}-{name}",
        placeholder=label,
        help=BOUND_HELP,
        label_visibility="collapsed",
        width=150,
    )
    return None if found is None else int(found)
