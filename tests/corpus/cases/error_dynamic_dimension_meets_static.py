"""A dimension is marked as dynamic, but it is added to a tensor of fixed size.

Source: https://github.com/pytorch/pytorch/issues/145587
Finds: constant dimension or tied dimensions or not compiled: failed
Cause: (?i)dynamic|constant|speciali|size
Cure: (?i)mark|both|maybe_mark|remove|dynamic
Expects: graphs 1, breaks 0, recompiles 0
"""

import torch


def model(a, b):
    return torch.sin(a) + b


inputs = (torch.randn(4, 10), torch.randn(4, 10))
torch._dynamo.mark_dynamic(inputs[0], 0)

# Cured
torch._dynamo.mark_dynamic(inputs[1], 0)
