"""Frozen parameters that change: no call may compute with old numbers, in whatever way they were changed."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from core.report import Crossing, Pipeline
from core.report.records import Record

pytestmark = pytest.mark.torch
SIZE = 8


def _optimizer_step(layer: Any) -> None:
    import torch

    layer.weight.grad = torch.ones_like(layer.weight)
    torch.optim.SGD(layer.parameters(), lr=0.5).step()


def _in_place(layer: Any) -> None:
    import torch

    with torch.no_grad():
        layer.weight.mul_(3)


def _other_storage(layer: Any) -> None:
    import torch

    with torch.no_grad():
        layer.weight.set_(torch.randn(SIZE, SIZE))


def _other_layout(layer: Any) -> None:
    import torch

    layer.weight.data = torch.randn(SIZE, SIZE).t()


def _other_state(layer: Any) -> None:
    import torch

    layer.load_state_dict({"weight": torch.randn(SIZE, SIZE), "bias": torch.randn(SIZE)})


def _other_parameter(layer: Any) -> None:
    import torch

    layer.weight = torch.nn.Parameter(torch.randn(SIZE, SIZE))


CHANGES: dict[str, Callable[[Any], object]] = {
    "data in place": lambda layer: layer.weight.data.mul_(3),
    "other data": lambda layer: setattr(layer.weight, "data", layer.weight.data * 3),
    "other data, laid out in another way": _other_layout,
    "one number": lambda layer: layer.weight.data.view(-1)[SIZE + 3].fill_(7),
    "a view made before": lambda layer: layer.row.fill_(2),
    "the array that shares its memory": lambda layer: layer.weight.detach().numpy().__imul__(3),
    "in place without gradients": _in_place,
    "set_": _other_storage,
    "load_state_dict": _other_state,
    "a step of an optimizer": _optimizer_step,
    "copy_ of data": lambda layer: layer.bias.data.copy_(layer.bias.data + 1),
    "two swapped": lambda layer: layer.weight.data.copy_(layer.weight.data.flip(0)),
    "another parameter": _other_parameter,
}


@pytest.fixture(autouse=True)
def _fresh() -> Iterator[None]:
    import torch

    torch._dynamo.reset()
    torch.manual_seed(0)
    yield
    torch._dynamo.reset()


@pytest.mark.parametrize("change", CHANGES)
def test_a_frozen_parameter_that_changes_is_seen_by_the_next_call(change: str, tmp_path: Path) -> None:
    import torch

    from core.accelerator.backend import Accelerator

    emitted: list[Record] = []
    backend = Accelerator(emitted.append, tmp_path)
    layer = torch.nn.Linear(SIZE, SIZE)
    layer.row = layer.weight.data[2]
    x = torch.randn(3, SIZE)

    def model(x: torch.Tensor) -> torch.Tensor:
        # What a pass would compute while it loads the constants: a product and a sum of parameters alone.
        folded = (layer.weight * 2 + 1) @ layer.weight + layer.bias
        return (layer(x) @ folded).relu()

    compiled = torch.compile(model, backend=backend, options={"freeze": True})
    with torch.no_grad():
        torch.testing.assert_close(compiled(x), model(x))
    before = layer.weight.detach().clone(), layer.bias.detach().clone()
    CHANGES[change](layer)
    assert not (torch.equal(before[0], layer.weight) and torch.equal(before[1], layer.bias))
    for _ in range(2):
        with torch.no_grad():
            torch.testing.assert_close(compiled(x), model(x))
    backend.close()
    assert {item.frozen for item in emitted if isinstance(item, Pipeline)} == {2}
    crossed = [item for item in emitted if isinstance(item, Crossing)]
    assert (sum(item.calls for item in crossed), [item.fallbacks for item in crossed if item.fallbacks]) == (3, [])


def test_the_file_of_a_frozen_segment_has_the_parameters_and_its_calls_take_them_where_they_are() -> None:
    import torch
    from torch.fx.experimental.proxy_tensor import make_fx

    from core.accelerator.backend import divide
    from core.accelerator.lowering import Support
    from core.accelerator.segment import SegmentModule

    x, weight = torch.randn(3, SIZE), torch.randn(SIZE, SIZE)
    graph = make_fx(lambda x, w: (x @ w).relu(), tracing_mode="fake")(x, weight)
    (name,) = divide(graph, Support())
    constant = graph.get_submodule(name).graph.find_nodes(op="placeholder")[1].name
    segment = SegmentModule(graph.get_submodule(name), name, 63, {constant: weight})
    assert segment.first is not None
    info = segment.first.loaded.info
    assert (info.inputs, info.constant_bytes, segment.programs) == (1, SIZE * SIZE * 4, 1)
    torch.testing.assert_close(segment(x, weight), (x @ weight).relu())
    weight.data.mul_(-3)
    torch.testing.assert_close(segment(x, weight), (x @ weight).relu())
    torch.testing.assert_close(segment(x, weight * 2), (x @ weight * 2).relu())
