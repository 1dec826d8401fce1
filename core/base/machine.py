"""This machine as seen by our process: the path of our code, the C++ compiler, and torch's capabilities."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass, field
from pathlib import Path

PROJECT_DIR = Path(__file__).resolve().parents[2]


@dataclass(frozen=True, slots=True)
class BackendEntry:
    """A backend as torch lists it: its name and tags, and its file below the folder of packages.

    The place is empty if another function created it, or if it is not imported before its use.
    """

    name: str
    tags: tuple[str, ...] = ()
    place: str = ""


@dataclass(frozen=True, slots=True)
class Environment:
    """Capabilities of torch here: versions, device → description, backends, settings of each mode, C++ compiler.

    Fields are empty if torch does not report them; `problem` is why torch cannot be started.
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
    """Return the C++ compiler that Inductor would call, None if there is none."""
    return shutil.which(os.environ.get("CXX", "g++"))


def python_path() -> str:
    """Return the PYTHONPATH with which another Python finds our code, ahead of its present entries."""
    return os.pathsep.join(filter(None, [str(PROJECT_DIR), os.environ.get("PYTHONPATH", "")]))
