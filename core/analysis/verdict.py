"""Verdict of a run: a sentence, a summary for lists, doubts about measurements, and the target."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from core.analysis.durations import compile_time_s
from core.analysis.dynamo.failures import failure_sentence, failures
from core.analysis.interval import Interval
from core.analysis.kernels.kernel import ALONE, kernels_disturbed
from core.analysis.kernels.ledger import ledger
from core.analysis.recorded import (
    BREAKS_NOT_RECORDED,
    break_count_words,
    dynamo_graph_count,
    inductor_graphs,
    recompile_count,
    records_dynamo,
)
from core.analysis.results import Results, failed_words, results, results_words
from core.analysis.speed import Speed, break_even_calls, speed
from core.analysis.work import Work, uncompiled_calls_words, work, work_words
from core.base.words import agree, bytes_, calls_after, count, number, percent
from core.code.stages import occupancy
from core.job.targets import TARGETS, Target
from core.report import BreakRecord, Compilation, Kernel, Report, stored

NO_PROGRAM = "its graph was not recorded, which TORCH_DTRACE does"
MOST_VERSION_CHARS = 60  #: torch's version in a summary
MOST_DEVICE_CHARS = 120  #: the device's name in a summary
MOST_INPUTS_CHARS = 300  #: the inputs in a summary
# Start of the worker's error if time ran out before any kernel was measured.
NO_TIME = "TimeoutError: "
NAMED = 3


@dataclass(frozen=True, slots=True)
class Verdict:
    """Numbers in every page's header; None if the log does not have a number.

    `graphs` counts the graphs passed to the backend, or the graphs captured without Dynamo. `inductor_graphs` counts
    Inductor's graphs in a log without records of Dynamo, None for other logs. `breaks` counts the recorded graph
    breaks, `break_hits` their hits; `break_record` says whether these are all. `records_lost` is True if torch's later
    records are missing. `work` is Inductor's work on the ops.
    In words, `ended` is the error that ended the run, `failures` the code that was not compiled, and
    `uncompiled_calls` the calls without compiled code. `outside` is what captured the graphs if Dynamo compiled
    nothing. `captures` counts compiled autograd's captures of a backward.
    """

    graphs: int
    breaks: int
    recompiles: int | None
    work: Work
    speed: Speed | None
    break_even: tuple[int, int] | None
    result: Results | None
    failures: str = ""
    break_hits: int = 0
    break_record: BreakRecord = "complete"
    records_lost: bool = False
    inductor_graphs: int | None = None
    uncompiled_calls: str = ""
    ended: str = ""
    outside: str = ""
    captures: int = 0


@stored
def verdict(report: Report) -> Verdict:
    """Return the verdict of a report."""
    return Verdict(
        graphs=graph_count(report),
        breaks=len(report.graph_breaks),
        recompiles=recompile_count(report),
        work=work(report),
        speed=speed(report.timing),
        break_even=break_even_calls(report),
        result=results(report),
        failures=failure_sentence(failures(report)),
        break_hits=sum(len(graph_break.compilations) for graph_break in report.graph_breaks),
        break_record=report.break_record,
        records_lost=report.records_lost,
        inductor_graphs=None if records_dynamo(report) else inductor_graphs(report),
        uncompiled_calls=uncompiled_calls_words(report),
        ended=failed_words(report),
        outside=_outside(report),
        captures=sum(compilation.is_capture for compilation in report.compilations),
    )


def graph_count(report: Report) -> int:
    """Return the number of graphs passed to the backend, or captured without Dynamo.

    Only the last attempt of a compilation counts, as in torch's `counters["stats"]["unique_graphs"]`.
    """
    return dynamo_graph_count(report) or root_graphs(report)


def graph_words(summary: Verdict) -> str:
    """Return the number of graphs in words."""
    if summary.inductor_graphs is None:
        return count(summary.graphs, "graph") if not summary.records_lost else "graphs not recorded"
    return f"{count(summary.inductor_graphs, 'graph')} of Inductor"


def root_graphs(report: Report) -> int:
    """Return the number of graphs captured by something other than Dynamo.

    Graphs of compiled autograd do not count, since Dynamo compiles them.
    """
    return sum(bool(compilation.graphs) and not compilation.is_capture for compilation in _roots(report))


def _roots(report: Report) -> list[Compilation]:
    return [compilation for compilation in report.compilations if not compilation.has_frame]


def _outside(report: Report) -> str:
    """Return what captured a log's graphs instead of Dynamo; empty if Dynamo compiled something.

    It is also empty for a run of a job.
    """
    roots = _roots(report)
    if report.setting.job is not None or len(roots) < len(report.compilations) or not roots:
        return ""
    names = ", ".join(dict.fromkeys(compilation.frame.name for compilation in roots))
    graphs = root_graphs(report)
    return f"{names} without Dynamo: {count(graphs, 'graph') if graphs else NO_PROGRAM}"


def sentence(summary: Verdict) -> str:
    """Return the verdict in words, short if there is little to report."""
    first = [*([summary.failures] if summary.failures else []), *_speed_words(summary)]
    breaks = break_count_words(summary.breaks, summary.break_record)
    parts = [summary.outside] if summary.outside else [graph_words(summary), breaks]
    if summary.captures:
        parts.append(f"{count(summary.captures, 'capture')} by compiled autograd")
    if summary.recompiles:
        parts.append(count(summary.recompiles, "recompile"))
    parts += work_words(summary.work)
    ended = f"{summary.ended}: " if summary.ended else ""
    clauses = [*([", ".join(first)] if first else []), ", ".join(parts), *_doubts(summary)]
    text = ended + _result_words(summary.result) + "; ".join(clauses) + "."
    return text[:1].upper() + text[1:]


def _result_words(result: Results | None) -> str:
    differs = result is not None and result.outcome == "differs"
    return f"Compiled differs from eager ({results_words(result)}): " if result and differs else ""


def _speed_words(summary: Verdict) -> list[str]:
    if summary.speed is None:
        return []
    interval = summary.speed.interval
    if interval is None:
        unknown = summary.speed.unknown
        return [f"speed {unknown}" if summary.speed.wide else f"speed unknown: {unknown}"]
    if not summary.speed.clear:
        return [f"no difference in speed seen ({_bounds(interval)}×)"]
    if summary.speed.slower:
        return [_times(interval.inverse(), "slower than eager")]
    pays = f", {pays_words(summary.break_even)}" if summary.break_even else ""
    return [f"{_times(interval, 'faster')}{pays}"]


def _times(interval: Interval, than: str) -> str:
    return f"{number(interval.middle)}× {than} ({_bounds(interval)})"


def _bounds(interval: Interval) -> str:
    return f"{number(interval.low)}–{number(interval.high)}"


def _doubts(summary: Verdict) -> list[str]:
    narrow = summary.speed is not None and not summary.speed.wide
    speed_doubts = (summary.speed.beside, summary.speed.disturbed) if summary.speed is not None and narrow else ()
    return [words for words in (_strides_words(summary.result), summary.uncompiled_calls, *speed_doubts) if words]


def _strides_words(result: Results | None) -> str:
    many = len(result.restrided) if result is not None and result.outcome == "other strides" else 0
    return f"{count(many, 'result')} with eager's values but different strides" if many else ""


def pays_words(break_even: tuple[int, int]) -> str:
    """Return the break-even interval in words: "pays off after 510–530 calls"."""
    return f"pays off {calls_after(*break_even)}"


@dataclass(frozen=True, slots=True)
class Summary:
    """Numbers of a verdict, torch version, name of the device, and inputs of the first call.

    A text is empty and a number None if the log does not have it. `device` is the driver's name of the device.
    `outcome` compares the compiled results with eager's. `compile_s` is the compile time of all compilations
    together. `breaks` is a lower bound if `more_breaks`.
    """

    graphs: int = 0
    breaks: int | None = 0
    recompiles: int | None = 0
    ops: int | None = None
    kernels: int | None = None
    outcome: str = ""
    speed: Speed | None = None
    compile_s: float | None = None
    torch: str = ""
    device: str = ""
    inputs: str = ""
    more_breaks: bool = False

    @property
    def break_words(self) -> str:
        """The number of graph breaks in words."""
        if self.breaks is None:
            return BREAKS_NOT_RECORDED
        return break_count_words(self.breaks, "lower bound" if self.more_breaks else "complete")


def summary(report: Report) -> Summary:
    """Return the summary of a report, with the log's texts cut to a maximum length."""
    of_run, setting = verdict(report), report.setting
    return Summary(
        graphs=of_run.graphs if of_run.inductor_graphs is None else of_run.inductor_graphs,
        breaks=None if of_run.break_record == "none" else of_run.breaks,
        more_breaks=of_run.break_record == "lower bound",
        recompiles=of_run.recompiles,
        ops=of_run.work.ops,
        kernels=of_run.work.kernels,
        outcome=of_run.result.outcome if of_run.result else "",
        speed=of_run.speed,
        compile_s=compile_time_s(report) or None,
        torch=setting.torch[:MOST_VERSION_CHARS],
        device=setting.device[:MOST_DEVICE_CHARS],
        inputs=report.calls[0].inputs[:MOST_INPUTS_CHARS] if report.calls else "",
    )


def doubts(report: Report) -> tuple[str, ...]:
    """Return why the speedup and the kernels' times are unreliable; empty if they are reliable."""
    measured = speed(report.timing)
    of_speed = (measured.unknown or measured.disturbed) if measured is not None else ""
    of_kernels = kernels_disturbed(report) or (report.untimed if report.untimed.startswith(NO_TIME) else "")
    return tuple(dict.fromkeys(reason for reason in (of_speed, of_kernels) if reason))


def untimed_words(report: Report) -> str:
    """Return why no kernel was timed, or which kernels were timed only in place; empty if neither applies."""
    if report.untimed:
        return f"kernels were not timed: {report.untimed.removeprefix(NO_TIME).rstrip('.')}"
    rows = [row for compilation in report.compilations for row in ledger(report, compilation) if row.measured]
    rest = [row for row in rows if row.timed != ALONE]
    if not rest:
        return ""
    named = ", ".join(f"`{row.label}`" for row in rest[:NAMED])
    more = f" and {count(len(rest) - NAMED, 'more', 'more')}" if len(rest) > NAMED else ""
    were = agree(len(rest), "was", "were")
    return f"{number(len(rest))} of {count(len(rows), 'kernel call')} {were} only timed in place: {named}{more}"


def target_of(report: Report) -> Target | None:
    """Return the target for which code was generated; None if the code ran where it was compiled."""
    return TARGETS.get(report.setting.target)


def target_words(report: Report) -> str:
    """Return `generated for NVIDIA H100 on a machine without it; not run`; empty for other runs."""
    target = target_of(report)
    return f"generated for {target.title}, which is not present; not run" if target else ""


def side_words(report: Report) -> str:
    """Return the kind of run: cross-compiled for a target, run on a device, or an imported log."""
    device = report.setting.device
    return target_words(report) or (f"run on {device}" if device else "an imported log")


def ended_words(report: Report) -> str:
    """Return the calls that the CPU could not complete, and why; empty if it completed all."""
    ended = [call for call in report.calls if call.ended]
    if not ended:
        return ""
    first = ended[0].index
    subject = agree(len(ended), f"Call {first}", f"{count(len(ended), 'call')}, the first of them {first},")
    return (
        f"{subject} could not finish on the CPU: {ended[0].ended}. Code compiled before this point is complete; "
        "code that the model would compile after it is missing."
    )


def target_lines(report: Report) -> Iterator[str]:
    """Yield lines about the target: a summary, then the resources of each generated kernel.

    Nothing for a run without a target.
    """
    target = target_of(report)
    if target is None:
        return
    yield " ".join(filter(None, [f"{target_words(report)}.", ended_words(report)]))
    for compilation in report.compilations:
        yield from (f"  {_resources(kernel, target)}" for kernel in compilation.kernels if kernel.binary is not None)


def _resources(kernel: Kernel, target: Target) -> str:
    binary = kernel.binary
    assert binary is not None
    config = binary.shown
    if config is None or config.error:
        return f"{kernel.name}: {binary.error or (config and config.error)}"
    share = occupancy(target.architecture, config.num_warps, config.registers, config.shared_bytes)
    memory = f"{bytes_(config.shared_bytes)} shared, {bytes_(config.spill_bytes)} spilled"
    configs, registers = count(len(binary.configs), "config"), count(config.registers, "register")
    return f"{kernel.name}: {configs}; {config.text}: {registers}, {memory}, occupancy {percent(share)}"
