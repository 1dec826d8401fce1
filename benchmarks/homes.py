"""Directories of benchmarks: temporary homes for runs, and a permanent cache that saves g++ time."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

CACHE = Path(os.environ.get("COMPILEBOARD_BENCH_CACHE", "~/.cache/compileboard-bench")).expanduser()
PROJECT = Path(__file__).resolve().parent.parent


@contextmanager
def temporary_home() -> Iterator[Path]:
    """Yield an empty COMPILEBOARD_HOME with the shared cache."""
    CACHE.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="compileboard-bench-") as name:
        home = Path(name)
        (home / "cache").symlink_to(CACHE)
        yield home


def compile_environment() -> dict[str, str]:
    """Return the environment of LocalEngine's fork server, for processes that are compared with it."""
    CACHE.mkdir(parents=True, exist_ok=True)
    environment = {
        **os.environ,
        "TORCHINDUCTOR_CACHE_DIR": str(CACHE / "inductor"),
        "TRITON_CACHE_DIR": str(CACHE / "triton"),
        "TORCH_WARM_POOL": "0",
        "OPENBLAS_NUM_THREADS": "1",
    }
    for name in ("TORCH_TRACE", "TORCH_LOGS", "TORCH_COMPILE_DEBUG"):
        environment.pop(name, None)
    return environment
