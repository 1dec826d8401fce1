"""What is known of checking guards."""

from __future__ import annotations

from core import words as fmt
from core.report import Compilation


def check_time(compilation: Compilation) -> str:
    """What checking all guards takes: once with a cold cache, by torch, and warm, by the worker."""
    if compilation.guard_latency_us is None:
        return "How long checking them takes was not recorded."
    took = fmt.duration_s(compilation.guard_latency_us / 1e6)
    cold = f"Checking all of them once, with a cold cache, took torch {took}"
    if compilation.guard_warm_us is None:
        return f"{cold}; what it costs a call, warm, was not recorded."
    return f"{cold}; warm, as in a later call, it takes {fmt.duration_s(compilation.guard_warm_us / 1e6)}."


def as_printed(compilation: Compilation) -> str:
    """What is not sure of the count where only the printed tree is known."""
    if compilation.guard_leaves == len(compilation.guards):
        return ""
    if compilation.guard_leaves is not None:
        return (
            f" The tree itself has {fmt.count(compilation.guard_leaves, 'guard')}: torch printed it in another way "
            f"than is read here."
        )
    return " Counted in the printed tree, where a guard that checks several things may stand several times."
