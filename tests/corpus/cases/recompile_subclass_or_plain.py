"""Inputs are now of a subclass of Tensor, now plain tensors.

Source: https://github.com/pytorch/pytorch/issues/187073
Finds: recompiles
Cause: type|class|subclass
Cure: as_subclass|same (class|type)|convert|plain|before
Expects: recompiles 0
"""

import torch


class Tagged(torch.Tensor):
    pass


def model(x):
    return (x * 2).relu()


calls = [(torch.ones(4, 3),), (torch.ones(4, 3).as_subclass(Tagged),), (torch.ones(4, 3),)]

# Cured
calls = [(torch.ones(4, 3),), (torch.ones(4, 3),), (torch.ones(4, 3),)]
