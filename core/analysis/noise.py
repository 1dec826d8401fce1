"""Detection of measurements disturbed by other processes on the machine."""

from __future__ import annotations

from core.report import Load

# A run is slowed down above these shares: CPU time of other processes, CPU time stolen by other virtual machines, and
# the run's own time spent waiting for a CPU.
MOST_OTHERS, MOST_STOLEN, MOST_WAITED = 0.2, 0.05, 0.05
BUSY = "the machine was busy"
NOT_MEASURABLE = "not measurable"
SCATTERED = "the samples scatter"
FEW = "too few samples to say"


def busy(load: Load | None) -> bool:
    """Return True if other processes used too much of the machine; False if the load was not recorded."""
    if load is None:
        return False
    shares = (load.others, MOST_OTHERS), (load.stolen, MOST_STOLEN), (load.waited, MOST_WAITED)
    return any((part or 0.0) > most for part, most in shares)
