"""Triton without a GPU: a simulated driver for a target, and the compilation of Inductor's kernels.

Triton's modules are imported late: the driver must be installed before Inductor, which uses it at import.
"""

from collections.abc import Callable
from typing import Any


class NothingToLaunch(RuntimeError):
    """Error of a Triton operation that needs the device, such as loading or launching a kernel."""


class _Utils:
    """A driver's `utils`: returns the device's properties; its other functions raise NothingToLaunch."""

    def __init__(self, properties: Callable[[], dict[str, int]]) -> None:
        self._properties = properties

    def get_device_properties(self, _device: Any) -> dict[str, int]:
        return self._properties()

    def __getattr__(self, name: str) -> Any:
        return _refused(name)


class TargetDriver:
    """Triton driver for a target: it provides the target and device properties, and can't launch kernels.

    Target, properties and `device` are looked up on each query, since a process may compile for several targets. User
    code creates its tensors on `device`.
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
    """Return a function that raises NothingToLaunch, for a driver attribute that needs the device.

    Raises AttributeError for names that begin with two underscores.
    """
    if name.startswith("__"):
        raise AttributeError(name)

    def refuse(*_: Any, **__: Any) -> Any:
        raise NothingToLaunch(f"Triton asked for `{name}`, which needs the device itself, and it is not here")

    return refuse


def gpu_target(backend: str, arch: int | str, warp_size: int) -> Any:
    """Return a target as Triton's GPUTarget."""
    from triton.backends.compiler import GPUTarget

    return GPUTarget(backend, arch, warp_size)


def install_driver(driver: TargetDriver) -> None:
    """Install a driver in Triton for the process; generated kernels can no longer select the GPU's."""
    from torch._inductor.runtime import triton_helpers
    from triton.runtime.driver import driver as drivers

    drivers.set_active(driver)
    triton_helpers.set_driver_to_gpu = lambda: None


def install_launch_driver(driver: TargetDriver) -> None:
    """Install a driver in Triton for kernels that user code launches; replaces the active driver."""
    from triton.runtime.driver import driver as drivers

    drivers.set_active(driver)


def compile_config(autotuner: Any, config: Any) -> Any:
    """Compile a kernel with one config through all of Triton's stages, and return the result.

    Signature, constants and options are those of Inductor, as in `CachingAutotuner._precompile_config` before
    it needs the device. Raises Triton's errors.
    """
    import triton
    from triton.compiler import ASTSource

    meta = autotuner._create_compile_meta(config)
    options = autotuner._create_compile_options(config, meta)
    source = ASTSource(autotuner.fn, meta["signature"], meta["constants"], meta["configs"][0])
    target = gpu_target(meta["device_type"], meta["cc"], autotuner.device_props.warp_size or 32)
    return triton.compile(source, target=target, options=options)
