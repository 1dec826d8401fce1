r"""A sweep defines its network's class anew for each setting, and each class is compiled again.

Source: https://github.com/pytorch/pytorch/issues/167504
Run: --script
Finds: not compiled: over the limit or near the recompile limit or recompiles or raised in a script
Cause: class|type|limit
Cure: reset\(\)|recompile_limit
Expects: skipped 0
"""

import torch


def network_of(width):
    class Network(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.net = torch.nn.Linear(4, width)

        def forward(self, rows):
            return torch.relu(self.net(rows))

    return Network()


for width in range(2, 12):
    compiled = torch.compile(network_of(width), backend="eager", fullgraph=True)
    print(compiled(torch.ones(1, 4)).shape)

# Cured
import torch


def network_of(width):
    class Network(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.net = torch.nn.Linear(4, width)

        def forward(self, rows):
            return torch.relu(self.net(rows))

    return Network()


for width in range(2, 12):
    torch.compiler.reset()
    compiled = torch.compile(network_of(width), backend="eager", fullgraph=True)
    print(compiled(torch.ones(1, 4)).shape)
