"""The inner dimension of a product is marked dynamic on one side only.

Source: https://github.com/pytorch/pytorch/issues/148040
Finds: constant dimension
Cause: constant|specializ
Cure: mark_dynamic|maybe_mark_dynamic
Expects: graphs 1
Run: --script
"""

import torch


@torch.compile(backend="aot_eager")
def product(left, right):
    return torch.matmul(left, right)


left, right = torch.ones(10, 10), torch.ones(10, 10)
torch._dynamo.mark_dynamic(right, 0)
print(product(left, right).sum().item())


# Cured
import torch


@torch.compile(backend="aot_eager")
def product(left, right):
    return torch.matmul(left, right)


left, right = torch.ones(10, 10), torch.ones(10, 10)
torch._dynamo.maybe_mark_dynamic(right, 0)
print(product(left, right).sum().item())
