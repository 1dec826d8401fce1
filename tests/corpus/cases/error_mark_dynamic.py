"""A dimension that is marked dynamic is compared with a number.

Source: https://github.com/pytorch/pytorch/issues/136002
Finds: constant dimension at line 14
Cause: constant 5
Cure: maybe_mark_dynamic
Expects: breaks 0, graphs 1
"""

import torch


def model(x):
    if x.size(0) == 5:
        return x * 2
    return x + 1


x = torch.randn(5)
torch._dynamo.mark_dynamic(x, 0)
inputs = (x,)


# Cured
torch.manual_seed(0)
x = torch.randn(5)
torch._dynamo.maybe_mark_dynamic(x, 0)
inputs = (x,)
