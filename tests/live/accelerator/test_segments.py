"""Graphs divided into segments and run: random ones, with ops that there is no kernel for."""

import random
import re
import subprocess
from collections.abc import Callable
from operator import getitem
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.torch
SIZE = 6


def ops() -> dict[str, tuple[int, Callable[..., Any]]]:
    """Functions of square matrices, each with the number of its operands."""
    import torch

    return {
        "add": (2, torch.add),
        "mul": (2, torch.mul),
        "mm": (2, lambda a, b: torch.mm(a, b) / SIZE),
        "linear": (2, lambda a, b: torch.addmm(a[0], a, b) / SIZE),
        "relu": (1, torch.relu),
        "gelu": (1, torch.nn.functional.gelu),
        "tanh": (1, torch.tanh),
        "softmax": (1, lambda a: a.softmax(-1)),
        "norm": (1, lambda a: torch.nn.functional.layer_norm(a, (SIZE,))),
        "mean": (1, lambda a: a - a.mean(0)),
        "largest": (1, lambda a: a / (1 + a.abs().amax(1, keepdim=True))),
        "turned": (1, lambda a: a.t()),
        "copied": (1, lambda a: a.t().contiguous()),
        "halves": (1, lambda a: torch.cat(a.split([2, 4])[::-1])),
        "where": (2, lambda a, b: torch.where(a > b, a, b * 2)),
        "folded": (1, lambda a: a.view(2, 3, SIZE).sum(1).repeat(3, 1)),
        "cumsum": (1, lambda a: a.cumsum(0) / SIZE),
        "sorted": (1, lambda a: a.sort(-1).values),
    }


def drawn(seed: int) -> Callable[..., Any]:
    """A random function of three matrices, whose results are its last values and some of those between."""
    chance, known = random.Random(seed), ops()
    plan = [(chance.choice(list(known)), [chance.randrange(3 + at) for _ in range(2)]) for at in range(14)]
    kept = sorted({16, *(chance.randrange(3, 17) for _ in range(3))})

    def function(*inputs: Any) -> Any:
        values = list(inputs)
        for name, operands in plan:
            count, call = known[name]
            values.append(call(*(values[index] for index in operands[:count])))
        return tuple(values[index] for index in kept)

    return function


def traced(function: Callable[..., Any], inputs: tuple[Any, ...]) -> Any:
    from torch._decomp import core_aten_decompositions
    from torch.fx.experimental.proxy_tensor import make_fx

    graph = make_fx(function, tracing_mode="fake", decomposition_table=core_aten_decompositions())(*inputs)
    graph.graph.eliminate_dead_code()
    graph.recompile()
    return graph


@pytest.mark.parametrize("seed", range(24))
def test_a_random_graph_is_divided_without_cycles_and_computes_what_it_did(seed: int) -> None:
    import torch

    from core.accelerator.backend import divide
    from core.accelerator.lowering import Support
    from core.accelerator.program.program import PASSES
    from core.accelerator.segment import SegmentModule

    torch.manual_seed(seed)
    inputs = tuple(torch.randn(SIZE, SIZE) for _ in range(3))
    graph = traced(drawn(seed), inputs)
    before = [node.name for node in graph.graph.nodes if node.op == "call_function"]
    expected = graph(*inputs)
    support = Support()
    names = divide(graph, support)
    segments = [getattr(graph, name) for name in names]
    inside = [node.name for part in segments for node in part.graph.nodes if node.op == "call_function"]
    outside = [node for node in graph.graph.nodes if node.op == "call_function" and node.target is not getitem]
    assert len(inside) == len(set(inside))
    assert not set(inside) & {node.name for node in graph.graph.nodes}
    assert set(inside) | {node.name for node in graph.graph.nodes if node.op == "call_function"} >= set(before)
    assert not set(inside) & set(support.reasons)
    assert {name for name in support.reasons if "cumsum" in name or "sort" in name} <= {node.name for node in outside}
    for name, part in zip(names, segments, strict=True):
        setattr(graph, name, SegmentModule(part, name, sum(PASSES.values()) - (1 << seed % 6), {}))
    graph.graph.lint()
    assert [getattr(graph, name).problem for name in names] == [""] * len(names)
    torch.testing.assert_close(graph(*inputs), expected, rtol=1e-4, atol=1e-5)
    assert [result.stride() for result in graph(*inputs)] == [result.stride() for result in expected]


def test_an_op_without_a_kernel_divides_a_graph_in_three() -> None:
    import torch

    from core.accelerator.backend import divide, order_of
    from core.accelerator.lowering import Support

    inputs = torch.randn(4, 8), torch.randn(8, 16)
    whole = traced(lambda a, b: (a @ b).relu().softmax(-1), inputs)
    assert divide(whole, Support()) == ("segment_0",)
    assert [node.name for node in whole.segment_0.graph.nodes if node.op == "call_function"] == [
        *("mm", "relu", "_softmax")
    ]
    divided = traced(lambda a, b: (a.relu() @ b).cumsum(-1).softmax(-1), inputs)
    divide(divided, Support())
    assert order_of(divided) == ("segment_0", "cumsum", "segment_1")


@pytest.mark.parametrize("seed", range(6))
def test_the_runtime_holds_the_graph_that_fx_holds(seed: int, tmp_path: Path) -> None:
    import pygraphviz
    import torch

    from core.accelerator import library
    from core.accelerator.backend import divide
    from core.accelerator.lowering import Support
    from core.accelerator.segment import SegmentModule

    graph = traced(drawn(seed), tuple(torch.randn(SIZE, SIZE) for _ in range(3)))
    for name in divide(graph, Support(frozenset({"addmm", "split_with_sizes"}))):
        nodes = getattr(graph, name)
        segment = SegmentModule(nodes, name, 0, {})
        assert segment.first is not None
        (tmp_path / "program.cbp").write_bytes(segment.first.file)
        command = [str(library.program("cb_run")), str(tmp_path / "program.cbp"), "--dot", "--passes=none"]
        dot = pygraphviz.AGraph(string=subprocess.run(command, capture_output=True, text=True, check=True).stdout)
        place = {node: index for index, node in enumerate(item for item in nodes.graph.nodes if item.target != getitem)}
        flow = {(_made(source), node) for node in place for source in node.all_input_nodes}
        assert len(dot.nodes()) == len(place)
        assert {(int(a[1:]), int(b[1:])) for a, b in dot.edges()} == {(place[a], place[b]) for a, b in flow}


def _made(node: Any) -> Any:
    """What made the value: an item was made by the call that it is taken of."""
    return node.args[0] if node.target == getitem else node


def test_an_op_that_is_switched_off_is_left_to_torch_with_the_reason() -> None:
    import torch

    from core.accelerator.backend import divide
    from core.accelerator.lowering import Support

    graph = traced(lambda a, b: ((a @ b).relu() @ b).relu(), (torch.ones(4, 4), torch.ones(4, 4)))
    support = Support(frozenset({"relu"}))
    assert divide(graph, support) == ("segment_0", "segment_1")
    assert support.reasons == {"relu": "switched off", "relu_1": "switched off"}


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize(
    ("name", "function", "shapes"),
    [
        ("product", lambda a, b: a @ b, [(33, 70), (70, 41)]),
        ("batched", lambda a, b: a @ b.transpose(1, 2), [(3, 5, 300), (3, 7, 300)]),
        ("large", lambda a, b: (a @ b).relu() + 1, [(150, 270), (270, 530)]),
        ("odd", lambda a: a.sigmoid() * a.exp().log() - a.sin(), [(1, 1, 7)]),
        ("rows", lambda a: a.log_softmax(-1).sum((0, 2)), [(4, 1, 600)]),
        ("nothing", lambda a: a.relu() * 2, [(0, 3)]),
        ("scalar", lambda a: a.tanh() + 1, [()]),
    ],
)
def test_a_kernel_computes_what_torch_computes(
    name: str, function: Callable[..., Any], shapes: list[tuple[int, ...]], dtype: str
) -> None:
    import torch

    from core.accelerator.backend import divide
    from core.accelerator.lowering import Support
    from core.accelerator.segment import SegmentModule

    torch.manual_seed(0)
    inputs = tuple(torch.randn(shape).to(getattr(torch, dtype)) for shape in shapes)
    graph = traced(function, inputs)
    (segment,) = divide(graph, Support())
    module = SegmentModule(getattr(graph, segment), segment, 63, {})
    assert module.problem == ""
    setattr(graph, segment, module)
    tolerance = {"rtol": 2e-2, "atol": 5e-2} if dtype == "bfloat16" else {"rtol": 1e-4, "atol": 1e-4}
    torch.testing.assert_close(graph(*inputs), function(*inputs), **tolerance)
    assert (module.crossings.calls, module.crossings.copies) == (1, 0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"without": "relu conv"}, "the accelerator has no kernel for `conv`, which is to be switched off"),
        ({"passes": "fuse-all"}, "there is no pass `fuse-all`; there are fold-constants, "),
        ({"speed": 11}, "the accelerator has no option `speed`; it has without, passes, freeze, examples"),
    ],
)
def test_an_option_that_is_not_known_is_the_jobs_fault(options: dict[str, Any], message: str) -> None:
    from core.accelerator.backend import settings_of
    from core.base.errors import JobError

    with pytest.raises(JobError, match=re.escape(message)):
        settings_of(options)


def test_options_say_what_stays_with_torch_and_which_passes_are_made() -> None:
    from core.accelerator.backend import AcceleratorSettings, settings_of

    given = {"without": "relu, aten.mm.default", "passes": "drop-no-ops+plan-memory", "freeze": True}
    assert settings_of(given) == AcceleratorSettings(frozenset({"relu", "aten.mm.default"}), 34, True)
    assert settings_of(None) == AcceleratorSettings()
    assert settings_of({"passes": "none"}).passes == 0
