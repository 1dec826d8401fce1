"""The stage of a run that exports its model, packages it, and runs the package from Python and from C++.

Packaging of an exported program by `aoti_compile_and_package`, and the opened `.pt2` for the report.

Unchanged texts of a package in the log, and the source files next to the package for users who build it.
"""

from __future__ import annotations

import hashlib
import shutil
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
import torch._inductor
from torch._logging import trace_structured

from core.base.errors import ProgramError
from core.base.words import bytes_
from core.job import CompileJob
from core.report import Export, Package, PackagePart, PackageRun, SideTimes
from core.report.records.run import NoteRecord
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
    run_in_cpp,
    run_in_python,
    write_examples,
)
from core.worker.aoti.trials import RangeTrials
from core.worker.calls import Pair
from core.worker.load import Arguments, ModelCopy, seed
from core.worker.measuring.kernel_times import Copies
from core.worker.measuring.pairs import SampledSide, prepared_side, time_sides
from core.worker.measuring.stopwatches import WallClock
from core.worker.output import silence
from core.worker.record import emit, unrecorded

CLOCKS = "the wall clock in Python, std::chrono::steady_clock in C++"
EAGER_ALONE = "nothing of the package ran, so that there is nothing to time"
MOST_KEPT_BYTES = 2 * 1024**3
CUDAGRAPHS = "triton.cudagraphs"
README = "README.md"
MOST_TEXT_CHARS = 4_000_000
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

        `last` are the run's two prepared calls, for timing.
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
        sides = dict(zip(("eager", "compiled"), (prepared_side(call, wall) for call in last), strict=True))
        if python is not None:
            loaded, (args, kwargs) = python.loaded, _copied(exported_model.call)
            sides["python"] = SampledSide(
                lambda calls: wall.seconds(lambda: loaded(*args, **kwargs), calls), torch.no_grad
            )
        if process is not None:
            sides["c++"] = SampledSide(process.seconds)
        try:
            with silence():
                record = time_sides(sides, most_s, CLOCKS)
        except Exception as error:
            record = SideTimes(reason=words_of(error))
        emit(record if len(sides) > 2 else SideTimes(reason=EAGER_ALONE))

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
    """Compile and package an exported program in a directory.

    Errors of torch or the compiler are recorded.
    """
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
    """Return the job's Inductor options, or those of its mode, without CUDA graphs: a package can't contain them."""
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
