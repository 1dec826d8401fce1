"""Nothing outlives its run where a control group can be made, even what no family and no mark leads to."""

from pathlib import Path

import pytest

from core import CompileJob, CompileOptions, Model, Runner
from core.runs.processes import handles
from tests.support.sleepers import MARK, sleepers

pytestmark = pytest.mark.torch

CODE = f"""
import os, psutil, signal, sys, time
import torch

@torch.compiler.disable
def model(x):
    keeper = psutil.Process(os.getppid())
    if os.fork() == 0:
        os.setsid()
        os.execve(sys.executable, [sys.executable, "-c", "import time; time.sleep(300)", "{MARK}"], {{}})
    os.kill(keeper.ppid(), signal.SIGKILL)
    keeper.kill()
    time.sleep(100)

inputs = (torch.ones(4),)
"""


def can_be_made() -> bool:
    """Whether this process may make a group."""
    parent = handles._own_group()
    try:
        folder = (parent or Path("/proc")) / "compileboard-try"
        folder.mkdir()
        found = (folder / handles.KILL).exists()
        folder.rmdir()
    except OSError:
        return False
    return found


@pytest.mark.long
@pytest.mark.promise("runs")
@pytest.mark.skipif(not can_be_made(), reason="this process may make no control group")
def test_a_program_without_mark_and_parents_ends_with_its_fork_server(alone: Runner) -> None:
    """With control groups, a program that detached from its run completely ends with the fork server."""
    run = alone.submit(CompileJob(Model("code", CODE), compile=CompileOptions(backend="eager"), measure=False))
    assert alone.wait(run).status().state == "interrupted"
    alone.engine.close()
    assert sleepers() == []
