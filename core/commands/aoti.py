"""A model's package by AOTInductor: which files of it are kept with a run, and `python -m core aoti`."""

from __future__ import annotations

import argparse
import json
import shutil
from dataclasses import replace
from pathlib import Path

import msgspec

from core.analysis import aoti_lines, aoti_sentence, aoti_story
from core.base.errors import StoreError
from core.base.files import regular
from core.job import CompileJob, Packaging, add_job_options, dims_from_text, job_of
from core.report import Report
from core.runs.store import Run

DIRECTORY = "aoti"
PACKAGE = "model.pt2"
INPUTS, EXPECTED = "inputs.bin", "expected.bin"
SOURCES = ("main.cpp", "CMakeLists.txt", "README.md")
# What a run does, step by step.
EXPORTING, COMPILING = "exporting the model", "compiling the package"
FROM_PYTHON, FROM_CPP = "running the package from Python", "running the package from C++"
TIMING, TRYING = "timing the package", "trying sizes"


def aoti_steps(job: CompileJob) -> tuple[str, ...]:
    """The steps that a job asks for, none where it asks for no package, or for a training step's."""
    if job.aoti is None or job.training:
        return ()
    timing = (TIMING,) if job.measure else ()
    trying = (TRYING,) if job.aoti.dims or job.marks else ()
    return (EXPORTING, COMPILING, FROM_PYTHON, FROM_CPP, *timing, *trying)


def package_files(run: Run) -> tuple[Path, ...]:
    """What is kept of a run's package: itself, inputs and results of a call, and the sources of what runs it."""
    names = (PACKAGE, INPUTS, EXPECTED, *SOURCES)
    return tuple(path for name in names if regular(path := run.path / DIRECTORY / name))


def add_aoti_options(parser: argparse.ArgumentParser) -> None:
    """Give the command its options, and those of a run."""
    add_job_options(parser)
    add = parser.add_argument_group("AOTInductor").add_argument
    add("--out", metavar="DIR", help="write package, inputs, results, main.cpp and CMakeLists.txt there")
    add(
        *("--dim",),
        action="append",
        default=[],
        metavar="WHERE=MIN..MAX",
        help="a dynamic dimension and its range: batch=1..128, or 0.1=2.. for dimension 1 of argument 0; repeat",
    )


def aoti_job(arguments: argparse.Namespace) -> CompileJob:
    """The job of the command; raises JobError."""
    job = job_of(arguments)
    dims = (*(job.aoti.dims if job.aoti else ()), *dims_from_text(arguments.dim))
    return replace(job, aoti=Packaging(dims))


def told(report: Report) -> str:
    """What was made of the model, as text."""
    return "\n".join([aoti_sentence(report), *aoti_lines(report)])


def as_json(report: Report) -> str:
    """The same as JSON."""
    parts = ("exports", "range_trials", "packages", "package_runs", "package_times")
    found = {name: msgspec.to_builtins(getattr(report, name)) for name in parts}
    return json.dumps({"sentence": aoti_sentence(report), **found}, indent=2)


def export(run: Run, report: Report, out: str) -> list[Path]:
    """Copy what is kept of a run's package to a directory; returns what was written. Raises StoreError."""
    files = package_files(run)
    if not any(path.name == PACKAGE for path in files):
        raise StoreError("there is no package to write")
    target = Path(out)
    target.mkdir(parents=True, exist_ok=True)
    for path in files:
        shutil.copyfile(path, target / path.name)
    return [target / path.name for path in files]


def went_wrong(report: Report) -> str:
    """What the command ends with an error for; empty where the package was made and ran."""
    story = aoti_story(report)
    return aoti_sentence(report) if story is not None and story.problem else ""
