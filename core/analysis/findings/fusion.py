"""Findings about fusion: kernels that share bytes, whose fusion the scheduler tried and refused."""

from __future__ import annotations

from collections.abc import Iterator

from core.analysis.findings.finding import Finding, RunFacts
from core.analysis.refusals import reasons_between, refused_pairs
from core.analysis.work import frame_of
from core.base.words import bytes_, percent
from core.report import Compilation, Report, Schedule, SchedulerNode

MUCH_OF_THE_TRAFFIC = 0.05
# Start of reasons that no change of the model avoids: fusion would create a cycle, or save nothing.
NO_CHOICE = ("intermediate nodes", "no shared data", "node1 must go", "node1 is", "node2 is", "device mismatch")
CUT, ORDER = (
    ("numel/rnumel mismatch", "nodes numel"),
    ("memory deps did not match", "tiling mismatch", "invalid tiling"),
)
# FX ops that change the sizes of loops, and their order. Without one of them, there is no op to move.
CUTS, REORDERS = ("slice", "constant_pad_nd"), ("permute", "transpose", "t", "clone")
WORK_ON_THE_WHOLE = (
    "They loop over different shapes: where a slice or a pad stands between them, work on the whole and cut last."
)
KEEP_THE_LAYOUT = "They go over memory in different orders, as after a transpose: keep one layout between them."
FEWER_REGISTERS = "Fused they would need more registers than there are: smaller tiles or fewer bits."
# Computing on the whole tensor writes at least as much as fusion saves from this factor on.
TOO_LARGE = 2
SEE_BOTH = "Fusion shows both, with all that torch said of them."


def missed(facts: RunFacts) -> Iterator[Finding]:
    """Yield a finding for the two kernels that share most bytes among the pairs that torch refused to fuse."""
    newest = {frame_of(compilation): compilation for compilation in facts.report.compilations if compilation.schedules}
    candidates = [
        (shared, reason, pair, schedule, compilation)
        for compilation in newest.values()
        for schedule in compilation.schedules
        for shared, reason, pair in _largest_refusals(schedule)
    ]
    if not candidates:
        return
    shared, reason, pair, schedule, compilation = max(candidates, key=lambda candidate: candidate[0])
    yield _finding(facts.report, shared, reason, pair, schedule, compilation)


def _largest_refusals(schedule: Schedule) -> Iterator[tuple[int, str, tuple[SchedulerNode, SchedulerNode]]]:
    """Yield the bytes, torch's reason and the nodes of the pair that shares most; nothing if that is little."""
    total = schedule.bytes_after
    for pair, shared in sorted(refused_pairs(schedule).items(), key=lambda entry: -entry[1]):
        if not total or shared < MUCH_OF_THE_TRAFFIC * total:
            return
        first, second = (next(node for node in schedule.after if node.name == name) for name in pair)
        reasons = [reason for _, reason in reasons_between(schedule, first, second)]
        if (
            reasons
            and not any(reason.startswith(NO_CHOICE) for reason in reasons)
            and _advice(reasons[0], first, second)
        ):
            yield shared, reasons[0], (first, second)
            return


def _advice(reason: str, first: SchedulerNode, second: SchedulerNode) -> str:
    """Return what lets the two be fused; empty if no change of the model does."""
    origins = {origin.rstrip("0123456789").removesuffix("_") for origin in (*first.origins, *second.origins)}
    if reason.startswith(CUT):
        sizes = sorted((first.iterations or 0, second.iterations or 0))
        cut = sizes[0] < sizes[1] < TOO_LARGE * sizes[0]
        return WORK_ON_THE_WHOLE if cut and not origins.isdisjoint(CUTS) else ""
    if reason.startswith(ORDER):
        return "" if origins.isdisjoint(REORDERS) else KEEP_THE_LAYOUT
    return FEWER_REGISTERS if reason.startswith("register spilling") else SEE_BOTH


def _finding(
    report: Report,
    shared: int,
    reason: str,
    pair: tuple[SchedulerNode, SchedulerNode],
    schedule: Schedule,
    compilation: Compilation,
) -> Finding:
    limits = report.roofline if report.roofline is not None and not report.roofline.disturbed else None
    kernels = {kernel.id: kernel.name for kernel in compilation.kernels}
    names = " and ".join(f"`{kernels.get(node.kernel, node.name)}`" for node in pair)
    graph = f"the {schedule.direction} graph" if schedule.direction else "a graph"
    part = percent(shared / (schedule.bytes_after or 1))
    return Finding(
        rule="missed fusion",
        title=f"Two kernels touch the same {bytes_(shared)} and were not fused: {part} of the traffic of {graph}.",
        reason=f"torch refused {names}: `{reason}`.",
        advice=_advice(reason, *pair),
        page="fusion",
        compilation=compilation.id,
        each_s=shared / limits.bandwidth(shared).bytes_s if limits else 0.0,
        weight="cost" if limits else "note",
    )
