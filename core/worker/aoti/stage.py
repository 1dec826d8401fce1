"""AOTInductor stage of a run: export, package, calls from Python and C++, and trials of size limits.

`package_model` calls `aoti_compile_and_package`. The log gets the texts of the `.pt2` unchanged. The C++
program's source files lie next to the package for users who build the program.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
import torch._inductor
from torch._logging import trace_structured

from core.base.errors import JobError, ProgramError
from core.base.words import bytes_, limit_s
from core.job import CompileJob
from core.report import Export, ExportedDim, Package, PackagePart, PackageRun, PackageTimes, RangeTrial
from core.report.records.compilation import NoteRecord
from core.runs.progress import (
    COMPILING,
    EXPECTED,
    EXPORTING,
    FROM_CPP,
    FROM_PYTHON,
    INPUTS,
    PACKAGE,
    PACKAGE_TIMING,
    TRYING,
)
from core.worker.aoti.exporting import (
    TRAINING,
    Archive,
    ArchiveText,
    ExportedModel,
    as_module,
    export_model,
    open_archive,
    words_of,
)
from core.worker.aoti.running import (
    CMAKE,
    NAME,
    SOURCE,
    PackageProgram,
    PythonRun,
    RunnerBuild,
    flat_differences,
    read_tensors,
    run_in_cpp,
    run_in_python,
    settings,
    tensors_of,
    write_examples,
    write_tensors,
)
from core.worker.calls import Pair
from core.worker.conditions import resized
from core.worker.load import Arguments, ModelCopy, described, seed
from core.worker.measuring.instruments import WallClock
from core.worker.measuring.kernel_times import Copies
from core.worker.measuring.pairs import TimedSide, time_sides, timed_side
from core.worker.record import emit, field_values, silence, unrecorded
from core.worker.results.compare import compare
from core.worker.results.named import leaves

CLOCKS = "the wall clock in Python, std::chrono::steady_clock in C++"
EAGER_ALONE = "nothing of the package ran, so that there is nothing to time"
MOST_KEPT_BYTES = 2 * 1024**3  #: limit: a package stored with its run
CUDAGRAPHS = "triton.cudagraphs"
README = "README.md"
MOST_TEXT_CHARS = 4_000_000  #: a text of a package in the log
WORDS = f"""# A package of AOTInductor, run without Python

`{{package}}` was made by `torch._inductor.aoti_compile_and_package` with torch {{torch}} for {{device}}. Build the
program that runs it, and run it:

    cmake -B build -DCMAKE_PREFIX_PATH="$(python -c 'import torch; print(torch.utils.cmake_prefix_path)')"
    cmake --build build
    ./build/{NAME} {{package}} {INPUTS} --expect {EXPECTED} --bench 100{{more}}

`{INPUTS}` holds the inputs of a call and `{EXPECTED}` what the model returned in Python; the first lines of `main.cpp`
say how. `--out FILE` writes what the package returns. With `AOTI_RUNTIME_CHECK_INPUTS=1` in the environment the package
checks the sizes of what it is given.
"""


class PackageStage:
    """Stage of a run that exports, packages, loads and runs the model, in a separate directory."""

    def __init__(self, job: CompileJob, directory: Path, original: Path, path: Path) -> None:
        self._job, self._directory = job, directory
        self._original, self._path = original, path
        self._eager: Any = None

    def run(self, last: Pair | None, most_s: float, enter: Callable[[str], None]) -> None:
        """Do all steps, and record each as soon as it is done.

        `last` is the run's prepared pair of calls, for timing; None without one. Timing takes at most about
        `most_s` seconds. `enter` is called with the name of each step.
        """
        if self._job.training:
            emit(Export(call="torch.export.export(model, args)", seconds=0.0, problem=TRAINING))
            return
        enter(EXPORTING)
        exported_model = self._export()
        if exported_model is None:
            return
        enter(COMPILING)
        if not self._compile(exported_model):
            return
        enter(FROM_PYTHON)
        expected = self._expected(exported_model.call)
        python = self._in_python(exported_model, expected)
        enter(FROM_CPP)
        with self._in_cpp(exported_model, expected, python) as (program, process):
            if self._job.measure and last is not None:
                enter(PACKAGE_TIMING)
                self._time(exported_model, last, python, process, most_s)
        if python is not None and exported_model.dims:
            enter(TRYING)
            self._try(exported_model, python, program)
        self._bound()

    def _export(self) -> ExportedModel | None:
        model_copy = ModelCopy(self._path, self._job, "compileboard_exported")
        call = _last_call(model_copy, self._job)
        with silence(), unrecorded(), torch.no_grad():
            exported_model, record = export_model(self._job, model_copy.model, call, self._path)
        emit(record)
        if exported_model is not None:
            emit_text("graph", "exported program", "python", exported_model.graph)
        return exported_model

    def _compile(self, exported_model: ExportedModel) -> bool:
        self._directory.mkdir(exist_ok=True)
        with silence(), unrecorded():
            archive, record = package_model(self._job, exported_model, self._directory)
        emit(record)
        if archive is not None:
            emit_texts(archive.texts)
            write_sources(self._directory, torch.__version__, self._job.device)
        return archive is not None

    def _expected(self, call: Arguments) -> Any:
        """Return the eager results of the model before its fixes; keeps the model for the trials."""
        self._eager = as_module(ModelCopy(self._original, self._job, "compileboard_package_eager").model)
        return self._eagerly(_copied(call))

    def _eagerly(self, call: Arguments) -> Any:
        seed(self._job.seed)
        with torch.no_grad():
            return self._eager(*call[0], **call[1])

    def _in_python(self, exported_model: ExportedModel, expected: Any) -> PythonRun | None:
        seed(self._job.seed)
        with silence():
            run, record = run_in_python(
                self._directory / PACKAGE, _copied(exported_model.call), expected, self._job.device
            )
        emit(record)
        return run

    @contextmanager
    def _in_cpp(
        self, exported_model: ExportedModel, expected: Any, python: PythonRun | None
    ) -> Iterator[tuple[RunnerBuild | None, PackageProgram | None]]:
        try:
            write_examples(self._directory, exported_model.call, expected)
        except ProgramError as error:
            emit(PackageRun(user="c++", stage="call", problem=str(error)))
            yield None, None
            return
        with run_in_cpp(self._directory / PACKAGE, expected, python, self._job.device) as (program, process, record):
            emit(record)
            yield program, process

    def _time(
        self,
        exported_model: ExportedModel,
        last: Pair,
        python: PythonRun | None,
        process: PackageProgram | None,
        most_s: float,
    ) -> None:
        wall = WallClock(self._job.device)
        sides = {
            side: timed_side(call, wall, call.ready) for side, call in zip(("eager", "compiled"), last, strict=True)
        }
        if python is not None:
            loaded, (args, kwargs) = python.loaded, _copied(exported_model.call)
            sides["python"] = timed_side(lambda: loaded(*args, **kwargs), wall, torch.no_grad)
        if process is not None:
            sides["c++"] = TimedSide(process.seconds)
        if len(sides) == 2:
            emit(PackageTimes(reason=EAGER_ALONE))
            return
        try:
            with silence():
                times = time_sides(sides, most_s, CLOCKS)
            emit(PackageTimes(**field_values(times)))
        except Exception as error:
            emit(PackageTimes(reason=words_of(error)))

    def _try(self, exported_model: ExportedModel, python: PythonRun, program: RunnerBuild | None) -> None:
        trials = RangeTrials(
            self._eagerly,
            exported_model,
            python.loaded,
            program,
            self._directory / PACKAGE,
            self._job.device,
            self._job.seed,
        )
        for record in trials.records():
            emit(record)

    def _bound(self) -> None:
        """Delete a package that is too large to keep with the run."""
        path = self._directory / PACKAGE
        if path.stat().st_size > MOST_KEPT_BYTES:
            path.unlink()
            emit(NoteRecord(text=f"The package was larger than {bytes_(MOST_KEPT_BYTES)} and was not kept."))


def _last_call(model_copy: ModelCopy, job: CompileJob) -> Arguments:
    """Return the inputs of the run's last call, created as in the run."""
    last: Arguments = ((), {})
    seed(job.seed)
    for index, call in enumerate(model_copy.calls()):
        last = call
        seed(job.seed + index + 1)
    return last


def _copied(call: Arguments) -> Arguments:
    """Return copies of the inputs, since a package may write into them."""
    copied: Arguments = Copies(call).values
    return copied


def package_model(job: CompileJob, exported: ExportedModel, directory: Path) -> tuple[Archive | None, Package]:
    """Compile and package an exported program in a directory, or record the error."""
    start = time.perf_counter()
    path = directory / PACKAGE
    try:
        torch._inductor.aoti_compile_and_package(
            exported.program, package_path=str(path), inductor_configs=inductor_configs(job)
        )
        seconds = time.perf_counter() - start
        archive = open_archive(path)
    except ProgramError as error:
        return None, Package(seconds=time.perf_counter() - start, problem=str(error))
    except Exception as error:
        return None, Package(seconds=time.perf_counter() - start, problem=words_of(error))
    constants = (*exported.program.state_dict, *exported.program.constants)
    return archive, Package(
        seconds=seconds,
        file=PACKAGE,
        bytes=path.stat().st_size,
        sha256=_digest(path),
        files=archive.files,
        left_out=archive.left_out,
        metadata=archive.metadata,
        constants=len(constants),
    )


def inductor_configs(job: CompileJob) -> dict[str, Any]:
    """Return Inductor's options of the job or its mode, without CUDA graphs, which no package has."""
    options = job.compile
    if options.backend != "inductor":
        return {}
    configs = options.options or (torch._inductor.list_mode_options(options.mode) if options.mode else {})
    return {name: value for name, value in configs.items() if name != CUDAGRAPHS}


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def emit_text(part: PackagePart, title: str, language: str, text: str) -> None:
    """Write a text into the log; a text that is too long is left out."""
    if len(text) <= MOST_TEXT_CHARS:
        trace_structured(
            "artifact",
            metadata_fn=lambda: {
                "name": "aoti_text",
                "encoding": "string",
                "part": part,
                "title": title,
                "language": language,
            },
            payload_fn=lambda: text,
            suppress_context=True,
            expect_trace_id=False,
        )


def emit_texts(texts: Iterable[ArchiveText]) -> None:
    """Emit the texts of a package's files."""
    for text in texts:
        emit_text("file", text.name, text.language, text.text)


def write_sources(directory: Path, torch: str, device: str) -> None:
    """Write the program's sources and build instructions next to the package and into the log."""
    for path, language in ((SOURCE, "cpp"), (CMAKE, "cmake")):
        shutil.copyfile(path, directory / path.name)
        emit_text("runner", path.name, language, path.read_text(encoding="utf-8"))
    more = "" if device == "cpu" else f" --device {device}"
    words = WORDS.format(package=PACKAGE, torch=torch, device=device, more=more)
    (directory / README).write_text(words, encoding="utf-8")
    emit_text("runner", README, "markdown", words)


MOST_TRIALS = 24  #: limit: sizes tried for dynamic dimensions
MOST_TRIED_BYTES = 256 * 1024**2  #: limit: inputs of a call that tries a size
MOST_SAID_CHARS = 1_000  #: the result or error of such a call
TRIAL_LIMIT_S = 60.0
CHECKS = "AOTI_RUNTIME_CHECK_INPUTS"
AROUND = ("API call failed at", "Exception raised from ", "frame #")
TRIED, RETURNED = "trial.bin", "trial-outputs.bin"
NO_PROGRAM = "outside of its range the package is called in a process of its own, and the program for that is not built"


@dataclass(frozen=True, slots=True)
class RangeTrials:
    """Trials of sizes on the eager model, the exported program, and the package in Python and in C++."""

    eager: Callable[[Arguments], Any]
    exported: ExportedModel
    python: Callable[..., Any]
    program: RunnerBuild | None
    package: Path
    device: str
    seed: int

    def records(self) -> Iterator[RangeTrial]:
        """Yield a record for each size, up to `MOST_TRIALS`."""
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
        """Run the package in separate processes, which may crash; return the updated trial."""
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
        """Return the program's error message; empty for exit code 0."""
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
