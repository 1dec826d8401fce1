"""The rate of an evaluation loop includes the compilation of its first batch.

Source: https://github.com/huggingface/transformers/pull/32619
Finds: first call timed
Cause: first
Cure: warm|before|exclude|first
Expects: graphs 1, results other
Run: --script
"""

import time

import torch

net = torch.compile(torch.nn.Linear(4, 2).eval(), backend="aot_eager")
batches = [torch.ones(8, 4) for _ in range(5)]
begin = time.perf_counter()
with torch.inference_mode():
    results = [net(batch).argmax(-1) for batch in batches]
seconds = time.perf_counter() - begin
print(f"{len(batches) / seconds:.1f} batches/s")

# Cured
import time

import torch

net = torch.compile(torch.nn.Linear(4, 2).eval(), backend="aot_eager")
batches = [torch.ones(8, 4) for _ in range(5)]
with torch.inference_mode():
    net(batches[0])
    begin = time.perf_counter()
    results = [net(batch).argmax(-1) for batch in batches]
    seconds = time.perf_counter() - begin
print(f"{len(batches) / seconds:.1f} batches/s")
