"""The loop resets the compiler before each batch.

Source: https://docs.pytorch.org/docs/stable/generated/torch.compiler.reset.html
Run: --script
Finds: compiler reset
Cause: reset
Cure: leave it out
Expects: graphs 1
"""

import torch

net = torch.compile(torch.nn.Linear(4, 4), backend="eager")
for _ in range(4):
    torch.compiler.reset()
    net(torch.ones(2, 4))

# Cured
import torch

net = torch.compile(torch.nn.Linear(4, 4), backend="eager")
for _ in range(4):
    net(torch.ones(2, 4))
