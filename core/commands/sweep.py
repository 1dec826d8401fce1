"""Commands `sweep`, `tune` and `sweeps` of `python -m core`.

A sweep is printed as text, JSON or CSV. The text has the answer and the table.
"""

import argparse
import json
import re
import sys
from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from core.base.errors import JobError, NodeWaitError
from core.base.machine import Environment
from core.base.words import number
from core.commands.output import CANCELLED, FAILED, JSON_HELP, OK
from core.commands.run import NodeWatch
from core.job import CompileJob, add_job_options, job_of
from core.runs.engine.opening import open_engine, open_local_engine
from core.runs.runner import Runner
from core.runs.store import Store
from core.sweep.model import BACKEND, Sweep, check_backends, parse_axes
from core.sweep.presets import GOALS, PRESETS, SEARCH_S, Goal, Question, answer, search_plan
from core.sweep.runner import SweepRunner, new_sweep
from core.sweep.store import SweepStore
from core.sweep.table import SweepStanding, as_csv, as_json
from core.views.printed import as_text, table_lines
from core.views.sweep.view import (
    answer_lines,
    ended_line,
    no_time_words,
    progress_words,
    recipe,
    recipe_diff,
    resume_words,
    text_table,
)

POLL_S = 0.5
UNITS_S = {"": 1, "s": 1, "m": 60, "h": 3600}


def add_sweep_command(command: argparse.ArgumentParser) -> None:
    add_job_options(command, nargs="?")
    add = command.add_argument_group("the sweep").add_argument
    add(
        *("--axis",),
        action="append",
        default=[],
        metavar="FIELD=VALUE,…",
        help="change a field of the job: backend=eager,inductor, 'batch=1,2,4,…,512', options.NAME=…; repeat",
    )
    add("--preset", choices=sorted(PRESETS), help="a ready-made question")
    add("--title", default="", help="title of the sweep")
    add("--resume", default="", metavar="ID", help="resume a sweep; finished cells are not measured again")
    add("--again", action="store_true", help="with --resume: its failed cells, too")
    _add_output_options(command)


def add_tune_command(command: argparse.ArgumentParser) -> None:
    """Add the options of `tune`, a sweep that looks for faster settings."""
    command.set_defaults(axis=[], title="", resume="", again=False, preset="")
    command.add_argument("--goal", choices=tuple(GOALS), default="call", help="what to make faster or smaller (call)")
    command.add_argument("--allow", choices=("precision",), help="try changes that lower the precision of results, too")
    command.add_argument(
        "--for",
        dest="budget_s",
        type=time_span_s,
        default=SEARCH_S,
        metavar="TIME",
        help="seconds of the search and its proof, or a time such as 10m (10m)",
    )
    _add_output_options(command)


def time_span_s(text: str) -> float:
    """Return the seconds of a time such as `90s`, `10m` or `1h`; raises ArgumentTypeError."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)([smh]?)", text)
    if found is None:
        raise argparse.ArgumentTypeError(no_time_words(text))
    return float(found[1]) * UNITS_S[found[2]]


def _add_output_options(command: argparse.ArgumentParser) -> None:
    output = command.add_mutually_exclusive_group()
    output.add_argument("--json", action="store_true", help=JSON_HELP)
    output.add_argument("--csv", action="store_true", help="the table as CSV on standard output, and nothing else")


def add_sweeps_command(command: argparse.ArgumentParser) -> None:
    command.add_argument("id", nargs="?", default="", metavar="ID", help="print this sweep: its answer and its table")
    command.add_argument("--csv", action="store_true", help="with an ID: the table as CSV, and nothing else")


def sweep_command(arguments: argparse.Namespace) -> int:
    """Start or resume a sweep, and run it to its end or Ctrl-C; returns the exit code."""
    store = Store()
    engine = open_engine(store, address=arguments.engine)
    try:
        sweeps = SweepRunner(Runner(store, engine))
        watch = NodeWatch(sweeps.runner, arguments)
        sweep = _started_sweep(arguments, sweeps, watch.environment)
        print(f"{sweep.title}: sweep {sweep.id}", file=sys.stderr)
        try:
            _follow(sweeps, sweep, watch)
        except (KeyboardInterrupt, NodeWaitError) as reason:
            sweeps.cancel(sweep.id)
            sweeps.wait(sweep.id)
            if isinstance(reason, NodeWaitError):
                raise NodeWaitError(resume_words(str(reason), sweep)) from None
        environment = engine.environment() if sweep.preset else None
        return _finish(sweeps, sweeps.store.open(sweep.id), arguments, environment)
    finally:
        engine.close()


tune_command = sweep_command


def sweeps_command(arguments: argparse.Namespace) -> int:
    """Print the sweeps of this home with their progress, newest first, or one whole sweep by its id."""
    store = Store()
    sweeps = SweepRunner(Runner(store, open_local_engine(store)))
    if arguments.id:
        return _print_sweep(sweeps, sweeps.store.open(arguments.id), arguments, None)
    if arguments.csv:
        raise JobError("csv", "a list has no table: give the id of one sweep")
    listed = [(sweep, sweeps.standing(sweep)) for sweep in sweeps.store.list()]
    if arguments.json:
        print(json.dumps([_entry(sweeps.store, *pair) for pair in listed], indent=2))
    else:
        for sweep, progress in listed:
            print(f"{sweep.id}  {sweeps.store.name(sweep.id) or sweep.title}: {progress_words(progress)}")
    for why in sweeps.store.damaged().values():
        print(why, file=sys.stderr)
    return OK


def _started_sweep(arguments: argparse.Namespace, sweeps: SweepRunner, environment: Callable[[], Environment]) -> Sweep:
    """Start or resume the sweep that the options name; raises CompileboardError."""
    if arguments.resume:
        if arguments.model or arguments.axis or arguments.preset:
            raise JobError("resume", "a sweep is resumed as it is: give its id alone")
        return sweeps.resume(arguments.resume, arguments.again)
    if not arguments.model:
        raise JobError("model", "name a model, or a sweep to --resume")
    base, axes = job_of(arguments), parse_axes(arguments.axis)
    if any(axis.field == BACKEND for axis in axes):
        check_backends(base, axes, environment().backends)
    if (budget_s := getattr(arguments, "budget_s", None)) is not None:
        return sweeps.start(search_sweep(arguments.goal, base, environment(), arguments.allow == "precision", budget_s))
    if arguments.preset:
        plan = PRESETS[arguments.preset].plan(base, environment())
        base, axes = plan.base, (*plan.axes, *axes)
    return sweeps.start(new_sweep(base, axes, arguments.preset or "", arguments.title))


def _follow(sweeps: SweepRunner, sweep: Sweep, watch: NodeWatch) -> None:
    """Print each cell to standard error as it ends, and what the cells wait for; raises NodeWaitError.

    Rows are read only if the sweep's files changed, since reading disturbs the measurement.
    """
    printed: set[int] = set()
    looked = 0
    while True:
        watch.look()
        going = sweeps.is_executing(sweep)
        newest = sweeps.store.changed_ns(sweep.id)
        if newest != looked or not going:
            looked = newest
            _print_settled(sweeps, sweep, printed)
        if not going:
            return
        sweeps.wait(sweep.id, POLL_S)


def _print_settled(sweeps: SweepRunner, sweep: Sweep, printed: set[int]) -> None:
    rows = sweeps.rows(sweeps.store.open(sweep.id))
    for place, row in enumerate(rows):
        if row.settled and place not in printed:
            printed.add(place)
            line = ended_line(sweep, row, sweeps.standing(sweep, rows))
            print(f"  [{number(len(printed))}/{number(len(rows))}] {line}", file=sys.stderr)


def _finish(sweeps: SweepRunner, sweep: Sweep, arguments: argparse.Namespace, environment: Environment | None) -> int:
    _print_sweep(sweeps, sweep, arguments, environment)
    progress = sweeps.standing(sweep)
    if progress.state == "done":
        return OK if progress.done else FAILED
    print(resume_words(progress_words(progress), sweep), file=sys.stderr)
    return CANCELLED if progress.state == "cancelled" else FAILED


def _print_sweep(
    sweeps: SweepRunner, sweep: Sweep, arguments: argparse.Namespace, environment: Environment | None
) -> int:
    rows = sweeps.rows(sweep)
    if arguments.json:
        result = answer(Question(sweep, rows, environment))
        diff = recipe_diff(sweeps.runner.store, result)
        extra = {"standing": sweeps.standing(sweep, rows), "answer": result, **({"diff": diff} if diff else {})}
        print(json.dumps({**as_json(sweep, rows), **msgspec.to_builtins(extra)}, indent=2))
    elif arguments.csv:
        sys.stdout.write(as_csv(sweep.axes, rows))
    else:
        print("\n".join(sweep_lines(sweeps, sweep, environment)))
    return OK


def sweep_lines(sweeps: SweepRunner, sweep: Sweep, environment: Environment | None) -> Iterator[str]:
    """Yield the answer of a sweep, its recipe and its table as lines of text."""
    rows = sweeps.rows(sweep)
    result = answer(Question(sweep, rows, environment))
    yield from answer_lines(sweep, rows, result)
    yield from as_text(recipe(result, recipe_diff(sweeps.runner.store, result)))
    yield from table_lines(text_table(sweep, rows, result.columns))


def search_sweep(goal: Goal, base: CompileJob, environment: Environment, precision: bool, budget_s: float) -> Sweep:
    """Return the sweep of a search for faster or smaller settings; raises JobError."""
    plan = search_plan(goal, base, environment, precision)
    return new_sweep(plan.base, plan.axes, GOALS[goal].name).limited(budget_s)


def _entry(store: SweepStore, sweep: Sweep, progress: SweepStanding) -> dict[str, Any]:
    entry: dict[str, Any] = {"id": sweep.id, "title": sweep.title, "name": store.name(sweep.id)}
    entry |= {"preset": sweep.preset, "fields": [axis.field for axis in sweep.axes], "created_s": sweep.created_s}
    return {**entry, **msgspec.to_builtins(progress)}
