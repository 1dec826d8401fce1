"""An attention wrapper patches an option of its settings while it runs.

Source: https://github.com/pytorch/pytorch/issues/146798
Finds: graph breaks
Cause: patch|mock|context
Cure: argument|outside|before|pass|attribute|assign|around
Expects: graphs 1, breaks 0
"""

import unittest.mock

import torch
from torch import nn


class Options:
    convert_to_f32 = True


def merge(outputs, weights):
    if Options.convert_to_f32:
        outputs, weights = outputs.float(), weights.float()
    return (outputs * weights.softmax(0)).sum(0).to(torch.bfloat16)


class RingAttention(nn.Module):
    def __init__(self, allow_reduced_precision=False):
        super().__init__()
        self.allow_reduced_precision = allow_reduced_precision

    def forward(self, outputs, weights):
        weights = weights * 0.5
        with unittest.mock.patch.object(Options, "convert_to_f32", not self.allow_reduced_precision):
            return merge(outputs, weights)


model = RingAttention()
inputs = (torch.randn(3, 4, 8).bfloat16(), torch.randn(3, 4, 1).bfloat16())


# Cured
def merge(outputs, weights, convert_to_f32=True):
    if convert_to_f32:
        outputs, weights = outputs.float(), weights.float()
    return (outputs * weights.softmax(0)).sum(0).to(torch.bfloat16)


class RingAttention(nn.Module):
    def __init__(self, allow_reduced_precision=False):
        super().__init__()
        self.allow_reduced_precision = allow_reduced_precision

    def forward(self, outputs, weights):
        return merge(outputs, weights * 0.5, not self.allow_reduced_precision)


model = RingAttention()
