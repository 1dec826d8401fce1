"""A product is rounded to bfloat16 and back on purpose, before the activation.

Source: https://github.com/pytorch/pytorch/pull/179572
Finds: rounds otherwise or results differ
Cause: round|precision|bfloat16|cast|fus
Cure: emulate_precision_casts|float32|keep|tolerance|graph.?break|disable
Expects: graphs 1, breaks 0
Run: --backend inductor
"""

import torch


def model(x, bias):
    x = (x * 3.3 + bias).to(torch.bfloat16).float()
    return x * torch.sigmoid(x)


inputs = (torch.randn(16, 32), torch.randn(32))

# Cured
torch._inductor.config.emulate_precision_casts = True
