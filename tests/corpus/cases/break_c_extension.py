r"""A checksum of a C extension is computed within forward.

Source: https://github.com/pytorch/pytorch/issues/128095
Finds: graph breaks at line 16
Cause: crc32|C/C\+\+|builtin|C extension
Cure: once|constant|before|module level
Expects: breaks 0, graphs 1
"""

import zlib

import torch


def model(x):
    salt = zlib.crc32(b"layer.0") % 7
    return x * salt


inputs = (torch.randn(4, 8),)
