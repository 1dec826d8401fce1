"""The package called from Python and from C++, and what both return held against the model's own."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
import torch._inductor

from core.base.errors import ProgramError
from core.report import PackageRun
from core.runs.packages import EXPECTED, INPUTS
from core.worker.aoti.build import RunnerBuild, build_runner
from core.worker.aoti.exporting import words_of
from core.worker.aoti.program import PackageProgram, running
from core.worker.aoti.same import bits_equal, flat_differences, tensors_of
from core.worker.aoti.tensors import read_tensors, write_tensors
from core.worker.load import Arguments
from core.worker.measuring.stopwatches import synchronize
from core.worker.results.compare import compare
from core.worker.results.named import leaves

OUTPUTS = "outputs.bin"


@dataclass(frozen=True, slots=True)
class PythonRun:
    """The loaded package, and what its first call returned."""

    loaded: Callable[..., Any]
    outputs: Any


def run_in_python(package: Path, call: Arguments, expected: Any, device: str) -> tuple[PythonRun | None, PackageRun]:
    """Load the package and call it once; what torch refuses is told."""
    stage, start = "load", time.perf_counter()
    try:
        loaded = torch._inductor.aoti_load_package(str(package))
        load_s = time.perf_counter() - start
        stage, start = "call", time.perf_counter()
        with torch.no_grad():
            outputs = loaded(*call[0], **call[1])
        synchronize(device)
        call_s = time.perf_counter() - start
    except Exception as error:
        return None, PackageRun(user="python", stage=stage, problem=words_of(error))
    differences = compare(leaves("output", expected), leaves("output", outputs))
    record = PackageRun(
        user="python", load_s=load_s, call_s=call_s, differences=tuple(differences), threads=torch.get_num_threads()
    )
    return PythonRun(loaded, outputs), record


def write_examples(directory: Path, call: Arguments, expected: Any) -> None:
    """The inputs of a call and what the model itself returns, as files for C++; raises ProgramError."""
    write_tensors(directory / INPUTS, tensors_of(call))
    write_tensors(directory / EXPECTED, tensors_of(expected))


@contextmanager
def run_in_cpp(
    package: Path, expected: Any, python: PythonRun | None, device: str
) -> Iterator[tuple[RunnerBuild | None, PackageProgram | None, PackageRun]]:
    """Build the program, and let it load and call the package; it goes on while this context does."""
    try:
        build = build_runner()
    except ProgramError as error:
        yield None, None, PackageRun(user="c++", stage="build", problem=str(error))
        return
    record = PackageRun(user="c++", compiler=build.compiler, command=build.command, build_s=build.seconds)
    command = [str(build.path), package.name, INPUTS, "--out", OUTPUTS, "--serve", *settings(device)]
    with ExitStack() as stack:
        try:
            process = stack.enter_context(running(command, package.parent))
        except ProgramError as error:
            yield build, None, replace(record, stage="load", problem=str(error))
            return
        yield build, process, _run_record(record, process, package.parent / OUTPUTS, expected, python)
    (package.parent / OUTPUTS).unlink(missing_ok=True)


def settings(device: str) -> list[str]:
    """Return the arguments for as many threads as torch has here, and the job's device."""
    return ["--threads", str(torch.get_num_threads()), "--device", device]


def _run_record(
    record: PackageRun, process: PackageProgram, path: Path, expected: Any, python: PythonRun | None
) -> PackageRun:
    """Return the record of the program's report and results."""
    report = process.start_report
    record = replace(
        record, load_s=report.load_s, call_s=report.call_s, threads=report.threads, output=process.printed()
    )
    try:
        outputs = read_tensors(path)
    except ProgramError as error:
        return replace(record, stage="call", problem=str(error))
    same_bits = None if python is None else bits_equal(tensors_of(python.outputs), outputs)
    return replace(record, differences=flat_differences(expected, outputs), same_bits=same_bits)
