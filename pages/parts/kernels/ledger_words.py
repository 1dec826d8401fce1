"""The kernel ledger in sentences."""

from __future__ import annotations

from collections.abc import Sequence

from core.analysis import untimed_words
from core.analysis.kernels import (
    TF32,
    LedgerRow,
    LedgerSum,
    ceilings,
    kernels_disturbed,
    product_dtype,
    times_unreliable,
)
from core.base import words as fmt
from core.report import Report, Roofline
from pages.look.text import LONGEST_LINE, LONGEST_NAME, LONGEST_TEXT, code, plain, prose


def title(rows: Sequence[LedgerRow], unreliable: str = "") -> str:
    """Summarize the kernels' time and its largest waste.

    Without times: the number of kernels. Unreliable times are not summed up.
    """
    timed = [row for row in rows if row.measured]
    if not timed:
        generated = len({row.kernel for row in rows if row.language != "extern"})
        extern = len({row.name for row in rows if row.language == "extern"})
        kernels = f"{fmt.count(generated, 'generated kernel')} and {fmt.count(extern, 'extern kernel')}"
        return f"{kernels} in {fmt.count(len(rows), 'call')}."
    if unreliable:
        return f"{fmt.count(len(timed), 'kernel call')}; {prose(unreliable, LONGEST_LINE)}."
    whole_s = sum(row.total_s or 0.0 for row in timed)
    wasted = [row for row in timed if row.wasted_s is not None]
    start = f"{fmt.count(len(timed), 'kernel call')} {fmt.agree(len(timed), 'takes', 'take')} {fmt.duration_s(whole_s)}"
    if not wasted:
        return f"{start}."
    wasted_s = fmt.duration_s(sum(row.wasted_s or 0.0 for row in wasted))
    if len(wasted) < len(timed):
        return f"{start}; {fmt.number(len(wasted))} of them have a roofline, and take {wasted_s} more than it allows."
    return f"{start}, {wasted_s} of it above the roofline."


def traffic_words(size: float, row: LedgerRow) -> str:
    """Return the bytes of a kernel call; says so if they are a bound."""
    return f"{'at most ' if row.at_most else ''}{fmt.bytes_(size)}"


def worst(rows: Sequence[LedgerRow]) -> str:
    """Return the kernel with the most time above the roofline, as Markdown; empty if there is none."""
    row = rows[0] if rows and rows[0].wasted_s else None
    if row is None:
        return ""
    return (
        f"Most above the roofline: {code(row.label, LONGEST_NAME)}, {fmt.duration_s(row.total_s)} where "
        f"{fmt.duration_s((row.allowed_s or 0.0) * row.calls)} are allowed. "
    )


def without_peak(rows: Sequence[LedgerRow], report: Report) -> str:
    """Return as Markdown why float32 products have no roofline; empty if they have one."""
    limits = ceilings(report)
    if limits is None or TF32 in limits.flops_s:
        return ""
    products = [row for row in rows if row.flops and not row.flops_estimated and row.allowed_s is None]
    if not any(product_dtype(row.ops, row.dtype, report.counters) == TF32 for row in products):
        return ""
    return "Products computed as TF32 have no roofline: the run did not measure that peak. "


def disturbed(report: Report) -> str:
    """Return as Markdown why nothing is concluded about waste; empty if it is."""
    reason, unreliable = kernels_disturbed(report), times_unreliable(report)
    if unreliable:
        return "The times below are not reliable, and nothing is concluded from them. "
    return f"{reason[0].upper()}{reason[1:]}, so they are not held against the ceilings. " if reason else ""


def sums(found: LedgerSum | None) -> str:
    """Return the kernels' time compared with the compiled call, as Markdown; the bar shows the rest."""
    if found is None or found.call_s is None or found.ratio is None:
        return ""
    share = fmt.share(found.kernels_s if found.rest else found.call_s, found.call_s)
    return f"Kernels take {share} of a compiled call's {fmt.duration_s(found.call_s)}. "


def ceiling_words(limits: Roofline | None) -> str:
    """Describe the source of the ceilings, as Markdown."""
    if limits is None:
        return "What the device can do at most was not measured, so there is no roofline."
    device = plain(limits.device, LONGEST_NAME)
    peaks = ", ".join(f"{code(dtype)} {fmt.per_second(peak, 'FLOP')}" for dtype, peak in limits.flops_s.items())
    threads = f" with {fmt.count(limits.threads, 'thread')}" if limits.threads else ""
    if limits.source == "datasheet":
        return f"Ceilings of {device} by its datasheet: {fmt.per_second(limits.bandwidth_bytes_s)}, {peaks}."
    return (
        f"Ceilings measured on {device}{threads}: memory {fmt.per_second(limits.bandwidth_bytes_s)}, {peaks} "
        f"({plain(limits.how, LONGEST_LINE)})."
    )


def untimed(report: Report, target: str) -> str:
    """Return as Markdown why there are no measured times."""
    if target:
        return (
            f"Generated for {plain(target, LONGEST_NAME)} without one; not run. "
            "Times are estimates: what its roofline allows. "
        )
    if report.untimed:
        told = untimed_words(report)
        return f"{told[:1].upper()}{prose(told[1:], LONGEST_TEXT)}. "
    if report.setting.job is None:
        return "The log does not hold the kernels' times; runs that are made here and measure record them. "
    return "The kernels were not timed: the run did not measure, or ended before it could. "
