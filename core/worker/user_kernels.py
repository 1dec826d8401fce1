"""Interpretation of Triton kernels that user code launches without a GPU.

Triton's interpreter runs the kernels on the CPU, and a note in the run says so. Only launches are replaced:
compiling a kernel for a target needs no launch, and works as before.
"""

import contextvars
import functools
import importlib.util
import os
from collections.abc import Callable
from typing import Any

import torch

from core.report.records.compilation import NoteRecord
from core.worker.environment import devices
from core.worker.record import emit
from core.worker.triton import TargetDriver, gpu_target, install_launch_driver

INTERPRETED = "Triton's interpreter ran `{}`: no GPU is here.{}"
UNTIMED = " Of {} configs it took the first: nothing is timed."
REASON = "Triton's interpreter runs this kernel: no GPU is here"
WARP = 1
_within = contextvars.ContextVar("within a kernel that is interpreted", default=False)
_told: set[str] = set()


def interpret_kernels(target: bool) -> None:
    """Interpret all kernel launches in this process from now on.

    Does nothing without Triton. On a machine with a GPU, does nothing unless the run has a `target`. The
    process of a `target` already has the target's simulated driver; other processes get a driver for the
    interpreter.
    """
    if importlib.util.find_spec("triton") is None or (not target and devices() != ["cpu"]):
        return
    if not target:
        install_launch_driver(TargetDriver(_interpreter, _properties, lambda: torch.device("cpu")))
        _keep_operators_whole()
    from triton.runtime import autotuner, jit

    if not target:
        jit.KernelInterface.__getitem__ = lambda kernel, grid: _Launch(kernel, grid)
    called = jit.JITFunction.__call__
    jit.JITFunction.run = torch._dynamo.disable(_interpret, reason=REASON)
    jit.JITFunction.__call__ = lambda kernel, *args, **kwargs: _call(kernel, called, args, kwargs)
    autotuner.Autotuner.run = _first_config(autotuner.Autotuner.run)


def _interpreter() -> Any:
    return gpu_target("cpu", "interpreter", WARP)


def _properties() -> dict[str, int]:
    return {"multiprocessor_count": os.cpu_count() or 1, "warpSize": WARP}


def _keep_operators_whole() -> None:
    """Keep operators of `triton_op` opaque, since Inductor has no code for their kernels on a CPU."""
    import torch.export._trace

    torch.export._trace.custom_triton_ops_decomposition_disabled = lambda: True


class _Launch:
    """A kernel with its grid, `kernel[grid]`: calling it is one graph break, at the user's line."""

    def __init__(self, kernel: Any, grid: Any) -> None:
        self.kernel = kernel
        self.grid = grid

    @functools.partial(torch._dynamo.disable, reason=REASON)
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.kernel.run(*args, grid=self.grid, warmup=False, **kwargs)


def _interpret(kernel: Any, *args: Any, grid: Any, warmup: bool, **kwargs: Any) -> None:
    """Replace `JITFunction.run`: run the kernel in Triton's interpreter; do nothing if `warmup` is True."""
    from triton.runtime.interpreter import InterpretedFunction

    if warmup:
        return
    _tell(kernel.__name__)
    token = _within.set(True)
    try:
        interpreted = InterpretedFunction(kernel.fn)
        interpreted.pre_run_hooks = list(kernel.pre_run_hooks)
        interpreted.run(*args, grid=_whole_grid(grid), warmup=False, **kwargs)
    finally:
        _within.reset(token)


def _whole_grid(grid: Any) -> Any:
    """Return a grid as a tuple, or a function that returns one, since the interpreter accepts no list."""
    return (lambda meta: tuple(grid(meta))) if callable(grid) else tuple(grid)


def _call(kernel: Any, original: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """Replace `JITFunction.__call__`: interpret a kernel that an interpreted kernel calls."""
    from triton.runtime.interpreter import InterpretedFunction

    return InterpretedFunction(kernel.fn)(*args, **kwargs) if _within.get() else original(kernel, *args, **kwargs)


def _first_config(original: Callable[..., Any]) -> Callable[..., Any]:
    def run(tuned: Any, *args: Any, **kwargs: Any) -> Any:
        if len(tuned.configs) > 1:
            _tell(tuned.base_fn.__name__, UNTIMED.format(len(tuned.configs)))
        return original(tuned, *args, **kwargs)

    return run


def _tell(name: str, more: str = "") -> None:
    if name not in _told:
        _told.add(name)
        emit(NoteRecord(text=INTERPRETED.format(name, more)))
