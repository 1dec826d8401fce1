"""Comparison of two runs: title, aspects, matched compilations, speed, and table rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, TypeVar

from core.analysis import phase_class, phase_totals, speed
from core.analysis.comparison import (
    Change,
    CompilationComparison,
    Figure,
    GraphDifference,
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
from core.views.graph import GraphUnionView
from core.views.markdown import LONGEST_LINE, LONGEST_TEXT, one_line, plain
from core.views.speedup import CompareTimes

__all__ = ["CompareView", "PairView"]

SIGNS: dict[Change, str] = {
    "only right": "+",
    "only left": "−",
    "changed": "~",
    "moved": "↕",
    "to another graph": "→",
    "from another graph": "←",
}
UNLIKE, UNKNOWN = "≠", "–"
MOVED_NOTE = "→ and ← count nodes that are in another graph of the other run; the drawing shows them on one side only"
ONCE = "measured once"
MOST_PHASES = 40
PHASES_NOTE = (
    "Seconds in which a phase was open, inner phases included, longest first. Measured once, with C++ objects from the "
    "cache, so no difference is claimed."
)
Event = TypeVar("Event")
Row = dict[str, str]


@dataclass(frozen=True)
class PairView:
    """A compilation of the left run and its counterpart in the right run."""

    no_guards: ClassVar[str] = "No guards to compare: the other run has no matching compilation."
    guards_note: ClassVar[str] = "Object addresses are ignored; they change in every process."
    no_stages: ClassVar[str] = "The two compilations have no graph of the same stage."

    comparison: CompilationComparison
    left_run: RunSide
    right_run: RunSide

    @property
    def left(self) -> str:
        """The id of the left compilation."""
        return self.comparison.left

    @property
    def right(self) -> str:
        """The id of the right compilation."""
        return self.comparison.right

    def no_match(self, compile_id: str) -> str:
        """Return a Markdown note that a compilation has no match and that this pair is shown instead."""
        return f"The right run has no match for \\[{compile_id}\\]; shown is \\[{self.left}\\]."

    @property
    def stages(self) -> dict[str, str]:
        """Id of each left graph with a counterpart → its label with changes: "graph · +4 −12 ~4"."""
        return {graph.left: f"{graph.left} · {_changes_words(graph)}" for graph in _common(self.comparison)}

    @property
    def first_stage(self) -> str:
        """The id of the first graph that differs; the id of the first graph if none differs."""
        graphs = _common(self.comparison)
        return next((graph.left for graph in graphs if not graph.same), graphs[0].left)

    @property
    def lone_stages(self) -> str:
        """Number of stages in only one of the two compilations, and of moved nodes; empty if there are none."""
        graphs = self.comparison.graphs
        counts = {"left": sum(not graph.right for graph in graphs), "right": sum(not graph.left for graph in graphs)}
        lone = [f"only on the {side}: {fmt.count(count, 'stage')}" for side, count in counts.items() if count]
        moved = [MOVED_NOTE] if any(graph.moved for graph in graphs) else []
        return "; ".join([*lone, *moved])

    def union(self, graph_id: str) -> GraphUnionView:
        """Return a graph of the left compilation and its counterpart as one graph."""
        right_id = next(graph.right for graph in _common(self.comparison) if graph.left == graph_id)
        left, right = self.left_run.report.compilation(self.left), self.right_run.report.compilation(self.right)
        assert left is not None
        assert right is not None
        left_graph, right_graph = left.graph(graph_id), right.graph(right_id)
        assert left_graph is not None
        assert right_graph is not None
        nodes = self.left_run.nodes(left, left_graph), self.right_run.nodes(right, right_graph)
        return GraphUnionView(*nodes, self.left_run.report)

    @property
    def guards_sentence(self) -> str:
        """The numbers of guards in both compilations and in only one; empty if guards were not compared."""
        guards = self.comparison.guards
        if guards is None:
            return ""
        return (
            f"{fmt.count(guards.both, 'guard')} in both; {fmt.number(len(guards.only_left))} only on the left, "
            f"{fmt.number(len(guards.only_right))} only on the right."
        )

    @property
    def guard_rows(self) -> list[dict[str, str]]:
        """A row for each guard that only one of the two compilations has."""
        guards = self.comparison.guards
        if guards is None:
            return []
        return [
            {
                "in": side,
                "kind": one_line(guard.kind, LONGEST_LINE),
                "value": one_line(guard.source, LONGEST_LINE),
                "expression": one_line(guard.expression, LONGEST_TEXT),
            }
            for side, lone in (("only left", guards.only_left), ("only right", guards.only_right))
            for guard in lone
        ]

    def unlike_graphs(self) -> int:
        """Count the stages whose graphs differ, among the stages that both compilations have."""
        return sum(not graph.same for graph in _common(self.comparison))

    def unlike_kernels(self) -> int:
        """Count the kernels that differ, or that only one of the two has."""
        kernels = self.comparison.kernels
        return sum(not pair.both or bool(pair.differs) for pair in kernels.pairs) if kernels is not None else 0

    def unlike_guards(self) -> int:
        """Count the guards that only one side has, and return the larger of the two counts."""
        guards = self.comparison.guards
        return max(len(guards.only_left), len(guards.only_right)) if guards is not None else 0


def _common(pair: CompilationComparison) -> list[GraphDifference]:
    """Return the graphs of the stages that both compilations have."""
    return [graph for graph in pair.graphs if graph.left and graph.right]


def common_nodes(pair: CompilationComparison) -> int:
    """Return the number of nodes in the graphs of stages that both compilations have."""
    return sum(sum(graph.changes.values()) for graph in _common(pair))


def _changes_words(graph: GraphDifference) -> str:
    """Return the counts of changed nodes ("+4 −12 ~4"), or "the same"."""
    counts = {sign: count for change, sign in SIGNS.items() if (count := graph.changes.get(change))}
    return " ".join(f"{sign}{fmt.number(count)}" for sign, count in counts.items()) or "the same"


class CompareView:
    """The differences of the right run from the left run."""

    phases_note = PHASES_NOTE
    unlike, unknown = UNLIKE, UNKNOWN
    mark_note = (
        f"{UNLIKE} marks a certain difference. A value that was measured once has no interval, so no difference is "
        "claimed."
    )
    no_choice = "Choose a run to compare with"
    same_options = "The same options, on the same machine and torch."
    no_code = "The code cannot be compared: one of the logs does not contain it."
    same_code = "The code is identical."
    no_breaks = "Neither run has a graph break."
    no_recompiles = "Neither run has a recompile."
    no_phases = "Neither log contains phases."

    def __init__(self, left: RunSide, right: RunSide, nodes: tuple[str, str] = ("", "")) -> None:
        """Compare two runs; `nodes` are the names of the machines that executed them, empty for the server."""
        self.left, self.right, self._nodes = left, right, nodes
        self._comparison = compare_runs(left, right)

    @cached_property
    def title(self) -> str:
        """The comparison in one sentence, as Markdown."""
        return plain(comparison_sentence(self._comparison), LONGEST_TEXT)

    @property
    def nodes_warning(self) -> str:
        """A sentence if two machines executed the runs, as Markdown; empty for a single machine."""
        left, right = (plain(node or "the server", LONGEST_LINE) for node in self._nodes)
        return f"Executed on {left} and on {right}, so seconds differ by machine." if left != right else ""

    @property
    def data(self) -> dict[str, Any]:
        """The comparison as JSON-compatible data."""
        return comparison_data(self._comparison)

    @cached_property
    def pairs(self) -> list[PairView]:
        """Compilations of the left run with a counterpart, most nodes in common stages first."""
        both = (pair for pair in self._comparison.compilations if pair.left and pair.right)
        return [PairView(pair, self.left, self.right) for pair in sorted(both, key=lambda pair: -common_nodes(pair))]

    def pair(self, compile_id: str) -> PairView | None:
        """Return the pair of a left compilation; by default the first pair, None if there are no pairs."""
        return next((pair for pair in self.pairs if pair.left == compile_id), next(iter(self.pairs), None))

    def aspects(self, pair: PairView | None) -> dict[str, str]:
        """Return aspect name → label with the number of differences, if any: "kernels · 3"."""
        counts = {name: count(self, pair) for name, count in ASPECTS.items()}
        return {name: f"{name} · {fmt.number(count)}" if count else name for name, count in counts.items()}

    @property
    def figure_rows(self) -> list[Row]:
        """A row for each number of the two runs, with a mark if an exact number differs."""
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
        if figure.left is None and figure.right is None:
            return ""
        if (figure.left is None and figure.left_told) or (figure.right is None and figure.right_told):
            return ""
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

    @staticmethod
    def source_title(file: SourceDifference) -> str:
        """Return the paths of a file on both sides; a single path if they are equal."""
        return one_line(file.left if file.left == file.right else f"{file.left} → {file.right}", LONGEST_LINE)

    @staticmethod
    def source_words(file: SourceDifference) -> str:
        """Return a file's title with its numbers of added and removed lines, as Markdown."""
        added, removed = fmt.count(file.diff.added, "line"), fmt.number(file.diff.removed)
        return f"**{plain(CompareView.source_title(file), LONGEST_LINE)}**: {added} added, {removed} removed."

    @property
    def break_rows(self) -> list[Row]:
        """A row for each graph break of either run; breaks in only one run come first."""
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
        """A row for each recompile of either run; recompiles in only one run come first."""
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
        """Compile time of each run in seconds by phase class; overlapping phases are counted once."""
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

    @property
    def unmeasured_words(self) -> list[str]:
        """A sentence for each side whose steady state was not measured."""
        return [f"The {side} run was not measured, so calls are not compared." for side in self.unmeasured]

    def unlike_events(self) -> int:
        """Count the graph breaks and recompiles that only one of the runs has."""
        comparison = self._comparison
        return sum(not pair.both for pair in comparison.breaks) + sum(not pair.both for pair in comparison.recompiles)


# Aspect → function that counts the differences of two runs.
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
    """Return each pair with one of its events; pairs with an event in only one run come first."""
    ordered = sorted(pairs, key=lambda pair: pair.both)
    return [(pair, event) for pair in ordered if (event := pair.right or pair.left) is not None]


def _sides(pair: MatchedPair[Event]) -> str:
    return "both" if pair.both else "only left" if pair.left is not None else "only right"


def _place(graph_break: GraphBreak | None) -> str:
    return one_line(graph_break.place.short, LONGEST_LINE) if graph_break else UNKNOWN


def _times(graph_break: GraphBreak | None) -> str:
    return fmt.number(len(graph_break.compilations)) if graph_break else UNKNOWN


def _edge(recompile: Recompile | None) -> str:
    if recompile is None:
        return UNKNOWN
    return f"[{recompile.failed}] → [{recompile.compilation}]" if recompile.failed else f"[{recompile.compilation}]"


def _seconds_by_class(report: Report) -> dict[str, float]:
    seconds: dict[str, float] = {}
    for total in phase_totals(report):
        kind = phase_class(total.name)
        seconds[kind] = seconds.get(kind, 0.0) + total.self_s
    return seconds
