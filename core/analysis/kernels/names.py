"""Display names of kernels: module and ops, `layers.0.mlp · gelu` for `cpp_fused_gelu_view_2`."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from core.ops.costs import aten_name, op_class
from core.report import Compilation, Kernel, Module, ModulePath, Schedule, SchedulerNode, module_path

# Minimum share of a kernel's nodes in its module, so that a residual sum fused with a norm doesn't change the module.
MAJORITY = 2 / 3
NAMED_OPS = 2
LONGEST_GENERATED = 400
LONGEST_PATH = 34
FUSED = re.compile(r"(?:^|_)fused_(.+?)(?:_\d+)?$")
# Ops that AOTAutograd decomposes: they occur in names of kernels, but not in lowered graphs.
DECOMPOSED = (
    *("native_layer_norm", "native_layer_norm_backward", "native_group_norm", "native_group_norm_backward"),
    *("native_batch_norm", "native_batch_norm_backward", "_native_batch_norm_legit", "cudnn_batch_norm"),
    *("_native_batch_norm_legit_functional", "_native_batch_norm_legit_no_training", "_fused_rms_norm", "rms_norm"),
    *("_softmax", "_softmax_backward_data", "_log_softmax", "_log_softmax_backward_data", "softmax", "log_softmax"),
    *("gelu", "gelu_backward", "silu", "silu_backward", "mish", "elu", "elu_backward", "leaky_relu", "hardswish"),
    *("hardsigmoid", "hardtanh", "softplus", "sigmoid_backward", "tanh_backward", "threshold_backward", "glu"),
    *("native_dropout", "native_dropout_backward", "dropout", "embedding_dense_backward", "nll_loss_forward"),
    *("nll_loss_backward", "mse_loss", "mse_loss_backward", "binary_cross_entropy", "huber_loss", "smooth_l1_loss"),
    *("_to_copy", "_unsafe_view", "_unsafe_index", "_unsafe_index_put", "_adaptive_avg_pool2d", "avg_pool2d"),
    *("max_pool2d_with_indices", "upsample_nearest2d", "upsample_bilinear2d", "slice_backward", "select_backward"),
    *("_scaled_dot_product_flash_attention_for_cpu", "_scaled_dot_product_flash_attention_for_cpu_backward"),
    *("_scaled_dot_product_flash_attention", "_scaled_dot_product_efficient_attention", "new_zeros", "new_ones"),
    *("new_full", "new_empty", "zeros_like", "ones_like", "full_like", "empty_like", "addcmul", "addcdiv", "lerp"),
    *("stack", "split", "split_with_sizes", "unbind", "transpose", "index_select", "one_hot", "masked_fill", "t"),
    *("linalg_vector_norm", "std", "var", "rsub", "square", "clamp_min", "clamp_max", "arange", "zeros", "ones"),
    *("constant_pad_nd", "repeat", "unsqueeze", "squeeze", "expand", "view", "permute", "clone", "copy", "roll"),
)  # fmt: skip
# Op classes, the most characteristic of a kernel first; among pointwise ops, plain arithmetic comes last.
WEIGHTS = {
    "attention": 8, "matmul": 7, "collective": 6, "reduction": 5, "embedding": 4, "random": 3, "pointwise": 3,
    "other": 2, "copy": 0, "view": -1,
}  # fmt: skip
LIBRARY = ("attention", "matmul")
TEMPLATE = "template"
# Kind of an extern kernel that calls ATen for an op, and Inductor's class of such a node.
FALLBACK, FALLBACK_NODE = "fallback", "FallbackKernel"
ARITHMETIC = frozenset(
    ("add", "sub", "rsub", "mul", "div", "neg", "pow", "sqrt", "abs", "where", "maximum", "minimum", "full", "square")
)
COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge", "bitwise_", "logical_")
BACKWARD = re.compile(r"_backward(_data)?$")
NODE_NUMBER = re.compile(r"(_(default|tensor|scalar))?(_\d+)?$")
NAME_KINDS = {"triton_poi": "pointwise", "triton_red": "reduction", "triton_per": "persistent reduction"}
NAME_KINDS |= {"triton_tem": "template", "triton_for": "foreach"}


def node_op(name: str) -> str:
    """Return the op of an FX node's name: `add` for `add_3` and `add_tensor_1`.

    Torch names a node after its op, and in a pass after the overload.
    """
    return NODE_NUMBER.sub("", name)


def schedule_of(kernel: Kernel, compilation: Compilation) -> Schedule | None:
    """Return the schedule of the kernel; a graph's branches have schedules of the same direction."""
    same = [schedule for schedule in compilation.schedules if schedule.direction == kernel.direction]
    launching = (schedule for schedule in same if any(node.kernel == kernel.id for node in schedule.after))
    return next(launching, same[0] if same else None)


def call_origins(kernel: Kernel, schedule: Schedule | None) -> tuple[tuple[str, ...], ...]:
    """Return the FX nodes that each call of a kernel computes, in call order.

    A kernel shared by layers is called once per layer. If the split is unknown, each call gets all nodes.
    """
    nodes = [node for node in schedule.after if node.kernel == kernel.id] if schedule else []
    calls = max(1, len(kernel.calls))
    if calls == 1 or not nodes or len(nodes) % calls:
        return (kernel.origins,) * calls
    size = len(nodes) // calls
    parts = (nodes[at : at + size] for at in range(0, len(nodes), size))
    return tuple(tuple(dict.fromkeys(name for node in part for name in node.origins)) for part in parts)


class KernelNames:
    """Display names of a compilation's kernels; `targets` are the call targets of its graphs."""

    def __init__(self, kernels: Iterable[Kernel], schedules: Iterable[Schedule], targets: Iterable[str]) -> None:
        modules = {module for schedule in schedules for module in schedule.modules.values()}
        self._stack = stack_of(module_path(module.path) for module in modules)
        self._library = frozenset(aten_name(kernel.name) for kernel in kernels if kernel.extern)
        self._op_names = frozenset(DECOMPOSED) | {aten_name(target) for target in targets}

    @classmethod
    def within(cls, compilation: Compilation) -> KernelNames:
        """Return the names for all kernels of a compilation."""
        targets = (target for graph in compilation.graphs for target in graph.targets)
        return cls(compilation.kernels, compilation.schedules, targets)

    def named(self, kernel: Kernel, origins: Sequence[str], schedule: Schedule | None) -> str:
        """Return `layers.0.mlp · gelu`: the module of most of these nodes, and the most characteristic ops.

        A kernel over several modules gets the common part of their paths. The fallback is the generated name.
        """
        ops = self.ops(kernel)
        named = [name for name in origins if node_op(name) in ops] if kernel.extern else []
        path = common_path(named or origins, schedule.modules if schedule else {})
        module = path_words(shortened(path, self._stack))
        words = op_words(ops, origins)
        suffix = " (backward)" if kernel.direction == "backward" and "backward" not in words else ""
        return " · ".join(filter(None, [module, words])) + suffix if ops else kernel.name

    def ops(self, kernel: Kernel) -> tuple[str, ...]:
        """Return the ops in the kernel's generated name, otherwise of its nodes; a library call has its own op.

        Loops that prepare a mask are named after their attention, and have no op themselves.
        """
        if kernel.extern:
            return (aten_name(kernel.name),)
        match = FUSED.search(kernel.name[:LONGEST_GENERATED])
        computed = tuple(dict.fromkeys(map(node_op, kernel.origins)))
        if not match:
            return computed
        ops = fused_ops(match[1], self._op_names | set(computed))
        if kernel.category == TEMPLATE:
            return ops
        return tuple(op for op in ops if op not in self._library and op_class(op) not in LIBRARY) or ops


def kernel_names(compilation: Compilation) -> dict[str, str]:
    """Return kernel → display name."""
    names = KernelNames.within(compilation)
    return {
        kernel.id: names.named(kernel, kernel.origins, schedule_of(kernel, compilation))
        for kernel in compilation.kernels
    }


@lru_cache(maxsize=4096)
def fused_ops(text: str, known_ops: frozenset[str]) -> tuple[str, ...]:
    """Return the ops in a generated name: `add`, `native_layer_norm`, `view` for `add_native_layer_norm_view`.

    Torch joins op names, which contain underscores, with underscores, in alphabetical order. The split with the fewest
    unknown parts is chosen, and among those the one with the fewest parts.
    """
    cuts = [0, *(at + 1 for at, letter in enumerate(text) if letter == "_" and at), len(text) + 1]
    best: dict[int, tuple[float, tuple[str, ...]]] = {0: (0.0, ())}
    for end_at, end in enumerate(cuts[1:], 1):
        options = []
        for start in cuts[:end_at]:
            part = text[start : end - 1]
            if not part or start not in best:
                continue
            cost, parts = best[start]
            late = parts and parts[-1] >= part
            options.append((cost + (1 if part in known_ops else 3 + part.count("_")) + 5 * bool(late), (*parts, part)))
        if options:
            best[end] = min(options)
    return best[len(text) + 1][1]


def op_words(ops: Iterable[str], origins: Sequence[str]) -> str:
    """Return the most characteristic ops of a kernel, and the number of its other ops: `softmax, mul +3`."""
    times = Counter(map(node_op, origins))
    working = [op for op in dict.fromkeys(ops) if op_class(op) not in ("view", "copy")] or list(dict.fromkeys(ops))
    ranked = sorted(working, key=lambda op: (-_weight(op), -times[op], op))
    more = len(ranked) - NAMED_OPS
    return ", ".join(map(_without_prefix, ranked[:NAMED_OPS])) + (f" +{more}" if more > 0 else "")


def _weight(op: str) -> float:
    if op in ARITHMETIC:
        return 1.0
    if op.startswith(COMPARISONS):
        return 0.5
    return WEIGHTS[op_class(BACKWARD.sub("", op))] + 0.5 * bool(BACKWARD.search(op))


def _without_prefix(op: str) -> str:
    """Return an op without a library's prefix: `layer_norm` for `native_layer_norm`."""
    return op.removeprefix("_").removeprefix("native_").replace("_for_cpu", "").removesuffix("_data")


def common_path(origins: Iterable[str], modules: Mapping[str, Module]) -> ModulePath:
    """Return the deepest module that has most of the computing nodes, or of all nodes if none computes."""
    placed = [name for name in origins if name in modules and modules[name].path]
    working = [name for name in placed if op_class(node_op(name)) != "view"] or placed
    paths = [module_path(modules[name].path) for name in working]
    counts = Counter(path[:length] for path in paths for length in range(1, len(path) + 1))
    enough = [path for path, count in counts.items() if count >= MAJORITY * len(paths)]
    return max(enough, key=len, default=())


def stack_of(paths: Iterable[ModulePath]) -> ModulePath:
    """Return the path before the list of the model's layers: `self, model` for `self.model.layers.0`.

    Empty with several such lists, as in an encoder and a decoder.
    """
    heads = {path[: at - 1] for path in paths if (at := _first_index(path)) > 1}
    return next(iter(heads)) if len(heads) == 1 else ()


def _first_index(path: ModulePath) -> int:
    return next((at for at, segment in enumerate(path) if segment.isdecimal()), 0)


def shortened(path: ModulePath, stack: ModulePath) -> ModulePath:
    """Return a path without the root, and inside the layers without the path before their list."""
    inside = len(stack) > 1 and path[: len(stack)] == stack and len(path) > len(stack)
    return path[len(stack) :] if inside else path[1:]


def path_words(path: ModulePath) -> str:
    """Return a path with dots; a long one is shortened to the layer and the last two modules.

    For example `encoder.block.0…DenseReluDense.wi`.
    """
    dotted, head = ".".join(path), path[: _first_index(path) + 1]
    if len(dotted) <= LONGEST_PATH or len(path) < len(head) + 3:
        return dotted
    return f"{'.'.join(head)}…{'.'.join(path[-2:])}"


def kernel_kind(kernel: Kernel, nodes: Iterable[SchedulerNode] = ()) -> str:
    """Return torch's kind of a kernel: Triton heuristic, C++ loops, template, extern, or fallback.

    An extern kernel is a fallback if one of its scheduler `nodes` is: Inductor has no lowering for the op, or does not
    use it, and calls ATen.
    """
    if kernel.extern and any(FALLBACK_NODE in node.ops for node in nodes):
        return FALLBACK
    if kernel.language != "triton" or kernel.category != "C++ loops":
        return kernel.category
    return NAME_KINDS.get(kernel.name[:10], "Triton")
