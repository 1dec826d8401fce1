r"""A model whose forward method was replaced by a compiled one is saved as a whole.

Source: https://github.com/tue-bmd/zea/pull/556
Run: --script
Finds: compiled function pickled
Cause: pickl|serializ
Cure: state_dict|\.compile\(\)|original|before
Expects: skipped 0
"""

import io

import torch


class Denoiser(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.ModuleList([torch.nn.Linear(4, 4), torch.nn.Linear(4, 4)])
        self.forward = torch.compile(self.forward, backend="eager")

    def forward(self, rows):
        for layer in self.layers:
            rows = torch.sigmoid(layer(rows))
        return rows


denoiser = Denoiser()
denoiser(torch.ones(1, 4))
torch.save(denoiser, io.BytesIO())

# Cured
import io

import torch


class Denoiser(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.ModuleList([torch.nn.Linear(4, 4), torch.nn.Linear(4, 4)])

    def forward(self, rows):
        for layer in self.layers:
            rows = torch.sigmoid(layer(rows))
        return rows


denoiser = Denoiser()
denoiser.compile(backend="eager")
denoiser(torch.ones(1, 4))
torch.save(denoiser.state_dict(), io.BytesIO())
