"""A cached function counts its calls in a global.

Source: https://github.com/pytorch/pytorch/issues/152994
Finds: recompiles
Cause: done
Cure: outside|tensor
Expects: recompiles 1
"""

import torch

done = 0


def counted(x):
    global done
    done = done + 1
    return x + 1


def model(x):
    return counted(x)


x = torch.randn(4)
calls = [(x,)] * 4


# Cured
def counted(x):
    return x + 1
