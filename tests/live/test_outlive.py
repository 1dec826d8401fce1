"""Nothing outlives its run, whatever it does to the processes that keep it: they are killed, stopped, or hang.

The runs leave sleepers that detached themselves: a new session, and a parent that is gone.
"""

import contextlib
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from core import (
    CompileJob,
    CompileOptions,
    Environment,
    Model,
    Run,
    Runner,
    StoreError,
    WorkerError,
    open_report,
)
from core.runs.engine.forkserver import ForkServer, Probe, ProbeResult
from core.runs.processes.handles import alive, supervisor_of
from tests.support.browser import PATIENCE_S
from tests.support.sleepers import LEAVE, sleepers
from tests.support.user_code import RunCode

EAGER = CompileOptions(backend="eager")
FINE = "import torch\nmodel = torch.sin\ninputs = (torch.ones(2),)"
CODE = f"""{LEAVE}
@torch.compiler.disable
def model(x):
    leave()
    KEEPER = os.getppid()
    {{line}}
    return x.sin()

inputs = (torch.ones(4),)
"""


def left_when_over(run: Run) -> list[psutil.Process]:
    """The sleepers that are alive in the moment in which the run counts as over."""
    deadline = time.monotonic() + PATIENCE_S
    while run.status().live:
        assert time.monotonic() < deadline
    return sleepers()


def ended(run: Run) -> tuple[str, str]:
    status = run.status()
    return status.state, status.reason


def has_begun(run: Run) -> bool:
    return run.log_path() is not None and "call 0: eager" in open_report(run).steps


def begun(runner: Runner, line: str = "time.sleep(100)", time_limit_s: float = 60.0) -> Run:
    """A run of that code that has come to its first call."""
    job = CompileJob(Model("code", CODE.format(line=line)), compile=EAGER, measure=False, time_limit_s=time_limit_s)
    run = runner.submit(job)
    deadline = time.monotonic() + PATIENCE_S
    while not (has_begun(run) and sleepers()) and run.status().live:
        assert time.monotonic() < deadline, run.status()
        time.sleep(0.02)
    return run


def keeper_of(run: Run) -> psutil.Process:
    supervisor = supervisor_of(run.status())
    assert supervisor is not None
    return supervisor


@pytest.mark.promise("runs")
@pytest.mark.torch
def test_run_that_kills_its_supervisor_ends_with_all_that_it_left(runner: Runner, run_code: RunCode) -> None:
    """A run that kills its supervisor ends, with all its descendants."""
    run = begun(runner, "os.kill(KEEPER, signal.SIGKILL); time.sleep(100)")
    assert left_when_over(run) == []
    assert ended(run) == ("interrupted", "its supervisor was killed")
    assert (open_report(run).steps[-1], run_code(FINE).status().state) == ("call 0: eager", "done")


@pytest.mark.promise("runs")
@pytest.mark.torch
def test_run_whose_supervisor_was_killed_cannot_be_deleted_before_all_of_it_is_gone(runner: Runner) -> None:
    """A run whose supervisor was killed can be deleted only when all its processes have ended."""
    run = begun(runner)
    keeper_of(run).kill()
    deadline = time.monotonic() + PATIENCE_S
    while run.path.exists():
        assert time.monotonic() < deadline
        with contextlib.suppress(StoreError):
            runner.store.delete(run)
    assert sleepers() == []


@pytest.mark.torch
def test_run_that_stops_its_supervisor_once_is_done(runner: Runner) -> None:
    run = begun(runner, "os.kill(KEEPER, signal.SIGSTOP)")
    assert left_when_over(run) == []
    assert ended(run) == ("done", "")


@pytest.mark.long
@pytest.mark.promise("runs")
@pytest.mark.torch
def test_run_that_stops_its_supervisor_again_and_again_is_held_to_its_limit(runner: Runner) -> None:
    """A run that stops its supervisor repeatedly is still held to its time limit."""
    run = begun(runner, "while True: os.kill(KEEPER, signal.SIGSTOP)", 3.0)
    assert left_when_over(run) == []
    # Sent on between two stops, the keeper ends its worker itself, or it gets too little of the time.
    by_keeper, by_fork_server = (
        "raise the time limit, or give it less to do",
        "its supervisor did not answer, and was killed",
    )
    assert ended(run) in [("timed out", f"not done after 3 s; {who}") for who in (by_keeper, by_fork_server)]


@pytest.mark.torch
def test_run_whose_supervisor_is_stopped_can_be_cancelled(runner: Runner) -> None:
    run = begun(runner)
    keeper_of(run).suspend()
    runner.cancel(run)
    assert left_when_over(run) == []
    assert run.status().state == "cancelled"


@pytest.mark.long
@pytest.mark.torch
def test_stopped_fork_server_is_sent_on(alone: Runner) -> None:
    run = begun(alone)
    server = keeper_of(run).parent()
    assert server is not None
    server.suspend()
    alone.cancel(run)
    following = alone.submit(CompileJob(Model("code", FINE), compile=EAGER, measure=False))
    assert left_when_over(run) == []
    assert (run.status().state, alone.wait(following).status().state) == ("cancelled", "done")


@pytest.mark.long
@pytest.mark.torch
def test_killed_fork_server_and_a_stopped_supervisor_leave_nothing(alone: Runner) -> None:
    run = begun(alone)
    keeper = keeper_of(run)
    server = keeper.parent()
    assert server is not None
    keeper.suspend()
    server.kill()
    assert alone.wait(run).status().state == "interrupted"
    assert open_report(run).steps[-1] == "call 0: eager"
    following = alone.submit(CompileJob(Model("code", FINE), compile=EAGER, measure=False))
    assert alone.wait(following).status().state == "done"
    assert (sleepers(), keeper.is_running()) == ([], False)


@pytest.mark.torch
def test_server_that_ends_leaves_no_stopped_process(alone: Runner) -> None:
    run = begun(alone)
    keeper = keeper_of(run)
    family = [keeper, *keeper.parents()[:1], *keeper.children(recursive=True)]
    keeper.suspend()
    alone.engine.close()
    assert (sleepers(), [process.pid for process in family if process.is_running()]) == ([], [])
    assert run.status().state == "interrupted"


STARTS = """
import os, subprocess, sys
command = [sys.executable, "-m", "core.worker"]
environment = {**os.environ, "COMPILEBOARD_FORK_SERVER_PARENT": str(os.getpid())}
print(subprocess.Popen(command, stdin=subprocess.PIPE, env=environment, start_new_session=True).pid, flush=True)
sys.stdin.read()
"""


@pytest.mark.torch
def test_fork_server_whose_server_is_killed_while_it_imports_ends_at_once() -> None:
    with started() as (server, process):
        while not has_torch(process):
            time.sleep(0.01)
        server.kill()
    assert psutil.wait_procs([process], 30)[1] == []


@pytest.mark.torch
def test_fork_server_whose_server_is_killed_before_it_looks_never_imports_torch() -> None:
    with started() as (server, process):
        server.kill()
    while alive([process]):
        assert not has_torch(process)
        time.sleep(0.01)


@contextmanager
def started() -> Iterator[tuple[subprocess.Popen[bytes], psutil.Process]]:
    """A process that has just started a fork server, and that one."""
    with subprocess.Popen([sys.executable, "-c", STARTS], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
        assert server.stdout is not None
        yield server, psutil.Process(int(server.stdout.readline()))


def has_torch(process: psutil.Process) -> bool:
    """Whether it has begun to load torch."""
    with contextlib.suppress(psutil.Error):
        return any("libtorch" in item.path for item in process.memory_maps())
    return False


HANGS_ONCE = """
import json, os, sys, time
print(json.dumps({"type": "Ready"}), flush=True)
os.chdir(os.path.dirname(__file__))
if not os.path.exists("begun"):
    open("begun", "w").close()
    time.sleep(100)
for line in sys.stdin:
    print(json.dumps({"type": "ProbeResult", "environment": {}}), flush=True)
"""


def test_fork_server_that_hangs_is_ended_and_a_new_one_started(tmp_path: Path) -> None:
    script = tmp_path / "server.py"
    script.write_text(HANGS_ONCE)
    server = ForkServer(tmp_path, command=(sys.executable, str(script)), silent_polls=1)
    with pytest.raises(WorkerError, match="the fork server hung and was ended"):
        server.request(Probe(), ProbeResult)
    assert server.request(Probe(), ProbeResult) == ProbeResult(Environment())
    server.close()


CHILDREN = """
import os, signal, sys, time
import psutil
from core.runs.processes.handles import become_subreaper, descendants
from core.worker.forkserver import Children

become_subreaper()
children = Children(margin_s=0.0)
pid = os.fork()
if pid == 0:
    for number in (signal.SIGTERM, signal.SIGUSR1):
        signal.signal(number, signal.SIG_IGN)
    become_subreaper()
    if os.fork() == 0:
        os.setsid()
        os.fork()
    time.sleep(100)
children.add(pid, {limit_s})
time.sleep(0.2)
{rest}
print(descendants(psutil.Process()))
"""


@pytest.mark.parametrize(
    ("limit_s", "rest"),
    [
        ("0.3", "while not (found := children.ended()): time.sleep(0.02)\nassert found == [pid]"),
        ("9", "children.end()"),
    ],
)
def test_supervisor_that_hangs_is_killed_with_its_family_after_its_time_and_at_the_end(limit_s: str, rest: str) -> None:
    code = CHILDREN.format(limit_s=limit_s, rest=rest)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=240, check=False)
    assert (done.stdout, done.stderr) == ("[]\n", "")
