"""Runs that the shown run can be compared with: runs of the same model first, then all others.

Comparisons of two runs and of their kernels, cached for all sessions.
"""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from core import Comparable, comparable_runs
from core.views.compare import CompareView
from core.views.kernel_pairs import KernelPairsView
from pages.look.text import LONGEST_LINE, one_line
from pages.session import url
from pages.session.cache import cached
from pages.session.runs import named_runs, run_label
from pages.session.shown import RunView, open_view


def other_runs(view: RunView) -> tuple[Comparable, ...]:
    """Return ended runs of the same model that are listed for this visitor, newest first."""
    return comparable_runs(named_runs(), view.run, view.shown.status.title, view.job)


def labels(candidates: Sequence[Comparable]) -> dict[str, str]:
    """Return each run's label in the list of right sides.

    A label contains the run's settings, its time and the end of its id, so that labels are unique.
    """
    return {other.run.id: _label(other) for other in candidates}


def any_runs(view: RunView) -> dict[str, str]:
    """Return the run's other ranks, all other runs listed for this visitor (same model first), and the URL's run."""
    ranks = {other.id: f"rank {other.rank} of this run" for other in view.run.other_ranks()}
    named = {run.id: _label(Comparable(run, status, None)) for run, status in named_runs()}
    asked = url.asked(url.OTHER)
    there = open_view(asked) if asked and asked not in named and asked not in ranks else None
    if there is not None:
        named[there.run.id] = _label(Comparable(there.run, there.shown.status, there.job))
    alike = labels(other_runs(view))
    named = {run_id: label for run_id, label in named.items() if not view.run.is_same_run(run_id)}
    return {**ranks, **alike, **named}


def pick_other(names: dict[str, str], first: str | None) -> str | None:
    """Let the visitor pick the right run, by default the URL's, otherwise the first; the choice is in the URL."""
    url.read(url.OTHER, names, first)
    chosen = st.selectbox(
        "Right",
        list(names),
        key=url.OTHER,
        format_func=lambda name: names.get(name, name),
        placeholder="Choose a run to compare with",
        label_visibility="collapsed",
    )
    url.write(url.OTHER)
    return chosen


def newest_other(view: RunView, names: dict[str, str]) -> str | None:
    """Return the default right run: another rank, same model and target, or same model; None if there is none."""
    ranks = view.run.other_ranks()
    if ranks:
        return ranks[0].id
    alike = other_runs(view)
    target = view.job.target if view.job else ""
    same = [other for other in alike if other.job is None or other.job.target == target]
    return next((other.run.id for other in (*same, *alike) if other.run.id in names), None)


def _label(candidate: Comparable) -> str:
    return one_line(f"{run_label(candidate.run, candidate.status)} · {candidate.run.id[-4:]}", LONGEST_LINE)


def compare_view(left: RunView, right: RunView) -> CompareView:
    """Return all differences of two runs."""
    return _compared(_ids(left, right), left, right)


@cached("Comparing")
def _compared(ids: tuple[str, ...], _left: RunView, _right: RunView) -> CompareView:
    return CompareView(_left.side, _right.side, (_left.shown.status.node, _right.shown.status.node))


def kernel_pairs_view(left: RunView, left_id: str, right: RunView, right_id: str = "") -> KernelPairsView | None:
    """Return the kernels of two compilations compared; None if the right run has none to compare with."""
    return _kernels((*_ids(left, right), left_id, right_id), left, right)


@cached("Comparing")
def _kernels(ids: tuple[str, ...], _left: RunView, _right: RunView) -> KernelPairsView | None:
    return KernelPairsView.of(_left.side, ids[-2], _right.side, ids[-1])


def _ids(left: RunView, right: RunView) -> tuple[str, ...]:
    return left.run.id, str(left.report.log_bytes), right.run.id, str(right.report.log_bytes)
