r"""A first call that computes nothing leaves the function to eager in all later calls.

Source: https://github.com/pytorch/pytorch/issues/144820
Finds: empty first call
Cause: no op of torch in its first call
Cure: leave the decision
Expects: graphs 1, breaks 0, skipped 0
"""

import torch


def model(x, epoch):
    if epoch == 0:
        return x
    return torch.sin(x) * 2 + epoch


calls = [(torch.ones(4), epoch) for epoch in range(4)]

# Cured


def compute(x, epoch):
    return torch.sin(x) * 2 + epoch


compiled = torch.compile(compute, backend="eager", dynamic=True)


@torch.compiler.disable
def model(x, epoch):
    return x if epoch == 0 else compiled(x, epoch)


def confirmed():
    return torch._dynamo.utils.counters["stats"]["unique_graphs"] >= 1
