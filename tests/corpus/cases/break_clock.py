r"""Time is measured within the compiled function.

Source: https://github.com/pytorch/pytorch/issues/137068
Finds: graph breaks at line 18
Cause: time\.time|time
Cure: (?:before|after|outside|out of)
Expects: breaks 0, graphs 1
"""

import time

import torch

took = []


def model(x):
    start = time.time()
    y = x.sin()
    took.append(time.time() - start)
    return y


inputs = (torch.randn(4, 8),)


# Cured
def model(x):
    return x.sin()
