"""What-if: change one option of the shown run's job, run it, and compare the two runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import streamlit as st

from core import MODES, TARGETS, CompileJob, CompileOptions, Environment
from core.job.options import AXES, OPTIONS, Option
from core.sweep import AxisValue, applied, changed
from pages.gate.visitor import may_bring_code
from pages.look.sizes import MAX_CHARS
from pages.parts.run.fields import Form
from pages.parts.run.submit import job_again, run_of
from pages.session import server, url
from pages.session.actions import attempt
from pages.session.shown import RunView, ShownRun

Alternatives = dict[str, CompileJob]
HELP = (
    "The same job with one option changed is run, unless it was run before, and compared with the shown run, which "
    "stays on the left."
)
TYPED = "another field"
EXAMPLE = "options.epilogue_fusion=False\nbatch=64"
TYPED_NAMES = ", ".join(f"`{name}`" for name, option in AXES.items() if option.what_if is None)
TYPED_HELP = (
    "A field a line, as the page Sweep takes them: `options.NAME` (Inductor), `dynamo.NAME`, `inputs.0.1` (dimension 1 "
    f"of argument 0), `batch`, {TYPED_NAMES} …"
)


def what_if(of: ShownRun | RunView) -> None:
    """Offer to change one option; nothing for a log from elsewhere and for code that may not run here."""
    job = job_again(of)
    if job is None:
        return
    with st.popover("What if…", icon=":material/alt_route:", help=HELP):
        name = st.selectbox("Option", [*MENU, TYPED], key="what-if-option")
        other = _typed(job) if name == TYPED else _chosen(job, name)
        if st.button("Run and compare", type="primary", key="what-if-run", disabled=other is None) and other:
            _compare_with(other)


def _chosen(job: CompileJob, name: str) -> CompileJob | None:
    offered = {label: other for label, other in MENU[name](job).items() if not _same(other, job)}
    value = st.selectbox("Instead", list(offered), key=f"what-if-{name}")
    return offered.get(value or "")


def _typed(job: CompileJob) -> CompileJob | None:
    """Draw a field for options in the form of sweep axes; return the changed job.

    None if nothing valid is typed, or if the job stays the same.
    """
    typed = st.text_area(
        "Fields",
        key="what-if-fields",
        placeholder=EXAMPLE,
        help=TYPED_HELP,
        height=84,
        max_chars=MAX_CHARS,
        label_visibility="collapsed",
    )
    lines = [line for line in typed.splitlines() if line.strip()]
    other = attempt(lambda: changed(job, lines)) if lines else None
    return other if other is not None and not _same(other, job) else None


def _same(left: CompileJob, right: CompileJob) -> bool:
    """Return True if both jobs have the same settings, no matter if the file or the job sets them."""
    return replace(left, from_file=()) == replace(right, from_file=())


def _compare_with(job: CompileJob) -> None:
    """Show a run of the job on the right: a finished run of the very same job, or a new one."""
    run = run_of(job)
    if run is not None:
        url.put(url.OTHER, run.id)
        st.rerun()


def _each(field: str, values: Mapping[str, AxisValue]) -> Callable[[CompileJob], Alternatives]:
    """Return the job with each value of a field, by the value's label."""
    return lambda job: {word: applied(job, field, value) for word, value in values.items()}


def _compiled(job: CompileJob, **fields: object) -> CompileJob:
    return job.with_settings(**fields)


def _modes(job: CompileJob) -> Alternatives:
    """Return the job with each mode, on Inductor and without options: torch takes a mode or options, for
    Inductor only.
    """
    plain = _compiled(job, options=None, backend="inductor", backend_code="")
    torchs = CompileOptions().mode
    return {mode: applied(plain, "mode", torchs if mode == MODES[0] else mode) for mode in MODES}


def _backends(job: CompileJob) -> Alternatives:
    names = Form(server.environment() or Environment(), job, server.runner().limits, may_bring_code()).backends
    named = _compiled(job, backend_code="")
    plain = _compiled(named, mode=None, options=None)
    return {name: applied(named if name == "inductor" else plain, "backend", name) for name in names}


def _targets(job: CompileJob) -> Alternatives:
    here = {"the device of this machine": applied(job, "target", "")}
    on_cpu = replace(job, device="cpu")
    return here | {target.title: applied(on_cpu, "target", key) for key, target in TARGETS.items()}


# Options whose values hang on the server, or that take the place of others.
CUSTOM: dict[str, Callable[[CompileJob], Alternatives]] = {"mode": _modes, "backend": _backends, "target": _targets}


def _menu(options: Sequence[Option]) -> dict[str, Callable[[CompileJob], Alternatives]]:
    """The menu: the alternatives of each option that has an entry, by its label."""
    return {
        option.what_if.label: CUSTOM.get(option.name)
        or _each(option.what_if.field or option.name, option.alternatives())
        for option in options
        if option.what_if
    }


MENU = _menu(OPTIONS)
