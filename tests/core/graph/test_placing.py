"""Where a scheduler node or a kernel stands: its layer, in one box a launch, similar layers folded."""

from collections.abc import Sequence

import pytest

from core.analysis.work import launch_groups
from core.graph.fusion import fusion_model
from core.graph.model import GraphModel
from core.graph.placing import layer_of, placed_paths, spanned
from core.report import FxNode, Kernel, KernelCall, ModulePath, Payload, Schedule, SchedulerNode

LAYER_0, LAYER_1 = ("m", "layers", "0"), ("m", "layers", "1")


def node(name: str, reads: str, writes: str, kernel: str, *origins: str) -> SchedulerNode:
    def moved(names: str) -> tuple[tuple[str, int], ...]:
        return tuple((f"buf{buffer}", 4) for buffer in names.split())

    return SchedulerNode(name, "SchedulerNode", (name,), (), moved(reads), moved(writes), origins, None, "cpu", kernel)


def schedule(*nodes: SchedulerNode) -> Schedule:
    return Schedule(0, "inference", nodes, nodes, (), (), {})


def kernel(name: str, *lines: int) -> Kernel:
    calls = tuple(map(KernelCall, lines))
    return Kernel(name, name, "inference", "cpp", False, "", "", (), (), (1, 2), calls, (), Payload(0, 0))


def test_a_kernel_that_is_launched_in_each_layer_has_a_box_for_each_launch() -> None:
    nodes = [node(f"op{index}", f"{index}", f"{index + 1}", "k" if index % 3 < 2 else "other") for index in range(6)]
    kernels = {"k": kernel("k", 10, 20), "other": kernel("other", 15, 25)}

    assert launch_groups(schedule(*nodes), kernels) == (("op0", "op1"), ("op2",), ("op3", "op4"), ("op5",))
    assert launch_groups(schedule(*nodes), {}) == (("op0", "op1", "op3", "op4"), ("op2", "op5"))


def test_a_node_without_code_belongs_to_the_launch_that_writes_for_it_and_reads_it() -> None:
    nodes = [
        node("op0", "", "0", "k"),
        node("op1", "0", "1", ""),
        node("op2", "1", "2", "k"),
        node("op3", "2", "3", ""),
    ]

    assert launch_groups(schedule(*nodes), {"k": kernel("k", 10)}) == (("op0", "op1", "op2"), ("op3",))


@pytest.mark.parametrize(
    ("own", "reads", "placed"),
    [
        pytest.param([[LAYER_0], [LAYER_0, ("m",)], [LAYER_0]], [[], [0], [1]], [LAYER_0] * 3, id="within one layer"),
        pytest.param(
            [[LAYER_0], [LAYER_0, LAYER_1], [LAYER_1]], [[], [0], [1]], [LAYER_0, LAYER_0, LAYER_1], id="border"
        ),
        pytest.param(
            [[LAYER_1], [LAYER_1, ("m", "norm")], [("m", "norm")]],
            [[], [0], [1]],
            [LAYER_1, LAYER_1, ("m", "norm")],
            id="end of the last layer",
        ),
        pytest.param([[LAYER_0], [], [LAYER_0]], [[], [0], [1]], [LAYER_0] * 3, id="module not recorded"),
        pytest.param(
            [[LAYER_0], [("m",)], [LAYER_0]], [[], [0], [1]], [LAYER_0, ("m",), LAYER_0], id="the model's own"
        ),
        pytest.param(
            [[("m", "embed")], [("m", "embed"), LAYER_0], [LAYER_0]],
            [[], [0], [1]],
            [("m", "embed"), ("m",), LAYER_0],
            id="before the first layer",
        ),
        pytest.param([[LAYER_0, ("m",)], [LAYER_0]], [[1], [0]], [LAYER_0, LAYER_0], id="a circle in a damaged log"),
    ],
)
def test_a_box_of_several_modules_is_in_the_layer_of_its_neighbours(
    own: Sequence[Sequence[ModulePath]], reads: Sequence[Sequence[int]], placed: Sequence[ModulePath]
) -> None:
    assert placed_paths(own, reads) == placed


@pytest.mark.parametrize(
    ("op", "box", "layer"),
    [
        pytest.param((*LAYER_1, "norm"), LAYER_0, "layers.1", id="the next layer"),
        pytest.param((*LAYER_1, "norm"), ("m", "layers"), "layers.1", id="between layers"),
        pytest.param((*LAYER_1, "norm"), (*LAYER_1, "mlp"), "norm", id="beside, in one layer"),
        pytest.param(LAYER_1, ("m", "norm"), "layers.1", id="after the last layer"),
        pytest.param((*LAYER_1, "norm"), LAYER_1, "", id="within the box's module"),
        pytest.param(("m",), LAYER_1, "", id="the model's own"),
    ],
)
def test_an_op_names_its_layer_if_the_place_of_its_launch_does_not(op: ModulePath, box: ModulePath, layer: str) -> None:
    assert layer_of(op, box) == layer


def test_a_launch_over_several_layers_spans_them() -> None:
    assert spanned([(*LAYER_0, "mlp"), (*LAYER_1, "norm"), LAYER_1], LAYER_1) == ["layers.0", "layers.1"]
    assert spanned([LAYER_0, LAYER_1, ("m", "embed")], ("m", "layers")) == ["embed", "layers.0", "layers.1"]
    assert spanned([LAYER_1, (*LAYER_1, "norm"), ("m",)], LAYER_1) == []


def layers(model: GraphModel) -> list[tuple[str, str]]:
    return [(group.label, group.detail) for group in model.groups if group.kind == "stack"]


@pytest.mark.parametrize(("first", "told"), [(("add", "mul"), "× 2"), (("mul", "mul"), "× 2, similar")])
def test_layers_that_are_not_quite_alike_are_folded_and_said_to_be_similar(first: tuple[str, str], told: str) -> None:
    names, targets = "abcdefgh", [*first, "sub", "div", "add", "mul", "sub", "div"]
    nodes = {
        name: FxNode(
            name,
            "call_function",
            f"torch.ops.aten.{target}.Tensor",
            "",
            (),
            None,
            index,
            module=f"L['m'].layers.{index // 4}",
            module_class="Layer",
        )
        for index, (name, target) in enumerate(zip(names, targets, strict=True))
    }
    boxes = [node(f"op{index}", str(index), str(index + 1), "", name) for index, name in enumerate(names)]

    assert layers(fusion_model(schedule(*boxes), nodes, {})) == [("Layer", told)]


def test_a_launch_and_its_ops_say_what_layers_they_belong_to() -> None:
    modules = ["layers.0", "layers.0", "layers.1.norm", "layers.1"]
    names = "abcd"
    nodes = {
        name: FxNode(
            name, "call_function", "torch.ops.aten.add.Tensor", "", (), None, at, module=f"L['m'].{modules[at]}"
        )
        for at, name in enumerate(names)
    }
    kernels = [kernel(f"k{at}", at) for at in range(3)]
    boxes = [
        node(f"op{at}", str(at), str(at + 1), f"k{number}", name)
        for at, (name, number) in enumerate(zip(names, (0, 1, 1, 2), strict=True))
    ]
    model = fusion_model(schedule(*boxes), nodes, {each.id: each for each in kernels})
    details = [group.detail for group in model.groups if group.kind == "launch"]

    assert [detail.startswith("spans layers.0, layers.1 · ") for detail in details] == [False, True, False]
    assert {node.id: node.chips for node in model.nodes if node.chips} == {"n:c": ("layers.1",)}
