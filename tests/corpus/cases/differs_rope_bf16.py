r"""Rotary embeddings are computed in bfloat16.

Source: https://github.com/pytorch/pytorch/issues/159239
Finds: rounds otherwise
Cause: round|precision|bfloat16|fus
Cure: emulate_precision_casts|float32|\.float\(|upcast|single precision
Expects: graphs 1, breaks 0
Run: --backend inductor
"""

import torch


def rotate(x):
    first, second = x.chunk(2, -1)
    return torch.cat((-second, first), -1)


def model(query, cos, sin):
    return query * cos + rotate(query) * sin


inputs = (
    torch.randn(1, 4, 16, 32, dtype=torch.bfloat16),
    torch.randn(16, 32, dtype=torch.bfloat16),
    torch.randn(16, 32, dtype=torch.bfloat16),
)

# Cured
torch._inductor.config.emulate_precision_casts = True
