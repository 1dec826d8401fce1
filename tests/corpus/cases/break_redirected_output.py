"""The output of a library is silenced with redirect_stdout in the compiled function.

Source: https://meta-pytorch.github.io/compile-graph-break-site/gb/gb0262.html
Finds: graph breaks or not compiled: given up
Cause: redirect_stdout|StringIO|contextlib
Cure: outside|remove|around
Expects: breaks 0, graphs 1
"""

import contextlib
import io

import torch


def model(x):
    y = x * 2
    with contextlib.redirect_stdout(io.StringIO()):
        y = y.softmax(-1)
    return y + 1


inputs = (torch.randn(4, 8),)

# Cured


def model(x):
    y = x * 2
    y = y.softmax(-1)
    return y + 1
