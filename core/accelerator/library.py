"""The runtime's C ABI through ctypes. Tensors cross it as addresses: nothing is copied."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from ctypes import POINTER, byref, c_char_p, c_double, c_int, c_size_t, c_uint32, c_uint64, c_void_p
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from core.accelerator.build import library
from core.accelerator.program import PASSES
from core.base.errors import ProgramError

ABI_VERSION = 2
REFERENCE, OPTIMISING = 0, 1
ERROR_BYTES = 1024


class CbOptions(ctypes.Structure):
    """`cb_options`."""

    _fields_ = (("abi_version", c_uint32), ("executor", c_uint32), ("passes", c_uint32), ("reserved", c_uint32))


class CbBuffer(ctypes.Structure):
    """`cb_buffer`."""

    _fields_ = (("data", c_void_p), ("bytes", c_uint64))


class CbInfo(ctypes.Structure):
    """`cb_info`."""

    _fields_ = (
        *((name, c_uint32) for name in ("inputs", "outputs", "results", "instructions")),
        *((name, c_uint64) for name in ("arena_bytes", "temporary_bytes", "constant_bytes")),
    )


class CbStats(ctypes.Structure):
    """`cb_stats`."""

    _fields_ = (("seconds", c_double), ("allocated_bytes", c_uint64), ("instructions", c_uint32), ("threads", c_uint32))


@dataclass(frozen=True, slots=True)
class ProgramRun:
    """Cost of a run: seconds in the runtime, bytes of temporaries, seconds of each instruction if requested."""

    seconds: float
    allocated_bytes: int
    each_s: tuple[float, ...] = ()


class LoadedProgram:
    """A program in the runtime."""

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
        """Bytes of each input."""
        return [self._lib.cb_program_input_bytes(self._program, index) for index in range(self.info.inputs)]

    def run(self, inputs: Sequence[tuple[int, int]], outputs: Sequence[tuple[int, int]], threads: int) -> ProgramRun:
        """Run it on memory, each an address and its bytes; raises ProgramError."""
        return self._run(inputs, outputs, threads, None)

    def profile(
        self, inputs: Sequence[tuple[int, int]], outputs: Sequence[tuple[int, int]], threads: int
    ) -> ProgramRun:
        """The same, with the seconds of each instruction."""
        return self._run(inputs, outputs, threads, (c_double * self.info.instructions)())

    def _run(self, inputs: Sequence[Any], outputs: Sequence[Any], threads: int, each: Any) -> ProgramRun:
        stats, error = CbStats(), ctypes.create_string_buffer(ERROR_BYTES)
        given, made = (CbBuffer * len(inputs))(*inputs), (CbBuffer * len(outputs))(*outputs)
        counts = (given, len(inputs), made, len(outputs))
        if self._lib.cb_program_run(self._program, *counts, threads, byref(stats), each, error, ERROR_BYTES):
            raise ProgramError(error.value.decode(errors="replace"))
        return ProgramRun(stats.seconds, stats.allocated_bytes, tuple(each or ()))

    def saved(self) -> bytes:
        """The program after its passes, as a file."""
        return _filled(lambda to, room: self._lib.cb_program_save(self._program, to, room))

    def as_c(self, name: str = "program") -> str:
        """The program as one C file with a function of this name."""
        return _filled(lambda to, room: self._lib.cb_program_c(self._program, name.encode(), to, room)).decode()

    def c_header(self, name: str = "program") -> str:
        """The header of that file, with the sizes of inputs and outputs."""
        return _filled(lambda to, room: self._lib.cb_program_c_header(self._program, name.encode(), to, room)).decode()

    def stages(self) -> tuple[tuple[str, str], ...]:
        """The name of each pass with the program after it; first the program as it was read."""
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
    """The library, built if need be; raises ProgramError where its ABI is another than ours."""
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
    """CRC32C by the runtime, which is fast."""
    return int(runtime().cb_crc32c(data, len(data)))
