"""A recurrent cell runs over sequences of different lengths in a Python loop.

Source: https://github.com/pytorch/pytorch/issues/97155
Finds: recompiles
Cause: size|length|loop|range|shape
Cure: while_loop|scan|pad|cell|body|bucket
Expects: recompiles 0
"""

import torch


class Recurrent(torch.nn.Module):
    def __init__(self, inputs, hidden):
        super().__init__()
        self.hidden = hidden
        self.update = torch.nn.Linear(inputs + hidden, hidden)
        self.candidate = torch.nn.Linear(inputs + hidden, hidden)

    def step(self, state, row):
        joined = torch.cat([row, state], -1)
        gate = torch.sigmoid(self.update(joined))
        return gate * state + (1 - gate) * torch.tanh(self.candidate(joined))

    def forward(self, sequence):
        state = sequence.new_zeros(sequence.shape[1], self.hidden)
        for index in range(sequence.shape[0]):
            state = self.step(state, sequence[index])
        return state


torch.manual_seed(0)
model = Recurrent(3, 4)
sequences = [torch.randn(length, 2, 3) for length in (5, 7, 4, 6)]
calls = [(sequence,) for sequence in sequences]


# Cured
class Padded(Recurrent):
    def forward(self, sequence, length):
        state = sequence.new_zeros(sequence.shape[1], self.hidden)
        for index in range(7):
            state = torch.where(index < length, self.step(state, sequence[index]), state)
        return state


model.__class__ = Padded
calls = [(torch.nn.functional.pad(each, (0, 0, 0, 0, 0, 7 - len(each))), torch.tensor(len(each))) for each in sequences]
