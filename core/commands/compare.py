"""`python -m core compare` and `ranks`: compare two runs or logs, or the ranks of a distributed job."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from core.analysis.comparison import (
    Figure,
    GraphDifference,
    RunComparison,
    compare_runs,
    comparison_data,
    comparison_sentence,
    seconds_words,
)
from core.base.errors import TraceError
from core.base.words import count, number
from core.commands.output import OK, add_check_options, add_json_option, print_markdown
from core.commands.summary import check_comparison
from core.report import as_json
from core.runs.inputs import opened_input
from core.runs.ranks import Logs, logs_of, ranks_dir, read_ranks, side_of_rank
from core.runs.store import Store
from core.runs.stored import opened_side
from core.views.ranks import RanksView

MOST_LINES = 40


def add_compare_command(compare: argparse.ArgumentParser) -> None:
    """Add the options of `compare`."""
    compare.set_defaults(function=_compare)
    compare.add_argument(
        "left", metavar="RUN|LOG", help="stored run, log, directory or archive of logs; @N: its rank N"
    )
    compare.add_argument("right", metavar="RUN|LOG", help="compared with the first")
    add_check_options(compare, "the right one fails or differs from eager, or has more graph breaks or recompiles")
    add_json_option(compare)


def _compare(arguments: argparse.Namespace) -> int:
    with opened_side(arguments.left) as left, opened_side(arguments.right) as right:
        comparison = compare_runs(left, right)
        if arguments.json:
            sys.stdout.write(as_json(comparison_data(comparison)).decode() + "\n")
        else:
            print(comparison_sentence(comparison))
            for line in _lines(comparison):
                print(f"  {line}")
        return check_comparison(comparison, arguments)


def _lines(comparison: RunComparison) -> Iterator[str]:
    for option in comparison.options:
        yield f"{option.name}: {option.left or 'not given'} → {option.right or 'not given'}"
    for source in comparison.sources or ():
        yield f"{source.right}: {count(source.diff.added, 'line')} added, {number(source.diff.removed)} removed"
    if comparison.sources is None:
        yield "the code of one of them is not recorded, so it is not compared"
    yield from (_figure(figure) for figure in comparison.figures)
    for pair in comparison.breaks:
        graph_break = pair.right or pair.left
        if graph_break is not None and not pair.both:
            change = "graph break gone" if pair.left else "new graph break"
            yield f"{change} at {graph_break.place}: {graph_break.reason}"
    for compilation in comparison.compilations:
        sides = f"[{compilation.left or '–'}] [{compilation.right or '–'}] {compilation.name}"
        differing = [graph for graph in compilation.graphs if not graph.same]
        yield from (f"{sides}: {_graph(graph)}" for graph in differing[:MOST_LINES])
        if compilation.kernels and compilation.kernels.pairs:
            yield f"{sides}: {compilation.kernels.sentence}"
    if comparison.times is not None:
        yield seconds_words(comparison.times)


def _figure(figure: Figure) -> str:
    mark = " ≠" if figure.differs else "" if figure.exact else ", measured"
    return f"{figure.name}: {figure.left_words} → {figure.right_words}{mark}"


def _graph(graph: GraphDifference) -> str:
    if not graph.moved and (not graph.left or not graph.right):
        return f"{graph.stage} only on the {'left' if graph.left else 'right'}"
    changes = (f"{number(times)} {change}" for change, times in graph.changes.items() if times)
    return f"{graph.stage}: {', '.join(changes)}"


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
        view = RanksView(ranks, lambda rank: side_of_rank(rank, logs[rank], stored))
        if arguments.json:
            sys.stdout.write(as_json(view.data).decode() + "\n")
        else:
            print_markdown(view.title)
            print("\n".join(f"  {line}" for line in view.lines))
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
