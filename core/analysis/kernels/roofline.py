"""The roofline: what a device allows a kernel at most, by the bytes that it moves and the FLOPs that it does.

Williams, Waterman and Patterson, "Roofline: an insightful visual performance model", CACM 52(4), 2009.
"""

from __future__ import annotations

from core.job.targets import TARGETS
from core.report import Bandwidth, Report, Roofline


def ceilings(report: Report) -> Roofline | None:
    """The ceilings of the device that the code is for: measured where it ran, else the target's datasheet's."""
    target = TARGETS.get(report.setting.target)
    if report.roofline is not None or target is None:
        return report.roofline
    memory = (Bandwidth("memory", None, target.bandwidth),)
    return Roofline(target.title, "datasheet", memory, dict(target.peak_flops), target.source)


def allowed_s(ceilings: Roofline, moved_bytes: int | None, flops: int | None, dtype: str) -> float | None:
    """The least seconds for that much traffic and arithmetic, by float32's peak for a dtype without one of its own;
    None where neither is known.
    """
    memory_s = moved_bytes / ceilings.bandwidth(moved_bytes).bytes_s if moved_bytes else None
    peak = ceilings.flops_s.get(dtype, ceilings.flops_s.get("float32"))
    compute_s = flops / peak if flops and peak else None
    known = [seconds for seconds in (memory_s, compute_s) if seconds is not None]
    return max(known, default=None)


def ridge(level: Bandwidth, peak: float) -> float:
    """FLOP a byte from which on arithmetic is the limit and not this level of memory."""
    return peak / level.bytes_s
