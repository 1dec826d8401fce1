"""`python -m core neighbours`: run a model, and convert and run it on other compilers and runtimes."""

from __future__ import annotations

import argparse
import json
from dataclasses import replace

import msgspec

from core.commands.output import Commands, add_engine_option, add_json_option
from core.commands.run import exit_code, run_job
from core.job import CompileJob, add_job_options, job_of
from core.runs.store import Run
from core.runs.stored import open_report
from core.views.neighbours import NeighboursView


def add_command(commands: Commands) -> None:
    """Add the command `neighbours`."""
    command = commands.add_parser("neighbours", help="run a model on other compilers and runtimes, and compare")
    command.set_defaults(function=lambda arguments: run_job(_job(arguments), arguments, _finish))
    add_job_options(command)
    add_engine_option(command)
    add_json_option(command)


def _job(arguments: argparse.Namespace) -> CompileJob:
    return replace(job_of(arguments), neighbours=True)


def _finish(run: Run, arguments: argparse.Namespace) -> int:
    """Print the neighbours of an ended run; returns the exit code of the run."""
    report = open_report(run) if run.log_path() else None
    if report is not None and arguments.json:
        print(json.dumps(msgspec.to_builtins(report.neighbours), indent=2))
    elif report is not None:
        for line in NeighboursView(report).lines:
            print(line)
    return exit_code(run, report)
