"""A script reports the time of torch.compile itself, which compiles nothing yet.

Source: https://github.com/meta-pytorch/torchtune/pull/761
Finds: first call timed or first call or times not reliable
Cause: first call|lazy|nothing|not called|when it is called
Cure: call|warm|first
Expects: graphs 1, results other
Run: --script
"""

import time

import torch

net = torch.nn.Linear(8, 8)
start = time.perf_counter()
compiled = torch.compile(net, backend="aot_eager")
print("compilation", time.perf_counter() - start)
start = time.perf_counter()
with torch.no_grad():
    compiled(torch.ones(4, 8))
print("step", time.perf_counter() - start)

# Cured
import time

import torch

net = torch.nn.Linear(8, 8)
compiled = torch.compile(net, backend="aot_eager")
start = time.perf_counter()
with torch.no_grad():
    compiled(torch.ones(4, 8))
print("compilation", time.perf_counter() - start)
start = time.perf_counter()
with torch.no_grad():
    compiled(torch.ones(4, 8))
print("step", time.perf_counter() - start)
