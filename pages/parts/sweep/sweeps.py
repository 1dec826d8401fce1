"""Sweeps: the questions as cards and as a menu, the list of sweeps, and one sweep in full.

A sweep has its answer, charts and a table; a click on a row of the table opens the cell's run. Two axes of
labels make a heat map with one measure per cell.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import streamlit as st

from core import MOST_NAME_CHARS, CompileJob, Environment, Model, Sweep, samples
from core.base import words as fmt
from core.views.sweep import SweepQuestion, SweepQuestions, SweepView
from core.views.sweep import view as views
from pages import menu
from pages.gate.visitor import ANOTHERS, may_bring_code
from pages.look.charts import PLOTLY_CONFIG, blended, go, plotly_layout
from pages.look.palette import GRID, INK, MAX_CHARS, MUTED, PAPER, PHASES, SHORT, STATUS, TALL, Theme, kernel_colour
from pages.look.text import LONGEST_LINE, plain
from pages.parts.sweep.charts import (
    cumulative_chart,
    hover_text,
    memory_chart,
    phases_chart,
    ratio_lines,
    time_lines,
    times_chart,
)
from pages.session import actions, server, url
from pages.session.actions import attempt, passed_over, toasted
from pages.session.downloads import csv_twin, json_twin
from pages.session.header import page_title
from pages.session.runs import ShownSweep, is_as_shown, last_took_s, listed_sweeps, open_sweep, show_run, show_sweep
from pages.session.server import cached_figure, theme
from pages.session.tables import data_frame, draw, in_words, newly_picked, opened_or_ticked
from pages.session.url import pressed, state_of

POLL_S = 1.0
ROW_PX, FRAME_PX, MOST_PX = 40, 90, 640
# Ratios from this one on have the full colour.
FULL = 4.0
# Maximum opacity of the colour, so that text on it has enough contrast.
SHADE = 0.55
SHOWN = "the shown run"


def sweep(shown: ShownSweep) -> None:
    """Draw the answer so far as the title, then the progress, the charts, and the table."""
    view = shown.view
    page_title(view.title)
    with st.container(horizontal=True, vertical_alignment="center", key="sweep-bar"):
        _progress(shown)
        _steer(shown)
        if shown.own:
            actions.sweep_audience(shown.view.sweep)
        st.page_link(menu.SWEEP.script, label="All sweeps", icon=":material/apps:", query_params={url.SWEEP: ""})
        csv_twin(view.sweep.id, lambda: view.csv, key="sweep")
        json_twin(view.sweep.id, lambda: view.data, key="sweep")
    pictures(shown)
    if view.notes:
        st.caption("  \n".join(view.notes))
    draw(views.recipe(view.answer, views.recipe_diff(server.runner().store, view.answer)))
    frame = in_words(data_frame(view.table), FORMS)
    opened = newly_picked(frame, view.rows, "sweep-table", height=TALL, column_config=COLUMN_WIDTHS, placeholder="")
    if opened is not None and opened.run:
        show_run(opened.run)
    st.caption(view.caption)


@st.fragment(run_every=POLL_S)
def _going(shown: ShownSweep) -> None:
    """Draw the progress of a running sweep as it grows, as an error if all ended cells failed."""
    if not is_as_shown(shown):
        st.rerun()
    words = shown.view.progress(shown.left_s, shown.waits)
    if shown.view.has_only_failures:
        st.error(words, icon=":material/error:")
        return
    st.progress(shown.view.ended_part, words)


def _progress(shown: ShownSweep) -> None:
    if shown.standing.live:
        _going(shown)
        return
    draw = st.error if shown.view.has_only_failures else st.caption
    draw(shown.view.ending)


def _steer(shown: ShownSweep) -> None:
    """Draw the buttons to cancel a live sweep, to resume a stopped one, and to run failed cells again."""
    if shown.standing.live:
        st.button(
            "Cancel",
            icon=":material/cancel:",
            key="cancel-sweep",
            on_click=lambda: attempt(lambda: actions.cancel_sweep(shown.view.sweep.id), toasted),
            disabled=not shown.own or shown.standing.state == "stopping",
            help=None if shown.own else ANOTHERS,
        )
    if shown.view.can_resume:
        _resume(shown, "Resume", again=False)
    if shown.view.can_retry:
        _resume(shown, "Run failed cells again", again=True)


def _resume(shown: ShownSweep, words: str, *, again: bool) -> None:
    st.button(
        words,
        icon=":material/play_arrow:",
        key=f"resume-sweep-{again}",
        on_click=_go_on,
        args=(shown.view.sweep.id, again),
        disabled=not shown.own,
        help=None if shown.own else ANOTHERS,
    )


def _go_on(sweep_id: str, again: bool) -> None:
    """Resume a sweep and show a refusal, as a button's callback."""
    attempt(lambda: actions.resume_sweep(sweep_id, again), toasted)


def _whole(value: Any) -> str:
    """Return a count as integer text, since pandas turns a column with gaps into floats."""
    return fmt.number(int(value))


FORMS: dict[str, Callable[[Any], str]] = {
    **dict.fromkeys(("eager", "compiled", "first compiled call", "compile time"), fmt.duration_s),
    **dict.fromkeys(("compilations", "graphs", "graph breaks", "recompiles", "kernels"), _whole),
    **dict.fromkeys(("peak, eager", "peak, compiled"), fmt.bytes_),
}

COLUMN_WIDTHS: dict[str, Any] = {
    **dict.fromkeys(("what it does", "sets", "cannot run here", "error"), st.column_config.TextColumn(width=330)),
    **dict.fromkeys(("changed against default", "against float64"), st.column_config.TextColumn(width=260)),
    "gain": st.column_config.TextColumn(width=150),
    "eager / compiled": st.column_config.TextColumn(width=190, help=SweepView.column_help["eager / compiled"]),
    "stops after": st.column_config.TextColumn(help=SweepView.column_help["stops after"]),
}


def pictures(shown: ShownSweep) -> None:
    """Draw the charts, two side by side; nothing before a cell is done."""
    if shown.view.measures:
        _heat(shown)
    elif shown.view.charts:
        _charts(shown)


def _charts(shown: ShownSweep) -> None:
    """Draw each chart, cached for all sessions as long as the sweep has no new data."""
    on = theme()
    columns = st.columns(len(shown.view.charts), gap="medium")
    for column, name in zip(columns, shown.view.charts, strict=True):
        with column:
            figure = cached_figure(partial(CHARTS[name], shown.view, on), f"sweep-{name}", shown.moment, on)
            st.plotly_chart(figure, theme=None, config=PLOTLY_CONFIG, key=f"sweep-{name}")


def _heat(shown: ShownSweep) -> None:
    """Draw one measure of all cells, chosen by the visitor."""
    measures, on = shown.view.measures, theme()
    url.read(url.MEASURE, measures, measures[0])
    chosen = st.segmented_control("Measure", measures, key=url.MEASURE, label_visibility="collapsed")
    measure = chosen or measures[0]
    url.write(url.MEASURE)
    figure = cached_figure(lambda: heat_map(shown.view, measure, on), f"heat-{measure}", shown.moment, on)
    st.plotly_chart(figure, theme=None, config=PLOTLY_CONFIG, key="sweep-heat")


def heat_map(view: SweepView, measure: str, on: Theme) -> go.Figure:
    """Draw one number per cell, as a shade and as text; a cell without a value is empty."""
    heat = view.heat_map(measure)
    figure = go.Figure()
    figure.add_heatmap(
        x=list(heat.across),
        y=list(heat.down),
        z=heat.values if heat.is_two_sided else _logarithms(heat.values),
        text=heat.texts,
        texttemplate="%{text}",
        textfont={"color": INK[on]},
        hovertext=[[hover_text(lines) for lines in line] for line in heat.cell_lines],
        hovertemplate="%{hovertext}<extra></extra>",
        showscale=False,
        xgap=2,
        ygap=2,
        **(
            _two_sided(heat.known_values, on)
            if heat.is_two_sided
            else {"colorscale": [[0, PAPER[on]], [1, blended(kernel_colour(0), PAPER[on], SHADE)]]}
        ),
    )
    figure.update_layout(**plotly_layout(on), height=min(MOST_PX, FRAME_PX + ROW_PX * len(heat.down)))
    figure.update_layout(plot_bgcolor=GRID[on])
    figure.update_yaxes(autorange="reversed", showgrid=False, type="category")
    figure.update_xaxes(showgrid=False, type="category", side="top")
    return figure


def _two_sided(known: Sequence[float], on: Theme) -> dict[str, object]:
    """Return the two-sided colour scale of a ratio: compiled is faster on one side, eager on the other."""
    most = max([math.log2(FULL), *map(abs, known)])
    eager, compiled = (blended(kernel_colour(place), PAPER[on], SHADE) for place in (1, 0))
    return {"zmin": -most, "zmax": most, "colorscale": [[0, eager], [0.5, PAPER[on]], [1, compiled]]}


def _logarithms(lines: list[list[float | None]]) -> list[list[float | None]]:
    """Return the base-10 logarithm of each value, of zero that of half the least; None stays."""
    least = min((value for line in lines for value in line if value is not None and value > 0), default=1.0)
    return [[None if value is None else math.log10(max(value, least / 2)) for value in line] for line in lines]


def calls_chart(view: SweepView, on: Theme) -> go.Figure:
    """Draw each cell's calls by outcome: compiled, reused, mixed, eager, or raised."""
    ways = {
        "compiled": PHASES["dynamo"].on(on),
        "reused": kernel_colour(2),
        "mixed": kernel_colour(5),
        "eager": GRID[on],
        "raised": STATUS["bad"].on(on),
    }
    cells = view.call_cells[::-1]
    figure = go.Figure()
    for how, colour in ways.items():
        bars = [(cell, place) for cell in cells for place, call in enumerate(cell.row.calls) if call.how == how]
        if not bars:
            continue
        figure.add_bar(
            orientation="h",
            name=how,
            y=[cell.label for cell, _ in bars],
            x=[0.96] * len(bars),
            base=[place + 0.02 for _, place in bars],
            width=0.86,
            marker={"color": colour},
            text=[how] * len(bars),
            textposition="inside",
            insidetextanchor="middle",
            hovertext=[hover_text(cell.call_lines(place)) for cell, place in bars],
            hovertemplate="%{hovertext}<extra></extra>",
        )
    labels = view.call_labels
    figure.update_layout(**plotly_layout(on), height=min(MOST_PX, FRAME_PX + ROW_PX * len(cells)), barmode="overlay")
    figure.update_xaxes(
        range=[0, len(labels)],
        tickvals=[place + 0.5 for place in range(len(labels))],
        ticktext=labels,
        showgrid=False,
        side="top",
        zeroline=False,
    )
    order = [cell.label for cell in cells]
    figure.update_yaxes(showgrid=False, tickfont={"color": INK[on]}, categoryorder="array", categoryarray=order)
    figure.update_layout(showlegend=False, font={"color": MUTED[on]})
    return figure


CHARTS: dict[str, Callable[[SweepView, Theme], go.Figure]] = {
    "calls": calls_chart,
    "spent": cumulative_chart,
    "phases": phases_chart,
    "ratio": ratio_lines,
    "lines": time_lines,
    "memory": memory_chart,
    "times": times_chart,
}


def job_to_vary(job: CompileJob | None, shown: CompileJob | None) -> CompileJob:
    """Let the visitor pick the job to vary: `job` of the shown run, or a sample's job.

    The default is `job`. If that may not run here, it is the sample of the job `shown`, otherwise the first sample.
    """
    names = [item.name for item in samples()]
    name = shown.model.value if shown is not None and shown.model.kind == "sample" else ""
    offered = [*([SHOWN] if job else []), *names]
    titles = {item.name: item.title for item in samples()}
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown("Model")
        chosen = st.selectbox(
            "Model",
            offered,
            index=names.index(name) if job is None and name in names else 0,
            format_func=lambda name: titles.get(name, SweepQuestions.shown_label(job)),
            label_visibility="collapsed",
            key="sweep-of",
            width=360,
        )
        if chosen == SHOWN and job is not None:
            st.caption(plain(" · ".join([job.device, *job.differences()]), LONGEST_LINE))
    return job if job is not None and chosen == SHOWN else CompileJob(Model("sample", str(chosen)))


def sweeps_so_far() -> None:
    """Draw one row per sweep, with buttons to open, rename and delete."""
    sweeps = listed_sweeps()
    st.header("Sweeps so far", anchor=False)
    if not sweeps:
        st.caption(SweepQuestions.no_sweeps)
        return
    frame = data_frame(views.sweep_rows(sweeps, server.sweeps().store.name, time.time()))
    opened, ticked = opened_or_ticked(frame, sweeps, "sweeps-table", "sweep", height=SHORT)
    if opened is not None:
        show_sweep(opened.id)
    if len(ticked) == 1:
        _rename(ticked[0])
    if ticked:
        _delete(ticked)


def _rename(sweep: Sweep) -> None:
    key = f"name-{sweep.id}"
    st.text_input(
        "Name",
        server.sweeps().store.name(sweep.id),
        key=key,
        placeholder=sweep.title,
        max_chars=MOST_NAME_CHARS,
        width=300,
        on_change=lambda: attempt(lambda: actions.rename_sweep(sweep.id, state_of(key)), toasted),
    )


def _delete(ticked: Sequence[Sweep]) -> None:
    """Draw the menu that deletes sweeps, and on request their runs."""
    with st.popover(SweepQuestions.delete_label(len(ticked)), icon=":material/delete:"):
        with_runs = st.checkbox(SweepQuestions.delete_runs_label(len(ticked)))
        ids = [sweep.id for sweep in ticked]
        st.button("Delete for good", key="delete-sweeps", type="primary", on_click=_delete_all, args=(ids, with_runs))


def _delete_all(ids: Sequence[str], with_runs: bool) -> None:
    for sweep_id in ids:
        attempt(partial(actions.delete_sweep, sweep_id, with_runs), toasted)


def _questions(base: CompileJob) -> SweepQuestions:
    """Return the questions about a job; until torch has started, with an empty environment."""
    environment = server.environment() or Environment()
    return SweepQuestions(base, environment, server.runner().limits, may_bring_code(), last_took_s(base))


def preset_cards(base: CompileJob) -> None:
    """Draw each preset as a card: its question, its cost, and a button that starts its sweep."""
    with st.grid(min_column_width=250):
        for question in _questions(base).presets:
            with st.container(border=True, key=f"preset-{question.name}", gap="small", height="stretch"):
                st.markdown(question.heading)
                st.caption(question.text)
                with st.container(horizontal=True, vertical_alignment="center"):
                    if pressed("Run", key=f"ask-{question.name}", icon=":material/play_arrow:", help=question.text):
                        ask(question)
                    st.caption(_cost(question))


def preset_menu(base: CompileJob | None, key: str) -> None:
    """Draw the presets as a compact menu; nothing for a job that may not run again."""
    if base is None:
        return
    with st.popover("Run a sweep…", icon=":material/apps:"):
        st.caption(SweepQuestions.introduction)
        for question in _questions(base).presets:
            with st.container(horizontal=True, vertical_alignment="center"):
                if pressed(question.title, key=f"{key}-{question.name}", type="tertiary"):
                    ask(question)
                st.caption(_cost(question))


def ask_preset(base: CompileJob, name: str) -> None:
    """Start the sweep of a preset, and go to it."""
    ask(_question(base, name))


def with_search(measure: Callable[[], None], base: CompileJob | None, name: str, label: str) -> None:
    """Draw buttons that measure, then one that starts a preset's sweep of a job that may run again."""
    measure()
    if base is not None and pressed(label, key=f"find-{name}", icon=":material/bolt:", help=_question(base, name).text):
        ask_preset(base, name)


def outcomes(base: CompileJob | None, name: str) -> dict[str, str]:
    """Return what came of each change in the newest sweep of a preset about a job; empty without a sweep."""
    listed = [sweep for sweep in listed_sweeps() if sweep.preset == name and base and sweep.base.model == base.model]
    question = attempt(lambda: _question(base, name).plan.base, passed_over) if base and listed else None
    shown = open_sweep(next((sweep.id for sweep in listed if sweep.base == question), ""))
    return shown.view.outcomes if shown is not None else {}


def _question(base: CompileJob, name: str) -> SweepQuestion:
    return next(question for question in _questions(base).presets if question.name == name)


def ask(question: SweepQuestion) -> None:
    """Start a preset's sweep and go to it, or show why it was refused; a large sweep needs a confirmation."""
    needs_confirmation = attempt(lambda: question.needs_confirmation)
    if needs_confirmation:
        _confirm(question)
    elif needs_confirmation is not None:
        _start(question)


@st.dialog("Start these runs?")
def _confirm(question: SweepQuestion) -> None:
    st.markdown(question.confirmation)
    if pressed(question.confirmation_label, key="confirm-sweep", type="primary"):
        _start(question)


def _cost(question: SweepQuestion) -> str:
    """Return the cost of a preset; empty if the job's calls cannot be read."""
    return attempt(lambda: question.cost, passed_over) or ""


def _start(question: SweepQuestion) -> None:
    started = attempt(lambda: actions.start_sweep(question.sweep()))
    if started is not None:
        show_sweep(started.id, menu.FASTER if question.grows else menu.SWEEP)


MINUTES = (5, 10, 20, 60)


def search_form(base: CompileJob | None) -> None:
    """Draw the goal, the time and the button of a search; say why a run has none."""
    if base is None:
        st.caption(SweepQuestions.not_searchable)
        return
    with st.container(horizontal=True, vertical_alignment="bottom", key="search-form"):
        goals = dict(SweepQuestions.goals)
        goal = st.segmented_control("Goal", list(goals), default="call", format_func=goals.__getitem__, key="goal")
        minutes = st.selectbox("Minutes", MINUTES, index=1, key="search-minutes", width=110)
        is_loose = st.toggle("Lower precision, too", key="search-precision", help=SweepQuestions.precision_help)
        if pressed("Start", key="start-search", type="primary", icon=":material/bolt:", disabled=goal is None):
            question = attempt(lambda: _questions(base).search(goal or "call", 60.0 * minutes, is_loose))
            if question is not None:
                _start(question)


def search_progress(shown: ShownSweep | None) -> None:
    """Draw the progress of a search, with the buttons that cancel and resume it."""
    if shown is not None:
        with st.container(horizontal=True, vertical_alignment="center", key="search-bar"):
            _progress(shown)
            _steer(shown)


def own_axes(base: CompileJob) -> None:
    """Draw a field for custom axes, the number of cells, and the button that starts the sweep."""
    text = st.text_area(
        "Axes",
        key="axes",
        placeholder=SweepQuestions.axes_example,
        help=SweepQuestions.axes_help,
        height=110,
        max_chars=MAX_CHARS,
        label_visibility="collapsed",
    )
    if not text.strip():
        st.caption(SweepQuestions.axes_hint)
        return
    question = attempt(lambda: _questions(base).custom(text))
    if question is None:
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        if pressed("Start", key="start-own", type="primary", icon=":material/play_arrow:"):
            _start(question)
        st.caption(question.cells_sentence)
