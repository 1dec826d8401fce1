"""Triton for a target that need not be here: the driver that stands in for its own, and the compile of a kernel that
Inductor wrote.

Nothing is imported before it is asked for: what stands in must be there before Inductor is, which asks at import.
"""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any


class AbsentDriver:
    """Triton's driver of a target: it names the target and says what Triton asks of its device, and can launch nothing.

    Both are asked for when Triton asks, since a process may compile for several targets.
    """

    def __init__(self, target: Callable[[], Any], properties: Callable[[], dict[str, int]]) -> None:
        self.get_current_target = target
        self.utils = SimpleNamespace(get_device_properties=lambda device: properties())

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

    def get_active_torch_device(self) -> Any:
        """The device as torch writes it."""
        import torch

        return torch.device("cuda", 0)


def gpu_target(backend: str, arch: int | str, warp_size: int) -> Any:
    """A target as Triton writes it."""
    from triton.backends.compiler import GPUTarget

    return GPUTarget(backend, arch, warp_size)


def stand_in(driver: AbsentDriver) -> None:
    """Let a driver be Triton's, for good: kernels that Inductor wrote ask for the GPU's when they are imported."""
    from torch._inductor.runtime import triton_helpers
    from triton.runtime.driver import driver as drivers

    drivers.set_active(driver)
    triton_helpers.set_driver_to_gpu = lambda: None


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
