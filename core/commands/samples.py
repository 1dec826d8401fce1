"""`python -m core samples` and `exercises`: sample models, and exercises with checked solutions."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import msgspec

from core.base.errors import JobError
from core.base.files import read
from core.commands.output import OK, WRONG, add_json_option, add_node_options, print_markdown
from core.commands.run import exit_code, run_job
from core.job import MAX_CODE_BYTES
from core.job.gallery import Exercise, exercise, samples
from core.runs.index.database import RunIndex
from core.runs.store import Run, Store
from core.runs.stored import open_report
from core.views.exercises import AttemptView, ExerciseView
from core.views.runs import RunLists

FIELDS = ("name", "title", "teaches", "group", "training", "twin")


def add_samples_command(command: argparse.ArgumentParser) -> None:
    """Add the options of `samples`."""
    command.set_defaults(function=_list)
    add_json_option(command)


def _list(arguments: argparse.Namespace) -> int:
    listed = samples()
    if arguments.json:
        print(json.dumps([{name: getattr(sample, name) for name in FIELDS} for sample in listed], indent=2))
        return OK
    width = max(len(sample.name) for sample in listed)
    for sample in listed:
        print(f"{sample.name:<{width}}  {sample.title}: {sample.teaches}")
    return OK


def add_exercises_command(command: argparse.ArgumentParser) -> None:
    """Add the options of `exercises`."""
    command.set_defaults(function=_exercises)
    command.add_argument("name", nargs="?", metavar="NAME", help="the exercise; without a file, print its code")
    command.add_argument("file", nargs="?", type=Path, metavar="FILE.py", help="a solution to check")
    add_node_options(command)
    add_json_option(command)


def _exercises(arguments: argparse.Namespace) -> int:
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
        _print(view)
    code = exit_code(run, report)
    return code if code != OK or view.solved else WRONG


def _print(view: AttemptView) -> None:
    marks = {True: "passed", False: "failed"}
    lines = [view.title, *(f"{marks[check.passed]}  {check.sentence}" for check in view.checks)]
    if not view.solved:
        lines += [f"torch: {hint}" for hint in view.torch_hints]
    for line in lines:
        print_markdown(line)
