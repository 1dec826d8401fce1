"""A cache is keyed by a digest of the settings, which is computed in each call.

Source: https://meta-pytorch.github.io/compile-graph-break-site/gb/gb0007.html
Finds: graph breaks at line 19
Cause: sha|hash|digest
Cure: outside|__init__|before|once|tuple
Expects: breaks 0, graphs 1
"""

import hashlib

import torch

scales = {hashlib.sha1(b"large").hexdigest(): 2.0}


def model(x):
    y = x.tanh()
    key = hashlib.sha1(b"large").hexdigest()
    return y * scales[key]


inputs = (torch.randn(4, 8),)

# Cured
key = hashlib.sha1(b"large").hexdigest()


def model(x):
    y = x.tanh()
    return y * scales[key]
