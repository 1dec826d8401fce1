"""Alternative compilers and runtimes on the model of a run: each converts it, calls it, and is compared and timed.

Each has a standby process of its own, since their native code may crash or hang.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import torch

from core.job import CompileJob
from core.report import Difference, Neighbour
from core.worker.aoti.exporting import as_module
from core.worker.aoti.running import named_outputs, other_number, tensors_of
from core.worker.backends.selection import load_backend
from core.worker.calls import ModelCalls, PreparedCall, Replay
from core.worker.conditions import set_dynamo, set_threads
from core.worker.frames import first_line
from core.worker.load import ModelCopy, described, seed
from core.worker.measuring.pairs import LIMIT_S
from core.worker.measuring.rounds import SampledSide, prepared_side, time_sides
from core.worker.measuring.stopwatches import WallClock
from core.worker.memory.sides import last_call
from core.worker.neighbours.mlx import ported_functions
from core.worker.neighbours.runtimes import NEIGHBOURS, FlatModel, Program, Runtime
from core.worker.record import emit
from core.worker.results.compare import compare
from core.worker.results.effects import CallEffects, unlike
from core.worker.results.judge import CallContext, Judge
from core.worker.standby import StandBy

MOST_TASK_S = 180.0
TRAINING = "it runs only the forward, and this run trains"
DRAWS = "the call draws random numbers, and another program draws others than eager"
NO_CALL = "the model has no call"
MLX = "it runs no model of torch: the code is written anew"


class NeighbourStage:
    """Stage of a run that tries all neighbours in standby processes; must be created before torch starts threads."""

    def __init__(self, job: CompileJob, original: Path, path: Path) -> None:
        wanted = job.neighbours and not job.target
        work = partial(_tried, job=job, original=original, path=path)
        self._stand_by = StandBy(NEIGHBOURS, Neighbour, work, _failed) if wanted else None

    def run(self, most_s: float) -> None:
        """Record each neighbour; errors are recorded, not raised."""
        for record in self._stand_by.results(most_s, MOST_TASK_S) if self._stand_by is not None else ():
            emit(record)


def _failed(runtime: Runtime, reason: str) -> Neighbour:
    return replace(runtime.record, stage="process", problem=reason)


def _tried(runtime: Runtime, job: CompileJob, original: Path, path: Path) -> Neighbour:
    """Try one neighbour; must run in a separate process."""
    record, stage = runtime.record, "eager"
    reason = _why_not(runtime, job)
    if runtime.convert is None and not record.missing:
        return replace(record, stage="start", problem=reason, ported=ported_functions(job.measure))
    if record.missing or reason or runtime.convert is None:
        return replace(record, stage="start", problem=reason)
    try:
        last = last_calls(job, original, path)
        record, stage = replace(record, inputs=last.inputs), "convert"
        program, seconds = _timed(last, partial(runtime.convert, last.model))
        record, stage = replace(record, convert_s=seconds), "call"
        seed(job.seed + last.index)
        outputs, seconds = _timed(last, lambda: program(*last.model.tensors))
        record = replace(record, call_s=seconds, differences=_differences(job, original, last, tensors_of(outputs)))
        stage = "time"
        return _with_times(record, job, path, last, program) if job.measure else record
    except Exception as error:
        # What a backend raised is inside the error of torch.compile.
        return replace(record, stage=stage, problem=first_line(getattr(error, "inner_exception", error)))


def _why_not(runtime: Runtime, job: CompileJob) -> str:
    """Return why a neighbour can't be tried on a job here; empty if it can."""
    if runtime.convert is None:
        return MLX
    kind = job.device.partition(":")[0]
    if runtime.devices and kind not in runtime.devices:
        return f"it runs here on {' and '.join(runtime.devices)}, and this run is on {kind}"
    return TRAINING if job.training else ""


@dataclass(frozen=True, slots=True)
class LastCalls:
    """The last call of a job on two copies of its model: made eagerly on one, and prepared on the other.

    `difference` is the first difference between the copies before a call, `drew` is True if a call drew random numbers.
    """

    eager: PreparedCall
    effects: CallEffects
    call: PreparedCall
    model: FlatModel
    index: int
    inputs: str
    difference: str
    drew: bool


def last_calls(job: CompileJob, original: Path, path: Path) -> LastCalls:
    """Make all calls eagerly on two copies of the model, the last one on the first copy alone."""
    # Marks and stances are those of torch.compile.
    plain = replace(job, marks=(), conditions=replace(job.conditions, stance="default", force_backend="", primed=False))
    set_threads(job.conditions)
    load_backend(job)
    copies = ModelCopy(original, job, "compileboard_eager"), ModelCopy(path, plain, "compileboard_neighbour")
    set_dynamo(job.conditions)
    left, right = (
        ModelCalls(job, copies[0], copies[0].model, True),
        ModelCalls(plain, copies[1], copies[1].model, False),
    )
    eager, call = left.next(0), right.next(0)
    index, difference, drew = 0, "", False
    while eager is not None and call is not None:
        inputs, before = described(left.call), (left.before(), right.before())
        difference = difference or unlike(*before, first=index == 0)
        effects, _ = left.make(index, eager, before[0])
        drew = drew or effects.drew
        following = left.next(index + 1)
        if following is None:
            model = FlatModel(as_module(copies[1].model), call.inputs)
            return LastCalls(eager, effects, call, model, index, inputs, difference, drew)
        right.make(index, call, before[1])
        index += 1
        eager, call = following, right.next(index)
    raise LookupError(NO_CALL)


def _timed(last: LastCalls, function: Callable[[], Any]) -> tuple[Any, float]:
    """Return the result of a function in the grad mode of the last call, and its seconds."""
    start = time.perf_counter()
    with last.call.ready():
        result = function()
    return result, time.perf_counter() - start


def _differences(
    job: CompileJob, original: Path, last: LastCalls, outputs: Sequence[torch.Tensor]
) -> tuple[Difference, ...]:
    """Return a neighbour's outputs compared with eager's, by the rules for compiled."""
    named = named_outputs(last.effects.outputs, outputs)
    if named is None:
        return (other_number(last.effects.outputs, outputs),)
    differences = compare(*named)
    if last.drew:
        return tuple(replace(item, same=None, reason=DRAWS) if item.same is False else item for item in differences)
    judge = Judge(job, original, lambda copy, around: Replay(job, copy, around))
    return tuple(judge.decide(differences, *named, CallContext(last.index, False, last.difference)))


def _with_times(record: Neighbour, job: CompileJob, path: Path, last: LastCalls, program: Program) -> Neighbour:
    """Return the record with interleaved times of eager, compiled and the neighbour; without compiled if that fails."""
    wall, tensors = WallClock(job.device), last.model.tensors
    sides = {"eager": prepared_side(last.eager, wall)}
    try:
        sides["compiled"] = prepared_side(last_call(job, ModelCopy(path, job, "compileboard_compiled"), False), wall)
    except Exception as error:
        record = replace(record, stage="time", problem=f"compiled was not timed: {first_line(error)}")
    sides["neighbour"] = SampledSide(lambda calls: wall.seconds(lambda: program(*tensors), calls), last.call.ready)
    return replace(record, times=time_sides(sides, LIMIT_S, wall.name))
