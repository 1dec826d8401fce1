"""`torch.masked.median` of integers branches on data in its own code, so `fullgraph=True` fails.

Source: https://github.com/pytorch/pytorch/issues/194766
Finds: not compiled: failed or graph breaks
Cause: (?i)data.depend|isnan|branch|value of a tensor|control flow
Cure: (?i)fullgraph|nanmedian|where|sort|outside|without|cond
Expects: graphs 1, breaks 0, recompiles 0
"""

import torch
import torch.masked


def model(values, mask):
    return torch.masked.median(values * 2, dim=0, mask=mask) + 1


inputs = (torch.tensor([1, 9, 3]), torch.tensor([True, False, True]))
torch_compile = {"fullgraph": True}

# Cured


def model(values, mask):
    doubled = torch.where(mask, (values * 2).double(), float("nan"))
    return torch.nanmedian(doubled, dim=0).values.to(values.dtype) + 1
