"""Each layer's attention gets its own name, as key of a table, and one function is compiled for all.

Source: https://github.com/pytorch/pytorch/issues/114511
Finds: not compiled: over the limit
Cause: limit|name|string|str
Cure: outside|tensor|index|recompile_limit|cache_size_limit|one (table|tensor)|before
Expects: graphs 1, breaks 0, recompiles 0
"""

import torch

scales = {f"layer{i}": float(i + 1) for i in range(12)}


def model(x, name):
    return torch.tanh(x * scales[name])


x = torch.randn(4)
calls = [(x, f"layer{i}") for i in range(12)]


# Cured: the caller looks it up
def model(x, scale):
    return torch.tanh(x * scale)


calls = [(x, torch.tensor(scales[f"layer{i}"])) for i in range(12)]
