"""Closed issues of PyTorch come out as reports whose script fails by itself."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from core import CompileJob, Model, Runner, open_report
from core.views.sharing import issue_of
from tests.support.closed_issues import ISSUES, ClosedIssue

pytestmark = [pytest.mark.torch, pytest.mark.closed]
STATES = {"wrong": "done", "raises": "failed", "crashes": "crashed"}
FAILURES = {"wrong": "in assert_close", "raises": "InductorError: "}
SAID = {"wrong": "differs", "raises": "raises InductorError", "crashes": "the process crashed"}


@pytest.mark.parametrize("issue", ISSUES, ids=lambda issue: str(issue.number))
def test_the_report_of_a_closed_issue_is_self_contained(runner: Runner, tmp_path: Path, issue: ClosedIssue) -> None:
    if issue.fixed_in is not None and torch.__version__ >= issue.fixed_in:
        pytest.skip(f"torch {issue.fixed_in} does not have the bug")
    run = runner.wait(runner.submit(CompileJob(Model("code", issue.code), measure=False, bisect=True)))
    assert run.status().state == STATES[issue.outcome]
    report, view = open_report(run), issue_of(run)
    assert SAID[issue.outcome] in view.title
    if issue.outcome == "crashes":
        assert "The worker crashed in the kernel `cpp_fused_" in view.markdown
    else:
        assert report.bisection is not None
        assert report.bisection.subsystem in ("lowerings", "post_grad_passes")
        assert report.bisection.reproduces
        assert "torch's CompilerBisector" in view.markdown
    script = tmp_path / "script.py"
    script.write_text(view.script)
    ended = subprocess.run([sys.executable, script], capture_output=True, text=True, cwd=tmp_path, check=False)
    assert (
        ended.returncode == -signal.SIGSEGV if issue.outcome == "crashes" else FAILURES[issue.outcome] in ended.stderr
    )
    assert view.script.strip() in view.markdown
