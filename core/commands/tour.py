"""`python -m core samples`, `exercises`, `tour`, `captures`, `landmarks` and `why`: explained runs.

`tour` and `captures` show a stored run, or a model that is run first. `why` answers a question about a stored run.
"""

import argparse
import json
import sys
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

import msgspec

from core.analysis.comparison.matching import RunSide
from core.analysis.work import heaviest
from core.base.errors import JobError, StoreError
from core.base.files import read
from core.base.words import RANKED_ID
from core.commands.output import OK, USAGE, WRONG, complain, print_markdown
from core.commands.run import exit_code, run_job
from core.job import MAX_CODE_BYTES, job_of
from core.job.gallery import Exercise, exercise, samples
from core.report import as_json
from core.runs.index.database import RunIndex
from core.runs.store import Run, Store
from core.runs.stored import open_report, opened_side, side_of_run
from core.views.capture import NOTHING, CaptureView, captures
from core.views.exercises import AttemptView, ExerciseView
from core.views.glossary import landmarks
from core.views.printed import as_data, as_text
from core.views.runs import RunLists
from core.views.tour import TourView
from core.views.why import why

FIELDS = ("name", "title", "teaches", "group", "training", "twin")


def samples_command(arguments: argparse.Namespace) -> int:
    listed = samples()
    if arguments.json:
        print(json.dumps([{name: getattr(sample, name) for name in FIELDS} for sample in listed], indent=2))
        return OK
    width = max(len(sample.name) for sample in listed)
    for sample in listed:
        print(f"{sample.name:<{width}}  {sample.title}: {sample.teaches}")
    return OK


def add_exercises_command(command: argparse.ArgumentParser) -> None:
    command.add_argument("name", nargs="?", metavar="NAME", help="the exercise; without a file, print its code")
    command.add_argument("file", nargs="?", type=Path, metavar="FILE.py", help="a solution to check")


def exercises_command(arguments: argparse.Namespace) -> int:
    if arguments.name is None:
        return _list_exercises(arguments)
    chosen = exercise(arguments.name)
    if arguments.file is None:
        print(f'"""{chosen.title}\n\n{chosen.task}\n"""\n\n{chosen.code}', end="")
        return OK
    job = chosen.job(_solution(arguments.file))
    return run_job(job, arguments, lambda run, _: _finish(chosen, run, arguments.json))


def _solution(path: Path) -> str:
    try:
        return read(path, MAX_CODE_BYTES).decode("utf-8")
    except OSError as error:
        raise JobError("exercise", f"{path} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise JobError("exercise", f"{path} cannot be read: it is no UTF-8") from None


def _list_exercises(arguments: argparse.Namespace) -> int:
    attempts = RunLists(RunIndex(Store())).of_titles(ExerciseView.titles())
    views = ExerciseView.of_runs((listed.pair for listed in attempts), ExerciseView.is_solution)
    if arguments.json:
        rows = [
            {"name": name, "title": view.exercise.title, "topic": view.exercise.topic, "state": view.state}
            for name, view in views.items()
        ]
        print(json.dumps(rows, indent=2))
        return OK
    width = max(map(len, views))
    for name, view in views.items():
        print(f"{view.state:<9}  {name:<{width}}  {view.exercise.topic}: {view.exercise.title}")
    print(ExerciseView.progress(views.values()))
    return OK


def _finish(chosen: Exercise, run: Run, as_json: bool) -> int:
    report = open_report(run) if run.log_path() else None
    view = AttemptView(chosen, run.status(), report)
    if as_json:
        checks = msgspec.to_builtins(view.checks)
        print(json.dumps({"solved": view.solved, "checks": checks, "hints": view.torch_hints}, indent=2))
    else:
        _print_attempt(view)
    code = exit_code(run, report)
    return code if code != OK or view.solved else WRONG


def _print_attempt(view: AttemptView) -> None:
    marks = {True: "passed", False: "failed"}
    lines = [view.title, *(f"{marks[check.passed]}  {check.sentence}" for check in view.checks)]
    if not view.solved:
        lines += [f"torch: {hint}" for hint in view.torch_hints]
    for line in lines:
        print_markdown(line)


Lines = Callable[[RunSide], Iterable[str]]


def add_landmarks_command(command: argparse.ArgumentParser) -> None:
    command.add_argument("run", nargs="?", metavar="RUN", help="id of a stored run, whose times are added")


def landmarks_command(arguments: argparse.Namespace) -> int:
    report = side_of_run(Store().open(arguments.run)).report if arguments.run else None
    print("\n".join(as_text(landmarks(report))))
    return OK


def tour_command(arguments: argparse.Namespace) -> int:
    return _print_lines(arguments, lambda side: TourView.of(side.report, side.nodes).text)


def captures_command(arguments: argparse.Namespace) -> int:
    arguments.capture = True
    return _print_lines(arguments, _capture_lines, print)


def _capture_lines(side: RunSide) -> Iterable[str]:
    compilation = heaviest(side.report)
    if compilation is None:
        return as_text(NOTHING)
    return as_text(captures(CaptureView(side.report, compilation, partial(side.nodes, compilation), side.text)))


def _print_lines(
    arguments: argparse.Namespace, lines: Lines, print_line: Callable[[str], None] = print_markdown
) -> int:
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


def add_why_command(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "question",
        nargs="+",
        metavar="WORD",
        help="`break 1`, `recompile 0/3`, `slow` …; another question lists all forms; a RUN or LOG may follow",
    )


def why_command(arguments: argparse.Namespace) -> int:
    *words, last = " ".join(arguments.question).split()
    names_run = RANKED_ID.fullmatch(last) is not None or ("/" in last and Path(last).exists())
    question = " ".join(words if names_run else [*words, last])
    with opened_side(last if names_run else _newest(Store())) as side:
        answer = why(side, question)
        if not answer.form:
            return complain("\n".join(as_text(answer.blocks)), USAGE)
        if arguments.json:
            sys.stdout.write(as_json(as_data(answer.blocks)).decode() + "\n")
        else:
            print("\n".join(as_text(answer.blocks)))
    return OK


def _newest(store: Store) -> str:
    """Return the id of the newest run with a log; raises StoreError without one."""
    newest = next((run.id for run, _ in store.list() if run.log_path() is not None), None)
    if newest is None:
        raise StoreError("there is no run; name one, or compile a model first")
    return newest
