"""Many small layers with float attributes of their own, whose guards take longer than their work.

Source: https://github.com/pytorch/pytorch/issues/185886
Finds: guards or slower than eager
Cause: guard|check
Cure: guard|skip_guard|specialize_float|recursive_dict_tags|buffer|fewer
Expects: graphs 1, breaks 0
Run: --backend inductor
Lacks: detected, explained, cured
"""

import torch
from torch import nn


class RMSNorm(nn.Module):
    def __init__(self, dim, eps):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(dim))
        self.variance_epsilon = eps

    def forward(self, x):
        return self.weight * x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.variance_epsilon)


class Layer(nn.Module):
    def __init__(self, dim, index):
        super().__init__()
        self.norm1, self.norm2 = RMSNorm(dim, 1e-6 + index * 1e-8), RMSNorm(dim, 1e-5 + index * 1e-7)
        self.scale_fa, self.scale_mlp = 0.5 + index * 0.01, 0.7 - index * 0.002
        self.fc = nn.Linear(dim, dim)

    def forward(self, x):
        x = x + self.scale_fa * self.norm1(x)
        return x + self.scale_mlp * self.fc(self.norm2(x)) * 0.1


class Decoder(nn.Module):
    def __init__(self, dim=4, layers=16):
        super().__init__()
        self.layers = nn.ModuleList(Layer(dim, index) for index in range(layers))

    def forward(self, x):
        for layer in self.layers:
            x = layer(x) * 0.5
        return x


model, inputs = Decoder().eval(), (torch.randn(1, 4),)

# Cured
torch._dynamo.config.specialize_float = True
torch._dynamo.config.use_recursive_dict_tags_for_guards = True
torch_compile = {"options": {"guard_filter_fn": torch.compiler.skip_guard_on_all_nn_modules_unsafe}}
