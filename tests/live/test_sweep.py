"""A sweep of four real cells, of which one loses its worker, and one its keeper: each is measured once."""

import signal
import time
from contextlib import suppress

import psutil
import pytest

from core import CompileJob, CompileOptions, Model, Runner, SweepRunner, new_sweep, open_report, parse_axis
from core.runs.processes.handles import supervisor_of
from core.sweep.table import table
from tests.support.browser import PATIENCE_S

pytestmark = pytest.mark.torch
CODE = """
import time
import torch

time.sleep(0.3)


def model(x):
    return torch.sin(x) + 1
"""


def kill_one(runner: Runner, but: set[str], worker: bool) -> str:
    """Kill the keeper of another run, or its worker; returns the run's id."""
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        for run, status in runner.store.list():
            keeper = supervisor_of(status)
            if keeper is None or run.id in but:
                continue
            with suppress(psutil.Error, IndexError):
                (keeper.children()[0] if worker else keeper).send_signal(signal.SIGKILL)
                return run.id
        time.sleep(0.01)
    raise AssertionError("no run has begun")


def test_four_real_cells_survive_kills_and_their_table_is_that_of_their_reports(runner: Runner) -> None:
    sweeps = SweepRunner(runner)
    axes = parse_axis("calls=f32[4] | f32[4]; f32[8]"), parse_axis("dynamic=never,always")
    options = CompileOptions(backend="eager")
    base = CompileJob(Model("code", CODE), compile=options, measure=False, time_limit_s=240.0)
    sweep = sweeps.start(new_sweep(base, axes))
    killed = {kill_one(runner, set(), worker=True)}
    killed.add(kill_one(runner, killed, worker=False))
    sweeps.wait(sweep.id, 4 * PATIENCE_S)
    stored = sweeps.store.open(sweep.id)
    rows = sweeps.rows(stored)
    assert [(*row.at, row.state, row.compilations, row.kernels, row.results) for row in rows] == [
        ("f32[4]", "never", "done", 1, 0, "same"),
        ("f32[4]", "always", "done", 1, 0, "same"),
        ("f32[4]; f32[8]", "never", "done", 2, 0, "same"),
        ("f32[4]; f32[8]", "always", "done", 1, 0, "same"),
    ]
    states = sorted((status.state, run.id in killed) for run, status in runner.store.list())
    assert states == [("crashed", True), *[("done", False)] * 4, ("interrupted", True)]
    reports = {run: open_report(runner.store.open(run)) for run in stored.runs}
    assert table(stored, reports, {run: runner.store.open(run).status() for run in stored.runs}) == rows
