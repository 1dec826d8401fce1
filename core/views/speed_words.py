"""Sentences about the speed of compiled calls compared with eager ones."""

from __future__ import annotations

from core.analysis import FEW, NOT_MEASURABLE, Interval, Speed, compile_time_s, pays_words, wall_speed
from core.base import words as fmt
from core.report import Report, Timing

LEAST_STOLEN = 0.001


def ratio_words(interval: Interval | None) -> str:
    """Return the ratio with its bounds, or that the samples are too few or scatter too much."""
    if interval is not None and interval.wide:
        return NOT_MEASURABLE
    return FEW if interval is None else fmt.ratio(interval.middle, (interval.low, interval.high))


def seen_words(speed: Speed) -> str:
    """Return the ratio if a difference is seen; else its bounds alone, or why it is unknown."""
    if speed.wide:
        return NOT_MEASURABLE
    if speed.clear or speed.interval is None:
        return ratio_words(speed.interval)
    return f"none seen ({fmt.number(speed.interval.low)} to {fmt.number(speed.interval.high)} ×)"


def speed_title(speed: Speed, pays: tuple[int, int] | None) -> str:
    """Return the claim that the interval allows, and a note if the machine was busy."""
    disturbed = "" if speed.wide else speed.disturbed
    return "; ".join(filter(None, [_claim(speed, pays), speed.beside, disturbed])) + "."


def _claim(speed: Speed, pays: tuple[int, int] | None) -> str:
    if speed.interval is None:
        took = f"eager took {fmt.duration_s(speed.eager_s)}, compiled {fmt.duration_s(speed.compiled_s)}"
        return f"Speedup {speed.unknown}" if speed.wide else f"{FEW[:1].upper()}{FEW[1:]}: {took}"
    if speed.slower:
        return f"Compiled is {ratio_words(speed.interval.inverse())} slower than eager in the steady state"
    if not speed.faster:
        low, high = fmt.number(speed.interval.low), fmt.number(speed.interval.high)
        return f"No difference seen: eager takes between {low} and {high} times as long as compiled"
    when = f", and pays {pays_words(pays)}" if pays else ""
    return f"{ratio_words(speed.interval)} faster in the steady state{when}"


def sampling_words(speed: Speed, timing: Timing) -> str:
    """Describe the sampling and the reason for its end."""
    threads = f" on {fmt.count(timing.threads, 'thread')}" if timing.threads else ""
    parts = [
        f"{fmt.count(speed.samples, 'pair')} of samples, {fmt.count(speed.calls_per_sample, 'call')} each{threads}, "
        f"after {fmt.count(speed.warm_up, 'pair')} of warm-up"
    ]
    if timing.spent_s is not None:
        ended = "at the limit" if timing.stopped == "limit" else "when the ratio was known well enough"
        parts.append(f"ended {ended}, after {fmt.duration_s(timing.spent_s)}")
    return ", ".join(parts)


def clock_words(timing: Timing) -> str:
    """Describe the clock if it was not the wall clock, and the wall-clock speedup of calls back to back; else empty."""
    wall = wall_speed(timing)
    if wall is None:
        return ""
    launched = wall.unknown or _wall_words(wall)
    return f" Timed by {timing.clock}. Back to back by the wall clock, launches included: {launched}."


def _wall_words(wall: Speed) -> str:
    seconds = f"eager {fmt.duration_s(wall.eager_s)}, compiled {fmt.duration_s(wall.compiled_s)}"
    return f"{seconds}, {ratio_words(wall.interval) if wall.clear else 'no difference seen'}"


def load_words(timing: Timing) -> str:
    """Describe the machine's other load while timing; empty if it was not recorded."""
    load = timing.load
    if load is None or load.others is None:
        return ""
    waited = "" if load.waited is None else f", and the run waited for one {fmt.percent(load.waited)} of its time"
    seen = load.stolen is not None and load.stolen >= LEAST_STOLEN
    stolen = f" (the hypervisor {fmt.percent(load.stolen)}, for other machines)" if seen else ""
    return f" Others used {fmt.percent(load.others)} of the CPUs{stolen}{waited}."


def no_break_even(speed: Speed) -> str:
    """Return the reason why the page has no break-even."""
    if speed.wide:
        return f"Not told: the speedup is {speed.unknown}."
    if speed.faster and not speed.disturbed:
        return "Compiled is faster, but by how much is not known well enough to say after how many calls it pays."
    if speed.faster:
        return f"Not told: {speed.disturbed}, so seconds are not those of a quiet one."
    return "Compiled is not clearly faster, so compiling is not seen to pay for this call."


def cost_words(report: Report, cost_s: float) -> str:
    """Describe the parts of the break-even: the cost and the saving per call."""
    calls = len(report.calls)
    cost = fmt.agree(calls, "the first call", f"all {fmt.count(calls, 'call')}, whatever their inputs,")
    return (
        f"The cost is what {cost} took beyond the steady state, {fmt.duration_s(cost_s)}: "
        f"{fmt.duration_s(compile_time_s(report.phases))} of compile time, with C++ objects from the cache where they "
        "were built before, then running for the first time, and Compileboard's recording, about a tenth. The saving "
        "is that of the last call's inputs."
    )
