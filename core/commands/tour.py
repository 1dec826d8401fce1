"""`python -m core tour`, `captures` and `landmarks`: views of a run as text.

`tour` and `captures` show a stored run, or a model that is run first.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable
from functools import partial

from core.analysis.comparison.matching import RunSide
from core.analysis.work import heaviest
from core.base.errors import StoreError
from core.commands.output import OK, add_node_options, print_markdown
from core.commands.run import exit_code, run_job
from core.job import add_job_options, job_of
from core.runs.store import Run, Store
from core.runs.stored import side_of_run
from core.views.capture import NOTHING, CaptureView, captures
from core.views.glossary import landmarks
from core.views.printed import as_text
from core.views.tour import TourView

Lines = Callable[[RunSide], Iterable[str]]


def add_tour_command(command: argparse.ArgumentParser) -> None:
    """Add the options of `tour`."""
    command.set_defaults(function=_tour)
    add_job_options(command)
    add_node_options(command)


def add_captures_command(command: argparse.ArgumentParser) -> None:
    """Add the options of `captures`."""
    command.set_defaults(function=_captures)
    add_job_options(command)
    add_node_options(command)


def add_landmarks_command(command: argparse.ArgumentParser) -> None:
    """Add the options of `landmarks`."""
    command.add_argument("run", nargs="?", metavar="RUN", help="id of a stored run, whose times are added")
    command.set_defaults(function=_landmarks)


def _landmarks(arguments: argparse.Namespace) -> int:
    report = side_of_run(Store().open(arguments.run)).report if arguments.run else None
    print("\n".join(as_text(landmarks(report))))
    return OK


def _tour(arguments: argparse.Namespace) -> int:
    return _print(arguments, lambda side: TourView.of(side.report, side.nodes).text)


def _captures(arguments: argparse.Namespace) -> int:
    arguments.capture = True
    return _print(arguments, _capture_lines, print)


def _capture_lines(side: RunSide) -> Iterable[str]:
    compilation = heaviest(side.report)
    if compilation is None:
        return as_text(NOTHING)
    return as_text(captures(CaptureView(side.report, compilation, partial(side.nodes, compilation), side.text)))


def _print(arguments: argparse.Namespace, lines: Lines, print_line: Callable[[str], None] = print_markdown) -> int:
    """Print a stored run's lines; a model is run first."""

    def finish(run: Run, _: argparse.Namespace) -> int:
        if run.log_path() is None:
            return exit_code(run, None)
        side = side_of_run(run)
        for line in lines(side):
            print_line(line)
        return exit_code(run, side.report)

    try:
        run = Store().open(arguments.model)
    except StoreError:
        return run_job(job_of(arguments), arguments, finish)
    return finish(run, arguments)
