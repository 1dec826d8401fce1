"""`python -m core backends`: each backend that torch lists, tried on a function of two ops in a home of its own."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec

from core.base.words import count, number
from core.commands.output import OK, Commands, add_json_option
from core.job import CompileJob, Model
from core.runs.engine.opening import open_engine
from core.runs.runner import Runner
from core.runs.store import Store
from core.sweep.presets import PRESETS, BackendFact, Question, answer
from core.sweep.runner import SweepRunner, new_sweep

CODE = "import torch\n\n\ndef model(x):\n    return x.sin() + 1\n\n\ninputs = (torch.randn(8),)\n"


def add_command(commands: Commands) -> None:
    """Add the command `backends`."""
    command = commands.add_parser("backends", help="try each backend that torch lists here")
    command.set_defaults(function=_list)
    add_json_option(command)


def _list(arguments: argparse.Namespace) -> int:
    """Tell of each backend what it does, where it stops, and whether it runs here; returns the exit code."""
    found = tried_backends()
    if arguments.json:
        print(json.dumps(msgspec.to_builtins(found), indent=2))
        return OK
    width = max(len(one.name) for one in found)
    for one in found:
        tags = f" ({', '.join(one.tags)})" if one.tags else ""
        stands = f"runs, up to {one.stops}" if one.runs else f"cannot run here: {one.reason}"
        print(f"{one.name:<{width}}  {stands}")
        print(f"{'':<{width}}  {one.does or 'torch says nothing of it'}{tags}{one.place and f', {one.place}'}")
    ran = sum(one.runs for one in found)
    print(f"{number(ran)} of {count(len(found), 'backend')} run `x.sin() + 1` here.")
    return OK


def tried_backends() -> Sequence[BackendFact]:
    """A run for each backend, one after the other; raises CompileboardError."""
    engine = open_engine(Store())
    try:
        with TemporaryDirectory(prefix="compileboard-") as home:
            sweeps = SweepRunner(Runner(Store(Path(home)), engine))
            here = engine.environment()
            plan = PRESETS["backends"].plan(CompileJob(Model("code", CODE), measure=False), here)
            sweep = sweeps.start(new_sweep(plan.base, plan.axes, "backends"))
            sweeps.wait(sweep.id)
            rows = sweeps.rows(sweeps.store.open(sweep.id))
            facts = answer(Question(sweep, rows, here)).facts
    finally:
        engine.close()
    return [fact for fact in facts if isinstance(fact, BackendFact)]
