"""A layer writes a dot for each call to the standard output.

Source: https://meta-pytorch.github.io/compile-graph-break-site/gb/gb0156.html
Finds: graph breaks at line 17
Cause: write|stdout
Cure: remove|outside|reorderable_logging_functions|disable|print|is_compiling
Expects: breaks 0, graphs 1, results other
"""

import sys

import torch


def model(x):
    y = x.exp()
    sys.stdout.write(".")
    return y / y.sum(-1, keepdim=True)


inputs = (torch.randn(4, 8),)

# Cured


def model(x):
    y = x.exp()
    return y / y.sum(-1, keepdim=True)
