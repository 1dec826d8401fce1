r"""Values at a boolean mask are scaled in place.

Source: https://github.com/pytorch/pytorch/issues/106580
Finds: graph breaks at line 14
Cause: (?i)mask|boolean|nonzero|dynamic.*shape|data.depend|shape.*depend
Cure: (?i)torch\.where|where|masked_fill|multiply
Expects: graphs 1, breaks 0, recompiles 0
"""

import torch


def model(values, mask):
    values = torch.relu(values)
    values[mask] *= 0.2
    return values + 1


inputs = (torch.rand(4, 2, 3), torch.tensor([[[True, False, True], [False, True, True]]] * 4))

# Cured


def model(values, mask):
    values = torch.relu(values)
    return torch.where(mask, values * 0.2, values) + 1
