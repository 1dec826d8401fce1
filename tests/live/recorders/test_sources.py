"""The code that a model calls is recorded: the files that stacks name, and each node's lines."""

from pathlib import Path

import pytest

from core import open_graph, open_report
from tests.support.user_code import EAGER, RunCode

pytestmark = pytest.mark.torch

LIBRARY = """import torch


def attend(x):
    return torch.relu(x) + 1
"""
MODEL = """import sys
sys.path.insert(0, {folder!r})
import somebodys_library
import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return somebodys_library.attend(x) * 2


model = Model()
inputs = (torch.ones(4),)
"""


def test_the_files_of_a_library_are_recorded_and_each_op_has_its_line_there(run_code: RunCode, tmp_path: Path) -> None:
    (tmp_path / "somebodys_library.py").write_text(LIBRARY, encoding="utf-8")
    run = run_code(MODEL.format(folder=str(tmp_path)))
    report = open_report(run)
    files = {Path(source.path).name for source in report.sources}
    (compilation,) = report.compilations

    assert files == {"model.py", "somebodys_library.py"}
    for graph in compilation.graphs:
        relu = next(node for node in open_graph(run, compilation, graph) if "relu" in node.target)
        assert [(place.short, place.name) for place in relu.stack] == [
            ("model.py:9", "forward"),
            ("somebodys_library.py:5", "attend"),
        ]


def test_a_file_that_is_too_long_is_not_recorded(run_code: RunCode, tmp_path: Path) -> None:
    (tmp_path / "somebodys_library.py").write_text(LIBRARY + "#" * 1_000_000, encoding="utf-8")
    run = run_code(MODEL.format(folder=str(tmp_path)), compile=EAGER)

    assert {Path(source.path).name for source in open_report(run).sources} == {"model.py"}
