"""An own autograd kernel of a builtin operator reads the pointer of its argument, which a fake tensor has not.

Source: https://github.com/pytorch/pytorch/issues/139707
Finds: not compiled: failed or graph breaks or raised at run time
Cause: (?i)data_ptr|pointer|storage|fake|tanh|kernel
Cure: (?i)custom_op|custom op|register_fake|disable|register_autograd|remove
Run: --backend aot_eager
"""

import torch


def my_tanh(x):
    x.data_ptr()
    return 2.0 * torch.sigmoid(2.0 * x) - 1.0


library = torch.library.Library("aten", "IMPL")
library.impl("tanh", my_tanh, "AutogradCPU")


def model(x):
    return torch.tanh(x * 2)


inputs = (torch.randn(4),)

# Cured


@torch.library.custom_op("set6::my_tanh", mutates_args=())
def own_tanh(x: torch.Tensor) -> torch.Tensor:
    return 2.0 * torch.sigmoid(2.0 * x) - 1.0


@own_tanh.register_fake
def _(x):
    return torch.empty_like(x)


def model(x):
    return own_tanh(x * 2)
