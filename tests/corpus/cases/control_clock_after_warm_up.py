"""A script measures calls after a first one.

Source: https://docs.pytorch.org/tutorials/recipes/recipes/benchmark.html
Run: --script
"""

import time

import torch

fast = torch.compile(lambda x: x.sin() + 1, backend="eager")
x = torch.randn(8)
fast(x)
start = time.perf_counter()
for _ in range(3):
    fast(x)
seconds = time.perf_counter() - start
