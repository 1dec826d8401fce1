"""The roofline: what a device allows a kernel at most, by the bytes that it moves and the FLOPs that it does.

Williams, Waterman and Patterson, "Roofline: an insightful visual performance model", CACM 52(4), 2009.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from core.job.targets import TARGETS
from core.ops.op_class import op_class
from core.report import Bandwidth, Counters, Report, Roofline

TF32 = "tfloat32"
CONVOLUTION = re.compile(r"\bconv(?!ert)|_conv(?!ert)")


def ceilings(report: Report) -> Roofline | None:
    """The ceilings of the device that the code is for: measured where it ran, else the target's datasheet's."""
    target = TARGETS.get(report.setting.target)
    if report.roofline is not None or target is None:
        return report.roofline
    memory = (Bandwidth("memory", None, target.bandwidth),)
    return Roofline(target.title, memory, dict(target.peak_flops), target.source, source="datasheet")


def allowed_s(ceilings: Roofline, moved_bytes: int | None, flops: int | None, dtype: str) -> float | None:
    """The least seconds for that much traffic and arithmetic, by float32's peak for a dtype without one of its own;
    None where neither is known.
    """
    memory_s = moved_bytes / ceilings.bandwidth(moved_bytes).bytes_s if moved_bytes else None
    peak = ceilings.flops_s.get(dtype, ceilings.flops_s.get("float32"))
    compute_s = flops / peak if flops and peak else None
    known = [seconds for seconds in (memory_s, compute_s) if seconds is not None]
    return max(known, default=None)


def product_dtype(ops: Collection[str], dtype: str, counters: Counters | None) -> str:
    """The dtype whose peak holds for a kernel of these ops: `tfloat32` for products of float32 that the device
    multiplies as TF32.

    Matrix products do so where `torch.set_float32_matmul_precision` allows it, convolutions by default
    (`torch.backends.cudnn.allow_tf32`); an op that writes several tensors has no dtype of its own.
    """
    if counters is None or not counters.has_tf32 or dtype not in ("float32", ""):
        return dtype
    products = [op for op in ops if op_class(op) == "matmul"]
    if any(CONVOLUTION.search(op) for op in products):
        return TF32
    return TF32 if products and counters.float32_matmul_precision in ("high", "medium") else dtype


def ridge(level: Bandwidth, peak: float) -> float:
    """FLOP a byte from which on arithmetic is the limit and not this level of memory."""
    return peak / level.bytes_s
