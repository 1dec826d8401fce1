"""Form for packaging a run's model, steps of the packaging, and the result of the selected step.

Export: the program and its signature. Package: its files as a tree, the text of the chosen file, and the
metadata. Python and C++: the code that runs the package, and its results. Last, the time of a call beside
eager and compiled.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import streamlit as st

from core import CompileJob
from core.base import words as fmt
from core.views.aotinductor import package
from core.views.aotinductor import run as views
from core.views.blocks import Table
from core.views.job_form import JobForm
from pages import menu
from pages.components.boxes.view import WayStage, way
from pages.components.code.view import CodePicture, code_lines, code_view
from pages.look.charts import go, median_bars
from pages.look.palette import SHORT, TALL, Theme, code_height
from pages.look.text import code, plain
from pages.parts.code import user_code
from pages.parts.run.submit import job_here, submit_or_open
from pages.session import url
from pages.session.downloads import package_download
from pages.session.shown import RunView
from pages.session.tables import Parts, charts, draw, newly_picked_row
from pages.session.url import pressed, set_state, state_of

COLOURS = {"eager": 3, "compiled": 0, "python": 2, "c++": 1}
OTHER_COLOUR = 4
# Part of the page → prefix of the ids of its lines.
PREFIXES = {"export": "x", "package": "p", "runner": "r"}
BAR_PX, FRAME_PX = 36, 66
MOST_SIZE = 2**40  #: a bound of a dynamic dimension
FORM_PX = 620


def package_parts(view: RunView) -> Parts:
    """Return the parts of the page by their names."""
    aoti = views.AotInductorView(view.report)

    def panel() -> None:
        draw(aoti.panel(aoti.step(state_of(url.STEP)), view.text), parts)

    parts: dict[str, Callable[..., object]] = {
        views.ASK: partial(ask_for_package, view, aoti, "Package this model"),
        views.ASK_AGAIN: partial(_ask_again, view, aoti),
        views.WAY: partial(_choose_step, aoti),
        views.PANEL: panel,
        package.CODE: partial(_code, view),
        package.NOT_EXPORTED: partial(_not_exported, view),
        package.DOWNLOAD: partial(package_download, view.run),
        package.FILES: _choose_file,
        package.FILE_TEXT: partial(_file_text, view),
        views.PYTHON: _python_code,
        views.SOURCES: partial(_sources, view),
        **charts(view, {views.TIMES: times_chart}),
    }
    return parts


def _choose_step(aoti: views.AotInductorView) -> None:
    """Draw the steps with the chosen one; by default the first failed step, else the package."""
    url.read(url.STEP, views.STEPS, aoti.first_step)
    columns = tuple(
        tuple(WayStage(step.id, step.title, step.call, step.state, figure, outcome) for step, figure, outcome in column)
        for column in aoti.steps
    )
    way(columns, aoti.step(state_of(url.STEP)), key="package-way", on_pick=partial(set_state, url.STEP))
    url.write(url.STEP)


def _code(view: RunView, part: str, code: package.PackageCode) -> None:
    """Draw a recorded text of a package in the code view."""
    key = "exported" if part == "export" else f"{part}-{code.name}"
    picture = CodePicture(code.title, code.language, code_lines(view.text(code.payload), prefix=PREFIXES[part]))
    code_view(picture, key=key, height=TALL, channel=part)


def _not_exported(view: RunView, export: package.ExportView) -> None:
    """Draw torch's error message, and beside it the user's line that the message names."""
    problem = export.export.problem
    height = code_height(problem)
    if export.line is None:
        st.code(problem, language=None, height=height, wrap_lines=True)
        return
    left, right = st.columns(2, gap="medium")
    left.code(problem, language=None, height=TALL if height == SHORT else height, wrap_lines=True)
    picture = user_code(view, error=export.error)
    if picture is not None:
        with right:
            code_view(picture, key="not-exported", height=TALL, selected=f"l:{export.line}")


def _choose_file(tree: Table[Any]) -> None:
    """Draw the tree of files; a click writes a file's name to the URL."""
    clicked = newly_picked_row(tree, height=SHORT)
    if clicked is not None and clicked.file is not None:
        url.put(url.FILE, clicked.file.name)


def _file_text(view: RunView, of: package.PackageView) -> None:
    """Draw the text of the file in the URL, or its size if it has no text."""
    file = of.file(url.asked(url.FILE))
    if file.code is None:
        st.subheader(plain(file.title), anchor=False)
        st.caption(file.no_text)
        return
    _code(view, "package", file.code)


def _python_code(text: str) -> None:
    code_view(CodePicture("from Python", "python", code_lines(text, prefix="y")), key="from-python", height=150)


def _sources(view: RunView, sources: Sequence[package.PackageCode]) -> None:
    """Draw the files of the C++ program, each in a tab."""
    for tab, source in zip(st.tabs([source.title for source in sources]), sources, strict=True):
        with tab:
            _code(view, "runner", source)


def times_chart(bars: Sequence[views.SideBar], on: Theme) -> go.Figure:
    """Draw the time of each side, with quartiles."""
    rows = [(bar.name, bar.median_s, bar.quartiles_s, COLOURS.get(bar.side, OTHER_COLOUR)) for bar in bars]
    return median_bars(rows, on, FRAME_PX + BAR_PX * len(rows))


def _ask_again(view: RunView, aoti: views.AotInductorView) -> None:
    with st.expander("Package again, with other sizes", aoti.export_failed, icon=":material/tune:"):
        ask_for_package(view, aoti, "Package again")


def ask_for_package(view: RunView, aoti: views.AotInductorView, label: str) -> None:
    """Offer to package the run's model, and show the command line."""
    job = job_here(view, JobForm.package_command)
    if job is None:
        return
    request = views.PackageRequest(job, _bounds(aoti.sizes_now, job))
    with st.container(horizontal=True, vertical_alignment="center"):
        if pressed(label, key="package-model", type="primary", icon=menu.AOTINDUCTOR.icon):
            submit_or_open(request.job)
        st.caption(request.caption)
    st.caption(request.command_title)
    st.code(request.command, language=None, wrap_lines=True)


def _bounds(sizes: dict[str, int], job: CompileJob) -> dict[str, tuple[int | None, int | None]]:
    """Draw the choice of dynamic dimensions; return the chosen ones, each with its bounds."""
    before = views.PackageRequest.bounds_of(job)
    names = views.PackageRequest.names(job, sizes)
    chosen = st.multiselect(
        "Dynamic dimensions",
        names,
        [name for name in names if name in before],
        lambda name: f"{name} (now {fmt.number(sizes[name])})" if name in sizes else name,
        key="package-dims",
        help=views.PackageRequest.dims_help,
        placeholder="all sizes static",
        width=FORM_PX,
    )
    return {name: _typed_bounds(name, *before.get(name, (None, None))) for name in chosen}


def _typed_bounds(name: str, least: int | None, most: int | None) -> tuple[int | None, int | None]:
    """Draw two fields for a dimension's bounds; return those entered, or None for torch's."""
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
        help=views.PackageRequest.bound_help,
        label_visibility="collapsed",
        width=150,
    )
    return None if found is None else int(found)
