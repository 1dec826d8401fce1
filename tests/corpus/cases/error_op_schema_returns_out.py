r"""The schema of a communication operator says that it returns its out argument.

Source: https://github.com/pytorch/pytorch/pull/159435
Finds: custom op schema or not compiled: failed
Cause: alias|schema|annotation|Tensor\(a
Cure: not return|without return|return nothing|-> \(\)|None|clone|remove the alias
Expects: graphs 1, breaks 0
Run: --backend aot_eager
Lacks: cured
"""

import torch

library = torch.library.Library("unseen_comm", "DEF")


def exchange(x, out):
    out.copy_(x.flip(0))
    return out


library.define("exchange(Tensor x, Tensor(a!) out, Tensor scale) -> Tensor(a!)")
library.impl("exchange", lambda x, out, scale: exchange(x * scale, out), "CPU")
library.impl("exchange", lambda x, out, scale: out, "Meta")


def model(x, scale):
    out = torch.zeros_like(x)
    return torch.ops.unseen_comm.exchange(x, out, scale) + 1


inputs = (torch.randn(4, 2), torch.tensor(2.0))

# Cured: nothing is returned
library.define("exchange_into(Tensor x, Tensor(a!) out, Tensor scale) -> ()")
library.impl("exchange_into", lambda x, out, scale: (exchange(x * scale, out), None)[1], "CPU")
library.impl("exchange_into", lambda x, out, scale: None, "Meta")


def model(x, scale):
    out = torch.zeros_like(x)
    torch.ops.unseen_comm.exchange_into(x, out, scale)
    return out + 1
