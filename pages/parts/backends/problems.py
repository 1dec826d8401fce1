"""The failures of a backend, or of the compiled code that it returned."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from core.analysis.backend import BackendProblem
from core.base import words as fmt
from core.report import Place
from pages.look.text import LONGEST_TEXT, code, prose

MOST_PROBLEMS = 3


def problem_boxes(problems: Sequence[BackendProblem]) -> None:
    """Draw the first failures, each with the backend's line."""
    for one in problems[:MOST_PROBLEMS]:
        st.error(_words(one), icon=":material/error:")
    if len(problems) > MOST_PROBLEMS:
        st.caption(f"{fmt.count(len(problems) - MOST_PROBLEMS, 'more problem')} of this kind.")


def _words(problem: BackendProblem) -> str:
    at = f" at {code(Place(*problem.place).short)}" if problem.place else ""
    when = "" if problem.execution is None else f", execution {fmt.number(problem.execution.number)}"
    return f"\\[{problem.compilation}\\]{when}: {code(problem.backend)} {prose(problem.words, LONGEST_TEXT)}{at}"
