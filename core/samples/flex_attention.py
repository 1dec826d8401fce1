"""Flex attention

Attention with a custom score function: a Python function of the score and its position (here causal, with a
penalty on distance as in ALiBi) is compiled into the attention kernel.
"""

import torch
from torch import Tensor
from torch.nn.attention.flex_attention import flex_attention

group = "Advanced"

BATCH, HEADS, LENGTH, HEAD_DIM = 2, 4, 128, 32


def causal_with_distance(score: Tensor, batch: Tensor, head: Tensor, query: Tensor, key: Tensor) -> Tensor:
    slope = torch.exp2(-2.0 * (head + 1))
    return torch.where(query >= key, score - slope * (query - key), -float("inf"))


def model(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    attended = flex_attention(query, key, value, score_mod=causal_with_distance)
    assert isinstance(attended, Tensor)
    return attended


inputs = tuple(torch.randn(BATCH, HEADS, LENGTH, HEAD_DIM) for _ in range(3))
