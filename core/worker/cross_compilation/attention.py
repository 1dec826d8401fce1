"""Attention kernels and matmul padding for a target, chosen by torch's rules without the device.

On a device, torch asks the driver, or benchmarks. The kernel for `scaled_dot_product_attention` follows
`aten/src/ATen/native/transformers/cuda/sdp_utils.cpp`; torch generates the code around it. Nested tensors take the math
path. Padding of matmuls follows `torch/_inductor/fx_passes/pad_mm.py` up to the point where torch would benchmark;
torch never pads a memory-bound matmul.
"""

import inspect
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch._inductor.fx_passes import pad_mm
from torch.fx.experimental.proxy_tensor import get_proxy_mode
from torch.fx.experimental.symbolic_shapes import guard_or_false, guard_or_true
from torch.nn.attention import SDPBackend

from core.base.words import exact
from core.job.targets import Target
from core.worker.cross_compilation.device import choose_attention, target
from core.worker.cross_compilation.fallbacks import record_choice

aten = torch.ops.aten
# Two of the rules, and cuDNN's head dimensions, changed in torch 2.13.
SINCE_213 = torch.torch_version.TorchVersion(torch.__version__) >= (2, 13)
HALF = (torch.float16, torch.bfloat16)
Rule = tuple[bool, str]
NOT_PADDED = "not padded"


@dataclass(frozen=True, slots=True)
class Attention:
    """A call of `scaled_dot_product_attention`."""

    query: torch.Tensor
    key: torch.Tensor
    value: torch.Tensor
    mask: torch.Tensor | None
    dropout_p: float
    is_causal: bool
    scale: float | None
    enable_gqa: bool

    @property
    def training(self) -> bool:
        """True if a backward will be needed."""
        wanted = any(tensor.requires_grad for tensor in (self.query, self.key, self.value))
        return wanted and torch.is_grad_enabled()

    def words(self) -> str:
        """Return the call in one line."""
        sizes = ", ".join(
            f"{name} {list(t.shape)}" for name, t in (("q", self.query), ("k", self.key), ("v", self.value))
        )
        dtype = str(self.query.dtype).removeprefix("torch.")
        flags = [flag for flag, on in (("causal", self.is_causal), ("mask", self.mask is not None)) if on]
        flags += [f"dropout {exact(self.dropout_p)}"] if self.dropout_p else []
        return ", ".join([dtype, sizes, *flags])


@contextmanager
def by_rules() -> Iterator[None]:
    """Choose attention kernels for the target by torch's rules in this context."""
    library = torch.library.Library("aten", "IMPL")
    try:
        for key in ("AutogradCUDA", "CUDA"):
            library.impl("scaled_dot_product_attention", _attend, key)
        yield
    finally:
        library._destroy()


def _attend(
    query: Any, key: Any, value: Any, attn_mask: Any = None, dropout_p: float = 0.0, is_causal: bool = False,
    *, scale: float | None = None, enable_gqa: bool = False,
) -> Any:  # fmt: skip
    call = Attention(query, key, value, attn_mask, dropout_p, is_causal, scale, enable_gqa)
    attention_target = target()
    assert attention_target is not None
    backend, reason = choose(call, attention_target)
    # Dynamo traces the call first, with symbols for sizes that it later finds to be equal.
    if get_proxy_mode() is not None:
        record_choice("scaled_dot_product_attention", backend, f"{reason} ({call.words()})", list(RULES))
    choose_attention(BACKENDS[backend].value)
    return aten.scaled_dot_product_attention.default.decompose(
        query, key, value, attn_mask, dropout_p, is_causal, scale=scale, enable_gqa=enable_gqa
    )


def choose(call: Attention, on: Target) -> tuple[str, str]:
    """Return the kernel that torch would choose on a target, and why; raises RuntimeError for none."""
    refused: list[str] = []
    for backend in _order(on):
        broken = next((words for holds, words in RULES[backend](call, on) if not holds), None)
        if broken is None:
            before = f"; not {'; not '.join(refused)}" if refused else ""
            return backend, f"by torch's rules for {on.words}{before}"
        refused.append(f"{backend}: needs {broken}")
    raise RuntimeError("No available kernel. Aborting execution.")


def _order(on: Target) -> tuple[str, ...]:
    """Return SDPA backends in torch's order; cuDNN comes first on Hopper and data center Blackwell."""
    prefer_cudnn = on.backend == "cuda" and on.architecture.major in (9, 10)
    return ("cudnn", "flash", "efficient", "math") if prefer_cudnn else ("flash", "efficient", "math", "cudnn")


def _holds(condition: Any) -> bool:
    return bool(guard_or_false(condition))


def _four_dimensions(call: Attention) -> Rule:
    return all(tensor.dim() == 4 for tensor in (call.query, call.key, call.value)), "four dimensions"


def _lengths(call: Attention) -> Rule:
    empty = [bool(tensor.size(-2) == 0) for tensor in (call.query, call.key)]
    return not any(empty), "sequences that are not empty"


def _last_stride(call: Attention, singleton: bool) -> Iterator[Rule]:
    unit = all(tensor.stride(-1) == 1 for tensor in (call.query, call.key, call.value))
    yield unit or (singleton and call.query.size(-1) == 1), "q, k and v whose last dimension has stride 1"
    yield call.mask is None or call.mask.stride(-1) == 1, "a mask whose last dimension has stride 1"


def _batch_and_heads(call: Attention, grouped: bool, equal_kv: bool = True) -> Iterator[Rule]:
    """Yield the rules for batch size and heads.

    `grouped` is True for a kernel that supports GQA. `equal_kv` is True if GQA needs as many k heads as v heads.
    """
    batch, heads = ([tensor.size(dim) for tensor in (call.query, call.key, call.value)] for dim in (0, -3))
    yield _same(batch), "the same batch size for q, k and v"
    equal_heads = _same(heads)
    if not (call.enable_gqa and grouped):
        yield equal_heads, "as many heads in k and v as in q"
        return
    yield not equal_kv or _holds(heads[1] == heads[2]), "as many heads in k as in v"
    key_value_heads = heads[1:2] if equal_kv else heads[1:]
    yield all(_holds(heads[0] % count == 0) for count in key_value_heads), "heads of k and v that divide those of q"


def _same(sizes: list[Any]) -> bool:
    return _holds(sizes[0] == sizes[1]) and _holds(sizes[0] == sizes[2])


def _mask_shape(call: Attention) -> Rule:
    mask, words = call.mask, "a mask of shape [L|1, S|1] or [N|1, H|1, L|1, S|1] without gradient"
    if mask is None:
        return True, words
    lengths = ((-2, call.query.size(2)), (-1, call.key.size(2)))
    if mask.requires_grad or any(mask.size(dim) != length and mask.size(dim) != 1 for dim, length in lengths):
        return False, words
    outer = mask.dim() == 4 and all(mask.size(dim) == 1 or mask.size(dim) == call.query.size(dim) for dim in (0, 1))
    return mask.dim() == 2 or outer, words


# A rule is evaluated only if all earlier rules hold, in torch's order: evaluating an unknown size adds a guard to the
# trace.
def _flash(call: Attention, on: Target) -> Iterator[Rule]:
    head = call.query.size(-1)
    limit = 256 if on.backend == "cuda" else 512
    yield torch.backends.cuda.flash_sdp_enabled(), "to be enabled"
    yield _four_dimensions(call)
    yield call.mask is None, "no mask"
    same = _same([head, call.key.size(-1), call.value.size(-1)])
    yield same and _holds(head <= limit), f"one head dimension of at most {limit}"
    yield on.backend == "hip" or on.architecture.major >= 8, "sm_80 or later"
    small_sm = on.backend == "cuda" and on.architecture.minor in (6, 9)
    trains = not (call.training and small_sm) or _holds(head <= 192) or (not call.dropout_p and _holds(head > 224))
    yield trains, "a head dimension that it can train on this architecture"
    square = not (call.is_causal and call.query.size(-2) != call.key.size(-2))
    yield square, "q and k of one length, being causal"
    yield call.query.dtype in HALF, "float16 or bfloat16"
    yield from _batch_and_heads(call, grouped=True)
    yield _lengths(call)
    yield from _last_stride(call, singleton=True)


def _efficient(call: Attention, on: Target) -> Iterator[Rule]:
    head, head_v = call.query.size(-1), call.value.size(-1)
    multiple = 8 if call.query.dtype in HALF else 4
    yield torch.backends.cuda.mem_efficient_sdp_enabled(), "to be enabled"
    yield _four_dimensions(call)
    limit = on.backend == "cuda" or (_holds(head == head_v) and _holds(head <= 256))
    yield limit, "one head dimension of at most 256"
    aligned = _holds(call.key.size(-1) == head) and all(_holds(size % multiple == 0) for size in (head, head_v))
    yield aligned, f"head dimensions that are multiples of {multiple}"
    yield _aligned_offsets(call, on, multiple), "q, k and v that start at a multiple of 16 bytes"
    yield _lengths(call)
    yield from _last_stride(call, singleton=False)
    yield from _batch_and_heads(call, grouped=False)
    mask_dtype = on.backend == "cuda" or call.mask is None or call.mask.dtype in (torch.bool, call.query.dtype)
    yield mask_dtype, "a mask of booleans or of the dtype of q"
    yield call.query.dtype in (*HALF, torch.float32), "float32, float16 or bfloat16"


def _aligned_offsets(call: Attention, on: Target, multiple: int) -> bool:
    if not SINCE_213 or on.backend == "hip":
        return True
    tensors = (call.query, call.key, call.value)
    return all(guard_or_true(tensor.storage_offset() % multiple == 0) for tensor in tensors)


def _cudnn(call: Attention, on: Target) -> Iterator[Rule]:
    yield on.backend == "cuda", "CUDA"
    yield torch.backends.cuda.cudnn_sdp_enabled(), "to be enabled"
    yield _four_dimensions(call)
    strict = torch.are_deterministic_algorithms_enabled() and not torch.is_deterministic_algorithms_warn_only_enabled()
    yield not strict, "algorithms that may be non-deterministic"
    yield call.query.dtype in HALF, "float16 or bfloat16"
    yield _mask_shape(call)
    yield not SINCE_213 or (call.dropout_p * 16).is_integer(), "a dropout that is a multiple of 1/16"
    yield _lengths(call)
    yield from _last_stride(call, singleton=True)
    yield from _batch_and_heads(call, grouped=True, equal_kv=False)
    yield from _cudnn_sizes(call, on)


def _cudnn_sizes(call: Attention, on: Target) -> Iterator[Rule]:
    head, head_v = call.query.size(-1), call.value.size(-1)
    limit = _cudnn_head_dim(on, deepseek=_holds(head == 192) and _holds(head_v == 128))
    yield _holds(head <= limit) and _holds(head_v <= limit), f"head dimensions of at most {limit}"
    yield _holds(head % 8 == 0) and _holds(head_v % 8 == 0), "head dimensions that are multiples of 8"
    yield not _holds(call.key.size(-2) == 1), "a key length other than 1"
    yield not (_holds(call.query.size(-2) == 1) and call.dropout_p), "a query length other than 1 with dropout"


def _cudnn_head_dim(on: Target, deepseek: bool) -> int:
    """Return the largest head dimension; DeepSeek's attention with 192 and 128 is a special case."""
    major, minor = on.architecture.major, on.architecture.minor
    if not SINCE_213 and (major, minor) == (9, 0):
        return 256
    return 192 if deepseek and (major == 10 or (SINCE_213 and major == 9)) else 128


def _math(call: Attention, on: Target) -> Iterator[Rule]:
    yield torch.backends.cuda.math_sdp_enabled(), "to be enabled"


RULES = {"cudnn": _cudnn, "flash": _flash, "efficient": _efficient, "math": _math}
BACKENDS = {
    "cudnn": SDPBackend.CUDNN_ATTENTION,
    "flash": SDPBackend.FLASH_ATTENTION,
    "efficient": SDPBackend.EFFICIENT_ATTENTION,
    "math": SDPBackend.MATH,
}


class Padding:
    """Replacements of `pad_mm._should_pad` and `pad_mm.get_cached_should_pad`.

    Torch's disk cache of decisions does not record the device, so it is neither read nor written here.
    """

    def __init__(self) -> None:
        self._rule = inspect.unwrap(pad_mm._should_pad)
        self._product: tuple[Any, Any, Any] | None = None

    def should_pad(self, match: Any, mat1: Any, mat2: Any, op: Any, input: Any = None) -> bool:
        """Return torch's decision for a matmul."""
        self._product = op, mat1, mat2
        return bool(self._rule(match, mat1, mat2, op, input))

    def decline_benchmark(self, _key: str) -> bool:
        """Return False for a matmul that torch would benchmark, and record the choice."""
        assert self._product is not None
        about, padded = _words(*self._product)
        reason = "needs timing on the device: torch pads it there if that is faster"
        record_choice(f"padding of {about}", NOT_PADDED, reason, [NOT_PADDED, padded])
        return False


def _words(op: Any, mat1: Any, mat2: Any) -> tuple[str, str]:
    """Return a matmul and its padded sizes as text, such as `mm float32 [128, 42] by [42, 64]`."""
    sizes = [[size + _missing(size, tensor) for size in tensor.shape] for tensor in (mat1, mat2)]
    if op.__name__ == "bmm":
        sizes = [[tensor.shape[0], *size[1:]] for tensor, size in zip((mat1, mat2), sizes, strict=True)]
    dtype = str(mat1.dtype).removeprefix("torch.")
    return f"{op.__name__} {dtype} {list(mat1.shape)} by {list(mat2.shape)}", f"{sizes[0]} by {sizes[1]}"


def _missing(size: Any, tensor: Any) -> int:
    return int(pad_mm.get_padded_length(size, pad_mm.get_alignment_size(tensor)))
