r"""The method `compile` of layers of torch itself is called, and their calls stay as they were.

Source: https://github.com/pytorch/torchtitan/issues/479
Run: --script
Finds: nothing compiled or not called
Cause: torch\.nn|Linear|layer|skip|own module
Cure: torch\.compile\(|own (class|module)|whole|parent
Expects: breaks 0
"""

import torch

layers = torch.nn.ModuleList([torch.nn.Linear(4, 4), torch.nn.Linear(4, 4)])
for layer in layers:
    layer.compile(backend="eager")
rows = torch.ones(2, 4)
for layer in layers:
    rows = layer(rows)
print(rows.shape)

# Cured
import torch

layers = torch.nn.ModuleList([torch.nn.Linear(4, 4), torch.nn.Linear(4, 4)])
compiled = [torch.compile(layer, backend="eager") for layer in layers]
rows = torch.ones(2, 4)
for layer in compiled:
    rows = layer(rows)
print(rows.shape)


def confirmed():
    return torch._dynamo.utils.counters["stats"]["unique_graphs"] > 0
