"""Reports as commands print them, exit codes of checks, and the commands `compare` and `ranks`."""

import argparse
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import Any

from core.analysis.comparison.run import RunComparison
from core.analysis.interval import Interval
from core.analysis.numerics import (
    bisection_words,
    cure_words,
    minified_words,
    nan_words,
)
from core.analysis.pipeline import pipelines
from core.analysis.repairs.claims import Proof
from core.analysis.results import compared_words, ending_words, results
from core.analysis.speed import speed
from core.analysis.verdict import verdict
from core.analysis.work import Work, refused_calls
from core.base.errors import TraceError
from core.commands.output import OK, SLOW, WRONG, add_check_options
from core.report import Report, RunError
from core.report import as_json as data_as_json
from core.runs.inputs import opened_input
from core.runs.ranks import Logs, logs_of, ranks_dir, read_ranks, side_of_rank
from core.runs.status import Status
from core.runs.store import Run, Store
from core.runs.stored import opened_side, read_trials, side_of_run
from core.views import ranks as rank_views
from core.views.accelerator.program import pipeline_lines, pipeline_sentence
from core.views.aotinductor.run import aoti_sentence
from core.views.backend.run import backend_lines
from core.views.blocks import spans, words
from core.views.comments import CommentsView
from core.views.compare import ASPECTS, CompareView, aspects, comparison
from core.views.header import facts_line
from core.views.memory import memory_sentence, memory_unmeasured
from core.views.neighbours import NeighboursView
from core.views.numerics import bits_words, numerics_lines
from core.views.overview import OutcomeView, OverviewView, compilation_facts, run_facts
from core.views.printed import as_text
from core.views.sharing import raised_words, result_problems, slow_words, unread_words, worse_on_the_right
from core.views.speedup import predicted_calls
from core.views.texts import source_of
from core.views.verdict import UNEVEN, alternative_sentence, counted_words, target_lines, traffic_words, untimed_words

ALL = "all"
DIFFERENT = 1


def check_report(report: Report, arguments: argparse.Namespace) -> int:
    """Return the exit code of the requested checks, 0 if all is well; the reason goes to standard error."""
    wrong, unsure = result_problems(report)
    took = speed(report.timing)
    return _check(arguments, wrong, unsure, took.interval if took else None, "eager")


def check_comparison(comparison: RunComparison, arguments: argparse.Namespace) -> int:
    """Return the exit code of the requested checks of the right run, compared with the left run."""
    times = comparison.times
    interval = times.interval if times is not None and times.comparable else None
    return _check(arguments, "; ".join(worse_on_the_right(comparison)), "", interval, "the left run")


def _check(arguments: argparse.Namespace, wrong: str, unsure: str, faster: Interval | None, than: str) -> int:
    """Return the exit code; the results are checked before the speed."""
    if arguments.check and wrong:
        return _fail(wrong, WRONG)
    if arguments.check and unsure:
        print(f"check: {unsure}", file=sys.stderr)
    least = arguments.least_speedup
    if least is None:
        return 0
    slow = slow_words(faster, than, least)
    return _fail(slow, SLOW) if slow else 0


def _fail(message: str, code: int) -> int:
    print(f"check failed: {message}", file=sys.stderr)
    return code


def print_run(run: Run, report: Report, as_json: bool) -> None:
    """Print the report of a stored run with its comments, as JSON or as text."""
    status, comments = run.status(), CommentsView.stored(run, side_of_run(run))
    if as_json:
        added = {"comments": comments.data} if comments.lines else {}
        sys.stdout.write(data_as_json(report_data(report, status) | added).decode() + "\n")
        return
    summarise(report, status, run.output_tail(), source_of(run.log_path(), report), read_trials(run).proofs)
    for line in comments.lines:
        print(f"  {line}")


def report_data(report: Report, status: Status) -> dict[str, Any]:
    """Return a run's report as data; the state of the run and the reason of its end come first."""
    facts = {field.name: getattr(report, field.name) for field in fields(report)}
    return {"state": status.state, "reason": status.reason, **facts}


def summarise(
    report: Report, status: Status, output: str = "", source: str = "", proofs: tuple[Proof, ...] = ()
) -> None:
    """Print a report as text: the worst fact, the facts of a page's header, then all that *Overview* has.

    `output` is the run's printed output, and `source` the text of the model's file. `proofs` are
    results of trials.
    """
    ending = OutcomeView(status, report)
    print(words(spans(ending.title)))
    if ended := ending_words(status.state, status.reason, report):
        print(f"  {ended}.")
        _print_error(report.error)
    print(f"  {facts_line(report)}")
    _summarise_traffic(verdict(report).work)
    _print_lines(
        target_lines(report),
        as_text(predicted_calls(report), "  "),
        _memory_lines(report),
        _result_lines(report),
        _indented(_tool_lines(report)),
    )
    view = OverviewView(report, output, source, proofs)
    _print_lines(as_text((*run_facts(view, is_done=not ended), *compilation_facts(view)), "  "))
    for problem in report.problems:
        print(f"  {unread_words(problem)}", file=sys.stderr)


def _print_lines(*parts: Iterable[str]) -> None:
    for part in parts:
        for line in part:
            print(line)


def _indented(lines: Iterable[str]) -> Iterator[str]:
    """Yield the lines that are not empty, indented."""
    return (f"  {line}" for line in lines if line)


def _memory_lines(report: Report) -> Iterator[str]:
    if memory := memory_sentence(report):
        yield f"  {memory}"
        yield from (f"    {line}" for line in memory_unmeasured(report))


def _tool_lines(report: Report) -> Iterator[str]:
    """Yield what bisection, packaging and other tools showed; empty lines for what was not run."""
    yield from map(raised_words, refused_calls(report))
    if report.bisection is not None:
        for words in (bisection_words, cure_words, minified_words, nan_words):
            yield words(report.bisection)
    if report.bits is not None:
        yield bits_words(report.bits)
    if report.rival is not None:
        yield f"alternative: {alternative_sentence(report)}"
    yield untimed_words(report)
    yield from numerics_lines(report)
    yield from backend_lines(report)
    yield aoti_sentence(report)
    if pipelines(report):
        yield pipeline_sentence(report)
        yield from pipeline_lines(report, entries=False)
    yield NeighboursView(report).line


def _summarise_traffic(work: Work) -> None:
    if work.traffic:
        print(f"  {traffic_words(work.traffic)}. {counted_words(work.traffic)}")
    elif work.uneven:
        print(f"  {UNEVEN}")


def _result_lines(report: Report) -> Iterator[str]:
    comparison = results(report)
    if comparison is not None:
        compared = compared_words(comparison.compared)
        yield f"  result: {comparison.outcome}" + (f"; compared: {compared}" if compared else "")


def _print_error(error: RunError | None) -> None:
    """Print the user's frames of an error, and its message after the first line, without C++ frames."""
    if error is None:
        return
    for frame in error.frames:
        print(f"  at {frame.file}:{frame.line} in {frame.name}")
    for line in error.explanation.splitlines():
        print(f"  {line}")


def add_compare_command(compare: argparse.ArgumentParser) -> None:
    """Add the options of `compare`."""
    compare.add_argument(
        "left", metavar="RUN|LOG", help="stored run, log, directory or archive of logs; @N: its rank N"
    )
    compare.add_argument("right", metavar="RUN|LOG", help="compared with the first")
    compare.add_argument("--aspect", choices=(*ASPECTS, ALL), default="summary", help="part to print (summary)")
    add_check_options(compare, "the right one fails or differs from eager, or has more graph breaks or recompiles")


def compare_command(arguments: argparse.Namespace) -> int:
    with opened_side(arguments.left) as left, opened_side(arguments.right) as right:
        compare = CompareView(left, right)
        if arguments.json:
            sys.stdout.write(data_as_json(compare.data).decode() + "\n")
        else:
            names = ASPECTS if arguments.aspect == ALL else (arguments.aspect,)
            print("\n".join(as_text(comparison(compare, names=names))))
            others = [pane.title for pane in aspects(compare).panes if pane.name not in names]
            print(f"\nMore with --aspect: {', '.join(others)}" if others else "")
        return check_comparison(compare.comparison, arguments)


def add_ranks_command(command: argparse.ArgumentParser) -> None:
    command.add_argument("what", metavar="RUN|DIRECTORY", help="stored run, directory or archive of rank logs")
    command.add_argument("--processes", type=int, default=os.cpu_count() or 1, help="processes that read (all CPUs)")


def ranks_command(arguments: argparse.Namespace) -> int:
    with _opened(arguments.what) as (logs, stored):
        if len(logs) < 2:
            raise TraceError("there are no logs of several ranks; set one TORCH_TRACE directory for all ranks")
        ranks = read_ranks(logs, stored, max(1, arguments.processes))
        view = rank_views.RanksView(ranks, lambda rank: side_of_rank(rank, logs[rank], stored))
        if arguments.json:
            sys.stdout.write(data_as_json(view.data).decode() + "\n")
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
