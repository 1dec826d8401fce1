"""Verdict of a run as values, a summary for lists, doubts about measurements, and the target."""

from dataclasses import dataclass

from core.analysis.durations import compile_time_s
from core.analysis.dynamo.failures import Failure, Phase, failed_phase, failures
from core.analysis.dynamo.recompiles import recompiled
from core.analysis.kernels.kernel import kernels_disturbed
from core.analysis.numerics import Numerics, numerics
from core.analysis.results import Results, results
from core.analysis.speed import Speed, break_even_calls, speed
from core.analysis.work import UncompiledCalls, Work, dynamo_graphs, uncompiled_calls, work
from core.job.targets import TARGETS, Target
from core.report import BreakRecord, Compilation, Report, RunError, stored

NO_PROGRAM = "its graph was not recorded, which TORCH_DTRACE does"
MOST_VERSION_CHARS = 60  #: torch's version in a summary
MOST_DEVICE_CHARS = 120  #: the device's name in a summary
MOST_INPUTS_CHARS = 300  #: the inputs in a summary
# Start of the worker's error if time ran out before any kernel was measured.
NO_TIME = "TimeoutError: "
DYNAMO_RECORDS = frozenset({"dynamo_start", "dynamo_output_graph", "dynamo_cpp_guards_str", "compilation_metrics"})


@dataclass(frozen=True, slots=True)
class Outside:
    """Names of the tools that captured a log's graphs without Dynamo, and the number of graphs."""

    names: tuple[str, ...]
    graphs: int


@dataclass(frozen=True, slots=True)
class Verdict:
    """Numbers in every page's header; None if the log does not have a number.

    `graphs` counts the graphs passed to the backend, or the graphs captured without Dynamo. `inductor_graphs` counts
    Inductor's graphs in a log without records of Dynamo, None for other logs. `breaks` counts the recorded graph
    breaks, `break_hits` their hits; `break_record` says whether these are all. `records_lost` is True if torch's later
    records are missing. `work` is Inductor's work on the ops.
    `error` ended the run in `phase`, `failures` are the code that was not compiled, and `uncompiled_calls` the calls
    without compiled code. `outside` is what captured the graphs if Dynamo compiled nothing. `captures` counts compiled
    autograd's captures of a backward. `accuracy` compares the results with float64.
    """

    graphs: int
    breaks: int
    recompiles: int | None
    work: Work
    speed: Speed | None
    break_even: tuple[int, int] | None
    result: Results | None
    failures: tuple[Failure, ...] = ()
    break_hits: int = 0
    break_record: BreakRecord = "complete"
    records_lost: bool = False
    inductor_graphs: int | None = None
    uncompiled_calls: tuple[UncompiledCalls, ...] = ()
    error: RunError | None = None
    outside: Outside | None = None
    captures: int = 0
    accuracy: Numerics | None = None
    phase: Phase = ""


@stored
def verdict(report: Report) -> Verdict:
    """Return the verdict of a report."""
    return Verdict(
        graphs=graph_count(report),
        breaks=len(report.graph_breaks),
        recompiles=len(recompiled(report)) if records_dynamo(report) else None,
        work=work(report),
        speed=speed(report.timing),
        break_even=break_even_calls(report),
        result=results(report),
        failures=failures(report),
        break_hits=sum(len(graph_break.compilations) for graph_break in report.graph_breaks),
        break_record=report.break_record,
        records_lost=report.records_lost,
        inductor_graphs=None if records_dynamo(report) else inductor_graphs(report),
        uncompiled_calls=uncompiled_calls(report),
        error=report.error,
        outside=_outside(report),
        captures=sum(compilation.is_capture for compilation in report.compilations),
        accuracy=numerics(report),
        phase=failed_phase(report),
    )


def graph_count(report: Report) -> int:
    """Return the number of graphs passed to the backend, counted as torch's `unique_graphs`."""
    return dynamo_graph_count(report) or root_graphs(report)


def root_graphs(report: Report) -> int:
    """Return the number of graphs captured without Dynamo, which compiles those of compiled autograd."""
    return sum(bool(compilation.graphs) and not compilation.is_capture for compilation in _roots(report))


def _roots(report: Report) -> list[Compilation]:
    return [compilation for compilation in report.compilations if not compilation.has_frame]


def _outside(report: Report) -> Outside | None:
    """Return what captured a log's graphs instead of Dynamo; None if Dynamo did, or for a run of a job."""
    roots = _roots(report)
    if report.setting.job is not None or len(roots) < len(report.compilations) or not roots:
        return None
    return Outside(tuple(dict.fromkeys(compilation.frame.name for compilation in roots)), root_graphs(report))


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


def records_dynamo(report: Report) -> bool:
    """Return False for compilations without all records of Dynamo, as in a log made from a dump."""
    if report.records_lost:
        return False
    return report.break_record != "none" or not report.kinds.keys().isdisjoint(DYNAMO_RECORDS)


def dynamo_graph_count(report: Report) -> int:
    """Return the number of Dynamo's graphs, in the last attempt of each compilation.

    Without records of graphs, it is the number of compilations that captured ops. Without any record of
    Dynamo, it is the number of compilations with graphs.
    """
    if not records_dynamo(report):
        return sum(bool(compilation.graphs) for compilation in report.compilations)
    if any(compilation.graphs for compilation in report.compilations):
        return sum(len(dynamo_graphs(compilation)) for compilation in report.compilations)
    return sum(
        compilation.status != "failed" and bool(compilation.graph_op_count) for compilation in report.compilations
    )


def inductor_graphs(report: Report) -> int | None:
    """Return the number of graphs that Inductor compiled, forward and backward apart; None without any."""
    compiled: set[tuple[str, str]] = set()
    for compilation in report.compilations:
        directions = {graph.direction for graph in compilation.lowered_graphs}
        directions |= {kernel.direction for kernel in compilation.kernels}
        compiled.update((compilation.id, direction) for direction in directions)
    return len(compiled) or None
