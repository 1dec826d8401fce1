"""Which kernel `scaled_dot_product_attention` takes on the target, by torch's own rules.

Torch asks the driver before it chooses, so without a device it would take the math path. The rules are those of
`aten/src/ATen/native/transformers/cuda/sdp_utils.cpp`; what is done around the kernel, torch does itself. Nested tensors
take the math path here.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch.fx.experimental.proxy_tensor import get_proxy_mode
from torch.fx.experimental.symbolic_shapes import guard_or_false, guard_or_true
from torch.nn.attention import SDPBackend

from core.targets import Target
from core.worker.absent.choices import record_choice
from core.worker.absent.device import target
from core.worker.absent.shim import choose_attention

aten = torch.ops.aten
# Two of the rules, and cuDNN's head dimensions, changed between the releases that are supported.
SINCE_213 = torch.torch_version.TorchVersion(torch.__version__) >= (2, 13)
HALF = (torch.float16, torch.bfloat16)
Rule = tuple[bool, str]


@dataclass(frozen=True, slots=True)
class Attention:
    """One call."""

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
        """Whether the backward will be asked for."""
        wanted = any(tensor.requires_grad for tensor in (self.query, self.key, self.value))
        return wanted and torch.is_grad_enabled()

    def words(self) -> str:
        """The call in a line."""
        sizes = ", ".join(
            f"{name} {list(t.shape)}" for name, t in (("q", self.query), ("k", self.key), ("v", self.value))
        )
        dtype = str(self.query.dtype).removeprefix("torch.")
        marks = [mark for mark, on in (("causal", self.is_causal), ("mask", self.mask is not None)) if on]
        marks += [f"dropout {self.dropout_p:g}"] if self.dropout_p else []
        return ", ".join([dtype, sizes, *marks])


@contextmanager
def by_rules() -> Iterator[None]:
    """Within, attention on the target is chosen by torch's rules for it."""
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
    chosen = target()
    assert chosen is not None
    backend, reason = choose(call, chosen)
    # Dynamo tries the call first, with symbols for sizes that it then finds to be equal.
    if get_proxy_mode() is not None:
        record_choice("scaled_dot_product_attention", backend, f"{reason} ({call.words()})", list(RULES))
    choose_attention(BACKENDS[backend].value)
    return aten.scaled_dot_product_attention.default.decompose(
        query, key, value, attn_mask, dropout_p, is_causal, scale=scale, enable_gqa=enable_gqa
    )


def choose(call: Attention, on: Target) -> tuple[str, str]:
    """The kernel that torch would take on a target: `cudnn`, `flash`, `efficient` or `math`; and why, in words."""
    refused: list[str] = []
    for backend in _order(on):
        broken = next((words for holds, words in RULES[backend](call, on) if not holds), None)
        if broken is None:
            before = f"; not {'; not '.join(refused)}" if refused else ""
            return backend, f"by torch's rules for {on.words}{before}"
        refused.append(f"{backend}: needs {broken}")
    raise RuntimeError("No available kernel. Aborting execution.")


def _order(on: Target) -> tuple[str, ...]:
    """Torch's order of preference; cuDNN goes first on Hopper and data centre Blackwell."""
    prefer_cudnn = on.backend == "cuda" and on.architecture.major in (9, 10)
    return ("cudnn", "flash", "efficient", "math") if prefer_cudnn else ("flash", "efficient", "math", "cudnn")


def _holds(condition: Any) -> bool:
    return bool(guard_or_false(condition))


def _common(call: Attention) -> list[Rule]:
    query, key, value = call.query, call.key, call.value
    heads = [tensor.size(-3) if tensor.dim() == 4 else 0 for tensor in (query, key, value)]
    sizes = [tensor.shape for tensor in (query, key, value)]
    same_batch = all(_holds(size[0] == sizes[0][0]) for size in sizes)
    return [
        (all(tensor.dim() == 4 for tensor in (query, key, value)), "four dimensions"),
        (same_batch, "the same batch size for q, k and v"),
        (query.size(-2) != 0 and key.size(-2) != 0, "sequences that are not empty"),
        (call.mask is None or call.mask.stride(-1) == 1, "a mask whose last dimension has stride 1"),
        (call.enable_gqa or heads[0] == heads[1] == heads[2], "the same number of heads, or enable_gqa"),
        (
            not call.enable_gqa or (heads[1] == heads[2] and heads[0] % max(heads[1], 1) == 0),
            "heads of k and v that divide those of q",
        ),
    ]


def _last_stride(call: Attention, singleton: bool) -> Rule:
    unit = all(tensor.stride(-1) == 1 for tensor in (call.query, call.key, call.value))
    return unit or (singleton and call.query.size(-1) == 1), "q, k and v whose last dimension has stride 1"


def _mask_shape(call: Attention) -> Rule:
    mask, words = call.mask, "a mask of shape [L|1, S|1] or [N|1, H|1, L|1, S|1] without gradient"
    if mask is None:
        return True, words
    if mask.requires_grad or mask.dim() not in (2, 4):
        return False, words
    full = (call.query.size(0), call.query.size(1), call.query.size(2), call.key.size(2))[-mask.dim() :]
    return all(size == 1 or size == whole for size, whole in zip(mask.shape, full, strict=True)), words


def _flash(call: Attention, on: Target) -> list[Rule]:
    head = call.query.size(-1)
    limit = 256 if on.backend == "cuda" else 512
    same_head = all(_holds(tensor.size(-1) == head) for tensor in (call.key, call.value))
    small_sm = on.backend == "cuda" and on.architecture.minor in (6, 9)
    trains = not (call.training and small_sm) or _holds(head <= 192) or (not call.dropout_p and _holds(head > 224))
    square = not call.is_causal or _holds(call.query.size(-2) == call.key.size(-2))
    return [
        (torch.backends.cuda.flash_sdp_enabled(), "to be enabled"),
        (call.mask is None, "no mask"),
        (same_head and _holds(head <= limit), f"one head dimension of at most {limit}"),
        (on.backend == "hip" or on.architecture.major >= 8, "sm_80 or later"),
        (trains, "a head dimension that it can train on this architecture"),
        (square, "q and k of one length, being causal"),
        (call.query.dtype in HALF, "float16 or bfloat16"),
        *_common(call),
        _last_stride(call, singleton=True),
    ]


def _efficient(call: Attention, on: Target) -> list[Rule]:
    head, head_v = call.query.size(-1), call.value.size(-1)
    multiple = 8 if call.query.dtype in HALF else 4
    aligned = _holds(call.key.size(-1) == head) and all(_holds(size % multiple == 0) for size in (head, head_v))
    limit = on.backend == "cuda" or (_holds(head == head_v) and head <= 256)
    mask_dtype = on.backend == "cuda" or call.mask is None or call.mask.dtype in (torch.bool, call.query.dtype)
    return [
        (torch.backends.cuda.mem_efficient_sdp_enabled(), "to be enabled"),
        (aligned, f"head dimensions that are multiples of {multiple}"),
        (limit, "one head dimension of at most 256"),
        (_aligned_offsets(call, on, multiple), "q, k and v that start at a multiple of 16 bytes"),
        (not call.enable_gqa or call.query.size(-3) == call.key.size(-3), "as many heads in k and v as in q"),
        (mask_dtype, "a mask of booleans or of the dtype of q"),
        *_common(call),
        _last_stride(call, singleton=False),
        (call.query.dtype in (*HALF, torch.float32), "float32, float16 or bfloat16"),
    ]


def _aligned_offsets(call: Attention, on: Target, multiple: int) -> bool:
    if not SINCE_213 or on.backend == "hip":
        return True
    tensors = (call.query, call.key, call.value)
    return all(guard_or_true(tensor.storage_offset() % multiple == 0) for tensor in tensors)


def _cudnn(call: Attention, on: Target) -> list[Rule]:
    head, head_v = call.query.size(-1), call.value.size(-1)
    key_length, query_length = call.key.size(-2), call.query.size(-2)
    limit = _cudnn_head_dim(on, deepseek=_holds(head == 192) and _holds(head_v == 128))
    return [
        (on.backend == "cuda", "CUDA"),
        (torch.backends.cuda.cudnn_sdp_enabled(), "to be enabled"),
        (not torch.are_deterministic_algorithms_enabled(), "algorithms that may be non-deterministic"),
        (call.query.dtype in HALF, "float16 or bfloat16"),
        _mask_shape(call),
        (not SINCE_213 or (call.dropout_p * 16).is_integer(), "a dropout that is a multiple of 1/16"),
        *_common(call),
        _last_stride(call, singleton=True),
        (_holds(head <= limit) and _holds(head_v <= limit), f"head dimensions of at most {limit}"),
        (_holds(head % 8 == 0) and _holds(head_v % 8 == 0), "head dimensions that are multiples of 8"),
        (_holds(key_length != 1), "a key length other than 1"),
        (not call.dropout_p or _holds(query_length != 1), "a query length other than 1 with dropout"),
    ]


def _cudnn_head_dim(on: Target, deepseek: bool) -> int:
    """The largest head dimension; that of DeepSeek's attention, 192 and 128, is a case of its own."""
    major, minor = on.architecture.major, on.architecture.minor
    if not SINCE_213 and (major, minor) == (9, 0):
        return 256
    return 192 if deepseek and (major == 10 or (SINCE_213 and major == 9)) else 128


def _math(call: Attention, on: Target) -> list[Rule]:
    return [(torch.backends.cuda.math_sdp_enabled(), "to be enabled")]


RULES = {"cudnn": _cudnn, "flash": _flash, "efficient": _efficient, "math": _math}
BACKENDS = {
    "cudnn": SDPBackend.CUDNN_ATTENTION,
    "flash": SDPBackend.FLASH_ATTENTION,
    "efficient": SDPBackend.EFFICIENT_ATTENTION,
    "math": SDPBackend.MATH,
}
