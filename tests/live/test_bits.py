"""Two configurations compared bit by bit: the first value that differs, its kernel, and the known reason."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

from core import CompileJob, CompileOptions, Conditions, JobError, Model, Runner, open_report
from core.analysis.numerics import first_difference
from core.job import validated
from core.report import BitComparison
from core.views.numerics import bits_words
from core.worker.bits.compare import MAX_STORED_BYTES, BufferNode, KernelText, OtherSide, WrittenValue

pytestmark = pytest.mark.torch
# With one row, Inductor's C++ backend splits the additions over the threads; with 64, each thread has rows.
SPLIT = """import torch
def model(x):
    y = x * 2
    return y.exp().sum(-1), y.square().sum(-1), y.sin().abs().sum(-1), y.tanh().abs().sum(-1)
inputs = (torch.randn(64, 20_000),)
"""
CHAIN = """import torch
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.drop, self.last = torch.nn.Linear(64, 32), torch.nn.Dropout(), torch.nn.Linear(32, 10)
    def forward(self, x):
        return torch.softmax(self.last(self.drop(torch.relu(self.first(x)))), -1)
model = Net()
inputs = (torch.randn(8, 64),)
"""
ALONE = """
import importlib.util, sys, torch
spec = importlib.util.spec_from_file_location("planted", sys.argv[1])
planted = importlib.util.module_from_spec(spec)
torch.manual_seed(0)
torch.set_num_threads(2)
spec.loader.exec_module(planted)
torch.manual_seed(0)
(whole,) = planted.inputs
results = []
for rows in (64, 1):
    torch.compiler.reset()
    results.append(torch.compile(planted.model)(whole[:rows].clone()))
print(*(int(first[0] != second[0]) for first, second in zip(*results)))
"""


def compared(runner: Runner, code: str, bits: dict[str, Any], **conditions: Any) -> BitComparison:
    options = CompileOptions(options=conditions.pop("options", None))
    job = CompileJob(
        Model("code", code), bits=bits, measure=False, compile=options, conditions=Conditions(**conditions)
    )
    report = open_report(runner.wait(runner.submit(job)))
    assert report.bits is not None
    assert report.error is None
    return report.bits


@pytest.mark.long
def test_a_batch_dependent_reduction_is_named_with_its_reason(runner: Runner, tmp_path: Path) -> None:
    bits = compared(runner, SPLIT, {"batch": 1}, threads=2)
    first = first_difference(bits)
    assert first is not None
    assert (first.op, first.source) == ("aten.sum.dim_IntList", True)
    assert first.reason.startswith("split reduction: `cpp_fused_")
    assert "a.py" not in first.line
    assert "return y.exp().sum(-1)" in first.line
    planted = tmp_path / "planted.py"
    planted.write_text(SPLIT)
    command = [sys.executable, "-c", ALONE, str(planted)]
    alone = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    assert bits.different == alone.count("1")


def test_the_same_configuration_has_equal_bits(runner: Runner) -> None:
    bits = compared(runner, SPLIT, {"threads": 1}, threads=1)
    assert (bits.different, bits.nodes, bits.unmatched, bits.problem) == (0, (), (), "")
    assert bits.compared == 4
    assert bits_words(bits) == "Equal bit by bit with `threads=1`: 4 values written by kernels compared."


@pytest.mark.long
def test_a_library_call_is_named_and_what_follows_does_not_begin_a_difference(runner: Runner) -> None:
    eval_code = CHAIN.replace("model = Net()", "model = Net().eval()")
    bits = compared(runner, eval_code, {"batch": 1})
    assert [node.node for node in bits.nodes if node.source] == ["addmm"]
    assert bits.nodes[0].kernel == "extern_kernels.addmm"
    assert "the library chooses its algorithm" in bits_words(bits)
    assert {"relu", "addmm_1"} <= {node.node for node in bits.nodes}


def test_train_and_eval_differ_at_the_dropout(runner: Runner) -> None:
    bits = compared(runner, CHAIN, {"eval": True})
    first = first_difference(bits)
    assert first is not None
    assert "self.drop(" in first.line
    assert bits.nodes[0] == first


@pytest.mark.long
def test_an_option_of_inductor_changes_bits_where_it_applies(runner: Runner) -> None:
    bits = compared(runner, SPLIT, {"options.cpp.simdlen": 0}, threads=1)
    first = first_difference(bits)
    assert first is not None
    assert "is vectorized" in first.reason


def test_values_are_stored_up_to_the_bound() -> None:
    node = BufferNode("add", "aten.add", "model.py:1", frozenset(), ())
    value = torch.empty(MAX_STORED_BYTES * 3 // 5, dtype=torch.uint8)
    other = OtherSide()
    for name in ("buf0", "buf1"):
        other.write(WrittenValue(name, node, KernelText("kernel"), value, ()))
    assert [stored is not None for _, stored in other.values.values()] == [True, False]


def test_a_batch_that_is_no_smaller_is_refused(runner: Runner) -> None:
    assert "the first call has a batch of 8" in compared(runner, CHAIN, {"batch": 8}).problem


def test_a_smaller_batch_that_the_model_cannot_take_ends_no_run(runner: Runner) -> None:
    code = """import torch
def model(x, at):
    return torch.zeros(8, 4).index_add(0, at, x) + x[at]
inputs = (torch.randn(8, 4), torch.arange(8).flip(0))
"""
    assert "IndexError" in compared(runner, code, {"batch": 2}).problem


@pytest.mark.parametrize(
    ("bits", "message"),
    [
        ({"sizes": 1}, "`sizes` is none of batch, eval"),
        ({"batch": 0}, "`batch` is at least 1"),
        ({"batch": True}, "`batch` takes int"),
        ({"mode": "fast"}, "is none of"),
        ({"options.": 1}, "`options.` is none of"),
        ({"threads": 100_000}, "from 1 to 1,024"),
    ],
)
def test_a_wrong_setting_is_refused_with_its_name(bits: dict[str, Any], message: str) -> None:
    with pytest.raises(JobError, match=message):
        validated(CompileJob(Model("sample", "mlp"), bits=bits))
