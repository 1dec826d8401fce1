"""Load of the machine: memory, and the work of other processes during a measurement."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path

import psutil

TASKS = Path("/proc/self/task")
# CPU times that count as work; `steal` is the hypervisor's work for other machines.
WORKING = ("user", "nice", "system", "irq", "softirq", "steal")


@dataclass(frozen=True, slots=True)
class Load:
    """Load of the machine by other processes during a measurement.

    `others` is the share of the CPUs that other processes used. `waited` is the share of runnable time in which the
    run's threads waited for a CPU; None if the system does not report it. `stolen` is the share of `others` that a
    hypervisor gave to other machines.
    """

    others: float | None = None
    waited: float | None = None
    stolen: float | None = None


@dataclass(frozen=True, slots=True)
class Reading:
    """Seconds so far: wall clock, all work on this process's CPUs, and this process's work.

    Also the seconds that its threads ran and waited, and that the hypervisor gave its CPUs to other machines.
    """

    clock_s: float
    busy_s: float
    own_s: float
    ran_s: float | None
    waited_s: float | None
    stolen_s: float | None = None


class LoadWatch:
    """Watch of the load since its creation."""

    def __init__(self) -> None:
        self._cpus = _cpus()
        self._start = _reading(self._cpus)

    def load(self) -> Load:
        """Return the load since the watch was created."""
        return shares(self._start, _reading(self._cpus), len(self._cpus))


def shares(then: Reading, now: Reading, cpus: int) -> Load:
    """Return the CPU share of other processes between two readings, and this process's share of waiting."""
    others_s = (now.busy_s - then.busy_s) - (now.own_s - then.own_s)
    total_s = (now.clock_s - then.clock_s) * cpus
    return Load(min(1.0, max(0.0, others_s / total_s)), _waited_share(then, now), _stolen_share(then, now, total_s))


def _stolen_share(then: Reading, now: Reading, total_s: float) -> float | None:
    if then.stolen_s is None or now.stolen_s is None:
        return None
    return min(1.0, max(0.0, now.stolen_s - then.stolen_s) / total_s)


def _waited_share(then: Reading, now: Reading) -> float | None:
    if then.ran_s is None or now.ran_s is None or then.waited_s is None or now.waited_s is None:
        return None
    ran_s, waited_s = max(0.0, now.ran_s - then.ran_s), max(0.0, now.waited_s - then.waited_s)
    return waited_s / (ran_s + waited_s) if ran_s + waited_s else 0.0


def _reading(cpus: list[int]) -> Reading:
    times = psutil.cpu_times(percpu=True)
    busy_s = sum(getattr(times[cpu], name, 0.0) for cpu in cpus for name in WORKING)
    stolen_s = sum(times[cpu].steal for cpu in cpus) if hasattr(times[0], "steal") else None
    ran_s, waited_s = _thread_seconds()
    return Reading(time.perf_counter(), busy_s, time.process_time(), ran_s, waited_s, stolen_s)


def _cpus() -> list[int]:
    """Return the CPUs that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return sorted(os.sched_getaffinity(0))
    return list(range(psutil.cpu_count() or 1))


def _thread_seconds() -> tuple[float, float] | tuple[None, None]:
    """Return the seconds that the threads ran, and that they waited for a CPU, from Linux's `schedstat`.

    None on other systems.
    """
    try:
        counts = [(task / "schedstat").read_text().split() for task in TASKS.iterdir()]
    except OSError:
        return None, None
    return sum(int(ran) for ran, _, _ in counts) / 1e9, sum(int(waited) for _, waited, _ in counts) / 1e9


def memory_bytes() -> tuple[int, int]:
    """Return the available and the total bytes of memory."""
    memory = psutil.virtual_memory()
    return int(memory.available), int(memory.total)
