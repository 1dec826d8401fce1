"""Simulated device for torch, Inductor and Triton: the target's properties, without execution.

`pretend` replaces torch's device queries, once in a process and before Inductor is imported, since some
queries run at import. While user code runs there is no accelerator (`torch.cuda.is_available()` is false);
within `compiling_for` there is one.

The shim lets torch trace CUDA fake tensors without a device. The shim is built and loaded here before torch
is imported, so this module imports torch only inside functions.
"""

import ctypes
import hashlib
import importlib.util
import os
import subprocess
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from core.base.errors import WorkerError
from core.base.machine import cpp_compiler
from core.job.targets import TARGETS, Target
from core.worker.triton import TargetDriver, gpu_target, install_driver

CUDA_VERSION, HIP_VERSION = "13.0", "7.0"
# Every version since 8 gives the same results; `shim.cpp` has the same number.
CUDNN_VERSION = 91900
MEMORY_BUS_BITS = 8
SOURCE = Path(__file__).with_name("shim.cpp")
BUILD_LIMIT_S = 300
FLAGS = ("-std=c++20", "-O1", "-shared", "-fPIC", "-w")


@dataclass(slots=True)
class _TargetState:
    """Target of this process, and whether torch can currently see it."""

    target: Target | None = None
    visible: bool = False


_state = _TargetState()
# A torch.library.Library unregisters its kernels when it is deleted.
_memory: list[Any] = []


def target() -> Target | None:
    """Return the target of the current compilation; None while user code runs."""
    return _state.target if _state.visible else None


@contextmanager
def compiling_for(chosen: Target) -> Iterator[None]:
    """Show torch the target as its only accelerator in this context."""
    before = _state.target, _state.visible
    _state.target, _state.visible = chosen, True
    try:
        yield
    finally:
        _state.target, _state.visible = before


def pretend(backend: str) -> None:
    """Simulate a `cuda` or `hip` device permanently; call it only in a process that serves targets."""
    os.environ["CUDA_VISIBLE_DEVICES"] = os.environ["HIP_VISIBLE_DEVICES"] = ""
    import torch

    if backend == "hip":
        torch.version.hip, torch.version.cuda = HIP_VERSION, None
    else:
        torch.version.cuda = torch.version.cuda or CUDA_VERSION
    _answer_for_cuda(torch)
    _answer_for_cudnn(torch)
    _answer_for_memory(torch)
    _answer_for_tracing(torch)
    with compiling_for(next(known_target for known_target in TARGETS.values() if known_target.backend == backend)):
        _answer_for_triton()


def _answer_for_cuda(torch: Any) -> None:
    answers = {
        "is_available": lambda: _state.visible,
        "is_initialized": lambda: False,
        "device_count": lambda: int(_state.visible),
        "current_device": lambda: 0,
        "get_device_properties": lambda device=None: properties(),
        "get_device_capability": lambda device=None: (properties().major, properties().minor),
        "get_device_name": lambda device=None: properties().name,
        "is_bf16_supported": lambda including_emulation=True: True,
        "is_tf32_supported": lambda: torch.version.hip is None,
        "set_device": lambda device: None,
        "synchronize": lambda device=None: None,
        "is_current_stream_capturing": lambda: False,
        "_exchange_device": lambda device: 0,
        "_maybe_exchange_device": lambda device: 0,
        "get_rng_state": lambda device="cuda": torch.get_rng_state(),
        "set_rng_state": lambda state, device="cuda": None,
        "_lazy_init": lambda: None,
    }
    for name, answer in answers.items():
        setattr(torch.cuda, name, answer)
    # Torch calls it before it plans CUDA graphs; builds without CUDA lack it.
    torch._C._cuda_cudaCachingAllocator_is_enabled = lambda: True


def _answer_for_cudnn(torch: Any) -> None:
    """Patch torch.backends.cudnn, which also stands for MIOpen.

    The imported module is a wrapper; its functions call each other in the wrapped module `m`.
    """
    cudnn = torch.backends.cudnn.m
    cudnn.is_available = cudnn._init = lambda: _state.visible
    cudnn.version = lambda: CUDNN_VERSION if _state.visible else None


def _answer_for_memory(torch: Any) -> None:
    """Allocate the target's real tensors, such as small constants, in CPU memory."""
    empty, empty_strided = torch.ops.aten.empty.memory_format, torch.ops.aten.empty_strided.default

    def empty_on_cpu(size: Any, *, device: Any = None, **options: Any) -> Any:
        return empty(size, device="cpu", **{**options, "pin_memory": False})

    def empty_strided_on_cpu(size: Any, stride: Any, *, device: Any = None, **options: Any) -> Any:
        return empty_strided(size, stride, device="cpu", **{**options, "pin_memory": False})

    _memory.append(torch.library.Library("aten", "IMPL"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        _memory[0].impl("empty.memory_format", empty_on_cpu, "CUDA", allow_override=True)
        _memory[0].impl("empty_strided", empty_strided_on_cpu, "CUDA", allow_override=True)


def _answer_for_tracing(torch: Any) -> None:
    """Keep fake tensors from creating anything on the device, although it is reported as available."""
    from torch._subclasses import fake_tensor

    fake_tensor.init_gpu_context = lambda device: None
    fake_tensor.FakeTensorMode.avoid_device_init = True
    from core.worker.cross_compilation.fallbacks import on_target

    fake_tensor.run_fallback_kernel = on_target(fake_tensor.run_fallback_kernel)


def _answer_for_triton() -> None:
    import triton.testing

    install_driver(TargetDriver(_triton_target, _driver_properties, _user_device))
    triton.testing.nvsmi = _nvsmi


def _user_device() -> Any:
    import torch

    return torch.device("cuda", 0) if _state.visible else torch.device("cpu")


def process_target() -> Target:
    """Return the target that was last set in this process; there must be one."""
    assert _state.target is not None
    return _state.target


def properties() -> SimpleNamespace:
    """Return the target's `torch.cuda.get_device_properties`, under torch's names; clocks are in kHz."""
    current = process_target()
    architecture = current.architecture
    return SimpleNamespace(
        name=current.device_name or current.title,
        gcnArchName=str(architecture.arch),
        multi_processor_count=current.multi_processor_count,
        total_memory=current.total_memory,
        L2_cache_size=current.l2_cache_bytes,
        major=architecture.major,
        minor=architecture.minor,
        warp_size=architecture.warp_size,
        regs_per_multiprocessor=architecture.regs_per_multiprocessor,
        max_threads_per_multi_processor=architecture.max_threads_per_multi_processor,
        max_threads_per_block=architecture.max_threads_per_block,
        shared_memory_per_block=architecture.shared_memory_per_block,
        shared_memory_per_block_optin=architecture.shared_memory_per_block_optin,
        shared_memory_per_multiprocessor=architecture.shared_memory_per_multiprocessor,
        clock_rate=1000 * current.max_clock_mhz,
        memory_clock_rate=_memory_clock_khz(current),
        memory_bus_width=MEMORY_BUS_BITS,
        is_integrated=0,
        is_multi_gpu_board=0,
    )


def _memory_clock_khz(chosen: Target) -> int:
    """Return the clock that gives the datasheet's bandwidth, with two transfers a cycle on an 8-bit bus."""
    return round(chosen.bandwidth / 2e3)


def _driver_properties() -> dict[str, int]:
    """Return the properties that Triton queries from its driver."""
    current = process_target()
    return {
        "max_shared_mem": current.architecture.shared_memory_per_block_optin,
        "multiprocessor_count": current.multi_processor_count,
        "mem_bus_width": MEMORY_BUS_BITS,
        "mem_clock_rate": _memory_clock_khz(current),
    }


def _nvsmi(names: list[str]) -> list[int]:
    """Return the result of Triton's only `nvidia-smi` query: clocks, in MHz."""
    return [process_target().max_clock_mhz for _ in names]


def _triton_target() -> Any:
    architecture = process_target().architecture
    return gpu_target(architecture.backend, architecture.arch, architecture.warp_size)


def load_shim(cache_dir: Path) -> ctypes.CDLL:
    """Load the shim before torch is imported, and build it if the cache has none.

    Call `set_guard` after the import. Raises WorkerError if torch or a C++ compiler is missing, or if the build
    fails.
    """
    return ctypes.CDLL(str(_built(_torch_dir(), cache_dir)), mode=ctypes.RTLD_GLOBAL)


def set_guard(shim: ctypes.CDLL, backend: str) -> None:
    """Install the simulated device's guard in place of the one that torch's import may have set."""
    shim.compileboard_set_guard(int(backend == "hip"))


def choose_attention(backend: int) -> None:
    """Set the kernel that `scaled_dot_product_attention` chooses, as `torch.nn.attention.SDPBackend`."""
    ctypes.CDLL(None).compileboard_choose_attention(ctypes.c_int64(backend))


def _torch_dir() -> Path:
    spec = importlib.util.find_spec("torch")
    if spec is None or not spec.submodule_search_locations:
        raise WorkerError("torch is not installed")
    return Path(spec.submodule_search_locations[0])


def _built(torch_dir: Path, cache_dir: Path) -> Path:
    key = hashlib.sha256(SOURCE.read_bytes() + version("torch").encode() + str(torch_dir).encode()).hexdigest()[:16]
    library = cache_dir / "shim" / f"absent_device_{key}.so"
    if not library.exists():
        library.parent.mkdir(parents=True, exist_ok=True)
        temporary = library.with_name(f".{library.name}.{os.getpid()}")
        _compile(torch_dir, temporary)
        temporary.replace(library)
    return library


def _compile(torch_dir: Path, output: Path) -> None:
    compiler = cpp_compiler()
    if compiler is None:
        raise WorkerError(
            "generating code for a device that is not there needs a C++ compiler, once; install g++, or set CXX"
        )
    lib = torch_dir / "lib"
    command = [compiler, *FLAGS, f"-I{torch_dir / 'include'}", str(SOURCE), "-o", str(output)]
    command += [f"-L{lib}", "-lc10", "-ltorch_cpu", f"-Wl,-rpath,{lib}"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=BUILD_LIMIT_S, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise WorkerError(f"the device shim could not be built: {error}") from None
    if done.returncode:
        raise WorkerError(f"the C++ compiler could not build the device shim: {done.stderr.strip()[:2000]}")
