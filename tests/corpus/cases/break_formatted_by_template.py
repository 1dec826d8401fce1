r"""The name of a profile is filled into a template in each call.

Source: https://meta-pytorch.github.io/compile-graph-break-site/gb/gb0299.html
Finds: graph breaks or not compiled: given up
Cause: Template|substitute|Pattern|re\.
Cure: f-string|format|outside|before|once|__init__
Expects: breaks 0, graphs 1
"""

import string

import torch

scales = {"block-1": 2.0}


def model(x):
    y = x.tanh()
    name = string.Template("block-$index").substitute(index=1)
    return y * scales[name]


inputs = (torch.randn(4, 8),)

# Cured


def model(x):
    y = x.tanh()
    name = f"block-{1}"
    return y * scales[name]
