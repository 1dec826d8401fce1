"""Each prompt loads a LoRA adapter with a name of its own.

Source: https://github.com/huggingface/diffusers/issues/9279
Finds: recompiles
Cause: adapter|active|key|name|module
Cure: copy_|in place|hotswap|same name|one adapter|swap
Expects: recompiles 0
Lacks: cured
"""

import torch
from torch import nn


class LoraLinear(nn.Module):
    def __init__(self, width, rank):
        super().__init__()
        self.base, self.rank = nn.Linear(width, width), rank
        self.down, self.up = nn.ModuleDict(), nn.ModuleDict()
        self.active = "none"

    def add_adapter(self, name, value):
        width = self.base.in_features
        self.down[name] = nn.Linear(width, self.rank, bias=False)
        self.up[name] = nn.Linear(self.rank, width, bias=False)
        nn.init.constant_(self.down[name].weight, value)
        nn.init.constant_(self.up[name].weight, value)
        self.active = name

    def forward(self, rows):
        output = self.base(rows)
        if self.active in self.down:
            output = output + self.up[self.active](self.down[self.active](rows))
        return output


class Transformer(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(LoraLinear(4, 2) for _ in range(2))

    def forward(self, rows):
        for layer in self.layers:
            rows = torch.tanh(layer(rows))
        return rows


torch.manual_seed(0)
model = Transformer().requires_grad_(False)


def calls():
    for number, style in enumerate(("tarot", "sketch", "ink", "oil")):
        for layer in model.layers:
            layer.add_adapter(style, 0.1 * (number + 1))
        yield (torch.ones(2, 4),)


# Cured
def calls():
    for layer in model.layers:
        layer.add_adapter("slot", 0.0)
    for number in range(4):
        with torch.no_grad():
            for layer in model.layers:
                layer.down["slot"].weight.fill_(0.1 * (number + 1))
                layer.up["slot"].weight.fill_(0.1 * (number + 1))
        yield (torch.ones(2, 4),)
