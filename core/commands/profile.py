"""`python -m core profile`: a profile beside a run's log."""

from __future__ import annotations

import argparse
from pathlib import Path

from core.base.errors import StoreError
from core.base.files import open_regular
from core.base.words import duration_s, percent
from core.commands.output import OK, Commands
from core.runs.store import Run, Store
from core.runs.stored import add_profile, open_report
from core.views.timeline import HOW, NO_PROFILE, failed_profile, timeline_view


def add_command(commands: Commands) -> None:
    """Add the command `profile`."""
    command = commands.add_parser("profile", help="join a profile by torch.profiler to the log of a stored run")
    command.set_defaults(function=_profile)
    command.add_argument("run", metavar="RUN", help="stored run")
    command.add_argument("file", metavar="FILE", nargs="?", help="profile to store: JSON, or JSON compressed by gzip")


def _profile(arguments: argparse.Namespace) -> int:
    run = Store().open(arguments.run)
    if arguments.file:
        _add(run, Path(arguments.file))
    report = open_report(run)
    view = timeline_view(run, report)
    if view is None:
        raise StoreError(f"{failed_profile(report) or NO_PROFILE} {HOW}")
    print(view.title)
    for row in view.kernel_rows:
        print(f"  {duration_s(_number(row['total'])):>10}  {row['slices']:>6} ×  {row['kernel']}  {row['compilation']}")
    for row in view.idle_rows:
        print(f"  idle {duration_s(_number(row['idle'])):>10}  {percent(_number(row['share'])):>8}  {row['while']}")
    return OK


def _add(run: Run, path: Path) -> None:
    try:
        with open_regular(path) as file:
            add_profile(run, file)
    except OSError as error:
        raise StoreError(f"{path} cannot be read: {error.strerror}") from None


def _number(value: object) -> float:
    return float(str(value))
