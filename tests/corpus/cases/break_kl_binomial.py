"""A divergence of distributions compares counts, which are tensors.

Source: https://github.com/pytorch/pytorch/issues/194593
Finds: graph breaks
Cause: data|branch|kl|torch.distributions|library
Cure: number|outside|argument|total_count|torch.where|torch.cond
Expects: breaks 0
"""

import torch
from torch.distributions import Binomial, kl_divergence


def model(left, right):
    first = Binomial(total_count=torch.tensor([5.0]), probs=left)
    second = Binomial(total_count=torch.tensor([5.0]), probs=right)
    return kl_divergence(first, second)


inputs = (torch.tensor([0.2]), torch.tensor([0.4]))


# Cured
def model(left, right):
    return 5.0 * (left * (left / right).log() + (1 - left) * ((1 - left) / (1 - right)).log())
