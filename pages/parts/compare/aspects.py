"""Aspects of two runs: numbers, settings, source, breaks, guards, compile time, graphs, kernels.

The graphs of two compilations are one stable drawing, with added, removed, changed and moved nodes. Kernels
are a table of pairs, and the chosen pair with both sources.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import streamlit as st

from core.base import words as fmt
from core.views import compare as views
from core.views import pairs as pair_views
from core.views import wire
from core.views.comparison import CompareTimes
from core.views.graph import GraphUnionView
from pages.components.graph.view import GraphDrawing, drawn
from pages.look.charts import PLOTLY_CONFIG, go, in_brackets, in_unit, median_bars, plotly_layout, ratio_chart
from pages.look.palette import PHASES, TALL, Theme, phase_colour
from pages.parts.code import drawer, open_button, stage
from pages.parts.comments.comments import compared_comments
from pages.parts.graphs.drawn import show
from pages.parts.run.submit import job_again, measure_again, measure_now, submit_or_open
from pages.session import url
from pages.session.downloads import json_twin
from pages.session.server import cached, cached_figure, theme
from pages.session.shown import RunView
from pages.session.tables import Parts, draw, newly_picked_row
from pages.session.url import pressed

# Colours of eager and compiled, as on the page Speedup.
COLOURS = {"compiled": 0, "eager": 3}
NODE, CHANGES = "node", "changes"


def comparison_parts(compare: views.CompareView, compile_id: str, left: RunView, right: RunView) -> Parts:
    """Return the parts of a comparison that the page draws by hand."""
    moment = (left.run.id, left.report.log_bytes, right.run.id, right.report.log_bytes)
    times = compare.times
    parts: dict[str, Callable[[], object]] = {
        views.AGAIN: lambda: measure_again(left, right),
        views.COMMENTS: lambda: compared_comments(left.shown, right.shown),
        views.PHASES: lambda: _chart(partial(phase_chart, compare), "compare-phases", *moment),
        views.MEASURE: lambda: measure_now(left) if "left" in compare.unmeasured else None,
    }
    pair = compare.pair(compile_id)
    if pair is not None:
        parts[pair_views.GRAPHS] = lambda: graphs(pair, left, right)
        parts[pair_views.CHOSEN] = lambda: chosen_kernels(pair.kernels, f"targets-{pair.left}-{right.run.id}")
    if times is not None:
        parts[views.SECONDS] = lambda: _chart(partial(seconds_chart, times), "compare-seconds", *moment)
        parts[views.RATIOS] = lambda: _chart(partial(ratio_chart, times.ratios, ""), "compare-ratio", *moment)
        parts[views.TOGETHER] = lambda: _time_together(times, left, right)
    return parts


def _chart(make: Callable[[Theme], go.Figure], *key: str | int) -> None:
    on = theme()
    figure = cached_figure(lambda: make(on), *key, on)
    st.plotly_chart(figure, theme=None, config=PLOTLY_CONFIG, key=str(key[0]))


def phase_chart(compare: views.CompareView, on: Theme) -> go.Figure:
    """Draw compile time by phase class, one bar per run; overlapping phases are counted once."""
    sides = compare.phase_seconds
    factor, unit = in_unit(max(sum(seconds.values()) for seconds in sides.values()))
    figure = go.Figure()
    for name, colour in PHASES.items():
        if any(seconds.get(name) for seconds in sides.values()):
            figure.add_bar(
                orientation="h",
                name=colour.label,
                y=list(sides),
                x=[seconds.get(name, 0.0) * factor for seconds in sides.values()],
                marker={"color": phase_colour(name, on)},
                customdata=[fmt.duration_s(seconds.get(name, 0.0)) for seconds in sides.values()],
                hovertemplate=f"{colour.label}, %{{y}}: %{{customdata}}<extra></extra>",
            )
    figure.update_layout(**plotly_layout(on), height=200, barmode="stack")
    figure.update_xaxes(title=in_brackets("compile time", unit, "by class of phase"))
    return figure


def _time_together(times: CompareTimes, left: RunView, right: RunView) -> None:
    """Offer to time both compiled calls alternately in one process, if only compile settings differ."""
    job = job_again(left)
    both = times.together(job, right.job) if job is not None and right.job is not None else None
    if both is not None and pressed(
        "Time both in one process", key="compare-rival", icon=":material/sync_alt:", help=times.together_help
    ):
        submit_or_open(both)


def seconds_chart(times: CompareTimes, on: Theme) -> go.Figure:
    """Draw median seconds per call of both runs, eager and compiled, with quartiles as error bars."""
    rows = [(f"{bar.kind}, {bar.side}", bar.median_s, bar.quartiles_s, COLOURS[bar.kind]) for bar in times.medians]
    figure = median_bars(rows, on, 240)
    order = [f"{kind}, {side}" for kind in ("compiled", "eager") for side in ("right", "left")]
    figure.update_yaxes(categoryorder="array", categoryarray=order)
    return figure


def graphs(pair: pair_views.PairView, left: RunView, right: RunView) -> None:
    """Let the visitor choose a stage, and draw its two graphs as one."""
    stages = pair.stages
    url.read(url.GRAPH, stages, pair.first_stage)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        chosen = st.selectbox(
            "Stage",
            list(stages),
            key=url.GRAPH,
            width=430,
            label_visibility="collapsed",
            format_func=lambda name: stages.get(name, name),
        )
        open_button(CHANGES, "Changes", ":material/difference:")
        st.caption(pair.lone_stages)
    url.write(url.GRAPH)
    _draw(pair, left, right, chosen or pair.first_stage)


def _draw(pair: pair_views.PairView, left: RunView, right: RunView, graph_id: str) -> None:
    union, picture = _union((left.run.id, right.run.id, pair.left, pair.right, graph_id), pair, left, right)
    place = stage()
    wanted = url.number(url.FRAME)
    with place.container(key="drawing"):
        name = f"union-{pair.left}-{graph_id}-{right.run.id}"
        frame = union.both_frame if wanted is None else wanted
        chosen = show(picture, name, frame=frame, overlay=union.overlay)
    url.put(url.FRAME, None if chosen.frame in (None, union.both_frame) else str(chosen.frame))
    with drawer(place, [NODE, CHANGES], chosen.id) as tab:
        if tab == NODE:
            _node(union, chosen.id)
        elif tab == CHANGES:
            _changes(union, name)


@cached("Laying the graph out")
def _union(
    ids: tuple[str, ...], _pair: pair_views.PairView, _left: RunView, _right: RunView
) -> tuple[GraphUnionView, GraphDrawing]:
    union = _pair.union(ids[-1])
    return union, drawn(wire.stored(union.picture))


def _node(union: GraphUnionView, selected: str | None) -> None:
    """Draw the facts of a node in both graphs."""
    title = union.node_title(selected)
    if not title:
        st.caption(union.no_node(selected))
        return
    st.markdown(title)
    st.table(union.node_facts(selected), border="horizontal")


def _changes(union: GraphUnionView, key: str) -> None:
    """Draw the table of changed nodes; a click selects one in the drawing."""
    if not union.changes.rows:
        st.caption(union.no_changes)
        return
    picked = newly_picked_row(replace(union.changes, name=f"changes-{key}"), height=TALL)
    if picked is not None:
        url.select(f"n:{picked.name}")
        st.rerun()


def chosen_kernels(kernels: pair_views.KernelPairsView | None, key: str) -> None:
    """Draw the selected pair of kernels."""
    if kernels is None:
        return
    pair = kernels.chosen(url.selected())
    url.pick(pair.id)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(pair.title)
        json_twin("comparison", kernels.comparison, key="targets")
    draw(pair.blocks)
