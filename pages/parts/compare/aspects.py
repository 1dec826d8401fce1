"""Aspects of two runs: numbers, settings, source, breaks, guards, compile time, graphs, kernels.

The graphs of two compilations are one stable drawing, with added, removed, changed and moved nodes. Kernels
are a table of pairs, and the chosen pair with both sources.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

import streamlit as st

from core.base import words as fmt
from core.views import wire
from core.views.compare import CompareView, PairView
from core.views.graph import GraphUnionView
from core.views.kernel_pairs import KernelPairsView, PairOfKernels
from core.views.speedup import CompareTimes
from pages.components.code.view import CodePicture, code_lines, code_view
from pages.components.graph.view import GraphDrawing, drawn
from pages.look.charts import PLOTLY_CONFIG, go, in_brackets, in_unit, median_bars, plotly_layout
from pages.look.palette import GRID, INK, PHASES, TALL, Theme, kernel_colour, phase_colour
from pages.parts.code import diff_view, drawer, open_button, stage
from pages.parts.graphs.drawn import show
from pages.parts.run.submit import job_again, measure_now, submit_or_open
from pages.session import url
from pages.session.downloads import json_twin
from pages.session.server import cached, cached_figure, theme
from pages.session.shown import RunView
from pages.session.tables import columns, data_frame, in_words, newly_picked, picked_by_url
from pages.session.url import pressed

if TYPE_CHECKING:
    from pandas.io.formats.style import Styler

MARK = "background-color: rgba(204, 140, 20, 0.2)"
FIGURE_PX = {"": 130, "left": 150, CompareView.unlike: 30, "right": 150, "difference": 210}
PHASE_FORMS = {"left": fmt.duration_s, "right": fmt.duration_s, "right over left": fmt.ratio}
# Colours of eager and compiled, as on the page Speedup.
COLOURS = {"compiled": 0, "eager": 3}
# Limit of the outermost bounds' ratio → ticks of the axis.
TICKS: tuple[tuple[float, tuple[float, ...]], ...] = (
    (1.25, (0.8, 0.85, 0.9, 0.95, 1.0, 1.05, 1.1, 1.15, 1.2, 1.25)),
    (3.0, (0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.2, 1.4, 1.6, 2.0, 2.5, 3.0)),
    (math.inf, tuple(2.0**power for power in range(-12, 13))),
)
NODE, CHANGES = "node", "changes"
LANGUAGES = {"cpp": "cpp", "triton": "python"}
COLUMNS = columns(KernelPairsView.column_help, {"kernel": 290, "config": "medium", "generated name": "medium"})


def summary(compare: CompareView) -> None:
    """Draw the numbers of both runs, next to their settings and results."""
    left, right = st.columns([3, 2], gap="medium")
    with left:
        table = data_frame(compare.figure_rows).style.map(
            lambda value: MARK if value == CompareView.unlike else "", subset=[CompareView.unlike]
        )
        st.dataframe(
            table, hide_index=True, height="content", key="compare-figures", column_config=columns({}, FIGURE_PX)
        )
        st.caption(compare.mark_note)
    with right:
        st.header("Options", anchor=False)
        if compare.option_rows:
            options = data_frame(compare.option_rows)
            st.dataframe(options, hide_index=True, height="content", key="compare-options")
        else:
            st.write(compare.same_options)
        for result in compare.results:
            st.markdown(result)
        if compare.seconds:
            st.caption(compare.seconds)


def source(compare: CompareView) -> None:
    """Draw the user's code as a diff, file by file."""
    if compare.sources is None:
        st.write(compare.no_code)
        return
    if not compare.sources:
        st.success(compare.same_code, icon=":material/check:")
    for index, file in enumerate(compare.sources):
        st.markdown(compare.source_words(file))
        diff_view(compare.source_title(file), file.diff.text, f"compare-source-{index}", file.diff.left_out)


def breaks_and_recompiles(compare: CompareView) -> None:
    """Draw each graph break and each recompile of either run."""
    st.header("Graph breaks", anchor=False)
    _rows(compare.break_rows, "compare-breaks", compare.no_breaks)
    st.header("Recompiles", anchor=False)
    _rows(compare.recompile_rows, "compare-recompiles", compare.no_recompiles)


def guards(pair: PairView) -> None:
    """Draw the guards that only one of the two compilations has."""
    if not pair.guards_sentence:
        st.write(pair.no_guards)
        return
    st.markdown(pair.guards_sentence)
    st.caption(pair.guards_note)
    _rows(pair.guard_rows, "compare-guards")


def _rows(rows: Sequence[dict[str, str]], key: str, none: str = "") -> None:
    """Draw a table, or the sentence `none` if it has no rows."""
    if rows:
        height: int | Literal["content"] = "content" if len(rows) < 12 else TALL
        st.dataframe(data_frame(rows), hide_index=True, height=height, key=key)
    elif none:
        st.write(none)


def phases(compare: CompareView, moment: tuple[str | int, ...]) -> None:
    """Draw the compile time of both runs: a chart by class, and a table by phase.

    `moment` is the figure's cache key.
    """
    if not compare.phase_rows:
        st.write(compare.no_phases)
        return
    on = theme()
    figure = cached_figure(lambda: phase_chart(compare, on), "compare-phases", *moment, on)
    st.plotly_chart(figure, theme=None, config=PLOTLY_CONFIG, key="compare-phase-chart")
    table = in_words(data_frame(compare.phase_rows), PHASE_FORMS)
    st.dataframe(table, hide_index=True, height=TALL, key="compare-phases", placeholder=CompareView.unknown)
    st.caption(compare.phases_note)


def phase_chart(compare: CompareView, on: Theme) -> go.Figure:
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


def times(compare: CompareView, left: RunView, right: RunView) -> None:
    """Draw the speedup claim, the seconds per call, and the intervals that support the claim."""
    if compare.times is None:
        _unmeasured(compare, left)
        return
    times, on = compare.times, theme()
    st.caption(times.method)
    key = (left.run.id, left.report.log_bytes, right.run.id, right.report.log_bytes, on)
    halves = st.columns(2, gap="medium")
    with halves[0]:
        st.header("Seconds of a call", anchor=False)
        figure = cached_figure(lambda: seconds_chart(times, on), "compare-seconds", *key)
        st.plotly_chart(figure, theme=None, config=PLOTLY_CONFIG, key="compare-seconds")
    with halves[1]:
        st.header(times.ratio_title, anchor=False)
        if times.unknown:
            st.write(times.unknown)
            return
        ratios = cached_figure(lambda: ratio_chart(times, on), "compare-ratio", *key)
        st.plotly_chart(ratios, theme=None, config=PLOTLY_CONFIG, key="compare-ratio")
        st.caption(times.claim)
        _time_together(times, left, right)


def _time_together(times: CompareTimes, left: RunView, right: RunView) -> None:
    """Offer to time both compiled calls alternately in one process.

    Draw nothing unless the jobs differ only in compile settings, and may run here.
    """
    job = job_again(left)
    both = times.together(job, right.job) if job is not None and right.job is not None else None
    if both is not None and pressed(
        "Time both in one process", key="compare-rival", icon=":material/sync_alt:", help=times.together_help
    ):
        submit_or_open(both)


def _unmeasured(compare: CompareView, left: RunView) -> None:
    for sentence in compare.unmeasured_words:
        st.write(sentence)
    if "left" in compare.unmeasured:
        measure_now(left)


def seconds_chart(times: CompareTimes, on: Theme) -> go.Figure:
    """Draw median seconds per call of both runs, eager and compiled, with quartiles as error bars."""
    rows = [(f"{bar.kind}, {bar.side}", bar.median_s, bar.quartiles_s, COLOURS[bar.kind]) for bar in times.medians]
    figure = median_bars(rows, on, 240)
    order = [f"{kind}, {side}" for kind in ("compiled", "eager") for side in ("right", "left")]
    figure.update_yaxes(categoryorder="array", categoryarray=order)
    return figure


def ratio_chart(times: CompareTimes, on: Theme) -> go.Figure:
    """Draw the intervals on a logarithmic axis with 1 marked; right of it, the right run is faster."""
    figure = go.Figure()
    for ratio in times.ratios:
        colour = kernel_colour(0) if ratio.claim else INK[on]
        figure.add_scatter(
            x=[ratio.middle],
            y=[ratio.name],
            mode="markers",
            marker={"color": colour, "size": 10 if ratio.claim else 7},
            error_x={
                "type": "data",
                "symmetric": False,
                "array": [ratio.high - ratio.middle],
                "arrayminus": [ratio.middle - ratio.low],
                "color": colour,
                "thickness": 3 if ratio.claim else 1.5,
            },
            hovertemplate=f"{ratio.name}: {ratio.words}<extra></extra>",
        )
    figure.add_vline(x=1, line={"color": INK[on], "dash": "dot", "width": 1.5})
    figure.add_vrect(x0=1 / 1.02, x1=1.02, fillcolor=GRID[on], opacity=0.6, line_width=0, layer="below")
    figure.update_layout(**plotly_layout(on), height=240, showlegend=False)
    bounds = [bound for ratio in times.ratios for bound in (ratio.low, ratio.high)]
    figure.update_xaxes(title="times faster, log; 1 is no difference", type="log", **_ticks(bounds))
    return figure


def _ticks(bounds: Sequence[float]) -> dict[str, object]:
    """Return readable ticks: finer if all bounds are close to 1."""
    low, high = min(1.0, *bounds), max(1.0, *bounds)
    finest = next(ticks for spread, ticks in TICKS if high / low < spread)
    ticks = [tick for tick in finest if low / 2 < tick < 2 * high]
    return {"tickvals": ticks, "ticktext": [fmt.ratio(tick) for tick in ticks]}


def graphs(pair: PairView, left: RunView, right: RunView) -> None:
    """Let the visitor choose a stage, and draw its two graphs as one."""
    stages = pair.stages
    if not stages:
        st.write(pair.no_stages)
        return
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


def _draw(pair: PairView, left: RunView, right: RunView, graph_id: str) -> None:
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
    ids: tuple[str, ...], _pair: PairView, _left: RunView, _right: RunView
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
    if not union.changed:
        st.caption(union.no_changes)
        return
    picked = newly_picked(data_frame(union.change_rows), union.changed, f"changes-{key}", height=TALL)
    if picked is not None:
        url.select(picked)
        st.rerun()


def kernel_pairs(kernels: KernelPairsView, key: str) -> None:
    """Draw the table of all pairs, and the chosen pair in full."""
    if not kernels.pairs:
        st.write(kernels.no_kernels)
        return
    st.caption(kernels.times)
    ids = list(kernels.pairs)
    height = "content" if len(ids) < 12 else TALL
    picked_by_url(table(kernels), ids, key, column_config=COLUMNS, height=height, placeholder=KernelPairsView.unknown)
    pair = kernels.chosen(url.selected())
    url.select(pair.id)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(pair.title)
        json_twin("comparison", kernels.comparison, key="targets")
    details = data_frame(pair.rows).style.map(
        lambda value: MARK if value == KernelPairsView.unlike else "", subset=[KernelPairsView.unlike]
    )
    st.dataframe(details, hide_index=True, height="content", key=f"{key}-pair-{ids.index(pair.id)}")
    sources(pair, f"{key}-{pair.id}")


def table(kernels: KernelPairsView) -> Styler:
    """Return the table with one row per pair.

    Cells that differ contain ≠ and are tinted. Empty columns are left out.
    """
    frame = data_frame([pair.row for pair in kernels.pairs.values()])
    frame = frame.loc[:, (frame.notna() & (frame != "")).any()]
    tinted = frame.style.map(lambda value: MARK if isinstance(value, str) and KernelPairsView.unlike in value else "")
    return tinted.format({name: fmt.duration_s for name in ("left time", "right time") if name in frame}, na_rep="")


def sources(pair: PairOfKernels, key: str) -> None:
    """Draw both kernels' sources: as a diff if they have the same language, else side by side."""
    if not any(source.text for source in pair.sources):
        st.caption(pair.no_source)
        return
    diff = pair.diff
    if diff is None:
        _side_by_side(pair, key)
        return
    if not diff.text:
        st.success(pair.same_source)
        return
    if pair.diff_note:
        st.caption(pair.diff_note)
    diff_view("difference of the generated sources", diff.text, f"{key}-diff", diff.left_out)


def _side_by_side(pair: PairOfKernels, key: str) -> None:
    """Draw two sources in different languages side by side."""
    for column, source in zip(st.columns(2, gap="medium"), pair.sources, strict=True):
        with column:
            if not source.text:
                st.caption(source.none)
                continue
            lines = code_lines(source.text, prefix=source.side[0])
            picture = CodePicture(source.name, LANGUAGES.get(source.language, ""), lines)
            code_view(picture, key=f"{key}-{source.side}", height=TALL, channel=f"targets-{source.side}")
