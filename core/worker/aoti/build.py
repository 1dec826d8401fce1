"""Build of the C++ program that runs packages: compiled once on this machine and kept in the store's cache."""

from __future__ import annotations

import hashlib
import shlex
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

import torch

from core.base.errors import ProgramError
from core.base.machine import build_cache, build_once, cpp_compiler
from core.base.words import limit_s

SOURCE = Path(__file__).with_name("main.cpp")
CMAKE = Path(__file__).with_name("CMakeLists.txt")
NAME = "aoti_run"
FLAGS = ("-std=c++20", "-O1", "-w")
LIBRARIES = ("torch", "torch_cpu", "c10")
BUILD_LIMIT_S = 600.0
MOST_SAID_CHARS = 4_000
NO_COMPILER = (
    "the program in C++ is built with a C++ compiler, and there is none: install g++, or set CXX; its sources, the "
    "inputs and the package are kept with the run"
)


@dataclass(frozen=True, slots=True)
class RunnerBuild:
    """The built program: its path, its compiler, and the build time (None if it was already built)."""

    path: Path
    compiler: str
    command: str
    seconds: float | None


def build_runner() -> RunnerBuild:
    """Return the program, building it if necessary; raises ProgramError with the compiler's message."""
    compiler = cpp_compiler()
    if compiler is None:
        raise ProgramError(NO_COMPILER)
    version = _version(compiler)
    path = build_cache("aoti") / _key(compiler, version) / NAME
    start = time.perf_counter()
    compiled = build_once(path, lambda target: _call(_command(compiler, str(target))))
    shown = shlex.join(_command(compiler, NAME))
    return RunnerBuild(path, version, shown, time.perf_counter() - start if compiled else None)


def _command(compiler: str, target: str) -> list[str]:
    """Return the compiler command, with torch's headers and libraries."""
    home = Path(torch.__file__).parent
    include = [f"-I{home / part}" for part in ("include", "include/torch/csrc/api/include")]
    accelerated = ("torch_cuda", "c10_cuda") if torch.version.cuda else ()
    libraries = [f"-l{name}" for name in (*LIBRARIES, *accelerated)]
    link = [f"-L{home / 'lib'}", "-Wl,--no-as-needed", *libraries, f"-Wl,-rpath,{home / 'lib'}"]
    return [compiler, *FLAGS, *include, str(SOURCE), "-o", target, *link]


def _call(command: list[str]) -> None:
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, errors="replace", check=False, timeout=BUILD_LIMIT_S
        )
    except subprocess.TimeoutExpired:
        raise ProgramError(f"the program in C++ was not built within {limit_s(BUILD_LIMIT_S)}") from None
    if done.returncode:
        raise ProgramError(f"the program in C++ cannot be built: {done.stderr[:MOST_SAID_CHARS]}")


def _version(compiler: str) -> str:
    done = subprocess.run((compiler, "--version"), capture_output=True, text=True, errors="replace", check=False)
    return next(iter(done.stdout.splitlines()), compiler)[:200]


def _key(compiler: str, version: str) -> str:
    """Return a digest of the program's inputs: its source, the compiler and torch."""
    command = repr((_command(compiler, NAME), version, torch.__version__))
    return hashlib.sha256(SOURCE.read_bytes() + command.encode()).hexdigest()[:16]
