"""Verdict of a run in words: its worst fact as a title, and the facts that the lines below it have.

A title has room in four lines of a phone. Chips and lines have all that it leaves out.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from core.analysis.dynamo.failures import Phase, failure_counts
from core.analysis.interval import BUSY, Interval, busy
from core.analysis.kernels.kernel import ALONE
from core.analysis.kernels.ledger import ledger
from core.analysis.numerics import Numerics, both_errors
from core.analysis.results import difference_words, results_words
from core.analysis.speed import Speed, alternative_results, alternative_speed
from core.analysis.verdict import NO_PROGRAM, NO_TIME, Summary, Verdict, records_dynamo, target_of, target_words
from core.analysis.work import Traffic, UncompiledCalls, Work
from core.base.words import agree, bytes_, calls_after, count, number, percent
from core.code.stages import occupancy
from core.job.model import PARAMETERS, CompileOptions
from core.job.targets import Target
from core.report import Accuracy, Alternative, BreakRecord, Difference, Kernel, Load, Report, RunError
from core.views.markdown import sentence as as_sentence
from core.views.markdown import short

MOST_TITLE_WORDS = 20  #: words of a title
MOST_TITLE_CHARS = 96  #: characters of a title
MOST_WORD_CHARS = 29  #: characters of a name or a word in a title; a longer one is cut in the middle
NAMED = 3
BREAKS_NOT_RECORDED = "graph breaks not recorded"
BY_THE_WALL = "by the wall clock, launches included,"
UNEVEN = "Memory traffic is not comparable in this log: torch counted fused nodes by another rule."
# What calls without compiled code did, by their kind.
UNCOMPILED = {
    "raised": "raised, because the stance forbids compiling for {}",
    "eager": "ran eagerly, because no compiled code fitted {}",
    "mixed": "ran partly eagerly, because no compiled code fitted that part",
    "no graph": "ran eagerly, because no graph was compiled",
}

FAILED: dict[Phase, str] = {
    "": "the run",
    "eager": "eager",
    "capture": "Dynamo",
    "AOTAutograd": "AOTAutograd",
    "Inductor": "Inductor",
    "generated code": "Inductor's code",
    "run time": "compiled code",
}
# The cause within torch's errors, whose first line is equal for all causes.
CAUSE = re.compile(
    r"Got graph break/error:\s*(.+)|^  Explanation: Dynamo failed to run FX node .*: got \w+\(['\"](.+?)['\"]\)$"
    r"|^backend='\w+' raised:\n(.+)|: error: (.+)",
    re.MULTILINE,
)
# Types of errors before the type of their cause.
WRAPPED = re.compile(r"^(?:(?:BackendCompilerFailed|InductorError|LoweringException): )+(?=\w+: )")
# Defaults of torch.compile, which are left out of the call.
DEFAULTS = {name: getattr(CompileOptions(), name) for name in PARAMETERS}
WHILE_MEASURED = "while it was measured"


def sentence(summary: Verdict) -> str:
    """Return the worst fact of a run in a sentence: the first of `WORST` that it has."""
    return title(next(filter(None, (fact(summary) for fact in WORST))))


def disturbed_words(loads: Iterable[Load | None], when: str) -> str:
    """Return that the machine was busy `when` it measured; empty for a quiet machine or unknown loads."""
    return f"{BUSY} {when}" if any(map(busy, loads)) else ""


def title(text: str) -> str:
    """Return text as a sentence within the bounds of a title."""
    text = fitted(text.rstrip("."))
    return f"{text[:1].upper()}{text[1:]}" if text.endswith(("?", "!", "…")) else as_sentence(text)


def fitted(text: str) -> str:
    """Return text within the bounds of a title: long words lose their middle, a long text its end."""
    words = [_cut(word) for word in text.split()]
    kept = words[:MOST_TITLE_WORDS]
    while not _fits(" ".join(kept)):
        kept.pop()
    if len(kept) == len(words):
        return " ".join(kept)
    start = " ".join(kept).rstrip(",;:.([{")
    return f"{start}…{'`' * (start.count('`') % 2)}"


def first_parts(parts: Sequence[str], separator: str = ", ") -> str:
    """Return as many parts as a title has room for, at least the first."""
    kept = 1
    while kept < len(parts) and _fits(separator.join(parts[: kept + 1])):
        kept += 1
    return separator.join(parts[:kept])


def _fits(text: str) -> bool:
    return len(text.split()) <= MOST_TITLE_WORDS and len(text) < MOST_TITLE_CHARS


def _cut(word: str) -> str:
    half = MOST_WORD_CHARS // 2
    return word if len(word) <= MOST_WORD_CHARS else f"{word[: half - 1]}…{word[-half:]}"


def error_title(error: RunError, phase: Phase) -> str:
    """Return which phase of a run failed, the line of the user's code, and the error's cause."""
    line = f" on line {error.frames[-1].line} of your code" if error.frames else ""
    match = CAUSE.search(error.message)
    message = (next(filter(None, match.groups())) if match else error.message).strip().partition("\n")[0].rstrip(".")
    cause = WRAPPED.sub("", f"{error.type}{message and f': {message}'}")
    return f"{FAILED[phase]} failed{line}: {cause}"


def _failed(summary: Verdict) -> str:
    return error_title(summary.error, summary.phase) if summary.error is not None else ""


def _wrong(summary: Verdict) -> str:
    """Return how compiled differs from float64, or else from eager."""
    differs = summary.result is not None and summary.result.outcome == "differs"
    wrong = _wrong_in_float64(summary.accuracy) if summary.accuracy is not None else ""
    if wrong or not differs or summary.result is None:
        return wrong
    if summary.accuracy is not None and (worst := summary.accuracy.worst) is not None:
        return f"compiled differs from eager, but is as right: {_errors(worst.accuracy)}"
    return _difference_title(summary.result.told[0])


def _wrong_in_float64(accuracy: Numerics) -> str:
    worst = accuracy.worst
    if worst is None or worst.standing != "differs":
        return ""
    return f"compiled is wrong: {short(worst.what)} is {_errors(worst.accuracy)}"


def _errors(accuracy: Accuracy) -> str:
    errors = both_errors(accuracy)
    if errors is None:
        return accuracy.reason or "not known in float64"
    eager, compiled = map(number, errors)
    return f"off by {compiled} from float64, eager by {eager}"


def _difference_title(difference: Difference) -> str:
    if difference.kind == "value":
        by = difference.actual or f"off by up to {number(difference.max_abs)}"
        return f"compiled gives other numbers in {difference.what}: {by}"
    if difference.expected == difference.actual:
        return f"compiled differs from eager inside of {difference.what}, which is {difference.actual} in both"
    return f"compiled differs from eager: {difference_words(difference)}"


def _not_compiled(summary: Verdict) -> str:
    """Return the failed compilations with the first reason, or the calls that raised."""
    counts = failure_counts(summary.failures)
    if "failed" in counts:
        return f"{counts['failed']}: {summary.failures[0].reason.rstrip('.')}"
    return uncompiled_words([calls for calls in summary.uncompiled_calls if calls.how == "raised"])


def _eager(summary: Verdict) -> str:
    """Return the frames over the recompile limit, or left to eager, or else the calls that ran eagerly."""
    counts, calls = failure_counts(summary.failures), summary.uncompiled_calls
    if "over the limit" in counts:
        after = f" after {count(summary.recompiles, 'recompile')}" if summary.recompiles else ""
        ran = f": {share_words(calls[0])} ran eagerly" if calls and calls[0].how == "eager" else ""
        return f"{counts['over the limit']}{after}{ran}"
    if "given up" in counts:
        return f"{counts['given up']}: {summary.failures[0].reason.rstrip('.')}"
    return uncompiled_words(calls[:1])


def _slower(summary: Verdict) -> str:
    """Return how much slower compiled is, by the device's clock or the wall clock, with a likely cause."""
    measured = reliable_speed(summary)
    if measured is None or measured.interval is None:
        return ""
    if measured.slower:
        return f"compiled runs {_times(measured.interval.inverse(), 'slower')}{_cause(summary)}"
    if measured.wall is not None and measured.wall.below:
        return f"{BY_THE_WALL} compiled runs {_times(measured.wall.inverse(), 'slower')}"
    return ""


def _cause(summary: Verdict) -> str:
    if summary.breaks:
        return f": {_breaks(summary)} leave {count(summary.graphs, 'graph')}"
    return f": {count(summary.recompiles, 'recompile')}" if summary.recompiles else ""


def _not_comparable(summary: Verdict) -> str:
    if summary.result is None or summary.result.outcome != "not comparable":
        return ""
    first = summary.result.told[0]
    return f"{first.what} is not comparable with eager's: {first.reason}"


def _unmeasurable(summary: Verdict) -> str:
    """Return why no speed can be claimed."""
    if summary.speed is None or reliable_speed(summary) is not None:
        return ""
    if summary.speed.unknown:
        return f"speed {'' if summary.speed.wide else 'unknown: '}{summary.speed.unknown}"
    return f"speed not reliable: {summary.speed.disturbed}"


def reliable_speed(summary: Verdict) -> Speed | None:
    """Return the speed if its ratio may be claimed as a fact; None if it is unknown or was disturbed."""
    return summary.speed if summary.speed is not None and not summary.speed.doubt else None


def _not_faster(summary: Verdict) -> str:
    measured = reliable_speed(summary)
    if measured is None or measured.interval is None or measured.faster:
        return ""
    return f"no difference in speed seen ({_bounds(measured.interval)}×){_cause(summary)}"


def _faster(summary: Verdict) -> str:
    measured = reliable_speed(summary)
    if measured is None or measured.interval is None:
        return ""
    breaks = f", with {_breaks(summary)}" if summary.breaks else ""
    pays = f", {pays_words(summary.break_even)}" if summary.break_even else ""
    return f"{_times(measured.interval, 'faster')}{breaks}{pays}"


def _interrupted(summary: Verdict) -> str:
    """Return the graph breaks or recompiles of a run whose speed is not known."""
    if summary.breaks and summary.graphs > 1 and not summary.records_lost:
        return f"{_breaks(summary)} split the code into {graph_words(summary)}"
    if summary.breaks:
        return f"{_breaks(summary)}, {graph_words(summary)}"
    return f"{count(summary.recompiles, 'recompile')}, {graph_words(summary)}" if summary.recompiles else ""


def _captured(summary: Verdict) -> str:
    """Return the graphs, breaks and kernels of a run without a worse fact."""
    work, unknown = summary.work, summary.records_lost or summary.inductor_graphs is not None
    if summary.outside is None and not (summary.graphs or work.kernels or unknown):
        return "no graph was compiled"
    ops = f"{count(work.ops, 'op')} fused into " if work.ops is not None else ""
    kernels = f", {ops}{count(work.kernels, 'kernel')}" if work.kernels is not None else ""
    return f"{outside_words(summary) or f'{graph_words(summary)}, {_breaks(summary)}'}{kernels}"


# The facts of a title, the worst first.
WORST: tuple[Callable[[Verdict], str], ...] = (
    _failed,
    _wrong,
    _not_compiled,
    _eager,
    _slower,
    _not_comparable,
    _not_faster,
    _faster,
    _interrupted,
    _unmeasurable,
    _captured,
)


def _breaks(summary: Verdict) -> str:
    return break_count_words(summary.breaks, summary.break_record)


def _times(interval: Interval, than: str) -> str:
    return f"{number(interval.middle)}× {than} than eager ({_bounds(interval)})"


def _bounds(interval: Interval) -> str:
    return f"{number(interval.low)}–{number(interval.high)}"


def wall_words(speed: Speed) -> str:
    """Return the speed by the wall clock; empty if it agrees with the device's clock."""
    if speed.wall is None:
        return ""
    if not speed.wall.apart:
        return f"{BY_THE_WALL} no difference is seen"
    ratio, than = (speed.wall, "faster") if speed.wall.above else (speed.wall.inverse(), "slower")
    return f"{BY_THE_WALL} compiled is {number(ratio.middle)}× {than} ({_bounds(ratio)})"


def pays_words(break_even: tuple[int, int]) -> str:
    """Return the break-even interval in words: "pays off after 510–530 calls"."""
    return f"pays off {calls_after(*break_even)}"


def graph_words(summary: Verdict) -> str:
    """Return the number of graphs in words."""
    if summary.inductor_graphs is None:
        return count(summary.graphs, "graph") if not summary.records_lost else "graphs not recorded"
    return f"{count(summary.inductor_graphs, 'graph')} of Inductor"


def outside_words(summary: Verdict) -> str:
    """Return what captured the graphs without Dynamo, and their number; empty for other logs."""
    outside = summary.outside
    if outside is None:
        return ""
    graphs = count(outside.graphs, "graph") if outside.graphs else NO_PROGRAM
    return f"{', '.join(outside.names)} without Dynamo: {graphs}"


def strides_words(summary: Verdict) -> str:
    """Return the number of results that differ from eager's in strides alone; empty if there are none."""
    result = summary.result
    many = len(result.restrided) if result is not None and result.outcome == "other strides" else 0
    return f"{count(many, 'result')} with eager's values but different strides" if many else ""


def share_words(calls: UncompiledCalls) -> str:
    """Return `1 of 9 calls`, or `the only call`."""
    return f"{number(calls.calls)} of {number(calls.total)} calls" if calls.total > 1 else "the only call"


def uncompiled_words(uncompiled: Sequence[UncompiledCalls]) -> str:
    """Return the calls that raised or ran eagerly, in words without a full stop; empty if there are none."""
    return ", ".join(
        f"{share_words(calls)} {UNCOMPILED[calls.how].format(agree(calls.calls, 'it', 'them'))}" for calls in uncompiled
    )


def summary_breaks(summary: Summary) -> str:
    """Return the number of graph breaks of a summary in words."""
    if summary.breaks is None:
        return BREAKS_NOT_RECORDED
    return break_count_words(summary.breaks, "lower bound" if summary.more_breaks else "complete")


def break_count_words(breaks: int, record: BreakRecord) -> str:
    """Return the number of graph breaks in words: "at least 1 graph break" for a lower bound."""
    if record == "none":
        return BREAKS_NOT_RECORDED
    return f"{'at least ' if record == 'lower bound' else ''}{count(breaks, 'graph break')}"


def recompile_words(recompiles: int, report: Report) -> str:
    """Return the number of recompiles in words, or that the log does not record them."""
    return count(recompiles, "recompile") if records_dynamo(report) else "recompiles not recorded"


def work_words(totals: Work) -> str:
    """Return ops, kernels and launches; empty if no kernel was recorded."""
    if totals.kernels is None:
        return ""
    if totals.ops is None:
        return kernel_words(totals)
    views = f" (and {count(totals.views, 'view')})" if totals.views else ""
    both = " of forward and backward" if {"forward", "backward"} <= set(totals.directions) else ""
    newest = " in the newest compilation of each frame" if totals.earlier else ""
    return f"{count(totals.ops, 'op')}{views}{both} fused into {kernel_words(totals)}{newest}"


def kernel_words(totals: Work) -> str:
    """Return the numbers of launches and of their kernels, in words.

    The launches are left out for a package, whose code does not show all calls.
    """
    kernels, launched = count(totals.kernels, "kernel"), count(totals.calls, "launch", "launches")
    return kernels if totals.calls < (totals.kernels or 0) else f"{launched} of {kernels}"


def saved_words(traffic: Traffic | None) -> str:
    """Return the traffic saved by fusion in words; empty if unchanged or unknown."""
    change = change_words(traffic)
    return f"{change} memory traffic{subgraph_words(traffic)}" if change else ""


def change_words(traffic: Traffic | None) -> str:
    """Return the change: 12.3 % less, 4.00 % more, or empty if it rounds to nothing."""
    if traffic is None or not traffic.changed:
        return ""
    return f"{percent(abs(traffic.saved))} {'less' if traffic.saved > 0 else 'more'}"


def subgraph_words(traffic: Traffic | None) -> str:
    """Return " outside of branches and loops" if the traffic leaves these out; otherwise empty."""
    return " outside of branches and loops" if traffic is not None and traffic.subgraphs else ""


def traffic_words(traffic: Traffic) -> str:
    """Return traffic before and after fusion: 2.41 % less memory traffic (66.3 MB → 64.7 MB)."""
    bound = "at most " if traffic.at_most else ""
    change = change_words(traffic)
    before, after = f"{bound}{bytes_(traffic.before)}", f"{bound}{bytes_(traffic.after)}"
    return f"{change} memory traffic ({before} → {after})" if change else f"{before} of memory traffic, unchanged"


def counted_words(traffic: Traffic) -> str:
    """Return the counting rule of traffic, in words."""
    rule = "Bytes that the scheduler nodes read and write, counted by the same rule before and after fusion"
    bound = "; a read through a data-dependent index counts as its upper bound" if traffic.at_most else ""
    left = f"; {count(traffic.subgraphs, 'subgraph')} (branches, loop bodies) left out" if traffic.subgraphs else ""
    return f"{rule}{bound}{left}."


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
    """Yield lines about a run's target, if any: a summary, then each generated kernel's resources."""
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


def alternative_sentence(report: Report) -> str:
    """Return the verdict in words; empty if the job has no alternative."""
    alternative = report.rival
    if alternative is None:
        return ""
    job = report.setting.job or {}
    run_call, alternative_call = call_words(job.get("compile") or {}), call_words(alternative.options)
    if job.get("rival_code"):
        alternative_call = alternative_call.replace("(model", "(baseline", 1)
    measured = alternative_speed(alternative)
    if measured is None:
        return (
            f"`{alternative_call}` was not timed against `{run_call}`: {alternative.reason or 'there are no samples'}"
        )
    parts = [
        _alternative_claim(measured, run_call, alternative_call),
        *([measured.disturbed] if measured.disturbed and not measured.wide else []),
        *_alternative_wrong(alternative, alternative_call),
    ]
    return "; ".join(parts)


def _alternative_claim(measured: Speed, run_call: str, alternative_call: str) -> str:
    if measured.interval is None:
        question = f"which of `{run_call}` and `{alternative_call}` is faster"
        return f"{question} is {measured.unknown}" if measured.wide else f"{measured.unknown} {question}"
    if not measured.clear:
        low, high = number(measured.interval.low), number(measured.interval.high)
        return f"no difference seen between `{run_call}` and `{alternative_call}` ({low}–{high}×)"
    first, second = (alternative_call, run_call) if measured.faster else (run_call, alternative_call)
    ratio = measured.interval if measured.faster else measured.interval.inverse()
    bounds = f"{number(ratio.low)}–{number(ratio.high)}"
    return f"`{first}` is {number(ratio.middle)}× as fast as `{second}` ({bounds})"


def _alternative_wrong(alternative: Alternative, alternative_call: str) -> list[str]:
    compared = alternative_results(alternative)
    return (
        [f"`{alternative_call}` differs from eager ({results_words(compared)})"]
        if compared and compared.outcome == "differs"
        else []
    )


def call_words(options: Mapping[str, Any]) -> str:
    """Return a logged job's `torch.compile` call as code, with the parameters that are not defaults."""
    texts = {
        name: repr(options[name]) for name, value in DEFAULTS.items() if name in options and options[name] != value
    }
    if options.get("backend_code") and "backend" in texts:
        texts["backend"] = str(options["backend"])
    return f"torch.compile({', '.join(['model', *(f'{name}={text}' for name, text in texts.items())])})"
