"""Many equal layers are compiled one by one.

Source: https://github.com/pytorch/pytorch/issues/154652
Run: --backend aot_eager
Finds: first call
Cause: Compiling took
Cure: nested_compile_region
Expects: graphs 1
"""

import torch

torch.manual_seed(0)


class Layer(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.down, self.norm = torch.nn.Linear(16, 32), torch.nn.Linear(32, 16), torch.nn.LayerNorm(16)

    def forward(self, rows):
        return rows + self.down(torch.nn.functional.gelu(self.up(self.norm(rows)))) * torch.sigmoid(rows)


model = torch.nn.Sequential(*(Layer() for _ in range(160)))
inputs = (torch.randn(8, 16),)

# Cured
Layer.forward = torch.compiler.nested_compile_region(Layer.forward)
