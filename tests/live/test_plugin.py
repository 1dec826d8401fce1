"""The pytest plugin: what a failure says, what is recorded, and that tests do not see one another's compiled code."""

import os
import re
from pathlib import Path

import pytest

from core.runs.store import Store
from core.runs.stored import open_report
from tests.support.places import ROOT

pytest_plugins = "pytester"
pytestmark = pytest.mark.torch

TESTS = """
import pytest
import torch

@torch.compile(backend="eager", dynamic=False)
def double(x):
    return x + x

@torch.compile(backend="eager")
def stops(x):
    print("now")
    return x + x

def test_fixture(compileboard):
    with compileboard.record("warm-up") as first:
        double(torch.ones(2))
    with compileboard.record("again") as again:
        double(torch.ones(2))
    assert len(first.compilations) == 1
    first.assert_no_graph_breaks()
    again.assert_no_compilations()

def test_breaks(compileboard):
    with compileboard.record() as run:
        stops(torch.ones(2))
    run.assert_no_graph_breaks()

def test_recompiles(compileboard):
    with compileboard.record() as run:
        for size in (2, 3):
            run.mark(size=size)
            double(torch.ones(size))
    run.assert_recompiles(at_most=1)
    run.assert_no_recompiles()

@pytest.mark.compileboard(recompiles=0, no_graph_breaks=True)
@pytest.mark.parametrize("size", [4, 5])
def test_marked(size):
    double(torch.ones(size))

@pytest.mark.compileboard(kernels=0)
def test_empty():
    pass

@pytest.mark.compileboard(recompile=0)
def test_misspelt():
    pass
"""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home")


@pytest.fixture
def result(pytester: pytest.Pytester, home: Path, monkeypatch: pytest.MonkeyPatch) -> pytest.RunResult:
    """The tests of a user, in two processes, with warnings as errors."""
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]))
    pytester.makepyfile(test_model=TESTS)
    options = ("-p", "core.library.plugin", "--compileboard-home", home, "-n", "2", "-W", "error::UserWarning")
    return pytester.runpytest_subprocess(*options, "--strict-markers", "-q", timeout=240)


def test_failures_have_torchs_reason_the_users_line_and_the_run(result: pytest.RunResult, home: Path) -> None:
    outcomes = result.parseoutcomes()
    assert (outcomes["passed"], outcomes["failed"]) == (3, 4), result.stdout.str()
    result.stdout.re_match_lines_random(
        [
            r"E .*AssertionError: expected no graph break, got 1 graph break:",
            r"E .*test_model.py:10: Failed to trace builtin operator. Hint: Avoid calling builtin `print` .*",
            r"E .*AssertionError: expected no recompile, got 1 recompile:",
            r"E .*\[0/1\] .*test_model.py:4 in double at size=3: tensor 'x' size mismatch .* expected 2, actual 3",
            r"E .*AssertionError: torch.compile compiled nothing, so there is nothing to check",
            r".*the marker compileboard does not take 'recompile'.*",
        ]
    )
    runs = {status.title: run for run, status in Store(home).list()}
    said = re.findall(r"run: `python -m core report (\S+)`", result.stdout.str())
    assert {run.id for title, run in runs.items() if re.search("breaks|recompiles|empty", title)} == set(said)
    counts = {title.partition("::")[2]: len(open_report(run).compilations) for title, run in runs.items()}
    assert counts == {
        "test_fixture warm-up": 1,
        "test_fixture again": 0,
        "test_breaks": 2,
        "test_recompiles": 2,
        "test_marked[4]": 1,
        "test_marked[5]": 1,
        "test_empty": 0,
    }
