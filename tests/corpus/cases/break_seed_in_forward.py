"""A seed that is set in a compiled function breaks its graph.

Source: https://github.com/pytorch/pytorch/issues/95161
Finds: graph breaks at line 14 or random numbers
Cause: (?i)manual_seed|seed|random
Cure: (?i)(outside|before|move|generator|once|pass)
Expects: graphs 1, breaks 0, recompiles 0
"""

import torch


def model(x):
    x = torch.cos(x)
    torch.manual_seed(3)
    return x + torch.rand(8)


inputs = (torch.randn(8),)

# Cured
torch.manual_seed(3)
noise = torch.rand(8)


def model(x):
    return torch.cos(x) + noise
