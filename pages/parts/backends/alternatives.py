"""Other compilers for a run's model: built-in or custom backends, edited generated code, and MLX."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import streamlit as st

from core import SHIPPED_BACKENDS, CompileJob
from core.report import Kernel
from core.views.backend.run import BackendView
from core.views.job_form import JobForm
from core.views.neighbours import LazyBox
from core.views.run_files import RunFiles
from core.views.texts import SourceView
from pages import menu
from pages.gate.visitor import may_bring_code
from pages.look.charts import CODE_FONT, PLOTLY_CONFIG, go, plotly_layout
from pages.look.palette import INK, MUTED, PAPER, TALL, Theme
from pages.look.text import code, sentence
from pages.parts.run.own_backend import BackendChoice, own_code, with_backend
from pages.parts.run.submit import job_again, job_here, run_of
from pages.session.runs import show_run
from pages.session.server import theme
from pages.session.shown import RunView
from pages.session.url import pressed

FILES = {"output code": "output_code.py", "Inductor's input graph": "fx_graph_runnable.py"}


def offer_backends(view: RunView) -> None:
    """Offer the run's job with a built-in or custom backend."""
    job = job_here(view, JobForm.backend_command)
    if job is None:
        return
    st.header("Run with a built-in backend", anchor=False)
    st.caption(BackendView.built_in_note)
    with st.grid(min_column_width=200):
        for shipped in SHIPPED_BACKENDS.values():
            with st.container(border=True, gap="small", height="stretch"):
                st.markdown(f"**{code(shipped.name)}**")
                st.caption(sentence(shipped.words))
                if pressed("Run it", key=f"with-{shipped.name}", icon=":material/play_arrow:"):
                    run_with(job, BackendChoice(shipped.name))
    write_backend(view, job)


def write_backend(view: RunView, job: CompileJob) -> None:
    """Draw the editor for the run's own or a built-in backend, if the visitor may bring code."""
    if not may_bring_code():
        return
    st.header("Write your own", anchor=False)
    st.caption(BackendChoice.convention)
    editor(view, job)


def editor(view: RunView, job: CompileJob, most: int = TALL) -> None:
    """Draw the editor and its button; the new run is shown on this page."""
    button = st.container()
    chosen = own_code(job, f"write-{view.run.id}", most)
    with button:
        runs = pressed(
            "Run with this backend",
            type="primary",
            icon=":material/play_arrow:",
            key="run-backend",
            shortcut="Ctrl+Enter",
        )
    if runs:
        run_with(job, chosen)


def run_with(job: CompileJob, chosen: BackendChoice) -> None:
    """Show a finished or new run of the job with another backend on this page."""
    run = run_of(with_backend(job, chosen))
    if run is not None:
        show_run(run.id, menu.BACKEND)


def edit_and_run(view: RunView, kernel: Kernel) -> None:
    """Offer to edit a kernel's output code or the graph behind it, and to run the model with it."""
    job = job_again(view)
    if job is None or job.target or job.compile.backend != "inductor" or not may_bring_code():
        return
    if not st.toggle("Edit and run", key="edit-generated", help=BackendChoice.edit_help):
        return
    label = st.segmented_control("What to edit", list(FILES), default=next(iter(FILES)), key="edit-file")
    file = FILES.get(label or "", "output_code.py")
    code = RunFiles(view.run).edited(kernel.output_code, file)
    if not code:
        st.caption(SourceView.no_file)
        return
    button = st.container()
    begin = with_backend(job, BackendChoice("backend", code))
    changes = st.container()
    chosen = own_code(begin, f"edited-{view.run.id}-{kernel.output_code.offset}-{file}", TALL)
    if diff := RunFiles.changes(code, chosen.code):
        changes.expander("Your changes").code(diff, language="diff")
    with button:
        runs = pressed("Run the edited code", type="primary", icon=":material/play_arrow:", key="run-edited")
    if runs:
        run = run_of(replace(with_backend(job, chosen), rival=job.compile, measure=True))
        if run is not None:
            show_run(run.id, menu.OVERVIEW)


ROW_PX, FRAME_PX = 44, 30


def draw_lazy_graph(title: str, boxes: Sequence[LazyBox]) -> None:
    """Draw the lazy graph of a function of MLX."""
    st.plotly_chart(lazy_graph(boxes, theme()), theme=None, config=PLOTLY_CONFIG, key=f"mlx-graph-{title}")


def lazy_graph(boxes: Sequence[LazyBox], on: Theme) -> go.Figure:
    """Return the drawing of a lazy graph, from top to bottom."""
    widths = {box.column: sum(other.column == box.column for other in boxes) for box in boxes}
    places = [(box.row - (widths[box.column] - 1) / 2, -box.column) for box in boxes]
    figure = go.Figure(go.Scatter(x=[x for x, _ in places], y=[y for _, y in places], mode="markers", opacity=0))
    for box, (x, y) in zip(boxes, places, strict=True):
        for read in box.reads:
            figure.add_annotation(
                x=x, y=y, ax=places[read][0], ay=places[read][1], axref="x", ayref="y", arrowhead=2,
                arrowcolor=MUTED[on], standoff=12, startstandoff=12, text="", showarrow=True,
            )  # fmt: skip
    for box, (x, y) in zip(boxes, places, strict=True):
        figure.add_annotation(
            x=x, y=y, text=box.name, showarrow=False, font={"family": CODE_FONT, "color": INK[on]},
            bgcolor=PAPER[on], bordercolor=MUTED[on], borderpad=4,
        )  # fmt: skip
    height = FRAME_PX + ROW_PX * (1 + max(box.column for box in boxes))
    figure.update_layout(**plotly_layout(on), height=height, showlegend=False, hovermode=False, margin={"l": 0, "r": 0})
    axis = {"visible": False, "fixedrange": True}
    figure.update_xaxes(range=[-1.5, 1.5], **axis)
    figure.update_yaxes(range=[min(y for _, y in places) - 0.5, 0.5], **axis)
    return figure
