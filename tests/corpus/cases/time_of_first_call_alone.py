r"""A comparison measures one call of each, and so the compilation.

Source: https://github.com/pytorch/torchdynamo/issues/2008
Finds: first call timed
Cause: first call|compil\w* (time|itself)|warm|measur
Cure: warm|second call|before (the )?(timing|measur|clock)|several|repeat|after the first
Expects: breaks 0, results other
Run: --script
"""

import time

import torch
from torch import nn

model = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.Conv2d(8, 8, 3)).eval()
compiled = torch.compile(model, backend="aot_eager")
x = torch.randn(1, 3, 32, 32)
with torch.no_grad():
    start = time.perf_counter()
    model(x)
    eager_seconds = time.perf_counter() - start
    start = time.perf_counter()
    compiled(x)
    compiled_seconds = time.perf_counter() - start
print(f"eager {eager_seconds:.4f} s, compiled {compiled_seconds:.4f} s")


def confirmed():
    return compiled_seconds < 0.1


# Cured
import torch
import time
from torch import nn

model = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.Conv2d(8, 8, 3)).eval()
compiled = torch.compile(model, backend="aot_eager")
x = torch.randn(1, 3, 32, 32)
with torch.no_grad():
    for _ in range(3):
        model(x), compiled(x)
    start = time.perf_counter()
    model(x)
    eager_seconds = time.perf_counter() - start
    start = time.perf_counter()
    compiled(x)
    compiled_seconds = time.perf_counter() - start
print(f"eager {eager_seconds:.4f} s, compiled {compiled_seconds:.4f} s")


def confirmed():
    return compiled_seconds < 0.1
