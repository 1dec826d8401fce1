"""A block collects garbage between its two halves to save memory.

Source: https://github.com/pytorch/pytorch/pull/196456
Finds: graph breaks at line 17
Cause: gc|collect|garbage
Cure: remove|outside|before|after
Expects: breaks 0, graphs 1
"""

import gc

import torch


def model(x):
    hidden = x @ x.T
    gc.collect()
    return hidden.softmax(-1) @ x


inputs = (torch.randn(4, 8),)

# Cured


def model(x):
    hidden = x @ x.T
    return hidden.softmax(-1) @ x
