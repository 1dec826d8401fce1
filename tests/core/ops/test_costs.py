"""What an FX node costs: FLOPs and bytes."""

import re
from collections.abc import Sequence

import pytest

from core.ops.costs import Cost, FxCosts, op_class
from tests.support.reports.fx_nodes import fx

CASES = [
    ("mm", ["4 8", "8 16"], "4 16", "p0, p1", 2 * 4 * 8 * 16),
    ("addmm", ["16", "4 8", "8 16"], "4 16", "p0, p1, p2", 2 * 4 * 8 * 16),
    ("bmm", ["3 4 8", "3 8 16"], "3 4 16", "p0, p1", 3 * 2 * 4 * 8 * 16),
    ("baddbmm", ["3 4 16", "3 4 8", "3 8 16"], "3 4 16", "p0, p1, p2", 3 * 2 * 4 * 8 * 16),
    (
        "convolution",
        ["2 6 9 9", "12 3 3 3"],
        "2 12 7 7",
        "p0, p1, None, [1, 1], [0, 0], [1, 1], False, [0, 0], 2",
        2 * 2 * 49 * 12 * 3 * 9,
    ),
    (
        "convolution",
        ["2 6 7 7", "6 4 3 3"],
        "2 4 9 9",
        "p0, p1, None, [1, 1], [0, 0], [1, 1], True, [0, 0], 1",
        2 * 2 * 49 * 6 * 4 * 9,
    ),
    ("_scaled_dot_product_flash_attention", ["2 4 16 8"] * 3, "2 4 16 8", "p0, p1, p2", 2 * 2 * 2 * 4 * 16 * 16 * 8),
    ("relu", ["4 8"], "4 8", "p0", 0),
]


def costed(name: str, shapes: Sequence[str], out: str, args: str) -> Cost:
    inputs = [fx(f"p{i}", op="placeholder", target="p", meta=f"f32 {shape}") for i, shape in enumerate(shapes)]
    node = fx(
        "y", [item.name for item in inputs], target=f"torch.ops.aten.{name}.default", args=args, meta=f"f32 {out}"
    )
    return FxCosts({item.name: item for item in [*inputs, node]}).cost(node)


@pytest.mark.parametrize(("name", "shapes", "out", "args", "flops"), CASES)
def test_flops_follow_from_shapes(name: str, shapes: list[str], out: str, args: str, flops: int) -> None:
    assert costed(name, shapes, out, args).flops == flops


@pytest.mark.torch
@pytest.mark.parametrize(("name", "shapes", "out", "args", "flops"), CASES)
def test_flops_are_those_of_torchs_own_counter(name: str, shapes: list[str], out: str, args: str, flops: int) -> None:
    import torch
    from torch.utils.flop_counter import flop_registry

    formula = flop_registry.get(getattr(torch.ops.aten, name))
    tensors = [torch.empty([int(size) for size in shape.split()], device="meta") for shape in shapes]
    values = [tensors[int(part[1])] if part[:1] == "p" else part for part in args.split(", ")][: len(tensors)]
    rest = [None, [1, 1], [0, 0], [1, 1], ", True," in args] if name == "convolution" else []
    result = torch.empty([int(size) for size in out.split()], device="meta")
    assert flops == (formula(*values, *rest, out_val=result) if formula else 0)


def test_bytes_are_those_read_and_written_and_views_move_none() -> None:
    assert costed("mm", ["4 8", "8 16"], "4 16", "p0, p1").bytes == 4 * (32 + 128 + 64)
    assert costed("permute", ["4 8"], "8 4", "p0, [1, 0]") == Cost(0, 0)
    assert costed("relu", ["s0 8"], "s0 8", "p0").bytes is None


def test_a_tuples_bytes_are_those_of_its_items() -> None:
    nodes = [
        fx("x", op="placeholder", target="x"),
        fx("pair", ["x"], target="torch.ops.aten.var_mean.correction", meta=None),
        fx("one", ["pair"], target="operator.getitem", meta="f32 4"),
        fx("two", ["pair"], target="operator.getitem", meta="f32 4"),
    ]
    assert FxCosts({node.name: node for node in nodes}).cost(nodes[1]).bytes == 4 * 32 + 4 * 8


@pytest.mark.torch
def test_random_ops_are_those_that_torch_tags_as_seeded() -> None:
    import torch

    names = {name.removeprefix("aten::").partition(".")[0] for name in torch._C._dispatch_get_all_op_names()}
    seeded = {
        name
        for name in names
        for packet in [getattr(torch.ops.aten, name, None)]
        if packet is not None
        and any(torch.Tag.nondeterministic_seeded in getattr(packet, each).tags for each in packet.overloads())
    }
    others = re.compile(
        r".*(attention|sdp|rnn|lstm|gru|dropout_state|softmax_with_shape|mem_eff|fused_dropout|_sample|_gamma).*|rnn_.*"
    )
    assert {name for name in names if op_class(f"aten.{name}.default") == "random"} == {
        name for name in seeded if not others.fullmatch(name)
    }
