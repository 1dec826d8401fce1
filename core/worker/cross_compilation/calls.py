"""The calls of a run for a target: each made eagerly, then while code is generated, both on the CPU, and nothing to
compare.

What torch has no CPU code for ends a call, and no run: up to there the code is generated all the same.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from core.job import CompileJob
from core.job.targets import TARGETS
from core.report import Call
from core.worker.calls import Enter, PreparedCall, TwinCalls
from core.worker.load import Twin, described
from core.worker.record import emit


def make_calls(job: CompileJob, eager: Twin, compiled: Twin, function: Callable[..., Any], enter: Enter) -> None:
    """Make each call on both twins, and record it."""
    left, right = TwinCalls(job, eager, eager.model, True), TwinCalls(job, compiled, function, False)
    index = 0
    while True:
        enter(f"making the inputs of call {index}")
        one, other = left.next(index), right.next(index)
        if one is None or other is None:
            return
        inputs = described(left.call)
        enter(f"call {index}: eager")
        eager_s, failed = _made(left, index, one)
        enter(f"call {index}: generating for {TARGETS[job.target].title}")
        _, ended = _made(right, index, other)
        emit(
            Call(
                index=index,
                inputs=inputs,
                eager_s=eager_s,
                compiled_s=None,
                differences=(),
                ended=ended or failed,
            )
        )
        index += 1


def _made(side: TwinCalls, index: int, call: PreparedCall) -> tuple[float | None, str]:
    """The seconds of a call, or why it could not be made here."""
    try:
        return side.make(index, call, side.before())[1], ""
    except NotImplementedError as error:
        return None, str(error).splitlines()[0] if str(error) else type(error).__name__
