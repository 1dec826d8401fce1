"""Random graphs as users bring them: sizes that change, narrow floats, training."""

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from core.report import Crossing, Pipeline
from core.report.records import Record

pytestmark = pytest.mark.torch
SIZE = 6


def ops() -> dict[str, tuple[int, Callable[..., Any]]]:
    """Smooth functions of square matrices of any size, each with the number of its operands; two have no kernel."""
    import torch
    from torch.nn import functional

    return {
        "add": (2, torch.add),
        "mul": (2, lambda a, b: a.tanh() * b),
        "mm": (2, lambda a, b: (a / a.shape[0]) @ b),
        "addmm": (2, lambda a, b: torch.addmm(a[0], a.sigmoid(), b)),
        "gelu": (1, functional.gelu),
        "silu": (1, functional.silu),
        "softmax": (1, lambda a: a.softmax(-1)),
        "norm": (1, lambda a: functional.layer_norm(a, (a.shape[-1],))),
        "mean": (1, lambda a: a - a.mean(0)),
        "turned": (1, lambda a: a.t()),
        "copied": (1, lambda a: a.t().contiguous()),
        "joined": (2, lambda a, b: torch.cat([a, b], 1)[:, ::2]),
        "rows": (1, lambda a: a[: a.shape[0] - 1].sum(0) + a),
        "cumsum": (1, lambda a: a.cumsum(0) / a.shape[0]),
        "flipped": (1, lambda a: a.flip(0)),
    }


def drawn(seed: int, length: int = 12) -> Callable[..., Any]:
    """A random function of three matrices, which returns its last two values."""
    chance, known = random.Random(seed), ops()
    plan = [(chance.choice(list(known)), [chance.randrange(3 + at) for _ in range(2)]) for at in range(length)]

    def function(*inputs: Any) -> Any:
        values = list(inputs)
        for name, operands in plan:
            count, call = known[name]
            values.append(call(*(values[index] for index in operands[:count])))
        return tuple(values[-2:])

    return function


@pytest.mark.parametrize("seed", range(4))
def test_a_graph_of_any_size_has_a_program_for_each_or_a_reason(seed: int) -> None:
    import torch
    from torch._decomp import core_aten_decompositions
    from torch.fx.experimental.proxy_tensor import make_fx

    from core.accelerator.backend import divide
    from core.accelerator.lowering import Support
    from core.accelerator.segment import SegmentModule

    function = drawn(seed)
    torch.manual_seed(seed)
    example = [torch.randn(SIZE, SIZE) for _ in range(3)]
    graph = make_fx(function, tracing_mode="symbolic", decomposition_table=core_aten_decompositions())(*example)
    names = divide(graph, Support())
    segments = [SegmentModule(getattr(graph, name), name, 63, {}) for name in names]
    for name, segment in zip(names, segments, strict=True):
        setattr(graph, name, segment)
    for size in (SIZE, 2, 9, 33, SIZE):
        inputs = [torch.randn(size, size) for _ in range(3)]
        torch.testing.assert_close(graph(*inputs), function(*inputs), rtol=1e-4, atol=1e-4)
    for segment in segments:
        told = segment.crossings.calls + sum(segment.crossings.fallbacks.values())
        assert (told, segment.programs if segment.dynamic else 4) == (5, 4)


@pytest.mark.parametrize("seed", range(4))
def test_in_bfloat16_a_graph_is_as_near_to_the_exact_result_as_torch_is(seed: int) -> None:
    import torch
    from torch._decomp import core_aten_decompositions
    from torch.fx.experimental.proxy_tensor import make_fx

    from core.accelerator.backend import divide
    from core.accelerator.lowering import Support
    from core.accelerator.segment import SegmentModule

    function = drawn(seed + 100)
    torch.manual_seed(seed)
    exact = [torch.randn(SIZE, SIZE).bfloat16().double() for _ in range(3)]
    inputs = [value.bfloat16() for value in exact]
    graph = make_fx(function, tracing_mode="fake", decomposition_table=core_aten_decompositions())(*inputs)
    for name in divide(graph, Support()):
        setattr(graph, name, SegmentModule(getattr(graph, name), name, 63, {}))
    for found, eager, right in zip(graph(*inputs), function(*inputs), function(*exact), strict=True):
        assert found.dtype == torch.bfloat16
        theirs, ours = (eager.double() - right).norm(), (found.double() - right).norm()
        assert ours <= 2 * theirs + 0.01 * right.norm()


@pytest.mark.parametrize("seed", range(2))
def test_training_runs_forward_and_backward_there_with_torchs_gradients(seed: int, tmp_path: Path) -> None:
    import torch

    from core.accelerator.backend import Accelerator

    emitted: list[Record] = []
    backend = Accelerator(emitted.append, tmp_path)
    function = drawn(seed + 200)
    torch.manual_seed(seed)
    sides = [[torch.randn(SIZE, SIZE, requires_grad=True) for _ in range(3)]]
    sides.append([value.detach().clone().requires_grad_() for value in sides[0]])
    torch._dynamo.reset()
    for call, inputs in zip((function, torch.compile(function, backend=backend)), sides, strict=True):
        sum(value.square().mean() for value in call(*inputs)).backward()
    backend.close()
    for eager, ours in zip(*sides, strict=True):
        torch.testing.assert_close(ours.grad, eager.grad, rtol=1e-4, atol=1e-5)
    made = [item for item in emitted if isinstance(item, Pipeline)]
    assert [item.direction for item in made] == ["forward", "backward"]
    assert all(item.segments and not any(segment.problem for segment in item.segments) for item in made)
    crossed = [item for item in emitted if isinstance(item, Crossing)]
    assert {(item.calls, item.copies, len(item.fallbacks)) for item in crossed} == {(1, 0, 0)}


def test_any_number_of_sizes_run_on_the_accelerator_and_the_oldest_program_makes_room() -> None:
    import torch
    from torch.fx.experimental.proxy_tensor import make_fx

    from core.accelerator.backend import divide
    from core.accelerator.lowering import Support
    from core.accelerator.segment import MOST_PROGRAMS, SegmentModule

    weight = torch.randn(SIZE, SIZE)
    graph = make_fx(lambda x, w: (x @ w).relu(), tracing_mode="symbolic")(torch.randn(4, SIZE), weight)
    (name,) = divide(graph, Support())
    segment = SegmentModule(graph.get_submodule(name), name, 63, {})
    setattr(graph, name, segment)
    rows = [*range(2, MOST_PROGRAMS + 5), 2, MOST_PROGRAMS + 4]
    for count in rows:
        x = torch.randn(count, SIZE)
        torch.testing.assert_close(graph(x, weight), (x @ weight).relu())
    # The last set of sizes was kept, the first was not.
    assert segment.programs == len(rows) - 1
    assert (segment.crossings.calls, segment.crossings.fallbacks) == (len(rows), {})
