"""Place where a worker crashed, or was when its time limit was over: Python's fault handler prints its stack."""

from __future__ import annotations

import re

from core.report import Kernel, Report
from core.runs.store import Run
from core.trace import TraceReader

MAX_SEARCHED_BYTES = 256 * 1024**2
FRAME = re.compile(r'^  File "(?P<file>[^"\n]+)", line (?P<line>\d+) in \S+$', re.MULTILINE)
FATAL = "Fatal Python error: "
ENDINGS = {"crashed": "crashed", "timed out": "was, when its time limit was over,"}
MOST_ORIGINS = 8
# Written by the supervisor before the stacks of a worker whose time limit is over.
OVERDUE = "The time limit is over. Stacks of the worker:"


def crashed_kernel(run: Run, report: Report) -> Kernel | None:
    """Return the kernel whose call a crashed worker was in; None if its last words name no line of an output code."""
    frames = _frames(run)
    log = run.log_path()
    if not frames or log is None or log.stat().st_size > MAX_SEARCHED_BYTES:
        return None
    with TraceReader(log) as reader:
        codes = {
            str(record.body.get("filename")): record.offset
            for record in reader.records()
            if record.kind == "inductor_output_code" and isinstance(record.body, dict)
        }
    place = next(((codes[file], line) for file, line in frames if file in codes), None)
    return None if place is None else _called_at(report, *place)


def ending_words(run: Run, report: Report) -> str:
    """Return where a worker crashed, or was when its time was over, in a sentence; empty if its output does not say."""
    state = run.status().state
    if state not in ENDINGS:
        return ""
    kernel = crashed_kernel(run, report)
    if kernel is not None:
        ops = ", ".join(f"`{origin}`" for origin in kernel.origins[:MOST_ORIGINS])
        return f"The worker {ENDINGS[state]} in the kernel `{kernel.name}`{f', generated for {ops}' if ops else ''}."
    line = last_line(run, report)
    if line is not None:
        return f"The worker {ENDINGS[state]} at `{line[0].rpartition('/')[2]}:{line[1]}`."
    return ""


def last_line(run: Run, report: Report) -> tuple[str, int] | None:
    """Return the innermost user line that a crashed or timed-out worker was executing, as file and line."""
    files = {source.path for source in report.sources}
    return next((frame for frame in _frames(run) if frame[0] in files), None)


def _frames(run: Run) -> list[tuple[str, int]]:
    """Return the frames of the last stacks in the run's output, innermost first; empty without one."""
    output = run.output_tail()
    marks = [(output.rfind(mark), mark) for mark in (FATAL, OVERDUE)]
    start, mark = max(marks)
    words = output[start + len(mark) :] if start >= 0 else ""
    return [(match["file"], int(match["line"])) for match in FRAME.finditer(words)]


def _called_at(report: Report, offset: int, line: int) -> Kernel | None:
    """Return the kernel of an output code with the last call that begins at a line or before it."""
    calls = [
        (call.line, kernel)
        for compilation in report.compilations
        for kernel in compilation.kernels
        if kernel.output_code.offset == offset
        for call in kernel.calls
        if call.line <= line
    ]
    return max(calls, key=lambda call: call[0])[1] if calls else None
