"""Header of a run: its state, its settings and its verdict as short facts, and the labels of its compilations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from core.analysis import (
    UNEVEN,
    Failure,
    Results,
    Speed,
    Verdict,
    Work,
    captured_ops,
    compared_words,
    counted_words,
    failure_counts,
    failures,
    frame_names,
    heaviest,
    memory_ratio,
    memory_sentence,
    results_words,
    target_words,
    traffic_words,
    verdict,
    work_words,
)
from core.analysis.backend import backend_problems, backend_sentence, backends_called
from core.base import words as fmt
from core.job import CompileJob
from core.report import Compilation, Report
from core.runs.progress import is_compiled
from core.runs.status import Status
from core.views.markdown import LONGEST_NAME, LONGEST_TEXT, one_line
from core.views.speed_words import seen_words

Tone = Literal["", "ok", "warn", "bad", "live", "quiet"]
# The least change of peak memory that gets a colour, and the least that is shown.
UNLIKE, SEEN = 0.02, 0.0005
TONES: dict[str, Tone] = {
    "done": "ok",
    "running": "live",
    "queued": "live",
    "failed": "bad",
    "crashed": "bad",
    "damaged": "bad",
    "timed out": "bad",
    "out of memory": "bad",
    "cancelled": "warn",
    "interrupted": "warn",
}
RESULT_TONES: dict[str, Tone] = {"same": "ok", "differs": "bad", "other strides": "", "not comparable": "warn"}
SPEED_HELP = "Eager over compiled, steady state, median with its 99 % interval"


class HeaderFact(NamedTuple):
    """A fact of the header: its value, its label, its tone, the name of the page with its evidence, and help."""

    value: str
    label: str = ""
    tone: Tone = ""
    page: str = ""
    help: str = ""


@dataclass(frozen=True)
class HeaderView:
    """A run's status and job, and its report so far; None for a log without a job or a report."""

    status: Status
    report: Report | None
    job: CompileJob | None

    @property
    def is_no_trace(self) -> bool:
        """True for an opened file without any record."""
        return self.status.kind == "log" and self.report is not None and not self.report.kinds

    @property
    def is_final(self) -> bool:
        """True if everything is compiled and compared, and only measured numbers may be missing."""
        return not self.status.live or (self.report is not None and is_compiled(self.report.steps))

    @property
    def facts(self) -> list[HeaderFact]:
        """The run's state, the verdict if it is final, and the settings."""
        state = HeaderFact(self._state, tone=self._tone, page="overview", help=self.status.reason)
        settings = [HeaderFact(text, tone="quiet") for text in self._settings]
        if self.report is None or self.is_no_trace or not self.is_final:
            return [state, *settings]
        summary, target = verdict(self.report), target_words(self.report)
        not_run = [HeaderFact("not run", target.removesuffix("; not run"), "warn", "kernels", target)] if target else []
        return [
            state,
            *first_facts(summary),
            *not_run,
            *failure_facts(failures(self.report)),
            *verdict_facts(summary),
            *memory_facts(self.report),
            *backend_facts(self.report),
            *settings,
        ]

    @property
    def _state(self) -> str:
        """The run's state: a final verdict may still be measured, and a log may record a failure."""
        if self.is_no_trace:
            return "no trace"
        if self.status.state == "done" and self.report is not None and self.report.error is not None:
            return "failed"
        if self.status.kind == "log" and self.status.state == "done" and self._is_partly_compiled:
            return "opened"
        return "measuring …" if self.status.live and self.is_final else self.status.state

    @property
    def _is_partly_compiled(self) -> bool:
        return self.report is not None and any(failure.kind == "failed" for failure in failures(self.report))

    @property
    def _tone(self) -> Tone:
        """The tone of the outcome; code that was not compiled in a finished run has red facts of its own."""
        if self._state in ("no trace", "failed"):
            return "bad"
        return "" if self._state == "done" and self._is_partly_compiled else TONES.get(self._state, "")

    @property
    def _settings(self) -> list[str]:
        torch = self.report.setting.torch if self.report else ""
        log = ["opened log"] if self.status.kind == "log" else []
        parts = [self.job.device, *self.job.differences()] if self.job else log
        return [one_line(part, LONGEST_NAME) for part in (*parts, f"torch {torch}" if torch else "") if part]

    @property
    def compilations(self) -> dict[str, str]:
        """The label of each compilation by its id, with its op count if there are several."""
        report = self.report
        if report is None:
            return {}
        names, several = frame_names(report), len(report.compilations) > 1
        return {
            compilation.id: _compilation_label(compilation, names[compilation.id], several)
            for compilation in report.compilations
        }


def _compilation_label(compilation: Compilation, name: str, with_ops: bool) -> str:
    ops = f"{fmt.count(captured_ops(compilation), 'op')} · " if with_ops else ""
    return f"[{compilation.id}] {ops}{one_line(name, LONGEST_NAME)}"


def first_compilation(report: Report) -> Compilation | None:
    """Return the compilation that pages show at first: the heaviest; None if nothing was compiled."""
    return heaviest(report)


def failure_facts(failures: Sequence[Failure]) -> list[HeaderFact]:
    """Return facts about code that was not compiled: an error is red, a frame that runs eagerly is a warning."""
    reasons = {failure.kind: f"[{failure.compilation}] {failure.reason}" for failure in reversed(failures)}
    return [
        HeaderFact(count, tone="bad" if kind == "failed" else "warn", page="overview", help=reasons[kind])
        for kind, count in failure_counts(failures).items()
    ]


def memory_facts(report: Report) -> list[HeaderFact]:
    """Return the change of peak memory, compiled compared with eager; empty if it was not measured."""
    ratio = memory_ratio(report)
    if ratio is None:
        return []
    change = 1 / ratio - 1
    tone: Tone = "ok" if change <= -UNLIKE else "warn" if change >= UNLIKE else ""
    text = f"{'−' if change < 0 else '+'}{fmt.percent(abs(change))}" if abs(change) >= SEEN else "same"
    return [HeaderFact(text, "peak memory", tone, "memory", memory_sentence(report))]


def backend_facts(report: Report) -> list[HeaderFact]:
    """Return the backends that were called; red if one of them failed."""
    names = one_line(", ".join(backends_called(report)), LONGEST_NAME)
    tone: Tone = "bad" if backend_problems(report) else ""
    sentence = one_line(backend_sentence(report).replace("`", ""), LONGEST_TEXT)
    return [HeaderFact(names, "backend", tone, "backend", sentence)] if names else []


def first_facts(summary: Verdict) -> list[HeaderFact]:
    """Return the facts that follow the state at every width: speed, graph breaks, recompiles."""
    captured: Tone = "ok" if summary.graphs else ""
    breaks = HeaderFact(
        fmt.number(summary.breaks),
        fmt.agree(summary.breaks, "graph break", "graph breaks"),
        "warn" if summary.breaks else captured,
        "graph_breaks",
        f"Places where Dynamo stopped; met {fmt.count(summary.break_hits, 'time')}" if summary.breaks else "",
    )
    recompiles = HeaderFact(
        fmt.number(summary.recompiles),
        fmt.agree(summary.recompiles, "recompile", "recompiles"),
        "warn" if summary.recompiles else captured,
        "recompiles",
    )
    return [*([_speed_fact(summary.speed)] if summary.speed is not None else []), breaks, recompiles]


def verdict_facts(summary: Verdict) -> list[HeaderFact]:
    """Return the other facts of the verdict: result, graphs, ops and kernels, memory traffic."""
    graphs = HeaderFact(fmt.number(summary.graphs), fmt.agree(summary.graphs, "graph", "graphs"), page="fx_graph")
    result = [_result_fact(summary.result)] if summary.result is not None else []
    return [*result, graphs, *_work_facts(summary.work)]


def _speed_fact(speed: Speed) -> HeaderFact:
    """Return the speedup; a measurement on a busy machine is neither good nor bad."""
    claimed: Tone = "warn" if speed.slower or speed.beside else "ok" if speed.faster else ""
    text = seen_words(speed)
    help_ = "; ".join(filter(None, [SPEED_HELP, speed.beside]))
    if speed.disturbed:
        return HeaderFact(text, "speedup, disturbed", "warn", "speedup", f"{help_}; {speed.disturbed}")
    return HeaderFact(text, "speedup", claimed, "speedup", help_)


def _result_fact(result: Results) -> HeaderFact:
    compared = compared_words(result.compared)
    text = results_words(result) or (f"Compared with eager: {compared}" if compared else "")
    label = "in results" if result.outcome == "other strides" else "result"
    return HeaderFact(result.outcome, label, RESULT_TONES[result.outcome], "speedup", one_line(text, LONGEST_TEXT))


def _work_facts(work: Work) -> list[HeaderFact]:
    """Return the numbers of ops and kernels, and the change of memory traffic by fusion."""
    facts = []
    if work.ops is not None and work.kernels is not None:
        text = f"{fmt.number(work.ops)} → {fmt.number(work.kernels)}"
        facts.append(HeaderFact(text, "post-grad ops → kernels", page="kernels", help=work_words(work)[0]))
    if work.traffic is not None and work.traffic.changed:
        sign = "−" if work.traffic.saved > 0 else "+"
        help_ = f"{traffic_words(work.traffic)}. {counted_words(work.traffic)}"
        text = f"{sign}{fmt.percent(abs(work.traffic.saved))}"
        facts.append(HeaderFact(text, "memory traffic", page="fusion", help=help_))
    elif work.uneven:
        facts.append(HeaderFact("not comparable", "memory traffic", "quiet", "fusion", UNEVEN))
    return facts


__all__ = ["HeaderView", "first_compilation"]
