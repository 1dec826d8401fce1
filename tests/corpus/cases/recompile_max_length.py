"""The longest length of a batch is passed as a Python integer, with `dynamic=False`.

Source: https://github.com/Dao-AILab/quack/issues/150
Finds: recompiles
Cause: longest
Cure: tensor|dynamic
Expects: recompiles 0
"""

import torch

torch_compile = {"dynamic": False}


def model(x, longest):
    return x / longest


x = torch.randn(8)
calls = [(x, longest) for longest in (496, 512, 384, 400)]
