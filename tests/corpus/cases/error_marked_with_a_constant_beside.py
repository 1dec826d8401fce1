"""A size is marked dynamic, and the model adds a constant of that size that is not.

Source: https://github.com/pytorch/pytorch/issues/123596
Finds: constant dimension
Cause: mark_dynamic|marked|constant|inferred|specialized
Cure: maybe_mark_dynamic|argument|mark_dynamic|slice|both
Expects: breaks 0
Run: --script
"""

import torch

bias = torch.ones(3, 3)


@torch.compile(backend="eager")
def model(x):
    return x + bias


x = torch.ones(3, 3)
torch._dynamo.mark_dynamic(x, 0)
print(model(x))

# Cured
import torch

bias = torch.ones(3, 3)


@torch.compile(backend="eager")
def model(x):
    return x + bias


x = torch.ones(3, 3)
torch._dynamo.maybe_mark_dynamic(x, 0)
print(model(x))
