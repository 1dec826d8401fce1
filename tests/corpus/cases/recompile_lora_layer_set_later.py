"""A LoRA layer is attached to and removed from a linear layer between calls.

Source: https://github.com/pytorch/pytorch/issues/120958
Finds: recompiles
Cause: lora|None|attribute|module
Cure: before|once|keep|always|zero|both|each state|warm|fuse|buffer
Expects: recompiles 0
Lacks: cured
"""

import torch
from torch import nn


class LoraCompatibleLinear(nn.Linear):
    lora_layer = None

    def set_lora_layer(self, lora_layer):
        self.lora_layer = lora_layer

    def forward(self, x):
        if self.lora_layer is None:
            return super().forward(x)
        return super().forward(x) + self.lora_layer(x)


class LoraLayer(nn.Module):
    def __init__(self, dim, rank):
        super().__init__()
        self.down = nn.Linear(dim, rank, bias=False)
        self.up = nn.Linear(rank, dim, bias=False)

    def forward(self, x):
        return self.up(self.down(x))


net = LoraCompatibleLinear(16, 16).eval()
style = LoraLayer(16, 4).eval()
sketch = LoraLayer(16, 8).eval()
model = net


def calls():
    x = torch.ones(2, 16)
    for layer in (None, style, sketch, None):
        net.set_lora_layer(layer)
        yield (x,)


# Cured
class LoraSlot(nn.Module):
    def __init__(self, dim, rank):
        super().__init__()
        self.register_buffer("down", torch.zeros(rank, dim))
        self.register_buffer("up", torch.zeros(dim, rank))

    def load(self, layer):
        self.down.zero_()
        self.up.zero_()
        if layer is not None:
            rank = layer.down.weight.shape[0]
            self.down[:rank] = layer.down.weight.detach()
            self.up[:, :rank] = layer.up.weight.detach()

    def forward(self, x):
        return (x @ self.down.T) @ self.up.T


slot = LoraSlot(16, 8)
net.set_lora_layer(slot)


def calls():
    x = torch.ones(2, 16)
    for layer in (None, style, sketch, None):
        slot.load(layer)
        yield (x,)
