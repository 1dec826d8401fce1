"""`python -m core aoti`: export a model, package it by AOTInductor, and run it without Python."""

from __future__ import annotations

import argparse
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec

from core.analysis import aoti_lines, aoti_sentence, aoti_story
from core.base.errors import StoreError
from core.commands.output import Commands, add_engine_option, add_json_option
from core.commands.run import Product, run_job
from core.job import CompileJob, Packaging, add_job_options, dims_from_text, job_of
from core.report import Report
from core.runs.progress import PACKAGE, package_files
from core.runs.store import Run

PARTS = ("exports", "range_trials", "packages", "package_runs", "package_times")


def add_command(commands: Commands) -> None:
    """Add the command `aoti`."""
    command = commands.add_parser("aoti", help="export a model, package it by AOTInductor, and run it without Python")
    command.set_defaults(function=lambda arguments: run_job(_job(arguments), arguments, PRODUCT.finish))
    add_job_options(command)
    add_engine_option(command)
    add = command.add_argument_group("AOTInductor").add_argument
    add("--out", metavar="DIR", help="write package, inputs, results, main.cpp and CMakeLists.txt there")
    add(
        *("--dim",),
        action="append",
        default=[],
        metavar="WHERE=MIN..MAX",
        help="a dynamic dimension and its range: batch=1..128, or 0.1=2.. for dimension 1 of argument 0; repeat",
    )
    add_json_option(command)


def _job(arguments: argparse.Namespace) -> CompileJob:
    job = job_of(arguments)
    dims = (*(job.aoti.dims if job.aoti else ()), *dims_from_text(arguments.dim))
    return replace(job, aoti=Packaging(dims))


def _text(report: Report) -> str:
    return "\n".join([aoti_sentence(report), *aoti_lines(report)])


def _data(report: Report) -> dict[str, Any]:
    return {"sentence": aoti_sentence(report)} | {name: msgspec.to_builtins(getattr(report, name)) for name in PARTS}


def _export(run: Run, report: Report, out: str) -> list[Path]:
    """Copy the files of a run's package to a directory; returns the paths of the copies. Raises StoreError."""
    files = package_files(run)
    if not any(path.name == PACKAGE for path in files):
        raise StoreError("there is no package to write")
    target = Path(out)
    target.mkdir(parents=True, exist_ok=True)
    for path in files:
        shutil.copyfile(path, target / path.name)
    return [target / path.name for path in files]


def _problem(report: Report) -> str:
    story = aoti_story(report)
    return aoti_sentence(report) if story is not None and story.problem else ""


PRODUCT = Product(_text, _data, _export, _problem)
