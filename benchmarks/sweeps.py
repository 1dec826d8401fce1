"""Sweep of 200 cells through a killed command, a killed worker and a cancellation; speed of its page.

The cells compile a function of two ops with the backend `eager`, without measuring, so that each takes less
than a second. The command that starts the sweep is killed after a quarter of the cells. Then a dashboard
starts and resumes the sweep, one of its workers is killed, its page of the sweep is opened repeatedly, and
the sweep is cancelled. Finally, a command resumes the sweep until it is done.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import psutil
from playwright.sync_api import Page

from benchmarks.homes import PROJECT, temporary_home
from benchmarks.server import SETTLED, browser_page, dashboard
from benchmarks.table import Result, at_most, tell
from core import Store, SweepStore
from core.runs.processes.handles import supervisor_of

CELLS = int(os.environ.get("COMPILEBOARD_BENCH_CELLS", "200"))
PAGE_MS = 300
VISITS = 7
PATIENCE_S = 1_800.0
CODE = "import torch\n\n\ndef model(x):\n    return torch.sin(x) + 1\n\n\ninputs = (torch.ones(8),)\n"
BACK = """
async () => {
    const title = () => document.querySelector('[data-testid="stMain"] h1')?.textContent ?? ""
    const before = title()
    const start = performance.now()
    history.back()
    while (!title() || title() === before) await new Promise(requestAnimationFrame)
    return performance.now() - start
}
"""


def measure() -> list[Result]:
    """Run the sweep with all these failures; return how often each cell was done, and the page's times."""
    with temporary_home() as home:
        model = home / "two_ops.py"
        model.write_text(CODE)
        axes = ("--backend", "eager", "--no-measure", "--axis", f"seed=0,1,…,{CELLS - 1}")
        first = command(home, "sweep", str(model), *axes)
        store = SweepStore(Store(home))
        wait_for(lambda: done(home) >= CELLS // 4)
        first.kill()
        first.wait()
        sweep_id = store.list()[0].id
        tell(f"the command was killed after {done(home)} of {CELLS} cells")
        with dashboard(home) as server, browser_page() as page:
            wait_for(lambda: done(home) >= CELLS // 3)
            killed = kill_a_worker(home)
            tell(f"the dashboard took the sweep up and lost the worker of {killed}")
            visits_ms = visits(page, server.url, sweep_id)
            wait_for(lambda: done(home) >= CELLS * 2 // 3)
            store.request_stop(sweep_id)
            wait_for(lambda: not store.open(sweep_id).handle)
            tell(f"it was cancelled after {done(home)} cells")
        command(home, "sweep", "--resume", sweep_id).wait(PATIENCE_S)
        return results(home, sweep_id, visits_ms)


def results(home: Path, sweep_id: str, visits_ms: list[float]) -> list[Result]:
    """Return the number of cells done exactly once, the interrupted runs, and the page's load time."""
    store = Store(home)
    jobs = [run.job() for run, status in store.list() if status.state == "done"]
    times = Counter(job.seed for job in jobs if job is not None and job.sweep == sweep_id)
    once = sum(times[seed] == 1 for seed in range(CELLS))
    cut = Counter(status.state for _, status in store.list() if status.state != "done")
    return [
        Result("cells that were done once", f"{once} of {CELLS}", f"= {CELLS}", once == CELLS == len(jobs)),
        Result("runs that were cut short", ", ".join(f"{count} {state}" for state, count in cut.items())),
        at_most("the page of the sweep while it goes: title shown", visits_ms, PAGE_MS, 0, " ms"),
    ]


def command(home: Path, *words: str) -> subprocess.Popen[bytes]:
    """Start `python -m core` with these arguments and a home."""
    return subprocess.Popen(
        [sys.executable, "-m", "core", *words],
        cwd=PROJECT,
        env={**os.environ, "COMPILEBOARD_HOME": str(home)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def done(home: Path) -> int:
    """Count the runs that are done."""
    return sum(status.state == "done" for _, status in Store(home).list())


def kill_a_worker(home: Path) -> str:
    """Kill the process of a compiling worker; return the id of its run."""
    while True:
        for run, status in Store(home).list():
            supervisor = supervisor_of(status)
            with suppress(psutil.Error, IndexError):
                if supervisor is not None:
                    supervisor.children()[0].send_signal(signal.SIGKILL)
                    return run.id
        time.sleep(0.02)


def visits(page: Page, url: str, sweep_id: str) -> list[float]:
    """Return the milliseconds from "back" to the title of the sweep's page, without the first visit."""
    shown_ms = []
    page.goto(f"{url}/sweep?sweep={sweep_id}")
    page.wait_for_selector(SETTLED)
    for _ in range(VISITS + 1):
        page.get_by_role("link", name="Runs", exact=True).click()
        page.wait_for_url("**/runs*")
        page.wait_for_selector(SETTLED)
        shown_ms.append(float(page.evaluate(BACK)))
        page.wait_for_selector(SETTLED)
    return shown_ms[1:]


def wait_for(condition: Callable[[], bool]) -> None:
    """Wait until a condition is true; raises TimeoutError after `PATIENCE_S` seconds."""
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError("the sweep does not go on")
        time.sleep(0.5)
