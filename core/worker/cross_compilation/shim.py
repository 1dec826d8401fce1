"""Build and loading of the shim, with which torch traces CUDA fake tensors without a device.

Nothing in this module imports torch.
"""

from __future__ import annotations

import ctypes
import hashlib
import importlib.util
import os
import subprocess
from importlib.metadata import version
from pathlib import Path

from core.base.errors import WorkerError
from core.base.machine import cpp_compiler

SOURCE = Path(__file__).with_name("shim.cpp")
BUILD_LIMIT_S = 300
FLAGS = ("-std=c++20", "-O1", "-shared", "-fPIC", "-w")


def load_shim(cache_dir: Path) -> ctypes.CDLL:
    """Load the shim before torch is imported, and build it if the cache has none.

    Call `set_guard` after the import. Raises WorkerError if there is no C++ compiler or it fails.
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
