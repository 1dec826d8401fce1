"""The accelerator's C++ runtime, called through ctypes.

Tensors are passed as addresses and never copied. The runtime is built at first use and stored in the build cache.
"""

import ctypes
import hashlib
import os
import platform
import subprocess
import sysconfig
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from ctypes import POINTER, byref, c_char_p, c_double, c_int, c_size_t, c_uint32, c_uint64, c_void_p
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from core.accelerator.program.program import PASSES
from core.base.errors import ProgramError
from core.base.machine import build_cache, build_once, cpp_compiler

ABI_VERSION = 2
REFERENCE, OPTIMISING = 0, 1
ERROR_BYTES = 1024
SOURCES = Path(__file__).with_name("runtime")
KERNELS = ("attention", "elementwise", "gemm", "rows", "thin")
ONCE_A_PROGRAM = ("check", "crc32c", "emit_c", "emit_steps", "file", "fuse", "lives", "names", "passes")
LIBRARY = ("abi", "execute", "jobs", *ONCE_A_PROGRAM, *KERNELS)
NAME = "libcompileboard_runtime.so"
EXTENSION = "python/call"
FLAGS = ("-std=gnu++17", "-fPIC", "-pthread", "-fvisibility=hidden")
FAST = ("-O3", "-march=native", "-fno-math-errno", "-fno-trapping-math")
# Files whose code runs once per program: -O1 halves the time to compile them.
ONCE = ("-O1",)
MOST_AT_ONCE = 4  #: files of the runtime that are compiled at once
NO_COMPILER = (
    "the backend `accelerator` builds its runtime with a C++ compiler, and there is none: install g++, or set CXX; "
    "`aot_eager` and `eager` need none"
)


class CbOptions(ctypes.Structure):
    """The C struct `cb_options`."""

    _fields_ = (("abi_version", c_uint32), ("executor", c_uint32), ("passes", c_uint32), ("reserved", c_uint32))


class CbBuffer(ctypes.Structure):
    """The C struct `cb_buffer`."""

    _fields_ = (("data", c_void_p), ("bytes", c_uint64))


class CbInfo(ctypes.Structure):
    """The C struct `cb_info`."""

    _fields_ = (
        *((name, c_uint32) for name in ("inputs", "outputs", "results", "instructions")),
        *((name, c_uint64) for name in ("arena_bytes", "temporary_bytes", "constant_bytes")),
    )


class CbStats(ctypes.Structure):
    """The C struct `cb_stats`."""

    _fields_ = (("seconds", c_double), ("allocated_bytes", c_uint64), ("instructions", c_uint32), ("threads", c_uint32))


@dataclass(frozen=True, slots=True)
class ProgramRun:
    """Cost of a run: seconds, bytes of temporaries, and seconds of each instruction if profiled."""

    seconds: float
    allocated_bytes: int
    each_s: tuple[float, ...] = ()


class LoadedProgram:
    """A program that is loaded into the runtime."""

    def __init__(self, file: bytes, executor: int = OPTIMISING, passes: int | None = None, abi: int = ABI_VERSION):
        self._lib = runtime()
        self._program = c_void_p()
        error = ctypes.create_string_buffer(ERROR_BYTES)
        options = CbOptions(abi, executor, sum(PASSES.values()) if passes is None else passes, 0)
        if self._lib.cb_program_load(file, len(file), byref(options), byref(self._program), error, ERROR_BYTES):
            raise ProgramError(error.value.decode(errors="replace"))
        self.address = int(self._program.value or 0)
        self.info = CbInfo()
        self._lib.cb_program_info(self._program, byref(self.info))

    def input_bytes(self) -> list[int]:
        """Return the bytes of each input."""
        return [self._lib.cb_program_input_bytes(self._program, index) for index in range(self.info.inputs)]

    def run(self, inputs: Sequence[tuple[int, int]], outputs: Sequence[tuple[int, int]], threads: int) -> ProgramRun:
        """Run the program; each input and output is an address and a number of bytes. Raises ProgramError."""
        return self._run(inputs, outputs, threads, None)

    def profile(
        self, inputs: Sequence[tuple[int, int]], outputs: Sequence[tuple[int, int]], threads: int
    ) -> ProgramRun:
        """Run the program as `run` does, and measure the seconds of each instruction."""
        return self._run(inputs, outputs, threads, (c_double * self.info.instructions)())

    def _run(self, inputs: Sequence[Any], outputs: Sequence[Any], threads: int, each: Any) -> ProgramRun:
        stats, error = CbStats(), ctypes.create_string_buffer(ERROR_BYTES)
        given, made = (CbBuffer * len(inputs))(*inputs), (CbBuffer * len(outputs))(*outputs)
        counts = (given, len(inputs), made, len(outputs))
        if self._lib.cb_program_run(self._program, *counts, threads, byref(stats), each, error, ERROR_BYTES):
            raise ProgramError(error.value.decode(errors="replace"))
        return ProgramRun(stats.seconds, stats.allocated_bytes, tuple(each or ()))

    def saved(self) -> bytes:
        """Return the file of the program after its passes."""
        return _filled(lambda to, room: self._lib.cb_program_save(self._program, to, room))

    def as_c(self, name: str = "program") -> str:
        """Return the program as one C file with a function of this name."""
        return _filled(lambda to, room: self._lib.cb_program_c(self._program, name.encode(), to, room)).decode()

    def c_header(self, name: str = "program") -> str:
        """Return the header of the program's C file, with the sizes of inputs and outputs."""
        return _filled(lambda to, room: self._lib.cb_program_c_header(self._program, name.encode(), to, room)).decode()

    def stages(self) -> tuple[tuple[str, str], ...]:
        """Return the program's text after each pass, with the pass's name; the first is the program as loaded."""
        found: list[tuple[str, str]] = []
        while text := _filled(lambda to, room: self._lib.cb_program_stage(self._program, len(found), to, room)):
            name, _, listing = text.decode().partition("\n")
            found.append((name, listing))
        return tuple(found)

    def __del__(self) -> None:
        if self._program:
            self._lib.cb_program_free(self._program)


def _filled(function: Callable[[Any, int], int]) -> bytes:
    size = function(None, 0)
    if not size:
        return b""
    memory = ctypes.create_string_buffer(size)
    function(memory, size)
    return memory.raw


@cache
def runtime(path: Path | None = None) -> Any:
    """Return the loaded library, built if missing; raises ProgramError if the build or ABI check fails."""
    lib = ctypes.CDLL(str(path or library()))
    if (version := lib.cb_abi_version()) != ABI_VERSION:
        raise ProgramError(f"the runtime has version {version} of the ABI, and this is made for {ABI_VERSION}")
    error = (c_char_p, c_size_t)
    lib.cb_program_load.argtypes = (c_char_p, c_size_t, POINTER(CbOptions), POINTER(c_void_p), *error)
    memory = (POINTER(CbBuffer), c_size_t)
    rest = (c_uint32, POINTER(CbStats), POINTER(c_double), *error)
    lib.cb_program_run.argtypes = (c_void_p, *memory, *memory, *rest)
    lib.cb_program_info.argtypes = (c_void_p, POINTER(CbInfo))
    lib.cb_program_free.argtypes = (c_void_p,)
    for name in ("input_bytes", "output_bytes"):
        function = getattr(lib, f"cb_program_{name}")
        function.argtypes, function.restype = (c_void_p, c_uint32), c_uint64
    for name in ("c", "c_header"):
        function = getattr(lib, f"cb_program_{name}")
        function.argtypes, function.restype = (c_void_p, c_char_p, c_void_p, c_size_t), c_size_t
    for name in ("save", "listing", "dot"):
        function = getattr(lib, f"cb_program_{name}")
        function.argtypes, function.restype = (c_void_p, c_void_p, c_size_t), c_size_t
    lib.cb_program_stage.argtypes, lib.cb_program_stage.restype = (c_void_p, c_uint32, c_void_p, c_size_t), c_size_t
    lib.cb_crc32c.argtypes, lib.cb_crc32c.restype = (c_char_p, c_size_t), c_uint32
    lib.cb_program_load.restype = lib.cb_program_run.restype = c_int
    return lib


def checksum(data: bytes) -> int:
    """Return the CRC32C, computed by the runtime, which is faster than Python."""
    return int(runtime().cb_crc32c(data, len(data)))


def library() -> Path:
    """Return the path of the shared library, built if missing; raises ProgramError with the reason."""
    return _built(NAME, LIBRARY, ("-shared", f"-Wl,--version-script={SOURCES / 'exports.map'}"))


def program(name: str) -> Path:
    """Return the path of an executable linked with the library, such as `cb_run`; built if missing."""
    shared = library()
    return _built(name, (name,), (str(shared), f"-Wl,-rpath,{shared.parent}"))


def extension() -> Path:
    """Return the path of the extension module that calls programs, built if missing; raises ProgramError."""
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
    """Return a digest of what a built file depends on: sources, flags, compiler and CPU."""
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
