r"""A concatenation layer of a detector gets two or three feature maps.

Source: https://github.com/pytorch/pytorch/issues/148179
Finds: recompiles
Cause: len|length|number of|list
Cure: same (number|length)|fixed|\bpad|stack|separate|one tensor|limit|caller|outer
Expects: recompiles 0
"""

import torch
from torch import nn


class Concat(nn.Module):
    def __init__(self, dimension=1):
        super().__init__()
        self.d = dimension

    def forward(self, x):
        return torch.cat(x, self.d)


model = Concat()
maps = [torch.randn(1, 8, 10, 10) for _ in range(4)]
calls = [(maps[:2],), (maps[:3],), (maps[:4],)]


# Cured
class Head(nn.Module):
    def __init__(self):
        super().__init__()
        self.concat = Concat()

    def forward(self, maps):
        return self.concat(maps[:2]), self.concat(maps[:3]), self.concat(maps[:4])


model, calls = Head(), [(maps,)]
