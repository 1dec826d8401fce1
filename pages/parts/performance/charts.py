"""Figures of the performance pages: eager against compiled, phases, torch's metrics, and a profile.

Phases and the slices of a profile are flame charts. Metrics of a compilation are grouped and have units.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from functools import partial
from typing import Any

import streamlit as st

from core.base import words as fmt
from core.report import Call
from core.views import compile_time
from core.views import timeline as views
from core.views.blocks import Table
from core.views.speedup import CallTotals
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
from pages.components.upload.view import upload
from pages.look.charts import decades, go, in_brackets, in_unit, median_bars, plotly_layout
from pages.look.palette import PHASES, SLICES, Theme, kernel_colour
from pages.session import server, url
from pages.session.actions import attempt
from pages.session.server import cached
from pages.session.shown import RunView
from pages.session.tables import draw, newly_picked_row
from pages.session.url import go_to, press, taken

EAGER, COMPILED = "eager", "compiled"
COLOURS = {EAGER: 3, COMPILED: 0}


def steady_chart(medians: Sequence[tuple[str, float, tuple[float, float]]], doubt: str, on: Theme) -> go.Figure:
    """Draw median seconds per call, with quartiles as error bars; the axis has the doubt about them."""
    return median_bars([(*median, COLOURS[median[0]]) for median in medians], on, 190, doubt)


def break_even_chart(break_even: CallTotals, on: Theme) -> go.Figure:
    """Draw total time over the number of calls, with a band where the lines cross."""
    soonest, latest = break_even.soonest, break_even.latest
    calls = break_even.calls
    totals = {
        EAGER: [break_even.eager_total_s(count) for count in calls],
        COMPILED: [break_even.compiled_total_s(count) for count in calls],
    }
    figure = go.Figure()
    for name, seconds in totals.items():
        figure.add_scatter(x=calls, y=seconds, name=name, line={"color": kernel_colour(COLOURS[name])})
    figure.add_vrect(x0=soonest, x1=latest, opacity=0.2, fillcolor="#7F7F7F", line={"dash": "dot", "width": 1.5})
    # On a logarithmic axis, Plotly expects a shape's position as a value, but a text's position as a logarithm.
    place = {"x": math.log10(soonest), "y": 1, "yref": "paper", "xanchor": "right", "yanchor": "top"}
    figure.add_annotation(text=f"{break_even.band} ", showarrow=False, **place)
    figure.update_layout(**plotly_layout(on), height=300)
    highest_s = max(seconds[-1] for seconds in totals.values())
    figure.update_xaxes(title="calls, log", type="log", **decades(1, calls[-1], lambda calls: fmt.number(round(calls))))
    figure.update_yaxes(
        title="total time, log",
        type="log",
        **decades(min(break_even.eager_s, break_even.cost_s), highest_s, fmt.duration_s),
    )
    return figure


def samples_chart(
    eager_s: Sequence[float],
    compiled_s: Sequence[float],
    warm_up: int,
    on: Theme,
    names: tuple[str, str] = (EAGER, COMPILED),
) -> go.Figure:
    """Draw every sample of two sides in the order of measurement; the warm-up is shaded."""
    figure = go.Figure()
    factor, unit = in_unit(statistics.median((*eager_s, *compiled_s)))
    for name, samples, colour in ((names[0], eager_s, COLOURS[EAGER]), (names[1], compiled_s, COLOURS[COMPILED])):
        figure.add_scatter(
            y=[sample * factor for sample in samples],
            mode="markers",
            name=name,
            marker={"color": kernel_colour(colour), "size": 4},
        )
    if warm_up:
        figure.add_vrect(
            x0=-0.5, x1=warm_up - 0.5, opacity=0.12, fillcolor="#7F7F7F", line_width=0, annotation_text="warm-up"
        )
    figure.update_layout(**plotly_layout(on), height=260)
    figure.update_xaxes(title="pair of samples, in the order taken")
    figure.update_yaxes(title=in_brackets("time per call", unit), rangemode="tozero")
    return figure


def first_calls_chart(calls: Sequence[Call], on: Theme) -> go.Figure:
    """Draw the seconds of each call's first execution, eager and compiled, on a logarithmic axis."""
    figure = go.Figure()
    names = [f"call {call.index}" for call in calls]
    sides = {EAGER: [call.eager_s for call in calls], COMPILED: [call.compiled_s for call in calls]}
    for name, seconds in sides.items():
        if not calls or any(time_s is not None for time_s in seconds):
            figure.add_bar(x=names, y=seconds, name=name, marker={"color": kernel_colour(COLOURS[name])})
    figure.update_layout(**plotly_layout(on), height=260, barmode="group")
    times = [time_s for seconds in sides.values() for time_s in seconds if time_s]
    ticks = decades(min(times), max(times), fmt.duration_s) if times else {}
    figure.update_yaxes(title="time, log", type="log", **ticks)
    return figure


GRAPH, KERNELS = "graph", "kernels"
LINKS = {GRAPH: menu.FX_GRAPH.title, KERNELS: menu.KERNELS.title}


def flame_chart(view: RunView, phases: compile_time.CompileTimeView) -> None:
    """Draw the flame chart of phases; the chosen one is in the URL, and a clicked link opens its page."""
    picture = _picture(view.run.id, view.report.log_bytes, phases.compile_id, phases)
    wanted = url.selected() or ""
    key = f"flame-{view.run.id}-{phases.compile_id}"
    choice = flame(picture, key=key, on_open=partial(press, key), selected=wanted if wanted[:2] == "p:" else None)
    if choice.selected:
        url.pick(choice.selected)
    link, owner = taken(key) or ("", "")
    if link == KERNELS:
        go_to(menu.KERNELS, url.link(**{url.COMPILATION: owner}))
    if link == GRAPH:
        graph = phases.graph_of(owner, (choice.selected or "").removeprefix("p:"))
        more = {url.GRAPH: graph.id} if graph else {}
        go_to(menu.FX_GRAPH, url.link(**{url.COMPILATION: owner, **more}))


@cached()
def _picture(run_id: str, log_bytes: int, compile_id: str, _phases: compile_time.CompileTimeView) -> FlamePicture:
    return flame_picture(_phases)


def flame_picture(phases: compile_time.CompileTimeView) -> FlamePicture:
    """Return the flame chart of the ended phases; only the longest phases if there are too many."""
    spans = phases.spans
    names = {span.name: span for span in spans}
    owners = list(dict.fromkeys(span.compilation for span in spans))
    name_at, owner_at = ({text: at for at, text in enumerate(texts)} for texts in (names, owners))
    return FlamePicture(
        noun="phase",
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


def _owner(phases: compile_time.CompileTimeView, compile_id: str) -> FlameOwner:
    owner = phases.owner(compile_id)
    links = (*((GRAPH,) if owner.has_graph else ()), *((KERNELS,) if owner.has_kernels else ()))
    return FlameOwner(owner.id, owner.function, owner.seconds, links)


KERNEL = "kernel"


def open_timeline(view: RunView) -> views.TimelineView | None:
    """Return the run's profile joined to its log; None if the run has no readable profile."""
    stamp = views.timeline_stamp(view.run)
    return None if stamp is None else attempt(lambda: _view(view.run.id, stamp, view))


@cached("Reading the profile")
def _view(run_id: str, stamp: int, _view: RunView) -> views.TimelineView | None:
    return views.timeline_view(_view.run, _view.report)


def add_profile(view: RunView) -> None:
    """Offer to upload a profile beside the run's log."""
    if view.going:
        st.caption(views.LIVE)
        return
    most_bytes = views.most_bytes(server.runner().limits)
    upload(most_bytes, key="profile", on_stored=partial(press, "profile"), profile_of=view.run.id)
    if taken("profile") is not None:
        go_to(menu.TIMELINE, url.link())


def another_profile(view: RunView) -> None:
    """Offer to replace the profile of a run."""
    with st.expander("Another profile"):
        add_profile(view)


def tracks(view: RunView, profile: views.TimelineView) -> None:
    """Draw the tracks of a profile, and the sums over a selected area; a slice's link opens its kernel."""
    picture = _timeline_picture(view.run.id, views.timeline_stamp(view.run) or 0, profile)
    wanted = url.selected() or ""
    choice = flame(
        picture,
        key=f"timeline-{view.run.id}",
        on_open=partial(press, "timeline"),
        selected=wanted if wanted[:2] == "t:" else None,
        area=views.area_from_text(url.asked(url.AREA)),
        areas=True,
    )
    if choice.selected and choice.selected != wanted:
        kernel = profile.kernel_at(choice.selected.removeprefix("t:"))
        is_new = bool(kernel) and url.select(f"k:{kernel}")
        url.pick(choice.selected)
        if is_new:
            st.rerun()
    link, owner = taken("timeline") or ("", "")
    if link == KERNEL:
        _open_kernel(profile, owner)
    st.caption(profile.track_words)
    area = profile.area(choice.area) if choice.area is not None else None
    url.put(url.AREA, area.area.text if area else None)
    if area:
        draw(area.blocks, {views.SLICES: slice_table})


def slice_table(profile: views.TimelineView, table: Table[views.SliceRow]) -> None:
    """Draw a table of slices; a click on a row with a kernel opens the kernel."""
    chosen = newly_picked_row(table)
    if chosen and chosen.kernel_id:
        _open_kernel(profile, chosen.kernel_id)


@cached()
def _timeline_picture(run_id: str, stamp: int, _profile: views.TimelineView) -> FlamePicture:
    return timeline_picture(_profile)


def timeline_picture(profile: views.TimelineView) -> FlamePicture:
    """Return the flame chart of a profile's slices; only the longest slices if there are too many."""
    spans = profile.spans(MOST_SPANS)
    names = {(span.label, span.kind): at for at, span in enumerate({(s.label, s.kind): s for s in spans}.values())}
    owners = {kernel: at for at, kernel in enumerate(dict.fromkeys(span.kernel for span in spans))}
    return FlamePicture(
        noun="slice",
        spans=tuple(
            FlameSpan(
                id=f"t:{span.number}",
                name=names[span.label, span.kind],
                owner=owners[span.kernel],
                begin_us=round(span.start_us),
                length_us=max(1, round(span.length_us)),
                own_us=max(1, round(span.length_us)),
                row=span.row,
                thread=0,
            )
            for span in spans
        ),
        names=tuple(FlameName(label, kind, (KERNEL,)) for label, kind in names),
        owners=tuple(_kernel_owner(profile, kernel, spans) for kernel in owners),
        rows=profile.rows,
        threads=0,
        length_us=round(profile.joined.profile.length_us),
        legend={kind: FlameLegend(colour.light, colour.dark, colour.label) for kind, colour in SLICES.items()},
        links={KERNEL: menu.KERNEL.title},
    )


def _kernel_owner(profile: views.TimelineView, kernel_id: str, spans: list[Any]) -> FlameOwner:
    kernel = profile.kernel(kernel_id)
    whole_s = sum(span.length_us for span in spans if span.kernel == kernel_id) / 1e6
    return FlameOwner(kernel_id, kernel.name if kernel else views.OTHER, whole_s, (KERNEL,) if kernel else ())


def _open_kernel(profile: views.TimelineView, kernel_id: str) -> None:
    compilation = profile.compilation_of(kernel_id)
    go_to(menu.KERNEL, url.link(**{url.KERNEL: kernel_id, url.COMPILATION: compilation}))
