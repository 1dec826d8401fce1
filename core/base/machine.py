"""What a process of ours finds on this machine: where our code lies, the C++ compiler, and what torch can do."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass, field
from pathlib import Path

PROJECT_DIR = Path(__file__).resolve().parents[2]


@dataclass(frozen=True, slots=True)
class BackendEntry:
    """A backend as torch lists it: its name and tags, and where it is defined, below the folder of packages; the place
    is empty for what another function made, and for what is not imported before it is used.
    """

    name: str
    tags: tuple[str, ...] = ()
    place: str = ""


@dataclass(frozen=True, slots=True)
class Environment:
    """What torch can do here: versions, device → its name in words, backends, what each mode sets, and the C++
    compiler; all empty where torch does not say, with the `problem` where it cannot be started.
    """

    torch: str = ""
    python: str = ""
    devices: dict[str, str] = field(default_factory=dict)
    backends: tuple[str, ...] = ()
    entries: tuple[BackendEntry, ...] = ()
    modes: dict[str, dict[str, bool | int | float | str | None]] = field(default_factory=dict)
    cpus: int = 0
    compiler: str | None = None
    problem: str = ""


def cpp_compiler() -> str | None:
    """The C++ compiler that Inductor would call, None if there is none."""
    return shutil.which(os.environ.get("CXX", "g++"))


def python_path() -> str:
    """PYTHONPATH for a Python of its own that shall find our code, before what it names now."""
    return os.pathsep.join(filter(None, [str(PROJECT_DIR), os.environ.get("PYTHONPATH", "")]))
