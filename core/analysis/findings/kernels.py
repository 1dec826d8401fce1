"""Findings about kernels: library calls at the roofline, fallbacks, copies, unexpected dtypes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from core.analysis.disturbance import busy
from core.analysis.findings.finding import Finding, Known, Proposal
from core.analysis.kernels import TF32, LedgerRow, ceilings, kernels_disturbed, product_dtype, unlike_twins
from core.base.words import agree, count, duration_s, percent
from core.ops.op_class import op_class
from core.report import Report

PRODUCTS = frozenset({"matmul", "attention"})
# Ops that copy as it is; what casts, fills, joins or pads moves data for another reason.
COPIES = frozenset({"clone", "copy", "copy_"})
NO_FASTER = "Products of bfloat16 were measured here, and are no faster: there is nothing to gain."
# The least that tensor cores gain on products of float32: twice the FLOP/s. It is for the order of findings alone.
TF32_GAINS = 2
FEWER_BITS = "Fewer bits are what is left, where the device has code for them: `torch.autocast`, or a bfloat16 model."
TORCHS_OWN = frozenset(
    {
        "aten",
        "prims",
        "prim",
        "mkl",
        "mkldnn",
        "onednn",
        "quantized",
        "inductor",
        "higher_order",
        "c10d",
        "_c10d_functional",
    }
)
FALLBACK = (
    "falls back to ATen",
    "fall back to ATen",
    "Inductor wrote no code for `{}` here: it calls ATen's, and nothing is fused with it.",
    "Where ops that Inductor has code for compute the same, they become part of its kernels: an `Embedding` and its "
    "mean are `EmbeddingBag`. A sort, a top-k or an FFT stays what it is.",
)
LITE = "`mode='lite'` calls ATen for every op that nothing else asks Inductor to write: leave the mode out."
CUSTOM = (
    "is of a custom op",
    "are of custom ops",
    "Inductor cannot look into `{}`: it calls it as it is, and nothing is fused with it.",
    "Written with torch's own ops, or for a Triton kernel with `torch.library.triton_op`, Inductor sees what it does.",
)
MOST_OF_IT, NEAR_THE_ROOFLINE, WORTH_A_THOUGHT = 0.5, 0.6, 0.05


def unlike_times(known: Known) -> Iterator[Finding]:
    """Yield a finding if times of equal kernels differ so much that other findings can't use them."""
    twins = None if busy(known.report.kernel_load) else unlike_twins(known.report)
    if twins is None:
        return
    yield Finding(
        rule="times not reliable",
        title=f"The kernels' times are not reliable: {twins.words}.",
        reason="Equal work takes equally long, so something else was timed with it. No finding uses these times.",
        advice="Measure again, while the machine does nothing else.",
        page="kernels",
        compilation=_compilation(known.report),
        weight="note",
    )


def products_at_the_roofline(known: Known) -> Iterator[Finding]:
    """Yield a finding if library matmuls take most of the time and run near the roofline."""
    rows = known.rows
    found = [row for row in rows if row.language == "extern" and _is_product(row)]
    judged = [row for row in found if row.fraction is not None]
    share, took_s = _share(found, rows), _total_s(judged)
    allowed_s = sum((row.fraction or 0.0) * (row.total_s or 0.0) for row in judged)
    if kernels_disturbed(known.report) or share < MOST_OF_IT or not took_s or allowed_s < NEAR_THE_ROOFLINE * took_s:
        return
    # What takes a library's own types, such as attention, has no dtype of its own.
    float32 = {row.dtype for row in found} - {""} == {"float32"} and not known.asked.get("dtype")
    reached = percent(allowed_s / took_s)
    faster = float32 and _bfloat16_pays(known.report)
    # One cost has one card: with TF32 off the same products are that card's.
    if any(tf32(known)):
        return
    yield Finding(
        rule="products at the roofline",
        title=f"{percent(share)} of the kernels' time are a library's matrix products, at {reached} of the roofline.",
        reason="Their code is the library's, and no fusion makes them faster.",
        advice=FEWER_BITS if faster else NO_FASTER if float32 else "In this dtype there is nothing to gain here.",
        page="kernels",
        compilation=_compilation(known.report),
        each_s=took_s - allowed_s,
        proposal=Proposal("dtype=bfloat16", job={"dtype": "bfloat16"}) if faster else None,
    )


def _bfloat16_pays(report: Report) -> bool:
    """Return True if bfloat16 products are faster on this device, or were not measured."""
    limits = ceilings(report)
    peaks = limits.flops_s if limits else {}
    half, single = peaks.get("bfloat16"), peaks.get("float32")
    return half is None or single is None or half > single


def tf32(known: Known) -> Iterator[Finding]:
    """Yield a finding for float32 products on a device with TF32 while torch has TF32 off."""
    counters = known.report.counters
    if counters is None or not counters.has_tf32 or counters.float32_matmul_precision != "highest":
        return
    rows = known.rows
    found = [row for row in rows if row.dtype == "float32" and {_class(op) for op in row.ops} == {"matmul"}]
    # cuDNN's convolutions use TF32 by default, whatever the precision of matrix products.
    found = [row for row in found if product_dtype(row.ops, row.dtype, counters) != TF32]
    share = _share(found, rows)
    if share < WORTH_A_THOUGHT:
        return
    yield Finding(
        rule="TF32 off",
        title=f"TF32 is off, and products of float32 take {percent(share)} of the kernels' time.",
        reason="`torch.get_float32_matmul_precision()` is `highest`, so that they leave the tensor cores idle.",
        advice="`torch.set_float32_matmul_precision('high')` before the first call rounds what is multiplied to 10 "
        "bits of mantissa, and still adds in float32. `torch.autocast`, or a bfloat16 model, halves their bytes, too.",
        page="kernels",
        compilation=_compilation(known.report),
        item=max(found, key=lambda row: row.total_s or 0.0).kernel,
        each_s=_total_s(found) * (1 - 1 / TF32_GAINS),
        proposal=Proposal("dtype=bfloat16", job={"dtype": "bfloat16"})
        if not known.asked.get("dtype") and _bfloat16_pays(known.report)
        else None,
    )


def fallbacks(known: Known) -> Iterator[Finding]:
    """Yield a finding for ops without kernels from Inductor: ATen fallbacks and custom ops.

    Matrix products do not count, since a library call is a choice for them.
    """
    rows = known.rows
    found = [row for row in rows if row.language == "extern" and row.name.startswith(("aten.", "torch.ops."))]
    found = [row for row in found if not _is_product(row)]
    custom = [row for row in found if _is_custom(row)]
    yield from _fallback(known, [row for row in found if row not in custom], FALLBACK)
    yield from _fallback(known, custom, CUSTOM)


def _fallback(known: Known, found: Sequence[LedgerRow], said: tuple[str, str, str, str]) -> Iterator[Finding]:
    share = _share(found, known.rows)
    if share < WORTH_A_THOUGHT:
        return
    one, many, reason, advice = said
    lite = said is FALLBACK and known.options.get("mode") == "lite"
    dearest = max(found, key=lambda row: row.total_s or 0.0)
    yield Finding(
        rule="fallbacks",
        title=f"{count(len(found), 'kernel call')} {agree(len(found), one, many)}: {percent(share)} of the kernels' "
        "time.",
        reason=reason.format(dearest.name),
        advice=LITE if lite else advice,
        proposal=Proposal("torch.compile(model)", compile={"mode": None}) if lite else None,
        page="kernels",
        compilation=_compilation(known.report),
        item=dearest.kernel,
        each_s=_total_s(found),
    )


def _is_custom(row: LedgerRow) -> bool:
    """Return True if the op's namespace is not torch's own."""
    parts = row.name.split(".")
    return parts[:2] == ["torch", "ops"] and parts[2:3] != [] and parts[2] not in TORCHS_OWN


def copies(known: Known) -> Iterator[Finding]:
    """Yield a finding for generated kernels that only move data."""
    yield from _generated(
        known,
        "copies",
        _only_copies,
        ("only copies or changes a layout", "only copy or change a layout"),
        "Leaving out a `.contiguous()` of the model spares a copy only where no library call reads the result: `bmm` "
        "and convolutions copy what lies otherwise. `scaled_dot_product_attention` takes transposed heads as they lie; "
        "a model and inputs in `channels_last` keep convolutions in one layout.",
    )


def doubles(known: Known) -> Iterator[Finding]:
    """Yield a finding for float64 kernels that nobody requested."""
    if known.asked.get("dtype") == "float64":
        return
    yield from _generated(
        known,
        "float64",
        lambda row: row.dtype == "float64",
        ("computes in float64", "compute in float64"),
        "A NumPy array, or a tensor made with `dtype=torch.float64`, makes all that it meets as wide: give it the "
        "model's dtype. A model that is in float64 itself needs `model.float()`, with inputs in float32.",
    )


def _generated(
    known: Known, rule: str, is_one: Callable[[LedgerRow], bool], does: tuple[str, str], advice: str
) -> Iterator[Finding]:
    rows = known.rows
    found = [row for row in rows if row.language != "extern" and is_one(row)]
    share = _share(found, rows)
    if share < WORTH_A_THOUGHT:
        return
    dearest = max(found, key=lambda row: row.total_s or 0.0)
    line = f" for `{dearest.frames[-1].text}`" if dearest.frames and dearest.frames[-1].text else ""
    yield Finding(
        rule=rule,
        title=f"{count(len(found), 'kernel')} {agree(len(found), *does)}: {percent(share)} of the kernels' time.",
        reason=f"The longest is `{dearest.label}`{line}, with {duration_s(dearest.total_s)}.",
        advice=advice,
        page="kernels",
        compilation=_compilation(known.report),
        item=dearest.kernel,
        each_s=_total_s(found),
    )


def _is_product(row: LedgerRow) -> bool:
    """Return True if a library call is a product by its own name; its origins include masks and copies."""
    return op_class(row.name) in PRODUCTS


def _only_copies(row: LedgerRow) -> bool:
    return bool(row.ops) and all(op in COPIES or _class(op) == "view" for op in row.ops)


def _class(op: str) -> str:
    return op_class(f"torch.ops.aten.{op}.default")


def _total_s(rows: Sequence[LedgerRow]) -> float:
    return sum(row.total_s or 0.0 for row in rows)


def _share(some: Sequence[LedgerRow], rows: Sequence[LedgerRow]) -> float:
    return _total_s(some) / (_total_s(rows) or 1.0)


def _compilation(report: Report) -> str:
    """Return the compilation with the most kernels, to open the page on."""
    return max(report.compilations, key=lambda found: len(found.kernels)).id
