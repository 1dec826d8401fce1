r"""The `id` of a parameter is compared with one that was stored.

Source: https://github.com/pytorch/pytorch/issues/130087
Finds: graph breaks at line 21
Cause: \bid\b
Cure: \bis\b|outside|flag|number|name
Expects: breaks 0
"""

import torch


class Chosen(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first = torch.ones(2)
        self.second = torch.zeros(2)

    def forward(self, x, chosen):
        made = x.sin()
        if chosen == id(made):
            return made * self.first
        return made * self.second


model = Chosen()
inputs = (torch.ones(2), 5)


# Cured
class Chosen(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.second = torch.zeros(2)

    def forward(self, x, chosen):
        return x.sin() * self.second


model = Chosen()
