"""Operators that torch has code for on the device alone: each is described for a target, or says why it cannot be."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
import yaml

from core import CompileJob, Conditions, LocalEngine, Model, Report, Runner, Store, open_report
from tests.support.homes import CACHE
from tests.support.places import ROOT

pytestmark = [pytest.mark.torch, pytest.mark.xdist_group("targets")]

OTHERS = ("Meta", "CPU", "CompositeExplicitAutograd", "CompositeImplicitAutograd")
WITHIN = """
import json, sys, warnings
from pathlib import Path
from core.worker.cross_compilation.device import load_shim, set_guard
shim = load_shim(Path(sys.argv[1]))
from core.worker.cross_compilation.device import compiling_for, pretend
pretend("cuda")
set_guard(shim, "cuda")
import torch
from core.job.targets import TARGETS
from torch._dispatch.python import enable_python_dispatcher
from torch._subclasses.fake_tensor import FakeTensorMode
warnings.simplefilter("ignore")
"""
LISTED = """
from core.worker.cross_compilation.fallbacks import DESCRIBED, UNDECIDED
print(json.dumps([list(DESCRIBED), list(UNDECIDED)]))
"""
CALLS = """
aten = torch.ops.aten
def cuda(*sizes, dtype=torch.float32):
    return torch.empty(sizes, dtype=dtype, device="cuda")
calls = {
    "_thnn_fused_gru_cell": lambda: aten._thnn_fused_gru_cell(cuda(4, 24), cuda(4, 24), cuda(4, 8)),
    "_thnn_fused_gru_cell_backward": lambda: aten._thnn_fused_gru_cell_backward(cuda(4, 8), cuda(4, 40), True),
    "_use_cudnn_ctc_loss": lambda: aten._use_cudnn_ctc_loss(
        cuda(50, 2, 20), torch.empty(6, dtype=torch.int32), [50, 50], [3, 3], 0),
    "_use_cudnn_ctc_loss, short": lambda: aten._use_cudnn_ctc_loss(
        cuda(50, 2, 20), torch.empty(6, dtype=torch.int32), [50, 49], [3, 3], 0),
    "_cudnn_ctc_loss": lambda: aten._cudnn_ctc_loss(
        cuda(50, 2, 20), torch.empty(6, dtype=torch.int32), [50, 50], [3, 3], 0, False, False),
    "cudnn_grid_sampler": lambda: aten.cudnn_grid_sampler(cuda(2, 3, 8, 8), cuda(2, 5, 6, 2)),
    "cudnn_grid_sampler_backward": lambda: aten.cudnn_grid_sampler_backward(
        cuda(2, 3, 8, 8), cuda(2, 5, 6, 2), cuda(2, 3, 5, 6)),
    "cudnn_affine_grid_generator": lambda: aten.cudnn_affine_grid_generator(cuda(2, 2, 3), 2, 3, 8, 9),
    "cudnn_convolution": lambda: aten.cudnn_convolution(
        cuda(2, 3, 8, 8), cuda(4, 3, 3, 3), [0, 0], [2, 2], [1, 1], 1, False, False, True),
    "cudnn_convolution_relu": lambda: aten.cudnn_convolution_relu(
        cuda(2, 3, 8, 8), cuda(4, 3, 3, 3), None, [1, 1], [1, 1], [1, 1], 1),
    "conv_depthwise3d": lambda: aten.conv_depthwise3d(
        cuda(1, 2, 4, 4, 4), cuda(2, 1, 3, 3, 3), [3, 3, 3], None, [1, 1, 1], [0, 0, 0], [1, 1, 1]),
    "batch_norm_stats": lambda: aten.batch_norm_stats(cuda(2, 3, 4, dtype=torch.bfloat16), 1e-5),
    "batch_norm_gather_stats_with_counts": lambda: aten.batch_norm_gather_stats_with_counts(
        cuda(2, 3, 4), cuda(2, 3), cuda(2, 3), None, None, 0.1, 1e-5, cuda(2)),
    "batch_norm_backward_reduce": lambda: aten.batch_norm_backward_reduce(
        cuda(2, 3, 4), cuda(2, 3, 4), cuda(3), cuda(3), None, True, False, False),
    "geqrf": lambda: torch.geqrf(cuda(4, 4)),
    "binomial": lambda: torch.binomial(cuda(4), cuda(4)),
    "cudnn.is_acceptable": lambda: torch.backends.cudnn.is_acceptable(cuda(4)),
}
def told(value):
    if isinstance(value, torch.Tensor):
        return [value.device.type, str(value.dtype).removeprefix("torch."), list(value.shape)]
    return list(map(told, value)) if isinstance(value, (tuple, list)) else value
found = {}
for name, call in calls.items():
    with compiling_for(TARGETS["h100"]), FakeTensorMode(), enable_python_dispatcher():
        found[name] = told(call())
print(json.dumps(found))
"""
CELLS = """
import torch


class Cells(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.gru, self.lstm = torch.nn.GRUCell(16, 16), torch.nn.LSTMCell(16, 16)
        self.layers = torch.nn.LSTM(16, 16, num_layers=2)

    def forward(self, x):
        h, c = self.lstm(self.gru(x[0]))
        out, _ = self.layers(x)
        return h + c + out.sum(0)


model, training = Cells(), True
inputs = (torch.randn(3, 4, 16),)
"""


def device_operators() -> Iterator[str]:
    """The operators of torch that have a kernel for CUDA, and no other from which fake tensors could have a result."""
    import torch._decomp
    import torch._meta_registrations
    import torchgen
    from torch._subclasses import fake_impls

    path = Path(torchgen.__file__).parent / "packaged" / "ATen" / "native" / "native_functions.yaml"
    # In Python alone, yaml reads this file for five seconds.
    for entry in yaml.load(path.read_text(), getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
        name = entry["func"].split("(")[0]
        keys = {key.strip() for listed in (entry.get("dispatch") or {}) for key in listed.split(",")}
        base, _, overload = name.partition(".")
        operator = getattr(getattr(torch.ops.aten, base), overload or "default")
        tables = (torch._decomp.meta_table, torch._decomp.decomposition_table, fake_impls.op_implementations_dict)
        has_kernel = torch._C._dispatch_has_kernel_for_dispatch_key
        computed = any(has_kernel(f"aten::{name}", key) for key in OTHERS)
        out = torch.Tag.out in operator.tags or "out" in overload
        if "CUDA" in keys and not out and not computed and not any(operator in table for table in tables):
            yield f"aten::{name}"


@pytest.fixture(scope="module")
def printed() -> list[Any]:
    """What `LISTED` and `CALLS` print in one process that generates for a target."""
    command = [sys.executable, "-c", WITHIN + LISTED + CALLS, str(CACHE)]
    ran = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    return list(map(json.loads, ran.stdout.splitlines()))


# Operators that fake tensors compute since torch 2.14.
COMPUTED = {"aten::_cudnn_rnn_flatten_weight", "aten::_scaled_grouped_mm_v2"}


def test_each_operator_of_the_device_alone_is_described_or_says_why_not(printed: list[Any]) -> None:
    described, undecided = printed[0]
    assert set(described) & set(undecided) == set()
    computed = COMPUTED if torch.__version__ >= "2.14" else set()
    assert sorted(device_operators()) == sorted(name for name in [*described, *undecided] if name not in computed)


def test_results_are_those_that_the_device_allocates(printed: list[Any]) -> None:
    assert printed[1] == {
        "_thnn_fused_gru_cell": [["cuda", "float32", [4, 8]], ["cuda", "float32", [4, 40]]],
        "_thnn_fused_gru_cell_backward": [
            *[["cuda", "float32", [4, 24]]] * 2,
            ["cuda", "float32", [4, 8]],
            *[["cuda", "float32", [24]]] * 2,
        ],
        "_use_cudnn_ctc_loss": True,
        "_use_cudnn_ctc_loss, short": False,
        "_cudnn_ctc_loss": [["cuda", "float32", [2]], ["cuda", "float32", [50, 2, 20]]],
        "cudnn_grid_sampler": ["cuda", "float32", [2, 3, 5, 6]],
        "cudnn_grid_sampler_backward": [["cuda", "float32", [2, 3, 8, 8]], ["cuda", "float32", [2, 5, 6, 2]]],
        "cudnn_affine_grid_generator": ["cuda", "float32", [2, 8, 9, 2]],
        "cudnn_convolution": ["cuda", "float32", [2, 4, 3, 3]],
        "cudnn_convolution_relu": ["cuda", "float32", [2, 4, 8, 8]],
        "conv_depthwise3d": ["cuda", "float32", [1, 2, 2, 2, 2]],
        "batch_norm_stats": [["cuda", "float32", [3]]] * 2,
        "batch_norm_gather_stats_with_counts": [["cuda", "float32", [3]]] * 2,
        "batch_norm_backward_reduce": [*[["cuda", "float32", [3]]] * 2, None, None],
        "geqrf": [["cuda", "float32", [4, 4]], ["cuda", "float32", [4]]],
        "binomial": ["cuda", "float32", [4]],
        "cudnn.is_acceptable": True,
    }


@pytest.mark.long
def test_recurrent_cells_and_layers_are_one_graph_on_a_target(engine: LocalEngine, tmp_path: Path) -> None:
    runner = Runner(Store(tmp_path), engine)
    job = CompileJob(Model("code", CELLS), target="h100", conditions=Conditions(dynamo={"allow_rnn": True}))
    report: Report = open_report(runner.wait(runner.submit(job)))
    assert (report.error, len(report.graph_breaks)) == (None, 0)
    (compilation,) = report.compilations
    called = {kernel.name for kernel in compilation.kernels if kernel.extern}
    assert {"torch.ops.aten._thnn_fused_gru_cell.default", "torch.ops.aten._thnn_fused_lstm_cell.default"} <= called
