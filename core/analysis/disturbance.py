"""Whether something was measured while other processes had the machine."""

from __future__ import annotations

from core.report import Load, Report

# Above this part of the CPUs in others' hands, or of its own time waiting for one, a run takes longer than by itself.
MOST_OTHERS, MOST_WAITED = 0.2, 0.05
BUSY = "the machine was busy"


def busy(load: Load | None) -> bool:
    """Whether other processes had too much of the machine; not where that was not recorded."""
    return load is not None and ((load.others or 0.0) > MOST_OTHERS or (load.waited or 0.0) > MOST_WAITED)


def kernels_disturbed(report: Report) -> str:
    """Why the kernels' times are not held against the ceilings, empty if they may be."""
    if busy(report.kernel_load):
        return f"{BUSY} while the kernels were timed"
    if report.roofline is not None and report.roofline.disturbed:
        return f"{BUSY} whenever the ceilings were measured"
    return ""
