"""A feature extractor registers its hook in each forward call.

Source: https://github.com/pytorch/pytorch/pull/185748
Finds: graph breaks at line 23
Cause: hook|RemovableHandle|setattr
Cure: once|__init__|outside|before|return
Expects: breaks 0
"""

import torch

torch.manual_seed(0)


class Extractor(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.GELU(), torch.nn.Linear(8, 8))
        self.head = torch.nn.Linear(8, 2)

    def forward(self, rows):
        kept = []
        handle = self.trunk[0].register_forward_hook(lambda module, args, output: kept.append(output))
        scores = self.head(self.trunk(rows))
        handle.remove()
        return scores, kept[0]


model = Extractor()
inputs = (torch.randn(3, 4),)


# Cured
class Direct(Extractor):
    def forward(self, rows):
        first = self.trunk[0](rows)
        return self.head(self.trunk[2](self.trunk[1](first))), first


torch.manual_seed(0)
model = Direct()
