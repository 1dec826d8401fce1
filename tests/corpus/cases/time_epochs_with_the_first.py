"""The mean of the times of all epochs includes the first, which compiles.

Source: https://github.com/pytorch/pytorch/issues/97783
Finds: first call timed
Cause: first
Cure: warm|before|exclude|first
Expects: graphs 1, results other
Run: --script
"""

import time

import torch

net = torch.nn.Linear(8, 8)
compiled = torch.compile(net, backend="aot_eager")
times = []
for epoch in range(4):
    start = time.time()
    with torch.no_grad():
        compiled(torch.ones(4, 8))
    times.append(time.time() - start)
print("mean", sum(times) / len(times))

# Cured
import time

import torch

net = torch.nn.Linear(8, 8)
compiled = torch.compile(net, backend="aot_eager")
with torch.no_grad():
    compiled(torch.ones(4, 8))
times = []
for epoch in range(4):
    start = time.time()
    with torch.no_grad():
        compiled(torch.ones(4, 8))
    times.append(time.time() - start)
print("mean", sum(times) / len(times))
