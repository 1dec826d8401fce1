"""A mask is a tensor in some calls, and None in others.

Source: https://github.com/NVIDIA/TensorRT-LLM/pull/16981
Finds: recompiles
Cause: mask
Cure: always|each call|ones|two|both|same
Expects: recompiles 0
"""

import torch


def model(x, mask=None):
    return x.sin() * mask if mask is not None else x.sin()


x = torch.randn(4)
calls = [(x, None), (x, torch.ones(4)), (x, None)]


# Cured
def model(x, mask):
    return x.sin() * mask


calls = [(x, torch.ones(4)), (x, torch.ones(4)), (x, torch.ones(4))]
