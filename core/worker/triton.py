"""Triton for a target that need not be here: the driver that stands in for its own, and the compile of a kernel that
Inductor wrote.

Nothing is imported before it is asked for: what stands in must be there before Inductor is, which asks at import.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class NothingToLaunch(RuntimeError):
    """What Triton would do with the device itself: load a kernel, launch it."""


class _Utils:
    """What Triton calls a driver's `utils`: the device's properties, and nothing that needs the device."""

    def __init__(self, properties: Callable[[], dict[str, int]]) -> None:
        self._properties = properties

    def get_device_properties(self, _device: Any) -> dict[str, int]:
        return self._properties()

    def __getattr__(self, name: str) -> Any:
        return _refused(name)


class TargetDriver:
    """Triton's driver of a target: it names the target and says what Triton asks of its device, and can launch nothing.

    Target and properties are asked for when Triton asks, since a process may compile for several targets, and so is the
    `device` on which user code makes its tensors.
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
        """Whatever else a driver has: it needs the device."""
        return _refused(name)

    @staticmethod
    def get_device_interface() -> Any:
        """The module of torch that speaks for the device."""
        import torch

        return torch.cuda

    @staticmethod
    def is_active() -> bool:
        """As Triton asks its drivers."""
        return True

    def get_current_device(self) -> int:
        """The one device there is."""
        return 0

    def set_current_device(self, device: Any) -> None:
        """There is one device."""

    def get_current_stream(self, _device: Any = None) -> int:
        """The one stream."""
        return 0

    def get_device_capability(self, _device: Any = None) -> tuple[int, int]:
        """Of the target, as torch says it."""
        major, minor = divmod(arch, 10) if isinstance(arch := self.get_current_target().arch, int) else (0, 0)
        return major, minor

    def get_active_torch_device(self) -> Any:
        """The device as torch writes it."""
        import torch

        return self._device() if self._device else torch.device("cuda", 0)

    @staticmethod
    def get_benchmarker() -> Callable[..., list[float]]:
        """Nothing is timed: all configs of a kernel are as fast, so that Triton takes the first."""
        return lambda kernel_call, *_, **__: [0.0, 0.0, 0.0]

    def get_empty_cache_for_benchmark(self) -> Any:
        """What is cleared before each sample: nothing."""
        import torch

        return torch.empty(0)

    def clear_cache(self, cache: Any) -> None:
        """Nothing is timed."""


def _refused(name: str) -> Callable[..., Any]:
    """What stands for a part of a driver that needs the device; names that Python asks about are not there."""
    if name.startswith("__"):
        raise AttributeError(name)

    def refuse(*_: Any, **__: Any) -> Any:
        raise NothingToLaunch(f"Triton asked for `{name}`, which needs the device itself, and it is not here")

    return refuse


def gpu_target(backend: str, arch: int | str, warp_size: int) -> Any:
    """A target as Triton writes it."""
    from triton.backends.compiler import GPUTarget

    return GPUTarget(backend, arch, warp_size)


def install_driver(driver: TargetDriver) -> None:
    """Let a driver be Triton's, for good: kernels that Inductor wrote ask for the GPU's when they are imported."""
    from torch._inductor.runtime import triton_helpers
    from triton.runtime.driver import driver as drivers

    drivers.set_active(driver)
    triton_helpers.set_driver_to_gpu = lambda: None


def install_launch_driver(driver: TargetDriver) -> None:
    """Let a driver be Triton's where there is no other, for kernels that user code launches."""
    from triton.runtime.driver import driver as drivers

    drivers.set_active(driver)


def compile_config(autotuner: Any, config: Any) -> Any:
    """One config compiled to the last rung, with the signature, constants and options that Inductor gives Triton.

    It is what `CachingAutotuner._precompile_config` does before it looks for the device. Raises what Triton raises.
    """
    import triton
    from triton.compiler import ASTSource

    meta = autotuner._create_compile_meta(config)
    options = autotuner._create_compile_options(config, meta)
    source = ASTSource(autotuner.fn, meta["signature"], meta["constants"], meta["configs"][0])
    target = gpu_target(meta["device_type"], meta["cc"], autotuner.device_props.warp_size or 32)
    return triton.compile(source, target=target, options=options)
