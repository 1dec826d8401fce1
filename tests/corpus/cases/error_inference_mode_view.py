"""A forward method in inference mode returns a slice of a table.

Source: https://github.com/pytorch/pytorch/issues/169477
Run: --script
Finds: view of an inference tensor
Cause: inference|storage|view|alias
Cure: no_grad|clone|outside
Expects: skipped 0
"""

import torch


class Positions(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.range = torch.arange(1, 9, dtype=torch.float32)

    @torch.inference_mode()
    def forward(self, start: int):
        return self.range[start : start + 3]


compiled = torch.compile(Positions())
print(compiled(1))

# Cured
import torch


class Positions(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.range = torch.arange(1, 9, dtype=torch.float32)

    @torch.no_grad()
    def forward(self, start: int):
        return self.range[start : start + 3]


compiled = torch.compile(Positions())
print(compiled(1))
