"""A segmentation loss makes no mask if no pixel is to be ignored.

Source: https://github.com/kornia/kornia/pull/3794
Finds: graph breaks
Cause: data-dependent|branch|depends on (the )?(data|values?)|tensor's value|value of (a|the) tensor
Cure: always|where|mask|multipl|remove|cond
Expects: graphs 1, breaks 0
Not: capture_scalar_outputs
"""

import torch
from torch import nn


def mask_ignore_pixels(target, ignore_index):
    mask = target != ignore_index
    if mask.all():
        return target, None
    return target.where(mask, target.new_zeros(1)), mask


class FocalLoss(nn.Module):
    def __init__(self, gamma=2.0, ignore_index=-100):
        super().__init__()
        self.gamma, self.ignore_index = gamma, ignore_index

    def forward(self, logits, target):
        target, mask = mask_ignore_pixels(target, self.ignore_index)
        log_p = logits.log_softmax(1).gather(1, target[:, None]).squeeze(1)
        loss = -((1 - log_p.exp()) ** self.gamma) * log_p
        if mask is not None:
            loss = loss * mask
        return loss.mean()


model = FocalLoss()
target = torch.randint(3, (2, 6, 6))
target[0, 0, :2] = -100
inputs = (torch.randn(2, 3, 6, 6), target)


# Cured
def mask_ignore_pixels(target, ignore_index):
    mask = target != ignore_index
    return target.where(mask, target.new_zeros(1)), mask
