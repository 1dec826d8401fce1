"""Kernel that ran when a worker crashed: Python's fault handler names the line of the output code."""

from __future__ import annotations

import re

from core.report import Kernel, Report
from core.runs.store import Run
from core.trace import TraceReader

MAX_SEARCHED_BYTES = 256 * 1024**2
FRAME = re.compile(r'^  File "(?P<file>[^"\n]+)", line (?P<line>\d+) in \S+$', re.MULTILINE)
FATAL = "Fatal Python error: "


def crashed_kernel(run: Run, report: Report) -> Kernel | None:
    """Return the kernel whose call a crashed worker was in; None if its last words name no line of an output code."""
    _, fatal, words = run.output_tail().rpartition(FATAL)
    frames = [(match["file"], int(match["line"])) for match in FRAME.finditer(words)] if fatal else []
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
