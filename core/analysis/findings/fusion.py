"""Findings about fusion: kernels that share bytes, whose fusion the scheduler tried and refused."""

from __future__ import annotations

from collections.abc import Iterator

from core.analysis.findings.finding import Finding, Known
from core.analysis.why_apart import reasons_between, refused_pairs
from core.analysis.work import frame_of
from core.base.words import bytes_, percent
from core.report import Compilation, Report, Schedule, SchedulerNode

MUCH_OF_THE_TRAFFIC = 0.05
# Reasons for which fusing is no choice, by their beginning: it would make a circle, or save nothing.
NO_CHOICE = ("intermediate nodes", "no shared data", "node1 must go", "node1 is", "node2 is", "device mismatch")
TO_DO = (
    (
        "numel/rnumel mismatch",
        "They loop over different shapes: where a slice, a pad or a repeat stands between them, work on the whole and "
        "cut last.",
    ),
    (
        "nodes numel",
        "They loop over different shapes: where a slice, a pad or a repeat stands between them, work on the whole and "
        "cut last.",
    ),
    (
        "memory deps did not match",
        "They go over the buffer in different orders, as after a transpose: keep one layout between them.",
    ),
    ("tiling mismatch", "They tile their loops differently, as after a transpose: keep one layout between them."),
    ("invalid tiling", "They tile their loops differently, as after a transpose: keep one layout between them."),
    ("register spilling", "Fused they would need more registers than there are: smaller tiles or fewer bits."),
)
SEE_BOTH = "Fusion shows both, with all that torch said of them."


def missed(known: Known) -> Iterator[Finding]:
    """Yield a finding for the two kernels that share most bytes among the pairs that torch refused to fuse."""
    newest = {frame_of(found): found for found in known.report.compilations if found.schedules}
    told = [
        (shared, reason, pair, schedule, found)
        for found in newest.values()
        for schedule in found.schedules
        for shared, reason, pair in _most(schedule)
    ]
    if not told:
        return
    shared, reason, pair, schedule, found = max(told, key=lambda item: item[0])
    yield _finding(known.report, shared, reason, pair, schedule, found)


def _most(schedule: Schedule) -> Iterator[tuple[int, str, tuple[SchedulerNode, SchedulerNode]]]:
    """Yield the bytes, torch's reason and the nodes of the pair that shares most; nothing if that is little."""
    whole = schedule.bytes_after
    for pair, shared in sorted(refused_pairs(schedule).items(), key=lambda item: -item[1]):
        if not whole or shared < MUCH_OF_THE_TRAFFIC * whole:
            return
        one, other = (next(node for node in schedule.after if node.name == name) for name in pair)
        reasons = [reason for _, reason in reasons_between(schedule, one, other)]
        if reasons and not any(reason.startswith(NO_CHOICE) for reason in reasons):
            yield shared, reasons[0], (one, other)
            return


def _finding(
    report: Report,
    shared: int,
    reason: str,
    pair: tuple[SchedulerNode, SchedulerNode],
    schedule: Schedule,
    found: Compilation,
) -> Finding:
    limits = report.roofline if report.roofline is not None and not report.roofline.disturbed else None
    kernels = {kernel.id: kernel.name for kernel in found.kernels}
    names = " and ".join(f"`{kernels.get(node.kernel, node.name)}`" for node in pair)
    graph = f"the {schedule.direction} graph" if schedule.direction else "a graph"
    part = percent(shared / (schedule.bytes_after or 1))
    return Finding(
        rule="missed fusion",
        title=f"Two kernels touch the same {bytes_(shared)} and were not fused: {part} of the traffic of {graph}.",
        reason=f"torch refused {names}: `{reason}`.",
        advice=next((advice for start, advice in TO_DO if reason.startswith(start)), SEE_BOTH),
        page="fusion",
        compilation=found.id,
        each_s=shared / limits.bandwidth(shared).bytes_s if limits else 0.0,
        weight="cost" if limits else "note",
    )
