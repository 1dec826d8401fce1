"""Speed of compiled calls compared with eager calls.

`SpeedupView` has the ratio with its samples, the steady state, and the break-even.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from core.analysis.durations import compile_time_s
from core.analysis.interval import FEW, NOT_MEASURABLE, Interval
from core.analysis.kernels.ledger import batch_of
from core.analysis.kernels.ledger import predicted_calls as call_predictions
from core.analysis.kernels.predicted import CallPrediction, Way, measured
from core.analysis.results import compared_words, results
from core.analysis.speed import (
    Speed,
    alternative_speed,
    break_even_calls,
    compile_cost_s,
    paying_speed,
    speed,
    wall_speed,
)
from core.analysis.verdict import target_words
from core.base import words as fmt
from core.job.targets import TARGETS, Target
from core.report import Call, Difference, Report, SideTimes
from core.views.blocks import (
    Bar,
    Bars,
    Beside,
    Column,
    Data,
    Drawn,
    Heading,
    PageBlock,
    PageLink,
    Table,
    Text,
    Title,
    paragraph,
    spans,
)
from core.views.colours import SIDE_COLOURS
from core.views.comparison import RatioBar, ratio_intervals
from core.views.glossary import GLOSSARY
from core.views.markdown import LONGEST_LINE, LONGEST_NAME, one_line, plain, prose
from core.views.numerics import NOT_COMPARED, result_blocks
from core.views.verdict import alternative_sentence, pays_words, wall_words

__all__ = ["CallTotals", "SpeedupView", "predicted_calls", "speedup"]

# Parts that the page draws: a button, and charts.
MEASURE = "measure"
RATIO, STEADY, SAMPLES, BREAK_EVEN = "ratio", "steady", "samples", "break-even"
ALTERNATIVE, FIRST_CALLS = "rival", "first"

OUTCOMES = {True: "same", False: "differs", None: "not comparable"}
# How a compiled call was executed → its text.
EXECUTIONS = {
    "compiled": "compiled",
    "reused": "code reused",
    "eager": "ran eagerly",
    "mixed": "partly eager",
    "raised": "raised",
    "": fmt.NOT_RECORDED,
}
LEAST_STOLEN = 0.001
CALLS, HOUR_S = 1_000_000, 3_600
HOUR_PRICE, HOUR_PRICE_HELP = (
    "Price of a device-hour",
    "In any currency, for the cost of a million calls",
)
CALLS_NOTE = (
    "A call takes the longer of two times: that of its kernels with the gaps between them, and that of the CPU which "
    "launches them. Both are fitted to measurements of {} and its host; the other devices are scaled by their "
    "datasheets. Where two intervals overlap, neither device is faster. Frames and branches count once."
)


def speedup(report: Report) -> Iterator[PageBlock]:
    """Yield the speedup of a run: steady state, break-even, alternative, results, and first executions."""
    view = SpeedupView(report)
    yield Title(spans(view.title), GLOSSARY["steady state"] if view.speed else "")
    yield from paragraph(view.not_measured)
    if view.compiled_for:
        yield from predicted_calls(report)
        yield PageLink("kernels")
    elif report.calls:
        yield Drawn(MEASURE)
        yield from view.measurement
        yield from view.rival
        yield from result_blocks(report)
        yield Heading("First execution of each call")
        yield Data("calls", report.calls)
        note = paragraph(view.comparison_method, "quiet")
        yield Beside((Drawn(FIRST_CALLS, of=(report.calls,)),), (_call_table(report), *note), shares=(2, 3))


def predicted_calls(report: Report, hour_price: float = 0.0) -> Iterator[PageBlock]:
    """Yield a table of predicted calls on each target; with a price, it has the cost of a million calls."""
    target = TARGETS.get(report.setting.target)
    rows = [*_device_calls(report)] if target else []
    mine = next((row for row in rows if row.device is target), None)
    if target is None or mine is None:
        return
    call = mine.calls["compiled"]
    yield Text(spans(f"Predicted: a compiled call takes {_about(call)} on {target.title}, limited by {call.limit}."))
    cost: Column[DeviceCalls] = Column("a million calls", lambda row: row.cost_words(hour_price), width=150)
    yield Table("predicted calls", (*CALL_COLUMNS, *((cost,) if hour_price else ())), rows)
    yield from paragraph(CALLS_NOTE.format(TARGETS[measured().target].title), "quiet")


def _device_calls(report: Report) -> Iterator[DeviceCalls]:
    for device in TARGETS.values():
        calls = {call.way: call for call in call_predictions(report, device)}
        if calls:
            yield DeviceCalls(device, calls, *batch_of(report))


@dataclass(frozen=True, slots=True)
class DeviceCalls:
    """Predicted calls of a model on one device; a call has so many samples or tokens, 0 if unknown."""

    device: Target
    calls: Mapping[Way, CallPrediction]
    batch: int
    unit: str

    def words(self, way: Way) -> str:
        """Return the time of a call, with its interval; empty if it is not predicted."""
        return _about(self.calls[way]) if way in self.calls else ""

    @property
    def rate(self) -> str:
        """Samples or tokens in a second of compiled calls."""
        call = self.calls["compiled"]
        low, high = (self.batch / seconds for seconds in (call.high_s, call.low_s))
        return f"{fmt.amount(low)}–{fmt.amount(high)} {self.unit}s/s" if self.batch else ""

    def cost_words(self, hour_price: float) -> str:
        """Return the price of a million compiled calls, by the price of an hour of the device."""
        call = self.calls["compiled"]
        each = (seconds * CALLS / HOUR_S * hour_price for seconds in (call.time_s, call.low_s, call.high_s))
        middle, low, high = map(fmt.number, each)
        return f"{middle} ({low}–{high})"


def call_times(report: Report) -> dict[str, tuple[float, str]]:
    """Return side → seconds of a call with their text: measured, or predicted for a target."""
    steady, target = speed(report.timing), TARGETS.get(report.setting.target)
    if steady is not None and not steady.doubt:
        seconds = {"eager": steady.eager_s, "compiled": steady.compiled_s}
        return {side: (each, fmt.duration_s(each)) for side, each in seconds.items()}
    calls = call_predictions(report, target) if target else ()
    return {call.way: (call.time_s, f"{_about(call)}, predicted") for call in calls}


def _about(call: CallPrediction) -> str:
    return fmt.predicted_s(call.time_s, (call.low_s, call.high_s))


@dataclass(frozen=True, slots=True)
class CallTotals:
    """Total time by number of calls, from the cost of compiling and the seconds per call of both sides.

    Compiling pays off after `soonest` to `latest` calls.
    """

    eager_s: float
    compiled_s: float
    cost_s: float
    soonest: int
    latest: int

    @property
    def band(self) -> str:
        """The calls after which compiling pays off."""
        return fmt.calls_after(self.soonest, self.latest)

    @property
    def calls(self) -> list[int]:
        """Numbers of calls at which totals are drawn, evenly spaced on a logarithmic axis.

        The last is twice `latest`, and at least 10.
        """
        last = max(10, 2 * self.latest)
        return sorted({round(10 ** (index / 20)) for index in range(200) if 10 ** (index / 20) <= last} | {last})

    def eager_total_s(self, calls: int) -> float:
        """Return the total seconds of a number of eager calls."""
        return calls * self.eager_s

    def compiled_total_s(self, calls: int) -> float:
        """Return the total seconds of a number of compiled calls, including the cost of compiling."""
        return self.cost_s + calls * self.compiled_s


@dataclass(frozen=True)
class SpeedupView:
    """The measurement of a run's calls."""

    report: Report

    @cached_property
    def speed(self) -> Speed | None:
        """Speed in the steady state; None if it was not measured."""
        return speed(self.report.timing)

    @cached_property
    def compiled_for(self) -> str:
        """Text with the target of code that was compiled but not run; empty for a run with calls."""
        return target_words(self.report)

    @property
    def title(self) -> str:
        """The speedup or slowdown that the measurement supports, or the reason why there is none."""
        if self.compiled_for:
            return "Nothing was run, so nothing was measured."
        if not self.report.calls:
            return "No call was recorded."
        if self.report.script is not None:
            return f"{fmt.count(len(self.report.calls), 'call')} of the script, not compared with eager."
        if self.speed is None:
            return "The steady state was not measured."
        return speed_title(self.speed, self._pays)

    @property
    def not_measured(self) -> str:
        """Reason why the run was not measured, as sentences; empty if it was measured."""
        if self.report.script is not None:
            return f"{NOT_COMPARED} The time of a call is what the script saw, compilation included."
        if self.compiled_for:
            return f"The code was {self.compiled_for}. *Kernels* has predicted times."
        if not self.report.calls and self.report.setting.run:
            return "The run ended before a call was compared."
        if not self.report.calls:
            return (
                "An imported log has no eager calls. A Compileboard run calls the model eagerly and compiled, and "
                "measures both."
            )
        return "" if self.speed else "Measuring was off, or the run ended before it."

    @property
    def method(self) -> str:
        """Device, sampling, clock and load of the measurement; empty without one."""
        timing = self.report.timing
        if self.speed is None or timing is None:
            return ""
        device = plain(self.report.setting.device or "this machine")
        return (
            f"Eager and compiled interleaved on {device}, in random order within each pair: "
            f"{sampling_words(self.speed, timing)}. The ratio is the median over pairs, with its 99 % confidence "
            f"interval. Below 2 % no difference is claimed.{clock_words(timing)}{load_words(timing)}"
        )

    @property
    def medians(self) -> tuple[tuple[str, float, tuple[float, float]], ...]:
        """Median seconds per call of each side, with the quartiles; empty without a measurement."""
        if self.speed is None:
            return ()
        return (
            ("eager", self.speed.eager_s, self.speed.eager_quartiles_s),
            ("compiled", self.speed.compiled_s, self.speed.compiled_quartiles_s),
        )

    @property
    def ratios(self) -> tuple[RatioBar, ...]:
        """Speedup of a compiled call by each clock, with its pairs; no claim if the times are unreliable."""
        timing = self.report.timing
        clocks = (("eager / compiled", self.speed), ("by wall clock", wall_speed(timing)))
        pairs = (timing.sides, timing.walls) if timing is not None else ({}, {})
        return tuple(
            RatioBar(name, each.middle, each.low, each.high, not clock.doubt, _pair_ratios(sides, clock.warm_up))
            for (name, clock), sides in zip(clocks, pairs, strict=True)
            if clock is not None and (each := clock.interval) is not None
        )

    @property
    def measurement(self) -> Iterator[PageBlock]:
        """Speedup on an axis, then steady state beside break-even; nothing without a measurement."""
        timing = self.report.timing
        if self.speed is None or timing is None:
            return
        longest_s = max(high_s for _, _, (_, high_s) in self.medians)
        bars = (
            Bar(side, fmt.duration_s(s), s / longest_s, low_s / longest_s, high_s / longest_s, SIDE_COLOURS[side])
            for side, s, (low_s, high_s) in self.medians
        )
        unsure = self.speed.unknown or (self.speed.disturbed and f"not reliable: {self.speed.disturbed}")
        doubt = f", {unsure}" if unsure else ""
        medians = Bars(f"Median time of a call in the steady state, with quartiles{doubt}", tuple(bars))
        samples, totals = (timing.sides["eager"], timing.sides["compiled"], timing.warm_up), self.break_even
        pays = (
            Drawn(BREAK_EVEN, tuple(paragraph(f"Compiling pays off {totals.band}.")), (totals,))
            if totals is not None
            else Text(spans(no_break_even(self._paying or self.speed)))
        )
        chart = ratio_intervals(f"Eager time over compiled time{doubt}", self.ratios)
        method = (*paragraph(self.method, "quiet"),)
        # The dashboard has the method behind the heading's question mark.
        yield Heading("Speedup in the steady state", self.method)
        if self.ratios:
            yield Drawn(RATIO, (*chart, *method), (self.ratios, doubt))
        else:
            yield from method
        yield Beside(
            (
                Heading("Seconds of a call"),
                Drawn(STEADY, (medians,), (self.medians, doubt)),
                Drawn(SAMPLES, of=samples),
            ),
            (Heading("When does compiling pay?"), pays, *paragraph(cost_words(self.report), "quiet")),
        )

    @property
    def break_even(self) -> CallTotals | None:
        """Break-even of compiling; None if compiling doesn't measurably pay off."""
        paying = self._paying
        if paying is None or self._pays is None:
            return None
        return CallTotals(paying.eager_s, paying.compiled_s, compile_cost_s(self.report), *self._pays)

    @property
    def rival(self) -> Iterator[PageBlock]:
        """The comparison with the alternative configuration; nothing if the job has none."""
        rival = self.report.rival
        if rival is None:
            return
        yield Heading("Against another call of torch.compile")
        words = alternative_sentence(self.report)
        yield from paragraph(words and f"{prose(words[:1].upper() + words[1:])}.")
        timed = alternative_speed(rival)
        if timed is None or rival.times is None:
            return
        yield from paragraph(
            "Both were compiled in one process and timed interleaved, so drift between processes is not in the ratio: "
            f"medians {fmt.duration_s(timed.eager_s)} and {fmt.duration_s(timed.compiled_s)}, of "
            f"{fmt.count(timed.samples, 'pair')} of samples, {fmt.count(timed.calls_per_sample, 'call')} each.",
            "quiet",
        )
        samples = (rival.times.sides["compiled"], rival.times.sides["alternative"], rival.times.warm_up)
        yield Beside((Drawn(ALTERNATIVE, of=samples),), ())

    @property
    def comparison_method(self) -> str:
        """Number of compared values, and the meaning of an error; empty for a script."""
        if self.report.script is not None:
            return ""
        compared = results(self.report)
        counts = compared_words(compared.compared) if compared else ""
        return (
            f"Compared with eager in the last call: {counts or 'not recorded'}. *error* is the norm of the difference "
            "over the norm of eager's tensor. Inputs and state have a row only if a call changed them."
        )

    @cached_property
    def _pays(self) -> tuple[int, int] | None:
        return break_even_calls(self.report)

    @cached_property
    def _paying(self) -> Speed | None:
        return paying_speed(self.report.timing) or self.speed


def _pair_ratios(sides: Mapping[str, tuple[float, ...]], warm_up: int) -> tuple[float, ...]:
    """Return eager over compiled of each pair of samples after the warm-up."""
    pairs = zip(sides.get("eager", ())[warm_up:], sides.get("compiled", ())[warm_up:], strict=True)
    return tuple(eager / compiled for eager, compiled in pairs)


def _call_table(report: Report) -> Table[CallRow]:
    """Return a row for each compared value of each call; the calls of a script have no comparison."""
    rows = [
        (call, each)
        for call in report.calls
        for each in (call.differences or (Difference("", None, kind="", reason=call.raised or call.ended),))
    ]
    columns = EXECUTION_COLUMNS if report.script is not None else EXECUTION_COLUMNS + COMPARISON_COLUMNS
    return Table("calls", columns, rows)


def _reason(difference: Difference) -> str:
    refused = "torch's own check refuses it" if difference.refused_by_torch else ""
    return "; ".join(filter(None, [difference.reason, refused]))


CallRow = tuple[Call, Difference]
EXECUTION_COLUMNS: tuple[Column[CallRow], ...] = (
    Column("call", lambda row: row[0].index, fmt.number),
    Column("inputs", lambda row: one_line(row[0].inputs, LONGEST_LINE)),
    Column("eager", lambda row: row[0].eager_s, fmt.duration_s, optional=True),
    Column("compiled", lambda row: row[0].compiled_s, fmt.duration_s, optional=True),
    Column("execution", lambda row: EXECUTIONS[row[0].how]),
)
COMPARISON_COLUMNS: tuple[Column[CallRow], ...] = (
    Column("what", lambda row: one_line(row[1].what, LONGEST_LINE)),
    Column("compared", lambda row: row[1].kind),
    Column("dtype", lambda row: row[1].dtype),
    Column("in eager", lambda row: one_line(row[1].expected, LONGEST_NAME)),
    Column("in compiled", lambda row: one_line(row[1].actual, LONGEST_LINE)),
    Column("error", lambda row: row[1].error, fmt.number),
    Column("tolerance", lambda row: row[1].tolerance if row[1].dtype else None, fmt.number),
    Column("max abs", lambda row: row[1].max_abs, fmt.number),
    Column("result", lambda row: OUTCOMES[row[1].same]),
    Column("why", lambda row: one_line(_reason(row[1]), LONGEST_LINE)),
)


def ratio_words(interval: Interval | None) -> str:
    """Return the ratio with its bounds, or a note that the samples are too few or scatter too much."""
    if interval is not None and interval.wide:
        return NOT_MEASURABLE
    return FEW if interval is None else fmt.ratio(interval.middle, (interval.low, interval.high))


def seen_words(speed: Speed) -> str:
    """Return the ratio if the difference is significant; otherwise only its bounds, or why it is unknown."""
    if speed.wide:
        return NOT_MEASURABLE
    if speed.clear or speed.interval is None:
        return ratio_words(speed.interval)
    return f"none seen ({fmt.number(speed.interval.low)}–{fmt.number(speed.interval.high)}×)"


def speed_title(speed: Speed, pays: tuple[int, int] | None) -> str:
    """Return the claim that the interval allows, and a note if the machine was busy."""
    disturbed = "" if speed.wide else speed.disturbed
    return "; ".join(filter(None, [_claim(speed, pays), wall_words(speed), disturbed])) + "."


def _claim(speed: Speed, pays: tuple[int, int] | None) -> str:
    if speed.interval is None:
        took = f"eager took {fmt.duration_s(speed.eager_s)}, compiled {fmt.duration_s(speed.compiled_s)}"
        return f"Speedup {speed.unknown}" if speed.wide else f"{FEW[:1].upper()}{FEW[1:]}: {took}"
    if speed.slower:
        return f"Compiled is {ratio_words(speed.interval.inverse())} slower than eager in the steady state"
    if not speed.faster:
        low, high = fmt.number(speed.interval.low), fmt.number(speed.interval.high)
        return f"No difference seen: eager takes {low}–{high}× as long as compiled"
    when = f", {pays_words(pays)}" if pays else ""
    return f"{ratio_words(speed.interval)} faster in the steady state{when}"


def sampling_words(speed: Speed, timing: SideTimes) -> str:
    """Describe the sampling and the reason for its end."""
    threads = f" on {fmt.count(timing.threads, 'thread')}" if timing.threads else ""
    parts = [
        f"{fmt.count(speed.samples, 'pair')} of samples, {fmt.count(speed.calls_per_sample, 'call')} each{threads}, "
        f"after {fmt.count(speed.warm_up, 'pair')} of warm-up"
    ]
    if timing.spent_s is not None:
        ended = "at the time limit" if timing.stopped == "limit" else "when the interval was narrow enough"
        parts.append(f"ended {ended}, after {fmt.duration_s(timing.spent_s)}")
    return ", ".join(parts)


def clock_words(timing: SideTimes) -> str:
    """Describe the device's clock and the wall-clock speedup of back-to-back calls.

    Empty if the wall clock is the only clock.
    """
    wall = wall_speed(timing)
    if wall is None:
        return ""
    launched = wall.unknown or _wall_words(wall)
    return f" Timed by {timing.clock}. Wall clock of back-to-back calls, launches included: {launched}."


def _wall_words(wall: Speed) -> str:
    seconds = f"eager {fmt.duration_s(wall.eager_s)}, compiled {fmt.duration_s(wall.compiled_s)}"
    return f"{seconds}, {ratio_words(wall.interval) if wall.clear else 'no difference seen'}"


def load_words(timing: SideTimes) -> str:
    """Describe the machine's other load while timing; empty if it was not recorded."""
    load = timing.load
    if load is None or load.others is None:
        return ""
    waited = "" if load.waited is None else f"; the run waited {fmt.percent(load.waited)} of its time for a CPU"
    seen = load.stolen is not None and load.stolen >= LEAST_STOLEN
    stolen = f" ({fmt.percent(load.stolen)} stolen by the hypervisor)" if seen else ""
    return f" Other processes used {fmt.percent(load.others)} of the CPUs{stolen}{waited}."


def no_break_even(speed: Speed) -> str:
    """Return the reason why the page has no break-even."""
    if speed.wide:
        return f"Break-even unknown: the speedup is {speed.unknown}."
    if speed.faster and not speed.disturbed:
        return "Compiled is faster, but the interval is too wide to say after how many calls it pays off."
    if speed.faster:
        return f"Break-even unknown: {speed.disturbed}, so the seconds are not reliable."
    return "Compiled is not clearly faster, so compiling does not pay off for this call."


def cost_words(report: Report) -> str:
    """Describe the parts of the break-even: the cost and the saving per call."""
    calls = len(report.calls)
    cost = fmt.agree(calls, "the first call", f"all {fmt.count(calls, 'call')} (of any inputs)")
    return (
        f"Cost: {fmt.duration_s(compile_cost_s(report))} beyond the steady state in {cost}. It is "
        f"{fmt.duration_s(compile_time_s(report))} of compile time, the first execution, and Compileboard's "
        "recording (about a tenth). C++ objects that were built before come from the cache. Saving per call: that of "
        "the last call's inputs."
    )


CALL_COLUMNS: tuple[Column[DeviceCalls], ...] = (
    Column("device", lambda row: row.device.title),
    Column("compiled", lambda row: row.words("compiled"), width=170),
    Column("limited by", lambda row: row.calls["compiled"].limit),
    Column("CUDA graphs", lambda row: row.words("CUDA graphs"), width=170),
    Column("eager", lambda row: row.words("eager"), width=170, optional=True),
    Column("a second", lambda row: row.rate, width=170, optional=True),
)
