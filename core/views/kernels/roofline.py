"""Points and ceilings of a roofline chart."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from core.analysis.kernels import LedgerRow, ridge
from core.base import words as fmt
from core.report import Bandwidth, Roofline

# A memory level whose bandwidth is this close to the next one's is left out: measurements differ by as much.
NOISE = 1.25
# Decades around the kernels and ceilings: left, right, below, above.
MARGINS = (0.5, 0.5, 0.4, 0.6)
# (FLOP/B, FLOP/s) at both ends.
Line = tuple[tuple[float, float], tuple[float, float]]


@dataclass(frozen=True)
class RooflineData:
    """Kernels and ceilings by arithmetic intensity and FLOP/s, both logarithmic.

    `rows` are the kernel calls with known FLOPs and time, those with the most time first. `memory` and `compute` are
    label → line of each memory level, farthest first, and of each dtype. `bounds` are the decades of the axes: left,
    right, bottom, top.
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
    """Return the memory levels to draw, nearest first.

    A level that is no faster than the next, within noise, is left out.
    """
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
    lines = [f"{fmt.duration_s(row.time_s)} {row.timed}", fmt.per_second(row.flops_s, "FLOP")]
    lines += [fmt.per_second(row.bandwidth_bytes_s)]
    lines += [f"{fmt.percent(row.fraction)} of the roofline"] if row.fraction is not None else []
    lines += ["faster than the ceilings: cached data, or less work than is counted"] if row.above_ceilings else []
    lines += ["FLOPs counted as one an op and iteration"] if row.flops_estimated else []
    lines += ["bytes are the most that it can move"] if row.at_most else []
    return lines
