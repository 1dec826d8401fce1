r"""Activations in bfloat16 are divided by a norm that is cast to bfloat16, and the error of that is magnified.

Source: https://github.com/pytorch/pytorch/issues/141436
Finds: rounds otherwise
Cause: round|precision|bfloat16|cast
Cure: emulate_precision_casts|float32|\.float\(\)
Expects: graphs 1
Run: --backend inductor
Lacks: detected, explained, cured
"""

import torch


def model(y, norm):
    scale = norm.to(y.dtype).unsqueeze(-1)
    return (y - y / scale * scale) * 64


torch.manual_seed(0)
inputs = (torch.randn(1, 6, 128, 32).bfloat16(), torch.randn(1, 6, 128))

# Cured
torch_compile = {"options": {"emulate_precision_casts": True}}
