"""A speech model with a hand-written recurrent cell over all frames."""

import torch
from torch import nn


class Cell(nn.Module):
    def __init__(self, inputs: int, width: int) -> None:
        super().__init__()
        self.gates = nn.Linear(inputs + width, 2 * width)
        self.new = nn.Linear(inputs + width, width)

    def forward(self, x, state):
        forget, reset = torch.sigmoid(self.gates(torch.cat([x, state], dim=1))).chunk(2, dim=1)
        candidate = torch.tanh(self.new(torch.cat([x, reset * state], dim=1)))
        return forget * state + (1 - forget) * candidate


class Speech(nn.Module):
    def __init__(self, inputs: int = 12, width: int = 24) -> None:
        super().__init__()
        self.width = width
        self.cell = Cell(inputs, width)
        self.output = nn.Linear(width, 5)

    def forward(self, frames):
        state = frames.new_zeros(frames.shape[0], self.width)
        outputs = []
        for number in range(frames.shape[1]):
            state = self.cell(frames[:, number], state)
            outputs.append(state)
        return self.output(torch.stack(outputs, dim=1))


def build():
    """Return the model and its forward over frames, (rows, time, 12)."""
    model = Speech()
    return model, torch.compile(model)
