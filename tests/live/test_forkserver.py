"""What the fork server does before it forks, so that every run inherits it."""

import re
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch
from torch._inductor import codecache

from core import Runner
from core.worker import warmup
from core.worker.warmup import VECTOR_MATH, rebuild_broken_objects, remember_headers
from tests.support.browser import PATIENCE_S
from tests.support.places import ROOT
from tests.support.user_code import EAGER, INPUTS, RunCode

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


def test_a_header_is_preprocessed_once_while_its_file_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []

    def precompile(header: str, command: str, *, vec_isa: str) -> str:
        made.append(f"{header} {command} {vec_isa}")
        path = tmp_path / f"{len(made)}.h"
        path.touch()
        return str(path)

    monkeypatch.setattr(codecache, "_precompile_header", precompile)
    monkeypatch.setattr(warmup, "HEADERS", {})
    remember_headers()
    first = [codecache._precompile_header("a.h", "g++", vec_isa=vectors) for vectors in ("avx2", "avx512", "avx2")]
    Path(first[0]).unlink()
    again = codecache._precompile_header("a.h", "g++", vec_isa="avx2")
    assert [Path(path).name for path in (*first, again)] == ["1.h", "2.h", "1.h", "3.h"]
    assert made == ["a.h g++ avx2", "a.h g++ avx512", "a.h g++ avx2"]


def test_runs_know_the_headers_that_the_warm_up_has_precompiled(run_code: RunCode, runner: Runner) -> None:
    runner.engine.warm_up()
    says = f"from core.worker.warmup import HEADERS\nimport torch\nprint('headers:', len(HEADERS))\nmodel = abs{INPUTS}"
    deadline = time.monotonic() + PATIENCE_S
    while "headers: 0" in run_code(says, compile=EAGER).output_tail():
        assert time.monotonic() < deadline
    assert "headers: 1" in run_code(says, compile=EAGER).output_tail()


def test_a_header_whose_precompilation_was_killed_is_precompiled_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    header, build = tmp_path / "x.h.gch", tmp_path / "x.h_CxxBuild"
    header.write_bytes(b"gpch")
    left: list[bool] = []

    class Builder:
        def get_target_file_path(self) -> str:
            return str(header)

    monkeypatch.setattr(codecache, "_worker_compile_cpp", lambda *_: left.append(header.exists()))
    rebuild_broken_objects()
    for is_left in (False, True):
        if is_left:
            build.mkdir()
        codecache._worker_compile_cpp(str(tmp_path / "lock"), [Builder()])
    assert left == [True, False]
