"""LSTM cell in a loop

Dynamo unrolls a Python loop: six time steps become one graph, and the gates of each step become one kernel between
the matrix products.
"""

import torch
from torch import Tensor, nn

group = "Language models"

INPUT, HIDDEN, BATCH, LENGTH = 32, 64, 16, 6


class LSTMLoop(nn.Module):
    """All hidden states of an LSTM over a sequence."""

    def __init__(self) -> None:
        super().__init__()
        self.gates = nn.Linear(INPUT + HIDDEN, 4 * HIDDEN)

    def forward(self, sequence: Tensor) -> Tensor:
        hidden = cell = sequence.new_zeros(sequence.shape[1], HIDDEN)
        states = []
        for x in sequence:
            ingoing, forget, update, outgoing = self.gates(torch.cat((x, hidden), dim=-1)).chunk(4, dim=-1)
            cell = torch.sigmoid(forget) * cell + torch.sigmoid(ingoing) * torch.tanh(update)
            hidden = torch.sigmoid(outgoing) * torch.tanh(cell)
            states.append(hidden)
        return torch.stack(states)


model = LSTMLoop().eval()
inputs = (torch.randn(LENGTH, BATCH, INPUT),)
