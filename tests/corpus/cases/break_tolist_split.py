"""Sizes from `.tolist()` split a tensor, as in a mixture of experts.

Source: https://github.com/meta-pytorch/torchtune/pull/2771
Finds: graph breaks at line 14
Cause: tolist
Cure: capture_scalar_outputs
Expects: breaks 0, graphs 1
"""

import torch


def model(x, sizes):
    parts = x.split(sizes.tolist())
    return torch.cat([part * (index + 1) for index, part in enumerate(parts)])


inputs = (torch.randn(6, 8), torch.tensor([1, 2, 3]))
