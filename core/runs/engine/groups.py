"""A control group of Linux for each run, where this process may make one: none of its processes can leave it, whatever
they hide or whose children they become, and all of them end at once.

A group is made below the one that this process is in, of version 2. Of its limits those count whose controllers the
system hands down to it (a service of systemd with `Delegate=memory pids`). Where no group can be made, families and
marks alone find what a run has left: see `core.runs.engine.processes`.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from core.runs.engine.processes import MARK, MAX_END_S, POLL_S

PREFIX = "compileboard-"
KILL, MEMBERS = "cgroup.kill", "cgroup.procs"
MEMORY, PROCESSES = "memory.max", "pids.max"


def group_of(keeper: int) -> str:
    """The name of the group of what a keeper's run starts, in a process that has the mark of its fork server."""
    return f"{os.environ.get(MARK, '')}-{keeper}"


def groups_of(mark: str) -> str:
    """The pattern of all groups of the runs of a fork server."""
    return f"{mark}-*"


def enter(name: str, limits: Mapping[str, int]) -> None:
    """Put this process, and all that will come of it, into a new group with those of the limits that the system has
    for it; nothing where there can be no group.
    """
    parent = _here()
    if parent is None:
        return
    folder = parent / f"{PREFIX}{name}"
    with contextlib.suppress(OSError):
        folder.mkdir(exist_ok=True)
        for limit, most in limits.items():
            if (folder / limit).exists():
                (folder / limit).write_text(str(most))
        if (folder / KILL).exists():
            (folder / MEMBERS).write_text(str(os.getpid()))


def ran_out_of_memory(name: str) -> bool:
    """Whether the system has killed a process of a group that had reached its memory limit."""
    parent = _here()
    with contextlib.suppress(OSError):
        events = (parent / f"{PREFIX}{name}" / "memory.events").read_text().split() if parent else []
        return int(dict(zip(events[::2], events[1::2], strict=True)).get("oom_kill", 0)) > 0
    return False


def end_groups(names: str) -> None:
    """Kill all that is in the group of a name, or in those of a pattern, and take the groups away."""
    parent = _here()
    deadline = time.monotonic() + MAX_END_S
    while parent and (found := list(parent.glob(f"{PREFIX}{names}"))) and time.monotonic() < deadline:
        for folder in found:
            with contextlib.suppress(OSError):
                (folder / KILL).write_text("1")
            _take_away(folder)
        time.sleep(POLL_S)


def _take_away(folder: Path) -> None:
    """With what the run has made in it; a group that holds a process stays."""
    for inner, _, _ in os.walk(folder, topdown=False):
        with contextlib.suppress(OSError):
            os.rmdir(inner)


@cache
def _here() -> Path | None:
    """The group that this process is in; None where the system has none of version 2."""
    with contextlib.suppress(OSError, StopIteration):
        mounts = (line.split() for line in Path("/proc/self/mountinfo").read_text().splitlines())
        mounted = next(fields[4] for fields in mounts if fields[fields.index("-") + 1] == "cgroup2")
        groups = Path("/proc/self/cgroup").read_text().splitlines()
        own = next(line.removeprefix("0::") for line in groups if line.startswith("0::"))
        return Path(mounted) / own.lstrip("/")
    return None
