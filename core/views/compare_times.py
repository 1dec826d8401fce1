"""Speed of the compiled calls of two runs: the claim, the seconds, and the intervals of their ratio."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

from core.analysis import Interval
from core.analysis.comparison import TimeComparison, seconds_words, speed_words
from core.base import words as fmt
from core.job import CompileJob, CompileOptions

HOW = (
    "The two were measured in processes of their own, one after the other, so the machine may have changed between "
    "them. The ratio of the seconds is held against the ratio of how much faster than its own eager each is, which a "
    "slower machine leaves as it is; the interval spans both, each with 99 % confidence by the Mann-Whitney test over "
    "blocks of samples. Below 2 % no difference is claimed."
)


class MedianBar(NamedTuple):
    """Median seconds of a call, with quartiles; `kind` is "eager" or "compiled", `side` is "left" or "right"."""

    kind: str
    side: str
    median_s: float
    quartiles_s: tuple[float, float]


class RatioBar(NamedTuple):
    """A ratio with the bounds of its interval; `claim` is True if the comparison claims this one."""

    name: str
    middle: float
    low: float
    high: float
    claim: bool

    @property
    def words(self) -> str:
        """The ratio with its bounds."""
        return fmt.ratio(self.middle, (self.low, self.high))


@dataclass(frozen=True)
class CompareTimes:
    """The compiled calls of two measured runs."""

    comparison: TimeComparison

    @property
    def method(self) -> str:
        """The seconds of both, and how they are compared."""
        return f"{seconds_words(self.comparison)}. {HOW}"

    @property
    def unknown(self) -> str:
        """A sentence about why there is no ratio; empty if there is one."""
        if self.comparison.interval is not None and not self.comparison.interval.wide:
            return ""
        return f"{_capital(self.comparison.why_not)}."

    @property
    def claim(self) -> str:
        """The claim that the intervals allow."""
        disturbed = self.comparison.disturbed
        if not self.comparison.comparable:
            return f"Not comparable: {disturbed}, and eager is not the same work in both, which would tell."
        return f"{_capital(speed_words(self.comparison))}{f'; {disturbed}' if disturbed else ''}."

    @property
    def medians(self) -> list[MedianBar]:
        """Seconds of an eager and a compiled call on either side."""
        return [
            bar
            for side, speed in (("right", self.comparison.right), ("left", self.comparison.left))
            for bar in (
                MedianBar("eager", side, speed.eager_s, speed.eager_quartiles_s),
                MedianBar("compiled", side, speed.compiled_s, speed.compiled_quartiles_s),
            )
        ]

    @property
    def ratios(self) -> list[RatioBar]:
        """Speedups of the right run, by each estimate that is known."""
        times = self.comparison
        estimates: list[tuple[str, Interval | None, bool]] = [
            ("eager itself", times.eager, False),
            ("against its own eager", times.against_eager, False),
            ("by seconds", times.seconds, times.against_eager is None),
            ("both: the claim", times.interval if times.against_eager else None, True),
        ]
        return [
            RatioBar(name, interval.middle, interval.low, interval.high, claim)
            for name, interval, claim in estimates
            if interval is not None
        ]

    def together(self, left: CompileJob, right: CompileJob) -> CompileJob | None:
        """Return the job that times both compiled calls alternately in one process.

        None unless the two jobs differ in their compile settings alone, and for a target.
        """
        if left.target or left.compile == right.compile or _workload(left) != _workload(right):
            return None
        return replace(left, measure=True, rival=right.compile)


def _workload(job: CompileJob) -> CompileJob:
    """Return a job without its settings for compiling, measuring and limits."""
    return replace(
        job, compile=CompileOptions(), rival=None, measure=True, memory=False, numerics="", sweep="",
        time_limit_s=1.0, memory_limit_bytes=1, from_file=None,
    )  # fmt: skip


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
