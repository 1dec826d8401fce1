"""Memory of forked processes, against what they allocate themselves."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import psutil
import pytest

from core.runs.processes.handles import ProcessMemory

MB = 1_000_000
FORKS = """
import os, sys, time
shared = bytearray(b"x") * 200_000_000
for _ in range(4):
    if not os.fork():
        own = bytearray(b"y") * {own}
        os.write(1, b"ready\\n")
        time.sleep(100)
        os._exit(0)
time.sleep(100)
"""


@contextmanager
def forked(own: int) -> Iterator[list[psutil.Process]]:
    """A process with 200 MB and four forks of it, each with more of its own."""
    command = [sys.executable, "-c", FORKS.format(own=own)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        assert [parent.stdout.readline() for _ in range(4)] == [b"ready\n"] * 4
        processes = [psutil.Process(parent.pid), *psutil.Process(parent.pid).children()]
        yield processes
        for process in reversed(processes):
            process.kill()
        assert psutil.wait_procs(processes[1:], 60)[1] == []


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a process's share of a page")
def test_pages_that_forked_processes_share_count_once() -> None:
    use = ProcessMemory()
    with forked(own=1) as processes:
        assert sum(process.memory_info().rss for process in processes) > 1_000 * MB
        assert not use.exceeds(processes, 400 * MB)
        assert 200 * MB < use.peak_bytes < 300 * MB


def test_what_each_allocates_counts_for_each() -> None:
    use = ProcessMemory()
    with forked(own=100 * MB) as processes:
        assert use.exceeds(processes, 500 * MB)
        assert use.peak_bytes > 600 * MB


def test_processes_that_have_ended_take_none() -> None:
    use = ProcessMemory()
    with forked(own=1) as processes:
        pass
    assert (use.exceeds(processes, 1), use.peak_bytes) == (False, 0)


def test_processes_beyond_the_limit_are_counted_exactly_once_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    counted: list[int] = []

    def share(process: psutil.Process, resident: int) -> int:
        counted.append(process.pid)
        return 0

    monkeypatch.setattr("core.runs.processes.handles._share", share)
    now = [100.0]
    monkeypatch.setattr("core.runs.processes.handles.time.monotonic", lambda: now[0])
    use, own = ProcessMemory(), psutil.Process()
    for now[0] in (100.0, 100.2, 100.4, 101.1, 101.3):
        assert not use.exceeds([own], 1)
    assert counted == [own.pid] * 2
    for now[0] in (200.0, 300.0):
        use.exceeds([own], 1 << 60)
    assert counted == [own.pid] * 2
