"""Files of a model's AOTInductor package, and the steps of building it."""

from __future__ import annotations

from pathlib import Path

from core.base.files import regular
from core.job import CompileJob
from core.runs.store import Run

DIRECTORY = "aoti"
PACKAGE = "model.pt2"
INPUTS, EXPECTED = "inputs.bin", "expected.bin"
SOURCES = ("main.cpp", "CMakeLists.txt", "README.md")
# The steps of a run, in order.
EXPORTING, COMPILING = "exporting the model", "compiling the package"
FROM_PYTHON, FROM_CPP = "running the package from Python", "running the package from C++"
TIMING, TRYING = "timing the package", "trying sizes"


def aoti_steps(job: CompileJob) -> tuple[str, ...]:
    """Return the steps that a job requests; none if it requests no package, or trains."""
    if job.aoti is None or job.training:
        return ()
    timing = (TIMING,) if job.measure else ()
    trying = (TRYING,) if job.aoti.dims or job.marks else ()
    return (EXPORTING, COMPILING, FROM_PYTHON, FROM_CPP, *timing, *trying)


def package_files(run: Run) -> tuple[Path, ...]:
    """Return the stored files of a run's package: package, inputs and results of a call, and the runner's sources."""
    names = (PACKAGE, INPUTS, EXPECTED, *SOURCES)
    return tuple(path for name in names if regular(path := run.path / DIRECTORY / name))
