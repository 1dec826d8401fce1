"""Bytecode: what the worker records of each frame that Dynamo rewrites, with depyf's reading where it is installed."""

import importlib.util
import json
from importlib.metadata import version

import pytest

from core import load_text, open_report
from core.analysis.dynamo.compilations import instructions
from core.report import Compilation
from tests.support.user_code import EAGER, RunCode, ended, records

pytestmark = pytest.mark.torch

CODE = """
import torch


class Loud:
    def __repr__(self):
        raise RuntimeError("nobody asked")


LOUD = Loud()


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 4)

    def forward(self, x, scale=LOUD):
        y = self.linear(x)
        def inner(z):
            return z + y
        torch._dynamo.graph_break()
        return inner(y).sin()


model = Net()
inputs = (torch.ones(2, 4),)
"""
RESUME = "torch_dynamo_resume_in_forward_at_22"


def test_each_rewritten_frame_has_its_code_before_and_after(run_code: RunCode) -> None:
    run = run_code(CODE, compile=EAGER)
    assert ended(run) == ("done", "")
    log = run.log_path()
    assert log is not None

    def said(found: Compilation) -> dict[str, object]:
        assert found.bytecode is not None
        assert found.bytecode.record is not None
        return dict(json.loads(load_text(log, found.bytecode.record)))

    report = records(run)
    forward, resume = (
        next(item for item in report.compilations if item.frame.name == name) for name in ("forward", RESUME)
    )
    before, after = said(forward), said(resume)
    assert (before["qualname"], before["name"], before["line"]) == ("Net.forward", "forward", 18)
    assert (after["name"], after["resumes"]) == (RESUME, {})
    original, modified = instructions(str(before["original"])), instructions(str(before["modified"]))
    assert {item.line for item in original} >= {18, 19, 20, 22, 23}
    assert [item for item in original if item.graph or item.resume] == []
    assert any(item.graph.startswith("__compiled_fn_") for item in modified)
    # Torch makes a global of the function, or of what makes it where it has variables of its own.
    assert any(item.resume for item in modified)
    # The globals that Dynamo puts into a function it makes are told by their type: no object of the user's is printed.
    assert "nobody asked" not in json.dumps([before, after])
    assert "0x" not in str(before["modified"])
    # What is not the user's own source is read by depyf where it can be.
    if importlib.util.find_spec("depyf"):
        assert str(before["decompiler"]).startswith("depyf ")
        assert before["original_python"] == ""
        assert str(after["original_python"]).startswith(f"def {RESUME}(") or after["not_decompiled"]
    # Torch's own listing of the resume function, which torch 2.11 does not log, says the same.
    assert resume.bytecode is not None
    if version("torch").startswith("2.11."):
        assert resume.bytecode.original is None
        return
    assert resume.bytecode.original is not None
    torchs = instructions(load_text(log, resume.bytecode.original))
    assert [item.op for item in torchs] == [item.op for item in instructions(str(after["original"]))]


ENDS_ITSELF = """
import os
import torch


@torch.compiler.disable
def end():
    if "EAGER_DONE" in os.environ:
        os._exit(3)
    os.environ["EAGER_DONE"] = "yes"


def model(x):
    y = x.sin()
    end()
    return y


inputs = (torch.ones(2),)
"""


def test_a_call_that_ends_the_process_leaves_the_listing(run_code: RunCode) -> None:
    run = run_code(ENDS_ITSELF, compile=EAGER)
    log = run.log_path()
    assert log is not None
    said = next(found.bytecode for found in open_report(run).compilations if found.bytecode is not None)
    assert said.record is not None
    record = json.loads(load_text(log, said.record))
    assert any(item.op for item in instructions(record["modified"]))
    assert record["decompiler"] == ""


def test_rewritten_code_with_a_constant_without_a_hash_ends_no_run(run_code: RunCode) -> None:
    code = "import torch\n\n\ndef model(x):\n    return sorted([x, -x], key=lambda t: t.sum())[0]\n"
    assert ended(run_code(f"{code}\n\ninputs = (torch.ones(2),)\n", compile=EAGER)) == ("done", "")
