"""A runner of any client: a command per task and try, with a time limit."""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import signal
import subprocess
from collections.abc import Iterable
from pathlib import Path

from benchmarks.agents import work

TRANSCRIPT = "transcript.jsonl"


def run_client(client: str, out: Path, tools: str, tries: int, seconds: float, names: Iterable[str]) -> None:
    """Let the client solve each task; solutions go to `out/{with,without}/{try}/{TASK}/solution`.

    The client's command has `{directory}` and `{task}` in it, its working directory is the solution. It writes its
    transcript into `../transcript.jsonl` as `benchmarks.agents.figures` describes it; AGENT_TRANSCRIPT holds the path,
    and AGENT_TOOLS is `with` or `without`.
    """
    for name in names:
        for number in range(1, tries + 1):
            place = (out / tools / str(number) / name).resolve()
            if place.exists():
                shutil.rmtree(place)
            directory = work.prepare(name, place / "solution")
            words = [word.format(directory=directory, task=directory / "task.md") for word in shlex.split(client)]
            environment = {**os.environ, "AGENT_TRANSCRIPT": str(place / TRANSCRIPT), "AGENT_TOOLS": tools}
            with (place / "output.txt").open("wb") as output:
                process = subprocess.Popen(
                    words, cwd=directory, env=environment, stdout=output, stderr=output, start_new_session=True
                )
                try:
                    process.wait(timeout=seconds)
                except subprocess.TimeoutExpired:
                    output.write(f"\nended after {seconds} s\n".encode())
                finally:
                    _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the client and all that it started."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
