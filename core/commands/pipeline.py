"""`python -m core pipeline`: a model built into programs of the accelerator, and told stage by stage."""

from __future__ import annotations

import argparse
import json
import shutil
from pathlib import Path
from typing import Any

import msgspec

from core.accelerator.program import PROGRAMS
from core.analysis import pipeline_lines, pipeline_sentence, pipelines
from core.base.errors import JobError, StoreError
from core.job import CompileJob, add_job_options, job_of
from core.report import Report
from core.runs.store import Run

BACKEND = "accelerator"


def add_pipeline_options(parser: argparse.ArgumentParser) -> None:
    """Give the command its options, and those of a run."""
    add_job_options(parser)
    add = parser.add_argument_group("the accelerator").add_argument
    add(
        "--out", metavar="FILE", help="write the program there, with the inputs and results of its first call beside it"
    )
    add("--without", default="", metavar="OP,…", help="ops that stay with torch, such as relu,gelu")
    add("--passes", default="all", metavar="NAME,…", help="passes over the program: all, none, or their names")
    add("--freeze", action=argparse.BooleanOptionalAction, default=True, help="parameters become constants (inference)")


def pipeline_job(arguments: argparse.Namespace) -> CompileJob:
    """The job of the command; raises JobError."""
    job = job_of(arguments)
    if job.compile.backend not in ("inductor", BACKEND):
        raise JobError("compile.backend", f"a pipeline is the backend `{BACKEND}`'s, not `{job.compile.backend}`'s")
    if job.compile.mode is not None:
        raise JobError("compile.mode", "modes are Inductor's")
    options = {"passes": arguments.passes, "freeze": arguments.freeze, "examples": bool(arguments.out)}
    if arguments.without:
        options["without"] = arguments.without
    return job.with_settings(backend=BACKEND, options=options)


def told(report: Report) -> str:
    """The pipelines of a report as text."""
    return "\n".join([pipeline_sentence(report), *pipeline_lines(report)])


def as_json(report: Report) -> str:
    """The same as JSON."""
    found: list[dict[str, Any]] = [
        {"compilation": compilation, **msgspec.to_builtins(pipeline)} for compilation, pipeline in pipelines(report)
    ]
    crossings = msgspec.to_builtins(report.crossings)
    return json.dumps({"sentence": pipeline_sentence(report), "pipelines": found, "crossings": crossings}, indent=2)


def export(run: Run, report: Report, out: str) -> list[Path]:
    """Copy the programs of a run to `out`, numbered where there are several, each with the inputs and results of its
    first call; returns what was written. Raises StoreError.
    """
    segments = [segment for _, pipeline in pipelines(report) for segment in pipeline.segments if segment.file]
    if not segments:
        raise StoreError("there is no program to write: everything stays with torch")
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


def went_wrong(report: Report) -> str:
    """Nothing: what the accelerator cannot run stays with torch."""
    return ""
