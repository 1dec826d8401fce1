"""Classes of ops by kind of work: the ten classes with a color."""

from __future__ import annotations

import re
from functools import lru_cache

from core.report.fx import MOST_REMEMBERED

OP_CLASSES = (
    "matmul",
    "attention",
    "pointwise",
    "reduction",
    "view",
    "copy",
    "random",
    "embedding",
    "collective",
    "other",
)

NAMES: dict[str, str] = {
    "attention": "attention|flash|sdpa|flex",
    "collective": "c10d|all_reduce|all_gather|reduce_scatter|all_to_all|wait_tensor|broadcast_",
    "matmul": (
        "mm|bmm|addmm|baddbmm|matmul|linear|_?conv(?!ert)\\w*|einsum|mkl\\w*|onednn\\w*|_scaled_mm|dot|mv|"
        "_linear_pointwise"
    ),
    "embedding": (
        "embedding\\w*|gather|index|index_put_?|index_select|scatter\\w*|take|take_along_dim|one_hot|nonzero|"
        "masked_select"
    ),
    "random": (
        "rand\\w*|randn\\w*|normal_?|uniform_?|bernoulli_?|dropout\\w*|native_dropout\\w*|multinomial|"
        "inductor_random|inductor_seeds?"
    ),
    "reduction": (
        "sum|mean|amax|amin|max|min|argmax|argmin|prod|var|var_mean|std|norm|linalg_vector_norm|logsumexp|any|all|cumsum|cumprod|"
        "softmax|_softmax|_log_softmax|log_softmax|layer_norm|native_layer_norm\\w*|batch_norm|native_batch_norm\\w*|_native_batch_norm\\w*|"
        "group_norm|native_group_norm\\w*|rms_norm|_fused_rms_norm\\w*|topk|sort|cross_entropy\\w*|nll_loss\\w*|mse_loss|"
        "max_pool\\w*|avg_pool\\w*|_adaptive_avg_pool\\w*|adaptive_avg_pool\\w*|prepare_softmax_online|_softmax_backward_data"
    ),
    "view": (
        "view|view_as\\w*|_unsafe_view|_conj|_neg_view|real|imag|reshape|_reshape_alias|permute|transpose|t|mT|expand|expand_as|"
        "squeeze|unsqueeze|slice|select|split\\w*|chunk|unbind|"
        "as_strided|alias|detach|flatten|unflatten|getitem|diagonal|narrow|movedim|swapaxes|contiguous|size|getattr|unfold|repeat_interleave"
    ),
    "copy": (
        "clone|copy_?|to|_to_copy|convert_element_type|cat|stack|pad|constant_pad_nd|full|full_like|zeros\\w*|ones\\w*|empty\\w*|"
        "arange|iota|scalar_tensor|slice_scatter|select_scatter|repeat|new_\\w+|lift_fresh_copy|device_put|tile|float|half|bfloat16|"
        "upsample\\w*|interpolate|flip|roll|tril|triu|eye"
    ),
    "pointwise": (
        "add_?|iadd|sub_?|isub|rsub|mul_?|imul|div_?|truediv|itruediv|floordiv|pow|neg|exp|exp2|expm1|log|log2|log1p|sqrt|rsqrt|reciprocal|"
        "sin|cos|tan|tanh|sinh|cosh|erf|erfc|sigmoid|relu_?|gelu|silu|mish|elu|leaky_relu|hardtanh|hardswish|softplus|abs|sign|sgn|floor|ceil|"
        "round|trunc|clamp\\w*|clip|where|maximum|minimum|fmax|fmin|eq|ne|lt|le|gt|ge|bitwise_\\w+|logical_\\w+|and_|or_|xor|not_|isnan|isinf|"
        "masked_fill_?|lerp|addcmul_?|addcdiv_?|fma|atan2?|asin|acos|nan_to_num|remainder|fmod|mod|threshold\\w*|gelu_backward|\\w+_backward|"
        "square|invert|polar|foreach_\\w+|_foreach_\\w+|lift"
    ),
}  # fmt: skip
PATTERNS = tuple((kind, re.compile(rf"^(?:{pattern})$")) for kind, pattern in NAMES.items())
ATTENTION = re.compile(NAMES["attention"])
COLLECTIVE = re.compile(NAMES["collective"])


@lru_cache(maxsize=MOST_REMEMBERED)
def op_class(target: str) -> str:
    """Return the class of a target as FX prints it: `torch.ops.aten.addmm.default`, `operator.add`, `view`."""
    if COLLECTIVE.search(target):
        return "collective"
    parts = [part for part in target.split(".") if part not in ("default", "Tensor", "Scalar")]
    name = aten_name(target) if "torch.ops." in target else parts[-1] if parts else ""
    if ATTENTION.search(name):
        return "attention"
    return next((kind for kind, pattern in PATTERNS if pattern.match(name)), "other")


def aten_name(target: str) -> str:
    """Return `addmm` for `torch.ops.aten.addmm.default`; the last part of any other target."""
    parts = target.split(".")
    if target.startswith("torch.ops.") and len(parts) >= 4:
        return parts[3]
    return parts[-1]
