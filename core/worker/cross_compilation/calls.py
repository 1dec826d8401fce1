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
from core.worker.calls import Enter, ModelCalls, PreparedCall
from core.worker.load import ModelCopy, described
from core.worker.record import emit


def make_calls(
    job: CompileJob, eager: ModelCopy, compiled: ModelCopy, function: Callable[..., Any], enter: Enter
) -> None:
    """Make each call on both twins, and record it."""
    eager_side, compiled_side = ModelCalls(job, eager, eager.model, True), ModelCalls(job, compiled, function, False)
    index = 0
    while True:
        enter(f"making the inputs of call {index}")
        eager_call, compiled_call = eager_side.next(index), compiled_side.next(index)
        if eager_call is None or compiled_call is None:
            return
        inputs = described(eager_side.call)
        enter(f"call {index}: eager")
        eager_s, eager_problem = _make_call(eager_side, index, eager_call)
        enter(f"call {index}: generating for {TARGETS[job.target].title}")
        _, problem = _make_call(compiled_side, index, compiled_call)
        emit(
            Call(
                index=index,
                inputs=inputs,
                eager_s=eager_s,
                compiled_s=None,
                differences=(),
                ended=problem or eager_problem,
            )
        )
        index += 1


def _make_call(side: ModelCalls, index: int, call: PreparedCall) -> tuple[float | None, str]:
    """The seconds of a call, or why it could not be made here."""
    try:
        return side.make(index, call, side.before())[1], ""
    except NotImplementedError as error:
        return None, str(error).splitlines()[0] if str(error) else type(error).__name__
