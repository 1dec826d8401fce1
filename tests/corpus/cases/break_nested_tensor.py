r"""Rows of several lengths become a nested tensor with strides.

Source: https://github.com/pytorch/pytorch/issues/126025
Finds: graph breaks
Cause: nested
Cure: jagged
Expects: breaks 0
"""

import torch


def model(first, second):
    rows = torch.nested.nested_tensor([first, second])
    return torch.sin(rows).to_padded_tensor(0.0)


inputs = (torch.ones(2, 3), torch.ones(4, 3))


# Cured
def model(first, second):
    rows = torch.nn.functional.pad(first, (0, 0, 0, second.shape[0] - first.shape[0]))
    return torch.sin(torch.stack((rows, second)))
