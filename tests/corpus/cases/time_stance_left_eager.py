"""A stance that was set for debugging keeps everything in eager.

Source: https://docs.pytorch.org/docs/stable/generated/torch.compiler.set_stance.html
Run: --script
Finds: nothing compiled
Cause: force_eager
Cure: default
Expects: graphs 1
"""

import torch

torch.compiler.set_stance("force_eager")
net = torch.compile(torch.nn.Linear(4, 4), backend="eager")
for _ in range(3):
    net(torch.ones(2, 4))

# Cured
import torch

torch.compiler.set_stance("default")
net = torch.compile(torch.nn.Linear(4, 4), backend="eager")
for _ in range(3):
    net(torch.ones(2, 4))
