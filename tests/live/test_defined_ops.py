"""Ops that a file defines: both model copies of a run load the file, and torch takes each definition once."""

import pytest

from core import CompileOptions, open_report
from tests.support.user_code import RunCode

pytestmark = pytest.mark.torch

CUSTOM = """
@torch.library.custom_op("ours::double", mutates_args=())
def double(x: torch.Tensor) -> torch.Tensor:
    return x * 2


double.register_fake(lambda x: torch.empty_like(x))
"""
DEFINE = """
torch.library.define("ours::double", "(Tensor x) -> Tensor")


@torch.library.impl("ours::double", "cpu")
def double_cpu(x):
    return x * 2


torch.library.register_fake("ours::double", lambda x: torch.empty_like(x))
double = torch.ops.ours.double
"""
LIBRARY = """
library = torch.library.Library("ours", "KIND")
library.define("double(Tensor x) -> Tensor")
library.impl("double", lambda x: x * 2, "CPU")
library.impl("double", lambda x: torch.empty_like(x), "Meta")
double = torch.ops.ours.double.default
"""
MODEL = """

def model(x):
    return double(x.sin()) + torch.ops.ours.double(x)


calls = [(torch.ones(3),), (torch.ones(5),)]
"""
WAYS = {"custom_op": CUSTOM, "define": DEFINE, "DEF": LIBRARY.replace("KIND", "DEF"),
        "FRAGMENT": LIBRARY.replace("KIND", "FRAGMENT")}  # fmt: skip


@pytest.mark.parametrize("way", WAYS)
def test_a_file_that_defines_an_op_is_loaded_for_both_sides(run_code: RunCode, way: str) -> None:
    run = run_code(f"import torch\n{WAYS[way]}{MODEL}", compile=CompileOptions(backend="aot_eager"))
    report = open_report(run)
    assert report.error is None
    assert [(call.how, all(each.same for each in call.differences)) for call in report.calls] == [
        ("compiled", True)
    ] * 2
