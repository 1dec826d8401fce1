"""Cost of recording: the first compiled call in a run and in `record()`, over bare `torch.compile`.

Each kind alternates with a bare call. Every call runs in a new fork of one process that has the fork server's
imports. Compiled C++ objects are in the cache, and the FX graph and AOTAutograd caches are off. A run has all
recorders; `record()` is for a user's own process.
"""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path

from benchmarks.homes import PROJECT, compile_environment
from benchmarks.table import Result, at_most, spread, tell

MODELS = ("transformer_block", "small_gpt", "llama_block", "small_vit", "dlrm", "mlp")
PAIRS = 7
# What is compared with a bare call, by its name in the table, with the aim.
KINDS = {"all recording on": 1.10, "record() in a user's process": 1.05}


def measure() -> list[Result]:
    """Run the pairs in a process with the fork server's environment; this process never imports torch."""
    command = [sys.executable, "-m", "benchmarks.recording"]
    done = subprocess.run(command, cwd=PROJECT, env=compile_environment(), stdout=subprocess.PIPE, check=True)
    results = []
    for name, kinds in json.loads(done.stdout).items():
        for kind, pairs in kinds.items():
            results += [
                Result(f"{name}: bare torch.compile", spread([bare for bare, _ in pairs], 3, " s")),
                Result(f"{name}: {kind}", spread([recorded for _, recorded in pairs], 3, " s")),
                at_most(f"{name}: {kind} over bare, by pair", [took / bare for bare, took in pairs], KINDS[kind]),
            ]
    return results


def main() -> None:
    """Fork a child of this warm process for each measurement, and print the seconds as JSON."""
    answers = os.dup(1)
    os.dup2(2, 1)
    from core.worker import forkserver

    forkserver._import_everything()

    pairs = {}
    for name in sys.argv[1:] or MODELS:
        for kind in ("", *KINDS):
            in_child(partial(first_call_s, name, kind))
        pairs[name] = {kind: [pair(name, kind, index) for index in range(PAIRS)] for kind in KINDS}
        tell(f"{name}: {PAIRS} pairs of each kind measured")
    os.write(answers, json.dumps(pairs).encode())


def pair(name: str, kind: str, index: int) -> tuple[float, float]:
    """Return the seconds without and with recording; the order alternates from pair to pair."""
    seconds = {}
    for each in ("", kind) if index % 2 else (kind, ""):
        seconds[each] = in_child(partial(first_call_s, name, each))
    return seconds[""], seconds[kind]


def in_child(task: Callable[[], float]) -> float:
    """Return the number that a task returns in a fork of this process; raises RuntimeError if it fails."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.write(writer, str(task()).encode())
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        answer = pipe.read()
    os.waitpid(pid, 0)
    if not answer:
        raise RuntimeError("a measurement failed; its traceback is above")
    return float(answer)


def first_call_s(name: str, kind: str) -> float:
    """Return the seconds of a sample's first compiled call, after loading and one eager call as in a run."""
    import torch

    from core import CompileJob, Model, sample
    from core.worker.load import ModelCopy

    model_copy = ModelCopy(sample(name).path, CompileJob(Model("sample", name)), "benchmark_model")
    args, kwargs = next(model_copy.calls())
    with torch.no_grad(), tempfile.TemporaryDirectory() as traces, recording_or_not(kind, Path(traces)):
        model_copy.model(*args, **kwargs)
        function = torch.compile(model_copy.model)
        gc.collect()
        start = time.perf_counter()
        function(*args, **kwargs)
        return time.perf_counter() - start


@contextmanager
def recording_or_not(kind: str, traces: Path) -> Iterator[None]:
    """Record as in a run, as in a user's process, or not at all, by `kind` (empty for not at all).

    The FX graph and AOTAutograd caches are off in all three cases.
    """
    import torch._functorch.config
    import torch._inductor.config

    from core.job import CompileJob, Model
    from core.library.recording import record
    from core.worker.record import emit, start_trace
    from core.worker.recorders.stacks import DeferredRecords
    from core.worker.run import recording

    run, own = KINDS
    if kind == run:
        start_trace(traces)
        with recording(DeferredRecords(emit), CompileJob(Model("sample", "mlp"))):
            yield
        return
    with (
        torch._inductor.config.patch(fx_graph_cache=False),
        torch._functorch.config.patch(enable_autograd_cache=False),
        record(home=traces) if kind == own else nullcontext(),
    ):
        yield


if __name__ == "__main__":
    main()
