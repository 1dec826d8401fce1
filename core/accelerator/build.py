"""The runtime in C++, built with the machine's compiler at first use and kept in the store's cache."""

from __future__ import annotations

import hashlib
import os
import platform
import subprocess
import sysconfig
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from core.base.building import build_cache, build_once
from core.base.errors import ProgramError
from core.base.machine import cpp_compiler

SOURCES = Path(__file__).with_name("runtime")
KERNELS = ("attention", "elementwise", "gemm", "rows", "thin")
ONCE_A_PROGRAM = ("check", "crc32c", "emit_c", "emit_steps", "file", "fuse", "lives", "names", "passes")
LIBRARY = ("abi", "execute", "jobs", *ONCE_A_PROGRAM, *KERNELS)
NAME = "libcompileboard_runtime.so"
EXTENSION = "python/call"
FLAGS = ("-std=gnu++17", "-fPIC", "-pthread", "-fvisibility=hidden")
FAST = ("-O3", "-march=native", "-fno-math-errno", "-fno-trapping-math")
# What runs once a program need not be fast, and is compiled in half the time.
ONCE = ("-O1",)
MOST_AT_ONCE = 4
NO_COMPILER = (
    "the backend `accelerator` builds its runtime with a C++ compiler, and there is none: install g++, or set CXX; "
    "`aot_eager` and `eager` need none"
)


def library() -> Path:
    """The shared library, built if it is not there; raises ProgramError with the compiler's words."""
    return _built(NAME, LIBRARY, ("-shared", f"-Wl,--version-script={SOURCES / 'exports.map'}"))


def program(name: str) -> Path:
    """A program that is linked with the library, such as `cb_run`."""
    shared = library()
    return _built(name, (name,), (str(shared), f"-Wl,-rpath,{shared.parent}"))


def extension() -> Path:
    """The extension module of this Python that makes calls; raises ProgramError where Python's headers are missing."""
    include = sysconfig.get_path("include")
    if not (Path(include) / "Python.h").exists():
        raise ProgramError(f"there is no Python.h in {include}")
    digest = hashlib.sha256((SOURCES / f"{EXTENSION}.cpp").read_bytes()).hexdigest()[:8]
    name = f"call-{digest}{sysconfig.get_config_var('EXT_SUFFIX')}"
    return _built(name, (EXTENSION,), ("-shared",), ("-O2", f"-I{include}", f"-I{SOURCES}"))


def _built(name: str, units: tuple[str, ...], link: tuple[str, ...], flags: tuple[str, ...] = ()) -> Path:
    compiler = cpp_compiler()
    if compiler is None:
        raise ProgramError(NO_COMPILER)
    path = build_cache("runtime") / _key(compiler) / name
    build_once(path, lambda made: _build(compiler, made, units, link, flags))
    return path


def _build(compiler: str, made: Path, units: tuple[str, ...], link: tuple[str, ...], flags: tuple[str, ...]) -> None:
    def compiled(unit: str) -> str:
        target = str(made.parent / f"{Path(unit).name}.o")
        speed = FAST if unit in KERNELS else ONCE
        _call(compiler, *FLAGS, *speed, *flags, "-c", str(SOURCES / f"{unit}.cpp"), "-o", target)
        return target

    with ThreadPoolExecutor(min(MOST_AT_ONCE, os.cpu_count() or 1)) as pool:
        objects = list(pool.map(compiled, units))
    _call(compiler, *FLAGS, *objects, *link, "-o", str(made))


def _call(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    if done.returncode:
        raise ProgramError(f"the runtime cannot be built: {done.stderr[-4000:]}")


def _key(compiler: str) -> str:
    """Return a digest of a built file's inputs: the sources, the flags, the compiler, and this machine's processor."""
    digest = hashlib.sha256()
    for path in sorted(SOURCES.glob("*.*")):
        digest.update(path.name.encode() + path.read_bytes())
    version = subprocess.run((compiler, "--version"), capture_output=True, check=False).stdout
    digest.update(repr((FLAGS, FAST, ONCE, compiler, version, _processor())).encode())
    return digest.hexdigest()[:16]


def _processor() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
            return next((line for line in file if line.startswith(("flags", "Features"))), "")
    except OSError:
        return platform.processor()
