"""What the fork server does before it forks, so that every run inherits it."""

import re
import threading
from pathlib import Path

import pytest
import torch

from core.worker.warmup import VECTOR_MATH, resolve_vector_math

pytestmark = pytest.mark.torch


def test_every_function_that_aten_hands_to_mkl_is_resolved_ahead() -> None:
    header = (Path(torch.__file__).parent / "include/ATen/cpu/vml.h").read_text()
    assert set(re.findall(r"^IMPLEMENT_VML_MKL\((\w+),", header, re.MULTILINE)) <= set(VECTOR_MATH)


def test_resolving_them_starts_no_thread() -> None:
    before = threads()
    resolve_vector_math()
    assert threads() == before


def threads() -> set[str]:
    """Threads of this process, those of C++ included, where the system tells."""
    tasks = Path("/proc/self/task")
    return {path.name for path in tasks.iterdir()} if tasks.exists() else {str(threading.get_ident())}
