"""A graph's values given out as they are right after their nodes, and float64 throughout; without compiling."""

from typing import Any

import pytest
import torch
from torch.fx import GraphModule

from core.worker.numerics import RANDOM, SEVERAL, VIEW, NodeRecorder, tapped
from core.worker.results.accuracy import accuracy
from core.worker.results.verdict import RIGHT
from core.worker.results.wide import InFloat64, as_written, widened

X = torch.tensor([[1.0, 2.0], [3.0, 4.0]])


def traced(function: Any) -> GraphModule:
    """A function as a graph."""

    return torch.fx.symbolic_trace(function)


def written_over(x: torch.Tensor) -> tuple[torch.Tensor]:
    doubled = x * 2
    row = doubled[0]
    row.add_(1)
    return (doubled.sum(),)


def of_chance(x: torch.Tensor) -> tuple[torch.Tensor]:
    dropped = torch.dropout(x, 0.5, True)
    noise = torch.empty_like(dropped).uniform_()
    first, _ = dropped.chunk(2)
    return (first + noise[:1],)


def test_a_value_is_given_out_as_it_was_before_others_wrote_into_it() -> None:
    graph = traced(written_over)
    meeting = NodeRecorder(graph, "cpu")
    meeting.run(X.clone())

    assert {name: met.left_out for name, met in meeting.met.items()} == {
        "mul": "",
        "getitem": VIEW,
        "add_": "",
        "sum_1": "",
    }
    own, mul, add = tapped(graph, ("mul", "add_"), {})(X.clone())
    assert (own.item(), mul.tolist(), add.tolist()) == (22.0, [[2.0, 4.0], [6.0, 8.0]], [3.0, 5.0])


def test_what_a_node_drew_goes_into_every_run() -> None:
    torch.manual_seed(0)
    graph = traced(of_chance)
    meeting = NodeRecorder(graph, "cpu")
    (found,) = meeting.run(X.clone())
    drawn = {name: met for name, met in meeting.met.items() if met.drawn is not None}

    assert {name: met.left_out for name, met in meeting.met.items() if met.left_out} == {
        "dropout": RANDOM,
        "uniform_": RANDOM,
        "chunk": SEVERAL,
        "getitem": VIEW,
        "getitem_1": VIEW,
        "getitem_2": VIEW,
    }
    assert {name: met.in_place for name, met in drawn.items()} == {"dropout": False, "uniform_": True}
    again = tapped(graph, ("add",), drawn)(X.clone(), *(met.drawn for met in drawn.values()))
    assert [value.tolist() for value in again] == [found.tolist()] * 2


def test_casts_of_the_models_own_are_left_out_in_float64() -> None:
    third = torch.tensor([1.0], dtype=torch.float64) / 3
    with InFloat64():
        cast = (third.to(torch.bfloat16) + torch.ones(1)).float()
        same_bits = third.view(torch.int64)
        with as_written():
            narrow = third.to(torch.bfloat16)

    assert (cast.dtype, cast.item()) == (torch.float64, third.item() + 1)
    assert (narrow.dtype, same_bits.dtype) == (torch.bfloat16, torch.int64)
    assert (third.to(torch.bfloat16).dtype, torch.ones(1).dtype) == (torch.bfloat16, torch.float32)


def test_an_op_that_torch_lacks_in_float64_is_computed_in_float32() -> None:
    one, other = (torch.rand(2, 16, 16, dtype=torch.float64) for _ in range(2))
    within = InFloat64()
    with within:
        found = torch._grouped_mm(one, other)

    assert (found.dtype, within.narrowed) == (torch.float64, {"aten::_grouped_mm"})
    assert found.tolist() == pytest.approx((one.float() @ other.float()).double().numpy())
    with pytest.raises(RuntimeError, match="shapes cannot be multiplied"), within:
        one[0] @ other[0, 1:]


@pytest.mark.parametrize(
    ("eager", "compiled", "same", "errors", "reason"),
    [
        ([1.0, 1.0], [1.0, 1.0], True, (0.0, 0.0, 0.0), ""),
        ([1.0, 1.0], [1.0, 2.0], False, (0.0, 0.5**0.5, 0.5**0.5), ""),
        ([1.0, 3.0], [1.0, 1.0], True, (2**0.5, 0.0, 0.4**0.5), RIGHT),
        ([1.0, float("inf")], [1.0, 1.0], True, (0.0, 0.0, 0.0), RIGHT),
    ],
)  # fmt: skip
def test_both_are_held_against_float64(
    eager: list[float], compiled: list[float], same: bool, errors: tuple[float, float, float], reason: str
) -> None:
    found = accuracy("y", torch.tensor(eager), torch.tensor(compiled), widened(torch.ones(2)), lambda: None)

    assert (found.same, found.reason, found.elements) == (same, reason, 2)
    assert (found.eager_error, found.compiled_error, found.apart) == pytest.approx(errors)


def test_of_whole_numbers_the_part_that_differs_is_the_error() -> None:
    found = accuracy(
        "mask", torch.tensor([1, 2, 3, 4]), torch.tensor([1, 2, 3, 5]), torch.tensor([1, 2, 3, 4]), lambda: None
    )

    assert (found.same, found.eager_error, found.compiled_error) == (False, 0.0, 0.25)


def test_a_custom_op_that_writes_without_saying_so_writes_among_rounding_errors_too() -> None:
    @torch.library.custom_op("numerics::doubled_into", mutates_args=())
    def doubled_into(rows: torch.Tensor, out: torch.Tensor) -> None:
        out.copy_(rows * 2)

    out = torch.zeros(3, dtype=torch.float64)
    with InFloat64(rounding=1e-7):
        doubled_into(torch.ones(3, dtype=torch.float64), out)
    assert out.tolist() == pytest.approx([2.0] * 3)
