"""A dimension is marked as dynamic, and a view in the code fixes its size.

Source: https://github.com/pytorch/pytorch/issues/140011
Finds: constant dimension at line 15
Cause: takes no other size
Cure: maybe_mark_dynamic
Expects: graphs 1
"""

import torch


def model(rows):
    doubled = rows * 2
    return doubled.view(6, 4).sum(0)


marked = torch.ones(6, 4)
torch._dynamo.mark_dynamic(marked, 0)
inputs = (marked,)

# Cured

kept = torch.ones(6, 4)
torch._dynamo.maybe_mark_dynamic(kept, 0)
inputs = (kept,)
