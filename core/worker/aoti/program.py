"""The package in a process of its own that has no Python: it is loaded, called once, and then timed on demand."""

from __future__ import annotations

import contextlib
import select
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from core.base.errors import ProgramError
from core.base.words import limit_s

MOST_PRINTED_CHARS = 4_000
MOST_LINES = 100
ANSWER_S = 120.0
END_S = 5.0


@dataclass(frozen=True, slots=True)
class StartReport:
    """Report of the program after it has loaded the package and called it."""

    load_s: float
    call_s: float
    threads: int


class PackageProgram:
    """The running program, which answers a number of calls with the seconds that they took."""

    name = "std::chrono::steady_clock"

    def __init__(self, process: subprocess.Popen[str], errors: list[str], reader: threading.Thread) -> None:
        self._process, self._errors, self._reader = process, errors, reader
        words = self._answer(ANSWER_S).split()
        if len(words) != 4 or words[0] != "ready":
            raise ProgramError(self._failure_text(f"it began with {' '.join(words)[:200]!r}"))
        load_ns, call_ns, threads = map(int, words[1:])
        self.start_report = StartReport(load_ns / 1e9, call_ns / 1e9, threads)

    def seconds(self, calls: int) -> float:
        """Seconds per call of so many, one after the other; raises ProgramError where the program has ended."""
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write(f"{calls}\n")
            self._process.stdin.flush()
        return int(self._answer(ANSWER_S)) / 1e9 / calls

    def printed(self) -> str:
        """Return the end of its output other than measurements."""
        return "".join(self._errors)[-MOST_PRINTED_CHARS:]

    def _answer(self, most_s: float) -> str:
        assert self._process.stdout is not None
        readable, _, _ = select.select([self._process.stdout], [], [], most_s)
        line = self._process.stdout.readline() if readable else ""
        if not line:
            raise ProgramError(
                self._failure_text("it ended" if readable else f"it did not answer within {limit_s(most_s)}")
            )
        return line

    def _failure_text(self, what: str) -> str:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(END_S)
        self._reader.join(END_S)
        code = self._process.poll()
        how = f" with exit code {code}" if code is not None and code >= 0 else f" by signal {-code}" if code else ""
        return f"{self.printed().strip() or what + how}"


@contextmanager
def running(command: list[str], directory: Path) -> Iterator[PackageProgram]:
    """The program while it runs; raises ProgramError in its own words."""
    process = subprocess.Popen(
        command,
        cwd=directory,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
    )
    errors: list[str] = []
    reader = threading.Thread(target=_collect_errors, args=(process, errors), daemon=True)
    reader.start()
    try:
        yield PackageProgram(process, errors, reader)
    finally:
        _end(process)
        reader.join(END_S)


def _collect_errors(process: subprocess.Popen[str], errors: list[str]) -> None:
    """Take what the program prints, so that it never waits; its end is kept."""
    assert process.stderr is not None
    with process.stderr:
        for line in process.stderr:
            errors.append(line[:MOST_PRINTED_CHARS])
            del errors[:-MOST_LINES]


def _end(process: subprocess.Popen[str]) -> None:
    with contextlib.suppress(BrokenPipeError, OSError):
        if process.stdin is not None:
            process.stdin.close()
    deadline = time.monotonic() + END_S
    while process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.01)
    process.kill()
    process.wait()
    if process.stdout is not None:
        process.stdout.close()
