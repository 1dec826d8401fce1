"""The verdict of a run: a few numbers, and the sentence that says them."""

from __future__ import annotations

from dataclasses import dataclass

from core.analysis.failures import failure_sentence, failures
from core.analysis.results import Results, results, results_words
from core.analysis.speed import Speed, break_even_calls, speed
from core.report import Compilation, FxGraph, Report


@dataclass(frozen=True, slots=True)
class Verdict:
    """The numbers that every page's header shows. None means that the log does not say.

    `failures` says in words what was not compiled, `graphs` are the graphs that Dynamo gave to the backend, `breaks` the
    places where it stopped and `breaks_met` how often it did, `ops` the nodes that compute in the graphs that Inductor
    scheduled, `kernels` what it made of them (extern kernels count), `bytes_before` and `bytes_after` the memory traffic
    without and with fusion, as Inductor counts it.
    """

    graphs: int
    breaks: int
    recompiles: int
    ops: int | None
    kernels: int | None
    bytes_before: int | None
    bytes_after: int | None
    speed: Speed | None
    break_even: tuple[int, int] | None
    result: Results | None
    failures: str = ""
    breaks_met: int = 0

    @property
    def traffic_saved(self) -> float | None:
        """The part of the memory traffic that fusion saved, 0 to 1."""
        if not self.bytes_before or self.bytes_after is None:
            return None
        return 1 - self.bytes_after / self.bytes_before


def verdict(report: Report) -> Verdict:
    """Sum a report up."""
    compilations = report.compilations
    dynamo = [graph for item in compilations for graph in item.graphs if graph.stage == "dynamo_output_graph"]
    scheduled = [graph for item in compilations for graph in scheduled_graphs(item)]
    schedules = [schedule for item in compilations for schedule in item.schedules]
    kernels = [kernel for item in compilations for kernel in item.kernels]
    return Verdict(
        graphs=len(dynamo),
        breaks=len(report.graph_breaks),
        recompiles=len({item.compilation for item in report.recompiles}),
        ops=sum(graph.calls for graph in scheduled) if scheduled else None,
        kernels=len(kernels) or None,
        bytes_before=sum(schedule.bytes_before for schedule in schedules) if schedules else None,
        bytes_after=sum(schedule.bytes_after for schedule in schedules) if schedules else None,
        speed=speed(report.timing),
        break_even=break_even_calls(report),
        result=results(report),
        failures=failure_sentence(failures(report)),
        breaks_met=sum(len(item.compilations) for item in report.graph_breaks),
    )


def scheduled_graphs(compilation: Compilation) -> list[FxGraph]:
    """The graphs that Inductor lowered: after its post-grad passes."""
    return [graph for graph in compilation.graphs if graph.stage == "inductor_post_grad_graph"]


def sentence(found: Verdict) -> str:
    """The verdict in words, shortest where there is least to say."""
    parts = [found.failures] if found.failures else []
    parts += [_count(found.graphs, "graph"), _count(found.breaks, "graph break")]
    if found.recompiles:
        parts.append(_count(found.recompiles, "recompile"))
    if found.ops is not None and found.kernels is not None:
        verb = "op became" if found.ops == 1 else "ops became"
        parts.append(f"{found.ops:,} {verb} {_count(found.kernels, 'kernel')}")
    if found.traffic_saved is not None and found.traffic_saved >= 0.005:
        parts.append(f"{found.traffic_saved:.0%} less memory traffic")
    return _result_words(found.result) + "; ".join([", ".join([*parts, *_speed_words(found)]), *_doubts(found)]) + "."


def _result_words(found: Results | None) -> str:
    differs = found is not None and found.outcome == "differs"
    return f"Compiled differs from eager ({results_words(found)}): " if found and differs else ""


def _speed_words(found: Verdict) -> list[str]:
    if found.speed is None:
        return []
    interval = found.speed.interval
    if interval is None:
        return ["too few samples to say which is faster"]
    if not found.speed.clear:
        return [f"no difference in speed seen ({interval.low:.3g} to {interval.high:.3g} times)"]
    if found.speed.slower:
        other = interval.inverse()
        return [f"{other.middle:.3g} times slower than eager ({other.low:.3g} to {other.high:.3g})"]
    pays = f" {pays_words(found.break_even)}" if found.break_even else ""
    return [f"{interval.middle:.3g} times faster ({interval.low:.3g} to {interval.high:.3g}){pays}"]


def _doubts(found: Verdict) -> list[str]:
    return [found.speed.disturbed] if found.speed is not None and found.speed.disturbed else []


def pays_words(break_even: tuple[int, int]) -> str:
    """From which call on compiling has paid: "from between the 510th and the 530th call on"."""
    soonest, latest = (ordinal(number) for number in break_even)
    return (
        f"from about the {soonest} call on"
        if soonest == latest
        else f"from between the {soonest} and the {latest} call on"
    )


def ordinal(number: int) -> str:
    """14th, 21st, 1,000th: two significant digits, since what is counted was estimated."""
    number = int(float(f"{number:.1e}"))
    suffix = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number:,}{suffix}"


def _count(number: int, word: str) -> str:
    return f"{number:,} {word}" + ("" if number == 1 else "s")
