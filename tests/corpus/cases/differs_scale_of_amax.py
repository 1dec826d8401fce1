r"""A scale for eight-bit floats is computed from the largest value of a bfloat16 tensor.

Source: https://github.com/pytorch/pytorch/issues/136181
Finds: rounds otherwise
Cause: round|precision|bfloat16|fus
Cure: emulate_precision_casts|float32|\.float\(|upcast|double
Expects: graphs 1, breaks 0
Run: --backend inductor
"""

import torch


def model(x):
    amax = torch.abs(torch.max(x, dim=-1).values)
    return (448.0 / torch.clamp(amax, min=1e-12)).to(torch.float32)


inputs = (torch.randn(64, 16, dtype=torch.bfloat16),)

# Cured
torch._inductor.config.emulate_precision_casts = True
