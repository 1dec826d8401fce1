"""Table of stored runs, actions on selected runs, use of the limits, and a chart over time.

The actions are rename, tag, note, pin, open, download, compare, delete. The chart has one number of one
model's runs, in series of comparable runs; a click opens a run.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from core import MOST_NAME_CHARS, MOST_NOTE_CHARS, Run, Usage
from core.base import words as fmt
from core.views import header, run_history
from core.views import runs as lists
from pages import menu
from pages.gate.people import the_people
from pages.gate.visitor import ANOTHERS, who
from pages.look.charts import PLOTLY_CONFIG, go, plotly_layout
from pages.look.palette import MAX_LINE_CHARS, MUTED, TALL, Theme, kernel_colour
from pages.look.text import LONGEST_LINE, LONGEST_NAME, LONGEST_TEXT, one_line, plain, prose
from pages.parts.run.submit import measure_picked
from pages.session import actions, server, url
from pages.session.actions import attempt, toasted
from pages.session.downloads import html_download, log_download, report_download
from pages.session.runs import models_of, runs_of_model, show_run, summarised
from pages.session.server import cached, theme
from pages.session.shown import open_shown
from pages.session.tables import columns, data_frame, in_words, opened_or_ticked, picked_points
from pages.session.url import go_to, pressed, set_state, state_of

NAME, SPEEDUP = "run", lists.SPEEDUP
AGAIN_S = 1.0
COUNTS = ("graphs", "breaks", "recompiles", "kernels")
# The first columns must fit into 1,024 pixels, the page's width in a window of 1,280 pixels.
WIDTHS = {
    "state": 75,
    SPEEDUP: 180,
    "doubt": 230,
    "graphs": 65,
    "recompiles": 85,
    "kernels": 70,
    "breaks": 65,
    "result": 80,
    "when": 110,
    "made for": 150,
    "tags": 110,
    "note": 150,
}
COLUMNS = columns(lists.COLUMN_HELP, WIDTHS)
SHOWN_S = 10.0
RETENTION_S = 300.0
PINNED = "📌 "
NAME_PX, TAGS_PX = 260, 200
HEIGHT_PX, LEGEND_PX, WIDTH_PX = 380, 20, 260
# Lines between more points than this hide them.
MOST_JOINED = 80  #: points of a series that lines connect in the chart over time
CHART, OPENED = "runs-over-time", "runs-over-time-opened"
AXES = {"date": "Date", "torch": "torch version"}
SYMBOLS = ("circle", "square", "diamond", "triangle-up", "cross", "x", "star", "pentagon")


def runs_table(listed: Sequence[lists.ListedRun]) -> tuple[lists.ListedRun | None, list[lists.ListedRun]]:
    """Draw the table; return the newly opened run (or None), and the ticked runs."""
    complete, waiting = summarised(listed)
    now = time.time()
    rows = [_row(each, now) for each in complete]
    speeds = {row[SPEEDUP]: each.speedup for row, each in zip(rows, complete, strict=True) if row[SPEEDUP]}
    forms = dict.fromkeys(COUNTS, fmt.number)
    frame = data_frame(rows)
    told = in_words(
        frame.astype({name: "Int64" for name in COUNTS if rows}),
        {**forms, SPEEDUP: lambda middle: speeds.get(middle, "")},
    )
    if waiting:
        draw_again("Reading more verdicts…")
    return opened_or_ticked(told, complete, "runs-table", NAME, column_config=COLUMNS, height=TALL, placeholder="")


def draw_again(why: str) -> None:
    """Rerun the page in a moment, since there is more to show; `why` is shown meanwhile."""
    drawn_s = time.monotonic()

    @st.fragment(run_every=AGAIN_S)
    def polling() -> None:
        if time.monotonic() - drawn_s > AGAIN_S / 2:
            st.rerun()
        st.caption(f":material/hourglass_top: {why}")

    polling()


def _row(listed: lists.ListedRun, now: float) -> dict[str, Any]:
    entry, status, summary = listed.entry, listed.status, listed.summary
    interval = summary.speed.interval if summary and summary.speed else None
    return {
        NAME: " · ".join([f"{PINNED * entry.pinned}{one_line(listed.title, LONGEST_NAME)}", *listed.marks]),
        "state": status.state,
        SPEEDUP: interval.middle if interval else None,
        "breaks": summary.breaks if summary else None,
        "recompiles": summary.recompiles if summary else None,
        "kernels": summary.kernels if summary else None,
        "result": summary.outcome if summary else "",
        "when": fmt.ago(status.created_s, now),
        "made for": one_line(", ".join(entry.settings), LONGEST_NAME),
        "doubt": listed.doubt,
        "graphs": summary.graphs if summary else None,
        "tags": one_line(", ".join(entry.tags), LONGEST_NAME),
        "note": one_line(entry.note, LONGEST_LINE),
        "took": "" if status.took_s is None else fmt.duration_s(status.took_s),
        "memory": fmt.bytes_(status.peak_memory_bytes) if status.peak_memory_bytes else "",
        "torch": summary.torch if summary else "",
        "device": summary.device if summary else "",
        **({"by": status.by or "owner"} if the_people() else {}),
        "kind": header.kind_words(status),
        "id": listed.id,
    }


def what_goes() -> None:
    """Draw the rules by which old runs are archived or deleted, and the due runs; nothing without rules."""
    if words := _retention():
        st.caption(f":material/archive: {prose(words, LONGEST_TEXT)}")


@cached(seconds=RETENTION_S)
def _retention() -> str:
    return run_history.retention_words(server.runner().index)


def what_is_used() -> None:
    """Draw the use of each limit that the server's owner has set; nothing without limits."""
    limits = server.runner().limits
    if not {limits.runs, limits.visitor_bytes, limits.store_bytes} - {None}:
        return
    name = who().name
    use = run_history.UsageView(limits, _usage(name), bool(name))
    if use.is_nearly_used:
        st.warning(use.words, icon=":material/inventory_2:")
    elif use.words:
        st.caption(use.words)


@cached(seconds=SHOWN_S)
def _usage(name: str) -> Usage:
    return server.runner().index.usage(name)


def picked_run(listed: lists.ListedRun) -> None:
    """Draw why a run is damaged, and the fields that its owner may change."""
    run, status = listed.pair
    if status.state == "damaged":
        st.error(plain(status.reason, LONGEST_TEXT), icon=":material/error:")
    if not who().owns(status.by):
        return
    name, tags, note, pinned = (f"{field}-{run.id}" for field in ("name", "tags", "note", "pin"))
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.text_input(
            "Name",
            run.name(),
            key=name,
            placeholder=status.title,
            max_chars=MOST_NAME_CHARS,
            width=NAME_PX,
            on_change=lambda: attempt(lambda: actions.rename(run, state_of(name)), toasted),
        )
        st.text_input(
            "Tags",
            " ".join(listed.entry.tags),
            key=tags,
            placeholder="Words, such as: nightly",
            max_chars=MAX_LINE_CHARS,
            width=TAGS_PX,
            on_change=lambda: attempt(lambda: actions.tag(run, state_of(tags)), toasted),
        )
        st.text_input(
            "Note",
            run.note(),
            key=note,
            placeholder="Note on the run",
            max_chars=MOST_NOTE_CHARS,
            on_change=lambda: attempt(lambda: actions.annotate(run, state_of(note)), toasted),
        )
        actions.run_audience(run)
        st.toggle(
            "Pinned",
            listed.entry.pinned,
            key=pinned,
            help=lists.PIN_HELP,
            on_change=lambda: attempt(lambda: actions.pin(run, state_of(pinned)), toasted),
        )


def downloads_of(listed: lists.ListedRun) -> None:
    """Draw the buttons that open a run, download its files, and measure it again."""
    run, status = listed.pair
    if pressed("Open", key=f"open-{run.id}", type="primary", icon=":material/open_in_new:"):
        show_run(run.id)
    log_download(run)
    if status.state == "damaged":
        return
    report_download(run)
    html_download(run)
    if (shown := open_shown(run.id)) is not None:
        measure_picked(shown)


def compare_button(left: lists.ListedRun, right: lists.ListedRun) -> None:
    """Draw the button that compares two runs."""
    if pressed("Compare", key="compare-runs", type="primary", icon=menu.COMPARE.icon):
        go_to(menu.COMPARE, {url.RUN: left.id, url.OTHER: right.id})


def delete_button(picked: Sequence[lists.ListedRun]) -> None:
    """Draw a button that deletes the visitor's own selected runs, except live and pinned runs."""
    own = [listed for listed in picked if who().owns(listed.status.by)]
    deletable = [listed.run for listed in own if not (listed.status.live or listed.entry.pinned)]
    with st.popover(
        lists.delete_label(len(deletable)),
        icon=":material/delete:",
        disabled=not deletable,
        help=None if own else ANOTHERS,
    ):
        st.write(lists.DELETE_WARNING)
        st.button("Delete for good", key="delete-runs", type="primary", on_click=_delete, args=tuple(deletable))


def _delete(*runs: Run) -> None:
    attempt(lambda: actions.delete(*runs), toasted)
    if url.asked(url.RUN) in {run.id for run in runs}:
        url.put(url.RUN, None)


def history(text: str) -> None:
    """Draw the chart of one model's runs that match a search, and the choices of model and axis."""
    if opened := state_of(OPENED):
        set_state(OPENED, None)
        show_run(opened)
    models = models_of(text)
    if not models:
        st.caption(run_history.NO_RUN)
        return
    with st.container(horizontal=True, vertical_alignment="bottom"):
        model = _choice("Model", url.MODEL, run_history.model_labels(models))
        metric = _choice("Number", url.METRIC, {name: each.title for name, each in run_history.METRICS.items()})
        axis = _choice("Against", url.AXIS, AXES)
    listed, total = runs_of_model(model, run_history.MOST_RUNS, text)
    runs, waiting = summarised(listed)
    if waiting:
        draw_again("Reading more reports…")
    view = run_history.HistoryView.of(model, metric, runs, total)
    st.markdown(f"**{view.title}**")
    if view.series:
        figure = history_chart(view, by_torch=axis == "torch", on=theme())
        st.plotly_chart(figure, theme=None, config=PLOTLY_CONFIG, key=CHART, on_select=_open_point)
    for note in view.notes:
        st.caption(note)


def _choice(label: str, key: str, names: Mapping[str, str]) -> str:
    """Draw a choice that is in the URL, by default the first; return its key."""
    url.read(key, names, next(iter(names)))
    st.selectbox(label, list(names), key=key, format_func=lambda name: names.get(name, name), width=WIDTH_PX)
    url.write(key)
    return str(state_of(key))


def _open_point() -> None:
    """Store the clicked run; the page opens it when it is drawn next."""
    for point in picked_points(CHART):
        if point.get("customdata"):
            set_state(OPENED, str(point["customdata"][0]))


def history_chart(view: run_history.HistoryView, by_torch: bool, on: Theme) -> go.Figure:
    """Draw one number of each run against its date, or against its torch version."""
    figure = go.Figure()
    for place, series in enumerate(view.series):
        _add(figure, view, series, place, by_torch)
    if view.metric is run_history.METRICS["speedup"]:
        figure.add_hline(y=1, line={"color": MUTED[on], "width": 1, "dash": "dot"})
    figure.update_layout(**plotly_layout(on), showlegend=len(view.series) > 1)
    figure.update_layout(height=HEIGHT_PX + LEGEND_PX * len(view.series), clickmode="event+select")
    figure.update_layout(legend={"orientation": "v", "x": 0, "y": -0.18, "yanchor": "top"}, scattermode="group")
    figure.update_yaxes(title=view.metric.axis, rangemode="tozero")
    versions = sorted({point.torch for series in view.series for point in series.points}, key=_version_key)
    figure.update_xaxes(**({"type": "category", "categoryarray": versions, "title": "torch"} if by_torch else {}))
    return figure


def _add(
    figure: go.Figure, view: run_history.HistoryView, series: run_history.HistorySeries, place: int, by_torch: bool
) -> None:
    factor, points = view.metric.factor, series.points
    bounds = [point.bounds or (point.value, point.value) for point in points]
    figure.add_scatter(
        name=series.label,
        mode="markers" if by_torch or len(points) > MOST_JOINED else "lines+markers",
        x=[point.torch if by_torch else _date(point.created_s) for point in points],
        y=[point.value * factor for point in points],
        error_y={
            "type": "data",
            "symmetric": False,
            "array": [high - point.value for (_, high), point in zip(bounds, points, strict=True)],
            "arrayminus": [point.value - low for (low, _), point in zip(bounds, points, strict=True)],
            "visible": any(point.bounds for point in points),
            "color": kernel_colour(place),
        },
        line={"width": 1},
        marker={"color": kernel_colour(place), "symbol": SYMBOLS[place % len(SYMBOLS)], "size": 7},
        customdata=[[point.run] for point in points],
        hovertext=["<br>".join(point.lines) for point in points],
        hovertemplate="%{hovertext}<extra></extra>",
    )


def _date(created_s: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(created_s))


def _version_key(version: str) -> tuple[list[int], str]:
    return [int(part) for part in version.split(".") if part.isdecimal()], version
