"""Checks of this machine: tools, packages, devices, memory and disks; torch's own `collect_env`.

The checks do not import torch.
"""

import os
import platform
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Literal

from core.base.machine import Environment, build_cache, cpp_compiler, memory_bytes, package_version, temporary_dir
from core.base.words import bytes_, count

CheckState = Literal["ok", "optional", "problem"]
SUPPORTED = ((2, 11), (2, 15))
LEAST_MEMORY_BYTES, LEAST_DISK_BYTES = 2 << 30, 1 << 30
VERSION_TIMEOUT_S = 10.0
PROBE_BYTES = 4096
# Optional packages: what does not work without them, and how to install them.
PACKAGES = {
    "triton": ("Triton kernels are neither compiled, interpreted nor generated for a target.", "pip install triton"),
    "pygraphviz": (
        "Graphs are drawn by the built-in layout instead of Graphviz's.",
        "apt-get install graphviz libgraphviz-dev && pip install pygraphviz",
    ),
    "depyf": ("The page Bytecode shows no decompiled source.", "pip install depyf"),
    "onnxruntime": (
        "The page Neighbours does not run models on ONNX Runtime.",
        "pip install onnx onnxscript onnxruntime",
    ),
    "openvino": ("The page Neighbours does not run models on OpenVINO.", "pip install openvino"),
    "mlx": ("Files that import MLX cannot run.", 'pip install "mlx[cpu]" (macOS: pip install mlx)'),
}


@dataclass(frozen=True, slots=True)
class Check:
    """A check of a tool, package, device or folder: the result, the consequence and the remedy.

    `state` is `problem` if ordinary runs fail or may fail. It is `optional` if only the feature named in
    `consequence` is missing.
    """

    name: str
    state: CheckState
    found: str
    consequence: str = ""
    remedy: str = ""


def checks(home: Path, environment: Environment | None) -> tuple[Check, ...]:
    """Return all checks; `environment` is torch's own report, None while torch is starting."""
    return (
        Check("Python", "ok", f"{platform.python_version()}, {platform.platform()}"),
        torch_check(environment),
        compiler_check(),
        headers_check(),
        cmake_check(),
        *(package_check(name) for name in PACKAGES),
        device_check(environment),
        driver_check(),
        Check("Threads", "ok", count(os.cpu_count() or 1, "core")),
        memory_check(),
        *(disk_check(name, path) for name, path in _folders(home).items()),
        browser_check(),
    )


def torch_check(environment: Environment | None) -> Check:
    """Check that torch starts, and that its version is a supported one."""
    name = "torch"
    installed = package_version("torch")
    if not installed:
        return Check(name, "problem", "not installed", "Nothing can be compiled.", "pip install -r requirements.txt")
    if environment is None:
        return Check(name, "ok", f"{installed}, not started yet")
    if environment.problem:
        return Check(name, "problem", f"{installed}: {environment.problem}", "Nothing can be compiled.")
    numbers = tuple(int(part) for part in environment.torch.split(".")[:2] if part.isdecimal())
    if not SUPPORTED[0] <= numbers <= SUPPORTED[1]:
        least, most = (".".join(map(str, pair)) for pair in SUPPORTED)
        return Check(name, "problem", environment.torch, f"Tested with torch {least} to {most} only.")
    return Check(name, "ok", environment.torch)


def compiler_check(start: bool = True) -> Check:
    """Check that there is a C++ compiler; if `start` is True, also that the compiler starts."""
    name, consequence = "C++ compiler", "Inductor cannot build kernels for the CPU."
    remedy = "apt-get install g++ (macOS: xcode-select --install), or set CXX"
    path = cpp_compiler()
    if path is None:
        return Check(name, "problem", f"no {os.environ.get('CXX', 'g++')} on PATH", consequence, remedy)
    answer = _version_line(path) if start else path
    if answer is None:
        return Check(name, "problem", f"{path} does not start", consequence, remedy)
    return Check(name, "ok", answer)


def headers_check() -> Check:
    """Check that Python's headers are installed."""
    header = Path(sysconfig.get_path("include")) / "Python.h"
    if header.is_file():
        return Check("Python headers", "ok", str(header.parent))
    return Check(
        "Python headers",
        "problem",
        f"no {header}",
        "Inductor cannot build the Python side of its C++ kernels.",
        "apt-get install python3-dev",
    )


def cmake_check() -> Check:
    """Check that CMake is installed, which builds the C++ project of an AOTInductor package."""
    path = shutil.which("cmake")
    answer = _version_line(path) if path else None
    if answer:
        return Check("CMake", "ok", answer)
    missing = "The C++ project of an AOTInductor package is not built and run."
    return Check("CMake", "optional", "not on PATH", missing, "pip install cmake")


def package_check(name: str) -> Check:
    """Check that an optional package is installed; it is not imported."""
    found = package_version(name)
    if found:
        return Check(name, "ok", found)
    consequence, remedy = PACKAGES[name]
    return Check(name, "optional", "not installed", consequence, remedy)


def device_check(environment: Environment | None) -> Check:
    """Check that torch can use a device other than the CPU."""
    if environment is None:
        return Check("GPU", "ok", "known when torch has started")
    if environment.problem:
        return Check("GPU", "optional", "unknown, since torch does not start", "Nothing runs on a device.")
    accelerators = [name for name in environment.devices if name != "cpu"]
    found = ", ".join(f"{name} ({words})" for name, words in environment.devices.items())
    if accelerators:
        return Check("GPU", "ok", found)
    return Check(
        "GPU", "optional", f"none: torch has {found}", "Code is generated for a target such as h100, but does not run."
    )


def driver_check() -> Check:
    """Check that the driver of an NVIDIA GPU is loaded."""
    loaded = Path("/proc/driver/nvidia/version")
    try:
        return Check("NVIDIA driver", "ok", loaded.read_text().splitlines()[0])
    except (OSError, IndexError):
        return Check("NVIDIA driver", "optional", "not loaded", "A CUDA build of torch sees no GPU here.")


def memory_check() -> Check:
    """Check that enough memory is available for a worker, which takes about a gigabyte."""
    available, total = memory_bytes()
    found = f"{bytes_(available)} of {bytes_(total)} available"
    if available >= LEAST_MEMORY_BYTES:
        return Check("Memory", "ok", found)
    return Check(
        "Memory", "problem", found, "A run may end out of memory.", "End other processes, or lower the run's limit."
    )


def disk_check(name: str, path: Path) -> Check:
    """Check that a folder is writable, and that its disk has enough free space."""
    problem = _write_problem(path)
    if problem:
        return Check(
            name, "problem", f"{path}: {problem}", "Runs end with an error when they write.", "Free some room."
        )
    free = shutil.disk_usage(_existing(path)).free
    found = f"{path}, {bytes_(free)} free"
    if free >= LEAST_DISK_BYTES:
        return Check(name, "ok", found)
    return Check(name, "problem", found, "A run may end with a full disk.", "Free some room.")


def browser_check() -> Check:
    """Check that Chromium is installed; the browser tests need it."""
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    if path:
        return Check("Chromium", "ok", path)
    return Check("Chromium", "optional", "not on PATH", "The browser tests cannot run.", "apt-get install chromium")


def summary(results: tuple[Check, ...]) -> str:
    """Return a sentence with the number of problems and of missing optional tools and packages."""
    problems = [check.name for check in results if check.state == "problem"]
    optional = sum(check.state == "optional" for check in results)
    rest = f"{count(optional, 'optional thing')} missing" if optional else "nothing is missing"
    if problems:
        return f"{count(len(problems), 'problem')}: {', '.join(problems)}; {rest}."
    return f"Everything that a run needs is here; {rest}."


def _folders(home: Path) -> dict[str, Path]:
    folders = {"Store": home, "Temporary files": temporary_dir(), "Build cache": build_cache("")}
    caches = os.environ.get("TORCHINDUCTOR_CACHE_DIR")
    return {**folders, "Inductor's cache": Path(caches)} if caches else folders


def _existing(path: Path) -> Path:
    """Return the folder itself, or the nearest existing parent folder."""
    return next(folder for folder in (path, *path.parents) if folder.is_dir())


def _write_problem(path: Path) -> str:
    """Return why no file can be written in a folder; empty if one can."""
    try:
        with tempfile.NamedTemporaryFile(dir=_existing(path)) as file:
            file.write(b"\0" * PROBE_BYTES)
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        return error.strerror or str(error)
    return ""


@lru_cache(maxsize=16)
def _version_line(path: str) -> str | None:
    """Return the first line of a program's `--version`; None if it does not start or fails."""
    try:
        done = subprocess.run(
            [path, "--version"], capture_output=True, text=True, timeout=VERSION_TIMEOUT_S, check=True, errors="replace"
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return next(iter(done.stdout.splitlines()), "").strip() or path


COLLECT_TIMEOUT_S = 60
MOST_COLLECTED_CHARS = 20_000  #: characters of torch's collect_env in a bug report
PROGRESS = "Collecting environment information..."


def is_torch_here(version: str) -> bool:
    """Return True if `version`, the torch version that a run recorded, is installed here."""
    return version != "" and version == package_version("torch")


@lru_cache(maxsize=1)
def collected_environment() -> str:
    """Return the output of `torch.utils.collect_env`; empty if it fails or takes too long."""
    try:
        done = subprocess.run(
            [sys.executable, "-W", "ignore", "-m", "torch.utils.collect_env"],
            capture_output=True,
            text=True,
            timeout=COLLECT_TIMEOUT_S,
            check=True,
            errors="replace",
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.removeprefix(PROGRESS).strip()[:MOST_COLLECTED_CHARS]
