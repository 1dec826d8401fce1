"""From a job to a sweep: the presets as cards, and axes of one's own."""

from __future__ import annotations

from dataclasses import replace
from math import prod

import streamlit as st

from core import CompileJob, Environment
from core import words as fmt
from core.sweep import Axis, new_sweep, parse_axis
from core.sweep.presets import PRESETS, Plan, Preset
from pages.gate.visitor import may_bring_code
from pages.look.text import code
from pages.session import doors, server
from pages.session.attempt import attempt
from pages.session.sweeps import show_sweep

EXAMPLE = "backend=eager,aot_eager,inductor\nbatch=1,2,4,…,64"
HELP = (
    "One axis a line, `field=value,value`; every combination is a cell. Fields: `backend`, `mode`, `dynamic`, "
    "`fullgraph`, `dtype`, `training`, `device`, `threads`, `stance`, `caches`, `batch`, `inputs.0.1` (dimension 1 of "
    "argument 0), `options.NAME` (Inductor), `dynamo.NAME`, `calls`, `seed`. An ellipsis goes on from the "
    "numbers before it."
)
# What visitors of a server that does not run their code may choose.
OPEN_BACKENDS = ("inductor", "eager", "aot_eager")


def preset_cards(base: CompileJob) -> None:
    """Each question with a button that asks it of a job."""
    with st.grid(min_column_width=250):
        for preset in PRESETS.values():
            with st.container(border=True, key=f"preset-{preset.name}", gap="small", height="stretch"):
                st.markdown(f"**{preset.title}**")
                st.caption(preset.question)
                with st.container(horizontal=True, vertical_alignment="center"):
                    if st.button("Ask", key=f"ask-{preset.name}", icon=":material/play_arrow:", help=preset.question):
                        ask(preset, base)
                    st.caption(_runs(planned(preset, base)))


def preset_menu(base: CompileJob | None, key: str) -> None:
    """The same as a list that opens, for a page with little room; nothing for a job that may not be run again."""
    if base is None:
        return
    with st.popover("Ask of this model…", icon=":material/apps:", help="Many runs, one question: see the page Sweep"):
        for preset in PRESETS.values():
            if st.button(preset.title, key=f"{key}-{preset.name}", type="tertiary", help=preset.question):
                ask(preset, base)


def ask(preset: Preset, base: CompileJob) -> None:
    """Start a preset's sweep and go to it, or say why not."""
    plan = planned(preset, base)
    _start(plan.base, plan.axes, preset.name, f"{preset.title}: {base.title()}")


def planned(preset: Preset, base: CompileJob) -> Plan:
    """What a preset makes of a job here; before torch has started, of what is known without it."""
    here = server.environment() or Environment()
    return preset.plan(_alone(base), here if may_bring_code() else replace(here, backends=OPEN_BACKENDS))


def _alone(base: CompileJob) -> CompileJob:
    """A job as the beginning of others: no repair, no other sweep."""
    return server.runner().limits.fitted(replace(base, repairs=(), repairs_of="", sweep=""))


def _runs(plan: Plan) -> str:
    """How many runs the axes of a plan make, and over what."""
    fields = [axis.field for axis in plan.axes if axis.field != "variant"]
    over = f" over {', '.join(map(code, fields))}" if fields else ""
    return f"{fmt.count(prod(len(axis.values) for axis in plan.axes), 'run')}{over}"


def _start(base: CompileJob, axes: tuple[Axis, ...], preset: str, title: str) -> None:
    started = attempt(lambda: doors.start_sweep(new_sweep(base, axes, preset, title)))
    if started is not None:
        show_sweep(started.id)


def own_axes(base: CompileJob) -> None:
    """Axes as they are typed, how many cells they make, and the button that starts them."""
    typed = st.text_area("Axes", key="axes", placeholder=EXAMPLE, help=HELP, height=110, label_visibility="collapsed")
    lines = [line for line in typed.splitlines() if line.strip()]
    if not lines:
        st.caption(f"One axis a line, such as {code(EXAMPLE.splitlines()[0])} or {code(EXAMPLE.splitlines()[1])}.")
        return
    axes = attempt(lambda: tuple(map(parse_axis, lines)))
    if axes is None:
        return
    total = attempt(lambda: _counted(base, axes))
    if total is None:
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        if st.button("Start", key="start-own", type="primary", icon=":material/play_arrow:"):
            _start(_alone(base), axes, "", "")
        st.caption(f"{fmt.count(total, 'cell')}, each an ordinary run; one after the other on a device.")


def _counted(base: CompileJob, axes: tuple[Axis, ...]) -> int:
    """How many cells the axes make of a job; raises JobError."""
    return prod(len(axis.values) for axis in new_sweep(base, axes).axes)
