"""The table of neighbours: what installs each, and that the document and the requirements name the same."""

import re
from importlib.metadata import version

import pytest
import torch

from tests.supply import pins
from tests.support.places import ROOT

pytestmark = pytest.mark.torch


def test_the_requirements_are_what_installs_the_neighbours_of_a_cpu() -> None:
    from core.worker.neighbours.stage import NEIGHBOURS

    on_a_cpu = [runtime for runtime in NEIGHBOURS if runtime.devices == ("cpu",) or runtime.name == "MLX"]
    named = {name for runtime in on_a_cpu for name in re.findall(r"[a-z]+(?:-[a-z]+)*", runtime.install)[2:]}
    assert {name for name, _ in pins.pins(pins.NEIGHBOURS)} == named - {"cpu"}


def test_the_document_names_each_neighbour_and_its_packages() -> None:
    from core.worker.neighbours.stage import NEIGHBOURS

    page = (ROOT / "docs/neighbours.md").read_text(encoding="utf-8")
    for runtime in NEIGHBOURS:
        assert f"| {runtime.name.partition(', traced')[0].partition(', scripted')[0]} |" in page
        for package in runtime.install.replace('"mlx[cpu]"', "mlx").split()[2:]:
            assert f"`{package}`" in page


def test_what_is_not_installed_is_missing_and_has_no_version() -> None:
    from core.worker.neighbours.stage import Runtime

    record = Runtime("Nobody", "nobody()", None, ("torch", "no_such_module"), "pip install nobody").record
    assert (record.missing, record.version, record.install) == (("no_such_module",), "", "pip install nobody")
    # The name of a wheel from PyPI leaves out the build.
    named = torch.__version__ if "+" in version("torch") else torch.__version__.partition("+")[0]
    assert Runtime("torch", "torch()", None).record.version == named


def test_a_flat_model_takes_and_returns_tensors_alone() -> None:
    from core.worker.neighbours.stage import FlatModel

    class Named(torch.nn.Module):
        def forward(self, x: torch.Tensor, factor: int, *, bias: torch.Tensor) -> dict[str, object]:
            return {"scaled": x * factor, "kept": (bias, 3)}

    flat = FlatModel(Named(), ((torch.ones(2), 5), {"bias": torch.zeros(3)}))
    assert [list(tensor.shape) for tensor in flat.tensors] == [[2], [3]]
    assert [output.tolist() for output in flat(torch.full((2,), 2.0), torch.ones(3))] == [[10.0, 10.0], [1.0] * 3]
