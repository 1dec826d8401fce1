"""A compiled step changes a parameter in place.

Source: https://github.com/pytorch/pytorch/issues/90844
Finds: leaf changed in place
Cause: leaf|in.?place
Cure: no_grad
Expects: recompiles 1
Run: --script
"""

import torch

weight = torch.nn.Parameter(torch.ones(3))


@torch.compile(backend="aot_eager")
def model(x):
    weight.mul_(0.5)
    return x * weight


with torch.no_grad():
    print(model(torch.ones(3)).sum().item())
print(model(torch.ones(3)).sum().item())


# Cured
import torch

weight = torch.nn.Parameter(torch.ones(3))


@torch.compile(backend="aot_eager")
def model(x):
    with torch.no_grad():
        weight.mul_(0.5)
    return x * weight


with torch.no_grad():
    print(model(torch.ones(3)).sum().item())
print(model(torch.ones(3)).sum().item())
