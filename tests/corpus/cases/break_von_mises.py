"""Samples of a distribution that rejects are drawn in a loop.

Source: https://github.com/pytorch/pytorch/issues/194764
Finds: graph breaks or not compiled: given up or random numbers or not compiled: skipped
Cause: loop|branch|data|while
Cure: outside|before|disable
Expects: breaks 0
"""

import torch
from torch.distributions import VonMises

around = VonMises(torch.tensor([0.5]), torch.tensor([2.0]))


def model(x):
    return x.sin() + around.sample()


inputs = (torch.ones(1),)


# Cured
def model(x, drawn):
    return x.sin() + drawn


torch.manual_seed(0)
inputs = (torch.ones(1), around.sample())
