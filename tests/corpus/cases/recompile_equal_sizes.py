"""Two sizes that are equal in the first call are tied together.

Source: https://docs.pytorch.org/docs/stable/torch.compiler_dynamic_shapes.html
Finds: recompiles
Cause: size|equal
Cure: use_duck_shape|different sizes
Expects: recompiles 0
"""

import torch

torch_compile = {"dynamic": True}


def model(x, y):
    return x.sum(1), y.sum(1)


calls = [(torch.randn(4, 4), torch.randn(4, 4)), (torch.randn(5, 6), torch.randn(7, 8))]


# Cured
torch.fx.experimental._config.use_duck_shape = False
