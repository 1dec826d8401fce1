"""python -m tests.attack.kills [--times 100] [--seed N]: kill and stop each process of ours at random moments of a run.

A server with a queue, as a dashboard has it, is started in a home of its own. Each time a run is begun that leaves a
sleeper behind, one process is killed (-9) or stopped, and it is checked: the run's state is right, its records can be
read, nothing that came of it is alive, and the next run is done.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import psutil

from core import CompileJob, CompileOptions, LocalEngine, Model, Run, Runner, Store, open_report
from core.runs.processes.handles import supervisor_of
from tests.support.homes import CACHE
from tests.support.places import ROOT
from tests.support.sleepers import LEAVE, sleepers

LIMIT_S = 90.0
# Looking at all runs and processes of ours takes milliseconds.
POLL_S = 0.05
# A run of the code below takes about so long; moments are spread over it.
SPAN_S = 4.0
FINE = "import torch\nmodel = torch.sin\ninputs = (torch.ones(2),)"
CODE = f"""{LEAVE}
pause = torch.compiler.disable(time.sleep)

def model(x):
    leave()
    pause(1)
    return torch.relu(x @ x).sum(-1).exp()

inputs = (torch.ones(16, 16),)
"""
SERVER, FORK_SERVER, KEEPER, WORKER = TARGETS = ("server", "fork server", "keeper", "worker")
KILL, STOP = SIGNALS = (signal.SIGKILL, signal.SIGSTOP)
# How a run may end of which a process was killed or stopped; it is done where that was over before.
STATES = {
    (SERVER, KILL): {"interrupted", "done"},
    (SERVER, STOP): {"done"},
    (FORK_SERVER, KILL): {"interrupted", "crashed", "done"},
    (FORK_SERVER, STOP): {"done"},
    (KEEPER, KILL): {"interrupted", "done"},
    (KEEPER, STOP): {"done"},
    (WORKER, KILL): {"crashed", "done"},
    # A stopped worker would be so until its limit; it is cancelled here.
    (WORKER, STOP): {"cancelled", "done"},
}


def serve(home: Path) -> None:
    """The server: a line of its input submits that code, or cancels that run; it ends with its input."""
    engine = LocalEngine(CACHE)
    runner = Runner(Store(home), engine)
    for line in sys.stdin:
        request = json.loads(line)
        if "cancel" in request:
            runner.cancel(runner.store.open(request["cancel"]))
            continue
        backend = CompileOptions(backend=request["backend"])
        run = runner.submit(
            CompileJob(Model("code", request["code"]), compile=backend, measure=False, time_limit_s=LIMIT_S)
        )
        print(run.id, flush=True)
    engine.close()


class Server:
    """A server process and what came of it."""

    def __init__(self, home: Path) -> None:
        self._store = Store(home)
        command = [sys.executable, "-m", "tests.attack.kills", "--serve", str(home)]
        self._process = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.process = psutil.Process(self._process.pid)

    def submit(self, code: str, backend: str = "inductor") -> Run:
        """Queue a run."""
        self._say({"code": code, "backend": backend})
        assert self._process.stdout is not None
        return self._store.open(self._process.stdout.readline().strip())

    def cancel(self, run: Run) -> None:
        """Cancel it."""
        self._say({"cancel": run.id})

    def end(self) -> list[psutil.Process]:
        """End the server; gives what of it is still alive after a while."""
        family = [self.process]
        with contextlib.suppress(psutil.NoSuchProcess):
            family += self.process.children(recursive=True)
        self._process.communicate()
        return gone(family)

    def _say(self, request: dict[str, str]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()


def gone(processes: list[psutil.Process]) -> list[psutil.Process]:
    """Wait until processes have ended; gives those that have not."""
    until(lambda: not living(processes), LIMIT_S / 3)
    return living(processes)


def living(processes: list[psutil.Process]) -> list[psutil.Process]:
    """Those that run, or are stopped."""
    found = []
    for process in processes:
        with contextlib.suppress(psutil.Error):
            if process.is_running() and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
    return found


def until(condition: Callable[[], bool], limit_s: float = LIMIT_S) -> bool:
    """Wait for something; whether it came."""
    deadline = time.monotonic() + limit_s
    while not (come := condition()) and time.monotonic() < deadline:
        time.sleep(POLL_S)
    return come


def find(target: str, server: Server, run: Run) -> psutil.Process | None:
    """A process of ours, None if it is not there."""
    with contextlib.suppress(psutil.Error, IndexError):
        if target == SERVER:
            return server.process
        if target == FORK_SERVER:
            return server.process.children()[0]
        status = run.status()
        if status.state == "running":
            keeper = supervisor_of(status)
            if keeper is None:
                return None
            return keeper if target == KEEPER else keeper.children()[0]
    return None


def strike(server: Server, home: Path, target: str, number: signal.Signals, delay_s: float) -> tuple[Server, str]:
    """One run, of which one process is killed or stopped; gives the server that goes on, and the run's state."""
    run = server.submit(CODE)
    time.sleep(delay_s)
    until(lambda: find(target, server, run) is not None or not run.status().live)
    family = [server.process, *server.process.children(recursive=True)]
    hit = find(target, server, run)
    if hit is not None:
        with contextlib.suppress(psutil.NoSuchProcess):
            hit.send_signal(number)
    if (target, number) == (SERVER, STOP):
        time.sleep(1)
        server.process.resume()
    elif (target, number) == (WORKER, STOP):
        server.cancel(run)
    elif (target, number) == (SERVER, KILL):
        assert server.end() == []
        assert gone(family) == [], "left by the server"
        server = Server(home)
    assert until(lambda: not run.status().live), f"not over: {run.status()}"
    assert sleepers() == [], "left by the run"
    state, reason = run.status().state, run.status().reason
    assert state in STATES[target, number], f"{state}: {reason}"
    check_records(run, state)
    following = server.submit(FINE, "eager")
    assert until(lambda: not following.status().live), "the next run hangs"
    assert following.status().state == "done", f"the next run: {following.status()}"
    return server, state


def check_records(run: Run, state: str) -> None:
    """What was recorded can be read; a record that was being written may be cut."""
    if run.log_path() is None:
        assert state != "done"
        return
    report = open_report(run)
    assert sum(problem.count for problem in report.problems) <= 1, report.problems
    assert state != "done" or (len(report.calls) == 1 and not report.problems)


def main() -> None:
    """Strike, each kind as often as the others, and say what came of it."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--times", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--serve", type=Path)
    arguments = parser.parse_args()
    if arguments.serve:
        serve(arguments.serve)
        return
    kinds = [(target, number) for number in SIGNALS for target in TARGETS]
    moments = random.Random(arguments.seed)
    ends: Counter[tuple[str, str, str]] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        server = Server(Path(folder))
        for index in range(arguments.times):
            target, number = kinds[index % len(kinds)]
            delay_s = moments.uniform(0, SPAN_S)
            print(f"{index}: {number.name} {target} after {delay_s:.2f} s", end=" → ", flush=True)
            server, state = strike(server, Path(folder), target, number, delay_s)
            print(state, flush=True)
            ends[target, number.name, state] += 1
        assert server.end() == [], "left at the end"
    for (target, name, state), count in sorted(ends.items()):
        print(f"{name:<8} {target:<12} {state:<12} {count}")


if __name__ == "__main__":
    main()
