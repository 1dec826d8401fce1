"""The example of the README is carried out as it stands, for a sample with graph breaks as well."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.documents import blocks
from tests.support.homes import CACHE, link_cache
from tests.support.places import ROOT

pytestmark = pytest.mark.torch


def test_the_python_of_the_readme_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    link_cache(tmp_path, CACHE)
    monkeypatch.setenv("COMPILEBOARD_HOME", str(tmp_path))
    example = next(block for block in blocks("README.md", "python") if "Runner(" in block)
    assert '"transformer_block"' in example
    sample = '"graph_break_zoo"), measure=False, compile=CompileOptions(backend="eager")'
    code = "from core import CompileOptions\n" + example.replace('"transformer_block")', sample)
    printed = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    lines = printed.splitlines()
    assert lines[0].startswith("5 graph breaks split the code into 9 graphs")
    assert len(lines) == 6
    assert all("model.py:" in line for line in lines[1:])
