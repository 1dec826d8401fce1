"""Torch's phases as a flame chart, and the links of a phase."""

from __future__ import annotations

from core.analysis import compile_seconds, phase_class, self_seconds
from core.report import Compilation, FxGraph, Phase, Report
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
from pages.look.text import LONGEST_NAME, one_line
from pages.session import url
from pages.session.cache import cached
from pages.session.navigate import go_to
from pages.session.view import RunView

GRAPH, KERNELS = "graph", "kernels"
LINKS = {GRAPH: menu.FX_GRAPH.title, KERNELS: menu.KERNELS.title}
# The class of a phase → the prefix of the stage that it makes.
MAKES = {"dynamo": "dynamo_", "aot_autograd": "aot_", "inductor": "inductor_", "codegen": "inductor_"}
MADE_OF_KERNELS = ("codegen", "compile")


def flame_chart(view: RunView, compile_id: str) -> None:
    """Draw the chart of one compilation, or of all.

    The chosen phase is in the URL, and a link that was clicked opens its page.
    """
    picture = _picture(view.run.id, view.report.log_bytes, compile_id, view)
    wanted = url.selected() or ""
    choice = flame(picture, key=f"flame-{view.run.id}-{compile_id}", selected=wanted if wanted[:2] == "p:" else None)
    if choice.selected:
        url.select(choice.selected)
    if choice.opened == KERNELS:
        go_to(menu.KERNELS, url.link(**{url.COMPILATION: choice.owner}))
    if choice.opened == GRAPH:
        graph = _graph_of(view.report, choice.owner, choice.selected)
        more = {url.GRAPH: graph.id} if graph else {}
        go_to(menu.FX_GRAPH, url.link(**{url.COMPILATION: choice.owner, **more}))


@cached()
def _picture(run_id: str, log_bytes: int, compile_id: str, _view: RunView) -> FlamePicture:
    return flame_picture(_view.report, compile_id)


def flame_picture(report: Report, compile_id: str = "") -> FlamePicture:
    """Return the ended phases of one compilation or of all; the longest if there are too many."""
    own = self_seconds(report.phases)
    ended = [
        (index, phase)
        for index, phase in enumerate(report.phases)
        if phase.end_us is not None and compile_id in ("", phase.compilation)
    ]
    longest = sorted(ended, key=lambda item: -(item[1].duration_s or 0.0))[:MOST_SPANS]
    drawn = sorted(longest, key=lambda item: (item[1].start_us, item[1].depth))
    start_us = min((phase.start_us for _, phase in drawn), default=0.0)
    names = list(dict.fromkeys(phase.name for _, phase in drawn))
    owners = list(dict.fromkeys(phase.compilation for _, phase in drawn))
    top = min((phase.depth for _, phase in drawn), default=0)
    rows = 1 + max((phase.depth - top for _, phase in drawn if not phase.thread), default=-1)
    name_at, owner_at = ({text: at for at, text in enumerate(texts)} for texts in (names, owners))
    return FlamePicture(
        spans=tuple(
            FlameSpan(
                id=f"p:{index}",
                name=name_at[phase.name],
                owner=owner_at[phase.compilation],
                begin_us=round(phase.start_us - start_us),
                length_us=round((phase.end_us or 0.0) - phase.start_us),
                own_us=round(own[index] * 1e6),
                row=rows + phase.thread - 1 if phase.thread else phase.depth - top,
                thread=phase.thread,
            )
            for index, phase in drawn
        ),
        names=tuple(_name(name) for name in names),
        owners=_owners(report, owners),
        rows=rows,
        threads=max((phase.thread for _, phase in drawn), default=0),
        length_us=round(max(((phase.end_us or 0.0) - start_us for _, phase in drawn), default=0.0)),
        legend={kind: FlameLegend(colour.light, colour.dark, colour.label) for kind, colour in PHASES.items()},
        links=LINKS,
    )


def _name(name: str) -> FlameName:
    kind = phase_class(name)
    return FlameName(one_line(name, LONGEST_NAME), kind, (GRAPH, KERNELS) if kind in MADE_OF_KERNELS else (GRAPH,))


def _owners(report: Report, ids: list[str]) -> tuple[FlameOwner, ...]:
    seconds = compile_seconds(report.phases)
    known = {found.id: found for found in report.compilations}
    return tuple(
        FlameOwner(
            one_line(compile_id, LONGEST_NAME),
            one_line(known[compile_id].frame.name, LONGEST_NAME) if compile_id in known else "",
            seconds.get(compile_id, 0.0),
            _links(known.get(compile_id)),
        )
        for compile_id in ids
    )


def _links(compilation: Compilation | None) -> tuple[str, ...]:
    if compilation is None:
        return ()
    return (*((GRAPH,) if compilation.graphs else ()), *((KERNELS,) if compilation.kernels else ()))


def _graph_of(report: Report, compile_id: str, selected: str | None) -> FxGraph | None:
    """Return the graph that the chosen phase makes; None if it makes none or none was recorded."""
    phase = _phase(report, selected)
    found = report.compilation(compile_id)
    stage = MAKES.get(phase_class(phase.name), "") if phase else ""
    graphs = found.graphs if found and stage else ()
    return next((graph for graph in graphs if graph.stage.startswith(stage)), None)


def _phase(report: Report, selected: str | None) -> Phase | None:
    index = (selected or "").removeprefix("p:")
    return report.phases[int(index)] if index.isdecimal() and int(index) < len(report.phases) else None
