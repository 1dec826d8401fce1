"""The program of a segment: instructions, the user's lines, passes, memory plan, and other options.

Plotly draws two charts: memory by instruction, and seconds by build stage. A run with other ops, passes or
frozen parameters is compared with the shown run. Without a program, the page shows the reason and
how to get one.
"""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

import streamlit as st

from core import CompileJob, Environment, compile_options_as_text
from core.base import words as fmt
from core.report import FxNode
from core.views.accelerator import program as programs
from core.views.accelerator import run as views
from core.views.job_form import JobForm
from pages import menu
from pages.components.code.view import CodePicture, code_lines, code_view
from pages.look.charts import go, in_brackets, in_unit, plotly_layout, text_on
from pages.look.palette import FILL, INK, MUTED, PAPER, TALL, Theme, kernel_colour
from pages.look.text import LONGEST_NAME, LONGEST_TEXT, code, one_line, prose
from pages.parts.code import diff_view
from pages.parts.graphs.drawn import node_lines, node_of
from pages.parts.run.submit import job_again, job_here, stored_run, submit_or_open
from pages.session import actions, server, url
from pages.session.actions import attempt
from pages.session.shown import RunView, View, open_view
from pages.session.tables import draw, draw_chart, newly_picked_row
from pages.session.url import go_to, page_link, pressed

PLAN_HEIGHT, BAR_PX, AROUND_PX = 400, 30, 70
MOST_NAMED = 24  #: ticks of an axis
UNITS = ((1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1.0, "B"))


def program_or_reason(segment: views.SegmentView) -> programs.ProgramView | None:
    """Return the segment's program; if it has none, draw the reason and return None."""
    if segment.missing_program:
        st.info(prose(segment.missing_program))
    return segment.program


def program_station(view: View, segment: views.SegmentView) -> None:
    """Draw the instructions as a table, next to the user's code."""
    program = program_or_reason(segment)
    if program is None:
        return
    nodes = nodes_of(view, segment)
    st.caption(program.words)
    left, right = st.columns([9, 5], gap="medium")
    with left:
        _instructions(program, {node.name: node for node in nodes}, f"program-{view.compilation.id}-{segment.id}")
    with right:
        node_lines(view, nodes, node_of(nodes, url.selected()), f"{view.compilation.id}-{segment.id}")


def _instructions(program: programs.ProgramView, nodes: Mapping[str, FxNode], key: str) -> None:
    picked = newly_picked_row(replace(program.instructions(nodes), name=key), height=TALL)
    if picked is not None and picked[1].nodes:
        url.select(f"n:{next((name for name in picked[1].nodes if name in nodes), picked[1].nodes[0])}")
        st.rerun()
    if program.left_out_entries:
        st.caption(program.left_out_entries)


def passes_station(view: View, segment: views.SegmentView) -> None:
    """Draw a choice of passes, the chosen pass's diff, and the program after it."""
    program = program_or_reason(segment)
    if program is None:
        return
    if not program.passes:
        st.caption(program.no_passes)
        return
    index = _chosen_pass(program)
    key = f"{view.compilation.id}-{segment.id}-{index}"
    st.caption(prose(program.pass_words(index)))
    left, right = st.columns(2, gap="medium")
    with left:
        _pass_diff(program, index, key)
    with right:
        title = f"after {one_line(program.passes[index][0], LONGEST_NAME)}"
        picture = CodePicture(title, "text", code_lines(program.pass_text(index), prefix="p"))
        code_view(picture, key=f"after-{key}", height=FILL, channel="after")


def _chosen_pass(program: programs.ProgramView) -> int:
    """Draw the choice of a pass; return its index, by default that of the most instructions removed."""
    labels = {
        fmt.exact(index): f"{one_line(name, LONGEST_NAME)} · {fmt.number(entries)}"
        for index, (name, entries) in enumerate(program.passes)
    }
    default = fmt.exact(program.strongest_pass)
    url.read(url.FRAME, labels, default)
    chosen = st.segmented_control(
        "Pass",
        list(labels),
        key=url.FRAME,
        format_func=labels.__getitem__,
        label_visibility="collapsed",
        help=program.passes_help,
    )
    url.write(url.FRAME)
    return int(chosen or default)


def _pass_diff(program: programs.ProgramView, index: int, key: str) -> None:
    change = program.pass_diff(index)
    if change is None:
        st.caption(program.first_pass)
        return
    title, diff = change
    if not diff.text:
        st.caption(program.no_change)
        return
    diff_view(title, diff.text, f"pass-{key}", diff.left_out, FILL)


def memory_station(view: View, segment: views.SegmentView) -> None:
    """Draw the memory plan, and the buffers as a table."""
    program = program_or_reason(segment)
    if program is None:
        return
    st.caption(program.memory)
    if program.temporaries:
        draw_chart(view, f"arena-{view.compilation.id}-{segment.id}", partial(arena_chart, program))
        if program.left_out_temporaries:
            st.caption(program.left_out_temporaries)
    draw([program.buffers])
    if program.left_out_buffers:
        st.caption(program.left_out_buffers)


def arena_chart(program: programs.ProgramView, on: Theme) -> go.Figure:
    """Draw the temporaries as rectangles from their first to their last instruction, at their offsets."""
    drawn = [(rectangle.buffer, rectangle.base) for rectangle in program.arena]
    high = max((base + buffer.bytes for buffer, base in drawn), default=0)
    factor, unit = next(((scale, unit) for scale, unit in UNITS if high >= scale), UNITS[-1])
    figure = go.Figure()
    figure.add_bar(
        x=[(buffer.first + buffer.last) / 2 for buffer, _ in drawn],
        width=[buffer.last - buffer.first + 1 for buffer, _ in drawn],
        base=[base / factor for _, base in drawn],
        y=[buffer.bytes / factor for buffer, _ in drawn],
        customdata=[_hover(rectangle.buffer.name, rectangle.words) for rectangle in program.arena],
        hovertemplate="%{customdata}<extra></extra>",
        text=[html.escape(one_line(buffer.name, LONGEST_NAME)) for buffer, _ in drawn],
        textposition="inside",
        insidetextanchor="middle",
        textangle=0,
        insidetextfont={"color": [text_on(kernel_colour(index)) for index, _ in enumerate(drawn)]},
        marker={
            "color": [kernel_colour(index) for index, _ in enumerate(drawn)],
            "line": {"color": PAPER[on], "width": 1},
        },
    )
    figure.update_layout(**plotly_layout(on), height=PLAN_HEIGHT, showlegend=False, barcornerradius=0, bargap=0)
    figure.update_layout(barmode="overlay", uniformtext={"minsize": 9, "mode": "hide"})
    marks = program.arena_marks
    for words, size in marks.items():
        _mark(figure, words, size / factor, on)
    last = len(program.entries) - 1
    figure.update_xaxes(title="instructions, in order", range=[-0.5, last + 0.5], showgrid=False, **_ticks(program))
    figure.update_yaxes(title=f"temporaries ({unit})", range=[0, 1.12 * max(high, *marks.values(), 1) / factor])
    return figure


def _mark(figure: go.Figure, words: str, at: float, on: Theme) -> None:
    figure.add_hline(y=at, line={"color": INK[on], "width": 1.25, "dash": "dot"})
    figure.add_annotation(
        x=1,
        xref="paper",
        y=at,
        text=f"<b>{words}</b>",
        font={"color": INK[on]},
        showarrow=False,
        xanchor="right",
        yanchor="bottom",
    )


def _hover(name: str, words: Sequence[str]) -> str:
    """Return the hover text, escaped, since Plotly reads some HTML."""
    size, *lines = map(html.escape, words)
    return "<br>".join([f"<b>{html.escape(one_line(name, LONGEST_NAME))}</b>{size}", *lines])


def _ticks(program: programs.ProgramView) -> dict[str, object]:
    count = len(program.entries)
    shown = range(0, count, max(1, -(-count // MOST_NAMED)))
    labels = [html.escape(program.instruction_label(index)) for index in shown]
    return {"tickvals": list(shown), "ticktext": labels, "tickangle": 45}


def stages_chart(stages: Mapping[str, float], on: Theme) -> go.Figure:
    """Draw the seconds of each stage as a bar, the first stage at the top."""
    names: Sequence[str] = [html.escape(one_line(name, LONGEST_NAME)) for name in stages]
    factor, unit = in_unit(max(stages.values(), default=1.0))
    figure = go.Figure()
    figure.add_bar(
        orientation="h",
        y=names,
        x=[seconds * factor for seconds in stages.values()],
        text=[fmt.duration_s(seconds) for seconds in stages.values()],
        textposition="outside",
        textfont={"color": MUTED[on]},
        cliponaxis=False,
        marker={"color": kernel_colour(0)},
        hoverinfo="skip",
    )
    figure.update_layout(**plotly_layout(on), height=AROUND_PX + BAR_PX * len(names), showlegend=False)
    most = max(stages.values(), default=1.0) * factor
    figure.update_xaxes(title=in_brackets("time, measured once", unit), range=[0, 1.2 * most])
    figure.update_yaxes(autorange="reversed")
    return figure


def chosen_segment(accelerator: views.AcceleratorView) -> views.SegmentView:
    """Return the segment in the URL, by default the largest; draw a choice if there are several."""
    segments, largest = accelerator.segments, accelerator.largest
    url.read(url.SEGMENT, segments, largest)
    if len(segments) == 1:
        return segments[largest]
    chosen = st.selectbox(
        "Segment",
        list(segments),
        key=url.SEGMENT,
        format_func=lambda name: segments[name].label if name in segments else name,
        label_visibility="collapsed",
        width=230,
    )
    url.write(url.SEGMENT)
    return segments[chosen or largest]


def nodes_of(view: View, segment: views.SegmentView) -> tuple[FxNode, ...]:
    """Return the nodes of the partitioned graph; empty if the log does not contain it."""
    return view.nodes(segment.graph) if segment.graph else ()


CHANGES = "changes"
# Backends that need no C++ compiler; the first is the built-in one with kernels in Python.
WITHOUT_COMPILER = ("registry", "aot_eager", "eager")
ALWAYS = WITHOUT_COMPILER[1:]


def change_menu(view: View, segment: views.SegmentView) -> None:
    """Draw fields for the accelerator's options and a button, if its job may run here."""
    job = job_again(view)
    if job is None or not views.AcceleratorOptions.is_used(job):
        return
    before = views.AcceleratorOptions.of(job)
    ops = list(dict.fromkeys([*before.without, *segment.switchable_ops(nodes_of(view, segment))]))
    with st.popover("What if…", icon=":material/alt_route:", help=before.help):
        without = st.multiselect(
            "Ops that torch runs", ops, list(before.without), key="pipeline-without", help=before.without_help
        )
        passes = st.multiselect("Passes", before.all_passes, list(before.passes), key="pipeline-passes")
        freeze = st.toggle("Freeze parameters", before.freeze, key="pipeline-freeze", help=before.freeze_help)
        changed = views.AcceleratorOptions(tuple(without), tuple(passes), freeze).applied(job)
        same = changed == before.applied(job)
        if pressed("Run beside this one", type="primary", key="pipeline-run", disabled=same):
            run_beside(changed, view)


def run_beside(job: CompileJob, before: RunView | None) -> None:
    """Open a finished or new run of the job on this page, compared with `before` unless it is None."""
    fitted = server.runner().limits.fitted(job)
    run = stored_run(fitted) or attempt(lambda: actions.submit(fitted))
    if run is not None:
        beside = {url.OTHER: before.run.id, url.STATION: CHANGES} if before else {}
        go_to(menu.ACCELERATOR, {url.RUN: run.id, **beside})


def run_before(view: View) -> RunView | None:
    """Return the URL's run to compare with; None unless it also used the accelerator."""
    name = url.asked(url.OTHER)
    before = open_view(name) if name and name != view.run.id else None
    return before if before is not None and views.AcceleratorView.is_used(before.report) else None


def changes_station(before: RunView, after: View) -> None:
    """Draw both runs' figures and options, and each op that torch runs more or less often than before."""
    changes = views.AcceleratorView(after.report, after.compilation).changes(before.report)
    st.caption(changes.words)
    left, right = st.columns([3, 2], gap="medium")
    with left:
        draw([changes.figures])
        st.caption(changes.times_note)
        page_link(menu.COMPARE, label="Compare the two runs", **{url.OTHER: before.run.id})
    with right:
        _options("Before", before)
        _options("Now", after)
        if changes.moved.rows:
            draw([changes.moved])


def _options(title: str, view: RunView) -> None:
    job = view.job
    if job is not None:
        st.markdown(f"**{title}**: {code(compile_options_as_text(job.compile), LONGEST_TEXT) or 'the defaults'}")


def offer(view: RunView, absence: views.AcceleratorAbsence) -> None:
    """Offer the accelerator if it has a C++ compiler, otherwise also backends that need none."""
    job = job_here(view, JobForm.accelerator_command)
    if job is None:
        return
    environment = server.environment() or Environment()
    is_known = bool(environment.torch)
    lacks_compiler = absence.no_compiler or (is_known and not environment.compiler)
    if lacks_compiler:
        st.write(views.AcceleratorView.needs_compiler)
    with st.container(horizontal=True):
        if environment.compiler or not (is_known or absence.no_compiler):
            label = "Run it again" if views.AcceleratorOptions.is_used(job) else "Run with the accelerator"
            if pressed(
                label,
                type="primary",
                key="accelerate",
                icon=":material/play_arrow:",
                help=views.AcceleratorOptions.run_help,
            ):
                run_beside(views.AcceleratorOptions().applied(job), None)
        if lacks_compiler:
            _alternatives(job, environment.backends or ALWAYS)


def _alternatives(job: CompileJob, backends: Sequence[str]) -> None:
    """Draw a button for each available backend that needs no compiler; it runs the same job."""
    for name in WITHOUT_COMPILER:
        if name in backends and pressed(views.AcceleratorOptions.backend_label(name), key=f"instead-{name}"):
            chosen = job.with_settings(backend=name, backend_code="", mode=None, options=None)
            submit_or_open(replace(chosen, target=""))
