"""CPU seconds until a command has started: its imports, and its work with an empty store."""

from __future__ import annotations

import os
import resource
import subprocess
import sys

from benchmarks.homes import PROJECT, temporary_home
from benchmarks.table import Result, at_most

TIMES = 5
# Command line of Python → the most CPU seconds that it may take.
AIMS = {
    ("-c", "import core"): 0.1,
    ("-m", "core", "--help"): 0.4,
    ("-m", "core", "--version"): 0.4,
    ("-m", "core", "run", "--help"): 0.8,
    ("-m", "core", "samples"): 0.8,
    ("-m", "core", "runs"): 0.8,
    ("-m", "core", "report", "missing"): 0.8,
    ("-m", "core", "mcp"): 2.0,
}


def measure() -> list[Result]:
    """Run each command a few times; return its CPU seconds."""
    with temporary_home() as home:
        environment = {**os.environ, "COMPILEBOARD_HOME": str(home)}
        return [
            at_most(" ".join(command), [cpu_s(command, environment) for _ in range(TIMES)], most_s, unit=" s")
            for command, most_s in AIMS.items()
        ]


def cpu_s(command: tuple[str, ...], environment: dict[str, str]) -> float:
    """Return the CPU seconds of a command of Python, user and system."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        [sys.executable, *command],
        cwd=PROJECT,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
