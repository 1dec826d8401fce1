r"""An argmax's backward counts the ties of a bfloat16 quotient.

Source: https://github.com/pytorch/pytorch/issues/195214
Finds: results differ or rounds otherwise
Cause: round|precision|bfloat16|fus|equal
Cure: emulate_precision_casts|float32|\.float\(|tolerance|argmax|isclose
Expects: graphs 1, breaks 0
Run: --backend inductor
Lacks: explained
"""

import torch


def model(x, scale):
    scaled = x / scale
    top = scaled.amax(-1, keepdim=True)
    return (scaled == top).sum(-1)


inputs = (torch.randn(16, 32, dtype=torch.bfloat16), torch.tensor(5.65, dtype=torch.bfloat16))

# Cured
torch._inductor.config.emulate_precision_casts = True
