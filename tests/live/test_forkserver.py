"""What the fork server does before it forks, so that every run inherits it."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from core.worker.warmup import VECTOR_MATH
from tests.support.places import ROOT

pytestmark = pytest.mark.torch
RESOLVES = """
import os
from core.worker.warmup import resolve_vector_math

print(sorted(os.listdir("/proc/self/task")))
resolve_vector_math()
print(sorted(os.listdir("/proc/self/task")))
"""


def test_every_function_that_aten_hands_to_mkl_is_resolved_ahead() -> None:
    header = (Path(torch.__file__).parent / "include/ATen/cpu/vml.h").read_text()
    assert set(re.findall(r"^IMPLEMENT_VML_MKL\((\w+),", header, re.MULTILINE)) <= set(VECTOR_MATH)


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="the system does not list a process's threads")
def test_resolving_them_starts_no_thread() -> None:
    """In a process of its own, where nothing else starts or ends one."""
    done = subprocess.run([sys.executable, "-c", RESOLVES], cwd=ROOT, capture_output=True, text=True, check=True)
    before, after = done.stdout.splitlines()
    assert after == before
