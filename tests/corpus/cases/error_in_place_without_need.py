"""A tensor is changed in place after an exponential, and nobody asks for gradients.

Source: https://github.com/pytorch/pytorch/issues/158561
Finds: needed tensor changed in place
Cause: in.?place
Cure: out of place|no_grad|detach|add_
Expects: breaks 0
Run: --backend aot_eager
"""

import torch

weight = torch.nn.Parameter(torch.ones(3))


def model(x):
    y = torch.exp(x * weight)
    y.add_(1)
    return y


inputs = (torch.randn(2, 3),)


# Cured
def model(x):
    y = torch.exp(x * weight)
    return y + 1
