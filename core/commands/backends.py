"""`python -m core backends` and `neighbours`: trials of torch's backends and of other compilers.

`backends` tries each backend on a small function; `neighbours` runs a model on other compilers and runtimes.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec

from core.commands.output import OK, add_json_option, add_node_options, print_start
from core.commands.run import exit_code, run_job
from core.job import CompileJob, Model, add_job_options, job_of
from core.runs.engine.opening import open_local_engine
from core.runs.runner import Runner
from core.runs.store import Run, Store
from core.runs.stored import open_report
from core.sweep.presets import PRESETS, BackendFact, Question, answer
from core.sweep.runner import SweepRunner, new_sweep
from core.views.backend.run import tried_lines
from core.views.neighbours import neighbours
from core.views.printed import as_text

CODE = "import torch\n\n\ndef model(x):\n    return x.sin() + 1\n\n\ninputs = (torch.randn(8),)\n"


def add_backends_command(command: argparse.ArgumentParser) -> None:
    """Add the options of `backends`."""
    command.set_defaults(function=_list)
    add_json_option(command)


def _list(arguments: argparse.Namespace) -> int:
    """Print each backend: whether it runs here, its last stage, and its purpose; returns the exit code."""
    print_start()
    backends = tried_backends()
    if arguments.json:
        print(json.dumps(msgspec.to_builtins(backends), indent=2))
        return OK
    print("\n".join(tried_lines(backends)))
    return OK


def tried_backends() -> Sequence[BackendFact]:
    """Run the backends one after another, and return the facts about each; raises CompileboardError."""
    engine = open_local_engine(Store())
    try:
        with TemporaryDirectory(prefix="compileboard-") as home:
            sweeps = SweepRunner(Runner(Store(Path(home)), engine))
            environment = engine.environment()
            plan = PRESETS["backends"].plan(CompileJob(Model("code", CODE), measure=False), environment)
            sweep = sweeps.start(new_sweep(plan.base, plan.axes, "backends"))
            sweeps.wait(sweep.id)
            rows = sweeps.rows(sweeps.store.open(sweep.id))
            facts = answer(Question(sweep, rows, environment)).facts
    finally:
        engine.close()
    return [fact for fact in facts if isinstance(fact, BackendFact)]


def add_neighbours_command(command: argparse.ArgumentParser) -> None:
    """Add the options of `neighbours`."""
    command.set_defaults(function=lambda arguments: run_job(_neighbours_job(arguments), arguments, _finish_neighbours))
    add_job_options(command)
    add_node_options(command)
    add_json_option(command)


def _neighbours_job(arguments: argparse.Namespace) -> CompileJob:
    return replace(job_of(arguments), neighbours=True)


def _finish_neighbours(run: Run, arguments: argparse.Namespace) -> int:
    """Print the neighbours of an ended run; returns the exit code of the run."""
    report = open_report(run) if run.log_path() else None
    if report is not None and arguments.json:
        print(json.dumps(msgspec.to_builtins(report.neighbours), indent=2))
    elif report is not None:
        print("\n".join(as_text(neighbours(report))))
    return exit_code(run, report)
