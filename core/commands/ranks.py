"""`python -m core ranks`: whether the ranks of a distributed job compiled the same, and where they first differ."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from core.base.errors import TraceError
from core.commands.output import OK, Commands, add_json_option, print_markdown
from core.report import as_json
from core.runs.inputs import opened_input
from core.runs.ranks import Logs, logs_of, ranks_dir, read_ranks, side_of_rank
from core.runs.store import Store
from core.views.ranks import RanksView

DIFFERENT = 1


def add_command(commands: Commands) -> None:
    """Add the command `ranks`."""
    command = commands.add_parser("ranks", help="compare the ranks of a distributed job")
    command.set_defaults(function=_ranks)
    command.add_argument("what", metavar="RUN|DIRECTORY", help="stored run, directory or archive of rank logs")
    command.add_argument("--processes", type=int, default=os.cpu_count() or 1, help="processes that read (all CPUs)")
    add_json_option(command)


def _ranks(arguments: argparse.Namespace) -> int:
    with _opened(arguments.what) as (logs, stored):
        if len(logs) < 2:
            raise TraceError("there are no logs of several ranks; set one TORCH_TRACE directory for all ranks")
        ranks = read_ranks(logs, stored, max(1, arguments.processes))
        view = RanksView(ranks, lambda rank: side_of_rank(rank, logs[rank], stored))
        if arguments.json:
            sys.stdout.write(as_json(view.data).decode() + "\n")
        else:
            print_markdown(view.title)
            print("\n".join(f"  {line}" for line in view.lines))
    return DIFFERENT if ranks.differ else OK


@contextmanager
def _opened(what: str) -> Iterator[tuple[Logs, Path | None]]:
    """Open the logs of a path or of a stored run, and the directory of what is stored of its ranks."""
    if Path(what).exists():
        with opened_input(Path(what)) as logs:
            yield dict(logs.ranks), None
        return
    run = Store().open(what)
    yield logs_of(run), ranks_dir(run)
