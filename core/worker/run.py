"""One run, inside its own process: load the code twice, call eagerly and compiled, compare, measure."""

from __future__ import annotations

import os
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
import torch._dynamo
from torch.utils._pytree import tree_leaves

from core.errors import JobError
from core.job import CompileJob
from core.store import Run
from core.targets import TARGETS
from core.worker.circumstances import emit_counters, emit_error, emit_setting
from core.worker.environment import devices
from core.worker.kernel_times import measure_kernels
from core.worker.load import Call, Twin, described
from core.worker.measure import Difference, compare, in_turn, synchronize
from core.worker.record import emit, recording, start_trace, step
from core.worker.roofline import emit_roofline

# Codes that user code is unlikely to exit with itself: os._exit(0) in a model is no finished run.
DONE, FAILED, OUT_OF_MEMORY = 100, 101, 102


class Stage:
    """Which part of the run is under way; an error is told with it."""

    def __init__(self) -> None:
        self.name = "starting"

    def enter(self, name: str) -> None:
        self.name = name
        step(name)


def work(run: Run, job: CompileJob) -> int:
    """Do the job of a run; returns the exit code. Whatever goes wrong in user code is recorded, not raised."""
    sys.dont_write_bytecode = True
    start_trace(run.trace_dir)
    path = Path(job.model.value) if job.model.kind == "file" else run.model_path
    sys.path.insert(0, str(path.parent))
    stage = Stage()
    try:
        emit_setting(run, job, path)
        with recording():
            _run(job, path, stage)
        code = DONE
    except BaseException as error:
        emit_error(stage.name, path, error)
        code = OUT_OF_MEMORY if _is_out_of_memory(error) else FAILED
    emit_counters()
    _flush()
    return code


def _is_out_of_memory(error: BaseException) -> bool:
    return isinstance(error, (MemoryError, torch.OutOfMemoryError)) or "DefaultCPUAllocator: " in str(error)


def _flush() -> None:
    """What was printed goes out; the user's code may have closed or replaced the streams."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(Exception):
            stream.flush()


def _run(job: CompileJob, path: Path, stage: Stage) -> None:
    _check_here(job)
    stage.enter("loading the model")
    eager = Twin(path, job, "compileboard_eager")
    compiled = Twin(path, job, "compileboard_model")
    options = job.compile
    if job.target:
        _generate(job, eager, compiled, stage)
        return
    function = torch.compile(
        compiled.model,
        fullgraph=options.fullgraph,
        dynamic=options.dynamic,
        backend=options.backend,
        mode=options.mode,
        options=options.options,
    )
    last = _calls(job, eager, compiled, function, stage)
    if job.measure and last is not None:
        stage.enter("measuring")
        with _silence():
            steady_s = _measure(job, eager, compiled, function, last)
            stage.enter("timing the kernels")
            if measure_kernels(lambda: _called(job, compiled, function, last[1]), steady_s, job.device):
                emit_roofline(job.device)


def _generate(job: CompileJob, eager: Twin, compiled: Twin, stage: Stage) -> None:
    """Make the calls while code is generated for the target; what is called runs eagerly on the CPU."""
    from core.worker.absent.generate import compiled_for, generating

    with generating(TARGETS[job.target]):
        _calls(job, eager, compiled, compiled_for(compiled.model, job.compile), stage)


def _check_here(job: CompileJob) -> None:
    if job.device not in (known := devices()) and job.device.partition(":")[0] not in known:
        raise JobError("device", f"`{job.device}` is not here; this machine has {', '.join(known)}")
    backends = torch._dynamo.list_backends(exclude_tags=())
    if job.compile.backend not in backends:
        raise JobError(
            "compile.backend", f"no backend `{job.compile.backend}`; torch has {', '.join(sorted(backends))}"
        )


def _calls(
    job: CompileJob, eager: Twin, compiled: Twin, function: Callable[..., Any], stage: Stage
) -> tuple[Call, Call] | None:
    """Make each call eagerly, then compiled; returns the inputs of the last one."""
    last = None
    left, right = eager.calls(), compiled.calls()
    index = 0
    while True:
        stage.enter(f"making the inputs of call {index}")
        _seed(job, index)
        call = next(left, None)
        _seed(job, index)
        twin = next(right, None)
        if call is None or twin is None:
            return last
        last = (call, twin)
        stage.enter(f"call {index}: eager")
        expected, eager_s = _timed(job, index, eager, _eagerly(eager.model), call)
        stage.enter(
            f"call {index}: generating for {TARGETS[job.target].title}" if job.target else f"call {index}: compiled"
        )
        actual, compiled_s = _timed(job, index, compiled, function, twin)
        emit(
            "call",
            index=index,
            inputs=described(call),
            eager_s=eager_s,
            compiled_s=None if job.target else compiled_s,
            differences=[] if job.target else [asdict(item) for item in _differences(expected, actual)],
        )
        index += 1


def _eagerly(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function with torch.compile off: `cond`, `while_loop` and `flex_attention` call it themselves."""

    def call(*args: Any, **kwargs: Any) -> Any:
        with torch.compiler.set_stance("force_eager"):
            return function(*args, **kwargs)

    return call


def _seed(job: CompileJob, index: int) -> None:
    torch.manual_seed(job.seed + index)


def _differences(expected: dict[str, Any], actual: dict[str, Any]) -> list[Difference]:
    return [item for what in expected for item in compare(what, expected[what], actual[what])]


def _timed(
    job: CompileJob, index: int, twin: Twin, function: Callable[..., Any], call: Call
) -> tuple[dict[str, Any], float]:
    _seed(job, index)
    synchronize(job.device)
    start = time.perf_counter()
    results = _called(job, twin, function, call)
    synchronize(job.device)
    return results, time.perf_counter() - start


def _called(job: CompileJob, twin: Twin, function: Callable[..., Any], call: Call) -> dict[str, Any]:
    """One call, with the backward if the job is training; the results by name, as they stand right after the call.

    Inference of a model with parameters runs without gradients; without parameters the inputs alone decide.
    """
    args, kwargs = call
    if not job.training:
        with torch.set_grad_enabled(not twin.parameters()):
            return {"output": _kept(function(*args, **kwargs))}
    leaves = [leaf for leaf in tree_leaves(call) if isinstance(leaf, torch.Tensor) and leaf.is_floating_point()]
    parameters = twin.parameters()
    for parameter in parameters:
        parameter.grad = None
    if not parameters:
        for leaf in leaves:
            leaf.requires_grad_(leaf.is_leaf or leaf.requires_grad)
            leaf.grad = None
    output = function(*args, **kwargs)
    _loss(output).backward()
    sources = parameters or leaves
    return {"output": _kept(output), "gradient": [source.grad for source in sources if source.grad is not None]}


def _kept(output: Any) -> list[Any]:
    return [leaf.detach().clone() if isinstance(leaf, torch.Tensor) else leaf for leaf in tree_leaves(output)]


def _loss(output: Any) -> torch.Tensor:
    floating = [leaf for leaf in tree_leaves(output) if isinstance(leaf, torch.Tensor) and leaf.requires_grad]
    if not floating:
        raise JobError("training", "no output of the model requires a gradient, so there is no backward to compile")
    return sum((leaf.float().mean() if leaf.numel() > 1 else leaf.float().sum() for leaf in floating), torch.zeros(()))


def _measure(
    job: CompileJob, eager: Twin, compiled: Twin, function: Callable[..., Any], calls: tuple[Call, Call]
) -> float:
    """Time both and record it; returns the seconds of a compiled call in its steady state."""
    samples = in_turn(
        lambda: _called(job, eager, _eagerly(eager.model), calls[0]),
        lambda: _called(job, compiled, function, calls[1]),
        job.device,
    )
    emit(
        "timing",
        eager_s=samples[0].seconds,
        compiled_s=samples[1].seconds,
        warm_up=samples[0].warm_up,
        calls_per_sample=samples[2],
    )
    return statistics.median(samples[1].seconds[samples[1].warm_up :])


@contextmanager
def _silence() -> Iterator[None]:
    """Drop what the model prints: it has printed it before, and now it would thousands of times."""
    _flush()
    try:
        kept = os.dup(1)
    except OSError:
        yield
        return
    with open(os.devnull, "wb") as nowhere:
        os.dup2(nowhere.fileno(), 1)
    try:
        yield
    finally:
        _flush()
        os.dup2(kept, 1)
        os.close(kept)
