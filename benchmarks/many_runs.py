"""Many runs: the index is made once, and lists, searches and the page Runs stay fast afterwards.

    python -m benchmarks.many_runs [--runs 100000] [--keep DIRECTORY]

CPU seconds and memory are those of one process. With `--keep` the runs stay in a directory, and the next call
uses them.
"""

from __future__ import annotations

import argparse
import os
import random
import time
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import msgspec
import psutil

from benchmarks.homes import temporary_home
from benchmarks.server import browser_page, dashboard, wait_until_idle
from benchmarks.table import Result, at_most, print_table, tell
from core import CompileJob, CompileOptions, Model, Run, Status, Store, job_to_json
from core.analysis.interval import Interval
from core.analysis.speed import Speed
from core.analysis.verdict import Summary
from core.base import words as fmt
from core.runs.index.database import RunIndex
from core.runs.index.query import RunQuery
from core.runs.status import Ended
from core.runs.stored import VERSION

RUNS = 100_000
DAYS = 300
MODELS = ("transformer_block", "small_gpt", "small_resnet", "mlp", "dlrm", "lstm_cell_loop", "small_vit")
TORCHES = ("2.11.0+cu130", "2.12.1+cu130", "2.13.0+cpu", "2.13.0+cu130")
DEVICES = {"cpu": "Intel Xeon Platinum 8488C", "cuda": "NVIDIA H100 80GB HBM3"}
STATES: dict[Ended, int] = {"done": 90, "failed": 6, "timed out": 2, "interrupted": 2}
RECORD = b'V0101 00:00:00.000000 1 a.py:1] {"dynamo_start": {}}\n'
LONGEST_S, MOST_MEMORY_MB = 0.3, 200.0
VISITS = 5
SEARCHES = {
    "newest page": "",
    "the last page": "",
    "model, device, torch": "model:gpt device:h100 torch:2.13",
    "free words, rare": "transformer_block 0a3f",
    "words without a match": "nothing has these words",
    "sorted by speedup": "is:faster speedup:>1.2 sort:speedup",
}


def measure(runs: int = RUNS, directory: Path | None = None) -> list[Result]:
    """Return the results for a store of `runs` runs; a temporary store if `directory` is None."""
    with temporary_home() if directory is None else nullcontext(directory) as home:
        store = Store(home)
        make_runs(store, runs)
        return [*_made(store, runs), *_searched(store), _visited(home)]


def main() -> None:
    """Measure as many runs as `--runs` says, and print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--keep", type=Path)
    arguments = parser.parse_args()
    print_table("Many runs", measure(arguments.runs, arguments.keep))


def make_runs(store: Store, runs: int) -> None:
    """Write synthetic runs until the store has `runs` of them."""
    rng = random.Random(0)
    first = len(os.listdir(store.runs_dir))
    for number in range(first, runs):
        write_run(store, rng, number, time.time() - DAYS * 86_400.0 * (1 - number / runs))
        if number % 10_000 == 0:
            tell(f"{number} of {runs} runs")


def write_run(store: Store, rng: random.Random, number: int, created_s: float) -> None:
    """Write the directory of an ended run: job, status, code, log and summary."""
    model, device = rng.choice(MODELS), rng.choice(list(DEVICES))
    mode = rng.choice(("default", "max-autotune", "reduce-overhead"))
    job = CompileJob(Model("sample", model), compile=CompileOptions(mode=mode), device=device)
    run_id = f"{time.strftime('%Y%m%d-%H%M%S', time.localtime(created_s))}-{model}-{number % 65_536:04x}"
    run = Run(run_id, store.runs_dir / run_id)
    run.trace_dir.mkdir(parents=True, exist_ok=True)
    (run.trace_dir / "trace.log").write_bytes(RECORD)
    (run.path / "job.json").write_bytes(job_to_json(job))
    run.model_path.write_text("model = None\n")
    state = rng.choices(tuple(STATES), tuple(STATES.values()))[0]
    status = Status("done", created_s, started_s=created_s, ended_s=created_s + 30 * rng.random(), title=model)
    run.write_status(
        replace(status, state=state, by=rng.choice(("", "ada", "grace")), peak_memory_bytes=number * 1_000)
    )
    data = msgspec.json.encode(_summary(rng, device) if state == "done" else Summary())
    (run.path / f"summary-{VERSION}.json").write_bytes(data)


def _summary(rng: random.Random, device: str) -> Summary:
    middle = rng.uniform(0.8, 2.5)
    speed = Speed(
        2e-3, 2e-3 / middle, (2e-3, 2e-3), (1e-3, 1e-3), Interval(middle * 0.97, middle, middle * 1.03), 30, 4, 10
    )
    return Summary(
        *(1, rng.randrange(4), rng.randrange(3), 40, rng.randrange(3, 12), "same", speed, rng.uniform(3, 40)),
        *(rng.choice(TORCHES), DEVICES[device], "f32[8, 64, 256]"),
    )


def _made(store: Store, runs: int) -> list[Result]:
    """Return CPU time, longest step, memory and size of the first index, made in steps as a page does."""
    index, process = RunIndex(store), psutil.Process()
    for path in store.index_dir.glob("*"):
        path.unlink()
    before_bytes, longest_s, steps = process.memory_info().rss, 0.0, 0
    began_s = time.process_time()
    while True:
        at_s = time.monotonic()
        progress = index.refresh(LONGEST_S)
        longest_s, steps = max(longest_s, time.monotonic() - at_s), steps + 1
        if progress.complete:
            break
    cpu_s = time.process_time() - began_s
    grown_mb = (process.memory_info().rss - before_bytes) / 1e6
    size_mb = sum(path.stat().st_size for path in store.index_dir.iterdir()) / 1e6
    return [
        Result(f"first index of {runs:,} runs", f"{cpu_s:.1f} s of CPU, {cpu_s / runs * 1e6:.0f} µs a run"),
        Result("longest step of it", f"{longest_s:.2f} s in {steps} steps"),
        Result("memory for it", f"{grown_mb:.0f} MB", f"≤ {MOST_MEMORY_MB:g} MB", grown_mb <= MOST_MEMORY_MB),
        Result("size of the file", f"{size_mb:.0f} MB"),
    ]


def _searched(store: Store) -> list[Result]:
    """Return the CPU time of the first listing, of searches, of a listing with a new run, and of usage."""
    index = RunIndex(store)
    results = [_timed("first listing of a new process", lambda: _listing(index, ""))]
    for what, text in SEARCHES.items():
        offset = index.refresh().total - 50 if what == "the last page" else 0
        results.append(_timed(what, lambda text=text, offset=offset: _listing(index, text, offset)))  # type: ignore[misc]
    (store.runs_dir / ".made").mkdir(exist_ok=True)
    (store.runs_dir / ".made").rmdir()
    results.append(_timed("newest page after a run was added", lambda: _listing(index, "")))
    return [*results, _timed("use of the store by a visitor", lambda: str(index.usage("ada")))]


def _visited(home: Path) -> Result:
    """Return the server's CPU time per visit of the page Runs by a new session, without the first visit."""
    taken_s = []
    with dashboard(home) as server, browser_page() as page:
        process = psutil.Process(server.pid)
        for visit in range(1 + VISITS):
            page.goto(f"{server.url}/runs?list_page={visit + 1}")
            page.get_by_text(f"of {fmt.number(len(os.listdir(home / 'runs')))} runs").wait_for()
            wait_until_idle(server)
            taken_s.append(sum(process.cpu_times()[:2]))
    each_ms = [1e3 * (after - before) for before, after in pairwise(taken_s)]
    return at_most("page Runs, CPU of the server", each_ms, 1e3 * LONGEST_S, 0, " ms")


def _listing(index: RunIndex, text: str, offset: int = 0) -> None:
    index.refresh(LONGEST_S)
    index.search(RunQuery.of(text), 100, offset)


def _timed(what: str, work: Callable[[], object]) -> Result:
    began_s = time.process_time()
    work()
    cpu_s = time.process_time() - began_s
    return Result(what, f"{cpu_s * 1e3:.0f} ms of CPU", f"≤ {LONGEST_S * 1e3:g} ms", cpu_s <= LONGEST_S)


if __name__ == "__main__":
    main()
