"""The panels of the steps to a package: the exported program, the files, and the runs from Python and from C++.

The contents of a package: its files as a tree, the text of the chosen file, and AOTInductor's metadata.

A package loaded and called from Python and from C++: the code for it, and the results.

The steps from a model to a package and to its callers, as boxes; the selected step is open below.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial

import pandas as pd
import streamlit as st

from core.analysis import (
    AotiStory,
    PackagingStep,
    StepId,
    TreeRow,
    difference_words,
    package_tree,
    packaging_steps,
    results_of_run,
    step_with_problem,
)
from core.base import words as fmt
from core.report import Export, Package, PackagedFile, PackagePart, PackageRun, PackageText, RunError
from pages.components.code.view import CodePicture, code_lines, code_view
from pages.components.way.view import WayStage, way
from pages.look.sizes import SHORT, TALL, code_height
from pages.look.text import LONGEST_LINE, LONGEST_NAME, LONGEST_TEXT, code, one_line, plain
from pages.parts.code import user_code
from pages.session import url
from pages.session.downloads import package_download
from pages.session.shown import RunView
from pages.session.state import held, hold
from pages.session.tables import newly_picked, shown

MOST_FILES = 400
MOST_METADATA = 60
# Order of interest: the C++ that calls the kernels, then the kernels.
FIRST = ("wrapper", "kernels", "metadata")
INDENT = "\u2003"
# Torch's name for compiled code: a digest in base 32.
DIGEST = re.compile(r"\bc[a-z2-7]{50,}\.?")
SHORT_DIGEST = 8
MOST_RESULTS = 200
MOST_SOURCES = 8
FROM_PYTHON = """import torch

model = torch._inductor.aoti_load_package("{file}")
outputs = model(*inputs)
"""
STAGES = {"build": "was not built", "load": "could not load it", "call": "could not call it"}
MOST_VALUES = 400
MOST_LINES = 80
STEPS: tuple[StepId, ...] = ("export", "package", "python", "c++")


def package_panel(view: RunView, story: AotiStory) -> None:
    """Draw the files of the package beside the text of one of them."""
    package = story.package
    if package is None:
        st.caption("The model was not exported, so there is no package.")
        return
    if package.problem:
        st.code(package.problem, language=None, height=code_height(package.problem))
    files = package.files[:MOST_FILES]
    if not files:
        return
    left, right = st.columns([2, 3], gap="medium")
    with left:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.subheader(plain(package.file or "model.pt2", LONGEST_NAME), anchor=False)
            package_download(view.run)
        chosen = _tree(view, package, files)
        _metadata(package)
    with right:
        _text(view, chosen)


def _tree(view: RunView, package: Package, files: Sequence[PackagedFile]) -> PackagedFile:
    """Draw the tree; return the file that is chosen, by a click or by the URL."""
    rows = package_tree(files)
    frame = pd.DataFrame(
        [{"file": _indented(row), "kind": row.kind, "size": fmt.bytes_(row.bytes)} for row in rows],
    )
    clicked = newly_picked(frame, rows, "package-files", height=SHORT)
    if clicked is not None and clicked.file is not None:
        url.put(url.FILE, clicked.file.name)
    left_out = package.left_out + len(package.files) - len(files)
    if left_out:
        st.caption(f"{fmt.count(left_out, 'more file')} not shown.")
    asked = url.asked(url.FILE)
    return next((file for file in files if file.name == asked), None) or _first(view, files)


def _indented(row: TreeRow) -> str:
    return INDENT * row.depth + _short(row.name)


def _short(name: str) -> str:
    """Return a name without the middle of torch's digest at its start."""
    shown = one_line(name, LONGEST_LINE)
    return DIGEST.sub(lambda entry: f"{entry.group()[:SHORT_DIGEST]}…", shown)


def _first(view: RunView, files: Sequence[PackagedFile]) -> PackagedFile:
    """Return the first file to show: one with a recorded text, the wrapper before others."""
    readable = [file for file in files if text_of(view, "file", file.name) is not None]
    by_kind = (file for kind in FIRST for file in readable if file.kind == kind)
    return next(by_kind, None) or next(iter(readable), files[0])


def _text(view: RunView, file: PackagedFile) -> None:
    """Draw the text of a file, or its kind if it has no text."""
    name = _short(file.name.rsplit("/", 1)[-1])
    text = text_of(view, "file", file.name)
    if text is None:
        st.subheader(plain(name, LONGEST_NAME), anchor=False)
        st.caption(f"{fmt.bytes_(file.bytes)} of which no text was recorded.")
        return
    lines = code_lines(view.text(text.text), prefix="p")
    code_view(CodePicture(name, text.language, lines), key=f"package-{file.name}", height=TALL, channel="package")


def _metadata(package: Package) -> None:
    """Draw AOTInductor's metadata of the package, and its digest."""
    rows = [
        {"metadata": one_line(name, LONGEST_NAME), "value": one_line(value, LONGEST_LINE)}
        for name, value in list(package.metadata.items())[:MOST_METADATA]
    ]
    if rows:
        shown(pd.DataFrame(rows), rows, height=SHORT)
    digest = f" SHA-256 {code(package.sha256, LONGEST_NAME)}" if package.sha256 else ""
    st.caption(f"{fmt.count(package.constants, 'parameter or buffer', 'parameters and buffers')} in it.{digest}")


def text_of(view: RunView, part: PackagePart, name: str) -> PackageText | None:
    """Return a text of a package by its part and name, any name if none is passed; None if it was not recorded."""
    found = (text for text in view.report.package_texts if text.part == part and (not name or text.name == name))
    return next(found, None)


def python_panel(view: RunView, story: AotiStory) -> None:
    """Draw how the package is run from Python, and its results there."""
    file = story.package.file if story.package and story.package.file else "model.pt2"
    left, right = st.columns(2, gap="medium")
    with left:
        code = FROM_PYTHON.format(file=one_line(file, LONGEST_NAME).replace('"', ""))
        code_view(CodePicture("from Python", "python", code_lines(code, prefix="y")), key="from-python", height=150)
        st.caption("No model file and no Dynamo: the package holds the code and the constants.")
    with right:
        _outcome("Python", story.python)


def cpp_panel(view: RunView, story: AotiStory) -> None:
    """Draw the C++ program with its build files, how it was built, and its results."""
    texts = [text for text in view.report.package_texts if text.part == "runner"][:MOST_SOURCES]
    left, right = st.columns([3, 2], gap="medium")
    with left:
        if texts:
            names = [one_line(text.name, LONGEST_NAME) for text in texts]
            for tab, text in zip(st.tabs(names), texts, strict=True):
                lines = code_lines(view.text(text.text), prefix="r")
                picture = CodePicture(one_line(text.name, LONGEST_NAME), text.language, lines)
                with tab:
                    code_view(picture, key=f"runner-{text.name}", height=TALL, channel="runner")
        else:
            st.caption("The program's source was not recorded.")
    with right:
        _outcome("The program in C++", story.cpp)
        if story.cpp is not None:
            _build(story.cpp)


def _outcome(who: str, run: PackageRun | None) -> None:
    """Draw the outputs compared with eager, or the message of the failure."""
    if run is None:
        st.caption("There is no package to run.")
        return
    if run.problem:
        st.error(plain(f"{who} {STAGES.get(run.stage, 'did not run it')}."), icon=":material/error:")
        st.code(run.problem, language=None, height=code_height(run.problem))
        return
    loaded, first = fmt.duration_s(run.load_s), fmt.duration_s(run.call_s)
    threads = f", on {fmt.count(run.threads, 'thread')}" if run.threads else ""
    told = results_of_run(run)
    st.markdown(plain(f"{told[:1].upper()}{told[1:]}.", LONGEST_TEXT) if told else "Nothing was compared.")
    st.caption(f"Loaded in {loaded}; the first call took {first}{threads}.")
    right = all(item.same for item in run.differences)
    rows = [
        {
            "output": one_line(item.what, LONGEST_NAME),
            "against eager": {True: "same", False: "differs", None: "not comparable"}[item.same],
            "largest difference": fmt.number(item.max_abs),
            "error": None if item.error is None else fmt.number(item.error),
            **({} if right else {"told": "" if item.same else one_line(difference_words(item), LONGEST_LINE)}),
        }
        for item in run.differences[:MOST_RESULTS]
    ]
    if rows:
        shown(pd.DataFrame(rows), rows, height=SHORT)


def _build(run: PackageRun) -> None:
    """Draw how the program was built, and its output."""
    if run.compiler:
        took = "built before" if run.build_s is None else f"built in {fmt.duration_s(run.build_s)}"
        st.caption(plain(f"{run.compiler}; {took}", LONGEST_LINE))
    if run.command:
        st.code(run.command, language=None, wrap_lines=True)
    if run.output:
        st.caption("What the program printed")
        st.code(run.output, language=None, height=code_height(run.output))


def panel(view: RunView, story: AotiStory, step: StepId) -> None:
    """Draw the result of one step."""
    PANELS[step](view, story)


def _export_panel(view: RunView, story: AotiStory) -> None:
    export = story.export
    if export is None:
        return
    st.code(export.call, language="python")
    if export.problem:
        _not_exported(view, export)
        return
    left, right = st.columns([3, 2], gap="medium")
    with left:
        text = text_of(view, "graph", "")
        st.subheader("The graph, in aten ops", anchor=False)
        if text is not None:
            lines = code_lines(view.text(text.text), prefix="x")
            code_view(CodePicture("exported program", "python", lines), key="exported", height=TALL, channel="export")
    with right:
        st.subheader("What goes in and out", anchor=False)
        _signature(export)
        if export.guards:
            st.caption("Checked before it runs, in torch's words")
            guards = "\n".join(line[:LONGEST_LINE] for line in export.guards[:MOST_LINES])
            st.code(guards, language=None, height=code_height(guards))


def _not_exported(view: RunView, export: Export) -> None:
    """Draw torch's message, and the line of the user's code that it names."""
    height = code_height(export.problem)
    if not export.frames:
        st.code(export.problem, language=None, height=height, wrap_lines=True)
        return
    left, right = st.columns(2, gap="medium")
    left.code(export.problem, language=None, height=TALL if height == SHORT else height, wrap_lines=True)
    kind, _, message = export.problem.partition(":")
    error = RunError("export", kind[:LONGEST_NAME], "", message.strip(), export.frames, "")
    picture = user_code(view, error=error)
    if picture is not None:
        with right:
            code_view(picture, key="not-exported", height=TALL, selected=f"l:{export.frames[-1].line}")


def _signature(export: Export) -> None:
    """Draw the inputs and outputs as the program's signature names them."""
    rows = [
        {
            "name": one_line(value.name, LONGEST_NAME),
            "kind": one_line(value.kind.replace("_", " "), LONGEST_NAME),
            "value": one_line(value.value, LONGEST_NAME),
            "in the model": one_line(value.target, LONGEST_NAME),
        }
        for value in export.values[:MOST_VALUES]
    ]
    shown(pd.DataFrame(rows), rows, height=SHORT)
    left_out = export.left_out + max(0, len(export.values) - MOST_VALUES)
    if left_out:
        st.caption(f"{fmt.count(left_out, 'more value')} not shown.")


PANELS: dict[StepId, Callable[[RunView, AotiStory], None]] = {
    "export": _export_panel,
    "package": package_panel,
    "python": python_panel,
    "c++": cpp_panel,
}


def package_way(story: AotiStory) -> StepId:
    """Draw the steps; return the open one: the first that failed, unless another is chosen."""
    first = step_with_problem(story) or "package"
    url.read(url.STEP, STEPS, first)
    wanted = held(url.STEP, first)
    chosen = next((step for step in STEPS if step == wanted), first)
    columns = tuple(tuple(map(_stage, column)) for column in packaging_steps(story))
    way(columns, chosen, key="package-way", on_pick=partial(hold, url.STEP))
    url.write(url.STEP)
    return chosen


def _stage(step: PackagingStep) -> WayStage:
    per_call = step.id in ("python", "c++") and step.state == "done"
    figure = "" if step.seconds is None else fmt.duration_s(step.seconds) + (" a call" if per_call else "")
    return WayStage(step.id, step.title, step.call, step.state, figure, one_line(step.words, LONGEST_LINE))
