"""`python -m core tour`: a tour of a stored run, or of a model that is run first."""

from __future__ import annotations

import argparse

from core.base.errors import StoreError
from core.commands.output import Commands
from core.commands.run import exit_code, run_job
from core.job import add_job_options, job_of
from core.runs.sides import side_of_run
from core.runs.store import Run, Store
from core.views.tour import TourView


def add_command(commands: Commands) -> None:
    """Add the command `tour`."""
    command = commands.add_parser("tour", help="explain torch.compile on a run, or on a model that is run first")
    command.set_defaults(function=_tour)
    add_job_options(command)


def _tour(arguments: argparse.Namespace) -> int:
    try:
        run = Store().open(arguments.model)
    except StoreError:
        return run_job(job_of(arguments), arguments, _finish)
    return _finish(run, arguments)


def _finish(run: Run, arguments: argparse.Namespace) -> int:
    if run.log_path() is None:
        return exit_code(run, None)
    side = side_of_run(run)
    for line in TourView(side.report, side.nodes).text:
        print(line.replace("`", "").replace("\\", ""))
    return exit_code(run, side.report)
