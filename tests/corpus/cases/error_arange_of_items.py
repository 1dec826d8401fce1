"""Two numbers of a tensor are the ends of `arange`.

Source: https://github.com/pytorch/pytorch/issues/158058
Finds: not compiled: failed or graph breaks
Cause: capture_scalar_outputs|number of a tensor
Cure: capture_scalar_outputs|outside|before the call
Expects: breaks 0
Run: --backend eager --dynamo capture_scalar_outputs=true
"""

import torch


def model(ends, x):
    first, last = ends
    return torch.arange(first, last) + x


inputs = (torch.tensor([2, 4]), torch.ones(2))


# Cured
def model(ends, x):
    return ends[0] + torch.arange(2) + x
