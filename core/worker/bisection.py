"""Bisection of a run that fails or differs: torch's CompilerBisector over the same calls, compiled again each time."""

from __future__ import annotations

import gc
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from torch._inductor.compiler_bisector import BACKENDS, BisectionResult, CompilerBisector, ConfigChange

from core.base.errors import JobError
from core.job import CompileJob, Conditions
from core.report import Bisection, Call, Difference
from core.worker.backends.selection import compiler_of
from core.worker.calls import make_calls
from core.worker.compiling import INDUCTOR, compiled_side, is_compiled
from core.worker.conditions import lookups
from core.worker.frames import first_line
from core.worker.load import ModelCopy
from core.worker.minify import GraphTrial, OutOfTimeError, first_nan, minified
from core.worker.numerics.nodes import ITS_OWN, captured_graphs, quiet_compilation
from core.worker.streams import silence

OTHER_BACKEND = "torch's CompilerBisector replaces the backend, so it bisects runs with the backend inductor alone"
NOT_REPRODUCED = "compiled once more, the model neither fails nor differs"
OUT_OF_TIME = "the run's time limit was near"
MAX_WHAT_CHARS = 2_000


class ComparedCompilation:
    """A compilation of the model and its calls, with fresh model copies; True if all results equal eager's."""

    def __init__(self, job: CompileJob, original: Path, path: Path, until_s: float) -> None:
        self._job = replace(job, numerics="", measure=False)
        self._original, self._path, self._until_s = original, path, until_s
        self.count = 0

    def __call__(self) -> bool:
        if time.monotonic() > self._until_s:
            raise OutOfTimeError
        self.count += 1
        torch.compiler.reset()
        try:
            return not any(
                difference.same is False and difference.kind != "strides" for difference in self._differences()
            )
        except JobError:
            raise
        except Exception:
            return False

    def _differences(self) -> Iterator[Difference]:
        eager = ModelCopy(self._original, self._job, "compileboard_eager")
        compiled = ModelCopy(self._path, self._job, "compileboard_model")
        calls: list[Call] = []
        function = compiled_side(self._job, compiled)
        make_calls(self._job, self._original, eager, compiled, function, lambda _: None, calls.append)
        return (difference for call in calls for difference in call.differences)


def bisection(job: CompileJob, original: Path, path: Path, until_s: float) -> Bisection:
    """Return the part of torch.compile without which the model neither fails nor differs; ends before `until_s`."""
    begin = time.monotonic()
    trial = ComparedCompilation(job, original, path, until_s)
    other = job.compile.backend != INDUCTOR
    found = Bisection(problem=OTHER_BACKEND) if other else _bisected(trial)
    found = replace(found, trials=trial.count, seconds=time.monotonic() - begin)
    return replace(found, **_of_graphs(job, path, until_s))


def _of_graphs(job: CompileJob, path: Path, until_s: float) -> dict[str, Any]:
    """Return the fields that come from Dynamo's graphs, captured again: the minified script, and the first NaN."""
    try:
        with quiet_compilation(), silence(), lookups(Conditions()):
            twin = ModelCopy(path, job, "compileboard_minified")
            if is_compiled(twin.model):
                return {"not_minified": ITS_OWN}
            graphs = captured_graphs(job, twin)
            nan_node, nan_line = first_nan(graphs)
            trial = GraphTrial(job, compiler_of(job, twin), until_s)
            return {"nan_node": nan_node, "nan_line": nan_line, **minified(trial, graphs, path.read_text("utf-8"))}
    except Exception as error:
        return {"not_minified": first_line(error)}


def _bisected(trial: ComparedCompilation) -> Bisection:
    try:
        # A graph from torch's caches would hide the compilation.
        with quiet_compilation(), silence(), lookups(Conditions()):
            if trial():
                return Bisection(problem=NOT_REPRODUCED)
            result = CompilerBisector.do_bisect(trial)
    except OutOfTimeError:
        return Bisection(problem=OUT_OF_TIME)
    except Exception as error:
        return Bisection(problem=f"{type(error).__name__}: {error}"[:MAX_WHAT_CHARS])
    finally:
        _end_bisection()
    return Bisection() if result is None else _reported(result)


def _end_bisection() -> None:
    """End torch's bisection, which replaces every backend: torch does so when a frame is freed, and an error's
    traceback may hold that frame.
    """
    gc.collect()
    if CompilerBisector.bisection_enabled:
        CompilerBisector.delete_bisect_status()
        CompilerBisector.bisection_enabled = False


def _reported(result: BisectionResult) -> Bisection:
    parts = {part.name: part for part in BACKENDS.get(result.backend, ())}
    part = parts.get(result.subsystem or "")
    if isinstance(part, ConfigChange):
        setting = f"torch._inductor.config.{part.config_field} = {part.config_value!r}"
        return Bisection(backend=result.backend, subsystem=part.name, what=setting)
    return Bisection(
        backend=result.backend,
        subsystem=result.subsystem or "",
        application=result.bisect_number,
        what=(result.debug_info or "")[:MAX_WHAT_CHARS],
    )
