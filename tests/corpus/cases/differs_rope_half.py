"""Positions are rotated in bfloat16.

Source: https://github.com/pytorch/pytorch/issues/182225
Finds: results differ or rounds otherwise
Cause: round|precision|bfloat16
Cure: emulate_precision_casts|float32
Expects: breaks 0
Run: --backend inductor
"""

import torch


def model(q, cos, sin):
    half = q.shape[-1] // 2
    turned = torch.cat((-q[..., half:], q[..., :half]), dim=-1)
    return (q * cos) + (turned * sin)


generator = torch.Generator().manual_seed(1)
inputs = tuple(torch.randn(1, 7, 16, generator=generator).bfloat16() for _ in range(3))


# Cured
torch._inductor.config.emulate_precision_casts = True
