r"""A language model is compiled, and then only its generate is called.

Source: https://github.com/pytorch/pytorch/issues/116181
Finds: not called or nothing compiled
Cause: generate|forward|method
Cure: forward = torch\.compile|\.compile\(|compile.{0,30}(forward|generate)
Expects: breaks 0
Run: --script
"""

import torch
from torch import nn


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(20, 8)
        self.head = nn.Linear(8, 20)

    def forward(self, tokens):
        return self.head(self.embed(tokens).mean(1))

    def generate(self, tokens, steps):
        for _ in range(steps):
            tokens = torch.cat([tokens[:, 1:], self(tokens).argmax(-1, keepdim=True)], 1)
        return tokens


model = Decoder().eval()
compiled = torch.compile(model, backend="eager")
with torch.no_grad():
    print(compiled.generate(torch.tensor([[1, 2, 3]]), 4))

# Cured: compiled in place
import torch
from torch import nn


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(20, 8)
        self.head = nn.Linear(8, 20)

    def forward(self, tokens):
        return self.head(self.embed(tokens).mean(1))

    def generate(self, tokens, steps):
        for _ in range(steps):
            tokens = torch.cat([tokens[:, 1:], self(tokens).argmax(-1, keepdim=True)], 1)
        return tokens


model = Decoder().eval()
model.compile(backend="eager")
with torch.no_grad():
    print(model.generate(torch.tensor([[1, 2, 3]]), 4))
