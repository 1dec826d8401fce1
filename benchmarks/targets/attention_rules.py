"""python -m benchmarks.targets.attention_rules: compare our rules for attention with torch's choices.

On a GPU, torch's chooser and `core.worker.cross_compilation.attention` run on every combination of the
constants below. The combinations with different choices are printed.
"""

from __future__ import annotations

import itertools
import sys
from typing import Any

import torch

from core.job.targets import TARGETS, Target
from core.worker.cross_compilation.attention import Attention, choose

NAMES = {-1: "error", 0: "math", 1: "flash", 2: "efficient", 3: "cudnn", 4: "overrideable"}
DTYPES = (torch.float32, torch.float16, torch.bfloat16, torch.float64)
HEADS = ((8, 8), (8, 2), (8, 1))
HEAD_DIMS = (8, 20, 32, 64, 128, 160, 256, 264)
LENGTHS = ((64, 64), (1, 64), (64, 65), (64, 1))
MASKS = ("none", "causal", "bool", "float", "head")
EXTRAS = ((0.0, False), (0.0, True), (0.1, False), (0.125, True))


def calls() -> Any:
    """Yield an attention call, with tensors on the GPU, for every combination."""
    for dtype, heads, head_dim, lengths, mask, (dropout, training) in itertools.product(
        DTYPES, HEADS, HEAD_DIMS, LENGTHS, MASKS, EXTRAS
    ):
        sizes = [(2, heads[0], lengths[0], head_dim), *[(2, heads[1], lengths[1], head_dim)] * 2]
        query, key, value = (torch.empty(size, dtype=dtype, device="cuda", requires_grad=training) for size in sizes)
        mask_tensor = _mask(mask, lengths, dtype)
        yield Attention(query, key, value, mask_tensor, dropout, mask == "causal", None, heads[0] != heads[1])


def _mask(kind: str, lengths: tuple[int, int], dtype: torch.dtype) -> torch.Tensor | None:
    if kind == "bool":
        return torch.ones(lengths, dtype=torch.bool, device="cuda")
    if kind == "float":
        return torch.zeros(2, 1, *lengths, dtype=dtype, device="cuda")
    return torch.zeros(2, 8, *lengths, dtype=dtype, device="cuda") if kind == "head" else None


def torch_choice(call: Attention) -> str:
    """Return torch's choice of the attention kernel."""
    return NAMES[
        torch._fused_sdp_choice(
            call.query,
            call.key,
            call.value,
            call.mask,
            call.dropout_p,
            call.is_causal,
            scale=None,
            enable_gqa=call.enable_gqa,
        )
    ]


def our_choice(call: Attention, target: Target) -> str:
    """Return the choice of our rules; `error` if they raise RuntimeError."""
    try:
        return choose(call, target)[0]
    except RuntimeError:
        return "error"


def main() -> int:
    """Print the number of equal choices, and the differences; return 1 if there are differences."""
    name = torch.cuda.get_device_name()
    target = next(target for target in TARGETS.values() if target.title.split()[-1] in name)
    differ: list[str] = []
    total = 0
    for call in calls():
        total += 1
        pair = torch_choice(call), our_choice(call, target)
        if pair[0] != pair[1]:
            mask = "" if call.mask is None else f" mask {call.mask.dtype} {list(call.mask.shape)}"
            differ.append(
                f"torch {pair[0]}, rules {pair[1]}: {call.words()}{mask}{' training' if call.training else ''}"
            )
    print(
        f"{name}, torch {torch.__version__}, cuDNN {torch.backends.cudnn.version()}: {total - len(differ)} of "
        f"{total} the same"
    )
    print("\n".join(differ))
    return int(bool(differ))


if __name__ == "__main__":
    sys.exit(main())
