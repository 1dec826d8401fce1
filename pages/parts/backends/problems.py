"""The failures of a backend, or of the compiled code that it returned."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from core.analysis.backend import BackendProblem
from core.base import words as fmt
from core.report import Place
from pages.look.text import LONGEST_TEXT, code, prose

MOST_PROBLEMS = 3


def problem_boxes(found: Sequence[BackendProblem]) -> None:
    """Draw the first failures, each with the backend's line."""
    for one in found[:MOST_PROBLEMS]:
        st.error(_words(one), icon=":material/error:")
    if len(found) > MOST_PROBLEMS:
        st.caption(f"{fmt.count(len(found) - MOST_PROBLEMS, 'more problem')} of this kind.")


def _words(one: BackendProblem) -> str:
    at = f" at {code(Place(*one.place).short)}" if one.place else ""
    when = "" if one.execution is None else f", execution {fmt.number(one.execution.number)}"
    return f"\\[{one.compilation}\\]{when}: {code(one.backend)} {prose(one.words, LONGEST_TEXT)}{at}"
