"""An optimizer's update is compiled once, and called with the parameters of each layer.

Source: https://github.com/microsoft/dion/issues/23
Finds: not compiled: over the limit
Cause: size|shape|[Pp]arameter|static
Cure: force_parameter_static_shapes|detach|dynamic|data
Expects: recompiles 1
Lacks: cured
"""

import torch


@torch.no_grad()
def post_orthogonalize(parameter, update, rate):
    scale = (parameter.shape[0] / parameter.shape[1]) ** 0.5
    return parameter * 0.99 - update * (rate * scale)


model = post_orthogonalize
torch.manual_seed(0)
layers = [torch.nn.Linear(width, width + 3, bias=False).weight for width in range(4, 15)]
updates = [torch.randn_like(layer) for layer in layers]
rate = torch.tensor(0.02)
calls = [(layer, update, rate) for layer, update in zip(layers, updates, strict=True)]

# Cured
calls = [(layer.detach(), update, rate) for layer, update in zip(layers, updates, strict=True)]
