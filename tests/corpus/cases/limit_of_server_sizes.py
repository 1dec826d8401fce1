r"""A server's model is compiled for fixed shapes, and requests come in more batch sizes than the limit allows.

Source: https://github.com/NVIDIA/TensorRT-LLM/issues/6142
Run: --backend eager --no-dynamic
Finds: not compiled: over the limit or near the recompile limit or recompiles
Cause: limit|size|batch
Cure: dynamic|pad|recompile_limit
Expects: recompiles 1, skipped 0
"""

import torch


class Ranker(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.out = torch.nn.Linear(4, 3)

    def forward(self, rows):
        return torch.softmax(self.out(rows), dim=-1)


model, calls = Ranker().requires_grad_(False), [(torch.randn(size, 4),) for size in range(2, 13)]

# Cured
torch_compile = {"dynamic": None}
