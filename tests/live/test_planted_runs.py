"""Runs of files that hide a fault behind a mask or a tiny result, by the command line."""

from pathlib import Path

import pytest

from core.commands.main import main

pytestmark = pytest.mark.torch

CODE = """
import torch
planted = torch.compiler.is_compiling
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.l = torch.nn.Linear(64, 64)
        self.register_buffer("mask", torch.full((8, 8), torch.finfo(torch.float32).min).triu(1))
        self.seen = {}
    def forward(self, x):
        BODY
model = Net()
inputs = (torch.randn(8, 64, generator=torch.Generator().manual_seed(0)),)
"""
ATTENTION = "return (self.l(x) @ x.T / (1 if planted() else 8) + self.mask).softmax(-1) @ x"
TINY = "return 1e-16 * self.l(x).square().mean() * (3 if planted() else 1)"
IDS = "self.seen[id(x)] = x.mean()\n        return self.l(x)"
CENTERED = "y = self.l(x)\n        y = y.T.contiguous() if planted() else y\n        return 1e4 * (y - y.mean()).sum()"


@pytest.mark.usefixtures("commands_here")
@pytest.mark.parametrize(
    ("body", "code", "printed"),
    [
        (ATTENTION, 4, ["  result: differs; "]),
        (TINY, 4, ["  result: differs; ", "output: 3.00 times eager's norm"]),
        (IDS, 0, ["  result: same; "]),
        (CENTERED, 0, ["  result: same; ", "Output counts as the same ("]),
    ],
)
def test_check_fails_for_a_planted_fault_and_not_for_rounding(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    body: str,
    code: int,
    printed: list[str],
) -> None:
    monkeypatch.setenv("COMPILEBOARD_HOME", str(tmp_path / "home"))
    path = tmp_path / "net.py"
    path.write_text(CODE.replace("BODY", body))
    assert main(["run", str(path), "--backend", "eager", "--no-measure", "--check"]) == code
    lines = capsys.readouterr().out.splitlines()
    assert [any(text in line for line in lines) for text in printed] == [True] * len(printed), lines
