"""Which runs the shown one can be compared with."""

from __future__ import annotations

from collections.abc import Sequence

from core import Comparable, comparable_runs
from pages.look.text import LONGEST_LINE, one_line
from pages.session.runs import listed_runs, run_label
from pages.session.view import RunView


def other_runs(view: RunView) -> tuple[Comparable, ...]:
    """Ended runs of the same model that this visitor is shown, newest first."""
    return comparable_runs(listed_runs(), view.run, view.shown.status.title, view.job)


def labels(others: Sequence[Comparable]) -> dict[str, str]:
    """Each run in the list of right sides: what it was made for and when, and the end of its id, since a choice is
    known by its label.
    """
    return {other.run.id: _label(other) for other in others}


def _label(other: Comparable) -> str:
    return one_line(f"{run_label(other.run, other.status)} · {other.run.id[-4:]}", LONGEST_LINE)
