"""`python -m core compare`: compare two runs, or logs from elsewhere."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator

from core.analysis.comparison import (
    Figure,
    GraphDifference,
    RunComparison,
    compare_runs,
    comparison_data,
    comparison_sentence,
    seconds_words,
)
from core.base.words import count, number
from core.commands.output import Commands, add_check_options, add_json_option, check_comparison
from core.report import as_json
from core.runs.sides import opened_side

MOST_LINES = 40


def add_command(commands: Commands) -> None:
    """Add the command `compare`."""
    compare = commands.add_parser("compare", help="compare a run or log with another")
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
    if not graph.left or not graph.right:
        return f"{graph.stage} only on the {'left' if graph.left else 'right'}"
    changes = (f"{number(times)} {change}" for change, times in graph.changes.items() if times)
    return f"{graph.stage}: {', '.join(changes)}"
