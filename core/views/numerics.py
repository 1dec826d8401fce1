"""Comparison of eager and compiled with float64: results of calls, and nodes of a graph.

Texts are Markdown.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

from core.analysis import difference_words, excuse_words, results, target_words
from core.analysis.numerics import (
    Numerics,
    ResultStanding,
    bits_words,
    first_inaccurate,
    graph_sentence,
    left_out_words,
    narrowed_words,
    node_standings,
    numerics,
    numerics_of,
    numerics_sentence,
    of_tolerance,
    outputs_words,
)
from core.base import words as fmt
from core.job import CompileJob, validated
from core.job.text import bits_from_text, options_as_text
from core.report import Accuracy, Compilation, FxNode, GraphNumerics, NodeAccuracy, Report
from core.views.blocks import PageBlock, PageLink, paragraph
from core.views.markdown import LONGEST_LINE, LONGEST_NAME, LONGEST_TEXT, one_line, plain, prose

__all__ = ["ErrorPoint", "NodeNumericsView", "NumericsView", "result_blocks"]

NOT_COMPARED = "A script runs once, as it is, and is not compared with eager."
NOT_RECORDED = (
    "Every run compares compiled with eager. On request, a run also compares both with float64, to show which is more "
    "accurate and which node differs first."
)
MEANING = (
    "An error is the norm of the difference from float64, over the norm in float64. If the error of compiled exceeds "
    "the tolerance, it must not exceed the error of eager."
)
NO_CALL = "No call was recorded: an imported log has no eager calls."
NO_RESULT = "The run ended before a call was compared."
SHOWN_DIFFERENCES = 5
INDUCTOR, EXAMPLE = "inductor", "batch=1"
FIGURES = ("eager", "compiled", "of tolerance", "apart", "largest, eager", "largest, compiled")


@dataclass(frozen=True, slots=True)
class ErrorPoint:
    """A compared value in a chart; `position` is its index there, and `call` is None for a node."""

    position: int
    name: str
    accuracy: Accuracy
    call: int | None = None

    @property
    def errors(self) -> dict[str, float | None]:
        """Error of each side."""
        return {"eager": self.accuracy.eager_error, "compiled": self.accuracy.compiled_error}

    @property
    def details(self) -> tuple[str, str, str]:
        """Dtype, both errors, and the tolerance."""
        errors = f"eager {fmt.number(self.accuracy.eager_error)}, compiled {fmt.number(self.accuracy.compiled_error)}"
        return self.accuracy.dtype, errors, f"tolerance {fmt.number(self.accuracy.tolerance)}"


@dataclass(frozen=True)
class NumericsView:
    """The comparison of a run with float64; `column_help` explains columns of results and of nodes."""

    column_help: ClassVar[Mapping[str, str]] = {
        "eager": "Norm of eager's difference from float64 over the norm in float64; of whole numbers and booleans the "
        "part of the elements that differ",
        "compiled": "The same for compiled",
        "of tolerance": "Compiled's error over what its dtype allows",
        "largest, eager": "The largest difference of one element from float64",
        "largest, compiled": "The same for compiled",
        "apart": "Compiled against eager: norm of the difference over eager's norm",
    }

    report: Report

    @property
    def state(self) -> str:
        """State of the comparison: `not run`, `not recorded`, or `recorded`."""
        if target_words(self.report):
            return "not run"
        return "recorded" if self._results is not None or self.report.graph_numerics else "not recorded"

    @property
    def title(self) -> str:
        """Verdict on the results, or a note that nothing was compared; empty if only nodes were compared."""
        if self.state == "not run":
            return "Nothing was run, so there is no result to compare."
        if self.state == "not recorded":
            return "Results were not compared with float64."
        return prose(numerics_sentence(self._results)) if self._results else ""

    @property
    def paragraph(self) -> str:
        """Reason why there is no comparison, else the meaning of errors, and the limits of this comparison."""
        if self.state == "not run":
            return f"The code was {target_words(self.report)}."
        if self.report.script is not None:
            return NOT_COMPARED
        if self._results is None:
            return NOT_RECORDED if self.report.calls else NO_RESULT if self.report.setting.run else NO_CALL
        reasons = [f"{reason[:1].upper()}{reason[1:]}." for reason in self._results.reasons]
        more = [*reasons, narrowed_words(self._results.narrowed)]
        return " ".join([MEANING, *map(prose, filter(None, more))])

    @staticmethod
    def largest_words(shown: int) -> str:
        """Return the note on a chart that leaves out the results with smaller errors."""
        return f"The {fmt.number(shown)} with the largest errors; the table has all."

    @property
    def rows(self) -> list[dict[str, object]]:
        """Results of the calls: differing results first, then by compiled's error relative to its tolerance."""
        calls = len({result.call for result in self._by_error}) > 1
        return [
            {
                "result": one_line(result.what, LONGEST_LINE),
                **({"call": result.call} if calls else {}),
                "compiled is": result.standing,
                **_figures(result.accuracy),
                "elements": result.accuracy.elements,
                "why": one_line(result.accuracy.reason, LONGEST_LINE),
            }
            for result in self._by_error
        ]

    @property
    def points(self) -> list[ErrorPoint]:
        """Results with an error, in the order of the rows."""
        with_error = [result for result in self._by_error if result.accuracy.compiled_error is not None]
        return [ErrorPoint(index, result.what, result.accuracy, result.call) for index, result in enumerate(with_error)]

    @property
    def bits(self) -> str:
        """The comparison bit by bit with another configuration; empty if none was requested."""
        return prose(bits_words(self.report.bits), LONGEST_TEXT) if self.report.bits is not None else ""

    @property
    def bit_rows(self) -> list[dict[str, object]]:
        """Values whose bits differ in the other configuration, in execution order."""
        return [
            {
                "node": one_line(node.node, LONGEST_NAME),
                "your line": one_line(node.line, LONGEST_LINE),
                "begins here": "yes" if node.source else "",
                "elements": f"{fmt.number(node.differing)} of {fmt.number(node.elements)}",
                "largest difference": node.max_abs,
                "dtype": one_line(node.dtype, LONGEST_NAME),
                "kernel": one_line(node.kernel, LONGEST_NAME),
                "other kernel": one_line(node.other_kernel, LONGEST_NAME),
                "why": one_line(node.reason.replace("`", ""), LONGEST_LINE),
            }
            for node in (self.report.bits.nodes if self.report.bits is not None else ())
        ]

    @staticmethod
    def compares_bits(job: CompileJob) -> bool:
        """Return True if a job can be compared bit by bit with another configuration."""
        return not job.target and job.compile.backend == INDUCTOR

    @staticmethod
    def bits_typed(job: CompileJob) -> str:
        """Return the job's other configuration as text for the input field; an example if it has none."""
        return options_as_text(job.bits) or EXAMPLE

    @staticmethod
    def with_bits(job: CompileJob, typed: str) -> CompileJob:
        """Return an untimed job that compares bits with the typed configuration; raises JobError."""
        return validated(replace(job, bits=bits_from_text(typed), measure=False))

    def nodes_heading(self, compilation: Compilation | None) -> str:
        """Return the heading of the nodes of a compilation."""
        return f"Nodes of {plain(f'[{compilation.id}]')}" if compilation else "Nodes"

    def without_nodes(self, compilation: Compilation | None) -> str:
        """Return the reason why nodes of a compilation were not compared; empty if nodes were compared."""
        if compilation is not None and numerics_of(self.report, compilation.id) is not None:
            return ""
        failed = numerics_of(self.report, "")
        return plain(f"No node was compared: {failed.reason}." if failed else "Single nodes were not compared.")

    def nodes_of(self, compilation: Compilation, nodes: Mapping[str, FxNode]) -> NodeNumericsView:
        """Return the comparison of a compilation's nodes; `nodes` are the captured graph's nodes by name."""
        return NodeNumericsView(numerics_of(self.report, compilation.id) or GraphNumerics(compilation.id), nodes)

    @cached_property
    def _results(self) -> Numerics | None:
        return numerics(self.report)

    @cached_property
    def _by_error(self) -> list[ResultStanding]:
        results = self._results.results if self._results else ()
        return sorted(
            results, key=lambda result: (result.standing != "differs", -(of_tolerance(result.accuracy) or 0.0))
        )


@dataclass(frozen=True)
class NodeNumericsView:
    """The comparison of a graph's nodes.

    `nodes` are the captured graph's nodes by name, empty if the log does not contain the graph.
    """

    numerics: GraphNumerics
    nodes: Mapping[str, FxNode]

    @property
    def sentence(self) -> str:
        """First node that differs, or a note that no node differs."""
        return prose(graph_sentence(self.numerics, {node.name: node.target for node in self.nodes.values()}))

    @property
    def caption(self) -> str:
        """Effect of the comparison on the graph, and the nodes left out."""
        graph = self.numerics
        return prose(
            " ".join(filter(None, (outputs_words(graph), left_out_words(graph), narrowed_words(graph.narrowed))))
        )

    @property
    def is_compared(self) -> bool:
        """True if any node was compared."""
        return any(node.accuracy is not None for node in self.numerics.nodes)

    @property
    def first_to_differ(self) -> str:
        """Name of the first node that differs; empty if none does."""
        first = first_inaccurate(self.numerics)
        return first.name if first else ""

    def chosen(self, selected: str) -> str:
        """Return the name of the selected node.

        Without a selection, it is the first node that differs, otherwise the node with the largest error; empty if the
        graph has no node.
        """
        nodes = self.numerics.nodes
        largest = max(nodes, key=_compiled_error, default=None)
        chosen = next((node for node in nodes if node.name == selected), first_inaccurate(self.numerics) or largest)
        return chosen.name if chosen else ""

    @property
    def points(self) -> list[ErrorPoint]:
        """Compared nodes in execution order."""
        return [
            ErrorPoint(index, node.name, node.accuracy)
            for index, node in enumerate(self.numerics.nodes)
            if node.accuracy is not None
        ]

    @property
    def names(self) -> list[str]:
        """Names of all nodes in execution order."""
        return [node.name for node in self.numerics.nodes]

    @property
    def rows(self) -> list[dict[str, object]]:
        """Rows of all nodes, in execution order."""
        classes = node_standings(self.numerics)
        return [self._row(index, node, classes[node.name]) for index, node in enumerate(self.numerics.nodes)]

    def _row(self, index: int, node: NodeAccuracy, accuracy_class: str) -> dict[str, object]:
        source = self.nodes.get(node.name)
        reason = node.left_out or (node.accuracy.reason if node.accuracy else "")
        return {
            "#": index,
            "node": one_line(node.name, LONGEST_NAME),
            "compiled is": accuracy_class,
            **_figures(node.accuracy),
            "your line": one_line(source.code, LONGEST_LINE) if source else "",
            "module": one_line(source.module, LONGEST_LINE) if source else "",
            "why": one_line(reason, LONGEST_LINE),
        }


def result_blocks(report: Report) -> Iterator[PageBlock]:
    """Yield excused differences, and the differences from eager or why results could not be compared."""
    result = results(report)
    if result is None:
        return
    excuses = _first(excuse_words(result))
    yield from paragraph(prose(f"{excuses[:1].upper()}{excuses[1:]}.", LONGEST_TEXT) if excuses else "")
    if result.outcome in ("same", "other strides"):
        return
    differs = result.outcome == "differs"
    title = "Compiled differs from eager" if differs else "Not comparable with eager"
    text = prose(_first([*dict.fromkeys(map(difference_words, result.told))]), LONGEST_TEXT)
    yield from paragraph(f"**{title}.** {text}", "bad" if differs else "warn")
    if differs:
        yield PageLink("numerics", "Which one is right, and the first node that differs")


def _first(texts: Sequence[str]) -> str:
    more = f"; and {fmt.number(len(texts) - SHOWN_DIFFERENCES)} more" if len(texts) > SHOWN_DIFFERENCES else ""
    return "; ".join(texts[:SHOWN_DIFFERENCES]) + more


def _compiled_error(node: NodeAccuracy) -> float:
    return (node.accuracy and node.accuracy.compiled_error) or 0.0


def _figures(accuracy: Accuracy | None) -> dict[str, object]:
    if accuracy is None:
        return {"dtype": "", **dict.fromkeys(FIGURES)}
    errors = (accuracy.eager_error, accuracy.compiled_error, of_tolerance(accuracy), accuracy.apart)
    figures = zip(FIGURES, (*errors, accuracy.eager_max_abs, accuracy.compiled_max_abs), strict=True)
    return {"dtype": accuracy.dtype, **dict(figures)}
