"""Alternative torch.compile configuration, timed alternately with the run's own in one process.

The difference may be smaller than that between two processes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec

from core.job import CompileJob, CompileOptions
from core.report import Call, Rival
from core.worker.calls import PreparedCall, make_calls
from core.worker.compiling import compiled_by
from core.worker.load import ModelCopy
from core.worker.measuring.pairs import TimedSide, time_interleaved
from core.worker.record import unrecorded
from core.worker.streams import silence

MAX_REASON_CHARS = 2_000
REFUSED = "its stance refused the last call"


def measure_alternative(
    job: CompileJob, paths: tuple[Path, Path], own: PreparedCall, most_s: float, enter: Callable[[str], None]
) -> Rival:
    """Compile, call and time the rival of a job; `paths` are the files of eager and compiled models.

    What goes wrong is told, not raised.
    """
    assert job.rival is not None
    instead = _instead(job, job.rival)
    options = msgspec.to_builtins(instead.compile)
    enter("compiling the rival")
    calls: list[Call] = []
    try:
        with silence(), unrecorded():
            other = _made(instead, paths, calls)
        enter("measuring the rival")
        with silence(), unrecorded():
            return _timed(job.device, options, own, other, tuple(calls), most_s)
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"[:MAX_REASON_CHARS]
        return Rival(options=options, calls=tuple(calls), reason=reason)


def _instead(job: CompileJob, rival: CompileOptions) -> CompileJob:
    """The job with the rival's options; one that names the job's own backend means the same code."""
    same = rival.backend == job.compile.backend and not rival.backend_code
    code = job.compile.backend_code if same else rival.backend_code
    return replace(job, compile=replace(rival, backend_code=code), rival=None)


def _made(job: CompileJob, paths: tuple[Path, Path], calls: list[Call]) -> PreparedCall | None:
    """The rival's last call, ready to be made again, after all calls of the job."""
    eager = ModelCopy(paths[0], job, "compileboard_rival_eager")
    model = ModelCopy(paths[1], job, "compileboard_rival")
    function = compiled_by(job, model)
    # Dynamo numbered frames that are not in the log.
    last = make_calls(
        job,
        paths[0],
        eager,
        model,
        function,
        lambda _: None,
        lambda call: calls.append(replace(call, entered=None, newest=())),
    )
    return last[1] if last else None


def _timed(
    device: str,
    options: dict[str, Any],
    run_call: PreparedCall,
    alternative_call: PreparedCall | None,
    calls: tuple[Call, ...],
    most_s: float,
) -> Rival:
    if alternative_call is None:
        return Rival(options=options, calls=calls, reason=REFUSED)
    samples = time_interleaved(
        TimedSide(run_call, run_call.ready), TimedSide(alternative_call, alternative_call.ready), device, most_s
    )
    return Rival(
        options=options,
        calls=calls,
        compiled_s=tuple(samples.left_s),
        rival_s=tuple(samples.right_s),
        warm_up=samples.warm_up,
        calls_per_sample=samples.calls,
        stopped=samples.stopped,
        spent_s=samples.spent_s,
        load=samples.load,
        threads=samples.threads,
        clock=samples.clock,
    )
