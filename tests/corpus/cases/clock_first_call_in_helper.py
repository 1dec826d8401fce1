r"""A helper measures one call of a function, eager and compiled.

Source: https://github.com/pytorch/torchdynamo/issues/2008
Run: --script
Finds: first call timed
Cause: first call|compilation
Cure: [Ww]arm up|several later calls
Expects: breaks 0, results other
"""

import time

import torch


def smooth(x):
    return (x.sin() + x.cos()).mean()


def seconds(function, x):
    start = time.time()
    function(x)
    return time.time() - start


x = torch.randn(64)
fast = torch.compile(smooth, backend="aot_eager")
took = seconds(smooth, x), seconds(fast, x)


def confirmed():
    return took[1] < 0.1


# Cured
import torch
import time


def smooth(x):
    return (x.sin() + x.cos()).mean()


def seconds(function, x):
    function(x)
    start = time.time()
    function(x)
    return time.time() - start


x = torch.randn(64)
fast = torch.compile(smooth, backend="aot_eager")
took = seconds(smooth, x), seconds(fast, x)


def confirmed():
    return took[1] < 0.1
