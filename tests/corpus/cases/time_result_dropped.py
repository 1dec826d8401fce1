r"""A trainer calls `torch.compile`, and goes on with the model it had.

Source: https://github.com/ostris/ai-toolkit/issues/729
Finds: not called
Cause: not called|never called|returned|dropped|unused|discard
Cure: assign|result|=\s*torch\.compile|\.compile\(
Expects: graphs 1, breaks 0
Run: --script
"""

import torch
from torch import nn


class Trainer:
    def __init__(self, unet, compile=True):
        self.unet = unet
        if compile:
            torch.compile(self.unet, dynamic=True, backend="eager")

    def step(self, latents):
        return self.unet(latents).square().mean()


torch.manual_seed(0)
trainer = Trainer(nn.Sequential(nn.Linear(16, 64), nn.SiLU(), nn.Linear(64, 16)))
for _ in range(3):
    print(round(float(trainer.step(torch.ones(4, 16))), 4))

# Cured
import torch
from torch import nn


class Trainer:
    def __init__(self, unet, compile=True):
        self.unet = unet
        if compile:
            self.unet = torch.compile(self.unet, dynamic=True, backend="eager")

    def step(self, latents):
        return self.unet(latents).square().mean()


torch.manual_seed(0)
trainer = Trainer(nn.Sequential(nn.Linear(16, 64), nn.SiLU(), nn.Linear(64, 16)))
for _ in range(3):
    print(round(float(trainer.step(torch.ones(4, 16))), 4))


def confirmed():
    return type(trainer.unet).__name__ == "OptimizedModule"
