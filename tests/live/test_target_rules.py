"""What torch would decide at the device is decided by its own rules, and the code around it is torch's own."""

import pytest

from core import CompileJob, LocalEngine, Model, Run, Runner, Store, open_graph, open_report
from core.report import TargetChoice
from tests.support.sample import one_in

MASKED = """
import torch
from torch.nn.functional import scaled_dot_product_attention


def model(q, k, v, mask):
    return scaled_dot_product_attention(q, k, v, attn_mask=mask)


def masked(length):
    mask = torch.ones(2, 1, length, length, dtype=torch.bool).tril()
    return *(torch.randn(2, 4, length, 64) for _ in range(3)), mask


calls = [masked(length) for length in {lengths}]
"""
PRODUCTS = """
import torch

model = torch.nn.Sequential(torch.nn.Linear(1001, 4099), torch.nn.Linear(4099, 2048), torch.nn.Linear(2048, 5))
inputs = (torch.randn(4096, 1001),)
"""

pytestmark = [pytest.mark.torch, pytest.mark.xdist_group("targets")]


@pytest.fixture(scope="module")
def runner(engine: LocalEngine, tmp_path_factory: pytest.TempPathFactory) -> Runner:
    """One store for all runs of this file."""
    return Runner(Store(tmp_path_factory.mktemp("rules")), engine)


def generated(runner: Runner, code: str, target: str, dtype: str) -> Run:
    run = runner.wait(runner.submit(CompileJob(Model("code", code), target=target, dtype=dtype)))
    assert (run.status().state, open_report(run).error) == ("done", None)
    return run


def calls_of(run: Run) -> list[list[str]]:
    """The calls of each compilation's last graph, without the overload."""
    found = []
    for compilation in open_report(run).compilations:
        last = next(graph for graph in compilation.graphs if graph.stage == "inductor_post_grad_graph")
        nodes = open_graph(run, compilation, last)
        found.append([node.target.split("aten.")[-1].split(".")[0] for node in nodes if "aten." in node.target])
    return found


def choices(run: Run) -> list[TargetChoice]:
    return [choice for compilation in open_report(run).compilations for choice in compilation.target_choices]


@pytest.mark.parametrize(
    ("target", "kernel"), one_in(3, [("h100", "cudnn"), ("a100", "efficient"), ("mi300x", "efficient")])
)
def test_a_boolean_mask_is_added_as_torch_adds_it(runner: Runner, target: str, kernel: str) -> None:
    run = generated(runner, MASKED.format(lengths=(64,)), target, "bfloat16")
    expanded = ["expand"] if kernel == "efficient" else []
    made = ["full", "full", "where", *expanded, f"_scaled_dot_product_{kernel}_attention"]
    assert calls_of(run) == [made]
    assert [choice.chosen for choice in choices(run)] == [kernel]


def test_a_mask_is_padded_where_its_rows_are_unaligned_or_of_a_length_that_is_unknown(runner: Runner) -> None:
    run = generated(runner, MASKED.format(lengths=(64, 80)), "a100", "bfloat16")
    assert ["constant_pad_nd" in calls for calls in calls_of(run)] == [False, True]
    run = generated(runner, MASKED.format(lengths=(60,)), "a100", "bfloat16")
    assert ["constant_pad_nd" in calls for calls in calls_of(run)] == [True]


def test_each_product_that_the_device_would_time_is_named(runner: Runner) -> None:
    run = generated(runner, PRODUCTS, "l4", "bfloat16")
    reason = "needs timing on the device: torch pads it there if that is faster"
    assert sorted(choices(run), key=lambda choice: choice.about) == [
        TargetChoice(f"padding of addmm bfloat16 {product}", "not padded", reason, ("not padded", padded))
        for product, padded in (
            ("[4096, 1001] by [1001, 4099]", "[4096, 1008] by [1008, 4104]"),
            ("[4096, 4099] by [4099, 2048]", "[4096, 4104] by [4104, 2048]"),
        )
    ]
