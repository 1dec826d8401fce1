"""Loading of a model's file: on the CPU, as its author runs it, and then on the job's device."""

from pathlib import Path

import pytest

from core import CompileJob, Model, Run

# Torch's own imports warn.
pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore")]
CODE = """import torch
generator = torch.Generator().manual_seed(3)
table = torch.randn(4, generator=generator)

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.randn(4, generator=generator))
        self.plain = [torch.randn(4, generator=generator)]

    def forward(self, x):
        return x * self.weight + self.plain[0] + table

def scaled(scale=torch.ones(4)):
    return lambda x: x * scale

model, other = Net(), scaled()
inputs = (torch.randn(4, generator=generator),)
"""


def test_a_file_with_a_generator_of_the_cpu_loads_for_another_device(tmp_path: Path) -> None:
    from core.worker.load import ModelCopy

    path = tmp_path / "drawn.py"
    path.write_text(CODE)
    copies = [
        ModelCopy(path, CompileJob(Model("file", str(path)), device=device), "drawn") for device in ("cpu", "meta")
    ]
    for copy, device in zip(copies, ("cpu", "meta"), strict=True):
        ((x,), _) = next(copy.calls())
        net = copy.values()["Net"]
        assert isinstance(copy.model, net)
        tensors = [
            x,
            copy.model.weight,
            copy.model.plain[0],
            copy.values()["table"],
            copy.values()["other"].__closure__[0].cell_contents,
        ]
        assert [tensor.device.type for tensor in tensors] == [device] * 5
        assert copy.model(x).device.type == device
    assert copies[1].modules()[-1].weight.requires_grad


def test_inputs_in_float64_share_memory_as_the_files_do_and_keep_what_a_call_left_in_them() -> None:
    import torch

    from core.worker.load import WideInputs

    inputs, base, state = WideInputs(), torch.arange(6.0), torch.zeros(2)
    left, right, kept, index = inputs.of((base[:4], base[2:], state, torch.tensor(1)))
    assert [left.dtype, kept.dtype, index.dtype] == [torch.float64, torch.float64, torch.int64]
    left.mul_(2)
    kept.add_(1)
    assert right.tolist() == [4, 6, 4, 5]
    assert base.tolist() == [0, 1, 2, 3, 4, 5]
    assert inputs.of((state, state))[1].tolist() == [1, 1]
    state.add_(5)
    assert inputs.of((state,))[0].tolist() == [5, 5]


def test_inputs_that_are_small_parts_of_a_large_memory_are_widened_alone() -> None:
    import torch

    from core.worker.load import WideInputs

    table = torch.zeros(4096, requires_grad=True)
    first, second = WideInputs().of((table.detach()[:2], table.detach()[2:4]))
    assert first.untyped_storage().nbytes() == second.untyped_storage().nbytes() == 16


def test_a_node_of_a_cluster_runs_a_file_in_the_directory_of_its_run(tmp_path: Path) -> None:
    from core.worker.run import working_directory

    for folder in ("mine", "abc", "abc-of-a-server"):
        (tmp_path / folder).mkdir()
    job = CompileJob(Model("file", str(tmp_path / "mine" / "model.py")))
    here, node = Run("abc", tmp_path / "abc"), Run("abc", tmp_path / "abc-of-a-server")
    assert working_directory(here, job) == tmp_path / "mine"
    assert working_directory(node, job) == node.path / "script"
    gone = CompileJob(Model("file", str(tmp_path / "gone" / "model.py")))
    assert working_directory(here, gone) == here.path / "script"
