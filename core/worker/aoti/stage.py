"""The stage of a run that exports its model, packages it, and runs the package from Python and from C++."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch

from core.base.errors import ProgramError
from core.base.words import bytes_
from core.job import CompileJob
from core.report import Export, PackageRun, PackageTimes
from core.report.records.run import NoteRecord
from core.runs.packages import COMPILING, EXPORTING, FROM_CPP, FROM_PYTHON, PACKAGE, TIMING, TRYING
from core.worker.aoti.build import RunnerBuild
from core.worker.aoti.compiling import MOST_KEPT_BYTES, package_model
from core.worker.aoti.exporting import TRAINING, ExportedModel, as_module, export_model, words_of
from core.worker.aoti.program import PackageProgram
from core.worker.aoti.running import PythonRun, run_in_cpp, run_in_python, write_examples
from core.worker.aoti.texts import emit_text, emit_texts, write_sources
from core.worker.aoti.timing import PackageSide, time_sides
from core.worker.aoti.trials import RangeTrials
from core.worker.calls import Pair, PreparedCall
from core.worker.load import Arguments, ModelCopy
from core.worker.measuring.copies import Copies
from core.worker.measuring.stopwatches import WallClock
from core.worker.record import emit, unrecorded
from core.worker.rng import seed
from core.worker.streams import silence

CLOCKS = "the wall clock in Python, std::chrono::steady_clock in C++"
EAGER_ALONE = "nothing of the package ran, so that there is nothing to time"


class PackageStage:
    """Stage of a run that exports, packages, loads and runs the model, in a directory of its own."""

    def __init__(self, job: CompileJob, directory: Path, original: Path, path: Path) -> None:
        self._job, self._directory = job, directory
        self._original, self._path = original, path
        self._eager: Any = None

    def run(self, last: Pair | None, most_s: float, enter: Callable[[str], None]) -> None:
        """All of it, each step told as soon as it is done; `last` are the run's own sides, ready to be timed."""
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
                enter(TIMING)
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
        """Return the eager results of the model before its repairs; keeps the model for the trials."""
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
        sides = dict(zip(("eager", "compiled"), (_prepared(call, self._job.device) for call in last), strict=True))
        wall = WallClock(self._job.device)
        if python is not None:
            loaded, (args, kwargs) = python.loaded, _copied(exported_model.call)
            sides["python"] = PackageSide(
                lambda calls: wall.seconds(lambda: loaded(*args, **kwargs), calls), torch.no_grad
            )
        if process is not None:
            sides["c++"] = PackageSide(process.seconds)
        try:
            with silence():
                record = time_sides(sides, most_s, CLOCKS)
        except Exception as error:
            record = PackageTimes(reason=words_of(error))
        emit(record if len(sides) > 2 else PackageTimes(reason=EAGER_ALONE))

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
        """Let go of a package that is too large to be kept with the run."""
        path = self._directory / PACKAGE
        if path.stat().st_size > MOST_KEPT_BYTES:
            path.unlink()
            emit(NoteRecord(text=f"The package was larger than {bytes_(MOST_KEPT_BYTES)} and was not kept."))


def _prepared(call: PreparedCall, device: str) -> PackageSide:
    wall = WallClock(device)
    return PackageSide(lambda calls: wall.seconds(call, calls), call.ready)


def _last_call(model_copy: ModelCopy, job: CompileJob) -> Arguments:
    """The inputs of the run's last call, made as the run makes them."""
    last: Arguments = ((), {})
    seed(job.seed)
    for index, call in enumerate(model_copy.calls()):
        last = call
        seed(job.seed + index + 1)
    return last


def _copied(call: Arguments) -> Arguments:
    """The same inputs on memory of their own, since a package may write into them."""
    copied: Arguments = Copies(call).values
    return copied
