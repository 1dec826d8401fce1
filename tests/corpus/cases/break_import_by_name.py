"""An activation is looked up in a module that is imported by name in each call.

Source: https://meta-pytorch.github.io/compile-graph-break-site/gb/gb0007.html
Finds: graph breaks at line 17
Cause: import_module|import
Cure: __init__|outside|top|before|import
Expects: breaks 0, graphs 1
"""

import importlib

import torch


def model(x):
    y = x * 2
    functional = importlib.import_module("torch.nn.functional")
    return functional.gelu(y)


inputs = (torch.randn(4, 8),)

# Cured
functional = importlib.import_module("torch.nn.functional")


def model(x):
    y = x * 2
    return functional.gelu(y)
