"""A normal distribution of float16 and float32 samples float16 in eager, and float32 in compiled code.

Source: https://github.com/pytorch/pytorch/issues/194547
Run: --backend inductor
Finds: results differ
Cause: float32
Cure: aot_eager
Expects: skipped 0
"""

import torch


def model(middle, width):
    return torch.distributions.Normal(middle, width, validate_args=False).sample()


inputs = (torch.zeros(8, dtype=torch.float16), torch.ones(8))

# Cured
torch_compile = {"backend": "aot_eager"}
