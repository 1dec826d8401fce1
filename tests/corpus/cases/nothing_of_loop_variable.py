r"""A loop compiles each block into its own variable, and the network keeps the original blocks.

Source: https://github.com/pytorch/torchtitan/pull/268
Run: --script
Finds: not called or nothing compiled
Cause: never called|not called|dropped|variable|original
Cure: register_module|assign|\.compile\(|keep|store
Expects: graphs 3
"""

import torch


class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Linear(4, 4)

    def forward(self, rows):
        return torch.tanh(self.net(rows))


class Stack(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = torch.nn.ModuleList([Block() for _ in range(3)])

    def forward(self, rows):
        for block in self.blocks:
            rows = block(rows)
        return rows


network = Stack()
for block in network.blocks:
    block = torch.compile(block, backend="eager")
print(network(torch.ones(2, 4)).shape)

# Cured
import torch


class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Linear(4, 4)

    def forward(self, rows):
        return torch.tanh(self.net(rows))


class Stack(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = torch.nn.ModuleList([Block() for _ in range(3)])

    def forward(self, rows):
        for block in self.blocks:
            rows = block(rows)
        return rows


network = Stack()
for block in network.blocks:
    block.compile(backend="eager")
print(network(torch.ones(2, 4)).shape)


def confirmed():
    return torch._dynamo.utils.counters["stats"]["unique_graphs"] > 0
