r"""A model is compiled first and exported then, with sizes by the names of its arguments.

Source: https://github.com/pytorch/pytorch/pull/166358
Run: --script
Finds: names of a compiled module
Cause: dynamic_shapes|compiled
Cure: original|before|_orig_mod|not compiled|uncompiled
Expects: skipped 0
"""

import torch


class Doubled(torch.nn.Module):
    def forward(self, batch):
        return batch["rows"] * 2


count = torch.export.Dim("count")
network = torch.compile(Doubled(), backend="eager")
torch.export.export(network, ({"rows": torch.ones(3)},), dynamic_shapes={"batch": {"rows": {0: count}}})

# Cured
import torch


class Doubled(torch.nn.Module):
    def forward(self, batch):
        return batch["rows"] * 2


count = torch.export.Dim("count")
network = Doubled()
torch.export.export(network, ({"rows": torch.ones(3)},), dynamic_shapes={"batch": {"rows": {0: count}}})
fast = torch.compile(network, backend="eager")
