"""Header of a run, and the content of each page.

`HeaderView` has state, verdict and settings as short facts, and compilation labels. `page_contents` has counts, and
reasons for empty pages.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from core.analysis.backend import backend_problems, backends_called, requested_backend
from core.analysis.durations import compile_seconds
from core.analysis.dynamo.failures import Failure, failure_counts, failures, frame_names
from core.analysis.kernels.ledger import fusion_schedules
from core.analysis.memory import memory_ratio
from core.analysis.results import Results, compared_words, excuse_words, results_words
from core.analysis.speed import Speed
from core.analysis.verdict import Verdict, records_dynamo, target_words, verdict
from core.analysis.work import Work, captured_ops, heaviest
from core.base import words as fmt
from core.job import CompileJob
from core.report import Compilation, Report, stored
from core.report.parts import remembered
from core.runs.progress import is_compiled
from core.runs.status import Status
from core.views.backend.run import backend_sentence
from core.views.markdown import LONGEST_NAME, LONGEST_TEXT, code, one_line
from core.views.memory import memory_sentence
from core.views.numerics import NOT_COMPARED
from core.views.speedup import seen_words
from core.views.verdict import (
    UNEVEN,
    counted_words,
    outside_words,
    traffic_words,
    wall_words,
    work_words,
)

INDUCTOR, ACCELERATOR = "inductor", "accelerator"
NO_RECORD = "The run recorded nothing"
NO_CALL = "No call was recorded"
NOT_RUN = "The code was generated for a target that is not present, and not run"
ENDED = "The run ended before it was measured"
Tone = Literal["", "ok", "warn", "bad", "live", "quiet"]
# Smallest change of peak memory that is coloured, and smallest change that is shown.
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
NOT_RECORDED = "not recorded"
BREAKS_SINCE = "torch logs graph breaks since version 2.6"
SPEED_HELP = "Eager time over compiled time in the steady state: median, with its 99 % interval"


@dataclass(frozen=True, slots=True)
class PageContent:
    """Content of a page for a run: number of rows, and the reason if the page is empty.

    `count` is None for a page without a count; `why_empty` is plain text.
    """

    count: int | None = None
    why_empty: str = ""


@remembered
def page_contents(report: Report | None, *, live: bool) -> dict[str, PageContent]:
    """Return the content of each page that shows a run, by page name.

    `report` is None if the run recorded nothing. A live run has its counts so far, and no empty page, since
    more will be recorded.
    """
    if report is None:
        return {} if live else dict.fromkeys(WHY_EMPTY, PageContent(why_empty=NO_RECORD))
    counts = _counts(report)
    reasons = {} if live else _reasons(report)
    return {name: PageContent(counts.get(name), reasons.get(name, "")) for name in WHY_EMPTY}


@stored
def _reasons(report: Report) -> dict[str, str]:
    return {name: why(report) for name, why in WHY_EMPTY.items()}


def _counts(report: Report) -> dict[str, int]:
    """Return the numbers of the verdict, so that the menu and the header agree."""
    summary = verdict(report)
    return {
        "compilations": len(report.compilations),
        "graph_breaks": summary.breaks,
        "recompiles": summary.recompiles or 0,
        "kernels": summary.work.kernels or 0,
    }


def missing_page(name: str) -> str:
    """Return the message for an address without a page, as Markdown."""
    return f"There is no page {code(name, LONGEST_NAME)}. The menu on the left lists all pages."


def missing_run(run_id: str) -> str:
    """Return the message for an address without a run, as Markdown."""
    return f"There is no run {code(run_id, LONGEST_NAME)} here; it may have been deleted."


def rank_help(ranks: int) -> str:
    """Return the meaning of a rank, with the number of ranks of a run."""
    return f"The log of one process of a distributed job; this run has {fmt.count(ranks, 'rank')}."


def kind_words(status: Status) -> str:
    """Return the kind of a run: a run, an opened log, or a recording of a user's own process."""
    if status.kind == "run":
        return "run"
    return "recorded in a user's process" if status.in_process else "opened log"


def _unless(present: Callable[[Report], object], reason: str) -> Callable[[Report], str]:
    return lambda report: "" if present(report) else reason


def _unless_any(present: Callable[[Compilation], object], reason: str) -> Callable[[Report], str]:
    return lambda report: "" if any(map(present, report.compilations)) else reason


def _unless_inductor(present: Callable[[Compilation], object], reason: str) -> Callable[[Report], str]:
    """Return a function that returns why a page is empty; empty if `present` holds for a compilation.

    The function names the run's backend if that is not Inductor, otherwise it returns `reason`.
    """

    def why_empty(report: Report) -> str:
        if any(map(present, report.compilations)):
            return ""
        return _unlike_backend(report, INDUCTOR) or reason

    return why_empty


def _unlike_backend(report: Report, backend: str) -> str:
    used = requested_backend(report)
    return f"The backend was {one_line(used, LONGEST_NAME)}" if used not in ("", backend) else ""


def _no_invocations(report: Report) -> str:
    if any(compilation.invocations for compilation in report.compilations):
        return ""
    if requested_backend(report) == INDUCTOR:
        return "Only a run with a backend other than inductor has this page"
    if report.script is not None and not report.script.entries:
        return "The script gave no callable to torch.compile"
    return "The backend received no graph" if requested_backend(report) else "No backend call was recorded"


def _no_pipelines(report: Report) -> str:
    if any(compilation.pipelines for compilation in report.compilations):
        return ""
    return _unlike_backend(report, ACCELERATOR) or "The accelerator received no graph"


def _not_measured(report: Report, reason: str) -> str:
    """Return the reason why a run lacks a measurement: `reason`, or why nothing could be measured at all."""
    if target_words(report):
        return NOT_RUN
    if report.script is not None:
        return NOT_COMPARED
    if not report.calls:
        return NO_CALL
    return ENDED if report.error is not None else reason


def _no_speed(report: Report) -> str:
    return "" if report.timing else _not_measured(report, 'This run was not timed: turn on "measure" in New run')


def _no_memory(report: Report) -> str:
    """Return why memory is missing; a run with kernels always has Inductor's memory plan."""
    if report.memory or any(compilation.kernels for compilation in report.compilations):
        return ""
    return _not_measured(report, 'Memory was not measured: turn on "measure memory" in New run')


def _no_numerics(report: Report) -> str:
    if report.call_numerics or report.graph_numerics:
        return ""
    return _not_measured(report, 'Results were not compared with float64: choose "compare with float64" in New run')


def _no_neighbours(report: Report) -> str:
    return (
        ""
        if report.neighbours
        else _not_measured(report, 'No other compiler was tried: turn on "neighbours" in New run')
    )


def _has_backward(compilation: Compilation) -> bool:
    return bool(compilation.partitions) or any(graph.stage == "aot_backward_graph" for graph in compilation.graphs)


def _no_breaks(report: Report) -> str:
    if report.graph_breaks:
        return ""
    return "Graph breaks were not recorded" if report.break_record == "none" else "This run has no graph breaks"


def _no_recompiles(report: Report) -> str:
    if report.recompiles:
        return ""
    return "No frame was recompiled" if records_dynamo(report) else "Recompiles were not recorded"


_no_kernels = _unless_inductor(lambda compilation: compilation.kernels, "Inductor generated no kernels")
_no_graphs = _unless_any(lambda compilation: compilation.graphs, "Dynamo captured no graph")
# Page name → function that returns why a run has nothing for the page; empty if it has something.
WHY_EMPTY: dict[str, Callable[[Report], str]] = {
    "targets": _no_kernels,
    "tour": _unless(lambda report: report.compilations, "torch.compile captured no frame"),
    "compilations": _unless(lambda report: report.compilations, "torch.compile captured no frame"),
    "bytecode": _unless_any(lambda compilation: compilation.bytecode, "No bytecode was recorded"),
    "logs": _unless(lambda report: report.logs, "Torch's log messages were not recorded"),
    "artifacts": _unless(lambda report: report.kinds, NO_RECORD),
    "vllm": _unless(lambda report: report.vllm, "This log has no record of vLLM"),
    "graph_breaks": _no_breaks,
    "recompiles": _no_recompiles,
    "guards": _unless_any(lambda compilation: compilation.guards, "No guards were recorded"),
    "dynamic_shapes": _unless_any(
        lambda compilation: compilation.symbols or compilation.export_issues, "All sizes are static"
    ),
    "fx_graph": _no_graphs,
    "captures": _no_graphs,
    "passes": _no_graphs,
    "partition": _unless_any(_has_backward, "No backward graph: only training has one"),
    "fusion": _unless_inductor(fusion_schedules, "Fusion was not recorded"),
    "kernels": _no_kernels,
    "decisions": _unless_inductor(lambda compilation: compilation.schedules, "Fusion was not recorded"),
    "compile_time": _unless(lambda report: compile_seconds(report) or report.metrics, "No compile times were recorded"),
    "speedup": _no_speed,
    "memory": _no_memory,
    "numerics": _no_numerics,
    "timeline": _unless(lambda report: report.kinds, NO_RECORD),
    "backend": _no_invocations,
    "accelerator": _no_pipelines,
    "neighbours": _no_neighbours,
    "aotinductor": _unless(lambda report: report.exports, "The model was not packaged"),
}


class HeaderFact(NamedTuple):
    """A fact of the header: value, label, tone, help text, and the page with its evidence."""

    value: str
    label: str = ""
    tone: Tone = ""
    page: str = ""
    help: str = ""


@dataclass(frozen=True)
class HeaderView:
    """A run's status, job, and report so far; the job or report is None if the run has none."""

    status: Status
    report: Report | None
    job: CompileJob | None

    @property
    def is_no_trace(self) -> bool:
        """True for an opened file without any record."""
        ended_log = self.status.kind == "log" and not self.status.live
        return ended_log and self.report is not None and not self.report.kinds

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
        return [state, *report_facts(self.report, ended=self._tone not in ("bad", "warn")), *settings]

    @property
    def _state(self) -> str:
        """The state in words.

        It differs from the status for a run that still measures, a run that recorded an error, and an opened log.
        """
        if self.is_no_trace:
            return "no trace"
        if self.status.state == "done" and self.report is not None and self.report.error is not None:
            return "failed"
        if self.status.kind == "log" and self.status.state == "done" and self._is_partly_compiled:
            return "opened"
        if self.status.live and self.status.kind == "log":
            return "following …"
        return "measuring …" if self.status.live and self.is_final else self.status.state

    @property
    def _is_partly_compiled(self) -> bool:
        return self.report is not None and any(failure.kind == "failed" for failure in failures(self.report))

    @property
    def _tone(self) -> Tone:
        """The tone of the outcome; in a finished run, failed compilations have separate red facts."""
        if self._state in ("no trace", "failed"):
            return "bad"
        return "" if self._state == "done" and self._is_partly_compiled else TONES.get(self._state, "")

    @property
    def _settings(self) -> list[str]:
        torch = self.report.setting.torch if self.report else ""
        kind = [kind_words(self.status)] if self.status.kind == "log" else []
        node = f"on {self.status.node}" if self.status.node else ""
        parts = [self.job.device, node, *self.job.differences()] if self.job else kind
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
    ops = f"{fmt.count(captured_ops(compilation), 'captured op')} · " if with_ops else ""
    return f"[{compilation.id}] {ops}{one_line(name, LONGEST_NAME)}"


def first_compilation(report: Report) -> Compilation | None:
    """Return the compilation that pages show at first: the heaviest; None if nothing was compiled."""
    return heaviest(report)


def report_facts(report: Report, *, ended: bool = True) -> list[HeaderFact]:
    """Return the facts of a report: speedup, breaks, failures, result, work, memory and backend."""
    summary, target = verdict(report), target_words(report)
    not_run = [HeaderFact("not run", target.removesuffix("; not run"), "warn", "kernels", target)] if target else []
    return [
        *first_facts(summary),
        *not_run,
        *failure_facts(summary.failures),
        *verdict_facts(summary, ended=ended),
        *memory_facts(report),
        *backend_facts(report),
    ]


def facts_line(report: Report) -> str:
    """Return the facts of a report in one line of plain text."""
    texts = ((fact.value, fact.label) for fact in report_facts(report))
    # "too few samples to say speedup" cannot be read.
    ordered = (reversed(text) if text[1].startswith("speedup") else text for text in texts)
    return " · ".join(" ".join(filter(None, text)) for text in ordered)


def failure_facts(failures: Sequence[Failure]) -> list[HeaderFact]:
    """Return facts about code that was not compiled: errors in red, eager frames as a warning."""
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
    """Return the facts next to the state at every width: speedup, graph breaks and recompiles.

    For graphs captured without Dynamo, the only fact is their origin.
    """
    if summary.outside:
        words = outside_words(summary)
        return [HeaderFact(words.partition(":")[0], page="overview", help=words)]
    speed = [_speed_fact(summary.speed)] if summary.speed is not None else []
    return [*speed, _break_fact(summary), _recompile_fact(summary)]


def _break_fact(summary: Verdict) -> HeaderFact:
    if summary.break_record == "none":
        return HeaderFact("graph breaks", NOT_RECORDED, page="graph_breaks", help=BREAKS_SINCE)
    hits = f"Places where Dynamo stopped tracing, hit {fmt.count(summary.break_hits, 'time')}"
    at_least = "at least " if summary.break_record == "lower bound" else ""
    return HeaderFact(
        f"{at_least}{fmt.number(summary.breaks)}",
        fmt.agree(summary.breaks, "graph break", "graph breaks"),
        "warn" if summary.breaks else _captured_tone(summary),
        "graph_breaks",
        hits if summary.breaks else "",
    )


def _recompile_fact(summary: Verdict) -> HeaderFact:
    if summary.recompiles is None:
        return HeaderFact("recompiles", NOT_RECORDED, page="recompiles")
    return HeaderFact(
        fmt.number(summary.recompiles),
        fmt.agree(summary.recompiles, "recompile", "recompiles"),
        "warn" if summary.recompiles else _captured_tone(summary),
        "recompiles",
    )


def _captured_tone(summary: Verdict) -> Tone:
    return "ok" if summary.graphs and not summary.failures else ""


def verdict_facts(summary: Verdict, *, ended: bool = True) -> list[HeaderFact]:
    """Return the other facts of the verdict: result, graphs, ops and kernels, memory traffic.

    `ended` is False if the run did not finish; equal results then don't count as a success.
    """
    graphs = _graph_fact(summary)
    result = [_result_fact(summary.result, ended)] if summary.result is not None else []
    return [*result, graphs, *_work_facts(summary.work)]


def _graph_fact(summary: Verdict) -> HeaderFact:
    if summary.inductor_graphs is not None:
        noun = fmt.agree(summary.inductor_graphs, "graph of Inductor", "graphs of Inductor")
        return HeaderFact(fmt.number(summary.inductor_graphs), noun, page="fx_graph")
    if summary.records_lost:
        return HeaderFact("graphs", NOT_RECORDED, page="fx_graph")
    return HeaderFact(fmt.number(summary.graphs), fmt.agree(summary.graphs, "graph", "graphs"), page="fx_graph")


def _speed_fact(speed: Speed) -> HeaderFact:
    """Return the speedup; a measurement on a busy machine is neither good nor bad."""
    claimed: Tone = "warn" if speed.slower or speed.wall is not None else "ok" if speed.faster else ""
    text = seen_words(speed)
    help_ = "; ".join(filter(None, [SPEED_HELP, wall_words(speed)]))
    if speed.disturbed:
        return HeaderFact(text, "speedup, disturbed", "warn", "speedup", f"{help_}; {speed.disturbed}")
    return HeaderFact(text, "speedup", claimed, "speedup", help_)


def _result_fact(result: Results, ended: bool) -> HeaderFact:
    compared = compared_words(result.compared)
    text = results_words(result) or (f"Compared with eager: {compared}" if compared else "")
    text = "; ".join(filter(None, [text, *excuse_words(result)]))
    label = "in results" if result.outcome == "other strides" else "result" if ended else "result so far"
    tone = RESULT_TONES[result.outcome]
    return HeaderFact(
        result.outcome, label, tone if ended or tone != "ok" else "", "speedup", one_line(text, LONGEST_TEXT)
    )


def _work_facts(work: Work) -> list[HeaderFact]:
    """Return the numbers of ops and kernels, and the change of memory traffic by fusion."""
    facts = []
    if work.ops is not None and work.kernels is not None:
        newest = " (newest compilations)" if work.earlier else ""
        kernels = f"post-grad {fmt.agree(work.ops, 'op', 'ops')} → {fmt.count(work.kernels, 'kernel')}{newest}"
        facts.append(HeaderFact(fmt.number(work.ops), kernels, page="kernels", help=work_words(work)))
    if work.traffic is not None and work.traffic.changed:
        sign = "−" if work.traffic.saved > 0 else "+"
        help_ = f"{traffic_words(work.traffic)}. {counted_words(work.traffic)}"
        text = f"{sign}{fmt.percent(abs(work.traffic.saved))}"
        facts.append(HeaderFact(text, "memory traffic", page="fusion", help=help_))
    elif work.uneven:
        facts.append(HeaderFact("not comparable", "memory traffic", "quiet", "fusion", UNEVEN))
    return facts
