"""Summary of a report: lines of text for the command line, and data for scripts."""

from __future__ import annotations

import sys
from dataclasses import fields, replace
from typing import Any

from core.analysis import (
    UNEVEN,
    Work,
    alternative_sentence,
    aoti_sentence,
    compared_words,
    compile_seconds,
    compile_time_s,
    counted_words,
    difference_words,
    distinct_kernels,
    ending_words,
    failures,
    memory_sentence,
    memory_unmeasured,
    pipeline_summary,
    refused_calls,
    results,
    sentence,
    target_lines,
    traffic_words,
    untimed_words,
    verdict,
)
from core.analysis.backend import backend_lines
from core.analysis.findings import FIRST, findings
from core.analysis.numerics import bisection_words, bits_words, minified_words, nan_words, numerics_lines, opaque_words
from core.base.words import count, duration_s
from core.report import Report, RunError
from core.report import as_json as data_as_json
from core.runs.status import Status
from core.runs.store import Run
from core.runs.stored import side_of_run
from core.views.comments import CommentsView
from core.views.neighbours import NeighboursView
from core.views.progress import ScriptView

MAX_DIFFERENCES = 20


def print_run(run: Run, report: Report, as_json: bool) -> None:
    """Print the report of a stored run with its comments, as JSON or as text."""
    status, comments = run.status(), CommentsView.stored(run, side_of_run(run))
    if as_json:
        added = {"comments": comments.data} if comments.lines else {}
        sys.stdout.write(data_as_json(report_data(report, status) | added).decode() + "\n")
        return
    summarise(report, ending_words(status.state, status.reason, report), run.output_tail())
    for line in comments.lines:
        print(f"  {line}")


def report_data(report: Report, status: Status) -> dict[str, Any]:
    """Return a run's report as data; the state of the run and the reason of its end come first."""
    facts = {field.name: getattr(report, field.name) for field in fields(report)}
    return {"state": status.state, "reason": status.reason, **facts}


def summarise(report: Report, ended: str, output: str = "") -> None:
    """Print a report as text; `ended` describes a failed end of the run, and comes first.

    `output` is the run's printed output.
    """
    if ended:
        print(f"{ended}.")
        _print_error(report.error)
    summed = verdict(report)
    print(sentence(replace(summed, ended="") if ended else summed))
    _summarise_traffic(summed.work)
    for failure in failures(report):
        place = f" at {failure.place.short}" if failure.place.file else ""
        print(f"  [{failure.compilation}] {failure.frame}{place}: {failure.reason}; {failure.consequence}")
    for line in target_lines(report):
        print(line)
    for note in report.notes:
        print(f"  {note}")
    if memory := memory_sentence(report):
        print("\n    ".join([f"  {memory}", *memory_unmeasured(report)]))
    _summarise_results(report)
    if script := ScriptView.of(report):
        print("\n".join(script.lines))
    for call in refused_calls(report):
        print(f"  call {call.index} raised: {call.raised.splitlines()[0]}")
    if report.bisection is not None:
        for words in (bisection_words, opaque_words, minified_words, nan_words):
            if line := words(report.bisection):
                print(f"  {line}")
    if report.bits is not None:
        print(f"  {bits_words(report.bits)}")
    if report.rival is not None:
        print(f"  alternative: {alternative_sentence(report)}")
    if untimed := untimed_words(report):
        print(f"  {untimed}")
    package = filter(None, [aoti_sentence(report)])
    for line in (
        *numerics_lines(report),
        *backend_lines(report),
        *package,
        *pipeline_summary(report),
        *NeighboursView(report).lines,
    ):
        print(f"  {line}")
    seconds = compile_seconds(report)
    if seconds:
        print(f"  {duration_s(compile_time_s(report))} of compile time")
    for compilation in report.compilations:
        calls = sum(len(kernel.calls) for kernel in compilation.kernels)
        kernels = count(distinct_kernels(compilation.kernels), "kernel")
        stages = count(len(compilation.graphs), "graph stage")
        parts = f"{stages}, {kernels} in {count(calls, 'call')}" if calls else f"{stages}, no kernels"
        took = f", {duration_s(seconds[compilation.id])}" if compilation.id in seconds else ""
        print(f"  [{compilation.id}] {compilation.frame.name} ({compilation.status}): {parts}{took}")
    for graph_break in report.graph_breaks:
        hits = count(len(graph_break.compilations), "time")
        print(f"  graph break at {graph_break.place}, hit {hits}: {graph_break.reason}")
    for recompile in report.recompiles:
        print(f"  [{recompile.failed}] → [{recompile.compilation}]: {recompile.reason.splitlines()[0]}")
    for finding in findings(report, output)[:FIRST]:
        print(f"  → {finding.title} {' '.join(finding.advice.split())}")
    for problem in report.problems:
        print(f"  could not read: {problem.what}, {count(problem.count, 'time')}", file=sys.stderr)


def _summarise_traffic(work: Work) -> None:
    if work.traffic:
        print(f"  {traffic_words(work.traffic)}. {counted_words(work.traffic)}")
    elif work.uneven:
        print(f"  {UNEVEN}")


def _summarise_results(report: Report) -> None:
    """Print the comparison with eager: the outcome, and the results that differ or are undecided."""
    comparison = results(report)
    if comparison is None:
        return
    compared = compared_words(comparison.compared)
    print(f"  result: {comparison.outcome}" + (f"; compared: {compared}" if compared else ""))
    for difference in [*comparison.differing, *comparison.untold][:MAX_DIFFERENCES]:
        print(f"    {difference_words(difference)}")


def _print_error(error: RunError | None) -> None:
    """Print the user's lines of an error's traceback, and the rest of its message without C++ frames."""
    if error is None:
        return
    for frame in error.frames:
        print(f"  at {frame.file}:{frame.line} in {frame.name}")
    for line in error.explanation.splitlines():
        print(f"  {line}")
