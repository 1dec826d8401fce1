r"""A tangent in half precision is scaled and enters a sine: the compiled code rounds once, eager mode after each operation.

Source: https://github.com/pytorch/pytorch/issues/160730
Finds: rounds otherwise
Cause: round|precision|half|float16
Cure: emulate_precision_casts|float32|\.float\(\)
Expects: graphs 1
Run: --backend inductor
"""

import torch


def model(x):
    y = torch.tan(x)
    return torch.sin(y + y * 0.5)


inputs = (torch.linspace(0, 10, 512).half(),)

# Cured
torch_compile = {"options": {"emulate_precision_casts": True}}
