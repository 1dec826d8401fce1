"""Kernel ledger of a compilation.

`KernelsView` has sentences and filters, `LEDGER` the columns. `roofline_data` returns points and ceilings.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from core.analysis.comparison.kernels import kernel_ledger
from core.analysis.dynamo.compilations import scope_words
from core.analysis.kernels.kernel import kernel_names, kernels_disturbed, times_unreliable
from core.analysis.kernels.ledger import TF32, LedgerRow, ceilings, product_dtype, ridge
from core.analysis.kernels.predicted import Doubt, measured
from core.analysis.speed import CallPart, LedgerSum, summary
from core.base import words as fmt
from core.code.cpp import CppFacts
from core.job.targets import TARGETS
from core.report import Bandwidth, Compilation, Frame, Kernel, KernelTuning, Payload, Report, Roofline, TargetChoice
from core.views.blocks import Bar, Bars, Column, Table
from core.views.markdown import LONGEST_LINE, quoted, sentence, short
from core.views.verdict import untimed_words

TIME, PREDICTED, TRAFFIC, ROOFLINE = "time", "predicted time", "traffic", "roofline"
# A memory level is omitted if its bandwidth is this close to the next level's, which is within measurement noise.
NOISE = 1.25
# Margin in decades around the kernels and ceilings: left, right, below, above.
MARGINS = (0.5, 0.5, 0.4, 0.6)
# A line by its two end points, each (FLOP/B, FLOP/s).
Line = tuple[tuple[float, float], tuple[float, float]]
# Why the interval of a predicted time is wide.
DOUBTS: dict[Doubt, str] = {
    "size": "its size is outside of what was measured",
    "torch": "another torch was measured",
    "device": "scaled by the datasheets",
    "kind": "no model of its kind, so by the roofline",
}
MOST_OPS = 12  #: ops of a kernel in the ledger


@dataclass(frozen=True)
class KernelsView:
    """The kernel calls of one compilation; `rows` has one row per call, worst first."""

    report: Report
    compilation: Compilation
    rows: tuple[LedgerRow, ...]

    @classmethod
    def load(cls, report: Report, compilation: Compilation, read: Callable[[Payload], str]) -> KernelsView:
        """Return the view of a compilation; `read` returns a payload of the log, for facts of C++ kernels."""
        return cls(report, compilation, kernel_ledger(report, compilation, read))

    @cached_property
    def limits(self) -> Roofline | None:
        """The device's ceilings; None if they were not measured and there is no datasheet."""
        return ceilings(self.report)

    @cached_property
    def unreliable(self) -> str:
        """The reason why the kernels' times are unreliable; empty if they are reliable."""
        return times_unreliable(self.report)

    @cached_property
    def measured(self) -> bool:
        """True if a kernel call was timed."""
        return any(row.measured for row in self.rows)

    @property
    def scope(self) -> str:
        """The compilation's id as a prefix of the title; empty if the run has only one compilation."""
        return scope_words(self.report, self.compilation)

    @property
    def title(self) -> str:
        """Kernel time and the excess over the roofline; without reliable times, the number of launches."""
        timed = [row for row in self.rows if row.measured]
        if not timed:
            return self._counts
        calls = fmt.count(len(timed), "kernel launch", "kernel launches")
        if self.unreliable:
            return f"{calls}; {self.unreliable[:LONGEST_LINE]}."
        whole_s = sum(row.total_s or 0.0 for row in timed)
        wasted = [row for row in timed if row.wasted_s is not None]
        start = f"{calls} {fmt.agree(len(timed), 'takes', 'take')} {fmt.duration_s(whole_s)}"
        if not wasted:
            return f"{start}."
        wasted_s = fmt.duration_s(sum(row.wasted_s or 0.0 for row in wasted))
        if len(wasted) < len(timed):
            of_them = f"{fmt.number(len(wasted))} of them have a roofline"
            return f"{start}; {of_them}, and take {wasted_s} more than it allows."
        return f"{start}, {wasted_s} more than the roofline allows."

    @property
    def _counts(self) -> str:
        generated = len({row.kernel for row in self.rows if row.language != "extern"})
        extern = len({row.name for row in self.rows if row.language == "extern"})
        kernels = f"{fmt.count(generated, 'generated kernel')} and {fmt.count(extern, 'extern kernel')}"
        return f"{kernels}, {fmt.count(len(self.rows), 'launch', 'launches')}."

    @property
    def caption(self) -> str:
        """Kernels' share of the compiled call and the largest excess time, or why there are no times."""
        if not self.measured:
            return self._untimed
        call = "" if self.unreliable else call_words(summary(self.report))
        parts = (call, self._doubts, worst_words(self.rows), self._without_peak)
        return " ".join(filter(None, parts)) or "The kernels were timed."

    def caption_of(self, live: bool) -> str:
        """Return the caption of a run that may still be live: kernel times are recorded at its end."""
        waits = live and not self.measured
        return "Kernel times are recorded at the end of the run." if waits else self.caption

    @property
    def ceilings_help(self) -> str:
        """Source of the ceilings; empty if there are neither ceilings nor kernel times."""
        return ceiling_words(self.limits) if self.limits or self.measured else ""

    @property
    def _doubts(self) -> str:
        if self.unreliable:
            return "The times below are not reliable; no finding uses them."
        reason = kernels_disturbed(self.report)
        return sentence(f"{reason}, so times are not compared with the roofline") if reason else ""

    @property
    def _without_peak(self) -> str:
        """Reason why float32 products have no roofline; empty if they have a roofline."""
        if self.limits is None or TF32 in self.limits.flops_s:
            return ""
        products = [row for row in self.rows if row.flops and not row.flops_estimated and row.allowed_s is None]
        if not any(product_dtype(row.ops, row.dtype, self.report.counters) == TF32 for row in products):
            return ""
        return "Products computed as TF32 have no roofline: the run did not measure that peak."

    @property
    def _untimed(self) -> str:
        if self.limits is not None and self.limits.source == "datasheet":
            device = short(self.limits.device)
            return f"Generated for {device}, not run. {prediction_words(self.report.setting.target)}"
        if self.report.untimed:
            return sentence(untimed_words(self.report))
        if self.report.setting.job is None:
            return "The log does not contain kernel times; Compileboard runs with measuring record them."
        return 'Kernels were not timed: "measure" was off, or the run ended first.'

    @property
    def call_parts(self) -> tuple[CallPart, ...]:
        """Parts of the compiled call, kernels first; empty if the call or its kernels have no reliable times."""
        total = None if self.unreliable or not self.measured else summary(self.report)
        return total.parts if total is not None and total.call_s is not None else ()

    @cached_property
    def names(self) -> dict[str, str]:
        """Display name of each kernel, by kernel id."""
        return kernel_names(self.compilation)

    def kernel(self, name: str | None) -> Kernel:
        """Return a kernel by its id, by default the worst."""
        by_id = {kernel.id: kernel for kernel in self.compilation.kernels}
        return by_id.get(name or "", by_id[self.rows[0].kernel])

    @property
    def kinds(self) -> list[str]:
        """Torch's kinds of these kernels."""
        return list(dict.fromkeys(row.kind for row in self.rows))

    def matches(self, text: str, kinds: Collection[str]) -> tuple[LedgerRow, ...]:
        """Return the rows of these kinds (of all kinds if empty) with the text in a name, op or module."""
        rows = (row for row in self.rows if not kinds or row.kind in kinds)
        return tuple(row for row in rows if text.lower() in _search_text(row))

    def ledger(self, rows: Sequence[LedgerRow]) -> Table[LedgerRow]:
        """Return the table of kernel calls, without the optional columns that are empty in all rows."""
        return Table("kernel launches", LEDGER, rows)

    @property
    def pictures(self) -> list[str]:
        """Names of the charts that the rows have data for; unreliable times are not drawn."""
        if self.unreliable:
            return [TRAFFIC]
        times = [TIME if self.measured else PREDICTED] if any(row.time_s for row in self.rows) else []
        drawable = self.limits and any(row.intensity and row.flops_s for row in self.rows)
        return [*times, TRAFFIC, *([ROOFLINE] if drawable else [])]

    def areas(self, picture: str, rows: Sequence[LedgerRow]) -> list[tuple[LedgerRow, float, str]]:
        """Return the rows with their size as a number and in words, largest first.

        The size is the traffic or, for other charts, the time. Rows without a size are left out; if no row has
        traffic, all areas are equal.
        """
        if picture == TRAFFIC and not any(row.bytes_moved for row in rows):
            sizes = [(row, 1.0, "traffic not recorded") for row in rows]
        elif picture == TRAFFIC:
            sizes = [(row, float(row.bytes_moved or 0), traffic_words(row)) for row in rows]
        else:
            sizes = [(row, row.total_s or 0.0, fmt.duration_s(row.total_s)) for row in rows]
        return sorted((area for area in sizes if area[1] > 0), key=lambda area: -area[1])

    def roofline(self, rows: Sequence[LedgerRow]) -> RooflineData | None:
        """Return these rows under the ceilings; None without ceilings."""
        return roofline_data(rows, self.limits) if self.limits is not None else None

    def point_words(self, row: LedgerRow) -> list[str]:
        """Return the lines of a point's hover text in the roofline."""
        return point_words(row)

    @property
    def target_choices_title(self) -> str:
        """Number and subjects of the choices made without timing on the target; empty if there were none."""
        choices = self.compilation.target_choices
        subjects = ", ".join(dict.fromkeys(short(choice.about.split(" [")[0]) for choice in choices))
        return f"{fmt.count(len(choices), 'choice')} made without timing on the device: {subjects}" if choices else ""

    @property
    def call_bars(self) -> Bars:
        """Parts of the compiled call."""
        whole_s = sum(part.seconds for part in self.call_parts) or 1.0
        bars = (
            Bar(part.name, f"{fmt.duration_s(part.seconds)}, {fmt.percent(share)}: {part.words}", share)
            for part, share in ((part, part.seconds / whole_s) for part in self.call_parts)
        )
        return Bars("Parts of a compiled call", tuple(bars))


def _search_text(row: LedgerRow) -> str:
    modules = (part for module in row.modules for part in module)
    return " ".join([row.label, row.name, row.kind, row.direction, *row.ops, *modules]).lower()


def traffic_words(row: LedgerRow) -> str:
    """Return the bytes of a kernel call, with "at most" if they are an upper bound."""
    return f"{'at most ' if row.at_most else ''}{fmt.bytes_(row.bytes_moved)}"


def worst_words(rows: Sequence[LedgerRow]) -> str:
    """Return the time and the roofline time of the first, worst kernel; empty if it is at the roofline."""
    row = rows[0] if rows and rows[0].wasted_s else None
    if row is None:
        return ""
    return (
        f"Largest excess: {quoted(row.label)} takes {fmt.duration_s(row.total_s)}; the roofline allows "
        f"{fmt.duration_s((row.allowed_s or 0.0) * row.calls)}."
    )


def prediction_words(target: str) -> str:
    """Return where predicted times of a target come from, and what their intervals mean."""
    fit = measured()
    source = f"measurements of {TARGETS[fit.target].title} with torch {fit.torch.partition('+')[0]}"
    if target == fit.target:
        return f"Times are predicted by a model fitted to {source}; the intervals are for nine of ten kernels."
    return (
        f"Times are predicted by a model fitted to {source}, scaled by the datasheets. The intervals are wide, without "
        "a claim of coverage, and where they overlap, no kernel is faster."
    )


def call_words(total: LedgerSum | None) -> str:
    """Return the kernels' share of the compiled call; empty if either was not measured."""
    if total is None or total.call_s is None or total.ratio is None:
        return ""
    share = fmt.share(total.kernels_s if total.rest else total.call_s, total.call_s)
    return f"Kernels take {share} of a compiled call ({fmt.duration_s(total.call_s)})."


def ceiling_words(limits: Roofline | None) -> str:
    """Return the source of the ceilings and their values."""
    if limits is None:
        return "No roofline: the peak bandwidth and FLOP/s of the device were not measured."
    peaks = ", ".join(f"{quoted(dtype)} {fmt.per_second(peak, 'FLOP')}" for dtype, peak in limits.flops_s.items())
    memory = fmt.per_second(limits.bandwidth_bytes_s)
    if limits.source == "datasheet":
        return f"Ceilings of {short(limits.device)} by its datasheet: {memory}, {peaks}."
    threads = f" with {fmt.count(limits.threads, 'thread')}" if limits.threads else ""
    return f"Ceilings measured on {short(limits.device)}{threads}: memory {memory}, {peaks} ({short(limits.how, 200)})."


@dataclass(frozen=True)
class RooflineData:
    """Kernel calls and ceilings by arithmetic intensity and FLOP/s, both logarithmic.

    `rows` are the kernel calls with known FLOPs and time, longest total time first. `memory` maps labels to the
    lines of the memory levels, farthest level first. `compute` maps labels to the lines of the dtypes. `bounds`
    are the decades of the axes: left, right, bottom, top.
    """

    rows: tuple[LedgerRow, ...]
    memory: dict[str, Line]
    compute: dict[str, Line]
    bounds: tuple[float, float, float, float]


def roofline_data(rows: Sequence[LedgerRow], ceilings: Roofline) -> RooflineData:
    """Return the chart of these kernel calls under the ceilings of a device."""
    shown = tuple(sorted((row for row in rows if row.intensity and row.flops_s), key=lambda row: -(row.share or 0.0)))
    dtypes = sorted({row.dtype for row in shown if row.dtype in ceilings.flops_s}) or list(ceilings.flops_s)[:1]
    peak, levels = max(ceilings.flops_s[dtype] for dtype in dtypes), distinct_levels(ceilings.bandwidths)
    left, right, bottom, top = _bounds(shown, ceilings, peak)
    memory = {
        f"{level.level} {fmt.per_second(level.bytes_s)}": (
            (10**left, 10**left * level.bytes_s),
            (ridge(level, peak), peak),
        )
        for level in reversed(levels)
    }
    compute = {
        f"{dtype} {fmt.per_second(flops_s, 'FLOP')}": ((ridge(levels[0], flops_s), flops_s), (10**right, flops_s))
        for dtype, flops_s in ((dtype, ceilings.flops_s[dtype]) for dtype in dtypes)
    }
    return RooflineData(shown, memory, compute, (left, right, bottom, top))


def distinct_levels(levels: Sequence[Bandwidth]) -> list[Bandwidth]:
    """Return the memory levels to draw, nearest first, without those no faster than the next."""
    faster = [near for near, far in pairwise(levels) if near.bytes_s > NOISE * far.bytes_s]
    return [*faster, levels[-1]]


def _bounds(rows: Sequence[LedgerRow], ceilings: Roofline, peak: float) -> tuple[float, float, float, float]:
    """Return the decades that contain every kernel and the ridge point of every ceiling."""
    intensities = [row.intensity for row in rows if row.intensity]
    intensities += [ridge(level, peak) for level in ceilings.bandwidths]
    rates = [row.flops_s for row in rows if row.flops_s] + [peak]
    left, right, below, above = MARGINS
    return (
        math.log10(min(intensities)) - left,
        math.log10(max(intensities)) + right,
        math.log10(min(rates)) - below,
        math.log10(max(rates)) + above,
    )


def point_words(row: LedgerRow) -> list[str]:
    """Return the lines of a kernel's hover text: its time, rates, and fraction of the roofline."""
    time = _predicted(row) or fmt.duration_s(row.time_s)
    lines = [f"{time} {row.timed}", fmt.per_second(row.flops_s, "FLOP")]
    lines += [fmt.per_second(row.bandwidth_bytes_s)]
    lines += [f"{fmt.percent(row.fraction)} of the roofline"] if row.fraction is not None else []
    lines += ["faster than the roofline: cached data, or less work than counted"] if row.above_ceilings else []
    lines += ["FLOPs counted as one per op and iteration"] if row.flops_estimated else []
    lines += ["bytes are an upper bound"] if row.at_most else []
    return lines


def tuning_words(tuning: KernelTuning) -> str:
    """Return how torch chooses a Triton kernel's config: "3 configs to time", "cached choice"."""
    choice = {"hit": "cached choice", "only 1 config": "only one config"}.get(tuning.cache, tuning.cache)
    if tuning.cache == "miss":
        choice = f"{fmt.count(tuning.configs or 0, 'config')} to time"
    return f"{choice}, coordinate descent" if tuning.descent else choice


def _code_frames(frames: Sequence[Frame]) -> list[Frame]:
    """Return the distinct frames that have a line number."""
    return list({(frame.file, frame.line): frame for frame in frames if frame.line}.values())


def _vectors(facts: CppFacts) -> str:
    if not facts.vectorised:
        return facts.words
    width = f", {facts.bits} bits" if facts.bits else ""
    tails = f", {fmt.count(facts.scalar_tails, 'scalar tail')}" if facts.scalar_tails else ""
    return f"{facts.vector_loops} of {fmt.count(facts.loops, 'loop')} with {facts.words}{width}{tails}"


def _threads(facts: CppFacts) -> str:
    if not facts.parallel:
        return "one thread"
    threads = f", {fmt.count(facts.threads, 'thread')}" if facts.threads else ""
    return f"{fmt.count(facts.parallel_loops, 'loop')}{threads}"


def _half_iqr_s(row: LedgerRow) -> float | None:
    return (row.quartiles_s[1] - row.quartiles_s[0]) / 2 if row.quartiles_s else None


def _predicted(row: LedgerRow) -> str | None:
    return fmt.predicted_s(row.time_s, row.range_s) if row.time_s and row.range_s else None


def _timed(row: LedgerRow) -> str:
    doubts = ", ".join(DOUBTS[doubt] for doubt in row.doubts)
    return f"{row.timed}; {doubts}" if doubts else row.timed or row.reason


def _flop_rate(flops_s: float) -> str:
    return fmt.per_second(flops_s, "FLOP")


def _tuning(row: LedgerRow) -> str:
    return tuning_words(row.tuning) if row.tuning else ""


TARGET_CHOICES: tuple[Column[TargetChoice], ...] = (
    Column("about", lambda choice: choice.about),
    Column("chosen", lambda choice: choice.chosen),
    Column("why", lambda choice: choice.reason),
    Column("among", lambda choice: ", ".join(choice.among)),
)
LEDGER: tuple[Column[LedgerRow], ...] = (
    Column("kernel", lambda row: row.label, help="The module of most of its ops, and its main ops", width=200),
    Column(
        "time",
        lambda row: row.time_s,
        fmt.duration_s,
        help="Median time of one launch, timed alone with warm caches; for a target, the predicted time",
        width=70,
        optional=True,
    ),
    Column(
        "predicted",
        _predicted,
        help="Predicted time of one launch, with the interval for nine of ten kernels",
        width=150,
        optional=True,
    ),
    Column("share", lambda row: row.share, fmt.percent, help="Share of total kernel time", width=65, optional=True),
    Column(
        "of roofline",
        lambda row: row.fraction,
        fmt.percent,
        help="Time that the roofline allows over the time taken",
        width=85,
        optional=True,
    ),
    Column(
        "excess time",
        lambda row: row.wasted_s,
        fmt.duration_s,
        help="Time above what the roofline allows, over all calls",
        width=85,
        optional=True,
    ),
    Column("traffic", lambda row: row.bytes_moved, fmt.bytes_, help="Bytes read and written by one call", width=75),
    Column("calls", lambda row: row.calls, fmt.number),
    Column("graph", lambda row: row.direction),
    Column("kind", lambda row: row.kind),
    Column("bandwidth", lambda row: row.bandwidth_bytes_s if row.measured else None, fmt.per_second, optional=True),
    Column("FLOP/s", lambda row: row.flops_s if row.measured else None, _flop_rate, optional=True),
    Column("ops", lambda row: ", ".join(row.ops[:MOST_OPS])),
    Column("module", lambda row: fmt.first_of([module.path for module in row.modules], 1), optional=True),
    Column("line", lambda row: fmt.first_of([str(frame.line) for frame in _code_frames(row.frames)], 1), optional=True),
    Column("read", lambda row: row.bytes_read, fmt.bytes_),
    Column("written", lambda row: row.bytes_written, fmt.bytes_),
    Column(
        "byte count",
        lambda row: "upper bound" if row.at_most else "",
        help="An upper bound if an index depends on data, or elements may be read twice",
        optional=True,
    ),
    Column("FLOP", lambda row: row.flops, fmt.amount, optional=True),
    Column(
        "FLOP source",
        lambda row: "estimated" if row.flops_estimated else "torch" if row.flops else "",
        help="torch: counted by torch; estimated: one FLOP per op and iteration",
        optional=True,
    ),
    Column("FLOP/B", lambda row: row.intensity, fmt.number, help="Arithmetic intensity", optional=True),
    Column("±", _half_iqr_s, fmt.duration_s, help="Half the interquartile range", optional=True),
    Column("roofline time", lambda row: row.allowed_s, fmt.duration_s, "Minimum time by the roofline", optional=True),
    Column(
        "in the call", lambda row: row.in_place_s, fmt.duration_s, "Median time within the compiled call", optional=True
    ),
    Column("timed", _timed, help="How it was timed, or why it was not; for a prediction, its doubts", optional=True),
    Column("compile", lambda row: row.compile_s, fmt.duration_s, optional=True),
    Column(
        "autotuning", _tuning, help="How torch chose the config, by its log after Triton's compilation", optional=True
    ),
    Column(
        "config",
        lambda row: row.tuning.config if row.tuning else "",
        help="The config that is used, or that coordinate descent starts from",
        optional=True,
    ),
    Column("registers", lambda row: row.registers, fmt.number, optional=True),
    Column("spills", lambda row: row.spill_bytes, fmt.bytes_, optional=True),
    Column("shared", lambda row: row.shared_bytes, fmt.bytes_, optional=True),
    Column("occupancy", lambda row: row.occupancy, fmt.percent, optional=True),
    Column("vectors", lambda row: _vectors(row.cpp) if row.cpp else "", optional=True),
    Column("OpenMP", lambda row: _threads(row.cpp) if row.cpp else "", optional=True),
    Column("loops", lambda row: row.cpp.loops if row.cpp else None, fmt.number, optional=True),
    Column("language", lambda row: row.language),
    Column("generated name", lambda row: row.name, help="Name that torch generated", width=200),
)
