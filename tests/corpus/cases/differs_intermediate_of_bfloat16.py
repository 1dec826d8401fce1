"""A fused kernel does not round an intermediate result to bfloat16.

Source: https://github.com/pytorch/pytorch/issues/150638
Finds: rounds otherwise or results differ
Cause: (?i)bfloat16|bf16|round|precis|intermediate|cast|upcast
Cure: (?i)emulate_precision_casts|float32|precision
Expects: graphs 1, breaks 0, recompiles 0
Run: --backend inductor
Lacks: detected, explained, cured
"""

import torch


def model(a, b, c):
    return (a + b) * c + a


inputs = tuple(torch.randn(256, dtype=torch.bfloat16) for i in range(3))

# Cured
torch._inductor.config.emulate_precision_casts = True
