"""Graphs that a break splits, merges or moves between compilations, and their kernels."""

from dataclasses import replace

import pytest

from core.analysis.comparison.kernels import KernelSide, Side, compare_all
from core.analysis.comparison.matching import RunSide
from core.analysis.comparison.run import compare_runs
from core.report import Compilation, FxGraph, FxNode, Kernel, Payload, Report, Setting
from core.views.comparison import comparison_sentence, kernels_sentence
from tests.core.analysis.test_comparison import GELU, MM, NORM, SOURCE, kernel
from tests.support.reports.findings import frame
from tests.support.reports.fx_nodes import fx

RESUME = "torch_dynamo_resume_in_step_at_5"


def call(name: str, target: str, *inputs: str, constant: str = "") -> FxNode:
    return fx(name, inputs, target=f"torch.{target}", args=", ".join((*inputs, *([constant] if constant else []))))


def graph(*nodes: FxNode) -> tuple[FxNode, ...]:
    return fx("l_x_", op="placeholder", target=""), *nodes, fx("output", [nodes[-1].name], op="output", target="")


def run(**graphs: tuple[FxNode, ...]) -> RunSide:
    """A run with a graph for each compilation; `step` is [0/0], `resume` is [1/0]."""
    frames = {"step": ("0/0", "step"), "resume": ("1/0", RESUME), "other": ("2/0", "other")}
    compilations = []
    for at, (name, nodes) in enumerate(graphs.items()):
        ops = {"placeholder": 1, "call_function": len(nodes) - 2, "output": 1}
        captured = FxGraph("dynamo_output_graph", "dynamo_output_graph", "", 0, Payload(at, 1), ops)
        compilations.append(frame(*frames[name], graphs=(captured,)))
    texts = [str(nodes) for nodes in graphs.values()]
    read = list(graphs.values())
    return RunSide(
        Report(Setting(), tuple(compilations)),
        lambda payload: texts[payload.offset],
        lambda _, found: read[found.payload.offset],
    )


SIN, COS, TAN = call("sin", "sin", "l_x_"), call("mul", "mul", "sin", constant="2.0"), call("tan", "tan", "mul")
EXP = call("exp", "exp", "tan")
WHOLE = run(step=graph(SIN, COS, TAN, EXP))
# After the break, the nodes have other names and inputs.
REST = (call("mul", "mul", "l_x_", constant="2.0"), call("tan_1", "tan", "mul"), call("exp_1", "exp", "tan_1"))
SPLIT = run(step=graph(SIN), resume=graph(*REST))
ADDED = run(step=graph(SIN), resume=graph(*REST, call("abs_1", "abs", "exp_1")))
OTHER_CONSTANT = run(step=graph(SIN), resume=graph(call("mul", "mul", "l_x_", constant="3.0"), *REST[1:]))
BESIDE = run(step=graph(SIN, COS, TAN), other=graph(call("abs_1", "abs", "l_x_"), call("neg", "neg", "abs_1")))


@pytest.mark.parametrize(
    ("left", "right", "words"),
    [
        (WHOLE, SPLIT, "1 more graph, 3 captured nodes moved to a second graph."),
        (SPLIT, WHOLE, "1 fewer graph, 3 captured nodes moved from a second graph."),
        (WHOLE, ADDED, "1 more graph, 1 captured node added, 3 moved to a second graph."),
        (WHOLE, OTHER_CONSTANT, "1 more graph, 1 captured node added, 1 removed, 2 moved to a second graph."),
        (WHOLE, BESIDE, "1 more graph, 1 captured node removed."),
        (SPLIT, SPLIT, "No difference: breaks, graphs, guards and kernels are the same."),
    ],
)
def test_nodes_of_another_graph_moved_and_are_no_change(left: RunSide, right: RunSide, words: str) -> None:
    assert comparison_sentence(compare_runs(left, right)) == words


def test_both_graphs_of_a_split_count_its_nodes() -> None:
    compared = compare_runs(WHOLE, ADDED).compilations
    assert [(each.left, each.right, [graph.changes for graph in each.graphs]) for each in compared] == [
        ("0/0", "0/0", [{"same": 2, "to another graph": 3}]),
        ("", "1/0", [{"only right": 1, "from another graph": 3}]),
    ]
    assert [each.graphs for each in compare_runs(WHOLE, BESIDE).compilations if not each.left] == [()]


def with_kernels(number: str, *kernels: Kernel) -> Side:
    """A compilation with kernels, whose sources differ by name and by their first op."""
    named = [replace(each, id=each.id.replace("0/0", number)) for each in kernels]
    compilation: Compilation = frame(number, kernels=tuple(named))
    code = {
        each.id: SOURCE.format(name=each.name, size=8, device="cpu", stride=each.origins[0])
        for each in named
        if not each.extern
    }
    return Side(Report(Setting(), (compilation,)), compilation, code)


def ids(side: KernelSide | None) -> str:
    return side.kernel if side is not None else ""


NORM_KERNEL, GELU_KERNEL = kernel("triton_norm", 1, *NORM), kernel("triton_gelu", 3, *GELU)
RENAMED = replace(
    GELU_KERNEL, id="0/0.inference.triton_0", name="triton_0", origins=("view_7", "mul_9", "erf_2", "mul")
)


def test_equal_kernels_of_other_compilations_are_pairs() -> None:
    whole = with_kernels("0/0", NORM_KERNEL, MM, GELU_KERNEL)
    first, second = with_kernels("0/0", NORM_KERNEL), with_kernels("1/0", MM, RENAMED)
    split, lone = compare_all([(whole, first), (None, second)])
    assert split is not None
    assert lone is None
    assert [(ids(pair.left), ids(pair.right), pair.elsewhere, pair.differs) for pair in split.pairs] == [
        ("0/0.inference.triton_norm", "0/0.inference.triton_norm", False, ()),
        ("0/0.inference.extern_kernels.mm#2", "1/0.inference.extern_kernels.mm#2", True, ()),
        ("0/0.inference.triton_gelu", "1/0.inference.triton_0", True, ()),
    ]
    assert kernels_sentence(split) == (
        "Fusion is the same; 2 kernels are in another compilation of the other run; the generated source is identical."
    )
    merged, _ = compare_all([(first, whole), (second, None)])
    assert merged is not None
    assert sorted((ids(pair.left), ids(pair.right)) for pair in merged.pairs) == [
        ("0/0.inference.triton_norm", "0/0.inference.triton_norm"),
        ("1/0.inference.extern_kernels.mm#2", "0/0.inference.extern_kernels.mm#2"),
        ("1/0.inference.triton_0", "0/0.inference.triton_gelu"),
    ]


def test_another_kernel_in_another_compilation_is_no_pair() -> None:
    whole = with_kernels("0/0", NORM_KERNEL, GELU_KERNEL)
    changed = replace(GELU_KERNEL, origins=("tanh", *GELU))
    split, _ = compare_all([(whole, with_kernels("0/0", NORM_KERNEL)), (None, with_kernels("1/0", changed))])
    assert split is not None
    assert [(ids(pair.right), pair.both) for pair in split.pairs][1:] == [("", False)]
