"""A float is rounded to half precision and back, and Inductor leaves the rounding out.

Source: https://github.com/pytorch/pytorch/issues/185337
Finds: results differ or rounds otherwise
Cause: round|cast|precision|half|float16
Cure: emulate_precision_casts|float32|tolerance
Expects: breaks 0
Run: --backend inductor
"""

import torch


def model(x):
    y = x.to(torch.float16).to(torch.float32)
    return y, y.sum(1)


inputs = (torch.arange(20, dtype=torch.float32).reshape(4, 5) / 7.0,)


# Cured
torch._inductor.config.emulate_precision_casts = True
