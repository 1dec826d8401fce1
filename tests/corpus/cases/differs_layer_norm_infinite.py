"""A layer norm of half precision gets an infinite value.

Source: https://github.com/pytorch/pytorch/issues/173885
Finds: results differ or rounds otherwise
Cause: inf|nan|round|precision
Cure: clamp|float32|emulate_precision_casts
Expects: breaks 0
Run: --backend inductor
"""

import torch


def model(x):
    return torch.nn.functional.layer_norm(x * 60000, (8,))


inputs = (torch.arange(16).reshape(2, 8).half(),)


# Cured
torch._inductor.config.emulate_precision_casts = True
