"""A nested compile region gets all values as arguments.

Source: https://github.com/pytorch/pytorch/issues/191821
"""

import torch


@torch.compiler.nested_compile_region
def region(hidden):
    return hidden.sin() + 1


def model(hidden):
    for _ in range(3):
        hidden = region(hidden)
    return hidden


inputs = (torch.ones(4),)
