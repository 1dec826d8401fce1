"""Two runs, or logs from elsewhere, held against each other: as sides for pages and tools, and as a command.

python -m core compare RUN | LOG RUN | LOG [--check] [--least-speedup X] [--json]
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

from core.analysis.comparison import (
    Figure,
    GraphDifference,
    RunComparison,
    RunSide,
    compare_runs,
    comparison_data,
    comparison_sentence,
    seconds_words,
)
from core.base.errors import TraceError
from core.base.words import count, number
from core.commands.checks import add_check_options, check_comparison
from core.report import as_json
from core.runs.store import Run, Store
from core.runs.stored import open_graph, open_report
from core.trace import NO_RECORD
from core.trace.parsers import build_report, load_graph, load_text

MOST_LINES = 40


def side_of_run(run: Run) -> RunSide:
    """A stored run; raises StoreError before there is a log."""
    report, log = open_report(run), run.log_path()
    return RunSide(
        report,
        lambda payload: load_text(log, payload) if log else "",
        lambda compilation, graph: open_graph(run, compilation, graph),
    )


def side_of_log(log: Path) -> RunSide:
    """A TORCH_TRACE log; raises TraceError."""
    return RunSide(
        build_report(log),
        lambda payload: load_text(log, payload),
        lambda compilation, graph: load_graph(log, compilation, graph),
    )


def log_at(what: str) -> Path | None:
    """The log of that path, or the largest in that directory; None where there is neither. Raises TraceError."""
    path = Path(what)
    if path.is_dir():
        logs = sorted(path.glob("*.log"), key=lambda log: log.stat().st_size)
        if not logs:
            raise TraceError(f"{path} holds no .log file")
        return logs[-1]
    return path if path.is_file() else None


def side_of(what: str) -> RunSide:
    """A log by its path, or that of a directory of logs, else a run by its id; raises StoreError, TraceError."""
    log = log_at(what)
    found = side_of_log(log) if log is not None else side_of_run(Store().open(what))
    if not found.report.kinds:
        raise TraceError(NO_RECORD)
    return found


def add_command(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """The command `compare`."""
    compare = commands.add_parser("compare", help="hold a run or log against another")
    compare.set_defaults(function=_compare)
    compare.add_argument("left", metavar="RUN|LOG")
    compare.add_argument("right", metavar="RUN|LOG", help="held against the first")
    add_check_options(compare, "the right one fails or differs from eager, or has more graph breaks or recompiles")
    compare.add_argument("--json", action="store_true", help="JSON on standard output, and nothing else")


def _compare(arguments: argparse.Namespace) -> int:
    found = compare_runs(side_of(arguments.left), side_of(arguments.right))
    if arguments.json:
        sys.stdout.write(as_json(comparison_data(found)).decode() + "\n")
    else:
        print(comparison_sentence(found))
        for line in _lines(found):
            print(f"  {line}")
    return check_comparison(found, arguments)


def _lines(found: RunComparison) -> Iterator[str]:
    for option in found.options:
        yield f"{option.name}: {option.left or 'not given'} → {option.right or 'not given'}"
    for source in found.sources or ():
        yield f"{source.right}: {count(source.diff.added, 'line')} added, {number(source.diff.removed)} removed"
    if found.sources is None:
        yield "the code of one of them is not recorded, so it is not compared"
    yield from (_figure(figure) for figure in found.figures)
    for pair in found.breaks:
        one = pair.right or pair.left
        if one is not None and not pair.both:
            yield f"{'graph break gone' if pair.left else 'new graph break'} at {one.place}: {one.reason}"
    for compilation in found.compilations:
        sides = f"[{compilation.left or '–'}] [{compilation.right or '–'}] {compilation.name}"
        differing = [graph for graph in compilation.graphs if not graph.same]
        yield from (f"{sides}: {_graph(graph)}" for graph in differing[:MOST_LINES])
        if compilation.kernels and compilation.kernels.pairs:
            yield f"{sides}: {compilation.kernels.sentence}"
    if found.times is not None:
        yield seconds_words(found.times)


def _figure(figure: Figure) -> str:
    mark = " ≠" if figure.differs else "" if figure.exact else ", measured"
    return f"{figure.name}: {figure.left_words} → {figure.right_words}{mark}"


def _graph(graph: GraphDifference) -> str:
    if not graph.left or not graph.right:
        return f"{graph.stage} only on the {'left' if graph.left else 'right'}"
    changes = (f"{number(times)} {change}" for change, times in graph.changes.items() if times)
    return f"{graph.stage}: {', '.join(changes)}"
