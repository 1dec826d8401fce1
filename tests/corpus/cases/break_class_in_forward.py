"""A class is defined within the compiled function.

Source: https://github.com/pytorch/pytorch/issues/128942
Finds: graph breaks at line 14
Cause: class|LOAD_BUILD_CLASS
Cure: enable_trace_load_build_class|module level|outside
Expects: breaks 0, graphs 1
"""

import torch


def model(x):
    class Config:
        scale = 2

    return x * Config.scale


inputs = (torch.randn(4, 8),)
