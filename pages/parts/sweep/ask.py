"""The form that makes a sweep of a job: the presets as cards, and custom axes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod

import streamlit as st

from core import CompileJob, Environment, JobError
from core.base import words as fmt
from core.job.options import AXES
from core.sweep import Axis, check_backends, new_sweep, parse_axes
from core.sweep.presets import PRESETS, Plan, Preset
from pages.gate.visitor import may_bring_code
from pages.look.sizes import MAX_CHARS
from pages.look.text import code
from pages.session import actions, server
from pages.session.actions import attempt, passed_over
from pages.session.runs import last_took_s
from pages.session.sweeps import show_sweep

EXAMPLE = "backend=eager,aot_eager,inductor\nbatch=1,2,4,…,64"
FIELDS = ", ".join(map(code, AXES))
HELP = (
    "One axis a line, `field=value,value`; every combination is a cell. Fields: "
    f"{FIELDS}, `batch`, `inputs.0.1` (dimension 1 of argument 0), `options.NAME` (Inductor), `dynamo.NAME`. "
    "An ellipsis goes on from the numbers before it."
)
# A sweep of more runs needs a confirmation.
CONFIRMED_ABOVE = 10
# The backends for visitors of a server that does not run their code.
OPEN_BACKENDS = ("inductor", "eager", "aot_eager")


def preset_cards(base: CompileJob) -> None:
    """Draw each preset as a card with its question, its cost, and a button that starts it for a job."""
    each_s = last_took_s(base)
    with st.grid(min_column_width=250):
        for preset in PRESETS.values():
            with st.container(border=True, key=f"preset-{preset.name}", gap="small", height="stretch"):
                st.markdown(f"**{preset.title}**")
                st.caption(preset.question)
                with st.container(horizontal=True, vertical_alignment="center"):
                    if st.button("Ask", key=f"ask-{preset.name}", icon=":material/play_arrow:", help=preset.question):
                        ask(preset, base)
                    st.caption(_planned_runs(preset, base, each_s))


def preset_menu(base: CompileJob | None, key: str) -> None:
    """Draw the presets as a menu, for a page with little room; nothing for a job that may not run again."""
    if base is None:
        return
    with st.popover("Ask of this model…", icon=":material/apps:"):
        st.caption("Many runs, one question.")
        each_s = last_took_s(base)
        for preset in PRESETS.values():
            with st.container(horizontal=True, vertical_alignment="center"):
                if st.button(preset.title, key=f"{key}-{preset.name}", type="tertiary"):
                    ask(preset, base)
                st.caption(_planned_runs(preset, base, each_s))


def ask(preset: Preset, base: CompileJob) -> None:
    """Start a preset's sweep and go to it, or show why not; a sweep of many runs asks for confirmation."""
    plan = attempt(lambda: planned(preset, base))
    if plan is None:
        return
    if _cells(plan) > CONFIRMED_ABOVE:
        _confirm(preset, plan, base)
    else:
        _start(plan.base, plan.axes, preset.name, _title(preset, base))


@st.dialog("Start so many runs?")
def _confirm(preset: Preset, plan: Plan, base: CompileJob) -> None:
    st.markdown(f"**{preset.title}**: {_runs(plan, last_took_s(base))}, one after the other on a device.")
    if st.button(f"Start {fmt.count(_cells(plan), 'run')}", key="confirm-sweep", type="primary"):
        _start(plan.base, plan.axes, preset.name, _title(preset, base))


def _title(preset: Preset, base: CompileJob) -> str:
    return f"{preset.title}: {base.title()}"


def planned(preset: Preset, base: CompileJob) -> Plan:
    """Return a preset's plan for a job here; before torch has started, with the facts known without it."""
    here = server.environment() or Environment()
    return preset.plan(_alone(base), here if may_bring_code() else replace(here, backends=OPEN_BACKENDS))


def _alone(base: CompileJob) -> CompileJob:
    """Return a job as the start of a sweep: without a fix and without its sweep."""
    return server.runner().limits.fitted(replace(base, repairs=(), repairs_of="", sweep=""))


def _cells(plan: Plan) -> int:
    return prod(len(axis.values) for axis in plan.axes)


def _planned_runs(preset: Preset, base: CompileJob, each_s: float | None) -> str:
    """Describe how many runs a preset makes; empty if the job's calls cannot be read, which its own field reports."""
    plan = attempt(lambda: planned(preset, base), passed_over)
    return "" if plan is None else _runs(plan, each_s)


def _runs(plan: Plan, each_s: float | None) -> str:
    """Describe how many runs a plan's axes make, the axes, and the total time if each run takes `each_s` seconds."""
    fields = [axis.field for axis in plan.axes if axis.field != "variant"]
    over = f" over {', '.join(map(code, fields))}" if fields else ""
    return f"{fmt.count(_cells(plan), 'run')}{over}{_taking(_cells(plan), each_s)}"


def _taking(runs: int, each_s: float | None) -> str:
    return "" if each_s is None else f", about {fmt.duration_s(round(runs * each_s))} by the last run"


def _start(base: CompileJob, axes: tuple[Axis, ...], preset: str, title: str) -> None:
    started = attempt(lambda: actions.start_sweep(new_sweep(base, axes, preset, title)))
    if started is not None:
        show_sweep(started.id)


def own_axes(base: CompileJob) -> None:
    """Draw fields for custom axes, the number of cells, and the button that starts them."""
    typed = st.text_area(
        "Axes",
        key="axes",
        placeholder=EXAMPLE,
        help=HELP,
        height=110,
        max_chars=MAX_CHARS,
        label_visibility="collapsed",
    )
    lines = [line for line in typed.splitlines() if line.strip()]
    if not lines:
        st.caption(f"One axis a line, such as {code(EXAMPLE.splitlines()[0])} or {code(EXAMPLE.splitlines()[1])}.")
        return
    axes = attempt(lambda: _read(base, lines))
    if axes is None:
        return
    total = attempt(lambda: _counted(base, axes))
    if total is None:
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        if st.button("Start", key="start-own", type="primary", icon=":material/play_arrow:"):
            _start(_alone(base), axes, "", "")
        taking = _taking(total, last_took_s(base))
        st.caption(f"{fmt.count(total, 'cell')}, each an ordinary run; one after the other on a device{taking}.")


def _read(base: CompileJob, lines: Sequence[str]) -> tuple[Axis, ...]:
    """Return the typed axes.

    Raises JobError if one names a backend that is not here, or a file that this visitor may not run.
    """
    axes = parse_axes(lines)
    named = [value for axis in axes if axis.field == "backend" for value in axis.values]
    if not may_bring_code() and any(".py" in str(value) for value in named):
        raise JobError("axis backend", "a backend is one of those that torch has here, and no file")
    known = (server.environment() or Environment()).backends
    if named:
        check_backends(base, axes, known)
    return axes


def _counted(base: CompileJob, axes: tuple[Axis, ...]) -> int:
    """Count the cells that the axes make of a job; raises JobError."""
    return prod(len(axis.values) for axis in new_sweep(base, axes).axes)
