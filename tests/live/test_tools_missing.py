"""Tools and runs where there is no compiler, or no Triton."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.places import ROOT
from tests.support.sample import one_in

pytestmark = pytest.mark.torch


def test_without_a_compiler_or_triton_the_tools_say_what_is_missing(tmp_path: Path) -> None:
    code = (
        "import sys; sys.modules['triton'] = None\n"
        "from pathlib import Path; from core.runs.tools.tasks import *; from core.runs.store import Run\n"
        "from core.worker.kernel_tools import run_tool\n"
        "for request in (Assembly('k'), Ladder('k')):\n"
        f"    tool = Run('t', Path({str(tmp_path)!r})); run_tool(tool, Task(request, 'k', 'k = f(1)'))\n"
        "    print((tool.path / 'answer.json').read_text())\n"
    )
    environment = {"CXX": "no-such-compiler", "PATH": "/usr/bin:/bin", "HOME": str(tmp_path)}
    said = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert "there is no C++ compiler here" in said.stdout, said.stderr
    assert "there is no Triton in this environment" in said.stdout


@pytest.mark.parametrize(
    ("backend", "state", "words"),
    one_in(2, [("aot_eager", "done", ""), ("inductor", "failed", "No working C++ compiler found")]),
)
def test_without_a_compiler_aot_eager_runs_and_inductor_says_what_is_missing(
    tmp_path: Path, backend: str, state: str, words: str
) -> None:
    environment = {"CXX": "no-such-compiler", "PATH": "", "HOME": str(tmp_path), "COMPILEBOARD_HOME": str(tmp_path)}
    command = [sys.executable, "-m", "core", "run", "sin_cos", "--no-measure", "--json", "--backend", backend]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    report = json.loads(done.stdout)
    assert report["state"] == state, done.stderr
    assert words in (report["error"] or {"message": ""})["message"]
