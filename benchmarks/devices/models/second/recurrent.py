"""A recurrent cell with gates over twelve steps, and a layer on its last state, in float32."""

import torch
from torch import nn

WIDTH, STEPS, BATCH = 640, 12, 1_024


class Recurrent(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.into, self.own = nn.Linear(128, 4 * WIDTH), nn.Linear(WIDTH, 4 * WIDTH, bias=False)
        self.head = nn.Linear(WIDTH, 200)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        state, memory = x.new_zeros(x.shape[0], WIDTH), x.new_zeros(x.shape[0], WIDTH)
        entered = self.into(x)
        for step in range(STEPS):
            gates = entered[:, step] + self.own(state)
            keep, add, show, value = gates.chunk(4, -1)
            memory = torch.sigmoid(keep) * memory + torch.sigmoid(add) * torch.tanh(value)
            state = torch.sigmoid(show) * torch.tanh(memory)
        return self.head(state)


model = Recurrent().eval()
calls = [[torch.randn(BATCH, STEPS, 128)]] * 4
training = False
