r"""An augmentation decides by a drawn number whether it changes the batch at all.

Source: https://github.com/kornia/kornia/pull/3793
Finds: graph breaks
Cause: data-dependent|branch|depends on (the )?(data|values?)|tensor's value|value of (a|the) tensor
Cure: torch\.where|where|multipl|mask|branchless|cond
Expects: graphs 1, breaks 0, results other
Not: capture_scalar_outputs
"""

import torch
from torch import nn


class RandomBrightness(nn.Module):
    def __init__(self, p=0.5, p_batch=0.9):
        super().__init__()
        self.p, self.p_batch = p, p_batch

    def batch_prob(self, batch):
        selected = (torch.rand(1) < self.p_batch).float()
        if selected.sum() == 1:
            return (torch.rand(batch) < self.p).float()
        return torch.zeros(batch)

    def forward(self, images):
        chosen = self.batch_prob(images.shape[0]).view(-1, 1, 1, 1)
        return (images + 0.2 * chosen).clamp(0, 1)


model, inputs = RandomBrightness(), (torch.rand(4, 3, 8, 8),)


# Cured
class RandomBrightness(nn.Module):
    def __init__(self, p=0.5, p_batch=0.9):
        super().__init__()
        self.p, self.p_batch = p, p_batch

    def batch_prob(self, batch):
        selected = (torch.rand(1) < self.p_batch).float()
        return selected * (torch.rand(batch) < self.p).float()

    def forward(self, images):
        chosen = self.batch_prob(images.shape[0]).view(-1, 1, 1, 1)
        return (images + 0.2 * chosen).clamp(0, 1)


model = RandomBrightness()
