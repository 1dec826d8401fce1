"""Calls of `scaled_dot_product_attention` as in real models, for the comparison: each is a small file.

Each file has the surrounding ops that produce the call's masks, heads and layouts.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

FILE = """
import torch
from torch.nn.functional import scaled_dot_product_attention


def model(q, k, v, mask=None):
    {mask}out = scaled_dot_product_attention(q.sin(), k, v, attn_mask=mask, dropout_p={dropout}, is_causal={causal},
                                       scale={scale}, enable_gqa={gqa})
    return out.transpose(1, 2).flatten(2).cos()


def call(L, S, D={head_dim}, H={heads}):
    q = {query}
    k, v = (torch.randn(2, {key_heads}, S, D) for _ in range(2))
    lower = torch.ones(L, S, dtype=torch.bool).tril()
    valid = torch.arange(S) < torch.tensor([[S], [S // 2 + 1]])
    return q, k, v{arguments}


calls = [call(*lengths) for lengths in {lengths}]
"""
# Shapes of masks that are arguments of the model, with L queries, S keys and H heads.
GIVEN = {
    "bool 2-D": "lower",
    "bool 4-D": "lower.expand(2, 1, L, S).contiguous()",
    "bool 4-D expanded": "lower.expand(2, H, L, S)",
    "bool of each head": "lower.expand(2, H, L, S).contiguous()",
    "bool padding": "valid[:, None, None, :]",
    "bool of one query": "valid[:, None, None, :].expand(2, 1, L, S)",
    "float 2-D": "torch.zeros(L, S).masked_fill(~lower, float('-inf'))",
    "float 4-D": "torch.zeros(2, 1, L, S).masked_fill(~lower, float('-inf'))",
    "float of each head": "torch.randn(2, H, L, S)",
    "float padding": "torch.zeros(2, 1, 1, S).masked_fill(~valid[:, None, None, :], float('-inf'))",
    "float of one head": "torch.randn(1, H, L, S)",
    "float transposed": "torch.randn(2, 1, S, L).transpose(2, 3)",
}
# Code of masks that the model computes from its inputs.
MADE = {
    "padding and causal": ("valid", "mask = mask[:, None, None, :] & torch.ones(q.size(2), k.size(2), "
                                    "dtype=torch.bool, device=q.device).tril()"),
    "sliding window": ("valid", "i = torch.arange(q.size(2), device=q.device); mask = mask[:, None, None, :] & "
                                "((i[:, None] - i).abs() < 16)"),
    "float from bool": ("lower", "mask = torch.zeros_like(mask, dtype=q.dtype).masked_fill(~mask, "
                                 "torch.finfo(q.dtype).min)"),
    "slopes": ("valid", "mask = -(torch.arange(k.size(2), device=q.device, dtype=q.dtype) * torch.arange(1, 9, "
                        "device=q.device, dtype=q.dtype)[:, None])[:, None]"),
}  # fmt: skip
NO_MASK = "no mask"
ALIGNED, UNALIGNED, CROSS, DYNAMIC = ((64, 64),), ((61, 61),), ((17, 61),), ((64, 64), (80, 80), (61, 61))


@dataclass(frozen=True, slots=True)
class Call:
    """An attention call to compare; `lengths` are (queries, keys), one pair per call of the model."""

    mask: str = NO_MASK
    lengths: tuple[tuple[int, int], ...] = ALIGNED
    head_dim: int = 64
    heads: int = 8
    key_heads: int = 8
    dropout: float = 0.0
    causal: bool = False
    scale: float | None = None
    transposed: bool = False

    @property
    def name(self) -> str:
        """A unique text for the call."""
        default = Call()
        lengths = ", ".join(f"{q}x{k}" for q, k in self.lengths)
        words = {
            f"head {self.head_dim}": self.head_dim != default.head_dim,
            f"{self.heads} heads on {self.key_heads}": self.heads != self.key_heads,
            f"dropout {self.dropout:g}": bool(self.dropout),
            "causal": self.causal,
            f"scale {self.scale}": self.scale is not None,
            "transposed": self.transposed,
        }
        return "; ".join([f"{self.mask} {lengths}", *(word for word, differs in words.items() if differs)])

    @property
    def file(self) -> str:
        """A file in Compileboard's convention that makes the call."""
        argument, mask = MADE.get(self.mask, (GIVEN.get(self.mask, ""), ""))
        return FILE.format(
            arguments=f", {argument}" if argument else "",
            mask=f"{mask}\n    " if mask else "",
            dropout=self.dropout,
            causal=self.causal,
            scale=self.scale,
            gqa=self.heads != self.key_heads,
            head_dim=self.head_dim,
            heads=self.heads,
            key_heads=self.key_heads,
            query="torch.randn(2, L, H, D).transpose(1, 2)" if self.transposed else "torch.randn(2, H, L, D)",
            lengths=self.lengths,
        )


def attention_calls() -> tuple[Call, ...]:
    """Return calls with masks of every kind; with aligned, unaligned, cross and symbolic lengths.

    Some calls have grouped heads, a causal mask, dropout, a scale, other head dims, or a transposed layout.
    """
    masks = (NO_MASK, *GIVEN, *MADE)
    grouped = Call(heads=8, key_heads=2)
    return (
        *(Call(mask, lengths) for mask in masks for lengths in (ALIGNED, UNALIGNED)),
        *(Call(mask, lengths=CROSS) for mask in (NO_MASK, "bool 4-D", "float 4-D", "bool padding")),
        *(Call(mask, lengths=DYNAMIC) for mask in (NO_MASK, "bool 2-D", "bool 4-D", "float 4-D", "padding and causal")),
        *(replace(grouped, mask=mask) for mask in (NO_MASK, "bool 4-D", "float padding")),
        *(replace(grouped, causal=True, lengths=lengths) for lengths in (ALIGNED, UNALIGNED, DYNAMIC)),
        *(Call(mask, dropout=dropout) for mask in (NO_MASK, "bool 4-D") for dropout in (0.1, 0.125)),
        *(Call(causal=True, lengths=lengths) for lengths in (ALIGNED, UNALIGNED, DYNAMIC, CROSS)),
        *(Call(mask, head_dim=size) for mask in (NO_MASK, "bool 4-D") for size in (20, 36, 72, 160, 256, 264)),
        *(Call(mask, transposed=True) for mask in (NO_MASK, "float 4-D")),
        Call(scale=0.5),
        Call(scale=0.5, head_dim=20),
    )
