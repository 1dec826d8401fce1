"""Outcome of a run for its overview: a line for each page with results, its failures, and a script's calls."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from core.analysis import Failure, compile_time_s, kernel_words, phase_totals, saved_words, verdict
from core.analysis.kernels import kernel_names
from core.analysis.numerics import numerics, numerics_sentence
from core.base import words as fmt
from core.report import Call, Compilation, EntryPoint, Report, Script, stored
from core.views.markdown import LONGEST_LINE, LONGEST_NAME, LONGEST_TEXT, code, one_line, plain, prose
from core.views.speedup import EXECUTIONS, NOT_COMPARED, speed_title

MOST_CALL_LINES = 8
NOTHING = (
    "The script made no call of torch.compile. To compile a callable of the file, name it and its inputs: "
    "`FILE.py:NAME`, with `inputs = (…)` in the file."
)


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


@dataclass(frozen=True)
class FailureView:
    """A failed compilation, or a frame that runs eagerly; `compilation` is None if the report lacks it."""

    failure: Failure
    compilation: Compilation | None

    @property
    def failed(self) -> bool:
        """True if nothing was compiled."""
        return self.failure.kind == "failed"

    @property
    def text(self) -> str:
        """The compilation, torch's reason and the consequence, as Markdown."""
        place = f" at {code(self.failure.place.short)}" if self.failure.place.file else ""
        name = f"\\[{plain(self.failure.compilation)}\\] {code(self.failure.frame)}{place}"
        return f"{name}: **{prose(self.failure.reason, LONGEST_TEXT)}**; {self.failure.consequence}."

    @property
    def traceback_title(self) -> str:
        """The title of torch's own message, as Markdown."""
        return f"torch's error for \\[{plain(self.failure.compilation)}\\], in full"

    @property
    def message(self) -> str:
        """The message without its traceback."""
        return (self.compilation.error if self.compilation is not None else "") or "It was not recorded."


@dataclass(frozen=True, slots=True)
class ScriptView:
    """The run of a script; `script` is its end, and `calls` are its recorded calls."""

    script: Script
    calls: tuple[Call, ...]

    @classmethod
    def of(cls, report: Report) -> ScriptView | None:
        """Return the view of a report; None if it is not of a script that has ended."""
        return cls(report.script, report.calls) if report.script is not None else None

    @property
    def title(self) -> str:
        """The exit code, the number of entry points and calls, and the time."""
        script = self.script
        made = f"{fmt.count(len(script.entries), 'compiled callable')}, {fmt.count(sum(script.calls), 'call')}"
        return f"Exit code {script.exit_code} after {fmt.duration_s(script.seconds)}: {made}."

    @property
    def note(self) -> str:
        """Reason why nothing is compared, or advice for a script that compiled nothing."""
        return NOT_COMPARED if self.script.entries else NOTHING

    @property
    def left_out(self) -> str:
        """Number of calls without a record of their own; empty if all have one."""
        more = sum(self.script.calls) - len(self.calls)
        if more <= 0:
            return ""
        return f"{fmt.count(more, 'call')} more, without a row: nested in another call, or after the first 2,000."

    @property
    def entry_rows(self) -> list[dict[str, object]]:
        """Entry points as rows of a table."""
        return [
            {
                "callable": one_line(entry.name, LONGEST_NAME),
                "torch.compile at": one_line(entry.place.short, LONGEST_NAME),
                "backend": one_line(entry.backend, LONGEST_NAME),
                "options": one_line(entry.options, LONGEST_LINE),
                "calls": calls,
            }
            for entry, calls in self._counted
        ]

    @property
    def call_rows(self) -> list[dict[str, object]]:
        """Recorded calls as rows of a table."""
        return [
            {
                "call": call.index,
                "callable": one_line(self._name(call.entry), LONGEST_NAME),
                "inputs": one_line(call.inputs, LONGEST_LINE),
                "time": fmt.duration_s(call.compiled_s),
                "execution": EXECUTIONS[call.how],
                "compilations": call.compilations,
                "stance": one_line(call.stance, LONGEST_NAME) or "default",
                "raised": one_line(call.raised, LONGEST_LINE),
            }
            for call in self.calls
        ]

    @property
    def lines(self) -> list[str]:
        """The end, the entry points and their calls as lines of text."""
        lines = [self.title, self.note]
        calls_of: dict[int | None, list[Call]] = {}
        for call in self.calls:
            calls_of.setdefault(call.entry, []).append(call)
        for number, (entry, count) in enumerate(self._counted):
            calls = calls_of.get(number, [])
            lines.append(f"  {_entry_words(entry)}: {fmt.count(count, 'call')}")
            lines += [f"    {_call_words(call)}" for call in calls[:MOST_CALL_LINES]]
            if len(calls) > MOST_CALL_LINES:
                lines.append(f"    … {fmt.count(len(calls) - MOST_CALL_LINES, 'call')} more")
        return lines

    @property
    def _counted(self) -> list[tuple[EntryPoint, int]]:
        """Entry points with their numbers of calls; a damaged log may have more of either."""
        return list(zip(self.script.entries, self.script.calls, strict=False))

    def _name(self, number: int | None) -> str:
        entries = self.script.entries
        return entries[number].name if number is not None and 0 <= number < len(entries) else ""


def _entry_words(entry: EntryPoint) -> str:
    options = f", {entry.options}" if entry.options else ""
    return one_line(f"{entry.name}, compiled at {entry.place.short} for {entry.backend}{options}", LONGEST_LINE)


def _call_words(call: Call) -> str:
    stance = f", stance {call.stance}" if call.stance else ""
    raised = f": {call.raised}" if call.raised else ""
    how = f"{EXECUTIONS[call.how]}, {fmt.duration_s(call.compiled_s)}{stance}{raised}"
    return one_line(f"call {call.index} ({call.inputs}): {how}", LONGEST_LINE)
