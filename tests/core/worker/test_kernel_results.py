"""Whether one kernel computes what eager computes, on values of any size."""

import runpy
from pathlib import Path

import pytest
import torch

from core.base.tolerances import BY_ELEMENT_OTHERWISE
from core.runs.tools import script
from core.worker.results.scaled import is_close

ROW = torch.linspace(-1, 1, 64)
PAIRS = [
    (ROW, ROW * 1.0001, True),
    (ROW, ROW + 1e-4, True),
    (ROW, ROW * 1.01, False),
    (ROW * 1e-6, torch.zeros(64), False),
    (ROW * 1e-6, ROW * 1e-6, True),
    (torch.tensor([float("nan"), 1.0]), torch.tensor([float("nan"), 1.0]), True),
    (torch.tensor([float("nan"), 1.0]), torch.tensor([0.0, 1.0]), False),
    (torch.arange(64) * 1_000, torch.arange(64) * 1_000 + 1, False),
]


@pytest.mark.parametrize(("wanted", "actual", "same"), PAIRS)
def test_a_kernel_is_compared_by_the_magnitude_of_its_result(
    wanted: torch.Tensor, actual: torch.Tensor, same: bool
) -> None:
    assert is_close(wanted, actual, BY_ELEMENT_OTHERWISE) == same


@pytest.mark.parametrize(("wanted", "actual", "same"), PAIRS)
def test_the_script_of_a_kernel_compares_in_the_same_way(
    tmp_path: Path, wanted: torch.Tensor, actual: torch.Tensor, same: bool
) -> None:
    if not wanted.dtype.is_floating_point:
        pytest.skip("a script compares whole numbers as torch.testing does")
    tail = script.PARTS["tail"].format(tolerances={}, otherwise=BY_ELEMENT_OTHERWISE, unrelated="")
    path = tmp_path / "tail.py"
    path.write_text("import os\n" + tail.partition("values = arguments()")[0].rpartition("if __name__")[0])
    given = {
        "torch": torch,
        "arguments": lambda: {"out": actual},
        "copied": torch.clone,
        "READS": [],
        "UNSURE": [],
        "eager": lambda: {"out": wanted},
        "launch": lambda out: None,
    }
    try:
        runpy.run_path(str(path), init_globals=given)
    except AssertionError:
        assert not same
    else:
        assert same
