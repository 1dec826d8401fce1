"""Two sums of bfloat16 are compared, which Inductor doesn't round.

Source: https://github.com/pytorch/pytorch/pull/195223
Finds: results differ or rounds otherwise
Cause: round|precision|bfloat16
Cure: emulate_precision_casts|float32
Expects: breaks 0
Run: --backend inductor
"""

import torch


def model(x, y):
    return ((x + y) == x).sum(), torch.where((x + y) > x, 1.0, 0.0)


inputs = (torch.ones(64, dtype=torch.bfloat16), torch.full((64,), 1e-3, dtype=torch.bfloat16))


# Cured
torch._inductor.config.emulate_precision_casts = True
