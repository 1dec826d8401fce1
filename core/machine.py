"""What a process of ours finds on this machine: where our code lies, and the C++ compiler."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

PROJECT_DIR = Path(__file__).resolve().parents[1]


def cpp_compiler() -> str | None:
    """The C++ compiler that Inductor would call, None if there is none."""
    return shutil.which(os.environ.get("CXX", "g++"))


def python_path() -> str:
    """PYTHONPATH for a Python of its own that shall find our code, before what it names now."""
    return os.pathsep.join(filter(None, [str(PROJECT_DIR), os.environ.get("PYTHONPATH", "")]))
