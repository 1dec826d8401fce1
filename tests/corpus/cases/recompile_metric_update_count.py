r"""A metric counts its updates in an integer attribute.

Source: https://github.com/meta-pytorch/torchrec/pull/4338
Finds: recompiles or near the recompile limit
Cause: _update_count|counter|(int|integer|number|attribute).{0,60}chang|chang\w*.{0,60}(int|integer|attribute)
Cure: tensor|buffer|allow_unspec_int_on_nn_module|outside
Expects: graphs 1, breaks 0, recompiles 0
"""

import torch
from torch import nn


class Metric(nn.Module):
    def __init__(self):
        super().__init__()
        self._update_count = 0
        self.register_buffer("total", torch.zeros(()))

    def forward(self, predictions, labels):
        self._update_count += 1
        self.total += (predictions - labels).abs().sum()
        return self.total / self._update_count


model = Metric()
calls = [(torch.randn(8), torch.randn(8)) for _ in range(5)]


# Cured: the count is a tensor
class Counted(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("_update_count", torch.zeros((), dtype=torch.long))
        self.register_buffer("total", torch.zeros(()))

    def forward(self, predictions, labels):
        self._update_count += 1
        self.total += (predictions - labels).abs().sum()
        return self.total / self._update_count


model = Counted()
