r"""A masked value is cast to half precision and summed: between fused operations it stays in float32.

Source: https://github.com/pytorch/pytorch/issues/183761
Finds: rounds otherwise
Cause: round|precision|half|float16|cast
Cure: emulate_precision_casts|float32|\.float\(\)
Expects: graphs 1
Run: --backend inductor
Lacks: detected, explained, cured
"""

import torch


def model(x, keep):
    filled = torch.where(keep, x, torch.full_like(x, 0.3)).half()
    return filled * 3.7 + filled * filled - filled * 2.9


torch.manual_seed(0)
inputs = (torch.randn(64, 8) * 5, torch.arange(512).view(64, 8) % 3 > 0)

# Cured
torch_compile = {"options": {"emulate_precision_casts": True}}
