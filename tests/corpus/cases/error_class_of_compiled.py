r"""A sampler checks the class of its model, which is another once it is compiled.

Source: https://github.com/pytorch/pytorch/issues/94478
Finds: wrapper of a compiled module
Cause: OptimizedModule|class|type|isinstance
Cure: _orig_mod|\.compile\(\)|in.place|before
Expects: breaks 0, graphs 1
Run: --script
"""

import torch


class Denoiser(torch.nn.Module):
    def forward(self, x):
        return x * 0.9


def sample(net):
    if not isinstance(net, Denoiser):
        raise TypeError(f"no denoiser: {type(net).__name__}")
    return net(torch.ones(4))


net = torch.compile(Denoiser(), backend="eager")
print(sample(net))

# Cured
import torch


class Denoiser(torch.nn.Module):
    def forward(self, x):
        return x * 0.9


def sample(net):
    if not isinstance(net, Denoiser):
        raise TypeError(f"no denoiser: {type(net).__name__}")
    return net(torch.ones(4))


net = Denoiser()
net.compile(backend="eager")
print(sample(net))
