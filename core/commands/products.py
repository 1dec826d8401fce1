"""`python -m core aoti` and `pipeline`: a model as an AOTInductor package or accelerator programs."""

import argparse
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec

from core.accelerator.program.program import PROGRAMS
from core.analysis.aoti import aoti_story
from core.analysis.pipeline import pipelines
from core.base.errors import JobError, StoreError
from core.commands.run import Product, run_job
from core.job import CompileJob, Packaging, dims_from_text, job_of
from core.report import Report
from core.runs.progress import PACKAGE, package_files
from core.runs.store import Run
from core.views.accelerator.program import pipeline_lines, pipeline_sentence
from core.views.aotinductor.run import aoti_lines, aoti_sentence

PARTS = ("exports", "range_trials", "packages", "package_runs", "package_times")


def add_aoti_command(command: argparse.ArgumentParser) -> None:
    add = command.add_argument_group("AOTInductor").add_argument
    add("--out", metavar="DIR", help="write package, inputs, results, main.cpp and CMakeLists.txt there")
    add(
        *("--dim",),
        action="append",
        default=[],
        metavar="WHERE=MIN..MAX",
        help="a dynamic dimension and its range: batch=1..128, or 0.1=2.. for dimension 1 of argument 0; repeat",
    )


def _package_job(arguments: argparse.Namespace) -> CompileJob:
    job = job_of(arguments)
    dims = (*(job.aoti.dims if job.aoti else ()), *dims_from_text(arguments.dim))
    return replace(job, aoti=Packaging(dims))


def aoti_command(arguments: argparse.Namespace) -> int:
    return run_job(_package_job(arguments), arguments, PACKAGE_PRODUCT.finish)


def _package_text(report: Report) -> str:
    return "\n".join([aoti_sentence(report), *aoti_lines(report)])


def _package_data(report: Report) -> dict[str, Any]:
    return {"sentence": aoti_sentence(report)} | {name: msgspec.to_builtins(getattr(report, name)) for name in PARTS}


def _write_package(run: Run, report: Report, out: str) -> list[Path]:
    """Copy the files of a run's package to a directory, and return the new paths; raises StoreError."""
    files = package_files(run)
    if not any(path.name == PACKAGE for path in files):
        raise StoreError("there is no package to write")
    target = Path(out)
    target.mkdir(parents=True, exist_ok=True)
    for path in files:
        shutil.copyfile(path, target / path.name)
    return [target / path.name for path in files]


def _package_problem(report: Report) -> str:
    story = aoti_story(report)
    return aoti_sentence(report) if story is not None and story.problem else ""


PACKAGE_PRODUCT = Product(_package_text, _package_data, _write_package, _package_problem)


BACKEND = "accelerator"


def add_pipeline_command(command: argparse.ArgumentParser) -> None:
    add = command.add_argument_group("the accelerator").add_argument
    add(
        "--out", metavar="FILE", help="write the program there, with the inputs and results of its first call beside it"
    )
    add("--without", default="", metavar="OP,…", help="ops that torch runs, such as relu,gelu")
    add("--passes", default="all", metavar="NAME,…", help="passes over the program: all, none, or their names")
    add("--freeze", action=argparse.BooleanOptionalAction, default=True, help="parameters become constants (inference)")


def _pipeline_job(arguments: argparse.Namespace) -> CompileJob:
    job = job_of(arguments)
    if job.compile.backend not in ("inductor", BACKEND):
        raise JobError("compile.backend", f"this command needs the backend `{BACKEND}`, not `{job.compile.backend}`")
    if job.compile.mode is not None:
        raise JobError("compile.mode", "modes are Inductor's")
    options = {"passes": arguments.passes, "freeze": arguments.freeze, "examples": bool(arguments.out)}
    if arguments.without:
        options["without"] = arguments.without
    return job.with_settings(backend=BACKEND, options=options)


def pipeline_command(arguments: argparse.Namespace) -> int:
    return run_job(_pipeline_job(arguments), arguments, PROGRAM_PRODUCT.finish)


def _pipeline_text(report: Report) -> str:
    return "\n".join([pipeline_sentence(report), *pipeline_lines(report)])


def _pipeline_data(report: Report) -> dict[str, Any]:
    listed = [
        {"compilation": compilation, **msgspec.to_builtins(pipeline)} for compilation, pipeline in pipelines(report)
    ]
    crossings = msgspec.to_builtins(report.crossings)
    return {"sentence": pipeline_sentence(report), "pipelines": listed, "crossings": crossings}


def _write_programs(run: Run, report: Report, out: str) -> list[Path]:
    """Copy a run's programs to `out`, and return the written files; raises StoreError.

    Each program has the inputs and results of its first call beside it. The files are numbered if there are
    several programs.
    """
    segments = [segment for _, pipeline in pipelines(report) for segment in pipeline.segments if segment.file]
    if not segments:
        raise StoreError("there is no program to write: torch runs every op")
    written = []
    for index, segment in enumerate(segments):
        path = Path(out)
        target = path if len(segments) == 1 else path.with_name(f"{path.stem}-{index}{path.suffix}")
        source = run.path / PROGRAMS / Path(segment.file).name
        for ending in (source.suffix, ".inputs", ".expected"):
            goes_to = target if ending == source.suffix else Path(f"{target}{ending}")
            if source.with_suffix(ending).exists():
                shutil.copyfile(source.with_suffix(ending), goes_to)
                written.append(goes_to)
    return written


# No problem to report: ops that the accelerator cannot run stay with torch.
PROGRAM_PRODUCT = Product(_pipeline_text, _pipeline_data, _write_programs, lambda report: "")
