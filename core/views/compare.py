"""Comparison of two runs: its title, the differences of each aspect, and the rows of its tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, TypeVar

from core.analysis import phase_class, phase_totals, speed
from core.analysis.comparison import (
    Figure,
    MatchedPair,
    RunSide,
    SourceDifference,
    compare_runs,
    comparison_data,
    comparison_sentence,
    seconds_words,
    speed_words,
)
from core.base import words as fmt
from core.report import GraphBreak, Recompile, Report
from core.views.compare_pair import PairView, common_nodes
from core.views.compare_times import CompareTimes
from core.views.markdown import LONGEST_LINE, LONGEST_TEXT, one_line, plain

UNLIKE, UNKNOWN = "≠", "–"
ONCE = "measured once"
MOST_PHASES = 40
PHASES_NOTE = (
    "Seconds in which a phase was open, dearest first; a phase that others are within counts with them. Each was "
    "measured once, and C++ objects that were built before come from the cache: no difference is claimed."
)
Event = TypeVar("Event")
Row = dict[str, str]


class CompareView:
    """The differences of the right run from the left run."""

    phases_note = PHASES_NOTE

    def __init__(self, left: RunSide, right: RunSide) -> None:
        """Compare two runs."""
        self.left, self.right = left, right
        self._comparison = compare_runs(left, right)

    @cached_property
    def title(self) -> str:
        """The comparison in one sentence, as Markdown."""
        return plain(comparison_sentence(self._comparison), LONGEST_TEXT)

    @property
    def data(self) -> dict[str, Any]:
        """The comparison as JSON-compatible data."""
        return comparison_data(self._comparison)

    def pair(self, compile_id: str) -> PairView | None:
        """Return a compilation of the left run with its counterpart in the right one.

        Without a counterpart, return the pair with the most nodes in graphs of the same stage; None if there are no
        pairs.
        """
        pairs = [pair for pair in self._comparison.compilations if pair.left and pair.right]
        wanted = next((pair for pair in pairs if pair.left == compile_id), None)
        pair = wanted or max(pairs, key=common_nodes, default=None)
        return PairView(pair, self.left, self.right) if pair is not None else None

    def aspects(self, pair: PairView | None) -> dict[str, str]:
        """Return each aspect's label by its name, with its number of differences: "kernels · 3"."""
        counts = {name: count(self, pair) for name, count in ASPECTS.items()}
        return {name: f"{name} · {fmt.number(count)}" if count else name for name, count in counts.items()}

    @property
    def figure_rows(self) -> list[Row]:
        """A row for each number of the two runs; certain differences are marked."""
        return [
            {
                "": figure.name,
                "left": figure.left_words,
                UNLIKE: UNLIKE if figure.differs else "",
                "right": figure.right_words,
                "difference": self._difference(figure),
            }
            for figure in self._comparison.figures
        ]

    def _difference(self, figure: Figure) -> str:
        times = self._comparison.times
        if figure.left is None or figure.right is None:
            return f"only on the {'left' if figure.right is None else 'right'}"
        if figure.name == "compiled call" and times is not None and times.interval is not None:
            return speed_words(times)
        if not figure.exact:
            return ONCE if figure.name in ("compile time", "first compiled call") else ""
        more = figure.right - figure.left
        return f"{'+' if more > 0 else '−'}{figure.words(abs(more))}" if more else ""

    @property
    def option_rows(self) -> list[Row]:
        """A row for each option that differs, the machine and torch included."""
        return [
            {
                "option": one_line(option.name, LONGEST_LINE),
                "left": one_line(option.left, LONGEST_LINE) or UNKNOWN,
                "right": one_line(option.right, LONGEST_LINE) or UNKNOWN,
            }
            for option in self._comparison.options
        ]

    @property
    def results(self) -> Iterator[str]:
        """Each run's results compared with eager, and its failures, as Markdown."""
        outcomes = zip(("Left", "Right"), self._comparison.results, self._comparison.failures, strict=True)
        for side, outcome, failure in outcomes:
            more = f"; {plain(failure, LONGEST_LINE)}" if failure else ""
            yield f"**{side}**: results against eager: {outcome or 'not compared'}{more}."

    @property
    def seconds(self) -> str:
        """A sentence about the seconds of both runs; empty if one of them was not measured."""
        times = self._comparison.times
        return f"{seconds_words(times)}." if times is not None else ""

    @property
    def sources(self) -> tuple[SourceDifference, ...] | None:
        """The files of the user's code that differ; None if one of the logs does not contain the code."""
        return self._comparison.sources

    @property
    def break_rows(self) -> list[Row]:
        """A row for each graph break of either run, those of one run only first."""
        return [
            {
                "in": _sides(pair),
                "reason": one_line(graph_break.reason, LONGEST_LINE),
                "line": one_line(graph_break.code, LONGEST_LINE),
                "left": _place(pair.left),
                "right": _place(pair.right),
                "met": f"{_times(pair.left)} | {_times(pair.right)}",
            }
            for pair, graph_break in _unlike_first(self._comparison.breaks)
        ]

    @property
    def recompile_rows(self) -> list[Row]:
        """A row for each recompile of either run, those of one run only first."""
        return [
            {
                "in": _sides(pair),
                "reason": one_line(recompile.reason, LONGEST_LINE),
                "left": _edge(pair.left),
                "right": _edge(pair.right),
                "line": one_line(recompile.code, LONGEST_LINE),
            }
            for pair, recompile in _unlike_first(self._comparison.recompiles)
        ]

    @property
    def phase_rows(self) -> list[dict[str, object]]:
        """A row for each phase of compile time: seconds of both runs, and their ratio; None if unknown."""
        return [
            {
                "phase": one_line(phase.name, LONGEST_LINE),
                "left": phase.left_s,
                "right": phase.right_s,
                "right over left": phase.right_s / phase.left_s if phase.left_s and phase.right_s else None,
            }
            for phase in self._comparison.phases[:MOST_PHASES]
        ]

    @property
    def phase_seconds(self) -> dict[str, Mapping[str, float]]:
        """Compile time of each run in seconds by the class of its phase, each instant once."""
        return {"right": _seconds_by_class(self.right.report), "left": _seconds_by_class(self.left.report)}

    @cached_property
    def times(self) -> CompareTimes | None:
        """The speed of the two compiled calls; None if one of the runs was not measured."""
        return CompareTimes(self._comparison.times) if self._comparison.times is not None else None

    @property
    def unmeasured(self) -> list[str]:
        """The sides whose steady state was not measured: "left", "right"."""
        sides = {"left": self.left.report, "right": self.right.report}
        return [name for name, report in sides.items() if speed(report.timing) is None]

    def unlike_events(self) -> int:
        """Count the graph breaks and the recompiles of one run only."""
        comparison = self._comparison
        return sum(not pair.both for pair in comparison.breaks) + sum(not pair.both for pair in comparison.recompiles)


# The number of differences in each aspect of two runs.
ASPECTS: dict[str, Callable[[CompareView, PairView | None], int]] = {
    "summary": lambda _, __: 0,
    "source": lambda compare, _: len(compare.sources or ()),
    "graphs": lambda _, pair: pair.unlike_graphs() if pair else 0,
    "kernels": lambda _, pair: pair.unlike_kernels() if pair else 0,
    "guards": lambda _, pair: pair.unlike_guards() if pair else 0,
    "breaks and recompiles": lambda compare, _: compare.unlike_events(),
    "compile time": lambda _, __: 0,
    "speed": lambda _, __: 0,
}


def _unlike_first(pairs: Sequence[MatchedPair[Event]]) -> list[tuple[MatchedPair[Event], Event]]:
    """Return each pair with either of its two events, those of one run only first."""
    ordered = sorted(pairs, key=lambda pair: pair.both)
    return [(pair, event) for pair in ordered if (event := pair.right or pair.left) is not None]


def _sides(pair: MatchedPair[Event]) -> str:
    return "both" if pair.both else "only left" if pair.left is not None else "only right"


def _place(graph_break: GraphBreak | None) -> str:
    return one_line(graph_break.place.short, LONGEST_LINE) if graph_break else UNKNOWN


def _times(graph_break: GraphBreak | None) -> str:
    return fmt.number(len(graph_break.compilations)) if graph_break else UNKNOWN


def _edge(recompile: Recompile | None) -> str:
    return f"[{recompile.failed}] → [{recompile.compilation}]" if recompile else UNKNOWN


def _seconds_by_class(report: Report) -> dict[str, float]:
    seconds: dict[str, float] = {}
    for total in phase_totals(report.phases):
        kind = phase_class(total.name)
        seconds[kind] = seconds.get(kind, 0.0) + total.self_s
    return seconds


__all__ = ["UNKNOWN", "UNLIKE", "CompareTimes", "CompareView", "PairView"]
