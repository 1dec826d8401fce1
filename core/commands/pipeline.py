"""`python -m core pipeline`: build a model into programs of the accelerator, and report each stage."""

from __future__ import annotations

import argparse
import shutil
from pathlib import Path
from typing import Any

import msgspec

from core.accelerator.program import PROGRAMS
from core.analysis import pipeline_lines, pipeline_sentence, pipelines
from core.base.errors import JobError, StoreError
from core.commands.output import Commands, add_engine_option, add_json_option
from core.commands.run import Product, run_job
from core.job import CompileJob, add_job_options, job_of
from core.report import Report
from core.runs.store import Run

BACKEND = "accelerator"


def add_command(commands: Commands) -> None:
    """Add the command `pipeline`."""
    command = commands.add_parser("pipeline", help="build a model into programs of the accelerator, and run them")
    command.set_defaults(function=lambda arguments: run_job(_job(arguments), arguments, PRODUCT.finish))
    add_job_options(command)
    add_engine_option(command)
    add = command.add_argument_group("the accelerator").add_argument
    add(
        "--out", metavar="FILE", help="write the program there, with the inputs and results of its first call beside it"
    )
    add("--without", default="", metavar="OP,…", help="ops that torch runs, such as relu,gelu")
    add("--passes", default="all", metavar="NAME,…", help="passes over the program: all, none, or their names")
    add("--freeze", action=argparse.BooleanOptionalAction, default=True, help="parameters become constants (inference)")
    add_json_option(command)


def _job(arguments: argparse.Namespace) -> CompileJob:
    job = job_of(arguments)
    if job.compile.backend not in ("inductor", BACKEND):
        raise JobError("compile.backend", f"this command needs the backend `{BACKEND}`, not `{job.compile.backend}`")
    if job.compile.mode is not None:
        raise JobError("compile.mode", "modes are Inductor's")
    options = {"passes": arguments.passes, "freeze": arguments.freeze, "examples": bool(arguments.out)}
    if arguments.without:
        options["without"] = arguments.without
    return job.with_settings(backend=BACKEND, options=options)


def _text(report: Report) -> str:
    return "\n".join([pipeline_sentence(report), *pipeline_lines(report)])


def _data(report: Report) -> dict[str, Any]:
    listed = [
        {"compilation": compilation, **msgspec.to_builtins(pipeline)} for compilation, pipeline in pipelines(report)
    ]
    crossings = msgspec.to_builtins(report.crossings)
    return {"sentence": pipeline_sentence(report), "pipelines": listed, "crossings": crossings}


def _export(run: Run, report: Report, out: str) -> list[Path]:
    """Copy a run's programs to `out`, each with the inputs and results of its first call; returns the written files.

    The files are numbered if there are several programs. Raises StoreError.
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
PRODUCT = Product(_text, _data, _export, lambda report: "")
