"""`python -m core compare` and `ranks`: compare two runs or logs, or the ranks of a distributed job."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from core.base.errors import TraceError
from core.commands.output import OK, add_check_options, add_json_option
from core.commands.summary import check_comparison
from core.report import as_json
from core.runs.inputs import opened_input
from core.runs.ranks import Logs, logs_of, ranks_dir, read_ranks, side_of_rank
from core.runs.store import Store
from core.runs.stored import opened_side
from core.views import ranks as rank_views
from core.views.compare import ASPECTS, CompareView, aspects, comparison
from core.views.printed import as_text

ALL = "all"


def add_compare_command(compare: argparse.ArgumentParser) -> None:
    """Add the options of `compare`."""
    compare.set_defaults(function=_compare)
    compare.add_argument(
        "left", metavar="RUN|LOG", help="stored run, log, directory or archive of logs; @N: its rank N"
    )
    compare.add_argument("right", metavar="RUN|LOG", help="compared with the first")
    compare.add_argument("--aspect", choices=(*ASPECTS, ALL), default="summary", help="part to print (summary)")
    add_check_options(compare, "the right one fails or differs from eager, or has more graph breaks or recompiles")
    add_json_option(compare)


def _compare(arguments: argparse.Namespace) -> int:
    with opened_side(arguments.left) as left, opened_side(arguments.right) as right:
        compare = CompareView(left, right)
        if arguments.json:
            sys.stdout.write(as_json(compare.data).decode() + "\n")
        else:
            names = ASPECTS if arguments.aspect == ALL else (arguments.aspect,)
            print("\n".join(as_text(comparison(compare, names=names))))
            others = [pane.title for pane in aspects(compare).panes if pane.name not in names]
            print(f"\nMore with --aspect: {', '.join(others)}" if others else "")
        return check_comparison(compare.comparison, arguments)


DIFFERENT = 1


def add_ranks_command(command: argparse.ArgumentParser) -> None:
    """Add the options of `ranks`."""
    command.set_defaults(function=_ranks)
    command.add_argument("what", metavar="RUN|DIRECTORY", help="stored run, directory or archive of rank logs")
    command.add_argument("--processes", type=int, default=os.cpu_count() or 1, help="processes that read (all CPUs)")
    add_json_option(command)


def _ranks(arguments: argparse.Namespace) -> int:
    with _opened(arguments.what) as (logs, stored):
        if len(logs) < 2:
            raise TraceError("there are no logs of several ranks; set one TORCH_TRACE directory for all ranks")
        ranks = read_ranks(logs, stored, max(1, arguments.processes))
        view = rank_views.RanksView(ranks, lambda rank: side_of_rank(rank, logs[rank], stored))
        if arguments.json:
            sys.stdout.write(as_json(view.data).decode() + "\n")
        else:
            print("\n".join(as_text(rank_views.ranks(view))))
    return DIFFERENT if ranks.differ else OK


@contextmanager
def _opened(what: str) -> Iterator[tuple[Logs, Path | None]]:
    """Yield the logs of a path or of a stored run, and the directory of the run's ranks.

    The directory is None for a path.
    """
    if Path(what).exists():
        with opened_input(Path(what)) as logs:
            yield dict(logs.ranks), None
        return
    run = Store().open(what)
    yield logs_of(run), ranks_dir(run)
