r"""A script keeps the argument `disable=True` of a former test.

Source: https://docs.pytorch.org/docs/stable/generated/torch.compile.html
Run: --script
Finds: nothing compiled
Cause: disable
Cure: disable
Expects: graphs 1
"""

import torch

network = torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1))
fast = torch.compile(network, backend="eager", disable=True)
for _ in range(3):
    print(fast(torch.ones(2, 3)).shape)

# Cured
import torch

network = torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1))
fast = torch.compile(network, backend="eager")
for _ in range(3):
    print(fast(torch.ones(2, 3)).shape)


def confirmed():
    return torch._dynamo.utils.counters["stats"]["unique_graphs"] == 1
