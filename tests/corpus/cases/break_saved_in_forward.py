"""A layer saves its activations to a buffer in each call.

Source: https://meta-pytorch.github.io/compile-graph-break-site/gb/gb0156.html
Finds: graph breaks
Cause: save|BytesIO
Cure: outside|return|after|hook|disable|remove
Expects: breaks 0, graphs 1
"""

import io

import torch


def model(x):
    y = x.tanh()
    torch.save(y, io.BytesIO())
    return y * 2


inputs = (torch.randn(4, 8),)

# Cured


def model(x):
    y = x.tanh()
    return y * 2
