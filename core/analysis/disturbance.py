"""Whether something was measured while other processes had the machine."""

from __future__ import annotations

from core.report import Load, Report

# Above this part of the CPUs in others' hands, or taken for other machines, or of its own time waiting for one, a run
# takes longer than by itself.
MOST_OTHERS, MOST_STOLEN, MOST_WAITED = 0.2, 0.05, 0.05
BUSY = "the machine was busy"


def busy(load: Load | None) -> bool:
    """Whether other processes had too much of the machine; not where that was not recorded."""
    if load is None:
        return False
    had = (load.others, MOST_OTHERS), (load.stolen, MOST_STOLEN), (load.waited, MOST_WAITED)
    return any((part or 0.0) > most for part, most in had)


def kernels_disturbed(report: Report) -> str:
    """Why the kernels' times are not held against the ceilings, empty if they may be."""
    if busy(report.kernel_load):
        return f"{BUSY} while the kernels were timed"
    if report.roofline is not None and report.roofline.disturbed:
        return f"{BUSY} whenever the ceilings were measured"
    return ""
