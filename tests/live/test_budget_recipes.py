"""The recipes for continuous integration, carried out as far as that goes without a code host: their command lines."""

import os
import shlex
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest
import yaml

from core import CompileJob, LocalEngine, Model, Runner, Store, open_report
from core.analysis.budget import read_budget
from core.commands.main import main
from core.views.verdict import alternative_sentence
from tests.support.documents import blocks
from tests.support.homes import CACHE, link_cache
from tests.support.places import ROOT

pytestmark = pytest.mark.torch

MODEL = """import torch

def model(x):
    y = torch.sin(x)
{line}
    return y + 1

inputs = (torch.ones(64),)
"""
BUDGET = "results = 'same'\n[at-most]\ngraph-breaks = 0\n[more-than-baseline]\nkernels = 0\ncompiled-call = '5 %'\n"


def command(value: Any) -> str:
    """The recipe's command line that calls `check`."""
    if isinstance(value, str):
        return value if "core check" in value else ""
    return next(filter(None, map(command, value.values() if isinstance(value, dict) else value or ())), "")


OPTIONS = " --no-measure --baseline old.py"


def prepare(folder: Path, line: str) -> None:
    """Write a model with that line, and its budget; the baseline is the model without it."""
    (folder / "model.py").write_text(MODEL.format(line=f"    {line}"))
    (folder / "old.py").write_text(MODEL.format(line=""))
    (folder / "compileboard.toml").write_text(BUDGET)
    link_cache(folder / "home", CACHE)


def carried_out(folder: Path, recipe: str) -> subprocess.CompletedProcess[str]:
    """Carry a recipe's command out in a shell, without measuring."""
    text = command(yaml.safe_load(recipe)).replace("python", f'"{sys.executable}"', 1) + OPTIONS
    variables = {
        "PYTHONPATH": str(ROOT),
        "COMPILEBOARD_HOME": str(folder / "home"),
        "GITHUB_STEP_SUMMARY": "summary.md",
    }
    return subprocess.run(
        ["bash", "-c", text], cwd=folder, env={**os.environ, **variables}, capture_output=True, text=True, check=False
    )


@pytest.mark.long
@pytest.mark.usefixtures("commands_here")
def test_a_graph_break_is_annotated_at_its_line_and_one_baseline_without_it_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    github, gitlab = blocks("docs/checking.md", "yaml")
    prepare(tmp_path, "print('a break')")
    broken = carried_out(tmp_path, github)
    assert broken.returncode == 4, broken.stderr
    assert "::error file=model.py,line=5,title=model%3A graph breaks::1, at most 0." in broken.stdout
    assert "title=model%3A kernels::1 → 2, at most 0 more." in broken.stdout
    assert "| graph breaks | at most 0 | 1 | over |" in (tmp_path / "summary.md").read_text()
    prepare(tmp_path, "")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COMPILEBOARD_HOME", str(tmp_path / "home"))
    python, *arguments = shlex.split(command(yaml.safe_load(gitlab)) + OPTIONS)
    assert [python, *arguments[:2]] == ["python", "-m", "core"]
    assert main(arguments[2:]) == 4
    suite = ET.parse(tmp_path / "report.xml").getroot()
    assert [(case.get("name"), len(case)) for case in suite] == [
        ("results", 0),
        ("graph breaks", 0),
        ("kernels", 0),
        ("compiled call", 1),
    ]


def test_a_model_as_the_baseline_is_timed_interleaved_in_one_process(tmp_path: Path, engine: LocalEngine) -> None:
    job = CompileJob(Model("code", MODEL.format(line="")), rival_code=MODEL.format(line="    y = torch.cos(y)"))
    runner = Runner(Store(tmp_path), engine)
    report = open_report(runner.wait(runner.submit(job)))
    assert report.rival is not None
    assert report.rival.times is not None
    assert (report.rival.reason, len(report.rival.times.sides["alternative"]) >= 8) == ("", True)
    assert [call.differences[0].same for call in report.rival.calls] == [True]
    assert "torch.compile(baseline)" in alternative_sentence(report)


def test_the_file_of_the_guide_is_a_budget() -> None:
    (text,) = blocks("docs/checking.md", "toml")
    assert [len(read_budget(text, model).limits) for model in ("", "small_gpt")] == [11, 11]
