"""A model in a notebook's cell: what is drawn, and the cell's code, which is in no file."""

import html
import linecache
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from core.library.recording import show

# Torch's own imports warn.
pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore:`torch.jit:DeprecationWarning")]

CELL = """import torch

def halved(x):
    return torch.sin(x) / 2
"""
NAME = "/tmp/ipykernel_1/2345.py"


@pytest.fixture
def halved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A function of a cell, as IPython runs it, in a store of its own."""
    monkeypatch.setenv("COMPILEBOARD_HOME", str(tmp_path))
    linecache.cache[NAME] = (len(CELL), None, CELL.splitlines(keepends=True), NAME)
    cell: dict[str, Any] = {}
    exec(compile(CELL, NAME, "exec"), cell)
    yield cell["halved"]
    del linecache.cache[NAME]
    torch.compiler.reset()


def test_a_model_is_drawn_in_a_frame_that_cannot_reach_the_notebook(halved: Any) -> None:
    shown = show(halved, torch.ones(8))
    drawn = shown._repr_html_()
    (page,) = re.findall(r'^<iframe srcdoc="([^"]*)" sandbox="allow-scripts allow-popups" title="halved"', drawn)
    text = html.unescape(page)
    assert text.startswith("<!doctype html>")
    assert "1 graph, 0 graph breaks, 2 ops fused into 1 kernel" in text
    (policy,) = re.findall(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)">', text)
    assert html.unescape(policy).startswith("default-src 'none'; script-src 'sha256-")
    assert repr(shown).startswith("<halved: 1 graph, 0 graph breaks")


def test_the_code_of_the_cell_is_recorded_and_that_of_installed_packages_is_not(halved: Any) -> None:
    sources = [source.path for source in show(halved, torch.ones(8)).report.sources]
    assert sources[0] == NAME
    assert [path for path in sources if "site-packages" in path] == []


def test_a_cell_that_is_run_again_compiles_again(halved: Any) -> None:
    assert [len(show(halved, torch.ones(8)).compilations) for _ in range(2)] == [1, 1]


def test_an_exception_of_the_model_passes_through(halved: Any) -> None:
    with pytest.raises(TypeError):
        show(halved, torch.ones(8), no_such_argument=1)
