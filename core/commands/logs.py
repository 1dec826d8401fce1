"""`python -m core logs`: torch's log messages of a stored run, or the names that TORCH_LOGS takes here."""

from __future__ import annotations

import argparse

from core.base.errors import StoreError
from core.commands.output import FAILED, OK, Commands, complain
from core.runs.engine.opening import environment_here
from core.runs.sides import side_of_run
from core.runs.store import Store
from core.views.logs import LogsView


def add_command(commands: Commands) -> None:
    """Add the command `logs`."""
    command = commands.add_parser("logs", help="torch's log messages of a stored run; without one, their names here")
    command.set_defaults(function=_logs)
    command.add_argument(
        "run", metavar="RUN", nargs="?", help="stored run; without it, torch's names of its logs are printed"
    )
    command.add_argument("--name", default="", help="messages of one artifact or logger")
    command.add_argument("--compilation", default="", metavar="ID", help="messages of one compilation, such as 0/0")
    command.add_argument("--search", default="", metavar="TEXT", help="messages with a text in them")


def _logs(arguments: argparse.Namespace) -> int:
    if arguments.run is None:
        return _list_names()
    run = Store().open(arguments.run)
    side = side_of_run(run) if run.log_path() else None
    if side is None:
        raise StoreError(f"{run.id} has no log")
    view = LogsView(side.report, side.text, arguments.compilation, arguments.name, arguments.search)
    if not view.is_recorded:
        return complain(f"{view.title} {view.advice}", FAILED)
    print(view.text)
    return OK


def _list_names() -> int:
    environment = environment_here()
    if environment.problem:
        return complain(environment.problem, FAILED)
    for name, description in sorted(environment.logs.items()):
        print(f"{name}\n    {description}" if description else name)
    return OK
