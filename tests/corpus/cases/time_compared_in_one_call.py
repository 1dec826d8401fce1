"""Eager and compiled are compared by one call each.

Source: https://github.com/pytorch/pytorch/issues/104601
Finds: first call timed
Cause: first
Cure: warm|before|exclude|second
Expects: graphs 1, results other
Run: --script
"""

from time import perf_counter

import torch

net = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.GELU()).eval()
x = torch.rand(1, 8)
compiled = torch.compile(net)
with torch.no_grad():
    for name, function in (("original", net), ("compiled", compiled)):
        start = perf_counter()
        function(x)
        print(name, perf_counter() - start)

# Cured
from time import perf_counter

import torch

net = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.GELU()).eval()
x = torch.rand(1, 8)
compiled = torch.compile(net)
with torch.no_grad():
    for name, function in (("original", net), ("compiled", compiled)):
        function(x)
        start = perf_counter()
        function(x)
        print(name, perf_counter() - start)
