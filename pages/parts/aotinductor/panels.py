"""Form for packaging a run's model, steps of the packaging, and the result of the selected step.

Export: the program and its signature. Package: its files as a tree, the text of the chosen file, and the
metadata. Python and C++: the code that runs the package, and its results. Last, the time of a call beside
eager and compiled.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import streamlit as st

from core import CompileJob
from core.base import words as fmt
from core.views import aotinductor
from pages import menu
from pages.components.code.view import CodePicture, code_lines, code_view
from pages.components.way.view import WayStage, way
from pages.look.charts import PLOTLY_CONFIG, median_bars
from pages.look.palette import SHORT, TALL, code_height
from pages.look.text import code
from pages.parts.code import user_code
from pages.parts.run.submit import job_again, submit_or_open
from pages.session import url
from pages.session.downloads import package_download
from pages.session.server import cached_figure, theme
from pages.session.shown import RunView
from pages.session.tables import data_frame, newly_picked, shown
from pages.session.url import pressed, set_state, state_of

COLOURS = {"eager": 3, "compiled": 0, "python": 2, "c++": 1}
OTHER_COLOUR = 4
BAR_PX, FRAME_PX = 36, 66
MOST_SIZE = 2**40  #: a bound of a dynamic dimension
FORM_PX = 620


def choose_step(aoti: aotinductor.AotInductorView) -> str:
    """Draw the steps, and return the chosen one; by default the first failed step, else the package."""
    first = aoti.first_step
    url.read(url.STEP, aoti.step_ids, first)
    chosen = aoti.step(state_of(url.STEP, first))
    columns = tuple(
        tuple(WayStage(step.id, step.title, step.call, step.state, figure, outcome) for step, figure, outcome in column)
        for column in aoti.steps
    )
    way(columns, chosen, key="package-way", on_pick=partial(set_state, url.STEP))
    url.write(url.STEP)
    return chosen


def panel(view: RunView, aoti: aotinductor.AotInductorView, step: str) -> None:
    """Draw the result of one step."""
    PANELS[step](view, aoti)


def _export_panel(view: RunView, aoti: aotinductor.AotInductorView) -> None:
    export = aoti.export
    if export is None:
        return
    st.code(export.call, language="python")
    if export.problem:
        _not_exported(export.problem, export.line, user_code(view, error=export.error))
        return
    left, right = st.columns([3, 2], gap="medium")
    with left:
        st.subheader("The graph, in aten ops", anchor=False)
        if export.graph is not None:
            lines = code_lines(view.text(export.graph.payload), prefix="x")
            picture = CodePicture(export.graph.title, export.graph.language, lines)
            code_view(picture, key="exported", height=TALL, channel="export")
    with right:
        st.subheader("What goes in and out", anchor=False)
        rows = export.signature
        shown(data_frame(rows), rows, height=SHORT)
        if export.more_values:
            st.caption(export.more_values)
        if export.guards:
            st.caption(export.guards_title)
            st.code(export.guards, language=None, height=code_height(export.guards))


def _not_exported(problem: str, line: int | None, picture: CodePicture | None) -> None:
    """Draw torch's error message, and beside it the user's line that the message names."""
    height = code_height(problem)
    if line is None:
        st.code(problem, language=None, height=height, wrap_lines=True)
        return
    left, right = st.columns(2, gap="medium")
    left.code(problem, language=None, height=TALL if height == SHORT else height, wrap_lines=True)
    if picture is not None:
        with right:
            code_view(picture, key="not-exported", height=TALL, selected=f"l:{line}")


def _package_panel(view: RunView, aoti: aotinductor.AotInductorView) -> None:
    """Draw the files of the package, next to the text of the chosen file."""
    package = aoti.package
    if package is None:
        st.caption(aoti.no_package)
        return
    if package.problem:
        st.code(package.problem, language=None, height=code_height(package.problem))
    if not package.files:
        return
    left, right = st.columns([2, 3], gap="medium")
    with left:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.subheader(package.title, anchor=False)
            package_download(view.run)
        name = _choose_file(package)
        metadata = package.metadata
        if metadata:
            shown(data_frame(metadata), metadata, height=SHORT)
        st.caption(package.constants)
    with right:
        _file_text(view, package, name)


def _choose_file(package: aotinductor.PackageView) -> str | None:
    """Draw the tree; return the chosen file's name from the click or the URL, None without a choice."""
    clicked = newly_picked(data_frame(package.rows), package.tree, "package-files", height=SHORT)
    if clicked is not None and clicked.file is not None:
        url.put(url.FILE, clicked.file.name)
    if package.more_files:
        st.caption(package.more_files)
    return url.asked(url.FILE)


def _file_text(view: RunView, package: aotinductor.PackageView, name: str | None) -> None:
    """Draw the text of a file, or its size if it has no text."""
    file = package.file(name)
    if file.code is None:
        st.subheader(file.title, anchor=False)
        st.caption(file.no_text)
        return
    picture = CodePicture(file.code.title, file.code.language, code_lines(view.text(file.code.payload), prefix="p"))
    code_view(picture, key=f"package-{file.code.name}", height=TALL, channel="package")


def _python_panel(view: RunView, aoti: aotinductor.AotInductorView) -> None:
    """Draw the Python code that runs the package, and its results."""
    left, right = st.columns(2, gap="medium")
    with left:
        lines = code_lines(aoti.python_code, prefix="y")
        code_view(CodePicture("from Python", "python", lines), key="from-python", height=150)
        st.caption(aoti.call_note)
    with right:
        _results(aoti, aoti.python)


def _cpp_panel(view: RunView, aoti: aotinductor.AotInductorView) -> None:
    """Draw the C++ program with its build files, its build command, and its results."""
    left, right = st.columns([3, 2], gap="medium")
    with left:
        _cpp_sources(view, aoti)
    with right:
        _results(aoti, aoti.cpp)
        if aoti.cpp is not None:
            _build(aoti.cpp)


def _cpp_sources(view: RunView, aoti: aotinductor.AotInductorView) -> None:
    """Draw the files of the C++ program, each in a tab."""
    sources = aoti.cpp_sources
    if not sources:
        st.caption(aoti.no_sources)
        return
    for tab, source in zip(st.tabs([source.title for source in sources]), sources, strict=True):
        picture = CodePicture(source.title, source.language, code_lines(view.text(source.payload), prefix="r"))
        with tab:
            code_view(picture, key=f"runner-{source.name}", height=TALL, channel="runner")


def _results(aoti: aotinductor.AotInductorView, run: aotinductor.PackageRunView | None) -> None:
    """Draw the outputs compared with eager, or the error message."""
    if run is None:
        st.caption(aoti.no_run)
        return
    if run.failure:
        st.error(run.failure, icon=":material/error:")
        st.code(run.problem, language=None, height=code_height(run.problem))
        return
    st.markdown(run.results)
    st.caption(run.duration)
    rows = run.rows
    if rows:
        shown(data_frame(rows), rows, height=SHORT)


def _build(run: aotinductor.PackageRunView) -> None:
    """Draw the build command of the program, and the program's output."""
    if run.build:
        st.caption(run.build)
    if run.command:
        st.code(run.command, language=None, wrap_lines=True)
    if run.output:
        st.caption("What the program printed")
        st.code(run.output, language=None, height=code_height(run.output))


PANELS: dict[str, Callable[[RunView, aotinductor.AotInductorView], None]] = {
    "export": _export_panel,
    "package": _package_panel,
    "python": _python_panel,
    "c++": _cpp_panel,
}


def times_part(view: RunView, aoti: aotinductor.AotInductorView) -> None:
    """Draw the time of each side with quartiles, and its speedup over eager with its interval."""
    times = aoti.times
    st.header("Time per call", anchor=False)
    if times is None:
        st.caption(aoti.not_timed)
        return
    on = theme()
    rows = [(bar.name, bar.median_s, bar.quartiles_s, COLOURS.get(bar.side, OTHER_COLOUR)) for bar in times.bars]
    height = FRAME_PX + BAR_PX * len(rows)
    figure = cached_figure(
        lambda: median_bars(rows, on, height), "package-times", view.run.id, view.report.log_bytes, on
    )
    st.plotly_chart(figure, theme=None, config=PLOTLY_CONFIG, key="package-times")
    st.dataframe(data_frame(times.rows), hide_index=True, placeholder="")
    st.caption(times.method)


def sizes_part(aoti: aotinductor.AotInductorView) -> None:
    """Draw the requested dynamic dimensions, torch's ranges, and the results of calls near the bounds."""
    sizes = aoti.sizes
    st.header("Sizes", anchor=False)
    if sizes is None:
        return
    for dim in sizes.dims:
        st.caption(dim)
    if sizes.ranges:
        st.caption("`range_constraints`, as torch prints them")
        st.code(sizes.ranges, language=None)
    rows = sizes.rows
    if rows:
        st.caption("Calls with other sizes", help=aoti.trials_help)
        st.table(data_frame(rows).set_index("size"))
        for advice in sizes.advice:
            st.info(advice, icon=":material/lightbulb:")
        st.caption(sizes.checks)


def ask_for_package(view: RunView, aoti: aotinductor.AotInductorView, label: str) -> None:
    """Offer to package the run's model, and show the command line.

    Draw nothing for a target, or if the job may not run here.
    """
    job = job_again(view)
    if job is None or job.target:
        return
    request = aotinductor.PackageRequest(job, _bounds(aoti.sizes_now, job))
    with st.container(horizontal=True, vertical_alignment="center"):
        if pressed(label, key="package-model", type="primary", icon=menu.AOTINDUCTOR.icon):
            submit_or_open(request.job)
        st.caption(request.caption)
    st.caption(request.command_title)
    st.code(request.command, language=None, wrap_lines=True)


def _bounds(sizes: dict[str, int], job: CompileJob) -> dict[str, tuple[int | None, int | None]]:
    """Draw the choice of dynamic dimensions; return the chosen ones, each with its bounds."""
    before = aotinductor.PackageRequest.bounds_of(job)
    names = aotinductor.PackageRequest.names(job, sizes)
    chosen = st.multiselect(
        "Dynamic dimensions",
        names,
        [name for name in names if name in before],
        lambda name: f"{name} (now {fmt.number(sizes[name])})" if name in sizes else name,
        key="package-dims",
        help=aotinductor.PackageRequest.dims_help,
        placeholder="all sizes static",
        width=FORM_PX,
    )
    return {name: _typed_bounds(name, *before.get(name, (None, None))) for name in chosen}


def _typed_bounds(name: str, least: int | None, most: int | None) -> tuple[int | None, int | None]:
    """Draw two fields for the bounds of a dimension; return the bounds that the visitor entered.

    An empty field gives None: torch chooses the bound.
    """
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"{code(name)} from", width=130)
        typed = _bound("at least", name, least)
        st.markdown("to", width=20)
        return typed, _bound("at most", name, most)


def _bound(label: str, name: str, before: int | None) -> int | None:
    found = st.number_input(
        label,
        0,
        MOST_SIZE,
        before,
        key=f"package-{label}-{name}",
        placeholder=label,
        help=aotinductor.PackageRequest.bound_help,
        label_visibility="collapsed",
        width=150,
    )
    return None if found is None else int(found)
