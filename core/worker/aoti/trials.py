"""Trial calls with sizes at the ends of the dynamic dimensions' ranges and just outside: results and errors."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch

from core.base.errors import JobError, ProgramError
from core.base.words import bytes_, limit_s
from core.report import ExportedDim, RangeTrial
from core.worker.aoti.exporting import ExportedModel, words_of
from core.worker.aoti.running import RunnerBuild, flat_differences, read_tensors, settings, tensors_of, write_tensors
from core.worker.conditions import resized
from core.worker.load import Arguments, described
from core.worker.results.compare import compare
from core.worker.results.named import leaves

MOST_TRIALS = 24
MOST_TRIED_BYTES = 256 * 1024**2
MOST_SAID_CHARS = 1_000
TRIAL_LIMIT_S = 60.0
CHECKS = "AOTI_RUNTIME_CHECK_INPUTS"
AROUND = ("API call failed at", "Exception raised from ", "frame #")
TRIED, RETURNED = "trial.bin", "trial-outputs.bin"
NO_PROGRAM = "outside of its range the package is called in a process of its own, and the program for that is not built"


@dataclass(frozen=True, slots=True)
class RangeTrials:
    """Inputs of the trials: the eager model, the exported program, and the package in Python and in C++."""

    eager: Callable[[Arguments], Any]
    exported: ExportedModel
    python: Callable[..., Any]
    program: RunnerBuild | None
    package: Path
    device: str
    seed: int

    def records(self) -> Iterator[RangeTrial]:
        """Yield a record for each size."""
        checking = self.exported.program.module()
        tried = [(dim, size) for dim in self.exported.dims for size in sizes_of(dim)]
        for dim, size in tried[:MOST_TRIALS]:
            inside = (dim.least is None or size >= dim.least) and (dim.most is None or size <= dim.most)
            yield self._trial(dim, size, inside, checking)

    def _trial(self, dim: ExportedDim, size: int, inside: bool, checking: Callable[..., Any]) -> RangeTrial:
        trial = RangeTrial(dim=dim.name, size=size, inside=inside)
        example = self.exported.call
        example_bytes = sum(leaf.numel() * leaf.element_size() for leaf in tensors_of(example))
        if example_bytes / max(dim.size, 1) * size > MOST_TRIED_BYTES:
            return replace(trial, skipped=f"not tried: its inputs would take more than {bytes_(MOST_TRIED_BYTES)}")
        try:
            call = resized(example, dict.fromkeys(dim.at, size), self.seed)
        except (JobError, RuntimeError) as error:
            return replace(trial, skipped=f"not tried: {error}")
        expected = _tried_call(lambda: self.eager(call))
        program = _tried_call(lambda: checking(*call[0], **call[1]))
        same = self._same(expected, program)
        trial = replace(trial, inputs=described(call), program=program.problem, program_same=same)
        if inside:
            package = _tried_call(lambda: self.python(*call[0], **call[1]))
            trial = replace(trial, package=package.problem, package_same=self._same(expected, package))
        if self.program is None:
            return trial if inside else replace(trial, skipped=NO_PROGRAM)
        return self._separate_trial(self.program, trial, call, expected)

    def _separate_trial(
        self, program: RunnerBuild, trial: RangeTrial, call: Arguments, expected: TriedCall
    ) -> RangeTrial:
        """Return the package's result in a separate process, since an unexpected size may crash it."""
        directory = self.package.parent
        try:
            write_tensors(directory / TRIED, tensors_of(call))
            if not trial.inside:
                message = self._run_program(program, {})
                same = None if message or expected.problem or self.exported.mutates else self._equal(expected.value)
                trial = replace(trial, package=message, package_same=same)
            return replace(trial, checked=self._run_program(program, {CHECKS: "1"}))
        except ProgramError as error:
            return replace(trial, skipped=str(error))
        finally:
            for name in (TRIED, RETURNED):
                (directory / name).unlink(missing_ok=True)

    def _run_program(self, program: RunnerBuild, more: dict[str, str]) -> str:
        """Return the program's error message; empty if it ran."""
        command = [str(program.path), self.package.name, TRIED, "--out", RETURNED, *settings(self.device)]
        try:
            done = subprocess.run(
                command,
                cwd=self.package.parent,
                env={**os.environ, **more},
                capture_output=True,
                text=True,
                errors="replace",
                check=False,
                timeout=TRIAL_LIMIT_S,
            )
        except subprocess.TimeoutExpired:
            return f"it did not end within {limit_s(TRIAL_LIMIT_S)}"
        if done.returncode == 0:
            return ""
        how = f"signal {-done.returncode}" if done.returncode < 0 else f"exit code {done.returncode}"
        return reason_in(done.stderr) or f"it ended by {how}"

    def _equal(self, expected: Any) -> bool:
        outputs = read_tensors(self.package.parent / RETURNED)
        return all(difference.same for difference in flat_differences(expected, outputs))

    def _same(self, expected: TriedCall, actual: TriedCall) -> bool | None:
        if expected.problem or actual.problem or self.exported.mutates:
            return None
        differences = compare(leaves("output", expected.value), leaves("output", actual.value))
        return all(difference.same for difference in differences)


@dataclass(frozen=True, slots=True)
class TriedCall:
    """Result of a call, or the error it raised."""

    value: Any = None
    problem: str = ""


def sizes_of(dim: ExportedDim) -> tuple[int, ...]:
    """Return both ends of a range and the sizes just outside it, without the example's size."""
    ends = [(dim.least, -1), (dim.most, 1)]
    sizes = [size for end, step in ends if end is not None for size in (end, end + step)]
    return tuple(sorted({size for size in sizes if size >= 0 and size != dim.size}))


def _tried_call(call: Callable[[], Any]) -> TriedCall:
    try:
        with torch.no_grad():
            return TriedCall(call())
    except Exception as error:
        return TriedCall(problem=words_of(error)[:MOST_SAID_CHARS])


def reason_in(text: str) -> str:
    """Return torch's reason from C++ output, without the failed call and the stack around it."""
    lines = [line.strip().removeprefix("Error: ") for line in text.splitlines()]
    return next((line for line in lines if line and not any(part in line for part in AROUND)), "")[:MOST_SAID_CHARS]
