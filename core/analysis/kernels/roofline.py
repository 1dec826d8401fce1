"""Roofline: a kernel's limit on a device, from its bytes and FLOPs.

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
    """Return the device's ceilings: measured where the code ran, otherwise from the target's datasheet."""
    target = TARGETS.get(report.setting.target)
    if report.roofline is not None or target is None:
        return report.roofline
    memory = (Bandwidth("memory", None, target.bandwidth),)
    return Roofline(target.title, memory, dict(target.peak_flops), target.source, source="datasheet")


def allowed_s(ceilings: Roofline, moved_bytes: int | None, flops: int | None, dtype: str) -> float | None:
    """Return the minimum seconds for this traffic and arithmetic; None if neither is known.

    A dtype without a peak of its own uses float32's.
    """
    memory_s = moved_bytes / ceilings.bandwidth(moved_bytes).bytes_s if moved_bytes else None
    peak = ceilings.flops_s.get(dtype, ceilings.flops_s.get("float32"))
    compute_s = flops / peak if flops and peak else None
    limits = [seconds for seconds in (memory_s, compute_s) if seconds is not None]
    return max(limits, default=None)


def product_dtype(ops: Collection[str], dtype: str, counters: Counters | None) -> str:
    """Return the dtype whose peak applies to a kernel of these ops.

    `tfloat32` for float32 products that the device multiplies as TF32: matrix products if
    `torch.set_float32_matmul_precision` allows it, convolutions by default (`torch.backends.cudnn.allow_tf32`). An op
    that writes several tensors has no dtype of its own.
    """
    if counters is None or not counters.has_tf32 or dtype not in ("float32", ""):
        return dtype
    products = [op for op in ops if op_class(op) == "matmul"]
    if any(CONVOLUTION.search(op) for op in products):
        return TF32
    return TF32 if products and counters.float32_matmul_precision in ("high", "medium") else dtype


def ridge(level: Bandwidth, peak: float) -> float:
    """Return the FLOPs per byte above which arithmetic is the limit instead of this memory level."""
    return peak / level.bytes_s
