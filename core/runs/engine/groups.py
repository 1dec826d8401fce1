"""Control groups of Linux, one for each run, where this process may make one: no process of a run can leave its group,
even if it hides or becomes another's child, and all of them end at once.

A group is made below the one that this process is in, of version 2. Only those limits apply whose controllers the
system hands down to it (a service of systemd with `Delegate=memory pids`). Where no group can be made, only process
families and marks find the processes that a run left: see `core.runs.engine.processes`.
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


def group_of(supervisor_pid: int) -> str:
    """Return the name of the group of the processes of a run; for a process that has the mark of its fork server."""
    return f"{os.environ.get(MARK, '')}-{supervisor_pid}"


def groups_of(mark: str) -> str:
    """Return the pattern of all groups of the runs of a fork server."""
    return f"{mark}-*"


def enter(name: str, limits: Mapping[str, int]) -> None:
    """Put this process and its descendants into a new group, with those limits that the system has controllers for;
    nothing happens if no group can be made.
    """
    parent = _own_group()
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
    """Return True if the system has killed a process of a group that had reached its memory limit."""
    parent = _own_group()
    with contextlib.suppress(OSError):
        events = (parent / f"{PREFIX}{name}" / "memory.events").read_text().split() if parent else []
        return int(dict(zip(events[::2], events[1::2], strict=True)).get("oom_kill", 0)) > 0
    return False


def end_groups(names: str) -> None:
    """Kill all processes in the group of a name, or in those of a pattern, and remove the groups."""
    parent = _own_group()
    deadline = time.monotonic() + MAX_END_S
    while parent and (groups := list(parent.glob(f"{PREFIX}{names}"))) and time.monotonic() < deadline:
        for folder in groups:
            with contextlib.suppress(OSError):
                (folder / KILL).write_text("1")
            _remove(folder)
        time.sleep(POLL_S)


def _remove(folder: Path) -> None:
    """Remove a group, with the groups that the run made in it; a group that holds a process stays."""
    for inner, _, _ in os.walk(folder, topdown=False):
        with contextlib.suppress(OSError):
            os.rmdir(inner)


@cache
def _own_group() -> Path | None:
    """Return the group that this process is in; None if the system has none of version 2."""
    with contextlib.suppress(OSError, StopIteration):
        mounts = (line.split() for line in Path("/proc/self/mountinfo").read_text().splitlines())
        mounted = next(fields[4] for fields in mounts if fields[fields.index("-") + 1] == "cgroup2")
        groups = Path("/proc/self/cgroup").read_text().splitlines()
        group = next(line.removeprefix("0::") for line in groups if line.startswith("0::"))
        return Path(mounted) / group.lstrip("/")
    return None
