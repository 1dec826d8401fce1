"""A layer asks whether a mask has a zero at all.

Source: https://github.com/huggingface/transformers/pull/37944
Finds: graph breaks at line 15
Cause: item|branch|number|data
Cure: torch.where|torch.cond|argument|outside|flag
Expects: breaks 0
"""

import torch


def model(x, mask):
    x = x.sin()
    if mask is not None and 0.0 in mask:
        return x * mask
    return x


inputs = (torch.randn(4), torch.tensor([1.0, 1.0, 0.0, 1.0]))


# Cured
def model(x, mask):
    return x.sin() * mask
