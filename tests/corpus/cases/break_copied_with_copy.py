"""A tensor is copied with copy.copy.

Source: https://github.com/pytorch/torchdynamo/pull/1300
Finds: graph breaks
Cause: copy
Cure: clone|detach|torch
Expects: breaks 0, graphs 1
"""

import copy

import torch


def model(x):
    kept = copy.copy(x * 2)
    return kept.sin() + x


inputs = (torch.randn(4, 8),)

# Cured


def model(x):
    kept = (x * 2).clone()
    return kept.sin() + x
