"""What if one option were another: the shown run's job with it changed, made and compared with the shown run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import streamlit as st

from core import MODES, STANCES, TARGETS, CompileJob, CompileOptions, Environment, options_as_text, options_from_text
from pages.gate.visitor import may_bring_code
from pages.parts.run.fields import Form
from pages.parts.run.options import DTYPES, DYNAMIC
from pages.parts.run.submit import job_again, run_of
from pages.session import server, url
from pages.session.attempt import attempt
from pages.session.shown import Shown
from pages.session.view import RunView

Alternatives = dict[str, CompileJob]
THREADS = (1, 2, 4, 8, 16, 32)
BATCHES = (1, 2, 8, 32, 128, 512)
HELP = (
    "The same job with one option changed is run, unless it was run before, and compared with the shown run, which "
    "stays on the left."
)
OTHER_OPTIONS = "options"


def what_if(of: Shown | RunView) -> None:
    """Offer to change one option; nothing for a log from elsewhere and for code that may not run here."""
    job = job_again(of)
    if job is None:
        return
    with st.popover("What if…", icon=":material/alt_route:", help=HELP):
        name = st.selectbox("Option", [*OPTIONS, OTHER_OPTIONS], key="what-if-option")
        changed = _typed(job) if name == OTHER_OPTIONS else _chosen(job, name)
        if st.button("Run and compare", type="primary", key="what-if-run", disabled=changed is None) and changed:
            _compare_with(changed)


def _chosen(job: CompileJob, name: str) -> CompileJob | None:
    offered = {label: other for label, other in OPTIONS[name](job).items() if other != job}
    value = st.selectbox("Instead", list(offered), key=f"what-if-{name}")
    return offered.get(value or "")


def _typed(job: CompileJob) -> CompileJob | None:
    """Options of Inductor's, as they are typed on the page New run."""
    text = st.text_input(
        "Inductor options",
        options_as_text(job.compile.options or {}),
        key="what-if-options",
        placeholder="epilogue_fusion=False, max_autotune=True",
    )
    options = attempt(lambda: options_from_text(text)) if text else None
    changed = _compiled(job, options=options, mode=None if options else job.compile.mode)
    return changed if changed != job else None


def _compare_with(job: CompileJob) -> None:
    """Have it on the right: a finished run of the very same job, or a new one."""
    run = run_of(job)
    if run is not None:
        url.put(url.OTHER, run.id)
        st.rerun()


def _compiled(job: CompileJob, **fields: object) -> CompileJob:
    return replace(job, compile=replace(job.compile, **fields))  # type: ignore[arg-type]


def _modes(job: CompileJob) -> Alternatives:
    plain = CompileOptions().mode
    return {
        mode: _compiled(
            job, mode=plain if mode == MODES[0] else mode, options=None, backend="inductor", backend_code=""
        )
        for mode in MODES
    }


def _backends(job: CompileJob) -> Alternatives:
    names = Form(server.environment() or Environment(), job, server.runner().limits, may_bring_code()).backends
    return {
        name: _compiled(job, backend=name, backend_code="", mode=None, options=None)
        if name != "inductor"
        else _compiled(job, backend=name, backend_code="")
        for name in names
    }


def _targets(job: CompileJob) -> Alternatives:
    here = {"the device of this machine": replace(job, target="")}
    return here | {target.title: replace(job, target=key, device="cpu") for key, target in TARGETS.items()}


def _conditions(job: CompileJob, **fields: object) -> CompileJob:
    return replace(job, conditions=replace(job.conditions, **fields))  # type: ignore[arg-type]


OPTIONS: dict[str, Callable[[CompileJob], Alternatives]] = {
    "mode": _modes,
    "dynamic": lambda job: {word: _compiled(job, dynamic=value) for word, value in DYNAMIC.items()},
    "backend": _backends,
    "fullgraph": lambda job: {str(value): _compiled(job, fullgraph=value) for value in (True, False)},
    "dtype": lambda job: {name: replace(job, dtype=None if name == DTYPES[0] else name) for name in DTYPES},
    "training": lambda job: {"training": replace(job, training=True), "inference": replace(job, training=False)},
    "generated for": _targets,
    "threads": lambda job: {str(number): _conditions(job, threads=number) for number in THREADS},
    "batch": lambda job: {str(size): replace(job, sizes={**job.sizes, "batch": size}) for size in BATCHES},
    "stance": lambda job: {name: _conditions(job, stance=name) for name in STANCES},
    "measured": lambda job: {str(value): replace(job, measure=value) for value in (True, False)},
}
