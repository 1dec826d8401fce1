"""Requests about one kernel. A request is small JSON; its digest is the name of its result's directory."""

from __future__ import annotations

import hashlib

import msgspec

SCHEMA = 1


class Ladder(msgspec.Struct, frozen=True, tag=True):
    """Request for the compilation stages of one config of a Triton kernel, from Python to machine code.

    `target` is a key of `core.job.targets.TARGETS`, empty for the device that the kernel was generated for.
    """

    kernel: str
    target: str = ""
    config: int = 0


class Passes(msgspec.Struct, frozen=True, tag=True):
    """Request for the MLIR passes that changed the module, and their changes."""

    kernel: str
    target: str = ""
    config: int = 0


class Configs(msgspec.Struct, frozen=True, tag=True):
    """Request for every config of the autotuner with its resources."""

    kernel: str
    target: str = ""


class Assembly(msgspec.Struct, frozen=True, tag=True):
    """Request for the assembly of a C++ kernel from the compiler that Inductor calls."""

    kernel: str


class Reproduce(msgspec.Struct, frozen=True, tag=True):
    """Request to run the script that reproduces a kernel alone."""

    kernel: str


class Interpret(msgspec.Struct, frozen=True, tag=True):
    """Request to run a Triton kernel in Triton's interpreter on the CPU.

    It is the run's kernel, or launched by `code`, a module. `program` is the program id, three axes, whose loads and
    stores are recorded.
    """

    kernel: str = ""
    code: str = ""
    program: tuple[int, int, int] = (0, 0, 0)


Request = Ladder | Passes | Configs | Assembly | Reproduce | Interpret


def digest(request: Request) -> str:
    """Return a name for the request that is also a valid file name."""
    return hashlib.sha256(msgspec.json.encode([SCHEMA, request])).hexdigest()[:16]
