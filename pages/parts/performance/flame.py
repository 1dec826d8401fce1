"""Flame chart of torch's phases, links of a phase, and columns of the table of phases."""

from __future__ import annotations

from typing import Any

import streamlit as st

from core.base import words as fmt
from core.views.compile_time import CompileTimeView
from pages import menu
from pages.components.flame.view import (
    MOST_SPANS,
    FlameLegend,
    FlameName,
    FlameOwner,
    FlamePicture,
    FlameSpan,
    flame,
)
from pages.look.palette import PHASES
from pages.session import url
from pages.session.cache import cached
from pages.session.navigate import go_to
from pages.session.shown import RunView

GRAPH, KERNELS = "graph", "kernels"
LINKS = {GRAPH: menu.FX_GRAPH.title, KERNELS: menu.KERNELS.title}
PHASE_FORMS = {"times": fmt.number, "total": fmt.duration_s, "by itself": fmt.duration_s}
PHASE_COLUMNS: dict[str, Any] = {
    "phase": st.column_config.TextColumn(width="medium"),
    "total": st.column_config.Column(help="Time in which at least one span was open", width="small"),
    "by itself": st.column_config.Column(help="Time without the phases inside it", width="small"),
    "in threads": st.column_config.TextColumn(help="Sum over all threads, more than wall time"),
}


def flame_chart(view: RunView, phases: CompileTimeView) -> None:
    """Draw the chart of one compilation or of all.

    The chosen phase is in the URL, and a clicked link opens its page.
    """
    picture = _picture(view.run.id, view.report.log_bytes, phases.compile_id, phases)
    wanted = url.selected() or ""
    key = f"flame-{view.run.id}-{phases.compile_id}"
    choice = flame(picture, key=key, selected=wanted if wanted[:2] == "p:" else None)
    if choice.selected:
        url.select(choice.selected)
    if choice.opened == KERNELS:
        go_to(menu.KERNELS, url.link(**{url.COMPILATION: choice.owner}))
    if choice.opened == GRAPH:
        graph = phases.graph_of(choice.owner, (choice.selected or "").removeprefix("p:"))
        more = {url.GRAPH: graph.id} if graph else {}
        go_to(menu.FX_GRAPH, url.link(**{url.COMPILATION: choice.owner, **more}))


@cached()
def _picture(run_id: str, log_bytes: int, compile_id: str, _phases: CompileTimeView) -> FlamePicture:
    return flame_picture(_phases)


def flame_picture(phases: CompileTimeView) -> FlamePicture:
    """Return the ended phases of one compilation or of all; the longest if there are too many."""
    spans = phases.spans(MOST_SPANS)
    names = {span.name: span for span in spans}
    owners = list(dict.fromkeys(span.compilation for span in spans))
    name_at, owner_at = ({text: at for at, text in enumerate(texts)} for texts in (names, owners))
    return FlamePicture(
        spans=tuple(
            FlameSpan(
                id=f"p:{span.index}",
                name=name_at[span.name],
                owner=owner_at[span.compilation],
                begin_us=span.start_us,
                length_us=span.length_us,
                own_us=span.self_us,
                row=span.row,
                thread=span.thread,
            )
            for span in spans
        ),
        names=tuple(
            FlameName(span.label, span.kind, (GRAPH, KERNELS) if span.makes_kernels else (GRAPH,))
            for span in names.values()
        ),
        owners=tuple(_owner(phases, compile_id) for compile_id in owners),
        rows=1 + max((span.row for span in spans if not span.thread), default=-1),
        threads=max((span.thread for span in spans), default=0),
        length_us=max((span.start_us + span.length_us for span in spans), default=0),
        legend={kind: FlameLegend(colour.light, colour.dark, colour.label) for kind, colour in PHASES.items()},
        links=LINKS,
    )


def _owner(phases: CompileTimeView, compile_id: str) -> FlameOwner:
    owner = phases.owner(compile_id)
    links = (*((GRAPH,) if owner.has_graph else ()), *((KERNELS,) if owner.has_kernels else ()))
    return FlameOwner(owner.id, owner.function, owner.seconds, links)
