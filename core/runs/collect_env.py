"""This machine as `python -m torch.utils.collect_env` describes it, the form that PyTorch's bug reports ask for."""

from __future__ import annotations

import subprocess
import sys
from functools import lru_cache

from core.base.machine import package_version

COLLECT_TIMEOUT_S = 60
MOST_COLLECTED_CHARS = 20_000
PROGRESS = "Collecting environment information..."


def is_torch_here(version: str) -> bool:
    """Return True if this version of torch, as a run recorded it, is installed here."""
    return version != "" and version == package_version("torch")


@lru_cache(maxsize=1)
def collected_environment() -> str:
    """Return what torch's collect_env prints, from a process of its own; empty if it fails or takes too long."""
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
