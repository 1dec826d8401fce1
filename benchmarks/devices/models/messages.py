"""Three rounds of messages along the edges of a graph: gathers, and sums by a scatter, in float32."""

import torch
from torch import nn

NODES, EDGES, WIDTH = 40_000, 400_000, 128


class Messages(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.send = nn.ModuleList(nn.Linear(2 * WIDTH, WIDTH) for _ in range(3))
        self.keep = nn.ModuleList(nn.Linear(2 * WIDTH, WIDTH) for _ in range(3))
        self.norms = nn.ModuleList(nn.LayerNorm(WIDTH) for _ in range(3))

    def forward(self, x: torch.Tensor, source: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        for send, keep, norm in zip(self.send, self.keep, self.norms, strict=True):
            message = torch.relu(send(torch.cat((x[source], x[target]), 1)))
            received = torch.zeros_like(x).index_add(0, target, message)
            x = norm(x + torch.relu(keep(torch.cat((x, received), 1))))
        return x


model = Messages().eval()
calls = [[torch.randn(NODES, WIDTH), torch.randint(0, NODES, (EDGES,)), torch.randint(0, NODES, (EDGES,))]] * 8
training = False
