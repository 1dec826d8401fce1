"""A package loaded and called from Python and from C++: the code for it, and the results."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from core.analysis import AotiStory, difference_words, results_of_run
from core.base import words as fmt
from core.report import PackageRun
from pages.components.code.view import CodePicture, code_lines, code_view
from pages.look.sizes import SHORT, TALL, code_height
from pages.look.text import LONGEST_LINE, LONGEST_NAME, LONGEST_TEXT, one_line, plain
from pages.session.tables import shown
from pages.session.view import RunView

MOST_RESULTS = 200
MOST_SOURCES = 8
FROM_PYTHON = """import torch

model = torch._inductor.aoti_load_package("{file}")
outputs = model(*inputs)
"""
STAGES = {"build": "was not built", "load": "could not load it", "call": "could not call it"}


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
