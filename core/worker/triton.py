"""Triton without its GPU: a simulated driver, compilation of Inductor's kernels, interpretation of the user's own.

Modules are imported late: the driver must be installed before Inductor, which uses it at import.

Compilation of kernels for a target needs no launch, so it is not changed.
"""

from __future__ import annotations

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


class NothingToLaunch(RuntimeError):
    """Triton needs the device itself, to load or launch a kernel."""


class _Utils:
    """A driver's `utils`: the device's properties, and nothing that needs the device."""

    def __init__(self, properties: Callable[[], dict[str, int]]) -> None:
        self._properties = properties

    def get_device_properties(self, _device: Any) -> dict[str, int]:
        return self._properties()

    def __getattr__(self, name: str) -> Any:
        return _refused(name)


class TargetDriver:
    """Triton driver for a target: it provides the target and device properties, and can't launch kernels.

    Target and properties are looked up on each query, since a process may compile for several targets. So is `device`,
    on which user code creates its tensors.
    """

    def __init__(
        self,
        target: Callable[[], Any],
        properties: Callable[[], dict[str, int]],
        device: Callable[[], Any] | None = None,
    ) -> None:
        self.get_current_target = target
        self.utils = _Utils(properties)
        self._device = device

    def __getattr__(self, name: str) -> Any:
        """Refuse all other driver attributes, since they need the device."""
        return _refused(name)

    @staticmethod
    def get_device_interface() -> Any:
        """Return torch's module for the device."""
        import torch

        return torch.cuda

    @staticmethod
    def is_active() -> bool:
        """Return True, since Triton queries each of its drivers."""
        return True

    def get_current_device(self) -> int:
        """Return 0, the only device."""
        return 0

    def set_current_device(self, device: Any) -> None:
        """Do nothing: there is one device."""

    def get_current_stream(self, _device: Any = None) -> int:
        """Return 0, the only stream."""
        return 0

    def get_device_capability(self, _device: Any = None) -> tuple[int, int]:
        """Return the target's compute capability in torch's format."""
        major, minor = divmod(arch, 10) if isinstance(arch := self.get_current_target().arch, int) else (0, 0)
        return major, minor

    def get_active_torch_device(self) -> Any:
        """Return the device as a torch.device."""
        import torch

        return self._device() if self._device else torch.device("cuda", 0)

    @staticmethod
    def get_benchmarker() -> Callable[..., list[float]]:
        """Return a benchmarker that times nothing: Triton takes the first of equally fast configs."""
        return lambda kernel_call, *_, **__: [0.0, 0.0, 0.0]

    def get_empty_cache_for_benchmark(self) -> Any:
        """Return an empty tensor: nothing is cleared before a sample."""
        import torch

        return torch.empty(0)

    def clear_cache(self, cache: Any) -> None:
        """Do nothing: nothing is timed."""


def _refused(name: str) -> Callable[..., Any]:
    """Return a replacement for driver attributes that need the device.

    Raises AttributeError for Python's own names.
    """
    if name.startswith("__"):
        raise AttributeError(name)

    def refuse(*_: Any, **__: Any) -> Any:
        raise NothingToLaunch(f"Triton asked for `{name}`, which needs the device itself, and it is not here")

    return refuse


def gpu_target(backend: str, arch: int | str, warp_size: int) -> Any:
    """Return a target in Triton's format."""
    from triton.backends.compiler import GPUTarget

    return GPUTarget(backend, arch, warp_size)


def install_driver(driver: TargetDriver) -> None:
    """Make a driver Triton's for the whole process, since generated kernels query the GPU's driver at import."""
    from torch._inductor.runtime import triton_helpers
    from triton.runtime.driver import driver as drivers

    drivers.set_active(driver)
    triton_helpers.set_driver_to_gpu = lambda: None


def install_launch_driver(driver: TargetDriver) -> None:
    """Make a driver Triton's if there is none, for kernels that user code launches."""
    from triton.runtime.driver import driver as drivers

    drivers.set_active(driver)


def compile_config(autotuner: Any, config: Any) -> Any:
    """Compile a config to the last stage, with the signature, constants and options that Inductor passes to Triton.

    It does what `CachingAutotuner._precompile_config` does before it needs the device. Raises Triton's errors.
    """
    import triton
    from triton.compiler import ASTSource

    meta = autotuner._create_compile_meta(config)
    options = autotuner._create_compile_options(config, meta)
    source = ASTSource(autotuner.fn, meta["signature"], meta["constants"], meta["configs"][0])
    target = gpu_target(meta["device_type"], meta["cc"], autotuner.device_props.warp_size or 32)
    return triton.compile(source, target=target, options=options)


INTERPRETED = "Triton's interpreter ran `{}`: no GPU is here.{}"
UNTIMED = " Of {} configs it took the first: nothing is timed."
REASON = "Triton's interpreter runs this kernel: no GPU is here"
WARP = 1
_within = contextvars.ContextVar("within a kernel that is interpreted", default=False)
_told: set[str] = set()


def interpret_kernels(target: bool) -> None:
    """Interpret all launches in this process from now on; do nothing with a GPU or without Triton.

    The process of a `target` already has the target's simulated driver; other processes get one for the interpreter.
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
    """Replace `JITFunction.run`; the grid may be a single number."""
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
    """Return a grid as a tuple, as the interpreter needs it; a launch also accepts a list."""
    return (lambda meta: tuple(grid(meta))) if callable(grid) else tuple(grid)


def _call(kernel: Any, original: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """Call a kernel from another one: a plain Python call inside the interpreter."""
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
