"""A norm that is compiled serves layers of many widths.

Source: https://github.com/unslothai/unsloth-zoo/pull/1003
Finds: not compiled: over the limit or near the recompile limit or recompiles
Cause: size|scale|width|shape
Cure: force_parameter_static_shapes
Expects: recompiles 1
Run: --backend eager --no-dynamic
"""

import torch


class Norm(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(width))

    def forward(self, x):
        return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-6) * self.weight


norms = [Norm(width) for width in range(2, 12)]


def model(norm, x):
    return norm(x)


calls = [(norm, torch.ones(2, norm.weight.shape[0])) for norm in norms]


# Cured
def model(weight, x):
    return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-6) * weight


calls = [(norm.weight.view(-1), torch.ones(2, norm.weight.shape[0])) for norm in norms]
torch_compile = {"dynamic": True}
