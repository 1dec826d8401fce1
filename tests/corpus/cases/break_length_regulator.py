"""A speech model repeats each phoneme as many frames as its duration says.

Source: https://github.com/pytorch/torchdynamo/issues/1886
Finds: graph breaks at line 22
Cause: repeat_interleave|dynamic|output shape|depends
Cure: output_size|capture_dynamic_output_shape_ops
Expects: breaks 0
"""

import torch
from torch import nn

torch.manual_seed(0)


class LengthRegulator(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.norm = nn.LayerNorm(hidden)

    def forward(self, phonemes, durations, frames):
        return torch.repeat_interleave(self.norm(phonemes), durations, dim=0)


class Acoustic(nn.Module):
    def __init__(self, hidden=8):
        super().__init__()
        self.encoder = nn.Linear(hidden, hidden)
        self.regulator = LengthRegulator(hidden)
        self.decoder = nn.Linear(hidden, 4)

    def forward(self, phonemes, durations, frames):
        return self.decoder(self.regulator(self.encoder(phonemes), durations, frames))


model = Acoustic()
inputs = (torch.randn(3, 8), torch.tensor([2, 1, 4]), 7)


# Cured
class Sized(LengthRegulator):
    def forward(self, phonemes, durations, frames):
        return torch.repeat_interleave(self.norm(phonemes), durations, dim=0, output_size=frames)


model.regulator.__class__ = Sized
