r"""The number of weights to keep is computed of a tensor.

Source: https://github.com/pytorch/pytorch/pull/161843
Finds: graph breaks at line 13
Cause: (?i)int\(|\.item|scalar|value of a tensor|data.depend|number of a tensor
Cure: (?i)(capture_scalar_outputs|python (number|float|int)|float|plain number|pass|outside|before)
Expects: graphs 1, breaks 0, recompiles 0
"""

import torch


def model(weights, share):
    count = int(weights.numel() * share)
    indices = torch.topk(torch.abs(weights).flatten(), count)[1]
    mask = torch.zeros(weights.numel(), dtype=torch.bool)
    mask.scatter_(0, indices, True)
    return weights * mask.view(weights.shape)


inputs = (torch.randn(16, 8), torch.tensor(0.5))

# Cured
inputs = (inputs[0], 0.5)
