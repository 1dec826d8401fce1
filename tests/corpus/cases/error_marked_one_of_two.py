"""Two inputs are added, and only the batch of the first is dynamic.

Source: https://github.com/pytorch/pytorch/issues/102814
Finds: constant dimension or tied dimensions
Cause: constant|specializ
Cure: mark_dynamic|maybe_mark_dynamic
Expects: graphs 1
Run: --script
"""

import torch


@torch.compile(backend="eager")
def added(x, y):
    return x + y


x, y = torch.ones(4, 16), torch.ones(4, 16)
torch._dynamo.mark_dynamic(x, 0)
print(added(x, y).sum().item())


# Cured
import torch


@torch.compile(backend="eager")
def added(x, y):
    return x + y


x, y = torch.ones(4, 16), torch.ones(4, 16)
torch._dynamo.mark_dynamic(x, 0)
torch._dynamo.mark_dynamic(y, 0)
print(added(x, y).sum().item())
