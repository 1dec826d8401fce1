"""What people call a kernel: the module that most of it is of, and the ops that tell most of it."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from core.analysis.kernels.kernel import (
    DECOMPOSED,
    KernelNames,
    common_path,
    fused_ops,
    kernel_names,
    op_words,
    path_words,
    shortened,
    stack_of,
)
from core.analysis.kernels.ledger import ledger
from core.report import EagerCall, Kernel, KernelCall, Module, Report, module_path
from tests.support.logs import recorded_report
from tests.support.places import TRACES
from tests.support.reports.timed import GELU, ITEM, MM, REPORT, SCHEDULE, kernel, node

KNOWN = frozenset(DECOMPOSED) | {
    "add",
    "mul",
    "mean",
    "pow",
    "rsqrt",
    "view",
    "sum",
    "embedding",
    "gather",
    "slice",
    "index",
}


def named(one: Kernel, modules: dict[str, str], after: Sequence[tuple[str, ...]] = ()) -> list[str]:
    """The labels of a kernel's calls; `after` are the FX nodes of each scheduler node that it was made of."""
    nodes = tuple(node(f"op{at}", one, origins) for at, origins in enumerate(after))
    found = {name: Module(f"L['self'].{path}", "Module") for name, path in modules.items()}
    schedule = replace(SCHEDULE, after=nodes, modules=found)
    rows = ledger(REPORT, replace(ITEM, schedules=(schedule,), kernels=(one,)))
    return [row.label for row in sorted(rows, key=lambda row: row.line or 0)]


@pytest.mark.parametrize(
    ("text", "ops"),
    [
        ("gelu_view", ("gelu", "view")),
        ("add_native_layer_norm_view", ("add", "native_layer_norm", "view")),
        ("_unsafe_view_add_mean_mul_pow_rsqrt", ("_unsafe_view", "add", "mean", "mul", "pow", "rsqrt")),
        ("_log_softmax__log_softmax_backward_data_add", ("_log_softmax", "_log_softmax_backward_data", "add")),
        (
            "_scaled_dot_product_flash_attention_for_cpu__to_copy_add",
            ("_scaled_dot_product_flash_attention_for_cpu", "_to_copy", "add"),
        ),
        ("index_index_add_mul_unsafe_split", ("index", "index_add", "mul", "unsafe_split")),
        ("add_my_own_op_view", ("add", "my_own_op", "view")),
        ("only_unknown_words", ("only_unknown_words",)),
    ],
)
def test_a_generated_name_is_cut_into_the_ops_that_torch_joined(text: str, ops: tuple[str, ...]) -> None:
    assert fused_ops(text, KNOWN) == ops


def test_an_op_that_eager_called_is_known_by_its_name() -> None:
    fused = replace(GELU, name="cpp_fused_add_mine_of_two_relu_0", origins=())
    called = replace(SCHEDULE, eager_calls=(EagerCall("mylib.mine_of_two.default", (), 0),))
    targets = ["aten.add.Tensor", "aten.relu.default"]
    assert KernelNames([fused], [SCHEDULE], [*targets, "aten.of.x", "aten.mine.x"]).ops(fused) != (
        "add",
        "mine_of_two",
        "relu",
    )
    assert KernelNames([fused], [called], targets).ops(fused) == ("add", "mine_of_two", "relu")


@pytest.mark.parametrize(
    ("ops", "origins", "words"),
    [
        (("gelu", "view"), (), "gelu"),
        (("add", "native_layer_norm", "view"), (), "layer_norm, add"),
        (("_unsafe_view", "add", "mean", "mul", "pow", "rsqrt"), ("mul_1", "mul_2", "add_1"), "mean, rsqrt +3"),
        (("mul", "add"), ("mul_1", "mul_2", "add"), "mul, add"),
        (("mul", "silu", "silu_backward"), (), "silu_backward, silu +1"),
        (("view", "clone"), (), "clone, view"),
        (("_softmax", "where", "ge"), (), "softmax, where +1"),
    ],
)
def test_the_most_relevant_ops_come_first_and_the_rest_is_counted(
    ops: tuple[str, ...], origins: tuple[str, ...], words: str
) -> None:
    assert op_words(ops, origins) == words


def test_a_kernel_is_called_by_its_module_and_its_op() -> None:
    origins = ("view", "mul_1", "erf", "add_1")
    one = replace(GELU, name="cpp_fused_gelu_view_2", origins=origins)
    modules = {"view": "layers.0.mlp.up", **dict.fromkeys(origins[1:], "layers.0.mlp")}

    assert named(one, modules) == ["layers.0.mlp · gelu"]


def test_over_several_modules_it_is_what_their_paths_have_in_common() -> None:
    one = kernel("cpp_fused_add_mul_0", KernelCall(1), origins=("add", "mul"))
    assert named(one, {"add": "layers.0.a", "mul": "layers.0.b"}) == ["layers.0 · add, mul"]
    assert named(one, {"add": "layers.0.a", "mul": "head"}) == ["add, mul"]


def test_a_residual_sum_does_not_take_a_norm_out_of_its_module() -> None:
    origins = ("add", "var_mean", "sub", "rsqrt", "mul")
    one = kernel("cpp_fused_add_native_layer_norm_1", KernelCall(1), origins=origins)
    modules = {"add": "block", **dict.fromkeys(origins[1:], "block.norm")}

    assert named(one, modules) == ["block.norm · layer_norm, add"]


def test_a_kernel_that_layers_share_has_a_name_for_each_of_its_calls() -> None:
    calls = (KernelCall(10), KernelCall(12), KernelCall(14))
    one = kernel("cpp_fused_gelu_0", *calls, origins=("erf", "erf_1", "erf_2"))
    modules = {"erf": "layers.0.act", "erf_1": "layers.1.act", "erf_2": "layers.2.act"}

    assert named(one, modules, [("erf",), ("erf_1",), ("erf_2",)]) == [f"layers.{at}.act · gelu" for at in range(3)]
    assert named(one, modules, [("erf",), ("erf_1",)]) == ["layers · gelu"] * 3


def test_a_library_call_is_of_the_module_of_its_own_op_and_not_of_what_was_read() -> None:
    origins = ("mm", "iota", "ge", "where")
    one = replace(MM, origins=origins)
    modules = {"mm": "layers.1.proj", **dict.fromkeys(origins[1:], "embeddings")}

    assert named(one, modules) == ["layers.1.proj · mm"]


def test_a_kernel_that_prepares_a_mask_computes_no_attention() -> None:
    name = "cpp_fused__scaled_dot_product_flash_attention_for_cpu_ge_where_1"
    loops = kernel(name, KernelCall(1), origins=("ge", "where"))
    assert named(loops, {}) == ["where, ge"]
    assert named(replace(loops, category="template"), {}) == ["scaled_dot_product_flash_attention, where +1"]


def test_the_work_of_a_library_is_not_attributed_to_the_loops_beside_it() -> None:
    product = kernel("torch.ops.mine.product.default", KernelCall(1), extern=True, origins=("product",))
    loops = kernel("triton_poi_fused_product_silu_1", KernelCall(2), origins=("mul", "exp"))
    assert kernel_names(replace(ITEM, kernels=(product, loops))) == {product.id: "product", loops.id: "silu"}


def test_in_the_backward_it_is_reported_where_no_op_says_it() -> None:
    one = replace(MM, direction="backward")
    two = replace(one, name="cpp_fused_gelu_backward_0", extern=False)
    assert [KernelNames.within(ITEM).named(each, ("mm",), SCHEDULE) for each in (one, two)] == [
        "up · mm (backward)",
        "up · gelu_backward",
    ]


def test_without_a_module_it_is_called_by_its_ops_and_without_either_as_torch_does() -> None:
    assert named(kernel("triton_poi_fused_gelu_0", KernelCall(1), origins=()), {}) == ["gelu"]
    assert named(kernel("triton_my_kernel_0", KernelCall(1), origins=()), {}) == ["triton_my_kernel_0"]


def test_a_path_is_shortened_by_what_stands_before_the_layers() -> None:
    texts = ["L['self'].model.layers.0.mlp", "L['self'].model.layers.1", "L['self'].lm_head", "L['self'].model.norm"]
    paths = [module_path(text) for text in texts]
    stack = stack_of(paths)

    assert [".".join(shortened(path, stack)) for path in paths] == ["layers.0.mlp", "layers.1", "lm_head", "norm"]
    both = [module_path(f"L['self'].{side}.block.0") for side in ("encoder", "decoder")]
    assert [".".join(shortened(path, stack_of(both))) for path in both] == ["encoder.block.0", "decoder.block.0"]


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("layers.0.mlp.gate_proj", "layers.0.mlp.gate_proj"),
        ("encoder.block.0.layer.1.DenseReluDense.wi", "encoder.block.0…DenseReluDense.wi"),
        ("encoder.block.0.a_very_long_name.of_it", "encoder.block.0.a_very_long_name.of_it"),
        ("one.two.three.four.five.six.seven.eight.nine", "one…eight.nine"),
    ],
)
def test_of_a_long_path_the_layer_and_the_last_modules_are_reported(path: str, words: str) -> None:
    assert path_words(tuple(path.split("."))) == words


def test_the_deepest_module_that_holds_most_nodes_is_found() -> None:
    modules = {"a": Module("L['self'].x.y", ""), "b": Module("L['self'].x.z", ""), "c": Module("L['self'].w", "")}
    assert common_path(["a", "b", "c"], modules) == ("self", "x")
    assert common_path(["none"], modules) == ()


@pytest.mark.parametrize(
    ("sizes", "label"),
    [((6_000, 2_000), "to_copy, silu, mul"), ((4_000, 4_000), "to_copy, silu, mul"), ((3_000, 5_000), "silu, mul")],
)
def test_a_copy_that_moves_most_of_the_bytes_comes_first(sizes: tuple[int, int], label: str) -> None:
    one = replace(GELU, name="cpp_fused__to_copy_mul_silu_1", origins=("convert_element_type_5", "mul", "exp"))
    nodes = [node("op2", one, ("convert_element_type_5",)), node("op3", one, ("mul", "exp"))]
    after = tuple(replace(each, reads=(("arg0", size),), writes=()) for each, size in zip(nodes, sizes, strict=True))
    rows = ledger(REPORT, replace(ITEM, schedules=(replace(SCHEDULE, after=after, modules={}),), kernels=(one,)))
    assert [row.label for row in rows] == [label]


def test_hostile_names_are_named_in_time() -> None:
    long = kernel("cpp_fused_" + "add_" * 5_000 + "0", KernelCall(1), origins=("add",))
    assert len(named(long, {})[0]) < 500


def test_every_kernel_of_the_recorded_traces_has_a_name() -> None:
    report: Report = recorded_report(TRACES / "training_step" / "trace.log")
    names = [name for compilation in report.compilations for name in kernel_names(compilation).values()]
    assert len(names) == len([kernel for compilation in report.compilations for kernel in compilation.kernels])
    assert not [name for name in names if not name or name.startswith(("cpp_fused", "extern_kernels"))]


def test_a_path_is_shortened_inside_the_layers_alone() -> None:
    stack = ("self", "model")
    assert shortened(("self", "model", "layers", "0"), stack) == ("layers", "0")
    assert shortened(stack, stack) == ("model",)
    assert shortened(("self", "head"), stack) == ("head",)
    assert shortened(("self", "0"), ("self",)) == ("0",)
