"""Results of a run, a line for each page that shows more."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from core.analysis import compile_time_s, kernel_words, phase_totals, saved_words, verdict
from core.analysis.kernels import kernel_names
from core.analysis.numerics import numerics, numerics_sentence
from core.base import words as fmt
from core.report import Report, stored
from core.views.markdown import LONGEST_LINE, LONGEST_NAME, LONGEST_TEXT, plain, prose
from core.views.speedup import speed_title


class Evidence(NamedTuple):
    """A result of a run in one line of Markdown, and the name of the page that shows it."""

    page: str
    text: str


@stored
def evidence(report: Report) -> tuple[Evidence, ...]:
    """Return a line for each page that has a result of this run."""
    return (*_dynamo(report), *_graphs(report), *_performance(report))


def _dynamo(report: Report) -> Iterator[Evidence]:
    for graph_break in report.graph_breaks[:1]:
        breaks = fmt.count(len(report.graph_breaks), "graph break")
        yield Evidence("graph_breaks", f"{breaks}; the first: {prose(graph_break.reason, LONGEST_LINE)}")
    for recompile in report.recompiles[:1]:
        reason = plain(recompile.reason.split("\n")[0], LONGEST_LINE)
        yield Evidence("recompiles", f"\\[{recompile.compilation}\\] is a recompile: {reason}")
    guards = sum(len(compilation.guards) for compilation in report.compilations)
    if guards:
        together = " in all compilations" if len(report.compilations) > 1 else ""
        yield Evidence("guards", f"{fmt.count(guards, 'guard')} to check before compiled code is reused{together}")


def _graphs(report: Report) -> Iterator[Evidence]:
    work = verdict(report).work
    stages = {graph.stage for compilation in report.compilations for graph in compilation.graphs}
    if stages:
        yield Evidence("fx_graph", f"{fmt.count(len(stages), 'graph stage')}, from Dynamo to Inductor")
    if work.nodes_before:
        nodes = f"{fmt.count(work.nodes_before, 'scheduler node')} became {fmt.number(work.nodes_after)}"
        saved = saved_words(work.traffic)
        yield Evidence("fusion", nodes + (f", {saved}" if saved else ""))
    kernels = [(kernel, compilation) for compilation in report.compilations for kernel in compilation.kernels]
    if kernels:
        largest, compilation = max(kernels, key=lambda pair: (not pair[0].extern, len(pair[0].origins)))
        most = f"the largest fusion is {plain(kernel_names(compilation)[largest.id], LONGEST_NAME)}"
        yield Evidence("kernels", f"{kernel_words(work)}; {most}")


def _performance(report: Report) -> Iterator[Evidence]:
    summary = verdict(report)
    totals = phase_totals(report)
    if totals:
        slowest = f"{plain(totals[0].name, LONGEST_NAME)} took {fmt.duration_s(totals[0].self_s)} by itself"
        cost = f"{fmt.duration_s(compile_time_s(report))} of compile time"
        yield Evidence("compile_time", f"{cost}; {slowest}")
    if summary.speed is not None:
        yield Evidence("speedup", speed_title(summary.speed, summary.break_even).removesuffix("."))
    errors = numerics(report)
    if errors is not None:
        yield Evidence("numerics", plain(numerics_sentence(errors).removesuffix("."), LONGEST_TEXT))
